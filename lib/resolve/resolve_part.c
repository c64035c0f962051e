/*
 * Chains by their parts: a part is resolved once in an address space, on top of the one below it,
 * and becomes a part of a stack. What most samples need is then known by the id of their chain.
 */
#include "resolve/resolve_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* For whom a chain is resolved. */
struct by_parts {
	struct resolver *r;
	struct machine *m;
	const struct sreader *in;
	struct space *sp;
	uint32_t space; /* its key */
	enum mode mode; /* of the sample */
};

static struct part_recall *recall_place(const struct resolver *r, uint32_t id, uint32_t space)
{
	uint64_t h = ((uint64_t)space << 32 | id) * UINT64_C(0x9e3779b97f4a7c15);

	return &r->seen.recall[(h >> 40) & (RECALL_SETS - 1)];
}

static bool suits(const struct by_parts *b, const struct part_state *st)
{
	return st->flags & PART_DONE && st->source == b->m->source &&
	       (st->mode == MODES || st->mode == b->mode);
}

/* What a part that is its own base is in this process; NULL: it is not known. */
static const struct part_state *base_state(const struct by_parts *b, uint32_t id)
{
	struct part_state *st = &b->r->seen.parts[id];
	const struct part_recall *old;

	if (suits(b, st) && st->space == b->space)
		return st;
	if (!(st->flags & PART_DONE))
		return NULL;
	old = recall_place(b->r, id, b->space);
	if (old->id != id || old->st.space != b->space || !suits(b, &old->st))
		return NULL;
	*st = old->st;
	return st;
}

/* What a part is in this process; NULL: it is not known. */
static const struct part_state *state_of(const struct by_parts *b, uint32_t id)
{
	const struct part_state *st = &b->r->seen.parts[id], *base;

	if (id >= b->r->seen.nparts)
		return NULL;
	if (!(st->flags & PART_DONE) || st->base == id)
		return base_state(b, id);
	if (!suits(b, st) || !st->base)
		return suits(b, st) ? st : NULL;
	base = base_state(b, st->base);
	return base && base->stack == st->under && !((base->flags ^ st->flags) & PART_WHOLE) ? st
											     : NULL;
}

static int keep(const struct by_parts *b, uint32_t id, const struct part_state *st)
{
	struct seen *s = &b->r->seen;
	struct part_state *v = array_widen(s->parts, &s->nparts, id, 4096, sizeof(*v));
	struct part_recall *old;

	if (!v)
		return PP_ENOMEM;
	s->parts = v;
	v[id] = *st;
	if (st->base != id)
		return 0;
	if (!s->recall)
		s->recall = calloc(RECALL_SETS, sizeof(*s->recall));
	if (!s->recall)
		return PP_ENOMEM;
	old = recall_place(b->r, id, b->space);
	old->id = id;
	old->st = *st;
	return 0;
}

/* An address's frames, the outermost first, on top of the n in r->stack; how many it has then. */
static uint32_t add_frames(struct resolver *r, uint32_t id, uint32_t n, uint32_t *unknown)
{
	uint32_t last;

	if (!r->out.lines) {
		r->stack.frames[n] = id & ~FRAME_UNKNOWN;
		*unknown += id >> 31;
		return n + 1;
	}
	last = id &= ~FRAME_UNKNOWN;
	while (r->out.lines[last] & FRAME_INLINED)
		last++;
	for (; last >= id; last--) {
		r->stack.frames[n++] = last;
		*unknown += r->out.miss[last] != 0;
	}
	return n;
}

/* The frames of a part, the outermost first, to r->stack: *n, of which *unknown have no name. */
static int part_frames(const struct by_parts *b, const struct ps_part *p, enum mode mode,
		       uint32_t *n, uint32_t *unknown)
{
	uint32_t id;

	for (uint32_t i = 0; i < p->n; i++) {
		int rc = resolve_frame(b->r, b->m, b->sp, p->words[i], mode,
				       !p->last || i + 1 < p->n, &id);

		if (rc)
			return rc;
		*n = add_frames(b->r, id, *n, unknown);
	}
	return 0;
}

/* Frames that stand where nothing is mapped: calls that return there lead nowhere. */
static uint8_t strays(const struct resolver *r, const struct machine *m, uint32_t n, uint8_t below)
{
	uint8_t flags = below & (PART_STRAY | PART_LEAF);

	for (uint32_t i = 0; i < n && m->nowhere[0]; i++) {
		if (flags & PART_LEAF)
			flags |= PART_STRAY;
		flags &= (uint8_t)~PART_LEAF;
		if (r->stack.frames[i] == m->nowhere[0])
			flags |= PART_LEAF;
	}
	return flags;
}

/* The stack of n frames in r->stack on top of another. */
static int put_stack(const struct by_parts *b, uint32_t n, uint32_t flags, uint32_t end,
		     uint32_t *stack)
{
	int rc = 0;

	for (uint32_t at = 0; at < n && !rc; at += PS_PART_WORDS) {
		uint32_t more = n - at < PS_PART_WORDS ? n - at : PS_PART_WORDS;

		rc = swriter_stack_part(b->r->w, b->m->source, *stack, b->r->stack.frames + at,
					more, end | (at + more == n ? flags : 0), stack);
	}
	return rc;
}

/* Whether a part can be resolved apart from what is above it. */
static bool is_apart(const struct ps_part *p)
{
	if (p->strange || (p->mark && resolve_mode_of_marker(p->mark) == MODE_UNKNOWN))
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->words[i] >= CTX_MAX)
			return false;
	return true;
}

/*
 * How the user's part of a chain ended, found out with the part at its root; and whether that can
 * be told of all chains that the part is in.
 */
static int part_end(const struct by_parts *b, const struct ps_part *p, enum mode mode,
		    struct part_state *st)
{
	uint32_t end = st->end;
	int rc = 0;

	if (b->r->opts.like_perf)
		return 0;
	if (mode == MODE_UNKNOWN && p->n)
		mode = p->words[0] >> 63 ? MODE_KERNEL : MODE_USER;
	if (!p->parent && mode == MODE_USER && p->n)
		rc = resolve_chain_end(b->r, b->m, b->sp, p->words[0], !p->last || p->n > 1, &end);
	if ((p->flags & PS_STACK_END_MASK) || (!p->parent && !p->n) ||
	    (st->flags & PART_STRAY && end != PS_END_NO_MAPPING) ||
	    (end == PS_END_FRAMES && p->total >= CHAIN_FULL))
		st->flags |= PART_WHOLE;
	st->end = (uint8_t)end;
	return rc;
}

/* Leaves out what comes after a start. A part that may have nothing else needs the whole chain. */
static int drop_past_start(const struct by_parts *b, struct ps_part *p, enum mode mode,
			   struct part_state *st)
{
	const struct outer_addresses a = {.ips = p->words, .step = 1, .n = p->n, .leaf = p->last};
	uint32_t past, top;
	bool mapped;
	int rc;

	if (!p->n || b->r->opts.like_perf || mode == MODE_KERNEL)
		return 0;
	if (p->parent) {
		rc = resolve_go_top(b->r, b->m, b->sp, &a, &top);
		st->flags |= top ? PART_WHOLE : 0;
		return rc;
	}
	rc = resolve_past_start(b->r, b->m, b->sp, &a, &past, &mapped);
	p->words += past;
	p->n -= past;
	if (b->sp && !mapped && !p->last)
		st->flags |= PART_WHOLE;
	return rc;
}

/* Resolves a part on top of *st, which becomes its own. */
static int resolve_part(const struct by_parts *b, uint32_t id, struct part_state *st)
{
	struct resolver *r = b->r;
	struct ps_part p;
	enum mode mode = b->mode;
	uint32_t n = 0, unknown = 0;
	int rc;

	if (!sreader_chain_part(b->in, id, &p))
		return PP_ECORRUPT;
	if (p.mark)
		mode = resolve_mode_of_marker(p.mark);
	st->flags &= (uint8_t)~PART_LAST;
	st->flags |= PART_DONE | (p.last ? PART_LAST : 0);
	/* What a section without a mark means depends on the sample. */
	st->mode = p.mark ? MODES : (uint8_t)mode;
	st->source = (uint16_t)b->m->source;
	st->space = b->space;
	st->first = p.n ? p.words[p.n - 1] : 0;
	if (!is_apart(&p))
		st->flags |= PART_WHOLE;
	if (!(st->flags & PART_WHOLE)) {
		rc = drop_past_start(b, &p, mode, st);
		if (rc)
			return rc;
	}
	if (!(st->flags & PART_WHOLE)) {
		rc = part_frames(b, &p, mode, &n, &unknown);
		if (rc)
			return rc;
		if (st->frames + n > r->stack.depth_max || (!n && p.flags))
			st->flags |= PART_WHOLE;
		st->flags = (st->flags & (uint8_t) ~(PART_STRAY | PART_LEAF)) |
			    strays(r, b->m, n, st->flags);
		rc = part_end(b, &p, mode, st);
		if (rc)
			return rc;
	}
	if (st->flags & PART_WHOLE) {
		st->stack = 0;
	} else {
		st->frames = (uint16_t)(st->frames + n);
		st->unknown = (uint16_t)(st->unknown + unknown);
		rc = put_stack(b, n, p.flags, (uint32_t)st->end << PS_STACK_END_SHIFT, &st->stack);
		if (rc)
			return rc;
	}
	if (!p.mark || mode == MODE_USER) {
		st->base = id;
		st->under = st->stack;
	}
	return keep(b, id, st);
}

static int push(struct seen *s, uint32_t n, uint32_t id)
{
	uint32_t *v = array_widen(s->path, &s->path_cap, n, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->path = v;
	v[n] = id;
	return 0;
}

/*
 * The parts of a chain that are not known in this process, to r->seen.path, and what is known of
 * the one below them. PP_ENOENT: one is not defined.
 */
static int find_known(const struct by_parts *b, uint32_t top, uint32_t *n, struct part_state *below)
{
	const struct part_state *st = NULL;
	struct ps_part p;
	int rc = 0;

	*n = 0;
	for (uint32_t id = top; id && !rc && !(st = state_of(b, id)); id = p.parent)
		rc = sreader_chain_part(b->in, id, &p) ? push(&b->r->seen, (*n)++, id) : PP_ENOENT;
	*below = st ? *st : (struct part_state){.mode = MODES};
	return rc;
}

/* The parts of a chain that are not yet known. */
static int resolve_parts_of(const struct by_parts *b, uint32_t top, const struct ps_part *p)
{
	struct resolver *r = b->r;
	uint64_t frames = (uint64_t)p->total * (r->out.lines ? DEBUGINFO_FRAMES_MAX + 1 : 1);
	struct part_state st;
	uint32_t n;
	int rc;

	/* Room for the frames of this chain, before ids of an older numbering are in it. */
	if (frames > r->out.frames_max / 2)
		return PP_ENOENT;
	if (r->out.nframes + frames > r->out.frames_max)
		resolve_restart(r);
	rc = find_known(b, top, &n, &st);
	while (n && !rc)
		rc = resolve_part(b, r->seen.path[--n], &st);
	return rc;
}

bool resolve_by_parts(struct resolver *r, struct machine *m, const struct sreader *in,
		      const struct ps_sample *s, const struct part_state **st, int *rc)
{
	struct by_parts b = {r, m, in, spaces_get(m->spaces, s->pid), 0, sample_mode(s)};
	struct ps_part p;

	*rc = 0;
	b.space = space_key(b.sp);
	*st = state_of(&b, s->chain);
	if (!*st) {
		if (!sreader_chain_part(in, s->chain, &p))
			return false;
		*rc = resolve_parts_of(&b, s->chain, &p);
		if (*rc == PP_ENOENT)
			*rc = 0;
		*st = *rc ? NULL : state_of(&b, s->chain);
	}
	return *st && (*st)->stack && ((*st)->flags & (PART_WHOLE | PART_LAST)) == PART_LAST;
}
