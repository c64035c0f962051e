/* What psvg does: reads stacks or tables of any kind, and writes one picture of them. */
#include "draw/picture.h"

#include "base/err.h"
#include "base/out_end.h"
#include "base/plain.h"
#include "draw/flame_tree.h"
#include "fold/fold.h"
#include "fold/sample_stacks.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_MAX 16

struct picture {
	struct diag *d;
	struct flame *flame;
	struct tables tables;
	struct timeline *timeline; /* NULL: none was read */
	bool stacks, charts;	   /* what was read */
	bool compare, chart, times;
	const char *event; /* of stacks, this one; NULL: there has to be but one */
	unsigned sources;  /* that were read */
	bool partial;
};

int picture_new(struct picture **pp, bool reverse, struct diag *d)
{
	struct picture *p = calloc(1, sizeof(*p));
	int rc = p ? flame_new(&p->flame, reverse) : PP_ENOMEM;

	if (rc) {
		free(p);
		diag_error(d, NULL, -1, "%s", pp_strerror(rc));
		return rc;
	}
	p->d = d;
	tables_init(&p->tables);
	*pp = p;
	return 0;
}

int picture_compare(struct picture *p)
{
	int rc = flame_compare(p->flame);

	p->compare = true;
	if (rc)
		diag_error(p->d, NULL, -1, "%s", pp_strerror(rc));
	return rc;
}

void picture_chart(struct picture *p)
{
	p->chart = true;
	flame_chart(p->flame);
}

void picture_times(struct picture *p)
{
	p->times = true;
}

void picture_choose(struct picture *p, const char *event)
{
	p->event = event;
	flame_choose(p->flame, event);
}

void picture_free(struct picture *p)
{
	if (!p)
		return;
	flame_free(p->flame);
	tables_release(&p->tables);
	timeline_free(p->timeline);
	free(p);
}

/* The order of time of a page, if there is one. */
static int take_times(struct picture *p, const struct fold *f, const char *name)
{
	int rc = fold_options(f)->times ? flame_times_add(p->flame, f) : 0;

	if (rc == PP_ELIMIT)
		diag_say(p->d, name,
			 "the page has no order of time: there are more than %u samples",
			 FOLD_TIMES_MAX);
	else if (rc && rc != PP_END)
		diag_error(p->d, name, -1, "%s", pp_strerror(rc));
	return rc == PP_ELIMIT || rc == PP_END ? 0 : rc;
}

/* Gives the stacks of a fold to the flame graph, as pfold would. */
static int take_fold(struct picture *p, struct fold *f, bool partial, const char *name)
{
	struct buf text = BUF_INIT, about = BUF_INIT;
	struct src *s = NULL;
	struct out out;
	int rc = out_init_buf(&out, &text);

	fold_write_about(f, &about);
	if (!rc)
		rc = about.err ? about.err : out_add(&out, buf_str(&about), about.len);
	if (!rc)
		rc = fold_write(f, &out);
	if (!rc && partial && fold_stacks(f))
		rc = out_add(&out, FOLD_PARTIAL "\n", sizeof(FOLD_PARTIAL));
	if (!rc)
		rc = out_flush(&out);
	out_release(&out);
	if (!rc)
		rc = src_from_mem(&s, buf_str(&text), text.len, name);
	/* The fold has chosen one. */
	if (p->event && strcmp(p->event, FLAME_EVERY) != 0)
		flame_choose(p->flame, NULL);
	if (!rc)
		rc = flame_read(p->flame, s, p->d);
	if (!rc)
		rc = take_times(p, f, name);
	flame_choose(p->flame, p->event);
	src_free(s);
	buf_release(&text);
	buf_release(&about);
	return rc;
}

/* Folds an event stream, and frees the source. */
static int read_stream(struct picture *p, struct src *s, const char *name)
{
	const bool every = p->event && !strcmp(p->event, FLAME_EVERY);
	const struct fold_opts opts = {.chart = p->chart,
				       .times = p->times && !every && !p->chart && !p->compare,
				       .event = every ? NULL : p->event,
				       .by = {"event"},
				       .nby = every};
	struct fold *f;
	int rc = fold_new(&f, &opts, p->d);

	if (rc) {
		src_free(s);
		return rc;
	}
	rc = fold_stream(f, s);
	p->partial |= rc == PP_ECUT;
	if (!rc || rc == PP_ECUT) {
		int chosen = fold_finish(f);

		rc = chosen ? chosen : take_fold(p, f, rc == PP_ECUT, name);
	}
	fold_free(f);
	return rc;
}

static int read_tables(struct picture *p, struct src *s)
{
	int rc = tables_read(&p->tables, s, p->d);

	src_free(s);
	if (rc != PP_ECUT)
		return rc;
	p->partial = true;
	return 0;
}

static int read_timeline(struct picture *p, struct src *s, const char *name)
{
	int rc = 0;

	if (p->timeline || p->charts || p->stacks) {
		diag_error(p->d, name, -1,
			   "a timeline is one picture: only paths can be added to it, after it");
		rc = PP_EMISMATCH;
	}
	if (!rc)
		rc = timeline_new(&p->timeline);
	if (!rc)
		rc = timeline_read(p->timeline, s, p->d);
	src_free(s);
	if (!rc)
		p->partial |= timeline_account(p->timeline)->partial;
	return rc;
}

static bool is_stream(const char *magic, size_t n)
{
	return n >= sizeof(PS_MAGIC) - 1 && !memcmp(magic, PS_MAGIC, sizeof(PS_MAGIC) - 1);
}

/* What comes after a timeline: paths that are drawn in it. */
static int read_path(struct picture *p, struct src *s, const char *name, const char *magic,
		     size_t n)
{
	int rc;

	if (!is_stream(magic, n)) {
		diag_error(p->d, name, -1,
			   "only the stream of plat --emit path goes into a timeline");
		src_free(s);
		return PP_EMISMATCH;
	}
	rc = timeline_read_path(p->timeline, s, p->d);
	p->partial |= timeline_account(p->timeline)->partial;
	return rc;
}

static int read_source(struct picture *p, struct src *s, const char *name)
{
	char magic[MAGIC_MAX];
	size_t n;
	int rc = src_peek(s, magic, MAGIC_MAX, &n);
	bool table = !rc && tables_is(magic, n);

	if (rc) {
		diag_error(p->d, name, -1, "cannot read: %s", pp_strerror(rc));
		src_free(s);
		return rc;
	}
	if (timeline_is(magic, n))
		return read_timeline(p, s, name);
	if (p->timeline)
		return read_path(p, s, name, magic, n);
	if (table ? p->stacks : p->charts) {
		diag_error(p->d, name, -1, "tables and stacks cannot be combined in one picture");
		src_free(s);
		return PP_EMISMATCH;
	}
	if (p->compare && (table || p->sources > 1)) {
		diag_error(p->d, name, -1,
			   table ? "is a table: only stacks are compared"
				 : "--diff takes two files, the base and the new one");
		src_free(s);
		return PP_EMISMATCH;
	}
	flame_side(p->flame, !p->sources++);
	p->charts |= table;
	p->stacks |= !table;
	if (table)
		return read_tables(p, s);
	if (is_stream(magic, n))
		return read_stream(p, s, name);
	rc = flame_read(p->flame, s, p->d);
	src_free(s);
	return rc;
}

int picture_read(struct picture *p, const char *name)
{
	struct src *s;
	int rc = plain_open(&s, name, p->d);

	return rc ? rc : read_source(p, s, name);
}

unsigned picture_kind(const struct picture *p, const char **on)
{
	*on = p->timeline ? "a timeline" : p->charts ? "charts of tables" : "a flame graph";
	return p->timeline ? PICTURE_TIMELINE : p->charts ? PICTURE_TABLES : PICTURE_STACKS;
}

/* ---- output ---- */

/* Options that exclude each other, as the input is. False: reported. */
static bool check_options(const struct picture *p, const struct picture_opts *o)
{
	const struct flame_account *a = flame_account(p->flame);
	const char *why = NULL;

	if (p->compare && p->sources < 2 && !flame_is_both(p->flame))
		why = "--diff takes two files, or text with two counts in each line";
	else if (p->compare && (p->chart || o->flame.total > 0))
		why = "--diff cannot be combined with --flamechart or --total";
	else if (p->compare && p->event && !strcmp(p->event, FLAME_EVERY))
		why = "--diff compares one event: select it with --event";
	if (why)
		diag_error(p->d, NULL, -1, "%s", why);
	else if (o->flame.total > 0 && o->flame.total < a->total && p->stacks)
		diag_warn(p->d, NULL, -1, "--total is less than the sum of counts, and is ignored");
	return !why;
}

static void say_no_event(const struct picture *p)
{
	struct buf b = BUF_INIT;

	flame_describe_others(p->flame, &b);
	diag_error(p->d, NULL, -1, "no samples of %s%s%s", p->event,
		   b.len ? "; there are: " : ": nothing to draw", buf_str(&b));
	buf_release(&b);
}

static int write_svg(struct picture *p, const struct picture_opts *o, struct out *out)
{
	int rc;

	if (p->timeline)
		rc = o->timeline_svg ? timeline_svg(p->timeline, &o->timeline, out)
				     : timeline_page(p->timeline, &o->timeline, out);
	else
		rc = p->charts ? chart_svg(&p->tables, &o->chart, out)
		     : o->page ? flame_page(p->flame, &o->flame, out)
			       : flame_svg(p->flame, &o->flame, out);
	if (rc == PP_END && p->compare && o->flame.gone)
		diag_error(p->d, NULL, -1, "nothing is gone: nothing to draw");
	else if (rc == PP_END && p->timeline)
		diag_error(p->d, NULL, -1, "no intervals: nothing to draw");
	else if (rc == PP_END && p->event)
		say_no_event(p);
	else if (rc == PP_END && !p->charts)
		diag_error(p->d, NULL, -1, "no samples: nothing to draw");
	else if (rc == PP_END)
		diag_error(p->d, NULL, -1, "no rows%s%s: nothing to draw",
			   o->chart.value ? " of " : "", o->chart.value ? o->chart.value : "");
	else if (rc == PP_ENOENT)
		diag_error(p->d, NULL, -1, "--stat: the table has no %s", o->chart.stat);
	return rc;
}

static void say_account(const struct picture *p)
{
	struct buf text = BUF_INIT;
	uint64_t rows = 0;

	for (uint32_t i = 0; i < p->tables.n; i++)
		rows += table_nordered(p->tables.v[i]);
	if (p->timeline)
		buf_addf(&text,
			 "%" PRIu64 " intervals, %" PRIu64 " unfinished, %" PRIu64
			 " losses, %" PRIu64 " marks, %" PRIu64 " steps of paths; %" PRIu64
			 " malformed lines",
			 timeline_account(p->timeline)->intervals,
			 timeline_account(p->timeline)->open, timeline_account(p->timeline)->losses,
			 timeline_account(p->timeline)->marks, timeline_account(p->timeline)->steps,
			 timeline_account(p->timeline)->malformed);
	else if (p->charts)
		buf_addf(&text, "%u tables, %" PRIu64 " rows", p->tables.n, rows);
	else
		flame_describe(p->flame, &text);
	diag_say(p->d, NULL, "%s", buf_str(&text));
	buf_release(&text);
}

int picture_print(struct picture *p, const struct picture_opts *o, int fd, bool stats)
{
	const struct flame_account *a = flame_account(p->flame);
	struct out out;
	int rc = out_init(&out, fd), closed;

	if (o->factor != 1)
		flame_scale(p->flame, o->factor);
	if (!rc && !check_options(p, o)) {
		out_release(&out);
		return PP_EXIT_USAGE;
	}
	if (!rc)
		rc = write_svg(p, o, &out);
	closed = out_close(&out);
	if (stats)
		say_account(p);
	if (rc == PP_END)
		return PP_EXIT_PARTIAL;
	if (rc == PP_ENOENT)
		return PP_EXIT_USAGE;
	if (out_report(rc ? rc : closed, p->d))
		return PP_EXIT_FAIL;
	return a->malformed || a->deep || a->partial || p->partial ? PP_EXIT_PARTIAL : PP_EXIT_OK;
}
