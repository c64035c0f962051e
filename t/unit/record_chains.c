/* What -g records: copies of stacks of a size by the rate and the CPUs, or frame pointers. */
#include "record/parts.h"

#include "tap.h"

#define NO  0
#define MAX RECORD_STACK_MAX

/*
 * The size is 64,000,000 bytes a second / (Hz x CPUs), or 40,000,000 where that is less than 16384,
 * a multiple of 8 from 1024 up to 65528. The helper's Hz: 40,000,000 / 65528 / CPUs, 1 to 399,
 * where the size is not the largest.
 */
static const struct {
	uint64_t hz, cpus;
	uint32_t size, helper;
} sizes[] = {
	{49, 2, MAX, NO},	 {99, 2, MAX, NO},	  {99, 8, MAX, NO}, /* 80,808 */
	{99, 10, 64640, 61},						    /* 64,646.4; 61.04 */
	{99, 39, 16576, 15},						    /* 16,576.0 */
	{99, 40, 10096, 15},				/* 16,161 is too little, 10,101.01 */
	{99, 64, 6312, 9},				/* 6,313.1; 9.5 */
	{99, 256, 1576, 2},				/* 1,578.3; 2.4 */
	{99, 394, 1024, 1},				/* 1,025.5 */
	{99, 395, NO, NO},				/* 1,022.9 */
	{999, 1, 64064, 399},				/* 610 */
	{999, 2, 32032, 305},	 {1998, 2, 10008, 305}, /* two events of 999: 10,010.01 */
	{4999, 1, 8000, 399},				/* 12,802; 8,001.6 */
	{4999, 2, 4000, 305},				/* 4,000.8 */
	{4999, 4, 2000, 152},	 {4999, 8, NO, NO},	/* 1,000.2 */
	{39062, 1, 1024, 399},	 {39063, 1, NO, NO},	  {64000001, 1, NO, NO},
	{UINT64_MAX, 1, NO, NO}, {UINT64_MAX, 2, NO, NO}, {UINT64_MAX, UINT64_MAX, NO, NO},
	{1, 1, MAX, NO},	 {0, 2, NO, NO}, /* nothing is sampled */
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
	{"too often", {9999, 8, 0, false, false, true}, NO, 1024},
};

int main(void)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct chains_facts f = {.hz = sizes[i].hz, .cpus = sizes[i].cpus, .copies = true};

		is_u64(chains_rated(&f, &why), sizes[i].size, "%llu Hz on %llu CPUs",
		       (unsigned long long)f.hz, (unsigned long long)f.cpus);
		is_u64(chains_helper(&f, sizes[i].size, 1), sizes[i].helper, "its helper");
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(chains_rated(&rows[i].facts, &why), rows[i].rated, "%s", rows[i].what);
		ok(why != NULL, "the reason is told");
		is_u64(chains_each(&rows[i].facts, &why), rows[i].each, "without a rate");
		ok(why != NULL, "the reason is told");
	}
	return done();
}
