/* A clock on the wall that goes back: preloaded, each look at it shows a time one second before the last. Monotonic clocks go on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static long looks;

int clock_gettime(clockid_t id, struct timespec *time)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int answer = real(id, time);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		time->tv_sec -= __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
	return answer;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	(void)zone;
	struct timespec fine;
	int answer = clock_gettime(CLOCK_REALTIME, &fine);
	time->tv_sec = fine.tv_sec;
	time->tv_usec = fine.tv_nsec / 1000;
	return answer;
}
