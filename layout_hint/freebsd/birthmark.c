/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * A loadable module that tells FFS which new files and directories are expected
 * to be hot, by a model that is loaded through /dev/birthmark. FFS must have
 * the patches beside this file.
 *
 * This part: what a create calls, and loading and unloading.
 */
#include "birthmark_var.h"

#include <sys/stat.h>

MALLOC_DEFINE(M_BIRTHMARK, "birthmark", "compiled models");

/* These outlive unloading, until the sysctls are gone, too. */
struct birthmark_softc birthmark;
SX_SYSINIT(birthmark_writer, &birthmark.sc_writer, "birthmark writer");
RM_SYSINIT(birthmark_settings, &birthmark.sc_settings, "birthmark settings");
MTX_SYSINIT(birthmark_queue, &birthmark.sc_queue, "birthmark queue", MTX_DEF);

/*
 * In a create: the parent's vnode is locked, and FFS holds a lock under which
 * sleeping is forbidden. Nothing is allocated or waited for.
 */
static int
birthmark_ask(const struct ffs_create *new)
{
	struct birthmark_softc *sc = &birthmark;
	struct rm_priotracker tracker;
	struct bm_create create;
	uint32_t before, verdict;

	bzero(&create, sizeof(create));
	create.name = new->c_name;
	create.name_len = new->c_len;
	create.known = BM_KNOWN_MODE | BM_KNOWN_UID | BM_KNOWN_GID |
	    BM_KNOWN_HOUR;
	create.mode = new->c_mode & ALLPERMS;
	create.uid = new->c_uid;
	create.gid = new->c_gid;
	create.hour = time_second % (24 * 60 * 60) / (60 * 60);

	rm_rlock(&sc->sc_settings, &tracker);
	if (bm_hook_mode(&sc->sc_hook) == BM_MODE_QUERY) {
		mtx_lock(&sc->sc_queue);
		before = bm_hook_questions(&sc->sc_hook);
		verdict = bm_hook_ask(&sc->sc_hook, &create,
		    S_ISDIR(new->c_mode));
		if (bm_hook_questions(&sc->sc_hook) > before)
			birthmark_wake(sc);
		mtx_unlock(&sc->sc_queue);
	} else
		verdict = bm_hook_ask(&sc->sc_hook, &create,
		    S_ISDIR(new->c_mode));
	rm_runlock(&sc->sc_settings, &tracker);
	return (verdict != 0);
}

/* The lock of FFS's mount may be held. */
static void
birthmark_outcome(enum ffs_hint_outcome outcome)
{

	bm_hook_outcome(&birthmark.sc_hook, (enum bm_outcome)outcome);
}

static const struct ffs_hint_ops birthmark_ops = {
	.h_ask = birthmark_ask,
	.h_outcome = birthmark_outcome
};

/* Wakes the readers that wait for a question. Q is held. */
void
birthmark_wake(struct birthmark_softc *sc)
{

	mtx_assert(&sc->sc_queue, MA_OWNED);
	wakeup(&sc->sc_hook);
	selwakeup(&sc->sc_readers);
}

/*
 * A file system came or went: perhaps that with the region. Handled later,
 * since this thread has the mount busy, which the settings wait for.
 */
static void
birthmark_task(void *arg, int pending __unused)
{
	struct birthmark_softc *sc = arg;

	sx_xlock(&sc->sc_writer);
	if (birthmark_apply(sc, &sc->sc_hook.config, sc->sc_enable) != 0)
		birthmark_disarm(sc);
	sx_xunlock(&sc->sc_writer);
}

static void
birthmark_mounted(void *arg, struct mount *mp __unused,
    struct vnode *vp __unused, struct thread *td __unused)
{
	struct birthmark_softc *sc = arg;

	taskqueue_enqueue(sc->sc_tasks, &sc->sc_task);
}

static void
birthmark_unmounted(void *arg, struct mount *mp __unused,
    struct thread *td __unused)
{
	struct birthmark_softc *sc = arg;

	taskqueue_enqueue(sc->sc_tasks, &sc->sc_task);
}

static int
birthmark_load(struct birthmark_softc *sc)
{
	int error;

	bm_hook_init(&sc->sc_hook);
	sc->sc_enable = 1;
	TASK_INIT(&sc->sc_task, 0, birthmark_task, sc);
	error = ffs_hint_register(&birthmark_ops);
	if (error != 0)
		return (error);
	error = birthmark_dev_make(sc);
	if (error != 0) {
		ffs_hint_unregister(&birthmark_ops);
		return (error);
	}
	sc->sc_tasks = taskqueue_create("birthmark", M_WAITOK,
	    taskqueue_thread_enqueue, &sc->sc_tasks);
	(void)taskqueue_start_threads(&sc->sc_tasks, 1, PWAIT, "birthmark");
	sc->sc_mounted = EVENTHANDLER_REGISTER(vfs_mounted, birthmark_mounted,
	    sc, EVENTHANDLER_PRI_ANY);
	sc->sc_unmounted = EVENTHANDLER_REGISTER(vfs_unmounted,
	    birthmark_unmounted, sc, EVENTHANDLER_PRI_ANY);
	return (0);
}

/*
 * First the sources of changes, then the region, then the hook: when FFS has
 * released it, no create is in here any more.
 */
static void
birthmark_unload(struct birthmark_softc *sc)
{

	birthmark_dev_destroy(sc);
	EVENTHANDLER_DEREGISTER(vfs_mounted, sc->sc_mounted);
	EVENTHANDLER_DEREGISTER(vfs_unmounted, sc->sc_unmounted);
	taskqueue_drain(sc->sc_tasks, &sc->sc_task);
	taskqueue_free(sc->sc_tasks);
	sx_xlock(&sc->sc_writer);
	sc->sc_gone = 1;
	birthmark_disarm(sc);
	sx_xunlock(&sc->sc_writer);
	ffs_hint_unregister(&birthmark_ops);
	seldrain(&sc->sc_readers);
	free(__DECONST(void *, sc->sc_hook.slot.image), M_BIRTHMARK);
}

static int
birthmark_modevent(module_t mod __unused, int type, void *arg __unused)
{

	switch (type) {
	case MOD_LOAD:
		return (birthmark_load(&birthmark));
	case MOD_UNLOAD:
		birthmark_unload(&birthmark);
		return (0);
	default:
		return (EOPNOTSUPP);
	}
}

DEV_MODULE(birthmark, birthmark_modevent, NULL);
MODULE_VERSION(birthmark, 1);
MODULE_DEPEND(birthmark, ufs, 1, 1, 1);
