/*
 * Times the lookup in birthmark.h in the worst images, for benchmarks/steps.py.
 *
 *	steps IMAGE ROUNDS
 *
 * Of each round the first call finds nothing of the image in the processor's
 * caches, for as many bytes as they hold at most were read before; the next
 * four find what the one before left there. Printed: nanoseconds, as JSON.
 */
#include <string.h>

#include "timing.h"

#define	CACHES	((size_t)128 << 20)	/* bytes */
#define	WARM	4U			/* calls after a cold one */

static uint64_t
read_all(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < size; i += 64)
		sum += bytes[i];
	return (sum);
}

/* What the worst images want: all of a name's pieces, and a mode among many. */
static void
make(struct bm_create *create, char *name, size_t len, size_t round)
{
	static uint8_t history[BM_FEATURES_MAX];

	memset(history, 1, sizeof(history));
	memset(create, 0, sizeof(*create));
	memset(name, '.', len);
	create->name = name;
	create->name_len = len;
	create->history = history;
	create->history_len = sizeof(history);
	create->known = BM_KNOWN_MODE | BM_KNOWN_HOUR;
	create->mode = (uint32_t)(1 + round * 37 % 600);
}

int
main(int argc, char **argv)
{
	struct bm_answers answers;
	struct bm_create create;
	char name[BM_STEPS_NAME];
	size_t size, rounds, round, i;
	uint64_t *cold, *warm, start, sum = 0;
	uint8_t *image, *other;

	if (argc != 3)
		return (2);
	image = read_file(argv[1], &size);
	start = nanoseconds();
	if (bm_image_check(image, size) != BM_OK)
		return (1);
	(void)printf("{\"check\": %llu, ",
	    (unsigned long long)(nanoseconds() - start));
	rounds = (size_t)strtoul(argv[2], NULL, 10);
	cold = (uint64_t *)calloc(rounds, sizeof(*cold));
	warm = (uint64_t *)calloc(rounds, WARM * sizeof(*warm));
	other = (uint8_t *)malloc(CACHES);
	if (cold == NULL || warm == NULL || other == NULL)
		return (2);
	memset(other, 1, CACHES);
	for (round = 0; round < rounds; round++) {
		make(&create, name, sizeof(name), round);
		sum += read_all(other, CACHES);
		for (i = 0; i <= WARM; i++) {
			start = nanoseconds();
			bm_lookup(image, &create, &answers);
			start = nanoseconds() - start;
			*(i == 0 ? &cold[round] : &warm[WARM * round + i - 1]) =
			    start;
			sum += answers.words[0];
		}
	}
	print("cold", cold, rounds, 1);
	print("warm", warm, WARM * rounds, 1);
	(void)printf("\"sum\": %llu}\n", (unsigned long long)sum);
	return (0);
}
