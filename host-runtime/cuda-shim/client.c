/* The connection of each thread to the server, and the window of GPU memory that the process maps. */
#define _GNU_SOURCE
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

__thread int doorbell_device;
__thread bool doorbell_current;

static __thread int connection = -1;
static __thread pid_t connected; /* a child has its parent's variables, but not its connections */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct doorbell_gpus gpus;
static pid_t mapped;
static uint32_t server;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end_thread(void *value)
{
	(void)value;
	if (connection >= 0 && connected == getpid())
		close(connection);
	connection = -1;
}

static void create_key(void)
{
	pthread_key_create(&at_exit, end_thread);
}

static bool transfer(bool writes, void *bytes, size_t length)
{
	for (char *at = bytes; length > 0;) {
		ssize_t moved = writes ? send(connection, at, length, MSG_NOSIGNAL) : recv(connection, at, length, 0);
		if (moved <= 0) {
			if (moved < 0 && errno == EINTR)
				continue;
			return false;
		}
		at += moved;
		length -= (size_t)moved;
	}
	return true;
}

static int lost(void)
{
	close(connection);
	connection = -1;
	doorbell_say("doorbell: the server of the emulated GPUs has ended; the program cannot go on using them\n");
	return NO_DEVICE;
}

void doorbell_say(const char *text)
{
	fputs(text, stderr);
	fflush(stderr);
}

/* The program's number in its job, from 1 on, as launchers tell it; 0 where none does. */
static uint32_t rank_of_job(void)
{
	static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && *value >= '0' && *value <= '9')
			return (uint32_t)strtoul(value, NULL, 10) + 1;
	}
	return 0;
}

static int connect_thread(void)
{
	const char *folder = getenv("DOORBELL_HCA");
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	if (!folder || snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", folder) >= (int)sizeof name.sun_path)
		return NO_DEVICE;
	connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection < 0)
		return NO_DEVICE;
	struct shim_hello hello = {SHIM_MAGIC, SHIM_VERSION, GPU_KIND, 0, 0, rank_of_job(), 0};
	struct shim_welcome welcome = {0};
	if (connect(connection, (struct sockaddr *)&name, sizeof name) != 0 || !transfer(true, &hello, sizeof hello) ||
	    !transfer(false, &welcome, sizeof welcome) || welcome.error != 0) {
		close(connection);
		connection = -1;
		return welcome.error == ENOMEM ? OUT_OF_MEMORY : NO_DEVICE;
	}
	server = welcome.pid;
	connected = getpid();
	pthread_once(&once, create_key);
	pthread_setspecific(at_exit, &connection);
	return OK;
}

/* Maps a part of a file of the server. */
static void *map_server(uint64_t address, uint64_t bytes, int how, uint64_t file, uint64_t offset)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%u/fd/%llu", server, (unsigned long long)file);
	int opened = open(path, O_RDWR | O_CLOEXEC);
	if (opened < 0)
		return MAP_FAILED;
	void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | how, opened,
			(off_t)offset);
	close(opened);
	return at;
}

int doorbell_map_file(uint64_t address, uint64_t bytes, int file, uint64_t offset)
{
	void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
			(off_t)offset);
	return at == (void *)address ? OK : OUT_OF_MEMORY;
}

int doorbell_map(uint64_t address, uint64_t bytes, uint64_t file, uint64_t offset)
{
	return map_server(address, bytes, MAP_FIXED, file, offset) == (void *)address ? OK : OUT_OF_MEMORY;
}

/* The window's own pages are at their place again. */
void doorbell_unmap(uint64_t address, uint64_t bytes)
{
	doorbell_map(address, bytes, gpus.file, address - gpus.base);
}

static int exchange(enum gpu_request type, const uint64_t *in, size_t numbers, const void *bytes, size_t length,
		    struct shim_message *head, unsigned char *answer, size_t room)
{
	unsigned char request[SHIM_MAX_PAYLOAD + sizeof *head];
	size_t payload = numbers * sizeof *in + length;
	if (payload > SHIM_MAX_PAYLOAD)
		return INVALID_VALUE;
	size_t padded = payload < 8 ? 8 : payload; /* the smallest payload */
	memset(request + sizeof *head, 0, 8);
	*head = (struct shim_message){(uint32_t)padded, type, 0, 0};
	memcpy(request, head, sizeof *head);
	if (numbers)
		memcpy(request + sizeof *head, in, numbers * sizeof *in);
	if (length)
		memcpy(request + sizeof *head + numbers * sizeof *in, bytes, length);
	if (!transfer(true, request, sizeof *head + padded) || !transfer(false, head, sizeof *head) ||
	    head->bytes > room || !transfer(false, answer, head->bytes))
		return lost();
	return head->value;
}

/* Prints the output of kernels and the description of errors that the server has. */
static void take_text(void)
{
	for (uint64_t of_error = 0; of_error < 2; of_error++) {
		unsigned char text[SHIM_MAX_PAYLOAD];
		struct shim_message head;
		do {
			if (exchange(GPU_TEXT, &of_error, 1, NULL, 0, &head, text, sizeof text) != OK)
				break;
			FILE *to = of_error ? stderr : stdout;
			fwrite(text, 1, head.bytes, to);
			fflush(to);
		} while (head.bytes > 0 && head.reserved);
	}
}

int doorbell_call(enum gpu_request type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, uint64_t *out,
	    size_t outputs)
{
	const struct doorbell_gpus *unused;
	int error;
	if (doorbell_captured(type, in, numbers, bytes, length, &error))
		return error;
	error = doorbell_open(&unused);
	if (error != OK)
		return error;
	doorbell_current |= type != GPU_MISSING && type != GPU_RESET;
	unsigned char answer[SHIM_MAX_PAYLOAD];
	struct shim_message head;
	error = exchange(type, in, numbers, bytes, length, &head, answer, sizeof answer);
	if (outputs) {
		memset(out, 0, outputs * sizeof *out);
		memcpy(out, answer, head.bytes < outputs * sizeof *out ? head.bytes : outputs * sizeof *out);
	}
	if (connection >= 0 && head.reserved)
		take_text();
	return error;
}

int doorbell_open(const struct doorbell_gpus **found)
{
	*found = &gpus;
	if (connection >= 0 && connected == getpid())
		return OK;
	int error = connect_thread();
	if (error != OK)
		return error;
	pthread_mutex_lock(&opening);
	if (mapped != getpid()) {
		struct doorbell_gpus fresh;
		unsigned char answer[SHIM_MAX_PAYLOAD];
		struct shim_message head;
		error = exchange(GPU_OPEN, NULL, 0, NULL, 0, &head, answer, sizeof answer);
		if (error == OK) {
			memcpy(&fresh, answer, sizeof fresh);
			if (mapped) /* the parent's */
				munmap((void *)gpus.base, gpus.bytes);
			gpus = fresh;
			if (map_server(gpus.base, gpus.bytes, MAP_FIXED_NOREPLACE, gpus.file, 0) ==
			    (void *)gpus.base) {
				mapped = getpid();
			} else {
				doorbell_say("doorbell: the addresses of the emulated GPUs' memory are in use\n");
				error = OUT_OF_MEMORY;
			}
		}
	}
	pthread_mutex_unlock(&opening);
	return error;
}

bool doorbell_peers(int device, int peer)
{
	return device != peer && ((gpus.peers >> 4 * device ^ gpus.peers >> 4 * peer) & 15) == 0;
}

int doorbell_missing(const char *function)
{
	doorbell_call(GPU_MISSING, NULL, 0, function, strlen(function), NULL, 0);
	return NOT_SUPPORTED;
}
