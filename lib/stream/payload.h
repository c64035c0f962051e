/*
 * Byte order of what lies in a record as plain bytes: the field table of an event, and the payload
 * of a tracepoint, which has the layout that the table describes.
 *
 *	if (recording_is_foreign)
 *		ps_payload_swap(&event.fields, payload, len);
 *
 * The layout is that of the format files in tracefs (Documentation/trace/events.rst of the kernel):
 * a dynamic field is a u32 location word, whose lower half is the offset of the data and whose
 * upper half is its length in bytes; the offset counts from the beginning of the payload, or, of a
 * relative field, from the end of the word.
 */
#ifndef PP_STREAM_PAYLOAD_H
#define PP_STREAM_PAYLOAD_H

#include "stream/stream.h"

#include <string.h>

#define PS_EVENT_FIELDS_MAX 1024 /* entries of a field table; what follows them is left alone */

/*
 * Brings a payload of `len` bytes from the other byte order to the host's, where it lies. `fields`
 * is EVENT.fields in host order. Elements of 2, 4 and 8 bytes are swapped, texts and fields that
 * reach past the end are left alone.
 */
void ps_payload_swap(const struct ps_str *fields, uint8_t *payload, size_t len);

/*
 * Brings the elements of the arrays in a payload of host order to the other byte order: those that
 * were swapped become what was recorded. Numbers and location words stay in host order.
 */
void ps_payload_swap_arrays(const struct ps_str *fields, uint8_t *payload, size_t len);

/* A number of 1, 2, 4 or 8 bytes at p, in host byte order. */
static inline uint64_t ps_payload_number(const void *p, uint32_t size)
{
	uint16_t h;
	uint32_t w;
	uint64_t v;

	switch (size) {
	case 1: return *(const uint8_t *)p;
	case 2: memcpy(&h, p, 2); return h;
	case 4: memcpy(&w, p, 4); return w;
	default: memcpy(&v, p, 8); return v;
	}
}

/* Brings a field table to host order. 0, or PP_ECORRUPT when it does not hold whole entries. */
int ps_fields_swap(uint8_t *table, size_t len);

#endif
