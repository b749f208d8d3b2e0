/* Datagrams to a multicast group: its members receive them. Exits with 0 when all is as it should be. */
#include <errno.h>
#include <infiniband/verbs.h>
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

enum { SIZE = 128, GRH = 40, KEY = 0x1234, MULTICAST_QPN = 0xffffff };

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char buffer[2][GRH + SIZE];
};

static void open_end(struct end *end, struct ibv_device *device)
{
	CHECK((end->context = ibv_open_device(device)) && (end->pd = ibv_alloc_pd(end->context)));
	CHECK((end->cq = ibv_create_cq(end->context, 16, NULL, NULL, 0)));
	CHECK((end->mr = ibv_reg_mr(end->pd, end->buffer, sizeof end->buffer, IBV_ACCESS_LOCAL_WRITE)));
	struct ibv_qp_init_attr attributes = { .send_cq = end->cq, .recv_cq = end->cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 1 } };
	CHECK((end->qp = ibv_create_qp(end->pd, &attributes)));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = KEY };
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void close_end(struct end *end)
{
	CHECK(!ibv_destroy_qp(end->qp) && !ibv_destroy_cq(end->cq) && !ibv_dereg_mr(end->mr));
	CHECK(!ibv_dealloc_pd(end->pd) && !ibv_close_device(end->context));
}

static struct ibv_wc poll(struct end *end)
{
	struct ibv_wc wc;
	int n;
	while (!(n = ibv_poll_cq(end->cq, 1, &wc)))
		;
	CHECK(n == 1);
	return wc;
}

static void receive(struct end *end)
{
	struct ibv_sge piece = { (uintptr_t)end->buffer[1], sizeof end->buffer[1], end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &piece, .num_sge = 1 }, *bad;
	memset(end->buffer[1], 0, sizeof end->buffer[1]);
	CHECK(!ibv_post_recv(end->qp, &wr, &bad));
}

static void multicasts(struct ibv_device **list)
{
	static struct end ends[3];
	for (int i = 0; i < 3; i++)
		open_end(&ends[i], list[i & 1]);
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1 } }, own;
	CHECK(!ibv_query_gid(ends[0].context, 1, 1, &own));
	CHECK(ibv_attach_mcast(ends[0].qp, &own, 0) == EINVAL);
	for (int i = 0; i < 3; i++)
		CHECK(!ibv_attach_mcast(ends[i].qp, &group, 0));
	struct ibv_ah_attr address = { .is_global = 1, .port_num = 1,
		.grh = { .dgid = group, .hop_limit = 1, .sgid_index = 1 } };
	struct ibv_ah *ah = ibv_create_ah(ends[0].pd, &address);
	CHECK(ah);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			receive(&ends[i]);
		memset(ends[0].buffer[0], 'a' + round, SIZE);
		struct ibv_sge piece = { (uintptr_t)ends[0].buffer[0], SIZE, ends[0].mr->lkey };
		struct ibv_send_wr wr = { .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = { .ah = ah, .remote_qpn = MULTICAST_QPN, .remote_qkey = KEY } }, *bad;
		CHECK(!ibv_post_send(ends[0].qp, &wr, &bad) && poll(&ends[0]).opcode == IBV_WC_SEND);
		for (int i = 1; i < 3 - round; i++) {
			struct ibv_wc wc = poll(&ends[i]);
			CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH + SIZE && wc.src_qp == ends[0].qp->qp_num);
			/* IPv4, which the packet type says, and the group as its destination. */
			CHECK(wc.sl == 2 && !memcmp(ends[i].buffer[1] + 36, group.raw + 12, 4));
			CHECK(!memcmp(ends[i].buffer[1] + GRH, ends[0].buffer[0], SIZE));
		}
		/* Not who sent it, and not who has left. */
		struct ibv_wc wc;
		CHECK(!ibv_poll_cq(ends[0].cq, 1, &wc));
		CHECK(!ibv_poll_cq(ends[2].cq, 1, &wc));
		CHECK(ibv_destroy_qp(ends[1].qp) == EBUSY);
		CHECK(ibv_detach_mcast(ends[2].qp, &group, 0) == (round ? EINVAL : 0));
	}
	CHECK(!ibv_detach_mcast(ends[0].qp, &group, 0) && !ibv_detach_mcast(ends[1].qp, &group, 0));
	CHECK(!ibv_destroy_ah(ah));
	close_end(&ends[0]), close_end(&ends[1]), close_end(&ends[2]);
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count == 2);
	multicasts(list);
	/* What a program leaves behind ends with it. */
	static struct end datagrams;
	open_end(&datagrams, list[0]);
	union ibv_gid group = { .raw = { [0] = 0xff, [1] = 0x0e, [15] = 1 } };
	CHECK(!ibv_attach_mcast(datagrams.qp, &group, 0));
	puts("ok");
	return 0;
}
