/*
 * Writes pprof's profile.proto (github.com/google/pprof/proto/profile.proto): equal stacks of a
 * thread are added up, and are written in the end, thread by thread, before the tables. An event
 * has two values in each sample, how many samples and what they weigh, or one if they count nothing
 * else.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "conv/locals.h"
#include "conv/pb.h"
#include "conv/tracks.h"

#include <stdlib.h>

/* Fields of Profile. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	TIME_NANOS = 9,
	DURATION_NANOS,
	PERIOD_TYPE,
	PERIOD,
	COMMENT,
	DEFAULT_SAMPLE_TYPE
};

#define NO_DSO "[unknown]" /* the mapping of what is in none */

/* The samples of a stack in a thread, added up. */
struct row {
	uint64_t weight, count;
};

/* The rows of a thread and event: a table of its own, since samples of a thread come together. */
struct sum {
	struct locals stacks;
	struct row *rows; /* by number less 1 */
	uint32_t cap;
};

struct function {
	uint32_t name, linkage, file;
};

/* The innermost location of a stack, and the stack without it. */
struct step {
	uint32_t location, up; /* location 0: not yet known */
};

/* A frame, with those that are inlined into it. */
struct location {
	uint32_t frame;	 /* that is not inlined */
	uint32_t path;	 /* all, of several */
	uint64_t leaves; /* samples of which it is the innermost one */
};

struct mapping {
	uint64_t end;	 /* after the last address; 0: not used */
	uint64_t leaves; /* samples whose innermost frame is in it */
	bool files, lines, inlined;
};

struct writer {
	struct conv *c;
	struct lanes lanes;
	struct sum *sums; /* by lane */
	uint32_t nsums;
	uint64_t period; /* of all samples; 0: they differ */
	bool any, uncounted;
	/* At the end. */
	struct step *steps; /* by stack */
	struct intern functions, paths;
	uint32_t *single, nsingle;   /* by frame: the location that has only it */
	uint32_t *of_path, nof_path; /* by path: its location */
	struct location *locations;  /* by number less 1 */
	uint32_t nlocations, locations_cap;
	bool *two;		  /* by event: it has two values */
	struct mapping *mappings; /* by DSO; the last is for those without */
	uint32_t main;		  /* the DSO that is the first mapping */
	struct buf out, part, inner, path, labels;
};

static int open_pprof(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (w)
		w->c = c;
	return w ? 0 : PP_ENOMEM;
}

static void note_period(struct writer *w, const struct prof_sample *s)
{
	uint64_t period = s->count ? s->weight / s->count : 0;

	if (!w->any)
		w->period = period;
	else if (w->period != period)
		w->period = 0;
	w->any = true;
	w->uncounted |= !s->count;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;
	uint32_t local, lane;
	struct sum *sum;
	struct row *v;

	note_period(w, s);
	if (lanes_find(&w->lanes, s, &lane))
		return PP_ENOMEM;
	sum = array_widen(w->sums, &w->nsums, lane, 64, sizeof(*sum));
	if (!sum)
		return PP_ENOMEM;
	w->sums = sum;
	sum += lane;
	local = locals_find(&sum->stacks, s->stack);
	if (!local && locals_add(&sum->stacks, s->stack, &local))
		return PP_ENOMEM;
	v = array_widen(sum->rows, &sum->cap, local - 1, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	sum->rows = v;
	v += local - 1;
	v->weight += s->weight;
	v->count += s->count;
	return 0;
}

/* ---- sample types ---- */

static bool counts(struct ps_str unit)
{
	return (unit.len == 7 && !memcmp(unit.p, "samples", 7)) ||
	       (unit.len == 6 && !memcmp(unit.p, "events", 6)) ||
	       (unit.len == 5 && (!memcmp(unit.p, "calls", 5) || !memcmp(unit.p, "count", 5))) ||
	       !unit.len;
}

static int text(struct writer *w, const char *s, uint32_t *id)
{
	return prof_text(w->c->p, s, strlen(s), id);
}

/* The unit of an event in pprof's words. */
static int unit_of(struct writer *w, const struct prof_event *e, uint32_t *id)
{
	struct ps_str unit = prof_str(w->c->p, e->unit);

	*id = e->unit;
	if (counts(unit))
		return text(w, "count", id);
	if (unit.len == 2 && !memcmp(unit.p, "ns", 2))
		return text(w, "nanoseconds", id);
	return 0;
}

static void put_type(struct writer *w, uint32_t field, uint32_t type, uint32_t unit)
{
	pb_num(&w->part, 1, type);
	pb_num(&w->part, 2, unit);
	pb_take(&w->out, field, &w->part);
}

static int put_types(struct writer *w)
{
	struct prof *p = w->c->p;
	uint32_t count, samples, unit = 0, n = p->events.n;
	int rc = text(w, "count", &count);

	for (uint32_t i = 1; i <= n && !rc; i++) {
		const struct prof_event *e = prof_event_of(p, i);
		struct ps_str name = prof_str(p, e->name);

		if (n > 1)
			buf_addf(&w->inner, "%.*s ", (int)name.len, name.p);
		buf_adds(&w->inner, "samples");
		rc = w->inner.err ? w->inner.err : text(w, buf_str(&w->inner), &samples);
		buf_reset(&w->inner);
		if (!rc)
			rc = unit_of(w, e, &unit);
		w->two[i] = !w->uncounted && !counts(prof_str(p, e->unit));
		if (!rc && w->two[i])
			put_type(w, SAMPLE_TYPE, samples, count);
		put_type(w, SAMPLE_TYPE, e->name, unit);
		if (i > 1)
			continue;
		if (n > 1)
			pb_num(&w->out, DEFAULT_SAMPLE_TYPE, e->name);
		if (n == 1 && w->period) {
			put_type(w, PERIOD_TYPE, e->name, unit);
			pb_num(&w->out, PERIOD, w->period);
		}
	}
	return rc;
}

/* ---- locations ---- */

/* The place of what is in no DSO. */
static struct mapping *mapping_of(struct writer *w, uint32_t dso)
{
	return &w->mappings[dso ? dso : w->c->p->dsos.n + 1];
}

static void note_frame(struct writer *w, const struct prof_frame *f)
{
	struct mapping *m = mapping_of(w, f->dso);

	if (f->addr >= m->end)
		m->end = f->addr == UINT64_MAX ? f->addr : f->addr + 1;
	m->files |= f->file != 0;
	m->lines |= f->line != 0;
	m->inlined |= (f->flags & PROF_FRAME_INLINED) != 0;
}

static int new_location(struct writer *w, uint32_t frame, uint32_t path, uint32_t *id)
{
	struct location *v =
		array_widen(w->locations, &w->locations_cap, w->nlocations, 1024, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	w->locations = v;
	v[w->nlocations] = (struct location){frame, path, 0};
	*id = ++w->nlocations;
	note_frame(w, prof_frame_of(w->c->p, frame));
	return 0;
}

/* The location of the frames in w->path, of which the last is not inlined. */
static int path_location(struct writer *w, uint32_t *id)
{
	const uint32_t *frames = (const uint32_t *)(const void *)w->path.data;
	size_t n = w->path.len / sizeof(*frames);
	uint32_t path, *known;
	int rc = intern_add(&w->paths, frames, n * sizeof(*frames), &path, NULL);

	known = rc ? NULL : array_widen(w->of_path, &w->nof_path, path, 1024, sizeof(*known));
	if (!known)
		return rc ? rc : PP_ENOMEM;
	w->of_path = known;
	known += path;
	for (size_t i = 0; i + 1 < n && !*known; i++)
		note_frame(w, prof_frame_of(w->c->p, frames[i]));
	if (!*known)
		rc = new_location(w, frames[n - 1], path, known);
	*id = *known;
	return rc;
}

static int find_step(struct writer *w, uint32_t stack, struct step *step)
{
	const struct prof *p = w->c->p;
	uint32_t frame, *known;

	step->up = prof_up(p, stack, &frame);
	known = array_widen(w->single, &w->nsingle, frame, 1024, sizeof(*known));
	if (!known)
		return PP_ENOMEM;
	w->single = known;
	known += frame;
	step->location = *known;
	if (*known)
		return 0;
	if (!(prof_frame_of(p, frame)->flags & PROF_FRAME_INLINED) || !step->up) {
		if (new_location(w, frame, 0, known))
			return PP_ENOMEM;
		step->location = *known;
		return 0;
	}
	buf_reset(&w->path);
	buf_add(&w->path, &frame, sizeof(frame));
	while (prof_frame_of(p, frame)->flags & PROF_FRAME_INLINED && step->up) {
		step->up = prof_up(p, step->up, &frame);
		buf_add(&w->path, &frame, sizeof(frame));
	}
	return w->path.err ? w->path.err : path_location(w, &step->location);
}

/* The locations of a stack, into the message. */
static int add_locations(struct writer *w, uint32_t stack, uint64_t samples)
{
	bool leaf = true;
	int rc = 0;

	while (stack && !rc) {
		struct step *s = &w->steps[stack];

		rc = s->location ? 0 : find_step(w, stack, s);
		if (rc)
			break;
		w->locations[s->location - 1].leaves += leaf ? samples : 0;
		leaf = false;
		pb_varint(&w->inner, s->location);
		stack = s->up;
	}
	if (w->inner.len)
		pb_take(&w->part, 1, &w->inner);
	return rc;
}

/* ---- samples ---- */

static void add_label(struct writer *w, uint32_t key, uint32_t str, uint64_t num)
{
	pb_num(&w->inner, 1, key);
	pb_num(&w->inner, 2, str);
	pb_num(&w->inner, 3, num);
	pb_take(&w->labels, 3, &w->inner);
}

/* Those of a thread, which all of its samples have. */
static int make_labels(struct writer *w, const struct prof_thread *t)
{
	uint32_t comm, pid, tid;
	int rc = text(w, "comm", &comm);

	if (!rc)
		rc = text(w, "pid", &pid);
	if (!rc)
		rc = text(w, "tid", &tid);
	if (rc)
		return rc;
	buf_reset(&w->labels);
	if (t->comm)
		add_label(w, comm, t->comm, 0);
	if (t->pid != PS_NONE)
		add_label(w, pid, 0, t->pid);
	if (t->tid != PS_NONE)
		add_label(w, tid, 0, t->tid);
	return w->labels.err;
}

static int put_samples(struct writer *w, const struct lane *lane, const struct sum *sum)
{
	int rc = make_labels(w, prof_thread_of(w->c->p, lane->thread));

	for (uint32_t row = 0; row < sum->stacks.n && !rc; row++) {
		const struct row *s = &sum->rows[row];

		rc = add_locations(w, sum->stacks.keys[row], s->count ? s->count : 1);
		for (uint32_t e = 1; e <= w->c->p->events.n; e++) {
			if (w->two[e])
				pb_varint(&w->inner, e == lane->event ? s->count : 0);
			pb_varint(&w->inner, e == lane->event ? s->weight : 0);
		}
		pb_take(&w->part, 2, &w->inner);
		buf_join(&w->part, &w->labels);
		pb_take(&w->out, SAMPLE, &w->part);
		if (!rc)
			rc = conv_flush(w->c, &w->out, CONV_BLOCK);
	}
	return rc;
}

/* ---- tables ---- */

static const uint32_t *location_frames(const struct writer *w, const struct location *l, size_t *n)
{
	const char *bytes = intern_get(&w->paths, l->path, n);

	*n = bytes ? *n / sizeof(uint32_t) : 1;
	return bytes ? (const uint32_t *)(const void *)bytes : &l->frame;
}

/* The first mapping is taken for the program: the file that most samples are in. */
static void choose_main(struct writer *w)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < w->nlocations; i++)
		mapping_of(w, prof_frame_of(w->c->p, w->locations[i].frame)->dso)->leaves +=
			w->locations[i].leaves;
	for (uint32_t i = 1; i <= w->c->p->dsos.n; i++) {
		const struct prof_dso *d = prof_dso_of(w->c->p, i);
		struct ps_str path = prof_str(w->c->p, d->path);

		if (w->mappings[i].leaves <= most || !path.len || *path.p == '[' ||
		    d->flags & (PS_DSO_KERNEL | PS_DSO_MODULE | PS_DSO_NO_FILE))
			continue;
		most = w->mappings[i].leaves;
		w->main = i;
	}
}

/* The number of a DSO's mapping. */
static uint32_t mapping_id(const struct writer *w, uint32_t dso)
{
	dso = dso ? dso : w->c->p->dsos.n + 1;
	return dso == w->main ? 1 : dso < w->main ? dso + 1 : dso;
}

static int put_mapping(struct writer *w, uint32_t dso)
{
	const struct prof_dso *d = prof_dso_of(w->c->p, dso);
	const struct mapping *m = mapping_of(w, dso);
	uint32_t path = d->path;
	int rc = path ? 0 : text(w, NO_DSO, &path);

	pb_num(&w->part, 1, mapping_id(w, dso));
	pb_num(&w->part, 3, m->end ? m->end : 1);
	pb_num(&w->part, 5, path);
	pb_num(&w->part, 6, d->build_id);
	pb_num(&w->part, 7, 1);
	pb_num(&w->part, 8, m->files);
	pb_num(&w->part, 9, m->lines);
	pb_num(&w->part, 10, m->inlined);
	pb_take(&w->out, MAPPING, &w->part);
	return rc;
}

static int put_mappings(struct writer *w)
{
	int rc = 0;

	choose_main(w);
	if (w->main)
		rc = put_mapping(w, w->main);
	for (uint32_t i = 1; i <= w->c->p->dsos.n && !rc; i++)
		if (i != w->main)
			rc = put_mapping(w, i);
	return rc ? rc : put_mapping(w, 0);
}

static int add_line(struct writer *w, const struct prof_frame *f)
{
	struct function key = {f->name, f->linkage, f->file};
	uint32_t id;
	int rc = f->name ? 0 : text(w, NO_DSO, &key.name);

	if (!rc)
		rc = intern_add(&w->functions, &key, sizeof(key), &id, NULL);
	if (rc)
		return rc;
	pb_num(&w->inner, 1, id);
	pb_num(&w->inner, 2, f->line);
	pb_take(&w->part, 4, &w->inner);
	return 0;
}

static int put_locations(struct writer *w)
{
	int rc = 0;

	for (uint32_t id = 1; id <= w->nlocations && !rc; id++) {
		const struct location *l = &w->locations[id - 1];
		const struct prof_frame *f = prof_frame_of(w->c->p, l->frame);
		size_t n;
		const uint32_t *frames = location_frames(w, l, &n);

		pb_num(&w->part, 1, id);
		pb_num(&w->part, 2, mapping_id(w, f->dso));
		pb_num(&w->part, 3, f->addr);
		for (size_t i = 0; i < n && !rc; i++) {
			f = prof_frame_of(w->c->p, frames[i]);
			/* What has a file but no symbol is shown by the mapping. */
			if (n > 1 || f->name || !f->dso)
				rc = add_line(w, f);
		}
		pb_take(&w->out, LOCATION, &w->part);
		if (!rc)
			rc = conv_flush(w->c, &w->out, CONV_BLOCK);
	}
	return rc;
}

static int put_functions(struct writer *w)
{
	int rc = 0;

	for (uint32_t id = 1; id <= w->functions.n && !rc; id++) {
		const struct function *f =
			(const struct function *)(const void *)intern_get(&w->functions, id, NULL);

		pb_num(&w->part, 1, id);
		pb_num(&w->part, 2, f->name);
		pb_num(&w->part, 3, f->linkage ? f->linkage : f->name);
		pb_num(&w->part, 4, f->file);
		pb_take(&w->out, FUNCTION, &w->part);
		rc = conv_flush(w->c, &w->out, CONV_BLOCK);
	}
	return rc;
}

static int put_rest(struct writer *w)
{
	const struct conv_account *a = &w->c->account;
	uint32_t comment = 0;
	int rc;

	if (w->c->wall_offset && a->had & CONV_TIMES)
		pb_num(&w->out, TIME_NANOS, a->first + (uint64_t)w->c->wall_offset);
	if (a->had & CONV_TIMES)
		pb_num(&w->out, DURATION_NANOS, a->last - a->first);
	buf_reset(&w->inner);
	conv_add_comment(w->c, &w->inner);
	rc = w->inner.err ? w->inner.err : text(w, buf_str(&w->inner), &comment);
	pb_num(&w->out, COMMENT, comment);
	buf_reset(&w->inner);
	/* All texts are known now: their number is that of the table, whose first is empty. */
	pb_bytes(&w->out, STRING_TABLE, "", 0);
	for (uint32_t i = 1; i <= w->c->p->texts.n && !rc; i++) {
		struct ps_str s = prof_str(w->c->p, i);

		pb_bytes(&w->out, STRING_TABLE, s.p, s.len);
		rc = conv_flush(w->c, &w->out, CONV_BLOCK);
	}
	return rc ? rc : conv_flush(w->c, &w->out, 0);
}

static int close_pprof(void *ctx)
{
	struct writer *w = ctx;
	const struct prof *p = w->c->p;
	int rc;

	w->two = calloc(p->events.n + 1, sizeof(*w->two));
	w->mappings = calloc(p->dsos.n + 2, sizeof(*w->mappings));
	w->steps = calloc(prof_stacks(p), sizeof(*w->steps));
	if (!w->two || !w->mappings || !w->steps)
		return PP_ENOMEM;
	rc = put_types(w);
	for (uint32_t i = 0; i < w->lanes.n && !rc; i++)
		rc = put_samples(w, &w->lanes.v[i], &w->sums[i]);
	if (!rc)
		rc = put_mappings(w);
	if (!rc)
		rc = put_locations(w);
	if (!rc)
		rc = put_functions(w);
	return rc ? rc : put_rest(w);
}

static void free_pprof(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	lanes_release(&w->lanes);
	for (uint32_t i = 0; i < w->nsums; i++) {
		locals_release(&w->sums[i].stacks);
		free(w->sums[i].rows);
	}
	free(w->sums);
	intern_release(&w->functions);
	intern_release(&w->paths);
	free(w->of_path);
	free(w->locations);
	free(w->steps);
	free(w->single);
	free(w->two);
	free(w->mappings);
	buf_release(&w->out);
	buf_release(&w->part);
	buf_release(&w->labels);
	buf_release(&w->inner);
	buf_release(&w->path);
	free(w);
}

const struct conv_writer conv_to_pprof = {
	.open = open_pprof,
	.sample = sample,
	.close = close_pprof,
	.free = free_pprof,
	.prof = PROF_ADDRS,
};
