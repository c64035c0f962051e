/*
 * What plat does with its options: reads the input, prints tables, a list or a stream, and
 * accounts for it.
 */
#include "interval/lat_out.h"

#include "base/each_input.h"
#include "base/out_end.h"
#include "stream/read_input.h"
#include "table/gate.h"
#include "table/periods.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the run ---- */

struct run {
	struct plat_opts *o;
	struct lat *l;
	struct diag *d;
	struct lat_emit *emit;	       /* NULL: tables or a list */
	struct lat_list *list;	       /* NULL: tables or a stream */
	struct periods *periods;       /* NULL: one table in the end */
	struct gates *gates;	       /* NULL: none */
	struct lat_timeline *timeline; /* NULL: something else */
	uint64_t samples, lost;
	bool unknown; /* --by has a name that no event has */
	bool wakers;  /* of wakeups it is not known who did them */
};

/* ---- messages ---- */

/* The list has no line. */
static int say_no_line(const struct run *run, const struct lat_list *list, int status)
{
	struct buf b = BUF_INIT;

	if (!lat_list_none(list, &b))
		status = lat_say_nothing(run->l, run->samples, run->d);
	else if (b.err)
		status = PP_EXIT_FAIL;
	else
		diag_say(run->d, NULL, "%s", buf_str(&b));
	buf_release(&b);
	return status;
}

/* ---- reading ---- */

static inline void see(struct run *run, const struct ps_record *rec)
{
	if (rec->type == PS_SAMPLE)
		run->samples++;
	else if (run->o->see)
		run->o->see(run->o->see_ctx, rec);
}

/* A record of --emit. */
static int on_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct run *run = ctx;
	int rc = 0;

	see(run, rec);
	/* A new stream: the intervals of the last one are complete before it is begun. */
	if (rec->type != PS_HEADER)
		rc = lat_emit_record(run->emit, run->l, r, rec);
	if (!rc)
		rc = lat_record(run->l, r, rec);
	if (!rc && rec->type == PS_HEADER)
		rc = lat_emit_record(run->emit, run->l, r, rec);
	return rc;
}

static int see_period(struct periods *p, const struct ps_record *rec)
{
	if (rec->type == PS_HEADER)
		return periods_end(p, false);
	if (rec->type != PS_SAMPLE || rec->sample.flags & PS_SAMPLE_NO_TIME)
		return 0;
	return periods_see(p, rec->sample.time);
}

static int on_interval_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct run *run = ctx;
	int rc = 0;

	see(run, rec);
	if (run->periods)
		rc = see_period(run->periods, rec);
	if (!rc && run->timeline)
		rc = lat_timeline_see(run->timeline, r, rec);
	return rc ? rc : lat_record(run->l, r, rec);
}

static int read_one(void *ctx, const char *name)
{
	struct run *run = ctx;
	src_pause_fn *pause = run->list ? out_hand_on : run->periods ? periods_pause : NULL;
	void *of = run->list ? (void *)&run->list->out : run->periods;
	const struct input_reader in = {
		LAT_KEEP, on_interval_record, run, run->d, &run->lost, pause, of};
	int status = input_read_file(&in, name);

	return run->periods && run->periods->err ? periods_status(run->periods->err) : status;
}

static int read_all(struct run *run, char **names, int n)
{
	int status = each_input(names, n, read_one, run);

	if (run->lost && status < PP_EXIT_FAIL)
		diag_say(run->d, NULL, "the recording lost %" PRIu64 " events: %s", run->lost,
			 run->o->lat.pair.across_losses ? "intervals across that count"
							: "no interval is made across that");
	return status;
}

/* ---- results ---- */

/* Whether what comes out tells who woke whom. */
static bool shows_wakers(const struct run *run)
{
	return run->emit || run->list || run->timeline || lat_by_term(run->l, LAT_TERM_WAKER) ||
	       lat_by_term(run->l, LAT_TERM_WAKER_TID) || lat_by_term(run->l, LAT_TERM_WAKER_STACK);
}

static int finish(struct run *run, int status)
{
	struct diag *d = run->d;
	unsigned unknown = 0;
	struct buf why = BUF_INIT;
	int rc;

	if (status == PP_EXIT_FAIL || status == PP_EXIT_USAGE)
		return status;
	rc = lat_end(run->l);
	if (!rc && run->periods && periods_end(run->periods, true))
		return periods_status(run->periods->err);
	if (rc || lat_complete(run->l) || (run->o->failed && run->o->failed(run->o->see_ctx))) {
		diag_error(d, NULL, -1, "out of memory");
		return PP_EXIT_FAIL;
	}
	lat_say_account(run->l, run->o->stats, d);
	if (lat_say_missing(run->l, d) && !status)
		status = PP_EXIT_PARTIAL;
	if (lat_say_thinned(run->l, d) && !status)
		status = PP_EXIT_PARTIAL;
	if (shows_wakers(run))
		run->wakers = lat_say_wakers(run->l, d);
	if (!run->o->lenient && lat_problems(run->l, &why, &unknown))
		lat_say_lines(&why, d);
	run->unknown = unknown != 0;
	buf_release(&why);
	return status;
}

/* The status of what was printed. */
static int last(const struct run *run, int status)
{
	bool less = run->unknown || (run->o->strict && (run->lost || run->wakers));

	return !status && less ? PP_EXIT_PARTIAL : status;
}

/* The status of an output that was closed with an error, or without. */
static int closed(const struct run *run, int rc, int status)
{
	return out_report(rc, run->d) ? PP_EXIT_FAIL : last(run, status);
}

/* Intervals of a kind were made, and all were left out by a filter: gates_zero_fn. */
static bool counted_zero(void *ctx, const char *value, size_t len)
{
	const struct lat *l = ctx;
	const uint64_t *count;
	bool filtered = false;
	const char *name;

	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++) {
		if (!lat_kind_on(l, i) ||
		    (value && (strlen(name) != len || memcmp(name, value, len) != 0)))
			continue;
		if (count[LAT_INTERVALS])
			return false;
		filtered |= count[LAT_FILTERED] > 0;
	}
	return filtered;
}

/* The exit status for an error of options and names; 0: none. */
static int status_of(int rc)
{
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

/* How the tables are written, unless an option tells. */
static void choose_form(struct plat_opts *o)
{
	bool people = o->out.form == TABLE_FORM_TEXT || o->out.form == TABLE_FORM_MARKDOWN;

	if (people && !o->out.top && !o->lat.by && !o->lat.window)
		o->out.top = PLAT_TOP;
	if (o->lat.threads) {
		o->out.stats = 1u << TABLE_STAT_SUM;
		o->out.sort = o->out.sort ? o->out.sort : "run.sum";
	}
	if (!o->out.stats)
		o->out.stats = (1u << TABLE_NSTATS) - 1;
}

static int print_tables(struct run *run, int status)
{
	struct plat_opts *o = run->o;
	struct tables *ts = lat_tables(run->l);
	int printed;

	if (status == PP_EXIT_FAIL || status == PP_EXIT_USAGE)
		return status;
	ts->lost = run->lost;
	ts->partial = status == PP_EXIT_PARTIAL;
	printed = status_of(gates_judge(run->gates, ts, counted_zero, run->l));
	if (printed)
		return printed;
	if (tables_empty(ts)) {
		printed = lat_say_nothing(run->l, run->samples, run->d);
		return run->gates ? gates_status(run->gates, last(run, status)) : printed;
	}
	if (o->out.form != TABLE_FORM_TEXT && o->stats && lat_account_table(run->l))
		return PP_EXIT_FAIL;
	printed = tables_print(ts, &o->out, STDOUT_FILENO, run->d);
	return printed ? printed : gates_status(run->gates, last(run, status));
}

/* A completion of struct periods. */
static int complete(void *ctx)
{
	return lat_complete(ctx);
}

static int run_tables(struct run *run, char **names, int n)
{
	struct plat_opts *o = run->o;
	struct periods periods;
	int status;

	choose_form(o);
	if (o->view)
		lat_tables(run->l)->view = o->view;
	if (o->out.every) {
		if (periods_open(&periods, &o->out, lat_tables(run->l), run->d))
			return PP_EXIT_FAIL;
		periods.complete = complete;
		periods.ctx = run->l;
		run->periods = &periods;
	}
	status = finish(run, read_all(run, names, n));
	status = print_tables(run, status);
	if (run->periods)
		periods_release(run->periods);
	run->periods = NULL;
	return status;
}

static int run_list(struct run *run, char **names, int n)
{
	struct lat_list list;
	int status;

	if (lat_list_open(&list, run->o))
		return PP_EXIT_FAIL;
	run->o->lat.sink = lat_list_add;
	run->o->lat.sink_ctx = &list;
	run->list = &list;
	status = finish(run, read_all(run, names, n));
	if (status != PP_EXIT_FAIL && !list.n)
		status = say_no_line(run, &list, status);
	if (list.hidden)
		diag_say(run->d, NULL,
			 "the lines do not fit the terminal: --wide shows all columns");
	run->list = NULL;
	return closed(run, lat_list_close(&list), status);
}

static int run_timeline(struct run *run, char **names, int n)
{
	struct lat_timeline t;
	int status;

	if (lat_timeline_start(&t))
		return PP_EXIT_FAIL;
	if (!run->o->lat.raw)
		t.names = (struct lat_fields_names){run->o->lat.symbol, run->o->lat.symbol_ctx};
	run->o->lat.sink = lat_timeline_add;
	run->o->lat.open = lat_timeline_open;
	run->o->lat.sink_ctx = &t;
	run->timeline = &t;
	status = finish(run, read_all(run, names, n));
	if (status != PP_EXIT_FAIL && !t.n)
		status = lat_say_nothing(run->l, run->samples, run->d);
	if (t.more_marks)
		diag_say(run->d, NULL, "%" PRIu64 " events are not marked: only the first %u are",
			 t.more_marks, LAT_MARKS_MAX);
	run->timeline = NULL;
	return closed(run, lat_timeline_close(&t, status), status);
}

static int run_emit(struct run *run, char **names, int n)
{
	struct plat_opts *o = run->o;
	struct filter f = {.name = "plat",
			   .argc = o->argc,
			   .argv = o->argv,
			   .keep = LAT_KEEP,
			   .record = on_record,
			   .ctx = run};
	struct lat_emit emit = {0};
	struct ps_end end = {0};
	struct ssink sink;

	if (ssink_open(&sink, STDOUT_FILENO, &o->sink, run->d))
		return PP_EXIT_FAIL;
	emit.w = &sink.w;
	run->emit = &emit;
	o->lat.sink = lat_emit_add;
	o->lat.sink_ctx = &emit;
	filter_run(&f, names, n, &sink, run->d, &end);
	end.status = (uint32_t)finish(run, (int)end.status);
	if (emit.missing)
		diag_say(run->d, NULL,
			 "%" PRIu64
			 " stacks are missing: intervals that were open at a time had too many",
			 emit.missing);
	if (end.status != PP_EXIT_FAIL && !emit.n)
		end.status = (uint32_t)lat_say_nothing(run->l, run->samples, run->d);
	if (o->strict && (end.lost || run->wakers) && !end.status)
		end.status = PP_EXIT_PARTIAL;
	lat_emit_release(&emit);
	return ssink_close(&sink, &end, run->d);
}

static int list_kinds(void)
{
	struct out out;
	int rc = out_init(&out, STDOUT_FILENO);

	for (unsigned i = 0; i < pair_nkinds && !rc; i++) {
		struct buf b = BUF_INIT;

		buf_adds(&b, pair_kinds[i].name);
		buf_fill(&b, ' ', strlen(pair_kinds[i].name) < 16 ? 16 - b.len : 1);
		buf_addf(&b, "%s%s\n", pair_kinds[i].what,
			 pair_kinds[i].more ? " (on request)" : "");
		rc = b.err ? b.err : out_add(&out, b.data, b.len);
		buf_release(&b);
	}
	if (rc) {
		out_release(&out);
		return rc;
	}
	return out_close(&out);
}

/* --fail-if: the conditions, and whether there are such names. 0, or the exit status. */
static int make_gates(struct run *run)
{
	struct tables names;
	int rc = gates_new(&run->gates, &run->o->out.gates, run->d);

	if (rc || !run->gates)
		return status_of(rc);
	tables_init(&names);
	rc = lat_names(run->l, &names);
	if (rc)
		diag_error(run->d, NULL, -1, "%s", pp_strerror(rc));
	rc = rc ? rc : gates_check(run->gates, &names);
	tables_release(&names);
	return status_of(rc);
}

int plat_run(struct plat_opts *o, char **names, int n, struct diag *d)
{
	struct buf why = BUF_INIT;
	struct run run = {.o = o, .d = d};
	int rc, status;

	if (o->list_kinds)
		return list_kinds() ? PP_EXIT_FAIL : PP_EXIT_OK;
	if (o->emit && o->out.form == TABLE_FORM_JSON)
		o->sink.form = SSINK_JSON;
	if (o->timeline && !o->lat.kinds)
		o->lat.kinds = LAT_TIMELINE_KINDS;
	o->lat.step = o->out.step;
	if (o->emit)
		o->lat.kinds = o->emit;
	o->lat.points = o->emit != NULL;
	rc = lat_new(&run.l, &o->lat, d, &why);
	if (rc == PP_EUSAGE)
		lat_say_lines(&why, d);
	else if (rc)
		diag_error(d, NULL, -1, "%s", pp_strerror(rc));
	buf_release(&why);
	if (rc)
		return status_of(rc);
	status = make_gates(&run);
	if (status)
		;
	else if (o->emit)
		status = run_emit(&run, names, n);
	else if (o->timeline)
		status = run_timeline(&run, names, n);
	else if (o->list)
		status = run_list(&run, names, n);
	else
		status = run_tables(&run, names, n);
	gates_free(run.gates);
	lat_free(run.l);
	return status;
}
