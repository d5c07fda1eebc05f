/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The hook's device in user space, for tests and for hosts without the module:
 * the module's commands as frames on a Unix stream socket (birthmark_hint.h).
 *
 *	bm_device SOCKET
 *
 * The socket is its owner's alone. Every connection has a thread. Ended by
 * SIGINT or SIGTERM, it removes the socket.
 */
#define	_POSIX_C_SOURCE	200809L

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bm_home.h"

#define	CONNECTIONS_MAX	64

static const char usage[] = "usage: bm_device SOCKET\n"
    "Answers at the Unix socket SOCKET as the layout hint's module does at its\n"
    "device, until SIGINT or SIGTERM. A name that begins with - is written ./-\n";

static struct bm_home home;
static pthread_mutex_t connections_lock = PTHREAD_MUTEX_INITIALIZER;
static int connections;

typedef ssize_t transfer_t(int, const struct iovec *, int);

/* Moves all size bytes; 0 if the connection ends before. */
static int
move_all(transfer_t *transfer, int fd, void *bytes, size_t size)
{
	struct iovec rest = { bytes, size };
	ssize_t n;

	while (rest.iov_len > 0) {
		n = transfer(fd, &rest, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (0);
		rest.iov_base = (uint8_t *)rest.iov_base + n;
		rest.iov_len -= (size_t)n;
	}
	return (1);
}

static int
send_reply(int fd, struct bm_reply *reply)
{
	struct bm_frame frame;

	frame.code = reply->code;
	frame.length = reply->length;
	return (move_all(writev, fd, &frame, sizeof(frame)) &&
	    move_all(writev, fd, &reply->bytes, reply->length));
}

/*
 * Reads the bytes of a command and does it. An unknown command ends the
 * connection, because its length is unbounded; so does one that is too long.
 */
static int
do_frame(int fd, const struct bm_frame *frame, struct bm_reply *reply)
{
	uint32_t longest = bm_home_longest(frame->code);
	uint8_t *bytes;
	int whole;

	if (frame->length > longest && longest > 0) {
		bm_refuse(reply, EFBIG, "expected a shorter frame");
		(void)send_reply(fd, reply);
		return (0);
	}
	if (longest == 0) {
		bm_home_do(&home, frame->code, NULL, 0, reply);
		(void)send_reply(fd, reply);
		return (0);
	}
	bytes = (uint8_t *)malloc(frame->length > 0 ? frame->length : 1);
	if (bytes == NULL) {
		bm_refuse(reply, ENOMEM, "no memory for the frame");
		(void)send_reply(fd, reply);
		return (0);
	}
	whole = move_all(readv, fd, bytes, frame->length);
	if (whole)
		bm_home_do(&home, frame->code, bytes, frame->length, reply);
	free(bytes);
	return (whole && send_reply(fd, reply));
}

/* Takes or gives back a slot for a connection; 0 if there is none. */
static int
take_place(int n)
{
	int accepted;

	(void)pthread_mutex_lock(&connections_lock);
	accepted = connections + n <= CONNECTIONS_MAX;
	if (accepted)
		connections += n;
	(void)pthread_mutex_unlock(&connections_lock);
	return (accepted);
}

static void *
serve(void *argument)
{
	struct bm_reply *reply = (struct bm_reply *)malloc(sizeof(*reply));
	struct bm_frame frame;
	int fd = *(int *)argument;

	free(argument);
	while (reply != NULL && move_all(readv, fd, &frame, sizeof(frame)) &&
	    do_frame(fd, &frame, reply))
		;
	free(reply);
	(void)close(fd);
	(void)take_place(-1);
	return (NULL);
}

/* Gives a connection a thread, or closes it. */
static void
begin(int fd, const pthread_attr_t *detached)
{
	pthread_t thread;
	int *argument;

	if (!take_place(1)) {
		(void)close(fd);
		return;
	}
	argument = (int *)malloc(sizeof(*argument));
	if (argument != NULL) {
		*argument = fd;
		if (pthread_create(&thread, detached, serve, argument) == 0)
			return;
		free(argument);
	}
	(void)close(fd);
	(void)take_place(-1);
}

static void *
accept_all(void *argument)
{
	pthread_attr_t detached;
	int fd, listener = *(int *)argument;

	if (pthread_attr_init(&detached) != 0 ||
	    pthread_attr_setdetachstate(&detached,
	    PTHREAD_CREATE_DETACHED) != 0)
		exit(1);
	for (;;) {
		fd = accept(listener, NULL, NULL);
		if (fd >= 0)
			begin(fd, &detached);
		else if (errno != EINTR && errno != ECONNABORTED)
			(void)sleep(1);		/* out of descriptors: some end */
	}
	return (NULL);
}

/* Removes the socket of a killed device, if nobody answers at it. */
static void
remove_stale(const struct sockaddr_un *address)
{
	struct stat status;
	int fd;

	if (lstat(address->sun_path, &status) != 0 ||
	    !S_ISSOCK(status.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)address,
	    sizeof(*address)) != 0 && errno == ECONNREFUSED)
		(void)unlink(address->sun_path);
	(void)close(fd);
}

static int
listen_at(const char *path, struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (fd < 0 || strlen(path) >= sizeof(address->sun_path)) {
		(void)fprintf(stderr, "%s: expected a shorter path\n", path);
		exit(1);
	}
	memcpy(address->sun_path, path, strlen(path));
	remove_stale(address);
	(void)umask(077);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
	    listen(fd, CONNECTIONS_MAX) != 0) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	return (fd);
}

static int
is_help(const char *argument)
{
	return (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0);
}

int
main(int argc, char **argv)
{
	struct sockaddr_un address;
	sigset_t end;
	pthread_t thread;
	int listener, signal_number;

	if (argc == 2 && is_help(argv[1])) {
		(void)printf("%s", usage);
		return (0);
	}
	if (argc != 2 || argv[1][0] == '-') {
		(void)fprintf(stderr, "%s", usage);
		return (2);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&end);
	(void)sigaddset(&end, SIGINT);
	(void)sigaddset(&end, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &end, NULL);
	listener = listen_at(argv[1], &address);
	if (bm_home_init(&home) != 0 ||
	    pthread_create(&thread, NULL, accept_all, &listener) != 0) {
		(void)fprintf(stderr, "no locks or no thread\n");
		return (1);
	}
	(void)sigwait(&end, &signal_number);
	(void)unlink(address.sun_path);
	_exit(0);
}
