/* What devices were asked for and kernel threads were given: the last of these, by number. */
#include "wall/requests.h"
#include "wall/wall.h"

#include "base/array.h"
#include "base/err.h"
#include "event/shown.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MAX (1u << 18) /* that are kept */
#define FIRST_CAP    256
#define WORKS_MAX    (1u << 16) /* queued, and not begun: of most the beginning is missing */
#define DONE_MAX     1000000	/* ns between a request's end and the wakeup for it */

const struct wall_request *wall_request(const struct wall *w, uint32_t number)
{
	const struct wall_requests *q = &w->requests;
	const struct wall_request *v = q->cap && number ? &q->v[number % q->cap] : NULL;

	return v && v->number == number ? v : NULL;
}

static int grow(struct wall_requests *q)
{
	uint32_t cap = q->cap ? 2 * q->cap : FIRST_CAP;
	struct wall_request *v = calloc(cap, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < q->cap; i++)
		v[q->v[i].number % cap] = q->v[i];
	free(q->v);
	q->v = v;
	q->cap = cap;
	return 0;
}

static int add(struct wall *w, struct wall_request new, uint32_t *number)
{
	struct wall_requests *q = &w->requests;
	int rc = q->n + 1 >= q->cap && q->cap < REQUESTS_MAX ? grow(q) : 0;

	if (rc)
		return rc;
	/* 0 is none. */
	q->n += q->n == UINT32_MAX ? 2 : 1;
	*number = new.number = q->n;
	q->v[q->n % q->cap] = new;
	return 0;
}

static int label(struct wall *w, struct buf *b, uint32_t *text)
{
	return b->err ? b->err : intern_again(&w->texts, buf_str(b), b->len, text);
}

/* The name of a block device, or its numbers. */
static void add_device(const struct wall *w, uint64_t dev, struct buf *b)
{
	const struct lat_opts *names = w->o->spans;
	size_t len;
	const char *name =
		names->device ? names->device(names->symbol_ctx, w->rec->source, dev, &len) : NULL;

	if (name)
		buf_add_safe(b, name, len);
	else
		shown_device(dev, b);
}

int wall_on_done(struct wall *w, const struct wall_seen *v, struct wall_cpu *c)
{
	struct wall_request r = {.kind = v->what == WALL_DISK ? WALL_KIND_DISK : WALL_KIND_NETWORK,
				 .at = w->rec->sample.time,
				 .sector = v->sector,
				 .n = (uint32_t)v->n};
	struct buf b = BUF_INIT;
	int rc;

	if (v->what == WALL_DISK)
		add_device(w, v->id, &b);
	if (v->text.kind == QV_STR && v->text.len) {
		if (b.len)
			buf_addc(&b, ' ');
		buf_add_safe(&b, v->text.s, v->text.len);
	}
	rc = label(w, &b, &r.label);
	buf_release(&b);
	return rc ? rc : add(w, r, &c->request);
}

int wall_on_queued(struct wall *w, const struct wall_seen *v, const struct wall_wake *by)
{
	struct wall_request r = {.kind = WALL_KIND_WORK, .at = w->rec->sample.time, .by = *by};
	struct map64 *works = &w->requests.works;
	uint32_t *slot;

	if (works->n >= WORKS_MAX)
		map64_clear(works);
	slot = map64_put(works, v->id, NULL);
	return slot ? add(w, r, slot) : PP_ENOMEM;
}

uint32_t wall_on_begun(struct wall *w, const struct wall_seen *v)
{
	const uint32_t *slot = map64_get(&w->requests.works, v->id);
	uint32_t number = slot ? *slot : 0;

	map64_del(&w->requests.works, v->id);
	return number;
}

uint32_t wall_done_on(const struct wall *w, const struct wall_cpu *c)
{
	const struct wall_request *r = c ? wall_request(w, c->request) : NULL;

	return r && w->rec->sample.time - r->at < DONE_MAX ? c->request : 0;
}

void wall_requests_clear(struct wall *w)
{
	struct wall_requests *q = &w->requests;

	map64_clear(&q->works);
	if (q->cap)
		memset(q->v, 0, q->cap * sizeof(*q->v));
}

void wall_requests_release(struct wall_requests *q)
{
	map64_release(&q->works);
	free(q->v);
}
