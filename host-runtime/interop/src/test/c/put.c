/*
 * A put that a kernel posts: two queue pairs of one program by DEVX, rings, records and payload in memory of the GPU, the doorbell
 * page mapped for kernels. One kernel stores payload, work request, record and doorbell, and may use the payload again; another one
 * waits for the flag behind the payload and sums that up. Arguments: the file put.ptx, and the kernels' names. Behind a kernel that
 * fills the payload the host posts. Prints how long the second one took, and exits with 0 when the sum is right.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prm.h"

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#include "cuda.h"

int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameters, void **extra);
int cuStreamCreate(void **stream, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuMemHostGetDevicePointer_v2(uint64_t *device, void *pages, unsigned flags);

enum { CQE_END = 0x3c, RING = 0x1000, END = 0x3000, PAYLOAD = 2 * END, INBOX = PAYLOAD + 64, WQE = INBOX + 64, SUM = WQE + 64, ALL = SUM + 64 };

struct end {
	struct mlx5dv_devx_obj *cq, *qp;
	uint32_t cqn, qpn;
};

static struct ibv_context *context;
static struct mlx5dv_devx_uar *uar;
static struct mlx5dv_devx_umem *umem;

static void make(struct end *end, unsigned number, uint32_t pdn)
{
	uint8_t in[272] = { 0 }, out[16] = { 0 };
	uint64_t base = number * (uint64_t)END;
	put(in, 0, 31, 16, 0x400);
	put(in, 0x10, 25, 25, 1);
	put(in, 0x10, 17, 17, 1);
	put(in, 0x14, 31, 0, umem->umem_id);
	put(in, 0x1c, 28, 24, 6);
	put(in, 0x1c, 23, 0, uar->page_id);
	put64(in, 0x48, base + 0x2000);
	put64(in, 0x50, base);
	put(in, 0x58, 31, 0, umem->umem_id);
	put(in, 0x5c, 31, 31, 1);
	end->cq = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
	CHECK(end->cq);
	end->cqn = get(out, 8, 23, 0);
	memset(in, 0, sizeof in);
	put(in, 0, 31, 16, 0x500);
	put(in, QPC, 12, 11, 3);
	put(in, QPC + 0x4, 23, 0, pdn);
	put(in, QPC + 0x8, 14, 11, 6);
	put(in, QPC + 0xc, 23, 0, uar->page_id);
	put(in, QPC + 0x7c, 23, 0, end->cqn);
	put(in, QPC + 0x9c, 23, 0, end->cqn);
	put64(in, QPC + 0xa0, base + 0x2100);
	put(in, QPC + 0xac, 26, 24, 3);
	put(in, QPC + 0xd0, 28, 28, 1);
	put(in, QPC + 0xe4, 31, 0, umem->umem_id);
	put64(in, 0x100, base + RING);
	put(in, 0x108, 31, 0, umem->umem_id);
	put(in, 0x10c, 31, 31, 1);
	end->qp = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
	CHECK(end->qp);
	end->qpn = get(out, 8, 23, 0);
}

static void modify(struct end *end, unsigned opcode, const uint8_t *words)
{
	uint8_t in[272], out[16] = { 0 };
	memcpy(in, words, sizeof in);
	put(in, 0, 31, 16, opcode);
	put(in, 8, 23, 0, end->qpn);
	CHECK(!mlx5dv_devx_obj_modify(end->qp, in, sizeof in, out, sizeof out));
}

static void connect_to(struct end *end, const struct end *peer, const union ibv_gid *gid)
{
	uint8_t in[272] = { 0 };
	put(in, QPC + 0x90, 15, 13, 7);
	modify(end, 0x502, in);
	put(in, QPC + 0x8, 31, 29, 5);
	put(in, QPC + 0x14, 23, 0, peer->qpn);
	memcpy(in + QPC + 0x28, gid->raw, sizeof gid->raw);
	put(in, QPC + 0x20, 7, 0, 255);
	put(in, QPC + 0x94, 28, 24, 12);
	modify(end, 0x503, in);
	put(in, QPC + 0x20, 31, 27, 14);
	put(in, QPC + 0x70, 18, 16, 7);
	put(in, QPC + 0x70, 15, 13, 7);
	modify(end, 0x504, in);
}

static void *kernels(const char *file)
{
	static char text[1 << 20];
	FILE *ptx = fopen(file, "r");
	CHECK(ptx && fread(text, 1, sizeof text - 1, ptx) > 0);
	fclose(ptx);
	void *module;
	CHECK(!cuModuleLoadData(&module, text));
	return module;
}

static void launch(void *module, const char *name, void **parameters, void *events[2])
{
	void *function, *stream;
	CHECK(!cuModuleGetFunction(&function, module, name));
	CHECK(!cuStreamCreate(&stream, 1));
	CHECK(!cuEventCreate(&events[0], 0) && !cuEventCreate(&events[1], 0));
	CHECK(!cuEventRecord(events[0], stream));
	CHECK(!cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
	CHECK(!cuEventRecord(events[1], stream));
}

int main(int count, char **words)
{
	CHECK(count == 4);
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	struct mlx5dv_context_attr attributes = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = mlx5dv_open_device(list[0], &attributes);
	CHECK(context);
	ibv_free_device_list(list);
	union ibv_gid gid;
	CHECK(!ibv_query_gid(context, 1, 0, &gid));
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj object = { .pd = { .in = pd, .out = &dv_pd } };
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
	uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(uar);

	uint64_t gpu, page;
	static uint8_t zeros[ALL];
	open_gpu();
	CHECK(!cuMemAlloc_v2(&gpu, ALL));
	zeros[CQE_END + 3] = 0xf0; /* a CQE that was never written */
	write_gpu(gpu, zeros, ALL);
	umem = mlx5dv_devx_umem_reg(context, (void *)gpu, ALL, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *region = ibv_reg_mr(pd, (void *)gpu, ALL, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(umem && region);
	CHECK(!cuMemHostRegister_v2(uar->base_addr, 4096, 4)); /* memory of a device */
	CHECK(!cuMemHostGetDevicePointer_v2(&page, uar->base_addr, 0));

	struct end ends[2];
	for (unsigned i = 0; i < 2; i++)
		make(&ends[i], i, dv_pd.pdn);
	connect_to(&ends[0], &ends[1], &gid);
	connect_to(&ends[1], &ends[0], &gid);

	uint8_t wqe[48] = { 0 };
	put(wqe, 0, 31, 0, MLX5_OPCODE_RDMA_WRITE);
	put(wqe, 4, 31, 0, ends[0].qpn << 8 | 3);
	put(wqe, 8, 31, 0, MLX5_WQE_CTRL_CQ_UPDATE);
	put64(wqe, 0x10, gpu + INBOX);
	put(wqe, 0x18, 31, 0, region->rkey);
	put(wqe, 0x20, 31, 0, 64);
	put(wqe, 0x24, 31, 0, region->lkey);
	put64(wqe, 0x28, gpu + PAYLOAD);
	write_gpu(gpu + WQE, wqe, sizeof wqe);

	uint64_t payload = gpu + PAYLOAD, slot = gpu + RING, request = gpu + WQE, record = gpu + 0x2104, inbox = gpu + INBOX;
	uint64_t cqe = gpu + CQE_END, bell = page + (uint64_t)((uint8_t *)uar->reg_addr - (uint8_t *)uar->base_addr), sum = gpu + SUM, answer = 0;
	void *module = kernels(words[1]);
	void *received[2], *sent[2];
	float milliseconds;
	launch(module, words[3], (void *[]){ &inbox, &sum }, received);
	launch(module, words[2], (void *[]){ &payload, &slot, &request, &record, &bell, &cqe }, sent);
	if (!strncmp(words[2], "fill", 4)) {
		for (unsigned i = 0; i < 8; i++)
			while (!((volatile uint64_t *)payload)[i])
				;
		memcpy((void *)slot, wqe, sizeof wqe);
		*(volatile uint32_t *)record = 0x01000000;
		memcpy(&answer, wqe, sizeof answer);
		*(volatile uint64_t *)uar->reg_addr = answer;
	}
	CHECK(!cuCtxSynchronize() && !cuEventElapsedTime(&milliseconds, received[0], received[1]));
	printf("%.3f us\n", milliseconds * 1000);
	CHECK(!cuMemcpyDtoH_v2(&answer, sum, sizeof answer));
	if (answer != 721)
		fprintf(stderr, "the sum is %llu\n", (unsigned long long)answer);
	return answer == 721 ? 0 : 2;
}
