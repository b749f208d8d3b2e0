/* Modules, functions and launches; streams as far as both libraries need them. */
#define _GNU_SOURCE
#include "core.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAT_WRAPPER 0x466243b1u
#define FAT_BINARY 0xba55ed50u
#define ELF 0x464c457fu
#define MOST_PARTS 1024

struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *list;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doorbell_function *functions;

static int load(const uint64_t *parts, size_t count, uint64_t form, uint64_t *module)
{
	uint64_t in[2 + 2 * MOST_PARTS] = {(uint64_t)doorbell_device, form};
	memcpy(in + 2, parts, 2 * count * sizeof *parts);
	return doorbell_call(GPU_LOAD, in, 2 + 2 * count, NULL, 0, module, 1);
}

/* Loads fat binaries that belong together; the PTX of all of them is linked. */
int doorbell_load_parts(const void *const *parts, size_t count, uint64_t *module)
{
	uint64_t addresses[2 * MOST_PARTS];
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct wrapper *wrapper = parts[i];
		const void *const *list = wrapper->version == 1 ? NULL : wrapper->list;
		const void *one = list ? *list : wrapper->data;
		while (one && used < MOST_PARTS) {
			addresses[2 * used] = (uint64_t)one;
			addresses[2 * used++ + 1] = 0;
			one = list ? *++list : NULL;
		}
	}
	return load(addresses, used, 0, module);
}

int doorbell_load(const void *image, uint64_t *module)
{
	uint32_t magic;
	memcpy(&magic, image, sizeof magic);
	if (magic == FAT_WRAPPER)
		return doorbell_load_parts(&image, 1, module);
	if (magic == ELF) {
		doorbell_say("doorbell: a module is machine code for a GPU; load PTX, or a fat binary that has it\n");
		return NO_BINARY;
	}
	uint64_t part[2] = {(uint64_t)image, 0};
	if (magic == FAT_BINARY)
		return load(part, 1, 0, module);
	part[1] = strlen(image);
	return load(part, 1, 1, module);
}

int doorbell_function(uint64_t module, const char *name, struct doorbell_function **found)
{
	pthread_mutex_lock(&lock);
	struct doorbell_function *each = functions;
	while (each && (each->module != module || strcmp(each->name, name) != 0))
		each = each->next;
	int error = OK;
	if (!each) {
		uint64_t out[3 + 2 * 1024];
		error = doorbell_call(GPU_FUNCTION, &module, 1, name, strlen(name), out, sizeof out / sizeof *out);
		if (error == OK) {
			size_t shape = 2 * out[1] * sizeof *out;
			each = calloc(1, sizeof *each + strlen(name) + 1);
			each->number = out[0];
			each->parameters = out[1];
			each->bytes = out[2];
			each->shape = malloc(shape + 1);
			memcpy(each->shape, out + 3, shape);
			each->module = module;
			strcpy(each->name, name);
			each->next = functions;
			functions = each;
		}
	}
	pthread_mutex_unlock(&lock);
	*found = each;
	return error;
}

int doorbell_variable(uint64_t module, const char *name, void **address, size_t *bytes)
{
	uint64_t out[2];
	int error = doorbell_call(GPU_VARIABLE, &module, 1, name, strlen(name), out, 2);
	if (error == OK) {
		if (address)
			*address = (void *)out[0];
		if (bytes)
			*bytes = out[1];
	}
	return error;
}

int doorbell_launch(const struct doorbell_function *function, const struct doorbell_launch *shape, void **parameters, const void *packed,
	      size_t packed_bytes)
{
	unsigned char block[SHIM_MAX_PAYLOAD / 2] = {0};
	if (function->bytes > sizeof block)
		return INVALID_VALUE;
	if (packed) {
		memcpy(block, packed, packed_bytes < function->bytes ? packed_bytes : function->bytes);
	} else {
		for (uint64_t i = 0; i < function->parameters; i++)
			memcpy(block + function->shape[2 * i], parameters[i], function->shape[2 * i + 1]);
	}
	uint64_t in[] = {(uint64_t)doorbell_device, doorbell_stream(shape->stream), function->number, shape->grid[0],
			 shape->grid[1],      shape->grid[2],		 shape->block[0],  shape->block[1],
			 shape->block[2],     shape->shared,		 shape->cooperative};
	return doorbell_call(GPU_LAUNCH, in, sizeof in / sizeof *in, block, function->bytes, NULL, 0);
}

/* CU_FUNC_ATTRIBUTE_*: the VM has no registers that could run out. */
int doorbell_function_attribute(const struct doorbell_function *function, int attribute, int *value)
{
	static const int values[] = {1024, 0, 0, 0, 32, 90, 90, 0, 0, -1, 0, 0, 0, 0, 0, 0};
	if (attribute < 0 || attribute >= (int)(sizeof values / sizeof *values))
		return INVALID_VALUE;
	*value = attribute == 8 ? function->dynamic_shared : values[attribute];
	return OK;
}

/* 1 and 2 are the default streams of cudaStreamLegacy and cudaStreamPerThread: both are the device's one here. */
uint64_t doorbell_stream(const void *stream)
{
	return (uint64_t)stream <= 2 ? 0 : (uint64_t)stream;
}

int doorbell_synchronize(void *stream)
{
	return CALL(GPU_SYNCHRONIZE, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream));
}

struct host_function {
	void (*function)(void *);
	void *data;
	uint64_t ticket;
};

static void *run_host_function(void *of)
{
	struct host_function *call = of;
	if (CALL(GPU_HOST_AWAIT, NULL, 0, call->ticket) == OK)
		call->function(call->data);
	CALL(GPU_HOST_DONE, NULL, 0, call->ticket);
	free(call);
	return NULL;
}

int doorbell_host_function(void *stream, void (*function)(void *), void *data)
{
	int error;
	if (doorbell_host_function_captured(stream, function, data, &error))
		return error;
	struct host_function *call = malloc(sizeof *call);
	if (!call)
		return OUT_OF_MEMORY;
	*call = (struct host_function){function, data, 0};
	error = CALL(GPU_HOST_CALL, &call->ticket, 1, (uint64_t)doorbell_device, doorbell_stream(stream));
	pthread_t thread;
	if (error == OK && pthread_create(&thread, NULL, run_host_function, call) == 0)
		return pthread_detach(thread) == 0 ? OK : INVALID_VALUE;
	free(call);
	return error == OK ? OUT_OF_MEMORY : error;
}
