/* lib/base/cursor.h: reading within bounds, both byte orders. */
#include "base/cursor.h"

#include "tap.h"

static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 'a', 'b', 0};

/* Whether this machine stores the lowest byte first. */
static bool little(void)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return first == 1;
}

static void test_orders(void)
{
	/* The same bytes as little endian and as big endian numbers. */
	struct cursor le = cursor_make(bytes, sizeof(bytes), !little());
	struct cursor be = cursor_make(bytes, sizeof(bytes), little());

	is_u64(get_u8(&le), 0x01, "u8");
	is_u64(get_u16(&le), 0x0302, "u16, low byte first, not aligned");
	is_u64(get_u32(&le), 0x07060504, "u32, low byte first");
	get_u8(&be);
	is_u64(get_u64(&be), 0x0203040506070809, "u64, high byte first");
	is_u64(get_u16(&be), 0x6162, "u16, high byte first");
	le = cursor_make(bytes, sizeof(bytes), !little());
	is_u64(get_u64(&le), 0x0807060504030201, "u64, low byte first");
	ok(!le.bad && !be.bad, "nothing was out of bounds");
}

static void test_bounds(void)
{
	for (unsigned left = 0; left <= 8; left++) {
		struct cursor c[4];

		for (int i = 0; i < 4; i++)
			c[i] = cursor_make(bytes, left, false);
		is_int(get_u8(&c[0]) ? 1 : 0, left >= 1, "u8 with %u bytes left", left);
		is_int(get_u16(&c[1]) ? 1 : 0, left >= 2, "u16 with %u bytes left", left);
		is_int(get_u32(&c[2]) ? 1 : 0, left >= 4, "u32 with %u bytes left", left);
		is_int(get_u64(&c[3]) ? 1 : 0, left >= 8, "u64 with %u bytes left", left);
		ok(c[0].bad == (left < 1) && c[1].bad == (left < 2) && c[2].bad == (left < 4) &&
			   c[3].bad == (left < 8),
		   "bad is set exactly where bytes were missing, %u left", left);
	}
}

static void test_bad_stays(void)
{
	struct cursor c = cursor_make(bytes, 3, false);

	get_u32(&c);
	is_int((int64_t)cursor_left(&c), 0, "nothing is left after a read past the end");
	is_int(get_u8(&c), 0, "later reads give 0");
	ok(c.bad, "bad stays");
}

static void test_pieces(void)
{
	struct cursor c = cursor_make(bytes, sizeof(bytes), true), sub;
	size_t len;

	cursor_skip(&c, 2);
	sub = cursor_sub(&c, 3);
	ok(sub.swap && !sub.bad && cursor_left(&sub) == 3 && sub.p == bytes + 2,
	   "a sub cursor covers its bytes and keeps the byte order");
	ok(c.p == bytes + 5, "they are skipped");
	ok(get_bytes(&c, 4) == bytes + 5, "bytes are given in place");
	ok(get_text(&c, 3, &len) == (const char *)bytes + 9 && len == 2, "text ends at its NUL");
	ok(!c.bad && cursor_left(&c) == 0, "all was read");
	ok(get_bytes(&c, 0) != NULL && !c.bad, "no bytes can be read at the end");

	c = cursor_make(bytes, 11, false);
	cursor_skip(&c, 9);
	get_text(&c, 2, &len);
	is_int((int64_t)len, 2, "text without a NUL ends where it must");
	ok(get_text(&c, 1, &len) == NULL && len == 0 && c.bad, "text past the end");

	c = cursor_make(bytes, 4, false);
	sub = cursor_sub(&c, 5);
	ok(sub.bad && c.bad && cursor_left(&sub) == 0,
	   "a sub cursor past the end is empty and bad");
	c = cursor_make(bytes, 4, false);
	cursor_skip(&c, UINT64_MAX);
	ok(c.bad && cursor_left(&c) == 0, "a length of 2^64-1 does not wrap around");
	c = cursor_make(bytes, 4, false);
	ok(get_bytes(&c, (uint64_t)1 << 32) == NULL && c.bad, "nor does one of 2^32");
}

static void test_align(void)
{
	for (size_t off = 0; off <= 9; off++) {
		struct cursor c = cursor_make(bytes, 12, false);

		cursor_skip(&c, off);
		cursor_align(&c, bytes, 4);
		is_int(c.p - bytes, (int64_t)((off + 3) / 4 * 4), "from %zu to a multiple of 4",
		       off);
	}
}

int main(void)
{
	test_orders();
	test_bounds();
	test_bad_stays();
	test_pieces();
	test_align();
	return done();
}
