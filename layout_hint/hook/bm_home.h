/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * A home for the hook in user space: its locks, and the memory of its images.
 * Any number of threads may call all of these.
 */
#ifndef BM_HOME_H
#define	BM_HOME_H

#include <pthread.h>

#include "bm_hook.h"

#define	BM_WAIT_MAX	60000U	/* milliseconds that a read waits at most */

struct bm_home {
	struct bm_hook		hook;
	pthread_rwlock_t	settings;	/* S of bm_hook.h */
	pthread_mutex_t		queue;		/* Q */
	pthread_cond_t		asked;		/* a question is in the queue */
};

/* The reply to a command: a code (0 or an errno) and bytes. */
struct bm_reply {
	uint32_t	code;
	uint32_t	length;
	union {
		struct bm_load		load;
		struct bm_state		state;
		struct bm_flush		flush;
		struct bm_decision	decision;
		struct bm_question	questions[BM_QUEUE_MAX];
		char			text[128];
	} bytes;
};

/* 0, or an errno. */
int	bm_home_init(struct bm_home *);
/* When no other thread uses it any more. */
void	bm_home_destroy(struct bm_home *);

uint32_t bm_home_ask(struct bm_home *, const struct bm_create *, int directory);

/* The status of a copy of these bytes, which the hook now holds if BM_OK. */
uint32_t bm_home_load(struct bm_home *, const void *image, size_t size,
	    uint32_t *generation);

/* The most bytes that a command may have; 0 if it is unknown. */
uint32_t bm_home_longest(uint32_t command);

/* Does a command of birthmark_hint.h, with any bytes. */
void	bm_home_do(struct bm_home *, uint32_t command, const void *bytes,
	    uint32_t length, struct bm_reply *);

/* Refuses: the code, and a text with the expectation. */
void	bm_refuse(struct bm_reply *, int code, const char *text);

#endif /* BM_HOME_H */
