/*
 * Sends one HTTP request over and over, on several connections that stay open, one at a time on
 * each, for so many seconds; prints how long every answer took.
 *
 *     load ADDRESS CONNECTIONS SECONDS < REQUEST
 *
 * ADDRESS is unix:PATH or a TCP port of this host; REQUEST is sent as it is. Printed is, as JSON,
 * how many were answered with 200, how many otherwise, the seconds it took, and the microseconds of
 * the given shares of answers.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MOST 256

struct connection {
	int fd;
	size_t sent;
	double begun;
	char head[4096];	/* what there is of the answer's head */
	size_t filled;
	long long left;		/* of its body; -1 before the head is whole */
};

static char *request;
static size_t length;
static double *took;
static size_t answers, room, others;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int connected(const char *address)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct sockaddr_in host = { .sin_family = AF_INET };
	int fd, on = 1;

	if (strncmp(address, "unix:", 5) == 0) {
		strncpy(local.sun_path, address + 5, sizeof(local.sun_path) - 1);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&local, sizeof(local)) != 0)
			err(1, "%s", address);
		return fd;
	}
	host.sin_port = htons(atoi(address));
	host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&host, sizeof(host)) != 0)
		err(1, "port %s", address);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void ask(struct connection *c)
{
	c->begun = now();
	c->sent = c->filled = 0;
	c->left = -1;
}

static void out(struct connection *c)
{
	ssize_t n = send(c->fd, request + c->sent, length - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		err(1, "send");
	c->sent += n;
}

/* Looks for the head's end; counts what of the body came with it. */
static void parse(struct connection *c)
{
	char *end, *field;

	c->head[c->filled] = '\0';
	end = strstr(c->head, "\r\n\r\n");
	if (end == NULL)
		return;
	field = strcasestr(c->head, "content-length:");
	if (field == NULL || field > end)
		errx(1, "an answer without its length");
	c->left = atoll(field + 15) - (c->filled - (end + 4 - c->head));
	if (strncmp(c->head, "HTTP/1.1 200", 12) != 0)
		others++;
}

static int in(struct connection *c)
{
	static char body[1 << 20];
	char *to = c->left < 0 ? c->head + c->filled : body;
	size_t size = c->left < 0 ? sizeof(c->head) - 1 - c->filled : sizeof(body);
	ssize_t n = recv(c->fd, to, size, MSG_DONTWAIT);

	if (n <= 0)
		err(1, "the service closed a connection");
	if (c->left < 0) {
		c->filled += n;
		parse(c);
	} else {
		c->left -= n;
	}
	return c->left == 0;
}

static void note(double seconds)
{
	if (answers == room) {
		room = room ? 2 * room : 1 << 16;
		took = realloc(took, room * sizeof(*took));
		if (took == NULL)
			err(1, "memory");
	}
	took[answers++] = seconds;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double share(double of)
{
	return answers ? took[(size_t)(of * (answers - 1))] * 1e6 : 0;
}

int main(int argc, char **argv)
{
	static struct connection all[MOST];
	static struct pollfd polled[MOST];
	double begun, end, until;
	int i, count;

	if (argc != 4 || (count = atoi(argv[2])) < 1 || count > MOST)
		errx(2, "usage: load ADDRESS CONNECTIONS SECONDS < REQUEST");
	request = malloc(1 << 26);
	length = fread(request, 1, 1 << 26, stdin);
	for (i = 0; i < count; i++) {
		all[i].fd = polled[i].fd = connected(argv[1]);
		ask(&all[i]);
	}
	begun = now();
	until = begun + atof(argv[3]);
	do {
		for (i = 0; i < count; i++)
			polled[i].events = all[i].sent < length ? POLLOUT : POLLIN;
		if (poll(polled, count, 10000) <= 0)
			errx(1, "no answer within 10 s");
		for (i = 0; i < count; i++) {
			if (polled[i].revents == 0)
				continue;
			if (all[i].sent < length) {
				out(&all[i]);
			} else if (in(&all[i])) {
				note(now() - all[i].begun);
				ask(&all[i]);
				out(&all[i]);
			}
		}
		end = now();
	} while (end < until);
	qsort(took, answers, sizeof(*took), compare);
	printf("{\"answers\": %zu, \"failed\": %zu, \"seconds\": %.6f, \"p50\": %.1f, \"p90\": %.1f, "
	    "\"p99\": %.1f, \"p999\": %.1f}\n", answers - others, others, end - begun,
	    share(.5), share(.9), share(.99), share(.999));
	return 0;
}
