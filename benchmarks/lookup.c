/*
 * Times the lookup in birthmark.h, call by call, for benchmarks/lookup.py.
 *
 *	lookup IMAGE CREATES ROUNDS
 *
 * CREATES holds creates as lookup.py writes them. All are looked up in order,
 * ROUNDS times and once before for the cache; each call is timed on its own
 * (timing.h). Timings of nothing, taken the same way, tell what the timer
 * itself takes. Printed: nanoseconds, as JSON.
 */
#include "timing.h"

int
main(int argc, char **argv)
{
	struct bm_answers answers;
	struct bm_create *creates;
	size_t size, n, i, k = 0, rounds, round;
	uint64_t *times, *empty, start, begin, from, yes = 0;
	uint8_t *image, *content;
	double each;

	if (argc != 4)
		return (2);
	image = read_file(argv[1], &size);
	if (bm_image_check(image, size) != BM_OK)
		return (1);
	content = read_file(argv[2], &size);
	creates = read_creates(content, size, &n);
	rounds = (size_t)strtoul(argv[3], NULL, 10);
	times = (uint64_t *)calloc(n * rounds, sizeof(*times));
	empty = (uint64_t *)calloc(n * rounds, sizeof(*empty));
	if (times == NULL || empty == NULL)
		return (2);
	for (i = 0; i < n; i++)
		bm_lookup(image, &creates[i], &answers);
	from = nanoseconds();
	begin = ticks();
	for (round = 0; round < rounds; round++)
		for (i = 0; i < n; i++, k++) {
			start = ticks();
			bm_lookup(image, &creates[i], &answers);
			times[k] = ticks() - start;
			yes += answers.words[0];
			start = ticks();
			empty[k] = ticks() - start;
		}
	each = (double)(nanoseconds() - from) / (double)(ticks() - begin);
	(void)printf("{");
	print("call", times, k, each);
	print("timer", empty, k, each);
	from = nanoseconds();
	for (round = 0; round < rounds; round++)
		for (i = 0; i < n; i++) {
			bm_lookup(image, &creates[i], &answers);
			yes += answers.words[0];
		}
	(void)printf("\"stream_mean\": %.1f, \"calls\": %zu, \"timer\": \"" TIMER
	    "\", \"sum\": %llu}\n", (double)(nanoseconds() - from) / (double)k, k,
	    (unsigned long long)yes);
	return (0);
}
