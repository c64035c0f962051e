/* plat --path, --tail, --emit path: reads event streams, adds up the critical paths of spans. */
#include "wall/parts.h"

#include "base/array.h"
#include "base/each_input.h"
#include "base/out_end.h"
#include "filter/filter.h"
#include "stream/read_input.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct paths {
	const struct wall_opts *o;
	struct diag *d;
	struct wall_spans s;
	struct wall_shares shares;
	struct tables ts;
	struct table *t;
	uint64_t *ns; /* of the sums of all, by share */
	uint32_t cap;
	uint64_t shown, longest; /* the span whose steps are in the table, and its ns; 0 none */
	struct wall_tail *tail;
	uint64_t no_room; /* spans that are not in it */
	struct wall_emit e;
	uint64_t lost;
};

/* ---- tables ---- */

static int set_keys(const struct paths *p, uint32_t share, uint64_t key[WALL_SHARE_NTEXTS])
{
	int rc = 0;

	for (int i = 0; i < WALL_SHARE_NTEXTS && !rc; i++) {
		size_t len;
		const char *text =
			wall_share_text(&p->shares, share, (enum wall_share_text)i, &len);

		rc = table_text(p->t, text, len, &key[i]);
	}
	return rc;
}

static int add_row(const struct paths *p, const uint64_t *key, uint64_t ns, uint64_t at)
{
	uint32_t row;
	int rc = table_row(p->t, key, &row);

	return rc ? rc : table_add(p->t, row, 0, (hist_int)ns, at);
}

/* --nth, --slowest: a row for each step, the first first; steps that look the same are one. */
static int add_steps(struct paths *p, const struct wall_span *span)
{
	uint64_t key[1 + WALL_SHARE_NTEXTS];
	uint32_t share, last = 0;
	uint64_t ns = 0;
	int rc = 0;

	for (uint32_t i = span->path->n; i-- > 0 && !rc;) {
		const struct wall_step *step = &span->path->v[i];

		rc = wall_share_of(&p->shares, &p->s.w, span->path, i, &share);
		if (!rc && share != last) {
			rc = ns ? add_row(p, key, ns, key[0]) : 0;
			key[0] = step->begin - span->begin;
			ns = 0;
			last = share;
			rc = rc ? rc : set_keys(p, share, key + 1);
		}
		ns += step->end - step->begin;
	}
	return rc || !ns ? rc : add_row(p, key, ns, key[0]);
}

static int show_one(struct paths *p, const struct wall_span *span)
{
	uint64_t ns = span->end - span->begin;
	struct buf title = BUF_INIT;
	const char *name;
	size_t len;
	int rc;

	if (p->o->nth ? span->number != p->o->nth : ns <= p->longest)
		return 0;
	p->longest = ns;
	p->shown = span->number;
	tables_clear(&p->ts);
	name = intern_get(&p->s.w.texts, span->name, &len);
	buf_addf(&title, "of span %" PRIu64 ", ", span->number);
	buf_add_safe(&title, name ? name : "", len);
	buf_adds(&title, ": ");
	unit_add(&title, (hist_int)ns, "ns");
	rc = title.err ? title.err : table_set_title(p->t, buf_str(&title));
	buf_release(&title);
	return rc ? rc : add_steps(p, span);
}

static int add_sums(struct paths *p, const struct wall_span *span)
{
	int rc = 0;

	for (uint32_t i = 0; i < span->path->n && !rc; i++) {
		const struct wall_step *step = &span->path->v[i];
		uint32_t share;
		uint64_t *v;

		rc = wall_share_of(&p->shares, &p->s.w, span->path, i, &share);
		if (rc)
			break;
		v = array_widen(p->ns, &p->cap, share, 256, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		p->ns = v;
		v[share] += step->end - step->begin;
	}
	return rc;
}

static int fill_sums(struct paths *p)
{
	struct buf title = BUF_INIT;
	int rc = 0;

	buf_addf(&title, "of %" PRIu64 " spans: ", p->s.n);
	unit_add(&title, (hist_int)p->s.total, "ns");
	rc = title.err ? title.err : table_set_title(p->t, buf_str(&title));
	buf_release(&title);
	for (uint32_t i = 1; i <= p->shares.shares.n && !rc; i++) {
		uint64_t key[WALL_SHARE_NTEXTS];

		rc = set_keys(p, i, key);
		if (!rc)
			rc = add_row(p, key, p->ns[i], 0);
	}
	return rc;
}

static int open_table(struct paths *p)
{
	static const struct table_key keys[] = {{"at", TABLE_WINDOW, 1},
#define T(name, text) {text, TABLE_TEXT, 0},
						WALL_SHARE_TEXTS(T)
#undef T
	};
	static const struct table_value sums[] = {{"path", TABLE_SUM, "ns", 0}};
	static const struct table_value tail[] = {{"more", TABLE_SUM, "ns", 0},
						  {"slow", TABLE_SUM, "ns", 0},
						  {"ordinary", TABLE_SUM, "ns", 0}};
	bool one = p->o->nth || p->o->slowest;

	return tables_add(&p->ts, p->o->tail > 0 ? "tail" : "path", keys + !one,
			  WALL_SHARE_NTEXTS + one, p->o->tail > 0 ? tail : sums,
			  p->o->tail > 0 ? 3 : 1, &p->t);
}

static int on_span(void *ctx, struct wall_spans *s, const struct wall_span *span)
{
	struct paths *p = ctx;
	int rc = 0;

	if (p->tail) {
		rc = wall_tail_add(p->tail, &p->shares, &s->w, span);
		p->no_room += rc == PP_ELIMIT;
		return rc == PP_ELIMIT ? 0 : rc;
	}
	if (p->t)
		return p->o->nth || p->o->slowest ? show_one(p, span) : add_sums(p, span);
	p->e.key = span->number;
	for (uint32_t i = span->path->n; i-- > 0 && !rc;)
		rc = wall_emit_step(&p->e, &s->w, &span->path->v[i]);
	return rc;
}

static int on_moved(void *ctx, struct wall *w)
{
	struct paths *p = ctx;

	wall_shares_moved(&p->shares);
	return wall_emit_moved(&p->e, w);
}

/* ---- reading ---- */

/* What there is to report of spans and their paths. The status. */
static int say(const struct paths *p, int status, struct diag *d)
{
	const struct wall_spans *s = &p->s;
	bool partial = wall_say(&s->w, s->unknown, s->total, d);

	if (!s->w.account.samples || !s->w.account.switches)
		wall_say_nothing(&s->w, d);
	else if (!s->n)
		diag_error(d, NULL, -1,
			   s->lat ? "no spans: no such interval has ended"
				  : "no spans: no command has begun and ended; see -k, -s and -e");
	wall_say_cut(s->cut, d);
	if (p->no_room)
		diag_say(d, NULL, "there were too many spans: the last %" PRIu64 " are left out",
			 p->no_room);
	partial |= !s->n || !s->w.account.switches || s->cut || p->no_room;
	partial |= p->o->strict && (p->lost || s->w.account.unknown_wakers);
	return !status && partial ? PP_EXIT_PARTIAL : status;
}

/* The end of all input. The status. */
static int end(struct paths *p, int status, struct diag *d)
{
	if (status == PP_EXIT_FAIL)
		return status;
	if (wall_spans_end(&p->s)) {
		diag_error(d, NULL, -1, "out of memory");
		return PP_EXIT_FAIL;
	}
	return say(p, status, d);
}

static int on_span_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	return wall_spans_record(&((struct paths *)ctx)->s, r, rec);
}

static int read_one(void *ctx, const char *name)
{
	struct paths *p = ctx;
	const struct input_reader in = {WALL_KEEP | LAT_KEEP, on_span_record, p, p->d, &p->lost};

	return input_read_file(&in, name);
}

/* ---- results ---- */

/* Prints the table; 0, or the exit status. */
static int print_table(struct paths *p, int status, struct diag *d)
{
	struct table_opts out = *p->o->table;
	bool one = p->o->nth || p->o->slowest;

	p->ts.lost = p->lost;
	p->ts.partial = status == PP_EXIT_PARTIAL;
	p->t->as_added = one;
	out.stats = 1u << TABLE_STAT_SUM;
	if (!p->tail)
		out.stats |= 1u << TABLE_STAT_SHARE;
	if (out.form == TABLE_FORM_TEXT && !out.top && !one)
		out.top = WALL_TOP;
	return tables_print(&p->ts, &out, STDOUT_FILENO, d);
}

static int print(struct paths *p, int status, struct diag *d)
{
	struct buf title = BUF_INIT, folded = BUF_INIT;
	int rc = 0, printed;

	if (!p->s.n)
		return status;
	if (p->tail)
		rc = wall_tail_compare(p->tail, &p->shares, p->o->tail, p->o->folded ? NULL : p->t,
				       &folded, &title);
	else if (!p->o->nth && !p->o->slowest)
		rc = fill_sums(p);
	if (!rc && p->tail)
		rc = title.err ? title.err : table_set_title(p->t, buf_str(&title));
	if (rc == PP_ENOENT)
		diag_error(d, NULL, -1,
			   "too few of %" PRIu64
			   " spans are slow, or they take equally long; see --tail=p90",
			   p->s.n);
	else if (rc)
		diag_error(d, NULL, -1, "%s", pp_strerror(rc));
	else if (p->o->nth && !p->shown)
		diag_error(d, NULL, -1, "there are only %" PRIu64 " spans", p->s.n);
	if (rc || (p->o->nth && !p->shown))
		printed = rc && rc != PP_ENOENT ? PP_EXIT_FAIL : PP_EXIT_PARTIAL;
	else if (p->o->folded)
		printed = out_text(STDOUT_FILENO, &folded, d) ? PP_EXIT_FAIL : PP_EXIT_OK;
	else
		printed = print_table(p, status, d);
	buf_release(&title);
	buf_release(&folded);
	return printed > status ? printed : status;
}

static int run_tables(struct paths *p, char **names, int n, struct diag *d)
{
	int status = PP_EXIT_FAIL;

	if (p->o->form == WALL_TAIL)
		p->tail = wall_tail_new();
	if ((p->o->form == WALL_TAIL && !p->tail) || open_table(p))
		diag_error(d, NULL, -1, "out of memory");
	else
		status = end(p, each_input(names, n, read_one, p), d);
	return status == PP_EXIT_FAIL ? status : print(p, status, d);
}

/* ---- --emit path ---- */

static int on_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct paths *p = ctx;
	int rc = 0;

	/* A new stream: the spans of the last one are complete before it is begun. */
	if (rec->type != PS_HEADER)
		rc = wall_emit_record(&p->e, &p->s.w, r, rec);
	if (!rc)
		rc = wall_spans_record(&p->s, r, rec);
	if (!rc && rec->type == PS_HEADER)
		rc = wall_emit_record(&p->e, &p->s.w, r, rec);
	return rc;
}

static int run_emit(struct paths *p, char **names, int n, struct diag *d)
{
	const struct wall_opts *o = p->o;
	const struct filter f = {.name = "plat",
				 .argc = o->argc,
				 .argv = o->argv,
				 .keep = WALL_KEEP | LAT_KEEP,
				 .record = on_record,
				 .ctx = p};
	struct ps_end last = {0};
	struct ssink sink;

	if (ssink_open(&sink, STDOUT_FILENO, &o->sink, d))
		return PP_EXIT_FAIL;
	p->e.w = &sink.w;
	p->e.event = "path";
	filter_run(&f, names, n, &sink, d, &last);
	p->lost = last.lost;
	last.status = (uint32_t)end(p, (int)last.status, d);
	return ssink_close(&sink, &last, d);
}

int wall_run_paths(const struct wall_opts *o, char **names, int n, struct diag *d)
{
	struct paths p = {
		.o = o,
		.d = d,
		.s = {.span = on_span, .moved = on_moved, .ctx = &p},
		.shares = {.stacks = o->stacks || o->folded, .requests = o->nth || o->slowest}};
	struct buf why = BUF_INIT;
	int rc = wall_spans_init(&p.s, o, d, &why), status;

	tables_init(&p.ts);
	if (rc) {
		diag_error(d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
		status = rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	} else {
		status = o->form == WALL_EMIT_PATH ? run_emit(&p, names, n, d)
						   : run_tables(&p, names, n, d);
	}
	buf_release(&why);
	tables_release(&p.ts);
	wall_tail_free(p.tail);
	free(p.ns);
	wall_emit_release(&p.e);
	wall_shares_release(&p.shares);
	wall_spans_release(&p.s);
	return status;
}
