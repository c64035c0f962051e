/* Skips through the entries of a compilation unit, by its abbreviations, without libdw. */
#include "dwarf/dwarf_scan.h"

#include "base/cursor.h"
#include "base/err.h"
#include "dwarf/leb.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define FORM_SKIP 0xffffu /* not of DWARF: so many bytes that are of no interest */

/* An attribute, or several that nobody asks for. */
struct spec {
	uint16_t name, form;
	uint32_t size; /* of FORM_SKIP */
};

struct abbrev {
	uint64_t code;
	uint32_t tag, first, n; /* specs */
	bool children, inlined;
};

struct scan {
	const uint8_t *info, *end; /* of the section, of the unit */
	uint64_t begin;		   /* offset of the unit in the section */
	bool swap;
	unsigned version, addr_size, offset_size;
	struct abbrev *abbrevs; /* by code */
	uint32_t n, cap;
	struct spec *specs;
	uint32_t nspecs, specs_cap;
	uint64_t *steps;
	struct cursor c;
	uint32_t depth;
	bool below;	  /* the entry that came last has children, which come next */
	uint64_t sibling; /* of it: offset in the section; 0 unknown */
};

/* ---- numbers ---- */

static uint64_t get_sized(struct cursor *c, unsigned size)
{
	switch (size) {
	case 1: return get_u8(c);
	case 2: return get_u16(c);
	case 4: return get_u32(c);
	default: return get_u64(c);
	}
}

/* Bytes of a form that always takes as many; -1: it does not. */
static int fixed_size(const struct scan *s, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1: return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2: return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3: return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4: return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8: return 8;
	case DW_FORM_data16: return 16;
	case DW_FORM_addr: return (int)s->addr_size;
	case DW_FORM_ref_addr: return (int)(s->version == 2 ? s->addr_size : s->offset_size);
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return (int)s->offset_size;
	default: return -1;
	}
}

/* Passes over a value of another form. False: the form is not known. */
static bool skip_form(struct scan *s, unsigned form)
{
	struct cursor *c = &s->c;
	int fixed;

	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: get_uleb(c); return true;
	case DW_FORM_block1: cursor_skip(c, get_u8(c)); return true;
	case DW_FORM_block2: cursor_skip(c, get_u16(c)); return true;
	case DW_FORM_block4: cursor_skip(c, get_u32(c)); return true;
	case DW_FORM_block:
	case DW_FORM_exprloc: cursor_skip(c, get_uleb(c)); return true;
	case DW_FORM_string:
		cursor_skip(c, strnlen((const char *)c->p, cursor_left(c)) + UINT64_C(1));
		return true;
	case DW_FORM_indirect:
		form = (unsigned)get_uleb(c);
		return form != DW_FORM_indirect && form != DW_FORM_implicit_const &&
		       skip_form(s, form);
	}
	fixed = fixed_size(s, form);
	cursor_skip(c, fixed < 0 ? 0 : (uint64_t)fixed);
	return fixed >= 0;
}

/* ---- abbreviations ---- */

static bool of_interest(unsigned tag, unsigned name)
{
	switch (name) {
	case DW_AT_sibling: return true;
	case DW_AT_low_pc:
	case DW_AT_high_pc:
	case DW_AT_ranges: return tag != DW_TAG_GNU_call_site && tag != DW_TAG_label;
	case DW_AT_abstract_origin: return tag == DW_TAG_inlined_subroutine;
	default: return false;
	}
}

static void *room(void *v, uint32_t n, uint32_t *cap, uint32_t max, size_t size, int *rc)
{
	uint32_t more = *cap ? *cap * 2 : 256;
	void *p;

	if (n < *cap)
		return v;
	*rc = n < max ? PP_ENOMEM : PP_ELIMIT;
	p = n < max ? realloc(v, more * size) : NULL;
	if (!p)
		return v;
	*rc = 0;
	*cap = more;
	return p;
}

static int add_spec(struct scan *s, struct abbrev *a, unsigned name, unsigned form)
{
	struct spec *last = a->n ? &s->specs[s->nspecs - 1] : NULL;
	bool wanted = of_interest(a->tag, name);
	int size = wanted ? -1 : fixed_size(s, form), rc = 0;

	if (size >= 0 && last && last->form == FORM_SKIP) {
		last->size += (uint32_t)size;
		return 0;
	}
	s->specs = room(s->specs, s->nspecs, &s->specs_cap, SCAN_SPECS_MAX, sizeof(*s->specs), &rc);
	if (rc)
		return rc;
	if (size >= 0)
		s->specs[s->nspecs++] = (struct spec){0, FORM_SKIP, (uint32_t)size};
	else
		s->specs[s->nspecs++] =
			(struct spec){wanted ? (uint16_t)name : 0, (uint16_t)form, 0};
	a->n++;
	return 0;
}

static int read_abbrev(struct scan *s, struct cursor *c, uint64_t code)
{
	struct abbrev a = {.code = code, .first = s->nspecs};
	int rc = 0;

	a.tag = (uint32_t)get_uleb(c);
	a.children = get_u8(c) != 0;
	for (;;) {
		uint64_t name = get_uleb(c), form = get_uleb(c);

		if (form == DW_FORM_implicit_const)
			get_uleb(c);
		if (c->bad)
			return PP_ECORRUPT;
		if (!name && !form)
			break;
		if (!*s->steps)
			return PP_ELIMIT;
		--*s->steps;
		a.inlined = a.inlined || name == DW_AT_inline;
		/* Numbers that are too large are of no attribute and no form that is known. */
		rc = add_spec(s, &a, name > 0xffff ? 0 : (unsigned)name,
			      form >= FORM_SKIP ? 0 : (unsigned)form);
		if (rc)
			return rc;
	}
	s->abbrevs = room(s->abbrevs, s->n, &s->cap, SCAN_ABBREVS_MAX, sizeof(a), &rc);
	if (!rc)
		s->abbrevs[s->n++] = a;
	return rc;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static int read_abbrevs(struct scan *s, struct cursor *c)
{
	bool sorted = true;
	uint64_t code;
	int rc = 0;

	while (!rc && (code = get_uleb(c)) != 0) {
		rc = read_abbrev(s, c, code);
		sorted = sorted && (s->n < 2 || s->abbrevs[s->n - 2].code < code);
	}
	if (!rc && !sorted)
		qsort(s->abbrevs, s->n, sizeof(*s->abbrevs), by_code);
	return rc;
}

static const struct abbrev *find_abbrev(const struct scan *s, uint64_t code)
{
	const struct abbrev key = {.code = code};

	/* Compilers count from 1. */
	if (code <= s->n && s->abbrevs[code - 1].code == code)
		return &s->abbrevs[code - 1];
	return s->n ? bsearch(&key, s->abbrevs, s->n, sizeof(key), by_code) : NULL;
}

/* ---- opening ---- */

/* The bytes of a section as libdw has them; "info" or "abbrev". */
static const Elf_Data *section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		size_t n = strlen(name);
		GElf_Shdr sh;
		const char *text =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (!text || sh.sh_type == SHT_NOBITS)
			continue;
		if (!strncmp(text, ".zdebug_", 8))
			text++;
		if ((!strncmp(text, ".debug_", 7) || !strncmp(text, "zdebug_", 7)) &&
		    !strncmp(text + 7, name, n) && (!text[7 + n] || !strcmp(text + 7 + n, ".dwo")))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static int find_bytes(struct scan *s, Dwarf_Die *unit, struct cursor *abbrev)
{
	Dwarf *dw = dwarf_cu_getdwarf(unit->cu);
	Elf *elf = dwarf_getelf(dw);
	const Elf_Data *info = section(elf, "info"), *ab = section(elf, "abbrev");
	Dwarf_Off at = dwarf_dieoffset(unit), next, off;
	uint8_t addr_size, offset_size;
	Dwarf_Half version;
	GElf_Ehdr eh;
	size_t head;

	s->begin = at - dwarf_cuoffset(unit);
	if (!info || !info->d_buf || !ab || !ab->d_buf || !gelf_getehdr(elf, &eh) ||
	    at >= info->d_size || (const uint8_t *)info->d_buf + at != unit->addr)
		return PP_EUNSUPPORTED;
	if (dwarf_next_unit(dw, s->begin, &next, &head, &version, &off, &addr_size, &offset_size,
			    NULL, NULL) ||
	    off >= ab->d_size || next <= at)
		return PP_ECORRUPT;
	if ((addr_size != 4 && addr_size != 8) || (offset_size != 4 && offset_size != 8))
		return PP_ECORRUPT;
	s->info = info->d_buf;
	s->end = s->info + (next < info->d_size ? next : info->d_size);
	s->version = version;
	s->addr_size = addr_size;
	s->offset_size = offset_size;
	s->swap = eh.e_ident[EI_DATA] !=
		  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	*abbrev = cursor_make((const uint8_t *)ab->d_buf + off, ab->d_size - off, s->swap);
	return 0;
}

int scan_open(struct scan **out, Dwarf_Die *unit, uint64_t *steps)
{
	struct scan *s = calloc(1, sizeof(*s));
	struct cursor abbrev;
	int rc;

	*out = NULL;
	if (!s)
		return PP_ENOMEM;
	s->steps = steps;
	rc = find_bytes(s, unit, &abbrev);
	if (!rc)
		rc = read_abbrevs(s, &abbrev);
	if (rc)
		scan_free(s);
	else
		*out = s;
	return rc;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	free(s->abbrevs);
	free(s->specs);
	free(s);
}

/* ---- entries ---- */

/* The entry that a reference within the unit leads to. False: the form is not known. */
static bool read_origin(struct scan *s, unsigned form, struct scan_entry *e)
{
	uint64_t at;

	if (form == DW_FORM_ref_udata)
		at = get_uleb(&s->c);
	else if (form >= DW_FORM_ref1 && form <= DW_FORM_ref8)
		at = get_sized(&s->c, (unsigned)fixed_size(s, form));
	else
		return skip_form(s, form);
	if (at < (uint64_t)(s->end - s->info) - s->begin)
		e->origin = s->info + s->begin + at;
	return true;
}

/* Reads what is of interest in an attribute. False: its form is not known. */
static bool read_attr(struct scan *s, const struct spec *p, struct scan_entry *e, uint64_t *high,
		      int *have)
{
	enum { LOW = 1, HIGH = 2, OFFSET = 4, RANGES = 8, OTHER = 16 };
	int size = fixed_size(s, p->form);

	switch (p->name) {
	case DW_AT_sibling:
		if (p->form < DW_FORM_ref1 || p->form > DW_FORM_ref8)
			return skip_form(s, p->form);
		s->sibling = s->begin + get_sized(&s->c, (unsigned)size);
		return true;
	case DW_AT_low_pc:
		*have |= p->form == DW_FORM_addr ? LOW : OTHER;
		if (p->form != DW_FORM_addr)
			return skip_form(s, p->form);
		e->lo = get_sized(&s->c, s->addr_size);
		return true;
	case DW_AT_high_pc: break;
	case DW_AT_abstract_origin: return read_origin(s, p->form, e);
	default: *have |= RANGES; return skip_form(s, p->form);
	}
	switch (p->form) {
	case DW_FORM_addr: *have |= HIGH; break;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8: *have |= HIGH | OFFSET; break;
	case DW_FORM_udata:
		*have |= HIGH | OFFSET;
		*high = get_uleb(&s->c);
		return true;
	default: *have |= OTHER; return skip_form(s, p->form);
	}
	*high = get_sized(&s->c, (unsigned)size);
	return true;
}

/* Reads one entry, *a is NULL at the end of a row of siblings. False: the bytes are damaged. */
static bool read_entry(struct scan *s, struct scan_entry *e, const struct abbrev **a)
{
	uint64_t code, high = 0;
	int have = 0;

	*e = (struct scan_entry){.offset = (Dwarf_Off)(s->c.p - s->info), .depth = s->depth};
	*a = NULL;
	s->sibling = 0;
	if (!*s->steps)
		return false;
	--*s->steps;
	code = get_uleb(&s->c);
	if (s->c.bad || !code)
		return !s->c.bad;
	*a = find_abbrev(s, code);
	if (!*a)
		return false;
	e->tag = (*a)->tag;
	e->inlined = (*a)->inlined;
	for (uint32_t i = 0; i < (*a)->n; i++) {
		const struct spec *p = &s->specs[(*a)->first + i];

		if (p->form == FORM_SKIP)
			cursor_skip(&s->c, p->size);
		else if (p->name ? !read_attr(s, p, e, &high, &have) : !skip_form(s, p->form))
			return false;
	}
	/*
	 * Low and high, both as they mostly are; the first also if there are ranges, as in libdw.
	 */
	e->simple = (have & 3) == 3 && !(have & 16);
	e->complex = !e->simple && have & (2 | 8 | 16);
	e->hi = have & 4 ? e->lo + high : high;
	return !s->c.bad;
}

void scan_children(struct scan *s, Dwarf_Off offset)
{
	const struct abbrev *a = NULL;
	struct scan_entry e;

	s->depth = 0;
	s->below = false;
	s->c = cursor_make(s->info, (size_t)(s->end - s->info), s->swap);
	cursor_skip(&s->c, offset);
	if (offset < s->begin || !read_entry(s, &e, &a) || !a || !a->children)
		return;
	s->below = true;
}

bool scan_next(struct scan *s, struct scan_entry *e)
{
	const struct abbrev *a;

	s->depth += s->below;
	s->below = false;
	while (s->depth) {
		if (!read_entry(s, e, &a)) {
			s->depth = 0;
			return false;
		}
		if (a) {
			s->below = a->children;
			return true;
		}
		s->depth--;
	}
	return false;
}

void scan_skip(struct scan *s)
{
	uint32_t depth = s->depth;
	uint64_t at = (uint64_t)(s->c.p - s->info);
	struct scan_entry e;

	if (!s->below)
		return;
	if (s->sibling > at && s->sibling < (uint64_t)(s->end - s->info)) {
		cursor_skip(&s->c, s->sibling - at);
		s->below = false;
		return;
	}
	/* The end of the children is found by reading them. */
	while (s->below || s->depth > depth) {
		const struct abbrev *a;

		s->depth += s->below;
		s->below = false;
		if (!read_entry(s, &e, &a)) {
			s->depth = 0;
			return;
		}
		if (a)
			s->below = a->children;
		else
			s->depth--;
	}
}
