/*
 * Two processes: the parent writes, reads, sends and does atomics to memory of its child, with random sizes,
 * offsets, segments and inlining; after each request the child says what its memory holds (a hash), and the
 * parent compares that with what it ought to hold. Arguments: seed, requests. Exits with 0 when all agrees.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c)                                                                                          \
	do {                                                                                              \
		if (!(c)) {                                                                               \
			fprintf(stderr, "line %d, seed %llu, request %d: %s (errno %d)\n", __LINE__,      \
				(unsigned long long)first_seed, step, #c, errno);                         \
			exit(1);                                                                          \
		}                                                                                         \
	} while (0)

enum { BYTES = 3 << 20, SEGMENTS = 3, INLINE = 200 };

struct place {
	union ibv_gid gid;
	uint32_t qpn, psn, rkey;
	uint64_t address;
};

static uint64_t first_seed, seed;
static int step, peer; /* a socket to the other process */
static struct ibv_context *context;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t *memory;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

static uint64_t hash(const uint8_t *from, size_t bytes)
{
	uint64_t h = 0xcbf29ce484222325ull;
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ from[i]) * 0x100000001b3ull;
	return h;
}

static void say(const void *what, size_t bytes)
{
	CHECK(send(peer, what, bytes, 0) == (ssize_t)bytes);
}

static void hear(void *what, size_t bytes)
{
	CHECK(recv(peer, what, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

static struct place connect_up(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	context = ibv_open_device(list[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	CHECK(!posix_memalign((void **)&memory, 4096, BYTES));
	memset(memory, 0, BYTES);
	mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_ATOMIC);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(mr && cq);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 8, 8, SEGMENTS, SEGMENTS, INLINE } };
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct place here = { .qpn = qp->qp_num, .psn = draw(1 << 24), .rkey = mr->rkey, .address = (uintptr_t)memory }, there;
	CHECK(!ibv_query_gid(context, 1, 0, &here.gid));
	say(&here, sizeof here);
	hear(&there, sizeof there);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256 + draw(5), .dest_qp_num = there.qpn,
		.rq_psn = there.psn, .max_dest_rd_atomic = 16, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = there.gid, .hop_limit = 1 } } };
	/* Both have drawn from the same seed since: the same path MTU. */
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 16, .sq_psn = here.psn };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
	char ready = 1;
	say(&ready, 1);
	hear(&ready, 1);
	return there;
}

static void complete(void)
{
	struct ibv_wc wc;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	CHECK(n == 1 && wc.status == IBV_WC_SUCCESS);
}

static uint32_t size(void)
{
	static const uint32_t edges[] = { 1, 2, 7, 8, 63, 64, 65, 255, 256, 257, 1023, 4095, 4096, 4097, 65536, 1 << 20 };
	return draw(2) ? edges[draw(sizeof edges / sizeof edges[0])] : 1 + draw(draw(4) ? 5000 : 300000);
}

/* Cuts a range of the local memory, which begins at `at`, into segments. */
static int cut(struct ibv_sge *sge, uint32_t at, uint32_t bytes)
{
	int count = 0;
	while (bytes) {
		uint32_t take = count == SEGMENTS - 1 ? bytes : 1 + draw(bytes);
		sge[count++] = (struct ibv_sge){ (uintptr_t)memory + at, take, mr->lkey };
		at += take;
		bytes -= take;
	}
	return count;
}

/* What the child is told before a request, and answers after it. */
struct order {
	uint32_t receive_at, receive_bytes; /* to post first; 0 bytes: nothing */
	uint32_t look_at, look_bytes;	    /* to hash afterwards */
};

static void requests(int count, const struct place *there)
{
	static uint8_t mirror[BYTES]; /* what the child's memory ought to hold */
	for (int i = 0; i < BYTES; i++)
		memory[i] = (uint8_t)draw(256);
	for (step = 0; step < count; step++) {
		uint32_t bytes = size(), from = draw(BYTES - bytes), to = draw(BYTES - bytes);
		struct ibv_sge sge[SEGMENTS];
		struct ibv_send_wr request = { .sg_list = sge, .send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { there->address + to, there->rkey } }, *bad;
		struct order order = { .look_at = to, .look_bytes = bytes };
		int kind = (int)draw(5);
		uint64_t old = 0;
		if (kind == 2) {
			order.receive_at = to;
			order.receive_bytes = bytes;
		}
		if (kind >= 3)
			order.look_bytes = bytes = 8, order.look_at = to &= ~7u;
		char go;
		say(&order, sizeof order);
		hear(&go, 1);
		request.num_sge = cut(sge, from, bytes);
		switch (kind) {
		case 0:
			request.opcode = IBV_WR_RDMA_WRITE;
			break;
		case 1:
			request.opcode = IBV_WR_RDMA_READ;
			break;
		case 2:
			request.opcode = IBV_WR_SEND;
			break;
		default:
			request.opcode = kind == 3 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
			memcpy(&old, mirror + to, 8);
			request.wr.atomic.remote_addr = there->address + to;
			request.wr.atomic.rkey = there->rkey;
			request.wr.atomic.compare_add = draw(2) ? old : draw(1000);
			request.wr.atomic.swap = (uint64_t)draw(~0u) << 32 | draw(~0u);
			request.num_sge = 1;
			sge[0] = (struct ibv_sge){ (uintptr_t)memory + from, 8, mr->lkey };
		}
		if ((kind == 0 || kind == 2) && bytes <= INLINE && draw(2))
			request.send_flags |= IBV_SEND_INLINE;
		CHECK(!ibv_post_send(qp, &request, &bad));
		complete();
		uint64_t value, now;
		switch (kind) {
		case 1:
			CHECK(!memcmp(memory + from, mirror + to, bytes));
			break;
		case 3:
			memcpy(&value, memory + from, 8);
			CHECK(value == old);
			now = old + request.wr.atomic.compare_add;
			memcpy(mirror + to, &now, 8);
			break;
		case 4:
			memcpy(&value, memory + from, 8);
			CHECK(value == old);
			if (old == request.wr.atomic.compare_add)
				memcpy(mirror + to, &request.wr.atomic.swap, 8);
			break;
		default:
			memcpy(mirror + to, memory + from, bytes);
		}
		uint64_t heard;
		say(&go, 1);
		hear(&heard, sizeof heard);
		CHECK(heard == hash(mirror + to, bytes));
	}
	struct order end = { .look_bytes = 0 };
	say(&end, sizeof end);
	uint64_t whole;
	hear(&whole, sizeof whole);
	CHECK(whole == hash(mirror, BYTES));
}

static void serve(void)
{
	for (;; step++) {
		struct order order;
		char go = 1;
		hear(&order, sizeof order);
		if (!order.look_bytes)
			break;
		if (order.receive_bytes) {
			struct ibv_sge sge[SEGMENTS];
			struct ibv_recv_wr receive = { .sg_list = sge,
				.num_sge = cut(sge, order.receive_at, order.receive_bytes) }, *bad;
			CHECK(!ibv_post_recv(qp, &receive, &bad));
		}
		say(&go, 1);
		hear(&go, 1);
		if (order.receive_bytes)
			complete();
		uint64_t h = hash(memory + order.look_at, order.look_bytes);
		say(&h, sizeof h);
	}
	uint64_t whole = hash(memory, BYTES);
	say(&whole, sizeof whole);
}

int main(int count, char **arguments)
{
	int pair[2], status;
	seed = first_seed = count > 1 ? strtoull(arguments[1], NULL, 0) : 1;
	seed = seed * 0x9e3779b97f4a7c15ull | 1;
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid_t child = fork();
	CHECK(child >= 0);
	peer = pair[child ? 0 : 1];
	close(pair[child ? 1 : 0]);
	struct place there = connect_up();
	if (!child) {
		serve();
		exit(0);
	}
	requests(count > 2 ? atoi(arguments[2]) : 200, &there);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	puts("ok");
	return 0;
}
