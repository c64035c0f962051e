/*
 * plat --timeline: all intervals of the scheduler and of interrupts, with losses and marks, as the
 * lines of perfpipe-timeline(5) that psvg --timeline draws.
 */
#include "interval/lat_out.h"

#include "base/array.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lat_timeline_start(struct lat_timeline *t)
{
	*t = (struct lat_timeline){0};
	buf_adds(&t->line, LAT_TIMELINE_MAGIC "\n");
	return out_init(&t->out, STDOUT_FILENO);
}

static int flush(struct lat_timeline *t)
{
	return out_take(&t->out, &t->line);
}

static void put(struct buf *b, uint64_t v)
{
	buf_addc(b, '\t');
	buf_add_u64(b, v, 0, ' ');
}

/* Defines a text before its first use. 0 or PP_ENOMEM. */
static int define(struct lat_timeline *t, const struct lat *l, uint32_t id)
{
	uint8_t *v;
	size_t n;
	const char *s;

	if (!id)
		return 0;
	v = array_widen(t->texts, &t->ntexts, id, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->texts = v;
	if (v[id])
		return 0;
	v[id] = 1;
	s = lat_name(l, id, &n);
	buf_adds(&t->line, "n");
	put(&t->line, id);
	buf_addc(&t->line, '\t');
	buf_add_safe(&t->line, s, n);
	buf_addc(&t->line, '\n');
	return t->line.err;
}

/* The number of a thread: those of one number and name, of a recording's buffer, are one. */
static int thread(struct lat_timeline *t, const struct lat *l, uint32_t domain,
		  const struct lat_who *who, uint32_t *id)
{
	struct {
		uint32_t domain, tid, comm;
	} key = {domain, who->tid, who->comm};
	bool fresh;
	int rc;

	*id = 0;
	if (who->tid == PS_NONE)
		return 0;
	rc = intern_add(&t->threads, &key, sizeof(key), id, &fresh);
	if (rc || !fresh)
		return rc;
	rc = define(t, l, who->comm);
	buf_adds(&t->line, "t");
	put(&t->line, *id);
	put(&t->line, who->tid);
	buf_addc(&t->line, '\t');
	if (who->pid != PS_NONE)
		buf_add_u64(&t->line, who->pid, 0, ' ');
	put(&t->line, who->comm);
	put(&t->line, domain);
	buf_addc(&t->line, '\n');
	return rc;
}

static int add(struct lat_timeline *t, const struct lat *l, const struct interval *iv, char what)
{
	uint32_t name = iv->state ? iv->state : iv->cause ? iv->cause : iv->name, who, waker = 0;
	const char *kind;
	int rc;

	lat_account(l, iv->kind, &kind);
	if (!(t->kinds & UINT64_C(1) << (iv->kind & 63))) {
		t->kinds |= UINT64_C(1) << (iv->kind & 63);
		buf_addf(&t->line, "k\t%u\t%s\t%s\n", iv->kind, kind, lat_kind_unit(l, iv->kind));
	}
	if (iv->kind == SCHED_ONCPU || iv->kind == SCHED_IDLE)
		name = 0;
	rc = thread(t, l, iv->domain, &iv->who, &who);
	if (!rc)
		rc = define(t, l, name);
	if (!rc && iv->kind == SCHED_RUNQ && iv->wake.time)
		rc = thread(t, l, iv->domain, &iv->waker, &waker);
	if (rc)
		return rc;
	buf_addc(&t->line, what);
	put(&t->line, iv->kind);
	put(&t->line, who);
	buf_addc(&t->line, '\t');
	if (iv->start.cpu != PS_NONE)
		buf_add_u64(&t->line, iv->start.cpu, 0, ' ');
	put(&t->line, iv->start.time);
	put(&t->line, iv->dur);
	put(&t->line, name);
	put(&t->line, waker);
	buf_addc(&t->line, '\n');
	t->n += what == 'i';
	return flush(t);
}

int lat_timeline_add(void *ctx, const struct lat *l, const struct interval *iv)
{
	return add(ctx, l, iv, 'i');
}

int lat_timeline_open(void *ctx, const struct lat *l, const struct interval *iv)
{
	return add(ctx, l, iv, 'o');
}

/* Events that are neither the scheduler's nor an interrupt's are marks. */
static bool is_mark(const struct ps_event *e)
{
	static const char *const not [] = {"sched:", "irq:", "irq_vectors:", "dummy"};

	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		if (e->name.len >= strlen(not [i]) && !memcmp(e->name.p, not [i], strlen(not [i])))
			return false;
	return true;
}

static void forget(struct lat_timeline_event *v)
{
	lat_fields_free(v->fields);
	*v = (struct lat_timeline_event){0};
}

/* An event is met for the first time. 0 or PP_ENOMEM. */
static int learn(struct lat_timeline *t, const struct ps_event *e, struct lat_timeline_event *v)
{
	v->mark = is_mark(e) ? ++t->nmarks + 1 : 1;
	if (v->mark == 1)
		return 0;
	buf_addf(&t->line, "x\t%u\t", t->nmarks);
	buf_add_safe(&t->line, e->name.p, e->name.len);
	buf_addc(&t->line, '\n');
	return lat_fields_new(&v->fields, e);
}

static int see_sample(struct lat_timeline *t, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	const struct ps_event *e = sreader_event(r, s->event);
	struct lat_timeline_event *v;

	if (!e || s->event >= PS_ID_MAX || s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED))
		return 0;
	v = array_widen(t->events, &t->nevents, s->event, 64, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->events = v;
	v += s->event;
	if (!v->mark && learn(t, e, v))
		return PP_ENOMEM;
	if (v->mark == 1)
		return 0;
	if ((s->flags & PS_MARK_MASK) == PS_MARK_FAIL)
		return 0;
	if (t->marks == LAT_MARKS_MAX) {
		t->more_marks++;
		return 0;
	}
	t->marks++;
	buf_adds(&t->line, "e");
	put(&t->line, v->mark - 1);
	buf_addc(&t->line, '\t');
	if (s->cpu != PS_NONE)
		buf_add_u64(&t->line, s->cpu, 0, ' ');
	put(&t->line, s->time);
	put(&t->line, s->tid == PS_NONE ? 0 : s->tid);
	buf_addc(&t->line, '\t');
	lat_fields_add(v->fields, r, rec, &t->names, &t->line);
	buf_addc(&t->line, '\n');
	return flush(t);
}

int lat_timeline_see(struct lat_timeline *t, const struct sreader *r, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_SAMPLE: return see_sample(t, r, rec);
	case PS_HEADER:
		for (uint32_t i = 0; i < t->nevents; i++)
			forget(&t->events[i]);
		break;
	case PS_EVENT:
		if (rec->event.id < t->nevents)
			forget(&t->events[rec->event.id]);
		break;
	case PS_SOURCE:
		buf_adds(&t->line, "m\tfrom\t");
		buf_add_safe(&t->line, rec->src.name.p, rec->src.name.len);
		buf_addc(&t->line, '\n');
		return flush(t);
	case PS_LOST:
		buf_adds(&t->line, "l\t");
		if (rec->lost.cpu != PS_NONE)
			buf_add_u64(&t->line, rec->lost.cpu, 0, ' ');
		put(&t->line, rec->lost.time);
		put(&t->line, rec->lost.count);
		buf_addc(&t->line, '\n');
		return flush(t);
	}
	return 0;
}

int lat_timeline_close(struct lat_timeline *t, int status)
{
	int rc, closed;

	buf_addf(&t->line, "z\t%" PRIu64 "\t%d\t%" PRIu64 "\n", t->n, status, t->more_marks);
	rc = flush(t);
	closed = out_close(&t->out);
	buf_release(&t->line);
	intern_release(&t->threads);
	free(t->texts);
	for (uint32_t i = 0; i < t->nevents; i++)
		forget(&t->events[i]);
	free(t->events);
	return rc ? rc : closed;
}
