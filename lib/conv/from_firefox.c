/*
 * Reads processed profiles of the Firefox profiler: those that have their tables in each thread
 * (up to version 59) and those that share them (from 60 on).
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "conv/json_reader.h"

#include <stdlib.h>

#define NONE   JSON_NONE
#define MAKING UINT32_MAX /* of stacks: what it stands on is looked for */

struct column {
	uint32_t *v, n, cap;
};

/* Where the tables begin that a thread uses, its own or those of all; NULL: nowhere. */
struct tables {
	struct json stacks, frames, functions, resources, strings;
};

struct input {
	struct conv *c;
	const struct conv_input *in;
	struct buf text, shown, file;
	struct tables shared;
	struct ps_str *strings;
	uint32_t nstrings, strings_cap;
	struct buf decoded; /* of strings with escapes */
	struct column frame, prefix, func, line, depth, name, resource, source, resource_name;
	uint32_t *frames, *stacks; /* by place: numbers of the profile + 1 */
	uint32_t nframes, nstacks;
	bool offsets; /* prefixes are how far back they are */
	bool strange;
	bool raw; /* as Firefox records it */
};

static uint32_t at(const struct column *c, uint32_t i)
{
	return i < c->n ? c->v[i] : NONE;
}

static int read_column(struct json *j, struct column *c)
{
	int rc = 0;

	for (c->n = 0, json_array(j); !rc && json_item(j); c->n++) {
		uint32_t *v = array_widen(c->v, &c->cap, c->n, 1024, sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		c->v = v;
		v[c->n] = json_place(j);
	}
	return rc;
}

struct named {
	const char *name;
	struct column *column;
};

/* The columns of a table that are wanted; one without a name ends them. */
static int read_table(struct json j, const struct named *wanted)
{
	struct ps_str key;
	int rc = 0;

	for (const struct named *w = wanted; w->name; w++)
		w->column->n = 0;
	if (!j.p)
		return 0;
	for (json_object(&j); !rc && json_member(&j, &key);) {
		const struct named *w = wanted;

		while (w->name && !json_is(key, w->name))
			w++;
		if (w->name)
			rc = read_column(&j, w->column);
		else
			json_skip(&j);
	}
	return rc;
}

/* All strings: their bytes are copied, as escapes are resolved in one buffer. */
static int read_strings(struct input *s, struct json j)
{
	size_t base = 0;

	s->nstrings = 0;
	buf_reset(&s->decoded);
	if (!j.p)
		return 0;
	for (json_array(&j); json_item(&j); s->nstrings++) {
		struct ps_str *v =
			array_widen(s->strings, &s->strings_cap, s->nstrings, 1024, sizeof(*v));
		struct ps_str text = json_str(&j);

		if (!v)
			return PP_ENOMEM;
		s->strings = v;
		buf_add(&s->decoded, text.p, text.len);
		v[s->nstrings] = ps_str(NULL, text.len);
	}
	if (s->decoded.err)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < s->nstrings; i++) {
		s->strings[i].p = buf_str(&s->decoded) + base;
		base += s->strings[i].len;
	}
	return 0;
}

static struct ps_str string(struct input *s, uint32_t i)
{
	s->strange |= i != NONE && i >= s->nstrings;
	return i < s->nstrings ? s->strings[i] : ps_str("", 0);
}

/* Where the tables are in an object. */
static void find_tables(struct json j, struct tables *t)
{
	struct ps_str key;

	for (json_object(&j); json_member(&j, &key); json_skip(&j)) {
		struct json *place = json_is(key, "stackTable")	     ? &t->stacks
				     : json_is(key, "frameTable")    ? &t->frames
				     : json_is(key, "funcTable")     ? &t->functions
				     : json_is(key, "resourceTable") ? &t->resources
				     : json_is(key, "stringArray")   ? &t->strings
								     : NULL;

		if (place)
			*place = j;
	}
}

static int read_tables(struct input *s, const struct tables *t)
{
	struct column offset = {0};
	int rc = read_strings(s, t->strings);

	if (!rc)
		rc = read_table(t->stacks, (const struct named[]){{"frame", &s->frame},
								  {"prefix", &s->prefix},
								  {"prefixOffset", &offset},
								  {0}});
	s->offsets = offset.n != 0;
	if (s->offsets) {
		free(s->prefix.v);
		s->prefix = offset;
	}
	if (!rc)
		rc = read_table(t->frames, (const struct named[]){{"func", &s->func},
								  {"line", &s->line},
								  {"inlineDepth", &s->depth},
								  {0}});
	if (!rc)
		rc = read_table(t->functions, (const struct named[]){{"name", &s->name},
								     {"resource", &s->resource},
								     {"fileName", &s->source},
								     {0}});
	if (!rc)
		rc = read_table(t->resources,
				(const struct named[]){{"name", &s->resource_name}, {0}});
	free(s->frames);
	free(s->stacks);
	s->nframes = s->func.n;
	s->nstacks = s->frame.n;
	s->frames = calloc(s->nframes + 1u, sizeof(*s->frames));
	s->stacks = calloc(s->nstacks + 1u, sizeof(*s->stacks));
	return rc ? rc : s->frames && s->stacks ? 0 : PP_ENOMEM;
}

/* A frame of a name, with all that is known of it. */
static int make_frame(struct input *s, uint32_t place, uint32_t *id)
{
	uint32_t func = at(&s->func, place), depth = at(&s->depth, place),
		 line = at(&s->line, place);
	struct ps_str name = string(s, at(&s->name, func));
	struct ps_str path = string(s, at(&s->resource_name, at(&s->resource, func)));
	struct ps_str file = string(s, at(&s->source, func));
	struct prof_frame f;
	int rc;

	s->strange |= func >= s->name.n || at(&s->name, func) == NONE;
	rc = prof_shown(s->c->p, name, path, 0, id);
	if (rc)
		return rc;
	f = *prof_frame_of(s->c->p, *id);
	f.flags |= depth && depth < JSON_NOWHERE ? PROF_FRAME_INLINED : 0;
	f.line = line < INT32_MAX ? line : 0;
	rc = prof_text(s->c->p, file.p, file.len, &f.file);
	return rc ? rc : prof_frame(s->c->p, &f, id);
}

/*
 * The stack of a place. What it stands on is made first; each is made once, so that this ends,
 * also where they stand on each other in a circle.
 */
static int make_stack(struct input *s, uint32_t place, uint32_t *stack)
{
	uint32_t frame, up, n = 0, *path;
	int rc = 0;

	buf_reset(&s->shown);
	for (up = place; up < s->nstacks && !s->stacks[up]; n++) {
		uint32_t prefix = at(&s->prefix, up);

		buf_add(&s->shown, &up, sizeof(up));
		/* A circle comes back here, where it ends. */
		s->stacks[up] = MAKING;
		if (s->offsets)
			up = !prefix || prefix == NONE ? NONE
			     : prefix <= up	       ? up - prefix
						       : JSON_NOWHERE;
		else
			up = prefix;
	}
	*stack = up < s->nstacks && s->stacks[up] != MAKING ? s->stacks[up] - 1 : 0;
	s->strange |= up != NONE && (up >= s->nstacks || s->stacks[up] == MAKING);
	path = (uint32_t *)(void *)s->shown.data;
	rc = s->shown.err;
	while (n-- && !rc) {
		frame = at(&s->frame, path[n]);
		if (frame >= s->nframes) {
			s->strange = true;
		} else {
			rc = s->frames[frame] ? 0 : make_frame(s, frame, &s->frames[frame]);
			if (!rc)
				rc = prof_push(s->c->p, *stack, s->frames[frame], stack);
		}
		s->stacks[path[n]] = *stack + 1;
	}
	return rc;
}

static int stack_of(struct input *s, uint32_t place, uint32_t *stack)
{
	*stack = 0;
	if (place == NONE)
		return 0;
	s->strange |= place >= s->nstacks;
	if (place < s->nstacks && s->stacks[place]) {
		*stack = s->stacks[place] - 1;
		return 0;
	}
	return place < s->nstacks ? make_stack(s, place, stack) : 0;
}

/* ---- threads ---- */

struct thread {
	struct prof_sample sample;
	struct json samples;
	struct ps_str name, event, unit;
	struct buf names; /* what they point into */
	uint32_t pid, tid;
	bool ms;
};

/* The next of a column that is as long as that of stacks, if it is there. */
static double next_number(struct input *s, struct json *j, bool *there)
{
	double v = 0;

	*there = j->p && json_item(j);
	s->strange |= (j->p && !*there) || (*there && !json_number(j, &v));
	return v;
}

static int read_samples(struct input *s, struct thread *t)
{
	struct json stacks = {0}, times = {0}, deltas = {0}, weights = {0}, j = t->samples;
	struct ps_str key;
	double time = 0, weight, delta;
	bool timed, weighted, stepped;
	int rc = 0;

	for (json_object(&j); json_member(&j, &key); json_skip(&j)) {
		struct json *place = json_is(key, "stack")	  ? &stacks
				     : json_is(key, "time")	  ? &times
				     : json_is(key, "timeDeltas") ? &deltas
				     : json_is(key, "weight")	  ? &weights
								  : NULL;

		s->raw |= json_is(key, "schema");
		/* Which is null if each sample weighs one. */
		if (place && json_peek(&j) == '[')
			*place = j, json_array(place);
	}
	while (!rc && stacks.p && json_item(&stacks)) {
		uint32_t stack = json_place(&stacks);

		delta = next_number(s, &deltas, &stepped);
		time = stepped ? time + delta : next_number(s, &times, &timed);
		timed = stepped || times.p;
		weight = next_number(s, &weights, &weighted);
		weight = weighted ? weight * (t->ms ? 1e6 : 1) : 1;
		t->sample.timed = timed;
		t->sample.time = time > 0 ? (uint64_t)(time * 1e6 + 0.5) : 0;
		t->sample.weight = weight <= 0	      ? 0
				   : weight >= 0x1p63 ? INT64_MAX
						      : (uint64_t)(weight + 0.5);
		t->sample.count = 1;
		/* Weights below 0 are memory that was freed. */
		s->strange |= weight < 0;
		rc = stack_of(s, stack, &t->sample.stack);
		if (!rc && t->sample.weight)
			rc = conv_give(s->c, &t->sample);
	}
	s->strange |= stacks.bad || times.bad || weights.bad || deltas.bad ||
		      (weights.p && json_item(&weights));
	return rc;
}

/* A number, or a text that is one. */
static uint32_t read_id(struct json *j)
{
	char digits[16] = "";
	struct ps_str text;
	uint64_t v;

	if (json_peek(j) != '"') {
		v = json_u64(j);
	} else {
		text = json_str(j);
		memcpy(digits, text.p, text.len < 15 ? text.len : 15);
		v = strtoull(digits, NULL, 10);
	}
	return v < PS_NONE ? (uint32_t)v : PS_NONE;
}

/* What is told of a thread; texts are kept in its buffer. */
static int read_head(struct thread *t, struct json *j, struct tables *tables)
{
	struct buf kept[4] = {{0}};
	struct ps_str key, text;
	int rc = 0;

	find_tables(*j, tables);
	for (json_object(j); json_member(j, &key);) {
		int k = json_is(key, "name")	    ? 0
			: json_is(key, "comm")	    ? 1
			: json_is(key, "event")	    ? 2
			: json_is(key, "eventUnit") ? 3
						    : -1;

		if (k >= 0) {
			text = json_str(j);
			buf_reset(&kept[k]);
			buf_add(&kept[k], text.p, text.len);
		} else if (json_is(key, "pid")) {
			t->pid = read_id(j);
		} else if (json_is(key, "tid")) {
			t->tid = read_id(j);
		} else {
			if (json_is(key, "samples"))
				t->samples = *j;
			json_skip(j);
		}
	}
	if (!kept[1].len)
		buf_join(&kept[1], &kept[0]);
	for (int k = 1; k < 4; k++) {
		buf_join(&t->names, &kept[k]);
		rc = rc ? rc : t->names.err;
	}
	t->name = ps_str(buf_str(&t->names), kept[1].len);
	t->event = ps_str(t->name.p + kept[1].len, kept[2].len);
	t->unit = ps_str(t->event.p + kept[2].len, kept[3].len);
	for (int k = 0; k < 4; k++)
		buf_release(&kept[k]);
	return rc;
}

/* Whether the weights of samples are milliseconds. */
static bool in_ms(struct json j)
{
	struct ps_str key;
	bool ms = false;

	if (!j.p)
		return false;
	for (json_object(&j); json_member(&j, &key);) {
		if (json_is(key, "weightType"))
			ms = json_is(json_str(&j), "tracing-ms");
		else
			json_skip(&j);
	}
	return ms;
}

static int read_thread(struct input *s, struct json *j)
{
	struct thread t = {.sample = {.cpu = PS_NONE}, .pid = PS_NONE, .tid = PS_NONE};
	struct tables own = s->shared;
	struct prof_thread thread = {0};
	int rc = read_head(&t, j, &own);

	t.ms = in_ms(t.samples);
	thread.pid = t.pid;
	thread.tid = t.tid;
	if (!rc)
		rc = prof_text(s->c->p, t.name.p, t.name.len, &thread.comm);
	if (!rc)
		rc = prof_thread(s->c->p, &thread, &t.sample.thread);
	if (!rc)
		rc = prof_named_event(s->c->p, t.event, t.ms ? ps_str("ns", 2) : t.unit,
				      &t.sample.event);
	if (!rc && !j->bad && t.samples.p) {
		rc = read_tables(s, &own);
		if (!rc)
			rc = read_samples(s, &t);
	}
	buf_release(&t.names);
	return rc;
}

static void release(struct input *s)
{
	struct column *columns[] = {&s->frame,	&s->prefix,   &s->func,
				    &s->line,	&s->depth,    &s->name,
				    &s->source, &s->resource, &s->resource_name};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		free(columns[i]->v);
	free(s->strings);
	free(s->frames);
	free(s->stacks);
	buf_release(&s->text);
	buf_release(&s->shown);
	buf_release(&s->file);
	buf_release(&s->decoded);
}

int conv_from_firefox(struct conv *c, const struct conv_input *in)
{
	struct input s = {.c = c, .in = in};
	struct json j = json_make(in->bytes, in->n, &s.text), first = j;
	struct ps_str key;
	int rc = 0;

	for (json_object(&first); json_member(&first, &key); json_skip(&first))
		if (json_is(key, "shared"))
			find_tables(first, &s.shared);
	for (json_object(&j); !rc && json_member(&j, &key);) {
		if (json_is(key, "threads"))
			for (json_array(&j); !rc && json_item(&j);)
				rc = read_thread(&s, &j);
		else
			json_skip(&j);
	}
	if (!rc && s.raw) {
		diag_error(c->d, in->name, -1,
			   "is a profile as Firefox records it: open it at "
			   "profiler.firefox.com, and download it from there");
		rc = PP_EUNSUPPORTED;
	}
	rc = conv_json_status(c, in, rc, &j, s.strange);
	release(&s);
	return rc;
}

bool conv_is_firefox(const uint8_t *bytes, size_t n)
{
	return json_has(bytes, n, "meta", "threads");
}
