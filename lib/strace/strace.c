/* A trace from its input to its end: threads, their calls, when these are written. */
#include "strace/strace.h"

#include "base/array.h"
#include "base/each_input.h"
#include "base/out_end.h"
#include "strace/parts.h"
#include "stream/read_input.h"

#include <inttypes.h>
#include <stdlib.h>

int strace_new(struct strace **out, const struct strace_opts *o, int fd, struct diag *d)
{
	struct strace *s = calloc(1, sizeof(*s));
	int rc = s ? out_init(&s->out, fd) : PP_ENOMEM;

	*out = s;
	if (rc) {
		free(s);
		*out = NULL;
		return rc;
	}
	s->o = *o;
	s->d = d;
	tables_init(&s->tables);
	s->lean = o->summary && !o->by_thread;
	rc = o->summary ? strace_make_table(s) : 0;
	if (rc) {
		out_release(&s->out);
		strace_free(s);
		*out = NULL;
	}
	return rc;
}

void strace_free(struct strace *s)
{
	if (!s)
		return;
	buf_release(&s->b);
	intern_release(&s->texts);
	free(s->events);
	free(s->calls);
	free(s->threads);
	map64_release(&s->by_tid);
	map64_release(&s->files);
	map64_release(&s->names);
	map64_release(&s->narrow);
	map64_release(&s->wanted);
	tables_release(&s->tables);
	gates_free(s->gates);
	free(s);
}

uint64_t strace_lost(const struct strace *s)
{
	return s->account.lost;
}

/* ---- calls ---- */

static int new_thread(struct strace *s, uint32_t tid)
{
	uint32_t *slot = map64_put(&s->by_tid, tid, NULL);
	struct thread *v;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		v = array_widen(s->threads, &s->cap_threads, s->nthreads, 64, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		s->threads = v;
		v[s->nthreads++] = (struct thread){.tid = tid};
		*slot = s->nthreads;
	}
	s->last = *slot;
	return 0;
}

/* The thread of a sample; mostly it is that of the last one. */
static inline int thread_of(struct strace *s, const struct ps_sample *p, struct thread **t)
{
	int rc = 0;

	if (!s->last || s->threads[s->last - 1].tid != p->tid)
		rc = new_thread(s, p->tid);
	if (rc)
		return rc;
	*t = &s->threads[s->last - 1];
	(*t)->pid = p->pid;
	return 0;
}

/* Its name, as the sample has it; a table without threads has no use for it. */
static inline int name_thread(struct strace *s, const struct sreader *r, const struct ps_sample *p,
			      struct thread *t)
{
	size_t len = 5;
	const char *text;

	if (s->lean || (t->comm && t->string == p->comm))
		return 0;
	text = p->comm ? sreader_string(r, p->comm, &len) : NULL;
	t->string = p->comm;
	return intern_add(&s->texts, text ? text : "<...>", text ? len : 5, &t->comm, NULL);
}

#define RESTART_BLOCK 516 /* ERESTART_RESTARTBLOCK of the kernel: restart_syscall goes on with it */

/* What is told from now on is for the next call. */
static void end_call(struct thread *t)
{
	t->call = t->sockaddr = 0;
	memset(t->path, 0, sizeof(t->path));
	t->split = false;
}

/* A call that did not end, as far as the recording tells. */
static int give_up(struct strace *s, struct thread *t)
{
	struct call c = {.t = t, .name = t->call, .start = t->start, .begun = true};
	int rc = 0;

	s->account.unended++;
	if (t->mark == PS_MARK_PASS)
		rc = strace_write(s, &c);
	else
		s->account.unpassed++;
	end_call(t);
	return rc;
}

static inline bool is_of(struct strace *s, uint32_t name, enum call_what what)
{
	const struct known_call *k = strace_known(s, name);

	return k && k->what & what;
}

/* The arguments of a call that begins; a table has no use for them. */
static void take_args(struct thread *t, const struct ps_sample *p, const struct known_event *k)
{
	t->nargs = k->nargs;
	if (k->together && ps_sample_has(p, payload) && k->arg[0].offset <= p->payload.len &&
	    p->payload.len - k->arg[0].offset >= sizeof(t->arg)) {
		memcpy(t->arg, p->payload.p + k->arg[0].offset, sizeof(t->arg));
		return;
	}
	for (uint32_t i = 0; i < k->nargs; i++)
		t->arg[i] = strace_number(p, k->arg[i].offset, k->arg[i].size);
}

/* The name of the call that a sample of raw_syscalls, or of one call, is about. */
static inline int name_call(struct strace *s, const struct ps_sample *p,
			    const struct known_event *k, struct thread *t, uint32_t *name)
{
	int rc = 0;

	*name = k->call;
	if (k->call)
		return 0;
	if (s->narrow.n || s->o.nabis || ps_sample_has(p, user_regs))
		rc = strace_abi_of(s, p, t);
	else
		t->narrow = false;
	return rc ? rc : strace_call_name(s, t->narrow, strace_number(p, k->nr, k->nr_size), name);
}

static int on_enter(struct strace *s, const struct sreader *r, const struct ps_sample *p,
		    const struct known_event *k)
{
	struct thread *t;
	int rc = thread_of(s, p, &t);

	if (rc)
		return rc;
	if (t->call)
		rc = give_up(s, t);
	if (!rc)
		rc = name_thread(s, r, p, t);
	if (!rc)
		rc = name_call(s, p, k, t, &t->call);
	if (rc)
		return rc;
	t->start = p->time;
	t->mark = (enum ps_mark)(p->flags & PS_MARK_MASK);
	t->event = p->event;
	if (!s->lean)
		take_args(t, p, k);
	if (k->extra && !s->lean)
		rc = strace_told_by_bpf(s, t, p, k);
	if (rc)
		return rc;
	if (s->o.form == STRACE_LINES)
		strace_line_begin(s, t);
	return is_of(s, t->call, WHAT_ENDS) ? give_up(s, t) : 0;
}

static int on_exit_of(struct strace *s, const struct sreader *r, const struct ps_sample *p,
		      const struct known_event *k)
{
	enum ps_mark mark = (enum ps_mark)(p->flags & PS_MARK_MASK);
	struct call c = {.ended = true, .end = p->time};
	struct thread *t;
	bool closes;
	int rc = thread_of(s, p, &t);

	if (rc)
		return rc;
	c.t = t;
	c.ret = (int64_t)strace_number(p, k->ret, k->ret_size);
	if (k->ret_size == 4)
		c.ret = (int32_t)c.ret;
	rc = name_call(s, p, k, t, &c.name);
	/* The end of a signal handler has no number. */
	c.begun = t->call &&
		  (t->call == c.name || (k->meaning == MEANING_RAW_EXIT &&
					 strace_number(p, k->nr, k->nr_size) == UINT64_MAX));
	if (rc)
		return rc;
	if (c.begun)
		c.name = t->call;
	else if (t->call)
		rc = give_up(s, t);
	s->account.unbegun += !c.begun;
	c.start = c.begun && t->start <= p->time ? t->start : p->time;
	rc = rc ? rc : name_thread(s, r, p, t);
	/* What is closed has its path in its line yet; what is opened has it already. */
	closes = !s->lean && is_of(s, c.name, WHAT_CLOSES);
	if (!rc && !closes && !s->lean)
		rc = strace_files_after(s, &c);
	if (c.begun ? t->mark == PS_MARK_PASS || (t->mark == PS_MARK_NA && mark == PS_MARK_PASS)
		    : mark == PS_MARK_PASS)
		rc = rc ? rc : strace_write(s, &c);
	else
		s->account.unpassed++;
	if (!rc && closes)
		rc = strace_files_after(s, &c);
	t->interrupted = c.ret == -RESTART_BLOCK ? c.name : 0;
	end_call(t);
	return rc;
}

/* What a probe tells belongs to the call that the thread is in, or to its next one. */
static int on_told(struct strace *s, const struct ps_sample *p, const struct known_event *k)
{
	struct thread *t;
	int rc = s->lean ? 0 : thread_of(s, p, &t);

	s->told = true;
	return rc || s->lean ? rc : strace_told_by_probe(s, t, p, k);
}

static int on_sample(struct strace *s, const struct sreader *r, const struct ps_sample *p)
{
	const struct known_event *k = p->event < s->nevents ? &s->events[p->event] : NULL;

	s->account.samples++;
	if (!s->based && !(p->flags & PS_SAMPLE_NO_TIME)) {
		s->base = p->time;
		s->based = true;
	}
	if (!k || p->tid == PS_NONE)
		return 0;
	if (p->time < s->base)
		s->base = p->time;
	switch (k->meaning) {
	case MEANING_RAW_ENTER:
	case MEANING_ENTER: return on_enter(s, r, p, k);
	case MEANING_RAW_EXIT:
	case MEANING_EXIT: return on_exit_of(s, r, p, k);
	case MEANING_TOLD: return on_told(s, p, k);
	default: return 0;
	}
}

/* ---- input ---- */

static int all_unended(struct strace *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->nthreads && !rc; i++)
		if (s->threads[i].call)
			rc = give_up(s, &s->threads[i]);
	return rc;
}

static int forget(struct strace *s)
{
	const char *arch = s->o.arch ? s->o.arch : "x86_64";
	int rc = all_unended(s);

	if (s->nevents)
		memset(s->events, 0, s->nevents * sizeof(*s->events));
	map64_clear(&s->by_tid);
	map64_clear(&s->files);
	map64_clear(&s->narrow);
	s->nthreads = s->last = s->begun_line = 0;
	strace_set_arch(s, arch, strlen(arch));
	return rc;
}

static int on_thread_end(struct strace *s, uint32_t pid, uint32_t tid)
{
	uint32_t *slot = map64_get(&s->by_tid, tid);

	if (pid == tid)
		strace_abi_exit(s, pid);
	return slot && s->threads[*slot - 1].call ? give_up(s, &s->threads[*slot - 1]) : 0;
}

static int see(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct strace *s = ctx;
	const struct ps_meta *m = &rec->meta;
	int rc;

	switch (rec->type) {
	case PS_SAMPLE: return on_sample(s, r, &rec->sample);
	case PS_HEADER: return forget(s);
	case PS_EVENT: return strace_event(s, &rec->event);
	case PS_MMAP: return strace_abi_mmap(s, r, &rec->mmap);
	case PS_FORK:
		rc = strace_abi_fork(s, rec->fork.pid, rec->fork.ppid);
		return rc ? rc : strace_files_fork(s, rec->fork.pid, rec->fork.ppid);
	case PS_EXIT: return on_thread_end(s, rec->exit.pid, rec->exit.tid);
	case PS_META:
		if (!s->o.arch && m->key.len == 4 && !memcmp(m->key.p, "arch", 4))
			strace_set_arch(s, m->value.p, m->value.len);
		return 0;
	default: return 0;
	}
}

/* A src_pause_fn: what there is goes out. What fails is found at the next write. */
static int on_pause(void *ctx)
{
	struct strace *s = ctx;

	if (!s->b.err && !out_add(&s->out, s->b.data, s->b.len)) {
		buf_reset(&s->b);
		(void)out_flush(&s->out);
	}
	return -1;
}

static int read_one(void *ctx, const char *name)
{
	struct strace *s = ctx;
	const struct input_reader in = {
		SREADER_EVENTS | SREADER_DSOS,	see, s, s->d, &s->account.lost,
		s->o.summary ? NULL : on_pause, s};
	int status = input_read_file(&in, name);

	return status != PP_EXIT_FAIL && all_unended(s) ? PP_EXIT_FAIL : status;
}

int strace_files(struct strace *s, char **names, int n)
{
	return each_input(names, n, read_one, s);
}

/* ---- the end ---- */

/* gates_zero_fn: there were calls, and none was requested, or passed a filter. */
static bool counted_zero(void *ctx, const char *value, size_t len)
{
	const struct strace *s = ctx;

	(void)value;
	(void)len;
	return s->account.calls + s->account.unpassed && !s->account.shown;
}

static int print_table(struct strace *s, int status)
{
	int fd = s->out.fd, printed, rc;

	out_release(&s->out);
	s->tables.lost = s->account.lost;
	s->tables.partial = status == PP_EXIT_PARTIAL;
	rc = gates_judge(s->gates, &s->tables, counted_zero, s);
	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	printed = tables_print(&s->tables, &s->o.table, fd, s->d);
	return printed ? printed : gates_status(s->gates, status);
}

int strace_close(struct strace *s, int status)
{
	int rc = s->b.err;

	if (status != PP_EXIT_FAIL && !s->account.calls && s->account.unpassed) {
		diag_error(s->d, NULL, -1, "none of %" PRIu64 " system calls passed the filter",
			   s->account.unpassed);
		status = status || !s->gates ? PP_EXIT_PARTIAL : status;
	} else if (status != PP_EXIT_FAIL && !s->account.calls) {
		diag_error(s->d, NULL, -1,
			   s->account.samples
				   ? "no system calls: record raw_syscalls:sys_enter and sys_exit"
				   : "no samples");
		status = PP_EXIT_PARTIAL;
	}
	if (s->table && status != PP_EXIT_FAIL && status != PP_EXIT_USAGE)
		return print_table(s, status);
	if (!rc)
		rc = out_add(&s->out, s->b.data, s->b.len);
	rc = out_end(&s->out, rc, s->d);
	if (s->pathless && !s->told && s->o.form == STRACE_TEXT)
		diag_say(s->d, NULL,
			 "paths are addresses: they were not recorded; pcap-perf --paths does");
	if (s->account.lost)
		diag_say(s->d, NULL,
			 "the recording lost %" PRIu64
			 " events: calls without beginning or end can be due to this",
			 s->account.lost);
	return rc ? PP_EXIT_FAIL : status;
}

void strace_describe(const struct strace *s)
{
	const struct strace_account *a = &s->account;

	diag_say(s->d, NULL,
		 "samples %" PRIu64 ", calls %" PRIu64 " = shown %" PRIu64
		 " + not requested %" PRIu64 "; without an end %" PRIu64
		 ", without a beginning %" PRIu64 ", lost by the recording %" PRIu64,
		 a->samples, a->calls, a->shown, a->filtered, a->unended, a->unbegun, a->lost);
}
