/*
 * Losses that a ring buffer tells of: each of its LOST records is counted once, whenever it comes.
 * The kernel is played here, by __perf_output_begin of its kernel/events/ring_buffer.c: a record
 * that does not fit is dropped and counted; what was counted comes as a LOST record before the next
 * one that fits, be it after a pause.
 */
#include "record/parts.h"

#include "perfdata/format.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define PAGES	256
#define SIZE	4096 /* of a sample */
#define MOMENTS 4
#define ROUNDS	8

/* What is written at the moments of a round: before it, while it is read, after, in a pause. */
struct row {
	const char *what;
	uint32_t n[ROUNDS][MOMENTS]; /* samples */
};

static const struct row rows[] = {
	{"no loss", {{100, 0, 0, 0}, {0, 100, 0, 0}, {0, 0, 100, 0}}},
	{"full before a round", {{400, 0, 0, 0}, {0, 0, 0, 1}}},
	{"full while it is read", {{10, 400, 0, 0}, {0, 0, 0, 1}}},
	{"a round without the record, then a pause", {{150, 200, 0, 0}, {0}, {0}, {1}, {0}}},
	{"several rounds until it comes", {{150, 106, 0, 0}, {0, 0, 0, 0}, {0}, {0, 0, 1, 0}}},
	{"full again and again", {{150, 200}, {0, 200}, {0, 300}, {0}, {200, 200, 10}, {0}, {1}}},
	{"the last is not told of", {{300, 0, 0, 0}}},
};

struct kernel {
	struct perf_event_mmap_page *control;
	struct ring *ring;
	uint64_t head, pending, dropped, told, samples;
};

static void put(struct kernel *k, uint32_t type, uint16_t size, uint64_t value)
{
	struct perf_event_header h = {.type = type, .size = size};
	uint64_t words[3] = {0};

	memcpy(words, &h, sizeof(h));
	words[2] = value;
	for (size_t i = 0; i < 3; i++)
		memcpy(ring_data(k->ring) + ((k->head + 8 * i) & k->ring->mask), &words[i], 8);
	k->head += size;
}

static void put_samples(struct kernel *k, uint32_t n)
{
	for (; n; n--) {
		uint64_t need = SIZE + (k->pending ? 24 : 0);

		if (k->head + need - k->control->data_tail > k->ring->mask) {
			k->pending++;
			k->dropped++;
			continue;
		}
		if (k->pending)
			put(k, PERF_REC_LOST, 24, k->pending);
		k->told += k->pending;
		k->pending = 0;
		put(k, PERF_REC_SAMPLE, SIZE, 0);
		k->samples++;
	}
	__atomic_store_n(&k->control->data_head, k->head, __ATOMIC_RELEASE);
}

static void try(const struct row *row)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (1 + PAGES) * page;
	struct ring r = {.fd = -1, .pages = PAGES, .mask = PAGES * page - 1, .map_size = size};
	struct kernel k = {.ring = &r};
	struct ring_counts counts = {0};
	struct buf list = BUF_INIT;

	r.base = calloc(1, size);
	if (!r.base)
		exit(2);
	k.control = (void *)r.base;
	for (size_t i = 0; i < ROUNDS; i++) {
		put_samples(&k, row->n[i][0]);
		buf_reset(&list);
		ring_look(&r);
		ring_peek(&r, &list, &counts);
		put_samples(&k, row->n[i][1]);
		ring_done(&r);
		put_samples(&k, row->n[i][2]);
		buf_reset(&list);
		ring_look(&r);
		ring_peek(&r, &list, &counts);
		ring_done(&r);
		put_samples(&k, row->n[i][3]);
	}
	ring_look(&r);
	ring_peek(&r, &list, &counts);
	ring_done(&r);
	ok(counts.lost == k.told && r.lost == k.told && k.told + k.pending == k.dropped,
	   "%s: %llu told of, %llu counted", row->what, (unsigned long long)k.told,
	   (unsigned long long)counts.lost);
	free(r.base);
	buf_release(&list);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try(&rows[i]);
	return done();
}
