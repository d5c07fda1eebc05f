/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * libbirthmark: a compiled model in a file, as `birthmark image` writes it,
 * asked by programs. For kernels, and for who wants no library, birthmark.h has
 * the lookup alone.
 *
 *	cc program.c $(pkg-config --cflags --libs birthmark)
 *
 * A model never changes: threads may ask it at the same time. Nothing is kept
 * between calls.
 */
#ifndef BIRTHMARK_MODEL_H
#define	BIRTHMARK_MODEL_H

#include "birthmark.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bm_model;

/* What is said of a predicate. */
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
 * Reads a model. If there is none, returns NULL, and why, which names the file,
 * as a string of less than size bytes; why may be NULL.
 */
struct bm_model	*bm_model_open(const char *path, char *why, size_t size);

/* Gives back what bm_model_open() took. */
void		 bm_model_close(struct bm_model *model);

/* How many predicates it has. */
uint32_t	 bm_model_predicates(const struct bm_model *model);

/* The key of predicate i, which lives as long as the model; NULL beyond. */
const char	*bm_model_key(const struct bm_model *model, uint32_t i);

/* The place of a predicate, or UINT32_MAX. */
uint32_t	 bm_model_place(const struct bm_model *model, const char *key);

/* Whether it says how likely answers are: else their probability is 0. */
int		 bm_model_has_probabilities(const struct bm_model *model);

/* The answers, a bit for each predicate, as bm_lookup() gives them. */
void		 bm_model_lookup(const struct bm_model *model,
		    const struct bm_create *create, struct bm_answers *answers);

/*
 * What is said of each predicate, without contradictions: said has room for
 * bm_model_predicates() of these.
 */
void		 bm_model_say(const struct bm_model *model,
		    const struct bm_create *create, struct bm_said *said);

#ifdef __cplusplus
}
#endif

#endif /* BIRTHMARK_MODEL_H */
