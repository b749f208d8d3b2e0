/* What the parts of the preload library share. */
#ifndef DOORBELL_SHIM_H
#define DOORBELL_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_FD 65536

/* Defines a pointer to the next definition of a function behind this library's. */
#define NEXT(name)                                         \
	static __typeof__(name) *next;                     \
	if (!next)                                         \
		next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The server's folder; NULL: this library does nothing. */
extern const char *shim_folder;

/* The "n" of /dev/infiniband/rdma_cm. */
#define SHIM_RDMA_CM 256

/* Returns n of the device node "/dev/infiniband/uverbsN", SHIM_RDMA_CM, or -1. */
int shim_node(const char *path);

/* Returns n of the open device with that descriptor, SHIM_RDMA_CM, or -1. */
int shim_device(int fd);

/* The server's state in the shared file; NULL while no device was opened. */
struct shim_sleep;
extern struct shim_sleep *shim_sleep;

/*
 * Memory that is shared with the server until it ends, or NULL; for mlx5dv_ctx_allocators.
 *
 * fd: of the open device that will have queues there
 */
void *shim_queue_memory(size_t bytes, void *fd);
void shim_queue_memory_end(void *at, void *fd);

/* A socket of RDMA netlink, and its end. */
int shim_netlink_socket(int type);
void shim_netlink_close(int fd);

/* Lets the server write the counters and the states of its ports anew. */
void shim_refresh(void);

/* Wakes the server. */
void shim_wake(void);

/*
 * Finds how the server can open the memory of GPUs in [start, start + bytes). Returns errno, after a message that says
 * why, or 0.
 *
 * pieces: room for `most`, of which the first *count are set; files in them are to be closed
 */
struct shim_gpu_piece;
int shim_gpu_pieces(uint64_t start, uint64_t bytes, struct shim_gpu_piece *pieces, uint32_t most, uint32_t *count);

/* Says once for each reason why memory of a GPU cannot be registered. */
void shim_gpu_refuse(uint64_t start, const char *reason);

#define SHIM_PATH_BYTES 4096

/* Returns where a path lies: in the server's folder for what describes its devices, else the path itself. */
const char *shim_path(const char *path, char buffer[SHIM_PATH_BYTES]);

/* Does the same for a file that is read next: counters and states of ports are live. */
const char *shim_open_path(const char *path, char buffer[SHIM_PATH_BYTES]);

#endif
