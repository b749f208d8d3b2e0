/*
 * A preload library that shows unmodified libibverbs and libmlx5 programs the mlx5 devices of a Doorbell server
 * (protocol.h). DOORBELL_HCA names the server's folder; without it the library does nothing.
 *
 *   discovery  what describes the devices in /sys and /dev is read from the server's folder (paths.c); RDMA netlink
 *              is answered from the same files (netlink.c)
 *   the node   open("/dev/infiniband/uverbsN") connects to the server and returns a descriptor of the shared file,
 *              which fstat shows as the device
 *   commands   ioctl(RDMA_VERBS_IOCTL) goes to the server; write() fails, which no rdma-core since 2018
 *              needs
 *   mappings   mmap of the node is the kernel's own of the shared file, at offsets as a driver has them: doorbell
 *              pages, on-chip memory. No memory function is interposed, so libraries may patch them as they like.
 *   queues     rings and doorbell records lie in the shared file, so that the server reads and writes them in place: libmlx5
 *              takes their memory from this library (verbs.c); pages that a program has made itself move into the file when
 *              a queue is created and back when it is destroyed
 *   rdma_cm    open("/dev/infiniband/rdma_cm") connects to the server; what the program writes there goes to it
 *   sleep      who rings a doorbell wakes a server that sleeps (verbs.c)
 *   events     event file descriptors are connections to the server, from which the program reads records
 *   GPUs       memory of a GPU that a command is about is shown to the server by the driver's own handles (gpu.c)
 *   pinning    pages that another driver pins must not move later: doorbell_hca_share moves them first
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"
#include "shim.h"

#define NETLINK_FAMILY_RDMA 20
#define EVENT_DEVICE_FATAL 8 /* IBV_EVENT_DEVICE_FATAL */

/* An open device or rdma_cm file, which several descriptors may name. */
struct device {
	int connection;
	int number; /* of uverbsN, or SHIM_RDMA_CM */
	int users; /* guarded by `tables` */
	bool inherited; /* by a forked child, which has not used it yet; an rdma_cm file it cannot use */
	pthread_mutex_t lock; /* held for one request and its reply */
};

/* By file descriptor: the device, and the tokens of event file descriptors. Guarded by `tables`. */
static struct device *devices[MAX_FD];
static uint64_t events[MAX_FD];
static uint8_t tells_loss[MAX_FD]; /* 1: a file of asynchronous events; 2: it has told that the server is lost */
static int open_devices; /* guarded by `tables` */
static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;
static pid_t process; /* whose tables these are */

const char *shim_folder;
struct shim_sleep *shim_sleep;
static int shared_file = -1;
static int wake_file = -1; /* the server sees what is written there; set with `tables` */

/* Whole pages that were shared before a queue lies in them: actions of the server leave them shared. Guarded by `tables`. */
struct held {
	struct held *next; /* of those that the program has shared, which may overlap */
	uint64_t start, length;
};
static struct held *held;
static void *queue_memory; /* a tree of tsearch: no two of these overlap, and there may be 100,000 */

/* ------------------------------------------------------------------ system calls, not through our own functions */

static int sys_open(int dir, const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static void *sys_mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, length, prot, flags, fd, offset);
}

/* ------------------------------------------------------------------------------------- the connection to the server */

static bool send_all(int fd, const void *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from = (const char *)from + n;
		bytes -= (size_t)n;
	}
	return true;
}

static bool receive_all(int fd, void *to, size_t bytes)
{
	while (bytes) {
		ssize_t n = recv(fd, to, bytes, MSG_WAITALL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to = (char *)to + n;
		bytes -= (size_t)n;
	}
	return true;
}

/* Receives the welcome, and the descriptor that comes with it or -1. */
static bool receive_welcome(int fd, struct shim_welcome *welcome, int *file)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof *file)];
	} control;
	struct iovec whole = { welcome, sizeof *welcome };
	struct msghdr message = {
		.msg_iov = &whole, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	ssize_t n;
	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	struct cmsghdr *first = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	*file = -1;
	if (first && first->cmsg_type == SCM_RIGHTS && first->cmsg_len == CMSG_LEN(sizeof *file))
		memcpy(file, CMSG_DATA(first), sizeof *file);
	return n > 0 && receive_all(fd, (char *)welcome + n, sizeof *welcome - (size_t)n);
}

/* A later one takes the earlier one's place and number, as another thread may write there now. */
static void keep_wake_file(int file)
{
	pthread_mutex_lock(&tables);
	if (wake_file < 0) {
		__atomic_store_n(&wake_file, file, __ATOMIC_RELEASE);
	} else {
		syscall(SYS_dup3, file, wake_file, O_CLOEXEC);
		sys_close(file);
	}
	pthread_mutex_unlock(&tables);
}

void shim_wake(void)
{
	uint64_t one = 1;
	int file = __atomic_load_n(&wake_file, __ATOMIC_ACQUIRE), before = errno;
	if (file >= 0)
		syscall(SYS_write, file, &one, sizeof one);
	errno = before;
}

/*
 * Connects and introduces this process. Returns the connection, or -1 with errno.
 *
 * given: NULL, or where the token of the answer goes
 */
static int greet(enum shim_kind kind, uint32_t number, uint64_t token, uint64_t *given)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int length = snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", shim_folder);
	if (length < 0 || (size_t)length >= sizeof name.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	uint32_t file = (uint32_t)(kind == SHIM_DEVICE ? shared_file : fd);
	struct shim_hello hello = { SHIM_MAGIC, SHIM_VERSION, kind, 0, file, number, token };
	struct shim_welcome welcome;
	struct ucred server;
	socklen_t size = sizeof server;
	int error = 0, wakes = -1;
	if (connect(fd, (struct sockaddr *)&name, sizeof name))
		error = ENODEV;
	/* A server writes to this process's memory: another user's is none. */
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size) || (server.uid && server.uid != geteuid()))
		error = EACCES;
	else if (!send_all(fd, &hello, sizeof hello) || !receive_welcome(fd, &welcome, &wakes) ||
		 welcome.magic != SHIM_MAGIC)
		error = EIO;
	else
		error = welcome.error;
	if (wakes >= 0)
		keep_wake_file(wakes);
	if (error) {
		sys_close(fd);
		errno = error;
		return -1;
	}
	if (given)
		*given = welcome.token;
	/* Where Yama restricts ptrace, this lets the server read and write this process. */
	if (kind == SHIM_DEVICE || kind == SHIM_CONNECTIONS)
		prctl(PR_SET_PTRACER, (unsigned long)welcome.pid, 0, 0, 0);
	return fd;
}

void shim_refresh(void)
{
	int before = errno, fd = greet(SHIM_CONTROL, 0, SHIM_PORT_REFRESH, NULL);
	if (fd >= 0)
		sys_close(fd);
	errno = before;
}

/*
 * The server has gone while a device was open. Says so once, with the reason that the server has left in the file "ended".
 */
static int lost(void)
{
	static bool told;
	char name[SHIM_PATH_BYTES], reason[512] = "it has left no reason: it was stopped, or killed";
	if (__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		return EIO;
	int length = snprintf(name, sizeof name, "%s/ended", shim_folder);
	int file = length > 0 && length < (int)sizeof name ? sys_open(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0) : -1;
	ssize_t bytes = file < 0 ? 0 : syscall(SYS_read, file, reason, sizeof reason - 1);
	if (bytes > 0)
		reason[reason[bytes - 1] == '\n' ? bytes - 1 : bytes] = 0;
	if (file >= 0)
		sys_close(file);
	dprintf(STDERR_FILENO, "doorbell: the server of the devices in %s is gone: %s\n", shim_folder, reason);
	return EIO;
}

/* -------------------------------------------------------------------------------------------- actions of the server */

/* Replaces pages of this process by pages of the shared file. No thread may write to them meanwhile: they hold a
 * queue that is being created, or doorbell records that are not in use yet. */
static int share_pages(uint64_t start, uint64_t length)
{
	char *from = (char *)(uintptr_t)start;
	off_t place = (off_t)(SHIM_CLIENT_OFFSET + start);
	for (uint64_t done = 0; done < length;) {
		ssize_t n = pwrite(shared_file, from + done, length - done, place + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		done += (uint64_t)n;
	}
	void *at = sys_mmap(from, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared_file, place);
	return at == MAP_FAILED ? errno : 0;
}

/* Overlapping ranges are the same element. */
static int compare_held(const void *left, const void *right)
{
	const struct held *a = left, *b = right;
	return a->start + a->length <= b->start ? -1 : b->start + b->length <= a->start;
}

static bool lies_in(uint64_t start, uint64_t length, const struct held *range)
{
	return start >= range->start && start + length <= range->start + range->length;
}

static bool is_held(uint64_t start, uint64_t length)
{
	struct held wanted = { NULL, start, length };
	pthread_mutex_lock(&tables);
	struct held *range = held;
	while (range && !lies_in(start, length, range))
		range = range->next;
	struct held *const *found = range ? &range : tfind(&wanted, &queue_memory, compare_held);
	bool is = found && lies_in(start, length, *found);
	pthread_mutex_unlock(&tables);
	return is;
}

static void discard(uint64_t offset, uint64_t length)
{
	fallocate(shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
}

static int return_pages(uint64_t start, uint64_t length)
{
	char *at = (char *)(uintptr_t)start;
	char *copy = sys_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return errno;
	memcpy(copy, at, length);
	long moved = syscall(SYS_mremap, copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	int error = moved == -1 ? errno : 0;
	discard(SHIM_CLIENT_OFFSET + start, length);
	return error;
}

static int event_fd(uint64_t token)
{
	for (int fd = 0; fd < MAX_FD; fd++)
		if (events[fd] == token)
			return fd;
	return -1;
}

static int open_events(const struct shim_action *action)
{
	int fd = greet(SHIM_EVENTS, 0, action->a, NULL);
	if (fd < 0)
		return errno;
	if (fd >= MAX_FD) {
		sys_close(fd);
		return EMFILE;
	}
	pthread_mutex_lock(&tables);
	events[fd] = action->a;
	tells_loss[fd] = action->d != 0;
	pthread_mutex_unlock(&tables);
	int64_t number = fd;
	memcpy((void *)(uintptr_t)action->b, &number, action->c == 8 ? 8 : 4);
	return 0;
}

/* A kernel counts an event when the program reads it, and discards the unread ones of a destroyed object. The
 * server counted when it wrote them: this subtracts the unread ones and requeues those of other objects. */
static int drain(struct device *device, const struct shim_action *action)
{
	uint8_t buffer[sizeof(uint64_t) + 16384];
	uint32_t record = (uint32_t)(action->c >> 32), taken = 0;
	size_t kept = sizeof(uint64_t);
	int fd = event_fd(action->a);
	if (fd < 0 || !record || record > 128)
		return 0;
	while (kept + record <= sizeof buffer) {
		uint64_t element;
		if (recv(fd, buffer + kept, record, MSG_DONTWAIT) != (ssize_t)record)
			break;
		memcpy(&element, buffer + kept, sizeof element);
		if (element == action->d)
			taken++;
		else
			kept += record;
	}
	uint32_t count;
	if (action->b) {
		memcpy(&count, (void *)(uintptr_t)action->b, sizeof count);
		count = count > taken ? count - taken : 0;
		memcpy((void *)(uintptr_t)action->b, &count, sizeof count);
	}
	if (kept == sizeof(uint64_t))
		return 0;
	struct shim_message head = { (uint32_t)kept, SHIM_REQUEUE, 0, 0 };
	memcpy(buffer, &action->a, sizeof action->a);
	return send_all(device->connection, &head, sizeof head) && send_all(device->connection, buffer, kept) ? 0 : EIO;
}

/* The last event of an rdma_cm file has gone. Its byte has been sent before the answer that says so. */
static int take(const struct shim_action *action)
{
	uint8_t byte;
	int fd = event_fd(action->a);
	if (fd >= 0)
		recv(fd, &byte, sizeof byte, MSG_DONTWAIT);
	return 0;
}

enum { MOST_PIECES = 512 };

static int answer(struct device *device, bool *again, int *shared);

/* Sends how the server opens the memory of a GPU that the next command is about. */
static int export_gpu(struct device *device, const struct shim_action *action)
{
	uint32_t count = 0;
	struct shim_gpu_piece *pieces = calloc(MOST_PIECES, sizeof *pieces);
	int error = pieces ? shim_gpu_pieces(action->a, action->b, pieces, MOST_PIECES, &count) : ENOMEM;
	struct {
		struct shim_message head;
		uint64_t zero;
	} message = { { (uint32_t)(sizeof(uint64_t) + count * sizeof *pieces), SHIM_GPU, 0, 0 }, 0 };
	bool again;
	int shared;
	if (!error) {
		if (send_all(device->connection, &message, sizeof message) &&
		    send_all(device->connection, pieces, count * sizeof *pieces))
			error = answer(device, &again, &shared);
		else
			error = EIO;
	}
	for (uint32_t i = 0; pieces && i < count; i++)
		if (pieces[i].kind == SHIM_GPU_DESCRIPTOR)
			sys_close(pieces[i].file);
	free(pieces);
	if (error == ENODEV) {
		shim_gpu_refuse(action->a, "the server reaches no GPU: serve with 'doorbell exec --real-gpus'");
		error = EFAULT;
	}
	return error;
}

static int act(struct device *device, const struct shim_action *action)
{
	switch (action->type) {
	case SHIM_DO_SHARE:
		return is_held(action->a, action->b) ? 0 : share_pages(action->a, action->b);
	case SHIM_DO_UNSHARE:
		return is_held(action->a, action->b) ? 0 : return_pages(action->a, action->b);
	case SHIM_DO_DISCARD:
		discard(action->a, action->b);
		return 0;
	case SHIM_DO_EVENTS:
		return open_events(action);
	case SHIM_DO_DRAIN:
		return drain(device, action);
	case SHIM_DO_TAKE:
		return take(action);
	case SHIM_DO_EXPORT:
		return export_gpu(device, action);
	default:
		return EPROTO;
	}
}

/* Reads a reply and executes its actions. Returns errno; *again: the request must be repeated. */
static int answer(struct device *device, bool *again, int *shared)
{
	struct shim_message head;
	struct shim_action action;
	int error = 0;
	*again = false;
	if (!receive_all(device->connection, &head, sizeof head))
		return lost();
	if ((head.type != SHIM_ANSWER && head.type != SHIM_SHARE) || head.bytes % sizeof action)
		return EPROTO;
	for (uint32_t left = head.bytes; left; left -= (uint32_t)sizeof action) {
		if (!receive_all(device->connection, &action, sizeof action))
			return EIO;
		int failed = act(device, &action);
		if (!error)
			error = failed;
	}
	if (head.type == SHIM_SHARE) {
		*again = true;
		*shared = error;
		return 0;
	}
	return head.value ? head.value : error;
}

static bool have_shared_file(void);

/*
 * A forked child uses a device of its parent: it gets a context of its own, and its descriptors become those of its own
 * shared file. Called with the device's lock.
 */
static int reopen(struct device *device)
{
	if (!have_shared_file())
		return errno;
	int connection = greet(SHIM_DEVICE, (uint32_t)device->number, SHIM_INHERITED, NULL);
	if (connection < 0)
		return errno;
	pthread_mutex_lock(&tables);
	for (int fd = 0; fd < MAX_FD; fd++)
		if (devices[fd] == device)
			syscall(SYS_dup3, shared_file, fd, syscall(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	device->connection = connection;
	device->inherited = false;
	open_devices++;
	pthread_mutex_unlock(&tables);
	return 0;
}

static int command(struct device *device, struct ib_uverbs_ioctl_hdr *head)
{
	uint64_t address = (uintptr_t)head;
	if (head->length < sizeof *head || head->length > SHIM_MAX_PAYLOAD - sizeof address ||
	    head->length != sizeof *head + head->num_attrs * sizeof head->attrs[0])
		return EINVAL;
	int error, shared = 0;
	bool again;
	pthread_mutex_lock(&device->lock);
	if (device->inherited && (error = reopen(device))) {
		pthread_mutex_unlock(&device->lock);
		return error;
	}
	do {
		struct shim_message message = { (uint32_t)(sizeof address + head->length), SHIM_IOCTL, shared, 0 };
		if (!send_all(device->connection, &message, sizeof message) ||
		    !send_all(device->connection, &address, sizeof address) ||
		    !send_all(device->connection, head, head->length)) {
			again = false;
			error = lost(); /* as for a device that was removed */
		} else
			error = answer(device, &again, &shared);
	} while (again);
	pthread_mutex_unlock(&device->lock);
	return error;
}

/* A message that has no reply. */
static void send_alone(int fd, uint32_t type, uint64_t first, uint64_t second)
{
	struct {
		struct shim_message head;
		uint64_t first, second;
	} message = { { 2 * sizeof(uint64_t), type, 0, 0 }, first, second };
	struct device *device = fd < 0 || fd >= MAX_FD ? NULL : __atomic_load_n(&devices[fd], __ATOMIC_ACQUIRE);
	if (!device)
		return;
	pthread_mutex_lock(&device->lock);
	if (device->connection >= 0)
		send_all(device->connection, &message, sizeof message);
	pthread_mutex_unlock(&device->lock);
}

/*
 * What a NIC would have sent by now leaves before the device is closed, or the program ends: the server reads payload in the
 * program's memory. A thread that is in a command keeps the lock: its command has the same effect. A server that does not
 * answer holds nobody up.
 */
static void carry_out(struct device *device)
{
	struct {
		struct shim_message head;
		uint64_t first, second;
	} message = { { 2 * sizeof(uint64_t), SHIM_LAST, 0, 0 }, 0, 0 };
	struct shim_message reply;
	struct timeval limit = { 10, 0 };
	if (device->number == SHIM_RDMA_CM || pthread_mutex_trylock(&device->lock))
		return;
	if (device->connection >= 0 && !setsockopt(device->connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) &&
	    send_all(device->connection, &message, sizeof message))
		receive_all(device->connection, &reply, sizeof reply);
	pthread_mutex_unlock(&device->lock);
}

/* ------------------------------------------------------------------------------------ the device and its fds */

int shim_device(int fd)
{
	if (fd < 0 || fd >= MAX_FD)
		return -1;
	struct device *device = __atomic_load_n(&devices[fd], __ATOMIC_ACQUIRE);
	return device ? device->number : -1;
}

static int make_shared_file(void)
{
	int fd = (int)syscall(SYS_memfd_create, "doorbell-hca", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	/* The server would crash if pages were removed while it uses them. */
	if (ftruncate(fd, (off_t)SHIM_FILE_BYTES) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		int error = errno;
		sys_close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static bool have_shared_file(void)
{
	pthread_mutex_lock(&tables);
	if (shared_file < 0)
		shared_file = make_shared_file();
	if (shared_file >= 0 && !shim_sleep) {
		void *page = sys_mmap(NULL, SHIM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, SHIM_SLEEP_OFFSET);
		shim_sleep = page == MAP_FAILED ? NULL : page;
	}
	pthread_mutex_unlock(&tables);
	return shared_file >= 0;
}

static int open_device(int number, int flags)
{
	if (!have_shared_file())
		return -1;
	struct device *device = calloc(1, sizeof *device);
	if (!device)
		return -1;
	pthread_mutex_init(&device->lock, NULL);
	device->number = number;
	device->users = 1;
	device->connection = greet(SHIM_DEVICE, (uint32_t)number, 0, NULL);
	int duplicate = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
	int fd = device->connection < 0 ? -1 : (int)syscall(SYS_fcntl, shared_file, duplicate, 0);
	int error = errno;
	if (fd >= MAX_FD) {
		sys_close(fd);
		fd = -1;
		error = EMFILE;
	}
	if (fd < 0) {
		if (device->connection >= 0)
			sys_close(device->connection);
		free(device);
		errno = error;
		return -1;
	}
	pthread_mutex_lock(&tables);
	open_devices++;
	__atomic_store_n(&devices[fd], device, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tables);
	return fd;
}

/* ------------------------------------------------------------------------------------------------------ rdma_cm */

static int open_connections(int flags)
{
	struct device *device = calloc(1, sizeof *device);
	uint64_t token = 0;
	if (!device)
		return -1;
	pthread_mutex_init(&device->lock, NULL);
	device->number = SHIM_RDMA_CM;
	device->users = 1;
	device->connection = greet(SHIM_CONNECTIONS, 0, 0, &token);
	int fd = device->connection < 0 ? -1 : greet(SHIM_EVENTS, 0, token, NULL);
	int error = errno;
	if (fd >= MAX_FD) {
		sys_close(fd);
		fd = -1;
		error = EMFILE;
	}
	if (fd < 0) {
		if (device->connection >= 0)
			sys_close(device->connection);
		free(device);
		errno = error;
		return -1;
	}
	if (!(flags & O_CLOEXEC))
		syscall(SYS_fcntl, fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
	pthread_mutex_lock(&tables);
	events[fd] = token;
	__atomic_store_n(&devices[fd], device, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tables);
	return fd;
}

static int exchange(struct device *device, const void *from, size_t bytes)
{
	struct {
		struct shim_message head;
		uint64_t zero;
	} message = { { (uint32_t)(sizeof(uint64_t) + bytes), SHIM_CONNECT, 0, 0 }, 0 };
	bool again;
	int shared, state, error = EIO;
	/* A thread that ends meanwhile would leave the others without an answer. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&device->lock);
	if (device->inherited)
		error = EACCES;
	else if (send_all(device->connection, &message, sizeof message) &&
		 send_all(device->connection, from, bytes))
		error = answer(device, &again, &shared);
	pthread_mutex_unlock(&device->lock);
	pthread_setcancelstate(state, NULL);
	return error;
}

/* Names what the server does not serve, once for each command. */
static void tell(uint32_t command)
{
	static const char *const names[] = { [RDMA_USER_CM_CMD_SET_OPTION] = "SET_OPTION of that level",
					     [RDMA_USER_CM_CMD_JOIN_IP_MCAST] = "JOIN_IP_MCAST",
					     [RDMA_USER_CM_CMD_JOIN_MCAST] = "JOIN_MCAST" };
	static bool told[sizeof names / sizeof *names];
	if (command >= sizeof names / sizeof *names || !names[command] ||
	    __atomic_exchange_n(&told[command], true, __ATOMIC_RELAXED))
		return;
	dprintf(STDERR_FILENO, "doorbell: rdma_cm: %s is not served (EOPNOTSUPP); docs/shim.md has what is\n",
		names[command]);
}

/*
 * Where the server is lost, the end of a connection would show as an event for ever, and a thread that waits for events of
 * several files would do nothing else. As of a device that has failed, no event comes any more.
 */
static void silence(int fd)
{
	int nonblock = (int)syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK;
	int idle = (int)syscall(SYS_eventfd2, 0, nonblock);
	if (idle < 0)
		return;
	syscall(SYS_dup3, idle, fd, syscall(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	sys_close(idle);
}

/* A user of the device has gone; the last one ends its connection. */
static void release(struct device *device)
{
	pthread_mutex_lock(&tables);
	bool last = --device->users == 0;
	if (last && device->number != SHIM_RDMA_CM && device->connection >= 0 && --open_devices == 0)
		discard(SHIM_CLOCK_OFFSET, SHIM_PAGE);
	pthread_mutex_unlock(&tables);
	if (!last)
		return;
	carry_out(device);
	if (device->connection >= 0)
		sys_close(device->connection);
	pthread_mutex_destroy(&device->lock);
	free(device);
}

/* What a command holds while it runs: another thread may close the descriptor, and a kernel's file stays until then. */
struct running {
	struct device *device;
	int file; /* -1: none, the command does not wait */
};

static void end_running(void *argument)
{
	struct running *running = argument;
	if (running->file >= 0)
		sys_close(running->file);
	release(running->device);
}

/* Called with `tables`, with a descriptor that is not closed before they are free. */
static bool waits(int fd, const void *from, size_t bytes)
{
	struct rdma_ucm_cmd_hdr head = { 0 };
	if (bytes < sizeof head)
		return false;
	memcpy(&head, from, sizeof head);
	return head.cmd == RDMA_USER_CM_CMD_GET_EVENT && !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

/* A command of the program. GET_EVENT waits, unless the descriptor is not to block. */
static ssize_t run_connections(int fd, struct running *running, const void *from, size_t bytes)
{
	struct device *device = running->device;
	struct rdma_ucm_cmd_hdr head = { 0 };
	int error = EINVAL;
	if (bytes >= sizeof head) {
		memcpy(&head, from, sizeof head);
		size_t whole = sizeof head + head.in;
		error = whole <= bytes && whole <= SHIM_MAX_PAYLOAD - sizeof(uint64_t) ? 0 : EINVAL;
		while (!error) {
			uint8_t byte;
			error = exchange(device, from, whole);
			if (!error)
				return (ssize_t)bytes;
			if (error != EAGAIN || running->file < 0)
				break;
			ssize_t waiting = recv(running->file, &byte, sizeof byte, MSG_PEEK);
			error = waiting > 0 ? 0 : waiting < 0 ? errno : EIO;
		}
	}
	if (error == EOPNOTSUPP)
		tell(head.cmd);
	if (error == EIO && __atomic_load_n(&devices[fd], __ATOMIC_ACQUIRE) == device)
		silence(fd);
	errno = error;
	return -1;
}

static ssize_t write_connections(int fd, const void *from, size_t bytes)
{
	pthread_mutex_lock(&tables);
	struct running running = { devices[fd], -1 };
	ssize_t result;
	int error = running.device ? 0 : EBADF;
	if (!error && waits(fd, from, bytes)) {
		running.file = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
		error = running.file < 0 ? errno : 0;
	}
	if (!error)
		running.device->users++;
	pthread_mutex_unlock(&tables);
	if (error) {
		errno = error;
		return -1;
	}
	/* A thread may be cancelled while it waits. */
	pthread_cleanup_push(end_running, &running);
	result = run_connections(fd, &running, from, bytes);
	error = errno;
	pthread_cleanup_pop(1);
	errno = error;
	return result;
}

/* Until it calls exec, a child of vfork has its parent's tables, but descriptors of its own. */
static bool is_vforked(void)
{
	return getpid() != process;
}

/* A descriptor names another descriptor's device, too. */
static int duplicated(int from, int to)
{
	if (to < 0 || shim_device(from) < 0 || is_vforked())
		return to;
	if (to >= MAX_FD) {
		sys_close(to);
		errno = EMFILE;
		return -1;
	}
	pthread_mutex_lock(&tables);
	struct device *device = devices[from];
	if (device)
		device->users++;
	if (device && device->number == SHIM_RDMA_CM)
		events[to] = events[from];
	__atomic_store_n(&devices[to], device, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tables);
	return to;
}

/* A descriptor is about to be closed. */
static void forget(int fd)
{
	if (fd < 0 || fd >= MAX_FD || (!devices[fd] && !events[fd]) || is_vforked())
		return;
	pthread_mutex_lock(&tables);
	struct device *device = devices[fd];
	__atomic_store_n(&devices[fd], NULL, __ATOMIC_RELEASE);
	events[fd] = 0;
	pthread_mutex_unlock(&tables);
	if (device)
		release(device);
}

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
	char buffer[SHIM_PATH_BYTES];
	int number = shim_node(path);
	if (number == SHIM_RDMA_CM)
		return open_connections(flags);
	return number < 0 ? sys_open(dir, shim_open_path(path, buffer), flags, mode) : open_device(number, flags);
}

/* A forked child shares its parent's connection, which serves one process only: the child connects anew when it uses
 * the device (reopen). */
static void forget_in_child(void)
{
	process = getpid();
	for (int fd = 0; fd < MAX_FD; fd++) {
		struct device *device = devices[fd];
		if (!device || device->inherited)
			continue;
		sys_close(device->connection);
		device->connection = -1;
		device->inherited = true;
		pthread_mutex_init(&device->lock, NULL);
	}
	if (shared_file >= 0)
		sys_close(shared_file);
	if (wake_file >= 0)
		sys_close(wake_file);
	shared_file = wake_file = -1;
	shim_sleep = NULL;
	held = NULL;
	queue_memory = NULL;
	open_devices = 0;
	pthread_mutex_init(&tables, NULL);
}

__attribute__((constructor)) static void start(void)
{
	const char *given = getenv("DOORBELL_HCA");
	if (!given || !*given)
		return;
	pthread_atfork(NULL, NULL, forget_in_child);
	process = getpid();
	shim_folder = strdup(given);
}

/* The program ends with devices open. */
__attribute__((destructor)) static void end(void)
{
	for (int fd = 0; fd < MAX_FD && open_devices && !is_vforked(); fd++) {
		struct device *device = __atomic_load_n(&devices[fd], __ATOMIC_ACQUIRE);
		if (device)
			carry_out(device);
	}
}

/* ------------------------------------------------------------------------------------------- before pinning */

/*
 * A queue's pages move into the shared file when the queue is created. A driver that has pinned them before, such
 * as a GPU's, would keep using the old ones. So a program that pins memory in which queues may lie calls this
 * first, for whole pages, while no thread writes to them. Returns errno, or 0.
 */
EXPORT int doorbell_hca_share(void *pages, size_t length)
{
	struct held *range = malloc(sizeof *range);
	if (!range)
		return ENOMEM;
	*range = (struct held){ NULL, (uintptr_t)pages, length };
	int error = have_shared_file() ? share_pages(range->start, length) : errno;
	if (error) {
		free(range);
		return error;
	}
	pthread_mutex_lock(&tables);
	range->next = held;
	held = range;
	pthread_mutex_unlock(&tables);
	return 0;
}

/* What overlaps is no memory of a queue any more: the system has just given these addresses away. */
static bool add_queue_memory(struct held *range)
{
	struct held *const *place;
	pthread_mutex_lock(&tables);
	while ((place = tsearch(range, &queue_memory, compare_held)) && *place != range) {
		struct held *old = *place;
		tdelete(old, &queue_memory, compare_held);
		free(old);
	}
	pthread_mutex_unlock(&tables);
	return place;
}

/* Whether the program's environment asks libmlx5 for queues in huge pages alone, which are not served. */
static bool asks_for_huge_pages(void)
{
	static const char *const names[] = { "MLX_CQ_ALLOC_TYPE", "MLX_QP_ALLOC_TYPE", "MLX_SRQ_ALLOC_TYPE" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && strcmp(value, "HUGE") == 0)
			return true;
	}
	return false;
}

/*
 * Memory in which libmlx5 makes queues and doorbell records: shared from the beginning, so that nothing is copied when a
 * queue is created or ends. libmlx5 writes to every page of a queue at once: one call makes all of them, which costs less
 * than a fault each.
 */
void *shim_queue_memory(size_t bytes, void *fd)
{
	if (asks_for_huge_pages())
		return NULL;
	struct held *range = malloc(sizeof *range);
	size_t length = (bytes + SHIM_PAGE - 1) & -(size_t)SHIM_PAGE;
	char *at = range && length && have_shared_file()
			   ? sys_mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			   : MAP_FAILED;
	if (at != MAP_FAILED && sys_mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, shared_file,
					 (off_t)(SHIM_CLIENT_OFFSET + (uintptr_t)at)) == MAP_FAILED) {
		syscall(SYS_munmap, at, length);
		at = MAP_FAILED;
	}
	bool added = false;
	if (at != MAP_FAILED) {
		*range = (struct held){ NULL, (uintptr_t)at, length };
		added = add_queue_memory(range);
		if (!added)
			syscall(SYS_munmap, at, length);
	}
	if (!added) {
		free(range);
		return NULL;
	}
	send_alone((int)(intptr_t)fd, SHIM_HELD, range->start, length);
	return at;
}

/* In a forked child, memory of its parent's queues stays as it is. */
void shim_queue_memory_end(void *at, void *fd)
{
	pthread_mutex_lock(&tables);
	struct held wanted = { NULL, (uintptr_t)at, 1 }, *const *found = tfind(&wanted, &queue_memory, compare_held);
	struct held *range = found ? *found : NULL;
	if (range)
		tdelete(range, &queue_memory, compare_held);
	pthread_mutex_unlock(&tables);
	if (!range)
		return;
	send_alone((int)(intptr_t)fd, SHIM_FREED, range->start, range->length);
	discard(SHIM_CLIENT_OFFSET + range->start, range->length);
	syscall(SYS_munmap, at, range->length);
	free(range);
}

/* Makes the same range private again. No queue may lie in it. */
EXPORT int doorbell_hca_unshare(void *pages, size_t length)
{
	pthread_mutex_lock(&tables);
	struct held **at = &held;
	while (*at && ((*at)->start != (uintptr_t)pages || (*at)->length != length))
		at = &(*at)->next;
	struct held *range = *at;
	if (range)
		*at = range->next;
	pthread_mutex_unlock(&tables);
	if (!range)
		return EINVAL;
	free(range);
	return return_pages((uintptr_t)pages, length);
}

/* ----------------------------------------------------------------------------------------- interposed functions */

#define MODE_OF(flags, mode)                                     \
	mode_t mode = 0;                                         \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                 \
		va_list list_;                                   \
		va_start(list_, flags);                          \
		mode = va_arg(list_, mode_t);                    \
		va_end(list_);                                   \
	}

EXPORT int open(const char *path, int flags, ...)
{
	MODE_OF(flags, mode);
	return open_any(AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	MODE_OF(flags, mode);
	return open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	MODE_OF(flags, mode);
	return open_any(dir, path, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	MODE_OF(flags, mode);
	return open_any(dir, path, flags | O_LARGEFILE, mode);
}

/* Called instead by programs compiled with _FORTIFY_SOURCE. */
EXPORT int __open_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

EXPORT int __openat_2(int dir, const char *path, int flags)
{
	return open_any(dir, path, flags, 0);
}

EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	return open_any(dir, path, flags | O_LARGEFILE, 0);
}

EXPORT int close(int fd)
{
	/* A program that closes whatever is open: what is written here would then go to the file that it opens next. */
	if (fd >= 0 && (fd == shared_file || fd == wake_file))
		return 0;
	forget(fd);
	shim_netlink_close(fd);
	return sys_close(fd);
}

EXPORT void _exit(int status)
{
	end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}

EXPORT int dup(int fd)
{
	return duplicated(fd, (int)syscall(SYS_dup, fd));
}

EXPORT int dup3(int fd, int to, int flags)
{
	if (fd != to)
		forget(to);
	return duplicated(fd, (int)syscall(SYS_dup3, fd, to, flags));
}

EXPORT int dup2(int fd, int to)
{
	/* To itself it does nothing but fail for a descriptor that is not open. */
	return fd == to ? (syscall(SYS_fcntl, fd, F_GETFD) < 0 ? -1 : to) : dup3(fd, to, 0);
}

#define DUPLICATES(request) ((request) == F_DUPFD || (request) == F_DUPFD_CLOEXEC)

EXPORT int fcntl(int fd, int request, ...)
{
	NEXT(fcntl);
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	int result = next(fd, request, argument);
	return DUPLICATES(request) ? duplicated(fd, result) : result;
}

EXPORT int fcntl64(int fd, int request, ...)
{
	NEXT(fcntl64);
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	int result = next(fd, request, argument);
	return DUPLICATES(request) ? duplicated(fd, result) : result;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	int number = shim_device(fd);
	if (number < 0 || number == SHIM_RDMA_CM)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	int error = request == RDMA_VERBS_IOCTL ? command(devices[fd], argument) : ENOTTY;
	if (!error)
		return 0;
	errno = error;
	return -1;
}

/* The end of an event file is the end of the server, as of a device that fails: programs read that once, then an error,
 * then nothing. */
EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	NEXT(read);
	if (shim_device(fd) == SHIM_RDMA_CM) {
		errno = EINVAL;
		return -1;
	}
	ssize_t count = next(fd, to, bytes);
	if (count > 0 || !bytes || fd < 0 || fd >= MAX_FD || !events[fd] || (count < 0 && errno != ECONNRESET))
		return count;
	struct ib_uverbs_async_event_desc lost = { .event_type = EVENT_DEVICE_FATAL };
	if (tells_loss[fd] == 1 && bytes >= sizeof lost) {
		tells_loss[fd] = 2;
		memcpy(to, &lost, sizeof lost);
		return sizeof lost;
	}
	silence(fd);
	errno = EIO;
	return -1;
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
	int number = shim_device(fd);
	if (number == SHIM_RDMA_CM)
		return write_connections(fd, from, bytes);
	if (number >= 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return syscall(SYS_write, fd, from, bytes);
}

EXPORT int socket(int domain, int type, int protocol)
{
	if (shim_folder && domain == AF_NETLINK && protocol == NETLINK_FAMILY_RDMA)
		return shim_netlink_socket(type);
	return (int)syscall(SYS_socket, domain, type, protocol);
}
