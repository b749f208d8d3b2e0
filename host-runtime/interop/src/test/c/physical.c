/*
 * Physical memory of a GPU that is mapped to reserved ranges, twice in one process and once in another one, which has
 * its descriptor. With an argument this is the other process, and the argument is the descriptor.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(holds)                                                                                                   \
	do {                                                                                                           \
		if (!(holds)) {                                                                                        \
			printf("line %d: %s\n", __LINE__, #holds);                                                     \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

#include "cuda.h"

int cuMemGetAllocationGranularity(size_t *, const void *, int);
int cuMemExportToShareableHandle(int *, uint64_t, int, unsigned long long);
int cuMemImportFromShareableHandle(uint64_t *, void *, int);
int cuMemRetainAllocationHandle(uint64_t *, void *);
int cuMemGetAddressRange_v2(uint64_t *, size_t *, uint64_t);
int cuMemUnmap(uint64_t, size_t);
int cuMemRelease(uint64_t);
int cuMemAddressFree(uint64_t, size_t);

#define RANGE (16ull << 30)

int main(int count, char **arguments)
{
	struct {
		int type, handles, location, device;
		void *windows;
		char flags[8];
	} properties = {1, 1, 1, 0, NULL, {0}};
	uint64_t range, handle, again, start;
	size_t unit, bytes;
	unsigned value = 0;
	open_gpu();
	CHECK(!cuMemGetAllocationGranularity(&unit, &properties, 0));
	CHECK(!cuMemAddressReserve(&range, RANGE, 512 << 20, 0, 0) && range % (512 << 20) == 0);
	if (count > 1) {
		CHECK(!cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)atoi(arguments[1]), 1));
		CHECK(!cuMemMap(range, 2 * unit, 0, handle, 0));
		CHECK(!cuMemcpyDtoH_v2(&value, range + unit, 4) && value == 42);
		value = 43;
		write_gpu(range + unit, &value, 4);
		return 0;
	}
	CHECK(cuMemCreate(&handle, unit + 1, &properties, 0) == 1);
	CHECK(!cuMemCreate(&handle, 2 * unit, &properties, 0));
	CHECK(!cuMemMap(range, 2 * unit, 0, handle, 0) && !cuMemMap(range + RANGE / 2, unit, unit, handle, 0));
	CHECK(cuMemMap(range + RANGE - unit, 2 * unit, 0, handle, 0) == 1);
	value = 42;
	write_gpu(range + unit, &value, 4);
	value = 0;
	CHECK(!cuMemcpyDtoH_v2(&value, range + RANGE / 2, 4) && value == 42);
	CHECK(!cuMemGetAddressRange_v2(&start, &bytes, range + unit) && start == range && bytes == 2 * unit);
	CHECK(!cuMemRetainAllocationHandle(&again, (void *)range) && again == handle && !cuMemRelease(again));

	int descriptor;
	char text[16];
	CHECK(!cuMemExportToShareableHandle(&descriptor, handle, 1, 0));
	CHECK(fcntl(descriptor, F_SETFD, 0) == 0);
	snprintf(text, sizeof text, "%d", descriptor);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		execl("/proc/self/exe", arguments[0], text, NULL);
		_exit(2);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(!cuMemcpyDtoH_v2(&value, range + RANGE / 2, 4) && value == 43);

	CHECK(!cuMemUnmap(range, RANGE) && !cuMemRelease(handle));
	CHECK(cuMemGetAddressRange_v2(&start, &bytes, range) == 1);
	CHECK(!cuMemcpyDtoH_v2(&value, range + unit, 4) && value == 0);
	CHECK(!cuMemAddressFree(range, RANGE) && cuMemAddressFree(range, RANGE) == 1);
	puts("ok");
	return 0;
}
