/* Messages of what a recording lacks for the wall clock. */
#include "table/unit.h"
#include "wall/parts.h"

#include <inttypes.h>

#define FEW 50 /* of more than a part in so many it is not known: the result is partial */

bool wall_say(const struct wall *w, uint64_t unknown, uint64_t total, struct diag *d)
{
	const struct wall_account *a = &w->account;
	struct buf b = BUF_INIT;

	if (a->nameless)
		diag_say(d, NULL, "%" PRIu64 " stacks have no names: use psym before plat",
			 a->nameless);
	if (unknown) {
		unit_add(&b, (hist_int)unknown, "ns");
		buf_addf(&b, " (%.2f %%) it is not known what the threads did: ",
			 100. * (double)unknown / (double)total);
		if (a->lost)
			buf_addf(&b, "%" PRIu64 " events were lost, ", a->lost);
		diag_say(d, NULL,
			 "for %s%" PRIu64 " switches are missing, and the time before the first",
			 buf_str(&b), a->missing);
	}
	if (a->unwoken)
		diag_say(d, NULL,
			 "%" PRIu64 " waits have no wakeup: they may have been runnable in part",
			 a->unwoken);
	if (a->unknown_wakers)
		diag_say(d, NULL,
			 "for %" PRIu64
			 " wakeups the waker is not known: also record sched:sched_waking",
			 a->unknown_wakers);
	if (a->no_room)
		diag_say(d, NULL, "there were too many threads: some are left out");
	buf_release(&b);
	return a->no_room || unknown > total / FEW;
}

void wall_say_cut(uint64_t cut, struct diag *d)
{
	if (cut)
		diag_say(d, NULL,
			 "%" PRIu64 " paths go back to before the last %u pieces of threads' "
			 "times: the rest of them is [not known]",
			 cut, WALL_WINDOW);
}

void wall_say_nothing(const struct wall *w, struct diag *d)
{
	const struct wall_account *a = &w->account;

	if (!a->samples)
		diag_error(d, NULL, -1, "no samples");
	else if (!a->switches)
		diag_error(d, NULL, -1,
			   "no switches%s: record with pcap-perf --wall, or sched:sched_switch and "
			   "sched:sched_waking",
			   a->other_buffers ? " in the main trace buffer" : "");
	else
		diag_error(d, NULL, -1, "nothing to show of %" PRIu64 " switches", a->switches);
}
