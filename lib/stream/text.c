#include "stream/text.h"

#include "base/buf.h"
#include "base/err.h"
#include "stream/json.h"
#include "stream/tep_print.h"
#include "stream/text_trace.h"

#include <stdlib.h>

#define ST_TID		(1u << 1)
#define TYPE_TRACEPOINT 2
#define NAME_WIDTH_MAX	1024 /* a name of megabytes shall not widen every line */

struct stext {
	struct out *out;
	struct stext_opts opts;
	struct diag *d;
	struct tep_print *tep;	  /* made at the first tracepoint */
	struct text_trace *trace; /* of the trace.dat that is being printed */
	uint32_t trace_source;
	struct buf b;	/* the line that is being made */
	int name_width; /* of the longest name of an event, as perf pads them */
};

int stext_new(struct stext **out, struct out *o, const struct stext_opts *opts, struct diag *d)
{
	struct stext *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->out = o;
	t->opts = *opts;
	t->d = d;
	return 0;
}

void stext_free(struct stext *t)
{
	if (!t)
		return;
	tep_print_free(t->tep);
	text_trace_free(t->trace);
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
		      const struct ps_event *e)
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
	if (e->name.len < (uint32_t)t->name_width)
		buf_fill(b, ' ', (size_t)t->name_width - e->name.len);
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
		rc = ps_text_spill(&t->b, t->out);
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

static int print_sample(struct stext *t, const struct sreader *r, const struct ps_sample *s)
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
	add_start(t, r, s, e);
	if (e->type == TYPE_TRACEPOINT && ps_sample_has(s, payload)) {
		if (!t->tep && tep_print_new(&t->tep))
			return PP_ENOMEM;
		tep_print_payload(t->tep, e, s, &t->b);
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
	return rc ? rc : out_add(t->out, t->b.data, t->b.len);
}

/* A trace.dat begins: it is printed as trace-cmd does. What came before it is done with. */
static int begin_trace(struct stext *t, const struct ps_record *rec)
{
	int rc = t->trace ? text_trace_finish(t->trace) : 0;

	text_trace_free(t->trace);
	t->trace = NULL;
	t->trace_source = rec->source;
	if (rc || rec->type != PS_SOURCE || rec->src.kind != 2)
		return rc;
	return text_trace_new(&t->trace, t->out, &rec->src, &t->opts);
}

int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	if (t->opts.form == STEXT_JSON)
		return ps_json_record(&t->b, t->out, r, rec);
	if (rec->type == PS_SOURCE || rec->type == PS_HEADER) {
		int rc = begin_trace(t, rec);

		if (rc)
			return rc;
	}
	if (t->trace && (rec->source == t->trace_source || rec->type == PS_END))
		return text_trace_record(t->trace, r, rec);
	if (rec->type == PS_HEADER) {
		tep_print_free(t->tep);
		t->tep = NULL;
	}
	if (rec->type == PS_BLOB) {
		int rc = t->tep ? 0 : tep_print_new(&t->tep);

		return rc ? rc : tep_print_table(t->tep, &rec->blob);
	}
	if (rec->type == PS_EVENT && rec->event.name.len <= NAME_WIDTH_MAX &&
	    (int)rec->event.name.len > t->name_width)
		t->name_width = (int)rec->event.name.len;
	return rec->type == PS_SAMPLE && stext_shows(&t->opts, &rec->sample)
		       ? print_sample(t, r, &rec->sample)
		       : 0;
}
