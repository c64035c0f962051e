/*
 * Removing groups of probes. Private to lib/inplace; inplace_sweep is public.
 *
 *	rc = sweep_group(&tracefs, TRACEFS_UPROBES, "pcap_1_2_3", &why);
 */
#ifndef PP_INPLACE_SWEEP_H
#define PP_INPLACE_SWEEP_H

#include "base/buf.h"
#include "probe/probe_lists.h"

/*
 * All events of a group; `patient`: it waits a while for those in use. 0, or a code with the reason
 * in `why`.
 */
int sweep_group(const struct tracefs *t, enum tracefs_list list, const char *group, bool patient,
		struct buf *why);

#endif
