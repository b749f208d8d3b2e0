/*
 * Clients of one owner's memory, each in a process and on a queue pair of its own. Until standard input ends they do atomics on words
 * that all share, writes to words of their own and reads of all words, a few at a time, and write down when each began and ended on
 * the monotonic clock. A request that has failed, or whose client was killed, has no end: nobody knows whether it was executed.
 *
 * Arguments: seed, clients, folder. Prints the clients' process ids in a line, and "ended" at the end. FOLDER/history.N has lines
 *     begin NUMBER KIND WORD ARGUMENT ARGUMENT TIME        end NUMBER VALUE TIME
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                                           \
	do {                                                                                                               \
		if (!(c)) {                                                                                                \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);                                  \
			exit(1);                                                                                           \
		}                                                                                                          \
	} while (0)

enum { SHARED = 6, CLIENTS = 8, OUTSTANDING = 4, WORDS = SHARED + 2 * CLIENTS, BYTES = 4096 };

struct place {
	union ibv_gid gid;
	uint32_t qpn, rkey;
	uint64_t address;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint64_t *memory;
static uint64_t seed;
static int history;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	context = ibv_open_device(list[0]);
	CHECK(context);
	pd = ibv_alloc_pd(context);
	CHECK(pd && !posix_memalign((void **)&memory, 4096, BYTES));
	memset(memory, 0, BYTES);
	mr = ibv_reg_mr(pd, memory, BYTES,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(mr);
}

static struct ibv_qp *connect_to(int peer, struct ibv_cq *cq, struct place *there)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { OUTSTANDING, 1, 1, 1, 0 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct place here = { .qpn = qp->qp_num, .rkey = mr->rkey, .address = (uintptr_t)memory };
	CHECK(!ibv_query_gid(context, 1, 0, &here.gid));
	CHECK(send(peer, &here, sizeof here, 0) == sizeof here);
	CHECK(recv(peer, there, sizeof *there, MSG_WAITALL) == sizeof *there);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = there->qpn,
		.max_dest_rd_atomic = OUTSTANDING, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = there->gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	/* 4.096 us * 2^12: 17 ms, seven times. */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = OUTSTANDING };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
						IBV_QP_MAX_QP_RD_ATOMIC));
	char ready = 1;
	CHECK(send(peer, &ready, 1, 0) == 1 && recv(peer, &ready, 1, MSG_WAITALL) == 1);
	return qp;
}

static void note(const char *line, int bytes)
{
	CHECK(write(history, line, (size_t)bytes) == bytes);
}

static struct ibv_qp *qp;
static struct ibv_cq *cq;
static struct place owner;
static uint64_t number, ended, last[WORDS];
static int words[OUTSTANDING];

/* Returns whether more can be posted on the queue pair. */
static int post(enum ibv_wr_opcode opcode, int word, uint64_t a, uint64_t b)
{
	static const char *const kinds[] = {
		[IBV_WR_RDMA_WRITE] = "write", [IBV_WR_RDMA_READ] = "read", [IBV_WR_ATOMIC_FETCH_AND_ADD] = "add", [IBV_WR_ATOMIC_CMP_AND_SWP] = "cas" };
	int slot = (int)(number % OUTSTANDING);
	struct ibv_sge sge = { (uintptr_t)&memory[slot], 8, mr->lkey };
	struct ibv_send_wr request = { .wr_id = number, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	memory[slot] = a;
	words[slot] = word;
	if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ) {
		request.wr.rdma.remote_addr = owner.address + 8 * (uint64_t)word;
		request.wr.rdma.rkey = owner.rkey;
	} else {
		request.wr.atomic.remote_addr = owner.address + 8 * (uint64_t)word;
		request.wr.atomic.rkey = owner.rkey;
		request.wr.atomic.compare_add = a;
		request.wr.atomic.swap = b;
	}
	char line[160];
	note(line, snprintf(line, sizeof line, "begin %" PRIu64 " %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", number, kinds[opcode], word, a, b, now()));
	number++;
	return !ibv_post_send(qp, &request, &bad);
}

/* Waits for all that is outstanding; returns whether it succeeded. */
static int complete(const volatile int *stop)
{
	while (ended < number) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS) || (!n && *stop == 2))
			return 0;
		if (!n)
			continue;
		uint64_t time = now();
		int slot = (int)(wc.wr_id % OUTSTANDING);
		char line[96];
		last[words[slot]] = memory[slot];
		note(line, snprintf(line, sizeof line, "end %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)wc.wr_id, memory[slot], time));
		ended++;
	}
	return 1;
}

static void client(int me, int clients, int peer, const volatile int *stop)
{
	open_device();
	cq = ibv_create_cq(context, 2 * OUTSTANDING, NULL, NULL, 0);
	CHECK(cq);
	qp = connect_to(peer, cq, &owner);
	int data = SHARED + 2 * me, flag = data + 1;
	uint64_t written = 0;
	int good = 1;
	while (good && !*stop) {
		int count = 1 + (int)draw(OUTSTANDING);
		switch (draw(3)) {
		case 0:
			while (good && count--) {
				int word = (int)draw(SHARED);
				/* What is swapped in is told from what anybody adds. */
				good = draw(2) ? post(IBV_WR_ATOMIC_FETCH_AND_ADD, word, 1 + draw(1000), 0)
					       : post(IBV_WR_ATOMIC_CMP_AND_SWP, word, last[word], (uint64_t)(me + 1) << 56 | number << 24);
			}
			break;
		case 1: /* data and its flag, and a look at either */
			written++;
			good = post(IBV_WR_RDMA_WRITE, data, written, 0) && post(IBV_WR_RDMA_WRITE, flag, written, 0) &&
			       post(IBV_WR_RDMA_READ, draw(2) ? data : flag, 0, 0);
			break;
		default: { /* a flag, and then its data */
			int of = SHARED + 2 * (int)draw((uint32_t)clients);
			good = post(IBV_WR_RDMA_READ, of + 1, 0, 0) && post(IBV_WR_RDMA_READ, of, 0, 0);
		}
		}
		good = good && complete(stop);
		usleep(draw(2000));
	}
	exit(0);
}

int main(int count, char **arguments)
{
	CHECK(count == 4);
	int clients = atoi(arguments[2]), pairs[CLIENTS][2];
	CHECK(clients > 0 && clients <= CLIENTS);
	/* 1: no more requests; 2: no more waiting either. */
	volatile int *stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(stop != MAP_FAILED);
	pid_t pids[CLIENTS];
	for (int i = 0; i < clients; i++) {
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]));
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (!pids[i]) {
			char name[4096];
			snprintf(name, sizeof name, "%s/history.%d", arguments[3], i);
			history = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
			CHECK(history >= 0);
			seed = (strtoull(arguments[1], NULL, 0) + (uint64_t)i) * 0x9e3779b97f4a7c15ull | 1;
			client(i, clients, pairs[i][1], stop);
		}
	}
	open_device();
	struct ibv_cq *own = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(own);
	struct place there;
	for (int i = 0; i < clients; i++)
		CHECK(connect_to(pairs[i][0], own, &there));
	for (int i = 0; i < clients; i++)
		printf("%d%s", (int)pids[i], i + 1 < clients ? " " : "\n");
	fflush(stdout);
	char none;
	while (read(0, &none, 1) > 0)
		*stop = 2;
	if (!*stop)
		*stop = 1;
	for (int i = 0; i < clients; i++)
		CHECK(waitpid(pids[i], NULL, 0) == pids[i]);
	char name[4096], line[96];
	snprintf(name, sizeof name, "%s/history.owner", arguments[3]);
	history = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(history >= 0);
	for (uint64_t i = 0; i < SHARED + 2 * (uint64_t)clients; i++) {
		uint64_t time = now();
		note(line, snprintf(line, sizeof line, "begin %" PRIu64 " read %" PRIu64 " 0 0 %" PRIu64 "\n", i, i, time));
		note(line, snprintf(line, sizeof line, "end %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, memory[i], time));
	}
	puts("ended");
	return 0;
}
