/* What a writer of packed streams holds back, and how it names chains and stacks. */
#include "stream/packer.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

bool packer_overtakes(struct packer *k, uint32_t type, uint32_t id)
{
	uint32_t *most;
	bool fresh;

	switch (type) {
	case PS_STRING: most = &k->most[PACKER_STRING]; break;
	case PS_SYMBOL: most = &k->most[PACKER_SYMBOL]; break;
	case PS_FRAME: most = &k->most[PACKER_FRAME]; break;
	case PS_SRCFILE: most = &k->most[PACKER_SRCFILE]; break;
	default: return false;
	}
	fresh = id > *most;
	*most = id;
	/* An id that was given before can be that of a sample which waits. */
	return fresh;
}

bool packer_pass_sample(struct packer *k, const struct ps_record *rec, enum ps_mark mark)
{
	const struct ps_packed *from = &rec->packed;
	struct packer_pass *pass = &k->pass;
	struct sample_packer *to = &k->samples;

	if (!pass->on || from->at != pass->next || to->count == PACKER_PASS_MAX ||
	    to->len + from->len > sizeof(to->data) || !packer_keeps_names(k, &rec->sample))
		return false;
	memcpy(to->data + to->len, from->p, from->len);
	to->len += from->len;
	if (to->count % 4 == 0)
		pass->marks[to->count / 4] = 0;
	pass->marks[to->count / 4] |= (uint8_t)(mark << (to->count % 4 * 2));
	pass->marked |= mark != from->mark;
	to->count++;
	pass->next++;
	return true;
}

static int name_top(struct chunker *k, uint32_t id, uint32_t top)
{
	uint32_t *v;

	if (!id || id >= PS_ID_MAX)
		return PP_ELIMIT;
	v = array_widen(k->tops, &k->ntops, id, 1u << 12, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	k->tops = v;
	v[id] = top;
	return 0;
}

int packer_chain(struct packer *k, const struct ps_chain *c)
{
	uint32_t top;
	int rc;

	if (c->id == 1) {
		chunker_clear(&k->chains);
		k->chains_pass = false;
	}
	rc = chunker_chain(&k->chains, c, &top);
	return rc ? rc : name_top(&k->chains, c->id, top);
}

int packer_stack(struct packer *k, const struct ps_stack *s)
{
	uint32_t top;
	int rc;

	if (s->id == 1) {
		chunker_clear(&k->stacks);
		k->stacks_pass = false;
	}
	rc = chunker_stack(&k->stacks, s, &top);
	return rc ? rc : name_top(&k->stacks, s->id, top);
}

bool packer_restarts(uint32_t type, uint32_t id)
{
	return id == 1 &&
	       (type == PS_CHAIN || type == PS_STACK || type == PS_CHAINS || type == PS_STACKS);
}

void packer_pass(struct packer *k, uint32_t type, uint32_t id)
{
	if (id != 1)
		return;
	if (type == PS_CHAINS) {
		chunker_clear(&k->chains);
		k->chains_pass = true;
	} else {
		chunker_clear(&k->stacks);
		k->stacks_pass = true;
	}
}

static uint32_t name_of(const struct chunker *k, bool pass, uint32_t id)
{
	return pass ? id : id < k->ntops ? k->tops[id] : 0;
}

#define REFS(R) \
	R(chain, chains) \
	R(stack, stacks) \
	R(other_stack, stacks) \
	R(other_chain, chains) \
	R(branch_stack, stacks) \
	R(ip_stack, stacks)

void packer_translate(const struct packer *k, struct ps_sample *s)
{
#define R(ref, dict) \
	if (ps_sample_has(s, ref)) \
		s->ref = name_of(&k->dict, k->dict##_pass, s->ref);
	REFS(R)
#undef R
}

void packer_patch(const struct packer *k, const struct ps_sample *s, uint8_t *raw)
{
	struct ps_sample before;
	uint32_t id;

	if (!(s->fields & (PS_HAS(chain) | PS_HAS(stack) | PS_HAS(other_stack) |
			   PS_HAS(other_chain) | PS_HAS(branch_stack) | PS_HAS(ip_stack))))
		return;
	before = *s;
#define R(ref, dict) \
	if (ps_sample_has(s, ref)) { \
		before.fields = s->fields & (PS_HAS(ref) - 1); \
		id = name_of(&k->dict, k->dict##_pass, s->ref); \
		memcpy(raw + ps_sample_size(&before), &id, sizeof(id)); \
	}
	REFS(R)
#undef R
}

void packer_clear(struct packer *k)
{
	chunker_clear(&k->chains);
	chunker_clear(&k->stacks);
	k->chains_pass = k->stacks_pass = false;
	memset(k->most, 0, sizeof(k->most));
}

void packer_free(struct packer *k)
{
	if (!k)
		return;
	chunker_release(&k->chains);
	chunker_release(&k->stacks);
	free(k);
}
