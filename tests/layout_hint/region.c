/*
 * Answers questions about regions, by the arithmetic that the patches of FFS
 * have (layout_hint/freebsd/ffs_hint.h). A line of numbers is a question:
 *
 *	r SIZE FSIZE FPG NCG IPG ISIZE SBLKNO IBLKNO DBLKNO SUMMARY LAZY START
 *	  LENGTH INODES
 *	i IPG ROTOR LOW HIGH BYTES BYTE...	a free inode outside [LOW, HIGH)
 *	c FROM TO BYTES BYTE...			the first clear bit
 *	s START LOW HIGH LENGTH BYTES BYTE...	a run outside bytes [LOW, HIGH)
 *	f LOW HIGH FRAG WANT BYTES BYTE...	fragments of the region
 */
#include <stdio.h>
#include <stdlib.h>

#include "ffs_hint.h"

static unsigned long long
number(void)
{
	unsigned long long n;

	if (scanf("%llu", &n) != 1)
		exit(1);
	return (n);
}

static uint32_t bytes;
static uint8_t map[65536];

static void
read_map(void)
{
	uint32_t i;

	bytes = (uint32_t)number();
	if (bytes > sizeof(map))
		exit(1);
	for (i = 0; i < bytes; i++)
		map[i] = (uint8_t)number();
}

static void
region(void)
{
	struct ffs_sizes s;
	struct ffs_region r;
	uint64_t start, length;
	int error;

	s.s_size = number();
	s.s_fsize = (uint32_t)number();
	s.s_fpg = (uint32_t)number();
	s.s_ncg = (uint32_t)number();
	s.s_ipg = (uint32_t)number();
	s.s_isize = (uint32_t)number();
	s.s_sblkno = (uint32_t)number();
	s.s_iblkno = (uint32_t)number();
	s.s_dblkno = (uint32_t)number();
	s.s_summary = (uint32_t)number();
	s.s_lazy = (uint32_t)number();
	start = number();
	length = number();
	error = ffs_region_of(&s, start, length, (uint32_t)number(), &r);
	if (error != FFS_REGION_OK)
		printf("%d\n", error);
	else
		printf("%d %u %u %u %u %u\n", error, r.r_cg, r.r_inodes.lo,
		    r.r_inodes.hi, r.r_frags.lo, r.r_frags.hi);
}

/*
 * As the kernel's fragtbl[frag]: which lengths the runs of a byte have. As there
 * the bits of other blocks than those of eight fragments are in one table.
 */
static const uint8_t *
lengths(uint32_t frag)
{
	static uint8_t whole[256], parts[256];
	uint32_t byte, bit, of, run;
	uint8_t *table;

	for (byte = 0; byte < 256; byte++)
		for (of = 1; of <= 8; of *= 2) {
			table = of == 8 ? whole : parts;
			for (bit = run = 0; bit < 8; bit++) {
				run = (byte >> bit & 1) != 0 ? run + 1 : 0;
				if (run > 0 && ((bit + 1) % of == 0 ||
				    (byte >> (bit + 1) & 1) == 0))
					table[byte] |= (uint8_t)(1U <<
					    (run - 1 + of % 8));
				if ((bit + 1) % of == 0)
					run = 0;
			}
		}
	return (frag == 8 ? whole : parts);
}

int
main(void)
{
	struct ffs_range range;
	uint32_t a, b;
	char what;

	while (scanf(" %c", &what) == 1) {
		if (what == 'r') {
			region();
			continue;
		}
		a = what == 'i' || what == 's' ? (uint32_t)number() : 0;
		b = what == 'i' ? (uint32_t)number() : 0;
		range.lo = (uint32_t)number();
		range.hi = (uint32_t)number();
		if (what == 's' || what == 'f')
			b = (uint32_t)number();
		if (what == 'f')
			a = (uint32_t)number();
		read_map();
		if (what == 'i')
			printf("%lld\n", (long long)ffs_hint_inode(map, a, b,
			    range));
		else if (what == 'c')
			printf("%u\n", ffs_hint_clear(map, range.lo, range.hi));
		else if (what == 's')
			printf("%lld\n", (long long)ffs_hint_search(map, bytes,
			    a, range, lengths(8), (uint8_t)(1 << (b - 1))));
		else
			printf("%lld\n", (long long)ffs_hint_fit(map, range, b,
			    a, lengths(b)));
	}
	return (0);
}
