/*
 * Graphs of captured streams. While a stream is captured, its operations are kept and not sent to the server; a launch
 * sends them in the order in which they were captured. Each captured stream but the first has a stream of the graph's
 * own, and each event that was recorded in the capture has an event of its own, so that branches run side by side.
 */
#include "core.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ILLEGAL_STATE = 401, UNSUPPORTED = 900, INVALIDATED = 901, UNMATCHED = 903, ISOLATION = 905, IMPLICIT = 906 };

/* Operations that this library does with several requests; the others are an enum gpu_request. */
enum { COPY_ROWS = 0x100, HOST_FUNCTION };

enum { MOST_NUMBERS = 16 };

struct operation {
	struct operation *next;
	int type;
	size_t numbers, length;
	uint64_t in[]; /* the numbers, then the bytes */
};

struct lane {
	struct lane *next;
	uint64_t device, stream; /* as captured */
	uint64_t replay, joined; /* of an instance */
};

struct marker {
	struct marker *next;
	uint64_t event, replay;
	bool outside; /* recorded again, in no capture */
};

struct doorbell_graph {
	struct doorbell_graph *next; /* of those that are captured now */
	uint64_t id;
	bool invalid;
	struct operation *first, **last;
	struct lane *lanes; /* the first one is where the capture began */
	struct marker *markers;
	uint64_t begun; /* of an instance */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doorbell_graph *captures;
static atomic_int active;
static uint64_t last_id;

/* Where a request has its device, with the stream behind it; -1 for one that belongs to no stream. */
static int place_of(int type, size_t numbers)
{
	switch (type) {
	case GPU_EVENT_RECORD:
		return 1;
	case GPU_FREE:
		return numbers == 3 ? 1 : -1;
	case GPU_LAUNCH:
	case GPU_COPY:
	case GPU_FILL:
	case GPU_STORE:
	case GPU_WAIT_VALUE:
	case GPU_STREAM_WAIT:
	case GPU_QUERY:
	case GPU_SYNCHRONIZE:
	case COPY_ROWS:
	case HOST_FUNCTION:
		return 0;
	default:
		return -1;
	}
}

static struct lane *lane_of(const struct doorbell_graph *graph, uint64_t device, uint64_t stream)
{
	struct lane *lane = graph->lanes;
	while (lane && (lane->device != device || lane->stream != stream))
		lane = lane->next;
	return lane;
}

static struct marker *marker_of(const struct doorbell_graph *graph, uint64_t event)
{
	struct marker *marker = graph->markers;
	while (marker && marker->event != event)
		marker = marker->next;
	return marker;
}

static struct doorbell_graph *capture_of(uint64_t device, uint64_t stream)
{
	struct doorbell_graph *graph = captures;
	while (graph && !lane_of(graph, device, stream))
		graph = graph->next;
	return graph;
}

static int add_lane(struct doorbell_graph *graph, uint64_t device, uint64_t stream)
{
	struct lane **at = &graph->lanes, *lane = calloc(1, sizeof *lane);
	if (!lane)
		return OUT_OF_MEMORY;
	while (*at)
		at = &(*at)->next;
	*lane = (struct lane){NULL, device, stream, 0, 0};
	*at = lane;
	return OK;
}

static int add_marker(struct doorbell_graph *graph, uint64_t event)
{
	struct marker *marker = calloc(1, sizeof *marker);
	if (!marker)
		return OUT_OF_MEMORY;
	*marker = (struct marker){graph->markers, event, 0, false};
	graph->markers = marker;
	return OK;
}

static int append(struct doorbell_graph *graph, int type, const uint64_t *in, size_t numbers, const void *bytes,
		  size_t length)
{
	struct operation *operation = malloc(sizeof *operation + numbers * sizeof *in + length);
	if (!operation || numbers > MOST_NUMBERS) {
		free(operation);
		return OUT_OF_MEMORY;
	}
	*operation = (struct operation){NULL, type, numbers, length};
	memcpy(operation->in, in, numbers * sizeof *in);
	if (length)
		memcpy(operation->in + numbers, bytes, length);
	*graph->last = operation;
	graph->last = &operation->next;
	return OK;
}

static struct doorbell_graph *create(void)
{
	struct doorbell_graph *graph = calloc(1, sizeof *graph);
	if (graph)
		graph->last = &graph->first;
	return graph;
}

int doorbell_graph_create(struct doorbell_graph **graph)
{
	*graph = create();
	return *graph ? OK : OUT_OF_MEMORY;
}

int doorbell_graph_destroy(struct doorbell_graph *graph)
{
	if (!graph)
		return INVALID_VALUE;
	for (struct operation *operation = graph->first, *next; operation; operation = next) {
		next = operation->next;
		free(operation);
	}
	for (struct lane *lane = graph->lanes, *next; lane; lane = next) {
		next = lane->next;
		if (lane->replay) {
			CALL(GPU_STREAM_DESTROY, NULL, 0, lane->device, lane->replay);
			CALL(GPU_EVENT_DESTROY, NULL, 0, lane->joined);
		}
		free(lane);
	}
	for (struct marker *marker = graph->markers, *next; marker; marker = next) {
		next = marker->next;
		if (marker->replay)
			CALL(GPU_EVENT_DESTROY, NULL, 0, marker->replay);
		free(marker);
	}
	if (graph->begun)
		CALL(GPU_EVENT_DESTROY, NULL, 0, graph->begun);
	free(graph);
	return OK;
}

/* A stream joins a capture as it waits for an event of it. */
static int join(struct doorbell_graph **graph, const uint64_t *in)
{
	struct doorbell_graph *of = captures;
	for (struct marker *marker; of; of = of->next)
		if ((marker = marker_of(of, in[2])) && !marker->outside)
			break;
	if (*graph && of != *graph) {
		(*graph)->invalid = true;
		return ISOLATION;
	}
	if (!of || *graph)
		return OK;
	*graph = of;
	if (!in[1]) { /* the default stream is never captured */
		of->invalid = true;
		return IMPLICIT;
	}
	return add_lane(of, in[0], in[1]);
}

static int keep(struct doorbell_graph *graph, int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length)
{
	if (type == GPU_QUERY || type == GPU_SYNCHRONIZE) {
		graph->invalid = true;
		return UNSUPPORTED;
	}
	if (type == GPU_FREE) /* the next launch uses the memory again */
		return OK;
	if (type == GPU_EVENT_RECORD) {
		struct marker *marker = marker_of(graph, in[0]);
		int error = marker ? OK : add_marker(graph, in[0]);
		if (error != OK)
			return error;
		if (marker)
			marker->outside = false;
	}
	return append(graph, type, in, numbers, bytes, length);
}

bool doorbell_captured(int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, int *error)
{
	int at = atomic_load(&active) ? place_of(type, numbers) : -1;
	if (at < 0)
		return false;
	pthread_mutex_lock(&lock);
	struct doorbell_graph *graph = capture_of(in[at], in[at + 1]);
	*error = type == GPU_STREAM_WAIT ? join(&graph, in) : OK;
	if (graph && *error == OK)
		*error = keep(graph, type, in, numbers, bytes, length);
	if (!graph && type == GPU_EVENT_RECORD)
		for (struct doorbell_graph *each = captures; each; each = each->next) {
			struct marker *marker = marker_of(each, in[0]);
			if (marker)
				marker->outside = true;
		}
	pthread_mutex_unlock(&lock);
	return graph != NULL;
}

bool doorbell_copy_captured(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			    void *stream, int *error)
{
	uint64_t in[] = {(uint64_t)doorbell_device, doorbell_stream(stream), (uint64_t)to, to_pitch,
			 (uint64_t)from,	    from_pitch,		     width,	   height};
	return doorbell_captured(COPY_ROWS, in, sizeof in / sizeof *in, NULL, 0, error);
}

bool doorbell_host_function_captured(void *stream, void (*function)(void *), void *data, int *error)
{
	uint64_t in[] = {(uint64_t)doorbell_device, doorbell_stream(stream), (uint64_t)function, (uint64_t)data};
	return doorbell_captured(HOST_FUNCTION, in, sizeof in / sizeof *in, NULL, 0, error);
}

int doorbell_begin_capture(void *stream)
{
	uint64_t device = (uint64_t)doorbell_device, number = doorbell_stream(stream);
	if (!number)
		return UNSUPPORTED;
	struct doorbell_graph *graph = create();
	if (!graph || add_lane(graph, device, number) != OK) {
		free(graph);
		return OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&lock);
	bool captured = capture_of(device, number) != NULL;
	if (!captured) {
		graph->id = ++last_id;
		graph->next = captures;
		captures = graph;
		atomic_fetch_add(&active, 1);
	}
	pthread_mutex_unlock(&lock);
	if (captured)
		doorbell_graph_destroy(graph);
	return captured ? ILLEGAL_STATE : OK;
}

int doorbell_end_capture(void *stream, struct doorbell_graph **graph)
{
	uint64_t device = (uint64_t)doorbell_device, number = doorbell_stream(stream);
	*graph = NULL;
	pthread_mutex_lock(&lock);
	struct doorbell_graph *ended = capture_of(device, number), **at = &captures;
	int error = !ended ? ILLEGAL_STATE : lane_of(ended, device, number) != ended->lanes ? UNMATCHED : OK;
	if (error == OK) {
		while (*at != ended)
			at = &(*at)->next;
		*at = ended->next;
		atomic_fetch_sub(&active, 1);
	}
	pthread_mutex_unlock(&lock);
	if (error != OK)
		return error;
	if (ended->invalid) {
		doorbell_graph_destroy(ended);
		return INVALIDATED;
	}
	*graph = ended;
	return OK;
}

int doorbell_capture_status(void *stream, unsigned long long *id, struct doorbell_graph **graph)
{
	pthread_mutex_lock(&lock);
	struct doorbell_graph *of = capture_of((uint64_t)doorbell_device, doorbell_stream(stream));
	int status = !of ? 0 : of->invalid ? 2 : 1;
	if (id)
		*id = of ? of->id : 0;
	if (graph)
		*graph = of;
	pthread_mutex_unlock(&lock);
	return status;
}

int doorbell_graph_size(const struct doorbell_graph *graph, size_t *nodes)
{
	if (!graph)
		return INVALID_VALUE;
	*nodes = 0;
	for (struct operation *each = graph->first; each; each = each->next)
		*nodes += each->type != GPU_EVENT_RECORD && each->type != GPU_STREAM_WAIT;
	return OK;
}

static int create_event(uint64_t *event)
{
	return doorbell_call(GPU_EVENT_CREATE, NULL, 0, NULL, 0, event, 1);
}

int doorbell_graph_instantiate(const struct doorbell_graph *graph, struct doorbell_graph **instance)
{
	*instance = NULL;
	if (!graph)
		return INVALID_VALUE;
	struct doorbell_graph *copy = create();
	int error = copy ? create_event(&copy->begun) : OUT_OF_MEMORY;
	for (struct operation *each = graph->first; each && error == OK; each = each->next)
		error = append(copy, each->type, each->in, each->numbers, each->in + each->numbers, each->length);
	for (struct lane *each = graph->lanes; each && error == OK; each = each->next)
		error = add_lane(copy, each->device, each->stream);
	for (struct marker *each = graph->markers; each && error == OK; each = each->next)
		error = add_marker(copy, each->event);
	for (struct lane *each = copy ? copy->lanes : NULL; each && error == OK; each = each->next) {
		error = CALL(GPU_STREAM_CREATE, &each->replay, 1, each->device, 1);
		if (error == OK)
			error = create_event(&each->joined);
	}
	for (struct marker *each = copy ? copy->markers : NULL; each && error == OK; each = each->next)
		error = create_event(&each->replay);
	if (error != OK) {
		if (copy)
			doorbell_graph_destroy(copy);
		return error;
	}
	*instance = copy;
	return OK;
}

static int replay(const struct doorbell_graph *graph, const struct operation *operation)
{
	uint64_t in[MOST_NUMBERS];
	int at = place_of(operation->type, operation->numbers), error;
	memcpy(in, operation->in, operation->numbers * sizeof *in);
	in[at + 1] = lane_of(graph, in[at], in[at + 1])->replay;
	if (operation->type == GPU_EVENT_RECORD)
		in[0] = marker_of(graph, in[0])->replay;
	if (operation->type == GPU_STREAM_WAIT)
		in[2] = marker_of(graph, in[2])->replay;
	if (operation->type < COPY_ROWS)
		return doorbell_call((enum gpu_request)operation->type, in, operation->numbers, operation->in + operation->numbers,
				     operation->length, NULL, 0);
	int device = doorbell_device;
	doorbell_device = (int)in[0];
	if (operation->type == COPY_ROWS)
		error = doorbell_copy2d((void *)in[2], in[3], (void *)in[4], in[5], in[6], in[7], (void *)in[1], false);
	else
		error = doorbell_host_function((void *)in[1], (void (*)(void *))in[2], (void *)in[3]);
	doorbell_device = device;
	return error;
}

/* Launches of an instance do not overlap: each waits for the streams of the one before. */
int doorbell_graph_launch(struct doorbell_graph *instance, void *stream)
{
	if (!instance)
		return INVALID_VALUE;
	uint64_t device = (uint64_t)doorbell_device, number = doorbell_stream(stream);
	if (doorbell_capture_status(stream, NULL, NULL))
		return doorbell_missing("cudaGraphLaunch in a captured stream");
	int error = OK;
	for (struct lane *lane = instance->lanes; lane && error == OK; lane = lane->next)
		error = CALL(GPU_STREAM_WAIT, NULL, 0, device, number, lane->joined);
	if (error == OK)
		error = CALL(GPU_EVENT_RECORD, NULL, 0, instance->begun, device, number);
	for (struct lane *lane = instance->lanes; lane && error == OK; lane = lane->next)
		error = CALL(GPU_STREAM_WAIT, NULL, 0, lane->device, lane->replay, instance->begun);
	for (struct operation *each = instance->first; each && error == OK; each = each->next)
		error = replay(instance, each);
	for (struct lane *lane = instance->lanes; lane && error == OK; lane = lane->next) {
		error = CALL(GPU_EVENT_RECORD, NULL, 0, lane->joined, lane->device, lane->replay);
		if (error == OK)
			error = CALL(GPU_STREAM_WAIT, NULL, 0, device, number, lane->joined);
	}
	return error;
}
