/*
 * A dictionary of a reader: id to a copy of the defining record. Private to lib/stream.
 */
#ifndef PP_STREAM_DICT_H
#define PP_STREAM_DICT_H

#include "base/arena.h"
#include "stream/codec.h"

struct dict {
	struct arena arena;
	void **v;	   /* by id; NULL: not defined */
	uint32_t n;	   /* ids below n have a place */
	uint32_t ndefined; /* records since the last restart, as many as can be counted */
	bool restarts;	   /* id 1 defined again forgets all others */
	bool sparse;	   /* ids were found to be dense: not all of them come here */
};

/*
 * Copies the record `fields` of type t, with all its arrays; strings get a NUL at their end. What
 * the id meant before is forgotten, its memory is not free before the next restart or release. 0,
 * PP_ENOMEM, PP_ELIMIT (PS_ID_MAX, PS_DICT_BYTES), PP_ECORRUPT (id 0, or one that is not dense: see
 * PS_ID_GAP).
 */
int dict_set(struct dict *d, uint32_t id, const struct ps_typedesc *t, const void *fields);

/*
 * Copies one of the two that come with every second sample, a CHAIN and a STACK, from their fields:
 * what dict_set makes of them, in a third of the time.
 */
int dict_set_chain(struct dict *d, const struct ps_chain *chain);
int dict_set_stack(struct dict *d, const struct ps_stack *stack);

/* The copy, NULL if the id is not defined. */
static inline const void *dict_get(const struct dict *d, uint32_t id)
{
	return id < d->n ? d->v[id] : NULL;
}

void dict_release(struct dict *d);

#endif
