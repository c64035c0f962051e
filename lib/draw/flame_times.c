/* The samples of event streams one by one, with their times: for a page's order of time. */
#include "draw/flame_tree.h"

#include "base/err.h"
#include "draw/page.h"
#include "fold/fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of each node of a fold that of the tree; of a stack that was cut, that of what is left of it. */
static int match_nodes(struct flame *f, const struct fold *fold, uint32_t **out)
{
	uint32_t n = fold_nodes(fold), *v = calloc(n ? n : 1, sizeof(*v));
	int rc = v ? 0 : PP_ENOMEM;

	for (uint32_t i = 1; i < n && !rc; i++) {
		uint32_t name, parent = fold_node(fold, i, &name, NULL), id;
		size_t len;
		const char *text = fold_name_text(fold, name, &len);

		id = intern_find(&f->names, text, len);
		v[i] = v[parent];
		if (!id || (parent && !v[parent]))
			continue;
		rc = flame_callee(f, v[parent], id, false, &id);
		v[i] = id != FLAME_ROOT ? id : v[parent];
	}
	*out = v;
	return rc;
}

int flame_times_add(struct flame *f, const struct fold *fold)
{
	const struct fold_time *from;
	struct flame_time *v;
	uint32_t n, *node = NULL;
	int rc = fold_times(fold, &from, &n);

	if (rc)
		return rc;
	if (n > FOLD_TIMES_MAX - f->ntimes)
		return PP_ELIMIT;
	rc = match_nodes(f, fold, &node);
	v = rc ? NULL : realloc(f->times, ((size_t)f->ntimes + n) * sizeof(*v));
	if (v) {
		f->times = v;
		for (uint32_t i = 0; i < n; i++) {
			v[f->ntimes++] = (struct flame_time){from[i].time, from[i].weight,
							     node[from[i].node], from[i].tid};
			f->times_sum += (long double)from[i].weight;
		}
	}
	free(node);
	return rc ? rc : v ? 0 : PP_ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct flame_time *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time ? 1 : 0;
}

bool flame_times_whole(const struct flame *f)
{
	long double all = f->account.total, sum = f->times_sum * (long double)f->factor;

	return f->ntimes && fabsl(sum - all) <= 1e-9L * all;
}

int flame_times_column(struct flame *f, const uint32_t *node, struct buf *column,
		       struct buf *threads)
{
	struct map64 seen = MAP64_INIT;
	uint64_t last = f->ntimes ? f->times[0].time : 0;
	uint32_t nthreads = 0;

	/* They are in order, but for those of several inputs. */
	for (uint32_t i = 1; i < f->ntimes; i++)
		if (f->times[i].time < f->times[i - 1].time) {
			qsort(f->times, f->ntimes, sizeof(*f->times), by_time);
			last = f->times[0].time;
			break;
		}
	for (uint32_t i = 0; i < f->ntimes; i++) {
		const struct flame_time *t = &f->times[i];
		uint32_t *slot = map64_put(&seen, t->tid, NULL);

		if (!slot) {
			map64_release(&seen);
			return PP_ENOMEM;
		}
		if (!*slot) {
			*slot = ++nthreads;
			buf_addf(threads, "%s%" PRId32, nthreads > 1 ? "," : "", (int32_t)t->tid);
		}
		page_number(column, *slot - 1);
		page_number(column, node[t->node]);
		page_number(column, t->time - last);
		page_number(column, t->weight);
		last = t->time;
	}
	map64_release(&seen);
	return column->err ? column->err : threads->err;
}
