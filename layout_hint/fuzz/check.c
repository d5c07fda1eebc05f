/*
 * Any bytes as an image: bm_image_check() stays inside of them and ends, and
 * an image that it accepts can be asked.
 */
#include <stdlib.h>

#include "birthmark.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct bm_create nothing;
	struct bm_answers answers;

	if (bm_image_check(bytes, size) == BM_OK)
		bm_lookup(bytes, &nothing, &answers);
	return (0);
}
