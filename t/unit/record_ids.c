/* Ids in records of a CPU that has come, changed to those that the recording has announced. */
#include "record/parts.h"

#include "base/err.h"
#include "tap.h"

#define KERNEL	7001 /* the id that the kernel gave */
#define SHOWN	42   /* the one that the recording has */
#define KERNEL2 7005
#define SHOWN2	43

struct row {
	const char *what;
	uint32_t type;
	uint64_t before[10], after[10]; /* what comes after the header */
	size_t n;
};

#define SINGLE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ)
#define COMM   PERF_RECORD_COMM

/* By the structures in perf_event_open(2). */
static const struct row rows[] = {
	{"a sample",
	 PERF_RECORD_SAMPLE,
	 {KERNEL, KERNEL, 9, KERNEL},
	 {SHOWN, KERNEL, 9, KERNEL},
	 4},
	{"of an event that was there", PERF_RECORD_SAMPLE, {5, KERNEL}, {5, KERNEL}, 2},
	{"COMM: the last field", COMM, {KERNEL, 1, 2, 3, KERNEL}, {KERNEL, 1, 2, 3, SHOWN}, 5},
	{"LOST: two",
	 PERF_RECORD_LOST,
	 {KERNEL2, 9, 0, 0, 0, KERNEL},
	 {SHOWN2, 9, 0, 0, 0, SHOWN},
	 6},
	{"THROTTLE: three",
	 PERF_RECORD_THROTTLE,
	 {9, KERNEL2, KERNEL2, 0, 0, 0, KERNEL2},
	 {9, SHOWN2, SHOWN2, 0, 0, 0, SHOWN2},
	 7},
	{"nothing after the header", COMM, {0}, {0}, 0},
	{"a LOST that is too short", PERF_RECORD_LOST, {KERNEL}, {SHOWN}, 1},
	{"a THROTTLE that is too short", PERF_RECORD_THROTTLE, {9, 9}, {9, 9}, 2},
};

/* With the values of counters, which go on from 1000 and 2000. */
static const struct {
	struct row row;
	uint64_t format;
} reads[] = {
	{{"a counter", PERF_RECORD_SAMPLE, {KERNEL, 0, 3, KERNEL}, {SHOWN, 0, 1003, SHOWN}, 4},
	 PERF_FORMAT_ID},
	{{"with times and losses",
	  PERF_RECORD_SAMPLE,
	  {KERNEL, 0, 3, 50, 60, KERNEL, 8},
	  {SHOWN, 0, 1003, 50, 60, SHOWN, 8},
	  7},
	 PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		 PERF_FORMAT_LOST},
	{{"a group",
	  PERF_RECORD_SAMPLE,
	  {KERNEL, 0, 2, 3, KERNEL, 4, KERNEL2, KERNEL},
	  {SHOWN, 0, 2, 1003, SHOWN, 2004, SHOWN2, KERNEL},
	  8},
	 PERF_FORMAT_ID | PERF_FORMAT_GROUP},
	{{"a group with losses",
	  PERF_RECORD_SAMPLE,
	  {KERNEL, 0, 2, 3, KERNEL, 0, 4, KERNEL2, 1, 9},
	  {SHOWN, 0, 2, 1003, SHOWN, 0, 2004, SHOWN2, 1, 9},
	  10},
	 PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST},
	{{"a group that is longer than its record",
	  PERF_RECORD_SAMPLE,
	  {KERNEL, 0, UINT64_MAX, 3, KERNEL, 4},
	  {SHOWN, 0, UINT64_MAX, 1003, SHOWN, 4},
	  6},
	 PERF_FORMAT_ID | PERF_FORMAT_GROUP},
	{{"no counter", PERF_RECORD_SAMPLE, {KERNEL, 0}, {SHOWN, 0}, 2}, PERF_FORMAT_ID},
	{{"half a counter", PERF_RECORD_SAMPLE, {KERNEL, 0, 3}, {SHOWN, 0, 3}, 3}, PERF_FORMAT_ID},
};

static void add_record(struct buf *b, const struct row *r, const uint64_t *words)
{
	struct perf_event_header h = {.type = r->type, .size = (uint16_t)(sizeof(h) + 8 * r->n)};

	buf_add(b, &h, sizeof(h));
	buf_add(b, words, 8 * r->n);
}

static void test_row(const struct row *r, uint64_t sample_type, uint64_t format)
{
	const struct ring_id one = {KERNEL, SHOWN, 1000, sample_type, format};
	const struct ring_id two = {KERNEL2, SHOWN2, 2000, sample_type, format};
	struct ring_ids ids = {0};
	struct buf got = BUF_INIT, want = BUF_INIT;

	is_int(ids_add(&ids, &one) || ids_add(&ids, &two), 0, "%s", r->what);
	for (int twice = 0; twice < 2; twice++) { /* one record after the other */
		add_record(&got, r, r->before);
		add_record(&want, r, r->after);
	}
	ids_change(&ids, got.data, got.len);
	is_mem(got.data, got.len, want.data, want.len, "  its ids");
	ids_release(&ids);
	buf_release(&got);
	buf_release(&want);
}

/* A record that is cut off, or has no size, ends it; memory after it is not touched. */
static void test_cut(void)
{
	const struct ring_id one = {KERNEL, SHOWN, 0, 0, 0};
	struct ring_ids ids = {0};
	struct buf got = BUF_INIT;
	const struct perf_event_header none = {.type = COMM};

	ids_add(&ids, &one);
	add_record(&got, &rows[0], rows[0].before);
	for (size_t n = 0; n < got.len; n++) {
		struct buf part = BUF_INIT;

		buf_add(&part, got.data, n);
		ids_change(&ids, part.data, part.len);
		ok(!n || !memcmp(part.data, got.data, n), "cut off after %zu bytes: as it was", n);
		buf_release(&part);
	}
	buf_reset(&got);
	buf_add(&got, &none, sizeof(none));
	ids_change(&ids, got.data, got.len);
	is_mem(got.data, got.len, &none, sizeof(none), "a size of 0");
	ids_release(&ids);
	buf_release(&got);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i], PERF_SAMPLE_IDENTIFIER, 0);
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		test_row(&reads[i].row, SINGLE, reads[i].format);
	test_cut();
	return done();
}
