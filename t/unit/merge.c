/*
 * Streams merged by time: what samples refer to stays what it was, whatever ids begin again where,
 * and clocks are converted or refused.
 */
#include "merge/parts.h"

#include "stream_make.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- random streams; each sample says itself what its ids have to lead to ---- */

#define IDS	6 /* of each dictionary that are in use */
#define SAMPLES 400
#define STREAMS 3

static uint64_t rng_state = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (uint32_t)(rng_state >> 20) % n;
}

struct model {
	struct made m;
	uint64_t serial; /* of definitions; no two of any stream are equal */
	uint64_t string[IDS + 1], event[IDS + 1], chain[IDS + 1], symbol[IDS + 1], stack[IDS + 1];
	uint64_t times[SAMPLES];
	uint64_t clock;
	uint32_t n;
};

static const char *text_of(char kind, uint64_t v)
{
	static char text[32];

	snprintf(text, sizeof(text), "%c%" PRIu64, kind, v);
	return text;
}

static uint64_t define(struct model *k, enum ps_type type, uint32_t id)
{
	uint64_t v = ++k->serial;
	const char *name = text_of('n', v);
	struct ps_str str = ps_str(name, strlen(name));

	switch (type) {
	case PS_STRING:
		swriter_put(&k->m.w, type, 1, &(struct ps_string){.id = id, .text = str});
		break;
	case PS_EVENT:
		swriter_put(&k->m.w, type, 1, &(struct ps_event){.id = id, .name = str});
		break;
	case PS_CHAIN:
		swriter_put(&k->m.w, type, 1, &(struct ps_chain){.id = id, .ips = {&v, 1}});
		break;
	default: swriter_put(&k->m.w, PS_SYMBOL, 1, &(struct ps_symbol){.id = id, .name = str});
	}
	return v;
}

/* Symbol, frame and stack of one number belong together. */
static void define_stack(struct model *k, uint32_t id)
{
	struct ps_frame f = {.id = id, .symbol = id};
	struct ps_stack s = {.id = id, .frames = {&id, 1}};

	if (id == 1)
		memset(k->stack, 0, sizeof(k->stack));
	k->stack[id] = define(k, PS_SYMBOL, id);
	swriter_put(&k->m.w, PS_FRAME, 1, &f);
	swriter_put(&k->m.w, PS_STACK, 1, &s);
}

static void define_some(struct model *k)
{
	uint32_t id = 1 + rnd(IDS);

	switch (rnd(8)) {
	case 0: k->string[id] = define(k, PS_STRING, id); break;
	case 1: k->event[id] = define(k, PS_EVENT, id); break;
	case 2: define_stack(k, id); break;
	case 3:
		/* The symbol alone: the stack is the same one, with another name. */
		if (id > 1 && k->stack[id])
			k->stack[id] = define(k, PS_SYMBOL, id);
		break;
	default:
		if (id == 1)
			memset(k->chain, 0, sizeof(k->chain));
		k->chain[id] = define(k, PS_CHAIN, id);
	}
}

static void put_sample(struct model *k)
{
	struct ps_sample s = {.pid = k->n};

	s.event = 1 + rnd(IDS);
	s.comm = 1 + rnd(IDS);
	s.chain = 1 + rnd(IDS);
	s.stack = 1 + rnd(IDS);
	s.fields = PS_HAS(period) | PS_HAS(addr) | PS_HAS(weight) | PS_HAS(id);
	s.period = k->chain[s.chain];
	s.addr = k->stack[s.stack];
	s.weight = k->string[s.comm];
	s.id = k->event[s.event];
	s.fields |= (s.period ? PS_HAS(chain) : 0) | (s.addr ? PS_HAS(stack) : 0);
	if (!s.weight)
		s.comm = 0;
	k->clock += rnd(5);
	/* Some come late. */
	s.time = k->clock > 20 && !rnd(30) ? k->clock - 20 : k->clock;
	k->times[k->n++] = s.time;
	swriter_sample(&k->m.w, 1, &s);
}

static void make_model(struct model *k, uint64_t first_serial)
{
	struct ps_source source = {.kind = 4, .name = ps_str("made", 4)};

	*k = (struct model){.serial = first_serial, .clock = 1000};
	made_begin(&k->m);
	swriter_put(&k->m.w, PS_SOURCE, 1, &source);
	for (uint32_t id = 1; id <= IDS; id++)
		k->event[id] = define(k, PS_EVENT, id);
	while (k->n < SAMPLES) {
		for (uint32_t i = rnd(4); i > 0; i--)
			define_some(k);
		put_sample(k);
	}
	made_end(&k->m, 0);
}

/* ---- checking ---- */

static bool named(const char *text, uint64_t v)
{
	return text && !strcmp(text, text_of('n', v));
}

/* Whether a sample leads to what it says. */
static bool leads(const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_chain *c = sreader_chain(r, s->chain);
	const struct ps_stack *st = sreader_stack(r, s->stack);
	const struct ps_event *e = sreader_event(r, s->event);
	const struct ps_frame *f =
		st && st->frames.n == 1 ? sreader_frame(r, st->frames.v[0]) : NULL;
	const struct ps_symbol *sym = f ? sreader_symbol(r, f->symbol) : NULL;

	if (!e || !named(e->name.p, s->id))
		return false;
	if (s->comm && !named(sreader_string(r, s->comm, NULL), s->weight))
		return false;
	if (ps_sample_has(s, chain) && (!c || c->ips.n != 1 || c->ips.v[0] != s->period))
		return false;
	return !ps_sample_has(s, stack) || (sym && named(sym->name.p, s->addr));
}

/* The next sample by a search through all streams: the number of its stream, from 0. */
static uint32_t naive_next(const struct model *k, const uint32_t *at, const uint64_t *key)
{
	uint32_t best = STREAMS;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < STREAMS; i++) {
		uint64_t t = at[i] < k[i].n ? k[i].times[at[i]] : UINT64_MAX;

		if (t < key[i])
			t = key[i];
		if (at[i] < k[i].n && t < least) {
			least = t;
			best = i;
		}
	}
	return best;
}

static void check_random(uint32_t live_ids)
{
	static struct model k[STREAMS];
	uint32_t at[STREAMS] = {0}, wrong = 0, disorder = 0, n = 0, failed, greatest = 0;
	uint64_t key[STREAMS] = {0};
	struct ps_end end = {0};
	const struct ps_record *rec;
	struct smerge *m;
	struct sreader *r;
	struct made out;

	made_begin(&out);
	if (smerge_new(&m, &out.w, NULL, NULL))
		abort();
	m->live_ids = live_ids; /* they begin again sooner */
	for (uint32_t i = 0; i < STREAMS; i++) {
		make_model(&k[i], i * 1000000u);
		if (smerge_add(m, made_reader(&k[i].m, SMERGE_KEEP), "made", 0))
			abort();
	}
	is_int(smerge_run(m), 0, "%u live ids: merged", live_ids);
	smerge_account(m, &end, &failed);
	is_int(end.status + failed, 0, "the account is clean");
	smerge_free(m);
	made_end(&out, 0);
	r = made_reader(&out, SMERGE_KEEP | SREADER_EVENTS);
	while (!sreader_next(r, &rec)) {
		uint32_t i;

		if (rec->type == PS_CHAIN && rec->chain.id > greatest)
			greatest = rec->chain.id;
		if (rec->type != PS_SAMPLE)
			continue;
		n++;
		wrong += !leads(r, &rec->sample);
		i = naive_next(k, at, key);
		if (i == STREAMS || rec->source != i + 1 || rec->sample.pid != at[i] ||
		    rec->sample.time != k[i].times[at[i]]) {
			disorder++;
			continue;
		}
		if (k[i].times[at[i]] > key[i])
			key[i] = k[i].times[at[i]];
		at[i]++;
	}
	is_int(n, STREAMS * SAMPLES, "all samples are there");
	is_int(wrong, 0, "each leads to what it led to");
	is_int(disorder, 0, "they come in the order of time");
	ok(greatest <= live_ids + 2 || live_ids > 1000, "ids begin again");
	sreader_free(r);
	made_free(&out);
	for (uint32_t i = 0; i < STREAMS; i++)
		made_free(&k[i].m);
}

/* ---- clocks ---- */

/* A stream with one sample at a time, and one context record at the same. */
static void make_clock(struct made *m, const char *clock, const char *wall, const char *host,
		       uint64_t time)
{
	struct ps_source s = {.name = ps_str("made", 4), .clock = ps_str(clock, strlen(clock))};
	struct ps_event e = {.id = 1, .name = ps_str("e", 1)};

	made_begin(m);
	swriter_put(&m->w, PS_SOURCE, 7, &s);
	if (wall)
		swriter_put(&m->w, PS_META, 7,
			    &(struct ps_meta){.key = ps_str("wall_offset", 11),
					      .value = ps_str(wall, strlen(wall))});
	if (host)
		swriter_put(&m->w, PS_META, 7,
			    &(struct ps_meta){.key = ps_str("hostname", 8),
					      .value = ps_str(host, strlen(host))});
	swriter_put(&m->w, PS_EVENT, 7, &e);
	swriter_put(&m->w, PS_EXIT, 7, &(struct ps_exit){.time = time, .pid = 1});
	swriter_sample(&m->w, 7, &(struct ps_sample){.event = 1, .time = time});
	made_end(m, 0);
}

static const struct clock_case {
	const char *what, *wanted;
	struct {
		const char *clock, *wall, *host;
		uint64_t time;
		int64_t offset;
	} in[2];
	int rc;
	unsigned warnings;
	uint64_t times[2]; /* in the order of the output */
} clock_cases[] = {
	{"one clock",
	 NULL,
	 {{"mono", NULL, NULL, 50, 0}, {"mono", NULL, NULL, 40, 0}},
	 0,
	 0,
	 {40, 50}},
	{"two clocks",
	 NULL,
	 {{"mono", NULL, NULL, 50, 0}, {"boot", NULL, NULL, 40, 0}},
	 0,
	 1,
	 {40, 50}},
	{"two names of the scheduler's clock",
	 NULL,
	 {{"local", NULL, NULL, 50, 0}, {"perf", NULL, NULL, 40, 0}},
	 0,
	 0,
	 {40, 50}},
	{"an offset",
	 NULL,
	 {{"mono", NULL, NULL, 50, -20}, {"boot", NULL, NULL, 40, 0}},
	 0,
	 0,
	 {30, 40}},
	{"two machines",
	 NULL,
	 {{"mono", NULL, "a", 50, 0}, {"mono", NULL, "b", 40, 0}},
	 0,
	 1,
	 {40, 50}},
	{"two machines, time of day",
	 NULL,
	 {{"realtime", NULL, "a", 50, 0}, {"mono", "0", "b", 40, 0}},
	 0,
	 0,
	 {40, 50}},
	{"to the time of day",
	 "realtime",
	 {{"mono", "1000", NULL, 50, 0}, {"realtime", NULL, NULL, 1040, 0}},
	 0,
	 0,
	 {1040, 1050}},
	{"to a clock by the time of day",
	 "mono",
	 {{"mono", "1000", NULL, 50, 0}, {"boot", "-960", NULL, 2000, 0}},
	 0,
	 0,
	 {40, 50}},
	{"no reference",
	 "realtime",
	 {{"mono", "1000", NULL, 50, 0}, {"boot", NULL, NULL, 40, 0}},
	 PP_EUSAGE,
	 0,
	 {0, 0}},
	{"nobody has the clock",
	 "tai",
	 {{"mono", "1000", NULL, 50, 0}, {"boot", "5", NULL, 40, 0}},
	 PP_EUSAGE,
	 0,
	 {0, 0}},
	{"before 0",
	 NULL,
	 {{"mono", NULL, NULL, 50, -90}, {"mono", NULL, NULL, 40, 0}},
	 0,
	 0,
	 {1, 40}},
};

static void hear(void *ctx, const char *line, size_t len)
{
	(void)line;
	(void)len;
	++*(uint64_t *)ctx;
}

static void check_clock(const struct clock_case *c)
{
	uint64_t times[2] = {0};
	struct made in[2], out;
	const struct ps_record *rec;
	struct smerge *m;
	struct sreader *r;
	struct diag *d;
	uint32_t n = 0;
	uint64_t heard = 0;
	bool context = true;

	made_begin(&out);
	if (diag_new(&d, "test", hear, &heard) || smerge_new(&m, &out.w, c->wanted, d))
		abort();
	for (int i = 0; i < 2; i++) {
		make_clock(&in[i], c->in[i].clock, c->in[i].wall, c->in[i].host, c->in[i].time);
		if (smerge_add(m, made_reader(&in[i], SMERGE_KEEP), "made", c->in[i].offset))
			abort();
	}
	is_int(smerge_run(m), c->rc, "%s: result", c->what);
	smerge_free(m);
	made_end(&out, 0);
	r = made_reader(&out, 0);
	while (!sreader_next(r, &rec)) {
		if (rec->type == PS_SAMPLE && n < 2)
			times[n++] = rec->sample.time;
		else if (rec->type == PS_EXIT && n < 2)
			context = context && rec->exit.time == c->times[n];
	}
	ok(c->rc || (times[0] == c->times[0] && times[1] == c->times[1] && context), "%s: times",
	   c->what);
	is_u64(heard, c->warnings + (c->rc != 0), "%s: messages", c->what);
	sreader_free(r);
	made_free(&out);
	for (int i = 0; i < 2; i++)
		made_free(&in[i]);
	diag_free(d);
}

/* ---- streams that end early ---- */

static void check_cut(void)
{
	struct ps_end end = {0};
	struct made in[2], out;
	struct smerge *m;
	uint32_t failed, bad = 0;
	size_t len;

	make_clock(&in[0], "mono", NULL, NULL, 50);
	make_clock(&in[1], "mono", NULL, NULL, 40);
	len = in[1].bytes.len;
	for (size_t n = 0; n < len; n++) {
		struct diag *d = NULL;

		made_begin(&out);
		end = (struct ps_end){0};
		if (smerge_new(&m, &out.w, NULL, d) ||
		    smerge_add(m, made_reader(&in[0], SMERGE_KEEP), "whole", 0) ||
		    smerge_add(m, reader_of(in[1].bytes.data, n, SMERGE_KEEP), "cut", 0))
			abort();
		bad += smerge_run(m) != 0;
		smerge_account(m, &end, &failed);
		bad += end.status != PP_EXIT_PARTIAL || failed > 1;
		smerge_free(m);
		made_end(&out, 0);
		made_free(&out);
	}
	is_int(bad, 0, "one of two is cut at any byte: the other is there, the status is partial");
	made_free(&in[0]);
	made_free(&in[1]);
}

int main(void)
{
	check_random(SMERGE_LIVE_IDS);
	check_random(7);
	check_random(2);
	for (size_t i = 0; i < sizeof(clock_cases) / sizeof(clock_cases[0]); i++)
		check_clock(&clock_cases[i]);
	check_cut();
	return done();
}
