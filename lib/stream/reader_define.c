/* What the records of a stream define, for its reader; and what is in the other byte order. */
#include "stream/reader_parts.h"

#include "base/err.h"
#include "stream/chunk_marks.h"
#include "stream/payload.h"

#include <stdlib.h>

/*
 * Of a stream in the other byte order, the payloads of tracepoints need the events' field tables.
 */
static bool wanted(const struct sreader *r, unsigned bit)
{
	return !bit || (r->keep & bit) || (r->swap && bit == SREADER_EVENTS);
}

/* The result of keeping a dictionary record. */
static int defined(struct sreader *r, int rc)
{
	if (rc == PP_ECORRUPT)
		return sreader_fail(
			r, rc,
			"a dictionary entry has the id 0, or one far beyond those before it");
	if (rc == PP_ELIMIT)
		return sreader_fail(r, rc, "a dictionary of the stream is too large");
	return rc;
}

/* Which events are helpers: few streams have any. */
static void note_helper(struct sreader *r, const struct ps_event *e)
{
	uint32_t at = 0;

	while (at < r->n_helpers && r->helpers[at] != e->id)
		at++;
	if (at < r->n_helpers && !(e->flags & PS_EVENT_HELPER))
		r->helpers[at] = r->helpers[--r->n_helpers];
	else if (at == r->n_helpers && e->flags & PS_EVENT_HELPER && at < HELPERS_MAX)
		r->helpers[r->n_helpers++] = e->id;
}

bool sreader_helps(const struct sreader *r, const struct ps_sample *s)
{
	for (uint32_t i = 0; i < r->n_helpers; i++)
		if (r->helpers[i] == s->event)
			return true;
	return false;
}

int sreader_define(struct sreader *r, const struct ps_record *rec, const struct ps_typedesc *t)
{
	int rc = 0;

	if (rec->type == PS_EVENT)
		note_helper(r, &rec->event);
	switch (rec->type) {
#define D(type, bit) \
	case PS_##type: \
		if (wanted(r, bit)) \
			rc = dict_set(&r->dicts[DICT_##type], rec->string.id, t, &rec->sample); \
		break;
		DICTS(D)
#undef D
	default: rc = context_take(&r->context, rec);
	}
	return defined(r, rc);
}

int sreader_swap_inside(struct sreader *r, struct ps_record *rec)
{
	const struct ps_event *e;

	if (rec->type == PS_EVENT)
		return ps_fields_swap((uint8_t *)rec->event.fields.p, rec->event.fields.len);
	if (rec->type != PS_SAMPLE || !ps_sample_has(&rec->sample, payload))
		return 0;
	e = sreader_event(r, rec->sample.event);
	if (e)
		ps_payload_swap(&e->fields, (uint8_t *)rec->sample.payload.p,
				rec->sample.payload.len);
	return 0;
}

bool sreader_define_quickly(struct sreader *r, struct ps_record *rec, int *rc)
{
	*rc = 0;
	if (r->swap)
		return false;
	if (rec->type == PS_CHAIN && ps_chain_whole(rec->raw, rec->size, &rec->chain)) {
		if (r->keep & SREADER_CHAINS)
			*rc = dict_set_chain(&r->dicts[DICT_CHAIN], &rec->chain);
	} else if (rec->type == PS_STACK && ps_stack_whole(rec->raw, rec->size, &rec->stack)) {
		if (r->keep & SREADER_SYMBOLS)
			*rc = dict_set_stack(&r->dicts[DICT_STACK], &rec->stack);
	} else {
		return false;
	}
	*rc = defined(r, *rc);
	return true;
}

int sreader_define_whole(struct sreader *r, struct ps_record *rec)
{
	enum dict_index i = rec->type == PS_CHAIN ? DICT_CHAIN : DICT_STACK;
	unsigned bit = rec->type == PS_CHAIN ? SREADER_CHAINS : SREADER_SYMBOLS;

	if (!(r->keep & bit))
		return 0;
	/* Those of parts that are no whole chain are missing. */
	r->dicts[i].sparse = true;
	return defined(r, rec->type == PS_CHAIN ? dict_set_chain(&r->dicts[i], &rec->chain)
						: dict_set_stack(&r->dicts[i], &rec->stack));
}

int sreader_define_parts(struct sreader *r, struct ps_record *rec, bool *shown)
{
	bool as_is = r->expand.wholes != NULL;
	int rc = as_is ? expand_define(&r->expand, rec) : expand_parts(&r->expand, rec, shown);

	if (rc == PP_ECORRUPT)
		return sreader_fail(r, rc, "parts of chains are damaged: the stream is corrupt");
	if (rc == PP_ELIMIT)
		return sreader_fail(r, rc, "a call chain of the stream is too long");
	if (as_is)
		*shown = true;
	return rc || as_is || !*shown ? rc : sreader_define_whole(r, rec);
}

int sreader_swap_packed(struct sreader *r, struct ps_sample *s)
{
	const struct ps_event *e = ps_sample_has(s, payload) ? sreader_event(r, s->event) : NULL;

	if (!e || !s->payload.len)
		return 0;
	if (!r->payload)
		r->payload = malloc(8 * SAMPLES_WORDS);
	if (!r->payload)
		return PP_ENOMEM;
	memcpy(r->payload, s->payload.p, s->payload.len);
	ps_payload_swap(&e->fields, r->payload, s->payload.len);
	s->payload.p = (const char *)r->payload;
	return 0;
}

const char *sreader_cgroup(const struct sreader *r, uint32_t source, uint64_t id, size_t *len)
{
	return context_cgroup(&r->context, source, id, len);
}

bool sreader_inner_pid(const struct sreader *r, uint32_t source, uint32_t pid, uint32_t *inner)
{
	return context_inner_pid(&r->context, source, pid, inner);
}

const char *sreader_string(const struct sreader *r, uint32_t id, size_t *len)
{
	const struct ps_string *s = dict_get(&r->dicts[DICT_STRING], id);

	if (len)
		*len = s ? s->text.len : 0;
	return s ? s->text.p : NULL;
}

#define GETTER(name, NAME) \
	const struct ps_##name *sreader_##name(const struct sreader *r, uint32_t id) \
	{ \
		return dict_get(&r->dicts[DICT_##NAME], id); \
	}
GETTER(event, EVENT)
GETTER(dso, DSO)
GETTER(symbol, SYMBOL)
GETTER(frame, FRAME)
GETTER(srcfile, SRCFILE)
#undef GETTER

const struct ps_chain *sreader_chain(const struct sreader *r, uint32_t id)
{
	return r->expand.wholes && r->expand.chains.n ? expand_chain(&r->expand, id)
						      : dict_get(&r->dicts[DICT_CHAIN], id);
}

const struct ps_stack *sreader_stack(const struct sreader *r, uint32_t id)
{
	return r->expand.wholes && r->expand.stacks.n ? expand_stack(&r->expand, id)
						      : dict_get(&r->dicts[DICT_STACK], id);
}

static bool part(const struct chunks *c, uint32_t id, struct ps_part *p)
{
	const struct chunk *k;

	if (!id || id > c->n)
		return false;
	k = &c->v[id];
	*p = (struct ps_part){.parent = k->parent,
			      .n = k->n,
			      .total = k->total,
			      .flags = k->flags,
			      .mark = chunk_mark(k->kind & CHUNK_MODE),
			      .last = (k->kind & CHUNK_LAST) != 0,
			      .strange = (k->kind & CHUNK_MODE) == CHUNK_ESCAPE,
			      .words = c->words + k->at};
	return true;
}

bool sreader_chain_part(const struct sreader *r, uint32_t id, struct ps_part *p)
{
	return part(&r->expand.chains, id, p);
}

bool sreader_stack_part(const struct sreader *r, uint32_t id, struct ps_part *p)
{
	return part(&r->expand.stacks, id, p);
}
