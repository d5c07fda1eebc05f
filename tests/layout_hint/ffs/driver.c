/*
 * Random operations on the file system of kernel.c, in turn filling and emptying
 * it: driver SEED VERSION KERNEL START LENGTH INODES MODE WILD STEPS. The region
 * has these bytes, inodes and mode, or there is none if the length is 0; if it
 * is to be wild, it is taken out of effect and put back from time to time, also
 * while a group is waited for, and files' vnodes are forgotten. Prints a
 * recording (docs/layout.md); what came of it goes to standard error.
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
	int	hot;
	int	blocks;
	long	at[BLOCKS];
	int	size[BLOCKS];
};

static struct file files[INODES];
static unsigned char inodes[INODES], fragments[FRAGMENTS];
static uint32_t kernel_state = 12345, state;
static long step, full[2], placed[2], others, others_blocks;
static int freebsd, version;
static struct {
	unsigned long	start;
	unsigned long	length;
	unsigned	inodes;
	int		mode;
} region;
static const char *const modes[] = { "none", "preferred", "data", "reserved" };

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

/* The random numbers of recordings: the next one, and that it was taken. */
static uint32_t
next(void)
{
	return ((1103515245 * kernel_state + 12345) & 0x7fffffff);
}

unsigned
draw(void)
{
	return (next() >> 8);
}

static unsigned
under(unsigned n)
{
	return (xorshift(&state) % n);
}

static void
refused(long answer, int inode)
{
	if (answer != NO_SPACE)
		die("an error that FFS does not have");
	full[inode]++;
}

static void
check_full(int size)
{
	long at;

	for (at = 0; size == FRAGMENT && at < FRAGMENTS; at++)
		if (!fragments[at] && !is_metadata(at / FPG, at % FPG))
			die("no space, though a fragment is free");
}

/* Takes note of what a file has been given. */
static void
given(struct file *file, int lbn, long at, int size)
{
	int i;

	for (i = 0; i < size / FRAGMENT; i++)
		if (fragments[at + i]++)
			die("a fragment is given twice");
	file->at[lbn] = at;
	file->size[lbn] = size;
	placed[1] += in_region(-1, at);
	others_blocks += in_region(-1, at) && !file->hot;
}

/* The answer to a write: all addresses of a file. */
static void
print_file(long ino)
{
	int i;

	printf("%ld:", ino);
	for (i = 0; i < files[ino].blocks; i++)
		printf(" %ld", files[ino].at[i]);
	printf("\n");
}

/* A directory's first fragment, without which there is no directory. */
static void
make_entries(long ino, long parent)
{
	long at = extend(ino, 0, FRAGMENT);

	if (at < 0) {
		refused(at, 0);
		check_full(FRAGMENT);
		drop(ino, parent, 1);
		inodes[ino] = 0;
		printf("ENOSPC\n");
		return;
	}
	files[ino].blocks = 1;
	given(&files[ino], 0, at, FRAGMENT);
	print_file(ino);
}

static void
make_file(void)
{
	long parent = under(INODES), ino;
	int directory = under(8) == 0, wanted = under(3) == 0, hot;
	int left = memchr(inodes, 0, INODES) != NULL;

	while (!inodes[parent] || !files[parent].directory || parent < ROOT)
		parent = (parent + 1) % INODES;
	ino = create(parent, directory, wanted);
	hot = wanted && ino > 0 && in_region(ino, 0);
	if (left && directory && parent == ROOT && !hot && freebsd < 15)
		kernel_state = next();
	printf("%c %ld%s = ", directory ? 'm' : 'c', parent, wanted ? " hot" : "");
	if (ino < 0) {
		refused(ino, 1);
		if (left)
			die("no inode, though one is free");
		printf("ENOSPC\n");
		return;
	}
	if (inodes[ino])
		die("an inode is given twice");
	inodes[ino] = 1;
	memset(&files[ino], 0, sizeof(files[ino]));
	files[ino].directory = directory;
	files[ino].hot = hot;
	placed[0] += in_region(ino, 0);
	others += in_region(ino, 0) && !hot;
	if (directory)
		make_entries(ino, parent);
	else
		printf("%ld\n", ino);
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

/* Prints the request for so many blocks, and all but the last whole. */
static void
print_write(long ino, int blocks, int last)
{
	printf("w %ld %d = ", ino, (blocks - 1) * BLOCK + last);
}

static void
grow(void)
{
	long at, ino = some(1);
	int size = (under(2) ? 8 : 1 + under(7)) * FRAGMENT;
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	at = extend(ino, file->blocks, size);
	print_write(ino, file->blocks + 1, size);
	if (at < 0) {
		refused(at, 0);
		check_full(size);
		printf("ENOSPC\n");
		return;
	}
	given(file, file->blocks++, at, size);
	print_file(ino);
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
	print_write(ino, file->blocks, size);
	if (at < 0) {
		refused(at, 0);
		printf("ENOSPC\n");
		return;
	}
	memset(fragments + file->at[last], 0, (size_t)old / FRAGMENT);
	given(file, last, at, size);
	print_file(ino);
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
	drop(ino, ROOT, 0);
	inodes[ino] = 0;
	printf("u %ld %d = ok\n", ino, ROOT);
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

static void
print_state(void)
{
	long s[9];
	int cg, optim = 0;

	printf("d = ");
	for (cg = 0; cg < GROUPS; cg++) {
		optim = tell(cg, s);
		printf("%d[%ld %ld %ld %ld r%ld f%ld i%ld cd%ld", cg, s[0],
		    s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
		if (version == 2)
			printf(" n%ld", s[8]);
		printf("] ");
	}
	printf("opt%d\n", optim);
}

static void
put_region(int there)
{
	if (set_region(region.start, there ? region.length : 0, region.inodes,
	    region.mode) != 0)
		die("no region");
	if (!there || region.length == 0)
		printf("r = ok\n");
	else
		printf("r %lu %lu %u %s %d = ok\n", region.start,
		    region.length, region.inodes, modes[region.mode],
		    HOT_BLOCKS);
}

/* The root, which has its inode already. */
static void
begin(void)
{
	printf("# size_frags=%d fpg=%d ipg=%d bsize=%d fsize=%d minfree=8 "
	    "spc=%d kernel=freebsd%d format=ufs%d\nroot = ", FRAGMENTS, FPG,
	    IPG, BLOCK, FRAGMENT, FPG, freebsd, version);
	memset(inodes, 1, ROOT + 1);
	files[ROOT].directory = 1;
	make_entries(ROOT, ROOT);
}

/* Now and then, what comes to pass between operations. */
static void
be_wild(void)
{
	if (step % 5000 == 4999)
		put_region(step % 10000 == 9999);
	else if (step % 100 == 98)
		swap_region(0);
	else if (step % 100 == 99 && step % 10000 < 4999)
		put_region(1);
	if (step % 3 == 0)
		forget(under(INODES));
}

int
main(int argc, char **argv)
{
	long steps;
	int wild;

	if (argc != 10)
		return (2);
	state = (uint32_t)atoi(argv[1]) * 40503U | 1;
	version = atoi(argv[2]);
	freebsd = atoi(argv[3]);
	region.start = strtoul(argv[4], NULL, 10);
	region.length = strtoul(argv[5], NULL, 10);
	region.inodes = (unsigned)strtoul(argv[6], NULL, 10);
	region.mode = atoi(argv[7]);
	wild = atoi(argv[8]);
	steps = atol(argv[9]);
	make(version);
	begin();
	if (hook(1) != 0)
		die("no hook");
	put_region(1);
	for (step = 0; step < steps; step++) {
		work();
		if (step % 50 == 0) {
			check(fragments, inodes);
			print_state();
		}
		if (wild)
			be_wild();
	}
	check(fragments, inodes);
	(void)hook(0);
	fprintf(stderr, "%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", full[0],
	    full[1], placed[0], others, placed[1], others_blocks, outcomes[0],
	    outcomes[1], outcomes[3], outcomes[4]);
	return (0);
}
