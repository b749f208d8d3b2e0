/*
 * A child of vfork shares its parent's memory until it calls exec, but not its descriptors: what it closes, and that it ends,
 * is no matter of the parent's devices. One thread registers memory all the time; another one starts 100 children that close
 * the device's descriptor and then become another program, or find none and end.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		if (!(c)) {                                                                        \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #c, errno);          \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#define CHILDREN 100
#define NO_PROGRAM 127

static atomic_int stop;
static atomic_int commands;
static struct ibv_context *context;
static struct ibv_pd *pd;

static void *registers(void *unused)
{
	static char memory[4096];
	while (!stop) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
		CHECK(mr && !ibv_dereg_mr(mr));
		commands++;
	}
	return unused;
}

static int start(const char *program, int descriptor)
{
	int status;
	pid_t child = vfork();
	if (child == 0) {
		close(descriptor);
		execl(program, program, "true", (char *)NULL);
		_exit(NO_PROGRAM);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return strcmp(argv[1], "true");
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0] && (context = ibv_open_device(devices[0])) && (pd = ibv_alloc_pd(context)));
	pthread_t thread;
	CHECK(!pthread_create(&thread, NULL, registers, NULL));
	for (int i = 0; i < CHILDREN; i++) {
		int before = commands;
		CHECK(start(i % 2 ? "/proc/self/exe" : "/no/such/program", context->cmd_fd) == (i % 2 ? 0 : NO_PROGRAM));
		while (commands == before)
			usleep(100);
	}
	stop = 1;
	CHECK(!pthread_join(thread, NULL));
	CHECK(!ibv_dealloc_pd(pd) && !ibv_close_device(context));
	puts("ok");
	return 0;
}
