/*
 * From intervals to rows of tables: what the engines find is counted here, by the marks of its
 * events, and goes to the table of its kind, or to the sink of plat's options.
 */
#include "event/glob.h"
#include "interval/lat_parts.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_BEGIN 1000 /* ns: the first automatic width */

/* Automatic windows become wider, by 2 and by 5 in turn, so that each is made of whole ones. */
static int window_key(struct lat *l, uint64_t time, uint64_t *key)
{
	int rc = 0;

	if (time < l->rows.first)
		l->rows.first = time;
	if (time > l->rows.last)
		l->rows.last = time;
	while (l->o->window == LAT_WINDOW_AUTO && l->rows.window < UINT64_MAX / 8 &&
	       (l->rows.last - l->rows.first) / l->rows.window >= LAT_WINDOWS - 1 && !rc) {
		l->rows.window *= l->rows.widened++ & 1 ? 2 : 5;
		for (uint32_t i = 0; i < l->rows.tables.n && !rc; i++)
			rc = table_rekey(l->rows.tables.v[i], 0, TABLE_WINDOW, l->rows.window);
	}
	*key = time - time % l->rows.window;
	return rc;
}

/* Whether intervals of a thread are asked for; without a process it is known by its own number. */
static bool wants(const struct lat *l, const struct lat_who *w)
{
	const struct lat_opts *o = l->o;
	uint32_t pid = w->pid != PS_NONE ? w->pid : w->tid;
	const char *name;
	bool is = !o->npids;
	size_t len;

	for (uint32_t i = 0; i < o->npids && !is; i++)
		is = o->pids[i] == pid;
	if (!is || !o->comms)
		return is;
	name = engine_name(&l->e, w->comm, &len);
	is = false;
	for (const char *p = o->comms; *p && !is;) {
		size_t n = strcspn(p, ",");

		is = glob_match(p, n, name, len);
		p += n + (p[n] == ',');
	}
	return is;
}

static struct lat_quick *quick_slot(const struct lat_kind_rows *k, uint64_t key)
{
	return &k->recent[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LAT_RECENT_BITS)];
}

static bool quick_is(const struct lat_kind_rows *k, const struct lat_quick *q, uint64_t key)
{
	return q->key == key && q->generation == k->table->generation + 1;
}

/* The cache line of its counter arrives while the next events are read: it is counted then. */
static void count_later(struct lat *l, struct hist *h, uint32_t i)
{
	struct lat_pending *p = &l->rows.pending[l->rows.npending++ % LAT_PENDING];

	__builtin_prefetch(&h->fine.counts[i], 1);
	if (p->h)
		hist_count(p->h, p->i);
	*p = (struct lat_pending){h, i};
}

void lat_rows_settle(struct lat *l)
{
	for (struct lat_pending *p = l->rows.pending; p < l->rows.pending + LAT_PENDING; p++) {
		if (p->h)
			hist_count(p->h, p->i);
		p->h = NULL;
	}
}

/* As lat_sink.brief. */
static bool on_brief(void *ctx, uint32_t kind, uint64_t key, const struct lat_point *start,
		     const struct lat_point *end)
{
	struct lat *l = ctx;
	struct lat_kind_rows *k = &l->rows.kinds[kind];
	struct lat_quick *q;
	struct hist *h;
	uint32_t i;

	/* Where there are recent rows, intervals of the kind go to rows. */
	if (!k->recent || l->o->npids || l->o->comms || start->mark != PS_MARK_PASS ||
	    end->time < start->time)
		return false;
	q = quick_slot(k, key);
	if (!quick_is(k, q, key))
		return false;
	h = table_cell(k->table, q->row, 0);
	if (!hist_near(h, end->time - start->time, start->time, &i))
		return false;
	count_later(l, h, i);
	k->account->count[LAT_INTERVALS]++;
	return true;
}

/* Adds an interval to the row that it belongs to, of a kind whose rows can be remembered. */
static int add_quick(struct lat *l, struct lat_kind_rows *k, const struct interval *iv)
{
	uint32_t how = iv->state ? iv->state : iv->cause;
	uint64_t quick = lat_quick_key(iv->who.comm, iv->name, how), key[LAT_BY_MAX];
	struct lat_quick *q;
	int rc = k->table ? 0 : lat_terms_table(l, k, iv);

	if (rc)
		return rc;
	if (!k->recent)
		k->recent = calloc(LAT_RECENT, sizeof(*k->recent));
	if (!k->recent)
		return PP_ENOMEM;
	q = quick_slot(k, quick);
	if (quick_is(k, q, quick))
		return table_add(k->table, q->row, 0, (hist_int)iv->dur, iv->start.time);
	*q = (struct lat_quick){.key = quick};
	for (uint32_t i = 0; i < k->nterms && !rc; i++)
		rc = lat_term_key(l, k, i, i, iv, &key[i]);
	if (!rc)
		rc = table_row(k->table, key, &q->row);
	if (rc)
		return rc;
	q->generation = k->table->generation + 1;
	return table_add(k->table, q->row, 0, (hist_int)iv->dur, iv->start.time);
}

/* Adds an interval to the row that it belongs to. */
static int add(struct lat *l, struct lat_kind_rows *k, const struct interval *iv)
{
	uint64_t key[LAT_BY_MAX + 2];
	uint32_t n = 0, v = 0, row;
	int rc = k->table ? 0 : lat_terms_table(l, k, iv);

	if (rc)
		return rc;
	if (l->rows.window)
		rc = window_key(l, iv->start.time, &key[n++]);
	if (!rc)
		rc = lat_terms_fit(l, k, n, iv);
	for (uint32_t i = 0; i < k->nterms && !rc; i++, n++)
		rc = lat_term_key(l, k, i, n, iv, &key[n]);
	if (l->o->unmatched && !rc)
		rc = lat_text_key(l, k, iv->start.text, &key[n++]);
	if (!rc)
		rc = table_row(k->table, key, &row);
	if (!rc && l->o->unmatched && k->k->amount)
		rc = table_add(k->table, row, v++, (hist_int)iv->amount, iv->start.time);
	if (!rc)
		rc = table_add(k->table, row, v, (hist_int)iv->dur, iv->start.time);
	return rc;
}

/* What is known of an interval without one of its ends. */
static void count_estimated(struct lat_kind *k, const struct interval *iv)
{
	k->count[LAT_ESTIMATED]++;
	k->bounds.sum += iv->dur;
	k->bounds.low += iv->dur > iv->less ? iv->dur - iv->less : 0;
	k->bounds.high += iv->dur + iv->more;
}

/* As lat_sink.interval: it is counted, by its marks, and goes to the tables or the sink. */
static int on_interval(void *ctx, struct interval *iv, uint64_t from, uint64_t to)
{
	struct lat *l = ctx;
	struct lat_kind_rows *k = &l->rows.kinds[iv->kind];
	uint32_t start = iv->start.mark, end = iv->end.mark;

	if ((start != PS_MARK_PASS && (start != PS_MARK_NA || end != PS_MARK_PASS)) ||
	    !wants(l, &iv->who)) {
		k->account->count[LAT_FILTERED]++;
		return 0;
	}
	if (to < from) {
		k->account->count[LAT_NEGATIVE]++;
		return 0;
	}
	k->account->count[LAT_INTERVALS]++;
	k->by_end += start != PS_MARK_PASS;
	iv->dur = to - from;
	if (iv->estimated)
		count_estimated(k->account, iv);
	if (!k->account->on || l->o->unmatched || l->o->threads)
		return 0;
	if (l->o->sink)
		return l->o->sink(l->o->sink_ctx, l, iv);
	lat_rows_settle(l);
	return k->quick ? add_quick(l, k, iv) : add(l, k, iv);
}

/* As lat_sink.open: it is counted, and shown if asked for. */
static int on_open(void *ctx, struct interval *iv, uint64_t from, uint64_t to)
{
	struct lat *l = ctx;
	struct lat_kind_rows *k = &l->rows.kinds[iv->kind];

	k->account->count[LAT_OPEN]++;
	if (!(l->o->unmatched || l->o->open) || !k->account->on || iv->start.mark == PS_MARK_FAIL ||
	    !wants(l, &iv->who))
		return 0;
	iv->dur = to > from ? to - from : 0;
	if (iv->dur < l->o->older)
		return 0;
	iv->end = (struct lat_point){.time = to, .cpu = PS_NONE, .pid = PS_NONE};
	if (l->o->open)
		return l->o->open(l->o->sink_ctx, l, iv);
	return l->o->sink ? l->o->sink(l->o->sink_ctx, l, iv) : add(l, k, iv);
}

/* ---- the table of threads ---- */

int lat_threads_table(struct lat *l, struct tables *ts, struct table **t)
{
	static const struct table_key keys[] = {
		{"comm", TABLE_TEXT, 0}, {"pid", TABLE_SIGNED, 0}, {"tid", TABLE_SIGNED, 0}};
	const char *unit = l->e.texts.unit;
	const struct table_value values[] = {
		{"wall", TABLE_SUM, unit, 0},	  {"run", TABLE_SUM, unit, 0},
		{"runnable", TABLE_SUM, unit, 0}, {"blocked", TABLE_SUM, unit, 0},
		{"unknown", TABLE_SUM, unit, 0},  {"switches", TABLE_SUM, "", 0},
		{"preempted", TABLE_SUM, "", 0},  {"migrations", TABLE_SUM, "", 0},
	};

	return tables_add(ts, "threads", keys, 3, values, 8, t);
}

/* As lat_sink.thread. */
static int on_thread(void *ctx, const struct lat_thread *t)
{
	struct lat *l = ctx;
	const uint64_t values[] = {t->wall,    t->run,	    t->runnable,  t->blocked,
				   t->unknown, t->switches, t->preempted, t->migrations};
	uint64_t key[3] = {0, t->pid == PS_NONE ? UINT64_MAX : t->pid, t->tid};
	uint32_t row;
	size_t len;
	const char *name = engine_name(&l->e, t->comm, &len);
	int rc;

	if (!wants(l, &(struct lat_who){.pid = t->pid, .tid = t->tid, .comm = t->comm}))
		return 0;
	rc = l->rows.threads ? 0 : lat_threads_table(l, &l->rows.tables, &l->rows.threads);

	if (!rc)
		rc = table_text(l->rows.threads, name, len, &key[0]);
	if (!rc)
		rc = table_row(l->rows.threads, key, &row);
	for (uint32_t i = 0; i < 8 && !rc; i++)
		rc = table_add(l->rows.threads, row, i, (hist_int)values[i], t->begin);
	return rc;
}

/* ---- the whole ---- */

int lat_rows_new(struct lat *l, struct buf *why)
{
	int rc;

	tables_init(&l->rows.tables);
	l->e.sink = (struct lat_sink){.ctx = l,
				      .interval = on_interval,
				      .brief = on_brief,
				      .open = on_open,
				      .thread = l->o->threads ? on_thread : NULL};
	l->rows.kinds = calloc(l->e.nkinds, sizeof(*l->rows.kinds));
	if (!l->rows.kinds)
		return PP_ENOMEM;
	for (unsigned i = 0; i < l->e.nkinds; i++) {
		l->rows.kinds[i].k = l->e.kinds[i].k;
		l->rows.kinds[i].account = &l->e.kinds[i];
	}
	l->rows.window = l->o->window == LAT_WINDOW_AUTO ? WINDOW_BEGIN : l->o->window;
	l->rows.first = UINT64_MAX;
	rc = lat_terms_new(l, why);
	for (unsigned i = 0; i < l->e.nkinds; i++)
		l->e.kinds[i].quick = l->rows.kinds[i].quick;
	return rc;
}

void lat_rows_release(struct lat *l)
{
	for (unsigned i = 0; i < l->e.nkinds && l->rows.kinds; i++) {
		map64_release(&l->rows.kinds[i].texts);
		free(l->rows.kinds[i].recent);
	}
	free(l->rows.kinds);
	tables_release(&l->rows.tables);
}
