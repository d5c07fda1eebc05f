/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The layout hook: a file system's queries to a model at creates.
 *
 * One source for the kernel and for programs: freestanding C99. It allocates
 * nothing, sleeps never, has no floating point, and every loop is bounded; all
 * that it keeps is in struct bm_hook. Memory for images, locks, and the way to
 * the helper are of the home that it runs in (a kernel module, a program).
 *
 * Locks. A home has two, and takes them where it says below:
 *
 *   S  the settings lock, shared or exclusive: the image, mode, policy, region.
 *   Q  the queue lock, exclusive, a leaf: the generation, decisions, questions.
 *
 * S goes before Q where both are taken. The longest that either is held is one
 * lookup in the image, or one copy of a question, but for bm_hook_state(), which
 * goes over all decisions. Counters need no lock: they are added to atomically,
 * and read one by one, so that their sums may be off by what is happening.
 *
 *   bm_hook_check()	no lock (it may take milliseconds), in parallel
 *   bm_hook_swap()	S exclusive, Q
 *   bm_hook_configure()	S exclusive
 *   bm_hook_region()	S exclusive
 *   bm_hook_ask()	S shared; in query mode Q, too (bm_hook_mode(), S shared)
 *   bm_hook_find()	S shared, Q
 *   bm_hook_next(), bm_hook_answer(), bm_hook_forget(), bm_hook_flush()	Q
 *   bm_hook_follows()	S shared
 *   bm_hook_count(), bm_hook_outcome()	no lock, in parallel
 *   bm_hook_state()	S shared, Q
 *
 * An image belongs to the home before bm_hook_swap() and again after it was
 * returned by the next: then it may be freed, since S kept every ask out.
 */
#ifndef BM_HOOK_H
#define	BM_HOOK_H

#include "birthmark.h"
#include "birthmark_hint.h"

/*
 * Sizes of the cache of decisions, with the least recently used entry of a set
 * replaced, and of the queue of questions.
 */
#define	BM_CACHE_SETS		1024U	/* a power of two */
#define	BM_CACHE_WAYS		4U
#define	BM_QUEUE_MAX		256U	/* a power of two */
#define	BM_WAIT_ASKS		8192U	/* asks; then a question is asked again */

/* An image that bm_hook_check() has accepted. */
struct bm_slot {
	const void	*image;		/* NULL: there is none */
	uint32_t	 size;
	uint32_t	 hints;		/* BM_HOT_...: what it can say */
	uint32_t	 predicates[BM_HOT_KINDS];	/* which say so */
};

enum bm_entry_state {
	BM_ENTRY_EMPTY = 0,
	BM_ENTRY_WAITS = 1,
	BM_ENTRY_DECIDED = 2
};

/*
 * A decision, keyed by the shape of the create's name (numbers folded to #,
 * random words to @, as in the image format, so that all lock files of a kind
 * are one), mode, uid, gid, which of these are known, and whether it is a
 * directory. The hour is not part of the key: a day's creates would share
 * nothing.
 */
struct bm_entry {
	uint32_t	shape;
	uint32_t	mode;
	uint32_t	uid;
	uint32_t	gid;
	uint32_t	generation;	/* another than the hook's: empty */
	uint32_t	used;		/* tick of the last ask */
	uint32_t	serial;		/* of its question */
	uint32_t	asked;		/* tick of its question */
	uint8_t		known;
	uint8_t		directory;
	uint8_t		state;		/* enum bm_entry_state */
	uint8_t		verdict;
};

/* Private, except for reading counters. About 220 KB. */
struct bm_hook {
	struct bm_slot		slot;		/* S */
	struct bm_config	config;		/* S */
	struct bm_region	region;		/* S */
	struct bm_counters	counters;	/* atomic */
	uint32_t		generation;	/* Q */
	uint32_t		tick;		/* Q */
	uint32_t		serial;		/* Q */
	uint32_t		head;		/* Q: next question to read */
	uint32_t		tail;		/* Q: next place for one */
	struct bm_entry		cache[BM_CACHE_SETS][BM_CACHE_WAYS]; /* Q */
	struct bm_question	queue[BM_QUEUE_MAX];	/* Q */
};

/* Results of bm_hook_find(). */
enum bm_found {
	BM_DECIDED = 0,		/* the verdict is known */
	BM_WAITS = 1,		/* it was asked for before: cold */
	BM_ASK = 2,		/* it is to be asked for: cold until then */
	BM_CANNOT = 3		/* it cannot be asked for: cold */
};

/* Makes a hook: mode off, every hint followed, no image, no region. */
void	bm_hook_init(struct bm_hook *);

/*
 * Checks an image (in memory that no one writes) and finds the three predicates
 * in it. BM_OK: the slot can be given to bm_hook_swap(); else the reason,
 * counted.
 */
uint32_t bm_hook_check(struct bm_hook *, const void *image, size_t size,
	    struct bm_slot *slot);

/*
 * Replaces the image and returns the former one (NULL if there was none), and
 * drops all decisions. An empty slot (image NULL) leaves the hook without one.
 */
const void *bm_hook_swap(struct bm_hook *, const struct bm_slot *slot);

/* Sets mode, policy and the rest; 0 if they are invalid. */
int	bm_hook_configure(struct bm_hook *, const struct bm_config *);

/* The reason for which bm_hook_configure() would refuse, or NULL. */
const char *bm_config_error(const struct bm_config *);

/*
 * The verdict on a create, as far as the policy follows it: bits of BM_HOT_...,
 * 0 for cold. In query mode an unknown create is cold, and its question is
 * queued. mode has no type bits; query mode ignores history and client.
 */
uint32_t bm_hook_ask(struct bm_hook *, const struct bm_create *, int directory);
uint32_t bm_hook_mode(const struct bm_hook *);

/*
 * Query mode alone, for homes that ask themselves (bm_sync.h): as
 * bm_hook_ask(), but at BM_ASK the caller gets the question, and must call
 * bm_hook_answer() or bm_hook_forget() with its id. Without room for one
 * (NULL), or with a name too long for it, the result is BM_CANNOT, and counted.
 * The caller reports the final result to bm_hook_count().
 */
enum bm_found bm_hook_find(struct bm_hook *, const struct bm_create *,
	    int directory, struct bm_question *, uint32_t *verdict);

uint32_t bm_hook_follows(const struct bm_hook *, int directory); /* of BM_HOT_ */
void	bm_hook_count(struct bm_hook *, uint32_t verdict);

/* Takes the oldest question from the queue; 0 if there is none. */
int	bm_hook_next(struct bm_hook *, struct bm_question *);
uint32_t bm_hook_questions(const struct bm_hook *);	/* in the queue; Q */

/* Accepts an answer; 0 if its question is no longer pending (counted). */
int	bm_hook_answer(struct bm_hook *, uint64_t id, uint32_t verdict);

/* Drops an unanswered question: the next create of its kind asks again. */
void	bm_hook_forget(struct bm_hook *, uint64_t id);

/* Drops decisions and questions, because another model answers now. */
uint32_t bm_hook_flush(struct bm_hook *);	/* the new generation */

/*
 * The region's books. The home knows the file system: it reports the region's
 * position (mode 0: there is none any more) and use, and the outcome of each
 * hint that it followed.
 */
void	bm_hook_region(struct bm_hook *, const struct bm_region *);
void	bm_hook_outcome(struct bm_hook *, enum bm_outcome);

/* The result of BMIOC_STATUS. */
void	bm_hook_state(const struct bm_hook *, struct bm_state *);

#endif /* BM_HOOK_H */
