/* From the tree to rows: what each node has with all below it, and what each key has. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* What identifies a row; compared as bytes. */
struct row_id {
	uint32_t event;
	uint32_t key[REPORT_KEYS_MAX];
};

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- nodes ---- */

static int make_arrays(struct result *s)
{
	s->group = calloc(s->nruns, sizeof(*s->group));
	s->row_of = calloc(s->n, sizeof(*s->row_of));
	s->counts = calloc(s->filter ? s->n : 1, sizeof(*s->counts));
	s->nevents = s->r->nevents;
	s->events = calloc((size_t)s->nevents + 1, sizeof(*s->events));
	if (s->events && s->nevents)
		memcpy(s->events, s->r->events, s->nevents * sizeof(*s->events));
	return s->group && s->row_of && s->counts && s->events && !weights_widen(&s->total, s->n) &&
			       !weights_widen(&s->samples, s->n)
		       ? 0
		       : PP_ENOMEM;
}

static int compare_children(const void *va, const void *vb)
{
	const struct report_child *a = va, *b = vb;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total < b->total ? -1 : 1;
	return a->node > b->node ? -1 : a->node < b->node;
}

void report_sort_children(struct report_child *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_children);
}

/* Whether a frame is one that the filter asks for. */
static bool is_meant(const struct result *s, const struct report_call *c)
{
	const struct report_filter *f = s->filter;
	struct buf name = BUF_INIT;
	bool yes = !(c->flags & CALL_GROUP) && (!f->dso || c->dso == f->dso);

	if (yes && *f->sym) {
		report_call_name(s->r, c, &name);
		yes = !name.err && strcasestr(buf_str(&name), f->sym);
	}
	buf_release(&name);
	return yes;
}

static bool has_comm(const struct result *s, const struct group *g)
{
	bool yes = !s->filter->comm;

	for (unsigned k = 0; k < s->r->nkeys; k++)
		yes |= s->r->key[k].comm && g->key[k] == s->filter->comm;
	return yes;
}

static const struct group *group_of(const struct result *s, uint32_t node)
{
	return report_group_get(s->r, report_call_get(s->r, result_group(s, node)));
}

/* A stack counts if its group does, and the file and the name are those of one of its frames. */
static void choose_nodes(struct result *s)
{
	const struct report_filter *f = s->filter;
	bool frames = f->dso || *f->sym;

	for (uint32_t k = 1; k < s->n; k++) {
		const struct report_call *c = report_call_get(s->r, paths_name(s->paths, k));
		const struct group *g = group_of(s, k);

		if ((f->event != REPORT_NONE && g->event != f->event) || !has_comm(s, g))
			continue;
		s->counts[k] = !frames || s->counts[paths_parent(s->paths, k)] || is_meant(s, c);
	}
}

/* The figures of events: of what came since, and of what counts. */
static void count_events(struct result *s)
{
	const struct report_filter *f = s->filter;

	if (s->since)
		report_since_events(s);
	if (!f)
		return;
	for (uint32_t e = 0; e < s->nevents; e++) {
		memset(s->events[e].ended, 0, sizeof(s->events[e].ended));
		s->events[e].samples = 0;
		s->events[e].weight = f->of_all ? s->events[e].weight : 0;
	}
	for (uint32_t k = 1; k < s->n; k++) {
		struct report_event *e = &s->events[group_of(s, k)->event];

		e->samples += weights_get(&s->samples, k);
		e->weight = f->of_all ? e->weight : add(e->weight, weights_get(&s->total, k));
	}
}

static bool keep_own(struct result *s)
{
	struct report_own *own = calloc(s->n, sizeof(*own));

	for (uint32_t k = 1; own && k < s->n; k++)
		own[k] =
			(struct report_own){weights_get(&s->total, k), weights_get(&s->samples, k)};
	s->own = own;
	return own != NULL;
}

/* The group of a run: the outermost node is one itself, and begins a run. */
static void find_groups(struct result *s)
{
	const struct paths *p = s->paths;

	for (uint32_t run = 1; run < s->nruns; run++) {
		uint32_t parent = p->runs[run].parent;

		s->group[run] =
			parent ? result_group(s, parent) : paths_name(p, p->runs[run].first);
	}
}

/* Adds the figures of each node to those of its parent. A node is greater than its parent. */
static int add_below(struct result *s)
{
	int rc = 0;

	for (uint32_t k = s->n; k-- > 1 && !rc;) {
		uint32_t p = paths_parent(s->paths, k);

		rc = weights_set(&s->total, p,
				 add(weights_get(&s->total, p), weights_get(&s->total, k)));
		if (!rc)
			rc = weights_set(&s->samples, p,
					 weights_get(&s->samples, p) + weights_get(&s->samples, k));
	}
	return rc;
}

static int fill_nodes(struct result *s)
{
	uint64_t weight, samples;
	int rc = 0;

	find_groups(s);
	if (s->filter)
		choose_nodes(s);
	for (uint32_t k = 1; k < s->n && !rc; k++) {
		result_own(s, k, &weight, &samples);
		rc = weights_set(&s->total, k, weight);
		rc = rc ? rc : weights_set(&s->samples, k, samples);
	}
	if (rc)
		return rc;
	count_events(s);
	if (s->r->every && !keep_own(s))
		return PP_ENOMEM;
	return add_below(s);
}

/* ---- rows ---- */

static uint32_t frame_key(const struct report_key *k, const struct report_call *c)
{
	if (c->flags & CALL_GROUP)
		return 0;
	return k->id == FIELD_SYM ? c->sym : k->id == FIELD_DSO ? c->dso : c->line;
}

/* Frames without a name that have different addresses are different. */
static int find_row(struct result *s, uint32_t node, uint32_t *row)
{
	const struct report *r = s->r;
	uint32_t call = paths_name(s->paths, node);
	const struct report_call *c = report_call_get(r, call);
	const struct group *g = group_of(s, node);
	struct row_id id[2];
	struct report_row *v;
	bool fresh, addr = false;
	size_t size = sizeof(id[0]);
	int rc;

	memset(id, 0, sizeof(id));
	id[0].event = g->event;
	for (unsigned k = 0; k < r->nkeys; k++) {
		id[0].key[k] = r->key[k].frame ? frame_key(&r->key[k], c) : g->key[k];
		addr |= r->key[k].frame && r->key[k].id == FIELD_SYM && c->addr;
		/* An inlined function is not the one that was compiled on its own. */
		if (r->key[k].frame && r->key[k].id == FIELD_SYM)
			id[1].event |= c->flags & CALL_INLINED;
	}
	if (addr)
		memcpy(id[1].key, &c->addr, sizeof(c->addr));
	if (addr || id[1].event)
		size = sizeof(id);
	rc = intern_add(&s->keys, id, size, row, &fresh);
	if (rc)
		return rc;
	--*row;
	if (!fresh)
		return 0;
	v = array_widen(s->rows, &s->cap_rows, *row, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->rows = v;
	s->nrows = *row + 1;
	v[*row] = (struct report_row){
		.event = g->event, .key = *row + 1, .call = c->flags & CALL_GROUP ? 0 : call};
	return 0;
}

/* A node's call and group decide its row: for each call, the row that it had in the last group. */
struct last_row {
	uint32_t group, row; /* group 0: none */
};

static int node_row(struct result *s, struct last_row *last, uint32_t node)
{
	struct last_row *at = &last[paths_name(s->paths, node)];
	uint32_t group = result_group(s, node);
	int rc = 0;

	if (at->group != group) {
		rc = find_row(s, node, &at->row);
		at->group = group;
	}
	s->row_of[node] = at->row;
	return rc;
}

/* The row of each node that needs one: all frames, and groups of samples without a frame. */
static int find_rows(struct result *s)
{
	struct last_row *last = calloc((size_t)s->r->calls.n + 1, sizeof(*last));
	int rc = last ? 0 : PP_ENOMEM;

	for (uint32_t k = 1; k < s->n && !rc; k++) {
		uint64_t weight, samples = weights_get(&s->samples, k);

		if (!paths_parent(s->paths, k))
			result_own(s, k, &weight, &samples);
		s->row_of[k] = REPORT_NONE;
		if (samples)
			rc = node_row(s, last, k);
	}
	free(last);
	return rc;
}

void result_own(const struct result *s, uint32_t k, uint64_t *weight, uint64_t *samples)
{
	if (s->own) {
		*weight = s->own[k].weight;
		*samples = s->own[k].samples;
		return;
	}
	*weight = fold_weight(s->r->tree, k);
	*samples = k < s->r->counts.n ? weights_get(&s->r->counts, k) : 0;
	if (s->since && k < s->since->n) {
		*weight -= s->since->weights[k];
		*samples -= s->since->samples[k];
	}
	if (s->filter && !s->counts[k])
		*weight = *samples = 0;
}

void result_step(const struct result *s, uint32_t from, uint32_t to, result_mark *mark, void *ctx)
{
	uint32_t up = to ? paths_parent(s->paths, to) : FOLD_ROOT, both = up;

	if (up == from)
		return;
	/* A node is greater than its parent. */
	while (from != both) {
		if (from > both) {
			mark(ctx, from, -1);
			from = paths_parent(s->paths, from);
		} else {
			both = paths_parent(s->paths, both);
		}
	}
	for (; up != both; up = paths_parent(s->paths, up))
		mark(ctx, up, 1);
}

struct adding {
	struct result *s;
	uint32_t *on_path; /* by row: nodes of the path */
};

/* A result_mark. The frames of a group's other samples count for themselves. */
static void mark_row(void *ctx, uint32_t k, int by)
{
	const struct adding *a = ctx;

	if (a->s->row_of[k] != REPORT_NONE && paths_parent(a->s->paths, k))
		a->on_path[a->s->row_of[k]] += (uint32_t)by;
}

/* Adds a node to its row, which counts samples once: where no node above is of the same row. */
static void add_node(struct adding *a, uint32_t k)
{
	struct result *s = a->s;
	struct report_row *row = &s->rows[s->row_of[k]];
	bool frame = paths_parent(s->paths, k) != 0;
	uint64_t weight, samples;

	result_own(s, k, &weight, &samples);
	row->self = add(row->self, weight);
	row->nself += samples;
	if (a->on_path[s->row_of[k]])
		return;
	row->children = add(row->children, frame ? weights_get(&s->total, k) : weight);
	row->nchildren += frame ? weights_get(&s->samples, k) : samples;
}

static int add_up(struct result *s)
{
	struct adding a = {s, calloc((size_t)s->nrows + 1, sizeof(*a.on_path))};
	uint32_t at = FOLD_ROOT;

	if (!a.on_path)
		return PP_ENOMEM;
	for (uint32_t k = 1; k < s->n; at = k++) {
		result_step(s, at, k, mark_row, &a);
		if (s->row_of[k] != REPORT_NONE)
			add_node(&a, k);
		mark_row(&a, k, 1);
	}
	free(a.on_path);
	return 0;
}

/* The nodes of each row. */
static int link_rows(struct result *s)
{
	s->row_first = calloc((size_t)s->nrows + 1, sizeof(*s->row_first));
	s->row_next = calloc(s->n, sizeof(*s->row_next));
	if (!s->row_first || !s->row_next)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < s->nrows; i++)
		s->row_first[i] = REPORT_NONE;
	for (uint32_t k = s->n; k-- > 1;) {
		if (s->row_of[k] == REPORT_NONE)
			continue;
		s->row_next[k] = s->row_first[s->row_of[k]];
		s->row_first[s->row_of[k]] = k;
	}
	return 0;
}

/* The runs and the places of each event: what is made of each looks at its own alone. */
static int link_events(struct result *s)
{
	const struct report *r = s->r;

	s->event_first = calloc((size_t)r->nevents + 1, sizeof(*s->event_first));
	s->event_next = calloc(s->nruns, sizeof(*s->event_next));
	s->place_first = calloc((size_t)r->nevents + 1, sizeof(*s->place_first));
	s->place_next = calloc((size_t)r->places.n + 1, sizeof(*s->place_next));
	s->by_call = calloc((size_t)r->calls.n + 1, 4 * sizeof(*s->by_call));
	if (!s->event_first || !s->event_next || !s->place_first || !s->place_next || !s->by_call)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < r->nevents; i++)
		s->event_first[i] = s->place_first[i] = REPORT_NONE;
	for (uint32_t run = s->nruns; run-- > 1;) {
		uint32_t event = report_group_get(r, report_call_get(r, s->group[run]))->event;

		s->event_next[run] = s->event_first[event];
		s->event_first[event] = run;
	}
	for (uint32_t id = r->places.n; id; id--) {
		const struct code_place *p = (const void *)intern_get(&r->places, id, NULL);

		s->place_next[id] = s->place_first[p->event];
		s->place_first[p->event] = id;
	}
	return 0;
}

/* ---- order ---- */

enum { BY_CHILDREN = -3, BY_SELF, BY_SAMPLES };

struct order {
	const struct result *s;
	int by; /* or the number of a key */
	int sign;
};

/* The text of key k of a row, as it is. */
static const char *row_key(const struct result *s, const struct report_row *row, unsigned k,
			   size_t *len)
{
	const struct row_id *id = (const void *)intern_get(&s->keys, row->key, NULL);

	return report_text_get(s->r, id->key[k], len);
}

const uint32_t *row_texts(const struct result *s, const struct report_row *row)
{
	const struct row_id *id = (const void *)intern_get(&s->keys, row->key, NULL);

	return id->key;
}

bool report_has_key(const struct report *r, unsigned k)
{
	const struct report_key *key = &r->key[k];

	return !(r->text_only && key->frame && key->id != FIELD_SYM);
}

void row_cell(const struct result *s, const struct report_row *row, unsigned k, struct buf *b)
{
	const struct report_call *c = report_call_get(s->r, row->call);
	const struct report_key *key = &s->r->key[k];
	bool sym = key->frame && key->id == FIELD_SYM;
	size_t len;
	const char *text = row_key(s, row, k, &len);

	if (len || !key->frame)
		buf_add(b, text, len);
	else if (sym && c->addr)
		buf_addf(b, "0x%llx", (unsigned long long)c->addr);
	else
		buf_adds(b, key->id == FIELD_SRCLINE ? "-" : "[unknown]");
	if (sym && c->flags & CALL_INLINED)
		buf_adds(b, " (inlined)");
}

static int compare_texts(const struct result *s, const struct report_row *a,
			 const struct report_row *b, unsigned k)
{
	size_t la, lb;
	const char *ta = row_key(s, a, k, &la), *tb = row_key(s, b, k, &lb);
	int r;

	/* Whole numbers that have no sign: the longer is the greater. */
	if (s->r->key[k].number && !s->r->key[k].frame && la != lb && la && lb && *ta != '-' &&
	    *tb != '-')
		return la < lb ? -1 : 1;
	r = memcmp(ta, tb, la < lb ? la : lb);
	return r ? r : la < lb ? -1 : la > lb;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *va, const void *vb, void *ctx)
{
	const struct order *o = ctx;
	const struct report_row *a = &o->s->rows[*(const uint32_t *)va];
	const struct report_row *b = &o->s->rows[*(const uint32_t *)vb];
	int r = 0;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	switch (o->by) {
	case BY_CHILDREN: r = compare_numbers(a->children, b->children); break;
	case BY_SELF: r = compare_numbers(a->self, b->self); break;
	case BY_SAMPLES: r = compare_numbers(a->nself, b->nself); break;
	default: r = compare_texts(o->s, a, b, (unsigned)o->by); break;
	}
	if (r)
		return r * o->sign;
	r = compare_numbers(a->children, b->children);
	r = r ? r : compare_numbers(a->self, b->self);
	for (unsigned k = 0; k < o->s->r->nkeys && !r; k++)
		r = compare_texts(o->s, a, b, k);
	return r ? r : a->key < b->key ? -1 : a->key > b->key;
}

static int find_order(const struct report *r, struct order *o)
{
	const char *by = r->o.sort					  ? r->o.sort
			 : r->o.no_children || r->o.tree == REPORT_CALLEE ? "self"
									  : "children";

	o->sign = *by == '-' ? -1 : 1;
	by += *by == '-';
	o->by = !strcmp(by, "children")	 ? BY_CHILDREN
		: !strcmp(by, "self")	 ? BY_SELF
		: !strcmp(by, "samples") ? BY_SAMPLES
					 : (int)r->nkeys;
	for (unsigned k = 0; o->by == (int)r->nkeys && k < r->nkeys; k++)
		if (!strcmp(by, r->key[k].name))
			o->by = (int)k;
	return o->by == (int)r->nkeys ? PP_ENOENT : 0;
}

static int sort_rows(struct result *s)
{
	struct order o = {.s = s};
	int rc = find_order(s->r, &o);

	if (rc)
		return rc;
	s->order = calloc((size_t)s->nrows + 1, sizeof(*s->order));
	if (!s->order)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < s->nrows; i++)
		s->order[i] = i;
	qsort_r(s->order, s->nrows, sizeof(*s->order), compare_rows, &o);
	return 0;
}

int result_make(struct result *s, const struct report *r, const struct report_since *since,
		const struct report_filter *filter)
{
	int rc;

	*s = (struct result){.r = r, .since = since, .paths = fold_paths(r->tree)};
	s->n = s->paths->n;
	s->nruns = s->paths->nruns;
	s->filter = filter && filter->on ? filter : NULL;
	rc = make_arrays(s);
	if (!rc)
		rc = fill_nodes(s);
	if (!rc)
		rc = find_rows(s);
	if (!rc)
		rc = add_up(s);
	if (!rc && (r->o.tree == REPORT_CALLEE || r->o.view))
		rc = link_rows(s);
	if (!rc && (r->o.tree || r->o.function || r->o.view))
		rc = link_events(s);
	return rc ? rc : sort_rows(s);
}

void result_release(struct result *s)
{
	weights_release(&s->total);
	weights_release(&s->samples);
	free(s->group);
	free(s->row_of);
	free(s->counts);
	free(s->own);
	free(s->events);
	intern_release(&s->keys);
	free(s->rows);
	free(s->row_first);
	free(s->row_next);
	free(s->event_first);
	free(s->event_next);
	free(s->place_first);
	free(s->place_next);
	free(s->by_call);
	free(s->order);
}

/* The first row in order of an event from this one on. */
static uint32_t first_row(const struct result *s, uint32_t event)
{
	uint32_t low = 0, high = s->nrows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->rows[s->order[mid]].event < event)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void result_event(const struct result *s, uint32_t event, uint32_t *from, uint32_t *to)
{
	*from = first_row(s, event);
	*to = first_row(s, event + 1);
}

bool result_shows(const struct result *s, const struct report_row *row)
{
	const struct report_opts *o = &s->r->o;
	uint64_t part = o->no_children || o->tree == REPORT_CALLEE ? row->self : row->children;
	double least = o->min_share < 0 ? 0 : o->min_share;
	const struct report_call *c = report_call_get(s->r, row->call);

	if (s->filter && (s->filter->dso || *s->filter->sym) && !(row->call && is_meant(s, c)))
		return false;
	/* What has nothing itself is no row of a table of what functions have themselves. */
	if (!part && (o->no_children || o->tree == REPORT_CALLEE) && !row->nself)
		return false;
	return report_share(part, s->events[row->event].weight) >= least;
}
