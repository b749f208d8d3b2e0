/*
 * Memory of NVIDIA GPUs.
 *
 * Registration: the server is another process, so it opens the program's memory by a handle of the driver: an IPC handle
 * of memory of cudaMalloc, a file descriptor or a fabric handle of memory of cuMemCreate. The driver's library is used
 * only where the program has loaded it.
 *
 * Doorbell pages: they are ordinary memory, which cuMemHostRegister refuses with CU_MEMHOSTREGISTER_IOMEMORY. For them the
 * flag is left out. Programs find that function by their linker, by dlsym or by cuGetProcAddress; all three lead here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol.h"
#include "shim.h"

/* The driver's interface (cuda.h), as far as it is needed. */
enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_NOT_FOUND = 500,
	CU_POINTER_ATTRIBUTE_CONTEXT = 1,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
	CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
	CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
	CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
	CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
	CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
	CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
	CU_MEMORYTYPE_DEVICE = 2,
	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
	CU_MEM_HANDLE_TYPE_FABRIC = 8,
	CU_MEMHOSTREGISTER_IOMEMORY = 4,
};

struct ipc_handle {
	uint8_t bytes[64];
};

struct driver {
	int (*attribute)(void *value, int attribute, uint64_t pointer);
	int (*uuid)(uint8_t uuid[16], int device);
	int (*push)(void *context);
	int (*pop)(void **context);
	int (*ipc)(struct ipc_handle *handle, uint64_t pointer);
	int (*retain)(uint64_t *handle, void *pointer);
	int (*export)(void *shared, uint64_t handle, int type, unsigned long long flags);
	int (*release)(uint64_t handle);
};

static bool find_driver(struct driver *driver)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	driver->attribute = dlsym(library, "cuPointerGetAttribute");
	driver->uuid = dlsym(library, "cuDeviceGetUuid_v2");
	driver->push = dlsym(library, "cuCtxPushCurrent_v2");
	driver->pop = dlsym(library, "cuCtxPopCurrent_v2");
	driver->ipc = dlsym(library, "cuIpcGetMemHandle");
	driver->retain = dlsym(library, "cuMemRetainAllocationHandle");
	driver->export = dlsym(library, "cuMemExportToShareableHandle");
	driver->release = dlsym(library, "cuMemRelease");
	dlclose(library); /* the program has it open */
	return driver->attribute && driver->uuid && driver->push && driver->pop && driver->ipc && driver->retain &&
	       driver->export && driver->release;
}

void shim_gpu_refuse(uint64_t start, const char *reason)
{
	static const char *told[16];
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		const char *before = NULL;
		if (__atomic_compare_exchange_n(&told[i], &before, reason, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
		if (before == reason)
			return;
	}
	dprintf(STDERR_FILENO, "doorbell: memory of a GPU at 0x%llx cannot be registered: %s\n",
		(unsigned long long)start, reason);
}

static int integer(const struct driver *driver, int attribute, uint64_t pointer)
{
	int value = 0;
	return driver->attribute(&value, attribute, pointer) == CUDA_SUCCESS ? value : 0;
}

/* Sets a piece to the range that two attributes describe; false where they do not. */
static bool set_range(const struct driver *driver, uint64_t at, int start, int bytes, struct shim_gpu_piece *piece)
{
	return driver->attribute(&piece->start, start, at) == CUDA_SUCCESS &&
	       driver->attribute(&piece->bytes, bytes, at) == CUDA_SUCCESS && piece->bytes &&
	       at - piece->start < piece->bytes;
}

/* Memory of cudaMalloc. */
static const char *export_legacy(const struct driver *driver, uint64_t at, struct shim_gpu_piece *piece)
{
	struct ipc_handle handle;
	void *context = NULL;
	if (!set_range(driver, at, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE, piece))
		return "the driver does not say where the allocation begins";
	if (driver->attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at) || driver->push(context))
		return "its CUDA context cannot be used";
	int error = driver->ipc(&handle, piece->start);
	driver->pop(&context);
	memcpy(piece->handle, &handle, sizeof handle);
	piece->kind = SHIM_GPU_LEGACY;
	return error ? "cuIpcGetMemHandle fails: CUDA IPC does not work in this process" : NULL;
}

/* Memory of cuMemCreate. */
static const char *export_mapped(const struct driver *driver, uint64_t at, int types, struct shim_gpu_piece *piece)
{
	uint64_t allocation;
	bool file = types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	if (!set_range(driver, at, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, piece))
		return "the driver does not say where the mapping begins";
	if (driver->retain(&allocation, (void *)(uintptr_t)at))
		return "cuMemRetainAllocationHandle fails";
	int error = file ? driver->export(&piece->file, allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
			 : driver->export(piece->handle, allocation, CU_MEM_HANDLE_TYPE_FABRIC, 0);
	driver->release(allocation);
	piece->kind = file ? SHIM_GPU_DESCRIPTOR : SHIM_GPU_FABRIC;
	return error ? "cuMemExportToShareableHandle fails" : NULL;
}

static const char *export(const struct driver *driver, uint64_t at, struct shim_gpu_piece *piece)
{
	void *pool = NULL;
	int types = integer(driver, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at);
	piece->file = -1;
	if (driver->uuid(piece->device, integer(driver, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at)))
		return "the driver does not say which GPU has it";
	if (integer(driver, CU_POINTER_ATTRIBUTE_IS_MANAGED, at))
		return "it is managed memory; allocate it with cudaMalloc";
	if (integer(driver, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at))
		return export_legacy(driver, at, piece);
	if (!driver->attribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at) && pool)
		return "it comes from a pool (cudaMallocAsync); allocate it with cudaMalloc";
	if (types & (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC))
		return export_mapped(driver, at, types, piece);
	return "cuMemCreate made it without a handle type; ask for CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, or allocate it "
	       "with cudaMalloc";
}

int shim_gpu_pieces(uint64_t start, uint64_t bytes, struct shim_gpu_piece *pieces, uint32_t most, uint32_t *count)
{
	struct driver driver;
	uint64_t end = start + bytes;
	*count = 0;
	if (!find_driver(&driver))
		return EFAULT;
	for (uint64_t at = start; at < end;) {
		if (integer(&driver, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CU_MEMORYTYPE_DEVICE)
			return EFAULT;
		struct shim_gpu_piece *piece = &pieces[*count];
		const char *reason = *count < most ? export(&driver, at, piece) : "it has too many pieces";
		if (!reason) {
			++*count;
			if (*count > 1 && (piece->start != at || piece->kind == SHIM_GPU_LEGACY))
				reason = "it is several allocations of cudaMalloc; register each on its own";
		}
		if (reason) {
			shim_gpu_refuse(start, reason);
			return EFAULT;
		}
		at = piece->start + piece->bytes;
	}
	return 0;
}

/* --------------------------------------------------------------------------------- doorbell pages on a GPU */

/* Whether the page at an address is of the shared file. */
static bool is_doorbell_page(uintptr_t address)
{
	char line[512];
	unsigned long start, end;
	bool found = false;
	NEXT(fopen);
	FILE *maps = next("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof line, maps))
		found = sscanf(line, "%lx-%lx", &start, &end) == 2 && address >= start && address < end &&
			strstr(line, "/memfd:doorbell-hca");
	if (maps)
		fclose(maps);
	return found;
}

typedef int register_function(void *pages, size_t bytes, unsigned flags);
typedef void *lookup_function(void *handle, const char *name);

/* The driver's own. */
static register_function *register_pages;

/* The C library's dlsym. */
static lookup_function *lookup(void)
{
	static lookup_function *own;
	if (!own)
		own = (lookup_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!own)
		own = (lookup_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return own;
}

EXPORT int cuMemHostRegister_v2(void *pages, size_t bytes, unsigned flags)
{
	if (!register_pages) {
		void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (!library)
			return CUDA_ERROR_NOT_FOUND;
		register_pages = (register_function *)lookup()(library, "cuMemHostRegister_v2");
	}
	if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) && is_doorbell_page((uintptr_t)pages))
		flags &= ~(unsigned)CU_MEMHOSTREGISTER_IOMEMORY;
	return register_pages(pages, bytes, flags);
}

/* On other processors only programs that are linked with the driver's library find the function above. */
#ifdef __x86_64__
typedef int find_function(const char *symbol, void **function, int version, uint64_t flags);
typedef int find_function_v2(const char *symbol, void **function, int version, uint64_t flags, void *status);

static find_function *find;
static find_function_v2 *find_v2;

static int find_wrapped(const char *symbol, void **function, int version, uint64_t flags);
static int find_wrapped_v2(const char *symbol, void **function, int version, uint64_t flags, void *status);

/* What a program gets for a function of the driver that it has found. */
static void *wrapped(const char *symbol, void *function, bool second)
{
	if (!function || function == (void *)cuMemHostRegister_v2)
		return function;
	if (!strcmp(symbol, "cuMemHostRegister") || !strcmp(symbol, "cuMemHostRegister_v2")) {
		register_pages = (register_function *)function;
		return (void *)cuMemHostRegister_v2;
	}
	if (!strcmp(symbol, "cuGetProcAddress_v2") || (second && !strcmp(symbol, "cuGetProcAddress"))) {
		find_v2 = (find_function_v2 *)function;
		return (void *)find_wrapped_v2;
	}
	if (!strcmp(symbol, "cuGetProcAddress")) {
		find = (find_function *)function;
		return (void *)find_wrapped;
	}
	return function;
}

static int find_wrapped(const char *symbol, void **function, int version, uint64_t flags)
{
	int error = find(symbol, function, version, flags);
	if (!error && symbol && function)
		*function = wrapped(symbol, *function, version >= 12000);
	return error;
}

static int find_wrapped_v2(const char *symbol, void **function, int version, uint64_t flags, void *status)
{
	int error = find_v2(symbol, function, version, flags, status);
	if (!error && symbol && function)
		*function = wrapped(symbol, *function, version >= 12000);
	return error;
}

static void *lookup_wrapped(void *handle, const char *name)
{
	return wrapped(name, lookup()(handle, name), false);
}

/* The function that a call of dlsym goes on with. */
__attribute__((used)) lookup_function *shim_lookup(const char *name)
{
	bool changes = shim_folder && name && (!strcmp(name, "cuMemHostRegister_v2") || !strcmp(name, "cuGetProcAddress") ||
					       !strcmp(name, "cuGetProcAddress_v2"));
	return changes ? lookup_wrapped : lookup();
}

/*
 * dlsym. It jumps to the C library's, which looks at the return address on the stack: RTLD_NEXT means the next library
 * behind the caller's.
 */
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	sub $8, %rsp\n"
	"	mov %rsi, %rdi\n"
	"	call shim_lookup\n"
	"	add $8, %rsp\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	jmp *%rax\n"
	".size dlsym, . - dlsym\n");
#endif
