/*
 * Takes the samples of event streams: what a frame, a stack and the name of a thread have become
 * in the tree is remembered by their numbers in the stream, so that most samples cost a few loads.
 */
#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"
#include "event/glob.h"
#include "report/sample_tree_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define KEEP (FIELD_KEEP | SREADER_CHAINS)

enum { EVENT_NEW, EVENT_LEAVE, EVENT_TAKE };

/* ---- events ---- */

/* A descriptor. Defined once more it is the same. */
static int new_event(struct input *s, uint32_t source, const struct ps_event *e)
{
	struct input_event *v = array_widen(s->events, &s->nevents, e->id, 64, sizeof(*v));
	bool fresh = false;
	int rc;

	if (!v)
		return PP_ENOMEM;
	s->events = v;
	rc = event_numbers_define(&s->numbers, source, e, &fresh);
	if (fresh)
		v[e->id] = (struct input_event){0};
	return rc;
}

/*
 * Whether it is; and the name that it has in the report: one event on several PMUs of CPU cores is
 * one, unless it was asked for by one of them.
 */
static bool wanted(const struct report *r, struct ps_str *name, struct core_event *core)
{
	const char *want = r->o.event;
	bool is_core = core_event(name->p, name->len, core), base;

	base = is_core && (!want || glob_match(want, strlen(want), core->name, core->len));
	if (!base && want && !event_fits(want, strlen(want), name->p, name->len))
		return false;
	if (base)
		*name = ps_str(core->name, (uint32_t)core->len);
	return true;
}

/* *event: its number in the report; REPORT_NONE: it is left out. */
static int event_of(struct input *s, uint32_t id, uint32_t *event)
{
	const struct ps_event *e;
	uint32_t number = event_number(&s->numbers, id);
	struct input_event *k = number ? &s->events[id] : NULL;
	int rc = 0;

	*event = REPORT_NONE;
	if (!k) {
		s->undefined = true;
		return 0;
	}
	if (k->choice == EVENT_NEW) {
		struct core_event core;
		struct ps_str unit, name;

		e = sreader_event(s->in, id);
		if (!e)
			return 0;
		name = e->name;
		k->choice = wanted(s->r, &name, &core) ? EVENT_TAKE : EVENT_LEAVE;
		unit = s->r->o.count ? ps_str("samples", 7) : e->unit;
		if (k->choice == EVENT_TAKE)
			rc = report_event(s->r, name, number, unit, &k->event);
		if (k->choice == EVENT_TAKE && !rc && name.p == core.name)
			rc = report_event_pmu(s->r, k->event, core.pmu, core.pmu_len);
	}
	if (k->choice == EVENT_TAKE)
		*event = k->event;
	return rc;
}

/* ---- the keys of a sample as a whole ---- */

/* The value of a key as text. */
static int key_text(struct input *s, unsigned k, const struct qval *v, uint32_t *text)
{
	struct report *r = s->r;
	char number[24];
	int n;

	if (v->kind == QV_STR) {
		r->key[k].number = false;
		return report_text(r, v->s, v->len, text);
	}
	if (v->kind == QV_INT) {
		n = snprintf(number, sizeof(number),
			     r->key[k].hex    ? "0x%llx"
			     : v->is_unsigned ? "%llu"
					      : "%lld",
			     (unsigned long long)v->num);
		return report_text(r, number, (size_t)n, text);
	}
	r->key[k].number = false;
	buf_reset(&s->text);
	for (size_t i = 0; i < v->len; i++)
		buf_add_hex(&s->text, (uint8_t)v->s[i], 2, '0');
	return s->text.err ? s->text.err : report_text(r, buf_str(&s->text), s->text.len, text);
}

/* The group of a sample: 0, PP_ENOENT (it lacks a key) or an error. */
static int make_group(struct input *s, const struct ps_record *rec, uint32_t event, uint32_t *group)
{
	struct report *r = s->r;
	struct group g;
	struct qval v;
	int rc = 0;

	memset(&g, 0, sizeof(g));
	g.event = event;
	for (unsigned k = 0; k < r->nkeys && !rc; k++) {
		if (r->key[k].frame)
			continue;
		if (!expr_value(r->by, k, s->in, rec, &v))
			return PP_ENOENT;
		rc = key_text(s, k, &v, &g.key[k]);
	}
	return rc ? rc : report_group(r, &g, group);
}

static int group_of(struct input *s, const struct ps_record *rec, uint32_t event, uint32_t *group)
{
	const struct ps_sample *p = &rec->sample;
	uint64_t key = (uint64_t)event << 32 | p->comm;
	struct recent_group *q = &s->recent[(p->comm + event) % RECENT];
	int rc;

	if (!s->comm_only)
		return make_group(s, rec, event, group);
	if (q->group && q->key == key) {
		*group = q->group;
		return 0;
	}
	used(p->comm, &s->used_string);
	rc = make_group(s, rec, event, group);
	if (!rc)
		*q = (struct recent_group){key, *group};
	return rc;
}

/* ---- samples ---- */

static int stack_node(struct input *s, const struct ps_sample *p, uint32_t event, uint32_t group,
		      uint32_t *node, uint32_t *end)
{
	const struct ps_stack *st;
	const struct ps_stack *at_ip =
		ps_sample_has(p, ip_stack) ? sreader_stack(s->in, p->ip_stack) : NULL;
	struct known_stack *k = !at_ip && p->stack < s->nstacks ? &s->stacks[p->stack] : NULL;
	size_t n = 0, first;
	int rc = input_room(s, 1);

	if (k && k->group == group) {
		*node = k->node;
		*end = k->end;
		return 0;
	}
	st = sreader_stack(s->in, p->stack);
	if (at_ip && !rc)
		rc = input_stack(s, at_ip, &n, end);
	if (st) {
		s->r->events[event].deep |= st->frames.n > 1;
		first = n;
		rc = rc ? rc : input_stack(s, st, &n, end);
		/* The chain begins elsewhere in the same function. */
		if (first && n > first && s->path[first] == s->path[first - 1])
			memmove(s->path + first, s->path + first + 1,
				(--n - first) * sizeof(*s->path));
	} else {
		s->undefined = true;
	}
	if (rc)
		return rc;
	s->path[n++] = group;
	rc = fold_stack(s->r->tree, s->path, n, node);
	if (!rc && k)
		*k = (struct known_stack){group, *node, (uint8_t)*end};
	return rc;
}

static int chain_node(struct input *s, const struct ps_sample *p, uint32_t event, uint32_t group,
		      uint32_t *node)
{
	const struct ps_chain *c = ps_sample_has(p, chain) ? sreader_chain(s->in, p->chain) : NULL;
	uint64_t key = (uint64_t)group << 32 | (c ? p->chain : 0);
	uint32_t *slot = map64_put(&s->chains, key, NULL);
	size_t n = 0;
	int rc = input_room(s, 1);

	if (!slot)
		return PP_ENOMEM;
	s->r->account.raw += c != NULL;
	used(c ? p->chain : 0, &s->used_chain);
	if (*slot) {
		*node = *slot;
		return 0;
	}
	if (c) {
		s->r->events[event].deep |= c->ips.n > 2;
		rc = rc ? rc : input_chain(s, c, &n);
	}
	if (rc)
		return rc;
	s->path[n++] = group;
	rc = fold_stack(s->r->tree, s->path, n, node);
	if (!rc)
		*slot = *node;
	return rc;
}

static int on_sample(struct input *s, const struct ps_record *rec)
{
	struct report_account *a = &s->r->account;
	const struct ps_sample *p = &rec->sample;
	uint32_t event, group, node, end = PS_END_NONE;
	struct report_event *e;
	uint64_t weight;
	int rc;

	a->samples++;
	if (p->flags & PS_SAMPLE_JOINED) {
		a->joined++;
		return 0;
	}
	if ((p->flags & PS_MARK_MASK) != PS_MARK_PASS) {
		a->filtered++;
		return 0;
	}
	rc = event_of(s, p->event, &event);
	if (rc || event == REPORT_NONE) {
		a->others += !rc;
		return rc;
	}
	rc = group_of(s, rec, event, &group);
	if (rc) {
		a->no_key += rc == PP_ENOENT;
		return rc == PP_ENOENT ? 0 : rc;
	}
	rc = ps_sample_has(p, stack) ? stack_node(s, p, event, group, &node, &end)
				     : chain_node(s, p, event, group, &node);
	if (rc)
		return rc;
	weight = s->r->o.count || !ps_sample_has(p, period) ? 1
							    : fold_period(&a->periods, p->period);
	e = &s->r->events[event];
	if (end) {
		e->ended[end]++;
		e->ended_weight[end] += weight;
	}
	e->bare += !(p->fields & (PS_HAS(stack) | PS_HAS(chain)));
	rc = report_add(s->r, event, node, weight, 1);
	return rc || (!s->r->o.function && !s->r->o.view)
		       ? rc
		       : report_place(s->r, s->in, p, event, weight);
}

/* ---- what is forgotten ---- */

static void forget_chains(struct input *s)
{
	map64_clear(&s->chains);
	s->used_chain = 0;
}

static void forget_stacks(struct input *s)
{
	forget_chains(s);
	if (s->nstacks)
		memset(s->stacks, 0, s->nstacks * sizeof(*s->stacks));
	s->used_frame = 0;
}

static void forget_frames(struct input *s)
{
	if (s->nframes)
		memset(s->frames, 0, s->nframes * sizeof(*s->frames));
	input_forget_texts(&s->symbols);
	input_forget_texts(&s->dsos);
	s->used_symbol = s->used_dso = 0;
	forget_stacks(s);
}

static void forget_comms(struct input *s)
{
	memset(s->recent, 0, sizeof(s->recent));
	s->used_string = 0;
}

static void forget_all(struct input *s)
{
	forget_comms(s);
	forget_frames(s);
	if (s->nevents)
		memset(s->events, 0, s->nevents * sizeof(*s->events));
	event_numbers_forget(&s->numbers);
}

static int new_stack(struct input *s, uint32_t id)
{
	struct known_stack *v;

	if (id == 1)
		forget_stacks(s);
	v = array_widen(s->stacks, &s->nstacks, id, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->stacks = v;
	v[id] = (struct known_stack){0};
	return 0;
}

static int new_frame(struct input *s, uint32_t id)
{
	struct known_frame *v;

	if (id == 1)
		forget_frames(s);
	else if (id <= s->used_frame)
		forget_stacks(s);
	v = array_widen(s->frames, &s->nframes, id, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->frames = v;
	v[id] = (struct known_frame){0};
	return 0;
}

/* A record that is no sample: what was made of an id is forgotten when it is defined again. */
static int see(struct input *s, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_HEADER: forget_all(s); break;
	case PS_EVENT: return new_event(s, rec->source, &rec->event);
	case PS_STACK: return new_stack(s, rec->stack.id);
	case PS_FRAME: return new_frame(s, rec->frame.id);
	case PS_STRING:
		if (rec->string.id <= s->used_string)
			forget_comms(s);
		break;
	case PS_CHAIN:
		if (rec->chain.id <= s->used_chain)
			forget_chains(s);
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
	int rc;

	if (rec->type == PS_SAMPLE) {
		rc = s->r->every && !(rec->sample.flags & PS_SAMPLE_NO_TIME)
			     ? every_see(s->r->every, rec->sample.time)
			     : 0;
		return rc ? rc : on_sample(s, rec);
	}
	rc = rec->type == PS_HEADER && s->r->every ? every_next(s->r->every) : 0;
	rc = rc ? rc : see(s, rec);
	if (rc || !s->r->by)
		return rc;
	kfunc_see(s->r->kfunc, rec);
	return expr_see(s->r->by, s->in, rec);
}

static void release(struct input *s)
{
	sreader_free(s->in);
	free(s->events);
	event_numbers_release(&s->numbers);
	free(s->frames);
	free(s->symbols.v);
	free(s->dsos.v);
	free(s->stacks);
	map64_release(&s->chains);
	free(s->path);
	buf_release(&s->text);
}

int report_stream(struct report *r, struct src *src)
{
	struct input s = {.r = r, .comm_only = true};
	const struct ps_record *rec;
	int rc, status;

	if (r->every)
		src_on_pause(src, every_pause, r->every);
	rc = sreader_new(&s.in, src, KEEP, r->d);
	if (rc)
		return PP_EXIT_FAIL;
	r->text_only = false;
	for (unsigned k = 0; k < r->nkeys; k++) {
		s.by_line |= r->key[k].frame && r->key[k].id == FIELD_SRCLINE;
		s.comm_only &= r->key[k].frame || r->key[k].own;
	}
	while (!(rc = sreader_next(s.in, &rec)) && !(rc = on_record(&s, rec)))
		;
	status = r->every ? every_status(r->every) : -1;
	if (status < 0)
		status = sreader_status(s.in, rc);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT) {
		diag_error(r->d, NULL, -1, "cannot keep all stacks: %s", pp_strerror(rc));
		status = PP_EXIT_FAIL;
	}
	if (s.undefined) {
		diag_error(
			r->d, src_name(src), -1,
			"the stream is damaged: samples refer to something that it does not define");
		status = status ? status : PP_EXIT_PARTIAL;
	}
	r->account.lost += sreader_account(s.in)->lost;
	release(&s);
	return status;
}
