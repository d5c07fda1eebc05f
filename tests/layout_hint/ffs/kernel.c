/*
 * The kernel around FFS's allocator, for patched.py: compiled with the kernel's
 * headers, and linked with ffs_alloc.c, patched or not, and driver.c or setup.c
 * to a program. A file system of a few groups is held in memory. It dies where
 * the kernel would hang or panic: on a lock taken twice or not given back, and
 * on a wait with one held.
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
static int busy[GROUPS], locked, reading, ufs2;
#ifdef PATCHED
static struct ffs_region swapped;	/* comes into effect at a wait, if wanted */
static int swapping;
#endif

/*
 * What ffs_subr.c and ffs_tables.c have, for blocks of eight fragments, and
 * without clusters.
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

void
ffs_clusteracct(struct fs *fs, struct cg *cgp, ufs1_daddr_t block, int change)
{
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
 * Buffers: of groups, and of inodes, of which nothing is kept.
 */
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
	if (vp != &device) {
		data.b_lblkno = blkno;
		*bpp = &data;
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

struct buf *
getblk(struct vnode *vp, daddr_t blkno, int size, int slpflag, int slptimeo,
    int flags)
{
	static char zeros[BLOCK];
	static struct buf inodes = { .b_data = zeros };

	waits("a block of inodes is fetched with a lock held");
	return (&inodes);
}

void
babarrierwrite(struct buf *bp)
{
	waits("a block of inodes is written with a lock held");
}

/*
 * The rest of the kernel.
 */
int
ffs_vgetf(struct mount *mp, ino_t ino, int flags, struct vnode **vpp, int more)
{
	struct node *node = &nodes[ino];

	waits("a vnode is fetched with a lock held");
	bzero(node, sizeof(*node));
	node->n_vnode.v_mount = &mount0;
	node->n_vnode.v_data = &node->n_inode;
	node->n_inode.i_vnode = &node->n_vnode;
	node->n_inode.i_number = ino;
	node->n_inode.i_ump = &ump0;
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

int
ffs_snapblkfree(struct fs *fs, struct vnode *vp, ufs2_daddr_t bno, long size,
    ino_t ino, __enum_uint8(vtype) type, struct workhead *head)
{
	return (0);
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
	fs0.fs_qbmask = BLOCK - 1;
	fs0.fs_qfmask = FRAGMENT - 1;
	fs0.fs_ncg = GROUPS;
	fs0.fs_fpg = FPG;
	fs0.fs_ipg = IPG;
	fs0.fs_size = GROUPS * FPG;
	fs0.fs_inopb = BLOCK / (ufs2 ? 256 : 128);
	fs0.fs_sblkno = roundup(howmany((ufs2 ? 65536 : 8192) + SBLOCKSIZE,
	    FRAGMENT), 8);
	fs0.fs_cblkno = fs0.fs_sblkno + 8;
	fs0.fs_iblkno = fs0.fs_cblkno + 8;
	fs0.fs_dblkno = fs0.fs_iblkno + IPG / fs0.fs_inopb * 8;
	fs0.fs_metaspace = METASPACE;
	fs0.fs_cssize = FRAGMENT;
	fs0.fs_csaddr = fs0.fs_dblkno;
	fs0.fs_old_cgmask = 0xffffffff;
	fs0.fs_fsbtodb = __builtin_ctz(FRAGMENT / 512);
	fs0.fs_nindir = BLOCK / (ufs2 ? 8 : 4);
	fs0.fs_maxbpg = fs0.fs_nindir;
	fs0.fs_minfree = 8;
	fs0.fs_avgfilesize = 16384;
	fs0.fs_avgfpdir = 64;
	fs0.fs_cgsize = BLOCK;
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
	for (i = 0; i < FPG; i++)
		if (!is_metadata(cg, i))
			setbit(cg_blksfree(cgp), i);
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
	make_lengths();
	make_superblock();
	for (cg = 0; cg < GROUPS; cg++)
		make_group(cg);
	strcpy(vfsconf0.vfc_name, "ufs");
	mount0.mnt_vfc = &vfsconf0;
	mount0.mnt_data = &ump0;
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
told(enum ffs_hint_outcome outcome)
{
	if (reading != 1)
		die("told without the read section");
	outcomes[outcome]++;
}

static const struct ffs_hint_ops ops = { ask, told };

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

long
extend(long ino, long lbn, int size)
{
	struct inode *ip = &nodes[ino].n_inode;
	ufs2_daddr_t pref, bno;
	int error;

	mtx_lock(&ump0.um_lock);
	pref = ufs2 ? ffs_blkpref_ufs2(ip, lbn, lbn, ip->i_din2->di_db) :
	    ffs_blkpref_ufs1(ip, lbn, lbn, ip->i_din1->di_db);
	error = ffs_alloc(ip, lbn, pref, size, 0, &cred0, &bno);
	waits("a lock is kept");
	if (error != 0)
		return (-error);
	DIP_SET(ip, i_db[lbn], bno);
	return (bno);
}

/* Makes the last fragments of a file more, where they are or elsewhere. */
long
regrow(long ino, long lbn, long bno, int size, int wanted)
{
	struct inode *ip = &nodes[ino].n_inode;
	ufs2_daddr_t pref;
	struct buf *bp;
	int error;

	data.b_blkno = fsbtodb(&fs0, bno);
	data.b_flags = 0;
	mtx_lock(&ump0.um_lock);
	pref = ufs2 ? ffs_blkpref_ufs2(ip, lbn, lbn, ip->i_din2->di_db) :
	    ffs_blkpref_ufs1(ip, lbn, lbn, ip->i_din1->di_db);
	error = ffs_realloccg(ip, lbn, bno, pref, size, wanted, 0, &cred0, &bp);
	waits("a lock is kept");
	if (error != 0)
		return (-error);
	DIP_SET(ip, i_db[lbn], dbtofsb(&fs0, bp->b_blkno));
	return (dbtofsb(&fs0, bp->b_blkno));
}

void
shrink(long ino, long bno, int size)
{
	ffs_blkfree(&ump0, &fs0, &device, bno, size, ino, VREG, NULL,
	    NOTRIM_KEY);
}

void
drop(long ino, long parent, int directory)
{
	nodes[parent].n_inode.i_effnlink -= directory;
	(void)ffs_freefile(&ump0, &fs0, &device, ino,
	    directory ? IFDIR : IFREG, NULL);
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

void
check(const unsigned char *fragments, const unsigned char *inodes)
{
	struct csum total = { .cs_ndir = fs0.fs_cstotal.cs_ndir };
	int cg;

	check_region();
	for (cg = 0; cg < GROUPS; cg++)
		check_group(cg, fragments + cg * FPG, inodes + cg * IPG,
		    &total);
	if (total.cs_nbfree != fs0.fs_cstotal.cs_nbfree ||
	    total.cs_nffree != fs0.fs_cstotal.cs_nffree ||
	    total.cs_nifree != fs0.fs_cstotal.cs_nifree)
		die("the counts of all groups are wrong");
}
