/*
 * Answers for the tests, by the lookup in birthmark.h.
 *
 *	lookup check			images on standard input, each after its size
 *	lookup answers IMAGE		creates on standard input, as the tests write them
 *	lookup steps IMAGE		the same, but printed are the steps of each
 *
 * Numbers are of 4 bytes, little-endian.
 */
#include <stdint.h>

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
answer(const uint8_t *image, uint32_t known, int of_steps)
{
	struct bm_answers answers;
	struct bm_create create;
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
	free(name);
	free(history);
	if (of_steps)
		write_u64(walked);
	for (word = 0; word < BM_WORDS_MAX && !of_steps; word++)
		write_u64(answers.words[word]);
}

static int
print_answers(const char *path, int of_steps)
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
		answer(image, known, of_steps);
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
		return (print_answers(argv[2], argv[1][0] == 's'));
	return (print_checks());
}
