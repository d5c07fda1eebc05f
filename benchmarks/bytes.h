/*
 * For programs that are given bytes: all that they want, in memory of just that
 * size, so that a sanitizer sees a step too far; else they end with 2.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint8_t *
read_bytes(FILE *in, size_t size)
{
	uint8_t *bytes = (uint8_t *)malloc(size > 0 ? size : 1);

	if (bytes == NULL || fread(bytes, 1, size, in) != size)
		exit(2);
	return (bytes);
}

static inline uint8_t *
read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes;
	long end;

	if (in == NULL || fseek(in, 0, SEEK_END) != 0 || (end = ftell(in)) < 0)
		exit(2);
	rewind(in);
	*size = (size_t)end;
	bytes = read_bytes(in, *size);
	(void)fclose(in);
	return (bytes);
}
