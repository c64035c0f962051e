#include "stream/text_fast.h"

#include "base/cursor.h"

#include <stdio.h>
#include <stdlib.h>

#define OPS_MAX	  64
#define WIDTH_MAX 32

enum op_kind { OP_TEXT, OP_SIGNED, OP_UNSIGNED, OP_HEX, OP_CHARS, OP_DYNAMIC, OP_STATE, OP_COMM };

struct op {
	enum op_kind kind;
	const char *text;  /* OP_TEXT; in the copy of the format */
	uint32_t at, size; /* of the field; OP_TEXT: size of the text */
	bool wide;	   /* 64 bits; else what is printed are the low 32 */
	int width;
	char pad;
	uint32_t pid_at; /* OP_COMM: whose name it is */
};

struct text_fast {
	char *format; /* owned */
	struct op ops[OPS_MAX];
	unsigned n;
};

void text_fast_free(struct text_fast *f)
{
	if (!f)
		return;
	free(f->format);
	free(f);
}

/* ---- making ---- */

static bool field(const struct ps_event *e, const char *name, size_t len, struct ps_event_field *f)
{
	size_t pos = 0;

	while (!ps_event_field_next(e, &pos, f))
		if (f->name.len == len && !memcmp(f->name.p, name, len))
			return true;
	return false;
}

static bool is_number(const struct ps_event_field *f)
{
	return !(f->flags & (PS_FIELD_ARRAY | PS_FIELD_DYNAMIC)) &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static struct op *add_op(struct text_fast *f, enum op_kind kind)
{
	if (f->n == OPS_MAX)
		return NULL;
	f->ops[f->n] = (struct op){.kind = kind, .pad = ' '};
	return &f->ops[f->n++];
}

static bool add_text(struct text_fast *f, const char *text, size_t len)
{
	struct op *o = len ? add_op(f, OP_TEXT) : NULL;

	if (!o)
		return !len;
	o->text = text;
	o->size = (uint32_t)len;
	return true;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static size_t word(const char *p)
{
	size_t n = 0;

	while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') || p[n] == '_' ||
	       (n && p[n] >= '0' && p[n] <= '9'))
		n++;
	return n;
}

/*
 * ", REC->name", also with a cast to 64 bits, which changes nothing, or ", __get_str(name)": the field
 * of the next conversion.
 */
static bool argument(const struct ps_event *e, const char **args, bool *string,
		     struct ps_event_field *f)
{
	const char *p = skip_blanks(*args);
	size_t n;

	if (*p++ != ',')
		return false;
	p = skip_blanks(p);
	if (!strncmp(p, "(unsigned long long)", 20))
		p = skip_blanks(p + 20);
	*string = !strncmp(p, "__get_str(", 10);
	if (*string)
		p += 10;
	else if (!strncmp(p, "REC->", 5))
		p += 5;
	else
		return false;
	n = word(p);
	if (!n || !field(e, p, n, f))
		return false;
	p = skip_blanks(p + n);
	if (*string && *p++ != ')')
		return false;
	*args = p;
	return true;
}

/* "%03d" and the like; *at is behind the percent sign. */
static bool conversion(struct text_fast *t, const struct ps_event *e, const char **at,
		       const char **args)
{
	struct ps_event_field f;
	const char *p = *at;
	int width = 0, longs = 0;
	char pad = ' ';
	bool string;
	struct op *o;

	if (*p == '0')
		pad = *p++;
	while (*p >= '0' && *p <= '9' && width < WIDTH_MAX)
		width = width * 10 + (*p++ - '0');
	if (*p == 'L') {
		longs = 2;
		p++;
	}
	while (*p == 'l' && longs < 2) {
		longs++;
		p++;
	}
	if (!strchr("duxs", *p) || !*p || !argument(e, args, &string, &f))
		return false;
	*at = p + 1;
	if (*p == 's') {
		bool chars = f.flags & PS_FIELD_STRING && !(f.flags & PS_FIELD_DYNAMIC) &&
			     f.flags & PS_FIELD_ARRAY && f.size;
		bool dynamic = f.flags & PS_FIELD_DYNAMIC && !(f.flags & PS_FIELD_RELATIVE);

		if (width || pad == '0' || longs || (string ? !dynamic : !chars))
			return false;
		o = add_op(t, string ? OP_DYNAMIC : OP_CHARS);
	} else {
		if (string || !is_number(&f) || width > WIDTH_MAX ||
		    (width && pad == '0' && *p == 'd' && f.size != 4))
			return false;
		o = add_op(t, *p == 'd' ? OP_SIGNED : *p == 'u' ? OP_UNSIGNED : OP_HEX);
	}
	if (!o)
		return false;
	o->at = f.offset;
	o->size = f.size;
	o->wide = longs > 0;
	o->width = width;
	o->pad = pad;
	return true;
}

/* The whole of: print fmt: "text %d text", REC->a, REC->b */
static bool compile(struct text_fast *t, const struct ps_event *e)
{
	const char *p = strstr(t->format, "\nprint fmt: \""), *text, *args;

	if (!p)
		return false;
	p += strlen("\nprint fmt: \"");
	args = strchr(p, '"');
	if (!args)
		return false;
	args++;
	for (text = p; *p != '"'; text = p) {
		while (*p != '"' && *p != '%' && *p != '\\')
			p++;
		if (*p == '\\' || !add_text(t, text, (size_t)(p - text)))
			return false;
		if (*p != '%')
			continue;
		p++;
		if (!conversion(t, e, &p, &args))
			return false;
	}
	args = skip_blanks(args);
	return !*args || (*args == '\n' && !args[1]);
}

/* ---- the scheduler's plugin ---- */

static bool number_op(struct text_fast *t, const struct ps_event *e, const char *name,
		      enum op_kind kind, bool wide, const char *before, const char *after)
{
	struct ps_event_field f;
	struct op *o;

	if (!field(e, name, strlen(name), &f) || !is_number(&f) ||
	    !add_text(t, before, strlen(before)))
		return false;
	o = add_op(t, kind);
	if (!o)
		return false;
	o->at = f.offset;
	o->size = f.size;
	o->wide = wide;
	return add_text(t, after, strlen(after));
}

static bool comm_op(struct text_fast *t, const struct ps_event *e, const char *comm,
		    const char *pid)
{
	struct ps_event_field c, p;
	struct op *o;

	if (!field(e, comm, strlen(comm), &c) || !field(e, pid, strlen(pid), &p) || p.size != 4 ||
	    !(c.flags & PS_FIELD_ARRAY) || !c.size)
		return false;
	o = add_op(t, OP_COMM);
	if (!o)
		return false;
	o->at = c.offset;
	o->size = c.size;
	o->pid_at = p.offset;
	return number_op(t, e, pid, OP_SIGNED, true, ":", "");
}

static bool sched(struct text_fast *t, const struct ps_event *e)
{
	struct ps_event_field f;
	bool ok;

#define IS(text) (e->name.len == strlen(text) && !memcmp(e->name.p, text, e->name.len))
	if (IS("sched:sched_switch"))
		return comm_op(t, e, "prev_comm", "prev_pid") &&
		       number_op(t, e, "prev_prio", OP_SIGNED, false, " [", "] ") &&
		       number_op(t, e, "prev_state", OP_STATE, false, "", " ==> ") &&
		       comm_op(t, e, "next_comm", "next_pid") &&
		       number_op(t, e, "next_prio", OP_SIGNED, false, " [", "]");
	if (!IS("sched:sched_wakeup") && !IS("sched:sched_wakeup_new"))
		return false;
#undef IS
	ok = comm_op(t, e, "comm", "pid") && number_op(t, e, "prio", OP_SIGNED, true, " [", "]") &&
	     (!field(e, "success", 7, &f) ||
	      number_op(t, e, "success", OP_SIGNED, true, " success=", "")) &&
	     number_op(t, e, "target_cpu", OP_UNSIGNED, true, " CPU:", "");
	if (ok) {
		t->ops[t->n - 1].width = 3;
		t->ops[t->n - 1].pad = '0';
	}
	return ok;
}

struct text_fast *text_fast_new(const struct ps_event *e, bool plugin)
{
	struct text_fast *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->format = strndup(e->format.p ? e->format.p : "", e->format.len);
	if (t->format && (plugin ? sched(t, e) : compile(t, e)))
		return t;
	text_fast_free(t);
	return NULL;
}

/* ---- printing ---- */

static uint64_t number(const uint8_t *p, uint32_t size)
{
	struct cursor c = cursor_make(p, size, false);

	switch (size) {
	case 1: return get_u8(&c);
	case 2: return get_u16(&c);
	case 4: return get_u32(&c);
	default: return get_u64(&c);
	}
}

/* As libtraceevent has it: read without a sign, then taken for the type of the conversion. */
static void add_number(struct buf *b, const struct op *o, uint64_t v)
{
	int64_t s;

	if (!o->wide)
		v = (uint32_t)v;
	if (o->kind == OP_UNSIGNED) {
		buf_add_u64(b, v, o->width, o->pad);
	} else if (o->kind == OP_HEX) {
		buf_add_hex(b, v, o->width, o->pad);
	} else {
		s = o->wide ? (int64_t)v : (int32_t)v;
		if (s >= 0)
			buf_add_u64(b, (uint64_t)s, o->width, o->pad);
		else
			buf_addf(b, o->pad == '0' ? "%0*lld" : "%*lld", o->width, (long long)s);
	}
}

static void add_state(struct buf *b, uint32_t v)
{
	static const char states[] = "SDTtZXxW";
	bool found = false;

	for (int i = 0; states[i]; i++) {
		if (!(v >> i & 1))
			continue;
		if (found)
			buf_addc(b, '|');
		found = true;
		buf_addc(b, states[i]);
	}
	if (!found)
		buf_addc(b, 'R');
}

static bool add_dynamic(struct buf *b, const struct op *o, const struct ps_str *payload)
{
	uint32_t w = (uint32_t)number((const uint8_t *)payload->p + o->at, 4), at = w & 0xffff;

	if (at >= payload->len)
		return false;
	buf_add(b, payload->p + at, strnlen(payload->p + at, payload->len - at));
	return true;
}

bool text_fast_add(const struct text_fast *f, const struct ps_str *payload, struct buf *b,
		   text_fast_learn *learn, void *ctx)
{
	size_t start = b->len, n;

	for (const struct op *o = f->ops; o < f->ops + f->n; o++) {
		const uint8_t *p = (const uint8_t *)payload->p + o->at;
		bool ok = true;

		if (o->kind == OP_TEXT) {
			buf_add(b, o->text, o->size);
			continue;
		}
		if (o->at > payload->len || o->size > payload->len - o->at ||
		    (o->kind == OP_COMM && o->pid_at + 4 > payload->len)) {
			b->len = start;
			return false;
		}
		switch (o->kind) {
		case OP_CHARS:
		case OP_COMM:
			n = strnlen((const char *)p, o->size);
			buf_add(b, p, n);
			if (o->kind == OP_COMM)
				learn(ctx,
				      (uint32_t)number((const uint8_t *)payload->p + o->pid_at, 4),
				      (const char *)p, n);
			break;
		case OP_DYNAMIC: ok = add_dynamic(b, o, payload); break;
		case OP_STATE: add_state(b, (uint32_t)number(p, o->size)); break;
		default: add_number(b, o, number(p, o->size));
		}
		if (!ok) {
			b->len = start;
			return false;
		}
	}
	return true;
}
