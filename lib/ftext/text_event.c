/*
 * Events of ftrace text as samples.
 *
 * A payload has a place of 8 bytes for each field, and after them the line: texts are dynamic
 * fields that point into it. The first two fields are always the line and what follows its head.
 *
 * A field is a number until it has a value that is none: then the descriptor is defined again. It
 * is likewise when a line has a field that no line before had; a line without it has 0 or an
 * empty text.
 */
#include "ftext/parts.h"

#include "base/err.h"

#include <stdlib.h>

#define TYPE_SOFTWARE	1 /* of an event whose samples have a period */
#define TYPE_TRACEPOINT 2
#define SLOT		8u
#define OWN_FIELDS	2u /* line, info */
#define DSOS_MAX	4096

/* ---- functions and stacks ---- */

/* The kernel, or the module of "name [module]", which is cut off from the name. */
static int dso_of(struct ftext *t, struct ps_str *name, uint32_t *id)
{
	struct ps_dso d = {.path = ps_str("[kernel.kallsyms]", 17), .flags = PS_DSO_KERNEL};
	const char *open = name->len && name->p[name->len - 1] == ']'
				   ? memrchr(name->p, '[', name->len)
				   : NULL;
	bool fresh;
	int rc;

	if (open && open > name->p + 1 && open[-1] == ' ' && t->dsos.n < DSOS_MAX) {
		d.path = ps_str(open, (size_t)(name->p + name->len - open));
		d.flags = PS_DSO_MODULE;
		name->len = (uint32_t)(open - 1 - name->p);
	}
	rc = intern_add(&t->dsos, d.path.p, d.path.len, id, &fresh);
	d.id = *id;
	return rc || !fresh ? rc : swriter_put(t->w, PS_DSO, t->source, &d);
}

int ftext_func(struct ftext *t, const struct ps_str *text, uint32_t *id)
{
	struct ps_symbol sym = {.name = *text};
	struct ps_frame f = {.flags = PS_FRAME_KERNEL};
	bool fresh;
	int rc;

	*id = 0;
	if (t->funcs.n >= FTEXT_NAMES_MAX || t->funcs.arena.total > FTEXT_NAMES_SUM ||
	    text->len > FTEXT_NAME_MAX)
		return 0;
	rc = intern_add(&t->funcs, text->p, text->len, id, &fresh);
	if (rc || !fresh)
		return rc;
	rc = dso_of(t, &sym.name, &sym.dso);
	sym.id = f.id = f.symbol = *id;
	f.dso = sym.dso;
	if (!rc)
		rc = swriter_put(t->w, PS_SYMBOL, t->source, &sym);
	return rc ? rc : swriter_put(t->w, PS_FRAME, t->source, &f);
}

int ftext_push(struct ftext *t, const struct ps_str *name)
{
	uint32_t id = 0;
	int rc = t->nframes < FTEXT_DEPTH_MAX ? ftext_func(t, name, &id) : 0;

	if (!rc && id)
		t->frames[t->nframes++] = id;
	return rc;
}

/* The stack of t->frames. */
static int put_stack(struct ftext *t, uint32_t *id)
{
	struct ps_stack s = {.frames = {t->frames, t->nframes}};
	bool fresh;
	int rc;

	*id = 0;
	if (!t->nframes)
		return 0;
	rc = hashids_get(&t->stacks, t->frames, t->nframes * sizeof(*t->frames), id, &fresh);
	s.id = *id;
	return rc || !fresh ? rc : swriter_put(t->w, PS_STACK, t->source, &s);
}

/* ---- descriptors ---- */

static int event_of(struct ftext *t, const struct ps_str *buffer, const struct ftext_info *info,
		    struct ftext_event **e)
{
	char key[3 * FTEXT_NAME_MAX + 16];
	size_t n = 0, prefix = strlen(info->prefix);
	uint32_t id;
	bool fresh;
	int rc;

	if (buffer->len < FTEXT_NAME_MAX && buffer->len)
		memcpy(key, buffer->p, n = buffer->len);
	key[n++] = 0;
	memcpy(key + n, info->prefix, prefix);
	if (info->name.len)
		memcpy(key + n + prefix, info->name.p, info->name.len);
	id = intern_find(&t->names, key, n + prefix + info->name.len);
	if (id) {
		*e = &t->events[id - 1];
		return 0;
	}
	if (t->names.n >= FTEXT_EVENTS_MAX) {
		*e = &t->events[0];
		return 0;
	}
	rc = intern_add(&t->names, key, n + prefix + info->name.len, &id, &fresh);
	if (rc)
		return rc;
	if (!(t->names.n & (t->names.n - 1))) {
		struct ftext_event *v = realloc(t->events, (size_t)t->names.n * 2 * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->events = v;
	}
	*e = &t->events[id - 1];
	**e = (struct ftext_event){.id = id, .system = info->system};
	(*e)->name.p = intern_get(&t->names, id, NULL);
	(*e)->name.len = (uint32_t)(n + prefix + info->name.len);
	return 0;
}

static void put_field(struct buf *table, uint32_t index, struct ps_str name, bool text,
		      bool is_unsigned)
{
	struct ps_event_field f = {
		.offset = index * SLOT, .size = SLOT, .element = SLOT, .name = name};

	f.type = is_unsigned ? ps_str("u64", 3) : ps_str("s64", 3);
	f.flags = is_unsigned ? 0 : PS_FIELD_SIGNED;
	if (text) {
		f.size = 4;
		f.element = 1;
		f.flags = PS_FIELD_DYNAMIC | PS_FIELD_STRING;
		f.type = ps_str("__data_loc char[]", 17);
	}
	ps_event_field_add(table, &f);
}

/*
 * The arguments of a system call follow each other: they are an array, too, as in a
 * format.
 */
static void put_array(struct buf *table, const struct ftext_event *e, uint32_t i)
{
	struct ps_event_field f = {.offset = (OWN_FIELDS + i) * SLOT,
				   .size = 6 * SLOT,
				   .element = SLOT,
				   .flags = PS_FIELD_ARRAY,
				   .name = ps_str("args", 4),
				   .type = ps_str("unsigned long", 13)};

	if (i + 5 < e->n && ftext_is(&e->fields[i].name, "arg0") &&
	    ftext_is(&e->fields[i + 5].name, "arg5") && !e->fields[i].is_text)
		ps_event_field_add(table, &f);
}

static int write_event(struct ftext *t, struct ftext_event *e)
{
	/* The key is "buffer\0name". */
	size_t blen = strlen(e->name.p);
	struct ps_event rec = {.id = e->id,
			       .perf_type = TYPE_TRACEPOINT,
			       .config = e->id,
			       .buffer = ps_str(e->name.p, blen)};
	struct buf table = BUF_INIT, name = BUF_INIT;
	int rc;

	if (e->unit) {
		rec.perf_type = TYPE_SOFTWARE;
		rec.flags = PS_EVENT_SAMPLED;
		rec.unit = ps_str(e->unit, strlen(e->unit));
	}
	if (e->system.len) {
		buf_add(&name, e->system.p, e->system.len);
		buf_addc(&name, ':');
	}
	buf_add(&name, e->name.p + blen + 1, e->name.len - blen - 1);
	if (!e->silent) {
		put_field(&table, 0, ps_str("line", 4), true, false);
		put_field(&table, 1, ps_str("info", 4), true, false);
	}
	for (uint32_t i = 0; i < e->n; i++) {
		put_field(&table, OWN_FIELDS + i, e->fields[i].name, e->fields[i].is_text,
			  e->fields[i].is_unsigned);
		put_array(&table, e, i);
	}
	rec.name = ps_str(buf_str(&name), name.len);
	rec.fields = ps_str(buf_str(&table), table.len);
	rc = name.err ? name.err : table.err;
	if (!rc)
		rc = swriter_put(t->w, PS_EVENT, t->source, &rec);
	e->written = true;
	buf_release(&table);
	buf_release(&name);
	return rc;
}

/* ---- payloads ---- */

/* The field of a pair, added when it is new; NULL: there is no room, or no memory. */
static struct ftext_field *field_of(struct ftext *t, struct ftext_event *e,
				    const struct ftext_pair *p, uint32_t i)
{
	struct ftext_field *f;

	if (i < e->n && e->fields[i].name.len == p->key.len &&
	    !memcmp(e->fields[i].name.p, p->key.p, p->key.len))
		return &e->fields[i];
	for (f = e->fields; f < e->fields + e->n; f++)
		if (f->name.len == p->key.len && !memcmp(f->name.p, p->key.p, p->key.len))
			return f;
	if (e->n == FTEXT_FIELDS_MAX)
		return NULL;
	*f = (struct ftext_field){0};
	f->name = ps_str(arena_dup(&t->arena, p->key.p, p->key.len), p->key.len);
	if (!f->name.p)
		return NULL;
	e->n++;
	e->written = false;
	return f;
}

/* The number of a pair; a field that gets something else becomes a text. */
static void take_number(struct ftext_event *e, struct ftext_field *f, const struct ftext_pair *p,
			bool hex, uint64_t *v)
{
	bool is_hex = p->is_hex;

	*v = p->number;
	if (!p->is_number && !ftext_number(&p->text, hex, v, &is_hex)) {
		f->is_text = true;
		e->written = false;
	} else if (is_hex && !f->is_unsigned) {
		f->is_unsigned = true;
		e->written = false;
	}
}

/*
 * The location word of a text in the payload, where the line lies at `base` and has a NUL after
 * it. What is not of the line comes after that.
 */
static uint32_t location(struct ftext *t, const struct ps_str *text, const struct ps_str *line,
			 size_t base)
{
	size_t at = base + line->len + 1 + t->more.len;

	if (text->len && text->p >= line->p && text->p + text->len <= line->p + line->len)
		at = base + (size_t)(text->p - line->p);
	else if (text->len && at + text->len <= UINT16_MAX)
		buf_add(&t->more, text->p, text->len);
	else
		return (uint32_t)(base + line->len);
	return (uint32_t)at | text->len << 16;
}

static int encode(struct ftext *t, struct ftext_event *e, const struct ftext_info *info,
		  const struct ps_str *text, struct ps_str line, struct buf *out)
{
	uint64_t slots[OWN_FIELDS + FTEXT_FIELDS_MAX];
	struct ps_str texts[FTEXT_FIELDS_MAX];
	uint32_t word;
	size_t base;

	memset(texts, 0, e->n * sizeof(*texts));
	memset(slots, 0, (OWN_FIELDS + e->n) * sizeof(*slots));
	buf_reset(&t->more);
	for (uint32_t i = 0; i < info->n; i++) {
		const struct ftext_pair *p = &info->pairs[i];
		uint32_t known = e->n;
		struct ftext_field *f = field_of(t, e, p, i);
		size_t at = f ? (size_t)(f - e->fields) : 0;

		if (!f)
			continue;
		if (e->n > known) {
			texts[at] = (struct ps_str){0};
			slots[OWN_FIELDS + at] = 0;
		}
		if (!f->is_text)
			take_number(e, f, p, info->is_hex, &slots[OWN_FIELDS + at]);
		texts[at] = p->text;
	}
	base = (OWN_FIELDS + e->n) * SLOT;
	/* Of a text the word is the first half of its place. */
	for (uint32_t i = 0; i < OWN_FIELDS + e->n; i++) {
		if (i >= OWN_FIELDS && !e->fields[i - OWN_FIELDS].is_text)
			continue;
		word = location(t,
				!i	 ? &line
				: i == 1 ? text
					 : &texts[i - OWN_FIELDS],
				&line, base);
		slots[i] = 0;
		memcpy(&slots[i], &word, sizeof(word));
	}
	buf_reset(out);
	buf_add(out, slots, base);
	buf_add(out, line.p, line.len);
	buf_addc(out, 0);
	buf_add(out, t->more.data, t->more.len);
	return out->err ? out->err : t->more.err;
}

/* ---- samples ---- */

static int comm_id(struct ftext *t, const struct ps_str *comm, uint32_t *id)
{
	struct ps_string rec;
	bool fresh;
	int rc;

	*id = 0;
	if (!comm->len || ftext_is(comm, "<...>") || t->comms.n >= FTEXT_NAMES_MAX ||
	    t->comms.arena.total > FTEXT_NAMES_SUM)
		return 0;
	rc = intern_add(&t->comms, comm->p, comm->len, id, &fresh);
	rec = (struct ps_string){.id = *id, .text = *comm};
	return rc || !fresh ? rc : swriter_put(t->w, PS_STRING, t->source, &rec);
}

static int fill_sample(struct ftext *t, const struct ftext_head *h, struct ps_sample *s)
{
	*s = (struct ps_sample){.cpu = h->cpu, .pid = h->pid, .tid = h->pid, .time = h->time};
	if (h->tgid != PS_NONE)
		s->pid = h->tgid;
	if (!h->timed)
		s->flags |= PS_SAMPLE_NO_TIME;
	return comm_id(t, &h->comm, &s->comm);
}

static void use_stack(struct ps_sample *s, uint32_t stack)
{
	s->stack = stack;
	if (stack)
		s->fields |= PS_HAS(stack);
}

/* Function and caller are a stack of two; the caller alone would be taken for the function. */
static int function_stack(struct ftext *t, const struct ftext_info *info)
{
	int rc;

	t->nframes = 0;
	rc = ftext_push(t, &info->func);
	return rc || !t->nframes || !info->parent.len ? rc : ftext_push(t, &info->parent);
}

int ftext_hold(struct ftext *t, const struct ftext_head *h, const struct ftext_info *info,
	       const char *line, size_t len)
{
	struct ftext_held *held = &t->held;
	struct ftext_event *e;
	uint32_t stack = 0;
	int rc = 0;

	if (info->stack && held->any && !held->stack && held->s.tid == h->pid &&
	    held->s.cpu == h->cpu) {
		struct ftext_held swap = t->before;

		t->before = *held;
		*held = swap;
	} else {
		rc = ftext_release(t);
	}
	if (rc || (rc = event_of(t, &h->buffer, info, &e)))
		return rc;
	e->silent = info->silent;
	e->unit = info->unit;
	held->any = true;
	held->stack = info->stack;
	held->event = e->id;
	rc = fill_sample(t, h, &held->s);
	held->s.event = e->id;
	if (info->stack) {
		t->nframes = 0;
		buf_reset(&held->line);
		buf_add(&held->line, line, len);
		return rc ? rc : held->line.err;
	}
	if (info->func.len && !rc)
		rc = function_stack(t, info);
	if (!rc)
		rc = put_stack(t, &stack);
	use_stack(&held->s, stack);
	if (!rc)
		rc = encode(t, e, info, &h->info, ps_str(line, len), &held->payload);
	return !rc && !e->written ? write_event(t, e) : rc;
}

static int write_held(struct ftext *t, struct ftext_held *held)
{
	held->any = false;
	held->s.fields |= PS_HAS(payload);
	held->s.payload = ps_str((const char *)held->payload.data, held->payload.len);
	t->lines++;
	return swriter_sample(t->w, t->source, &held->s);
}

/* The lines of a stack are complete. */
static int end_stack(struct ftext *t, struct ftext_held *held)
{
	struct ftext_info none = {.prefix = ""};
	struct ftext_event *e = &t->events[held->event - 1];
	struct ps_str nothing = {0};
	uint32_t stack;
	int rc = put_stack(t, &stack);

	if (t->before.any && stack) {
		use_stack(&t->before.s, stack);
		held->s.flags |= PS_SAMPLE_JOINED;
	} else {
		use_stack(&held->s, stack);
	}
	t->nframes = 0;
	if (!rc)
		rc = encode(t, e, &none, &nothing, ps_str(buf_str(&held->line), held->line.len),
			    &held->payload);
	return !rc && !e->written ? write_event(t, e) : rc;
}

int ftext_release(struct ftext *t)
{
	struct ftext_held *held = &t->held;
	int rc = held->any && held->stack ? end_stack(t, held) : 0;

	if (!rc && t->before.any)
		rc = write_held(t, &t->before);
	if (!rc && held->any)
		rc = write_held(t, held);
	return rc;
}
