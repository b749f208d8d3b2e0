/*
 * Calls of libibverbs that the library sees, beside the kernel's.
 *
 * The clock: its present value is a register of the device that libmlx5 reads; it is the system's monotonic clock
 * here, which the server uses for timestamps.
 *
 * Wakes of the server. A store to a doorbell page causes no event, so a server that sleeps finds it at its next look.
 * Where a program posts and arms by libibverbs, this library sees the call: it takes the place of post_send,
 * wr_complete and req_notify_cq of a device that it serves, calls the original, and writes to an eventfd of the server
 * if it sleeps. A privileged server's nice value lets it take the core of a program that polls.
 *
 * Memory of queues. libmlx5 takes it from the allocator of a context, if one is set: this library sets one when a device is
 * opened.
 *
 * A thread that posts several times and then polls, as programs that measure bandwidth do, wakes the server once for all
 * of them when it polls (poll_cq): a wake-up costs more than moving 64 KiB.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "protocol.h"
#include "shim.h"

/* The public binary interface of libibverbs (infiniband/verbs.h), as far as it is needed. */
struct ibv_qp;
struct ibv_cq;
struct ibv_send_wr;
struct ibv_device;

struct ibv_context {
	struct ibv_device *device;
	void *before[11];
	int (*poll_cq)(struct ibv_cq *cq, int count, void *completions);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	void *between[12];
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	void *after[6];
	int cmd_fd;
	char rest[52];
	void *abi_compat; /* all bits set: struct verbs_context ends with this structure */
};

struct ibv_values_ex {
	uint32_t comp_mask;
	struct timespec raw_clock;
};

#define RAW_CLOCK 1u /* IBV_VALUES_MASK_RAW_CLOCK */

/* The end of struct verbs_context. */
struct verbs_context {
	int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
	void *between[14];
	size_t bytes;
	struct ibv_context context;
};

struct ibv_qp {
	struct ibv_context *context;
};

struct ibv_cq {
	struct ibv_context *context;
};

struct ibv_qp_ex {
	struct ibv_context *context;
	char rest[320];
	int (*wr_complete)(struct ibv_qp_ex *qp);
};

_Static_assert(offsetof(struct ibv_context, poll_cq) == 96, "ibv_context_ops.poll_cq");
_Static_assert(offsetof(struct ibv_context, req_notify_cq) == 104, "ibv_context_ops.req_notify_cq");
_Static_assert(offsetof(struct ibv_context, post_send) == 208, "ibv_context_ops.post_send");
_Static_assert(offsetof(struct ibv_context, cmd_fd) == 264, "ibv_context.cmd_fd");
_Static_assert(offsetof(struct ibv_context, abi_compat) == 320, "ibv_context.abi_compat");
_Static_assert(offsetof(struct verbs_context, context) == 128, "verbs_context.query_rt_values");
_Static_assert(sizeof(struct ibv_values_ex) == 24, "ibv_values_ex");
_Static_assert(offsetof(struct ibv_qp_ex, wr_complete) == 328, "ibv_qp_ex.wr_complete");

/*
 * libmlx5's functions, the same for all its devices and queues; of wr_complete there are two, one of which refuses,
 * and a queue pair's changes with its state.
 */
static __typeof__(((struct ibv_context *)0)->poll_cq) provider_poll;
static __typeof__(((struct ibv_context *)0)->req_notify_cq) provider_notify;
static __typeof__(((struct ibv_context *)0)->post_send) provider_post;
static __typeof__(((struct ibv_qp_ex *)0)->wr_complete) provider_complete[2];

/* Another library's function; that library may be one that only a plugin has loaded, for itself. */
static void *find(const char *library, const char *name)
{
	void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	return loaded ? dlsym(loaded, name) : dlsym(RTLD_NEXT, name);
}

#define FIND(library, name)                                        \
	static __typeof__(name) *next;                             \
	if (!next)                                                 \
		next = (__typeof__(name) *)find(library, #name)

static void ring(void)
{
	struct shim_sleep *server = shim_sleep;
	if (!server)
		return;
	/* Either this sees that the server sleeps, or the server sees the doorbell at its last look before it does. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	uint32_t state = __atomic_load_n(&server->state, __ATOMIC_RELAXED);
	if (state == SHIM_AWAKE ||
	    !__atomic_compare_exchange_n(&server->state, &state, SHIM_AWAKE, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	shim_wake();
}

/* What a thread posted since its last poll, and whether there were several posts before that poll. */
static __thread struct {
	bool waiting;	/* the server was not woken yet */
	uint64_t since; /* when the first of them came */
	unsigned posts;
	bool bursts;
} burst;

#define MOST_WAITING 32
#define LONGEST_WAIT_NANOS 50000

static uint64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ring_waiting(void)
{
	if (burst.waiting)
		ring();
	burst.waiting = false;
}

/* Wakes the server, or leaves that to the thread's next poll. */
static void posted(void)
{
	burst.posts++;
	if (burst.waiting && burst.posts % MOST_WAITING) {
		/* It does other things than to post and poll. */
		burst.bursts = nanoseconds() - burst.since < LONGEST_WAIT_NANOS;
		if (burst.bursts)
			return;
	}
	ring_waiting();
	if (!burst.bursts) {
		ring();
		return;
	}
	burst.waiting = true;
	burst.since = nanoseconds();
}

static int poll_cq(struct ibv_cq *cq, int count, void *completions)
{
	if (burst.posts) {
		burst.bursts = burst.posts > 1;
		burst.posts = 0;
		ring_waiting();
	}
	return provider_poll(cq, count, completions);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = provider_post(qp, wr, bad);
	posted();
	return error;
}

static int wr_complete_first(struct ibv_qp_ex *qp)
{
	int error = provider_complete[0](qp);
	posted();
	return error;
}

static int wr_complete_second(struct ibv_qp_ex *qp)
{
	int error = provider_complete[1](qp);
	posted();
	return error;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int error = provider_notify(cq, solicited_only);
	ring_waiting();
	ring();
	return error;
}

/* As libmlx5 answers it: cycles of the device's clock, which are nanoseconds, in tv_nsec. */
static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct timespec now;
	(void)context;
	if (values->comp_mask & ~RAW_CLOCK)
		return EINVAL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (values->comp_mask)
		values->raw_clock = (struct timespec){ 0, now.tv_sec * 1000000000L + now.tv_nsec };
	return 0;
}

/* Puts `ours` in the place of a provider's function. False if that is neither the provider's nor the first one. */
#define TAKE(place, provider, ours) \
	((place) && ((provider) || ((provider) = (place))) && (place) == (provider) && ((place) = (ours)))

/* struct mlx5dv_ctx_allocators. */
struct allocators {
	void *(*alloc)(size_t bytes, void *data);
	void (*free)(void *at, void *data);
	void *data;
};

#define BUFFER_ALLOCATORS 1 /* MLX5DV_CTX_ATTR_BUF_ALLOCATORS */

/* libmlx5 makes queues of this device in memory that the server sees, unless the program gives it another allocator. */
static void give_memory(struct ibv_context *context)
{
	struct allocators ours = { shim_queue_memory, shim_queue_memory_end, (void *)(intptr_t)context->cmd_fd };
	static int (*set)(struct ibv_context *context, int attribute, void *value);
	if (!set)
		set = (__typeof__(set))find("libmlx5.so.1", "mlx5dv_set_context_attr");
	if (set)
		set(context, BUFFER_ALLOCATORS, &ours);
}

static struct ibv_context *taken(struct ibv_context *context)
{
	if (context && shim_device(context->cmd_fd) >= 0) {
		(void)TAKE(context->post_send, provider_post, post_send);
		(void)TAKE(context->poll_cq, provider_poll, poll_cq);
		(void)TAKE(context->req_notify_cq, provider_notify, req_notify_cq);
		struct verbs_context *whole = (void *)((char *)context - offsetof(struct verbs_context, context));
		if ((uintptr_t)context->abi_compat == UINTPTR_MAX && whole->bytes >= sizeof *whole)
			whole->query_rt_values = query_rt_values;
		give_memory(context);
	}
	return context;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	FIND("libibverbs.so.1", ibv_open_device);
	return taken(next(device));
}

EXPORT struct ibv_context *ibv_import_device(int fd)
{
	FIND("libibverbs.so.1", ibv_import_device);
	return taken(next(fd));
}

EXPORT struct ibv_context *mlx5dv_open_device(struct ibv_device *device, void *attributes)
{
	FIND("libmlx5.so.1", mlx5dv_open_device);
	return taken(next(device, attributes));
}

static struct ibv_qp_ex *taken_queue(struct ibv_qp_ex *qp)
{
	if (qp && shim_device(qp->context->cmd_fd) >= 0 && qp->wr_complete != wr_complete_first &&
	    qp->wr_complete != wr_complete_second)
		(void)(TAKE(qp->wr_complete, provider_complete[0], wr_complete_first) ||
		       TAKE(qp->wr_complete, provider_complete[1], wr_complete_second));
	return qp;
}

EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	FIND("libibverbs.so.1", ibv_qp_to_qp_ex);
	return taken_queue(next(qp));
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, void *attributes, int mask)
{
	FIND("libibverbs.so.1", ibv_modify_qp);
	int error = next(qp, attributes, mask);
	ibv_qp_to_qp_ex(qp);
	return error;
}
