/*
 * The protocol between the preload library and the Java server (dev.doorbell.interop.shim) over a Unix stream
 * socket. All fields are little-endian; all structures are multiples of 8 bytes.
 *
 * A connection is an open device, an open rdma_cm file, or an event file descriptor. The client sends first:
 *
 *   device   struct hello, with the reply struct welcome; then one request at a time, a struct message with its
 *            payload, with a reply of the same form. With the welcome comes a descriptor of the process's wake file,
 *            unless the server never sleeps
 *   rdma_cm  the same; the reply has the token of its event file descriptor, from which the program reads nothing: it
 *            can be read while events of connections wait
 *   events   struct hello with the token of a SHIM_DO_EVENTS or an rdma_cm file, with the reply struct welcome; then the server
 *            writes the records that the program read()s
 *   control  struct hello with what is to be done with the device's port as token (SHIM_PORT_*), with the reply struct
 *            welcome, and nothing more
 *
 * A connection that has not sent its struct hello within a second is closed.
 *
 * The library does not interpret commands. It forwards the head and the attributes of an ioctl; the server
 * reads what they point to, and writes the results, by process_vm_readv and process_vm_writev, as a kernel
 * copies from and to user space.
 */
#ifndef DOORBELL_SHIM_PROTOCOL_H
#define DOORBELL_SHIM_PROTOCOL_H

#include <stdint.h>

#define SHIM_MAGIC 0x56554244u /* "DBUV" */
#define SHIM_VERSION 9u

/*
 * The shared file, a memfd that is sealed against shrinking (the server refuses any other), by offset:
 *
 *   clock            a page at SHIM_CLOCK_OFFSET, where libmlx5 maps it: the server writes it when a device is opened,
 *                    the library discards it with the last one
 *   sleep            a page at SHIM_SLEEP_OFFSET, a struct shim_sleep, as long as the file lasts
 *   on-chip memory   below 2^36, where libmlx5 maps it: a command and the two halves of a page index
 *   doorbell pages   from SHIM_DEVICE_OFFSET on, where the server chose
 *   shared pages     the client's own, from SHIM_CLIENT_OFFSET on: each at its address
 */
#define SHIM_CLOCK_OFFSET (7ull << 20)
#define SHIM_PAGE 4096
#define SHIM_SLEEP_OFFSET (1ull << 39)
#define SHIM_DEVICE_OFFSET (1ull << 40)
#define SHIM_CLIENT_OFFSET (1ull << 47)
#define SHIM_FILE_BYTES (1ull << 48)

enum shim_sleep_state {
	SHIM_AWAKE = 0,	 /* the server looks at the doorbells all the time, or a wake is under way */
	SHIM_ASLEEP = 1, /* who rings a doorbell wakes the server: writes 1 to the wake file, an eventfd */
};

/* The server writes it; the library replaces the state by SHIM_AWAKE when it wakes the server. */
struct shim_sleep {
	uint32_t state;
	uint32_t reserved;
};

enum shim_kind { SHIM_DEVICE = 1, SHIM_EVENTS = 2, SHIM_CONNECTIONS = 3, SHIM_CONTROL = 5 };

struct shim_hello {
	uint32_t magic, version, kind;
	uint32_t reserved; /* SO_PEERCRED identifies the process */
	uint32_t file;	 /* file descriptor in that process: of the shared file, or of these events */
	uint32_t device; /* n of uverbsN; for GPUs: the rank that a launcher gave, and 1, or 0 */
	uint64_t token;	 /* of an event file descriptor; of a device: SHIM_INHERITED, or 0 */
};

/* The device is one that the parent of this process has open: none of the parent's objects is there, and no queues. */
#define SHIM_INHERITED 1u

/* What a control connection asks for: that the files of counters and states are as new as now. */
#define SHIM_PORT_REFRESH 0u

struct shim_welcome {
	uint32_t magic;
	int32_t error; /* errno, or 0 */
	uint32_t pid;  /* of the server, which reads and writes the client's memory */
	uint32_t reserved;
	uint64_t token; /* of the event file descriptor of an rdma_cm file */
};

enum shim_type {
	SHIM_IOCTL = 1,	  /* to the server: u64 address of the head, then head and attributes */
	SHIM_REQUEUE = 2, /* to the server: u64 token, then event records to be queued again */
	SHIM_HELD = 8,	  /* to the server: u64 start, u64 bytes of pages that are shared until SHIM_FREED, or until the device
			     is closed. It has no reply */
	SHIM_FREED = 9,	  /* to the server: the same pages; no queue lies in them. It has no reply */
	SHIM_LAST = 10,	  /* to the server: two u64 0; the device is closed after the reply, a SHIM_ANSWER without actions: what has rung
			     before is carried out while the memory of the program is there */
	SHIM_GPU = 7,	  /* to the server: u64 0, then a struct shim_gpu_piece for each piece; for the command that is
			     repeated next. Its reply is a SHIM_ANSWER without actions */
	SHIM_CONNECT = 6, /* to the server: u64 0, then what the program has written to an rdma_cm file */
	SHIM_ANSWER = 3,  /* to the client: errno in value; then a struct shim_action for each action */
	SHIM_SHARE = 4,	  /* to the client: as SHIM_ANSWER; then the client repeats the SHIM_IOCTL, with errno in value */
};

struct shim_message {
	uint32_t bytes; /* of the payload */
	uint32_t type;
	int32_t value;
	uint32_t reserved;
};

enum shim_action_type {
	SHIM_DO_SHARE = 1,   /* [a, a + b): pages of the client become pages of the shared file */
	SHIM_DO_UNSHARE = 2, /* [a, a + b): pages of the client become private again */
	SHIM_DO_DISCARD = 3, /* [a, a + b) of the shared file is used no longer */
	SHIM_DO_EVENTS = 4,  /* opens the event file descriptor with token a; its number goes to b, c bytes wide;
				d: its events are the device's own, and the loss of the server is one of them */
	SHIM_DO_DRAIN = 5,   /* discards unread events of the object d from token a; their number, records of
				c >> 32 bytes, is taken from the 32-bit count at b, if there is one */
	SHIM_DO_TAKE = 6,    /* reads a byte from the event file descriptor with token a: no event waits there any more */
	SHIM_DO_EXPORT = 7,  /* [a, a + b) is no memory of the host: sends a SHIM_GPU if it is a GPU's, else EFAULT */
};

struct shim_action {
	uint64_t type, a, b, c, d;
};

enum shim_gpu_kind {
	SHIM_GPU_LEGACY = 0,	 /* handle: of cuIpcGetMemHandle */
	SHIM_GPU_DESCRIPTOR = 1, /* file: CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, open until the reply */
	SHIM_GPU_FABRIC = 2,	 /* handle: CU_MEM_HANDLE_TYPE_FABRIC */
};

/* An allocation of a GPU, or what is mapped of it. Each piece of a message begins where the one before it ends. */
struct shim_gpu_piece {
	uint64_t start, bytes;
	uint32_t kind;
	int32_t file;
	uint8_t device[16]; /* UUID */
	uint8_t handle[64];
};

#define SHIM_MAX_PAYLOAD (64u << 10)

#endif
