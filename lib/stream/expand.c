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

int expand_define(struct expand *x, const struct ps_record *rec)
{
	const struct ps_chains *parts = &rec->chains;
	bool chains = rec->type == PS_CHAINS;

	x->stacks.stacks = true;
	for (int i = 0; i < PS_WHOLES && x->wholes && parts->id == 1; i++)
		x->wholes->v[!chains][i].id = 0;
	return chunks_define(chains ? &x->chains : &x->stacks, parts->id, parts->count,
			     &parts->data);
}

int expand_parts(struct expand *x, struct ps_record *rec, bool *shown)
{
	const struct ps_chains parts = rec->chains;
	bool chains = rec->type == PS_CHAINS;
	int rc = expand_define(x, rec);

	*shown = false;
	if (rc || parts.id != 1 || !parts.count)
		return rc;
	*shown = true;
	return whole(x, chains ? PS_CHAIN : PS_STACK, rec->source, 1, rec);
}

int expand_samples(struct expand *x, const struct ps_record *rec)
{
	if (!x->samples) {
		x->samples = malloc(sizeof(*x->samples));
		if (!x->samples)
			return PP_ENOMEM;
		x->samples->last.at = 0;
	}
	x->source = rec->source;
	return sample_unpack_begin(x->samples, &rec->samples) ? 0 : PP_ECORRUPT;
}

/*
 * The place of a whole: it stays until PS_WHOLES others have been asked for. *fresh: its words are
 * to be put into it, as numbers of `size` bytes.
 */
static int place(const struct expand *x, int stacks, uint32_t id, size_t size, int *at, bool *fresh)
{
	const struct chunks *c = stacks ? &x->stacks : &x->chains;
	struct wholes *w = x->wholes;

	*fresh = false;
	*at = 0;
	for (int i = 0; i < PS_WHOLES; i++) {
		if (id && w->v[stacks][i].id == id) {
			w->v[stacks][i].used = ++w->clock;
			*at = i;
			return 0;
		}
		if (w->v[stacks][i].used < w->v[stacks][*at].used)
			*at = i;
	}
	if (!id || id > c->n)
		return PP_ENOENT;
	w->v[stacks][*at].id = 0;
	w->v[stacks][*at].used = ++w->clock;
	buf_reset(&w->v[stacks][*at].words);
	*fresh = true;
	return buf_reserve(&w->v[stacks][*at].words, (c->v[id].total + 1) * size) ? PP_ENOMEM : 0;
}

const struct ps_chain *expand_chain(const struct expand *x, uint32_t id)
{
	bool fresh;
	int i, rc = place(x, 0, id, sizeof(uint64_t), &i, &fresh);

	x->wholes->failed |= rc == PP_ENOMEM;
	if (rc)
		return NULL;
	if (fresh) {
		uint64_t *to = (uint64_t *)(void *)x->wholes->v[0][i].words.data;

		x->wholes->v[0][i].chain = (struct ps_chain){
			id, x->chains.v[id].flags, {to, chunks_take(&x->chains, id, to)}};
		x->wholes->v[0][i].id = id;
	}
	return &x->wholes->v[0][i].chain;
}

const struct ps_stack *expand_stack(const struct expand *x, uint32_t id)
{
	bool fresh;
	int i, rc = place(x, 1, id, sizeof(uint32_t), &i, &fresh);

	x->wholes->failed |= rc == PP_ENOMEM;
	if (rc)
		return NULL;
	if (fresh) {
		const struct chunks *c = &x->stacks;
		uint32_t *to = (uint32_t *)(void *)x->wholes->v[1][i].words.data, n = 0;

		for (uint32_t k = id; k; k = c->v[k].parent)
			for (unsigned j = c->v[k].n; j; j--)
				to[n++] = (uint32_t)c->words[c->v[k].at + j - 1];
		x->wholes->v[1][i].stack = (struct ps_stack){id, c->v[id].flags, {to, n}};
		x->wholes->v[1][i].id = id;
	}
	return &x->wholes->v[1][i].stack;
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
	R(branch_stack, STACK, stacks) \
	R(ip_stack, STACK, stacks)

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
	for (int i = 0; i < PS_WHOLES && x->wholes; i++)
		x->wholes->v[0][i].id = x->wholes->v[1][i].id = 0;
}

void expand_release(struct expand *x)
{
	chunks_release(&x->chains);
	chunks_release(&x->stacks);
	buf_release(&x->frames);
	free(x->samples);
	for (int i = 0; i < PS_WHOLES && x->wholes; i++) {
		buf_release(&x->wholes->v[0][i].words);
		buf_release(&x->wholes->v[1][i].words);
	}
	free(x->wholes);
}
