/* The resolver itself: samples in, the stacks of their call chains and addresses out. */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* What a recording that does not show its machine goes without. */
#define ADVICE \
	"its kernel, and its files without a recorded build-id, provide no names; give --kallsyms " \
	"and --symfs, or --trust-host if it is"

static uint32_t limit(uint32_t wanted, uint32_t most)
{
	return wanted && wanted < most ? wanted : most;
}

int resolver_new(struct resolver **out, const struct resolver_opts *opts, struct swriter *w,
		 struct diag *d)
{
	struct resolver *r = calloc(1, sizeof(*r));
	bool lines = opts->inlines || opts->srcline;
	int rc;

	*out = r;
	if (!r)
		return PP_ENOMEM;
	r->opts = *opts;
	r->opts.no_stitch |= opts->like_perf;
	r->w = w;
	r->d = d;
	r->stack.depth_max = limit(opts->depth_max, RESOLVE_DEPTH_MAX);
	r->out.frames_max = limit(opts->frames_max, RESOLVE_FRAMES_MAX);
	/* The two stacks of one sample have room. */
	if (r->out.frames_max < 2 * (r->stack.depth_max + DEBUGINFO_FRAMES_MAX))
		r->out.frames_max = 2 * (r->stack.depth_max + DEBUGINFO_FRAMES_MAX);
	r->out.stacks = (struct hashids){.max_ids = limit(opts->stacks_max, RESOLVE_STACK_IDS),
					 .max_bytes = RESOLVE_STACK_BYTES};
	r->out.chains = (struct hashids){.max_ids = HASHIDS_MAX, .max_bytes = RESOLVE_CHAIN_BYTES};
	if (r->out.stacks.max_ids < 2)
		r->out.stacks.max_ids = 2;
	r->out.miss = malloc(((size_t)r->out.frames_max + 1) * sizeof(*r->out.miss));
	r->out.symbols = malloc(((size_t)r->out.frames_max + 1) * sizeof(*r->out.symbols));
	if (lines)
		r->out.lines = malloc((size_t)r->out.frames_max + 1);
	rc = r->out.miss && r->out.symbols && (r->out.lines || !lines) ? 0 : PP_ENOMEM;
	if (!rc && opts->bundle)
		rc = bundle_open(&r->bundle, opts->bundle, d);
	if (!rc)
		return 0;
	free(r->out.miss);
	free(r->out.symbols);
	free(r->out.lines);
	free(r);
	*out = NULL;
	return rc;
}

static void machine_free(struct machine *m)
{
	if (!m)
		return;
	spaces_free(m->spaces);
	kernel_release(&m->host.kernel);
	kernel_release(&m->guest.kernel);
	rjits_release(m);
	resolve_recorded_release(m);
	map64_release(&m->modules);
	map64_release(&m->text.frames);
	map64_release(&m->text.symbols);
	map64_release(&m->ksyms);
	ranges_release(&m->kmods);
	free(m);
}

/* Forgets everything that a stream defined. */
static int resolver_reset(struct resolver *r, bool keep)
{
	int rc = keep ? resolve_missing_keep(r) : 0;

	if (!rc && keep)
		rc = resolve_bundle_keep(r);
	for (uint32_t i = 0; i < r->dsos.n; i++) {
		resolve_say_unread(r, r->dsos.v[i]);
		rdso_free(r->dsos.v[i]);
	}
	for (uint32_t i = 0; i < r->machines.n; i++)
		machine_free(r->machines.v[i]);
	map64_clear(&r->dsos.by_id);
	resolve_hold_release(r);
	resolve_looks_release(r);
	resolve_forget_chains(r);
	resolve_unwind_forget(r);
	r->out.own_chains = false;
	hashids_clear(&r->out.stacks);
	hashids_clear(&r->out.chains);
	intern_release(&r->out.srcfiles);
	r->dsos.n = r->machines.n = r->out.nframes = r->out.nsymbols = 0;
	return rc;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	resolver_reset(r, false);
	if (r->bundle)
		bundle_close(r->bundle, PP_END);
	free(r->dsos.v);
	free(r->machines.v);
	free(r->seen.chains);
	free(r->seen.parts);
	free(r->seen.recall);
	free(r->seen.path);
	free(r->out.miss);
	free(r->out.symbols);
	free(r->out.lines);
	resolve_missing_release(r);
	map64_release(&r->dsos.by_id);
	hashids_release(&r->out.stacks);
	hashids_release(&r->out.chains);
	resolve_unwind_release(r);
	buf_release(&r->out.name);
	free(r);
}

int resolver_drain(void *resolver)
{
	return resolve_held(resolver);
}

const struct resolver_stats *resolver_stats(const struct resolver *r)
{
	return &r->stats;
}

uint32_t resolver_status(struct resolver *r)
{
	for (uint32_t i = 0; i < r->dsos.n; i++)
		resolve_say_unread(r, r->dsos.v[i]);
	return r->stats.useless ? PP_EXIT_FAIL : r->stats.failed ? PP_EXIT_PARTIAL : PP_EXIT_OK;
}

static int machine_of(struct resolver *r, uint32_t source, struct machine **out)
{
	struct machine **v, *m;

	v = array_widen(r->machines.v, &r->machines.n, source, 8, sizeof(struct machine *));
	if (!v)
		return PP_ENOMEM;
	r->machines.v = v;
	m = r->machines.v[source];
	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m || spaces_new(&m->spaces)) {
			free(m);
			return PP_ENOMEM;
		}
		m->source = source;
		m->page = 4096;
		m->host.opts = (struct kernel_opts){.kallsyms = r->opts.kallsyms,
						    .vmlinux = r->opts.vmlinux,
						    .search = &r->opts.search,
						    .like_perf = r->opts.like_perf,
						    .trust_host = r->opts.trust_host,
						    .advice = ADVICE};
		kernel_init(&m->host.kernel, &m->host.opts, r->d);
		m->guest.opts = (struct kernel_opts){.kallsyms = r->opts.guest_kallsyms,
						     .vmlinux = r->opts.guest_vmlinux,
						     .guest = true,
						     .like_perf = r->opts.like_perf};
		kernel_init(&m->guest.kernel, &m->guest.opts, r->d);
		r->machines.v[source] = m;
	}
	*out = m;
	return 0;
}

/* ---- stacks ---- */

/* The state of a chain id; NULL: out of memory. */
static struct chain_state *chain_state(struct resolver *r, uint32_t id)
{
	struct chain_state *v = array_widen(r->seen.chains, &r->seen.nchains, id, 4096, sizeof(*v));

	if (!v)
		return NULL;
	r->seen.chains = v;
	return &v[id];
}

/* Whether a chain has addresses whose meaning depends on the process. */
static bool has_user(const struct ps_chain *c, enum mode mode)
{
	for (uint32_t i = 0; i < c->ips.n; i++) {
		if (c->ips.v[i] >= CTX_MAX)
			mode = resolve_mode_of_marker(c->ips.v[i]);
		else if (mode == MODE_USER || (mode == MODE_UNKNOWN && !(c->ips.v[i] >> 63)))
			return true;
	}
	return false;
}

/* Whether what a chain was resolved to is true of a sample in a process. */
static bool state_holds(const struct chain_state *st, const struct machine *m,
			const struct ps_sample *s, uint32_t pid, uint32_t known)
{
	enum mode mode = sample_mode(s);

	return st->stack && st->known == known && st->source == m->source &&
	       (st->mode == mode || st->mode == MODES) &&
	       (st->space == KERNEL_SPACE || st->space == space_key(spaces_get(m->spaces, pid)));
}

/* The stack of a sample's chain in a process: the sample's, or the waker's. */
static int chain_stack(struct resolver *r, struct machine *m, const struct ps_chain *c,
		       const struct ps_sample *s, uint32_t pid, const struct known *known,
		       struct chain_state *out)
{
	enum mode mode = sample_mode(s);
	struct chain_state *st = chain_state(r, c->id), found = {0};
	struct space *sp = spaces_get(m->spaces, pid);
	int rc;

	if (!st)
		return PP_ENOMEM;
	if (state_holds(st, m, s, pid, known->id)) {
		*out = *st;
		return 0;
	}
	rc = resolve_chain(r, m, sp, c, mode, known, &found);
	if (rc)
		return rc;
	found.known = known->id;
	if (known->id > r->seen.known)
		r->seen.known = known->id;
	/* Where a marker comes first, the mode of the sample says nothing. */
	found.mode = (uint8_t)(c->ips.n && c->ips.v[0] < CTX_MAX ? mode : MODES);
	found.source = (uint16_t)m->source;
	/* Looking up can have changed nothing of the space but that a miss is remembered. */
	found.space = has_user(c, mode) ? space_key(sp) : KERNEL_SPACE;
	*out = *st = found;
	return 0;
}

/*
 * Whether a sample was taken elsewhere than where its call chain begins, at `first`: with precise
 * events, and where the chain leaves out the kernel. perf report takes the function of the sample
 * for its innermost then, perf script prints the chain.
 */
static bool is_elsewhere(const struct ps_sample *s, uint64_t first)
{
	return ps_sample_has(s, ip) && s->ip != first;
}

/* The instruction pointer of a sample as a stack of one frame, with what is inlined there. */
static int ip_stack(struct resolver *r, struct machine *m, const struct ps_sample *s,
		    const struct known *known, struct chain_state *out)
{
	struct known beside = resolve_known_fits(known, 1) ? *known : (struct known){0};
	struct part part = {spaces_get(m->spaces, s->pid), &beside, sample_mode(s), false};
	uint32_t unknown = 0, n = 0;
	int rc;

	if (r->out.nframes + 2 * resolve_frames_of(r, 1) > r->out.frames_max)
		resolve_restart(r);
	rc = resolve_address(r, m, &part, s->ip, &n, &unknown);
	if (rc)
		return rc;
	out->frames = (uint16_t)n;
	out->unknown = (uint16_t)unknown;
	if (out->unknown && r->opts.missing)
		rc = resolve_miss_frames(r, out->frames, &out->missing);
	return rc ? rc : resolve_put_stack(r, m->source, out->frames, false, &out->stack);
}

/* A sample without addresses keeps the stack that it has. */
static int own_stack(struct resolver *r, struct machine *m, const struct sreader *in,
		     const struct ps_sample *s, struct chain_state *out)
{
	const struct ps_stack *st = sreader_stack(in, s->stack);
	uint32_t n;
	bool cut;
	int rc = st ? resolve_text_stack(r, m, in, st, &n, &cut) : 0;

	if (!st || rc)
		return rc;
	out->frames = (uint16_t)n;
	return resolve_put_stack(r, m->source, n, cut, &out->stack);
}

/* The two ends of each branch of a sample; of what is inlined there only the function itself. */
static int branch_stack(struct resolver *r, struct machine *m, const struct ps_sample *s,
			const struct known *known, uint32_t *stack)
{
	uint32_t most = (r->stack.depth_max & ~1u) / 2,
		 n = s->branches.n < most ? s->branches.n : most;
	struct space *sp = spaces_get(m->spaces, s->pid);
	int rc;

	bool fits = known->st && known->st->frames.n == 2 * n;
	struct known beside = fits ? *known : (struct known){0};

	if (r->out.nframes + resolve_frames_of(r, 2 * n) + (fits ? 2 * n : 0) > r->out.frames_max)
		resolve_restart(r);
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct known_frames a = resolve_known_next(&beside);
		uint32_t id;

		rc = resolve_frame(r, m, sp, s->branches.v[3 * (size_t)(i / 2) + i % 2],
				   MODE_UNKNOWN, false, &id);
		if (!rc && fits && resolve_known_wins(r, &a, id))
			rc = resolve_keep_frame(r, m, known->in, known->st->frames.v[i], &id);
		if (rc)
			return rc;
		id &= ~FRAME_UNKNOWN;
		while (r->out.lines && r->out.lines[id] & FRAME_INLINED)
			id++;
		r->stack.frames[i] = id;
	}
	return resolve_put_stack(r, m->source, 2 * n, n < s->branches.n, stack);
}

/* Stacks of guests are not walked: the chain of such a sample has only markers. */
static bool is_guest_ip(const struct ps_sample *s, const struct ps_chain *c)
{
	enum mode mode = sample_mode(s);

	if (mode < MODE_GUEST_KERNEL || !ps_sample_has(s, ip))
		return false;
	for (uint32_t i = 0; i < c->ips.n; i++)
		if (c->ips.v[i] < CTX_MAX)
			return false;
	return true;
}

/* What was unwound has been counted. */
static void count_end(struct resolver *r, const struct ps_chain *c, const struct chain_state *st)
{
	if (c && !(c->flags & PS_STACK_END_MASK))
		r->stats.chain_ends[st->end]++;
}

/*
 * The stacks of a sample. Those of an earlier psym are made again, and keep the names that they
 * have.
 */
static int sample_stacks(struct resolver *r, struct machine *m, const struct sreader *in,
			 struct ps_sample *s, const struct ps_chain *c,
			 const struct ps_chain *other)
{
	struct known known = resolve_known(in, s->stack),
		     known2 = resolve_known(in, s->other_stack),
		     known3 = resolve_known(in, s->branch_stack),
		     known4 = resolve_known(in, s->ip_stack);
	struct chain_state st = {0}, st2 = {0}, at_ip = {0};
	bool own = ps_sample_has(s, stack), branches = ps_sample_has(s, branches) && s->branches.n;
	bool elsewhere = c && !is_guest_ip(s, c) && is_elsewhere(s, resolve_first(c));
	uint32_t ends = 0;
	uint32_t pid = ps_sample_has(s, other_pid) ? (uint32_t)s->other_pid : s->pid, restarts;
	int rc = 0;

	s->fields &=
		~(PS_HAS(stack) | PS_HAS(other_stack) | PS_HAS(branch_stack) | PS_HAS(ip_stack));
	/* When ids begin again with a further stack, that of the first is no longer true. */
	do {
		restarts = r->out.restarts;
		if (c && !is_guest_ip(s, c))
			rc = chain_stack(r, m, c, s, s->pid, &known, &st);
		else if (ps_sample_has(s, ip))
			rc = ip_stack(r, m, s, &known, &st);
		else if (own)
			rc = own_stack(r, m, in, s, &st);
		if (!rc && other)
			rc = chain_stack(r, m, other, s, pid, &known2, &st2);
		if (!rc && branches)
			rc = branch_stack(r, m, s, &known3, &ends);
		if (!rc && elsewhere)
			rc = ip_stack(r, m, s, &known4, &at_ip);
	} while (!rc && (other || branches || elsewhere) && restarts != r->out.restarts);
	if (ends)
		s->fields |= PS_HAS(branch_stack);
	s->branch_stack = ends;
	if (at_ip.stack)
		s->fields |= PS_HAS(ip_stack);
	s->ip_stack = at_ip.stack;
	if (st.stack)
		s->fields |= PS_HAS(stack);
	if (st2.stack)
		s->fields |= PS_HAS(other_stack);
	s->stack = st.stack;
	s->other_stack = st2.stack;
	r->stats.frames += st.frames + st2.frames;
	r->stats.unknown += st.unknown + st2.unknown;
	count_end(r, c, &st);
	if (st.missing)
		r->lacks.missing.counts[st.missing]++;
	return rc;
}

/*
 * Whether the branches of a sample are the calls that it is in, as `perf record --call-graph lbr`
 * has them.
 */
static bool has_calls(const struct sreader *in, const struct ps_sample *s)
{
	const struct ps_event *e =
		ps_sample_has(s, branches) && s->branches.n ? sreader_event(in, s->event) : NULL;

	return e && e->flags & PS_EVENT_BRANCH_CALLS;
}

/*
 * The chains of a sample, written under ids of the output. c, other: those of the input, or NULL.
 */
static int own_chains(struct resolver *r, struct machine *m, const struct sreader *in,
		      struct ps_sample *s, const struct ps_chain *c, const struct ps_chain *other)
{
	bool calls = has_calls(in, s);
	struct ps_chain made, waker;
	struct unwind_result res;
	struct unwound how;
	uint32_t restarts;
	int rc = 0;

	if (resolve_can_unwind(m, s)) {
		rc = resolve_unwind(r, m, s, c, &made, &res);
		if (rc)
			return rc;
		how = resolve_unwound(r, s, &res);
		rc = resolve_ends_add(r, &how);
		c = &made;
		s->fields |= PS_HAS(chain);
		/* What another psym made of the copy can end elsewhere. */
		s->stack = 0;
		if (!r->opts.keep_stacks)
			s->fields &=
				~(PS_HAS(user_regs) | PS_HAS(user_stack) | PS_HAS(user_stack_size));
	} else if (calls) {
		rc = resolve_branch_calls(r, s, c, &made);
		c = &made;
		s->fields |= PS_HAS(chain);
	} else if (c) {
		made = *c;
	}
	/* When ids begin again with the second, the first has to be written again. */
	do {
		restarts = r->out.chain_restarts;
		if (!rc && c)
			rc = resolve_put_chain(r, m->source, &made);
		waker = other ? *other : (struct ps_chain){0};
		if (!rc && other)
			rc = resolve_put_chain(r, m->source, &waker);
	} while (!rc && restarts != r->out.chain_restarts);
	s->chain = c ? made.id : 0;
	s->other_chain = waker.id;
	if (rc)
		return rc;
	return sample_stacks(r, m, in, s, c ? &made : NULL, other ? &waker : NULL);
}

/* Adds what was found for a sample to the account. */
static void account(struct resolver *r, const struct chain_state *st)
{
	r->stats.frames += st->frames;
	r->stats.unknown += st->unknown;
	r->stats.chain_ends[st->end]++;
	if (st->missing)
		r->lacks.missing.counts[st->missing]++;
}

/* The same for a chain whose parts were resolved. */
static void part_account(struct resolver *r, const struct part_state *st)
{
	r->stats.frames += st->frames;
	r->stats.unknown += st->unknown;
	r->stats.chain_ends[st->end]++;
}

/*
 * A sample with a call chain and nothing else that has a stack, as most are. False: it is another.
 */
static bool plain_sample(struct resolver *r, struct machine *m, const struct sreader *in,
			 const struct ps_record *rec, int *rc)
{
	const uint64_t others = PS_HAS(stack) | PS_HAS(other_stack) | PS_HAS(branch_stack) |
				PS_HAS(other_chain) | PS_HAS(branches) | PS_HAS(ip_stack);
	const struct ps_sample *s = &rec->sample;
	enum mode mode = sample_mode(s);
	const struct part_state *parts;
	const struct ps_chain *c;
	struct chain_state st;

	if (!ps_sample_has(s, chain) || s->fields & others || mode >= MODE_GUEST_KERNEL)
		return false;
	if (r->w->pack && !r->opts.missing) {
		if (resolve_by_parts(r, m, in, s, &parts, rc) && !is_elsewhere(s, parts->first) &&
		    swriter_copy_stack(r->w, rec, parts->stack, rc)) {
			part_account(r, parts);
			return true;
		}
		if (*rc)
			return true;
	}
	if (rec->foreign)
		return false;
	/* One that was resolved is not even looked at. */
	if (s->chain < r->seen.nchains && state_holds(&r->seen.chains[s->chain], m, s, s->pid, 0)) {
		st = r->seen.chains[s->chain];
	} else {
		c = sreader_chain(in, s->chain);
		if (!c)
			return false;
		*rc = chain_stack(r, m, c, s, s->pid, &(struct known){0}, &st);
		if (*rc)
			return true;
	}
	if (is_elsewhere(s, st.first) || !swriter_copy_stack(r->w, rec, st.stack, rc))
		return false;
	account(r, &st);
	return true;
}

static int on_sample(struct resolver *r, struct machine *m, const struct sreader *in,
		     const struct ps_record *rec)
{
	const struct ps_sample *from = &rec->sample;
	const struct ps_chain *c, *other;
	struct ps_sample s;
	struct space *sp;
	int rc;

	bool helps = sreader_helps(in, from);

	if (helps && !r->opts.keep_stacks && !resolve_can_unwind(m, from))
		return 0;
	r->stats.samples += !helps;
	r->pid = from->pid;
	if (!r->out.own_chains)
		resolve_stack_room(r);
	if (!r->opts.like_perf && sample_mode(from) == MODE_USER &&
	    spaces_settle(m->spaces, from->pid))
		return PP_ENOMEM;
	sp = m->code.n ? spaces_get(m->spaces, from->pid) : NULL;
	if (sp && space_tag(sp) && (rc = resolve_jit_advance(r, m, sp, from->time)))
		return rc;
	if (resolve_can_unwind(m, from) || has_calls(in, from)) {
		if (!r->out.own_chains && r->w->pack) {
			swriter_restart(r->w, PS_CHAINS);
			resolve_forget_ids(r);
		}
		r->out.own_chains = true;
	} else {
		if (ps_sample_has(from, user_stack))
			resolve_not_unwound(r, m, from);
		r->stats.chains += ps_sample_has(from, chain);
		if (r->opts.stats && (rc = resolve_count_leaf(r, m, in, from)))
			return rc;
	}
	if (!r->out.own_chains && plain_sample(r, m, in, rec, &rc))
		return rc;
	s = *from;
	c = ps_sample_has(from, chain) ? sreader_chain(in, from->chain) : NULL;
	other = ps_sample_has(from, other_chain) ? sreader_chain(in, from->other_chain) : NULL;
	if (helps && !r->opts.keep_stacks)
		return r->opts.no_stitch || resolve_look(r, m, from, &rc)
			       ? rc
			       : resolve_learn(r, m, from, c);
	if (!r->opts.no_stitch && r->out.own_chains && !other && !has_calls(in, from) &&
	    resolve_hold(r, m, from, c, &rc))
		return rc;
	rc = resolve_held(r);
	if (rc)
		return rc;
	resolve_stack_room(r);
	rc = r->out.own_chains ? own_chains(r, m, in, &s, c, other)
			       : sample_stacks(r, m, in, &s, c, other);
	return rc ? rc : swriter_sample(r->w, m->source, &s);
}

int resolver_record(struct resolver *r, const struct sreader *in, const struct ps_record *rec)
{
	struct machine *m;
	struct chain_state *st;
	int rc;

	if (rec->type == PS_HEADER)
		return resolver_reset(r, true);
	rc = machine_of(r, rec->source, &m);
	if (rc)
		return rc;
	switch (rec->type) {
	case PS_SAMPLE: return on_sample(r, m, in, rec);
	case PS_DSO: return resolve_dso(r, m, &rec->dso);
	case PS_MMAP: return resolve_mmap(r, m, &rec->mmap);
	/* Another psym's work is done again. */
	case PS_SYMBOL:
	case PS_FRAME: resolve_text_forget(m, rec); return 0;
	case PS_STACK:
	case PS_STACKS:
		/* What was compared with a stack of this id is no longer true. */
		if (rec->stack.id == 1 || rec->stack.id <= r->seen.known) {
			resolve_forget_chains(r);
			r->seen.known = 0;
		}
		return 0;
	case PS_SRCFILE: return 0;
	case PS_CHAIN:
		if (r->out.own_chains)
			return 0;
		st = chain_state(r, rec->chain.id);
		if (!st)
			return PP_ENOMEM;
		/* With id 1 all chains are forgotten. */
		if (rec->chain.id == 1)
			memset(r->seen.chains, 0, r->seen.nchains * sizeof(*r->seen.chains));
		*st = (struct chain_state){0};
		break;
	case PS_CHAINS:
		if (r->out.own_chains)
			return 0;
		if (rec->chains.id == 1)
			resolve_forget_ids(r);
		break;
	default: rc = resolve_context(r, m, rec);
	}
	if (!rc)
		rc = resolve_copy(r, rec);
	return rc == PP_EUNSUPPORTED ? 0 : rc;
}
