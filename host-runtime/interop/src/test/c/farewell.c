/*
 * What rang before a queue pair ends leaves before, so every datagram arrives. A datagram queue pair posts a SEND and
 *
 *   farewell          is destroyed at once, 300 times, half of them with the data in the work request
 *   farewell WAY      ends with its program, 20 times: by "return", "_exit", "close" (of the device), or "kill" (SIGKILL, with
 *                     the data in the work request: nobody can read the program's memory any more)
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 300
#define PROGRAMS 20

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

extern char **environ;

static char memory[256];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *sent, *come;
static struct ibv_ah *ah;

static struct ibv_qp *datagrams(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 8 } };
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

static void start(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0]);
	context = ibv_open_device(devices[0]);
	CHECK(context);
	pd = ibv_alloc_pd(context);
	mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	sent = ibv_create_cq(context, 8, NULL, NULL, 0);
	come = ibv_create_cq(context, 8, NULL, NULL, 0);
	CHECK(pd && mr && sent && come);
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_ah_attr way = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } };
	ah = ibv_create_ah(pd, &way);
	CHECK(ah);
}

static void send_to(struct ibv_qp *from, uint32_t number, unsigned flags)
{
	struct ibv_sge out = { .addr = (uintptr_t)memory + 128, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr send = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = flags,
		.wr = { .ud = { .ah = ah, .remote_qpn = number, .remote_qkey = 7 } } }, *bad;
	strcpy(memory + 128, "goodbye");
	CHECK(!ibv_post_send(from, &send, &bad));
}

static void send_and_end(const char *way, uint32_t number)
{
	start();
	int killed = !strcmp(way, "kill");
	struct ibv_qp *from = datagrams(sent);
	usleep(20000); /* the server sleeps */
	send_to(from, number, killed ? IBV_SEND_INLINE : 0);
	if (killed)
		raise(SIGKILL);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "close")) {
		CHECK(!ibv_close_device(context));
		memset(memory, 0, sizeof memory);
	}
}

static void run(char *name, char *way, uint32_t number)
{
	char digits[16];
	char *words[] = { name, way, digits, NULL };
	pid_t child;
	int status;
	snprintf(digits, sizeof digits, "%u", number);
	CHECK(!posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ));
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(strcmp(way, "kill") ? status == 0 : WIFSIGNALED(status));
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		send_and_end(argv[1], (uint32_t)strtoul(argv[2], NULL, 10));
		return 0;
	}
	start();
	struct ibv_qp *to = datagrams(come);
	int times = argc == 2 ? PROGRAMS : TIMES;
	for (int i = 0; i < times; i++) {
		struct ibv_sge in = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
		struct ibv_recv_wr receive = { .sg_list = &in, .num_sge = 1 }, *bad;
		memset(memory, 0, sizeof memory);
		CHECK(!ibv_post_recv(to, &receive, &bad));
		if (argc == 2) {
			run(argv[0], argv[1], to->qp_num);
		} else {
			struct ibv_qp *from = datagrams(sent);
			send_to(from, to->qp_num, i % 2 ? IBV_SEND_INLINE : 0);
			CHECK(!ibv_destroy_qp(from));
		}
		struct ibv_wc wc = { 0 };
		int found = 0;
		for (time_t end = time(NULL) + 20; !found && time(NULL) < end;)
			found = ibv_poll_cq(come, 1, &wc);
		if (found != 1 || wc.status != IBV_WC_SUCCESS || strcmp(memory + 40, "goodbye")) {
			fprintf(stderr, "datagram %d of %d is lost (%d, status %d)\n", i, times, found, wc.status);
			return 1;
		}
	}
	puts("all came");
	return 0;
}
