#include "interval/lat_parts.h"
#include "base/array.h"
#include "interval/syscall_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */
#define FRAMES_MAX  512 /* of a stack's text; what is nearer to the root is left out */

const char *lat_name(const struct lat *l, uint32_t id, size_t *len)
{
	const char *s = intern_get(&l->names, id, len);

	return s ? s : "";
}

int lat_text(struct lat *l, const char *s, size_t len, uint32_t *id)
{
	static const char full[] = "(further names)";

	*id = 0;
	if (!len)
		return 0;
	if (l->names.n >= LAT_NAMES_MAX || l->names.arena.total >= LAT_NAMES_BYTES) {
		*id = intern_find(&l->names, s, len);
		if (*id)
			return 0;
		if (!l->names_full)
			diag_warn(l->d, NULL, -1,
				  "more than %u different names: the others have one row",
				  l->names.n);
		l->names_full = true;
		s = full;
		len = sizeof(full) - 1;
	}
	return intern_add(&l->names, s, len, id, NULL);
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

int lat_string_new(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id)
{
	uint32_t *known = place(&l->strings, string < PS_ID_MAX ? string : 0);
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
		return lat_text(l, "<...>", 5, id);
	if (lat_text(l, s, len, id))
		return PP_ENOMEM;
	*known = *id;
	return 0;
}

/* Names of a stack that psym made, from the root to the leaf. */
static void stack_text(struct lat *l, const struct sreader *r, const struct ps_stack *st)
{
	uint32_t n = st->frames.n < FRAMES_MAX ? st->frames.n : FRAMES_MAX;

	while (n--) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[n]);
		const struct ps_symbol *s = f && f->symbol ? sreader_symbol(r, f->symbol) : NULL;

		if (s)
			buf_add(&l->text, s->name.p, s->name.len);
		else
			buf_adds(&l->text, "[unknown]");
		if (n)
			buf_addc(&l->text, ';');
	}
}

static void chain_text(struct lat *l, const struct ps_chain *c)
{
	uint32_t n = c->ips.n < FRAMES_MAX ? c->ips.n : FRAMES_MAX;

	while (n--) {
		if (c->ips.v[n] >= CONTEXT_MIN)
			continue;
		buf_addf(&l->text, "%s0x%" PRIx64, l->text.len ? ";" : "", c->ips.v[n]);
	}
}

/* The stack of a sample as text. */
static int stack_of(struct lat *l, const struct sreader *r, const struct ps_record *rec,
		    uint32_t *id)
{
	const struct ps_sample *s = &rec->sample;
	const struct ps_stack *st = s->stack ? sreader_stack(r, s->stack) : NULL;
	const struct ps_chain *c = !st && s->chain ? sreader_chain(r, s->chain) : NULL;
	uint32_t *known;

	*id = 0;
	if (!st && !c)
		return 0;
	known = st ? place(&l->stacks, s->stack) : place(&l->chains, s->chain);
	if (!known)
		return PP_ENOMEM;
	if (!*known) {
		buf_reset(&l->text);
		if (st)
			stack_text(l, r, st);
		else
			chain_text(l, c);
		if (l->text.err || lat_text(l, buf_str(&l->text), l->text.len, known))
			return PP_ENOMEM;
	}
	*id = *known;
	return 0;
}

int lat_point_stacks(struct lat *l, const struct sreader *r, const struct ps_record *rec,
		     struct lat_point *p)
{
	int rc = l->texts_wanted ? stack_of(l, r, rec, &p->text) : 0;

	if (!rc && l->stacks_kept)
		rc = lat_stacks_keep(l->stacks_kept, r, &rec->sample, p);
	return rc;
}

int lat_point_write(const struct lat *l, struct swriter *w, uint32_t source,
		    const struct lat_point *p, uint32_t *chain, uint32_t *stack)
{
	*chain = *stack = 0;
	if (!p->chain && !p->stack)
		return 0;
	return lat_stacks_write(l->stacks_kept, w, source, p, chain, stack);
}

int lat_bound(struct lat *l)
{
	int rc;

	if (!l->stacks_kept || !lat_stacks_full(l->stacks_kept))
		return 0;
	rc = lat_stacks_sweep(l->stacks_kept);
	if (!rc)
		rc = pair_points(l, lat_stacks_move);
	if (!rc)
		rc = sched_points(l, lat_stacks_move);
	lat_stacks_swept(l->stacks_kept);
	return rc;
}

const char *lat_syscall(const struct lat *l, uint64_t number)
{
	return syscall_name(l->arch, number);
}

/* META records that matter to names. */
static void see_meta(struct lat *l, const struct ps_meta *m)
{
	if (m->key.len == 4 && !memcmp(m->key.p, "arch", 4) && m->value.len < sizeof(l->arch)) {
		memcpy(l->arch, m->value.p, m->value.len);
		l->arch[m->value.len] = 0;
	}
	if (m->key.len == 9 && !memcmp(m->key.p, "time_unit", 9) &&
	    m->value.len < sizeof(l->unit)) {
		memcpy(l->unit, m->value.p, m->value.len);
		l->unit[m->value.len] = 0;
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

static void see_stacks(struct lat *l, const struct ps_record *rec)
{
	if (l->stacks_kept)
		lat_stacks_see(l->stacks_kept, rec);
	if (rec->type == PS_CHAIN)
		forget_id(&l->chains, rec->chain.id);
	else if (rec->type == PS_STACK)
		forget_id(&l->stacks, rec->stack.id);
}

void lat_names_see(struct lat *l, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_HEADER:
		forget(&l->strings);
		forget(&l->stacks);
		forget(&l->chains);
		see_stacks(l, rec);
		strcpy(l->unit, "ns");
		break;
	case PS_META: see_meta(l, &rec->meta); break;
	case PS_STRING:
		if (rec->string.id < l->strings.cap)
			l->strings.names[rec->string.id] = 0;
		break;
	case PS_CHAIN:
	case PS_SYMBOL:
	case PS_FRAME:
	case PS_STACK:
		if (l->stacks_wanted)
			see_stacks(l, rec);
		break;
	}
}

void lat_names_release(struct lat *l)
{
	intern_release(&l->names);
	free(l->strings.names);
	free(l->stacks.names);
	free(l->chains.names);
	buf_release(&l->text);
	lat_stacks_free(l->stacks_kept);
}

static bool is_text(const struct lat *l, uint64_t key)
{
	return key & LAT_KEY_TEXT && (key ^ LAT_KEY_TEXT) <= l->names.n;
}

bool lat_key_is_number(const struct lat *l, const struct interval *iv)
{
	return (!iv->keys || iv->nkeys == 1) && !is_text(l, iv->key);
}

void lat_key(const struct lat *l, const struct interval *iv, struct buf *b)
{
	for (uint32_t i = 0; i < (iv->keys ? iv->nkeys : 1); i++) {
		uint64_t key = iv->keys ? iv->keys[i] : iv->key;
		size_t len;
		const char *s;

		if (i)
			buf_addc(b, ',');
		if (is_text(l, key)) {
			s = lat_name(l, (uint32_t)key, &len);
			buf_add(b, s, len);
		} else if ((int64_t)key < INT16_MIN || (int64_t)key > UINT32_MAX) {
			buf_addf(b, "0x%" PRIx64, key); /* an address */
		} else {
			buf_addf(b, "%" PRId64, (int64_t)key);
		}
	}
}
