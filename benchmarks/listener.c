/*
 * Listens to the creates in a file system as the helper does, and does nothing with them: what
 * fanotify alone costs who creates.
 *
 *	listener FOLDER
 *
 * Flags, the size of a read and the pause between reads are the helper's (watch_creates in
 * layout_hint/hook/src/calls/creates.rs, write_life/hinter.rs). Prints a line once it listens.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#define	EVENTS	(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_DFID_NAME_TARGET)
#define	AT_ONCE	8192
#define	PAUSE	500	/* microseconds */

#ifndef FAN_REPORT_DFID_NAME_TARGET
#define	FAN_REPORT_DFID_NAME_TARGET	(FAN_REPORT_DFID_NAME | FAN_REPORT_FID | 0x00001000)
#endif

int
main(int argc, char **argv)
{
	static char events[AT_ONCE];
	int watch = fanotify_init(EVENTS, O_RDONLY | O_CLOEXEC);

	if (argc != 2 || watch < 0 || fanotify_mark(watch, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
	    FAN_CREATE, AT_FDCWD, argv[1]) != 0) {
		fprintf(stderr, "listener: %s\n", strerror(errno));
		return (1);
	}
	puts("listens");
	fflush(stdout);
	for (;;)
		if (read(watch, events, sizeof(events)) < 0)
			usleep(PAUSE);
}
