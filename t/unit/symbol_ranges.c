/* A map of addresses in which later ranges cover earlier ones. */
#include "symbol/ranges.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define SPAN 4096

/* The same, told address by address. */
static uint32_t model[SPAN];

static uint32_t random_below(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % n;
}

static int differences(const struct ranges *t)
{
	int n = 0;

	for (uint32_t a = 0; a < SPAN; a++)
		n += ranges_find(t, a) != model[a];
	return n;
}

static void test_random(uint32_t seed, uint32_t longest, const char *what)
{
	struct ranges t = {0};
	int wrong = 0, uncovered = 0;

	memset(model, 0, sizeof(model));
	for (uint32_t i = 1; i <= 3000; i++) {
		uint32_t start = random_below(&seed, SPAN), len = 1 + random_below(&seed, longest);
		uint32_t end = start + len > SPAN ? SPAN : start + len;
		uint32_t value = random_below(&seed, 8) ? i : 0;
		bool covered = false, was = false;

		for (uint32_t a = start; a < end; a++) {
			was = was || model[a];
			model[a] = value;
		}
		if (ranges_put(&t, start, end, value, &covered))
			abort();
		uncovered += covered != was;
		if (i % 100 == 0)
			wrong += differences(&t);
	}
	is_int(wrong, 0, "%s: every address has its last value", what);
	is_int(uncovered, 0, "%s: it is reported when something is covered", what);
	ranges_release(&t);
}

int main(void)
{
	struct ranges t = {0};
	uint32_t n = 0;

	is_int(ranges_find(&t, 5), 0, "nothing in an empty map");
	is_int(ranges_put(&t, 7, 7, 1, NULL), 0, "an empty range");
	is_int((int64_t)t.n, 0, "is not kept");
	ranges_put(&t, UINT64_MAX - 5, UINT64_MAX, 9, NULL);
	is_int(ranges_find(&t, UINT64_MAX - 1), 9, "up to the last address");
	ranges_release(&t);
	test_random(1, 3, "short ranges");
	test_random(2, 60, "longer ones");
	test_random(3, SPAN, "ranges that cover many");
	for (uint64_t i = 0; i < 100000; i++)
		ranges_put(&t, i * 16, i * 16 + 16, (uint32_t)i + 1, NULL);
	for (uint64_t i = 0; i < 100000; i++)
		n += ranges_find(&t, i * 16 + 15) != i + 1;
	is_int(n, 0, "many in the order of addresses");
	ok(t.n < 100000 / 100, "fill their blocks");
	ranges_release(&t);
	return done();
}
