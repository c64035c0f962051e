/* Tables of one period after the other: when one ends, and how it is shown. */
#include "table/periods.h"

#include "base/err.h"
#include "table/parts.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NS	 INT64_C(1000000000)
#define NEAR	 (5 * NS)      /* times so near to those of now are of a recording that goes on */
#define STEADY	 NS	       /* or those that keep step with the clock for so long */
#define SLACK	 (NS / 2)      /* differences that are none */
#define PATIENCE (3 * NS / 10) /* what comes so late still counts in its period */

int periods_open(struct periods *p, const struct table_opts *o, struct tables *ts, struct diag *d)
{
	*p = (struct periods){.o = o, .ts = ts, .d = d};
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

/* ns as seconds, as recordings print times. */
static void add_time(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%llu.%06u", (unsigned long long)(ns / 1000000000),
		 (unsigned)(ns / 1000 % 1000000));
}

static void add_head(const char *what, uint64_t begin, uint64_t end, struct buf *b)
{
	buf_adds(b, what);
	buf_addc(b, ' ');
	add_time(b, begin);
	buf_adds(b, " - ");
	add_time(b, end);
	buf_addc(b, '\n');
}

static int into_buf(void *ctx, uint8_t *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_add(b, bytes, n);
	return b->err;
}

/* A line of a terminal: the bytes that fit its columns. Control characters there are none. */
static size_t fitting(const char *s, size_t n, uint32_t columns)
{
	size_t i = 0;

	for (uint32_t w = 0; i < n; i++)
		if (((uint8_t)s[i] & 0xc0) != 0x80 && w++ == columns)
			break;
	return i;
}

/* The text takes the place of the one before; what is too much for the screen is left out. */
static void redraw(struct periods *p, const struct buf *text, struct buf *b)
{
	struct winsize size = {0};
	const char *s = buf_str(text), *end = s + text->len;
	uint32_t rows, lines = 0, left = 0;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row > 3 ? size.ws_row : 24;
	if (p->lines)
		buf_addf(b, "\033[%uA\r", p->lines);
	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);

		/* One for what is left out, and one for the cursor. */
		if (lines + 2 < rows) {
			buf_add(b, s, fitting(s, n, size.ws_col ? size.ws_col : 80));
			buf_adds(b, "\033[K\n");
			lines++;
		} else {
			left++;
		}
		s = nl ? nl + 1 : end;
	}
	if (left) {
		buf_addf(b, "... %u more line%s\033[K\n", left, left == 1 ? "" : "s");
		lines++;
	}
	buf_adds(b, "\033[J");
	p->lines = lines;
}

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
		add_head(what, p->o->cumulative ? p->first : p->begin, p->end, &text);
		if (!o.wide && terminal)
			o.width = table_terminal_width(STDOUT_FILENO);
	}
	if (!rc && !terminal)
		rc = text.err ? text.err : out_add(out, text.data, text.len);
	if (!rc && terminal)
		rc = out_init_fn(&to_text, into_buf, &text);
	if (!rc) {
		rc = tables_write(ts, &o, terminal ? &to_text : out);
		closed = terminal ? out_close(&to_text) : 0;
		rc = rc ? rc : closed;
	}
	if (!rc && terminal) {
		redraw(p, &text, &screen);
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
	if (rc != PP_EPIPE && rc != PP_EUSAGE)
		diag_error(p->d, NULL, -1, rc == PP_ENOMEM ? "%s" : "cannot write: %s",
			   pp_strerror(rc));
	return p->err = rc;
}

/* The period is over: its tables are written, and belong to the sum. */
static int end_period(struct periods *p)
{
	int rc = 0;

	if (tables_empty(p->ts))
		return 0;
	if (p->complete)
		rc = p->complete(p->ctx);
	p->ts->period_begin = p->o->cumulative ? p->first : p->begin;
	p->ts->period_end = p->end;
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

int periods_turn(struct periods *p, uint64_t time)
{
	uint64_t every = p->o->every;
	int rc = 0;

	if (p->err)
		return p->err;
	if (!p->begin) {
		p->begin = time ? time : 1;
		if (!p->first)
			p->first = p->begin;
	} else {
		rc = end_period(p);
		p->begin += (time - p->begin) / every * every;
	}
	p->end = p->begin < UINT64_MAX - every ? p->begin + every : UINT64_MAX;
	return rc ? fail(p, rc) : 0;
}

int periods_end(struct periods *p, bool all)
{
	struct buf head = BUF_INIT;
	int rc = 0;

	if (p->err)
		return p->err;
	/* The last of the tables of everything would be the sum. */
	if (p->begin && !(all && p->o->cumulative)) {
		p->end = p->last;
		rc = end_period(p);
	}
	p->begin = p->end = 0;
	p->live = p->paused = false;
	if (!all) {
		p->last = p->seen = 0;
		return rc ? fail(p, rc) : 0;
	}
	if (!rc && !p->o->cumulative)
		rc = tables_merge(p->ts, &p->sum);
	if (!rc && p->first && p->o->form == TABLE_FORM_TEXT) {
		if (p->n)
			buf_addc(&head, '\n');
		add_head("sum", p->first, p->last, &head);
		rc = head.err ? head.err : out_add(&p->out, head.data, head.len);
	}
	buf_release(&head);
	if (!rc)
		rc = out_flush(&p->out);
	return rc ? fail(p, rc) : 0;
}

/* ---- the clock ---- */

static int64_t now_of(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return INT64_MIN / 2;
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

static bool near(int64_t a, int64_t b, int64_t slack)
{
	return a - b < slack && b - a < slack;
}

/* Whether the time is one of now, by any clock that recordings are made with. */
static bool is_now(uint64_t time)
{
	static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
					   CLOCK_REALTIME, CLOCK_TAI};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (near((int64_t)time, now_of(clocks[i]), NEAR))
			return true;
	return false;
}

/* Compares the times that came since the last pause with the clock. */
static void look_at_clock(struct periods *p, int64_t now)
{
	int64_t ahead = (int64_t)p->last - now;

	if (p->last == p->seen)
		return;
	p->seen = p->last;
	if (!p->paused || !near(ahead, p->ahead, SLACK)) {
		p->live = is_now(p->last);
		p->ahead = ahead;
		p->since = now;
		p->paused = true;
		return;
	}
	if (ahead > p->ahead)
		p->ahead = ahead;
	p->live |= now - p->since > STEADY;
}

int periods_pause(void *ctx)
{
	struct periods *p = ctx;
	int64_t now = now_of(CLOCK_MONOTONIC), left;

	if (p->err || !p->begin)
		return -1;
	look_at_clock(p, now);
	if (!p->live || tables_empty(p->ts))
		return -1;
	left = (int64_t)p->end + PATIENCE - (now + p->ahead);
	if (left <= 0) {
		/* An error ends the reading when the next time is seen. */
		(void)periods_turn(p, (uint64_t)(now + p->ahead - PATIENCE));
		return -1;
	}
	return (int)(left / (NS / 1000) < 1000 ? left / (NS / 1000) + 1 : 1000);
}
