/* Compiles print formats to a list of what is printed one after the other. */
#include "print/text_fast.h"

#include "stream/payload.h"
#include "print/text_expr.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define OPS_MAX	  64
#define WIDTH_MAX 32

enum op_kind {
	OP_TEXT,
	OP_SIGNED,
	OP_UNSIGNED,
	OP_HEX,
	OP_POINTER,
	OP_CHARS,
	OP_DYNAMIC,
	OP_WORDS, /* an expression that is a text */
	OP_STATE,
	OP_COMM
};

struct op {
	enum op_kind kind;
	const char *text;  /* OP_TEXT; in the copy of the format */
	uint32_t at, size; /* of the field; OP_TEXT: size of the text */
	bool wide;	   /* 64 bits; else what is printed are the low 32 */
	int width;
	char pad;
	uint32_t pid_at; /* OP_COMM: whose name it is */
	bool computed;	 /* not of a field, but of the expression `expr` */
	uint32_t expr;
};

struct text_fast {
	char *format; /* owned */
	uint32_t long_size;
	struct op ops[OPS_MAX];
	unsigned n;
	struct text_exprs exprs;
};

void text_fast_free(struct text_fast *f)
{
	if (!f)
		return;
	text_exprs_release(&f->exprs);
	free(f->format);
	free(f);
}

/* ---- making ---- */

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

/*
 * ", REC->name", also with a cast to 64 bits, which changes nothing, or ", __get_str(name)": the
 * field of the next conversion.
 */
static bool argument(const struct ps_event *e, struct scan *args, bool *string,
		     struct ps_event_field *f)
{
	const char *name;
	size_t n;

	if (!scan_take(args, ","))
		return false;
	scan_take(args, "(unsigned long long)");
	*string = scan_take(args, "__get_str(");
	if (!*string && !scan_take(args, "REC->"))
		return false;
	name = args->p;
	n = scan_word(args);
	if (!n || !ps_event_field_find(e, name, n, f))
		return false;
	args->p += n;
	return !*string || scan_take(args, ")");
}

/* Flags, width and size of a conversion; *at is then at its letter. */
static bool spec(const struct text_fast *t, const char **at, struct op *o)
{
	const char *p = *at;
	int longs = 0;

	o->pad = ' ';
	if (*p == '0')
		o->pad = *p++;
	while (*p >= '0' && *p <= '9' && o->width < WIDTH_MAX)
		o->width = o->width * 10 + (*p++ - '0');
	if (*p == 'L') {
		longs = 2;
		p++;
	}
	while (*p == 'l' && longs < 2) {
		longs++;
		p++;
	}
	/* libtraceevent prints a long of this machine, unless the recorded one is longer. */
	o->wide = longs == 2 || (longs && (sizeof(long) == 8 || t->long_size == 8));
	*at = p;
	return o->width <= WIDTH_MAX;
}

/* A field as it is. */
static bool plain(const struct ps_event *e, struct scan *args, char letter, struct op *o)
{
	bool string, chars, dynamic;
	struct ps_event_field f;

	if (!argument(e, args, &string, &f) || !text_expr_ends(args))
		return false;
	chars = f.flags & PS_FIELD_STRING && !(f.flags & PS_FIELD_DYNAMIC) &&
		f.flags & PS_FIELD_ARRAY && f.size;
	dynamic = f.flags & PS_FIELD_DYNAMIC && !(f.flags & PS_FIELD_RELATIVE);
	o->at = f.offset;
	o->size = f.size;
	if (letter == 's') {
		o->kind = string ? OP_DYNAMIC : OP_CHARS;
		return string ? dynamic : chars;
	}
	return !string && is_number(&f) &&
	       !(o->width && o->pad == '0' && letter == 'd' && f.size != 4);
}

static bool computed(struct text_fast *t, const struct ps_event *e, struct scan *args, char letter,
		     struct op *o)
{
	if (!scan_take(args, ","))
		return false;
	o->computed = true;
	if (!text_expr_parse(&t->exprs, e, args, &o->expr) ||
	    text_expr_is_text(&t->exprs, o->expr) != (letter == 's') ||
	    (o->width && o->pad == '0' && letter == 'd'))
		return false;
	if (letter == 's')
		o->kind = OP_WORDS;
	return true;
}

/* "%03d" and the like; *at is after the percent sign. */
static bool conversion(struct text_fast *t, const struct ps_event *e, const char **at,
		       struct scan *args)
{
	static const struct {
		char letter;
		enum op_kind kind;
	} letters[] = {{'d', OP_SIGNED},
		       {'u', OP_UNSIGNED},
		       {'x', OP_HEX},
		       {'p', OP_POINTER},
		       {'s', OP_CHARS}};
	struct op o = {0}, *added;
	struct scan rest = *args;
	char letter;
	size_t i = 0;

	if (!spec(t, at, &o))
		return false;
	letter = *(*at)++;
	while (i < sizeof(letters) / sizeof(letters[0]) && letters[i].letter != letter)
		i++;
	if (i == sizeof(letters) / sizeof(letters[0]))
		return false;
	o.kind = letters[i].kind;
	if ((letter == 's' || letter == 'p') && (o.width || o.pad == '0' || o.wide))
		return false;
	/* Other pointers than plain ones: %pS and so on. */
	if (letter == 'p' && isalnum((unsigned char)**at))
		return false;
	if (letter == 'p')
		o.wide = sizeof(void *) == 8;
	if (!plain(e, &rest, letter, &o)) {
		rest = *args;
		if (!computed(t, e, &rest, letter, &o))
			return false;
	}
	*args = rest;
	added = add_op(t, o.kind);
	if (added)
		*added = o;
	return added != NULL;
}

/* The whole of: print fmt: "text %d text", REC->a, REC->b */
static bool compile(struct text_fast *t, const struct ps_event *e)
{
	const char *p = strstr(t->format, "\nprint fmt: \""), *text;
	struct scan args;

	if (!p)
		return false;
	p += strlen("\nprint fmt: \"");
	text = strchr(p, '"');
	if (!text)
		return false;
	args = scan_make(text + 1, strlen(text + 1));
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
	scan_take(&args, "\n");
	return args.p == args.end;
}

/* ---- the scheduler's plugin ---- */

static bool number_op(struct text_fast *t, const struct ps_event *e, const char *name,
		      enum op_kind kind, bool wide, const char *before, const char *after)
{
	struct ps_event_field f;
	struct op *o;

	if (!ps_event_field_find(e, name, strlen(name), &f) || !is_number(&f) ||
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

	if (!ps_event_field_find(e, comm, strlen(comm), &c) ||
	    !ps_event_field_find(e, pid, strlen(pid), &p) || p.size != 4 ||
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
	     (!ps_event_field_find(e, "success", 7, &f) ||
	      number_op(t, e, "success", OP_SIGNED, true, " success=", "")) &&
	     number_op(t, e, "target_cpu", OP_UNSIGNED, true, " CPU:", "");
	if (ok) {
		t->ops[t->n - 1].width = 3;
		t->ops[t->n - 1].pad = '0';
	}
	return ok;
}

struct text_fast *text_fast_new(const struct ps_event *e, uint32_t long_size, bool plugin)
{
	struct text_fast *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->long_size = long_size;
	t->format = strndup(e->format.p ? e->format.p : "", e->format.len);
	if (t->format && (plugin ? sched(t, e) : compile(t, e)))
		return t;
	text_fast_free(t);
	return NULL;
}

/* ---- printing ---- */

/* As libtraceevent has it: read without a sign, then taken for the type of the conversion. */
static void add_number(struct buf *b, const struct op *o, uint64_t v)
{
	int64_t s;

	if (!o->wide)
		v = (uint32_t)v;
	if (o->kind == OP_POINTER) {
		buf_adds(b, v ? "0x" : "(nil)");
		if (v)
			buf_add_hex(b, v, 0, ' ');
		return;
	}
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
	uint32_t w = (uint32_t)ps_payload_number(payload->p + o->at, 4), at = w & 0xffff;

	if (at >= payload->len)
		return false;
	buf_add(b, payload->p + at, strnlen(payload->p + at, payload->len - at));
	return true;
}

static bool add_computed(const struct text_fast *f, const struct op *o,
			 const struct ps_str *payload, struct buf *b)
{
	uint64_t v;

	if (o->kind == OP_WORDS)
		return text_expr_text(&f->exprs, o->expr, payload, b);
	if (!text_expr_number(&f->exprs, o->expr, payload, &v))
		return false;
	add_number(b, o, v);
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
		if (o->computed) {
			if (add_computed(f, o, payload, b))
				continue;
			b->len = start;
			return false;
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
				learn(ctx, (uint32_t)ps_payload_number(payload->p + o->pid_at, 4),
				      (const char *)p, n);
			break;
		case OP_DYNAMIC: ok = add_dynamic(b, o, payload); break;
		case OP_STATE: add_state(b, (uint32_t)ps_payload_number(p, o->size)); break;
		default: add_number(b, o, ps_payload_number(p, o->size));
		}
		if (!ok) {
			b->len = start;
			return false;
		}
	}
	return true;
}
