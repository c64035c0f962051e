/*
 * Stacks that come as names, without addresses: of recordings that were text. They are passed on,
 * with ids that do not meet those of stacks that are resolved here.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

/* A frame of the input in the output. */
static int text_frame(struct resolver *r, struct machine *m, const struct sreader *in, uint32_t id,
		      uint32_t *out)
{
	const struct ps_frame *f = sreader_frame(in, id);
	const struct ps_symbol *sym = f ? sreader_symbol(in, f->symbol) : NULL;
	uint32_t *slot = map64_put(&m->text.frames, id, NULL), *dso;
	struct ps_frame rec = f ? *f : (struct ps_frame){0};
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	*out = *slot;
	if (*out)
		return 0;
	if (sym && f->symbol > m->text.symbols)
		m->text.symbols = f->symbol;
	dso = map64_get(&r->dsos.by_id, rec.dso);
	rec.dso = dso && *dso ? r->dsos.v[*dso - 1]->out : 0;
	rec.symbol = rec.srcfile = 0;
	if (sym)
		rc = resolve_put_symbol(r, m->source, sym->name.p, rec.dso, sym->addr, sym->size,
					&rec.symbol);
	if (rc && rc != PP_ELIMIT)
		return rc;
	rec.reason = rec.symbol ? PS_REASON_NONE : PS_REASON_NO_SYMBOL;
	rc = resolve_put_frame(r, m->source, &rec, out);
	*slot = *out;
	return rc;
}

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
		rc = text_frame(r, m, in, st->frames.v[i], &r->stack.frames[(*n)++]);
	return rc;
}

void resolve_text_forget(struct machine *m, const struct ps_record *rec)
{
	if (!m->text.frames.n)
		return;
	if (rec->type == PS_FRAME && rec->frame.id != 1)
		map64_del(&m->text.frames, rec->frame.id);
	else if (rec->type == PS_FRAME || rec->symbol.id <= m->text.symbols)
		map64_clear(&m->text.frames);
}
