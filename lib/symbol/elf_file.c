/* Opens ELF files, plain or packed, and reads of them what others need, each size checked. */
#include "symbol/elf_file.h"

#include "base/cursor.h"
#include "base/err.h"
#include "base/unpack.h"
#include "symbol/beneath.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define COPY_BLOCK 65536
#define PAGE_MAX   65536 /* the largest page with which a kernel maps a segment */

struct elf_file {
	Elf *elf;
	GElf_Ehdr ehdr;
	size_t shstrndx;
	int fd;		     /* -1: memory */
	uint32_t more;	     /* references beside the first */
	struct buf unpacked; /* the memory, if it is its own */
	struct elf_segments segments;
	int err;    /* of opening it */
	int failed; /* the first error of reading it that was not yet asked for */
};

/* Whether sections of code have no bytes in the file: it is what is left for a debugger. */
static bool is_hollow(const struct elf_file *f)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	GElf_Shdr shdr;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_NOBITS &&
		    (shdr.sh_flags & code) == code)
			return true;
	return false;
}

static int read_segments(struct elf_file *f)
{
	bool hollow = is_hollow(f);
	size_t n;

	if (elf_getphdrnum(f->elf, &n))
		return PP_ECORRUPT;
	for (size_t i = 0; i < n && f->segments.n < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(f->elf, (int)i, &p))
			return PP_ECORRUPT;
		if (p.p_type == PT_LOAD)
			f->segments.seg[f->segments.n++] =
				(struct elf_segment){p.p_offset,
						     p.p_filesz,
						     p.p_vaddr,
						     p.p_memsz,
						     (p.p_flags & PF_X) != 0,
						     hollow && p.p_filesz < p.p_memsz};
	}
	return 0;
}

static enum symtab_reason start(struct elf_file *f)
{
	if (!f->elf)
		return SYMTAB_NOT_ELF;
	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->ehdr))
		return SYMTAB_NOT_ELF;
	/* A file without section names still has segments, which serve the conversion of addresses.
	 */
	if (elf_getshdrstrndx(f->elf, &f->shstrndx))
		f->shstrndx = SHN_UNDEF;
	return read_segments(f) ? SYMTAB_CORRUPT : SYMTAB_OK;
}

static int finish(struct elf_file **out, struct elf_file *f, enum symtab_reason *why)
{
	if (*why) {
		int err = *why == SYMTAB_IO && f->err ? f->err : symtab_reason_err(*why);

		elf_file_close(f);
		return err;
	}
	*out = f;
	return 0;
}

static struct elf_file *file_new(enum symtab_reason *why)
{
	struct elf_file *f = elf_version(EV_CURRENT) == EV_NONE ? NULL : calloc(1, sizeof(*f));

	*why = SYMTAB_NO_MEMORY;
	if (f)
		f->fd = -1;
	return f;
}

/* The ELF file that n bytes hold, which are packed if `kind` says so. */
static enum symtab_reason from_bytes(struct elf_file *f, const void *bytes, size_t n)
{
	if (unpack_kind(bytes, n)) {
		int rc = unpack_bytes(bytes, n, ELF_UNPACKED_MAX, &f->unpacked);

		if (rc)
			return symtab_reason_unpack(rc);
		bytes = f->unpacked.data;
		n = f->unpacked.len;
	}
	/* The cast is for libelf's prototype: without ELF_C_WRITE it only reads. */
	f->elf = elf_memory((char *)(uintptr_t)bytes, n);
	return start(f);
}

static enum symtab_reason read_packed(struct elf_file *f, uint64_t size)
{
	struct buf packed = BUF_INIT;
	enum symtab_reason why;
	ssize_t got = 1;

	if (size > ELF_PACKED_MAX)
		return SYMTAB_LIMIT;
	if (buf_reserve(&packed, size))
		return SYMTAB_NO_MEMORY;
	while (packed.len < size && got) {
		got = pread(f->fd, packed.data + packed.len, size - packed.len, (off_t)packed.len);
		if (got < 0 && errno != EINTR)
			break;
		packed.len += got > 0 ? (size_t)got : 0;
	}
	why = got < 0 ? SYMTAB_IO : from_bytes(f, packed.data, packed.len);
	buf_release(&packed);
	return why;
}

static enum symtab_reason open_fd(struct elf_file *f, int fd, const struct inode *recorded)
{
	uint8_t first[8];
	struct stat st;
	ssize_t got;

	f->fd = fd;
	if (fd < 0 || fstat(fd, &st)) {
		f->err = pp_errno(errno);
		return errno == ENOTSUP ? SYMTAB_NOT_ELF : symtab_reason_errno(errno);
	}
	if (recorded && !inode_is(recorded, fd))
		return SYMTAB_REPLACED;
	got = pread(f->fd, first, sizeof(first), 0);
	if (got < 0) {
		f->err = pp_errno(errno);
		return symtab_reason_errno(errno);
	}
	if (got == sizeof(first) && unpack_kind(first, sizeof(first)))
		return read_packed(f, (uint64_t)st.st_size);
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	return start(f);
}

int elf_file_open_in(struct elf_file **out, int dir, const char *path, const struct inode *recorded,
		     enum symtab_reason *why)
{
	struct elf_file *f = file_new(why);

	if (!f)
		return PP_ENOMEM;
	*why = open_fd(f, beneath_open(dir, path), recorded);
	return finish(out, f, why);
}

int elf_file_open(struct elf_file **out, const char *path, enum symtab_reason *why)
{
	return elf_file_open_in(out, BENEATH_ANYWHERE, path, NULL, why);
}

int elf_file_bytes(struct elf_file **out, const void *bytes, size_t n, enum symtab_reason *why)
{
	struct elf_file *f = file_new(why);

	if (!f)
		return PP_ENOMEM;
	*why = from_bytes(f, bytes, n);
	return finish(out, f, why);
}

int elf_file_memory(struct elf_file **out, const void *bytes, size_t n, enum symtab_reason *why)
{
	struct elf_file *f = file_new(why);

	if (!f)
		return PP_ENOMEM;
	f->elf = elf_memory((char *)(uintptr_t)bytes, n);
	*why = start(f);
	return finish(out, f, why);
}

int elf_file_debugdata(struct elf_file **out, const struct elf_file *outer, enum symtab_reason *why)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_file_section(outer, ".gnu_debugdata", &shdr);
	Elf_Data *d = scn && shdr.sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;

	*why = SYMTAB_STRIPPED;
	if (!d || !d->d_buf || !d->d_size)
		return PP_ENOENT;
	*why = SYMTAB_CORRUPT;
	if (!unpack_kind(d->d_buf, d->d_size))
		return PP_ECORRUPT;
	return elf_file_bytes(out, d->d_buf, d->d_size, why);
}

struct elf_file *elf_file_ref(struct elf_file *f)
{
	f->more++;
	return f;
}

void elf_file_close(struct elf_file *f)
{
	if (!f || f->more--)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	buf_release(&f->unpacked);
	free(f);
}

Elf *elf_file_elf(const struct elf_file *f)
{
	return f->elf;
}

Elf *elf_file_again(const struct elf_file *f)
{
	size_t n;
	char *bytes;

	if (f->fd >= 0 && !f->unpacked.len)
		return elf_begin(f->fd, ELF_C_READ, NULL);
	bytes = elf_rawfile(f->elf, &n);
	return bytes ? elf_memory(bytes, n) : NULL;
}

unsigned elf_file_machine(const struct elf_file *f)
{
	return f->ehdr.e_machine;
}

unsigned elf_file_type(const struct elf_file *f)
{
	return f->ehdr.e_type;
}

bool elf_file_swap(const struct elf_file *f)
{
	return f->ehdr.e_ident[EI_DATA] !=
	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

const struct elf_segments *elf_file_segments(const struct elf_file *f)
{
	return &f->segments;
}

/* Whether v lies in the `size` bytes from `start`, extended by up to `slack` bytes on both sides.
 */
static bool in_range(uint64_t v, uint64_t start, uint64_t size, uint64_t slack)
{
	return v >= start ? v - start < size || v - start - size < slack : start - v <= slack;
}

int elf_segments_vaddr(const struct elf_segments *s, uint64_t offset, uint64_t *vaddr)
{
	for (int slack = 0; slack <= PAGE_MAX; slack += PAGE_MAX) {
		for (uint32_t i = 0; i < s->n; i++) {
			const struct elf_segment *g = &s->seg[i];

			if (!g->exec || g->hollow || !g->filesz ||
			    !in_range(offset, g->offset, g->filesz, (uint64_t)slack))
				continue;
			*vaddr = offset - g->offset + g->vaddr;
			return 0;
		}
	}
	return PP_ENOENT;
}

/*
 * Where the mapping of a segment begins in the file: of `span` bytes, else, if there is no other
 * segment, the first of all, as parts of a mapping can have been announced on their own.
 */
static const struct elf_mapping *mapping_of(const struct elf_mapping *maps, size_t n, uint64_t span,
					    uint64_t offset, bool only)
{
	const struct elf_mapping *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (maps[i].len == span && in_range(offset, maps[i].pgoff, span, 0))
			return &maps[i];
		if (!first || maps[i].pgoff < first->pgoff)
			first = &maps[i];
	}
	return only ? first : NULL;
}

int elf_segments_mapped(const struct elf_segments *s, const struct elf_mapping *maps, size_t n,
			uint64_t page, uint64_t offset, uint64_t *vaddr)
{
	uint32_t hollow = 0, found = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; i < s->n; i++)
		hollow += s->seg[i].exec && s->seg[i].hollow;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct elf_segment *g = &s->seg[i];
		uint64_t base = g->vaddr & ~(page - 1);
		uint64_t span = (g->vaddr - base + g->memsz + page - 1) & ~(page - 1);
		const struct elf_mapping *m;

		if (!g->exec || !g->hollow)
			continue;
		m = mapping_of(maps, n, span, offset, hollow == 1);
		if (!m || !in_range(offset, m->pgoff, span, 0))
			continue;
		at = offset - m->pgoff + base;
		found++;
	}
	if (found != 1)
		return PP_ENOENT;
	*vaddr = at;
	return 0;
}

int elf_segments_offset(const struct elf_segments *s, uint64_t vaddr, uint64_t *offset)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct elf_segment *g = &s->seg[i];

		if (in_range(vaddr, g->vaddr, g->memsz > g->filesz ? g->memsz : g->filesz, 0)) {
			*offset = vaddr - g->vaddr + g->offset;
			return 0;
		}
	}
	return PP_ENOENT;
}

const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *shdr)
{
	const char *name = NULL;

	if (f->shstrndx != SHN_UNDEF)
		name = elf_strptr(f->elf, f->shstrndx, shdr->sh_name);
	return name ? name : "";
}

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *shdr)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));)
		if (gelf_getshdr(scn, shdr) && !strcmp(elf_file_section_name(f, shdr), name))
			return scn;
	return NULL;
}

Elf_Scn *elf_file_section_type(const struct elf_file *f, uint32_t type, GElf_Shdr *shdr)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));)
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			return scn;
	return NULL;
}

Elf_Data *elf_file_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *d;

	if (!scn || shdr->sh_type == SHT_NOBITS || !shdr->sh_size)
		return NULL;
	d = elf_getdata(scn, NULL);
	return d && d->d_buf && d->d_size ? d : NULL;
}

/* Raw bytes are asked for, as the cursor swaps itself and libelf's conversion knows one alignment.
 */
static int from_data(const struct elf_file *f, const Elf_Data *d, uint64_t align,
		     struct build_id *id)
{
	if (!d || !d->d_buf)
		return PP_ENOENT;
	return build_id_from_notes(d->d_buf, d->d_size, elf_file_swap(f), align == 8 ? 8 : 4, id);
}

int elf_file_build_id(const struct elf_file *f, struct build_id *id)
{
	int rc = PP_ENOENT;
	GElf_Shdr shdr;
	GElf_Phdr p;
	size_t n;

	*id = (struct build_id){0};
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		rc = from_data(f, elf_rawdata(scn, NULL), shdr.sh_addralign, id);
		if (!rc)
			return 0;
	}
	if (elf_getphdrnum(f->elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_NOTE ||
		    p.p_offset > INT64_MAX || p.p_filesz > INT64_MAX)
			continue;
		rc = from_data(
			f,
			elf_getdata_rawchunk(f->elf, (int64_t)p.p_offset, p.p_filesz, ELF_T_BYTE),
			p.p_align, id);
		if (!rc)
			return 0;
	}
	*id = (struct build_id){0};
	return rc;
}

int elf_file_debuglink(const struct elf_file *f, char name[ELF_DEBUGLINK_MAX], uint32_t *crc)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_file_section(f, ".gnu_debuglink", &shdr);
	Elf_Data *d = scn && shdr.sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;
	struct cursor c;
	size_t len;

	if (!d || !d->d_buf)
		return PP_ENOENT;
	len = strnlen(d->d_buf, d->d_size);
	if (!len || len >= ELF_DEBUGLINK_MAX || memchr(d->d_buf, '/', len))
		return PP_ENOENT;
	c = cursor_make(d->d_buf, d->d_size, elf_file_swap(f));
	cursor_skip(&c, (len + 4) / 4 * 4);
	*crc = get_u32(&c);
	if (c.bad)
		return PP_ENOENT;
	memcpy(name, d->d_buf, len);
	name[len] = 0;
	return 0;
}

int elf_file_altlink(const struct elf_file *f, const char **name, struct build_id *id)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_file_section(f, ".gnu_debugaltlink", &shdr);
	Elf_Data *d = scn && shdr.sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;
	size_t len = d && d->d_buf ? strnlen(d->d_buf, d->d_size) : 0;

	if (!len || len == d->d_size)
		return PP_ENOENT;
	*name = d->d_buf;
	*id = build_id_make((const uint8_t *)d->d_buf + len + 1, d->d_size - len - 1);
	return id->len ? 0 : PP_ENOENT;
}

uint64_t elf_file_size(const struct elf_file *f)
{
	struct stat st;
	size_t n = 0;

	if (f->fd < 0 || f->unpacked.len)
		return elf_rawfile(f->elf, &n) ? n : 0;
	return fstat(f->fd, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;
}

/* That it could not be read is no property of a file: it is noted in one that does not change. */
static int note_failed(const struct elf_file *f, int err)
{
	struct elf_file *own = (struct elf_file *)(uintptr_t)f;

	if (!own->failed)
		own->failed = err;
	return err;
}

int elf_file_failed(struct elf_file *f)
{
	int err = f ? f->failed : 0;

	if (err)
		f->failed = 0;
	return err;
}

int elf_file_read(const struct elf_file *f, uint64_t offset, void *to, size_t n)
{
	uint8_t *p = to;
	bool again = true; /* a disk may fail once */

	if (f->fd < 0 || f->unpacked.len) {
		size_t len = 0;
		const char *image = elf_rawfile(f->elf, &len);

		if (!image || offset > len || n > len - offset)
			return PP_ECUT;
		memcpy(to, image + offset, n);
		return 0;
	}
	while (n) {
		ssize_t got = pread(f->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EIO && again) {
			again = false;
			continue;
		}
		if (got <= 0)
			return got ? note_failed(f, pp_errno(errno)) : PP_ECUT;
		p += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int elf_file_copy(const struct elf_file *f, uint64_t len,
		  int (*fn)(void *ctx, const uint8_t *bytes, size_t n), void *ctx)
{
	uint8_t block[COPY_BLOCK];
	size_t n = 0;
	int rc = 0;

	if (f->fd < 0 || f->unpacked.len) {
		const uint8_t *image = (const uint8_t *)elf_rawfile(f->elf, &n);

		return image && n >= len ? fn(ctx, image, len) : PP_ECUT;
	}
	for (uint64_t done = 0; done < len && !rc; done += n) {
		ssize_t got = pread(f->fd, block,
				    len - done < COPY_BLOCK ? (size_t)(len - done) : COPY_BLOCK,
				    (off_t)done);

		if (got <= 0)
			return got ? note_failed(f, pp_errno(errno)) : PP_ECUT;
		n = (size_t)got;
		rc = fn(ctx, block, n);
	}
	return rc;
}

static int ignore(void *ctx, const uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

int elf_file_probe(struct elf_file *f)
{
	int before = elf_file_failed(f), rc = elf_file_copy(f, elf_file_size(f), ignore, NULL);

	elf_file_failed(f);
	return rc && rc != PP_ECUT ? rc : before;
}

static int add_crc(void *ctx, const uint8_t *bytes, size_t n)
{
	uint32_t *crc = ctx;

	/* zlib takes 32 bits of length. */
	for (size_t at = 0; at < n; at += COPY_BLOCK)
		*crc = (uint32_t)crc32(*crc, bytes + at,
				       (uInt)(n - at < COPY_BLOCK ? n - at : COPY_BLOCK));
	return 0;
}

int elf_file_crc(const struct elf_file *f, uint32_t *crc)
{
	*crc = (uint32_t)crc32(0, NULL, 0);
	return elf_file_copy(f, elf_file_size(f), add_crc, crc);
}

bool elf_file_has_symtab(const struct elf_file *f)
{
	GElf_Shdr shdr;

	return elf_file_section_type(f, SHT_SYMTAB, &shdr) && shdr.sh_size;
}

bool elf_file_has_dynsym(const struct elf_file *f)
{
	GElf_Shdr shdr;

	return elf_file_section_type(f, SHT_DYNSYM, &shdr) && shdr.sh_size;
}

bool elf_file_has_dwarf(const struct elf_file *f)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_file_section(f, ".debug_info", &sh);

	if (!scn)
		scn = elf_file_section(f, ".zdebug_info", &sh);
	return scn && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

bool elf_file_damaged(const struct elf_file *f)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if (!f->ehdr.e_shoff || f->ehdr.e_shstrndx == SHN_UNDEF)
		return false;
	scn = f->shstrndx == SHN_UNDEF ? NULL : elf_getscn(f->elf, f->shstrndx);
	return !scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_STRTAB;
}
