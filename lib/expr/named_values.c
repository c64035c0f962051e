/* Values of expressions that are a field, by the names that its numbers have (event/shown.h). */
#include "expr/parts.h"

#include <stdlib.h>

#define NAMES_MAX (1u << 18) /* different names that are kept, and numbers of a field */

/* What a field of an event is called, and what its numbers were called so far. */
struct shown_field {
	struct shown shown;
	struct map64 known;  /* number to the id of a name in x->shown_names; 0: it has none */
	uint32_t source;     /* the recording that `known` is for */
	uint32_t generation; /* of x when it was filled */
};

int shown_field_new(struct program *p, const struct ps_event *e)
{
	const struct field *f;
	struct shown_field *s;
	int rc;

	if (p->n != 1 || p->code->code != INSN_FIELD || !p->value || p->constant)
		return 0;
	f = &p->fields[p->code->arg];
	s = calloc(1, sizeof(*s));
	if (!s)
		return PP_ENOMEM;
	rc = shown_init(&s->shown, e, f);
	if (rc || s->shown.kind == SHOWN_PLAIN) {
		shown_field_free(s);
		return rc;
	}
	p->shown = s;
	return 0;
}

void shown_field_free(struct shown_field *s)
{
	if (!s)
		return;
	shown_release(&s->shown);
	map64_release(&s->known);
	free(s);
}

/* Puts the name of a number into x->shown_text; nothing: it has none. */
static void find(struct expr *x, const struct shown_field *s, uint32_t source, uint64_t num)
{
	const struct expr_symbols *ask = &x->symbols;
	const char *name = NULL;
	size_t len = 0;

	buf_reset(&x->shown_text);
	switch (s->shown.kind) {
	case SHOWN_TEXT: shown_text(&s->shown, num, &x->shown_text); return;
	case SHOWN_ADDRESS: name = ask->name ? ask->name(ask->ctx, source, num, &len) : NULL; break;
	case SHOWN_CGROUP: name = expr_cgroup_path(x, source, num, &len); break;
	case SHOWN_DEVICE:
		name = ask->device ? ask->device(ask->ctx, source, num, &len) : NULL;
		if (!name)
			shown_device(num, &x->shown_text);
		break;
	case SHOWN_PLAIN: return;
	}
	if (name)
		buf_add(&x->shown_text, name, len);
}

/* The id of a number's name, 0: it has none. */
static int name_of(struct expr *x, struct shown_field *s, uint32_t source, uint64_t num,
		   uint32_t *id)
{
	uint32_t *known;
	bool fresh;
	int rc = 0;

	if (s->source != source || s->generation != x->shown_generation || s->known.n > NAMES_MAX)
		map64_clear(&s->known);
	s->source = source;
	s->generation = x->shown_generation;
	known = map64_put(&s->known, num, &fresh);
	if (!known)
		return PP_ENOMEM;
	if (fresh) {
		find(x, s, source, num);
		*known = 0;
		rc = x->shown_text.err;
		if (!rc && x->shown_text.len && x->shown_names.n < NAMES_MAX)
			rc = intern_add(&x->shown_names, x->shown_text.data, x->shown_text.len,
					known, NULL);
	}
	*id = *known;
	return rc;
}

bool shown_value(struct expr *x, struct shown_field *s, uint32_t source, struct qval *v)
{
	uint32_t id;

	if (v->kind != QV_INT)
		return true;
	/* Without memory for a name it is the number: the next allocation will fail, too. */
	if (name_of(x, s, source, v->num, &id) || !id)
		return true;
	v->kind = QV_STR;
	v->s = intern_get(&x->shown_names, id, &v->len);
	return true;
}

void expr_show_names(struct expr *x)
{
	x->shows_names = true;
}

void shown_forget(struct expr *x)
{
	x->shown_generation++;
}

void shown_release_all(struct expr *x)
{
	intern_release(&x->shown_names);
	buf_release(&x->shown_text);
}
