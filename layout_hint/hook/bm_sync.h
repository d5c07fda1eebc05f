/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Asking at once, in user space alone: a create that nothing is known of waits
 * for the service's answer, up to a deadline. A breaker stops asking a service
 * that does not answer: after so many failures in a row it opens, and creates
 * are cold at once; after a back-off one create probes, which closes it again,
 * or doubles the back-off up to a bound.
 *
 * In a kernel no create may wait (docs/layout.md), so this is not part of the
 * module. It is for measuring what waiting would cost. It keeps no lock and
 * waits inside of bm_sync_ask(): hook and sync are used by one thread, or under
 * a lock of their home.
 */
#ifndef BM_SYNC_H
#define	BM_SYNC_H

#include "bm_hook.h"

/* Result of a question that was sent. */
enum bm_sync_result {
	BM_SYNC_ANSWERED = 0,
	BM_SYNC_LATE = 1,	/* not within the deadline */
	BM_SYNC_GONE = 2,	/* no connection, or it ended */
	BM_SYNC_BAD = 3,	/* an answer that is not as it should be */
	BM_SYNC_RESULTS = 4
};

/* The clock, in nanoseconds, and the way to the service. */
struct bm_transport {
	void		*context;
	uint64_t	(*now)(void *context);
	/* Asks, and comes back by the deadline (a reading of the clock). */
	enum bm_sync_result (*ask)(void *context, const struct bm_question *,
			    uint64_t deadline, uint32_t *verdict);
};

/* Times in nanoseconds. */
struct bm_sync_settings {
	uint64_t	deadline;	/* for one question */
	uint64_t	back_off_first;
	uint64_t	back_off_max;
	uint64_t	failures_max;	/* in a row, until the breaker opens */
};

struct bm_sync_counters {
	uint64_t	results[BM_SYNC_RESULTS];	/* questions sent */
	uint64_t	unasked;	/* creates that an open breaker let go */
	uint64_t	opened;		/* times that the breaker opened */
	uint64_t	probes;		/* questions sent while it was open */
};

struct bm_sync {
	struct bm_transport		transport;
	struct bm_sync_settings		settings;
	struct bm_sync_counters		counters;
	uint64_t			failures;	/* in a row */
	uint64_t			is_open;
	uint64_t			opened_at;
	uint64_t			back_off;
};

/* Closed, with nothing counted. */
void	bm_sync_init(struct bm_sync *, const struct bm_transport *,
	    const struct bm_sync_settings *);

/*
 * The verdict on a create, as bm_hook_ask() in query mode, except that a miss
 * waits. A create whose question fails is cold, and the next of its kind asks
 * again.
 */
uint32_t bm_sync_ask(struct bm_sync *, struct bm_hook *,
	    const struct bm_create *, int directory);

#endif /* BM_SYNC_H */
