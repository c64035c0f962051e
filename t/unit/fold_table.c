/* lib/fold/recent_stacks.h: stacks by their names, in bounded memory. */
#include "fold/recent_stacks.h"

#include "tap.h"

static uint32_t find(const struct fold_table *t, uint32_t first, size_t n)
{
	uint32_t names[3] = {first, 2, 3};

	return fold_table_find(t, fold_table_key(names, n));
}

static int add(struct fold_table *t, uint32_t first, size_t n, uint32_t node)
{
	uint32_t names[3] = {first, 2, 3};

	return fold_table_add(t, fold_table_key(names, n), node);
}

int main(void)
{
	const uint32_t many = FOLD_TABLE_MAX + FOLD_TABLE_MAX / 2;
	struct fold_table t = {0};
	uint32_t wrong = 0, lost = 0;
	int rc = 0;

	ok(!find(&t, 1, 3), "nothing is found in an empty table");
	for (uint32_t i = 1; i <= many && !rc; i++) {
		wrong += find(&t, i, 3) != 0;
		rc = add(&t, i, 3, i);
		wrong += find(&t, i, 3) != i || find(&t, i, 2) != 0;
	}
	ok(!rc && !wrong, "a stack is found under its names, all of them");
	ok(t.mask < 2 * FOLD_TABLE_MAX && t.n <= FOLD_TABLE_MAX,
	   "the table stays within its bound");
	for (uint32_t i = 1; i <= many; i++) {
		uint32_t node = find(&t, i, 3);

		lost += !node;
		wrong += node && node != i;
	}
	ok(lost && lost < many && !wrong, "some are forgotten, and none is taken for another");
	fold_table_release(&t);
	return done();
}
