/*
 * Reads event streams: what a frame, a stack, a thread and an event have become in the profile is
 * remembered by their numbers in the stream, so that most samples cost a few loads.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"
#include "stream/ends.h"

#include <stdio.h>
#include <stdlib.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */
#define KEEP	    (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)
#define RECENT	    1024
#define TRACEPOINT  2

struct known_event {
	struct prof_event as; /* name 0: not known */
	uint32_t event;	      /* of the profile; 0: had no sample yet */
	bool one;	      /* each sample weighs 1 */
};

struct known_thread {
	uint32_t pid, tid, comm; /* of the stream */
	uint32_t thread;	 /* 0: free */
};

struct input {
	struct conv *c;
	struct sreader *in;
	struct known_event *events;
	uint32_t *frames, *stacks; /* by number: number + 1 in the profile; 0: not yet known */
	uint32_t nevents, nframes, nstacks;
	struct map64 chains; /* likewise */
	struct intern names; /* of events since the header, with their source and buffer */
	struct map64 counts; /* by name: how many events have it */
	struct known_thread recent[RECENT];
	uint32_t used_frame, used_symbol, used_dso, used_string, used_chain; /* the greatest */
	uint32_t *path;
	uint32_t path_cap;
	struct buf text;
	bool undefined;
};

static inline void used(uint32_t id, uint32_t *most)
{
	if (id > *most)
		*most = id;
}

/* ---- events and threads ---- */

/* The name that an event has: further ones of the same name in a stream have their number. */
static int event_name(struct input *s, uint32_t source, const struct ps_event *e, uint32_t *name)
{
	struct ps_str shown = e->name;
	struct core_event core;
	uint32_t key, *count;
	int rc;

	if (core_event(e->name.p, e->name.len, &core))
		shown = ps_str(core.name, core.len);
	buf_reset(&s->text);
	buf_add(&s->text, &source, sizeof(source));
	buf_add(&s->text, e->buffer.p, e->buffer.len);
	buf_addc(&s->text, 0);
	buf_add(&s->text, e->name.p, e->name.len);
	rc = s->text.err ? s->text.err
			 : intern_add(&s->names, s->text.data, s->text.len, &key, NULL);
	count = rc ? NULL : map64_put(&s->counts, key, NULL);
	if (!count)
		return rc ? rc : PP_ENOMEM;
	buf_reset(&s->text);
	buf_add(&s->text, shown.p, shown.len);
	if (++*count > 1)
		buf_addf(&s->text, " #%u", *count);
	return s->text.err ? s->text.err : prof_text(s->c->p, buf_str(&s->text), s->text.len, name);
}

static int new_event(struct input *s, uint32_t source, const struct ps_event *e)
{
	struct known_event *v = array_widen(s->events, &s->nevents, e->id, 64, sizeof(*v));
	uint32_t before;
	int rc;

	if (!v)
		return PP_ENOMEM;
	s->events = v;
	v += e->id;
	before = v->as.name;
	/* As pfold has it: the period of a tracepoint means nothing. */
	v->one = e->perf_type == TRACEPOINT || !(e->flags & PS_EVENT_SAMPLED);
	rc = before ? 0 : event_name(s, source, e, &v->as.name);
	if (before || rc)
		return rc;
	return v->one ? prof_text(s->c->p, "samples", 7, &v->as.unit)
		      : prof_text(s->c->p, e->unit.p, e->unit.len, &v->as.unit);
}

static int thread_of(struct input *s, const struct ps_sample *p, uint32_t *thread)
{
	struct known_thread *k = &s->recent[(p->tid * 31 + p->comm) % RECENT];
	struct prof_thread t = {p->pid, p->tid, 0};
	const char *comm;
	size_t n;
	int rc;

	if (k->thread && k->pid == p->pid && k->tid == p->tid && k->comm == p->comm) {
		*thread = k->thread;
		return 0;
	}
	used(p->comm, &s->used_string);
	comm = sreader_string(s->in, p->comm, &n);
	rc = comm ? prof_text(s->c->p, comm, n, &t.comm) : 0;
	if (!rc)
		rc = prof_thread(s->c->p, &t, thread);
	if (!rc && t.comm && t.pid == t.tid && t.pid != PS_NONE)
		rc = prof_name_process(s->c->p, t.pid, t.comm);
	if (!rc)
		*k = (struct known_thread){p->pid, p->tid, p->comm, *thread};
	return rc;
}

/* ---- stacks ---- */

static int make_frame(struct input *s, const struct ps_frame *f, uint32_t *id)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(s->in, f->symbol) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(s->in, f->dso) : NULL;
	const struct ps_srcfile *file = f->srcfile ? sreader_srcfile(s->in, f->srcfile) : NULL;
	struct prof_frame to = {.addr = f->addr, .line = f->line};
	struct prof *p = s->c->p;
	int rc = 0;

	used(f->symbol, &s->used_symbol);
	used(f->dso, &s->used_dso);
	to.flags = (f->flags & PS_FRAME_KERNEL ? PROF_FRAME_KERNEL : 0) |
		   (f->flags & PS_FRAME_INLINED ? PROF_FRAME_INLINED : 0);
	if (sym)
		rc = prof_text(p, sym->name.p, sym->name.len, &to.name);
	if (!rc && sym)
		rc = prof_text(p, sym->linkage.p, sym->linkage.len, &to.linkage);
	if (!rc && dso) {
		struct prof_dso d = {.flags = dso->flags};

		rc = prof_text(p, dso->path.p, dso->path.len, &d.path);
		if (!rc)
			rc = prof_hex(p, dso->build_id.p, dso->build_id.len, &d.build_id);
		if (!rc)
			rc = prof_dso(p, &d, &to.dso);
	}
	if (!rc && file)
		rc = prof_text(p, file->path.p, file->path.len, &to.file);
	return rc ? rc : prof_frame(p, &to, id);
}

static int frame_of(struct input *s, uint32_t id, uint32_t *frame)
{
	static const struct ps_frame nothing;
	const struct ps_frame *f;
	uint32_t *v;
	int rc;

	if (id < s->nframes && s->frames[id]) {
		used(id, &s->used_frame);
		*frame = s->frames[id];
		return 0;
	}
	f = sreader_frame(s->in, id);
	if (!f) {
		s->undefined = true;
		return make_frame(s, &nothing, frame);
	}
	v = array_widen(s->frames, &s->nframes, id, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->frames = v;
	used(id, &s->used_frame);
	rc = make_frame(s, f, frame);
	if (!rc)
		v[id] = *frame;
	return rc;
}

/* Makes room for n frames in the path. */
static int room(struct input *s, size_t n)
{
	uint32_t *v = n > INT32_MAX
			      ? NULL
			      : array_widen(s->path, &s->path_cap, (uint32_t)n, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->path = v;
	return 0;
}

/* Adds the frames of a stack, and its mark as the outermost. */
static int add_stack(struct input *s, const struct ps_stack *st, size_t *n)
{
	const struct ps_frame *outer;
	const struct ps_dso *dso;
	struct prof_frame mark = {.flags = PROF_FRAME_MARK};
	int rc = room(s, *n + st->frames.n + 1);

	for (uint32_t i = 0; i < st->frames.n && !rc; i++)
		rc = frame_of(s, st->frames.v[i], &s->path[(*n)++]);
	if (rc || !(st->flags & PS_STACK_END_MASK))
		return rc;
	outer = st->frames.n ? sreader_frame(s->in, st->frames.v[st->frames.n - 1]) : NULL;
	dso = outer && outer->dso ? sreader_dso(s->in, outer->dso) : NULL;
	buf_reset(&s->text);
	ps_end_mark_add(&s->text, st->flags, dso ? dso->path : ps_str("", 0));
	rc = s->text.err ? s->text.err
			 : prof_text(s->c->p, buf_str(&s->text), s->text.len, &mark.name);
	return rc || !mark.name ? rc : prof_frame(s->c->p, &mark, &s->path[(*n)++]);
}

static int add_chain(struct input *s, const struct ps_chain *c, size_t *n)
{
	int rc = room(s, *n + c->ips.n);

	for (uint32_t i = 0; i < c->ips.n && !rc; i++) {
		struct prof_frame f = {0};
		char text[24];

		if (c->ips.v[i] >= CONTEXT_MIN)
			continue;
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)c->ips.v[i]);
		rc = prof_text(s->c->p, text, strlen(text), &f.name);
		if (!rc)
			rc = prof_frame(s->c->p, &f, &s->path[(*n)++]);
	}
	return rc;
}

static int stack_of(struct input *s, const struct ps_sample *p, uint32_t *stack)
{
	const struct ps_stack *at_ip =
		ps_sample_has(p, ip_stack) ? sreader_stack(s->in, p->ip_stack) : NULL;
	const struct ps_stack *st;
	uint32_t *known = !at_ip && p->stack < s->nstacks ? &s->stacks[p->stack] : NULL;
	size_t n = 0, first;
	int rc = 0;

	if (known && *known) {
		*stack = *known - 1;
		return 0;
	}
	st = sreader_stack(s->in, p->stack);
	s->undefined |= !st;
	if (at_ip)
		rc = add_stack(s, at_ip, &n);
	first = n;
	if (!rc && st)
		rc = add_stack(s, st, &n);
	/* The chain begins elsewhere in the same function. */
	if (!rc && first && n > first &&
	    prof_frame_of(s->c->p, s->path[first])->name ==
		    prof_frame_of(s->c->p, s->path[first - 1])->name)
		memmove(s->path + first, s->path + first + 1, (--n - first) * sizeof(*s->path));
	if (!rc)
		rc = prof_stack(s->c->p, s->path, n, stack);
	if (!rc && known)
		*known = *stack + 1;
	return rc;
}

static int chain_of(struct input *s, uint32_t id, uint32_t *stack)
{
	const struct ps_chain *c = sreader_chain(s->in, id);
	uint32_t *known = map64_put(&s->chains, id, NULL);
	size_t n = 0;
	int rc = 0;

	if (!known)
		return PP_ENOMEM;
	s->c->account.raw++;
	s->undefined |= !c;
	used(id, &s->used_chain);
	if (!*known) {
		rc = c ? add_chain(s, c, &n) : 0;
		if (!rc)
			rc = prof_stack(s->c->p, s->path, n, stack);
		*known = rc ? 0 : *stack + 1;
	}
	*stack = rc ? 0 : *known - 1;
	return rc;
}

/* ---- samples ---- */

static int on_sample(struct input *s, const struct ps_record *rec)
{
	struct conv_account *a = &s->c->account;
	const struct ps_sample *p = &rec->sample;
	struct prof_sample to = {.cpu = p->cpu, .time = p->time, .count = 1};
	struct known_event *e;
	int rc;

	if (p->flags & PS_SAMPLE_JOINED || (p->flags & PS_MARK_MASK) != PS_MARK_PASS) {
		a->samples++;
		*(p->flags & PS_SAMPLE_JOINED ? &a->joined : &a->filtered) += 1;
		return 0;
	}
	if (p->event >= s->nevents || !s->events[p->event].as.name) {
		s->undefined = true;
		a->samples++;
		return 0;
	}
	e = &s->events[p->event];
	rc = e->event ? 0 : prof_event(s->c->p, &e->as, &e->event);
	to.event = e->event;
	to.timed = !(p->flags & PS_SAMPLE_NO_TIME);
	to.weight = !e->one && ps_sample_has(p, period) ? p->period : 1;
	if (!rc)
		rc = thread_of(s, p, &to.thread);
	if (!rc && ps_sample_has(p, stack))
		rc = stack_of(s, p, &to.stack);
	else if (!rc && ps_sample_has(p, chain))
		rc = chain_of(s, p->chain, &to.stack);
	return rc ? rc : conv_give(s->c, &to);
}

/* ---- what is forgotten when a number is defined again ---- */

static void forget_stacks(struct input *s)
{
	map64_clear(&s->chains);
	if (s->nstacks)
		memset(s->stacks, 0, s->nstacks * sizeof(*s->stacks));
	s->used_chain = s->used_frame = 0;
}

static void forget_frames(struct input *s)
{
	if (s->nframes)
		memset(s->frames, 0, s->nframes * sizeof(*s->frames));
	s->used_symbol = s->used_dso = 0;
	forget_stacks(s);
}

static void forget_all(struct input *s)
{
	memset(s->recent, 0, sizeof(s->recent));
	if (s->nevents)
		memset(s->events, 0, s->nevents * sizeof(*s->events));
	intern_release(&s->names);
	s->names = (struct intern)INTERN_INIT;
	map64_clear(&s->counts);
	s->used_string = 0;
	forget_frames(s);
}

/* Room for a number, of which nothing is known. */
static int fresh(uint32_t **v, uint32_t *n, uint32_t id)
{
	uint32_t *w = array_widen(*v, n, id, 4096, sizeof(*w));

	if (!w)
		return PP_ENOMEM;
	*v = w;
	w[id] = 0;
	return 0;
}

static bool is_key(const struct ps_str *key, const char *name)
{
	return key->len == strlen(name) && !memcmp(key->p, name, key->len);
}

static void on_meta(struct conv *c, const struct ps_meta *m)
{
	char number[24] = "";

	if (is_key(&m->key, "cmdline") && !c->cmdline.len)
		buf_add(&c->cmdline, m->value.p, m->value.len);
	if (is_key(&m->key, "wall_offset") && m->value.len < sizeof(number)) {
		memcpy(number, m->value.p, m->value.len);
		c->wall_offset = strtoll(number, NULL, 10);
	}
}

static int on_comm(struct input *s, const struct ps_comm *m)
{
	const char *name;
	uint32_t text;
	size_t n;
	int rc;

	if (m->pid != m->tid)
		return 0;
	name = sreader_string(s->in, m->comm, &n);
	rc = name ? prof_text(s->c->p, name, n, &text) : 0;
	return rc || !name ? rc : prof_name_process(s->c->p, m->pid, text);
}

static int see(struct input *s, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_HEADER: forget_all(s); break;
	case PS_META: on_meta(s->c, &rec->meta); break;
	case PS_COMM: return on_comm(s, &rec->comm);
	case PS_EVENT: return new_event(s, rec->source, &rec->event);
	case PS_STACK:
		if (rec->stack.id == 1)
			forget_stacks(s);
		return fresh(&s->stacks, &s->nstacks, rec->stack.id);
	case PS_FRAME:
		if (rec->frame.id == 1)
			forget_frames(s);
		else if (rec->frame.id <= s->used_frame)
			forget_stacks(s);
		return fresh(&s->frames, &s->nframes, rec->frame.id);
	case PS_STRING:
		if (rec->string.id <= s->used_string)
			memset(s->recent, 0, sizeof(s->recent));
		break;
	case PS_CHAIN:
		if (rec->chain.id <= s->used_chain)
			map64_clear(&s->chains);
		break;
	case PS_SYMBOL:
		if (rec->symbol.id <= s->used_symbol)
			forget_frames(s);
		break;
	case PS_DSO:
		if (rec->dso.id <= s->used_dso)
			forget_frames(s);
		break;
	}
	return 0;
}

static int on_record(struct input *s, const struct ps_record *rec)
{
	bool taken = false;
	int rc = rec->type == PS_SAMPLE ? 0 : see(s, rec);

	if (!rc && s->c->writer->record)
		rc = s->c->writer->record(s->c->ctx, s->in, rec, &taken);
	if (!rc && !taken && rec->type == PS_SAMPLE)
		return on_sample(s, rec);
	if (rc || !taken)
		return rc;
	s->c->account.samples++;
	s->c->account.taken++;
	return 0;
}

static void release(struct input *s)
{
	sreader_free(s->in);
	free(s->events);
	free(s->frames);
	free(s->stacks);
	free(s->path);
	map64_release(&s->chains);
	map64_release(&s->counts);
	intern_release(&s->names);
	buf_release(&s->text);
}

int conv_from_stream(struct conv *c, struct src *src)
{
	struct input *s = calloc(1, sizeof(*s));
	const struct ps_record *rec;
	int rc, status;

	if (!s) {
		src_free(src);
		return PP_ENOMEM;
	}
	s->c = c;
	rc = sreader_new(&s->in, src, KEEP, c->d);
	if (rc) {
		free(s);
		return rc;
	}
	while (!(rc = sreader_next(s->in, &rec)) && !(rc = on_record(s, rec)))
		;
	status = sreader_status(s->in, rc);
	if (s->undefined) {
		diag_error(c->d, src_name(src), -1,
			   "the stream is damaged: samples refer to what it does not define");
		status = status ? status : PP_EXIT_PARTIAL;
	}
	c->account.lost += sreader_account(s->in)->lost;
	release(s);
	free(s);
	if (rc == PP_END)
		return status == PP_EXIT_OK	   ? 0
		       : status == PP_EXIT_PARTIAL ? PP_ECUT
						   : PP_EUNSUPPORTED;
	return status == PP_EXIT_PARTIAL && (rc == PP_ECUT || rc == PP_ECORRUPT) ? PP_ECUT : rc;
}
