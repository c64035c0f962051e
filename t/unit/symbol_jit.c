/* Compiled code of processes: perf maps, jitdump with moved and changed code, bad files. */
#include "symbol/jit.h"

#include "base/buf.h"
#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

/* ---- perf maps ---- */

static const struct {
	const char *text;
	uint64_t addr;
	const char *name; /* NULL: none */
	uint64_t start, bad;
	const char *what;
} maps[] = {
	{"1000 20 f\n", 0x1000, "f", 0x1000, 0, "first address"},
	{"1000 20 f\n", 0x101f, "f", 0x1000, 0, "last address"},
	{"1000 20 f\n", 0x1020, NULL, 0, 0, "after it"},
	{"1000 20 f\n", 0xfff, NULL, 0, 0, "before it"},
	{"0x1000 0x20 f\n", 0x1010, "f", 0x1000, 0, "numbers with 0x"},
	{"ABC0 20 LazyCompile:~a b.js:1\n", 0xabc1, "LazyCompile:~a b.js:1", 0xabc0, 0,
	 "upper case, blanks in a name"},
	{"1000 20 f\r\n", 0x1000, "f", 0x1000, 0, "carriage return"},
	{"1000 20 old\n1000 20 new\n", 0x1000, "new", 0x1000, 0, "a later line covers"},
	{"1000 40 old\n1010 10 new\n", 0x1015, "new", 0x1010, 0, "also in the middle"},
	{"1000 40 old\n1010 10 new\n", 0x1025, "old", 0x1000, 0, "but not what is after"},
	{"1010 10 in\n1000 40 out\n", 0x1015, "out", 0x1000, 0, "the order decides, not the start"},
	{"1000 20 f", 0x1000, NULL, 0, 0, "a line without an end is not yet whole"},
	{"zz 20 f\n1000 20 g\n", 0x1000, "g", 0x1000, 1, "no number"},
	{"1000 g\n1000 20 g\n", 0x1000, "g", 0x1000, 1, "no size"},
	{"1000 20\n1000 20 g\n", 0x1000, "g", 0x1000, 1, "no name"},
	{"1000 20 \n1000 20 g\n", 0x1000, "g", 0x1000, 1, "an empty name"},
	{"\n1000 20 g\n", 0x1000, "g", 0x1000, 1, "an empty line"},
	{"11112222333344445 20 f\n", 0x1000, NULL, 0, 1, "too many digits"},
	{"1000 0 f\n", 0x1000, NULL, 0, 0, "no bytes"},
	{"ffffffffffffff00 1000 f\n", UINT64_MAX - 1, "f", 0xffffffffffffff00, 0, "up to the end"},
};

static void test_map(size_t i)
{
	struct jit *j;
	uint64_t bad;
	uint32_t code;

	if (jit_new(&j))
		abort();
	is_int(jit_map(j, maps[i].text, strlen(maps[i].text), &bad), 0, "map: %s", maps[i].what);
	is_int((int64_t)bad, (int64_t)maps[i].bad, "map: %s: bad lines", maps[i].what);
	code = jit_find(j, maps[i].addr);
	is_str(code ? jit_name(j, code) : NULL, maps[i].name, "map: %s: name", maps[i].what);
	if (code)
		is_int((int64_t)jit_code(j, code)->start, (int64_t)maps[i].start, "map: %s: start",
		       maps[i].what);
	jit_free(j);
}

/* ---- jitdump ---- */

struct dump {
	struct buf b;
	bool big;
	size_t record; /* where the record begins that is being made */
};

static void put(struct dump *d, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		buf_addc(&d->b, (char)(v >> 8 * (d->big ? n - 1 - i : i)));
}

static void begin(struct dump *d, uint64_t flags)
{
	put(d, 0x4a695444, 4);
	put(d, 1, 4);
	put(d, 40, 4);
	put(d, 62, 4);
	put(d, 0, 4);
	put(d, 77, 4);
	put(d, 1, 8);
	put(d, flags, 8);
}

static void record(struct dump *d, uint32_t id, uint64_t time)
{
	d->record = d->b.len;
	put(d, id, 4);
	put(d, 0, 4);
	put(d, time, 8);
}

/* Fills in the size of a record. */
static void finish(struct dump *d)
{
	size_t size = d->b.len - d->record;

	for (int i = 0; i < 4; i++)
		d->b.data[d->record + 4 + (size_t)i] = (uint8_t)(size >> 8 * (d->big ? 3 - i : i));
}

static void load(struct dump *d, uint64_t time, uint64_t addr, uint64_t size, uint64_t index,
		 const char *name)
{
	record(d, 0, time);
	put(d, 77, 4);
	put(d, 77, 4);
	put(d, addr, 8);
	put(d, addr, 8);
	put(d, size, 8);
	put(d, index, 8);
	buf_add(&d->b, name, strlen(name) + 1);
	buf_fill(&d->b, 'c', size);
	finish(d);
}

static void move(struct dump *d, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
		 uint64_t index)
{
	record(d, 1, time);
	put(d, 77, 4);
	put(d, 77, 4);
	put(d, to, 8);
	put(d, from, 8);
	put(d, to, 8);
	put(d, size, 8);
	put(d, index, 8);
	finish(d);
}

static void make(struct dump *d)
{
	begin(d, 0);
	record(d, 2, 5);
	put(d, 0x1000, 8);
	put(d, 2, 8);
	put(d, 0x1000, 8);
	put(d, 11, 4);
	put(d, 0, 4);
	buf_add(&d->b, "a.js", 5);
	put(d, 0x1010, 8);
	put(d, 12, 4);
	put(d, 0, 4);
	buf_add(&d->b, "\xff", 2);
	finish(d);
	load(d, 10, 0x1000, 0x20, 1, "first");
	load(d, 20, 0x2000, 0x20, 2, "second");
	load(d, 30, 0x1000, 0x10, 3, "third");
	record(d, 99, 33);
	put(d, 0, 8);
	finish(d);
	move(d, 50, 0x2000, 0x3000, 0x20, 2);
	load(d, 40, 0x4000, 0x20, 4, "late"); /* another thread's: written out of order */
	record(d, 3, 60);
	finish(d);
}

static const struct {
	uint64_t time, addr;
	const char *name;
	uint32_t line;
	const char *what;
} times[] = {
	{9, 0x1000, NULL, 0, "before it was there"},
	{10, 0x1000, "first", 11, "from its time on"},
	{10, 0x1018, "first", 12, "its second line, of the same file"},
	{25, 0x2000, "second", 0, "the second code"},
	{30, 0x1000, "third", 0, "other code came to the address"},
	{30, 0x1018, "first", 12, "what it does not cover stays"},
	{39, 0x4000, NULL, 0, "an event is not early"},
	{45, 0x4000, "late", 0, "events are in the order of their times"},
	{45, 0x3000, NULL, 0, "before the move"},
	{55, 0x3000, "second", 0, "moved to there"},
	{55, 0x2000, NULL, 0, "moved from there"},
};

static void test_times(bool big)
{
	struct dump d = {.big = big};
	struct jit_dump_info info;
	bool changed = false;
	struct source_frame f;
	struct jit *j;

	make(&d);
	if (jit_new(&j))
		abort();
	is_int(jit_dump(j, d.b.data, d.b.len, &info), 0, "jitdump, %s", big ? "big" : "little");
	ok(info.pid == 77 && info.machine == 62 && info.closed && !info.cut && !info.arch_time,
	   "its header");
	ok(info.loads == 4 && info.moves == 1, "its records");
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint32_t code, line = 0;

		if (jit_advance(j, times[i].time, &changed))
			abort();
		code = jit_find(j, times[i].addr);
		is_str(code ? jit_name(j, code) : NULL, times[i].name, "%s", times[i].what);
		if (code && !jit_line(j, code, times[i].addr, &f))
			line = f.line;
		is_int(line, times[i].line, "%s: line", times[i].what);
		if (line)
			is_str(f.file, "a.js", "%s: file", times[i].what);
	}
	jit_free(j);
	buf_release(&d.b);
}

/* A code of 0x40 bytes at 0x1000 with three lines, the second of which has this address. */
static void make_lines(struct dump *d, const char *name, uint64_t first, uint64_t second)
{
	static const char *const files[] = {"a.src", "\xff", "b.src"};
	const uint64_t addrs[] = {first, second, first + 0x30};

	begin(d, 0);
	record(d, 2, 5);
	put(d, 0x1000, 8);
	put(d, 3, 8);
	for (uint32_t i = 0; i < 3; i++) {
		put(d, addrs[i], 8);
		put(d, 10 + i, 4);
		put(d, 7 + i, 4);
		buf_add(&d->b, files[i], strlen(files[i]) + 1);
	}
	finish(d);
	load(d, 10, 0x1000, 0x40, 1, name);
}

static const struct {
	const char *name;
	uint64_t first, second, at;
	const char *file;
	uint32_t line, column, bad;
	const char *what;
} lines[] = {
	{"f", 0x1000, 0x1010, 0x1000, "a.src", 10, 0, 0, "the first line"},
	{"f", 0x1000, 0x1010, 0x100f, "a.src", 10, 0, 0, "up to the next"},
	{"f", 0x1000, 0x1010, 0x1010, "a.src", 11, 0, 0, "which has the same file"},
	{"f", 0x1000, 0x1010, 0x103f, "b.src", 12, 0, 0, "the last line"},
	{"f", 0x1004, 0x1010, 0x1003, NULL, 0, 0, 0, "before the first line"},
	{"f", 0x1000, 0x1038, 0x1037, "b.src", 12, 0, 0, "lines out of order"},
	{"f", 0x1000, 0x1038, 0x1038, "a.src", 11, 0, 0, "keep their files"},
	{"f", 0x1000, 0x1000, 0x1000, "a.src", 11, 0, 0, "of two at one address the later"},
	{"f", 0x1000, 0x1041, 0x1000, NULL, 0, 0, 1, "an address after the code"},
	{"f", 0x1000, 0xfff, 0x1000, NULL, 0, 0, 1, "an address before it"},
	{"f", 0x1000, UINT64_MAX, 0x1000, NULL, 0, 0, 1, "garbage"},
	{"JS:*f a.js:1:2", 0x1040, 0x1050, 0x1000, "a.src", 10, 7, 0, "V8 counts from a header"},
	{"JS:*f a.js:1:2", 0x1040, 0x1050, 0x1010, "a.src", 11, 8, 0, "and has columns"},
	{"JS:*f a.js:1:2", 0x1000, 0x1050, 0x1010, NULL, 0, 0, 1, "before that header"},
};

static void test_lines(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct dump d = {0};
		struct jit_dump_info info;
		struct source_frame f = {0};
		bool changed = false;
		struct jit *j;

		make_lines(&d, lines[i].name, lines[i].first, lines[i].second);
		if (jit_new(&j) || jit_dump(j, d.b.data, d.b.len, &info) ||
		    jit_advance(j, JIT_TIME_ALL, &changed))
			abort();
		is_int(info.bad_lines, lines[i].bad, "%s: codes with bad lines", lines[i].what);
		is_int(jit_line(j, jit_find(j, lines[i].at), lines[i].at, &f),
		       lines[i].file ? 0 : PP_ENOENT, "%s: found", lines[i].what);
		is_str(f.file, lines[i].file, "%s: file", lines[i].what);
		ok(f.line == lines[i].line && f.column == lines[i].column, "%s: line",
		   lines[i].what);
		jit_free(j);
		buf_release(&d.b);
	}
}

/* When what was found before may no longer be true. */
static void test_changed(void)
{
	struct dump d = {0};
	struct jit_dump_info info;
	bool changed = false;
	struct jit *j;

	make(&d);
	if (jit_new(&j) || jit_dump(j, d.b.data, d.b.len, &info))
		abort();
	jit_advance(j, 10, &changed);
	ok(!changed, "new code where nobody looked changes nothing");
	jit_find(j, 0x2000);
	jit_advance(j, 20, &changed);
	ok(changed, "after a miss it may");
	changed = false;
	jit_advance(j, 29, &changed);
	ok(!changed, "no event, no change");
	jit_advance(j, 30, &changed);
	ok(changed, "covered code is a change");
	changed = false;
	jit_advance(j, 40, &changed);
	ok(!changed, "new code again is none");
	jit_advance(j, 50, &changed);
	ok(changed, "a move is");
	jit_free(j);
	buf_release(&d.b);
}

static void test_bad(void)
{
	struct dump d = {0}, ticks = {0};
	struct jit_dump_info info;
	size_t wrong = 0, whole = 0;
	bool changed = false;
	struct jit *j;

	make(&d);
	for (size_t cut = 0; cut <= d.b.len; cut++) {
		int rc;

		if (jit_new(&j))
			abort();
		rc = jit_dump(j, d.b.data, cut, &info);
		wrong += rc != (cut < 40 ? PP_EUNSUPPORTED : 0);
		whole += !rc && !info.cut;
		jit_free(j);
	}
	is_int((int64_t)wrong, 0, "cut at every byte: no jitdump without a header");
	is_int((int64_t)whole, 9, "and whole only between records");
	begin(&ticks, 1);
	load(&ticks, 1000000, 0x1000, 0x20, 1, "f");
	if (jit_new(&j))
		abort();
	jit_dump(j, ticks.b.data, ticks.b.len, &info);
	ok(info.arch_time, "times of another clock are told");
	jit_advance(j, 0, &changed);
	is_int(jit_find(j, 0x1000), 1, "and do not delay");
	jit_free(j);
	if (jit_new(&j))
		abort();
	is_int(jit_dump(j, "hello, world, this is no dump at all, is it?", 44, &info),
	       PP_EUNSUPPORTED, "no jitdump");
	jit_free(j);
	buf_release(&d.b);
	buf_release(&ticks.b);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		test_map(i);
	test_times(false);
	test_times(true);
	test_lines();
	test_changed();
	test_bad();
	return done();
}
