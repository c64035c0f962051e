/* The summary of plat --timehist: a line for each thread, then the CPUs. */
#include "base/err.h"
#include "history/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int by_tid(const void *a, const void *b)
{
	const struct history_thread *const *x = a, *const *y = b;

	if ((*x)->tid != (*y)->tid)
		return (*x)->tid < (*y)->tid ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* The standard deviation of the mean, in percent of it. */
static double deviation(const struct history_stats *s)
{
	if (s->n < 2 || s->mean <= 0)
		return 0;
	return 100 * sqrt(s->squares / (double)(s->n - 1) / (double)s->n) / s->mean;
}

static void put_thread(struct history *h, const struct history_thread *t)
{
	struct buf *b = &h->b;
	struct buf name = BUF_INIT;

	history_task(h, t, &name);
	buf_addf(b, "%*s   %5" PRId32 "  %9" PRIu64 " ", h->width, buf_str(&name), (int32_t)t->ppid,
		 t->runs.n);
	buf_inherit(b, &name);
	buf_release(&name);
	history_ms(b, t->runs.sum, 8);
	if (h->o.state) {
		history_ms(b, t->sleep, 6);
		buf_addc(b, ' ');
		history_ms(b, t->disk, 6);
		buf_addc(b, ' ');
		history_ms(b, t->preempted, 6);
		buf_addc(b, ' ');
		history_ms(b, t->delays, 6);
		buf_addc(b, '\n');
		return;
	}
	history_ms(b, t->runs.min, 6);
	buf_addc(b, ' ');
	history_ms(b, (uint64_t)t->runs.mean, 6);
	buf_addc(b, ' ');
	history_ms(b, t->runs.max, 6);
	buf_addf(b, "  %5.2f   %5" PRIu64 "\n", deviation(&t->runs), t->migrations);
}

static void put_head(struct history *h)
{
	struct buf *b = &h->b;

	if (h->o.idle) {
		buf_addf(b, "\nIdle-time summary\n%*s  parent  sched-out  ", h->width, "comm");
		buf_adds(b, "  idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n");
	} else if (h->o.state) {
		buf_addf(b, "\nWait-time summary\n%*s  parent   sched-in  ", h->width, "comm");
		buf_adds(b, "   run-time      sleep      iowait     preempt       delay\n");
	} else {
		buf_addf(b, "\nRuntime summary\n%*s  parent   sched-in  ", h->width, "comm");
		buf_adds(b, "   run-time    min-run     avg-run     max-run  stddev  migrations\n");
	}
	buf_addf(b, "%*s            (count)       (msec)     (msec)      (msec)      (msec)",
		 h->width, "");
	buf_addf(b, "       %s\n", h->o.state ? "(msec)" : "%");
	buf_fill(b, '-', 117);
	buf_addc(b, '\n');
}

static void put_cpus(struct history *h, uint64_t *switches)
{
	uint64_t all = h->end - h->first;

	buf_adds(&h->b, "\nIdle stats:\n");
	for (uint32_t i = 0; i < h->ncpus; i++) {
		const struct history_cpu *c = &h->cpus[i];
		const struct history_thread *t = c->idle ? &h->threads[c->idle - 1] : NULL;

		if (t && t->runs.n) {
			*switches += t->runs.n;
			buf_addf(&h->b, "    CPU %2" PRIu32 " idle for ", i);
			history_ms(&h->b, t->runs.sum, 6);
			buf_addf(&h->b, " msec  (%6.2f%%)\n",
				 all ? 100.0 * (double)t->runs.sum / (double)all : 0.0);
		} else if (c->last) {
			buf_addf(&h->b, "    CPU %2" PRIu32 " never idle\n", i);
		} else {
			buf_addf(&h->b, "    CPU %2" PRIu32 " without a switch\n", i);
		}
	}
}

void history_summarize(struct history *h)
{
	const struct history_thread **v = calloc(h->nthreads + 1, sizeof(struct history_thread *));
	uint64_t tasks = 0, switches = 0, run = 0;
	uint32_t n = 0, shown;

	if (!v) {
		h->b.err = PP_ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < h->nthreads; i++)
		if (h->threads[i].runs.n && !h->threads[i].idle)
			v[n++] = &h->threads[i];
	if (n)
		qsort(v, n, sizeof(v[0]), by_tid);
	put_head(h);
	for (int ended = 0; ended < 2; ended++) {
		shown = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (v[i]->ended != ended)
				continue;
			put_thread(h, v[i]);
			shown++;
			tasks++;
			switches += v[i]->runs.n;
			run += v[i]->runs.sum;
		}
		if (!shown)
			buf_addf(&h->b, "<no %s tasks>\n", ended ? "terminated" : "still running");
		if (!ended)
			buf_adds(&h->b, "\nTerminated tasks:\n");
	}
	free(v);
	/* Of CPUs nothing can be told if events were left out. */
	if (h->skipped && !h->o.idle)
		return;
	put_cpus(h, &switches);
	buf_addf(&h->b,
		 "\n    Total number of unique tasks: %" PRIu64
		 "\nTotal number of context switches: %" PRIu64
		 "\n           Total run time (msec): ",
		 tasks, switches);
	history_ms(&h->b, run, 2);
	buf_adds(&h->b, "\n    Total scheduling time (msec): ");
	history_ms(&h->b, h->end - h->first, 2);
	buf_addf(&h->b, " (x %" PRIu32 ")\n", h->ncpus);
}
