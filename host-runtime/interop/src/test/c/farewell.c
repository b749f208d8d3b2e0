/*
 * A datagram queue pair posts a SEND and is destroyed at once, 300 times: what rang before the call leaves before the
 * queue pair ends, so every datagram arrives.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 300

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static struct ibv_qp *datagrams(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

int main(void)
{
	static char memory[256];
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0]);
	struct ibv_context *context = ibv_open_device(devices[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_cq *sent = ibv_create_cq(context, 8, NULL, NULL, 0), *come = ibv_create_cq(context, 8, NULL, NULL, 0);
	CHECK(pd && mr && sent && come);
	struct ibv_qp *to = datagrams(pd, come);
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_ah_attr way = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } };
	struct ibv_ah *ah = ibv_create_ah(pd, &way);
	CHECK(ah);
	for (int i = 0; i < TIMES; i++) {
		struct ibv_sge in = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
		struct ibv_recv_wr receive = { .sg_list = &in, .num_sge = 1 }, *bad_receive;
		CHECK(!ibv_post_recv(to, &receive, &bad_receive));
		struct ibv_qp *from = datagrams(pd, sent);
		struct ibv_sge out = { .addr = (uintptr_t)memory + 128, .length = 8, .lkey = mr->lkey };
		struct ibv_send_wr send = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND,
			.wr = { .ud = { .ah = ah, .remote_qpn = to->qp_num, .remote_qkey = 7 } } }, *bad_send;
		CHECK(!ibv_post_send(from, &send, &bad_send));
		CHECK(!ibv_destroy_qp(from));
		struct ibv_wc wc = { 0 };
		int found = 0;
		for (time_t end = time(NULL) + 20; !found && time(NULL) < end;)
			found = ibv_poll_cq(come, 1, &wc);
		if (found != 1 || wc.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "datagram %d of %d is lost\n", i, TIMES);
			return 1;
		}
	}
	puts("all came");
	return 0;
}
