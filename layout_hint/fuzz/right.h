/*
 * Shared by the targets that read images: corrected headers, and mutations of
 * images.
 */
#ifndef RIGHT_H
#define	RIGHT_H

#include <string.h>

#include "birthmark.h"

size_t	LLVMFuzzerMutate(uint8_t *, size_t, size_t);
size_t	LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t, unsigned int);

static inline void
put_u32(uint8_t *p, uint32_t number)
{
	p[0] = (uint8_t)number;
	p[1] = (uint8_t)(number >> 8);
	p[2] = (uint8_t)(number >> 16);
	p[3] = (uint8_t)(number >> 24);
}

/* Gives size bytes, at least a header, the magic, version, size and checksum. */
static inline void
make_image_right(uint8_t *image, uint32_t size)
{
	memcpy(image, "BMIMAGE\n", 8);
	put_u32(image + 8, BM_VERSION);
	put_u32(image + 12, size);
	put_u32(image + 16,
	    bm_crc32(bm_crc32(0, image, 16), image + 20, size - 20));
}

/* A place for some words among the size bytes, by a number at random. */
static inline size_t
place_at(uint32_t random, size_t size, size_t bytes)
{
	return (4 * (size_t)(random % ((size - bytes) / 4 + 1)));
}

/*
 * Copies one, two or four words over others: nodes and whole trees become
 * shared, predicates repeated, chains long.
 */
static inline void
share(uint8_t *bytes, size_t size, unsigned int seed)
{
	uint32_t from = (uint32_t)seed * 0x9e3779b1U, to = from * BM_HASH_PRIME;
	size_t width = (size_t)4 << (from >> 30) % 3;

	if (size >= width)
		memmove(bytes + place_at(to >> 8, size, width),
		    bytes + place_at(from >> 8, size, width), width);
}

#endif /* RIGHT_H */
