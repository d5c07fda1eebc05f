/*
 * Random operations on the file system of kernel.c, in turn filling and emptying
 * it: driver SEED VERSION LENGTH RESERVED STEPS. A region of that length is at
 * the beginning, or none if it is 0; from time to time it is taken out of effect
 * and put back. Prints the answers; what they came to goes to standard error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define	INODES		(GROUPS * IPG)
#define	FRAGMENTS	(GROUPS * FPG)
#define	BLOCKS		12	/* of a file: those without indirect ones */
#define	NO_SPACE	(-28)

struct file {
	int	directory;
	int	blocks;
	long	at[BLOCKS];
	int	size[BLOCKS];
};

static struct file files[INODES];
static unsigned char inodes[INODES], fragments[FRAGMENTS];
static uint32_t kernel_state, state;
static long step, full, placed[2], others;

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

static uint32_t
xorshift(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return (*x);
}

unsigned
draw(void)
{
	return (xorshift(&kernel_state));
}

static unsigned
under(unsigned n)
{
	return (xorshift(&state) % n);
}

static void
refused(long answer)
{
	if (answer != NO_SPACE)
		die("an error that FFS does not have");
	full++;
}

static void
make_file(void)
{
	long parent = under(INODES), ino;
	int directory = under(8) == 0, hot = under(3) == 0;

	while (!inodes[parent] || !files[parent].directory || parent < ROOT)
		parent = (parent + 1) % INODES;
	ino = create(parent, directory, hot);
	fprintf(stdout, "c %ld %d = %ld\n", parent, directory, ino);
	if (ino < 0) {
		refused(ino);
		if (memchr(inodes, 0, INODES) != NULL)
			die("no inode, though one is free");
		return;
	}
	if (inodes[ino])
		die("an inode is given twice");
	inodes[ino] = 1;
	memset(&files[ino], 0, sizeof(files[ino]));
	files[ino].directory = directory;
	placed[0] += in_region(ino, 0);
	others += in_region(ino, 0) && !hot;
}

/*
 * A file, from a random one on: 0 no directory, 1 one with room for a block, 2
 * one whose last block is not whole. -1 if there is none.
 */
static long
some(int kind)
{
	long n, ino = under(INODES);
	const struct file *file;
	int whole;

	for (n = 0; n < INODES; n++, ino = (ino + 1) % INODES) {
		file = &files[ino];
		if (!inodes[ino] || ino <= ROOT)
			continue;
		whole = file->blocks == 0 ||
		    file->size[file->blocks - 1] == BLOCK;
		if (kind == 0 ? !file->directory : kind == 2 ? !whole :
		    whole && file->blocks < BLOCKS)
			return (ino);
	}
	return (-1);
}

static void
check_full(int size)
{
	long at;

	for (at = 0; size == FRAGMENT && at < FRAGMENTS; at++)
		if (!fragments[at] && !is_metadata(at / FPG, at % FPG))
			die("no space, though a fragment is free");
}

static void
grow(void)
{
	long i, at, ino = some(1);
	int size = (under(2) ? 8 : 1 + under(7)) * FRAGMENT;
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	at = extend(ino, file->blocks, size);
	fprintf(stdout, "w %ld %d = %ld\n", ino, size, at);
	if (at < 0) {
		refused(at);
		check_full(size);
		return;
	}
	for (i = 0; i < size / FRAGMENT; i++)
		if (fragments[at + i]++)
			die("a fragment is given twice");
	file->at[file->blocks] = at;
	file->size[file->blocks++] = size;
	placed[1] += in_region(-1, at);
}

/* Makes the last fragments of a file more; it may be that they move. */
static void
grow_last(void)
{
	long at, ino = some(2);
	int last, old, size;
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	last = file->blocks - 1;
	old = file->size[last];
	size = old + (1 + (int)under((unsigned)(BLOCK - old) / FRAGMENT)) *
	    FRAGMENT;
	at = regrow(ino, last, file->at[last], old, size);
	fprintf(stdout, "g %ld %d = %ld\n", ino, size, at);
	if (at < 0) {
		refused(at);
		return;
	}
	placed[1] += at != file->at[last] && in_region(-1, at);
	memset(fragments + file->at[last], 0, (size_t)old / FRAGMENT);
	for (old = 0; old < size / FRAGMENT; old++)
		if (fragments[at + old]++)
			die("a fragment is given twice");
	file->at[last] = at;
	file->size[last] = size;
}

static void
remove_file(void)
{
	long ino = some(0);
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	while (file->blocks-- > 0) {
		shrink(ino, file->at[file->blocks], file->size[file->blocks]);
		memset(fragments + file->at[file->blocks], 0,
		    (size_t)file->size[file->blocks] / FRAGMENT);
	}
	drop(ino, 0);
	inodes[ino] = 0;
	fprintf(stdout, "u %ld\n", ino);
}

static void
work(void)
{
	unsigned what = under(100);

	if (what < 35)
		make_file();
	else if (what < 60)
		grow();
	else if (what < 70)
		grow_last();
	else if (step / 4000 % 2 == 1 || under(3) == 0)
		remove_file();
}

int
main(int argc, char **argv)
{
	unsigned long length;
	long steps;
	int reserved;

	if (argc != 6)
		return (2);
	kernel_state = (uint32_t)atoi(argv[1]) * 2654435761U | 1;
	state = (uint32_t)atoi(argv[1]) * 40503U | 1;
	length = strtoul(argv[3], NULL, 10);
	reserved = atoi(argv[4]);
	steps = atol(argv[5]);
	make(atoi(argv[2]));
	memset(inodes, 1, ROOT + 1);
	files[ROOT].directory = 1;
	if (hook(1) != 0 || set_region(0, length, reserved) != 0)
		die("no hook, or no region");
	for (step = 0; step < steps; step++) {
		work();
		if (step % 50 == 0)
			check(fragments, inodes);
		if (step % 5000 == 4999)
			(void)set_region(0, step % 10000 == 9999 ? length : 0,
			    reserved);
	}
	check(fragments, inodes);
	(void)hook(0);
	fprintf(stderr, "%ld %ld %ld %ld %ld %ld %ld %ld\n", full, placed[0],
	    others, placed[1], outcomes[0], outcomes[1], outcomes[3],
	    outcomes[4]);
	return (0);
}
