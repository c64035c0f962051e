/* The table of the questions: what they need of a recording, and which lines answer them. */
#include "guide/questions.h"

#include "event/glob.h"

#include <inttypes.h>

#define HZ "-F 99"

/* What a recording needs to have. */
enum {
	SAMPLED = 1, /* samples by period or frequency */
	STACKS = 2,  /* stacks of those, or of the first event */
	CGROUPS = 4,
	COUNTS = 8,
	ANY = 16, /* any sample */
};

static const struct question {
	const char *group; /* NULL: that of the one before */
	const char *id;
	const char *text;
	/* Events, all of them; '|' stands between those of which one is enough. */
	const char *events;
	unsigned needs;
	const char *file; /* the line for a recording, which stands for the '%'; NULL: none */
	const char *live; /* for this machine; NULL: none */
} questions[] = {
	{"What happens?", "overview", "all of it as one page, to pass on", "", ANY,
	 "perfpipe run overview % > page.html", "perfpipe run overview -d 10 > page.html"},
	{NULL, "now", "what runs now, updated continuously", "", 0, NULL, "perfpipe run ptop"},
	{NULL, "counts", "how much of everything, in numbers", "", COUNTS, "pdecode % | phist",
	 "pcap-perf --stat -a 5"},
	{NULL, "rates", "how often each event occurs, and in which thread", "", ANY,
	 "pdecode % | phist --by event,comm", NULL},
	{NULL, "machines", "on several machines at once, by ssh", "", 0, NULL,
	 "perfpipe run collect -d 10 HOST... > all.pstream"},
	{NULL, "events", "each event, as text", "", ANY, "pdecode -t %", NULL},

	{"Where does the CPU time go?", "cpu", "the stacks, as a flame graph", "", SAMPLED | STACKS,
	 "pdecode % | psym | pfold | psvg --html > cpu.html",
	 "pcap-perf " HZ " -ag 10 | pdecode | psym | pfold | psvg --html > cpu.html"},
	{NULL, "functions", "which functions have the most", "", SAMPLED,
	 "pdecode % | psym | preport", "pcap-perf " HZ " -ag 10 | pdecode | psym | preport"},
	{NULL, "callers", "who calls them", "", SAMPLED | STACKS,
	 "pdecode % | psym | preport --tree=callee",
	 "pcap-perf " HZ " -ag 10 | pdecode | psym | preport --tree=callee"},
	{NULL, "threads", "which threads have the most", "", SAMPLED,
	 "pdecode % | phist --by comm,tid",
	 "pcap-perf " HZ " -a 10 | pdecode | phist --by comm,tid"},
	{NULL, "containers", "which containers have the most", "", SAMPLED | CGROUPS,
	 "pdecode % | phist --by cgroup",
	 "pcap-perf " HZ " -a --record-cgroups 10 | pdecode | phist --by cgroup"},
	{NULL, "irq", "what interrupts take", "irq:irq_handler_entry irq:irq_handler_exit", 0,
	 "pdecode % | plat --kind irq", "perfpipe run hardirqs 10"},

	{"Why is it slow?", "wall", "where all time of its threads goes, as a flame graph",
	 "sched:sched_switch sched:sched_waking|sched:sched_wakeup", STACKS,
	 "pdecode % | psym | plat --emit wall | pfold | psvg --html > wall.html",
	 "perfpipe run wall 10 | psvg --html > wall.html"},
	{NULL, "path", "what to speed up so that a command ends earlier",
	 "sched:sched_switch sched:sched_waking|sched:sched_wakeup", 0,
	 "pdecode % | psym | plat --path --of process", "perfpipe run critpath -- make"},
	{NULL, "tail", "what slow requests have more of than others", "", 0, NULL,
	 "perfpipe run whyslow -b ./server -e handle_request 10"},

	{"Why does it wait?", "offcpu", "where in the code, as a flame graph", "sched:sched_switch",
	 STACKS, "pdecode % | psym | plat --emit offcpu | pfold | psvg > offcpu.svg",
	 "perfpipe run offcputime 10 | psvg > offcpu.svg"},
	{NULL, "chains", "and for whom, who waits for others in turn",
	 "sched:sched_switch sched:sched_waking|sched:sched_wakeup", STACKS,
	 "pdecode % | psym | plat --emit chain | pfold | psvg > chain.svg",
	 "perfpipe run chaintime 10 | psvg > chain.svg"},
	{NULL, "runq", "how long for a CPU",
	 "sched:sched_switch sched:sched_wakeup|sched:sched_waking", 0,
	 "pdecode % | plat --kind runq", "perfpipe run schedlat 10"},
	{NULL, "blocked", "how long asleep, or for disks and locks",
	 "sched:sched_switch sched:sched_wakeup|sched:sched_waking", 0,
	 "pdecode % | plat --kind blocked", NULL},
	{NULL, "timeline", "what ran where and when, as a timeline", "sched:sched_switch", 0,
	 "pdecode % | plat --timeline | psvg --timeline > timeline.html",
	 "pcap-perf -e 'sched:*' -a 5 | pdecode | plat --timeline | psvg --timeline > timeline.html"},
	{NULL, "disk", "for block devices", "block:block_rq_issue block:block_rq_complete", 0,
	 "pdecode % | plat --kind block-io", "perfpipe run biolatency 10"},
	{NULL, "locks", "for the kernel's locks", "lock:contention_begin lock:contention_end", 0,
	 "perfpipe run lockstat %", "perfpipe run lockstat 10"},

	{"What is called?", "calls", "system calls: how many, how long, how many failed",
	 "raw_syscalls:sys_enter|syscalls:sys_enter_* raw_syscalls:sys_exit|syscalls:sys_exit_*", 0,
	 "pdecode % | pstrace --summary", "perfpipe run syscount 10"},
	{NULL, "strace", "each system call, in order",
	 "raw_syscalls:sys_enter|syscalls:sys_enter_* raw_syscalls:sys_exit|syscalls:sys_exit_*", 0,
	 "pdecode % | pstrace", "pcap-perf --paths -- ls | pdecode | pstrace"},
	{NULL, "often", "how often functions of the kernel, or of a program, are called", "", 0,
	 NULL, "perfpipe run funccount 'vfs_*' 10"},
	{NULL, "files", "files that are opened",
	 "syscalls:sys_enter_openat syscalls:sys_exit_openat", 0, "perfpipe run opensnoop %",
	 "perfpipe run opensnoop"},
	{NULL, "spans", "how long statements, requests, commands take", "*:*__start *:*__done", 0,
	 "perfpipe run spanlat -e '*__start' -E '*__done' %",
	 "perfpipe run spanlat -b postgres -e '%postgresql:query query=arg1:string' 10"},
	{NULL, "programs", "programs that are started", "sched:sched_process_exec", 0,
	 "perfpipe run execsnoop %", "perfpipe run execsnoop"},
	{NULL, "memory", "the kernel's memory that is not freed",
	 "kmem:kmalloc|kmem:kmem_cache_alloc kmem:kfree|kmem:kmem_cache_free", 0,
	 "perfpipe run kmemleak %", "perfpipe run kmemleak 10"},
	{NULL, "held", "memory that a program holds", "*:mem_*__return *:freed_*", 0,
	 "perfpipe run memleak %", "perfpipe run memleak -p PID 10"},
	{NULL, "growth", "where a program grows",
	 "page-faults* syscalls:sys_enter_mmap syscalls:sys_enter_brk", STACKS,
	 "perfpipe run memgrowth %", "perfpipe run memgrowth -p PID 10"},

	{"What got slower?", "diff",
	 "compared with base.folded, made this way from an earlier recording", "", SAMPLED | STACKS,
	 "pdecode % | psym | pfold > new.folded; pdiff base.folded new.folded",
	 "pcap-perf " HZ " -ag 10 | pdecode | psym | pfold > base.folded"},
};

#define N_QUESTIONS (sizeof(questions) / sizeof(questions[0]))

/* ---- what a recording has ---- */

/* The samples of the events that one of the names with '|' between fits; *stacks: with a stack. */
static uint64_t samples_of(const struct facts *f, const char *names, size_t n, uint64_t *stacks)
{
	struct tally_event e;
	uint64_t all = 0;

	*stacks = 0;
	for (uint32_t i = 0; tally_event(f->tally, i, &e); i++)
		for (const char *s = names, *end = names + n; s < end;) {
			size_t len = strcspn(s, "| ");

			if (glob_match(s, len, e.name, strlen(e.name))) {
				all += e.samples;
				*stacks += e.stacks;
				break;
			}
			s += len + 1;
		}
	return all;
}

/* Those that were taken by period or frequency. */
static uint64_t samples_of_time(const struct facts *f, uint64_t *stacks)
{
	struct tally_event e;
	uint64_t all = 0;

	*stacks = 0;
	for (uint32_t i = 0; tally_event(f->tally, i, &e); i++)
		if (e.sampled) {
			all += e.samples;
			*stacks += e.stacks;
		}
	return all;
}

/* Adds one of the things that a recording lacks. */
static void lack(struct buf *b, const char *text, size_t n)
{
	if (b->len)
		buf_adds(b, ", ");
	for (size_t i = 0; i < n; i++)
		buf_adds(b, text[i] == '|' ? " or " : (char[]){text[i], 0});
}

/* Adds what a recording lacks for a question; nothing: it can be answered. */
static void lacks(const struct question *q, const struct facts *f, struct buf *b)
{
	static const struct {
		unsigned need;
		const char *text;
	} names[] = {{SAMPLED, "samples by time or period"},
		     {ANY, "samples"},
		     {STACKS, "call chains"},
		     {CGROUPS, "cgroups of samples"},
		     {COUNTS, "counts"}};
	uint64_t stacks = 0, some;
	unsigned has =
		(f->samples ? ANY : 0) | (f->cgroups ? CGROUPS : 0) | (f->counts ? COUNTS : 0);

	has |= samples_of_time(f, &stacks) ? SAMPLED : 0;
	for (const char *s = q->events; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (!samples_of(f, s, n, s == q->events ? &stacks : &some))
			lack(b, s, n);
		s += n;
	}
	has |= stacks ? STACKS : 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (q->needs & ~has & names[i].need)
			lack(b, names[i].text, strlen(names[i].text));
}

/* ---- printing ---- */

/* The file's name as a word for the shell. */
static void add_word(struct buf *b, const char *file)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/-+,:@";

	if (*file == '-')
		buf_adds(b, "./");
	if (*file && !file[strspn(file, plain)]) {
		buf_adds(b, file);
		return;
	}
	buf_addc(b, '\'');
	for (; *file; file++)
		if (*file == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, *file);
	buf_addc(b, '\'');
}

static void add_line(struct buf *b, const char *line, const char *file)
{
	struct buf word = BUF_INIT;

	add_word(&word, file);
	for (; *line; line++)
		if (*line == '%')
			buf_add_safe(b, buf_str(&word), word.len);
		else
			buf_addc(b, *line);
	buf_inherit(b, &word);
	buf_release(&word);
}

static void add_group(struct buf *b, const char *group, const char **shown)
{
	if (group != *shown)
		buf_addf(b, "\n%s\n", group);
	*shown = group;
}

void questions_print(struct buf *b)
{
	const char *group = "", *shown = "";

	for (size_t i = 0; i < N_QUESTIONS; i++) {
		const struct question *q = &questions[i];

		group = q->group ? q->group : group;
		if (!q->live)
			continue;
		add_group(b, group, &shown);
		buf_addf(b, "  %s:\n    %s\n", q->text, q->live);
	}
}

static void answer_tsv(const struct facts *f, const struct question *q, const struct buf *lack,
		       struct buf *b)
{
	buf_addf(b, "%s\t", lack->len ? "lack" : "answer");
	buf_add_safe(b, f->file, strlen(f->file));
	buf_addf(b, "\t%s\t%s\t", q->id, q->text);
	if (lack->len)
		buf_addf(b, "%s\t%s", buf_str(lack), q->live ? q->live : "");
	else
		add_line(b, q->file, f->file);
	buf_addc(b, '\n');
}

void questions_answer(const struct facts *f, bool tsv, struct buf *b)
{
	const char *group = "", *shown = "", *lacking = "";
	struct buf what = BUF_INIT, missing = BUF_INIT;

	for (size_t i = 0; i < N_QUESTIONS; i++) {
		const struct question *q = &questions[i];

		group = q->group ? q->group : group;
		if (!q->file)
			continue;
		buf_reset(&what);
		lacks(q, f, &what);
		if (tsv) {
			answer_tsv(f, q, &what, b);
		} else if (!what.len) {
			add_group(b, group, &shown);
			buf_addf(b, "  %s:\n    ", q->text);
			add_line(b, q->file, f->file);
			buf_addc(b, '\n');
		} else if (q->live) {
			add_group(&missing, group, &lacking);
			buf_addf(&missing, "  %s (no %.*s):\n    %s\n", q->text,
				 (int)strcspn(buf_str(&what), ","), buf_str(&what), q->live);
		}
	}
	if (missing.len)
		buf_addf(b, "\n---- not answered by it, but by recording this machine ----\n%s",
			 buf_str(&missing));
	buf_inherit(b, &what);
	buf_inherit(b, &missing);
	buf_release(&what);
	buf_release(&missing);
}
