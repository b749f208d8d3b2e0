/*
 * Functions of graphs, which the runtime and the driver library have alike, under other names: graphs.c does the work.
 * Edges have no data here: programmatic launch is a plain dependency.
 */
#include "core.h"

#define API __attribute__((visibility("default")))
#ifdef RUNTIME
int runtime_result(int error);
#define ANSWER(error) runtime_result(error)
#define NAME(runtime, driver) runtime
#else
#define ANSWER(error) error
#define NAME(runtime, driver) driver
#endif

typedef struct doorbell_graph *graph_t;
typedef struct doorbell_node *node_t;
typedef struct doorbell_instance *instance_t;
typedef struct doorbell_object *object_t;

/* Captures */

API int NAME(cudaStreamBeginCapture, cuStreamBeginCapture_v2)(void *stream, int mode)
{
	(void)mode;
	return ANSWER(doorbell_begin_capture(stream, NULL, NULL, 0));
}

API int NAME(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph)(void *stream, graph_t graph, const node_t *needs,
									  const void *edges, size_t count, int mode)
{
	(void)edges, (void)mode;
	return ANSWER(graph ? doorbell_begin_capture(stream, graph, needs, count) : INVALID_VALUE);
}

API int NAME(cudaStreamEndCapture, cuStreamEndCapture)(void *stream, graph_t *graph)
{
	return ANSWER(doorbell_end_capture(stream, graph));
}

API int NAME(cudaStreamIsCapturing, cuStreamIsCapturing)(void *stream, int *status)
{
	*status = doorbell_capture_status(stream, NULL, NULL, NULL, NULL);
	return OK;
}

API int NAME(cudaStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2)(void *stream, int *status, unsigned long long *id,
								      graph_t *graph, const node_t **front, size_t *count)
{
	*status = doorbell_capture_status(stream, id, graph, front, count);
	return OK;
}

API int NAME(cudaStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3)(void *stream, int *status, unsigned long long *id,
								      graph_t *graph, const node_t **front,
								      const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	*status = doorbell_capture_status(stream, id, graph, front, count);
	return OK;
}

#ifdef RUNTIME
#if RUNTIME == 12
API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
	return cudaStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}
#else
API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, graph_t *graph, const node_t **front,
				 const void **edges, size_t *count)
{
	return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, front, edges, count);
}
#endif
#endif

API int NAME(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)(int *mode)
{
	(void)mode;
	return OK;
}

/* Graphs */

API int NAME(cudaGraphCreate, cuGraphCreate)(graph_t *graph, unsigned flags)
{
	(void)flags;
	return ANSWER(doorbell_graph_create(graph));
}

API int NAME(cudaGraphClone, cuGraphClone)(graph_t *clone, graph_t graph)
{
	return ANSWER(doorbell_graph_clone(clone, graph));
}

API int NAME(cudaGraphDestroy, cuGraphDestroy)(graph_t graph)
{
	return ANSWER(doorbell_graph_destroy(graph));
}

API int NAME(cudaGraphGetNodes, cuGraphGetNodes)(graph_t graph, node_t *nodes, size_t *count)
{
	return ANSWER(doorbell_graph_nodes(graph, false, nodes, count));
}

API int NAME(cudaGraphGetRootNodes, cuGraphGetRootNodes)(graph_t graph, node_t *nodes, size_t *count)
{
	return ANSWER(doorbell_graph_nodes(graph, true, nodes, count));
}

API int NAME(cudaGraphNodeGetType, cuGraphNodeGetType)(node_t node, int *type)
{
	return ANSWER(doorbell_node_type(node, type));
}

API int NAME(cudaGraphDestroyNode, cuGraphDestroyNode)(node_t node)
{
	return ANSWER(doorbell_node_destroy(node));
}

/*
 * Each of these has a second form with data of edges, which in CUDA 13 is the only one. EXTRA is that parameter.
 */
#define WITH_EDGES(version, EXTRA)                                                                                     \
	API int NAME(cudaGraphAddDependencies##version, cuGraphAddDependencies##version)(                              \
		graph_t graph, const node_t *from, const node_t *to EXTRA, size_t count)                               \
	{                                                                                                              \
		return ANSWER(doorbell_graph_depend(graph, from, to, count, true));                                    \
	}                                                                                                              \
	API int NAME(cudaGraphRemoveDependencies##version, cuGraphRemoveDependencies##version)(                        \
		graph_t graph, const node_t *from, const node_t *to EXTRA, size_t count)                               \
	{                                                                                                              \
		return ANSWER(doorbell_graph_depend(graph, from, to, count, false));                                   \
	}                                                                                                              \
	API int NAME(cudaGraphGetEdges##version, cuGraphGetEdges##version)(graph_t graph, node_t *from,                \
									  node_t *to EXTRA, size_t *count)            \
	{                                                                                                              \
		return ANSWER(doorbell_graph_edges(graph, from, to, count));                                           \
	}                                                                                                              \
	API int NAME(cudaGraphNodeGetDependencies##version, cuGraphNodeGetDependencies##version)(                      \
		node_t node, node_t *nodes EXTRA, size_t *count)                                                       \
	{                                                                                                              \
		return ANSWER(doorbell_node_needs(node, nodes, count));                                                \
	}                                                                                                              \
	API int NAME(cudaGraphNodeGetDependentNodes##version, cuGraphNodeGetDependentNodes##version)(                  \
		node_t node, node_t *nodes EXTRA, size_t *count)                                                       \
	{                                                                                                              \
		return ANSWER(doorbell_node_dependents(node, nodes, count));                                           \
	}                                                                                                              \
	API int NAME(cudaStreamUpdateCaptureDependencies##version, cuStreamUpdateCaptureDependencies##version)(        \
		void *stream, node_t *front EXTRA, size_t count, unsigned flags)                                       \
	{                                                                                                              \
		return ANSWER(flags > 1 ? INVALID_VALUE : doorbell_capture_update(stream, front, count, flags));       \
	}
#define DATA , __attribute__((unused)) const void *edges
#if defined RUNTIME && RUNTIME > 12
WITH_EDGES(, DATA)
#else
WITH_EDGES(, )
#endif
WITH_EDGES(_v2, DATA)

/* Nodes */

API int NAME(cudaGraphAddEmptyNode, cuGraphAddEmptyNode)(node_t *node, graph_t graph, const node_t *needs, size_t count)
{
	int error = doorbell_node_begin(graph, needs, count);
	return ANSWER(error != OK ? error : doorbell_node_end(OK, node));
}

struct host_node {
	void (*function)(void *);
	void *data;
};

API int NAME(cudaGraphAddHostNode, cuGraphAddHostNode)(node_t *node, graph_t graph, const node_t *needs, size_t count,
							const struct host_node *of)
{
	int error = doorbell_node_begin(graph, needs, count);
	return ANSWER(error != OK ? error : doorbell_node_end(doorbell_host_function(NULL, of->function, of->data), node));
}

struct fill_node {
	void *to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

/* The driver's has a context behind it. */
API int NAME(cudaGraphAddMemsetNode, cuGraphAddMemsetNode)(node_t *node, graph_t graph, const node_t *needs, size_t count,
							    const struct fill_node *of)
{
	int error = doorbell_node_begin(graph, needs, count);
	if (error == OK)
		error = doorbell_node_end(
			doorbell_fill(of->to, of->pitch, of->value, of->element, of->width, of->height, NULL), node);
	return ANSWER(error);
}

API int NAME(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode)(node_t *node, graph_t graph, const node_t *needs,
								    size_t count, graph_t child)
{
	return ANSWER(doorbell_node_child(child, graph, needs, count, node));
}

API int NAME(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode)(node_t *node, graph_t graph, const node_t *needs,
								      size_t count, void *event)
{
	return ANSWER(doorbell_node_event(true, event, graph, needs, count, node));
}

API int NAME(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode)(node_t *node, graph_t graph, const node_t *needs,
								  size_t count, void *event)
{
	return ANSWER(doorbell_node_event(false, event, graph, needs, count, node));
}

#ifdef RUNTIME
struct dim {
	unsigned x, y, z;
};
int cudaLaunchKernel(const void *function, struct dim grid, struct dim block, void **parameters, size_t shared, void *stream);
int cudaMemcpy3DAsync(const void *of, void *stream);

struct kernel_node {
	const void *function;
	struct dim grid, block;
	unsigned shared;
	void **parameters, **extra;
};

API int cudaGraphAddKernelNode(node_t *node, graph_t graph, const node_t *needs, size_t count, const struct kernel_node *of)
{
	int error = of->extra ? doorbell_missing("cudaGraphAddKernelNode with packed parameters") : doorbell_node_begin(graph, needs, count);
	if (error == OK)
		error = doorbell_node_end(
			cudaLaunchKernel(of->function, of->grid, of->block, of->parameters, of->shared, NULL), node);
	return ANSWER(error);
}

API int cudaGraphAddMemcpyNode(node_t *node, graph_t graph, const node_t *needs, size_t count, const void *of)
{
	int error = doorbell_node_begin(graph, needs, count);
	return ANSWER(error != OK ? error : doorbell_node_end(cudaMemcpy3DAsync(of, NULL), node));
}

API int cudaGraphAddMemcpyNode1D(node_t *node, graph_t graph, const node_t *needs, size_t count, void *to, const void *from,
				 size_t bytes, int kind)
{
	(void)kind;
	int error = doorbell_node_begin(graph, needs, count);
	return ANSWER(error != OK ? error : doorbell_node_end(doorbell_copy(to, from, bytes, NULL, false), node));
}
#else
int cuLaunchKernel(const void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameters, void **extra);

/* The second form has a kernel and a context behind it. */
struct kernel_node {
	const void *function;
	unsigned gx, gy, gz, bx, by, bz, shared;
	void **parameters, **extra;
	const void *kernel;
};

API int cuGraphAddKernelNode(node_t *node, graph_t graph, const node_t *needs, size_t count, const struct kernel_node *of)
{
	int error = doorbell_node_begin(graph, needs, count);
	if (error == OK)
		error = doorbell_node_end(cuLaunchKernel(of->function, of->gx, of->gy, of->gz, of->bx, of->by, of->bz,
							 of->shared, NULL, of->parameters, of->extra),
					  node);
	return error;
}

API int cuGraphAddKernelNode_v2(node_t *node, graph_t graph, const node_t *needs, size_t count, const struct kernel_node *of)
{
	struct kernel_node first = *of;
	if (!first.function)
		first.function = of->kernel;
	return cuGraphAddKernelNode(node, graph, needs, count, &first);
}
#endif

/* Instances */

API int NAME(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)(instance_t *instance, graph_t graph,
									  unsigned long long flags)
{
	(void)flags;
	return ANSWER(doorbell_graph_instantiate(graph, instance));
}

struct instantiation {
	unsigned long long flags;
	void *stream;
	node_t wrong;
	int result;
};

API int NAME(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams)(instance_t *instance, graph_t graph,
									    struct instantiation *of)
{
	int error = doorbell_graph_instantiate(graph, instance);
	of->wrong = NULL;
	of->result = error != OK; /* 0 success, 1 error */
	return ANSWER(error);
}

#ifdef RUNTIME
API int cudaGraphInstantiate(instance_t *instance, graph_t graph, unsigned long long flags)
{
	return cudaGraphInstantiateWithFlags(instance, graph, flags);
}
#endif

API int NAME(cudaGraphUpload, cuGraphUpload)(instance_t instance, void *stream)
{
	(void)stream;
	return ANSWER(instance ? OK : INVALID_VALUE);
}

API int NAME(cudaGraphLaunch, cuGraphLaunch)(instance_t instance, void *stream)
{
	return ANSWER(doorbell_graph_launch(instance, stream));
}

API int NAME(cudaGraphExecDestroy, cuGraphExecDestroy)(instance_t instance)
{
	return ANSWER(doorbell_instance_destroy(instance));
}

/* Objects of the program that graphs keep: CUDA calls destructors in a thread of its own, here it is the releasing one. */

API int NAME(cudaUserObjectCreate, cuUserObjectCreate)(object_t *object, void *data, void (*destroy)(void *), unsigned users,
							unsigned flags)
{
	(void)flags;
	return ANSWER(doorbell_object_create(object, data, destroy, users));
}

API int NAME(cudaUserObjectRetain, cuUserObjectRetain)(object_t object, unsigned users)
{
	return ANSWER(doorbell_object_retain(object, users));
}

API int NAME(cudaUserObjectRelease, cuUserObjectRelease)(object_t object, unsigned users)
{
	return ANSWER(doorbell_object_release(object, users));
}

API int NAME(cudaGraphRetainUserObject, cuGraphRetainUserObject)(graph_t graph, object_t object, unsigned users,
								  unsigned flags)
{
	return ANSWER(doorbell_graph_retain(graph, object, users, flags & 1));
}

API int NAME(cudaGraphReleaseUserObject, cuGraphReleaseUserObject)(graph_t graph, object_t object, unsigned users)
{
	return ANSWER(doorbell_graph_release(graph, object, users));
}

#ifdef RUNTIME
#define ALIAS(name) __typeof__(name) name##_ptsz __attribute__((alias(#name), visibility("default")))
ALIAS(cudaStreamBeginCapture);
ALIAS(cudaStreamBeginCaptureToGraph);
ALIAS(cudaStreamEndCapture);
ALIAS(cudaStreamIsCapturing);
ALIAS(cudaStreamGetCaptureInfo_v2);
ALIAS(cudaStreamGetCaptureInfo_v3);
ALIAS(cudaStreamUpdateCaptureDependencies);
ALIAS(cudaStreamUpdateCaptureDependencies_v2);
ALIAS(cudaGraphInstantiateWithParams);
ALIAS(cudaGraphUpload);
ALIAS(cudaGraphLaunch);
#endif
