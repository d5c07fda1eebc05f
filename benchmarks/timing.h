/*
 * For programs that time calls one by one: by the processor's time stamp
 * counter where there is one, fenced on both sides, else by the monotonic
 * clock. And the creates that lookup.py writes for them.
 */
#include <time.h>

#include "birthmark.h"
#include "bytes.h"

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t
ticks(void)
{
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return (now);
}
#define	TIMER	"time stamp counter, fenced"
#else
static inline uint64_t
ticks(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec);
}
#define	TIMER	"monotonic clock"
#endif

static uint64_t
nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec);
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

static void
print(const char *what, uint64_t *times, size_t n, double each)
{
	qsort(times, n, sizeof(*times), compare);
	(void)printf("\"%s_median\": %.1f, \"%s_p99\": %.1f, ", what,
	    (double)times[n / 2] * each, what, (double)times[n - 1 - n / 100] * each);
}

/* A text or NULL: its size and 1, or 0. */
static const uint8_t *
text(const uint8_t **p, size_t *size)
{
	uint32_t number = bm_u32(*p);
	const uint8_t *found = *p + 4;

	*size = number > 0 ? number - 1 : 0;
	*p = found + *size;
	return (number > 0 ? found : NULL);
}

static struct bm_create *
read_creates(const uint8_t *p, size_t size, size_t *n)
{
	const uint8_t *end = p + size;
	struct bm_create *creates =
	    (struct bm_create *)calloc(size / 32 + 1, sizeof(*creates)), *c;

	if (creates == NULL)
		exit(2);
	for (c = creates; p < end; c++) {
		c->known = bm_u32(p);
		c->mode = bm_u32(p + 4);
		c->uid = bm_u32(p + 8);
		c->gid = bm_u32(p + 12);
		c->client = bm_u32(p + 16);
		c->hour = bm_u32(p + 20);
		p += 24;
		c->name = text(&p, &c->name_len);
		c->history = text(&p, &c->history_len);
	}
	*n = (size_t)(c - creates);
	return (creates);
}
