/*
 * Answers for the tests, by the lookup in birthmark.h.
 *
 *	lookup check			images on standard input, each after its size
 *	lookup answers IMAGE		creates on standard input, as the tests write them
 *	lookup scores IMAGE		the same, but written are the scores of each
 *	lookup steps IMAGE		the same, but written are the steps of each
 *
 * Numbers are of 4 bytes, little-endian.
 */
#include <stdint.h>
#include <string.h>

static uint64_t	walked;
#define	BM_STEP(n)	(walked += (n))

#include "../../benchmarks/bytes.h"
#include "birthmark.h"

static int
read_u32(FILE *in, uint32_t *number)
{
	uint8_t bytes[4];

	if (fread(bytes, 1, 4, in) != 4)
		return (0);
	*number = bm_u32(bytes);
	return (1);
}

/* A text or NULL: its size and 1, or 0. */
static uint8_t *
read_text(FILE *in, size_t *size)
{
	uint32_t number;

	if (!read_u32(in, &number))
		exit(2);
	*size = number > 0 ? number - 1 : 0;
	return (number > 0 ? read_bytes(in, number - 1) : NULL);
}

static void
write_u64(uint64_t number)
{
	uint8_t bytes[8];
	uint32_t i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	(void)fwrite(bytes, 1, 8, stdout);
}

static void
write_scores(const struct bm_scores *scores)
{
	uint32_t i;

	for (i = 0; i < BM_PREDICATES_MAX; i++) {
		(void)putchar(scores->of[i] & 0xff);
		(void)putchar(scores->of[i] >> 8);
	}
}

static void
answer(const uint8_t *image, uint32_t known, const char *what)
{
	struct bm_answers answers;
	struct bm_create create;
	struct bm_scores scores;
	uint8_t *name, *history;
	uint32_t word;

	create.known = known;
	if (!read_u32(stdin, &create.mode) || !read_u32(stdin, &create.uid) ||
	    !read_u32(stdin, &create.gid) || !read_u32(stdin, &create.client) ||
	    !read_u32(stdin, &create.hour))
		exit(2);
	create.name = name = read_text(stdin, &create.name_len);
	create.history = history = read_text(stdin, &create.history_len);
	walked = 0;
	bm_lookup(image, &create, &answers);
	if (strcmp(what, "steps") == 0)
		write_u64(walked);
	memset(&scores, 0, sizeof(scores));
	bm_score(image, &create, &scores);
	if (strcmp(what, "scores") == 0)
		write_scores(&scores);
	for (word = 0; word < BM_WORDS_MAX && *what == 'a'; word++)
		write_u64(answers.words[word]);
	free(name);
	free(history);
}

static int
print_answers(const char *path, const char *what)
{
	uint32_t known;
	uint8_t *image;
	size_t size;
	enum bm_status status;

	image = read_file(path, &size);
	status = bm_image_check(image, size);
	if (status != BM_OK) {
		(void)fprintf(stderr, "%s\n", bm_status_text(status));
		return (1);
	}
	while (read_u32(stdin, &known))
		answer(image, known, what);
	free(image);
	return (0);
}

static int
print_checks(void)
{
	uint32_t size;
	uint8_t *image;

	while (read_u32(stdin, &size)) {
		image = read_bytes(stdin, size);
		(void)printf("%d\n", (int)bm_image_check(image, size));
		free(image);
	}
	return (0);
}

int
main(int argc, char **argv)
{
	if (argc == 3)
		return (print_answers(argv[2], argv[1]));
	return (print_checks());
}
