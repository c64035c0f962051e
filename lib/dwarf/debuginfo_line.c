/* The source files and the lines of a compilation unit. */
#include "dwarf/debuginfo_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a path, with the compilation directory if it is relative. NULL: out of memory. */
static const char *keep_path(struct debuginfo *d, const char *dir, const char *path)
{
	bool whole = path[0] == '/' || !dir || !dir[0];
	size_t before = whole ? 0 : strlen(dir) + 1, n = strlen(path);
	char *p = arena_alloc(&d->arena, before + n + 1);

	if (!p) {
		d->no_memory = true;
		return NULL;
	}
	if (before) {
		memcpy(p, dir, before - 1);
		p[before - 1] = '/';
	}
	memcpy(p + before, path, n + 1);
	return p;
}

/* The same of a path of libdw, copied once; NULL stays. */
static const char *whole_path(struct dwarf_unit *u, const char *path)
{
	struct debuginfo *d = u->file;
	Dwarf_Attribute attr;
	const char *dir, **v;
	uint32_t *slot;

	if (!path || path[0] == '/')
		return path;
	slot = map64_put(&d->paths, (uintptr_t)path, NULL);
	if (slot && *slot)
		return d->whole[*slot - 1];
	dir = dwarf_attr(&u->die, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	v = array_widen(d->whole, &d->whole_cap, d->nwhole, 64, sizeof(*v));
	if (v)
		d->whole = v;
	if (!v || !slot) {
		d->no_memory = true;
		return path;
	}
	v[d->nwhole] = keep_path(d, dir, path);
	if (!v[d->nwhole])
		return path;
	*slot = ++d->nwhole;
	return v[*slot - 1];
}

/* ---- tables ---- */

static void table_free(struct line_table *t)
{
	line_files_release(&t->files);
	line_rows_release(&t->rows);
	free(t->paths);
	free(t);
}

void line_tables_release(struct line_tables *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		table_free(t->v[i]);
	free(t->v);
	map64_release(&t->by_offset);
	*t = (struct line_tables){0};
}

/* Reads a table: 0, or PP_ENOMEM. What is wrong with it costs its lines. */
static int read_table(struct dwarf_unit *u, struct line_table *t)
{
	struct line_tables *all = &u->file->tables;
	int rc = line_files_read(&t->files, &u->die, &all->sections, u->file->sealed);

	all->read += t->files.size + 1;
	if (t->files.section_size)
		all->there = t->files.section_size;
	if (!rc) {
		t->paths = calloc((size_t)t->files.n_files + 1, sizeof(*t->paths));
		rc = t->paths ? line_rows_read(&t->rows, &t->files.program) : PP_ENOMEM;
	}
	if (rc == PP_EUNSUPPORTED || rc == PP_ECORRUPT) {
		t->by_libdw = true;
		if (dwarf_getsrclines(&u->die, &t->all, &t->n))
			t->n = 0;
	}
	return rc == PP_ENOMEM ? rc : 0;
}

/* A new table of a unit; NULL: out of memory. */
static struct line_table *add_table(struct dwarf_unit *u)
{
	struct line_tables *all = &u->file->tables;
	struct line_table **v = array_widen(all->v, &all->cap, all->n, 64, sizeof(*v));
	struct line_table *t = v ? calloc(1, sizeof(*t)) : NULL;

	if (v)
		all->v = v;
	if (!t)
		return NULL;
	if (read_table(u, t)) {
		table_free(t);
		return NULL;
	}
	v[all->n++] = t;
	return t;
}

/* The line table of a unit; NULL: there is none. */
static struct line_table *lines_of(struct dwarf_unit *u)
{
	struct line_tables *all = &u->file->tables;
	Dwarf_Attribute attr;
	Dwarf_Word at;
	uint32_t *slot;

	if (u->lines_sought)
		return u->lines;
	u->lines_sought = true;
	if (!dwarf_attr(&u->die, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at))
		return NULL;
	slot = map64_put(&all->by_offset, at, NULL);
	if (slot && *slot)
		return u->lines = all->v[*slot - 1];
	if (all->read > all->there)
		return NULL;
	u->lines = slot ? add_table(u) : NULL;
	if (u->lines)
		*slot = all->n;
	else
		u->file->no_memory = true;
	return u->lines;
}

/* The path of a file of the line table. */
static const char *path_of(struct dwarf_unit *u, struct line_table *t, uint64_t number)
{
	struct buf path = BUF_INIT;
	int rc;

	if (!t->paths || number >= t->files.n_files)
		return NULL;
	if (!t->paths[number]) {
		rc = line_files_name(&t->files, number, &path);
		if (!rc)
			t->paths[number] = keep_path(u->file, t->files.comp_dir, buf_str(&path));
		else if (rc == PP_ENOMEM)
			u->file->no_memory = true;
		buf_release(&path);
	}
	return t->paths[number];
}

const char *unit_file(struct dwarf_unit *u, uint64_t number)
{
	bool own = u->content.addr == u->die.addr;
	struct line_table *t = own ? lines_of(u) : NULL;
	Dwarf_Files *files;
	size_t n;

	if (own && !(t && t->by_libdw))
		return t ? path_of(u, t, number) : NULL;
	/* Entries that are in a file of their own have files of their own, too. */
	if (dwarf_getsrcfiles(&u->content, &files, &n) || number >= n)
		return NULL;
	return whole_path(u, dwarf_filesrc(files, number, NULL, NULL));
}

/* ---- lines ---- */

static uint64_t line_addr(const struct line_table *t, size_t i)
{
	Dwarf_Addr a = 0;

	dwarf_lineaddr(dwarf_onesrcline(t->all, i), &a);
	return a;
}

/* The row that libdw has of an address: the last one at or before it. */
static void libdw_line(struct dwarf_unit *u, const struct line_table *t, uint64_t vaddr,
		       struct source_frame *f)
{
	size_t lo = 0, hi = t->n;
	Dwarf_Line *line;
	bool end = false;
	int n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (line_addr(t, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	line = lo ? dwarf_onesrcline(t->all, lo - 1) : NULL;
	if (!line || dwarf_lineendsequence(line, &end) || end)
		return;
	f->file = whole_path(u, dwarf_linesrc(line, NULL, NULL));
	if (!dwarf_lineno(line, &n) && n > 0)
		f->line = (uint32_t)n;
	if (!dwarf_linecol(line, &n) && n > 0)
		f->column = (uint32_t)n;
}

void unit_line(struct dwarf_unit *u, uint64_t vaddr, struct source_frame *f)
{
	struct line_table *t = lines_of(u);
	struct table_row row;

	if (t && t->by_libdw) {
		libdw_line(u, t, vaddr, f);
	} else if (t && line_rows_find(&t->rows, vaddr, &row)) {
		f->file = path_of(u, t, row.file);
		f->line = row.line <= INT32_MAX ? row.line : 0;
		f->column = row.column <= INT32_MAX ? row.column : 0;
	}
}
