/*
 * What the programs that drive FFS's functions have in common.
 */

#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

long step;
unsigned state = 1;

void
die(const char *why)
{
	fprintf(stderr, "step %ld: %s\n", step, why);
	exit(1);
}

void *
zeroed(unsigned long size)
{
	void *memory = calloc(1, size);

	if (memory == NULL)
		die("no memory");
	return (memory);
}

unsigned
next(unsigned drawn)
{
	return ((1103515245 * drawn + 12345) & 0x7fffffff);
}

unsigned
under(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return (state % n);
}
