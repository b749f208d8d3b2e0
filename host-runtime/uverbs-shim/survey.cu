/*
 * Two ranks of NVSHMEM whose kernels put, get, signal, add and synchronize; every byte is compared (survey).
 *   survey-nvshmem RANK FILE SECTION...     both ranks name one file, in which rank 0 leaves the job's identity
 * Sections: put, signal, get, p, amo, fetch, many, barrier. Rank 0 prints a row for each: right or wrong, and microseconds of
 * the kernel with its launch, median with least and most.
 */
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                                                   \
	do {                                                                                       \
		cudaError_t error = (c);                                                           \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { LARGEST = 64 << 20, MOST_ROUNDS = 16, PUTS = 1000, CELLS = 64 };

static int rank, peer, rounds = 5;
static unsigned char *out, *in, *host;
static unsigned long long *flag, *wide, *results;
static unsigned int *narrow, *narrow_results;
static int *failed;

/* Ends a wait after 60 s, so that nothing hangs on a GPU. */
__device__ bool expired(long long since)
{
	long long now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now - since > 60000000000ll;
}

__device__ long long clock_now()
{
	long long now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

__host__ __device__ unsigned char expected(int from, size_t at, int round)
{
	return (unsigned char)(from * 131 + (int)at * 7 + (int)(at / 251) + round * 29);
}

__global__ void fill(unsigned char *to, size_t bytes, int from, int round)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x)
		to[i] = expected(from, i, round);
}

__global__ void put(unsigned char *to, const unsigned char *from, size_t bytes, int pe)
{
	nvshmemx_putmem_block(to, from, bytes, pe);
	if (threadIdx.x == 0)
		nvshmem_quiet();
}

__global__ void get(unsigned char *to, const unsigned char *from, size_t bytes, int pe)
{
	nvshmemx_getmem_block(to, from, bytes, pe);
}

__global__ void put_signal(unsigned char *to, const unsigned char *from, size_t bytes, unsigned long long *signal,
			   unsigned long long value, int operation, int pe)
{
	nvshmemx_putmem_signal_block(to, from, bytes, (uint64_t *)signal, value, operation, pe);
	if (threadIdx.x == 0)
		nvshmem_quiet();
}

/* Waits for a signal and compares at once what came before it. */
__global__ void receive(const unsigned char *at, size_t bytes, int from, int round, unsigned long long *signal,
			unsigned long long value, int *failed)
{
	__shared__ bool late;
	if (threadIdx.x == 0) {
		long long since = clock_now();
		late = false;
		while (nvshmem_signal_fetch((uint64_t *)signal) != value && !late)
			late = expired(since);
	}
	__syncthreads();
	if (late)
		atomicAdd(failed, 1);
	for (size_t i = threadIdx.x; i < bytes; i += blockDim.x)
		if (((const volatile unsigned char *)at)[i] != expected(from, i, round))
			atomicAdd(failed, 1);
}

/* Single values of a warp, one after the other by each size. */
__global__ void put_values(unsigned char *to, int pe)
{
	int i = threadIdx.x;
	nvshmem_uchar_p(to + i, (unsigned char)(i + 1), pe);
	nvshmem_ushort_p((unsigned short *)(to + 64) + i, (unsigned short)(i * 257 + 1), pe);
	nvshmem_uint_p((unsigned *)(to + 256) + i, i * 0x01010101u + 1, pe);
	nvshmem_ulonglong_p((unsigned long long *)(to + 512) + i, i * 0x0101010101010101ull + 1, pe);
	if (i % 3 == 0)
		nvshmem_uint_p((unsigned *)(to + 1024) + i, 77 + i, pe);
	nvshmem_quiet();
}

__global__ void get_values(const unsigned char *from, int pe, int *failed)
{
	int i = threadIdx.x, wrong = 0;
	wrong += nvshmem_uchar_g(from + i, pe) != (unsigned char)(i + 1);
	wrong += nvshmem_ushort_g((const unsigned short *)(from + 64) + i, pe) != (unsigned short)(i * 257 + 1);
	wrong += nvshmem_uint_g((const unsigned *)(from + 256) + i, pe) != i * 0x01010101u + 1;
	wrong += nvshmem_ulonglong_g((const unsigned long long *)(from + 512) + i, pe) != i * 0x0101010101010101ull + 1;
	if (i % 3 == 0)
		wrong += nvshmem_uint_g((const unsigned *)(from + 1024) + i, pe) != 77 + i;
	if (wrong)
		atomicAdd(failed, wrong);
}

/* Atomics without a result: each cell begins as 0xf0f0... */
__global__ void change(unsigned long long *wide, unsigned *narrow, int pe)
{
	nvshmem_ulonglong_atomic_inc(wide, pe);
	nvshmem_ulonglong_atomic_add(wide + 1, 0x123456789aull, pe);
	nvshmem_ulonglong_atomic_set(wide + 2, 0x0123456789abcdefull, pe);
	nvshmem_uint64_atomic_and((uint64_t *)wide + 3, 0xff00ff00ff00ff00ull, pe);
	nvshmem_uint64_atomic_or((uint64_t *)wide + 4, 0x0f000f000f000f00ull, pe);
	nvshmem_uint64_atomic_xor((uint64_t *)wide + 5, 0xffffull, pe);
	nvshmem_uint_atomic_inc(narrow, pe);
	nvshmem_uint_atomic_add(narrow + 1, 0x123456u, pe);
	nvshmem_uint_atomic_set(narrow + 2, 0x01234567u, pe);
	nvshmem_uint32_atomic_and(narrow + 3, 0xff00ff00u, pe);
	nvshmem_uint32_atomic_or(narrow + 4, 0x0f000f00u, pe);
	nvshmem_uint32_atomic_xor(narrow + 5, 0xffffu, pe);
	nvshmem_quiet();
}

/* Atomics with a result; 32 threads add to one cell. */
__global__ void fetch(unsigned long long *wide, unsigned *narrow, unsigned long long *results, unsigned *narrow_results, int pe)
{
	int i = threadIdx.x;
	results[16 + i] = nvshmem_ulonglong_atomic_fetch_add(wide + 10, 3, pe);
	narrow_results[16 + i] = nvshmem_uint_atomic_fetch_add(narrow + 10, 3, pe);
	if (i)
		return;
	results[0] = nvshmem_ulonglong_atomic_fetch(wide, pe);
	results[1] = nvshmem_ulonglong_atomic_fetch_inc(wide + 1, pe);
	results[2] = nvshmem_ulonglong_atomic_swap(wide + 2, 5, pe);
	results[3] = nvshmem_ulonglong_atomic_compare_swap(wide + 3, 0xf0f0f0f0f0f0f0f0ull, 6, pe);
	results[4] = nvshmem_ulonglong_atomic_compare_swap(wide + 4, 1, 7, pe);
	results[5] = nvshmem_uint64_atomic_fetch_and((uint64_t *)wide + 5, 0xffffull, pe);
	results[6] = nvshmem_uint64_atomic_fetch_or((uint64_t *)wide + 6, 0xffffull, pe);
	results[7] = nvshmem_uint64_atomic_fetch_xor((uint64_t *)wide + 7, 0xffffull, pe);
	narrow_results[0] = nvshmem_uint_atomic_fetch(narrow, pe);
	narrow_results[1] = nvshmem_uint_atomic_fetch_inc(narrow + 1, pe);
	narrow_results[2] = nvshmem_uint_atomic_swap(narrow + 2, 5, pe);
	narrow_results[3] = nvshmem_uint_atomic_compare_swap(narrow + 3, 0xf0f0f0f0u, 6, pe);
	narrow_results[4] = nvshmem_uint_atomic_compare_swap(narrow + 4, 1, 7, pe);
	narrow_results[5] = nvshmem_uint32_atomic_fetch_and(narrow + 5, 0xffffu, pe);
	narrow_results[6] = nvshmem_uint32_atomic_fetch_or(narrow + 6, 0xffffu, pe);
	narrow_results[7] = nvshmem_uint32_atomic_fetch_xor(narrow + 7, 0xffffu, pe);
}

__global__ void put_many(unsigned long long *to, int count, unsigned long long base, int pe)
{
	for (int i = threadIdx.x; i < count; i += blockDim.x)
		nvshmem_ulonglong_p(to + i, base + i, pe);
	nvshmem_quiet();
}

__global__ void synchronize()
{
	nvshmem_barrier_all();
}

static double seconds()
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double times[MOST_ROUNDS];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int wrong;

static void row(const char *what, size_t bytes)
{
	static int before;
	qsort(times, rounds, sizeof *times, compare);
	printf("%d | %s %zu B | %s | %.0f [%.0f, %.0f] us |\n", rank, what, bytes, wrong > before ? "WRONG" : "right",
	       times[rounds / 2] * 1e6, times[0] * 1e6, times[rounds - 1] * 1e6);
	fflush(stdout);
	before = wrong;
}

static void finish(double *time, double start)
{
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	*time = seconds() - start;
}

static void look(const unsigned char *at, size_t bytes, int from, int round)
{
	CHECK(cudaMemcpy(host, at, bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < bytes; i++)
		wrong += host[i] != expected(from, i, round);
}

static void take_failures()
{
	int count;
	CHECK(cudaMemcpy(&count, failed, sizeof count, cudaMemcpyDeviceToHost));
	CHECK(cudaMemset(failed, 0, sizeof *failed));
	wrong += count;
}

static void move(const char *what, size_t bytes)
{
	static unsigned long long signals;
	for (int round = 0; round < rounds; round++) {
		bool is_get = !strcmp(what, "get"), is_signal = !strcmp(what, "signal");
		fill<<<32, 256>>>(out, bytes, rank, round);
		CHECK(cudaMemset(in, 0, bytes));
		CHECK(cudaDeviceSynchronize());
		nvshmem_barrier_all();
		double start = seconds();
		if (is_get) {
			get<<<1, 128>>>(in, out, bytes, peer);
		} else if (is_signal) {
			/* Rank 0 sends and waits for the answer: set, then add. */
			unsigned long long value = 1000 + ++signals;
			if (rank == 1)
				receive<<<1, 256>>>(in, bytes, peer, round, flag, value, failed);
			put_signal<<<1, 128>>>(in, out, bytes, flag, rank ? 1 : value, rank ? NVSHMEM_SIGNAL_ADD : NVSHMEM_SIGNAL_SET, peer);
			if (rank == 0)
				receive<<<1, 256>>>(in, bytes, peer, round, flag, signals, failed);
		} else {
			put<<<1, 128>>>(in, out, bytes, peer);
		}
		finish(&times[round], start);
		nvshmem_barrier_all();
		look(in, bytes, peer, round);
		take_failures();
	}
	row(what, bytes);
}

static void reset_cells()
{
	CHECK(cudaMemset(wide, 0xf0, CELLS * sizeof *wide));
	CHECK(cudaMemset(narrow, 0xf0, CELLS * sizeof *narrow));
	CHECK(cudaDeviceSynchronize());
	nvshmem_barrier_all();
}

/* What the peer's atomics have made of the own cells. */
static void look_at_cells(const unsigned long long *expected_wide, int count)
{
	unsigned long long seen[CELLS];
	unsigned int seen_narrow[CELLS];
	CHECK(cudaMemcpy(seen, wide, sizeof seen, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(seen_narrow, narrow, sizeof seen_narrow, cudaMemcpyDeviceToHost));
	for (int i = 0; i < count; i++) {
		if (seen[i] != expected_wide[i] || seen_narrow[i] != (unsigned int)expected_wide[CELLS + i]) {
			fprintf(stderr, "cell %d: %llx %x, expected %llx %llx\n", i, seen[i], seen_narrow[i], expected_wide[i],
				expected_wide[CELLS + i]);
			wrong++;
		}
	}
}

static void amo()
{
	const unsigned long long f = 0xf0f0f0f0f0f0f0f0ull;
	unsigned long long after[2 * CELLS] = { f + 1, f + 0x123456789aull, 0x0123456789abcdefull, f & 0xff00ff00ff00ff00ull,
		f | 0x0f000f000f000f00ull, f ^ 0xffffull };
	const unsigned long long n = 0xf0f0f0f0u, narrow_after[] = { n + 1, n + 0x123456, 0x01234567, n & 0xff00ff00, n | 0x0f000f00, n ^ 0xffff };
	memcpy(after + CELLS, narrow_after, sizeof narrow_after);
	for (int round = 0; round < rounds; round++) {
		reset_cells();
		double start = seconds();
		change<<<1, 1>>>(wide, narrow, peer);
		finish(&times[round], start);
		nvshmem_barrier_all();
		look_at_cells(after, 6);
	}
	row("12 atomics", 8);
}

static void fetches()
{
	const unsigned long long f = 0xf0f0f0f0f0f0f0f0ull, n = 0xf0f0f0f0u;
	unsigned long long after[2 * CELLS] = { f, f + 1, 5, 6, f, f & 0xffff, f | 0xffff, f ^ 0xffff, f, f, f + 96 };
	const unsigned long long narrow_after[] = { n, n + 1, 5, 6, n, n & 0xffff, n | 0xffff, n ^ 0xffff, n, n, n + 96 };
	memcpy(after + CELLS, narrow_after, sizeof narrow_after);
	for (int round = 0; round < rounds; round++) {
		unsigned long long seen[CELLS], sum = 0;
		unsigned int seen_narrow[CELLS];
		unsigned sum_narrow = 0;
		reset_cells();
		double start = seconds();
		fetch<<<1, 32>>>(wide, narrow, results, narrow_results, peer);
		finish(&times[round], start);
		nvshmem_barrier_all();
		look_at_cells(after, 11);
		CHECK(cudaMemcpy(seen, results, sizeof seen, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(seen_narrow, narrow_results, sizeof seen_narrow, cudaMemcpyDeviceToHost));
		for (int i = 0; i < 8; i++) {
			if (seen[i] != f || seen_narrow[i] != (unsigned)n) {
				fprintf(stderr, "result %d: %llx %x\n", i, seen[i], seen_narrow[i]);
				wrong++;
			}
		}
		/* Each of 32 threads has seen another value. */
		for (int i = 0; i < 32; i++) {
			sum += (seen[16 + i] - f) / 3;
			sum_narrow += (seen_narrow[16 + i] - (unsigned)n) / 3;
		}
		wrong += sum != 496 || sum_narrow != 496;
	}
	row("16 fetching atomics, and 2 of 32 threads", 8);
}

static void values()
{
	for (int round = 0; round < rounds; round++) {
		CHECK(cudaMemset(in, 0, 4096));
		nvshmem_barrier_all();
		double start = seconds();
		put_values<<<1, 32>>>(in, peer);
		finish(&times[round], start);
		nvshmem_barrier_all();
		/* The peer's copy is what this rank has put; its own holds the same. */
		get_values<<<1, 32>>>(in, peer, failed);
		CHECK(cudaDeviceSynchronize());
		take_failures();
		nvshmem_barrier_all();
	}
	row("values of 32 threads", 8);
}

static void many()
{
	unsigned long long *seen = (unsigned long long *)host;
	for (int round = 0; round < rounds; round++) {
		CHECK(cudaMemset(in, 0, PUTS * 8));
		nvshmem_barrier_all();
		double start = seconds();
		put_many<<<1, 100>>>((unsigned long long *)in, PUTS, rank * 100000ull + round, peer);
		finish(&times[round], start);
		nvshmem_barrier_all();
		CHECK(cudaMemcpy(seen, in, PUTS * 8, cudaMemcpyDeviceToHost));
		for (int i = 0; i < PUTS; i++)
			wrong += seen[i] != peer * 100000ull + round + i;
	}
	row("1000 puts and a quiet", 8);
}

static void barriers()
{
	for (int round = 0; round < rounds; round++) {
		double start = seconds();
		synchronize<<<1, 1>>>();
		finish(&times[round], start);
	}
	row("barrier by a kernel", 0);
}

static void join(const char *file)
{
	nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
	nvshmemx_uniqueid_t identity = NVSHMEMX_UNIQUEID_INITIALIZER;
	char temporary[4096];
	snprintf(temporary, sizeof temporary, "%s.new", file);
	if (rank == 0) {
		nvshmemx_get_uniqueid(&identity);
		FILE *to = fopen(temporary, "w");
		if (!to || fwrite(&identity, sizeof identity, 1, to) != 1 || fclose(to) || rename(temporary, file))
			exit(1);
	} else {
		FILE *from = NULL;
		for (int i = 0; i < 600 && !from; i++) {
			from = fopen(file, "r");
			usleep(100000);
		}
		if (!from || fread(&identity, sizeof identity, 1, from) != 1)
			exit(1);
		fclose(from);
	}
	nvshmemx_set_attr_uniqueid_args(rank, 2, &identity, &attributes);
	if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes))
		exit(1);
}

int main(int count, char **words)
{
	int devices;
	if (count < 4) {
		fprintf(stderr, "usage: survey-nvshmem RANK FILE SECTION...\n");
		return 2;
	}
	rank = atoi(words[1]);
	peer = 1 - rank;
	if (getenv("SURVEY_ROUNDS") && atoi(getenv("SURVEY_ROUNDS")) > 0 && atoi(getenv("SURVEY_ROUNDS")) <= MOST_ROUNDS)
		rounds = atoi(getenv("SURVEY_ROUNDS"));
	CHECK(cudaGetDeviceCount(&devices));
	CHECK(cudaSetDevice(rank % devices));
	double start = seconds();
	join(words[2]);
	out = (unsigned char *)nvshmem_malloc(LARGEST);
	in = (unsigned char *)nvshmem_malloc(LARGEST);
	flag = (unsigned long long *)nvshmem_calloc(1, 8);
	wide = (unsigned long long *)nvshmem_calloc(CELLS, 8);
	narrow = (unsigned int *)nvshmem_calloc(CELLS, 4);
	host = (unsigned char *)malloc(LARGEST);
	CHECK(cudaMalloc(&results, CELLS * 8));
	CHECK(cudaMalloc(&narrow_results, CELLS * 4));
	CHECK(cudaMalloc(&failed, 4));
	CHECK(cudaMemset(failed, 0, 4));
	nvshmem_barrier_all();
	printf("%d | start | | %.1f s |\n", rank, seconds() - start);
	fflush(stdout);
	for (int i = 3; i < count; i++) {
		size_t largest = i + 1 < count && atoi(words[i + 1]) > 0 ? (size_t)atoi(words[i + 1]) : 256 << 10;
		if (largest > LARGEST)
			largest = LARGEST;
		if (!strcmp(words[i], "put") || !strcmp(words[i], "get") || !strcmp(words[i], "signal"))
			for (size_t bytes = 8; bytes <= largest; bytes = bytes == 8 ? 1024 : bytes < 262144 ? bytes * 16 : bytes * 4)
				move(words[i], bytes);
		else if (!strcmp(words[i], "p"))
			values();
		else if (!strcmp(words[i], "amo"))
			amo();
		else if (!strcmp(words[i], "fetch"))
			fetches();
		else if (!strcmp(words[i], "many"))
			many();
		else if (!strcmp(words[i], "barrier"))
			barriers();
		else if (atoi(words[i]) <= 0)
			return 2;
	}
	nvshmem_barrier_all();
	nvshmem_finalize();
	printf("%d | wrong bytes and values | %d | |\n", rank, wrong);
	return wrong != 0;
}
