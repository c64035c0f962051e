/*
 * Profiles whose commands differ: "old" and "new" are two builds of one program, and what they call
 * is to be compared, not to be all new and all gone.
 */
#include "draw/flame_tree.h"

#include "base/array.h"
#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS_MAX 8	 /* of each side, those with most */
#define ALIKE	     .25 /* of the smaller one's counts, so much has to be in the same stacks */

/* Commands of one side alone. */
struct side {
	uint32_t node[COMMANDS_MAX];
	long double total[COMMANDS_MAX];
	size_t n;
};

struct match {
	struct flame *f;
	struct side side[2];
	struct flame_sums sums;
	uint32_t *to; /* by node: the one that it is taken for */
	uint32_t n;   /* nodes to begin with */
	bool shared;  /* both sides have some command */
};

/* Keeps those with most, in their order. */
static void add(struct side *s, uint32_t node, long double total)
{
	size_t at = s->n < COMMANDS_MAX ? s->n++ : COMMANDS_MAX - 1;

	if (at == COMMANDS_MAX - 1 && s->total[at] >= total)
		return;
	for (; at && s->total[at - 1] < total; at--) {
		s->node[at] = s->node[at - 1];
		s->total[at] = s->total[at - 1];
	}
	s->node[at] = node;
	s->total[at] = total;
}

static long double total(const struct match *m, bool new, uint32_t node)
{
	return (new ? m->sums.now : m->sums.base)[m->sums.at[node]];
}

static void find(struct match *m)
{
	const struct flame *f = m->f;

	for (uint32_t run = 1; run < f->paths.nruns; run++) {
		const struct path_run *r = &f->paths.runs[run];
		bool base, new;

		if (r->depth != 1)
			continue;
		base = total(m, false, r->first) > 0;
		new = total(m, true, r->first) > 0;
		m->shared |= base && new;
		if (base != new)
			add(&m->side[new], r->first, total(m, new, r->first));
	}
}

/* What of `base` is in the same stacks as of `new`, a part of the smaller one. 0 or an error. */
static int alike(struct match *m, uint32_t base, uint32_t new, long double *part)
{
	struct flame *f = m->f;
	long double all[2] = {total(m, false, FLAME_ROOT), total(m, true, FLAME_ROOT)};
	long double sum = 0, least;
	int rc = 0;

	memset(m->to, 0, m->n * sizeof(*m->to));
	m->to[base] = new;
	least = fminl(total(m, false, base) / all[0], total(m, true, new) / all[1]);
	for (uint32_t i = base + 1; i < m->n && !rc; i++) {
		uint32_t above = m->to[paths_parent(&f->paths, i)];

		if (above == FLAME_ROOT)
			continue;
		rc = flame_callee(f, above, paths_name(&f->paths, i), false, &m->to[i]);
		if (m->to[i] != FLAME_ROOT)
			sum += fminl(flame_base(f, i) / all[0], flame_self(f, m->to[i]) / all[1]);
	}
	*part = least > 0 ? sum / least : 0;
	return rc;
}

/* The counts of the base below a command go to the same frames below the other. */
static int move(struct match *m, uint32_t base, uint32_t new)
{
	struct flame *f = m->f;
	struct flame_counts *c = &f->diff->base;
	int rc = 0;

	memset(m->to, 0, m->n * sizeof(*m->to));
	for (uint32_t i = base; i < m->n && !rc; i++) {
		uint32_t above = m->to[paths_parent(&f->paths, i)];

		if (i != base && above == FLAME_ROOT)
			continue;
		m->to[i] = new;
		if (i != base)
			rc = flame_callee(f, above, paths_name(&f->paths, i), true, &m->to[i]);
		if (!rc)
			rc = flame_set(f, c, m->to[i], flame_base(f, m->to[i]) + flame_base(f, i));
		if (!rc)
			rc = flame_set(f, c, i, 0);
		f->account.frames--;
	}
	return rc;
}

static void say(struct match *m, uint32_t base, uint32_t new)
{
	struct buf *b = &m->f->diff->matched;
	const struct paths *p = &m->f->paths;
	size_t len;
	const char *name = intern_get(&m->f->names, paths_name(p, base), &len);

	buf_adds(b, b->len ? "; " : "");
	buf_add_safe(b, name, len);
	buf_adds(b, " is compared with ");
	name = intern_get(&m->f->names, paths_name(p, new), &len);
	buf_add_safe(b, name, len);
}

/* Of all pairs, the one that is most alike; *found: there is one. */
static int match_best(struct match *m, bool *found)
{
	struct side *base = &m->side[0], *new = &m->side[1];
	bool alone = !m->shared && base->n == 1 && new->n == 1;
	long double best = alone ? -1 : ALIKE, part;
	size_t a = 0, b = 0;
	int rc = 0;

	*found = false;
	for (size_t i = 0; i < base->n; i++)
		for (size_t k = 0; k < new->n && !rc; k++) {
			if (!base->node[i] || !new->node[k])
				continue;
			rc = alike(m, base->node[i], new->node[k], &part);
			if (part <= best)
				continue;
			*found = true;
			best = part;
			a = i;
			b = k;
		}
	if (rc || !*found)
		return rc;
	say(m, base->node[a], new->node[b]);
	rc = move(m, base->node[a], new->node[b]);
	base->node[a] = new->node[b] = FLAME_ROOT;
	return rc ? rc : m->f->diff->matched.err;
}

int flame_diff_match(struct flame *f)
{
	struct match m = {.f = f, .n = f->paths.n};
	bool more = true;
	int rc = flame_sums_make(f, &m.sums);

	m.to = malloc(m.n * sizeof(*m.to));
	if (!rc && !m.to)
		rc = PP_ENOMEM;
	if (!rc)
		find(&m);
	while (!rc && more && m.side[0].n && m.side[1].n)
		rc = match_best(&m, &more);
	flame_sums_release(&m.sums);
	free(m.to);
	return rc;
}
