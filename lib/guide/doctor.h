/*
 * What this machine allows: recording, the kernel's names, tracepoints, hardware counters, debug
 * symbols; and the commands that change what it does not.
 *
 *	open = doctor_print(tsv, &text);
 */
#ifndef PP_GUIDE_DOCTOR_H
#define PP_GUIDE_DOCTOR_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * A line for each thing that was checked, and what helps; with `tsv` rows
 * "STATE<tab>NAME<tab>WHAT<tab>COMMAND", STATE being ok, note or no. Returns how many are "no". An
 * error is in `b`.
 */
unsigned doctor_print(bool tsv, struct buf *b);

#endif
