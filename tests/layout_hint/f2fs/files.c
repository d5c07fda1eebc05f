/*
 * What the test of the helper in a virtual machine does there (test_hintd_in_kernel.py).
 *
 *	files wait HINT FILE...		until each has this write-life hint, for a minute at most
 *	files churn FOLDER UNTIL	make, rename, read and remove files until the file UNTIL is there,
 *					and tell how many, and of how many the data are others
 *	files move FOLDER UNTIL		make and remove files, and have F2FS's cleaner move blocks
 *	files portmapper		take what programs register, as rpcbind does
 *	files mount3 FOLDER		mount this host's export /mnt by NFS 3, to the domain "here"
 *	files mount4 FOLDER		mount this host's export / by NFS 4.1
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nfs.h>
#include <linux/nfs_mount.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define	GET_RW_HINT	1035
#define	GARBAGE_COLLECT	_IOW(0xf5, 6, uint32_t)		/* F2FS_IOC_GARBAGE_COLLECT */
#define	LONGEST		256
#define	MOST		40000
#define	AUTH_UNIX	1

static void
fail(const char *what)
{
	fprintf(stderr, "files: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec / 1e9);
}

static int
has_hint(const char *path, uint64_t hint, double seconds)
{
	double end = now() + seconds;
	uint64_t found = 0;
	int file = open(path, O_RDONLY);

	if (file < 0)
		fail(path);
	do {
		if (fcntl(file, GET_RW_HINT, &found) != 0)
			fail(path);
		if (found == hint)
			break;
		usleep(1000);
	} while (now() < end);
	close(file);
	return (found == hint);
}

static int
wait_for(int count, char **arguments)
{
	uint64_t hint = strtoull(arguments[0], NULL, 10);

	for (int i = 1; i < count; i++)
		if (!has_hint(arguments[i], hint, 60)) {
			fprintf(stderr, "files: %s: not hinted\n", arguments[i]);
			return (1);
		}
	return (0);
}

/* Bytes that tell which file they are of. */
static size_t
content_of(long number, unsigned char *content)
{
	size_t length = (size_t)(number * 7919 % MOST);

	for (size_t i = 0; i < length; i++)
		content[i] = (unsigned char)((unsigned long)number + i * i % 251);
	return (length);
}

static void
make(const char *path, const unsigned char *content, size_t length)
{
	int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	if (file < 0 || write(file, content, length) != (ssize_t)length || close(file) != 0)
		fail(path);
}

static int
is_there(const char *path, const unsigned char *content, size_t length)
{
	static unsigned char found[MOST + 1];
	int file = open(path, O_RDONLY);
	ssize_t count;

	if (file < 0)
		fail(path);
	count = read(file, found, sizeof(found));
	close(file);
	return (count == (ssize_t)length && memcmp(found, content, length) == 0);
}

static int
churn(const char *folder, const char *until)
{
	static const char *const endings[] = { "tmp", "log", "txt", "iso", "o" };
	static unsigned char content[MOST];
	char path[LONGEST], moved[LONGEST];
	long number = 0, wrong = 0;

	for (; access(until, F_OK) != 0; number++) {
		size_t length = content_of(number, content);

		snprintf(path, LONGEST, "%s/%ld.%s", folder, number, endings[number % 5]);
		snprintf(moved, LONGEST, "%s/kept%ld", folder, number % 100);
		make(path, content, length);
		if (rename(path, moved) != 0)
			fail(moved);
		wrong += !is_there(moved, content, length);
		if (number % 3 == 0 && unlink(moved) != 0)
			fail(moved);
	}
	for (long last = number > 100 ? number - 100 : 0; last < number; last++) {
		size_t length = content_of(last, content);

		snprintf(moved, LONGEST, "%s/kept%ld", folder, last % 100);
		if (last % 3 != 0)
			wrong += !is_there(moved, content, length);
		else
			wrong += access(moved, F_OK) == 0;
	}
	printf("churned %ld, of which %ld are wrong\n", number, wrong);
	return (wrong != 0);
}

static int
move(const char *folder, const char *until)
{
	static unsigned char content[MOST];
	char path[LONGEST];
	uint32_t wait = 1;
	int place = open(folder, O_RDONLY);

	if (place < 0)
		fail(folder);
	for (long number = 0; access(until, F_OK) != 0; number++) {
		/* In an order that leaves holes in all segments. */
		snprintf(path, LONGEST, "%s/%ld.tmp", folder, number * number % 101);
		if (unlink(path) != 0 && errno != ENOENT)
			fail(path);
		make(path, content, sizeof(content));
		if (syncfs(place) != 0)
			fail(folder);
		if (ioctl(place, GARBAGE_COLLECT, &wait) != 0 && errno != EAGAIN && errno != ENODATA)
			fail("F2FS_IOC_GARBAGE_COLLECT");
	}
	return (0);
}

/* There is no mountd: nfsd itself tells the handle of the export. */
static int
mount_3(const char *folder)
{
	struct nfs_mount_data data = { .version = NFS_MOUNT_VERSION, .fd = -1,
	    .flags = NFS_MOUNT_VER3 | NFS_MOUNT_TCP | NFS_MOUNT_NONLM, .timeo = 600, .retrans = 2,
	    .hostname = "127.0.0.1", .namlen = 255, .pseudoflavor = AUTH_UNIX,
	    .addr = { .sin_family = AF_INET, .sin_port = htons(2049) } };
	static const char asked[] = "here /mnt 64\n";
	char handle_text[2 * NFS3_FHSIZE + 8] = "";
	int file = open("/proc/fs/nfsd/filehandle", O_RDWR);

	data.addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (file < 0 || write(file, asked, sizeof(asked) - 1) < 0 ||
	    read(file, handle_text, sizeof(handle_text) - 1) <= 0)
		fail("/proc/fs/nfsd/filehandle");
	close(file);
	for (const char *hex = handle_text + 2; data.root.size < NFS3_FHSIZE &&
	    sscanf(hex, "%2hhx", &data.root.data[data.root.size]) == 1; hex += 2)
		data.root.size++;
	if (mount("127.0.0.1:/mnt", folder, "nfs", 0, &data) != 0)
		fail(folder);
	return (0);
}

static int
mount_41(const char *folder)
{
	if (mount("127.0.0.1:/", folder, "nfs4", 0,
	    "vers=4.1,sec=sys,addr=127.0.0.1,clientaddr=127.0.0.1") != 0)
		fail(folder);
	return (0);
}

/* Bytes of a stream, all of them; false at its end. */
static int
read_all(int stream, void *bytes, size_t count)
{
	return (recv(stream, bytes, count, MSG_WAITALL) == (ssize_t)count);
}

/* rpcbind, which lockd does not begin without: each registration succeeds and is dropped. */
static int
portmapper(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(111) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), stream;
	/* A record of 28 bytes: whose answer, that it is one, accepted, by nobody, well, and true. */
	uint32_t length, call[256],
	    answer[8] = { htonl(1u << 31 | 28), 0, htonl(1), 0, 0, 0, 0, htonl(1) };

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&own, sizeof(own)) != 0 || listen(listener, 8) != 0)
		fail("port 111");
	if (fork() != 0)
		return (0);
	while ((stream = accept(listener, NULL, NULL)) >= 0) {
		while (read_all(stream, &length, sizeof(length)) &&
		    (length = ntohl(length) & 0x7fffffff) <= sizeof(call) &&
		    read_all(stream, call, length)) {
			answer[1] = call[0];
			if (write(stream, answer, sizeof(answer)) != sizeof(answer))
				break;
		}
		close(stream);
	}
	return (1);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "wait") == 0 && argc > 3)
		return (wait_for(argc - 2, argv + 2));
	if (strcmp(what, "churn") == 0 && argc == 4)
		return (churn(argv[2], argv[3]));
	if (strcmp(what, "move") == 0 && argc == 4)
		return (move(argv[2], argv[3]));
	if (strcmp(what, "mount3") == 0 && argc == 3)
		return (mount_3(argv[2]));
	if (strcmp(what, "mount4") == 0 && argc == 3)
		return (mount_41(argv[2]));
	if (strcmp(what, "portmapper") == 0)
		return (portmapper());
	fprintf(stderr, "usage: files wait|churn|move|portmapper|mount3|mount4 ...\n");
	return (2);
}
