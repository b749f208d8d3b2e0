/* The part that the runtime and the driver library share; it lives in libcuda.so.1. Functions return codes of cuda.h. */
#ifndef DOORBELL_CUDA_CORE_H
#define DOORBELL_CUDA_CORE_H

#include "protocol.h"
#include <stdbool.h>
#include <stddef.h>

enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	NO_BINARY = 209,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	NOT_READY = 600,
	NOT_SUPPORTED = 801,
};

enum { PCI_DOMAIN = 0xdb00 }; /* that of the HCAs, which no machine has */

struct doorbell_gpus {
	uint64_t base, bytes, file, count, capability, multiprocessors, threads, blocks, shared, memory, peers;
};

/* A loaded function: its number, and where its parameters lie. */
struct doorbell_function {
	uint64_t number, parameters, bytes;
	uint64_t *shape; /* offset and bytes of each */
	struct doorbell_function *next;
	uint64_t module;
	int dynamic_shared;
	char name[];
};

struct doorbell_launch {
	uint32_t grid[3], block[3];
	uint64_t shared;
	void *stream;
	bool cooperative;
};

#pragma GCC visibility push(default)
extern __thread int doorbell_device; /* the calling thread's device */
extern __thread bool doorbell_current; /* whether its context is current: a call that needs one makes it so */

/* Opens the connection of this thread, if need be. */
int doorbell_open(const struct doorbell_gpus **gpus);
/* Whether two GPUs, whose numbers are less than the count, address each other's memory. */
bool doorbell_peers(int device, int peer);
int doorbell_call(enum gpu_request type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, uint64_t *out,
	    size_t outputs);
#define CALL(type, out, outputs, ...)                                                                               \
	doorbell_call(type, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8, NULL, 0, out,      \
		outputs)
/* Tells the server of a function that is not served. */
int doorbell_missing(const char *function);
/* Prints a line for the user, once for each text. */
void doorbell_say(const char *text);

/* Memory */
int doorbell_allocate(enum gpu_memory kind, size_t bytes, void **address);
int doorbell_free(void *address);
int doorbell_register(void *address, size_t bytes);
int doorbell_unregister(void *address);
/* The device's address for memory of which all bytes are reachable by kernels; 0 for the program's own. */
uint64_t doorbell_translate(const void *address, size_t bytes);
int doorbell_copy(void *to, const void *from, size_t bytes, void *stream, bool wait);
int doorbell_copy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, void *stream,
	      bool wait);
int doorbell_fill(void *to, size_t pitch, uint64_t value, size_t element, size_t width, size_t height, void *stream);
int doorbell_export(const void *address, unsigned char handle[64]);
int doorbell_import(const unsigned char handle[64], void **address);
int doorbell_close_import(void *address);
int doorbell_export_event(void *event, unsigned char handle[64]);
int doorbell_import_event(const unsigned char handle[64], void **event);
/* What GPU_POINTER answers; of memory that is mapped to a reserved range, its own. */
int doorbell_pointer(uint64_t address, uint64_t out[4]);

/* Modules */
int doorbell_load(const void *image, uint64_t *module);
int doorbell_load_parts(const void *const *parts, size_t count, uint64_t *module);
int doorbell_function(uint64_t module, const char *name, struct doorbell_function **function);
int doorbell_variable(uint64_t module, const char *name, void **address, size_t *bytes);
int doorbell_launch(const struct doorbell_function *function, const struct doorbell_launch *shape, void **parameters, const void *packed,
	      size_t packed_bytes);
int doorbell_function_attribute(const struct doorbell_function *function, int attribute, int *value);

/* Streams */
uint64_t doorbell_stream(const void *stream);
int doorbell_synchronize(void *stream);
int doorbell_host_function(void *stream, void (*function)(void *), void *data);

/* Graphs */
struct doorbell_graph;
struct doorbell_node;
struct doorbell_instance;
struct doorbell_object;
/* Without a graph, into one of its own. */
int doorbell_begin_capture(void *stream, struct doorbell_graph *graph, struct doorbell_node *const *needs, size_t count);
int doorbell_end_capture(void *stream, struct doorbell_graph **graph);
/* 0 for a stream that is not captured, 1 for one that is, 2 where the capture is invalid; what its next node needs. */
int doorbell_capture_status(void *stream, unsigned long long *id, struct doorbell_graph **graph,
			    struct doorbell_node *const **front, size_t *count);
int doorbell_capture_update(void *stream, struct doorbell_node *const *front, size_t count, bool replace);
/* Records an event or waits for one; with flags & 1 as a node where the stream is captured. */
int doorbell_event(bool record, void *event, void *stream, unsigned flags);
int doorbell_graph_create(struct doorbell_graph **graph);
int doorbell_graph_clone(struct doorbell_graph **clone, const struct doorbell_graph *graph);
int doorbell_graph_destroy(struct doorbell_graph *graph);
int doorbell_graph_nodes(const struct doorbell_graph *graph, bool roots, struct doorbell_node **nodes, size_t *count);
int doorbell_graph_edges(const struct doorbell_graph *graph, struct doorbell_node **from, struct doorbell_node **to,
			 size_t *count);
/* Adds the edges, or takes them away. */
int doorbell_graph_depend(struct doorbell_graph *graph, struct doorbell_node *const *from, struct doorbell_node *const *to,
			  size_t count, bool needed);
int doorbell_graph_instantiate(const struct doorbell_graph *graph, struct doorbell_instance **instance);
int doorbell_graph_launch(struct doorbell_instance *instance, void *stream);
int doorbell_instance_destroy(struct doorbell_instance *instance);
/* What this thread asks for between both becomes a node. */
int doorbell_node_begin(struct doorbell_graph *graph, struct doorbell_node *const *needs, size_t count);
int doorbell_node_end(int error, struct doorbell_node **node);
int doorbell_node_event(bool record, void *event, struct doorbell_graph *graph, struct doorbell_node *const *needs,
			size_t count, struct doorbell_node **node);
int doorbell_node_child(const struct doorbell_graph *child, struct doorbell_graph *graph,
			struct doorbell_node *const *needs, size_t count, struct doorbell_node **node);
int doorbell_node_type(const struct doorbell_node *node, int *type);
int doorbell_node_needs(const struct doorbell_node *node, struct doorbell_node **nodes, size_t *count);
int doorbell_node_dependents(const struct doorbell_node *node, struct doorbell_node **nodes, size_t *count);
int doorbell_node_destroy(struct doorbell_node *node);
int doorbell_object_create(struct doorbell_object **object, void *data, void (*destroy)(void *), unsigned users);
int doorbell_object_retain(struct doorbell_object *object, unsigned users);
int doorbell_object_release(struct doorbell_object *object, unsigned users);
int doorbell_graph_retain(struct doorbell_graph *graph, struct doorbell_object *object, unsigned users, bool move);
int doorbell_graph_release(struct doorbell_graph *graph, struct doorbell_object *object, unsigned users);

/* Properties */
int doorbell_attribute(int *value, int attribute, int device);
int doorbell_bus_id(char *text, int length, int device);
int doorbell_by_bus_id(int *device, const char *text);
const char *doorbell_error_name(int error);
const char *doorbell_error_text(int error);
#pragma GCC visibility pop

/* Keeps an operation whose stream is captured, and answers true; the error is that of the call then. */
bool doorbell_captured(int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, int *error);
bool doorbell_copy_captured(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			    void *stream, int *error);
bool doorbell_host_function_captured(void *stream, void (*function)(void *), void *data, int *error);

#endif
