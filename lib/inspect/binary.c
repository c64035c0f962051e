/* A binary that is to be probed: its ELF file, its DWARF wherever that is, its code. */
#include "inspect/binary.h"

#include "base/array.h"
#include "base/err.h"
#include "dwarf/dwarf_image.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static int add_range(struct binary *b, uint64_t lo, uint64_t hi, Dwarf_Off die)
{
	struct binary_unit *v;

	if (lo >= hi || !lo)
		return 0;
	v = array_widen(b->units, &b->cap_units, b->n_units, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	b->units = v;
	b->units[b->n_units++] = (struct binary_unit){lo, hi, die};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct binary_unit *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The ranges of all units. A unit of split DWARF is known by its skeleton, which has them. */
static int read_units(struct binary *b)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(b->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		Dwarf_Addr base, lo, hi;
		ptrdiff_t at = 0;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		while (!rc && b->steps && (at = dwarf_ranges(&die, at, &base, &lo, &hi)) > 0) {
			b->steps--;
			rc = add_range(b, lo, hi, dwarf_dieoffset(&die));
		}
	}
	if (b->n_units)
		qsort(b->units, b->n_units, sizeof(*b->units), by_start);
	return rc;
}

/* libdw looks for the end of texts, and reads on where a section ends without one. */
static bool texts_end(Elf *elf)
{
	static const char *const names[] = {".debug_str", ".debug_line_str", ".zdebug_str",
					    ".zdebug_line_str"};
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, strings, sh.sh_name) : NULL;
		Elf_Data *data = NULL;

		for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(name, names[i]) && sh.sh_type != SHT_NOBITS)
				data = elf_getdata(scn, NULL);
		if (data && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

static Dwarf *begin(const struct elf_file *f)
{
	Dwarf *d = dwarf_begin_elf(elf_file_elf(f), DWARF_C_READ, NULL);

	if (d && !texts_end(elf_file_elf(f))) {
		dwarf_end(d);
		d = NULL;
	}
	return d;
}

static int open_dwarf(struct binary *b, const struct dso_search *search)
{
	const char *link;
	int rc;

	if (!b->dso.dwarf_elf || !elf_file_has_dwarf(b->dso.dwarf_elf))
		return 0;
	rc = dwarf_check_packed(b->dso.dwarf_elf);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	b->dwarf = begin(b->dso.dwarf_elf);
	if (!b->dwarf) {
		const char *why = dwarf_errmsg(-1);

		diag_warn(b->diag, b->path, -1, "its debug information cannot be used: %s",
			  why ? why : "it is damaged");
		return 0;
	}
	if (dso_file_alt(&b->dso, search, &b->alt_elf, &link) == 0) {
		if (!dwarf_check_packed(b->alt_elf))
			b->alt = begin(b->alt_elf);
		if (b->alt)
			dwarf_setalt(b->dwarf, b->alt);
	} else if (link) {
		diag_warn(b->diag, b->path, -1, "%s is missing, which has a part of its types",
			  link);
	}
	return read_units(b);
}

static bool has_section(const struct binary *b, const char *name)
{
	GElf_Shdr sh;

	return elf_file_section(b->elf, name, &sh) != NULL;
}

static int open_files(struct binary *b)
{
	struct dso_search search = {.dwarf = true, .here = true};
	int rc = dso_file_find(b->path, NULL, &search, &b->dso);

	b->elf = b->dso.binary_elf;
	if (rc == PP_ENOMEM)
		return rc;
	if (!b->elf) {
		diag_error(b->diag, b->path, -1, "%s", symtab_reason_text(b->dso.why));
		return rc ? rc : PP_ENOENT;
	}
	if (elf_file_type(b->elf) == ET_REL) {
		diag_error(b->diag, b->path, -1, "is not linked: what runs is another file");
		return PP_EUNSUPPORTED;
	}
	b->x86_64 = elf_file_machine(b->elf) == EM_X86_64;
	b->go = has_section(b, ".gopclntab") || has_section(b, ".go.buildinfo") ||
		has_section(b, ".note.go.buildid");
	rc = open_dwarf(b, &search);
	if (rc)
		return rc;
	b->eh_frame = dwarf_getcfi_elf(elf_file_elf(b->elf));
	b->debug_frame = b->dwarf ? dwarf_getcfi(b->dwarf) : NULL;
	return 0;
}

int binary_open(struct binary **out, const char *path, struct diag *d)
{
	struct binary *b = calloc(1, sizeof(*b));
	int rc = PP_ENOMEM;

	*out = NULL;
	if (!b)
		return PP_ENOMEM;
	b->diag = d;
	b->steps = BINARY_STEPS_MAX;
	b->path = strdup(path);
	if (b->path)
		rc = open_files(b);
	if (rc) {
		binary_close(b);
		return rc;
	}
	*out = b;
	return 0;
}

void binary_close(struct binary *b)
{
	if (!b)
		return;
	if (b->eh_frame)
		dwarf_cfi_end(b->eh_frame);
	dwarf_end(b->dwarf);
	dwarf_end(b->alt);
	elf_file_close(b->alt_elf);
	dso_file_release(&b->dso);
	free(b->units);
	free((char *)b->path);
	free(b);
}

static const struct elf_segment *code_segment(const struct binary *b, uint64_t vaddr)
{
	const struct elf_segments *s = elf_file_segments(b->elf);

	for (uint32_t i = 0; i < s->n; i++)
		if (s->seg[i].exec && vaddr >= s->seg[i].vaddr &&
		    vaddr - s->seg[i].vaddr < s->seg[i].filesz)
			return &s->seg[i];
	return NULL;
}

int binary_offset(const struct binary *b, uint64_t vaddr, uint64_t *offset)
{
	const struct elf_segment *s = code_segment(b, vaddr);

	if (!s)
		return PP_ENOENT;
	*offset = vaddr - s->vaddr + s->offset;
	return 0;
}

bool binary_is_code(const struct binary *b, uint64_t vaddr)
{
	return code_segment(b, vaddr) != NULL;
}

int64_t binary_data_offset(const struct binary *b, uint64_t probe, uint64_t data)
{
	const struct elf_segment *s = code_segment(b, probe);

	return (int64_t)(data - (s ? s->vaddr - s->offset : 0));
}

int binary_read(const struct binary *b, uint64_t vaddr, void *to, size_t n)
{
	const struct elf_segments *s = elf_file_segments(b->elf);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct elf_segment *e = &s->seg[i];

		if (vaddr < e->vaddr || vaddr - e->vaddr >= e->filesz)
			continue;
		if (n > e->filesz - (vaddr - e->vaddr))
			return PP_ECUT;
		return elf_file_read(b->elf, e->offset + (vaddr - e->vaddr), to, n);
	}
	return PP_ENOENT;
}

static const char *dwo_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr(skeleton, DW_AT_dwo_name, &attr) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : "a file .dwo";
}

/*
 * Ranges of units do not overlap in sound files: the last one that begins at or before the address
 * is asked, and a few before it.
 */
int binary_unit(struct binary *b, uint64_t vaddr, Dwarf_Die *unit)
{
	uint32_t lo = 0, hi = b->n_units;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->units[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t i = lo; i > 0 && lo - i < 8; i--) {
		const struct binary_unit *u = &b->units[i - 1];
		Dwarf_Die skeleton;
		uint8_t type;

		if (vaddr >= u->hi || !dwarf_offdie(b->dwarf, u->die, &skeleton))
			continue;
		*unit = skeleton;
		if (!dwarf_cu_info(skeleton.cu, NULL, &type, NULL, unit, NULL, NULL, NULL) &&
		    type == DW_UT_skeleton) {
			if (unit->addr)
				return 0;
			diag_warn(
				b->diag, b->path, -1,
				"%s is missing, which has its debug information (libdw before 0.191 "
				"does not read .dwp)",
				dwo_name(&skeleton));
		}
		*unit = skeleton;
		return 0;
	}
	return PP_ENOENT;
}

bool binary_skeleton(struct binary *b, Dwarf_CU *cu, Dwarf_Die *unit)
{
	Dwarf_Die sub;

	if (b->split == cu)
		return dwarf_offdie(b->dwarf, b->skeleton, unit) != NULL;
	for (uint32_t i = 0; i < b->n_units; i++) {
		if ((i && b->units[i].die == b->units[i - 1].die) ||
		    !dwarf_offdie(b->dwarf, b->units[i].die, unit) ||
		    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &sub, NULL, NULL, NULL) ||
		    sub.addr == NULL || sub.cu != cu)
			continue;
		b->split = cu;
		b->skeleton = b->units[i].die;
		return true;
	}
	return false;
}

int binary_cfa(struct binary *b, uint64_t pc, Dwarf_Frame **frame, Dwarf_Op **ops, size_t *n)
{
	*frame = NULL;
	if ((!b->eh_frame || dwarf_cfi_addrframe(b->eh_frame, pc, frame)) &&
	    (!b->debug_frame || dwarf_cfi_addrframe(b->debug_frame, pc, frame)))
		return PP_ENOENT;
	if (dwarf_frame_cfa(*frame, ops, n) || !*n) {
		free(*frame);
		*frame = NULL;
		return PP_ENOENT;
	}
	return 0;
}
