/*
 * Streams that plat makes from others: the part of the input that is passed on beside the samples
 * that it makes, and the strings of these, which are numbered as the texts of the engine are.
 *
 *	if (!lat_defined_has(&strings, id))			(before what has that id)
 *		rc = lat_defined_put(&strings, w, source, id, text, len);
 *	rc = lat_context_copy(w, rec);				(of PS_HEADER and PS_COMM: own ways)
 */
#ifndef PP_INTERVAL_LAT_CONTEXT_H
#define PP_INTERVAL_LAT_CONTEXT_H

#include "stream/stream.h"

/* The strings that the stream being written has. All zero: none. */
struct lat_defined {
	uint8_t *bits; /* by id */
	uint32_t cap;
};

static inline bool lat_defined_has(const struct lat_defined *s, uint32_t id)
{
	return !id || (id / 8 < s->cap && s->bits[id / 8] & 1 << id % 8); /* 0 is not a string */
}

/* Defines one that it has not. 0, PP_ENOMEM, or an error of the output. */
int lat_defined_put(struct lat_defined *s, struct swriter *w, uint32_t source, uint32_t id,
		    const char *text, size_t len);
/* A stream begins: none is defined. */
void lat_defined_clear(struct lat_defined *s);
void lat_defined_release(struct lat_defined *s);

/* Passes a record on if it is context; the input's events, their names and stacks are none. */
int lat_context_copy(struct swriter *w, const struct ps_record *rec);

#endif
