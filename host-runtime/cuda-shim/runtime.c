/*
 * The CUDA runtime, libcudart.so.13 and, with RUNTIME 12, libcudart.so.12: the published API and what nvcc's code calls.
 * Functions that are not here are in unserved.c.
 */
#define _GNU_SOURCE
#include "core.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13, INVALID_DEVICE_FUNCTION = 98 };

struct dim {
	unsigned x, y, z;
};

static __thread int last;

static int result(int error)
{
	if (error != OK && error != NOT_READY)
		last = error;
	return error;
}

/* Keeps the error of a function of unserved.c. */
int runtime_result(int error)
{
	return result(error);
}

/* Registration by nvcc's code, before main. */

struct binary {
	const void *wrapper;
	uint64_t module[16]; /* of each device; 0 where it is not loaded */
	struct binary *next;
};

struct symbol {
	const void *host;
	const char *name;
	struct binary *binary;
	size_t bytes;
	void **managed; /* the variable that gets the address */
	struct symbol *next;
	int dynamic_shared[16];
};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static struct binary *binaries;
static struct symbol *functions, *variables;

API void **__cudaRegisterFatBinary(void *wrapper)
{
	struct binary *fresh = calloc(1, sizeof *fresh);
	fresh->wrapper = wrapper;
	fresh->next = binaries;
	binaries = fresh;
	return (void **)fresh;
}

API void __cudaRegisterFatBinaryEnd(void **binary)
{
	(void)binary;
}

API void __cudaUnregisterFatBinary(void **binary)
{
	(void)binary;
}

static struct symbol *add(struct symbol **list, const void *host, const char *name, void **binary)
{
	struct symbol *fresh = calloc(1, sizeof *fresh);
	fresh->host = host;
	fresh->name = name;
	fresh->binary = (struct binary *)binary;
	fresh->next = *list;
	*list = fresh;
	return fresh;
}

API void __cudaRegisterFunction(void **binary, const char *host, char *device, const char *name, int limit, void *thread,
				void *block, void *block_size, void *grid_size, int *warp)
{
	(void)device, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp;
	add(&functions, host, name, binary);
}

API void __cudaRegisterVar(void **binary, char *host, char *device, const char *name, int external, size_t bytes,
			   int constant, int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	add(&variables, host, name, binary)->bytes = bytes;
}

API void __cudaRegisterManagedVar(void **binary, void **host, char *device, const char *name, int external, size_t bytes,
				  int constant, int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	struct symbol *fresh = add(&variables, host, name, binary);
	fresh->bytes = bytes;
	fresh->managed = host;
}

static int load(struct binary *binary)
{
	pthread_mutex_lock(&loading);
	int error = OK;
	if (!binary->module[doorbell_device]) {
		error = doorbell_load_parts(&binary->wrapper, 1, &binary->module[doorbell_device]);
		for (struct symbol *each = variables; each && error == OK; each = each->next)
			if (each->managed && each->binary == binary && !*each->managed)
				error = doorbell_variable(binary->module[doorbell_device], each->name, each->managed, NULL);
	}
	pthread_mutex_unlock(&loading);
	return error;
}

API char __cudaInitModule(void **binary)
{
	return load((struct binary *)binary) == OK;
}

static struct symbol *find(struct symbol *list, const void *host)
{
	while (list && list->host != host)
		list = list->next;
	return list;
}

static int function_of(const void *host, struct doorbell_function **found, struct symbol **as)
{
	struct symbol *symbol = find(functions, host);
	if (!symbol)
		return INVALID_DEVICE_FUNCTION;
	int error = load(symbol->binary);
	if (error == OK)
		error = doorbell_function(symbol->binary->module[doorbell_device], symbol->name, found);
	if (as)
		*as = symbol;
	return error == NOT_FOUND ? INVALID_DEVICE_FUNCTION : error;
}

static int variable_of(const void *host, void **address, size_t *bytes)
{
	struct symbol *symbol = find(variables, host);
	if (!symbol)
		return INVALID_SYMBOL;
	int error = load(symbol->binary);
	return error != OK ? error : doorbell_variable(symbol->binary->module[doorbell_device], symbol->name, address, bytes);
}

/* Launches */

struct configuration {
	struct dim grid, block;
	size_t shared;
	void *stream;
};

#define NESTED 16
static __thread struct configuration pushed[NESTED];
static __thread int depth;

API unsigned __cudaPushCallConfiguration(struct dim grid, struct dim block, size_t shared, void *stream)
{
	if (depth == NESTED)
		return 1;
	pushed[depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

API int __cudaPopCallConfiguration(struct dim *grid, struct dim *block, size_t *shared, void **stream)
{
	if (!depth)
		return result(INVALID_CONFIGURATION);
	struct configuration top = pushed[--depth];
	*grid = top.grid;
	*block = top.block;
	*shared = top.shared;
	*stream = top.stream;
	return OK;
}

static int launch(const void *host, struct dim grid, struct dim block, void **parameters, size_t shared, void *stream,
		  bool cooperative)
{
	struct doorbell_function *function;
	int error = function_of(host, &function, NULL);
	if (error != OK)
		return result(error);
	struct doorbell_launch shape = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream, cooperative};
	error = doorbell_launch(function, &shape, parameters, NULL, 0);
	return result(error == INVALID_VALUE ? INVALID_CONFIGURATION : error);
}

API int cudaLaunchKernel(const void *function, struct dim grid, struct dim block, void **parameters, size_t shared,
			 void *stream)
{
	return launch(function, grid, block, parameters, shared, stream, false);
}

API int __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = function;
	return OK;
}

API int __cudaLaunchKernel(const void *kernel, struct dim grid, struct dim block, void **parameters, size_t shared,
			   void *stream)
{
	return launch(kernel, grid, block, parameters, shared, stream, false);
}

API int cudaLaunchCooperativeKernel(const void *function, struct dim grid, struct dim block, void **parameters,
				    size_t shared, void *stream)
{
	return launch(function, grid, block, parameters, shared, stream, true);
}

struct attribute {
	int id;
	char pad[4];
	unsigned value[16];
};

struct launch_config {
	struct dim grid, block;
	size_t shared;
	void *stream;
	struct attribute *attributes;
	unsigned count;
};

enum { COOPERATIVE = 2, CLUSTER = 4 };

API int cudaLaunchKernelExC(const struct launch_config *config, const void *function, void **parameters)
{
	bool cooperative = false;
	for (unsigned i = 0; i < config->count; i++) {
		const unsigned *value = config->attributes[i].value;
		if (config->attributes[i].id == COOPERATIVE)
			cooperative = value[0];
		if (config->attributes[i].id == CLUSTER && value[0] * value[1] * value[2] > 1)
			return result(doorbell_missing("cudaLaunchKernelExC with clusters of several blocks"));
	}
	return launch(function, config->grid, config->block, parameters, config->shared, config->stream, cooperative);
}

struct function_attributes {
	size_t shared, constant, local;
	int threads, registers, ptx, binary, cache, dynamic_shared, carveout;
	int cluster_must_be_set, cluster[3], policy, not_portable, reserved[16];
};

API int cudaFuncGetAttributes(struct function_attributes *attributes, const void *function)
{
	struct doorbell_function *found;
	struct symbol *symbol;
	int error = function_of(function, &found, &symbol);
	if (error == OK) {
		memset(attributes, 0, sizeof *attributes);
		attributes->threads = 1024;
		attributes->registers = 32;
		attributes->ptx = attributes->binary = 90;
		attributes->dynamic_shared = symbol->dynamic_shared[doorbell_device];
		attributes->carveout = -1;
	}
	return result(error);
}

API int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
	struct doorbell_function *found;
	struct symbol *symbol;
	int error = function_of(function, &found, &symbol);
	if (error == OK && attribute == 8)
		symbol->dynamic_shared[doorbell_device] = value;
	return result(error);
}

API int cudaFuncSetCacheConfig(const void *function, int config)
{
	(void)function, (void)config;
	return OK;
}

API int cudaFuncSetSharedMemConfig(const void *function, int config)
{
	(void)function, (void)config;
	return OK;
}

API int cudaGetFuncBySymbol(void **function, const void *symbol)
{
	return result(function_of(symbol, (struct doorbell_function **)function, NULL));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared)
{
	(void)function, (void)shared;
	if (threads < 1)
		return result(INVALID_VALUE);
	return result(doorbell_attribute(blocks, 106, doorbell_device));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
							       size_t shared, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

/* Devices */

static int count_of(int *count)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	*count = error == OK ? (int)gpus->count : 0;
	return error;
}

API int cudaGetDeviceCount(int *count)
{
	return result(count_of(count));
}

API int cudaSetDevice(int device)
{
	int count;
	int error = count_of(&count);
	if (error == OK && (device < 0 || device >= count))
		error = INVALID_DEVICE;
	if (error == OK) {
		doorbell_device = device;
		doorbell_current = true;
	}
	return result(error);
}

API int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device, (void)device_flags, (void)flags;
	int count;
	return result(count_of(&count));
}

API int cudaGetDevice(int *device)
{
	*device = doorbell_device;
	return OK;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	return result(doorbell_attribute(value, attribute, device));
}

API int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	return result(doorbell_by_bus_id(device, text));
}

API int cudaDeviceGetPCIBusId(char *text, int length, int device)
{
	return result(doorbell_bus_id(text, length, device));
}

API int cudaDeviceSynchronize(void)
{
	return result(CALL(GPU_SYNCHRONIZE, NULL, 0, (uint64_t)doorbell_device, (uint64_t)-1));
}

API int cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

API int cudaDeviceReset(void)
{
	int error = CALL(GPU_RESET, NULL, 0, 0);
	for (struct binary *each = binaries; each; each = each->next)
		if (each->module[doorbell_device]) {
			CALL(GPU_UNLOAD, NULL, 0, each->module[doorbell_device]);
			each->module[doorbell_device] = 0;
		}
	return result(error);
}

API int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	int count;
	int error = count_of(&count);
	*can = device >= 0 && peer >= 0 && device < count && peer < count && doorbell_peers(device, peer);
	return result(error);
}

static unsigned peers[16];

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	int can;
	if (flags || cudaDeviceCanAccessPeer(&can, doorbell_device, peer) != OK || !can)
		return result(INVALID_DEVICE);
	bool enabled = peers[doorbell_device] >> peer & 1;
	peers[doorbell_device] |= 1u << peer;
	return result(enabled ? 704 : OK);
}

API int cudaDeviceDisablePeerAccess(int peer)
{
	if (peer < 0 || peer > 15 || !(peers[doorbell_device] >> peer & 1))
		return result(705);
	peers[doorbell_device] &= ~(1u << peer);
	return OK;
}

API int cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
	int error = cudaDeviceCanAccessPeer(value, from, to);
	if (attribute == 1) /* performance rank */
		*value = 0;
	return error;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return OK;
}

static size_t limits[16] = {1024, 1 << 20, 8 << 20};

API int cudaDeviceGetLimit(size_t *value, int limit)
{
	if (limit < 0 || limit > 15)
		return result(INVALID_VALUE);
	*value = limits[limit];
	return OK;
}

API int cudaDeviceSetLimit(int limit, size_t value)
{
	if (limit < 0 || limit > 15)
		return result(INVALID_VALUE);
	limits[limit] = value;
	return OK;
}

API int cudaDeviceGetCacheConfig(int *config)
{
	*config = 0;
	return OK;
}

API int cudaDeviceSetCacheConfig(int config)
{
	(void)config;
	return OK;
}

static unsigned device_flags;

API int cudaSetDeviceFlags(unsigned flags)
{
	device_flags = flags;
	return OK;
}

API int cudaGetDeviceFlags(unsigned *flags)
{
	*flags = device_flags | 8; /* host memory can be mapped */
	return OK;
}

API int cudaDriverGetVersion(int *version)
{
	*version = 13000;
	return OK;
}

API int cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME * 1000;
	return OK;
}

API int cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope)
{
	(void)target, (void)scope; /* a write of the HCA is there when it says so */
	return OK;
}

/* Fields in the order of driver_types.h; version 12 has some more. */
struct properties {
	char name[256];
	unsigned char uuid[16];
	char luid[8];
	unsigned luid_mask;
	size_t memory, shared;
	int registers, warp;
	size_t pitch;
	int threads, block[3], grid[3];
#if RUNTIME == 12
	int clock;
#endif
	size_t constant;
	int major, minor;
	size_t texture_alignment, texture_pitch;
#if RUNTIME == 12
	int overlap;
#endif
	int multiprocessors;
#if RUNTIME == 12
	int timeout;
#endif
	int integrated, maps_host;
#if RUNTIME == 12
	int compute_mode;
#endif
	int texture1[2];
#if RUNTIME == 12
	int texture1_linear;
#endif
	int textures[2 + 2 + 3 + 2 + 3 + 3 + 1 + 2 + 3 + 2], surfaces[1 + 2 + 3 + 2 + 3 + 1 + 2];
	size_t surface_alignment;
	int concurrent_kernels, ecc, bus, device, domain, tcc, copy_engines, unified;
#if RUNTIME == 12
	int memory_clock;
#endif
	int bus_width, l2, l2_persisting, sm_threads, priorities, global_l1, local_l1;
	size_t sm_shared;
	int sm_registers, managed, multi_gpu, multi_gpu_group, host_atomics;
#if RUNTIME == 12
	int double_ratio;
#endif
	int pageable, concurrent_managed, preemption, host_pointer, cooperative;
#if RUNTIME == 12
	int cooperative_devices;
#endif
	size_t shared_optin;
	int host_tables, direct_managed, sm_blocks, access_window;
	size_t shared_reserved;
	int registers_host, sparse, registers_read_only, timeline, pools, rdma;
	unsigned rdma_flush;
	int rdma_order;
	unsigned pool_handles;
	int deferred, ipc_events, clusters, function_pointers;
	int rest[64 + 8];
};

static int value_of(int attribute, int device)
{
	int value = 0;
	doorbell_attribute(&value, attribute, device);
	return value;
}

static int properties(struct properties *of, int device, size_t bytes)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	if (error != OK)
		return error;
	if (device < 0 || device >= (int)gpus->count)
		return INVALID_DEVICE;
	struct properties all = {.memory = gpus->memory, .shared = 49152, .registers = 65536, .warp = 32};
	snprintf(all.name, sizeof all.name, "Doorbell PTX VM");
	memcpy(all.uuid, "doorbell-ptx-gpu", 16);
	all.uuid[15] = (unsigned char)device;
	all.pitch = 2147483647;
	all.threads = (int)gpus->threads;
	for (int i = 0; i < 3; i++) {
		all.block[i] = value_of(2 + i, device);
		all.grid[i] = value_of(5 + i, device);
	}
	all.constant = 65536;
	all.major = value_of(75, device);
	all.minor = value_of(76, device);
	all.texture_alignment = all.surface_alignment = 512;
	all.texture_pitch = 32;
	all.multiprocessors = (int)gpus->multiprocessors;
	all.maps_host = all.concurrent_kernels = all.unified = all.priorities = all.managed = 1;
	all.domain = PCI_DOMAIN;
	all.bus = value_of(33, device);
	all.copy_engines = 3;
	all.bus_width = value_of(37, device);
	all.l2 = value_of(38, device);
	all.sm_threads = value_of(39, device);
	all.sm_shared = (size_t)value_of(81, device);
	all.sm_registers = 65536;
	all.concurrent_managed = all.preemption = all.cooperative = 1;
	all.shared_optin = gpus->shared;
	all.sm_blocks = value_of(106, device);
	all.shared_reserved = 1024;
	all.registers_host = all.pools = all.rdma = 1;
	all.rdma_flush = 1;
	all.rdma_order = 200;
#if RUNTIME == 12
	all.clock = all.memory_clock = 1000000;
	all.overlap = 1;
#endif
	memcpy(of, &all, bytes < sizeof all ? bytes : sizeof all);
	return OK;
}

#if RUNTIME == 12
API int cudaGetDeviceProperties_v2(struct properties *of, int device)
{
	return result(properties(of, device, 1032));
}
#else
API int cudaGetDeviceProperties(struct properties *of, int device)
{
	return result(properties(of, device, 1008));
}
#endif

/* Memory */

API int cudaMalloc(void **address, size_t bytes)
{
	if (!bytes) {
		*address = NULL;
		return OK;
	}
	return result(doorbell_allocate(GPU_DEVICE, bytes, address));
}

API int cudaMallocHost(void **address, size_t bytes)
{
	return result(doorbell_allocate(GPU_HOST, bytes ? bytes : 1, address));
}

API int cudaHostAlloc(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return cudaMallocHost(address, bytes);
}

API int cudaMallocManaged(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return result(doorbell_allocate(GPU_MANAGED, bytes, address));
}

API int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) & ~511ul;
	return cudaMalloc(address, *pitch * height);
}

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

API int cudaMalloc3D(struct pitched *of, struct extent extent)
{
	of->width = extent.width;
	of->height = extent.height;
	return cudaMallocPitch(&of->address, &of->pitch, extent.width, extent.height * extent.depth);
}

API int cudaMallocAsync(void **address, size_t bytes, void *stream)
{
	(void)stream;
	return cudaMalloc(address, bytes);
}

API int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream)
{
	(void)pool, (void)stream;
	return cudaMalloc(address, bytes);
}

API int cudaFree(void *address)
{
	return result(doorbell_free(address));
}

API int cudaFreeHost(void *address)
{
	return result(doorbell_free(address));
}

API int cudaFreeAsync(void *address, void *stream)
{
	return result(address ? CALL(GPU_FREE, NULL, 0, (uint64_t)address, (uint64_t)doorbell_device, doorbell_stream(stream))
			      : OK);
}

API int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
	*pool = (void *)(uint64_t)(0x100 + device);
	return OK;
}

/* Pools keep nothing: what is freed is free for all. */
API int cudaMemPoolCreate(void **pool, const void *properties)
{
	(void)properties;
	return cudaDeviceGetDefaultMemPool(pool, doorbell_device);
}

API int cudaMemPoolDestroy(void *pool)
{
	(void)pool;
	return OK;
}

API int cudaDeviceSetMemPool(int device, void *pool)
{
	(void)device, (void)pool;
	return OK;
}

API int cudaDeviceGetMemPool(void **pool, int device)
{
	return cudaDeviceGetDefaultMemPool(pool, device);
}

API int cudaMemPoolSetAttribute(void *pool, int attribute, void *value)
{
	(void)pool, (void)attribute, (void)value;
	return OK;
}

struct access {
	int kind, device, flags; /* cudaMemAccessDesc: cudaMemLocationTypeDevice, and the rights of that device */
};

/* A peer has both rights without being asked for; who has no way to the memory cannot be given any. */
API int cudaMemPoolSetAccess(void *pool, const struct access *rights, size_t count)
{
	int owner = (int)((uint64_t)pool - 0x100), can;
	for (size_t i = 0; i < count; i++) {
		if (rights[i].kind != 1)
			return result(INVALID_VALUE);
		if (rights[i].device != owner &&
		    (cudaDeviceCanAccessPeer(&can, rights[i].device, owner) != OK || !can))
			return result(INVALID_DEVICE);
	}
	return OK;
}

API int cudaMemPoolTrimTo(void *pool, size_t bytes)
{
	(void)pool, (void)bytes;
	return OK;
}

API int cudaMemGetInfo(size_t *free_bytes, size_t *bytes)
{
	uint64_t out[2];
	int error = CALL(GPU_MEMORY, out, 2, (uint64_t)doorbell_device);
	*free_bytes = out[0];
	*bytes = out[1];
	return result(error);
}

API int cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
	(void)flags;
	return result(doorbell_register(address, bytes));
}

API int cudaHostUnregister(void *address)
{
	return result(doorbell_unregister(address));
}

API int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)flags;
	*device = (void *)doorbell_translate(host, 1);
	return result(*device ? OK : INVALID_VALUE);
}

API int cudaHostGetFlags(unsigned *flags, void *host)
{
	*flags = 2; /* mapped */
	return result(doorbell_translate(host, 1) ? OK : INVALID_VALUE);
}

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

API int cudaPointerGetAttributes(struct pointer_attributes *of, const void *address)
{
	static const int types[] = {2, 1, 3, 1, 2}; /* of enum gpu_memory: device, host, managed */
	memset(of, 0, RUNTIME == 12 ? 24 : sizeof *of);
	of->device = -2; /* cudaInvalidDeviceId */
	uint64_t at = doorbell_translate(address, 1), out[4];
	if (!at) {
		of->host_pointer = (void *)address;
		return OK;
	}
	if (doorbell_pointer(at, out) == OK) {
		of->type = types[out[0] % 5];
		of->device = (int)out[1];
		of->device_pointer = (void *)at;
		of->host_pointer = of->type == 2 ? NULL : (void *)address;
	} else {
		of->host_pointer = (void *)address;
	}
	return OK;
}

API int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	(void)kind;
	return result(doorbell_copy(to, from, bytes, NULL, true));
}

API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	(void)kind;
	return result(doorbell_copy(to, from, bytes, stream, false));
}

API int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	(void)to_device, (void)from_device;
	return cudaMemcpy(to, from, bytes, 4);
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
	(void)to_device, (void)from_device;
	return cudaMemcpyAsync(to, from, bytes, 4, stream);
}

API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
		     int kind)
{
	(void)kind;
	return result(doorbell_copy2d(to, to_pitch, from, from_pitch, width, height, NULL, true));
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			  int kind, void *stream)
{
	(void)kind;
	return result(doorbell_copy2d(to, to_pitch, from, from_pitch, width, height, stream, false));
}

struct copy3d {
	void *from_array;
	size_t from_x, from_y, from_z;
	struct pitched from;
	void *to_array;
	size_t to_x, to_y, to_z;
	struct pitched to;
	struct extent extent;
	int kind;
};

static int copy3d(const struct copy3d *of, void *stream, bool wait)
{
	if (of->from_array || of->to_array)
		return doorbell_missing("cudaMemcpy3D of arrays");
	int error = OK;
	for (size_t z = 0; z < of->extent.depth && error == OK; z++) {
		char *to = (char *)of->to.address + ((of->to_z + z) * of->to.height + of->to_y) * of->to.pitch + of->to_x;
		char *from = (char *)of->from.address +
			     ((of->from_z + z) * of->from.height + of->from_y) * of->from.pitch + of->from_x;
		error = doorbell_copy2d(to, of->to.pitch, from, of->from.pitch, of->extent.width, of->extent.height, stream,
				  wait);
	}
	return error;
}

API int cudaMemcpy3D(const struct copy3d *of)
{
	return result(copy3d(of, NULL, true));
}

API int cudaMemcpy3DAsync(const struct copy3d *of, void *stream)
{
	return result(copy3d(of, stream, false));
}

API int cudaMemset(void *to, int value, size_t bytes)
{
	return result(doorbell_fill(to, bytes, (uint64_t)value, 1, bytes, 1, NULL));
}

API int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
	return result(doorbell_fill(to, bytes, (uint64_t)value, 1, bytes, 1, stream));
}

API int cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	return result(doorbell_fill(to, pitch, (uint64_t)value, 1, width, height, NULL));
}

API int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	return result(doorbell_fill(to, pitch, (uint64_t)value, 1, width, height, stream));
}

/* Managed memory is everywhere: advice and prefetches have nothing to do. */
API int cudaMemAdvise(void)
{
	return OK;
}

API int cudaMemPrefetchAsync(void)
{
	return OK;
}

API int cudaStreamAttachMemAsync(void)
{
	return OK;
}

API int cudaGetSymbolAddress(void **address, const void *symbol)
{
	return result(variable_of(symbol, address, NULL));
}

API int cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	return result(variable_of(symbol, NULL, bytes));
}

static int copy_symbol(const void *symbol, void *other, size_t bytes, size_t offset, bool to_symbol, void *stream,
		       bool wait)
{
	void *address;
	size_t size;
	int error = variable_of(symbol, &address, &size);
	if (error == OK && (offset > size || bytes > size - offset))
		error = INVALID_VALUE;
	if (error != OK)
		return result(error);
	char *at = (char *)address + offset;
	return result(to_symbol ? doorbell_copy(at, other, bytes, stream, wait) : doorbell_copy(other, at, bytes, stream, wait));
}

API int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
	(void)kind;
	return copy_symbol(symbol, (void *)from, bytes, offset, true, NULL, true);
}

API int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int kind, void *stream)
{
	(void)kind;
	return copy_symbol(symbol, (void *)from, bytes, offset, true, stream, false);
}

API int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
	(void)kind;
	return copy_symbol(symbol, to, bytes, offset, false, NULL, true);
}

API int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int kind, void *stream)
{
	(void)kind;
	return copy_symbol(symbol, to, bytes, offset, false, stream, false);
}

struct ipc_handle {
	unsigned char bytes[64];
};

API int cudaIpcGetMemHandle(struct ipc_handle *handle, void *address)
{
	return result(doorbell_export(address, handle->bytes));
}

API int cudaIpcGetEventHandle(struct ipc_handle *handle, void *event)
{
	return result(doorbell_export_event(event, handle->bytes));
}

API int cudaIpcOpenEventHandle(void **event, struct ipc_handle handle)
{
	return result(doorbell_import_event(handle.bytes, event));
}

API int cudaIpcOpenMemHandle(void **address, struct ipc_handle handle, unsigned flags)
{
	(void)flags;
	return result(doorbell_import(handle.bytes, address));
}

API int cudaIpcCloseMemHandle(void *address)
{
	return result(doorbell_close_import(address));
}

/* Streams and events */

API int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	(void)priority;
	uint64_t number;
	int error = CALL(GPU_STREAM_CREATE, &number, 1, (uint64_t)doorbell_device, flags & 1);
	*stream = (void *)number;
	return result(error);
}

API int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

API int cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

API int cudaStreamDestroy(void *stream)
{
	if (!doorbell_stream(stream))
		return result(INVALID_HANDLE);
	return result(CALL(GPU_STREAM_DESTROY, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream)));
}

API int cudaStreamSynchronize(void *stream)
{
	return result(doorbell_synchronize(stream));
}

API int cudaStreamQuery(void *stream)
{
	return result(CALL(GPU_QUERY, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream)));
}

API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	return result(doorbell_event(false, event, stream, flags));
}

API int cudaStreamGetPriority(void *stream, int *priority)
{
	(void)stream;
	*priority = 0;
	return OK;
}

API int cudaStreamGetFlags(void *stream, unsigned *flags)
{
	(void)stream;
	*flags = 0;
	return OK;
}

API int cudaStreamGetDevice(void *stream, int *device)
{
	(void)stream;
	*device = doorbell_device;
	return OK;
}

API int cudaStreamGetId(void *stream, unsigned long long *id)
{
	*id = (unsigned long long)stream;
	return OK;
}

API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	return result(doorbell_host_function(stream, function, data));
}

struct callback {
	void (*function)(void *, int, void *);
	void *stream, *data;
};

static void call_back(void *of)
{
	struct callback *callback = of;
	callback->function(callback->stream, OK, callback->data);
	free(callback);
}

API int cudaStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data, unsigned flags)
{
	(void)flags;
	struct callback *callback = malloc(sizeof *callback);
	*callback = (struct callback){function, stream, data};
	int error = doorbell_host_function(stream, call_back, callback);
	if (error != OK)
		free(callback);
	return result(error);
}

API int cudaEventCreateWithFlags(void **event, unsigned flags)
{
	(void)flags;
	uint64_t number;
	int error = doorbell_call(GPU_EVENT_CREATE, NULL, 0, NULL, 0, &number, 1);
	*event = (void *)number;
	return result(error);
}

API int cudaEventCreate(void **event)
{
	return cudaEventCreateWithFlags(event, 0);
}

API int cudaEventDestroy(void *event)
{
	return result(CALL(GPU_EVENT_DESTROY, NULL, 0, (uint64_t)event));
}

API int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	return result(doorbell_event(true, event, stream, flags));
}

API int cudaEventRecord(void *event, void *stream)
{
	return cudaEventRecordWithFlags(event, stream, 0);
}

API int cudaEventSynchronize(void *event)
{
	return result(CALL(GPU_EVENT_SYNCHRONIZE, NULL, 0, (uint64_t)event));
}

API int cudaEventQuery(void *event)
{
	return result(CALL(GPU_EVENT_QUERY, NULL, 0, (uint64_t)event));
}

API int cudaEventElapsedTime(float *milliseconds, void *from, void *to)
{
	uint64_t nanos;
	int error = CALL(GPU_EVENT_ELAPSED, &nanos, 1, (uint64_t)from, (uint64_t)to);
	*milliseconds = (float)((double)(int64_t)nanos / 1e6);
	return result(error);
}

/* Errors, and the driver's functions */

API int cudaGetLastError(void)
{
	int error = last;
	last = OK;
	return error;
}

API int cudaPeekAtLastError(void)
{
	return last;
}

API const char *cudaGetErrorString(int error)
{
	return doorbell_error_text(error);
}

API const char *cudaGetErrorName(int error)
{
	static __thread char name[64];
	snprintf(name, sizeof name, error ? "cudaError%s" : "cuda%s", doorbell_error_name(error));
	return name;
}

int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags,
					 int *status)
{
	int found;
	cuGetProcAddress_v2(name, function, (int)version, flags, &found);
	if (status)
		*status = found;
	return OK;
}

API int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status)
{
	return cudaGetDriverEntryPointByVersion(name, function, RUNTIME * 1000, flags, status);
}

API int cudaProfilerStart(void)
{
	return OK;
}

API int cudaProfilerStop(void)
{
	return OK;
}

/* The same with the default stream of each thread, which is the device's one here. */
#define ALIAS(name) __typeof__(name) name##_ptsz __attribute__((alias(#name), visibility("default")))
ALIAS(__cudaLaunchKernel);
ALIAS(cudaLaunchKernel);
ALIAS(cudaLaunchKernelExC);
ALIAS(cudaLaunchCooperativeKernel);
ALIAS(cudaLaunchHostFunc);
ALIAS(cudaMemcpyAsync);
ALIAS(cudaMemcpy2DAsync);
ALIAS(cudaMemcpyToSymbolAsync);
ALIAS(cudaMemcpyFromSymbolAsync);
ALIAS(cudaMemsetAsync);
ALIAS(cudaMemset2DAsync);
ALIAS(cudaMallocAsync);
ALIAS(cudaFreeAsync);
ALIAS(cudaStreamSynchronize);
ALIAS(cudaStreamQuery);
ALIAS(cudaStreamWaitEvent);
ALIAS(cudaEventRecord);
ALIAS(cudaEventRecordWithFlags);
