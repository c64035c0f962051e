/* All kinds of text that pfold reads, with four sets of options; the last changes the stacks. */
#include "base/err.h"
#include "fold/reshape.h"
#include "fold/stack_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every line is a stack, one space and a count, and the lines are in order. */
static int check(void *ctx, uint8_t *bytes, size_t n)
{
	const char *p = (char *)bytes, *end = p + n, *before = NULL;
	size_t before_len = 0;

	(void)ctx;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *space = nl ? memrchr(p, ' ', (size_t)(nl - p)) : NULL;
		size_t len = space ? (size_t)(space - p) : 0;
		int r = 1;

		if (!space || space + 1 == nl ||
		    strspn(space + 1, "0123456789") != (size_t)(nl - space - 1))
			abort();
		if (before) {
			r = memcmp(p, before, len < before_len ? len : before_len);
			if (r < 0 || (!r && len <= before_len))
				abort();
		}
		before = p;
		before_len = len;
		p = nl + 1;
	}
	return 0;
}

/* The stacks as most options together change them. */
static struct fold *shaped(struct fold *f)
{
	static const struct {
		enum fold_rule_kind kind;
		const char *text;
	} rules[] = {{FOLD_RENAME, "s/(.)_/_\\1/g"},
		     {FOLD_RENAME, "s/x*//"},
		     {FOLD_ONLY, "[a-f]"},
		     {FOLD_TO_ROOT, "^[a-z]"},
		     {FOLD_HIDE, "q$"}};
	struct fold_shape s = {.recursion = true, .templates = true, .prefix = "p;q"};
	struct buf why = BUF_INIT;
	struct fold *to;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (fold_shape_add(&s, rules[i].kind, rules[i].text, &why))
			abort();
	if (fold_shape(f, &s, &to) || fold_account(to)->weight > fold_account(f)->weight)
		abort();
	fold_shape_release(&s);
	buf_release(&why);
	fold_free(f);
	return to;
}

static void fold(const uint8_t *data, size_t size, const struct fold_opts *opts)
{
	const struct fold_account *a;
	struct fold *f;
	struct src *s;
	struct out o;
	int rc;

	if (fold_new(&f, opts, NULL) || src_from_mem(&s, data, size, "fuzz"))
		abort();
	rc = fold_text(f, s);
	if (rc && rc != PP_ECUT && rc != PP_EUNSUPPORTED && rc != PP_EMISMATCH)
		abort();
	a = fold_account(f);
	if (a->samples != a->folded + a->bare + a->filtered + a->joined)
		abort();
	if (out_init_fn(&o, check, NULL))
		abort();
	if (opts->nby)
		f = shaped(f);
	fold_finish(f);
	/* In one piece, so that the order can be checked. */
	if (size < OUT_BUFFER / 8 && fold_write(f, &o))
		abort();
	if (out_flush(&o))
		abort();
	out_release(&o);
	src_free(s);
	fold_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fold_opts all = {.tid = true, .kernel = true, .jit = true, .addrs = true};

	fold(data, size, &(struct fold_opts){0});
	fold(data, size, &all);
	fold(data, size, &(struct fold_opts){.pid = true, .srcline = true, .count = true});
	fold(data, size, &(struct fold_opts){.by = {"cpu", "thread", "event"}, .nby = 3});
	return 0;
}
