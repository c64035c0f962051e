/*
 * The filters as wholes: an event stream goes through psym, pfilter, pfold, phist, plat, preport or
 * the merge, and what they write through the next one. The status is one of those that are
 * documented, and a stream that comes out has all samples that went in, or its status says that
 * it has not.
 *
 * An input that does not begin as a stream is a program of a small language of which each
 * sentence makes a record: what comes out is well-formed and gets deep into the filters. Its
 * first byte says which filter. The files that symbols are looked for in are a part of the entry,
 * which needs no folder to be run from: it makes them in one of its own.
 */
#include "base/cursor.h"
#include "base/err.h"
#include "draw/picture.h"
#include "filter/filter.h"
#include "fold/fold.h"
#include "fold/inputs.h"
#include "history/history.h"
#include "input/many.h"
#include "interval/lat_run.h"
#include "report/report.h"
#include "resolve/resolve.h"
#include "select/marker.h"
#include "stream/codec.h"
#include "strace/strace.h"
#include "table/phist.h"
#include "wall/wall.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OUTPUT_MAX (8u << 20) /* bytes of a filter's output that the next one is given */
#define ADDRESS	   0x400000
#define KERNEL	   0xffffffff81000000u

/* A file in memory, and its name. */
struct file {
	int fd;
	char name[32];
};

static struct file input, second, result;
static struct diag *quiet;
static struct root *root;
static int null_fd;
static bool raw; /* the input is a stream */
static char scratch[4096], kallsyms[4200], symfs[4200], split_prefix[4200];

static void drop_line(void *ctx, const char *line, size_t len)
{
	(void)ctx, (void)line, (void)len;
}

static void make_file(struct file *f)
{
	f->fd = memfd_create("fuzz", 0);
	if (f->fd < 0)
		abort();
	snprintf(f->name, sizeof(f->name), "/proc/self/fd/%d", f->fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void remove_scratch(void)
{
	nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file of the corpus, in this program's data. */
#define EMBED(name, path) \
	extern const char name##_bytes[], name##_end[]; \
	__asm__(".pushsection .rodata\n" #name "_bytes: .incbin \"t/fuzz/corpus/" path \
		"\"\n" #name "_end: .byte 0\n.popsection")
EMBED(fuzz_x86_64, "elf/x86-64");
EMBED(fuzz_arm, "elf/arm");
EMBED(fuzz_mini, "elf/mini-debuginfo");
EMBED(fuzz_kallsyms, "kallsyms/small");

static void put_file(const char *path, const char *bytes, const char *end)
{
	size_t n = (size_t)(end - bytes);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
		abort();
}

/* A folder with what symbols are looked for in. */
static void make_scratch(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[4300];

	snprintf(scratch, sizeof(scratch), "%s/perfpipe-fuzz.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch) || atexit(remove_scratch))
		abort();
	snprintf(split_prefix, sizeof(split_prefix), "%s/x", scratch);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", scratch);
	snprintf(symfs, sizeof(symfs), "%s/elf", scratch);
	if (mkdir(symfs, 0755))
		abort();
	put_file(kallsyms, fuzz_kallsyms_bytes, fuzz_kallsyms_end);
	snprintf(path, sizeof(path), "%s/x86-64", symfs);
	put_file(path, fuzz_x86_64_bytes, fuzz_x86_64_end);
	snprintf(path, sizeof(path), "%s/arm", symfs);
	put_file(path, fuzz_arm_bytes, fuzz_arm_end);
	snprintf(path, sizeof(path), "%s/mini-debuginfo", symfs);
	put_file(path, fuzz_mini_bytes, fuzz_mini_end);
}

static void start_once(void)
{
	if (quiet)
		return;
	make_scratch();
	make_file(&input);
	make_file(&second);
	make_file(&result);
	null_fd = open("/dev/null", O_RDWR);
	if (null_fd < 0 || diag_new(&quiet, "fuzz", drop_line, NULL) ||
	    root_open(&root, symfs, quiet))
		abort();
}

static void fill(const struct file *f, const void *bytes, size_t n)
{
	if (ftruncate(f->fd, 0) || pwrite(f->fd, bytes, n, 0) != (ssize_t)n)
		abort();
}

/* ---- the language ---- */

static const char *const texts[] = {
	"sched:sched_switch",
	"sched:sched_wakeup",
	"raw_syscalls:sys_enter",
	"raw_syscalls:sys_exit",
	"cpu-clock",
	"ns",
	"bash",
	"kworker/0:1",
	"",
	"/x86-64",
	"/arm",
	"//anon",
	"[vdso]",
	"[kernel.kallsyms]_text",
	"[ext4]",
	"/memfd:jit",
	"arch",
	"kernel_symbol",
	"6.1.0",
	"mono",
	"_ZN3foo3barEv",
	"ffffffff81000000 T _text\nffffffff81001000 t some\nffffffff81002000 T other\n",
	"a;b\n\"<&>\"\xff\x9b"};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

struct maker {
	struct cursor c;
	struct swriter w;
	uint64_t numbers[16];
	uint32_t words[16];
	uint8_t payload[64];
	uint64_t time;
};

/* Mostly small; some far away. */
static uint64_t number(struct maker *m)
{
	uint8_t b = get_u8(&m->c);

	switch (b >> 5) {
	case 7: return b & 16 ? UINT64_MAX - (b & 15) : UINT64_C(1) << (2 * (b & 15) + 16);
	case 6: return KERNEL + 0x400 * (uint64_t)(b & 31);
	case 5: return ADDRESS + 0x400 * (uint64_t)(b & 31);
	case 4: return 4096 * (uint64_t)(b & 31);
	default: return b & 7;
	}
}

static struct ps_str text(struct maker *m)
{
	const char *s = texts[get_u8(&m->c) % TEXTS];

	return ps_str(s, strlen(s));
}

/* A call chain of CHAIN, or the words of STACK: they have to be ids. */
static void array(struct maker *m, uint32_t *n)
{
	*n = get_u8(&m->c) & 15;
	for (uint32_t i = 0; i < *n; i++) {
		m->numbers[i] = number(m);
		m->words[i] = (uint32_t)m->numbers[i];
	}
}

static void any_record(struct maker *m, uint32_t type)
{
	const struct ps_typedesc *t = ps_typedesc(type);
	struct ps_record rec;
	uint8_t *base = (uint8_t *)&rec.sample;

	memset(&rec, 0, sizeof(rec));
	for (unsigned i = 0; i < t->nfields; i++) {
		void *at = base + t->fields[i].offset;
		uint32_t n;

		switch (t->fields[i].kind) {
		case PS_KIND_u32: *(uint32_t *)at = (uint32_t)number(m); break;
		case PS_KIND_u64: *(uint64_t *)at = number(m); break;
		case PS_KIND_str: *(struct ps_str *)at = text(m); break;
		case PS_KIND_u32s:
			array(m, &n);
			*(struct ps_u32s *)at = (struct ps_u32s){m->words, n};
			break;
		case PS_KIND_u64s:
			array(m, &n);
			*(struct ps_u64s *)at = (struct ps_u64s){m->numbers, n};
			break;
		}
	}
	swriter_put(&m->w, (enum ps_type)type, 1 + (type == PS_SOURCE && get_u8(&m->c) > 200),
		    base);
}

/*
 * Events 1 to 4 have fields that suit the built-in pairs: prev_pid and so on, at the same places.
 */
static void event(struct maker *m, uint32_t id, const char *name, const char *const fields[4])
{
	struct ps_event e = {.id = id, .perf_type = 2, .config = id};
	struct buf table = BUF_INIT;

	for (uint32_t i = 0; i < 4; i++) {
		struct ps_event_field f = {.offset = 8 * i, .size = 8, .element = 8};

		if (strstr(fields[i], "comm")) {
			f.flags = PS_FIELD_ARRAY | PS_FIELD_STRING;
			f.element = 1;
		}
		f.name = ps_str(fields[i], strlen(fields[i]));
		f.type = ps_str("long", 4);
		ps_event_field_add(&table, &f);
	}
	e.name = ps_str(name, strlen(name));
	e.fields = ps_str((const char *)table.data, table.len);
	swriter_put(&m->w, PS_EVENT, 1, &e);
	buf_release(&table);
}

static void sample(struct maker *m, uint8_t what)
{
	struct ps_sample s = {.event = 1 + what % 6, .cpu = what >> 4 & 3};

	m->time += get_u8(&m->c) * 1000;
	s.time = m->time;
	s.pid = s.tid = get_u8(&m->c) & 7;
	s.comm = (uint32_t)number(m);
	s.flags = get_u8(&m->c) & 0x7f;
	s.fields = get_u32(&m->c) & 0x3f3fffff;
	for (size_t i = 0; i < sizeof(m->payload); i++)
		m->payload[i] = i % 8 ? 0 : (uint8_t)number(m);
	array(m, &s.branch_counters.n);
	s.ip = number(m);
	s.period = number(m);
	s.chain = (uint32_t)number(m);
	s.stack = (uint32_t)number(m);
	s.other_stack = s.stack / 2;
	s.other_chain = s.chain / 2;
	s.end_time = m->time + number(m);
	s.payload = ps_str((const char *)m->payload, get_u8(&m->c) & 63);
	s.user_stack = s.payload;
	s.key_text = text(m);
	s.branch_counters.v = s.reads.v = m->numbers;
	s.reads.n = s.branch_counters.n;
	s.branches = (struct ps_branches){.n = s.reads.n / 3, .v = m->numbers};
	s.user_regs = s.intr_regs = (struct ps_regs){1, 0xff, m->numbers};
	swriter_sample(&m->w, 1, &s);
}

/* Which types a byte stands for. */
static const uint8_t types[] = {PS_STRING, PS_SOURCE, PS_META,	 PS_EVENT,	PS_DSO,	 PS_MMAP,
				PS_COMM,   PS_FORK,   PS_EXIT,	 PS_KSYMBOL,	PS_MMAP, PS_CHAIN,
				PS_SYMBOL, PS_FRAME,  PS_STACK,	 PS_SRCFILE,	PS_BLOB, PS_LOST,
				PS_SWITCH, PS_CGROUP, PS_HEADER, PS_NAMESPACES, PS_BPF,	 PS_OTHER};

/* Each process has a program, generated code and the kernel, where number() finds them. */
static void mappings(struct maker *m)
{
	static const char *const paths[] = {"/x86-64", "/mini-debuginfo", "//anon",
					    "[kernel.kallsyms]_text"};

	for (uint32_t i = 0; i < 4; i++) {
		struct ps_dso dso = {.id = i + 1,
				     .flags = i == 3   ? PS_DSO_KERNEL
					      : i == 2 ? PS_DSO_NO_FILE
						       : 0,
				     .path = ps_str(paths[i], strlen(paths[i]))};

		swriter_put(&m->w, PS_DSO, 1, &dso);
	}
	for (uint32_t pid = 0; pid < 6; pid++) {
		struct ps_mmap map = {.dso = 1 + pid % 3, .addr = ADDRESS, .len = 0x8000};

		map.pid = map.tid = pid;
		swriter_put(&m->w, PS_MMAP, 1, &map);
	}
}

static void prelude(struct maker *m)
{
	static const char *const fields[][4] = {
		{"prev_pid", "prev_state", "next_pid", "next_prio"},
		{"pid", "prio", "target_cpu", "comm"},
		{"id", "args", "nr", "ret"},
		{"call_site", "ptr", "bytes_req", "bytes_alloc"},
	};
	static const char *const names[] = {"sched:sched_switch", "sched:sched_wakeup",
					    "raw_syscalls:sys_enter", "kmem:kmalloc"};
	struct ps_source source = {.kind = 1, .long_bits = 64, .name = ps_str("x", 1)};
	/* Not of this machine, whose kernel has many symbols. */
	struct ps_meta release = {ps_str("osrelease", 9), ps_str("6.1.0", 5)};
	struct ps_meta host = {ps_str("hostname", 8), ps_str("elsewhere", 9)};

	swriter_header(&m->w);
	swriter_put(&m->w, PS_SOURCE, 1, &source);
	swriter_put(&m->w, PS_META, 1, &release);
	swriter_put(&m->w, PS_META, 1, &host);
	for (uint32_t i = 0; i < 4; i++)
		event(m, i + 1, names[i], fields[i]);
	mappings(m);
}

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

static void make_stream(const uint8_t *data, size_t size, struct buf *stream)
{
	struct maker m = {.c = cursor_make(data, size, false)};
	struct ps_end end = {0};
	struct out out;

	if (out_init_fn(&out, collect, stream))
		abort();
	swriter_init(&m.w, &out);
	prelude(&m);
	while (cursor_left(&m.c)) {
		uint8_t what = get_u8(&m.c);

		if (what & 0x80)
			sample(&m, what & 0x7f);
		else if (types[what % sizeof(types)] == PS_HEADER)
			prelude(&m);
		else
			any_record(&m, types[what % sizeof(types)]);
	}
	swriter_end(&m.w, &end);
	out_flush(&out);
	out_release(&out);
}

/* ---- the filters ---- */

/* Samples of a stream, and its status. */
static uint64_t count(const struct file *f, int *status)
{
	const struct ps_record *rec;
	struct sreader *r;
	struct src *s;
	uint64_t n = 0;
	int rc;

	*status = PP_EXIT_FAIL;
	if (src_open(&s, f->name, quiet) || sreader_new(&r, s, 0, quiet))
		return 0;
	while (!(rc = sreader_next(r, &rec)))
		n += rec->type == PS_SAMPLE;
	*status = sreader_status(r, rc);
	sreader_free(r);
	return n;
}

static int psym(char **files, int n, const struct resolver_opts *o)
{
	const struct root *roots[] = {root};
	struct resolver_opts opts = *o;
	struct ssink_opts form = {.form = SSINK_BINARY};
	char *argv[] = {(char *)"psym", NULL};
	struct filter f = {.name = "psym",
			   .argc = 1,
			   .argv = argv,
			   .record = (int (*)(void *, const struct sreader *,
					      const struct ps_record *))resolver_record,
			   .keep = SREADER_CHAINS | SREADER_SYMBOLS};
	struct ps_end end = {0};
	struct resolver *r;
	struct ssink sink;
	struct buf table = BUF_INIT;
	uint32_t rows;
	int status;

	opts.search.symfs = (void *)roots;
	opts.search.n_symfs = 1;
	if (ssink_open(&sink, STDOUT_FILENO, &form, quiet) ||
	    resolver_new(&r, &opts, &sink.w, quiet))
		abort();
	f.ctx = r;
	filter_run(&f, files, n, &sink, quiet, &end);
	status = ssink_close(&sink, &end, quiet);
	if (opts.missing && resolver_missing(r, &table, &rows))
		abort();
	buf_release(&table);
	resolver_free(r);
	return status;
}

static int pfilter(char **files, int n, int variant)
{
	static const char *const exprs[] = {
		"pid > 2 && prev_state == 0", "stack =~ \"a\" || comm == \"bash\"",
		"next_pid in {1, 2, 3} && cpu < 2", "event =~ \"sched.*\""};
	char *argv[] = {(char *)"pfilter", NULL};
	struct marker m = {.argc = 1, .argv = argv, .out = {.form = SSINK_BINARY}};
	struct select_opts o = SELECT_OPTS_INIT;
	struct buf why = BUF_INIT;
	int rc = select_add(&o, exprs[variant & 3], &why), status = PP_EXIT_USAGE;

	if (variant & 4)
		rc = rc ? rc : select_slice(&o, SELECT_CPU, "0,2", &why);
	if (variant & 8)
		rc = rc ? rc : spans_parse(&o.times, "10%/2", &why);
	if (variant & 16)
		o.first = 2;
	o.lenient = variant & 32;
	if (variant & 64) {
		m.split.prefix = split_prefix;
		m.split.samples = 3;
	}
	rc = rc ? rc : select_new(&m.select, &o, &why);
	if (!rc)
		status = marker_run(&m, files, n, false, quiet);
	select_free(m.select);
	select_opts_release(&o);
	buf_release(&why);
	return status;
}

static int pfold(char **files, int n, const struct fold_opts *o)
{
	struct fold *f;
	struct out out;
	int status;

	if (fold_new(&f, o, quiet))
		abort();
	status = fold_files(f, files, n, quiet);
	fold_finish(f);
	if (out_init(&out, STDOUT_FILENO) || fold_write(f, &out) || out_flush(&out))
		abort();
	out_release(&out);
	fold_describe(f, quiet);
	fold_free(f);
	return status;
}

static int phist(char **files, int n, const struct phist_opts *o)
{
	struct table_opts out = {0};
	struct phist *p;
	int rc = phist_new(&p, o, quiet), status;

	if (rc)
		return PP_EXIT_USAGE;
	status = phist_print(p, phist_files(p, files, n), &out);
	phist_describe(p);
	phist_free(p);
	return status;
}

static int merge(char **files, int n)
{
	struct input_many many = {.names = files, .n = n};
	struct ssink_opts form = {.form = SSINK_BINARY};
	struct ps_end end = {0};
	struct ssink sink;

	if (ssink_open(&sink, STDOUT_FILENO, &form, quiet))
		abort();
	swriter_header(&sink.w);
	input_many(&many, &sink.w, quiet, &end);
	return ssink_close(&sink, &end, quiet);
}

/* The wall clock of plat: all threads, or the paths of spans. */
static int wall(char **files, int n, int variant)
{
	static const enum wall_form forms[] = {WALL_EMIT, WALL_EMIT_CHAIN, WALL_EMIT_PATH,
					       WALL_PATH, WALL_TAIL};
	char *argv[] = {(char *)"plat", NULL};
	const struct table_opts table = {.form = TABLE_FORM_TSV};
	const struct lat_opts spans = {0};
	const struct wall_opts o = {.form = forms[variant % 5],
				    .idle = variant & 8,
				    .tail = 50,
				    .folded = variant & 16,
				    .slowest = variant & 32,
				    .stacks = variant & 8,
				    .of = variant & 16 ? "blocked,runq" : "process",
				    .spans = &spans,
				    .table = &table,
				    .sink = {.form = SSINK_BINARY},
				    .argc = 1,
				    .argv = argv};

	return wall_run(&o, files, n, quiet);
}

static int plat(char **files, int n, int variant)
{
	char *argv[] = {(char *)"plat", NULL};
	struct plat_opts o = {.argc = 1, .argv = argv, .sink = {.form = SSINK_BINARY}};

	if (variant & 128)
		return wall(files, n, variant & 127);
	if (variant & 64) {
		const struct history_opts h = {.form = variant & 1 ? HISTORY_MAP : HISTORY_TIMES,
					       .wakeups = variant & 2,
					       .migrations = variant & 2,
					       .cpus = variant & 4,
					       .next = variant & 4,
					       .state = variant & 8,
					       .idle = variant & 16,
					       .compact = variant & 2,
					       .summary = (enum history_summary)(variant >> 3 & 1)};

		return history_run(&h, files, n, STDOUT_FILENO, quiet);
	}
	switch (variant % 4) {
	case 0: o.emit = "runq,oncpu,offcpu,syscall,slab"; break;
	case 1:
		o.list = true;
		o.lat.stacks = true;
		break;
	case 2:
		o.lat.by = "comm,stack,waker";
		o.lat.unmatched = true;
		o.lat.threads = true;
		break;
	default: o.stats = true;
	}
	return plat_run(&o, files, n, quiet);
}

static int preport(char **files, int n, int variant)
{
	struct report_opts o = REPORT_OPTS_INIT;
	struct report *r;
	int status;

	o.by = variant & 8 ? "tid, sym, srcline" : NULL;
	o.form = (enum table_form)(variant & 3);
	o.tree = (enum report_tree)(variant % 5 % 3);
	o.addrs = o.count = o.ascii = variant & 16;
	o.no_children = o.of_parent = variant & 32;
	o.min_share = variant & 4 ? 0 : -1;
	if (variant & 64) {
		o.function = variant & 2 ? "*" : "*o*";
		o.tree = REPORT_NO_TREE;
		o.annotate = true;
		o.symfs[o.n_symfs++] = symfs;
		o.form = variant & 1 ? TABLE_FORM_HTML : TABLE_FORM_TSV;
	}
	if (report_new(&r, &o, quiet))
		abort();
	status = report_print(r, report_files(r, files, n), dup(STDOUT_FILENO));
	report_describe(r);
	report_free(r);
	return status;
}

static int pstrace(char **files, int n, int variant)
{
	struct strace_opts o = {.calls = variant & 4 ? "!open*,net" : NULL,
				.failed = variant & 8,
				.summary = variant & 16,
				.by_thread = variant & 32,
				.raw = variant & 64,
				.form = (enum strace_form)(variant % 4),
				.abis = {"32:1*"},
				.nabis = variant & 8 ? 1 : 0};
	struct strace *s;
	int status;

	if (strace_new(&s, &o, dup(STDOUT_FILENO), quiet))
		abort();
	status = strace_close(s, strace_files(s, files, n));
	strace_describe(s);
	strace_free(s);
	return status;
}

static int draw(char **files, int n)
{
	struct picture_opts o = PICTURE_OPTS_INIT;
	struct picture *p;
	int rc = picture_new(&p, false, quiet);

	for (int i = 0; i < n && !rc; i++)
		rc = picture_read(p, files[i]);
	rc = rc ? PP_EXIT_FAIL : picture_print(p, &o, dup(STDOUT_FILENO), true);
	picture_free(p);
	return rc;
}

/* What is run, and whether all samples have to come out. */
static int run(int which, int variant, char **files, int n, bool *all)
{
	struct phist_opts by = {.by = "event,comm,stack,pid", .window = variant & 1 ? 100000 : 0};
	struct phist_opts values = {.fields = "period,prev_state,bytes_req", .by = "call_site"};
	struct resolver_opts symbols = {.kallsyms = variant & 16 || raw ? kallsyms : NULL,
					.missing = variant & 1,
					.inlines = variant & 2,
					.srcline = variant & 2,
					.like_perf = variant & 4,
					.frames_max = variant & 8 ? 16 : 0,
					.stacks_max = variant & 8 ? 4 : 0};
	struct fold_opts fold = {.pid = variant & 1,
				 .kernel = variant & 2,
				 .jit = variant & 2,
				 .addrs = variant & 4,
				 .second = (enum fold_second)(variant >> 3 & 1)};

	switch (which) {
	case 0: *all = true; return psym(files, n, &symbols);
	case 1: *all = !(variant & 64); return pfilter(files, n, variant & ~16);
	case 2: return pfold(files, n, &fold);
	case 3: return phist(files, n, variant & 2 ? &values : &by);
	case 4: return plat(files, n, variant);
	case 5: *all = true; return merge(files, n);
	case 7: return preport(files, n, variant);
	case 8: return pstrace(files, n, variant);
	default: return draw(files, n);
	}
}

/* Runs a filter with its output in `to`: the status. */
static int run_to(int fd, int which, int variant, char **files, int n, bool *all)
{
	int kept = dup(STDOUT_FILENO), status;

	if (kept < 0 || dup2(fd, STDOUT_FILENO) < 0)
		abort();
	status = run(which, variant, files, n, all);
	if (dup2(kept, STDOUT_FILENO) < 0)
		abort();
	close(kept);
	if ((status < 0 || status > PP_EXIT_FAIL) && status != PP_EXIT_USAGE)
		abort();
	return status;
}

/* The samples that went in came out, or the status says that they did not. */
static void check_all(char **files, int n, int status)
{
	uint64_t in = 0;
	int in_status;

	for (int i = 0; i < n; i++)
		in += count(files[i] == input.name ? &input : &second, &in_status);
	if (count(&result, &in_status) != in && !status)
		abort();
	if (in_status > status)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t next[] = {2, 4, 7, 6, 3, 8, 6, 6, 6};
	char *names[2] = {input.name, second.name}, *made[1] = {result.name};
	uint8_t which = size ? data[0] : 0, variant = size > 1 ? data[1] : 0;
	struct buf stream = BUF_INIT;
	bool all = false, ignored;
	off_t written;
	int status, n = 1;

	start_once();
	raw = size >= 8 && !memcmp(data, "PPSTREAM", 8);
	if (raw) {
		buf_add(&stream, data, size);
		variant = 0;
		for (size_t i = 8; i < size; i++)
			variant = (uint8_t)(variant * 31 + data[i]);
		which = variant >> 3;
	} else if (size > 2) {
		make_stream(data + 2, size - 2, &stream);
	}
	which %= 9;
	fill(&input, stream.data, stream.len);
	if (which == 5 || variant & 0x80) {
		fill(&second, stream.data, variant & 0x40 ? stream.len : stream.len / 2);
		n = 2;
	}
	if (ftruncate(result.fd, 0) || lseek(result.fd, 0, SEEK_SET))
		abort();
	status = run_to(result.fd, which, variant, names, n, &all);
	if (all && status != PP_EXIT_USAGE)
		check_all(names, n, status);
	written = lseek(result.fd, 0, SEEK_END);
	if (written > 0 && written < OUTPUT_MAX)
		run_to(null_fd, next[which], variant, made, 1, &ignored);
	buf_release(&stream);
	return 0;
}
