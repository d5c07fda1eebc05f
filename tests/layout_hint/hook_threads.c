/*
 * The home in user space under many threads at once: creates, a helper that
 * reads and answers, images that are swapped, settings that change, a reader of
 * the counters. A sanitizer looks on; here it is checked that nothing was lost.
 *
 *	hook_threads IMAGE ASKS
 */
#define	_POSIX_C_SOURCE	200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bm_home.h"

#define	ASKERS	4

static struct bm_home home;
static uint8_t image[65536];
static size_t image_size;
static uint32_t asks;
static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static int ended;

static int
is_over(void)
{
	int over;

	(void)pthread_mutex_lock(&ended_lock);
	over = ended == ASKERS;
	(void)pthread_mutex_unlock(&ended_lock);
	return (over);
}

static void *
creates(void *argument)
{
	struct bm_create create;
	uint32_t i, uid = *(uint32_t *)argument;

	memset(&create, 0, sizeof(create));
	create.name = "inbox.lock";
	create.name_len = 10;
	create.known = BM_KNOWN_UID;
	for (i = 0; i < asks; i++) {
		create.uid = uid + i % 500;
		if (bm_home_ask(&home, &create, i % 7 == 0) > BM_HOT_ALL)
			abort();
		bm_hook_outcome(&home.hook, BM_INODE_PLACED);
	}
	(void)pthread_mutex_lock(&ended_lock);
	ended++;
	(void)pthread_mutex_unlock(&ended_lock);
	return (NULL);
}

static void *
helper(void *argument)
{
	static struct bm_reply reply;
	struct bm_wait wait = { BM_HINT_VERSION, 16, 5, 0 };
	struct bm_decision decision = { BM_HINT_VERSION, BM_HOT_NAME, 0 };
	struct bm_question questions[16];
	uint32_t i, count;

	(void)argument;
	while (!is_over()) {
		bm_home_do(&home, BM_CMD_READ, &wait, sizeof(wait), &reply);
		count = reply.length / (uint32_t)sizeof(struct bm_question);
		memcpy(questions, reply.bytes.questions, reply.length);
		for (i = 0; i < count; i++) {
			decision.id = questions[i].id;
			bm_home_do(&home, BM_CMD_ANSWER, &decision,
			    sizeof(decision), &reply);
		}
	}
	return (NULL);
}

static void *
loader(void *argument)
{
	static struct bm_reply reply;
	struct bm_config config;
	uint32_t generation, n = 0;

	(void)argument;
	memset(&config, 0, sizeof(config));
	config.version = BM_HINT_VERSION;
	config.policy = BM_HOT_ALL;
	while (!is_over()) {
		if (bm_home_load(&home, image, image_size, &generation) !=
		    BM_OK || bm_home_load(&home, image, image_size / 2,
		    &generation) != BM_TRUNCATED)
			abort();
		config.mode = n++ % 4 == 0 ? BM_MODE_TABLE : BM_MODE_QUERY;
		bm_home_do(&home, BM_CMD_CONFIG, &config, sizeof(config),
		    &reply);
		if (reply.code != 0)
			abort();
	}
	return (NULL);
}

static void *
reader(void *argument)
{
	static struct bm_reply reply;
	static const struct bm_state version = { .version = BM_HINT_VERSION };

	(void)argument;
	while (!is_over()) {
		bm_home_do(&home, BM_CMD_STATUS, &version, sizeof(version),
		    &reply);
		if (reply.length != sizeof(struct bm_state) ||
		    reply.bytes.state.questions > BM_QUEUE_MAX)
			abort();
	}
	return (NULL);
}

int
main(int argc, char **argv)
{
	void *(*const others[])(void *) = { helper, loader, reader };
	pthread_t threads[ASKERS + 3];
	uint32_t i, uids[ASKERS];
	FILE *in;

	if (argc != 3 || (in = fopen(argv[1], "rb")) == NULL ||
	    bm_home_init(&home) != 0)
		return (2);
	image_size = fread(image, 1, sizeof(image), in);
	(void)fclose(in);
	asks = (uint32_t)strtoul(argv[2], NULL, 10);
	for (i = 0; i < ASKERS; i++) {
		uids[i] = i * 400;
		if (pthread_create(&threads[i], NULL, creates, &uids[i]) != 0)
			return (2);
	}
	for (i = 0; i < 3; i++)
		if (pthread_create(&threads[ASKERS + i], NULL, others[i],
		    NULL) != 0)
			return (2);
	for (i = 0; i < ASKERS + 3; i++)
		(void)pthread_join(threads[i], NULL);
	(void)printf("%u %u\n", (unsigned)home.hook.counters.asked,
	    (unsigned)home.hook.counters.outcomes[BM_INODE_PLACED]);
	bm_home_destroy(&home);
	return (0);
}
