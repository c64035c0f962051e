/*
 * What this machine allows: recording, the kernel's names, tracepoints, hardware counters, debug
 * symbols; and the commands that change what it does not.
 *
 *	open = doctor_print(DOCTOR_TEXT, &text);
 */
#ifndef PP_GUIDE_DOCTOR_H
#define PP_GUIDE_DOCTOR_H

#include "base/buf.h"

/* The first two are what --tsv says, as a bool. */
enum doctor_form {
	DOCTOR_TEXT,	 /* a line for each thing that was looked at, and what helps */
	DOCTOR_TSV,	 /* "STATE<tab>NAME<tab>WHAT<tab>COMMAND"; the states are ok, note and no */
	DOCTOR_FEATURES, /* "NAME<tab>STATE<tab>WHAT" */
};

/* Returns how many are "no". An error is in `b`. */
unsigned doctor_print(enum doctor_form form, struct buf *b);

#endif
