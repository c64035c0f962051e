#include "query/fold_stream.h"

#include "base/err.h"
#include "base/intern.h"
#include "query/fold_tidy.h"
#include "stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_TRACEPOINT 2
#define KEY_CHAIN	(1ull << 31) /* in the key of a node: the low bits are a chain, not a stack */
#define CONTEXT_MIN	((uint64_t)-4095) /* call chain values from here on are no addresses */

/* What is known of an event descriptor. */
enum choice { CHOICE_NEW, CHOICE_FOLD, CHOICE_FOLD_ONE, CHOICE_LEAVE };

/* The node of a stack below the command that it was last seen with. */
struct stack_node {
	uint32_t comm; /* name id; 0: none */
	uint32_t node;
};

/* The names of the threads that were seen last, by tid: most samples are of one of a few threads. */
#define RECENT_COMMS 256

struct comm_name {
	uint32_t comm, tid; /* of the sample */
	uint32_t value;	    /* as in comms; 0: none */
};

struct fstream {
	struct comm_name recent[RECENT_COMMS];
	struct fold *fold;
	const struct fold_opts *opts;
	struct fold_account *account;
	struct sreader *in;
	struct map64 comms;	   /* thread and string id: name id * 2 + is Java */
	struct map64 nodes;	   /* comm's name id, and stack or chain id: node + 1 */
	struct stack_node *stacks; /* by stack id: a quick way past nodes */
	uint32_t stacks_cap;
	struct map64 ips; /* address of a chain without symbols: name id */
	/* The greatest ids that were looked up since the tables above were emptied. */
	uint32_t used_string, used_stack, used_chain, used_frame, used_symbol, used_dso;
	uint32_t *names[2]; /* by frame id, for Java and others: name id; 0: not yet */
	uint32_t frames_cap;
	uint8_t *events; /* by event id: enum choice */
	uint32_t events_cap;
	uint32_t *path; /* names of the stack that is being made */
	size_t path_cap;
	struct buf name;
	bool undefined; /* something was referred to that the stream does not define */
	uint64_t raw;	/* samples that were folded without symbols */
};

static void used(uint32_t id, uint32_t *most)
{
	if (id > *most)
		*most = id;
}

/* Makes room for index i in an array of u32, zeroed. */
static int widen(uint32_t **v, uint32_t old, uint32_t cap)
{
	uint32_t *w = realloc(*v, cap * sizeof(*w));

	if (!w)
		return PP_ENOMEM;
	memset(w + old, 0, (cap - old) * sizeof(*w));
	*v = w;
	return 0;
}

/* The place of a frame's name. NULL: out of memory. */
static uint32_t *frame_name(struct fstream *s, uint32_t frame, bool java)
{
	if (frame >= s->frames_cap) {
		uint32_t cap = s->frames_cap ? s->frames_cap : 4096;

		while (cap <= frame)
			cap *= 2;
		if (widen(&s->names[0], s->frames_cap, cap) ||
		    widen(&s->names[1], s->frames_cap, cap))
			return NULL;
		s->frames_cap = cap;
	}
	return &s->names[java][frame];
}

static int name_frame(struct fstream *s, const struct ps_frame *f, uint64_t ip, bool java,
		      uint32_t *id)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(s->in, f->symbol) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(s->in, f->dso) : NULL;
	struct fold_symbol fs = {
		.func = "[unknown]", .func_len = 9, .dso = "[unknown]", .dso_len = 9};
	char pc[24];

	used(f->symbol, &s->used_symbol);
	used(f->dso, &s->used_dso);
	if (sym) {
		fs.func = sym->name.p;
		fs.func_len = sym->name.len;
	}
	if (dso) {
		fs.dso = dso->path.p;
		fs.dso_len = dso->path.len;
		/* The kernel's mark of a file that is gone would be taken for arguments. */
		if (fs.dso_len > 10 && !memcmp(fs.dso + fs.dso_len - 10, " (deleted)", 10))
			fs.dso_len -= 10;
	}
	if (s->opts->addrs) {
		fs.pc = pc;
		fs.pc_len = (size_t)snprintf(pc, sizeof(pc), "%llx",
					     (unsigned long long)(dso ? f->addr : ip));
	}
	fs.inlined = (f->flags & PS_FRAME_INLINED) != 0;
	fs.java = java;
	buf_reset(&s->name);
	fold_tidy(s->opts, &fs, &s->name);
	return s->name.err ? s->name.err : fold_name(s->fold, buf_str(&s->name), s->name.len, id);
}

/* Room for n names and the command's. */
static int path_room(struct fstream *s, size_t n)
{
	uint32_t *path;

	if (n < s->path_cap)
		return 0;
	path = realloc(s->path, (n + 64) * 2 * sizeof(*path));
	if (!path)
		return PP_ENOMEM;
	s->path = path;
	s->path_cap = (n + 64) * 2;
	return 0;
}

/* The address of the next frame in a call chain; that of the sample when there is none. */
static uint64_t next_ip(const struct ps_chain *c, uint32_t *at, uint64_t sample_ip)
{
	while (c && *at < c->ips.n) {
		uint64_t ip = c->ips.v[(*at)++];

		if (ip < CONTEXT_MIN)
			return ip;
	}
	return sample_ip;
}

/* Adds the names of a stack, leaf first. The addresses of its frames are in the call chain. */
static int stack_path(struct fstream *s, const struct ps_sample *p, const struct ps_stack *st,
		      const struct ps_chain *c, bool java, size_t *n)
{
	static const struct ps_frame nothing;
	int rc = path_room(s, *n + st->frames.n);
	bool shared = false;
	uint32_t at = 0;
	uint64_t ip = 0;

	for (uint32_t i = 0; i < st->frames.n && !rc; i++) {
		uint32_t id = st->frames.v[i], *name, unknown = 0;
		const struct ps_frame *f = sreader_frame(s->in, id);

		if (!f) {
			s->undefined = true;
			f = &nothing;
			id = 0;
		}
		if (s->opts->addrs && !shared)
			ip = next_ip(c, &at, p->ip);
		shared = (f->flags & PS_FRAME_INLINED) != 0;
		/* A frame without a mapping stands for many addresses. */
		name = s->opts->addrs && !f->dso ? &unknown : frame_name(s, id, java);
		if (!name)
			return PP_ENOMEM;
		used(id, &s->used_frame);
		if (!*name)
			rc = name_frame(s, f, ip, java, name);
		s->path[(*n)++] = *name;
	}
	return rc;
}

/* A chain that nobody symbolized: its addresses are the names. */
static int chain_path(struct fstream *s, const struct ps_chain *c, size_t *n)
{
	int rc = path_room(s, *n + c->ips.n);

	for (uint32_t i = 0; i < c->ips.n && !rc; i++) {
		uint64_t ip = c->ips.v[i];
		uint32_t *name;
		char text[24];
		int len;

		if (ip >= CONTEXT_MIN)
			continue;
		name = map64_put(&s->ips, ip, NULL);
		if (!name)
			return PP_ENOMEM;
		len = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)ip);
		if (!*name)
			rc = fold_name(s->fold, text, (size_t)len, name);
		s->path[(*n)++] = *name;
	}
	return rc;
}

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

static void note_unit(struct fold_account *a, struct ps_str unit)
{
	bool same = strlen(a->unit) == unit.len && !memcmp(a->unit, unit.p, unit.len);

	if (a->units || same)
		return;
	a->units = *a->unit || unit.len >= sizeof(a->unit);
	a->unit[0] = 0;
	if (!a->units && unit.len) {
		memcpy(a->unit, unit.p, unit.len);
		a->unit[unit.len] = 0;
	}
}

/* Whether samples of an event are folded, and whether they weigh 1; decided once. */
static int choose(struct fstream *s, uint32_t id, uint8_t *choice)
{
	const struct ps_event *e = sreader_event(s->in, id);
	bool fold, one;

	if (!e) {
		s->undefined = true;
		*choice = CHOICE_LEAVE;
		return 0;
	}
	if (id >= s->events_cap) {
		uint32_t cap = (id + 16) * 2;
		uint8_t *v = realloc(s->events, cap);

		if (!v)
			return PP_ENOMEM;
		memset(v + s->events_cap, CHOICE_NEW, cap - s->events_cap);
		s->events = v;
		s->events_cap = cap;
	}
	if (s->events[id] == CHOICE_NEW) {
		one = s->opts->count || e->type == TYPE_TRACEPOINT ||
		      !(e->flags & PS_EVENT_SAMPLED);
		if (e->type == TYPE_TRACEPOINT && (!s->opts->event || !*s->opts->event))
			fold = fold_event(s->fold, "tracepoints", 11);
		else
			fold = fold_event(s->fold, e->name.p, e->name.len);
		s->events[id] = !fold ? CHOICE_LEAVE : one ? CHOICE_FOLD_ONE : CHOICE_FOLD;
		if (fold)
			note_unit(s->account, one ? ps_str("samples", 7) : e->unit);
	}
	*choice = s->events[id];
	return 0;
}

/* Adds the names of a sample's stack, leaf first, and its command. */
static int sample_path(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		       size_t *n)
{
	const struct ps_stack *st = ps_sample_has(p, stack) ? sreader_stack(s->in, p->stack) : NULL;
	const struct ps_chain *c = ps_sample_has(p, chain) ? sreader_chain(s->in, p->chain) : NULL;
	int rc = path_room(s, *n);

	/* What is not defined is not known: the sample counts for its command alone. */
	if ((ps_sample_has(p, stack) && !st) || (!st && ps_sample_has(p, chain) && !c))
		s->undefined = true;
	if (!rc && st)
		rc = stack_path(s, p, st, c, java, n);
	else if (!rc && c)
		rc = chain_path(s, c, n);
	if (!rc)
		s->path[(*n)++] = comm;
	return rc;
}

static int make_node(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		     uint32_t *node)
{
	size_t n = 0;
	int rc = sample_path(s, p, comm, java, &n);

	return rc ? rc : fold_stack(s->fold, s->path, n, node);
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
 * Both stacks of a sample as one: from the command to where it sleeps, then `--` and the waker's from
 * its innermost function to its command, so that the two ends meet.
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
			rc = sample_path(s, &other, waker, waker_java, &n);
		for (size_t i = 0; !rc && i < n / 2; i++) {
			name = s->path[i];
			s->path[i] = s->path[n - 1 - i];
			s->path[n - 1 - i] = name;
		}
		if (!rc)
			rc = fold_name(s->fold, "--", 2, &name);
		if (!rc)
			rc = path_room(s, n);
		if (!rc)
			s->path[n++] = name;
	}
	s->raw += raw(p) || raw(&other);
	if (!rc)
		rc = sample_path(s, p, comm, java, &n);
	return rc ? rc : fold_stack(s->fold, s->path, n, node);
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
		return make_node(s, p, comm, java, node);
	if (ps_sample_has(p, stack) && !by_chain) {
		key |= p->stack;
		quick = p->stack < s->stacks_cap ? &s->stacks[p->stack] : NULL;
		if (quick && quick->comm == comm) {
			*node = quick->node;
			return 0;
		}
	} else if (ps_sample_has(p, chain)) {
		key |= KEY_CHAIN | p->chain;
		s->raw += raw(p);
	}
	slot = map64_put(&s->nodes, key, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		rc = make_node(s, p, comm, java, node);
		if (rc)
			return rc;
		*slot = *node + 1;
	}
	used(ps_sample_has(p, stack) ? p->stack : 0, &s->used_stack);
	used(ps_sample_has(p, chain) ? p->chain : 0, &s->used_chain);
	*node = *slot - 1;
	if (quick)
		*quick = (struct stack_node){comm, *node};
	return 0;
}

/* A stack was defined: nothing is known of its id. */
static int new_stack(struct fstream *s, uint32_t id)
{
	if (id >= s->stacks_cap) {
		uint32_t cap = s->stacks_cap ? s->stacks_cap : 4096;
		struct stack_node *v;

		while (cap <= id)
			cap *= 2;
		v = realloc(s->stacks, cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		memset(v + s->stacks_cap, 0, (cap - s->stacks_cap) * sizeof(*v));
		s->stacks = v;
		s->stacks_cap = cap;
	}
	s->stacks[id].comm = 0;
	return 0;
}

static int on_sample(struct fstream *s, const struct ps_sample *p)
{
	struct ps_sample other;
	uint32_t comm, node;
	uint8_t choice;
	bool java;
	int rc;

	s->account->samples++;
	/* First the mark: a sample that fails shall not decide which event is folded. */
	if ((p->flags & PS_MARK_MASK) != PS_MARK_PASS || (p->flags & PS_SAMPLE_JOINED)) {
		s->account->filtered++;
		return 0;
	}
	rc = choose(s, p->event, &choice);
	if (rc)
		return rc;
	if (choice == CHOICE_LEAVE) {
		s->account->filtered++;
		return 0;
	}
	if (s->opts->second == FOLD_OTHER) {
		turn(p, &other);
		p = &other;
	}
	rc = sample_comm(s, p, &comm, &java);
	if (rc)
		return rc;
	rc = node_of(s, p, comm, java, &node);
	if (rc)
		return rc;
	if (p->fields & (PS_HAS(stack) | PS_HAS(chain)))
		s->account->folded++;
	else
		s->account->bare++;
	fold_add(s->fold, node,
		 choice == CHOICE_FOLD_ONE || !ps_sample_has(p, period) ? 1 : p->period);
	return 0;
}

static void forget_stacks(struct fstream *s)
{
	map64_clear(&s->nodes);
	if (s->stacks_cap)
		memset(s->stacks, 0, s->stacks_cap * sizeof(*s->stacks));
	s->used_stack = s->used_chain = s->used_frame = 0;
}

static void forget_names(struct fstream *s)
{
	for (int java = 0; java < 2 && s->frames_cap; java++)
		memset(s->names[java], 0, s->frames_cap * sizeof(uint32_t));
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
		uint32_t *name = frame_name(s, id, java);

		if (!name)
			return PP_ENOMEM;
		*name = 0;
	}
	return 0;
}

static int on_record(struct fstream *s, const struct ps_record *rec)
{
	/* An id that was looked up is defined again: what was made of it is forgotten. */
	switch (rec->type) {
	case PS_SAMPLE: return on_sample(s, &rec->sample);
	case PS_STRING:
		if (rec->string.id <= s->used_string)
			forget_comms(s);
		break;
	case PS_STACK:
		if (rec->stack.id <= s->used_stack)
			forget_stacks(s);
		return new_stack(s, rec->stack.id);
	case PS_CHAIN:
		if (rec->chain.id <= s->used_chain)
			forget_stacks(s);
		break;
	case PS_FRAME:
		if (rec->frame.id <= s->used_frame)
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
			s->events[rec->event.id] = CHOICE_NEW;
		break;
	case PS_HEADER:
		forget_comms(s);
		forget_names(s);
		if (s->events_cap)
			memset(s->events, CHOICE_NEW, s->events_cap);
		break;
	}
	return 0;
}

static void release(struct fstream *s)
{
	sreader_free(s->in);
	map64_release(&s->comms);
	map64_release(&s->nodes);
	map64_release(&s->ips);
	free(s->names[0]);
	free(s->names[1]);
	free(s->events);
	free(s->stacks);
	free(s->path);
	buf_release(&s->name);
}

int fold_stream(struct fold *f, struct src *src)
{
	struct fstream s = {.fold = f, .opts = fold_options(f), .account = fold_account(f)};
	const unsigned keep = SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS;
	struct diag *d = fold_diag(f);
	struct ps_record rec;
	int rc = sreader_new(&s.in, src, keep, d), status;

	if (rc)
		return rc;
	while (!(rc = sreader_next(s.in, &rec)) && !(rc = on_record(&s, &rec)))
		;
	status = sreader_status(s.in, rc);
	if (s.undefined) {
		diag_error(d, src_name(src), -1,
			   "the stream is damaged: samples refer to what it does not define");
		status = status ? status : PP_EXIT_PARTIAL;
	} else if (rc == PP_END && status == PP_EXIT_PARTIAL) {
		/* Otherwise the reader has said what is wrong. */
		diag_say(d, src_name(src),
			 "the result is partial: a filter before this one says why");
	}
	s.account->lost += sreader_account(s.in)->lost;
	if (s.raw)
		diag_say(d, NULL, "%llu samples have addresses only: put psym before pfold",
			 (unsigned long long)s.raw);
	release(&s);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		return rc;
	return status == PP_EXIT_OK ? 0 : status == PP_EXIT_PARTIAL ? PP_ECUT : rc;
}
