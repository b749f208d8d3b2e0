/*
 * A queue pair connected to itself: completion events, solicited ones, events of several completion queues on one
 * channel, asynchronous events, and what is left unread when the queues end. Exits with 0 when all is as it
 * should be; hangs in ibv_destroy_cq when events are miscounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static char memory[4096];

static struct ibv_qp *connect_self(struct ibv_pd *pd, struct ibv_cq *cq)
{
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1 };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
	return qp;
}

static void send_one(struct ibv_qp *qp, unsigned flags)
{
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr request = { .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags }, *bad;
	CHECK(!ibv_post_recv(qp, &receive, &bad_receive));
	CHECK(!ibv_post_send(qp, &request, &bad));
}

static void take(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc;
	for (int n; count > 0; count -= n) {
		n = ibv_poll_cq(cq, 1, &wc);
		CHECK(n >= 0 && (n == 0 || wc.status == IBV_WC_SUCCESS));
	}
}

static int ready(int fd, int milliseconds)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	return poll(&one, 1, milliseconds);
}

static struct ibv_cq *wait_event(void)
{
	struct ibv_cq *cq;
	void *user;
	CHECK(!ibv_get_cq_event(channel, &cq, &user));
	CHECK(user == (void *)cq->cq_context);
	return cq;
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	context = ibv_open_device(list[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	CHECK(pd && channel);
	mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_cq *one = ibv_create_cq(context, 16, (void *)1, channel, 0),
		      *two = ibv_create_cq(context, 16, (void *)2, channel, 0);
	CHECK(mr && one && two);
	struct ibv_qp *first = connect_self(pd, one), *second = connect_self(pd, two);

	/* Nobody has asked for an event yet. */
	send_one(first, 0);
	take(one, 2);
	CHECK(ready(channel->fd, 20) == 0);
	/* One event for one arming, however much completes. */
	for (int i = 0; i < 5; i++) {
		CHECK(!ibv_req_notify_cq(one, 0));
		send_one(first, 0);
		CHECK(wait_event() == one);
		take(one, 2);
		send_one(first, 0);
		take(one, 2);
		CHECK(ready(channel->fd, 5) == 0);
	}
	ibv_ack_cq_events(one, 5);
	/* Solicited alone: the first message is none. */
	CHECK(!ibv_req_notify_cq(one, 1));
	send_one(first, 0);
	take(one, 2);
	CHECK(ready(channel->fd, 20) == 0);
	send_one(first, IBV_SEND_SOLICITED);
	CHECK(wait_event() == one);
	take(one, 2);
	ibv_ack_cq_events(one, 1);

	/* Events of both queues lie unread when the first ends: its own are forgotten, the other's stay. */
	CHECK(!ibv_req_notify_cq(one, 0) && !ibv_req_notify_cq(two, 0));
	send_one(first, 0);
	send_one(second, 0);
	take(one, 2);
	take(two, 2);
	CHECK(ready(channel->fd, 10000) == 1);
	CHECK(!ibv_destroy_qp(first));
	CHECK(!ibv_destroy_cq(one));
	CHECK(wait_event() == two);
	ibv_ack_cq_events(two, 1);
	CHECK(ready(channel->fd, 20) == 0);

	/* A queue that ignores overruns takes more than it holds. */
	struct ibv_cq_init_attr_ex few = { .cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };
	struct ibv_cq *loose = (struct ibv_cq *)ibv_create_cq_ex(context, &few);
	CHECK(loose && loose->cqe < 15);
	struct ibv_qp *third = connect_self(pd, loose);
	for (int i = 0; i < 8; i++)
		send_one(third, 0);
	CHECK(ready(context->async_fd, 200) == 0);
	CHECK(!ibv_destroy_qp(third) && !ibv_destroy_cq(loose));

	/* A write that its target does not allow: an asynchronous event of the queue pair that was written to. */
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_send_wr request = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)memory, .rkey = mr->rkey } }, *bad;
	CHECK(!ibv_post_send(second, &request, &bad));
	CHECK(ready(context->async_fd, 10000) == 1);
	struct ibv_async_event event;
	CHECK(!ibv_get_async_event(context, &event));
	CHECK(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == second);
	ibv_ack_async_event(&event);
	struct ibv_wc wc;
	while (!ibv_poll_cq(two, 1, &wc))
		;
	/* The queue pair is both ends: either may notice first. */
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
	/* In error and with nothing outstanding, it flushes receives that are posted now, each with an event. */
	for (int i = 0; i < 3; i++) {
		struct ibv_recv_wr late = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 }, *bad_receive;
		CHECK(ready(channel->fd, 20) == 0);
		CHECK(!ibv_req_notify_cq(two, 0));
		CHECK(!ibv_post_recv(second, &late, &bad_receive));
		CHECK(ready(channel->fd, 10000) == 1 && wait_event() == two);
		CHECK(ibv_poll_cq(two, 1, &wc) == 1 && wc.wr_id == 7 && wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	ibv_ack_cq_events(two, 3);
	CHECK(!ibv_destroy_qp(second) && !ibv_destroy_cq(two));
	CHECK(!ibv_destroy_comp_channel(channel));
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
