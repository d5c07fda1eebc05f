/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * libbirthmark: lookups in an image that `birthmark models image` wrote. For
 * kernels, and for programs without a library, birthmark.h has only the lookup.
 *
 *	cc program.c $(pkg-config --cflags --libs birthmark)
 *
 * A model is immutable: threads may use it at the same time. Calls keep no
 * state.
 */
#ifndef BIRTHMARK_MODEL_H
#define	BIRTHMARK_MODEL_H

#include "birthmark.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bm_model;

/* The answer about a predicate. */
enum bm_word {
	BM_NO = 0,
	BM_UNSURE = 1,
	BM_YES = 2
};

struct bm_said {
	enum bm_word	word;
	double		probability;	/* of a yes: above 0, below 1; 0 if unknown */
};

/*
 * Reads a model. On an error, returns NULL, and writes a message that names the
 * file to why, of size bytes; why may be NULL.
 */
struct bm_model	*bm_model_open(const char *path, char *why, size_t size);

/* Frees a model of bm_model_open(). */
void		 bm_model_close(struct bm_model *model);

/* The number of predicates. */
uint32_t	 bm_model_predicates(const struct bm_model *model);

/* The key of predicate i, valid as long as the model; NULL beyond the last. */
const char	*bm_model_key(const struct bm_model *model, uint32_t i);

/* The place of a predicate, or UINT32_MAX. */
uint32_t	 bm_model_place(const struct bm_model *model, const char *key);

/* Whether answers have probabilities; otherwise these are 0. */
int		 bm_model_has_probabilities(const struct bm_model *model);

/* The answers, a bit for each predicate, as bm_lookup() gives them. */
void		 bm_model_lookup(const struct bm_model *model,
		    const struct bm_create *create, struct bm_answers *answers);

/*
 * The consistent answers about all predicates; said has room for
 * bm_model_predicates() of them.
 */
void		 bm_model_say(const struct bm_model *model,
		    const struct bm_create *create, struct bm_said *said);

#ifdef __cplusplus
}
#endif

#endif /* BIRTHMARK_MODEL_H */
