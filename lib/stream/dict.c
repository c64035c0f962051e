/* The dictionaries that a reader keeps. */
#include "stream/dict.h"

#include "base/err.h"
#include "base/array.h"

#include <stdlib.h>

static int dict_widen(struct dict *d, uint32_t id)
{
	void **v = array_widen(d->v, &d->n, id, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	d->v = v;
	return 0;
}

/* Copies n bytes to *p, moves *p to the next multiple of 8. */
static void *take(uint8_t **p, const void *bytes, size_t n)
{
	uint8_t *at = *p;

	if (n)
		memcpy(at, bytes, n);
	*p += ps_pad(n);
	return at;
}

/* A copy with a NUL after it. */
static void *take_text(uint8_t **p, const void *bytes, size_t n)
{
	uint8_t *at = *p;

	if (n)
		memcpy(at, bytes, n);
	at[n] = 0;
	*p += ps_pad(n + 1);
	return at;
}

/* Bytes that a copy takes: the struct, and each array as take() puts it. */
static size_t copy_size(const struct ps_typedesc *t, const void *fields)
{
	size_t n = ps_pad(t->size);

	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		const uint8_t *at = (const uint8_t *)fields + f->offset;

		if (f->kind == PS_KIND_str)
			n += ps_pad((size_t)((const struct ps_str *)(const void *)at)->len + 1);
		else if (f->kind == PS_KIND_u32s)
			n += ps_pad(4 * (size_t)((const struct ps_u32s *)(const void *)at)->n);
		else if (f->kind == PS_KIND_u64s)
			n += 8 * (size_t)((const struct ps_u64s *)(const void *)at)->n;
	}
	return n;
}

/* Room for the copy of an entry, which becomes that of the id. */
static int dict_place(struct dict *d, uint32_t id, size_t need, uint8_t **place)
{
	uint8_t *e;
	int rc;

	if (!id)
		return PP_ECORRUPT;
	if (id >= PS_ID_MAX)
		return PP_ELIMIT;
	if (id == 1 && d->restarts && d->n > 1 && d->v[1]) {
		arena_reset(&d->arena);
		memset(d->v, 0, d->n * sizeof(*d->v));
		d->ndefined = 0;
	}
	/*
	 * A restart takes as long as the ids before it are many: they have to be as many as they
	 * look.
	 */
	if (d->restarts && !d->sparse && id > 2 * (uint64_t)d->ndefined + PS_ID_GAP)
		return PP_ECORRUPT;
	d->ndefined += d->ndefined < PS_ID_MAX;
	if (id >= d->n && (rc = dict_widen(d, id)))
		return rc;
	if (d->arena.total + need > PS_DICT_BYTES)
		return PP_ELIMIT;
	e = arena_alloc(&d->arena, need);
	if (!e)
		return PP_ENOMEM;
	d->v[id] = e;
	*place = e;
	return 0;
}

/* An entry of a struct and the array after it; *copy is the struct in the dictionary. */
static int dict_set_array(struct dict *d, uint32_t id, const void *fields, size_t size,
			  const void *array, size_t bytes, uint8_t **copy)
{
	int rc = dict_place(d, id, size + bytes, copy);

	if (rc)
		return rc;
	memcpy(*copy, fields, size);
	if (bytes)
		memcpy(*copy + size, array, bytes);
	return 0;
}

int dict_set_chain(struct dict *d, const struct ps_chain *chain)
{
	uint8_t *e;
	int rc = dict_set_array(d, chain->id, chain, sizeof(*chain), chain->ips.v,
				8 * (size_t)chain->ips.n, &e);

	if (!rc)
		((struct ps_chain *)(void *)e)->ips.v = (const void *)(e + sizeof(*chain));
	return rc;
}

int dict_set_stack(struct dict *d, const struct ps_stack *stack)
{
	uint8_t *e;
	int rc = dict_set_array(d, stack->id, stack, sizeof(*stack), stack->frames.v,
				4 * (size_t)stack->frames.n, &e);

	if (!rc)
		((struct ps_stack *)(void *)e)->frames.v = (const void *)(e + sizeof(*stack));
	return rc;
}

int dict_set(struct dict *d, uint32_t id, const struct ps_typedesc *t, const void *fields)
{
	uint8_t *e, *p;
	int rc = dict_place(d, id, copy_size(t, fields), &e);

	if (rc)
		return rc;
	memcpy(e, fields, t->size);
	p = e + ps_pad(t->size);
	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		uint8_t *at = e + f->offset;

		if (f->kind == PS_KIND_str) {
			struct ps_str *s = (struct ps_str *)(void *)at;

			s->p = take_text(&p, s->p, s->len);
		} else if (f->kind == PS_KIND_u32s) {
			struct ps_u32s *a = (struct ps_u32s *)(void *)at;

			a->v = take(&p, a->v, 4 * (size_t)a->n);
		} else if (f->kind == PS_KIND_u64s) {
			struct ps_u64s *a = (struct ps_u64s *)(void *)at;

			a->v = take(&p, a->v, 8 * (size_t)a->n);
		}
	}
	return 0;
}

void dict_release(struct dict *d)
{
	arena_release(&d->arena);
	free(d->v);
	*d = (struct dict){.restarts = d->restarts, .sparse = false};
}
