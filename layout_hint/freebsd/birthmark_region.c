/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The module birthmark: the region. It is in effect on one file system while
 * that is mounted, there is a model, and it is enabled; else FFS is as if there
 * were no module.
 */
#include "birthmark_var.h"

/* Records in the books where the region is, and its use. */
static void
birthmark_books(struct birthmark_softc *sc, uint64_t inodes, uint64_t frags)
{
	const struct ffs_region *region = &sc->sc_region;
	struct bm_region books;
	uint64_t frag;
	uint32_t inode;

	bzero(&books, sizeof(books));
	if (sc->sc_armed) {
		books.mode = region->r_mode;
		books.cg = region->r_cg;
		inode = region->r_cg * region->r_ipg;
		books.inode_low = inode + region->r_inodes.lo;
		books.inode_high = inode + region->r_inodes.hi;
		frag = (uint64_t)region->r_cg * region->r_fpg;
		books.fragment_low = frag + region->r_frags.lo;
		books.fragment_high = frag + region->r_frags.hi;
		books.inodes_used = inodes;
		books.fragments_used = frags;
	}
	rm_wlock(&sc->sc_settings);
	bm_hook_region(&sc->sc_hook, &books);
	rm_wunlock(&sc->sc_settings);
}

void
birthmark_disarm(struct birthmark_softc *sc)
{
	struct mount *mp;

	sx_assert(&sc->sc_writer, SA_XLOCKED);
	if (!sc->sc_armed)
		return;
	sc->sc_armed = 0;
	mp = vfs_busyfs(&sc->sc_fsid);
	if (mp != NULL) {
		(void)ffs_hint_set(mp, NULL);
		vfs_unbusy(mp);
	}
	birthmark_books(sc, 0, 0);
}

/* Whether there is a source of verdicts, and a region for hot files. */
static int
birthmark_wanted(struct birthmark_softc *sc, const struct bm_config *config,
    int enable)
{

	if (!enable || sc->sc_gone || config->region_length == 0)
		return (0);
	return (config->mode == BM_MODE_QUERY ||
	    (config->mode == BM_MODE_TABLE &&
	    sc->sc_hook.slot.image != NULL));
}

static int
birthmark_find(const struct bm_config *config, struct mount **mpp,
    struct ffs_region *region)
{
	fsid_t fsid;
	int error;

	fsid.val[0] = config->fsid[0];
	fsid.val[1] = config->fsid[1];
	*mpp = vfs_busyfs(&fsid);
	if (*mpp == NULL)
		return (ENOENT);
	error = ffs_hint_find(*mpp, config->region_start,
	    config->region_length, config->region_inodes, region);
	if (error != 0) {
		vfs_unbusy(*mpp);
		return (error);
	}
	region->r_mode = config->region_mode;
	region->r_blocks = config->hot_blocks != 0 ? config->hot_blocks :
	    BM_HOT_BLOCKS;
	return (0);
}

/* Accepts settings that bm_config_error() accepts. */
static void
birthmark_configure(struct birthmark_softc *sc, const struct bm_config *config,
    int enable)
{

	rm_wlock(&sc->sc_settings);
	(void)bm_hook_configure(&sc->sc_hook, config);
	rm_wunlock(&sc->sc_settings);
	sc->sc_enable = enable;
}

/*
 * Accepts settings, and enables or disables the region accordingly; or changes
 * nothing, and reports why there can be no such region now.
 */
int
birthmark_apply(struct birthmark_softc *sc, const struct bm_config *config,
    int enable)
{
	struct bm_config accepted = *config;
	struct ffs_region region;
	struct mount *mp = NULL;
	uint64_t inodes = 0, frags = 0;
	int error;

	sx_assert(&sc->sc_writer, SA_XLOCKED);
	if (birthmark_wanted(sc, &accepted, enable)) {
		error = birthmark_find(&accepted, &mp, &region);
		if (error != 0)
			return (error);
		error = ffs_hint_set(mp, &region);
		if (error != 0) {
			vfs_unbusy(mp);
			return (error);
		}
	}
	/* A mount must not be busied twice: an unmount may wait in between. */
	if (mp == NULL || fsidcmp(&sc->sc_fsid, &mp->mnt_stat.f_fsid) != 0)
		birthmark_disarm(sc);
	birthmark_configure(sc, &accepted, enable);
	if (mp == NULL)
		return (0);
	sc->sc_region = region;
	sc->sc_fsid = mp->mnt_stat.f_fsid;
	sc->sc_armed = 1;
	(void)ffs_hint_used(mp, &region, &inodes, &frags);
	vfs_unbusy(mp);
	birthmark_books(sc, inodes, frags);
	return (0);
}

/* Brings the books up to date with the maps on disk. */
void
birthmark_used(struct birthmark_softc *sc)
{
	struct mount *mp;
	uint64_t inodes, frags;

	sx_assert(&sc->sc_writer, SA_XLOCKED);
	if (!sc->sc_armed)
		return;
	mp = vfs_busyfs(&sc->sc_fsid);
	if (mp == NULL)
		return;
	if (ffs_hint_used(mp, &sc->sc_region, &inodes, &frags) == 0)
		birthmark_books(sc, inodes, frags);
	vfs_unbusy(mp);
}

/*
 * Accepts settings, all or none. The region is computed even if it is not
 * enabled yet, so that an impossible one is refused now.
 */
int
birthmark_config(struct birthmark_softc *sc, const struct bm_config *config)
{
	struct ffs_region region;
	struct mount *mp;
	int error = 0;

	if (bm_config_error(config) != NULL)
		return (EINVAL);
	sx_xlock(&sc->sc_writer);
	if (config->region_length != 0) {
		error = birthmark_find(config, &mp, &region);
		if (error == 0)
			vfs_unbusy(mp);
	}
	if (error == 0)
		error = birthmark_apply(sc, config, sc->sc_enable);
	sx_xunlock(&sc->sc_writer);
	return (error);
}
