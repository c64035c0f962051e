/* Parts of the expression language and of --time: shell patterns, names of values, spans. */
#include "base/err.h"
#include "event/glob.h"
#include "event/value_names.h"
#include "event/scan.h"
#include "event/symbolic.h"
#include "event/site.h"
#include "select/span.h"

#include "tap.h"

#include <fnmatch.h>
#include <stdlib.h>

/* ---- patterns, beside those of the C library ---- */

static void test_glob(void)
{
	static const char *const patterns[] = {
		"",	 "*",	   "**",    "a",    "a*",  "*a",      "*a*",   "a*b",
		"a*b*c", "?",	   "??",    "a?c",  "[a]", "[ab]c",   "[a-c]", "[!a]",
		"[^a]",	 "[]a]",   "[!]a]", "[a-]", "\\*", "a\\?",    "*[x]",  "*ab",
		"*a*a*", "[a-c]*", "a**b",  "*?",   "?*",  "x[0-9]y",
	};
	static const char *const texts[] = {"",	     "a",   "b",  "c",	"ab",  "abc", "aab",
					    "aXbYc", "*",   "a?", "]",	"-",   "aaa", "x5y",
					    "xay",   "cab", "bc", "ac", "aba", "abab"};

	for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
		bool same = true;

		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
			bool want = !fnmatch(patterns[p], texts[t], 0);
			bool got = glob_match(patterns[p], strlen(patterns[p]), texts[t],
					      strlen(texts[t]));

			if (got != want)
				printf("# '%s' and '%s': %d\n", patterns[p], texts[t], got);
			same = same && got == want;
		}
		ok(same, "pattern '%s' as fnmatch has it", patterns[p]);
	}
	ok(glob_match("[a", 2, "[a", 2), "an open bracket is itself");
	ok(glob_match("a\\", 2, "a\\", 2), "so is a backslash at the end");
}

/* ---- who waits ---- */

static void test_site(void)
{
	static const char *const passed[] = {"schedule",
					     "__schedule",
					     "io_schedule",
					     "schedule_timeout",
					     "mutex_lock",
					     "__mutex_lock.isra.0",
					     "down_read",
					     "rwsem_down_write_slowpath",
					     "_raw_spin_lock",
					     "raw_spin_rq_lock_nested",
					     ".slowpath",
					     "__down_common",
					     "alloc_pages_mpol",
					     "__folio_alloc_noprof",
					     "__get_free_pages",
					     "__traceiter_contention_begin",
					     "up",
					     "yield_to",
					     "__wait_for_common",
					     "__wait_on_bit",
					     "kmem_cache_alloc",
					     "__kmem_cache_alloc_node",
					     "kmem_cache_alloc_lru_noprof",
					     "kmem_cache_free.part.0",
					     "___slab_alloc",
					     "__kmalloc_node_track_caller",
					     "kmalloc_trace",
					     "kmalloc_reserve",
					     "kvmalloc_node",
					     "__kvmalloc_node_noprof",
					     "kfree",
					     "kmemdup_nul",
					     "kstrdup",
					     "mempool_alloc_slab",
					     "__vmalloc_node_range",
					     "__alloc_percpu_gfp"};
	static const char *const kept[] = {"schedule_tail",
					   "schedule_work",
					   "do_exit",
					   "vfs_read",
					   "downcall",
					   "update_rq_clock",
					   "folio_alloc_buffers",
					   "alloc_page_buffers",
					   "",
					   "_",
					   "____",
					   "uprobe_mmap",
					   "yield_task_fair",
					   "spin",
					   ".",
					   "lock_page",
					   "try_to_wake_up",
					   "scheduled",
					   "trace_panic_handler",
					   "kfree_skb",
					   "kfree_rcu_work",
					   "kmem_cache_create_usercopy",
					   "kstrdup_quotable",
					   "vfree_atomic",
					   "vmalloc_fault",
					   "vmalloc_to_page",
					   "mempool_init_node",
					   "mempool_create",
					   "slab_unmergeable",
					   "kthread"};
	char name[256];

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		ok(site_skips(passed[i], strlen(passed[i])), "%s waits or allocates for others",
		   passed[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		ok(!site_skips(kept[i], strlen(kept[i])), "'%s' does not", kept[i]);
	ok(!site_skips("mutex_lock", 5), "names are not terminated");
	/* Each byte as the only one, and as the first of many. */
	for (int c = 0; c < 256; c++) {
		memset(name, c, sizeof(name));
		if (site_skips(name, 1) || site_skips(name, sizeof(name)))
			break;
		if (c == 255)
			ok(true, "a name of one byte is none");
	}
}

/* ---- names ---- */

static void value_is(const char *format, const char *field, const char *name, int64_t want)
{
	struct ps_event e = {.format = ps_str(format, strlen(format))};
	const struct names_table *t;
	uint64_t got = 0;
	struct value_names n;
	bool found;

	names_init(&n, &e);
	t = names_find(&n, field, strlen(field));
	found = t && names_value(t, name, strlen(name), &got);
	if (want < 0)
		ok(!found, "%s of %s is no name", name, field);
	else
		ok(found && got == (uint64_t)want, "%s of %s is %" PRId64, name, field, want);
	names_release(&n);
}

/* Constant expressions as C has them, whoever reads them. */
static void test_constants(void)
{
	static const struct {
		const char *text;
		uint64_t want;
		const char *rest; /* NULL: it is none */
	} rows[] = {
		{"12,", 12, ","},
		{" 0x1fUL }", 31, "}"},
		{"0644", 420, ""},
		{"0", 0, ""},
		{"08", 0, "8"},
		{"1 << 4 | 2", 18, ""},
		{"1 | 2 ^ 3 & 6 << 1 + 1", 3, ""},
		{"16 >> 1 + 1 - 1", 8, ""},
		{"(((0x0 | 0x2) + 1) << 1) - 1", 5, ""},
		{"~0x0fu & 0xff", 0xf0, ""},
		{"-1", UINT64_MAX, ""},
		{"( gfp_t)(( unsigned long )8) )", 8, ")"},
		{"1 << 64", 0, ""},
		{"ODD", 0, NULL},
		{"(1", 0, NULL},
		{"1 +", 0, NULL},
		{"", 0, NULL},
	};
	struct scan s;
	uint64_t v;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = scan_make(rows[i].text, strlen(rows[i].text));
		v = scan_constant(&s, SCAN_ALL);
		if (rows[i].rest)
			ok(!s.bad && v == rows[i].want && !strcmp(s.p, rows[i].rest),
			   "'%s' is %" PRIu64, rows[i].text, rows[i].want);
		else
			ok(s.bad, "'%s' is no constant", rows[i].text);
	}
}

static void test_symbolic(void)
{
	static const char format[] =
		"__print_symbolic(REC->mode, { 0644, \"FILE\" }, { -1, \"NONE\" }), "
		"__print_flags_u64(REC->bits, \"|\", { 010, \"EIGHT\" })";
	char text[SYMBOLIC_ALL];
	struct symbolic s;

	symbolic_parse(&s, format, strlen(format), "mode");
	is_str(symbolic_text(&s, 420, text) ? text : NULL, "FILE", "a name of an octal number");
	is_str(symbolic_text(&s, UINT64_MAX, text) ? text : NULL, "NONE", "and of one below zero");
	symbolic_parse(&s, format, strlen(format), "bits");
	ok(s.flags && s.n == 1 && s.names[0].value == 8, "flags of 64 bits");
}

static void test_names(void)
{
	static const char fmt[] =
		"format:\n\tfield:int x;\n\nprint fmt: \"__print_flags %s {\", "
		"__print_symbolic(REC->vec, { 0, \"HI\" }, { (1 << 4) - 1, \"a, }b\" }, { ODD, "
		"\"ODD\" }, { 3, \"LAST\" }), (REC->st & ((0x1|0x2)+1)) ? __print_flags(REC->st & "
		"0x3, \"|\", { 0x01, \"S\" }, { 0x2, \"D\" }) : \"R\", "
		"__print_flags_u64((u64)(REC->big), \"\", { ( unsigned long)(( gfp_t)0x8u | ~(( "
		"t)~0x10ULL)), \"X\" }), __print_symbolic((REC->fl >> 4) & 0xf, { 2, \"TWO\" }), "
		"__print_hex(REC->fl, 4)";

	value_is(fmt, "vec", "HI", 0);
	value_is(fmt, "vec", "a, }b", 15);
	value_is(fmt, "vec", "ODD", -1);
	value_is(fmt, "vec", "LAST", 3);
	value_is(fmt, "vec", "HI|LAST", -1);
	value_is(fmt, "st", "S", 1);
	value_is(fmt, "st", "S|D", 3);
	value_is(fmt, "st", "S|Q", -1);
	value_is(fmt, "st", "R", 0);
	value_is(fmt, "big", "X", 0x18);
	value_is(fmt, "fl", "TWO", 2);
	value_is(fmt, "none", "TWO", -1);
	value_is("", "vec", "HI", -1);
	value_is("print fmt: \"%s\", __print_symbolic(REC->mode, { 0644, \"FILE\" })", "mode",
		 "FILE", 420);
	/* Cut off anywhere: nothing is read after the end. */
	for (size_t n = 0; n < sizeof(fmt); n++) {
		char *copy = malloc(n + 1);
		struct ps_event e = {.format = ps_str(copy, n)};
		struct value_names names;

		memcpy(copy, fmt, n);
		names_init(&names, &e);
		names_release(&names);
		free(copy);
	}
	ok(true, "a format cut at every byte");
}

/* ---- spans ---- */

/* Of a recording from 1 s to 2 s, the first and last ns that are in it; "" for a wrong text. */
static void span_is(const char *text, const char *want)
{
	struct buf why = BUF_INIT, got = BUF_INIT;
	struct spans s = SPANS_INIT;
	int rc = spans_parse(&s, text, &why);

	if (!rc && !spans_settle(&s, 1000000000, 2000000000))
		for (unsigned i = 0; i < s.nranges; i++)
			buf_addf(&got, "%s%" PRIu64 "-%" PRIu64, i ? " " : "", s.ranges[i].first,
				 s.ranges[i].last);
	is_str(buf_str(&got), want, "--time %s", text);
	ok((rc == PP_EUSAGE) == (why.len != 0), "and a wrong one is reported");
	spans_release(&s);
	buf_release(&why);
	buf_release(&got);
}

static void test_spans(void)
{
	struct spans s = SPANS_INIT;
	uint64_t ns;
	bool unit;

	span_is("1.5..1.6", "1500000000-1600000000");
	span_is("1.5..", "1500000000-18446744073709551615");
	span_is("..1.5", "0-1500000000");
	span_is("1500ms..1600000us", "1500000000-1600000000");
	span_is("+0.1..+200ms", "1100000000-1200000000");
	span_is("-0.1..", "1900000000-18446744073709551615");
	span_is("-300ms..-0.1s", "1700000000-1900000000");
	span_is("1.25,1.5", "1250000000-1500000000");
	span_is(",1.5", "0-1500000000");
	span_is("1.5,", "1500000000-18446744073709551615");
	span_is("10%/2", "1100000000-1200000000");
	span_is("30%/4", "1900000000-2000000000");
	span_is("0%-25%", "1000000000-1250000000");
	span_is("25%..50%", "1250000000-1500000000");
	span_is("50%..", "1500000000-18446744073709551615");
	span_is("10%/1,10%/3", "1000000000-1100000000 1200000000-1300000000");
	span_is("1.4..1.6,1.1..1.5,3..4", "1100000000-1600000000 3000000000-4000000000");
	span_is("+1..+9e", "");
	span_is("2..1", "");
	span_is("50%-10%", "");
	span_is("10%/11", "");
	span_is("0%/1", "");
	span_is("101%-102%", "");
	span_is("1", "");
	span_is("..", "");
	span_is("", "");
	span_is("1..2x", "");
	span_is("1.0000000001..2", "");
	span_is("99999999999999..", "");
	is_int(spans_add(&s, 5, 7) || spans_add(&s, 6, 9) || spans_settle(&s, 0, 0), 0,
	       "two spans");
	ok(!spans_hold(&s, 4) && spans_hold(&s, 5) && spans_hold(&s, 9) && !spans_hold(&s, 10),
	   "are one from 5 to 9, both included");
	ok(!spans_need_first(&s) && !spans_need_last(&s), "which needs no other times");
	spans_release(&s);
	is_int(span_number("1.5min", &ns, &unit), 6, "a number");
	is_u64(ns, 90000000000, "of ns");
	ok(unit, "with a unit");
	is_int(span_number("7", &ns, &unit), 1, "or without");
	ok(!unit && ns == 7000000000, "means seconds");
}

int main(void)
{
	test_glob();
	test_site();
	test_constants();
	test_symbolic();
	test_names();
	test_spans();
	return done();
}
