/* The names of the source files of a compilation unit, by the header of its line table. */
#include "dwarf/line_files.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/err.h"
#include "dwarf/leb.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define FORMATS_MAX 16 /* what an entry of DWARF 5 tells */

enum section { LINE, STR, LINE_STR };
_Static_assert(LINE_STR + 1 == LINE_SECTIONS, "as many as there is room for");

struct format {
	uint64_t content, form;
};

struct reader {
	struct cursor c;
	const struct line_sections *sections;
	unsigned offset_size;
	bool sealed;
};

/* The first section of each name, as libdw takes it; libdw has unpacked them. */
static void find_sections(struct line_sections *s, Elf *elf)
{
	static const char *const wanted[LINE_SECTIONS] = {"line", "str", "line_str"};
	size_t names;

	*s = (struct line_sections){.elf = elf};
	if (elf_getshdrstrndx(elf, &names))
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (!name || sh.sh_type == SHT_NOBITS)
			continue;
		if (!strncmp(name, ".zdebug_", 8))
			name += 8;
		else if (!strncmp(name, ".debug_", 7))
			name += 7;
		else
			continue;
		for (int i = 0; i < LINE_SECTIONS; i++)
			if (!s->v[i] && !strcmp(name, wanted[i])) {
				s->v[i] = elf_getdata(scn, NULL);
				if (s->v[i] && !s->v[i]->d_buf)
					s->v[i] = NULL;
			}
	}
}

/* A text in the table itself; NULL: it has no end. */
static const char *get_string(struct cursor *c)
{
	size_t left = cursor_left(c), n = strnlen((const char *)c->p, left);

	return n < left ? (const char *)get_bytes(c, n + 1) : NULL;
}

static uint64_t get_offset(struct reader *r)
{
	return r->offset_size == 8 ? get_u64(&r->c) : get_u32(&r->c);
}

static const char *get_distant(struct reader *r, enum section s)
{
	uint64_t at = get_offset(r);
	const Elf_Data *d = r->sections->v[s];
	const char *text;
	size_t left;

	if (!d || at >= d->d_size)
		return NULL;
	text = (const char *)d->d_buf + at;
	/* dwarf_seal leaves the last NUL of a table just after it. */
	left = d->d_size - at + r->sealed;
	return strnlen(text, left) < left ? text : NULL;
}

/* A value of DWARF 5. False: its form is not known here. */
static bool get_value(struct reader *r, uint64_t form, const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string: *text = get_string(&r->c); break;
	case DW_FORM_strp: *text = get_distant(r, STR); break;
	case DW_FORM_line_strp: *text = get_distant(r, LINE_STR); break;
	case DW_FORM_udata: *number = get_uleb(&r->c); break;
	case DW_FORM_data1: *number = get_u8(&r->c); break;
	case DW_FORM_data2: *number = get_u16(&r->c); break;
	case DW_FORM_data4: *number = get_u32(&r->c); break;
	case DW_FORM_data8: *number = get_u64(&r->c); break;
	case DW_FORM_data16: cursor_skip(&r->c, 16); break;
	case DW_FORM_block: cursor_skip(&r->c, get_uleb(&r->c)); break;
	default: return false;
	}
	return true;
}

static int add_dir(struct line_files *f, const char *name)
{
	const char **v = array_widen(f->dirs, &f->dirs_cap, f->n_dirs, 16, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	f->dirs = v;
	f->dirs[f->n_dirs++] = name;
	return 0;
}

static int add_file(struct line_files *f, const char *name, uint64_t dir)
{
	struct line_file *v = array_widen(f->files, &f->files_cap, f->n_files, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	f->files = v;
	f->files[f->n_files++] = (struct line_file){name, dir};
	return 0;
}

/* ---- DWARF 2 to 4 ---- */

/* Directories and files count from 1. */
static int read_old(struct line_files *f, struct reader *r)
{
	int rc = add_dir(f, f->comp_dir);
	const char *name;

	while (!rc && (name = get_string(&r->c)) != NULL && *name)
		rc = add_dir(f, name);
	if (!rc)
		rc = r->c.bad ? PP_ECORRUPT : add_file(f, NULL, 0);
	while (!rc && (name = get_string(&r->c)) != NULL && *name) {
		uint64_t dir = get_uleb(&r->c);

		get_uleb(&r->c);
		get_uleb(&r->c);
		rc = r->c.bad ? PP_ECORRUPT : add_file(f, name, dir);
	}
	return rc;
}

/* ---- DWARF 5 ---- */

static int read_table(struct line_files *f, struct reader *r, bool files)
{
	struct format formats[FORMATS_MAX];
	unsigned n = get_u8(&r->c);
	uint64_t count;
	int rc = 0;

	if (n > FORMATS_MAX)
		return PP_EUNSUPPORTED;
	for (unsigned i = 0; i < n; i++) {
		formats[i].content = get_uleb(&r->c);
		formats[i].form = get_uleb(&r->c);
	}
	count = get_uleb(&r->c);
	if (r->c.bad || (count && !n) || count > cursor_left(&r->c) / (n ? n : 1))
		return PP_ECORRUPT;
	for (uint64_t k = 0; !rc && k < count; k++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (unsigned i = 0; i < n; i++) {
			const char *text = NULL;
			uint64_t number = 0;

			if (!get_value(r, formats[i].form, &text, &number))
				return PP_EUNSUPPORTED;
			if (formats[i].content == DW_LNCT_path)
				name = text;
			else if (formats[i].content == DW_LNCT_directory_index)
				dir = number;
		}
		rc = r->c.bad ? PP_ECORRUPT : files ? add_file(f, name, dir) : add_dir(f, name);
	}
	return rc;
}

static int read_new(struct line_files *f, struct reader *r)
{
	int rc = read_table(f, r, false);

	return rc ? rc : read_table(f, r, true);
}

/* ---- the table ---- */

static int read_header(struct line_files *f, struct reader *r)
{
	struct line_program *p = &f->program;
	uint64_t length = get_u32(&r->c);

	r->offset_size = length == 0xffffffff ? 8 : 4;
	if (r->offset_size == 8)
		length = get_u64(&r->c);
	r->c = cursor_sub(&r->c, length);
	f->size = cursor_left(&r->c);
	f->version = get_u16(&r->c);
	if (f->version < 2 || f->version > 5)
		return PP_EUNSUPPORTED;
	if (f->version == 5)
		cursor_skip(&r->c, 2);
	length = get_offset(r);
	p->c = r->c;
	cursor_skip(&p->c, length);
	p->min_step = get_u8(&r->c);
	p->instructions = f->version >= 4 ? get_u8(&r->c) : 1;
	cursor_skip(&r->c, 1);
	p->line_base = (int8_t)get_u8(&r->c);
	p->line_range = get_u8(&r->c);
	p->opcode_base = get_u8(&r->c);
	p->lengths = get_bytes(&r->c, p->opcode_base ? p->opcode_base - 1 : 0);
	if (r->c.bad)
		return PP_ECORRUPT;
	return f->version == 5 ? read_new(f, r) : read_old(f, r);
}

int line_files_read(struct line_files *f, Dwarf_Die *unit, struct line_sections *known, bool sealed)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
	struct reader r = {.sections = known, .sealed = sealed};
	Dwarf_Attribute attr;
	Dwarf_Word at;
	GElf_Ehdr eh;
	int rc;

	memset(f, 0, sizeof(*f));
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at))
		return PP_ENOENT;
	if (known->elf != elf)
		find_sections(known, elf);
	if (!known->v[LINE] || !gelf_getehdr(elf, &eh))
		return PP_EUNSUPPORTED;
	if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
		f->comp_dir = dwarf_formstring(&attr);
	r.c = cursor_make(
		known->v[LINE]->d_buf, known->v[LINE]->d_size,
		eh.e_ident[EI_DATA] !=
			(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB));
	f->section_size = cursor_left(&r.c);
	cursor_skip(&r.c, at);
	rc = read_header(f, &r);
	if (rc) {
		struct line_files none = {.size = f->size, .section_size = f->section_size};

		line_files_release(f);
		*f = none;
	}
	return rc;
}

void line_files_release(struct line_files *f)
{
	free(f->dirs);
	free(f->files);
	memset(f, 0, sizeof(*f));
}

int line_files_name(const struct line_files *f, uint64_t number, struct buf *path)
{
	const struct line_file *file = number < f->n_files ? &f->files[number] : NULL;
	const char *dir;

	if (!file || !file->name)
		return PP_ENOENT;
	buf_reset(path);
	dir = file->dir < f->n_dirs ? f->dirs[file->dir] : NULL;
	/* A relative directory stays that, as with libdw. */
	if (file->name[0] != '/' && dir)
		buf_addf(path, "%s/", dir);
	buf_adds(path, file->name);
	return path->err;
}
