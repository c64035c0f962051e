/* Times of threads as samples of an event stream, each with its state: plat --emit wall, path. */
#include "wall/parts.h"

#include "base/err.h"

#include <string.h>

#define EVENT 1 /* the one descriptor of what is written */

void wall_emit_release(struct wall_emit *e)
{
	lat_defined_release(&e->strings);
	map64_release(&e->below);
}

static int put_string(struct wall_emit *e, const struct wall *w, uint32_t source, uint32_t id)
{
	const char *text;
	size_t len;

	if (lat_defined_has(&e->strings, id))
		return 0;
	text = intern_get(&w->texts, id, &len);
	return lat_defined_put(&e->strings, e->w, source, id, text, len);
}

static int put_event(struct wall_emit *e, uint32_t source)
{
	struct ps_event ev = {.id = EVENT,
			      .perf_type = PS_TYPE_MADE,
			      .flags = PS_EVENT_SAMPLED | PS_EVENT_CHAINS,
			      .name = ps_str(e->event, strlen(e->event)),
			      .unit = ps_str("ns", 2)};

	if (e->defined)
		return 0;
	e->defined = true;
	return swriter_put(e->w, PS_EVENT, source, &ev);
}

int wall_emit_piece(struct wall_emit *e, struct wall *w, const struct wall_piece *p)
{
	const struct wall_thread *t = &w->threads[p->thread];
	const struct wall_thread *by = p->wake ? &w->threads[p->wake->thread] : NULL;
	struct lat_point at = {.stack = p->stack};
	struct ps_sample s = {.event = EVENT,
			      .cpu = p->cpu,
			      .time = p->begin,
			      .pid = t->pid,
			      .tid = t->tid,
			      .comm = t->comm,
			      .period = p->ns,
			      .weight = p->ns,
			      .end_time = p->end,
			      .key_text = ps_str(p->state, strlen(p->state)),
			      .fields = PS_HAS(period) | PS_HAS(weight) | PS_HAS(end_time) |
					PS_HAS(key_text)};
	uint32_t chain;
	int rc;

	s.key = e->key;
	s.fields |= e->key ? PS_HAS(key) : 0;
	rc = put_event(e, t->source);

	if (!rc)
		rc = put_string(e, w, t->source, t->comm);
	if (!rc)
		rc = lat_stacks_write(w->kept, e->w, t->source, &at, &chain, &s.stack);
	s.fields |= s.stack ? PS_HAS(stack) : 0;
	if (!rc && by && p->wake->thread && !p->wake->unknown) {
		at.stack = p->wake->stack;
		rc = lat_stacks_write(w->kept, e->w, t->source, &at, &chain, &s.other_stack);
		if (!rc)
			rc = put_string(e, w, t->source, by->comm);
		s.other_pid = by->pid;
		s.other_tid = by->tid;
		s.other_comm = by->comm;
		s.fields |= PS_HAS(other_tid) | (by->pid != PS_NONE ? PS_HAS(other_pid) : 0) |
			    (by->comm ? PS_HAS(other_comm) : 0) |
			    (s.other_stack ? PS_HAS(other_stack) : 0);
	}
	if (rc)
		return rc;
	e->n++;
	return swriter_sample(e->w, t->source, &s);
}

/* The stack with a frame beneath it, without its kernel frames if `user`; 0: there was no room. */
static int below(struct wall_emit *e, struct wall *w, uint32_t stack, const char *name, bool user,
		 uint32_t *out)
{
	uint32_t text, *slot;
	int rc = intern_again(&w->texts, name, strlen(name), &text);

	*out = 0;
	if (rc)
		return rc;
	slot = map64_put(&e->below, (uint64_t)text << 33 | (uint64_t)user << 32 | stack, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		const struct lat_stack_part parts[] = {
			{.stack = stack, .skip = user ? wall_kernel_frames(w->kept, stack) : 0},
			{.name = name, .len = strlen(name)}};

		rc = lat_stacks_join(w->kept, parts, 2, slot);
	}
	if (rc == PP_ELIMIT) {
		e->missing++;
		rc = 0;
	}
	*out = *slot;
	return rc;
}

/* A piece whose state is a frame beneath its stack. */
static int put(struct wall_emit *e, struct wall *w, struct wall_piece *p, bool user)
{
	int rc = below(e, w, p->stack, p->state, user, &p->stack);

	return rc ? rc : wall_emit_piece(e, w, p);
}

/*
 * A sample stands for the time that the thread has run since its last one, whatever happened
 * meanwhile: so the sum is the scheduler's, and what is between is shared as the samples fall. In a
 * recording without samples it is the stack of the switch from it that tells where it was.
 */
static int running(struct wall_emit *e, struct wall *w, const struct wall_segment *s,
		   struct wall_piece *p)
{
	struct wall_thread *t = &w->threads[s->thread];
	int rc = 0;

	if (s->interrupted) {
		struct wall_piece q = *p;

		q.ns = s->interrupted;
		q.stack = s->sampled ? s->stack : 0;
		q.state = WALL_INTERRUPTED_TEXT;
		rc = put(e, w, &q, false);
	}
	t->pending += p->ns - s->interrupted;
	t->pending_stack = s->stack ? s->stack : t->pending_stack;
	if (rc || !t->pending)
		return rc;
	p->ns = t->pending;
	p->state = WALL_RUNNING_TEXT;
	if (!s->sampled && w->account.cpu_samples)
		return 0;
	t->pending = 0;
	return s->sampled ? wall_emit_piece(e, w, p) : put(e, w, p, true);
}

int wall_emit_wait(struct wall_emit *e, struct wall *w, const struct wall_segment *s,
		   const char **state)
{
	enum wall_kind kind;
	int rc = wall_wait(w, s->stack, s->wake.stack, &kind);

	*state = NULL;
	if (rc)
		return rc;
	if (!w->threads[s->thread].seen)
		kind = WALL_KIND_ASLEEP;
	if (wall_kinds[kind].idle && !e->idle)
		e->aside += s->end - s->begin;
	else
		*state = wall_kinds[kind].name;
	return 0;
}

int wall_emit_segment(void *ctx, struct wall *w, const struct wall_segment *s)
{
	struct wall_emit *e = ctx;
	struct wall_piece p = {.begin = s->begin,
			       .end = s->end,
			       .ns = s->end - s->begin,
			       .thread = s->thread,
			       .cpu = s->cpu,
			       .stack = s->stack};
	int rc;

	switch ((enum wall_state)s->state) {
	case WALL_RUNNING: return running(e, w, s, &p);
	case WALL_RUNNABLE: p.state = WALL_RUNNABLE_TEXT; break;
	case WALL_BLOCKED:
		rc = wall_emit_wait(e, w, s, &p.state);
		if (rc || !p.state)
			return rc;
		p.wake = &s->wake;
		break;
	default: p.state = WALL_UNKNOWN_TEXT; break;
	}
	return put(e, w, &p, false);
}

/* What the thread ran since its last sample has the stack of its last switch, marked. */
int wall_emit_end(void *ctx, struct wall *w, struct wall_thread *t)
{
	struct wall_piece p = {.begin = w->now,
			       .end = w->now,
			       .ns = t->pending,
			       .thread = (uint32_t)(t - w->threads),
			       .cpu = t->cpu,
			       .stack = t->pending_stack,
			       .state = WALL_RUNNING_TEXT};

	t->pending = 0;
	return p.ns ? put(ctx, w, &p, true) : 0;
}

const char *wall_step_state(const struct wall_step *s)
{
	switch ((enum wall_state)s->state) {
	case WALL_RUNNING: return s->interrupted ? WALL_INTERRUPTED_TEXT : "running";
	case WALL_RUNNABLE: return WALL_RUNNABLE_TEXT;
	case WALL_BLOCKED: return wall_kinds[s->kind].name;
	default: return WALL_UNKNOWN_TEXT;
	}
}

int wall_emit_step(struct wall_emit *e, struct wall *w, const struct wall_step *s)
{
	bool running = s->state == WALL_RUNNING && !s->interrupted;
	struct wall_piece p = {.begin = s->begin,
			       .end = s->end,
			       .ns = s->end - s->begin,
			       .thread = s->thread,
			       .cpu = PS_NONE,
			       .stack = s->stack,
			       .state = running ? WALL_RUNNING_TEXT : wall_step_state(s)};

	return running && !s->between ? wall_emit_piece(e, w, &p) : put(e, w, &p, running);
}

int wall_emit_moved(void *ctx, struct wall *w)
{
	struct wall_emit *e = ctx;

	(void)w;
	map64_clear(&e->below);
	return 0;
}

static int put_comm(struct wall_emit *e, struct wall *w, const struct sreader *r,
		    const struct ps_record *rec)
{
	struct ps_comm c = rec->comm;
	size_t len;
	const char *s = sreader_string(r, rec->comm.comm, &len);
	int rc = s ? intern_again(&w->texts, s, len, &c.comm) : 0;

	if (!s)
		c.comm = 0;
	if (!rc)
		rc = put_string(e, w, rec->source, c.comm);
	return rc ? rc : swriter_put(e->w, PS_COMM, rec->source, &c);
}

int wall_emit_record(struct wall_emit *e, struct wall *w, const struct sreader *r,
		     const struct ps_record *rec)
{
	if (rec->type == PS_COMM)
		return put_comm(e, w, r, rec);
	if (rec->type != PS_HEADER)
		return lat_context_copy(e->w, rec);
	e->defined = false;
	lat_defined_clear(&e->strings);
	map64_clear(&e->below);
	return 0;
}
