/*
 * Payloads of tracepoints as text, by libtraceevent. Private to lib/print.
 */
#ifndef PP_PRINT_TEP_PRINT_H
#define PP_PRINT_TEP_PRINT_H

#include "base/buf.h"
#include "stream/stream.h"

struct tep_print;

/* long_size: bytes of a long of the recorded machine. 0 or PP_ENOMEM. */
int tep_print_new(struct tep_print **t, uint32_t long_size);
void tep_print_free(struct tep_print *t); /* NULL is fine */

/*
 * Appends the payload of a sample as the event's print format has it; without a format, or when
 * libtraceevent does not understand it, the bytes in hexadecimal. 0 or PP_ENOMEM.
 */
int tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		      struct buf *b);

/*
 * Takes a part of a table of the recording: the kernel's symbols and the texts that belong to
 * addresses that payloads hold, for print formats that show them. 0 or PP_ENOMEM; other blobs are
 * ignored.
 */
int tep_print_table(struct tep_print *t, const struct ps_blob *b);

#endif
