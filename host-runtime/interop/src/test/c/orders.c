/*
 * Data that one kernel gives to another. The first argument is the file put.ptx, the second one says between whom:
 *
 *	gpus GIVE TAKE		from the first GPU to memory of the second one, with a flag there
 *	relay GIVE TAKE		by memory of the host, whose thread sees one flag and stores another
 *	launch GIVE		by the host, which launches a kernel when it sees the flag
 *	WAY			two kernels that add, in two streams, with something between them: below
 *
 * Exits with 0 when the data are right.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
int cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, void *function, size_t (*shared_of)(int threads),
				     size_t shared, int limit);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameters, void **extra);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuCtxEnablePeerAccess(void *context, unsigned flags);
int cuMemHostAlloc(void **pages, size_t bytes, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamQuery(void *stream);
int cuEventQuery(void *event);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuEventDestroy_v2(void *event);

enum { BYTES = 256, FLAG = 128, SECOND_FLAG = 192 };

static char text[1 << 20];

static void *enter(int number)
{
	int device;
	void *context;
	CHECK(!cuInit(0) && !cuDeviceGet(&device, number) && !cuDevicePrimaryCtxRetain(&context, device) &&
	      !cuCtxSetCurrent(context));
	return context;
}

/* Launches a kernel in a stream of its own on the GPU of the thread. */
static void *launch(const char *name, void **parameters, void *after)
{
	void *module, *function, *stream;
	CHECK(!cuModuleLoadData(&module, text) && !cuModuleGetFunction(&function, module, name));
	int blocks, threads;
	CHECK(!cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 0));
	CHECK(threads == 1024 && blocks > 0);
	CHECK(!cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 96) && threads == 96);
	CHECK(!cuStreamCreate(&stream, 1));
	CHECK(!after || !cuStreamWaitEvent(stream, after, 0));
	CHECK(!cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
	return stream;
}

static uint64_t memory(void)
{
	static const uint8_t zeros[BYTES];
	uint64_t data;
	CHECK(!cuMemAlloc_v2(&data, BYTES));
	write_gpu(data, zeros, BYTES);
	return data;
}

static int right(uint64_t answer, uint64_t expected)
{
	if (answer != expected)
		fprintf(stderr, "%llu instead of %llu\n", (unsigned long long)answer, (unsigned long long)expected);
	return answer == expected ? 0 : 2;
}

static int gpus(const char *give, const char *take)
{
	uint64_t answer;
	void *second = enter(1);
	uint64_t data = memory(), flag = data + FLAG, sum = memory();
	void *taken = launch(take, (void *[]){ &data, &flag, &sum }, NULL);
	enter(0);
	CHECK(!cuCtxEnablePeerAccess(second, 0));
	void *given = launch(give, (void *[]){ &data, &flag }, NULL);
	CHECK(!cuStreamSynchronize(given));
	CHECK(!cuCtxSetCurrent(second) && !cuStreamSynchronize(taken));
	CHECK(!cuMemcpyDtoH_v2(&answer, sum, sizeof answer));
	return right(answer, 721);
}

static int relay(const char *give, const char *take)
{
	uint64_t *data;
	enter(0);
	CHECK(!cuMemHostAlloc((void **)&data, BYTES, 2));
	memset(data, 0, BYTES);
	volatile uint32_t *flags = (volatile uint32_t *)data;
	uint64_t answer, sum = memory(), at = (uint64_t)data, given = at + FLAG, told = at + SECOND_FLAG;
	void *taken = launch(take, (void *[]){ &at, &told, &sum }, NULL);
	launch(give, (void *[]){ &at, &given }, NULL);
	while (!flags[FLAG / 4])
		;
	flags[SECOND_FLAG / 4] = 1;
	CHECK(!cuStreamSynchronize(taken));
	CHECK(!cuMemcpyDtoH_v2(&answer, sum, sizeof answer));
	return right(answer, 721);
}

static int launch_when_given(const char *give)
{
	uint64_t answer;
	enter(0);
	uint64_t data = memory(), flag = data + FLAG;
	launch(give, (void *[]){ &data, &flag }, NULL);
	while (!*(volatile uint32_t *)flag)
		;
	CHECK(!cuStreamSynchronize(launch("add", (void *[]){ &data }, NULL)));
	CHECK(!cuMemcpyDtoH_v2(&answer, data, sizeof answer));
	return right(answer, 101);
}

static void called(void *data)
{
	*(volatile int *)data = 1;
}

/* What is between two kernels that add. */
static int streams(const char *way)
{
	uint64_t answer, other;
	void *event, *event2;
	volatile int flag = 0;
	size_t free, total;
	enter(0);
	uint64_t data = memory(), unused = memory();
	void *first = launch("add", (void *[]){ &data }, NULL);
	CHECK(!cuEventCreate(&event, 0) && !cuEventRecord(event, first));
	if (!strcmp(way, "stream")) {
		CHECK(!cuStreamSynchronize(first));
	} else if (!strcmp(way, "query")) {
		while (cuStreamQuery(first))
			;
	} else if (!strcmp(way, "event_query")) {
		while (cuEventQuery(event))
			;
	} else if (!strcmp(way, "device")) {
		CHECK(!cuCtxSynchronize());
	} else if (!strcmp(way, "call")) {
		CHECK(!cuLaunchHostFunc(first, called, (void *)&flag));
		while (!flag)
			;
	} else if (!strcmp(way, "copy")) {
		CHECK(!cuMemcpyDtoH_v2(&other, data, sizeof other)); /* of the default stream, which waits for neither */
	} else if (!strcmp(way, "other")) {
		CHECK(!cuStreamSynchronize(launch("add", (void *[]){ &unused }, NULL)));
	} else if (!strcmp(way, "nothing")) {
		CHECK(!cuMemGetInfo_v2(&free, &total) && !cuEventCreate(&event2, 0) && !cuEventDestroy_v2(event2));
	} else {
		CHECK(!strcmp(way, "event") || !strcmp(way, "streams"));
	}
	void *second = launch("add", (void *[]){ &data }, strcmp(way, "event") ? NULL : event);
	CHECK(!cuStreamSynchronize(first) && !cuStreamSynchronize(second));
	CHECK(!cuMemcpyDtoH_v2(&answer, data, sizeof answer));
	return right(answer, 2);
}

int main(int count, char **words)
{
	CHECK(count >= 3);
	FILE *ptx = fopen(words[1], "r");
	CHECK(ptx && fread(text, 1, sizeof text - 1, ptx) > 0);
	fclose(ptx);
	if (count == 3)
		return streams(words[2]);
	if (count == 4)
		return launch_when_given(words[3]);
	CHECK(count == 5);
	return strcmp(words[2], "gpus") ? relay(words[3], words[4]) : gpus(words[3], words[4]);
}
