/*
 * A stand-in for libcuda.so.1, for machines without a GPU: "device memory" is a file in memory. Its addresses cannot be
 * read or written by the CPU, as those of a GPU; copies go by another mapping. IPC handles name process and descriptor.
 * What it does not check it ignores; flags of cuMemHostRegister are refused as the driver refuses them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, MOST = 256, LEGACY = 1, CREATED = 2, UNSHARED = 3, PAGE = 1 << 21 };

static struct memory {
	uint64_t start, bytes; /* of the "device"; 0: not mapped there */
	uint8_t *alias;
	int file, kind;
} all[MOST];

static struct memory *find(uint64_t at)
{
	for (int i = 0; i < MOST; i++)
		if (all[i].start && at >= all[i].start && at - all[i].start < all[i].bytes)
			return &all[i];
	return NULL;
}

static struct memory *make(uint64_t bytes, int file, int kind)
{
	for (int i = 0; i < MOST; i++)
		if (!all[i].alias) {
			uint8_t *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			if (alias == MAP_FAILED)
				return NULL;
			all[i] = (struct memory){ 0, bytes, alias, file, kind };
			return &all[i];
		}
	return NULL;
}

static struct memory *make_new(uint64_t bytes, int kind)
{
	int file = memfd_create("fake gpu", MFD_CLOEXEC);
	return file < 0 || ftruncate(file, (off_t)bytes) ? NULL : make(bytes, file, kind);
}

static uint64_t reserve(uint64_t bytes)
{
	char *at = mmap(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return ((uintptr_t)at + PAGE - 1) & -(uint64_t)PAGE;
}

static void end(struct memory *memory)
{
	munmap(memory->alias, memory->bytes);
	close(memory->file);
	*memory = (struct memory){ 0 };
}

int cuInit(unsigned flags) { return flags ? INVALID : OK; }
int cuDriverGetVersion(int *version) { *version = 13000; return OK; }
int cuDeviceGetCount(int *count) { *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal ? INVALID : OK; }
int cuDeviceGetName(char *name, int bytes, int device) { (void)device; snprintf(name, (size_t)bytes, "stand-in"); return OK; }
int cuDeviceGetUuid_v2(uint8_t *uuid, int device) { memset(uuid, 0xa5, 16); return device ? INVALID : OK; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = all; return device ? INVALID : OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { return device ? INVALID : OK; }
int cuCtxSetCurrent(void *context) { return context == all ? OK : INVALID; }
int cuCtxSynchronize(void) { return OK; }
int cuCtxPushCurrent_v2(void *context) { return context == all ? OK : INVALID; }
int cuCtxPopCurrent_v2(void **context) { *context = all; return OK; }
int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = NULL; return OK; }
int cuStreamSynchronize(void *stream) { return stream ? INVALID : OK; }

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	(void)flags;
	*memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *memory == MAP_FAILED ? NO_MEMORY : OK;
}

int cuMemFreeHost(void *memory) { return memory ? OK : INVALID; }

int cuGetErrorName(int code, const char **name)
{
	*name = code == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE";
	return OK;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	struct memory *memory = make_new(bytes, LEGACY);
	if (!memory)
		return NO_MEMORY;
	*address = memory->start = reserve(bytes);
	return OK;
}

int cuMemFree_v2(uint64_t address)
{
	struct memory *memory = find(address);
	if (!memory || memory->start != address)
		return INVALID;
	end(memory);
	return OK;
}

static uint8_t *host(uint64_t address, size_t bytes)
{
	struct memory *memory = find(address);
	return memory && bytes <= memory->bytes - (address - memory->start) ? memory->alias + (address - memory->start) : NULL;
}

/* Copies piece by piece, since mapped pieces may lie side by side. */
static int copy(uint64_t to, uint64_t from, size_t bytes, int on_gpu)
{
	for (size_t done = 0; done < bytes;) {
		size_t part = bytes - done < 4096 ? bytes - done : 4096;
		uint8_t *target = on_gpu & 1 ? host(to + done, 1) : (uint8_t *)(uintptr_t)(to + done);
		uint8_t *source = on_gpu & 2 ? host(from + done, 1) : (uint8_t *)(uintptr_t)(from + done);
		uint64_t edge = 4096 - ((on_gpu & 1 ? to : from) + done) % 4096, other = 4096 - (from + done) % 4096;
		part = part < edge ? part : edge;
		part = part < other ? part : other;
		if (!target || !source)
			return INVALID;
		memcpy(target, source, part);
		done += part;
	}
	return OK;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) { return copy(to, (uintptr_t)from, bytes, 1); }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { return copy((uintptr_t)to, from, bytes, 2); }

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	return stream ? INVALID : copy(to, (uintptr_t)from, bytes, 1);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
	return stream ? INVALID : copy((uintptr_t)to, from, bytes, 2);
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	return stream ? INVALID : copy(to, from, bytes, 3);
}

struct ipc { int pid, file; uint64_t bytes; uint8_t rest[48]; };

int cuIpcGetMemHandle(struct ipc *handle, uint64_t address)
{
	struct memory *memory = find(address);
	if (!memory || memory->kind != LEGACY)
		return INVALID;
	*handle = (struct ipc){ (int)getpid(), memory->file, memory->bytes, { 0 } };
	return OK;
}

int cuIpcOpenMemHandle_v2(uint64_t *address, struct ipc handle, unsigned flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct memory *memory = flags != 1 || file < 0 ? NULL : make(handle.bytes, file, UNSHARED);
	if (!memory)
		return INVALID;
	*address = memory->start = reserve(handle.bytes);
	return OK;
}

int cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t at)
{
	struct memory *memory = find(at);
	if (!memory)
		return INVALID;
	*start = memory->start;
	*bytes = memory->bytes;
	return OK;
}

int cuIpcCloseMemHandle(uint64_t address) { return cuMemFree_v2(address); }

int cuMemCreate(uint64_t *handle, size_t bytes, const int *properties, unsigned long long flags)
{
	/* CUmemAllocationProp: type, requested handle types */
	struct memory *memory = flags ? NULL : make_new(bytes, properties[1] ? CREATED : UNSHARED);
	*handle = (uintptr_t)memory;
	return memory ? OK : NO_MEMORY;
}

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t at, unsigned long long flags)
{
	(void)alignment;
	*address = reserve(bytes);
	return at || flags ? INVALID : OK;
}

int cuMemAddressFree(uint64_t address, size_t bytes) { return munmap((void *)(uintptr_t)address, bytes) ? INVALID : OK; }

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags)
{
	struct memory *memory = (struct memory *)(uintptr_t)handle;
	if (offset || flags || memory->bytes != bytes)
		return INVALID;
	memory->start = address;
	return OK;
}

int cuMemUnmap(uint64_t address, size_t bytes) { return bytes ? cuMemFree_v2(address) : INVALID; }
int cuMemSetAccess(uint64_t address, size_t bytes, const int *rights, size_t count)
{
	return find(address) && bytes && rights[2] == 3 && count == 1 ? OK : INVALID;
}
int cuMemRelease(uint64_t handle) { return handle ? OK : INVALID; }

int cuMemRetainAllocationHandle(uint64_t *handle, void *at)
{
	*handle = (uintptr_t)find((uintptr_t)at);
	return *handle ? OK : INVALID;
}

int cuMemExportToShareableHandle(int *file, uint64_t handle, int type, unsigned long long flags)
{
	struct memory *memory = (struct memory *)(uintptr_t)handle;
	if (memory->kind != CREATED || type != 1 || flags)
		return INVALID;
	*file = fcntl(memory->file, F_DUPFD_CLOEXEC, 0);
	return OK;
}

int cuMemImportFromShareableHandle(uint64_t *handle, void *shared, int type)
{
	int file = fcntl((int)(intptr_t)shared, F_DUPFD_CLOEXEC, 0);
	off_t bytes = file < 0 ? -1 : lseek(file, 0, SEEK_END);
	struct memory *memory = type != 1 || bytes <= 0 ? NULL : make((uint64_t)bytes, file, UNSHARED);
	*handle = (uintptr_t)memory;
	return memory ? OK : INVALID;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t at)
{
	struct memory *memory = find(at);
	if (!memory)
		return INVALID;
	switch (attribute) {
	case 1: /* context */
		*(void **)value = all;
		return OK;
	case 2: /* memory type: device */
		*(int *)value = 2;
		return OK;
	case 8: /* managed */
	case 9: /* ordinal */
		*(int *)value = 0;
		return OK;
	case 10: /* capable of IPC */
		*(int *)value = memory->kind == LEGACY;
		return OK;
	case 11: /* range */
	case 19: /* mapping */
		*(uint64_t *)value = memory->start;
		return OK;
	case 12:
	case 18:
		*(uint64_t *)value = memory->bytes;
		return OK;
	case 14: /* allowed handle types */
		*(uint64_t *)value = memory->kind == CREATED;
		return OK;
	default:
		return INVALID;
	}
}

/* Memory of the host that is registered: a byte once. */
static struct { uintptr_t start, end; } registered[MOST];

int cuMemHostRegister_v2(void *pages, size_t bytes, unsigned flags)
{
	uintptr_t start = (uintptr_t)pages, end = start + bytes;
	int unused = -1;
	for (int i = 0; i < MOST; i++) {
		if (!registered[i].end)
			unused = i;
		else if (registered[i].start < end && start < registered[i].end)
			return 712; /* already registered */
	}
	if (!pages || !bytes || (flags & 4) || unused < 0)
		return INVALID;
	registered[unused].start = start;
	registered[unused].end = end;
	return OK;
}

int cuMemHostUnregister(void *pages)
{
	for (int i = 0; i < MOST; i++)
		if (registered[i].end && registered[i].start == (uintptr_t)pages) {
			registered[i].end = 0;
			return OK;
		}
	return 713; /* not registered */
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
	(void)flags, (void)status;
	*function = NULL;
	if (!strcmp(symbol, "cuMemHostRegister") && version >= 4000)
		*function = (void *)cuMemHostRegister_v2;
	if (!strcmp(symbol, "cuMemHostUnregister"))
		*function = (void *)cuMemHostUnregister;
	return *function ? OK : 500;
}
