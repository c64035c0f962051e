/*
 * Writes Chrome's trace events: JSON that Perfetto, DevTools, speedscope and the Firefox profiler
 * read. The samples of a thread are what V8's profiler writes, Profile and ProfileChunk, in which a
 * sample lasts until the next: where a thread did not run, "(idle)" is put between. What the others
 * have no place for, weights and the event, are members of ours.
 */
#include "conv/chrome.h"

#include "base/array.h"
#include "base/err.h"
#include "base/json.h"

#include <stdlib.h>

#define CHUNK	 2000 /* samples */
#define MANY	 1000000
#define ROOT	 1 /* nodes; that of a stack is its number and 2 */
#define IDLE	 2
#define PROFILER "disabled-by-default-v8.cpu_profiler"

static int open_chrome(struct conv *c, void **ctx)
{
	struct chrome *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (!w)
		return PP_ENOMEM;
	w->c = c;
	buf_addc(&w->b, '['); /* speedscope reads no object as FILE.chrome.json */
	return w->b.err;
}

/* ---- samples ---- */

static struct chrome_profile *profile_of(struct chrome *w, const struct prof_sample *s)
{
	struct chrome_profile *v;
	uint32_t lane;

	if (lanes_find(&w->lanes, s, &lane))
		return NULL;
	if (lane < w->nprofiles)
		return &w->profiles[lane];
	v = array_widen(w->profiles, &w->profiles_cap, lane, 64, sizeof(*v));
	if (!v)
		return NULL;
	w->profiles = v;
	v[lane] = (struct chrome_profile){.thread = s->thread, .event = s->event};
	w->nprofiles = lane + 1;
	return &v[lane];
}

static int put_node(struct chrome *w, struct chrome_profile *q, uint32_t node, uint32_t parent,
		    const struct prof_frame *f, const char *name)
{
	struct prof *p = w->c->p;
	struct ps_str file = {0};
	struct buf *b = &q->nodes;

	buf_reset(&w->text);
	if (f) {
		file = prof_str(p, f->line ? f->file : prof_dso_of(p, f->dso)->path);
		prof_show(p, f, &w->text);
	} else {
		buf_adds(&w->text, name);
	}
	buf_inherit(b, &w->text);
	buf_adds(b, b->len ? ",\n{" : "{");
	json_num(b, "id", node);
	if (parent)
		json_num(b, "parent", parent);
	json_key(b, "callFrame");
	buf_addc(b, '{');
	json_text(b, "functionName", buf_str(&w->text), w->text.len);
	json_num(b, "scriptId", 0);
	json_text(b, "url", file.p, file.len);
	json_key(b, "lineNumber");
	buf_addf(b, "%d,\"columnNumber\":-1}}", f ? (int)f->line - 1 : -1);
	return b->err;
}

/* The nodes of a stack that the profile does not have, the outermost first. */
static int put_nodes(struct chrome *w, struct chrome_profile *q, uint32_t stack)
{
	uint64_t high = (uint64_t)(q - w->profiles) << 32;
	uint32_t n = 0, frame, up, *path;
	bool fresh = true;
	int rc = 0;

	for (uint32_t node = stack; node; node = prof_up(w->c->p, node, &frame)) {
		if (!map64_put(&w->nodes, high | node, &fresh))
			return PP_ENOMEM;
		if (!fresh)
			break;
		path = array_widen(w->path, &w->path_cap, n, 256, sizeof(*path));
		if (!path)
			return PP_ENOMEM;
		w->path = path;
		path[n++] = node;
	}
	while (n-- && !rc) {
		up = prof_up(w->c->p, w->path[n], &frame);
		rc = put_node(w, q, w->path[n] + IDLE, up ? up + IDLE : ROOT,
			      prof_frame_of(w->c->p, frame), "");
	}
	return rc;
}

static void profile_event(struct chrome *w, const struct chrome_profile *q, const char *name,
			  uint64_t ns)
{
	const struct prof_thread *t = prof_thread_of(w->c->p, q->thread);

	chrome_event(w, 'P', PROFILER, t->pid, chrome_tid(t, q->thread), ns);
	json_text(&w->b, "name", name, strlen(name));
	json_key(&w->b, "id");
	buf_addf(&w->b, "\"0x%x\",\"args\":{\"data\":{", (unsigned)(q - w->profiles) + 1);
}

static int begin(struct chrome *w, struct chrome_profile *q, uint64_t time)
{
	struct prof *p = w->c->p;
	const struct prof_event *e = prof_event_of(p, q->event);
	struct ps_str name = prof_str(p, e->name), unit = prof_str(p, e->unit);
	struct ps_str comm = prof_str(p, prof_thread_of(p, q->thread)->comm);
	int rc = chrome_thread(w, q->thread);

	if (rc)
		return rc;
	q->begun = true;
	q->start = q->end = time;
	/* Earlier by one: speedscope fails where the only sample is at 0. */
	q->last = time / 1000 - (time >= 1000);
	profile_event(w, q, "Profile", time);
	json_num(&w->b, "startTime", q->last);
	json_text(&w->b, "event", name.p, name.len);
	json_text(&w->b, "unit", unit.p, unit.len);
	json_text(&w->b, "thread", comm.p, comm.len); /* it may have others later */
	buf_adds(&w->b, "}}");
	rc = chrome_end(w);
	return rc ? rc : put_node(w, q, ROOT, 0, NULL, "(root)");
}

static int put_chunk(struct chrome *w, struct chrome_profile *q)
{
	struct buf *b = &w->b;

	if (!q->n)
		return 0;
	profile_event(w, q, "ProfileChunk", q->end);
	buf_adds(b, "\"cpuProfile\":{\"nodes\":[");
	buf_join(b, &q->nodes);
	buf_adds(b, "],\"samples\":[");
	buf_join(b, &q->samples);
	buf_adds(b, "]},\"timeDeltas\":[");
	buf_join(b, &q->deltas);
	buf_adds(b, "],\"weights\":[");
	buf_join(b, &q->weights);
	buf_adds(b, "],\"endTime\":");
	buf_add_u64(b, q->end / 1000, 0, ' ');
	buf_adds(b, "}}");
	buf_reset(&q->nodes);
	buf_reset(&q->samples);
	buf_reset(&q->deltas);
	buf_reset(&q->weights);
	q->n = 0;
	return chrome_end(w);
}

static void add_sample(struct chrome_profile *q, uint32_t node, uint64_t time, uint64_t weight)
{
	uint64_t us = time / 1000;

	if (q->n) {
		buf_addc(&q->samples, ',');
		buf_addc(&q->deltas, ',');
		buf_addc(&q->weights, ',');
	}
	buf_add_u64(&q->samples, node, 0, ' ');
	buf_add_u64(&q->deltas, us > q->last ? us - q->last : 0, 0, ' ');
	buf_add_u64(&q->weights, weight, 0, ' ');
	q->last = us > q->last ? us : q->last;
	q->n++;
}

/* The last sample is over. */
static int add_idle(struct chrome *w, struct chrome_profile *q)
{
	int rc = q->idle ? 0 : put_node(w, q, IDLE, ROOT, NULL, "(idle)");

	q->idle = true;
	add_sample(q, IDLE, q->end, 0);
	return rc;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct chrome *w = ctx;
	struct chrome_profile *q = profile_of(w, s);
	uint64_t ns, time;
	int rc = 0;

	if (!q)
		return PP_ENOMEM;
	ns = prof_unit_ns(prof_str(w->c->p, prof_event_of(w->c->p, s->event)->unit));
	/* Those without a time follow each other. */
	time = s->timed ? s->time : q->end;
	w->now = time > w->now ? time : w->now;
	if (!q->begun)
		rc = begin(w, q, time);
	if (!rc && ns && q->any && time > q->end + s->weight / 2)
		rc = add_idle(w, q);
	if (!rc)
		rc = put_nodes(w, q, s->stack);
	if (rc)
		return rc;
	add_sample(q, s->stack ? s->stack + IDLE : ROOT, time, s->weight);
	q->any = true;
	q->end = time;
	if (ns || !s->timed)
		q->end = s->weight > UINT64_MAX / 2 - time ? UINT64_MAX / 2 : time + s->weight;
	return q->n < CHUNK ? 0 : put_chunk(w, q);
}

static int record(void *ctx, const struct sreader *r, const struct ps_record *rec, bool *taken)
{
	return chrome_record(ctx, r, rec, taken);
}

static int close_chrome(void *ctx)
{
	struct chrome *w = ctx;
	int rc = 0;

	for (uint32_t i = 0; i < w->nprofiles && !rc; i++) {
		rc = add_idle(w, &w->profiles[i]);
		if (!rc)
			rc = put_chunk(w, &w->profiles[i]);
	}
	buf_reset(&w->text);
	conv_add_comment(w->c, &w->text);
	if (!rc)
		rc = w->text.err ? w->text.err
				 : chrome_name(w, "about", 0, 0,
					       ps_str(buf_str(&w->text), w->text.len));
	buf_adds(&w->b, "\n]\n");
	if (w->events > MANY)
		diag_warn(w->c->d, NULL, -1,
			  "%llu events: many viewers cannot show more than a million of this "
			  "format; use --to perfetto",
			  (unsigned long long)w->events);
	return rc ? rc : conv_flush(w->c, &w->b, 0);
}

static void free_chrome(void *ctx)
{
	struct chrome *w = ctx;

	if (!w)
		return;
	for (uint32_t i = 0; i < w->nprofiles; i++) {
		buf_release(&w->profiles[i].nodes);
		buf_release(&w->profiles[i].samples);
		buf_release(&w->profiles[i].deltas);
		buf_release(&w->profiles[i].weights);
	}
	free(w->profiles);
	free(w->cpus);
	free(w->path);
	lanes_release(&w->lanes);
	map64_release(&w->nodes);
	map64_release(&w->named);
	tpoints_release(&w->points);
	buf_release(&w->b);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_chrome = {
	.open = open_chrome,
	.sample = sample,
	.record = record,
	.close = close_chrome,
	.free = free_chrome,
};
