/* Any record as a line of JSON, by the tables of records.h. */
#include "print/json_records.h"

#include "base/json.h"
#include "stream/codec.h"
#include "stream/payload.h"

/* ---- payloads ---- */

/* The bytes of a field: where they lie, or, of a dynamic one, where it says. False: outside. */
static bool field_bytes(const struct ps_str *payload, const struct ps_event_field *f,
			struct ps_str *bytes)
{
	uint64_t at = f->offset, len = f->size, end = at + len;
	uint32_t word;

	if (end > payload->len)
		return false;
	if (f->flags & PS_FIELD_DYNAMIC) {
		if (len != sizeof(word))
			return false;
		memcpy(&word, payload->p + at, sizeof(word));
		at = (word & 0xffff) + (f->flags & PS_FIELD_RELATIVE ? end : 0);
		len = word >> 16;
		if (at + len > payload->len)
			return false;
	}
	*bytes = ps_str(payload->p + at, len);
	return true;
}

static void add_number(struct buf *b, const char *p, uint32_t size, uint32_t flags)
{
	uint64_t v = ps_payload_number(p, size);
	unsigned unused = 64 - 8 * size;

	if (flags & PS_FIELD_POINTER) {
		buf_adds(b, "\"0x");
		buf_add_hex(b, v, 0, ' ');
		buf_addc(b, '"');
	} else if ((flags & PS_FIELD_SIGNED) && (int64_t)(v << unused) < 0) {
		buf_addc(b, '-');
		buf_add_u64(b, -(uint64_t)((int64_t)(v << unused) >> unused), 0, ' ');
	} else {
		buf_add_u64(b, v, 0, ' ');
	}
}

static void add_hex(struct buf *b, const struct ps_str *s)
{
	buf_addc(b, '"');
	for (uint32_t i = 0; i < s->len; i++)
		buf_add_hex(b, (uint8_t)s->p[i], 2, '0');
	buf_addc(b, '"');
}

static void add_value(struct buf *b, const struct ps_str *s, const struct ps_event_field *f)
{
	bool array = f->flags & (PS_FIELD_ARRAY | PS_FIELD_DYNAMIC);
	uint32_t size = array ? f->element : f->size;

	if (f->flags & PS_FIELD_STRING) {
		buf_add_json(b, s->p, strnlen(s->p, s->len));
	} else if (size != 1 && size != 2 && size != 4 && size != 8) {
		add_hex(b, s);
	} else if (!array) {
		add_number(b, s->p, size, f->flags);
	} else {
		buf_addc(b, '[');
		for (uint32_t i = 0; i + size <= s->len; i += size) {
			if (i)
				buf_addc(b, ',');
			add_number(b, s->p + i, size, f->flags);
		}
		buf_addc(b, ']');
	}
}

/*
 * Appends ',"fields":{...}': the fields of a payload, by the event's table. What does not lie in
 * the payload is null.
 */
static int ps_json_payload(struct buf *b, struct out *o, const struct ps_event *e,
			   const struct ps_str *payload)
{
	/* No byte belongs to two fields: more than this is a table that wants to fill the disk. */
	uint64_t budget = 2 * (uint64_t)payload->len;
	struct ps_event_field f;
	struct ps_str bytes;
	size_t pos = 0;
	int rc = 0;

	buf_adds(b, ",\"fields\":{");
	for (int i = 0; !rc && i < PS_EVENT_FIELDS_MAX && !ps_event_field_next(e, &pos, &f); i++) {
		if (i)
			buf_addc(b, ',');
		buf_add_json(b, f.name.p, f.name.len);
		buf_addc(b, ':');
		if (field_bytes(payload, &f, &bytes) && bytes.len <= budget) {
			budget -= bytes.len;
			add_value(b, &bytes, &f);
		} else {
			buf_adds(b, "null");
		}
		rc = ps_text_spill(b, o);
	}
	buf_addc(b, '}');
	return rc;
}

/* The object that is being made. */
struct line {
	struct buf *b;
	struct out *o;
	const struct sreader *r;
	const struct ps_event *event; /* of the sample */
};

static void json_hex(struct buf *b, const char *name, uint64_t v)
{
	json_key(b, name);
	buf_adds(b, "\"0x");
	buf_add_hex(b, v, 0, ' ');
	buf_addc(b, '"');
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

static void json_frame(struct buf *b, const struct sreader *r, const struct ps_frame *f)
{
	const struct ps_symbol *sym = sreader_symbol(r, f->symbol);
	const struct ps_dso *dso = sreader_dso(r, f->dso);
	const struct ps_srcfile *file = sreader_srcfile(r, f->srcfile);

	buf_addc(b, '{');
	if (f->dso)
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
	if (file)
		json_text(b, "file", file->path.p, file->path.len);
	if (f->line)
		json_num(b, "line", f->line);
	if (f->column)
		json_num(b, "column", f->column);
	buf_addc(b, '}');
}

static void json_stack(struct line *l, const char *name, uint32_t id)
{
	const struct ps_stack *st = sreader_stack(l->r, id);
	bool first = true;
	uint32_t end;

	json_key(l->b, name);
	buf_addc(l->b, '[');
	for (uint32_t i = 0; st && i < st->frames.n; i++) {
		const struct ps_frame *f = sreader_frame(l->r, st->frames.v[i]);

		if (!f)
			continue;
		if (!first)
			buf_addc(l->b, ',');
		first = false;
		json_frame(l->b, l->r, f);
		if (ps_text_spill(l->b, l->o))
			return;
	}
	buf_addc(l->b, ']');
	end = st ? (st->flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT : 0;
	if (end)
		json_text(l->b, "stack_end", ps_end_how(end), strlen(ps_end_how(end)));
	if (st && st->flags & PS_STACK_GUESSED)
		json_num(l->b, "stack_guessed", 1);
	if (st && st->flags & PS_STACK_STITCHED)
		json_num(l->b, "stack_stitched", 1);
}

static void json_ref(struct line *l, const char *name, int bit, uint32_t id)
{
	const struct ps_chain *c;
	const char *text;
	size_t len;

	if (bit == PS_BIT_other_comm) {
		text = sreader_string(l->r, id, &len);
		if (text)
			json_text(l->b, name, text, len);
		return;
	}
	if (bit == PS_BIT_stack || bit == PS_BIT_other_stack || bit == PS_BIT_branch_stack ||
	    bit == PS_BIT_ip_stack) {
		json_stack(l, name, id);
		return;
	}
	c = sreader_chain(l->r, id);
	json_u64s(l->b, name, c ? c->ips.v : NULL, c ? c->ips.n : 0, true);
}

static void json_regs(struct buf *b, const char *name, const struct ps_regs *regs)
{
	json_key(b, name);
	buf_addc(b, '{');
	json_num(b, "abi", regs->abi);
	json_hex(b, "mask", regs->mask);
	json_u64s(b, "regs", regs->v, (size_t)__builtin_popcountll(regs->mask), true);
	buf_addc(b, '}');
}

static void json_branches(struct buf *b, const char *name, const struct ps_branches *br)
{
	json_key(b, name);
	buf_addc(b, '[');
	for (uint32_t i = 0; i < br->n; i++) {
		const uint64_t *v = br->v + 3 * (size_t)i;

		buf_adds(b, i ? ",{" : "{");
		json_hex(b, "from", v[0]);
		json_hex(b, "to", v[1]);
		json_hex(b, "flags", v[2]);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static bool is_address(int bit)
{
	return bit == PS_BIT_ip || bit == PS_BIT_addr || bit == PS_BIT_phys_addr;
}

#define JSON_u64(l, name, bit, v) \
	(is_address(bit) ? json_hex((l)->b, name, v) : json_num((l)->b, name, v))
#define JSON_ref(l, name, bit, v)    json_ref(l, name, bit, v)
#define JSON_str(l, name, bit, v)    json_str_of(l, name, bit, v)
#define JSON_regs(l, name, bit, x)   json_regs((l)->b, name, &(x))
#define JSON_branch(l, name, bit, x) json_branches((l)->b, name, &(x))
#define JSON_u64s(l, name, bit, x)   json_u64s((l)->b, name, (x).v, (x).n, false)

/* A text, or bytes; of a tracepoint whose fields are known, those. */
static void json_str_of(struct line *l, const char *name, int bit, struct ps_str v)
{
	if (bit == PS_BIT_payload && l->event && l->event->fields.len)
		ps_json_payload(l->b, l->o, l->event, &v);
	else if (bit == PS_BIT_key_text)
		json_text(l->b, name, v.p, v.len);
	else
		json_bytes(l->b, name, v);
}

static void json_sample(struct line *l, const struct ps_sample *s)
{
	static const char *const marks[] = {"pass", "fail", "does not apply", "?"};
	const struct ps_event *e = sreader_event(l->r, s->event);
	const char *mark = marks[s->flags & PS_MARK_MASK], *comm;
	struct buf *b = l->b;
	size_t len;

	l->event = e;
	comm = sreader_string(l->r, s->comm, &len);
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
		json_text(b, "mark", mark, strlen(mark));
#define PS_F(bit, kind, name, what) \
	if (s->fields & (UINT64_C(1) << (bit))) \
		JSON_##kind(l, #name, bit, s->name);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
}

/* Fields that are shown in another way than their kind tells. */
enum look {
	LOOK_PLAIN,
	LOOK_NOT,
	LOOK_HEX,
	LOOK_BYTES,
	LOOK_COMM,
	LOOK_TASK,
	LOOK_TABLE,
	LOOK_LIST
};

static enum look look(const struct ps_fielddesc *f)
{
	static const struct {
		const char *name;
		enum ps_kind kind;
		enum look look;
	} looks[] = {
		{"reserved", PS_KIND_u32, LOOK_NOT},   {"comm", PS_KIND_u32, LOOK_COMM},
		{"cpu", PS_KIND_u32, LOOK_TASK},       {"pid", PS_KIND_u32, LOOK_TASK},
		{"tid", PS_KIND_u32, LOOK_TASK},       {"ppid", PS_KIND_u32, LOOK_TASK},
		{"ptid", PS_KIND_u32, LOOK_TASK},      {"other_pid", PS_KIND_u32, LOOK_TASK},
		{"other_tid", PS_KIND_u32, LOOK_TASK}, {"addr", PS_KIND_u64, LOOK_HEX},
		{"pgoff", PS_KIND_u64, LOOK_HEX},      {"build_id", PS_KIND_str, LOOK_BYTES},
		{"tag", PS_KIND_str, LOOK_BYTES},      {"data", PS_KIND_str, LOOK_BYTES},
		{"old_text", PS_KIND_str, LOOK_BYTES}, {"new_text", PS_KIND_str, LOOK_BYTES},
		{"fields", PS_KIND_str, LOOK_TABLE},   {"args", PS_KIND_str, LOOK_LIST},
	};

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (f->kind == looks[i].kind && !strcmp(f->name, looks[i].name))
			return looks[i].look;
	return LOOK_PLAIN;
}

static void json_fields(struct line *l, const struct ps_typedesc *d, const void *fields);

/* EVENT.fields */
static void json_table(struct line *l, const char *name, struct ps_str table)
{
	const struct ps_event e = {.fields = table};
	struct ps_event_field f;
	size_t pos = 0;
	bool first = true;

	json_key(l->b, name);
	buf_addc(l->b, '[');
	while (!ps_event_field_next(&e, &pos, &f)) {
		buf_adds(l->b, first ? "{" : ",{");
		first = false;
		json_fields(l, &ps_event_field_desc, &f);
		buf_addc(l->b, '}');
	}
	buf_addc(l->b, ']');
}

/* PROVENANCE.args: texts that are each ended by a NUL */
static void json_list(struct buf *b, const char *name, struct ps_str list)
{
	uint32_t at = 0;

	json_key(b, name);
	buf_addc(b, '[');
	while (at < list.len) {
		size_t n = strnlen(list.p + at, list.len - at);

		if (at)
			buf_addc(b, ',');
		buf_add_json(b, list.p + at, n);
		at += (uint32_t)n + 1;
	}
	buf_addc(b, ']');
}

static void json_str(struct line *l, const char *name, enum look as, struct ps_str s)
{
	switch (as) {
	case LOOK_BYTES: json_bytes(l->b, name, s); break;
	case LOOK_TABLE: json_table(l, name, s); break;
	case LOOK_LIST: json_list(l->b, name, s); break;
	default: json_text(l->b, name, s.p, s.len);
	}
}

static void json_u32(struct line *l, const char *name, enum look as, uint32_t v)
{
	size_t len;
	const char *text = as == LOOK_COMM ? sreader_string(l->r, v, &len) : NULL;

	if (text)
		json_text(l->b, name, text, len);
	else if (as != LOOK_TASK || v != PS_NONE)
		json_num(l->b, name, v);
}

/* A record by its field table. */
static void json_fields(struct line *l, const struct ps_typedesc *d, const void *fields)
{
	for (const struct ps_fielddesc *f = d->fields; f < d->fields + d->nfields; f++) {
		const void *v = (const uint8_t *)fields + f->offset;
		const struct ps_u64s *numbers = v;
		enum look as = look(f);

		if (as == LOOK_NOT)
			continue;
		switch (f->kind) {
		case PS_KIND_u32: json_u32(l, f->name, as, *(const uint32_t *)v); break;
		case PS_KIND_u64:
			(as == LOOK_HEX ? json_hex : json_num)(l->b, f->name, *(const uint64_t *)v);
			break;
		case PS_KIND_str: json_str(l, f->name, as, *(const struct ps_str *)v); break;
		case PS_KIND_u64s: json_u64s(l->b, f->name, numbers->v, numbers->n, false); break;
		}
	}
}

int ps_json_record(struct buf *b, struct out *o, const struct sreader *r,
		   const struct ps_record *rec)
{
	const struct ps_typedesc *d = ps_typedesc(rec->type);
	struct line l = {.b = b, .o = o, .r = r};

	/* What dictionary records define is shown where it is used. */
	if (!d || rec->type == PS_STRING || (rec->type >= PS_CHAIN && rec->type <= PS_SRCFILE))
		return 0;
	buf_reset(b);
	buf_addc(b, '{');
	json_text(b, "type", d->name, strlen(d->name));
	if (rec->source)
		json_num(b, "source", rec->source);
	if (rec->type == PS_SAMPLE)
		json_sample(&l, &rec->sample);
	else
		json_fields(&l, d, &rec->sample);
	buf_adds(b, "}\n");
	return b->err ? b->err : out_add(o, b->data, b->len);
}
