/*
 * Private to lib/interval: the fields of an event as one line of text.
 *
 *	rc = lat_fields_new(&f, event);		(once for a descriptor, which outlives it)
 *	lat_fields_add(f, reader, record, &line);
 *	lat_fields_free(f);
 *
 * Numbers have the names that the print format has for them, addresses those of functions.
 */
#ifndef PP_INTERVAL_LAT_FIELDS_H
#define PP_INTERVAL_LAT_FIELDS_H

#include "interval/lat.h"

#define LAT_FIELDS_MAX	 24  /* fields of an event */
#define LAT_FIELDS_BYTES 240 /* of a line, after which no other field begins */
#define LAT_FIELDS_TEXT	 120 /* bytes of a text */

struct lat_fields;

/* 0 or PP_ENOMEM. */
int lat_fields_new(struct lat_fields **f, const struct ps_event *e);
void lat_fields_free(struct lat_fields *f); /* NULL is fine */

/* Who knows the names of addresses. */
struct lat_fields_names {
	lat_symbol_fn *symbol; /* NULL: nobody */
	void *ctx;
};

/* Appends the fields of a sample, a blank between two. An error stays in the buffer. */
void lat_fields_add(const struct lat_fields *f, const struct sreader *r,
		    const struct ps_record *rec, const struct lat_fields_names *names,
		    struct buf *b);

#endif
