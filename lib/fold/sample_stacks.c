/* Folds event streams: the samples, their commands and events, what is remembered of them. */
#include "fold/sample_stacks.h"

#include "base/err.h"
#include "base/array.h"
#include "fold/sample_stacks_parts.h"
#include "fold/tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_TRACEPOINT 2
/* in the key of a node: the low bits are a chain, not a stack */
#define KEY_CHAIN (1ull << 31)

/* The command of a sample as a name. */
static int sample_comm(struct fstream *s, const struct ps_sample *p, uint32_t *comm, bool *java)
{
	bool by_thread = s->opts->pid || s->opts->tid;
	struct comm_name *quick = &s->recent[p->tid % RECENT_COMMS];
	uint64_t key = p->comm | (by_thread ? (uint64_t)p->tid << 32 : 0);
	uint32_t *slot, name;
	char pid[16], tid[16];
	const char *text;
	size_t len;
	int rc;

	if (quick->value && quick->comm == p->comm && quick->tid == p->tid) {
		*comm = quick->value / 2;
		*java = quick->value & 1;
		return 0;
	}
	slot = map64_put(&s->comms, key, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		used(p->comm, &s->used_string);
		text = sreader_string(s->in, p->comm, &len);
		if (!text)
			text = "[unknown]", len = 9;
		snprintf(pid, sizeof(pid), "%d", (int)p->pid);
		snprintf(tid, sizeof(tid), "%d", (int)p->tid);
		rc = fold_comm(s->fold, text, len, pid, tid, &name);
		if (rc)
			return rc;
		*slot = name * 2 + fold_is_java(text, len);
	}
	*quick = (struct comm_name){p->comm, p->tid, *slot};
	*comm = *slot / 2;
	*java = *slot & 1;
	return 0;
}

/* The name of a command becomes that of it in the sample's slice of time. */
static int slice_comm(struct fstream *s, const struct ps_sample *p, uint32_t *comm)
{
	const struct fold_opts *o = s->opts;
	uint64_t slice = 0;
	const char *text;
	uint32_t *slot;
	size_t len;
	int rc;

	if (!(p->flags & PS_SAMPLE_NO_TIME) && p->time > o->slice_first)
		slice = (p->time - o->slice_first) / o->slice_width;
	if (slice >= o->slices)
		slice = o->slices - 1;
	slot = map64_put(&s->sliced, slice << 32 | *comm, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		text = fold_name_text(s->fold, *comm, &len);
		buf_reset(&s->name);
		buf_addf(&s->name, "%02u ", (unsigned)slice);
		buf_add(&s->name, text, len);
		rc = s->name.err ? s->name.err
				 : fold_name(s->fold, buf_str(&s->name), s->name.len, slot);
		if (rc)
			return rc;
	}
	*comm = *slot;
	return 0;
}

/* The lane of an event's samples. */
static uint32_t lane_of(struct fstream *s, const struct ps_event *e)
{
	if (e->perf_type == TYPE_TRACEPOINT && (!s->opts->event || !*s->opts->event))
		return fold_event(s->fold, "tracepoints", 11);
	return fold_event(s->fold, e->name.p, e->name.len);
}

/* Whether samples of an event are folded, and whether they weigh 1; decided once. */
static int choose(struct fstream *s, uint32_t id, struct fold_event *choice)
{
	const struct ps_event *e = sreader_event(s->in, id);
	struct fold_event *k;
	uint32_t lane;
	bool one, count;

	*choice = (struct fold_event){CHOICE_LEAVE, 0};
	if (!e) {
		s->undefined = true;
		return 0;
	}
	k = array_widen(s->events, &s->events_cap, id, 16, sizeof(*k));
	if (!k)
		return PP_ENOMEM;
	s->events = k;
	k += id;
	if (k->choice == CHOICE_NEW) {
		one = e->perf_type == TYPE_TRACEPOINT || !(e->flags & PS_EVENT_SAMPLED);
		count = one || s->opts->count;
		lane = lane_of(s, e);
		k->choice = lane == FOLD_LEAVE ? CHOICE_LEAVE : one ? CHOICE_FOLD_ONE : CHOICE_FOLD;
		k->lane = (uint8_t)lane;
		if (lane != FOLD_LEAVE)
			fold_note(s->fold, lane, e->name.p, e->name.len,
				  count ? "samples" : e->unit.p,
				  count ? strlen("samples") : e->unit.len);
	} else if (k->choice == CHOICE_LEAVE) {
		lane_of(s, e);
	}
	*choice = *k;
	return 0;
}

/* The second stack of a sample as if it was the first one of a sample of the other thread's. */
static void turn(const struct ps_sample *p, struct ps_sample *other)
{
	*other = (struct ps_sample){
		.event = p->event,
		.pid = ps_sample_has(p, other_pid) ? (uint32_t)p->other_pid : PS_NONE,
		.tid = ps_sample_has(p, other_tid) ? (uint32_t)p->other_tid : PS_NONE,
		.comm = p->other_comm,
		.fields = (ps_sample_has(p, other_stack) ? PS_HAS(stack) : 0) |
			  (ps_sample_has(p, other_chain) ? PS_HAS(chain) : 0) |
			  (p->fields & PS_HAS(period)),
		.stack = p->other_stack,
		.chain = p->other_chain,
		.period = p->period};
}

static bool raw(const struct ps_sample *p)
{
	return ps_sample_has(p, chain) && !ps_sample_has(p, stack);
}

/*
 * Both stacks of a sample as one: from the command to where it sleeps, then `--` and the waker's
 * from its innermost function to its command, so that the two ends meet.
 */
static int both_node(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		     uint32_t *node)
{
	struct ps_sample other;
	uint32_t waker, name;
	bool waker_java;
	size_t n = 0;
	int rc = 0;

	turn(p, &other);
	if (other.comm || other.fields & (PS_HAS(stack) | PS_HAS(chain))) {
		rc = sample_comm(s, &other, &waker, &waker_java);
		if (!rc)
			rc = fstream_path(s, &other, waker, waker_java, &n);
		for (size_t i = 0; !rc && i < n / 2; i++) {
			name = s->path[i];
			s->path[i] = s->path[n - 1 - i];
			s->path[n - 1 - i] = name;
		}
		if (!rc)
			rc = fold_name(s->fold, "--", 2, &name);
		if (!rc)
			rc = fstream_room(s, n);
		if (!rc)
			s->path[n++] = name;
	}
	s->raw += raw(p) || raw(&other);
	if (!rc)
		rc = fstream_path(s, p, comm, java, &n);
	return rc ? rc : fold_stack(s->fold, s->path, n, node);
}

/*
 * Counts a sample by its stack's id: most are. False: by its chain, or with the stack of another,
 * is how it has to be counted; or the stack is new.
 */
static bool count_stack(struct fstream *s, const struct ps_sample *p, uint32_t comm,
			uint64_t weight)
{
	if (s->opts->addrs || s->opts->second == FOLD_BOTH || !ps_sample_has(p, stack) ||
	    p->stack >= s->stacks_cap || s->stacks[p->stack].comm != comm)
		return false;
	fold_add(s->fold, s->stacks[p->stack].node, weight);
	return true;
}

/* The node of a sample's stack, made when it is new. */
static int node_of(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		   uint32_t *node)
{
	/* With addresses in the names, a stack is that of one call chain only. */
	bool by_chain = s->opts->addrs && ps_sample_has(p, chain);
	struct stack_node *quick = NULL;
	uint64_t key = (uint64_t)comm << 32;
	uint32_t *slot;
	int rc;

	if (s->opts->second == FOLD_BOTH)
		return both_node(s, p, comm, java, node);
	if (s->opts->addrs && !by_chain)
		return fstream_node(s, p, comm, java, node);
	if (ps_sample_has(p, stack) && !by_chain) {
		quick = p->stack < s->stacks_cap ? &s->stacks[p->stack] : NULL;
		/*
		 * The fold finds what it has seen; a table of commands and stacks would be larger.
		 */
		rc = fstream_node(s, p, comm, java, node);
		if (!rc && quick)
			*quick = (struct stack_node){comm, *node};
		return rc;
	}
	if (ps_sample_has(p, chain)) {
		key |= KEY_CHAIN | p->chain;
		s->raw += raw(p);
		used(p->chain, &s->used_chain);
		used(ps_sample_has(p, stack) ? p->stack : 0, &s->used_stack);
	}
	slot = map64_put(&s->nodes, key, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		rc = fstream_node(s, p, comm, java, node);
		if (rc)
			return rc;
		*slot = *node + 1;
	}
	*node = *slot - 1;
	return 0;
}

/* A stack was defined: nothing is known of its id. */
static int new_stack(struct fstream *s, uint32_t id)
{
	struct stack_node *v = array_widen(s->stacks, &s->stacks_cap, id, 4096, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->stacks = v;
	v[id].comm = 0;
	return 0;
}

/* A call of the function_graph tracer, or its end, which counts. */
static int on_call(struct fstream *s, const struct ps_record *rec)
{
	const struct ps_sample *p = &rec->sample;
	uint64_t weight;
	uint32_t comm, node, lane;
	size_t n = 0;
	bool java;
	int rc = fstream_room(s, FOLD_GRAPH_DEPTH + FOLD_BY_MAX);

	s->account->samples++;
	if (!rc)
		rc = fold_graph_call(&s->graph, s->in, rec, s->path, &n, &weight);
	/* What a filter leaves out still tells where a thread is. */
	if (rc || (p->flags & PS_MARK_MASK) != PS_MARK_PASS) {
		s->account->filtered++;
		return rc;
	}
	if (s->calls.choice != CHOICE_FOLD) {
		lane = fold_event(s->fold, FOLD_GRAPH, strlen(FOLD_GRAPH));
		s->calls.choice = lane == FOLD_LEAVE ? CHOICE_LEAVE : CHOICE_FOLD;
		s->calls.lane = (uint8_t)lane;
		if (lane != FOLD_LEAVE)
			fold_note(s->fold, lane, FOLD_GRAPH, strlen(FOLD_GRAPH),
				  s->opts->count ? "calls" : "ns", s->opts->count ? 5 : 2);
	}
	if (s->calls.choice == CHOICE_LEAVE) {
		s->account->filtered++;
		return 0;
	}
	if (!n) {
		s->account->joined++;
		return 0;
	}
	fold_sample(s->fold, s->calls.lane, weight, false, true);
	rc = sample_comm(s, p, &comm, &java);
	if (!rc && s->opts->nby)
		rc = fold_by_apply(&s->by, s->in, rec, &comm);
	if (rc)
		return rc;
	fold_by_put(&s->by, comm, s->path, &n);
	rc = fold_stack(s->fold, s->path, n, &node);
	if (!rc)
		fold_add(s->fold, node, s->opts->count ? 1 : weight);
	return rc;
}

static int on_sample(struct fstream *s, const struct ps_record *rec)
{
	const struct ps_sample *p = &rec->sample;
	struct ps_sample other;
	uint32_t comm, node;
	uint64_t weight;
	struct fold_event e;
	bool java, told;
	int rc;

	if (s->graph.any && fold_graph_is(&s->graph, p->event))
		return on_call(s, rec);
	s->account->samples++;
	/* First the mark: a sample that fails must not decide which event is folded. */
	if ((p->flags & PS_MARK_MASK) != PS_MARK_PASS || (p->flags & PS_SAMPLE_JOINED)) {
		s->account->filtered++;
		return 0;
	}
	rc = choose(s, p->event, &e);
	if (rc)
		return rc;
	if (e.choice == CHOICE_LEAVE) {
		s->account->filtered++;
		return 0;
	}
	if (s->opts->second == FOLD_OTHER) {
		turn(p, &other);
		p = &other;
	}
	rc = sample_comm(s, p, &comm, &java);
	if (!rc && s->opts->slices)
		rc = slice_comm(s, p, &comm);
	if (!rc && s->opts->nby)
		rc = fold_by_apply(&s->by, s->in, rec, &comm);
	if (rc)
		return rc;
	told = e.choice != CHOICE_FOLD_ONE && ps_sample_has(p, period);
	weight = told ? p->period : 1;
	fold_sample(s->fold, e.lane, weight, told, p->fields & (PS_HAS(stack) | PS_HAS(chain)));
	weight = s->opts->count ? 1 : weight;
	if (!(p->flags & PS_SAMPLE_NO_TIME))
		fold_at(s->fold, p->time, p->tid);
	if (fstream_count_parts(s, p, comm, java, weight, &rc) || count_stack(s, p, comm, weight))
		return rc;
	rc = node_of(s, p, comm, java, &node);
	if (!rc)
		fold_add(s->fold, node, weight);
	return rc;
}

/* The samples that were folded by their chain. */
static void forget_chains(struct fstream *s)
{
	map64_clear(&s->nodes);
	s->used_chain = 0;
}

static void forget_stacks(struct fstream *s)
{
	forget_chains(s);
	if (s->stacks_cap)
		memset(s->stacks, 0, s->stacks_cap * sizeof(*s->stacks));
	if (s->parts_cap)
		memset(s->parts, 0, s->parts_cap * sizeof(*s->parts));
	s->used_stack = s->used_frame = 0;
}

static void forget_names(struct fstream *s)
{
	for (int java = 0; java < 2 && s->frames_cap; java++)
		memset(s->names[java], 0, s->frames_cap * sizeof(uint32_t));
	if (s->symbols_cap)
		memset(s->symbols, 0, s->symbols_cap * sizeof(*s->symbols));
	s->used_symbol = s->used_dso = 0;
	forget_stacks(s);
}

static void forget_comms(struct fstream *s)
{
	map64_clear(&s->comms);
	memset(s->recent, 0, sizeof(s->recent));
	s->used_string = 0;
}

static int new_frame(struct fstream *s, uint32_t id)
{
	for (int java = 0; java < 2; java++) {
		uint32_t *name = fstream_name(s, id, java);

		if (!name)
			return PP_ENOMEM;
		*name = 0;
	}
	return 0;
}

static int on_record(struct fstream *s, const struct ps_record *rec)
{
	if (rec->type != PS_SAMPLE && s->opts->nby && fold_by_see(&s->by, s->in, rec))
		return PP_ENOMEM;
	if (rec->type < PS_CHAIN && fold_graph_see(&s->graph, rec))
		return PP_ENOMEM;
	/* An id that was looked up is defined again: what was made of it is forgotten. */
	switch (rec->type) {
	case PS_SAMPLE: return on_sample(s, rec);
	case PS_SOURCE: fold_about_from(&s->about, rec->src.name.p, rec->src.name.len); break;
	case PS_META:
		if (rec->meta.key.len == 7 && !memcmp(rec->meta.key.p, "version", 7))
			fold_about_recorder(&s->about, rec->meta.value.p, rec->meta.value.len);
		break;
	case PS_STRING:
		if (rec->string.id <= s->used_string)
			forget_comms(s);
		break;
	case PS_STACK:
		/*
		 * With id 1 all of them are forgotten: they may be referred to, but are not
		 * defined.
		 */
		if (rec->stack.id <= s->used_stack || rec->stack.id == 1)
			forget_stacks(s);
		return new_stack(s, rec->stack.id);
	case PS_STACKS:
		if (rec->stacks.id == 1)
			forget_stacks(s);
		break;
	case PS_CHAIN:
	case PS_CHAINS:
		if (rec->chain.id <= s->used_chain)
			forget_chains(s);
		break;
	case PS_FRAME:
		if (rec->frame.id == 1)
			forget_names(s);
		else if (rec->frame.id <= s->used_frame)
			forget_stacks(s);
		return new_frame(s, rec->frame.id);
	case PS_SYMBOL:
		if (rec->symbol.id <= s->used_symbol)
			forget_names(s);
		break;
	case PS_DSO:
		if (rec->dso.id <= s->used_dso)
			forget_names(s);
		break;
	case PS_EVENT:
		if (rec->event.id < s->events_cap)
			s->events[rec->event.id].choice = CHOICE_NEW;
		break;
	case PS_HEADER:
		forget_comms(s);
		forget_names(s);
		if (s->events_cap)
			memset(s->events, 0, s->events_cap * sizeof(*s->events));
		break;
	}
	return 0;
}

static void release(struct fstream *s)
{
	sreader_free(s->in);
	map64_release(&s->comms);
	map64_release(&s->sliced);
	map64_release(&s->nodes);
	map64_release(&s->ips);
	free(s->names[0]);
	free(s->names[1]);
	free(s->symbols);
	free(s->events);
	free(s->stacks);
	free(s->parts);
	free(s->ids);
	fold_table_release(&s->paths);
	free(s->path);
	buf_release(&s->name);
	fold_by_release(&s->by);
	fold_graph_release(&s->graph);
}

int fold_stream(struct fold *f, struct src *src)
{
	struct fstream s = {.fold = f, .opts = fold_options(f), .account = fold_account(f)};
	const unsigned keep =
		SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS | SREADER_PARTS;
	struct diag *d = fold_diag(f);
	const struct ps_record *rec;
	uint64_t before = s.account->folded + s.account->bare;
	int rc = sreader_new(&s.in, src, keep, d), status, told;

	if (rc)
		return rc;
	s.by.fold = s.graph.fold = f;
	rc = fold_graph_new(&s.graph);
	if (!rc && s.opts->nby)
		rc = fold_by_new(&s.by, &(struct expr_symbols){.name = kfunc_name,
							       .device = kfunc_device,
							       .ctx = s.graph.kfunc});
	if (rc) {
		release(&s);
		return rc;
	}
	while (!(rc = sreader_next(s.in, &rec)) && !(rc = on_record(&s, rec)))
		;
	status = sreader_status(s.in, rc);
	if (s.undefined) {
		diag_error(
			d, src_name(src), -1,
			"the stream is damaged: samples refer to something that it does not define");
		status = status ? status : PP_EXIT_PARTIAL;
	}
	if (s.account->folded + s.account->bare > before && !fold_by_complete(&s.by, src_name(src)))
		status = status ? status : PP_EXIT_PARTIAL;
	s.account->lost += sreader_account(s.in)->lost;
	s.about.marked = s.judged && !s.opts->no_marks;
	told = fold_tell_lanes(f, &s.about, src_name(src));
	if (s.raw)
		diag_say(d, NULL, "%llu samples have only addresses: put psym before pfold",
			 (unsigned long long)s.raw);
	release(&s);
	if (told)
		return told;
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		return rc;
	if (status == PP_EXIT_FAIL && rc == PP_END)
		return PP_EUNSUPPORTED;
	return status == PP_EXIT_OK ? 0 : status == PP_EXIT_PARTIAL ? PP_ECUT : rc;
}
