/* What -g records: copies of stacks of a size by the rate and the CPUs, or frame pointers. */
#include "record/parts.h"

#include "tap.h"

#define NO  0
#define MAX RECORD_STACK_MAX

/* The size is 64,000,000 bytes a second / (Hz x CPUs), a multiple of 8 from 4096 up to 65528. */
static const struct {
	uint64_t hz, cpus;
	uint32_t size;
} sizes[] = {
	{49, 2, MAX},	     {99, 2, MAX},	  {99, 8, MAX}, /* 80,808 */
	{99, 10, 64640},					/* 64,646.4 */
	{99, 64, 10096},					/* 10,101.01 */
	{99, 128, 5048},					/* 5,050.5 */
	{99, 157, 4112},					/* 4,117.6 */
	{99, 158, NO},						/* 4,091.5 */
	{99, 256, NO},	     {199, 2, MAX},	  {999, 1, 64064},
	{999, 2, 32032},     {1998, 2, 16016}, /* two events of 999 */
	{999, 16, NO},			       /* 4,004.004 */
	{4000, 2, 8000},     {4000, 4, NO},    /* 4,000 */
	{4999, 2, 6400},		       /* 6,401.3 */
	{4999, 3, 4264},		       /* 4,267.5 */
	{4999, 4, NO},	     {15625, 1, 4096}, /* exactly */
	{15626, 1, NO},	     {64000000, 1, NO},	  {64000001, 1, NO},
	{UINT64_MAX, 1, NO}, {UINT64_MAX, 2, NO}, {UINT64_MAX, UINT64_MAX, NO},
	{1, 1, MAX},	     {0, 2, NO}, /* nothing is sampled */
	{99, 0, NO},
};

/* What stands against copies, whatever the rate. */
static const struct {
	const char *what;
	struct chains_facts facts;
	uint32_t rated, each;
} rows[] = {
	{"of what nothing is known", {99, 2, 0, false, false, true}, MAX, 2048},
	{"few functions with frame pointers", {99, 2, 39, false, false, true}, MAX, 2048},
	{"most of them", {99, 2, 40, false, false, true}, MAX, NO},
	{"Go", {99, 2, 90, true, false, true}, NO, NO},
	{"--snapshot", {99, 2, 0, false, true, true}, NO, NO},
	{"no copies are wanted", {99, 2, 0, false, false, false}, NO, NO},
	{"too often", {9999, 8, 0, false, false, true}, NO, 2048},
};

int main(void)
{
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct chains_facts f = {.hz = sizes[i].hz, .cpus = sizes[i].cpus, .copies = true};

		is_u64(chains_rated(&f, &why), sizes[i].size, "%llu Hz on %llu CPUs",
		       (unsigned long long)f.hz, (unsigned long long)f.cpus);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_u64(chains_rated(&rows[i].facts, &why), rows[i].rated, "%s", rows[i].what);
		ok(why != NULL, "the reason is told");
		is_u64(chains_each(&rows[i].facts, &why), rows[i].each, "without a rate");
		ok(why != NULL, "the reason is told");
	}
	return done();
}
