/*
 * Probes that exist only during a recording, as the command line defines them.
 *
 *	struct probe_words w = {0};
 *	rc = probe_words_add(&w, "readline%return line=$retval:string", PROBE_OF_FILE, &why);
 *	probe_words_file(&w, "/bin/bash");
 *	if (probe_words_filter(&w, "line != \"\"", &why) == PP_END)
 *		... the last event was not a probe: the filter is for something else ...
 *
 * A definition is for the file that was named last before it; those before the first file are for
 * that one. Nothing is created here: see inplace/.
 */
#ifndef PP_RECORD_PROBES_H
#define PP_RECORD_PROBES_H

#include "base/buf.h"

#include <stdbool.h>

#define PROBE_WORDS_MAX 256 /* definitions of a command line */

enum probe_of { PROBE_OF_FILE, PROBE_OF_KERNEL };

struct probe_word {
	const char *text; /* the definition */
	enum probe_of of;
	const char *file; /* NULL: of the process, or of the command */
	char *filter;	  /* owned; NULL: none */
};

struct probe_words {
	struct probe_word v[PROBE_WORDS_MAX];
	unsigned n;
	const char *file; /* that was named last */
	bool last;	  /* the last event of the command line is a probe */
};

int probe_words_add(struct probe_words *w, const char *text, enum probe_of of, struct buf *why);
void probe_words_file(struct probe_words *w, const char *file);

/* PP_END: the last event is not a probe. 0, or PP_ENOMEM. */
int probe_words_filter(struct probe_words *w, const char *expr, struct buf *why);

void probe_words_release(struct probe_words *w);

#endif
