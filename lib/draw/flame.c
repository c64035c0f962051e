/* The tree of a flame graph: stacks are added, frames counted. */
#include "draw/flame_tree.h"

#include "base/array.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 64 /* at siblings, for a leaf that has callees after all: so many for each frame */

int flame_new(struct flame **out, bool reverse)
{
	struct flame *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return PP_ENOMEM;
	f->reverse = reverse;
	f->cap = 1024;
	f->unsorted = reverse;
	f->self = calloc(f->cap, sizeof(*f->self));
	f->links = calloc(f->cap, sizeof(*f->links));
	f->nself = 1;
	f->path = calloc(FLAME_DEPTH_MAX, sizeof(*f->path));
	f->ends = calloc(FLAME_DEPTH_MAX, sizeof(*f->ends));
	if (paths_init(&f->paths) || !f->self || !f->links || !f->path || !f->ends) {
		flame_free(f);
		return PP_ENOMEM;
	}
	f->factor = 1;
	*out = f;
	return 0;
}

static void diff_free(struct flame_diff *d)
{
	if (!d)
		return;
	free(d->base.v);
	free(d->verdict);
	map64_release(&d->names);
	buf_release(&d->matched);
	free(d);
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	diff_free(f->diff);
	intern_release(&f->names);
	paths_release(&f->paths);
	buf_release(&f->last);
	buf_release(&f->rooted);
	free(f->self);
	free(f->counts.v);
	free(f->links);
	free(f->path);
	free(f->ends);
	free(f->times);
	free(f);
}

void flame_chart(struct flame *f)
{
	f->chart = true;
	f->unsorted = false;
}

void flame_choose(struct flame *f, const char *event)
{
	f->event = event;
}

void flame_describe_others(const struct flame *f, struct buf *b)
{
	for (const char *p = f->other.event; *p;) {
		size_t n = strcspn(p, "+");

		buf_adds(b, p == f->other.event ? "" : ", ");
		buf_add(b, p, n);
		p += n + (p[n] == '+');
	}
}

void flame_scale(struct flame *f, double factor)
{
	long double by = (long double)factor;

	for (uint32_t i = 0; i < f->counts.n; i++)
		f->counts.v[i] *= by;
	f->account.total *= by;
	f->factor *= factor;
	if (!f->diff)
		return;
	for (uint32_t i = 0; i < f->diff->base.n; i++)
		f->diff->base.v[i] *= by;
	f->diff->base_sum *= by;
}

int flame_set(struct flame *f, struct flame_counts *c, uint32_t node, long double count)
{
	uint32_t at = f->self[node] ? f->self[node] : f->nself;
	long double *v;

	if (!f->self[node] && !(count > 0))
		return 0;
	v = array_widen(c->v, &c->n, at, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	c->v = v;
	v[at] = count;
	f->nself += !f->self[node];
	f->self[node] = at;
	return 0;
}

/* Places for all nodes. 0 or PP_ENOMEM. */
static int place_sums(const struct flame *f, struct flame_sums *s, uint32_t *n)
{
	const struct paths *p = &f->paths;
	uint8_t *branches = calloc(p->n / 8 + 1, 1);

	s->at = malloc(p->n * sizeof(*s->at));
	if (!branches || !s->at) {
		free(branches);
		return PP_ENOMEM;
	}
	for (uint32_t run = 1; run < p->nruns; run++)
		branches[p->runs[run].parent / 8] |= (uint8_t)(1u << p->runs[run].parent % 8);
	*n = 0;
	for (uint32_t i = p->n; i-- > 0;) {
		bool alone = i + 1 < p->n && !(p->names[i + 1] & PATHS_FIRST) && !f->self[i] &&
			     !(branches[i / 8] >> i % 8 & 1);

		s->at[i] = alone ? s->at[i + 1] : (*n)++;
	}
	free(branches);
	return 0;
}

int flame_sums_make(const struct flame *f, struct flame_sums *s)
{
	uint32_t n;
	int rc = place_sums(f, s, &n);

	if (rc)
		return rc;
	s->now = calloc(n, sizeof(*s->now));
	s->base = f->diff ? calloc(n, sizeof(*s->base)) : NULL;
	if (!s->now || (f->diff && !s->base))
		return PP_ENOMEM;
	for (uint32_t i = 0; i < f->paths.n; i++) {
		if (!f->self[i])
			continue;
		s->now[s->at[i]] = flame_self(f, i);
		if (f->diff)
			s->base[s->at[i]] = flame_base(f, i);
	}
	for (uint32_t i = f->paths.n - 1; i > 0; i--) {
		uint32_t from = s->at[i], to = s->at[paths_parent(&f->paths, i)];

		if (from == to)
			continue;
		s->now[to] += s->now[from];
		if (f->diff)
			s->base[to] += s->base[from];
	}
	return 0;
}

void flame_sums_release(struct flame_sums *s)
{
	free(s->at);
	free(s->now);
	free(s->base);
	*s = (struct flame_sums){0};
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

static int nodes_grow(struct flame *f)
{
	struct flame_links *links;
	uint32_t *self;

	if (f->paths.n == FLAME_NODES_MAX)
		return PP_ELIMIT;
	self = realloc(f->self, 2 * (size_t)f->cap * sizeof(*self));
	if (!self)
		return PP_ENOMEM;
	f->self = self;
	if (!f->unsorted) {
		links = realloc(f->links, 2 * (size_t)f->cap * sizeof(*links));
		if (!links)
			return PP_ENOMEM;
		f->links = links;
	}
	f->cap *= 2;
	return 0;
}

static int node_new(struct flame *f, uint32_t parent, uint32_t name, uint32_t *id)
{
	int rc = f->paths.n == f->cap ? nodes_grow(f) : 0;

	if (!rc)
		rc = paths_add(&f->paths, parent, name, id);
	if (rc)
		return rc;
	f->self[*id] = 0;
	if (!f->unsorted) {
		f->links[*id] = (struct flame_links){.before = f->links[parent].last};
		f->links[parent].last = *id;
	}
	f->account.frames++;
	return 0;
}

/* From now on callees are looked up. */
static int begin_unsorted(struct flame *f)
{
	int rc = paths_index(&f->paths);

	if (rc)
		return rc;
	f->unsorted = true;
	free(f->links);
	f->links = NULL;
	return 0;
}

/* The callee of that name among those that are looked up; made if there is none and `make`. */
static int look_up(struct flame *f, uint32_t parent, uint32_t name, bool make, uint32_t *id)
{
	int rc = paths_index(&f->paths);

	if (rc)
		return rc;
	*id = paths_find(&f->paths, parent, name);
	return *id == FLAME_ROOT && make ? node_new(f, parent, name, id) : 0;
}

/*
 * Of sorted stacks, a frame that does not begin like the stack before is new, unless it was a
 * leaf, and names came in between that begin with its own and go on below ';'. Now it has callees,
 * and its place is after those names. *id is FLAME_ROOT if it is new. False: there are too many
 * names to look at.
 */
static bool take_leaf(struct flame *f, uint32_t parent, uint32_t name, uint32_t *id)
{
	struct flame_links *links = f->links;
	size_t n, len;
	const char *s = intern_get(&f->names, name, &n), *sibling;
	uint32_t right = FLAME_ROOT;

	*id = FLAME_ROOT;
	f->looks += LOOKS;
	for (uint32_t i = links[parent].last; i != FLAME_ROOT; right = i, i = links[i].before) {
		sibling = intern_get(&f->names, paths_name(&f->paths, i), &len);
		if (len < n || memcmp(s, sibling, n) != 0)
			break;
		if (!f->looks--)
			return false;
		if (len > n)
			continue;
		*id = i;
		if (right != FLAME_ROOT) {
			links[right].before = links[i].before;
			links[i].before = links[parent].last;
			links[parent].last = i;
		}
		break;
	}
	return true;
}

/*
 * A callee in the order of time: the one before, if it has that name, or a new one. Name 0 stands
 * for its caller itself, between or after callees.
 */
static int child_now(struct flame *f, uint32_t parent, uint32_t name, uint32_t *id)
{
	uint32_t last = f->links[parent].last;
	int rc = 0;

	*id = last;
	if (last == FLAME_ROOT || paths_name(&f->paths, last) != name)
		rc = node_new(f, parent, name, id);
	f->account.frames -= !rc && !name && *id != last;
	return rc;
}

int flame_callee(struct flame *f, uint32_t parent, uint32_t name, bool make, uint32_t *id)
{
	int rc = f->unsorted ? 0 : begin_unsorted(f);

	*id = FLAME_ROOT;
	return rc ? rc : look_up(f, parent, name, make, id);
}

static int child(struct flame *f, uint32_t parent, const char *name, size_t len, uint32_t *id)
{
	uint32_t name_id;
	int rc = intern_again(&f->names, name, len, &name_id);

	if (!rc && f->chart)
		return child_now(f, parent, name_id, id);
	if (!rc && !f->unsorted) {
		if (take_leaf(f, parent, name_id, id))
			return *id == FLAME_ROOT ? node_new(f, parent, name_id, id) : 0;
		rc = begin_unsorted(f);
	}
	return rc ? rc : look_up(f, parent, name_id, true, id);
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

/*
 * Leaves in f->depth as many frames of the last stack as this one begins with. False: this one
 * comes before the last, in the order of bytes.
 */
static bool share_path(struct flame *f, const char *s, size_t n)
{
	const char *last = buf_str(&f->last);
	size_t same = common_prefix(last, s, n < f->last.len ? n : f->last.len);
	uint32_t d = 0;

	while (n && d < f->depth && f->ends[d] <= same && (f->ends[d] == n || s[f->ends[d]] == ';'))
		d++;
	f->depth = d;
	return same == f->last.len || (same < n && (uint8_t)s[same] > (uint8_t)last[same]);
}

static int walk_forward(struct flame *f, const char *s, size_t n, uint32_t *leaf)
{
	size_t pos;
	int rc = 0;

	if (!share_path(f, s, n) && !f->unsorted && !f->chart)
		rc = begin_unsorted(f);
	if (rc)
		return rc;
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

	if (f->failed || !(count >= 0 && count <= FLAME_COUNT_MAX))
		return f->failed ? f->failed : PP_EUSAGE;
	rc = f->reverse ? walk_reverse(f, frames, len, &leaf) : walk_forward(f, frames, len, &leaf);
	if (!rc && f->chart && count > 0 && f->links[leaf].last != FLAME_ROOT) {
		rc = child_now(f, leaf, 0, &leaf);
		f->depth = 0; /* callees of the leaf are no longer the last ones */
	}
	if (!rc)
		rc = flame_set(f, &f->counts, leaf, flame_self(f, leaf) + count);
	/* The path may be half this stack's and half the last one's: nothing can follow. */
	f->failed = rc;
	if (rc)
		return rc;
	f->leaf = leaf;
	f->account.total += count;
	f->account.stacks++;
	return 0;
}
