/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * A home for the hook in user space: see bm_home.h.
 */
#ifndef _POSIX_C_SOURCE
#define	_POSIX_C_SOURCE	200809L
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bm_home.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are little-endian: this home is for hosts that are so, too"
#endif

#define	BM_KNOWN_ASKED							\
	(BM_KNOWN_MODE | BM_KNOWN_UID | BM_KNOWN_GID | BM_KNOWN_HOUR |	\
	BM_KNOWN_NAME)

int
bm_home_init(struct bm_home *home)
{
	pthread_condattr_t clock;
	int error;

	bm_hook_init(&home->hook);
	if ((error = pthread_condattr_init(&clock)) != 0)
		return (error);
	(void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	if ((error = pthread_cond_init(&home->asked, &clock)) == 0 &&
	    (error = pthread_mutex_init(&home->queue, NULL)) == 0)
		error = pthread_rwlock_init(&home->settings, NULL);
	(void)pthread_condattr_destroy(&clock);
	return (error);
}

/* The hook only reads images; the memory is the home's. */
static void
bm_home_free(const void *image)
{
	union {
		const void	*read;
		void		*own;
	} memory;

	memory.read = image;
	free(memory.own);
}

void
bm_home_destroy(struct bm_home *home)
{
	bm_home_free(home->hook.slot.image);
	(void)pthread_rwlock_destroy(&home->settings);
	(void)pthread_mutex_destroy(&home->queue);
	(void)pthread_cond_destroy(&home->asked);
}

static void
bm_home_lock(struct bm_home *home, int exclusive)
{
	if (exclusive)
		(void)pthread_rwlock_wrlock(&home->settings);
	else
		(void)pthread_rwlock_rdlock(&home->settings);
	(void)pthread_mutex_lock(&home->queue);
}

static void
bm_home_unlock(struct bm_home *home)
{
	(void)pthread_mutex_unlock(&home->queue);
	(void)pthread_rwlock_unlock(&home->settings);
}

uint32_t
bm_home_ask(struct bm_home *home, const struct bm_create *create, int directory)
{
	uint32_t before, verdict;

	(void)pthread_rwlock_rdlock(&home->settings);
	if (bm_hook_mode(&home->hook) != BM_MODE_QUERY) {
		verdict = bm_hook_ask(&home->hook, create, directory);
		(void)pthread_rwlock_unlock(&home->settings);
		return (verdict);
	}
	(void)pthread_mutex_lock(&home->queue);
	before = bm_hook_questions(&home->hook);
	verdict = bm_hook_ask(&home->hook, create, directory);
	if (bm_hook_questions(&home->hook) > before)
		(void)pthread_cond_signal(&home->asked);
	bm_home_unlock(home);
	return (verdict);
}

uint32_t
bm_home_load(struct bm_home *home, const void *image, size_t size,
    uint32_t *generation)
{
	struct bm_slot slot;
	const void *unused = NULL;
	void *own = NULL;
	uint32_t status;

	if (size <= BM_IMAGE_MAX) {
		if ((own = malloc(size > 0 ? size : 1)) == NULL)
			return (BM_STATUSES);
		memcpy(own, image, size);
	}
	status = bm_hook_check(&home->hook, own, size, &slot);
	bm_home_lock(home, 1);
	if (status == BM_OK)
		unused = bm_hook_swap(&home->hook, &slot);
	else
		unused = own;
	*generation = home->hook.generation;
	bm_home_unlock(home);
	bm_home_free(unused);
	return (status);
}

/*
 * The commands.
 */

void
bm_refuse(struct bm_reply *reply, int code, const char *text)
{
	reply->code = (uint32_t)code;
	reply->length = (uint32_t)strlen(text);
	memcpy(reply->bytes.text, text, reply->length);
}

static void
bm_do_load(struct bm_home *home, const void *bytes, uint32_t length,
    struct bm_reply *reply)
{
	struct bm_load *load = &reply->bytes.load, wanted;

	memcpy(&wanted, bytes, sizeof(wanted));
	if (wanted.data != 0 || wanted.size != length - sizeof(wanted)) {
		bm_refuse(reply, EINVAL,
		    "load: expected data 0, and as many bytes as size says");
		return;
	}
	*load = wanted;
	load->status = bm_home_load(home,
	    (const uint8_t *)bytes + sizeof(wanted), wanted.size,
	    &load->generation);
	reply->length = sizeof(*load);
	if (load->status == BM_STATUSES)
		bm_refuse(reply, ENOMEM, "load: no memory for the image");
}

static void
bm_do_status(struct bm_home *home, struct bm_reply *reply)
{
	bm_home_lock(home, 0);
	bm_hook_state(&home->hook, &reply->bytes.state);
	bm_home_unlock(home);
	reply->length = sizeof(reply->bytes.state);
}

static void
bm_do_config(struct bm_home *home, const void *bytes, struct bm_reply *reply)
{
	struct bm_config config;
	const char *error;

	memcpy(&config, bytes, sizeof(config));
	if ((error = bm_config_error(&config)) != NULL) {
		bm_refuse(reply, EINVAL, error);
		return;
	}
	(void)pthread_rwlock_wrlock(&home->settings);
	(void)bm_hook_configure(&home->hook, &config);
	(void)pthread_rwlock_unlock(&home->settings);
}

static void
bm_do_answer(struct bm_home *home, const void *bytes, struct bm_reply *reply)
{
	struct bm_decision decision;
	int accepted;

	memcpy(&decision, bytes, sizeof(decision));
	if ((decision.verdict & ~BM_HOT_ALL) != 0) {
		bm_refuse(reply, EINVAL,
		    "answer: expected a verdict of bits 1, 2 and 4");
		return;
	}
	(void)pthread_mutex_lock(&home->queue);
	accepted = bm_hook_answer(&home->hook, decision.id, decision.verdict);
	(void)pthread_mutex_unlock(&home->queue);
	if (!accepted)
		bm_refuse(reply, ENOENT, "answer: no such question waits");
}

static void
bm_do_flush(struct bm_home *home, struct bm_reply *reply)
{
	reply->bytes.flush.version = BM_HINT_VERSION;
	(void)pthread_mutex_lock(&home->queue);
	reply->bytes.flush.generation = bm_hook_flush(&home->hook);
	(void)pthread_mutex_unlock(&home->queue);
	reply->length = sizeof(reply->bytes.flush);
}

/* When a wait that begins now ends. */
static struct timespec
bm_after(uint32_t milliseconds)
{
	struct timespec end;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += milliseconds / 1000;
	end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	return (end);
}

static void
bm_do_read(struct bm_home *home, const void *bytes, struct bm_reply *reply)
{
	struct timespec end;
	struct bm_wait wait;
	uint32_t count = 0;

	memcpy(&wait, bytes, sizeof(wait));
	if (wait.count == 0 || wait.milliseconds > BM_WAIT_MAX ||
	    wait.zero != 0) {
		bm_refuse(reply, EINVAL,
		    "read: expected a count, at most 60000 ms, and 0");
		return;
	}
	end = bm_after(wait.milliseconds);
	(void)pthread_mutex_lock(&home->queue);
	while (wait.milliseconds > 0 &&
	    bm_hook_questions(&home->hook) == 0 &&
	    pthread_cond_timedwait(&home->asked, &home->queue, &end) == 0)
		;
	while (count < wait.count && count < BM_QUEUE_MAX &&
	    bm_hook_next(&home->hook, &reply->bytes.questions[count]))
		count++;
	(void)pthread_mutex_unlock(&home->queue);
	reply->length = count * (uint32_t)sizeof(struct bm_question);
}

static int
bm_question_is_sound(const struct bm_question *question)
{
	return ((question->known & ~BM_KNOWN_ASKED) == 0 &&
	    question->hour < 24 && question->directory <= 1 &&
	    question->name_len <= BM_NAME_MAX);
}

static void
bm_do_ask(struct bm_home *home, const void *bytes, struct bm_reply *reply)
{
	struct bm_decision *decision = &reply->bytes.decision;
	struct bm_question question;
	struct bm_create create;

	memcpy(&question, bytes, sizeof(question));
	if (!bm_question_is_sound(&question)) {
		bm_refuse(reply, EINVAL, "ask: expected known bits, an hour "
		    "below 24, directory 0 or 1, a name of at most 255 bytes");
		return;
	}
	memset(&create, 0, sizeof(create));
	if ((question.known & BM_KNOWN_NAME) != 0) {
		create.name = question.name;
		create.name_len = question.name_len;
	}
	create.known = question.known & ~BM_KNOWN_NAME;
	create.mode = question.mode;
	create.uid = question.uid;
	create.gid = question.gid;
	create.hour = question.hour;
	decision->version = BM_HINT_VERSION;
	decision->id = question.id;
	decision->verdict = bm_home_ask(home, &create, question.directory);
	reply->length = sizeof(*decision);
}

/* The bytes of a command's structure, where its version stands, or 0. */
static uint32_t
bm_size_of(uint32_t command, size_t *version)
{
	*version = 0;
	switch (command) {
	case BM_CMD_LOAD:
		return (sizeof(struct bm_load));
	case BM_CMD_STATUS:
		return (sizeof(struct bm_state));
	case BM_CMD_CONFIG:
		return (sizeof(struct bm_config));
	case BM_CMD_ANSWER:
		return (sizeof(struct bm_decision));
	case BM_CMD_FLUSH:
		return (sizeof(struct bm_flush));
	case BM_CMD_READ:
		return (sizeof(struct bm_wait));
	case BM_CMD_ASK:
		*version = offsetof(struct bm_question, version);
		return (sizeof(struct bm_question));
	default:
		return (0);
	}
}

uint32_t
bm_home_longest(uint32_t command)
{
	size_t version;

	if (command == BM_CMD_LOAD)
		return (BM_FRAME_MAX);
	return (bm_size_of(command, &version));
}

void
bm_home_do(struct bm_home *home, uint32_t command, const void *bytes,
    uint32_t length, struct bm_reply *reply)
{
	size_t version;
	uint32_t size = bm_size_of(command, &version);

	reply->code = reply->length = 0;
	if (size == 0) {
		bm_refuse(reply, ENOTTY, "expected a command of 1 to 7");
		return;
	}
	if (length < size || (length > size && command != BM_CMD_LOAD)) {
		bm_refuse(reply, EINVAL, "expected the command's structure");
		return;
	}
	if (bm_u32((const uint8_t *)bytes + version) != BM_HINT_VERSION) {
		bm_refuse(reply, EINVAL, "expected version 2");
		return;
	}
	switch (command) {
	case BM_CMD_LOAD:
		bm_do_load(home, bytes, length, reply);
		break;
	case BM_CMD_STATUS:
		bm_do_status(home, reply);
		break;
	case BM_CMD_CONFIG:
		bm_do_config(home, bytes, reply);
		break;
	case BM_CMD_ANSWER:
		bm_do_answer(home, bytes, reply);
		break;
	case BM_CMD_FLUSH:
		bm_do_flush(home, reply);
		break;
	case BM_CMD_READ:
		bm_do_read(home, bytes, reply);
		break;
	default:
		bm_do_ask(home, bytes, reply);
	}
}
