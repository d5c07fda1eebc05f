/*
 * Play a load, as benchmarks/linux/load.py writes it, on the file system that
 * is mounted at the folder given:
 *
 *     player LOAD FOLDER
 *
 * An operation that the system refuses is counted and left out.  At the end a
 * line for each counter is printed: its name and its value.
 *
 * Files lie in folders that are named by their numbers, one below the root
 * each: a rename of a folder is then nothing, and a path has two parts.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define	BLOCK		4096
#define	PIECE		(1 << 20)
#define	NAME_SIZE	256

#ifndef F_SET_RW_HINT
#define	F_SET_RW_HINT	1036
#endif

enum op {
	OP_END, OP_FOLDER, OP_CREATE, OP_WRITE, OP_TRUNCATE, OP_REMOVE,
	OP_RENAME, OP_LINK, OP_SYNC, OP_FLUSH, OP_FILL, OP_MARK
};

/* As struct.Struct("<BBHHHIIQQ") of load.py packs it. */
struct record {
	uint8_t		op;
	uint8_t		hint;		/* write-life hint; 0: none is set */
	uint16_t	name_len;
	uint16_t	name2_len;
	uint16_t	percent;	/* OP_FILL: how full it is made */
	uint32_t	folder;
	uint32_t	folder2;
	uint64_t	offset;		/* OP_TRUNCATE: the size */
	uint64_t	count;		/* bytes */
} __attribute__((packed));

static struct {
	uint64_t	operations;
	uint64_t	refused;
	uint64_t	user_blocks;	/* blocks of 4 KB that writes touched */
	uint64_t	hinted;		/* files whose hint was set */
} counters;

static char piece[PIECE];
static uint64_t empty;			/* free blocks before the first step */

static void
read_exactly(FILE *load, void *to, size_t size)
{
	if (fread(to, 1, size, load) != size)
		errx(1, "the load ends within an operation");
}

static void
path_of(char *path, FILE *load, uint32_t folder, uint16_t len)
{
	char name[NAME_SIZE];

	if (len >= sizeof(name))
		errx(1, "a name of %u bytes: expected at most 255", len);
	read_exactly(load, name, len);
	name[len] = '\0';
	snprintf(path, PATH_MAX, "%u/%s", folder, name);
}

static int
write_at(int fd, uint64_t offset, uint64_t count)
{
	size_t size;

	if (count > 0)
		counters.user_blocks +=
		    (offset + count - 1) / BLOCK - offset / BLOCK + 1;
	for (; count > 0; offset += size, count -= size) {
		size = count < PIECE ? count : PIECE;
		if (pwrite(fd, piece, size, (off_t)offset) != (ssize_t)size)
			return (-1);
	}
	return (0);
}

static int
create(const char *path, const struct record *record)
{
	uint64_t hint = record->hint;
	int fd, result;

	if ((fd = open(path, O_CREAT | O_WRONLY, 0666)) < 0)
		return (-1);
	if (hint != 0 && fcntl(fd, F_SET_RW_HINT, &hint) == 0)
		counters.hinted++;
	result = write_at(fd, 0, record->count);
	close(fd);
	return (result);
}

/* Blocks that users may still fill: F2FS counts its own as full. */
static uint64_t
free_blocks(void)
{
	struct statfs found;

	if (statfs(".", &found) != 0)
		err(1, "statfs");
	return (found.f_bfree);
}

/* Make a file as long as the file system is less full than it is to be. */
static int
fill(const char *path, const struct record *record)
{
	uint64_t now = free_blocks();

	if ((empty - now) * 100 >= empty * record->percent)
		return (0);
	return (create(path, record));
}

/* The file of the last step, which is open: the next step is often on the same. */
static struct {
	char	path[PATH_MAX];
	int	fd;
} last = { .fd = -1 };

static void
close_last(void)
{
	if (last.fd >= 0)
		close(last.fd);
	last.fd = -1;
}

static int
open_again(const char *path)
{
	if (last.fd >= 0 && strcmp(last.path, path) == 0)
		return (last.fd);
	close_last();
	strcpy(last.path, path);
	last.fd = open(path, O_WRONLY);
	return (last.fd);
}

static int
on_file(const char *path, const struct record *record)
{
	int fd;

	if ((fd = open_again(path)) < 0)
		return (-1);
	switch (record->op) {
	case OP_WRITE:
		return (write_at(fd, record->offset, record->count));
	case OP_TRUNCATE:
		return (ftruncate(fd, (off_t)record->offset));
	case OP_SYNC:
		return (fsync(fd));
	default:
		return (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	}
}

static bool
is_on_file(const struct record *record)
{
	return (record->op == OP_WRITE || record->op == OP_TRUNCATE ||
	    record->op == OP_SYNC || record->op == OP_FLUSH);
}

static void
tell(const char *when)
{
	printf("%s.operations %llu\n", when,
	    (unsigned long long)counters.operations);
	printf("%s.refused %llu\n", when, (unsigned long long)counters.refused);
	printf("%s.user_blocks %llu\n", when,
	    (unsigned long long)counters.user_blocks);
	printf("%s.hinted %llu\n", when, (unsigned long long)counters.hinted);
	printf("%s.full %llu\n", when,
	    (unsigned long long)((empty - free_blocks()) * 100 / empty));
	fflush(stdout);
}

/* Print a file of the kernel's, if there is one, between two lines that name it. */
static void
show(const char *when, const char *path)
{
	char text[8192];
	FILE *file;
	size_t size;

	if ((file = fopen(path, "r")) == NULL)
		return;
	printf("<%s %s>\n", when, path);
	while ((size = fread(text, 1, sizeof(text), file)) > 0)
		fwrite(text, 1, size, stdout);
	fclose(file);
	printf("</%s>\n", when);
	fflush(stdout);
}

/* Where kernels count: one has debugfs, the other calls its disk ubda. */
static const char *const counts[] = {
	"/sys/kernel/debug/f2fs/status",
	"/sys/fs/f2fs/vda/moved_blocks_foreground",
	"/sys/fs/f2fs/vda/moved_blocks_background",
	"/sys/block/vda/stat",
	"/sys/fs/f2fs/ubda/moved_blocks_foreground",
	"/sys/fs/f2fs/ubda/moved_blocks_background",
	"/sys/block/ubda/stat",
};

/* Bring what is dirty to the disk, and tell all counters. */
static int
mark(const char *when)
{
	size_t n;
	int fd;

	if ((fd = open(".", O_RDONLY)) < 0 || syncfs(fd) != 0)
		return (-1);
	close(fd);
	tell(when);
	for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
		show(when, counts[n]);
	return (0);
}

static int
play(FILE *load, const struct record *record)
{
	char path[PATH_MAX], path2[PATH_MAX];

	path_of(path, load, record->folder, record->name_len);
	path_of(path2, load, record->folder2, record->name2_len);
	if (is_on_file(record))
		return (on_file(path, record));
	close_last();
	switch (record->op) {
	case OP_FOLDER:
		return (mkdir(path, 0777));
	case OP_CREATE:
		return (create(path, record));
	case OP_REMOVE:
		return (unlink(path));
	case OP_RENAME:
		return (rename(path, path2));
	case OP_LINK:
		return (link(path, path2));
	case OP_FILL:
		return (fill(path, record));
	case OP_MARK:
		return (mark("mark"));
	default:
		errx(1, "no operation %u", record->op);
	}
}

int
main(int argc, char **argv)
{
	struct record record;
	FILE *load;

	if (argc != 3)
		errx(2, "expected: player LOAD FOLDER");
	if ((load = fopen(argv[1], "r")) == NULL)
		err(1, "%s", argv[1]);
	if (chdir(argv[2]) != 0)
		err(1, "%s", argv[2]);
	empty = free_blocks();
	for (;;) {
		read_exactly(load, &record, sizeof(record));
		if (record.op == OP_END)
			break;
		counters.operations++;
		if (play(load, &record) != 0)
			counters.refused++;
	}
	close_last();
	if (mark("end") != 0)
		err(1, "syncfs");
	return (0);
}
