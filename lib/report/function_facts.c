/* What there is to tell of a function, in the order in which all forms have it. */
#include "base/err.h"
#include "report/parts.h"

#include <stdlib.h>

/* The weight of a source line. */
struct line {
	uint32_t file, line;
	uint64_t weight, samples;
};

static int tell_edges(const struct result *s, const struct report_function *f,
		      const struct edges *e, enum fact_kind kind, fact_fn *fn, void *ctx)
{
	uint64_t whole = s->events[f->event].weight;
	double least = report_least(s->r);
	struct buf name = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < e->n && !rc; i++) {
		struct fact fact = {.kind = kind,
				    .weight = e->v[i].weight,
				    .samples = e->v[i].samples,
				    .share = report_share(e->v[i].weight, whole)};

		if (fact.share < least)
			break;
		buf_reset(&name);
		if (e->v[i].call)
			report_call_name(s->r, report_call_get(s->r, e->v[i].call), &name);
		else
			buf_adds(&name, "(outermost function)");
		fact.text = buf_str(&name);
		rc = name.err ? name.err : fn(ctx, f, &fact);
	}
	buf_release(&name);
	return rc;
}

static int by_line(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_weight(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return by_line(va, vb);
}

/* The lines of its places, each once. *n: how many. */
static struct line *lines_of(const struct report_function *f, uint32_t *n)
{
	struct line *v = calloc((size_t)f->nspots + 1, sizeof(*v));
	uint32_t to = 0;

	*n = 0;
	for (uint32_t i = 0; v && i < f->nspots; i++)
		v[i] = (struct line){f->spots[i].at.file, f->spots[i].at.line, f->spots[i].weight,
				     f->spots[i].samples};
	if (!v || !f->nspots)
		return v;
	qsort(v, f->nspots, sizeof(*v), by_line);
	for (uint32_t i = 1; i < f->nspots; i++) {
		if (by_line(&v[to], &v[i]) != 0) {
			v[++to] = v[i];
			continue;
		}
		v[to].weight += v[i].weight;
		v[to].samples += v[i].samples;
	}
	*n = to + 1;
	qsort(v, *n, sizeof(*v), by_weight);
	return v;
}

static int tell_lines(const struct result *s, const struct report_function *f, fact_fn *fn,
		      void *ctx)
{
	uint32_t n;
	struct line *v = lines_of(f, &n);
	bool any = false;
	int rc = v ? 0 : PP_ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++) {
		struct fact fact = {.kind = FACT_LINE,
				    .weight = v[i].weight,
				    .samples = v[i].samples,
				    .share = report_share(v[i].weight, f->code),
				    .line = v[i].line};
		size_t len;

		any |= v[i].file != 0;
		if (!any && i + 1 == n)
			break;
		fact.text = v[i].file ? report_text_get(s->r, v[i].file, &len) : "(not known)";
		fact.file = v[i].file ? fact.text : NULL;
		rc = fn(ctx, f, &fact);
	}
	if (!rc && n && !any)
		rc = fn(ctx, f,
			&(struct fact){
				.kind = FACT_NOTE,
				.text = "no source lines: psym --srcline adds the known ones"});
	free(v);
	return rc;
}

int function_tell(const struct result *s, const struct report_function *f, fact_fn *fn, void *ctx)
{
	uint64_t whole = s->events[f->event].weight;
	struct fact fact = {.kind = FACT_FUNCTION,
			    .weight = f->total,
			    .samples = f->samples,
			    .share = report_share(f->total, whole)};
	size_t len;
	int rc;

	fact.text = report_text_get(s->r, f->sym, &len);
	rc = fn(ctx, f, &fact);
	if (!rc)
		rc = tell_edges(s, f, &f->callers, FACT_CALLER, fn, ctx);
	if (!rc)
		rc = tell_edges(s, f, &f->callees, FACT_CALLEE, fn, ctx);
	if (!rc)
		rc = tell_lines(s, f, fn, ctx);
	return rc || !s->r->o.annotate ? rc : code_tell(s, f, fn, ctx);
}
