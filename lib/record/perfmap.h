/*
 * Perf maps of running Java programs: a JVM writes one when it is asked to through its attach
 * socket, as jcmd(1) does.
 *
 *	perfmap_ask(session, true);	(before recording)
 *	perfmap_ask(session, false);	(after it: with the code compiled meanwhile)
 *
 * Format: OpenJDK's src/hotspot/os/posix/attachListener_posix.cpp; a request is the version "1",
 * the name of a command and three arguments, each with its NUL; the answer is a number, a newline,
 * and a text.
 */
#ifndef PP_RECORD_PERFMAP_H
#define PP_RECORD_PERFMAP_H

#include "record/parts.h"

/*
 * Asks all JVMs among the recorded processes, those of this user or, for root, of any user. One
 * that does not write a map is reported, unless it is `quiet`. Each may take PERFMAP_WAIT.
 */
void perfmap_ask(const struct session *s, bool quiet);

#define PERFMAP_WAIT 3000 /* ms */

#endif
