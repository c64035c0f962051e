/*
 * What real recordings do beyond the plain case, in both byte orders: made here byte by byte, as
 * <linux/perf_event.h> describes it, and decoded to an event stream that is read back. With an
 * argument, the recordings are written to that folder (they are the swapped files of the fuzz
 * corpus).
 */
#include "base/err.h"
#include "input/input.h"
#include "perfdata/info.h"
#include "perfdata_make.h"
#include "stream/stream.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	IP = 1,
	TID = 2,
	TIME = 4,
	ADDR = 8,
	READ = 16,
	CHAIN = 32,
	ID = 64,
	CPU = 128,
	PERIOD = 256
};
enum {
	STREAM_ID = 512,
	RAW = 1024,
	BRANCHES = 2048,
	WEIGHT = 1 << 14,
	IDENTIFIER = 1 << 16,
	WEIGHT_STRUCT = 1 << 24
};
#define ID_ALL (1u << 18)

static const char *dump; /* folder that recordings are written to */

/* What a test looks at: the records of a stream, with those of its texts that it needs. */
struct seen {
	struct ps_sample samples[8];
	char names[8][32];
	uint64_t reads[8][16], branches[8][6];
	uint8_t payloads[8][64];
	struct ps_fork fork;
	struct ps_lost lost;
	struct ps_throttle throttle;
	struct ps_mmap maps[4];
	size_t ids[4]; /* lengths of the build-ids of their DSOs */
	uint32_t nmaps;
	size_t n;
	int rc;
	struct ps_end end;
};

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

static void keep_sample(struct seen *s, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_event *e = sreader_event(r, rec->sample.event);
	const struct ps_sample *p = &rec->sample;

	if (s->n == 8)
		return;
	s->samples[s->n] = *p;
	snprintf(s->names[s->n], sizeof(s->names[0]), "%.*s", e ? (int)e->name.len : 0,
		 e ? e->name.p : "");
	for (uint32_t i = 0; ps_sample_has(p, reads) && i < p->reads.n && i < 16; i++)
		s->reads[s->n][i] = p->reads.v[i];
	for (uint32_t i = 0; ps_sample_has(p, branches) && i < 3 * p->branches.n && i < 6; i++)
		s->branches[s->n][i] = p->branches.v[i];
	if (ps_sample_has(p, payload))
		memcpy(s->payloads[s->n], p->payload.p, p->payload.len < 64 ? p->payload.len : 64);
	s->n++;
}

static void keep_mmap(struct seen *s, const struct sreader *r, const struct ps_mmap *m)
{
	const struct ps_dso *d = sreader_dso(r, m->dso);

	if (s->nmaps == 4)
		return;
	s->maps[s->nmaps] = *m;
	s->ids[s->nmaps++] = d ? d->build_id.len : 0;
}

static void read_stream(const struct buf *stream, struct seen *s)
{
	struct sreader *r;
	const struct ps_record *rec;
	struct src *src;

	if (src_from_mem(&src, stream->data, stream->len, "stream") ||
	    sreader_new(&r, src, SREADER_EVENTS | SREADER_DSOS, NULL))
		return;
	while (!sreader_next(r, &rec)) {
		if (rec->type == PS_SAMPLE)
			keep_sample(s, r, rec);
		if (rec->type == PS_MMAP)
			keep_mmap(s, r, &rec->mmap);
		if (rec->type == PS_FORK)
			s->fork = rec->fork;
		if (rec->type == PS_LOST)
			s->lost = rec->lost;
		if (rec->type == PS_THROTTLE)
			s->throttle = rec->throttle;
	}
	sreader_free(r);
}

static void decode(struct make *m, const char *name, struct seen *s)
{
	struct buf stream = BUF_INIT;
	struct swriter w;
	struct src *src;
	struct out out;

	*s = (struct seen){.rc = 1};
	if (m->data)
		make_finish(m);
	if (dump) {
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s-%s.data", dump, name,
			 m->swap ? "swapped" : "host");
		f = fopen(path, "wb");
		if (!f || fwrite(m->b.data, 1, m->b.len, f) != m->b.len || fclose(f))
			perror(path);
	}
	if (out_init_fn(&out, collect, &stream) || src_from_mem(&src, m->b.data, m->b.len, name))
		return;
	swriter_init(&w, &out);
	swriter_header(&w);
	s->rc = input_decode(src, 1, &w, NULL, &s->end);
	swriter_end(&w, &s->end);
	out_close(&out);
	read_stream(&stream, s);
	out_release(&out);
	buf_release(&stream);
	buf_release(&m->b);
}

/* Two events whose samples differ: ids lead, and each record is read by its own event. */
static void test_two_events(bool swap)
{
	const struct make_attr attrs[] = {
		{.config = 0,
		 .period = 7,
		 .sample_type = IDENTIFIER | IP | TID | TIME,
		 .flags = ID_ALL,
		 .id = 50},
		{.config = 1,
		 .period = 9,
		 .sample_type = IDENTIFIER | TIME | CPU | PERIOD,
		 .flags = ID_ALL,
		 .id = 60},
	};
	struct make m = {.swap = swap};
	struct seen s;

	make_begin(&m, attrs, 2);
	make_record(&m, PERF_REC_SAMPLE, 2);
	make_u64(&m, 60);
	make_u64(&m, 3000);
	make_u32(&m, 5);
	make_u32(&m, 0);
	make_u64(&m, 123);
	make_end(&m);
	make_record(&m, PERF_REC_SAMPLE, 2);
	make_u64(&m, 50);
	make_u64(&m, 0x401000);
	make_u32(&m, 11);
	make_u32(&m, 12);
	make_u64(&m, 1000);
	make_end(&m);
	/* Of the second event: its trailer has no thread, but a CPU. */
	make_record(&m, PERF_REC_LOST, 0);
	make_u64(&m, 60);
	make_u64(&m, 4);
	make_u64(&m, 2000);
	make_u32(&m, 3);
	make_u32(&m, 0);
	make_u64(&m, 60);
	make_end(&m);
	decode(&m, "two-events", &s);
	is_int(s.rc, 0, "two events: decoded");
	ok(s.n == 2 && s.samples[0].time == 1000 && s.samples[1].time == 3000,
	   "in time order, though their times lie in different places");
	ok(!strcmp(s.names[0], "cycles:HG") && !strcmp(s.names[1], "instructions:HG"),
	   "by their ids");
	ok(s.samples[0].pid == 11 && s.samples[0].tid == 12 && s.samples[0].ip == 0x401000 &&
		   s.samples[0].cpu == PS_NONE && s.samples[0].period == 7,
	   "the first has an address, a thread, and the period of its event");
	ok(s.samples[1].cpu == 5 && s.samples[1].tid == PS_NONE && s.samples[1].period == 123 &&
		   !ps_sample_has(&s.samples[1], ip),
	   "the second a CPU and a period");
	ok(s.lost.time == 2000 && s.lost.cpu == 3 && s.lost.tid == PS_NONE && s.lost.count == 4,
	   "a lost record is read by the trailer of the event that its id names");
	is_u64(s.end.lost, 4, "and counted");
}

/* Old recorders: no trailers, no ids; times in the records themselves. */
static void test_old(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = IP | TID | TIME};
	struct make m = {.swap = swap};
	struct seen s;

	make_begin(&m, &attr, 1);
	make_record(&m, PERF_REC_FORK, 0);
	make_u32(&m, 21);
	make_u32(&m, 20);
	make_u32(&m, 22);
	make_u32(&m, 20);
	make_u64(&m, 777);
	make_end(&m);
	for (int i = 0; i < 3; i++) {
		make_record(&m, PERF_REC_SAMPLE, 1);
		make_u64(&m, 5);
		make_u64(&m, 0);
		make_u64(&m, i == 0 ? UINT64_MAX : i == 1 ? 0 : 10);
		make_end(&m);
	}
	decode(&m, "old", &s);
	ok(!s.rc && s.fork.time == 777 && s.fork.pid == 21 && s.fork.ppid == 20 &&
		   s.fork.tid == 22 && s.fork.ptid == 20,
	   "fork: its own time where there is no trailer");
	ok(s.n == 3 && (s.samples[0].flags & PS_SAMPLE_NO_TIME) &&
		   (s.samples[1].flags & PS_SAMPLE_NO_TIME) &&
		   !(s.samples[2].flags & PS_SAMPLE_NO_TIME),
	   "times of -1 and 0 are none");
}

/* What the kernel puts at the place of the build-id, with the bit for one. */
static void add_mmap2(struct make *m, const char *path, uint32_t maj, uint64_t generation)
{
	make_record(m, PERF_REC_MMAP2, PERF_MISC_USER | PERF_MISC_MMAP_BUILD_ID);
	make_u32(m, 21);
	make_u32(m, 21);
	make_u64(m, 0x400000);
	make_u64(m, 0x1000);
	make_u64(m, 0);
	make_u32(m, maj);
	make_u32(m, 0);
	make_u64(m, 10987012);
	make_u64(m, generation);
	make_u32(m, 5);
	make_u32(m, 2);
	make_text(m, path);
	make_end(m);
}

static void test_build_ids(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = IP | TID | TIME};
	struct make m = {.swap = swap};
	struct seen s;

	make_begin(&m, &attr, 1);
	add_mmap2(&m, "/bin/a", 254, 2021692217);
	add_mmap2(&m, "/bin/b", 8, 2021692217);
	make_record(&m, PERF_REC_MMAP2, PERF_MISC_USER | PERF_MISC_MMAP_BUILD_ID);
	for (int i = 0; i < 8; i++)
		make_u32(&m, 0);
	buf_addc(&m.b, 16);
	buf_fill(&m.b, 0, 3);
	buf_fill(&m.b, 0xab, 16);
	buf_fill(&m.b, 0, 4);
	make_u32(&m, 5);
	make_u32(&m, 2);
	make_text(&m, "/bin/c");
	make_end(&m);
	decode(&m, "build-ids", &s);
	ok(!s.rc && s.nmaps == 3, "three mappings");
	ok(s.ids[0] == 0 && s.maps[0].maj == 254 && s.maps[0].ino == 10987012 &&
		   s.maps[0].ino_generation == 2021692217,
	   "a device is no build-id, though the bit says so");
	ok(s.ids[1] == 0 && s.maps[1].maj == 8 && s.maps[1].ino == 10987012,
	   "not even if it could be its length");
	ok(s.ids[2] == 16 && s.maps[2].maj == 0, "a build-id is one");
}

/* A build-id of before 2.6.35, when no pid came before it. */
static void add_old_build_id(struct make *m, const char *path)
{
	make_record(m, 0, PERF_MISC_USER);
	buf_fill(&m->b, 0xab, 20);
	buf_fill(&m->b, 0, 4);
	make_text(m, path);
	make_end(m);
}

static void add_old_records(struct make *m)
{
	make_record(m, PERF_REC_MMAP, PERF_MISC_USER);
	make_u32(m, 21);
	make_u32(m, 21);
	make_u64(m, 0x400000);
	make_u64(m, 0x1000);
	make_u64(m, 0);
	make_text(m, "/usr/bin/a");
	make_end(m);
	for (uint32_t i = 0; i < 3; i++) {
		make_record(m, PERF_REC_SAMPLE, PERF_MISC_USER);
		make_u64(m, 0x400010 + i);
		make_u32(m, 21);
		make_u32(m, 21);
		make_u64(m, 1000 + i);
		make_end(m);
	}
}

/*
 * Version 1, as perf wrote it up to Linux 3.3: the header of 2.6.31 ends before the features, and
 * those of a machine with longs of 32 bits are in halves.
 */
static void test_version1(bool swap)
{
	static const char *const names[] = {"version1", "version1-halves", "version1-short"};
	const struct make_attr attr = {.period = 1, .sample_type = IP | TID | TIME};
	bool big = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	struct seen s;

	for (int i = 0; i < 3; i++) {
		struct make m = {.swap = swap, .old = true};
		size_t table;

		make_begin(&m, &attr, 1);
		add_old_records(&m);
		make_finish(&m);
		m.data = 0;
		table = m.b.len;
		make_u64(&m, table + 16);
		make_u64(&m, 0);
		add_old_build_id(&m, "/usr/bin/a");
		make_set64(&m, table + 8, m.b.len - table - 16);
		make_set64(&m, 72, UINT64_C(1) << (PERF_FEAT_BUILD_ID + (i == 1 && big ? 32 : 0)));
		if (i == 2) {
			make_set64(&m, 8, PERF_FILE_HEADER_SIZE - 32);
			m.b.len = table;
		}
		decode(&m, names[i], &s);
		ok(!s.rc && s.n == 3 && s.samples[2].ip == 0x400012 && s.samples[2].time == 1002 &&
			   s.samples[2].tid == 21 && !strcmp(s.names[2], "cycles:HG"),
		   "%s: its samples", names[i]);
		is_int((int)s.ids[0], i == 2 ? 0 : 20, "%s: the build-id", names[i]);
	}
}

static void test_version1_pipe(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = IP | TID | TIME};
	struct make m = {.swap = swap, .old = true};
	struct seen s;

	make_magic(&m);
	make_u64(&m, PERF_PIPE_HEADER_SIZE);
	make_record(&m, PERF_REC_HEADER_ATTR, 0);
	make_attr(&m, &attr);
	make_end(&m);
	make_record(&m, PERF_REC_HEADER_BUILD_ID, PERF_MISC_USER);
	buf_fill(&m.b, 0xab, 20);
	buf_fill(&m.b, 0, 4);
	make_text(&m, "/usr/bin/a");
	make_end(&m);
	add_old_records(&m);
	decode(&m, "version1-pipe", &s);
	ok(!s.rc && s.n == 3 && s.samples[2].ip == 0x400012, "version 1 in pipe form: its samples");
	is_int((int)s.ids[0], 20, "version 1 in pipe form: the build-id");
}

/* Bit fields and structures that lie differently on machines of big endian order. */
static void test_fields(bool swap)
{
	const struct make_attr attr = {
		.period = 1,
		.sample_type = READ | BRANCHES | WEIGHT_STRUCT,
		.read_format = 1 | 2 | 4 | 8 | 16,
	};
	struct make m = {.swap = swap};
	bool big = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	struct seen s;

	make_begin(&m, &attr, 1);
	make_record(&m, PERF_REC_SAMPLE, 0);
	make_u64(&m, 2); /* members, enabled, running, value, id, lost */
	for (uint64_t v = 100; v < 108; v++)
		make_u64(&m, v);
	make_u64(&m, 1); /* one branch */
	make_u64(&m, 0xa);
	make_u64(&m, 0xb);
	/* mispredicted, 300 cycles, type 5: from bit 0 up, or from bit 63 down */
	make_u64(&m, big ? UINT64_C(1) << 63 | UINT64_C(300) << 44 | UINT64_C(5) << 40
			 : UINT64_C(1) | UINT64_C(300) << 4 | UINT64_C(5) << 20);
	/* struct: u32, u16, u16; on big endian machines u16, u16, u32 */
	if (big) {
		make_u16(&m, 33);
		make_u16(&m, 22);
		make_u32(&m, 11);
	} else {
		make_u32(&m, 11);
		make_u16(&m, 22);
		make_u16(&m, 33);
	}
	make_end(&m);
	decode(&m, "fields", &s);
	ok(!s.rc && s.n == 1, "values, branches, weights: decoded");
	ok(s.samples[0].reads.n == 10 && s.reads[0][0] == 31 && s.reads[0][1] == 2 &&
		   s.reads[0][2] == 100 && s.reads[0][9] == 107,
	   "a group of two with id and lost takes nine numbers after the format");
	is_u64(s.branches[0][2], UINT64_C(1) | UINT64_C(300) << 4 | UINT64_C(5) << 20,
	       "flags of a branch lie as on little endian machines");
	ok(s.samples[0].weight == 11 && s.samples[0].weight_more == (UINT64_C(33) << 32 | 22),
	   "weights have their places");
}

static void string32(struct make *m, const char *text)
{
	buf_add(&m->b, text, strlen(text) + 1);
}

/* The tracing data of one event with a u32, a dynamic array of u16, and a text. */
static void tracing(struct make *m)
{
	static const char format[] =
		"name: thing\nID: 77\nformat:\n"
		"\tfield:u32 a;\toffset:0;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u16[] d;\toffset:4;\tsize:4;\tsigned:0;\n"
		"\tfield:char t[4];\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"%u\", REC->a\n";
	bool big = m->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	buf_add(&m->b, "\x17\x08\x44tracing", 10);
	string32(m, "0.6");
	buf_addc(&m->b, (char)big);
	buf_addc(&m->b, 8);
	make_u32(m, 4096);
	string32(m, "header_page");
	make_u64(m, 0);
	string32(m, "header_event");
	make_u64(m, 0);
	make_u32(m, 0);
	make_u32(m, 1);
	string32(m, "sys");
	make_u32(m, 1);
	make_u64(m, sizeof(format) - 1);
	buf_add(&m->b, format, sizeof(format) - 1);
	make_u32(m, 0);
	make_u32(m, 0);
}

/* A pipe: attribute and formats come as records; the payload comes out in host order. */
static void test_tracepoint(bool swap)
{
	const struct make_attr attr = {.type = 2, .config = 77, .period = 1, .sample_type = RAW};
	struct make m = {.swap = swap};
	uint8_t want[16];
	size_t size_at, at;
	struct seen s;

	make_u64(&m, MAKE_MAGIC);
	make_u64(&m, PERF_PIPE_HEADER_SIZE);
	make_record(&m, PERF_REC_HEADER_ATTR, 0);
	make_attr(&m, &attr);
	make_end(&m);
	make_record(&m, PERF_REC_HEADER_TRACING_DATA, 0);
	size_at = m.b.len;
	make_u32(&m, 0);
	make_end(&m);
	at = m.b.len;
	tracing(&m);
	while ((m.b.len - at) % 8)
		buf_addc(&m.b, 0);
	{
		uint32_t n = (uint32_t)(m.b.len - at);

		n = swap ? __builtin_bswap32(n) : n;
		memcpy(m.b.data + size_at, &n, 4);
	}
	make_record(&m, PERF_REC_SAMPLE, 0);
	make_u32(&m, 20);
	make_u32(&m, 0x01020304);
	make_u32(&m, 4u << 16 | 12); /* two numbers at 12 */
	buf_add(&m.b, "abc", 4);
	make_u16(&m, 0x1122);
	make_u16(&m, 0x3344);
	make_u32(&m, 0);
	make_end(&m);
	decode(&m, "tracepoint", &s);
	memcpy(want, &(uint32_t){0x01020304}, 4);
	memcpy(want + 4, &(uint32_t){4u << 16 | 12}, 4);
	memcpy(want + 8, "abc", 4);
	memcpy(want + 12, &(uint16_t){0x1122}, 2);
	memcpy(want + 14, &(uint16_t){0x3344}, 2);
	ok(!s.rc && s.n == 1 && !strcmp(s.names[0], "sys:thing"),
	   "tracepoint: named by its format");
	is_mem(s.payloads[0], 16, want, 16, "its payload is in host order: number, array, text");
}

/* An array of a damaged record, which begins at any address, and where it is taken to. */
static void test_anywhere(bool swap)
{
	for (size_t off = 0; off < 8; off++) {
		_Alignas(8) uint8_t bytes[64] = {0};
		const uint64_t numbers[] = {2, 0x0102030405060708, 0x1112131415161718};
		struct cursor c = cursor_make(bytes + off, sizeof(numbers), swap);
		uint64_t *v;

		for (int i = 0; i < 3; i++) {
			uint64_t n = swap ? __builtin_bswap64(numbers[i]) : numbers[i];

			memcpy(bytes + off + 8 * (size_t)i, &n, 8);
		}
		is_u64(get_u64(&c), 2, "array at %zu: its number", off);
		v = perf_take_u64s(&c, 2);
		is_u64((uintptr_t)v % 8, 0, "array at %zu: where it is taken to", off);
		is_mem(v, 16, numbers + 1, 16, "array at %zu: what is in it", off);
		ok(!c.bad && !cursor_left(&c), "array at %zu: the cursor is after it", off);
	}
}

static void test_all(bool swap)
{
	printf("# %s byte order\n", swap ? "the other" : "this machine's");
	test_two_events(swap);
	test_old(swap);
	test_build_ids(swap);
	test_version1(swap);
	test_version1_pipe(swap);
	test_fields(swap);
	test_tracepoint(swap);
	test_anywhere(swap);
}

int main(int argc, char **argv)
{
	dump = argc > 1 ? argv[1] : NULL;
	test_all(false);
	test_all(true);
	return done();
}
