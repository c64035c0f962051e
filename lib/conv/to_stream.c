/* Writes event streams: what another format holds, for our own filters. */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "stream/ends.h"

#include <stdlib.h>

#define SOURCE	  1
#define WHOLE_MAX (1u << 25) /* frames of all stacks at a time: what a reader keeps of them */

/* The number in the stream of what has one in the profile; 0: none yet. */
struct numbers {
	uint32_t *v, n, last;
};

/* A stack of the profile that has a number in the stream. */
struct known_stack {
	uint32_t id;
	uint32_t flags; /* what its mark became */
	uint32_t depth;
};

/* A stack that has none yet, with its innermost frame in the stream. */
struct step {
	uint32_t stack, frame;
};

struct writer {
	struct conv *c;
	struct swriter w;
	struct numbers strings, files, dsos, frames, events;
	uint32_t *stacks; /* by stack: its place in `known`; 0: none yet */
	uint32_t nstacks;
	struct known_stack *known;
	uint32_t nknown, known_cap; /* place 0 is none */
	uint64_t whole;		    /* frames of those that samples have */
	struct intern symbols;
	struct step *path;
	uint32_t path_cap;
	struct buf text;
};

/* The symbol of a frame, kept by its bytes. */
struct symbol {
	uint32_t name, linkage, dso, inlined;
};

static int open_stream(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct ps_source source = {.kind = 4};
	int rc;

	*ctx = w;
	if (!w)
		return PP_ENOMEM;
	w->c = c;
	source.name = ps_str(c->name ? c->name : "", c->name ? strlen(c->name) : 0);
	swriter_init(&w->w, c->out);
	rc = swriter_pack(&w->w, false);
	if (!rc)
		rc = swriter_header(&w->w);
	return rc ? rc : swriter_put(&w->w, PS_SOURCE, SOURCE, &source);
}

/* The place of a number; NULL: out of memory. */
static uint32_t *place(struct numbers *t, uint32_t id)
{
	uint32_t *v = array_widen(t->v, &t->n, id, 1024, sizeof(*v));

	if (!v)
		return NULL;
	t->v = v;
	return &v[id];
}

/* A text as a string of the stream, or a source file. */
static int put_text(struct writer *w, struct numbers *t, enum ps_type type, uint32_t text,
		    uint32_t *id)
{
	uint32_t *v = place(t, text);
	struct ps_str s = prof_str(w->c->p, text);

	*id = 0;
	if (!v || !text)
		return v ? 0 : PP_ENOMEM;
	if (!*v) {
		struct ps_srcfile file = {.id = ++t->last, .path = s};
		struct ps_string string = {.id = t->last, .text = s};
		int rc = t->last >= PS_ID_MAX ? PP_ELIMIT
			 : type == PS_STRING  ? swriter_put(&w->w, type, SOURCE, &string)
					      : swriter_put(&w->w, type, SOURCE, &file);

		if (rc)
			return rc;
		*v = t->last;
	}
	*id = *v;
	return 0;
}

static int put_dso(struct writer *w, uint32_t dso, uint32_t *id)
{
	const struct prof_dso *d = prof_dso_of(w->c->p, dso);
	uint32_t *v = place(&w->dsos, dso);
	struct ps_dso to;
	int rc;

	*id = 0;
	if (!v || !dso)
		return v ? 0 : PP_ENOMEM;
	if (!*v) {
		to = (struct ps_dso){.id = ++w->dsos.last,
				     .flags = d->flags,
				     .path = prof_str(w->c->p, d->path)};
		buf_reset(&w->text);
		prof_add_bytes(w->c->p, d->build_id, &w->text);
		to.build_id = ps_str(buf_str(&w->text), w->text.len);
		rc = to.id >= PS_ID_MAX ? PP_ELIMIT : swriter_put(&w->w, PS_DSO, SOURCE, &to);
		if (rc)
			return rc;
		*v = to.id;
	}
	*id = *v;
	return 0;
}

static int put_symbol(struct writer *w, const struct prof_frame *f, uint32_t dso, uint32_t *id)
{
	struct symbol key = {f->name, f->linkage, dso, (f->flags & PROF_FRAME_INLINED) != 0};
	struct ps_symbol to;
	bool fresh;
	int rc;

	*id = 0;
	if (!f->name)
		return 0;
	rc = intern_add(&w->symbols, &key, sizeof(key), id, &fresh);
	if (rc || !fresh)
		return rc;
	to = (struct ps_symbol){.id = *id,
				.dso = dso,
				.flags = key.inlined,
				.name = prof_str(w->c->p, f->name),
				.linkage = prof_str(w->c->p, f->linkage)};
	return *id >= PS_ID_MAX ? PP_ELIMIT : swriter_put(&w->w, PS_SYMBOL, SOURCE, &to);
}

static int put_frame(struct writer *w, uint32_t frame, uint32_t *id)
{
	const struct prof_frame *f = prof_frame_of(w->c->p, frame);
	uint32_t *v = place(&w->frames, frame);
	struct ps_frame to = {.addr = f->addr, .line = f->line};
	int rc;

	if (!v)
		return PP_ENOMEM;
	if (*v) {
		*id = *v;
		return 0;
	}
	rc = put_dso(w, f->dso, &to.dso);
	if (!rc)
		rc = put_symbol(w, f, to.dso, &to.symbol);
	if (!rc)
		rc = put_text(w, &w->files, PS_SRCFILE, f->file, &to.srcfile);
	if (rc)
		return rc;
	to.flags = (f->flags & PROF_FRAME_KERNEL ? PS_FRAME_KERNEL : 0) |
		   (f->flags & PROF_FRAME_INLINED ? PS_FRAME_INLINED : 0);
	if (!to.symbol)
		to.reason = to.dso ? PS_REASON_NO_SYMBOL : PS_REASON_NO_MAPPING;
	to.id = *v = *id = ++w->frames.last;
	return to.id >= PS_ID_MAX ? PP_ELIMIT : swriter_put(&w->w, PS_FRAME, SOURCE, &to);
}

/*
 * The flags of a stack whose outermost frame is a mark, if its text is what they make of the frame
 * before it; 0: it stays a frame.
 */
static uint32_t mark_flags(struct writer *w, const struct prof_frame *mark,
			   const struct prof_frame *before)
{
	struct ps_str text = prof_str(w->c->p, mark->name);
	uint32_t end = ps_end_of_mark(text.p, text.len), flags = end << PS_STACK_END_SHIFT;
	const char *colon = end == PS_END_COPY ? memchr(text.p, ':', text.len) : NULL;
	unsigned long kb = colon ? strtoul(colon + 1, NULL, 10) : 0;

	flags |= (uint32_t)(kb < 64 ? kb * 1024 : 0xffff) << PS_STACK_BYTES_SHIFT;
	buf_reset(&w->text);
	ps_end_mark_add(&w->text, flags,
			prof_str(w->c->p, prof_dso_of(w->c->p, before->dso)->path));
	return w->text.len == text.len && !memcmp(w->text.data, text.p, text.len) ? flags : 0;
}

/*
 * The way from a stack, the leaf first, to the outermost frame or to what has a number: *n steps;
 * *from: what they stand on.
 */
static int find_path(struct writer *w, uint32_t stack, uint32_t *n, struct known_stack *from)
{
	const struct prof_frame *last = NULL, *before;
	uint32_t frame, up;
	struct step *path;
	int rc = 0;

	*n = 0;
	*from = (struct known_stack){0};
	for (uint32_t at = stack; at && !rc; at = up) {
		up = prof_up(w->c->p, at, &frame);
		before = last;
		last = prof_frame_of(w->c->p, frame);
		/* A mark may become the stack's flags: then it is no frame. */
		if (!up && last->flags & PROF_FRAME_MARK && before)
			from->flags = mark_flags(w, last, before);
		if (from->flags)
			break;
		if (w->stacks[at]) {
			*from = w->known[w->stacks[at]];
			break;
		}
		path = array_widen(w->path, &w->path_cap, *n, 256, sizeof(*path));
		if (!path)
			return PP_ENOMEM;
		w->path = path;
		path[*n].stack = at;
		rc = put_frame(w, frame, &path[(*n)++].frame);
	}
	return rc;
}

/* Only what a stack has that none had before is written: they may be deep, and many. */
static int make_stack(struct writer *w, uint32_t stack)
{
	uint32_t frames[PS_PART_WORDS], n, count;
	struct known_stack made, *v;
	int rc = find_path(w, stack, &n, &made);

	while (n && !rc) {
		for (count = 0; n && count < PS_PART_WORDS; count++)
			frames[count] = w->path[--n].frame;
		rc = swriter_stack_part(&w->w, SOURCE, made.id, frames, count, made.flags,
					&made.id);
		made.depth += count;
		v = array_widen(w->known, &w->known_cap, ++w->nknown, 1024, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		w->known = v;
		v[w->nknown] = made;
		w->stacks[w->path[n].stack] = w->nknown;
	}
	return rc;
}

static int put_stack(struct writer *w, uint32_t stack, uint32_t *id)
{
	uint32_t *v = array_widen(w->stacks, &w->nstacks, stack, 1024, sizeof(*v));
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	w->stacks = v;
	if (!v[stack]) {
		/* Too many: all begin again. */
		if (swriter_parts(&w->w, PS_STACKS) >= PS_PARTS_LIVE || w->whole >= WHOLE_MAX) {
			memset(v, 0, w->nstacks * sizeof(*v));
			w->whole = w->nknown = 0;
			rc = swriter_restart(&w->w, PS_STACKS);
		}
		if (!rc)
			rc = make_stack(w, stack);
		if (rc)
			return rc;
		w->whole += w->known[v[stack]].depth;
	}
	*id = w->known[v[stack]].id;
	return 0;
}

static int put_event(struct writer *w, uint32_t event, uint32_t *id)
{
	const struct prof_event *e = prof_event_of(w->c->p, event);
	uint32_t *v = place(&w->events, event);
	struct ps_event to = {.perf_type = PS_TYPE_MADE,
			      .flags = PS_EVENT_SAMPLED | PS_EVENT_CHAINS,
			      .name = prof_str(w->c->p, e->name),
			      .unit = prof_str(w->c->p, e->unit)};
	int rc;

	if (!v)
		return PP_ENOMEM;
	if (!*v) {
		to.id = ++w->events.last;
		rc = to.id >= PS_ID_MAX ? PP_ELIMIT : swriter_put(&w->w, PS_EVENT, SOURCE, &to);
		if (rc)
			return rc;
		*v = to.id;
	}
	*id = *v;
	return 0;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;
	const struct prof_thread *t = prof_thread_of(w->c->p, s->thread);
	uint64_t left = s->count ? s->count : 1, weight = s->weight;
	struct ps_sample to;
	int rc;

	ps_sample_clear(&to);
	to.cpu = s->cpu;
	to.pid = t->pid;
	to.tid = t->tid;
	to.time = s->timed ? s->time : 0;
	to.flags = s->timed ? 0 : PS_SAMPLE_NO_TIME;
	to.fields = PS_HAS(period) | (s->stack ? PS_HAS(stack) : 0);
	rc = put_event(w, s->event, &to.event);
	if (!rc)
		rc = put_text(w, &w->strings, PS_STRING, t->comm, &to.comm);
	if (!rc && s->stack)
		rc = put_stack(w, s->stack, &to.stack);
	/* As many as they were, which together weigh the same. */
	for (; left && !rc; left--) {
		to.period = weight / left;
		weight -= to.period;
		rc = swriter_sample(&w->w, SOURCE, &to);
	}
	return rc;
}

static int close_stream(void *ctx)
{
	struct writer *w = ctx;
	struct ps_end end = {.lost = w->c->account.lost};

	end.status = w->c->partial ? PP_EXIT_PARTIAL : PP_EXIT_OK;
	return swriter_end(&w->w, &end);
}

static void free_stream(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	swriter_release(&w->w);
	free(w->strings.v);
	free(w->files.v);
	free(w->dsos.v);
	free(w->frames.v);
	free(w->events.v);
	free(w->stacks);
	free(w->known);
	intern_release(&w->symbols);
	free(w->path);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_stream = {
	.open = open_stream,
	.sample = sample,
	.close = close_stream,
	.free = free_stream,
	.prof = PROF_ADDRS,
};
