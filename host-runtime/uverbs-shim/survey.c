/* An MPI program that looks at every byte that it is sent: point to point, collectives, one-sided (survey). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (4u << 20)
#define WORDS 1000
#define ADDS 200

static int rank, ranks, wrong;

static unsigned char expected(int from, size_t at, int round)
{
	return (unsigned char)(from * 131 + (int)at * 7 + round * 29);
}

static void fill(unsigned char *to, size_t bytes, int from, int round)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = expected(from, i, round);
}

static void look(const unsigned char *at, size_t bytes, int from, int round)
{
	for (size_t i = 0; i < bytes; i++)
		wrong += at[i] != expected(from, i, round);
}

static void point_to_point(unsigned char *out, unsigned char *in, int bytes)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
	for (int round = 0; round < 3; round++) {
		fill(out, bytes, rank, round);
		memset(in, 0, bytes);
		MPI_Sendrecv(out, bytes, MPI_BYTE, to, round, in, bytes, MPI_BYTE, from, round, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		look(in, bytes, from, round);
	}
}

static void collectives(unsigned char *out, unsigned char *in, int bytes)
{
	fill(out, bytes, rank, 3);
	MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		look(in + (size_t)from * bytes, bytes, from, 3);
	fill(out, bytes, rank ? -1 : 0, 4);
	MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	look(out, bytes, 0, 4);
	int count = bytes / (int)sizeof(long);
	long *addend = (long *)out, *sum = (long *)in;
	for (int i = 0; i < count; i++)
		addend[i] = (long)i * (rank + 1);
	MPI_Allreduce(addend, sum, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < count; i++)
		wrong += sum[i] != (long)i * ranks * (ranks + 1) / 2;
}

static void one_sided(void)
{
	long *base, mine[WORDS], got[WORDS], one = 1, old;
	MPI_Win window;
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
	MPI_Win_allocate(2 * WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	memset(base, 0, 2 * WORDS * sizeof *base);
	for (int i = 0; i < WORDS; i++)
		mine[i] = (long)rank * WORDS + i;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_fence(0, window);
	MPI_Put(mine, WORDS, MPI_LONG, to, WORDS, WORDS, MPI_LONG, window);
	MPI_Win_fence(0, window);
	for (int i = 0; i < WORDS; i++)
		wrong += base[WORDS + i] != (long)from * WORDS + i;
	MPI_Get(got, WORDS, MPI_LONG, to, WORDS, WORDS, MPI_LONG, window);
	MPI_Win_fence(0, window);
	for (int i = 0; i < WORDS; i++)
		wrong += got[i] != mine[i];
	MPI_Win_lock_all(0, window);
	for (int i = 0; i < ADDS; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, window);
		MPI_Win_flush(0, window);
	}
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	wrong += rank == 0 && base[0] != (long)ADDS * ranks;
	MPI_Win_free(&window);
}

int main(int count, char **words)
{
	int all = 1;
	MPI_Init(&count, &words);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	unsigned char *out = malloc(LARGEST), *in = malloc((size_t)LARGEST * ranks);
	for (int bytes = 1; bytes <= (int)LARGEST; bytes *= 4) {
		point_to_point(out, in, bytes);
		collectives(out, in, bytes);
	}
	one_sided();
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d wrong bytes\n", all);
	MPI_Finalize();
	free(out);
	free(in);
	return all != 0;
}
