/*
 * Makes two queue pairs by DEVX commands through the real libmlx5, as GPU-initiated libraries do: doorbell page,
 * umem, CREATE_CQ, CREATE_QP, the three transitions; posts one RDMA WRITE by hand; looks at the CQE and at every
 * byte that arrived, and reads of it, and of a WRITE that fails, from an event channel. Exits with 0 when all is as it should be. Offsets are those of mlx5_ifc.h.
 * With ON_GPU the queues lie in memory of a GPU, and the program's own copy of them is written there and read from there.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "prm.h"

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BYTES = 10000 };

struct end {
	struct mlx5dv_devx_obj *cq, *qp;
	uint32_t cqn, qpn;
};

static struct ibv_context *context;
static struct mlx5dv_devx_uar *uar;
static struct mlx5dv_devx_umem *umem;
static uint8_t *queues; /* of each end: CQ ring 4 KiB, send ring 4 KiB, records 4 KiB */

#ifdef ON_GPU
#include "cuda.h"

static uint64_t on_gpu;

static void *place_queues(void)
{
	open_gpu();
	CHECK(!cuMemAlloc_v2(&on_gpu, 2 * 0x3000));
	write_gpu(on_gpu, queues, 2 * 0x3000);
	return (void *)(uintptr_t)on_gpu;
}

/* Makes the HCA see what the program has written. */
static void publish(size_t offset, size_t bytes)
{
	write_gpu(on_gpu + offset, queues + offset, bytes);
}

/* Makes the program see what the HCA has written. */
static void look(size_t offset, size_t bytes)
{
	CHECK(!cuMemcpyDtoH_v2(queues + offset, on_gpu + offset, bytes));
}
#else
static void *place_queues(void)
{
	return queues;
}

static void publish(size_t offset, size_t bytes)
{
	(void)offset, (void)bytes;
}

static void look(size_t offset, size_t bytes)
{
	(void)offset, (void)bytes;
}
#endif

static void make(struct end *end, unsigned number, uint32_t pdn)
{
	uint8_t in[272] = { 0 }, out[16] = { 0 };
	uint64_t base = number * 0x3000u;
	put(in, 0, 31, 16, 0x400);
	put(in, 0x10, 25, 25, 1);
	put(in, 0x10, 17, 17, 1); /* overrun ignored */
	put(in, 0x14, 31, 0, umem->umem_id);
	put(in, 0x1c, 28, 24, 6);
	put(in, 0x1c, 23, 0, uar->page_id);
	put64(in, 0x48, base + 0x2000);
	put64(in, 0x50, base);
	put(in, 0x58, 31, 0, umem->umem_id);
	put(in, 0x5c, 31, 31, 1);
	end->cq = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
	CHECK(end->cq);
	end->cqn = get(out, 8, 23, 0);

	memset(in, 0, sizeof in);
	put(in, 0, 31, 16, 0x500);
	put(in, QPC, 12, 11, 3);
	put(in, QPC + 0x4, 23, 0, pdn);
	put(in, QPC + 0x8, 14, 11, 6); /* 64 blocks */
	put(in, QPC + 0xc, 23, 0, uar->page_id);
	put(in, QPC + 0x7c, 23, 0, end->cqn);
	put(in, QPC + 0x9c, 23, 0, end->cqn);
	put64(in, QPC + 0xa0, base + 0x2100);
	put(in, QPC + 0xac, 26, 24, 3); /* no receive queue */
	put(in, QPC + 0xd0, 28, 28, 1);
	put(in, QPC + 0xe4, 31, 0, umem->umem_id);
	put64(in, 0x100, base + 0x1000);
	put(in, 0x108, 31, 0, umem->umem_id);
	put(in, 0x10c, 31, 31, 1);
	end->qp = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
	CHECK(end->qp);
	end->qpn = get(out, 8, 23, 0);
}

static void modify(struct end *end, unsigned opcode, const uint8_t *context_words)
{
	uint8_t in[272] = { 0 }, out[16] = { 0 };
	memcpy(in, context_words, sizeof in);
	put(in, 0, 31, 16, opcode);
	put(in, 8, 23, 0, end->qpn);
	CHECK(!mlx5dv_devx_obj_modify(end->qp, in, sizeof in, out, sizeof out));
}

static void connect_to(struct end *end, const struct end *peer, const union ibv_gid *gid)
{
	uint8_t in[272] = { 0 };
	put(in, QPC + 0x90, 15, 13, 7);
	modify(end, 0x502, in);
	put(in, QPC + 0x8, 31, 29, 5);
	put(in, QPC + 0x14, 23, 0, peer->qpn);
	memcpy(in + QPC + 0x28, gid->raw, sizeof gid->raw);
	put(in, QPC + 0x20, 7, 0, 255);
	put(in, QPC + 0x94, 28, 24, 12);
	modify(end, 0x503, in);
	put(in, QPC + 0x20, 31, 27, 14);
	put(in, QPC + 0x70, 18, 16, 7);
	put(in, QPC + 0x70, 15, 13, 7);
	modify(end, 0x504, in);
}

static unsigned state(struct end *end)
{
	uint8_t in[16] = { 0 }, out[272] = { 0 };
	put(in, 0, 31, 16, 0x50b);
	put(in, 8, 23, 0, end->qpn);
	CHECK(!mlx5dv_devx_obj_query(end->qp, in, sizeof in, out, sizeof out));
	return get(out, QPC, 31, 28);
}

/* Arms the first end's completion queue at the consumer index and rings for it. */
static void arm(const struct end *end, uint32_t sequence, uint32_t consumed)
{
	uint32_t word = htobe32(sequence << 28 | consumed), number = htobe32(end->cqn);
	uint64_t doorbell = (uint64_t)number << 32 | word;
	__atomic_store_n((uint32_t *)(void *)(queues + 0x2000), htobe32(consumed), __ATOMIC_RELEASE);
	__atomic_store_n((uint32_t *)(void *)(queues + 0x2004), word, __ATOMIC_RELEASE);
	publish(0x2000, 8);
	__atomic_store_n((uint64_t *)(void *)((uint8_t *)uar->base_addr + 0x20), doorbell, __ATOMIC_RELEASE);
}

static uint64_t next_event(struct mlx5dv_devx_event_channel *channel)
{
	struct mlx5dv_devx_async_event_hdr event;
	ssize_t bytes = mlx5dv_devx_get_event(channel, &event, sizeof event);
	CHECK(bytes == (ssize_t)sizeof event);
	return event.cookie;
}

/* Creates a key whose four pieces of 4 KiB show what other ones name from `first` on, at `start`. */
static struct mlx5dv_devx_obj *show(uint32_t pdn, const uint32_t keys[4], uint64_t first, uint64_t gap,
				    uint64_t start, uint64_t bytes, uint32_t *shown)
{
	uint8_t in[0x110 + 4 * 16] = { 0 }, out[16] = { 0 };
	put(in, 0, 31, 16, 0x200);
	put(in, 0x10, 13, 13, 1); /* remote and local writes */
	put(in, 0x10, 11, 11, 1);
	put(in, 0x10, 9, 8, 3);
	put(in, 0x14, 31, 8, 0xffffff);
	put(in, 0x14, 7, 0, 0x5a);
	put(in, 0x1c, 23, 0, pdn);
	put64(in, 0x20, start);
	put64(in, 0x28, bytes);
	put(in, 0x44, 31, 0, 4);
	put(in, 0x48, 4, 0, 12);
	put(in, 0x60, 31, 0, 4);
	for (unsigned i = 0; i < 4; i++) {
		put(in, 0x110 + 16 * i + 4, 31, 0, keys[i]);
		put64(in, 0x110 + 16 * i + 8, first + i * (4096 + gap));
	}
	struct mlx5dv_devx_obj *made = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
	*shown = get(out, 8, 23, 0) << 8 | 0x5a;
	return made;
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	struct mlx5dv_context_attr attributes = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = mlx5dv_open_device(list[0], &attributes);
	CHECK(context);
	ibv_free_device_list(list);
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));

	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj object = { .pd = { .in = pd, .out = &dv_pd } };
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
	uint32_t eqn;
	CHECK(!mlx5dv_devx_query_eqn(context, 0, &eqn));
	uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(uar);
	queues = aligned_alloc(4096, 2 * 0x3000);
	memset(queues, 0, 2 * 0x3000);
	umem = mlx5dv_devx_umem_reg(context, place_queues(), 2 * 0x3000, IBV_ACCESS_LOCAL_WRITE);
	CHECK(umem);
	struct end ends[2];
	for (unsigned i = 0; i < 2; i++)
		make(&ends[i], i, dv_pd.pdn);
	CHECK(state(&ends[0]) == 0);
	connect_to(&ends[0], &ends[1], &gid);
	connect_to(&ends[1], &ends[0], &gid);
	CHECK(state(&ends[0]) == 3);

	uint8_t *source = malloc(BYTES), *target = malloc(BYTES);
	for (int i = 0; i < BYTES; i++)
		source[i] = (uint8_t)(i * 7 + 3);
	memset(target, 0, BYTES);
	struct ibv_mr *from = ibv_reg_mr(pd, source, BYTES, IBV_ACCESS_LOCAL_WRITE);
	/* Work requests name the target from 0x10000 on, in two regions: the first ends at 0x12000. */
	uint64_t within = (uintptr_t)target & 4095, part = 0x2000 - within;
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_mr *to = ibv_reg_mr_iova(pd, target, part, 0x10000 + within, rights);
	struct ibv_mr *rest = ibv_reg_mr_iova(pd, target + part, BYTES - part, 0x12000, rights);
	struct ibv_mr *elsewhere = ibv_reg_mr_iova(pd, target + part - 4096, 4096, 0x12000, rights);
	CHECK(from && to && rest && elsewhere);
	/* A key over a list of pieces of one size shows the same bytes at another address. */
	uint32_t shown, a = to->lkey, b = rest->lkey, nobodys = 0xffffff00;
	uint64_t at = 0x700000618;
	struct {
		uint32_t keys[4];
		uint64_t gap;
	} refused[] = { { { a, a, b, b }, 4096 },      { { nobodys, a, b, b }, 0 },	    { { a, b, b, b }, 0 },
			{ { a, a, a, b }, 0 }, { { a, a, elsewhere->lkey, b }, 0 }, { { b, a, b, b }, 0 } };
	for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
		CHECK(!show(dv_pd.pdn, refused[i].keys, 0x10000, refused[i].gap, at, 4096 + BYTES, &shown));
	struct mlx5dv_devx_obj *pieces =
		show(dv_pd.pdn, (uint32_t[]){ a, a, b, b }, 0x10000, 0, at, 4096 + BYTES, &shown);
	CHECK(pieces);

	/* Events: cookies, with firmware's entry behind them, or counts of an eventfd. */
	struct mlx5dv_devx_event_channel *whole = mlx5dv_devx_create_event_channel(context, 0);
	CHECK(whole);
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(context, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	CHECK(channel);
	uint16_t completion = 0, access_error = 0x11, unknown[] = { 0x10, 0x99 };
	CHECK(mlx5dv_devx_subscribe_devx_event(channel, ends[0].cq, sizeof unknown, unknown, 1) == EINVAL);
	CHECK(!mlx5dv_devx_subscribe_devx_event(channel, ends[0].cq, 2, &completion, 1001));
	CHECK(!mlx5dv_devx_subscribe_devx_event(channel, ends[1].qp, 2, &access_error, 1002));
	int counting = eventfd(0, 0);
	CHECK(!mlx5dv_devx_subscribe_devx_event(whole, ends[1].qp, 2, &access_error, 1003));
	CHECK(!mlx5dv_devx_subscribe_devx_event_fd(channel, counting, ends[0].cq, completion));
	arm(&ends[0], 0, 0);

	uint8_t *wqe = queues + 0x1000;
	put(wqe, 0, 31, 0, MLX5_OPCODE_RDMA_WRITE);
	put(wqe, 4, 31, 0, ends[0].qpn << 8 | 3);
	put(wqe, 8, 31, 0, MLX5_WQE_CTRL_CQ_UPDATE);
	put64(wqe, 0x10, at + ((uintptr_t)target & 4095));
	put(wqe, 0x18, 31, 0, shown);
	put(wqe, 0x20, 31, 0, BYTES);
	put(wqe, 0x24, 31, 0, from->lkey);
	put64(wqe, 0x28, (uintptr_t)source);
	uint64_t doorbell;
	memcpy(&doorbell, wqe, 8);
	__atomic_store_n((uint32_t *)(void *)(queues + 0x2104), htobe32(1), __ATOMIC_RELEASE);
	publish(0x1000, 64);
	publish(0x2104, 4);
	__atomic_store_n((uint64_t *)uar->reg_addr, doorbell, __ATOMIC_RELEASE);

	/* Entry 0, first pass: the owner bit is 0 when the HCA has written it. */
	time_t deadline = time(NULL) + 60;
	while (look(0, 64), __atomic_load_n(queues + 63, __ATOMIC_ACQUIRE) & 1)
		CHECK(time(NULL) < deadline);
	CHECK(queues[63] >> 4 == 0);
	CHECK(get(queues, 0x38, 23, 0) == ends[0].qpn);
	CHECK(get(queues, 0x2c, 31, 0) == BYTES);
	CHECK(!memcmp(source, target, BYTES));

	CHECK(next_event(channel) == 1001);
	uint64_t counted, record[9];
	CHECK(read(counting, &counted, sizeof counted) == sizeof counted && counted == 1);

	/* A query whose answer comes later. */
	struct mlx5dv_devx_cmd_comp *later = mlx5dv_devx_create_cmd_comp(context);
	uint8_t ask[16] = { 0x05, 0x0b };
	uint64_t answer[1 + 272 / 8];
	put(ask, 8, 23, 0, ends[0].qpn);
	CHECK(later && !mlx5dv_devx_obj_query_async(ends[0].qp, ask, sizeof ask, 272, 77, later));
	CHECK(!mlx5dv_devx_get_async_cmd_comp(later, (void *)answer, sizeof answer));
	CHECK(answer[0] == 77 && get((uint8_t *)(answer + 1), 0x18, 31, 28) == 3);
	mlx5dv_devx_destroy_cmd_comp(later);

	/* A key that nobody gave: the responder says so, and the error is a completion too. */
	memcpy(wqe + 64, wqe, 48);
	put(wqe, 64, 31, 0, 1 << 8 | MLX5_OPCODE_RDMA_WRITE);
	put(wqe, 0x58, 31, 0, 0xffffff00);
	memcpy(&doorbell, wqe + 64, 8);
	__atomic_store_n((uint32_t *)(void *)(queues + 0x2104), htobe32(2), __ATOMIC_RELEASE);
	publish(0x1040, 64);
	publish(0x2104, 4);
	__atomic_store_n((uint64_t *)uar->reg_addr, doorbell, __ATOMIC_RELEASE);
	CHECK(next_event(channel) == 1002);
	CHECK(mlx5dv_devx_get_event(whole, (void *)record, sizeof record) == sizeof record && record[0] == 1003);
	CHECK(((uint8_t *)record)[9] == 0x11 && get((uint8_t *)record, 0x40, 23, 0) == ends[1].qpn);
	while (look(64, 64), __atomic_load_n(queues + 127, __ATOMIC_ACQUIRE) & 1)
		CHECK(time(NULL) < deadline);
	CHECK(queues[127] >> 4 == 13);
	/* An event that nobody reads ends with its queue. */
	arm(&ends[0], 1, 1);
	struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
	CHECK(poll(&readable, 1, 60000) == 1);

	/* Firmware refuses what it does not know, with a status. */
	uint8_t in[16] = { 0x0f, 0xff }, out[16] = { 0 };
	CHECK(mlx5dv_devx_general_cmd(context, in, sizeof in, out, sizeof out));
	CHECK(errno == EREMOTEIO && out[0] == 2);
	/* The largest message by firmware is that of the port: a library that reads 0 sends nothing. */
	uint8_t query[16] = { 0x01, 0x00 }, capabilities[16 + 4096] = { 0 };
	query[7] = 1; /* general, current */
	struct ibv_port_attr port;
	CHECK(!mlx5dv_devx_general_cmd(context, query, sizeof query, capabilities, sizeof capabilities));
	CHECK(!ibv_query_port(context, 1, &port));
	CHECK(1u << (capabilities[0x48] & 0x1f) == port.max_msg_sz);
	/* A device that orders less than it could by itself lets a queue pair ask for it: UCX refuses a cyclic SRQ otherwise. */
	CHECK(capabilities[0x76] & 0xf8);
	query[7] = 0x20 << 1 | 1; /* general 2, current */
	CHECK(!mlx5dv_devx_general_cmd(context, query, sizeof query, capabilities, sizeof capabilities));
	CHECK(capabilities[0x21] == 0x80);
	/* A doorbell page in use is not given back. */
	for (unsigned i = 0; i < 2; i++) {
		CHECK(!mlx5dv_devx_obj_destroy(ends[i].qp));
		CHECK(!mlx5dv_devx_obj_destroy(ends[i].cq));
	}
	CHECK(poll(&readable, 1, 0) == 0);
	mlx5dv_devx_destroy_event_channel(channel);
	mlx5dv_devx_destroy_event_channel(whole);
	close(counting);
	CHECK(!mlx5dv_devx_umem_dereg(umem));
	mlx5dv_devx_free_uar(uar);
	/* A key that shows regions ends with the first of them; the object is left to destroy. */
	CHECK(!ibv_dereg_mr(from) && !ibv_dereg_mr(rest) && !ibv_dereg_mr(to) && !ibv_dereg_mr(elsewhere));
	CHECK(!mlx5dv_devx_obj_destroy(pieces) && !ibv_dealloc_pd(pd));
	CHECK(!ibv_close_device(context));
	puts("ok");
	return 0;
}
