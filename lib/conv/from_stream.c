/*
 * Reads event streams: what a frame, a stack, a thread and an event have become in the profile is
 * remembered by their numbers in the stream, so that most samples cost a few loads.
 */
#include "conv/from_stream.h"

#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"

#include <stdlib.h>

#define LISTS	   (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)
#define TRACEPOINT 2

/* ---- events and threads ---- */

static const char *name_of(const void *ctx, uint32_t i, size_t *len)
{
	const struct stream_input *s = ctx;
	struct ps_str name = prof_str(s->c->p, s->events[i].as.name);

	*len = name.len;
	return s->events[i].as.name ? name.p : NULL;
}

/* The event becomes one of the profile: a stream defines all of its events before their samples. */
static int use_event(struct stream_input *s, struct stream_event *e)
{
	const struct event_names all = {name_of, s, s->nevents};
	struct ps_str name = prof_str(s->c->p, e->as.name);
	struct core_event cut;
	int rc = 0;

	if (event_short_name(name.p, name.len, &all, &cut))
		rc = prof_text(s->c->p, cut.name, cut.len, &e->as.name);
	return rc ? rc : prof_event(s->c->p, &e->as, &e->event);
}

/* The name that an event has: further ones of the same name in a stream have their number. */
static int event_name(struct stream_input *s, uint32_t source, const struct ps_event *e,
		      uint32_t *name)
{
	struct ps_str shown = e->name;
	struct core_event core;
	int rc = event_numbers_define(&s->numbers, source, e, NULL);
	uint32_t number = event_number(&s->numbers, e->id);

	if (rc)
		return rc;
	if (core_event(e->name.p, e->name.len, &core))
		shown = ps_str(core.name, core.len);
	buf_reset(&s->text);
	buf_add(&s->text, shown.p, shown.len);
	if (number > 1)
		buf_addf(&s->text, " #%u", number);
	return s->text.err ? s->text.err : prof_text(s->c->p, buf_str(&s->text), s->text.len, name);
}

static int new_event(struct stream_input *s, uint32_t source, const struct ps_event *e)
{
	struct stream_event *v = array_widen(s->events, &s->nevents, e->id, 64, sizeof(*v));
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

static int thread_of(struct stream_input *s, const struct ps_sample *p, uint32_t *thread)
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

/* ---- samples ---- */

static int on_sample(struct stream_input *s, const struct ps_record *rec)
{
	struct conv_account *a = &s->c->account;
	const struct ps_sample *p = &rec->sample;
	struct prof_sample to = {.cpu = p->cpu, .time = p->time, .count = 1};
	struct stream_event *e;
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
	rc = e->event ? 0 : use_event(s, e);
	to.event = e->event;
	to.timed = !(p->flags & PS_SAMPLE_NO_TIME);
	to.weight = !e->one && ps_sample_has(p, period) ? p->period : 1;
	if (!rc)
		rc = thread_of(s, p, &to.thread);
	if (!rc && ps_sample_has(p, stack))
		rc = stream_stack(s, p, &to.stack);
	else if (!rc && ps_sample_has(p, chain))
		rc = stream_chain(s, p->chain, &to.stack);
	return rc ? rc : conv_give(s->c, &to);
}

/* ---- what is forgotten when a number is defined again ---- */

static void forget_stacks(struct stream_input *s)
{
	map64_clear(&s->chains);
	if (s->nstacks)
		memset(s->stacks, 0, s->nstacks * sizeof(*s->stacks));
	if (s->nparts)
		memset(s->parts, 0, s->nparts * sizeof(*s->parts));
	s->used_chain = s->used_frame = 0;
}

static void forget_frames(struct stream_input *s)
{
	if (s->nframes)
		memset(s->frames, 0, s->nframes * sizeof(*s->frames));
	s->used_symbol = s->used_dso = 0;
	forget_stacks(s);
}

static void forget_symbols(struct stream_input *s)
{
	if (s->nsymbols)
		memset(s->symbols, 0, s->nsymbols * sizeof(*s->symbols));
	if (s->ndsos)
		memset(s->dsos, 0, s->ndsos * sizeof(*s->dsos));
	if (s->nfiles)
		memset(s->files, 0, s->nfiles * sizeof(*s->files));
	memset(s->marks, 0, sizeof(s->marks));
	forget_frames(s);
}

static void forget_all(struct stream_input *s)
{
	memset(s->recent, 0, sizeof(s->recent));
	if (s->nevents)
		memset(s->events, 0, s->nevents * sizeof(*s->events));
	event_numbers_forget(&s->numbers);
	s->used_string = 0;
	forget_symbols(s);
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

static int on_comm(struct stream_input *s, const struct ps_comm *m)
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

static int see(struct stream_input *s, const struct ps_record *rec)
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
	case PS_CHAINS:
		if (rec->chain.id <= s->used_chain)
			map64_clear(&s->chains);
		break;
	case PS_STACKS:
		if (rec->stacks.id == 1)
			forget_stacks(s);
		break;
	case PS_SYMBOL:
		if (rec->symbol.id <= s->used_symbol)
			forget_symbols(s);
		break;
	case PS_DSO:
		if (rec->dso.id <= s->used_dso)
			forget_symbols(s);
		break;
	case PS_SRCFILE:
		if (rec->srcfile.id < s->nfiles && s->files[rec->srcfile.id])
			forget_symbols(s);
		break;
	}
	return 0;
}

static int on_record(struct stream_input *s, const struct ps_record *rec)
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

static void release(struct stream_input *s)
{
	sreader_free(s->in);
	free(s->events);
	free(s->frames);
	free(s->stacks);
	free(s->symbols);
	free(s->parts);
	free(s->dsos);
	free(s->files);
	free(s->path);
	map64_release(&s->chains);
	event_numbers_release(&s->numbers);
	buf_release(&s->text);
}

int conv_from_stream(struct conv *c, struct src *src)
{
	struct stream_input *s = calloc(1, sizeof(*s));
	const struct ps_record *rec;
	int rc, status;

	if (!s) {
		src_free(src);
		return PP_ENOMEM;
	}
	s->c = c;
	rc = sreader_new(&s->in, src, LISTS | SREADER_PARTS, c->d);
	if (rc) {
		free(s);
		return rc;
	}
	while (!(rc = sreader_next(s->in, &rec)) && !(rc = on_record(s, rec)))
		;
	status = sreader_status(s->in, rc);
	if (s->undefined) {
		diag_error(
			c->d, src_name(src), -1,
			"the stream is damaged: samples refer to something that it does not define");
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
