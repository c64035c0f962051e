/* Output: where it goes, and what is printed when. */
#include "stat/parts.h"

#include "base/err.h"
#include "base/out.h"
#include "table/count_table.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLEAR "\033[H\033[2J\033[3J"

static bool is_file(const struct stat_config *c)
{
	return c->output && strcmp(c->output, "-") != 0;
}

static void add_title(struct counting *s)
{
	const struct stat_config *c = s->c;
	const struct target_want *w = &c->want;
	struct buf *b = &s->title;

	if (w->pids)
		buf_addf(b, "process id '%s'", w->pids);
	else if (w->tids)
		buf_addf(b, "thread id '%s'", w->tids);
	else if (w->user)
		buf_addf(b, "user '%s'", w->user);
	else if (w->cpus && !w->all_cpus)
		buf_addf(b, "'CPU(s) %s'", w->cpus);
	else if (s->system_wide)
		buf_adds(b, "'system wide'");
	for (char **v = c->command; !b->len && v && *v; v++)
		for (; *v; v++)
			buf_addf(b, "%s%s", v == c->command ? "'" : " ", *v);
	if (b->len && b->data[b->len - 1] != '\'')
		buf_addc(b, '\'');
	s->form.title = buf_str(b);
}

/* What the user's locale puts between thousands. */
static void find_thousands(struct counting *s)
{
	locale_t l = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	const char *mark = l ? nl_langinfo_l(THOUSEP, l) : "";

	if (!s->c->no_thousands && strlen(mark) < sizeof(s->thousands))
		memcpy(s->thousands, mark, strlen(mark) + 1);
	if (l)
		freelocale(l);
	s->form.thousands = s->thousands;
}

static int open_file(struct counting *s)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (s->c->append ? O_APPEND : O_TRUNC);
	time_t now = time(NULL);
	char date[64] = "";
	struct tm tm;

	s->out = open(s->c->output, flags, 0666);
	if (s->out < 0) {
		diag_error(s->d, s->c->output, -1, "cannot write: %s", strerror(errno));
		return PP_EIO;
	}
	s->close_out = true;
	if (s->c->form == STAT_TSV)
		return 0;
	if (localtime_r(&now, &tm))
		strftime(date, sizeof(date), "%a %b %e %T %Y", &tm);
	buf_addf(&s->text, "# started on %s\n\n", date);
	return s->text.err;
}

int stat_output(struct counting *s)
{
	static const enum count_form_kind kinds[] = {COUNT_TEXT, COUNT_CSV, COUNT_JSON, COUNT_TEXT};
	const struct stat_config *c = s->c;

	s->form = (struct count_form){
		.kind = kinds[c->form],
		.separator = c->separator ? c->separator : "",
		.repeats = c->repeat ? c->repeat : 1,
		.metric_only = c->metric_only,
		.no_zeros = c->by == COUNT_BY_THREAD && s->system_wide,
		.nothing = c->nothing,
		.interval = c->interval_ns > 0,
	};
	for (uint32_t i = 0; i < s->n_events; i++)
		s->form.cgroups |= s->events[i].cgroup != NULL;
	add_title(s);
	find_thousands(s);
	tables_init(&s->tables);
	s->out = c->log_fd >= 0	       ? c->log_fd
		 : c->output	       ? STDOUT_FILENO
		 : c->form == STAT_TSV ? STDOUT_FILENO
				       : STDERR_FILENO;
	if (is_file(c))
		return open_file(s);
	if (c->clear && !isatty(s->out)) {
		diag_error(s->d, NULL, -1, "--interval-clear needs a terminal");
		return PP_EUSAGE;
	}
	return s->title.err;
}

/* All of the text so far. */
static int write_out(struct counting *s)
{
	int rc = s->text.err;

	if (!rc && s->text.len && !s->c->quiet) {
		rc = out_write_all(s->out, s->text.data, s->text.len);
		if (rc && rc != PP_EPIPE)
			diag_error(s->d, is_file(s->c) ? s->c->output : NULL, -1,
				   "cannot write: %s", pp_strerror(rc));
	}
	buf_reset(&s->text);
	return rc;
}

static void add_raw(struct counting *s)
{
	for (uint32_t e = 0; e < s->counts.n_events; e++) {
		struct count_value sum = {0};

		for (uint32_t c = 0; c < s->counts.n_cpus; c++)
			for (uint32_t t = 0; t < s->counts.n_threads; t++) {
				const struct count_value *v = counts_cell(&s->counts, e, c, t);

				if (v->running == COUNT_ABSENT)
					continue;
				sum.value += v->value;
				sum.enabled += v->enabled;
				sum.running += v->running;
			}
		buf_addf(&s->text, "%s: %llu %llu %llu\n", s->counts.events[e].name,
			 (unsigned long long)sum.value, (unsigned long long)sum.enabled,
			 (unsigned long long)sum.running);
	}
}

int stat_print_interval(struct counting *s)
{
	uint64_t now = stat_now();
	int rc;

	s->form.time = now - s->began;
	s->counts.elapsed = now - s->last;
	s->last = now;
	rc = stat_read(s);
	if (rc)
		return rc;
	counts_sum(&s->counts, COUNT_INTERVAL);
	if (s->c->form == STAT_TSV)
		return count_table_add(&s->tables, &s->counts, s->c->interval_ns, s->form.time);
	if (s->c->verbose)
		add_raw(s);
	if (s->c->clear)
		buf_adds(&s->text, CLEAR);
	if (s->c->clear)
		s->form.printed = 0;
	count_form_begin(&s->form, &s->counts, &s->text);
	count_form_rows(&s->form, &s->counts, &s->text);
	return write_out(s);
}

/* The mean of the runs' seconds, and its error. */
static void add_times(const struct counting *s, struct count_times *t)
{
	double squares = 0;

	for (unsigned i = 0; i < s->n_runs; i++)
		t->elapsed += s->runs[i] / s->n_runs;
	for (unsigned i = 0; i < s->n_runs; i++)
		squares += (s->runs[i] - t->elapsed) * (s->runs[i] - t->elapsed);
	t->error = count_error(squares, s->n_runs);
	t->each = s->c->runs_table ? s->runs : NULL;
	t->has_cpu = s->form.repeats <= 1 && s->c->command && !s->system_wide &&
		     !target_has_tasks(&s->c->want);
	t->user = (double)s->command.usage.ru_utime.tv_sec +
		  (double)s->command.usage.ru_utime.tv_usec / 1e6;
	t->system = (double)s->command.usage.ru_stime.tv_sec +
		    (double)s->command.usage.ru_stime.tv_usec / 1e6;
}

int stat_print(struct counting *s)
{
	struct count_times t = {0};

	if (s->c->form == STAT_TSV)
		return 0;
	add_times(s, &t);
	s->form.summary = s->c->interval_ns && !s->c->no_csv_summary;
	s->form.interval = false;
	s->counts.elapsed = (uint64_t)(t.elapsed * 1e9);
	if (s->c->repeat && s->form.repeats > s->n_runs)
		s->form.repeats = s->n_runs; /* interrupted */
	if (s->c->verbose)
		add_raw(s);
	count_form_begin(&s->form, &s->counts, &s->text);
	count_form_rows(&s->form, &s->counts, &s->text);
	count_form_end(&s->form, &t, &s->text);
	return write_out(s);
}

int stat_output_close(struct counting *s)
{
	const struct table_opts opts = {.form = TABLE_FORM_TSV};
	int rc = s->out < 0 ? 0 : write_out(s);

	if (s->c->form == STAT_TSV && !s->c->quiet && !rc && s->out >= 0) {
		int fd = s->close_out ? s->out : dup(s->out);

		s->close_out = false;
		rc = tables_print(&s->tables, &opts, fd, s->d) ? PP_EIO : 0;
	}
	if (s->close_out && close(s->out) && !rc) {
		diag_error(s->d, s->c->output, -1, "cannot write: %s", strerror(errno));
		rc = PP_EIO;
	}
	tables_release(&s->tables);
	buf_release(&s->text);
	buf_release(&s->title);
	return rc;
}
