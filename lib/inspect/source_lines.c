/* Source lines, by the line tables of DWARF. */
#include "inspect/source_lines.h"

#include "base/err.h"
#include "inspect/units.h"

#include <dwarf.h>
#include <string.h>

int lines_each(Dwarf_Die *unit, line_fn *fn, void *ctx)
{
	Dwarf_Lines *lines;
	size_t n;
	int rc = 0;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0;
	for (size_t i = 0; !rc && i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		bool stmt = false, end = false;
		struct line_row r;
		Dwarf_Addr addr;

		if (dwarf_linebeginstatement(line, &stmt) || !stmt ||
		    dwarf_lineendsequence(line, &end) || end || dwarf_lineaddr(line, &addr) ||
		    dwarf_lineno(line, &r.line) || r.line <= 0)
			continue;
		r.addr = addr;
		r.file = dwarf_linesrc(line, NULL, NULL);
		if (r.file)
			rc = fn(ctx, &r);
	}
	return rc;
}

int lines_at(struct binary *b, uint64_t addr, struct line_row *r)
{
	Dwarf_Die unit;
	Dwarf_Line *line;

	if (!b->dwarf || binary_unit(b, addr, &unit))
		return PP_ENOENT;
	line = dwarf_getsrc_die(&unit, addr);
	if (!line || dwarf_lineno(line, &r->line) || r->line <= 0)
		return PP_ENOENT;
	r->file = dwarf_linesrc(line, NULL, NULL);
	r->addr = addr;
	return r->file ? 0 : PP_ENOENT;
}

bool lines_same_file(const char *path, const char *end, size_t len)
{
	size_t n = strlen(path);

	return n >= len && !memcmp(path + n - len, end, len) &&
	       (n == len || path[n - len - 1] == '/' || end[0] == '/');
}

/*
 * The unit that has the table of files, and the number of the file in it. Not by dwarf_decl_file:
 * of units of split DWARF, whose files are in the table of what the binary has of them, it dies by
 * an assertion.
 */
static bool declared(struct binary *b, Dwarf_Die *die, Dwarf_Die *unit, Dwarf_Word *file)
{
	Dwarf_Attribute attr;
	Dwarf_Half version;
	uint8_t type;

	return dwarf_attr_integrate(die, DW_AT_decl_file, &attr) && !dwarf_formudata(&attr, file) &&
	       !dwarf_cu_info(attr.cu, &version, &type, unit, NULL, NULL, NULL, NULL) &&
	       (type != DW_UT_split_compile || binary_skeleton(b, attr.cu, unit)) &&
	       (*file || version >= 5);
}

int lines_declared(struct binary *b, Dwarf_Die *die, const char **file, int *line)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	Dwarf_Word i;
	size_t n;

	if (!declared(b, die, &unit, &i) || dwarf_getsrcfiles(&unit, &files, &n) || i >= n)
		return PP_ENOENT;
	*file = dwarf_filesrc(files, i, NULL, NULL);
	return *file && dwarf_decl_line(die, line) == 0 ? 0 : PP_ENOENT;
}

int lines_place(struct binary *b, Dwarf_Die *die, struct buf *place)
{
	struct binary_files *f;
	const char *path;
	Dwarf_Die unit;
	Dwarf_Word i;
	int line, rc = 0;

	buf_reset(place);
	if (!declared(b, die, &unit, &i) || dwarf_decl_line(die, &line))
		return 0;
	f = &b->files[((uintptr_t)unit.cu >> 5) % BINARY_FILES];
	if (f->cu != unit.cu) {
		line_files_release(&f->files);
		f->cu = unit.cu;
		rc = line_files_read(&f->files, &unit, &b->sections, true);
	}
	if (!rc)
		rc = line_files_name(&f->files, i, place);
	if (rc == PP_ENOMEM)
		return rc;
	if (rc) {
		buf_reset(place);
		if (lines_declared(b, die, &path, &line))
			return 0;
		buf_adds(place, path);
	}
	buf_addf(place, ":%d", line);
	return place->err;
}
