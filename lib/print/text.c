/* The text of a stream: gives each recording the printer that its kind asks for. */
#include "print/text.h"

#include "base/buf.h"
#include "base/err.h"
#include "print/json_records.h"
#include "print/text_perf.h"
#include "print/text_plain.h"
#include "print/text_trace.h"

#include <stdlib.h>

#define KIND_TRACE_DAT 2 /* SOURCE.kind */
#define KIND_TEXT      3

/* The printer of a recording: one of these. */
struct printer {
	struct text_plain *plain;
	struct text_trace *trace;
	struct text_perf *perf;
};

struct stext {
	struct out *out;
	struct stext_opts opts;
	struct diag *d;
	struct printer *printers; /* by source */
	uint32_t nprinters;
	bool in_order; /* there is one whose lines depend on samples before */
	struct text_page page;
	struct text_clock clock;
	struct buf b; /* the line of JSON that is being made */
};

int stext_new(struct stext **out, struct out *o, const struct stext_opts *opts, struct diag *d)
{
	struct stext *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->out = o;
	t->page.out = o;
	t->opts = *opts;
	t->d = d;
	return 0;
}

void stext_to(struct stext *t, struct out *out)
{
	t->out = t->page.out = out;
}

bool stext_in_order(const struct stext *t)
{
	return t->in_order;
}

static void printer_release(struct printer *p)
{
	text_perf_free(p->perf);
	text_trace_free(p->trace);
	text_plain_free(p->plain);
	*p = (struct printer){0};
}

void stext_free(struct stext *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nprinters; i++)
		printer_release(&t->printers[i]);
	free(t->printers);
	text_page_reset(&t->page);
	buf_release(&t->b);
	free(t);
}

/* A stream begins: nothing of the one before is true. */
static int begin_stream(struct stext *t)
{
	int rc = text_page_finish(&t->page);

	for (uint32_t i = 0; i < t->nprinters; i++)
		printer_release(&t->printers[i]);
	text_page_reset(&t->page);
	t->clock = (struct text_clock){0};
	t->in_order = false;
	return rc;
}

/* The printer of a recording; NULL: out of memory. */
static struct printer *printer_of(struct stext *t, uint32_t source)
{
	if (source >= t->nprinters) {
		uint32_t n = source + 8;
		struct printer *v = realloc(t->printers, n * sizeof(*v));

		if (!v)
			return NULL;
		memset(v + t->nprinters, 0, (n - t->nprinters) * sizeof(*v));
		t->printers = v;
		t->nprinters = n;
	}
	return &t->printers[source];
}

/* Whether the recording of a SOURCE is not printed as perf script would. With -F, all are. */
static bool is_special(const struct stext *t, const struct ps_record *rec)
{
	return rec->type == PS_SOURCE && !t->opts.fields.given &&
	       (rec->src.kind == KIND_TRACE_DAT || rec->src.kind == KIND_TEXT);
}

static int print_record(struct stext *t, struct printer *p, const struct sreader *r,
			const struct ps_record *rec)
{
	int rc = 0;

	if (!p->trace && !p->plain && is_special(t, rec)) {
		t->in_order = true;
		if (rec->src.kind == KIND_TRACE_DAT)
			return text_trace_new(&p->trace, &t->page, &rec->src, &t->opts);
		return text_plain_new(&p->plain, &t->page, &t->opts);
	}
	if (p->trace)
		return text_trace_record(p->trace, r, rec);
	if (p->plain)
		return text_plain_record(p->plain, r, rec);
	if (!p->perf)
		rc = text_perf_new(&p->perf, &t->page, &t->clock, &t->opts, t->d);
	return rc ? rc : text_perf_record(p->perf, r, rec);
}

int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	struct printer *p;

	if (t->opts.form == STEXT_JSON && rec->type == PS_SAMPLE &&
	    !stext_shows_cpu(&t->opts, rec->sample.cpu))
		return 0;
	if (t->opts.form == STEXT_JSON)
		return ps_json_record(&t->b, t->out, r, rec);
	if (rec->type == PS_HEADER)
		return begin_stream(t);
	if (rec->type == PS_END)
		return text_page_finish(&t->page);
	p = printer_of(t, rec->source);
	return p ? print_record(t, p, r, rec) : PP_ENOMEM;
}

int stext_pass(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	struct printer *p;

	/* A line of JSON depends on nothing before it. */
	if (t->opts.form == STEXT_JSON)
		return 0;
	if (rec->type == PS_HEADER)
		return begin_stream(t);
	t->in_order |= is_special(t, rec);
	if (t->in_order || rec->type == PS_END)
		return 0;
	p = printer_of(t, rec->source);
	if (!p)
		return PP_ENOMEM;
	if (rec->type == PS_SAMPLE && p->perf)
		return text_perf_pass(p->perf, r, &rec->sample);
	return rec->type == PS_SAMPLE ? 0 : print_record(t, p, r, rec);
}
