/* lib/resolve/frame_map.h: against a plain array of what was put in. */
#include "resolve/frame_map.h"

#include "tap.h"

#include <stdlib.h>

#define MANY 20000

static uint64_t seed = 7;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Addresses as they come: many in one function, some elsewhere, with four upper halves. */
static uint64_t some_address(uint32_t i)
{
	static const uint64_t bases[] = {
		0xffffffff81000000, 0xffffffff81000000, 0xffffffffc0000000, 0xffff800000000000, 0,
		0x700000000000};

	/* Numbered, so that no two are alike. */
	return bases[next_random() % 6] + (uint64_t)i * 4 + (next_random() % 64 << 20);
}

static void test_many(void)
{
	static uint64_t addrs[MANY];
	struct frame_map m = {0};
	bool absent = true, present = true, replaced = true;
	int rc = 0;

	is_int((int)frame_map_get(&m, 5), 0, "nothing is in an empty map");
	for (uint32_t i = 0; i < MANY && !rc; i++) {
		addrs[i] = some_address(i);
		absent = absent && !frame_map_get(&m, addrs[i]);
		rc = frame_map_put(&m, addrs[i], i + 1);
	}
	for (uint32_t i = 0; i < MANY; i++)
		present = present && frame_map_get(&m, addrs[i]) == i + 1;
	ok(!rc && absent, "what is not there is not found");
	ok(present, "what is there is, whatever its upper half");
	ok(!frame_map_get(&m, addrs[0] ^ 1ull << 32), "the lower half alone is not enough");
	ok(m.others.n && m.n > m.others.n / 8, "both tables have been used");
	frame_map_clear(&m);
	for (uint32_t i = 0; i < MANY; i++)
		replaced = replaced && !frame_map_get(&m, addrs[i]);
	ok(replaced, "cleared, it has none of them");
	ok(!frame_map_put(&m, addrs[1], 9) && frame_map_get(&m, addrs[1]) == 9, "and takes others");
	frame_map_release(&m);
}

int main(void)
{
	test_many();
	return done();
}
