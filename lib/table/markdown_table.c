/* The Markdown form of a table: the numbers come first, as the last keys are the longest. */
#include "table/parts.h"
#include "table/unit.h"

/* Shares alone stand for what is a part. */
static bool shows(const struct table_writer *x, uint32_t v, int stat)
{
	if (x->t->values[v].kind == TABLE_PART)
		return stat == TABLE_STAT_SHARE;
	return text_shows(x->t, v, stat, x->shown);
}

static void add_title(const struct table_writer *x, uint32_t v, enum table_stat stat)
{
	const struct table_value *c = &x->t->values[v];
	bool name = c->kind == TABLE_PART || (c->kind == TABLE_COUNT && stat == TABLE_STAT_COUNT);

	buf_addc(x->b, ' ');
	if (name || x->t->nvalues > 1)
		buf_add_markup(x->b, c->name, strlen(c->name), MARKDOWN_MARKS);
	if (!name)
		buf_addf(x->b, "%s%s", x->t->nvalues > 1 ? " " : "", table_stat_title(stat));
	buf_adds(x->b, " |");
}

static void add_titles(const struct table_writer *x)
{
	const struct table *t = x->t;
	uint32_t columns = 0;

	buf_addc(x->b, '|');
	for (uint32_t v = 0; v < t->nvalues; v++) {
		for (int s = 0; s < TABLE_NSTATS; s++) {
			if (!shows(x, v, s))
				continue;
			add_title(x, v, (enum table_stat)s);
			columns++;
		}
	}
	for (uint32_t k = 0; k < t->nkeys; k++) {
		buf_addc(x->b, ' ');
		buf_add_markup(x->b, t->keys[k].name, strlen(t->keys[k].name), MARKDOWN_MARKS);
		buf_adds(x->b, " |");
	}
	buf_adds(x->b, "\n|");
	while (columns--)
		buf_adds(x->b, "--:|");
	for (uint32_t k = 0; k < t->nkeys; k++)
		buf_adds(x->b, "---|");
	buf_addc(x->b, '\n');
}

static void begin_row(struct table_writer *x)
{
	buf_addc(x->b, '|');
}

/* Keys come first, and wait. */
static void on_key(struct table_writer *x, uint32_t row, uint32_t k)
{
	buf_adds(&x->keys, " <code>");
	buf_reset(&x->cell);
	text_add_key(x->t, row, k, &x->text, &x->cell);
	buf_add_markup(&x->keys, buf_str(&x->cell), x->cell.len, MARKDOWN_MARKS);
	buf_adds(&x->keys, "</code> |");
}

static void on_value(struct table_writer *x, uint32_t row, uint32_t v,
		     const struct table_numbers *n)
{
	(void)row;
	for (int s = 0; s < TABLE_NSTATS; s++) {
		if (!shows(x, v, s))
			continue;
		buf_addc(x->b, ' ');
		if (x->t->values[v].kind == TABLE_PART)
			buf_addf(x->b, "%.2f%%", n->percent);
		else
			text_add_stat(x->b, n, (enum table_stat)s, x->t->values[v].unit);
		buf_adds(x->b, " |");
	}
}

static void end_row(struct table_writer *x)
{
	buf_join(x->b, &x->keys);
	buf_reset(&x->keys);
	buf_addc(x->b, '\n');
}

/* Above one of several tables. */
static void add_heading(const struct table *t, struct buf *b, const struct out *out)
{
	buf_adds(b, out->written || out->len ? "\n**" : "**");
	buf_add_markup(b, t->name, strlen(t->name), MARKDOWN_MARKS);
	buf_adds(b, t->title ? "**: " : "**");
	buf_add_markup(b, t->title, t->title ? strlen(t->title) : 0, MARKDOWN_MARKS);
	buf_adds(b, "\n\n");
}

int table_write_markdown(struct table_writer *x)
{
	static const struct table_walk walk = {begin_row, on_key, NULL, on_value, end_row};

	if (x->ts->n && !table_nordered(x->t))
		return 0;
	if (x->ts->n > 1)
		add_heading(x->t, x->b, x->out);
	add_titles(x);
	return table_each_row(x, &walk);
}
