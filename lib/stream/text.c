#include "stream/text.h"

#include "base/buf.h"
#include "base/err.h"
#include "stream/json.h"
#include "stream/tep_print.h"
#include "stream/text_trace.h"

#include <stdlib.h>

#define ST_TID		(1u << 1)
#define TYPE_TRACEPOINT 2
#define KIND_TRACE_DAT	2    /* SOURCE.kind */
#define NAME_WIDTH_MAX	1024 /* a name of megabytes shall not widen every line */

/* What is known of a recording. */
struct printer {
	struct tep_print *tep;	  /* made at the first tracepoint */
	struct text_trace *trace; /* of a trace.dat */
	int name_width;		  /* of the longest name of an event, as perf pads them */
};

struct stext {
	struct out *out;
	struct stext_opts opts;
	struct diag *d;
	struct printer *printers; /* by source */
	uint32_t nprinters;
	struct text_page page;
	struct buf b; /* the line that is being made */
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

static void printer_release(struct printer *p)
{
	tep_print_free(p->tep);
	text_trace_free(p->trace);
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

static void add_comm(struct stext *t, const struct sreader *r, uint32_t comm, bool padded)
{
	size_t len;
	const char *s = sreader_string(r, comm, &len);

	if (!s)
		s = ":-1", len = 3;
	if (padded && len < 16)
		buf_fill(&t->b, ' ', 16 - len);
	buf_add_safe(&t->b, s, len);
	buf_addc(&t->b, ' ');
}

static void add_time(struct buf *b, uint64_t ns)
{
	buf_add_u64(b, ns / 1000000000, 5, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000000000 / 1000, 6, '0');
	buf_adds(b, ": ");
}

/* perf goes by the event: a chain may have no address. */
static bool has_chain(const struct ps_event *e, const struct ps_sample *s)
{
	return (e->flags & PS_EVENT_CHAINS) || ps_sample_has(s, chain);
}

static void add_start(struct stext *t, const struct sreader *r, const struct ps_sample *s,
		      const struct ps_event *e, int name_width)
{
	struct buf *b = &t->b;

	add_comm(t, r, s->comm, !has_chain(e, s));
	/* A thread that has ended already is recorded as -1. */
	if (s->tid != PS_NONE || (e->sample_type & ST_TID))
		buf_addf(b, "%5d ", (int)s->tid);
	if (s->cpu != PS_NONE) {
		buf_addc(b, '[');
		buf_add_u64(b, s->cpu, 3, '0');
		buf_adds(b, "] ");
	}
	if (!(s->flags & PS_SAMPLE_NO_TIME))
		add_time(b, s->time);
	if (e->type != TYPE_TRACEPOINT && ps_sample_has(s, period)) {
		buf_add_u64(b, s->period, 10, ' ');
		buf_addc(b, ' ');
	}
	if (e->name.len < (uint32_t)name_width)
		buf_fill(b, ' ', (size_t)name_width - e->name.len);
	buf_add_safe(b, e->name.p, e->name.len);
	buf_adds(b, ": ");
}

static void add_symbol(struct buf *b, const struct sreader *r, const struct ps_frame *f)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(r, f->symbol) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(r, f->dso) : NULL;

	if (sym) {
		buf_add_safe(b, sym->name.p, sym->name.len);
		if (!(f->flags & PS_FRAME_INLINED) && f->addr >= sym->addr)
			buf_addf(b, "+0x%llx", (unsigned long long)(f->addr - sym->addr));
	} else {
		buf_adds(b, "[unknown]");
	}
	buf_adds(b, " (");
	if (f->flags & PS_FRAME_INLINED)
		buf_adds(b, "inlined");
	else if (dso)
		buf_add_safe(b, dso->path.p, dso->path.len);
	else
		buf_adds(b, "[unknown]");
	buf_addc(b, ')');
}

/* The addresses of a chain: PERF_CONTEXT_* markers are none. */
static bool next_ip(const struct ps_chain *c, uint32_t *i, uint64_t *ip)
{
	while (c && *i < c->ips.n) {
		*ip = c->ips.v[(*i)++];
		if (*ip < (uint64_t)-4095)
			return true;
	}
	return false;
}

/*
 * The frames of a stack. Their absolute addresses are those of the call chain; inlined frames share
 * that of the frame they are inlined into, which follows them. Frames that were unwound have none.
 */
static int add_stack(struct stext *t, const struct sreader *r, const struct ps_stack *st,
		     const struct ps_chain *c)
{
	bool shared = false, known = false;
	uint32_t at = 0;
	uint64_t ip = 0;
	int rc = 0;

	buf_addc(&t->b, '\n');
	for (uint32_t i = 0; i < st->frames.n && !rc; i++) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[i]);

		if (!shared)
			known = next_ip(c, &at, &ip);
		shared = f && (f->flags & PS_FRAME_INLINED);
		if (!f)
			continue;
		buf_addc(&t->b, '\t');
		buf_add_hex(&t->b, known ? ip : f->addr, 16, ' ');
		buf_addc(&t->b, ' ');
		add_symbol(&t->b, r, f);
		buf_addc(&t->b, '\n');
		if (t->b.len >= PS_TEXT_SPILL) {
			rc = text_page_add(&t->page, &t->b);
			buf_reset(&t->b);
		}
	}
	return rc;
}

static void add_chain(struct stext *t, const struct ps_chain *c)
{
	uint32_t at = 0;
	uint64_t ip;

	buf_addc(&t->b, '\n');
	while (next_ip(c, &at, &ip)) {
		buf_addc(&t->b, '\t');
		buf_add_hex(&t->b, ip, 16, ' ');
		buf_addc(&t->b, '\n');
	}
}

static int print_sample(struct stext *t, struct printer *p, const struct sreader *r,
			const struct ps_sample *s)
{
	const struct ps_event *e = sreader_event(r, s->event);
	const struct ps_stack *st = ps_sample_has(s, stack) ? sreader_stack(r, s->stack) : NULL;
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(r, s->chain) : NULL;
	int rc = 0;

	if (!e) {
		diag_warn(t->d, NULL, -1,
			  "a sample is of an event that is not defined: not printed");
		return 0;
	}
	buf_reset(&t->b);
	add_start(t, r, s, e, p->name_width);
	if (e->type == TYPE_TRACEPOINT && ps_sample_has(s, payload)) {
		if (!p->tep && tep_print_new(&p->tep))
			return PP_ENOMEM;
		tep_print_payload(p->tep, e, s, &t->b);
	}
	if (has_chain(e, s) && st) {
		rc = add_stack(t, r, st, c);
	} else if (has_chain(e, s)) {
		add_chain(t, c);
	} else if (e->type != TYPE_TRACEPOINT && ps_sample_has(s, ip)) {
		const struct ps_frame *f =
			st && st->frames.n ? sreader_frame(r, st->frames.v[0]) : NULL;

		buf_addc(&t->b, ' ');
		buf_add_hex(&t->b, s->ip, 16, ' ');
		if (f) {
			buf_addc(&t->b, ' ');
			add_symbol(&t->b, r, f);
		}
	}
	buf_addc(&t->b, '\n');
	if (!rc)
		rc = t->b.err;
	return rc ? rc : text_page_add(&t->page, &t->b);
}

/* A stream begins: nothing of the one before is true. */
static int begin_stream(struct stext *t)
{
	int rc = text_page_finish(&t->page);

	for (uint32_t i = 0; i < t->nprinters; i++)
		printer_release(&t->printers[i]);
	text_page_reset(&t->page);
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

static int print_record(struct stext *t, struct printer *p, const struct sreader *r,
			const struct ps_record *rec)
{
	int rc = 0;

	if (rec->type == PS_SOURCE && !p->trace && rec->src.kind == KIND_TRACE_DAT)
		return text_trace_new(&p->trace, &t->page, &rec->src, &t->opts);
	if (p->trace)
		return text_trace_record(p->trace, r, rec);
	switch (rec->type) {
	case PS_BLOB:
		rc = p->tep ? 0 : tep_print_new(&p->tep);
		return rc ? rc : tep_print_table(p->tep, &rec->blob);
	case PS_EVENT:
		if (rec->event.name.len <= NAME_WIDTH_MAX &&
		    (int)rec->event.name.len > p->name_width)
			p->name_width = (int)rec->event.name.len;
		return 0;
	case PS_SAMPLE:
		return stext_shows(&t->opts, &rec->sample) ? print_sample(t, p, r, &rec->sample)
							   : 0;
	default: return 0;
	}
}

int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	struct printer *p;

	if (t->opts.form == STEXT_JSON)
		return ps_json_record(&t->b, t->out, r, rec);
	if (rec->type == PS_HEADER)
		return begin_stream(t);
	if (rec->type == PS_END)
		return text_page_finish(&t->page);
	p = printer_of(t, rec->source);
	return p ? print_record(t, p, r, rec) : PP_ENOMEM;
}
