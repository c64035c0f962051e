/*
 * Intervals from made streams: marks of filters, lost events, what begins again, times that run
 * back.
 */
#include "interval/lat.h"
#include "interval/interval.h"
#include "event/symbolic.h"
#include "stream_make.h"

/*
 * A stream that is being made: events "t:a", "t:b", ... with the field "key", and the scheduler's.
 */
#define EV(c)  ((uint32_t)((c) - 'a' + 1))
#define SWITCH 30
#define WAKEUP 31

static struct made m;

static void begin(void)
{
	char name[] = "t:a";

	made_begin(&m);
	for (; name[2] <= 'd'; name[2]++) {
		made_field(&m, 0, 8, "key");
		made_event(&m, EV(name[2]), name, "");
	}
	made_field(&m, 0, 16, "prev_comm");
	made_field(&m, 16, 4, "prev_pid");
	made_field(&m, 24, 8, "prev_state");
	made_field(&m, 32, 16, "next_comm");
	made_field(&m, 48, 4, "next_pid");
	made_event(&m, SWITCH, "sched:sched_switch", MADE_SWITCH_FORMAT);
	made_field(&m, 0, 16, "comm");
	made_field(&m, 16, 4, "pid");
	made_event(&m, WAKEUP, "sched:sched_wakeup", "");
}

static void sample(uint32_t ev, uint64_t time, uint32_t cpu, uint32_t mark, const void *payload,
		   size_t len)
{
	struct ps_sample s = {.event = ev,
			      .cpu = cpu,
			      .time = time,
			      .pid = 7,
			      .tid = 7,
			      .flags = mark,
			      .fields = PS_HAS(payload),
			      .payload = ps_str(payload, len)};

	swriter_sample(&m.w, 1, &s);
}

static void put(char ev, uint64_t time, int64_t key, uint32_t mark)
{
	sample(EV(ev), time, 0, mark, &key, sizeof(key));
}

static void put_switch(uint64_t time, uint32_t cpu, uint32_t prev, uint64_t state, uint32_t next)
{
	uint8_t payload[56] = "prev";

	memcpy(payload + 16, &prev, 4);
	memcpy(payload + 24, &state, 8);
	memcpy(payload + 32, "next", 4);
	memcpy(payload + 48, &next, 4);
	sample(SWITCH, time, cpu, PS_MARK_PASS, payload, sizeof(payload));
}

static void put_wakeup(uint64_t time, uint32_t pid)
{
	uint8_t payload[24] = "woken";

	memcpy(payload + 16, &pid, 4);
	sample(WAKEUP, time, 0, PS_MARK_PASS, payload, sizeof(payload));
}

static void put_lost(uint32_t cpu)
{
	struct ps_lost lost = {.cpu = cpu, .pid = PS_NONE, .tid = PS_NONE, .count = 1, .kind = 1};

	swriter_put(&m.w, PS_LOST, 1, &lost);
}

/* ---- running ---- */

struct result {
	struct buf text; /* "kind:start+duration " for each interval */
	char account[256];
};

static int on_interval(void *ctx, const struct lat *l, const struct interval *iv)
{
	struct result *r = ctx;
	const char *kind;
	size_t n;

	lat_account(l, iv->kind, &kind);
	buf_addf(&r->text, "%s:%d+%d", kind, (int)iv->start.time, (int)iv->dur);
	if (iv->state)
		buf_addf(&r->text, "(%s)", lat_name(l, iv->state, &n));
	buf_addc(&r->text, ' ');
	return 0;
}

/* Ends the stream and pairs what is in it. The account is that of the kind. */
static void run(struct lat_opts *o, const char *kind, struct result *res)
{
	struct buf why = BUF_INIT;
	const uint64_t *count;
	const struct ps_record *rec;
	struct sreader *r;
	struct lat *l;
	const char *name;
	uint64_t sum = 0;

	made_end(&m, 0);
	buf_reset(&res->text);
	buf_addc(&res->text, ' ');
	o->sink = on_interval;
	o->sink_ctx = res;
	if (lat_new(&l, o, NULL, &why)) {
		printf("# %s\n", buf_str(&why));
		abort();
	}
	r = made_reader(&m, LAT_KEEP);
	while (!sreader_next(r, &rec))
		if (lat_record(l, r, rec))
			abort();
	if (lat_finish(l))
		abort();
	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++) {
		sum = 0;
		for (int c = LAT_INTERVALS; c < LAT_NO_START; c++)
			sum += count[c];
		if (sum != count[LAT_STARTS])
			ok(false, "%s: the starts are accounted for", name);
		if (strcmp(name, kind) != 0)
			continue;
		snprintf(res->account, sizeof(res->account), "%d=%d f%d n%d o%d r%d c%d l%d e%d",
			 (int)count[LAT_STARTS], (int)count[LAT_INTERVALS],
			 (int)count[LAT_FILTERED], (int)count[LAT_NEGATIVE], (int)count[LAT_OPEN],
			 (int)count[LAT_RESTARTED], (int)count[LAT_CANCELLED], (int)count[LAT_LOST],
			 (int)count[LAT_NO_START]);
	}
	lat_free(l);
	sreader_free(r);
	made_free(&m);
	buf_release(&why);
}

static void test_pairs(void)
{
	/* What happens, "EVENT TIME KEY [MARK]" with commas; L: events are lost. */
	static const struct {
		const char *what, *events;
		enum pair_restart restart;
		const char *want, *account;
	} rows[] = {
		{"one", "a1:5,b4:5", PAIR_REPLACE, " pair:1+3 ", "1=1 f0 n0 o0 r0 c0 l0 e0"},
		{"two keys", "a1:5,a2:6,b4:5,b9:6", PAIR_REPLACE, " pair:1+3 pair:2+7 ",
		 "2=2 f0 n0 o0 r0 c0 l0 e0"},
		{"no start, no end", "b1:5,a2:6", PAIR_REPLACE, " ", "1=0 f0 n0 o1 r0 c0 l0 e1"},
		{"replace", "a1:5,a2:5,b4:5,b5:5", PAIR_REPLACE, " pair:2+2 ",
		 "2=1 f0 n0 o0 r1 c0 l0 e1"},
		{"keep", "a1:5,a2:5,b4:5,b5:5", PAIR_KEEP, " pair:1+3 ",
		 "2=1 f0 n0 o0 r1 c0 l0 e1"},
		{"nest", "a1:5,a2:5,b4:5,b5:5", PAIR_NEST, " pair:2+2 pair:1+4 ",
		 "2=2 f0 n0 o0 r0 c0 l0 e0"},
		{"nest, one left", "a1:5,a2:5,a3:5,b4:5", PAIR_NEST, " pair:3+1 ",
		 "3=1 f0 n0 o2 r0 c0 l0 e0"},
		{"back in time", "a9:5,b4:5", PAIR_REPLACE, " ", "1=0 f0 n1 o0 r0 c0 l0 e0"},
		{"no time at all", "a4:5,b4:5", PAIR_REPLACE, " pair:4+0 ",
		 "1=1 f0 n0 o0 r0 c0 l0 e0"},
		{"lost", "a1:5,L,b4:5", PAIR_REPLACE, " ", "1=0 f0 n0 o0 r0 c0 l1 e1"},
		{"lost, then again", "a1:5,L,a3:5,b4:5", PAIR_REPLACE, " pair:3+1 ",
		 "2=1 f0 n0 o0 r0 c0 l1 e0"},
		{"lost, and open", "a1:5,L,a3:6", PAIR_REPLACE, " ", "2=0 f0 n0 o1 r0 c0 l1 e0"},
		{"lost before", "L,a1:5,b4:5", PAIR_REPLACE, " pair:1+3 ",
		 "1=1 f0 n0 o0 r0 c0 l0 e0"},
		{"start fails", "a1:5F,b4:5", PAIR_REPLACE, " ", "1=0 f1 n0 o0 r0 c0 l0 e0"},
		{"start passes, end fails", "a1:5,b4:5F", PAIR_REPLACE, " pair:1+3 ",
		 "1=1 f0 n0 o0 r0 c0 l0 e0"},
		{"does not apply to the start", "a1:5N,b4:5", PAIR_REPLACE, " pair:1+3 ",
		 "1=1 f0 n0 o0 r0 c0 l0 e0"},
		{"nor to the end", "a1:5N,b4:5N", PAIR_REPLACE, " ", "1=0 f1 n0 o0 r0 c0 l0 e0"},
		{"to neither, the end fails", "a1:5N,b4:5F", PAIR_REPLACE, " ",
		 "1=0 f1 n0 o0 r0 c0 l0 e0"},
		{"condition", "a1:-5,b4:-5,a5:1,b7:1", PAIR_REPLACE, " pair:5+2 ",
		 "1=1 f0 n0 o0 r0 c0 l0 e1"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lat_opts o = {.pair = {.starts = {"t:a:key if key > 0"},
					      .ends = {"b:key"},
					      .nstarts = 1,
					      .nends = 1,
					      .restart = rows[i].restart}};
		struct result res = {0};

		begin();
		for (const char *p = rows[i].events; *p; p += *p == ',') {
			char *end;
			char ev = *p++;
			uint64_t time;
			int64_t key;
			uint32_t mark = PS_MARK_PASS;

			if (ev == 'L') {
				put_lost(3);
				continue;
			}
			time = strtoull(p, &end, 10);
			key = strtoll(end + 1, &end, 10);
			p = end;
			if (*p == 'F' || *p == 'N')
				mark = *p++ == 'F' ? PS_MARK_FAIL : PS_MARK_NA;
			put(ev, time, key, mark);
		}
		run(&o, "pair", &res);
		is_str(buf_str(&res.text), rows[i].want, "%s", rows[i].what);
		is_str(res.account, rows[i].account, "%s: the account", rows[i].what);
		buf_release(&res.text);
	}
}

/* The same event begins and ends: each to the next. */
static void test_self(void)
{
	struct lat_opts o = {
		.pair = {.starts = {"t:a:key"}, .ends = {"t:a:key"}, .nstarts = 1, .nends = 1}};
	struct result res = {0};

	begin();
	put('a', 1, 1, PS_MARK_PASS);
	put('a', 4, 1, PS_MARK_PASS);
	put('a', 9, 1, PS_MARK_PASS);
	run(&o, "pair", &res);
	is_str(buf_str(&res.text), " pair:1+3 pair:4+5 ", "from each event to the next");
	buf_release(&res.text);
}

static void test_sched(void)
{
	struct lat_opts o = {.kinds = "runq,oncpu,offcpu,blocked"};
	struct result res = {0};

	/* 10 sleeps on CPU 0, 11 runs, 10 is woken and runs again, 11 was preempted. */
	begin();
	put_switch(100, 0, 10, 1, 11);
	put_wakeup(140, 10);
	put_switch(150, 0, 11, 256, 10);
	put_switch(190, 0, 10, 2, 11);
	put_switch(200, 0, 11, 16, 0);
	run(&o, "oncpu", &res);
	is_str(buf_str(&res.text),
	       " blocked:100+40(S) oncpu:100+50 runq:140+10 offcpu:100+50(S) oncpu:150+40 "
	       "runq:150+40 offcpu:150+40(R+) oncpu:190+10 ",
	       "states of threads");
	is_str(res.account, "3=3 f0 n0 o0 r0 c0 l0 e1", "who ran already has no start");

	/* Events of CPU 1 are lost: what runs on CPU 0 still does, but who sleeps may have run. */
	begin();
	put_switch(100, 0, 10, 1, 11);
	put_lost(1);
	put_wakeup(140, 10);
	put_switch(150, 0, 11, 1, 10);
	run(&o, "blocked", &res);
	is_str(buf_str(&res.text), " oncpu:100+50 runq:140+10 ", "lost on another CPU");
	is_str(res.account, "2=0 f0 n0 o1 r0 c0 l1 e1", "the sleep is given up");
	begin();
	put_switch(100, 0, 10, 1, 11);
	put_lost(0);
	put_switch(150, 0, 11, 1, 10);
	run(&o, "oncpu", &res);
	is_str(buf_str(&res.text), " ", "lost on the CPU itself");
	is_str(res.account, "2=0 f0 n0 o1 r0 c0 l1 e2", "what ran is given up");

	/* No thread has the tid -1. */
	begin();
	put_switch(100, 0, 10, 1, 11);
	put_switch(150, 0, 11, 1, UINT32_MAX);
	put_switch(190, 0, UINT32_MAX, 1, 10);
	run(&o, "oncpu", &res);
	is_str(buf_str(&res.text), " oncpu:100+50 offcpu:100+90(S) ", "a switch to -1");
	is_str(res.account, "2=1 f0 n0 o1 r0 c0 l0 e1", "is one to nothing");

	/* A recording may begin at 0, or have no times. */
	begin();
	put_switch(0, 0, 10, 1, 11);
	put_wakeup(0, 10);
	put_switch(0, 0, 11, 256, 10);
	run(&o, "offcpu", &res);
	is_str(res.account, "2=1 f0 n0 o1 r0 c0 l0 e1", "who goes off at 0 is off");
	buf_release(&res.text);
}

/* Context switches without tracepoints. */
static void test_switch_records(void)
{
	struct lat_opts o = {.kinds = "runq,oncpu,offcpu"};
	struct result res = {0};
	struct ps_switch s = {.time = 100, .pid = 5, .tid = 6};

	begin();
	swriter_put(&m.w, PS_SWITCH, 1, &s);
	s.time = 130;
	s.flags = 1 | 2;
	swriter_put(&m.w, PS_SWITCH, 1, &s);
	s.time = 150;
	s.flags = 0;
	swriter_put(&m.w, PS_SWITCH, 1, &s);
	run(&o, "offcpu", &res);
	is_str(buf_str(&res.text), " oncpu:100+30 runq:130+20 offcpu:130+20(R+) ",
	       "SWITCH records: running, preempted");
	buf_release(&res.text);
}

static void test_choice(void)
{
	static const char format[] =
		"\"%s%s\", (REC->isa == 0x1) ? __print_symbolic(REC->why & 0xff, { 1, \"A\" }) : "
		"__print_symbolic(REC->why, { 1, \"B\" }), "
		"__print_symbolic(REC->one, { 1, \"C\" })";
	static struct symbolic s, other;
	char chooser[SYMBOLIC_TEXT], name[SYMBOLIC_ALL];
	uint64_t value = 0;
	size_t n = strlen(format);

	symbolic_parse(&s, format, n, "why");
	ok(symbolic_choice(&s, format, n, "why", chooser, &value, &other) && value == 1 &&
		   !strcmp(chooser, "isa") && symbolic_text(&s, 1, name) && !strcmp(name, "A") &&
		   symbolic_text(&other, 1, name) && !strcmp(name, "B"),
	   "two lists of names, and the field that tells which");
	symbolic_parse(&s, format, n, "one");
	ok(!symbolic_choice(&s, format, n, "one", chooser, &value, &other), "one list");
	for (n = 0; n < strlen(format); n++) {
		char *cut = malloc(n + 1);

		memcpy(cut, format, n);
		symbolic_parse(&s, cut, n, "why");
		symbolic_choice(&s, cut, n, "why", chooser, &value, &other);
		free(cut);
	}
	ok(true, "cut anywhere, nothing is read after the end");
}

static void test_states(void)
{
	static const char now[] =
		"prev_state=%s%s ==> \", (REC->prev_state & ((((0x0000 | "
		"0x0001 | 0x0002 | 0x0004 | "
		"0x0040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
		"127, \"|\", { 0x0001, \"S\" "
		"}, { 0x0002, \"D\" }, { 0x0080, \"I\" }) : \"R\", "
		"REC->prev_state & (((0x0000 | 0x0001 | "
		"0x0002 | 0x0040 | 0x00bf) + 1) << 1) ? \"+\" : \"\", REC->next_comm";
	static const char old[] = "REC->prev_state & (1024-1) ? __print_flags(REC->prev_state "
				  "& (1024-1), \"|\", { 1, "
				  "\"S\"} , { 2, \"D\" }, { 128, \"K\" }) : \"R\", "
				  "REC->prev_state & 1024 ? \"+\" : \"\"";
	static const struct {
		const char *format;
		uint64_t state;
		const char *want;
		bool runnable;
	} rows[] = {
		{now, 0, "R", true},
		{now, 1, "S", false},
		{now, 2, "D", false},
		{now, 0x80, "I", false},
		{now, 0x200, "R+", true},
		{old, 0, "R", true},
		{old, 0x400, "R+", true},
		{old, 130, "D|K", false},
		{old, 0x401, "S+", true},
		{old, 0x800, "0x800", false},
		{"", 1, "S", false},
		{"", 0, "R", true},
		{"__print_flags(REC->prev_state, \"|\", { 1, \"S", 1, "S", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[TASK_STATE_TEXT];
		struct task_states t;
		bool runnable;

		task_states_parse(&t, rows[i].format, strlen(rows[i].format));
		runnable = task_state(&t, rows[i].state, text);
		is_str(text, rows[i].want, "state %#x", (unsigned)rows[i].state);
		ok(runnable == rows[i].runnable, "state %#x: runnable", (unsigned)rows[i].state);
	}
	/* Every beginning of a format is read without harm. */
	for (size_t n = 0; n < sizeof(now); n++) {
		struct task_states t;
		char *cut = malloc(n ? n : 1);

		memcpy(cut, now, n);
		task_states_parse(&t, cut, n);
		free(cut);
	}
}

int main(void)
{
	test_pairs();
	test_self();
	test_sched();
	test_switch_records();
	test_choice();
	test_states();
	return done();
}
