/* The expression language: what each expression makes of some events, errors, values. */
#include "expr/expr.h"

#include "stream_make.h"

/* ---- two tracepoints, a clock, and a sample of each ---- */

struct def {
	const char *name, *type;
	uint32_t offset, size, element, flags;
};

static const struct def switch_fields[] = {
	{"common_type", "unsigned short", 0, 2, 2, 0},
	{"common_flags", "unsigned char", 2, 1, 1, 0},
	{"common_preempt_count", "unsigned char", 3, 1, 1, 0},
	{"common_pid", "int", 4, 4, 4, PS_FIELD_SIGNED},
	{"prev_comm", "char", 8, 16, 1, PS_FIELD_ARRAY | PS_FIELD_STRING},
	{"prev_pid", "pid_t", 24, 4, 4, PS_FIELD_SIGNED},
	{"prev_prio", "int", 28, 4, 4, PS_FIELD_SIGNED},
	{"prev_state", "long", 32, 8, 8, PS_FIELD_SIGNED},
	{"next_comm", "char", 40, 16, 1, PS_FIELD_ARRAY | PS_FIELD_STRING},
	{"next_pid", "pid_t", 56, 4, 4, PS_FIELD_SIGNED},
	{"next_prio", "int", 60, 4, 4, PS_FIELD_SIGNED},
	{NULL, NULL, 0, 0, 0, 0}};
static const char switch_format[] =
	"name: sched_switch\nprint fmt: \"prev_state=%s%s\", (REC->prev_state & ((((0x0000 | "
	"0x0001 | 0x0002 | 0x0040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
	"((((0x0000 | 0x0001 | 0x0002 | 0x0040) + 1) << 1) - 1), \"|\", { 0x0001, \"S\" }, { "
	"0x0002, \"D\" }, { 0x0040, \"P\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"";
static const struct def alloc_fields[] = {
	{"common_pid", "int", 4, 4, 4, PS_FIELD_SIGNED},
	{"ret", "long", 8, 8, 8, PS_FIELD_SIGNED},
	{"gfp_flags", "unsigned long", 16, 8, 8, 0},
	{"vec", "u8", 24, 1, 1, 0},
	{"small", "s8", 25, 1, 1, PS_FIELD_SIGNED},
	{"half", "u16", 26, 2, 2, 0},
	{"name", "__data_loc char[]", 28, 4, 1, PS_FIELD_DYNAMIC | PS_FIELD_STRING},
	{"rel", "__rel_loc char[]", 32, 4, 1,
	 PS_FIELD_DYNAMIC | PS_FIELD_STRING | PS_FIELD_RELATIVE},
	{"args", "unsigned long", 40, 24, 8, PS_FIELD_ARRAY},
	{"mask", "__data_loc cpumask_t", 64, 4, 8, PS_FIELD_DYNAMIC},
	{"comm", "char", 68, 4, 1, PS_FIELD_ARRAY | PS_FIELD_STRING},
	{"pid", "pid_t", 72, 4, 4, PS_FIELD_SIGNED},
	{"big", "u64", 80, 8, 8, 0},
	{"gone", "u32", 200, 4, 4, 0},
	{NULL, NULL, 0, 0, 0, 0}};
static const char alloc_format[] =
	"print fmt: \"%s %s %u\", __print_flags(REC->gfp_flags, \"|\", {( unsigned long)((( "
	"gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u)), \"GFP_KERNEL\" }, {( unsigned long)0x20u, "
	"\"GFP_ATOMIC\" }, { UNKNOWN_ENUM, \"GFP_ODD\" }), __print_symbolic(REC->vec, { 0, "
	"\"HI\" }, { 1, \"TIMER\" }, { 0x1 << 1, \"NET_TX\" }), REC->half >> 4";

enum { SWITCH = 1, ALLOC, CLOCK };

static struct ps_str table(struct buf *b, const struct def *d)
{
	buf_reset(b);
	for (; d->name; d++) {
		struct ps_event_field f = {.offset = d->offset,
					   .size = d->size,
					   .element = d->element,
					   .flags = d->flags,
					   .name = ps_str(d->name, strlen(d->name)),
					   .type = ps_str(d->type, strlen(d->type))};

		ps_event_field_add(b, &f);
	}
	return ps_str(buf_str(b), b->len);
}

static void put_event(struct made *m, uint32_t id, const char *name, const struct def *d,
		      const char *format)
{
	struct buf b = BUF_INIT;
	struct ps_event e = {.id = id, .perf_type = d ? 2 : 1};

	e.name = ps_str(name, strlen(name));
	e.unit = ps_str("events", 6);
	if (d) {
		e.fields = table(&b, d);
		e.format = ps_str(format, strlen(format));
	}
	swriter_put(&m->w, PS_EVENT, 1, &e);
	buf_release(&b);
}

static void put_cgroup(struct made *m, uint64_t id, const char *path)
{
	struct ps_cgroup g = {.id = id, .path = ps_str(path, strlen(path))};

	swriter_put(&m->w, PS_CGROUP, 1, &g);
}

/* One function of a kernel. */
static const char *symbol(void *ctx, uint32_t source, uint64_t addr, size_t *len)
{
	(void)ctx;
	*len = 9;
	return source == 1 && addr >= 0xfffffffffffff000 ? "last_func" : NULL;
}

static void put_string(struct made *m, uint32_t id, const char *s)
{
	struct ps_string str = {.id = id, .text = ps_str(s, strlen(s))};

	swriter_put(&m->w, PS_STRING, 1, &str);
}

static void set(char *p, uint32_t at, uint64_t v, uint32_t size)
{
	const char *from = (const char *)&v;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		from += sizeof(v) - size;
	memcpy(p + at, from, size);
}

static void put_switch(struct made *m)
{
	char p[64] = {0};
	struct ps_sample s = {.event = SWITCH,
			      .cpu = 3,
			      .time = 5000000000,
			      .pid = 100,
			      .tid = 101,
			      .comm = 1,
			      .flags = 1 << PS_SAMPLE_MODE_SHIFT,
			      .fields = PS_HAS(payload) | PS_HAS(cgroup),
			      .cgroup = 23};

	set(p, 4, 101, 4);
	memcpy(p + 8, "bash", 4);
	set(p, 24, 101, 4);
	set(p, 28, 120, 4);
	set(p, 32, 0x102, 8);
	memcpy(p + 40, "sixteen-letters!", 16);
	set(p, 56, 0, 4);
	set(p, 60, (uint64_t)-1, 4);
	s.payload = ps_str(p, sizeof(p));
	swriter_sample(&m->w, 1, &s);
}

static void put_alloc(struct made *m)
{
	char p[120] = {0};
	struct ps_sample s = {.event = ALLOC,
			      .cpu = 1,
			      .time = 6000000000,
			      .pid = 7,
			      .tid = 7,
			      .fields = PS_HAS(payload) | PS_HAS(weight),
			      .weight = 1500};

	set(p, 4, 7, 4);
	set(p, 8, (uint64_t)-2, 8);
	set(p, 16, 0xc60, 8);
	set(p, 24, 1, 1);
	set(p, 25, 0xff, 1);
	set(p, 26, 0xffff, 2);
	set(p, 28, 88 | 4 << 16, 4);
	memcpy(p + 88, "eth", 3);
	set(p, 32, (96 - 36) | 8 << 16, 4);
	memcpy(p + 96, "/tmp/abc", 8);
	set(p, 40, 11, 8);
	set(p, 48, (uint64_t)-5, 8);
	set(p, 56, 33, 8);
	set(p, 64, 104 | 16 << 16, 4);
	set(p, 104, 0x5, 8);
	set(p, 112, 0x1, 8);
	memcpy(p + 68, "own", 3);
	set(p, 72, 99, 4);
	set(p, 80, UINT64_MAX, 8);
	s.payload = ps_str(p, sizeof(p));
	swriter_sample(&m->w, 1, &s);
}

static void put_clock(struct made *m)
{
	struct ps_sample s = {.event = CLOCK,
			      .cpu = 0,
			      .time = 7000000000,
			      .pid = 100,
			      .tid = 101,
			      .comm = 1,
			      .flags = 2 << PS_SAMPLE_MODE_SHIFT,
			      .fields = PS_HAS(ip) | PS_HAS(period) | PS_HAS(stack),
			      .ip = 0xffffffff81000010,
			      .period = 250000,
			      .stack = 1};

	swriter_sample(&m->w, 1, &s);
}

/* main > outer > inlined into leaf_fn, and an address without a name at the root. */
static void put_symbols(struct made *m)
{
	static const char *const names[] = {"inlined", "leaf_fn", "outer::fn(int)", "main"};
	static const uint32_t frames[] = {1, 2, 3, 4, 5};
	struct ps_srcfile file = {.id = 1, .path = ps_str("src/a.c", 7)};
	struct ps_dso dso = {.id = 1, .path = ps_str("/bin/x", 6)};
	struct ps_stack stack = {.id = 1, .frames = {frames, 5}};

	swriter_put(&m->w, PS_DSO, 1, &dso);
	swriter_put(&m->w, PS_SRCFILE, 1, &file);
	for (uint32_t i = 1; i <= 5; i++) {
		struct ps_symbol sym = {.id = i, .dso = 1};
		struct ps_frame f = {.id = i, .symbol = i < 5 ? i : 0, .dso = i < 5};

		if (i < 5) {
			sym.name = ps_str(names[i - 1], strlen(names[i - 1]));
			swriter_put(&m->w, PS_SYMBOL, 1, &sym);
		}
		f.flags = i == 1 ? PS_FRAME_INLINED : 0;
		f.srcfile = i == 1;
		f.line = 42;
		swriter_put(&m->w, PS_FRAME, 1, &f);
	}
	swriter_put(&m->w, PS_STACK, 1, &stack);
}

static void make_stream(struct made *m)
{
	made_begin(m);
	put_string(m, 1, "bash");
	put_cgroup(m, 1, "/");
	put_cgroup(m, 23, "/old");
	put_cgroup(m, 23, "/system.slice/a b");
	put_event(m, SWITCH, "sched:sched_switch", switch_fields, switch_format);
	put_event(m, ALLOC, "kmem:kmalloc", alloc_fields, alloc_format);
	put_event(m, CLOCK, "cpu-clock", NULL, NULL);
	put_symbols(m);
	put_switch(m);
	put_alloc(m);
	put_clock(m);
	made_end(m, 0);
}

/* ---- marks ---- */

/* The marks of the samples in their order: P pass, F fail, - does not apply. */
static bool marks(const struct made *m, const char *text, char *got, struct buf *why)
{
	struct sreader *r = made_reader(m, FIELD_KEEP);
	const struct ps_record *rec;
	struct expr *x;
	int n = 0, rc = expr_new(&x, text, EXPR_CONDITION, why);

	if (!rc)
		expr_symbols(x, &(struct expr_symbols){.name = symbol});
	while (!rc && !sreader_next(r, &rec)) {
		if (rec->type == PS_SAMPLE)
			got[n++] = "PF-"[expr_mark(x, r, rec)];
		else
			rc = expr_see(x, r, rec);
	}
	got[n] = 0;
	if (!rc)
		expr_problems(x, why);
	expr_free(x);
	sreader_free(r);
	return !rc;
}

struct row {
	const char *text, *want; /* of sched_switch, kmalloc, cpu-clock */
};
static const struct row rows[] = {
#include "expr_rows.h"
};

static void test_marks(const struct made *m)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf why = BUF_INIT;
		char got[8];

		if (!marks(m, rows[i].text, got, &why))
			is_str(buf_str(&why), "", "%s", rows[i].text);
		else
			is_str(got, rows[i].want, "%s", rows[i].text);
		buf_release(&why);
	}
}

/* ---- errors ---- */

struct error_row {
	const char *text, *want;
};
static const struct error_row errors[] = {
#include "expr_errors.h"
};

static void test_errors(const struct made *m)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct buf why = BUF_INIT;
		char got[8];

		marks(m, errors[i].text, got, &why);
		is_str(buf_str(&why), errors[i].want, "error of %s", errors[i].text);
		buf_release(&why);
	}
}

/* ---- values ---- */

/* The values of a list for the sample of an event: "1 -2 text ?". */
static void values(const struct made *m, uint32_t event, const char *text, struct buf *got)
{
	struct sreader *r = made_reader(m, FIELD_KEEP);
	const struct ps_record *rec;
	struct expr *x;
	struct qval v;

	if (expr_new(&x, text, EXPR_VALUES, got)) {
		sreader_free(r);
		return;
	}
	while (!sreader_next(r, &rec)) {
		expr_see(x, r, rec);
		if (rec->type != PS_SAMPLE || rec->sample.event != event)
			continue;
		for (unsigned i = 0; i < expr_count(x); i++) {
			if (i)
				buf_addc(got, ' ');
			if (!expr_value(x, i, r, rec, &v))
				buf_addc(got, '?');
			else if (v.kind == QV_INT && v.is_unsigned)
				buf_addf(got, "%" PRIu64, v.num);
			else if (v.kind == QV_INT)
				buf_addf(got, "%" PRId64, (int64_t)v.num);
			else
				buf_add_safe(got, v.s, v.len);
		}
	}
	expr_free(x);
	sreader_free(r);
}

static const struct {
	uint32_t event;
	const char *text, *want;
} value_rows[] = {
	{ALLOC, "ret, -ret, half, small, big", "-2 2 65535 -1 18446744073709551615"},
	{ALLOC, "half*2,comm,COMM", "131070 own <...>"},
	{ALLOC, "args[0],args[1],args[3]", "11 18446744073709551611 ?"},
	{ALLOC, "name, rel, gone, bogus", "eth /tmp/abc ? ?"},
	{ALLOC, "ret < 0, ret > 0, bogus == 1", "1 0 ?"},
	{ALLOC, "weight / 1k, 7 % 4, 1 << 4 | 1, 5 / 0, 5 / (vec - 1)", "1 3 17 ? ?"},
	{ALLOC, "big + 1, big - 1, half - 70000, ~vec, ret >> 1, big >> 60", "0 -2 -4465 -2 -1 15"},
	{SWITCH, "prev_comm, next_comm, prev_pid, next_prio", "bash sixteen-letters! 101 -1"},
	{SWITCH, "event, cpu, tid, pid, time, mode",
	 "sched:sched_switch 3 101 100 5000000000 kernel"},
	{CLOCK, "sym, leaf, caller, dso, srcline, depth",
	 "leaf_fn inlined outer::fn(int) /bin/x src/a.c:42 5"},
	{CLOCK, "stack", "[unknown];main;outer::fn(int);leaf_fn;inlined"},
	{CLOCK, "common_pid, ip, period, mode, source", "101 18446744071578845200 250000 user 1"},
	{CLOCK, "addr, weight, cgroup, prev_pid", "? ? ? ?"},
};

static void test_values(const struct made *m)
{
	for (size_t i = 0; i < sizeof(value_rows) / sizeof(value_rows[0]); i++) {
		struct buf got = BUF_INIT;

		values(m, value_rows[i].event, value_rows[i].text, &got);
		is_str(buf_str(&got), value_rows[i].want, "value of %s", value_rows[i].text);
		buf_release(&got);
	}
}

static void test_texts(void)
{
	struct buf b = BUF_INIT;
	struct ps_str s;
	struct expr *x;

	is_int(expr_new(&x, " a*2 ,(b) , c[1]", EXPR_VALUES, &b), 0, "a list of values");
	is_int(expr_count(x), 3, "three of them");
	s = expr_text(x, 0);
	is_mem(s.p, s.len, "a*2", 3, "the text of the first");
	s = expr_text(x, 1);
	is_mem(s.p, s.len, "(b)", 3, "the second with its parentheses");
	s = expr_text(x, 2);
	is_mem(s.p, s.len, "c[1]", 4, "the third with its index");
	expr_free(x);
	is_int(expr_new(&x, "sched/*, irq: a==1 || b & 2 && !c ~ 'x*'", EXPR_CONDITION, &b),
	       PP_EUSAGE, "! binds more tightly than ~");
	buf_reset(&b);
	is_int(expr_new(&x, "sched/*, irq: a==1 || b & 2 && !(c ~ 'x*') || d in (1,3..4)",
			EXPR_CONDITION, &b),
	       0, "a long one");
	expr_print(x, &b);
	is_str(buf_str(&b),
	       "sched/*, irq: (((a == 1) || ((b & 2) && !(c ~ \"x*\"))) || ((d == 1) || (d in "
	       "3..4)))\n",
	       "what was understood");
	expr_free(x);
	buf_release(&b);
}

int main(void)
{
	struct made m;

	make_stream(&m);
	test_marks(&m);
	test_errors(&m);
	test_values(&m);
	test_texts();
	made_free(&m);
	return done();
}
