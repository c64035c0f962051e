/* plat --emit: intervals as samples of an event stream, beside the context records of the input. */
#include "interval/lat_out.h"

#include "base/err.h"

#include <string.h>

#define KEY_MAX 4096 /* bytes of a key that is a text */

void lat_emit_release(struct lat_emit *e)
{
	lat_defined_release(&e->strings);
	buf_release(&e->key);
}

static int put_string(struct lat_emit *e, const struct lat *l, uint32_t source, uint32_t id)
{
	const char *text;
	size_t len;

	if (lat_defined_has(&e->strings, id))
		return 0;
	text = lat_name(l, id, &len);
	return lat_defined_put(&e->strings, e->w, source, id, text, len);
}

static int put_event(struct lat_emit *e, const struct lat *l, uint32_t source, unsigned kind)
{
	struct ps_event ev = {.id = kind + 1,
			      .perf_type = PS_TYPE_MADE,
			      .config = kind,
			      .flags = PS_EVENT_SAMPLED | PS_EVENT_CHAINS};
	const char *name = "", *unit = lat_amount_unit(l, kind);

	if (kind < 64 && e->kinds & UINT64_C(1) << kind)
		return 0;
	if (kind < 64)
		e->kinds |= UINT64_C(1) << kind;
	if (!unit)
		unit = lat_kind_unit(l, kind);
	lat_account(l, kind, &name);
	ev.name = ps_str(name, strlen(name));
	ev.unit = ps_str(unit, strlen(unit));
	return swriter_put(e->w, PS_EVENT, source, &ev);
}

/* The stack of a point, defined where it is not yet. */
static int set_stack(struct lat_emit *e, const struct lat *l, const struct interval *iv,
		     const struct lat_point *p, bool other, struct ps_sample *s)
{
	uint32_t chain, stack;
	int rc = lat_point_write(l, e->w, iv->source, p, &chain, &stack);

	e->missing += p->missing;
	if (rc || (!chain && !stack))
		return rc;
	if (other) {
		s->other_pid = p->pid;
		s->fields |= p->pid != PS_NONE ? PS_HAS(other_pid) : 0;
		s->other_chain = chain;
		s->other_stack = stack;
		s->fields |= (chain ? PS_HAS(other_chain) : 0) | (stack ? PS_HAS(other_stack) : 0);
	} else {
		s->chain = chain;
		s->stack = stack;
		s->fields |= (chain ? PS_HAS(chain) : 0) | (stack ? PS_HAS(stack) : 0);
	}
	return 0;
}

/* Who woke the thread up. */
static int set_waker(struct lat_emit *e, const struct lat *l, const struct interval *iv,
		     struct ps_sample *s)
{
	if (iv->waker.pid != PS_NONE)
		s->fields |= PS_HAS(other_pid);
	if (iv->waker.tid != PS_NONE)
		s->fields |= PS_HAS(other_tid);
	if (iv->waker.comm)
		s->fields |= PS_HAS(other_comm);
	s->other_pid = iv->waker.pid;
	s->other_tid = iv->waker.tid;
	s->other_comm = iv->waker.comm;
	return put_string(e, l, iv->source, iv->waker.comm);
}

/* A text, or several keys, are no number: they become a text. */
static int set_key(struct lat_emit *e, const struct lat *l, const struct interval *iv,
		   struct ps_sample *s)
{
	if (lat_key_is_number(l, iv)) {
		s->key = iv->key;
		s->fields |= PS_HAS(key);
		return 0;
	}
	buf_reset(&e->key);
	lat_key(l, iv, &e->key);
	s->key_text =
		ps_str((const char *)e->key.data, e->key.len < KEY_MAX ? e->key.len : KEY_MAX);
	s->fields |= PS_HAS(key_text);
	return e->key.err;
}

int lat_emit_add(void *ctx, const struct lat *l, const struct interval *iv)
{
	struct lat_emit *e = ctx;
	struct ps_sample s = {.event = iv->kind + 1,
			      .cpu = iv->start.cpu,
			      .time = iv->start.time,
			      .pid = iv->who.pid,
			      .tid = iv->who.tid,
			      .comm = iv->who.comm,
			      .fields = PS_HAS(period) | PS_HAS(weight) | PS_HAS(end_time),
			      .period = lat_amount_unit(l, iv->kind) ? iv->amount : iv->dur,
			      .weight = iv->dur,
			      .end_time = iv->end.time};
	int rc = put_event(e, l, iv->source, iv->kind);

	if (!rc)
		rc = set_key(e, l, iv, &s);
	if (!rc)
		rc = put_string(e, l, iv->source, iv->who.comm);
	if (!rc && iv->wake.time)
		rc = set_waker(e, l, iv, &s);
	if (!rc)
		rc = set_stack(e, l, iv, &iv->start, false, &s);
	if (!rc)
		rc = set_stack(e, l, iv, iv->wake.time ? &iv->wake : &iv->end, true, &s);
	if (rc)
		return rc;
	e->n++;
	return swriter_sample(e->w, iv->source, &s);
}

static int put_comm(struct lat_emit *e, struct lat *l, const struct sreader *r,
		    const struct ps_record *rec)
{
	struct ps_comm c = rec->comm;
	int rc = lat_text_of(l, r, rec->comm.comm, &c.comm);

	if (!rc)
		rc = put_string(e, l, rec->source, c.comm);
	return rc ? rc : swriter_put(e->w, PS_COMM, rec->source, &c);
}

int lat_emit_record(struct lat_emit *e, struct lat *l, const struct sreader *r,
		    const struct ps_record *rec)
{
	int rc = lat_bound(l);

	if (rc)
		return rc;
	if (rec->type == PS_COMM)
		return put_comm(e, l, r, rec);
	if (rec->type != PS_HEADER)
		return lat_context_copy(e->w, rec);
	e->kinds = 0;
	lat_defined_clear(&e->strings);
	return 0;
}
