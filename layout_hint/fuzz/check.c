/*
 * Any bytes as an image: bm_image_check() stays inside of them and ends, and a
 * lookup in an accepted image takes no more steps than it declares.
 */
#include <stdint.h>
#include <stdlib.h>

static uint64_t	walked;
#define	BM_STEP(n)	(walked += (n))

#include "right.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Most of what is made of an image has a right header, too. */
size_t
LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most,
    unsigned int seed)
{
	if (seed % 4 == 0)
		share(bytes, size, seed);
	else
		size = LLVMFuzzerMutate(bytes, size, most);
	if (size >= BM_HEADER_SIZE && seed % 8 != 1)
		make_image_right(bytes, (uint32_t)size);
	return (size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct bm_create nothing;
	struct bm_answers answers;

	if (bm_image_check(bytes, size) != BM_OK)
		return (0);
	walked = 0;
	bm_lookup(bytes, &nothing, &answers);
	if (walked > bm_steps(bytes))
		abort();
	return (0);
}
