/* Whether chains that came without copies of the stack lead to a start. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <string.h>

#define GO_BEGINS 2 /* frames of other languages before the first of Go, in threads with both */

/* The functions of a file that lead to its starts. */
const struct start_anchors *resolve_anchors(struct rdso *d)
{
	struct symbol s;

	for (uint32_t i = 0; !d->anchored && i < symtab_count(d->table); i++) {
		symtab_get(d->table, i, &s);
		start_anchor(&d->anchors, symtab_text(d->table, s.name), s.start, s.end);
	}
	d->anchored = true;
	return &d->anchors;
}

/* Why nothing can be told of a file. */
static uint32_t why_not(const struct rdso *d)
{
	switch (d->reason) {
	case PS_REASON_BUILD_ID: return PS_END_BUILD_ID;
	case PS_REASON_JIT:
	case PS_REASON_ANON: return PS_END_GENERATED;
	case PS_REASON_NO_FILE:
	case PS_REASON_NO_ACCESS:
	case PS_REASON_NOT_ELF:
	case PS_REASON_CORRUPT:
	case PS_REASON_UNPROVEN: return PS_END_NO_FILE;
	default: return PS_END_FRAMES;
	}
}

/* How a chain ended that leads to an address of a file. */
static int end_in_file(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		       uint32_t *end)
{
	const struct start_anchors *a;
	struct symbol s;
	bool is = false;
	int rc = resolve_find_cfi(r, m, d);

	if (!rc && d->cfi)
		rc = start_by_table(d->cfi, &r->rows, vaddr, &is);
	if (!rc && !is && d->table) {
		a = resolve_anchors(d);
		if (!symtab_find(d->table, vaddr, &s))
			rc = resolve_is_of(r, m, d, vaddr, &s, &is);
		is = is && start_by_name(symtab_text(d->table, s.name), a->thread[1] != 0);
		if (!rc && !is && d->cfi)
			rc = start_by_code(d->cfi, a, vaddr, &is);
	}
	*end = is ? PS_END_OUTERMOST : d->table || d->cfi ? PS_END_FRAMES : why_not(d);
	return rc;
}

/* An address that is in no mapping can be that of generated code. */
static int end_unmapped(struct resolver *r, struct machine *m, struct space *sp, uint64_t addr,
			uint32_t *end)
{
	uint32_t jit = space_tag(sp), symbol = 0, reason;
	int rc = jit ? resolve_jit_symbol(r, m, jit, addr, &symbol, &reason) : 0;

	*end = symbol ? PS_END_GENERATED : PS_END_NO_MAPPING;
	return rc;
}

int resolve_chain_end(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		      bool ret, uint32_t *end)
{
	const struct map *map = sp ? space_find(sp, ip - ret) : NULL;
	uint64_t off, vaddr;
	uint32_t *slot;
	struct rdso *d;
	int rc;

	*end = PS_END_UNKNOWN;
	if (!sp)
		return 0;
	if (!map)
		return end_unmapped(r, m, sp, ip - ret, end);
	d = r->dsos.v[map->dso - 1];
	*end = PS_END_GENERATED;
	if (d->jit || d->memfd)
		return 0;
	off = ip - ret - map->start + map->pgoff;
	slot = map64_get(&d->ends, off);
	if (slot) {
		*end = *slot - 1;
		return 0;
	}
	rc = resolve_load(r, m, d);
	if (!rc && !resolve_vaddr(m, d, off, &vaddr))
		rc = end_in_file(r, m, d, vaddr, end);
	else
		*end = why_not(d);
	if (rc)
		return rc;
	slot = map64_put(&d->ends, off, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = *end + 1;
	return 0;
}

/* The file that a return address is in, if Go has built it; NULL: another, or none. */
static int go_file(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		   struct rdso **d, uint64_t *vaddr)
{
	const struct map *map = space_find(sp, ip - 1);
	struct rdso *of = map ? r->dsos.v[map->dso - 1] : NULL;
	int rc;

	*d = NULL;
	if (!of || of->jit || of->memfd)
		return 0;
	rc = resolve_load(r, m, of);
	if (!rc && resolve_anchors(of)->go &&
	    !resolve_vaddr(m, of, ip - 1 - map->start + map->pgoff, vaddr)) {
		rc = resolve_find_cfi(r, m, of);
		*d = of->cfi ? of : NULL;
	}
	return rc;
}

int resolve_go_top(struct resolver *r, struct machine *m, struct space *sp,
		   const struct outer_addresses *a, uint32_t *at)
{
	bool go = false;
	uint64_t vaddr;
	struct rdso *d;
	uint32_t id;
	int rc = 0;

	*at = 0;
	for (uint32_t i = 0; sp && i < a->n && !rc; i++) {
		uint64_t ip = a->ips[(ptrdiff_t)i * a->step];
		bool last = i + 1 == a->n;

		/* Nothing returns to where the sample was taken. */
		if (ip >= CTX_MAX ||
		    (last ? a->leaf : a->ips[(ptrdiff_t)(i + 1) * a->step] >= CTX_MAX))
			break;
		rc = go_file(r, m, sp, ip, &d, &vaddr);
		go |= d != NULL;
		if (!go && i == GO_BEGINS)
			break;
		if (!rc && d)
			rc = cfi_row(d->cfi, vaddr, &id);
		if (!rc && d && rows_get(&r->rows, id)->flags & ROW_TOP)
			*at = i + 1;
	}
	return rc;
}

int resolve_past_start(struct resolver *r, struct machine *m, struct space *sp,
		       const struct outer_addresses *a, uint32_t *past, bool *mapped)
{
	uint32_t end, top;
	int rc = resolve_go_top(r, m, sp, a, &top);

	*past = top ? top - 1 : 0;
	*mapped = top;
	if (rc || top)
		return rc;
	for (uint32_t i = 0; sp && i < a->n; i++) {
		uint64_t ip = a->ips[(ptrdiff_t)i * a->step];
		bool here = ip < CTX_MAX && space_find(sp, ip - 1);

		*mapped |= here;
		if (ip >= CTX_MAX || (here && !i))
			return 0;
		if (!here || (a->leaf && i + 1 == a->n))
			continue;
		rc = resolve_chain_end(r, m, sp, ip, true, &end);
		if (rc)
			return rc;
		if (end == PS_END_OUTERMOST) {
			*past = i;
			return 0;
		}
	}
	return 0;
}
