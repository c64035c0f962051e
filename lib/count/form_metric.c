/* Figures without their counts: a line of names, and a line of numbers for each group. */
#include "count/form_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 20

/* "branch-misses of all branches": a part needs the event that it is of. */
static void add_metric_name(const struct count_event *e, const struct count_metric *m,
			    struct buf *b)
{
	if (!strncmp(m->unit, "of all", strlen("of all"))) {
		buf_add_safe(b, e->name, strlen(e->name));
		buf_addc(b, ' ');
	}
	buf_adds(b, m->unit);
}

/* Calls add for each figure that is to be shown. */
typedef void add_fn(const struct count_form *f, const struct count_event *e,
		    const struct count_metric *m, struct buf *b);

static void each(const struct count_form *f, const struct counts *c, uint32_t group, add_fn *add,
		 struct buf *b)
{
	struct count_metric m[COUNT_METRICS_MAX];

	for (uint32_t e = 0; e < c->n_events; e++) {
		unsigned n = count_metrics(c, e, group, m);

		for (unsigned i = 0; i < n; i++)
			if (m[i].only)
				add(f, &c->events[e], &m[i], b);
	}
}

static void add_head(const struct count_form *f, const struct count_event *e,
		     const struct count_metric *m, struct buf *b)
{
	struct buf name = BUF_INIT;

	add_metric_name(e, m, &name);
	if (f->kind == COUNT_CSV)
		buf_addf(b, "%s%s", buf_str(&name), f->separator);
	else
		buf_addf(b, "%*s ", WIDTH, buf_str(&name));
	buf_inherit(b, &name);
	buf_release(&name);
}

static void add_figure(const struct count_form *f, const struct count_event *e,
		       const struct count_metric *m, struct buf *b)
{
	struct buf name = BUF_INIT;
	char text[64] = "";
	size_t width;

	add_metric_name(e, m, &name);
	if (f->kind == COUNT_JSON) {
		buf_adds(b, ", ");
		buf_add_json(b, buf_str(&name), name.len);
		if (m->none)
			buf_adds(b, " : null");
		else
			buf_addf(b, " : %.*f", m->decimals, m->value);
	} else if (f->kind == COUNT_CSV) {
		if (!m->none)
			buf_addf(b, "%.*f", m->decimals, m->value);
		buf_adds(b, f->separator);
	} else {
		if (!m->none)
			form_metric_text(m, text, sizeof(text));
		width = name.len > WIDTH ? name.len : WIDTH;
		buf_addf(b, "%*s ", (int)width, text);
	}
	buf_inherit(b, &name);
	buf_release(&name);
}

/* Columns of what a group is called. */
static int group_width(const struct counts *c)
{
	static const int widths[] = {
		[COUNT_BY_CPU] = 11,	[COUNT_BY_CORE] = 20, [COUNT_BY_DIE] = 17,
		[COUNT_BY_SOCKET] = 12, [COUNT_BY_NODE] = 12, [COUNT_BY_THREAD] = 26,
	};

	return widths[c->by];
}

void form_metric_names(const struct count_form *f, const struct counts *c, struct buf *b)
{
	if (f->kind == COUNT_CSV) {
		if (f->interval)
			buf_addf(b, "time%s", f->separator);
		if (c->by != COUNT_BY_ALL)
			buf_addf(b, "%s%s", count_by_name(c->by), f->separator);
		if (group_width(c) && c->by != COUNT_BY_CPU && c->by != COUNT_BY_THREAD)
			buf_addf(b, "cpus%s", f->separator);
	} else if (!f->interval) {
		buf_addf(b, "%*s", group_width(c), "");
	}
	if (c->n_groups)
		each(f, c, 0, add_head, b);
	buf_addc(b, '\n');
}

static void add_line(const struct count_form *f, const struct counts *c, uint32_t group,
		     struct buf *b)
{
	uint32_t cpus = c->n_events ? counts_row(c, 0, group)->cpus : 0;

	if (f->kind == COUNT_JSON) {
		buf_addf(b, "{\"interval\" : %" PRIu64 ".%09" PRIu64, f->time / 1000000000,
			 f->time % 1000000000);
		if (c->by != COUNT_BY_ALL) {
			struct buf name = BUF_INIT;

			form_text_group(c, group, cpus, &name);
			while (name.len && name.data[name.len - 1] == ' ')
				name.data[--name.len] = 0;
			buf_addf(b, ", \"%s\" : ", count_by_name(c->by));
			buf_add_json(b, buf_str(&name), name.len);
			buf_inherit(b, &name);
			buf_release(&name);
		}
		each(f, c, group, add_figure, b);
		buf_adds(b, "}\n");
		return;
	}
	if (f->interval)
		buf_addf(b, "%6" PRIu64 ".%09" PRIu64 "%s", f->time / 1000000000,
			 f->time % 1000000000, f->kind == COUNT_CSV ? f->separator : " ");
	if (f->kind == COUNT_CSV)
		form_csv_group(f, c, group, cpus, b);
	else
		form_text_group(c, group, cpus, b);
	each(f, c, group, add_figure, b);
	buf_addc(b, '\n');
}

void form_metric_rows(const struct count_form *f, const struct counts *c, struct buf *b)
{
	for (uint32_t g = 0; g < c->n_groups; g++)
		add_line(f, c, g, b);
}
