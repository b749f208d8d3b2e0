/*
 * Results of commands that the server cannot write: the program is gone, or names no memory of its own. What the command
 * has made by then ends with it, as in a kernel: it fails with EFAULT, and the device can be closed. Exits with 0 when all
 * is as it should be.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define REFUSED(create)                                 \
	do {                                            \
		spoil = true;                           \
		CHECK(!(create) && errno == EFAULT);    \
		CHECK(!spoil);                          \
	} while (0)

/* The next command has no memory for what the driver answers. */
static bool spoil;

/* Called by libibverbs: a program's own definition comes first. */
int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, void *argument);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	struct ib_uverbs_ioctl_hdr *head = argument;
	/* Objects of the driver have attributes of their own under that number. */
	if (request == RDMA_VERBS_IOCTL && spoil && head->object_id < 0x1000)
		for (int i = 0; i < head->num_attrs; i++)
			if (head->attrs[i].attr_id == UVERBS_ATTR_UHW_OUT) {
				head->attrs[i].data = 4096;
				spoil = false;
			}
	return next(fd, request, argument);
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context);
	REFUSED(ibv_alloc_pd(context));
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	REFUSED(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(cq);
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	REFUSED(ibv_create_srq(pd, &srq));
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };
	REFUSED(ibv_create_qp(pd, &init));
	/* Nothing of them is left that uses these. */
	CHECK(!ibv_destroy_cq(cq));
	CHECK(!ibv_dealloc_pd(pd));
	CHECK(!ibv_close_device(context));
	puts("ok");
	return 0;
}
