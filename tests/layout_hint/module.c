/*
 * The module's settings, with a kernel of a few lines around them: compiled with
 * the kernel's headers and linked to a program that says what it found wrong. One
 * file system comes and goes; it must not be busied twice at a time, for an
 * unmount may wait in between.
 */
#include "birthmark_sysctl.c"

#define	CHECK(what)							\
	do {								\
		if (!(what)) {						\
			printf("line %d: not so: %s\n", __LINE__, #what); \
			wrong = 1;					\
		}							\
	} while (0)

struct birthmark_softc birthmark;
static struct mount mount0;
static struct ffs_region in_effect;
static int wrong, mounted, busies, finds, leaves_after, unreadable, wanted;

struct mount *
vfs_busyfs(fsid_t *fsid)
{

	if (!mounted || fsid->val[0] != mount0.mnt_stat.f_fsid.val[0])
		return (NULL);
	CHECK(busies == 0);
	busies++;
	return (&mount0);
}

void
vfs_unbusy(struct mount *mp)
{

	busies--;
	if (leaves_after != 0 && --leaves_after == 0)
		mounted = 0;
}

int
ffs_hint_find(struct mount *mp, uint64_t start, uint64_t length,
    uint32_t inodes, struct ffs_region *region)
{

	finds++;
	if (start != 0)
		return (EINVAL);
	bzero(region, sizeof(*region));
	region->r_ipg = region->r_fpg = 1000;
	region->r_inodes.hi = inodes;
	region->r_frags.hi = (uint32_t)length;
	return (0);
}

int
ffs_hint_set(struct mount *mp, const struct ffs_region *region)
{

	CHECK(busies == 1);
	if (unreadable)
		return (EIO);
	bzero(&in_effect, sizeof(in_effect));
	if (region != NULL)
		in_effect = *region;
	return (0);
}

int
ffs_hint_used(struct mount *mp, const struct ffs_region *region,
    uint64_t *inodes, uint64_t *frags)
{

	*inodes = *frags = 1;
	return (0);
}

int
sysctl_handle_int(SYSCTL_HANDLER_ARGS)
{

	*(int *)arg1 = wanted;
	return (0);
}

int
sysctl_handle_64(SYSCTL_HANDLER_ARGS)
{

	return (0);
}

void
_rm_wlock_debug(struct rmlock *rm, const char *file, int line)
{
}

void
_rm_wunlock_debug(struct rmlock *rm, const char *file, int line)
{
}

int
_sx_xlock(struct sx *sx, int options, const char *file, int line)
{

	return (0);
}

void
_sx_xunlock(struct sx *sx, const char *file, int line)
{
}

static int
enable(int on)
{
	struct sysctl_req req = { .newptr = &req };

	wanted = on;
	return (birthmark_sysctl_enable(NULL, NULL, 0, &req));
}

static int
configure(uint64_t length)
{
	struct bm_config config = {
		.version = BM_HINT_VERSION,
		.mode = BM_MODE_QUERY,
		.policy = BM_HOT_ALL,
		.region_mode = BM_REGION_DATA,
		.region_length = length,
		.region_inodes = 10,
		.fsid = { 7, 0 }
	};

	return (birthmark_config(&birthmark, &config));
}

int
main(void)
{
	const struct bm_config *config = &birthmark.sc_hook.config;

	bm_hook_init(&birthmark.sc_hook);
	birthmark.sc_enable = 1;
	mount0.mnt_stat.f_fsid.val[0] = 7;
	mounted = 1;
	CHECK(configure(100) == 0);
	CHECK(in_effect.r_mode == FFS_REGION_DATA);
	CHECK(in_effect.r_frags.hi == 100 && in_effect.r_inodes.hi == 10);
	CHECK(in_effect.r_blocks == BM_HOT_BLOCKS);

	/* Settings for the file system that has it already. */
	CHECK(configure(200) == 0);
	CHECK(in_effect.r_frags.hi == 200 && config->region_length == 200);

	/* Out of effect, and again. */
	CHECK(enable(0) == 0);
	CHECK(in_effect.r_mode == FFS_REGION_NONE && !birthmark.sc_enable);
	CHECK(enable(1) == 0);
	CHECK(in_effect.r_mode == FFS_REGION_DATA && birthmark.sc_enable);

	/* Without the file system nothing that is refused is taken. */
	CHECK(enable(0) == 0);
	mounted = 0;
	CHECK(enable(1) == ENOENT);
	CHECK(!birthmark.sc_enable);
	CHECK(configure(300) == ENOENT);
	CHECK(config->region_length == 200);

	/* Nor if its maps cannot be read. */
	mounted = 1;
	CHECK(enable(1) == 0);
	unreadable = 1;
	CHECK(configure(300) == EIO);
	CHECK(config->region_length == 200 && in_effect.r_frags.hi == 200);
	unreadable = 0;

	/* Nor if it goes while they are taken. */
	leaves_after = 1;
	CHECK(configure(300) == ENOENT);
	CHECK(config->region_length == 200);
	CHECK(birthmark.sc_hook.region.mode == BM_REGION_DATA);

	CHECK(busies == 0 && finds > 0);
	return (wrong);
}
