/*
 * Texts of the engines: of threads, stacks, system calls and keys; ids of the stream to ids of
 * texts.
 */
#include "interval/engine.h"
#include "base/array.h"
#include "event/syscall_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */
#define FRAMES_MAX  512 /* of a stack's text; what is nearer to the root is left out */

const char *engine_name(const struct engine *en, uint32_t id, size_t *len)
{
	const char *s = intern_get(&en->texts.names, id, len);

	return s ? s : "";
}

int engine_text(struct engine *en, const char *s, size_t len, uint32_t *id)
{
	static const char full[] = "(further names)";

	*id = 0;
	if (!len)
		return 0;
	if (en->texts.names.n >= LAT_NAMES_MAX || en->texts.names.arena.total >= LAT_NAMES_BYTES) {
		*id = intern_find(&en->texts.names, s, len);
		if (*id)
			return 0;
		if (!en->texts.full)
			diag_warn(en->d, NULL, -1,
				  "more than %u different names: the others have one row",
				  en->texts.names.n);
		en->texts.full = true;
		s = full;
		len = sizeof(full) - 1;
	}
	return intern_add(&en->texts.names, s, len, id, NULL);
}

/* The place of an id's text; NULL: out of memory. */
static uint32_t *place(struct lat_strings *t, uint32_t id)
{
	uint32_t *v = array_widen(t->names, &t->cap, id, 256, sizeof(*v));

	if (!v)
		return NULL;
	t->names = v;
	return &v[id];
}

static void forget(struct lat_strings *t)
{
	if (t->cap)
		memset(t->names, 0, t->cap * sizeof(*t->names));
}

int engine_string_new(struct engine *en, const struct sreader *r, uint32_t string, uint32_t *id)
{
	uint32_t *known = place(&en->texts.strings, string < PS_ID_MAX ? string : 0);
	const char *s;
	size_t len;

	if (!known)
		return PP_ENOMEM;
	*id = *known;
	if (*id)
		return 0;
	s = sreader_string(r, string, &len);
	/* As perf script and trace-cmd report write a thread that has no name. */
	if (!s)
		return engine_text(en, "<...>", 5, id);
	if (engine_text(en, s, len, id))
		return PP_ENOMEM;
	*known = *id;
	return 0;
}

/* Names of a stack that psym made, from the root to the leaf. */
static void stack_text(struct engine *en, const struct sreader *r, const struct ps_stack *st)
{
	uint32_t n = st->frames.n < FRAMES_MAX ? st->frames.n : FRAMES_MAX;

	while (n--) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[n]);
		const struct ps_symbol *s = f && f->symbol ? sreader_symbol(r, f->symbol) : NULL;

		if (s)
			buf_add(&en->texts.text, s->name.p, s->name.len);
		else
			buf_adds(&en->texts.text, "[unknown]");
		if (n)
			buf_addc(&en->texts.text, ';');
	}
}

static void chain_text(struct engine *en, const struct ps_chain *c)
{
	uint32_t n = c->ips.n < FRAMES_MAX ? c->ips.n : FRAMES_MAX;

	while (n--) {
		if (c->ips.v[n] >= CONTEXT_MIN)
			continue;
		buf_addf(&en->texts.text, "%s0x%" PRIx64, en->texts.text.len ? ";" : "",
			 c->ips.v[n]);
	}
}

/* The stack of a sample as text. */
static int stack_of(struct engine *en, const struct sreader *r, const struct ps_record *rec,
		    uint32_t *id)
{
	const struct ps_sample *s = &rec->sample;
	const struct ps_stack *st = s->stack ? sreader_stack(r, s->stack) : NULL;
	const struct ps_chain *c = !st && s->chain ? sreader_chain(r, s->chain) : NULL;
	uint32_t *known;

	*id = 0;
	if (!st && !c)
		return 0;
	known = st ? place(&en->texts.stacks, s->stack) : place(&en->texts.chains, s->chain);
	if (!known)
		return PP_ENOMEM;
	if (!*known) {
		buf_reset(&en->texts.text);
		if (st)
			stack_text(en, r, st);
		else
			chain_text(en, c);
		if (en->texts.text.err ||
		    engine_text(en, buf_str(&en->texts.text), en->texts.text.len, known))
			return PP_ENOMEM;
	}
	*id = *known;
	return 0;
}

int engine_point_stacks(struct engine *en, const struct sreader *r, const struct ps_record *rec,
			struct lat_point *p)
{
	int rc = en->texts_wanted ? stack_of(en, r, rec, &p->text) : 0;

	if (!rc && en->stacks_kept)
		rc = lat_stacks_keep(en->stacks_kept, r, &rec->sample, p);
	return rc;
}

const char *engine_unit(const struct engine *en, uint32_t kind)
{
	const char *unit = en->kinds[kind].k->unit;

	return unit ? unit : en->texts.unit;
}

const char *engine_syscall(const struct engine *en, uint64_t number)
{
	return syscall_name(en->texts.arch, number);
}

/* META records that matter to names. */
static void see_meta(struct engine *en, const struct ps_meta *m)
{
	if (m->key.len == 4 && !memcmp(m->key.p, "arch", 4) &&
	    m->value.len < sizeof(en->texts.arch)) {
		memcpy(en->texts.arch, m->value.p, m->value.len);
		en->texts.arch[m->value.len] = 0;
	}
	if (m->key.len == 9 && !memcmp(m->key.p, "time_unit", 9) &&
	    m->value.len < sizeof(en->texts.unit)) {
		memcpy(en->texts.unit, m->value.p, m->value.len);
		en->texts.unit[m->value.len] = 0;
	}
}

/* The ids of a dictionary begin again when its first is defined again. */
static void forget_id(struct lat_strings *t, uint32_t id)
{
	if (id == 1)
		forget(t);
	else if (id < t->cap)
		t->names[id] = 0;
}

static void see_stacks(struct engine *en, const struct ps_record *rec)
{
	if (en->stacks_kept)
		lat_stacks_see(en->stacks_kept, rec);
	if (rec->type == PS_CHAIN)
		forget_id(&en->texts.chains, rec->chain.id);
	else if (rec->type == PS_STACK)
		forget_id(&en->texts.stacks, rec->stack.id);
}

void engine_names_see(struct engine *en, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_HEADER:
		forget(&en->texts.strings);
		forget(&en->texts.stacks);
		forget(&en->texts.chains);
		see_stacks(en, rec);
		strcpy(en->texts.unit, "ns");
		break;
	case PS_META: see_meta(en, &rec->meta); break;
	case PS_STRING:
		if (rec->string.id < en->texts.strings.cap)
			en->texts.strings.names[rec->string.id] = 0;
		break;
	case PS_CHAIN:
	case PS_SYMBOL:
	case PS_FRAME:
	case PS_STACK:
		if (en->stacks_wanted)
			see_stacks(en, rec);
		break;
	}
}

void engine_names_release(struct engine *en)
{
	intern_release(&en->texts.names);
	free(en->texts.strings.names);
	free(en->texts.stacks.names);
	free(en->texts.chains.names);
	buf_release(&en->texts.text);
	lat_stacks_free(en->stacks_kept);
}

static bool is_text(const struct engine *en, uint64_t key)
{
	return key & LAT_KEY_TEXT && (key ^ LAT_KEY_TEXT) <= en->texts.names.n;
}

bool engine_key_is_number(const struct engine *en, const struct interval *iv)
{
	return (!iv->keys || iv->nkeys == 1) && !is_text(en, iv->key);
}

void engine_key(const struct engine *en, const struct interval *iv, struct buf *b)
{
	for (uint32_t i = 0; i < (iv->keys ? iv->nkeys : 1); i++) {
		uint64_t key = iv->keys ? iv->keys[i] : iv->key;
		size_t len;
		const char *s;

		if (i)
			buf_addc(b, ',');
		if (is_text(en, key)) {
			s = engine_name(en, (uint32_t)key, &len);
			buf_add(b, s, len);
		} else if ((int64_t)key < INT16_MIN || (int64_t)key > UINT32_MAX) {
			buf_addf(b, "0x%" PRIx64, key); /* an address */
		} else {
			buf_addf(b, "%" PRId64, (int64_t)key);
		}
	}
}
