#include "symbol/addr_map.h"

#include "base/err.h"

#include <stdlib.h>

static int compare(const void *x, const void *y)
{
	const struct addr_range *a = x, *b = y;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

/* From lo on it is `what`. */
static void piece(struct addr_map *m, uint64_t lo, uint32_t what)
{
	if (m->n && m->v[m->n - 1].lo == lo)
		m->n--;
	if (m->n ? m->v[m->n - 1].what != what : what != ADDR_MAP_NONE)
		m->v[m->n++] = (struct addr_piece){lo, what};
}

int addr_map_make(struct addr_map *m, struct addr_range *v, size_t n)
{
	/* The ranges that are open: indices of v, the innermost last. */
	size_t *open, depth = 0;

	if (!n)
		return 0;
	/* A range adds a piece where it begins and one where it ends. */
	m->v = calloc(2 * n + 1, sizeof(*m->v));
	open = calloc(n, sizeof(*open));
	if (!m->v || !open) {
		free(open);
		addr_map_release(m);
		return PP_ENOMEM;
	}
	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i <= n; i++) {
		while (depth && (i == n || v[open[depth - 1]].hi <= v[i].lo)) {
			uint64_t end = v[open[--depth]].hi;

			/* What is around it may have ended before, if it was not around it wholly. */
			while (depth && v[open[depth - 1]].hi <= end)
				depth--;
			piece(m, end, depth ? v[open[depth - 1]].what : ADDR_MAP_NONE);
		}
		if (i < n) {
			piece(m, v[i].lo, v[i].what);
			open[depth++] = i;
		}
	}
	free(open);
	return 0;
}

uint32_t addr_map_find(const struct addr_map *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? m->v[lo - 1].what : ADDR_MAP_NONE;
}

void addr_map_release(struct addr_map *m)
{
	free(m->v);
	*m = (struct addr_map){0};
}

int addr_ranges_add(struct addr_ranges *r, uint64_t lo, uint64_t hi, uint32_t depth, uint32_t what)
{
	if (hi <= lo)
		return 0;
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64;
		struct addr_range *v = realloc(r->v, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		r->v = v;
		r->cap = cap;
	}
	r->v[r->n++] = (struct addr_range){lo, hi, depth, what};
	return 0;
}

void addr_ranges_release(struct addr_ranges *r)
{
	free(r->v);
	*r = (struct addr_ranges){0};
}
