/* From a call chain to the frames of its addresses. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#define CTX_HV		 ((uint64_t)-32)
#define CTX_KERNEL	 ((uint64_t)-128)
#define CTX_GUEST_KERNEL ((uint64_t)-2176)
#define CTX_GUEST_USER	 ((uint64_t)-2560)

enum mode resolve_mode_of_marker(uint64_t ip)
{
	switch (ip) {
	case CTX_HV: return MODE_HV;
	case CTX_KERNEL: return MODE_KERNEL;
	case CTX_USER: return MODE_USER;
	case CTX_GUEST_KERNEL: return MODE_GUEST_KERNEL;
	case CTX_GUEST_USER: return MODE_GUEST_USER;
	}
	return MODE_UNKNOWN;
}

int resolve_miss_frames(struct resolver *r, uint32_t n, uint32_t *set)
{
	uint16_t misses[RESOLVE_DEPTH_MAX];
	int rc;

	for (uint32_t i = 0; i < n; i++)
		misses[i] = r->out.miss[r->stack.frames[i]];
	rc = missing_set(&r->lacks.missing, misses, n, set);
	if (rc == PP_ELIMIT) {
		missing_sum(&r->lacks.missing);
		resolve_forget_chains(r);
		rc = missing_set(&r->lacks.missing, misses, n, set);
	}
	return rc;
}

uint64_t resolve_frames_of(const struct resolver *r, uint32_t n)
{
	uint64_t most = r->opts.inlines ? (uint64_t)n * DEBUGINFO_FRAMES_MAX : n;
	uint64_t stack = r->stack.depth_max + DEBUGINFO_FRAMES_MAX;

	return most < stack ? most : stack;
}

/* An address's frames, the innermost first, on top of the n of the stack that is being made. */
static uint32_t add_frames(struct resolver *r, uint32_t id, uint32_t n, uint32_t *unknown)
{
	if (!r->out.lines) {
		r->stack.frames[n] = id & ~FRAME_UNKNOWN;
		*unknown += id >> 31;
		return n + 1;
	}
	id &= ~FRAME_UNKNOWN;
	do {
		r->stack.frames[n++] = id;
		*unknown += r->out.miss[id] != 0;
	} while (r->out.lines[id++] & FRAME_INLINED && n < r->stack.depth_max);
	return n;
}

/* The frames of an address that the input has, on top of those of the stack that is being made. */
static int keep_frames(struct resolver *r, struct machine *m, const struct known *k,
		       const struct known_frames *a, uint32_t *depth, uint32_t *unknown)
{
	uint32_t kept;

	for (uint32_t i = 0; i < a->n && *depth < r->stack.depth_max; i++) {
		int rc = resolve_keep_frame(r, m, k->in, k->st->frames.v[a->first + i], &kept);

		if (rc)
			return rc;
		r->stack.frames[(*depth)++] = kept;
		*unknown += r->out.miss[kept] != 0;
	}
	return 0;
}

int resolve_address(struct resolver *r, struct machine *m, const struct part *p, uint64_t ip,
		    uint32_t *depth, uint32_t *unknown)
{
	struct known_frames a = resolve_known_next(p->known);
	bool room = r->out.nframes + a.n + DEBUGINFO_FRAMES_MAX < r->out.frames_max;
	uint32_t id;
	int rc;

	if (a.named && room && !r->out.lines && !r->bundle)
		return keep_frames(r, m, p->known, &a, depth, unknown);
	rc = resolve_frame(r, m, p->sp, ip, p->mode, p->ret, &id);
	if (rc)
		return rc;
	if (a.n && room && resolve_known_wins(r, &a, id))
		return keep_frames(r, m, p->known, &a, depth, unknown);
	*depth = add_frames(r, id, *depth, unknown);
	return 0;
}

/* Addresses of a chain up to what is no marker that is known. */
static uint32_t count_addresses(const struct ps_chain *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->ips.n; i++) {
		if (c->ips.v[i] < CTX_MAX)
			n++;
		else if (resolve_mode_of_marker(c->ips.v[i]) == MODE_UNKNOWN)
			break;
	}
	return n;
}

/*
 * The input's stack as it came, if it cannot be compared address by address, and names more than
 * what is found now.
 */
static int keep_whole(struct resolver *r, struct machine *m, const struct known *k, uint32_t *n,
		      uint32_t *unknown, bool *cut)
{
	if (!k->st || resolve_known_unnamed(k) >= *unknown)
		return 0;
	*unknown = resolve_known_unnamed(k);
	return resolve_text_stack(r, m, k->in, k->st, n, cut);
}

uint64_t resolve_first(const struct ps_chain *c)
{
	for (uint32_t i = 0; i < c->ips.n; i++)
		if (c->ips.v[i] < CTX_MAX)
			return c->ips.v[i];
	return 0;
}

/*
 * How many addresses at the outer end of a chain can be kept for the next: those of user space that
 * calls return to.
 */
static uint32_t tail_of(const struct ps_chain *c)
{
	uint32_t n = 0;

	while (n < c->ips.n && n <= CHAIN_TAIL_MAX && c->ips.v[c->ips.n - 1 - n] < CTX_MAX)
		n++;
	if (n > CHAIN_TAIL_MAX)
		return CHAIN_TAIL_MAX;
	/* The first after the marker was not called from. */
	return n && n < c->ips.n && c->ips.v[c->ips.n - 1 - n] == CTX_USER ? n - 1 : 0;
}

/* How many of them the chain before had, too, in the same address space. */
static uint32_t shared_tail(const struct chain_tail *t, const struct machine *m,
			    const struct space *sp, const struct ps_chain *c, uint32_t most)
{
	uint32_t n = 0;

	if (t->space != space_key(sp) || t->source != m->source)
		return 0;
	if (most > t->n)
		most = t->n;
	while (n < most && t->ips[n] == c->ips.v[c->ips.n - 1 - n])
		n++;
	return n;
}

/*
 * The frames of an address where the input has none. `out`: its place from the outer end of the
 * chain; below `shared`: as in the chain before.
 */
static inline int add_address(struct resolver *r, struct machine *m, const struct part *p,
			      uint64_t ip, uint32_t out, uint32_t shared, uint32_t *depth,
			      uint32_t *unknown)
{
	struct chain_tail *t = &r->seen.tail;
	uint32_t id;
	int rc;

	if (out < shared) {
		*depth = add_frames(r, t->ids[out], *depth, unknown);
		return 0;
	}
	rc = resolve_frame(r, m, p->sp, ip, p->mode, p->ret, &id);
	if (rc)
		return rc;
	if (out < CHAIN_TAIL_MAX) {
		t->ips[out] = ip;
		t->ids[out] = id;
	}
	*depth = add_frames(r, id, *depth, unknown);
	return 0;
}

/*
 * The frames of a chain, to r->stack: *n, of which *unknown have no name. *end: the addresses that
 * were taken.
 */
static int chain_frames(struct resolver *r, struct machine *m, const struct ps_chain *c,
			struct part *part, uint32_t *n, uint32_t *unknown, uint32_t *end)
{
	bool known = part->known->st != NULL;
	uint32_t tail = known ? 0 : tail_of(c), i;
	uint32_t shared = shared_tail(&r->seen.tail, m, part->sp, c, tail);
	int rc = 0;

	r->seen.tail.n = 0;
	for (i = 0; i < c->ips.n && *n < r->stack.depth_max && !rc; i++) {
		uint64_t ip = c->ips.v[i];

		if (ip >= CTX_MAX) {
			/*
			 * What a marker announces begins with an address that was not called from.
			 */
			part->mode = resolve_mode_of_marker(ip);
			part->ret = false;
			/*
			 * Garbage that looks like a marker, or one of the future: what follows it
			 * is not known. perf throws the whole chain away then.
			 */
			if (part->mode == MODE_UNKNOWN && r->opts.like_perf)
				*n = *unknown = 0;
			if (part->mode == MODE_UNKNOWN)
				break;
			continue;
		}
		/* What is kept takes room, too. */
		if (known && r->out.nframes + DEBUGINFO_FRAMES_MAX > r->out.frames_max)
			break;
		rc = known ? resolve_address(r, m, part, ip, n, unknown)
			   : add_address(r, m, part, ip, c->ips.n - 1 - i, shared, n, unknown);
		part->ret = true;
	}
	*end = i;
	if (!rc && i == c->ips.n) {
		r->seen.tail.space = space_key(part->sp);
		r->seen.tail.source = m->source;
		r->seen.tail.n = tail;
	}
	return rc;
}

/* Whether calls of user space seem to return to where nothing is mapped. */
static bool strays(const struct resolver *r, const struct machine *m, uint32_t n)
{
	for (uint32_t i = 1; m->nowhere[0] && i < n; i++)
		if (r->stack.frames[i] == m->nowhere[0])
			return true;
	return false;
}

/* The frames of a chain in r->stack. */
struct frames_made {
	uint32_t n, unknown;
	bool alone; /* of all its addresses, and of nothing else */
};

/* Leaves out what comes after a start; *last: the addresses that are left. */
static int drop_past_start(struct resolver *r, struct machine *m, const struct ps_chain *c,
			   const struct part *part, struct frames_made *made, uint32_t *last)
{
	const struct outer_addresses a = {
		.ips = &c->ips.v[c->ips.n - 1], .step = -1, .n = c->ips.n, .leaf = true};
	uint32_t past;
	bool mapped;
	int rc = resolve_past_start(r, m, part->sp, &a, &past, &mapped);

	if (rc || past >= *last)
		return rc;
	*last -= past;
	while (past-- && made->n)
		do
			made->unknown -= r->out.miss[r->stack.frames[--made->n]] != 0;
		while (r->out.lines && made->n &&
		       r->out.lines[r->stack.frames[made->n - 1]] & FRAME_INLINED);
	return 0;
}

/*
 * How the user's part of a chain ended, whose frames are in r->stack. What was unwound tells
 * itself; what another psym found whole, with files that may not be here, stays that.
 */
static int chain_end(struct resolver *r, struct machine *m, const struct ps_chain *c,
		     const struct part *part, const struct known *known, struct frames_made *made,
		     uint32_t *end)
{
	uint32_t told = known->st ? known->st->flags & PS_STACK_END_MASK : 0;
	uint32_t last = c->ips.n, addresses = count_addresses(c);
	uint64_t ip = last ? c->ips.v[last - 1] : 0;
	enum mode mode = part->mode;
	int rc = 0;

	*end = (c->flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT;
	if (*end || !last || ip >= CTX_MAX || r->opts.like_perf)
		return 0;
	if (mode == MODE_UNKNOWN)
		mode = ip >> 63 ? MODE_KERNEL : MODE_USER;
	if (mode != MODE_USER)
		return 0;
	if (made->alone)
		rc = drop_past_start(r, m, c, part, made, &last);
	if (rc)
		return rc;
	ip = c->ips.v[last - 1];
	/* The calls of branch records have a marker each. */
	if (strays(r, m, made->n))
		*end = PS_END_NO_MAPPING;
	else
		rc = resolve_chain_end(r, m, part->sp, ip, last > 1 && c->ips.v[last - 2] < CTX_MAX,
				       end);
	if (*end == PS_END_FRAMES && addresses == CHAIN_FULL)
		*end = PS_END_DEPTH;
	if (told && *end != PS_END_OUTERMOST)
		*end = told >> PS_STACK_END_SHIFT;
	return rc;
}

bool resolve_chain_restarts(const struct resolver *r, uint32_t addresses)
{
	return r->out.nframes + resolve_frames_of(r, addresses) > r->out.frames_max;
}

int resolve_chain_frames(struct resolver *r, struct machine *m, struct space *sp,
			 const struct ps_chain *c, enum mode mode, const struct known *known,
			 struct chain_state *st, bool *cut)
{
	bool fits = known->st && resolve_known_fits(known, count_addresses(c));
	struct frames_made made = {0};
	uint32_t n = 0, unknown = 0, end, ended;
	struct known beside = fits ? *known : (struct known){0};
	struct part part = {.sp = sp, .known = &beside, .mode = mode};
	int rc;

	/* Room for the frames of this chain, before ids of an older numbering are in it. */
	if (r->out.nframes + resolve_frames_of(r, c->ips.n) +
		    (fits ? resolve_frames_of(r, known->st->frames.n) : 0) >
	    r->out.frames_max)
		resolve_restart(r);
	rc = chain_frames(r, m, c, &part, &n, &unknown, &end);
	*cut = end < c->ips.n;
	if (!rc && !fits)
		rc = keep_whole(r, m, known, &n, &unknown, cut);
	if (rc)
		return rc;
	made = (struct frames_made){n, unknown, !known->st && !*cut};
	rc = chain_end(r, m, c, &part, known, &made, &ended);
	st->first = resolve_first(c);
	st->frames = (uint16_t)made.n;
	st->unknown = (uint16_t)made.unknown;
	st->end = (uint8_t)ended;
	return rc;
}

int resolve_chain(struct resolver *r, struct machine *m, struct space *sp, const struct ps_chain *c,
		  enum mode mode, const struct known *known, struct chain_state *st)
{
	bool cut;
	int rc = resolve_chain_frames(r, m, sp, c, mode, known, st, &cut);

	if (!rc && st->unknown && r->opts.missing)
		rc = resolve_miss_frames(r, st->frames, &st->missing);
	return rc ? rc
		  : resolve_put_stack(r, m->source, st->frames,
				      c->flags | (uint32_t)st->end << PS_STACK_END_SHIFT |
					      (cut ? PS_STACK_CUT : 0),
				      &st->stack);
}
