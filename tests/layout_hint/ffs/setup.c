/*
 * A default file system as an administrator sets it up, on the kernel of
 * kernel.c: setup VERSION START LENGTH INODES MODE. Hot and other files are made
 * in turn in a few directories, each of one to twelve blocks, until the region
 * has no room for a block, and then some more. Prints what became of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

#define	BLOCKS	12		/* of a file: those without indirect ones */
#define	MORE	200		/* files after the region was full */

static uint32_t kernel_state = 12345, state = 1;
static unsigned char inodes[GROUPS * IPG], fragments[GROUPS * FPG];

void
die(const char *why)
{
	fprintf(stderr, "%s\n", why);
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
draw(void)
{
	kernel_state = (1103515245 * kernel_state + 12345) & 0x7fffffff;
	return (kernel_state >> 8);
}

static unsigned
under(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return (state % n);
}

static long
made(long parent, int directory, int hot)
{
	long ino = create(parent, directory, hot);

	if (ino < 0 || inodes[ino]++)
		die("no inode, or one that was given");
	return (ino);
}

/* How many of a new file's blocks, or fragments of the last, are in the region. */
static int
filled(long ino, int blocks)
{
	int i, lbn, placed = 0, size;
	long at;

	for (lbn = 0; lbn < blocks; lbn++) {
		size = (lbn < blocks - 1 ? 8 : 1 + (int)under(8)) * FRAGMENT;
		at = extend(ino, lbn, size);
		if (at < 0)
			die("no space");
		for (i = 0; i < size / FRAGMENT; i++)
			if (fragments[at + i]++)
				die("a fragment is given twice");
		placed += in_region(-1, at);
	}
	return (placed);
}

int
main(int argc, char **argv)
{
	long parents[8], ino;
	long hot = 0, hot_blocks = 0, cold_inodes = 0, cold_blocks = 0;
	int blocks, i, more = 0, placed;

	if (argc != 6)
		return (2);
	make(atoi(argv[1]));
	for (i = 0; i <= ROOT; i++)
		inodes[i] = 1;
	if (hook(1) != 0 || set_region(strtoul(argv[2], NULL, 10),
	    strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10),
	    atoi(argv[5])) != 0)
		die("no region");
	for (i = 0; i < 8; i++)
		(void)filled(parents[i] = made(ROOT, 1, 0), 1);
	while (more < MORE) {
		ino = made(parents[under(8)], 0, 1);
		blocks = 1 + (int)under(BLOCKS);
		placed = filled(ino, blocks);
		if (outcomes[4] == 0) {	/* nothing was refused for want of room */
			hot++;
			hot_blocks += blocks - placed;
		} else
			more++;
		ino = made(parents[under(8)], 0, 0);
		cold_inodes += in_region(ino, 0);
		cold_blocks += filled(ino, 1 + (int)under(BLOCKS));
	}
	check(fragments, inodes);
	printf("%ld %ld %ld %ld %ld %ld %ld %ld\n", hot, hot_blocks,
	    cold_inodes, cold_blocks, outcomes[0], outcomes[1], outcomes[3],
	    outcomes[4]);
	return (0);
}
