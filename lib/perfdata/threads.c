/* The names of threads, by comm, fork and exit records: numbers, whose meaning is the caller's. */
#include "perfdata/info.h"

#include "base/err.h"

#define THREADS_MAX (1u << 22) /* whose names are kept: the kernel's pid limit */

void perf_threads_release(struct perf_threads *t)
{
	map64_release(&t->comms);
	ended_release(&t->ended);
}

int perf_threads_set(struct perf_threads *t, uint32_t tid, uint32_t comm)
{
	uint32_t *c;

	if (t->comms.n >= THREADS_MAX)
		return PP_ELIMIT;
	ended_revive(&t->ended, tid);
	c = map64_put(&t->comms, tid, NULL);
	if (!c)
		return PP_ENOMEM;
	*c = comm;
	return 0;
}

int perf_threads_inherit(struct perf_threads *t, uint32_t tid, uint32_t ptid)
{
	return perf_threads_set(t, tid, perf_threads_get(t, ptid));
}

void perf_threads_exit(struct perf_threads *t, uint32_t tid)
{
	uint32_t gone;

	if (map64_get(&t->comms, tid) && ended_add(&t->ended, tid, &gone))
		map64_del(&t->comms, gone);
}
