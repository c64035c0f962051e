/* What -g records: copies of stacks of a size by the rate and the CPUs, or frame pointers. */
#include "record/parts.h"

#include "tap.h"

#define NO  0
#define MAX RECORD_STACK_MAX

/*
 * The size is 64,000,000 bytes a second / (Hz x CPUs), a multiple of 8 up to 65528. Where that is
 * less than 16384 only what changes is written: then it is 200,000,000 / (Hz x CPUs), from 1024 up
 * to 8192, or to the size to which it is cut where too much changes: 40,000,000 / (Hz x CPUs), 512
 * at least. The helper's Hz: 40,000,000 / 65528 / CPUs, 1 to 399, if the size is not the largest.
 */
static const struct {
	uint64_t hz, cpus;
	uint32_t size, helper, cut;
} sizes[] = {
	{49, 2, MAX, NO},
	{99, 2, MAX, NO},
	{99, 8, MAX, NO},	    /* 80,808 */
	{99, 10, 64640, 61},	    /* 64,646.4; 61.04 */
	{99, 39, 16576, 15},	    /* 16,576.0 */
	{99, 40, 10096, 15, 10096}, /* 16,161 is too little; 10,101.01 */
	{99, 64, 8192, 9, 6312},    /* 31,565.7; 9.5; 6,313.1 */
	{99, 256, 7888, 2, 1576},   /* 7,891.4; 2.4; 1,578.3 */
	{99, 1972, 1024, 1, 512},   /* 1,024.4 */
	{99, 1974, NO, NO, 0},	    /* 1,023.4 */
	{999, 1, 64064, 399},	    /* 610 */
	{999, 2, 32032, 305},
	{1998, 2, 10008, 305, 10008}, /* two events of 999: 10,010.01 */
	{4999, 1, 8192, 399, 8000},   /* 12,802; 8,001.6 */
	{4999, 2, 8192, 305, 4000},   /* 4,000.8 */
	{4999, 8, 5000, 76, 1000},    /* 5,001.0; 76.3; 1,000.2 */
	{195312, 1, 1024, 399, 512},
	{195313, 1, NO, NO},
	{64000001, 1, NO, NO},
	{UINT64_MAX, 1, NO, NO},
	{UINT64_MAX, 2, NO, NO},
	{UINT64_MAX, UINT64_MAX, NO, NO},
	{1, 1, MAX, NO},
	{0, 2, NO, NO}, /* nothing is sampled */
	{99, 0, NO, NO},
};

/* What stands against copies, whatever the rate. */
static const struct {
	const char *what;
	struct chains_facts facts;
	uint32_t rated, each;
} rows[] = {
	{"of what nothing is known", {99, 2, 0, false, false, true}, MAX, 1024},
	{"few functions with frame pointers", {99, 2, 39, false, false, true}, MAX, 1024},
	{"most of them", {99, 2, 40, false, false, true}, MAX, NO},
	{"Go", {99, 2, 90, true, false, true}, NO, NO},
	{"--snapshot", {99, 2, 0, false, true, true}, NO, NO},
	{"no copies are wanted", {99, 2, 0, false, false, false}, NO, NO},
	{"too often", {9999, 20, 0, false, false, true}, NO, 1024},
	{"often, with fields beside them",
	 {4999, 2, 0, false, false, true, false, true},
	 4000,
	 1024},
};

int main(void)
{
	const char *why = NULL;
	uint32_t cut;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct chains_facts f = {.hz = sizes[i].hz, .cpus = sizes[i].cpus, .copies = true};

		is_u64(chains_rated(&f, &cut, &why), sizes[i].size, "%llu Hz on %llu CPUs",
		       (unsigned long long)f.hz, (unsigned long long)f.cpus);
		is_u64(cut, sizes[i].cut, "and where too much changes");
		is_u64(chains_helper(&f, sizes[i].size, 1), sizes[i].helper, "its helper");
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(chains_rated(&rows[i].facts, &cut, &why), rows[i].rated, "%s", rows[i].what);
		ok(why != NULL, "the reason is told");
		is_u64(chains_each(&rows[i].facts, &why), rows[i].each, "without a rate");
		ok(why != NULL, "the reason is told");
	}
	return done();
}
