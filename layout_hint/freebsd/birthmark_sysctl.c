/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The module birthmark: its books, as sysctl(8) shows them under vfs.birthmark.
 */
#include "birthmark_var.h"

#include <sys/sysctl.h>

static SYSCTL_NODE(_vfs, OID_AUTO, birthmark, CTLFLAG_RW | CTLFLAG_MPSAFE, 0,
    "Layout hints");

#define	BIRTHMARK_NODE(name, text)					\
	static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, name,		\
	    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, text)

BIRTHMARK_NODE(hinted, "Verdicts");
BIRTHMARK_NODE(placed, "Hints that were followed");
BIRTHMARK_NODE(refused, "Hints that could not be followed");
BIRTHMARK_NODE(region, "Where what is hot goes");
BIRTHMARK_NODE(cache, "Decisions of query mode");
BIRTHMARK_NODE(image, "The compiled model");

/*
 * Members of the hook, read as they are. Counters are added to atomically.
 */
#define	BIRTHMARK_U32(parent, name, member, text)			\
	SYSCTL_U32(parent, OID_AUTO, name, CTLFLAG_RD | CTLFLAG_MPSAFE,	\
	    &birthmark.sc_hook.member, 0, text)
#define	BIRTHMARK_U64(parent, name, member, text)			\
	SYSCTL_U64(parent, OID_AUTO, name, CTLFLAG_RD | CTLFLAG_MPSAFE,	\
	    &birthmark.sc_hook.member, 0, text)
#define	BIRTHMARK_COUNTER(parent, name, counter, text)			\
	BIRTHMARK_U64(parent, name, counters.counter, text)

BIRTHMARK_COUNTER(_vfs_birthmark, asked, asked, "creates");
BIRTHMARK_COUNTER(_vfs_birthmark, without_image, without_image,
    "creates in table mode without an image");
BIRTHMARK_COUNTER(_vfs_birthmark_hinted, name, hinted[0], "HotName");
BIRTHMARK_COUNTER(_vfs_birthmark_hinted, dir, hinted[1], "HotDir");
BIRTHMARK_COUNTER(_vfs_birthmark_hinted, write, hinted[2], "HotWrite");
BIRTHMARK_COUNTER(_vfs_birthmark_placed, inodes, outcomes[BM_INODE_PLACED],
    "inodes in the region");
BIRTHMARK_COUNTER(_vfs_birthmark_placed, blocks, outcomes[BM_BLOCK_PLACED],
    "blocks or fragments in the region");
BIRTHMARK_COUNTER(_vfs_birthmark_refused, no_inode, outcomes[BM_INODES_FULL],
    "no inode of the region was free");
BIRTHMARK_COUNTER(_vfs_birthmark_refused, no_block, outcomes[BM_BLOCKS_FULL],
    "no such run of fragments of the region was free");
BIRTHMARK_COUNTER(_vfs_birthmark_refused, too_large, outcomes[BM_TOO_LARGE],
    "blocks past those of a file that are placed");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, hits, cache_hits, "decision known");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, misses, cache_misses,
    "decision not known");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, waits, cache_waits,
    "asked for already");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, queued, questions_queued,
    "questions put to the helper");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, dropped, questions_dropped,
    "questions for which there was no room");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, answers, answers_taken, "answers");
BIRTHMARK_COUNTER(_vfs_birthmark_cache, stale, answers_stale,
    "answers to no question");
BIRTHMARK_COUNTER(_vfs_birthmark_image, loaded, images_loaded,
    "images taken");
BIRTHMARK_COUNTER(_vfs_birthmark_image, truncated,
    images_refused[BM_TRUNCATED], "refused: bytes were missing");
BIRTHMARK_COUNTER(_vfs_birthmark_image, no_image,
    images_refused[BM_NO_IMAGE], "refused: something else");
BIRTHMARK_COUNTER(_vfs_birthmark_image, newer, images_refused[BM_NEWER],
    "refused: a version not known here");
BIRTHMARK_COUNTER(_vfs_birthmark_image, trailing,
    images_refused[BM_TRAILING], "refused: too many bytes");
BIRTHMARK_COUNTER(_vfs_birthmark_image, checksum,
    images_refused[BM_CHECKSUM], "refused: damaged");
BIRTHMARK_COUNTER(_vfs_birthmark_image, malformed,
    images_refused[BM_MALFORMED], "refused: not as the format says");
BIRTHMARK_COUNTER(_vfs_birthmark_image, older, images_refused[BM_OLDER],
    "refused: a version no longer read here");
BIRTHMARK_COUNTER(_vfs_birthmark_image, costly, images_refused[BM_COSTLY],
    "refused: too many steps to a lookup");
BIRTHMARK_COUNTER(_vfs_birthmark_image, no_hint, images_refused[BM_NO_HINT],
    "refused: none of the three predicates");
BIRTHMARK_COUNTER(_vfs_birthmark_image, oversize,
    images_refused[BM_OVERSIZE], "refused: too large");

BIRTHMARK_U32(_vfs_birthmark, mode, config.mode, "0 off, 1 table, 2 query");
BIRTHMARK_U32(_vfs_birthmark, policy, config.policy,
    "hints that are followed: 1 HotName, 2 HotDir, 4 HotWrite");
BIRTHMARK_U32(_vfs_birthmark, hot_blocks, config.hot_blocks,
    "blocks of a hot file that are placed");
BIRTHMARK_U32(_vfs_birthmark, generation, generation,
    "grows with every load and flush");
BIRTHMARK_U32(_vfs_birthmark_image, size, slot.size,
    "bytes; 0: there is none");
BIRTHMARK_U32(_vfs_birthmark_region, cg, region.cg, "its cylinder group");
BIRTHMARK_U32(_vfs_birthmark_region, mode, region.mode,
    "0 none, 1 preferred, 2 data, 3 reserved");
BIRTHMARK_U32(_vfs_birthmark_region, inode_low, region.inode_low,
    "its first inode");
BIRTHMARK_U32(_vfs_birthmark_region, inode_high, region.inode_high,
    "the inode behind its last");
BIRTHMARK_U64(_vfs_birthmark_region, fragment_low, region.fragment_low,
    "its first fragment");
BIRTHMARK_U64(_vfs_birthmark_region, fragment_high, region.fragment_high,
    "the fragment behind its last");

static int
birthmark_sysctl_enable(SYSCTL_HANDLER_ARGS)
{
	struct birthmark_softc *sc = &birthmark;
	int enable, error;

	enable = sc->sc_enable;
	error = sysctl_handle_int(oidp, &enable, 0, req);
	if (error != 0 || req->newptr == NULL)
		return (error);
	sx_xlock(&sc->sc_writer);
	error = birthmark_apply(sc, &sc->sc_hook.config, enable != 0);
	sx_xunlock(&sc->sc_writer);
	return (error);
}
SYSCTL_PROC(_vfs_birthmark, OID_AUTO, enable,
    CTLTYPE_INT | CTLFLAG_RW | CTLFLAG_MPSAFE, NULL, 0,
    birthmark_sysctl_enable, "I", "whether the region is in effect");

/* What is used of the region is counted in the maps when it is asked for. */
static int
birthmark_sysctl_used(SYSCTL_HANDLER_ARGS)
{
	struct birthmark_softc *sc = &birthmark;
	uint64_t used;

	sx_xlock(&sc->sc_writer);
	birthmark_used(sc);
	used = arg2 == 0 ? sc->sc_hook.region.inodes_used :
	    sc->sc_hook.region.fragments_used;
	sx_xunlock(&sc->sc_writer);
	return (sysctl_handle_64(oidp, &used, 0, req));
}
SYSCTL_PROC(_vfs_birthmark_region, OID_AUTO, inodes_used,
    CTLTYPE_U64 | CTLFLAG_RD | CTLFLAG_MPSAFE, NULL, 0,
    birthmark_sysctl_used, "QU", "inodes taken, by whatever");
SYSCTL_PROC(_vfs_birthmark_region, OID_AUTO, fragments_used,
    CTLTYPE_U64 | CTLFLAG_RD | CTLFLAG_MPSAFE, NULL, 1,
    birthmark_sysctl_used, "QU", "fragments taken, by whatever");
