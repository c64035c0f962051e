/*
 * Tables for people: text, with the frames of stacks below their row, and Markdown. What is a part
 * has its share alone; such tables and Markdown begin with the numbers, as the last keys are the
 * longest.
 */
#include "table/parts.h"

#include "base/err.h"
#include "event/core_pmu.h"
#include "table/unit.h"

#include <math.h>
#include <string.h>

#define NAMES_COMPARED 1024 /* rows; names of events in longer tables keep their terms */
#define KEY_WIDTH_MAX  60   /* longer keys are cut, unless the table is to be wide */
#define PART_KEY_MOST  40   /* beside parts they are not, but other rows have no room for them */
#define PART_WIDTH     8    /* of their numbers */

#define GAP	    2
#define COLUMNS_MAX (TABLE_KEYS_MAX + TABLE_VALUES_MAX * TABLE_NSTATS)

/* The columns that people see. */
struct grid {
	struct records to;
	struct record_column column[COLUMNS_MAX + 1];
	struct {
		uint32_t value; /* whose it is */
		int stat;	/* enum table_stat; -1: a key */
		bool keep;
	} of[COLUMNS_MAX];
	uint32_t n;
};

/* ---- columns that do not fit the terminal ---- */

/* Statistics of least use come first. What a table is sorted by, and the count, stay. */
static const enum table_stat least[] = {
	TABLE_STAT_P999, TABLE_STAT_MAX_TIME, TABLE_STAT_P90, TABLE_STAT_MIN, TABLE_STAT_SHARE,
	TABLE_STAT_P50,	 TABLE_STAT_MEAN,     TABLE_STAT_SUM, TABLE_STAT_P99, TABLE_STAT_MAX,
};

static bool too_wide(const struct grid *g, uint32_t width)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n; i++)
		sum += g->column[i].hidden ? 0 : (sum ? GAP : 0) + (uint64_t)g->column[i].width;
	return sum > width;
}

/* How many columns a value still has. */
static uint32_t shown_of(const struct grid *g, uint32_t value)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < g->n; i++)
		shown += g->of[i].stat >= 0 && g->of[i].value == value && !g->column[i].hidden;
	return shown;
}

/* A statistic of all values that have another one, too. */
static void hide_stat(struct grid *g, enum table_stat stat)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->of[i].stat == (int)stat && !g->of[i].keep && shown_of(g, g->of[i].value) > 1)
			g->column[i].hidden = true;
}

/* Hides columns until all fit, or none is left to hide. Whether any is hidden. */
static bool fit_columns(struct grid *g, uint32_t width)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]) && too_wide(g, width); i++)
		hide_stat(g, least[i]);
	/* Of values with one column each, the last go; the first stays. */
	for (uint32_t i = g->n; i-- > 0 && too_wide(g, width);)
		if (g->of[i].stat >= 0 && g->of[i].value && !g->of[i].keep)
			g->column[i].hidden = true;
	for (uint32_t i = 0; i < g->n; i++)
		any |= g->column[i].hidden;
	return any;
}

/* The column that the table is sorted by stays, wherever it is. */
static bool is_sorted_by(const struct table *t, uint32_t value, enum table_stat stat,
			 const char *by)
{
	size_t n = strlen(t->values[value].name);

	if (!by)
		return false;
	by += *by == '-';
	if (!strncmp(by, t->values[value].name, n) && by[n] == '.')
		by += n + 1;
	return !strcmp(by, table_stat_name(stat));
}

/* ---- cells ---- */

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

static void add_key(const struct table *t, uint32_t row, uint32_t k, struct buf *scratch,
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

/* Whether a value has a column for a statistic. */
static bool shows(const struct table_writer *x, uint32_t v, int stat)
{
	const struct table *t = x->t;

	if (t->values[v].kind == TABLE_PART)
		return stat == TABLE_STAT_SHARE;
	if (t->no_sum & (1u << v) && (stat == TABLE_STAT_SUM || stat == TABLE_STAT_SHARE))
		return false;
	return (x->shown & (1u << stat)) && table_has(t->values[v].kind, (enum table_stat)stat);
}

/* ---- columns ---- */

static void add_key_column(struct table_writer *x, uint32_t k)
{
	const struct table_key *key = &x->t->keys[k];
	struct grid *g = x->grid;
	bool text = g->to.form == TABLE_FORM_TEXT;

	if (text && is_stack(x->t, k))
		return;
	g->column[g->n].name = key->name;
	g->column[g->n].right = text && key->kind != TABLE_TEXT;
	g->column[g->n].most = x->values_first ? PART_KEY_MOST : x->o->wide ? 0 : KEY_WIDTH_MAX;
	g->of[g->n].value = TABLE_VALUES_MAX;
	g->of[g->n++].stat = -1;
	record_title(&g->to, key->name);
}

/* What a column is called: its value alone, its statistic, or in Markdown both. */
static void add_column(struct table_writer *x, uint32_t v, enum table_stat stat)
{
	const struct table_value *c = &x->t->values[v];
	bool part = c->kind == TABLE_PART;
	bool name = part || (c->kind == TABLE_COUNT && stat == TABLE_STAT_COUNT);
	struct grid *g = x->grid;

	g->column[g->n].name = c->name;
	g->column[g->n].right = true;
	g->column[g->n].gap = part;
	g->column[g->n].width = x->values_first ? PART_WIDTH : 0;
	g->of[g->n].value = v;
	g->of[g->n].keep = is_sorted_by(x->t, v, stat, x->o->sort);
	g->of[g->n++].stat = stat;
	buf_reset(&x->cell);
	if (name || (x->values_first && x->t->nvalues > 1))
		buf_addf(&x->cell, "%s%s", c->name, name ? "" : " ");
	buf_adds(&x->cell, name ? "" : table_stat_title(stat));
	record_title(&g->to, buf_str(&x->cell));
}

static void add_columns(struct table_writer *x)
{
	const struct table *t = x->t;

	for (uint32_t k = 0; k < t->nkeys && !x->values_first; k++)
		add_key_column(x, k);
	for (uint32_t v = 0; v < t->nvalues; v++)
		for (int s = 0; s < TABLE_NSTATS; s++)
			if (shows(x, v, s))
				add_column(x, v, (enum table_stat)s);
	for (uint32_t k = 0; k < t->nkeys && x->values_first; k++)
		add_key_column(x, k);
	records_rule(&x->grid->to);
}

/* ---- rows ---- */

static void on_key(struct table_writer *x, uint32_t row, uint32_t k)
{
	if (x->grid->to.form == TABLE_FORM_TEXT && is_stack(x->t, k))
		return;
	buf_reset(&x->cell);
	add_key(x->t, row, k, &x->text, &x->cell);
	record_text(&x->grid->to, buf_str(&x->cell), x->cell.len);
}

static void on_value(struct table_writer *x, uint32_t row, uint32_t v,
		     const struct table_numbers *n)
{
	const struct table_value *c = &x->t->values[v];

	(void)row;
	for (int s = 0; s < TABLE_NSTATS; s++) {
		struct buf *b = shows(x, v, s) ? record_open(&x->grid->to) : NULL;

		if (!b)
			continue;
		if (c->kind == TABLE_PART)
			buf_addf(b, "%.2f%%", n->percent);
		else
			add_stat(b, n, (enum table_stat)s, c->unit);
		record_close(&x->grid->to);
	}
}

static void end_row(struct table_writer *x)
{
	record_end(&x->grid->to);
}

/* A record_below_fn. */
static int add_below(void *ctx, uint32_t row, struct buf *b)
{
	struct table_writer *x = ctx;
	const struct table_rows *rows = x->t->rows;

	/* The first line is the head. */
	if (!row)
		return 0;
	if (rows)
		return rows->below ? rows->below(rows->ctx, row - 1, b) : 0;
	add_frames(x->t, table_ordered(x->t, row - 1), &x->text, b);
	return x->text.err;
}

/* A line above the columns that says which value they are of. */
static void group_line(const struct grid *g, const struct table *t, struct buf *b)
{
	uint32_t at = 0, next;

	for (uint32_t i = 0; i < g->n; i = next) {
		uint32_t width = 0, v = g->of[i].value;
		size_t begin = b->len, used;

		for (next = i; next < g->n && g->of[next].value == v; next++)
			width += g->column[next].hidden ? 0 : g->column[next].width + GAP;
		if (!width)
			continue;
		if (v < t->nvalues && t->values[v].kind != TABLE_COUNT) {
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
				rc = out_take(out, b);
		}
	}
	rc = rc ? rc : scratch.err;
	buf_release(&scratch);
	return rc;
}

/* Above a table that has a title, or one of several. */
static void add_heading(const struct table_writer *x)
{
	const struct table *t = x->t;
	bool text = x->o->form == TABLE_FORM_TEXT;
	const char *marks = text ? "" : MARKDOWN_MARKS;

	if (!*t->name || (x->ts->n < 2 && !(text && t->title)))
		return;
	if (!text)
		buf_adds(x->b, x->out->written || x->out->len ? "\n**" : "**");
	buf_add_markup(x->b, t->name, strlen(t->name), marks);
	buf_adds(x->b, text ? "" : "**");
	buf_adds(x->b, t->title ? ": " : "");
	buf_add_markup(x->b, t->title, t->title ? strlen(t->title) : 0, marks);
	buf_adds(x->b, text ? "\n" : "\n\n");
}

/* Rows that are kept until the widths of their columns are known. */
static int print_text(struct table_writer *x)
{
	const struct table *t = x->t;
	struct grid *g = x->grid;
	int rc;

	if (x->values_first)
		g->to.line = x->o->width;
	else if (x->o->width)
		x->ts->left_out |= fit_columns(g, x->o->width);
	if (!x->values_first && (has_distribution(t) || t->nvalues > 1))
		group_line(g, t, x->b);
	rc = records_print(&g->to, add_below, x, x->b, x->out);
	if (!rc && x->o->draw)
		rc = draw(t, x->o->view, x->b, x->out);
	if (!rc && x->ts->n > 1 && x->ts->v[x->ts->n - 1] != t)
		buf_addc(x->b, '\n');
	return rc;
}

int table_write_people(struct table_writer *x)
{
	static const struct table_walk walk = {.key = on_key, .value = on_value, .end = end_row};
	struct buf kept = BUF_INIT;
	struct grid g = {.to = {.columns = g.column, .form = x->o->form, .b = x->b}};
	bool text = x->o->form == TABLE_FORM_TEXT;
	int rc;

	if (x->ts->n && !table_nordered(x->t))
		return 0;
	x->values_first = !text || x->t->values[0].kind == TABLE_PART;
	if (text) {
		g.to.b = &kept;
		g.to.fit = g.column;
		g.to.cut = x->values_first ? NULL : TEXT_CUT;
	}
	x->grid = &g;
	add_heading(x);
	add_columns(x);
	rc = table_each_row(x, &walk);
	if (!rc && text && g.n)
		rc = print_text(x);
	buf_release(&kept);
	return rc;
}
