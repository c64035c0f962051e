/*
 * Places in records that must be found out: the trailer of those that are no samples, build-ids of
 * maps.
 */
#include "perfdata/info.h"

/* The fields of a record's trailer: those of the event that the id in it names, else the first. */
static uint64_t trailer_type(const struct perf_info *p, const uint8_t *rec, size_t size)
{
	const struct perf_attr *a = p->attrs;
	size_t back = 8 * (size_t)p->id_back;

	if (!p->nattrs || !(a->flags & PERF_ATTR_SAMPLE_ID_ALL))
		return 0;
	if (!p->alike && back && size >= 8 + back) {
		struct cursor c = cursor_make(rec + size - back, 8, p->swap);
		uint64_t id = get_u64(&c);
		const uint32_t *slot = id ? map64_get(&p->by_id, id) : NULL;

		if (slot)
			a = &p->attrs[*slot - 1];
	}
	return a->sample_type;
}

void perf_record_id(const struct perf_info *p, const uint8_t *rec, size_t size, struct perf_id *id)
{
	uint64_t type = trailer_type(p, rec, size);
	struct cursor c;
	size_t n;

	*id = (struct perf_id){.pid = PS_NONE, .tid = PS_NONE, .cpu = PS_NONE};
	n = 8 * (size_t)__builtin_popcountll(type & (PSB_TID | PSB_TIME | PSB_ID | PSB_STREAM_ID |
						     PSB_CPU | PSB_IDENTIFIER));
	if (!n || n + 8 > size)
		return;
	id->size = n;
	c = cursor_make(rec + size - n, n, p->swap);
	if (type & PSB_TID) {
		id->pid = get_u32(&c);
		id->tid = get_u32(&c);
	}
	if (type & PSB_TIME) {
		id->time = get_u64(&c);
		id->has_time = id->time && id->time != UINT64_MAX;
	}
	if (type & PSB_ID)
		id->id = get_u64(&c);
	if (type & PSB_STREAM_ID)
		id->stream_id = get_u64(&c);
	if (type & PSB_CPU) {
		id->cpu = get_u32(&c);
		get_u32(&c);
	}
	if (type & PSB_IDENTIFIER)
		id->id = get_u64(&c);
}

bool perf_mmap2_has_build_id(struct cursor c, uint16_t misc)
{
	uint8_t n = get_u8(&c), zero = 0;
	uint32_t unused = 0;

	for (int i = 0; i < 3; i++)
		unused |= get_u8(&c);
	cursor_skip(&c, n);
	for (int i = n; i < 20; i++)
		zero |= get_u8(&c);
	return (misc & PERF_MISC_MMAP_BUILD_ID) && n && n <= 20 && !unused && !zero && !c.bad;
}
