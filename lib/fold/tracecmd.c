/*
 * Folds stacks in the text of trace-cmd report, and of the kernel's trace file:
 *
 *	   comm-12    [003] d..2.  5.678901: sched_switch:  prev_comm=... ==> next_comm=...
 *	   comm-12    [003] d..2.  5.678905: kernel_stack:  <stack trace >
 *	=> inner (ffffffff81000000)
 *	=> outer (ffffffff81000010)
 *
 * A stack belongs to the event before it on its CPU; the stack of user space is below that of the
 * kernel. An event without a stack counts for its command alone.
 */
#include "base/array.h"
#include "fold/by.h"
#include "fold/sample_header.h"
#include "fold/readers.h"
#include "fold/tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 4096

/* The parts of the line of an event. */
struct event_line {
	const char *comm, *pid, *cpu, *event;
	size_t comm_len, pid_len, cpu_len, event_len;
};

/* The event that a stack on its CPU belongs to. */
struct pending {
	uint32_t comm; /* name id; 0: none */
	uint32_t lane;
	uint32_t by[FOLD_BY_MAX];
	struct fold_frames frames; /* leaf first */
	uint32_t kinds;		   /* stacks that it has: 1 kernel, 2 user */
};

struct reader {
	struct fold *fold;
	struct fold_about about;
	struct pending *cpus;
	uint32_t ncpus;
	uint32_t open; /* CPU + 1 whose stack is being read; 0: none */
	uint32_t kind; /* of that stack */
	struct buf name;
};

/* "COMM-PID", the first '-' from the right that a number follows, before " [CPU]" or "(TGID)". */
static bool parse(const char *p, size_t n, struct event_line *e)
{
	size_t i = fold_span(p, 0, n, FOLD_SPACE), end, at;
	const char *open;

	for (open = memchr(p, '[', n); open;
	     open = memchr(open + 1, '[', (size_t)(p + n - open - 1))) {
		at = (size_t)(open - p) + 1;
		end = fold_span(p, at, n, FOLD_DIGIT);
		if (end > at && end < n && p[end] == ']')
			break;
	}
	if (!open)
		return false;
	e->cpu = p + at;
	e->cpu_len = end - at;
	/* Back from the CPU: blanks, "(TGID)", blanks, the number. */
	for (at--; at > i && fold_is(p[at - 1], FOLD_SPACE);)
		at--;
	if (at > i && p[at - 1] == ')') {
		while (at > i && p[at - 1] != '(')
			at--;
		for (at -= at > i; at > i && fold_is(p[at - 1], FOLD_SPACE);)
			at--;
	}
	e->pid_len = at;
	while (at > i && fold_is(p[at - 1], FOLD_DIGIT))
		at--;
	e->pid_len -= at;
	e->pid = p + at;
	if (!e->pid_len || at < i + 2 || p[at - 1] != '-' || fold_is(p[at - 2], FOLD_SPACE))
		return false;
	e->comm = p + i;
	e->comm_len = at - 1 - i;
	/* After the CPU: flags, the time with its colon, the event with its own. */
	for (at = end + 1; at < n; at++) {
		size_t whole = fold_span(p, at, n, FOLD_DIGIT), part;

		part = whole < n && whole > at && p[whole] == '.'
			       ? fold_span(p, whole + 1, n, FOLD_DIGIT)
			       : whole;
		if (whole > at && part < n && p[part] == ':') {
			at = fold_span(p, part + 1, n, FOLD_SPACE);
			break;
		}
		at = whole > at ? part - 1 : at;
	}
	if (at >= n)
		return false;
	e->event = p + at;
	open = memchr(e->event, ':', n - at);
	e->event_len = open ? (size_t)(open - e->event) : 0;
	/* System calls of the kernel's trace file: "sys_read(fd: 3, ...)", "sys_read -> 0x40". */
	end = fold_span(p, at, n, FOLD_WORD);
	if (end > at &&
	    ((end < n && p[end] == '(') || (n - end > 4 && !memcmp(p + end, " -> ", 4))))
		e->event_len = end - at;
	return e->event_len || memmem(p + at, n - at, "stack trace", 11);
}

bool fold_is_preamble(const char *p, size_t n)
{
	static const char version[] = "version = ", cpus[] = "cpus=", cpu[] = "CPU ",
			  empty[] = " is empty";
	size_t i = sizeof(cpu) - 1, digits;

	if (n > sizeof(version) - 1 && !memcmp(p, version, sizeof(version) - 1))
		return fold_span(p, sizeof(version) - 1, n, FOLD_DIGIT) == n;
	if (n > sizeof(cpus) - 1 && !memcmp(p, cpus, sizeof(cpus) - 1))
		return fold_span(p, sizeof(cpus) - 1, n, FOLD_DIGIT) == n;
	if (n <= i || memcmp(p, cpu, i))
		return false;
	digits = fold_span(p, i, n, FOLD_DIGIT);
	return digits > i && n - digits == sizeof(empty) - 1 &&
	       !memcmp(p + digits, empty, sizeof(empty) - 1);
}

bool fold_is_tracecmd(const char *p, size_t n)
{
	struct event_line e;

	return parse(p, n, &e) && (e.event_len == 0 || !memchr(e.event, ' ', e.event_len));
}

static int end_event(struct reader *r, struct pending *c)
{
	uint32_t node;
	int rc;

	if (!c->comm)
		return 0;
	fold_sample(r->fold, c->lane, 1, false, c->frames.n > 0);
	rc = fold_frames_push(&c->frames, r->fold, c->comm);
	for (uint32_t i = 0; i < fold_options(r->fold)->nby && !rc; i++)
		rc = fold_frames_push(&c->frames, r->fold, c->by[i]);
	if (!rc)
		rc = fold_stack(r->fold, c->frames.names, c->frames.n, &node);
	if (!rc)
		fold_add(r->fold, node, 1);
	c->frames.n = 0;
	c->comm = 0;
	c->kinds = 0;
	return rc;
}

/* The kind of stack that an event is: 1 kernel, 2 user; 0: it is another event. */
static uint32_t stack_kind(const struct event_line *e, const char *p, size_t n)
{
	if (e->event_len == 12 && !memcmp(e->event, "kernel_stack", 12))
		return 1;
	if (e->event_len == 10 && !memcmp(e->event, "user_stack", 10))
		return 2;
	if (memmem(p, n, "<stack trace", 12))
		return 1;
	return memmem(p, n, "<user stack trace", 17) ? 2 : 0;
}

static int begin_event(struct reader *r, struct pending *c, const struct event_line *e)
{
	struct fold_by_text t = {.comm = e->comm,
				 .comm_len = e->comm_len,
				 .tid = e->pid,
				 .tid_len = e->pid_len,
				 .cpu = e->cpu,
				 .cpu_len = e->cpu_len,
				 .event = e->event,
				 .event_len = e->event_len};
	char tid[24];
	int rc = end_event(r, c);

	fold_account(r->fold)->samples++;
	c->lane = fold_event(r->fold, fold_options(r->fold)->event ? e->event : "tracepoints",
			     fold_options(r->fold)->event ? e->event_len : 11);
	if (!rc && c->lane == FOLD_LEAVE) {
		fold_account(r->fold)->filtered++;
		return 0;
	}
	if (!rc)
		fold_note(r->fold, c->lane, e->event, e->event_len, "samples", 7);
	snprintf(tid, sizeof(tid), "%.*s", (int)(e->pid_len < 20 ? e->pid_len : 20), e->pid);
	if (!rc && fold_options(r->fold)->nby)
		rc = fold_by_text(r->fold, &t, c->by);
	return rc ? rc : fold_comm(r->fold, e->comm, e->comm_len, "?", tid, &c->comm);
}

static int event_line(struct reader *r, const char *p, size_t n, const struct event_line *e)
{
	uint64_t cpu = fold_number(e->cpu, e->cpu_len);
	uint32_t kind = stack_kind(e, e->event, (size_t)(p + n - e->event));
	struct pending *v;
	const char *rest;
	int rc = 0;

	if (cpu >= CPUS_MAX)
		return 0;
	v = array_widen(r->cpus, &r->ncpus, (uint32_t)cpu, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	r->cpus = v;
	v += cpu;
	r->open = 0;
	if (!kind)
		return begin_event(r, v, e);
	/* A stack of the kind that the event has already is one of its own. */
	if (!v->comm || v->kinds & kind)
		rc = begin_event(r, v, e);
	v->kinds |= kind;
	r->kind = kind;
	r->open = v->comm ? (uint32_t)cpu + 1 : 0;
	/* trace-cmd begins a stack of user space in the line of the event. */
	rest = memmem(e->event, (size_t)(p + n - e->event), "=> ", 3);
	if (!rc && rest && r->open && kind == 2)
		return 1;
	return rc;
}

/* "=> NAME (ADDRESS)", "=> NAME+0x1/0x2", " => <00007f..>". */
static int frame_line(struct reader *r, const char *p, size_t n)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct pending *c = &r->cpus[r->open - 1];
	struct fold_symbol s = {.dso = "[unknown]", .dso_len = 9};
	const char *end;
	uint32_t id;
	int rc;

	while (n && fold_is(p[n - 1], FOLD_SPACE))
		n--;
	end = memmem(p, n, " (", 2);
	s.func = p;
	s.func_len = end ? (size_t)(end - p) : n;
	end = memmem(s.func, s.func_len, "+0x", 3);
	if (end)
		s.func_len = (size_t)(end - s.func);
	/* The end of what the kernel followed in user space. */
	if (!s.func_len || (s.func_len == 3 && !memcmp(s.func, "0x0", 3)))
		return 0;
	if (r->kind == 1) {
		s.dso = kernel;
		s.dso_len = sizeof(kernel) - 1;
	}
	/* An address that has no name. */
	if (s.func_len > 7 && (!memcmp(s.func, "0x", 2) || *s.func == '<' ||
			       fold_span(s.func, 0, s.func_len, FOLD_HEX) == s.func_len)) {
		s.pc = s.func;
		s.pc_len = s.func_len;
		s.func = "[unknown]";
		s.func_len = 9;
	}
	buf_reset(&r->name);
	fold_tidy(fold_options(r->fold), &s, &r->name);
	rc = r->name.err ? r->name.err : fold_name(r->fold, buf_str(&r->name), r->name.len, &id);
	return rc ? rc : fold_frames_push(&c->frames, r->fold, id);
}

static int tracecmd_line(struct reader *r, struct fold_lines *l, const char *p, size_t n)
{
	size_t i = fold_span(p, 0, n, FOLD_SPACE);
	struct event_line e;
	const char *arrow;
	int rc;

	if (i == n || *p == '#' || fold_is_preamble(p, n))
		return 0;
	if (n - i > 3 && !memcmp(p + i, "=> ", 3)) {
		if (r->open)
			return frame_line(r, p + i + 3, n - i - 3);
		fold_account(r->fold)->outside++;
		return 0;
	}
	if (!parse(p, n, &e)) {
		fold_lines_odd(l, p, n);
		r->open = 0;
		return 0;
	}
	rc = event_line(r, p, n, &e);
	if (rc <= 0)
		return rc;
	arrow = memmem(p, n, "=> ", 3);
	return frame_line(r, arrow + 3, n - (size_t)(arrow + 3 - p));
}

int fold_tracecmd(struct fold *f, struct fold_lines *l)
{
	struct reader r = {.fold = f};
	const char *name = src_name(l->src), *p;
	size_t n;
	int rc = fold_text_can(f, name, "trace-cmd report text", true, true);

	while (!rc && !(rc = fold_lines_next(l, &p, &n)))
		rc = tracecmd_line(&r, l, p, n);
	if (rc == PP_END)
		rc = 0;
	for (uint32_t i = 0; i < r.ncpus; i++) {
		if (!rc)
			rc = end_event(&r, &r.cpus[i]);
		free(r.cpus[i].frames.names);
	}
	free(r.cpus);
	buf_release(&r.name);
	fold_about_from(&r.about, name, strlen(name));
	return rc ? rc : fold_tell_lanes(f, &r.about, name);
}
