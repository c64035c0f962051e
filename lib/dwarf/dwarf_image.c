/* Makes an ELF image of the few debug sections that are needed, unpacked, for libdw. */
#include "dwarf/dwarf_image.h"

#include "base/cursor.h"
#include "base/err.h"
#include "base/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum packing { PLAIN, ZLIB, ZSTD, UNKNOWN };

/* The section may be there more than once; libdw takes the first. */
struct section {
	const char *name; /* without ".debug_" */
	bool only_lines;
	bool there;
	enum packing packing;
	uint64_t offset, len; /* of its bytes in the file */
	uint64_t size;	      /* unpacked */
	uint64_t at;	      /* in the image */
};

static const struct section wanted[] = {
	{.name = "info"},	 {.name = "abbrev"},
	{.name = "str"},	 {.name = "line_str"},
	{.name = "ranges"},	 {.name = "rnglists"},
	{.name = "addr"},	 {.name = "types"},
	{.name = "str_offsets"}, {.name = "line", .only_lines = true},
};

#define SECTIONS (sizeof(wanted) / sizeof(*wanted))

struct maker {
	const struct elf_file *file;
	struct section s[SECTIONS];
	size_t n; /* that are there */
	uint64_t sum;
};

/* ---- what is there ---- */

/* The header of a packed section: 0, or PP_ECORRUPT. */
static int read_packing(const struct maker *m, struct section *s, bool old)
{
	bool wide = gelf_getclass(elf_file_elf(m->file)) == ELFCLASS64;
	uint8_t head[24];
	size_t n = old ? 12 : wide ? 24 : 12;
	struct cursor c = cursor_make(head, n, elf_file_swap(m->file));
	uint32_t type;

	if (s->len < n || elf_file_read(m->file, s->offset, head, n))
		return PP_ECORRUPT;
	if (old) {
		if (memcmp(get_bytes(&c, 4), "ZLIB", 4) != 0)
			return PP_ECORRUPT;
		c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
		s->packing = ZLIB;
		s->size = get_u64(&c);
	} else {
		type = get_u32(&c);
		s->packing = type == ELFCOMPRESS_ZLIB	? ZLIB
			     : type == ELFCOMPRESS_ZSTD ? ZSTD
							: UNKNOWN;
		if (wide)
			get_u32(&c);
		s->size = wide ? get_u64(&c) : get_u32(&c);
	}
	s->offset += n;
	s->len -= n;
	return s->packing == UNKNOWN ? PP_ECORRUPT : 0;
}

static int take(struct maker *m, struct section *s, const GElf_Shdr *sh, bool old)
{
	struct section found = *s;

	found.offset = sh->sh_offset;
	found.len = found.size = sh->sh_size;
	if ((old || sh->sh_flags & SHF_COMPRESSED) && read_packing(m, &found, old))
		return 0;
	if (found.packing != PLAIN && found.size > unpack_limit(found.len))
		return PP_ELIMIT;
	if (found.size > DWARF_IMAGE_MAX - m->sum)
		return PP_ELIMIT;
	found.there = true;
	m->sum += found.size;
	m->n++;
	*s = found;
	return 0;
}

/*
 * Whether a section is the debug section of this name, "" any; *old: packed in the form before
 * ELF's own.
 */
static bool is_debug(const char *name, const char *what, bool *old)
{
	*old = !strncmp(name, ".zdebug_", 8);
	return (*old || !strncmp(name, ".debug_", 7)) && (!*what || !strcmp(name + 7 + *old, what));
}

static int find_sections(struct maker *m, bool lines)
{
	Elf *elf = elf_file_elf(m->file);
	uint64_t size = elf_file_size(m->file);
	int rc = 0;

	for (Elf_Scn *scn = NULL; !rc && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const char *name;
		bool old;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || !sh.sh_size ||
		    sh.sh_offset > size || sh.sh_size > size - sh.sh_offset)
			continue;
		name = elf_file_section_name(m->file, &sh);
		if (!is_debug(name, "", &old))
			continue;
		for (size_t i = 0; !rc && i < SECTIONS; i++)
			if (!m->s[i].there && (lines || !m->s[i].only_lines) &&
			    !strcmp(name + 7 + old, m->s[i].name))
				rc = take(m, &m->s[i], &sh, old);
	}
	return rc ? rc : m->s[0].there ? 0 : PP_ENOENT;
}

/* ---- their bytes ---- */

static bool unpack_zlib(const uint8_t *from, size_t len, uint8_t *to, size_t size)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)from, .next_out = to};
	int rc = inflateInit(&z);

	if (rc != Z_OK)
		return false;
	/* zlib counts in 32 bits. */
	while (rc == Z_OK && (z.avail_in || len) && (z.avail_out || size)) {
		uInt in = len < UINT32_MAX ? (uInt)len : UINT32_MAX;
		uInt out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;

		if (!z.avail_in) {
			z.avail_in = in;
			len -= in;
		}
		if (!z.avail_out) {
			z.avail_out = out;
			size -= out;
		}
		rc = inflate(&z, size ? Z_NO_FLUSH : Z_FINISH);
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END && !size && !z.avail_out;
}

/* Puts the bytes of a section to its place: 0, PP_ENOMEM, or an error of the section. */
static int put_bytes(const struct maker *m, const struct section *s, uint8_t *to)
{
	uint8_t *packed;
	bool good;
	int rc;

	if (s->packing == PLAIN)
		return elf_file_read(m->file, s->offset, to, s->size);
	packed = malloc(s->len ? s->len : 1);
	if (!packed)
		return PP_ENOMEM;
	rc = elf_file_read(m->file, s->offset, packed, s->len);
	if (!rc) {
		good = s->packing == ZLIB ? unpack_zlib(packed, s->len, to, s->size)
					  : ZSTD_decompress(to, s->size, packed, s->len) == s->size;
		rc = good ? 0 : PP_ECORRUPT;
	}
	free(packed);
	return rc;
}

/* ---- the image ---- */

/* A header of the image, in the byte order of the file. 0 or PP_ECORRUPT. */
static int put_header(const struct maker *m, void *to, const void *from, size_t n, Elf_Type type)
{
	Elf_Data dst = {.d_buf = to, .d_size = n, .d_version = EV_CURRENT};
	Elf_Data src = {.d_buf = (void *)(uintptr_t)from,
			.d_size = n,
			.d_type = type,
			.d_version = EV_CURRENT};
	bool big = elf_file_swap(m->file) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	return elf64_xlatetof(&dst, &src, big ? ELFDATA2MSB : ELFDATA2LSB) ? 0 : PP_ECORRUPT;
}

/* Where the section headers, their names and the sections are. */
struct layout {
	uint64_t names, end;
	char text[SECTIONS * 24];
	size_t text_len;
};

/* Each has a NUL after it: libdw looks for the end of a text wherever that is. */
static void lay_out(struct maker *m, struct layout *l)
{
	l->names = sizeof(Elf64_Ehdr) + (m->n + 2) * sizeof(Elf64_Shdr);
	l->text_len = 1;
	for (size_t i = 0; i < SECTIONS; i++)
		if (m->s[i].there)
			l->text_len += strlen(m->s[i].name) + sizeof(".debug_");
	l->text_len += sizeof(".shstrtab");
	l->end = l->names + l->text_len;
	for (size_t i = 0; i < SECTIONS; i++) {
		l->end = (l->end + 15) & ~UINT64_C(15);
		m->s[i].at = l->end;
		if (m->s[i].there)
			l->end += m->s[i].size + 1;
	}
}

static int put_headers(const struct maker *m, const struct layout *l, uint8_t *image)
{
	uint8_t *sh = image + sizeof(Elf64_Ehdr);
	char *text = (char *)image + l->names, *t = text + 1;
	Elf64_Ehdr eh = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    elf_file_swap(m->file) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
				    ? ELFDATA2MSB
				    : ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = (Elf64_Half)elf_file_type(m->file),
		.e_machine = (Elf64_Half)elf_file_machine(m->file),
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)(m->n + 2),
		.e_shstrndx = (Elf64_Half)(m->n + 1),
	};
	int rc = put_header(m, image, &eh, sizeof(eh), ELF_T_EHDR);

	sh += sizeof(Elf64_Shdr);
	for (size_t i = 0; i <= SECTIONS && !rc; i++) {
		const struct section *s = i < SECTIONS ? &m->s[i] : NULL;
		Elf64_Shdr h = {.sh_name = (Elf64_Word)(t - text), .sh_addralign = 1};

		if (s && !s->there)
			continue;
		h.sh_type = s ? SHT_PROGBITS : SHT_STRTAB;
		h.sh_offset = s ? s->at : l->names;
		h.sh_size = s ? s->size : l->text_len;
		t = stpcpy(stpcpy(t, s ? ".debug_" : ".shstrtab"), s ? s->name : "") + 1;
		rc = put_header(m, sh, &h, sizeof(h), ELF_T_SHDR);
		sh += sizeof(h);
	}
	return rc;
}

int dwarf_image(const struct elf_file *f, bool lines, struct buf *image)
{
	struct maker m = {.file = f};
	struct layout l;
	int rc;

	memcpy(m.s, wanted, sizeof(wanted));
	rc = find_sections(&m, lines);
	if (rc)
		return rc;
	lay_out(&m, &l);
	if (l.end > SIZE_MAX / 2 || buf_reserve(image, l.end))
		return PP_ENOMEM;
	for (size_t i = 0; i < SECTIONS; i++) {
		struct section *s = &m.s[i];

		if (!s->there)
			continue;
		rc = put_bytes(&m, s, image->data + s->at);
		image->data[s->at + s->size] = 0;
		if (rc == PP_ENOMEM)
			return rc;
		/* Its place in the image stays empty. */
		if (rc && !i)
			return PP_ECORRUPT;
		if (rc) {
			s->there = false;
			m.n--;
		}
	}
	memset(image->data, 0, l.names + l.text_len);
	image->len = l.end;
	return put_headers(&m, &l, image->data);
}

int dwarf_section(const struct elf_file *f, const char *name, uint64_t max, struct buf *bytes)
{
	uint64_t size = elf_file_size(f);
	struct maker m = {.file = f};
	struct section s = {.name = name};
	int rc = 0;

	for (Elf_Scn *scn = NULL; !rc && !s.there && (scn = elf_nextscn(elf_file_elf(f), scn));) {
		GElf_Shdr sh;
		bool old;

		if (gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_offset <= size &&
		    sh.sh_size <= size - sh.sh_offset &&
		    is_debug(elf_file_section_name(f, &sh), name, &old))
			rc = take(&m, &s, &sh, old);
	}
	if (rc || !s.there)
		return rc ? rc : PP_ENOENT;
	if (s.size > max)
		return PP_ELIMIT;
	if (buf_reserve(bytes, s.size))
		return PP_ENOMEM;
	rc = put_bytes(&m, &s, bytes->data + bytes->len);
	bytes->len += rc ? 0 : s.size;
	return rc;
}

int dwarf_check_packed(const struct elf_file *f)
{
	uint64_t sum = 0, packed = 0;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf_file_elf(f), scn)) != NULL) {
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(scn, &ch))
			return PP_ECORRUPT;
		if (ch.ch_size > DWARF_IMAGE_MAX - sum)
			return PP_ELIMIT;
		sum += ch.ch_size;
		packed += sh.sh_size < DWARF_IMAGE_MAX ? sh.sh_size : DWARF_IMAGE_MAX;
		if (sum > unpack_limit(packed))
			return PP_ELIMIT;
	}
	return 0;
}
