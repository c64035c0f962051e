/* A row of counts as CSV and as JSON, with the fields of perf stat -x and -j. */
#include "count/form_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names may hold anything: with the separator or a quote in it a field is quoted (RFC 4180). */
static void add_field(const struct count_form *f, const char *s, struct buf *b)
{
	bool quote = (*f->separator && strstr(s, f->separator)) || strchr(s, '"');

	if (quote)
		buf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '"')
			buf_addc(b, '"');
		buf_addc(b, (unsigned char)*s < ' ' ? ' ' : *s);
	}
	if (quote)
		buf_addc(b, '"');
}

void form_csv_group(const struct count_form *f, const struct counts *c, uint32_t group,
		    uint32_t cpus, struct buf *b)
{
	const struct count_group *g = &c->groups[group];
	const char *s = f->separator;

	switch (c->by) {
	case COUNT_BY_ALL: break;
	case COUNT_BY_CPU:
		if (g->cpu >= 0)
			buf_addf(b, "CPU%d%s", g->cpu, s);
		break;
	case COUNT_BY_CORE:
		buf_addf(b, "S%d-D%d-C%d%s%" PRIu32 "%s", g->socket, g->die, g->core, s, cpus, s);
		break;
	case COUNT_BY_DIE:
		buf_addf(b, "S%d-D%d%s%" PRIu32 "%s", g->socket, g->die, s, cpus, s);
		break;
	case COUNT_BY_SOCKET: buf_addf(b, "S%d%s%" PRIu32 "%s", g->socket, s, cpus, s); break;
	case COUNT_BY_NODE: buf_addf(b, "N%d%s%" PRIu32 "%s", g->node, s, cpus, s); break;
	case COUNT_BY_THREAD:
		add_field(f, c->threads[g->thread].comm, b);
		buf_addf(b, "-%" PRId64 "%s", c->threads[g->thread].tid, s);
		break;
	}
}

static void csv_start(const struct count_form *f, const struct counts *c, uint32_t group,
		      const struct count_row *row, struct buf *b)
{
	if (f->interval)
		buf_addf(b, "%6" PRIu64 ".%09" PRIu64 "%s", f->time / 1000000000,
			 f->time % 1000000000, f->separator);
	else if (f->summary)
		buf_addf(b, "%16s%s", "summary", f->separator);
	form_csv_group(f, c, group, row->cpus, b);
}

/* ns that were counted, of one run. */
static uint64_t runtime_of(const struct count_row *row)
{
	return row->runs ? row->running / row->runs : 0;
}

/* SEPARATOR number SEPARATOR unit, both empty where there is no metric. */
static void csv_metric(const struct count_form *f, const struct count_metric *m, struct buf *b)
{
	if (m && !m->none)
		buf_addf(b, "%s%.*f%s%s", f->separator, m->decimals, m->value, f->separator,
			 m->unit);
	else
		buf_addf(b, "%s%s", f->separator, f->separator);
}

/* Separators before the metric of a further line. */
static unsigned csv_skipped(const struct counts *c, const struct count_event *e)
{
	static const unsigned parts[] = {
		[COUNT_BY_CPU] = 1,    [COUNT_BY_CORE] = 2, [COUNT_BY_DIE] = 2,
		[COUNT_BY_SOCKET] = 2, [COUNT_BY_NODE] = 1, [COUNT_BY_THREAD] = 1,
	};

	return 3 + parts[c->by] + (e->cgroup ? 1 : 0);
}

void form_csv_row(const struct count_form *f, const struct counts *c, uint32_t event,
		  uint32_t group, struct buf *b)
{
	const struct count_event *e = &c->events[event];
	const struct count_row *row = counts_row(c, event, group);
	bool counted = row->state == COUNT_COUNTED;
	struct count_metric m[COUNT_METRICS_MAX];
	unsigned n = counted ? count_metrics(c, event, group, m) : 0;
	const char *s = f->separator;

	csv_start(f, c, group, row, b);
	if (counted)
		buf_addf(b, "%.*f%s", floor(e->scale) != e->scale ? 2 : 0, row->value * e->scale,
			 s);
	else
		buf_addf(b, "%s%s",
			 row->state == COUNT_NOT_COUNTED ? FORM_NOT_COUNTED : FORM_NOT_SUPPORTED,
			 s);
	buf_addf(b, "%s%s", e->unit, s);
	add_field(f, e->name, b);
	if (f->cgroups) {
		buf_adds(b, s);
		add_field(f, e->cgroup ? e->cgroup : "", b);
	}
	if (f->repeats > 1)
		buf_addf(b, "%s%.2f%%", s, form_deviation(row));
	buf_addf(b, "%s%" PRIu64 "%s%.2f", s, runtime_of(row), s, form_running(row));
	csv_metric(f, n ? &m[0] : NULL, b);
	for (unsigned i = 1; i < n; i++) {
		buf_addc(b, '\n');
		csv_start(f, c, group, row, b);
		for (unsigned k = csv_skipped(c, e); k; k--)
			buf_adds(b, s);
		csv_metric(f, &m[i], b);
	}
	buf_addc(b, '\n');
}

/* ---- JSON ---- */

static void json_group(const struct counts *c, uint32_t group, uint32_t cpus, struct buf *b)
{
	const struct count_group *g = &c->groups[group];
	struct buf thread = BUF_INIT;

	switch (c->by) {
	case COUNT_BY_ALL: return;
	case COUNT_BY_CPU:
		if (g->cpu >= 0)
			buf_addf(b, "\"cpu\" : \"%d\", ", g->cpu);
		return;
	case COUNT_BY_CORE:
		buf_addf(b, "\"core\" : \"S%d-D%d-C%d\", ", g->socket, g->die, g->core);
		break;
	case COUNT_BY_DIE: buf_addf(b, "\"die\" : \"S%d-D%d\", ", g->socket, g->die); break;
	case COUNT_BY_SOCKET: buf_addf(b, "\"socket\" : \"S%d\", ", g->socket); break;
	case COUNT_BY_NODE: buf_addf(b, "\"node\" : \"N%d\", ", g->node); break;
	case COUNT_BY_THREAD:
		buf_addf(&thread, "%s-%" PRId64, c->threads[g->thread].comm,
			 c->threads[g->thread].tid);
		buf_adds(b, "\"thread\" : ");
		buf_add_json(b, buf_str(&thread), thread.len);
		buf_adds(b, ", ");
		buf_inherit(b, &thread);
		buf_release(&thread);
		return;
	}
	buf_addf(b, "\"aggregate-number\" : %" PRIu32 ", ", cpus);
}

static void json_text(const char *key, const char *value, struct buf *b)
{
	buf_addf(b, "\"%s\" : ", key);
	buf_add_json(b, value, strlen(value));
	buf_adds(b, ", ");
}

static void json_start(const struct count_form *f, const struct counts *c, uint32_t group,
		       const struct count_row *row, struct buf *b)
{
	buf_addc(b, '{');
	if (f->interval)
		buf_addf(b, "\"interval\" : %" PRIu64 ".%09" PRIu64 ", ", f->time / 1000000000,
			 f->time % 1000000000);
	json_group(c, group, row->cpus, b);
}

static void json_metric(const struct count_metric *m, struct buf *b)
{
	buf_addf(b, ", \"metric-value\" : %f, \"metric-unit\" : \"%s\"", m->value, m->unit);
}

void form_json_row(const struct count_form *f, const struct counts *c, uint32_t event,
		   uint32_t group, struct buf *b)
{
	const struct count_event *e = &c->events[event];
	const struct count_row *row = counts_row(c, event, group);
	struct count_metric m[COUNT_METRICS_MAX];
	unsigned n = row->state == COUNT_COUNTED ? count_metrics(c, event, group, m) : 0;

	json_start(f, c, group, row, b);
	if (row->state == COUNT_COUNTED)
		buf_addf(b, "\"counter-value\" : \"%f\", ", row->value * e->scale);
	else
		json_text("counter-value",
			  row->state == COUNT_NOT_COUNTED ? FORM_NOT_COUNTED : FORM_NOT_SUPPORTED,
			  b);
	json_text("unit", e->unit, b);
	json_text("event", e->name, b);
	if (f->cgroups)
		json_text("cgroup", e->cgroup ? e->cgroup : "", b);
	if (f->repeats > 1)
		buf_addf(b, "\"variance\" : %.2f, ", form_deviation(row));
	buf_addf(b, "\"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f", row->running,
		 form_running(row));
	if (n && !m[0].none)
		json_metric(&m[0], b);
	buf_adds(b, "}\n");
	for (unsigned i = 1; i < n; i++) {
		json_start(f, c, group, row, b);
		json_text("event", e->name, b);
		b->len -= 2; /* the comma */
		json_metric(&m[i], b);
		buf_adds(b, "}\n");
	}
}
