/*
 * What can be probed: functions, lines, variables, markers of a binary, as tables.
 *
 *	struct look l = {.b = binary, .funcs = &funcs, .form = TABLE_FORM_TEXT, .diag = diag};
 *	status = look_functions(&l, "malloc*");
 *
 * Each writes to the standard output, closes it, and returns an exit status.
 */
#ifndef PP_PROBE_LOOK_H
#define PP_PROBE_LOOK_H

#include "inspect/funcs.h"
#include "probe/sheet.h"

struct look {
	struct binary *b;
	struct funcs *funcs;
	struct diag *diag;
	enum table_form form;
	bool externs; /* -V: also variables outside functions */
};

/* Functions whose names fit; NULL: all. */
int look_functions(struct look *l, const char *pattern);

/* "FUNC" or "FILE[:N-M]": the lines, and which of them can take a probe. */
int look_lines(struct look *l, const char *what);

/* "FUNC[:LINE|+OFF]": the variables there. */
int look_variables(struct look *l, const char *what);

/* Markers whose names fit "[PROVIDER:]NAME"; NULL: all. */
int look_markers(struct look *l, const char *pattern);

/* Ends a list of `what`, whose result so far is rc: an exit status. For the files of look only. */
int look_finish(struct look *l, struct sheet *r, int rc, const char *what);

#endif
