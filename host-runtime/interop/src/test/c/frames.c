/*
 * Ethernet frames between queue pairs of raw packets: steering rules choose who receives them, and a hash which of
 * several queues. Datagrams to a multicast
 * group: its members receive them. Exits with 0 when all is as it should be.
 */
#include <arpa/inet.h>
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

enum { SIZE = 128, GRH = 40, KEY = 0x1234, MULTICAST_QPN = 0xffffff, PORT_A = 1000, PORT_B = 2000 };

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char buffer[2][GRH + SIZE];
};

static void open_end(struct end *end, struct ibv_device *device, enum ibv_qp_type type)
{
	CHECK((end->context = ibv_open_device(device)) && (end->pd = ibv_alloc_pd(end->context)));
	CHECK((end->cq = ibv_create_cq(end->context, 16, NULL, NULL, 0)));
	CHECK((end->mr = ibv_reg_mr(end->pd, end->buffer, sizeof end->buffer, IBV_ACCESS_LOCAL_WRITE)));
	struct ibv_qp_init_attr attributes = { .send_cq = end->cq, .recv_cq = end->cq, .qp_type = type,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 1 } };
	CHECK((end->qp = ibv_create_qp(end->pd, &attributes)));
	int key = type == IBV_QPT_UD ? IBV_QP_PKEY_INDEX | IBV_QP_QKEY : 0;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = KEY };
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | key));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | (key ? IBV_QP_SQ_PSN : 0)));
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

static const unsigned char TO[] = { 2, 0, 0, 0, 0, 9 }, FROM[] = { 2, 0, 0, 0, 0, 8 };

/* A frame of IPv4 and UDP with a VLAN tag or without, in two pieces. */
static void send_frame(struct end *end, int port, int vlan)
{
	unsigned char *f = (unsigned char *)end->buffer[0];
	for (int i = 0; i < SIZE; i++)
		f[i] = (unsigned char)(i * 7 + port);
	memcpy(f, TO, 6);
	memcpy(f + 6, FROM, 6);
	if (vlan) {
		f[12] = 0x81, f[13] = 0, f[14] = 0, f[15] = (unsigned char)vlan;
		f += 4;
	}
	f[12] = 8, f[13] = 0;
	memset(f + 14, 0, 28);
	f[14] = 0x45, f[22] = 64, f[23] = 17;
	f[26] = f[30] = 10, f[29] = 1, f[33] = 2;
	f[36] = (unsigned char)(port >> 8), f[37] = (unsigned char)port;
	struct ibv_sge pieces[] = { { (uintptr_t)end->buffer[0], 20, end->mr->lkey },
		{ (uintptr_t)end->buffer[0] + 20, SIZE - 20, end->mr->lkey } };
	struct ibv_send_wr wr = { .sg_list = pieces, .num_sge = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }, *bad;
	CHECK(!ibv_post_send(end->qp, &wr, &bad));
	struct ibv_wc wc = poll(end);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND);
}

struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth ethernet;
	struct ibv_flow_spec_ipv4 ip;
	struct ibv_flow_spec_tcp_udp udp;
} __attribute__((packed, aligned(4)));

/* Frames to TO, and of 'count' specifications also from 10.0.0.1 to a port. */
static struct rule rule(int count, int port, int priority)
{
	struct rule r = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof r, .port = 1, .num_of_specs = (uint8_t)count,
			.priority = (uint16_t)priority },
		.ethernet = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof r.ethernet },
		.ip = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof r.ip, .val.src_ip = htonl(0x0a000001),
			.mask.src_ip = 0xffffffff },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof r.udp, .val.dst_port = htons((uint16_t)port),
			.mask.dst_port = 0xffff },
	};
	memcpy(r.ethernet.val.dst_mac, TO, 6);
	memset(r.ethernet.mask.dst_mac, 0xff, 6);
	return r;
}

static struct ibv_flow *steer(struct end *end, struct rule *rule)
{
	return ibv_create_flow(end->qp, (void *)rule);
}

static void expect_frame(struct end *end, struct end *from)
{
	struct ibv_wc wc = poll(end);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.byte_len == SIZE);
	CHECK(!memcmp(end->buffer[1], from->buffer[0], SIZE));
}

static void frames(struct ibv_device **list)
{
	static struct end sender, ends[2];
	open_end(&sender, list[0], IBV_QPT_RAW_PACKET);
	open_end(&ends[0], list[0], IBV_QPT_RAW_PACKET);
	open_end(&ends[1], list[1], IBV_QPT_RAW_PACKET);
	struct rule all = rule(1, 0, 5), one = rule(3, PORT_A, 1), tagged = rule(1, 0, 0);
	tagged.ethernet.val.vlan_tag = htons(7);
	tagged.ethernet.mask.vlan_tag = htons(0xfff);
	struct ibv_flow *to_all = steer(&ends[0], &all);
	struct ibv_flow *to_one = steer(&ends[1], &one);
	CHECK(to_all && to_one);
	/* Each device has rules of its own, so both receive what both rules match. */
	receive(&ends[0]), receive(&ends[1]);
	send_frame(&sender, PORT_A, 0);
	expect_frame(&ends[0], &sender);
	expect_frame(&ends[1], &sender);
	receive(&ends[0]), receive(&ends[1]);
	send_frame(&sender, PORT_B, 0);
	expect_frame(&ends[0], &sender);
	struct ibv_wc wc;
	CHECK(!ibv_poll_cq(ends[1].cq, 1, &wc));
	/* On one device the rule of the lower priority number has the frame, here the sender's own. */
	struct ibv_flow *own = steer(&sender, &tagged);
	CHECK(own);
	receive(&sender), receive(&ends[0]);
	memset(&wc, 0, sizeof wc);
	send_frame(&sender, PORT_B, 7);
	expect_frame(&sender, &sender);
	CHECK(!ibv_poll_cq(ends[0].cq, 1, &wc));
	send_frame(&sender, PORT_B, 8);
	expect_frame(&ends[0], &sender);
	/* A rule holds its queue pair. */
	CHECK(ibv_destroy_qp(ends[1].qp) == EBUSY);
	CHECK(!ibv_destroy_flow(to_one) && !ibv_destroy_flow(own) && !ibv_destroy_flow(to_all));
	receive(&ends[0]);
	send_frame(&sender, PORT_A, 0);
	CHECK(!ibv_poll_cq(ends[0].cq, 1, &wc));
	/* Nothing shorter than its header, nothing longer than the MTU; not served: sniffers. */
	all.attr.type = IBV_FLOW_ATTR_SNIFFER;
	CHECK(!steer(&ends[0], &all) && errno == EOPNOTSUPP);
	struct ibv_sge piece = { (uintptr_t)sender.buffer[0], 13, sender.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	CHECK(!ibv_post_send(sender.qp, &wr, &bad));
	CHECK(poll(&sender).status == IBV_WC_LOC_LEN_ERR);
	close_end(&sender), close_end(&ends[0]), close_end(&ends[1]);
}

/* A queue pair over two work queues: each port has its frames in one of them, and both get some. */
static void spread(struct ibv_device **list)
{
	enum { QUEUES = 2, PORTS = 16 };
	static struct end sender;
	static char buffers[QUEUES][SIZE];
	static uint8_t key[40] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
		0x8f, 0xb0, 0xd0, 0xca };
	open_end(&sender, list[0], IBV_QPT_RAW_PACKET);
	struct ibv_cq *cq[QUEUES];
	struct ibv_wq *queues[QUEUES];
	struct ibv_mr *mr = ibv_reg_mr(sender.pd, buffers, sizeof buffers, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
	for (int i = 0; i < QUEUES; i++) {
		CHECK((cq[i] = ibv_create_cq(sender.context, 64, NULL, NULL, 0)));
		struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 64, .max_sge = 1, .pd = sender.pd,
			.cq = cq[i] };
		CHECK((queues[i] = ibv_create_wq(sender.context, &attr)));
		struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
		CHECK(!ibv_modify_wq(queues[i], &ready));
	}
	struct ibv_rwq_ind_table_init_attr tabled = { .log_ind_tbl_size = 1, .ind_tbl = queues };
	struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(sender.context, &tabled);
	CHECK(table);
	struct ibv_qp_init_attr_ex attributes = { .qp_type = IBV_QPT_RAW_PACKET, .pd = sender.pd, .rwq_ind_tbl = table,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ, .rx_hash_key_len = sizeof key,
			.rx_hash_key = key, .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
				IBV_RX_HASH_SRC_IPV6 } };
	CHECK(!ibv_create_qp_ex(sender.context, &attributes) && errno == EINVAL);
	attributes.rx_hash_conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	struct ibv_qp *qp = ibv_create_qp_ex(sender.context, &attributes);
	CHECK(qp);
	struct rule all = rule(1, 0, 0);
	struct ibv_flow *flow = ibv_create_flow(qp, (void *)&all);
	CHECK(flow);
	int seen[QUEUES] = { 0 }, of[PORTS];
	for (int i = 0; i < 2 * PORTS; i++) {
		for (int j = 0; j < QUEUES; j++) {
			struct ibv_sge piece = { (uintptr_t)buffers[j], SIZE, mr->lkey };
			struct ibv_recv_wr wr = { .wr_id = (uint64_t)(100 * j + i), .sg_list = &piece, .num_sge = 1 }, *bad;
			CHECK(!ibv_post_wq_recv(queues[j], &wr, &bad));
		}
		send_frame(&sender, PORT_A + i % PORTS, 0);
		struct ibv_wc wc;
		int n, j = 0;
		while (!(n = ibv_poll_cq(cq[j], 1, &wc)))
			j ^= 1;
		CHECK(n == 1 && wc.status == IBV_WC_SUCCESS && wc.byte_len == SIZE);
		CHECK(wc.wr_id == (uint64_t)(100 * j + seen[j]++));
		CHECK(!memcmp(buffers[j], sender.buffer[0], SIZE));
		CHECK(i < PORTS || of[i % PORTS] == j);
		of[i % PORTS] = j;
	}
	CHECK(seen[0] && seen[1]);
	CHECK(ibv_destroy_wq(queues[0]) == EBUSY && ibv_destroy_rwq_ind_table(table) == EBUSY);
	CHECK(ibv_destroy_qp(qp) == EBUSY && !ibv_destroy_flow(flow) && !ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_rwq_ind_table(table) && !ibv_dereg_mr(mr));
	for (int i = 0; i < QUEUES; i++)
		CHECK(!ibv_destroy_wq(queues[i]) && !ibv_destroy_cq(cq[i]));
	close_end(&sender);
}

static void multicasts(struct ibv_device **list)
{
	static struct end ends[3];
	for (int i = 0; i < 3; i++)
		open_end(&ends[i], list[i & 1], IBV_QPT_UD);
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
	frames(list);
	spread(list);
	multicasts(list);
	/* What a program leaves behind ends with it. */
	static struct end raw, datagrams;
	open_end(&raw, list[0], IBV_QPT_RAW_PACKET);
	open_end(&datagrams, list[0], IBV_QPT_UD);
	struct rule all = rule(1, 0, 0);
	CHECK(steer(&raw, &all));
	union ibv_gid group = { .raw = { [0] = 0xff, [1] = 0x0e, [15] = 1 } };
	CHECK(!ibv_attach_mcast(datagrams.qp, &group, 0));
	puts("ok");
	return 0;
}
