/* What sinks and programs ask of plat: accounts, units, names, and what --by has. */
#include "interval/lat_parts.h"

const uint64_t *lat_account(const struct lat *l, unsigned i, const char **name)
{
	if (i >= l->e.nkinds)
		return NULL;
	*name = l->e.kinds[i].k->name;
	return l->e.kinds[i].count;
}

const struct lat_bounds *lat_bounds(const struct lat *l, unsigned i)
{
	return &l->e.kinds[i].bounds;
}

uint64_t lat_missing(const struct lat *l, unsigned i)
{
	const struct lat_kind *k = &l->e.kinds[i];
	uint64_t restarted = k->count[LAT_RESTARTED];

	if (i == SCHED_BLOCKED)
		restarted -= l->e.unwoken;
	else if (i != SCHED_RUNQ && i != SCHED_ONCPU && i != SCHED_OFFCPU && i != SCHED_IDLE)
		return 0;
	/*
	 * The events of CPUs neither begin nor end all at once: a thread may come from a CPU whose
	 * events go on, or go to one where there are none any more.
	 */
	return k->count[LAT_ESTIMATED] + restarted -
	       (restarted < l->e.cpus ? restarted : l->e.cpus);
}

uint64_t lat_unknown_wakers(const struct lat *l)
{
	return l->e.unknown_wakers;
}

uint64_t lat_doubtful(const struct lat *l)
{
	return l->e.doubtful;
}

uint64_t lat_flushes(const struct lat *l, uint64_t *requests)
{
	*requests = l->e.flushed;
	return l->e.flushes;
}

const struct buf *lat_thinned(const struct lat *l)
{
	return &l->e.thinned;
}

const char *lat_kind_unit(const struct lat *l, unsigned i)
{
	return engine_unit(&l->e, i);
}

const char *lat_name(const struct lat *l, uint32_t id, size_t *len)
{
	return engine_name(&l->e, id, len);
}

bool lat_key_is_number(const struct lat *l, const struct interval *iv)
{
	return engine_key_is_number(&l->e, iv);
}

void lat_key(const struct lat *l, const struct interval *iv, struct buf *b)
{
	engine_key(&l->e, iv, b);
}

int lat_point_write(const struct lat *l, struct swriter *w, uint32_t source,
		    const struct lat_point *p, uint32_t *chain, uint32_t *stack)
{
	*chain = *stack = 0;
	if (!p->chain && !p->stack)
		return 0;
	return lat_stacks_write(l->e.stacks_kept, w, source, p, chain, stack);
}

const char *lat_amount_unit(const struct lat *l, unsigned i)
{
	return l->o->unmatched && l->e.kinds[i].k->amount ? l->e.kinds[i].k->amount_unit : NULL;
}

int lat_text_of(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id)
{
	return engine_string(&l->e, r, string, id);
}

bool lat_kind_on(const struct lat *l, unsigned i)
{
	return l->e.kinds[i].on;
}

bool lat_by_term(const struct lat *l, enum lat_term term)
{
	const struct lat_kind_rows *k = &l->rows.kinds[0];

	for (uint32_t i = 0; i < k->nterms && l->o->by; i++)
		if (k->terms[i] == term)
			return true;
	return false;
}

struct ps_str lat_by_text(const struct lat *l, uint32_t i)
{
	return i < l->e.by.n ? expr_text(l->e.by.v[i], 0) : ps_str(NULL, 0);
}

bool lat_by_is_address(const struct lat *l, uint32_t i)
{
	return l->e.by.hex & (1u << i);
}

unsigned lat_problems(const struct lat *l, struct buf *why, unsigned *by)
{
	*by = 0;
	for (uint32_t i = 0; i < l->e.by.n; i++)
		*by += expr_problems(l->e.by.v[i], why);
	return *by + pair_problems(&l->e, why);
}
