/* For LD_PRELOAD: the time of day jumps by twenty years with every look at it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static long
jump(void)
{
	static long years;

	years = years > 0 ? -10 : 10;
	return (years * 365 * 86400);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int (*real)(clockid_t, struct timespec *) =
	    (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int status = real(clock, now);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		now->tv_sec += jump();
	return (status);
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return (0);
}

time_t
time(time_t *now)
{
	struct timespec precise;

	clock_gettime(CLOCK_REALTIME, &precise);
	if (now != NULL)
		*now = precise.tv_sec;
	return (precise.tv_sec);
}
