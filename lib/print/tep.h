/*
 * libtraceevent, handled with care: it trusts the texts of a recording, and what payloads say about
 * themselves. Private to lib/print.
 *
 *	struct tep_handle *tep = tep_open_quiet(8);
 *	...
 *	tep_take_table(tep, &parts, &blob);
 *	te = tep_learn_event(tep, &event, &risk);
 *	record.data = tep_room_put(&room, &sample.payload);
 *	if (te && (!risk || tep_trial(tep, &record)))
 *		tep_print_event(tep, seq, &record, "%s", TEP_PRINT_INFO);
 */
#ifndef PP_PRINT_TEP_H
#define PP_PRINT_TEP_H

#include "base/buf.h"
#include "stream/stream.h"

/*
 * A dynamic field has an offset and a length of 16 bits each, relative to a field, whose place is
 * bounded by the first; the second is how many zeroes a payload must have behind it.
 */
#define TEP_FIELD_END_MAX (64u << 10)
#define TEP_PADDING	  (4u * TEP_FIELD_END_MAX)

struct tep_handle;
struct tep_event;
struct tep_record;

/*
 * A handle for payloads in host byte order, which keeps its complaints to itself. long_size: bytes of
 * a long of the recorded machine, 4; all else is 8. NULL: no memory.
 */
struct tep_handle *tep_open_quiet(uint32_t long_size);

/* "[PLUGIN:]NAME[=VALUE]" for the plugins that are loaded later. 0 or PP_ENOMEM. */
int tep_plugin_option(const char *option);

/*
 * Takes a part of a table of the recording: the kernel's symbols, the texts behind addresses that
 * payloads hold, and the names of threads. `parts` is the caller's: what waits for the last part.
 * 0 or PP_ENOMEM; other blobs are ignored.
 */
int tep_take_table(struct tep_handle *tep, struct buf *parts, const struct ps_blob *b);

/*
 * The event in libtraceevent's form, parsed when it is new; NULL if it has no usable format. *risk:
 * how much is printed of a payload depends on numbers in it, so each needs a trial.
 */
struct tep_event *tep_learn_event(struct tep_handle *tep, const struct ps_event *e, bool *risk);

/* A payload and the zeroes behind it. */
struct tep_room {
	uint8_t *bytes; /* owned */
	size_t len, cap;
};

/* The copy of a payload; NULL: out of memory. */
uint8_t *tep_room_put(struct tep_room *room, const struct ps_str *payload);
void tep_room_release(struct tep_room *room);

/* Whether a record can be printed without harm: a child process tries. */
bool tep_trial(struct tep_handle *tep, struct tep_record *rec);

#endif
