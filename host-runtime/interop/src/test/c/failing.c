/*
 * Preloaded into a JVM: what Java code finds by dlsym fails now and then, by seed. The JVM's own calls go by its
 * procedure linkage table and never fail. FAIL_SEED chooses the calls, FAIL_ONE_OF how many there are to one that fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t calls;

static int fails(const char *name)
{
	const char *seed = getenv("FAIL_SEED"), *one_of = getenv("FAIL_ONE_OF"), *report = getenv("FAIL_REPORT");
	uint64_t n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) + strtoull(seed, NULL, 10) * 0x9e3779b97f4a7c15u;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	n = (n ^ n >> 27) * 0x94d049bb133111ebu;
	if ((n ^ n >> 31) % strtoull(one_of, NULL, 10))
		return 0;
	FILE *file = fopen(report, "a");
	if (file) {
		fprintf(file, "%s\n", name);
		fclose(file);
	}
	errno = ENOMEM;
	return 1;
}

static void *failing_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
	return fails("mmap") ? MAP_FAILED : mmap(at, bytes, protection, flags, file, offset);
}

static long failing_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const char *name = NULL;
	if (number == SYS_mmap)
		name = "mmap";
	else if (number == SYS_ftruncate)
		name = "ftruncate";
	else if (number == SYS_memfd_create)
		name = "memfd_create";
	return name && fails(name) ? -1 : syscall(number, a, b, c, d, e, f);
}

void *dlsym(void *library, const char *name)
{
	static void *(*real)(void *, const char *);
	if (!real)
		real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (getenv("FAIL_SEED")) {
		if (!strcmp(name, "mmap"))
			return failing_mmap;
		if (!strcmp(name, "syscall"))
			return failing_syscall;
	}
	return real(library, name);
}
