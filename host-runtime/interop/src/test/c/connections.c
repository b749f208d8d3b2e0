/*
 * An rdma_cm file as a kernel's, in the commands of rdma/rdma_user_cm.h: what open, fstat, poll, epoll, blocking and
 * non-blocking reads of events, dup, fork and close do with it. Exits with 0 when all is as it should be.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4, CONNECT_RESPONSE = 5, ESTABLISHED = 9, DISCONNECTED = 10 };

/* Writes a command; its answer goes to `answer`. */
static int command(int fd, uint32_t number, const void *in, size_t bytes, uint16_t room)
{
	char buffer[512];
	struct rdma_ucm_cmd_hdr head = { number, (uint16_t)bytes, room };
	memcpy(buffer, &head, sizeof head);
	memcpy(buffer + sizeof head, in, bytes);
	ssize_t written = write(fd, buffer, sizeof head + bytes);
	CHECK(written == -1 || written == (ssize_t)(sizeof head + bytes));
	return written == -1 ? errno : 0;
}

#define RUN(fd, name, in, room) command(fd, RDMA_USER_CM_CMD_##name, &(in), sizeof(in), room)

static int open_file(int flags)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | flags);
	CHECK(fd >= 0);
	return fd;
}

static uint32_t create(int fd, uint64_t uid)
{
	struct rdma_ucm_create_id_resp answer;
	struct rdma_ucm_create_id in = { .uid = uid, .response = (uintptr_t)&answer, .ps = RDMA_PS_TCP };
	CHECK(!RUN(fd, CREATE_ID, in, sizeof answer));
	return answer.id;
}

static struct sockaddr_in address(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void resolve(int fd, uint32_t id, uint16_t port)
{
	struct sockaddr_in to = address(port);
	struct rdma_ucm_resolve_addr in = { .id = id, .timeout_ms = 1000, .dst_size = sizeof to };
	memcpy(&in.dst_addr, &to, sizeof to);
	CHECK(!RUN(fd, RESOLVE_ADDR, in, 0));
}

static int next(int fd, struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_get_event in = { (uintptr_t)event };
	return RUN(fd, GET_EVENT, in, sizeof *event);
}

static struct rdma_ucm_event_resp expect(int fd, uint32_t type)
{
	struct rdma_ucm_event_resp event;
	CHECK(!next(fd, &event));
	if (event.event != type)
		fprintf(stderr, "event %u, not %u\n", event.event, type);
	CHECK(event.event == type && !event.status);
	return event;
}

static bool readable(int fd)
{
	struct pollfd one = { fd, POLLIN, 0 };
	CHECK(poll(&one, 1, 0) >= 0);
	return one.revents & POLLIN;
}

static void destroy(int fd, uint32_t id, uint32_t events)
{
	struct rdma_ucm_destroy_id_resp answer;
	struct rdma_ucm_destroy_id in = { .response = (uintptr_t)&answer, .id = id };
	CHECK(!RUN(fd, DESTROY_ID, in, sizeof answer));
	CHECK(answer.events_reported == events);
}

/* A connection between two files. Returns the client's id; *child: the server's. */
static uint32_t connected(int server, int client, uint32_t *child)
{
	struct rdma_ucm_bind bind = { .id = create(server, 1), .addr_size = sizeof(struct sockaddr_in) };
	struct sockaddr_in any = address(4711);
	memcpy(&bind.addr, &any, sizeof any);
	CHECK(!RUN(server, BIND, bind, 0));
	struct rdma_ucm_listen listen = { bind.id, 4 };
	CHECK(!RUN(server, LISTEN, listen, 0));
	uint32_t id = create(client, 2);
	resolve(client, id, 4711);
	expect(client, ADDR_RESOLVED);
	struct rdma_ucm_resolve_route route = { id, 1000 };
	CHECK(!RUN(client, RESOLVE_ROUTE, route, 0));
	expect(client, ROUTE_RESOLVED);
	struct rdma_ucm_connect connect = { .conn_param = { .qp_num = 7, .valid = 1 }, .id = id };
	CHECK(!RUN(client, CONNECT, connect, 0));
	*child = expect(server, CONNECT_REQUEST).id;
	struct rdma_ucm_accept accept = { .uid = 3, .conn_param = { .qp_num = 8, .valid = 1 }, .id = *child };
	CHECK(!RUN(server, ACCEPT, accept, 0));
	expect(client, CONNECT_RESPONSE);
	struct rdma_ucm_accept ready = { .id = id };
	CHECK(!RUN(client, ACCEPT, ready, 0));
	CHECK(expect(server, ESTABLISHED).uid == 3);
	return id;
}

static void *wait_for_event(void *file)
{
	expect(*(int *)file, ADDR_RESOLVED);
	return NULL;
}

static void is_a_device(void)
{
	struct stat status;
	char buffer[64];
	int fd = open_file(O_CLOEXEC);
	CHECK(!fstat(fd, &status) && S_ISCHR(status.st_mode));
	CHECK(!stat("/dev/infiniband/rdma_cm", &status) && S_ISCHR(status.st_mode));
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK(read(fd, buffer, sizeof buffer) == -1 && errno == EINVAL);
	CHECK(write(fd, buffer, 4) == -1 && errno == EINVAL);
	close(fd);
	int version = open("/sys/class/misc/rdma_cm/abi_version", O_RDONLY);
	CHECK(version >= 0 && read(version, buffer, sizeof buffer) == 2 && buffer[0] == '4');
	close(version);
}

static void events_can_be_awaited(void)
{
	struct rdma_ucm_event_resp event;
	struct epoll_event ready;
	int fd = open_file(O_NONBLOCK), epoll = epoll_create1(0);
	struct epoll_event wanted = { .events = EPOLLIN };
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted));
	CHECK(next(fd, &event) == EAGAIN && !readable(fd) && !epoll_wait(epoll, &ready, 1, 0));
	uint32_t first = create(fd, 1), second = create(fd, 2);
	resolve(fd, first, 1);
	resolve(fd, second, 1);
	CHECK(readable(fd) && epoll_wait(epoll, &ready, 1, 0) == 1);
	expect(fd, ADDR_RESOLVED);
	CHECK(readable(fd));
	int copy = dup(fd);
	expect(copy, ADDR_RESOLVED);
	CHECK(!readable(fd) && next(copy, &event) == EAGAIN);
	destroy(fd, first, 1);
	close(fd);
	destroy(copy, second, 1);
	close(copy);
	close(epoll);
}

static void a_blocking_read_waits(void)
{
	pthread_t reader;
	int fd = open_file(0);
	uint32_t id = create(fd, 1);
	CHECK(!pthread_create(&reader, NULL, wait_for_event, &fd));
	usleep(2000);
	resolve(fd, id, 1);
	CHECK(!pthread_join(reader, NULL) && !readable(fd));
	/* One that is ended while it waits leaves the file usable. */
	CHECK(!pthread_create(&reader, NULL, wait_for_event, &fd));
	usleep(2000);
	CHECK(!pthread_cancel(reader) && !pthread_join(reader, NULL));
	destroy(fd, id, 1);
	close(fd);
}

static void a_child_cannot_use_it(void)
{
	int fd = open_file(0), status;
	uint32_t id = create(fd, 1);
	pid_t child = fork();
	if (!child) {
		struct rdma_ucm_resolve_route in = { id, 1 };
		_exit(RUN(fd, RESOLVE_ROUTE, in, 0) == EACCES ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	resolve(fd, id, 1);
	close(fd);
}

/* Each file of a program has ids of its own; a connection ends with the file of its peer. */
static void files_are_apart(void)
{
	uint32_t child;
	int server = open_file(0), client = open_file(0), other = open_file(0);
	uint32_t id = connected(server, client, &child);
	struct rdma_ucm_disconnect in = { id };
	CHECK(RUN(other, DISCONNECT, in, 0) == ENOENT && RUN(server, DISCONNECT, in, 0) == ENOENT);
	struct rdma_ucm_migrate_resp answer;
	struct rdma_ucm_migrate_id move = { (uintptr_t)&answer, id, (uint32_t)client };
	CHECK(!readable(client) && !RUN(other, MIGRATE_ID, move, sizeof answer) && answer.events_reported == 3);
	CHECK(RUN(client, DISCONNECT, in, 0) == ENOENT);
	close(server);
	expect(other, DISCONNECTED);
	CHECK(!readable(other) && !readable(client));
	close(client);
	close(other);
}

struct waiting {
	int fd, error;
	struct rdma_ucm_event_resp event;
};

static void *wait_for_any(void *argument)
{
	struct waiting *waiting = argument;
	waiting->error = next(waiting->fd, &waiting->event);
	return NULL;
}

/* A thread that waits holds the file, as in a kernel: the file's connections stay until it has its event. Returns false
 * when the thread came too late to wait. */
static bool a_file_is_closed_under_a_waiting_thread(void)
{
	pthread_t reader;
	uint32_t child;
	int server = open_file(0), client = open_file(0);
	struct waiting waiting = { .fd = client };
	connected(server, client, &child);
	CHECK(!pthread_create(&reader, NULL, wait_for_any, &waiting));
	usleep(10000);
	CHECK(!close(client) && write(client, "", 1) == -1 && errno == EBADF);
	usleep(2000);
	struct rdma_ucm_disconnect in = { child };
	CHECK(!RUN(server, DISCONNECT, in, 0) && !pthread_join(reader, NULL));
	close(server);
	if (waiting.error == EBADF)
		return false;
	CHECK(!waiting.error && waiting.event.event == DISCONNECTED);
	return true;
}

int main(void)
{
	is_a_device();
	events_can_be_awaited();
	a_blocking_read_waits();
	a_child_cannot_use_it();
	files_are_apart();
	int tries = 20;
	while (!a_file_is_closed_under_a_waiting_thread())
		CHECK(--tries);
	puts("ok");
	return 0;
}
