/*
 * Records of a trace.dat to samples.
 *
 * Call chains: a function tracer's record has one of two addresses, the function and its caller.
 * A kernel_stack record is the stack of the event before it on its CPU, a user_stack record
 * after it the rest of that: the event's sample gets the chain. The records themselves follow as
 * samples of their own, so that a printer shows them, with the flag PS_SAMPLE_JOINED, so that
 * nothing is counted twice. A stack that belongs to no event, or all when they are to be
 * separate, has a chain of its own.
 */
#include "tracedat/parts.h"

#include "base/err.h"
#include "event/probe_parts.h"
#include "stream/payload.h"

#define CONTEXT_KERNEL ((uint64_t)-128) /* PERF_CONTEXT_KERNEL: kernel addresses follow */
#define CONTEXT_USER   ((uint64_t)-512) /* PERF_CONTEXT_USER */
#define TRAMPOLINE     INT32_MAX /* FTRACE_TRAMPOLINE_MARKER: what calls the tracer, no place */
#define LOST_OVERRUN   3	 /* LOST.kind: ring buffer overrun */

static uint32_t rec_pid(const struct trace *t, const struct trace_rec *r)
{
	if (t->pid_at + 4 > r->size)
		return PS_NONE;
	return (uint32_t)trace_number(t, r->data + t->pid_at, 4);
}

/* ---- names ---- */

static int string_id(struct trace *t, const char *s, size_t len, uint32_t *id)
{
	struct ps_string rec;
	bool fresh;
	int rc = intern_add(&t->strings, s, len, id, &fresh);

	if (rc || !fresh)
		return rc;
	rec = (struct ps_string){.id = *id, .text = ps_str(s, len)};
	return swriter_put(t->w, PS_STRING, t->source, &rec);
}

/* The saved name of a thread; 0 when none was saved. */
static int comm_id(struct trace *t, uint32_t pid, uint32_t *id)
{
	uint32_t *slot;
	struct trace_cmdline *c;
	int rc;

	*id = 0;
	if (!pid)
		return string_id(t, "<idle>", 6, id);
	slot = map64_get(&t->pids, pid);
	if (!slot)
		return 0;
	c = &t->cmdlines[*slot - 1];
	*id = c->string;
	if (*id)
		return 0;
	/* An empty name needs an id, too. */
	rc = string_id(t, c->comm, c->len, id);
	c->string = rc ? 0 : *id;
	return rc;
}

/* ---- call chains ---- */

static int chain_id(struct trace *t, uint32_t n, struct ps_sample *s)
{
	struct ps_chain rec = {.ips = {t->ips, n}};
	bool fresh;
	int rc;

	s->fields |= PS_HAS(chain);
	if (t->w->pack) {
		if (swriter_parts(t->w, PS_CHAINS) >= PS_PARTS_LIVE)
			swriter_restart(t->w, PS_CHAINS);
		return swriter_chain(t->w, t->source, &rec, &s->chain);
	}
	rc = hashids_get(&t->chains, t->ips, n * sizeof(*t->ips), &s->chain, &fresh);
	if (rc || !fresh)
		return rc;
	rec.id = s->chain;
	return swriter_put(t->w, PS_CHAIN, t->source, &rec);
}

static bool address(const struct trace *t, const struct trace_rec *r, uint32_t at, uint32_t size,
		    uint64_t *v)
{
	if ((size != 4 && size != 8) || at > r->size || size > r->size - at)
		return false;
	*v = trace_number(t, r->data + at, size);
	return true;
}

/* The function and its caller. All of these return how many addresses there are in t->ips. */
static uint32_t add_function(struct trace *t, const struct trace_event *e,
			     const struct trace_rec *r, struct ps_sample *s)
{
	t->ips[0] = CONTEXT_KERNEL;
	if (!address(t, r, e->at[0], e->size[0], &t->ips[1]) ||
	    !address(t, r, e->at[1], e->size[1], &t->ips[2]))
		return 0;
	s->ip = t->ips[1];
	s->fields |= PS_HAS(ip);
	return 3;
}

/* The addresses of a kernel_stack: as many as its size says, or up to one of all ones. */
static uint32_t add_kernel(struct trace *t, const struct trace_event *e, const struct trace_rec *r)
{
	uint32_t n = 1, max = TRACE_STACK_MAX, at = e->at[1], size = t->long_size;
	uint64_t none = size == 4 ? UINT32_MAX : UINT64_MAX;

	if (e->size[0] == 4 && e->at[0] + 4 <= r->size) {
		uint64_t count = trace_number(t, r->data + e->at[0], 4);

		if (count < max)
			max = (uint32_t)count;
	}
	t->ips[0] = CONTEXT_KERNEL;
	for (; max && address(t, r, at, size, &t->ips[n]) && t->ips[n] != none; max--) {
		at += size;
		n += t->ips[n] != TRAMPOLINE;
	}
	return n > 1 ? n : 0;
}

/* Adds those of a user_stack, an array that 0 ends, after n others. Its process is known, too. */
static uint32_t add_user(struct trace *t, const struct trace_event *e, const struct trace_rec *r,
			 uint32_t n, struct ps_sample *s)
{
	uint32_t size = t->long_size, at = e->at[1], end = at + e->size[1], first = n;
	uint64_t tgid;

	if (address(t, r, e->at[0], e->size[0], &tgid) && tgid)
		s->pid = (uint32_t)tgid;
	t->ips[n++] = CONTEXT_USER;
	while (at < end && n < TRACE_IPS_MAX && address(t, r, at, size, &t->ips[n]) && t->ips[n]) {
		at += size;
		n++;
	}
	return n > first + 1 ? n : first;
}

/* The event of a record if it is of a kind of stack and of the thread. */
static const struct trace_event *stack_event(struct trace *t, const struct trace_rec *r,
					     enum trace_kind kind, uint32_t pid)
{
	uint32_t type = kind == TRACE_KERNEL_STACK ? t->stack_type : t->user_type;
	const struct trace_event *e;

	if (!r || r->type != type || type == UINT32_MAX || r->missed || rec_pid(t, r) != pid)
		return NULL;
	e = trace_event_find(t, type);
	return e && e->kind == kind ? e : NULL;
}

/* A stack that is recorded by itself. */
static int own_stack(struct trace *t, struct trace_cpu *c, const struct trace_event *e,
		     struct ps_sample *s)
{
	uint32_t n;

	if (c->joined) {
		c->joined--;
		s->flags |= PS_SAMPLE_JOINED;
		return 0;
	}
	n = e->kind == TRACE_KERNEL_STACK ? add_kernel(t, e, &c->last)
					  : add_user(t, e, &c->last, 0, s);
	return n ? chain_id(t, n, s) : 0;
}

static int chain_of(struct trace *t, struct trace_cpu *c, const struct trace_event *e,
		    const struct trace_rec *next, const struct trace_rec *after,
		    struct ps_sample *s)
{
	const struct trace_event *stack;
	uint32_t n = 0, k;

	if (e->kind == TRACE_KERNEL_STACK || e->kind == TRACE_USER_STACK)
		return own_stack(t, c, e, s);
	c->joined = 0;
	if (e->kind == TRACE_FUNCTION)
		n = add_function(t, e, &c->last, s);
	if (t->separate)
		return n ? chain_id(t, n, s) : 0;
	stack = stack_event(t, next, TRACE_KERNEL_STACK, s->tid);
	if (stack) {
		k = add_kernel(t, stack, next);
		n = k ? k : n;
		c->joined++;
		next = after;
	}
	stack = stack_event(t, next, TRACE_USER_STACK, s->tid);
	if (stack) {
		n = add_user(t, stack, next, n, s);
		c->joined++;
	}
	return n ? chain_id(t, n, s) : 0;
}

/* ---- samples ---- */

static int put_lost(struct trace *t, struct trace_cpu *c, const struct trace_rec *r)
{
	struct ps_lost l = {.time = r->time,
			    .cpu = c->cpu,
			    .pid = PS_NONE,
			    .tid = PS_NONE,
			    .count = r->missed > 0 ? (uint64_t)r->missed : 0,
			    .flags = r->missed < 0,
			    .kind = LOST_OVERRUN,
			    .buffer = ps_str(c->buffer->name, strlen(c->buffer->name))};

	t->account->lost += r->missed > 0 ? (uint64_t)r->missed : 1;
	c->lost += r->missed > 0 ? (uint64_t)r->missed : 1;
	t->lost += r->missed > 0 ? (uint64_t)r->missed : 1;
	t->lost_more |= r->missed <= 0;
	return swriter_put(t->w, PS_LOST, t->source, &l);
}

/*
 * A stack has another number of addresses than the array in its format: those that are not swapped
 * with it. At the end of a record there may be a word of padding.
 */
static void swap_stack(struct trace *t, const struct trace_event *e, uint8_t *p, uint32_t len)
{
	uint32_t at = e->at[1], long_size = t->long_size;

	if (at <= len && e->size[1] <= len - at)
		at += e->size[1];
	for (; at <= len && long_size <= len - at; at += long_size) {
		uint64_t v = trace_number(t, p + at, long_size);
		uint32_t low = (uint32_t)v;

		if (long_size == 8)
			memcpy(p + at, &v, 8);
		else
			memcpy(p + at, &low, 4);
	}
}

/* The payload in host order. */
static int payload(struct trace *t, const struct trace_event *e, const struct trace_rec *r,
		   struct ps_sample *s)
{
	struct ps_str fields = ps_str(buf_str(&e->fields), e->fields.len);

	s->fields |= PS_HAS(payload);
	s->payload = ps_str((const char *)r->data, r->size);
	if (!t->swap && !e->parts)
		return 0;
	buf_reset(&t->payload);
	buf_add(&t->payload, r->data, r->size);
	if (t->payload.err)
		return t->payload.err;
	if (t->swap)
		ps_payload_swap(&fields, t->payload.data, r->size);
	probe_parts_join(e->parts, t->payload.data, r->size);
	if (t->swap && e->kind == TRACE_KERNEL_STACK)
		swap_stack(t, e, t->payload.data, r->size);
	s->payload.p = (const char *)t->payload.data;
	return 0;
}

static int new_thread(struct trace *t, struct trace_cpu *c, uint32_t pid)
{
	int rc = comm_id(t, pid, &c->comm);

	c->pid = pid;
	c->pid_known = true;
	return rc;
}

/* The thread and its name, which as a rule are those of the CPU's last sample. */
static inline int thread(struct trace *t, struct trace_cpu *c, struct ps_sample *s)
{
	uint32_t pid = rec_pid(t, &c->last);
	int rc = c->pid_known && c->pid == pid ? 0 : new_thread(t, c, pid);

	s->pid = s->tid = pid;
	s->comm = c->comm;
	return rc;
}

/*
 * What all samples begin with; what is not among the fields is not looked at, and stays as it
 * was.
 */
static inline struct ps_sample *begin_sample(struct trace *t, struct trace_cpu *c)
{
	struct ps_sample *s = &t->sample;

	if (!c->samples++)
		c->first = c->last.time;
	c->until = c->last.time;
	s->time = c->last.time;
	s->cpu = c->cpu;
	s->flags = 0;
	s->fields = 0;
	return s;
}

/* Not inline: plain events need not save registers for it. */
__attribute__((noinline)) static int any_sample(struct trace *t, struct trace_cpu *c,
						const struct trace_rec *next,
						const struct trace_rec *after)
{
	struct trace_event *e = trace_event_find(t, c->last.type);
	struct ps_sample *s;
	int rc = 0;

	if (c->last.missed)
		rc = put_lost(t, c, &c->last);
	if (!rc && !e)
		rc = trace_event_missing(t, c->last.type, &e);
	if (rc == PP_ECORRUPT || rc == PP_ELIMIT) {
		trace_damage(t, PP_ECORRUPT, -1, "a record is too short for its type");
		t->account->missing++;
		return 0;
	}
	s = begin_sample(t, c);
	if (!rc)
		rc = trace_descriptor(t, e, c->buffer, &s->event);
	if (!rc)
		rc = thread(t, c, s);
	if (!rc)
		rc = chain_of(t, c, e, next, after, s);
	if (!rc)
		rc = payload(t, e, &c->last, s);
	if (!rc)
		rc = swriter_sample(t->w, t->source, s);
	return rc;
}

/* An event that has been described, nothing but its fields in it, and no stack after it. */
static inline bool is_plain(const struct trace *t, const struct trace_cpu *c,
			    const struct trace_event *e, const struct trace_rec *next)
{
	if (!e || !e->descriptor || e->kind != TRACE_EVENT || c->last.missed || t->swap ||
	    c->buffer->index)
		return false;
	return !next || (next->type != t->stack_type && next->type != t->user_type);
}

int trace_sample(struct trace *t, struct trace_cpu *c, const struct trace_rec *next,
		 const struct trace_rec *after)
{
	const struct trace_event *e = trace_event_find(t, c->last.type);
	struct ps_sample *s;
	int rc;

	if (!is_plain(t, c, e, next))
		return any_sample(t, c, next, after);
	s = begin_sample(t, c);
	s->event = e->descriptor;
	rc = thread(t, c, s);
	if (rc)
		return rc;
	c->joined = 0;
	s->fields = PS_HAS(payload);
	s->payload = ps_str((const char *)c->last.data, c->last.size);
	return swriter_sample(t->w, t->source, s);
}
