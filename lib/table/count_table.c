/* From rows of counts to rows of tables. */
#include "table/count_table.h"

#include "base/err.h"

#include <inttypes.h>
#include <string.h>

#define MILLION 1e6

/* What the table of an event is called, and what its values are counted in. */
struct scale {
	const char *table, *unit;
	double factor;
};

static struct scale scale_of(const struct count_event *e, struct buf *name)
{
	if (count_is_clock(e))
		return (struct scale){"time", "ns", 1};
	if (!*e->unit && e->scale == 1)
		return (struct scale){"events", "", 1};
	buf_addf(name, "u%s", *e->unit ? e->unit : "nit");
	return (struct scale){buf_str(name) + 1, buf_str(name), e->scale * MILLION};
}

static bool any_cgroup(const struct counts *c)
{
	for (uint32_t e = 0; e < c->n_events; e++)
		if (c->events[e].cgroup)
			return true;
	return false;
}

static int find_table(struct tables *ts, const struct counts *c, const struct scale *s,
		      uint64_t interval, struct table **t)
{
	const struct table_value values[] = {{"count", TABLE_SUM, s->unit, 0},
					     {"running", TABLE_SUM, "%", 0}};
	struct table_key keys[4];
	uint32_t n = 0;

	for (uint32_t i = 0; i < ts->n; i++) {
		if (!strcmp(ts->v[i]->name, s->table)) {
			*t = ts->v[i];
			return 0;
		}
	}
	if (interval)
		keys[n++] = (struct table_key){"time", TABLE_WINDOW, interval};
	keys[n++] = (struct table_key){"event", TABLE_TEXT, 0};
	if (any_cgroup(c))
		keys[n++] = (struct table_key){"cgroup", TABLE_TEXT, 0};
	if (c->by == COUNT_BY_CPU)
		keys[n++] = (struct table_key){"cpu", TABLE_SIGNED, 0};
	else if (c->by != COUNT_BY_ALL)
		keys[n++] = (struct table_key){count_by_name(c->by), TABLE_TEXT, 0};
	return tables_add(ts, s->table, keys, n, values, 2, t);
}

static void add_group(const struct counts *c, uint32_t group, struct buf *b)
{
	const struct count_group *g = &c->groups[group];

	switch (c->by) {
	case COUNT_BY_CORE: buf_addf(b, "S%d-D%d-C%d", g->socket, g->die, g->core); break;
	case COUNT_BY_DIE: buf_addf(b, "S%d-D%d", g->socket, g->die); break;
	case COUNT_BY_SOCKET: buf_addf(b, "S%d", g->socket); break;
	case COUNT_BY_NODE: buf_addf(b, "N%d", g->node); break;
	case COUNT_BY_THREAD:
		buf_addf(b, "%s-%" PRId64, c->threads[g->thread].comm, c->threads[g->thread].tid);
		break;
	case COUNT_BY_ALL:
	case COUNT_BY_CPU: break;
	}
}

static int set_keys(const struct counts *c, uint32_t event, uint32_t group, uint64_t time,
		    struct table *t, uint64_t *key)
{
	const struct count_event *e = &c->events[event];
	struct buf text = BUF_INIT;
	uint32_t n = 0;
	int rc = 0;

	if (t->keys[0].kind == TABLE_WINDOW)
		key[n++] = time;
	rc = table_text(t, e->name, strlen(e->name), &key[n++]);
	if (!rc && n < t->nkeys && !strcmp(t->keys[n].name, "cgroup"))
		rc = table_text(t, e->cgroup ? e->cgroup : "", e->cgroup ? strlen(e->cgroup) : 0,
				&key[n++]);
	if (rc || n == t->nkeys)
		return rc;
	if (c->by == COUNT_BY_CPU) {
		key[n] = (uint64_t)(int64_t)c->groups[group].cpu;
		return 0;
	}
	add_group(c, group, &text);
	rc = text.err ? text.err : table_text(t, buf_str(&text), text.len, &key[n]);
	buf_release(&text);
	return rc;
}

static int add_row(struct tables *ts, const struct counts *c, uint32_t event, uint32_t group,
		   uint64_t interval, uint64_t elapsed)
{
	const struct count_row *from = counts_row(c, event, group);
	uint64_t key[TABLE_KEYS_MAX], time = 0;
	struct buf name = BUF_INIT;
	struct scale s = scale_of(&c->events[event], &name);
	struct table *t;
	uint32_t row;
	int rc = name.err ? name.err : find_table(ts, c, &s, interval, &t);

	/* An interval ends a little late: it is the one that should have ended then. */
	if (interval && elapsed + interval / 2 >= interval)
		time = ((elapsed + interval / 2) / interval - 1) * interval;
	if (!rc)
		rc = set_keys(c, event, group, time, t, key);
	if (!rc)
		rc = table_row(t, key, &row);
	buf_release(&name);
	if (rc || from->state != COUNT_COUNTED)
		return rc;
	rc = table_add(t, row, 0, (hist_int)(from->value * s.factor + 0.5), elapsed);
	if (rc)
		return rc;
	return table_add(t, row, 1,
			 (hist_int)(100 * (double)from->running / (double)from->enabled + 0.5),
			 elapsed);
}

int count_table_add(struct tables *ts, const struct counts *c, uint64_t interval, uint64_t elapsed)
{
	int rc = 0;

	for (uint32_t e = 0; e < c->n_events && !rc; e++)
		for (uint32_t g = 0; g < c->n_groups && !rc; g++)
			rc = add_row(ts, c, e, g, interval, elapsed);
	return rc;
}
