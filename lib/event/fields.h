/*
 * Field tables: the fields of a tracepoint, from the text of its format.
 *
 *	struct buf table = BUF_INIT;
 *	rc = fields_of_format(text, len, 8, &table);
 *	event.fields = ps_str(buf_str(&table), table.len);
 *
 * The text is that of the `format` files in tracefs (Documentation/trace/events.rst of the kernel),
 * which perf.data and trace.dat carry.
 */
#ifndef PP_EVENT_FIELDS_H
#define PP_EVENT_FIELDS_H

#include "base/buf.h"

/*
 * Appends an entry (PS_EVENT_FIELD) for each field line of the text to the table; lines that make
 * no sense are left out. long_size: bytes of a long of the recorded machine. 0 or PP_ENOMEM.
 */
int fields_of_format(const char *format, size_t len, uint32_t long_size, struct buf *table);

#endif
