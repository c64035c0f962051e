/* Runs the programs of line tables: once to learn where addresses are, then in part. */
#include "dwarf/line_rows.h"

#include "base/array.h"
#include "base/err.h"
#include "dwarf/leb.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define MARK_ROWS  64	/* from one mark to the next, at most */
#define MARK_BYTES 1024 /* of the program, likewise */
#define GAP_MAX	   4096 /* bytes between two rows: more takes too long for each address */

/* The program at a place. */
struct walk {
	struct cursor c;
	struct table_row row;
	bool end;  /* of a sequence */
	bool dead; /* of code that the linker threw away: some set its address to -1 or -2 */
};

static void begin_sequence(struct walk *w)
{
	w->row = (struct table_row){.file = 1, .line = 1};
	w->end = w->dead = false;
}

static int set_address(struct walk *w, struct cursor *c)
{
	size_t size = cursor_left(c);

	if (size != 4 && size != 8)
		return PP_EUNSUPPORTED;
	w->row.addr = size == 8 ? get_u64(c) : get_u32(c);
	if (w->row.addr + 2 < 2 || (size == 4 && w->row.addr >= UINT32_MAX - 1))
		w->dead = true;
	/* No linker throws away a part of a sequence. */
	else if (w->dead && w->row.addr)
		return PP_EUNSUPPORTED;
	return 0;
}

static int extended(struct walk *w)
{
	struct cursor c = cursor_sub(&w->c, get_uleb(&w->c));

	switch (get_u8(&c)) {
	case DW_LNE_end_sequence: w->end = true; break;
	case DW_LNE_set_address: return set_address(w, &c);
	case DW_LNE_define_file: return PP_EUNSUPPORTED;
	}
	return c.bad ? PP_ECORRUPT : 0;
}

/* An opcode that makes no row of itself: with its numbers. */
static void standard(const struct line_rows *r, struct walk *w, uint8_t op)
{
	switch (op) {
	case DW_LNS_advance_pc: w->row.addr += r->program.min_step * get_uleb(&w->c); break;
	case DW_LNS_advance_line: w->row.line += (uint32_t)get_sleb(&w->c); break;
	case DW_LNS_set_file: w->row.file = (uint32_t)get_uleb(&w->c); break;
	case DW_LNS_set_column: w->row.column = (uint32_t)get_uleb(&w->c); break;
	case DW_LNS_const_add_pc: w->row.addr += r->step[255]; break;
	case DW_LNS_fixed_advance_pc: w->row.addr += get_u16(&w->c); break;
	default:
		for (uint8_t n = r->program.lengths[op - 1]; n; n--)
			get_uleb(&w->c);
	}
}

/* Goes on to the next row, or to the end of a sequence. PP_END: that of the program. */
static int next_row(const struct line_rows *r, struct walk *w)
{
	while (cursor_left(&w->c)) {
		uint8_t op = *w->c.p++;
		int rc = 0;

		if (op >= r->program.opcode_base) {
			w->row.addr += r->step[op];
			w->row.line += (uint32_t)r->lines[op];
			return 0;
		}
		if (op == DW_LNS_copy)
			return 0;
		if (op)
			standard(r, w, op);
		else
			rc = extended(w);
		if (rc || w->c.bad)
			return rc ? rc : PP_ECORRUPT;
		if (w->end)
			return 0;
	}
	return PP_END;
}

/* ---- reading ---- */

/* Whether all opcodes mean here what DWARF says, and what each of the short ones adds. */
static bool learn_opcodes(struct line_rows *r)
{
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	const struct line_program *p = &r->program;

	if (!p->opcode_base || !p->line_range || p->instructions != 1)
		return false;
	for (unsigned i = 0; i < sizeof(lengths) && i + 1 < p->opcode_base; i++)
		if (p->lengths[i] != lengths[i])
			return false;
	for (unsigned op = p->opcode_base; op < 256; op++) {
		unsigned v = op - p->opcode_base, step = v / p->line_range * p->min_step;

		if (step > UINT8_MAX)
			return false;
		r->step[op] = (uint8_t)step;
		r->lines[op] = (int16_t)(p->line_base + (int)(v % p->line_range));
	}
	return true;
}

static int add_mark(struct line_rows *r, const struct walk *w)
{
	struct line_mark *v = array_widen(r->marks, &r->cap, r->n, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	r->marks = v;
	v[r->n++] = (struct line_mark){w->row, (uint32_t)(w->c.p - r->program.c.p)};
	return 0;
}

/* The marks from `first` on are those of a sequence that ends at `end`. */
static int add_sequence(struct line_rows *r, uint32_t first, uint64_t end)
{
	uint32_t *v;
	int rc;

	if (first == r->n || r->marks[first].row.addr >= end) {
		r->n = first;
		return 0;
	}
	v = array_widen(r->first, &r->first_cap, r->n_sequences + 1, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	r->first = v;
	rc = ranges_put(&r->map, r->marks[first].row.addr, end, r->n_sequences + 1, NULL);
	if (rc)
		return rc;
	v[r->n_sequences++] = first;
	v[r->n_sequences] = r->n;
	return 0;
}

static int read_sequence(struct line_rows *r, struct walk *w)
{
	uint32_t first = r->n, rows = 0;
	const uint8_t *before = w->c.p;
	uint64_t addr = 0;
	int rc;

	begin_sequence(w);
	for (;; before = w->c.p) {
		rc = next_row(r, w);
		/* The last sequence has no end: libdw lets its last row be one. */
		if (rc == PP_END && rows)
			return PP_EUNSUPPORTED;
		if (rc)
			return rc;
		/* What is at 0 was thrown away, too. */
		if (!rows && !w->row.addr)
			w->dead = true;
		if (w->dead && rows)
			return PP_EUNSUPPORTED;
		if (w->dead && w->end)
			return 0;
		if (w->dead)
			continue;
		if (w->row.addr < addr || w->c.p - before > GAP_MAX)
			return PP_EUNSUPPORTED;
		addr = w->row.addr;
		if (w->end)
			return add_sequence(r, first, addr);
		if (!rows++ || rows % MARK_ROWS == 0 ||
		    (uint32_t)(w->c.p - r->program.c.p) - r->marks[r->n - 1].next > MARK_BYTES)
			rc = add_mark(r, w);
		if (rc)
			return rc;
	}
}

int line_rows_read(struct line_rows *r, const struct line_program *p)
{
	struct walk w = {.c = p->c};
	int rc = 0;

	*r = (struct line_rows){.program = *p};
	if (cursor_left(&p->c) > UINT32_MAX)
		return PP_ELIMIT;
	if (!learn_opcodes(r))
		return PP_EUNSUPPORTED;
	while (!rc)
		rc = read_sequence(r, &w);
	if (rc == PP_END)
		return 0;
	line_rows_release(r);
	return rc;
}

void line_rows_release(struct line_rows *r)
{
	free(r->marks);
	free(r->first);
	ranges_release(&r->map);
	*r = (struct line_rows){0};
}

/* ---- looking up ---- */

/* The last mark of a sequence at or before an address; its first is. */
static const struct line_mark *find_mark(const struct line_rows *r, uint32_t sequence,
					 uint64_t vaddr)
{
	uint32_t lo = r->first[sequence], hi = r->first[sequence + 1];

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->marks[mid].row.addr <= vaddr)
			lo = mid;
		else
			hi = mid;
	}
	return &r->marks[lo];
}

bool line_rows_find(const struct line_rows *r, uint64_t vaddr, struct table_row *row)
{
	uint32_t sequence = ranges_find(&r->map, vaddr);
	struct walk w = {.c = r->program.c};
	const struct line_mark *m;

	if (!sequence)
		return false;
	m = find_mark(r, sequence - 1, vaddr);
	w.row = m->row;
	cursor_skip(&w.c, m->next);
	do
		*row = w.row;
	while (!next_row(r, &w) && !w.end && w.row.addr <= vaddr);
	return true;
}
