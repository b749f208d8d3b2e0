/*
 * RDMA netlink, as rdma-core's "rdma" and libibverbs speak it: devices, links, counts of resources and counters, from the
 * files that the server writes. A socket of the family is one end of a socket pair; what a request asks for is queued at
 * the other end. Changes of devices, and details of single resources, are refused (EOPNOTSUPP).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shim.h"

#define SYSFS "/sys/class/infiniband/"
#define MOST_DEVICES 16
#define ANSWER_BYTES 16384
#define NODE_DEVICE makedev(231, 192)

/* By file descriptor: the end at which answers are queued, and 1 added to it. */
static int ends[MAX_FD];

struct answer {
	int end;
	const struct nlmsghdr *request;
	size_t bytes;
	char message[ANSWER_BYTES];
};

int shim_netlink_socket(int type)
{
	int pair[2], flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM | flags, 0, pair))
		return -1;
	if (pair[0] >= MAX_FD) {
		syscall(SYS_close, pair[0]);
		syscall(SYS_close, pair[1]);
		errno = EMFILE;
		return -1;
	}
	syscall(SYS_fcntl, pair[1], F_SETFD, FD_CLOEXEC);
	ends[pair[0]] = pair[1] + 1;
	return pair[0];
}

static bool is_netlink(int fd)
{
	return fd >= 0 && fd < MAX_FD && ends[fd];
}

void shim_netlink_close(int fd)
{
	if (is_netlink(fd)) {
		syscall(SYS_close, ends[fd] - 1);
		ends[fd] = 0;
	}
}

/* --------------------------------------------------------------------------------------------- files of a device */

/* Reads a line of a file of device n; empty where there is none. */
static void line_of(int number, const char *file, char *line, size_t room)
{
	char path[512], buffer[SHIM_PATH_BYTES];
	snprintf(path, sizeof path, SYSFS "mlx5_%d/%s", number, file);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, shim_path(path, buffer), O_RDONLY | O_CLOEXEC, 0);
	ssize_t bytes = fd < 0 ? 0 : syscall(SYS_read, fd, line, room - 1);
	if (fd >= 0)
		syscall(SYS_close, fd);
	line[bytes < 0 ? 0 : bytes] = 0;
	line[strcspn(line, "\n")] = 0;
}

static uint64_t number_of(int number, const char *file)
{
	char line[64];
	line_of(number, file, line, sizeof line);
	return strtoull(line, NULL, 0);
}

/* A GUID as sysfs has it, four words. */
static uint64_t guid_of(int number, const char *file)
{
	char line[64];
	uint64_t guid = 0;
	line_of(number, file, line, sizeof line);
	for (char *at = line; *at; at++)
		if (*at != ':')
			guid = guid << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return guid;
}

static bool exists(int number)
{
	char line[64];
	line_of(number, "node_guid", line, sizeof line);
	return *line;
}

/* -------------------------------------------------------------------------------------------------------- answers */

static void begin(struct answer *answer, uint16_t flags)
{
	struct nlmsghdr head = { .nlmsg_type = answer->request->nlmsg_type, .nlmsg_flags = flags,
				 .nlmsg_seq = answer->request->nlmsg_seq, .nlmsg_pid = (uint32_t)getpid() };
	memcpy(answer->message, &head, sizeof head);
	answer->bytes = sizeof head;
}

static void put(struct answer *answer, uint16_t type, const void *from, size_t bytes)
{
	struct nlattr head = { (uint16_t)(NLA_HDRLEN + bytes), type };
	if (answer->bytes + NLA_HDRLEN + NLA_ALIGN(bytes) > ANSWER_BYTES)
		return;
	memcpy(answer->message + answer->bytes, &head, sizeof head);
	memset(answer->message + answer->bytes + NLA_HDRLEN, 0, NLA_ALIGN(bytes));
	memcpy(answer->message + answer->bytes + NLA_HDRLEN, from, bytes);
	answer->bytes += NLA_HDRLEN + NLA_ALIGN(bytes);
}

static void put_text(struct answer *answer, uint16_t type, const char *text)
{
	put(answer, type, text, strlen(text) + 1);
}

static void put8(struct answer *answer, uint16_t type, uint8_t value)
{
	put(answer, type, &value, sizeof value);
}

static void put32(struct answer *answer, uint16_t type, uint32_t value)
{
	put(answer, type, &value, sizeof value);
}

static void put64(struct answer *answer, uint16_t type, uint64_t value)
{
	put(answer, type, &value, sizeof value);
}

/* Begins a nested attribute; `end_nest` gives it its length. */
static size_t nest(struct answer *answer, uint16_t type)
{
	size_t at = answer->bytes;
	put(answer, (uint16_t)(type | NLA_F_NESTED), "", 0);
	return at;
}

static void end_nest(struct answer *answer, size_t at)
{
	uint16_t bytes = (uint16_t)(answer->bytes - at);
	memcpy(answer->message + at, &bytes, sizeof bytes);
}

static void deliver(struct answer *answer)
{
	uint32_t bytes = (uint32_t)answer->bytes;
	memcpy(answer->message, &bytes, sizeof bytes);
	send(answer->end, answer->message, answer->bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The acknowledgement of a request, or its refusal. */
static void acknowledge(struct answer *answer, int error)
{
	struct nlmsgerr body = { .error = -error, .msg = *answer->request };
	begin(answer, 0);
	((struct nlmsghdr *)(void *)answer->message)->nlmsg_type = NLMSG_ERROR;
	memcpy(answer->message + answer->bytes, &body, sizeof body);
	answer->bytes += sizeof body;
	deliver(answer);
}

static void name(struct answer *answer, int number)
{
	char text[32];
	snprintf(text, sizeof text, "mlx5_%d", number);
	put32(answer, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)number);
	put_text(answer, RDMA_NLDEV_ATTR_DEV_NAME, text);
}

static void device(struct answer *answer, int number)
{
	char line[64];
	name(answer, number);
	put32(answer, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put64(answer, RDMA_NLDEV_ATTR_CAP_FLAGS, 1ull << 1 | 1ull << 10 | 1ull << 12 | 1ull << 17 | 1ull << 20);
	line_of(number, "fw_ver", line, sizeof line);
	put_text(answer, RDMA_NLDEV_ATTR_FW_VERSION, line);
	put64(answer, RDMA_NLDEV_ATTR_NODE_GUID, guid_of(number, "node_guid"));
	put64(answer, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid_of(number, "sys_image_guid"));
	put8(answer, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
	put_text(answer, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

static void port(struct answer *answer, int number)
{
	char line[64];
	name(answer, number);
	put32(answer, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put8(answer, RDMA_NLDEV_ATTR_PORT_STATE, (uint8_t)number_of(number, "ports/1/state"));
	put8(answer, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, (uint8_t)number_of(number, "ports/1/phys_state"));
	line_of(number, "ports/1/gid_attrs/ndevs/1", line, sizeof line);
	if (*line) {
		put32(answer, RDMA_NLDEV_ATTR_NDEV_INDEX, if_nametoindex(line));
		put_text(answer, RDMA_NLDEV_ATTR_NDEV_NAME, line);
	}
}

static void resources(struct answer *answer, int number)
{
	static const char *const kinds[] = { "pd", "cq", "qp", "cm_id", "mr", "ctx", "srq" };
	char file[32];
	name(answer, number);
	size_t table = nest(answer, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(file, sizeof file, "resources/%s", kinds[i]);
		size_t entry = nest(answer, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		put_text(answer, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kinds[i]);
		put64(answer, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, number_of(number, file));
		end_nest(answer, entry);
	}
	end_nest(answer, table);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((const char *)a, (const char *)b);
}

static void counters(struct answer *answer, int number)
{
	static const char folder[] = "ports/1/hw_counters";
	enum { MOST = 64, ROOM = 64 };
	char names[MOST][ROOM], path[512];
	size_t count = 0;
	snprintf(path, sizeof path, SYSFS "mlx5_%d/%s", number, folder);
	DIR *files = opendir(path);
	for (struct dirent *file; files && count < MOST && (file = readdir(files));)
		if (*file->d_name != '.' && strcmp(file->d_name, "lifespan"))
			snprintf(names[count++], ROOM, "%.63s", file->d_name);
	if (files)
		closedir(files);
	qsort(names, count, ROOM, by_name);
	name(answer, number);
	put32(answer, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	size_t table = nest(answer, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%.63s", folder, names[i]);
		size_t entry = nest(answer, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		put_text(answer, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, names[i]);
		put64(answer, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, number_of(number, path));
		end_nest(answer, entry);
	}
	end_nest(answer, table);
}

static void node(struct answer *answer, int number)
{
	char text[32];
	snprintf(text, sizeof text, "uverbs%d", number);
	put_text(answer, RDMA_NLDEV_ATTR_CHARDEV_NAME, text);
	put64(answer, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
	put64(answer, RDMA_NLDEV_ATTR_CHARDEV, NODE_DEVICE + (uint64_t)number);
}

static void system_of(struct answer *answer, int number)
{
	(void)number;
	put8(answer, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
}

/* The attribute of a request, or NULL. */
static const struct nlattr *find(const struct nlmsghdr *request, uint16_t type)
{
	const char *at = (const char *)request + NLMSG_HDRLEN, *end = (const char *)request + request->nlmsg_len;
	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *attribute = (const void *)at;
		if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > end - at)
			return NULL;
		if ((attribute->nla_type & NLA_TYPE_MASK) == type)
			return attribute;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return NULL;
}

static void handle(struct answer *answer)
{
	const struct nlmsghdr *request = answer->request;
	void (*fill)(struct answer *, int) = NULL;
	if (RDMA_NL_GET_CLIENT(request->nlmsg_type) == RDMA_NL_NLDEV)
		switch (RDMA_NL_GET_OP(request->nlmsg_type)) {
		case RDMA_NLDEV_CMD_GET:
			fill = device;
			break;
		case RDMA_NLDEV_CMD_PORT_GET:
			fill = port;
			break;
		case RDMA_NLDEV_CMD_RES_GET:
			fill = resources;
			break;
		case RDMA_NLDEV_CMD_STAT_GET:
			fill = counters;
			break;
		case RDMA_NLDEV_CMD_SYS_GET:
			fill = system_of;
			break;
		case RDMA_NLDEV_CMD_GET_CHARDEV: {
			const struct nlattr *type = find(request, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
			if (type && !strcmp((const char *)type + NLA_HDRLEN, "uverbs"))
				fill = node;
			break;
		}
		default:
			break;
		}
	if (!fill) {
		acknowledge(answer, EOPNOTSUPP);
		return;
	}
	/* Programs that list devices ask for nothing that changes, some of them hundreds of times. */
	if (fill == port || fill == resources || fill == counters)
		shim_refresh();
	const struct nlattr *index = find(request, RDMA_NLDEV_ATTR_DEV_INDEX);
	uint32_t wanted = 0;
	if (index && index->nla_len >= NLA_HDRLEN + sizeof wanted)
		memcpy(&wanted, (const char *)index + NLA_HDRLEN, sizeof wanted);
	bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	bool any = fill == system_of;
	for (uint32_t i = 0; i < MOST_DEVICES && fill != system_of; i++) {
		if ((index && i != wanted) || !exists((int)i))
			continue;
		begin(answer, dump ? NLM_F_MULTI : 0);
		fill(answer, (int)i);
		deliver(answer);
		any = true;
	}
	if (fill == system_of) {
		begin(answer, 0);
		fill(answer, 0);
		deliver(answer);
	}
	if (dump) {
		int done = 0;
		begin(answer, NLM_F_MULTI);
		((struct nlmsghdr *)(void *)answer->message)->nlmsg_type = NLMSG_DONE;
		memcpy(answer->message + answer->bytes, &done, sizeof done);
		answer->bytes += sizeof done;
		deliver(answer);
	} else if (!any || (request->nlmsg_flags & NLM_F_ACK)) {
		acknowledge(answer, any ? 0 : ENODEV);
	}
}

static ssize_t requests(int fd, const char *from, size_t bytes)
{
	struct answer *answer = malloc(sizeof *answer);
	if (!answer)
		return -1;
	answer->end = ends[fd] - 1;
	for (size_t at = 0; at + NLMSG_HDRLEN <= bytes;) {
		const struct nlmsghdr *request = (const void *)(from + at);
		if (request->nlmsg_len < NLMSG_HDRLEN || request->nlmsg_len > bytes - at)
			break;
		answer->request = request;
		handle(answer);
		at += NLMSG_ALIGN(request->nlmsg_len);
	}
	free(answer);
	return (ssize_t)bytes;
}

/* ----------------------------------------------------------------------------------------------- interposed functions */

static void kernel(void *address, socklen_t *bytes)
{
	struct sockaddr_nl from = { .nl_family = AF_NETLINK };
	if (address && bytes) {
		memcpy(address, &from, *bytes < sizeof from ? *bytes : sizeof from);
		*bytes = sizeof from;
	}
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	return is_netlink(fd) ? 0 : (int)syscall(SYS_bind, fd, address, bytes);
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	NEXT(connect);
	return is_netlink(fd) ? 0 : next(fd, address, bytes);
}

EXPORT int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict bytes)
{
	if (!is_netlink(fd))
		return (int)syscall(SYS_getsockname, fd, address, bytes);
	kernel(address, bytes);
	if (address && *bytes >= sizeof(struct sockaddr_nl))
		((struct sockaddr_nl *)(void *)address)->nl_pid = (uint32_t)getpid();
	return 0;
}

EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	return is_netlink(fd) && level == SOL_NETLINK ? 0
						       : (int)syscall(SYS_setsockopt, fd, level, option, value, bytes);
}

EXPORT ssize_t sendto(int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t length)
{
	NEXT(sendto);
	return is_netlink(fd) ? requests(fd, from, bytes) : next(fd, from, bytes, flags, to, length);
}

EXPORT ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
	NEXT(send);
	return is_netlink(fd) ? requests(fd, from, bytes) : next(fd, from, bytes, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	NEXT(sendmsg);
	if (!is_netlink(fd))
		return next(fd, message, flags);
	/* A request may come in pieces. */
	char whole[4096];
	size_t bytes = 0;
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *piece = &message->msg_iov[i];
		if (piece->iov_len > sizeof whole - bytes) {
			errno = EMSGSIZE;
			return -1;
		}
		if (piece->iov_len)
			memcpy(whole + bytes, piece->iov_base, piece->iov_len);
		bytes += piece->iov_len;
	}
	return requests(fd, whole, bytes);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	NEXT(recvmsg);
	if (!is_netlink(fd))
		return next(fd, message, flags);
	void *address = message->msg_name;
	socklen_t room = message->msg_namelen;
	ssize_t bytes = next(fd, message, flags);
	if (bytes >= 0) {
		message->msg_name = address;
		message->msg_namelen = room;
		kernel(address, &message->msg_namelen);
	}
	return bytes;
}

EXPORT ssize_t recvfrom(int fd, void *restrict to, size_t bytes, int flags, struct sockaddr *restrict address,
			socklen_t *restrict length)
{
	NEXT(recvfrom);
	if (!is_netlink(fd))
		return next(fd, to, bytes, flags, address, length);
	ssize_t count = next(fd, to, bytes, flags, NULL, NULL);
	if (count >= 0)
		kernel(address, length);
	return count;
}
