/* The files that call frame information is read from, and the rows of addresses. */
#include "unwind/cfi_parts.h"

#include "base/array.h"
#include "base/err.h"
#include "dwarf/dwarf_image.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int cfi_new(struct cfi **out, struct rows *rows)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return PP_ENOMEM;
	(*out)->rows = rows;
	return 0;
}

static void section_release(struct cfi_section *s)
{
	elf_file_close(s->file);
	free(s->bytes);
	free(s->have);
	free(s->index);
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	section_release(&c->eh);
	section_release(&c->hdr);
	section_release(&c->debug);
	elf_file_close(c->image);
	map64_release(&c->by_addr);
	map64_release(&c->by_entry);
	free(c->spans);
	cfi_code_release(c);
	free(c);
}

int cfi_failed(struct cfi *c)
{
	struct elf_file *const files[] = {c->image, c->eh.file, c->hdr.file, c->debug.file};
	int err = 0;

	for (int i = 0; i < 4; i++) {
		int rc = elf_file_failed(files[i]);

		err = err ? err : rc;
	}
	return err;
}

unsigned cfi_machine(const struct cfi *c)
{
	return c->machine;
}

bool cfi_swap(const struct cfi *c)
{
	return c->swap;
}

/* A section that lies in the file as it is. Only what is read of it takes memory. */
static int take_plain(struct cfi_section *s, struct elf_file *f, uint64_t offset, uint64_t vaddr,
		      uint64_t size)
{
	uint64_t whole = elf_file_size(f);

	if (s->size || !size || size > CFI_SECTION_MAX || offset > whole || size > whole - offset)
		return 0;
	s->bytes = malloc(size);
	s->have = calloc(size / CFI_BLOCK / 64 + 1, sizeof(*s->have));
	if (!s->bytes || !s->have) {
		free(s->bytes);
		free(s->have);
		s->bytes = NULL;
		s->have = NULL;
		return PP_ENOMEM;
	}
	s->file = elf_file_ref(f);
	s->offset = offset;
	s->vaddr = vaddr;
	s->size = size;
	s->width = gelf_getclass(elf_file_elf(f)) == ELFCLASS32 ? 4 : 8;
	s->swap = elf_file_swap(f);
	return 0;
}

/* .debug_frame, which may be packed. */
static int take_debug(struct cfi *c, struct elf_file *f)
{
	struct cfi_section *s = &c->debug;
	struct buf b = BUF_INIT;
	GElf_Shdr sh;
	int rc;

	if (s->size)
		return 0;
	s->debug = true;
	if (elf_file_section(f, ".debug_frame", &sh) && sh.sh_type != SHT_NOBITS &&
	    !(sh.sh_flags & SHF_COMPRESSED))
		return take_plain(s, f, sh.sh_offset, 0, sh.sh_size);
	rc = dwarf_section(f, "frame", CFI_SECTION_MAX, &b);
	if (rc) {
		buf_release(&b);
		return rc == PP_ENOMEM ? rc : 0;
	}
	s->bytes = b.data;
	s->size = b.len;
	s->width = gelf_getclass(elf_file_elf(f)) == ELFCLASS32 ? 4 : 8;
	s->swap = elf_file_swap(f);
	return 0;
}

/* Where .eh_frame_hdr is, and .eh_frame where it says, of a file without section headers. */
static int take_segment(struct cfi *c, struct elf_file *f, const GElf_Phdr *p)
{
	const struct elf_segments *segs = elf_file_segments(f);
	uint8_t head[16];
	struct cursor cur = cursor_make(head, sizeof(head), elf_file_swap(f));
	uint64_t vaddr, offset;
	int rc = take_plain(&c->hdr, f, p->p_offset, p->p_vaddr, p->p_filesz);

	if (rc || elf_file_read(f, p->p_offset, head, sizeof(head)))
		return rc;
	cursor_skip(&cur, 4);
	vaddr = cfi_pointer(&cur, head[1], c->width, p->p_vaddr + 4, p->p_vaddr);
	if (cur.bad || elf_segments_offset(segs, vaddr, &offset))
		return 0;
	for (uint32_t i = 0; i < segs->n; i++) {
		const struct elf_segment *g = &segs->seg[i];

		if (vaddr >= g->vaddr && vaddr - g->vaddr < g->filesz)
			return take_plain(&c->eh, f, offset, vaddr, g->filesz - (vaddr - g->vaddr));
	}
	return 0;
}

static int take_headers(struct cfi *c, struct elf_file *f)
{
	GElf_Shdr sh;
	GElf_Phdr p;
	size_t n;
	int rc = 0;

	if (elf_file_section(f, ".eh_frame", &sh) && sh.sh_type != SHT_NOBITS)
		rc = take_plain(&c->eh, f, sh.sh_offset, sh.sh_addr, sh.sh_size);
	if (!rc && elf_file_section(f, ".eh_frame_hdr", &sh) && sh.sh_type != SHT_NOBITS)
		rc = take_plain(&c->hdr, f, sh.sh_offset, sh.sh_addr, sh.sh_size);
	if (rc || c->eh.size || elf_getphdrnum(elf_file_elf(f), &n))
		return rc;
	for (size_t i = 0; i < n && !rc && !c->eh.size; i++)
		if (gelf_getphdr(elf_file_elf(f), (int)i, &p) && p.p_type == PT_GNU_EH_FRAME)
			rc = take_segment(c, f, &p);
	return rc;
}

/* Whether a file has a name as a library. */
static bool is_library(struct elf_file *f, const GElf_Phdr *dynamic)
{
	Elf_Data *d = elf_getdata_rawchunk(elf_file_elf(f), (int64_t)dynamic->p_offset,
					   dynamic->p_filesz, ELF_T_DYN);
	GElf_Dyn dyn;

	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_SONAME)
			return true;
	return false;
}

/* The segments of the file that was run, whose bytes a program cannot change. */
static void take_image(struct cfi *c, struct elf_file *f)
{
	size_t n;
	GElf_Ehdr eh;
	GElf_Phdr p;

	if (gelf_getehdr(elf_file_elf(f), &eh))
		c->entry = eh.e_entry;
	c->program = true;
	if (elf_getphdrnum(elf_file_elf(f), &n))
		n = 0;
	for (size_t i = 0; i < n && c->nsegments < ELF_SEGMENTS_MAX; i++)
		if (!gelf_getphdr(elf_file_elf(f), (int)i, &p))
			continue;
		else if (p.p_type == PT_DYNAMIC)
			c->program = !is_library(f, &p);
		else if (p.p_type == PT_LOAD && !(p.p_flags & PF_W))
			c->segments[c->nsegments++] = (struct elf_segment){.offset = p.p_offset,
									   .filesz = p.p_filesz,
									   .vaddr = p.p_vaddr,
									   .memsz = p.p_memsz};
	c->image = elf_file_ref(f);
}

int cfi_add(struct cfi *c, struct elf_file *f, bool image)
{
	int rc = 0;

	if (c->any && (elf_file_machine(f) != c->machine || elf_file_swap(f) != c->swap))
		return 0;
	if (!c->any) {
		c->machine = elf_file_machine(f);
		c->swap = elf_file_swap(f);
		c->width = gelf_getclass(elf_file_elf(f)) == ELFCLASS32 ? 4 : 8;
	}
	if (image && !c->image)
		take_image(c, f);
	c->any = true;
	rc = cfi_code_add(c, f, image);
	if (rc)
		return rc;
	if (!c->eh.size) {
		rc = take_headers(c, f);
		c->hdr_bad = true;
		if (!rc && c->eh.size && c->hdr.size)
			cfi_read_hdr(c);
	}
	return rc ? rc : take_debug(c, f);
}

/* The row that stands for none. */
static int no_row(struct cfi *c, uint8_t flags, uint32_t *id)
{
	struct row_maker none = {.flags = ROW_NONE | flags};

	return rows_add(c->rows, &none, id);
}

/* The row of an address, if one of the same row was found before; 0: none was. */
static uint32_t remembered(struct cfi *c, uint64_t vaddr)
{
	uint64_t start;

	for (int debug = 0; debug < 2; debug++) {
		const uint32_t *first = cfi_entry_start(c, debug, vaddr, &start)
						? map64_get(&c->by_entry, start)
						: NULL;

		for (uint32_t i = first ? *first : 0; i; i = c->spans[i - 1].next)
			if (vaddr >= c->spans[i - 1].start && vaddr < c->spans[i - 1].end)
				return c->spans[i - 1].row;
	}
	return 0;
}

/* Notes the addresses of a row of the entry that begins at `entry`. */
static int remember(struct cfi *c, uint64_t entry, const struct cfi_span *span, uint32_t row)
{
	struct cfi_span *v;
	uint32_t *first;

	if (span->start >= span->end || c->nspans >= CFI_SPANS_MAX)
		return 0;
	v = array_widen(c->spans, &c->spans_cap, c->nspans, 64, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	c->spans = v;
	first = map64_put(&c->by_entry, entry, NULL);
	if (!first)
		return PP_ENOMEM;
	v[c->nspans++] = (struct cfi_span){span->start, span->end, row, *first};
	*first = c->nspans;
	return 0;
}

static int make_row(struct cfi *c, uint64_t vaddr, uint32_t *id)
{
	struct row_maker row;
	struct cfi_span span;
	struct cfi_fde fde;
	int rc;

	*id = remembered(c, vaddr);
	if (*id)
		return 0;
	rc = cfi_find(c, vaddr, &fde);
	if (rc == PP_ENOENT) {
		rc = cfi_code_row(c, vaddr, id);
		if (rc != PP_ENOENT)
			return rc;
	} else if (!rc) {
		rc = cfi_run(&fde, vaddr, &row, &span);
		if (!rc)
			rc = cfi_go_flags(c, vaddr, &row.flags);
	}
	if (rc)
		return rc == PP_ENOMEM ? rc : no_row(c, rc == PP_ENOENT ? 0 : ROW_DAMAGED, id);
	rc = rows_add(c->rows, &row, id);
	return rc ? rc : remember(c, fde.start, &span, *id);
}

int cfi_row(struct cfi *c, uint64_t vaddr, uint32_t *id)
{
	uint32_t *slot = map64_get(&c->by_addr, vaddr);
	int rc;

	if (slot) {
		*id = *slot;
		return 0;
	}
	rc = make_row(c, vaddr, id);
	if (rc)
		return rc;
	if (c->by_addr.n >= CFI_ROWS_MAX)
		map64_clear(&c->by_addr);
	slot = map64_put(&c->by_addr, vaddr, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = *id;
	return 0;
}

int cfi_covers(struct cfi *c, uint64_t vaddr, bool *is)
{
	uint32_t id;
	int rc = cfi_row(c, vaddr, &id);

	*is = !rc && !(rows_get(c->rows, id)->flags & ROW_NONE);
	return rc;
}

/*
 * What begins with this row, after which `later` holds 16 bytes on. A call leaves the CFA at a
 * known place; a linkage table begins with a push, and goes on with an expression.
 */
static unsigned kind_of(const struct cfi *c, const struct row *row, const struct row *later)
{
	bool pushed = c->machine == EM_X86_64 || c->machine == EM_386;
	unsigned sp = c->machine == EM_X86_64 ? 7 : c->machine == EM_386 ? 4 : 31;

	if ((!pushed && c->machine != EM_AARCH64) ||
	    row->flags & (ROW_NONE | ROW_OUTERMOST | ROW_SIGNAL))
		return CFI_FUNCTION;
	if (pushed && row->cfa.how == ROW_REGISTER && later->cfa.how == ROW_VAL_EXPR &&
	    row->cfa.value == 2 * c->width)
		return CFI_PLT;
	return row->cfa.how == ROW_REGISTER && row->cfa.reg == sp &&
			       row->cfa.value == (pushed ? c->width : 0)
		       ? CFI_FUNCTION
		       : CFI_COLD;
}

/* The function of an address that no entry covers: of the code at the entry point, or of others. */
static int function_of_code(struct cfi *c, uint64_t vaddr, struct cfi_function *f)
{
	uint32_t row;
	bool entry;
	int rc = cfi_row(c, vaddr, &row);

	if (!rc)
		rc = cfi_in_entry(c, vaddr, &entry);
	if (rc || !entry)
		return rc ? rc : cfi_code_function(c, vaddr, &f->start, &f->end);
	*f = (struct cfi_function){.start = c->entry, .end = c->entry_end};
	return 0;
}

int cfi_function(struct cfi *c, uint64_t vaddr, struct cfi_function *f)
{
	uint32_t first, later;
	struct cfi_fde fde;
	int rc = cfi_find(c, vaddr, &fde);

	if (rc == PP_ENOENT) {
		f->kind = CFI_FUNCTION;
		rc = function_of_code(c, vaddr, f);
		if (!rc && c->program && f->start == c->entry)
			f->kind = CFI_ENTRY;
		return rc;
	}
	if (!rc)
		rc = cfi_row(c, fde.start, &first);
	if (!rc)
		rc = cfi_row(c, fde.start + (fde.len > 16 ? 16 : 0), &later);
	if (rc)
		return rc;
	*f = (struct cfi_function){.start = fde.start, .end = fde.start + fde.len};
	f->kind = c->program && c->entry && f->start == c->entry
			  ? CFI_ENTRY
			  : kind_of(c, rows_get(c->rows, first), rows_get(c->rows, later));
	return 0;
}

static const char *const kind_ends[] = {
	[CFI_FUNCTION] = "", [CFI_COLD] = ".cold", [CFI_PLT] = "@plt"};

/* The name of a file in a path, or of "[vdso]"; *n: its length. */
static const char *file_name(const char *path, size_t *n)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	file += *file == '[';
	*n = strcspn(file, " ]");
	return file;
}

void cfi_function_name(const struct cfi_function *f, const char *path, struct buf *b)
{
	size_t n;
	const char *file = file_name(path, &n);

	if (f->kind == CFI_ENTRY)
		buf_adds(b, "_start");
	else
		buf_addf(b, "%.*s+0x%" PRIx64 "%s", (int)n, file, f->start, kind_ends[f->kind]);
}

bool cfi_function_named(const char *text, const char *path, uint64_t *start)
{
	size_t n;
	const char *file = file_name(path, &n);
	char *end;

	if (strncmp(text, file, n) != 0 || strncmp(text + n, "+0x", 3) != 0)
		return false;
	*start = strtoull(text + n + 3, &end, 16);
	for (size_t i = 0; i < sizeof(kind_ends) / sizeof(kind_ends[0]); i++)
		if (end > text + n + 3 && !strcmp(end, kind_ends[i]))
			return true;
	return false;
}

int cfi_is_entry(struct cfi *c, uint64_t vaddr, bool *is)
{
	bool entry;
	uint32_t id;
	int rc = cfi_in_entry(c, vaddr, &entry);

	*is = false;
	if (rc || !entry)
		return rc;
	rc = cfi_row(c, c->entry, &id);
	*is = !rc && rows_get(c->rows, id)->flags & ROW_NONE;
	return rc;
}

int cfi_is_begin(struct cfi *c, uint64_t vaddr, bool *is)
{
	struct cfi_function f;
	int rc = cfi_function(c, vaddr, &f);

	*is = !rc && f.start == vaddr;
	if (*is || rc == PP_ENOMEM || !c->code.functions)
		return rc == PP_ENOMEM ? rc : 0;
	return functions_known(c->code.functions, vaddr, is);
}
