/*
 * Writes callgrind's format (Valgrind manual, "Callgrind Format Specification"), for KCachegrind:
 * the cost of lines themselves, and that of calls with all they called. A call counts once for a
 * sample, however often its stack has it; how often calls happened is not known: the number of
 * samples through them is in its place.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

struct leaf {
	uint32_t stack, event;
};

struct cost {
	uint64_t weight, count;
};

struct function {
	uint32_t name, dso, file;
};

/* A line of a function, and what it calls. */
struct row {
	uint32_t function, line, callee; /* callee 0: the cost of the line itself */
};

struct writer {
	struct conv *c;
	struct intern leaves;
	struct cost *sums; /* by leaf */
	uint32_t nsums;
	/* Made at the end. */
	struct intern functions, rows, pairs; /* pairs of functions, caller and callee */
	uint32_t *of;			      /* by frame: its function */
	struct cost *costs;		      /* by row, of one event after the other */
	uint32_t ncosts;
	uint32_t *last, nlast; /* by pair: the leaf whose stack had it */
	struct buf b, text;
};

static int open_callgrind(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (w)
		w->c = c;
	return w ? 0 : PP_ENOMEM;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;
	struct leaf leaf = {s->stack, s->event};
	struct prof_frame nothing = {0};
	struct cost *v;
	uint32_t id;
	int rc = 0;

	/* What has no stack is a function, too, or the sum would be wrong. */
	if (!s->stack)
		rc = prof_frame(w->c->p, &nothing, &id);
	if (!s->stack && !rc)
		rc = prof_push(w->c->p, 0, id, &leaf.stack);
	if (!rc)
		rc = intern_add(&w->leaves, &leaf, sizeof(leaf), &id, NULL);

	v = rc ? NULL : array_widen(w->sums, &w->nsums, id, 4096, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	w->sums = v;
	v[id].weight += s->weight;
	v[id].count += s->count ? s->count : 1;
	return 0;
}

/* ---- adding up ---- */

static int function_of(struct writer *w, uint32_t frame)
{
	struct prof *p = w->c->p;
	const struct prof_frame *f = prof_frame_of(p, frame);
	struct function key = {.dso = f->dso, .file = f->file};
	int rc;

	buf_reset(&w->text);
	prof_show(p, f, &w->text);
	rc = w->text.err ? w->text.err : prof_text(p, buf_str(&w->text), w->text.len, &key.name);
	return rc ? rc : intern_add(&w->functions, &key, sizeof(key), &w->of[frame], NULL);
}

static int add_row(struct writer *w, const struct row *row, uint32_t event, const struct cost *sum)
{
	uint32_t events = w->c->p->events.n, id, place;
	struct cost *v;
	int rc = intern_add(&w->rows, row, sizeof(*row), &id, NULL);

	if (rc || id > INT32_MAX / events)
		return rc ? rc : PP_ELIMIT;
	place = (id - 1) * events + event - 1;
	v = array_widen(w->costs, &w->ncosts, place, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	w->costs = v;
	v[place].weight += sum->weight;
	v[place].count += sum->count;
	return 0;
}

/* A call in the stack of a leaf: again in the same stack, it does not count. */
static int add_call(struct writer *w, uint32_t leaf, const struct row *row)
{
	const struct leaf *l =
		(const struct leaf *)(const void *)intern_get(&w->leaves, leaf, NULL);
	uint32_t pair[2] = {row->function, row->callee}, id, *v;
	int rc = intern_add(&w->pairs, pair, sizeof(pair), &id, NULL);

	v = rc ? NULL : array_widen(w->last, &w->nlast, id, 1024, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	w->last = v;
	if (v[id] == leaf)
		return 0;
	v[id] = leaf;
	return add_row(w, row, l->event, &w->sums[leaf]);
}

static int add_leaf(struct writer *w, uint32_t leaf)
{
	const struct leaf *l =
		(const struct leaf *)(const void *)intern_get(&w->leaves, leaf, NULL);
	uint32_t stack = l->stack, frame;
	struct row row = {0};
	int rc = 0;

	for (uint32_t callee = 0; stack && !rc; callee = row.function) {
		stack = prof_up(w->c->p, stack, &frame);
		row.function = w->of[frame];
		row.line = prof_frame_of(w->c->p, frame)->line;
		row.callee = callee;
		rc = callee ? add_call(w, leaf, &row) : add_row(w, &row, l->event, &w->sums[leaf]);
	}
	return rc;
}

/* ---- writing ---- */

static const struct function *function_at(const struct writer *w, uint32_t id)
{
	return (const struct function *)(const void *)intern_get(&w->functions, id, NULL);
}

/* A name with its number, which stands for it from then on. */
static void add_name(struct writer *w, const char *what, uint32_t id, uint32_t text)
{
	struct ps_str s = text ? prof_str(w->c->p, text) : ps_str("???", 3);

	buf_addf(&w->b, "%s=(%u) ", what, id);
	for (uint32_t i = 0; i < s.len; i++)
		buf_addc(&w->b, (uint8_t)s.p[i] < ' ' ? '?' : s.p[i]);
	buf_addc(&w->b, '\n');
}

static void add_costs(struct writer *w, uint32_t row, uint32_t line)
{
	uint32_t events = w->c->p->events.n;

	buf_add_u64(&w->b, line, 0, ' ');
	for (uint32_t e = 0; e < events; e++) {
		uint32_t place = (row - 1) * events + e;

		buf_addc(&w->b, ' ');
		buf_add_u64(&w->b, place < w->ncosts ? w->costs[place].weight : 0, 0, ' ');
	}
	buf_addc(&w->b, '\n');
}

static uint64_t samples_of(const struct writer *w, uint32_t row)
{
	uint32_t events = w->c->p->events.n, place = (row - 1) * events;
	uint64_t n = 0;

	for (uint32_t e = 0; e < events && place + e < w->ncosts; e++)
		n += w->costs[place + e].count;
	return n;
}

static int put_row(struct writer *w, uint32_t id, uint32_t *function)
{
	const struct row *row = (const struct row *)(const void *)intern_get(&w->rows, id, NULL);
	const struct function *f = function_at(w, row->function);

	if (row->function != *function) {
		buf_addc(&w->b, '\n');
		add_name(w, "ob", f->dso + 1, prof_dso_of(w->c->p, f->dso)->path);
		add_name(w, "fl", f->file + 1, f->file);
		add_name(w, "fn", row->function, f->name);
		*function = row->function;
	}
	if (row->callee) {
		f = function_at(w, row->callee);
		add_name(w, "cob", f->dso + 1, prof_dso_of(w->c->p, f->dso)->path);
		add_name(w, "cfi", f->file + 1, f->file);
		add_name(w, "cfn", row->callee, f->name);
		buf_addf(&w->b, "calls=%llu 0\n", (unsigned long long)samples_of(w, id));
	}
	add_costs(w, id, row->line);
	return conv_flush(w->c, &w->b, CONV_BLOCK);
}

/* Letters, digits and _ only. */
static void add_event(struct buf *b, struct ps_str name)
{
	for (uint32_t i = 0; i < name.len; i++)
		buf_addc(b, strchr(" :-/,.=#", name.p[i]) ? '_' : name.p[i]);
}

static void put_head(struct writer *w)
{
	struct prof *p = w->c->p;
	uint64_t sum;

	buf_addf(
		&w->b,
		"# callgrind format\nversion: 1\ncreator: perfpipe pconv %s\ndesc: Note: of samples: "
		"calls= is how many samples went through a call\n",
		pp_version);
	if (w->c->cmdline.len) {
		buf_adds(&w->b, "cmd: ");
		buf_add_safe(&w->b, buf_str(&w->c->cmdline), w->c->cmdline.len);
		buf_addc(&w->b, '\n');
	}
	buf_adds(&w->b, "positions: line\n");
	for (uint32_t e = 1; e <= p->events.n; e++) {
		const struct prof_event *event = prof_event_of(p, e);
		struct ps_str name = prof_str(p, event->name), unit = prof_str(p, event->unit);

		buf_adds(&w->b, "event: ");
		add_event(&w->b, name);
		buf_adds(&w->b, " : ");
		buf_add_safe(&w->b, name.p, name.len);
		buf_adds(&w->b, " (");
		buf_add_safe(&w->b, unit.p, unit.len);
		buf_adds(&w->b, ")\n");
	}
	buf_adds(&w->b, "events:");
	for (uint32_t e = 1; e <= p->events.n; e++) {
		buf_addc(&w->b, ' ');
		add_event(&w->b, prof_str(p, prof_event_of(p, e)->name));
	}
	buf_adds(&w->b, "\nsummary:");
	for (uint32_t e = 1; e <= p->events.n; e++) {
		sum = 0;
		for (uint32_t i = 1; i <= w->leaves.n; i++)
			sum += ((const struct leaf *)(const void *)intern_get(&w->leaves, i, NULL))
						       ->event == e
				       ? w->sums[i].weight
				       : 0;
		buf_addf(&w->b, " %llu", (unsigned long long)sum);
	}
	buf_addc(&w->b, '\n');
}

/* Rows by their function, those of its own lines first. */
static int by_function(const void *a, const void *b, void *ctx)
{
	const struct writer *w = ctx;
	const uint32_t *i = a, *k = b;
	const uint32_t *x = (const uint32_t *)(const void *)intern_get(&w->rows, *i, NULL);
	const uint32_t *y = (const uint32_t *)(const void *)intern_get(&w->rows, *k, NULL);
	static const int order[] = {0, 2, 1}; /* function, callee, line */

	for (int n = 0; n < 3; n++)
		if (x[order[n]] != y[order[n]])
			return x[order[n]] < y[order[n]] ? -1 : 1;
	return 0;
}

static int close_callgrind(void *ctx)
{
	struct writer *w = ctx;
	uint32_t function = 0, *order = NULL, n = w->c->p->frames.n;
	int rc = 0;

	w->of = calloc(n + 1u, sizeof(*w->of));
	if (!w->of)
		return PP_ENOMEM;
	for (uint32_t i = 1; i <= n && !rc; i++)
		rc = function_of(w, i);
	for (uint32_t i = 1; i <= w->leaves.n && !rc; i++)
		rc = add_leaf(w, i);
	if (!rc)
		order = calloc(w->rows.n + 1u, sizeof(*order));
	if (rc || !order)
		return rc ? rc : PP_ENOMEM;
	for (uint32_t i = 0; i < w->rows.n; i++)
		order[i] = i + 1;
	qsort_r(order, w->rows.n, sizeof(*order), by_function, w);
	put_head(w);
	for (uint32_t i = 0; i < w->rows.n && !rc; i++)
		rc = put_row(w, order[i], &function);
	free(order);
	return rc ? rc : conv_flush(w->c, &w->b, 0);
}

static void free_callgrind(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	intern_release(&w->leaves);
	intern_release(&w->functions);
	intern_release(&w->rows);
	intern_release(&w->pairs);
	free(w->sums);
	free(w->costs);
	free(w->of);
	free(w->last);
	buf_release(&w->b);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_callgrind = {
	.open = open_callgrind,
	.sample = sample,
	.close = close_callgrind,
	.free = free_callgrind,
};
