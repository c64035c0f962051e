/* Perfetto's ftrace events: those of a CPU are written many at a time. */
#include "conv/perfetto.h"

#include "base/array.h"
#include "base/err.h"

#define EVENTS_BYTES (1u << 15) /* of a packet, about */
#define CPUS_MAX     65536

/* Fields of FtraceEventBundle, FtraceEvent, GenericFtraceEvent and its Field. */
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3 };
enum { EVENT_TIME = 1, EVENT_PID = 2, EVENT_WAKING = 20 };
enum { GENERIC_NAME = 1, GENERIC_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_STR = 3, FIELD_INT = 4, FIELD_UINT = 5 };

int perfetto_slot(struct perfetto *w, uint32_t cpu, uint32_t *slot)
{
	uint32_t *known = map64_get(&w->slots, cpu);
	struct perfetto_cpu *v;

	if (known) {
		*slot = *known - 1;
		return 0;
	}
	if (w->ncpus >= CPUS_MAX)
		return PP_ELIMIT;
	v = array_widen(w->cpus, &w->cpus_cap, w->ncpus, 16, sizeof(*v));
	if (v)
		w->cpus = v;
	known = v ? map64_put(&w->slots, cpu, NULL) : NULL;
	if (!known)
		return PP_ENOMEM;
	v[w->ncpus] = (struct perfetto_cpu){.cpu = cpu, .events = BUF_INIT};
	*slot = w->ncpus++;
	*known = *slot + 1;
	return 0;
}

static int flush(struct perfetto *w, struct perfetto_cpu *c)
{
	if (!c->events.len)
		return 0;
	/* It has to have one. */
	pb_num_always(&w->message, BUNDLE_CPU, c->cpu == PS_NONE ? 0 : c->cpu);
	pb_num(&w->message, BUNDLE_LOST, c->lost);
	/* They are fields of the bundle already. */
	buf_join(&w->message, &c->events);
	buf_reset(&c->events);
	c->lost = false;
	pb_take(&w->packet, PACKET_FTRACE, &w->message);
	return perfetto_packet(w);
}

int perfetto_events_flush(struct perfetto *w)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->ncpus && !rc; i++)
		rc = flush(w, &w->cpus[i]);
	return rc;
}

int perfetto_events_lost(struct perfetto *w, uint32_t cpu)
{
	uint32_t slot;
	int rc = perfetto_slot(w, cpu, &slot);

	if (!rc)
		rc = flush(w, &w->cpus[slot]);
	if (!rc)
		w->cpus[slot].lost = true;
	return rc;
}

static void add_text(struct perfetto *w, struct buf *b, uint32_t field, const char *s, size_t n)
{
	size_t good = 0;
	int len = 1;

	while (good < n && (len = utf8_len(s + good, n - good)))
		good += (size_t)len;
	if (good >= n) {
		pb_bytes(b, field, s, n);
		return;
	}
	buf_reset(&w->text);
	for (size_t i = 0; i < n; i += (size_t)(len ? len : 1)) {
		len = utf8_len(s + i, n - i);
		buf_add(&w->text, len ? s + i : "?", len ? (size_t)len : 1);
	}
	buf_inherit(b, &w->text);
	pb_bytes(b, field, w->text.data, w->text.len);
}

/* A field of an event that Perfetto knows. An array of numbers is one field for each. */
static void add_known(struct perfetto *w, uint32_t number, const struct qval *v)
{
	uint64_t word;

	if (v->kind == QV_STR)
		add_text(w, &w->message, number, v->s, v->len);
	else if (v->kind == QV_INT)
		pb_num_always(&w->message, number, v->num);
	for (size_t i = 0; v->kind == QV_BYTES && v->len - i >= 8; i += 8) {
		memcpy(&word, v->s + i, 8);
		pb_num_always(&w->message, number, word);
	}
}

static void add_other(struct perfetto *w, const struct field *f, const struct qval *v)
{
	if (v->kind == QV_BYTES)
		return;
	buf_reset(&w->path);
	add_text(w, &w->path, FIELD_NAME, f->name, f->name_len);
	if (v->kind == QV_STR)
		add_text(w, &w->path, FIELD_STR, v->s, v->len);
	else
		pb_num_always(&w->path, v->is_unsigned ? FIELD_UINT : FIELD_INT, v->num);
	pb_take(&w->message, GENERIC_FIELD, &w->path);
}

int perfetto_event(struct perfetto *w, const struct tpoint *p, const struct sreader *r,
		   const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	uint32_t message = p->message, slot;
	int rc = perfetto_slot(w, s->cpu, &slot);
	struct perfetto_cpu *c;
	struct qval v;

	if (rc)
		return rc;
	c = &w->cpus[slot];
	/* A thread becomes runnable by waking only. */
	if (p->kind == POINT_WAKEUP && !w->points.waking)
		message = EVENT_WAKING;
	buf_reset(&w->message);
	if (p->kind == POINT_OTHER)
		add_text(w, &w->message, GENERIC_NAME, p->name, strlen(p->name));
	for (uint32_t i = 0; i < p->n; i++) {
		if (!tpoint_value(p, i, r, rec, &v))
			continue;
		if (p->kind == POINT_OTHER)
			add_other(w, &p->fields[i].f, &v);
		else
			add_known(w, p->fields[i].number, &v);
	}
	pb_num_always(&w->inner, EVENT_TIME, s->time);
	pb_num_always(&w->inner, EVENT_PID, s->tid == PS_NONE ? 0 : s->tid);
	pb_take(&w->inner, message, &w->message);
	pb_take(&c->events, BUNDLE_EVENT, &w->inner);
	if (c->events.err)
		return c->events.err;
	return c->events.len < EVENTS_BYTES ? 0 : flush(w, c);
}
