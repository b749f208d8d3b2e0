/*
 * Asks for what an mlx5 device of ours does not do, and for what no device does, and looks at the errno that
 * the kernel would give. Exits with 0 when all is as it should be.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* errno of a call of ours past libibverbs, with attributes of one u64 each. */
static int raw(int fd, int object, int method, int attributes, const int *ids, const int *flags)
{
	struct {
		struct ib_uverbs_ioctl_hdr head;
		struct ib_uverbs_attr attributes[4];
	} command = { .head = { .length = (__u16)(sizeof command.head + attributes * sizeof command.attributes[0]),
				.object_id = (__u16)object, .method_id = (__u16)method, .num_attrs = (__u16)attributes,
				.driver_id = 1 } };
	for (int i = 0; i < attributes; i++)
		command.attributes[i] = (struct ib_uverbs_attr){ .attr_id = (__u16)ids[i], .flags = (__u16)flags[i] };
	return ioctl(fd, RDMA_VERBS_IOCTL, &command.head) ? errno : 0;
}

/* A device that the parent has open: on-chip memory of the child's own, none of the parent's objects, no queues. */
static void in_forked_child(struct ibv_context *context, struct ibv_pd *parents)
{
	pid_t child = fork();
	CHECK(child >= 0);
	if (child) {
		int status;
		CHECK(waitpid(child, &status, 0) == child && !status);
		return;
	}
	static char memory[4096], back[64];
	CHECK(!ibv_reg_mr(parents, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE) && errno == ENOENT);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_alloc_dm_attr attributes = { .length = 4096 };
	struct ibv_dm *dm = ibv_alloc_dm(context, &attributes);
	CHECK(mr && dm);
	memset(memory, 0x5a, sizeof back);
	CHECK(!ibv_memcpy_to_dm(dm, 0, memory, sizeof back) && !ibv_memcpy_from_dm(back, dm, 0, sizeof back));
	CHECK(!memcmp(memory, back, sizeof back));
	CHECK(!ibv_create_cq(context, 16, NULL, NULL, 0) && errno == EOPNOTSUPP);
	CHECK(!ibv_free_dm(dm) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	_exit(0);
}

int main(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	CHECK(list && count > 0);
	struct ibv_context *context = ibv_open_device(list[0]);
	CHECK(context);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	CHECK(pd);
	int fd = context->cmd_fd, handle = 0, mandatory = UVERBS_ATTR_F_MANDATORY, optional = 0, unknown = 77;
	CHECK(raw(fd, 0x2345, 0, 0, NULL, NULL) == EPROTONOSUPPORT);
	CHECK(raw(fd, UVERBS_OBJECT_PD, 99, 0, NULL, NULL) == EPROTONOSUPPORT);
	CHECK(raw(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0, NULL, NULL) == EINVAL);
	CHECK(raw(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1, &handle, &mandatory) == ENOENT);
	/* An attribute that nobody knows: refused when it may not be ignored. */
	CHECK(raw(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 2, (int[]){ 0, unknown },
		  (int[]){ mandatory, mandatory }) == EPROTONOSUPPORT);
	CHECK(raw(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 2, (int[]){ 0, unknown },
		  (int[]){ mandatory, optional }) == ENOENT);
	CHECK(raw(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 2, (int[]){ 0, 0 },
		  (int[]){ mandatory, mandatory }) == EINVAL);
	CHECK(ioctl(fd, 0x1234, NULL) == -1 && errno == ENOTTY);
	CHECK(write(fd, "x", 1) == -1);

	/* Queues in huge pages alone: the server cannot share them. With "prefer" libmlx5 takes others. */
	CHECK(!setenv("MLX_CQ_ALLOC_TYPE", "HUGE", 1) && !ibv_create_cq(context, 16, NULL, NULL, 0));
	CHECK(!setenv("MLX_CQ_ALLOC_TYPE", "PREFER_HUGE", 1));
	struct ibv_cq *elsewhere = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(elsewhere && !ibv_destroy_cq(elsewhere) && !unsetenv("MLX_CQ_ALLOC_TYPE"));

	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	CHECK(!ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
	CHECK(ibv_dereg_mr(ibv_reg_mr(pd, page, 4096, 0)) == 0);
	CHECK(!munmap(page + 4096, 4096));
	CHECK(!ibv_reg_mr(pd, page, 8192, 0) && errno == EFAULT);
	CHECK(!ibv_reg_mr(pd, page, 4096, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
	CHECK(ibv_dereg_mr(ibv_reg_mr(pd, page, 4096, IBV_ACCESS_ON_DEMAND)) == 0);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE) && errno == EOPNOTSUPP);
	CHECK(!ibv_alloc_mw(pd, IBV_MW_TYPE_1) && errno == EOPNOTSUPP);

	in_forked_child(context, pd);

	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	CHECK(cq);
	CHECK(!ibv_create_cq(context, 1 << 22, NULL, NULL, 0));
	CHECK(ibv_resize_cq(cq, 1 << 22) == EINVAL && cq->cqe < 1 << 22);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK(ibv_destroy_cq(cq) == EBUSY);
	/* RESET goes to INIT and nowhere else; a peer that does not exist is no peer. */
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 2 };
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS) == EINVAL);
	attr.port_num = 1;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 0x100,
		.ah_attr = { .is_global = 1, .port_num = 1 } };
	memset(attr.ah_attr.grh.dgid.raw, 0x55, 16);
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == EINVAL);
	struct ibv_qp_init_attr made;
	CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &made) && attr.qp_state == IBV_QPS_INIT);
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
