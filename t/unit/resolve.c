/* The resolver, fed with streams made by hand. */
#include "resolve/resolve.h"

#include "elf_make.h"
#include "stream_make.h"

#include <unistd.h>

#define KERNEL	      ((uint64_t)-128)
#define USER	      ((uint64_t)-512)
#define GARBAGE	      ((uint64_t)-3000)
#define MODE(cpumode) ((uint32_t)(cpumode) << PS_SAMPLE_MODE_SHIFT)
#define IN_KERNEL     MODE(1)
#define IN_USER	      MODE(2)

/* ---- making ---- */

/* The kernel is another than this machine's: its addresses have no names here. */
static void begin(struct made *m)
{
	struct ps_meta meta = {.key = ps_str("osrelease", 9), .value = ps_str("0.0.1-other", 11)};

	made_begin(m);
	swriter_put(&m->w, PS_META, 1, &meta);
}

static void put_dso(struct made *m, uint32_t id, const char *path, uint32_t flags)
{
	struct ps_dso d = {.id = id, .flags = flags, .path = ps_str(path, strlen(path))};

	swriter_put(&m->w, PS_DSO, 1, &d);
}

static void put_map(struct made *m, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		    uint32_t dso)
{
	struct ps_mmap r = {
		.pid = pid, .tid = pid, .dso = dso, .addr = addr, .len = len, .pgoff = pgoff};

	swriter_put(&m->w, PS_MMAP, 1, &r);
}

static void put_chain(struct made *m, uint32_t id, uint32_t n, const uint64_t *ips)
{
	struct ps_chain c = {.id = id, .ips = {ips, n}};

	swriter_put(&m->w, PS_CHAIN, 1, &c);
}

#define CHAIN(m, id, ...) \
	put_chain(m, id, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void put_sample(struct made *m, uint32_t source, uint32_t pid, uint32_t chain, uint32_t mode)
{
	struct ps_sample s = {.event = 1,
			      .pid = pid,
			      .tid = pid,
			      .flags = mode,
			      .fields = PS_HAS(chain),
			      .chain = chain};

	swriter_sample(&m->w, source, &s);
}

static void put_ksymbol(struct made *m, uint64_t addr, uint32_t len, const char *name, bool gone)
{
	struct ps_ksymbol k = {
		.addr = addr, .len = len, .flags = gone, .name = ps_str(name, strlen(name))};

	swriter_put(&m->w, PS_KSYMBOL, 1, &k);
}

/* ---- resolving, and what came out as text ---- */

struct result {
	struct made out;
	struct buf text; /* a line for each sample */
	uint32_t stacks, frames;
	int rc;
};

static void say_frame(struct buf *b, const struct sreader *in, uint32_t id)
{
	const struct ps_frame *f = sreader_frame(in, id);
	const struct ps_dso *d = f ? sreader_dso(in, f->dso) : NULL;
	const struct ps_symbol *s = f ? sreader_symbol(in, f->symbol) : NULL;

	if (!f)
		buf_adds(b, " undefined");
	else if (s)
		buf_addf(b, " %s", s->name.p);
	else
		buf_addf(b, " %s:%" PRIx64 "!%u", d ? d->path.p : "", f->addr, f->reason);
}

static void say_stack(struct buf *b, const struct sreader *in, uint32_t id)
{
	const struct ps_stack *st = sreader_stack(in, id);

	if (!st)
		buf_adds(b, " undefined stack");
	for (uint32_t i = 0; st && i < st->frames.n; i++)
		say_frame(b, in, st->frames.v[i]);
	if (st && st->flags & PS_STACK_CUT)
		buf_adds(b, " cut");
}

/* Reads the output: each sample's stack as text, in a line. */
static void listen(struct result *r)
{
	struct sreader *in = made_reader(&r->out, SREADER_DSOS | SREADER_SYMBOLS);
	const struct ps_record *rec;
	int rc;

	while (!(rc = sreader_next(in, &rec))) {
		r->stacks += rec->type == PS_STACK;
		r->frames += rec->type == PS_FRAME;
		if (rec->type != PS_SAMPLE)
			continue;
		buf_addf(&r->text, "%d", (int)rec->sample.pid);
		if (ps_sample_has(&rec->sample, stack))
			say_stack(&r->text, in, rec->sample.stack);
		if (ps_sample_has(&rec->sample, other_stack)) {
			buf_adds(&r->text, " <-");
			say_stack(&r->text, in, rec->sample.other_stack);
		}
		if (ps_sample_has(&rec->sample, branch_stack)) {
			buf_adds(&r->text, " branches");
			say_stack(&r->text, in, rec->sample.branch_stack);
		}
		buf_addc(&r->text, '\n');
	}
	if (rc != PP_END && !r->rc)
		r->rc = rc;
	sreader_free(in);
}

static void resolve(const struct made *m, const struct resolver_opts *opts, struct result *r)
{
	struct resolver_opts o = opts ? *opts : (struct resolver_opts){0};
	struct sreader *in = made_reader(m, SREADER_EVENTS | SREADER_CHAINS);
	struct resolver *res;
	const struct ps_record *rec;

	*r = (struct result){0};
	made_begin(&r->out);
	o.search.cache = "";
	if (resolver_new(&res, &o, &r->out.w, NULL))
		abort();
	while (!(r->rc = sreader_next(in, &rec)) || rec->type == PS_END) {
		if (rec->type != PS_END)
			r->rc = resolver_record(res, in, rec);
		if (r->rc)
			break;
	}
	r->rc = r->rc == PP_END ? 0 : r->rc;
	resolver_free(res);
	sreader_free(in);
	made_end(&r->out, 0);
	listen(r);
}

static void result_free(struct result *r)
{
	made_free(&r->out);
	buf_release(&r->text);
}

/* Ends the stream, resolves it, compares, and compares again what a second psym makes of it. */
static void expect(struct made *m, const struct resolver_opts *opts, const char *want,
		   const char *what)
{
	struct result r, again;

	made_end(m, 0);
	resolve(m, opts, &r);
	is_int(r.rc, 0, "%s: resolves", what);
	is_str(buf_str(&r.text), want, "%s", what);
	resolve(&r.out, opts, &again);
	is_str(buf_str(&again.text), want, "%s: a second psym finds the same", what);
	result_free(&again);
	result_free(&r);
	made_free(m);
}

/* ---- tests ---- */

static void test_processes(void)
{
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_dso(&m, 2, "/nonexistent/b", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	put_map(&m, 11, 0x1000, 0x1000, 0x4000, 2);
	CHAIN(&m, 1, USER, 0x1010, 0x1020);
	put_sample(&m, 1, 10, 1, IN_USER);
	put_sample(&m, 1, 11, 1, IN_USER);
	put_sample(&m, 1, 10, 1, IN_USER);
	put_sample(&m, 1, 12, 1, IN_USER);
	expect(&m, NULL,
	       "10 /nonexistent/a:10!2 /nonexistent/a:20!2\n"
	       "11 /nonexistent/b:4010!2 /nonexistent/b:4020!2\n"
	       "10 /nonexistent/a:10!2 /nonexistent/a:20!2\n"
	       "12 :0!12 :0!12\n",
	       "one chain in processes with different mappings");
}

static void test_time(void)
{
	struct ps_fork f = {.pid = 11, .tid = 11, .ppid = 10, .ptid = 10};
	struct ps_comm exec = {.pid = 11, .tid = 11, .flags = PS_COMM_EXEC};
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_dso(&m, 2, "/nonexistent/b", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	CHAIN(&m, 1, USER, 0x1010, 0x3010);
	put_sample(&m, 1, 10, 1, IN_USER);
	put_map(&m, 10, 0x3000, 0x1000, 0, 1);
	put_sample(&m, 1, 10, 1, IN_USER);
	swriter_put(&m.w, PS_FORK, 1, &f);
	put_sample(&m, 1, 11, 1, IN_USER);
	put_map(&m, 11, 0x3000, 0x1000, 0, 2);
	put_sample(&m, 1, 11, 1, IN_USER);
	put_sample(&m, 1, 10, 1, IN_USER);
	swriter_put(&m.w, PS_COMM, 1, &exec);
	put_sample(&m, 1, 11, 1, IN_KERNEL);
	put_map(&m, 11, 0x1000, 0x1000, 0x2000, 2);
	put_sample(&m, 1, 11, 1, IN_USER);
	expect(&m, NULL,
	       "10 /nonexistent/a:10!2 :0!1\n"
	       "10 /nonexistent/a:10!2 /nonexistent/a:10!2\n"
	       "11 /nonexistent/a:10!2 /nonexistent/a:10!2\n"
	       "11 /nonexistent/a:10!2 /nonexistent/b:10!2\n"
	       "10 /nonexistent/a:10!2 /nonexistent/a:10!2\n"
	       "11 /nonexistent/a:10!2 /nonexistent/b:10!2\n" /* exec: not yet in the new image */
	       "11 /nonexistent/b:2010!2 :0!1\n",
	       "one chain before and after mmap, fork and exec");
}

static void test_kernel(void)
{
	struct result r;
	struct made m;

	begin(&m);
	put_ksymbol(&m, 0xffffffff81000000, 0x100, "bpf_prog_a", false);
	CHAIN(&m, 1, KERNEL, 0xffffffff81000010, 0xffffffff81000100, 0xffffffff81000101);
	for (uint32_t pid = 10; pid < 15; pid++)
		put_sample(&m, 1, pid, 1, IN_KERNEL);
	made_end(&m, 0);
	resolve(&m, NULL, &r);
	is_str(buf_str(&r.text),
	       "10 bpf_prog_a bpf_prog_a [kernel.kallsyms]:ffffffff81000101!9\n"
	       "11 bpf_prog_a bpf_prog_a [kernel.kallsyms]:ffffffff81000101!9\n"
	       "12 bpf_prog_a bpf_prog_a [kernel.kallsyms]:ffffffff81000101!9\n"
	       "13 bpf_prog_a bpf_prog_a [kernel.kallsyms]:ffffffff81000101!9\n"
	       "14 bpf_prog_a bpf_prog_a [kernel.kallsyms]:ffffffff81000101!9\n",
	       "the return address after a function's end is in it");
	is_int(r.stacks, 1, "the kernel is the same for all processes");
	is_int(r.frames, 3, "each address is resolved once");
	result_free(&r);
	made_free(&m);

	begin(&m);
	CHAIN(&m, 1, KERNEL, 0xffffffff81000010);
	put_sample(&m, 1, 10, 1, IN_KERNEL);
	put_ksymbol(&m, 0xffffffff81000000, 0x100, "one", false);
	put_sample(&m, 1, 10, 1, IN_KERNEL);
	put_ksymbol(&m, 0xffffffff81000000, 0x100, "one", true);
	put_ksymbol(&m, 0xffffffff81000000, 0x80, "two", false);
	put_sample(&m, 1, 10, 1, IN_KERNEL);
	expect(&m, NULL, "10 [kernel.kallsyms]:ffffffff81000010!9\n10 one\n10 two\n",
	       "announced symbols come and go");

	/* That module is no kernel, though its DSO says kernel (as psym itself writes it). */
	begin(&m);
	put_dso(&m, 1, "[kernel.kallsyms]", PS_DSO_KERNEL);
	put_dso(&m, 2, "[ext4]", PS_DSO_KERNEL | PS_DSO_MODULE);
	CHAIN(&m, 1, KERNEL, 0xffffffff81000010);
	put_sample(&m, 1, 10, 1, IN_KERNEL);
	expect(&m, NULL, "10 [kernel.kallsyms]:ffffffff81000010!9\n", "a module is not the kernel");
}

static void test_markers(void)
{
	static const struct resolver_opts like_perf = {.like_perf = true};
	struct made m;

	for (int perf = 0; perf < 2; perf++) {
		begin(&m);
		put_dso(&m, 1, "/nonexistent/a", 0);
		put_map(&m, 10, 0x1000, 0x1000, 0, 1);
		CHAIN(&m, 1, KERNEL, 0xffffffff81000010, USER, 0x1010, GARBAGE, 0x1020);
		CHAIN(&m, 2, 0x1010, 0xffffffff81000010);
		CHAIN(&m, 3, USER);
		put_sample(&m, 1, 10, 1, IN_KERNEL);
		put_sample(&m, 1, 10, 2, 0);
		put_sample(&m, 1, 10, 3, IN_USER);
		put_sample(&m, 1, 10, 2, IN_KERNEL);
		put_sample(&m, 1, 10, 2, IN_USER);
		expect(&m, perf ? &like_perf : NULL,
		       perf ? "10 cut\n"
			      "10 /nonexistent/a:10!2 [kernel.kallsyms]:ffffffff81000010!9\n"
			      "10\n"
			      "10 [kernel.kallsyms]:1010!9 [kernel.kallsyms]:ffffffff81000010!9\n"
			      "10 /nonexistent/a:10!2 :0!1\n"
			    : "10 [kernel.kallsyms]:ffffffff81000010!9 /nonexistent/a:10!2 cut\n"
			      "10 /nonexistent/a:10!2 [kernel.kallsyms]:ffffffff81000010!9\n"
			      "10\n"
			      "10 [kernel.kallsyms]:1010!9 [kernel.kallsyms]:ffffffff81000010!9\n"
			      "10 /nonexistent/a:10!2 :0!1\n",
		       perf ? "markers, like perf" : "markers");
	}
}

/*
 * The two ends of each branch are frames of a stack of their own, in the order in which they
 * came.
 */
/* perf shows a kernel module by its name, also where it knows the path of its file. */
static void test_modules(void)
{
	static const struct resolver_opts like_perf = {.like_perf = true};
	static const struct {
		const char *path, *shown;
	} rows[] = {
		{"/lib/modules/6.1.0/kernel/drivers/net/ethernet/broadcom/tg3.ko", "[tg3]"},
		{"/lib/modules/6.1.0/kernel/arch/x86/kvm/kvm-intel.ko.xz", "[kvm_intel]"},
		{"[ext4]", "[ext4]"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int perf = 0; perf < 2; perf++) {
			struct ps_mmap map = {.pid = PS_NONE,
					      .dso = 2,
					      .addr = 0xffffffffc0000000,
					      .len = 0x10000,
					      .flags = PS_MMAP_KERNEL};
			struct buf want = BUF_INIT;
			struct made m;

			begin(&m);
			put_dso(&m, 1, "[kernel.kallsyms]", PS_DSO_KERNEL);
			put_dso(&m, 2, rows[i].path, PS_DSO_KERNEL | PS_DSO_MODULE);
			swriter_put(&m.w, PS_MMAP, 1, &map);
			CHAIN(&m, 1, KERNEL, 0xffffffffc0000100);
			put_sample(&m, 1, 10, 1, IN_KERNEL);
			buf_addf(&want, "10 %s:ffffffffc0000100!%d\n",
				 perf ? rows[i].shown : rows[i].path, PS_REASON_NO_MODULE);
			expect(&m, perf ? &like_perf : NULL, buf_str(&want), rows[i].path);
			buf_release(&want);
		}
}

/* The field has 3 bits, of which the kernel uses the values up to 5: others say nothing. */
static void test_modes(void)
{
	struct ps_sample s = {.event = 1, .pid = 10, .tid = 10, .fields = PS_HAS(ip), .ip = 0x1030};
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	CHAIN(&m, 1, 0x1010);
	CHAIN(&m, 2, 0x9000, 0xffffffff81000010);
	for (uint32_t mode = 6; mode < 8; mode++) {
		put_sample(&m, 1, 10, 1, MODE(mode));
		put_sample(&m, 1, 10, 2, MODE(mode));
		s.flags = MODE(mode);
		swriter_sample(&m.w, 1, &s);
	}
	expect(&m, NULL,
	       "10 /nonexistent/a:10!2\n10 :0!1 [kernel.kallsyms]:ffffffff81000010!9\n"
	       "10 /nonexistent/a:30!2\n"
	       "10 /nonexistent/a:10!2\n10 :0!1 [kernel.kallsyms]:ffffffff81000010!9\n"
	       "10 /nonexistent/a:30!2\n",
	       "modes that the kernel does not define");
}

static void test_branches(void)
{
	static const uint64_t v[] = {0x1010, 0x1020, 0, 0xffffffff81000010, 0x1030, 2,
				     0x9000, 0,	     1};
	struct ps_sample s = {.event = 1,
			      .pid = 10,
			      .tid = 10,
			      .fields = PS_HAS(chain) | PS_HAS(branches),
			      .chain = 1,
			      .branches = {.n = 3, .v = v}};
	struct result r;
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	CHAIN(&m, 1, USER, 0x1040);
	swriter_sample(&m.w, 1, &s);
	s.branches.n = 0;
	swriter_sample(&m.w, 1, &s);
	made_end(&m, 0);
	resolve(&m, NULL, &r);
	is_str(buf_str(&r.text),
	       "10 /nonexistent/a:40!2 branches /nonexistent/a:10!2 /nonexistent/a:20!2 "
	       "[kernel.kallsyms]:ffffffff81000010!9 /nonexistent/a:30!2 :0!1 :0!1\n"
	       "10 /nonexistent/a:40!2\n",
	       "the ends of branches");
	result_free(&r);
	made_free(&m);
}

/* The second chain of a sample is that of another process, if the sample tells which. */
/* The branches of a sample, newest first, as the calls that it is in. */
static void test_branch_calls(void)
{
	static const uint64_t calls[] = {0x1120, 0x1200, 0, 0x1030, 0x1100, 0};
	static const char *const want[] = {
		"7 /nonexistent/a:1208!2 /nonexistent/a:1120!2 /nonexistent/a:1030!2 branches",
		"7 /nonexistent/a:1200!2 /nonexistent/a:1120!2 /nonexistent/a:1030!2 branches"};
	struct resolver_opts like_perf = {.like_perf = true};
	struct ps_event e = {.id = 1,
			     .flags = PS_EVENT_CHAINS | PS_EVENT_BRANCH_CALLS,
			     .name = ps_str("cycles", 6)};
	struct ps_sample s = {.event = 1,
			      .pid = 7,
			      .tid = 7,
			      .flags = IN_USER,
			      .fields = PS_HAS(ip) | PS_HAS(chain) | PS_HAS(branches),
			      .ip = 0x1204,
			      .chain = 1,
			      .branches = {.n = 2, .v = calls}};

	for (int i = 0; i < 2; i++) {
		struct result r;
		struct made m;

		begin(&m);
		swriter_put(&m.w, PS_EVENT, 1, &e);
		put_dso(&m, 1, "/nonexistent/a", 0);
		put_map(&m, 7, 0x1000, 0x1000, 0x1000, 1);
		CHAIN(&m, 1, USER, 0x1208);
		swriter_sample(&m.w, 1, &s);
		s.branches.n = 0;
		swriter_sample(&m.w, 1, &s);
		s.branches.n = 2;
		made_end(&m, 0);
		resolve(&m, i ? &like_perf : NULL, &r);
		/* perf begins with where the newest branch led to. */
		is_int(strncmp(buf_str(&r.text), want[i], strlen(want[i])), 0,
		       "branches that are calls become the chain%s", i ? ", as perf has it" : "");
		ok(strstr(buf_str(&r.text), "\n7 /nonexistent/a:1208!2\n"),
		   "without any the chain stays");
		result_free(&r);
		made_free(&m);
	}
}

static void test_other(void)
{
	struct ps_sample s = {.event = 1,
			      .pid = 10,
			      .tid = 10,
			      .fields = PS_HAS(chain) | PS_HAS(other_chain),
			      .chain = 1,
			      .other_chain = 1};
	struct result r;
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	put_map(&m, 11, 0x1000, 0x1000, 0x8000, 1);
	CHAIN(&m, 1, USER, 0x1010);
	swriter_sample(&m.w, 1, &s);
	s.fields |= PS_HAS(other_pid);
	s.other_pid = 11;
	swriter_sample(&m.w, 1, &s);
	s.pid = 11;
	s.other_pid = 10;
	swriter_sample(&m.w, 1, &s);
	s.other_pid = 77;
	swriter_sample(&m.w, 1, &s);
	made_end(&m, 0);
	resolve(&m, NULL, &r);
	is_str(buf_str(&r.text),
	       "10 /nonexistent/a:10!2 <- /nonexistent/a:10!2\n"
	       "10 /nonexistent/a:10!2 <- /nonexistent/a:8010!2\n"
	       "11 /nonexistent/a:8010!2 <- /nonexistent/a:10!2\n"
	       "11 /nonexistent/a:8010!2 <- :0!12\n",
	       "a second chain in another process");
	result_free(&r);
	made_free(&m);
}

/* Random chains with limits so low that ids of frames and stacks begin again many times. */
static void test_limits(void)
{
	static const struct resolver_opts low[] = {
		{.depth_max = 8, .frames_max = 16},
		{.stacks_max = 2},
		{.depth_max = 8, .frames_max = 20, .stacks_max = 3},
	};
	struct result full, r;
	uint32_t seed = 5;
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	put_map(&m, 11, 0x1000, 0x1000, 0x8000, 1);
	for (int i = 0; i < 4000; i++) {
		uint64_t ips[8] = {i % 3 ? USER : KERNEL};
		struct ps_sample s = {.event = 1, .fields = PS_HAS(chain)};
		uint32_t n;

		seed = seed * 1664525 + 1013904223;
		n = 1 + (seed >> 9) % 7;
		for (uint32_t k = 1; k <= n; k++)
			ips[k] = 0x1000 + (seed >> (k + 3)) % 24;
		/* Chain ids are defined again all the time. */
		if (i < 20 || (seed >> 20) % 2)
			put_chain(&m, 1 + (uint32_t)i % 20, n + 1, ips);
		s.pid = s.tid = 10 + (seed >> 12) % 3;
		s.chain = 1 + (seed >> 14) % (i < 20 ? (uint32_t)i + 1 : 20);
		if ((seed >> 26) % 4 == 0) {
			s.fields |= PS_HAS(other_chain);
			s.other_chain = 1 + (seed >> 7) % (i < 20 ? (uint32_t)i + 1 : 20);
		}
		if ((seed >> 28) == 3) {
			s.fields = PS_HAS(ip);
			s.ip = 0x1000 + (seed >> 5) % 64;
		}
		swriter_sample(&m.w, 1, &s);
	}
	made_end(&m, 0);
	resolve(&m, NULL, &full);
	ok(full.text.len > 4000 * 10 && !strstr(buf_str(&full.text), "undefined"),
	   "4000 random samples");
	for (size_t i = 0; i < sizeof(low) / sizeof(low[0]); i++) {
		resolve(&m, &low[i], &r);
		ok(r.frames > full.frames || r.stacks > full.stacks,
		   "limits %zu: ids begin again (%u frames for %u, %u stacks for %u)", i, r.frames,
		   full.frames, r.stacks, full.stacks);
		ok(r.text.len == full.text.len && !memcmp(r.text.data, full.text.data, r.text.len),
		   "limits %zu: every sample has the same stacks", i);
		result_free(&r);
	}
	result_free(&full);
	made_free(&m);
}

static void test_depth(void)
{
	static const struct resolver_opts low = {.depth_max = 2};
	struct made m;

	begin(&m);
	CHAIN(&m, 1, USER, 0x10, 0x20, 0x30);
	CHAIN(&m, 2, USER, 0x10, 0x20);
	put_sample(&m, 1, 9, 1, IN_USER);
	put_sample(&m, 1, 9, 2, IN_USER);
	made_end(&m, 0);
	{
		struct result r;

		resolve(&m, &low, &r);
		is_str(buf_str(&r.text), "9 :0!12 :0!12 cut\n9 :0!12 :0!12\n",
		       "a chain that is too deep is cut off and says so");
		result_free(&r);
	}
	made_free(&m);
}

static void test_sources(void)
{
	struct ps_dso d = {.id = 2, .path = ps_str("/nonexistent/b", 14)};
	struct ps_mmap map = {.pid = 10, .dso = 2, .addr = 0x1000, .len = 0x1000};
	struct made m;

	begin(&m);
	put_dso(&m, 1, "/nonexistent/a", 0);
	swriter_put(&m.w, PS_DSO, 2, &d);
	put_map(&m, 10, 0x1000, 0x1000, 0, 1);
	swriter_put(&m.w, PS_MMAP, 2, &map);
	CHAIN(&m, 1, USER, 0x1010);
	put_sample(&m, 1, 10, 1, IN_USER);
	put_sample(&m, 2, 10, 1, IN_USER);
	put_sample(&m, 3, 10, 1, IN_USER);
	put_sample(&m, 1, 10, 1, IN_USER);
	expect(&m, NULL,
	       "10 /nonexistent/a:10!2\n10 /nonexistent/b:10!2\n10 :0!12\n10 "
	       "/nonexistent/a:10!2\n",
	       "two recordings with the same pids");
}

static void test_generated(void)
{
	struct made m;

	begin(&m);
	put_dso(&m, 1, "//anon", PS_DSO_NO_FILE);
	put_dso(&m, 2, "[heap]", PS_DSO_NO_FILE);
	put_dso(&m, 3, "/memfd:x (deleted)", PS_DSO_NO_FILE);
	put_dso(&m, 4, "[uprobes]", PS_DSO_NO_FILE);
	put_map(&m, 10, 0x1000, 0x1000, 0x7000, 1);
	put_map(&m, 10, 0x2000, 0x1000, 0, 2);
	put_map(&m, 11, 0x1000, 0x1000, 0, 1);
	put_map(&m, 11, 0x3000, 0x1000, 0, 3);
	put_map(&m, 11, 0x4000, 0x1000, 0, 4);
	CHAIN(&m, 1, USER, 0x1010, 0x2010, 0x3010, 0x4010);
	put_sample(&m, 1, 10, 1, IN_USER);
	put_sample(&m, 1, 11, 1, IN_USER);
	expect(&m, NULL,
	       "10 /tmp/perf-10.map:1010!10 /tmp/perf-10.map:2010!10 :0!1 :0!1\n"
	       "11 /tmp/perf-11.map:1010!10 :0!1 /memfd:x (deleted):10!10 [uprobes]:10!11\n",
	       "mappings without a file");
}

static void test_generated_names(void)
{
	static const char *const names[] = {"[anon:v8]", "[anon_shmem:x]",
					    "/SYSV00000000 (deleted)", "/dev/zero (deleted)",
					    "/anon_hugepage (deleted)"};
	struct ps_mmap huge = {
		.pid = 12, .dso = 6, .addr = 0x6000, .len = 0x1000, .map_flags = 0x40022};
	struct made m;

	begin(&m);
	for (uint32_t i = 0; i < 5; i++) {
		put_dso(&m, i + 1, names[i], PS_DSO_NO_FILE);
		put_map(&m, 12, 0x1000 * (i + 1), 0x1000, 0, i + 1);
	}
	put_dso(&m, 6, "/dev/hugepages/x", 0);
	swriter_put(&m.w, PS_MMAP, 1, &huge);
	/* A file may have such a name. */
	put_dso(&m, 7, "/SYSV/file", 0);
	put_map(&m, 12, 0x7000, 0x1000, 0, 7);
	CHAIN(&m, 1, USER, 0x1010, 0x2010, 0x3010, 0x4010, 0x5010, 0x6010, 0x7010);
	put_sample(&m, 1, 12, 1, IN_USER);
	expect(&m, NULL,
	       "12 /tmp/perf-12.map:1010!10 /tmp/perf-12.map:2010!10 /tmp/perf-12.map:3010!10 "
	       "/tmp/perf-12.map:4010!10 /tmp/perf-12.map:5010!10 /tmp/perf-12.map:6010!10 "
	       "/SYSV/file:10!2\n",
	       "memory by names and flags of the kernel");
}

/*
 * A library with a function, one more byte, __restore_rt, and a function that only looks like it.
 */
static void make_library(char *path)
{
	static const char names[] = "\0before\0__restore_rt\0after\0__restored";
	static const uint8_t code[0x100];
	struct elf_make e = {.is64 = true, .machine = EM_X86_64, .type = ET_DYN};
	struct buf syms = BUF_INIT, file = BUF_INIT;
	int fd = mkstemp(path), i;

	elf_make_segment(&e, PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x1000);
	elf_make_section(&e, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			 sizeof(code));
	i = elf_make_section(&e, ".symtab", SHT_SYMTAB, 0, 0, NULL, 0);
	elf_make_symbol(&e, &syms, 0, 0, 0, 0, 0, 0, 0);
	elf_make_symbol(&e, &syms, 1, 0x1010, 0xf, STB_GLOBAL, STT_FUNC, 0, 1);
	elf_make_symbol(&e, &syms, 8, 0x1020, 9, STB_LOCAL, STT_FUNC, 0, 1);
	elf_make_symbol(&e, &syms, 21, 0x1029, 0x17, STB_GLOBAL, STT_FUNC, 0, 1);
	elf_make_symbol(&e, &syms, 27, 0x1040, 0x10, STB_GLOBAL, STT_FUNC, 0, 1);
	e.sections[i - 1].bytes = syms.data;
	e.sections[i - 1].len = syms.len;
	e.sections[i - 1].entsize = 24;
	e.sections[i - 1].link = 3;
	elf_make_section(&e, ".strtab", SHT_STRTAB, 0, 0, names, sizeof(names));
	elf_make_finish(&e, &file);
	if (fd < 0 || write(fd, file.data, file.len) != (ssize_t)file.len)
		abort();
	close(fd);
	buf_release(&syms);
	buf_release(&file);
}

/*
 * A handler's return address is the first byte of what it returns to. Every other return address
 * that begins a function was left by a call that does not return, at the end of the function
 * before it.
 */
static void test_signal(void)
{
	struct resolver_opts like_perf = {.like_perf = true, .trust_host = true};
	struct resolver_opts trust = {.trust_host = true};
	char path[] = "/tmp/perfpipe-resolve.XXXXXX";
	struct buf want = BUF_INIT;

	make_library(path);
	for (int perf = 0; perf < 2; perf++) {
		struct made m;

		begin(&m);
		put_dso(&m, 1, path, 0);
		put_map(&m, 10, 0x7000, 0x1000, 0, 1);
		CHAIN(&m, 1, USER, 0x7018, 0x7020, 0x7029, 0x701f, 0x7040);
		CHAIN(&m, 2, USER, 0x7020, 0x7020);
		put_sample(&m, 1, 10, 1, IN_USER);
		put_sample(&m, 1, 10, 2, IN_USER);
		buf_reset(&want);
		if (perf)
			buf_addf(&want, "10 before __restore_rt after %s:101f!%d __restored\n",
				 path, PS_REASON_NO_SYMBOL);
		else
			buf_addf(&want, "10 before __restore_rt __restore_rt before after\n");
		buf_adds(&want, "10 __restore_rt __restore_rt\n");
		expect(&m, perf ? &like_perf : &trust, buf_str(&want),
		       perf ? "signal handlers, as perf" : "signal handlers");
	}
	unlink(path);
	buf_release(&want);
}

int main(void)
{
	test_signal();
	test_processes();
	test_time();
	test_kernel();
	test_markers();
	test_modes();
	test_modules();
	test_branches();
	test_branch_calls();
	test_other();
	test_limits();
	test_depth();
	test_sources();
	test_generated();
	test_generated_names();
	return done();
}
