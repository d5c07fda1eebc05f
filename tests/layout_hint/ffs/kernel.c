/*
 * The kernel around FFS's allocator, for patched.py: compiled with the kernel's
 * headers, and linked with ffs_alloc.c, patched or not, ffs_balloc.c, and
 * driver.c, setup.c or crash.c to a program. A file system of a few groups is held
 * in memory. It dies where the kernel would hang or panic: on a lock taken twice
 * or not given back, and on a wait with one held.
 */
#include <sys/param.h>
#include <sys/systm.h>
#include <sys/bio.h>
#include <sys/buf.h>
#include <sys/conf.h>
#include <sys/lock.h>
#include <sys/mutex.h>
#include <sys/rmlock.h>
#include <sys/mount.h>
#include <sys/namei.h>
#include <sys/proc.h>
#include <sys/ucred.h>
#include <sys/vnode.h>
#include <sys/stat.h>

#include <ufs/ufs/extattr.h>
#include <ufs/ufs/quota.h>
#include <ufs/ufs/inode.h>
#include <ufs/ufs/ufs_extern.h>
#include <ufs/ufs/ufsmount.h>

#include <ufs/ffs/fs.h>
#include <ufs/ffs/ffs_extern.h>
#ifdef PATCHED
#include <ufs/ffs/ffs_hint.h>
#endif

#include "kernel.h"

struct node {
	struct vnode	 n_vnode;
	struct inode	 n_inode;
	char		*n_indirect;	/* what the indirect block holds */
	union {
		struct ufs1_dinode	d1;
		struct ufs2_dinode	d2;
	} n_dinode;
};

struct vop_vector {
	int	unused;
};
struct vop_vector ffs_vnodeops1, ffs_vnodeops2;
volatile time_t time_second;
long outcomes[8];
void (*depends)(int, long, int);	/* gets what waits for a group's maps */
void *processor[1];			/* what %gs points to: the thread */

static struct fs fs0;
static struct fs_summary_info summary;
static struct csum counts[GROUPS];
static uint8_t contigdirs[GROUPS];
static int32_t maxcluster[GROUPS];
static struct ufsmount ump0;
static struct mount mount0;
static struct vfsconf vfsconf0;
static struct vnode device;
static struct cdev disk;
static struct ucred cred0;
static struct node nodes[GROUPS * IPG];
static char *groups[GROUPS];
static struct buf buffers[GROUPS];
static struct buf data;			/* of a file, whichever */
static struct buf indirect;		/* likewise */
static struct thread running;
static struct vnode snapshot;		/* its view of the groups: */
static struct fs snapshot_fs;
static struct csum snapshot_counts[GROUPS];
static struct fs_summary_info snapshot_summary;
static char *snapshot_group;
static struct buf snapshot_buffer;
static long quota_used, quota_limit;	/* sectors; no limit if 0 */
static int busy[GROUPS], locked, reading, ufs2, wanting, claims, claimed;
#ifdef PATCHED
static struct ffs_region swapped;	/* comes into effect at a wait, if wanted */
static int swapping;
#endif

/*
 * What ffs_subr.c and ffs_tables.c have, for blocks of eight fragments.
 */
static uint8_t lengths[256];
uint8_t *fragtbl[9] = { [8] = lengths };
int around[9] = { 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff };
int inside[9] = { 0x0, 0x2, 0x6, 0xe, 0x1e, 0x3e, 0x7e, 0xfe, 0x1fe };

void
ffs_fragacct(struct fs *fs, int map, int32_t *list, int change)
{
	int bit, run = 0;

	for (bit = 0; bit <= 8; bit++) {
		if (bit < 8 && (map >> bit & 1) != 0) {
			run++;
			continue;
		}
		if (run > 0 && run < 8)
			list[run] += change;
		run = 0;
	}
}

static void
make_lengths(void)
{
	int32_t list[8];
	int byte, run;

	for (byte = 0; byte < 255; byte++) {
		bzero(list, sizeof(list));
		ffs_fragacct(&fs0, byte, list, 1);
		for (run = 1; run < 8; run++)
			lengths[byte] |= list[run] > 0 ? 1 << (run - 1) : 0;
	}
	lengths[255] = 1 << 7;
}

int
ffs_isblock(struct fs *fs, uint8_t *map, ufs1_daddr_t block)
{
	return (map[block] == 0xff);
}

int
ffs_isfreeblock(struct fs *fs, uint8_t *map, ufs1_daddr_t block)
{
	return (map[block] == 0);
}

void
ffs_clrblock(struct fs *fs, uint8_t *map, ufs1_daddr_t block)
{
	map[block] = 0;
}

void
ffs_setblock(struct fs *fs, uint8_t *map, ufs1_daddr_t block)
{
	map[block] = 0xff;
}

/* Recounts the runs of free blocks. */
static void
count_clusters(struct fs *fs, struct cg *cgp)
{
	int32_t *sums = cg_clustersum(cgp);
	int most = fs->fs_contigsumsize, at, run = 0;

	bzero(sums, (most + 1) * sizeof(*sums));
	for (at = 0; at <= cgp->cg_nclusterblks; at++) {
		if (at < cgp->cg_nclusterblks &&
		    isset(cg_clustersfree(cgp), at)) {
			run++;
			continue;
		}
		if (run > 0)
			sums[min(run, most)]++;
		run = 0;
	}
	while (most > 0 && sums[most] == 0)
		most--;
	fs->fs_maxcluster[cgp->cg_cgx] = most;
}

void
ffs_clusteracct(struct fs *fs, struct cg *cgp, ufs1_daddr_t block, int change)
{
	if (change > 0)
		setbit(cg_clustersfree(cgp), block);
	else
		clrbit(cg_clustersfree(cgp), block);
	count_clusters(fs, cgp);
}

/* What ufs_bmap.c has, for files without double indirect blocks. */
int
ufs_getlbns(struct vnode *vp, daddr_t lbn, struct indir *path, int *levels)
{
	*levels = 0;
	if (lbn < UFS_NDADDR)
		return (0);
	if (lbn - UFS_NDADDR >= NINDIR(&fs0))
		die("a double indirect block");
	path[0].in_lbn = path[1].in_lbn = -UFS_NDADDR;
	path[0].in_off = 0;
	path[1].in_off = lbn - UFS_NDADDR;
	*levels = 2;
	return (0);
}

int
scanc(u_int size, const u_char *cp, const u_char *table, int mask)
{
	const u_char *end = cp + size;

	while (cp < end && (table[*cp] & mask) == 0)
		cp++;
	return (end - cp);
}

void *
memcchr(const void *begin, int c, size_t n)
{
	const unsigned char *p = begin;

	for (; n > 0; n--, p++)
		if (*p != (unsigned char)c)
			return (__DECONST(void *, p));
	return (NULL);
}

/*
 * Locks.
 */
void
__mtx_lock_flags(volatile uintptr_t *c, int opts, const char *file, int line)
{
	if (locked)
		die("the mount is locked twice");
	locked = 1;
}

void
__mtx_unlock_flags(volatile uintptr_t *c, int opts, const char *file, int line)
{
	if (!locked)
		die("the mount is unlocked without being locked");
	locked = 0;
}

int
_rm_rlock_debug(struct rmlock *rm, struct rm_priotracker *tracker, int trylock,
    const char *file, int line)
{
	if (reading++)
		die("a read section within another");
	return (1);
}

void
_rm_runlock_debug(struct rmlock *rm, struct rm_priotracker *tracker,
    const char *file, int line)
{
	reading--;
}

void
_rm_wlock_debug(struct rmlock *rm, const char *file, int line)
{
	if (reading)
		die("a write section within a read section");
}

void
_rm_wunlock_debug(struct rmlock *rm, const char *file, int line)
{
}

static void
waits(const char *what)
{
	if (locked || reading)
		die(what);
}

/*
 * Buffers: of groups, of indirect blocks, and of inodes and data; none of
 * them is kept.
 */
static struct buf *
buffer_of(struct vnode *vp, daddr_t lbn)
{
	struct node *node = (struct node *)vp;
	struct buf *bp = lbn < 0 ? &indirect : &data;

	bp->b_lblkno = bp->b_blkno = lbn;
	bp->b_flags = 0;
	if (lbn >= 0)
		return (bp);
	if (node->n_indirect == NULL)
		node->n_indirect = zeroed(BLOCK);
	bp->b_data = node->n_indirect;
	bp->b_bufsize = BLOCK;
	return (bp);
}

int
breadn_flags(struct vnode *vp, daddr_t blkno, daddr_t dblkno, int size,
    daddr_t *rablkno, int *rabsize, int cnt, struct ucred *cred, int flags,
    void (*ckhash)(struct buf *), struct buf **bpp)
{
	int cg;

	waits("a group is read with a lock held");
#ifdef PATCHED
	if (swapping) {
		swapping = 0;
		(void)ffs_hint_set(&mount0, swapped.r_mode ? &swapped : NULL);
	}
#endif
	if (vp == &snapshot) {
		cg = dtog(&fs0, blkstofrags(&fs0, dblkno));
		memcpy(snapshot_group, groups[cg], BLOCK);
		snapshot_buffer.b_data = snapshot_group;
		*bpp = &snapshot_buffer;
		return (0);
	}
	if (vp != &device) {
		*bpp = buffer_of(vp, blkno);
		return (0);
	}
	for (cg = 0; cg < GROUPS; cg++)
		if (fsbtodb(&fs0, cgtod(&fs0, cg)) == dblkno)
			break;
	if (cg == GROUPS || busy[cg])
		die(cg == GROUPS ? "no such group" : "a group is locked twice");
	busy[cg] = 1;
	buffers[cg].b_data = groups[cg];
	*bpp = &buffers[cg];
	return (0);
}

static void
release(struct buf *bp)
{
	if (bp < buffers || bp >= buffers + GROUPS)
		return;
	if (!busy[bp - buffers])
		die("a group is released twice");
	busy[bp - buffers] = 0;
}

void
bdwrite(struct buf *bp)
{
	waits("a buffer is written with a lock held");
	release(bp);
}

void
brelse(struct buf *bp)
{
	release(bp);
}

void
bqrelse(struct buf *bp)
{
	release(bp);
}

struct buf *
getblk(struct vnode *vp, daddr_t blkno, int size, int slpflag, int slptimeo,
    int flags)
{
	static char zeros[BLOCK];
	static struct buf inodes = { .b_data = zeros };

	waits("a block is fetched with a lock held");
	if (vp == &device)
		return (&inodes);
	return ((flags & GB_NOCREAT) != 0 ? NULL : buffer_of(vp, blkno));
}

/* Of a new block: nothing leads on from it. */
void
vfs_bio_clrbuf(struct buf *bp)
{
	if (bp == &indirect)
		bzero(bp->b_data, BLOCK);
}

void
babarrierwrite(struct buf *bp)
{
	waits("a block of inodes is written with a lock held");
}

/*
 * The rest of the kernel.
 */
static void
reset(struct node *node)
{
	char *block = node->n_indirect;

	bzero(node, sizeof(*node));
	node->n_indirect = block;
}

int
ffs_vgetf(struct mount *mp, ino_t ino, int flags, struct vnode **vpp, int more)
{
	struct node *node = &nodes[ino];

	waits("a vnode is fetched with a lock held");
	reset(node);
	node->n_vnode.v_mount = &mount0;
	node->n_vnode.v_data = &node->n_inode;
	node->n_inode.i_vnode = &node->n_vnode;
	node->n_inode.i_number = ino;
	node->n_inode.i_ump = &ump0;
	node->n_inode.i_nextclustercg = -1;
	if (ufs2) {
		node->n_inode.i_din2 = &node->n_dinode.d2;
		node->n_inode.i_flag |= IN_UFS2;
	} else
		node->n_inode.i_din1 = &node->n_dinode.d1;
	*vpp = &node->n_vnode;
	return (0);
}

uint32_t
arc4random(void)
{
	return (draw());
}

void
panic(const char *format, ...)
{
	die(format);
	for (;;)
		;
}

int
uprintf(const char *format, ...)
{
	return (0);
}

int
ppsratecheck(struct timeval *last, int *current, int most)
{
	return (0);
}

int
priv_check_cred(struct ucred *cred, int priv)
{
	return (0);
}

int
softdep_request_cleanup(struct fs *fs, struct vnode *vp, struct ucred *cred,
    int resource)
{
	return (0);
}

int
ffs_fsfail_cleanup_locked(struct ufsmount *ump, int error)
{
	return (0);
}

/* A snapshot that wants each third block keeps it from being free. */
int
ffs_snapblkfree(struct fs *fs, struct vnode *vp, ufs2_daddr_t bno, long size,
    ino_t ino, __enum_uint8(vtype) type, struct workhead *head)
{
	waits("a snapshot is asked with a lock held");
	claimed = wanting && size == BLOCK && ++claims % 3 == 0;
	return (claimed);
}

/* Blocks of all files together may be so many sectors, unless that is 0. */
int
chkdq(struct inode *ip, ufs2_daddr_t change, struct ucred *cred, int flags)
{
	waits("a quota is checked with a lock held");
	if (change > 0 && quota_limit != 0 &&
	    quota_used + change > quota_limit && (flags & FORCE) == 0)
		return (EDQUOT);
	quota_used += change;
	return (0);
}

void
vn_seqc_write_begin(struct vnode *vp)
{
	waits("a vnode is changed with a lock held");
}

void
vn_seqc_write_end(struct vnode *vp)
{
}

int
ffs_syncvnode(struct vnode *vp, int wait, int flags)
{
	waits("a file is synced with a lock held");
	return (0);
}

/*
 * Soft updates: what waits for a group's maps to be on disk, whose buffer is
 * held.
 */
#ifdef RELEASE_13
#define	FAILED		/* not yet known whether the group could be read */
#else
#define	FAILED	, bool failed
#endif

static void
held(struct buf *bp, int cg)
{
	if (bp != &buffers[cg] || !busy[cg])
		die("a dependency is set up without the group's buffer");
}

void
softdep_setup_inomapdep(struct buf *bp, struct inode *ip, ino_t ino, int mode)
{
	held(bp, ino_to_cg(&fs0, ino));
	depends(1, ino, 1);
}

void
softdep_setup_blkmapdep(struct buf *bp, struct mount *mp, ufs2_daddr_t bno,
    int frags, int before)
{
	held(bp, dtog(&fs0, bno));
	depends(0, bno + before, frags - before);
}

void
softdep_setup_blkfree(struct mount *mp, struct buf *bp, ufs2_daddr_t bno,
    int frags, struct workhead *head FAILED)
{
	held(bp, dtog(&fs0, bno));
}

void
softdep_setup_inofree(struct mount *mp, struct buf *bp, ino_t ino,
    struct workhead *head FAILED)
{
	held(bp, ino_to_cg(&fs0, ino));
}

/* What the inode and indirect blocks wait for, crash.c finds in them. */
void
softdep_setup_allocdirect(struct inode *ip, ufs_lbn_t lbn, ufs2_daddr_t new,
    ufs2_daddr_t old, long size, long before, struct buf *bp)
{
}

void
softdep_setup_allocindir_meta(struct buf *new, struct inode *ip, struct buf *bp,
    int at, ufs2_daddr_t bno)
{
}

void
softdep_setup_allocindir_page(struct inode *ip, ufs_lbn_t lbn, struct buf *bp,
    int at, ufs2_daddr_t new, ufs2_daddr_t old, struct buf *page)
{
}

void
vfs_timestamp(struct timespec *when)
{
	when->tv_sec = when->tv_nsec = 0;
}

void
vlazy(struct vnode *vp)
{
}

int
allocbuf(struct buf *bp, int size)
{
	return (1);
}

void
vfs_bio_bzero_buf(struct buf *bp, int base, int size)
{
}

/*
 * A file system without files, but for the root directory.
 */
static void
make_superblock(void)
{
	fs0.fs_magic = ufs2 ? FS_UFS2_MAGIC : FS_UFS1_MAGIC;
	fs0.fs_bsize = BLOCK;
	fs0.fs_fsize = FRAGMENT;
	fs0.fs_frag = 8;
	fs0.fs_bshift = __builtin_ctz(BLOCK);
	fs0.fs_fshift = __builtin_ctz(FRAGMENT);
	fs0.fs_fragshift = 3;
	fs0.fs_bmask = -BLOCK;
	fs0.fs_fmask = -FRAGMENT;
	fs0.fs_qbmask = BLOCK - 1;
	fs0.fs_qfmask = FRAGMENT - 1;
	fs0.fs_ncg = GROUPS;
	fs0.fs_fpg = FPG;
	fs0.fs_ipg = IPG;
	fs0.fs_size = GROUPS * FPG;
	fs0.fs_old_size = fs0.fs_size;
	fs0.fs_inopb = BLOCK / (ufs2 ? 256 : 128);
	fs0.fs_sblkno = roundup(howmany((ufs2 ? 65536 : 8192) + SBLOCKSIZE,
	    FRAGMENT), 8);
	fs0.fs_cblkno = fs0.fs_sblkno + 8;
	fs0.fs_iblkno = fs0.fs_cblkno + 8;
	fs0.fs_dblkno = fs0.fs_iblkno + IPG / fs0.fs_inopb * 8;
	fs0.fs_metaspace = METASPACE;
	fs0.fs_cssize = FRAGMENT;
	fs0.fs_csaddr = fs0.fs_dblkno;
	fs0.fs_old_csaddr = fs0.fs_dblkno;
	fs0.fs_old_cgmask = 0xffffffff;
	fs0.fs_fsbtodb = __builtin_ctz(FRAGMENT / 512);
	fs0.fs_nindir = BLOCK / (ufs2 ? 8 : 4);
	fs0.fs_maxbpg = fs0.fs_nindir;
	fs0.fs_minfree = 8;
	fs0.fs_avgfilesize = 16384;
	fs0.fs_avgfpdir = 64;
	fs0.fs_cgsize = BLOCK;
	fs0.fs_contigsumsize = CLUSTER;
	fs0.fs_maxfilesize = (uint64_t)(UFS_NDADDR + fs0.fs_nindir) * BLOCK;
	fs0.fs_si = &summary;
	summary.si_csp = counts;
	summary.si_contigdirs = contigdirs;
	summary.si_maxcluster = maxcluster;
}

int
is_metadata(int cg, int at)
{
	return (cg == 0 ? at <= fs0.fs_dblkno :
	    at >= fs0.fs_sblkno && at < fs0.fs_dblkno);
}

/* What the maps of a group say. */
static void
count(struct cg *cgp, struct csum *found, int32_t *frsum)
{
	int i, map;

	found->cs_nbfree = found->cs_nffree = found->cs_nifree = 0;
	for (i = 0; i < FPG / 8; i++) {
		map = cg_blksfree(cgp)[i];
		ffs_fragacct(&fs0, map, frsum, 1);
		if (map == 0xff)
			found->cs_nbfree++;
		else
			found->cs_nffree += __builtin_popcount(map);
	}
	for (i = 0; i < IPG; i++)
		found->cs_nifree += isclr(cg_inosused(cgp), i) ? 1 : 0;
}

static void
make_group(int cg)
{
	struct cg *cgp = (struct cg *)(groups[cg] = zeroed(BLOCK));
	int i;

	cgp->cg_magic = CG_MAGIC;
	cgp->cg_cgx = cg;
	cgp->cg_ndblk = FPG;
	cgp->cg_niblk = IPG;
	cgp->cg_initediblk = ufs2 ? 2 * fs0.fs_inopb : IPG;
	cgp->cg_iusedoff = sizeof(*cgp);
	cgp->cg_freeoff = sizeof(*cgp) + IPG / 8;
	cgp->cg_clustersumoff = roundup(cgp->cg_freeoff + howmany(FPG, 8),
	    sizeof(int32_t));
	cgp->cg_clusteroff = cgp->cg_clustersumoff +
	    (CLUSTER + 1) * sizeof(int32_t);
	cgp->cg_nclusterblks = FPG / 8;
	for (i = 0; i < FPG; i++)
		if (!is_metadata(cg, i))
			setbit(cg_blksfree(cgp), i);
	for (i = 0; i < FPG / 8; i++)
		if (cg_blksfree(cgp)[i] == 0xff)
			setbit(cg_clustersfree(cgp), i);
	count_clusters(&fs0, cgp);
	for (i = 0; cg == 0 && i <= ROOT; i++)
		setbit(cg_inosused(cgp), i);
	count(cgp, &cgp->cg_cs, (int32_t *)cgp->cg_frsum);
	counts[cg] = cgp->cg_cs;
	fs0.fs_cstotal.cs_nbfree += cgp->cg_cs.cs_nbfree;
	fs0.fs_cstotal.cs_nffree += cgp->cg_cs.cs_nffree;
	fs0.fs_cstotal.cs_nifree += cgp->cg_cs.cs_nifree;
	fs0.fs_dsize += cgp->cg_cs.cs_nbfree * 8 + cgp->cg_cs.cs_nffree;
	if (cg == 0)
		fs0.fs_cstotal.cs_ndir = counts[cg].cs_ndir = cgp->cg_cs.cs_ndir = 1;
}

void
make(int version)
{
	struct vnode *root;
	int cg;

	ufs2 = version == 2;
	processor[0] = &running;
	make_lengths();
	make_superblock();
	snapshot_group = zeroed(BLOCK);
	for (cg = 0; cg < GROUPS; cg++)
		make_group(cg);
	strcpy(vfsconf0.vfc_name, "ufs");
	mount0.mnt_vfc = &vfsconf0;
	mount0.mnt_data = &ump0;
	mount0.mnt_kern_flag = MNTK_ASYNC;
	ump0.um_mountp = &mount0;
	ump0.um_fs = &fs0;
	ump0.um_devvp = &device;
	ump0.um_fstype = ufs2 ? UFS2 : UFS1;
	device.v_type = VCHR;
	device.v_rdev = &disk;
	disk.si_mountpt = &mount0;
	(void)ffs_vgetf(&mount0, ROOT, 0, &root, 0);
	VTOI(root)->i_mode = IFDIR;
	VTOI(root)->i_effnlink = 2;
	root->v_vflag = VV_ROOT;
}

/*
 * Hints. Those of files that begin with an h are hot.
 */
#ifdef PATCHED
static int
ask(const struct ffs_create *create)
{
	if (reading != 1 || locked)
		die("asked without the read section, or with the mount locked");
	return (create->c_name[0] == 'h');
}

static void
on_outcome(enum ffs_hint_outcome outcome)
{
	if (reading != 1)
		die("outcome without the read section");
	outcomes[outcome]++;
}

static const struct ffs_hint_ops ops = { ask, on_outcome };

int
hook(int on)
{
	if (on)
		return (ffs_hint_register(&ops));
	ffs_hint_unregister(&ops);
	return (0);
}

int
set_region(unsigned long start, unsigned long length, unsigned inodes, int mode)
{
	int error;

	bzero(&swapped, sizeof(swapped));
	if (length != 0) {
		error = ffs_hint_find(&mount0, start, length, inodes, &swapped);
		if (error != 0)
			return (error);
		swapped.r_mode = mode;
		swapped.r_blocks = HOT_BLOCKS;
	}
	return (ffs_hint_set(&mount0, length != 0 ? &swapped : NULL));
}

/* At the next wait the region is put away, or back. */
void
swap_region(int back)
{
	if (!back)
		swapped.r_mode = FFS_REGION_NONE;
	swapping = 1;
}

int
in_region(long ino, long fragment)
{
	const struct ffs_region *region = &ump0.um_region;

	return (ino >= 0 ? ffs_region_has_inode(region, ino) :
	    ffs_region_has_frag(region, fragment));
}
#else
int
hook(int on)
{
	return (0);
}

int
set_region(unsigned long start, unsigned long length, unsigned inodes, int mode)
{
	return (0);
}

void
swap_region(int back)
{
}

int
in_region(long ino, long fragment)
{
	return (0);
}
#endif

/* As if the vnode had been needed for another file, and came back. */
void
forget(long ino)
{
	nodes[ino].n_inode.i_flag &= IN_UFS2;
}

/* What a recording tells of a group, and the optimization. */
int
tell(int cg, long *state)
{
	const struct cg *cgp = (struct cg *)groups[cg];

	state[0] = cgp->cg_cs.cs_ndir;
	state[1] = cgp->cg_cs.cs_nbfree;
	state[2] = cgp->cg_cs.cs_nifree;
	state[3] = cgp->cg_cs.cs_nffree;
	state[4] = cgp->cg_rotor;
	state[5] = cgp->cg_frotor;
	state[6] = cgp->cg_irotor;
	state[7] = contigdirs[cg];
	state[8] = cgp->cg_initediblk;
	return (fs0.fs_optim);
}

/*
 * Operations. They give an inode or an address, or an error below 0.
 */
long
create(long parent, int directory, int hot)
{
	struct vnode *dvp = &nodes[parent].n_vnode, *vp;
	int error, mode = directory ? IFDIR | 0755 : IFREG | 0644;
#ifdef PATCHED
	struct componentname cn = {
		.cn_nameptr = hot ? "hot" : "cold",
		.cn_namelen = 3,
		.cn_cred = &cred0
	};

	mode = ffs_hint_mode(dvp, &cn, mode);
#endif
	error = ffs_valloc(dvp, mode, &cred0, &vp);
	waits("a lock is kept");
	if (error != 0)
		return (-error);
	VTOI(vp)->i_mode = directory ? IFDIR : IFREG;
	VTOI(vp)->i_effnlink = directory ? 2 : 1;
	VTOI(dvp)->i_effnlink += directory;
	return (VTOI(vp)->i_number);
}

/*
 * Gives a file's last block so many bytes, its fragments before being where they
 * are or elsewhere.
 */
long
extend(long ino, long lbn, int size)
{
	struct vnode *vp = &nodes[ino].n_vnode;
	struct inode *ip = &nodes[ino].n_inode;
	struct buf *bp;
	int error;

	error = (ufs2 ? ffs_balloc_ufs2 : ffs_balloc_ufs1)(vp, lbn * BLOCK,
	    size, &cred0, 0, &bp);
	waits("a lock is kept");
	if (error != 0)
		return (-error);
	ip->i_size = lbn * BLOCK + size;
	DIP_SET(ip, i_size, ip->i_size);
	return (dbtofsb(&fs0, bp->b_blkno));
}

/* Where a file's block is; 0: nowhere. The indirect block is block -1. */
long
address(long ino, long lbn)
{
	struct node *node = &nodes[ino];
	struct inode *ip = &node->n_inode;

	if (lbn < UFS_NDADDR)
		return (lbn < 0 ? DIP(ip, i_ib[0]) : DIP(ip, i_db[lbn]));
	if (DIP(ip, i_ib[0]) == 0)
		return (0);
	lbn -= UFS_NDADDR;
	return (ufs2 ? ((ufs2_daddr_t *)node->n_indirect)[lbn] :
	    ((ufs1_daddr_t *)node->n_indirect)[lbn]);
}

/* Moves blocks just written to where as many are free in a row. */
int
cluster(long ino, long lbn, int blocks)
{
	static struct buf written[CLUSTER], *children[CLUSTER];
	struct cluster_save list = {
		.bs_nchildren = blocks,
		.bs_children = children
	};
	struct vop_reallocblks_args args = {
		.a_vp = &nodes[ino].n_vnode,
		.a_buflist = &list
	};
	int error, i;

	for (i = 0; i < blocks; i++) {
		children[i] = &written[i];
		written[i].b_lblkno = lbn + i;
		written[i].b_blkno = fsbtodb(&fs0, address(ino, lbn + i));
	}
	error = ffs_reallocblks(&args);
	waits("a lock is kept");
	return (error == 0);
}

/* Frees a file's fragments; not if a snapshot wants them. */
int
shrink(long ino, long bno, int size)
{
	struct inode *ip = &nodes[ino].n_inode;

	claimed = 0;
	wanting = 1;
	ffs_blkfree(&ump0, &fs0, &device, bno, size, ino, VREG, NULL,
	    NOTRIM_KEY);
	wanting = 0;
	waits("a lock is kept");
	DIP_SET(ip, i_blocks, DIP(ip, i_blocks) - btodb(size));
	(void)chkdq(ip, -btodb(size), &cred0, 0);
	return (claimed);
}

/* Frees what a file has got others for: it has no less than before. */
void
discard(long ino, long bno, int size)
{
	ffs_blkfree(&ump0, &fs0, &device, bno, size, ino, VREG, NULL,
	    NOTRIM_KEY);
	waits("a lock is kept");
}

void
drop(long ino, long parent, int directory)
{
	nodes[parent].n_inode.i_effnlink -= directory;
	(void)ffs_freefile(&ump0, &fs0, &device, ino,
	    directory ? IFDIR : IFREG, NULL);
	waits("a lock is kept");
}

/* Files may have no more blocks than now, but for so many sectors; or as many. */
void
set_quota(int limited, long more)
{
	quota_limit = limited ? quota_used + more : 0;
}

/* From now on a snapshot wants blocks that are freed. */
void
take_snapshot(void)
{
	device.v_vflag |= VV_COPYONWRITE;
}

/* Takes a file out of a snapshot's view of the groups, which is its own. */
void
expunge(long ino, long bno, int size)
{
	snapshot_fs = fs0;
	snapshot_fs.fs_si = &snapshot_summary;
	snapshot_summary = summary;
	memcpy(snapshot_counts, counts, sizeof(counts));
	snapshot_summary.si_csp = snapshot_counts;
	snapshot.v_type = VREG;
	snapshot.v_mount = &mount0;
	if (size > 0)
		ffs_blkfree(&ump0, &snapshot_fs, &snapshot, bno, size, ino,
		    VREG, NULL, NOTRIM_KEY);
	(void)ffs_freefile(&ump0, &snapshot_fs, &snapshot, ino, IFREG, NULL);
	waits("a lock is kept");
}

/* Soft updates, from now on. */
void
soft_updates(void (*callback)(int, long, int))
{
	depends = callback;
	mount0.mnt_flag |= MNT_SOFTDEP;
}

/*
 * Whether the region has a free inode, or so many free fragments of one block: by
 * a plain search.
 */
int
has_room(int inode, int wanted)
{
#ifdef PATCHED
	const struct ffs_region *region = &ump0.um_region;
	const struct ffs_range *range = inode ? &region->r_inodes :
	    &region->r_frags;
	long first = (long)region->r_cg * (inode ? IPG : FPG);
	uint32_t at;
	int run = 0;

	for (at = range->lo; at < range->hi; at++) {
		run = at % 8 == 0 || inode ? 0 : run;
		run += !taken(inode, first + at);
		if (run > 0 && taken(inode, first + at))
			run = 0;
		if (run == wanted)
			return (1);
	}
#endif
	return (0);
}

/* What is taken of the region, as the module asks. */
void
region_used(unsigned long *inodes, unsigned long *fragments)
{
#ifdef PATCHED
	(void)ffs_hint_used(&mount0, &ump0.um_region, inodes, fragments);
#endif
}

/* The superblock (0), or the first group's maps: with where on disk, and how long. */
const void *
on_disk(int maps, unsigned long *place, unsigned long *size)
{
	*place = maps ? cgtod(&fs0, 0) * FRAGMENT :
	    ufs2 ? SBLOCK_UFS2 : SBLOCK_UFS1;
	*size = maps ? BLOCK : sizeof(fs0);
	return (maps ? (void *)groups[0] : (void *)&fs0);
}

/* A group's maps: whether an inode, or a fragment, is taken. */
int
taken(int inode, long at)
{
	struct cg *cgp;

	if (inode) {
		cgp = (struct cg *)groups[at / IPG];
		return (!isclr(cg_inosused(cgp), at % IPG));
	}
	cgp = (struct cg *)groups[at / FPG];
	return (isclr(cg_blksfree(cgp), at % FPG));
}

/*
 * Dies unless the maps are as the owners of inodes and fragments say, and all
 * counts as the maps.
 */
static void
check_group(int cg, const unsigned char *fragments, const unsigned char *inodes,
    struct csum *total)
{
	struct cg *cgp = (struct cg *)groups[cg];
	struct csum found = { .cs_ndir = cgp->cg_cs.cs_ndir };
	int32_t frsum[8] = { 0 };
	int i;

	if (busy[cg])
		die("a group is kept");
	for (i = 0; i < IPG; i++)
		if (!isclr(cg_inosused(cgp), i) != (inodes[i] != 0))
			die("the map of inodes is wrong");
	for (i = 0; i < FPG; i++)
		if (!isset(cg_blksfree(cgp), i) !=
		    (is_metadata(cg, i) || fragments[i] != 0))
			die("the map of fragments is wrong");
	count(cgp, &found, frsum);
	for (i = 0; i < FPG / 8; i++)
		if (!isset(cg_clustersfree(cgp), i) !=
		    (cg_blksfree(cgp)[i] != 0xff))
			die("the map of clusters is wrong");
	if (bcmp(&frsum[1], &cgp->cg_frsum[1], 7 * sizeof(frsum[0])) != 0 ||
	    bcmp(&found, &cgp->cg_cs, sizeof(found)) != 0 ||
	    bcmp(&found, &counts[cg], sizeof(found)) != 0)
		die("the counts of a group are wrong");
	total->cs_nbfree += found.cs_nbfree;
	total->cs_nffree += found.cs_nffree;
	total->cs_nifree += found.cs_nifree;
}

/* Dies unless the free inodes of the region are as many as it says. */
static void
check_region(void)
{
#ifdef PATCHED
	const struct ffs_region *region = &ump0.um_region;
	uint32_t i, found = 0;

	for (i = region->r_inodes.lo; i < region->r_inodes.hi; i++)
		found += isclr(cg_inosused((struct cg *)groups[region->r_cg]),
		    i) ? 1 : 0;
	if (found != region->r_free)
		die("the count of the region's free inodes is wrong");
#endif
}

/* Dies unless files have as many sectors as the quota counts. */
static void
check_quota(void)
{
	long sectors = 0;
	int ino;

	for (ino = 0; ino < GROUPS * IPG; ino++)
		if (nodes[ino].n_inode.i_ump != NULL)
			sectors += DIP(&nodes[ino].n_inode, i_blocks);
	if (sectors != quota_used)
		die("the quota is not what files have");
}

void
check(const unsigned char *fragments, const unsigned char *inodes)
{
	struct csum total = { .cs_ndir = fs0.fs_cstotal.cs_ndir };
	int cg;

	check_region();
	check_quota();
	for (cg = 0; cg < GROUPS; cg++)
		check_group(cg, fragments + cg * FPG, inodes + cg * IPG,
		    &total);
	if (total.cs_nbfree != fs0.fs_cstotal.cs_nbfree ||
	    total.cs_nffree != fs0.fs_cstotal.cs_nffree ||
	    total.cs_nifree != fs0.fs_cstotal.cs_nifree)
		die("the counts of all groups are wrong");
}
