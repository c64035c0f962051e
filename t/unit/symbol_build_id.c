/* Build-ids: as hexadecimal text, and out of notes. */
#include "symbol/build_id.h"

#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

static const uint8_t notes[] = {
	4,   0,	  0,   0,   4,	  0,	0,    0,    1,	  0, 0, 0, /* another note of GNU */
	'G', 'N', 'U', 0,   9,	  9,	9,    9,		   /* */
	5,   0,	  0,   0,   2,	  0,	0,    0,    3,	  0, 0, 0, /* type 3 of somebody else */
	'L', 'i', 'n', 'u', 'x',  0,	0,    0,    7,	  7, 0, 0, /* padded name and text */
	4,   0,	  0,   0,   5,	  0,	0,    0,    3,	  0, 0, 0, /* the build-id */
	'G', 'N', 'U', 0,   0xde, 0xad, 0xbe, 0xef, 0x01,
};

static void test_hex(void)
{
	struct build_id id = build_id_make("\x01\xab\xff", 3), back;
	char hex[BUILD_ID_HEX_MAX], longest[2 * BUILD_ID_MAX + 3];

	is_str(build_id_hex(&id, hex), "01abff", "to text");
	is_int(build_id_parse("01ABff", &back), 0, "from text");
	ok(build_id_equal(&id, &back), "and back");
	is_int(build_id_parse("", &back), PP_ECORRUPT, "nothing");
	is_int(build_id_parse("abc", &back), PP_ECORRUPT, "half a byte");
	is_int(build_id_parse("0g", &back), PP_ECORRUPT, "no digit");
	memset(longest, 'a', sizeof(longest));
	longest[2 * BUILD_ID_MAX + 2] = 0;
	is_int(build_id_parse(longest, &back), PP_ECORRUPT, "too long");
	longest[2 * BUILD_ID_MAX] = 0;
	is_int(build_id_parse(longest, &back), 0, "the longest");
	is_str(build_id_hex(&back, hex), longest, "comes back");
	id = build_id_make(longest, BUILD_ID_MAX + 1);
	is_int(id.len, 0, "one byte more is refused");
	is_str(build_id_hex(&id, hex), "", "no build-id, no text");
}

static void test_equal(void)
{
	static const struct {
		const char *a, *b;
		bool equal;
		const char *why;
	} rows[] = {
		{"aabb", "aabb", true, "the same"},
		{"aabb", "aabc", false, "another"},
		{"aabb", "aabb0000", true, "padded with zeroes by an old perf"},
		{"aabb0000", "aabb", true, "the other way"},
		{"aabb", "aabb01", false, "longer"},
	};
	struct build_id none = {0}, a, b;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		build_id_parse(rows[i].a, &a);
		build_id_parse(rows[i].b, &b);
		ok(build_id_equal(&a, &b) == rows[i].equal, "%s", rows[i].why);
	}
	ok(!build_id_equal(&none, &none), "none equals nothing");
	ok(!build_id_equal(&a, &none), "nor does one equal none");
}

static void test_notes(void)
{
	/* The same note in the other byte order, with an alignment of 8. */
	static const uint8_t big[] = {0,   0,	0,   4, 0, 0, 0, 2, 0, 0, 0, 3,
				      'G', 'N', 'U', 0, 1, 2, 0, 0, 0, 0, 0, 0};
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	struct build_id id;
	char hex[BUILD_ID_HEX_MAX];
	int bad = 0;

	is_int(build_id_from_notes(notes, sizeof(notes), !little, 4, &id), 0, "found among others");
	is_str(build_id_hex(&id, hex), "deadbeef01", "it");
	is_int(build_id_from_notes(big, sizeof(big), little, 8, &id), 0, "other byte order");
	is_str(build_id_hex(&id, hex), "0102", "it");
	is_int(build_id_from_notes(notes, 0, !little, 4, &id), PP_ENOENT, "no notes");
	for (size_t n = 0; n < sizeof(notes); n++) {
		uint8_t *copy = malloc(n ? n : 1);

		if (!copy)
			abort();
		memcpy(copy, notes, n);
		bad += build_id_from_notes(copy, n, !little, 4, &id) == 0;
		free(copy);
	}
	is_int(bad, 0, "cut at every byte: never found");
}

int main(void)
{
	test_hex();
	test_equal();
	test_notes();
	return done();
}
