/*
 * A program is killed while packets with memory of its GPU are under way: the devices, and other programs, go on. The child
 * posts UC WRITEs of 24 MiB in packets of 256 bytes from its GPU, more than the server carries out for a program that has
 * ended, and kills itself. Every byte that arrives is the child's, and its peer is not in error.
 *
 *   underway                              the parent, three times
 *   underway NUMBER ADDRESS KEY           the child
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#include "cuda.h"

#define BYTES (8u << 20)
#define WRITES 3
#define PROGRAMS 3

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static union ibv_gid gid;

static void start(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0] && (context = ibv_open_device(devices[0])));
	CHECK((pd = ibv_alloc_pd(context)) && (cq = ibv_create_cq(context, 16, NULL, NULL, 0)));
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
}

static struct ibv_qp *unconnected(void)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC,
		.cap = { .max_send_wr = 2 * WRITES, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	return qp;
}

static void connect_to(struct ibv_qp *qp, uint32_t number)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256, .dest_qp_num = number,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void child(uint32_t number, uint64_t to, uint32_t key)
{
	uint8_t *bytes = malloc(BYTES), go;
	uint64_t on_gpu;
	memset(bytes, 7, BYTES);
	open_gpu();
	start();
	CHECK(!cuMemAlloc_v2(&on_gpu, BYTES));
	write_gpu(on_gpu, bytes, BYTES);
	struct ibv_mr *mr = ibv_reg_mr(pd, (void *)(uintptr_t)on_gpu, BYTES, 0);
	CHECK(mr);
	struct ibv_qp *qp = unconnected();
	connect_to(qp, number);
	CHECK(write(1, &qp->qp_num, 4) == 4 && read(0, &go, 1) == 1);
	struct ibv_sge part = { .addr = on_gpu, .length = BYTES, .lkey = mr->lkey };
	struct ibv_send_wr send[WRITES], *bad;
	for (int i = 0; i < WRITES; i++)
		send[i] = (struct ibv_send_wr){ .next = i < WRITES - 1 ? &send[i + 1] : NULL, .sg_list = &part, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE, .wr = { .rdma = { .remote_addr = to, .rkey = key } } };
	CHECK(!ibv_post_send(qp, send, &bad));
	raise(SIGKILL);
}

static void run(char *name, struct ibv_mr *mr)
{
	struct ibv_qp *qp = unconnected();
	char words[3][24];
	int in[2], out[2], status;
	uint32_t number;
	snprintf(words[0], sizeof words[0], "%u", qp->qp_num);
	snprintf(words[1], sizeof words[1], "%lu", (unsigned long)(uintptr_t)mr->addr);
	snprintf(words[2], sizeof words[2], "%u", mr->rkey);
	CHECK(!pipe(in) && !pipe(out));
	pid_t pid = fork();
	if (!pid) {
		dup2(out[0], 0);
		dup2(in[1], 1);
		execl("/proc/self/exe", name, words[0], words[1], words[2], (char *)NULL);
		_exit(127);
	}
	close(in[1]);
	CHECK(read(in[0], &number, 4) == 4);
	connect_to(qp, number);
	CHECK(write(out[1], "", 1) == 1 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	close(in[0]), close(out[0]), close(out[1]);
	/* The last packets arrive before the server answers the second call. */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_RTS);
	CHECK(!ibv_destroy_qp(qp));
}

int main(int argc, char **argv)
{
	if (argc == 4)
		child((uint32_t)strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10));
	start();
	uint8_t *memory = malloc(BYTES);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(memory && mr);
	for (int i = 0; i < PROGRAMS; i++) {
		memset(memory, 0, BYTES);
		run(argv[0], mr);
		for (size_t at = 0; at < BYTES; at++)
			CHECK(memory[at] == 0 || memory[at] == 7);
		CHECK(memory[0] == 7);
	}
	puts("ok");
	return 0;
}
