/* What programs as installed do with a device: read /sys by its names, duplicate, import, register again, lose it. */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static int failures;

#define CHECK(condition)                                                                     \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno);      \
			failures++;                                                           \
		}                                                                             \
	} while (0)

static void check_files(int fd)
{
	char path[PATH_MAX], link[PATH_MAX], line[64] = "";
	struct stat status;
	CHECK(realpath("/sys/class/infiniband/mlx5_0/device", path) && !strcmp(strrchr(path, '/'), "/db00:80:00.0"));
	ssize_t length = readlink("/sys/class/infiniband/mlx5_0/device/driver", link, sizeof link);
	CHECK(length > 9 && !strncmp(link + length - 9, "mlx5_core", 9));
	FILE *vendor = fopen("/sys/class/infiniband/mlx5_0/device/vendor", "r");
	CHECK(vendor && fgets(line, sizeof line, vendor) && !strcmp(line, "0x15b3\n"));
	if (vendor)
		fclose(vendor);
	unsigned byte[6];
	FILE *address = fopen("/sys/class/infiniband/mlx5_0/device/net/lo/address", "r");
	CHECK(address && fgets(line, sizeof line, address) && strlen(line) == 18 && line[17] == '\n');
	CHECK(sscanf(line, "%2x:%2x:%2x:%2x:%2x:%2x", byte, byte + 1, byte + 2, byte + 3, byte + 4, byte + 5) == 6);
	if (address)
		fclose(address);
	CHECK(!stat("/dev/infiniband/uverbs0", &status) && S_ISCHR(status.st_mode));
	dev_t node = status.st_rdev;
	CHECK(!fstat(fd, &status) && S_ISCHR(status.st_mode) && status.st_rdev == node);
	CHECK(access("/sys/class/infiniband/mlx5_9", F_OK) && errno == ENOENT);
}

/* A region keeps its key when it is registered again, and the other domain's is refused no more. */
static void check_regions(struct ibv_context *context, struct ibv_pd *pd)
{
	struct ibv_pd *other = ibv_alloc_pd(context);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *region = ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE);
	uint32_t key = region->rkey;
	CHECK(!ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, other, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	CHECK(region->rkey == key);
	CHECK(ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE) != 0);
	CHECK(!ibv_dereg_mr(region) && !ibv_dealloc_pd(other));
	struct ibv_mr *all = ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	CHECK(all && !ibv_dereg_mr(all));
	struct ibv_alloc_dm_attr odd = { .length = 4 };
	struct ibv_dm *memory = ibv_alloc_dm(context, &odd);
	CHECK(memory && !ibv_free_dm(memory));
	munmap(page, 8192);
}

/* RDMA netlink answers a request that comes in two pieces, and one by send(). */
static void check_netlink(void)
{
	struct {
		struct nlattr head;
		uint32_t device;
	} index = { { sizeof index, RDMA_NLDEV_ATTR_DEV_INDEX }, 0 };
	struct {
		struct nlmsghdr head;
		char rest[sizeof index];
	} request = { .head = { sizeof request, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_REQUEST, 1, 0 } };
	memcpy(request.rest, &index, sizeof index);
	struct iovec pieces[] = { { &request, sizeof request.head }, { &index, sizeof index } };
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	struct timeval limit = { .tv_sec = 60 };
	CHECK(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	for (int i = 0; i < 2; i++) {
		char answer[4096];
		ssize_t sent = i ? send(fd, &request, sizeof request, 0) : sendmsg(fd, &message, 0);
		CHECK(sent == (ssize_t)sizeof request);
		ssize_t size = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC);
		CHECK(size > 0 && recv(fd, answer, sizeof answer, 0) == size);
		CHECK(size > 0 && memmem(answer, (size_t)size, "mlx5_0", sizeof "mlx5_0"));
	}
	close(fd);
}

int main(void)
{
	int count;
	struct ibv_device **devices = ibv_get_device_list(&count);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	check_files(context->cmd_fd);
	check_regions(context, pd);
	check_netlink();
	struct ibv_context *imported = ibv_import_device(dup(context->cmd_fd));
	CHECK(imported);
	struct ibv_pd *shared = imported ? ibv_import_pd(imported, pd->handle) : NULL;
	CHECK(shared);
	setenv("MLX5_CQE_SIZE", "128", 1);
	struct ibv_cq *queue = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct mlx5dv_cq shape = { 0 };
	struct mlx5dv_obj object = { .cq = { queue, &shape } };
	CHECK(queue && !mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) && shape.cqe_size == 128);
	printf(failures ? "\n" : "ok\n");
	fflush(stdout);
	/* The server goes now: that is an event, then an error, then nothing. */
	struct ibv_async_event event;
	if (ibv_get_async_event(context, &event) || event.event_type != IBV_EVENT_DEVICE_FATAL)
		return 1;
	ibv_ack_async_event(&event);
	if (!ibv_get_async_event(context, &event))
		return 1;
	struct pollfd descriptor = { context->async_fd, POLLIN, 0 };
	/* Each command fails; the first one says that the server is gone. */
	for (int i = 0; i < 2; i++)
		if (ibv_alloc_pd(context) || errno != EIO)
			return 1;
	return failures || poll(&descriptor, 1, 0);
}
