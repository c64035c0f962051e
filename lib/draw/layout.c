/* Where the frames of a flame graph are: the order of callees, sums, what is too narrow. */
#include "draw/layout.h"

#include "base/err.h"

#include <stdlib.h>

struct name_rank {
	const char *s;
	size_t len;
	uint32_t key; /* name * 2, + 1 for frames that have callees */
};

static int by_bytes(const void *pa, const void *pb)
{
	const struct name_rank *a = pa, *b = pb;
	size_t n = a->len < b->len ? a->len : b->len;
	int c = n ? memcmp(a->s, b->s, n) : 0, x, y;

	/* What follows in folded text: a ';', or nothing. */
	x = a->len > n ? (uint8_t)a->s[n] : a->key & 1 ? ';' : -1;
	y = b->len > n ? (uint8_t)b->s[n] : b->key & 1 ? ';' : -1;
	return c ? c : x != y ? x - y : (a->len > b->len) - (a->len < b->len);
}

/*
 * Links callees in the order of folded text that is sorted by bytes. Nodes are gone through in the
 * order of their names, and each is put after the callees that its caller already has: no list is
 * sorted by itself.
 */
static int link_siblings(struct layout *l)
{
	const struct paths *p = &l->f->paths;
	uint32_t names = l->f->names.n, n = p->n, sum = 0;
	size_t keys = 2 * (size_t)names;
	struct name_rank *ranks = malloc((keys + 1) * sizeof(*ranks));
	uint32_t *start = calloc(keys + 2, sizeof(*start)); /* by key: place in order */
	uint8_t *inner = calloc(n / 8 + 1, 1); /* a bit for each node that has callees */
	uint32_t *order = calloc(n, sizeof(*order));
	int rc = ranks && start && order && inner ? 0 : PP_ENOMEM;

	if (rc)
		goto out;
	for (size_t i = 0; i < keys; i++) {
		ranks[i].key = (uint32_t)i;
		ranks[i].s = intern_get(&l->f->names, (uint32_t)(i / 2) + 1, &ranks[i].len);
	}
	qsort(ranks, keys, sizeof(*ranks), by_bytes);
	for (uint32_t i = 1, up; i < n; i++) {
		up = paths_parent(p, i);
		inner[up / 8] |= (uint8_t)(1u << up % 8);
	}
#define KEY(i) ((paths_name(p, i) - 1) * 2 + (inner[(i) / 8] >> (i) % 8 & 1))
	for (uint32_t i = 1; i < n; i++)
		start[KEY(i)]++;
	for (size_t i = 0; i < keys; i++) {
		uint32_t count = start[ranks[i].key];

		start[ranks[i].key] = sum;
		sum += count;
	}
	for (uint32_t i = 1; i < n; i++)
		order[start[KEY(i)]++] = i;
#undef KEY
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t parent = paths_parent(p, order[i]);

		l->own[order[i]].before = l->own[parent].last;
		l->own[parent].last = order[i];
	}
out:
	free(ranks);
	free(start);
	free(order);
	free(inner);
	return rc;
}

bool layout_draws(const struct layout *l, uint32_t i)
{
	long double total = layout_total(l, i);

	/* A page tells of what is gone, too. */
	if (l->page && l->f->diff && layout_base(l, i) > total)
		total = layout_base(l, i);
	return i == FLAME_ROOT || (paths_name(&l->f->paths, i) && total > 0 && total >= l->least);
}

void layout_turn(struct layout *l)
{
	struct flame_links *v = l->links;

	for (uint32_t i = 0; i < l->f->paths.n; i++) {
		uint32_t beside = FLAME_ROOT, next;

		for (uint32_t k = v[i].last; k != FLAME_ROOT; k = next) {
			next = v[k].before;
			v[k].before = beside;
			beside = k;
		}
		v[i].last = beside;
	}
}

static void count_drawn(struct layout *l)
{
	l->drawn = l->depth = 0;
	for (uint32_t i = 1; i < l->f->paths.n; i++) {
		uint32_t depth;

		if (!layout_draws(l, i))
			continue;
		l->drawn++;
		depth = paths_depth(&l->f->paths, i);
		l->depth = depth > l->depth ? depth : l->depth;
	}
}

static void set_least(struct layout *l, uint64_t most, double narrow)
{
	double width = l->o->width - 2 * PAD;
	bool given = l->o->min_width >= 0;

	l->percent = given ? l->o->min_percent : l->page;
	l->narrow = given ? l->o->min_width : narrow;
	l->scale = (double)((long double)width / l->all);
	l->least = l->percent ? l->all * (long double)l->narrow / 100
			      : l->all / (long double)width * (long double)l->narrow;
	count_drawn(l);
	if (!given && l->drawn > most && !(l->narrow > 0)) {
		l->narrow = 1e-7;
		l->least = l->all * 1e-9L;
	}
	while (!given && l->drawn > most) {
		l->least *= 1.25L;
		l->narrow *= 1.25;
		count_drawn(l);
	}
}

/* Topmost frames that are not drawn: their counts are what is missing above the drawn ones. */
static long double sum_pruned(const struct layout *l)
{
	const struct paths *p = &l->f->paths;
	long double sum = 0;

	for (uint32_t i = 1; i < p->n; i++)
		if (paths_name(p, i) && !layout_draws(l, i) && layout_draws(l, paths_parent(p, i)))
			sum += layout_total(l, i);
	return sum;
}

/* With the palette of states: how much of each frame is waiting. 0 or PP_ENOMEM. */
static int sum_waiting(struct layout *l)
{
	const struct flame *f = l->f;

	l->palette = l->o->palette;
	if (!l->o->coloured && palette_is_of_states(f->account.about.event))
		l->palette = palette_wall();
	if (l->palette != palette_wall() || f->diff)
		return 0;
	l->waiting = calloc(f->paths.n, sizeof(*l->waiting));
	if (!l->waiting)
		return PP_ENOMEM;
	for (uint32_t i = f->paths.n - 1; i > 0; i--) {
		size_t len;
		const char *name = intern_get(&f->names, paths_name(&f->paths, i), &len);

		if (name && palette_waits(name, len))
			l->waiting[i] = layout_total(l, i);
		l->waiting[paths_parent(&f->paths, i)] += l->waiting[i];
	}
	return 0;
}

int layout_init(struct layout *l, uint64_t most, double narrow)
{
	struct flame *f = l->f;
	int rc = f->diff ? flame_diff_prepare(f, l->o, &l->sums) : 0;

	l->unit = *l->o->count_name || f->account.unsaid ? l->o->count_name : f->account.about.unit;
	if (rc)
		return rc;
	if (!(f->account.total > 0))
		return PP_END;
	paths_settle(&f->paths);
	if (f->unsorted)
		l->own = calloc(f->paths.n, sizeof(*l->own));
	l->links = f->unsorted ? l->own : f->links;
	l->labels = calloc((size_t)f->names.n + 1, sizeof(*l->labels));
	l->right = calloc(FLAME_DEPTH_MAX + 3, sizeof(*l->right));
	l->gap = calloc(FLAME_DEPTH_MAX + 3, sizeof(*l->gap));
	if (!l->links || !l->labels || !l->right || !l->gap)
		return PP_ENOMEM;
	rc = f->unsorted ? link_siblings(l) : 0;
	if (!rc && !f->diff)
		rc = flame_sums_make(f, &l->sums);
	rc = rc ? rc : sum_waiting(l);
	if (rc)
		return rc;
	l->all = layout_total(l, FLAME_ROOT) > l->o->total ? layout_total(l, FLAME_ROOT)
							   : l->o->total;
	/* No other frame shares the root's place. */
	l->sums.now[l->sums.at[FLAME_ROOT]] = l->all;
	set_least(l, most, narrow);
	f->account.drawn = l->drawn;
	f->account.pruned = sum_pruned(l);
	return 0;
}

int layout_label(struct layout *l, uint32_t node, struct label **label)
{
	uint32_t id = paths_name(&l->f->paths, node);
	const char *name = "all";
	size_t len = 3;

	*label = &l->labels[id];
	if ((*label)->full)
		return 0;
	if (id)
		name = intern_get(&l->f->names, id, &len);
	return label_make(*label, name, len, l->palette, &l->arena);
}

void layout_release(struct layout *l)
{
	arena_release(&l->arena);
	flame_sums_release(&l->sums);
	free(l->waiting);
	free(l->own);
	free(l->labels);
	free(l->right);
	free(l->gap);
}
