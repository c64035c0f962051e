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

#define CHUNK	 2000	    /* samples, */
#define NODES	 (1u << 15) /* or bytes of nodes, after which a chunk is written */
#define KEPT	 (8u << 20) /* bytes in all profiles, after which those of all are */
#define MANY	 1000000
#define ROOT	 1
#define IDLE	 2 /* that of a stack is its number in the profile and IDLE */
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

/* Makes a callFrame in w->call. 0 or PP_ENOMEM. */
static int make_call(struct chrome *w, struct ps_str name, struct ps_str file, int line)
{
	struct buf *b = &w->call;

	buf_reset(b);
	buf_addc(b, '{');
	json_text(b, "functionName", name.p, name.len);
	json_num(b, "scriptId", 0);
	json_text(b, "url", file.p, file.len);
	json_key(b, "lineNumber");
	buf_addf(b, "%d,\"columnNumber\":-1}", line);
	return b->err;
}

/* The callFrame of a frame, which is made once. 0 or PP_ENOMEM. */
static int call_of(struct chrome *w, uint32_t frame, struct ps_str *call)
{
	struct ps_str *v = array_widen(w->frames, &w->nframes, frame, 1024, sizeof(*v)), file;
	struct prof *p = w->c->p;
	const struct prof_frame *f;
	char *text;

	if (!v)
		return PP_ENOMEM;
	w->frames = v;
	v += frame;
	if (!v->len) {
		f = prof_frame_of(p, frame);
		file = prof_str(p, f->line ? f->file : prof_dso_of(p, f->dso)->path);
		buf_reset(&w->text);
		prof_show(p, f, &w->text);
		if (w->text.err ||
		    make_call(w, ps_str(buf_str(&w->text), w->text.len), file, (int)f->line - 1))
			return PP_ENOMEM;
		text = arena_dup(&w->calls, w->call.data, w->call.len);
		if (!text)
			return PP_ENOMEM;
		*v = ps_str(text, w->call.len);
	}
	*call = *v;
	return 0;
}

static int put_node(struct chrome_profile *q, uint32_t node, uint32_t parent, struct ps_str call)
{
	struct buf *b = &q->nodes;

	buf_adds(b, b->len ? ",\n{\"id\":" : "{\"id\":");
	buf_add_u64(b, node, 0, ' ');
	if (parent) {
		buf_adds(b, ",\"parent\":");
		buf_add_u64(b, parent, 0, ' ');
	}
	buf_adds(b, ",\"callFrame\":");
	buf_add(b, call.p, call.len);
	buf_addc(b, '}');
	return b->err;
}

/* Of those that V8 has for what is no function. */
static int put_named_node(struct chrome *w, struct chrome_profile *q, uint32_t node,
			  uint32_t parent, const char *name)
{
	int rc = make_call(w, ps_str(name, strlen(name)), ps_str("", 0), -1);

	return rc ? rc : put_node(q, node, parent, ps_str(buf_str(&w->call), w->call.len));
}

/* The node of a stack, and those above it: what the profile does not have, the outermost first. */
static int put_nodes(struct chrome *w, struct chrome_profile *q, uint32_t stack, uint32_t *node)
{
	uint32_t n = 0, frame, local = 0, up, *path;
	struct ps_str call;
	int rc = 0;

	for (; stack && !(local = locals_find(&q->written, stack));
	     stack = prof_up(w->c->p, stack, &frame)) {
		path = array_widen(w->path, &w->path_cap, n, 256, sizeof(*path));
		if (!path)
			return PP_ENOMEM;
		w->path = path;
		path[n++] = stack;
	}
	while (n-- && !rc) {
		up = local;
		prof_up(w->c->p, w->path[n], &frame);
		rc = call_of(w, frame, &call);
		if (!rc)
			rc = locals_add(&q->written, w->path[n], &local);
		if (!rc)
			rc = put_node(q, local + IDLE, up ? up + IDLE : ROOT, call);
	}
	*node = local ? local + IDLE : ROOT;
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
	return rc ? rc : put_named_node(w, q, ROOT, 0, "(root)");
}

/* The numbers of all samples, as a list. Which: by their place in the struct. */
static void add_list(struct buf *b, const struct chrome_profile *q, const char *key, int which)
{
	buf_adds(b, key);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct chrome_sample *s = &q->samples[i];

		buf_addc(b, i ? ',' : '[');
		buf_add_u64(b, which == 0 ? s->node : which == 1 ? s->delta : s->weight, 0, ' ');
	}
	buf_addc(b, ']');
}

static int put_chunk(struct chrome *w, struct chrome_profile *q)
{
	struct buf *b = &w->b;

	if (!q->n)
		return 0;
	profile_event(w, q, "ProfileChunk", q->end);
	buf_adds(b, "\"cpuProfile\":{\"nodes\":[");
	buf_join(b, &q->nodes);
	add_list(b, q, "],\"samples\":", 0);
	add_list(b, q, "},\"timeDeltas\":", 1);
	add_list(b, q, ",\"weights\":", 2);
	buf_adds(b, ",\"endTime\":");
	buf_add_u64(b, q->end / 1000, 0, ' ');
	buf_adds(b, "}}");
	buf_reset(&q->nodes);
	q->n = 0;
	return chrome_end(w);
}

static int add_sample(struct chrome_profile *q, uint32_t node, uint64_t time, uint64_t weight)
{
	uint64_t us = time / 1000;
	struct chrome_sample *v = array_widen(q->samples, &q->cap, q->n, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	q->samples = v;
	v[q->n++] = (struct chrome_sample){us > q->last ? us - q->last : 0, weight, node};
	q->last = us > q->last ? us : q->last;
	return 0;
}

/* The last sample is over. */
static int add_idle(struct chrome *w, struct chrome_profile *q)
{
	int rc = q->idle ? 0 : put_named_node(w, q, IDLE, ROOT, "(idle)");

	q->idle = true;
	return rc ? rc : add_sample(q, IDLE, q->end, 0);
}

/* Most threads of a build are over soon: what they have is written, and its memory used again. */
static int put_all(struct chrome *w)
{
	int rc = 0;

	w->kept = 0;
	for (uint32_t i = 0; i < w->nprofiles && !rc; i++) {
		struct chrome_profile *q = &w->profiles[i];

		rc = put_chunk(w, q);
		buf_release(&q->nodes);
		free(q->samples);
		q->samples = NULL;
		q->cap = 0;
	}
	return rc;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct chrome *w = ctx;
	struct chrome_profile *q = profile_of(w, s);
	size_t before = q ? q->nodes.len : 0;
	uint64_t ns, time;
	uint32_t node = ROOT;
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
		rc = put_nodes(w, q, s->stack, &node);
	if (!rc)
		rc = add_sample(q, node, time, s->weight);
	if (rc)
		return rc;
	q->any = true;
	q->end = time;
	if (ns || !s->timed)
		q->end = s->weight > UINT64_MAX / 2 - time ? UINT64_MAX / 2 : time + s->weight;
	w->kept += q->nodes.len - before + sizeof(*q->samples);
	if (w->kept >= KEPT)
		return put_all(w);
	return q->n < CHUNK && q->nodes.len < NODES ? 0 : put_chunk(w, q);
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
		locals_release(&w->profiles[i].written);
		buf_release(&w->profiles[i].nodes);
		free(w->profiles[i].samples);
	}
	free(w->profiles);
	free(w->cpus);
	free(w->path);
	lanes_release(&w->lanes);
	arena_release(&w->calls);
	free(w->frames);
	map64_release(&w->named);
	tpoints_release(&w->points);
	buf_release(&w->b);
	buf_release(&w->text);
	buf_release(&w->call);
	free(w);
}

const struct conv_writer conv_to_chrome = {
	.open = open_chrome,
	.sample = sample,
	.record = record,
	.close = close_chrome,
	.free = free_chrome,
};
