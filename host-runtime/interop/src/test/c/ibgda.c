/*
 * What a GPU-initiated library asks of a device, in its order (NVSHMEM's IBGDA): capabilities; for each of two ends
 * completion queues of one entry (collapsed), one DC initiator and two RC queue pairs by DEVX, all in a few buffers of a GPU
 * that are umems, each at its offset; doorbell registers that lie side by side in one page, each pinned with the flag for I/O
 * memory; DC targets by verbs; connections by the address vector of an address handle. Then WQEs of its shapes: WRITE,
 * inline WRITE over several blocks, READ, atomics of 4 and 8 bytes with masks, NOP, DUMP. Completions are seen by the WQE
 * counter alone. Every byte is compared. Exits with 0 when all is as it should be. Linked with libcuda.so.1 or a stand-in.
 * With DMA_BUF all memory of the GPU is registered by dma-bufs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "prm.h"

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#include "cuda.h"

enum {
	QUEUES = 3, /* one DC initiator, two of RC */
	DEPTH = 128,
	HEAP = 1 << 20,
	KEY = 0x5623CEAF,
	REMOTE = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	MASKED_CS = 0x14, MASKED_FA = 0x15, DUMP = 0x23, OPMOD_4 = 8, OPMOD_8 = 9,
	UPDATE = 8,
};

struct buffer {
	uint64_t gpu;
	struct mlx5dv_devx_umem *umem;
};

struct queue {
	struct mlx5dv_devx_uar *uar, *cq_uar;
	struct mlx5dv_devx_obj *cq, *qp;
	struct ibv_ah *ah;
	uint32_t cqn, qpn, posted;
};

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd, *parent;
	struct ibv_srq *srq, *dct_srq;
	struct ibv_cq *received, *dct_sent, *dct_received;
	struct ibv_qp *dct;
	struct ibv_ah *ah;
	struct mlx5_wqe_av av;
	struct ibv_mr *mr;
	struct buffer cqes, cq_records, wqes, records;
	struct queue queues[QUEUES];
	uint64_t heap;
	uint32_t pdn, srqn, rcqn;
	union ibv_gid gid;
};

static struct end ends[2];
static int (*pin)(void *, size_t, unsigned);
static int (*unpin)(void *);

static void read_gpu(void *to, uint64_t from, size_t bytes)
{
	CHECK(!cuMemcpyDtoH_v2(to, from, bytes));
}

#ifdef DMA_BUF
enum { UNIT = 4096 };

static int export_range(uint64_t address, size_t bytes)
{
	int file = -1;
	CHECK(cuMemGetHandleForAddressRange(&file, address + 64, UNIT, 1, 0) == 1);
	CHECK(cuMemGetHandleForAddressRange(&file, address, bytes + UNIT, 1, 0) == 1);
	CHECK(!cuMemGetHandleForAddressRange(&file, address, bytes, 1, 0));
	CHECK(lseek(file, 0, SEEK_END) == (off_t)bytes);
	return file;
}

/* Of the second half of a range that is twice as long. */
static struct mlx5dv_devx_umem *register_queue(struct end *end, struct buffer *buffer, size_t bytes)
{
	size_t room = (bytes + UNIT - 1) & -UNIT;
	uint64_t range;
	CHECK(!cuMemAlloc_v2(&range, 2 * room));
	int file = export_range(range, 2 * room);
	buffer->gpu = range + room;
	struct mlx5dv_devx_umem_in in = { .addr = (void *)room, .size = bytes, .access = IBV_ACCESS_LOCAL_WRITE,
					  .pgsz_bitmap = UNIT, .comp_mask = MLX5DV_UMEM_MASK_DMABUF, .dmabuf_fd = file };
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg_ex(end->context, &in);
	in.addr = (void *)(room + UNIT);
	in.size = room;
	CHECK(!mlx5dv_devx_umem_reg_ex(end->context, &in) && errno == EINVAL);
	CHECK(!close(file));
	return umem;
}

static struct ibv_mr *register_heap(struct end *end)
{
	int file = export_range(end->heap, HEAP), other = memfd_create("other", 0);
	CHECK(!ibv_reg_dmabuf_mr(end->pd, 0, HEAP, end->heap, -1, REMOTE) && errno == EBADF);
	CHECK(!ibv_reg_dmabuf_mr(end->pd, 0, HEAP, end->heap, other, REMOTE) && errno == EINVAL);
	CHECK(!ibv_reg_dmabuf_mr(end->pd, UNIT, HEAP, end->heap, file, REMOTE) && errno == EINVAL);
	struct ibv_mr *part = ibv_reg_dmabuf_mr(end->pd, UNIT, UNIT, 0, file, REMOTE);
	struct ibv_mr *whole = ibv_reg_dmabuf_mr(end->pd, 0, HEAP, end->heap, file, REMOTE);
	CHECK(part && !ibv_dereg_mr(part) && !close(file) && !close(other));
	return whole;
}
#else
static struct mlx5dv_devx_umem *register_queue(struct end *end, struct buffer *buffer, size_t bytes)
{
	CHECK(!cuMemAlloc_v2(&buffer->gpu, bytes));
	return mlx5dv_devx_umem_reg(end->context, (void *)(uintptr_t)buffer->gpu, bytes, IBV_ACCESS_LOCAL_WRITE);
}

static struct ibv_mr *register_heap(struct end *end)
{
	return ibv_reg_mr(end->pd, (void *)(uintptr_t)end->heap, HEAP, REMOTE);
}
#endif

static void allocate(struct end *end, struct buffer *buffer, size_t bytes, int value)
{
	void *content = malloc(bytes);
	buffer->umem = register_queue(end, buffer, bytes);
	CHECK(content && buffer->umem);
	memset(content, value, bytes);
	write_gpu(buffer->gpu, content, bytes);
	free(content);
}

static void query(struct end *end, unsigned group, uint8_t *out, size_t bytes)
{
	uint8_t in[16] = { 0 };
	put(in, 0, 31, 16, 0x100);
	put(in, 4, 15, 0, group << 1 | 1);
	CHECK(!mlx5dv_devx_general_cmd(end->context, in, sizeof in, out, bytes));
}

static void look_at_capabilities(struct end *end)
{
	uint8_t out[16 + 4096] = { 0 };
	query(end, 0, out, sizeof out);
	CHECK(get(out, 0x4c, 3, 0) == 1); /* cqe_version */
	CHECK(get(out, 0x5c, 20, 16) == 9); /* log_bf_reg_size */
	memset(out, 0, sizeof out);
	query(end, 3, out, sizeof out);
	CHECK(get(out, 0x18, 31, 30) == 1 && get(out, 0x18, 25, 25)); /* operands in the host's byte order */
	CHECK((get(out, 0x20, 15, 0) & 0xf) == 0xf && (get(out, 0x24, 15, 0) & 0xc) == 0xc && (get(out, 0x28, 15, 0) & 0xc) == 0xc);
}

static void open_end(struct end *end, struct ibv_device *device)
{
	struct mlx5dv_context_attr attributes = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	end->context = mlx5dv_open_device(device, &attributes);
	CHECK(end->context && !ibv_query_gid(end->context, 1, 1, &end->gid));
	look_at_capabilities(end);
	end->pd = ibv_alloc_pd(end->context);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 256, .max_sge = 1 } };
	end->srq = ibv_create_srq(end->pd, &init);
	end->received = ibv_create_cq(end->context, 256, NULL, NULL, 0);
	CHECK(end->pd && end->srq && end->received);
	struct mlx5dv_pd pd = { 0 };
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_srq srq = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_obj objects = { .pd = { end->pd, &pd }, .cq = { end->received, &cq }, .srq = { end->srq, &srq } };
	CHECK(!mlx5dv_init_obj(&objects, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ));
	end->pdn = pd.pdn;
	end->rcqn = cq.cqn;
	end->srqn = srq.srqn;
	CHECK(!cuMemAlloc_v2(&end->heap, HEAP));
	end->mr = register_heap(end);
	CHECK(end->mr);
	allocate(end, &end->cqes, QUEUES * DEPTH * 64, 0xff);
	allocate(end, &end->cq_records, QUEUES * 8, 0);
	allocate(end, &end->wqes, QUEUES * DEPTH * 64, 0);
	allocate(end, &end->records, QUEUES * 8, 0);
}

/* A target of DC: by verbs, with a receive queue and completion queues that nobody uses. */
static void create_target(struct end *end)
{
	struct ibv_parent_domain_init_attr domain = { .pd = end->pd };
	end->parent = ibv_alloc_parent_domain(end->context, &domain);
	struct ibv_srq_init_attr receives = { .attr = { .max_wr = 256, .max_sge = 1 } };
	end->dct_srq = ibv_create_srq(end->parent, &receives);
	end->dct_sent = ibv_create_cq(end->context, 256, NULL, NULL, 0);
	end->dct_received = ibv_create_cq(end->context, 256, NULL, NULL, 0);
	CHECK(end->parent && end->dct_srq && end->dct_sent && end->dct_received);
	struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .grh = { .dgid = end->gid, .sgid_index = 1, .hop_limit = 255 } };
	end->ah = ibv_create_ah(end->pd, &to);
	CHECK(end->ah);
	struct mlx5dv_ah handle;
	struct mlx5dv_obj object = { .ah = { end->ah, &handle } };
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_AH));
	memcpy(&end->av, handle.av, sizeof end->av);
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_DRIVER, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = end->parent,
		.srq = end->dct_srq, .send_cq = end->dct_sent, .recv_cq = end->dct_received, .cap = { 128, 128, 1, 1, 256 } };
	struct mlx5dv_qp_init_attr dc = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = KEY } };
	end->dct = mlx5dv_create_qp(end->context, &init, &dc);
	CHECK(end->dct);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = REMOTE };
	CHECK(!ibv_modify_qp(end->dct, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .min_rnr_timer = 12, .ah_attr = to };
	CHECK(!ibv_modify_qp(end->dct, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER));
}

static void create_queue(struct end *end, unsigned number)
{
	struct queue *queue = &end->queues[number];
	uint32_t eqn;
	uint8_t in[272] = { 0 }, out[16] = { 0 };
	CHECK(!mlx5dv_devx_query_eqn(end->context, 0, &eqn));
	queue->cq_uar = mlx5dv_devx_alloc_uar(end->context, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(queue->cq_uar);
	put(in, 0, 31, 16, 0x400);
	put(in, 0x10, 25, 25, 1);
	put(in, 0x10, 20, 20, 1); /* collapsed */
	put(in, 0x10, 17, 17, 1); /* overrun ignored */
	put(in, 0x14, 31, 0, end->cq_records.umem->umem_id);
	put(in, 0x1c, 28, 24, 7);
	put(in, 0x1c, 23, 0, queue->cq_uar->page_id);
	put(in, 0x24, 7, 0, eqn);
	put(in, 0x28, 28, 24, 4); /* pages of 64 KiB */
	put64(in, 0x48, number * 8);
	put64(in, 0x50, number * DEPTH * 64);
	put(in, 0x58, 31, 0, end->cqes.umem->umem_id);
	put(in, 0x5c, 31, 31, 1);
	queue->cq = mlx5dv_devx_obj_create(end->context, in, sizeof in, out, sizeof out);
	CHECK(queue->cq);
	queue->cqn = get(out, 8, 23, 0);

	queue->uar = mlx5dv_devx_alloc_uar(end->context, MLX5DV_UAR_ALLOC_TYPE_BF);
	CHECK(queue->uar && !pin(queue->uar->reg_addr, 512, 7));
	memset(in, 0, sizeof in);
	put(in, 0, 31, 16, 0x500);
	put(in, QPC, 23, 16, number ? 0 : 5);
	put(in, QPC, 12, 11, 3);
	put(in, QPC + 0x4, 23, 0, end->pdn);
	put(in, QPC + 0x8, 14, 11, 7);
	put(in, QPC + 0xc, 23, 0, queue->uar->page_id);
	put(in, QPC + 0x10, 23, 0, number);
	put(in, QPC + 0x7c, 23, 0, queue->cqn);
	put(in, QPC + 0x9c, 23, 0, end->rcqn);
	put64(in, QPC + 0xa0, number * 8);
	put(in, QPC + 0xac, 26, 24, 1); /* a shared receive queue */
	put(in, QPC + 0xac, 23, 0, end->srqn);
	put(in, QPC + 0xd0, 28, 28, 1);
	put(in, QPC + 0xe4, 31, 0, end->records.umem->umem_id);
	put64(in, 0x100, number * DEPTH * 64);
	put(in, 0x108, 31, 0, end->wqes.umem->umem_id);
	put(in, 0x10c, 31, 31, 1);
	queue->qp = mlx5dv_devx_obj_create(end->context, in, sizeof in, out, sizeof out);
	CHECK(queue->qp);
	queue->qpn = get(out, 8, 23, 0);
}

static void modify(struct queue *queue, unsigned opcode, uint8_t in[272])
{
	uint8_t out[16] = { 0 };
	put(in, 0, 31, 16, opcode);
	put(in, 8, 23, 0, queue->qpn);
	CHECK(!mlx5dv_devx_obj_modify(queue->qp, in, 272, out, sizeof out));
	memset(in, 0, 272);
}

static void connect_queue(struct end *end, unsigned number, const struct end *peer)
{
	struct queue *queue = &end->queues[number];
	uint8_t in[272] = { 0 };
	if (number) {
		put(in, QPC + 0x90, 19, 16, 3);
		put(in, QPC + 0x90, 15, 13, 7);
	} else {
		put64(in, QPC + 0xb8, KEY);
	}
	put(in, QPC + 0x3c, 23, 16, 1);
	put(in, QPC, 12, 11, 3);
	modify(queue, 0x502, in);
	put(in, QPC + 0x8, 31, 29, 5);
	put(in, QPC + 0x8, 28, 24, 30);
	if (number) {
		put(in, QPC + 0x14, 23, 0, peer->queues[number].qpn);
		put(in, QPC + 0x94, 28, 24, 12);
		put(in, QPC + 0x90, 23, 21, 4);
		struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .dlid = 0xc000,
			.grh = { .dgid = peer->gid, .sgid_index = 1 } };
		queue->ah = ibv_create_ah(end->pd, &to);
		CHECK(queue->ah);
		struct mlx5dv_ah handle;
		struct mlx5dv_obj object = { .ah = { queue->ah, &handle } };
		CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_AH));
		memcpy(in + QPC + 0x3e, handle.av->rmac, 6);
		put(in, QPC + 0x20, 7, 0, 255);
		put(in, QPC + 0x20, 23, 16, 1);
		put(in, QPC + 0x38, 15, 0, 0xc000);
		memcpy(in + QPC + 0x28, handle.av->rgid, 16);
	}
	modify(queue, 0x503, in);
	put(in, QPC + 0x70, 23, 21, 4);
	put(in, QPC + 0x70, 18, 16, 7);
	put(in, QPC + 0x70, 15, 13, 7);
	put(in, QPC + 0x20, 31, 27, 20);
	modify(queue, 0x504, in);
}

/* A WQE that is being written: the segments of one queue, in 64-byte blocks that wrap. */
struct wqe {
	uint8_t bytes[512];
	unsigned length, first;
};

/* to: whom a DC initiator names in it; NULL where the WQE is for nobody */
static struct wqe begin(struct end *end, unsigned number, unsigned opcode, unsigned opmod, const struct end *to)
{
	struct wqe wqe = { .length = 16, .first = end->queues[number].posted };
	put(wqe.bytes, 0, 31, 0, opmod << 24 | (wqe.first & 0xffff) << 8 | opcode);
	if (number == 0 && to) {
		struct mlx5_wqe_av av = to->av;
		av.key.dc_key = htobe64(KEY);
		av.dqp_dct = htobe32(1u << 31 | to->dct->qp_num);
		memcpy(wqe.bytes + 16, &av, sizeof av);
		wqe.length += sizeof av;
	}
	return wqe;
}

static void add_remote(struct wqe *wqe, uint64_t address, uint32_t key)
{
	put64(wqe->bytes, wqe->length, address);
	put(wqe->bytes, wqe->length + 8, 31, 0, key);
	wqe->length += 16;
}

static void add_data(struct wqe *wqe, uint64_t address, uint32_t bytes, uint32_t key)
{
	put(wqe->bytes, wqe->length, 31, 0, bytes);
	put(wqe->bytes, wqe->length + 4, 31, 0, key);
	put64(wqe->bytes, wqe->length + 8, address);
	wqe->length += 16;
}

static void add_wide(struct wqe *wqe, uint64_t first, uint64_t second)
{
	put64(wqe->bytes, wqe->length, first);
	put64(wqe->bytes, wqe->length + 8, second);
	wqe->length += 16;
}

/* Stores a WQE on the GPU, without a doorbell. */
static void store(struct end *end, unsigned number, struct wqe *wqe, unsigned flags)
{
	struct queue *queue = &end->queues[number];
	unsigned pieces = (wqe->length + 15) / 16, blocks = (wqe->length + 63) / 64;
	put(wqe->bytes, 4, 31, 0, queue->qpn << 8 | pieces);
	put(wqe->bytes, 8, 31, 0, flags);
	for (unsigned i = 0; i < blocks; i++)
		write_gpu(end->wqes.gpu + (number * DEPTH + (queue->posted + i) % DEPTH) * 64, wqe->bytes + 64 * i, 64);
	queue->posted += blocks;
}

/* Doorbell record on the GPU, register in the page; then the counter of the only CQE. */
static void ring_and_wait(struct end *end, unsigned number)
{
	struct queue *queue = &end->queues[number];
	uint32_t record = htobe32(queue->posted & 0xffff);
	uint8_t doorbell[8] = { 0 }, cqe[64];
	write_gpu(end->records.gpu + number * 8 + 4, &record, 4);
	put(doorbell, 0, 31, 0, (queue->posted & 0xffff) << 8);
	put(doorbell, 4, 31, 0, queue->qpn << 8);
	uint64_t word;
	memcpy(&word, doorbell, 8);
	__atomic_store_n((uint64_t *)queue->uar->reg_addr, word, __ATOMIC_RELEASE);
	time_t deadline = time(NULL) + 60;
	uint16_t counter;
	do {
		read_gpu(cqe, end->cqes.gpu + number * DEPTH * 64, 64);
		counter = (uint16_t)get(cqe, 0x3c, 31, 16);
		CHECK(time(NULL) < deadline);
	} while ((uint16_t)(queue->posted - counter - 2) < DEPTH);
	CHECK((uint16_t)(counter + 1) == (uint16_t)queue->posted && cqe[63] >> 4 == 0);
}

/* The counter is the first block's, so a longer WQE is completed by a NOP behind it. */
static void post(struct end *end, unsigned number, struct wqe *wqe)
{
	bool is_long = wqe->length > 64;
	store(end, number, wqe, is_long ? 0 : UPDATE);
	if (is_long) {
		struct wqe nop = begin(end, number, MLX5_OPCODE_NOP, 0, NULL);
		store(end, number, &nop, UPDATE);
	}
	ring_and_wait(end, number);
}

/* One atomic. The cell is behind 256 KiB of the target's heap; what was there arrives 4 KiB behind 512 KiB of the own. */
static void add(struct end *from, struct end *to, unsigned number, unsigned bytes, unsigned kind, uint64_t before,
		uint64_t operand, uint64_t compare, uint64_t after)
{
	uint64_t cell = to->heap + (256 << 10) + number * 8, result = from->heap + (512 << 10) + 4096, seen = 0, old = 0;
	bool fetch_and_add = kind == MASKED_FA || kind == MLX5_OPCODE_ATOMIC_FA, masked = kind == MASKED_FA || kind == MASKED_CS;
	write_gpu(cell, &before, 8);
	write_gpu(result, &seen, 8);
	struct wqe wqe = begin(from, number, kind, masked ? (bytes == 4 ? OPMOD_4 : OPMOD_8) : 0, to);
	add_remote(&wqe, cell, to->mr->rkey);
	if (bytes == 4 && fetch_and_add) {
		put(wqe.bytes, wqe.length, 31, 0, (uint32_t)operand);
		put(wqe.bytes, wqe.length + 4, 31, 0, (uint32_t)compare); /* the field boundary */
		wqe.length += 16;
	} else if (bytes == 4) {
		put(wqe.bytes, wqe.length, 31, 0, (uint32_t)operand);
		put(wqe.bytes, wqe.length + 8, 31, 0, (uint32_t)compare); /* the mask of the swap */
		wqe.length += 16;
	} else {
		add_wide(&wqe, operand, masked && !fetch_and_add ? 0 : compare);
		if (masked && !fetch_and_add)
			add_wide(&wqe, compare, 0);
	}
	add_data(&wqe, result, bytes, from->mr->lkey);
	post(from, number, &wqe);
	read_gpu(&seen, cell, 8);
	read_gpu(&old, result, 8);
	CHECK(seen == after);
	/* What was there arrives in the order of the host, 4 bytes in that of the network. */
	CHECK(old == (bytes == 4 ? htobe32((uint32_t)before) : before));
}

static void exchange(struct end *from, struct end *to, unsigned number)
{
	enum { BYTES = 100000 };
	uint64_t target = to->heap + (128 << 10), cells = to->heap + (768 << 10);
	uint8_t *sent = malloc(BYTES), *seen = malloc(BYTES);
	CHECK(sent && seen);
	for (int i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(i * 7 + i / 251 + (int)number);
	memset(seen, 0, BYTES);
	write_gpu(from->heap, sent, BYTES);
	write_gpu(target, seen, BYTES);
	struct wqe wqe = begin(from, number, MLX5_OPCODE_RDMA_WRITE, 0, to);
	add_remote(&wqe, target + 3, to->mr->rkey);
	add_data(&wqe, from->heap, BYTES - 8, from->mr->lkey);
	post(from, number, &wqe);
	read_gpu(seen, target, BYTES);
	CHECK(!memcmp(sent, seen + 3, BYTES - 8) && !seen[2] && !seen[BYTES - 5]);

	wqe = begin(from, number, MLX5_OPCODE_RDMA_READ, 0, to);
	add_remote(&wqe, target + 3, to->mr->rkey);
	add_data(&wqe, from->heap + (512 << 10), 70000, from->mr->lkey);
	post(from, number, &wqe);
	read_gpu(seen, from->heap + (512 << 10), 70000);
	CHECK(!memcmp(sent, seen, 70000));

	/* 32 threads' values of 4 bytes in one WQE, which ends in another block. */
	wqe = begin(from, number, MLX5_OPCODE_RDMA_WRITE, 0, to);
	add_remote(&wqe, target + 5, to->mr->rkey);
	put(wqe.bytes, wqe.length, 31, 0, MLX5_INLINE_SEG | 128);
	memcpy(wqe.bytes + wqe.length + 4, sent + 1000, 128);
	wqe.length += 4 + 128;
	post(from, number, &wqe);
	read_gpu(seen, target, BYTES);
	CHECK(!memcmp(sent + 1000, seen + 5, 128) && !memcmp(sent + 130, seen + 133, 1000));

	add(from, to, number, 4, MASKED_FA, 0x11111111fffffffe, 3, 0, 0x1111111100000001);
	add(from, to, number, 8, MASKED_FA, 0xfffffffffffffffe, 3, 0, 1);
	add(from, to, number, 4, MASKED_FA, 0x1111111112345678, 0xff00ff00, 0xffffffff, 0x11111111ed34a978); /* xor */
	add(from, to, number, 8, MASKED_FA, 0x123456789abcdef0, 0xff00ff00ff00ff00, ~0ull, 0xed34a97865bc21f0);
	add(from, to, number, 4, MASKED_CS, 0x1111111122222222, 0x0badcafe, 0xffffffff, 0x111111110badcafe); /* set */
	add(from, to, number, 8, MASKED_CS, 0x1111111122222222, 0x0badcafe0badcafe, ~0ull, 0x0badcafe0badcafe);
	add(from, to, number, 4, MASKED_CS, 0x1111111122222222, 0x0f, 0x0f, 0x111111112222222f); /* or */
	add(from, to, number, 8, MASKED_CS, 0x1111111122222222, 0x0f00, 0x0f00, 0x1111111122222f22);
	add(from, to, number, 8, MASKED_CS, 0x1111111122222222, 0, ~0xffffull, 0x2222); /* and */
	add(from, to, number, 8, MLX5_OPCODE_ATOMIC_FA, 40, 2, 0, 42);
	add(from, to, number, 8, MLX5_OPCODE_ATOMIC_CS, 40, 99, 40, 99);
	add(from, to, number, 8, MLX5_OPCODE_ATOMIC_CS, 40, 99, 41, 40);

	wqe = begin(from, number, DUMP, 0, NULL);
	add_data(&wqe, from->heap, 8, from->mr->lkey);
	post(from, number, &wqe);
	/* The rings wrap; each WQE is completed. */
	for (unsigned i = 0; i < 2 * DEPTH; i++) {
		uint8_t value = (uint8_t)(i + 1);
		wqe = begin(from, number, MLX5_OPCODE_RDMA_WRITE, 0, to);
		add_remote(&wqe, cells + i, to->mr->rkey);
		put(wqe.bytes, wqe.length, 31, 0, MLX5_INLINE_SEG | 1);
		wqe.bytes[wqe.length + 4] = value;
		wqe.length += 16;
		if (i % 16 == 15)
			post(from, number, &wqe);
		else
			store(from, number, &wqe, 0);
	}
	read_gpu(seen, cells, 2 * DEPTH);
	for (unsigned i = 0; i < 2 * DEPTH; i++)
		CHECK(seen[i] == (uint8_t)(i + 1));
	free(sent);
	free(seen);
}

static void close_end(struct end *end)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		struct queue *queue = &end->queues[i];
		CHECK(!mlx5dv_devx_obj_destroy(queue->qp) && !mlx5dv_devx_obj_destroy(queue->cq));
		CHECK(!unpin || !unpin(queue->uar->reg_addr));
		mlx5dv_devx_free_uar(queue->uar);
		mlx5dv_devx_free_uar(queue->cq_uar);
		CHECK(!queue->ah || !ibv_destroy_ah(queue->ah));
	}
	CHECK(!ibv_destroy_qp(end->dct) && !ibv_destroy_srq(end->dct_srq) && !ibv_destroy_cq(end->dct_sent));
	CHECK(!ibv_destroy_cq(end->dct_received) && !ibv_dealloc_pd(end->parent) && !ibv_destroy_ah(end->ah));
	CHECK(!mlx5dv_devx_umem_dereg(end->cqes.umem) && !mlx5dv_devx_umem_dereg(end->cq_records.umem));
	CHECK(!mlx5dv_devx_umem_dereg(end->wqes.umem) && !mlx5dv_devx_umem_dereg(end->records.umem));
	CHECK(!ibv_destroy_srq(end->srq) && !ibv_destroy_cq(end->received) && !ibv_dereg_mr(end->mr));
	CHECK(!ibv_dealloc_pd(end->pd) && !ibv_close_device(end->context));
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && *list);
	open_gpu();
	/* As the CUDA runtime finds them. */
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);
	int (*find)(const char *, void **, int, uint64_t, void *) =
		(int (*)(const char *, void **, int, uint64_t, void *))dlsym(library, "cuGetProcAddress_v2");
	CHECK(find && !find("cuMemHostRegister", (void **)&pin, 12000, 0, NULL));
	CHECK(!find("cuMemHostUnregister", (void **)&unpin, 12000, 0, NULL));
	for (int i = 0; i < 2; i++)
		open_end(&ends[i], *list);
	ibv_free_device_list(list);
	for (int i = 0; i < 2; i++) {
		create_target(&ends[i]);
		for (unsigned j = 0; j < QUEUES; j++)
			create_queue(&ends[i], j);
	}
	/* Two registers of one page. */
	CHECK((((uintptr_t)ends[0].queues[0].uar->reg_addr ^ (uintptr_t)ends[0].queues[1].uar->reg_addr) & -4096) == 0);
	for (int i = 0; i < 2; i++)
		for (unsigned j = 0; j < QUEUES; j++)
			connect_queue(&ends[i], j, &ends[1 - i]);
	exchange(&ends[0], &ends[0], 0);
	exchange(&ends[1], &ends[0], 0);
	exchange(&ends[0], &ends[1], 1);
	exchange(&ends[1], &ends[0], 1);
	exchange(&ends[0], &ends[1], 2);
	close_end(&ends[0]);
	close_end(&ends[1]);
	puts("ok");
	return 0;
}
