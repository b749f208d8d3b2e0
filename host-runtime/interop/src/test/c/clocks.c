/* Reads and writes a region of no memory; converts the time of a completion. Exits with 0 when all is as it should be. */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BYTES = 4096 };

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static union ibv_gid gid;
static char memory[BYTES] __attribute__((aligned(4096))), source[BYTES] __attribute__((aligned(4096)));
static struct ibv_mr *mr, *from;

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	return qp;
}

static void to_rts(struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	CHECK(!ibv_modify_qp(qp, &reset, IBV_QP_STATE));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1, .ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void join(struct ibv_qp *a, struct ibv_qp *b)
{
	struct ibv_wc wc;
	to_rts(a, b);
	to_rts(b, a);
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		; /* of what was flushed */
}

static struct ibv_wc completion(void)
{
	struct ibv_wc wc;
	time_t end = time(NULL) + 60;
	int n;
	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n && time(NULL) < end);
	CHECK(n == 1);
	return wc;
}

static int64_t present(struct ibv_context *context)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	CHECK(!ibv_query_rt_values_ex(context, &values) && values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK);
	return (int64_t)values.raw_clock.tv_nsec;
}

/* A region of no memory: what is read there is 0, what is written there has no effect, by peers, too; nobody ends it. */
static void nothing(struct ibv_qp *a, struct ibv_qp *b)
{
	struct ibv_mr *none = ibv_alloc_null_mr(pd);
	CHECK(none);
	memset(memory, 1, BYTES);
	join(a, b);
	struct ibv_sge sge = { 12345, 3000, none->lkey }, sent = { (uintptr_t)source, BYTES, from->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)memory + 8, mr->rkey } }, *bad;
	CHECK(!ibv_post_send(a, &wr, &bad) && completion().status == IBV_WC_SUCCESS);
	for (int i = 0; i < BYTES; i++)
		CHECK(memory[i] == (i < 8 || i >= 3008));
	sge.length = BYTES;
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *refused;
	wr = (struct ibv_send_wr){ .sg_list = &sent, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	CHECK(!ibv_post_recv(b, &receive, &refused) && !ibv_post_send(a, &wr, &bad));
	CHECK(completion().status == IBV_WC_SUCCESS && completion().status == IBV_WC_SUCCESS);
	struct ibv_send_wr put = { .sg_list = &sent, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { 54321, none->lkey } };
	CHECK(!ibv_post_send(a, &put, &bad) && completion().status == IBV_WC_SUCCESS);
	put.opcode = IBV_WR_SEND_WITH_INV;
	put.invalidate_rkey = none->lkey;
	CHECK(!ibv_post_recv(b, &receive, &refused) && !ibv_post_send(a, &put, &bad));
	CHECK(completion().status && completion().status);
	uint64_t wrong[] = { -4096ull, 1ull << 47, 1ull << 63 };
	for (int i = 0; i < 3; i++) {
		join(a, b);
		sge.addr = wrong[i];
		wr.sg_list = &sge;
		CHECK(!ibv_post_send(a, &wr, &bad) && completion().status == IBV_WC_LOC_PROT_ERR);
	}
	CHECK(!ibv_dereg_mr(none));
}

/* A completion's time is the time of day, and lies between the clock's values before and after. */
static void clocks(struct ibv_context *context)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct ibv_cq_ex *timed = ibv_create_cq_ex(context, &attr);
	CHECK(timed);
	struct ibv_cq *usual = cq;
	cq = ibv_cq_ex_to_cq(timed);
	struct ibv_qp *c = create(), *d = create();
	cq = usual;
	to_rts(c, d);
	to_rts(d, c);
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;
	int64_t before = present(context);
	CHECK(!ibv_post_send(c, &wr, &bad));
	time_t end = time(NULL) + 60;
	struct ibv_poll_cq_attr poll = { 0 };
	int n;
	do
		n = ibv_start_poll(timed, &poll);
	while (n == ENOENT && time(NULL) < end);
	CHECK(!n && !timed->status);
	struct mlx5dv_clock_info clock;
	CHECK(!mlx5dv_get_clock_info(context, &clock));
	int64_t completed = (int64_t)ibv_wc_read_completion_ts(timed);
	CHECK(before <= completed && completed <= present(context));
	int64_t seconds = (int64_t)(mlx5dv_ts_to_ns(&clock, ibv_wc_read_completion_ts(timed)) / 1000000000);
	ibv_end_poll(timed);
	CHECK(llabs(seconds - (int64_t)time(NULL)) < 300);
	CHECK(!ibv_destroy_qp(c) && !ibv_destroy_qp(d) && !ibv_destroy_cq(ibv_cq_ex_to_cq(timed)));
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context && !ibv_query_gid(context, 1, 0, &gid));
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	CHECK(pd && cq);
	mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	from = ibv_reg_mr(pd, source, BYTES, 0);
	CHECK(mr && from);
	struct ibv_qp *qps[2];
	for (int i = 0; i < 2; i++)
		qps[i] = create();
	nothing(qps[0], qps[1]);
	clocks(context);
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_qp(qps[i]));
	CHECK(!ibv_dereg_mr(mr) && !ibv_dereg_mr(from));
	CHECK(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
