/* Counts that perf stat recorded: printed as it does, or as rows of a table. */
#include "table/phist_parts.h"

#include "base/err.h"
#include "table/count_table.h"

#include <inttypes.h>
#include <unistd.h>

static int add_round(void *ctx, const struct counts *c, uint64_t interval, uint64_t elapsed)
{
	struct phist *p = ctx;

	return count_table_add(&p->tables, c, interval, elapsed);
}

static int make_reader(struct phist *p)
{
	int rc = count_reader_new(&p->counts, COUNT_VIEW_TABLE);

	if (!rc && (p->o.as_table || p->gates))
		count_reader_on_round(p->counts, add_round, p);
	return rc;
}

int phist_count(struct phist *p, const struct sreader *r, const struct ps_record *rec)
{
	int rc = p->counts ? 0 : make_reader(p);

	/* Fields and keys are those of samples. */
	if (rc || p->o.fields || p->o.by || p->o.window)
		return rc;
	buf_reset(&p->text);
	rc = count_reader_take(p->counts, r, rec, &p->text);
	if (rc || !p->text.len)
		return rc;
	rc = out_write_all(STDOUT_FILENO, p->text.data, p->text.len);
	if (rc)
		diag_error(p->d, NULL, -1, "cannot write: %s", pp_strerror(rc));
	return rc;
}

int phist_counted(struct phist *p, int status)
{
	uint64_t strays = p->counts ? count_reader_strays(p->counts) : 0;

	if (strays)
		diag_error(p->d, NULL, -1,
			   "%" PRIu64 " counts are of an unknown event, CPU or thread", strays);
	if (p->counts && count_reader_any(p->counts) && !count_reader_rounds(p->counts)) {
		diag_error(p->d, NULL, -1, "the recording of counts ends before the first table");
		strays++;
	}
	return strays && !status ? PP_EXIT_PARTIAL : status;
}

int phist_count_names(struct tables *ts)
{
	static const struct table_value values[] = {{"count", TABLE_SUM, "", 0},
						    {"running", TABLE_SUM, "%", 0}};
	static const char *const by[] = {
#define B(name, text) text,
		COUNT_BYS(B)
#undef B
	};
	struct table_key keys[3 + sizeof(by) / sizeof(by[0])] = {
		{"time", TABLE_WINDOW, 1}, {"event", TABLE_TEXT, 0}, {"cgroup", TABLE_TEXT, 0}};
	uint32_t n = 3;
	struct table *t;
	int rc;

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (i != COUNT_BY_ALL)
			keys[n++] = (struct table_key){by[i], TABLE_TEXT, 0};
	rc = tables_add(ts, "counts", keys, n, values, 2, &t);
	if (!rc)
		t->overlap = true; /* what a condition on samples does not name, it does not mean */
	return rc;
}
