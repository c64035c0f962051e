/* Puts the marks into the records of samples as they pass through. */
#include "select/marker.h"

#include "base/err.h"
#include "filter/filter.h"
#include "filter/twice.h"

#include <unistd.h>

const struct opt_rule marker_rules[] = {
	{"explain",
	 "invert time every sample first lenient drop split output stats strict binary text json plain "
	 "threads",
	 NULL},
	{"output", NULL, "split"},
	{"drop", "text", NULL},
	{0},
};

static int on_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct marker *m = ctx;
	enum ps_mark mark;
	int rc;

	if (rec->type != PS_SAMPLE) {
		rc = select_see(m->select, r, rec);
		if (!rc && m->split.prefix)
			rc = split_see(&m->split, rec);
		if (!rc && rec->type != PS_HEADER)
			rc = swriter_copy(&m->sink.w, rec);
		return rc == PP_EUNSUPPORTED ? 0 : rc;
	}
	if (sreader_helps(r, &rec->sample))
		return m->split.prefix ? 0 : swriter_copy(&m->sink.w, rec);
	mark = select_mark(m->select, r, rec);
	if (m->drop && mark != PS_MARK_PASS)
		return 0;
	rc = m->split.prefix ? split_sample(&m->split, rec) : 0;
	return rc ? rc : swriter_copy_marked(&m->sink.w, rec, mark);
}

static int open_sink(struct marker *m, struct diag *d)
{
	m->split.argc = m->argc;
	m->split.argv = m->argv;
	return m->split.prefix ? split_begin(&m->split, &m->sink, &m->out, d)
			       : ssink_open(&m->sink, STDOUT_FILENO, &m->out, d);
}

/* Names that no event had, which is an error, and functions that there are not, which is none. */
static void say_problems(struct marker *m, struct ps_end *end, struct diag *d)
{
	struct buf why = BUF_INIT;

	if (select_problems(m->select, &why)) {
		diag_lines(d, buf_str(&why));
		end->status = PP_EXIT_FAIL;
	}
	buf_reset(&why);
	if (select_doubts(m->select, &why))
		diag_lines(d, buf_str(&why));
	buf_release(&why);
}

int marker_run(struct marker *m, char **files, int n, bool strict, struct diag *d)
{
	struct filter f = {.name = "pfilter", .keep = SELECT_KEEP, .record = on_record, .ctx = m};
	struct ps_end end = {0};
	struct twice twice = {0};
	int status = PP_EXIT_FAIL;

	f.argc = m->argc;
	f.argv = m->argv;
	if (select_scans(m->select)) {
		twice_scan(&twice, files, n, f.keep, select_scan, m->select, d);
		f.open = twice_open;
		f.open_ctx = &twice;
	}
	f.keep |= SREADER_HELPERS;
	if (!open_sink(m, d)) {
		/* What goes on packed need not be put together. */
		if (m->sink.w.pack && !m->split.prefix)
			f.keep |= SREADER_PARTS;
		filter_run(&f, files, n, &m->sink, d, &end);
		say_problems(m, &end, d);
		if (strict && end.lost && !end.status)
			end.status = PP_EXIT_PARTIAL;
		status = ssink_close(&m->sink, &end, d);
		split_release(&m->split);
	}
	twice_release(&twice);
	return status;
}
