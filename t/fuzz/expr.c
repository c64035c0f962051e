/* Expressions: the parser, the compiler for two events, the program on samples, both printers. */
#include "base/err.h"
#include "select/select.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX 2000 /* bytes of an expression here */

static const char format[] =
	"print fmt: \"%s %s\", (REC->state & (((1|2)+1)<<1)-1) ? __print_flags(REC->state & 7, "
	"\"|\", { 1, \"S\" }, { 0x2, \"D\" }) : \"R\", __print_symbolic(REC->vec, { 0, \"HI\" }, { "
	"(1 << 1), \"NET\" })";

/* The stream: two events, names, and a sample of each. Made once. */
static struct buf stream;

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx;
	buf_add(&stream, bytes, n);
	return 0;
}

static void add(struct buf *table, const char *name, uint32_t offset, uint32_t size,
		uint32_t element, uint32_t flags)
{
	struct ps_event_field f = {.offset = offset,
				   .size = size,
				   .element = element,
				   .flags = flags,
				   .name = ps_str(name, strlen(name)),
				   .type = ps_str("t", 1)};

	ps_event_field_add(table, &f);
}

static void make_stream(void)
{
	struct ps_event e = {.id = 1, .name = ps_str("sys:one", 7)};
	struct ps_string str = {.id = 1, .text = ps_str("bash", 4)};
	struct ps_sample s = {.event = 1, .comm = 1, .fields = PS_HAS(payload)};
	struct ps_end end = {.status = 0};
	struct buf table = BUF_INIT;
	struct out out;
	struct swriter w;

	if (out_init_fn(&out, take, NULL))
		abort();
	swriter_init(&w, &out);
	swriter_header(&w);
	add(&table, "state", 0, 8, 8, PS_FIELD_SIGNED);
	add(&table, "vec", 8, 1, 1, 0);
	add(&table, "name", 12, 4, 1, PS_FIELD_DYNAMIC | PS_FIELD_STRING);
	add(&table, "args", 16, 16, 8, PS_FIELD_ARRAY);
	e.fields = ps_str(buf_str(&table), table.len);
	e.format = ps_str(format, sizeof(format) - 1);
	swriter_put(&w, PS_STRING, 1, &str);
	swriter_put(&w, PS_EVENT, 1, &e);
	e = (struct ps_event){.id = 2, .name = ps_str("clock", 5)};
	swriter_put(&w, PS_EVENT, 1, &e);
	s.payload = ps_str("\1\0\0\0\0\0\0\0\2\0\0\0\40\0\4\0aaaaaaaabbbbbbbbtext", 36);
	swriter_sample(&w, 1, &s);
	s = (struct ps_sample){.event = 2, .comm = 1, .fields = PS_HAS(ip), .ip = 7};
	swriter_sample(&w, 1, &s);
	swriter_end(&w, &end);
	out_flush(&out);
	out_release(&out);
	buf_release(&table);
}

static const char *symbol(void *ctx, uint32_t source, uint64_t addr, size_t *len)
{
	(void)ctx;
	(void)source;
	*len = 1;
	return addr & 1 ? "f" : NULL;
}

static void run(struct expr *x, enum expr_use use)
{
	struct buf text = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct src *src;
	struct qval v;

	if (src_from_mem(&src, stream.data, stream.len, "fuzz") ||
	    sreader_new(&r, src, FIELD_KEEP, NULL))
		abort();
	expr_symbols(x, &(struct expr_symbols){.name = symbol});
	while (!sreader_next(r, &rec)) {
		expr_see(x, r, rec);
		if (rec->type != PS_SAMPLE)
			continue;
		if (use == EXPR_CONDITION && expr_mark(x, r, rec) > PS_MARK_NA)
			abort();
		for (unsigned i = 0; use == EXPR_VALUES && i < expr_count(x); i++)
			if (expr_value(x, i, r, rec, &v) != (v.kind != QV_NA))
				abort();
	}
	expr_print(x, &text);
	expr_print_program(x, r, 1, &text);
	expr_problems(x, &text);
	sreader_free(r);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spans spans = SPANS_INIT;
	struct buf wrong = BUF_INIT;
	char text[TEXT_MAX + 1];

	if (!stream.len)
		make_stream();
	if (size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (int use = EXPR_CONDITION; use <= EXPR_VALUES; use++) {
		struct buf why = BUF_INIT;
		struct expr *x;
		int rc = expr_new(&x, text, (enum expr_use)use, &why);

		if ((rc == PP_EUSAGE) != (why.len != 0) || !rc != !!x)
			abort();
		if (!rc)
			run(x, (enum expr_use)use);
		expr_free(x);
		buf_release(&why);
	}
	if (!spans_parse(&spans, text, &wrong) && spans_settle(&spans, 100, 1000))
		abort();
	buf_release(&wrong);
	spans_release(&spans);
	return 0;
}
