/*
 * Opens a device, makes one of everything, ends it in order, closes the device; as often as the first argument
 * says. Then prints its open file descriptors and the pages of the file that it shares with the server.
 */
#include <dirent.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(c)                                                                \
	do {                                                                    \
		if (!(c)) {                                                     \
			fprintf(stderr, "line %d: %s\n", __LINE__, #c);         \
			exit(1);                                                \
		}                                                               \
	} while (0)

static void cycle(struct ibv_device *device)
{
	static char memory[8192];
	struct ibv_context *context = ibv_open_device(device);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
	CHECK(pd && channel);
	struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, channel, 0);
	CHECK(cq);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
	CHECK(mr && srq);
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);
	CHECK(qp);
	CHECK(ibv_dealloc_pd(pd) != 0); /* in use */
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_srq(srq));
	CHECK(!ibv_dereg_mr(mr));
	CHECK(!ibv_destroy_cq(cq));
	CHECK(!ibv_destroy_comp_channel(channel));
	CHECK(!ibv_dealloc_pd(pd));
	CHECK(!ibv_close_device(context));
}

int main(int count, char **arguments)
{
	int devices, fds = 0;
	long long blocks = 0;
	struct ibv_device **list = ibv_get_device_list(&devices);
	CHECK(list && devices > 0);
	for (int i = count > 1 ? atoi(arguments[1]) : 1; i > 0; i--)
		cycle(list[0]);
	ibv_free_device_list(list);
	DIR *folder = opendir("/proc/self/fd");
	CHECK(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		char name[300], target[300];
		snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
		ssize_t length = readlink(name, target, sizeof target - 1);
		if (length < 0)
			continue;
		target[length] = 0;
		fds++;
		struct stat status;
		if (strstr(target, "doorbell-hca") && !stat(name, &status))
			blocks += status.st_blocks;
	}
	printf("fds %d shared blocks %lld\n", fds - 1, blocks);
	return 0;
}
