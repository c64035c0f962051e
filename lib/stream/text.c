#include "stream/text.h"

#include "base/buf.h"
#include "base/err.h"
#include "stream/codec.h"
#include "stream/tep_print.h"
#include "stream/text_trace.h"

#include <stdlib.h>

#define ST_TID		(1u << 1)
#define TYPE_TRACEPOINT 2

struct stext {
	struct out *out;
	enum stext_form form;
	struct diag *d;
	struct tep_print *tep;	  /* made at the first tracepoint */
	struct text_trace *trace; /* of the trace.dat that is being printed */
	uint32_t trace_source;
	struct buf b;	/* the line that is being made */
	int name_width; /* of the longest name of an event, as perf pads them */
};

int stext_new(struct stext **out, struct out *o, enum stext_form form, struct diag *d)
{
	struct stext *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->out = o;
	t->form = form;
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

/* ---- perf script ---- */

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
	if ((int)e->name.len < t->name_width)
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

static void add_stack(struct stext *t, const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_stack *st = sreader_stack(r, s->stack);
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(r, s->chain) : NULL;
	uint64_t ip = s->ip;
	uint32_t at = 0;

	buf_addc(&t->b, '\n');
	for (uint32_t i = 0; st && i < st->frames.n; i++) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[i]);

		if (!f)
			continue;
		/* Inlined frames share the address of the frame they are inlined into. */
		if (!i || !(st && i && sreader_frame(r, st->frames.v[i - 1]) &&
			    (sreader_frame(r, st->frames.v[i - 1])->flags & PS_FRAME_INLINED)))
			next_ip(c, &at, &ip);
		buf_addc(&t->b, '\t');
		buf_add_hex(&t->b, c ? ip : f->addr, 16, ' ');
		buf_addc(&t->b, ' ');
		add_symbol(&t->b, r, f);
		buf_addc(&t->b, '\n');
	}
}

static void add_chain(struct stext *t, const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(r, s->chain) : NULL;
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
	const struct ps_stack *st;

	if (!e)
		return 0;
	buf_reset(&t->b);
	add_start(t, r, s, e);
	if (e->type == TYPE_TRACEPOINT && ps_sample_has(s, payload)) {
		if (!t->tep && tep_print_new(&t->tep))
			return PP_ENOMEM;
		tep_print_payload(t->tep, e, s, &t->b);
	}
	st = ps_sample_has(s, stack) ? sreader_stack(r, s->stack) : NULL;
	if (has_chain(e, s) && st) {
		add_stack(t, r, s);
	} else if (has_chain(e, s)) {
		add_chain(t, r, s);
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
	return t->b.err ? t->b.err : out_add(t->out, t->b.data, t->b.len);
}

/* ---- JSON ---- */

static void json_key(struct buf *b, const char *name)
{
	if (b->data[b->len - 1] != '{')
		buf_addc(b, ',');
	buf_addc(b, '"');
	buf_adds(b, name);
	buf_adds(b, "\":");
}

static void json_hex(struct buf *b, const char *name, uint64_t v)
{
	json_key(b, name);
	buf_adds(b, "\"0x");
	buf_add_hex(b, v, 0, ' ');
	buf_addc(b, '"');
}

static void json_num(struct buf *b, const char *name, uint64_t v)
{
	json_key(b, name);
	buf_add_u64(b, v, 0, ' ');
}

static void json_text(struct buf *b, const char *name, const char *s, size_t len)
{
	json_key(b, name);
	buf_add_json(b, s ? s : "", s ? len : 0);
}

static void json_bytes(struct buf *b, const char *name, struct ps_str s)
{
	json_key(b, name);
	buf_addc(b, '"');
	for (uint32_t i = 0; i < s.len; i++)
		buf_add_hex(b, (uint8_t)s.p[i], 2, '0');
	buf_addc(b, '"');
}

static void json_u64s(struct buf *b, const char *name, const uint64_t *v, size_t n, bool hex)
{
	json_key(b, name);
	buf_addc(b, '[');
	for (size_t i = 0; i < n; i++) {
		buf_adds(b, i ? (hex ? ",\"0x" : ",") : (hex ? "\"0x" : ""));
		if (hex)
			buf_add_hex(b, v[i], 0, ' ');
		else
			buf_add_u64(b, v[i], 0, ' ');
		if (hex)
			buf_addc(b, '"');
	}
	buf_addc(b, ']');
}

static void json_stack(struct buf *b, const struct sreader *r, const char *name, uint32_t id)
{
	const struct ps_stack *st = sreader_stack(r, id);

	json_key(b, name);
	buf_addc(b, '[');
	for (uint32_t i = 0; st && i < st->frames.n; i++) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[i]);
		const struct ps_symbol *sym = f ? sreader_symbol(r, f->symbol) : NULL;
		const struct ps_dso *dso = f ? sreader_dso(r, f->dso) : NULL;

		if (!f)
			continue;
		buf_adds(b, i ? ",{" : "{");
		json_hex(b, "addr", f->addr);
		if (sym)
			json_text(b, "sym", sym->name.p, sym->name.len);
		else
			json_text(b, "unknown", ps_reason(f->reason), strlen(ps_reason(f->reason)));
		if (dso)
			json_text(b, "dso", dso->path.p, dso->path.len);
		if (f->flags & PS_FRAME_KERNEL)
			json_num(b, "kernel", 1);
		if (f->flags & PS_FRAME_INLINED)
			json_num(b, "inlined", 1);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static void json_chain(struct buf *b, const struct sreader *r, const char *name, uint32_t id)
{
	const struct ps_chain *c = sreader_chain(r, id);

	json_u64s(b, name, c ? c->ips.v : NULL, c ? c->ips.n : 0, true);
}

static void json_ref(struct buf *b, const struct sreader *r, const char *name, int bit, uint32_t id)
{
	if (bit == PS_BIT_stack || bit == PS_BIT_other_stack)
		json_stack(b, r, name, id);
	else
		json_chain(b, r, name, id);
}

#define JSON_u64(b, r, name, bit, v) \
	((bit) == PS_BIT_ip || (bit) == PS_BIT_addr || (bit) == PS_BIT_phys_addr \
		 ? json_hex(b, name, v) \
		 : json_num(b, name, v))
#define JSON_ref(b, r, name, bit, v) json_ref(b, r, name, bit, v)
#define JSON_str(b, r, name, bit, v) json_bytes(b, name, v)
#define JSON_regs(b, r, name, bit, x) \
	json_u64s(b, name, (x).v, (size_t)__builtin_popcountll((x).mask), true)
#define JSON_branch(b, r, name, bit, x) json_u64s(b, name, (x).v, 3 * (size_t)(x).n, true)
#define JSON_u64s(b, r, name, bit, x)	json_u64s(b, name, (x).v, (x).n, false)

static void json_sample(struct stext *t, const struct sreader *r, const struct ps_sample *s)
{
	static const char *const marks[] = {"pass", "fail", "does not apply", "?"};
	const struct ps_event *e = sreader_event(r, s->event);
	struct buf *b = &t->b;
	size_t len;
	const char *comm = sreader_string(r, s->comm, &len);

	json_text(b, "event", e ? e->name.p : "", e ? e->name.len : 0);
	if (!(s->flags & PS_SAMPLE_NO_TIME))
		json_num(b, "time", s->time);
	if (s->cpu != PS_NONE)
		json_num(b, "cpu", s->cpu);
	if (s->pid != PS_NONE)
		json_num(b, "pid", s->pid);
	if (s->tid != PS_NONE)
		json_num(b, "tid", s->tid);
	if (comm)
		json_text(b, "comm", comm, len);
	if (s->flags & PS_MARK_MASK)
		json_text(b, "mark", marks[s->flags & PS_MARK_MASK],
			  strlen(marks[s->flags & PS_MARK_MASK]));
#define PS_F(bit, kind, name, what) \
	if (s->fields & (UINT64_C(1) << (bit))) \
		JSON_##kind(b, r, #name, bit, s->name);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
}

/* A context record by its field table. Texts are texts, build-ids and raw data are hexadecimal. */
static void json_fields(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_typedesc *d = ps_typedesc(rec->type);
	const uint8_t *base = (const uint8_t *)&rec->sample;

	for (const struct ps_fielddesc *f = d->fields; f < d->fields + d->nfields; f++) {
		const void *v = base + f->offset;
		const struct ps_str *s = v;
		uint32_t u = 0;
		size_t len;
		const char *text;

		if (!strcmp(f->name, "reserved"))
			continue;
		if (f->kind == PS_KIND_u32)
			memcpy(&u, v, sizeof(u));
		if (f->kind == PS_KIND_u32 && !strcmp(f->name, "comm") &&
		    (text = sreader_string(r, u, &len)))
			json_text(&t->b, f->name, text, len);
		else if (f->kind == PS_KIND_u32 && u != PS_NONE)
			json_num(&t->b, f->name, u);
		else if (f->kind == PS_KIND_u64 &&
			 (!strcmp(f->name, "addr") || !strcmp(f->name, "pgoff")))
			json_hex(&t->b, f->name, *(const uint64_t *)v);
		else if (f->kind == PS_KIND_u64)
			json_num(&t->b, f->name, *(const uint64_t *)v);
		else if (f->kind == PS_KIND_str &&
			 (!strcmp(f->name, "build_id") || !strcmp(f->name, "tag") ||
			  !strcmp(f->name, "fields") || !strcmp(f->name, "data") ||
			  !strcmp(f->name, "old_text") || !strcmp(f->name, "new_text")))
			json_bytes(&t->b, f->name, *s);
		else if (f->kind == PS_KIND_str)
			json_text(&t->b, f->name, s->p, s->len);
		else if (f->kind == PS_KIND_u64s)
			json_u64s(&t->b, f->name, ((const struct ps_u64s *)v)->v,
				  ((const struct ps_u64s *)v)->n, false);
	}
}

/* Dictionary records are not shown but for events and DSOs: what they define is where it is used.
 */
static int print_json(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	if (rec->type == PS_STRING || (rec->type >= PS_CHAIN && rec->type <= PS_SRCFILE) ||
	    rec->type == PS_HEADER || !ps_typedesc(rec->type))
		return 0;
	buf_reset(&t->b);
	buf_addc(&t->b, '{');
	json_text(&t->b, "type", ps_type_name(rec->type), strlen(ps_type_name(rec->type)));
	if (rec->source)
		json_num(&t->b, "source", rec->source);
	if (rec->type == PS_SAMPLE)
		json_sample(t, r, &rec->sample);
	else
		json_fields(t, r, rec);
	buf_adds(&t->b, "}\n");
	return t->b.err ? t->b.err : out_add(t->out, t->b.data, t->b.len);
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
	return text_trace_new(&t->trace, t->out, &rec->src);
}

int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec)
{
	if (t->form == STEXT_JSON)
		return print_json(t, r, rec);
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
	if (rec->type == PS_EVENT && (int)rec->event.name.len > t->name_width)
		t->name_width = (int)rec->event.name.len;
	return rec->type == PS_SAMPLE && (rec->sample.flags & PS_MARK_MASK) == PS_MARK_PASS
		       ? print_sample(t, r, &rec->sample)
		       : 0;
}
