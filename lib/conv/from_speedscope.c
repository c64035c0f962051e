/* Reads speedscope's JSON: sampled profiles, and evented ones by how long each stack was open. */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "conv/json_reader.h"

#include <stdlib.h>

struct input {
	struct conv *c;
	const struct conv_input *in;
	struct buf text, name, event, unit;
	uint32_t *frames; /* by place: numbers of the profile */
	uint32_t nframes, cap;
	uint32_t *stacks; /* of the samples of a profile */
	uint32_t nstacks, stacks_cap;
	struct prof_sample sample;
	uint64_t ns; /* of one of the unit; 0: it is no time */
	bool strange;
};

static int add_frame(struct input *s, struct json *j)
{
	uint32_t *v = array_widen(s->frames, &s->cap, s->nframes, 1024, sizeof(*v));
	struct ps_str key;
	uint64_t line = 0;

	if (!v)
		return PP_ENOMEM;
	s->frames = v;
	buf_reset(&s->name);
	buf_reset(&s->event);
	for (json_object(j); json_member(j, &key);) {
		struct buf *b = json_is(key, "name")   ? &s->name
				: json_is(key, "file") ? &s->event
						       : NULL;

		if (json_is(key, "line")) {
			line = json_u64(j);
		} else if (b) {
			struct ps_str text = json_str(j);

			buf_reset(b);
			buf_add(b, text.p, text.len);
		} else {
			json_skip(j);
		}
	}
	return s->name.err || s->event.err
		       ? PP_ENOMEM
		       : prof_shown(s->c->p, ps_str(buf_str(&s->name), s->name.len),
				    ps_str(buf_str(&s->event), s->event.len), line,
				    &v[s->nframes++]);
}

static int read_frames(struct input *s)
{
	struct json j = json_make(s->in->bytes, s->in->n, &s->text);
	struct ps_str key;
	int rc = 0;

	for (json_object(&j); !rc && json_member(&j, &key);) {
		if (!json_is(key, "shared")) {
			json_skip(&j);
			continue;
		}
		for (json_object(&j); !rc && json_member(&j, &key);) {
			if (!json_is(key, "frames")) {
				json_skip(&j);
				continue;
			}
			for (json_array(&j); !rc && json_item(&j);)
				rc = add_frame(s, &j);
		}
	}
	return rc;
}

/* A frame by its place; false: there is none. */
static bool frame_at(struct input *s, uint32_t place, uint32_t *frame)
{
	s->strange |= place >= s->nframes;
	*frame = place < s->nframes ? s->frames[place] : 0;
	return place < s->nframes;
}

static uint64_t weight_of(const struct input *s, double v)
{
	v *= s->ns ? (double)s->ns : 1;
	return v <= 0 ? 0 : v >= 0x1p63 ? INT64_MAX : (uint64_t)(v + 0.5);
}

static int read_samples(struct input *s, struct json *j)
{
	uint32_t frame, stack, *v;
	int rc = 0;

	for (json_array(j); !rc && json_item(j);) {
		for (stack = 0, json_array(j); !rc && json_item(j);)
			if (frame_at(s, json_place(j), &frame))
				rc = prof_push(s->c->p, stack, frame, &stack);
		v = array_widen(s->stacks, &s->stacks_cap, s->nstacks, 1024, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		s->stacks = v;
		v[s->nstacks++] = stack;
	}
	return rc;
}

static int give_samples(struct input *s, struct json *weights)
{
	double weight;
	uint32_t i = 0;
	int rc = 0;

	for (json_array(weights); !rc && json_item(weights); i++) {
		s->strange |= !json_number(weights, &weight) || weight < 0 || weight >= 0x1p63;
		s->sample.weight = weight_of(s, weight);
		s->strange |= i >= s->nstacks;
		s->sample.stack = i < s->nstacks ? s->stacks[i] : 0;
		if (i < s->nstacks && s->sample.weight)
			rc = conv_give(s->c, &s->sample);
	}
	s->strange |= i < s->nstacks;
	return rc;
}

/* How long each stack was open. */
static int give_events(struct input *s, struct json *j)
{
	double last = 0, at = 0;
	uint32_t stack = 0, frame, top;
	struct ps_str key;
	int rc = 0;

	for (json_array(j); !rc && json_item(j); last = at) {
		uint32_t place = JSON_NOWHERE;
		char type = 0;

		for (json_object(j); json_member(j, &key);) {
			if (json_is(key, "type"))
				type = *json_str(j).p;
			else if (json_is(key, "at"))
				s->strange |= !json_number(j, &at);
			else if (json_is(key, "frame"))
				place = json_place(j);
			else
				json_skip(j);
		}
		s->sample.stack = stack;
		s->sample.weight = weight_of(s, at) - weight_of(s, last);
		s->strange |= at < last;
		if (stack && at > last && s->sample.weight)
			rc = conv_give(s->c, &s->sample);
		if (rc || !frame_at(s, place, &frame))
			continue;
		if (type == 'O') {
			rc = prof_push(s->c->p, stack, frame, &stack);
		} else {
			top = 0;
			stack = stack ? prof_up(s->c->p, stack, &top) : 0;
			s->strange |= top != frame;
		}
	}
	s->strange |= stack != 0;
	return rc;
}

static void keep(struct json *j, struct buf *b)
{
	struct ps_str s = json_str(j);

	buf_reset(b);
	buf_add(b, s.p, s.len);
}

/* The thread and the event of a profile, by its name: "cc1 (41/42) cycles" of the event cycles. */
static int names_of(struct input *s)
{
	struct ps_str name = ps_str(buf_str(&s->name), s->name.len);
	struct ps_str event = ps_str(buf_str(&s->event), s->event.len);
	struct ps_str unit = ps_str(buf_str(&s->unit), s->unit.len);
	int rc;

	s->ns = prof_unit_ns(unit);
	if (s->ns)
		unit = ps_str("ns", 2);
	else if (json_is(unit, "none"))
		unit.len = 0;
	if (event.len && name.len > event.len + 1 && name.p[name.len - event.len - 1] == ' ' &&
	    !memcmp(name.p + name.len - event.len, event.p, event.len))
		name.len -= event.len + 1;
	rc = prof_shown_thread(s->c->p, name, &s->sample.thread);
	return rc ? rc : prof_named_event(s->c->p, event, unit, &s->sample.event);
}

static int read_profile(struct input *s, struct json *j)
{
	struct json samples = {0}, weights = {0}, events = {0};
	struct ps_str key;
	bool own_unit = false;
	int rc;

	buf_reset(&s->name);
	buf_reset(&s->event);
	buf_reset(&s->unit);
	for (json_object(j); json_member(j, &key);) {
		struct json *place = json_is(key, "samples")   ? &samples
				     : json_is(key, "weights") ? &weights
				     : json_is(key, "events")  ? &events
							       : NULL;

		if (place)
			*place = *j;
		if (json_is(key, "name"))
			keep(j, &s->name);
		else if (json_is(key, "event"))
			keep(j, &s->event);
		else if (json_is(key, "eventUnit"))
			keep(j, &s->unit), own_unit = true;
		else if (json_is(key, "unit") && !own_unit)
			keep(j, &s->unit);
		else
			json_skip(j);
	}
	if (s->name.err || s->event.err || s->unit.err)
		return PP_ENOMEM;
	rc = names_of(s);
	s->nstacks = 0;
	if (!rc && samples.p && weights.p) {
		rc = read_samples(s, &samples);
		if (!rc)
			rc = give_samples(s, &weights);
	} else if (!rc && events.p) {
		rc = give_events(s, &events);
	}
	s->strange |= !events.p && (!samples.p || !weights.p);
	return rc;
}

int conv_from_speedscope(struct conv *c, const struct conv_input *in)
{
	struct input s = {.c = c, .in = in, .sample = {.cpu = PS_NONE}};
	struct json j = json_make(in->bytes, in->n, &s.text);
	struct ps_str key;
	int rc = read_frames(&s);

	for (json_object(&j); !rc && json_member(&j, &key);) {
		if (json_is(key, "profiles"))
			for (json_array(&j); !rc && json_item(&j);)
				rc = read_profile(&s, &j);
		else
			json_skip(&j);
	}
	rc = conv_json_status(c, in, rc, &j, s.strange);
	free(s.frames);
	free(s.stacks);
	buf_release(&s.text);
	buf_release(&s.name);
	buf_release(&s.event);
	buf_release(&s.unit);
	return rc;
}

bool conv_is_speedscope(const uint8_t *bytes, size_t n)
{
	return json_has(bytes, n, "shared", "profiles");
}
