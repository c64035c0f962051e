/*
 * Copies of stacks that are written once. A stack is made up whose bytes change here and there, at
 * addresses that run through all remainders; what the reader puts together must be what was there.
 */
#include "perfdata/known_stacks.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define TOP  UINT64_C(0x7ffe00012340) /* the stack's end */
#define DEEP 150000u		      /* bytes that it may have: more than are remembered */

static uint32_t rand_state = 1;

static uint32_t some(uint32_t below)
{
	rand_state = rand_state * 1664525u + 1013904223u;
	return (rand_state >> 8) % below;
}

/* A copy goes from the writer to the reader. Returns what was left out. wrong: it came out so. */
static size_t pass(struct stack_bytes *w, struct stack_bytes *r, uint64_t sp, const uint8_t *bytes,
		   size_t n, size_t *wrong)
{
	static uint8_t got[KNOWN_BYTES];
	/* In two parts, as a ring has them. */
	size_t first = some((uint32_t)n / 8 + 1) * 8, second = n - first;
	size_t same = known_stack_alike(w, sp + n, bytes + first, second), left;

	if (same == second)
		same += known_stack_alike(w, sp + first, bytes, first);
	left = n - same;
	if (left > first)
		known_stack_learn(w, sp + first, bytes + first, left - first);
	known_stack_learn(w, sp, bytes, left < first ? left : first);

	memcpy(got, bytes, left);
	*wrong += !known_stack_get(r, sp + left, got + left, same);
	known_stack_learn(r, sp, bytes, left);
	*wrong += memcmp(got, bytes, n) != 0;
	return same;
}

static void test_stack(uint32_t most)
{
	static uint8_t stack[DEEP];
	struct known_stacks writer = {0}, reader = {0};
	uint32_t depth = DEEP / 2;
	size_t wrong = 0, all = 0, left_out = 0;

	for (int i = 0; i < 20000; i++) {
		struct stack_bytes *w = known_stack_of(&writer, 7), *r = known_stack_of(&reader, 7);
		uint32_t step = some(100) ? some(200) * 8 : some(DEEP / 8) * 8, n;

		if (!w || !r)
			break;
		depth = some(2) ? depth + step : depth - step;
		depth = depth < 8 || depth > DEEP ? 8 * (1 + some(DEEP / 8 - 1)) : depth;
		for (uint32_t k = some(20); k > 0; k--)
			stack[DEEP - 1 - some(some(50) ? depth / 16 + 1 : depth)]++;
		n = depth < most ? depth : most;
		left_out += pass(w, r, TOP - depth, stack + DEEP - depth, n, &wrong);
		all += n;
		/* Another thread has its place now and then. */
		if (!some(500) && (!known_stack_of(&writer, 7 + KNOWN_STACKS) ||
				   !known_stack_of(&reader, 7 + KNOWN_STACKS)))
			break;
	}
	is_u64(wrong, 0, "copies of %u bytes come out as they were", (unsigned)most);
	ok(left_out > all / 10 && left_out < all, "some of it was left out");
	known_stacks_release(&writer);
	known_stacks_release(&reader);
}

/* What is not known is not made up. */
static void test_edges(void)
{
	struct known_stacks k = {0};
	struct stack_bytes *s = known_stack_of(&k, 3);
	uint8_t a[64], b[64];

	memset(a, 1, sizeof(a));
	ok(s != NULL, "there is memory");
	if (!s)
		return;
	is_u64(known_stack_alike(s, TOP, a, 64), 0, "nothing is known at first");
	known_stack_learn(s, TOP - 64, a, 64);
	is_u64(known_stack_alike(s, TOP, a, 64), 64, "the bytes that were learned");
	is_u64(known_stack_alike(s, TOP + 8, a, 64), 0, "not those after them");
	ok(!known_stack_get(s, TOP - 72, b, 64), "not those before them");
	ok(!known_stack_get(s, TOP - 56, b, 64), "nor more than there are");
	a[31] = 2;
	is_u64(known_stack_alike(s, TOP, a, 64), 32, "up to the word that differs");
	s = known_stack_of(&k, 3 + KNOWN_STACKS);
	is_u64(s ? known_stack_alike(s, TOP, a, 64) : 1, 0, "another thread's are not known");
	known_stacks_release(&k);
}

int main(void)
{
	test_edges();
	test_stack(1024);
	test_stack(8192);
	test_stack(65528);
	return done();
}
