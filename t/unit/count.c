/* Counts: rows of groups, repeated runs, counters that are not there, the forms' fields. */
#include "count/form.h"
#include "count/recorded_counts.h"
#include "tap.h"

#include <linux/perf_event.h>
#include <math.h>

static const struct count_event clock_event = {.name = "task-clock",
					       .unit = "msec",
					       .scale = 1e-6,
					       .type = PERF_TYPE_SOFTWARE,
					       .config = PERF_COUNT_SW_TASK_CLOCK,
					       .supported = true};
static const struct count_event faults = {.name = "faults",
					  .scale = 1,
					  .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_PAGE_FAULTS,
					  .supported = true};

/* Four CPUs: two sockets of two cores; node 1 is the second socket. */
static void make(struct counts *c, enum count_by by)
{
	counts_init(c, by);
	counts_add_event(c, &clock_event);
	counts_add_event(c, &faults);
	for (int i = 0; i < 4; i++) {
		const struct count_cpu cpu = {i, i / 2, 0, i % 2, i / 2};

		counts_add_cpu(c, &cpu);
	}
	ok(!counts_lay_out(c), "laid out");
}

static void set(struct counts *c, uint32_t event, uint32_t cpu, uint64_t value, uint64_t running)
{
	*counts_cell(c, event, cpu, 0) = (struct count_value){value, 100, running};
}

static void test_groups(void)
{
	static const struct {
		enum count_by by;
		uint32_t groups;
		double first;
	} t[] = {
		{COUNT_BY_ALL, 1, 10}, {COUNT_BY_CPU, 4, 1},	{COUNT_BY_CORE, 4, 1},
		{COUNT_BY_DIE, 2, 3},  {COUNT_BY_SOCKET, 2, 3}, {COUNT_BY_NODE, 2, 3},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct counts c;

		make(&c, t[i].by);
		for (uint32_t p = 0; p < 4; p++)
			set(&c, 1, p, p + 1, 100);
		counts_sum(&c, COUNT_WHOLE);
		is_int(c.n_groups, t[i].groups, "groups by %s", count_by_name(t[i].by));
		ok(counts_row(&c, 1, 0)->value == t[i].first, "the first one's sum");
		counts_release(&c);
	}
}

/* 2, 4 and 9: the mean is 5, the squares of the distances add up to 26. */
static void test_runs(void)
{
	static const uint64_t values[] = {2, 4, 9};
	const struct count_row *row;
	struct counts c;

	make(&c, COUNT_BY_ALL);
	for (size_t i = 0; i < 3; i++) {
		counts_clear(&c);
		set(&c, 1, 0, values[i], 100);
		counts_sum(&c, COUNT_WHOLE);
	}
	row = counts_row(&c, 1, 0);
	ok(fabs(row->value - 5) < 1e-9, "the mean of three runs");
	ok(fabs(count_error(row->squares, row->runs) - sqrt(26.0 / 2 / 3)) < 1e-9, "its error");
	is_int(counts_row(&c, 0, 0)->state, COUNT_NOT_COUNTED, "never counted");
	counts_release(&c);
}

static void test_intervals(void)
{
	struct counts c;

	make(&c, COUNT_BY_ALL);
	set(&c, 1, 0, 7, 100);
	counts_sum(&c, COUNT_INTERVAL);
	ok(counts_row(&c, 1, 0)->value == 7, "the first interval");
	*counts_cell(&c, 1, 0, 0) = (struct count_value){12, 200, 200};
	counts_sum(&c, COUNT_INTERVAL);
	ok(counts_row(&c, 1, 0)->value == 5, "the second one without the first");
	counts_sum(&c, COUNT_INTERVAL);
	is_int(counts_row(&c, 1, 0)->state, COUNT_NOT_COUNTED, "one in which nothing ran");
	counts_sum(&c, COUNT_ANEW);
	ok(counts_row(&c, 1, 0)->value == 12, "the whole");
	counts_release(&c);
}

/* A PMU of the package counts on one CPU of each socket; another's counter did not run. */
static void test_absent(void)
{
	struct counts c;

	make(&c, COUNT_BY_SOCKET);
	set(&c, 1, 0, 40, 50);
	set(&c, 1, 1, 0, COUNT_ABSENT);
	set(&c, 1, 2, 8, 100);
	set(&c, 1, 3, 0, 0);
	counts_sum(&c, COUNT_WHOLE);
	ok(counts_row(&c, 1, 0)->value == 80, "half of the time: twice the count");
	is_int(counts_row(&c, 1, 0)->cpus, 1, "of the one CPU that has a counter");
	is_int(counts_row(&c, 1, 1)->state, COUNT_NOT_COUNTED,
	       "one that did not run spoils the sum");
	c.no_scale = true;
	counts_sum(&c, COUNT_ANEW);
	ok(counts_row(&c, 1, 0)->value == 40, "without scaling");
	counts_release(&c);
}

static void rows(struct count_form *f, struct counts *c, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	count_form_rows(f, c, &b);
	is_str(buf_str(&b), want, "%s", what);
	buf_release(&b);
}

static void test_fields(void)
{
	const struct count_event pmu = {
		.name = "cpu/event=1,umask=\"2\"/", .scale = 1, .supported = true};
	struct count_form f = {.kind = COUNT_CSV, .separator = ",", .cgroups = true};
	struct counts c;

	counts_init(&c, COUNT_BY_ALL);
	counts_add_event(&c, &pmu);
	counts_lay_out(&c);
	*counts_cell(&c, 0, 0, 0) = (struct count_value){1234567, 10, 10};
	counts_sum(&c, COUNT_WHOLE);
	rows(&f, &c, "1234567,,\"cpu/event=1,umask=\"\"2\"\"/\",,10,100.00,,\n", "CSV: quoted");
	f.kind = COUNT_JSON;
	rows(&f, &c,
	     "{\"counter-value\" : \"1234567.000000\", \"unit\" : \"\", \"event\" : "
	     "\"cpu/event=1,umask=\\\"2\\\"/\", \"cgroup\" : \"\", \"event-runtime\" : 10, "
	     "\"pcnt-running\" : 100.00}\n",
	     "JSON");
	f = (struct count_form){.kind = COUNT_TEXT, .thousands = "\xc2\xa0"};
	rows(&f, &c,
	     "         1\xc2\xa0"
	     "234\xc2\xa0"
	     "567      cpu/event=1,umask=\"2\"/                                             \n",
	     "marks between thousands take a column each");
	counts_release(&c);
}

static void test_limit(void)
{
	struct counts c;
	int rc = 0;

	counts_init(&c, COUNT_BY_ALL);
	for (int i = 0; i < 1025 && !rc; i++)
		rc = counts_add_event(&c, &faults);
	for (int i = 0; i < 1025 && !rc; i++)
		rc = counts_add_thread(&c, i, "");
	ok(!rc && counts_lay_out(&c), "more cells than there may be");
	counts_release(&c);
}

int main(void)
{
	test_groups();
	test_runs();
	test_intervals();
	test_absent();
	test_fields();
	test_limit();
	return done();
}
