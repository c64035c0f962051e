/*
 * The stacks of event streams as paths of calls. What a frame has become is remembered by its
 * number in the stream, so that most frames cost a load.
 */
#include "base/array.h"
#include "base/err.h"
#include "stream/ends.h"
#include "report/sample_tree_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */
#define CALLS_MAX   0x7fffffffu

/* FILE:LINE of a frame. */
static int line_text(struct input *s, const struct ps_frame *f, uint32_t *text)
{
	const struct ps_srcfile *file = f->srcfile ? sreader_srcfile(s->in, f->srcfile) : NULL;

	*text = 0;
	if (!file)
		return 0;
	buf_reset(&s->text);
	buf_add(&s->text, file->path.p, file->path.len);
	buf_addf(&s->text, ":%u", f->line);
	return s->text.err ? s->text.err : report_text(s->r, buf_str(&s->text), s->text.len, text);
}

/* The text of a name; that of one that was seen before is known by its number. */
static int name_text(struct input *s, struct known_texts *t, uint32_t id, struct ps_str name,
		     uint32_t *text)
{
	uint32_t *v;
	int rc;

	if (id < t->n && t->v[id]) {
		*text = t->v[id];
		return 0;
	}
	rc = report_text(s->r, name.p, name.len, text);
	v = rc ? NULL : array_widen(t->v, &t->n, id, 1024, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	t->v = v;
	v[id] = *text;
	return 0;
}

void input_forget_texts(struct known_texts *t)
{
	if (t->n)
		memset(t->v, 0, t->n * sizeof(*t->v));
}

static int make_call(struct input *s, const struct ps_frame *f, uint32_t *call)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(s->in, f->symbol) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(s->in, f->dso) : NULL;
	struct report_call c = {.flags = (f->flags & PS_FRAME_KERNEL ? CALL_KERNEL : 0) |
					 (f->flags & PS_FRAME_INLINED ? CALL_INLINED : 0)};
	int rc = 0;

	used(f->symbol, &s->used_symbol);
	used(f->dso, &s->used_dso);
	if (sym)
		rc = name_text(s, &s->symbols, f->symbol, sym->name, &c.sym);
	else if (s->r->o.addrs)
		c.addr = f->addr;
	if (!rc && dso)
		rc = name_text(s, &s->dsos, f->dso, dso->path, &c.dso);
	if (!rc && s->by_line)
		rc = line_text(s, f, &c.line);
	return rc ? rc : report_call(s->r, &c, call);
}

int input_room(struct input *s, size_t n)
{
	uint32_t *path;

	if (n < s->path_cap)
		return 0;
	path = reallocarray(s->path, (n + 64) * 2, sizeof(*path));
	if (!path)
		return PP_ENOMEM;
	s->path = path;
	s->path_cap = (n + 64) * 2;
	return 0;
}

/* What is known of a frame; one that the stream does not define is nothing. */
static int new_call(struct input *s, uint32_t frame, struct known_frame *known)
{
	static const struct ps_frame nothing;
	const struct ps_frame *f = sreader_frame(s->in, frame);
	struct known_frame *v;
	uint32_t call;
	int rc;

	if (!f) {
		s->undefined = true;
		f = &nothing;
		frame = 0;
	}
	v = array_widen(s->frames, &s->nframes, frame, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->frames = v;
	used(frame, &s->used_frame);
	rc = make_call(s, f, &call);
	if (rc)
		return rc;
	if (call > CALLS_MAX)
		return PP_ELIMIT;
	v[frame] = *known = (struct known_frame){.call = call & CALLS_MAX,
						 .lost = f != &nothing && !f->symbol &&
							 f->reason == PS_REASON_NO_MAPPING};
	return 0;
}

static inline int call_of(struct input *s, uint32_t frame, struct known_frame *known)
{
	if (frame >= s->nframes || !s->frames[frame].call)
		return new_call(s, frame, known);
	used(frame, &s->used_frame);
	*known = s->frames[frame];
	return 0;
}

int input_stack(struct input *s, const struct ps_stack *st, size_t *n, uint32_t *end)
{
	uint32_t told = (st->flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT;
	struct known_frame known;
	bool file, marked = ps_end_mark(told, &file);
	int rc = input_room(s, *n + st->frames.n + 1);

	*end = marked ? told : st->flags & PS_STACK_CUT ? PS_END_DEPTH : PS_END_NONE;
	for (uint32_t i = 0; i < st->frames.n && !rc; i++) {
		rc = call_of(s, st->frames.v[i], &known);
		if (rc)
			break;
		s->path[(*n)++] = known.call;
		if (i && known.lost && !*end)
			*end = PS_END_NO_MAPPING;
	}
	return rc;
}

int input_chain(struct input *s, const struct ps_chain *c, size_t *n)
{
	int rc = input_room(s, (size_t)c->ips.n + 1);

	for (uint32_t i = 0; i < c->ips.n && !rc; i++) {
		struct report_call call = {.flags = 0};
		char text[24];
		int len;

		if (c->ips.v[i] >= CONTEXT_MIN)
			continue;
		len = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)c->ips.v[i]);
		rc = report_text(s->r, text, (size_t)len, &call.sym);
		if (!rc)
			rc = report_call(s->r, &call, &s->path[(*n)++]);
	}
	return rc;
}
