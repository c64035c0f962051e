/*
 * Writes the processed format of the Firefox profiler, version 57: older than the current one on
 * purpose, since the profiler reads all older ones but refuses later ones, and the tables are those
 * of each thread up to there. A thread has the samples of one event.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "base/json.h"
#include "conv/tracks.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

struct function {
	uint32_t name, dso, file;
};

/* Numbers of one thread's tables, by those of the profile: + 1; 0: none yet. */
struct local {
	uint32_t *v, n;
	struct buf list; /* those that have one, in their order */
};

struct writer {
	struct conv *c;
	struct tracks tracks;
	struct local stacks, frames;
	struct intern functions;
	struct buf b, text;
};

static int open_firefox(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (!w)
		return PP_ENOMEM;
	w->c = c;
	w->tracks.apart = true;
	return 0;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;

	return track_add(&w->tracks, s);
}

/* ---- the numbers of a thread ---- */

static uint32_t count(const struct local *l)
{
	return (uint32_t)(l->list.len / sizeof(uint32_t));
}

static uint32_t item(const struct local *l, uint32_t i)
{
	return ((const uint32_t *)(const void *)l->list.data)[i];
}

/* The place of a number; what has none gets one. */
static int number(struct local *l, uint32_t id, uint32_t *place)
{
	uint32_t *v = array_widen(l->v, &l->n, id, 1024, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	l->v = v;
	if (!v[id]) {
		buf_add(&l->list, &id, sizeof(id));
		v[id] = count(l);
	}
	*place = v[id] - 1;
	return l->list.err;
}

static void forget(struct local *l)
{
	for (uint32_t i = 0; i < count(l); i++)
		l->v[item(l, i)] = 0;
	buf_reset(&l->list);
}

static bool is_known(const struct local *l, uint32_t id)
{
	return id < l->n && l->v[id];
}

/* A stack and all that it stands on, which come first. */
static int number_stack(struct writer *w, uint32_t stack)
{
	uint32_t frame, place, n = 0;
	int rc = 0;

	buf_reset(&w->text);
	for (; stack && !is_known(&w->stacks, stack); n++) {
		buf_add(&w->text, &stack, sizeof(stack));
		stack = prof_up(w->c->p, stack, &frame);
	}
	rc = w->text.err;
	while (n-- && !rc) {
		stack = ((const uint32_t *)(const void *)w->text.data)[n];
		rc = number(&w->stacks, stack, &place);
		(void)prof_up(w->c->p, stack, &frame);
		if (!rc)
			rc = number(&w->frames, frame, &place);
	}
	return rc;
}

/* ---- columns ---- */

static void begin_column(struct writer *w, const char *name)
{
	json_key(&w->b, name);
	buf_addc(&w->b, '[');
}

static int end_column(struct writer *w)
{
	/* After the comma of the last one. */
	if (w->b.len && w->b.data[w->b.len - 1] == ',')
		w->b.len--;
	buf_adds(&w->b, "]\n");
	return w->b.err;
}

static void add(struct writer *w, uint64_t v)
{
	buf_add_u64(&w->b, v, 0, ' ');
	buf_addc(&w->b, ',');
}

static void add_null(struct writer *w)
{
	buf_adds(&w->b, "null,");
}

/* n times the same. */
static int fill(struct writer *w, const char *name, uint32_t n, const char *value)
{
	begin_column(w, name);
	while (n--) {
		buf_adds(&w->b, value);
		buf_addc(&w->b, ',');
	}
	return end_column(w);
}

/* Nanoseconds as milliseconds. */
static void add_ms(struct writer *w, uint64_t ns)
{
	buf_add_u64(&w->b, ns / 1000000, 0, ' ');
	if (ns % 1000000) {
		buf_addc(&w->b, '.');
		buf_add_u64(&w->b, ns % 1000000, 6, '0');
	}
	buf_addc(&w->b, ',');
}

static int put_samples(struct writer *w, const struct track *t)
{
	const struct prof_event *e = prof_event_of(w->c->p, t->event);
	struct ps_str unit = prof_str(w->c->p, e->unit);
	bool time = prof_unit_ns(unit) == 1;
	int rc;

	buf_adds(&w->b, ",\"samples\":{");
	begin_column(w, "stack");
	for (uint32_t i = 0; i < t->n; i++)
		t->runs[i].stack ? add(w, w->stacks.v[t->runs[i].stack] - 1) : add_null(w);
	rc = end_column(w);
	begin_column(w, "time");
	for (uint32_t i = 0; i < t->n; i++)
		add_ms(w, t->timed ? t->runs[i].time - w->c->account.first : i * 1000000ull);
	rc = rc ? rc : end_column(w);
	begin_column(w, "weight");
	for (uint32_t i = 0; i < t->n; i++)
		time ? add_ms(w, t->runs[i].weight) : add(w, t->runs[i].weight);
	rc = rc ? rc : end_column(w);
	json_text(&w->b, "weightType", time ? "tracing-ms" : "samples",
		  strlen(time ? "tracing-ms" : "samples"));
	json_num(&w->b, "length", t->n);
	buf_addc(&w->b, '}');
	return rc ? rc : conv_flush(w->c, &w->b, CONV_BLOCK);
}

static uint32_t category(const struct prof_frame *f)
{
	return f->flags & PROF_FRAME_KERNEL ? CATEGORY_KERNEL
	       : f->flags & PROF_FRAME_MARK ? CATEGORY_OTHER
					    : CATEGORY_USER;
}

static int put_stacks(struct writer *w)
{
	uint32_t n = count(&w->stacks), frame, up;
	int rc;

	buf_adds(&w->b, ",\"stackTable\":{");
	begin_column(w, "frame");
	for (uint32_t i = 0; i < n; i++) {
		(void)prof_up(w->c->p, item(&w->stacks, i), &frame);
		add(w, w->frames.v[frame] - 1);
	}
	rc = end_column(w);
	begin_column(w, "prefix");
	for (uint32_t i = 0; i < n; i++) {
		up = prof_up(w->c->p, item(&w->stacks, i), &frame);
		up ? add(w, w->stacks.v[up] - 1) : add_null(w);
	}
	rc = rc ? rc : end_column(w);
	begin_column(w, "category");
	for (uint32_t i = 0; i < n; i++) {
		(void)prof_up(w->c->p, item(&w->stacks, i), &frame);
		add(w, category(prof_frame_of(w->c->p, frame)));
	}
	rc = rc ? rc : end_column(w);
	fill(w, "subcategory", n, "0");
	json_num(&w->b, "length", n);
	buf_addc(&w->b, '}');
	return rc ? rc : conv_flush(w->c, &w->b, CONV_BLOCK);
}

/* The function of a frame, by its name as it is shown. */
static int function_of(struct writer *w, const struct prof_frame *f, uint32_t *id)
{
	struct function key = {.dso = f->dso, .file = f->file};
	struct prof_frame plain = *f;
	int rc;

	plain.flags &= ~PROF_FRAME_INLINED; /* there is a field for that */
	buf_reset(&w->text);
	prof_show(w->c->p, &plain, &w->text);
	rc = w->text.err ? w->text.err
			 : prof_text(w->c->p, buf_str(&w->text), w->text.len, &key.name);
	return rc ? rc : intern_add(&w->functions, &key, sizeof(key), id, NULL);
}

static int put_frames(struct writer *w)
{
	uint32_t n = count(&w->frames), id;
	int rc = 0;

	buf_adds(&w->b, ",\"frameTable\":{");
	begin_column(w, "func");
	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = function_of(w, prof_frame_of(w->c->p, item(&w->frames, i)), &id);
		if (!rc)
			add(w, id - 1);
	}
	rc = rc ? rc : end_column(w);
	begin_column(w, "line");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t line = prof_frame_of(w->c->p, item(&w->frames, i))->line;

		line ? add(w, line) : add_null(w);
	}
	rc = rc ? rc : end_column(w);
	begin_column(w, "inlineDepth");
	for (uint32_t i = 0; i < n; i++)
		add(w,
		    (prof_frame_of(w->c->p, item(&w->frames, i))->flags & PROF_FRAME_INLINED) != 0);
	rc = rc ? rc : end_column(w);
	begin_column(w, "category");
	for (uint32_t i = 0; i < n; i++)
		add(w, category(prof_frame_of(w->c->p, item(&w->frames, i))));
	rc = rc ? rc : end_column(w);
	fill(w, "address", n, "-1");
	fill(w, "subcategory", n, "0");
	fill(w, "nativeSymbol", n, "null");
	fill(w, "innerWindowID", n, "0");
	fill(w, "column", n, "null");
	json_num(&w->b, "length", n);
	buf_addc(&w->b, '}');
	return rc ? rc : conv_flush(w->c, &w->b, CONV_BLOCK);
}

static const struct function *function_at(const struct writer *w, uint32_t id)
{
	return (const struct function *)(const void *)intern_get(&w->functions, id, NULL);
}

/* The resources of a thread are the libraries, of which all have the same. */
static int put_functions(struct writer *w)
{
	uint32_t n = w->functions.n, dsos = w->c->p->dsos.n;
	int rc;

	buf_adds(&w->b, ",\"funcTable\":{");
	begin_column(w, "name");
	for (uint32_t i = 1; i <= n; i++)
		add(w, function_at(w, i)->name);
	rc = end_column(w);
	begin_column(w, "resource");
	for (uint32_t i = 1; i <= n; i++)
		function_at(w, i)->dso ? add(w, function_at(w, i)->dso - 1)
				       : buf_adds(&w->b, "-1,");
	rc = rc ? rc : end_column(w);
	begin_column(w, "fileName");
	for (uint32_t i = 1; i <= n; i++)
		function_at(w, i)->file ? add(w, function_at(w, i)->file) : add_null(w);
	rc = rc ? rc : end_column(w);
	fill(w, "isJS", n, "false");
	fill(w, "relevantForJS", n, "false");
	fill(w, "lineNumber", n, "null");
	fill(w, "columnNumber", n, "null");
	json_num(&w->b, "length", n);
	buf_adds(&w->b, "},\"resourceTable\":{");
	begin_column(w, "lib");
	for (uint32_t i = 0; i < dsos; i++)
		add(w, i);
	rc = rc ? rc : end_column(w);
	begin_column(w, "name");
	for (uint32_t i = 1; i <= dsos; i++)
		add(w, prof_dso_of(w->c->p, i)->path);
	rc = rc ? rc : end_column(w);
	fill(w, "host", dsos, "null");
	fill(w, "type", dsos, "1");
	json_num(&w->b, "length", dsos);
	buf_addc(&w->b, '}');
	return rc ? rc : conv_flush(w->c, &w->b, CONV_BLOCK);
}

static int put_thread(struct writer *w, const struct track *t)
{
	const struct prof_thread *thread = prof_thread_of(w->c->p, t->thread);
	const struct prof_event *e = prof_event_of(w->c->p, t->event);
	struct ps_str comm = prof_str(w->c->p, thread->comm), event = prof_str(w->c->p, e->name);
	struct ps_str unit = prof_str(w->c->p, e->unit), process = prof_process(w->c->p, thread);
	uint32_t pid = thread->pid == PS_NONE ? 0 : thread->pid;
	int rc = 0;

	for (uint32_t i = 0; i < t->n && !rc; i++)
		rc = number_stack(w, t->runs[i].stack);
	buf_reset(&w->text);
	buf_add(&w->text, comm.p, comm.len);
	if (w->c->p->events.n > 1)
		buf_addf(&w->text, " (%.*s)", (int)event.len, event.p);
	buf_addc(&w->b, '{');
	json_text(&w->b, "name", buf_str(&w->text), w->text.len);
	json_text(&w->b, "comm", comm.p, comm.len);
	json_text(&w->b, "event", event.p, event.len);
	json_text(&w->b, "eventUnit", unit.p, unit.len);
	json_text(&w->b, "processName", process.p, process.len);
	buf_addf(&w->b,
		 ",\"processType\":\"default\",\"pid\":\"%u\",\"tid\":%u,\"isMainThread\":%s,"
		 "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
		 "\"unregisterTime\":null,\"pausedRanges\":[]",
		 pid, thread->tid == PS_NONE ? pid : thread->tid,
		 thread->pid == thread->tid ? "true" : "false");
	if (!rc)
		rc = put_samples(w, t);
	if (!rc)
		rc = put_stacks(w);
	if (!rc)
		rc = put_frames(w);
	if (!rc)
		rc = put_functions(w);
	buf_adds(&w->b, ",\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
			"\"phase\":[],\"category\":[],\"length\":0},\"nativeSymbols\":{"
			"\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
			"\"length\":0}}");
	forget(&w->stacks);
	forget(&w->frames);
	intern_release(&w->functions);
	w->functions = (struct intern)INTERN_INIT;
	return rc ? rc : conv_flush(w->c, &w->b, CONV_BLOCK);
}

/* ---- the profile ---- */

static void put_libs(struct writer *w)
{
	struct prof *p = w->c->p;

	buf_adds(&w->b, ",\n\"libs\":[");
	for (uint32_t i = 1; i <= p->dsos.n; i++) {
		const struct prof_dso *d = prof_dso_of(p, i);
		struct ps_str path = prof_str(p, d->path), name = prof_file_name(path);
		struct ps_str id = prof_str(p, d->build_id);

		buf_adds(&w->b, i > 1 ? ",\n{" : "{");
		json_text(&w->b, "name", name.p, name.len);
		json_text(&w->b, "path", path.p, path.len);
		json_text(&w->b, "debugName", name.p, name.len);
		json_text(&w->b, "debugPath", path.p, path.len);
		json_text(&w->b, "codeId", id.p, id.len);
		buf_adds(&w->b, ",\"breakpadId\":\"\",\"arch\":\"\"}");
	}
	buf_addc(&w->b, ']');
}

static void put_meta(struct writer *w)
{
	const struct conv *c = w->c;
	uint64_t start = c->wall_offset ? c->account.first + (uint64_t)c->wall_offset : 0;

	buf_adds(&w->b, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":57,");
	buf_adds(&w->b, "\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"interval\":1,"
			"\"markerSchema\":[],\"startTime\":");
	add_ms(w, start);
	buf_adds(&w->b,
		 "\"categories\":["
		 "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		 "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		 "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]");
	buf_reset(&w->text);
	conv_add_comment(c, &w->text);
	json_text(&w->b, "product", "perfpipe", 8);
	json_text(&w->b, "arguments", buf_str(&w->text), w->text.len);
	buf_addc(&w->b, '}');
}

static int put_strings(struct writer *w)
{
	int rc = 0;

	buf_adds(&w->b, "],\n\"shared\":{\"stringArray\":[\"\"");
	for (uint32_t i = 1; i <= w->c->p->texts.n && !rc; i++) {
		struct ps_str s = prof_str(w->c->p, i);

		buf_adds(&w->b, ",\n");
		buf_add_json(&w->b, s.p, s.len);
		rc = conv_flush(w->c, &w->b, CONV_BLOCK);
	}
	buf_adds(&w->b, "]}}\n");
	return rc ? rc : conv_flush(w->c, &w->b, 0);
}

static int close_firefox(void *ctx)
{
	struct writer *w = ctx;
	int rc = 0;

	put_meta(w);
	put_libs(w);
	buf_adds(&w->b, ",\n\"threads\":[");
	for (uint32_t i = 0; i < w->tracks.n && !rc; i++) {
		buf_adds(&w->b, i ? ",\n" : "\n");
		rc = put_thread(w, &w->tracks.v[i]);
	}
	return rc ? rc : put_strings(w);
}

static void free_firefox(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	tracks_release(&w->tracks);
	free(w->stacks.v);
	free(w->frames.v);
	buf_release(&w->stacks.list);
	buf_release(&w->frames.list);
	intern_release(&w->functions);
	buf_release(&w->b);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_firefox = {
	.open = open_firefox,
	.sample = sample,
	.close = close_firefox,
	.free = free_firefox,
};
