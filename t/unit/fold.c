/* Folding: order, nodes, depth, lengths, characters that would break the text, options. */
#include "base/buf.h"
#include "base/err.h"
#include "fold/about.h"
#include "fold/fold.h"
#include "fold/stack_text.h"
#include "fold/tidy.h"
#include "tap.h"

#include <stdlib.h>

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return 0;
}

static void write_to(struct fold *f, struct buf *b)
{
	struct out o;

	buf_reset(b);
	ok(!out_init_fn(&o, collect, b) && !fold_write(f, &o) && !out_flush(&o), "written");
	out_release(&o);
}

/* Adds a stack that is given as folded text. */
static void add(struct fold *f, const char *stack, uint64_t weight)
{
	uint32_t names[8], node = 0;
	size_t n = 8;
	int rc = 0;

	for (bool more = true; more && !rc;) {
		size_t len = strcspn(stack, ";");

		rc = fold_name(f, stack, len, &names[--n]);
		more = stack[len];
		stack += len + more;
	}
	if (!rc)
		rc = fold_stack(f, names + n, 8 - n, &node);
	ok(!rc, "stack is taken");
	fold_add(f, node, weight);
}

static void test_order(void)
{
	struct fold_opts opts = {0};
	struct buf b = BUF_INIT;
	struct fold *f;

	ok(!fold_new(&f, &opts, NULL), "new");
	write_to(f, &b);
	is_str(buf_str(&b), "", "nothing was added");
	add(f, "b", 1);
	add(f, "a;b", 2);
	add(f, "a:x", 3);
	add(f, "a-x;c", 4);
	add(f, "a", 5);
	add(f, "a<", 6);
	add(f, "a;", 7);
	add(f, "a;;z", 8);
	add(f, "abcdefgh;1", 9);
	add(f, "abcdefgh1", 10);
	add(f, "abcdefgh", 11);
	add(f, "abcdefghi", 12);
	add(f, "\xc3\xa9", 0);
	add(f, "a;b", 100);
	write_to(f, &b);
	is_str(buf_str(&b),
	       "a 5\na-x;c 4\na:x 3\na; 7\na;;z 8\na;b 102\na< 6\nabcdefgh 11\nabcdefgh1 10\n"
	       "abcdefgh;1 9\nabcdefghi 12\nb 1\n\xc3\xa9 0\n",
	       "byte order of the stacks, not of the frames");
	is_u64(fold_stacks(f), 13, "distinct stacks");
	is_u64(fold_account(f)->weight, 178, "sum of the weights");
	fold_free(f);
	buf_release(&b);
}

static void test_nodes(void)
{
	struct fold_opts opts = {0};
	struct buf b = BUF_INIT;
	uint32_t names[3], twin[3], node, other;
	struct fold *f;

	ok(!fold_new(&f, &opts, NULL), "new");
	for (int i = 0; i < 3; i++)
		ok(!fold_name(f, &"xyz"[i], 1, &names[i]) && names[i], "name %d", i);
	ok(!fold_stack(f, names, 3, &node) && node != FOLD_ROOT, "a stack");
	ok(!fold_stack(f, names, 3, &other) && other == node, "has the same node again");
	ok(!fold_stack(f, names + 1, 2, &other) && other != node, "its outer part another");
	ok(!fold_stack(f, names, 0, &other) && other == FOLD_ROOT, "no frame is the root");
	fold_add(f, node, UINT64_MAX - 1);
	fold_add(f, node, 1);
	fold_add(f, node, 1);
	write_to(f, &b);
	is_str(buf_str(&b), "z;y;x 18446744073709551615\n", "a count stays at its maximum");

	ok(!fold_name(f, "a;b\n\t\x7f c", 8, &names[0]), "a name with what must not be in it");
	ok(!fold_name(f, "a:b??? c", 8, &names[1]) && names[0] == names[1], "is escaped");
	ok(!fold_name(f, "", 0, &twin[0]) && !fold_name(f, NULL, 0, &twin[1]) && twin[0] == twin[1],
	   "no name is a name");
	fold_free(f);
	buf_release(&b);
}

static void test_depth(void)
{
	static uint32_t names[FOLD_DEPTH_MAX + 5];
	struct fold_opts opts = {0};
	struct buf b = BUF_INIT;
	uint32_t node;
	struct fold *f;

	ok(!fold_new(&f, &opts, NULL), "new");
	ok(!fold_name(f, "leaf", 4, &names[0]) && !fold_name(f, "f", 1, &names[1]) &&
		   !fold_name(f, "root", 4, &names[FOLD_DEPTH_MAX + 4]),
	   "names");
	for (size_t i = 2; i < FOLD_DEPTH_MAX + 4; i++)
		names[i] = names[1];
	ok(!fold_stack(f, names, FOLD_DEPTH_MAX + 5, &node), "a stack that is too deep");
	fold_add(f, node, 3);
	write_to(f, &b);
	is_u64(b.len, 4 + 2 * (FOLD_DEPTH_MAX - 1) + 3, "keeps as many as can be");
	ok(b.len > 5 && !memcmp(b.data, "root;f;", 7) && !memcmp(b.data + b.len - 5, ";f 3\n", 5),
	   "namely the outer ones");
	fold_free(f);
	buf_release(&b);
}

static void hear(void *ctx, const char *line, size_t len)
{
	buf_add(ctx, line, len);
}

/* Long names are cut, and so are stacks of many of them: the text stays in proportion. */
static void test_lengths(void)
{
	static char text[FOLD_NAME_MAX + 100];
	uint32_t names[1000], longer[3], node;
	struct fold_opts opts = {0};
	struct buf b = BUF_INIT, said = BUF_INIT;
	struct diag *d;
	struct fold *f = NULL;

	ok(!diag_new(&d, "t", hear, &said) && !fold_new(&f, &opts, d), "new");
	memset(text, 'n', sizeof(text));
	ok(!fold_name(f, text, FOLD_NAME_MAX, &names[1]), "a name of the greatest length");
	ok(!fold_name(f, text, sizeof(text), &longer[0]) &&
		   !fold_name(f, text, sizeof(text) - 1, &longer[1]),
	   "longer ones");
	memcpy(text + FOLD_NAME_MAX - 13, "\xe2\x82\xac", 3);
	ok(!fold_name(f, text, sizeof(text), &longer[2]), "one that would be cut in a character");
	ok(longer[0] != longer[1] && longer[1] != longer[2], "are told apart");
	for (int i = 0; i < 3; i++)
		ok(!fold_stack(f, &longer[i], 1, &node), "one of them"), fold_add(f, node, 1);
	write_to(f, &b);
	is_u64(b.len, 3 * (FOLD_NAME_MAX + 3) - 1, "all are cut, to whole characters");
	ok(strstr(buf_str(&b), "nnn...#") != NULL, "which their end tells");

	ok(!fold_name(f, "leaf", 4, &names[0]), "leaf");
	for (int i = 2; i < 1000; i++)
		names[i] = names[1];
	ok(!fold_stack(f, names, 1000, &node), "a stack of a thousand of them");
	fold_add(f, node, 1);
	write_to(f, &b);
	is_u64(b.len, 3 * (FOLD_NAME_MAX + 3) - 1 + 255 * (FOLD_NAME_MAX + 1) + 2,
	       "is cut after as many as fit; the leaf, which would fit, is not put there");
	fold_finish(f);
	is_str(buf_str(&said),
	       "t: stacks of more than 1048000 bytes of text: 745 frames are left out\n"
	       "t: names of more than 4096 bytes are cut: 3\n",
	       "which is reported");
	fold_free(f);
	diag_free(d);
	buf_release(&b);
	buf_release(&said);
}

static void test_clean(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"plain", "plain"},
		{"a;b\tc\x7f", "a:b?c?"},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"},
		{"x\xc2\x9b"
		 "31m",
		 "x?31m"},					   /* U+009B, CSI */
		{"x\xe2\x80\xaey\xe2\x81\xa9z\xd8\x9c", "x?y?z?"}, /* U+202E, U+2069, U+061C */
		{"\x9b"
		 "31m\xe6\x97",
		 "?31m??"}, /* no UTF-8 */
	};
	struct fold_opts opts = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = BUF_INIT, want = BUF_INIT;
		uint32_t name, node = 0;
		struct fold *f;

		ok(!fold_new(&f, &opts, NULL), "new");
		ok(!fold_name(f, rows[i].name, strlen(rows[i].name), &name) &&
			   !fold_stack(f, &name, 1, &node),
		   "name %zu", i);
		fold_add(f, node, 1);
		write_to(f, &b);
		buf_addf(&want, "%s 1\n", rows[i].want);
		is_str(buf_str(&b), buf_str(&want), "name %zu is cleaned", i);
		fold_free(f);
		buf_release(&b);
		buf_release(&want);
	}
}

static void test_options(void)
{
	static const struct {
		struct fold_opts opts;
		const char *want;
	} rows[] = {
		{{0}, "V8_Worker"},
		{{.pid = true}, "V8_Worker-7"},
		{{.tid = true}, "V8_Worker-7/8"},
		{{.pid = true, .tid = true}, "V8_Worker-7/8"},
	};
	struct fold_opts event = {.event = "b"};
	struct fold *f;
	uint32_t id, want;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ok(!fold_new(&f, &rows[i].opts, NULL), "new");
		ok(!fold_comm(f, "V8 Worker", 9, "7", "8", &id) &&
			   !fold_name(f, rows[i].want, strlen(rows[i].want), &want) && id == want,
		   "command is %s", rows[i].want);
		is_int(fold_event(f, "x", 1), 1, "each event has a lane");
		ok(fold_event(f, "xx", 2) == 2 && fold_event(f, "x", 1) == 1, "of its own");
		fold_free(f);
	}
	ok(!fold_new(&f, &event, NULL) && fold_event(f, "a", 1) == FOLD_LEAVE &&
		   !fold_event(f, "b", 1),
	   "an event that was chosen");
	fold_free(f);
}

static void test_tidy(void)
{
	static const struct fold_opts none, marks = {.kernel = true, .jit = true},
					    addrs = {.addrs = true};
	static const struct {
		const struct fold_opts *opts;
		const char *func, *dso;
		bool inlined, java;
		const char *want;
	} rows[] = {
		{&none, "main", "/bin/x", false, false, "main"},
		{&none, "f(int, char)", "/bin/x", false, false, "f"},
		{&none, "(anonymous namespace)::f(int)", "/x", false, false,
		 "(anonymous namespace)::f"},
		{&none, "(anonymous", "/x", false, false, "(anonymous"},
		{&none, "net/http.(*Client).Do", "/x", false, false, "net/http.(*Client).Do"},
		{&none, "net/http.(*Client)", "/x", false, false, "net/http.(*Client)"},
		{&none, "a;\"b\"'c'", "/x", false, false, "a:bc"},
		{&none, "[unknown]", "/lib/libc.so.6", false, false, "[libc.so.6]"},
		{&none, "[unknown]", "[unknown]", false, false, "[unknown]"},
		{&none, "[unknown]", "/tmp/x (deleted)", false, false, "[x (deleted)]"},
		{&addrs, "[unknown]", "/lib/libc.so.6", false, false, "[libc.so.6 <7f01>]"},
		{&addrs, "[unknown]", "[unknown]", false, false, "[unknown <7f01>]"},
		{&addrs, "main", "/x", false, false, "main"},
		{&none, "Lorg/a/B;.f(I)V", "/tmp/perf-1.map", false, true, "org/a/B:.f"},
		{&none, "Lorg/a/B;.f(I)V", "/tmp/perf-1.map", false, false, "Lorg/a/B:.f"},
		{&none, "LBusy;.f(I)V", "/tmp/perf-1.map", false, true, "LBusy:.f"},
		{&none, "f", "[kernel.kallsyms]", false, false, "f"},
		{&none, "f", "/x", true, false, "f_[i]"},
		{&none, "f_[i]g", "/x", true, false, "f_[i]g"},
		{&marks, "f", "[kernel.kallsyms]", false, false, "f_[k]"},
		{&marks, "f", "/boot/vmlinux", false, false, "f_[k]"},
		{&marks, "f", "/boot/vmlinux-6.1", false, false, "f"},
		{&marks, "[unknown]", "[unknown]", false, false, "[unknown]"},
		{&marks, "f", "[kernel.kallsyms]", true, false, "f_[i]"},
		{&marks, "f", "/tmp/perf-12.map", false, false, "f_[j]"},
		{&marks, "f_[j]", "/tmp/perf-12.map", false, false, "f_[j]"},
		{&marks, "f", "/tmp/perf-.map", false, false, "f"},
		{&marks, "f", "/tmp/perf-/tmp/perf-1.map", false, false, "f_[j]"},
		{&marks, "", "/x", false, false, ""},
		{&marks, "", "[x]", false, false, "_[k]"},
	};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fold_symbol s = {
			.func = rows[i].func,
			.func_len = strlen(rows[i].func),
			.dso = rows[i].dso,
			.dso_len = strlen(rows[i].dso),
			.pc = "7f01",
			.pc_len = 4,
			.inlined = rows[i].inlined,
			.java = rows[i].java,
		};

		buf_reset(&b);
		buf_adds(&b, "before ");
		fold_tidy(rows[i].opts, &s, &b);
		is_str(buf_str(&b) + 7, rows[i].want, "%s in %s", rows[i].func, rows[i].dso);
	}
	buf_release(&b);
}

/* The name of an event can be its unit. */
static void test_unit(void)
{
	struct fold_about a = {0};
	struct buf b = BUF_INIT;

	for (int i = 0; i < 2; i++)
		fold_about_event(&a, "cache-references:HG", 19, "cache-references", 16);
	fold_about_write(&a, &b);
	is_str(buf_str(&b), "# event: cache-references:HG, unit: cache-references, from: -\n",
	       "a unit of 16 characters");
	fold_about_event(&a, "x", 1, "cache-reference", 15);
	ok(a.units, "another unit");
	buf_release(&b);
}

/* What a recorder says of call chains cannot be mistaken for other keys of the line. */
static void test_chains(void)
{
	static const char *const versions[] = {
		"6.1.187",
		"perfpipe 1 (call chains: frame pointers, event: x)",
		"perfpipe 1 (call chains: copies; frame pointers (so))",
		"perfpipe 2 (call chains: copies; frame pointers (so))",
		"perfpipe 1 (call chains: ",
	};
	struct fold_about a = {0}, again;
	struct buf b = BUF_INIT;

	fold_about_event(&a, "c", 1, "ns", 2);
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		fold_about_recorder(&a, versions[i], strlen(versions[i]));
	fold_about_write(&a, &b);
	is_str(buf_str(&b),
	       "# event: c, unit: ns, chains: frame pointers  event: x|copies; frame pointers (so), "
	       "from: -\n",
	       "how call chains were recorded");
	ok(fold_about_parse(buf_str(&b), b.len - 1, &again) && !strcmp(again.event, "c") &&
		   !strcmp(again.chains, a.chains),
	   "and read again");
	buf_release(&b);
}

/* The result must not depend on where blocks end: here, on what stands in front. */
static void test_blocks(void)
{
	static const char sample[] =
		"cc1 1 1.0: 2 cycles:\n\tff leaf+0x1 (/x)\n\tff outer+0x2 (/x)\n\n";
	struct buf text = BUF_INIT, b = BUF_INIT;
	bool all = true;

	for (size_t pad = 0; pad < sizeof(sample) && all; pad++) {
		struct fold_opts opts = {0};
		struct fold *f;
		struct src *s = NULL;
		struct out o;
		size_t samples = 0;
		char want[64];

		buf_reset(&text);
		buf_addc(&text, '#');
		buf_fill(&text, 'x', pad);
		buf_addc(&text, '\n');
		while (text.len < 200000) {
			buf_adds(&text, sample);
			samples++;
		}
		snprintf(want, sizeof(want), "cc1;outer;leaf %zu\n", samples * 2);
		buf_reset(&b);
		all = !fold_new(&f, &opts, NULL) &&
		      !src_from_mem(&s, text.data, text.len, "text") && !fold_text(f, s) &&
		      !out_init_fn(&o, collect, &b) && !fold_write(f, &o) && !out_flush(&o) &&
		      !strcmp(buf_str(&b), want);
		out_release(&o);
		src_free(s);
		fold_free(f);
	}
	ok(all, "samples across blocks");
	buf_release(&text);
	buf_release(&b);
}

struct counted {
	char text[40];
	uint64_t weight;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct counted *)a)->text, ((const struct counted *)b)->text);
}

/* Many stacks of few names, so that the tables of the tree grow several times, against a sort. */
static void test_many(void)
{
	enum { STACKS = 60000, NAMES = 23, DEEP = 6 };
	struct fold_opts opts = {0};
	struct buf b = BUF_INIT, expected = BUF_INIT;
	struct counted *v = calloc(STACKS, sizeof(*v));
	uint32_t names[DEEP], node, ids[NAMES], seed = 1;
	struct fold *f;
	int rc = fold_new(&f, &opts, NULL);

	ok(!rc && v, "new");
	if (rc || !v) {
		free(v);
		return;
	}
	for (uint32_t i = 0; i < NAMES; i++)
		rc |= fold_name(f, &"abcdefghijklmnopqrstuvw"[i], 1, &ids[i]);
	for (uint32_t i = 0; i < STACKS; i++) {
		size_t n = 1 + (seed >> 8) % DEEP, len = 0;

		for (size_t k = 0; k < n; k++) {
			seed = seed * 1664525 + 1013904223;
			names[n - 1 - k] = ids[(seed >> 16) % NAMES];
			v[i].text[len++] = k ? ';' : (char)('a' + (seed >> 16) % NAMES);
			if (k)
				v[i].text[len++] = (char)('a' + (seed >> 16) % NAMES);
		}
		v[i].weight = i;
		rc |= fold_stack(f, names, n, &node);
		fold_add(f, node, i);
		/* What is freed in between is made anew. */
		if (i == STACKS / 2)
			fold_settle(f);
	}
	ok(!rc, "%d stacks are taken", STACKS);
	write_to(f, &b);
	qsort(v, STACKS, sizeof(*v), by_text);
	for (uint32_t i = 0; i < STACKS; i++) {
		if (i + 1 < STACKS && !strcmp(v[i].text, v[i + 1].text))
			v[i + 1].weight += v[i].weight;
		else
			buf_addf(&expected, "%s %llu\n", v[i].text,
				 (unsigned long long)v[i].weight);
	}
	is_u64(b.len, expected.len, "as long as when they are sorted and added up");
	ok(b.len == expected.len && !memcmp(b.data, expected.data, b.len), "and the same");
	buf_release(&b);
	buf_release(&expected);
	free(v);
	fold_free(f);
}

int main(void)
{
	test_order();
	test_many();
	test_nodes();
	test_depth();
	test_lengths();
	test_clean();
	test_options();
	test_tidy();
	test_unit();
	test_chains();
	test_blocks();
	return done();
}
