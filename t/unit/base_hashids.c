/* lib/base/hashids.h: against a plain list of what has got which id. */
#include "base/hashids.h"

#include "tap.h"

#include <stdlib.h>

#define MANY 50000

static void test_dense(void)
{
	struct hashids t = {.max_ids = MANY, .max_bytes = UINT64_MAX};
	bool dense = true, same = true, fresh;
	uint32_t id;

	for (uint64_t i = 0; i < MANY; i++)
		dense = dense && !hashids_get(&t, &i, sizeof(i), &id, &fresh) && fresh &&
			id == i + 1;
	ok(dense, "strings that are new get ids from 1 on");
	for (uint64_t i = 0; i < MANY; i++) {
		hashids_prefetch(&t, hashids_hash(&i, sizeof(i)));
		same = same &&
		       !hashids_get_hashed(&t, hashids_hash(&i, sizeof(i)), 8, &id, &fresh) &&
		       !fresh && id == i + 1;
	}
	ok(same, "the same strings have the same ids, also by their hash");
	hashids_release(&t);
	ok(!t.n && !t.slots && !t.keys, "released");
}

static void test_limits(void)
{
	struct hashids t = {.max_ids = 1000, .max_bytes = UINT64_MAX};
	struct hashids most = {.max_ids = UINT32_MAX, .max_bytes = UINT64_MAX};
	struct hashids bytes = {.max_ids = 1000, .max_bytes = 80};
	uint32_t id = 0, greatest = 0, begun = 0, old;
	bool fresh = false, right = true;
	uint64_t before;

	for (uint64_t i = 0; i < 2500; i++) {
		right = right && !hashids_get(&t, &i, sizeof(i), &id, &fresh) && fresh &&
			id == i % 1000 + 1;
		/* The one before still has its id, unless all were forgotten in between. */
		old = id;
		before = i - 1;
		if (i && id != 1)
			right = right && !hashids_get(&t, &before, sizeof(before), &id, &fresh) &&
				!fresh && id == old - 1;
	}
	ok(right, "beyond the number of ids all are forgotten, and ids begin again");
	for (uint64_t i = 0; i < 25; i++) {
		hashids_get(&bytes, &i, sizeof(i), &id, &fresh);
		greatest = id > greatest ? id : greatest;
		begun += id == 1;
	}
	is_int((int)greatest, 10, "the sum of bytes is a limit, too");
	is_int((int)begun, 3, "at which ids begin again");
	greatest = 0;
	for (uint64_t i = 0; i < HASHIDS_MAX + 2; i++) {
		hashids_get(&most, &i, sizeof(i), &id, &fresh);
		greatest = id > greatest ? id : greatest;
	}
	ok(greatest == HASHIDS_MAX && id == 2, "no id is greater than fits in a slot");
	hashids_release(&t);
	hashids_release(&most);
	hashids_release(&bytes);
}

int main(void)
{
	test_dense();
	test_limits();
	return done();
}
