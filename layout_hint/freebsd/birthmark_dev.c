/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The module birthmark: its device, /dev/birthmark (birthmark_hint.h). Models
 * and settings come in by ioctl(2), questions are read, answers come in by
 * ioctl(2) again.
 */
#include "birthmark_var.h"

#include <sys/fcntl.h>
#include <sys/poll.h>
#include <sys/proc.h>
#include <sys/uio.h>

static d_ioctl_t	birthmark_ioctl;
static d_poll_t		birthmark_poll;
static d_read_t		birthmark_read;

static struct cdevsw birthmark_cdevsw = {
	.d_version =	D_VERSION,
	.d_name =	"birthmark",
	.d_ioctl =	birthmark_ioctl,
	.d_poll =	birthmark_poll,
	.d_read =	birthmark_read
};

int
birthmark_dev_make(struct birthmark_softc *sc)
{

	return (make_dev_p(MAKEDEV_CHECKNAME | MAKEDEV_WAITOK, &sc->sc_dev,
	    &birthmark_cdevsw, NULL, UID_ROOT, GID_WHEEL, 0600, "birthmark"));
}

void
birthmark_dev_destroy(struct birthmark_softc *sc)
{

	mtx_lock(&sc->sc_queue);
	sc->sc_dying = 1;
	birthmark_wake(sc);
	mtx_unlock(&sc->sc_queue);
	destroy_dev(sc->sc_dev);
}

/* Replaces the image by a checked one, or by none. */
static void
birthmark_swap(struct birthmark_softc *sc, const struct bm_slot *slot)
{
	const void *before;

	sx_xlock(&sc->sc_writer);
	rm_wlock(&sc->sc_settings);
	mtx_lock(&sc->sc_queue);
	before = bm_hook_swap(&sc->sc_hook, slot);
	mtx_unlock(&sc->sc_queue);
	rm_wunlock(&sc->sc_settings);
	/* All lookups in it have left the read section. */
	free(__DECONST(void *, before), M_BIRTHMARK);
	(void)birthmark_apply(sc, &sc->sc_hook.config, sc->sc_enable);
	sx_xunlock(&sc->sc_writer);
}

static int
birthmark_load_image(struct birthmark_softc *sc, struct bm_load *load)
{
	struct bm_slot slot;
	void *image = NULL;
	int error;

	if (load->version != BM_HINT_VERSION)
		return (EINVAL);
	/* One that is too large is not even fetched; the check says so. */
	if (load->size != 0 && load->size <= BM_IMAGE_MAX) {
		image = malloc(load->size, M_BIRTHMARK, M_WAITOK);
		error = copyin((const void *)(uintptr_t)load->data, image,
		    load->size);
		if (error != 0) {
			free(image, M_BIRTHMARK);
			return (error);
		}
	}
	load->status = bm_hook_check(&sc->sc_hook, image, load->size, &slot);
	if (load->status == BM_OK)
		birthmark_swap(sc, &slot);
	else
		free(image, M_BIRTHMARK);
	mtx_lock(&sc->sc_queue);
	load->generation = sc->sc_hook.generation;
	mtx_unlock(&sc->sc_queue);
	return (0);
}

static int
birthmark_status(struct birthmark_softc *sc, struct bm_state *state)
{
	struct rm_priotracker tracker;

	if (state->version != BM_HINT_VERSION)
		return (EINVAL);
	sx_xlock(&sc->sc_writer);
	birthmark_used(sc);
	rm_rlock(&sc->sc_settings, &tracker);
	mtx_lock(&sc->sc_queue);
	bm_hook_state(&sc->sc_hook, state);
	mtx_unlock(&sc->sc_queue);
	rm_runlock(&sc->sc_settings, &tracker);
	sx_xunlock(&sc->sc_writer);
	return (0);
}

static int
birthmark_answer(struct birthmark_softc *sc, const struct bm_decision *decision)
{
	int accepted;

	if (decision->version != BM_HINT_VERSION ||
	    (decision->verdict & ~BM_HOT_ALL) != 0)
		return (EINVAL);
	mtx_lock(&sc->sc_queue);
	accepted = bm_hook_answer(&sc->sc_hook, decision->id, decision->verdict);
	mtx_unlock(&sc->sc_queue);
	return (accepted ? 0 : ENOENT);
}

static int
birthmark_flush(struct birthmark_softc *sc, struct bm_flush *flush)
{

	if (flush->version != BM_HINT_VERSION)
		return (EINVAL);
	mtx_lock(&sc->sc_queue);
	flush->generation = bm_hook_flush(&sc->sc_hook);
	mtx_unlock(&sc->sc_queue);
	return (0);
}

static int
birthmark_ioctl(struct cdev *dev __unused, u_long command, caddr_t data,
    int fflag, struct thread *td __unused)
{
	struct birthmark_softc *sc = &birthmark;

	if (command != BMIOC_STATUS && (fflag & FWRITE) == 0)
		return (EBADF);
	switch (command) {
	case BMIOC_LOAD:
		return (birthmark_load_image(sc, (struct bm_load *)data));
	case BMIOC_STATUS:
		return (birthmark_status(sc, (struct bm_state *)data));
	case BMIOC_CONFIG:
		return (birthmark_config(sc, (const struct bm_config *)data));
	case BMIOC_ANSWER:
		return (birthmark_answer(sc, (const struct bm_decision *)data));
	case BMIOC_FLUSH:
		return (birthmark_flush(sc, (struct bm_flush *)data));
	default:
		return (ENOTTY);
	}
}

/* Takes a question; with none there, waits for one if allowed. */
static int
birthmark_next(struct birthmark_softc *sc, struct bm_question *question,
    int wait)
{
	int error = 0;

	mtx_lock(&sc->sc_queue);
	while (error == 0 && !bm_hook_next(&sc->sc_hook, question)) {
		if (sc->sc_dying)
			error = ENXIO;
		else if (!wait)
			error = EWOULDBLOCK;
		else
			error = mtx_sleep(&sc->sc_hook, &sc->sc_queue, PCATCH,
			    "birthmark", 0);
	}
	mtx_unlock(&sc->sc_queue);
	return (error);
}

static int
birthmark_read(struct cdev *dev __unused, struct uio *uio, int ioflag)
{
	struct birthmark_softc *sc = &birthmark;
	struct bm_question question;
	int error, wait;

	if (uio->uio_resid < (ssize_t)sizeof(question))
		return (EINVAL);
	wait = (ioflag & O_NONBLOCK) == 0;
	while (uio->uio_resid >= (ssize_t)sizeof(question)) {
		error = birthmark_next(sc, &question, wait);
		if (error != 0)
			return (error);	/* no error if some were given */
		error = uiomove(&question, sizeof(question), uio);
		if (error != 0) {
			mtx_lock(&sc->sc_queue);
			bm_hook_forget(&sc->sc_hook, question.id);
			mtx_unlock(&sc->sc_queue);
			return (error);
		}
		wait = 0;
	}
	return (0);
}

static int
birthmark_poll(struct cdev *dev __unused, int events, struct thread *td)
{
	struct birthmark_softc *sc = &birthmark;
	int revents;

	revents = 0;
	if ((events & (POLLIN | POLLRDNORM)) == 0)
		return (0);
	mtx_lock(&sc->sc_queue);
	if (bm_hook_questions(&sc->sc_hook) > 0)
		revents = events & (POLLIN | POLLRDNORM);
	else
		selrecord(td, &sc->sc_readers);
	mtx_unlock(&sc->sc_queue);
	return (revents);
}
