/* Which rows are printed, in which order, and what stands above and below them. */
#include "count/form_parts.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADING_EVERY 25 /* intervals */

static void add_heading(const struct counts *c, bool metric_only, struct buf *b)
{
	static const struct {
		const char *parts, *blanks;
	} by[] = {
		[COUNT_BY_ALL] = {"", "            "},
		[COUNT_BY_CPU] = {" CPU    ", "               "},
		[COUNT_BY_CORE] = {" core            cpus", "            "},
		[COUNT_BY_DIE] = {" die          cpus", "            "},
		[COUNT_BY_SOCKET] = {" socket cpus", "            "},
		[COUNT_BY_NODE] = {" node   cpus", "            "},
		[COUNT_BY_THREAD] = {"             comm-pid", "                 "},
	};

	buf_addf(b, "#           time%s", by[c->by].parts);
	if (!metric_only)
		buf_addf(b, "%s counts %*s events\n", by[c->by].blanks, (int)counts_unit_width(c),
			 "unit");
}

void count_form_begin(struct count_form *f, const struct counts *c, struct buf *b)
{
	if (f->kind == COUNT_TEXT && f->interval && f->printed % HEADING_EVERY == 0)
		add_heading(c, f->metric_only, b);
	if (f->metric_only && f->printed % HEADING_EVERY == 0 && f->kind != COUNT_JSON) {
		if (f->kind == COUNT_TEXT && !f->interval)
			buf_addf(b, "\n Performance counter stats for %s:\n\n", f->title);
		form_metric_names(f, c, b);
	} else if (f->kind == COUNT_TEXT && !f->interval) {
		buf_addf(b, "\n Performance counter stats for ");
		buf_add_safe(b, f->title, strlen(f->title));
		if (f->repeats > 1)
			buf_addf(b, " (%u runs)", f->repeats);
		buf_adds(b, ":\n\n");
	}
	if (f->interval)
		f->printed++;
}

static void form_row(const struct count_form *f, const struct counts *c, uint32_t event,
		     uint32_t group, struct buf *b)
{
	if (!counts_row(c, event, group)->cpus)
		return; /* there is no counter of the event */
	switch (f->kind) {
	case COUNT_TEXT: form_text_row(f, c, event, group, b); break;
	case COUNT_CSV: form_csv_row(f, c, event, group, b); break;
	case COUNT_JSON: form_json_row(f, c, event, group, b); break;
	}
}

/* Events one after the other, with all CPUs or threads of each. */
static void rows_by_event(const struct count_form *f, const struct counts *c, struct buf *b)
{
	uint32_t *order = calloc(c->n_groups, sizeof(*order)), n;

	if (!order) {
		b->err = PP_ENOMEM;
		return;
	}
	for (uint32_t e = 0; e < c->n_events; e++) {
		n = counts_order(c, e, f->no_zeros, order);
		for (uint32_t i = 0; i < n; i++)
			form_row(f, c, e, order[i], b);
	}
	free(order);
}

void count_form_rows(struct count_form *f, const struct counts *c, struct buf *b)
{
	if (f->metric_only) {
		form_metric_rows(f, c, b);
		return;
	}
	if (c->by == COUNT_BY_CPU || c->by == COUNT_BY_THREAD || c->by == COUNT_BY_ALL) {
		rows_by_event(f, c, b);
		return;
	}
	for (uint32_t g = 0; g < c->n_groups; g++)
		for (uint32_t e = 0; e < c->n_events; e++)
			form_row(f, c, e, g, b);
}

/* ---- the end of the text ---- */

/* Two digits more than the deviation makes certain. */
static int precision_of(double error)
{
	return 2 + (error > 1 || error <= 0 ? 0 : (int)lround(ceil(-log10(error))));
}

static void add_table(const struct count_times *t, unsigned n, int precision, struct buf *b)
{
	struct buf first = BUF_INIT;
	int indent = 0;

	buf_addf(&first, " %17.*f", precision, t->elapsed);
	while (buf_str(&first)[indent] == ' ')
		indent++;
	buf_release(&first);
	buf_addf(b, "%*s# Table of individual measurements:\n", indent, "");
	for (unsigned i = 0; i < n; i++) {
		double run = t->each[i], off = run > 0 ? 100 * (run - t->elapsed) / run : 0;

		buf_addf(b, " %17.*f (%+.*f) ", precision, run, precision, run - t->elapsed);
		/* A mark for each 5 percent. */
		buf_fill(b, '#', (size_t)abs((int)off / 5) + 1);
		buf_addc(b, '\n');
	}
	buf_addf(b, "\n%*s# Final result:\n", indent, "");
}

void count_form_end(const struct count_form *f, const struct count_times *t, struct buf *b)
{
	int precision;

	if (f->kind != COUNT_TEXT)
		return;
	if (!f->nothing)
		buf_addc(b, '\n');
	if (f->repeats <= 1) {
		buf_addf(b, " %17.9f seconds time elapsed", t->elapsed);
		if (t->has_cpu)
			buf_addf(b, "\n\n %17.9f seconds user\n %17.9f seconds sys\n", t->user,
				 t->system);
		buf_adds(b, "\n\n");
		return;
	}
	precision = precision_of(t->error);
	if (t->each)
		add_table(t, f->repeats, precision, b);
	buf_addf(b, " %17.*f +- %.*f seconds time elapsed", precision, t->elapsed, precision,
		 t->error);
	if (t->elapsed > 0 && t->error > 0)
		buf_addf(b, "  ( +-%6.2f%% )", 100 * t->error / t->elapsed);
	buf_adds(b, "\n\n");
}
