/*
 * A victim and an attacker, two processes on the same device. The attacker is told every number that the victim has:
 * addresses, keys, queue pair, sequence number, handles, doorbell page, umem, domain. It tries all of them, and guesses
 * around them. Exits with 0 when the victim's bytes are as they were and its queue pairs still work.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BYTES = 8192, SECRET = 0x5a, FORGED = 0x66, PSN = 77, ALL = 0xf };

struct numbers {
	uint64_t address;
	uint32_t lkey, rkey, qpn, cqn, pdn, uar, umem, handles[4];
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static union ibv_gid gid;

static void open_device(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	struct mlx5dv_context_attr attributes = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = mlx5dv_open_device(list[0], &attributes);
	CHECK(context && !ibv_query_gid(context, 1, 0, &gid));
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	CHECK(pd && cq);
}

static struct ibv_qp *queue_pair(void)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	return qp;
}

static void connect_to(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL };
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = peer, .rq_psn = PSN,
		.max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 64 } } };
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 8, .retry_cnt = 1, .sq_psn = PSN, .max_rd_atomic = 4 };
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Posts a request and waits for its status. */
static enum ibv_wc_status carry_out(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint64_t from, uint32_t lkey,
				    uint64_t to, uint32_t rkey, uint32_t bytes)
{
	struct ibv_sge sge = { .addr = from, .length = bytes, .lkey = lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = to;
		wr.wr.rdma.rkey = rkey;
	}
	CHECK(!ibv_post_send(qp, &wr, &bad));
	struct ibv_wc wc;
	time_t deadline = time(NULL) + 60;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		CHECK(time(NULL) < deadline);
	CHECK(n == 1);
	return wc.status;
}

static uint8_t *filled(int value, struct ibv_mr **mr)
{
	uint8_t *at = aligned_alloc(4096, BYTES);
	CHECK(at);
	memset(at, value, BYTES);
	*mr = ibv_reg_mr(pd, at, BYTES, ALL);
	CHECK(*mr);
	return at;
}

static void all_are(const uint8_t *at, int value)
{
	for (int i = 0; i < BYTES; i++)
		CHECK(at[i] == value);
}

/* A pair of queue pairs of one process; requests go from the first to the second. */
static struct ibv_qp *loop(struct ibv_qp **second)
{
	struct ibv_qp *first = queue_pair();
	*second = queue_pair();
	connect_to(first, (*second)->qp_num);
	connect_to(*second, first->qp_num);
	return first;
}

static void victim(int tell, int wait)
{
	open_device();
	struct ibv_mr *mr, *own;
	uint8_t *secret = filled(SECRET, &mr), *mine = filled(1, &own);
	struct ibv_qp *second, *first = loop(&second);
	struct mlx5dv_pd dv;
	struct mlx5dv_obj object = { .pd = { .in = pd, .out = &dv } };
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(context, secret, BYTES, IBV_ACCESS_LOCAL_WRITE);
	struct mlx5dv_cq dv_cq;
	object = (struct mlx5dv_obj){ .cq = { .in = cq, .out = &dv_cq } };
	CHECK(uar && umem && !mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ));
	struct numbers numbers = { (uintptr_t)secret, mr->lkey, mr->rkey, second->qp_num, dv_cq.cqn, dv.pdn, uar->page_id,
		umem->umem_id, { pd->handle, cq->handle, mr->handle, second->handle } };
	char done;
	CHECK(write(tell, &numbers, sizeof numbers) == (ssize_t)sizeof numbers);
	CHECK(read(wait, &done, 1) == 1);
	all_are(secret, SECRET);
	/* It still works: its queue pairs, its keys, its memory. */
	CHECK(carry_out(first, IBV_WR_RDMA_WRITE, (uintptr_t)secret, mr->lkey, (uintptr_t)mine, own->rkey, BYTES) ==
	      IBV_WC_SUCCESS);
	all_are(mine, SECRET);
	_exit(0);
}

static void put(uint8_t *command, unsigned at, unsigned high, unsigned low, uint32_t value)
{
	uint32_t word, mask = (high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1) << low;
	memcpy(&word, command + at, 4);
	word = htobe32((be32toh(word) & ~mask) | (value << low & mask));
	memcpy(command + at, &word, 4);
}

/* Firmware commands that name what is the victim's. */
static void try_devx(const struct numbers *of)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	uint8_t *queue = aligned_alloc(4096, 0x3000);
	memset(queue, 0, 0x3000);
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(context, queue, 0x3000, IBV_ACCESS_LOCAL_WRITE);
	CHECK(uar && umem);
	uint8_t out[16];
	/* CREATE_MKEY in its domain, over its umem; CREATE_CQ in its umem. */
	for (int both = 0; both < 3; both++) {
		struct mlx5dv_pd dv;
		struct mlx5dv_obj object = { .pd = { .in = pd, .out = &dv } };
		CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
		uint8_t in[272] = { 0 };
		put(in, 0, 31, 16, 0x200);
		put(in, 0x10, 14, 14, 1);
		put(in, 0x10, 13, 10, 0xf);
		put(in, 0x10 + 0xc, 23, 0, both == 0 ? dv.pdn : of->pdn);
		put(in, 0x10 + 0x1c, 31, 0, BYTES);
		put(in, 0x60, 31, 0, both == 1 ? umem->umem_id : of->umem);
		CHECK(!mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out));
	}
	uint8_t in[272] = { 0 };
	put(in, 0, 31, 16, 0x400);
	put(in, 0x14, 31, 0, of->umem);
	put(in, 0x1c, 28, 24, 4);
	put(in, 0x1c, 23, 0, uar->page_id);
	put(in, 0x58, 31, 0, of->umem);
	put(in, 0x5c, 31, 31, 1);
	CHECK(!mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out));
	/* CREATE_QP with its domain, its doorbell page, its completion queue, each alone. */
	for (int which = 0; which < 3; which++) {
		struct mlx5dv_pd dv;
		struct mlx5dv_cq dv_cq;
		struct mlx5dv_obj object = { .pd = { .in = pd, .out = &dv }, .cq = { .in = cq, .out = &dv_cq } };
		CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ));
		memset(in, 0, sizeof in);
		put(in, 0, 31, 16, 0x500);
		put(in, 0x18, 12, 11, 3);
		put(in, 0x1c, 23, 0, which == 0 ? of->pdn : dv.pdn);
		put(in, 0x20, 14, 11, 4);
		put(in, 0x24, 23, 0, which == 1 ? of->uar : uar->page_id);
		put(in, 0x18 + 0x7c, 23, 0, which == 2 ? of->cqn : dv_cq.cqn);
		put(in, 0x18 + 0xa4, 31, 0, 0x2000);
		put(in, 0x18 + 0xac, 26, 24, 3);
		put(in, 0x18 + 0xd0, 28, 28, 1);
		put(in, 0x18 + 0xe4, 31, 0, umem->umem_id);
		put(in, 0x108, 31, 0, umem->umem_id);
		put(in, 0x10c, 31, 31, 1);
		CHECK(!mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out));
	}
	/* Its queue pair's number at its own doorbell page. */
	uint64_t doorbell = (uint64_t)htobe32(of->qpn << 8 | 3) << 32 | htobe32(9 << 8 | MLX5_OPCODE_RDMA_WRITE);
	for (unsigned at = 0x800; at <= 0xb00; at += 0x100)
		__atomic_store_n((uint64_t *)(void *)((uint8_t *)uar->base_addr + at), doorbell, __ATOMIC_RELEASE);
}

/* Methods that close objects, with handles that are not of this context. */
static void try_handles(const struct numbers *of)
{
	static const int objects[][2] = { { UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY }, { UVERBS_OBJECT_CQ, 1 },
					  { UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY }, { UVERBS_OBJECT_QP, 1 } };
	for (unsigned i = 0; i < 4; i++)
		for (unsigned handle = 1000; handle < 1010; handle++) {
			struct {
				struct ib_uverbs_ioctl_hdr head;
				struct ib_uverbs_attr attributes[2];
			} command = { .head = { .object_id = (__u16)objects[i][0], .method_id = (__u16)objects[i][1],
						.num_attrs = 1, .driver_id = 1, .length = sizeof command.head + 16 } };
			command.attributes[0] = (struct ib_uverbs_attr){ .data = handle + of->handles[i],
									 .flags = UVERBS_ATTR_F_MANDATORY };
			CHECK(ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &command.head) && errno == ENOENT);
		}
}

int main(void)
{
	int told[2], ended[2];
	CHECK(!pipe(told) && !pipe(ended));
	pid_t child = fork();
	CHECK(child >= 0);
	if (!child)
		victim(told[1], ended[0]);
	close(told[1]);
	struct numbers of;
	CHECK(read(told[0], &of, sizeof of) == (ssize_t)sizeof of);
	open_device();
	struct ibv_mr *mr;
	uint8_t *mine = filled(FORGED, &mr);
	uint64_t own = (uintptr_t)mine;
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };
	static const int32_t steps[] = { 0, 1, -1, 0x11, 0x100, -0x100, 0x111, -0x111, 0x7fffff00 };
	for (unsigned k = 0; k < sizeof steps / sizeof steps[0]; k++)
		for (unsigned o = 0; o < 3; o++) {
			uint32_t bytes = o == 2 ? 8 : BYTES;
			/* Its key, and keys around it, as the remote key of a connection of one's own. */
			struct ibv_qp *second, *first = loop(&second);
			CHECK(carry_out(first, opcodes[o], own, mr->lkey, of.address, of.rkey + (uint32_t)steps[k], bytes) !=
			      IBV_WC_SUCCESS);
			CHECK(!ibv_destroy_qp(first) && !ibv_destroy_qp(second));
			/* And as the local one. */
			first = loop(&second);
			CHECK(carry_out(first, opcodes[o], of.address, of.lkey + (uint32_t)steps[k], own, mr->rkey, bytes) !=
			      IBV_WC_SUCCESS);
			CHECK(!ibv_destroy_qp(first) && !ibv_destroy_qp(second));
		}
	/* One's own key beyond both ends, and with the victim's address. */
	uint64_t places[] = { own - 1, own + 1, own + BYTES, of.address == own ? own - BYTES : of.address, 0, UINT64_MAX };
	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
		struct ibv_qp *second, *first = loop(&second);
		CHECK(carry_out(first, IBV_WR_RDMA_WRITE, own, mr->lkey, places[i], mr->rkey, BYTES) != IBV_WC_SUCCESS);
		CHECK(!ibv_destroy_qp(first) && !ibv_destroy_qp(second));
	}
	/* As if it were the peer of the victim's queue pair: its number, its sequence numbers, its key. */
	for (unsigned o = 0; o < 3; o++) {
		struct ibv_qp *forged = queue_pair();
		connect_to(forged, of.qpn);
		CHECK(carry_out(forged, opcodes[o], own, mr->lkey, of.address, of.rkey, o == 2 ? 8 : BYTES) !=
		      IBV_WC_SUCCESS);
		CHECK(!ibv_destroy_qp(forged));
	}
	try_devx(&of);
	try_handles(&of);
	all_are(mine, FORGED);
	int status;
	CHECK(write(ended[1], "x", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && !status);
	puts("ok");
	return 0;
}
