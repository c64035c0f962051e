/*
 * Expressions from their text to the mark of a sample: programs by event, what was asked in vain.
 */
#include "expr/parts.h"

#include "base/err.h"
#include "base/opt.h"

#include <stdlib.h>

#define NEAR_MAX 4096 /* names that are looked through for a near one */

int expr_new(struct expr **out, const char *text, enum expr_use use, struct buf *why)
{
	struct expr *x = calloc(1, sizeof(*x));
	int rc;

	*out = NULL;
	if (!x)
		return PP_ENOMEM;
	x->use = use;
	rc = expr_add(x, text, why);
	if (rc)
		expr_free(x);
	else
		*out = x;
	return rc;
}

int expr_add(struct expr *x, const char *text, struct buf *why)
{
	struct expr_source *src = arena_alloc(&x->arena, sizeof(*src));
	size_t len = strlen(text);

	if (!src)
		return PP_ENOMEM;
	if (len > EXPR_TEXT_MAX) {
		buf_addf(why, "longer than %d bytes", EXPR_TEXT_MAX);
		return PP_EUSAGE;
	}
	src->text = arena_dup(&x->arena, text, len);
	src->len = len;
	return src->text ? expr_parse(x, src, why) : PP_ENOMEM;
}

void expr_symbols(struct expr *x, const struct expr_symbols *symbols)
{
	x->symbols = *symbols;
}

static unsigned programs_each(const struct expr *x)
{
	return x->use == EXPR_VALUES ? x->nitems : 1;
}

/* Forgets what was compiled for an event. */
static void forget(struct expr *x, uint32_t event)
{
	unsigned each = programs_each(x);

	if (event >= x->room || !x->compiled[event])
		return;
	for (unsigned i = 0; i < each; i++)
		program_release(&x->programs[event * each + i]);
	x->compiled[event] = 0;
}

static void forget_all(struct expr *x)
{
	for (uint32_t e = 0; e < x->room; e++)
		forget(x, e);
}

void expr_free(struct expr *x)
{
	if (!x)
		return;
	forget_all(x);
	free(x->programs);
	free(x->compiled);
	for (struct expr_node *n = x->regexes; n; n = n->next)
		rx_free(n->regex);
	for (uint32_t i = 0; i < x->nmemos; i++)
		free(x->memos[i].known);
	intern_release(&x->names);
	expr_forget_cgroups(x);
	shown_release_all(x);
	arena_release(&x->arena);
	free(x);
}

/* ---- what comes in the stream ---- */

static int make_room(struct expr *x, uint32_t event)
{
	unsigned each = programs_each(x);
	uint32_t room = x->room ? x->room : 16;
	struct program *programs;
	uint8_t *compiled;

	if (event < x->room)
		return 0;
	while (room <= event)
		room *= 2;
	programs = realloc(x->programs, (size_t)room * each * sizeof(*programs));
	if (!programs)
		return PP_ENOMEM;
	x->programs = programs;
	compiled = realloc(x->compiled, room);
	if (!compiled)
		return PP_ENOMEM;
	x->compiled = compiled;
	memset(compiled + x->room, 0, room - x->room);
	x->room = room;
	return 0;
}

static int compile(struct expr *x, uint32_t event, const struct ps_event *e)
{
	unsigned each = programs_each(x);
	int rc = make_room(x, event);

	for (unsigned i = 0; !rc && i < each; i++) {
		rc = expr_compile(x, i, e, &x->programs[event * each + i]);
		for (unsigned done = 0; rc && done < i; done++)
			program_release(&x->programs[event * each + done]);
	}
	if (!rc)
		x->compiled[event] = 1;
	return rc;
}

/* Remembers the names of an event's fields, for the nearest one to a name that nobody has. */
static int note_names(struct expr *x, const struct ps_event *e)
{
	struct ps_event_field f;
	size_t pos = 0;
	int rc = 0;

	while (!rc && x->names.n < EXPR_NAMES_MAX && !ps_event_field_next(e, &pos, &f)) {
		uint32_t id;

		rc = intern_add(&x->names, f.name.p, f.name.len, &id, NULL);
	}
	return rc;
}

/* Ids up to `id` of a dictionary have room in its memos; what is known of this one is not true any
 * more. */
static int memo_see(struct expr *x, bool stacks, uint32_t id)
{
	for (uint32_t i = 0; i < x->nmemos; i++) {
		struct memo *m = &x->memos[i];
		uint32_t cap = m->cap ? m->cap : 256;
		uint8_t *known;

		if (m->stacks != stacks || id > PS_ID_MAX)
			continue;
		if (id < m->cap) {
			m->known[id] = 0;
			continue;
		}
		while (cap <= id)
			cap *= 2;
		known = realloc(m->known, cap);
		if (!known)
			return PP_ENOMEM;
		memset(known + m->cap, 0, cap - m->cap);
		m->known = known;
		m->cap = cap;
	}
	return 0;
}

static void memo_clear(struct expr *x, bool stacks)
{
	for (uint32_t i = 0; i < x->nmemos; i++)
		if (x->memos[i].stacks == stacks && x->memos[i].known)
			memset(x->memos[i].known, 0, x->memos[i].cap);
}

/* A new event may bring new memos: they get room for all ids so far. */
static int see_event(struct expr *x, const struct sreader *r, uint32_t id)
{
	const struct ps_event *e = sreader_event(r, id);
	uint32_t memos = x->nmemos;
	int rc;

	if (!e)
		return 0;
	x->events++;
	forget(x, id);
	rc = compile(x, id, e);
	if (!rc)
		rc = note_names(x, e);
	if (!rc && x->nmemos != memos)
		rc = memo_see(x, true, x->stacks);
	if (!rc && x->nmemos != memos)
		rc = memo_see(x, false, x->strings);
	return rc;
}

int expr_see(struct expr *x, const struct sreader *r, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_HEADER:
		shown_forget(x);
		forget_all(x);
		expr_forget_cgroups(x);
		memo_clear(x, true);
		memo_clear(x, false);
		x->strings = x->stacks = 0;
		return 0;
	case PS_CGROUP: shown_forget(x); return expr_see_cgroup(x, rec);
	case PS_KSYMBOL: shown_forget(x); return 0;
	case PS_EVENT: return see_event(x, r, rec->event.id);
	case PS_STRING:
		if (rec->string.id > x->strings)
			x->strings = rec->string.id;
		return memo_see(x, false, rec->string.id);
	case PS_SYMBOL:
	case PS_FRAME:
		/* Id 1 again: the whole dictionary begins anew. */
		if (rec->symbol.id == 1)
			memo_clear(x, true);
		return 0;
	case PS_STACK:
		if (rec->stack.id == 1)
			memo_clear(x, true);
		if (rec->stack.id > x->stacks)
			x->stacks = rec->stack.id;
		return memo_see(x, true, rec->stack.id);
	default: return 0;
	}
}

/* ---- running ---- */

enum ps_mark expr_mark(struct expr *x, const struct sreader *r, const struct ps_record *rec)
{
	uint32_t event = rec->sample.event;
	struct qval v;

	if (event >= x->room || !x->compiled[event])
		return PS_MARK_NA;
	return program_mark(x, &x->programs[event], r, rec, &v);
}

unsigned expr_count(const struct expr *x)
{
	return x->nitems;
}

struct ps_str expr_text(const struct expr *x, unsigned i)
{
	const struct item *item = &x->items[i];

	return ps_str(item->src->text + item->node->at, item->node->end - item->node->at);
}

bool expr_value(struct expr *x, unsigned i, const struct sreader *r, const struct ps_record *rec,
		struct qval *v)
{
	uint32_t event = rec->sample.event;
	const struct program *p;
	enum ps_mark mark;

	v->kind = QV_NA;
	if (event >= x->room || !x->compiled[event])
		return false;
	p = &x->programs[event * programs_each(x) + i];
	/* A field, and nothing to reckon. */
	if (p->n == 1 && p->code->code == INSN_FIELD && p->value && !p->constant)
		return field_get(&p->fields[p->code->arg], r, rec, v) &&
		       (!p->shown || shown_value(x, p->shown, rec->source, v));
	mark = program_mark(x, p, r, rec, v);
	if (p->value || mark == PS_MARK_NA)
		return v->kind != QV_NA;
	*v = (struct qval){.kind = QV_INT, .is_unsigned = true, .num = mark == PS_MARK_PASS};
	return true;
}

/* ---- problems ---- */

/* The known name that is nearest to a word. */
static const char *near_name(const struct expr *x, const struct expr_node *n)
{
	const char **names, *near;
	char word[64];
	size_t count = 0;

	if (n->len >= sizeof(word))
		return NULL;
	names = calloc(NEAR_MAX + FIELD_PAYLOAD, sizeof(*names));
	if (!names)
		return NULL;
	memcpy(word, n->s, n->len);
	word[n->len] = 0;
	for (int i = 0; i < FIELD_PAYLOAD; i++)
		names[count++] = field_name((enum field_id)i);
	for (uint32_t id = 1; id <= x->names.n && id <= NEAR_MAX; id++)
		names[count++] = intern_get(&x->names, id, NULL);
	near = opt_nearest(word, names, count);
	free(names);
	return near;
}

static void say(const struct expr_source *src, const struct expr_node *n, struct buf *why,
		const char *what)
{
	if (why->len)
		buf_addc(why, '\n');
	expr_say(src, n->at, n->end - n->at, why, "%s", what);
}

static void say_unknown(const struct expr *x, const struct expr_source *src,
			const struct expr_node *n, struct buf *why)
{
	struct buf what = BUF_INIT;
	const char *near;

	if (n->names_of.p) {
		buf_addf(&what, "no event has the field or the name '%.*s', for a value of %.*s",
			 (int)n->len, n->s, (int)n->names_of.len, n->names_of.p);
	} else {
		buf_addf(&what, "no event of the stream has the field '%.*s'", (int)n->len, n->s);
		near = near_name(x, n);
		if (near)
			buf_addf(&what, "; did you mean %s?", near);
	}
	say(src, n, why, buf_str(&what));
	buf_release(&what);
}

/* Whether a word of the tree has had no meaning, or sides never fitted. */
static unsigned check(const struct expr *x, const struct expr_source *src, struct expr_node *n,
		      struct buf *why)
{
	unsigned bad = 0;

	if (!n)
		return 0;
	if (n->kind == NODE_WORD && !n->known) {
		say_unknown(x, src, n, why);
		n->known = true; /* once is enough */
		return 1;
	}
	if (n->asked && !n->answered) {
		struct buf what = BUF_INIT;

		buf_addf(&what, "the stream has no name for any value of '%.*s'", (int)n->len,
			 n->s);
		say(src, n, why, buf_str(&what));
		buf_release(&what);
		n->answered = true;
		return 1;
	}
	if (n->mismatch && !n->known) {
		say(src, n, why,
		    "a number is compared with a text or an array here, in every event that has the fields");
		n->known = true;
		return 1;
	}
	bad = check(x, src, n->left, why);
	/* Without the left side it is not known what the right side could be. */
	if (n->kind == NODE_SUB)
		return bad;
	if (n->kind != NODE_MATCH && (n->kind != NODE_COMPARE || !bad))
		bad += check(x, src, n->right, why);
	bad += check(x, src, n->low, why);
	return bad + check(x, src, n->high, why);
}

unsigned expr_problems(struct expr *x, struct buf *why)
{
	unsigned bad = 0;

	for (unsigned i = 0; x->events && i < x->nitems; i++) {
		const struct item *item = &x->items[i];
		bool any = !item->patterns;

		for (const struct pattern *p = item->patterns; p; p = p->next) {
			any = any || p->matched;
			if (p->matched)
				continue;
			if (why->len)
				buf_addc(why, '\n');
			expr_say(item->src, p->at, p->end - p->at, why,
				 "the stream has no event of this name");
			bad++;
		}
		if (any)
			bad += check(x, item->src, item->node, why);
	}
	return bad;
}

/* ---- doubts ---- */

static unsigned doubt(const struct expr *x, const struct expr_source *src,
		      const struct expr_node *n, struct buf *why)
{
	const struct expr_node *f = n->function, *word = f == n->right ? n->left : n->right;
	struct buf what = BUF_INIT;
	const char *near = NULL;

	if (!f || n->met || (n->op != OP_EQ && n->op != OP_NE) || !word->asked ||
	    !x->symbols.lacks(x->symbols.ctx, f->s, f->len, &near))
		return 0;
	buf_adds(&what,
		 "neither the kernel's symbols nor the samples have a function of this name");
	if (near) {
		buf_adds(&what, "; did you mean ");
		buf_add_safe(&what, near, strlen(near));
		buf_addc(&what, '?');
	}
	say(src, f, why, buf_str(&what));
	buf_release(&what);
	return 1;
}

static unsigned doubts(const struct expr *x, const struct expr_source *src,
		       const struct expr_node *n, struct buf *why)
{
	if (!n)
		return 0;
	if (n->kind == NODE_COMPARE)
		return doubt(x, src, n, why);
	return doubts(x, src, n->left, why) + doubts(x, src, n->right, why);
}

unsigned expr_doubts(struct expr *x, struct buf *why)
{
	unsigned n = 0;

	for (unsigned i = 0; x->symbols.lacks && i < x->nitems; i++)
		n += doubts(x, x->items[i].src, x->items[i].node, why);
	return n;
}
