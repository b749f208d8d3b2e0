/*
 * A program of the CUDA runtime as nvcc makes it, but written by hand, so that gcc is enough: it registers a fat binary
 * of PTX by the host ABI and launches its kernels. With an argument it does one thing that is wrong.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct dim {
	unsigned x, y, z;
};

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int cudaLaunchKernel(const void *, struct dim, struct dim, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaMallocHost(void **, size_t);
int cudaFree(void *);
int cudaFreeAsync(void *, void *);
int cudaMemPoolCreate(void **, const void *);
int cudaMemPoolDestroy(void *);
int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamDestroy(void *);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventQuery(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaGetLastError(void);
int cudaGetDeviceCount(int *);
int cudaSetDevice(int);
int cudaDeviceGetPCIBusId(char *, int, int);
int cudaDeviceGetByPCIBusId(int *, const char *);
int cudaMallocArray(void **, const void *, size_t, size_t, unsigned);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamIsCapturing(void *, int *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphDestroy(void *);
int cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaGraphExecDestroy(void *);
int cudaGraphClone(void **, void *);
int cudaGraphGetRootNodes(void *, void **, size_t *);
int cudaGraphNodeGetType(void *, int *);
int cudaGraphDestroyNode(void *);
int cudaGraphAddDependencies_v2(void *, void **, void **, const void *, size_t);
int cudaGraphNodeGetDependentNodes_v2(void *, void **, void *, size_t *);
int cudaGraphAddEmptyNode(void **, void *, void **, size_t);
int cudaGraphAddHostNode(void **, void *, void **, size_t, const void *);
int cudaGraphAddMemsetNode(void **, void *, void **, size_t, const void *);
int cudaGraphAddMemcpyNode1D(void **, void *, void **, size_t, void *, const void *, size_t, int);
int cudaGraphAddKernelNode(void **, void *, void **, size_t, const void *);
int cudaGraphAddChildGraphNode(void **, void *, void **, size_t, void *);
int cudaGraphAddEventRecordNode(void **, void *, void **, size_t, void *);
int cudaStreamGetCaptureInfo_v3(void *, int *, uint64_t *, void **, void ***, const void **, size_t *);
int cudaStreamUpdateCaptureDependencies_v2(void *, void **, const void *, size_t, unsigned);
int cudaUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned);
int cudaGraphRetainUserObject(void *, void *, unsigned, unsigned);
int cudaEventDestroy(void *);
const char *cudaGetErrorName(int);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *);
int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuStreamGetCaptureInfo_v2(void *, int *, uint64_t *, void **, const void **, size_t *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphLaunch(void *, void *);
int cuGraphExecDestroy(void *);
int cuGraphDestroy(void *);
int cuStreamWaitValue32_v2(void *, uint64_t, uint32_t, unsigned);
int cuStreamWriteValue32_v2(void *, uint64_t, uint32_t, unsigned);
int cuCtxGetCurrent(void **);
int cuCtxGetDevice(int *);
int cuCtxGetFlags(unsigned *);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxPopCurrent_v2(void **);
int cuCtxPushCurrent_v2(void *);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuCtxSetFlags(unsigned);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

struct handle {
	char bytes[64];
};
int cudaIpcGetMemHandle(struct handle *, void *);
int cudaIpcOpenMemHandle(void **, struct handle, unsigned);
int cudaIpcCloseMemHandle(void *);
int cudaIpcGetEventHandle(struct handle *, void *);
int cudaIpcOpenEventHandle(void **, struct handle);
int cudaEventSynchronize(void *);

#define PTX                                                                                                            \
	".version 7.0\n.target sm_70\n.address_size 64\n"                                                              \
	".visible .global .align 4 .u32 step = 1;\n"                                                                   \
	".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"                                                       \
	" .reg .pred q; .reg .b32 i, v, s; .reg .b64 a, o;\n"                                                          \
	" mov.u32 i, %tid.x; mov.u32 v, %ctaid.x; mov.u32 s, %ntid.x; mad.lo.u32 i, v, s, i;\n"                        \
	" ld.param.u32 s, [n]; setp.ge.u32 q, i, s; @q ret;\n"                                                         \
	" ld.param.u64 a, [p]; mul.wide.u32 o, i, 4; add.u64 a, a, o;\n"                                               \
	" ld.global.u32 v, [a]; ld.global.u32 s, [step]; add.u32 v, v, s; st.global.u32 [a], v; ret;\n}\n"             \
	".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"     \
	".global .align 1 .b8 text[2] = {120, 0};\n"                                                                   \
	".visible .entry barrier_trap(.param .u64 p, .param .u32 n)\n"                                                 \
	"{\n"                                                                                                          \
	" .reg .pred q; .reg .b32 v; .reg .b64 a; ld.param.u32 v, [n]; setp.eq.u32 q, v, 1; @q trap;\n"                \
	" ld.param.u64 a, [p]; setp.eq.u32 q, v, 2; @q ld.global.u32 v, [a];\n"                                        \
	" mov.u64 a, text; cvta.global.u64 a, a;\n"                                                                    \
	" { .param .b64 a0; .param .b64 a1; .param .b32 a2; .param .b64 a3; .param .b64 a4;\n"                         \
	" st.param.b64 [a0], a; st.param.b64 [a1], a; st.param.b32 [a2], 7; st.param.b64 [a3], a; st.param.b64 [a4], 1;\n" \
	" call.uni __assertfail, (a0, a1, a2, a3, a4); } ret;\n"                                                       \
	"}\n"                                                                                                          \
	".visible .entry await(.param .u64 p)\n{\n"                                                                    \
	" .reg .pred q; .reg .b32 v; .reg .b64 a; ld.param.u64 a, [p];\n"                                              \
	"again: ld.volatile.global.u32 v, [a]; setp.eq.u32 q, v, 0; @q bra again; ret;\n}\n"

struct fat_binary {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
	uint16_t kind, entry_version;
	uint32_t entry_header;
	uint64_t payload;
	uint32_t compressed, unused, version_of_ptx, architecture, name, name_bytes;
	uint64_t flags, zero, raw;
	char ptx[sizeof PTX];
};

#ifndef KIND
#define KIND 1
#endif

static const struct fat_binary binary = {0xba55ed50u, 1, 16, sizeof(struct fat_binary) - 16,
					 KIND,	      0x101, 64, sizeof PTX, 0, 0, 0, 70, 0, 0, 0x11, 0, sizeof PTX, PTX};

static struct {
	uint32_t magic, version;
	const void *data;
	void *list;
} wrapper = {0x466243b1u, 1, &binary, NULL};

static char add, await, barrier_trap, step; /* their addresses stand for the kernels and the variable */

#define REQUIRE(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			printf("line %d: %s; last error %s\n", __LINE__, #condition,                                   \
			       cudaGetErrorName(cudaGetLastError()));                                                  \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)
#define OK(call) REQUIRE((call) == 0)

static int launch(const void *kernel, unsigned blocks, unsigned threads, void *pointer, uint32_t count, void *stream)
{
	void *arguments[] = {&pointer, &count};
	return cudaLaunchKernel(kernel, (struct dim){blocks, 1, 1}, (struct dim){threads, 1, 1}, arguments, 0, stream);
}

static void set(void *flag)
{
	*(int *)flag = 1;
}

static void memory(void)
{
	uint32_t host[1000], *device, two = 2, now = 0;
	for (int i = 0; i < 1000; i++)
		host[i] = (uint32_t)i;
	OK(cudaMalloc((void **)&device, sizeof host));
	OK(cudaMemcpy(device, host, sizeof host, 1));
	OK(launch(&add, 8, 128, device, 1000, NULL));
	OK(cudaMemcpyToSymbol(&step, &two, 4, 0, 1));
	OK(launch(&add, 8, 128, device, 500, NULL));
	OK(cudaMemcpy(host, device, sizeof host, 2));
	for (uint32_t i = 0; i < 1000; i++)
		REQUIRE(host[i] == i + (i < 500 ? 3 : 1));
	OK(cudaMemcpyFromSymbol(&now, &step, 4, 0, 2));
	REQUIRE(now == 2);
	OK(cudaMemset(device, 0x11, 8));
	OK(cudaMemcpy2D(host, 8, device, 4, 4, 3, 2));
	REQUIRE(host[0] == 0x11111111u && host[2] == 0x11111111u && host[4] == 5);
	OK(cudaFree(device));
	REQUIRE(cudaMemcpy(device, host, 4, 1) == 0 || cudaGetLastError() != 0);

	uint32_t *mine = malloc(1 << 16), *seen;
	mine[5000] = 40;
	OK(cudaHostRegister(mine, 1 << 16, 0));
	OK(cudaHostGetDevicePointer((void **)&seen, mine, 0));
	REQUIRE(mine[5000] == 40);
	OK(launch(&add, 1, 1, seen + 5000, 1, NULL));
	OK(cudaDeviceSynchronize());
	REQUIRE(mine[5000] == 42);
	OK(cudaHostUnregister(mine));
	REQUIRE(mine[5000] == 42 && cudaHostGetDevicePointer((void **)&seen, mine, 0) != 0);
	cudaGetLastError();
}

static void streams(void)
{
	void *a, *b, *before, *after, *pool, *freed;
	uint32_t *flag, *value, source = 7, got;
	int called = 0;
	float milliseconds;
	OK(cudaStreamCreateWithFlags(&a, 1));
	OK(cudaStreamCreateWithFlags(&b, 1));
	OK(cudaEventCreate(&before));
	OK(cudaEventCreate(&after));
	OK(cudaMallocHost((void **)&flag, 4));
	OK(cudaMalloc((void **)&value, 4));
	*flag = 0;
	OK(cudaEventRecord(before, a));
	OK(launch(&await, 1, 1, flag, 0, a));
	OK(cudaEventRecord(after, a));
	OK(cudaStreamWaitEvent(b, after, 0));
	OK(cudaMemcpyAsync(value, &source, 4, 1, b));
	source = 0; /* the copy has what was there when it was asked for */
	OK(cudaLaunchHostFunc(b, set, &called));
	REQUIRE(cudaStreamQuery(a) == 600 && cudaEventQuery(after) == 600 && cudaStreamQuery(b) == 600 && !called);
	*flag = 1;
	OK(cudaStreamSynchronize(b));
	REQUIRE(called);
	OK(cudaMemcpy(&got, value, 4, 2));
	REQUIRE(got == 7);
	OK(cudaEventElapsedTime(&milliseconds, before, after));
	REQUIRE(milliseconds > 0);
	OK(cudaMemPoolCreate(&pool, NULL));
	OK(cudaMallocFromPoolAsync(&freed, 64, pool, a));
	OK(cuStreamWaitValue32_v2(a, (uint64_t)value, 9, 1));
	OK(launch(&add, 1, 1, value, 1, a));
	OK(cudaFreeAsync(freed, a)); /* when the stream gets there: the call does not wait for it */
	REQUIRE(cudaStreamQuery(a) == 600);
	OK(cuStreamWriteValue32_v2(b, (uint64_t)value, 9, 0));
	OK(cudaStreamSynchronize(a));
	OK(cuMemcpyDtoH_v2(&got, (uint64_t)value, 4));
	REQUIRE(got == 11);
	REQUIRE(cudaFree(freed) == 1 && cudaGetLastError() == 1);
	OK(cudaMemPoolDestroy(pool));
	OK(cudaStreamDestroy(a));
	OK(cudaStreamDestroy(b));
}

static void call_counted(void *calls)
{
	++*(int *)calls;
}

/* Two branches of a captured graph: the second one begins behind the first one's event, and its end is waited for. */
static void graphs(int device)
{
	void *first, *second, *other, *forked, *joined, *outside, *graph, *instance, *empty;
	uint32_t *numbers, *flag, *seen, source[2] = {10, 20};
	int calls = 0, status;
	size_t nodes;
	OK(cudaStreamCreateWithFlags(&first, 1));
	OK(cudaStreamCreateWithFlags(&second, 1));
	OK(cudaStreamCreateWithFlags(&other, 0));
	OK(cudaEventCreate(&forked));
	OK(cudaEventCreate(&joined));
	OK(cudaEventCreate(&outside));
	OK(cudaMalloc((void **)&numbers, 8));
	OK(cudaMallocHost((void **)&flag, 4));
	OK(cudaMallocHost((void **)&seen, 8));
	*flag = 0;

	OK(cudaSetDevice(1 - device)); /* a stream is captured whichever GPU is current */
	OK(cudaStreamBeginCapture(first, 0));
	OK(cudaSetDevice(device));
	OK(cudaStreamIsCapturing(first, &status));
	REQUIRE(status == 1 && cudaStreamBeginCapture(first, 0) == 401 && cudaGetLastError() == 401);
	OK(cudaMemcpyAsync(numbers, source, 8, 1, first));
	OK(cudaEventRecord(forked, first));
	OK(cudaStreamWaitEvent(second, forked, 0));
	OK(launch(&await, 1, 1, flag, 0, first));
	OK(launch(&add, 1, 1, numbers, 1, second)); /* runs while the first branch waits */
	OK(cudaEventRecord(joined, second));
	OK(cudaStreamWaitEvent(first, joined, 0));
	OK(launch(&add, 1, 2, numbers, 2, first));
	OK(cudaMemcpyAsync(seen, numbers, 8, 2, first));
	OK(cudaLaunchHostFunc(first, call_counted, &calls));
	REQUIRE(cudaStreamEndCapture(second, &graph) == 903 && cudaGetLastError() == 903);
	OK(cudaStreamEndCapture(first, &graph));
	OK(cudaStreamIsCapturing(first, &status));
	OK(cudaGraphGetNodes(graph, NULL, &nodes));
	REQUIRE(status == 0 && nodes == 6);
	OK(cudaGraphInstantiate(&instance, graph, 0));
	OK(cudaGraphDestroy(graph));
	OK(cudaDeviceSynchronize());
	REQUIRE(calls == 0);

	OK(cudaGraphLaunch(instance, other));
	uint32_t now[2] = {0, 0};
	for (int i = 0; i < 10000 && now[0] != 10 + 2; i++) {
		OK(cudaMemcpyAsync(now, numbers, 8, 2, second));
		OK(cudaStreamSynchronize(second));
	}
	REQUIRE(now[0] == 12 && now[1] == 20 && cudaStreamQuery(other) == 600 && calls == 0);
	*flag = 1;
	OK(cudaStreamSynchronize(other));
	REQUIRE(calls == 1 && seen[0] == 14 && seen[1] == 22);
	source[0] = 100; /* a launch copies what is there then */
	OK(cudaGraphLaunch(instance, first));
	OK(cudaGraphLaunch(instance, other));
	OK(cudaStreamSynchronize(other));
	REQUIRE(calls == 3 && seen[0] == 104 && seen[1] == 22);
	OK(cudaGraphExecDestroy(instance));

	OK(cudaStreamBeginCapture(first, 0));
	REQUIRE(cudaStreamSynchronize(first) == 900 && cudaGetLastError() == 900);
	REQUIRE(cudaStreamEndCapture(first, &graph) == 901 && cudaGetLastError() == 901 && !graph);
	OK(cudaEventRecord(outside, other));
	OK(cudaStreamBeginCapture(first, 0));
	REQUIRE(cudaStreamWaitEvent(first, outside, 0) == 905 && cudaGetLastError() == 905);
	REQUIRE(cudaStreamEndCapture(first, &graph) == 901 && cudaGetLastError() == 901);
	REQUIRE(cudaStreamEndCapture(first, &graph) == 401 && cudaGetLastError() == 401);
	OK(cudaStreamBeginCapture(first, 0));
	OK(cudaEventRecord(forked, first));
	REQUIRE(cudaStreamWaitEvent(NULL, forked, 0) == 906 && cudaGetLastError() == 906);
	OK(cudaMemset(numbers, 0, 8)); /* at once, not as a part of a graph */
	OK(cudaMemcpy(now, numbers, 8, 2));
	REQUIRE(now[0] == 0 && cudaStreamEndCapture(first, &graph) == 901 && cudaGetLastError() == 901);
	REQUIRE(cudaStreamBeginCapture(NULL, 0) == 900 && cudaGetLastError() == 900);

	uint64_t id = 0;
	void *captured, *found;
	OK(cuStreamBeginCapture_v2(first, 0));
	OK(cuMemsetD32Async((uint64_t)numbers, 77, 2, first));
	OK(cuStreamGetCaptureInfo_v2(first, &status, &id, &captured, NULL, &nodes));
	REQUIRE(status == 1 && id != 0 && captured && nodes == 1);
	OK(cuStreamEndCapture(first, &graph));
	REQUIRE(graph == captured);
	OK(cuGetProcAddress_v2("cuGraphInstantiate", &found, 12000, 0, &status));
	REQUIRE(found == (void *)cuGraphInstantiateWithFlags && status == 0);
	OK(cuGraphInstantiateWithFlags(&instance, graph, 0));
	OK(cudaMemcpy(now, numbers, 8, 2));
	REQUIRE(now[0] == 0);
	OK(cuGraphLaunch(instance, first));
	OK(cudaStreamSynchronize(first));
	OK(cudaMemcpy(now, numbers, 8, 2));
	REQUIRE(now[0] == 77 && now[1] == 77);
	OK(cuGraphExecDestroy(instance));
	OK(cuGraphDestroy(graph));

	/* A branch that is left open; one that the stream no longer depends on may be. */
	OK(cudaStreamBeginCapture(first, 0));
	OK(cudaEventRecord(forked, first));
	OK(cudaStreamWaitEvent(second, forked, 0));
	OK(launch(&add, 1, 1, numbers, 1, second));
	REQUIRE(cudaStreamEndCapture(first, &graph) == 904 && cudaGetLastError() == 904 && !graph);
	OK(cudaStreamBeginCapture(first, 0));
	OK(cudaEventRecord(forked, first));
	OK(cudaStreamWaitEvent(second, forked, 0));
	OK(launch(&add, 1, 1, numbers, 1, second));
	OK(cudaStreamUpdateCaptureDependencies_v2(second, NULL, NULL, 0, 1));
	OK(cudaStreamEndCapture(first, &graph));
	OK(cudaGraphDestroy(graph));

	OK(cudaGraphCreate(&empty, 0));
	OK(cudaGraphInstantiate(&instance, empty, 0));
	OK(cudaGraphLaunch(instance, first));
	OK(cudaStreamSynchronize(first));
	OK(cudaGraphExecDestroy(instance));
	OK(cudaGraphDestroy(empty));
	OK(cudaStreamDestroy(first));
	OK(cudaStreamDestroy(second));
	OK(cudaStreamDestroy(other));
}

struct kernel_node {
	const void *function;
	struct dim grid, block;
	unsigned shared;
	void **parameters, **extra;
};

struct fill_node {
	void *to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

struct host_node {
	void (*function)(void *);
	void *data;
};

static void *add_node(void *graph, void **needs, size_t count, uint32_t *numbers, uint32_t of)
{
	void *node, *parameters[] = {&numbers, &of};
	struct kernel_node kernel = {&add, {1, 1, 1}, {of, 1, 1}, 0, parameters, NULL};
	OK(cudaGraphAddKernelNode(&node, graph, needs, count, &kernel));
	return node;
}

/* A graph of nodes: a diamond with an edge that is added last, its clone, and both as parts of a third one. */
static void nodes(void)
{
	void *graph, *clone, *whole, *instance, *stream, *event, *object, *fill, *one, *other, *copy, *call, *mark, *child;
	void *found[8];
	uint32_t *numbers, seen[2] = {0, 0};
	int calls = 0, destroyed = 0, type;
	size_t count = 8;
	OK(cudaStreamCreateWithFlags(&stream, 1));
	OK(cudaEventCreate(&event));
	OK(cudaMalloc((void **)&numbers, 8));
	OK(cudaGraphCreate(&graph, 0));
	one = add_node(graph, NULL, 0, numbers, 2);
	struct fill_node seven = {numbers, 0, 7, 4, 2, 1};
	OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &seven));
	OK(cudaGraphAddDependencies_v2(graph, &fill, &one, NULL, 1));
	REQUIRE(cudaGraphAddDependencies_v2(graph, &fill, &one, NULL, 1) == 1 && cudaGetLastError() == 1);
	other = add_node(graph, &one, 1, numbers + 1, 1);
	void *both[] = {one, other};
	OK(cudaGraphAddMemcpyNode1D(&copy, graph, both, 2, seen, numbers, 8, 2));
	struct host_node host = {call_counted, &calls};
	OK(cudaGraphAddHostNode(&call, graph, &copy, 1, &host));
	OK(cudaGraphAddEventRecordNode(&mark, graph, &call, 1, event));
	OK(cudaUserObjectCreate(&object, &destroyed, call_counted, 1, 1));
	OK(cudaGraphRetainUserObject(graph, object, 1, 1));
	OK(cudaGraphGetRootNodes(graph, found, &count));
	REQUIRE(count == 1 && found[0] == fill && found[1] == NULL);
	count = 8;
	OK(cudaGraphNodeGetDependentNodes_v2(one, found, NULL, &count));
	REQUIRE(count == 2 && found[0] == other && found[1] == copy);
	OK(cudaGraphNodeGetType(mark, &type));
	REQUIRE(type == 7);
	OK(cudaGraphInstantiate(&instance, graph, 0));
	OK(cudaGraphLaunch(instance, stream));
	OK(cudaStreamSynchronize(stream));
	REQUIRE(seen[0] == 9 && seen[1] == 11 && calls == 1 && cudaEventQuery(event) == 0);

	OK(cudaGraphClone(&clone, graph));
	OK(cudaGraphDestroyNode(other));
	OK(cudaGraphCreate(&whole, 0));
	OK(cudaGraphAddChildGraphNode(&child, whole, NULL, 0, clone));
	OK(cudaGraphAddChildGraphNode(&child, whole, &child, 1, graph));
	OK(cudaGraphAddEmptyNode(&child, whole, &child, 1));
	OK(cudaGraphGetNodes(whole, NULL, &count));
	REQUIRE(count == 6 + 1 + 5 + 1 + 1);
	OK(cudaGraphDestroy(clone));
	OK(cudaGraphExecDestroy(instance));
	REQUIRE(destroyed == 0);
	OK(cudaGraphAddDependencies_v2(graph, &copy, &fill, NULL, 1)); /* a cycle */
	REQUIRE(cudaGraphInstantiate(&instance, graph, 0) == 1 && cudaGetLastError() == 1);
	OK(cudaGraphDestroy(graph));
	REQUIRE(destroyed == 0);
	OK(cudaGraphInstantiate(&instance, whole, 0));
	OK(cudaGraphDestroy(whole));
	OK(cudaGraphLaunch(instance, stream));
	OK(cudaStreamSynchronize(stream));
	REQUIRE(seen[0] == 9 && seen[1] == 9 && calls == 3 && destroyed == 0);
	OK(cudaGraphExecDestroy(instance));
	REQUIRE(destroyed == 1);
	OK(cudaStreamDestroy(stream));
}

/* NCCL's use of captures: a stream of its own in the program's capture, joined by its nodes and not by an event. */
static void captured_nodes(void)
{
	void *mine, *its, *scratch, *serial, *graph, *instance, *captured, *record, **front;
	uint32_t *numbers, seen[2] = {0, 0};
	int status;
	size_t count;
	OK(cudaStreamCreateWithFlags(&mine, 1));
	OK(cudaStreamCreateWithFlags(&its, 1));
	OK(cudaEventCreate(&scratch));
	OK(cudaEventCreate(&serial));
	OK(cudaMalloc((void **)&numbers, 8));
	OK(cudaMemset(numbers, 0, 8));
	OK(cudaStreamBeginCapture(mine, 2));
	OK(launch(&add, 1, 1, numbers, 1, mine));
	OK(cudaEventRecord(scratch, mine));
	OK(cudaStreamWaitEvent(its, scratch, 0));
	OK(cudaEventDestroy(scratch));
	OK(cudaStreamUpdateCaptureDependencies_v2(its, NULL, NULL, 0, 1));
	OK(cudaStreamWaitEvent(its, serial, 1));
	OK(launch(&add, 1, 1, numbers + 1, 1, its));
	OK(cudaStreamGetCaptureInfo_v3(its, &status, NULL, &captured, &front, NULL, &count));
	REQUIRE(status == 1 && count == 1);
	void *last = front[0];
	OK(cudaGraphAddEventRecordNode(&record, captured, &last, 1, serial));
	OK(cudaStreamUpdateCaptureDependencies_v2(its, &record, NULL, 1, 1));
	OK(cudaStreamUpdateCaptureDependencies_v2(mine, &last, NULL, 1, 0));
	OK(cudaMemcpyAsync(seen, numbers, 8, 2, mine));
	OK(cudaStreamEndCapture(mine, &graph));
	REQUIRE(graph == captured);
	OK(cudaGraphInstantiate(&instance, graph, 0));
	OK(cudaGraphDestroy(graph));
	for (uint32_t round = 1; round <= 3; round++) {
		OK(cudaGraphLaunch(instance, mine));
		OK(cudaStreamSynchronize(mine));
		REQUIRE(seen[0] == 2 * round && seen[1] == 2 * round && cudaEventQuery(serial) == 0);
	}
	OK(cudaGraphExecDestroy(instance));
	OK(cudaStreamDestroy(mine));
	OK(cudaStreamDestroy(its));
}

/* A child adds to memory of its parent, which only the handle gives it. */
static void processes(void)
{
	int to_child[2], to_parent[2];
	REQUIRE(pipe(to_child) == 0 && pipe(to_parent) == 0);
	pid_t child = fork();
	if (child == 0) {
		close(to_child[1]); /* so that the end of the parent is the end of its pipe */
		struct handle handle, none = {{1}};
		uint32_t *theirs;
		REQUIRE(read(to_child[0], &handle, sizeof handle) == sizeof handle);
		REQUIRE(cudaIpcOpenMemHandle((void **)&theirs, none, 1) != 0);
		cudaGetLastError();
		OK(cudaIpcOpenMemHandle((void **)&theirs, handle, 1));
		OK(launch(&add, 1, 1, theirs, 1, NULL));
		OK(cudaDeviceSynchronize());
		REQUIRE(*theirs == 101); /* the window is memory of the program, too */
		OK(cudaIpcCloseMemHandle(theirs));
		REQUIRE(write(to_parent[1], "x", 1) == 1);
		_exit(0);
	}
	uint32_t *mine, value = 100;
	struct handle handle;
	char byte;
	int status;
	OK(cudaMalloc((void **)&mine, 8192));
	OK(cudaMemcpy(mine + 3, &value, 4, 1));
	OK(cudaIpcGetMemHandle(&handle, mine + 3));
	REQUIRE(write(to_child[1], &handle, sizeof handle) == sizeof handle);
	REQUIRE(waitpid(child, &status, 0) == child && status == 0);
	REQUIRE(read(to_parent[0], &byte, 1) == 1);
	OK(cudaMemcpy(&value, mine + 3, 4, 2));
	REQUIRE(value == 101);
}

/* A child waits for an event that its parent records, and whose stream it holds back until the child waits. */
static void shared_events(bool killed)
{
	int to_child[2], to_parent[2], status;
	char byte;
	REQUIRE(pipe(to_child) == 0 && pipe(to_parent) == 0);
	pid_t child = fork();
	if (child == 0) {
		struct handle handle, none = {{1}};
		void *event, *stream;
		uint32_t *value, got = 0;
		pid_t parent;
		close(to_child[1]);
		REQUIRE(read(to_child[0], &handle, sizeof handle) == sizeof handle);
		REQUIRE(read(to_child[0], &parent, sizeof parent) == sizeof parent);
		REQUIRE(cudaIpcOpenEventHandle(&event, none) == 400 && cudaGetLastError() == 400);
		OK(cudaIpcOpenEventHandle(&event, handle));
		OK(cudaStreamCreateWithFlags(&stream, 1));
		OK(cudaMalloc((void **)&value, 4));
		OK(cudaMemset(value, 0, 4));
		OK(cudaStreamWaitEvent(stream, event, 0));
		OK(launch(&add, 1, 1, value, 1, stream));
		REQUIRE(cudaEventQuery(event) == 600 && cudaStreamQuery(stream) == 600);
		if (killed)
			REQUIRE(kill(parent, SIGKILL) == 0);
		REQUIRE(write(to_parent[1], "x", 1) == 1);
		OK(cudaEventSynchronize(event));
		OK(cudaStreamSynchronize(stream));
		OK(cudaMemcpy(&got, value, 4, 2));
		REQUIRE(got == 1);
		_exit(0);
	}
	pid_t owner = killed ? fork() : 0;
	if (owner == 0) {
		void *event, *stream;
		uint32_t *flag;
		struct handle handle;
		pid_t self = getpid();
		OK(cudaStreamCreateWithFlags(&stream, 1));
		OK(cudaEventCreate(&event));
		OK(cudaMallocHost((void **)&flag, 4));
		*flag = 0;
		OK(launch(&await, 1, 1, flag, 0, stream));
		OK(cudaEventRecord(event, stream));
		OK(cudaIpcGetEventHandle(&handle, event));
		REQUIRE(write(to_child[1], &handle, sizeof handle) == sizeof handle);
		REQUIRE(write(to_child[1], &self, sizeof self) == sizeof self);
		REQUIRE(read(to_parent[0], &byte, 1) == 1);
		if (killed)
			pause();
		*flag = 1;
		OK(cudaStreamSynchronize(stream));
	}
	REQUIRE(waitpid(child, &status, 0) == child && status == 0);
	REQUIRE(!killed || (waitpid(owner, &status, 0) == owner && WIFSIGNALED(status)));
}

/* NCCL's structure for NVML's PCI address is 16 bytes shorter than NVML's own. */
static void short_address(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	REQUIRE(library);
	int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
	int (*by_index)(unsigned, void **) = (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	int (*address)(void *, void *) = (int (*)(void *, void *))dlsym(library, "nvmlDeviceGetPciInfo_v3");
	REQUIRE(init && by_index && address);
	void *device;
	char found[68];
	const char text[] = "0000DB00:11:00.0";
	const size_t at = 16 + 5 * sizeof(unsigned), end = at + sizeof text;
	memset(found, 0x5a, sizeof found);
	REQUIRE(init() == 0 && by_index(1, &device) == 0 && address(device, found) == 0);
	REQUIRE(strcmp(found, "DB00:11:00.0") == 0 && memcmp(found + at, text, sizeof text) == 0);
	for (size_t i = end; i < sizeof found; i++)
		REQUIRE(found[i] == 0x5a);
	dlclose(library);
}

/* The switch above a PCI function: two bridges up, as NCCL looks for it. */
static char *switch_of(const char *function)
{
	char path[320];
	REQUIRE(snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/../..", function) > 0);
	char *found = realpath(path, NULL);
	REQUIRE(found);
	return found;
}

static void check_file(const char *folder, const char *name, const char *value)
{
	char path[320], line[16] = "";
	REQUIRE(snprintf(path, sizeof path, "%s/%s", folder, name) > 0);
	FILE *file = fopen(path, "r");
	REQUIRE(file && fgets(line, sizeof line, file) && strncmp(line, value, strlen(value)) == 0);
	fclose(file);
}

/*
 * GPUs and HCAs are PCI functions with a bus and a bridge of their own, pairs of them below a switch: libraries take
 * the HCA that is near, and two functions of one bus for ports of one NIC.
 */
static void paths(void)
{
	char name[16], path[320];
	int device;
	OK(cudaDeviceGetPCIBusId(name, sizeof name, 1));
	REQUIRE(strcmp(name, "DB00:11:00.0") == 0);
	OK(cudaDeviceGetByPCIBusId(&device, name));
	REQUIRE(device == 1);
	char *bridge = realpath("/sys/class/pci_bus/db00:11/device", NULL);
	REQUIRE(bridge && snprintf(path, sizeof path, "%s/db00:11:00.0", bridge) > 0);
	check_file(bridge, "class", "0x060400");
	char *function = realpath("/sys/class/pci_bus/db00:11/../../db00:11:00.0", NULL);
	REQUIRE(function && strcmp(function, path) == 0);
	char *listed = realpath("/sys/bus/pci/devices/db00:11:00.0", NULL);
	REQUIRE(listed && strcmp(listed, path) == 0);
	check_file(function, "vendor", "0x10de");
	check_file("/proc", "modules", "nvidia_peermem "); /* MSCCL++ looks for it there */
	char *hcas[2], *near[2];
	for (int i = 0; i < 2; i++) {
		REQUIRE(snprintf(path, sizeof path, "/sys/class/infiniband/mlx5_%d/device", i) > 0);
		hcas[i] = realpath(path, NULL);
		REQUIRE(hcas[i]);
		check_file(hcas[i], "vendor", "0x15b3");
		near[i] = switch_of(strrchr(hcas[i], '/') + 1);
		REQUIRE(snprintf(path, sizeof path, "db00:%02x:00.0", 0x10 + i) > 0);
		char *of_gpu = switch_of(path);
		REQUIRE(strcmp(of_gpu, near[i]) == 0);
		check_file(near[i], "class", "0x060400");
		/* The switch, too, is found by its bus. */
		char *up = strrchr(near[i], '/') + 1;
		REQUIRE(snprintf(path, sizeof path, "/sys/class/pci_bus/%.7s/../../%s", up, up) > 0);
		char *found = realpath(path, NULL);
		REQUIRE(found && strcmp(found, near[i]) == 0);
		free(found);
		free(of_gpu);
	}
	REQUIRE(strcmp(near[0], near[1]) != 0);
	char *first = strrchr(hcas[0], '/') + 1, *second = strrchr(hcas[1], '/') + 1;
	REQUIRE(strncmp(first, second, strlen("db00:80")) != 0);
	free(bridge);
	free(function);
	free(listed);
	for (int i = 0; i < 2; i++) {
		free(hcas[i]);
		free(near[i]);
	}
}

/* A thread has no current context until a call needs one; NVSHMEM waits for the choice of a GPU so. */
static void contexts(void)
{
	void *context, *popped;
	int device;
	REQUIRE(cuCtxGetDevice(&device) == 201 && cuCtxSynchronize() == 201 && cuCtxPopCurrent_v2(NULL) == 201);
	OK(cuCtxGetCurrent(&context));
	REQUIRE(!context);
	OK(cudaSetDevice(1));
	OK(cuCtxGetDevice(&device));
	OK(cuCtxGetCurrent(&context));
	REQUIRE(device == 1 && context);
	OK(cuCtxSetCurrent(NULL));
	REQUIRE(cuCtxGetDevice(&device) == 201);
	OK(cuCtxPushCurrent_v2(context));
	OK(cuCtxSynchronize());
	OK(cuCtxPopCurrent_v2(&popped));
	REQUIRE(popped == context && cuCtxGetDevice(&device) == 201);
	OK(cuCtxCreate_v2(&context, 0, 1));
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuCtxDestroy_v2(context)); /* current to no thread */
	OK(cuCtxCreate_v2(&context, 0, 1));
	OK(cuCtxDestroy_v2(context));
	REQUIRE(cuCtxGetDevice(&device) == 201 && cuCtxDestroy_v2(NULL) == 201);
	OK(cudaSetDevice(0));
	OK(cudaFree(NULL));
	OK(cuCtxGetDevice(&device));
	REQUIRE(device == 0);
}

static void *in_thread(void *unused)
{
	contexts();
	return unused;
}

int main(int count, char **words)
{
	void **handle = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(handle, &add, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, &await, NULL, "await", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, &barrier_trap, NULL, "barrier_trap", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, &step, NULL, "step", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	if (count > 1 && strcmp(words[1], "wild") == 0) {
		uint64_t address;
		OK(launch(&add, 1, 1, (void *)0x123450, 1, NULL));
		REQUIRE(cudaDeviceSynchronize() == 700);
		REQUIRE(cuMemAlloc_v2(&address, 8) == 700); /* the error stays */
		OK(cudaDeviceReset());
		OK(cuMemAlloc_v2(&address, 8));
	} else if (count > 1 && strcmp(words[1], "errors") == 0) {
		static const struct {
			uint32_t what;
			uint64_t address;
			int error;
		} cases[] = {{0, 0, 710}, {1, 0, 719}, {2, 0x123450, 700}, {2, 0x123451, 716}};
		for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
			OK(launch(&barrier_trap, 1, 1, (void *)cases[i].address, cases[i].what, NULL));
			REQUIRE(cudaDeviceSynchronize() == cases[i].error);
			OK(cudaDeviceReset());
		}
	} else if (count > 1 && strcmp(words[1], "fault") == 0) {
		uint64_t address;
		OK(launch(&add, 1, 1, NULL, 0, NULL));
		REQUIRE(cudaDeviceSynchronize() == 719);
		REQUIRE(cuMemAlloc_v2(&address, 8) == 719); /* the error stays */
	} else if (count > 1 && strcmp(words[1], "machine-code") == 0) {
		REQUIRE(launch(&add, 1, 1, NULL, 1, NULL) == 209);
	} else if (count > 1 && strcmp(words[1], "spin") == 0) {
		uint32_t *flag;
		OK(cudaMalloc((void **)&flag, 1 << 20));
		OK(launch(&await, 1, 1, flag, 0, NULL));
		printf("spinning\n");
		fflush(stdout);
		cudaDeviceSynchronize();
	} else {
		int devices;
		void *array, *found;
		int status;
		unsigned flags;
		processes();
		shared_events(true);
		shared_events(false);
		OK(cudaGetDeviceCount(&devices));
		REQUIRE(devices == 2);
		paths();
		short_address();
		pthread_t thread;
		REQUIRE(pthread_create(&thread, NULL, in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
		memory();
		streams();
		graphs(0);
		nodes();
		captured_nodes();
		OK(cudaSetDevice(1));
		memory();
		graphs(1);
		nodes();
		REQUIRE(cudaMallocArray(&array, NULL, 1, 1, 0) == 801 && cudaGetLastError() == 801 && cudaGetLastError() == 0);
		REQUIRE(launch(&add, 1, 2048, NULL, 0, NULL) == 9);
		OK(cuCtxGetFlags(&flags));
		OK(cuCtxSetFlags(flags | 0x80)); /* NVSHMEM asks for copies that wait */
		OK(cuCtxGetFlags(&flags));
		REQUIRE((flags & 0x80) && cuCtxSetFlags(0x100) == 1);
		OK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status));
		REQUIRE(found == (void *)cuMemAlloc_v2 && status == 0);
	}
	printf("ok\n");
	return 0;
}
