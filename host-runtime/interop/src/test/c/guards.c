/*
 * Breaks the preload library's protocol on purpose, in plain C: files that can become shorter, another process's
 * identity and event streams, answers that nobody reads. Exits with 0 when each is refused and nobody else suffers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static int dial(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", getenv("DOORBELL_HCA"));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&name, sizeof name));
	return fd;
}

/* Greets; returns the error of the answer. */
static int greet(int fd, uint32_t kind, uint32_t claimed, uint32_t file, uint64_t token)
{
	struct shim_hello hello = { SHIM_MAGIC, SHIM_VERSION, kind, claimed, file, 0, token };
	struct shim_welcome welcome;
	CHECK(send(fd, &hello, sizeof hello, 0) == (ssize_t)sizeof hello);
	CHECK(recv(fd, &welcome, sizeof welcome, MSG_WAITALL) == (ssize_t)sizeof welcome);
	return welcome.error;
}

static int offer(int file)
{
	int fd = dial(), error = greet(fd, SHIM_DEVICE, 0, (uint32_t)file, 0);
	close(fd);
	return error;
}

static int memory(off_t bytes, int seals)
{
	int fd = memfd_create("hostile", MFD_ALLOW_SEALING);
	CHECK(fd >= 0 && !ftruncate(fd, bytes) && (!seals || !fcntl(fd, F_ADD_SEALS, seals)));
	return fd;
}

/* Opens the asynchronous events of a device: an answer that names a stream. Returns its token. */
static uint64_t open_events(int device)
{
	struct {
		struct shim_message message;
		uint64_t address;
		uint8_t head[24], attribute[16];
	} question = { .message = { 8 + 24 + 16, SHIM_IOCTL, 0, 0 }, .address = (uintptr_t)question.head };
	question.head[0] = 40;
	question.head[2] = 16; /* UVERBS_OBJECT_ASYNC_EVENT */
	question.head[6] = 1;
	question.head[16] = 1; /* RDMA_DRIVER_MLX5 */
	struct shim_message answer;
	struct shim_action action;
	CHECK(send(device, &question, sizeof question, 0) == (ssize_t)sizeof question);
	CHECK(recv(device, &answer, sizeof answer, MSG_WAITALL) == (ssize_t)sizeof answer);
	CHECK(answer.type == SHIM_ANSWER && !answer.value && answer.bytes == sizeof action);
	CHECK(recv(device, &action, sizeof action, MSG_WAITALL) == (ssize_t)sizeof action);
	CHECK(action.type == SHIM_DO_EVENTS);
	return action.a;
}

int main(void)
{
	off_t whole = (off_t)SHIM_FILE_BYTES;
	CHECK(offer(memory(whole, 0)) == EPERM);
	CHECK(offer(memory(whole, F_SEAL_GROW)) == EPERM);
	CHECK(offer(memory(4096, F_SEAL_SHRINK)) == EPERM);
	FILE *plain = tmpfile();
	CHECK(plain && !ftruncate(fileno(plain), 1 << 20) && offer(fileno(plain)) == EPERM);
	CHECK(offer(12345) == EACCES);

	/* Whatever a program says of itself, the kernel says which process it is. */
	int sealed = memory(whole, F_SEAL_SHRINK), device = dial();
	CHECK(!greet(device, SHIM_DEVICE, 1, (uint32_t)sealed, 0));
	uint64_t token = open_events(device);
	pid_t child = fork();
	CHECK(child >= 0);
	if (!child) {
		for (uint64_t guess = token > 64 ? token - 64 : 0; guess < token + 64; guess++) {
			int fd = dial();
			CHECK(greet(fd, SHIM_EVENTS, (uint32_t)getppid(), (uint32_t)fd, guess) == ENOENT);
			close(fd);
		}
		_exit(0);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && !status);
	int events = dial();
	CHECK(!greet(events, SHIM_EVENTS, 0, (uint32_t)events, token));

	/* Who does not read its answers holds up itself alone: another one is served while it is still there. */
	struct shim_message message = { 8 + 24, SHIM_IOCTL, 0, 0 };
	uint8_t question[sizeof message + 8 + 24] = { 0 };
	memcpy(question, &message, sizeof message);
	size_t at = 0;
	while (1) {
		ssize_t n = send(device, question + at, sizeof question - at, MSG_DONTWAIT);
		if (n > 0) {
			at = (at + (size_t)n) % sizeof question;
			continue;
		}
		/* The server takes no more: its answers fill the way back. */
		struct pollfd writable = { .fd = device, .events = POLLOUT };
		CHECK(errno == EAGAIN);
		if (!poll(&writable, 1, 200))
			break;
	}
	for (int i = 0; i < 20; i++)
		CHECK(offer(sealed) == 0);
	struct pollfd alive = { .fd = device, .events = POLLOUT };
	CHECK(poll(&alive, 1, 0) == 0);
	puts("ok");
	return 0;
}
