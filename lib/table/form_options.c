/* The command line options of tables, and how phist and plat print theirs in the end. */
#include "base/err.h"
#include "base/out_end.h"
#include "table/gate.h"
#include "table/parts.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- one of the forms ---- */

int table_write(struct tables *ts, const struct table *t, const struct table_opts *o, struct buf *b,
		struct out *out)
{
	static table_form_fn *const forms[] = {[TABLE_FORM_TEXT] = table_write_people,
					       [TABLE_FORM_TSV] = table_write_tsv,
					       [TABLE_FORM_JSON] = table_write_json,
					       [TABLE_FORM_MARKDOWN] = table_write_people};
	struct table_writer x = {.ts = ts, .t = t, .o = o, .b = b, .out = out};
	int rc;

	x.shown = o->stats ? o->stats : TABLE_STATS_SHOWN;
	if (t->overlap)
		x.shown &= ~(1u << TABLE_STAT_SHARE);
	rc = forms[o->form](&x);
	buf_release(&x.text);
	buf_release(&x.cell);
	return rc ? rc : out_take(out, b);
}

/* What there is to say of the whole comes after the last period. */
int tables_write_end(const struct tables *ts, uint32_t n, const struct table_opts *o, struct buf *b,
		     struct out *out)
{
	if (o->form == TABLE_FORM_JSON && !ts->period_end)
		buf_addf(b, "{\"end\":{\"tables\":%u,\"lost\":%llu,\"partial\":%s}}\n", n,
			 (unsigned long long)ts->lost, ts->partial ? "true" : "false");
	return out_take(out, b);
}

int tables_write(struct tables *ts, const struct table_opts *o, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n && !rc; i++)
		if (!ts->v[i]->sorted)
			rc = table_sort(ts->v[i], NULL);
	if (!rc && o->plain)
		rc = tables_write_plain(ts, o->source, &b, out);
	for (uint32_t i = 0; i < ts->n && !rc && !o->plain; i++)
		rc = table_write(ts, ts->v[i], o, &b, out);
	if (!rc)
		rc = tables_write_end(ts, ts->n, o, &b, out);
	buf_release(&b);
	return rc;
}

static int number(const char *name, const char *arg, uint64_t max, uint64_t *v, struct buf *why)
{
	*v = 0;
	if (!opt_u64(arg, 1, max, v))
		return 0;
	buf_addf(why, "--%s: not a number from 1 to %llu: ", name, (unsigned long long)max);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

/* A number, or a duration. */
static int step(const char *arg, uint64_t *v, struct buf *why)
{
	struct buf unheard = BUF_INIT;
	int rc = opt_duration("linear", arg, false, v, &unheard);

	buf_release(&unheard);
	return rc ? number("linear", arg, INT64_MAX, v, why) : 0;
}

enum {
	LOG2 = OPT_NO_SHORT,
	LINEAR,
	FINE,
	SORT,
	TSV,
	JSON,
	MARKDOWN,
	WIDE,
	EVERY,
	CUMULATIVE,
	FAIL_IF,
	SOURCE
};

const struct opt table_options[] = {
	{LOG2, "log2", NULL, "draw each row's histogram by powers of two"},
	{LINEAR, "linear", "STEP", "draw it in steps of STEP, which may have a unit of time"},
	{FINE, "fine", NULL, "draw it in its fine buckets, less than 1 % wide"},
	{'n', "top", "N", "only the first N rows; the others become one"},
	{SORT, "sort", "COLUMN",
	 "sort by COLUMN: count, sum, p99, max, a key, ...; -COLUMN: reverse"},
	{WIDE, "wide", NULL, "all columns, and full keys, even if the terminal is narrower"},
	{EVERY, "every", "TIME", "write the tables of every TIME, such as 2s, then their sum"},
	{CUMULATIVE, "cumulative", NULL, "with --every: tables of everything up to then"},
	GATE_OPTION(FAIL_IF, "p99(runq) > 10ms"),
	{TSV, "tsv", "[plain]",
	 "write tab-separated values, for phist --merge and psvg; plain: one table for databases"},
	{SOURCE, "source", "NAME",
	 "content of the column source, for --tsv=plain and --merge --by source"},
	{JSON, "json", NULL, "write JSON, one object a row"},
	{MARKDOWN, "markdown", NULL, "write Markdown"},
	{0},
};

const struct opt_rule table_rules[] = {
	{"log2", "tsv json markdown fine linear", NULL},
	{"fine", "tsv json markdown linear", NULL},
	{"linear", "tsv=plain markdown", NULL},
	{"wide", "tsv json markdown", NULL},
	{"markdown", "tsv json every", NULL},
	{"tsv", "json", NULL},
	{"cumulative", NULL, "every"},
	{0},
};

/* Of phist: what needs a histogram, and what --merge reads as it is. */
const struct opt_rule phist_rules[] = {
	{"merge", "field over-time heatmap unit raw kallsyms every stats strict", NULL},
	{"over-time", "heatmap every", NULL},
	{"heatmap", "every", NULL},
	{"unit", NULL, "field"},
	{"log2", NULL, "field merge"},
	{"fine", NULL, "field merge"},
	{"linear", NULL, "field merge"},
	{0},
};

int table_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct table_opts *o = opts;
	uint64_t top;
	int rc = 0;

	switch (id) {
	case LOG2:
	case FINE:
		o->view = id == FINE ? HIST_FINE : HIST_LOG2;
		o->draw = true;
		break;
	case LINEAR:
		o->view = HIST_LINEAR;
		o->draw = true;
		return step(arg, &o->step, why);
	case 'n':
		rc = number("top", arg, TABLE_ROWS_MAX, &top, why);
		o->top = (uint32_t)top;
		break;
	case SORT: o->sort = arg; break;
	case WIDE: o->wide = true; break;
	case EVERY: rc = opt_period("every", arg, &o->every, why); break;
	case CUMULATIVE: o->cumulative = true; break;
	case FAIL_IF: rc = gate_texts_add(&o->gates, arg, why); break;
	case TSV:
		o->form = TABLE_FORM_TSV;
		o->plain = arg && !strcmp(arg, "plain");
		if (arg && !o->plain) {
			buf_adds(why, "--tsv: not plain: ");
			buf_add_safe(why, arg, strlen(arg));
			return PP_EUSAGE;
		}
		break;
	case SOURCE: o->source = arg; break;
	case JSON: o->form = TABLE_FORM_JSON; break;
	case MARKDOWN: o->form = TABLE_FORM_MARKDOWN; break;
	}
	if (!rc && o->plain && o->every) {
		buf_adds(why, "--every cannot be combined with --tsv=plain, which is one table");
		rc = PP_EUSAGE;
	}
	return rc;
}

/* A column needs to be in one of the tables only: several tables have different ones. */
int tables_arrange(struct tables *ts, const struct table_opts *o, struct diag *d)
{
	bool found = !o->sort || !ts->n;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n && !rc; i++) {
		rc = table_sort(ts->v[i], o->sort);
		found |= !rc;
		if (rc == PP_ENOENT)
			rc = table_sort(ts->v[i], NULL);
		if (!rc && o->top && !ts->v[i]->derived)
			rc = table_top(ts->v[i], o->top);
	}
	if (rc || found)
		return rc;
	diag_error(d, NULL, -1, "--sort: there is no column %s", o->sort);
	return PP_EUSAGE;
}

uint32_t table_terminal_width(int fd)
{
	struct winsize size = {0};

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

int tables_print(struct tables *ts, const struct table_opts *opts, int fd, struct diag *d)
{
	struct table_opts fitted = *opts, *o = &fitted;
	struct out out;
	int rc = tables_arrange(ts, o, d);

	if (!o->wide && !o->width)
		o->width = table_terminal_width(fd);

	if (rc == PP_EUSAGE)
		return PP_EXIT_USAGE;
	if (!rc)
		rc = out_init(&out, fd);
	rc = rc ? out_report(rc, d) : out_end(&out, tables_write(ts, o, &out), d);
	if (!rc && ts->left_out)
		diag_say(d, NULL, "the tables do not fit the terminal: --wide shows all columns");
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}
