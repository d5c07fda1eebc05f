/*
 * A default file system as an administrator sets it up, on the kernel of kernel.c.
 * setup VERSION IMAGE writes its superblock and the first group's maps to a file,
 * and setup VERSION START LENGTH INODES MODE works on it: hot and other files are
 * made in turn in a few directories, most of a few blocks, some of 4 MB and more,
 * until the region has no room for a block, and then some more; most are removed,
 * and all begins again. Prints what became of them.
 */
#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

#define	FIRST		((4 << 20) / BLOCK)	/* blocks of a file's first 4 MB */
#define	MORE		50	/* hot files after the region was full */
#define	ROUNDS		3

struct file {
	int	hot;
	int	blocks;
	int	last;	/* bytes of the last one */
};

/* What became of things that are hot, or that are not. */
struct tally {
	long	asked;		/* while the region had room */
	long	placed;
	long	refused;	/* when it had none */
};

static unsigned kernel_state = 12345;
static unsigned char inodes[GROUPS * IPG], fragments[GROUPS * FPG];
static struct file files[GROUPS * IPG];
static struct tally hot_inodes, hot_blocks;
static long cold_inodes, cold_blocks, beyond, refused;

unsigned
draw(void)
{
	kernel_state = next(kernel_state);
	return (kernel_state >> 8);
}

static void
count(struct tally *tally, int room, int placed)
{
	tally->asked += room;
	tally->placed += placed;
	tally->refused += !room;
	if (placed && !room)
		die("something has found room where there was none");
}

static long
made(long parent, int directory, int hot)
{
	int room = has_room(1, 1);
	long ino = create(parent, directory, hot);

	if (ino < 0 || inodes[ino]++)
		die("no inode, or one that was given");
	files[ino].hot = hot;
	files[ino].blocks = 0;
	if (hot)
		count(&hot_inodes, room, in_region(ino, 0));
	else
		cold_inodes += in_region(ino, 0);
	return (ino);
}

static void
took(long ino, int lbn, int room, long at, int n)
{
	int i, placed = in_region(-1, at);

	for (i = 0; i < n; i++)
		if (fragments[at + i]++)
			die("a fragment is given twice");
	if (!files[ino].hot || !in_region(ino, 0))
		cold_blocks += placed;
	else if (lbn < HOT_BLOCKS) {
		refused += !placed;
		if (lbn < FIRST)
			count(&hot_blocks, room, placed);
		else
			beyond += placed;
	}
}

/* Writes a new file whole, the last block in fragments if it is short. */
static void
fill(long ino, int blocks)
{
	int indirect, lbn, n, room;
	long at;

	for (lbn = 0; lbn < blocks; lbn++) {
		n = lbn == blocks - 1 && lbn < DIRECT ? 1 + (int)under(8) : 8;
		indirect = lbn == DIRECT;
		room = has_room(0, indirect ? 8 : n);
		at = extend(ino, lbn, n * FRAGMENT);
		if (at < 0)
			die("no space");
		if (indirect) {
			took(ino, lbn, room, address(ino, -1), 8);
			/* the block came next, into what was left */
			room = has_room(0, 8) || in_region(-1, at);
		}
		took(ino, lbn, room, at, n);
		files[ino].last = n * FRAGMENT;
	}
	files[ino].blocks = blocks;
}

static void
give(long ino, long at, int size)
{
	int i;

	(void)shrink(ino, at, size);
	for (i = 0; i < size / FRAGMENT; i++)
		fragments[at + i] = 0;
}

static void
removed(long ino)
{
	struct file *file = &files[ino];
	int lbn, last = file->blocks - 1;

	for (lbn = 0; lbn <= last; lbn++)
		give(ino, address(ino, lbn), lbn < last ? BLOCK : file->last);
	if (last >= DIRECT)
		give(ino, address(ino, -1), BLOCK);
	drop(ino, ROOT, 0);
	inodes[ino] = 0;
	file->blocks = 0;
}

/* Sizes of files: most are small. */
static int
length(void)
{
	switch (under(16)) {
	case 0:
		return (FIRST + (int)under(FIRST / 4));
	case 1:
	case 2:
	case 3:
		return (DIRECT + 1 + (int)under(16));
	default:
		return (1 + (int)under(DIRECT));
	}
}

/* Dies unless the module counts as taken of the region what files have of it. */
static void
check_used(void)
{
	unsigned long used[2], found[2] = { 0, 0 };
	long at;

	region_used(&used[0], &used[1]);
	for (at = 0; at < GROUPS * IPG; at++)
		found[0] += inodes[at] && in_region(at, 0);
	for (at = 0; at < GROUPS * FPG; at++)
		found[1] += fragments[at] && in_region(-1, at);
	if (used[0] != found[0] || used[1] != found[1])
		die("the region has more or less than reported");
}

static void
work(const long *parents)
{
	long ino;
	int more;

	for (more = 0; more < MORE; more += hot_blocks.refused > 0) {
		fill(made(parents[under(8)], 0, 1), length());
		fill(made(parents[under(8)], 0, 0), length());
	}
	check(fragments, inodes);
	check_used();
	for (ino = ROOT + 1; ino < GROUPS * IPG; ino++)
		if (files[ino].blocks > 1 && under(8) != 0)
			removed(ino);
	check(fragments, inodes);
	hot_blocks.refused = 0;
}

static int
write_image(const char *path)
{
	FILE *file = fopen(path, "w");
	unsigned long place, size;
	const void *bytes;
	int part;

	if (file == NULL)
		return (1);
	for (part = 0; part < 2; part++) {
		bytes = on_disk(part, &place, &size);
		if (fseek(file, (long)place, SEEK_SET) != 0 ||
		    fwrite(bytes, size, 1, file) != 1)
			return (1);
	}
	return (fclose(file));
}

int
main(int argc, char **argv)
{
	long parents[8];
	int i;

	if (argc != 3 && argc != 6)
		return (2);
	(void)syscall(SYS_arch_prctl, ARCH_SET_GS, processor);
	make(atoi(argv[1]));
	for (i = 0; i <= ROOT; i++)
		inodes[i] = 1;
	if (argc == 3)
		return (write_image(argv[2]));
	if (hook(1) != 0 || set_region(strtoul(argv[2], NULL, 10),
	    strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10),
	    atoi(argv[5])) != 0)
		die("no region");
	for (i = 0; i < 8; i++) {
		fill(parents[i] = made(ROOT, 1, 0), 1);
		files[parents[i]].blocks = 1;	/* which stays */
	}
	cold_inodes = 0;
	for (i = 0; i < ROUNDS; i++)
		work(parents);
	printf("%ld %ld %ld %ld %ld %ld\n", hot_inodes.asked,
	    hot_inodes.placed, hot_blocks.asked, hot_blocks.placed,
	    cold_inodes, cold_blocks);
	printf("%ld %ld %ld %ld %ld\n", outcomes[0] - hot_inodes.placed,
	    outcomes[1] - hot_blocks.placed - beyond, outcomes[4] - refused,
	    outcomes[3], outcomes[6]);
	return (0);
}
