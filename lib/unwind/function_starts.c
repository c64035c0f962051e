/* Where the functions of a file begin that no unwind table tells of. */
#include "unwind/functions_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int functions_new(struct functions **t)
{
	*t = calloc(1, sizeof(**t));
	return *t ? 0 : PP_ENOMEM;
}

void functions_free(struct functions *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->nfiles; i++)
		elf_file_close(t->file[i]);
	for (unsigned i = 0; i < t->nranges; i++)
		free(t->range[i].bits);
	free(t->symbol);
	free(t);
}

bool functions_limited(const struct functions *t)
{
	return t->limited;
}

/* ---- ranges of code ---- */

static void add_range(struct functions *t, uint64_t start, uint64_t size, uint64_t offset,
		      uint64_t entry)
{
	if (t->nranges < FUNCTIONS_RANGES && size && start + size > start)
		t->range[t->nranges++] =
			(struct code_range){start, start + size, offset, entry, NULL};
}

/* The sections with code, or the segments where there are no sections. */
static void find_ranges(struct functions *t)
{
	const struct elf_segments *segs = elf_file_segments(t->image);
	Elf *elf = elf_file_elf(t->image);
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		bool plt;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS ||
		    !(sh.sh_flags & SHF_EXECINSTR) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		plt = !strncmp(elf_file_section_name(t->image, &sh), ".plt", 4);
		add_range(t, sh.sh_addr, sh.sh_size, sh.sh_offset,
			  !plt		       ? 0
			  : sh.sh_entsize == 8 ? 8
					       : 16);
	}
	for (uint32_t i = 0; !t->nranges && i < segs->n; i++)
		if (segs->seg[i].exec)
			add_range(t, segs->seg[i].vaddr, segs->seg[i].filesz, segs->seg[i].offset,
				  0);
}

static struct code_range *range_of(struct functions *t, uint64_t vaddr)
{
	for (unsigned i = 0; i < t->nranges; i++)
		if (vaddr >= t->range[i].start && vaddr < t->range[i].end)
			return &t->range[i];
	return NULL;
}

/* ---- symbols ---- */

/* Whether a symbol may be a function; *label: or a place within one. */
static bool is_wanted(struct functions *t, const GElf_Sym *sym, const char *name, bool *label)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	*label = type == STT_NOTYPE;
	if (sym->st_shndx == SHN_UNDEF || !range_of(t, sym->st_value))
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC) /* a part that was split off begins anyhow */
		return !strstr(name, ".cold");
	/* Assemblers have labels within functions, with the function's name before a point. */
	return *label && GELF_ST_BIND(sym->st_info) != STB_LOCAL && name[0] != '$' &&
	       !strchr(name, '.');
}

static int add_symbols(struct functions *t, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_file_data(scn, sh);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;

	for (size_t i = 0; i < n && t->nsymbols < FUNCTIONS_SYMBOLS_MAX; i++) {
		struct function_symbol *v;
		const char *name;
		GElf_Sym sym;
		bool label;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !is_wanted(t, &sym, name, &label))
			continue;
		v = array_widen(t->symbol, &t->symbols_cap, t->nsymbols, 256, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		t->symbol = v;
		v[t->nsymbols++] = (struct function_symbol){
			sym.st_value, sym.st_value + (label ? 0 : sym.st_size), label};
	}
	return 0;
}

static int add_file(struct functions *t, struct elf_file *f)
{
	Elf *elf = elf_file_elf(f);
	struct elf_file *inner;
	enum symtab_reason why;
	GElf_Shdr sh;
	int rc = 0;

	for (Elf_Scn *scn = NULL; !rc && (scn = elf_nextscn(elf, scn));)
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			rc = add_symbols(t, elf, scn, &sh);
	if (!rc && !elf_file_debugdata(&inner, f, &why)) {
		rc = add_file(t, inner);
		elf_file_close(inner);
	}
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct function_symbol *x = a, *y = b;

	return x->start < y->start   ? -1
	       : x->start > y->start ? 1
				     : (x->end > y->end	  ? -1
					: x->end < y->end ? 1
							  : x->label - y->label);
}

/* Leaves one symbol for each place, and none that is within another's. */
static void tidy(struct functions *t)
{
	uint32_t n = 0;
	uint64_t end = 0;

	if (t->nsymbols)
		qsort(t->symbol, t->nsymbols, sizeof(*t->symbol), by_start);
	for (uint32_t i = 0; i < t->nsymbols; i++) {
		struct function_symbol s = t->symbol[i];

		if (s.start < end || (n && t->symbol[n - 1].start == s.start))
			continue;
		if (s.end < s.start)
			s.end = s.start;
		end = s.end;
		t->symbol[n++] = s;
	}
	t->nsymbols = n;
}

int functions_add(struct functions *t, struct elf_file *f, bool image)
{
	if (t->nfiles == FUNCTIONS_FILES)
		return 0;
	t->file[t->nfiles++] = elf_file_ref(f);
	if (image && !t->image)
		t->image = f;
	return 0;
}

static int get_ready(struct functions *t)
{
	int rc = 0;

	t->ready = true;
	if (!t->image)
		return 0;
	find_ranges(t);
	for (unsigned i = 0; i < t->nfiles && !rc; i++)
		rc = add_file(t, t->file[i]);
	tidy(t);
	return rc;
}

/* ---- the search ---- */

/* How many symbols begin at or before an address. */
static uint32_t symbols_before(const struct functions *t, uint64_t vaddr)
{
	uint32_t lo = 0, hi = t->nsymbols;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->symbol[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The last place at or before an address that something leads to, after `lo`; or lo. */
static uint64_t led_to_before(const struct functions *t, const struct code_range *r, uint64_t vaddr,
			      uint64_t lo)
{
	for (uint64_t at = vaddr; at > lo; at--)
		if (code_range_has(r, at) && functions_begins(t, r, at))
			return at;
	return lo;
}

static uint64_t led_to_after(const struct functions *t, const struct code_range *r, uint64_t vaddr,
			     uint64_t hi)
{
	for (uint64_t at = vaddr + 1; at < hi; at++)
		if (code_range_has(r, at) && functions_begins(t, r, at))
			return at;
	return hi;
}

/* Symbols of no size may be labels. */
static bool is_start(const struct functions *t, const struct code_range *r,
		     const struct function_symbol *s)
{
	return !s->label || functions_begins(t, r, s->start);
}

int functions_known(struct functions *t, uint64_t vaddr, bool *is)
{
	int rc = t->ready ? 0 : get_ready(t);
	struct code_range *r = rc ? NULL : range_of(t, vaddr);

	if (!rc && r && !t->scanned)
		rc = functions_scan(t);
	*is = !rc && r && code_range_has(r, vaddr) && functions_begins(t, r, vaddr);
	return rc;
}

int functions_find(struct functions *t, uint64_t vaddr, uint64_t lo, uint64_t hi,
		   struct function_span *f)
{
	int rc = t->ready ? 0 : get_ready(t);
	struct code_range *r = rc ? NULL : range_of(t, vaddr);
	uint32_t n, next;

	if (rc || !r)
		return rc ? rc : PP_ENOENT;
	lo = lo < r->start ? r->start : lo;
	hi = hi > r->end ? r->end : hi;
	if (r->entry) {
		lo = vaddr - (vaddr - r->start) % r->entry;
		*f = (struct function_span){lo, lo + r->entry, false};
		return 0;
	}
	n = next = symbols_before(t, vaddr);
	while (next < t->nsymbols && t->symbol[next].start < hi &&
	       !is_start(t, r, &t->symbol[next]))
		next++;
	if (next < t->nsymbols && t->symbol[next].start < hi)
		hi = t->symbol[next].start;
	while (n && t->symbol[n - 1].start >= lo && !is_start(t, r, &t->symbol[n - 1]))
		n--;
	if (n && t->symbol[n - 1].end > vaddr && t->symbol[n - 1].start >= lo) {
		f->start = t->symbol[n - 1].start;
		f->end = t->symbol[n - 1].end < hi ? t->symbol[n - 1].end : hi;
		f->open = false;
		return 0;
	}
	if (n && t->symbol[n - 1].end > vaddr) /* it begins where there is a table */
		return PP_ENOENT;
	if (n && t->symbol[n - 1].end > lo)
		lo = t->symbol[n - 1].end;
	if (!t->scanned)
		rc = functions_scan(t);
	f->start = led_to_before(t, r, vaddr, lo);
	if (f->start + FUNCTIONS_OPEN_MAX < hi)
		hi = f->start + FUNCTIONS_OPEN_MAX;
	f->end = led_to_after(t, r, vaddr, hi);
	f->open = true;
	return rc ? rc : vaddr < f->end ? 0 : PP_ENOENT;
}
