/*
 * Functions that were inlined into their callers in one build and not in the other: what the
 * caller takes more is what its callee had. Like another name, that is no regression.
 */
#include "diff/compare.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

#define VANISHED    .1	/* a call that has less than this part of the other side's is no more */
#define SAME_FACTOR .1	/* how much what was taken over may differ */
#define REST_FACTOR .25 /* and if what it differs by does not matter */
#define CHAIN_MAX   64	/* callers beyond callers that were inlined as well */

/* One direction: calls of side `from` that side `to` does not have. */
struct moved {
	const struct compare *c;
	struct family *f;
	int from, to;
	double *gets;	  /* by unit: the share that was its callees' */
	double *next;	  /* what is still to be handed to callers */
	double *calls[2]; /* by unit: total of the calls of it */
	uint32_t *heir;	  /* by unit: its main caller, if it has calls that are no more; 0: none */
	uint32_t *giver;  /* by unit: the callee of which it got most */
	double *most;	  /* and how much */
	uint32_t *row;	  /* by unit: index of its row, from 1 */
};

static double self_share(const struct moved *m, const struct run_edge *e, int side)
{
	return e->self[side] / m->c->sides[side];
}

static bool vanished(const struct moved *m, const struct run_edge *e)
{
	double before = e->total[m->from] / m->c->sides[m->from];

	return before > 0 && e->total[m->to] / m->c->sides[m->to] <= VANISHED * before;
}

/* The unit is called on one side only: what it got goes to its callers, too. */
static bool is_absent(const struct moved *m, uint32_t unit)
{
	return m->calls[m->from][unit] > 0 && !(m->calls[m->to][unit] > 0);
}

static void give(struct moved *m, const struct run_edge *e, double share)
{
	m->next[e->caller] += share;
	m->gets[e->caller] += share;
	if (share > m->most[e->caller]) {
		m->most[e->caller] = share;
		m->giver[e->caller] = e->callee;
	}
}

/* Hands what the vanished callees had to their callers, and on where these have vanished. */
static int hand_on(struct moved *m, size_t units)
{
	const struct runs *rs = m->c->rs;
	double *now = calloc(units, sizeof(*now)), *best = calloc(units, sizeof(*best)), *old;
	bool more = false;
	int rc;

	for (uint32_t i = 0; now && best && i < rs->nedges; i++) {
		const struct run_edge *e = &rs->edges[i];
		double share = self_share(m, e, m->from) - self_share(m, e, m->to);

		m->calls[0][e->callee] += e->total[0];
		m->calls[1][e->callee] += e->total[1];
		if (!vanished(m, e))
			continue;
		if (share > 0)
			give(m, e, share);
		more = true;
		if (e->total[m->from] > best[e->callee]) {
			best[e->callee] = e->total[m->from];
			m->heir[e->callee] = e->caller;
		}
	}
	for (int round = 0; now && best && more && round < CHAIN_MAX; round++) {
		old = now;
		now = m->next;
		m->next = old;
		memset(m->next, 0, units * sizeof(*m->next));
		more = false;
		for (uint32_t i = 0; i < rs->nedges; i++) {
			const struct run_edge *e = &rs->edges[i];

			if (!(now[e->callee] > 0) || !is_absent(m, e->callee))
				continue;
			give(m, e,
			     now[e->callee] * e->total[m->from] / m->calls[m->from][e->callee]);
			more = true;
		}
	}
	rc = now && best ? 0 : PP_ENOMEM;
	free(best);
	free(now);
	return rc;
}

static bool is_same(const struct diff_row *r, double share)
{
	double rest = fabs(fabs(r->diff) - share);

	return rest <= SAME_FACTOR * share || (rest <= REST_FACTOR * share && rest < r->effect);
}

/* Whether a row's difference has the sign of `side`: more on it than on the other. */
static bool has_more(const struct diff_row *r, int side)
{
	return r->verdict < DIFF_RENAMED && (side ? r->diff > 0 : r->diff < 0);
}

static struct diff_row *row_of(const struct moved *m, uint32_t unit)
{
	return m->row[unit] ? &m->f->rows[m->row[unit] - 1] : NULL;
}

/* The function that is there on both sides and called the unit, perhaps through others. */
static uint32_t heir_of(const struct moved *m, uint32_t unit)
{
	unit = m->heir[unit];
	for (int i = 0; unit && i < CHAIN_MAX && is_absent(m, unit); i++)
		unit = m->heir[unit];
	return unit;
}

static void set(struct diff_row *r, uint32_t partner, bool callee)
{
	r->verdict = DIFF_INLINED;
	r->partner = partner;
	r->callee = callee;
}

/* By self: callers that took over what callees had, then these callees. */
static void judge_self(struct moved *m)
{
	for (size_t i = 0; i < m->f->tested; i++) {
		struct diff_row *r = &m->f->rows[i];

		if (has_more(r, m->to) && m->gets[r->unit] > 0 && is_same(r, m->gets[r->unit]))
			set(r, m->giver[r->unit], false);
	}
	for (size_t i = 0; i < m->f->tested; i++) {
		struct diff_row *r = &m->f->rows[i];
		uint32_t heir = heir_of(m, r->unit);
		const struct diff_row *took = row_of(m, heir);

		if (has_more(r, m->from) && took && took->verdict == DIFF_INLINED &&
		    fabs(r->diff) <= m->gets[heir] * (1 + SAME_FACTOR))
			set(r, heir, true);
	}
}

/* With callees: what was inlined alone; its caller has the same as before. */
static void judge_total(struct moved *m)
{
	const struct family *self = &m->c->families[0];

	for (size_t i = 0; i < self->tested; i++)
		m->row[self->rows[i].unit] = (uint32_t)i + 1;
	for (size_t i = 0; i < m->f->tested; i++) {
		struct diff_row *r = &m->f->rows[i];
		uint32_t heir = heir_of(m, r->unit);

		if (has_more(r, m->from) && is_absent(m, r->unit) && m->row[heir] &&
		    self->rows[m->row[heir] - 1].verdict == DIFF_INLINED)
			set(r, heir, true);
	}
}

static int judge(struct compare *c, struct family *f, int from)
{
	size_t units = c->rs->units.n + 1;
	double *v = calloc(5 * units, sizeof(*v)), *next = calloc(units, sizeof(*v));
	uint32_t *ids = calloc(3 * units, sizeof(*ids));
	struct moved m = {.c = c, .f = f, .from = from, .to = !from, .next = next};
	int rc = PP_ENOMEM;

	if (v && next && ids) {
		m.gets = v;
		m.most = v + units;
		m.calls[0] = v + 2 * units;
		m.calls[1] = v + 3 * units;
		m.heir = ids;
		m.giver = ids + units;
		m.row = ids + 2 * units;
		for (size_t i = 0; !f->total && i < f->tested; i++)
			m.row[f->rows[i].unit] = (uint32_t)i + 1;
		rc = hand_on(&m, units);
	}
	if (!rc && f->total)
		judge_total(&m);
	else if (!rc)
		judge_self(&m);
	free(v);
	free(m.next);
	free(ids);
	return rc;
}

int compare_inlined(struct compare *c, struct family *f)
{
	int rc = c->gated && c->rs->nedges ? judge(c, f, DIFF_BASE) : 0;

	return rc || !c->gated || !c->rs->nedges ? rc : judge(c, f, DIFF_OTHER);
}
