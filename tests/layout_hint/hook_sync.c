/*
 * The synchronous query with a clock and a service that tests control.
 *
 *	hook_sync DEADLINE FIRST MAX FAILURES	(nanoseconds, and a count)
 *
 * Each line of standard input is a create: how many nanoseconds pass before it,
 * how many the service takes, what becomes of the question (enum
 * bm_sync_result), the verdict it says, and the name. For each the verdict that
 * came of it is printed, and whether the service was asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bm_sync.h"

struct service {
	uint64_t	now;
	uint64_t	takes;
	uint64_t	deadline;	/* as the last question had it */
	uint32_t	verdict;
	int		result;
	int		asked;
};

static uint64_t
now(void *context)
{
	return (((struct service *)context)->now);
}

static enum bm_sync_result
ask(void *context, const struct bm_question *question, uint64_t deadline,
    uint32_t *verdict)
{
	struct service *service = (struct service *)context;

	(void)question;
	service->asked = 1;
	service->deadline = deadline - service->now;
	service->now += service->takes;
	*verdict = service->verdict;
	return ((enum bm_sync_result)service->result);
}

static void
print_counters(const struct bm_sync *sync, const struct bm_hook *hook)
{
	const struct bm_sync_counters *counters = &sync->counters;
	uint32_t i;

	for (i = 0; i < BM_SYNC_RESULTS; i++)
		(void)printf("%" PRIu64 " ", counters->results[i]);
	(void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	    counters->unasked, counters->opened, counters->probes,
	    hook->counters.asked);
}

int
main(int argc, char **argv)
{
	static struct service service;
	static struct bm_hook hook;
	struct bm_transport transport = { &service, now, ask };
	struct bm_sync_settings settings;
	struct bm_config config;
	struct bm_create create;
	struct bm_sync sync;
	uint64_t before;
	uint32_t verdict;
	char name[64];

	if (argc != 5)
		return (2);
	settings.deadline = strtoull(argv[1], NULL, 10);
	settings.back_off_first = strtoull(argv[2], NULL, 10);
	settings.back_off_max = strtoull(argv[3], NULL, 10);
	settings.failures_max = strtoull(argv[4], NULL, 10);
	bm_hook_init(&hook);
	config = hook.config;
	config.mode = BM_MODE_QUERY;
	if (!bm_hook_configure(&hook, &config))
		return (2);
	bm_sync_init(&sync, &transport, &settings);
	while (scanf("%" SCNu64 " %" SCNu64 " %d %" SCNu32 " %63s", &before,
	    &service.takes, &service.result, &service.verdict, name) == 5) {
		service.now += before;
		service.asked = 0;
		memset(&create, 0, sizeof(create));
		create.name = name;
		create.name_len = strlen(name);
		verdict = bm_sync_ask(&sync, &hook, &create, 0);
		if (service.asked && service.deadline != settings.deadline)
			return (3);
		(void)printf("%" PRIu32 " %d\n", verdict, service.asked);
	}
	print_counters(&sync, &hook);
	return (0);
}
