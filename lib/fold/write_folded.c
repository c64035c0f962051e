/* Folded text in its order: that of the stacks as text. */
#include "base/err.h"
#include "fold/stack_tree.h"

#include <stdlib.h>
#include <string.h>

/*
 * Writing. The order is that of the stacks' whole text, where a name may hold bytes below ';': the
 * stack "a" comes before "a-x", but "a;b" after it. So each name has two sort keys: as the last
 * frame of a stack, and with its ';'.
 */

struct sort_key {
	uint64_t prefix; /* the first 8 bytes, big-endian: decides most comparisons */
	const char *text;
	uint32_t len;
	uint32_t key; /* name * 2, + 1 with ';' */
};

static int compare_keys(const void *va, const void *vb)
{
	const struct sort_key *a = va, *b = vb;
	uint32_t min = a->len < b->len ? a->len : b->len;
	bool a_ends, b_ends;
	int r;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	r = memcmp(a->text, b->text, min);
	if (r)
		return r;
	/* What follows: nothing, ';', or more of the name. */
	a_ends = a->len == min;
	b_ends = b->len == min;
	if (a_ends && b_ends)
		return (int)(a->key & 1) - (int)(b->key & 1);
	if (a_ends)
		return a->key & 1 && (uint8_t)b->text[min] < ';' ? 1 : -1;
	return b->key & 1 && (uint8_t)a->text[min] < ';' ? -1 : 1;
}

static uint64_t key_prefix(const char *text, uint32_t len, bool inner)
{
	uint8_t bytes[8] = {0};
	uint64_t v;

	memcpy(bytes, text, len < 8 ? len : 8);
	if (inner && len < 8)
		bytes[len] = ';';
	memcpy(&v, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* rank[name * 2 + inner]: place of that key in the order of all keys. */
static int rank_names(const struct fold *f, uint32_t **out)
{
	size_t n = (size_t)f->names.n * 2;
	struct sort_key *keys = malloc((n + 1) * sizeof(*keys));
	uint32_t *rank = malloc((n + 2) * sizeof(*rank));

	*out = rank;
	if (!keys || !rank) {
		free(keys);
		free(rank);
		*out = NULL;
		return PP_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t name = (uint32_t)(i / 2 + 1);
		size_t len;

		keys[i].text = intern_get(&f->names, name, &len);
		keys[i].len = (uint32_t)len;
		keys[i].key = name * 2 + (i & 1);
		keys[i].prefix = key_prefix(keys[i].text, keys[i].len, i & 1);
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		rank[keys[i].key] = (uint32_t)i;
	free(keys);
	return 0;
}

/*
 * What hangs below each node, in order: entries[start[node] .. start[node + 1]). A node is an entry
 * as a stack of its own, and with INNER as the way to those on top of it.
 */
struct layout {
	uint32_t *rank;
	uint32_t *start;
	uint32_t *entries;
	uint64_t *sorting; /* room for the longest list */
};

#define INNER 0x80000000u

static void layout_release(struct layout *l)
{
	free(l->rank);
	free(l->start);
	free(l->entries);
	free(l->sorting);
}

static int compare_u64(const void *va, const void *vb)
{
	uint64_t a, b;

	memcpy(&a, va, sizeof(a));
	memcpy(&b, vb, sizeof(b));
	return a < b ? -1 : a > b;
}

static void sort_entries(const struct fold *f, const struct layout *l, uint32_t *e, size_t n)
{
	uint64_t *v = l->sorting;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = paths_name(&f->paths, e[i] & ~INNER);

		v[i] = (uint64_t)l->rank[name * 2 + (e[i] & INNER ? 1 : 0)] << 32 | e[i];
	}
	if (n > 16)
		qsort(v, n, sizeof(*v), compare_u64);
	for (size_t i = 1; n <= 16 && i < n; i++) {
		uint64_t x = v[i];
		size_t k = i;

		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	for (size_t i = 0; i < n; i++)
		e[i] = (uint32_t)v[i];
}

static int layout_make(const struct fold *f, struct layout *l)
{
	const struct paths *p = &f->paths;
	uint32_t *start = calloc((size_t)p->n + 2, sizeof(*start)), most = 0, sum = 0;
	uint8_t *inner = calloc(p->n / 8 + 1, 1); /* a bit for each node */
	int rc = rank_names(f, &l->rank);

	l->start = start;
	if (rc || !inner || !start) {
		free(inner);
		return PP_ENOMEM;
	}
	for (uint32_t k = 1, up; k < p->n; k++) {
		up = paths_parent(p, k);
		inner[up / 8] |= (uint8_t)(1u << up % 8);
	}
#define IS_INNER(k) (inner[(k) / 8] >> (k) % 8 & 1u)
	for (uint32_t k = 1; k < p->n; k++)
		start[paths_parent(p, k) + 2] += IS_INNER(k) + fold_node_ends(f, k);
	for (size_t k = 2; k < (size_t)p->n + 2; k++) {
		most = start[k] > most ? start[k] : most;
		start[k] = sum += start[k];
	}
	l->entries = calloc((size_t)sum + 1, sizeof(*l->entries));
	l->sorting = malloc(((size_t)most + 1) * sizeof(*l->sorting));
	if (!l->entries || !l->sorting) {
		free(inner);
		return PP_ENOMEM;
	}
	/* start[k + 1] is where the entries of k go next; in the end, where they end. */
	for (uint32_t k = 1; k < p->n; k++) {
		uint32_t *at = &start[paths_parent(p, k) + 1];

		if (fold_node_ends(f, k))
			l->entries[(*at)++] = k;
		if (IS_INNER(k))
			l->entries[(*at)++] = k | INNER;
	}
#undef IS_INNER
	free(inner);
	for (uint32_t k = 0; k < p->n; k++)
		sort_entries(f, l, l->entries + start[k], start[k + 1] - start[k]);
	return 0;
}

static int write_line(const struct fold *f, struct out *o, const struct buf *path, uint32_t node)
{
	char digits[24], *d = digits + sizeof(digits);
	uint64_t v = weights_get(&f->weights, node);
	size_t len, n;
	const char *name = intern_get(&f->names, paths_name(&f->paths, node), &len);
	uint8_t *p;

	*--d = '\n';
	do
		*--d = (char)('0' + v % 10);
	while (v /= 10);
	*--d = ' ';
	n = (size_t)(digits + sizeof(digits) - d);
	p = out_room(o, path->len + len + n);
	if (!p)
		return o->err;
	if (path->len)
		memcpy(p, path->data, path->len);
	memcpy(p + path->len, name, len);
	memcpy(p + path->len + len, d, n);
	o->len += path->len + len + n;
	return 0;
}

struct level {
	uint32_t next, end; /* entries still to write */
	size_t path;	    /* length of the path above */
};

/*
 * Asks for the memory of the node whose turn is next, which is anywhere, and for the weight of the
 * leaf that is above the one at hand: the frames of a stack tend to lie one after the other.
 */
static inline void prefetch(const struct fold *f, const struct layout *l, uint32_t next,
			    uint32_t node)
{
	__builtin_prefetch(&f->paths.names[next]);
	__builtin_prefetch(&l->start[next]);
	__builtin_prefetch(&f->weights.v[node + 8 < f->paths.n ? node + 8 : node]);
}

static int write_tree(const struct fold *f, const struct layout *l, struct level *levels,
		      struct buf *path, struct out *o)
{
	struct level *at = levels;
	int rc = 0;

	*at = (struct level){l->start[0], l->start[1], 0};
	while (!rc) {
		uint32_t node;
		const char *name;
		size_t len;

		path->len = at->path;
		if (at->next == at->end) {
			if (at-- == levels)
				break;
			continue;
		}
		node = l->entries[at->next++];
		prefetch(f, l, at->next < at->end ? l->entries[at->next] & ~INNER : FOLD_ROOT,
			 node & ~INNER);
		if (!(node & INNER)) {
			rc = write_line(f, o, path, node);
			continue;
		}
		node &= ~INNER;
		name = intern_get(&f->names, paths_name(&f->paths, node), &len);
		buf_add(path, name, len);
		buf_addc(path, ';');
		rc = path->err;
		*++at = (struct level){l->start[node], l->start[node + 1], path->len};
	}
	return rc;
}

int fold_write(struct fold *f, struct out *o)
{
	struct layout l = {0};
	struct buf path = BUF_INIT;
	struct level *levels;
	int rc;

	if (f->opts.chart)
		return fold_chart_write(f, o);
	fold_settle(f);
	rc = layout_make(f, &l);
	levels = malloc(((size_t)fold_nodes_depth(f) + 2) * sizeof(*levels));
	if (!levels)
		rc = PP_ENOMEM;
	if (!rc)
		rc = write_tree(f, &l, levels, &path, o);
	free(levels);
	buf_release(&path);
	layout_release(&l);
	return rc;
}
