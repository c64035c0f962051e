/* Stacks in the order of time, for flame charts: runs of equal ones, or each with its time. */
#include "base/array.h"
#include "base/err.h"
#include "fold/stack_tree.h"

#include <inttypes.h>
#include <stdlib.h>

void fold_chart_add(struct fold *f, uint32_t node, uint64_t weight)
{
	struct fold_run *last = f->nruns ? &f->runs[f->nruns - 1] : NULL, *v;

	if (last && last->node == node && last->lane == f->lane &&
	    weight <= UINT64_MAX - last->weight) {
		last->weight += weight;
		return;
	}
	v = array_widen(f->runs, &f->runs_cap, f->nruns, 4096, sizeof(*v));
	if (!v) {
		f->runs_err = PP_ENOMEM;
		return;
	}
	f->runs = v;
	v[f->nruns++] = (struct fold_run){weight, node, f->lane};
}

int fold_chart_each(const struct fold *f, fold_chart_visit *fn, void *ctx)
{
	int rc = f->runs_err;

	for (uint32_t i = 0; i < f->nruns && !rc; i++)
		rc = fn(ctx, f->runs[i].node, f->runs[i].weight);
	return rc;
}

/* ---- samples with their times ---- */

void fold_at(struct fold *f, uint64_t time, uint32_t tid)
{
	f->now.time = time;
	f->now.tid = tid;
	f->timed = true;
}

void fold_time_add(struct fold *f, uint32_t node, uint64_t weight)
{
	struct fold_time *v;

	if (!f->timed && !f->times_err)
		f->times_err = PP_END;
	f->timed = false;
	if (f->times_err)
		return;
	if (f->ntimes == FOLD_TIMES_MAX) {
		f->times_err = PP_ELIMIT;
		return;
	}
	v = array_widen(f->times, &f->times_cap, f->ntimes, 4096, sizeof(*v));
	if (!v) {
		f->times_err = PP_ENOMEM;
		return;
	}
	f->times = v;
	v[f->ntimes++] = (struct fold_time){f->now.time, weight, node, f->now.tid, f->lane};
}

void fold_times_keep(struct fold *f, uint32_t lane)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->ntimes; i++)
		if (f->times[i].lane == lane || !f->times[i].lane)
			f->times[n++] = f->times[i];
	f->ntimes = n;
}

int fold_times(const struct fold *f, const struct fold_time **v, uint32_t *n)
{
	*v = f->times_err ? NULL : f->times;
	*n = *v ? f->ntimes : 0;
	return f->times_err ? f->times_err : *n ? 0 : PP_END;
}

/* ---- writing ---- */

struct writing {
	const struct fold *f;
	struct out *o;
	struct buf line;
	uint32_t *path;
};

static int write_run(void *ctx, uint32_t node, uint64_t weight)
{
	struct writing *w = ctx;
	size_t n = 0, len;

	for (uint32_t k = node; k != FOLD_ROOT; k = paths_parent(&w->f->paths, k))
		w->path[n++] = paths_name(&w->f->paths, k);
	buf_reset(&w->line);
	while (n--) {
		const char *name = intern_get(&w->f->names, w->path[n], &len);

		buf_add(&w->line, name, len);
		buf_addc(&w->line, n ? ';' : ' ');
	}
	buf_add_u64(&w->line, weight, 0, ' ');
	buf_addc(&w->line, '\n');
	return w->line.err ? w->line.err : out_add(w->o, w->line.data, w->line.len);
}

int fold_chart_write(const struct fold *f, struct out *o)
{
	struct writing w = {.f = f, .o = o};
	int rc = PP_ENOMEM;

	w.path = malloc((FOLD_DEPTH_MAX + 2) * sizeof(*w.path));
	if (w.path)
		rc = fold_chart_each(f, write_run, &w);
	free(w.path);
	buf_release(&w.line);
	return rc;
}
