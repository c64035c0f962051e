/* Finds the entry of an address: by the table in .eh_frame_hdr, or by an index of a section. */
#include "unwind/cfi_parts.h"

#include "base/err.h"

#include <stdlib.h>

#define TABLE_ENCODING 0x3b /* two 32-bit numbers, counted from the beginning of .eh_frame_hdr */
#define ENTRY_SIZE     8

/* The address and the place in .eh_frame that an entry of the table has; false: it has none. */
static bool table_entry(struct cfi *c, uint64_t i, uint64_t *start, uint64_t *at)
{
	const uint8_t *p = cfi_bytes(&c->hdr, c->table + i * ENTRY_SIZE, ENTRY_SIZE);
	struct cursor cur = cursor_make(p, p ? ENTRY_SIZE : 0, c->swap);

	*start = c->hdr.vaddr + (uint64_t)(int64_t)(int32_t)get_u32(&cur);
	*at = c->hdr.vaddr + (uint64_t)(int64_t)(int32_t)get_u32(&cur) - c->eh.vaddr;
	if (c->width == 4)
		*start = (uint32_t)*start;
	return p && *at < c->eh.size;
}

void cfi_read_hdr(struct cfi *c)
{
	const uint8_t *p = cfi_bytes(&c->hdr, 0, 4);
	struct cursor cur;
	struct cfi_fde fde;
	uint64_t left = c->hdr.size < 24 ? c->hdr.size : 24, start, at;

	c->hdr_bad = true;
	if (!p || p[0] != 1 || p[3] != TABLE_ENCODING || p[2] == 0xff)
		return;
	cur = cursor_make(p, left, c->swap);
	cursor_skip(&cur, 4);
	cfi_pointer(&cur, p[1], c->width, 0, 0);
	c->ntable = cfi_pointer(&cur, p[2], c->width, 0, 0);
	c->table = (uint64_t)(cur.p - p);
	if (cur.bad || !c->ntable || c->ntable > (c->hdr.size - c->table) / ENTRY_SIZE)
		return;
	/*
	 * A table that belongs to another section, or was never filled, shows at its first entry.
	 */
	c->hdr_bad = !table_entry(c, 0, &start, &at) || cfi_fde_at(&c->eh, at, &fde) ||
		     fde.start != start;
}

/* How many entries of the table begin at or before an address. False: it is not to be used. */
static bool count_before(struct cfi *c, uint64_t vaddr, uint64_t *n)
{
	uint64_t lo = 0, hi = c->ntable, start, at;

	/* For its row, its function and what is around it, one address is sought several times. */
	if (c->nbefore && c->sought == vaddr)
		lo = hi = c->nbefore;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!table_entry(c, mid, &start, &at)) {
			c->hdr_bad = true;
			return false;
		}
		if (start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	c->sought = vaddr;
	*n = c->nbefore = lo;
	return true;
}

/*
 * The last entry of the table that begins at or before an address: 0, PP_ENOENT, or PP_ECORRUPT,
 * and then the table is not to be used.
 */
static int search_table(struct cfi *c, uint64_t vaddr, uint64_t *start, uint64_t *at)
{
	uint64_t n;

	if (!count_before(c, vaddr, &n))
		return PP_ECORRUPT;
	return n && table_entry(c, n - 1, start, at) ? 0 : PP_ENOENT;
}

static int find_in_table(struct cfi *c, uint64_t vaddr, struct cfi_fde *fde)
{
	uint64_t start, at;
	int rc = search_table(c, vaddr, &start, &at);

	if (!rc)
		rc = cfi_fde_at(&c->eh, at, fde);
	if (!rc && fde->start != start) {
		c->hdr_bad = true;
		return PP_ECORRUPT;
	}
	return rc ? rc : vaddr - fde->start < fde->len ? 0 : PP_ENOENT;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_index *x = a, *y = b;

	return x->start < y->start   ? -1
	       : x->start > y->start ? 1
	       : x->at < y->at	     ? -1
				     : x->at > y->at;
}

static int add_index(struct cfi_section *s, size_t *cap, uint64_t start, uint64_t at)
{
	if (s->nindex == *cap) {
		size_t n = *cap ? *cap * 2 : 256;
		struct cfi_index *v = realloc(s->index, n * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		s->index = v;
		*cap = n;
	}
	s->index[s->nindex++] = (struct cfi_index){start, at};
	return 0;
}

/* The index of all entries. What comes after a damaged one is not in it. */
static int make_index(struct cfi_section *s)
{
	uint64_t at = 0;
	size_t cap = 0;
	int rc = 0;

	s->indexed = true;
	while (!rc) {
		uint64_t here = at;
		struct cfi_fde fde;
		bool is_fde;

		if (cfi_next_entry(s, &at, &is_fde))
			break;
		/* One of no length is that of a function which the linker left out. */
		if (is_fde && !cfi_fde_at(s, here, &fde) && fde.len)
			rc = add_index(s, &cap, fde.start, here);
	}
	if (s->nindex)
		qsort(s->index, s->nindex, sizeof(*s->index), by_start);
	return rc;
}

/* How many entries of the index begin at or before an address. */
static size_t search_index(const struct cfi_section *s, uint64_t vaddr)
{
	size_t lo = 0, hi = s->nindex;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->index[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int find_in_index(struct cfi_section *s, uint64_t vaddr, struct cfi_fde *fde)
{
	int rc = s->indexed ? 0 : make_index(s);
	size_t n = search_index(s, vaddr);

	if (rc || !n)
		return rc ? rc : PP_ENOENT;
	rc = cfi_fde_at(s, s->index[n - 1].at, fde);
	return rc ? rc : vaddr - fde->start < fde->len ? 0 : PP_ENOENT;
}

bool cfi_entry_start(struct cfi *c, bool debug, uint64_t vaddr, uint64_t *start)
{
	const struct cfi_section *s = debug ? &c->debug : &c->eh;
	uint64_t at;
	size_t n;

	if (!debug && s->size && !c->hdr_bad)
		return !search_table(c, vaddr, start, &at);
	n = s->indexed ? search_index(s, vaddr) : 0;
	if (n)
		*start = s->index[n - 1].start;
	return n != 0;
}

int cfi_find(struct cfi *c, uint64_t vaddr, struct cfi_fde *fde)
{
	int rc = PP_ENOENT, other;

	if (c->eh.size && !c->hdr_bad)
		rc = find_in_table(c, vaddr, fde);
	if (c->eh.size && c->hdr_bad)
		rc = find_in_index(&c->eh, vaddr, fde);
	if (!rc || rc == PP_ENOMEM || !c->debug.size)
		return rc;
	other = find_in_index(&c->debug, vaddr, fde);
	return other == PP_ENOENT ? rc : other;
}

/* Narrows [lo, hi) to what is between two entries of a section. */
static void narrow(const struct cfi_fde *before, uint64_t vaddr, uint64_t next, uint64_t *lo,
		   uint64_t *hi)
{
	if (before && before->start + before->len <= vaddr && before->start + before->len > *lo)
		*lo = before->start + before->len;
	if (next > vaddr && next < *hi)
		*hi = next;
}

static void narrow_by_index(struct cfi_section *s, uint64_t vaddr, uint64_t *lo, uint64_t *hi)
{
	size_t n = search_index(s, vaddr);
	struct cfi_fde fde;
	bool known = n && !cfi_fde_at(s, s->index[n - 1].at, &fde);

	narrow(known ? &fde : NULL, vaddr, n < s->nindex ? s->index[n].start : 0, lo, hi);
}

void cfi_gap(struct cfi *c, uint64_t vaddr, uint64_t *lo, uint64_t *hi)
{
	uint64_t start, at, n = 0;
	struct cfi_fde fde;
	bool known = false;

	*lo = 0;
	*hi = UINT64_MAX;
	if (c->eh.size && !c->hdr_bad && count_before(c, vaddr, &n)) {
		known = n && table_entry(c, n - 1, &start, &at) && !cfi_fde_at(&c->eh, at, &fde);
		if (n == c->ntable || !table_entry(c, n, &start, &at))
			start = 0;
		narrow(known ? &fde : NULL, vaddr, start, lo, hi);
	} else if (c->eh.indexed) {
		narrow_by_index(&c->eh, vaddr, lo, hi);
	}
	if (c->debug.indexed)
		narrow_by_index(&c->debug, vaddr, lo, hi);
}
