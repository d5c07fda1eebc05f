/*
 * Any bytes as frames to the home in user space: it stays inside of them,
 * refuses with a text, and its books agree. The first byte selects whether
 * images are corrected before they are loaded.
 */
#include <stdlib.h>
#include <string.h>

#include "bm_home.h"
#include "right.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* The structure is as it must be; the image has a header that is right. */
static void
make_right(uint8_t *bytes, uint32_t length)
{
	uint8_t *image = bytes + sizeof(struct bm_load);
	uint32_t size = length - (uint32_t)sizeof(struct bm_load);

	memset(bytes, 0, sizeof(struct bm_load));
	put_u32(bytes, BM_HINT_VERSION);
	put_u32(bytes + 4, size);
	if (size >= BM_HEADER_SIZE)
		make_image_right(image, size);
}

static void
check_reply(uint32_t command, const struct bm_reply *reply)
{
	if (reply->length > sizeof(reply->bytes) ||
	    (reply->code != 0 && reply->length == 0))
		abort();
	if (reply->code == 0 && command == BM_CMD_ASK &&
	    reply->bytes.decision.verdict > BM_HOT_ALL)
		abort();
}

/* One frame, in memory of just its size. */
static void
do_frame(struct bm_home *home, uint32_t command, const uint8_t *p,
    uint32_t length, int right)
{
	static struct bm_reply reply;
	uint8_t *bytes = (uint8_t *)malloc(length > 0 ? length : 1);

	if (bytes == NULL)
		abort();
	if (length > 0)
		memcpy(bytes, p, length);
	if (right && command == BM_CMD_LOAD &&
	    length >= sizeof(struct bm_load))
		make_right(bytes, length);
	if (command == BM_CMD_READ && length >= 12)
		put_u32(bytes + 8, 0);		/* do not wait */
	bm_home_do(home, command, bytes, length, &reply);
	check_reply(command, &reply);
	free(bytes);
}

static void
check_books(struct bm_home *home)
{
	struct bm_counters *counters = &home->hook.counters;
	struct bm_state state;

	bm_hook_state(&home->hook, &state);
	if (state.questions > BM_QUEUE_MAX ||
	    state.decisions > counters->answers_taken ||
	    counters->answers_taken > counters->questions_queued ||
	    counters->questions_queued + counters->questions_dropped >
	    counters->cache_misses + counters->cache_waits ||
	    counters->cache_hits + counters->cache_misses +
	    counters->cache_waits + counters->without_image > counters->asked)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct bm_home home;
	uint32_t command, length;
	size_t at = 1;

	if (size == 0)
		return (0);
	if (bm_home_init(&home) != 0)
		abort();
	while (size - at >= 8) {
		command = bm_u32(bytes + at);
		length = bm_u32(bytes + at + 4);
		at += 8;
		if (length > size - at)
			length = (uint32_t)(size - at);
		do_frame(&home, command, bytes + at, length, bytes[0] & 1);
		at += length;
	}
	check_books(&home);
	bm_home_destroy(&home);
	return (0);
}
