/* The CUDA driver library, libcuda.so.1: the published API. Functions that are not here are in unserved.c. */
#define _GNU_SOURCE
#include "core.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

typedef uint64_t device_pointer;

/* A context is a device's primary one; its handle is a number beside the device's. */
#define CONTEXT 0x1000u
#define DEPTH 16

static __thread void *stack[DEPTH];
static __thread int depth;

static void *context_of(int device)
{
	return (void *)(uint64_t)(CONTEXT + (unsigned)device);
}

static int check_device(int device)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	return error != OK ? error : device >= 0 && device < (int)gpus->count ? OK : INVALID_DEVICE;
}

/* Devices */

API int cuInit(unsigned flags)
{
	const struct doorbell_gpus *gpus;
	return flags ? INVALID_VALUE : doorbell_open(&gpus);
}

API int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return OK;
}

API int cuDeviceGetCount(int *count)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	*count = error == OK ? (int)gpus->count : 0;
	return error;
}

API int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return check_device(ordinal);
}

API int cuDeviceGetName(char *name, int length, int device)
{
	snprintf(name, (size_t)length, "Doorbell PTX VM");
	return check_device(device);
}

API int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
	memcpy(uuid, "doorbell-ptx-gpu", 16);
	uuid[15] = (unsigned char)device;
	return check_device(device);
}

API int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
	return cuDeviceGetUuid_v2(uuid, device);
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	*bytes = error == OK ? gpus->memory : 0;
	return error != OK ? error : check_device(device);
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	return doorbell_attribute(value, attribute, device);
}

API int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	int error = doorbell_attribute(major, 75, device);
	return error != OK ? error : doorbell_attribute(minor, 76, device);
}

API int cuDeviceGetPCIBusId(char *text, int length, int device)
{
	int error = check_device(device);
	return error != OK ? error : doorbell_bus_id(text, length, device);
}

API int cuDeviceGetByPCIBusId(int *device, const char *text)
{
	return doorbell_by_bus_id(device, text);
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	int error = check_device(device);
	if (error == OK)
		error = check_device(peer);
	*can = error == OK && doorbell_peers(device, peer);
	return error;
}

API int cuDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
	int error = cuDeviceCanAccessPeer(value, from, to);
	if (attribute == 1) /* performance rank */
		*value = 0;
	return error;
}

/* Contexts */

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = context_of(device);
	return check_device(device);
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
	return check_device(device);
}

API int cuDevicePrimaryCtxReset_v2(int device)
{
	int error = check_device(device);
	return error != OK ? error : doorbell_call(GPU_RESET, NULL, 0, NULL, 0, NULL, 0);
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = 1;
	return check_device(device);
}

API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
	(void)flags;
	return check_device(device);
}

static int device_of(const void *context)
{
	return (int)((uint64_t)context - CONTEXT);
}

API int cuCtxGetCurrent(void **context)
{
	*context = doorbell_current ? context_of(doorbell_device) : NULL;
	return OK;
}

API int cuCtxSetCurrent(void *context)
{
	if (context && check_device(device_of(context)) != OK)
		return INVALID_CONTEXT;
	doorbell_current = context;
	doorbell_device = context ? device_of(context) : doorbell_device;
	return OK;
}

API int cuCtxPushCurrent_v2(void *context)
{
	if (!context || check_device(device_of(context)) != OK || depth == DEPTH)
		return INVALID_CONTEXT;
	cuCtxGetCurrent(&stack[depth++]);
	return cuCtxSetCurrent(context);
}

API int cuCtxPopCurrent_v2(void **context)
{
	if (!doorbell_current)
		return INVALID_CONTEXT;
	if (context)
		cuCtxGetCurrent(context);
	return cuCtxSetCurrent(depth ? stack[--depth] : NULL);
}

API int cuCtxGetDevice(int *device)
{
	*device = doorbell_device;
	return doorbell_current ? OK : INVALID_CONTEXT;
}

API int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	(void)flags;
	int error = check_device(device);
	if (error != OK)
		return error;
	*context = context_of(device);
	return cuCtxPushCurrent_v2(*context);
}

API int cuCtxCreate_v3(void **context, void *affinity, int count, unsigned flags, int device)
{
	(void)affinity, (void)count;
	return cuCtxCreate_v2(context, flags, device);
}

API int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device)
{
	(void)parameters;
	return cuCtxCreate_v2(context, flags, device);
}

API int cuCtxDestroy_v2(void *context)
{
	if (!context || check_device(device_of(context)) != OK)
		return INVALID_CONTEXT;
	return doorbell_current && device_of(context) == doorbell_device ? cuCtxPopCurrent_v2(NULL) : OK;
}

API int cuCtxSynchronize(void)
{
	if (!doorbell_current)
		return INVALID_CONTEXT;
	return CALL(GPU_SYNCHRONIZE, NULL, 0, (uint64_t)doorbell_device, (uint64_t)-1);
}

static unsigned context_flags = 8; /* the host is mapped */

API int cuCtxGetFlags(unsigned *flags)
{
	*flags = context_flags;
	return OK;
}

/* No flag changes what is served: copies that CU_CTX_SYNC_MEMOPS is for wait anyway. */
API int cuCtxSetFlags(unsigned flags)
{
	if (flags & ~0xffu)
		return INVALID_VALUE;
	context_flags = flags | 8;
	return OK;
}

API int cuCtxGetApiVersion(void *context, unsigned *version)
{
	(void)context;
	*version = 3020;
	return OK;
}

API int cuCtxGetId(void *context, unsigned long long *id)
{
	*id = (unsigned long long)(context ? context : context_of(doorbell_device));
	return OK;
}

API int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return OK;
}

API int cuCtxSetLimit(int limit, size_t value)
{
	(void)limit, (void)value;
	return OK;
}

API int cuCtxGetLimit(size_t *value, int limit)
{
	(void)limit;
	*value = 0;
	return OK;
}

API int cuCtxSetCacheConfig(int config)
{
	(void)config;
	return OK;
}

API int cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
	(void)flags;
	return check_device(device_of(peer)) == OK ? OK : INVALID_CONTEXT;
}

API int cuCtxDisablePeerAccess(void *peer)
{
	return cuCtxEnablePeerAccess(peer, 0);
}

/* Modules; a library and a kernel are a module and a function here. */

API int cuModuleLoadData(void **module, const void *image)
{
	uint64_t number = 0;
	int error = doorbell_load(image, &number);
	*module = (void *)number;
	return error;
}

API int cuModuleLoadDataEx(void **module, const void *image, unsigned count, void *options, void **values)
{
	(void)count, (void)options, (void)values;
	return cuModuleLoadData(module, image);
}

API int cuModuleLoadFatBinary(void **module, const void *image)
{
	return cuModuleLoadData(module, image);
}

API int cuModuleLoad(void **module, const char *name)
{
	FILE *file = fopen(name, "rbe");
	if (!file)
		return 301; /* file not found */
	fseek(file, 0, SEEK_END);
	long bytes = ftell(file);
	rewind(file);
	char *image = bytes >= 0 ? calloc(1, (size_t)bytes + 8) : NULL;
	int error = image && fread(image, 1, (size_t)bytes, file) == (size_t)bytes ? cuModuleLoadData(module, image)
										     : OUT_OF_MEMORY;
	free(image);
	fclose(file);
	return error;
}

API int cuModuleUnload(void *module)
{
	return CALL(GPU_UNLOAD, NULL, 0, (uint64_t)module);
}

API int cuModuleGetFunction(void **function, void *module, const char *name)
{
	return doorbell_function((uint64_t)module, name, (struct doorbell_function **)function);
}

API int cuModuleGetGlobal_v2(device_pointer *address, size_t *bytes, void *module, const char *name)
{
	return doorbell_variable((uint64_t)module, name, (void **)address, bytes);
}

API int cuModuleGetLoadingMode(int *mode)
{
	*mode = 1; /* eager */
	return OK;
}

API int cuLibraryLoadData(void **library, const void *image, void *jit, void **jit_values, unsigned jit_count,
			  void *options, void **values, unsigned count)
{
	(void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
	return cuModuleLoadData(library, image);
}

API int cuLibraryUnload(void *library)
{
	return cuModuleUnload(library);
}

API int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	return cuModuleGetFunction(kernel, library, name);
}

API int cuLibraryGetModule(void **module, void *library)
{
	*module = library;
	return OK;
}

API int cuLibraryGetGlobal(device_pointer *address, size_t *bytes, void *library, const char *name)
{
	return cuModuleGetGlobal_v2(address, bytes, library, name);
}

API int cuKernelGetFunction(void **function, void *kernel)
{
	*function = kernel;
	return OK;
}

API int cuFuncGetAttribute(int *value, int attribute, const struct doorbell_function *function)
{
	return doorbell_function_attribute(function, attribute, value);
}

API int cuFuncSetAttribute(struct doorbell_function *function, int attribute, int value)
{
	if (attribute == 8)
		function->dynamic_shared = value;
	return OK;
}

API int cuKernelSetAttribute(int attribute, int value, struct doorbell_function *kernel, int device)
{
	(void)device;
	return cuFuncSetAttribute(kernel, attribute, value);
}

API int cuKernelGetAttribute(int *value, int attribute, const struct doorbell_function *kernel, int device)
{
	(void)device;
	return cuFuncGetAttribute(value, attribute, kernel);
}

API int cuFuncSetCacheConfig(void *function, int config)
{
	(void)function, (void)config;
	return OK;
}

API int cuFuncGetName(const char **name, const struct doorbell_function *function)
{
	*name = function->name;
	return OK;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared)
{
	(void)function, (void)threads, (void)shared;
	return doorbell_attribute(blocks, 106, doorbell_device);
}

/* Functions have no registers of their own here: the largest block is as good as any. */
API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads, const struct doorbell_function *function,
						  size_t (*shared_of)(int threads), size_t shared, int limit,
						  unsigned flags)
{
	(void)shared_of, (void)shared, (void)flags;
	int each, multiprocessors, error = doorbell_attribute(&each, 106, doorbell_device);
	if (error == OK)
		error = doorbell_attribute(&multiprocessors, 16, doorbell_device);
	if (error == OK)
		error = doorbell_function_attribute(function, 0, threads);
	if (error != OK)
		return error;
	if (limit > 0 && limit < *threads)
		*threads = limit;
	*blocks = each * multiprocessors;
	return OK;
}

API int cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, const struct doorbell_function *function,
					 size_t (*shared_of)(int threads), size_t shared, int limit)
{
	return cuOccupancyMaxPotentialBlockSizeWithFlags(blocks, threads, function, shared_of, shared, limit, 0);
}

/* Launches */

/* Names of CU_LAUNCH_PARAM_*, between which a packed block of parameters stands. */
enum { PARAMETERS_END, PARAMETERS_POINTER, PARAMETERS_SIZE };

static int launch(const struct doorbell_function *function, const struct doorbell_launch *shape, void **parameters, void **extra)
{
	const void *packed = NULL;
	size_t bytes = 0;
	for (void **at = extra; at && *at != (void *)PARAMETERS_END; at += 2) {
		if (*at == (void *)PARAMETERS_POINTER)
			packed = at[1];
		else if (*at == (void *)PARAMETERS_SIZE)
			bytes = *(size_t *)at[1];
	}
	return doorbell_launch(function, shape, parameters, packed, bytes);
}

API int cuLaunchKernel(const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		       unsigned shared, void *stream, void **parameters, void **extra)
{
	struct doorbell_launch shape = {{gx, gy, gz}, {bx, by, bz}, shared, stream, false};
	return launch(function, &shape, parameters, extra);
}

API int cuLaunchCooperativeKernel(const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				  unsigned bz, unsigned shared, void *stream, void **parameters)
{
	struct doorbell_launch shape = {{gx, gy, gz}, {bx, by, bz}, shared, stream, true};
	return launch(function, &shape, parameters, NULL);
}

struct attribute {
	int id;
	char pad[4];
	unsigned value[16];
};

struct launch_config {
	unsigned grid[3], block[3], shared;
	void *stream;
	struct attribute *attributes;
	unsigned count;
};

API int cuLaunchKernelEx(const struct launch_config *config, const void *function, void **parameters, void **extra)
{
	struct doorbell_launch shape = {.shared = config->shared, .stream = config->stream};
	memcpy(shape.grid, config->grid, sizeof shape.grid);
	memcpy(shape.block, config->block, sizeof shape.block);
	for (unsigned i = 0; i < config->count; i++) {
		const unsigned *value = config->attributes[i].value;
		if (config->attributes[i].id == 2)
			shape.cooperative = value[0];
		if (config->attributes[i].id == 4 && value[0] * value[1] * value[2] > 1)
			return doorbell_missing("cuLaunchKernelEx with clusters of several blocks");
	}
	return launch(function, &shape, parameters, extra);
}

API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	return doorbell_host_function(stream, function, data);
}

/* Memory */

API int cuMemAlloc_v2(device_pointer *address, size_t bytes)
{
	return bytes ? doorbell_allocate(GPU_DEVICE, bytes, (void **)address) : INVALID_VALUE;
}

API int cuMemAllocAsync(device_pointer *address, size_t bytes, void *stream)
{
	(void)stream;
	return cuMemAlloc_v2(address, bytes);
}

API int cuMemAllocPitch_v2(device_pointer *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
	(void)element;
	*pitch = (width + 511) & ~511ul;
	return cuMemAlloc_v2(address, *pitch * height);
}

API int cuMemAllocManaged(device_pointer *address, size_t bytes, unsigned flags)
{
	(void)flags;
	return doorbell_allocate(GPU_MANAGED, bytes, (void **)address);
}

API int cuMemFree_v2(device_pointer address)
{
	return doorbell_free((void *)address);
}

API int cuMemFreeAsync(device_pointer address, void *stream)
{
	(void)stream;
	return cuMemFree_v2(address);
}

API int cuMemAllocHost_v2(void **address, size_t bytes)
{
	return doorbell_allocate(GPU_HOST, bytes, address);
}

API int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	(void)flags;
	return cuMemAllocHost_v2(address, bytes);
}

API int cuMemFreeHost(void *address)
{
	return doorbell_free(address);
}

API int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	(void)flags;
	return doorbell_register(address, bytes);
}

API int cuMemHostUnregister(void *address)
{
	return doorbell_unregister(address);
}

API int cuMemHostGetDevicePointer_v2(device_pointer *device, void *host, unsigned flags)
{
	(void)flags;
	*device = doorbell_translate(host, 1);
	return *device ? OK : INVALID_VALUE;
}

API int cuMemHostGetFlags(unsigned *flags, void *host)
{
	*flags = 2;
	return doorbell_translate(host, 1) ? OK : INVALID_VALUE;
}

API int cuMemGetInfo_v2(size_t *free_bytes, size_t *bytes)
{
	uint64_t out[2];
	int error = CALL(GPU_MEMORY, out, 2, (uint64_t)doorbell_device);
	*free_bytes = out[0];
	*bytes = out[1];
	return error;
}

API int cuMemGetAddressRange_v2(device_pointer *start, size_t *bytes, device_pointer address)
{
	uint64_t out[4];
	int error = doorbell_pointer(address, out);
	if (start)
		*start = out[2];
	if (bytes)
		*bytes = out[3];
	return error;
}

API int cuMemcpy(device_pointer to, device_pointer from, size_t bytes)
{
	return doorbell_copy((void *)to, (void *)from, bytes, NULL, true);
}

API int cuMemcpyAsync(device_pointer to, device_pointer from, size_t bytes, void *stream)
{
	return doorbell_copy((void *)to, (void *)from, bytes, stream, false);
}

API int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t bytes)
{
	return doorbell_copy((void *)to, from, bytes, NULL, true);
}

API int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t bytes)
{
	return doorbell_copy(to, (void *)from, bytes, NULL, true);
}

API int cuMemcpyDtoD_v2(device_pointer to, device_pointer from, size_t bytes)
{
	return cuMemcpy(to, from, bytes);
}

API int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t bytes, void *stream)
{
	return doorbell_copy((void *)to, from, bytes, stream, false);
}

API int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t bytes, void *stream)
{
	return doorbell_copy(to, (void *)from, bytes, stream, false);
}

API int cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, size_t bytes, void *stream)
{
	return cuMemcpyAsync(to, from, bytes, stream);
}

API int cuMemcpyPeer(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t bytes)
{
	(void)to_context, (void)from_context;
	return cuMemcpy(to, from, bytes);
}

API int cuMemcpyPeerAsync(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t bytes,
			  void *stream)
{
	(void)to_context, (void)from_context;
	return cuMemcpyAsync(to, from, bytes, stream);
}

enum { HOST_MEMORY = 1, ARRAY_MEMORY = 3 };

struct end2d {
	size_t x, y;
	int type;
	void *host;
	device_pointer device;
	void *array;
	size_t pitch;
};

struct copy2d {
	struct end2d from, to;
	size_t width, height;
};

static char *end_of(const struct end2d *end)
{
	char *start = end->type == HOST_MEMORY ? end->host : (char *)end->device;
	return start + end->y * end->pitch + end->x;
}

static int copy2d(const struct copy2d *of, void *stream, bool wait)
{
	if (of->from.type == ARRAY_MEMORY || of->to.type == ARRAY_MEMORY)
		return doorbell_missing("cuMemcpy2D of arrays");
	return doorbell_copy2d(end_of(&of->to), of->to.pitch ? of->to.pitch : of->width, end_of(&of->from),
			 of->from.pitch ? of->from.pitch : of->width, of->width, of->height, stream, wait);
}

API int cuMemcpy2D_v2(const struct copy2d *of)
{
	return copy2d(of, NULL, true);
}

API int cuMemcpy2DUnaligned_v2(const struct copy2d *of)
{
	return copy2d(of, NULL, true);
}

API int cuMemcpy2DAsync_v2(const struct copy2d *of, void *stream)
{
	return copy2d(of, stream, false);
}

#define FILL(name, type, element)                                                                                      \
	API int cuMemset##name##_v2(device_pointer to, type value, size_t count)                                       \
	{                                                                                                              \
		return doorbell_fill((void *)to, 0, value, element, count, 1, NULL);                                         \
	}                                                                                                              \
	API int cuMemset##name##Async(device_pointer to, type value, size_t count, void *stream)                       \
	{                                                                                                              \
		return doorbell_fill((void *)to, 0, value, element, count, 1, stream);                                       \
	}
FILL(D8, unsigned char, 1)
FILL(D16, unsigned short, 2)
FILL(D32, unsigned, 4)

API int cuIpcGetMemHandle(unsigned char handle[64], device_pointer address)
{
	return doorbell_export((void *)address, handle);
}

struct ipc_handle {
	unsigned char bytes[64];
};

API int cuIpcGetEventHandle(struct ipc_handle *handle, void *event)
{
	return doorbell_export_event(event, handle->bytes);
}

API int cuIpcOpenEventHandle(void **event, struct ipc_handle handle)
{
	return doorbell_import_event(handle.bytes, event);
}

API int cuIpcOpenMemHandle_v2(device_pointer *address, struct ipc_handle handle, unsigned flags)
{
	(void)flags;
	return doorbell_import(handle.bytes, (void **)address);
}

API int cuIpcCloseMemHandle(device_pointer address)
{
	return doorbell_close_import((void *)address);
}

/* CU_POINTER_ATTRIBUTE_* */
enum { CONTEXT_OF = 1, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, SYNC = 6, BUFFER_ID, MANAGED, ORDINAL, LEGACY_IPC,
       START, SIZE, MAPPED, HANDLE_TYPES, RDMA, ACCESS };

API int cuPointerGetAttribute(void *value, int attribute, device_pointer address)
{
	uint64_t at = doorbell_translate((void *)address, 1), out[4];
	if (!at)
		return INVALID_VALUE;
	int error = doorbell_pointer(at, out);
	if (error != OK)
		return error;
	bool host = out[0] == GPU_HOST || out[0] == GPU_FILE;
	switch (attribute) {
	case CONTEXT_OF: *(void **)value = context_of((int)out[1]); return OK;
	case MEMORY_TYPE: *(unsigned *)value = host ? 1 : 2; return OK;
	case DEVICE_POINTER: *(uint64_t *)value = at; return OK;
	case HOST_POINTER:
		*(uint64_t *)value = address;
		return out[0] == GPU_DEVICE || out[0] == GPU_IMPORTED ? INVALID_VALUE : OK;
	case SYNC: *(unsigned *)value = 0; return OK;
	case BUFFER_ID: *(uint64_t *)value = out[2] >> 12; return OK;
	case MANAGED: *(unsigned *)value = out[0] == GPU_MANAGED; return OK;
	case ORDINAL: *(int *)value = (int)out[1]; return OK;
	case LEGACY_IPC: *(unsigned *)value = out[0] == GPU_DEVICE; return OK;
	case START: *(uint64_t *)value = out[2]; return OK;
	case SIZE: *(uint64_t *)value = out[3]; return OK;
	case MAPPED: *(unsigned *)value = 1; return OK;
	case HANDLE_TYPES: *(uint64_t *)value = 0; return OK;
	case RDMA: *(unsigned *)value = 1; return OK;
	case ACCESS: *(unsigned *)value = 3; return OK;
	default: return NOT_SUPPORTED;
	}
}

API int cuPointerGetAttributes(unsigned count, const int *attributes, void **values, device_pointer address)
{
	static const size_t narrow = 1ul << MEMORY_TYPE | 1ul << SYNC | 1ul << MANAGED | 1ul << ORDINAL |
				     1ul << LEGACY_IPC | 1ul << MAPPED | 1ul << RDMA | 1ul << ACCESS;
	for (unsigned i = 0; i < count; i++)
		if (cuPointerGetAttribute(values[i], attributes[i], address) != OK)
			memset(values[i], 0, narrow >> attributes[i] & 1 ? 4 : 8);
	return OK;
}

API int cuPointerSetAttribute(const void *value, int attribute, device_pointer address)
{
	(void)value;
	return attribute == SYNC && doorbell_translate((void *)address, 1) ? OK : INVALID_VALUE;
}

/* Streams and events */

API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	(void)priority;
	return CALL(GPU_STREAM_CREATE, (uint64_t *)stream, 1, (uint64_t)doorbell_device, flags & 1);
}

API int cuStreamCreate(void **stream, unsigned flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

API int cuStreamDestroy_v2(void *stream)
{
	return CALL(GPU_STREAM_DESTROY, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream));
}

API int cuStreamSynchronize(void *stream)
{
	return doorbell_synchronize(stream);
}

API int cuStreamQuery(void *stream)
{
	return CALL(GPU_QUERY, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream));
}

API int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	return doorbell_event(false, event, stream, flags);
}

API int cuStreamGetPriority(void *stream, int *priority)
{
	(void)stream;
	*priority = 0;
	return OK;
}

API int cuStreamGetFlags(void *stream, unsigned *flags)
{
	(void)stream;
	*flags = 0;
	return OK;
}

API int cuStreamGetCtx(void *stream, void **context)
{
	(void)stream;
	*context = context_of(doorbell_device);
	return OK;
}

static int write_value(void *stream, device_pointer address, uint64_t value, size_t bytes)
{
	uint64_t at = doorbell_translate((void *)address, bytes);
	uint64_t in[] = {(uint64_t)doorbell_device, doorbell_stream(stream), at};
	return at ? doorbell_call(GPU_STORE, in, 3, &value, bytes, NULL, 0) : INVALID_VALUE;
}

static int wait_value(void *stream, device_pointer address, uint64_t value, size_t bytes, unsigned flags)
{
	uint64_t at = doorbell_translate((void *)address, bytes);
	return at ? CALL(GPU_WAIT_VALUE, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream), at, bytes, value, flags)
		  : INVALID_VALUE;
}

API int cuStreamWriteValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags)
{
	(void)flags;
	return write_value(stream, address, value, 4);
}

API int cuStreamWriteValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags)
{
	(void)flags;
	return write_value(stream, address, value, 8);
}

API int cuStreamWaitValue32_v2(void *stream, device_pointer address, uint32_t value, unsigned flags)
{
	return wait_value(stream, address, value, 4, flags);
}

API int cuStreamWaitValue64_v2(void *stream, device_pointer address, uint64_t value, unsigned flags)
{
	return wait_value(stream, address, value, 8, flags);
}

struct memory_operation {
	int operation;
	device_pointer address;
	uint64_t value;
	unsigned flags;
	device_pointer alias;
	uint64_t pad;
};

enum { WAIT32 = 1, WRITE32 = 2, FLUSH = 3, WAIT64 = 4, WRITE64 = 5, BARRIER = 6 };

API int cuStreamBatchMemOp_v2(void *stream, unsigned count, const struct memory_operation *operations, unsigned flags)
{
	(void)flags;
	int error = OK;
	for (unsigned i = 0; i < count && error == OK; i++) {
		const struct memory_operation *each = operations + i;
		switch (each->operation) {
		case WAIT32: error = wait_value(stream, each->address, (uint32_t)each->value, 4, each->flags); break;
		case WAIT64: error = wait_value(stream, each->address, each->value, 8, each->flags); break;
		case WRITE32: error = write_value(stream, each->address, each->value, 4); break;
		case WRITE64: error = write_value(stream, each->address, each->value, 8); break;
		case FLUSH:
		case BARRIER: break; /* a stream's work is in order for everybody */
		default: error = INVALID_VALUE;
		}
	}
	return error;
}

API int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	return doorbell_call(GPU_EVENT_CREATE, NULL, 0, NULL, 0, (uint64_t *)event, 1);
}

API int cuEventDestroy_v2(void *event)
{
	return CALL(GPU_EVENT_DESTROY, NULL, 0, (uint64_t)event);
}

API int cuEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	return doorbell_event(true, event, stream, flags);
}

API int cuEventRecord(void *event, void *stream)
{
	return cuEventRecordWithFlags(event, stream, 0);
}

API int cuEventSynchronize(void *event)
{
	return CALL(GPU_EVENT_SYNCHRONIZE, NULL, 0, (uint64_t)event);
}

API int cuEventQuery(void *event)
{
	return CALL(GPU_EVENT_QUERY, NULL, 0, (uint64_t)event);
}

API int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to)
{
	uint64_t nanos;
	int error = CALL(GPU_EVENT_ELAPSED, &nanos, 1, (uint64_t)from, (uint64_t)to);
	*milliseconds = (float)((double)(int64_t)nanos / 1e6);
	return error;
}

API int cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
	return cuEventElapsedTime_v2(milliseconds, from, to);
}

/* Errors, and functions by name */

API int cuGetErrorString(int error, const char **text)
{
	*text = doorbell_error_text(error);
	return OK;
}

API int cuGetErrorName(int error, const char **name)
{
	static __thread char text[64];
	snprintf(text, sizeof text, "CUDA_ERROR_%d_%s", error, doorbell_error_name(error));
	*name = error ? text : "CUDA_SUCCESS";
	return OK;
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);

/* A name stands for the newest form of its function that a version has; the forms differ by their ends. */
API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
	(void)flags;
	static const char *const ends[] = {"_v4", "_v3", "_v2", "", "WithFlags"};
	char full[128];
	void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = NULL;
	/* Where a version has not the newest form, the first one that it may have. */
	static const struct {
		const char *name;
		int before, first;
	} older[] = {
		{"cuCtxGetDevice", 13000, 3},
		{"cuCtxSynchronize", 13000, 3},
		{"cuCtxCreate", 11040, 2},
		{"cuCtxCreate", 12050, 1},
		{"cuStreamGetCaptureInfo", 12030, 2},
		{"cuStreamUpdateCaptureDependencies", 12030, 3},
		{"cuGraphAddDependencies", 12030, 3},
		{"cuGraphRemoveDependencies", 12030, 3},
		{"cuGraphGetEdges", 12030, 3},
		{"cuGraphNodeGetDependencies", 12030, 3},
		{"cuGraphNodeGetDependentNodes", 12030, 3},
	};
	int first = 0;
	for (size_t i = 0; i < sizeof older / sizeof *older && !first; i++)
		if (version < older[i].before && strcmp(name, older[i].name) == 0)
			first = older[i].first;
	for (int i = first; i < 5 && !found && self; i++) {
		snprintf(full, sizeof full, "%s%s", name, ends[i]);
		found = dlsym(self, full);
	}
	if (self)
		dlclose(self);
	/* The preload library wraps this one where it is looked up, and calls what it finds here. */
	if (strcmp(name, "cuGetProcAddress") == 0)
		found = version < 12000 ? (void *)cuGetProcAddress : (void *)cuGetProcAddress_v2;
	*function = found;
	if (status)
		*status = found ? 0 : 1; /* symbol not found */
	return found ? OK : NOT_FOUND;
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* The statically linked runtime asks for tables that NVIDIA has not published. */
API int cuGetExportTable(const void **table, const void *id)
{
	(void)id;
	*table = NULL;
	static bool said;
	if (!said)
		doorbell_say("doorbell: this program has the CUDA runtime linked statically, which asks the driver for"
		       " unpublished tables; link it with 'nvcc -cudart shared' (CMake: CUDA_RUNTIME_LIBRARY Shared)\n");
	said = true;
	return doorbell_missing("cuGetExportTable");
}

API int cuProfilerStart(void)
{
	return OK;
}

API int cuProfilerStop(void)
{
	return OK;
}
