/* Packing samples, and unpacking them. */
#include "stream/samples.h"

#include "base/err.h"
#include "stream/varint.h"

#include <string.h>

/* ---- packing ---- */

static uint32_t mix(uint64_t v)
{
	return (uint32_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static void put_shape(struct sample_packer *p, const struct ps_sample *s, uint32_t i)
{
	struct sample_shape *h = &p->st.shapes[i];
	uint8_t *to = p->data + p->len;

	h->event = s->event;
	h->cpu = s->cpu;
	h->flags = s->flags;
	h->fields = s->fields;
	h->id = ps_sample_has(s, id) ? s->id : 0;
	h->ip = h->period = h->addr = 0;
	h->thread = UINT32_MAX;
	h->chain = h->stack = h->len = h->nwords = 0;
	to = varint_put(to, s->event);
	to = varint_put(to, (uint32_t)(s->cpu + 1));
	to = varint_put(to, s->flags);
	to = varint_put(to, s->fields);
	if (ps_sample_has(s, id))
		to = varint_put(to, s->id);
	p->len = (size_t)(to - p->data);
}

/* The shape of a sample, written if it is new. NULL: there are too many. */
static struct sample_shape *shape_of(struct sample_packer *p, const struct ps_sample *s)
{
	const uint64_t id = ps_sample_has(s, id) ? s->id : 0;
	uint32_t at = mix(s->event + ((uint64_t)s->cpu << 20) + ((uint64_t)s->flags << 40) + id);

	for (;; at++) {
		uint8_t *slot = &p->slots[at % SAMPLES_SLOTS];
		struct sample_shape *h;

		if (!*slot) {
			if (p->st.nshapes == SAMPLES_SHAPES)
				return NULL;
			*slot = (uint8_t)++p->st.nshapes;
			p->data[p->len++] = (uint8_t)(*slot - 1);
			put_shape(p, s, *slot - 1u);
			return &p->st.shapes[*slot - 1];
		}
		h = &p->st.shapes[*slot - 1];
		if (h->event == s->event && h->cpu == s->cpu && h->flags == s->flags &&
		    h->fields == s->fields && h->id == id) {
			p->data[p->len++] = (uint8_t)(*slot - 1);
			return h;
		}
	}
}

static uint8_t *put_thread(struct sample_packer *p, const struct ps_sample *s, uint8_t *to,
			   uint32_t *index)
{
	uint32_t at = mix(s->tid + ((uint64_t)s->comm << 32));

	for (;; at++) {
		uint16_t *slot = &p->tslots[at % SAMPLES_TSLOTS];
		struct sample_thread *t;

		if (!*slot) {
			*index = p->st.nthreads++;
			*slot = (uint16_t)p->st.nthreads;
			p->st.threads[*index] = (struct sample_thread){s->pid, s->tid, s->comm};
			to = varint_put(to, *index);
			to = varint_put(to, (uint32_t)(s->pid + 1));
			to = varint_put(to, (uint32_t)(s->tid + 1));
			return varint_put(to, s->comm);
		}
		t = &p->st.threads[*slot - 1];
		if (t->pid == s->pid && t->tid == s->tid && t->comm == s->comm) {
			*index = *slot - 1u;
			return varint_put(to, *index);
		}
	}
}

/* What is left of a payload after its last whole word. */
static inline uint64_t last_word(const char *p, uint32_t left)
{
	uint64_t w = 0;
	uint32_t half;

	/* As a rule: the kernel rounds up with the length, which takes four bytes. */
	if (left == 4) {
		memcpy(&half, p, 4);
		return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? half : (uint64_t)half << 32;
	}
	memcpy(&w, p, left);
	return w;
}

/* Remembers a word of the payload; where the next one goes that differs. */
static inline uint8_t *put_word(struct sample_shape *h, uint32_t i, uint64_t w, uint8_t *to,
				uint64_t *changed)
{
	uint64_t differs = w != h->words[i];

	/* Written in any case: nobody can foresee which words differ, the processor neither. */
	memcpy(to, &w, 8);
	h->words[i] = w;
	*changed |= differs << i;
	return to + 8 * differs;
}

/* The payload, if it is another: its length, which words of it changed, and those. */
static inline uint8_t *put_payload(struct sample_shape *h, const struct ps_str *payload,
				   uint8_t *changes, uint8_t *to)
{
	const uint32_t len = payload->len, whole = len / 8, n = (len + 7) / 8, nmask = (n + 7) / 8;
	const uint32_t before = h->len;
	uint64_t changed = 0;
	uint8_t *mask, *from = to;

	to = varint_put(to, zigzag((uint64_t)len - before));
	h->len = len;
	mask = to;
	to += nmask;
	while (h->nwords < n)
		h->words[h->nwords++] = 0;
	for (uint32_t i = 0; i < whole; i++) {
		uint64_t w;

		memcpy(&w, payload->p + 8 * (size_t)i, 8);
		to = put_word(h, i, w, to, &changed);
	}
	if (whole < n)
		to = put_word(h, whole, last_word(payload->p + 8 * (size_t)whole, len % 8), to,
			      &changed);
	if (!changed && len == before)
		return from;
	*changes |= SAMPLE_PAYLOAD;
	for (uint32_t i = 0; i < nmask; i++)
		mask[i] = (uint8_t)(changed >> (8 * i));
	return to;
}

/* The optional fields that are not what they were, but for the payload. */
static inline uint8_t *put_fields(struct sample_packer *p, struct sample_shape *h,
				  const struct ps_sample *s, uint8_t *changes, uint8_t *to)
{
	if (ps_sample_has(s, period) && s->period != h->period) {
		*changes |= SAMPLE_PERIOD;
		to = varint_put(to, s->period);
		h->period = s->period;
	}
	if (ps_sample_has(s, chain) && s->chain != h->chain) {
		*changes |= SAMPLE_CHAIN;
		to = varint_put(to, zigzag((uint64_t)s->chain - p->st.chain));
		h->chain = p->st.chain = s->chain;
	}
	if (ps_sample_has(s, stack) && s->stack != h->stack) {
		*changes |= SAMPLE_STACK;
		to = varint_put(to, zigzag((uint64_t)s->stack - p->st.stack));
		h->stack = p->st.stack = s->stack;
	}
	if (ps_sample_has(s, addr) && s->addr != h->addr) {
		*changes |= SAMPLE_ADDR;
		to = varint_put(to, zigzag(s->addr - h->addr));
		h->addr = s->addr;
	}
	return to;
}

bool sample_pack(struct sample_packer *p, const struct ps_sample *s)
{
	const struct sample_thread *t;
	struct sample_shape *h;
	uint8_t *head, *to, changes = 0;
	uint64_t later, ip = 0;
	unsigned len, ip_len;

	if (p->len >= SAMPLES_BYTES || p->st.nthreads == SAMPLES_THREADS)
		return false;
	h = shape_of(p, s);
	if (!h)
		return false;
	head = p->data + p->len;
	to = head + 2;
	later = s->time - p->st.time;
	if (s->time < p->st.time) {
		changes |= SAMPLE_EARLIER;
		later = 0 - later;
	}
	p->st.time = s->time;
	if (ps_sample_has(s, ip)) {
		ip = zigzag(s->ip - h->ip);
		h->ip = s->ip;
	}
	len = number_len(later);
	ip_len = number_len(ip);
	to = number_put(to, later, len);
	to = number_put(to, ip, ip_len);
	t = h->thread == UINT32_MAX ? NULL : &p->st.threads[h->thread];
	if (!t || t->pid != s->pid || t->tid != s->tid || t->comm != s->comm) {
		changes |= SAMPLE_THREAD;
		to = put_thread(p, s, to, &h->thread);
	}
	if (s->fields & ~(PS_HAS(ip) | PS_HAS(payload) | PS_HAS(id)))
		to = put_fields(p, h, s, &changes, to);
	if (ps_sample_has(s, payload))
		to = put_payload(h, &s->payload, &changes, to);
	head[0] = changes;
	head[1] = (uint8_t)(len | ip_len << SAMPLE_IP_LEN);
	p->len = (size_t)(to - p->data);
	p->count++;
	return true;
}

void sample_pack_reset(struct sample_packer *p)
{
	p->count = 0;
	p->len = 0;
	p->st.time = 0;
	p->st.chain = p->st.stack = p->st.nshapes = p->st.nthreads = 0;
	memset(p->slots, 0, sizeof(p->slots));
	memset(p->tslots, 0, sizeof(p->tslots));
}

/* ---- unpacking ---- */

bool sample_unpack_begin(struct sample_unpacker *u, const struct ps_samples *rec)
{
	u->left = 0;
	if (rec->marks.len && rec->marks.len < ((uint64_t)rec->count + 3) / 4)
		return false;
	u->left = rec->count;
	u->p = (const uint8_t *)rec->data.p;
	u->end = u->p + rec->data.len;
	u->marks = rec->marks.len ? (const uint8_t *)rec->marks.p : NULL;
	/* The first of the next record. */
	u->last.at = ((u->last.at >> 32) + 1) << 32 | UINT32_MAX;
	u->st.time = 0;
	u->st.chain = u->st.stack = u->st.nshapes = u->st.nthreads = 0;
	return true;
}

static inline bool take_u32(struct sample_unpacker *u, uint32_t *to)
{
	uint64_t v;

	if (!varint_take(&u->p, u->end, &v) || v > UINT32_MAX)
		return false;
	*to = (uint32_t)v;
	return true;
}

/* One that comes for the first time: its place is known. */
__attribute__((noinline)) static struct sample_shape *take_new_shape(struct sample_unpacker *u,
								     uint32_t i)
{
	struct sample_shape *h = &u->st.shapes[i];
	uint32_t cpu;

	if (i > u->st.nshapes || i >= SAMPLES_SHAPES)
		return NULL;
	memset(h, 0, offsetof(struct sample_shape, words));
	if (!take_u32(u, &h->event) || !take_u32(u, &cpu) || !take_u32(u, &h->flags) ||
	    !varint_take(&u->p, u->end, &h->fields) || h->fields & ~(uint64_t)PS_SAMPLE_NEAR)
		return NULL;
	if (h->fields & PS_HAS(id) && !varint_take(&u->p, u->end, &h->id))
		return NULL;
	h->cpu = cpu - 1;
	h->thread = UINT32_MAX;
	u->st.nshapes++;
	return h;
}

static inline struct sample_shape *take_shape(struct sample_unpacker *u)
{
	uint32_t i;

	if (u->p == u->end)
		return NULL;
	i = *u->p++;
	return i < u->st.nshapes ? &u->st.shapes[i] : take_new_shape(u, i);
}

static inline bool take_thread(struct sample_unpacker *u, uint32_t *index)
{
	struct sample_thread *t;

	if (!take_u32(u, index) || *index > u->st.nthreads || *index >= SAMPLES_THREADS)
		return false;
	if (*index < u->st.nthreads)
		return true;
	t = &u->st.threads[*index];
	if (!take_u32(u, &t->pid) || !take_u32(u, &t->tid) || !take_u32(u, &t->comm))
		return false;
	t->pid--;
	t->tid--;
	u->st.nthreads++;
	return true;
}

static inline bool take_payload(struct sample_unpacker *u, struct sample_shape *h)
{
	uint64_t diff, len, changed = 0;
	uint32_t n, nmask;

	if (!varint_take(&u->p, u->end, &diff))
		return false;
	len = h->len + unzigzag(diff);
	if (len > 8 * SAMPLES_WORDS)
		return false;
	h->len = (uint32_t)len;
	n = (h->len + 7) / 8;
	nmask = (n + 7) / 8;
	if ((size_t)(u->end - u->p) < nmask)
		return false;
	for (uint32_t i = 0; i < nmask; i++)
		changed |= (uint64_t)*u->p++ << (8 * i);
	while (h->nwords < n)
		h->words[h->nwords++] = 0;
	if (n < 64 && changed >> n)
		return false;
	/* They need to be counted near the end only. */
	if ((size_t)(u->end - u->p) < 8 * (size_t)n &&
	    (size_t)(u->end - u->p) < 8 * (size_t)__builtin_popcountll(changed))
		return false;
	for (; changed; changed &= changed - 1, u->p += 8)
		memcpy(&h->words[__builtin_ctzll(changed)], u->p, 8);
	return true;
}

/* A number that is given by its difference to another. */
static inline bool take_diff(struct sample_unpacker *u, uint64_t from, uint64_t *to)
{
	uint64_t v;

	if (!varint_take(&u->p, u->end, &v))
		return false;
	*to = from + unzigzag(v);
	return true;
}

static inline bool take_id(struct sample_unpacker *u, uint32_t *last, uint32_t *to)
{
	uint64_t v;

	if (!take_diff(u, *last, &v) || v > UINT32_MAX)
		return false;
	*last = *to = (uint32_t)v;
	return true;
}

static inline bool take_fields(struct sample_unpacker *u, struct sample_shape *h, uint8_t changes)
{
	return !((changes & SAMPLE_PERIOD && !varint_take(&u->p, u->end, &h->period)) ||
		 (changes & SAMPLE_CHAIN && !take_id(u, &u->st.chain, &h->chain)) ||
		 (changes & SAMPLE_STACK && !take_id(u, &u->st.stack, &h->stack)) ||
		 (changes & SAMPLE_ADDR && !take_diff(u, h->addr, &h->addr)) ||
		 (changes & SAMPLE_PAYLOAD && !take_payload(u, h)));
}

/* What changed, and by how much time and ip did. */
static inline bool take_head(struct sample_unpacker *u, uint8_t *changes, uint64_t *time,
			     uint64_t *ip)
{
	size_t left = (size_t)(u->end - u->p);
	unsigned len, ip_len;

	if (left < 2)
		return false;
	*changes = u->p[0];
	len = u->p[1] & 15;
	ip_len = u->p[1] >> SAMPLE_IP_LEN;
	left -= 2;
	if (*changes & ~SAMPLE_CHANGES || len > 8 || ip_len > 8 || left < len + ip_len)
		return false;
	*time = number_at(u->p + 2, len, left);
	*ip = unzigzag(number_at(u->p + 2 + len, ip_len, left - len));
	u->p += 2 + len + ip_len;
	return true;
}

/* Nothing more comes of it. */
static int damaged(struct sample_unpacker *u)
{
	u->p = u->end;
	return PP_ECORRUPT;
}

static inline uint32_t mark_at(const uint8_t *marks, uint32_t i)
{
	return marks[i / 4] >> (i % 4 * 2) & PS_MARK_MASK;
}

int sample_unpack(struct sample_unpacker *u, struct ps_sample *s)
{
	const uint8_t *from = u->p;
	struct sample_shape *h = take_shape(u);
	const struct sample_thread *t;
	uint8_t changes;
	uint64_t time, ip;

	if (!h || !take_head(u, &changes, &time, &ip) ||
	    (changes & SAMPLE_THREAD && !take_thread(u, &h->thread)) || h->thread == UINT32_MAX ||
	    !take_fields(u, h, changes))
		return damaged(u);
	h->ip += ip;
	u->st.time += changes & SAMPLE_EARLIER ? 0 - time : time;
	t = &u->st.threads[h->thread];
	s->event = h->event;
	s->cpu = h->cpu;
	s->time = u->st.time;
	s->pid = t->pid;
	s->tid = t->tid;
	s->comm = t->comm;
	s->flags = h->flags;
	s->fields = h->fields;
	s->ip = h->ip;
	s->period = h->period;
	s->chain = h->chain;
	s->stack = h->stack;
	s->payload = h->fields & PS_HAS(payload) ? ps_str((const char *)h->words, h->len)
						 : (struct ps_str){0};
	s->addr = h->addr;
	s->id = h->id;
	u->last.p = from;
	u->last.len = (uint32_t)(u->p - from);
	u->last.mark = h->flags & PS_MARK_MASK;
	u->last.at = (u->last.at & ~(uint64_t)UINT32_MAX) | (uint32_t)(u->last.at + 1);
	if (u->marks)
		s->flags = (s->flags & ~(uint32_t)PS_MARK_MASK) |
			   mark_at(u->marks, (uint32_t)u->last.at);
	u->left--;
	return 0;
}
