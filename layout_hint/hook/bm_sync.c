/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Asking at once: see bm_sync.h.
 */
#include "bm_sync.h"

void
bm_sync_init(struct bm_sync *sync, const struct bm_transport *transport,
    const struct bm_sync_settings *settings)
{
	static const struct bm_sync nothing;

	*sync = nothing;
	sync->transport = *transport;
	sync->settings = *settings;
	sync->back_off = settings->back_off_first;
}

/*
 * Whether a question may be sent. A clock that was set back counts as one that
 * went on, so that the breaker cannot stay open forever.
 */
static int
bm_sync_may_ask(struct bm_sync *sync, uint64_t now)
{
	if (!sync->is_open)
		return (1);
	if (now - sync->opened_at < sync->back_off) {
		sync->counters.unasked++;
		return (0);
	}
	sync->counters.probes++;
	return (1);
}

static void
bm_sync_succeeded(struct bm_sync *sync)
{
	sync->is_open = 0;
	sync->failures = 0;
	sync->back_off = sync->settings.back_off_first;
}

static void
bm_sync_failed(struct bm_sync *sync, uint64_t now)
{
	uint64_t bound = sync->settings.back_off_max;

	sync->failures++;
	if (sync->is_open)
		sync->back_off = sync->back_off < bound / 2 ?
		    2 * sync->back_off : bound;
	else if (sync->failures < sync->settings.failures_max)
		return;
	else
		sync->counters.opened++;
	sync->is_open = 1;
	sync->opened_at = now;
}

/* Sends a question; 0 if it was not answered in time. */
static int
bm_sync_send(struct bm_sync *sync, const struct bm_question *question,
    uint32_t *verdict)
{
	struct bm_transport *transport = &sync->transport;
	enum bm_sync_result result;
	uint64_t start, end;

	start = transport->now(transport->context);
	if (!bm_sync_may_ask(sync, start))
		return (0);
	result = transport->ask(transport->context, question,
	    start + sync->settings.deadline, verdict);
	if ((uint32_t)result >= BM_SYNC_RESULTS)
		result = BM_SYNC_BAD;
	end = transport->now(transport->context);
	if (result == BM_SYNC_ANSWERED &&
	    end - start > sync->settings.deadline)
		result = BM_SYNC_LATE;
	sync->counters.results[result]++;
	if (result == BM_SYNC_ANSWERED)
		bm_sync_succeeded(sync);
	else
		bm_sync_failed(sync, end);
	return (result == BM_SYNC_ANSWERED);
}

uint32_t
bm_sync_ask(struct bm_sync *sync, struct bm_hook *hook,
    const struct bm_create *create, int directory)
{
	struct bm_question question;
	uint32_t verdict, answer = 0;

	if (bm_hook_find(hook, create, directory, &question, &verdict) ==
	    BM_ASK) {
		if (bm_sync_send(sync, &question, &answer)) {
			(void)bm_hook_answer(hook, question.id, answer);
			verdict = answer & bm_hook_follows(hook, directory);
		} else
			bm_hook_forget(hook, question.id);
	}
	bm_hook_count(hook, verdict);
	return (verdict);
}
