/* lib/fold/queue.h and fold_table.h: the same stacks, queued and counted at once. */
#include "fold/queue.h"
#include "fold/table.h"

#include "tap.h"

#include <stdlib.h>

#define STACKS 5000

static uint64_t seed = 3;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* By key: the node that was told, and the place at which it waited. */
static uint32_t nodes[STACKS], places[STACKS], told;

static void on_node(void *ctx, uint64_t key, uint32_t place, uint32_t node)
{
	(void)ctx;
	told += places[key] == place && !nodes[key];
	nodes[key] = node;
}

static struct fold *new_fold(void)
{
	struct fold_opts opts = {0};
	struct fold *f;
	uint32_t id;

	if (fold_new(&f, &opts, NULL))
		return NULL;
	for (char c = 'a'; c <= 'z'; c++)
		fold_name(f, &c, 1, &id);
	return f;
}

static void some_stack(uint32_t names[FOLD_QUEUE_NAMES], size_t *n)
{
	*n = 1 + next_random() % (next_random() % 10 ? 4 : FOLD_QUEUE_NAMES);
	for (size_t i = 0; i < *n; i++)
		names[i] = 1 + (uint32_t)(next_random() % (i ? 3 : 26));
}

static void test_queue(void)
{
	static uint32_t names[STACKS][FOLD_QUEUE_NAMES];
	static size_t n[STACKS];
	struct fold *f = new_fold(), *g = new_fold();
	struct fold_queue q = {.fold = f, .done = on_node};
	uint32_t node, waiting = 0;
	bool same = true, more = true;
	int rc = 0;

	for (uint32_t i = 0; i < STACKS && !rc; i++) {
		some_stack(names[i], &n[i]);
		rc = fold_queue_add(&q, names[i], n[i], i, i, &places[i]);
		if (nodes[i])
			same = false;
		more = more && fold_queue_more(&q, places[i], 1);
		waiting = q.in - q.out > waiting ? q.in - q.out : waiting;
	}
	ok(!rc && same, "a stack is not counted at once");
	ok(waiting < FOLD_QUEUE_MAX, "no more than there is room for are on the way");
	ok(!fold_queue_flush(&q) && q.in == q.out, "the rest is counted at the end");
	is_int((int)told, STACKS, "each node was told once, with its place");
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t again;

		fold_stack(g, names[i], n[i], &node);
		fold_add(g, node, (uint64_t)i + 1);
		fold_stack(f, names[i], n[i], &again);
		same = same && nodes[i] == again;
	}
	ok(same, "the nodes are those of the stacks");
	ok(more && fold_account(f)->weight == fold_account(g)->weight &&
		   fold_stacks(f) == fold_stacks(g),
	   "the weights are the same, what came later included");
	q.v[0].weight = UINT64_MAX - 1;
	ok(!fold_queue_more(&q, 0, 2) && q.v[0].weight == UINT64_MAX - 1,
	   "a weight that does not fit is refused");
	fold_free(f);
	fold_free(g);
}

/* The pool of the table is bounded: what it forgets is found in the tree. */
static void test_table(void)
{
	struct fold_table t = {0};
	uint32_t names[1000], hash, lost = 0, wrong = 0, node;
	const uint32_t many = FOLD_TABLE_MAX / 1000 * 3;
	int rc = 0;

	for (uint32_t i = 0; i < 1000; i++)
		names[i] = i;
	for (uint32_t i = 1; i <= many && !rc; i++) {
		names[0] = i;
		hash = fold_table_hash(names, 1000);
		wrong += fold_table_find(&t, hash, names, 1000) != 0;
		rc = fold_table_add(&t, hash, names, 1000, i);
		wrong += fold_table_find(&t, hash, names, 1000) != i;
		wrong += fold_table_find(&t, hash, names, 999) != 0;
	}
	ok(!rc && !wrong, "a stack is found under its names, all of them");
	ok(t.pool_cap <= FOLD_TABLE_MAX, "the pool does not grow for ever");
	for (uint32_t i = 1; i <= many; i++) {
		names[0] = i;
		node = fold_table_find(&t, fold_table_hash(names, 1000), names, 1000);
		lost += !node;
		wrong += node && node != i;
	}
	ok(lost && lost < many && !wrong, "some are forgotten, and none is taken for another");
	fold_table_release(&t);
}

int main(void)
{
	test_queue();
	test_table();
	return done();
}
