/* A binary that is to be probed: its ELF file, its DWARF wherever that is, its code. */
#include "inspect/binary.h"

#include "base/err.h"
#include "dwarf/dwarf_image.h"
#include "dwarf/dwarf_seal.h"
#include "inspect/units.h"
#include "symbol/gopcln.h"

#include <stdlib.h>
#include <string.h>

/* *dwarf stays NULL if there is something wrong with it: the binary counts as damaged then. */
static int begin(struct binary *b, const struct elf_file *f, struct dwarf_whole *whole,
		 Dwarf **dwarf)
{
	const char *why = NULL;
	int rc = dwarf_check_packed(f);

	if (!rc)
		rc = dwarf_whole(whole, f);
	if (!rc)
		rc = dwarf_seal(whole->elf, &b->copies);
	if (!rc) {
		*dwarf = dwarf_begin_elf(whole->elf, DWARF_C_READ, NULL);
		why = *dwarf ? NULL : dwarf_errmsg(-1);
	}
	dwarf_memory(*dwarf);
	if (*dwarf || rc == PP_ENOMEM)
		return rc;
	b->damaged = true;
	diag_warn(b->diag, b->path, -1, "its debug information cannot be used: %s",
		  rc	? pp_strerror(rc)
		  : why ? why
			: "it is damaged");
	return 0;
}

static int open_dwarf(struct binary *b, const struct dso_search *search)
{
	const char *link;
	int rc;

	if (!b->dso.dwarf_elf || !elf_file_has_dwarf(b->dso.dwarf_elf))
		return 0;
	rc = begin(b, b->dso.dwarf_elf, &b->whole[0], &b->dwarf);
	if (rc || !b->dwarf)
		return rc;
	if (dso_file_alt(&b->dso, search, &b->alt_elf, &link) == 0) {
		rc = begin(b, b->alt_elf, &b->whole[1], &b->alt);
		if (rc)
			return rc;
		if (b->alt)
			dwarf_setalt(b->dwarf, b->alt);
	} else if (link) {
		diag_warn(b->diag, b->path, -1, "%s is missing, which has a part of its types",
			  link);
	}
	return units_read(b);
}

static bool has_section(const struct binary *b, const char *name)
{
	GElf_Shdr sh;

	return elf_file_section(b->elf, name, &sh) != NULL;
}

bool binary_is_stripped(const struct binary *b)
{
	return !has_section(b, ".symtab") && !b->dwarf && !b->go;
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
		diag_error(b->diag, b->path, -1, "is not linked: another file is run");
		return PP_EUNSUPPORTED;
	}
	b->x86_64 = elf_file_machine(b->elf) == EM_X86_64;
	b->go = gopcln_is_go(b->elf);
	rc = open_dwarf(b, &search);
	if (rc)
		return rc;
	/* Where there is none, libdw reads the whole file in search of it. */
	if (has_section(b, ".eh_frame")) {
		b->eh_frame = dwarf_getcfi_elf(elf_file_elf(b->elf));
		if (!b->eh_frame && b->dwarf)
			units_damaged(b);
	}
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
		if (rc == PP_ENOMEM)
			diag_error(d, path, -1, "%s", pp_strerror(rc));
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
	dwarf_whole_release(&b->whole[0]);
	dwarf_whole_release(&b->whole[1]);
	elf_file_close(b->alt_elf);
	dso_file_release(&b->dso);
	arena_release(&b->copies);
	map64_release(&b->split_files);
	for (int i = 0; i < BINARY_FILES; i++)
		line_files_release(&b->files[i].files);
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

/* libdw found no rule; whether there was no memory for it is what only its message tells. */
static int no_rule(struct binary *b)
{
	const char *why = dwarf_errmsg(-1);

	if (why && strstr(why, "memory"))
		units_damaged(b);
	return PP_ENOENT;
}

int binary_cfa(struct binary *b, uint64_t pc, Dwarf_Frame **frame, Dwarf_Op **ops, size_t *n)
{
	*frame = NULL;
	if ((!b->eh_frame || dwarf_cfi_addrframe(b->eh_frame, pc, frame)) &&
	    (!b->debug_frame || dwarf_cfi_addrframe(b->debug_frame, pc, frame)))
		return no_rule(b);
	if (dwarf_frame_cfa(*frame, ops, n) || !*n) {
		free(*frame);
		*frame = NULL;
		return PP_ENOENT;
	}
	return 0;
}
