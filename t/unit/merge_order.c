/* Time ordering: order, stability, rounds, late records, and bounds of memory. */
#include "merge/order.h"

#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

/* A record, as the tests make them: its number in the order of adding. */
struct rec {
	uint64_t time, number;
};

struct got {
	struct rec *v;
	size_t n, cap;
	uint64_t live_max;
	const uint64_t *live;
	int fail_at; /* the delivery that fails; -1 none */
};

static int deliver(void *ctx, uint64_t time, uint8_t *bytes, struct block *b)
{
	struct got *g = ctx;
	struct rec r;

	(void)b;
	if (g->fail_at >= 0 && g->n == (size_t)g->fail_at)
		return PP_EIO;
	memcpy(&r, bytes, sizeof(r));
	if (r.time != time)
		return PP_ECORRUPT;
	if (g->n == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 1024;
		g->v = realloc(g->v, g->cap * sizeof(*g->v));
		if (!g->v)
			abort();
	}
	g->v[g->n++] = r;
	if (g->live && *g->live > g->live_max)
		g->live_max = *g->live;
	return 0;
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Adds record number `n` with a time, in a block of its own of `cap` bytes. */
static int add(struct order *q, uint64_t time, uint64_t n, size_t cap)
{
	struct block *b = block_new(cap, &q->blocks);
	struct rec r = {time, n};
	int rc;

	if (!b)
		return PP_ENOMEM;
	memcpy(b->data, &r, sizeof(r));
	b->len = sizeof(r);
	rc = order_add(q, time, block_bytes(b), b);
	block_unref(b);
	return rc;
}

static bool sorted_stable(const struct got *g)
{
	for (size_t i = 1; i < g->n; i++) {
		const struct rec *a = &g->v[i - 1], *b = &g->v[i];

		if (a->time > b->time || (a->time == b->time && a->number > b->number))
			return false;
	}
	return true;
}

/* Every number from 0 to n - 1 once. */
static bool complete(const struct got *g, size_t n)
{
	uint8_t *seen = calloc(1, n + 1);
	bool all = seen && g->n == n;

	for (size_t i = 0; all && i < g->n; i++)
		all = g->v[i].number < n && !seen[g->v[i].number]++;
	free(seen);
	return all;
}

static void clear(struct order *q, struct got *g)
{
	order_release(q);
	free(g->v);
	*g = (struct got){.fail_at = -1};
}

/* Runs as CPUs write them, without rounds: all come out sorted, equal times as they were added. */
static void test_runs(void)
{
	uint64_t seed = 7;

	for (int round = 0; round < 20; round++) {
		struct got g = {.fail_at = -1};
		struct order q;
		size_t n = 0;
		int rc = 0;

		order_init(&q, deliver, &g);
		for (int run = 0; run < round * 3; run++) {
			uint64_t t = 1 + random_next(&seed) % 50;

			for (uint64_t i = random_next(&seed) % 40; i-- && !rc;
			     t += random_next(&seed) % 3)
				rc = add(&q, t, n++, 64);
		}
		ok(!rc && !order_flush(&q) && sorted_stable(&g) && complete(&g, n) && !q.late,
		   "%d runs, %zu records: sorted, ties in order", round * 3, n);
		is_u64(q.blocks.live, 0, "and no block is left");
		clear(&q, &g);
	}
}

/*
 * Rounds as perf writes them: each takes from every CPU what was in its buffer, up to a moment
 * before the round's end. What a round delivers is then never later than what follows.
 */
static void test_rounds(void)
{
	struct got g = {.fail_at = -1};
	uint64_t seed = 3, cpu_time[4] = {1, 1, 1, 1}, most = 0;
	struct order q;
	size_t n = 0;
	int rc = 0;

	order_init(&q, deliver, &g);
	for (uint64_t round = 1; round <= 200 && !rc; round++) {
		for (int cpu = 0; cpu < 4 && !rc; cpu++) {
			/* A CPU that is read later has records up to a later time. */
			uint64_t until = round * 1000 + (uint64_t)cpu * 100;

			while (cpu_time[cpu] < until && !rc) {
				rc = add(&q, cpu_time[cpu], n++, 4096);
				cpu_time[cpu] += 1 + random_next(&seed) % 40;
			}
		}
		if (!rc)
			rc = order_round(&q);
		if (q.n > most)
			most = q.n;
	}
	ok(!rc && !q.late && sorted_stable(&g), "rounds: delivered in order, none late");
	ok(g.n && most < n / 50, "at most %" PRIu64 " of %zu records were held", most, n);
	rc = order_flush(&q);
	ok(!rc && sorted_stable(&g) && complete(&g, n) && !q.late, "the rest comes at the end");
	clear(&q, &g);
}

static void test_late(void)
{
	struct got g = {.fail_at = -1};
	struct order q;

	order_init(&q, deliver, &g);
	add(&q, 100, 0, 64);
	add(&q, 200, 1, 64);
	order_round(&q);
	is_int((int)g.n, 0, "the first round delivers nothing: others may still be older");
	add(&q, 300, 2, 64);
	order_round(&q);
	is_int((int)g.n, 2, "the second delivers what the first had seen");
	add(&q, 150, 3, 64);
	add(&q, 250, 4, 64);
	order_round(&q);
	order_flush(&q);
	is_u64(q.late, 1, "a record older than what was delivered is late, and counted");
	ok(complete(&g, 5), "but not lost");
	clear(&q, &g);
}

/* Without rounds memory stays bounded: the older half goes out. */
static void test_bounds(void)
{
	struct got g = {.fail_at = -1};
	struct order q;
	uint64_t most = 0;
	size_t n = 0;
	int rc = 0;

	order_init(&q, deliver, &g);
	for (; n < 1000 && !rc; n++) {
		rc = add(&q, 1 + n, n, 1 << 20);
		if (q.blocks.live > most)
			most = q.blocks.live;
	}
	ok(!rc && most <= ORDER_HELD_MAX + (2 << 20),
	   "1000 MB of blocks: at most %" PRIu64 " MB live", most >> 20);
	ok(!order_flush(&q) && sorted_stable(&g) && complete(&g, n) && !q.late,
	   "all in order, none late, for the input was");
	is_u64(q.blocks.live, 0, "no block is left");
	clear(&q, &g);

	/* Records that hold one block together are bounded by number. */
	order_init(&q, deliver, &g);
	{
		struct block *b = block_new(sizeof(struct rec), &q.blocks);
		struct rec r = {5, 0};
		size_t held = 0;

		memcpy(b->data, &r, sizeof(r));
		for (n = 0; n < ORDER_RECORDS_MAX + 1000u && !rc; n++) {
			rc = order_add(&q, 5, block_bytes(b), b);
			if (q.n > held)
				held = q.n;
		}
		block_unref(b);
		ok(!rc && held <= ORDER_RECORDS_MAX, "no more than %u records are held",
		   ORDER_RECORDS_MAX);
		ok(!order_flush(&q) && g.n == n, "and all are delivered");
	}
	clear(&q, &g);
}

static void test_failure(void)
{
	struct got g = {.fail_at = 2};
	struct order q;

	order_init(&q, deliver, &g);
	for (uint64_t i = 0; i < 10; i++)
		add(&q, 10 - i, i, 64);
	is_int(order_flush(&q), PP_EIO, "an error of the receiver ends the flush");
	is_int((int)g.n, 2, "at once");
	order_release(&q);
	is_u64(q.blocks.live, 0, "what was not delivered is freed");
	free(g.v);
}

/* Numbers of the records that were announced, since the last new beginning. */
static uint64_t announced[64];
static size_t nannounced, ntaken, farthest;
static bool agreed = true;

static void announce(void *ctx, const uint8_t *bytes)
{
	struct rec r;

	(void)ctx;
	if (!bytes) {
		nannounced = ntaken = 0;
		return;
	}
	memcpy(&r, bytes, sizeof(r));
	announced[nannounced++ % 64] = r.number;
}

static int deliver_announced(void *ctx, uint64_t time, uint8_t *bytes, struct block *b)
{
	struct rec r;

	memcpy(&r, bytes, sizeof(r));
	agreed = agreed && ntaken < nannounced && announced[ntaken % 64] == r.number;
	ntaken++;
	if (nannounced - ntaken > farthest)
		farthest = nannounced - ntaken;
	return deliver(ctx, time, bytes, b);
}

static void test_ahead(void)
{
	struct got g = {.fail_at = -1};
	uint64_t state = 11;
	struct order q;

	order_init(&q, deliver_announced, &g);
	q.ahead = announce;
	for (uint64_t i = 0; i < 5000; i++) {
		add(&q, i * 10 + random_next(&state) % 2000, i, 64);
		if (i % 97 == 0)
			order_round(&q);
	}
	order_flush(&q);
	ok(complete(&g, 5000) && agreed,
	   "each is announced before its turn, in the order of turns");
	is_int((int)farthest, ORDER_AHEAD, "that many turns ahead");
	clear(&q, &g);
}

int main(void)
{
	test_ahead();
	test_runs();
	test_rounds();
	test_late();
	test_bounds();
	test_failure();
	return done();
}
