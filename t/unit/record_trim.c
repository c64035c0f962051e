/*
 * Copies of user stacks in samples, cut to what was copied. The samples are made here number by
 * number, in the order of "struct perf_event_sample" in perf_event_open(2).
 */
#include "record/parts.h"

#include "tap.h"

#include <stdlib.h>

#define S(name) PERF_SAMPLE_##name
#define RING	512 /* bytes of a ring's data */
#define WORDS	(RING / 8)

struct row {
	const char *what;
	struct perf_event_attr attr;
	uint64_t before[32], after[32]; /* what comes after the header */
	size_t n_before, n_after;
};

#define LIST(...)  __VA_ARGS__
#define COUNT(...) (sizeof((uint64_t[]){__VA_ARGS__}) / 8)
#define ROW(what, attr, before, after) \
	{ \
		what, {attr}, {before}, {after}, COUNT(before), COUNT(after) \
	}
#define TYPE(type) .sample_type = (type) | S(STACK_USER)

static const struct row rows[] = {
	ROW("some of it", LIST(TYPE(0)), LIST(32, 1, 2, 3, 4, 13), LIST(16, 1, 2, 13)),
	ROW("whole words", LIST(TYPE(0)), LIST(32, 1, 2, 3, 4, 16), LIST(24, 1, 2, 3, 16)),
	ROW("nothing", LIST(TYPE(0)), LIST(24, 1, 2, 3, 0), LIST(8, 1, 0)),
	ROW("all of it", LIST(TYPE(0)), LIST(16, 1, 2, 16), LIST(16, 1, 2, 16)),
	ROW("all but a byte", LIST(TYPE(0)), LIST(16, 1, 2, 15), LIST(16, 1, 2, 15)),
	ROW("no copy, of a thread of the kernel", LIST(TYPE(0)), LIST(0), LIST(0)),
	ROW("the fields before the chain",
	    LIST(TYPE(S(IDENTIFIER) | S(IP) | S(TID) | S(TIME) | S(ADDR) | S(ID) | S(STREAM_ID) |
		      S(CPU) | S(PERIOD))),
	    LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 24, 11, 12, 13, 8),
	    LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 11, 12, 8)),
	ROW("a counter", LIST(TYPE(S(READ))), LIST(70, 24, 1, 2, 3, 8), LIST(70, 16, 1, 2, 8)),
	ROW("a counter with all",
	    LIST(TYPE(S(READ)), .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST |
					       PERF_FORMAT_TOTAL_TIME_ENABLED |
					       PERF_FORMAT_TOTAL_TIME_RUNNING),
	    LIST(70, 71, 72, 73, 74, 24, 1, 2, 3, 8), LIST(70, 71, 72, 73, 74, 16, 1, 2, 8)),
	ROW("a group of counters",
	    LIST(TYPE(S(READ)), .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					       PERF_FORMAT_TOTAL_TIME_ENABLED),
	    LIST(2, 70, 71, 72, 73, 74, 24, 1, 2, 3, 8), LIST(2, 70, 71, 72, 73, 74, 16, 1, 2, 8)),
	ROW("a chain", LIST(TYPE(S(CALLCHAIN))), LIST(3, 70, 71, 72, 24, 1, 2, 3, 8),
	    LIST(3, 70, 71, 72, 16, 1, 2, 8)),
	ROW("a chain of nothing", LIST(TYPE(S(CALLCHAIN))), LIST(0, 24, 1, 2, 3, 8),
	    LIST(0, 16, 1, 2, 8)),
/* RAW: a size of 32 bits, and so many bytes, which end with a word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	ROW("a payload", LIST(TYPE(S(RAW))), LIST(UINT64_C(0x4d4d4d4d0000000c), 70, 24, 1, 2, 3, 8),
	    LIST(UINT64_C(0x4d4d4d4d0000000c), 70, 16, 1, 2, 8)),
	ROW("a payload of one word", LIST(TYPE(S(RAW))), LIST(4, 24, 1, 2, 3, 8),
	    LIST(4, 16, 1, 2, 8)),
#endif
	ROW("branches", LIST(TYPE(S(BRANCH_STACK))), LIST(1, 70, 71, 72, 24, 1, 2, 3, 8),
	    LIST(1, 70, 71, 72, 16, 1, 2, 8)),
	ROW("branches with an index and counters",
	    LIST(TYPE(S(BRANCH_STACK)), .branch_sample_type = 1u << 17 | 1u << 19),
	    LIST(1, 69, 70, 71, 72, 73, 24, 1, 2, 3, 8), LIST(1, 69, 70, 71, 72, 73, 16, 1, 2, 8)),
	ROW("registers", LIST(TYPE(S(REGS_USER)), .sample_regs_user = 0x13),
	    LIST(2, 70, 71, 72, 24, 1, 2, 3, 8), LIST(2, 70, 71, 72, 16, 1, 2, 8)),
	ROW("no registers", LIST(TYPE(S(REGS_USER)), .sample_regs_user = 0x13),
	    LIST(0, 24, 1, 2, 3, 8), LIST(0, 16, 1, 2, 8)),
	ROW("weight, source, transaction", LIST(TYPE(S(WEIGHT) | S(DATA_SRC) | S(TRANSACTION))),
	    LIST(24, 1, 2, 3, 8, 80, 81, 82), LIST(16, 1, 2, 8, 80, 81, 82)),
	ROW("weight in parts", LIST(TYPE(1u << 24)), LIST(24, 1, 2, 3, 8, 80),
	    LIST(16, 1, 2, 8, 80)),
	ROW("registers at the interrupt", LIST(TYPE(S(REGS_INTR)), .sample_regs_intr = 3),
	    LIST(24, 1, 2, 3, 8, 2, 80, 81), LIST(16, 1, 2, 8, 2, 80, 81)),
	ROW("address, cgroup, page sizes",
	    LIST(TYPE(S(PHYS_ADDR) | S(CGROUP) | S(DATA_PAGE_SIZE) | S(CODE_PAGE_SIZE))),
	    LIST(24, 1, 2, 3, 8, 80, 81, 82, 83), LIST(16, 1, 2, 8, 80, 81, 82, 83)),
	ROW("AUX data", LIST(TYPE(S(AUX))), LIST(24, 1, 2, 3, 8, 16, 80, 81),
	    LIST(16, 1, 2, 8, 16, 80, 81)),
	ROW("all that -g has",
	    LIST(TYPE(S(IP) | S(TID) | S(TIME) | S(CPU) | S(PERIOD) | S(CALLCHAIN) | S(REGS_USER) |
		      S(WEIGHT) | S(CGROUP)),
		 .sample_regs_user = 3),
	    LIST(1, 2, 3, 4, 5, 2, 60, 61, 1, 70, 71, 24, 1, 2, 3, 8, 80, 81),
	    LIST(1, 2, 3, 4, 5, 2, 60, 61, 1, 70, 71, 16, 1, 2, 8, 80, 81)),
	/* What is not understood to its end stays as it is. */
	ROW("no copy", LIST(.sample_type = S(IP)), LIST(24, 1, 2, 3, 8), LIST(24, 1, 2, 3, 8)),
	ROW("a field that is not known", LIST(TYPE(1u << 30)), LIST(24, 1, 2, 3, 8),
	    LIST(24, 1, 2, 3, 8)),
	ROW("a word too many", LIST(TYPE(0)), LIST(24, 1, 2, 3, 8, 9), LIST(24, 1, 2, 3, 8, 9)),
	ROW("a field that is missing", LIST(TYPE(S(CGROUP))), LIST(24, 1, 2, 3, 8),
	    LIST(24, 1, 2, 3, 8)),
	ROW("a size that is none", LIST(TYPE(0)), LIST(23, 1, 2, 3, 8), LIST(23, 1, 2, 3, 8)),
	ROW("a size beyond the record", LIST(TYPE(0)), LIST(UINT64_MAX & ~7u, 1, 2, 3, 8),
	    LIST(UINT64_MAX & ~7u, 1, 2, 3, 8)),
	ROW("more in use than there is", LIST(TYPE(0)), LIST(24, 1, 2, 3, 25),
	    LIST(24, 1, 2, 3, 25)),
	ROW("a chain without end", LIST(TYPE(S(CALLCHAIN))), LIST(UINT64_MAX / 8 + 2, 1, 2, 3),
	    LIST(UINT64_MAX / 8 + 2, 1, 2, 3)),
};

/* A record of n words in a ring, from a place on, which may lie at its end. */
static struct ring make_ring(uint64_t data[WORDS], size_t from, const uint64_t *words, size_t n)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)(8 + 8 * n)};

	memset(data, 0xee, RING);
	memcpy(&data[from % WORDS], &h, sizeof(h));
	for (size_t i = 0; i < n; i++)
		data[(from + 1 + i) % WORDS] = words[i];
	return (struct ring){.base = (uint8_t *)data, .map_size = RING, .mask = RING - 1};
}

static void add_want(struct buf *b, const uint64_t *words, size_t n)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)(8 + 8 * n)};

	buf_add(b, &h, sizeof(h));
	buf_add(b, words, 8 * n);
}

/* At each place of a ring; after another record, which stays. */
static void test_row(const struct row *row)
{
	uint64_t data[WORDS];
	size_t wrong = 0;

	for (size_t from = 0; from < WORDS; from++) {
		struct ring r = make_ring(data, from, row->before, row->n_before);
		struct buf got = BUF_INIT, want = BUF_INIT;

		buf_adds(&got, "before..");
		buf_adds(&want, "before..");
		add_want(&want, row->after, row->n_after);
		trim_add(&got, &r, 8 * from, 8 + 8 * row->n_before, &row->attr);
		if (!from)
			is_mem(got.data, got.len, want.data, want.len, "%s", row->what);
		wrong += got.len != want.len || memcmp(got.data, want.data, want.len) != 0;
		buf_release(&got);
		buf_release(&want);
	}
	is_int((int)wrong, 0, "  and at each place of a ring");
}

/* Shorter than their fields are: as they are. */
static void test_short(const struct row *row)
{
	uint64_t data[WORDS];
	size_t wrong = 0;

	for (size_t n = 0; n < row->n_before; n++) {
		struct ring r = make_ring(data, 0, row->before, n);
		struct buf got = BUF_INIT, want = BUF_INIT;

		add_want(&want, row->before, n);
		trim_add(&got, &r, 0, 8 + 8 * n, &row->attr);
		wrong += got.len != want.len || memcmp(got.data, want.data, want.len) != 0;
		buf_release(&got);
		buf_release(&want);
	}
	is_int((int)wrong, 0, "%s: cut off", row->what);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		test_row(&rows[i]);
		if (rows[i].n_after < rows[i].n_before)
			test_short(&rows[i]);
	}
	return done();
}
