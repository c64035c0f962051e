/*
 * Samples of a perf.data. The layout is that of PERF_RECORD_SAMPLE in <linux/perf_event.h>: fields
 * in a fixed order, each there when its bit of sample_type is set.
 */
#include "perfdata/parts.h"

#include "base/err.h"
#include "stream/payload.h"

#include <linux/perf_event.h>

/* n numbers: no field of a record can have more than these. */
static uint64_t *take_numbers(struct cursor *c, uint64_t n)
{
	if (n <= 8192)
		return take_u64s(c, n);
	c->bad = true;
	return NULL;
}

/* PERF_SAMPLE_READ: how many u64 the values take depends on the format, and on a count among them. */
static int take_reads(struct cursor *c, uint64_t format, struct perf_taken *t)
{
	struct cursor at = *c;
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & (1 << 4)), n;

	n = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (format & PERF_FORMAT_GROUP) {
		uint64_t members = get_u64(&at);

		if (members > PERF_READ_MEMBERS)
			return PP_ECORRUPT;
		n += 1 + members * each;
	} else {
		n += each;
	}
	t->reads[0] = format;
	for (uint64_t i = 0; i < n; i++)
		t->reads[1 + i] = get_u64(c);
	t->s.reads = (struct ps_u64s){t->reads, (uint32_t)n + 1};
	t->s.fields |= PS_HAS(reads);
	return c->bad ? PP_ECUT : 0;
}

/*
 * The flags of a branch are bit fields of 1, 1, 1, 1, 16, 4, 2, 4, 3 bits: from the least
 * significant bit on, but from the most significant on machines of big endian order.
 */
static uint64_t little_branch_flags(uint64_t v)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
	unsigned at = 0;
	uint64_t r = 0;

	for (size_t i = 0; i < sizeof(widths); at += widths[i++])
		r |= (v >> (64 - at - widths[i]) & ((1u << widths[i]) - 1)) << at;
	return r;
}

static void take_branches(struct perf *p, struct cursor *c, const struct perf_attr *a,
			  struct ps_sample *s)
{
	uint64_t n = get_u64(c), *v;

	s->branches = (struct ps_branches){.n = (uint32_t)n};
	if (n > 2048) {
		c->bad = true;
		return;
	}
	if (a->branch_sample_type & (1 << 17)) { /* PERF_SAMPLE_BRANCH_HW_INDEX */
		s->branches.flags = 1;
		s->branches.hw_idx = get_u64(c);
	}
	v = take_numbers(c, 3 * n);
	for (uint64_t i = 0; v && p->big_endian && i < n; i++) {
		uint64_t flags = little_branch_flags(perf_u64(v, 3 * i + 2));

		memcpy((uint8_t *)v + 8 * (3 * i + 2), &flags, 8);
	}
	s->branches.v = v;
	s->fields |= PS_HAS(branches);
	if (a->branch_sample_type & (1 << 19)) { /* PERF_SAMPLE_BRANCH_COUNTERS */
		s->branch_counters.v = take_numbers(c, n);
		s->branch_counters.n = (uint32_t)n;
		s->fields |= PS_HAS(branch_counters);
	}
}

/* Registers: the ABI, then, unless it is none, one value for each bit of the event's mask. */
static bool take_regs(struct cursor *c, uint64_t mask, struct ps_regs *r)
{
	r->abi = get_u64(c);
	r->mask = r->abi ? mask : 0;
	r->v = take_numbers(c, (uint64_t)__builtin_popcountll(r->mask));
	return r->abi != 0;
}

static void take_user_stack(struct cursor *c, struct ps_sample *s)
{
	uint64_t size = get_u64(c);
	const uint8_t *bytes = get_bytes(c, size);

	if (!size || !bytes)
		return;
	s->user_stack_size = get_u64(c);
	if (s->user_stack_size > size)
		s->user_stack_size = size;
	s->user_stack = ps_str((const char *)bytes, (size_t)s->user_stack_size);
	s->fields |= PS_HAS(user_stack_size) | PS_HAS(user_stack);
}

static void take_weight(struct cursor *c, bool structured, struct ps_sample *s)
{
	s->weight = get_u64(c);
	if (structured) {
		/* Big endian machines declare the parts in reverse order, so that, as part of a
		 * number, each has the same place everywhere. */
		s->weight_more = (s->weight >> 48) << 32 | (s->weight >> 32 & 0xffff);
		s->weight &= UINT32_MAX;
		s->fields |= PS_HAS(weight_more);
	}
	s->fields |= PS_HAS(weight);
}

#define PSB_BACK \
	(PSB_KNOWN & \
	 ~(uint64_t)(PSB_IDENTIFIER | PSB_IP | PSB_TID | PSB_TIME | PSB_ADDR | PSB_ID | \
		     PSB_STREAM_ID | PSB_CPU | PSB_PERIOD | PSB_READ | PSB_CALLCHAIN))

#define TAKE(bit, name) \
	do { \
		if (type & (bit)) { \
			s->name = get_u64(c); \
			s->fields |= PS_HAS(name); \
		} \
	} while (0)

/* The next of the front's numbers. */
static inline uint64_t front64(const uint8_t **f, bool swap)
{
	uint64_t v;

	memcpy(&v, *f, 8);
	*f += 8;
	return swap ? __builtin_bswap64(v) : v;
}

/* The first of two 32-bit numbers; the second is *b. */
static inline uint32_t front32(const uint8_t **f, bool swap, uint32_t *b)
{
	uint32_t v[2];

	memcpy(v, *f, 8);
	*f += 8;
	*b = swap ? __builtin_bswap32(v[1]) : v[1];
	return swap ? __builtin_bswap32(v[0]) : v[0];
}

/*
 * What comes up to the period: each field takes 8 bytes, so the length of all is known. This runs for
 * every sample, with `swap` known when it is compiled.
 */
static inline __attribute__((always_inline)) void take_front(const uint8_t *f, bool swap,
							     const struct perf_attr *a,
							     struct ps_sample *s)
{
	uint64_t type = a->sample_type, fields = PS_HAS(period);
	uint32_t unused;

	if (type & PSB_IDENTIFIER) {
		s->id = front64(&f, swap);
		fields |= PS_HAS(id);
	}
	if (type & PSB_IP) {
		s->ip = front64(&f, swap);
		fields |= PS_HAS(ip);
	}
	if (type & PSB_TID)
		s->pid = front32(&f, swap, &s->tid);
	if (type & PSB_TIME)
		f += 8; /* known */
	if (type & PSB_ADDR) {
		s->addr = front64(&f, swap);
		fields |= PS_HAS(addr);
	}
	if (type & PSB_ID) {
		s->id = front64(&f, swap);
		fields |= PS_HAS(id);
	}
	if (type & PSB_STREAM_ID) {
		s->stream_id = front64(&f, swap);
		fields |= PS_HAS(stream_id);
	}
	if (type & PSB_CPU)
		s->cpu = front32(&f, swap, &unused);
	if (type & PSB_PERIOD)
		s->period = front64(&f, swap);
	else
		s->period = a->flags & PERF_ATTR_FREQ ? 1 : a->sample_period;
	s->fields = fields;
}

static int take_chain(struct cursor *c, struct perf_taken *t)
{
	t->nips = get_u64(c);
	if (t->nips > PERF_CHAIN_MAX)
		return PP_ECORRUPT;
	t->ips = take_numbers(c, t->nips);
	return t->ips ? 0 : PP_ECUT;
}

/* What comes after the call chain. */
static void take_back(struct perf *p, struct cursor *c, const struct perf_attr *a,
		      struct ps_sample *s)
{
	uint64_t type = a->sample_type;

	if (type & PSB_RAW) {
		uint32_t n = get_u32(c);

		uint8_t *bytes = (uint8_t *)get_bytes(c, n);

		s->payload = ps_str((const char *)bytes, bytes ? n : 0);
		if (bytes && p->swap && a->fields.len) {
			struct ps_str fields = ps_str(buf_str(&a->fields), a->fields.len);

			ps_payload_swap(&fields, bytes, n);
		}
		s->fields |= PS_HAS(payload);
	}
	if (type & PSB_BRANCH_STACK)
		take_branches(p, c, a, s);
	if ((type & PSB_REGS_USER) && take_regs(c, a->regs_user, &s->user_regs))
		s->fields |= PS_HAS(user_regs);
	if (type & PSB_STACK_USER)
		take_user_stack(c, s);
	if (type & (PSB_WEIGHT | PSB_WEIGHT_STRUCT))
		take_weight(c, (type & PSB_WEIGHT_STRUCT) != 0, s);
	TAKE(PSB_DATA_SRC, data_src);
	TAKE(PSB_TRANSACTION, transaction);
	if ((type & PSB_REGS_INTR) && take_regs(c, a->regs_intr, &s->intr_regs))
		s->fields |= PS_HAS(intr_regs);
	TAKE(PSB_PHYS_ADDR, phys_addr);
	TAKE(PSB_CGROUP, cgroup);
	TAKE(PSB_DATA_PAGE_SIZE, data_page_size);
	TAKE(PSB_CODE_PAGE_SIZE, code_page_size);
	if (type & PSB_AUX) {
		s->aux_size = get_u64(c);
		cursor_skip(c, s->aux_size);
		s->fields |= PS_HAS(aux_size);
	}
}

int perf_sample_take(struct perf *p, const struct perf_attr *a, struct cursor *c,
		     struct perf_taken *t)
{
	const uint8_t *front = get_bytes(c, 8 * (uint64_t)a->nfront);
	int rc = 0;

	if (!front)
		return PP_ECUT;
	t->nips = 0;
	if (a->sample_type & (PSB_STREAM_ID | PSB_READ | (PSB_BACK & ~(uint64_t)PSB_RAW)))
		ps_sample_clear(&t->s);
	else
		ps_sample_clear_near(&t->s);
	t->s.cpu = t->s.pid = t->s.tid = PS_NONE;
	if (p->swap)
		take_front(front, true, a, &t->s);
	else
		take_front(front, false, a, &t->s);
	if (a->sample_type & PSB_READ)
		rc = take_reads(c, a->read_format, t);
	if (!rc && (a->sample_type & PSB_CALLCHAIN))
		rc = take_chain(c, t);
	if (!rc && (a->sample_type & PSB_BACK))
		take_back(p, c, a, &t->s);
	return rc ? rc : c->bad ? PP_ECUT : 0;
}

/* ---- call chains ---- */

/* Finds the call chain of a sample whose turn is to come. False: it has none, or that is not simple. */
static bool peek_chain(const struct perf *p, const uint8_t *rec, const uint8_t **ips, uint64_t *n)
{
	const struct perf_attr *a = p->attrs;
	struct cursor c = cursor_make(rec, 8, false);
	uint32_t type = get_u32(&c);
	size_t size;

	get_u16(&c);
	size = get_u16(&c);
	if (p->swap || type != PERF_REC_SAMPLE || !p->alike || !p->nattrs || size < 8 ||
	    !(a->sample_type & PSB_CALLCHAIN) || a->sample_type & PSB_READ)
		return false;
	c = cursor_make(rec + 8, size - 8, false);
	cursor_skip(&c, 8 * (uint64_t)a->nfront);
	*n = get_u64(&c);
	if (*n > PERF_CHAIN_MAX)
		return false;
	*ips = get_bytes(&c, 8 * *n);
	return *ips != NULL;
}

void perf_ahead(void *ctx, const uint8_t *rec)
{
	struct perf *p = ctx;
	struct perf_ahead *a = &p->ahead;
	uint32_t i = a->in % PERF_AHEAD;

	if (!rec) {
		a->in = a->out = 0;
		return;
	}
	a->in++;
	a->v[i].ips = NULL;
	if (!peek_chain(p, rec, &a->v[i].ips, &a->v[i].n))
		return;
	a->v[i].hash = hashids_hash(a->v[i].ips, 8 * a->v[i].n);
	hashids_prefetch(&p->chains, a->v[i].hash);
}

int perf_deliver_ahead(void *ctx, uint64_t time, uint8_t *rec, struct block *b)
{
	struct perf *p = ctx;
	int rc;

	p->ahead.now = p->ahead.out++ % PERF_AHEAD + 1;
	rc = perf_deliver(p, time, rec, b);
	p->ahead.now = 0;
	return rc;
}

static int chain_id(struct perf *p, const uint64_t *ips, uint64_t n, uint32_t *id)
{
	struct ps_chain rec;
	bool fresh;
	uint32_t now = p->ahead.now;
	struct hashids_hash hash;
	int rc;

	if (now && p->ahead.v[now - 1].ips == (const uint8_t *)ips && p->ahead.v[now - 1].n == n)
		hash = p->ahead.v[now - 1].hash;
	else
		hash = hashids_hash(ips, n * 8);
	rc = hashids_get_hashed(&p->chains, hash, n * 8, id, &fresh);
	if (rc || !fresh)
		return rc;
	rec = (struct ps_chain){.id = *id, .ips = {ips, (uint32_t)n}};
	return perf_put(p, PS_CHAIN, &rec);
}

static int put_chain(struct perf *p, struct perf_taken *t)
{
	const uint64_t *ips = t->ips;
	uint64_t n = t->nips;

	if (n >= 2 && perf_u64(ips, n - 2) == PERF_CTX_USER_DEFERRED) {
		uint64_t *merged;

		if (buf_reserve(&p->merged, 8 * PERF_CHAIN_MAX))
			return PP_ENOMEM;
		merged = (uint64_t *)(void *)p->merged.data;
		n = perf_deferred_merge(p, t->s.tid, t->ips, n, merged);
		if (n)
			ips = merged;
		else
			n = t->nips - 2; /* the cookie is no address */
	}
	if (!n)
		return 0;
	t->s.fields |= PS_HAS(chain);
	return chain_id(p, ips, n, &t->s.chain);
}

/* ---- the whole ---- */

static int unknown_event(struct perf *p)
{
	p->account->missing++;
	diag_warn(p->d, p->name, -1, "a sample has the id of no event: it is passed over");
	return 0;
}

/*
 * Whose sample it is. A thread that is about to end has no number any more: the kernel records -1. In
 * the payload of a tracepoint its number still is (common_pid, which all formats have at offset 4);
 * of other events at most the process is known.
 */
static int name_thread(struct perf *p, const struct perf_attr *a, struct ps_sample *s)
{
	uint32_t tid = s->tid;

	if (tid != PS_NONE)
		return perf_comm(p, tid, &s->comm);
	s->flags |= PS_SAMPLE_EXITED;
	if (a->type == PERF_TYPE_TRACEPOINT && a->fields.len && s->payload.len >= 8) {
		memcpy(&s->tid, s->payload.p + 4, sizeof(s->tid));
		tid = s->tid;
	} else {
		tid = s->pid;
	}
	return perf_comm(p, tid, &s->comm);
}

int perf_sample(struct perf *p, uint8_t *rec, size_t size, uint64_t time)
{
	struct cursor c = cursor_make(rec, size, p->swap);
	struct perf_taken t;
	struct perf_attr *a;
	uint16_t misc;
	int rc;

	get_u32(&c);
	misc = get_u16(&c);
	get_u16(&c);
	a = perf_attr_of_sample(p, c.p, cursor_left(&c));
	if (!a)
		return unknown_event(p);
	/* All at once, before the first sample: who prints lines knows the longest name. */
	if (!p->described || !a->written) {
		rc = p->described ? perf_attr_write(p, a) : perf_attr_write_all(p);
		if (rc)
			return rc;
	}
	rc = perf_sample_take(p, a, &c, &t);
	if (rc) {
		p->account->missing++;
		perf_damage(p, PP_ECORRUPT, -1, "a sample is shorter than what its event says");
		return 0;
	}
	t.s.time = time;
	t.s.event = a->event;
	t.s.flags = (uint32_t)(misc & PERF_MISC_CPUMODE) << PS_SAMPLE_MODE_SHIFT;
	if (misc & PERF_MISC_EXACT_IP)
		t.s.flags |= PS_SAMPLE_EXACT_IP;
	if (!time) {
		t.s.flags |= PS_SAMPLE_NO_TIME;
		p->untimed += a->time_pos >= 0;
	}
	if (t.nips) {
		rc = put_chain(p, &t);
		if (rc)
			return rc;
	}
	rc = a->sample_type & PSB_TID ? name_thread(p, a, &t.s) : 0;
	if (rc)
		return rc;
	return ps_sample_has(&t.s, reads) ? perf_sample_values(p, &t.s)
					  : swriter_sample(p->w, p->source, &t.s);
}
