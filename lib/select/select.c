/* Which samples pass: the expression, slices, windows, and what is kept of the rest. */
#include "select/select.h"

#include "base/err.h"

#include <stdlib.h>
#include <unistd.h>

#define STREAMS_MAX (1u << 20)
#define CPUS_MAX    8192

/* A window from a sample for which `after` holds to one for which `before` does. */
struct window {
	bool open;
	bool closed;   /* one has been closed: the margin after it counts */
	uint64_t from; /* where it was opened; while scanning */
	uint64_t closed_at;
};

/* What the scan has found out about a stream of the input. */
struct stream {
	bool any;
	uint64_t first, last; /* times of samples */
	struct spans windows;
};

enum { X_CONDITION, X_SLICES, X_AFTER, X_BEFORE, X_MAX };

struct select {
	struct select_opts o;
	struct expr *x[X_MAX]; /* all of them, owned */
	struct stream *streams;
	uint32_t nstreams;
	uint32_t at; /* the next stream of the second reading */
	struct window window;
	bool scanned;
	const struct spans *windows; /* of this stream, if scanned */
	bool started;		     /* a sample of this stream was seen */
	uint64_t counted;	     /* samples that got as far as --every */
	uint64_t passed;
	uint64_t random;
	struct select_stats stats;
	uint8_t passes[CPUS_MAX]; /* whether the last sample of a CPU passed, for its stack */
};

/* The rule of && for marks. */
static enum ps_mark both(enum ps_mark a, enum ps_mark b)
{
	if (a == PS_MARK_FAIL || b == PS_MARK_FAIL)
		return PS_MARK_FAIL;
	return a == PS_MARK_NA ? a : b;
}

/* "(CPU in (0)) && (COMM ~ ...)" of the slices that there are. */
static int slices_new(struct expr **x, struct select_opts *o, struct buf *why)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	for (int i = 0; i < SELECT_SLICES; i++)
		if (o->slices[i].len)
			buf_addf(&text, "%s(%s)", text.len ? " && " : "", buf_str(&o->slices[i]));
	if (text.err)
		rc = text.err;
	else if (text.len)
		rc = expr_new(x, buf_str(&text), EXPR_CONDITION, why);
	buf_release(&text);
	return rc;
}

int select_new(struct select **out, struct select_opts *o, struct buf *why)
{
	struct select *s = calloc(1, sizeof(*s));
	struct select_opts given = *o;
	int rc = PP_ENOMEM;

	*o = (struct select_opts)SELECT_OPTS_INIT;
	*out = s;
	if (s) {
		s->o = given;
		s->x[X_CONDITION] = given.condition;
		s->x[X_AFTER] = given.after;
		s->x[X_BEFORE] = given.before;
		s->random = given.seed;
		s->window.open = !given.after;
		rc = slices_new(&s->x[X_SLICES], &s->o, why);
		for (int i = 0; i < X_MAX; i++)
			if (s->x[i])
				expr_symbols(s->x[i], &s->o.symbols);
	}
	if (!rc && (given.margin_before || given.margin_after) && !given.after && !given.before) {
		buf_adds(why, "--margin is for --after and --before");
		rc = PP_EUSAGE;
	}
	if (!rc && !select_scans(s))
		rc = spans_settle(&s->o.times, 0, 0);
	if (!rc)
		return 0;
	if (!s)
		select_opts_release(&given);
	select_free(s);
	*out = NULL;
	return rc;
}

void select_free(struct select *s)
{
	if (!s)
		return;
	for (int i = 0; i < X_MAX; i++)
		expr_free(s->x[i]);
	for (int i = 0; i < SELECT_SLICES; i++)
		buf_release(&s->o.slices[i]);
	for (uint32_t i = 0; i < s->nstreams; i++)
		spans_release(&s->streams[i].windows);
	spans_release(&s->o.times);
	free(s->streams);
	free(s);
}

const struct select_stats *select_stats(const struct select *s)
{
	return &s->stats;
}

/* ---- the scan ---- */

bool select_scans(const struct select *s)
{
	return spans_need_last(&s->o.times) || s->o.margin_before;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int add_window(struct select *s, struct stream *st, uint64_t end)
{
	return spans_add(&st->windows, minus(s->window.from, s->o.margin_before),
			 plus(end, s->o.margin_after));
}

/* What is open at the end of a stream reaches to the end of time. */
static int end_stream(struct select *s)
{
	struct stream *st = s->nstreams ? &s->streams[s->nstreams - 1] : NULL;
	int rc = 0;

	if (!st || (!s->o.after && !s->o.before))
		return 0;
	if (s->window.open)
		rc = add_window(s, st, UINT64_MAX);
	return rc ? rc : spans_settle(&st->windows, 0, 0);
}

static int add_stream(struct select *s)
{
	struct stream *v;
	int rc = end_stream(s);

	if (rc)
		return rc;
	if (s->nstreams == STREAMS_MAX)
		return PP_ELIMIT;
	v = realloc(s->streams, (s->nstreams + 1) * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->streams = v;
	v[s->nstreams++] = (struct stream){.any = false};
	s->window = (struct window){.open = !s->o.after};
	return 0;
}

/* Opens and closes the window; true if a window ends with this sample. */
static bool step(struct select *s, const struct sreader *r, const struct ps_record *rec)
{
	struct window *w = &s->window;

	if (!w->open) {
		if (s->o.after && expr_mark(s->o.after, r, rec) == PS_MARK_PASS) {
			w->open = true;
			w->from = rec->sample.time;
		}
		return false;
	}
	if (!s->o.before || expr_mark(s->o.before, r, rec) != PS_MARK_PASS)
		return false;
	w->open = false;
	w->closed = true;
	w->closed_at = rec->sample.time;
	return true;
}

static int scan_sample(struct select *s, const struct sreader *r, const struct ps_record *rec)
{
	struct stream *st = &s->streams[s->nstreams - 1];
	uint64_t time = rec->sample.time;

	if (rec->sample.flags & PS_SAMPLE_NO_TIME)
		return 0;
	if (!st->any || time < st->first)
		st->first = time;
	if (!st->any || time > st->last)
		st->last = time;
	st->any = true;
	if ((s->o.after || s->o.before) && step(s, r, rec))
		return add_window(s, st, time);
	return 0;
}

/* Without an expression nobody asks for names. */
static void see_symbols(struct select *s, const struct ps_record *rec)
{
	if (rec->type != PS_SAMPLE && s->o.symbols.see &&
	    (s->o.condition || s->o.after || s->o.before))
		s->o.symbols.see(s->o.symbols.ctx, rec);
}

int select_scan(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct select *s = ctx;
	int rc = 0;

	s->scanned = true;
	see_symbols(s, rec);
	if (rec->type == PS_HEADER)
		rc = add_stream(s);
	if (!rc && rec->type == PS_SAMPLE)
		return s->nstreams ? scan_sample(s, r, rec) : 0;
	for (int i = X_AFTER; !rc && i < X_MAX; i++)
		if (s->x[i])
			rc = expr_see(s->x[i], r, rec);
	return rc;
}

/* ---- the stream ---- */

/* A stream begins: its spans of time become absolute, as far as is known. */
static int begin(struct select *s)
{
	const struct stream *st = s->at < s->nstreams ? &s->streams[s->at] : NULL;
	int rc = s->at ? 0 : end_stream(s);

	if (rc)
		return rc;
	s->started = false;
	s->window = (struct window){.open = !s->o.after};
	s->at++;
	if (!s->scanned)
		return 0;
	s->windows = st && (s->o.after || s->o.before) ? &st->windows : NULL;
	return spans_settle(&s->o.times, st ? st->first : 0, st ? st->last : 0);
}

int select_see(struct select *s, const struct sreader *r, const struct ps_record *rec)
{
	int rc = rec->type == PS_HEADER ? begin(s) : 0;

	see_symbols(s, rec);
	for (int i = 0; !rc && i < X_MAX; i++)
		if (s->x[i])
			rc = expr_see(s->x[i], r, rec);
	return rc;
}

static enum ps_mark mark_of(bool holds)
{
	return holds ? PS_MARK_PASS : PS_MARK_FAIL;
}

static enum ps_mark in_time(struct select *s, const struct ps_sample *sample)
{
	if (sample->flags & PS_SAMPLE_NO_TIME)
		return PS_MARK_NA;
	if (!s->started && !s->scanned && spans_need_first(&s->o.times) &&
	    spans_settle(&s->o.times, sample->time, sample->time))
		return PS_MARK_NA;
	s->started = true;
	return mark_of(spans_hold(&s->o.times, sample->time));
}

static enum ps_mark in_window(struct select *s, const struct sreader *r,
			      const struct ps_record *rec)
{
	uint64_t time = rec->sample.time;
	bool in = s->window.open;

	if (s->windows)
		return rec->sample.flags & PS_SAMPLE_NO_TIME
			       ? PS_MARK_NA
			       : mark_of(spans_hold(s->windows, time));
	step(s, r, rec);
	/* The samples that open and close are in it. */
	in = in || s->window.open;
	if (!in && s->window.closed && s->o.margin_after)
		in = time <= plus(s->window.closed_at, s->o.margin_after);
	return mark_of(in);
}

/* splitmix64: a number for each sample that comes this far. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Of those that would pass: every Nth, a part, the first ones. */
static enum ps_mark thin_out(struct select *s)
{
	if (s->o.every > 1 && s->counted++ % s->o.every)
		return PS_MARK_FAIL;
	if (s->o.rate < 1 && (double)(random_next(&s->random) >> 11) * 0x1p-53 >= s->o.rate)
		return PS_MARK_FAIL;
	if (s->o.first && s->passed >= s->o.first)
		return PS_MARK_FAIL;
	s->passed++;
	return PS_MARK_PASS;
}

static enum ps_mark evaluate(struct select *s, const struct sreader *r, const struct ps_record *rec)
{
	enum ps_mark mark = PS_MARK_PASS;

	if (s->o.condition) {
		mark = expr_mark(s->o.condition, r, rec);
		if (s->o.invert && mark != PS_MARK_NA)
			mark = mark == PS_MARK_PASS ? PS_MARK_FAIL : PS_MARK_PASS;
	}
	if (s->x[X_SLICES])
		mark = both(mark, expr_mark(s->x[X_SLICES], r, rec));
	if (s->o.times.n)
		mark = both(mark, in_time(s, &rec->sample));
	if (s->o.after || s->o.before)
		mark = both(mark, in_window(s, r, rec));
	return both((enum ps_mark)(rec->sample.flags & PS_MARK_MASK), mark);
}

enum ps_mark select_mark(struct select *s, const struct sreader *r, const struct ps_record *rec)
{
	uint32_t cpu = rec->sample.cpu < CPUS_MAX ? rec->sample.cpu : 0;
	enum ps_mark mark = evaluate(s, r, rec);

	/* The stack of the sample before goes where that goes, as in trace-cmd. */
	if ((rec->sample.flags & PS_SAMPLE_JOINED) && s->passes[cpu])
		mark = PS_MARK_PASS;
	else if (mark == PS_MARK_PASS)
		mark = thin_out(s);
	s->passes[cpu] = mark == PS_MARK_PASS;
	s->stats.marks[mark]++;
	return mark;
}

unsigned select_problems(struct select *s, struct buf *why)
{
	unsigned n = 0;

	for (int i = 0; !s->o.lenient && i < X_MAX; i++)
		if (s->x[i])
			n += expr_problems(s->x[i], why);
	return n;
}

unsigned select_doubts(struct select *s, struct buf *why)
{
	unsigned n = 0;

	for (int i = 0; i < X_MAX; i++)
		if (s->x[i])
			n += expr_doubts(s->x[i], why);
	return n;
}

/* ---- --explain ---- */

static const char *const titles[X_MAX] = {"expression", "slices", "after", "before"};

static void explain_event(struct select *s, const struct sreader *r, uint32_t event,
			  struct buf *text)
{
	for (int i = 0; i < X_MAX; i++) {
		if (!s->x[i])
			continue;
		buf_addf(text, "\n%s, ", titles[i]);
		expr_print_program(s->x[i], r, event, text);
	}
}

static int explain_input(struct select *s, const char *file, struct buf *text, struct diag *d)
{
	const struct ps_record *rec;
	struct sreader *r;
	int rc = sreader_open(&r, file, SELECT_KEEP, d);

	if (rc)
		return rc;
	while (!rc && !(rc = sreader_next(r, &rec))) {
		if (rec->type == PS_SAMPLE)
			continue;
		rc = select_see(s, r, rec);
		if (!rc && rec->type == PS_EVENT)
			explain_event(s, r, rec->event.id, text);
	}
	sreader_free(r);
	return rc == PP_END ? 0 : rc;
}

int select_explain(struct select *s, char **files, int n, struct buf *text, struct diag *d)
{
	int rc = 0, one;

	for (int i = 0; i < X_MAX; i++)
		if (s->x[i]) {
			buf_addf(text, "%s: ", titles[i]);
			expr_print(s->x[i], text);
		}
	if (!n && isatty(STDIN_FILENO))
		return 0;
	for (int i = 0; i < n || (!n && !i); i++) {
		one = explain_input(s, n ? files[i] : "-", text, d);
		rc = rc ? rc : one;
	}
	return rc;
}
