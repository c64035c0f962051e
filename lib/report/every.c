/* Reports while the input goes on (--every): of one period after the other, as text or a view. */
#include "base/err.h"
#include "base/out_end.h"
#include "base/src.h"
#include "report/view.h"
#include "table/turns.h"

#include <stdlib.h>
#include <unistd.h>

#define KEYS_MS 50 /* how often keys are looked for while nothing comes */
#define KEYS_ALL \
	1024 /* samples after which they are looked for while all the time something comes */

struct every {
	struct turns turns;
	struct report *r;
	struct out out;
	struct report_since before, now; /* the begin of the period that is shown; of this one */
	uint64_t counted;		 /* samples by then */
	uint64_t n;			 /* periods that were shown */
	uint32_t lines, samples;
	struct report_screen *screen; /* NULL: text */
	int err;		      /* PP_END, or it was reported */
};

static bool is_empty(void *ctx)
{
	struct every *e = ctx;

	return e->r->account.counted == e->counted;
}

static int fail(struct every *e, int rc)
{
	return e->err = rc == PP_END ? rc : out_report(rc, e->r->d);
}

static int write_text(struct every *e, const struct result *s, const char *what, uint64_t begin)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct buf text = BUF_INIT, body = BUF_INIT;
	struct out to;
	int rc = out_init_buf(&to, &body), closed;

	if (e->n && !terminal)
		buf_addc(&text, '\n');
	turns_head(what, begin, e->turns.end, &text);
	if (!rc) {
		rc = report_write_text(s, e->r->o.wide ? 0 : table_terminal_width(STDOUT_FILENO),
				       &to);
		closed = out_close(&to);
		rc = rc ? rc : closed;
	}
	buf_join(&text, &body);
	buf_reset(&body);
	if (terminal)
		turns_redraw(&e->lines, &text, &body);
	if (!rc)
		rc = text.err ? text.err : body.err;
	if (!rc)
		rc = terminal ? out_add(&e->out, body.data, body.len)
			      : out_add(&e->out, text.data, text.len);
	buf_release(&text);
	buf_release(&body);
	return rc ? rc : out_flush(&e->out);
}

/* The period is over. */
static int over(void *ctx)
{
	struct every *e = ctx;
	bool all = e->r->o.cumulative;
	struct result s;
	int rc = 0;

	if (e->err || is_empty(e))
		return e->err;
	if (e->screen) {
		rc = report_screen_show(e->screen, all ? NULL : &e->now);
	} else {
		rc = result_make(&s, e->r, all ? NULL : &e->now, NULL);
		if (!rc)
			rc = write_text(e, &s, all ? "so far" : "period",
					all ? e->turns.first : e->turns.begin);
		result_release(&s);
	}
	if (!rc && !all) {
		report_since_release(&e->before);
		e->before = e->now;
		e->now = (struct report_since){0};
		rc = report_since(&e->now, e->r);
		if (e->screen)
			report_screen_since(e->screen, &e->before);
	}
	e->counted = e->r->account.counted;
	e->n++;
	if (rc == PP_ENOENT) {
		diag_error(e->r->d, NULL, -1, "--sort: there is no column %s", e->r->o.sort);
		return e->err = PP_EUSAGE;
	}
	return fail(e, rc);
}

int every_new(struct every **out, struct report *r)
{
	struct every *e = calloc(1, sizeof(*e));
	int rc = e ? 0 : PP_ENOMEM;

	*out = e;
	if (e) {
		e->r = r;
		e->turns = (struct turns){
			.every = r->o.every, .over = over, .empty = is_empty, .ctx = e};
		rc = r->o.view ? report_screen_open(&e->screen, r)
			       : out_init(&e->out, STDOUT_FILENO);
	}
	if (!rc)
		return 0;
	if (rc == PP_ENOMEM)
		diag_error(r->d, NULL, -1, "%s", pp_strerror(rc));
	every_free(e);
	*out = NULL;
	return rc;
}

void every_free(struct every *e)
{
	if (!e)
		return;
	report_screen_close(e->screen);
	if (!e->screen)
		out_release(&e->out);
	report_since_release(&e->before);
	report_since_release(&e->now);
	free(e);
}

static int look_for_keys(struct every *e)
{
	e->samples = 0;
	if (e->screen && !e->err)
		(void)fail(e, report_screen_keys(e->screen, 0));
	return e->err;
}

int every_see(struct every *e, uint64_t time)
{
	if (e->screen && ++e->samples >= KEYS_ALL)
		look_for_keys(e);
	return e->err ? e->err : turns_see(&e->turns, time);
}

int every_pause(void *ctx)
{
	struct every *e = ctx;
	int wait = e->err ? -1 : turns_pause(&e->turns);

	if (look_for_keys(e))
		return SRC_PAUSE_END;
	return e->screen && (wait < 0 || wait > KEYS_MS) ? KEYS_MS : wait;
}

int every_next(struct every *e)
{
	int rc = e->err;

	if (!rc && e->turns.begin) {
		e->turns.end = e->turns.last;
		rc = over(e);
	}
	turns_forget(&e->turns);
	return rc;
}

int every_status(const struct every *e)
{
	switch (e->err) {
	case 0: return -1;
	case PP_END: return PP_EXIT_OK;
	case PP_EUSAGE: return PP_EXIT_USAGE;
	default: return PP_EXIT_FAIL;
	}
}

int every_end(struct every *e, bool *viewed)
{
	struct buf head = BUF_INIT;
	uint64_t last = e->turns.last;
	/* The last of the reports of everything would be the sum. */
	int rc = e->r->o.cumulative || e->screen ? e->err : every_next(e);

	*viewed = e->screen != NULL;
	if (e->screen) {
		report_screen_since(e->screen, NULL);
		if (!rc && e->r->account.counted)
			rc = report_screen_show(e->screen, NULL);
		while (!rc && e->r->account.counted)
			rc = report_screen_keys(e->screen, -1);
		return rc == PP_END ? 0 : rc == e->err ? rc : fail(e, rc);
	}
	if (!rc && e->turns.first && e->r->account.counted) {
		if (e->n)
			buf_addc(&head, '\n');
		turns_head("sum", e->turns.first, last, &head);
		rc = head.err ? head.err : out_add(&e->out, head.data, head.len);
		rc = rc ? rc : out_flush(&e->out);
		rc = rc ? fail(e, rc) : 0;
	}
	buf_release(&head);
	return rc;
}
