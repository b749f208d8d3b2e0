/*
 * In a guest: verbs on command. Reads one command a line, answers with one line; a test outside holds the
 * other end of the cable.
 *
 *   peer DEVICE GID-INDEX
 *
 *   create                                           -> qp QPN RKEY ADDRESS
 *   connect QPN GID PEER-QPN RQ-PSN SQ-PSN MTU TIMEOUT RETRY RNR-RETRY RNR-TIMER -> ok
 *   post QPN OP OFFSET LENGTH REMOTE RKEY IMM ADD-OR-COMPARE SWAP                 -> ok
 *        OP: write write_imm send send_imm read faa cas
 *   recv QPN OFFSET LENGTH                           -> ok
 *   poll MILLIS                                      -> wc QPN STATUS OPCODE BYTES IMM | none
 *   fill OFFSET LENGTH SEED                          -> ok      byte i becomes (i * 7 + SEED) mod 251
 *   check OFFSET LENGTH SEED                         -> ok | differs AT
 *   set OFFSET VALUE / get OFFSET                    -> ok / value VALUE     8 bytes, little-endian
 *   state QPN                                        -> state STATE
 *   destroy QPN                                      -> ok
 *   quit
 *
 * All numbers are decimal or 0x...; MTU is in bytes. What fails is answered with "error WHAT ERRNO".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define BYTES (1 << 20)
#define QPS 64

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qps[QPS];
static unsigned char *memory;
static int gid_index;

static void say(const char *text) { puts(text); fflush(stdout); }

static void fail(const char *what)
{
	printf("error %s %d %s\n", what, errno, strerror(errno));
	fflush(stdout);
}

static struct ibv_qp *find(uint64_t number)
{
	for (int i = 0; i < QPS; i++)
		if (qps[i] && qps[i]->qp_num == number)
			return qps[i];
	return NULL;
}

static void create(void)
{
	int at = 0;
	while (at < QPS && qps[at])
		at++;
	if (at == QPS) {
		say("error too many queue pairs");
		return;
	}
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	if (!qp) {
		fail("create_qp");
		return;
	}
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
		fail("to INIT");
		return;
	}
	qps[at] = qp;
	printf("qp %u %u %" PRIu64 "\n", qp->qp_num, mr->rkey, (uint64_t)(uintptr_t)memory);
	fflush(stdout);
}

static enum ibv_mtu mtu_of(uint64_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;
	while (mtu < IBV_MTU_4096 && (128u << mtu) < bytes)
		mtu++;
	return mtu;
}

static void connect_qp(struct ibv_qp *qp, const char *gid, const uint64_t *v)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = mtu_of(v[3]), .dest_qp_num = v[0], .rq_psn = v[1],
		.max_dest_rd_atomic = 4, .min_rnr_timer = v[7],
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .sgid_index = gid_index, .hop_limit = 64 } } };
	attr.ah_attr.grh.dgid.raw[10] = attr.ah_attr.grh.dgid.raw[11] = 0xff;
	if (inet_pton(AF_INET, gid, attr.ah_attr.grh.dgid.raw + 12) != 1) {
		say("error no IPv4 address");
		return;
	}
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
		fail("to RTR");
		return;
	}
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = v[2], .timeout = v[4], .retry_cnt = v[5],
		.rnr_retry = v[6], .max_rd_atomic = 4 };
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC)) {
		fail("to RTS");
		return;
	}
	say("ok");
}

static void post(struct ibv_qp *qp, const char *op, const uint64_t *v)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + v[0], .length = v[1], .lkey = mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = v[1] ? 1 : 0, .send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(v[4]) }, *bad;
	wr.wr.rdma.remote_addr = v[2];
	wr.wr.rdma.rkey = v[3];
	if (!strcmp(op, "write"))
		wr.opcode = IBV_WR_RDMA_WRITE;
	else if (!strcmp(op, "write_imm"))
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	else if (!strcmp(op, "send"))
		wr.opcode = IBV_WR_SEND;
	else if (!strcmp(op, "send_imm"))
		wr.opcode = IBV_WR_SEND_WITH_IMM;
	else if (!strcmp(op, "read"))
		wr.opcode = IBV_WR_RDMA_READ;
	else if (!strcmp(op, "faa") || !strcmp(op, "cas")) {
		wr.opcode = op[0] == 'f' ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
		wr.wr.atomic.remote_addr = v[2];
		wr.wr.atomic.rkey = v[3];
		wr.wr.atomic.compare_add = v[5];
		wr.wr.atomic.swap = v[6];
	} else {
		say("error unknown operation");
		return;
	}
	if ((errno = ibv_post_send(qp, &wr, &bad)))
		fail("post_send");
	else
		say("ok");
}

static void receive(struct ibv_qp *qp, const uint64_t *v)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + v[0], .length = v[1], .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	if ((errno = ibv_post_recv(qp, &wr, &bad)))
		fail("post_recv");
	else
		say("ok");
}

static void poll_cq(uint64_t millis)
{
	struct timespec now, end;
	struct ibv_wc wc;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += millis / 1000;
	end.tv_nsec += millis % 1000 * 1000000;
	do {
		if (ibv_poll_cq(cq, 1, &wc) == 1) {
			printf("wc %u %d %d %u %u\n", wc.qp_num, wc.status, wc.status ? 0 : wc.opcode, wc.status ? 0 : wc.byte_len,
				!wc.status && (wc.wc_flags & IBV_WC_WITH_IMM) ? ntohl(wc.imm_data) : 0);
			fflush(stdout);
			return;
		}
		usleep(500);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)
		|| now.tv_sec * 1000000000LL + now.tv_nsec < end.tv_sec * 1000000000LL + end.tv_nsec);
	say("none");
}

static int inside(uint64_t offset, uint64_t length)
{
	if (offset <= BYTES && length <= BYTES - offset)
		return 1;
	say("error outside the memory");
	return 0;
}

static int serve(char *line)
{
	char *word[16];
	int words = 0;
	uint64_t v[16] = { 0 };
	for (char *w = strtok(line, " \r\n"); w && words < 16; w = strtok(NULL, " \r\n"))
		word[words++] = w;
	if (!words)
		return 1;
	for (int i = 1; i < words; i++)
		v[i] = strtoull(word[i], NULL, 0);
	const char *c = word[0];
	if (!strcmp(c, "quit"))
		return 0;
	if (!strcmp(c, "create")) {
		create();
	} else if (!strcmp(c, "poll") && words == 2) {
		poll_cq(v[1]);
	} else if (!strcmp(c, "fill") && words == 4) {
		if (inside(v[1], v[2])) {
			for (uint64_t i = 0; i < v[2]; i++)
				memory[v[1] + i] = (i * 7 + v[3]) % 251;
			say("ok");
		}
	} else if (!strcmp(c, "check") && words == 4) {
		if (inside(v[1], v[2])) {
			uint64_t i = 0;
			while (i < v[2] && memory[v[1] + i] == (i * 7 + v[3]) % 251)
				i++;
			if (i == v[2]) {
				say("ok");
			} else {
				printf("differs %" PRIu64 "\n", i);
				fflush(stdout);
			}
		}
	} else if (!strcmp(c, "set") && words == 3) {
		if (inside(v[1], 8)) {
			memcpy(memory + v[1], &v[2], 8);
			say("ok");
		}
	} else if (!strcmp(c, "get") && words == 2) {
		if (inside(v[1], 8)) {
			uint64_t value;
			memcpy(&value, memory + v[1], 8);
			printf("value %" PRIu64 "\n", value);
			fflush(stdout);
		}
	} else {
		struct ibv_qp *qp = words > 1 ? find(v[1]) : NULL;
		if (!qp) {
			say("error no such command or queue pair");
		} else if (!strcmp(c, "connect") && words == 11) {
			connect_qp(qp, word[2], v + 3);
		} else if (!strcmp(c, "post") && words == 10) {
			post(qp, word[2], v + 3);
		} else if (!strcmp(c, "recv") && words == 4) {
			receive(qp, v + 2);
		} else if (!strcmp(c, "state")) {
			struct ibv_qp_attr attr;
			struct ibv_qp_init_attr init;
			if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init)) {
				fail("query_qp");
			} else {
				printf("state %d\n", attr.qp_state);
				fflush(stdout);
			}
		} else if (!strcmp(c, "destroy")) {
			for (int i = 0; i < QPS; i++)
				if (qps[i] == qp)
					qps[i] = NULL;
			if (ibv_destroy_qp(qp))
				fail("destroy_qp");
			else
				say("ok");
		} else {
			say("error no such command");
		}
	}
	return 1;
}

int main(int count, char **words)
{
	if (count != 3) {
		fprintf(stderr, "usage: peer DEVICE GID-INDEX\n");
		return 2;
	}
	gid_index = atoi(words[2]);
	struct ibv_device **devices = ibv_get_device_list(NULL);
	while (devices && *devices && strcmp(ibv_get_device_name(*devices), words[1]))
		devices++;
	if (!devices || !*devices || !(context = ibv_open_device(*devices)) || !(pd = ibv_alloc_pd(context))
		|| !(cq = ibv_create_cq(context, 1024, NULL, NULL, 0))) {
		fail("open device");
		return 1;
	}
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = memory == MAP_FAILED ? NULL : ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr) {
		fail("register memory");
		return 1;
	}
	say("ready");
	char line[512];
	while (fgets(line, sizeof line, stdin) && serve(line))
		;
	return 0;
}
