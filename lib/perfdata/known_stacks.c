/* What is known of the stacks of threads while their copies are written or read. */
#include "perfdata/known_stacks.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define STEP 256u /* bytes that are compared at once */

struct stack_bytes *known_stack_of(struct known_stacks *k, uint32_t tid)
{
	struct stack_bytes **s = &k->of[tid % KNOWN_STACKS];

	if (!*s)
		*s = calloc(1, sizeof(**s));
	if (*s && (*s)->tid != tid) {
		(*s)->tid = tid;
		(*s)->check = 0;
		(*s)->lo = (*s)->hi = 0;
	}
	return *s;
}

/* Bytes from an address on that lie together, of n. */
static size_t together(uint64_t at, size_t n)
{
	size_t room = KNOWN_BYTES - (size_t)(at % KNOWN_BYTES);

	return n < room ? n : room;
}

/* The same for those before an address. */
static size_t together_before(uint64_t end, size_t n)
{
	size_t room = (size_t)((end - 1) % KNOWN_BYTES) + 1;

	return n < room ? n : room;
}

/* How many of n bytes are equal, from the end. */
static size_t equal_tail(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t left = n;

	while (left >= STEP && !memcmp(a + left - STEP, b + left - STEP, STEP))
		left -= STEP;
	while (left >= 8 && !memcmp(a + left - 8, b + left - 8, 8))
		left -= 8;
	return n - left;
}

size_t known_stack_alike(const struct stack_bytes *s, uint64_t end, const uint8_t *bytes, size_t n)
{
	size_t done = 0;

	if (end > s->hi || end <= s->lo)
		return 0;
	if (n > end - s->lo) {
		bytes += n - (size_t)(end - s->lo);
		n = (size_t)(end - s->lo);
	}
	while (done < n) {
		size_t some = together_before(end - done, n - done),
		       from = (size_t)((end - done - some) % KNOWN_BYTES),
		       same = equal_tail(s->bytes + from, bytes + n - done - some, some);

		done += same;
		if (same < some)
			break;
	}
	return done;
}

void known_stack_learn(struct stack_bytes *s, uint64_t at, const uint8_t *bytes, size_t n)
{
	uint64_t end = at + n;
	bool touches = at <= s->hi && end >= s->lo;
	size_t first = together(at, n);

	if (!n || end < at || n > KNOWN_BYTES)
		return;
	memcpy(s->bytes + at % KNOWN_BYTES, bytes, first);
	memcpy(s->bytes, bytes + first, n - first);
	if (!touches || at < s->lo)
		s->lo = at;
	if (!touches || end > s->hi)
		s->hi = end;
	if (s->hi - s->lo <= KNOWN_BYTES)
		return;
	/* What lies farther away was overwritten. */
	if (end == s->hi)
		s->lo = end - KNOWN_BYTES;
	else
		s->hi = s->lo + KNOWN_BYTES;
}

bool known_stack_get(const struct stack_bytes *s, uint64_t at, uint8_t *to, size_t n)
{
	size_t first = together(at, n);

	if (!n)
		return true;
	if (at < s->lo || at > s->hi || n > s->hi - at)
		return false;
	memcpy(to, s->bytes + at % KNOWN_BYTES, first);
	memcpy(to + first, s->bytes, n - first);
	return true;
}

uint32_t known_copy_check(uint32_t before, const struct iovec *v, size_t n)
{
	uint8_t b[] = {(uint8_t)before, (uint8_t)(before >> 8), (uint8_t)(before >> 16),
		       (uint8_t)(before >> 24)};
	XXH3_state_t state;

	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, b, sizeof(b));
	for (size_t i = 0; i < n; i++)
		XXH3_64bits_update(&state, v[i].iov_base, v[i].iov_len);
	return (uint32_t)XXH3_64bits_digest(&state);
}

void known_stacks_release(struct known_stacks *k)
{
	for (size_t i = 0; i < KNOWN_STACKS; i++)
		free(k->of[i]);
	*k = (struct known_stacks){0};
}
