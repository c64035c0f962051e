/*
 * Payloads of tracepoints as text, by libtraceevent. Private to lib/stream.
 */
#ifndef PP_STREAM_TEP_PRINT_H
#define PP_STREAM_TEP_PRINT_H

#include "base/buf.h"
#include "stream/stream.h"

struct tep_print;

int tep_print_new(struct tep_print **t);
void tep_print_free(struct tep_print *t); /* NULL is fine */

/*
 * Appends the payload of a sample as the event's print format has it; without a format, or when
 * libtraceevent does not understand it, the bytes in hexadecimal.
 */
void tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		       struct buf *b);

/*
 * Takes a part of a table of the recording: the kernel's symbols, the texts behind addresses that
 * payloads hold, for print formats that show them, and the names of threads. 0 or PP_ENOMEM; other
 * blobs are ignored.
 */
int tep_print_table(struct tep_print *t, const struct ps_blob *b);

/* ---- for what prints a trace.dat ---- */

struct tep_event;

/* Loads the plugins of libtraceevent that are installed. long_size: bytes of a recorded long. */
void tep_print_load_plugins(struct tep_print *t, uint32_t long_size);

/* The event in libtraceevent's form, parsed when it is new; NULL if it has no usable format. */
struct tep_event *tep_print_event_of(struct tep_print *t, const struct ps_event *e);

/* Bytes that a payload of the event has at least, if it is whole. */
uint32_t tep_print_least(const struct ps_event *e);

/* The text of a payload whose event has been parsed; lives until the next call. */
const char *tep_print_info(struct tep_print *t, const struct ps_sample *s, uint32_t least,
			   size_t *len);

/* A copy of the payload with zeroes behind it, for reading fields; NULL: out of memory. */
const uint8_t *tep_print_room(struct tep_print *t, const struct ps_str *payload);

/* Whether a plugin prints the event. */
bool tep_print_has_handler(struct tep_print *t, const struct ps_event *e);

/* The name of a thread, for tep_print_comm; the first one stays. */
void tep_print_learn(struct tep_print *t, uint32_t pid, const char *comm, size_t len);

/* The name of a thread, "<...>" if none is known; the name of a function, NULL if unknown. */
const char *tep_print_comm(struct tep_print *t, uint32_t pid);
const char *tep_print_function(struct tep_print *t, uint64_t addr);

#endif
