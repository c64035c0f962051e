/*
 * Whether programs were compiled with frame pointers: --call-graph auto. A function that has one
 * sets it up at its beginning; where functions begin is in the table of .eh_frame_hdr, see the
 * Linux Standard Base, "DWARF Extensions". Go programs have them; they are known by sections that
 * only Go's linker makes, and that stripping leaves.
 */
#include "record/framepointer.h"

#include "base/cursor.h"
#include "base/err.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PHDRS_MAX     256
#define FUNCTIONS_MAX 20000 /* that are looked at */
#define PROLOGUE      32    /* bytes at the beginning of a function, aarch64 */
#define BLOCK	      65536 /* bytes that are read at a time */
#define EHDR_SIZE     64    /* of Elf64_Ehdr */
#define PHDR_SIZE     56    /* of Elf64_Phdr */
#define SHDR_SIZE     64    /* of Elf64_Shdr */
#define SHDRS_MAX     256   /* that are looked at */
#define TABLE_HEAD    12    /* bytes before the entries of the table */
#define TABLE_ENTRY   8
#define ENTRIES	      1024 /* of it, that are taken at a time */

#define OTHER_ORDER (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)

struct segment {
	uint64_t offset, addr, size; /* size: in the file */
};

/*
 * A file, read with pread, as another process may cut it short meanwhile. Functions lie in the
 * order of the table, so that a block serves many.
 */
struct image {
	int fd;
	uint16_t machine;
	struct segment load[PHDRS_MAX];
	size_t n;
	uint64_t table; /* address of .eh_frame_hdr; 0: none */
	uint64_t shoff; /* section headers, of which the one `names` has their names */
	uint16_t shnum, names;
	uint64_t at; /* where the block lies */
	size_t len;
	uint8_t block[BLOCK];
};

/* Up to `want` bytes at an offset; NULL: none. Valid until the next call. */
static const uint8_t *read_at(struct image *im, uint64_t offset, size_t want, size_t *got)
{
	if (offset < im->at || offset - im->at >= im->len || im->len - (offset - im->at) < want) {
		ssize_t n;

		if (offset > INT64_MAX)
			return NULL;
		n = pread(im->fd, im->block, sizeof(im->block), (off_t)offset);
		im->at = offset;
		im->len = n > 0 ? (size_t)n : 0;
	}
	*got = im->len - (size_t)(offset - im->at);
	if (*got > want)
		*got = want;
	return *got ? im->block + (offset - im->at) : NULL;
}

/* A program header: type, flags, offset, address, its physical one, size in the file. */
static void take_phdr(struct image *im, struct cursor c)
{
	uint32_t type = get_u32(&c);
	struct segment s;

	cursor_skip(&c, 4);
	s.offset = get_u64(&c);
	s.addr = get_u64(&c);
	cursor_skip(&c, 8);
	s.size = get_u64(&c);
	if (type == PT_LOAD)
		im->load[im->n++] = s;
	else if (type == PT_GNU_EH_FRAME && !im->table)
		im->table = s.addr;
}

/* Files of 64 bits and little endian order, which is what there are machines for below. */
static bool read_phdrs(struct image *im)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
	uint16_t size, count;
	uint64_t phoff;
	struct cursor c;
	size_t got;
	const uint8_t *p = read_at(im, 0, EHDR_SIZE, &got);

	if (!p || got < EHDR_SIZE || memcmp(p, ident, sizeof(ident)) != 0)
		return false;
	c = cursor_make(p, got, OTHER_ORDER);
	cursor_skip(&c, 18);
	im->machine = get_u16(&c);
	cursor_skip(&c, 12);
	phoff = get_u64(&c);
	im->shoff = get_u64(&c);
	cursor_skip(&c, 6);
	size = get_u16(&c);
	count = get_u16(&c);
	im->shnum = get_u16(&c) == SHDR_SIZE ? get_u16(&c) : 0;
	im->names = get_u16(&c);
	if (size != PHDR_SIZE || count > PHDRS_MAX)
		return false;
	p = read_at(im, phoff, (size_t)count * PHDR_SIZE, &got);
	if (!p || got < (size_t)count * PHDR_SIZE)
		return false;
	for (uint16_t i = 0; i < count; i++)
		take_phdr(im, cursor_make(p + (size_t)i * PHDR_SIZE, PHDR_SIZE, OTHER_ORDER));
	return true;
}

/* The bytes at an address, as far as a segment holds them. */
static const uint8_t *at_address(struct image *im, uint64_t addr, size_t want, size_t *got)
{
	for (size_t i = 0; i < im->n; i++) {
		const struct segment *s = &im->load[i];
		uint64_t into = addr - s->addr;

		if (addr < s->addr || into >= s->size || s->offset + into < s->offset)
			continue;
		if (want > s->size - into)
			want = (size_t)(s->size - into);
		return read_at(im, s->offset + into, want, got);
	}
	return NULL;
}

/* push %rbp; mov %rsp,%rbp; perhaps after endbr64. */
static bool begins_x86(const uint8_t *p, size_t n)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (n >= 4 && memcmp(p, endbr, 4) == 0)
		p += 4, n -= 4;
	return n >= 4 && p[0] == 0x55 &&
	       (memcmp(p + 1, "\x48\x89\xe5", 3) == 0 || memcmp(p + 1, "\x48\x8b\xec", 3) == 0);
}

/* stp x29, x30, [sp, #-n]! or [sp, #n], soon. */
static bool begins_arm(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n && i < PROLOGUE; i += 4) {
		uint32_t code = p[i] | (uint32_t)p[i + 1] << 8 | (uint32_t)p[i + 2] << 16 |
				(uint32_t)p[i + 3] << 24;

		if ((code & 0xfe407fff) == 0xa8007bfd)
			return true;
	}
	return false;
}

static bool begins_framed(struct image *im, uint64_t addr, bool *framed)
{
	size_t got;
	const uint8_t *code = at_address(im, addr, PROLOGUE, &got);

	if (!code)
		return false;
	*framed = im->machine == EM_X86_64 ? begins_x86(code, got) : begins_arm(code, got);
	return true;
}

/*
 * The functions of the table, which has: version, three encodings, .eh_frame, count; then function
 * and entry, both of 32 bits. Entries are copied, as looking at code reads another block.
 */
static int count_functions(struct image *im, unsigned *share)
{
	static const uint8_t form[] = {1, 0x1b, 0x03, 0x3b};
	uint64_t functions = 0, framed = 0, n, step;
	size_t got;
	const uint8_t *p = at_address(im, im->table, TABLE_HEAD, &got);
	struct cursor c;

	if (!p || got < TABLE_HEAD || memcmp(p, form, sizeof(form)) != 0)
		return PP_ENOENT;
	c = cursor_make(p + 8, 4, OTHER_ORDER);
	n = get_u32(&c);
	step = n > FUNCTIONS_MAX ? n / FUNCTIONS_MAX : 1;
	for (uint64_t i = 0; i < n; i += ENTRIES * step) {
		uint64_t funcs[ENTRIES];
		size_t k = 0;

		for (; k < ENTRIES && i + k * step < n; k++) {
			p = at_address(im, im->table + TABLE_HEAD + TABLE_ENTRY * (i + k * step),
				       TABLE_ENTRY, &got);
			if (!p || got < TABLE_ENTRY)
				break;
			c = cursor_make(p, 4, OTHER_ORDER);
			funcs[k] = im->table + (uint64_t)(int64_t)(int32_t)get_u32(&c);
		}
		for (size_t j = 0; j < k; j++) {
			bool yes;

			if (begins_framed(im, funcs[j], &yes)) {
				functions++;
				framed += yes;
			}
		}
		if (k < ENTRIES)
			break;
	}
	if (!functions)
		return PP_ENOENT;
	*share = (unsigned)(100 * framed / functions);
	return 0;
}

/* A section header: name, type, flags, address, offset. */
static bool section(struct image *im, uint16_t i, uint32_t *name, uint64_t *offset)
{
	size_t got;
	const uint8_t *p = read_at(im, im->shoff + (uint64_t)i * SHDR_SIZE, SHDR_SIZE, &got);
	struct cursor c;

	if (!p || got < SHDR_SIZE)
		return false;
	c = cursor_make(p, got, OTHER_ORDER);
	*name = get_u32(&c);
	cursor_skip(&c, 20);
	*offset = get_u64(&c);
	return true;
}

/* Names are looked at after the headers, which lie in another block. */
static bool is_go(struct image *im)
{
	static const char *const go[] = {".note.go.buildid", ".gopclntab"};
	uint32_t at[SHDRS_MAX], ignored;
	uint64_t names, offset;
	uint16_t n = 0;

	while (n < im->shnum && n < SHDRS_MAX && section(im, n, &at[n], &offset))
		n++;
	if (im->names >= im->shnum || !section(im, im->names, &ignored, &names))
		return false;
	for (uint16_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(go) / sizeof(go[0]); k++) {
			size_t got, len = strlen(go[k]) + 1;
			const uint8_t *p = read_at(im, names + at[i], len, &got);

			if (p && got == len && memcmp(p, go[k], len) == 0)
				return true;
		}
	return false;
}

int framepointer_of(int fd, unsigned *share, bool *go)
{
	struct image *im = calloc(1, sizeof(*im));
	int rc = PP_ENOENT;

	*share = 0;
	*go = false;
	if (!im)
		return PP_ENOMEM;
	im->fd = fd;
	if (read_phdrs(im) && (im->machine == EM_X86_64 || im->machine == EM_AARCH64)) {
		*go = is_go(im);
		rc = im->table ? count_functions(im, share) : PP_ENOENT;
		if (rc == PP_ENOENT)
			rc = 0; /* no table tells of any function */
	}
	free(im);
	return rc;
}

int framepointer_look(const char *path, unsigned *share, bool *go)
{
	int rc = PP_ENOENT, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return PP_ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		rc = framepointer_of(fd, share, go);
	close(fd);
	return rc;
}
