/* lib/base/arena.h, intern.h, path_tree.h, weights.h: against arrays with what must be found. */
#include "base/arena.h"
#include "base/intern.h"
#include "base/path_tree.h"
#include "base/weights.h"

#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

#define MANY 20000

static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void test_arena(void)
{
	static uint8_t *p[1000];
	static size_t size[1000];
	struct arena a = ARENA_INIT;
	bool aligned = true, kept = true;
	size_t sum = 0;

	for (int i = 0; i < 1000; i++) {
		size[i] = next_random() % (i % 100 ? 200 : 200000);
		p[i] = arena_alloc(&a, size[i]);
		aligned = aligned && p[i] && (uintptr_t)p[i] % 8 == 0;
		memset(p[i], i & 0xff, size[i]);
		sum += size[i];
	}
	for (int i = 0; i < 1000; i++)
		for (size_t k = 0; k < size[i]; k++)
			kept = kept && p[i][k] == (i & 0xff);
	ok(aligned, "allocations are aligned to 8 bytes");
	ok(kept, "and do not overlap");
	ok(a.total >= sum, "total counts at least what was asked for");
	is_str(arena_dup(&a, "abcdef", 3), "abc", "a copy ends in a NUL");
	p[0] = arena_zalloc(&a, 300000);
	kept = p[0] != NULL;
	for (size_t k = 0; kept && k < 300000; k++)
		kept = !p[0][k];
	ok(kept, "zalloc gives zeroes");
	ok(!arena_alloc(&a, SIZE_MAX) && !arena_alloc(&a, SIZE_MAX - 7), "too large a size fails");
	sum = a.total;
	arena_reset(&a);
	ok(!a.blocks && !a.total && a.spare, "forgotten, its blocks are kept");
	for (int i = 0; i < 1000; i++) {
		p[i] = arena_alloc(&a, size[i]);
		memset(p[i], i & 0xff, size[i]);
	}
	kept = true;
	for (int i = 0; i < 1000; i++)
		for (size_t k = 0; k < size[i]; k++)
			kept = kept && p[i][k] == (i & 0xff);
	ok(kept && a.total <= sum, "and used again");
	/* What is too small for the next is not kept for ever. */
	for (int i = 0; i < 100; i++) {
		arena_reset(&a);
		arena_alloc(&a, 100000 + 1000 * (size_t)i);
	}
	arena_reset(&a);
	ok(!arena_alloc(&a, SIZE_MAX) && arena_alloc(&a, 1 << 20) && !a.spare,
	   "blocks that are skipped are freed");
	arena_release(&a);
	ok(!a.blocks && !a.total, "released");
	ok(arena_alloc(&a, 1) != NULL, "and usable again");
	arena_release(&a);
}

static void test_intern(void)
{
	struct intern t = INTERN_INIT;
	bool dense = true, same = true, fresh, text_ok = true;
	uint32_t id;
	size_t len;
	char s[32];

	is_int(intern_find(&t, "x", 1), 0, "nothing is found in an empty table");
	for (int i = 0; i < MANY; i++) {
		int n = snprintf(s, sizeof(s), "symbol_%d", i);

		dense = dense && !intern_add(&t, s, (size_t)n, &id, &fresh) && fresh &&
			id == (uint32_t)i + 1;
	}
	ok(dense, "new strings get the ids 1, 2, 3 ...");
	for (int i = MANY - 1; i >= 0; i--) {
		int n = snprintf(s, sizeof(s), "symbol_%d", i);

		same = same && !intern_add(&t, s, (size_t)n, &id, &fresh) && !fresh &&
		       id == (uint32_t)i + 1 && intern_find(&t, s, (size_t)n) == id;
		text_ok = text_ok && !strcmp(intern_get(&t, id, &len), s) && len == (size_t)n;
	}
	ok(same, "known ones keep theirs");
	ok(text_ok, "the text of an id, with a NUL after it");
	is_int(intern_find(&t, "symbol_", 7), 0, "a prefix is another string");
	ok(!intern_get(&t, 0, &len) && len == 0, "0 is no id");
	ok(!intern_get(&t, MANY + 1, &len) && len == 0, "nor is one never given out");
	intern_release(&t);
}

/*
 * intern_again gives what intern_add gives, for strings of few bytes that differ in one place or in
 * length.
 */
static void test_intern_again(void)
{
	struct intern a = INTERN_INIT, b = INTERN_INIT;
	uint32_t random = 1, bad = 0;

	for (int i = 0; i < 200000; i++) {
		char s[48];
		uint32_t x, y;
		size_t len;

		random = random * 1103515245 + 12345;
		len = random >> 16 & 63;
		len = len > sizeof(s) ? 5 : len;
		memset(s, i & 1 ? 0 : 'a', sizeof(s));
		if (len)
			s[(random >> 8) % len] = (char)('a' + (random >> 24) % 4);
		if (intern_again(&a, s, len, &x) || intern_add(&b, s, len, &y, NULL) || x != y ||
		    intern_find(&a, s, len) != x)
			bad++;
	}
	is_int((int)bad, 0, "known again as what it is");
	ok(a.n == b.n && a.n > 300, "as many strings");
	intern_release(&a);
	intern_release(&b);
}

static void test_intern_bytes(void)
{
	struct intern t = INTERN_INIT;
	uint32_t id[5];

	intern_add(&t, "", 0, &id[0], NULL);
	intern_add(&t, "\0", 1, &id[1], NULL);
	intern_add(&t, "\0\0", 2, &id[2], NULL);
	intern_add(&t, "a\0b", 3, &id[3], NULL);
	intern_add(&t, "a\0c", 3, &id[4], NULL);
	for (int i = 0; i < 5; i++)
		is_int(id[i], i + 1, "bytes with NULs are told apart, string %d", i);
	intern_add(&t, NULL, 0, &id[1], NULL);
	is_int(id[1], 1, "no bytes at all are the empty string");
	intern_release(&t);
}

/* Random puts and removals, with keys that collide, against an array. */
static void test_map64(void)
{
	static uint32_t want[4096];
	static bool there[4096];
	struct map64 m = MAP64_INIT;
	bool good = true, fresh;
	uint32_t n = 0, *v;

	ok(!map64_get(&m, 0), "nothing is found in an empty map");
	map64_del(&m, 0);
	for (uint32_t i = 0; i < 200000 && good; i++) {
		uint32_t k = (uint32_t)(next_random() % 4096);
		uint64_t key = (uint64_t)k << (k % 3 * 20);

		/* Shifted keys may be equal to others: keep to those that are not. */
		if (k % 3 && !(key >> 13))
			continue;
		if (next_random() % 3) {
			v = map64_put(&m, key, &fresh);
			good = v && fresh == !there[k] && (!fresh || *v == 0) &&
			       (fresh || *v == want[k]);
			if (good)
				*v = want[k] = i;
			n += !there[k];
			there[k] = true;
		} else {
			map64_del(&m, key);
			n -= there[k];
			there[k] = false;
		}
		good = good && m.n == n;
	}
	ok(good, "200,000 random puts and removals");
	for (uint32_t k = 0; k < 4096 && good; k++) {
		uint64_t key = (uint64_t)k << (k % 3 * 20);

		if (k % 3 && !(key >> 13))
			continue;
		v = map64_get(&m, key);
		good = there[k] ? v && *v == want[k] : !v;
	}
	ok(good && n > 1000, "in the end the map holds what the array holds");
	map64_clear(&m);
	ok(!m.n && !map64_get(&m, 3), "cleared");
	map64_release(&m);
}

static void test_map64_edges(void)
{
	struct map64 m = MAP64_INIT;
	bool fresh;

	*map64_put(&m, 0, &fresh) = 5;
	ok(fresh, "0 is a key");
	*map64_put(&m, UINT64_MAX, NULL) = 6;
	ok(map64_get(&m, 0) && *map64_get(&m, 0) == 5, "key 0 is found");
	ok(map64_get(&m, UINT64_MAX) && *map64_get(&m, UINT64_MAX) == 6, "so is 2^64-1");
	map64_del(&m, 0);
	ok(!map64_get(&m, 0) && map64_get(&m, UINT64_MAX), "a removal leaves the other");
	map64_release(&m);
}

/* Each node of a plain tree beside its own: any shape; long chains, of one run or several. */
static void test_paths(void)
{
	static uint32_t parent[MANY], name[MANY], depth[MANY];
	struct paths p;
	bool found = true, kept = true, runs = true;
	uint32_t node, n = 1, inside = 0;
	int rc = paths_init(&p);

	rc = rc ? rc : paths_index(&p);
	for (uint32_t i = 1; i < MANY / 4 && !rc; i++) {
		/* Mostly the node before; else any, the root among them. */
		uint32_t up = next_random() % 20 ? n - 1 : (uint32_t)(next_random() % n);
		uint32_t want = (uint32_t)(next_random() % 7), k = 1;

		while (k < n && !(parent[k] == up && name[k] == want))
			k++;
		node = paths_find(&p, up, want);
		found = found && node == (k < n ? k : PATHS_ROOT);
		if (k < n)
			continue;
		rc = paths_add(&p, up, want, &node);
		kept = kept && node == n;
		parent[n] = up;
		name[n] = want;
		depth[n] = depth[up] + 1;
		if (n++ == MANY / 8)
			paths_settle(&p);
		rc = rc ? rc : paths_index(&p);
	}
	ok(!rc && found, "a child is found by parent and name, or it is not there");
	for (uint32_t i = 1; i < n; i++)
		kept = kept && paths_parent(&p, i) == parent[i] && paths_name(&p, i) == name[i] &&
		       paths_depth(&p, i) == depth[i];
	ok(kept && p.n == n && !paths_parent(&p, PATHS_ROOT),
	   "each node has its parent, name and depth");
	for (uint32_t run = 0; run < p.nruns; run++) {
		uint32_t end = paths_run_end(&p, run);

		runs = runs && end - p.runs[run].first <= PATHS_RUN;
		for (uint32_t k = p.runs[run].first; k < end; k++, inside++)
			runs = runs && k == inside && paths_run(&p, k) == run;
	}
	ok(runs && inside == n, "runs are all nodes, in their order, none of more than %u",
	   PATHS_RUN);
	is_int(paths_add(&p, PATHS_ROOT, PATHS_NAME_MAX + 1, &node), PP_ELIMIT, "too great a name");
	paths_release(&p);
}

static void test_weights(void)
{
	static uint64_t plain[MANY];
	struct weights w = {0};
	bool same = true;
	int rc = 0;

	for (uint32_t i = 0; i < MANY && !rc; i++) {
		uint64_t v = next_random() >> next_random() % 64;
		uint32_t at = (uint32_t)(next_random() % (i + 1));

		rc = weights_widen(&w, i + 1);
		same = same && !rc && !weights_get(&w, i);
		rc = rc ? rc : weights_set(&w, at, v);
		plain[at] = v;
	}
	for (uint32_t i = 0; i < MANY && !rc; i++)
		same = same && weights_get(&w, i) == plain[i];
	ok(!rc && same && w.nbig, "numbers of any size are what was set, and 0 at first");
	for (uint32_t i = 0; i < 3; i++) {
		static const uint64_t v[] = {WEIGHTS_BIG - 1, WEIGHTS_BIG, 0};

		ok(!weights_set(&w, 0, v[i]) && weights_get(&w, 0) == v[i], "at the border, %u", i);
	}
	weights_release(&w);
}

int main(void)
{
	test_arena();
	test_intern();
	test_intern_again();
	test_intern_bytes();
	test_map64();
	test_map64_edges();
	test_paths();
	test_weights();
	return done();
}
