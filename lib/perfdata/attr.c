/* Events of a recording: their attributes and ids, and where what lies in their samples. */
#include "perfdata/info.h"

#include "base/buf.h"
#include "base/err.h"
#include "event/probe_parts.h"

#include <stdlib.h>

static uint64_t reverse_bits(uint64_t v)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++, v >>= 1)
		r = r << 1 | (v & 1);
	return r;
}

int perf_attr_parse(const struct perf_info *p, struct cursor c, struct perf_attr *a)
{
	a->type = get_u32(&c);
	a->size = get_u32(&c);
	a->config = get_u64(&c);
	a->sample_period = get_u64(&c);
	a->sample_type = get_u64(&c);
	a->read_format = get_u64(&c);
	a->flags = get_u64(&c);
	/* Big endian compilers lay bit fields out from the most significant bit. */
	if (p->big_endian) {
		uint64_t f = reverse_bits(a->flags);
		uint64_t low = f >> PERF_ATTR_PRECISE_SHIFT & 1;
		uint64_t high = f >> (PERF_ATTR_PRECISE_SHIFT + 1) & 1;

		f &= ~(UINT64_C(3) << PERF_ATTR_PRECISE_SHIFT);
		a->flags = f | (low << 1 | high) << PERF_ATTR_PRECISE_SHIFT;
	}
	a->wakeup = get_u32(&c);
	a->bp_type = get_u32(&c);
	a->config1 = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	/* What follows came with later versions; absent is 0. */
	a->config2 = get_u64(&c);
	a->branch_sample_type = get_u64(&c);
	a->regs_user = get_u64(&c);
	a->stack_user = get_u32(&c);
	a->clockid = (int32_t)get_u32(&c);
	a->regs_intr = get_u64(&c);
	a->aux_watermark = get_u32(&c);
	a->max_stack = get_u16(&c);
	get_u16(&c);
	a->aux_sample_size = get_u32(&c);
	get_u32(&c); /* aux_action */
	a->sig_data = get_u64(&c);
	a->config3 = get_u64(&c);
	a->config4 = get_u64(&c);
	return 0;
}

int perf_attr_add(struct perf_info *p, struct cursor c, struct perf_attr **added)
{
	struct perf_attr *a;
	int rc;

	if (p->nattrs >= PERF_ATTRS_MAX)
		return PP_ELIMIT;
	if (p->nattrs == p->attrs_cap) {
		uint32_t cap = p->attrs_cap ? p->attrs_cap * 2 : 16;

		a = realloc(p->attrs, cap * sizeof(*a));
		if (!a)
			return PP_ENOMEM;
		p->attrs = a;
		p->attrs_cap = cap;
	}
	a = &p->attrs[p->nattrs];
	*a = (struct perf_attr){.event = p->nattrs + 1};
	rc = perf_attr_parse(p, c, a);
	if (rc)
		return rc;
	p->nattrs++;
	*added = a;
	return 0;
}

int perf_attr_id(struct perf_info *p, struct perf_attr *a, uint64_t id)
{
	uint32_t *slot;

	if (p->by_id.n >= PERF_IDS_MAX)
		return PP_ELIMIT;
	slot = map64_put(&p->by_id, id, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = (uint32_t)(a - p->attrs) + 1;
	return 0;
}

/* Index of the u64 before which a sample has the fields of `before`. */
static int position(uint64_t type, uint64_t before)
{
	return __builtin_popcountll(type & before);
}

/*
 * Where the id lies must be the same for all events, or else samples could not be told apart:
 * recorders set PERF_SAMPLE_IDENTIFIER when the events' samples differ. Where the times lie in
 * different places, they are looked up by event.
 */
void perf_attr_layout(struct perf_info *p)
{
	uint64_t type = p->nattrs ? p->attrs[0].sample_type : 0;

	p->alike = true;
	p->copies = false;
	for (uint32_t i = 0; i < p->nattrs; i++) {
		struct perf_attr *a = &p->attrs[i];

		p->alike = p->alike && a->sample_type == type;
		p->copies = p->copies || a->sample_type & PSB_STACK_USER;
		a->time_pos = a->sample_type & PSB_TIME
				      ? position(a->sample_type, PSB_IDENTIFIER | PSB_IP | PSB_TID)
				      : -1;
		a->nfront = (uint32_t)position(
			a->sample_type, PSB_IDENTIFIER | PSB_IP | PSB_TID | PSB_TIME | PSB_ADDR |
						PSB_ID | PSB_STREAM_ID | PSB_CPU | PSB_PERIOD);
		if (!i || p->time_pos != a->time_pos)
			p->time_pos = i ? PERF_POS_VARIES : a->time_pos;
	}
	p->id_pos = -1;
	p->id_back = 0;
	if (type & PSB_IDENTIFIER) {
		p->id_pos = 0;
		p->id_back = 1;
	} else if (type & PSB_ID) {
		p->id_pos = position(type, PSB_IP | PSB_TID | PSB_TIME | PSB_ADDR);
		p->id_back = 1 + position(type, PSB_STREAM_ID | PSB_CPU);
	}
}

int perf_attr_rename(struct perf_attr *a, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (!copy)
		return PP_ENOMEM;
	free(a->name);
	a->name = copy;
	a->renamed = true;
	return 0;
}

void perf_attr_release(struct perf_attr *a)
{
	free(a->name);
	free(a->count_unit);
	buf_release(&a->fields);
	probe_parts_free(a->parts);
}
