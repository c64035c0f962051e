/*
 * Reads Chrome's trace events and V8's .cpuprofile: the samples of CPU profiles; if there are none,
 * how long each slice was the innermost of its thread.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "conv/json_reader.h"
#include "conv/slices.h"

#include <stdio.h>
#include <stdlib.h>

#define MAKING UINT32_MAX /* of a node's stack: what it stands on is looked for */
#define LISTED UINT32_MAX /* in the place of a profile's number: of "stackFrames" */

/* A node of a profile's call tree. */
struct node {
	uint32_t parent, frame; /* numbers; 0: none */
	uint32_t stack;		/* number + 1; 0: not yet known */
	bool defined;
};

struct profile {
	struct prof_sample sample; /* the last one, which lasts until the next */
	uint64_t time;		   /* us, of that */
	bool begun;
};

struct input {
	struct conv *c;
	struct buf text, name, url, id;
	struct intern keys; /* of nodes: profile and id */
	struct node *nodes;
	uint32_t nnodes;
	struct intern ids; /* of profiles: their process and id */
	struct profile *profiles;
	uint32_t nprofiles;
	struct map64 names; /* pid and tid: text; of processes with a tid of PS_NONE */
	struct slices *slices;
	bool strange, sampled;
};

/* The members of an event that matter. */
struct event {
	char ph;
	uint32_t pid, tid;
	double ts, dur;
	struct json args;
};

static void keep(struct json *j, struct buf *b)
{
	struct ps_str s = json_str(j);

	buf_reset(b);
	buf_add(b, s.p, s.len);
}

static uint32_t id_of(struct json *j)
{
	uint64_t v = json_u64(j);

	return v < PS_NONE ? (uint32_t)v : PS_NONE;
}

/* An event, with its name and id in the buffers. */
static struct event take_event(struct input *s, struct json *j)
{
	struct event e = {.pid = PS_NONE, .tid = PS_NONE};
	struct ps_str key;

	buf_reset(&s->name);
	buf_reset(&s->id);
	for (json_object(j); json_member(j, &key);) {
		if (json_is(key, "ph")) {
			struct ps_str ph = json_str(j);

			e.ph = ph.len ? *ph.p : 0;
		} else if (json_is(key, "name")) {
			keep(j, &s->name);
		} else if (json_is(key, "id")) {
			keep(j, &s->id);
		} else if (json_is(key, "pid")) {
			e.pid = id_of(j);
		} else if (json_is(key, "tid")) {
			e.tid = id_of(j);
		} else if (json_is(key, "ts")) {
			e.ts = json_double(j);
		} else if (json_is(key, "dur")) {
			e.dur = json_double(j);
		} else {
			if (json_is(key, "args"))
				e.args = *j;
			json_skip(j);
		}
	}
	return e;
}

static bool is_name(const struct input *s, const char *name)
{
	return json_is(ps_str(buf_str(&s->name), s->name.len), name);
}

/* The place of a member of an object within an object; p of NULL: it is not there. */
static struct json member(struct json j, const char *name)
{
	struct ps_str key;

	if (!j.p)
		return j;
	for (json_object(&j); json_member(&j, &key); json_skip(&j))
		if (json_is(key, name))
			return j;
	j.p = NULL;
	return j;
}

static int take_name(struct input *s, const struct event *e)
{
	bool process = is_name(s, "process_name");
	struct json name = member(e->args, "name");
	struct ps_str text;
	uint32_t *slot;

	if (!name.p || (!process && !is_name(s, "thread_name")))
		return 0;
	text = json_str(&name);
	slot = map64_put(&s->names, (uint64_t)e->pid << 32 | (process ? PS_NONE : e->tid), NULL);
	return slot ? prof_text(s->c->p, text.p, text.len, slot) : PP_ENOMEM;
}

static int thread_of(struct input *s, const struct event *e, uint32_t *thread)
{
	struct prof_thread t = {e->pid, e->tid, 0};
	const uint32_t *name = map64_get(&s->names, (uint64_t)e->pid << 32 | e->tid);
	const uint32_t *process = map64_get(&s->names, (uint64_t)e->pid << 32 | PS_NONE);
	int rc = process ? prof_name_process(s->c->p, e->pid, *process) : 0;

	name = name ? name : process;
	t.comm = name ? *name : 0;
	return rc ? rc : prof_thread(s->c->p, &t, thread);
}

/* ---- profiles ---- */

/* The number of a node. */
static int node_of(struct input *s, uint32_t profile, uint64_t id, uint32_t *number)
{
	const uint64_t key[2] = {profile, id};
	int rc = intern_add(&s->keys, key, sizeof(key), number, NULL);
	struct node *v = rc ? NULL : array_widen(s->nodes, &s->nnodes, *number, 1024, sizeof(*v));

	if (!v)
		return rc ? rc : PP_ENOMEM;
	s->nodes = v;
	return 0;
}

static int take_frame(struct input *s, struct json *j, uint32_t *frame)
{
	struct ps_str key, name;
	uint64_t line = 0;

	buf_reset(&s->name);
	buf_reset(&s->url);
	for (json_object(j); json_member(j, &key);) {
		if (json_is(key, "functionName"))
			keep(j, &s->name);
		else if (json_is(key, "url"))
			keep(j, &s->url);
		else if (json_is(key, "lineNumber") && json_peek(j) == '0' && *j->p != '-')
			line = json_u64(j) + 1;
		else
			json_skip(j);
	}
	if (s->name.err || s->url.err)
		return PP_ENOMEM;
	name = s->name.len ? ps_str(buf_str(&s->name), s->name.len) : ps_str("(anonymous)", 11);
	*frame = 0;
	/* What all have is no function. */
	return json_is(name, "(root)")
		       ? 0
		       : prof_shown(s->c->p, name, ps_str(buf_str(&s->url), s->url.len), line,
				    frame);
}

static int take_node(struct input *s, struct json *j, uint32_t profile)
{
	struct json children = {0}, frame = {0};
	uint32_t number, child, parent = 0;
	struct ps_str key;
	uint64_t id = 0;
	int rc = 0;

	for (json_object(j); !rc && json_member(j, &key);) {
		if (json_is(key, "id")) {
			id = json_u64(j);
		} else if (json_is(key, "parent")) {
			rc = node_of(s, profile, json_u64(j), &parent);
		} else {
			if (json_is(key, "callFrame"))
				frame = *j;
			else if (json_is(key, "children"))
				children = *j;
			json_skip(j);
		}
	}
	if (!rc)
		rc = node_of(s, profile, id, &number);
	if (rc)
		return rc;
	s->nodes[number].defined = true;
	if (parent)
		s->nodes[number].parent = parent;
	if (frame.p)
		rc = take_frame(s, &frame, &s->nodes[number].frame);
	if (children.p)
		for (json_array(&children); !rc && json_item(&children);) {
			rc = node_of(s, profile, json_u64(&children), &child);
			if (!rc)
				s->nodes[child].parent = number;
		}
	return rc;
}

/* The stack of a node. A circle ends where it would be closed. */
static int stack_of(struct input *s, uint32_t number, uint32_t *stack)
{
	struct buf *path = &s->url;
	uint32_t node = number, at;
	int rc = 0;

	buf_reset(path);
	while (node && !s->nodes[node].stack) {
		s->strange |= !s->nodes[node].defined;
		s->nodes[node].stack = MAKING;
		buf_add(path, &node, sizeof(node));
		node = s->nodes[node].parent;
	}
	s->strange |= node && s->nodes[node].stack == MAKING;
	*stack = node && s->nodes[node].stack != MAKING ? s->nodes[node].stack - 1 : 0;
	for (size_t i = path->len / sizeof(at); i-- && !rc && !path->err;) {
		memcpy(&at, path->data + i * sizeof(at), sizeof(at));
		if (s->nodes[at].frame)
			rc = prof_push(s->c->p, *stack, s->nodes[at].frame, stack);
		s->nodes[at].stack = *stack + 1;
	}
	return rc ? rc : path->err;
}

/* The profile of the id in the buffer. */
static int profile_of(struct input *s, const struct event *e, uint32_t *profile)
{
	struct profile *v;
	int rc;

	if (!s->id.len)
		buf_addf(&s->id, "%u", e->tid);
	buf_addf(&s->id, ":%u", e->pid);
	rc = s->id.err ? s->id.err : intern_add(&s->ids, s->id.data, s->id.len, profile, NULL);
	v = rc ? NULL : array_widen(s->profiles, &s->nprofiles, *profile, 16, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	s->profiles = v;
	return 0;
}

/* What `data` of a Profile says. */
static int begin_profile(struct input *s, uint32_t profile, struct json data, uint32_t thread)
{
	struct profile *q = &s->profiles[profile];
	struct json event = member(data, "event"), unit = member(data, "unit");
	struct json start = member(data, "startTime"), comm = member(data, "thread");
	struct prof_thread t = *prof_thread_of(s->c->p, thread);
	struct ps_str text = comm.p ? json_str(&comm) : ps_str("", 0);
	int rc = text.len ? prof_text(s->c->p, text.p, text.len, &t.comm) : 0;

	if (!rc)
		rc = prof_thread(s->c->p, &t, &thread);
	if (rc)
		return rc;
	q->sample = (struct prof_sample){.thread = thread, .cpu = PS_NONE, .timed = true};
	q->time = start.p ? json_u64(&start) : 0;
	if (event.p)
		keep(&event, &s->name);
	if (unit.p)
		keep(&unit, &s->url);
	q->begun = true;
	return prof_named_event(
		s->c->p, event.p ? ps_str(buf_str(&s->name), s->name.len) : ps_str("", 0),
		unit.p ? ps_str(buf_str(&s->url), s->url.len) : ps_str("ns", 2), &q->sample.event);
}

/* The sample before the next one, or the end, at a time. */
static int give_last(struct input *s, struct profile *q, uint64_t until)
{
	if (!q->sample.count)
		return 0;
	q->sample.count = 0;
	q->sample.weight = until > q->time ? (until - q->time) * 1000 : 0;
	return q->sample.weight ? conv_give(s->c, &q->sample) : 0;
}

/* Samples, how long after the one before each was, and what they weigh if the file tells. */
static int take_samples(struct input *s, uint32_t profile, struct json samples, struct json deltas,
			struct json weights)
{
	struct profile *q = &s->profiles[profile];
	uint32_t number;
	bool more;
	int rc = 0;

	json_array(&samples);
	if (deltas.p)
		json_array(&deltas);
	if (weights.p)
		json_array(&weights);
	while (!rc && json_item(&samples)) {
		uint64_t id = json_u64(&samples);
		double delta = deltas.p && json_item(&deltas) ? json_double(&deltas) : 0;
		uint64_t time = q->time + (delta > 0 && delta < 0x1p52 ? (uint64_t)delta : 0);

		s->sampled = true;
		rc = give_last(s, q, time);
		if (!rc)
			rc = node_of(s, profile, id, &number);
		if (!rc)
			rc = stack_of(s, number, &q->sample.stack);
		q->time = time;
		q->sample.time = time < UINT64_MAX / 1000 ? time * 1000 : 0;
		q->sample.count = 1;
		if (rc || !weights.p)
			continue;
		more = json_item(&weights);
		s->strange |= !more;
		q->sample.weight = more ? json_u64(&weights) : 0;
		/* Nothing is what we put between those that are apart. */
		if (q->sample.weight)
			rc = conv_give(s->c, &q->sample);
		q->sample.count = 0;
	}
	s->strange |= samples.bad;
	return rc;
}

/* Nodes and samples of `profile`, with times beside them there or in `data`. */
static int take_profile(struct input *s, uint32_t profile, struct json tree, struct json data)
{
	struct json nodes = member(tree, "nodes"), samples = member(tree, "samples");
	struct json deltas = member(data, "timeDeltas"), end = member(data, "endTime");
	int rc = 0;

	if (nodes.p)
		for (json_array(&nodes); !rc && json_item(&nodes);)
			rc = take_node(s, &nodes, profile);
	if (!deltas.p)
		deltas = member(tree, "timeDeltas");
	if (!rc && samples.p)
		rc = take_samples(s, profile, samples, deltas, member(data, "weights"));
	return rc || !end.p ? rc : give_last(s, &s->profiles[profile], json_u64(&end));
}

/* ---- events ---- */

static int on_slice(struct input *s, const struct event *e)
{
	uint32_t thread, frame = 0;
	int rc = thread_of(s, e, &thread);

	if (!rc && e->ph != 'E')
		rc = prof_shown(s->c->p, ps_str(buf_str(&s->name), s->name.len), ps_str("", 0), 0,
				&frame);
	return rc ? rc : slices_add(s->slices, e->ph, thread, frame, e->ts, e->dur);
}

static int on_event(struct input *s, const struct event *e)
{
	struct json data = member(e->args, "data"), tree;
	bool whole = is_name(s, "CpuProfile");
	uint32_t profile, thread;
	int rc;

	if (e->ph == 'X' || e->ph == 'B' || e->ph == 'E')
		return on_slice(s, e);
	if (!whole && !is_name(s, "Profile") && !is_name(s, "ProfileChunk"))
		return 0;
	rc = profile_of(s, e, &profile);
	if (!rc && data.p && !s->profiles[profile].begun) {
		rc = thread_of(s, e, &thread);
		if (!rc)
			rc = begin_profile(s, profile, data, thread);
	}
	tree = member(data, "cpuProfile");
	return rc || !tree.p ? rc : take_profile(s, profile, tree, whole ? tree : data);
}

/* All events, first for names, which may come late. */
static int read_events(struct input *s, struct json j)
{
	int rc = 0;

	for (int pass = 0; pass < 2 && !rc; pass++) {
		struct json at = j;

		for (json_array(&at); !rc && json_item(&at);) {
			struct event e = take_event(s, &at);

			if (s->name.err || s->id.err)
				rc = PP_ENOMEM;
			else if (!pass && e.ph == 'M')
				rc = take_name(s, &e);
			else if (pass)
				rc = on_event(s, &e);
		}
	}
	return rc;
}

/* ---- "samples" and "stackFrames", which older tracers wrote ---- */

/* A number, also in quotes. */
static double take_number(struct json *j)
{
	char text[32] = "";
	struct ps_str s;

	if (json_peek(j) != '"')
		return json_double(j);
	s = json_str(j);
	if (s.len < sizeof(text))
		memcpy(text, s.p, s.len);
	return strtod(text, NULL);
}

/* The number of the frame of an id, a text or a number. */
static int listed_node(struct input *s, struct json *j, uint32_t *number)
{
	char digits[24];
	struct ps_str id;
	uint32_t text;
	int rc;

	if (json_peek(j) == '"') {
		id = json_str(j);
	} else {
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)json_u64(j));
		id = ps_str(digits, strlen(digits));
	}
	rc = prof_text(s->c->p, id.p, id.len, &text);
	return rc ? rc : node_of(s, LISTED, text, number);
}

static int take_listed_frame(struct input *s, struct json *j, uint32_t number)
{
	struct ps_str key;
	uint32_t parent = 0, frame;
	int rc = 0;

	buf_reset(&s->name);
	for (json_object(j); !rc && json_member(j, &key);) {
		if (json_is(key, "name"))
			keep(j, &s->name);
		else if (json_is(key, "parent"))
			rc = listed_node(s, j, &parent);
		else
			json_skip(j);
	}
	if (!rc)
		rc = s->name.err ? s->name.err
				 : prof_shown(s->c->p, ps_str(buf_str(&s->name), s->name.len),
					      ps_str("", 0), 0, &frame);
	if (!rc) {
		s->nodes[number].frame = frame;
		s->nodes[number].parent = parent;
		s->nodes[number].defined = true;
	}
	return rc;
}

static int take_listed_sample(struct input *s, struct json *j)
{
	struct prof_sample to = {.cpu = PS_NONE, .count = 1, .timed = true};
	struct event e = {.pid = PS_NONE, .tid = PS_NONE};
	uint32_t node = 0;
	struct ps_str key;
	double weight = 1, v;
	int rc = 0;

	buf_reset(&s->name);
	for (json_object(j); !rc && json_member(j, &key);) {
		bool pid = json_is(key, "pid");

		if (json_is(key, "name")) {
			keep(j, &s->name);
		} else if (json_is(key, "sf")) {
			rc = listed_node(s, j, &node);
		} else if (pid || json_is(key, "tid")) {
			v = take_number(j);
			*(pid ? &e.pid : &e.tid) = v >= 0 && v < PS_NONE ? (uint32_t)v : PS_NONE;
		} else if (json_is(key, "ts")) {
			v = take_number(j);
			to.time = v > 0 && v < 0x1p52 ? (uint64_t)(v * 1000 + 0.5) : 0;
		} else if (json_is(key, "weight")) {
			weight = take_number(j);
		} else {
			json_skip(j);
		}
	}
	to.weight = weight > 0 && weight < 0x1p62 ? (uint64_t)(weight + 0.5) : 0;
	if (!rc)
		rc = prof_named_event(s->c->p, ps_str(buf_str(&s->name), s->name.len),
				      ps_str("", 0), &to.event);
	if (!rc && node)
		rc = stack_of(s, node, &to.stack);
	if (!rc)
		rc = thread_of(s, &e, &to.thread);
	s->sampled = true;
	return rc ? rc : conv_give(s->c, &to);
}

static int read_listed(struct input *s, struct json frames, struct json samples)
{
	struct ps_str key;
	uint32_t number, text;
	int rc = 0;

	for (json_object(&frames); !rc && json_member(&frames, &key);) {
		rc = prof_text(s->c->p, key.p, key.len, &text);
		if (!rc)
			rc = node_of(s, LISTED, text, &number);
		if (!rc)
			rc = take_listed_frame(s, &frames, number);
	}
	for (json_array(&samples); !rc && json_item(&samples);)
		rc = take_listed_sample(s, &samples);
	return rc;
}

static int read_cpuprofile(struct input *s, struct json j)
{
	static const struct event e = {.pid = PS_NONE, .tid = PS_NONE};
	uint32_t profile, thread;
	int rc = profile_of(s, &e, &profile);

	if (!rc)
		rc = thread_of(s, &e, &thread);
	if (!rc)
		rc = begin_profile(s, profile, j, thread);
	return rc ? rc : take_profile(s, profile, j, j);
}

int conv_from_chrome(struct conv *c, const struct conv_input *in)
{
	struct input s = {.c = c};
	struct json j = json_make(in->bytes, in->n, &s.text), all = j, events = j;
	bool object = json_peek(&j) == '{';
	int rc = slices_new(&s.slices);

	if (object)
		events = member(j, "traceEvents");
	if (!rc)
		rc = events.p ? read_events(&s, events) : read_cpuprofile(&s, j);
	if (!rc && object && events.p && member(j, "stackFrames").p && member(j, "samples").p)
		rc = read_listed(&s, member(j, "stackFrames"), member(j, "samples"));
	for (uint32_t i = 0; i < s.nprofiles && !rc; i++)
		rc = give_last(&s, &s.profiles[i], s.profiles[i].time);
	if (!rc && !s.sampled)
		rc = slices_give(s.slices, c, &s.strange);
	/* Whether it is whole. */
	json_skip(&all);
	rc = conv_json_status(c, in, rc, &all, s.strange);
	slices_free(s.slices);
	free(s.nodes);
	free(s.profiles);
	intern_release(&s.keys);
	intern_release(&s.ids);
	map64_release(&s.names);
	buf_release(&s.text);
	buf_release(&s.name);
	buf_release(&s.url);
	buf_release(&s.id);
	return rc;
}

bool conv_is_chrome(const uint8_t *bytes, size_t n)
{
	struct buf text = BUF_INIT;
	struct json j = json_make(bytes, n, &text);
	bool is = json_has(bytes, n, "traceEvents", "traceEvents") ||
		  json_has(bytes, n, "nodes", "samples");

	if (!is && json_peek(&j) == '[') {
		json_array(&j);
		is = json_item(&j) && member(j, "ph").p;
	}
	buf_release(&text);
	return is;
}
