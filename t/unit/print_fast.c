/*
 * Print formats that are printed without libtraceevent: for many payloads, the text is what
 * libtraceevent makes of the same format. And which formats are left to it.
 */
#include "print/text_fast.h"
#include "tap.h"

#include <event-parse.h>
#include <stdlib.h>
#include <trace-seq.h>

#define PAYLOAD 80

/* The fields of the event, as a format text and as a table. */
static const struct {
	const char *type, *name;
	uint32_t offset, size, element, flags;
} fields[] = {
	{"unsigned short common_type", "common_type", 0, 2, 2, 0},
	{"int a", "a", 8, 4, 4, PS_FIELD_SIGNED},
	{"unsigned int b", "b", 12, 4, 4, 0},
	{"unsigned long c", "c", 16, 8, 8, 0},
	{"short d", "d", 24, 2, 2, PS_FIELD_SIGNED},
	{"unsigned char e", "e", 26, 1, 1, 0},
	{"char comm[8]", "comm", 28, 8, 1, PS_FIELD_ARRAY | PS_FIELD_STRING},
	{"unsigned long args[3]", "args", 40, 24, 8, PS_FIELD_ARRAY},
	{"__data_loc char[] name", "name", 64, 4, 1,
	 PS_FIELD_ARRAY | PS_FIELD_DYNAMIC | PS_FIELD_STRING},
};

static const struct {
	const char *print;
	bool fast;
} formats[] = {
	{"\"a=%d b=%u\", REC->a, REC->b", true},
	{"\"%03d %5u %x %lx %llu\", REC->b, REC->a, REC->e, REC->c, REC->c", true},
	{"\"plain text\"", true},
	{"\"%s:%d\", REC->comm, REC->a", true},
	{"\"name=%s\", __get_str(name)", true},
	{"\"%Lu\", (unsigned long long)REC->c", true},
	{"\"0x%08lx\", ((unsigned long)(REC->b))", true},
	{"\"%lx %lx\", REC->args[0], REC->args[2]", true},
	{"\"%p\", REC->c", true},
	{"\"%p!\", (void *)REC->c", true},
	{"\"%s\", __print_symbolic(REC->e, { 0, \"ZERO\" }, { 1, \"ONE\" }, { 0x20, \"BLANK\" })",
	 true},
	{"\"<%s>\", __print_flags(REC->e, \"|\", { 0x1, \"A\" }, { 0x6, \"BC\" }, { 0x10, \"D\" })",
	 true},
	{"\"<%s>\", __print_flags(REC->a & ((((0x00 | 0x01 | 0x02) + 1) << 1) - 1), \", \", "
	 "{ 0x01, \"S\" }, { 0x02, \"D\" })",
	 true},
	{"\"%s%s\", (REC->a & 3) ? __print_flags(REC->a & 3, \"|\", { 1, \"S\" }, { 2, \"D\" }) : "
	 "\"R\", REC->a & 4 ? \"+\" : \"\"",
	 true},
	{"\"%s\", __print_symbolic(REC->e, { 010, \"EIGHT\" }, { 020, \"SIXTEEN\" })", true},
	{"\"%d\", REC->a == REC->b", true},
	{"\"%u\", REC->e != 3 ? REC->b : 7", true},
	{"\"%u %u\", REC->e >> 2, REC->e << 3", true},
	{"\"%u %d\", (REC->e + 5) * 3, (REC->b - 2)", true},
	/* what one parser reads in another way than the next */
	{"\"%u\", REC->e & 1 << 2", false},
	{"\"%u\", REC->e - 1 - 2", false},
	{"\"%u\", REC->e && REC->a", false},
	{"\"%u\", REC->e / 2", false},
	{"\"%u\", REC->e ^ 2", false},
	/* tables that depend on the order, or on names */
	{"\"%s\", __print_flags(REC->e, \"|\", { 0, \"none\" }, { 1, \"A\" })", false},
	{"\"%s\", __print_symbolic(REC->e, { HI_SOFTIRQ, \"HI\" })", false},
	/* other functions and conversions */
	{"\"%pS\", (void *)REC->c", false},
	{"\"%pU\", REC->comm", false},
	{"\"%s\", __print_hex(REC->comm, 8)", false},
	{"\"%.*s\", REC->e, REC->comm", false},
	{"\"%-5d\", REC->a", false},
	{"\"%#lx\", REC->c", false},
	/* mismatches */
	{"\"%s\", REC->a", false},
	{"\"%d\", REC->comm", false},
	{"\"%d\", REC->args[3]", false},
	{"\"%d\", REC->nothing", false},
	{"\"%d %d\", REC->a", false},
	{"\"%d\", REC->a, REC->b", false},
	{"\"%d\", (REC->a", false},
};

static void make_event(struct buf *format, struct buf *table, const char *print, struct ps_event *e)
{
	buf_adds(format, "name: tp\nID: 7\nformat:\n");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct ps_event_field f = {.offset = fields[i].offset,
					   .size = fields[i].size,
					   .element = fields[i].element,
					   .flags = fields[i].flags};

		buf_addf(format, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n%s",
			 fields[i].type, fields[i].offset, fields[i].size,
			 fields[i].flags & PS_FIELD_SIGNED, i ? "" : "\n");
		f.name = ps_str(fields[i].name, strlen(fields[i].name));
		f.type = ps_str(fields[i].type, strlen(fields[i].type));
		ps_event_field_add(table, &f);
	}
	buf_addf(format, "\nprint fmt: %s\n", print);
	*e = (struct ps_event){.perf_type = 2, .config = 7, .name = ps_str("x:tp", 4)};
	e->format = ps_str(buf_str(format), format->len);
	e->fields = ps_str(buf_str(table), table->len);
}

/* Numbers small and large, with and without a sign. */
static void make_payload(uint8_t *p, uint32_t seed)
{
	uint32_t where = 72u | 5u << 16;

	for (int i = 0; i < PAYLOAD; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = i < 28 || (i >= 40 && i < 64) ? (uint8_t)(seed >> 16) : 0;
		if (seed >> 28 < 7)
			p[i] = 0;
	}
	memcpy(p, &(uint16_t){7}, 2); /* common_type */
	if (seed & 0x10000)
		memset(p + 9, seed & 0x20000 ? 0xff : 0, 3);
	memcpy(p + 28, "a b\0\0\0\0", 8);
	memcpy(p + 64, &where, 4);
	memcpy(p + 72, "name", 5);
}

static void no_learn(void *ctx, uint32_t pid, const char *comm, size_t len)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)len;
}

/* Compares payloads; how many differ. */
static int compare(struct tep_handle *tep, const struct text_fast *fast)
{
	struct trace_seq seq;
	uint8_t payload[PAYLOAD + 16] = {0};
	struct tep_record rec = {.size = PAYLOAD, .data = payload};
	struct buf b = BUF_INIT;
	int bad = 0;

	trace_seq_init(&seq);
	for (uint32_t i = 0; i < 500; i++) {
		const struct ps_str p = ps_str((char *)payload, PAYLOAD);

		make_payload(payload, i);
		buf_reset(&b);
		trace_seq_reset(&seq);
		tep_print_event(tep, &seq, &rec, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		if (!text_fast_add(fast, &p, &b, no_learn, NULL) ||
		    strcmp(buf_str(&b), seq.buffer) != 0) {
			if (!bad++)
				printf("# got '%s', wanted '%s'\n", buf_str(&b), seq.buffer);
		}
	}
	for (uint32_t n = 0; n < PAYLOAD; n++) {
		const struct ps_str cut = ps_str((char *)payload, n);

		buf_reset(&b);
		if (!text_fast_add(fast, &cut, &b, no_learn, NULL) && b.len)
			bad++;
	}
	trace_seq_destroy(&seq);
	buf_release(&b);
	return bad;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct buf format = BUF_INIT, table = BUF_INIT;
		struct tep_handle *tep = tep_alloc();
		struct text_fast *fast;
		struct ps_event e;

		if (tep)
			tep_set_file_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN
								       : TEP_LITTLE_ENDIAN);
		if (tep)
			tep_set_long_size(tep, 8);
		make_event(&format, &table, formats[i].print, &e);
		fast = text_fast_new(&e, 8, false);
		is_int(fast != NULL, formats[i].fast, "%s: %s", formats[i].print,
		       formats[i].fast ? "understood" : "left to libtraceevent");
		if (fast && ok(tep && !tep_parse_event(tep, e.format.p, e.format.len, "x"),
			       "libtraceevent takes it"))
			is_int(compare(tep, fast), 0,
			       "the same text, and no byte after the payload");
		text_fast_free(fast);
		tep_free(tep);
		buf_release(&format);
		buf_release(&table);
	}
	return done();
}
