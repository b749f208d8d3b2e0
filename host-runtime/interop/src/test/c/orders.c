/*
 * Data that one kernel gives to another. The first argument is the file put.ptx, the second one says between whom:
 *
 *	gpus GIVE TAKE		from the first GPU to memory of the second one, with a flag there
 *	relay GIVE TAKE		by memory of the host, whose thread sees one flag and stores another
 *	streams			two kernels that add, in streams that nothing orders
 *	event			the same, where the second stream waits for an event of the first one
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
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameters, void **extra);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuCtxEnablePeerAccess(void *context, unsigned flags);
int cuMemHostAlloc(void **pages, size_t bytes, unsigned flags);
int cuStreamSynchronize(void *stream);

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

static int streams(int ordered)
{
	uint64_t answer;
	void *event;
	enter(0);
	uint64_t data = memory();
	void *first = launch("add", (void *[]){ &data }, NULL);
	CHECK(!cuEventCreate(&event, 0) && !cuEventRecord(event, first));
	void *second = launch("add", (void *[]){ &data }, ordered ? event : NULL);
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
	if (!strcmp(words[2], "streams") || !strcmp(words[2], "event"))
		return streams(!strcmp(words[2], "event"));
	CHECK(count == 5);
	return strcmp(words[2], "gpus") ? relay(words[3], words[4]) : gpus(words[3], words[4]);
}
