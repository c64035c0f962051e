/* Critical paths in a timeline: the steps of plat --emit path, as a column. */
#include "draw/timeline_parts.h"

#include "base/array.h"
#include "base/err.h"
#include "draw/page.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <string.h>

#define EVENT "path" /* of plat --emit path */

struct steps {
	struct timeline *t;
	uint64_t seen, none; /* samples of paths; of these out of the timeline's time */
	uint64_t more;	     /* for which there was no room */
};

int timeline_each_step(const struct timeline *t, timeline_step_fn *fn, void *ctx)
{
	const struct buf *b = &t->columns[COLUMN_STEPS];
	uint64_t before = 0, origin = t->first - t->base;
	size_t at = 0;
	int rc = 0;

	while (at < b->len && !rc) {
		struct timeline_step s = {.span = timeline_take(b, &at)};
		uint64_t gap;

		s.tid = (uint32_t)timeline_take(b, &at);
		s.name = (uint32_t)timeline_take(b, &at);
		gap = timeline_take(b, &at);
		before += gap >> 1 ^ (0 - (gap & 1));
		s.dur = timeline_take(b, &at);
		s.state = (uint32_t)timeline_take(b, &at);
		/* In view begins what began before the timeline did. */
		s.start = before - origin;
		if (s.start > INT64_MAX) {
			s.dur -= 0 - s.start;
			s.start = 0;
		}
		rc = fn(ctx, &s);
	}
	return rc;
}

/* A text gets that number, or a new one if it is 0; *out: what it has. */
static int note_text(struct timeline *t, const char *s, size_t n, uint32_t number, uint32_t *out)
{
	uint32_t id, *v;
	bool fresh;
	int rc = intern_add(&t->step_texts, s, n, &id, &fresh);

	if (!rc && fresh) {
		v = array_widen(t->step_text, &t->step_text_cap, id, 64, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		t->step_text = v;
		if (!number) {
			number = ++t->ntexts;
			buf_add(&t->texts, s, n);
			buf_addc(&t->texts, 0);
		}
		v[id] = number;
		rc = t->texts.err;
	}
	*out = rc ? 0 : t->step_text[id];
	return rc;
}

/* Threads and the steps of paths have the same numbers for the same names. */
static int know_texts(struct timeline *t)
{
	const char *text = buf_str(&t->texts);
	uint32_t n = t->step_texts.n ? 0 : t->ntexts, number;
	int rc = 0;

	for (uint32_t i = 1; i <= n && !rc; i++, text += strlen(text) + 1)
		rc = note_text(t, text, strlen(text), i, &number);
	return rc;
}

/* The number of a text in the page; 0 for an empty one. */
static int text_of(struct timeline *t, const char *s, size_t n, uint32_t *number)
{
	struct buf safe = BUF_INIT;
	int rc;

	*number = 0;
	if (!s || !n)
		return 0;
	buf_add_safe(&safe, s, n);
	rc = safe.err ? safe.err
		      : note_text(t, buf_str(&safe), strnlen(buf_str(&safe), safe.len), 0, number);
	buf_release(&safe);
	return rc;
}

static int take_step(struct steps *s, const struct sreader *r, const struct ps_sample *v)
{
	struct timeline *t = s->t;
	struct buf *b = &t->columns[COLUMN_STEPS];
	uint64_t begin = v->time, end = v->fields & PS_HAS(end_time) ? v->end_time : begin;
	uint32_t comm, state;
	const char *name;
	size_t len;
	int rc;

	s->seen++;
	if (begin > INT64_MAX || end > INT64_MAX || end < begin || end <= t->first ||
	    begin >= t->last) {
		s->none++;
		return 0;
	}
	if (t->account.steps == TIMELINE_STEPS_MAX) {
		s->more++;
		return 0;
	}
	name = sreader_string(r, v->comm, &len);
	rc = text_of(t, name, name ? len : 0, &comm);
	if (!rc)
		rc = v->fields & PS_HAS(key_text)
			     ? text_of(t, v->key_text.p, v->key_text.len, &state)
			     : text_of(t, NULL, 0, &state);
	if (rc)
		return rc;
	page_number(b, v->fields & PS_HAS(key) ? v->key : 1);
	page_number(b, v->tid == PS_NONE ? 0 : v->tid);
	page_number(b, comm);
	timeline_put_signed(b, t->last_step, begin - t->base);
	page_number(b, end - begin);
	page_number(b, state);
	t->last_step = begin - t->base;
	t->account.steps++;
	return b->err;
}

static int take(struct steps *s, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_event *e;

	if (rec->type != PS_SAMPLE || (rec->sample.flags & PS_MARK_MASK) == PS_MARK_FAIL)
		return 0;
	e = sreader_event(r, rec->sample.event);
	if (!e || e->name.len != strlen(EVENT) || memcmp(e->name.p, EVENT, strlen(EVENT)) != 0)
		return 0;
	return take_step(s, r, &rec->sample);
}

/* What there is to say of what was read. 0, or an error. */
static int check(const struct steps *s, const char *name, struct diag *d)
{
	if (!s->seen) {
		diag_error(d, name, -1, "has no critical paths: plat --emit path writes them");
		return PP_EMISMATCH;
	}
	if (s->none == s->seen) {
		diag_error(d, name, -1, "its paths are of another time than the timeline");
		return PP_EMISMATCH;
	}
	if (s->none)
		diag_warn(d, name, -1, "%" PRIu64 " steps of paths are not in the timeline's time",
			  s->none);
	if (s->more)
		diag_error(d, name, -1,
			   "%" PRIu64 " steps of paths are left out: only the first %u are drawn",
			   s->more, TIMELINE_STEPS_MAX);
	s->t->account.partial |= s->none || s->more;
	return 0;
}

int timeline_read_path(struct timeline *t, struct src *src, struct diag *d)
{
	const char *name = src_name(src);
	struct steps s = {.t = t};
	const struct ps_record *rec;
	struct sreader *r;
	int rc = sreader_new(&r, src, SREADER_EVENTS, d), status;

	if (rc)
		return rc;
	rc = know_texts(t);
	while (!rc && !(rc = sreader_next(r, &rec)))
		rc = take(&s, r, rec);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, name, -1, "cannot keep the paths: %s", pp_strerror(rc));
	/* The reader has reported the rest. */
	status = sreader_status(r, rc);
	t->account.partial |= status == PP_EXIT_PARTIAL;
	rc = rc == PP_ENOMEM || rc == PP_ELIMIT ? rc : status == PP_EXIT_FAIL ? PP_EIO : 0;
	rc = rc ? rc : check(&s, name, d);
	sreader_free(r);
	return rc;
}
