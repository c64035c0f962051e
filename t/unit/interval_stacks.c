/*
 * What samples of intervals refer to: chains and stacks whose ids have meant something else since.
 */
#include "interval/interval.h"
#include "interval/lat.h"
#include "stream_make.h"

#include <string.h>

static struct made in, out;
static uint32_t wrong, intervals, missing;
static uint32_t ends; /* of intervals without a chain at their end */

/* What the chain and the stack of event number i have. A name's text lives until the next call. */
static uint64_t ip_of(uint64_t i, uint64_t j)
{
	return 0x400000 + 16 * i + j;
}

static struct ps_str name_of(uint64_t i)
{
	static char name[32];
	int n = snprintf(name, sizeof(name), "function_%llu", (unsigned long long)i);

	return ps_str(name, (size_t)n);
}

static void begin(void)
{
	const char *const names[] = {"t:a", "t:b"};
	struct ps_event_field f = {
		.size = 8, .element = 8, .name = ps_str("key", 3), .type = ps_str("u64", 3)};
	struct buf fields = BUF_INIT;

	ps_event_field_add(&fields, &f);
	for (uint32_t i = 0; i < 2; i++) {
		struct ps_event e = {.id = i + 1,
				     .perf_type = 2,
				     .name = ps_str(names[i], 3),
				     .fields = ps_str((const char *)fields.data, fields.len)};

		swriter_put(&in.w, PS_EVENT, 1, &e);
	}
	buf_release(&fields);
}

/* Defines the chain and the stack of event number i under one id, with all that the stack needs. */
static void define(uint32_t id, uint64_t i)
{
	uint64_t ips[] = {ip_of(i, 0), ip_of(i, 1), ip_of(i, 2)};
	uint32_t frames[] = {id, id};
	struct ps_chain c = {.id = id, .ips = {ips, 3}};
	struct ps_symbol s = {.id = id, .addr = i, .size = 16, .name = name_of(i)};
	struct ps_frame f = {.id = id, .symbol = id, .addr = i + 1, .line = (uint32_t)i};
	struct ps_stack t = {.id = id, .flags = i & 1, .frames = {frames, 2}};

	swriter_put(&in.w, PS_CHAIN, 1, &c);
	swriter_put(&in.w, PS_SYMBOL, 1, &s);
	swriter_put(&in.w, PS_FRAME, 1, &f);
	swriter_put(&in.w, PS_STACK, 1, &t);
}

/* Event 1 begins the interval of a key, 2 ends it. */
static void event(uint32_t ev, uint64_t key, uint32_t id)
{
	static uint64_t time;
	struct ps_sample s = {.event = ev,
			      .time = ++time,
			      .pid = 7,
			      .tid = 7,
			      .fields = PS_HAS(payload) | PS_HAS(chain) | PS_HAS(stack),
			      .chain = id,
			      .stack = id,
			      .payload = ps_str((const char *)&key, sizeof(key))};

	if (!id)
		s.fields = PS_HAS(payload);
	swriter_sample(&in.w, 1, &s);
}

/* An interval as a sample: its number is the key. */
static int on_interval(void *ctx, const struct lat *l, const struct interval *iv)
{
	struct ps_sample s = {.event = 1,
			      .time = iv->start.time,
			      .fields = PS_HAS(chain) | PS_HAS(stack) | PS_HAS(key),
			      .key = iv->key};
	int rc;

	(void)ctx;
	intervals++;
	ends += !iv->end.chain;
	if (iv->start.missing) {
		missing++;
		return 0;
	}
	rc = lat_point_write(l, &out.w, iv->source, &iv->start, &s.chain, &s.stack);
	return rc ? rc : swriter_sample(&out.w, iv->source, &s);
}

static void run(uint32_t max)
{
	struct lat_opts o = {.pair = {.starts = {"t:a:key"}, .ends = {"t:b:key"}, 1, 1},
			     .points = true,
			     .stacks_max = max,
			     .sink = on_interval};
	struct buf why = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct lat *l;

	intervals = missing = ends = 0;
	made_end(&in, 0);
	made_begin(&out);
	if (lat_new(&l, &o, NULL, &why))
		abort();
	r = made_reader(&in, LAT_KEEP);
	while (!sreader_next(r, &rec)) {
		if (lat_bound(l))
			abort();
		if (lat_record(l, r, rec))
			abort();
	}
	if (lat_finish(l))
		abort();
	made_end(&out, 0);
	lat_free(l);
	sreader_free(r);
	made_free(&in);
	buf_release(&why);
}

static bool right(const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_chain *c = sreader_chain(r, s->chain);
	const struct ps_stack *t = sreader_stack(r, s->stack);
	uint64_t i = s->key;

	if (!c || c->ips.n != 3 || !t || t->frames.n != 2 || t->flags != (i & 1))
		return false;
	for (uint64_t j = 0; j < 3; j++)
		if (c->ips.v[j] != ip_of(i, j))
			return false;
	for (int j = 0; j < 2; j++) {
		const struct ps_frame *f = sreader_frame(r, t->frames.v[j]);
		const struct ps_symbol *y = f ? sreader_symbol(r, f->symbol) : NULL;
		struct ps_str name = name_of(i);

		if (!y || f->addr != i + 1 || f->line != i || y->addr != i || y->size != 16 ||
		    y->name.len != name.len || memcmp(y->name.p, name.p, name.len) != 0)
			return false;
	}
	return true;
}

/* Reads what was written. Returns how often its chains began anew. */
static uint32_t check(void)
{
	struct sreader *r = made_reader(&out, LAT_KEEP);
	const struct ps_record *rec;
	uint32_t restarts = 0, samples = 0;

	wrong = 0;
	while (!sreader_next(r, &rec)) {
		restarts += rec->type == PS_CHAIN && rec->chain.id == 1;
		samples += rec->type == PS_SAMPLE;
		wrong += rec->type == PS_SAMPLE && !right(r, &rec->sample);
	}
	if (samples + missing != intervals)
		wrong += 1000000;
	sreader_free(r);
	made_free(&out);
	return restarts;
}

/* Each id is defined again while it is in use, without a restart. */
static void test_again(void)
{
	made_begin(&in);
	begin();
	for (uint64_t i = 0; i < 100; i++) {
		define(2 + i % 7, i);
		event(1, i, 2 + i % 7);
	}
	for (uint64_t i = 0; i < 100; i++)
		event(2, i, 0);
	run(0);
	check();
	ok(intervals == 100 && !missing, "all intervals have their stacks");
	ok(ends == 100, "and none where there was none");
	ok(!wrong, "which are those of when they began");
}

/* Ids that begin anew, many times. `width`: intervals that are open at a time. */
static void restarts(uint32_t width, uint32_t max)
{
	made_begin(&in);
	begin();
	for (uint64_t i = 0; i < 5000; i++) {
		define(1 + i % 40, i);
		if (i >= width)
			event(2, i - width, 1 + i % 40);
		event(1, i, 1 + i % 40);
	}
	run(max);
}

static void test_restarts(void)
{
	uint32_t again;

	restarts(90, 0);
	again = check();
	ok(intervals == 4910 && !missing && !wrong, "ids that begin anew");
	ok(again == 1, "where there is room for all");
	restarts(90, 400);
	again = check();
	ok(intervals == 4910 && !missing && !wrong, "the same where there is not: %u, %u", missing,
	   wrong);
	ok(again > 10, "the ids that are written begin anew %u times", again);
}

/* More are open than there is room for; then fewer again. */
static void test_limit(void)
{
	uint32_t i;

	made_begin(&in);
	begin();
	for (i = 0; i < 1000; i++) {
		define(1 + i % 40, i);
		event(1, i, 1 + i % 40);
	}
	for (i = 0; i < 1000; i++)
		event(2, i, 0);
	for (; i < 3000; i++) {
		define(1 + i % 40, i);
		event(1, i, 1 + i % 40);
		event(2, i, 0);
	}
	run(101);
	check();
	ok(intervals == 3000, "all intervals are there");
	/* What is kept is swept when as much has come as was in use. */
	ok(missing >= 900 && missing < 900 + 405,
	   "of 1000 that are open at a time 100 have stacks, and then all again: %u are missing",
	   missing);
	ok(!wrong, "those that are there are right");
}

/* The dictionaries of a stream are not those of the next. */
static void test_streams(void)
{
	made_begin(&in);
	for (uint64_t turn = 0; turn < 3; turn++) {
		begin();
		for (uint64_t i = 0; i < 50; i++) {
			define(1 + (uint32_t)i, i + 100 * turn);
			event(1, i + 100 * turn, 1 + (uint32_t)i);
		}
		for (uint64_t i = 0; i < 40; i++)
			event(2, i + 100 * turn, 0);
		if (turn < 2) {
			made_end(&in, 0);
			swriter_header(&in.w);
		}
	}
	run(0);
	check();
	ok(intervals == 120 && !missing && !wrong, "three streams");
}

int main(void)
{
	test_again();
	test_restarts();
	test_limit();
	test_streams();
	return done();
}
