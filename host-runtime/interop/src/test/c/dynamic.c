/*
 * Dynamic connections by mlx5dv: one initiator sends and writes to two targets in turn, is refused with a wrong
 * access key, and works again after a reset. Exits with 0 when all is as it should be.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { TARGETS = 2, SIZE = 10000 };

static const uint64_t KEY = 0x1234567890abcdef;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq, *received;
static struct ibv_qp *initiator;
static struct ibv_ah *route;
static char source[SIZE], sinks[TARGETS][2][SIZE];

static struct ibv_wc poll(struct ibv_cq *from)
{
	struct ibv_wc wc;
	int n;
	while (!(n = ibv_poll_cq(from, 1, &wc)))
		;
	CHECK(n == 1);
	return wc;
}

/* MTU, port and rights suffice: the address is in the WQEs. */
static void ready(struct ibv_qp *qp, int target)
{
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	int access = target ? IBV_QP_ACCESS_FLAGS : 0;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | access));
	attributes.qp_state = IBV_QPS_RTR;
	attributes.path_mtu = IBV_MTU_1024;
	attributes.min_rnr_timer = 1;
	attributes.ah_attr.is_global = 1;
	attributes.ah_attr.port_num = 1;
	attributes.ah_attr.grh.hop_limit = 1;
	CHECK(!ibv_query_gid(context, 1, 0, &attributes.ah_attr.grh.dgid));
	int rnr = target ? IBV_QP_MIN_RNR_TIMER | IBV_QP_AV : 0;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PATH_MTU | rnr));
	if (target)
		return;
	attributes.qp_state = IBV_QPS_RTS;
	attributes.timeout = 14;
	attributes.retry_cnt = 7;
	attributes.rnr_retry = 7;
	attributes.max_rd_atomic = 1;
	CHECK(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static struct ibv_qp *create(struct ibv_srq *receives)
{
	struct ibv_qp_init_attr_ex attributes = { .qp_type = IBV_QPT_DRIVER, .send_cq = cq, .recv_cq = received,
		.pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD, .srq = receives };
	struct mlx5dv_qp_init_attr dc = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = receives ? MLX5DV_DCTYPE_DCT : MLX5DV_DCTYPE_DCI, .dct_access_key = KEY } };
	if (!receives) {
		attributes.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attributes.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
		attributes.cap = (struct ibv_qp_cap){ .max_send_wr = 16, .max_send_sge = 1 };
		dc.dc_init_attr.dct_access_key = 0;
	}
	struct ibv_qp *qp = mlx5dv_create_qp(context, &attributes, &dc);
	CHECK(qp);
	ready(qp, receives != NULL);
	return qp;
}

static void post(uint32_t target, uint64_t key, struct ibv_mr *from, struct ibv_mr *to, void *remote)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(initiator);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	if (remote)
		ibv_wr_rdma_write(qp, to->rkey, (uintptr_t)remote);
	else
		ibv_wr_send(qp);
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), route, target, key);
	ibv_wr_set_sge(qp, from->lkey, (uintptr_t)source, SIZE);
	CHECK(!ibv_wr_complete(qp));
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	context = ibv_open_device(list[0]);
	CHECK(context && (pd = ibv_alloc_pd(context)));
	CHECK((cq = ibv_create_cq(context, 16, NULL, NULL, 0)));
	CHECK((received = ibv_create_cq(context, 16, NULL, NULL, 0)));
	struct ibv_mr *from = ibv_reg_mr(pd, source, sizeof source, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *to = ibv_reg_mr(pd, sinks, sizeof sinks, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(from && to);
	struct ibv_ah_attr address = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 1 } };
	CHECK(!ibv_query_gid(context, 1, 0, &address.grh.dgid));
	CHECK((route = ibv_create_ah(pd, &address)));
	struct ibv_srq *srq[TARGETS];
	struct ibv_qp *targets[TARGETS];
	for (int i = 0; i < TARGETS; i++) {
		struct ibv_srq_init_attr attributes = { .attr = { .max_wr = 8, .max_sge = 1 } };
		CHECK((srq[i] = ibv_create_srq(pd, &attributes)));
		targets[i] = create(srq[i]);
		CHECK(targets[i]->qp_num);
	}
	CHECK(targets[0]->qp_num != targets[1]->qp_num);
	initiator = create(NULL);
	for (int round = 0; round < 6; round++) {
		int i = round % TARGETS;
		memset(source, 'a' + round, sizeof source);
		struct ibv_sge piece = { (uintptr_t)sinks[i][0], SIZE, to->lkey };
		struct ibv_recv_wr receive = { .wr_id = (uint64_t)round, .sg_list = &piece, .num_sge = 1 }, *bad;
		CHECK(!ibv_post_srq_recv(srq[i], &receive, &bad));
		post(targets[i]->qp_num, KEY, from, to, NULL);
		struct ibv_wc wc = poll(received);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)round && wc.byte_len == SIZE);
		CHECK(wc.qp_num == targets[i]->qp_num);
		CHECK(poll(cq).status == IBV_WC_SUCCESS);
		post(targets[i]->qp_num, KEY, from, to, sinks[i][1]);
		CHECK(poll(cq).status == IBV_WC_SUCCESS);
		CHECK(!memcmp(sinks[i][0], source, SIZE) && !memcmp(sinks[i][1], source, SIZE));
	}
	memset(source, '-', sizeof source);
	post(targets[0]->qp_num, KEY + 1, from, to, sinks[0][1]);
	CHECK(poll(cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(sinks[0][1][0] == 'e');
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_RESET };
	CHECK(!ibv_modify_qp(initiator, &attributes, IBV_QP_STATE));
	ready(initiator, 0);
	post(targets[1]->qp_num, KEY, from, to, sinks[1][1]);
	CHECK(poll(cq).status == IBV_WC_SUCCESS);
	CHECK(!memcmp(sinks[1][1], source, SIZE));
	/* A queue of receives is in use while its target lives. */
	CHECK(ibv_destroy_srq(srq[0]) == EBUSY);
	CHECK(!ibv_destroy_qp(initiator));
	for (int i = 0; i < TARGETS; i++)
		CHECK(!ibv_destroy_qp(targets[i]) && !ibv_destroy_srq(srq[i]));
	CHECK(!ibv_destroy_ah(route) && !ibv_dereg_mr(from) && !ibv_dereg_mr(to));
	CHECK(!ibv_destroy_cq(cq) && !ibv_destroy_cq(received) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
