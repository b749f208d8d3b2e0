/* The functions of the CUDA driver that the programs here call, so that they need no toolkit. */
#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, unsigned long long flags);
int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t at, unsigned long long flags);
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags);
int cuMemSetAccess(uint64_t address, size_t bytes, const void *rights, size_t count);
int cuMemGetHandleForAddressRange(int *handle, uint64_t address, size_t bytes, int type, unsigned long long flags);
int cuMemHostRegister_v2(void *pages, size_t bytes, unsigned flags);

/* Writes to the GPU. A small cuMemcpyHtoD returns before the bytes are there; another process would read the old ones. */
static inline void write_gpu(uint64_t to, const void *from, size_t bytes)
{
	CHECK(!cuMemcpyHtoD_v2(to, from, bytes) && !cuCtxSynchronize());
}

/* Opens the first GPU for this thread. */
static inline void open_gpu(void)
{
	int device;
	void *context;
	CHECK(!cuInit(0) && !cuDeviceGet(&device, 0) && !cuDevicePrimaryCtxRetain(&context, device) &&
	      !cuCtxSetCurrent(context));
}
