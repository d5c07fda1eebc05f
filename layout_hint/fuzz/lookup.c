/*
 * Any content behind a corrected header, and a create: the lookup stays inside
 * of an accepted image, ends after no more steps than the image declares, and
 * never answers yes for a predicate that does not exist, or that abstains.
 *
 * The image is as long as its header says; the create follows.
 */
#include <stdint.h>
#include <stdlib.h>

static uint64_t	walked;
#define	BM_STEP(n)	(walked += (n))

#include "right.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define	FIXED	19	/* bytes of a create before its history and name */

/* Memory of just the size, so that a step too far is seen. */
static uint8_t *
copy(const uint8_t *bytes, size_t size)
{
	uint8_t *own = (uint8_t *)malloc(size > 0 ? size : 1);

	if (own == NULL)
		abort();
	if (size > 0)
		memcpy(own, bytes, size);
	return (own);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most,
    unsigned int seed)
{
	if (seed % 4 == 0) {
		share(bytes, size, seed);
		return (size);
	}
	return (LLVMFuzzerMutate(bytes, size, most));
}

static void
ask(const uint8_t *image, const uint8_t *p, size_t size)
{
	struct bm_answers answers;
	struct bm_create create;
	uint8_t *name, *history;
	uint32_t i;

	if (size < FIXED)
		return;
	create.known = p[0];
	create.hour = p[1];
	create.mode = bm_u32(p + 2);
	create.uid = bm_u32(p + 6);
	create.gid = bm_u32(p + 10);
	create.client = bm_u32(p + 14);
	create.history_len = p[18] < size - FIXED ? p[18] : size - FIXED;
	create.name_len = size - FIXED - create.history_len;
	history = copy(p + FIXED, create.history_len);
	name = copy(p + FIXED + create.history_len, create.name_len);
	create.history = (p[0] & 0x40) != 0 ? NULL : history;
	create.name = (p[0] & 0x80) != 0 ? NULL : name;
	walked = 0;
	bm_lookup(image, &create, &answers);
	if (create.name_len <= BM_STEPS_NAME && walked > bm_steps(image))
		abort();
	for (i = 0; i < 64 * BM_WORDS_MAX; i++)
		if (bm_answer(&answers, i) &&
		    (i >= bm_predicates(image) || bm_abstains(image, i)))
			abort();
	free(history);
	free(name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint32_t length;
	size_t len;
	uint8_t *image;
	uint32_t i;

	if (size < BM_HEADER_SIZE)
		return (0);
	length = bm_u32(bytes + 12);
	if (length < BM_HEADER_SIZE || length > size)
		length = (uint32_t)size;
	image = copy(bytes, length);
	make_image_right(image, length);
	if (bm_image_check(image, length) == BM_OK) {
		for (i = 0; i < bm_predicates(image); i++)
			(void)bm_predicate_key(image, i, &len);
		ask(image, bytes + length, size - length);
	}
	free(image);
	return (0);
}
