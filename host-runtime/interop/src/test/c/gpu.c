/*
 * Registers memory of a GPU (of cuMemAlloc, and of cuMemCreate in two pieces side by side), and moves bytes between it and
 * memory of the host by a queue pair that is connected to itself: WRITE, READ, fetch-and-add; every byte is compared.
 * Memory that cannot be shared is refused; the doorbell page is pinned with and without the flag for I/O memory. Exits
 * with 0 when all is as it should be. Linked with libcuda.so.1 or a stand-in for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#include "cuda.h"

enum { PIECE = 4 << 20, BYTES = 3 << 20, ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	IBV_ACCESS_REMOTE_ATOMIC };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

/* Memory of cuMemCreate in two pieces. types: of handles, 0 for none */
static uint64_t create_two(int types)
{
	/* CUmemAllocationProp: pinned, types, on device, 0; the rest 0. CUmemAccessDesc: on device, 0, to read and write */
	int properties[8] = { 1, types, 1, 0 }, rights[3] = { 1, 0, 3 };
	uint64_t address, handle;
	CHECK(!cuMemAddressReserve(&address, 2 * PIECE, 0, 0, 0));
	for (int i = 0; i < 2; i++) {
		CHECK(!cuMemCreate(&handle, PIECE, properties, 0));
		CHECK(!cuMemMap(address + (uint64_t)i * PIECE, PIECE, 0, handle, 0));
		CHECK(!cuMemSetAccess(address + (uint64_t)i * PIECE, PIECE, rights, 1));
	}
	return address;
}

static void connect_to_itself(void)
{
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 0 } };
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 8, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 8 };
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static double move(enum ibv_wr_opcode opcode, struct ibv_mr *local, uint64_t at, uint32_t bytes, struct ibv_mr *remote, uint64_t to)
{
	struct ibv_sge sge = { at, bytes, local->lkey };
	struct ibv_send_wr request = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		request.wr.atomic.remote_addr = to;
		request.wr.atomic.rkey = remote->rkey;
		request.wr.atomic.compare_add = 5;
	} else {
		request.wr.rdma.remote_addr = to;
		request.wr.rdma.rkey = remote->rkey;
	}
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	CHECK(!ibv_post_send(qp, &request, &bad));
	struct ibv_wc wc;
	int count;
	do {
		count = ibv_poll_cq(cq, 1, &wc);
		clock_gettime(CLOCK_MONOTONIC, &end);
		CHECK(end.tv_sec - start.tv_sec < 60);
	} while (!count);
	CHECK(count == 1 && wc.status == IBV_WC_SUCCESS);
	return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

static void pin_doorbells(void)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(uar);
	void *page = (void *)((uintptr_t)uar->reg_addr & -4096ul);
	/* Portable and mapped, then for I/O memory too: by the linker, and as the CUDA runtime finds it. */
	CHECK(!cuMemHostRegister_v2(page, 4096, 3));
	int (*unregister)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "cuMemHostUnregister");
	CHECK(!unregister || !unregister(page));
	CHECK(!cuMemHostRegister_v2(page, 4096, 7));
	CHECK(!unregister || !unregister(page));
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);
	int (*find)(const char *, void **, int, uint64_t, void *) =
		(int (*)(const char *, void **, int, uint64_t, void *))dlsym(library, "cuGetProcAddress_v2");
	int (*pin)(void *, size_t, unsigned) = NULL;
	CHECK(library && find && !find("cuMemHostRegister", (void **)&pin, 12000, 0, NULL));
	CHECK(!pin((uint8_t *)page + 0x800, 512, 7));
	CHECK(!unregister || !unregister((uint8_t *)page + 0x800));
	/* Other memory of the host is still refused. */
	void *other = aligned_alloc(4096, 4096);
	CHECK(pin(other, 4096, 7));
	free(other);
	mlx5dv_devx_free_uar(uar);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && *list);
	struct mlx5dv_context_attr attributes = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = mlx5dv_open_device(*list, &attributes);
	CHECK(context);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(pd && cq && !access("/sys/module/nvidia_peermem/version", F_OK));
	connect_to_itself();
	open_gpu();

	uint64_t plain, pair = create_two(1), unshared = create_two(0);
	CHECK(!cuMemAlloc_v2(&plain, BYTES));
	/* One page inside, all of it, and both at once; the second piece's middle is no end of the mapping. */
	struct ibv_mr *page = ibv_reg_mr(pd, (void *)(uintptr_t)(plain + 4096), 4096, ACCESS);
	struct ibv_mr *whole = ibv_reg_mr(pd, (void *)(uintptr_t)plain, BYTES, ACCESS);
	struct ibv_mr *both = ibv_reg_mr(pd, (void *)(uintptr_t)pair, 2 * PIECE, ACCESS);
	CHECK(page && whole && both);
	errno = 0;
	CHECK(!ibv_reg_mr(pd, (void *)(uintptr_t)unshared, 4096, ACCESS) && errno == EFAULT);
	errno = 0;
	CHECK(!ibv_reg_mr(pd, (void *)(uintptr_t)(plain + BYTES), 4096, ACCESS) && errno == EFAULT);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, plain, -1, ACCESS) && errno == EOPNOTSUPP);

	uint8_t *source = malloc(BYTES), *target = malloc(BYTES);
	uint64_t *cell = aligned_alloc(64, 64);
	struct ibv_mr *host = ibv_reg_mr(pd, cell, 64, ACCESS);
	CHECK(source && target && host);
	for (int i = 0; i < BYTES; i++)
		source[i] = (uint8_t)(i * 7 + i / 251);
	/* GPU to GPU, over the edge of the two pieces; then back by READs, at odd places. */
	write_gpu(plain, source, BYTES);
	uint64_t edge = pair + PIECE - BYTES / 2;
	double first = move(IBV_WR_RDMA_WRITE, whole, plain, BYTES, both, edge);
	CHECK(!cuMemcpyDtoH_v2(target, edge, BYTES) && !memcmp(source, target, BYTES));
	memset(target, 0, BYTES);
	write_gpu(plain, target, BYTES);
	double back = move(IBV_WR_RDMA_READ, whole, plain + 3, 1 << 20, both, edge + 5);
	CHECK(!cuMemcpyDtoH_v2(target, plain, BYTES) && !memcmp(source + 5, target + 3, 1 << 20));
	CHECK(target[2] == 0 && target[3 + (1 << 20)] == 0);
	/* Host to GPU and back, one byte to a cell. */
	for (uint32_t bytes = 1; bytes <= 64; bytes++) {
		memset(cell, (int)bytes, 64);
		move(IBV_WR_RDMA_WRITE, host, (uintptr_t)cell, bytes, page, plain + 4096 + bytes);
		memset(cell, 0, 64);
		move(IBV_WR_RDMA_READ, host, (uintptr_t)cell, bytes, page, plain + 4096 + bytes);
		for (uint32_t i = 0; i < 64; i++)
			CHECK(((uint8_t *)cell)[i] == (i < bytes ? bytes : 0));
	}
	uint64_t value = 37;
	write_gpu(plain + 8192 - 64, &value, 8);
	move(IBV_WR_ATOMIC_FETCH_AND_ADD, host, (uintptr_t)cell, 8, page, plain + 8192 - 64);
	CHECK(*cell == 37 && !cuMemcpyDtoH_v2(&value, plain + 8192 - 64, 8) && value == 42);
	/* What is registered again under its key leaves the GPU, and comes back. */
	CHECK(!ibv_rereg_mr(page, IBV_REREG_MR_CHANGE_TRANSLATION, pd, source, 4096, 0));
	move(IBV_WR_RDMA_READ, host, (uintptr_t)cell, 64, page, (uintptr_t)source);
	CHECK(!memcmp(cell, source, 64));
	CHECK(!ibv_rereg_mr(page, IBV_REREG_MR_CHANGE_TRANSLATION, pd, (void *)(uintptr_t)(plain + 4096), 4096, 0));
	move(IBV_WR_RDMA_READ, host, (uintptr_t)cell, 8, page, plain + 8192 - 64);
	CHECK(*cell == 42);
	pin_doorbells();
	if (getenv("GPU_TIMES")) {
		double sum[2] = { 0 };
		for (int i = 0; i < 100; i++) {
			sum[0] += move(IBV_WR_RDMA_WRITE, whole, plain, 8, both, edge);
			sum[1] += move(IBV_WR_RDMA_WRITE, host, (uintptr_t)cell, 8, both, edge);
		}
		fprintf(stderr, "first WRITE of 3 MiB %.0f us, READ of 1 MiB %.0f us, WRITE of 8 B GPU to GPU %.1f us, host to GPU %.1f us\n",
			first * 1e6, back * 1e6, sum[0] * 1e4, sum[1] * 1e4);
	}
	CHECK(!ibv_dereg_mr(page) && !ibv_dereg_mr(whole) && !ibv_dereg_mr(both) && !ibv_dereg_mr(host));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
