/*
 * Writes speedscope's JSON (github.com/jlfwong/speedscope, file-format-schema.json): a profile for
 * each thread and event, with its samples in their order. Weights are whole numbers, so that no
 * rounding can put them out of order.
 */
#include "conv/parts.h"

#include "base/err.h"
#include "base/json.h"
#include "conv/tracks.h"

#include <stdlib.h>

struct writer {
	struct conv *c;
	struct tracks runs;
	struct buf b, text;
};

static int open_speedscope(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (w)
		w->c = c;
	return w ? 0 : PP_ENOMEM;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;

	return track_add(&w->runs, s);
}

static const char *unit_of(struct ps_str unit)
{
	switch (prof_unit_ns(unit)) {
	case 1: return "nanoseconds";
	case 1000: return "microseconds";
	case 1000000: return "milliseconds";
	case 1000000000: return "seconds";
	}
	return unit.len == 5 && !memcmp(unit.p, "bytes", 5) ? "bytes" : "none";
}

/* All frames: their places are their numbers less 1. */
static int put_frames(struct writer *w)
{
	struct prof *p = w->c->p;
	struct buf *b = &w->b;
	int rc = 0;

	buf_adds(b, ",\n\"shared\":{\"frames\":[");
	for (uint32_t i = 1; i <= p->frames.n && !rc; i++) {
		const struct prof_frame *f = prof_frame_of(p, i);
		struct ps_str file = prof_str(p, f->line ? f->file : prof_dso_of(p, f->dso)->path);

		buf_reset(&w->text);
		prof_show(p, f, &w->text);
		buf_inherit(b, &w->text);
		buf_adds(b, i > 1 ? ",\n{" : "\n{");
		json_text(b, "name", buf_str(&w->text), w->text.len);
		if (file.len)
			json_text(b, "file", file.p, file.len);
		if (f->line)
			json_num(b, "line", f->line);
		buf_addc(b, '}');
		rc = conv_flush(w->c, b, CONV_BLOCK);
	}
	buf_adds(b, "]},\n");
	return rc;
}

/* The frames of a stack, the outermost first. */
static int add_stack(struct writer *w, uint32_t stack)
{
	uint32_t frame, n = 0;
	const uint32_t *path;

	buf_reset(&w->text);
	for (; stack; n++) {
		stack = prof_up(w->c->p, stack, &frame);
		buf_add(&w->text, &frame, sizeof(frame));
	}
	buf_inherit(&w->b, &w->text);
	if (w->text.err)
		return w->text.err;
	path = (const uint32_t *)(const void *)w->text.data;
	buf_addc(&w->b, '[');
	while (n--) {
		buf_add_u64(&w->b, path[n] - 1, 0, ' ');
		if (n)
			buf_addc(&w->b, ',');
	}
	buf_addc(&w->b, ']');
	return conv_flush(w->c, &w->b, CONV_BLOCK);
}

static int put_profile(struct writer *w, const struct track *l)
{
	struct prof *p = w->c->p;
	const struct prof_event *e = prof_event_of(p, l->event);
	struct ps_str event = prof_str(p, e->name), unit = prof_str(p, e->unit);
	struct buf *b = &w->b;
	int rc = 0;

	buf_reset(&w->text);
	prof_show_thread(p, prof_thread_of(p, l->thread), &w->text);
	if (p->events.n > 1) {
		buf_adds(&w->text, " ");
		buf_add(&w->text, event.p, event.len);
	}
	buf_inherit(b, &w->text);
	buf_adds(b, "{\"type\":\"sampled\"");
	json_text(b, "name", buf_str(&w->text), w->text.len);
	json_text(b, "event", event.p, event.len);
	json_text(b, "eventUnit", unit.p, unit.len);
	json_text(b, "unit", unit_of(unit), strlen(unit_of(unit)));
	json_num(b, "startValue", 0);
	json_num(b, "endValue", l->weight);
	json_key(b, "samples");
	for (uint32_t i = 0; i < l->n && !rc; i++) {
		buf_addc(b, i ? ',' : '[');
		rc = add_stack(w, l->runs[i].stack);
	}
	buf_adds(b, "],\n\"weights\":");
	for (uint32_t i = 0; i < l->n && !rc; i++) {
		buf_addc(b, i ? ',' : '[');
		buf_add_u64(b, l->runs[i].weight, 0, ' ');
		rc = conv_flush(w->c, b, CONV_BLOCK);
	}
	buf_adds(b, "]}");
	return rc;
}

static int by_weight(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

static int close_speedscope(void *ctx)
{
	struct writer *w = ctx;
	struct buf *b = &w->b;
	int rc;

	/* The list in the viewer begins with those that have most. */
	if (w->runs.n)
		qsort(w->runs.v, w->runs.n, sizeof(*w->runs.v), by_weight);
	buf_addf(b,
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		 "\"exporter\":\"perfpipe@%s\",\n\"activeProfileIndex\":0",
		 pp_version);
	conv_add_comment(w->c, &w->text);
	json_text(b, "name", buf_str(&w->text), w->text.len);
	rc = put_frames(w);
	buf_adds(b, "\"profiles\":[\n");
	for (uint32_t i = 0; i < w->runs.n && !rc; i++) {
		buf_adds(b, i ? ",\n" : "");
		rc = put_profile(w, &w->runs.v[i]);
	}
	buf_adds(b, "]}\n");
	return rc ? rc : conv_flush(w->c, b, 0);
}

static void free_speedscope(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	tracks_release(&w->runs);
	buf_release(&w->b);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_speedscope = {
	.open = open_speedscope,
	.sample = sample,
	.close = close_speedscope,
	.free = free_speedscope,
};
