/* Collects symbols, gives ends to those without one, and keeps the best of each address. */
#include "symbol/symtab_build.h"

#include "base/err.h"
#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

#define PAGE	   4096u       /* what perf rounds to, on every architecture */
#define TIE_BUDGET (64u << 20) /* bytes of names demangled to choose between symbols */

void symtab_builder_release(struct symtab_builder *b)
{
	free(b->raw);
	buf_release(&b->text);
	*b = (struct symtab_builder){0};
}

int symtab_builder_text(struct symtab_builder *b, const void *bytes, size_t n, uint32_t *base)
{
	const char *p = bytes;

	if (!b->text.len)
		buf_addc(&b->text, 0);
	if (n > SYMTAB_MAX_TEXT || b->text.len > SYMTAB_MAX_TEXT - n)
		return PP_ELIMIT;
	*base = (uint32_t)b->text.len;
	buf_add(&b->text, p, n);
	if (!n || p[n - 1])
		buf_addc(&b->text, 0);
	return b->text.err;
}

int symtab_builder_add(struct symtab_builder *b, const struct symtab_raw *raw)
{
	if (b->n == b->cap) {
		uint32_t cap = b->cap ? b->cap * 2 : 1024;
		struct symtab_raw *p;

		if (cap > SYMTAB_MAX_SYMBOLS)
			return PP_ELIMIT;
		p = realloc(b->raw, cap * sizeof(*p));
		if (!p)
			return PP_ENOMEM;
		b->raw = p;
		b->cap = cap;
	}
	b->raw[b->n++] = *raw;
	b->sorted = false;
	return 0;
}

struct sort_key {
	uint64_t start;
	uint32_t index;
};

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* Stable, and much faster than qsort on half a million symbols. */
static void radix_sort(struct sort_key **keys, struct sort_key **tmp, uint32_t n, uint64_t differ)
{
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		uint32_t count[DIGITS] = {0}, sum = 0;
		struct sort_key *from = *keys, *to = *tmp;

		if (!((differ >> shift) & (DIGITS - 1)))
			continue;
		for (uint32_t i = 0; i < n; i++)
			count[(from[i].start >> shift) & (DIGITS - 1)]++;
		for (uint32_t d = 0; d < DIGITS; d++) {
			uint32_t c = count[d];

			count[d] = sum;
			sum += c;
		}
		for (uint32_t i = 0; i < n; i++)
			to[count[(from[i].start >> shift) & (DIGITS - 1)]++] = from[i];
		*keys = to;
		*tmp = from;
	}
}

int symtab_builder_sort(struct symtab_builder *b)
{
	struct sort_key *keys, *tmp;
	struct symtab_raw *raw;
	uint64_t differ = 0;
	bool ordered = true;

	if (b->sorted)
		return 0;
	for (uint32_t i = 1; i < b->n; i++) {
		differ |= b->raw[i].start ^ b->raw[0].start;
		ordered &= b->raw[i - 1].start <= b->raw[i].start;
	}
	b->sorted = true;
	if (ordered)
		return 0;
	keys = malloc(b->n * sizeof(*keys));
	tmp = malloc(b->n * sizeof(*tmp));
	raw = malloc(b->cap * sizeof(*raw));
	if (keys && tmp && raw) {
		for (uint32_t i = 0; i < b->n; i++)
			keys[i] = (struct sort_key){b->raw[i].start, i};
		radix_sort(&keys, &tmp, b->n, differ);
		for (uint32_t i = 0; i < b->n; i++)
			raw[i] = b->raw[keys[i].index];
		free(b->raw);
		b->raw = raw;
		raw = NULL;
	} else {
		b->sorted = false;
	}
	free(keys);
	free(tmp);
	free(raw);
	return b->sorted ? 0 : PP_ENOMEM;
}

/* The end of the page that addr lies in (addr itself if it begins one), or of the next; no wrap. */
static uint64_t page_end(uint64_t addr, bool beyond)
{
	uint64_t up = addr > UINT64_MAX - 3 * (uint64_t)PAGE ? UINT64_MAX : addr;

	if (up == UINT64_MAX)
		return up;
	if (beyond)
		up += PAGE;
	return (up + PAGE - 1) / PAGE * PAGE;
}

int symtab_builder_fix_ends(struct symtab_builder *b, enum symtab_ends how)
{
	int rc = symtab_builder_sort(b);
	uint32_t after = b->n;

	if (rc)
		return rc;
	for (uint32_t i = b->n; i--;) {
		struct symtab_raw *r = &b->raw[i];
		const struct symtab_raw *next;

		if (how != SYMTAB_ENDS_KALLSYMS || (i + 1 < b->n && r[1].start != r->start))
			after = i + 1;
		next = b->raw + after;
		if (r->end != r->start)
			continue;
		r->open = true;
		if (after == b->n)
			r->end = page_end(page_end(r->start, false), true);
		else if (how != SYMTAB_ENDS_NEXT && r->module != next->module)
			r->end = page_end(r->start, true);
		else
			r->end = next->start;
	}
	return 0;
}

/* For the comparison of names; budget: bytes that may still be demangled, or come of it. */
struct namer {
	struct buf x, y;
	size_t budget;
};

/*
 * Demangling takes some microseconds, so only ties ask for it; a crafted table in which all symbols
 * tie with long names must not take minutes.
 */
static const char *shown_name(struct namer *n, const char *name, struct buf *b)
{
	size_t len = strlen(name);

	if (name[0] != '_' || len > n->budget)
		return name;
	name = demangle(name, b);
	len += b->len;
	n->budget -= len < n->budget ? len : n->budget;
	return name;
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* Whether the later symbol of two with the same start is the better one. */
static bool later_is_better(const struct symtab_builder *b, const struct symtab_raw *x,
			    const struct symtab_raw *y, struct namer *n)
{
	const char *xn = (const char *)b->text.data + x->name;
	const char *yn = (const char *)b->text.data + y->name;
	size_t xl, yl;

	if ((x->end > x->start) != (y->end > y->start))
		return y->end > y->start;
	if ((x->bind == SYMTAB_WEAK) != (y->bind == SYMTAB_WEAK))
		return x->bind == SYMTAB_WEAK;
	if ((x->bind == SYMTAB_GLOBAL) != (y->bind == SYMTAB_GLOBAL))
		return y->bind == SYMTAB_GLOBAL;
	xn = shown_name(n, xn, &n->x);
	yn = shown_name(n, yn, &n->y);
	if (underscores(xn) != underscores(yn))
		return underscores(yn) < underscores(xn);
	xl = strlen(xn);
	yl = strlen(yn);
	if (xl != yl)
		return yl > xl;
	/* The old names of Linux system calls give way to their aliases. */
	return strncmp(xn, "SyS", 3) == 0 || strncmp(xn, "compat_SyS", 10) == 0;
}

int symtab_builder_unify(struct symtab_builder *b)
{
	struct namer n = {.budget = TIE_BUDGET};
	uint32_t kept = 0;
	int rc = symtab_builder_sort(b);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < b->n; i++) {
		struct symtab_raw *best = kept ? &b->raw[kept - 1] : NULL;

		if (!best || best->start != b->raw[i].start)
			b->raw[kept++] = b->raw[i];
		else if (later_is_better(b, best, &b->raw[i], &n))
			*best = b->raw[i];
	}
	b->n = kept;
	rc = n.x.err ? n.x.err : n.y.err;
	buf_release(&n.x);
	buf_release(&n.y);
	return rc;
}
