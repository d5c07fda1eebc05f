/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The lookup in a compiled image, format version 2 (docs/image-format.md).
 *
 * One header for kernels and programs, C99 or C++17, freestanding: nothing is
 * allocated, nothing is called, nothing is kept between calls, and there is no
 * floating point. Every number is read byte by byte, so any alignment and any
 * byte order of the host will do.
 *
 *	if (bm_image_check(bytes, size) == BM_OK)
 *		bm_lookup(bytes, &create, &answers);
 *
 * Once bm_image_check() has accepted an image, bm_lookup() stays inside of it
 * and ends, whatever the create is: with a name of at most BM_STEPS_NAME bytes
 * after no more steps than the image declares, BM_STEPS_MAX at most. Images may
 * be swapped between calls.
 */
#ifndef BIRTHMARK_H
#define	BIRTHMARK_H

#ifdef _KERNEL
#include <sys/param.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define	BM_VERSION		2U	/* of the format that is read here */
#define	BM_PREDICATES_MAX	256U
#define	BM_WORDS_MAX		4U	/* 64 predicates to a word */
#define	BM_SECTIONS_MAX		16U
#define	BM_FEATURES_MAX		512U
#define	BM_TREES_MAX		256U	/* of a forest: their sum fits 16 bits */
#define	BM_BUCKET_MAX		16U	/* entries of a dictionary to compare */
#define	BM_STEPS_MAX		16384U	/* of one lookup */
#define	BM_STEPS_NAME		255U	/* bytes of the longest name of these */

/* Tests count here what a lookup does; else it costs nothing. */
#ifndef BM_STEP
#define	BM_STEP(n)		((void)0)
#endif

/* What bm_image_check() says. */
enum bm_status {
	BM_OK = 0,
	BM_TRUNCATED = 1,	/* fewer bytes than a header, or than it says */
	BM_NO_IMAGE = 2,	/* other magic bytes */
	BM_NEWER = 3,		/* a version that is not known here */
	BM_TRAILING = 4,	/* more bytes than the header says */
	BM_CHECKSUM = 5,	/* not the bytes that were written */
	BM_MALFORMED = 6,	/* right checksum, but not as the format says */
	BM_OLDER = 7,		/* a version that is no longer read */
	BM_COSTLY = 8		/* more steps than it declares, or than may be */
};

/* Which members of a create are known. */
#define	BM_KNOWN_MODE		0x01U
#define	BM_KNOWN_UID		0x02U
#define	BM_KNOWN_GID		0x04U
#define	BM_KNOWN_CLIENT		0x08U
#define	BM_KNOWN_HOUR		0x10U

/* What is known of a file at the moment it is created. */
struct bm_create {
	const void	*name;		/* the name given, or NULL if unknown */
	size_t		 name_len;
	const void	*history;	/* what came before, or NULL if unknown */
	size_t		 history_len;
	uint32_t	 known;		/* which of these are: BM_KNOWN_... */
	uint32_t	 mode;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 client;	/* bm_hash() of the host's text */
	uint32_t	 hour;		/* of the day, UTC: 0 to 23 */
};

/* Bit i % 64 of word i / 64 is the answer of predicate i. */
struct bm_answers {
	uint64_t	words[BM_WORDS_MAX];
};

/*
 * Reading.
 */

static inline uint32_t
bm_u16(const uint8_t *p)
{
	return ((uint32_t)p[0] | (uint32_t)p[1] << 8);
}

static inline uint32_t
bm_u32(const uint8_t *p)
{
	return ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24);
}

static inline uint64_t
bm_u64(const uint8_t *p)
{
	return ((uint64_t)bm_u32(p) | (uint64_t)bm_u32(p + 4) << 32);
}

/* The predicates of an image. */
static inline uint32_t
bm_predicates(const void *image)
{
	return (bm_u32((const uint8_t *)image + 20));
}

/* The key of predicate i: *len bytes, not terminated. */
static inline const char *
bm_predicate_key(const void *image, uint32_t i, size_t *len)
{
	const uint8_t *base = (const uint8_t *)image;
	const uint8_t *entry = base + bm_u32(base + 24) + 8 * (size_t)i;

	*len = bm_u16(entry + 4);
	return ((const char *)(base + bm_u32(entry)));
}

/* The steps that a lookup takes at most, as the image declares them. */
static inline uint32_t
bm_steps(const void *image)
{
	return (bm_u32((const uint8_t *)image + 32));
}

/* Whether predicate i abstains: its answer is always no. */
static inline int
bm_abstains(const void *image, uint32_t i)
{
	const uint8_t *base = (const uint8_t *)image;

	return (base[bm_u32(base + 24) + 8 * (size_t)i + 6] & 1);
}

static inline int
bm_answer(const struct bm_answers *answers, uint32_t i)
{
	return ((int)(answers->words[i / 64] >> (i % 64) & 1));
}

/*
 * Hashing: FNV-1a, then mixed once more with the kind of the text.
 */

#define	BM_HASH_BASIS	0x811c9dc5U
#define	BM_HASH_PRIME	0x01000193U

static inline uint32_t
bm_hash_step(uint32_t hash, uint8_t byte)
{
	return ((hash ^ byte) * BM_HASH_PRIME);
}

static inline uint32_t
bm_hash_seeded(uint32_t seed, const uint8_t *text, size_t len)
{
	uint32_t hash = BM_HASH_BASIS ^ seed;
	size_t i;

	for (i = 0; i < len; i++)
		hash = bm_hash_step(hash, text[i]);
	return (hash);
}

static inline uint32_t
bm_hash(const void *text, size_t len)
{
	return (bm_hash_seeded(0, (const uint8_t *)text, len));
}

static inline uint32_t
bm_hash_finish(uint32_t hash, uint32_t kind)
{
	hash = (hash ^ (kind + 1)) * 0x9e3779b1U;
	return (hash ^ hash >> 16);
}

static inline uint32_t
bm_crc32(uint32_t crc, const uint8_t *p, size_t len)
{
	static const uint32_t table[16] = {
		0x00000000U, 0x1db71064U, 0x3b6e20c8U, 0x26d930acU,
		0x76dc4190U, 0x6b6b51f4U, 0x4db26158U, 0x5005713cU,
		0xedb88320U, 0xf00f9344U, 0xd6d6a3e8U, 0xcb61b38cU,
		0x9b64c2b0U, 0x86d3d2d4U, 0xa00ae278U, 0xbdbdf21cU
	};
	size_t i;

	crc = ~crc;
	for (i = 0; i < len; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return (~crc);
}

/*
 * Dictionaries: texts of several kinds, and a value for each. All entries of a
 * bucket stand together; where those of bucket b begin is number b of buckets.
 */

struct bm_dictionary {
	const uint8_t	*buckets;
	const uint8_t	*entries;
	const uint8_t	*text;
	uint32_t	 mask;
	uint32_t	 seed;
	uint32_t	 kinds;
};

#define	BM_NOT_FOUND	0xffffffffU

static inline struct bm_dictionary
bm_dictionary_at(const uint8_t *image, const uint8_t *p)
{
	struct bm_dictionary d;

	d.seed = bm_u32(p);
	d.mask = bm_u32(p + 4) - 1;
	d.buckets = image + bm_u32(p + 8);
	d.entries = image + bm_u32(p + 16);
	d.text = image + bm_u32(p + 20);
	d.kinds = bm_u32(p + 28);
	return (d);
}

static inline int
bm_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (a[i] != b[i])
			return (0);
	return (1);
}

/* The value of a text whose bytes hash to hash (before bm_hash_finish()). */
static inline uint32_t
bm_find(const struct bm_dictionary *d, uint32_t kind, uint32_t hash,
    const uint8_t *text, size_t len)
{
	const uint8_t *bucket, *entry, *end;

	if ((d->kinds >> kind & 1) == 0)
		return (BM_NOT_FOUND);
	hash = bm_hash_finish(hash, kind);
	bucket = d->buckets + 4 * (size_t)(hash & d->mask);
	entry = d->entries + 16 * (size_t)bm_u32(bucket);
	end = d->entries + 16 * (size_t)bm_u32(bucket + 4);
	BM_STEP(1);
	for (; entry < end; entry += 16) {
		BM_STEP(1);
		if (bm_u32(entry) == hash && bm_u16(entry + 8) == len &&
		    entry[10] == kind &&
		    bm_equal(d->text + bm_u32(entry + 4), text, len))
			return (bm_u32(entry + 12));
	}
	return (BM_NOT_FOUND);
}

/*
 * Rules: components of names, each with the predicates that it says yes and no
 * to. Of the places in a name, the first in order with a yes or a no decides.
 */

enum bm_place {
	BM_WHOLE = 0,
	BM_FIRST = 1,
	BM_LAST = 2,
	BM_MIDDLE = 3,
	BM_PREFIX = 4,
	BM_ANY = 5,		/* in no place: every create has it */
	BM_PLACES = 6
};

#define	BM_PREFIX_LEN	5

/* Masks of yes and of no, by place. */
struct bm_votes {
	uint64_t	yes[BM_PLACES][BM_WORDS_MAX];
	uint64_t	no[BM_PLACES][BM_WORDS_MAX];
};

struct bm_rules {
	struct bm_dictionary	 dictionary;
	const uint8_t		*masks;
	uint32_t		 words;
};

static inline void
bm_vote(const struct bm_rules *rules, struct bm_votes *votes, uint32_t place,
    uint32_t hash, const uint8_t *text, size_t len)
{
	uint32_t w, found = bm_find(&rules->dictionary, place, hash, text, len);
	const uint8_t *mask;

	if (found == BM_NOT_FOUND)
		return;
	BM_STEP(1);
	mask = rules->masks + 16 * (size_t)rules->words * found;
	for (w = 0; w < rules->words; w++) {
		votes->yes[place][w] |= bm_u64(mask + 8 * (size_t)w);
		votes->no[place][w] |=
		    bm_u64(mask + 8 * (size_t)(rules->words + w));
	}
}

/* Hashes each component on one way through the name, and asks for it. */
static inline void
bm_vote_all(const struct bm_rules *rules, struct bm_votes *votes,
    const uint8_t *name, size_t len)
{
	uint32_t basis = BM_HASH_BASIS ^ rules->dictionary.seed;
	uint32_t whole = basis, piece = basis;
	size_t i, start = 0;
	int periods = 0;

	for (i = 0; i < len; i++) {
		if (i == BM_PREFIX_LEN && (periods || name[i] != '.'))
			bm_vote(rules, votes, BM_PREFIX, whole, name, i);
		if (name[i] == '.') {
			bm_vote(rules, votes, periods ? BM_MIDDLE : BM_FIRST,
			    piece, name + start, i - start);
			periods = 1;
			start = i + 1;
			piece = basis;
		} else
			piece = bm_hash_step(piece, name[i]);
		whole = bm_hash_step(whole, name[i]);
	}
	if (periods)
		bm_vote(rules, votes, BM_LAST, piece, name + start,
		    len - start);
	bm_vote(rules, votes, BM_WHOLE, whole, name, len);
}

static inline void
bm_lookup_rules(const uint8_t *image, const uint8_t *p,
    const struct bm_create *create, struct bm_answers *answers)
{
	struct bm_rules rules;
	struct bm_votes votes;
	uint64_t yes, no, decided;
	uint32_t i, w, place;

	rules.dictionary = bm_dictionary_at(image, p);
	rules.masks = image + bm_u32(p + 36);
	rules.words = (bm_predicates(image) + 63) / 64;
	for (w = 0; w < rules.words; w++)
		for (place = 0; place < BM_PLACES; place++)
			votes.yes[place][w] = votes.no[place][w] = 0;
	if (create->name != NULL)
		bm_vote_all(&rules, &votes, (const uint8_t *)create->name,
		    create->name_len);
	bm_vote(&rules, &votes, BM_ANY, BM_HASH_BASIS ^ rules.dictionary.seed,
	    rules.dictionary.text, 0);
	for (w = 0; w < rules.words; w++) {
		decided = 0;
		for (i = 0; i < BM_PLACES; i++) {
			place = p[40 + i];
			yes = votes.yes[place][w];
			no = votes.no[place][w];
			answers->words[w] |= yes & ~no & ~decided;
			decided |= yes | no;
		}
	}
}

/*
 * Trees that branch by the value of an attribute. A value is a code: 0 if it
 * is unknown, or its place among the values that occur, from 1.
 */

enum bm_attribute {
	BM_ATTR_FIRST = 0,
	BM_ATTR_MIDDLE = 1,
	BM_ATTR_LAST = 2,
	BM_ATTR_MODE = 3,
	BM_ATTR_UID = 4,
	BM_ATTR_GID = 5,
	BM_ATTRS = 6
};

#define	BM_LEAF		0xffU	/* the attribute of a node without edges */

/*
 * The place of key among count ascending numbers that stand stride bytes
 * apart, or BM_NOT_FOUND.
 */
static inline uint32_t
bm_search(const uint8_t *numbers, uint32_t count, size_t stride, uint32_t key)
{
	uint32_t low = 0, high = count, middle;

	BM_STEP(1);
	while (low < high) {
		BM_STEP(1);
		middle = low + (high - low) / 2;
		if (bm_u32(numbers + stride * middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < count && bm_u32(numbers + stride * low) == key)
		return (low);
	return (BM_NOT_FOUND);
}

static inline uint32_t
bm_text_code(const struct bm_dictionary *d, uint32_t kind, const uint8_t *text,
    size_t len)
{
	return (bm_find(d, kind, bm_hash_seeded(d->seed, text, len), text,
	    len));
}

/* The codes of the pieces of a name: before its first period, after its last. */
static inline void
bm_piece_codes(const struct bm_dictionary *d, const uint8_t *name, size_t len,
    uint32_t *codes)
{
	size_t first = 0, last = len;

	while (first < len && name[first] != '.')
		first++;
	codes[BM_ATTR_FIRST] = bm_text_code(d, BM_ATTR_FIRST, name, first);
	if (first == len)
		return;
	while (name[last - 1] != '.')
		last--;
	codes[BM_ATTR_LAST] = bm_text_code(d, BM_ATTR_LAST, name + last,
	    len - last);
	if (first + 1 < last)
		codes[BM_ATTR_MIDDLE] = bm_text_code(d, BM_ATTR_MIDDLE,
		    name + first + 1, last - first - 2);
}

static inline void
bm_codes(const uint8_t *image, const uint8_t *p, const struct bm_create *create,
    uint32_t *codes)
{
	struct bm_dictionary d = bm_dictionary_at(image, p);
	uint32_t i, place, numbers[3];

	for (i = 0; i < BM_ATTRS; i++)
		codes[i] = 0;
	if (create->name != NULL)
		bm_piece_codes(&d, (const uint8_t *)create->name,
		    create->name_len, codes);
	numbers[0] = create->mode;
	numbers[1] = create->uid;
	numbers[2] = create->gid;
	for (i = 0; i < 3; i++) {
		if ((create->known >> i & 1) == 0)
			continue;
		place = bm_search(image + bm_u32(p + 32 + 8 * (size_t)i),
		    bm_u32(p + 36 + 8 * (size_t)i), 4, numbers[i]);
		codes[BM_ATTR_MODE + i] =
		    place == BM_NOT_FOUND ? BM_NOT_FOUND : place + 1;
	}
}

/* Children come after their parents, so that this ends. */
static inline int
bm_walk(const uint8_t *nodes, const uint8_t *edges, uint32_t node,
    const uint32_t *codes)
{
	const uint8_t *p;
	uint32_t first, edge;

	for (;;) {
		BM_STEP(1);
		p = nodes + 8 * (size_t)node;
		if (p[0] == BM_LEAF)
			return (p[1]);
		first = bm_u32(p + 4);
		edge = bm_search(edges + 8 * (size_t)first,
		    bm_u32(p + 12) - first, 8, codes[p[0]]);
		if (edge == BM_NOT_FOUND)
			return (p[1]);
		node = bm_u32(edges + 8 * ((size_t)first + edge) + 4);
	}
}

static inline void
bm_clear(struct bm_answers *answers)
{
	uint32_t i;

	for (i = 0; i < BM_WORDS_MAX; i++)
		answers->words[i] = 0;
}

static inline void
bm_set(struct bm_answers *answers, uint32_t i, int yes)
{
	answers->words[i / 64] |= (uint64_t)(yes != 0) << (i % 64);
}

static inline void
bm_lookup_trees(const uint8_t *image, const uint8_t *p,
    const struct bm_create *create, struct bm_answers *answers)
{
	const uint8_t *nodes = image + bm_u32(p + 56);
	const uint8_t *edges = image + bm_u32(p + 64);
	const uint8_t *tree = image + bm_u32(p + 72);
	uint32_t codes[BM_ATTRS], i, count = bm_u32(p + 76);

	bm_codes(image, p, create, codes);
	for (i = 0; i < count; i++, tree += 8)
		bm_set(answers, bm_u32(tree + 4),
		    bm_walk(nodes, edges, bm_u32(tree), codes));
}

/*
 * Forests: trees over small numbers, whose leaves hold a score per predicate.
 */

enum bm_source {
	BM_SOURCE_HISTORY = 0,	/* byte number argument of the history */
	BM_SOURCE_NAME = 1,	/* number argument that tells of the name */
	BM_SOURCE_CODE = 2,	/* the code of value number argument */
	BM_SOURCE_HOUR = 3,	/* the hour; 24 if unknown */
	BM_SOURCES = 4
};

enum bm_name_number {
	BM_NAME_LENGTH = 0,
	BM_NAME_PERIODS = 1,
	BM_NAME_DIGITS = 2,
	BM_NAME_CAPITALS = 3,
	BM_NAME_SIGNS = 4,		/* no letters, digits, or periods */
	BM_NAME_DIGIT_RUN = 5,		/* the longest */
	BM_NAME_HEX_RUN = 6,
	BM_NAME_SUFFIX_LENGTH = 7,	/* from the last period on */
	BM_NAME_FIRST_BYTE = 8,
	BM_NAME_LAST_BYTE = 9,
	BM_NAME_RANDOM_WORD = 10,	/* whether there is one */
	BM_NAME_NUMBERS = 11
};

/* What has a code: numbers of the create, and hashes. */
enum bm_value {
	BM_VALUE_MODE = 0,
	BM_VALUE_UID = 1,
	BM_VALUE_GID = 2,
	BM_VALUE_CLIENT = 3,
	BM_VALUE_SHAPE = 4,
	BM_VALUE_SUFFIX = 5,	/* of the shape, from its last period on */
	BM_VALUES = 6
};

#define	BM_ABREAST	8U	/* trees that are walked at the same time */
#define	BM_RANDOM_LEN	6	/* of a word that may be random */
#define	BM_HEX_LEN	4	/* of hexadecimal digits that are a number */

/* Of a create: what features are made of. */
struct bm_seen {
	const uint8_t	*history;
	size_t		 history_len;
	uint32_t	 known;
	uint32_t	 hour;
	uint32_t	 values[BM_VALUES];
	uint8_t		 numbers[BM_NAME_NUMBERS];
};

static inline int
bm_is_digit(uint8_t byte)
{
	return (byte >= '0' && byte <= '9');
}

static inline int
bm_is_capital(uint8_t byte)
{
	return (byte >= 'A' && byte <= 'Z');
}

static inline int
bm_is_hex(uint8_t byte)
{
	return (bm_is_digit(byte) || (byte >= 'a' && byte <= 'f') ||
	    (byte >= 'A' && byte <= 'F'));
}

static inline int
bm_is_alnum(uint8_t byte)
{
	return (bm_is_digit(byte) || bm_is_capital(byte) ||
	    (byte >= 'a' && byte <= 'z'));
}

static inline uint8_t
bm_saturated(size_t number)
{
	return (number < 255 ? (uint8_t)number : (uint8_t)255);
}

/* The hexadecimal digits that a text begins with; whether one is decimal. */
static inline size_t
bm_hex_run(const uint8_t *text, size_t len, int *decimal)
{
	size_t i;

	*decimal = 0;
	for (i = 0; i < len && bm_is_hex(text[i]); i++)
		*decimal |= bm_is_digit(text[i]);
	return (i);
}

/* Whether a word changes at least twice between letters, capitals, digits. */
static inline int
bm_is_random(const uint8_t *word, size_t len)
{
	int changes = 0, decimal;
	size_t i;

	if (len != BM_RANDOM_LEN ||
	    (bm_hex_run(word, len, &decimal) == len && decimal))
		return (0);
	for (i = 1; i < len; i++)
		changes += bm_is_digit(word[i]) != bm_is_digit(word[i - 1]) ||
		    bm_is_capital(word[i]) != bm_is_capital(word[i - 1]);
	return (changes >= 2);
}

/* Hashes one more byte of a shape. */
static inline void
bm_shape_byte(struct bm_seen *seen, uint8_t byte)
{
	uint32_t *suffix = &seen->values[BM_VALUE_SUFFIX];

	seen->values[BM_VALUE_SHAPE] =
	    bm_hash_step(seen->values[BM_VALUE_SHAPE], byte);
	if (byte == '.')
		*suffix = bm_hash_step(BM_HASH_BASIS, byte);
	else if (seen->numbers[BM_NAME_PERIODS] != 0)
		*suffix = bm_hash_step(*suffix, byte);
}

/* Hashes the shape of a word: its numbers become #, a random word @. */
static inline void
bm_shape_word(struct bm_seen *seen, const uint8_t *word, size_t len)
{
	size_t i = 0, end;
	int decimal;

	if (bm_is_random(word, len)) {
		seen->numbers[BM_NAME_RANDOM_WORD] = 1;
		bm_shape_byte(seen, '@');
		return;
	}
	while (i < len) {
		end = i + bm_hex_run(word + i, len - i, &decimal);
		if (decimal && end - i >= BM_HEX_LEN) {
			bm_shape_byte(seen, '#');
			i = end;
		} else if (bm_is_digit(word[i])) {
			bm_shape_byte(seen, '#');
			while (i < len && bm_is_digit(word[i]))
				i++;
		} else {
			if (decimal || end == i)
				end = i + 1;
			for (; i < end; i++)
				bm_shape_byte(seen, word[i]);
		}
	}
}

static inline void
bm_see_shape(struct bm_seen *seen, const uint8_t *name, size_t len)
{
	size_t i = 0, end;

	seen->values[BM_VALUE_SHAPE] = BM_HASH_BASIS;
	seen->values[BM_VALUE_SUFFIX] = 0;
	while (i < len) {
		for (end = i; end < len && bm_is_alnum(name[end]); end++)
			;
		if (end == i)
			bm_shape_byte(seen, name[i++]);
		else
			bm_shape_word(seen, name + i, end - i);
		if (end > i)
			i = end;
	}
}

static inline void
bm_see_numbers(struct bm_seen *seen, const uint8_t *name, size_t len)
{
	size_t i, periods = 0, digits = 0, capitals = 0, signs = 0, suffix = 0;
	size_t run = 0, longest = 0, hex = 0, longest_hex = 0;

	for (i = 0; i < len; i++) {
		digits += (size_t)bm_is_digit(name[i]);
		capitals += (size_t)bm_is_capital(name[i]);
		run = bm_is_digit(name[i]) ? run + 1 : 0;
		hex = bm_is_hex(name[i]) ? hex + 1 : 0;
		longest = run > longest ? run : longest;
		longest_hex = hex > longest_hex ? hex : longest_hex;
		if (name[i] == '.') {
			periods++;
			suffix = len - i;
		} else
			signs += !bm_is_alnum(name[i]);
	}
	seen->numbers[BM_NAME_LENGTH] = bm_saturated(len);
	seen->numbers[BM_NAME_PERIODS] = bm_saturated(periods);
	seen->numbers[BM_NAME_DIGITS] = bm_saturated(digits);
	seen->numbers[BM_NAME_CAPITALS] = bm_saturated(capitals);
	seen->numbers[BM_NAME_SIGNS] = bm_saturated(signs);
	seen->numbers[BM_NAME_DIGIT_RUN] = bm_saturated(longest);
	seen->numbers[BM_NAME_HEX_RUN] = bm_saturated(longest_hex);
	seen->numbers[BM_NAME_SUFFIX_LENGTH] = bm_saturated(suffix);
	seen->numbers[BM_NAME_FIRST_BYTE] = len > 0 ? name[0] : 0;
	seen->numbers[BM_NAME_LAST_BYTE] = len > 0 ? name[len - 1] : 0;
	seen->numbers[BM_NAME_RANDOM_WORD] = 0;
}

static inline void
bm_see(struct bm_seen *seen, const struct bm_create *create)
{
	const uint8_t *name = (const uint8_t *)create->name;
	size_t len = name == NULL ? 0 : create->name_len;

	seen->history = (const uint8_t *)create->history;
	seen->history_len = create->history == NULL ? 0 : create->history_len;
	seen->known = create->known;
	seen->hour = create->hour;
	seen->values[BM_VALUE_MODE] = create->mode;
	seen->values[BM_VALUE_UID] = create->uid;
	seen->values[BM_VALUE_GID] = create->gid;
	seen->values[BM_VALUE_CLIENT] = create->client;
	bm_see_numbers(seen, name, len);
	bm_see_shape(seen, name, len);
}

/* A table: its values, their codes, how many, the codes of other and unknown. */
static inline uint8_t
bm_code(const uint8_t *image, const uint8_t *table, const struct bm_seen *seen,
    uint32_t which)
{
	uint32_t place;

	if (which <= BM_VALUE_CLIENT && (seen->known >> which & 1) == 0)
		return (table[13]);
	place = bm_search(image + bm_u32(table), bm_u32(table + 8), 4,
	    seen->values[which]);
	if (place == BM_NOT_FOUND)
		return (table[12]);
	return (image[bm_u32(table + 4) + (size_t)place]);
}

static inline uint8_t
bm_feature(const uint8_t *image, const uint8_t *tables, const uint8_t *p,
    const struct bm_seen *seen)
{
	uint32_t argument = bm_u16(p + 2);

	BM_STEP(1);
	switch (p[0]) {
	case BM_SOURCE_HISTORY:
		return (argument < seen->history_len ?
		    seen->history[argument] : (uint8_t)0);
	case BM_SOURCE_NAME:
		return (seen->numbers[argument]);
	case BM_SOURCE_CODE:
		return (bm_code(image, tables + 16 * (size_t)bm_u32(p + 4),
		    seen, argument));
	default:
		return ((seen->known & BM_KNOWN_HOUR) != 0 && seen->hour < 24 ?
		    (uint8_t)seen->hour : (uint8_t)24);
	}
}

/* What a leaf takes: to find its scores, and to add up eight at a time. */
static inline uint32_t
bm_leaf_steps(uint32_t outputs)
{
	return (1 + (outputs + 7) / 8);
}

/*
 * Walks count <= BM_ABREAST trees from their roots and adds up their leaves.
 * A child is a node of the tree if its number is below the number of nodes,
 * else a leaf. Children have larger numbers than their parents, so that this
 * ends.
 */
static inline void
bm_walk_abreast(const uint8_t *image, const uint8_t *trees, uint32_t count,
    const uint8_t *features, uint32_t outputs, uint16_t *sums)
{
	const uint8_t *nodes[BM_ABREAST], *leaf, *p;
	uint32_t at[BM_ABREAST], inner[BM_ABREAST], k, is_inner, next, busy;

	for (k = 0; k < count; k++) {
		nodes[k] = image + bm_u32(trees + 16 * (size_t)k);
		inner[k] = bm_u32(trees + 16 * (size_t)k + 4);
		at[k] = 0;
	}
	do {
		busy = 0;
		for (k = 0; k < count; k++) {
			is_inner = at[k] < inner[k];
			p = nodes[k] + 8 * (size_t)(is_inner ? at[k] : 0);
			next = features[bm_u16(p)] <= p[2] ?
			    bm_u16(p + 4) : bm_u16(p + 6);
			at[k] = is_inner ? next : at[k];
			busy |= is_inner;
		}
		BM_STEP(busy);
	} while (busy);
	for (k = 0; k < count; k++) {
		leaf = image + bm_u32(trees + 16 * (size_t)k + 8) +
		    (size_t)outputs * (at[k] - inner[k]);
		BM_STEP(bm_leaf_steps(outputs));
		for (next = 0; next < outputs; next++)
			sums[next] = (uint16_t)(sums[next] + leaf[next]);
	}
}

/* A group: its trees, and the predicates whose scores are in their leaves. */
static inline void
bm_lookup_group(const uint8_t *image, const uint8_t *p, const uint8_t *features,
    struct bm_answers *answers)
{
	const uint8_t *trees = image + bm_u32(p + 4);
	const uint8_t *output = image + bm_u32(p + 12);
	uint32_t i, count = bm_u32(p), outputs = bm_u32(p + 8);
	uint16_t sums[BM_PREDICATES_MAX];

	for (i = 0; i < outputs; i++)
		sums[i] = 0;
	for (i = 0; i < count; i += BM_ABREAST)
		bm_walk_abreast(image, trees + 16 * (size_t)i,
		    count - i < BM_ABREAST ? count - i : BM_ABREAST, features,
		    outputs, sums);
	BM_STEP(outputs);
	for (i = 0; i < outputs; i++, output += 8)
		bm_set(answers, bm_u32(output), sums[i] >= bm_u32(output + 4));
}

static inline void
bm_lookup_forest(const uint8_t *image, const uint8_t *p,
    const struct bm_create *create, struct bm_answers *answers)
{
	const uint8_t *feature = image + bm_u32(p + 4);
	const uint8_t *tables = image + bm_u32(p + 12);
	const uint8_t *group = image + bm_u32(p + 20);
	uint8_t features[BM_FEATURES_MAX];
	struct bm_seen seen;
	uint32_t i, count = bm_u32(p);

	bm_see(&seen, create);
	for (i = 0; i < count; i++, feature += 8)
		features[i] = bm_feature(image, tables, feature, &seen);
	count = bm_u32(p + 16);
	for (i = 0; i < count; i++, group += 16)
		bm_lookup_group(image, group, features, answers);
}

/*
 * The whole image.
 */

enum bm_section {
	BM_SECTION_RULES = 1,
	BM_SECTION_TREES = 2,
	BM_SECTION_FOREST = 3
};

/* The answers of all predicates of a checked image. */
static inline void
bm_lookup(const void *image, const struct bm_create *create,
    struct bm_answers *answers)
{
	const uint8_t *base = (const uint8_t *)image, *section, *p;
	uint32_t i, sections = bm_u32(base + 28);

	bm_clear(answers);
	for (i = 0; i < sections; i++) {
		section = base + 40 + 8 * (size_t)i;
		p = base + bm_u32(section + 4);
		switch (bm_u32(section)) {
		case BM_SECTION_RULES:
			bm_lookup_rules(base, p, create, answers);
			break;
		case BM_SECTION_TREES:
			bm_lookup_trees(base, p, create, answers);
			break;
		default:
			bm_lookup_forest(base, p, create, answers);
		}
	}
}

/*
 * Checking.
 */

struct bm_image {
	const uint8_t	*base;
	uint32_t	 size;
	uint32_t	 left;		/* bytes that nothing was found in yet */
	uint32_t	 predicates;
	uint64_t	 steps;		/* of a lookup in what was found, at most */
};

/* The texts that rules find, at most: pieces between periods alone, prefix, */
#define	BM_COMPONENTS_MAX	(BM_STEPS_NAME + 4U)	/* whole and any */

/* What it takes to find a number among count that ascend, at most. */
static inline uint32_t
bm_search_steps(uint32_t count)
{
	uint32_t steps = 1;

	for (; count > 0; count >>= 1)
		steps++;
	return (steps);
}

/* Takes a predicate for one answer of a section: each may have one alone. */
static inline int
bm_take(const struct bm_image *image, struct bm_answers *taken, uint32_t i)
{
	if (i >= image->predicates || bm_answer(taken, i))
		return (0);
	bm_set(taken, i, 1);
	return (1);
}

/*
 * Whether count elements, each of width bytes, stand at offset, aligned. Arrays
 * do not overlap, so all together they are no longer than the image: this also
 * keeps the time that a check takes in proportion to the image's size.
 */
static inline int
bm_inside(struct bm_image *image, uint32_t offset, uint32_t count,
    uint32_t width, uint32_t align)
{
	if (offset % align != 0 || offset > image->size ||
	    count > (image->size - offset) / width ||
	    count > image->left / width)
		return (0);
	image->left -= count * width;
	return (1);
}

/* Whether count numbers ascend. */
static inline int
bm_ascend(const uint8_t *numbers, uint32_t count)
{
	uint32_t i;

	for (i = 1; i < count; i++, numbers += 4)
		if (bm_u32(numbers) >= bm_u32(numbers + 4))
			return (0);
	return (1);
}

static inline int
bm_check_predicates(struct bm_image *image)
{
	uint32_t i, offset = bm_u32(image->base + 24);
	const uint8_t *p;

	if (image->predicates < 1 || image->predicates > BM_PREDICATES_MAX ||
	    !bm_inside(image, offset, image->predicates, 8, 4))
		return (0);
	for (i = 0; i < image->predicates; i++) {
		p = image->base + offset + 8 * (size_t)i;
		if (!bm_inside(image, bm_u32(p), bm_u16(p + 4), 1, 1) ||
		    p[6] > 1 || p[7] != 0)
			return (0);
	}
	return (1);
}

/* Entries: of a kind that is there, with a text and a value below values. */
static inline int
bm_check_entries(const struct bm_image *image, const uint8_t *p, uint32_t values)
{
	const uint8_t *entry = image->base + bm_u32(p + 16);
	uint32_t i, count = bm_u32(p + 12), size = bm_u32(p + 24);

	for (i = 0; i < count; i++, entry += 16)
		if (bm_u32(entry + 4) > size ||
		    bm_u16(entry + 8) > size - bm_u32(entry + 4) ||
		    entry[10] >= 32 || entry[11] != 0 ||
		    (bm_u32(p + 28) >> entry[10] & 1) == 0 ||
		    bm_u32(entry + 12) >= values)
			return (0);
	return (1);
}

/* A dictionary in which texts are found for finds times. */
static inline int
bm_check_dictionary(struct bm_image *image, const uint8_t *p,
    uint32_t values, uint32_t finds)
{
	uint32_t i, begin, end = 0, most = 0;
	uint32_t buckets = bm_u32(p + 4), count = bm_u32(p + 12);
	const uint8_t *bucket;

	if (buckets == 0 || buckets > 0x40000000U ||
	    (buckets & (buckets - 1)) != 0 ||
	    !bm_inside(image, bm_u32(p + 8), buckets + 1, 4, 4) ||
	    !bm_inside(image, bm_u32(p + 16), count, 16, 4) ||
	    !bm_inside(image, bm_u32(p + 20), bm_u32(p + 24), 1, 1))
		return (0);
	bucket = image->base + bm_u32(p + 8);
	if (bm_u32(bucket) != 0 || bm_u32(bucket + 4 * (size_t)buckets) != count)
		return (0);
	for (i = 0; i < buckets; i++) {
		begin = end;
		end = bm_u32(bucket + 4 * (size_t)i + 4);
		if (end < begin || end > count || end - begin > BM_BUCKET_MAX)
			return (0);
		most = end - begin > most ? end - begin : most;
	}
	image->steps += (uint64_t)finds * (1 + most);
	return (bm_check_entries(image, p, values));
}

/* Whether no mask has a bit beyond the predicates. */
static inline int
bm_check_masks(const struct bm_image *image, const uint8_t *p)
{
	uint32_t i, count = bm_u32(p + 32), used = image->predicates % 64;
	size_t words = (image->predicates + 63) / 64;
	const uint8_t *last;

	if (used == 0 || count == 0)
		return (1);
	last = image->base + bm_u32(p + 36) + 8 * (words - 1);
	for (i = 0; i < 2 * count; i++)
		if (bm_u64(last + 8 * words * i) >> used != 0)
			return (0);
	return (1);
}

static inline int
bm_check_rules(struct bm_image *image, const uint8_t *p)
{
	uint32_t i, seen = 0, masks = bm_u32(p + 32);
	uint32_t words = (image->predicates + 63) / 64;

	for (i = 0; i < BM_PLACES; i++)
		if (p[40 + i] < BM_PLACES)
			seen |= 1U << p[40 + i];
	image->steps += BM_COMPONENTS_MAX;	/* a mask for each */
	return (seen == (1U << BM_PLACES) - 1 && p[46] == 0 && p[47] == 0 &&
	    bm_inside(image, bm_u32(p + 36), masks, 16 * words, 8) &&
	    bm_check_masks(image, p) &&
	    bm_check_dictionary(image, p, masks, BM_COMPONENTS_MAX));
}

/*
 * Edges of a node: ascending codes, and children that come after it. From the
 * node on there are as many steps as it declares at most.
 */
static inline int
bm_check_edges(const struct bm_image *image, const uint8_t *p, uint32_t node)
{
	const uint8_t *nodes = image->base + bm_u32(p + 56);
	const uint8_t *edge = image->base + bm_u32(p + 64), *own, *child;
	uint32_t i, begin, end, steps, most = 0;

	own = nodes + 8 * (size_t)node;
	begin = bm_u32(own + 4);
	end = bm_u32(own + 12);
	if (begin > end || end > bm_u32(p + 68))
		return (0);
	edge += 8 * (size_t)begin;
	for (i = begin; i < end; i++, edge += 8) {
		if (bm_u32(edge) == BM_NOT_FOUND ||
		    (i > begin && bm_u32(edge) <= bm_u32(edge - 8)) ||
		    bm_u32(edge + 4) <= node ||
		    bm_u32(edge + 4) >= bm_u32(p + 60))
			return (0);
		child = nodes + 8 * (size_t)bm_u32(edge + 4);
		steps = bm_u16(child + 2);
		most = steps > most ? steps : most;
	}
	return (bm_u16(own + 2) >= 1 + bm_search_steps(end - begin) + most);
}

static inline int
bm_check_nodes(const struct bm_image *image, const uint8_t *p)
{
	const uint8_t *node = image->base + bm_u32(p + 56);
	uint32_t i, count = bm_u32(p + 60);

	for (i = 0; i < count; i++, node += 8)
		if ((node[0] >= BM_ATTRS && node[0] != BM_LEAF) ||
		    node[1] > 1 || !bm_check_edges(image, p, i))
			return (0);
	return (1);
}

/* The roots, which are nodes, and the predicates of trees. */
static inline int
bm_check_roots(struct bm_image *image, const uint8_t *p)
{
	struct bm_answers taken;
	const uint8_t *nodes = image->base + bm_u32(p + 56);
	const uint8_t *tree = image->base + bm_u32(p + 72);
	uint32_t i, trees = bm_u32(p + 76);

	bm_clear(&taken);
	for (i = 0; i < trees; i++, tree += 8) {
		if (bm_u32(tree) >= bm_u32(p + 60) ||
		    !bm_take(image, &taken, bm_u32(tree + 4)))
			return (0);
		image->steps += bm_u16(nodes + 8 * (size_t)bm_u32(tree) + 2);
	}
	return (1);
}

static inline int
bm_check_trees(struct bm_image *image, const uint8_t *p)
{
	uint32_t i, offset, count, nodes = bm_u32(p + 60);

	for (i = 0; i < 3; i++) {
		offset = bm_u32(p + 32 + 8 * (size_t)i);
		count = bm_u32(p + 36 + 8 * (size_t)i);
		if (!bm_inside(image, offset, count, 4, 4) ||
		    !bm_ascend(image->base + offset, count))
			return (0);
		image->steps += bm_search_steps(count);
	}
	return (nodes <= 0x10000000U &&
	    bm_inside(image, bm_u32(p + 56), nodes + 1, 8, 4) &&
	    bm_inside(image, bm_u32(p + 64), bm_u32(p + 68), 8, 4) &&
	    bm_inside(image, bm_u32(p + 72), bm_u32(p + 76), 8, 4) &&
	    bm_check_dictionary(image, p, BM_NOT_FOUND, 3) &&
	    bm_check_nodes(image, p) && bm_check_roots(image, p));
}

static inline int
bm_check_tables(struct bm_image *image, const uint8_t *p)
{
	uint32_t i, tables = bm_u32(p + 8);
	const uint8_t *table;

	if (!bm_inside(image, bm_u32(p + 12), tables, 16, 4))
		return (0);
	table = image->base + bm_u32(p + 12);
	for (i = 0; i < tables; i++, table += 16)
		if (!bm_inside(image, bm_u32(table), bm_u32(table + 8), 4, 4) ||
		    !bm_inside(image, bm_u32(table + 4), bm_u32(table + 8), 1,
		    1) || table[14] != 0 || table[15] != 0 ||
		    !bm_ascend(image->base + bm_u32(table),
		    bm_u32(table + 8)))
			return (0);
	return (1);
}

static inline int
bm_check_features(struct bm_image *image, const uint8_t *p)
{
	uint32_t i, argument, count = bm_u32(p);
	const uint8_t *feature;

	if (count < 1 || count > BM_FEATURES_MAX ||
	    !bm_inside(image, bm_u32(p + 4), count, 8, 4))
		return (0);
	feature = image->base + bm_u32(p + 4);
	for (i = 0; i < count; i++, feature += 8) {
		argument = bm_u16(feature + 2);
		if (feature[0] >= BM_SOURCES || feature[1] != 0 ||
		    (feature[0] == BM_SOURCE_NAME &&
		    argument >= BM_NAME_NUMBERS) ||
		    (feature[0] == BM_SOURCE_CODE &&
		    (argument >= BM_VALUES ||
		    bm_u32(feature + 4) >= bm_u32(p + 8))))
			return (0);
		image->steps++;
		if (feature[0] == BM_SOURCE_CODE)
			image->steps += bm_search_steps(bm_u32(image->base +
			    bm_u32(p + 12) + 16 * (size_t)bm_u32(feature + 4) +
			    8));
	}
	return (1);
}

/*
 * A child comes after its node, and has a smaller height: that of a leaf is 0,
 * that of a node the nodes from it to a leaf, at most.
 */
static inline int
bm_check_child(const uint8_t *tree, const uint8_t *nodes, uint32_t node,
    uint32_t child)
{
	uint32_t inner = bm_u32(tree + 4), leaves = bm_u32(tree + 12);
	uint32_t height = child < inner ? nodes[8 * (size_t)child + 3] : 0;

	return (child > node && child < inner + leaves &&
	    height < nodes[8 * (size_t)node + 3]);
}

static inline int
bm_check_tree(struct bm_image *image, const uint8_t *tree,
    uint32_t features, uint32_t outputs)
{
	uint32_t i, inner = bm_u32(tree + 4), leaves = bm_u32(tree + 12);
	const uint8_t *nodes, *node;

	if (inner < 1 || inner > 0x8000U || leaves > 0x8000U ||
	    !bm_inside(image, bm_u32(tree), inner, 8, 4) ||
	    !bm_inside(image, bm_u32(tree + 8), leaves, outputs, 1))
		return (0);
	node = nodes = image->base + bm_u32(tree);
	for (i = 0; i < inner; i++, node += 8)
		if (bm_u16(node) >= features ||
		    !bm_check_child(tree, nodes, i, bm_u16(node + 4)) ||
		    !bm_check_child(tree, nodes, i, bm_u16(node + 6)))
			return (0);
	return (1);
}

/* What it takes to walk trees of a group: of those abreast, the highest. */
static inline uint32_t
bm_walk_steps(const struct bm_image *image, const uint8_t *tree, uint32_t trees)
{
	uint32_t i, height, most = 0, steps = 0;

	for (i = 0; i < trees; i++, tree += 16) {
		if (i % BM_ABREAST == 0) {
			steps += most;
			most = 0;
		}
		height = image->base[bm_u32(tree) + (size_t)3];
		most = height > most ? height : most;
	}
	return (steps + most);
}

static inline int
bm_check_group(struct bm_image *image, const uint8_t *group, uint32_t features,
    struct bm_answers *taken)
{
	uint32_t i, trees = bm_u32(group), outputs = bm_u32(group + 8);
	const uint8_t *tree, *output;

	if (trees > BM_TREES_MAX || outputs < 1 ||
	    outputs > BM_PREDICATES_MAX ||
	    !bm_inside(image, bm_u32(group + 4), trees, 16, 4) ||
	    !bm_inside(image, bm_u32(group + 12), outputs, 8, 4))
		return (0);
	tree = image->base + bm_u32(group + 4);
	output = image->base + bm_u32(group + 12);
	image->steps += outputs;
	for (i = 0; i < outputs; i++, output += 8)
		if (!bm_take(image, taken, bm_u32(output)))
			return (0);
	for (i = 0; i < trees; i++, tree += 16)
		if (!bm_check_tree(image, tree, features, outputs))
			return (0);
	image->steps += bm_walk_steps(image, image->base + bm_u32(group + 4),
	    trees) + trees * bm_leaf_steps(outputs);
	return (1);
}

static inline int
bm_check_forest(struct bm_image *image, const uint8_t *p)
{
	struct bm_answers taken;
	uint32_t i, groups = bm_u32(p + 16);
	const uint8_t *group;

	if (groups > BM_PREDICATES_MAX ||
	    !bm_inside(image, bm_u32(p + 20), groups, 16, 4) ||
	    !bm_check_tables(image, p) || !bm_check_features(image, p))
		return (0);
	bm_clear(&taken);
	group = image->base + bm_u32(p + 20);
	for (i = 0; i < groups; i++, group += 16)
		if (!bm_check_group(image, group, bm_u32(p), &taken))
			return (0);
	return (1);
}

static inline int
bm_check_section(struct bm_image *image, const uint8_t *section)
{
	static const uint32_t sizes[] = { 0, 48, 80, 24 };
	uint32_t kind = bm_u32(section), offset = bm_u32(section + 4);

	if (kind < BM_SECTION_RULES || kind > BM_SECTION_FOREST ||
	    !bm_inside(image, offset, 1, sizes[kind], 8))
		return (0);
	switch (kind) {
	case BM_SECTION_RULES:
		return (bm_check_rules(image, image->base + offset));
	case BM_SECTION_TREES:
		return (bm_check_trees(image, image->base + offset));
	default:
		return (bm_check_forest(image, image->base + offset));
	}
}

static inline int
bm_check_content(struct bm_image *image)
{
	uint32_t i, sections = bm_u32(image->base + 28);

	if (sections > BM_SECTIONS_MAX || bm_u32(image->base + 36) != 0 ||
	    !bm_inside(image, 40, sections, 8, 8) ||
	    !bm_check_predicates(image))
		return (0);
	for (i = 0; i < sections; i++)
		if (!bm_check_section(image, image->base + 40 + 8 * (size_t)i))
			return (0);
	return (1);
}

/* Whether size bytes are an image that bm_lookup() may be given. */
static inline enum bm_status
bm_image_check(const void *bytes, size_t size)
{
	static const uint8_t magic[8] = {
		'B', 'M', 'I', 'M', 'A', 'G', 'E', '\n'
	};
	const uint8_t *base = (const uint8_t *)bytes;
	struct bm_image image;
	uint32_t crc;

	if (size < 40)
		return (BM_TRUNCATED);
	if (!bm_equal(base, magic, sizeof(magic)) || bm_u32(base + 8) == 0)
		return (BM_NO_IMAGE);
	if (bm_u32(base + 8) > BM_VERSION)
		return (BM_NEWER);
	if (bm_u32(base + 8) < BM_VERSION)
		return (BM_OLDER);
	image.base = base;
	image.size = bm_u32(base + 12);
	image.predicates = bm_u32(base + 20);
	if (size != image.size)
		return (size < image.size ? BM_TRUNCATED : BM_TRAILING);
	image.left = image.size - 40;
	image.steps = 0;
	crc = bm_crc32(0, base, 16);
	if (bm_crc32(crc, base + 20, size - 20) != bm_u32(base + 16))
		return (BM_CHECKSUM);
	if (!bm_check_content(&image))
		return (BM_MALFORMED);
	return (image.steps <= bm_steps(base) && bm_steps(base) <= BM_STEPS_MAX ?
	    BM_OK : BM_COSTLY);
}

static inline const char *
bm_status_text(enum bm_status status)
{
	switch (status) {
	case BM_OK:
		return ("a sound image");
	case BM_TRUNCATED:
		return ("truncated: bytes of the image are missing");
	case BM_NO_IMAGE:
		return ("not a compiled image");
	case BM_NEWER:
		return ("an image of a newer version than this reader knows");
	case BM_TRAILING:
		return ("more bytes than the image has");
	case BM_CHECKSUM:
		return ("damaged: the checksum does not match");
	case BM_MALFORMED:
		return ("malformed: not as the format says");
	case BM_OLDER:
		return ("an image of an older version than this reader knows");
	case BM_COSTLY:
		return ("a lookup would take more steps than the image declares, "
		    "or than are allowed");
	default:
		return ("not a status");
	}
}

#endif /* BIRTHMARK_H */
