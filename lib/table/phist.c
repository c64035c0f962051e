/* phist: its options to a count, its input, and what it says in the end. */
#include "table/phist_parts.h"

#include "base/each_input.h"
#include "base/plain.h"
#include "stream/read_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define KEEP	     (FIELD_KEEP | SREADER_CHAINS)
#define WINDOW_FIRST 1000 /* ns: the first automatic width */

/* What is wrong with an expression takes several lines. */
static void say_lines(struct diag *d, const char *text)
{
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		size_t n = strcspn(at, "\n");

		diag_error(d, NULL, -1, "%.*s", (int)n, at);
		at += n;
	}
}

/* One list of expressions, of the option `name`. */
static int parse(struct phist *p, const char *name, const char *text, unsigned most,
		 struct expr **x, unsigned *n)
{
	struct buf why = BUF_INIT;
	int rc = text ? expr_new(x, text, EXPR_VALUES, &why) : 0;

	*n = !rc && text ? expr_count(*x) : 0;
	if (*n > most) {
		buf_addf(&why, "more than %u values", most);
		rc = PP_EUSAGE;
	}
	if (rc) {
		diag_error(p->d, NULL, -1, "--%s: %s", name, text);
		say_lines(p->d, rc == PP_EUSAGE ? buf_str(&why) : pp_strerror(rc));
	}
	buf_release(&why);
	return rc;
}

static void mark_sums(const struct tables *ts);

/* The periods' tables are complete. */
static int complete(void *ctx)
{
	struct phist *p = ctx;

	mark_sums(&p->tables);
	return 0;
}

static int begin_periods(struct phist *p, const struct table_opts *o)
{
	if (!o || !o->every)
		return 0;
	p->every = *o;
	if (!p->every.sort)
		p->every.sort = "count";
	p->by_period = true;
	return periods_open(&p->periods, &p->every, &p->tables, p->d);
}

/*
 * Adds a table without rows that has the names which that of the results will have: for messages
 * about conditions before the input is read.
 */
static int add_names(const struct phist *p, struct tables *ts)
{
	struct table_key keys[TABLE_KEYS_MAX];
	struct table_value values[TABLE_VALUES_MAX] = {{"events", TABLE_COUNT, "", 0}};
	char *texts[TABLE_KEYS_MAX + TABLE_VALUES_MAX];
	uint32_t n = 0, ntexts = 0;
	struct table *t;
	int rc = 0;

	for (unsigned i = 0; i < p->nby + p->nfields; i++) {
		struct ps_str s =
			i < p->nby ? expr_text(p->by, i) : expr_text(p->fields, i - p->nby);

		texts[ntexts++] = strndup(s.p, s.len);
		rc = texts[i] ? rc : PP_ENOMEM;
	}
	if (p->window)
		keys[n++] = (struct table_key){"time", TABLE_WINDOW, p->window};
	for (unsigned i = 0; i < p->nby; i++)
		keys[n++] = (struct table_key){texts[i], TABLE_TEXT, 0};
	for (unsigned i = 0; i < p->nfields; i++)
		values[i] = (struct table_value){texts[p->nby + i], TABLE_HIST, "", 0};
	if (!rc)
		rc = tables_add(ts, "", keys, n, values, p->nfields ? p->nfields : 1, &t);
	while (ntexts)
		free(texts[--ntexts]);
	return rc || p->nby || p->nfields || p->window ? rc : phist_count_names(ts);
}

static int make_gates(struct phist *p)
{
	struct tables names;
	int rc = gates_new(&p->gates, p->o.gates, p->d);

	if (rc || !p->gates || p->o.merge)
		return rc;
	tables_init(&names);
	rc = add_names(p, &names);
	if (rc)
		diag_error(p->d, NULL, -1, "%s", pp_strerror(rc));
	rc = rc ? rc : gates_check(p->gates, &names);
	tables_release(&names);
	return rc;
}

/* --source, and --by of --merge. */
static int begin_sources(struct phist *p)
{
	const struct table_opts *out = p->o.every;
	const char *why = NULL;

	p->tables.by_source = p->o.merge && p->o.by;
	p->tables.source = out ? out->source : NULL;
	if (p->tables.by_source && strcmp(p->o.by, TABLE_SOURCE) != 0)
		why = "--merge has no effect with --by, except --by " TABLE_SOURCE;
	else if (p->tables.source && !out->plain && !p->tables.by_source)
		why = "--source is for --tsv=plain and --merge --by source";
	if (why)
		diag_error(p->d, NULL, -1, "%s", why);
	return why ? PP_EUSAGE : 0;
}

int phist_new(struct phist **pp, const struct phist_opts *opts, struct diag *d)
{
	struct phist *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return PP_ENOMEM;
	p->o = *opts;
	p->d = d;
	tables_init(&p->tables);
	if (opts->view)
		p->tables.view = opts->view;
	p->window = opts->window == PHIST_WINDOW_AUTO ? WINDOW_FIRST : opts->window;
	rc = parse(p, "field", opts->fields, TABLE_VALUES_MAX, &p->fields, &p->nfields);
	if (!rc)
		rc = begin_sources(p);
	if (!rc && !opts->merge)
		rc = parse(p, "by", opts->by, TABLE_KEYS_MAX - 1, &p->by, &p->nby);
	if (!rc && p->by && !opts->raw) {
		expr_symbols(p->by, &opts->symbols);
		expr_show_names(p->by);
	}
	if (!rc)
		rc = begin_periods(p, opts->every);
	if (!rc)
		rc = make_gates(p);
	if (rc) {
		phist_free(p);
		return rc;
	}
	p->periods.complete = complete;
	p->periods.ctx = p;
	*pp = p;
	return 0;
}

void phist_free(struct phist *p)
{
	if (!p)
		return;
	expr_free(p->fields);
	expr_free(p->by);
	if (p->by_period)
		periods_release(&p->periods);
	tables_release(&p->tables);
	buf_release(&p->text);
	for (unsigned i = 0; i < TABLE_KEYS_MAX; i++)
		buf_release(&p->raw[i]);
	event_numbers_release(&p->events);
	count_reader_free(p->counts);
	gates_free(p->gates);
	free(p);
}

uint64_t phist_lost(const struct phist *p)
{
	return p->tables.lost;
}

/* ---- input ---- */

static int see(struct phist *p, const struct sreader *r, const struct ps_record *rec)
{
	int rc = 0;

	if (rec->type == PS_HEADER) {
		p->last_event = 0;
		event_numbers_forget(&p->events);
		rc = p->by_period ? periods_end(&p->periods, false) : 0;
	}
	rc = rc ? rc : phist_count(p, r, rec);
	if (rc)
		return rc;
	if (p->by && p->o.symbols.see)
		p->o.symbols.see(p->o.symbols.ctx, rec);
	rc = p->fields ? expr_see(p->fields, r, rec) : 0;
	if (!rc && rec->type == PS_EVENT)
		rc = event_numbers_define(&p->events, rec->source, &rec->event, NULL);
	return !rc && p->by ? expr_see(p->by, r, rec) : rc;
}

static int take(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct phist *p = ctx;
	int rc = 0;

	if (rec->type != PS_SAMPLE)
		return see(p, r, rec);
	if (p->by_period && !(rec->sample.flags & PS_SAMPLE_NO_TIME))
		rc = periods_see(&p->periods, rec->sample.time);
	return rc ? rc : phist_sample(p, r, rec);
}

/* Takes all records of a source, and frees it. */
int phist_stream(struct phist *p, struct src *s)
{
	const struct input_reader in = {
		KEEP,	    take, p, p->d, &p->tables.lost, p->by_period ? periods_pause : NULL,
		&p->periods};
	int status = input_read(&in, s);

	return p->periods.err ? periods_status(p->periods.err) : status;
}

static bool is_table(struct src *s)
{
	char magic[sizeof(TABLE_MAGIC) - 1];
	size_t n;

	return !src_peek(s, magic, sizeof(magic), &n) && tables_is(magic, n);
}

static int read_file(void *ctx, const char *name)
{
	struct phist *p = ctx;
	struct src *s;
	int rc = (p->merge ? plain_open : src_open)(&s, name, p->d);

	if (rc)
		return PP_EXIT_FAIL;
	if (!p->merge && is_table(s)) {
		diag_error(p->d, src_name(s), -1, "is a table: use --merge");
		src_free(s);
		return PP_EXIT_FAIL;
	}
	if (!p->merge)
		return phist_stream(p, s);
	rc = tables_read(&p->tables, s, p->d);
	src_free(s);
	return !rc ? PP_EXIT_OK : rc == PP_ECUT ? PP_EXIT_PARTIAL : PP_EXIT_FAIL;
}

static int read_files(struct phist *p, char **names, int n, bool merge)
{
	int status;

	p->input = n == 1 ? names[0] : NULL;
	p->merge = merge;
	status = each_input(names, n, read_file, p);
	p->tables.partial |= status == PP_EXIT_PARTIAL;
	return status;
}

int phist_files(struct phist *p, char **names, int n)
{
	return read_files(p, names, n, false);
}

const struct tables *phist_tables(const struct phist *p)
{
	return &p->tables;
}

int phist_merge(struct phist *p, char **names, int n)
{
	return read_files(p, names, n, true);
}

/* ---- output ---- */

/* Names that no event has. */
static bool say_problems(struct phist *p, struct expr *x)
{
	struct buf why = BUF_INIT;
	bool any = x && expr_problems(x, &why);

	if (any)
		say_lines(p->d, buf_str(&why));
	buf_release(&why);
	return any;
}

static void say_nothing(struct phist *p)
{
	const struct phist_account *a = &p->account;

	if (!a->samples)
		diag_error(p->d, NULL, -1, "no samples");
	else if (a->filtered + a->joined == a->samples)
		diag_error(p->d, NULL, -1, "no sample passed the filter: %" PRIu64 " did not",
			   a->filtered);
	else if (a->texts)
		diag_error(p->d, NULL, -1, "%s is a text, not a number: count it with --by",
			   p->o.fields);
	else
		diag_error(p->d, NULL, -1, "none of %" PRIu64 " samples has %s", a->samples,
			   a->no_field ? p->o.fields
			   : a->no_key ? p->o.by
				       : "a time");
}

/* What did not count. */
static void say_account(struct phist *p)
{
	const struct phist_account *a = &p->account;

	if (a->counted && a->no_field)
		diag_say(p->d, NULL, "%" PRIu64 " of %" PRIu64 " samples do not count: without %s",
			 a->no_field, a->samples, p->o.fields);
	if (a->counted && a->no_key)
		diag_say(p->d, NULL, "%" PRIu64 " of %" PRIu64 " samples do not count: without %s",
			 a->no_key, a->samples, p->o.by);
	if (a->counted && a->no_time)
		diag_say(p->d, NULL, "%" PRIu64 " samples do not count: recorded without time",
			 a->no_time);
	if (p->mixed)
		diag_say(p->d, NULL,
			 "periods of different units are in one table: their sum has no unit");
	if (a->raw)
		diag_say(p->d, NULL,
			 "%" PRIu64 " samples have only addresses: put psym before phist", a->raw);
	if (p->tables.lost)
		diag_say(p->d, NULL, "the recording lost %" PRIu64 " events: they are not counted",
			 p->tables.lost);
	for (uint32_t i = 0; i < p->tables.n; i++)
		if (p->tables.v[i]->folded)
			diag_say(p->d, NULL,
				 "more rows than fit: %" PRIu64 " small ones are in \"" TABLE_OTHER
				 "\", counts of rare keys are too low",
				 p->tables.v[i]->folded);
}

/*
 * Fields whose numbers are not of something, as the kernel calls them; a prefix may come before, as
 * in prev_prio.
 */
static const char *const no_amounts[] = {
	"prio",	  "priority", "nice",	 "pid",		"tid",	    "tgid",	"cpu",	 "node",
	"id",	  "state",    "flags",	 "mode",	"type",	    "irq",	"vec",	 "vector",
	"sector", "dev",      "ino",	 "order",	"error",    "addr",	"ip",	 "ptr",
	"pfn",	  "fd",	      "sig",	 "signal",	"port",	    "dport",	"sport", "source",
	"cgroup", "depth",    "expires", "softexpires", "vruntime", "call_site"};

/*
 * Whether a sum of a field means something: not of priorities, numbers of threads, addresses,
 * points of time.
 */
static bool has_sum(const struct table_value *c)
{
	size_t n = strlen(c->name);

	if (!strcasecmp(c->name, "time") || !strcasecmp(c->name, "end_time"))
		return false;
	for (size_t i = 0; i < sizeof(no_amounts) / sizeof(no_amounts[0]) && !*c->unit; i++) {
		size_t len = strlen(no_amounts[i]);

		if (n >= len && !strcasecmp(c->name + n - len, no_amounts[i]) &&
		    (n == len || c->name[n - len - 1] == '_'))
			return false;
	}
	return true;
}

static void mark_sums(const struct tables *ts)
{
	for (uint32_t i = 0; i < ts->n; i++)
		for (uint32_t v = 0; v < ts->v[i]->nvalues; v++)
			if (ts->v[i]->values[v].kind == TABLE_HIST &&
			    !has_sum(&ts->v[i]->values[v]))
				ts->v[i]->no_sum |= 1u << v;
}

/* There are no rows because a filter before has let nothing pass: that is a result. */
static bool all_filtered(const struct phist *p)
{
	const struct phist_account *a = &p->account;

	return a->filtered && a->filtered + a->joined == a->samples;
}

/* gates_zero_fn. */
static bool counted_zero(void *ctx, const char *value, size_t len)
{
	(void)value;
	(void)len;
	return all_filtered(ctx);
}

/* Nothing was counted. With gates, that can be what is wanted. */
static int print_nothing(struct phist *p, int status)
{
	if (p->tables.n)
		diag_error(p->d, NULL, -1, "the tables have no rows");
	else
		say_nothing(p);
	if (!p->gates)
		return PP_EXIT_PARTIAL;
	return gates_status(p->gates, status);
}

int phist_print(struct phist *p, int status, const struct table_opts *o)
{
	struct table_opts opts = *o;
	bool problems;
	int printed, rc;

	opts.source = opts.source ? opts.source : p->input;
	if (status == PP_EXIT_FAIL || status == PP_EXIT_USAGE)
		return status;
	if (p->by_period && periods_end(&p->periods, true))
		return periods_status(p->periods.err);
	status = phist_counted(p, status);
	say_account(p);
	problems = say_problems(p, p->fields);
	problems |= say_problems(p, p->by);
	if (problems && !status)
		status = PP_EXIT_PARTIAL;
	rc = gates_judge(p->gates, &p->tables, counted_zero, p);
	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	/* Counts that perf stat recorded are printed already. */
	if (!p->account.samples && p->counts && count_reader_rounds(p->counts) &&
	    (!p->o.as_table || tables_empty(&p->tables)))
		return gates_status(p->gates, status);
	if (tables_empty(&p->tables))
		return print_nothing(p, status);
	if (!o->sort && !p->window && p->t)
		opts.sort = "count";
	mark_sums(&p->tables);
	printed = tables_print(&p->tables, &opts, STDOUT_FILENO, p->d);
	if (printed)
		return printed;
	return gates_status(p->gates, status);
}

void phist_describe(const struct phist *p)
{
	const struct phist_account *a = &p->account;
	uint64_t rows = 0;

	for (uint32_t i = 0; i < p->tables.n; i++)
		rows += p->tables.v[i]->nrows;
	diag_say(p->d, NULL,
		 "samples %" PRIu64 " = counted %" PRIu64 " + not passing %" PRIu64
		 " + without field %" PRIu64 " + without key %" PRIu64 " + without time %" PRIu64
		 " + joined to another %" PRIu64,
		 a->samples, a->counted, a->filtered, a->no_field, a->no_key, a->no_time,
		 a->joined);
	diag_say(p->d, NULL, "rows %" PRIu64 ", lost by the recording %" PRIu64, rows,
		 p->tables.lost);
}
