/* What the parts of the preload library share. */
#ifndef DOORBELL_SHIM_H
#define DOORBELL_SHIM_H

#include <stdbool.h>

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

/* Sends SHIM_WAKE to the server of the open device with that descriptor. */
void shim_wake(int fd);

#define SHIM_PATH_BYTES 4096

/* Returns where a path lies: in the server's folder for what describes its devices, else the path itself. */
const char *shim_path(const char *path, char buffer[SHIM_PATH_BYTES]);

#endif
