/*
 * A dictionary of a reader: id to a copy of the defining record. Private to lib/stream.
 */
#ifndef PP_STREAM_DICT_H
#define PP_STREAM_DICT_H

#include "stream/codec.h"

struct dict_entry;

struct dict {
	struct dict_entry **v; /* by id; NULL: not defined */
	uint32_t n;	       /* ids below n have a place */
	uint64_t bytes;	       /* held by the entries */
};

/*
 * Copies the record `fields` of type t, with all its arrays; strings get a NUL behind them.
 * 0, PP_ENOMEM, PP_ELIMIT (PS_ID_MAX, PS_DICT_BYTES), PP_ECORRUPT (id 0).
 */
int dict_set(struct dict *d, uint32_t id, const struct ps_typedesc *t, const void *fields);

/* The copy, NULL if the id is not defined. */
const void *dict_get(const struct dict *d, uint32_t id);

void dict_release(struct dict *d);

#endif
