/* Arguments of functions by the types of a kernel: a table of types that is made here. */
#include "base/err.h"
#include "print/btf.h"

#include "tap.h"

#include <stdlib.h>

static struct buf types, strings, all;
static bool swap;

static void put(struct buf *b, uint32_t v)
{
	v = swap ? __builtin_bswap32(v) : v;
	buf_add(b, &v, 4);
}

static uint32_t name(const char *s)
{
	uint32_t at = (uint32_t)strings.len;

	buf_add(&strings, s, strlen(s) + 1);
	return at;
}

static void type(const char *s, uint32_t kind, uint32_t parts, uint32_t ref)
{
	put(&types, *s ? name(s) : 0);
	put(&types, kind << 24 | parts);
	put(&types, ref);
}

/* Kinds: 1 INT, 2 PTR, 4 STRUCT, 6 ENUM, 8 TYPEDEF, 10 CONST, 12 FUNC, 13 FUNC_PROTO. */
static void make(void)
{
	uint16_t magic = swap ? __builtin_bswap16(0xeb9f) : 0xeb9f;
	uint8_t version[2] = {1, 0};

	buf_reset(&types);
	buf_reset(&strings);
	buf_reset(&all);
	name("");
	type("int", 1, 0, 4); /* 1 */
	put(&types, 1u << 24 | 32);
	type("unsigned", 1, 0, 8); /* 2 */
	put(&types, 64);
	type("", 2, 0, 1);	/* 3: int * */
	type("pair", 4, 0, 16); /* 4 */
	type("mode", 6, 1, 4);	/* 5 */
	put(&types, name("ON"));
	put(&types, 1);
	type("number", 8, 0, 7); /* 6: typedef const int */
	type("", 10, 0, 1);	 /* 7 */
	type("", 13, 6, 1);	 /* 8: the prototype of f */
	for (uint32_t i = 0; i < 6; i++) {
		static const char *const names[] = {"a", "b", "p", "m", "n", "s"};
		static const uint32_t of[] = {1, 2, 3, 5, 6, 4};

		put(&types, name(names[i]));
		put(&types, of[i]);
	}
	type("f", 12, 0, 8);	 /* 9 */
	type("", 13, 0, 0);	 /* 10 */
	type("none", 12, 0, 10); /* 11 */
	type("loop", 8, 0, 12);	 /* 12: a typedef of itself */
	type("", 13, 1, 0);	 /* 13 */
	put(&types, name("x"));
	put(&types, 12);
	type("g", 12, 0, 13);		/* 14 */
	type("huge", 4, 0, UINT32_MAX); /* 15 */
	type("", 13, 300, 0);		/* 16 */
	for (uint32_t i = 0; i < 300; i++) {
		put(&types, name("\x1b[2J"));
		put(&types, 15);
	}
	type("h", 12, 0, 16); /* 17 */
	buf_add(&all, &magic, 2);
	buf_add(&all, version, 2);
	put(&all, 24);
	put(&all, 0);
	put(&all, (uint32_t)types.len);
	put(&all, (uint32_t)types.len);
	put(&all, (uint32_t)strings.len);
	buf_add(&all, types.data, types.len);
	buf_add(&all, strings.data, strings.len);
}

static const uint64_t args[] = {(uint64_t)-1, 16, 0xff00, 3, (uint64_t)-2, 7, 8, 9};

static int use(const uint8_t *bytes, size_t len, const char *func, uint32_t n, struct buf *text)
{
	struct buf b = BUF_INIT;
	struct btf *btf;
	int rc;

	buf_add(&b, bytes, len);
	rc = btf_new(&btf, &b);
	buf_release(&b);
	buf_reset(text);
	btf_add_args(btf, func, args, n, text);
	btf_free(btf);
	return rc;
}

int main(void)
{
	static const struct {
		const char *func;
		uint32_t n;
		const char *text;
	} rows[] = {
		{"f", 8, "a=-1, b=0x10, p=0xff00, m=3, n=-2, s=(STRUCT)[0x7:0x8]"},
		{"f", 6, "a=-1, b=0x10, p=0xff00, m=3, n=-2, s=(STRUCT)[0x7:...]"},
		{"f", 2, "a=-1, b=0x10"},
		{"f.isra.0", 1, "a=-1"},
		{"none", 6, ""},
		{"g", 1, "x=0xffffffffffffffff"},
		{"h", 2, "\\x1b[2J=(STRUCT)[0xffffffffffffffff:0x10:...]"},
		{"other", 3, "ffffffffffffffff, 10, ff00"},
		{"int", 1, "ffffffffffffffff"},
	};
	struct buf text = BUF_INIT;
	bool whole = false;

	for (int order = 0; order < 2; order++) {
		swap = order;
		make();
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			is_int(use(all.data, all.len, rows[i].func, rows[i].n, &text), 0,
			       "the types are taken");
			is_str(buf_str(&text), rows[i].text, "%s", rows[i].func);
		}
	}
	for (size_t cut = 0; cut < all.len; cut++)
		whole = whole || !use(all.data, cut, "f", 8, &text);
	ok(!whole, "cut off anywhere, they are refused");
	for (size_t bit = 0; bit < 8 * all.len; bit++) {
		all.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		use(all.data, all.len, "f", 8, &text);
		use(all.data, all.len, "g", 8, &text);
		all.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ok(true, "no turned bit does harm");
	buf_release(&text);
	buf_release(&types);
	buf_release(&strings);
	buf_release(&all);
	return done();
}
