/* The text form of a table: columns for people, with the frames of stacks below their row. */
#include "table/parts.h"

#include "base/err.h"
#include "event/core_pmu.h"
#include "table/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns that do not fit the terminal ---- */

/* Statistics of least use come first. What a table is sorted by, and the count, stay. */
static const enum table_stat least[] = {
	TABLE_STAT_P999, TABLE_STAT_MAX_TIME, TABLE_STAT_P90, TABLE_STAT_MIN, TABLE_STAT_SHARE,
	TABLE_STAT_P50,	 TABLE_STAT_MEAN,     TABLE_STAT_SUM, TABLE_STAT_P99, TABLE_STAT_MAX,
};

static uint64_t total(const struct fit_column *c, uint32_t n, uint32_t gap)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += c[i].hidden ? 0 : (sum ? gap : 0) + (uint64_t)c[i].width;
	return sum;
}

/* How many columns a value still has. */
static uint32_t shown_of(const struct fit_column *c, uint32_t n, uint32_t value)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < n; i++)
		shown += c[i].stat >= 0 && c[i].value == value && !c[i].hidden;
	return shown;
}

/* A statistic of all values that have another one, too. */
static void hide_stat(struct fit_column *c, uint32_t n, enum table_stat stat)
{
	for (uint32_t i = 0; i < n; i++)
		if (c[i].stat == (int)stat && !c[i].keep && shown_of(c, n, c[i].value) > 1)
			c[i].hidden = true;
}

/*
 * Hides columns until all fit, `gap` characters apart, or none is left to hide. Whether any is
 * hidden.
 */
static bool fit_columns(struct fit_column *c, uint32_t n, uint32_t gap, uint32_t width)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]) && total(c, n, gap) > width; i++)
		hide_stat(c, n, least[i]);
	/* Of values with one column each, the last go; the first stays. */
	for (uint32_t i = n; i-- > 0 && total(c, n, gap) > width;)
		if (c[i].stat >= 0 && c[i].value && !c[i].keep)
			c[i].hidden = true;
	for (uint32_t i = 0; i < n; i++)
		any |= c[i].hidden;
	return any;
}

/* ---- the grid ---- */

#define GAP	       2
#define NAMES_COMPARED 1024 /* rows; names of events in longer tables keep their terms */
#define KEY_WIDTH_MAX  60   /* longer keys are cut, unless the table is to be wide */

/* The cells of a text table: all in one buffer, then printed in columns. */
struct grid {
	struct buf text;
	uint32_t *ends; /* in text, by cell */
	size_t n, cap;
	uint32_t columns;
	uint32_t nkeys; /* of them */
	uint32_t last;	/* of them: the last that is shown */
	bool wide;	/* keys are not cut */
	struct fit_column column[TABLE_KEYS_MAX + TABLE_VALUES_MAX * TABLE_NSTATS];
	int err;
};

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
	if (width > KEY_WIDTH_MAX && column < g->nkeys && !g->wide)
		width = KEY_WIDTH_MAX;
	if (width > g->column[column].width)
		g->column[column].width = width;
}

/* ns as seconds, as recordings print times. */
static void add_time(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%llu.%06u", (unsigned long long)(ns / 1000000000),
		 (unsigned)(ns / 1000 % 1000000));
}

/* A column of names: those of its rows. */
struct names {
	const struct table *t;
	uint32_t k;
	struct buf *text;
};

static const char *name_of(const void *ctx, uint32_t row, size_t *len)
{
	const struct names *n = ctx;

	buf_reset(n->text);
	table_key_add(n->t, row, n->k, n->text);
	*len = n->text->len;
	return buf_str(n->text);
}

/* Cuts the terms that say how an event was recorded off its name, as in cpu-clock/freq=499/. */
static void cut_terms(const struct table *t, uint32_t k, struct buf *name)
{
	struct buf text = BUF_INIT;
	const struct names names = {t, k, &text};
	const struct event_names all = {name_of, &names, t->nrows};
	struct core_event cut;

	if (!t->rows && t->nrows <= NAMES_COMPARED &&
	    event_short_name(buf_str(name), name->len, &all, &cut)) {
		buf_reset(name);
		buf_add(name, cut.name, cut.len);
	}
	buf_inherit(name, &text);
	buf_release(&text);
}

void text_add_key(const struct table *t, uint32_t row, uint32_t k, struct buf *scratch,
		  struct buf *b)
{
	if (t->keys[k].kind == TABLE_WINDOW && row != t->other) {
		add_time(b, t->key[(size_t)row * t->nkeys + k]);
		return;
	}
	buf_reset(scratch);
	table_key_add(t, row, k, scratch);
	if (!strcmp(t->keys[k].name, "event") && row != t->other)
		cut_terms(t, k, scratch);
	buf_add_safe(b, buf_str(scratch), scratch->len);
}

void text_add_stat(struct buf *b, const struct table_numbers *n, enum table_stat stat,
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
	case TABLE_STAT_SHARE: buf_addf(b, "%.2f%%", n->percent); break;
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

bool text_shows(const struct table *t, uint32_t v, int stat, uint32_t shown)
{
	if (t->no_sum & (1u << v) && (stat == TABLE_STAT_SUM || stat == TABLE_STAT_SHARE))
		return false;
	return (shown & (1u << stat)) && table_has(t->values[v].kind, (enum table_stat)stat);
}

static uint32_t columns_of(const struct table *t, uint32_t v, uint32_t shown)
{
	uint32_t n = 0;

	for (int s = 0; s < TABLE_NSTATS; s++)
		n += text_shows(t, v, s, shown);
	return n;
}

static void fill_head(struct grid *g, const struct table *t, uint32_t shown)
{
	uint32_t column = g->nkeys;

	for (uint32_t k = 0; k < t->nkeys; k++) {
		if (is_stack(t, k))
			continue;
		buf_add_safe(&g->text, t->keys[k].name, strlen(t->keys[k].name));
		end_cell(g);
	}
	for (uint32_t v = 0; v < t->nvalues; v++) {
		for (int s = 0; s < TABLE_NSTATS; s++) {
			if (!text_shows(t, v, s, shown))
				continue;
			if (t->values[v].kind == TABLE_COUNT && s == TABLE_STAT_COUNT)
				buf_add_safe(&g->text, t->values[v].name,
					     strlen(t->values[v].name));
			else
				buf_adds(&g->text, table_stat_title((enum table_stat)s));
			g->column[column].value = v;
			g->column[column++].stat = s;
			end_cell(g);
		}
	}
}

static void fill_key(struct table_writer *x, uint32_t row, uint32_t k)
{
	if (is_stack(x->t, k))
		return;
	text_add_key(x->t, row, k, &x->text, &x->grid->text);
	end_cell(x->grid);
}

static void fill_value(struct table_writer *x, uint32_t row, uint32_t v,
		       const struct table_numbers *n)
{
	(void)row;
	for (int s = 0; s < TABLE_NSTATS; s++) {
		if (!text_shows(x->t, v, s, x->shown))
			continue;
		text_add_stat(&x->grid->text, n, (enum table_stat)s, x->t->values[v].unit);
		end_cell(x->grid);
	}
}

/* A line above the columns that says which value they are of. */
static void group_line(const struct grid *g, const struct table *t, uint32_t shown, struct buf *b)
{
	uint32_t at = 0, column = 0;

	for (; column < g->nkeys; column++)
		at += g->column[column].width + GAP;
	for (uint32_t v = 0; v < t->nvalues; v++) {
		uint32_t n = columns_of(t, v, shown), width = 0;
		size_t begin = b->len, used;

		for (uint32_t i = 0; i < n; i++, column++)
			width += g->column[column].hidden ? 0 : g->column[column].width + GAP;
		if (!width)
			continue;
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
		uint32_t room = g->column[column].width, width = text_width(s, len);
		uint32_t pad = width < room ? room - width : 0;
		bool left = column < g->nkeys && lefts >> column & 1;
		bool last = column == g->last;

		if (!g->column[column].hidden) {
			buf_fill(b, ' ', left ? 0 : pad);
			buf_add_cut(b, s, len, room, TEXT_CUT);
			buf_fill(b, ' ', (left && !last ? pad : 0) + (last ? 0 : GAP));
		}
		if (column + 1 == g->columns) {
			buf_addc(b, '\n');
			/* The first line is the head. */
			if (i >= g->columns)
				add_frames(t, table_ordered(t, (uint32_t)(i / g->columns) - 1),
					   &scratch, b);
			rc = out_take(out, b);
		}
		begin = g->ends[i];
	}
	rc = rc ? rc : scratch.err;
	buf_release(&scratch);
	return rc;
}

/* The column that the table is sorted by stays, wherever it is. */
static bool is_sorted_by(const struct table *t, const struct fit_column *c, const char *by)
{
	const char *stat = c->stat < 0 ? NULL : table_stat_name((enum table_stat)c->stat);
	size_t n = stat ? strlen(t->values[c->value].name) : 0;

	if (!stat || !by)
		return false;
	by += *by == '-';
	return !strcmp(by, stat) || (!strncmp(by, t->values[c->value].name, n) && by[n] == '.' &&
				     !strcmp(by + n + 1, stat));
}

/* Leaves out the columns that do not fit; *left_out: whether there are any. */
static void fit(struct grid *g, const struct table *t, const struct table_opts *o, bool *left_out)
{
	g->last = g->columns - 1;
	for (uint32_t i = 0; i < g->columns; i++) {
		struct fit_column *c = &g->column[i];

		c->stat = i < g->nkeys ? -1 : c->stat;
		c->keep = is_sorted_by(t, c, o->sort);
	}
	if (o->width)
		*left_out |= fit_columns(g->column, g->columns, GAP, o->width);
	while (g->column[g->last].hidden)
		g->last--;
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
				text_add_key(t, row, k, &scratch, b);
			}
			buf_addc(b, '\n');
			rc = hist_draw(table_cell(t, row, v), view, c->unit, b);
			if (!rc)
				rc = out_take(out, b);
		}
	}
	rc = rc ? rc : scratch.err;
	buf_release(&scratch);
	return rc;
}

static void add_heading(const struct table *t, struct buf *b)
{
	buf_add_safe(b, t->name, strlen(t->name));
	if (t->title) {
		buf_adds(b, ": ");
		buf_add_safe(b, t->title, strlen(t->title));
	}
	buf_adds(b, "\n");
}

int table_write_text(struct table_writer *x)
{
	static const struct table_walk walk = {.key = fill_key, .value = fill_value};
	const struct table *t = x->t;
	struct tables *ts = x->ts;
	struct grid g = {.wide = x->o->wide};
	int rc;

	for (uint32_t k = 0; k < t->nkeys; k++)
		g.nkeys += !is_stack(t, k);
	g.columns = g.nkeys;
	for (uint32_t v = 0; v < t->nvalues; v++)
		g.columns += columns_of(t, v, x->shown);
	if (!table_nordered(t) || !g.columns)
		return 0;
	if ((ts->n > 1 || t->title) && *t->name)
		add_heading(t, x->b);
	x->grid = &g;
	fill_head(&g, t, x->shown);
	rc = table_each_row(x, &walk);
	fit(&g, t, x->o, &ts->left_out);
	if (has_distribution(t) || t->nvalues > 1)
		group_line(&g, t, x->shown, x->b);
	rc = rc ? rc : g.err ? g.err : g.text.err;
	if (!rc)
		rc = print_grid(&g, t, x->b, x->out);
	if (!rc && x->o->draw)
		rc = draw(t, x->o->view, x->b, x->out);
	if (!rc && ts->n > 1 && ts->v[ts->n - 1] != t)
		buf_addc(x->b, '\n');
	free(g.ends);
	buf_release(&g.text);
	return rc;
}
