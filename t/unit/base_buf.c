/* lib/base/buf.h: growing, numbers, and the escapes of untrusted text. */
#include "base/buf.h"

#include "base/err.h"
#include "tap.h"

struct text {
	const char *in;
	size_t len;
	const char *safe; /* for a terminal */
	const char *json;
};

#define T(in, safe, json) \
	{ \
		in, sizeof(in) - 1, safe, json \
	}

static const struct text texts[] = {
	T("", "", "\"\""),
	T("plain", "plain", "\"plain\""),
	T("a\nb\tc", "a\\x0ab\\x09c", "\"a\\u000ab\\u0009c\""),
	T("\033[31m", "\\x1b[31m", "\"\\u001b[31m\""),
	T("nul\0in", "nul\\x00in", "\"nul\\u0000in\""),
	T("del\x7f", "del\\x7f", "\"del\\u007f\""),
	T("say \"x\\y\"", "say \"x\\y\"", "\"say \\\"x\\\\y\\\"\""),
	T("\xc3\xa4", "\xc3\xa4", "\"\xc3\xa4\""),			   /* a umlaut */
	T("\xe2\x82\xac", "\xe2\x82\xac", "\"\xe2\x82\xac\""),		   /* euro sign */
	T("\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", "\"\xf0\x9f\x94\xa5\""), /* U+1F525 */
	T("\xc3", "\\xc3", "\"\xef\xbf\xbd\""),				   /* cut off */
	T("\xc0\xaf", "\\xc0\\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""),	   /* overlong */
	T("\xed\xa0\x80", "\\xed\\xa0\\x80",
	  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""), /* a surrogate */
	T("\xff", "\\xff", "\"\xef\xbf\xbd\""),
};

static void test_escapes(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buf b = BUF_INIT;

		buf_add_safe(&b, texts[i].in, texts[i].len);
		is_str(buf_str(&b), texts[i].safe, "text %zu, for a terminal", i);
		buf_reset(&b);
		buf_add_json(&b, texts[i].in, texts[i].len);
		is_str(buf_str(&b), texts[i].json, "text %zu, as JSON", i);
		buf_release(&b);
	}
}

static void test_control_utf8(void)
{
	struct buf b = BUF_INIT;

	/* U+009B starts a control sequence in terminals that know C1 controls. */
	buf_add_safe(&b,
		     "\xc2\x9b"
		     "31m\xc2\xa0",
		     7);
	ok(!strstr(buf_str(&b), "\xc2\x9b"), "U+009B does not reach a terminal");
	ok(strstr(buf_str(&b), "31m\xc2\xa0") != NULL, "U+00A0 does");
	buf_reset(&b);
	buf_add_json(&b,
		     "\xc2\x9b"
		     "31m\xe2\x80\xae\xc2\xa0",
		     10);
	is_str(buf_str(&b), "\"\\u009b31m\\u202e\xc2\xa0\"", "nor as JSON");
	buf_release(&b);
}

/* Every character of the Unicode standard that is a control or changes the direction of text. */
static void test_shown(void)
{
	static const struct {
		unsigned from, to;
	} hidden[] = {{0, 0x1f},	{0x7f, 0x9f},	  {0x61c, 0x61c},  {0x200e, 0x200f},
		      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff}};
	unsigned wrong = 0;

	for (unsigned c = 0; c < 0x10000; c++) {
		char s[3];
		int n = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
		bool hide = false;

		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			hide = hide || (c >= hidden[i].from && c <= hidden[i].to);
		if (n == 1)
			s[0] = (char)c;
		else if (n == 2)
			s[0] = (char)(0xc0 | c >> 6), s[1] = (char)(0x80 | (c & 0x3f));
		else
			s[0] = (char)(0xe0 | c >> 12), s[1] = (char)(0x80 | (c >> 6 & 0x3f)),
			s[2] = (char)(0x80 | (c & 0x3f));
		wrong += utf8_shown(s, (size_t)n) != (hide ? 0 : n);
	}
	is_u64(wrong, 0, "controls and marks of direction are not shown, all else is");
}

static void test_utf8_len(void)
{
	is_int(utf8_len("", 0), 0, "no bytes are no character");
	is_int(utf8_len("a", 1), 1, "ASCII");
	is_int(utf8_len("\xf4\x8f\xbf\xbf", 4), 4, "U+10FFFF");
	is_int(utf8_len("\xf4\x90\x80\x80", 4), 0, "beyond U+10FFFF");
	is_int(utf8_len("\xe2\x82\xac", 2), 0, "cut off");
	is_int(utf8_len("\x80", 1), 0, "a byte that continues nothing");
	is_int(utf8_len("\xe0\x80\x80", 3), 0, "overlong NUL");
	is_int(utf8_len("\xf0\x80\x80\x80", 4), 0, "overlong NUL of four bytes");
}

static void test_numbers(void)
{
	static const uint64_t values[] = {0, 7, 10, 4096, UINT32_MAX, INT64_MAX, UINT64_MAX};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct buf b = BUF_INIT;
		char want[96];

		snprintf(want, sizeof(want), "%12" PRIu64 "|%" PRIu64 "|%016" PRIx64 "|%" PRIx64,
			 values[i], values[i], values[i], values[i]);
		buf_add_u64(&b, values[i], 12, ' ');
		buf_addc(&b, '|');
		buf_add_u64(&b, values[i], 0, ' ');
		buf_addc(&b, '|');
		buf_add_hex(&b, values[i], 16, '0');
		buf_addc(&b, '|');
		buf_add_hex(&b, values[i], 0, '0');
		is_str(buf_str(&b), want, "as printf writes it");
		buf_release(&b);
	}
}

static void test_growing(void)
{
	struct buf b = BUF_INIT;
	bool good = true;

	is_str(buf_str(&b), "", "a new buffer is an empty text");
	for (int i = 0; i < 10000; i++)
		buf_addf(&b, "%04d", i);
	is_int((int64_t)b.len, 40000, "ten thousand pieces");
	for (int i = 0; i < 10000 && good; i++) {
		char want[8];

		snprintf(want, sizeof(want), "%04d", i);
		good = !memcmp(b.data + 4 * i, want, 4);
	}
	ok(good, "each is where it belongs");
	is_int(b.data[b.len], 0, "a NUL follows");
	buf_reset(&b);
	buf_fill(&b, 'x', 3);
	buf_add(&b, NULL, 0);
	is_str(buf_str(&b), "xxx", "used again");
	buf_addf(&b, "%300s", "end");
	is_int((int64_t)b.len, 303, "one formatted piece larger than the room");
	buf_release(&b);
	is_str(buf_str(&b), "", "released");
}

static void test_no_memory(void)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "kept");
	is_int(buf_reserve(&b, SIZE_MAX - 2), PP_ENOMEM, "a size that overflows is refused");
	is_int(b.err, PP_ENOMEM, "and remembered");
	is_int(buf_reserve(&b, 100000), PP_ENOMEM, "later growth fails too");
	buf_adds(&b, "more text than there is room for, which is some sixty-four bytes at the "
		     "start of every buffer");
	is_str(buf_str(&b), "kept", "what was there stays, nothing partial is added");
	buf_release(&b);
}

int main(void)
{
	test_escapes();
	test_control_utf8();
	test_shown();
	test_utf8_len();
	test_numbers();
	test_growing();
	test_no_memory();
	return done();
}
