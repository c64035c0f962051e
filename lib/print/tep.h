/*
 * libtraceevent, handled with care: it trusts the texts of a recording, and what payloads say about
 * themselves. Private to lib/print.
 *
 *	struct tep_handle *tep = tep_open_quiet(8);
 *	...
 *	tep_take_table(tep, &tables, &blob);
 *	rc = tep_learn_event(tep, &event, &te, &risk);
 *	record.data = tep_room_put(&room, &sample.payload);
 *	if (te && tep_prints(tep, &tables, te, &risk, &record, TEP_PRINT_INFO))
 *		tep_print_event(tep, seq, &record, "%s", TEP_PRINT_INFO);
 */
#ifndef PP_PRINT_TEP_H
#define PP_PRINT_TEP_H

#include "base/buf.h"
#include "base/err.h"
#include "print/tep_guard.h"
#include "stream/stream.h"

#include <errno.h>

/*
 * A dynamic field has an offset and a length of 16 bits each, relative to a field, whose place is
 * bounded by the first; the second is how many zeroes a payload must have after it.
 */
#define TEP_FIELD_END_MAX (64u << 10)
#define TEP_PADDING	  (4u * TEP_FIELD_END_MAX)

struct tep_handle;
struct tep_event;
struct tep_record;

/*
 * A handle for payloads in host byte order, which keeps its complaints to itself. long_size:
 * bytes of a long of the recorded machine, 4; all else is 8. NULL: no memory.
 */
struct tep_handle *tep_open_quiet(uint32_t long_size);

/*
 * "[PLUGIN:]NAME[=VALUE]" for the plugins that are loaded later. 0; PP_EUSAGE if none that is
 * installed has it, with ", PLUGIN:NAME" for all that there are in `have`; or PP_ENOMEM.
 */
int tep_plugin_option(const char *option, struct buf *have);

/* Appends the options of the installed plugins, one per line: PLUGIN:NAME, what it is for. */
void tep_list_options(struct buf *b);

/* The tables of a recording. */
struct tep_tables {
	struct buf parts; /* what waits for the last part */
	bool strange;	  /* a format of binary printk has what no kernel writes */
};

/*
 * Takes a part of a table of the recording: the kernel's symbols, the texts that belong to
 * addresses in payloads, and the names of threads. 0 or PP_ENOMEM; other blobs are ignored.
 */
int tep_take_table(struct tep_handle *tep, struct tep_tables *t, const struct ps_blob *b);

/*
 * The event in libtraceevent's form, parsed when it is new; *te NULL if it has no usable format.
 * *risk: for tep_prints. 0 or PP_ENOMEM.
 */
int tep_learn_event(struct tep_handle *tep, const struct ps_event *e, struct tep_event **te,
		    enum tep_risk *risk);

/*
 * libtraceevent does not report when memory ran out, and continues with what it has: but malloc
 * says so in errno. Between the two nothing else may be called that fails for want of memory.
 */
static inline void tep_watch_memory(void)
{
	errno = 0;
}

static inline int tep_lacked_memory(void)
{
	return errno == ENOMEM ? PP_ENOMEM : 0;
}

/* A payload and the zeroes after it. */
struct tep_room {
	uint8_t *bytes; /* owned */
	size_t len, cap;
};

/* The copy of a payload; NULL: out of memory. */
uint8_t *tep_room_put(struct tep_room *room, const struct ps_str *payload);
void tep_room_release(struct tep_room *room);

/*
 * Whether a record can be printed without harm: what libtraceevent would do is computed first, and
 * where that cannot be told, a child process tries. what: TEP_PRINT_INFO or TEP_PRINT_INFO_RAW.
 */
bool tep_prints(struct tep_handle *tep, const struct tep_tables *tables, const struct tep_event *te,
		enum tep_risk *risk, struct tep_record *rec, const char *what);

#endif
