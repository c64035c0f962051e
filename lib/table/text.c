#include "table/parts.h"

#include "base/err.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP	      2
#define KEY_WIDTH_MAX 60 /* longer keys push their row to the right */

/* The cells of a text table: all in one buffer, then printed in columns. */
struct grid {
	struct buf text;
	uint32_t *ends; /* in text, by cell */
	size_t n, cap;
	uint32_t columns;
	uint32_t nkeys; /* of them */
	uint32_t width[TABLE_KEYS_MAX + TABLE_VALUES_MAX * TABLE_NSTATS];
	int err;
};

/* Columns that a text takes: characters, not bytes. */
static uint32_t text_width(const char *s, size_t n)
{
	uint32_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((uint8_t)s[i] & 0xc0) != 0x80;
	return w;
}

/* Ends the cell whose text was added. */
static void end_cell(struct grid *g)
{
	uint32_t column = (uint32_t)(g->n % g->columns), begin, width;

	if (g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 256;
		uint32_t *ends = realloc(g->ends, cap * sizeof(*ends));

		if (!ends) {
			g->err = PP_ENOMEM;
			return;
		}
		g->ends = ends;
		g->cap = cap;
	}
	if (g->text.len > UINT32_MAX) {
		g->err = PP_ELIMIT;
		return;
	}
	begin = g->n ? g->ends[g->n - 1] : 0;
	g->ends[g->n++] = (uint32_t)g->text.len;
	width = text_width(buf_str(&g->text) + begin, g->text.len - begin);
	if (width > g->width[column] && width <= KEY_WIDTH_MAX)
		g->width[column] = width;
}

/* ns as seconds, as recordings print times. */
static void add_time(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%llu.%06u", (unsigned long long)(ns / 1000000000),
		 (unsigned)(ns / 1000 % 1000000));
}

static void add_key(const struct table *t, uint32_t row, uint32_t k, struct buf *scratch,
		    struct buf *b)
{
	if (t->keys[k].kind == TABLE_WINDOW && row != t->other) {
		add_time(b, t->key[(size_t)row * t->nkeys + k]);
		return;
	}
	buf_reset(scratch);
	table_key_add(t, row, k, scratch);
	buf_add_safe(b, buf_str(scratch), scratch->len);
}

static void add_stat(struct buf *b, const struct table_numbers *n, enum table_stat stat,
		     const char *unit)
{
	if (stat == TABLE_STAT_COUNT) {
		buf_add_u64(b, n->count, 0, ' ');
		return;
	}
	if (!n->count || (stat == TABLE_STAT_SHARE && isnan(n->share))) {
		buf_addc(b, '-');
		return;
	}
	switch (stat) {
	case TABLE_STAT_COUNT: break;
	case TABLE_STAT_SUM: unit_add(b, n->sum, unit); break;
	case TABLE_STAT_SHARE: buf_addf(b, "%.2f%%", n->share * 100); break;
	case TABLE_STAT_MIN: unit_add(b, n->min, unit); break;
	case TABLE_STAT_MEAN: unit_add_mean(b, n->mean, unit); break;
	case TABLE_STAT_P50:
	case TABLE_STAT_P90:
	case TABLE_STAT_P99:
	case TABLE_STAT_P999: unit_add(b, n->p[stat - TABLE_STAT_P50], unit); break;
	case TABLE_STAT_MAX: unit_add(b, n->max, unit); break;
	case TABLE_STAT_MAX_TIME: add_time(b, n->max_time); break;
	case TABLE_NSTATS: break;
	}
}

/* Stacks have no column: their frames are lines below the row. */
static bool is_stack(const struct table *t, uint32_t k)
{
	const char *name = t->keys[k].name;
	size_t n = strlen(name);

	return t->keys[k].kind == TABLE_TEXT && n >= 5 && !strcmp(name + n - 5, "stack");
}

/* The frames of a row, the innermost first. */
static void add_frames(const struct table *t, uint32_t row, struct buf *scratch, struct buf *b)
{
	for (uint32_t k = 0; k < t->nkeys; k++) {
		const char *s;
		size_t end;

		if (!is_stack(t, k))
			continue;
		buf_reset(scratch);
		table_key_add(t, row, k, scratch);
		s = buf_str(scratch);
		if (strcmp(t->keys[k].name, "stack") != 0) {
			buf_adds(b, "    ");
			buf_add_safe(b, t->keys[k].name, strlen(t->keys[k].name));
			buf_adds(b, ":\n");
		}
		for (end = scratch->len; end;) {
			size_t begin = end;

			while (begin && s[begin - 1] != ';')
				begin--;
			buf_adds(b, "        ");
			buf_add_safe(b, s + begin, end - begin);
			buf_addc(b, '\n');
			end = begin ? begin - 1 : 0;
		}
	}
}

static bool is_shown(const struct table *t, uint32_t v, int stat, uint32_t shown)
{
	return (shown & (1u << stat)) && table_has(t->values[v].kind, (enum table_stat)stat);
}

static uint32_t columns_of(const struct table *t, uint32_t v, uint32_t shown)
{
	uint32_t n = 0;

	for (int s = 0; s < TABLE_NSTATS; s++)
		n += is_shown(t, v, s, shown);
	return n;
}

static void fill_head(struct grid *g, const struct table *t, uint32_t shown)
{
	for (uint32_t k = 0; k < t->nkeys; k++) {
		if (is_stack(t, k))
			continue;
		buf_add_safe(&g->text, t->keys[k].name, strlen(t->keys[k].name));
		end_cell(g);
	}
	for (uint32_t v = 0; v < t->nvalues; v++) {
		for (int s = 0; s < TABLE_NSTATS; s++) {
			if (!is_shown(t, v, s, shown))
				continue;
			if (t->values[v].kind == TABLE_COUNT && s == TABLE_STAT_COUNT)
				buf_add_safe(&g->text, t->values[v].name,
					     strlen(t->values[v].name));
			else
				buf_adds(&g->text, table_stat_title((enum table_stat)s));
			end_cell(g);
		}
	}
}

static void fill_rows(struct grid *g, const struct table *t, uint32_t shown)
{
	hist_int total[TABLE_VALUES_MAX];
	struct buf scratch = BUF_INIT;
	uint32_t row;

	for (uint32_t v = 0; v < t->nvalues; v++)
		total[v] = table_total(t, v);
	for (uint32_t i = 0; (row = table_ordered(t, i)) != TABLE_NO_ROW && !g->err; i++) {
		for (uint32_t k = 0; k < t->nkeys; k++) {
			if (is_stack(t, k))
				continue;
			add_key(t, row, k, &scratch, &g->text);
			end_cell(g);
		}
		for (uint32_t v = 0; v < t->nvalues; v++) {
			struct table_numbers n;

			table_numbers(t, row, v, total[v], &n);
			for (int s = 0; s < TABLE_NSTATS; s++) {
				if (!is_shown(t, v, s, shown))
					continue;
				add_stat(&g->text, &n, (enum table_stat)s, t->values[v].unit);
				end_cell(g);
			}
		}
	}
	if (scratch.err)
		g->err = scratch.err;
	buf_release(&scratch);
}

/* A line above the columns that says which value they are of. */
static void group_line(const struct grid *g, const struct table *t, uint32_t shown, struct buf *b)
{
	uint32_t at = 0, column = 0;

	for (; column < g->nkeys; column++)
		at += g->width[column] + GAP;
	for (uint32_t v = 0; v < t->nvalues; v++) {
		uint32_t n = columns_of(t, v, shown), width = 0;
		size_t begin = b->len, used;

		if (t->values[v].kind != TABLE_COUNT) {
			buf_fill(b, ' ', at);
			at = 0;
			begin = b->len;
			buf_add_safe(b, t->values[v].name, strlen(t->values[v].name));
			if (*t->values[v].unit && !unit_known(t->values[v].unit)) {
				buf_adds(b, " (");
				buf_add_safe(b, t->values[v].unit, strlen(t->values[v].unit));
				buf_addc(b, ')');
			}
		}
		for (uint32_t i = 0; i < n; i++)
			width += g->width[column++] + GAP;
		used = text_width(buf_str(b) + begin, b->len - begin);
		at += used < width ? width - (uint32_t)used : GAP;
	}
	buf_addc(b, '\n');
}

/* Which columns are on the left of their room: texts. */
static uint64_t left_columns(const struct table *t)
{
	uint64_t left = 0;
	uint32_t column = 0;

	for (uint32_t k = 0; k < t->nkeys; k++)
		if (!is_stack(t, k))
			left |= (uint64_t)(t->keys[k].kind == TABLE_TEXT) << column++;
	return left;
}

static int print_grid(const struct grid *g, const struct table *t, struct buf *b, struct out *out)
{
	struct buf scratch = BUF_INIT;
	uint64_t lefts = left_columns(t);
	uint32_t begin = 0;
	int rc = 0;

	for (size_t i = 0; i < g->n && !rc; i++) {
		uint32_t column = (uint32_t)(i % g->columns), len = g->ends[i] - begin;
		const char *s = buf_str(&g->text) + begin;
		uint32_t width = text_width(s, len);
		uint32_t pad = width < g->width[column] ? g->width[column] - width : 0;
		bool left = column < g->nkeys && lefts >> column & 1;
		bool last = column + 1 == g->columns;

		buf_fill(b, ' ', left ? 0 : pad);
		buf_add(b, s, len);
		buf_fill(b, ' ', (left && !last ? pad : 0) + (last ? 0 : GAP));
		if (last) {
			buf_addc(b, '\n');
			/* The first line is the head. */
			if (i >= g->columns)
				add_frames(t, table_ordered(t, (uint32_t)(i / g->columns) - 1),
					   &scratch, b);
			rc = table_flush(b, out);
		}
		begin = g->ends[i];
	}
	rc = rc ? rc : scratch.err;
	buf_release(&scratch);
	return rc;
}

static bool has_distribution(const struct table *t)
{
	for (uint32_t v = 0; v < t->nvalues; v++)
		if (t->values[v].kind == TABLE_HIST)
			return true;
	return false;
}

/* The histograms of all rows, each below the keys of its row. */
static int draw(const struct table *t, enum hist_view view, struct buf *b, struct out *out)
{
	struct buf scratch = BUF_INIT;
	uint32_t row;
	int rc = 0;

	for (uint32_t i = 0; (row = table_ordered(t, i)) != TABLE_NO_ROW && !rc; i++) {
		for (uint32_t v = 0; v < t->nvalues && !rc; v++) {
			const struct table_value *c = &t->values[v];

			if (c->kind != TABLE_HIST || !table_cell(t, row, v)->count)
				continue;
			buf_addc(b, '\n');
			buf_add_safe(b, c->name, strlen(c->name));
			for (uint32_t k = 0; k < t->nkeys; k++) {
				buf_adds(b, k ? ", " : ": ");
				buf_add_safe(b, t->keys[k].name, strlen(t->keys[k].name));
				buf_adds(b, " = ");
				add_key(t, row, k, &scratch, b);
			}
			buf_addc(b, '\n');
			rc = hist_draw(table_cell(t, row, v), view, c->unit, b);
			if (!rc)
				rc = table_flush(b, out);
		}
	}
	rc = rc ? rc : scratch.err;
	buf_release(&scratch);
	return rc;
}

int table_write_text(const struct tables *ts, const struct table *t, const struct table_opts *o,
		     struct buf *b, struct out *out)
{
	uint32_t shown = o->stats ? o->stats : TABLE_STATS_SHOWN;
	struct grid g = {0};
	int rc;

	if (t->overlap)
		shown &= ~(1u << TABLE_STAT_SHARE);
	for (uint32_t k = 0; k < t->nkeys; k++)
		g.nkeys += !is_stack(t, k);
	g.columns = g.nkeys;
	for (uint32_t v = 0; v < t->nvalues; v++)
		g.columns += columns_of(t, v, shown);
	if (!table_nordered(t) || !g.columns)
		return 0;
	if ((ts->n > 1 || t->title) && *t->name) {
		buf_add_safe(b, t->name, strlen(t->name));
		if (t->title) {
			buf_adds(b, ": ");
			buf_add_safe(b, t->title, strlen(t->title));
		}
		buf_adds(b, "\n");
	}
	fill_head(&g, t, shown);
	fill_rows(&g, t, shown);
	if (has_distribution(t) || t->nvalues > 1)
		group_line(&g, t, shown, b);
	rc = g.err ? g.err : g.text.err;
	if (!rc)
		rc = print_grid(&g, t, b, out);
	if (!rc && o->draw)
		rc = draw(t, o->view, b, out);
	if (!rc && ts->n > 1 && ts->v[ts->n - 1] != t)
		buf_addc(b, '\n');
	free(g.ends);
	buf_release(&g.text);
	return rc ? rc : table_flush(b, out);
}

int table_flush(struct buf *b, struct out *out)
{
	int rc = b->err ? b->err : out_add(out, buf_str(b), b->len);

	buf_reset(b);
	return rc;
}

int tables_write(struct tables *ts, const struct table_opts *o, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n && !rc; i++) {
		if (!ts->v[i]->sorted)
			rc = table_sort(ts->v[i], NULL);
		if (rc)
			break;
		switch (o->form) {
		case TABLE_FORM_TEXT: rc = table_write_text(ts, ts->v[i], o, &b, out); break;
		case TABLE_FORM_TSV: rc = table_write_tsv(ts, ts->v[i], &b, out); break;
		case TABLE_FORM_JSON: rc = table_write_json(ts->v[i], &b, out); break;
		}
	}
	if (!rc && o->form == TABLE_FORM_JSON) {
		buf_addf(&b, "{\"end\":{\"tables\":%u,\"lost\":%llu,\"partial\":%s}}\n", ts->n,
			 (unsigned long long)ts->lost, ts->partial ? "true" : "false");
		rc = table_flush(&b, out);
	}
	buf_release(&b);
	return rc;
}
