/* The names of threads, as perf has them. */
#include "perfdata/decoder.h"

#include <stdio.h>

/*
 * perf's names: "swapper" for the idle thread, ":TID" for one whose name is not recorded. Where
 * perf writes ":-1" it is no number: the thread has ended, and it is called so.
 */
int perf_comm(struct perf_decoder *p, uint32_t tid, uint32_t *comm)
{
	char name[16];
	int n;

	*comm = perf_threads_get(&p->threads, tid);
	if (*comm)
		return 0;
	if (!tid)
		return perf_put_string(p, "swapper", 7, comm);
	if (tid == PS_NONE)
		return perf_put_string(p, "(exited)", 8, comm);
	n = snprintf(name, sizeof(name), ":%d", (int)tid);
	return perf_put_string(p, name, (size_t)n, comm);
}
