/*
 * Comes with many connections at once, asks one HTTP request on each, and leaves; prints how long
 * the answers took.
 *
 *     crowd PORT CONNECTIONS open|ask < REQUEST
 *
 * With `open` each sends as soon as it is connected, and time begins where it begins to connect;
 * with `ask` all are connected first, then all send, and time begins where each begins to send.
 * Printed is, as JSON, by the status of the answer (0: closed without one) how many there were, and
 * the milliseconds of the given shares of them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STATUSES 600
#define EVENTS 1024
#define OFTEN 8		/* answers are looked for after so many are begun */

struct connection {
	int fd;
	double begun;
	double took;
	int status;
	char head[1024];
	size_t filled;
};

static char request[1 << 16];
static size_t length;
static int polled, together, ready, left;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void watch(struct connection *c, int operation, unsigned events)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	if (epoll_ctl(polled, operation, c->fd, &event) != 0)
		err(1, "epoll_ctl");
}

static void begin(struct connection *c, int port)
{
	struct sockaddr_in host = { .sin_family = AF_INET };
	int on = 1;

	host.sin_port = htons(port);
	host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		err(1, "socket");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->begun = now();
	if (connect(c->fd, (struct sockaddr *)&host, sizeof(host)) != 0 && errno != EINPROGRESS)
		err(1, "port %d", port);
	watch(c, EPOLL_CTL_ADD, EPOLLOUT);
}

/* What is sent to who has left already is lost: then there is an answer to read, or none. */
static void ask(struct connection *c)
{
	(void)!send(c->fd, request, length, MSG_NOSIGNAL);
	watch(c, EPOLL_CTL_MOD, EPOLLIN);
}

static void end(struct connection *c, int status)
{
	c->took = now() - c->begun;
	c->status = status;
	close(c->fd);
}

/* Returns whether the answer is whole. */
static int answered(struct connection *c)
{
	char *body, *field;

	c->head[c->filled] = '\0';
	body = strstr(c->head, "\r\n\r\n");
	field = strcasestr(c->head, "content-length:");
	return body != NULL && field != NULL && field < body
	    && c->filled >= (size_t)(body + 4 - c->head) + atoll(field + 15);
}

/* Returns whether the connection has come to its end. */
static int in(struct connection *c)
{
	ssize_t n = recv(c->fd, c->head + c->filled, sizeof(c->head) - 1 - c->filled, 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n > 0) {
		c->filled += n;
		/* What does not fit into the room for it has its end behind it. */
		if (!answered(c) && c->filled < sizeof(c->head) - 1)
			return 0;
	}
	end(c, c->filled > 12 ? atoi(c->head + 9) : 0);
	return 1;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(struct connection *all, int count)
{
	double *took = calloc(count, sizeof(*took));
	const char *before = "";
	int status, i, n;

	printf("{");
	for (status = 0; status < STATUSES; status++) {
		for (i = n = 0; i < count; i++)
			if (all[i].status == status)
				took[n++] = all[i].took * 1e3;
		if (n == 0)
			continue;
		qsort(took, n, sizeof(*took), compare);
		printf("%s\"%d\": {\"count\": %d, \"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f, \"max\": %.2f}",
		    before, status, n, took[n / 2], took[(int)(.9 * n)], took[(int)(.99 * n)], took[n - 1]);
		before = ", ";
	}
	printf("}\n");
	free(took);
}

/* Looks at what has happened, and waits for it for so many milliseconds. */
static int look(int pause)
{
	static struct epoll_event events[EVENTS];
	int i, n = epoll_wait(polled, events, EVENTS, pause);

	for (i = 0; i < n; i++) {
		struct connection *c = events[i].data.ptr;

		if (events[i].events & EPOLLIN) {
			left -= in(c);
		} else if (events[i].events & (EPOLLERR | EPOLLHUP)) {
			end(c, 0);
			left--, ready++;
		} else if (together) {
			watch(c, EPOLL_CTL_MOD, EPOLLIN);
			ready++;
		} else {
			ask(c);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct rlimit files;
	struct connection *all;
	int count, i;

	if (argc != 4 || (count = atoi(argv[2])) < 1)
		errx(2, "usage: crowd PORT CONNECTIONS open|ask < REQUEST");
	together = strcmp(argv[3], "ask") == 0;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	length = fread(request, 1, sizeof(request), stdin);
	polled = epoll_create1(0);
	all = calloc(count, sizeof(*all));
	if (all == NULL)
		err(1, "memory");
	left = count;
	for (i = 0; i < count; i++) {
		begin(&all[i], atoi(argv[1]));
		if (i % OFTEN == 0)
			look(0);
	}
	while (together && ready < count)
		if (look(60000) <= 0)
			errx(1, "not connected within 60 s");
	for (i = 0; together && i < count; i++) {
		if (all[i].took == 0) {
			all[i].begun = now();
			ask(&all[i]);
		}
		if (i % OFTEN == 0)
			look(0);
	}
	while (left > 0)
		if (look(60000) <= 0)
			errx(1, "no answer within 60 s");
	print(all, count);
	return 0;
}
