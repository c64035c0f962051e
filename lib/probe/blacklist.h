/*
 * Functions that the kernel does not let anybody probe, because its own probing uses them: the list
 * kprobes/blacklist of debugfs. Probes in them are taken out of what is to be made, and reported.
 *
 *	rc = blacklist_apply(NULL, buf_str(&kernel.symbols), &definer);	(of this machine)
 *
 * A list that cannot be read says nothing, unless it was asked for by its path: the kernel then
 * refuses such a probe itself, without saying why.
 */
#ifndef PP_PROBE_BLACKLIST_H
#define PP_PROBE_BLACKLIST_H

#include "probe/define.h"

#define BLACKLIST_FILE "/sys/kernel/debug/kprobes/blacklist"
#define BLACKLIST_MAX  (16u << 20) /* bytes of the list */

/*
 * path NULL: BLACKLIST_FILE. symbols: the text of kallsyms, for places that are counted from _text.
 * Lines of events that are forbidden are removed and count as failed. 0; PP_EACCES, reported, if
 * nothing is left of a definition; or another error that was reported.
 */
int blacklist_apply(const char *path, const char *symbols, struct definer *d);

#endif
