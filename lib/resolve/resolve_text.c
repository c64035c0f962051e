/*
 * What came with names: stacks of recordings that were text, and those that another psym has made.
 * Their frames are passed on with ids that do not meet those of frames that are found here.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

/* A symbol of the input in the output; 0: too many. */
static int keep_symbol(struct resolver *r, struct machine *m, const struct ps_symbol *sym,
		       uint32_t dso, uint32_t *out)
{
	uint32_t *slot = map64_put(&m->text.symbols, sym->id, NULL);
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	if (sym->id > m->text.most)
		m->text.most = sym->id;
	if (!*slot)
		rc = resolve_keep_symbol(r, m->source, sym, dso, slot);
	*out = *slot;
	return rc == PP_ELIMIT ? 0 : rc;
}

int resolve_keep_frame(struct resolver *r, struct machine *m, const struct sreader *in, uint32_t id,
		       uint32_t *out)
{
	const struct ps_frame *f = sreader_frame(in, id);
	const struct ps_symbol *sym = f ? sreader_symbol(in, f->symbol) : NULL;
	const struct ps_srcfile *file = f ? sreader_srcfile(in, f->srcfile) : NULL;
	uint32_t *slot = map64_put(&m->text.frames, id, NULL), *dso;
	struct ps_frame rec = f ? *f : (struct ps_frame){0};
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	*out = *slot;
	if (*out)
		return 0;
	dso = map64_get(&r->dsos.by_id, rec.dso);
	rec.dso = dso && *dso ? r->dsos.v[*dso - 1]->out : 0;
	rec.symbol = rec.srcfile = 0;
	if (sym)
		rc = keep_symbol(r, m, sym, rec.dso, &rec.symbol);
	if (!rc && file)
		rc = resolve_put_srcfile(r, m->source, file->path.p, &rec.srcfile);
	if (rc)
		return rc;
	if (!rec.reason || rec.reason >= PS_REASON_MAX)
		rec.reason = PS_REASON_NO_SYMBOL;
	if (sym && rec.symbol && !(sym->flags & PS_SYMBOL_GUESSED))
		rec.reason = PS_REASON_NONE;
	rc = resolve_put_frame(r, m->source, &rec, out);
	*slot = *out;
	return rc;
}

/* ---- beside what is found now ---- */

struct known resolve_known(const struct sreader *in, uint32_t id)
{
	struct known k = {.in = in, .st = id ? sreader_stack(in, id) : NULL};

	k.id = k.st ? id : 0;
	return k;
}

/* The frames of the address that frame `at` is the first of. */
static uint32_t group(const struct known *k, uint32_t at)
{
	uint32_t n = 0;
	const struct ps_frame *f;

	while (at + n < k->st->frames.n) {
		f = sreader_frame(k->in, k->st->frames.v[at + n++]);
		if (!f || !(f->flags & PS_FRAME_INLINED))
			break;
	}
	return n;
}

bool resolve_known_fits(const struct known *k, uint32_t n)
{
	uint32_t groups = 0;

	if (!k->st)
		return false;
	for (uint32_t at = 0; at < k->st->frames.n; at += group(k, at))
		groups++;
	return groups == n || (groups < n && k->st->flags & 1);
}

struct known_frames resolve_known_next(struct known *k)
{
	struct known_frames a = {.first = k->at};
	const struct ps_frame *f;

	if (!k->st)
		return a;
	a.n = group(k, k->at);
	k->at += a.n;
	f = a.n ? sreader_frame(k->in, k->st->frames.v[k->at - 1]) : NULL;
	a.named = f && f->symbol && !f->reason;
	a.guessed = f && f->symbol && f->reason;
	a.line = f && f->srcfile;
	return a;
}

bool resolve_known_wins(const struct resolver *r, const struct known_frames *a, uint32_t id)
{
	uint32_t flags = r->out.lines ? r->out.lines[id & ~FRAME_UNKNOWN] : 0;
	bool less = ((a->named || a->guessed) && id & FRAME_UNKNOWN) ||
		    (a->n > 1 && !(flags & FRAME_INLINED)) || (a->line && !(flags & FRAME_LINE));
	bool more = (a->n == 1 && flags & FRAME_INLINED) || (!a->line && flags & FRAME_LINE);

	return less || (a->named && !more);
}

uint32_t resolve_known_unnamed(const struct known *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->st->frames.n; i++) {
		const struct ps_frame *f = sreader_frame(k->in, k->st->frames.v[i]);

		n += !f || !f->symbol || f->reason;
	}
	return n;
}

/* ---- whole stacks ---- */

int resolve_text_stack(struct resolver *r, struct machine *m, const struct sreader *in,
		       const struct ps_stack *st, uint32_t *n, bool *cut)
{
	int rc = 0;

	*cut = st->frames.n > r->stack.depth_max || (st->flags & 1);
	*n = 0;
	if (r->out.nframes +
		    (st->frames.n < r->stack.depth_max ? st->frames.n : r->stack.depth_max) >
	    r->out.frames_max)
		resolve_restart(r);
	for (uint32_t i = 0; i < st->frames.n && *n < r->stack.depth_max && !rc; i++)
		rc = resolve_keep_frame(r, m, in, st->frames.v[i], &r->stack.frames[(*n)++]);
	return rc;
}

void resolve_text_forget(struct machine *m, const struct ps_record *rec)
{
	if (rec->type == PS_FRAME && rec->frame.id != 1) {
		map64_del(&m->text.frames, rec->frame.id);
	} else if (rec->type == PS_FRAME) {
		map64_clear(&m->text.frames);
	} else if (rec->symbol.id <= m->text.most) {
		map64_clear(&m->text.frames);
		map64_clear(&m->text.symbols);
		m->text.most = 0;
	}
}
