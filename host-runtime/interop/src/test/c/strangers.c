/*
 * What programs do that share a server and do not know of each other: work, crash with a kernel that runs, wait to be
 * killed, take all memory, and try to reach the memory of another program, whose address is the second argument.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(holds)                                                                                                   \
	do {                                                                                                           \
		if (!(holds)) {                                                                                        \
			printf("line %d: %s\n", __LINE__, #holds);                                                     \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

#include "cuda.h"

struct key {
	char bytes[64];
};

int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream,
		   void **parameters, void **extra);
int cuMemsetD32_v2(uint64_t address, unsigned value, size_t count);
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
int cuIpcOpenMemHandle_v2(uint64_t *address, struct key key, unsigned flags);
int cuDevicePrimaryCtxReset_v2(int device);

enum { WORDS = 1 << 18, SECRET = 0x5ec7e75e };

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry copy(.param .u64 to, .param .u64 from)\n{\n"
	" .reg .b32 i, v; .reg .b64 a, b, o;\n"
	" mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; ld.param.u64 a, [to]; ld.param.u64 b, [from];\n"
	" add.u64 a, a, o; add.u64 b, b, o; ld.global.u32 v, [b]; st.global.u32 [a], v; ret;\n}\n"
	".visible .entry spin(.param .u64 to, .param .u64 from)\n{\n"
	" .reg .pred q; .reg .b32 v; .reg .b64 a; ld.param.u64 a, [to];\n"
	"again: ld.volatile.global.u32 v, [a]; setp.ne.u32 q, v, 1; @q bra again; ret;\n}\n";

static int run(const char *name, unsigned threads, uint64_t to, uint64_t from)
{
	void *module, *function, *parameters[] = { &to, &from };
	CHECK(!cuModuleLoadData(&module, ptx) && !cuModuleGetFunction(&function, module, name));
	return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
}

static uint64_t allocate(unsigned value)
{
	uint64_t address;
	CHECK(!cuMemAlloc_v2(&address, WORDS * 4) && !cuMemsetD32_v2(address, value, WORDS) && !cuCtxSynchronize());
	return address;
}

static int is_full_of(uint64_t address, unsigned value)
{
	static unsigned words[WORDS];
	CHECK(!cuMemcpyDtoH_v2(words, address, sizeof words));
	for (unsigned i = 0; i < WORDS; i++)
		if (words[i] != value)
			return 0;
	return 1;
}

/* Works until its input ends. */
static void work(void)
{
	uint64_t secret = allocate(SECRET);
	printf("%lx\n", secret);
	fflush(stdout);
	char end;
	while (read(STDIN_FILENO, &end, 1) == 1) {
		uint64_t to = allocate(0), from = allocate(7);
		CHECK(!run("copy", 32, to, from) && !cuCtxSynchronize());
		unsigned last;
		CHECK(!cuMemcpyDtoH_v2(&last, to + 31 * 4, 4) && last == 7 && !cuMemFree_v2(to) && !cuMemFree_v2(from));
		CHECK(is_full_of(secret, SECRET));
	}
}

static void exhaust(void)
{
	uint64_t address;
	int error, count = 0;
	while ((error = cuMemAlloc_v2(&address, 1ul << 30)) == 0)
		CHECK(++count < 100 && !cuMemsetD32_v2(address, 1, WORDS));
	CHECK(error == 2 && count > 1);
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context);
	struct ibv_pd *pd;
	while ((pd = ibv_alloc_pd(context)) && ++count < 5000)
		CHECK(ibv_reg_mr(pd, (void *)address, 4096, 0) || errno);
}

static void peek(uint64_t secret)
{
	uint64_t own = allocate(0), address;
	int file = -1;
	struct key key = { { 1 } };
	char name[64];
	CHECK(cuMemcpyDtoD_v2(own, secret, 4096) && cuMemcpyDtoD_v2(secret, own, 4096));
	CHECK(cuIpcOpenMemHandle_v2(&address, key, 1));
	CHECK(cuMemGetHandleForAddressRange(&file, secret, 4096, 1, 0));
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(!ibv_reg_mr(pd, (void *)secret, 4096, 0) && errno == EFAULT);
	snprintf(name, sizeof name, "doorbell-dmabuf-%lx-1000", secret);
	file = memfd_create(name, 0);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, file, 0) && errno == EINVAL);
	CHECK(!run("copy", 32, own, secret) && cuCtxSynchronize() == 700);
	CHECK(!cuDevicePrimaryCtxReset_v2(0));
	own = allocate(0);
	CHECK(!run("copy", 32, secret, own) && cuCtxSynchronize() == 700);
}

int main(int count, char **words)
{
	CHECK(count > 1);
	open_gpu();
	if (strcmp(words[1], "work") == 0) {
		work();
	} else if (strcmp(words[1], "exhaust") == 0) {
		exhaust();
	} else if (strcmp(words[1], "peek") == 0) {
		CHECK(count > 2);
		peek(strtoul(words[2], NULL, 16));
	} else {
		CHECK(!run("spin", 32, allocate(0), 0));
		puts("spinning");
		fflush(stdout);
		if (strcmp(words[1], "crash") == 0)
			abort();
		cuCtxSynchronize();
	}
	return 0;
}
