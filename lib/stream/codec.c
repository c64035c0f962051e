/* The records as bytes: sizes, encoding and decoding, from the tables of records.h. */
#include "stream/codec.h"

#include "base/err.h"

#define FD(t)		 static const struct ps_fielddesc t##_fields[]
#define PS_F(k, n, what) {#n, offsetof(THIS, n), PS_KIND_##k},
#define THIS		 struct ps_string
FD(STRING) = {PS_FIELDS_STRING(PS_F)};
#undef THIS
#define THIS struct ps_source
FD(SOURCE) = {PS_FIELDS_SOURCE(PS_F)};
#undef THIS
#define THIS struct ps_meta
FD(META) = {PS_FIELDS_META(PS_F)};
#undef THIS
#define THIS struct ps_provenance
FD(PROVENANCE) = {PS_FIELDS_PROVENANCE(PS_F)};
#undef THIS
#define THIS struct ps_event
FD(EVENT) = {PS_FIELDS_EVENT(PS_F)};
#undef THIS
#define THIS struct ps_event_field
FD(EVENT_FIELD) = {PS_FIELDS_EVENT_FIELD(PS_F)};
#undef THIS
#define THIS struct ps_dso
FD(DSO) = {PS_FIELDS_DSO(PS_F)};
#undef THIS
#define THIS struct ps_mmap
FD(MMAP) = {PS_FIELDS_MMAP(PS_F)};
#undef THIS
#define THIS struct ps_comm
FD(COMM) = {PS_FIELDS_COMM(PS_F)};
#undef THIS
#define THIS struct ps_fork
FD(FORK) = {PS_FIELDS_FORK(PS_F)};
#undef THIS
#define THIS struct ps_exit
FD(EXIT) = {PS_FIELDS_EXIT(PS_F)};
#undef THIS
#define THIS struct ps_ksymbol
FD(KSYMBOL) = {PS_FIELDS_KSYMBOL(PS_F)};
#undef THIS
#define THIS struct ps_bpf
FD(BPF) = {PS_FIELDS_BPF(PS_F)};
#undef THIS
#define THIS struct ps_namespaces
FD(NAMESPACES) = {PS_FIELDS_NAMESPACES(PS_F)};
#undef THIS
#define THIS struct ps_cgroup
FD(CGROUP) = {PS_FIELDS_CGROUP(PS_F)};
#undef THIS
#define THIS struct ps_switch
FD(SWITCH) = {PS_FIELDS_SWITCH(PS_F)};
#undef THIS
#define THIS struct ps_lost
FD(LOST) = {PS_FIELDS_LOST(PS_F)};
#undef THIS
#define THIS struct ps_throttle
FD(THROTTLE) = {PS_FIELDS_THROTTLE(PS_F)};
#undef THIS
#define THIS struct ps_text_poke
FD(TEXT_POKE) = {PS_FIELDS_TEXT_POKE(PS_F)};
#undef THIS
#define THIS struct ps_aux
FD(AUX) = {PS_FIELDS_AUX(PS_F)};
#undef THIS
#define THIS struct ps_read
FD(READ) = {PS_FIELDS_READ(PS_F)};
#undef THIS
#define THIS struct ps_blob
FD(BLOB) = {PS_FIELDS_BLOB(PS_F)};
#undef THIS
#define THIS struct ps_other
FD(OTHER) = {PS_FIELDS_OTHER(PS_F)};
#undef THIS
#define THIS struct ps_counter
FD(COUNTER) = {PS_FIELDS_COUNTER(PS_F)};
#undef THIS
#define THIS struct ps_count
FD(COUNT) = {PS_FIELDS_COUNT(PS_F)};
#undef THIS
#define THIS struct ps_round
FD(ROUND) = {PS_FIELDS_ROUND(PS_F)};
#undef THIS
#define THIS struct ps_chain
FD(CHAIN) = {PS_FIELDS_CHAIN(PS_F)};
#undef THIS
#define THIS struct ps_symbol
FD(SYMBOL) = {PS_FIELDS_SYMBOL(PS_F)};
#undef THIS
#define THIS struct ps_frame
FD(FRAME) = {PS_FIELDS_FRAME(PS_F)};
#undef THIS
#define THIS struct ps_stack
FD(STACK) = {PS_FIELDS_STACK(PS_F)};
#undef THIS
#define THIS struct ps_srcfile
FD(SRCFILE) = {PS_FIELDS_SRCFILE(PS_F)};
#undef THIS
#define THIS struct ps_chains
FD(CHAINS) = {PS_FIELDS_CHAINS(PS_F)};
#undef THIS
#define THIS struct ps_stacks
FD(STACKS) = {PS_FIELDS_STACKS(PS_F)};
#undef THIS
#define THIS struct ps_samples
FD(SAMPLES) = {PS_FIELDS_SAMPLES(PS_F)};
#undef THIS
#define THIS struct ps_end
FD(END) = {PS_FIELDS_END(PS_F)};
#undef THIS
#undef PS_F
static const struct ps_fielddesc SAMPLE_fields[1];

/* Sizes of the C structs; 0 for SAMPLE, which has a codec of its own. */
#define SIZES(S) \
	S(STRING, string) \
	S(SOURCE, source) \
	S(META, meta) \
	S(PROVENANCE, provenance) \
	S(EVENT, event) \
	S(DSO, dso) \
	S(MMAP, mmap) \
	S(COMM, comm) \
	S(FORK, fork) \
	S(EXIT, exit) \
	S(KSYMBOL, ksymbol) \
	S(BPF, bpf) \
	S(NAMESPACES, namespaces) \
	S(CGROUP, cgroup) \
	S(SWITCH, switch) \
	S(LOST, lost) \
	S(THROTTLE, throttle) \
	S(TEXT_POKE, text_poke) \
	S(AUX, aux) \
	S(READ, read) \
	S(BLOB, blob) \
	S(OTHER, other) \
	S(COUNTER, counter) \
	S(COUNT, count) \
	S(ROUND, round) \
	S(CHAIN, chain) \
	S(SYMBOL, symbol) \
	S(FRAME, frame) \
	S(STACK, stack) \
	S(SRCFILE, srcfile) \
	S(CHAINS, chains) \
	S(STACKS, stacks) \
	S(SAMPLES, samples) \
	S(END, end)
enum {
#define S(NAME, name) SIZE_##NAME = sizeof(struct ps_##name),
	SIZES(S)
#undef S
		SIZE_SAMPLE = 0
};

static const struct ps_typedesc types[PS_TYPES] = {
#define PS_R(name, number, text, what) \
	[number] = {text, name##_fields, \
		    SIZE_##name ? sizeof(name##_fields) / sizeof(name##_fields[0]) : 0, \
		    SIZE_##name, \
		    (number) >= PS_MMAP && (number) <= PS_OTHER && (number) != PS_BLOB},
	PS_RECORDS(PS_R)
#undef PS_R
};

const struct ps_typedesc ps_event_field_desc = {"event_field", EVENT_FIELD_fields,
						sizeof(EVENT_FIELD_fields) /
							sizeof(EVENT_FIELD_fields[0]),
						sizeof(struct ps_event_field), false};

const struct ps_typedesc *ps_typedesc(uint32_t type)
{
	return type < PS_TYPES && types[type].name ? &types[type] : NULL;
}

const char *ps_end_how(uint32_t end)
{
	switch (end) {
#define PS_E(name, number, text) \
	case number: return text;
		PS_ENDS(PS_E)
#undef PS_E
	}
	return "in a way that is not known";
}

const char *ps_reason(uint32_t reason)
{
	switch (reason) {
#define PS_R(name, number, text) \
	case number: return text;
		PS_REASONS(PS_R)
#undef PS_R
	}
	return "unknown reason";
}

#define FIELD(base, f, type)  (*(type *)((uint8_t *)(base) + (f)->offset))
#define CFIELD(base, f, type) (*(const type *)((const uint8_t *)(base) + (f)->offset))

size_t ps_unbounded_size(const struct ps_typedesc *t, const void *fields)
{
	size_t n = 0;

	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		switch (f->kind) {
		case PS_KIND_u32: n += 4; break;
		case PS_KIND_u64: n += 8; break;
		case PS_KIND_str: n = ps_pad(n + 4 + CFIELD(fields, f, struct ps_str).len); break;
		case PS_KIND_u32s:
			n = ps_pad(n + 4 + 4 * (size_t)CFIELD(fields, f, struct ps_u32s).n);
			break;
		case PS_KIND_u64s: n += 8 + 8 * (size_t)CFIELD(fields, f, struct ps_u64s).n; break;
		}
	}
	return ps_pad(n);
}

size_t ps_encoded_size(const struct ps_typedesc *t, const void *fields)
{
	size_t n = ps_unbounded_size(t, fields);

	return n <= PS_RECORD_MAX - 8 ? n : 0;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
	return p + 4;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, 8);
	return p + 8;
}

static uint8_t *put_u64s(uint8_t *p, const uint64_t *v, uint32_t n)
{
	p = put32(p, n);
	p = put32(p, 0);
	if (n)
		memcpy(p, v, 8 * (size_t)n);
	return p + 8 * (size_t)n;
}

uint8_t *ps_encode(const struct ps_typedesc *t, const void *fields, uint8_t *p)
{
	uint8_t *start = p;

	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		switch (f->kind) {
		case PS_KIND_u32: p = put32(p, CFIELD(fields, f, uint32_t)); break;
		case PS_KIND_u64: p = put64(p, CFIELD(fields, f, uint64_t)); break;
		case PS_KIND_str: {
			const struct ps_str *s = &CFIELD(fields, f, struct ps_str);

			p = ps_put_counted(p, s->len, s->p, s->len);
			break;
		}
		case PS_KIND_u32s: {
			const struct ps_u32s *s = &CFIELD(fields, f, struct ps_u32s);

			p = ps_put_counted(p, s->n, s->v, 4 * (size_t)s->n);
			break;
		}
		case PS_KIND_u64s: {
			const struct ps_u64s *s = &CFIELD(fields, f, struct ps_u64s);

			p = put_u64s(p, s->v, s->n);
			break;
		}
		}
	}
	while ((p - start) % 8)
		*p++ = 0;
	return p;
}

/*
 * Arrays are swapped where they lie: the bytes belong to the reader, which reads each record once.
 */
static const uint32_t *take_u32s(struct cursor *c, uint32_t n)
{
	uint8_t *p = (uint8_t *)get_bytes(c, 4 * (uint64_t)n);

	if (p && c->swap) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t v;

			memcpy(&v, p + 4 * (size_t)i, 4);
			v = __builtin_bswap32(v);
			memcpy(p + 4 * (size_t)i, &v, 4);
		}
	}
	return (const uint32_t *)(void *)p;
}

static const uint64_t *take_numbers(struct cursor *c, uint64_t n)
{
	if (n <= PS_RECORD_MAX / 8)
		return take_u64s(c, n);
	c->bad = true;
	return NULL;
}

static void skip_pad(struct cursor *c, uint64_t used)
{
	cursor_skip(c, ps_pad(used) - used);
}

static struct ps_str take_str(struct cursor *c)
{
	struct ps_str s;

	s.len = get_u32(c);
	s.p = (const char *)get_bytes(c, s.len);
	skip_pad(c, 4 + (uint64_t)s.len);
	if (!s.p || c->bad)
		return (struct ps_str){NULL, 0};
	return s;
}

static struct ps_u64s take_u64_array(struct cursor *c)
{
	struct ps_u64s a;

	a.n = get_u32(c);
	get_u32(c);
	a.v = take_numbers(c, a.n);
	return a;
}

int ps_decode(const struct ps_typedesc *t, struct cursor *c, void *fields)
{
	memset(fields, 0, t->size);
	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		/* An earlier version of the record ends here. */
		if (!cursor_left(c))
			break;
		switch (f->kind) {
		case PS_KIND_u32: FIELD(fields, f, uint32_t) = get_u32(c); break;
		case PS_KIND_u64: FIELD(fields, f, uint64_t) = get_u64(c); break;
		case PS_KIND_str: FIELD(fields, f, struct ps_str) = take_str(c); break;
		case PS_KIND_u32s: {
			struct ps_u32s *a = &FIELD(fields, f, struct ps_u32s);

			a->n = get_u32(c);
			a->v = take_u32s(c, a->n);
			skip_pad(c, 4 + 4 * (uint64_t)a->n);
			break;
		}
		case PS_KIND_u64s: FIELD(fields, f, struct ps_u64s) = take_u64_array(c); break;
		}
		if (c->bad)
			return PP_ECORRUPT;
	}
	return 0;
}

/* ---- samples ---- */

#define FOR_FIELDS(set) \
	for (uint64_t left = (set); left; left &= left - 1) \
		switch (__builtin_ctzll(left))

#define SIZE_regs(x)   (16 + 8 * (size_t)__builtin_popcountll((x).mask))
#define SIZE_branch(x) (16 + 24 * (size_t)(x).n)
#define SIZE_u64s(x)   (8 + 8 * (size_t)(x).n)

size_t ps_sample_size(const struct ps_sample *s)
{
	size_t n = ps_sample_near_size(s, s->fields);

	FOR_FIELDS(s->fields & ~(uint64_t)PS_SAMPLE_NEAR)
	{
#define PS_F(bit, kind, name, what) \
	case bit: n += SIZE_##kind(s->name); break;
		PS_SAMPLE_FIELDS(PS_F) /* NOLINT(bugprone-branch-clone): fields of one kind */
#undef PS_F
	}
	return n <= PS_RECORD_MAX ? n : 0;
}

static uint8_t *put_regs(uint8_t *p, const struct ps_regs *r)
{
	size_t n = 8 * (size_t)__builtin_popcountll(r->mask);

	p = put64(p, r->abi);
	p = put64(p, r->mask);
	if (n)
		memcpy(p, r->v, n);
	return p + n;
}

static uint8_t *put_branches(uint8_t *p, const struct ps_branches *b)
{
	p = put32(p, b->n);
	p = put32(p, b->flags);
	p = put64(p, b->hw_idx);
	if (b->n)
		memcpy(p, b->v, 24 * (size_t)b->n);
	return p + 24 * (size_t)b->n;
}

#define ENCODE_u64(x)	 p = put64(p, x)
#define ENCODE_ref(x)	 p = ps_put_ref(p, x)
#define ENCODE_str(x)	 p = ps_put_counted(p, (x).len, (x).p, (x).len)
#define ENCODE_regs(x)	 p = put_regs(p, &(x))
#define ENCODE_branch(x) p = put_branches(p, &(x))
#define ENCODE_u64s(x)	 p = put_u64s(p, (x).v, (x).n)

static uint8_t *put_far(const struct ps_sample *s, uint64_t fields, uint8_t *p)
{
	FOR_FIELDS(fields & ~(uint64_t)PS_SAMPLE_NEAR)
	{
#define PS_F(bit, kind, name, what) \
	case bit: ENCODE_##kind(s->name); break;
		PS_SAMPLE_FIELDS(PS_F) /* NOLINT(bugprone-branch-clone): fields of one kind */
#undef PS_F
	}
	return p;
}

uint8_t *ps_sample_encode(const struct ps_sample *s, uint8_t *p)
{
	return put_far(s, s->fields, ps_sample_put_near(s, s->fields, p));
}

uint8_t *ps_sample_before_stack(const struct ps_sample *s, uint8_t *p)
{
	p = put_far(s, s->fields & (PS_HAS(user_stack) - 1), ps_sample_put_near(s, s->fields, p));
	return put32(p, s->user_stack.len);
}

uint8_t *ps_sample_after_stack(const struct ps_sample *s, uint8_t *p)
{
	size_t used = 4 + (size_t)s->user_stack.len, pad = ps_pad(used) - used;

	memset(p, 0, pad);
	return put_far(s, s->fields & ~(2 * PS_HAS(user_stack) - 1), p + pad);
}

static uint32_t take_ref(struct cursor *c)
{
	uint32_t id = get_u32(c);

	get_u32(c);
	return id;
}

static struct ps_regs take_regs(struct cursor *c)
{
	struct ps_regs r;

	r.abi = get_u64(c);
	r.mask = get_u64(c);
	r.v = take_numbers(c, (uint64_t)__builtin_popcountll(r.mask));
	return r;
}

static struct ps_branches take_branch(struct cursor *c)
{
	struct ps_branches b;

	b.n = get_u32(c);
	b.flags = get_u32(c);
	b.hw_idx = get_u64(c);
	b.v = take_numbers(c, 3 * (uint64_t)b.n);
	return b;
}

#define DECODE_u64(c)	 get_u64(c)
#define DECODE_ref(c)	 take_ref(c)
#define DECODE_str(c)	 take_str(c)
#define DECODE_regs(c)	 take_regs(c)
#define DECODE_branch(c) take_branch(c)
#define DECODE_u64s(c)	 take_u64_array(c)

/* The bits of fields that this version knows. */
#define PS_F(bit, kind, name, what) | UINT64_C(1) << (bit)
static const uint64_t sample_known = 0 PS_SAMPLE_FIELDS(PS_F);
#undef PS_F

/* The C library's: what gcc puts in its place, "rep stos", takes long to begin. */
static void *(*const volatile library_memset)(void *, int, size_t) = memset;

void ps_sample_clear(struct ps_sample *s)
{
	library_memset(s, 0, sizeof(*s));
}

void ps_sample_clear_far(struct ps_sample *s)
{
	library_memset(&s->stream_id, 0, sizeof(*s) - offsetof(struct ps_sample, stream_id));
}

/* One in the other byte order. */
static void decode_foreign(struct cursor *c, struct ps_sample *s)
{
	ps_sample_clear(s);
	s->event = get_u32(c);
	s->cpu = get_u32(c);
	s->time = get_u64(c);
	s->pid = get_u32(c);
	s->tid = get_u32(c);
	s->comm = get_u32(c);
	s->flags = get_u32(c);
	s->fields = get_u64(c);
}

int ps_sample_decode(struct cursor *c, struct ps_sample *s)
{
	uint64_t far;

	if (c->swap) {
		decode_foreign(c, s);
	} else {
		c->p = ps_sample_near(c->p, c->end, s);
		if (!c->p)
			return PP_ECORRUPT;
		ps_sample_clear_far(s);
	}
	/* What a later version has appended is not in this struct: nobody may look for it. */
	s->fields &= sample_known;
	far = c->swap ? s->fields : s->fields & ~(uint64_t)PS_SAMPLE_NEAR;
	FOR_FIELDS(far)
	{
#define PS_F(bit, kind, name, what) \
	case bit: s->name = DECODE_##kind(c); break;
		PS_SAMPLE_FIELDS(PS_F) /* NOLINT(bugprone-branch-clone): fields of one kind */
#undef PS_F
	}
	return c->bad ? PP_ECORRUPT : 0;
}
