/* A row of counts as text, in the columns of perf stat. */
#include "count/form_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUE_WIDTH  18
#define NAME_WIDTH   32 /* of an event with a count */
#define BARE_WIDTH   25 /* without one */
#define METRIC_WIDTH 35 /* with its number and what stands before it */
#define DIGITS_MAX   40 /* of a number with two decimals */

void form_text_group(const struct counts *c, uint32_t group, uint32_t cpus, struct buf *b)
{
	const struct count_group *g = &c->groups[group];
	const struct count_thread *t;

	switch (c->by) {
	case COUNT_BY_ALL: break;
	case COUNT_BY_CPU:
		if (g->cpu >= 0)
			buf_addf(b, "CPU%-7d ", g->cpu);
		break;
	case COUNT_BY_CORE:
		buf_addf(b, "S%d-D%d-C%-8d %4" PRIu32 " ", g->socket, g->die, g->core, cpus);
		break;
	case COUNT_BY_DIE: buf_addf(b, "S%d-D%-8d %4" PRIu32 " ", g->socket, g->die, cpus); break;
	case COUNT_BY_SOCKET: buf_addf(b, "S%-5d %4" PRIu32 " ", g->socket, cpus); break;
	case COUNT_BY_NODE: buf_addf(b, "N%-5d %4" PRIu32 " ", g->node, cpus); break;
	case COUNT_BY_THREAD:
		t = &c->threads[g->thread];
		buf_addf(b, "%*s", strlen(t->comm) < 16 ? (int)(16 - strlen(t->comm)) : 0, "");
		buf_add_safe(b, t->comm, strlen(t->comm));
		buf_addf(b, "-%-8" PRId64 " ", t->tid);
		break;
	}
}

void form_metric_text(const struct count_metric *m, char *text, size_t room)
{
	char suffix[3] = {0};

	if (m->suffix) {
		suffix[0] = m->space ? ' ' : m->suffix;
		suffix[1] = m->space ? m->suffix : 0;
	}
	snprintf(text, room, "%*.*f%s", m->width, m->decimals, m->value, suffix);
}

double form_deviation(const struct count_row *row)
{
	double error = count_error(row->squares, row->runs);

	return row->value > 0 ? 100 * error / row->value : 0;
}

double form_running(const struct count_row *row)
{
	if (row->running == row->enabled)
		return 100;
	return row->enabled ? 100 * (double)row->running / (double)row->enabled : 0;
}

/* Right-aligned, with marks between thousands: one takes a column, whatever its bytes are. */
static void add_number(const struct count_form *f, double v, int decimals, struct buf *b)
{
	const char *mark = f->thousands ? f->thousands : "";
	char digits[DIGITS_MAX + 320];
	size_t n, whole, columns;

	n = (size_t)snprintf(digits, sizeof(digits), "%.*f", decimals, v);
	whole = strcspn(digits, ".");
	columns = n + (*mark && whole ? (whole - 1) / 3 : 0);
	if (columns < VALUE_WIDTH)
		buf_fill(b, ' ', VALUE_WIDTH - columns);
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			buf_adds(b, mark);
		buf_addc(b, digits[i]);
	}
	buf_adds(b, digits + whole);
}

static void add_metric(const struct count_metric *m, struct buf *b)
{
	size_t start = b->len;
	char text[64];

	if (m && !m->none) {
		form_metric_text(m, text, sizeof(text));
		buf_addf(b, " # %s %s", text, m->unit);
	}
	if (b->len - start < METRIC_WIDTH)
		buf_fill(b, ' ', METRIC_WIDTH - (b->len - start));
}

static void add_name(const struct count_form *f, const struct count_event *e, size_t width,
		     struct buf *b)
{
	size_t start = b->len;

	buf_add_safe(b, e->name, strlen(e->name));
	if (b->len - start < width)
		buf_fill(b, ' ', width - (b->len - start));
	if (f->cgroups) {
		buf_addc(b, ' ');
		if (e->cgroup)
			buf_add_safe(b, e->cgroup, strlen(e->cgroup));
	}
}

/* What the line begins with. */
static void add_start(const struct count_form *f, const struct counts *c, uint32_t group,
		      const struct count_row *row, struct buf *b)
{
	if (f->interval)
		buf_addf(b, "%6" PRIu64 ".%09" PRIu64 " ", f->time / 1000000000,
			 f->time % 1000000000);
	form_text_group(c, group, row->cpus, b);
}

static void add_value(const struct count_form *f, const struct count_event *e,
		      const struct count_row *row, unsigned unit_width, struct buf *b)
{
	bool counted = row->state == COUNT_COUNTED;

	if (counted)
		add_number(f, row->value * e->scale, floor(e->scale) != e->scale ? 2 : 0, b);
	else
		buf_addf(b, "%*s", VALUE_WIDTH,
			 row->state == COUNT_NOT_COUNTED ? FORM_NOT_COUNTED : FORM_NOT_SUPPORTED);
	buf_addf(b, " %-*s ", (int)unit_width, e->unit);
	add_name(f, e, counted ? NAME_WIDTH : BARE_WIDTH, b);
}

void form_text_row(const struct count_form *f, const struct counts *c, uint32_t event,
		   uint32_t group, struct buf *b)
{
	const struct count_event *e = &c->events[event];
	const struct count_row *row = counts_row(c, event, group);
	struct count_metric m[COUNT_METRICS_MAX];
	unsigned n = row->state == COUNT_COUNTED ? count_metrics(c, event, group, m) : 0;

	add_start(f, c, group, row, b);
	add_value(f, e, row, counts_unit_width(c), b);
	add_metric(n ? &m[0] : NULL, b);
	for (unsigned i = 1; i < n; i++) {
		buf_addc(b, '\n');
		add_start(f, c, group, row, b);
		buf_fill(b, ' ', 49 + (c->by == COUNT_BY_CPU ? 8 : 0));
		add_metric(&m[i], b);
	}
	if (f->repeats > 1 && form_deviation(row) > 0)
		buf_addf(b, "  ( +-%6.2f%% )", form_deviation(row));
	if (row->running != row->enabled)
		buf_addf(b, "  (%.2f%%)", form_running(row));
	buf_addc(b, '\n');
}
