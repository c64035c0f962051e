/*
 * Byte order of what lies in a record as plain bytes: the field table of an event, and the payload
 * of a tracepoint, which has the layout that the table tells.
 *
 *	if (recording_is_foreign)
 *		ps_payload_swap(&event.fields, payload, len);
 *
 * The layout is that of the format files in tracefs (Documentation/trace/events.rst of the kernel):
 * a dynamic field is a u32 location word, whose lower half is the offset of the data and whose upper
 * half is its length in bytes; the offset counts from the beginning of the payload, or, of a relative
 * field, from the end of the word.
 */
#ifndef PP_STREAM_PAYLOAD_H
#define PP_STREAM_PAYLOAD_H

#include "stream/stream.h"

#define PS_EVENT_FIELDS_MAX 1024 /* entries of a field table; what lies behind them is left alone */

/*
 * Brings a payload of `len` bytes from the other byte order to the host's, where it lies. `fields`
 * is EVENT.fields in host order. Elements of 2, 4 and 8 bytes are swapped, texts and fields that
 * reach past the end are left alone.
 */
void ps_payload_swap(const struct ps_str *fields, uint8_t *payload, size_t len);

/* Brings a field table to host order. 0, or PP_ECORRUPT when it does not hold whole entries. */
int ps_fields_swap(uint8_t *table, size_t len);

#endif
