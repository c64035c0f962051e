/* The names of threads, by comm and fork records: as numbers, whose meaning is the caller's. */
#include "perfdata/info.h"

#include "base/err.h"

#include <stdlib.h>

#define THREADS_MAX (1u << 22) /* whose names are kept: the kernel's pid limit */

void perf_threads_release(struct perf_threads *t)
{
	map64_release(&t->by_tid);
	free(t->comms);
}

/* The place of a thread's name: an id, 0 if it has none. NULL: out of memory. */
static uint32_t *thread_comm(struct perf_threads *t, uint32_t tid)
{
	uint32_t *slot = map64_put(&t->by_tid, tid, NULL);

	if (!slot)
		return NULL;
	if (!*slot) {
		if (t->n == t->cap) {
			uint32_t cap = t->cap ? t->cap * 2 : 256;
			uint32_t *v = realloc(t->comms, cap * sizeof(*v));

			if (!v)
				return NULL;
			t->comms = v;
			t->cap = cap;
		}
		t->comms[t->n++] = 0;
		*slot = t->n;
	}
	return &t->comms[*slot - 1];
}

int perf_threads_set(struct perf_threads *t, uint32_t tid, uint32_t comm)
{
	uint32_t *c;

	if (t->n >= THREADS_MAX)
		return PP_ELIMIT;
	c = thread_comm(t, tid);
	if (!c)
		return PP_ENOMEM;
	*c = comm;
	return 0;
}

int perf_threads_inherit(struct perf_threads *t, uint32_t tid, uint32_t ptid)
{
	return perf_threads_set(t, tid, perf_threads_get(t, ptid));
}
