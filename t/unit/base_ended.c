/* Ids that ended: which one is forgotten when. */
#include "base/ended.h"
#include "tap.h"

int main(void)
{
	struct ended e = {0};
	uint32_t gone = 0, early = 0, wrong = 0;

	for (uint32_t id = 1; id <= ENDED_MAX; id++)
		early += ended_add(&e, id, &gone);
	is_int(early, 0, "the first are kept");
	ok(ended_add(&e, 100001, &gone) && gone == 1, "then the oldest is forgotten");
	ended_revive(&e, 2);
	ended_revive(&e, 77777);
	ok(!ended_add(&e, 100002, &gone), "one that is in use again is not");
	ok(ended_add(&e, 100003, &gone) && gone == 3, "the next one is");
	ok(ended_add(&e, 5, &gone) && gone == 4, "an id ends again before it was forgotten ...");
	ok(!ended_add(&e, 100005, &gone), "... and counts from then on");
	for (uint32_t id = 6; id <= ENDED_MAX; id++)
		wrong += !ended_add(&e, 200000 + id, &gone) || gone != id;
	is_int(wrong, 0, "the others in the order in which they ended");
	ok(ended_add(&e, 300000, &gone) && gone == 100001, "round and round");
	ended_release(&e);
	return done();
}
