/*
 * Random operations on the file system of kernel.c, in turn filling and emptying
 * it: driver SEED VERSION KERNEL START LENGTH INODES MODE WILD STEPS. The region
 * has these bytes, inodes and mode, or there is none if the length is 0; if it
 * is to be wild, it is taken out of effect and put back from time to time, also
 * while a group is waited for, files' vnodes are reclaimed, quotas are met, and
 * snapshots want what is freed. Prints a recording (docs/layout.md); what came of
 * it goes to standard error.
 */
#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

#define	INODES		(GROUPS * IPG)
#define	FRAGMENTS	(GROUPS * FPG)
#define	BLOCKS		20	/* of a file, some of them behind an indirect one */
#define	NO_SPACE	(-28)
#define	NO_QUOTA	(-69)

struct file {
	int	directory;
	int	hot;
	int	blocks;
	long	at[BLOCKS];
	int	size[BLOCKS];
	long	indirect;
};

static struct file files[INODES];
static unsigned char inodes[INODES], fragments[FRAGMENTS];
static unsigned kernel_state = 12345;
static long full[2], placed[2], others, others_blocks;
static long indirect, moved, limited, claimed;
static int freebsd, version, wild, kept;
static struct {
	unsigned long	start;
	unsigned long	length;
	unsigned	inodes;
	int		mode;
} region;
static const char *const modes[] = { "none", "preferred", "data", "reserved" };

/* A random number of recordings, which is taken when a directory is made. */
unsigned
draw(void)
{
	return (next(kernel_state) >> 8);
}

static void
refused(long answer, int inode)
{
	if (answer == NO_QUOTA && wild && !inode) {
		limited++;
		return;
	}
	if (answer != NO_SPACE)
		die("an error that FFS does not have");
	full[inode]++;
}

static void
check_full(long answer, int size)
{
	long at;

	if (answer != NO_SPACE || size != FRAGMENT)
		return;
	for (at = 0; at < FRAGMENTS; at++)
		if (!fragments[at] && !is_metadata(at / FPG, at % FPG))
			die("no space, though a fragment is free");
}

static void
take(struct file *file, long at, int size)
{
	int i;

	for (i = 0; i < size / FRAGMENT; i++)
		if (fragments[at + i]++)
			die("a fragment is given twice");
	placed[1] += in_region(-1, at);
	others_blocks += in_region(-1, at) && !file->hot;
}

static void
give(long at, int size)
{
	memset(fragments + at, 0, (size_t)size / FRAGMENT);
}

/* Takes note of what a file has been given, its indirect block first. */
static void
given(long ino, int lbn, long at, int size)
{
	struct file *file = &files[ino];

	if (lbn == DIRECT) {
		file->indirect = address(ino, -1);
		take(file, file->indirect, BLOCK);
		indirect++;
	}
	take(file, at, size);
	file->at[lbn] = at;
	file->size[lbn] = size;
}

/* The answer to a write: all addresses of a file. */
static void
print_file(long ino)
{
	int i;

	printf("%ld:", ino);
	for (i = 0; i < files[ino].blocks; i++) {
		if (i == DIRECT)
			printf(" i%ld", files[ino].indirect);
		printf(" %ld", files[ino].at[i]);
	}
	printf("\n");
}

/* A directory's first fragment, without which there is no directory. */
static void
make_entries(long ino, long parent)
{
	long at = extend(ino, 0, FRAGMENT);

	if (at < 0) {
		refused(at, 0);
		check_full(at, FRAGMENT);
		drop(ino, parent, 1);
		inodes[ino] = 0;
		printf("ENOSPC\n");
		return;
	}
	files[ino].blocks = 1;
	given(ino, 0, at, FRAGMENT);
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
		kernel_state = next(kernel_state);
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

/* Gives a file another block, or fragments of one. */
static int
grow(long ino, int size)
{
	struct file *file = &files[ino];
	long at;

	if (file->blocks >= DIRECT)
		size = BLOCK;
	at = extend(ino, file->blocks, size);
	print_write(ino, file->blocks + 1, size);
	if (at < 0) {
		refused(at, 0);
		check_full(at, size);
		printf("ENOSPC\n");
		return (0);
	}
	given(ino, file->blocks, at, size);
	file->blocks++;
	print_file(ino);
	return (size == BLOCK);
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
	at = extend(ino, last, size);
	print_write(ino, file->blocks, size);
	if (at < 0) {
		refused(at, 0);
		printf("ENOSPC\n");
		return;
	}
	give(file->at[last], old);
	given(ino, last, at, size);
	print_file(ino);
}

/*
 * Has whole blocks of a file moved together; as the kernel, not those that lie in a
 * row already.
 */
static void
gather(long ino, int first, int blocks)
{
	struct file *file = &files[ino];
	int i, row = 1, whole = 1;

	for (i = first; i < first + blocks; i++) {
		whole &= file->size[i] == BLOCK;
		row &= i == first || file->at[i] == file->at[i - 1] + 8;
	}
	if (!whole || row)
		return;
	moved += cluster(ino, first, blocks);
	for (i = first; i < first + blocks; i++)
		give(file->at[i], BLOCK);
	for (i = first; i < first + blocks; i++) {
		file->at[i] = address(ino, i);
		take(file, file->at[i], BLOCK);
	}
	printf("k %ld %d %d = ", ino, first, blocks);
	print_file(ino);
}

/* Writes to a file: a block, or, at times, many, and as they are written. */
static void
write_file(void)
{
	long ino = some(1);
	int more = under(16) == 0 ? BLOCKS : 1, blocks;
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	if (more == 1) {
		(void)grow(ino, (under(2) ? 8 : 1 + (int)under(7)) * FRAGMENT);
		return;
	}
	while (file->blocks < BLOCKS && grow(ino, BLOCK)) {
		blocks = 2 + (int)under(CLUSTER - 1);
		if (blocks <= file->blocks)
			gather(ino, file->blocks - blocks, blocks);
	}
}

static void
give_back(long ino, long at, int size)
{
	if (shrink(ino, at, size))
		claimed++;	/* and nobody gives it back */
	else
		give(at, size);
}

static void
remove_file(void)
{
	long ino = some(0);
	struct file *file;

	if (ino < 0)
		return;
	file = &files[ino];
	if (kept && file->blocks > 0)
		expunge(ino, file->at[0], file->size[0]);
	while (file->blocks-- > 0)
		give_back(ino, file->at[file->blocks], file->size[file->blocks]);
	if (file->indirect != 0)
		give_back(ino, file->indirect, BLOCK);
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
		write_file();
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
	if (step % 500 == 250)
		set_quota(1, under(512));
	else if (step % 500 == 300)
		set_quota(0, 0);
	if (step == 20000) {
		take_snapshot();
		kept = 1;
	}
}

int
main(int argc, char **argv)
{
	long steps;

	if (argc != 10)
		return (2);
	state = (unsigned)atoi(argv[1]) * 40503U | 1;
	version = atoi(argv[2]);
	freebsd = atoi(argv[3]);
	region.start = strtoul(argv[4], NULL, 10);
	region.length = strtoul(argv[5], NULL, 10);
	region.inodes = (unsigned)strtoul(argv[6], NULL, 10);
	region.mode = atoi(argv[7]);
	wild = atoi(argv[8]);
	steps = atol(argv[9]);
	(void)syscall(SYS_arch_prctl, ARCH_SET_GS, processor);
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
	fprintf(stderr, "%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n",
	    full[0], full[1], placed[0], others, placed[1], others_blocks,
	    outcomes[0], outcomes[1], outcomes[3], outcomes[4], indirect, moved,
	    limited, claimed);
	return (0);
}
