/* Reads the recordings of a comparison, each into counts by unit. */
#include "diff/runs.h"

#include "base/array.h"
#include "base/err.h"
#include "base/plain.h"
#include "base/src.h"
#include "fold/canon.h"
#include "diff/statistics.h"
#include "diff/time_span.h"
#include "fold/fold.h"
#include "fold/inputs.h"
#include "stream/stream.h"
#include "table/phist.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS_MAX (1u << 20)
#define GCD_MIN	    1000  /* weights that have less in common are counts, as of pfold -c */
#define LIGHT_MIN   10000 /* so are weights a quarter of which is lighter */
#define MAGIC_MAX   16
#define P50_COUNT   20	/* values that a median needs */
#define P99_COUNT   200 /* and a 99th percentile */

enum unit_kind { BY_FUNCTION, BY_STACK, BY_COMM, BY_KEY };

/* One recording while it is read: its counts by unit id, and what fold's names are as units. */
struct counting {
	struct runs *rs;
	struct fold *f;
	enum unit_kind kind;
	enum diff_side side;
	bool weighs;   /* its weights need not be counts */
	uint64_t gcd;  /* of the weights */
	double *light; /* the first of them */
	size_t nlight;
	double weight; /* of a sample */
	uint32_t *unit_of, nunit_of;
	uint32_t *shown_of, nshown_of; /* by name * 2, + 1 for the command: in `shown` */
	struct intern shown;	       /* names of frames as units have them */
	double *self, *total;
	uint32_t *seen; /* stack or row in which the unit was counted last */
	uint32_t nself, ntotal, nseen, stacks;
	bool totals;		   /* total is kept, too */
	struct run_slices *slices; /* counts go there instead, to `slice` */
	uint32_t slice;
	double n;
	struct buf text, stack;
};

static enum unit_kind kind_of(const char *by)
{
	if (!strcmp(by, "function"))
		return BY_FUNCTION;
	if (!strcmp(by, "stack"))
		return BY_STACK;
	return strcmp(by, "comm") ? BY_KEY : BY_COMM;
}

static void counting_release(struct counting *c)
{
	fold_free(c->f);
	free(c->unit_of);
	free(c->shown_of);
	intern_release(&c->shown);
	free(c->self);
	free(c->total);
	free(c->seen);
	free(c->light);
	buf_release(&c->text);
	buf_release(&c->stack);
}

/* Adds to a unit's counts in the slice. */
static int count_slice(struct counting *c, uint32_t unit, double self, double total)
{
	uint64_t at = (uint64_t)unit * RUN_SLICES + c->slice;
	struct run_slices *s = c->slices;
	double *v;

	if (at > INT32_MAX)
		return PP_ENOMEM;
	v = array_widen(s->self, &s->nself, (uint32_t)at, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->self = v;
	v[at] += self;
	v = array_widen(s->total, &s->ntotal, (uint32_t)at, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->total = v;
	v[at] += total;
	return 0;
}

/* Adds to a unit's counts, in the total once for each stack. */
static int count(struct counting *c, uint32_t unit, double self, double total)
{
	double *s = array_widen(c->self, &c->nself, unit, 1024, sizeof(*s)), *t;
	uint32_t *seen;

	if (!s)
		return PP_ENOMEM;
	c->self = s;
	t = array_widen(c->total, &c->ntotal, unit, 1024, sizeof(*t));
	if (!t)
		return PP_ENOMEM;
	c->total = t;
	seen = array_widen(c->seen, &c->nseen, unit, 1024, sizeof(*seen));
	if (!seen)
		return PP_ENOMEM;
	c->seen = seen;
	if (c->slices) {
		total = seen[unit] != c->stacks ? total : 0;
		seen[unit] = c->stacks;
		return count_slice(c, unit, self, total);
	}
	s[unit] += self;
	if (seen[unit] != c->stacks)
		t[unit] += total;
	seen[unit] = c->stacks;
	return 0;
}

/* The name of a frame as units have it, in c->text. */
static void frame_name(struct counting *c, const char *name, size_t len)
{
	if (!c->rs->exact) {
		canon_name(name, len, &c->text);
		return;
	}
	buf_reset(&c->text);
	buf_add(&c->text, name, len);
}

static const char *name_text(const struct counting *c, uint32_t name, bool first, size_t *len)
{
	const char *s = fold_name_text(c->f, name, len);

	if (!c->slices || !first)
		return s;
	*len -= FOLD_SLICE_LEN;
	return s + FOLD_SLICE_LEN;
}

/* `first`: it is the command, before which the slice may stand. */
static int frame_unit(struct counting *c, uint32_t name, bool first, uint32_t *unit)
{
	uint32_t *v = array_widen(c->unit_of, &c->nunit_of, name, 1024, sizeof(*v));
	const char *s;
	size_t len;
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	c->unit_of = v;
	if (!v[name]) {
		s = name_text(c, name, first, &len);
		frame_name(c, s, len);
		rc = c->text.err;
		if (!rc)
			rc = intern_add(&c->rs->units, buf_str(&c->text), c->text.len, &v[name],
					NULL);
	}
	*unit = v[name];
	return rc;
}

/* Adds the name of a frame as units have it to c->stack. */
static int add_shown(struct counting *c, uint32_t name, bool first)
{
	uint32_t at = name * 2 + first, *v;
	const char *s;
	size_t len;
	int rc = 0;

	v = array_widen(c->shown_of, &c->nshown_of, at, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	c->shown_of = v;
	if (!v[at]) {
		s = name_text(c, name, first, &len);
		frame_name(c, s, len);
		rc = c->text.err
			     ? c->text.err
			     : intern_add(&c->shown, buf_str(&c->text), c->text.len, &v[at], NULL);
	}
	if (!rc) {
		s = intern_get(&c->shown, v[at], &len);
		buf_add(&c->stack, s, len);
	}
	return rc ? rc : c->stack.err;
}

/* The id of a stack's text, which is left in c->stack; *caller: its length without the leaf. */
static int stack_id(struct counting *c, struct intern *in, const uint32_t *names, size_t n,
		    uint32_t *id, size_t *caller)
{
	int rc = 0;

	buf_reset(&c->stack);
	for (size_t i = n; i-- > 0 && !rc;) {
		*caller = c->stack.len;
		if (i + 1 < n)
			buf_addc(&c->stack, ';');
		rc = add_shown(c, names[i], i + 1 == n);
	}
	return rc ? rc : intern_add(in, buf_str(&c->stack), c->stack.len, id, NULL);
}

/* Keeps a whole stack, for folded text: fold_visit. */
static int keep_stack(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	struct counting *c = ctx;
	struct runs *rs = c->rs;
	uint32_t id;
	size_t caller;
	int rc = stack_id(c, &rs->whole, names, n, &id, &caller);

	for (int side = 0; side < 2 && !rc; side++) {
		double *v = array_widen(rs->whole_y[side], &rs->nwhole[side], id, 1024, sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		rs->whole_y[side] = v;
	}
	if (!rc)
		rs->whole_y[c->side][id] += (double)weight / c->weight;
	return rc;
}

static int add_edge(struct counting *c, uint32_t callee, uint32_t caller, double self, double total)
{
	struct runs *rs = c->rs;
	struct run_edge *v;
	bool fresh;
	uint32_t *at;

	if (callee == caller)
		return 0;
	at = map64_put(&rs->edge_of, (uint64_t)callee << 32 | caller, &fresh);
	v = at ? array_widen(rs->edges, &rs->edges_cap, rs->nedges, 1024, sizeof(*v)) : NULL;
	if (!v)
		return PP_ENOMEM;
	rs->edges = v;
	if (fresh)
		*at = rs->nedges++;
	v += *at;
	v->callee = callee;
	v->caller = caller;
	v->self[c->side] += self / c->weight;
	v->total[c->side] += total / c->weight;
	return 0;
}

/* Who called whom in a stack: fold_visit. The caller of a stack is the stack without its leaf. */
static int keep_edges(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	struct counting *c = ctx;
	double w = (double)weight;
	uint32_t unit, caller;
	size_t len;
	int rc = 0;

	if (n < 3 || c->kind == BY_COMM)
		return 0;
	if (c->kind == BY_STACK) {
		rc = stack_id(c, &c->rs->units, names, n, &unit, &len);
		if (!rc)
			rc = intern_add(&c->rs->units, buf_str(&c->stack), len, &caller, NULL);
		return rc ? rc : add_edge(c, unit, caller, w, w);
	}
	rc = frame_unit(c, names[0], false, &unit);
	for (size_t i = 1; i + 1 < n && !rc; i++, unit = caller) {
		rc = frame_unit(c, names[i], false, &caller);
		rc = rc ? rc : add_edge(c, unit, caller, i == 1 ? w : 0, w);
	}
	return rc;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int keep_weight(struct counting *c, uint64_t weight)
{
	if (!weight)
		return 0;
	c->gcd = gcd(c->gcd, weight);
	if (c->nlight == WEIGHTS_MAX)
		return 0;
	if (!c->light)
		c->light = malloc(WEIGHTS_MAX * sizeof(*c->light));
	if (!c->light)
		return PP_ENOMEM;
	c->light[c->nlight++] = (double)weight;
	return 0;
}

/* A stack of the recording: fold_visit. */
static int count_stack(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	struct counting *c = ctx;
	double w = (double)weight;
	uint32_t unit;
	size_t caller;
	int rc = c->weighs ? keep_weight(c, weight) : 0;

	c->n += w;
	c->stacks++;
	if (c->slices) {
		size_t len;
		const char *s = fold_name_text(c->f, names[n - 1], &len);

		c->slice = (uint32_t)(s[0] - '0') * 10 + (uint32_t)(s[1] - '0');
		c->slices->n[c->slice] += w;
	}
	if (rc || c->kind == BY_STACK) {
		rc = rc ? rc : stack_id(c, &c->rs->units, names, n, &unit, &caller);
		return rc ? rc : count(c, unit, w, 0);
	}
	if (c->kind == BY_COMM) {
		rc = frame_unit(c, names[n - 1], true, &unit);
		return rc ? rc : count(c, unit, w, 0);
	}
	/* The first frame is the command; alone, it stands for a sample without a stack. */
	for (size_t i = 0; i < n && !rc && (i + 1 < n || !i); i++) {
		rc = frame_unit(c, names[i], i + 1 == n, &unit);
		if (!rc)
			rc = count(c, unit, i ? 0 : w, w);
	}
	return rc;
}

/* What a sample weighs. */
static double sample_weight(struct counting *c, const char *file)
{
	double weight;

	if (!c->nlight)
		return 1;
	if (c->rs->period > 0)
		return c->rs->period;
	if (c->gcd >= GCD_MIN)
		return (double)c->gcd;
	weight = stat_median(c->light, c->nlight); /* they are sorted now */
	if (c->light[c->nlight / 4] < LIGHT_MIN)
		return 1;
	diag_warn(c->rs->diag, file, -1,
		  "the weights are not counts: %.0f is taken as one sample; better: pfold -c, or "
		  "--period",
		  weight);
	return weight;
}

/* Keeps what was counted as the arrays of a new recording. */
static int keep_run(struct counting *c, const char *file, bool partial)
{
	struct runs *rs = c->rs;
	struct diff_recording *v = realloc(rs->v, (rs->n + 1) * sizeof(*v)), *r;
	bool totals = c->totals || c->kind == BY_FUNCTION;
	uint32_t n = 0;

	if (!v)
		return PP_ENOMEM;
	rs->v = v;
	r = &v[rs->n];
	for (uint32_t i = 0; i < c->nself; i++)
		n += c->self[i] > 0 || c->total[i] > 0;
	*r = (struct diff_recording){
		.side = c->side, .partial = partial, .n = c->n / c->weight, .name = strdup(file)};
	r->unit = malloc((n + 1) * sizeof(*r->unit));
	r->self = malloc((n + 1) * sizeof(*r->self));
	r->total = totals ? malloc((n + 1) * sizeof(*r->total)) : NULL;
	rs->n++;
	if (!r->name || !r->unit || !r->self || (totals && !r->total))
		return PP_ENOMEM;
	for (uint32_t i = 0; i < c->nself; i++) {
		if (!(c->self[i] > 0 || c->total[i] > 0))
			continue;
		r->unit[r->nunits] = i;
		r->self[r->nunits] = c->self[i] / c->weight;
		if (totals)
			r->total[r->nunits] = c->total[i] / c->weight;
		r->nunits++;
	}
	return 0;
}

/*
 * Recordings of different units are not compared: their shares would have nothing in common. Those
 * of different events are, as that can be meant, but it is reported. Event streams are counted in
 * samples, whatever the unit.
 */
static int compare_about(struct counting *c, const char *file)
{
	const struct fold_about *a = &fold_account(c->f)->about;
	struct fold_about *first = &c->rs->about;
	struct buf b = BUF_INIT;
	int rc = 0;

	if (a->units ||
	    (c->weighs && *a->unit && *first->unit && strcmp(a->unit, first->unit) != 0))
		rc = PP_EMISMATCH;
	buf_adds(&b, "counts ");
	fold_about_describe(a, &b);
	if (!a->units) {
		buf_adds(&b, ", but the input before counts ");
		fold_about_describe(first, &b);
	}
	if (rc)
		diag_error(c->rs->diag, file, -1, "%s: they cannot be compared", buf_str(&b));
	else if (*a->event && *first->event && strcmp(a->event, first->event) != 0)
		diag_warn(c->rs->diag, file, -1, "%s", buf_str(&b));
	buf_release(&b);
	if (!*first->event)
		memcpy(first->event, a->event, sizeof(first->event));
	if (!*first->unit && c->weighs)
		memcpy(first->unit, a->unit, sizeof(first->unit));
	return rc;
}

static int count_folded(struct counting *c, struct src *s, const char *file, bool *partial)
{
	/* The recordings are to be of the same event. */
	const struct fold_opts opts = {.count = true, .prefer = c->rs->about.event};
	int rc = fold_new(&c->f, &opts, c->rs->diag);

	if (rc) {
		src_free(s);
		return rc;
	}
	rc = fold_source(c->f, s, c->rs->diag);
	*partial = rc == PP_ECUT || fold_is_partial(c->f);
	if (!rc || rc == PP_ECUT)
		rc = fold_finish(c->f);
	if (!rc)
		rc = compare_about(c, file);
	return rc ? rc : fold_each(c->f, count_stack, c);
}

/* The first value that has a distribution; the number of values if there is none. */
static uint32_t distribution_of(const struct table *t)
{
	uint32_t v = 0;

	while (v < t->nvalues && t->values[v].kind != TABLE_HIST)
		v++;
	return v;
}

/* Adds a row: its count, or the percentiles of its distribution. */
static int count_cell(struct counting *c, const struct hist *h, uint32_t unit)
{
	static const double percents[] = {50, 99};
	hist_int p[2];

	c->n += (double)h->count;
	if (!c->rs->latency)
		return h->count ? count(c, unit, (double)h->count, 0) : 0;
	if (h->count < P50_COUNT)
		return 0;
	hist_percentiles(h, percents, 2, p);
	return count(c, unit, (double)p[0], h->count < P99_COUNT ? 0 : (double)p[1]);
}

/*
 * The name of a row is that of its keys; where there are several tables, after that of the table,
 * but for one that sums up the others.
 */
static int row_unit(struct counting *c, const struct table *t, bool named, uint32_t row,
		    uint32_t *unit)
{
	buf_reset(&c->stack);
	if (named)
		buf_addf(&c->stack, "%s: ", t->name);
	for (uint32_t k = 0; k < t->nkeys; k++) {
		if (k)
			buf_adds(&c->stack, ", ");
		table_key_add(t, row, k, &c->stack);
	}
	frame_name(c, buf_str(&c->stack), c->stack.len);
	if (c->stack.err || c->text.err)
		return PP_ENOMEM;
	return intern_add(&c->rs->units, buf_str(&c->text), c->text.len, unit, NULL);
}

static int count_rows(struct counting *c, const struct table *t, bool named)
{
	uint32_t v = c->rs->latency ? distribution_of(t) : 0, unit;
	double before = c->n;
	int rc = 0;

	for (uint32_t row = 0; row < t->nrows && !rc; row++) {
		c->stacks++;
		rc = row_unit(c, t, named, row, &unit);
		if (!rc)
			rc = count_cell(c, table_cell(t, row, v), unit);
	}
	/* What others count, too, is counted once. */
	if (t->overlap && named)
		c->n = before;
	return rc;
}

/* Latencies are of all tables that have distributions, counts of the first. */
static int count_tables(struct counting *c, const struct tables *ts)
{
	uint32_t n = 0;
	bool latency;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n; i++)
		n += distribution_of(ts->v[i]) < ts->v[i]->nvalues;
	latency = n > 0;
	if (!ts->n)
		return 0;
	if (c->rs->n && latency != c->rs->latency) {
		diag_error(c->rs->diag, NULL, -1, "%s: counts and latencies cannot be compared",
			   ts->v[0]->name);
		return PP_EMISMATCH;
	}
	if (!latency && ts->n > 1)
		diag_warn(c->rs->diag, NULL, -1,
			  "only the first table of each file is compared: %s", ts->v[0]->name);
	c->rs->latency = c->totals = latency;
	if (!latency)
		return ts->v[0]->nvalues ? count_rows(c, ts->v[0], false) : PP_EMISMATCH;
	for (uint32_t i = 0; i < ts->n && !rc; i++)
		if (distribution_of(ts->v[i]) < ts->v[i]->nvalues)
			rc = count_rows(c, ts->v[i], n > 1);
	return rc;
}

static int count_table(struct counting *c, struct src *s, bool *partial)
{
	struct tables ts;
	int rc;

	tables_init(&ts);
	rc = tables_read(&ts, s, c->rs->diag);
	src_free(s);
	*partial = rc == PP_ECUT;
	if (!rc || *partial)
		rc = count_tables(c, &ts);
	tables_release(&ts);
	return rc;
}

static int count_keys(struct counting *c, struct src *s, bool *partial)
{
	const struct phist_opts opts = {.by = c->rs->by};
	struct phist *p;
	int rc = phist_new(&p, &opts, c->rs->diag);

	if (rc) {
		src_free(s);
		return rc;
	}
	switch (phist_stream(p, s)) {
	case PP_EXIT_OK: break;
	case PP_EXIT_PARTIAL: *partial = true; break;
	default: rc = PP_ECORRUPT;
	}
	if (!rc)
		rc = count_tables(c, phist_tables(p));
	phist_free(p);
	return rc;
}

/* Damage was reported when it was read first. */
static int count_slices(struct counting *c, const char *file, uint64_t first, uint64_t last)
{
	const struct fold_opts opts = {.count = true,
				       .prefer = c->rs->about.event,
				       .slices = RUN_SLICES,
				       .slice_first = first,
				       .slice_width = (last - first) / RUN_SLICES + 1};
	struct src *s;
	int rc = plain_open(&s, file, NULL);

	if (rc)
		return rc;
	rc = fold_new(&c->f, &opts, NULL);
	if (rc) {
		src_free(s);
		return rc;
	}
	rc = fold_source(c->f, s, NULL);
	if (!rc || rc == PP_ECUT)
		rc = fold_finish(c->f);
	if (!rc)
		rc = fold_each(c->f, count_stack, c);
	/* Something else than before: the file has changed. */
	return !rc && c->n != c->slices->samples ? PP_EMISMATCH : rc;
}

int runs_slice(struct runs *rs, struct diff_recording *r)
{
	struct counting c = {.rs = rs, .kind = kind_of(rs->by), .side = r->side};
	uint64_t first, last;
	int rc;

	if (!r->again || c.kind == BY_KEY)
		return 0;
	rc = times_learn(r->name, NULL, &first, &last);
	if (!rc && first == last)
		return 0;
	r->slices = c.slices = calloc(1, sizeof(*r->slices));
	if (!rc && !c.slices)
		rc = PP_ENOMEM;
	if (!rc) {
		r->slices->samples = r->n;
		rc = count_slices(&c, r->name, first, last);
	}
	if (rc)
		diag_error(rs->diag, r->name, -1, "cannot be read again: %s", pp_strerror(rc));
	counting_release(&c);
	return rc;
}

static int read_run(struct counting *c, const char *file, bool *partial, bool *stream)
{
	static const size_t magic_len = sizeof(PS_MAGIC) - 1;
	char magic[MAGIC_MAX];
	struct src *s;
	size_t n;
	bool rows;
	int rc = plain_open(&s, file, c->rs->diag);

	if (rc)
		return PP_ENOENT;
	rc = src_peek(s, magic, MAGIC_MAX, &n);
	if (rc) {
		diag_error(c->rs->diag, file, -1, "cannot read: %s", pp_strerror(rc));
		src_free(s);
		return rc;
	}
	*stream = n >= magic_len && !memcmp(magic, PS_MAGIC, magic_len);
	rows = c->kind == BY_KEY || tables_is(magic, n);
	if (c->rs->n && rows != c->rs->rows) {
		diag_error(c->rs->diag, file, -1, "%s table, and the input before is %s",
			   rows ? "is a" : "is no", rows ? "none" : "one");
		src_free(s);
		return PP_EMISMATCH;
	}
	c->rs->rows = rows;
	if (tables_is(magic, n)) {
		c->kind = BY_KEY;
		return count_table(c, s, partial);
	}
	c->weighs = !*stream;
	if (c->kind != BY_KEY)
		return count_folded(c, s, file, partial);
	if (*stream)
		return count_keys(c, s, partial);
	src_free(s);
	diag_error(c->rs->diag, file, -1, "--by %s needs an event stream or a table of phist",
		   c->rs->by);
	return PP_EUSAGE;
}

int runs_add(struct runs *rs, enum diff_side side, const char *file)
{
	struct counting c = {.rs = rs, .kind = kind_of(rs->by), .side = side};
	bool partial = false, stream = false;
	int rc = read_run(&c, file, &partial, &stream);

	if (!rc && !(c.n > 0)) {
		diag_error(rs->diag, file, -1,
			   c.kind == BY_KEY && stream ? "no sample has the key of --by"
						      : "no samples");
		rc = PP_ENOENT;
	}
	c.weight = sample_weight(&c, file);
	if (!rc)
		rc = keep_run(&c, file, partial);
	if (!rc)
		rs->v[rs->n - 1].again = stream && times_again(file);
	if (!rc && c.f && !rs->no_edges)
		rc = fold_each(c.f, keep_edges, &c);
	if (!rc && rs->keep_stacks && c.f)
		rc = fold_each(c.f, keep_stack, &c);
	if (!rc && rs->seconds && stream)
		rc = times_seconds(file, rs->diag, &rs->v[rs->n - 1].seconds);
	if (rc == PP_ENOMEM)
		diag_error(rs->diag, file, -1, "%s", pp_strerror(rc));
	counting_release(&c);
	return rc;
}

void runs_release(struct runs *rs)
{
	for (size_t i = 0; i < rs->n; i++) {
		free(rs->v[i].name);
		free(rs->v[i].unit);
		free(rs->v[i].self);
		free(rs->v[i].total);
		if (rs->v[i].slices) {
			free(rs->v[i].slices->self);
			free(rs->v[i].slices->total);
			free(rs->v[i].slices);
		}
	}
	free(rs->v);
	intern_release(&rs->units);
	intern_release(&rs->whole);
	map64_release(&rs->edge_of);
	free(rs->edges);
	free(rs->whole_y[0]);
	free(rs->whole_y[1]);
}
