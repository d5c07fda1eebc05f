/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The kernel's own check of an image, for the helper; and whether the
 * structures of wire.rs still lie as those of birthmark_hint.h.
 */
#include "birthmark.h"
#include "birthmark_hint.h"

#ifdef __FreeBSD__
#include <sys/param.h>
#include <sys/mount.h>
#include <string.h>

int	bm_device_fsid(const char *, int32_t *);

/* The file system that holds path, as mount(8) and the kernel number it. */
int
bm_device_fsid(const char *path, int32_t *fsid)
{
	struct statfs found;

	if (statfs(path, &found) != 0)
		return (-1);
	memcpy(fsid, &found.f_fsid, sizeof(found.f_fsid));
	return (0);
}
#endif

int	bm_device_image_check(const void *, size_t);

int
bm_device_image_check(const void *bytes, size_t size)
{
	return ((int)bm_image_check(bytes, size));
}

#define	LIES_AT(type, member, offset)					\
	typedef char type##_##member##_moved[				\
	    offsetof(struct type, member) == (offset) ? 1 : -1]

#ifdef __FreeBSD__
#define	IS_NUMBERED(request, number)					\
	typedef char request##_is_not_##number[(request) == (number) ? 1 : -1]

/* The requests that the helper's device/ioctl.rs makes. */
IS_NUMBERED(BMIOC_LOAD, 0xc0184201);
IS_NUMBERED(BMIOC_STATUS, 0xc1784202);
IS_NUMBERED(BMIOC_CONFIG, 0x80304203);
IS_NUMBERED(BMIOC_ANSWER, 0x80104204);
IS_NUMBERED(BMIOC_FLUSH, 0xc0084205);
#endif

LIES_AT(bm_load, data, 8);
LIES_AT(bm_load, status, 16);
LIES_AT(bm_config, region_mode, 12);
LIES_AT(bm_config, region_start, 16);
LIES_AT(bm_config, fsid, 32);
LIES_AT(bm_config, hot_blocks, 40);
LIES_AT(bm_decision, id, 8);
LIES_AT(bm_state, image_size, 8);
LIES_AT(bm_state, questions, 20);
LIES_AT(bm_state, config, 32);
LIES_AT(bm_state, region, 80);
LIES_AT(bm_state, counters, 128);
LIES_AT(bm_region, inodes_used, 32);
LIES_AT(bm_counters, without_image, 32);
LIES_AT(bm_counters, outcomes, 40);
LIES_AT(bm_counters, cache_hits, 96);
LIES_AT(bm_counters, questions_queued, 120);
LIES_AT(bm_counters, images_loaded, 152);
LIES_AT(bm_counters, images_refused, 160);
LIES_AT(bm_question, known, 16);
LIES_AT(bm_question, hour, 32);
LIES_AT(bm_question, name_len, 38);
LIES_AT(bm_question, name, 40);
LIES_AT(bm_wait, milliseconds, 8);
