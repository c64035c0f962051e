/*
 * Which of several events is folded, when nobody said: the one with most weight, which is known at
 * the end. Until then the samples of each event have a lane: the first has the tree's own weights,
 * the others a table of the nodes that they were seen at.
 */
#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"
#include "fold/stack_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const char *want, const char *name, size_t len)
{
	return strlen(want) == len && !memcmp(want, name, len);
}

bool fold_by_event(const struct fold_opts *o)
{
	for (uint32_t i = 0; i < o->nby; i++)
		if (!strcmp(o->by[i], "event") || !strcmp(o->by[i], "base_event"))
			return true;
	return false;
}

/*
 * The name that an event is folded by: without the PMU if it is one of a kind of core, unless that
 * is what the user asked for.
 */
static bool without_pmu(const struct fold *f, const char *name, size_t len, struct core_event *e)
{
	const struct fold_opts *o = &f->opts;

	if (o->event && is_text(o->event, name, len))
		return false;
	for (uint32_t i = 0; i < o->nby; i++)
		if (!strcmp(o->by[i], "event"))
			return false;
	return core_event(name, len, e);
}

/* Events that are in a recording for something else than their samples. */
static bool is_helper(const char *name, size_t len)
{
	static const char *const helpers[] = {"dummy", "bpf-output"};

	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++) {
		size_t n = strlen(helpers[i]);

		if (len >= n && !memcmp(name, helpers[i], n) && (len == n || name[n] == ':'))
			return true;
	}
	return false;
}

static uint32_t lane_of(struct fold *f, const char *name, size_t len)
{
	uint32_t id = intern_find(&f->lane_names, name, len);

	if (id)
		return id;
	if (f->lane_names.n == FOLD_EVENTS_MAX)
		return FOLD_LEAVE;
	f->lanes[f->lane_names.n + 1] = calloc(1, sizeof(struct fold_lane));
	if (!f->lanes[f->lane_names.n + 1] || intern_add(&f->lane_names, name, len, &id, NULL)) {
		free(f->lanes[f->lane_names.n + 1]);
		f->lanes[f->lane_names.n + 1] = NULL;
		f->lane_err = PP_ENOMEM;
		return FOLD_LEAVE;
	}
	return id;
}

uint32_t fold_event(struct fold *f, const char *name, size_t len)
{
	const char *want = f->opts.event;
	struct core_event e;
	uint32_t lane;

	if (want && *want)
		return event_fits(want, strlen(want), name, len) ? 0 : FOLD_LEAVE;
	if (!len || fold_by_event(&f->opts))
		return 0;
	/* Text names the event of each sample, mostly the same. */
	if (f->last_lane && f->last_event.len == len && !memcmp(f->last_event.data, name, len))
		return f->last_lane;
	lane = without_pmu(f, name, len, &e) ? lane_of(f, e.name, e.len) : lane_of(f, name, len);
	if (lane == FOLD_LEAVE) {
		f->others_more++;
		return lane;
	}
	buf_reset(&f->last_event);
	buf_add(&f->last_event, name, len);
	f->last_lane = f->last_event.err ? 0 : lane;
	return lane;
}

void fold_note(struct fold *f, uint32_t lane, const char *name, size_t len, const char *unit,
	       size_t unit_len)
{
	struct fold_about *a = &f->lanes[lane]->now;
	struct core_event e;

	if (!without_pmu(f, name, len, &e)) {
		fold_about_event(a, name, len, unit, unit_len);
		return;
	}
	fold_about_event(a, e.name, e.len, unit, unit_len);
	fold_about_pmu(a, e.pmu, e.pmu_len);
}

struct fold_about *fold_lane_about(struct fold *f, uint32_t lane)
{
	return lane <= f->lane_names.n ? &f->lanes[lane]->now : NULL;
}

void fold_sample(struct fold *f, uint32_t lane, uint64_t weight, bool told, bool stack)
{
	struct fold_lane *l = f->lanes[lane];

	if (!f->seen)
		f->owner = lane;
	f->lane = lane;
	f->unweighed |= !weight;
	if (told)
		fold_period(&l->periods, weight);
	l->folded += stack;
	l->bare += !stack;
	f->account.folded += stack;
	f->account.bare += !stack;
	if (__builtin_add_overflow(l->weight, weight, &l->weight))
		l->weight = UINT64_MAX;
}

void fold_weigh(struct fold *f, uint32_t node, uint64_t weight)
{
	uint64_t sum = weights_get(&f->weights, node);

	if (!sum) {
		f->seen += !(f->paths.names[node] & PATHS_MARK);
		f->paths.names[node] |= PATHS_MARK;
	}
	if (__builtin_add_overflow(sum, weight, &sum)) {
		sum = UINT64_MAX;
		f->saturated = true;
	}
	if (weights_set(&f->weights, node, sum))
		f->lane_err = PP_ENOMEM;
	if (__builtin_add_overflow(f->account.weight, weight, &f->account.weight))
		f->account.weight = UINT64_MAX;
}

void fold_lane_add(struct fold *f, uint32_t node, uint64_t weight)
{
	struct fold_lane *l = f->lanes[f->lane];
	bool fresh;
	uint32_t *at = map64_put(&l->at, node, &fresh);
	struct fold_run *v;

	if (!at) {
		f->lane_err = PP_ENOMEM;
		return;
	}
	if (fresh) {
		v = array_widen(l->v, &l->cap, l->n, 1024, sizeof(*v));
		if (!v) {
			f->lane_err = PP_ENOMEM;
			return;
		}
		l->v = v;
		v[l->n] = (struct fold_run){.node = node};
		*at = l->n++;
	}
	if (__builtin_add_overflow(l->v[*at].weight, weight, &l->v[*at].weight))
		l->v[*at].weight = UINT64_MAX;
}

/* ---- what a source tells ---- */

int fold_about_clash(struct fold *f, const struct fold_about *a, const struct fold_about *before,
		     const char *name)
{
	struct buf b = BUF_INIT;

	if (!fold_about_clashes(before, a))
		return 0;
	buf_adds(&b, "counts ");
	fold_about_describe(a, &b);
	buf_adds(&b, ", but the input before counts ");
	fold_about_describe(before, &b);
	diag_error(f->diag, name, -1, "%s: their sum would be meaningless", buf_str(&b));
	buf_release(&b);
	return PP_EMISMATCH;
}

int fold_tell(struct fold *f, const struct fold_about *a, const char *name)
{
	struct fold_about *all = &f->account.about;
	int rc = 0;

	/* Each event has a root of its own: they are not added up. */
	if (fold_by_event(&f->opts) && *a->event) {
		fold_about_event(all, a->event, strlen(a->event), a->unit, strlen(a->unit));
		all->units |= a->units;
		if (all->units)
			*all->unit = 0;
	} else {
		rc = fold_about_clash(f, a, all, name);
	}
	if (rc)
		return rc;
	fold_about_merge(all, a);
	if (all->units)
		*all->unit = 0;
	return 0;
}

int fold_tell_lanes(struct fold *f, const struct fold_about *from, const char *name)
{
	int rc = f->lane_err;

	for (uint32_t i = 0; i <= f->lane_names.n; i++) {
		struct fold_lane *l = f->lanes[i];
		struct fold_about *a = &l->now;
		uint64_t samples = l->folded + l->bare;

		a->samples = samples - l->told;
		if (a->samples && !*a->event && !*a->unit && !a->units)
			f->untold += a->samples;
		else if (a->samples && !rc) {
			a->err = a->err ? a->err : from->err;
			a->marked = from->marked;
			memcpy(a->from, from->from, sizeof(a->from));
			memcpy(a->chains, from->chains, sizeof(a->chains));
			if (!i)
				rc = fold_tell(f, a, name);
			else if (!(rc = fold_about_clash(f, a, &l->all, name)))
				fold_about_merge(&l->all, a);
		}
		l->told = samples;
		*a = (struct fold_about){0};
	}
	f->lane = 0;
	f->last_lane = 0;
	return rc;
}

/* ---- the choice ---- */

/*
 * The lane to fold; 0: there is only what has no choice. Weights that are not told of some event
 * cannot be compared: then it is the one with most samples.
 */
static uint32_t best_lane(const struct fold *f)
{
	uint64_t most = 0;
	uint32_t best = 0;
	bool helper = true;

	for (uint32_t i = 1; i <= f->lane_names.n; i++) {
		const struct fold_lane *l = f->lanes[i];
		size_t len;
		const char *name = intern_get(&f->lane_names, i, &len);
		uint64_t samples = l->folded + l->bare, w = f->unweighed ? samples : l->weight;
		bool help = is_helper(name, len);

		if (!samples)
			continue;
		if (f->opts.prefer && event_same(f->opts.prefer, strlen(f->opts.prefer), name, len))
			return i;
		if (!best || (helper && !help) || (helper == help && w > most)) {
			best = i;
			most = w;
			helper = help;
		}
	}
	return best;
}

/* The weights of what others than the owner of the tree's have. */
static void keep_lane(struct fold *f, const struct fold_lane *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		fold_weigh(f, l->v[i].node, l->v[i].weight);
}

/* The runs of a chart that are of two lanes: equal ones in a row may have become neighbours. */
static void keep_runs(struct fold *f, uint32_t lane)
{
	uint32_t n = f->nruns;

	f->nruns = 0;
	for (uint32_t i = 0; i < n; i++)
		if (f->runs[i].lane == lane || !f->runs[i].lane)
			fold_chart_add(f, f->runs[i].node, f->runs[i].weight);
}

const char *fold_interned(const void *ctx, uint32_t i, size_t *len)
{
	return intern_get(ctx, i + 1, len);
}

/* A line that names what is left out. */
static void warn_left_out(struct fold *f, uint32_t chosen)
{
	const struct event_names all = {fold_interned, &f->lane_names, f->lane_names.n};
	struct buf b = BUF_INIT, name = BUF_INIT;
	struct core_event e;

	for (uint32_t i = 1; i <= f->lane_names.n; i++) {
		const uint64_t n = f->lanes[i]->folded + f->lanes[i]->bare;
		size_t len;
		const char *s = intern_get(&f->lane_names, i, &len);

		if (event_short_name(s, len, &all, &e))
			s = e.name, len = e.len;
		if (i == chosen)
			buf_add_safe(&name, s, len);
		if (i == chosen || !n)
			continue;
		buf_adds(&b, b.len ? ", " : "");
		buf_add_safe(&b, s, len);
		buf_addf(&b, " (%" PRIu64 ")", n);
	}
	if (f->others_more)
		buf_addf(&b, "%smore (%" PRIu64 ")", b.len ? ", " : "", f->others_more);
	if (b.len)
		diag_warn(
			f->diag, NULL, -1,
			"only samples of %s are folded; left out: %s; the default is the event "
			"with the most weight: select with --event, or give each a root with --by "
			"event",
			buf_str(&name), buf_str(&b));
	buf_release(&b);
	buf_release(&name);
}

static void add_periods(struct fold_periods *to, const struct fold_periods *from)
{
	to->zero += from->zero;
	to->absurd += from->absurd;
}

int fold_choose(struct fold *f)
{
	struct fold_account *a = &f->account;
	uint32_t best;
	int rc = f->lane_err;

	if (f->chosen)
		return rc;
	f->chosen = true;
	best = best_lane(f);
	add_periods(&a->periods, &f->lanes[0]->periods);
	if (!best)
		return rc;
	add_periods(&a->periods, &f->lanes[best]->periods);
	if (f->owner && f->owner != best) {
		for (uint32_t i = 0; i < f->paths.n; i++) {
			(void)weights_set(&f->weights, i, 0);
			f->paths.names[i] &= ~PATHS_MARK;
		}
		f->seen = 0;
		a->weight = 0;
		f->owner = best;
		keep_lane(f, f->lanes[best]);
	} else if (!f->owner) {
		keep_lane(f, f->lanes[best]);
	}
	if (f->owner)
		keep_lane(f, f->lanes[0]);
	f->lane = f->owner;
	keep_runs(f, best);
	fold_times_keep(f, best);
	for (uint32_t i = 1; i <= f->lane_names.n; i++) {
		if (i == best)
			continue;
		a->folded -= f->lanes[i]->folded;
		a->bare -= f->lanes[i]->bare;
		a->filtered += f->lanes[i]->folded + f->lanes[i]->bare;
	}
	f->lanes[best]->all.samples += f->untold;
	rc = rc ? rc
		: fold_about_clash(f, &f->lanes[best]->all, &a->about,
				   *f->lanes[best]->all.from ? f->lanes[best]->all.from : NULL);
	if (!rc)
		fold_about_merge(&a->about, &f->lanes[best]->all);
	warn_left_out(f, best);
	return rc ? rc : f->lane_err;
}

void fold_lanes_release(struct fold *f)
{
	for (uint32_t i = 0; i <= FOLD_EVENTS_MAX; i++) {
		if (!f->lanes[i])
			continue;
		map64_release(&f->lanes[i]->at);
		free(f->lanes[i]->v);
		free(f->lanes[i]);
	}
	intern_release(&f->lane_names);
	buf_release(&f->last_event);
}
