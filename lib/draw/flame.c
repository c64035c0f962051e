/* The tree of a flame graph: stacks are added, frames counted. */
#include "draw/tree.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int flame_new(struct flame **out, bool reverse)
{
	struct flame *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return PP_ENOMEM;
	f->reverse = reverse;
	f->cap = 1024;
	f->nodes = calloc(f->cap, sizeof(*f->nodes));
	f->path = calloc(FLAME_DEPTH_MAX, sizeof(*f->path));
	f->ends = calloc(FLAME_DEPTH_MAX, sizeof(*f->ends));
	if (!f->nodes || !f->path || !f->ends) {
		flame_free(f);
		return PP_ENOMEM;
	}
	f->n = 1;
	*out = f;
	return 0;
}

static void diff_free(struct flame_diff *d)
{
	if (!d)
		return;
	free(d->base);
	free(d->verdict);
	free(d->total);
	map64_release(&d->names);
	free(d);
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	diff_free(f->diff);
	intern_release(&f->names);
	map64_release(&f->children);
	buf_release(&f->last);
	free(f->nodes);
	free(f->path);
	free(f->ends);
	free(f);
}

const struct flame_account *flame_account(const struct flame *f)
{
	return &f->account;
}

void flame_describe(const struct flame *f, struct buf *b)
{
	const struct flame_account *a = &f->account;
	long double drawn = a->drawn ? a->total - a->pruned : 0;

	buf_addf(b, "%" PRIu64 " lines: %" PRIu64 " stacks, %" PRIu64 " malformed; ", a->lines,
		 a->stacks, a->malformed);
	buf_addf(b, "%" PRIu64 " stacks cut; counted %.20Lg: drawn %.20Lg, too narrow %.20Lg; ",
		 a->deep, a->total, drawn, a->pruned);
	buf_addf(b, "%" PRIu64 " frames: %" PRIu64 " drawn, %" PRIu64 " too narrow", a->frames,
		 a->drawn, a->frames - a->drawn);
}

static int node_new(struct flame *f, uint32_t parent, uint32_t name, uint32_t *id)
{
	struct flame_node *nodes;

	if (f->n == FLAME_NODES_MAX)
		return PP_ELIMIT;
	if (f->n == f->cap) {
		nodes = realloc(f->nodes, 2 * (size_t)f->cap * sizeof(*nodes));
		if (!nodes)
			return PP_ENOMEM;
		f->nodes = nodes;
		f->cap *= 2;
	}
	f->nodes[f->n] = (struct flame_node){
		.parent = parent, .name = name, .depth = f->nodes[parent].depth + 1};
	f->account.frames++;
	*id = f->n++;
	return 0;
}

static int child(struct flame *f, uint32_t parent, const char *name, size_t len, uint32_t *id)
{
	uint32_t name_id, *slot;
	bool fresh;
	int rc = intern_add(&f->names, name, len, &name_id, NULL);

	if (rc)
		return rc;
	slot = map64_put(&f->children, (uint64_t)parent << 32 | name_id, &fresh);
	if (!slot)
		return PP_ENOMEM;
	if (fresh) {
		rc = node_new(f, parent, name_id, slot);
		if (rc)
			return rc;
	}
	*id = *slot;
	return 0;
}

static size_t common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;
	uint64_t x, y;

	for (; i + 8 <= n; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Leaves in f->depth as many frames of the last stack as this one begins with. */
static void share_path(struct flame *f, const char *s, size_t n)
{
	size_t same = common_prefix(buf_str(&f->last), s, n < f->last.len ? n : f->last.len);
	uint32_t d = 0;

	while (n && d < f->depth && f->ends[d] <= same && (f->ends[d] == n || s[f->ends[d]] == ';'))
		d++;
	f->depth = d;
}

static int walk_forward(struct flame *f, const char *s, size_t n, uint32_t *leaf)
{
	size_t pos;
	int rc;

	share_path(f, s, n);
	*leaf = f->depth ? f->path[f->depth - 1] : FLAME_ROOT;
	pos = f->depth ? f->ends[f->depth - 1] + 1 : 0;
	while (pos <= n && n) {
		const char *semicolon = pos < n ? memchr(s + pos, ';', n - pos) : NULL;
		size_t end = semicolon ? (size_t)(semicolon - s) : n;

		if (f->depth == FLAME_DEPTH_MAX) {
			f->account.deep++;
			break;
		}
		rc = child(f, *leaf, s + pos, end - pos, leaf);
		if (rc)
			return rc;
		f->path[f->depth] = *leaf;
		f->ends[f->depth++] = end;
		pos = end + 1;
	}
	buf_reset(&f->last);
	buf_add(&f->last, s, n);
	return f->last.err;
}

static int walk_reverse(struct flame *f, const char *s, size_t n, uint32_t *leaf)
{
	size_t end = n;
	uint32_t depth = 0;
	bool more = n > 0;
	int rc;

	*leaf = FLAME_ROOT;
	while (more) {
		const char *semicolon = memrchr(s, ';', end);
		size_t start = semicolon ? (size_t)(semicolon - s) + 1 : 0;

		if (depth++ == FLAME_DEPTH_MAX) {
			f->account.deep++;
			break;
		}
		rc = child(f, *leaf, s + start, end - start, leaf);
		if (rc)
			return rc;
		more = start > 0;
		end = start - more;
	}
	return 0;
}

int flame_add(struct flame *f, const char *frames, size_t len, long double count)
{
	uint32_t leaf;
	int rc;

	if (!(count >= 0 && count <= FLAME_COUNT_MAX))
		return PP_EUSAGE;
	rc = f->reverse ? walk_reverse(f, frames, len, &leaf) : walk_forward(f, frames, len, &leaf);
	if (rc) {
		/* The path may be half this stack's and half the last one's. */
		f->depth = 0;
		buf_reset(&f->last);
		return rc;
	}
	f->leaf = leaf;
	f->nodes[leaf].self += count;
	f->account.total += count;
	f->account.stacks++;
	return 0;
}
