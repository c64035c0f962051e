/* The merge: the next record of all streams by time, and its numbers as the output has them. */
#include "base/err.h"
#include "stream/codec.h"
#include "merge/parts.h"

#include <stdlib.h>

int smerge_new(struct smerge **out, struct swriter *w, const char *clock, struct diag *d)
{
	struct smerge *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m)
		return PP_ENOMEM;
	m->w = w;
	m->d = d;
	m->clock = clock;
	m->live_ids = SMERGE_LIVE_IDS;
	m->nsources = 1;
	m->sources = calloc(1, sizeof(*m->sources));
	if (!m->sources) {
		free(m);
		*out = NULL;
		return PP_ENOMEM;
	}
	for (int i = 0; i < MERGE_NDICTS; i++)
		m->out[i] = (struct merge_out){.last = 1, .epoch = 1};
	return 0;
}

static void input_free(struct merge_input *in)
{
	for (int i = 0; i < MERGE_NDICTS; i++)
		free(in->ids[i].v);
	free(in->sources);
	free(in->name);
	sreader_free(in->r);
	free(in);
}

void smerge_free(struct smerge *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		input_free(m->in[i]);
	free(m->in);
	free(m->heap);
	free(m->sources);
	buf_release(&m->frames);
	free(m);
}

int smerge_add(struct smerge *m, struct sreader *r, const char *name, int64_t offset)
{
	struct merge_input *in = calloc(1, sizeof(*in));
	struct merge_input **v = realloc(m->in, (m->n + 1) * sizeof(struct merge_input *));

	if (v)
		m->in = v;
	if (in) {
		in->r = r;
		in->name = strdup(name);
		in->offset = offset;
	}
	if (!v || !in || !in->name) {
		sreader_free(r);
		free(in);
		return PP_ENOMEM;
	}
	v[m->n++] = in;
	return 0;
}

/* ---- writing ---- */

static int write_sample(struct smerge *m, struct merge_input *in, struct ps_sample *s,
			int64_t offset)
{
	int rc = merge_ref(m, in, MERGE_EVENT, s->event, &s->event);

	if (!rc)
		rc = merge_ref(m, in, MERGE_STRING, s->comm, &s->comm);
	if (!rc && ps_sample_has(s, chain))
		rc = merge_ref(m, in, MERGE_CHAIN, s->chain, &s->chain);
	if (!rc && ps_sample_has(s, stack))
		rc = merge_ref(m, in, MERGE_STACK, s->stack, &s->stack);
	if (!rc && ps_sample_has(s, other_chain))
		rc = merge_ref(m, in, MERGE_CHAIN, s->other_chain, &s->other_chain);
	if (!rc && ps_sample_has(s, other_stack))
		rc = merge_ref(m, in, MERGE_STACK, s->other_stack, &s->other_stack);
	if (!rc && ps_sample_has(s, branch_stack))
		rc = merge_ref(m, in, MERGE_STACK, s->branch_stack, &s->branch_stack);
	if (!rc && ps_sample_has(s, ip_stack))
		rc = merge_ref(m, in, MERGE_STACK, s->ip_stack, &s->ip_stack);
	if (!rc && ps_sample_has(s, other_comm))
		rc = merge_ref(m, in, MERGE_STRING, s->other_comm, &s->other_comm);
	if (rc)
		return rc;
	if (!(s->flags & PS_SAMPLE_NO_TIME))
		s->time = merge_time(s->time, offset);
	if (ps_sample_has(s, end_time))
		s->end_time = merge_time(s->end_time, offset);
	return swriter_sample(m->w, in->out_source, s);
}

/* Ids in a record that is no sample. */
static int renumber(struct smerge *m, struct merge_input *in, struct ps_record *rec)
{
	switch (rec->type) {
	case PS_MMAP: return merge_ref(m, in, MERGE_DSO, rec->mmap.dso, &rec->mmap.dso);
	case PS_COMM: return merge_ref(m, in, MERGE_STRING, rec->comm.comm, &rec->comm.comm);
	case PS_LOST: return merge_ref(m, in, MERGE_EVENT, rec->lost.event, &rec->lost.event);
	case PS_THROTTLE:
		return merge_ref(m, in, MERGE_EVENT, rec->throttle.event, &rec->throttle.event);
	case PS_READ: return merge_ref(m, in, MERGE_EVENT, rec->read.event, &rec->read.event);
	case PS_COUNTER:
		return merge_ref(m, in, MERGE_EVENT, rec->counter.event, &rec->counter.event);
	case PS_COUNT: return merge_ref(m, in, MERGE_EVENT, rec->count.event, &rec->count.event);
	case PS_SOURCE:
		if (m->clock)
			rec->src.clock = ps_str(m->clock, strlen(m->clock));
		return 0;
	default: return 0;
	}
}

/* A record of a type that is not known: as it came, but for its source. */
static int write_unknown(struct smerge *m, struct merge_input *in, const struct ps_record *rec)
{
	uint16_t source = (uint16_t)in->out_source;
	int rc = swriter_copy(m->w, rec);

	if (rc == PP_EUNSUPPORTED)
		return 0;
	if (!rc)
		memcpy(m->w->out->data + m->w->out->len - rec->size + 6, &source, sizeof(source));
	return rc;
}

static int write_record(struct smerge *m, struct merge_input *in)
{
	const struct ps_typedesc *t = ps_typedesc(in->rec->type);
	struct ps_record rec = *in->rec;
	int64_t offset;
	int rc = merge_bound(m);

	if (!rc)
		rc = merge_source(m, in, rec.source, &in->out_source);
	if (rc)
		return rc;
	offset = m->sources[in->out_source].offset;
	if (rec.type == PS_SAMPLE)
		return write_sample(m, in, &rec.sample, offset);
	if (!t)
		return write_unknown(m, in, &rec);
	if (t->context && rec.context.time)
		rec.context.time = merge_time(rec.context.time, offset);
	rc = renumber(m, in, &rec);
	return rc ? rc : swriter_put(m->w, (enum ps_type)rec.type, in->out_source, &rec.sample);
}

/* ---- reading ---- */

static bool timed(const struct ps_record *rec)
{
	const struct ps_typedesc *t;

	if (rec->type == PS_SAMPLE)
		return !(rec->sample.flags & PS_SAMPLE_NO_TIME);
	t = ps_typedesc(rec->type);
	return t && t->context && rec->context.time;
}

/* The place of the input's record in the order. */
static int set_key(struct smerge *m, struct merge_input *in)
{
	struct merge_source *s;
	uint32_t source;
	uint64_t t;
	int rc;

	if (!timed(in->rec))
		return 0;
	rc = merge_source(m, in, in->rec->source, &source);
	if (rc)
		return rc;
	s = &m->sources[source];
	if (!s->settled && source && (rc = merge_settle_clock(m, s)))
		return rc;
	/* Of both kinds of records the time is where they begin with it. */
	t = in->rec->type == PS_SAMPLE ? in->rec->sample.time : in->rec->context.time;
	t = merge_time(t, s->offset);
	if (t > in->key)
		in->key = t;
	return 0;
}

static int learn(struct smerge *m, struct merge_input *in)
{
	uint32_t source;
	int rc = merge_source(m, in, in->rec->source, &source);

	if (!rc && source)
		merge_learn_clock(&m->sources[source], in->rec);
	return rc;
}

/* Goes to the next record that is to be written. 0, or PP_END when there is none. */
static int advance(struct smerge *m, struct merge_input *in)
{
	for (;;) {
		bool taken = true;
		int rc = sreader_next(in->r, &in->rec);

		if (rc) {
			in->rc = rc;
			return rc == PP_ENOMEM ? rc : PP_END;
		}
		if (in->rec->type == PS_HEADER)
			merge_forget(in);
		else if (in->rec->type != PS_END && (rc = merge_define(m, in, in->rec, &taken)))
			return rc;
		if (in->rec->type == PS_SOURCE || in->rec->type == PS_META)
			rc = learn(m, in);
		if (rc || !taken)
			return rc;
	}
}

/* ---- order ---- */

static bool before(const struct smerge *m, uint32_t a, uint32_t b)
{
	uint64_t x = m->in[a]->key, y = m->in[b]->key;

	return x < y || (x == y && a < b);
}

static void sift_down(struct smerge *m, uint32_t i)
{
	uint32_t in = m->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= m->heap_n)
			break;
		if (child + 1 < m->heap_n && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], in))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = in;
}

/*
 * What comes before the first time of a stream is written at once, so that the clocks of all
 * recordings are known before the first of their times is looked at.
 */
static int prime(struct smerge *m)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n && !rc; i++) {
		while (!(rc = advance(m, m->in[i])) && !timed(m->in[i]->rec))
			if ((rc = write_record(m, m->in[i])))
				return rc;
		if (!rc)
			m->heap[m->heap_n++] = i;
		else if (rc == PP_END)
			rc = 0;
	}
	for (uint32_t i = 0; i < m->heap_n && !rc; i++)
		rc = set_key(m, m->in[m->heap[i]]);
	for (uint32_t i = m->heap_n / 2; i-- > 0 && !rc;)
		sift_down(m, i);
	return rc;
}

int smerge_run(struct smerge *m)
{
	int rc;

	m->heap = calloc(m->n ? m->n : 1, sizeof(*m->heap));
	if (!m->heap)
		return PP_ENOMEM;
	rc = prime(m);
	while (!rc && m->heap_n) {
		struct merge_input *in = m->in[m->heap[0]];

		rc = write_record(m, in);
		if (!rc)
			rc = advance(m, in);
		if (!rc)
			rc = set_key(m, in);
		else if (rc == PP_END)
			m->heap[0] = m->heap[--m->heap_n], rc = 0;
		if (!rc && m->heap_n)
			sift_down(m, 0);
	}
	return rc;
}

void smerge_account(const struct smerge *m, struct ps_end *end, uint32_t *failed)
{
	*failed = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct ps_end *a = sreader_account(m->in[i]->r);
		int status = sreader_status(m->in[i]->r, m->in[i]->rc);

		end->lost += a->lost;
		end->missing += a->missing;
		*failed += status == PP_EXIT_FAIL || a->status == PP_EXIT_FAIL;
		if (status && !end->status)
			end->status = PP_EXIT_PARTIAL;
	}
}
