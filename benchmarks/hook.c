/*
 * Times the layout hook in bm_hook.c, call by call, for benchmarks/hook.py.
 *
 *	hook IMAGE CREATES ROUNDS
 *
 * CREATES holds creates as lookup.py writes them. For each, one after another:
 * the lookup in the image, the hook in table mode, the hook in query mode when
 * the decision is known and when it is not (its questions are answered between
 * the calls), and nothing. Printed: nanoseconds, as JSON.
 */
#include "timing.h"
#include "bm_hook.h"

enum what { LOOKUP, TABLE, HIT, MISS, NOTHING, WHATS };

static const char *const names[WHATS] = {
	"lookup", "table", "query_known", "query_unknown", "timer"
};
static uint64_t *times[WHATS];
static size_t counts[WHATS];
static struct bm_hook table, query;

static void
set_mode(struct bm_hook *hook, uint32_t mode)
{
	struct bm_config config;

	bm_hook_init(hook);
	config = hook->config;
	config.mode = mode;
	if (!bm_hook_configure(hook, &config))
		exit(2);
}

static void
answer_all(void)
{
	struct bm_question question;

	while (bm_hook_next(&query, &question))
		(void)bm_hook_answer(&query, question.id, BM_HOT_NAME);
}

static void
note(enum what what, uint64_t ticks_taken)
{
	times[what][counts[what]++] = ticks_taken;
}

static uint64_t
time_create(const void *image, const struct bm_create *create)
{
	struct bm_answers answers;
	uint64_t start, taken, hits, said = 0;

	start = ticks();
	bm_lookup(image, create, &answers);
	note(LOOKUP, ticks() - start);
	said += answers.words[0];
	start = ticks();
	said += bm_hook_ask(&table, create, 0);
	note(TABLE, ticks() - start);
	hits = query.counters.cache_hits;
	start = ticks();
	said += bm_hook_ask(&query, create, 0);
	taken = ticks() - start;
	note(query.counters.cache_hits > hits ? HIT : MISS, taken);
	answer_all();
	start = ticks();
	note(NOTHING, ticks() - start);
	return (said);
}

int
main(int argc, char **argv)
{
	struct bm_create *creates;
	struct bm_slot slot;
	size_t size, n, i, what, rounds, round;
	uint64_t begin, from, said = 0;
	uint8_t *image, *content;
	double each;

	if (argc != 4)
		return (2);
	image = read_file(argv[1], &size);
	set_mode(&table, BM_MODE_TABLE);
	set_mode(&query, BM_MODE_QUERY);
	if (bm_hook_check(&table, image, size, &slot) != BM_OK)
		return (1);
	(void)bm_hook_swap(&table, &slot);
	content = read_file(argv[2], &size);
	creates = read_creates(content, size, &n);
	rounds = (size_t)strtoul(argv[3], NULL, 10);
	for (what = 0; what < WHATS; what++) {
		times[what] = (uint64_t *)calloc(n * (rounds + 1),
		    sizeof(**times));
		if (times[what] == NULL)
			return (2);
	}
	from = nanoseconds();
	begin = ticks();
	for (round = 0; round <= rounds; round++) {
		for (i = 0; i < n; i++)
			said += time_create(image, &creates[i]);
		if (round == 0)		/* for the processor's cache alone */
			counts[LOOKUP] = counts[TABLE] = counts[NOTHING] = 0;
	}
	each = (double)(nanoseconds() - from) / (double)(ticks() - begin);
	(void)printf("{");
	for (what = 0; what < WHATS; what++)
		if (counts[what] > 0)
			print(names[what], times[what], counts[what], each);
	(void)printf("\"known\": %zu, \"unknown\": %zu, \"sum\": %llu}\n",
	    counts[HIT], counts[MISS], (unsigned long long)said);
	return (0);
}
