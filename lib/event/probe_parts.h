/*
 * Values that a probe had to record in parts, put together: texts of pointer, length and bytes,
 * numbers of a few bits with a sign.
 *
 *	struct probe_parts *p;
 *	struct buf format = BUF_INIT;
 *	rc = probe_parts_new(&p, text, len, &format);	(p is NULL: nothing is in parts)
 *	probe_parts_join(p, payload, n);		(for each sample, in host byte order)
 *	probe_parts_free(p);
 *
 * What pprobe(1) records in parts has names that show it: NAME__ptr, NAME__len or NAME__end, and
 * NAME__str or NAME__elem; NAME__sN. The new format has a text, array or signed number NAME
 * instead of NAME__str, NAME__elem, NAME__sN; the others stay, but are not printed. Joining clears
 * what is after the end of texts and sequences, and spreads signs.
 */
#ifndef PP_EVENT_PROBE_PARTS_H
#define PP_EVENT_PROBE_PARTS_H

#include "base/buf.h"

#define PROBE_PARTS_MAX 128 /* fields of a probe */

struct probe_parts;

/* The text is that of a format file. 0 or PP_ENOMEM. */
int probe_parts_new(struct probe_parts **p, const char *text, size_t len, struct buf *format);
void probe_parts_free(struct probe_parts *p); /* NULL is fine */

/* NULL is fine. Fields that are not in the payload are left alone. */
void probe_parts_join(const struct probe_parts *p, uint8_t *payload, size_t len);

#endif
