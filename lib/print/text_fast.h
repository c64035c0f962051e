/*
 * Payloads as text, quickly: print formats whose arguments are plain fields, and the scheduler
 * events that a plugin of libtraceevent prints in a form of its own. Private to lib/print.
 *
 *	fast = text_fast_new(event, long_size, plugin);	(NULL: libtraceevent has to print it)
 *	if (!text_fast_add(fast, &payload, &buf, learn, ctx))
 *		... libtraceevent has to print this one ...
 *	text_fast_free(fast);
 *
 * What is printed is what libtraceevent prints; the caller compares the first ones.
 */
#ifndef PP_PRINT_TEXT_FAST_H
#define PP_PRINT_TEXT_FAST_H

#include "base/buf.h"
#include "stream/stream.h"

struct text_fast;

/*
 * plugin: the event has a handler. long_size: of the recorded machine. NULL also when out of
 * memory.
 */
struct text_fast *text_fast_new(const struct ps_event *e, uint32_t long_size, bool plugin);
void text_fast_free(struct text_fast *f); /* NULL is fine */

/* Told of each name of a thread that a scheduler event shows. */
typedef void text_fast_learn(void *ctx, uint32_t pid, const char *comm, size_t len);

/* False when a field is not in the payload: b is as it was. Text is not escaped. */
bool text_fast_add(const struct text_fast *f, const struct ps_str *payload, struct buf *b,
		   text_fast_learn *learn, void *ctx);

#endif
