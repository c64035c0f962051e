/* Where in the functions that were asked for samples are: addresses and source lines. */
#include "base/array.h"
#include "base/err.h"
#include "event/glob.h"
#include "report/parts.h"

bool report_wants(const struct report *r, const char *name, size_t len)
{
	const char *want = r->o.function;
	size_t n = want ? strlen(want) : 0;

	/* A view may be asked for any. */
	return !want || (n == len && !memcmp(want, name, n)) || glob_match(want, n, name, len);
}

/* The texts of a place. */
static int fill(struct report *r, const struct sreader *in, const struct ps_frame *outer,
		const struct ps_frame *inner, struct code_place *p)
{
	const struct ps_dso *dso = outer->dso ? sreader_dso(in, outer->dso) : NULL;
	const struct ps_srcfile *file = inner->srcfile ? sreader_srcfile(in, inner->srcfile) : NULL;
	int rc = 0;

	if (dso)
		rc = report_text(r, dso->path.p, dso->path.len, &p->dso);
	if (!rc && dso && dso->build_id.len)
		rc = report_text(r, dso->build_id.p, dso->build_id.len, &p->build_id);
	if (!rc && file) {
		rc = report_text(r, file->path.p, file->path.len, &p->file);
		p->line = inner->line;
	}
	return rc;
}

int report_place(struct report *r, const struct sreader *in, const struct ps_sample *s,
		 uint32_t event, uint64_t weight)
{
	const struct ps_stack *st = ps_sample_has(s, ip_stack) ? sreader_stack(in, s->ip_stack)
				    : ps_sample_has(s, stack)  ? sreader_stack(in, s->stack)
							       : NULL;
	const struct ps_frame *inner, *outer;
	const struct ps_symbol *sym;
	struct place_count *v;
	struct code_place p;
	uint32_t i = 0, id;
	int rc;

	if (!st || !st->frames.n)
		return 0;
	inner = outer = sreader_frame(in, st->frames.v[0]);
	while (outer && outer->flags & PS_FRAME_INLINED && ++i < st->frames.n)
		outer = sreader_frame(in, st->frames.v[i]);
	sym = inner && outer && outer->symbol ? sreader_symbol(in, outer->symbol) : NULL;
	if (!sym || !report_wants(r, sym->name.p, sym->name.len))
		return 0;
	memset(&p, 0, sizeof(p));
	p.addr = outer->addr;
	p.sym_addr = sym->addr;
	p.sym_size = sym->size;
	p.event = event;
	p.flags = outer->flags & PS_FRAME_KERNEL ? CALL_KERNEL : 0;
	rc = report_text(r, sym->name.p, sym->name.len, &p.sym);
	if (!rc)
		rc = fill(r, in, outer, inner, &p);
	if (!rc)
		rc = intern_add(&r->places, &p, sizeof(p), &id, NULL);
	if (rc)
		return rc;
	v = array_widen(r->place_counts, &r->nplace_counts, id, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	r->place_counts = v;
	v[id].samples++;
	if (__builtin_add_overflow(v[id].weight, weight, &v[id].weight))
		v[id].weight = UINT64_MAX;
	return 0;
}
