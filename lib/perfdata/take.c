/*
 * The fields of a sample. The layout is that of PERF_RECORD_SAMPLE in <linux/perf_event.h>: fields
 * in a fixed order, each there when its bit of sample_type is set.
 */
#include "perfdata/info.h"

#include "base/err.h"
#include "event/probe_parts.h"
#include "stream/payload.h"

#include <linux/perf_event.h>

/* n numbers: no field of a record can have more than these. */
static uint64_t *take_numbers(struct cursor *c, uint64_t n)
{
	if (n <= 8192)
		return perf_take_u64s(c, n);
	c->bad = true;
	return NULL;
}

/*
 * PERF_SAMPLE_READ: how many u64 the values take depends on the format, and on a count among them.
 */
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

static void take_branches(const struct perf_info *p, struct cursor *c, const struct perf_attr *a,
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
	for (uint64_t i = 0; v && p->big_endian && i < n; i++)
		v[3 * i + 2] = little_branch_flags(v[3 * i + 2]);
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
	/* The kernel copies up to the first page that is not in memory. */
	if (s->user_stack_size < size)
		s->flags |= PS_SAMPLE_SHORT_COPY;
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
 * What comes up to the period: each field takes 8 bytes, so the length of all is known. This runs
 * for every sample, with `swap` known when it is compiled.
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
static void take_back(const struct perf_info *p, struct cursor *c, const struct perf_attr *a,
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
		if (bytes)
			probe_parts_join(a->parts, bytes, n);
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

int perf_sample_take(const struct perf_info *p, const struct perf_attr *a, struct cursor *c,
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
	t->s.flags = 0;
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
