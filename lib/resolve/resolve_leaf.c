/*
 * Functions that hide their callers: a chain of frame pointers that was taken where a function has
 * none goes on with the frame of its caller, and so has the caller's caller next. The unwind table
 * tells where that is so; the chain does not.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <elf.h>

#define SAMPLE_CALLCHAIN  (1u << 5)
#define SAMPLE_STACK_USER (1u << 13)
#define X86_64_RSP	  7 /* by DWARF number */

/* The first address of user space; false: there is none, or nothing after it. */
static bool leaf_of(const struct ps_chain *c, uint64_t *ip)
{
	uint32_t i = 0;

	while (i < c->ips.n && c->ips.v[i] != CTX_USER)
		i++;
	if (i + 2 >= c->ips.n || c->ips.v[i + 1] >= CTX_MAX || c->ips.v[i + 2] >= CTX_MAX)
		return false;
	*ip = c->ips.v[i + 1];
	return true;
}

/*
 * Compilers count from the frame pointer where a function has set it up; Go's linker never does. At
 * the first instruction newer kernels look for the caller themselves, if it is a probe.
 */
static int hides_at(struct resolver *r, struct rdso *d, uint64_t vaddr, bool *hides)
{
	struct cfi_function f;
	const struct row *row;
	uint32_t id;
	int rc = cfi_row(d->cfi, vaddr, &id);

	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	row = rows_get(&r->rows, id);
	if (row->flags & (ROW_NONE | ROW_SIGNAL | ROW_OUTERMOST) || row->cfa.how != ROW_REGISTER ||
	    row->cfa.reg != X86_64_RSP || resolve_anchors(d)->go)
		return 0;
	rc = cfi_function(d->cfi, vaddr, &f);
	*hides = !rc && vaddr > f.start;
	return rc == PP_ENOMEM ? rc : 0;
}

static int look(struct resolver *r, struct machine *m, struct rdso *d, uint64_t off, bool *hides)
{
	uint64_t vaddr;
	int rc = resolve_load(r, m, d);

	if (!rc)
		rc = resolve_find_cfi(r, m, d);
	if (rc || !d->cfi || cfi_machine(d->cfi) != EM_X86_64 || resolve_vaddr(m, d, off, &vaddr))
		return rc;
	return hides_at(r, d, vaddr, hides);
}

int resolve_count_leaf(struct resolver *r, struct machine *m, const struct sreader *in,
		       const struct ps_sample *s)
{
	const struct ps_event *e = sreader_event(in, s->event);
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(in, s->chain) : NULL;
	struct space *sp = spaces_get(m->spaces, s->pid);
	const struct map *map;
	bool hides = false;
	uint64_t ip, off;
	uint32_t *slot;
	struct rdso *d;
	int rc;

	if (!e || !c || !(e->sample_type & SAMPLE_CALLCHAIN) ||
	    e->sample_type & SAMPLE_STACK_USER || c->flags & PS_STACK_END_MASK || !leaf_of(c, &ip))
		return 0;
	map = sp ? space_find(sp, ip) : NULL;
	d = map ? r->dsos.v[map->dso - 1] : NULL;
	if (!d || d->jit || d->memfd)
		return 0;
	off = ip - map->start + map->pgoff;
	slot = map64_get(&d->leaves, off);
	if (!slot) {
		rc = look(r, m, d, off, &hides);
		slot = rc ? NULL : map64_put(&d->leaves, off, NULL);
		if (!slot)
			return rc ? rc : PP_ENOMEM;
		*slot = hides;
	}
	r->stats.hidden += *slot;
	return 0;
}
