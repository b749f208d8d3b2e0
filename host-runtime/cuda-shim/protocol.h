/*
 * Requests of the CUDA libraries to the server of `doorbell exec` (dev.doorbell.interop.shim.gpu), over the same Unix
 * socket and with the same messages as the preload library's (../uverbs-shim/protocol.h). A request is 64-bit numbers
 * with bytes behind them; the answer has an error code of cuda.h, a flag that there is text to print, and numbers.
 */
#ifndef DOORBELL_CUDA_PROTOCOL_H
#define DOORBELL_CUDA_PROTOCOL_H

#include "../uverbs-shim/protocol.h"

#define GPU_KIND 4u /* of struct shim_hello */

enum gpu_request {
	GPU_OPEN = 1,	      /* -> base, bytes, server's file, GPUs, capability, SMs, threads, blocks, shared, memory,
			 * the first peer of each GPU in four bits */
	GPU_ALLOCATE,	      /* device, enum gpu_memory, bytes -> address */
	GPU_FREE,	      /* address; with device and stream: when the stream gets there */
	GPU_LOAD,	      /* device, form (0 fat binaries, 1 PTX), then address and length of each -> module */
	GPU_UNLOAD,	      /* module */
	GPU_FUNCTION,	      /* module; name -> function, parameters, bytes, then offset and bytes of each */
	GPU_VARIABLE,	      /* module; name -> address, bytes */
	GPU_LAUNCH,	      /* device, stream, function, grid, block, shared bytes, cooperative; parameters */
	GPU_STREAM_CREATE,    /* device, 1 for a stream that does not wait for the default one -> stream */
	GPU_STREAM_DESTROY,   /* device, stream */
	GPU_SYNCHRONIZE,      /* device, stream or -1 for all */
	GPU_QUERY,	      /* device, stream */
	GPU_EVENT_CREATE,     /* -> event */
	GPU_EVENT_DESTROY,    /* event */
	GPU_EVENT_RECORD,     /* event, device, stream */
	GPU_EVENT_SYNCHRONIZE, /* event */
	GPU_EVENT_QUERY,      /* event */
	GPU_EVENT_ELAPSED,    /* event, event -> ns */
	GPU_STREAM_WAIT,      /* device, stream, event */
	GPU_COPY,	      /* device, stream, to, its pitch, from, its pitch, width, height */
	GPU_FILL,	      /* device, stream, to, pitch, value, bytes of an element, width, height */
	GPU_STORE,	      /* device, stream, to; bytes */
	GPU_HOST_CALL,	      /* device, stream -> ticket */
	GPU_HOST_AWAIT,	      /* ticket: until the stream gets there */
	GPU_HOST_DONE,	      /* ticket: the stream goes on */
	GPU_WAIT_VALUE,	      /* device, stream, address, bytes, value, condition */
	GPU_MAP_FILE,	      /* device, descriptor of the program, offset, bytes -> address */
	GPU_EXPORT,	      /* address -> key, offset in the block, bytes of the block */
	GPU_IMPORT,	      /* device, key -> address, bytes, server's file, offset */
	GPU_POINTER,	      /* address -> enum gpu_memory, device, start, bytes */
	GPU_MEMORY,	      /* device -> free bytes, bytes */
	GPU_RESET,
	GPU_TEXT,	      /* 0 for printf, 1 for errors -> text */
	GPU_MISSING,	      /* name of a function that is not served */
	GPU_MAP_AT,	      /* address in a reserved block, descriptor of the program, offset, bytes */
	GPU_UNMAP,	      /* address, bytes */
	GPU_EVENT_EXPORT,     /* event -> key */
	GPU_EVENT_IMPORT,     /* key -> event */
};

enum gpu_memory { GPU_DEVICE, GPU_HOST, GPU_MANAGED, GPU_FILE, GPU_IMPORTED, GPU_RESERVED };

#endif
