/*
 * Whether events of a format can be printed, before there is an event.
 *
 *	struct print_check *c;
 *	rc = print_check_new(&c);
 *	rc = print_check_event(c, "sched", format, len, &ok);
 *	print_check_free(c);
 */
#ifndef PP_PRINT_CHECK_H
#define PP_PRINT_CHECK_H

#include "stream/stream.h"

#include <stdbool.h>
#include <stddef.h>

struct print_check;

/*
 * The same for an event of a recording, whose format is not the kernel's own: for struct
 * input_check. ctx: a struct print_check.
 */
int print_check_recorded(void *ctx, const struct ps_event *e, bool *ok);

/* For formats of this machine's kernel, by libtraceevent and its plugins. 0 or PP_ENOMEM. */
int print_check_new(struct print_check **c);
void print_check_free(struct print_check *c); /* NULL is fine */

/* *ok: pdecode -t prints the text of the event, not only its fields. 0 or PP_ENOMEM. */
int print_check_event(struct print_check *c, const char *system, const char *format, size_t len,
		      bool *ok);

#endif
