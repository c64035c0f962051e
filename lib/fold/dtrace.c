/*
 * Folds stacks in the text of DTrace, as aggregations keyed by stack() or ustack() print them:
 *
 *	              unix`inner+0xd
 *	              unix`outer+0xf1
 *	               19
 *
 * The leaf comes first, the count is a line of its own. The result is that of stackcollapse.pl.
 */
#include "fold/by.h"
#include "fold/sample_header.h"
#include "fold/readers.h"
#include "symbol/demangled_name.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	struct fold *fold;
	struct fold_frames frames, parts; /* leaf first; outermost first */
	struct buf name;
	bool any; /* a stack was seen: what comes before it is a head */
};

bool fold_is_address(const char *p, size_t n)
{
	size_t i = fold_span(p, 0, n, FOLD_SPACE);

	while (n > i && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	return i && n - i > 2 && !memcmp(p + i, "0x", 2) && fold_span(p, i + 2, n, FOLD_HEX) == n;
}

/* The line above DTrace's output. */
static bool is_head(const char *p, size_t n)
{
	static const char *const words[] = {"CPU", "ID", "FUNCTION:NAME"};
	size_t i = 0;

	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		size_t len = strlen(words[k]);

		i = fold_span(p, i, n, FOLD_SPACE);
		if (n - i < len || memcmp(p + i, words[k], len) != 0)
			return false;
		i += len;
	}
	return fold_span(p, i, n, FOLD_SPACE) == n;
}

/* A frame with a name: "  unix`inner+0xd". */
static bool is_named(const char *p, size_t n)
{
	size_t i = fold_span(p, 0, n, FOLD_SPACE), k = i;

	if (!i || i == n)
		return false;
	while (k < n && !fold_is(p[k], FOLD_SPACE) && p[k] != '(')
		k++;
	/* perf's lines have a file in brackets at their end. */
	return memchr(p + i, '`', k - i) && p[n - 1] != ')';
}

bool fold_is_dtrace(const char *p, size_t n)
{
	return is_named(p, n) || is_head(p, n);
}

/* Where the offset begins, "+0x1f". */
static size_t without_offset(const char *p, size_t n)
{
	const char *plus = memrchr(p, '+', n);

	return plus && plus + 1 < p + n && fold_is(plus[1], FOLD_DIGIT) ? (size_t)(plus - p) : n;
}

static int add_part(struct reader *r, const char *p, size_t n, bool inlined)
{
	const char *tick = memchr(p, '`', n);
	size_t module = tick ? (size_t)(tick - p) + 1 : 0;
	uint32_t id;
	int rc;

	buf_reset(&r->name);
	/* Java's types begin with an L. */
	if (n && *p == 'L')
		p++, n--, module -= module > 0;
	buf_add(&r->name, p, n);
	if (!r->name.err && n)
		r->name.len = module + name_shorten((char *)r->name.data + module, n - module);
	if (inlined)
		buf_adds(&r->name, "_[i]");
	if (r->name.err)
		return r->name.err;
	rc = fold_name(r->fold, buf_str(&r->name), r->name.len, &id);
	return rc ? rc : fold_frames_push(&r->parts, r->fold, id);
}

static int add_frame(struct reader *r, const char *p, size_t n)
{
	struct name_list names = name_list(p, without_offset(p, n));
	bool inlined = false;
	int rc = 0;

	r->parts.n = 0;
	if (!names.n)
		rc = add_part(r, "-", 1, false);
	for (; !rc && name_list_next(&names, &p, &n); inlined = true)
		rc = add_part(r, p, n, inlined);
	for (size_t i = r->parts.n; i-- && !rc;)
		rc = fold_frames_push(&r->frames, r->fold, r->parts.names[i]);
	return rc;
}

static int end_stack(struct reader *r, uint64_t count)
{
	struct fold_account *account = fold_account(r->fold);
	uint32_t node;
	int rc = fold_stack(r->fold, r->frames.names, r->frames.n, &node);

	if (rc)
		return rc;
	fold_add(r->fold, node, count);
	account->samples++;
	account->folded++;
	r->frames.n = 0;
	return 0;
}

static int dtrace_line(struct reader *r, struct fold_lines *l, const char *p, size_t n)
{
	size_t i;

	while (n && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	i = fold_span(p, 0, n, FOLD_SPACE);
	if (i == n)
		return 0;
	if (fold_span(p, i, n, FOLD_DIGIT) == n) {
		if (r->frames.n)
			return end_stack(r, fold_number(p + i, n - i));
		/* A count of no stack. */
		fold_lines_odd(l, p, n);
		return 0;
	}
	if (!r->any && !is_named(p, n) && !fold_is_address(p, n))
		return 0;
	r->any = true;
	return add_frame(r, p + i, n - i);
}

int fold_dtrace(struct fold *f, struct fold_lines *l)
{
	struct reader r = {.fold = f};
	const char *p;
	size_t n;
	int rc = fold_text_can(f, src_name(l->src), "DTrace text", false, false);

	while (!rc && !(rc = fold_lines_next(l, &p, &n)))
		rc = dtrace_line(&r, l, p, n);
	if (rc == PP_END && r.frames.n) {
		diag_warn(fold_diag(f), src_name(l->src), (int64_t)l->line,
			  "input is cut off: the last stack has no count");
		rc = PP_ECUT;
	}
	free(r.frames.names);
	free(r.parts.names);
	buf_release(&r.name);
	return rc == PP_END ? 0 : rc;
}
