/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The module birthmark: shared declarations.
 */
#ifndef BIRTHMARK_VAR_H
#define	BIRTHMARK_VAR_H

#include <sys/param.h>
#include <sys/systm.h>
#include <sys/conf.h>
#include <sys/eventhandler.h>
#include <sys/kernel.h>
#include <sys/lock.h>
#include <sys/malloc.h>
#include <sys/module.h>
#include <sys/mount.h>
#include <sys/mutex.h>
#include <sys/rmlock.h>
#include <sys/selinfo.h>
#include <sys/sx.h>
#include <sys/taskqueue.h>

#include "bm_hook.h"
#include "ffs_hint.h"

/*
 * Locks, in the order in which they are taken:
 *
 *	w	sc_writer: one change of image, settings or region at a time;
 *		may be slept in, and is never taken by a create
 *	S, Q	sc_settings and sc_queue: those of the hook (bm_hook.h), shared
 *		and exclusive in a create, never slept in
 */
struct birthmark_softc {
	struct bm_hook		 sc_hook;
	struct sx		 sc_writer;
	struct rmlock		 sc_settings;	/* S */
	struct mtx		 sc_queue;	/* Q */
	struct ffs_region	 sc_region;	/* (w) in effect, if armed */
	fsid_t			 sc_fsid;	/* (w) on this file system */
	int			 sc_armed;	/* (w) */
	int			 sc_enable;	/* (w) by sysctl */
	int			 sc_gone;	/* (w) unloaded: stays disarmed */
	int			 sc_dying;	/* (Q) */
	struct selinfo		 sc_readers;	/* (Q) */
	struct cdev		*sc_dev;
	struct taskqueue	*sc_tasks;	/* its own: it sleeps */
	struct task		 sc_task;
	eventhandler_tag	 sc_mounted;
	eventhandler_tag	 sc_unmounted;
};

extern struct birthmark_softc birthmark;

MALLOC_DECLARE(M_BIRTHMARK);

/* birthmark.c: creates */
void	birthmark_wake(struct birthmark_softc *);

/* birthmark_region.c: the region that is in effect */
int	birthmark_apply(struct birthmark_softc *, const struct bm_config *, int);
void	birthmark_disarm(struct birthmark_softc *);
void	birthmark_used(struct birthmark_softc *);
int	birthmark_config(struct birthmark_softc *, const struct bm_config *);

/* birthmark_dev.c: the device */
int	birthmark_dev_make(struct birthmark_softc *);
void	birthmark_dev_destroy(struct birthmark_softc *);

#endif /* BIRTHMARK_VAR_H */
