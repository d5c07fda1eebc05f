/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The layout hook: see bm_hook.h.
 */
#include "bm_hook.h"

#ifdef _KERNEL
#include <sys/systm.h>
#include <machine/atomic.h>
#define	BM_COUNT(counter)	atomic_add_64(&(counter), 1)
#define	BM_GET(counter)		(*(const volatile uint64_t *)(counter))
#else
#include <string.h>
#define	BM_COUNT(counter)						\
	(void)__atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)
#define	BM_GET(counter)		__atomic_load_n((counter), __ATOMIC_RELAXED)
#endif

#define	BM_ENTRIES	(BM_CACHE_SETS * BM_CACHE_WAYS)

static const char *const bm_keys[BM_HOT_KINDS] = { BM_HOT_KEYS };

void
bm_hook_init(struct bm_hook *hook)
{
	memset(hook, 0, sizeof(*hook));
	hook->generation = 1;
	hook->config.version = BM_HINT_VERSION;
	hook->config.mode = BM_MODE_OFF;
	hook->config.policy = BM_HOT_ALL;
	hook->config.hot_blocks = BM_HOT_BLOCKS;
}

/*
 * The image.
 */

static int
bm_key_is(const char *key, size_t len, const char *text)
{
	size_t i;

	for (i = 0; i < len && text[i] != '\0'; i++)
		if (key[i] != text[i])
			return (0);
	return (i == len && text[i] == '\0');
}

static void
bm_slot_fill(struct bm_slot *slot)
{
	uint32_t i, kind;
	const char *key;
	size_t len;

	for (i = 0; i < bm_predicates(slot->image); i++) {
		key = bm_predicate_key(slot->image, i, &len);
		for (kind = 0; kind < BM_HOT_KINDS; kind++) {
			if (!bm_key_is(key, len, bm_keys[kind]))
				continue;
			slot->predicates[kind] = i;
			slot->hints |= 1U << kind;
		}
	}
}

uint32_t
bm_hook_check(struct bm_hook *hook, const void *image, size_t size,
    struct bm_slot *slot)
{
	uint32_t status;

	memset(slot, 0, sizeof(*slot));
	if (size > BM_IMAGE_MAX)
		status = BM_OVERSIZE;
	else
		status = (uint32_t)bm_image_check(image, size);
	if (status == BM_OK) {
		slot->image = image;
		slot->size = (uint32_t)size;
		bm_slot_fill(slot);
		if ((slot->hints & ~BM_HOT_WRITE) == 0) {
			slot->image = NULL;
			status = BM_NO_HINT;
		}
	}
	if (status != BM_OK)
		BM_COUNT(hook->counters.images_refused[status]);
	return (status);
}

const void *
bm_hook_swap(struct bm_hook *hook, const struct bm_slot *slot)
{
	const void *before = hook->slot.image;

	hook->slot = *slot;
	if (slot->image != NULL)
		BM_COUNT(hook->counters.images_loaded);
	(void)bm_hook_flush(hook);
	return (before);
}

/*
 * The settings.
 */

const char *
bm_config_error(const struct bm_config *config)
{
	if (config->version != BM_HINT_VERSION)
		return ("expected version 2");
	if (config->mode > BM_MODE_QUERY)
		return ("expected a mode of 0 (off), 1 (table) or 2 (query)");
	if ((config->policy & ~BM_HOT_ALL) != 0)
		return ("expected a policy of bits 1, 2 and 4");
	if (config->policy == BM_HOT_WRITE)
		return ("expected HotName or HotDir with HotWrite, which alone "
		    "makes a file system slower");
	if (config->region_mode > BM_REGION_RESERVED)
		return ("expected a region's mode of 0 (none), 1 (preferred), "
		    "2 (data) or 3 (reserved)");
	if ((config->region_mode == BM_REGION_NONE) !=
	    (config->region_length == 0))
		return ("expected a region's mode and length, or 0 for both");
	if (config->region_inodes != 0 && config->region_length == 0)
		return ("expected a region's length with its inodes");
	if (config->region_start + config->region_length < config->region_start)
		return ("expected a region that ends before 2^64");
	return (NULL);
}

int
bm_hook_configure(struct bm_hook *hook, const struct bm_config *config)
{
	if (bm_config_error(config) != NULL)
		return (0);
	hook->config = *config;
	if (hook->config.hot_blocks == 0)
		hook->config.hot_blocks = BM_HOT_BLOCKS;
	return (1);
}

uint32_t
bm_hook_mode(const struct bm_hook *hook)
{
	return (hook->config.mode);
}

/* The verdicts for a directory, and for anything else. */
static uint32_t
bm_kinds(int directory)
{
	return (directory ? BM_HOT_OF_DIRECTORIES : BM_HOT_OF_OTHERS);
}

uint32_t
bm_hook_follows(const struct bm_hook *hook, int directory)
{
	return (hook->config.policy & bm_kinds(directory));
}

/*
 * Decisions.
 */

static uint32_t
bm_shape(const struct bm_create *create)
{
	struct bm_seen seen;

	seen.numbers[BM_NAME_PERIODS] = 0;	/* the suffix is not wanted */
	bm_see_shape(&seen, (const uint8_t *)create->name, create->name_len);
	return (seen.values[BM_VALUE_SHAPE]);
}

/* Unknown members are 0, whatever the create has there. */
static void
bm_key(struct bm_entry *key, const struct bm_create *create, int directory)
{
	uint32_t known = create->known &
	    (BM_KNOWN_MODE | BM_KNOWN_UID | BM_KNOWN_GID);

	memset(key, 0, sizeof(*key));
	if (create->name != NULL) {
		known |= BM_KNOWN_NAME;
		key->shape = bm_shape(create);
	}
	key->mode = (known & BM_KNOWN_MODE) != 0 ? create->mode : 0;
	key->uid = (known & BM_KNOWN_UID) != 0 ? create->uid : 0;
	key->gid = (known & BM_KNOWN_GID) != 0 ? create->gid : 0;
	key->known = (uint8_t)known;
	key->directory = directory != 0;
}

static int
bm_key_equal(const struct bm_entry *a, const struct bm_entry *b)
{
	return (a->shape == b->shape && a->mode == b->mode &&
	    a->uid == b->uid && a->gid == b->gid && a->known == b->known &&
	    a->directory == b->directory);
}

static uint32_t
bm_mix(uint32_t hash, uint32_t number)
{
	hash = (hash ^ number) * 0x9e3779b1U;
	return (hash ^ hash >> 15);
}

static struct bm_entry *
bm_set_of(struct bm_hook *hook, const struct bm_entry *key)
{
	uint32_t hash = bm_mix(key->shape, key->mode);

	hash = bm_mix(hash, key->uid);
	hash = bm_mix(hash, key->gid);
	hash = bm_mix(hash, (uint32_t)key->known << 1 | key->directory);
	return (hook->cache[hash & (BM_CACHE_SETS - 1)]);
}

static int
bm_is_empty(const struct bm_hook *hook, const struct bm_entry *entry)
{
	return (entry->generation != hook->generation ||
	    entry->state == BM_ENTRY_EMPTY);
}

/* The entry of a key; else an empty one of its set; else the least used. */
static struct bm_entry *
bm_entry_for(struct bm_hook *hook, const struct bm_entry *key)
{
	struct bm_entry *set = bm_set_of(hook, key), *worst = set;
	uint32_t way, age, worst_age = 0;

	for (way = 0; way < BM_CACHE_WAYS; way++) {
		if (bm_is_empty(hook, &set[way]))
			age = UINT32_MAX;
		else if (bm_key_equal(&set[way], key))
			return (&set[way]);
		else
			age = hook->tick - set[way].used;
		if (age > worst_age) {
			worst = &set[way];
			worst_age = age;
		}
	}
	return (worst);
}

static struct bm_entry *
bm_entry_of(struct bm_hook *hook, uint64_t id)
{
	uint32_t place = (uint32_t)id;
	struct bm_entry *entry;

	if (place >= BM_ENTRIES)
		return (NULL);
	entry = &hook->cache[place / BM_CACHE_WAYS][place % BM_CACHE_WAYS];
	if (bm_is_empty(hook, entry) || entry->state != BM_ENTRY_WAITS ||
	    entry->serial != (uint32_t)(id >> 32))
		return (NULL);
	return (entry);
}

static void
bm_question_fill(struct bm_question *question, const struct bm_create *create,
    const struct bm_entry *entry)
{
	size_t len = create->name == NULL ? 0 : create->name_len;

	memset(question, 0, sizeof(*question));
	question->version = BM_HINT_VERSION;
	question->generation = entry->generation;
	question->known = entry->known;
	question->mode = entry->mode;
	question->uid = entry->uid;
	question->gid = entry->gid;
	if ((create->known & BM_KNOWN_HOUR) != 0) {
		question->known |= BM_KNOWN_HOUR;
		question->hour = create->hour;
	}
	question->directory = entry->directory;
	question->name_len = (uint16_t)len;
	if (len > 0)
		memcpy(question->name, create->name, len);
}

/* Puts a question for a key into its entry, which may have been another's. */
static enum bm_found
bm_put(struct bm_hook *hook, struct bm_entry *entry, const struct bm_entry *key,
    const struct bm_create *create, struct bm_question *question)
{
	if (question == NULL ||
	    (create->name != NULL && create->name_len > BM_NAME_MAX)) {
		BM_COUNT(hook->counters.questions_dropped);
		return (BM_CANNOT);
	}
	*entry = *key;
	entry->generation = hook->generation;
	entry->used = entry->asked = hook->tick;
	entry->serial = ++hook->serial;
	entry->state = BM_ENTRY_WAITS;
	bm_question_fill(question, create, entry);
	question->id = (uint64_t)entry->serial << 32 |
	    (uint32_t)(entry - &hook->cache[0][0]);
	return (BM_ASK);
}

enum bm_found
bm_hook_find(struct bm_hook *hook, const struct bm_create *create,
    int directory, struct bm_question *question, uint32_t *verdict)
{
	struct bm_entry key, *entry;

	bm_key(&key, create, directory);
	entry = bm_entry_for(hook, &key);
	hook->tick++;
	*verdict = 0;
	if (bm_is_empty(hook, entry) || !bm_key_equal(entry, &key)) {
		BM_COUNT(hook->counters.cache_misses);
		return (bm_put(hook, entry, &key, create, question));
	}
	entry->used = hook->tick;
	if (entry->state == BM_ENTRY_DECIDED) {
		BM_COUNT(hook->counters.cache_hits);
		*verdict = entry->verdict & bm_hook_follows(hook, directory);
		return (BM_DECIDED);
	}
	BM_COUNT(hook->counters.cache_waits);
	if (hook->tick - entry->asked > BM_WAIT_ASKS)
		return (bm_put(hook, entry, &key, create, question));
	return (BM_WAITS);
}

int
bm_hook_answer(struct bm_hook *hook, uint64_t id, uint32_t verdict)
{
	struct bm_entry *entry = bm_entry_of(hook, id);

	if (entry == NULL) {
		BM_COUNT(hook->counters.answers_stale);
		return (0);
	}
	BM_COUNT(hook->counters.answers_taken);
	entry->state = BM_ENTRY_DECIDED;
	entry->verdict = (uint8_t)(verdict & bm_kinds(entry->directory));
	return (1);
}

void
bm_hook_forget(struct bm_hook *hook, uint64_t id)
{
	struct bm_entry *entry = bm_entry_of(hook, id);

	if (entry != NULL)
		entry->state = BM_ENTRY_EMPTY;
}

uint32_t
bm_hook_flush(struct bm_hook *hook)
{
	if (++hook->generation == 0)
		hook->generation = 1;
	hook->head = hook->tail;
	return (hook->generation);
}

/*
 * Questions.
 */

uint32_t
bm_hook_questions(const struct bm_hook *hook)
{
	return (hook->tail - hook->head);
}

int
bm_hook_next(struct bm_hook *hook, struct bm_question *question)
{
	if (hook->head == hook->tail)
		return (0);
	*question = hook->queue[hook->head++ & (BM_QUEUE_MAX - 1)];
	return (1);
}

static uint32_t
bm_ask_later(struct bm_hook *hook, const struct bm_create *create,
    int directory)
{
	struct bm_question *room = NULL;
	uint32_t verdict;

	if (bm_hook_questions(hook) < BM_QUEUE_MAX)
		room = &hook->queue[hook->tail & (BM_QUEUE_MAX - 1)];
	if (bm_hook_find(hook, create, directory, room, &verdict) == BM_ASK) {
		hook->tail++;
		BM_COUNT(hook->counters.questions_queued);
	}
	return (verdict);
}

/*
 * Asking.
 */

static uint32_t
bm_ask_table(struct bm_hook *hook, const struct bm_create *create,
    int directory)
{
	const struct bm_slot *slot = &hook->slot;
	struct bm_answers answers;
	uint32_t kind, wanted, verdict = 0;

	if (slot->image == NULL) {
		BM_COUNT(hook->counters.without_image);
		return (0);
	}
	wanted = bm_hook_follows(hook, directory) & slot->hints;
	if (wanted == 0)
		return (0);
	bm_lookup(slot->image, create, &answers);
	for (kind = 0; kind < BM_HOT_KINDS; kind++)
		if ((wanted >> kind & 1) != 0 &&
		    bm_answer(&answers, slot->predicates[kind]))
			verdict |= 1U << kind;
	return (verdict);
}

void
bm_hook_count(struct bm_hook *hook, uint32_t verdict)
{
	uint32_t kind;

	BM_COUNT(hook->counters.asked);
	for (kind = 0; kind < BM_HOT_KINDS; kind++)
		if ((verdict >> kind & 1) != 0)
			BM_COUNT(hook->counters.hinted[kind]);
}

uint32_t
bm_hook_ask(struct bm_hook *hook, const struct bm_create *create, int directory)
{
	uint32_t verdict = 0;

	switch (hook->config.mode) {
	case BM_MODE_TABLE:
		verdict = bm_ask_table(hook, create, directory);
		break;
	case BM_MODE_QUERY:
		verdict = bm_ask_later(hook, create, directory);
		break;
	default:
		break;
	}
	bm_hook_count(hook, verdict);
	return (verdict);
}

/*
 * The region's books.
 */

void
bm_hook_region(struct bm_hook *hook, const struct bm_region *region)
{
	hook->region = *region;
}

void
bm_hook_outcome(struct bm_hook *hook, enum bm_outcome outcome)
{
	if ((uint32_t)outcome < BM_OUTCOMES)
		BM_COUNT(hook->counters.outcomes[outcome]);
}

static uint32_t
bm_decisions(const struct bm_hook *hook)
{
	const struct bm_entry *entry = &hook->cache[0][0];
	uint32_t i, count = 0;

	for (i = 0; i < BM_ENTRIES; i++)
		count += !bm_is_empty(hook, &entry[i]) &&
		    entry[i].state == BM_ENTRY_DECIDED;
	return (count);
}

/* The counters, one by one: all of them are of the same size. */
static void
bm_counters_get(const struct bm_counters *from, struct bm_counters *to)
{
	const uint64_t *p = (const uint64_t *)(const void *)from;
	uint64_t *q = (uint64_t *)(void *)to;
	size_t i;

	for (i = 0; i < sizeof(*from) / sizeof(*p); i++)
		q[i] = BM_GET(&p[i]);
}

void
bm_hook_state(const struct bm_hook *hook, struct bm_state *state)
{
	memset(state, 0, sizeof(*state));
	state->version = BM_HINT_VERSION;
	state->generation = hook->generation;
	if (hook->slot.image != NULL) {
		state->image_size = hook->slot.size;
		state->image_checksum = bm_u32(
		    (const uint8_t *)hook->slot.image + BM_AT_CHECKSUM);
		state->image_hints = hook->slot.hints;
	}
	state->questions = bm_hook_questions(hook);
	state->decisions = bm_decisions(hook);
	state->config = hook->config;
	state->region = hook->region;
	bm_counters_get(&hook->counters, &state->counters);
}
