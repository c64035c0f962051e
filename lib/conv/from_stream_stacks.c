/*
 * Frames and stacks of event streams, by their numbers there. Of stacks that come in parts, each
 * part is made once.
 */
#include "conv/from_stream.h"

#include "base/array.h"
#include "base/err.h"
#include "stream/ends.h"

#include <stdio.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */
#define MARKS	    (PS_STACK_END_MASK | ~0u << PS_STACK_BYTES_SHIFT) /* what a mark says */

static int names_of(struct stream_input *s, uint32_t id, struct prof_frame *to)
{
	const struct ps_symbol *sym = sreader_symbol(s->in, id);
	struct known_symbol *v;
	int rc = 0;

	used(id, &s->used_symbol);
	if (!sym)
		return 0;
	v = array_widen(s->symbols, &s->nsymbols, id, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->symbols = v;
	v += id;
	if (!v->known)
		rc = prof_text(s->c->p, sym->name.p, sym->name.len, &v->name);
	if (!rc && !v->known)
		rc = prof_text(s->c->p, sym->linkage.p, sym->linkage.len, &v->linkage);
	v->known = !rc;
	to->name = v->name;
	to->linkage = v->linkage;
	return rc;
}

static int dso_of(struct stream_input *s, uint32_t id, uint32_t *to)
{
	const struct ps_dso *dso = sreader_dso(s->in, id);
	struct prof_dso d = {0};
	uint32_t *v;
	int rc = 0;

	used(id, &s->used_dso);
	if (!dso)
		return 0;
	v = array_widen(s->dsos, &s->ndsos, id, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->dsos = v;
	if (!v[id]) {
		d.flags = dso->flags;
		rc = prof_text(s->c->p, dso->path.p, dso->path.len, &d.path);
		if (!rc)
			rc = prof_hex(s->c->p, dso->build_id.p, dso->build_id.len, &d.build_id);
		if (!rc)
			rc = prof_dso(s->c->p, &d, to);
		v[id] = rc ? 0 : *to + 1;
	}
	*to = rc ? 0 : v[id] - 1;
	return rc;
}

static int file_of(struct stream_input *s, uint32_t id, uint32_t *to)
{
	const struct ps_srcfile *file = sreader_srcfile(s->in, id);
	uint32_t *v;
	int rc = 0;

	if (!file)
		return 0;
	v = array_widen(s->files, &s->nfiles, id, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->files = v;
	if (!v[id]) {
		rc = prof_text(s->c->p, file->path.p, file->path.len, to);
		v[id] = rc ? 0 : *to + 1;
	}
	*to = rc ? 0 : v[id] - 1;
	return rc;
}

static int make_frame(struct stream_input *s, const struct ps_frame *f, uint32_t *id)
{
	struct prof_frame to = {.addr = f->addr, .line = f->line};
	int rc = f->symbol ? names_of(s, f->symbol, &to) : 0;

	to.flags = (f->flags & PS_FRAME_KERNEL ? PROF_FRAME_KERNEL : 0) |
		   (f->flags & PS_FRAME_INLINED ? PROF_FRAME_INLINED : 0);
	if (!rc && f->dso)
		rc = dso_of(s, f->dso, &to.dso);
	if (!rc && f->srcfile)
		rc = file_of(s, f->srcfile, &to.file);
	return rc ? rc : prof_frame(s->c->p, &to, id);
}

static int frame_of(struct stream_input *s, uint32_t id, uint32_t *frame)
{
	static const struct ps_frame nothing;
	const struct ps_frame *f;
	uint32_t *v;
	int rc;

	if (id < s->nframes && s->frames[id]) {
		used(id, &s->used_frame);
		*frame = s->frames[id];
		return 0;
	}
	f = sreader_frame(s->in, id);
	if (!f) {
		s->undefined = true;
		return make_frame(s, &nothing, frame);
	}
	v = array_widen(s->frames, &s->nframes, id, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->frames = v;
	used(id, &s->used_frame);
	rc = make_frame(s, f, frame);
	if (!rc)
		v[id] = *frame;
	return rc;
}

/* Makes room for n frames in the path. */
static int room(struct stream_input *s, size_t n)
{
	uint32_t *v = n > INT32_MAX
			      ? NULL
			      : array_widen(s->path, &s->path_cap, (uint32_t)n, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->path = v;
	return 0;
}

/* The frame that a stack with a mark begins with, by its flags and its outermost frame; or 0. */
static int mark_of(struct stream_input *s, uint32_t flags, uint32_t outermost, uint32_t *frame)
{
	const struct ps_frame *outer = outermost ? sreader_frame(s->in, outermost) : NULL;
	const struct ps_dso *dso = outer && outer->dso ? sreader_dso(s->in, outer->dso) : NULL;
	struct prof_frame mark = {.flags = PROF_FRAME_MARK};
	struct known_mark *known;
	uint32_t id = dso ? dso->id : 0;
	int rc;

	*frame = 0;
	if (!(flags & PS_STACK_END_MASK))
		return 0;
	flags &= MARKS;
	used(id, &s->used_dso);
	known = &s->marks[(id * 31 + (flags >> PS_STACK_END_SHIFT)) % MARKS_KEPT];
	if (known->frame && known->flags == flags && known->dso == id) {
		*frame = known->frame;
		return 0;
	}
	buf_reset(&s->text);
	ps_end_mark_add(&s->text, flags, dso ? dso->path : ps_str("", 0));
	rc = s->text.err ? s->text.err
			 : prof_text(s->c->p, buf_str(&s->text), s->text.len, &mark.name);
	if (!rc && mark.name)
		rc = prof_frame(s->c->p, &mark, frame);
	*known = (struct known_mark){flags, id, *frame};
	return rc;
}

/* Adds the frames of a stack, and its mark as the outermost. */
static int add_stack(struct stream_input *s, const struct ps_stack *st, size_t *n)
{
	uint32_t count = st->frames.n, mark;
	int rc = room(s, *n + count + 1);

	for (uint32_t i = 0; i < count && !rc; i++)
		rc = frame_of(s, st->frames.v[i], &s->path[(*n)++]);
	if (!rc)
		rc = mark_of(s, st->flags, count ? st->frames.v[count - 1] : 0, &mark);
	if (!rc && mark)
		s->path[(*n)++] = mark;
	return rc;
}

/* Appends the frames of a part to the path. */
static int add_part(struct stream_input *s, uint32_t id, size_t *n)
{
	struct ps_part p;
	int rc = sreader_stack_part(s->in, id, &p) ? room(s, *n + p.n) : PP_ENOENT;

	for (uint32_t i = 0; i < p.n && !rc; i++)
		rc = frame_of(s, (uint32_t)p.words[i], &s->path[(*n)++]);
	return rc;
}

/* A part is *stack, which becomes the one without it. *left_out frames have no place in it. */
static int know_part(struct stream_input *s, uint32_t id, uint32_t flags, size_t *left_out,
		     uint32_t *stack)
{
	struct known_part *v = array_widen(s->parts, &s->nparts, id, 4096, sizeof(*v));
	struct ps_part p;
	uint32_t frame;

	if (!v)
		return PP_ENOMEM;
	s->parts = v;
	v[id] = (struct known_part){*stack, flags, true};
	if (!sreader_stack_part(s->in, id, &p))
		return PP_ENOENT;
	for (uint32_t i = 0; i < p.n; i++) {
		if (*left_out)
			--*left_out;
		else
			*stack = prof_up(s->c->p, *stack, &frame);
	}
	return 0;
}

/* The stack of the new parts, whose ids the path begins with, leaf first, on top of *stack. */
static int new_parts(struct stream_input *s, uint32_t flags, size_t parts, uint32_t *stack)
{
	size_t n = parts, left_out = 0;
	uint32_t up;
	int rc = 0;

	for (size_t i = parts; i && !rc; i--)
		rc = add_part(s, s->path[i - 1], &n);
	if (!rc && n > parts)
		rc = prof_path(s->c->p, *stack, s->path + parts, n - parts, stack, &left_out);
	up = *stack;
	for (size_t i = 0; i < parts && !rc; i++)
		rc = know_part(s, s->path[i], flags, &left_out, &up);
	return rc;
}

/* A stack that came in parts, of which only those are made that are new. PP_ENOENT: it did not. */
static int parts_of(struct stream_input *s, uint32_t id, uint32_t *stack)
{
	struct ps_part p = {.parent = id};
	const struct known_part *v = NULL;
	uint32_t flags, mark, at;
	size_t n = 0;
	int rc = sreader_stack_part(s->in, id, &p) ? 0 : PP_ENOENT;

	flags = p.flags & MARKS;
	for (at = id; at && !rc; at = p.parent) {
		v = at < s->nparts ? &s->parts[at] : NULL;
		if (v && v->known && v->flags == flags)
			break;
		v = NULL;
		rc = sreader_stack_part(s->in, at, &p) ? room(s, n + 1) : PP_ENOENT;
		if (!rc)
			s->path[n++] = at;
	}
	*stack = v ? v->stack : 0;
	if (!rc && !v)
		rc = mark_of(s, flags, p.n ? (uint32_t)p.words[0] : 0, &mark);
	if (!rc && !v && mark)
		rc = prof_push(s->c->p, 0, mark, stack);
	return rc ? rc : new_parts(s, flags, n, stack);
}

static int add_chain(struct stream_input *s, const struct ps_chain *c, size_t *n)
{
	int rc = room(s, *n + c->ips.n);

	for (uint32_t i = 0; i < c->ips.n && !rc; i++) {
		struct prof_frame f = {0};
		char text[24];

		if (c->ips.v[i] >= CONTEXT_MIN)
			continue;
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)c->ips.v[i]);
		rc = prof_text(s->c->p, text, strlen(text), &f.name);
		if (!rc)
			rc = prof_frame(s->c->p, &f, &s->path[(*n)++]);
	}
	return rc;
}

/* The frames at ip, on top of a chain that begins elsewhere. */
static int stack_at_ip(struct stream_input *s, const struct ps_sample *p, uint32_t *stack)
{
	const struct ps_stack *st = sreader_stack(s->in, p->ip_stack);
	size_t n = 0, first;
	int rc = st ? add_stack(s, st, &n) : 0;

	first = n;
	s->undefined |= !st;
	st = sreader_stack(s->in, p->stack);
	s->undefined |= !st;
	if (!rc && st)
		rc = add_stack(s, st, &n);
	/* It begins in the same function. */
	if (!rc && first && n > first &&
	    prof_frame_of(s->c->p, s->path[first])->name ==
		    prof_frame_of(s->c->p, s->path[first - 1])->name)
		memmove(s->path + first, s->path + first + 1, (--n - first) * sizeof(*s->path));
	return rc ? rc : prof_stack(s->c->p, s->path, n, stack);
}

int stream_stack(struct stream_input *s, const struct ps_sample *p, uint32_t *stack)
{
	uint32_t *known = p->stack < s->nstacks ? &s->stacks[p->stack] : NULL;
	const struct ps_stack *st;
	size_t n = 0;
	int rc;

	if (ps_sample_has(p, ip_stack))
		return stack_at_ip(s, p, stack);
	if (known && *known) {
		*stack = *known - 1;
		return 0;
	}
	rc = parts_of(s, p->stack, stack);
	if (rc == PP_ENOENT) {
		st = sreader_stack(s->in, p->stack);
		s->undefined |= !st;
		rc = st ? add_stack(s, st, &n) : 0;
		if (!rc)
			rc = prof_stack(s->c->p, s->path, n, stack);
		if (!st || rc)
			return rc;
	}
	if (!rc && !known) {
		known = array_widen(s->stacks, &s->nstacks, p->stack, 4096, sizeof(*known));
		if (!known)
			return PP_ENOMEM;
		s->stacks = known;
		known += p->stack;
	}
	if (!rc)
		*known = *stack + 1;
	return rc;
}

int stream_chain(struct stream_input *s, uint32_t id, uint32_t *stack)
{
	const struct ps_chain *c = sreader_chain(s->in, id);
	uint32_t *known = map64_put(&s->chains, id, NULL);
	size_t n = 0;
	int rc = 0;

	if (!known)
		return PP_ENOMEM;
	s->c->account.raw++;
	s->undefined |= !c;
	used(id, &s->used_chain);
	if (!*known) {
		rc = c ? add_chain(s, c, &n) : 0;
		if (!rc)
			rc = prof_stack(s->c->p, s->path, n, stack);
		*known = rc ? 0 : *stack + 1;
	}
	*stack = rc ? 0 : *known - 1;
	return rc;
}
