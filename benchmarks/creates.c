/*
 * Creates files at a rate, and tells what a create takes, and when a file has its write-life hint.
 *
 *	creates FOLDER NAMES RATE SECONDS EVERY
 *
 * NAMES is a file with a name a line, which numbers are put before; a file is removed when KEPT
 * others were made after it. Of every EVERYth file the hint is asked for until it is there, for a
 * second at most; 0 asks for none. RATE 0 is as fast as it goes. Prints microseconds as JSON.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define	KEPT		20000
#define	FOLDERS		64
#define	LONGEST		512
#define	GET_RW_HINT	1035

static void
fail(const char *what)
{
	fprintf(stderr, "creates: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

/* Others may have the core meanwhile; what wakes up late creates several at once. */
static void
sleep_until(int64_t at)
{
	struct timespec t = { at / 1000000000, at % 1000000000 };

	if (now() < at)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *
room(size_t count, size_t size)
{
	void *found = calloc(count, size);

	if (found == NULL)
		fail("memory");
	return (found);
}

static size_t
read_names(const char *path, char ***names)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t count = 0, size = 0, most = 0;
	ssize_t length;

	if (file == NULL)
		fail(path);
	while ((length = getline(&line, &size, file)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (count == most) {
			most = most == 0 ? 1024 : 2 * most;
			*names = realloc(*names, most * sizeof(**names));
			if (*names == NULL)
				fail("memory");
		}
		(*names)[count++] = strdup(line);
	}
	free(line);
	fclose(file);
	if (count == 0) {
		fprintf(stderr, "creates: %s: expected a name a line\n", path);
		exit(1);
	}
	return (count);
}

static void
path_of(char *path, const char *folder, char **names, size_t count, long number)
{
	snprintf(path, LONGEST, "%s/%ld/%ld%s", folder, number % FOLDERS, number,
	    names[number % (long)count]);
}

static int
order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return ((x > y) - (x < y));
}

static void
show(const char *name, int64_t *times, long count)
{
	static const struct { const char *name; double share; } shares[] =
	    { { "median", .5 }, { "p99", .99 }, { "p999", .999 }, { "max", 1 } };
	double sum = 0;

	qsort(times, (size_t)count, sizeof(*times), order);
	for (long i = 0; i < count; i++)
		sum += (double)times[i];
	printf(", \"%s\": {\"count\": %ld, \"mean\": %.3f", name, count,
	    count > 0 ? sum / (double)count / 1e3 : 0);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares) && count > 0; i++)
		printf(", \"%s\": %.3f", shares[i].name,
		    (double)times[(long)((double)(count - 1) * shares[i].share)] / 1e3);
	printf("}");
}

/* Returns when a file had its hint, 0 if it was without one for a second. */
static int64_t
hinted(int file)
{
	uint64_t hint = 0;
	int64_t begun = now(), at = begun;

	while (at - begun < 1000000000) {
		if (fcntl(file, GET_RW_HINT, &hint) != 0)
			fail("F_GET_RW_HINT");
		at = now();
		if (hint > 1)
			return (at);
	}
	return (0);
}

int
main(int argc, char **argv)
{
	char path[LONGEST], **names = NULL;
	size_t count;
	double rate, seconds;
	long every, most, made = 0, asked = 0, without = 0;
	int64_t *creates, *hints, begun;

	if (argc != 6) {
		fprintf(stderr, "usage: creates FOLDER NAMES RATE SECONDS EVERY\n");
		return (2);
	}
	count = read_names(argv[2], &names);
	rate = atof(argv[3]);
	seconds = atof(argv[4]);
	every = atol(argv[5]);
	most = (long)(seconds * (rate > 0 ? rate : 1e6));
	creates = room((size_t)most, sizeof(*creates));
	hints = room((size_t)most, sizeof(*hints));
	for (long i = 0; i < FOLDERS; i++) {
		snprintf(path, LONGEST, "%s/%ld", argv[1], i);
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			fail(path);
	}
	begun = now();
	for (; made < most && now() - begun < (int64_t)(seconds * 1e9); made++) {
		int64_t before, at;
		int file;

		if (rate > 0)
			sleep_until(begun + (int64_t)((double)made / rate * 1e9));
		path_of(path, argv[1], names, count, made);
		before = now();
		file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
		creates[made] = now() - before;
		if (file < 0)
			fail(path);
		if (every > 0 && made % every == every - 1) {
			if ((at = hinted(file)) != 0)
				hints[asked++] = at - before;
			else
				without++;
		}
		close(file);
		if (made >= KEPT) {
			path_of(path, argv[1], names, count, made - KEPT);
			if (unlink(path) != 0)
				fail(path);
		}
	}
	printf("{\"made\": %ld, \"seconds\": %.3f, \"without\": %ld", made,
	    (double)(now() - begun) / 1e9, without);
	show("create", creates, made);
	show("hint", hints, asked);
	printf("}\n");
	for (long i = made > KEPT ? made - KEPT : 0; i < made; i++) {
		path_of(path, argv[1], names, count, i);
		unlink(path);
	}
	return (0);
}
