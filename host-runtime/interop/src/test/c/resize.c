/*
 * Resizes a completion queue again and again, while completions wait in it, while more are under way and while it is
 * armed; every completion has to be polled once and in its place. A ring that is too small for what waits is refused.
 * Argument: seed. Exits with 0 when all is as it should be.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(c)                                                                                          \
	do {                                                                                              \
		if (!(c)) {                                                                               \
			fprintf(stderr, "line %d, seed %llu, round %d: %s (errno %d)\n", __LINE__,        \
				(unsigned long long)first_seed, round, #c, errno);                        \
			exit(1);                                                                          \
		}                                                                                         \
	} while (0)

enum { ROUNDS = 300, MOST = 200 };

static uint64_t first_seed, seed;
static int round;
static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static char memory[64];

static int draw(int least, int most)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return least + (int)((seed >> 32) % (uint64_t)(most - least + 1));
}

static struct ibv_qp *connect_self(struct ibv_pd *pd, struct ibv_cq *sends, struct ibv_cq *receives)
{
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_qp_init_attr init = { .send_cq = sends, .recv_cq = receives, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = MOST, .max_recv_wr = MOST, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	/* Enhanced connections: there are no options, so whatever is asked for, none is agreed on. */
	struct ibv_ece ece = { 0 };
	CHECK(!ibv_query_ece(qp, &ece) && ece.vendor_id == 0x15b3 && ece.options == 0);
	ece.options = 43223;
	CHECK(!ibv_set_ece(qp, &ece));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	CHECK(!ibv_query_ece(qp, &ece) && ece.options == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1 };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
	return qp;
}

/* Sends to itself; the last one is solicited and asks for a completion of the sender. */
static void send_all(struct ibv_qp *qp, int count, uint64_t first)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	for (int i = 0; i < count; i++) {
		struct ibv_recv_wr receive = { .wr_id = first + (uint64_t)i, .sg_list = &sge, .num_sge = 1 }, *bad;
		CHECK(!ibv_post_recv(qp, &receive, &bad));
	}
	for (int i = 0; i < count; i++) {
		struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = i == count - 1 ? IBV_SEND_SIGNALED | IBV_SEND_SOLICITED : 0 }, *bad;
		CHECK(!ibv_post_send(qp, &send, &bad));
	}
}

static uint64_t poll_one(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	CHECK(n == 1 && wc.status == IBV_WC_SUCCESS);
	return wc.wr_id;
}

static void wait_event(struct ibv_cq *of)
{
	struct ibv_cq *cq;
	void *user;
	CHECK(!ibv_get_cq_event(channel, &cq, &user) && cq == of);
	ibv_ack_cq_events(cq, 1);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	first_seed = seed = strtoull(argv[1], NULL, 10) | 1;
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	context = ibv_open_device(list[0]);
	CHECK(context && (channel = ibv_create_comp_channel(context)));
	ibv_free_device_list(list);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd && (mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
	struct ibv_cq *sends = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, channel, 0);
	CHECK(sends && cq);
	struct ibv_qp *qp = connect_self(pd, sends, cq);
	uint64_t next = 1;
	for (round = 0; round < ROUNDS; round++) {
		int waiting = draw(1, cq->cqe < MOST ? cq->cqe : MOST), all = draw(0, 1), polled = 0;
		CHECK(!ibv_req_notify_cq(cq, 1));
		send_all(qp, waiting, next);
		if (all) {
			wait_event(cq);
			if (cq->cqe >= 7 && waiting > cq->cqe / 2) {
				int before = cq->cqe;
				CHECK(ibv_resize_cq(cq, before / 2) == EINVAL && cq->cqe == before);
			}
		}
		for (int early = draw(0, waiting); polled < early; polled++)
			CHECK(poll_one(cq) == next + (uint64_t)polled);
		int wanted = draw(waiting, 2 * MOST);
		CHECK(!ibv_resize_cq(cq, wanted) && cq->cqe >= wanted);
		for (; polled < waiting; polled++)
			CHECK(poll_one(cq) == next + (uint64_t)polled);
		if (!all)
			wait_event(cq);
		struct ibv_wc none;
		CHECK(ibv_poll_cq(cq, 1, &none) == 0);
		poll_one(sends);
		next += (uint64_t)waiting;
	}
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_destroy_cq(sends) && !ibv_dereg_mr(mr));
	CHECK(!ibv_dealloc_pd(pd) && !ibv_destroy_comp_channel(channel) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
