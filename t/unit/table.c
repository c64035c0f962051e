/* Tables: rows, folding, order, the three forms, and what the TSV form gives back. */
#include "base/buf.h"
#include "base/err.h"
#include "table/table.h"
#include "tap.h"

#include <stdlib.h>

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return 0;
}

static void write_to(struct tables *ts, struct buf *b, enum table_form form)
{
	const struct table_opts o = {.form = form};
	struct out out;

	buf_reset(b);
	ok(!out_init_fn(&out, collect, b) && !tables_write(ts, &o, &out) && !out_flush(&out),
	   "written");
	out_release(&out);
}

static int read_from(struct tables *ts, const void *bytes, size_t len)
{
	struct src *s;
	int rc = src_from_mem(&s, bytes, len, "table");

	if (rc)
		return rc;
	rc = tables_read(ts, s, NULL);
	src_free(s);
	return rc;
}

static const struct table_key comm_cpu[] = {{"comm", TABLE_TEXT, 0}, {"cpu", TABLE_NUMBER, 0}};
static const struct table_value delay[] = {{"delay", TABLE_HIST, "ns", 0}};

static int add(struct table *t, const char *comm, uint64_t cpu, hist_int v, uint64_t time)
{
	uint64_t key[2] = {0, cpu};
	uint32_t row;
	int rc = table_text(t, comm, strlen(comm), &key[0]);

	if (!rc)
		rc = table_row(t, key, &row);
	return rc ? rc : table_add(t, row, 0, v, time);
}

/* Two commands on two CPUs. */
static struct table *sample(struct tables *ts)
{
	struct table *t = NULL;

	tables_init(ts);
	ok(!tables_add(ts, "runq", comm_cpu, 2, delay, 1, &t), "a table");
	ok(!add(t, "bash", 0, 1000, 5000000000) && !add(t, "bash", 0, 3000, 6000000000) &&
		   !add(t, "make", 1, 500000, 7123456789) && !add(t, "bash", 1, 2, 8000000000),
	   "values");
	return t;
}

static void test_text(void)
{
	struct tables ts;
	struct table *t = sample(&ts);
	struct buf b = BUF_INIT;

	ok(!table_sort(t, NULL), "sorted by sum");
	write_to(&ts, &b, TABLE_FORM_TEXT);
	is_str(buf_str(&b),
	       "           delay\n"
	       "comm  cpu  count    total   share      min     mean      p50      p90      p99"
	       "    p99.9      max\n"
	       "make    1      1   500 us  99.21%   500 us   500 us   500 us   500 us   500 us"
	       "   500 us   500 us\n"
	       "bash    0      2  4.00 us   0.79%  1.00 us  2.00 us  1.00 us  3.00 us  3.00 us"
	       "  3.00 us  3.00 us\n"
	       "bash    1      1     2 ns   0.00%     2 ns     2 ns     2 ns     2 ns     2 ns"
	       "     2 ns     2 ns\n",
	       "columns, units, shares");
	buf_release(&b);
	tables_release(&ts);
}

static void test_json(void)
{
	struct tables ts;
	struct table *t = sample(&ts);
	struct buf b = BUF_INIT;

	ok(!table_sort(t, "count") && !table_top(t, 1), "the first one");
	ts.lost = 3;
	write_to(&ts, &b, TABLE_FORM_JSON);
	is_str(buf_str(&b),
	       "{\"table\":\"runq\",\"keys\":{\"comm\":\"bash\",\"cpu\":0},\"values\":{\"delay\":"
	       "{\"count\":2,\"share\":0.007936,\"unit\":\"ns\",\"sum\":4000,\"min\":1000,\"mean\":"
	       "2000,\"p50\":1000,\"p90\":3000,\"p99\":3000,\"p99.9\":3000,\"max\":3000,"
	       "\"max_time\":6000000000,\"buckets\":[[1000,1001,1],[3000,3007,1]]}}}\n"
	       "{\"table\":\"runq\",\"keys\":{\"comm\":\"(other)\",\"cpu\":\"(other)\"},\"values\":"
	       "{\"delay\":{\"count\":2,\"share\":0.992064,\"unit\":\"ns\","
	       "\"sum\":500002,\"min\":2,"
	       "\"mean\":250001,\"p50\":2,\"p90\":500000,\"p99\":500000,\"p99.9\":500000,\"max\":"
	       "500000,\"max_time\":7123456789,\"buckets\":[[2,2,1],[499712,500735,1]]}}}\n"
	       "{\"end\":{\"tables\":1,\"lost\":3,\"partial\":false}}\n",
	       "rows, the rest, the end");
	buf_release(&b);
	tables_release(&ts);
}

static void test_tsv(void)
{
	static const char header[] =
		"#PPTABLE1 rows=6 view=bars lost=7 name=runq\tcomm:key\tcpu:number\tdelay:count\t"
		"delay:sum:ns\tdelay:share:%\tdelay:min:ns\tdelay:mean:ns\tdelay:p50:ns\t"
		"delay:p90:ns\tdelay:p99:ns\tdelay:p99.9:ns\tdelay:max:ns\tdelay:max_time:ns\t"
		"delay:buckets\n";
	struct tables ts, back;
	struct table *t = sample(&ts);
	struct buf b = BUF_INIT, again = BUF_INIT;

	ok(!add(t, "a\tb\\c\n:(other)\xff\xc3\xa9", 3, 0, 1) && !add(t, "(other)", 4, 0, 1) &&
		   !add(t, "", 4, 0, 1) && !table_sort(t, "-comm"),
	   "odd names");
	ts.lost = 7;
	write_to(&ts, &b, TABLE_FORM_TSV);
	ok(strstr(buf_str(&b),
		  "\nrunq\tbash\t0\t2\t4000\t0.7936\t1000\t2000\t1000\t3000\t3000\t3000"
		  "\t3000\t6000000000\t1000:1 3000:1\n") != NULL,
	   "a row");
	ok(strstr(buf_str(&b), "\nrunq\ta\\x09b\\\\c\\x0a:(other)\\xff\xc3\xa9\t3\t") != NULL,
	   "an odd name is escaped");
	ok(strstr(buf_str(&b), "\nrunq\t\\x28other)\t4\t") != NULL, "one that looks like the rest");
	ok(!strncmp(buf_str(&b), header, strlen(header)), "the header");
	tables_init(&back);
	is_int(read_from(&back, b.data, b.len), 0, "read back");
	ok(back.n == 1 && !table_sort(back.v[0], "-comm"), "one table");
	write_to(&back, &again, TABLE_FORM_TSV);
	is_mem(again.data, again.len, b.data, b.len, "and it is the same");
	buf_release(&b);
	buf_release(&again);
	tables_release(&ts);
	tables_release(&back);
}

/* All kinds of columns, a step, and numbers below zero. */
static void test_kinds(void)
{
	static const struct table_key keys[] = {
		{"time", TABLE_WINDOW, 1000}, {"delta", TABLE_SIGNED, 0}, {"addr:x", TABLE_HEX, 0}};
	static const struct table_value values[] = {{"events", TABLE_COUNT, "", 0},
						    {"ru n", TABLE_SUM, "ns", 0},
						    {"ret", TABLE_HIST, "", 10}};
	struct tables ts, back;
	struct table *t = NULL;
	struct buf b = BUF_INIT, again = BUF_INIT;
	int rc = 0;

	tables_init(&ts);
	ts.view = "heat";
	ts.partial = true;
	rc = tables_add(&ts, "", keys, 3, values, 3, &t);
	for (int i = 0; i < 50 && !rc; i++) {
		uint64_t key[] = {(uint64_t)(i / 10) * 1000, (uint64_t)(int64_t)-i,
				  UINT64_MAX - (uint64_t)i};
		uint32_t row;

		rc = table_row(t, key, &row);
		for (uint32_t v = i == 7; v < 3 && !rc; v++)
			rc = table_add(t, row, v, (i % 7 - 3) * (1 << i % 30), (uint64_t)i);
	}
	is_int(rc, 0, "rows");
	write_to(&ts, &b, TABLE_FORM_TSV);
	tables_init(&back);
	is_int(read_from(&back, b.data, b.len), PP_ECUT, "what is partial is read so");
	ok(back.partial && !strcmp(back.view, "heat"), "and said, and drawn as it was meant");
	write_to(&back, &again, TABLE_FORM_TSV);
	is_mem(again.data, again.len, b.data, b.len, "the same again");
	buf_release(&b);
	buf_release(&again);
	tables_release(&ts);
	tables_release(&back);
}

/* The halves of the values, written and merged, are the whole. */
static void test_merge(void)
{
	struct tables whole, half[2], merged;
	struct buf b = BUF_INIT, all = BUF_INIT;
	char comm[16];
	int rc = 0;

	tables_init(&whole);
	tables_init(&merged);
	rc |= tables_add(&whole, "x", comm_cpu, 2, delay, 1, &whole.v[0]);
	for (int h = 0; h < 2; h++) {
		tables_init(&half[h]);
		rc |= tables_add(&half[h], "x", comm_cpu, 2, delay, 1, &half[h].v[0]);
	}
	for (int i = 0; i < 3000 && !rc; i++) {
		snprintf(comm, sizeof(comm), "c%d", i * i % 37);
		rc |= add(whole.v[0], comm, (uint64_t)i % 3, i * 1013, (uint64_t)i);
		rc |= add(half[i % 2].v[0], comm, (uint64_t)i % 3, i * 1013, (uint64_t)i);
	}
	is_int(rc, 0, "filled");
	for (int h = 0; h < 2; h++) {
		write_to(&half[h], &b, TABLE_FORM_TSV);
		is_int(read_from(&merged, b.data, b.len), 0, "half %d", h);
		tables_release(&half[h]);
	}
	write_to(&whole, &all, TABLE_FORM_TSV);
	write_to(&merged, &b, TABLE_FORM_TSV);
	is_mem(b.data, b.len, all.data, all.len, "merged halves are the whole");
	tables_release(&whole);
	tables_release(&merged);
	buf_release(&b);
	buf_release(&all);
}

/* A row of so many buckets that they are an array. */
static void test_many_buckets(void)
{
	struct tables ts, back, twice;
	struct table *t;
	struct buf b = BUF_INIT, again = BUF_INIT;
	bool same = true;

	tables_init(&ts);
	tables_init(&back);
	tables_init(&twice);
	same &= !tables_add(&ts, "x", comm_cpu, 2, delay, 1, &t);
	for (uint64_t i = 0; i < 30000 && same; i++)
		same &= !add(t, "cc1", 1, (hist_int)(1000 + i * 7919 % 60000), i);
	ok(same && table_cell(t, 0, 0)->fine.counts, "many values in one row");
	write_to(&ts, &b, TABLE_FORM_TSV);
	is_int(read_from(&back, b.data, b.len), 0, "are read back");
	write_to(&back, &again, TABLE_FORM_TSV);
	is_str(buf_str(&again), buf_str(&b), "all of them");
	ok(!read_from(&twice, b.data, b.len) && !read_from(&twice, b.data, b.len) &&
		   table_cell(twice.v[0], 0, 0)->count == 60000,
	   "and merged");
	tables_release(&ts);
	tables_release(&back);
	tables_release(&twice);
	buf_release(&b);
	buf_release(&again);
}

static void test_sort(void)
{
	static const struct {
		const char *by, *want;
	} rows[] = {
		{NULL, "make1 bash0 bash1 "},	     {"count", "bash0 bash1 make1 "},
		{"-count", "bash1 make1 bash0 "},    {"comm", "bash0 bash1 make1 "},
		{"-cpu", "bash1 make1 bash0 "},	     {"p99", "make1 bash0 bash1 "},
		{"delay.min", "make1 bash0 bash1 "}, {"max_time", "bash1 make1 bash0 "},
	};
	struct tables ts;
	struct table *t = sample(&ts);
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_int(table_sort(t, rows[i].by), 0, "by %s", rows[i].by ? rows[i].by : "default");
		buf_reset(&b);
		for (uint32_t k = 0; k < t->nordered; k++) {
			table_key_add(t, t->order[k], 0, &b);
			table_key_add(t, t->order[k], 1, &b);
			buf_addc(&b, ' ');
		}
		is_str(buf_str(&b), rows[i].want, "the order");
	}
	buf_reset(&b);
	is_int(table_keep_order(t), 0, "as they came");
	for (uint32_t k = 0; k < t->nordered; k++)
		table_key_add(t, t->order[k], 0, &b);
	is_str(buf_str(&b), "bashmakebash", "the order of adding");
	is_int(table_sort(t, "p98"), PP_ENOENT, "a statistic that there is not");
	is_int(table_sort(t, "wait.p99"), PP_ENOENT, "a value that there is not");
	buf_release(&b);
	tables_release(&ts);
}

/* More keys than rows: the frequent ones stay, and nothing is lost. */
static void test_bounded(void)
{
	static const struct table_key key = {"n", TABLE_TEXT, 0};
	static const struct table_value value = {"events", TABLE_COUNT, "", 0};
	struct tables ts;
	struct table *t = NULL;
	uint64_t id, added = 0, least = UINT64_MAX;
	char name[16];
	uint32_t row;
	int rc;

	tables_init(&ts);
	rc = tables_add(&ts, "", &key, 1, &value, 1, &t);
	for (uint32_t i = 0; i < 3 * TABLE_ROWS_MAX && !rc; i++) {
		snprintf(name, sizeof(name), "%u", i % 3 ? i : i % 100);
		rc = table_text(t, name, strlen(name), &id);
		if (!rc)
			rc = table_row(t, &id, &row);
		if (!rc)
			rc = table_add(t, row, 0, 0, 0);
		added++;
	}
	ok(!rc && t->nrows <= TABLE_ROWS_MAX, "%u rows", t->nrows);
	ok(t->folded && t->generation, "%" PRIu64 " were folded", t->folded);
	ok(table_total(t, 0) == (hist_int)added, "all are counted");
	for (int i = 0; i < 100; i += 3) {
		snprintf(name, sizeof(name), "%d", i);
		rc = table_text(t, name, strlen(name), &id);
		if (!rc && !table_row(t, &id, &row) && table_cell(t, row, 0)->count < least)
			least = table_cell(t, row, 0)->count;
	}
	ok(least >= TABLE_ROWS_MAX / 100, "the frequent ones kept their counts: %" PRIu64, least);
	tables_release(&ts);
}

/* Windows are made wider, numbers become text: the rows that fall together are merged. */
static void test_rekey(void)
{
	static const struct table_key keys[] = {{"time", TABLE_WINDOW, 10}, {"n", TABLE_NUMBER, 0}};
	struct tables ts;
	struct table *t = NULL;
	struct buf b = BUF_INIT;
	uint32_t row;
	int rc;

	tables_init(&ts);
	rc = tables_add(&ts, "", keys, 2, delay, 1, &t);
	for (uint64_t i = 0; i < 40 && !rc; i++) {
		uint64_t key[] = {i / 10 * 10, i % 2 ? UINT64_MAX : 7};

		rc = table_row(t, key, &row);
		if (!rc)
			rc = table_add(t, row, 0, (hist_int)i, i);
	}
	ok(!rc && t->nrows == 8, "windows of 10");
	ok(!table_rekey(t, 0, TABLE_WINDOW, 20) && t->nrows == 4 && t->keys[0].window == 20,
	   "windows of 20");
	ok(table_total(t, 0) == 780 && table_cell(t, 0, 0)->count == 10, "nothing is lost");
	ok(!table_rekey(t, 1, TABLE_SIGNED, 0) && !table_sort(t, "n"), "signed");
	table_key_add(t, t->order[0], 1, &b);
	is_str(buf_str(&b), "-1", "the number is below zero");
	ok(!table_rekey(t, 1, TABLE_TEXT, 0) && t->nrows == 4 && !table_sort(t, "n"), "text");
	buf_reset(&b);
	table_key_add(t, t->order[3], 1, &b);
	is_str(buf_str(&b), "7", "a number as text");
	rc = table_row(t, (uint64_t[]){20, t->key[1]}, &row);
	ok(!rc && t->nrows == 4, "rows are found");
	buf_release(&b);
	tables_release(&ts);
}

#define HEAD "#PPTABLE1 rows=1 view=bars name=x\tcomm:key\tn:count\tn:sum:ns\tn:min:ns\tn:max:ns"

static void test_bad(void)
{
	static const struct {
		const char *text;
		int rc;
		uint32_t rows;
		const char *what;
	} rows[] = {
		{"", PP_EUNSUPPORTED, 0, "nothing"},
		{"a;b 1\n", PP_ECORRUPT, 0, "no table"},
		{HEAD "\nx\ta\t1\t5\t5\t5\n", 0, 1, "sound"},
		{HEAD "\tn:new:s\nx\ta\t1\t5\t5\t5\t17\n", 0, 1, "a column of a later version"},
		{HEAD "\n", PP_ECUT, 0, "a row is missing"},
		{HEAD "\nx\ta\t1\t5\t5\t5\nx\tb\t1\t5\t5\t5\n", PP_ECUT, 2, "a row too many"},
		{HEAD "\nx\ta\t1\t5\t5\t5", PP_ECUT, 0, "cut off"},
		{HEAD "\nx\ta\t1\t5\t5\n", PP_ECUT, 0, "a cell is missing"},
		{HEAD "\ny\ta\t1\t5\t5\t5\n", PP_ECUT, 0, "a row of another table"},
		{HEAD "\nx\ta\t1\t5\t6\t5\n", PP_ECUT, 0, "minimum above maximum"},
		{HEAD "\nx\ta\t-1\t5\t5\t5\n", PP_ECUT, 0, "a count below zero"},
		{HEAD "\nx\ta\\\t1\t5\t5\t5\n", PP_ECUT, 0, "a bad escape"},
		{HEAD "\nx\ta\t1\t340282366920938463463374607431768211456\t5\t5\n", PP_ECUT, 0,
		 "a sum that is too large"},
		{HEAD "\tn:buckets\nx\ta\t1\t5\t5\t5\t5:1\n", 0, 1, "buckets"},
		{HEAD "\tn:buckets\nx\ta\t2\t5\t5\t5\t5:1\n", PP_ECUT, 0, "too few in the buckets"},
		{HEAD "\tn:buckets\nx\ta\t1\t5\t5\t5\t6:1\n", PP_ECUT, 0, "not in its bucket"},
		{HEAD "\tn:buckets\nx\ta\t1\t1999\t1999\t1999\t1999:1\n", PP_ECUT, 0,
		 "not the name of a bucket"},
		{HEAD "\tn:buckets\tn:linear:0\n", PP_ECORRUPT, 0, "a step of 0"},
		{"#PPTABLE1 rows=x\tn:count\n", PP_ECORRUPT, 0, "a number that is none"},
		{"#PPTABLE1 rows=0\tcomm:key\n", PP_ECORRUPT, 0, "no values"},
		{"#PPTABLE1 rows=0\tt:window\tn:count\n", PP_ECORRUPT, 0, "a window without width"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tables ts;

		tables_init(&ts);
		is_int(read_from(&ts, rows[i].text, strlen(rows[i].text)), rows[i].rc, "%s",
		       rows[i].what);
		is_int(ts.n ? ts.v[0]->nrows : 0, rows[i].rows, "%s: rows", rows[i].what);
		tables_release(&ts);
	}
}

static void test_mismatch(void)
{
	static const char two[] =
		HEAD "\nx\ta\t1\t5\t5\t5\n#PPTABLE1 rows=0 name=x\tpid:number\tn:count\n";
	struct tables ts;

	tables_init(&ts);
	is_int(read_from(&ts, two, strlen(two)), PP_EMISMATCH, "one name, other columns");
	tables_release(&ts);
}

/* Cut anywhere, a table is never taken for a whole one. */
static void test_cut(void)
{
	struct tables ts;
	struct buf b = BUF_INIT;
	size_t whole = 0;

	sample(&ts);
	write_to(&ts, &b, TABLE_FORM_TSV);
	tables_release(&ts);
	for (size_t n = 0; n < b.len; n++) {
		tables_init(&ts);
		whole += !read_from(&ts, b.data, n);
		tables_release(&ts);
	}
	is_int((int64_t)whole, 0, "cut at each of %zu bytes", b.len);
	buf_release(&b);
}

int main(void)
{
	test_text();
	test_json();
	test_tsv();
	test_kinds();
	test_merge();
	test_many_buckets();
	test_sort();
	test_bounded();
	test_rekey();
	test_bad();
	test_mismatch();
	test_cut();
	return done();
}
