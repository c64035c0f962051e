/*
 * pfold's reading of event streams made by hand; with ids that begin again, against a naive model.
 */
#include "fold/sample_stacks.h"

#include "stream_make.h"

/* ---- making ---- */

static void put_string(struct made *m, uint32_t id, const char *text)
{
	struct ps_string s = {.id = id, .text = ps_str(text, strlen(text))};

	swriter_put(&m->w, PS_STRING, 1, &s);
}

static void put_event(struct made *m, uint32_t id, uint32_t type, uint32_t flags, const char *name)
{
	struct ps_event e = {
		.id = id, .perf_type = type, .flags = flags, .name = ps_str(name, strlen(name))};

	swriter_put(&m->w, PS_EVENT, 1, &e);
}

static void put_dso(struct made *m, uint32_t id, const char *path)
{
	struct ps_dso d = {.id = id, .path = ps_str(path, strlen(path))};

	swriter_put(&m->w, PS_DSO, 1, &d);
}

static void put_symbol(struct made *m, uint32_t id, const char *name)
{
	struct ps_symbol s = {.id = id, .name = ps_str(name, strlen(name))};

	swriter_put(&m->w, PS_SYMBOL, 1, &s);
}

static void put_frame(struct made *m, uint32_t id, uint32_t symbol, uint32_t dso)
{
	struct ps_frame f = {.id = id, .symbol = symbol, .dso = dso, .addr = 0x40 + id};

	swriter_put(&m->w, PS_FRAME, 1, &f);
}

static void put_stack(struct made *m, uint32_t id, uint32_t n, const uint32_t *frames)
{
	struct ps_stack s = {.id = id, .frames = {frames, n}};

	swriter_put(&m->w, PS_STACK, 1, &s);
}

#define STACK(m, id, ...) \
	put_stack(m, id, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void put_chain(struct made *m, uint32_t id, uint32_t n, const uint64_t *ips)
{
	struct ps_chain c = {.id = id, .ips = {ips, n}};

	swriter_put(&m->w, PS_CHAIN, 1, &c);
}

#define CHAIN(m, id, ...) \
	put_chain(m, id, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void put_sample(struct made *m, uint32_t event, uint32_t stack, uint64_t period,
		       uint32_t flags)
{
	struct ps_sample s = {.event = event, .pid = 41, .tid = 42, .comm = 1, .flags = flags};

	s.fields = (stack ? PS_HAS(stack) : 0) | PS_HAS(period);
	s.stack = stack;
	s.period = period;
	swriter_sample(&m->w, 1, &s);
}

/* An event, a command, and the stack 1: main (in /bin/x), then something without a name. */
static void begin(struct made *m)
{
	made_begin(m);
	put_event(m, 1, 1, PS_EVENT_SAMPLED, "cpu-clock");
	put_string(m, 1, "my job");
	put_dso(m, 1, "/bin/x");
	put_symbol(m, 1, "main");
	put_frame(m, 1, 1, 1);
	put_frame(m, 2, 0, 1);
	STACK(m, 1, 2, 1);
}

/* ---- folding ---- */

struct folded {
	struct buf text;
	struct fold_account account;
	int rc;
};

static struct buf said;

static void hear(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	buf_add(&said, line, len);
}

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return 0;
}

static void fold(const void *bytes, size_t len, const struct fold_opts *opts, struct folded *r)
{
	struct fold_opts none = {0};
	struct diag *d;
	struct fold *f;
	struct src *s;
	struct out o;

	*r = (struct folded){0};
	buf_reset(&said);
	diag_new(&d, "t", hear, NULL);
	if (fold_new(&f, opts ? opts : &none, d) || src_from_mem(&s, bytes, len, "test") ||
	    out_init_fn(&o, take, &r->text))
		abort();
	r->rc = fold_stream(f, s);
	fold_finish(f);
	fold_write(f, &o);
	out_flush(&o);
	out_release(&o);
	r->account = *fold_account(f);
	fold_free(f);
	diag_free(d);
}

static void conserved(const struct fold_account *a, const char *what)
{
	is_u64(a->samples, a->folded + a->bare + a->filtered, "%s: no sample is lost", what);
}

/* Ends the stream and compares what it folds to. */
static void expect(struct made *m, const struct fold_opts *opts, const char *want, const char *what)
{
	struct folded r;

	made_end(m, 0);
	fold(m->bytes.data, m->bytes.len, opts, &r);
	is_int(r.rc, 0, "%s: read", what);
	is_str(buf_str(&r.text), want, "%s", what);
	conserved(&r.account, what);
	buf_release(&r.text);
	made_free(m);
}

/* ---- tests ---- */

static void test_kinds(void)
{
	struct fold_opts pid = {.pid = true}, tid = {.tid = true}, addrs = {.addrs = true};
	struct fold_opts other = {.event = "sched:sched_switch"};
	struct made m;

	begin(&m);
	put_sample(&m, 1, 1, 100, 0);
	put_sample(&m, 1, 1, 11, 0);
	put_sample(&m, 1, 0, 7, 0);
	expect(&m, NULL, "my_job 7\nmy_job;main;[x] 111\n", "periods add up");
	begin(&m);
	put_sample(&m, 1, 1, 5, 0);
	expect(&m, &pid, "my_job-41;main;[x] 5\n", "--pid");
	begin(&m);
	put_sample(&m, 1, 1, 5, 0);
	expect(&m, &tid, "my_job-41/42;main;[x] 5\n", "--tid");
	begin(&m);
	put_sample(&m, 1, 1, 5, 0);
	expect(&m, &addrs, "my_job;main;[x <42>] 5\n", "--addrs");

	begin(&m);
	put_event(&m, 2, 2, PS_EVENT_SAMPLED, "sched:sched_switch");
	put_event(&m, 3, 2, PS_EVENT_SAMPLED, "sched:sched_waking");
	put_sample(&m, 2, 1, 100, 0);
	put_sample(&m, 1, 1, 100, 0);
	put_sample(&m, 3, 1, 100, 0);
	expect(&m, NULL, "my_job;main;[x] 100\n", "the event with most weight, not the first");
	begin(&m);
	put_event(&m, 2, 2, PS_EVENT_SAMPLED, "sched:sched_switch");
	put_event(&m, 3, 2, PS_EVENT_SAMPLED, "sched:sched_waking");
	put_sample(&m, 1, 1, 1, 0);
	put_sample(&m, 2, 1, 100, 0);
	put_sample(&m, 3, 1, 100, 0);
	expect(&m, NULL, "my_job;main;[x] 2\n", "tracepoints are one, and each counts 1");
	begin(&m);
	put_event(&m, 2, 2, PS_EVENT_SAMPLED, "sched:sched_switch");
	put_sample(&m, 1, 1, 100, 0);
	put_sample(&m, 2, 1, 100, 0);
	expect(&m, NULL, "my_job;main;[x] 100\n", "only one event");
	begin(&m);
	put_event(&m, 2, 2, PS_EVENT_SAMPLED, "sched:sched_switch");
	put_sample(&m, 1, 1, 100, 0);
	put_sample(&m, 2, 1, 100, 0);
	expect(&m, &other, "my_job;main;[x] 1\n", "--event");

	begin(&m);
	put_event(&m, 2, 1, PS_EVENT_SAMPLED, "other");
	put_sample(&m, 2, 1, 1000, PS_MARK_NA);
	put_sample(&m, 1, 1, 1, PS_MARK_PASS);
	put_sample(&m, 1, 1, 100, PS_MARK_FAIL);
	expect(&m, NULL, "my_job;main;[x] 1\n", "only passing samples count, or choose the event");
}

/* Several events, one of them on several PMUs of cores. */
static void test_events(void)
{
	static const char *const names[] = {"cpu_atom/cycles/P", "cpu_core/cycles/P", "dummy:u"};
	struct fold_opts core = {.event = names[1]}, cycles = {.event = "cycles:P"};
	struct fold_opts atom = {.prefer = "cpu-clock"}, count = {.count = true};
	struct fold_opts chart = {.chart = true}, by = {.by = {"base_event"}, .nby = 1};
	const struct {
		const struct fold_opts *opts;
		const char *want, *what;
	} rows[] = {
		{NULL, "my_job 4\nmy_job;main;[x] 56\n", "one event on several PMUs adds up"},
		{&core, "my_job;main;[x] 50\n", "--event with a PMU"},
		{&cycles, "my_job 4\nmy_job;main;[x] 56\n", "--event without one"},
		{&atom, "my_job;main;[x] 11\n", "an event that is preferred"},
		{&count, "my_job 1\nmy_job;main;[x] 3\n", "--count does not choose another"},
		{&chart, "my_job;main;[x] 3\nmy_job 4\nmy_job;main;[x] 53\n", "--chart"},
		{&by,
		 "cpu-clock;my_job;main;[x] 11\ncycles:P;my_job 4\ncycles:P;my_job;main;[x] "
		 "56\ndummy:u;my_job;main;[x] 1000\n",
		 "--by base_event"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct made m;

		begin(&m);
		for (uint32_t k = 0; k < 3; k++)
			put_event(&m, k + 2, k == 2, PS_EVENT_SAMPLED, names[k]);
		put_sample(&m, 4, 1, 1000, 0);
		put_sample(&m, 2, 1, 3, 0);
		put_sample(&m, 1, 1, 5, 0);
		put_sample(&m, 2, 0, 4, 0);
		put_sample(&m, 3, 1, 50, 0);
		put_sample(&m, 1, 1, 6, 0);
		put_sample(&m, 2, 1, 3, 0);
		expect(&m, rows[i].opts, rows[i].want, rows[i].what);
	}
}

static void test_names(void)
{
	struct made m;

	begin(&m);
	put_string(&m, 1, "a;b");
	put_dso(&m, 2, "/tmp/gone (deleted)");
	put_dso(&m, 3, "/ (deleted)");
	put_symbol(&m, 2, "std::map<int>::find(int const&)");
	put_frame(&m, 3, 2, 1);
	put_frame(&m, 4, 0, 2);
	put_frame(&m, 5, 0, 0);
	put_frame(&m, 6, 0, 3);
	STACK(&m, 2, 6, 5, 4, 3);
	put_sample(&m, 1, 2, 5, 0);
	expect(&m, NULL, "a:b;std::map<int>::find;[gone];[unknown];[/] 5\n", "names are tidied");
}

static void put_nowhere(struct made *m, uint32_t id)
{
	struct ps_frame f = {.id = id, .reason = PS_REASON_NO_MAPPING};

	swriter_put(&m->w, PS_FRAME, 1, &f);
}

static void put_ended(struct made *m, uint32_t id, uint32_t flags, uint32_t frame)
{
	struct ps_stack s = {.id = id, .flags = flags, .frames = {&frame, 1}};

	swriter_put(&m->w, PS_STACK, 1, &s);
}

static void test_marks(void)
{
	struct fold_opts plain = {.no_marks = true};
	static const struct {
		uint32_t flags;
		const char *want;
	} ends[] = {
		{PS_END_OUTERMOST << 8, "my_job;main 1\n"},
		{PS_END_COPY << 8 | 16384u << 16, "my_job;[truncated: 16 kB];main 1\n"},
		{PS_END_NO_CFI << 8, "my_job;[no unwind table: x];main 1\n"},
		{PS_END_BUILD_ID << 8, "my_job;[other build-id: x];main 1\n"},
		{PS_END_OTHER_STACK << 8, "my_job;[on another stack];main 1\n"},
		{PS_END_NO_MAPPING << 8, "my_job;[broken stack];main 1\n"},
	};
	struct made m;

	begin(&m);
	put_nowhere(&m, 3);
	STACK(&m, 2, 1, 3, 3, 3, 1, 3, 2);
	put_sample(&m, 1, 2, 5, 0);
	expect(&m, NULL, "my_job;[x];[broken stack];main;[broken stack];main 5\n",
	       "a run of addresses in no mapping is one frame");
	begin(&m);
	put_nowhere(&m, 3);
	STACK(&m, 2, 3, 1);
	STACK(&m, 3, 1, 3, 3);
	put_sample(&m, 1, 2, 5, 0);
	put_sample(&m, 1, 3, 2, 0);
	expect(&m, NULL, "my_job;[broken stack];main 2\nmy_job;main;[unknown] 5\n",
	       "the innermost function alone is unknown");
	begin(&m);
	put_nowhere(&m, 3);
	STACK(&m, 2, 1, 3, 3);
	put_sample(&m, 1, 2, 5, 0);
	expect(&m, &plain, "my_job;[unknown];[unknown];main 5\n", "without marks");
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		begin(&m);
		put_ended(&m, 2, ends[i].flags, 1);
		put_sample(&m, 1, 2, 1, 0);
		expect(&m, NULL, ends[i].want, ends[i].want);
	}
}

static void test_raw(void)
{
	struct ps_sample s = {
		.event = 1, .comm = 1, .fields = PS_HAS(chain) | PS_HAS(period), .period = 3};
	struct folded r;
	struct made m;

	begin(&m);
	CHAIN(&m, 1, (uint64_t)-128, 0xffffffff81000010, (uint64_t)-512, 0x401000);
	s.chain = 1;
	swriter_sample(&m.w, 1, &s);
	put_sample(&m, 1, 1, 4, 0);
	CHAIN(&m, 1, 0x10);
	swriter_sample(&m.w, 1, &s);
	made_end(&m, 0);
	fold(m.bytes.data, m.bytes.len, NULL, &r);
	is_str(buf_str(&r.text),
	       "my_job;0x10 3\nmy_job;0x401000;0xffffffff81000010 3\nmy_job;main;[x] 4\n",
	       "addresses that nobody symbolized");
	ok(strstr(buf_str(&said), "2 samples have only addresses: put psym before pfold"),
	   "which is reported");
	buf_release(&r.text);
	made_free(&m);
}

/* A sample of 41/42 that 51/52 woke up: stacks 1 and 2, a command 2. 0: there is none. */
static void put_woken(struct made *m, uint32_t stack, uint32_t other, uint32_t comm)
{
	struct ps_sample s = {
		.event = 1,
		.pid = 41,
		.tid = 42,
		.comm = 1,
		.fields = PS_HAS(period) | (stack ? PS_HAS(stack) : 0) |
			  (other ? PS_HAS(other_stack) : 0) |
			  (comm ? PS_HAS(other_comm) | PS_HAS(other_pid) | PS_HAS(other_tid) : 0),
		.stack = stack,
		.other_stack = other,
		.other_comm = comm,
		.other_pid = 51,
		.other_tid = 52,
		.period = 7};

	swriter_sample(&m->w, 1, &s);
}

static void begin_woken(struct made *m)
{
	begin(m);
	put_string(m, 2, "the waker");
	put_symbol(m, 2, "send");
	put_symbol(m, 3, "try_to_wake_up");
	put_frame(m, 3, 2, 0);
	put_frame(m, 4, 3, 0);
	STACK(m, 2, 4, 3);
}

static void test_second(void)
{
	struct fold_opts both = {.second = FOLD_BOTH}, other = {.second = FOLD_OTHER};
	struct fold_opts tids = {.second = FOLD_BOTH, .tid = true};
	struct ps_sample raw = {.event = 1, .comm = 1, .period = 3};
	struct folded r;
	struct made m;

	begin_woken(&m);
	put_woken(&m, 1, 2, 2);
	put_woken(&m, 1, 2, 2);
	put_woken(&m, 0, 2, 2);
	put_woken(&m, 1, 0, 2);
	put_woken(&m, 1, 2, 0);
	put_woken(&m, 1, 0, 0);
	expect(&m, &both,
	       "my_job;--;try_to_wake_up;send;the_waker 7\n"
	       "my_job;main;[x] 7\n"
	       "my_job;main;[x];--;the_waker 7\n"
	       "my_job;main;[x];--;try_to_wake_up;send;[unknown] 7\n"
	       "my_job;main;[x];--;try_to_wake_up;send;the_waker 14\n",
	       "--waker: two stacks that meet");
	begin_woken(&m);
	put_woken(&m, 1, 2, 2);
	expect(&m, &tids, "my_job-41/42;main;[x];--;try_to_wake_up;send;the_waker-51/52 7\n",
	       "--waker --tid");
	begin_woken(&m);
	put_woken(&m, 1, 2, 2);
	put_woken(&m, 0, 2, 2);
	put_woken(&m, 1, 0, 2);
	put_woken(&m, 1, 2, 0);
	put_woken(&m, 1, 0, 0);
	expect(&m, &other,
	       "[unknown] 7\n[unknown];send;try_to_wake_up 7\n"
	       "the_waker 7\nthe_waker;send;try_to_wake_up 14\n",
	       "--other: the second stack");
	begin_woken(&m);
	put_woken(&m, 1, 2, 2);
	put_symbol(&m, 3, "renamed");
	put_woken(&m, 1, 2, 2);
	put_string(&m, 2, "b");
	STACK(&m, 2, 1);
	put_woken(&m, 1, 2, 2);
	expect(&m, &both,
	       "my_job;main;[x];--;main;b 7\n"
	       "my_job;main;[x];--;renamed;send;the_waker 7\n"
	       "my_job;main;[x];--;try_to_wake_up;send;the_waker 7\n",
	       "what is defined again has its new name in the second stack, too");

	begin_woken(&m);
	raw.fields = PS_HAS(period) | PS_HAS(chain) | PS_HAS(other_chain) | PS_HAS(other_comm);
	raw.chain = 1;
	raw.other_chain = 2;
	raw.other_comm = 2;
	CHAIN(&m, 1, (uint64_t)-512, 0x401000, 0x402000);
	CHAIN(&m, 2, 0x10, 0x20);
	swriter_sample(&m.w, 1, &raw);
	put_woken(&m, 1, 99, 2);
	made_end(&m, 0);
	fold(m.bytes.data, m.bytes.len, &both, &r);
	is_int(r.rc, PP_ECUT, "a second stack that is not defined: partial");
	is_str(buf_str(&r.text),
	       "my_job;0x402000;0x401000;--;0x10;0x20;the_waker 3\nmy_job;main;[x];--;the_waker 7\n",
	       "--waker: addresses, and what is not defined");
	ok(strstr(buf_str(&said), "1 samples have only addresses"), "a sample is counted once");
	buf_release(&r.text);
	made_free(&m);
}

static void test_damage(void)
{
	struct folded r, cut;
	struct made m;
	bool right = true;

	begin(&m);
	put_sample(&m, 1, 1, 4, 0);
	put_sample(&m, 1, 99, 4, 0);
	put_sample(&m, 1, 1, 4, 0);
	made_end(&m, 0);
	fold(m.bytes.data, m.bytes.len, NULL, &r);
	is_int(r.rc, PP_ECUT, "a stack that is not defined: partial");
	is_str(buf_str(&r.text), "my_job 4\nmy_job;main;[x] 8\n",
	       "its sample counts for the command, the others as they are");
	ok(strstr(buf_str(&said), "samples refer to something that it does not define"),
	   "it is reported");
	buf_release(&r.text);
	made_free(&m);

	begin(&m);
	for (int i = 0; i < 3; i++)
		put_sample(&m, 1, 1, 4, 0);
	made_end(&m, 0);
	fold(m.bytes.data, m.bytes.len, NULL, &r);
	for (size_t n = 0; n < m.bytes.len; n++) {
		fold(m.bytes.data, n, NULL, &cut);
		right = right && cut.rc && cut.account.samples <= 3 &&
			cut.account.samples == cut.account.folded;
		buf_release(&cut.text);
	}
	ok(right, "cut at every byte: never taken for whole");
	is_u64(r.account.folded, 3, "whole it is");
	buf_release(&r.text);
	made_free(&m);

	begin(&m);
	put_sample(&m, 1, 1, 4, 0);
	made_end(&m, 1);
	fold(m.bytes.data, m.bytes.len, NULL, &r);
	is_int(r.rc, PP_ECUT, "damage upstream is passed on");
	buf_release(&r.text);
	made_free(&m);
}

/* ---- against a model that remembers nothing ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void naive_frame(struct buf *b, const struct sreader *in, uint32_t id)
{
	const struct ps_frame *f = sreader_frame(in, id);
	const struct ps_symbol *s = sreader_symbol(in, f->symbol);
	const struct ps_dso *d = sreader_dso(in, f->dso);

	buf_addc(b, ';');
	if (s)
		buf_adds(b, s->name.p);
	else
		buf_addf(b, "[%s]", d ? d->path.p : "unknown");
}

/* One line for each sample, then sorted and counted. */
static void naive_fold(const struct buf *bytes, struct buf *out)
{
	struct sreader *in =
		reader_of(bytes->data, bytes->len, SREADER_SYMBOLS | SREADER_DSOS | SREADER_CHAINS);
	static char *lines[8192];
	const struct ps_record *rec;
	size_t n = 0;

	while (!sreader_next(in, &rec)) {
		struct buf b = BUF_INIT;

		if (rec->type != PS_SAMPLE || n == 8192)
			continue;
		buf_adds(&b, sreader_string(in, rec->sample.comm, NULL));
		if (ps_sample_has(&rec->sample, stack)) {
			const struct ps_stack *st = sreader_stack(in, rec->sample.stack);

			for (uint32_t i = st->frames.n; i--;)
				naive_frame(&b, in, st->frames.v[i]);
		} else if (ps_sample_has(&rec->sample, chain)) {
			const struct ps_chain *c = sreader_chain(in, rec->sample.chain);

			for (uint32_t i = c->ips.n; i--;)
				buf_addf(&b, ";0x%" PRIx64, c->ips.v[i]);
		}
		lines[n++] = strdup(buf_str(&b));
		buf_release(&b);
	}
	sreader_free(in);
	qsort(lines, n, sizeof(lines[0]), by_text);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && !strcmp(lines[i], lines[k]); k++)
			;
		buf_addf(out, "%s %zu\n", lines[i], k - i);
	}
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
}

#define IDS 6

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void define(struct made *m, uint32_t kind, uint32_t id)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	uint32_t frames[3] = {1 + pick(IDS), 1 + pick(IDS), 1 + pick(IDS)};
	uint64_t ips[2] = {pick(9), pick(9)};

	switch (kind) {
	case 0: put_string(m, id, names[pick(3)]); break;
	case 1: put_dso(m, id, names[pick(8)]); break;
	case 2: put_symbol(m, id, names[pick(8)]); break;
	case 3: put_frame(m, id, pick(3) ? 1 + pick(IDS) : 0, 1 + pick(IDS)); break;
	case 4: put_stack(m, id, pick(4), frames); break;
	default: put_chain(m, id, pick(3), ips); break;
	}
}

/* Id 1 of symbols, frames, stacks and chains makes the others undefined. */
static void redefine(struct made *m, uint32_t kind, uint32_t id)
{
	define(m, kind, id);
	for (uint32_t other = 2; id == 1 && kind >= 2 && other <= IDS; other++)
		define(m, kind, other);
}

static void random_stream(struct made *m)
{
	put_event(m, 1, 1, PS_EVENT_SAMPLED, "cpu-clock");
	for (uint32_t kind = 0; kind < 6; kind++)
		for (uint32_t id = 1; id <= IDS; id++)
			define(m, kind, id);
	for (int i = 0; i < 500; i++) {
		struct ps_sample s = {.event = 1,
				      .comm = 1 + pick(IDS),
				      .stack = 1 + pick(IDS),
				      .chain = 1 + pick(IDS)};

		if (!pick(4))
			redefine(m, pick(6), 1 + pick(IDS));
		s.fields = pick(3) ? PS_HAS(stack) | PS_HAS(chain) : pick(4) ? PS_HAS(chain) : 0;
		swriter_sample(&m->w, 1, &s);
	}
}

static void test_model(void)
{
	int differ = 0;

	for (int round = 0; round < 60; round++) {
		struct buf want = BUF_INIT;
		struct folded r;
		struct made m;

		seed = (uint32_t)round;
		made_begin(&m);
		random_stream(&m);
		/* A second stream: ids begin again. */
		if (round % 2) {
			struct ps_end end = {0};

			swriter_end(&m.w, &end);
			swriter_header(&m.w);
			random_stream(&m);
		}
		made_end(&m, 0);
		fold(m.bytes.data, m.bytes.len, NULL, &r);
		naive_fold(&m.bytes, &want);
		if (r.rc || strcmp(buf_str(&r.text), buf_str(&want)) != 0)
			differ++;
		if (differ == 1)
			is_str(buf_str(&r.text), buf_str(&want), "round %d", round);
		buf_release(&r.text);
		buf_release(&want);
		made_free(&m);
	}
	is_int(differ, 0, "60 random streams that define ids again as without memory");
}

int main(void)
{
	test_kinds();
	test_events();
	test_names();
	test_marks();
	test_raw();
	test_second();
	test_damage();
	test_model();
	buf_release(&said);
	return done();
}
