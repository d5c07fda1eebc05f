/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * What the layout hook and its helper say to each other: the verdict on a
 * create, the commands of the hook's device, and its counters.
 *
 * Shared by the FreeBSD module, the device in user space and the helper. Every
 * structure has fields of fixed size, each at a multiple of its own size and
 * none left out, so that it is the same for every compiler. The module takes
 * them as ioctl(2)s, in the byte order of the host; the device in user space as
 * frames on a stream socket (below), always little-endian.
 */
#ifndef BIRTHMARK_HINT_H
#define	BIRTHMARK_HINT_H

#ifdef _KERNEL
#include <sys/param.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif
#if defined(__FreeBSD__)
#include <sys/ioccom.h>
#endif

#define	BM_HINT_VERSION		2U		/* of what is below */
#define	BM_IMAGE_MAX		(16U << 20)	/* bytes of an image */
#define	BM_NAME_MAX		255U		/* bytes of a name */
#define	BM_HOT_BLOCKS		256U		/* of a file that are placed, by default */

/*
 * A verdict: what a model says of a create. A policy is the mask of those that
 * are followed. Of a directory only BM_HOT_DIR is asked, of anything else the
 * other two.
 */
#define	BM_HOT_NAME		0x1U	/* "HotName": the name will be hot */
#define	BM_HOT_DIR		0x2U	/* "HotDir": it will hold such names */
#define	BM_HOT_WRITE		0x4U	/* "HotWrite": it will be written */
#define	BM_HOT_ALL		0x7U
#define	BM_HOT_KINDS		3U

/* Whence verdicts come. */
#define	BM_MODE_OFF		0U	/* none: every create is cold */
#define	BM_MODE_TABLE		1U	/* from the image */
#define	BM_MODE_QUERY		2U	/* from the helper's answers, kept */

/*
 * Why an image was refused, beyond what bm_image_check() says (enum bm_status
 * of birthmark.h, 1 to 8).
 */
#define	BM_NO_HINT		9U	/* no predicate of the three above */
#define	BM_OVERSIZE		10U	/* more than BM_IMAGE_MAX bytes */
#define	BM_STATUSES		11U

/* What became of a hint that was followed: once for each inode or block. */
enum bm_outcome {
	BM_INODE_PLACED = 0,	/* an inode in the region */
	BM_BLOCK_PLACED = 1,	/* a block or fragments in the region */
	BM_NO_REGION = 2,	/* refused: this file system has none */
	BM_INODES_FULL = 3,	/* refused: no inode left there */
	BM_BLOCKS_FULL = 4,	/* refused: no such run of fragments left there */
	BM_BLOCK_TAKEN = 5,	/* the block wanted was taken; another served */
	BM_TOO_LARGE = 6,	/* refused: the file is past its hot blocks */
	BM_OUTCOMES = 7
};

/* Everything is counted from when the hook was made; nothing is reset. */
struct bm_counters {
	uint64_t	asked;		/* creates */
	uint64_t	hinted[BM_HOT_KINDS];	/* verdicts, by bit */
	uint64_t	without_image;	/* asked in table mode without one */
	uint64_t	outcomes[BM_OUTCOMES];	/* enum bm_outcome */
	uint64_t	cache_hits;	/* asked in query mode: decision known */
	uint64_t	cache_misses;	/* ... unknown, so cold */
	uint64_t	cache_waits;	/* ... asked already, so cold */
	uint64_t	questions_queued;
	uint64_t	questions_dropped;	/* the queue was full, or name long */
	uint64_t	answers_taken;
	uint64_t	answers_stale;	/* of no question that waits */
	uint64_t	images_loaded;
	uint64_t	images_refused[BM_STATUSES];	/* by status; [0] is 0 */
};

/* The mode of a region: what of it others are kept out of. */
#define	BM_REGION_NONE		0U	/* there is no region */
#define	BM_REGION_PREFERRED	1U	/* nothing */
#define	BM_REGION_DATA		2U	/* its data, not its inodes */
#define	BM_REGION_RESERVED	3U	/* both */

/* The region's books: where it is, and how much of it is in use. */
struct bm_region {
	uint32_t	mode;		/* BM_REGION_... */
	uint32_t	cg;		/* its cylinder group */
	uint32_t	inode_low;	/* inodes [low, high), absolute */
	uint32_t	inode_high;
	uint64_t	fragment_low;	/* fragments [low, high), absolute */
	uint64_t	fragment_high;
	uint64_t	inodes_used;
	uint64_t	fragments_used;
};

/*
 * BMIOC_LOAD: take an image. The call succeeds if the image was looked at;
 * status says whether it was taken (BM_OK), or why not, in which case the one
 * before stays. In a frame, data is 0 and the image follows the structure.
 */
struct bm_load {
	uint32_t	version;	/* in: BM_HINT_VERSION */
	uint32_t	size;		/* in: bytes */
	uint64_t	data;		/* in: where they are */
	uint32_t	status;		/* out */
	uint32_t	generation;	/* out: after the call */
};

/*
 * BMIOC_CONFIG: all settings at once. The region is bytes of the partition of
 * the file system mounted as fsid (statfs(2)); without one, mode and length of
 * it are 0.
 */
struct bm_config {
	uint32_t	version;	/* BM_HINT_VERSION */
	uint32_t	mode;		/* BM_MODE_... */
	uint32_t	policy;		/* mask of BM_HOT_... */
	uint32_t	region_mode;	/* BM_REGION_... */
	uint64_t	region_start;
	uint64_t	region_length;
	int32_t		fsid[2];
	uint32_t	hot_blocks;	/* of a file; 0: BM_HOT_BLOCKS */
	uint32_t	zero;
};

/* BMIOC_ANSWER: the verdict on a question. ENOENT if it waits no more. */
struct bm_decision {
	uint32_t	version;	/* BM_HINT_VERSION */
	uint32_t	verdict;	/* BM_HOT_... */
	uint64_t	id;		/* of the question */
};

/*
 * BMIOC_FLUSH: another model answers now. All decisions and questions are
 * forgotten. (Loading an image does so, too.)
 */
struct bm_flush {
	uint32_t	version;	/* in: BM_HINT_VERSION */
	uint32_t	generation;	/* out: after the call */
};

/* BMIOC_STATUS. */
struct bm_state {
	uint32_t	version;	/* in: BM_HINT_VERSION */
	uint32_t	generation;	/* grows with every load and flush */
	uint32_t	image_size;	/* bytes; 0: there is none */
	uint32_t	image_checksum;	/* as in its header */
	uint32_t	image_hints;	/* BM_HOT_...: those that it can give */
	uint32_t	questions;	/* in the queue */
	uint32_t	decisions;	/* known, of this generation */
	uint32_t	zero;
	struct bm_config	config;
	struct bm_region	region;
	struct bm_counters	counters;
};

/* Which members of a question are known: BM_KNOWN_... of birthmark.h, and */
#define	BM_KNOWN_NAME		0x20U

/*
 * A create that a verdict is wanted of. read(2) gives as many as fit whole;
 * with none in the queue it waits, or says EAGAIN. Each is given once.
 */
struct bm_question {
	uint64_t	id;
	uint32_t	version;	/* BM_HINT_VERSION */
	uint32_t	generation;	/* when it was asked */
	uint32_t	known;
	uint32_t	mode;		/* as to the image: without type bits */
	uint32_t	uid;
	uint32_t	gid;
	uint32_t	hour;		/* of the day, UTC */
	uint16_t	directory;	/* 1 if it is one */
	uint16_t	name_len;
	char		name[BM_NAME_MAX + 1];	/* not terminated */
};

/*
 * Commands. Their numbers are those of ioctls and of frames.
 */
#define	BM_CMD_LOAD		1U
#define	BM_CMD_STATUS		2U
#define	BM_CMD_CONFIG		3U
#define	BM_CMD_ANSWER		4U
#define	BM_CMD_FLUSH		5U
/* Frames alone: */
#define	BM_CMD_READ		6U	/* bm_wait; gives bm_questions */
#define	BM_CMD_ASK		7U	/* bm_question; gives a bm_decision */

#if defined(__FreeBSD__)
#define	BMIOC_LOAD	_IOWR('B', 1, struct bm_load)
#define	BMIOC_STATUS	_IOWR('B', 2, struct bm_state)
#define	BMIOC_CONFIG	_IOW('B', 3, struct bm_config)
#define	BMIOC_ANSWER	_IOW('B', 4, struct bm_decision)
#define	BMIOC_FLUSH	_IOWR('B', 5, struct bm_flush)
#endif

/*
 * A frame on the socket of the device in user space: this, then length bytes.
 * In a request, code is the command and the bytes are its structure; in a
 * reply, code is 0 and the bytes are what came of it (the structure again for
 * LOAD, STATUS and FLUSH; nothing for CONFIG and ANSWER), or an errno, with a
 * text in UTF-8: EINVAL (22) for a structure that is not as it should be,
 * ENOTTY (25) for an unknown command, EFBIG (27) for a frame that is too long,
 * ENOENT (2) for an answer to no question that waits, ENOMEM (12). These have
 * the same numbers everywhere. After EFBIG and ENOTTY the connection is closed.
 */
struct bm_frame {
	uint32_t	code;
	uint32_t	length;
};

/* BM_CMD_READ: waits for a question, and gives those there are, to count. */
struct bm_wait {
	uint32_t	version;	/* BM_HINT_VERSION */
	uint32_t	count;		/* at most; 1 or more */
	uint32_t	milliseconds;	/* to wait for the first; 0: do not */
	uint32_t	zero;
};

#define	BM_FRAME_MAX	(BM_IMAGE_MAX + (uint32_t)sizeof(struct bm_load))

/* The sizes that others rely on (C99 has no static assertion). */
#define	BM_SIZE_IS(type, bytes)						\
	typedef char type##_is_not_its_size[				\
	    sizeof(struct type) == (bytes) ? 1 : -1]

BM_SIZE_IS(bm_counters, 248);
BM_SIZE_IS(bm_region, 48);
BM_SIZE_IS(bm_load, 24);
BM_SIZE_IS(bm_config, 48);
BM_SIZE_IS(bm_decision, 16);
BM_SIZE_IS(bm_flush, 8);
BM_SIZE_IS(bm_state, 376);
BM_SIZE_IS(bm_question, 296);
BM_SIZE_IS(bm_frame, 8);
BM_SIZE_IS(bm_wait, 16);

#endif /* BIRTHMARK_HINT_H */
