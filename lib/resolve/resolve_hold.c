/*
 * Samples that wait for later stacks. One whose copy of the stack ended is held back until the
 * whole stacks of a while after it are known, too, and what comes after it is held back with it.
 *
 * The records wait as they are to be written, but for the ids of chains and stacks: these are given
 * when a sample is written, so that the output is as if nothing had waited. Symbols, frames and
 * files, which were found when a sample came, are written then.
 */
#include "resolve/resolve_parts.h"

#include "base/buf.h"
#include "base/err.h"
#include "stream/codec.h"

#include <stdlib.h>

#define AHEAD_NS  500000000u /* of the recording, that a sample waits */
#define BYTES_MAX (32u << 20)
#define ALONE_MAX DEBUGINFO_FRAMES_MAX
#define WHOLE_MAX 4096u	 /* a power of two */
#define LOOKS_MIN 4096u	 /* bytes of a copy: looks are for what is beyond such */
#define LARGE_MIN 32768u /* likewise; what is beyond such are outer frames only */

/* The callers that looks found, of a stack whose copy ended; the innermost first. */
struct walked {
	uint32_t n;
	struct stitch_step step[];
};

/* What it takes to walk on, which is kept with a sample whose copy ended. */
struct rest {
	const struct unwind_arch *arch;
	struct unwind_state state;
	uint32_t len, pid;
	uint8_t tail[UNWIND_TAIL_MAX];
};

/* A record that is held back: this, what a sample has beside, and the record in host order. */
struct held {
	uint32_t size, record; /* bytes of all, and of the record */
	uint32_t source, type;
	bool sample, has_chain, cut;
	/* Of a sample. */
	uint32_t nips, nframes, nalone; /* alone: the frames of its own address, which come first */
	uint32_t unknown, flags, end;	/* of the chain */
	uint64_t time;
	struct stitch_key key; /* whose caller is sought */
	struct unwound how;    /* what is to be counted then */
	uint32_t rest;	       /* bytes of what it takes to walk on; they come first */
	struct walked *walked; /* owned; NULL: no look found anything */
};

struct holding {
	struct buf queue;
	size_t head; /* bytes of it that were written */
	uint64_t newest;
	struct buf ips;	  /* of the sample that is being written */
	struct rest rest; /* of the sample that came */
	uint32_t alone[ALONE_MAX + 1];
	/*
	 * Events whose copy ended, but whose whole stack came as a helper's sample right after it:
	 * a hash of thread and time, where it says. cut: of the last copy that ended.
	 */
	uint64_t whole[WHOLE_MAX], cut;
};

static uint64_t event_hash(uint64_t thread, uint64_t time)
{
	return (thread ^ time << 20 ^ time >> 44) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Where it is noted that the whole stack of an event came. */
static uint64_t *whole_at(struct holding *k, uint64_t hash)
{
	return &k->whole[hash >> 32 & (WHOLE_MAX - 1)];
}

void resolve_hold_release(struct resolver *r)
{
	struct holding *k = r->holding;
	struct held h;

	if (!k)
		return;
	for (; k->head + sizeof(h) <= k->queue.len; k->head += h.size) {
		memcpy(&h, k->queue.data + k->head, sizeof(h));
		free(h.walked);
	}
	buf_release(&r->holding->queue);
	buf_release(&r->holding->ips);
	free(r->holding);
	r->holding = NULL;
}

static bool waiting(const struct resolver *r)
{
	return r->holding && r->holding->queue.len > r->holding->head;
}

/* ---- writing ---- */

/* The frames of an address, with what is inlined at it, on top of n; how many there are then. */
static uint32_t add_frames(struct resolver *r, uint32_t id, uint32_t n, uint32_t *unknown)
{
	do {
		r->stack.frames[n++] = id;
		*unknown += r->out.miss[id] != 0;
	} while (r->out.lines && r->out.lines[id++] & FRAME_INLINED && n < r->stack.depth_max);
	return n;
}

static void add_caller(struct resolver *r, struct held *h, const struct stitch_step *at,
		       struct buf *ips)
{
	uint64_t mark = CTX_USER;

	if (h->cut || h->nframes >= r->stack.depth_max) {
		h->cut = true;
		return;
	}
	if (at->exact)
		buf_add(ips, &mark, sizeof(mark));
	buf_add(ips, &at->ip, sizeof(at->ip));
	h->nframes = add_frames(r, at->frame, h->nframes, &h->unknown);
}

/* Continues the chain and the stack of a sample by those that are known to be its callers. */
static void stitch(struct resolver *r, struct held *h, struct buf *ips)
{
	struct stitch_at at;
	uint64_t hash = event_hash(h->how.thread, h->time);
	bool seen = h->key.frame && *whole_at(r->holding, hash) == hash;
	bool more = h->key.frame && !h->walked && resolve_stitch_first(r, &h->key, seen, &at);

	if (!more && !h->walked)
		return;
	for (uint32_t i = 0; h->walked && i < h->walked->n; i++)
		add_caller(r, h, &h->walked->step[i], ips);
	for (; more; more = resolve_stitch_next(r, &at))
		add_caller(r, h, &at.step, ips);
	h->flags = (uint32_t)UNWIND_OUTERMOST << PS_STACK_END_SHIFT | PS_STACK_STITCHED |
		   (h->flags & PS_STACK_GUESSED);
	h->end = PS_END_OUTERMOST;
	h->how.end = UNWIND_OUTERMOST;
	r->stats.stitched++;
	r->stats.looked += h->walked != NULL;
}

/* The chain and stacks of a sample that is written now. */
static int name_stacks(struct resolver *r, struct held *h, const uint32_t *alone,
		       struct ps_sample *s)
{
	struct buf *ips = &r->holding->ips;
	struct ps_chain c = {.flags = h->flags,
			     .ips = {(const void *)ips->data, (uint32_t)(ips->len / 8)}};
	uint32_t flags = h->flags | h->end << PS_STACK_END_SHIFT | (h->cut ? PS_STACK_CUT : 0);
	uint32_t restarts, kept[ALONE_MAX + 1];
	int rc = 0;

	resolve_stack_room(r);
	if (h->has_chain && (rc = resolve_put_chain(r, h->source, &c)))
		return rc;
	s->chain = c.id;
	/* When ids begin again with the second stack, that of the first is no longer true. */
	do {
		restarts = r->out.restarts;
		rc = resolve_put_stack(r, h->source, h->nframes, flags, &s->stack);
		if (rc || !h->nalone)
			break;
		/* The stack that is being made is needed once more. */
		memcpy(kept, r->stack.frames, (h->nalone + 1) * sizeof(*kept));
		memcpy(r->stack.frames, alone, h->nalone * sizeof(*alone));
		rc = resolve_put_stack(r, h->source, h->nalone, 0, &s->ip_stack);
		memcpy(r->stack.frames, kept, (h->nalone + 1) * sizeof(*kept));
	} while (!rc && restarts != r->out.restarts);
	return rc;
}

static int write_sample(struct resolver *r, struct held *h, const uint8_t *p)
{
	const uint8_t *frames = p + 8 * (size_t)h->nips;
	struct cursor c = cursor_make(frames + 4 * (((size_t)h->nalone + h->nframes + 1) & ~1u) + 8,
				      h->record - 8, false);
	const uint32_t *alone = (const void *)frames;
	struct buf *ips = &r->holding->ips;
	uint32_t set = 0;
	struct ps_sample s;
	int rc = ps_sample_decode(&c, &s);

	if (rc)
		return rc;
	buf_reset(ips);
	if (h->nips)
		buf_add(ips, p, 8 * (size_t)h->nips);
	memcpy(r->stack.frames, alone + h->nalone, h->nframes * sizeof(*alone));
	stitch(r, h, ips);
	if (ips->err)
		return ips->err;
	if (h->how.end)
		rc = resolve_ends_add(r, &h->how);
	else if (h->has_chain)
		r->stats.chain_ends[h->end]++;
	if (!rc && h->unknown && r->opts.missing)
		rc = resolve_miss_frames(r, h->nframes, &set);
	if (set)
		r->lacks.missing.counts[set]++;
	if (!rc)
		rc = name_stacks(r, h, alone, &s);
	r->stats.frames += h->nframes;
	r->stats.unknown += h->unknown;
	s.fields |= (s.chain ? PS_HAS(chain) : 0) | (s.stack ? PS_HAS(stack) : 0) |
		    (s.ip_stack ? PS_HAS(ip_stack) : 0);
	return rc ? rc : swriter_sample(r->w, h->source, &s);
}

/* Writes the first that is held back. */
static int write_first(struct resolver *r)
{
	struct holding *k = r->holding;
	struct held h;
	const uint8_t *p = k->queue.data + k->head;
	int rc;

	memcpy(&h, p, sizeof(h));
	k->head += h.size;
	if (h.sample) {
		rc = write_sample(r, &h, p + sizeof(h) + h.rest);
		free(h.walked);
	} else {
		struct ps_record rec = {
			.type = h.type, .source = h.source, .raw = p + sizeof(h), .size = h.record};

		rc = swriter_copy(r->w, &rec);
	}
	if (k->head == k->queue.len) {
		buf_reset(&k->queue);
		k->head = 0;
	}
	return rc;
}

int resolve_held(struct resolver *r)
{
	int rc = 0;

	while (waiting(r) && !rc)
		rc = write_first(r);
	return rc;
}

/* Writes those that have waited long enough, and all before the next that still has to. */
static int write_due(struct resolver *r)
{
	struct holding *k = r->holding;
	int rc = 0;

	while (waiting(r) && !rc) {
		struct held h;

		memcpy(&h, k->queue.data + k->head, sizeof(h));
		if (h.key.frame && k->newest - h.time < AHEAD_NS &&
		    k->queue.len - k->head < BYTES_MAX)
			break;
		rc = write_first(r);
	}
	/* What was written makes room when it is half of all. */
	if (k->head > BYTES_MAX / 4 && k->head > k->queue.len / 2) {
		memmove(k->queue.data, k->queue.data + k->head, k->queue.len - k->head);
		k->queue.len -= k->head;
		k->head = 0;
	}
	return rc;
}

/* ---- holding back ---- */

static int start(struct resolver *r)
{
	if (!r->holding)
		r->holding = calloc(1, sizeof(*r->holding));
	return r->holding ? 0 : PP_ENOMEM;
}

static void pad(struct buf *b)
{
	static const uint8_t zeroes[8];

	buf_add(b, zeroes, -b->len & 7);
}

/* Room for the bytes of a record at the end of the queue, its header among them; NULL: none. */
static uint8_t *record_room(struct buf *q, size_t size, uint32_t type, uint32_t source)
{
	uint32_t head[2] = {(uint32_t)size, (type & 0xffff) | source << 16};
	uint8_t *p;

	if (buf_reserve(q, size))
		return NULL;
	p = q->data + q->len;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		head[1] = type << 16 | (source & 0xffff);
	memcpy(p, head, sizeof(head));
	q->len += size;
	return p + sizeof(head);
}

/* A record of any type but a sample's. */
static int hold_record(struct resolver *r, uint32_t type, uint32_t source, const void *fields)
{
	const struct ps_typedesc *t = ps_typedesc(type);
	size_t size = ps_encoded_size(t, fields);
	struct held h = {.type = type, .source = source, .record = (uint32_t)size + 8};
	struct buf *q = &r->holding->queue;
	uint8_t *p;

	if (!size)
		return PP_ELIMIT;
	h.size = (uint32_t)(sizeof(h) + h.record);
	buf_add(q, &h, sizeof(h));
	p = record_room(q, h.record, type, source);
	if (p)
		ps_encode(t, fields, p);
	return q->err;
}

int resolve_put(struct resolver *r, enum ps_type type, uint32_t source, const void *fields)
{
	return waiting(r) ? hold_record(r, type, source, fields)
			  : swriter_put(r->w, type, source, fields);
}

int resolve_copy(struct resolver *r, const struct ps_record *rec)
{
	struct buf *q;
	struct held h;

	if (!waiting(r))
		return swriter_copy(r->w, rec);
	if (rec->foreign || !rec->raw)
		return ps_typedesc(rec->type) ? hold_record(r, rec->type, rec->source, &rec->sample)
					      : PP_EUNSUPPORTED;
	q = &r->holding->queue;
	h = (struct held){.type = rec->type, .source = rec->source, .record = rec->size};
	h.size = (uint32_t)(sizeof(h) + ((rec->size + 7) & ~7u));
	buf_add(q, &h, sizeof(h));
	buf_add(q, rec->raw, rec->size);
	pad(q);
	return q->err;
}

static int hold_sample(struct resolver *r, struct held *h, const struct ps_chain *c,
		       const struct ps_sample *s)
{
	struct buf *q = &r->holding->queue;
	size_t start = q->len;
	uint8_t *p;

	h->record = (uint32_t)ps_sample_size(s);
	if (!h->record)
		return PP_ELIMIT;
	buf_add(q, h, sizeof(*h));
	if (h->rest)
		buf_add(q, &r->holding->rest, h->rest);
	if (h->nips && c->ips.v)
		buf_add(q, c->ips.v, 8 * (size_t)h->nips);
	buf_add(q, r->holding->alone, 4 * (size_t)h->nalone);
	buf_add(q, r->stack.frames, 4 * (size_t)h->nframes);
	pad(q);
	p = record_room(q, h->record, PS_SAMPLE, h->source);
	if (!p) {
		/* Nobody could step over a part of one. */
		q->len = start;
		return q->err;
	}
	ps_sample_encode(s, p);
	pad(q);
	h->size = (uint32_t)(q->len - start);
	memcpy(q->data + start, h, sizeof(*h));
	return q->err;
}

/*
 * The frames of what was unwound, one for each address, among those of the whole chain: the
 * innermost of those at an address stands for them. False: they do not fit.
 */
static bool frames_of(const struct resolver *r, const struct chain_state *st,
		      const struct unwind_result *res, uint32_t *frames)
{
	uint32_t at = st->frames;

	for (uint32_t i = res->n; i-- > 0;) {
		if (!at || res->ips[i] >= CTX_MAX)
			return false;
		at--;
		while (r->out.lines && at && r->out.lines[r->stack.frames[at - 1]] & FRAME_INLINED)
			at--;
		frames[i] = r->stack.frames[at];
	}
	return true;
}

/* Learns from a whole stack, and finds by what a cut one can be continued. */
static int look_at_stack(struct resolver *r, const struct caller_space *space, struct held *h,
			 const struct chain_state *st, const struct unwind_result *res)
{
	uint32_t frames[UNWIND_DEPTH_MAX], last = res->n - 1;

	if (!res->n || h->cut || !frames_of(r, st, res, frames))
		return 0;
	if (res->end == UNWIND_OUTERMOST)
		return resolve_stitch_learn(r, h->how.thread, space, res, frames, 1);
	if (res->end != UNWIND_COPY && res->end != UNWIND_NOT_THERE)
		return 0;
	h->key = (struct stitch_key){res->ips[last], res->sps[last], res->cfa, frames[last]};
	return res->guessed ? 0 : resolve_stitch_part(r, space, res, frames);
}

/* Keeps what it takes to walk on from where the copy ended. */
static void keep_rest(struct resolver *r, const struct machine *m, const struct ps_sample *s,
		      const struct unwind_result *res, struct held *h)
{
	struct rest *rest = &r->holding->rest;
	uint64_t from;

	if (!h->key.frame || !res->state || s->user_stack.len < LOOKS_MIN)
		return;
	from = res->state->base - res->state->floor;
	rest->arch = unwind_arch(m->host.kernel.origin.arch, s->user_regs.abi, s->user_regs.mask);
	rest->state = *res->state;
	rest->pid = s->pid;
	rest->len = (uint32_t)(s->user_stack.len - from);
	memcpy(rest->tail, (const uint8_t *)s->user_stack.p + from, rest->len);
	h->rest = (uint32_t)((offsetof(struct rest, tail) + rest->len + 7) & ~UINT64_C(7));
}

/* The frames of the sample's own address, to r->stack. */
static int find_own(struct resolver *r, struct machine *m, const struct ps_sample *s, uint32_t *n,
		    uint32_t *unknown)
{
	struct known none = {0};
	struct part part = {spaces_get(m->spaces, s->pid), &none, sample_mode(s), false};

	return resolve_address(r, m, &part, s->ip, n, unknown);
}

/* The same where they are not those of the chain. */
static int find_alone(struct resolver *r, struct machine *m, const struct ps_sample *s,
		      struct held *h)
{
	uint32_t n = 0, unknown = 0;
	int rc = find_own(r, m, s, &n, &unknown);

	h->nalone = n < ALONE_MAX ? n : ALONE_MAX;
	memcpy(r->holding->alone, r->stack.frames, h->nalone * sizeof(*r->stack.frames));
	return rc;
}

/* Resolves a sample: its frames are in r->stack then. */
static int take(struct resolver *r, struct machine *m, struct ps_sample *s,
		const struct ps_chain *c, struct held *h, struct ps_chain *out)
{
	struct caller_space space = {m, spaces_get(m->spaces, s->pid)};
	bool unwinds = resolve_can_unwind(m, s);
	struct unwind_result res = {0};
	struct chain_state st = {0};
	int rc = 0;

	if (unwinds) {
		rc = resolve_unwind(r, m, s, c, out, &res);
		c = out;
		if (!rc)
			h->how = resolve_unwound(r, s, &res);
	} else if (c) {
		*out = *c;
	}
	if (!rc && resolve_chain_restarts(r, out->ips.n + 1))
		rc = resolve_held(r);
	if (rc)
		return rc;
	h->has_chain = c != NULL;
	if (!c)
		return find_own(r, m, s, &h->nframes, &h->unknown);
	if (ps_sample_has(s, ip) && s->ip != resolve_first(c))
		rc = find_alone(r, m, s, h);
	if (rc)
		return rc;
	rc = resolve_chain_frames(r, m, space.sp, c, sample_mode(s), &(struct known){0}, &st,
				  &h->cut);
	h->nips = c->ips.n;
	h->nframes = st.frames;
	h->unknown = st.unknown;
	h->flags = c->flags;
	h->end = st.end;
	if (!rc && unwinds)
		rc = look_at_stack(r, &space, h, &st, &res);
	if (!rc)
		keep_rest(r, m, s, &res, h);
	return rc;
}

/* Whether a sample is one that can wait: it has no other stacks, nor names that it came with. */
static bool can_wait(const struct machine *m, const struct ps_sample *s, const struct ps_chain *c)
{
	return (c || resolve_can_unwind(m, s) || ps_sample_has(s, ip)) &&
	       sample_mode(s) < MODE_GUEST_KERNEL &&
	       (!ps_sample_has(s, stack) || resolve_can_unwind(m, s)) &&
	       !(s->fields & (PS_HAS(other_stack) | PS_HAS(branch_stack) | PS_HAS(branches) |
			      PS_HAS(ip_stack)));
}

int resolve_learn(struct resolver *r, struct machine *m, const struct ps_sample *from,
		  const struct ps_chain *c)
{
	struct held h = {.sample = true};
	struct ps_sample s = *from;
	struct ps_chain made = {0};
	uint64_t hash;
	int rc = start(r);

	if (rc || !can_wait(m, from, c))
		return rc;
	rc = take(r, m, &s, c, &h, &made);
	hash = event_hash(h.how.thread, s.time);
	if (h.how.end == UNWIND_OUTERMOST && r->holding->cut == hash)
		*whole_at(r->holding, hash) = hash;
	return rc;
}

bool resolve_hold(struct resolver *r, struct machine *m, const struct ps_sample *from,
		  const struct ps_chain *c, int *rc)
{
	struct held h = {.sample = true, .source = m->source, .time = from->time};
	struct ps_sample s = *from;
	struct ps_chain made = {0};

	*rc = 0;
	if (!can_wait(m, from, c))
		return false;
	*rc = start(r);
	if (*rc)
		return true;
	*rc = take(r, m, &s, c, &h, &made);
	if (*rc)
		return true;
	if (h.key.frame)
		r->holding->cut = event_hash(h.how.thread, h.time);
	s.fields &= ~(PS_HAS(stack) | PS_HAS(ip_stack) | PS_HAS(chain));
	s.stack = s.ip_stack = s.chain = 0;
	if (h.how.end && !r->opts.keep_stacks)
		s.fields &= ~(PS_HAS(user_regs) | PS_HAS(user_stack) | PS_HAS(user_stack_size));
	if (from->time > r->holding->newest)
		r->holding->newest = from->time;
	*rc = hold_sample(r, &h, &made, &s);
	if (!*rc)
		*rc = write_due(r);
	return true;
}

/* ---- what looks found ---- */

/*
 * The frames of callers. Beyond a large copy are the outer ones, which hardly change: from them
 * those of other samples are learned, too. 0, or an error; there may be no room for them now.
 */
static int name_callers(struct resolver *r, struct machine *m, uint32_t pid,
			const struct unwind_result *res, struct held *h)
{
	struct caller_space space = {m, spaces_get(m->spaces, pid)};
	uint32_t frames[UNWIND_DEPTH_MAX] = {h->key.frame};
	struct walked *w;
	int rc = 0;

	if (resolve_chain_restarts(r, res->n + 1))
		return 0;
	w = h->walked = malloc(sizeof(*w) + res->n * sizeof(w->step[0]));
	if (!w)
		return PP_ENOMEM;
	w->n = 0;
	for (uint32_t i = 1; i < res->n && !rc; i++) {
		struct stitch_step *at = &w->step[w->n++];

		*at = (struct stitch_step){.ip = res->ips[i], .exact = res->exact[i]};
		rc = resolve_frame(r, m, space.sp, at->ip, MODE_USER, !at->exact, &at->frame);
		frames[i] = at->frame &= ~FRAME_UNKNOWN;
	}
	return rc || h->how.len < LARGE_MIN
		       ? rc
		       : resolve_stitch_learn(r, h->how.thread, &space, res, frames, 0);
}

static int walk_on(struct resolver *r, struct machine *m, struct held *h, const uint8_t *p,
		   const struct unwind_beyond *beyond)
{
	struct rest *rest = &r->holding->rest;
	struct unwind_rest from = {.state = &rest->state, .tail = rest->tail};
	struct unwind_beyond same = *beyond;
	struct unwind_result res;
	bool whole;
	int rc;

	/* Inner frames come and go: there another look has to agree. */
	if (h->how.len < LARGE_MIN && !same.since--)
		return 0;
	memcpy(rest, p, h->rest);
	from.arch = rest->arch;
	from.len = rest->len;
	rc = resolve_unwind_rest(r, m, rest->pid, &from, &same, &res, &whole);
	return rc || !whole ? rc : name_callers(r, m, rest->pid, &res, h);
}

int resolve_hold_rest(struct resolver *r, struct machine *m, uint64_t thread,
		      const uint64_t from[2], const struct unwind_beyond *beyond)
{
	struct holding *k = r->holding;
	struct held h;
	int rc = 0;

	for (size_t at = k ? k->head : 0; k && at < k->queue.len && !rc; at += h.size) {
		memcpy(&h, k->queue.data + at, sizeof(h));
		if (!h.rest || h.walked || h.how.thread != thread || h.time < from[0] ||
		    h.time > from[1])
			continue;
		rc = walk_on(r, m, &h, k->queue.data + at + sizeof(h), beyond);
		memcpy(k->queue.data + at, &h, sizeof(h));
	}
	return rc;
}
