/* lib/draw: the tree, labels, cleaned names and colours. */
#include "draw/flame_tree.h"

#include "base/err.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void collect(void *ctx, const char *line, size_t len)
{
	buf_add(ctx, line, len);
}

/* What flame_read makes of a text. */
static const struct read_case {
	const char *name, *text;
	int rc;
	uint64_t lines, stacks, malformed, frames;
	double total;
	const char *says; /* a part of the messages; NULL: none at all */
} reads[] = {
	{"nothing", "", 0, 0, 0, 0, 0, 0, NULL},
	{"two stacks", "a;b 1\na;c 2\n", 0, 2, 2, 0, 3, 3, NULL},
	{"prefix of a name is no caller", "ab;c 1\na;c 1\nabc 1\n", 0, 3, 3, 0, 5, 3, NULL},
	{"last stack is the next one's begin", "a;b 1\na;b;c 1\na;b 1\n", 0, 3, 3, 0, 3, 3, NULL},
	{"a line may begin like the last one's name", "a;bc 1\na;b 1\na 1\n", 0, 3, 3, 0, 3, 3,
	 NULL},
	{"spaces within", "a b;c d e 7\n", 0, 1, 1, 0, 2, 7, NULL},
	{"a space before the last one is the frame's", "a  7\na 1\n", 0, 2, 2, 0, 2, 8, NULL},
	{"no frames", " 5\n", 0, 1, 1, 0, 0, 5, NULL},
	{"no frames after an empty frame", ";a 1\n 5\n", 0, 2, 2, 0, 2, 6, NULL},
	{"empty frames", ";;a 1\n;a 1\n; 1\n", 0, 3, 3, 0, 4, 3, NULL},
	{"no count", "a;b\nc 1\n", 0, 2, 1, 1, 1, 1, "offset 0: line without a count"},
	{"bad counts", "a x\nb 0x1\nc -1\nd 1e99\ne nan\nf 1e+\ng 1\n", 0, 7, 1, 6, 1, 1,
	 "without a count"},
	{"float", "a 1.5\na 1e2\na .5\na 3.\n", 0, 4, 4, 0, 1, 105, NULL},
	{"cut off", "a 1\nb 2", 0, 2, 2, 0, 2, 3, "no newline"},
	{"blank lines", "\n\r\n  \na 1\n", 0, 1, 1, 0, 1, 1, NULL},
	{"event stream", "PPSTREAM\1\0\0", PP_EUNSUPPORTED, 0, 0, 0, 0, 0, "event stream"},
	{"two counts", "a;b 1 2\nc 0 3\n", PP_EUNSUPPORTED, 2, 2, 0, 3, 5, "two counts"},
	{"two counts here and there", "a;b 1 2\nc 3\n", 0, 2, 2, 0, 3, 5, NULL},
	{"table", "key\tcount\na 1\n", PP_EUNSUPPORTED, 1, 0, 0, 0, 0, "table"},
	{"tabs later are in names", "a 1\nb\tc 2\n", 0, 2, 2, 0, 2, 3, NULL},
};

static void test_read(void)
{
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		const struct read_case *c = &reads[i];
		const struct flame_account *a;
		struct buf said = BUF_INIT;
		struct flame *f;
		struct diag *d;
		struct src *s;

		if (flame_new(&f, false) || diag_new(&d, "t", collect, &said) ||
		    src_from_mem(&s, c->text, strlen(c->text), "in"))
			abort();
		a = flame_account(f);
		is_int(flame_read(f, s, d), c->rc, "%s: code", c->name);
		ok(a->lines == c->lines && a->stacks == c->stacks && a->malformed == c->malformed,
		   "%s: lines", c->name);
		is_u64(a->frames, c->frames, "%s: frames", c->name);
		ok(fabsl(a->total - (long double)c->total) < 1e-9L, "%s: total", c->name);
		ok(c->says ? strstr(buf_str(&said), c->says) != NULL : !said.len, "%s: messages",
		   c->name);
		src_free(s);
		diag_free(d);
		flame_free(f);
		buf_release(&said);
	}
}

static void test_add(void)
{
	struct flame *f;

	if (flame_new(&f, false))
		abort();
	is_int(flame_add(f, "a", 1, -1), PP_EUSAGE, "a negative count");
	is_int(flame_add(f, "a", 1, NAN), PP_EUSAGE, "no number");
	is_int(flame_add(f, "a", 1, INFINITY), PP_EUSAGE, "infinity");
	is_u64(f->paths.n, 1, "they leave nothing in the tree");
	is_int(flame_add(f, "a\0b;c", 5, 2), 0, "a NUL in a name");
	is_int(flame_add(f, "a", 1, 2), 0, "a name that is the other up to the NUL");
	is_u64(flame_account(f)->frames, 3, "are two");
	flame_free(f);
}

/* The tree does not depend on which stack came before, nor on the side from which it is built. */
static void test_orders(void)
{
	static const char *const stacks[] = {"a;b;c", "a;b",   "a",    "",  "a;bb",   "a;b;c;c",
					     ";",     "c;b;a", "ab;c", "b", "a;b;cc", ";a"};
	const unsigned n = sizeof(stacks) / sizeof(stacks[0]);
	uint64_t frames = 0;

	for (unsigned seed = 0; seed < 24; seed++) {
		struct flame *f;
		long double a_total = 0;

		if (flame_new(&f, false))
			abort();
		/* 5 and 7 are prime to 12. */
		for (unsigned i = 0; i < n; i++) {
			const char *s = stacks[(i * (seed & 1 ? 5 : 7) + seed / 2) % n];

			if (flame_add(f, s, strlen(s), 1))
				abort();
		}
		for (uint32_t i = 1; i < f->paths.n; i++)
			if (paths_depth(&f->paths, i) == 1 &&
			    !strcmp(intern_get(&f->names, paths_name(&f->paths, i), NULL), "a"))
				a_total = flame_self(f, i);
		if (!seed)
			frames = f->account.frames;
		/* a, b, c, c, cc, bb; "", "", a; c, b, a; ab, c; b */
		ok(f->account.frames == 15 && frames == 15 && a_total == 1,
		   "order %u of the stacks", seed);
		flame_free(f);
	}
}

static void test_clean(void)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"plain", "plain"},
		{"\x01\x1b[0m\x7f", "\\x01\\x1b[0m\\x7f"},
		{"\xff\xc3", "\\xff\\xc3"},
		{"\xc3\xa4", "\xc3\xa4"},
		{"\xef\xbf\xbd", "\xef\xbf\xbd"}, /* U+FFFD is allowed */
		{"a\xef\xbf\xbe"
		 "b",
		 "a\\xef\\xbf\\xbe"
		 "b"},						       /* U+FFFE is not */
		{"\xef\xbf\xbf\xef\xbf", "\\xef\\xbf\\xbf\\xef\\xbf"}, /* U+FFFF, cut */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},		       /* a surrogate */
		{"\xf0\x9f\xbf\xbf", "\xf0\x9f\xbf\xbf"},	       /* U+1FFFF is allowed */
		{"\xc0\xaf", "\\xc0\\xaf"},			       /* not the shortest form */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = BUF_INIT;

		xml_clean(&b, cases[i].in, strlen(cases[i].in));
		is_str(buf_str(&b), cases[i].want, "cleaned name %zu", i);
		buf_release(&b);
	}
}

static void test_labels(void)
{
	static const struct {
		const char *name;
		size_t text; /* bytes without the annotation */
		double width;
		size_t want; /* bytes that fit into the width at 10 pixels */
	} cases[] = {
		/* "m" is 9.74 wide, "." 3.64 */
		{"mmm", 3, 29.3, 3},
		{"mmm", 3, 29.1, 2}, /* two and two dots: 26.8 */
		{"mmm", 3, 26.7, 0}, /* one letter says nothing */
		{"mmm_[k]", 3, 29.3, 3},
		{"_[k]", 4, 1000, 4},
		{"mmm[k]", 6, 1000, 6},
		{"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 9, 29.9,
		 6}, /* never a part of a character */
		{"\x01", 4, 1000, 4},
		{"", 9, 1000, 9},
		{"mmm", 3, -5, 0},
	};
	struct arena a = ARENA_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct label l = {0};

		is_int(label_make(&l, cases[i].name, strlen(cases[i].name), 0, &a), 0, "label %zu",
		       i);
		is_u64(l.text_len, cases[i].text, "label %zu: text", i);
		is_u64(label_fit(&l, cases[i].width, 10), cases[i].want, "label %zu: fits", i);
	}
	arena_release(&a);
}

static unsigned digit(char c)
{
	return (unsigned)(strchr("0123456789abcdef", c) - "0123456789abcdef");
}

/* Black text must be readable on every colour: luminance by the weights of ITU-R BT.601. */
static void test_palettes(void)
{
	unsigned palette;

	for (unsigned p = 0; flame_palette_name(p); p++) {
		unsigned darkest = 15000, different = 0;
		char fill[4], first[4] = "";

		is_int(flame_palette(flame_palette_name(p), &palette), 0, "palette %s",
		       flame_palette_name(p));
		is_u64(palette, p, "its number");
		for (unsigned i = 0; i < 2000; i++) {
			char name[32];
			size_t len = (size_t)snprintf(name, sizeof(name), "f%u%s", i,
						      i % 3   ? "_[k]"
						      : i % 2 ? "::x"
							      : "");
			unsigned light;

			palette_fill(palette_class(p, name, len), name, len, fill);
			light = 299 * digit(fill[0]) + 587 * digit(fill[1]) + 114 * digit(fill[2]);
			if (light < darkest)
				darkest = light;
			if (!i)
				memcpy(first, fill, sizeof(first));
			different += strcmp(first, fill) != 0;
		}
		ok(darkest > 6000, "all light enough (%u)", darkest);
		ok(different > 1000, "and not all the same");
	}
	is_int(flame_palette("nonesuch", &palette), PP_ENOENT, "no such palette");
}

static void test_nothing(void)
{
	struct flame_opts o = FLAME_OPTS_INIT;
	struct flame *f;
	struct out out;
	int fd = memfd_create("svg", 0);

	if (flame_new(&f, false) || out_init(&out, fd))
		abort();
	is_int(flame_svg(f, &o, &out), PP_END, "nothing counted: no picture");
	flame_add(f, "a", 1, 0);
	is_int(flame_svg(f, &o, &out), PP_END, "nor for zeroes");
	is_u64(out.len + out.written, 0, "nothing is written");
	flame_add(f, "a", 1, 1);
	is_int(flame_svg(f, &o, &out), 0, "one sample is enough");
	is_u64(flame_account(f)->drawn, 1, "one frame");
	flame_add(f, "a;b", 3, 1);
	is_int(flame_svg(f, &o, &out), 0, "a tree can grow and be drawn again");
	is_u64(flame_account(f)->drawn, 2, "two frames");
	is_int(out_close(&out), 0, "written");
	flame_free(f);
}

int main(void)
{
	test_read();
	test_add();
	test_orders();
	test_clean();
	test_labels();
	test_palettes();
	test_nothing();
	return done();
}
