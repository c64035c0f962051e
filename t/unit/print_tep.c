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
	fields_of_format(e.format.p, e.format.len, long_size, &table);
	e.fields = ps_str(buf_str(&table), (uint32_t)table.len);
	buf_reset(&text);
	if (!tep_print_new(&t, long_size))
		tep_print_payload(t, &e, &s, &text);
	tep_print_free(t);
	buf_release(&format);
	buf_release(&table);
	return buf_str(&text);
}

/* A field of the size of a long that is printed as a text is an address, which is not in the recording. */
static void test_long_size(void)
{
	static const uint32_t four[] = {5, 0, 0xc0123456};
	static const uint64_t eight[] = {5, UINT64_C(0xffffffff81234567)};

	is_str(text_of(4, "\tfield:const char * msg;\toffset:8;\tsize:4;\tsigned:0;\n",
		       "\"%s\", REC->msg", four, sizeof(four)),
	       "c0123456", "a pointer of 32 bits");
	is_str(text_of(8, "\tfield:const char * msg;\toffset:8;\tsize:8;\tsigned:0;\n",
		       "\"%s\", REC->msg", eight, sizeof(eight)),
	       "ffffffff81234567", "and one of 64");
}

int main(void)
{
	test_long_size();
	return done();
}
