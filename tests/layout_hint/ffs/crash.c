/*
 * A crash between the steps of soft updates, on the kernel of kernel.c: crash SEED
 * VERSION START LENGTH INODES MODE. Files are made, written, moved together and
 * removed at random. In between, inodes and groups' maps are written to a disk,
 * as soft updates write them: an inode without what still waits for a group's maps
 * by the allocator's answers, and what a file had is freed when the inode on disk
 * has it no more. Dies if a crash after some write left anything for fsck but
 * space and inodes that are taken by the maps and by no file. Prints what became
 * of all.
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
#define	BLOCKS		20
#define	STEPS		40000
#define	OLD		256	/* blocks of a file that are to be freed */

struct file {
	int	used;
	int	blocks;
	long	at[BLOCKS + 1];		/* the indirect block last */
	int	size[BLOCKS + 1];
};

static struct file files[INODES], disk[INODES];
static struct {
	int	blocks;
	long	at[OLD];
	int	size[OLD];
	int	moved[OLD];		/* the file has others in their place */
} old[INODES];
static unsigned char inodes[INODES], fragments[FRAGMENTS];	/* who has them */
static unsigned char inode_waits[INODES], waits[FRAGMENTS];	/* for maps */
static unsigned char disk_inodes[INODES], disk_fragments[FRAGMENTS];
static unsigned char claimed[FRAGMENTS];
static unsigned kernel_state = 12345;
static long held_back, placed, full, moved;

unsigned
draw(void)
{
	kernel_state = next(kernel_state);
	return (kernel_state >> 8);
}

static void
on_dependency(int inode, long at, int n)
{
	memset((inode ? inode_waits : waits) + at, 1, (size_t)n);
}

/*
 * What is on disk.
 */
static void
write_maps(int cg)
{
	long at;

	for (at = cg * IPG; at < (cg + 1) * IPG; at++) {
		disk_inodes[at] = taken(1, at) != 0;
		inode_waits[at] = 0;
	}
	for (at = cg * FPG; at < (cg + 1) * FPG; at++) {
		disk_fragments[at] = taken(0, at) != 0;
		waits[at] = 0;
	}
}

static int
waiting(long at, int size)
{
	return (memchr(waits + at, 1, (size_t)size / FRAGMENT) != NULL);
}

/* Whether a file has any of these fragments. */
static int
is_there(const struct file *file, long at, int size)
{
	int block;

	for (block = 0; block <= BLOCKS; block++)
		if (at < file->at[block] + file->size[block] / FRAGMENT &&
		    file->at[block] < at + size / FRAGMENT)
			return (1);
	return (0);
}

/* Frees a file's old fragments, but for those that the disk still has. */
static void
free_old(long ino)
{
	int i, kept = 0;

	for (i = 0; i < old[ino].blocks; i++) {
		if (is_there(&disk[ino], old[ino].at[i], old[ino].size[i])) {
			old[ino].at[kept] = old[ino].at[i];
			old[ino].moved[kept] = old[ino].moved[i];
			old[ino].size[kept++] = old[ino].size[i];
			continue;
		}
		if (old[ino].moved[i])
			discard(ino, old[ino].at[i], old[ino].size[i]);
		else
			(void)shrink(ino, old[ino].at[i], old[ino].size[i]);
		memset(fragments + old[ino].at[i], 0,
		    (size_t)old[ino].size[i] / FRAGMENT);
	}
	old[ino].blocks = kept;
}

static void
write_inode(long ino)
{
	struct file *file = &files[ino];
	int block;

	if (ino <= ROOT || !inodes[ino])
		return;
	if (!file->used) {	/* removed: then all that it had is free */
		memset(&disk[ino], 0, sizeof(disk[ino]));
		free_old(ino);
		drop(ino, ROOT, 0);
		inodes[ino] = 0;
		return;
	}
	if (inode_waits[ino]) {
		held_back++;
		return;
	}
	disk[ino].used = 1;
	for (block = BLOCKS; block >= 0; block--) {
		if (file->size[block] == 0)
			continue;
		if (waiting(file->at[block], file->size[block]) ||
		    (block >= DIRECT && disk[ino].size[BLOCKS] == 0 &&
		    block != BLOCKS)) {
			held_back++;
			continue;
		}
		disk[ino].at[block] = file->at[block];
		disk[ino].size[block] = file->size[block];
	}
	free_old(ino);
}

/* What fsck would find after a crash. */
static void
check_disk(void)
{
	const struct file *file;
	int block, i;
	long ino, at;

	memset(claimed, 0, sizeof(claimed));
	for (ino = 0; ino < INODES; ino++) {
		file = &disk[ino];
		if (!file->used)
			continue;
		if (!disk_inodes[ino])
			die("on disk, an inode in use is free by the map");
		for (block = 0; block <= BLOCKS; block++)
			for (i = 0; i < file->size[block] / FRAGMENT; i++) {
				at = file->at[block] + i;
				if (!disk_fragments[at])
					die("on disk, a file's fragment is "
					    "free by the map");
				if (claimed[at]++)
					die("on disk, two files have a "
					    "fragment");
			}
	}
}

/*
 * Operations.
 */
static void
given(long ino, int block, long at, int size)
{
	int i;

	for (i = 0; i < size / FRAGMENT; i++)
		if (fragments[at + i]++)
			die("a fragment is given twice");
	files[ino].at[block] = at;
	files[ino].size[block] = size;
	placed += in_region(-1, at);
}

/* Of a file's fragments that are so no more: to be freed. */
static void
retire(long ino, int block, int others)
{
	if (old[ino].blocks == OLD)
		die("a file has too much to be freed");
	old[ino].moved[old[ino].blocks] = others;
	old[ino].at[old[ino].blocks] = files[ino].at[block];
	old[ino].size[old[ino].blocks++] = files[ino].size[block];
	files[ino].size[block] = 0;
}

static long
some_file(void)
{
	long n, ino = under(INODES);

	for (n = 0; n < INODES; n++, ino = (ino + 1) % INODES)
		if (ino > ROOT && inodes[ino] && files[ino].used)
			return (ino);
	return (-1);
}

static void
make_file(void)
{
	long ino = create(ROOT, 0, under(2) == 0);

	if (ino < 0) {
		full++;
		return;
	}
	if (inodes[ino]++)
		die("an inode is given twice");
	memset(&files[ino], 0, sizeof(files[ino]));
	files[ino].used = 1;
}

/* Writes the next block, or more of the last. */
static int
grow(long ino)
{
	struct file *file = &files[ino];
	int block = file->blocks, size, before = 0;
	long at;

	if (block > 0 && file->size[block - 1] < BLOCK)
		before = file->size[--block];
	if (block == BLOCKS || old[ino].blocks > OLD - BLOCKS)
		return (0);
	size = before + FRAGMENT *
	    (1 + (int)under((unsigned)(BLOCK - before) / FRAGMENT));
	if (block >= DIRECT || under(2) == 0)
		size = BLOCK;
	at = extend(ino, block, size);
	if (at < 0) {
		full++;
		return (0);
	}
	if (before > 0 && at == file->at[block])
		memset(fragments + at, 0, (size_t)before / FRAGMENT);
	else if (before > 0)
		retire(ino, block, 1);
	if (block == DIRECT)
		given(ino, BLOCKS, address(ino, -1), BLOCK);
	given(ino, block, at, size);
	file->blocks = block + 1;
	return (1);
}

/* Moves the last two to seven blocks together. */
static void
gather(long ino)
{
	struct file *file = &files[ino];
	int blocks = 2 + (int)under(CLUSTER - 1), block, first;

	first = file->blocks - blocks;
	if (first < 0 || file->size[file->blocks - 1] < BLOCK ||
	    old[ino].blocks > OLD - BLOCKS || !cluster(ino, first, blocks))
		return;
	moved++;
	for (block = first; block < first + blocks; block++) {
		retire(ino, block, 1);
		given(ino, block, address(ino, block), BLOCK);
	}
}

static void
remove_file(long ino)
{
	int block;

	if (old[ino].blocks > OLD - BLOCKS - 1)
		return;
	for (block = 0; block <= BLOCKS; block++)
		if (files[ino].size[block] > 0)
			retire(ino, block, 0);
	files[ino].used = 0;
}

/* A file at random, or one that was removed, if there is one. */
static long
ino_of(int removed)
{
	long n, ino = under(INODES);

	for (n = 0; n < INODES; n++, ino = (ino + 1) % INODES)
		if (inodes[ino] && ino > ROOT && files[ino].used == !removed)
			break;
	return (ino);
}

static void
work(void)
{
	unsigned what = under(100);
	int emptying = step / 4000 % 2;
	long ino = some_file();

	if (what < 20 || ino < 0)
		make_file();
	else if (what < 35)
		while (grow(ino) && under(8) != 0)
			;
	else if (what < 40)
		gather(ino);
	else if (what < (emptying ? 70 : 50))
		remove_file(ino);
	else if (what < 97)
		write_inode(ino_of(under(2)));
	else
		write_maps((int)under(GROUPS));
}

int
main(int argc, char **argv)
{
	long ino;
	int cg;

	if (argc != 7)
		return (2);
	state = (unsigned)atoi(argv[1]) * 40503U | 1;
	(void)syscall(SYS_arch_prctl, ARCH_SET_GS, processor);
	make(atoi(argv[2]));
	memset(inodes, 1, ROOT + 1);
	soft_updates(on_dependency);
	if (hook(1) != 0 || set_region(strtoul(argv[3], NULL, 10),
	    strtoul(argv[4], NULL, 10), (unsigned)strtoul(argv[5], NULL, 10),
	    atoi(argv[6])) != 0)
		die("no region");
	for (cg = 0; cg < GROUPS; cg++)
		write_maps(cg);
	for (step = 0; step < STEPS; step++) {
		work();
		if (step % 20 == 0)
			check_disk();
		if (step % 1000 == 0)
			check(fragments, inodes);
	}
	/* All delayed work is done: nothing is taken that nobody has. */
	for (cg = 0; cg < GROUPS; cg++)
		write_maps(cg);
	for (ino = ROOT + 1; ino < INODES; ino++)
		write_inode(ino);
	for (cg = 0; cg < GROUPS; cg++)
		write_maps(cg);
	check_disk();
	check(claimed, inodes);
	printf("%ld %ld %ld %ld %ld\n", held_back, placed, full, moved,
	    outcomes[1]);
	return (0);
}
