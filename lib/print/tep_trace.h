/*
 * Payloads of a trace.dat as text, by libtraceevent and its plugins. Private to lib/print.
 */
#ifndef PP_PRINT_TEP_TRACE_H
#define PP_PRINT_TEP_TRACE_H

#include "base/buf.h"
#include "print/tep_guard.h"
#include "stream/stream.h"

struct tep_trace;

/*
 * long_size: bytes of a recorded long. With `plugins`, those of libtraceevent that are installed.
 * 0 or PP_ENOMEM.
 */
int tep_trace_new(struct tep_trace **t, uint32_t long_size, bool plugins);
void tep_trace_free(struct tep_trace *t); /* NULL is fine */

/*
 * Takes a part of a table of the recording: the kernel's symbols, the texts of addresses that
 * payloads hold, for print formats that show them, and the names of threads. 0 or PP_ENOMEM; other
 * blobs are ignored.
 */
int tep_trace_table(struct tep_trace *t, const struct ps_blob *b);

struct tep_event;

/* As tep_learn_event. */
struct tep_event *tep_trace_event_of(struct tep_trace *t, const struct ps_event *e,
				     enum tep_risk *risk);

/* PP_ENOMEM: memory was lacking in one of these; what has been printed is not to be used. */
int tep_trace_error(const struct tep_trace *t);

/* Bytes that a payload of the event has at least, if it is whole. */
uint32_t tep_trace_least(const struct ps_event *e);

/*
 * The text of a payload whose event has been parsed, or, with `raw`, its fields; lives until the
 * next call. NULL: the payload would do harm.
 */
const char *tep_trace_info(struct tep_trace *t, struct tep_event *te, const struct ps_sample *s,
			   uint32_t least, enum tep_risk *risk, bool raw, size_t *len);

/*
 * The column of interrupts and preemption, and the flags that it is made from. lazy: as kernels
 * since 6.13 mean them.
 */
const char *tep_trace_latency(struct tep_trace *t, const struct ps_sample *s, bool lazy);
int tep_trace_flags(struct tep_trace *t, const struct ps_sample *s);

/* Whether a plugin prints the event. */
bool tep_trace_has_handler(const struct tep_event *te);

/*
 * The arguments of a function, which begin at `at` in a payload and go on to its end; those that
 * the types of the kernel tell of, if the recording has them. Nothing if the function has no
 * name.
 */
void tep_trace_args(struct tep_trace *t, uint64_t func, const struct ps_str *payload, uint32_t at,
		    struct buf *b);

/* The name of a thread, for tep_trace_comm; the first one stays. */
void tep_trace_learn(struct tep_trace *t, uint32_t pid, const char *comm, size_t len);

/* Whether the name of a thread is known, and so stays what it is. */
bool tep_trace_knows(struct tep_trace *t, uint32_t pid);

/* The name of a thread, "<...>" if none is known; the name of a function, NULL if unknown. */
const char *tep_trace_comm(struct tep_trace *t, uint32_t pid);
const char *tep_trace_function(struct tep_trace *t, uint64_t addr);

#endif
