/* Tables of one period after the other: what is shown when one ends. */
#include "table/periods.h"

#include "base/err.h"
#include "base/out_end.h"
#include "table/parts.h"

#include <unistd.h>

static int over(void *ctx);
static bool is_empty(void *ctx);

int periods_open(struct periods *p, const struct table_opts *o, struct tables *ts, struct diag *d)
{
	*p = (struct periods){.o = o, .ts = ts, .d = d};
	p->turns = (struct turns){.every = o->every, .over = over, .empty = is_empty, .ctx = p};
	tables_init(&p->sum);
	return out_init(&p->out, STDOUT_FILENO);
}

void periods_release(struct periods *p)
{
	tables_release(&p->sum);
	out_release(&p->out);
}

int periods_status(int rc)
{
	return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

/* ---- writing ---- */

/* Sorted and with their first rows, as the options say: the tables are no longer whole then. */
static int write_tables(struct periods *p, struct tables *ts, const char *what)
{
	struct table_opts o = *p->o;
	struct buf text = BUF_INIT, screen = BUF_INIT;
	bool terminal = o.form == TABLE_FORM_TEXT && isatty(STDOUT_FILENO);
	struct out *out = &p->out, to_text;
	int rc = tables_arrange(ts, &o, p->d), closed;

	if (!rc && o.form == TABLE_FORM_TEXT) {
		if (p->n && !terminal)
			buf_addc(&text, '\n');
		turns_head(what, p->o->cumulative ? p->turns.first : p->turns.begin, p->turns.end,
			   &text);
		if (!o.wide && terminal)
			o.width = table_terminal_width(STDOUT_FILENO);
	}
	if (!rc && !terminal)
		rc = text.err ? text.err : out_add(out, text.data, text.len);
	if (!rc && terminal)
		rc = out_init_buf(&to_text, &text);
	if (!rc) {
		rc = tables_write(ts, &o, terminal ? &to_text : out);
		closed = terminal ? out_close(&to_text) : 0;
		rc = rc ? rc : closed;
	}
	if (!rc && terminal) {
		turns_redraw(&p->lines, &text, &screen);
		rc = screen.err ? screen.err : out_add(out, screen.data, screen.len);
	}
	buf_release(&text);
	buf_release(&screen);
	return rc ? rc : out_flush(out);
}

/* All of it so far, of which a part may be left out when it is written. */
static int write_copy(struct periods *p)
{
	struct tables copy;
	int rc;

	tables_init(&copy);
	copy.view = p->ts->view;
	copy.period_begin = p->ts->period_begin;
	copy.period_end = p->ts->period_end;
	rc = tables_copy(&copy, p->ts);
	if (!rc)
		rc = write_tables(p, &copy, "so far");
	tables_release(&copy);
	return rc;
}

/* ---- periods ---- */

static int fail(struct periods *p, int rc)
{
	return p->err = rc == PP_EUSAGE ? rc : out_report(rc, p->d);
}

/* The period is over: its tables are written, and belong to the sum. */
static int end_period(struct periods *p)
{
	int rc = 0;

	if (tables_empty(p->ts))
		return 0;
	if (p->complete)
		rc = p->complete(p->ctx);
	p->ts->period_begin = p->o->cumulative ? p->turns.first : p->turns.begin;
	p->ts->period_end = p->turns.end;
	if (!rc && p->o->cumulative) {
		rc = write_copy(p);
	} else if (!rc) {
		rc = tables_merge(&p->sum, p->ts);
		if (!rc)
			rc = write_tables(p, p->ts, "period");
	}
	tables_drop_derived(p->ts);
	if (!p->o->cumulative)
		tables_clear(p->ts);
	p->ts->period_begin = p->ts->period_end = 0;
	p->n++;
	return rc;
}

static int over(void *ctx)
{
	struct periods *p = ctx;
	int rc = p->err ? p->err : end_period(p);

	return rc && !p->err ? fail(p, rc) : rc;
}

static bool is_empty(void *ctx)
{
	struct periods *p = ctx;

	return tables_empty(p->ts);
}

int periods_end(struct periods *p, bool all)
{
	struct buf head = BUF_INIT;
	uint64_t last;
	int rc = 0;

	if (p->err)
		return p->err;
	/* The last of the tables of everything would be the sum. */
	if (p->turns.begin && !(all && p->o->cumulative)) {
		p->turns.end = p->turns.last;
		rc = end_period(p);
	}
	last = p->turns.last;
	turns_forget(&p->turns);
	if (!all)
		return rc ? fail(p, rc) : 0;
	if (!rc && !p->o->cumulative)
		rc = tables_merge(p->ts, &p->sum);
	if (!rc && p->turns.first && p->o->form == TABLE_FORM_TEXT) {
		if (p->n)
			buf_addc(&head, '\n');
		turns_head("sum", p->turns.first, last, &head);
		rc = head.err ? head.err : out_add(&p->out, head.data, head.len);
	}
	buf_release(&head);
	if (!rc)
		rc = out_flush(&p->out);
	return rc ? fail(p, rc) : 0;
}

int periods_pause(void *ctx)
{
	struct periods *p = ctx;

	return p->err ? -1 : turns_pause(&p->turns);
}
