/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The module birthmark: its books, as sysctl(8) shows them under vfs.birthmark.
 */
#include "birthmark_var.h"

#include <sys/sysctl.h>

static SYSCTL_NODE(_vfs, OID_AUTO, birthmark, CTLFLAG_RW | CTLFLAG_MPSAFE, 0,
    "Layout hints");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, hinted,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "Verdicts");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, placed,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "Hints that were followed");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, refused,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "Hints that could not be followed");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, region,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "Where what is hot goes");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, cache,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "Decisions of query mode");
static SYSCTL_NODE(_vfs_birthmark, OID_AUTO, image,
    CTLFLAG_RD | CTLFLAG_MPSAFE, 0, "The compiled model");

/*
 * Counters are added to atomically, and read as they are.
 */
#define	BIRTHMARK_COUNTER(parent, name, counter, text)			\
	SYSCTL_U64(parent, OID_AUTO, name, CTLFLAG_RD | CTLFLAG_MPSAFE,	\
	    &birthmark.sc_hook.counters.counter, 0, text)

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
BIRTHMARK_COUNTER(_vfs_birthmark_image, no_hint, images_refused[BM_NO_HINT],
    "refused: none of the three predicates");
BIRTHMARK_COUNTER(_vfs_birthmark_image, oversize,
    images_refused[BM_OVERSIZE], "refused: too large");

SYSCTL_U32(_vfs_birthmark, OID_AUTO, mode, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.config.mode, 0, "0 off, 1 table, 2 query");
SYSCTL_U32(_vfs_birthmark, OID_AUTO, policy, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.config.policy, 0,
    "hints that are followed: 1 HotName, 2 HotDir, 4 HotWrite");
SYSCTL_U32(_vfs_birthmark, OID_AUTO, hot_blocks, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.config.hot_blocks, 0,
    "blocks of a hot file that are placed");
SYSCTL_U32(_vfs_birthmark, OID_AUTO, generation, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.generation, 0, "grows with every load and flush");
SYSCTL_U32(_vfs_birthmark_image, OID_AUTO, size, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.slot.size, 0, "bytes; 0: there is none");
SYSCTL_U32(_vfs_birthmark_region, OID_AUTO, cg, CTLFLAG_RD | CTLFLAG_MPSAFE,
    &birthmark.sc_hook.region.cg, 0, "its cylinder group");
SYSCTL_U32(_vfs_birthmark_region, OID_AUTO, mode,
    CTLFLAG_RD | CTLFLAG_MPSAFE, &birthmark.sc_hook.region.mode, 0,
    "0 none, 1 preferred, 2 data, 3 reserved");
SYSCTL_U32(_vfs_birthmark_region, OID_AUTO, inode_low,
    CTLFLAG_RD | CTLFLAG_MPSAFE, &birthmark.sc_hook.region.inode_low, 0,
    "its first inode");
SYSCTL_U32(_vfs_birthmark_region, OID_AUTO, inode_high,
    CTLFLAG_RD | CTLFLAG_MPSAFE, &birthmark.sc_hook.region.inode_high, 0,
    "the inode behind its last");
SYSCTL_U64(_vfs_birthmark_region, OID_AUTO, fragment_low,
    CTLFLAG_RD | CTLFLAG_MPSAFE, &birthmark.sc_hook.region.fragment_low, 0,
    "its first fragment");
SYSCTL_U64(_vfs_birthmark_region, OID_AUTO, fragment_high,
    CTLFLAG_RD | CTLFLAG_MPSAFE, &birthmark.sc_hook.region.fragment_high, 0,
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
	sc->sc_enable = enable != 0;
	error = birthmark_apply(sc);
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
