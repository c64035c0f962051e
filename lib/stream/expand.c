/* Packed records of a stream as the plain ones that they stand for. */
#include "stream/expand.h"

#include "base/err.h"

#include <stdlib.h>

/* A chain or a stack, whole, as a record. */
static int whole(struct expand *x, uint32_t type, uint32_t source, uint32_t id,
		 struct ps_record *rec)
{
	struct chunks *c = type == PS_CHAIN ? &x->chains : &x->stacks;
	const uint64_t *words;
	uint32_t n, flags;
	int rc = chunks_build(c, id, &words, &n, &flags);

	if (rc)
		return rc;
	c->v[id].shown = true;
	rec->type = type;
	rec->source = source;
	rec->raw = NULL;
	rec->size = 0;
	rec->foreign = false;
	if (type == PS_CHAIN) {
		rec->chain = (struct ps_chain){.id = id, .flags = flags, .ips = {words, n}};
		return 0;
	}
	buf_reset(&x->frames);
	if (buf_reserve(&x->frames, 4 * (size_t)n))
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		((uint32_t *)(void *)x->frames.data)[i] = (uint32_t)words[i];
	rec->stack = (struct ps_stack){
		.id = id, .flags = flags, .frames = {(const void *)x->frames.data, n}};
	return 0;
}

int expand_parts(struct expand *x, struct ps_record *rec, bool *shown)
{
	const struct ps_chains parts = rec->chains;
	bool chains = rec->type == PS_CHAINS;
	int rc;

	x->stacks.stacks = true;
	*shown = false;
	rc = chunks_define(chains ? &x->chains : &x->stacks, parts.id, parts.count, &parts.data);
	if (rc || parts.id != 1 || !parts.count)
		return rc;
	*shown = true;
	return whole(x, chains ? PS_CHAIN : PS_STACK, rec->source, 1, rec);
}

int expand_samples(struct expand *x, const struct ps_record *rec)
{
	if (!x->samples)
		x->samples = malloc(sizeof(*x->samples));
	if (!x->samples)
		return PP_ENOMEM;
	x->source = rec->source;
	sample_unpack_begin(x->samples, rec->samples.count, &rec->samples.data);
	return 0;
}

static bool unseen(const struct chunks *c, uint32_t id)
{
	return id && id <= c->n && !c->v[id].shown;
}

#define REFS(R) \
	R(chain, CHAIN, chains) \
	R(stack, STACK, stacks) \
	R(other_stack, STACK, stacks) \
	R(other_chain, CHAIN, chains) \
	R(branch_stack, STACK, stacks)

int expand_refs(struct expand *x, struct ps_record *rec, bool *shown)
{
	const struct ps_sample *s = &rec->sample;
	uint32_t type = 0, id = 0;

#define R(ref, TYPE, parts) \
	if (!type && ps_sample_has(s, ref) && unseen(&x->parts, s->ref)) \
		type = PS_##TYPE, id = s->ref;
	REFS(R)
#undef R
	*shown = type != 0;
	if (!type)
		return 0;
	if (!x->waits)
		x->held = *rec;
	x->waits = true;
	return whole(x, type, rec->source, id, rec);
}

int expand_held(struct expand *x, struct ps_record *rec)
{
	bool shown;
	int rc;

	*rec = x->held;
	rc = expand_refs(x, rec, &shown);
	x->waits = shown;
	return rc;
}

void expand_clear(struct expand *x)
{
	x->chains.n = x->chains.nwords = x->stacks.n = x->stacks.nwords = 0;
	if (x->samples)
		x->samples->left = 0;
	x->waits = false;
}

void expand_release(struct expand *x)
{
	chunks_release(&x->chains);
	chunks_release(&x->stacks);
	buf_release(&x->frames);
	free(x->samples);
}
