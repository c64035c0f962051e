/* The table of the events of a stream: samples, periods, times. */
#include "stream/tally.h"

#include "base/err.h"
#include "base/intern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TALLY_ROWS_MAX	  (1u << 20)
#define TALLY_SOURCES_MAX 65536
#define TALLY_STACK	  (PS_HAS(chain) | PS_HAS(stack) | PS_HAS(user_stack))

struct row {
	uint32_t source; /* index in sources */
	const char *name, *unit;
	uint64_t samples, period, first, last, stacks, flags;
	bool timed; /* first and last are times */
};

struct source {
	const char *name;
	bool ticks; /* the clock counts something else than ns */
};

struct tally {
	struct arena arena;
	struct map64 by_id; /* source << 32 | event id of the current stream, to a row, + 1 */
	struct map64 by_source;
	struct row *rows;
	struct source *sources;
	uint32_t nrows, rows_cap, nsources, sources_cap;
	bool all;
};

int tally_new(struct tally **out, bool all)
{
	struct tally *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->all = all;
	return 0;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	map64_release(&t->by_id);
	map64_release(&t->by_source);
	free(t->rows);
	free(t->sources);
	free(t);
}

/* Room for one more entry of a table. */
static int grow(void **v, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 32;
	void *p;

	if (n < *cap)
		return 0;
	p = realloc(*v, more * size);
	if (!p)
		return PP_ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

/* The place of a source in the table; it is made when it is not there. */
static int source_of(struct tally *t, uint32_t id, uint32_t *index)
{
	bool fresh;
	uint32_t *slot = map64_put(&t->by_source, id, &fresh);

	if (!slot)
		return PP_ENOMEM;
	if (fresh) {
		if (t->nsources >= TALLY_SOURCES_MAX)
			return PP_ELIMIT;
		if (grow((void **)&t->sources, t->nsources, &t->sources_cap, sizeof(*t->sources)))
			return PP_ENOMEM;
		*slot = t->nsources;
		t->sources[t->nsources++] = (struct source){.name = ""};
	}
	*index = *slot;
	return 0;
}

static int on_source(struct tally *t, const struct ps_record *rec)
{
	uint32_t i;
	int rc = source_of(t, rec->source, &i);

	if (rc)
		return rc;
	t->sources[i].name = arena_dup(&t->arena, rec->src.name.p, rec->src.name.len);
	return t->sources[i].name ? 0 : PP_ENOMEM;
}

static int on_meta(struct tally *t, const struct ps_record *rec)
{
	const struct ps_meta *m = &rec->meta;
	uint32_t i;
	int rc;

	if (m->key.len != 9 || memcmp(m->key.p, "time_unit", 9) != 0)
		return 0;
	rc = source_of(t, rec->source, &i);
	if (!rc)
		t->sources[i].ticks = m->value.len == 5 && !memcmp(m->value.p, "ticks", 5);
	return rc;
}

/* The row of an event; one that is not described has a row without a name. */
static int row_of(struct tally *t, uint32_t source, uint32_t event, struct row **row)
{
	bool fresh;
	uint32_t *slot = map64_put(&t->by_id, (uint64_t)source << 32 | event, &fresh);
	int rc;

	if (!slot)
		return PP_ENOMEM;
	if (fresh) {
		if (t->nrows >= TALLY_ROWS_MAX)
			return PP_ELIMIT;
		if (grow((void **)&t->rows, t->nrows, &t->rows_cap, sizeof(*t->rows)))
			return PP_ENOMEM;
		*row = &t->rows[t->nrows];
		**row = (struct row){.name = "", .unit = ""};
		*slot = ++t->nrows;
		rc = source_of(t, source, &(*row)->source);
		if (rc)
			return rc;
	}
	*row = &t->rows[*slot - 1];
	return 0;
}

/* An event may be described again, when its name becomes known. */
static int on_event(struct tally *t, const struct ps_record *rec)
{
	const struct ps_event *e = &rec->event;
	struct buf name = BUF_INIT;
	struct row *row;
	int rc = row_of(t, rec->source, e->id, &row);

	if (rc)
		return rc;
	if (e->buffer.len) {
		buf_add(&name, e->buffer.p, e->buffer.len);
		buf_adds(&name, ": ");
	}
	buf_add(&name, e->name.p, e->name.len);
	row->name = name.err ? NULL : arena_dup(&t->arena, buf_str(&name), name.len);
	row->unit = arena_dup(&t->arena, e->unit.p, e->unit.len);
	row->flags = e->flags;
	buf_release(&name);
	if (row->name && row->unit)
		return 0;
	row->name = row->unit = "";
	return PP_ENOMEM;
}

static int on_sample(struct tally *t, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	struct row *row;
	int rc;

	if (!t->all && (s->flags & PS_MARK_MASK) != PS_MARK_PASS)
		return 0;
	rc = row_of(t, rec->source, s->event, &row);
	if (rc)
		return rc;
	row->samples++;
	row->stacks += (s->fields & TALLY_STACK) != 0;
	row->period += s->period;
	if (s->flags & PS_SAMPLE_NO_TIME)
		return 0;
	if (!row->timed || s->time < row->first)
		row->first = s->time;
	if (!row->timed || s->time > row->last)
		row->last = s->time;
	row->timed = true;
	return 0;
}

int tally_record(struct tally *t, const struct sreader *r, const struct ps_record *rec)
{
	(void)r;
	switch (rec->type) {
	case PS_HEADER:
		/* Ids begin again: what follows is kept apart from what came before. */
		map64_clear(&t->by_id);
		map64_clear(&t->by_source);
		return 0;
	case PS_SOURCE: return on_source(t, rec);
	case PS_META: return on_meta(t, rec);
	case PS_EVENT: return on_event(t, rec);
	case PS_SAMPLE: return on_sample(t, rec);
	default: return 0;
	}
}

bool tally_event(const struct tally *t, uint32_t i, struct tally_event *e)
{
	const struct row *row = &t->rows[i];

	if (i >= t->nrows)
		return false;
	*e = (struct tally_event){.name = row->name,
				  .samples = row->samples,
				  .stacks = row->stacks,
				  .sampled = (row->flags & PS_EVENT_SAMPLED) != 0,
				  .first = row->first,
				  .last = row->last,
				  .timed = row->timed && !t->sources[row->source].ticks};
	return true;
}

/* ---- printing ---- */

static void add_time(struct buf *b, const struct tally *t, const struct row *row, uint64_t time)
{
	char text[32];

	if (!row->timed)
		snprintf(text, sizeof(text), "-");
	else if (t->sources[row->source].ticks)
		snprintf(text, sizeof(text), "%" PRIu64, time);
	else
		snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, time / 1000000000,
			 time % 1000000000);
	buf_addf(b, " %20s", text);
}

static void print_row(struct buf *b, const struct tally *t, const struct row *row)
{
	buf_addf(b, "%12" PRIu64 " %20" PRIu64 "  %-12s", row->samples, row->period, row->unit);
	add_time(b, t, row, row->first);
	add_time(b, t, row, row->last);
	buf_adds(b, "  ");
	buf_add_safe(b, row->name, strlen(row->name));
	buf_addc(b, '\n');
}

static void print_json(struct buf *b, const struct tally *t, const struct row *row)
{
	const struct source *s = &t->sources[row->source];

	buf_addf(b, "{\"type\":\"events\",\"source\":%" PRIu32 ",\"file\":", row->source + 1);
	buf_add_json(b, s->name, strlen(s->name));
	buf_adds(b, ",\"event\":");
	buf_add_json(b, row->name, strlen(row->name));
	buf_addf(b, ",\"samples\":%" PRIu64 ",\"period\":%" PRIu64 ",\"unit\":", row->samples,
		 row->period);
	buf_add_json(b, row->unit, strlen(row->unit));
	if (row->timed)
		buf_addf(b, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, row->first, row->last);
	buf_adds(b, "}\n");
}

int tally_print(const struct tally *t, struct out *o, bool json)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t s = 0; s < t->nsources && !rc; s++) {
		if (!json) {
			buf_adds(&b, s ? "\n# " : "# ");
			buf_add_safe(&b, t->sources[s].name, strlen(t->sources[s].name));
			buf_addf(&b, "\n# %10s %20s  %-12s %20s %20s  %s\n", "samples", "period",
				 "unit", "first", "last", "event");
		}
		for (uint32_t i = 0; i < t->nrows; i++) {
			if (t->rows[i].source == s)
				(json ? print_json : print_row)(&b, t, &t->rows[i]);
		}
		rc = b.err ? b.err : out_add(o, b.data, b.len);
		buf_reset(&b);
	}
	buf_release(&b);
	return rc;
}
