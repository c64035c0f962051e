/* Stacks in the order of time, for flame charts: a line for each run of equal ones. */
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

	for (uint32_t k = node; k != FOLD_ROOT; k = w->f->nodes[k].parent)
		w->path[n++] = w->f->nodes[k].name;
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
