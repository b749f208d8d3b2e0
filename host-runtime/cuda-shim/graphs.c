/*
 * Graphs. While a stream is captured, or a node is added, operations are kept as nodes and not sent to the server. A
 * launch sends them in an order that no dependency contradicts: a node follows, in the same stream of the instance, one
 * that it depends on where it can, and waits for events of the others.
 */
#include "core.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	ILLEGAL_STATE = 401,
	UNSUPPORTED = 900,
	INVALIDATED = 901,
	UNMATCHED = 903,
	UNJOINED = 904,
	ISOLATION = 905,
	IMPLICIT = 906
};

/* Operations that this library does with several requests or none; the others are an enum gpu_request. */
enum { COPY_ROWS = 0x100, HOST_FUNCTION, NOTHING };

enum { MOST_NUMBERS = 16 };

/* What a node does. It never changes, and nodes, their clones and instances share it. */
struct operation {
	atomic_int users;
	int type;
	size_t numbers, length;
	uint64_t in[]; /* the numbers, then the bytes */
};

struct nodes {
	struct doorbell_node **of;
	size_t count;
};

struct doorbell_node {
	struct doorbell_node *next;
	struct doorbell_graph *graph;
	struct operation *operation;
	struct nodes needs;
	bool captured; /* and neither added nor excused: its stream must be joined again */
	size_t place;  /* in an order, while there is one */
};

struct held {
	struct held *next;
	struct doorbell_object *object;
};

struct doorbell_object {
	atomic_int users;
	void (*destroy)(void *);
	void *data;
};

struct doorbell_graph {
	struct doorbell_node *first, **last;
	struct held *held;
};

/* A stream has a number of its own among those of all devices; the default streams, which have none, are not captured. */
struct stream {
	struct stream *next;
	uint64_t number;
	struct nodes front; /* what its next node depends on */
};

/* An event that was recorded in a capture. */
struct marker {
	struct marker *next;
	uint64_t event;
	struct nodes front;
};

struct capture {
	struct capture *next;
	uint64_t id;
	bool invalid, owns;
	struct doorbell_graph *graph;
	struct stream *streams; /* the first one is where the capture began */
	struct marker *markers;
};

struct step {
	struct operation *operation;
	uint64_t device;
	size_t lane, *waits, waited; /* steps of other lanes */
	uint64_t done;		     /* an event, where a step of another lane waits for it */
};

struct lane {
	uint64_t device, stream, joined;
	size_t last;
};

struct doorbell_instance {
	struct step *steps;
	struct lane *lanes;
	size_t count, lane_count;
	uint64_t begun;
	struct held *held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static atomic_int active;
static uint64_t last_id;

/* The node that this thread adds: its operations are kept in the graph. */
static __thread struct doorbell_graph *adding;
static __thread struct nodes added; /* what the next operation depends on */
static __thread struct doorbell_node *newest;
/* Whether this thread records, or waits for, an event outside the graph. */
static __thread bool external;

/* Sets of nodes */

static int unite(struct nodes *to, struct doorbell_node *const *more, size_t count)
{
	struct doorbell_node **room = realloc(to->of, (to->count + count + 1) * sizeof *room);
	if (!room)
		return OUT_OF_MEMORY;
	to->of = room;
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;
		while (at < to->count && room[at] != more[i])
			at++;
		if (at == to->count)
			room[to->count++] = more[i];
	}
	return OK;
}

static void empty(struct nodes *of)
{
	free(of->of);
	*of = (struct nodes){NULL, 0};
}

static bool holds(const struct nodes *of, const struct doorbell_node *node)
{
	for (size_t i = 0; i < of->count; i++)
		if (of->of[i] == node)
			return true;
	return false;
}

static void take_out(struct nodes *of, const struct doorbell_node *node)
{
	size_t kept = 0;
	for (size_t i = 0; i < of->count; i++)
		if (of->of[i] != node)
			of->of[kept++] = of->of[i];
	of->count = kept;
}

/* Operations */

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
	case NOTHING:
		return 0;
	default:
		return -1;
	}
}

static void drop(struct operation *operation)
{
	if (atomic_fetch_sub(&operation->users, 1) == 1)
		free(operation);
}

static struct operation *use(struct operation *operation)
{
	atomic_fetch_add(&operation->users, 1);
	return operation;
}

static struct operation *operation_of(int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length)
{
	struct operation *operation = malloc(sizeof *operation + numbers * sizeof *in + length);
	if (!operation || numbers > MOST_NUMBERS) {
		free(operation);
		return NULL;
	}
	*operation = (struct operation){1, type, numbers, length};
	memcpy(operation->in, in, numbers * sizeof *in);
	if (length)
		memcpy(operation->in + numbers, bytes, length);
	return operation;
}

/* Objects whose destructor runs when no graph needs them */

int doorbell_object_create(struct doorbell_object **object, void *data, void (*destroy)(void *), unsigned users)
{
	if (!destroy || !users)
		return INVALID_VALUE;
	*object = malloc(sizeof **object);
	if (!*object)
		return OUT_OF_MEMORY;
	**object = (struct doorbell_object){(int)users, destroy, data};
	return OK;
}

int doorbell_object_retain(struct doorbell_object *object, unsigned users)
{
	if (!object || !users)
		return INVALID_VALUE;
	atomic_fetch_add(&object->users, (int)users);
	return OK;
}

int doorbell_object_release(struct doorbell_object *object, unsigned users)
{
	if (!object || !users || (int)users > atomic_load(&object->users))
		return INVALID_VALUE;
	if (atomic_fetch_sub(&object->users, (int)users) == (int)users) {
		object->destroy(object->data);
		free(object);
	}
	return OK;
}

static int hold(struct held **list, struct doorbell_object *object)
{
	struct held *held = malloc(sizeof *held);
	if (!held)
		return OUT_OF_MEMORY;
	*held = (struct held){*list, object};
	*list = held;
	return OK;
}

int doorbell_graph_retain(struct doorbell_graph *graph, struct doorbell_object *object, unsigned users, bool move)
{
	int error = !graph || !object || !users ? INVALID_VALUE : OK;
	if (error == OK && !move)
		error = doorbell_object_retain(object, users);
	for (unsigned i = 0; i < users && error == OK; i++)
		error = hold(&graph->held, object);
	return error;
}

int doorbell_graph_release(struct doorbell_graph *graph, struct doorbell_object *object, unsigned users)
{
	for (unsigned i = 0; i < users; i++) {
		struct held **at = graph ? &graph->held : NULL;
		while (at && *at && (*at)->object != object)
			at = &(*at)->next;
		if (!at || !*at)
			return INVALID_VALUE;
		struct held *gone = *at;
		*at = gone->next;
		free(gone);
		doorbell_object_release(object, 1);
	}
	return OK;
}

static void let_go(struct held *held)
{
	for (struct held *next; held; held = next) {
		next = held->next;
		doorbell_object_release(held->object, 1);
		free(held);
	}
}

static int hold_all(struct held **list, const struct held *of)
{
	int error = OK;
	for (; of && error == OK; of = of->next) {
		error = hold(list, of->object);
		if (error == OK)
			doorbell_object_retain(of->object, 1);
	}
	return error;
}

/* Graphs and their nodes */

static int add(struct doorbell_graph *graph, struct operation *operation, const struct nodes *needs, bool captured,
	       struct doorbell_node **out)
{
	struct doorbell_node *node = calloc(1, sizeof *node);
	int error = !node || !operation ? OUT_OF_MEMORY : unite(&node->needs, needs->of, needs->count);
	if (error != OK) {
		if (operation)
			drop(operation);
		free(node);
		return error;
	}
	node->graph = graph;
	node->operation = operation;
	node->captured = captured;
	*graph->last = node;
	graph->last = &node->next;
	*out = node;
	return OK;
}

int doorbell_graph_create(struct doorbell_graph **graph)
{
	*graph = calloc(1, sizeof **graph);
	if (!*graph)
		return OUT_OF_MEMORY;
	(*graph)->last = &(*graph)->first;
	return OK;
}

static void destroy_node(struct doorbell_node *node)
{
	drop(node->operation);
	empty(&node->needs);
	free(node);
}

int doorbell_graph_destroy(struct doorbell_graph *graph)
{
	if (!graph)
		return INVALID_VALUE;
	for (struct doorbell_node *node = graph->first, *next; node; node = next) {
		next = node->next;
		destroy_node(node);
	}
	let_go(graph->held);
	free(graph);
	return OK;
}

int doorbell_node_destroy(struct doorbell_node *node)
{
	if (!node)
		return INVALID_VALUE;
	struct doorbell_graph *graph = node->graph;
	for (struct doorbell_node **at = &graph->first; *at;) {
		if (*at == node) {
			*at = node->next;
			continue;
		}
		take_out(&(*at)->needs, node);
		at = &(*at)->next;
	}
	graph->last = &graph->first;
	while (*graph->last)
		graph->last = &(*graph->last)->next;
	destroy_node(node);
	return OK;
}

static bool all_of(const struct doorbell_graph *graph, struct doorbell_node *const *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!nodes || !nodes[i] || nodes[i]->graph != graph)
			return false;
	return graph != NULL;
}

/* Operations of this thread make a node that depends on others, until the end. */
int doorbell_node_begin(struct doorbell_graph *graph, struct doorbell_node *const *needs, size_t count)
{
	if (!all_of(graph, needs, count))
		return INVALID_VALUE;
	empty(&added);
	newest = NULL;
	int error = unite(&added, needs, count);
	adding = error == OK ? graph : NULL;
	return error;
}

/* Several operations are one behind the other; what has nothing to do is a node, too. */
int doorbell_node_end(int error, struct doorbell_node **node)
{
	uint64_t in[] = {(uint64_t)doorbell_device, 0};
	if (error == OK && !newest)
		error = add(adding, operation_of(NOTHING, in, 2, NULL, 0), &added, false, &newest);
	adding = NULL;
	empty(&added);
	*node = error == OK ? newest : NULL;
	return error;
}

int doorbell_node_event(bool record, void *event, struct doorbell_graph *graph, struct doorbell_node *const *needs,
			size_t count, struct doorbell_node **node)
{
	int error = doorbell_node_begin(graph, needs, count);
	return error != OK ? error : doorbell_node_end(doorbell_event(record, event, NULL, 1), node);
}

/* Adds the nodes of a graph to another one, behind others; they are placed in the same order. */
static int copy_nodes(const struct doorbell_graph *from, struct doorbell_graph *to, const struct nodes *behind,
		      struct nodes *ends)
{
	const struct nodes none = {NULL, 0};
	struct nodes copies = none;
	size_t count = 0;
	int error = OK;
	for (struct doorbell_node *each = from->first, *copy; each && error == OK; each = each->next) {
		each->place = count++;
		error = add(to, use(each->operation), each->needs.count ? &none : behind, false, &copy);
		if (error == OK)
			error = unite(&copies, &copy, 1);
	}
	for (struct doorbell_node *each = from->first; each && error == OK; each = each->next)
		for (size_t i = 0; i < each->needs.count && error == OK; i++)
			error = unite(&copies.of[each->place]->needs, &copies.of[each->needs.of[i]->place], 1);
	if (ends && error == OK)
		error = unite(ends, copies.of, copies.count);
	for (struct doorbell_node *each = from->first; ends && each && error == OK; each = each->next)
		for (size_t i = 0; i < each->needs.count; i++)
			take_out(ends, copies.of[each->needs.of[i]->place]);
	empty(&copies);
	return error;
}

int doorbell_graph_clone(struct doorbell_graph **clone, const struct doorbell_graph *graph)
{
	const struct nodes none = {NULL, 0};
	int error = !graph ? INVALID_VALUE : doorbell_graph_create(clone);
	if (error == OK && ((error = copy_nodes(graph, *clone, &none, NULL)) != OK ||
			    (error = hold_all(&(*clone)->held, graph->held)) != OK))
		doorbell_graph_destroy(*clone);
	return error;
}

/* A graph in a graph: its nodes, and one behind them that stands for all. */
int doorbell_node_child(const struct doorbell_graph *child, struct doorbell_graph *graph,
			struct doorbell_node *const *needs, size_t count, struct doorbell_node **node)
{
	struct nodes ends = {NULL, 0};
	int error = !child || child == graph ? INVALID_VALUE : doorbell_node_begin(graph, needs, count);
	if (error != OK)
		return error;
	error = copy_nodes(child, graph, &added, &ends);
	if (error == OK && ends.count) {
		empty(&added);
		added = ends;
		ends = (struct nodes){NULL, 0};
	}
	if (error == OK)
		error = hold_all(&graph->held, child->held);
	empty(&ends);
	return doorbell_node_end(error, node);
}

/* With no room, their number; with room for more, the rest is NULL and the number that of the nodes. */
static int list(const struct nodes *of, struct doorbell_node **nodes, size_t *count)
{
	if (!count)
		return INVALID_VALUE;
	for (size_t i = 0; nodes && i < *count; i++)
		nodes[i] = i < of->count ? of->of[i] : NULL;
	if (!nodes || of->count < *count)
		*count = of->count;
	return OK;
}

static int listed(int error, struct nodes *of, struct doorbell_node **nodes, size_t *count)
{
	if (error == OK)
		error = list(of, nodes, count);
	empty(of);
	return error;
}

int doorbell_graph_nodes(const struct doorbell_graph *graph, bool roots, struct doorbell_node **nodes, size_t *count)
{
	struct nodes found = {NULL, 0};
	int error = graph ? OK : INVALID_VALUE;
	for (struct doorbell_node *each = graph ? graph->first : NULL; each && error == OK; each = each->next)
		if (!roots || !each->needs.count)
			error = unite(&found, &each, 1);
	return listed(error, &found, nodes, count);
}

int doorbell_graph_edges(const struct doorbell_graph *graph, struct doorbell_node **from, struct doorbell_node **to,
			 size_t *count)
{
	size_t found = 0;
	if (!graph || !count)
		return INVALID_VALUE;
	for (struct doorbell_node *each = graph->first; each; each = each->next)
		for (size_t i = 0; i < each->needs.count; i++, found++)
			if (from && to && found < *count) {
				from[found] = each->needs.of[i];
				to[found] = each;
			}
	if (!from || !to || found < *count)
		*count = found;
	return OK;
}

int doorbell_node_needs(const struct doorbell_node *node, struct doorbell_node **nodes, size_t *count)
{
	return node ? list(&node->needs, nodes, count) : INVALID_VALUE;
}

int doorbell_node_dependents(const struct doorbell_node *node, struct doorbell_node **nodes, size_t *count)
{
	struct nodes found = {NULL, 0};
	int error = node ? OK : INVALID_VALUE;
	for (struct doorbell_node *each = node ? node->graph->first : NULL; each && error == OK; each = each->next)
		if (holds(&each->needs, node))
			error = unite(&found, &each, 1);
	return listed(error, &found, nodes, count);
}

/* CU_GRAPH_NODE_TYPE_* */
int doorbell_node_type(const struct doorbell_node *node, int *type)
{
	if (!node || !type)
		return INVALID_VALUE;
	switch (node->operation->type) {
	case GPU_LAUNCH:
		*type = 0;
		break;
	case GPU_COPY:
	case COPY_ROWS:
		*type = 1;
		break;
	case GPU_FILL:
		*type = 2;
		break;
	case HOST_FUNCTION:
		*type = 3;
		break;
	case NOTHING:
		*type = 5;
		break;
	case GPU_STREAM_WAIT:
		*type = 6;
		break;
	case GPU_EVENT_RECORD:
		*type = 7;
		break;
	default:
		*type = 12; /* batch of memory operations */
	}
	return OK;
}

int doorbell_graph_depend(struct doorbell_graph *graph, struct doorbell_node *const *from, struct doorbell_node *const *to,
			  size_t count, bool needed)
{
	if (!all_of(graph, from, count) || !all_of(graph, to, count))
		return INVALID_VALUE;
	int error = OK;
	for (size_t i = 0; i < count && error == OK; i++) {
		if (from[i] == to[i] || holds(&to[i]->needs, from[i]) == needed)
			error = INVALID_VALUE;
		else if (needed)
			error = unite(&to[i]->needs, &from[i], 1);
		else
			take_out(&to[i]->needs, from[i]);
	}
	return error;
}

/* Captures */

static struct stream *stream_of(const struct capture *capture, uint64_t number)
{
	struct stream *stream = capture->streams;
	while (stream && stream->number != number)
		stream = stream->next;
	return stream;
}

static struct marker *marker_of(const struct capture *capture, uint64_t event)
{
	struct marker *marker = capture->markers;
	while (marker && marker->event != event)
		marker = marker->next;
	return marker;
}

static struct capture *capture_of(uint64_t number)
{
	struct capture *capture = captures;
	while (capture && !stream_of(capture, number))
		capture = capture->next;
	return capture;
}

static int add_stream(struct capture *capture, uint64_t number, struct doorbell_node *const *front, size_t count)
{
	struct stream **at = &capture->streams, *stream = calloc(1, sizeof *stream);
	if (!stream)
		return OUT_OF_MEMORY;
	while (*at)
		at = &(*at)->next;
	*stream = (struct stream){NULL, number, {NULL, 0}};
	*at = stream;
	return unite(&stream->front, front, count);
}

static int mark(struct capture *capture, uint64_t event, const struct nodes *front)
{
	struct marker *marker = marker_of(capture, event);
	if (!marker) {
		marker = calloc(1, sizeof *marker);
		if (!marker)
			return OUT_OF_MEMORY;
		marker->event = event;
		marker->next = capture->markers;
		capture->markers = marker;
	}
	empty(&marker->front);
	return unite(&marker->front, front->of, front->count);
}

static void unmark(uint64_t event)
{
	for (struct capture *each = captures; each; each = each->next)
		for (struct marker **at = &each->markers; *at;) {
			struct marker *marker = *at;
			if (marker->event != event) {
				at = &marker->next;
				continue;
			}
			*at = marker->next;
			empty(&marker->front);
			free(marker);
		}
}

static void destroy_capture(struct capture *capture)
{
	for (struct stream *each = capture->streams, *next; each; each = next) {
		next = each->next;
		empty(&each->front);
		free(each);
	}
	for (struct marker *each = capture->markers, *next; each; each = next) {
		next = each->next;
		empty(&each->front);
		free(each);
	}
	free(capture);
}

/* A stream joins a capture as it waits for an event of it. */
static int join(struct capture **capture, const uint64_t *in)
{
	struct marker *marker = NULL;
	struct capture *of = captures;
	while (of && !(marker = marker_of(of, in[2])))
		of = of->next;
	if (*capture && of != *capture) {
		(*capture)->invalid = true;
		return ISOLATION;
	}
	if (!of)
		return OK;
	if (*capture)
		return unite(&stream_of(of, in[1])->front, marker->front.of, marker->front.count);
	*capture = of;
	if (!in[1]) { /* the default stream is never captured */
		of->invalid = true;
		return IMPLICIT;
	}
	return add_stream(of, in[1], marker->front.of, marker->front.count);
}

static int keep(struct capture *capture, struct stream *stream, int type, const uint64_t *in, size_t numbers,
		const void *bytes, size_t length)
{
	if (type == GPU_QUERY || type == GPU_SYNCHRONIZE) {
		capture->invalid = true;
		return UNSUPPORTED;
	}
	if (type == GPU_FREE) /* the next launch uses the memory again */
		return OK;
	if (type == GPU_EVENT_RECORD && !external)
		return mark(capture, in[0], &stream->front);
	struct doorbell_node *node;
	int error = add(capture->graph, operation_of(type, in, numbers, bytes, length), &stream->front, true, &node);
	empty(&stream->front);
	return error == OK ? unite(&stream->front, &node, 1) : error;
}

static bool captured_in_stream(int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, int *error)
{
	int at = place_of(type, numbers);
	if (at < 0 && type != GPU_EVENT_DESTROY)
		return false;
	pthread_mutex_lock(&lock);
	struct capture *capture = at < 0 ? NULL : capture_of(in[at + 1]);
	bool joins = type == GPU_STREAM_WAIT && !external;
	*error = joins ? join(&capture, in) : OK;
	if (capture && *error == OK && !joins)
		*error = keep(capture, stream_of(capture, in[at + 1]), type, in, numbers, bytes, length);
	/* Recorded again, in no capture, or gone. */
	if (!capture && (type == GPU_EVENT_RECORD || type == GPU_EVENT_DESTROY))
		unmark(in[0]);
	pthread_mutex_unlock(&lock);
	return capture != NULL;
}

bool doorbell_captured(int type, const uint64_t *in, size_t numbers, const void *bytes, size_t length, int *error)
{
	if (adding && place_of(type, numbers) >= 0) {
		*error = add(adding, operation_of(type, in, numbers, bytes, length), &added, false, &newest);
		empty(&added);
		if (*error == OK)
			*error = unite(&added, &newest, 1);
		return true;
	}
	return atomic_load(&active) && captured_in_stream(type, in, numbers, bytes, length, error);
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

int doorbell_event(bool record, void *event, void *stream, unsigned flags)
{
	uint64_t device = (uint64_t)doorbell_device, number = doorbell_stream(stream);
	external = flags & 1;
	int error = record ? CALL(GPU_EVENT_RECORD, NULL, 0, (uint64_t)event, device, number)
			   : CALL(GPU_STREAM_WAIT, NULL, 0, device, number, (uint64_t)event);
	external = false;
	return error;
}

int doorbell_begin_capture(void *stream, struct doorbell_graph *graph, struct doorbell_node *const *needs, size_t count)
{
	uint64_t number = doorbell_stream(stream);
	if (!number)
		return UNSUPPORTED;
	if (graph && !all_of(graph, needs, count))
		return INVALID_VALUE;
	struct capture *capture = calloc(1, sizeof *capture);
	if (!capture)
		return OUT_OF_MEMORY;
	capture->owns = !graph;
	capture->graph = graph;
	int error = graph ? OK : doorbell_graph_create(&capture->graph);
	if (error == OK)
		error = add_stream(capture, number, needs, count);
	pthread_mutex_lock(&lock);
	if (error == OK && capture_of(number))
		error = ILLEGAL_STATE;
	if (error == OK) {
		capture->id = ++last_id;
		capture->next = captures;
		captures = capture;
		atomic_fetch_add(&active, 1);
	}
	pthread_mutex_unlock(&lock);
	if (error != OK) {
		if (capture->owns)
			doorbell_graph_destroy(capture->graph);
		destroy_capture(capture);
	}
	return error;
}

/* Whether what was captured in other streams comes before where the first one is. */
static int joined(const struct capture *capture)
{
	struct nodes before = {NULL, 0};
	int error = unite(&before, capture->streams->front.of, capture->streams->front.count);
	for (size_t i = 0; i < before.count && error == OK; i++)
		error = unite(&before, before.of[i]->needs.of, before.of[i]->needs.count);
	for (struct stream *each = capture->streams->next; each && error == OK; each = each->next)
		for (size_t i = 0; i < each->front.count; i++)
			if (each->front.of[i]->captured && !holds(&before, each->front.of[i]))
				error = UNJOINED;
	empty(&before);
	return error;
}

int doorbell_end_capture(void *stream, struct doorbell_graph **graph)
{
	uint64_t number = doorbell_stream(stream);
	*graph = NULL;
	pthread_mutex_lock(&lock);
	struct capture *ended = capture_of(number), **at = &captures;
	int error = !ended ? ILLEGAL_STATE : stream_of(ended, number) != ended->streams ? UNMATCHED : OK;
	if (error == OK) {
		while (*at != ended)
			at = &(*at)->next;
		*at = ended->next;
		atomic_fetch_sub(&active, 1);
	}
	pthread_mutex_unlock(&lock);
	if (error != OK)
		return error;
	error = ended->invalid ? INVALIDATED : joined(ended);
	if (error == OK)
		*graph = ended->graph;
	else if (ended->owns)
		doorbell_graph_destroy(ended->graph);
	destroy_capture(ended);
	return error;
}

int doorbell_capture_status(void *stream, unsigned long long *id, struct doorbell_graph **graph,
			    struct doorbell_node *const **front, size_t *count)
{
	pthread_mutex_lock(&lock);
	uint64_t number = doorbell_stream(stream);
	struct capture *of = capture_of(number);
	const struct nodes *next = of ? &stream_of(of, number)->front : NULL;
	int status = !of ? 0 : of->invalid ? 2 : 1;
	if (id)
		*id = of ? of->id : 0;
	if (graph)
		*graph = of ? of->graph : NULL;
	if (front)
		*front = next ? next->of : NULL;
	if (count)
		*count = next ? next->count : 0;
	pthread_mutex_unlock(&lock);
	return status;
}

/* What the stream no longer depends on need not be joined. */
int doorbell_capture_update(void *stream, struct doorbell_node *const *front, size_t count, bool replace)
{
	pthread_mutex_lock(&lock);
	uint64_t number = doorbell_stream(stream);
	struct capture *of = capture_of(number);
	int error = !of ? ILLEGAL_STATE : !all_of(of->graph, front, count) ? INVALID_VALUE : OK;
	if (error == OK) {
		struct nodes fresh = {NULL, 0}, *old = &stream_of(of, number)->front;
		if (!replace)
			error = unite(&fresh, old->of, old->count);
		if (error == OK)
			error = unite(&fresh, front, count);
		for (size_t i = 0; i < old->count && error == OK; i++)
			if (!holds(&fresh, old->of[i]))
				old->of[i]->captured = false;
		empty(old);
		*old = fresh;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* Instances */

static int create_event(uint64_t *event)
{
	return doorbell_call(GPU_EVENT_CREATE, NULL, 0, NULL, 0, event, 1);
}

int doorbell_instance_destroy(struct doorbell_instance *instance)
{
	if (!instance)
		return INVALID_VALUE;
	for (size_t i = 0; i < instance->count; i++) {
		if (instance->steps[i].done)
			CALL(GPU_EVENT_DESTROY, NULL, 0, instance->steps[i].done);
		free(instance->steps[i].waits);
		drop(instance->steps[i].operation);
	}
	for (size_t i = 0; i < instance->lane_count; i++) {
		struct lane *lane = instance->lanes + i;
		CALL(GPU_STREAM_DESTROY, NULL, 0, lane->device, lane->stream);
		if (lane->joined)
			CALL(GPU_EVENT_DESTROY, NULL, 0, lane->joined);
	}
	if (instance->begun)
		CALL(GPU_EVENT_DESTROY, NULL, 0, instance->begun);
	let_go(instance->held);
	free(instance->steps);
	free(instance->lanes);
	free(instance);
	return OK;
}

static int add_lane(struct doorbell_instance *instance, uint64_t device, size_t *lane)
{
	struct lane *room = realloc(instance->lanes, (instance->lane_count + 1) * sizeof *room);
	if (!room)
		return OUT_OF_MEMORY;
	instance->lanes = room;
	uint64_t stream;
	int error = CALL(GPU_STREAM_CREATE, &stream, 1, device, 1);
	if (error != OK)
		return error;
	*lane = instance->lane_count++;
	room[*lane] = (struct lane){device, stream, 0, 0};
	return create_event(&room[*lane].joined);
}

/* The next step: behind the last one of a lane if it depends on that, and on what it waits for. */
static int place(struct doorbell_instance *instance, struct doorbell_node *node)
{
	size_t index = instance->count;
	struct step *step = instance->steps + index;
	const struct operation *operation = node->operation;
	*step = (struct step){.device = operation->in[place_of(operation->type, operation->numbers)]};
	step->waits = malloc((node->needs.count + 1) * sizeof *step->waits);
	if (!step->waits)
		return OUT_OF_MEMORY;
	step->operation = use(node->operation);
	node->place = instance->count++;
	bool found = false;
	for (size_t i = 0; i < node->needs.count && !found; i++) {
		size_t before = node->needs.of[i]->place;
		const struct lane *lane = instance->lanes + instance->steps[before].lane;
		found = lane->last == before && lane->device == step->device;
		if (found)
			step->lane = instance->steps[before].lane;
	}
	int error = found ? OK : add_lane(instance, step->device, &step->lane);
	for (size_t i = 0; i < node->needs.count && error == OK; i++) {
		struct step *before = instance->steps + node->needs.of[i]->place;
		if (before->lane == step->lane)
			continue;
		step->waits[step->waited++] = node->needs.of[i]->place;
		if (!before->done)
			error = create_event(&before->done);
	}
	if (error == OK)
		instance->lanes[step->lane].last = index;
	return error;
}

int doorbell_graph_instantiate(const struct doorbell_graph *graph, struct doorbell_instance **out)
{
	size_t count = 0;
	*out = NULL;
	if (!graph)
		return INVALID_VALUE;
	for (struct doorbell_node *each = graph->first; each; each = each->next, count++)
		each->place = SIZE_MAX;
	struct doorbell_instance *instance = calloc(1, sizeof *instance);
	if (!instance)
		return OUT_OF_MEMORY;
	instance->steps = calloc(count + 1, sizeof *instance->steps);
	int error = instance->steps ? create_event(&instance->begun) : OUT_OF_MEMORY;
	/* Most graphs have their nodes in an order; an edge that was added later can need another round. */
	for (size_t before = SIZE_MAX; error == OK && instance->count < count && before != instance->count;) {
		before = instance->count;
		for (struct doorbell_node *each = graph->first; each && error == OK; each = each->next) {
			bool ready = each->place == SIZE_MAX;
			for (size_t i = 0; i < each->needs.count && ready; i++)
				ready = each->needs.of[i]->place != SIZE_MAX;
			if (ready)
				error = place(instance, each);
		}
	}
	if (error == OK && instance->count < count) /* a cycle */
		error = INVALID_VALUE;
	if (error == OK)
		error = hold_all(&instance->held, graph->held);
	if (error == OK)
		*out = instance;
	else
		doorbell_instance_destroy(instance);
	return error;
}

static int replay(const struct step *step, uint64_t stream)
{
	const struct operation *operation = step->operation;
	uint64_t in[MOST_NUMBERS];
	int at = place_of(operation->type, operation->numbers), error = OK;
	memcpy(in, operation->in, operation->numbers * sizeof *in);
	in[at + 1] = stream;
	if (operation->type < COPY_ROWS)
		return doorbell_call((enum gpu_request)operation->type, in, operation->numbers,
				     operation->in + operation->numbers, operation->length, NULL, 0);
	int device = doorbell_device;
	doorbell_device = (int)in[0];
	if (operation->type == COPY_ROWS)
		error = doorbell_copy2d((void *)in[2], in[3], (void *)in[4], in[5], in[6], in[7], (void *)in[1], false);
	else if (operation->type == HOST_FUNCTION)
		error = doorbell_host_function((void *)in[1], (void (*)(void *))in[2], (void *)in[3]);
	doorbell_device = device;
	return error;
}

/* Launches of an instance do not overlap: each waits for the streams of the one before. */
int doorbell_graph_launch(struct doorbell_instance *instance, void *stream)
{
	if (!instance)
		return INVALID_VALUE;
	uint64_t device = (uint64_t)doorbell_device, number = doorbell_stream(stream);
	if (doorbell_capture_status(stream, NULL, NULL, NULL, NULL))
		return doorbell_missing("cudaGraphLaunch in a captured stream");
	int error = OK;
	const struct lane *lanes = instance->lanes;
	for (size_t i = 0; i < instance->lane_count && error == OK; i++)
		error = CALL(GPU_STREAM_WAIT, NULL, 0, device, number, lanes[i].joined);
	if (error == OK)
		error = CALL(GPU_EVENT_RECORD, NULL, 0, instance->begun, device, number);
	for (size_t i = 0; i < instance->lane_count && error == OK; i++)
		error = CALL(GPU_STREAM_WAIT, NULL, 0, lanes[i].device, lanes[i].stream, instance->begun);
	for (size_t i = 0; i < instance->count && error == OK; i++) {
		const struct step *step = instance->steps + i;
		const struct lane *lane = lanes + step->lane;
		for (size_t k = 0; k < step->waited && error == OK; k++)
			error = CALL(GPU_STREAM_WAIT, NULL, 0, lane->device, lane->stream,
				     instance->steps[step->waits[k]].done);
		if (error == OK)
			error = replay(step, lane->stream);
		if (error == OK && step->done)
			error = CALL(GPU_EVENT_RECORD, NULL, 0, step->done, lane->device, lane->stream);
	}
	for (size_t i = 0; i < instance->lane_count && error == OK; i++) {
		error = CALL(GPU_EVENT_RECORD, NULL, 0, lanes[i].joined, lanes[i].device, lanes[i].stream);
		if (error == OK)
			error = CALL(GPU_STREAM_WAIT, NULL, 0, device, number, lanes[i].joined);
	}
	return error;
}
