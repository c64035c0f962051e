/*
 * Ids of events in records, changed to those that the recording has announced.
 *
 * The head of a recording names the ids of all events, before any CPU can come. An event that is
 * opened later, on a CPU that has come, gets a new id from the kernel, which no reader would know.
 * So the head has an id in store for each event on each CPU that may come, and the records of such
 * a CPU are given that one. The places of ids are those of perf_event_open(2).
 */
#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <stdlib.h>

static uint64_t get(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void put(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

int ids_add(struct ring_ids *ids, const struct ring_id *id)
{
	buf_add(&ids->list, id, sizeof(*id));
	return ids->list.err;
}

static int compare(const void *pa, const void *pb)
{
	const struct ring_id *a = pa, *b = pb;

	return (a->real > b->real) - (a->real < b->real);
}

/* The kernel counts ids up: the list is in order. */
static const struct ring_id *find(const struct ring_ids *ids, uint64_t real)
{
	struct ring_id key = {.real = real};

	return bsearch(&key, ids->list.data, ids->list.len / sizeof(key), sizeof(key), compare);
}

uint64_t ids_shown(const struct ring_ids *ids, uint64_t real)
{
	const struct ring_id *id = ids->list.len ? find(ids, real) : NULL;

	return id ? id->shown : real;
}

/* The id at p. What it was for, or NULL. */
static const struct ring_id *change(const struct ring_ids *ids, uint8_t *p)
{
	const struct ring_id *id = find(ids, get(p));

	if (id)
		put(p, id->shown);
	return id;
}

/* A counter's value and id; it goes on where the event of the same name was on that CPU before. */
static void change_value(const struct ring_ids *ids, uint8_t *value, uint8_t *id_at)
{
	const struct ring_id *id = change(ids, id_at);

	if (id)
		put(value, get(value) + id->base);
}

/* The counters in a sample (PERF_SAMPLE_READ). */
static void change_values(const struct ring_ids *ids, uint8_t *p, size_t size, uint64_t format)
{
	size_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
		       (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
	size_t each = format & PERF_FORMAT_LOST ? 24 : 16;
	uint64_t n;

	if (!(format & PERF_FORMAT_GROUP)) { /* value, times, id */
		if (size >= times + 16)
			change_value(ids, p, p + 8 + times);
		return;
	}
	if (size < 8 + times)
		return;
	n = get(p); /* then times, (value, id) */
	p += 8 + times;
	size -= 8 + times;
	for (; n && size >= each; n--, p += each, size -= each)
		change_value(ids, p, p + 8);
}

static void change_sample(const struct ring_ids *ids, uint8_t *p, size_t size)
{
	static const uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	const struct ring_id *id = size >= 8 ? change(ids, p) : NULL;
	size_t at;

	if (!id || !(id->sample_type & PERF_SAMPLE_READ))
		return;
	at = 8 + 8 * (size_t)__builtin_popcountll(id->sample_type & before);
	if (at < size)
		change_values(ids, p + at, size - at, id->read_format);
}

/* What comes after the header of a record. */
static void change_record(const struct ring_ids *ids, uint32_t type, uint8_t *p, size_t size)
{
	if (type == PERF_REC_SAMPLE) {
		change_sample(ids, p, size);
		return;
	}
	if (type == PERF_REC_LOST && size >= 8) /* id, lost */
		change(ids, p);
	if ((type == PERF_REC_THROTTLE || type == PERF_REC_UNTHROTTLE) && size >= 24) {
		change(ids, p + 8); /* time, id, stream id */
		change(ids, p + 16);
	}
	if (size >= 8) /* the last field is that of PERF_SAMPLE_IDENTIFIER */
		change(ids, p + size - 8);
}

void ids_change(const struct ring_ids *ids, uint8_t *data, size_t size)
{
	struct perf_event_header h;

	for (; ids->list.len && size >= sizeof(h); data += h.size, size -= h.size) {
		memcpy(&h, data, sizeof(h));
		if (h.size < sizeof(h) || h.size > size)
			return;
		change_record(ids, h.type, data + sizeof(h), h.size - sizeof(h));
	}
}

int ids_index(struct session *s)
{
	for (size_t i = 0; i < s->n_attrs && s->with_ids; i++)
		for (size_t n = 0; n < s->attrs[i].n_ids; n++) {
			uint32_t *at = map64_put(&s->by_id, s->attrs[i].ids[n], NULL);

			if (!at)
				return PP_ENOMEM;
			*at = (uint32_t)i;
		}
	return 0;
}

const struct perf_event_attr *ids_attr(const struct session *s, uint64_t id)
{
	const uint32_t *at;

	if (!s->with_ids)
		return &s->attrs[0].attr;
	at = map64_get(&s->by_id, id);
	return at ? &s->attrs[*at].attr : NULL;
}

void ids_release(struct ring_ids *ids)
{
	buf_release(&ids->list);
}
