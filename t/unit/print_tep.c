/* Payloads that libtraceevent prints: what a recording may contain that no kernel writes. */
#include "base/buf.h"
#include "print/tep_print.h"
#include "event/fields.h"
#include "tap.h"

#include <stdio.h>

/* The text of a payload of an event with these lines of fields and this print format. */
static const char *text_of(uint32_t long_size, const char *fields, const char *print,
			   const void *payload, size_t len)
{
	static struct buf text;
	struct buf format = BUF_INIT, table = BUF_INIT;
	struct ps_sample s = {.payload = ps_str(payload, (uint32_t)len)};
	struct ps_event e = {.id = 1, .config = 5};
	struct tep_print *t;

	buf_addf(&format,
		 "name: made\nID: 5\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		 "%s\nprint fmt: %s\n",
		 fields, print);
	e.name = ps_str("x:made", 6);
	e.format = ps_str(buf_str(&format), (uint32_t)format.len);
	(void)fields_of_format(e.format.p, e.format.len, long_size, &table);
	e.fields = ps_str(buf_str(&table), (uint32_t)table.len);
	buf_reset(&text);
	if (!tep_print_new(&t, long_size))
		tep_print_payload(t, &e, &s, &text);
	tep_print_free(t);
	buf_release(&format);
	buf_release(&table);
	return buf_str(&text);
}

/* A payload begins with common_type, a number of 16 bits. */
#define BIG	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define TYPE(id) (BIG ? (uint32_t)(id) << 16 : (uint32_t)(id))

/*
 * A field of the size of a long that is printed as a text is an address, which is not in the
 * recording.
 */
static void test_long_size(void)
{
	static const uint32_t four[] = {TYPE(5), 0, 0xc0123456};
	static const uint64_t eight[] = {(uint64_t)TYPE(5) << (BIG ? 32 : 0),
					 UINT64_C(0xffffffff81234567)};

	is_str(text_of(4, "\tfield:const char * msg;\toffset:8;\tsize:4;\tsigned:0;\n",
		       "\"%s\", REC->msg", four, sizeof(four)),
	       "c0123456", "a pointer of 32 bits");
	is_str(text_of(8, "\tfield:const char * msg;\toffset:8;\tsize:8;\tsigned:0;\n",
		       "\"%s\", REC->msg", eight, sizeof(eight)),
	       "ffffffff81234567", "and one of 64");
}

#define FIELDS \
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:int b;\toffset:12;\tsize:4;\tsigned:1;\n" \
	"\tfield:u8 bytes[4];\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
#define HEX NULL /* not printed: the bytes in hexadecimal */

/*
 * What C prints of a payload with these numbers, bytes 1 to 4 and the name "hello"; HEX where it
 * would crash, or print what is not in the payload.
 */
static const struct {
	const char *print;
	int32_t a, b;
	const char *want;
} guarded[] = {
	{"\"%d\", REC->a / REC->b", 7, 2, "3"},
	{"\"%d\", REC->a / REC->b", 7, 0, HEX},
	{"\"%d\", REC->a % REC->b", 7, 0, HEX},
	{"\"%d\", REC->b ? REC->a / REC->b : 9", 7, 0, "9"},
	{"\"%d\", REC->a ? 5 / REC->b : 0", 1, 0, HEX},
	{"\"%d\", REC->a ? 5 / REC->b : 0", 0, 0, "0"},
	{"\"%d\", REC->a && 5 / REC->b", 0, 0, HEX},
	{"\"%s\", REC->a / REC->b ? \"yes\" : \"no\"", 1, 0, HEX},
	{"\"%s\", __print_symbolic(REC->a / REC->b, { 4, \"FOUR\" })", 8, 2, "FOUR"},
	{"\"%s\", __print_symbolic(REC->a / REC->b, { 4, \"FOUR\" })", 8, 0, HEX},
	{"\"%d\", 8 / (u8)REC->a", 256, 0, HEX},
	{"\"%d\", 8 / (u8)REC->a", 258, 0, "4"},
	{"\"%*d\", REC->a, REC->b", 4, 3, "   3"},
	{"\"%-*d|\", REC->a, REC->b", 4, 3, "3   |"},
	{"\"%-*d|\", REC->a, REC->b", -1, 3, HEX},
	{"\"%0*d\", REC->a, REC->b", 3, 3, "003"},
	{"\"%0*d\", REC->a, REC->b", INT32_MIN, 3, HEX},
	{"\"%*d\", REC->a, REC->b", 2000000000, 3, HEX},
	{"\"%.*s\", REC->a, __get_str(name)", 3, 0, "hel"},
	{"\"%.*s\", REC->a, __get_str(name)", 2000000000, 0, "hello"},
	{"\"%.*s\", REC->a, __get_str(name)", -3, 0, HEX},
	{"\"%*s\", REC->a, __get_str(name)", 7, 0, "  hello"},
	{"\"%*s\", REC->a, __get_str(name)", 1999999999, 0, HEX},
	{"\"%%%-5d\\\\%d\", REC->a, REC->b", 1, 2, "%1    \\2"},
	{"\"%999999999d\", REC->a", 1, 0, HEX},
	{"\"%d\", REC->bytes[REC->a]", 2, 0, "3"},
	{"\"%d\", REC->bytes[REC->a]", 2000000, 0, HEX},
	{"\"%s\", __print_hex(REC->bytes, REC->a)", 3, 0, "01 02 03"},
	{"\"%s\", __print_hex(REC->bytes, REC->a)", -1, 0, HEX},
	{"\"%s\", __print_array(REC->bytes, REC->a, 1)", 1 << 30, 0, HEX},
};

static void test_guarded(void)
{
	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++) {
		uint32_t p[8] = {TYPE(5), 0};
		char hex[3 * sizeof(p) + 1] = "";

		p[2] = (uint32_t)guarded[i].a;
		p[3] = (uint32_t)guarded[i].b;
		memcpy(&p[4], "\1\2\3\4", 4);
		p[5] = 6u << 16 | 24;
		memcpy(&p[6], "hello", 6);
		for (size_t k = 0; k < sizeof(p); k++)
			sprintf(hex + 3 * k - !!k, k ? " %02x" : "%02x", ((const uint8_t *)p)[k]);
		is_str(text_of(8, FIELDS, guarded[i].print, p, sizeof(p)),
		       guarded[i].want ? guarded[i].want : hex, "%s of %d, %d", guarded[i].print,
		       guarded[i].a, guarded[i].b);
	}
}

int main(void)
{
	test_long_size();
	test_guarded();
	return done();
}
