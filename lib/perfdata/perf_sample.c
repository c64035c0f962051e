/*
 * Samples of a perf.data. The layout is that of PERF_RECORD_SAMPLE in <linux/perf_event.h>: fields
 * in a fixed order, each there when its bit of sample_type is set.
 */
#include "perfdata/decoder.h"

#include "base/err.h"
#include "stream/payload.h"

#include <linux/perf_event.h>

/* ---- call chains ---- */

/*
 * Finds the call chain of a sample whose turn is to come. False: it has none, or that is not
 * simple.
 */
static bool peek_chain(const struct perf_decoder *p, const uint8_t *rec, const uint8_t **ips,
		       uint64_t *n)
{
	const struct perf_attr *a = p->r.info.attrs;
	struct cursor c = cursor_make(rec, 8, false);
	uint32_t type = get_u32(&c);
	size_t size;

	get_u16(&c);
	size = get_u16(&c);
	if (p->r.info.swap || type != PERF_REC_SAMPLE || !p->r.info.alike || !p->r.info.nattrs ||
	    size < 8 || !(a->sample_type & PSB_CALLCHAIN) || a->sample_type & PSB_READ)
		return false;
	c = cursor_make(rec + 8, size - 8, false);
	cursor_skip(&c, 8 * (uint64_t)a->nfront);
	*n = get_u64(&c);
	if (*n > PERF_CHAIN_MAX)
		return false;
	*ips = get_bytes(&c, 8 * *n);
	/* Of a damaged recording they are moved when they are taken. */
	return *ips && (uintptr_t)*ips % 8 == 0;
}

void perf_ahead(void *ctx, const uint8_t *rec)
{
	struct perf_decoder *p = ctx;
	struct perf_ahead *a = &p->ahead;
	uint32_t i = a->in % PERF_AHEAD;
	struct ps_chain soon;

	if (!rec) {
		a->in = a->out = 0;
		return;
	}
	a->in++;
	a->v[i].ips = NULL;
	if (!peek_chain(p, rec, &a->v[i].ips, &a->v[i].n))
		return;
	if (p->w->pack) {
		soon = (struct ps_chain){
			.ips = {(const uint64_t *)(const void *)a->v[i].ips, (uint32_t)a->v[i].n}};
		if (swriter_chain_soon(p->w, i, &soon))
			a->v[i].ips = NULL;
		return;
	}
	a->v[i].hash = hashids_hash(a->v[i].ips, 8 * a->v[i].n);
	hashids_prefetch(&p->out.chains, a->v[i].hash);
}

_Static_assert(PERF_AHEAD <= PS_CHAINS_SOON, "the writer has no places for the chains that follow");

/* The id of a chain in a packed stream; `ahead`: it was cut at this place, + 1. */
static int packed_id(struct perf_decoder *p, const struct ps_chain *c, uint32_t ahead, uint32_t *id)
{
	if (swriter_parts(p->w, PS_CHAINS) >= PS_PARTS_LIVE)
		swriter_restart(p->w, PS_CHAINS);
	return ahead ? swriter_chain_now(p->w, p->source, ahead - 1, id)
		     : swriter_chain(p->w, p->source, c, id);
}

static int chain_id(struct perf_decoder *p, const uint64_t *ips, uint64_t n, uint32_t *id)
{
	struct ps_chain rec;
	bool fresh;
	uint32_t now = p->ahead.now;
	struct hashids_hash hash;
	int rc;

	if (now && (p->ahead.v[now - 1].ips != (const uint8_t *)ips || p->ahead.v[now - 1].n != n))
		now = 0;
	if (p->w->pack)
		return packed_id(p, &(struct ps_chain){.ips = {ips, (uint32_t)n}}, now, id);
	if (now)
		hash = p->ahead.v[now - 1].hash;
	else
		hash = hashids_hash(ips, n * 8);
	rc = hashids_get_hashed(&p->out.chains, hash, n * 8, id, &fresh);
	if (rc || !fresh)
		return rc;
	rec = (struct ps_chain){.id = *id, .ips = {ips, (uint32_t)n}};
	return perf_put(p, PS_CHAIN, &rec);
}

static int put_chain(struct perf_decoder *p, struct perf_taken *t)
{
	const uint64_t *ips = t->ips;
	uint64_t n = t->nips;

	if (n >= 2 && ips[n - 2] == PERF_CTX_USER_DEFERRED) {
		uint64_t *merged;

		if (buf_reserve(&p->deferred.merged, 8 * PERF_CHAIN_MAX))
			return PP_ENOMEM;
		merged = (uint64_t *)(void *)p->deferred.merged.data;
		n = perf_deferred_merge(p, t->s.tid, t->ips, n, merged);
		if (n)
			ips = merged;
		else
			n = t->nips - 2; /* the cookie is no address */
	}
	if (!n)
		return 0;
	t->s.fields |= PS_HAS(chain);
	return chain_id(p, ips, n, &t->s.chain);
}

/* ---- the whole ---- */

static int unknown_event(struct perf_decoder *p)
{
	p->account->missing++;
	diag_warn(p->r.info.d, p->r.info.name, -1,
		  "a sample has the id of no event: it is skipped");
	return 0;
}

/*
 * Whose sample it is. A thread that is about to end has no number any more: the kernel records -1.
 * In the payload of a tracepoint its number still is (common_pid, which all formats have at offset
 * 4); of other events at most the process is known.
 */
static int name_thread(struct perf_decoder *p, const struct perf_attr *a, struct ps_sample *s)
{
	uint32_t tid = s->tid;

	if (tid != PS_NONE)
		return perf_comm(p, tid, &s->comm);
	s->flags |= PS_SAMPLE_EXITED;
	if (a->type == PERF_TYPE_TRACEPOINT && a->fields.len && s->payload.len >= 8) {
		memcpy(&s->tid, s->payload.p + 4, sizeof(s->tid));
		tid = s->tid;
	} else {
		tid = s->pid;
	}
	return perf_comm(p, tid, &s->comm);
}

/* All at once, before the first sample: who prints lines knows the longest name. */
static int describe_event(struct perf_decoder *p, struct perf_attr *a)
{
	if (p->out.events && a->written)
		return 0;
	return p->out.events ? perf_event_write(p, a) : perf_event_write_all(p);
}

static uint32_t flags_of_misc(uint16_t misc)
{
	uint32_t flags = (uint32_t)(misc & PERF_MISC_CPUMODE) << PS_SAMPLE_MODE_SHIFT;

	return misc & PERF_MISC_EXACT_IP ? flags | PS_SAMPLE_EXACT_IP : flags;
}

int perf_sample(struct perf_decoder *p, uint8_t *rec, size_t size, uint64_t time)
{
	struct cursor c = cursor_make(rec, size, p->r.info.swap);
	struct perf_taken t;
	struct perf_attr *a;
	uint16_t misc;
	int rc;

	get_u32(&c);
	misc = get_u16(&c);
	get_u16(&c);
	a = perf_attr_of_sample(&p->r.info, c.p, cursor_left(&c));
	if (!a)
		return unknown_event(p);
	rc = describe_event(p, a);
	if (rc)
		return rc;
	rc = perf_sample_take(&p->r.info, a, &c, &t);
	if (rc) {
		p->account->missing++;
		perf_damage(&p->r.info, PP_ECORRUPT, -1,
			    "a sample is shorter than its event requires");
		return 0;
	}
	t.s.time = time;
	t.s.event = a->event;
	t.s.flags |= flags_of_misc(misc);
	if (!time) {
		t.s.flags |= PS_SAMPLE_NO_TIME;
		p->tally.untimed += a->time_pos >= 0;
	}
	if (t.nips) {
		rc = put_chain(p, &t);
		if (rc)
			return rc;
	}
	rc = a->sample_type & PSB_TID ? name_thread(p, a, &t.s) : 0;
	if (rc)
		return rc;
	return ps_sample_has(&t.s, reads) ? perf_sample_values(p, &t.s)
					  : swriter_sample(p->w, p->source, &t.s);
}
