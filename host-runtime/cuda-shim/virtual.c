/*
 * Virtual memory management of the driver: physical memory is a file of the program that both sides map into a range
 * of the window. A shareable handle is a descriptor of that file.
 */
#define _GNU_SOURCE
#include "core.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define GRANULARITY (2ul << 20)
#define PAGE 4096ul

typedef uint64_t device_pointer;

enum { POSIX_DESCRIPTOR = 1, PINNED = 1, ON_DEVICE = 1, DMA_BUF = 1, PCIE_MAPPING = 1 };

/* CUmemAllocationProp */
struct properties {
	int type, handle_types;
	struct {
		int type, id;
	} location;
	void *windows;
	unsigned char compression, rdma;
	unsigned short usage;
	unsigned char reserved[4];
};

struct physical {
	struct properties properties;
	size_t bytes;
	int file;
	unsigned users; /* handles that were not released, and mappings */
};

/* A reserved range, or a part of one that physical memory is mapped to. */
struct range {
	device_pointer start, block;
	size_t bytes;
	struct physical *physical;
	struct range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *reserved, *mapped;

int doorbell_map_file(uint64_t address, uint64_t bytes, int file, uint64_t offset);
void doorbell_unmap(uint64_t address, uint64_t bytes);

static struct range **find(struct range **list, device_pointer address, bool whole)
{
	while (*list && (whole ? (*list)->start != address : address - (*list)->start >= (*list)->bytes))
		list = &(*list)->next;
	return list;
}

static int add(struct range **list, struct range of)
{
	struct range *fresh = malloc(sizeof *fresh);
	if (!fresh)
		return OUT_OF_MEMORY;
	*fresh = of;
	fresh->next = *list;
	*list = fresh;
	return OK;
}

static void drop(struct physical *physical)
{
	if (--physical->users == 0) {
		close(physical->file);
		free(physical);
	}
}

API int cuMemGetAllocationGranularity(size_t *bytes, const struct properties *properties, int option)
{
	(void)properties, (void)option;
	*bytes = GRANULARITY;
	return OK;
}

API int cuMemCreate(struct physical **handle, size_t bytes, const struct properties *properties, uint64_t flags)
{
	if (flags || !bytes || bytes % GRANULARITY || properties->type != PINNED)
		return INVALID_VALUE;
	if (properties->handle_types & ~POSIX_DESCRIPTOR)
		return NOT_SUPPORTED;
	struct physical *fresh = malloc(sizeof *fresh);
	int file = memfd_create("doorbell-physical", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!fresh || file < 0 || ftruncate(file, (off_t)bytes) != 0 ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
		if (file >= 0)
			close(file);
		free(fresh);
		return OUT_OF_MEMORY;
	}
	*fresh = (struct physical){*properties, bytes, file, 1};
	*handle = fresh;
	return OK;
}

API int cuMemRelease(struct physical *handle)
{
	pthread_mutex_lock(&lock);
	drop(handle);
	pthread_mutex_unlock(&lock);
	return OK;
}

API int cuMemAddressReserve(device_pointer *address, size_t bytes, size_t alignment, device_pointer wanted, uint64_t flags)
{
	(void)wanted;
	if (flags || !bytes || bytes % GRANULARITY || (alignment & (alignment - 1)))
		return INVALID_VALUE;
	alignment = alignment < GRANULARITY ? GRANULARITY : alignment;
	void *block;
	int error = doorbell_allocate(GPU_RESERVED, bytes + alignment, &block);
	if (error != OK)
		return error;
	*address = ((device_pointer)block + alignment - 1) & -alignment;
	pthread_mutex_lock(&lock);
	error = add(&reserved, (struct range){*address, (device_pointer)block, bytes, NULL, NULL});
	pthread_mutex_unlock(&lock);
	return error;
}

API int cuMemAddressFree(device_pointer address, size_t bytes)
{
	(void)bytes;
	pthread_mutex_lock(&lock);
	struct range **at = find(&reserved, address, true), *gone = *at;
	if (gone)
		*at = gone->next;
	pthread_mutex_unlock(&lock);
	int error = gone ? doorbell_free((void *)gone->block) : INVALID_VALUE;
	free(gone);
	return error;
}

API int cuMemMap(device_pointer address, size_t bytes, size_t offset, struct physical *handle, uint64_t flags)
{
	if (flags || address % GRANULARITY || bytes % GRANULARITY || !bytes || offset > handle->bytes ||
	    bytes > handle->bytes - offset)
		return INVALID_VALUE;
	pthread_mutex_lock(&lock);
	struct range *in = *find(&reserved, address, false);
	int error = in && bytes <= in->start + in->bytes - address ? OK : INVALID_VALUE;
	if (error == OK)
		error = CALL(GPU_MAP_AT, NULL, 0, address, (uint64_t)handle->file, offset, bytes);
	if (error == OK)
		error = doorbell_map_file(address, bytes, handle->file, offset);
	if (error == OK)
		error = add(&mapped, (struct range){address, 0, bytes, handle, NULL});
	if (error == OK)
		handle->users++;
	pthread_mutex_unlock(&lock);
	return error;
}

API int cuMemUnmap(device_pointer address, size_t bytes)
{
	int error = CALL(GPU_SYNCHRONIZE, NULL, 0, (uint64_t)doorbell_device, (uint64_t)-1);
	pthread_mutex_lock(&lock);
	for (struct range **at = &mapped; *at && error == OK;) {
		struct range *each = *at;
		if (each->start - address >= bytes) {
			at = &each->next;
			continue;
		}
		error = CALL(GPU_UNMAP, NULL, 0, each->start, each->bytes);
		doorbell_unmap(each->start, each->bytes);
		*at = each->next;
		drop(each->physical);
		free(each);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

API int cuMemSetAccess(device_pointer address, size_t bytes, const void *access, size_t count)
{
	(void)bytes, (void)access, (void)count;
	pthread_mutex_lock(&lock);
	bool known = *find(&mapped, address, false);
	pthread_mutex_unlock(&lock);
	return known ? OK : INVALID_VALUE;
}

API int cuMemGetAccess(unsigned long long *flags, const void *location, device_pointer address)
{
	*flags = 3; /* reads and writes */
	return cuMemSetAccess(address, 0, location, 1);
}

API int cuMemExportToShareableHandle(int *shareable, struct physical *handle, int type, uint64_t flags)
{
	if (flags || type != POSIX_DESCRIPTOR)
		return NOT_SUPPORTED;
	*shareable = fcntl(handle->file, F_DUPFD_CLOEXEC, 0);
	return *shareable >= 0 ? OK : OUT_OF_MEMORY;
}

API int cuMemImportFromShareableHandle(struct physical **handle, void *shareable, int type)
{
	if (type != POSIX_DESCRIPTOR)
		return NOT_SUPPORTED;
	struct stat status;
	struct physical *fresh = malloc(sizeof *fresh);
	int file = fcntl((int)(uintptr_t)shareable, F_DUPFD_CLOEXEC, 0);
	if (!fresh || file < 0 || fstat(file, &status) != 0) {
		if (file >= 0)
			close(file);
		free(fresh);
		return INVALID_VALUE;
	}
	*fresh = (struct physical){
		{PINNED, POSIX_DESCRIPTOR, {ON_DEVICE, doorbell_device}, NULL, 0, 1, 0, {0}}, (size_t)status.st_size, file, 1};
	*handle = fresh;
	return OK;
}

/*
 * A file that stands for a dma-buf: as long as the range, and the HCAs' server reads its name. Pages end a range, as
 * allocations begin with one.
 */
API int cuMemGetHandleForAddressRange(int *handle, device_pointer address, size_t bytes, int type, uint64_t flags)
{
	if (type != DMA_BUF || flags > PCIE_MAPPING)
		return NOT_SUPPORTED;
	if (!handle || !bytes || address % PAGE || bytes % PAGE)
		return INVALID_VALUE;
	for (device_pointer at = address; at < address + bytes;) {
		uint64_t found[4];
		int error = doorbell_pointer(at, found);
		if (error != OK)
			return error;
		if (found[0] != GPU_DEVICE && found[0] != GPU_IMPORTED)
			return INVALID_VALUE;
		at = (found[2] + found[3] + PAGE - 1) & -PAGE;
	}
	char name[64];
	snprintf(name, sizeof name, "doorbell-dmabuf-%lx-%lx", address, bytes);
	int file = memfd_create(name, MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
		if (file >= 0)
			close(file);
		return OUT_OF_MEMORY;
	}
	*handle = file;
	return OK;
}

API int cuMemGetAllocationPropertiesFromHandle(struct properties *properties, const struct physical *handle)
{
	*properties = handle->properties;
	return OK;
}

API int cuMemRetainAllocationHandle(struct physical **handle, void *address)
{
	pthread_mutex_lock(&lock);
	struct range *at = *find(&mapped, (device_pointer)address, false);
	if (at) {
		*handle = at->physical;
		at->physical->users++;
	}
	pthread_mutex_unlock(&lock);
	return at ? OK : INVALID_VALUE;
}

int doorbell_pointer(uint64_t address, uint64_t out[4])
{
	int error = CALL(GPU_POINTER, out, 4, address);
	if (error != OK || out[0] != GPU_RESERVED)
		return error;
	pthread_mutex_lock(&lock);
	struct range *at = *find(&mapped, address, false);
	if (at) {
		bool on_device = at->physical->properties.location.type == ON_DEVICE;
		out[0] = on_device ? GPU_DEVICE : GPU_HOST;
		out[1] = on_device ? (uint64_t)at->physical->properties.location.id : out[1];
		out[2] = at->start;
		out[3] = at->bytes;
	}
	pthread_mutex_unlock(&lock);
	return at ? OK : INVALID_VALUE;
}
