/*
 * Mappings of an address space, in a B-tree whose nodes are shared by the copies. Before a node is
 * changed, it is copied if another tree has it, too.
 */
#include "symbol/maps.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define LEAF_MAPS  16
#define NODE_KIDS  32
#define HEIGHT_MAX 16 /* more than MAPS_MAX can need */

struct kid {
	uint64_t end; /* of its last mapping */
	struct maps_node *node;
};

/* The leaves have height 0 and mappings; the others have kids. None is empty. */
struct maps_node {
	uint32_t refs;
	uint16_t height, n;
	union {
		struct map maps[LEAF_MAPS]; /* by start, disjoint */
		struct kid kids[NODE_KIDS];
	};
};

/* The nodes from the root to a leaf, and which kid or map was taken in each. */
struct path {
	struct maps_node *node[HEIGHT_MAX];
	uint32_t at[HEIGHT_MAX];
	uint32_t depth; /* of the leaf */
};

static void node_unref(struct maps_node *n)
{
	if (!n || --n->refs)
		return;
	for (uint32_t i = 0; n->height && i < n->n; i++)
		node_unref(n->kids[i].node);
	free(n);
}

void maps_release(struct maps *s)
{
	node_unref(s->root);
	*s = (struct maps){0};
}

void maps_copy(struct maps *to, const struct maps *from)
{
	*to = *from;
	if (to->root)
		to->root->refs++;
}

static struct maps_node *node_new(uint16_t height)
{
	struct maps_node *n = malloc(sizeof(*n));

	if (n) {
		n->refs = 1;
		n->height = height;
		n->n = 0;
	}
	return n;
}

/* A node that is about to be changed belongs to one tree. */
static int node_own(struct maps_node **at)
{
	struct maps_node *n;

	if ((*at)->refs == 1)
		return 0;
	n = malloc(sizeof(*n));
	if (!n)
		return PP_ENOMEM;
	*n = **at;
	n->refs = 1;
	for (uint32_t i = 0; n->height && i < n->n; i++)
		n->kids[i].node->refs++;
	(*at)->refs--;
	*at = n;
	return 0;
}

static uint64_t node_end(const struct maps_node *n)
{
	return n->height ? n->kids[n->n - 1].end : n->maps[n->n - 1].end;
}

/* The first entry that ends after addr; n->n: none does. */
static uint32_t node_lower(const struct maps_node *n, uint64_t addr)
{
	uint32_t lo = 0, hi = n->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if ((n->height ? n->kids[mid].end : n->maps[mid].end) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first mapping that ends after addr. */
static const struct map *maps_lower(const struct maps *s, uint64_t addr)
{
	const struct maps_node *n = s->root;

	while (n) {
		uint32_t i = node_lower(n, addr);

		if (i == n->n)
			return NULL;
		if (!n->height)
			return &n->maps[i];
		n = n->kids[i].node;
	}
	return NULL;
}

const struct map *maps_find(const struct maps *s, uint64_t addr)
{
	const struct map *m = maps_lower(s, addr);

	return m && m->start <= addr ? m : NULL;
}

bool maps_any(const struct maps *s, uint64_t start, uint64_t end)
{
	const struct map *m = maps_lower(s, start);

	return m && m->start < end;
}

static void each_below(const struct maps_node *n, void (*fn)(void *ctx, const struct map *m),
		       void *ctx)
{
	for (uint32_t i = 0; i < n->n; i++)
		if (n->height)
			each_below(n->kids[i].node, fn, ctx);
		else
			fn(ctx, &n->maps[i]);
}

void maps_each(const struct maps *s, void (*fn)(void *ctx, const struct map *m), void *ctx)
{
	if (s->root)
		each_below(s->root, fn, ctx);
}

/* After a change of the leaf at the end of the path. */
static void path_mend_ends(const struct path *p)
{
	for (uint32_t d = p->depth; d-- > 0;) {
		struct kid *k = &p->node[d]->kids[p->at[d]];

		k->end = node_end(k->node);
	}
}

/* Makes room for one more entry at index i. */
static void node_open(struct maps_node *n, uint32_t i)
{
	if (n->height)
		memmove(n->kids + i + 1, n->kids + i, (n->n - i) * sizeof(*n->kids));
	else
		memmove(n->maps + i + 1, n->maps + i, (n->n - i) * sizeof(*n->maps));
	n->n++;
}

static void node_remove(struct maps_node *n, uint32_t i)
{
	n->n--;
	if (n->height)
		memmove(n->kids + i, n->kids + i + 1, (n->n - i) * sizeof(*n->kids));
	else
		memmove(n->maps + i, n->maps + i + 1, (n->n - i) * sizeof(*n->maps));
}

static bool node_full(const struct maps_node *n)
{
	return n->n == (n->height ? NODE_KIDS : LEAF_MAPS);
}

/* A kid that is full becomes two. If addresses rise, the first stays as full as it can. */
static int split_kid(struct maps_node *n, uint32_t i, uint64_t addr)
{
	struct maps_node *low = n->kids[i].node, *high = node_new(low->height);
	uint32_t keep = addr >= node_end(low) ? low->n - 1u : low->n / 2u;

	if (!high)
		return PP_ENOMEM;
	if (low->height)
		memcpy(high->kids, low->kids + keep, (low->n - keep) * sizeof(*low->kids));
	else
		memcpy(high->maps, low->maps + keep, (low->n - keep) * sizeof(*low->maps));
	high->n = (uint16_t)(low->n - keep);
	low->n = (uint16_t)keep;
	node_open(n, i + 1);
	n->kids[i].end = node_end(low);
	n->kids[i + 1] = (struct kid){node_end(high), high};
	return 0;
}

/* The root is this tree's own and, before an insertion, not full. */
static int prepare_root(struct maps *s, bool insert)
{
	struct maps_node *top;

	if (!s->root)
		s->root = node_new(0);
	if (!s->root || node_own(&s->root))
		return PP_ENOMEM;
	if (!insert || !node_full(s->root))
		return 0;
	top = node_new((uint16_t)(s->root->height + 1));
	if (!top)
		return PP_ENOMEM;
	top->kids[0] = (struct kid){node_end(s->root), s->root};
	top->n = 1;
	s->root = top;
	return 0;
}

/* The way to the first mapping that ends after addr, or to the place after the last; all own. */
static int path_to(struct maps *s, uint64_t addr, bool insert, struct path *p)
{
	struct maps_node *n;
	int rc = prepare_root(s, insert);

	p->depth = 0;
	for (n = s->root; !rc; n = n->kids[p->at[p->depth++]].node) {
		uint32_t i = node_lower(n, addr);

		p->node[p->depth] = n;
		p->at[p->depth] = i;
		if (!n->height)
			return 0;
		if (i == n->n)
			i = n->n - 1u;
		rc = node_own(&n->kids[i].node);
		if (!rc && insert && node_full(n->kids[i].node)) {
			rc = split_kid(n, i, addr);
			if (!rc && i + 1 < n->n && n->kids[i].end <= addr)
				i++;
		}
		p->at[p->depth] = i;
	}
	return rc;
}

static int insert_map(struct maps *s, const struct map *m)
{
	struct maps_node *leaf;
	struct path p;
	int rc;

	if (s->n >= MAPS_MAX)
		return PP_ELIMIT;
	rc = path_to(s, m->start, true, &p);
	if (rc)
		return rc;
	leaf = p.node[p.depth];
	node_open(leaf, p.at[p.depth]);
	leaf->maps[p.at[p.depth]] = *m;
	s->n++;
	path_mend_ends(&p);
	return 0;
}

/* Nodes that became empty go, and a root with one kid. */
static void prune(struct maps *s, struct path *p)
{
	while (p->depth && !p->node[p->depth]->n) {
		node_unref(p->node[p->depth]);
		p->depth--;
		node_remove(p->node[p->depth], p->at[p->depth]);
	}
	/* The ends above are those of the kids that are left. */
	if (p->node[p->depth]->n)
		path_mend_ends(p);
	while (s->root->height && s->root->n == 1) {
		struct maps_node *top = s->root;

		s->root = top->kids[0].node;
		free(top);
	}
	if (!s->root->n) {
		node_unref(s->root);
		s->root = NULL;
	}
}

/* Takes the first mapping away that ends after addr: there is one. */
static int remove_map(struct maps *s, uint64_t addr)
{
	struct path p;
	int rc = path_to(s, addr, false, &p);

	if (rc)
		return rc;
	node_remove(p.node[p.depth], p.at[p.depth]);
	s->n--;
	prune(s, &p);
	return 0;
}

/* Takes [start, end) out of the mappings. */
static int cut_out(struct maps *s, uint64_t start, uint64_t end)
{
	const struct map *m;
	int rc = 0;

	while (!rc && (m = maps_lower(s, start)) && m->start < end) {
		struct map low = *m, high = *m;

		/* Two pieces and the new one are to be there instead of it. */
		if (low.start < start && high.end > end && s->n + 2 > MAPS_MAX)
			return PP_ELIMIT;
		rc = remove_map(s, start);
		if (!rc && low.start < start) {
			low.end = start;
			rc = insert_map(s, &low);
		}
		if (!rc && high.end > end) {
			high.pgoff += end - high.start;
			high.start = end;
			rc = insert_map(s, &high);
		}
	}
	return rc;
}

int maps_put(struct maps *s, const struct map *m)
{
	int rc = cut_out(s, m->start, m->end);

	return rc ? rc : insert_map(s, m);
}
