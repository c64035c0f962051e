/* Looks up symbols by address in a table of sorted starts. */
#include "symbol/symtab.h"

#include "base/err.h"
#include "symbol/symtab_build.h"

#include <stdlib.h>
#include <string.h>

#define NO_OWNER UINT32_MAX

struct sym {
	uint64_t start, end;
	uint32_t name;
	uint32_t module : 31, open : 1;
};

/*
 * The addresses are cut into segments that each have at most one owner, so that a look-up is one
 * binary search in a dense array, however the symbols nest. buckets leads to the first segment of
 * each slice of the address range and saves most steps of that search.
 */
struct symtab {
	uint64_t *starts; /* of the segments; [0 .. n_segments) */
	uint32_t *owners; /* index of a symbol, or NO_OWNER */
	struct sym *syms; /* by start */
	uint32_t *buckets;
	char *text;
	size_t text_len;
	uint32_t n_segments, n_syms, n_buckets;
	unsigned shift; /* log2 of the bytes in a bucket's slice */
};

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->starts);
	free(t->owners);
	free(t->syms);
	free(t->buckets);
	free(t->text);
	free(t);
}

uint32_t symtab_count(const struct symtab *t)
{
	return t ? t->n_syms : 0;
}

const char *symtab_text(const struct symtab *t, uint32_t name)
{
	return t && name < t->text_len ? t->text + name : "";
}

void symtab_get(const struct symtab *t, uint32_t index, struct symbol *out)
{
	const struct sym *s = &t->syms[index];

	*out = (struct symbol){s->start, s->end, s->name, s->module, index, s->open};
}

int symtab_find(const struct symtab *t, uint64_t addr, struct symbol *out)
{
	uint64_t slice;
	uint32_t lo, hi;

	if (!t || !t->n_segments || addr < t->starts[0])
		return PP_ENOENT;
	slice = (addr - t->starts[0]) >> t->shift;
	if (slice >= t->n_buckets)
		slice = t->n_buckets - 1;
	/* The last segment that starts at or before addr lies in [lo, hi). */
	lo = t->buckets[slice];
	hi = t->buckets[slice + 1] + 1;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->starts[mid] <= addr)
			lo = mid;
		else
			hi = mid;
	}
	if (t->owners[lo] == NO_OWNER)
		return PP_ENOENT;
	symtab_get(t, t->owners[lo], out);
	return 0;
}

/* buckets[i] is the last segment that starts at or before the first address of slice i. */
static int make_buckets(struct symtab *t)
{
	uint64_t span = t->starts[t->n_segments - 1] - t->starts[0];
	uint32_t seg = 0;

	/* About as many slices as segments. */
	while (t->shift < 63 && (span >> t->shift) > t->n_segments)
		t->shift++;
	t->n_buckets = (uint32_t)(span >> t->shift) + 1;
	t->buckets = malloc(((size_t)t->n_buckets + 1) * sizeof(*t->buckets));
	if (!t->buckets)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < t->n_buckets; i++) {
		uint64_t off = (uint64_t)i << t->shift;

		while (seg + 1 < t->n_segments && t->starts[seg + 1] - t->starts[0] <= off)
			seg++;
		t->buckets[i] = seg;
	}
	t->buckets[t->n_buckets] = t->n_segments - 1;
	return 0;
}

static void add_segment(struct symtab *t, uint64_t start, uint32_t owner)
{
	uint32_t n = t->n_segments;

	if (n && t->starts[n - 1] == start) {
		t->owners[n - 1] = owner;
		return;
	}
	if (n && t->owners[n - 1] == owner)
		return;
	t->starts[n] = start;
	t->owners[n] = owner;
	t->n_segments++;
}

/* Closes the symbols on the stack that end at or before `until`; the later started one is on top.
 */
static uint32_t close_until(struct symtab *t, const uint32_t *stack, uint32_t depth, uint64_t until)
{
	while (depth) {
		uint64_t end = t->syms[stack[depth - 1]].end;

		if (end > until)
			break;
		depth--;
		while (depth && t->syms[stack[depth - 1]].end <= end)
			depth--;
		add_segment(t, end, depth ? stack[depth - 1] : NO_OWNER);
	}
	return depth;
}

static int make_segments(struct symtab *t)
{
	/* Each symbol begins one segment and ends at most one. */
	size_t max = 2 * (size_t)t->n_syms;
	uint32_t *stack = malloc((t->n_syms ? t->n_syms : 1) * sizeof(*stack));
	uint32_t depth = 0;
	void *p;

	t->starts = malloc((max ? max : 1) * sizeof(*t->starts));
	t->owners = malloc((max ? max : 1) * sizeof(*t->owners));
	if (!stack || !t->starts || !t->owners) {
		free(stack);
		return PP_ENOMEM;
	}
	for (uint32_t i = 0; i < t->n_syms; i++) {
		if (t->syms[i].end <= t->syms[i].start)
			continue;
		depth = close_until(t, stack, depth, t->syms[i].start);
		add_segment(t, t->syms[i].start, i);
		stack[depth++] = i;
	}
	close_until(t, stack, depth, UINT64_MAX);
	free(stack);
	if (!t->n_segments)
		return 0;
	p = realloc(t->starts, t->n_segments * sizeof(*t->starts));
	t->starts = p ? p : t->starts;
	p = realloc(t->owners, t->n_segments * sizeof(*t->owners));
	t->owners = p ? p : t->owners;
	return make_buckets(t);
}

int symtab_builder_finish(struct symtab_builder *b, struct symtab **out)
{
	struct symtab *t;
	int rc = symtab_builder_sort(b);

	if (rc)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t || (b->n && !(t->syms = malloc(b->n * sizeof(*t->syms))))) {
		free(t);
		return PP_ENOMEM;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const struct symtab_raw *r = &b->raw[i];

		t->syms[i] = (struct sym){.start = r->start,
					  .end = r->end,
					  .name = r->name,
					  .module = r->module & INT32_MAX,
					  .open = r->open};
	}
	t->n_syms = b->n;
	t->text = (char *)b->text.data;
	t->text_len = b->text.len;
	b->text = (struct buf)BUF_INIT;
	symtab_builder_release(b);
	rc = make_segments(t);
	if (rc)
		symtab_free(t);
	else
		*out = t;
	return rc;
}
