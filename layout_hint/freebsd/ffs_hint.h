/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Hints for the layout of FFS: which new files and directories are expected to
 * be hot, and the region of the disk that they are placed in.
 *
 * The patches put this header into sys/ufs/ffs; the module birthmark includes
 * it, too. Above, what is plain arithmetic, for the kernel and for programs;
 * below, what the kernel alone has.
 */
#ifndef _UFS_FFS_HINT_H_
#define	_UFS_FFS_HINT_H_

#ifndef _KERNEL
#include <stdint.h>
#endif

/* A half-open interval [lo, hi). */
struct ffs_range {
	uint32_t	lo;
	uint32_t	hi;
};

/*
 * The parts of a region that are closed to others, while there is room
 * elsewhere; numbered as BM_REGION_... in birthmark_hint.h.
 */
enum ffs_region_mode {
	FFS_REGION_NONE = 0,		/* there is no region */
	FFS_REGION_PREFERRED = 1,	/* nothing */
	FFS_REGION_DATA = 2,		/* its fragments, not its inodes */
	FFS_REGION_RESERVED = 3		/* both */
};

/*
 * A region: inodes and fragments of one cylinder group, counted from its first.
 * Nothing of it is on disk.
 */
struct ffs_region {
	uint32_t	r_mode;		/* enum ffs_region_mode */
	uint32_t	r_cg;		/* the cylinder group */
	uint32_t	r_ipg;		/* inodes per group */
	uint32_t	r_fpg;		/* fragments per group */
	struct ffs_range r_inodes;
	struct ffs_range r_frags;
	uint32_t	r_blocks;	/* of a file that are placed here */
	uint32_t	r_free;		/* of its inodes, those that are */
};

/* The sizes of a file system that a region follows from. */
struct ffs_sizes {
	uint64_t	s_size;		/* fragments */
	uint32_t	s_fsize;	/* bytes of a fragment */
	uint32_t	s_fpg;		/* fragments per group */
	uint32_t	s_ncg;		/* groups */
	uint32_t	s_ipg;		/* inodes per group */
	uint32_t	s_isize;	/* bytes of an inode on disk */
	uint32_t	s_sblkno;	/* fragment of a group's superblock */
	uint32_t	s_iblkno;	/* ... of its inodes */
	uint32_t	s_dblkno;	/* ... of its data */
	uint32_t	s_summary;	/* fragments of summaries: group 0 alone */
	uint32_t	s_lazy;		/* inodes are made as they are needed */
};

/* Results of ffs_region_of(). */
enum ffs_region_error {
	FFS_REGION_OK = 0,
	FFS_REGION_BEYOND = 1,	/* it ends behind the file system */
	FFS_REGION_GROUPS = 2,	/* it has parts of two groups */
	FFS_REGION_INODES = 3,	/* it has more inodes than a group */
	FFS_REGION_NO_INODE = 4, /* no whole inode: nothing could be hot */
	FFS_REGION_UNMADE = 5,	/* others would be made before its inodes */
	FFS_REGION_NO_DATA = 6	/* no whole fragment for data */
};

/* Outcome of a hint; numbered as enum bm_outcome in birthmark_hint.h. */
enum ffs_hint_outcome {
	FFS_HINT_INODE_PLACED = 0,
	FFS_HINT_BLOCK_PLACED = 1,
	FFS_HINT_INODES_FULL = 3,
	FFS_HINT_BLOCKS_FULL = 4,
	FFS_HINT_TOO_LARGE = 6
};

#define	FFS_HINT_ROOTINO	2	/* the root's inode, and those before it */

static inline uint64_t
ffs_hint_min(uint64_t a, uint64_t b)
{

	return (a < b ? a : b);
}

/* The first inode of a group that a file may have. */
static inline uint32_t
ffs_hint_first(uint32_t cg)
{

	return (cg == 0 ? FFS_HINT_ROOTINO + 1 : 0);
}

/* The inodes that lie whole in bytes [start, end) of a group. */
static inline struct ffs_range
ffs_region_inodes(const struct ffs_sizes *s, uint32_t cg, uint64_t start,
    uint64_t end)
{
	uint64_t table = (uint64_t)s->s_iblkno * s->s_fsize;
	uint64_t last = s->s_ipg, first;
	struct ffs_range range;

	start = start > table ? start - table : 0;
	end = end > table ? end - table : 0;
	last = ffs_hint_min(end / s->s_isize, last);
	first = ffs_hint_min((start + s->s_isize - 1) / s->s_isize, last);
	if (first < ffs_hint_first(cg))
		first = ffs_hint_first(cg);
	range.lo = (uint32_t)first;
	range.hi = (uint32_t)(last > first ? last : first);
	return (range);
}

/* The fragments for data that lie whole in bytes [start, end) of a group. */
static inline struct ffs_range
ffs_region_frags(const struct ffs_sizes *s, uint32_t cg, uint64_t start,
    uint64_t end)
{
	uint64_t first = (start + s->s_fsize - 1) / s->s_fsize;
	uint64_t last = end / s->s_fsize;
	uint64_t meta = cg == 0 ? 0 : s->s_sblkno;
	uint64_t data = (uint64_t)s->s_dblkno + (cg == 0 ? s->s_summary : 0);
	struct ffs_range range;

	if (first >= meta && first < data)
		first = data;
	if (last >= meta && last < data)
		last = meta;
	range.lo = (uint32_t)first;
	range.hi = (uint32_t)(last > first ? last : first);
	return (range);
}

/*
 * The region of length bytes from byte start of the partition on, and of the
 * first inodes of its group, or, if these are 0, of those in its bytes:
 * preferred.
 */
static inline enum ffs_region_error
ffs_region_of(const struct ffs_sizes *s, uint64_t start, uint64_t length,
    uint32_t inodes, struct ffs_region *region)
{
	uint64_t group = (uint64_t)s->s_fpg * s->s_fsize;
	uint64_t size = s->s_size * s->s_fsize;
	uint64_t table = (uint64_t)s->s_iblkno * s->s_fsize;
	uint32_t cg;

	if (start > size || length > size - start)
		return (FFS_REGION_BEYOND);
	cg = (uint32_t)ffs_hint_min(start / group, s->s_ncg - 1);
	start -= cg * group;
	if (start + length > group)
		return (FFS_REGION_GROUPS);
	if (inodes > s->s_ipg)
		return (FFS_REGION_INODES);
	region->r_mode = FFS_REGION_PREFERRED;
	region->r_cg = cg;
	region->r_ipg = s->s_ipg;
	region->r_fpg = s->s_fpg;
	region->r_blocks = 0;
	region->r_free = 0;
	region->r_frags = ffs_region_frags(s, cg, start, start + length);
	if (inodes == 0)
		region->r_inodes = ffs_region_inodes(s, cg, start,
		    start + length);
	else
		region->r_inodes = ffs_region_inodes(s, cg, table,
		    table + (uint64_t)inodes * s->s_isize);
	if (region->r_inodes.lo == region->r_inodes.hi)
		return (FFS_REGION_NO_INODE);
	if (s->s_lazy && region->r_inodes.lo > ffs_hint_first(cg))
		return (FFS_REGION_UNMADE);
	if (region->r_frags.lo == region->r_frags.hi)
		return (FFS_REGION_NO_DATA);
	return (FFS_REGION_OK);
}

/* The message for a region that cannot be. */
static inline const char *
ffs_region_text(enum ffs_region_error error)
{
	static const char *const texts[] = {
		[FFS_REGION_OK] = "it is one",
		[FFS_REGION_BEYOND] = "it ends behind the file system",
		[FFS_REGION_GROUPS] = "it has parts of two cylinder groups",
		[FFS_REGION_INODES] = "a cylinder group has fewer inodes",
		[FFS_REGION_NO_INODE] = "it has no inode",
		[FFS_REGION_UNMADE] = "its inodes are not a group's first",
		[FFS_REGION_NO_DATA] = "it has no fragment for data"
	};

	return (texts[error]);
}

static inline int
ffs_range_has(struct ffs_range range, uint32_t at)
{

	return (at >= range.lo && at < range.hi);
}

static inline int
ffs_region_has_inode(const struct ffs_region *region, uint64_t ino)
{

	return (region->r_mode != FFS_REGION_NONE &&
	    ino / region->r_ipg == region->r_cg &&
	    ffs_range_has(region->r_inodes, (uint32_t)(ino % region->r_ipg)));
}

static inline int
ffs_region_has_frag(const struct ffs_region *region, uint64_t bno)
{

	return (region->r_mode != FFS_REGION_NONE &&
	    bno / region->r_fpg == region->r_cg &&
	    ffs_range_has(region->r_frags, (uint32_t)(bno % region->r_fpg)));
}

/*
 * The bytes of a group's map of free fragments that are closed to others. Empty
 * if the region is merely preferred, or is in another group.
 */
static inline struct ffs_range
ffs_region_kept_frags(const struct ffs_region *region, uint32_t cg)
{
	struct ffs_range reserved = { 0, 0 };

	if (region->r_mode >= FFS_REGION_DATA && region->r_cg == cg) {
		reserved.lo = region->r_frags.lo / 8;
		reserved.hi = (region->r_frags.hi + 7) / 8;
	}
	return (reserved);
}

/* The inodes of a group that are closed to others. */
static inline struct ffs_range
ffs_region_kept_inodes(const struct ffs_region *region, uint32_t cg)
{
	struct ffs_range none = { 0, 0 };

	return (region->r_mode == FFS_REGION_RESERVED && region->r_cg == cg ?
	    region->r_inodes : none);
}

/*
 * A group's free inodes as ffs_dirpref() is to see them: none if the region
 * closes them all, for no directory could stay there.
 */
static inline uint32_t
ffs_region_nifree(const struct ffs_region *region, uint32_t cg, uint32_t nifree)
{

	return (region->r_mode == FFS_REGION_RESERVED && region->r_cg == cg &&
	    nifree <= region->r_free ? 0 : nifree);
}

/* The first clear bit of [lo, hi) in a map, or hi. */
static inline uint32_t
ffs_hint_clear(const uint8_t *map, uint32_t lo, uint32_t hi)
{

	while (lo < hi && (map[lo / 8] >> (lo % 8) & 1) != 0)
		lo += map[lo / 8] == 0xff && lo % 8 == 0 ? 8 : 1;
	return (lo < hi ? lo : hi);
}

/* As that, but outside of a reserved range. */
static inline uint32_t
ffs_hint_clear_around(const uint8_t *map, uint32_t lo, uint32_t hi,
    struct ffs_range reserved)
{
	uint32_t at;

	if (reserved.lo >= reserved.hi)
		return (ffs_hint_clear(map, lo, hi));
	if (lo < reserved.lo) {
		at = ffs_hint_clear(map, lo, (uint32_t)ffs_hint_min(reserved.lo, hi));
		if (at < reserved.lo && at < hi)
			return (at);
	}
	return (ffs_hint_clear(map, lo > reserved.hi ? lo : reserved.hi, hi));
}

/*
 * A free inode of a group for something that is not hot: from the byte of the
 * rotor on, then from the beginning. -1 if all others are taken.
 */
static inline int64_t
ffs_hint_inode(const uint8_t *inosused, uint32_t ipg, uint32_t rotor,
    struct ffs_range reserved)
{
	uint32_t at = ffs_hint_clear_around(inosused, rotor / 8 * 8, ipg, reserved);

	if (at >= ipg)
		at = ffs_hint_clear_around(inosused, 0, ipg, reserved);
	return (at < ipg ? (int64_t)at : -1);
}

/*
 * The first byte of [lo, hi) of a map that has one of the bits of mask in a
 * table (as scanc()), or hi.
 */
static inline uint32_t
ffs_hint_scan(const uint8_t *map, uint32_t lo, uint32_t hi,
    const uint8_t *table, uint8_t mask)
{

	while (lo < hi && (table[map[lo]] & mask) == 0)
		lo++;
	return (lo < hi ? lo : hi);
}

/*
 * As ffs_mapsearch(): the byte of the first such run from start on, then from
 * the beginning, but outside of the bytes kept. -1 if there is none.
 */
static inline int64_t
ffs_hint_search(const uint8_t *map, uint32_t bytes, uint32_t start,
    struct ffs_range reserved, const uint8_t *table, uint8_t mask)
{
	uint32_t round, lo, at, hi;

	for (round = 0; round < 2; round++) {
		lo = round == 0 ? start : 0;
		hi = (uint32_t)ffs_hint_min(reserved.lo, bytes);
		at = ffs_hint_scan(map, lo, hi, table, mask);
		if (at < hi)
			return (at);
		lo = lo > reserved.hi ? lo : reserved.hi;
		at = ffs_hint_scan(map, lo, bytes, table, mask);
		if (at < bytes)
			return (at);
	}
	return (-1);
}

/* A byte of a map, with the bits clear that are not within a range of bits. */
static inline uint8_t
ffs_hint_byte(const uint8_t *map, uint32_t byte, struct ffs_range within)
{
	uint32_t mask = 0xff, low = byte * 8, high = low + 8;

	if (low < within.lo)
		mask &= 0xffU << (within.lo - low);
	if (high > within.hi)
		mask &= 0xffU >> (high - within.hi);
	return ((uint8_t)(map[byte] & mask));
}

/* Where in a byte, of blocks of frag, the first run of just that length begins. */
static inline uint32_t
ffs_hint_run(uint8_t map, uint32_t frag, uint32_t length)
{
	uint32_t bit, run = 0;

	for (bit = 0; bit < 8; bit++) {
		run = (map >> bit & 1) != 0 ? run + 1 : 0;
		if (run == length && ((bit + 1) % frag == 0 ||
		    (map >> (bit + 1) & 1) == 0))
			break;
		if ((bit + 1) % frag == 0)
			run = 0;
	}
	return (bit + 1 - length);
}

/*
 * The first of want free fragments within a range, all in one block of frag: in
 * the first of the shortest runs that have enough. -1 if there is none. The
 * table lists the runs of a byte of the map, as the kernel's fragtbl[frag]
 * does, so that the search goes byte by byte, as in ffs_mapsearch().
 */
static inline int64_t
ffs_hint_fit(const uint8_t *free, struct ffs_range within, uint32_t frag,
    uint32_t want, const uint8_t *table)
{
	uint32_t byte, found = 0, runs, length, best = frag + 1;

	for (byte = within.lo / 8; byte * 8 < within.hi && best > want;
	    byte++) {
		runs = table[ffs_hint_byte(free, byte, within)];
		runs = (runs >> (frag % 8) & ((1U << frag) - 1)) >> (want - 1);
		for (length = want; runs != 0 && (runs & 1) == 0; length++)
			runs >>= 1;
		if (runs != 0 && length < best) {
			best = length;
			found = byte;
		}
	}
	if (best > frag)
		return (-1);
	return ((int64_t)found * 8 + ffs_hint_run(ffs_hint_byte(free, found,
	    within), frag, best));
}

#ifdef _KERNEL

struct componentname;
struct inode;
struct mount;
struct vnode;

/*
 * Set in the mode that is given to UFS_VALLOC() if the new inode is hinted. It
 * is no bit of a mode, and ffs_valloc() takes it away.
 */
#define	FFS_HINT_HOT	0x10000

/*
 * In i_flag, beyond those of inode.h: that a file was made while its mount had a
 * region, and that it was given an inode there for being hot. They are dropped
 * with the vnode.
 */
#define	IN_HINTED	0x20000000
#define	IN_HOT		0x40000000

/* A query at a create. The name is valid during the call. */
struct ffs_create {
	const char	*c_name;
	size_t		 c_len;
	mode_t		 c_mode;	/* of type IFDIR or other */
	uid_t		 c_uid;
	gid_t		 c_gid;
};

/*
 * The source of hints. Both are called in a read section of a lock that must
 * not be slept in, h_outcome with the ufsmount lock held, too.
 */
struct ffs_hint_ops {
	int	(*h_ask)(const struct ffs_create *);	/* 1: hot */
	void	(*h_outcome)(enum ffs_hint_outcome);
};

/* EBUSY if there is one; after unregister no call of the former is running. */
int	ffs_hint_register(const struct ffs_hint_ops *);
void	ffs_hint_unregister(const struct ffs_hint_ops *);

/*
 * The region of a mounted file system, which the caller has busy: find computes
 * it, and prints on the console why if there is none; set makes it the one in
 * effect (NULL: none), or fails and leaves the former one; used counts its use
 * on disk. set and used sleep.
 */
int	ffs_hint_find(struct mount *, uint64_t, uint64_t, uint32_t,
	    struct ffs_region *);
int	ffs_hint_set(struct mount *, const struct ffs_region *);
int	ffs_hint_used(struct mount *, const struct ffs_region *, uint64_t *,
	    uint64_t *);

/* The mode for UFS_VALLOC() of a create in a directory. */
int	ffs_hint_mode(struct vnode *, struct componentname *, int);

#endif /* _KERNEL */

#endif /* _UFS_FFS_HINT_H_ */
