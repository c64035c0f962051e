/*
 * Reads pprof's profile.proto: its tables first, wherever they are in the file, then its samples.
 * Ids may be any numbers; what is referred to but not there makes the input damaged.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "conv/pb.h"
#include "fold/fold.h"

#include <inttypes.h>
#include <stdlib.h>

#define COUNT_MAX  (1u << 24) /* samples that are written one by one */
#define VALUES_MAX 64

/* A table: its messages by their place, and their places by id. */
struct table {
	struct pb *v;
	uint32_t n, cap;
	struct map64 ids; /* id: place + 1 */
};

struct input {
	struct conv *c;
	const struct conv_input *in;
	struct table mappings, locations, functions;
	struct ps_str *strings;
	uint32_t nstrings, strings_cap;
	uint32_t *dsos; /* by mapping: + 1 */
	uint32_t
		*stacks; /* by location: the frames that it stands for begin here in `frames` + 1 */
	struct buf frames;	     /* how many, then their numbers */
	uint32_t events[VALUES_MAX]; /* of the values; 0: how many samples the next one has */
	bool counted[VALUES_MAX];    /* each is one sample */
	struct pb types[VALUES_MAX];
	uint32_t nvalues;
	struct map64 threads; /* of labels */
	uint32_t *path, path_cap;
	uint64_t left; /* samples that may still be written one by one */
	uint64_t merged, negative;
	int64_t time;
	bool dangling;
};

static struct ps_str string(struct input *s, uint64_t id)
{
	s->dangling |= id >= s->nstrings && id;
	return s->strings && id < s->nstrings ? s->strings[id] : ps_str("", 0);
}

static bool same(struct ps_str a, struct ps_str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

static bool is(struct ps_str s, const char *text)
{
	return same(s, ps_str(text, strlen(text)));
}

static int add_row(struct table *t, const struct pb *m)
{
	struct pb *v = array_widen(t->v, &t->cap, t->n, 256, sizeof(*v)), row = pb_sub(m);
	uint64_t id = 0;
	uint32_t *at;

	if (!v)
		return PP_ENOMEM;
	t->v = v;
	v[t->n++] = row;
	while (pb_next(&row))
		id = row.field == 1 && row.type == PB_VARINT ? row.v : id;
	at = map64_put(&t->ids, id, NULL);
	if (!at)
		return PP_ENOMEM;
	/* Of several with one id, the first. */
	*at = *at ? *at : t->n;
	return row.bad ? PP_ECORRUPT : 0;
}

/* The place of an id; false: there is none. */
static bool find(struct input *s, const struct table *t, uint64_t id, uint32_t *place)
{
	const uint32_t *at = map64_get(&t->ids, id);

	s->dangling |= !at;
	*place = at ? *at - 1 : 0;
	return at != NULL;
}

static int add_string(struct input *s, const struct pb *m)
{
	struct ps_str *v = array_widen(s->strings, &s->strings_cap, s->nstrings, 1024, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->strings = v;
	v[s->nstrings++] = ps_str((const char *)m->bytes, m->v);
	return m->type == PB_BYTES && m->v < UINT32_MAX ? 0 : PP_ECORRUPT;
}

static int read_tables(struct input *s)
{
	struct pb m = pb_make(s->in->bytes, s->in->n);
	int rc = 0;

	while (!rc && pb_next(&m)) {
		switch (m.field) {
		case 1:
			if (s->nvalues == VALUES_MAX)
				return PP_ELIMIT;
			s->types[s->nvalues++] = pb_sub(&m);
			break;
		case 3: rc = add_row(&s->mappings, &m); break;
		case 4: rc = add_row(&s->locations, &m); break;
		case 5: rc = add_row(&s->functions, &m); break;
		case 6: rc = add_string(s, &m); break;
		}
	}
	return rc ? rc : m.bad ? PP_ECUT : 0;
}

/* ---- frames ---- */

static int dso_of(struct input *s, uint32_t place, uint32_t *dso, uint64_t *base)
{
	struct pb m = s->mappings.v[place];
	struct ps_str path = {0}, build_id = {0};
	struct prof_dso d = {0};
	uint64_t start = 0, offset = 0;
	int rc;

	while (pb_next(&m)) {
		switch (m.field) {
		case 2: start = m.v; break;
		case 4: offset = m.v; break;
		case 5: path = string(s, m.v); break;
		case 6: build_id = string(s, m.v); break;
		}
	}
	*base = start - offset;
	if (s->dsos[place] || !path.len || is(path, "[unknown]")) {
		*dso = s->dsos[place];
		return 0;
	}
	d.flags = prof_dso_flags(path);
	rc = prof_text(s->c->p, path.p, path.len, &d.path);
	if (!rc)
		rc = prof_text(s->c->p, build_id.p, build_id.len, &d.build_id);
	if (!rc)
		rc = prof_dso(s->c->p, &d, dso);
	s->dsos[place] = rc ? 0 : *dso;
	return rc;
}

static int line_of(struct input *s, struct pb m, struct prof_frame *f)
{
	struct ps_str name = {0}, linkage = {0}, file = {0};
	uint64_t function = 0, line = 0;
	uint32_t place;
	int rc = 0;

	while (pb_next(&m)) {
		function = m.field == 1 ? m.v : function;
		line = m.field == 2 ? m.v : line;
	}
	if (!find(s, &s->functions, function, &place))
		return 0;
	for (m = s->functions.v[place]; pb_next(&m);) {
		switch (m.field) {
		case 2: name = string(s, m.v); break;
		case 3: linkage = string(s, m.v); break;
		case 4: file = string(s, m.v); break;
		}
	}
	f->line = line <= INT32_MAX ? (uint32_t)line : 0;
	name = name.len ? name : linkage;
	if (!is(name, "[unknown]"))
		rc = prof_text(s->c->p, name.p, name.len, &f->name);
	if (!rc && !same(linkage, name))
		rc = prof_text(s->c->p, linkage.p, linkage.len, &f->linkage);
	if (prof_is_mark(name))
		f->flags |= PROF_FRAME_MARK;
	return rc ? rc : prof_text(s->c->p, file.p, file.len, &f->file);
}

/* Adds the frames of a location, innermost first: all but the last are inlined. */
static int make_frames(struct input *s, uint32_t place)
{
	struct pb m = s->locations.v[place];
	struct prof_frame common = {0};
	size_t at = s->frames.len;
	uint64_t mapping = 0, base = 0;
	uint32_t id, n = 0, lines = 0;
	int rc = 0;

	while (pb_next(&m)) {
		mapping = m.field == 2 ? m.v : mapping;
		common.addr = m.field == 3 ? m.v : common.addr;
		lines += m.field == 4;
	}
	if (mapping && find(s, &s->mappings, mapping, &id))
		rc = dso_of(s, id, &common.dso, &base);
	common.addr = common.addr >= base ? common.addr - base : common.addr;
	if (common.dso && prof_dso_of(s->c->p, common.dso)->flags & (PS_DSO_KERNEL | PS_DSO_MODULE))
		common.flags = PROF_FRAME_KERNEL;
	buf_add(&s->frames, &n, sizeof(n));
	for (m = s->locations.v[place]; !rc && (lines ? pb_next(&m) : !n);) {
		struct prof_frame f = common;

		if (lines && m.field != 4)
			continue;
		if (lines)
			rc = line_of(s, pb_sub(&m), &f);
		f.flags |= ++n < lines ? PROF_FRAME_INLINED : 0;
		if (!rc)
			rc = prof_frame(s->c->p, &f, &id);
		buf_add(&s->frames, &id, sizeof(id));
	}
	if (rc || s->frames.err)
		return rc ? rc : s->frames.err;
	memcpy(s->frames.data + at, &n, sizeof(n));
	if (at / sizeof(n) >= UINT32_MAX)
		return PP_ELIMIT;
	s->stacks[place] = (uint32_t)(at / sizeof(n)) + 1;
	return 0;
}

/*
 * Adds the frames of a location to the path. It may have many lines, and a sample may have it
 * many times: of what is deeper than stacks are kept, the innermost frames are dropped meanwhile.
 */
static int add_location(struct input *s, uint64_t id, uint32_t *n)
{
	uint32_t place, count, *path;
	const uint32_t *frames;
	int rc;

	if (!find(s, &s->locations, id, &place))
		return 0;
	rc = s->stacks[place] ? 0 : make_frames(s, place);
	if (rc || !s->frames.data)
		return rc;
	frames = (const uint32_t *)(const void *)s->frames.data + s->stacks[place] - 1;
	count = *frames++;
	if (!count)
		return 0;
	if (*n > 2 * FOLD_DEPTH_MAX) {
		s->c->p->left_out += *n - FOLD_DEPTH_MAX;
		memmove(s->path, s->path + *n - FOLD_DEPTH_MAX, FOLD_DEPTH_MAX * sizeof(*path));
		*n = FOLD_DEPTH_MAX;
	}
	path = count > INT32_MAX / 2
		       ? NULL
		       : array_widen(s->path, &s->path_cap, *n + count, 256, sizeof(*path));
	if (!path)
		return PP_ENOMEM;
	s->path = path;
	memcpy(path + *n, frames, count * sizeof(*frames));
	*n += count;
	return 0;
}

/* ---- samples ---- */

/* What the values of a sample are. */
static int read_types(struct input *s)
{
	struct ps_str names[VALUES_MAX] = {0}, units[VALUES_MAX] = {0};
	int rc = 0;

	for (uint32_t i = 0; i < s->nvalues; i++) {
		struct pb m = s->types[i];

		names[i] = units[i] = ps_str("", 0);
		while (pb_next(&m)) {
			if (m.field == 1)
				names[i] = string(s, m.v);
			else if (m.field == 2)
				units[i] = string(s, m.v);
		}
	}
	for (uint32_t i = 0; i < s->nvalues && !rc; i++) {
		/* How many there are of the next one: "samples", "cycles samples". */
		if (i + 1 < s->nvalues && is(units[i], "count") && !is(units[i + 1], "count") &&
		    names[i].len >= 7 && !memcmp(names[i].p + names[i].len - 7, "samples", 7))
			continue;
		s->counted[i] = is(units[i], "count");
		units[i] = is(units[i], "nanoseconds") ? ps_str("ns", 2)
			   : is(units[i], "count")     ? ps_str("samples", 7)
						       : units[i];
		rc = prof_named_event(s->c->p, names[i], units[i], &s->events[i]);
	}
	return rc;
}

static uint32_t number(struct ps_str text, uint64_t v)
{
	char digits[16] = "";

	if (text.len && text.len < sizeof(digits)) {
		memcpy(digits, text.p, text.len);
		v = strtoull(digits, NULL, 10);
	}
	return v < PS_NONE ? (uint32_t)v : PS_NONE;
}

static int add_label(struct input *s, struct pb m, struct prof_thread *t)
{
	struct ps_str key = {0}, text = {0};
	uint64_t num = 0;

	while (pb_next(&m)) {
		switch (m.field) {
		case 1: key = string(s, m.v); break;
		case 2: text = string(s, m.v); break;
		case 3: num = m.v; break;
		}
	}
	if (is(key, "pid") || is(key, "process_id"))
		t->pid = number(text, num);
	else if (is(key, "tid") || is(key, "thread_id"))
		t->tid = number(text, num);
	else if (is(key, "comm") || is(key, "thread") || is(key, "thread_name"))
		return prof_text(s->c->p, text.p, text.len, &t->comm);
	return 0;
}

/* The name of the program, for samples without one: the first mapping's. */
static int program(struct input *s, uint32_t *comm)
{
	struct pb m = s->mappings.n ? s->mappings.v[0] : (struct pb){0};
	struct ps_str path = {0};

	while (pb_next(&m))
		if (m.field == 5)
			path = prof_file_name(string(s, m.v));
	return prof_text(s->c->p, path.p, path.len, comm);
}

static int give(struct input *s, struct prof_sample *to, const uint64_t *values, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && i < s->nvalues && !rc; i++) {
		if (!s->events[i] || !values[i])
			continue;
		if (values[i] > INT64_MAX) {
			s->negative++;
			continue;
		}
		to->event = s->events[i];
		to->weight = values[i];
		to->count = i && !s->events[i - 1] ? values[i - 1] : s->counted[i] ? values[i] : 0;
		if (to->count > s->left) {
			s->merged++;
			to->count = 1;
		}
		s->left -= to->count;
		rc = conv_give(s->c, to);
	}
	return rc;
}

static int read_sample(struct input *s, struct pb m, uint32_t comm)
{
	struct prof_sample to = {.cpu = PS_NONE};
	struct prof_thread t = {PS_NONE, PS_NONE, comm};
	uint64_t values[VALUES_MAX] = {0}, v;
	uint32_t n = 0, nvalues = 0;
	int rc = 0;

	while (!rc && pb_next(&m)) {
		size_t at = 0;

		if (m.field == 3) {
			rc = add_label(s, pb_sub(&m), &t);
			continue;
		}
		while (m.field <= 2 && !rc && pb_each(&m, &at, &v)) {
			if (m.field == 1)
				rc = add_location(s, v, &n);
			else if (nvalues < VALUES_MAX)
				values[nvalues++] = v;
		}
	}
	if (!rc && m.bad)
		rc = PP_ECORRUPT;
	s->dangling |= nvalues != s->nvalues;
	if (!rc)
		rc = prof_thread(s->c->p, &t, &to.thread);
	if (!rc)
		rc = prof_stack(s->c->p, s->path, n, &to.stack);
	return rc ? rc : give(s, &to, values, nvalues);
}

static int read_samples(struct input *s)
{
	struct pb m = pb_make(s->in->bytes, s->in->n);
	uint32_t comm = 0;
	int rc = read_types(s);

	s->dsos = calloc(s->mappings.n + 1, sizeof(*s->dsos));
	s->stacks = calloc(s->locations.n + 1, sizeof(*s->stacks));
	if (!s->dsos || !s->stacks)
		return PP_ENOMEM;
	if (!rc)
		rc = program(s, &comm);
	while (!rc && pb_next(&m))
		if (m.field == 2)
			rc = read_sample(s, pb_sub(&m), comm);
	return rc;
}

static void release(struct input *s)
{
	struct table *tables[] = {&s->mappings, &s->locations, &s->functions};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		free(tables[i]->v);
		map64_release(&tables[i]->ids);
	}
	free(s->strings);
	free(s->dsos);
	free(s->stacks);
	free(s->path);
	buf_release(&s->frames);
}

int conv_from_pprof(struct conv *c, const struct conv_input *in)
{
	struct input *s = calloc(1, sizeof(*s));
	int rc, cut;

	if (!s)
		return PP_ENOMEM;
	s->c = c;
	s->in = in;
	s->left = COUNT_MAX;
	cut = rc = read_tables(s);
	if (!rc || rc == PP_ECUT)
		rc = read_samples(s);
	if (s->merged)
		diag_say(c->d, in->name,
			 "%" PRIu64
			 " stacks stand for too many samples: each becomes one, with the "
			 "weight of all",
			 s->merged);
	if (s->negative)
		diag_error(c->d, in->name, -1,
			   "%" PRIu64 " values are negative, those of a comparison: left out",
			   s->negative);
	if (rc == PP_ECORRUPT || cut == PP_ECUT)
		diag_error(c->d, in->name, -1, "the profile is damaged or cut off");
	else if (s->dangling)
		diag_error(
			c->d, in->name, -1,
			"the profile is damaged: it refers to something that it does not define");
	if (rc == PP_ECORRUPT || (!rc && (cut || s->dangling || s->negative)))
		rc = PP_ECUT;
	release(s);
	free(s);
	return rc;
}

/* Fields of Profile, each of the type that it must have, and a text or a sample type among them. */
bool conv_is_pprof(const uint8_t *bytes, size_t n)
{
	static const uint8_t types[] = {9,	  PB_BYTES, PB_BYTES, PB_BYTES, PB_BYTES, PB_BYTES,
					PB_BYTES, 0,	    0,	      0,	0,	  PB_BYTES,
					0,	  9,	    0,	      0};
	struct pb m = pb_make(bytes, n);
	bool type = false;

	while (pb_next(&m)) {
		if (m.field > 15 || (m.type != types[m.field] && m.field != 13))
			return false;
		if (m.field == 1 && !type) {
			struct pb t = pb_sub(&m);

			while (pb_next(&t))
				if (t.field > 2 || t.type != PB_VARINT)
					return false;
			if (t.bad)
				return false;
			type = true;
		}
	}
	return type;
}
