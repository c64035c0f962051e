/*
 * Makes small ELF files for the unit tests, of either class and byte order.
 *
 *	struct elf_make m = {.is64 = true, .machine = EM_X86_64, .type = ET_DYN};
 *	elf_make_segment(&m, PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x800);
 *	text = elf_make_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, code, sizeof(code));
 *	elf_make_finish(&m, &file);		(a struct buf)
 *
 * Sections are numbered from 1 in the order of the calls. The bytes are laid out by hand from the
 * gABI's tables, not by libelf, which is under test.
 */
#ifndef PP_UNIT_ELF_MAKE_H
#define PP_UNIT_ELF_MAKE_H

#include "base/buf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>

#define ELF_MAKE_MAX 16

struct elf_make_section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, addr, entsize, align;
	const void *bytes;
	size_t len;
};

struct elf_make_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, size;
};

struct elf_make {
	bool is64, big;
	uint16_t machine, type;
	struct elf_make_section sections[ELF_MAKE_MAX];
	struct elf_make_segment segments[ELF_MAKE_MAX];
	int n_sections, n_segments;
};

/* n bytes of v in the file's byte order. */
__attribute__((unused)) static void elf_make_put(const struct elf_make *m, struct buf *b,
						 uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		buf_addc(b, (char)(v >> 8 * (m->big ? n - 1 - i : i)));
}

/* An address or size: 4 or 8 bytes. */
__attribute__((unused)) static void elf_make_word(const struct elf_make *m, struct buf *b,
						  uint64_t v)
{
	elf_make_put(m, b, v, m->is64 ? 8 : 4);
}

__attribute__((unused)) static int elf_make_section(struct elf_make *m, const char *name,
						    uint32_t type, uint64_t flags, uint64_t addr,
						    const void *bytes, size_t len)
{
	if (m->n_sections + 2 >= ELF_MAKE_MAX)
		abort();
	m->sections[m->n_sections++] = (struct elf_make_section){.name = name,
								 .type = type,
								 .flags = flags,
								 .addr = addr,
								 .bytes = bytes,
								 .len = len};
	return m->n_sections;
}

__attribute__((unused)) static void elf_make_segment(struct elf_make *m, uint32_t type,
						     uint32_t flags, uint64_t offset,
						     uint64_t vaddr, uint64_t size)
{
	m->segments[m->n_segments++] = (struct elf_make_segment){type, flags, offset, vaddr, size};
}

/* One entry of a symbol table. */
__attribute__((unused)) static void elf_make_symbol(const struct elf_make *m, struct buf *b,
						    uint32_t name, uint64_t value, uint64_t size,
						    int bind, int type, int see, int section)
{
	elf_make_put(m, b, name, 4);
	if (!m->is64) {
		elf_make_put(m, b, value, 4);
		elf_make_put(m, b, size, 4);
	}
	elf_make_put(m, b, (uint64_t)(bind << 4 | type), 1);
	elf_make_put(m, b, (uint64_t)see, 1);
	elf_make_put(m, b, (uint64_t)section, 2);
	if (m->is64) {
		elf_make_put(m, b, value, 8);
		elf_make_put(m, b, size, 8);
	}
}

static void elf_make_header(const struct elf_make *m, struct buf *b, uint64_t shoff)
{
	const int ehsize = m->is64 ? 64 : 52;

	buf_add(b, ELFMAG, SELFMAG);
	elf_make_put(m, b, m->is64 ? ELFCLASS64 : ELFCLASS32, 1);
	elf_make_put(m, b, m->big ? ELFDATA2MSB : ELFDATA2LSB, 1);
	elf_make_put(m, b, EV_CURRENT, 1);
	buf_fill(b, 0, 9);
	elf_make_put(m, b, m->type, 2);
	elf_make_put(m, b, m->machine, 2);
	elf_make_put(m, b, EV_CURRENT, 4);
	elf_make_word(m, b, 0);
	elf_make_word(m, b, m->n_segments ? (uint64_t)ehsize : 0);
	elf_make_word(m, b, shoff);
	elf_make_put(m, b, 0, 4);
	elf_make_put(m, b, (uint64_t)ehsize, 2);
	elf_make_put(m, b, m->is64 ? 56 : 32, 2);
	elf_make_put(m, b, (uint64_t)m->n_segments, 2);
	elf_make_put(m, b, m->is64 ? 64 : 40, 2);
	elf_make_put(m, b, (uint64_t)m->n_sections + 2, 2);
	elf_make_put(m, b, (uint64_t)m->n_sections + 1, 2);
}

static void elf_make_phdr(const struct elf_make *m, struct buf *b, const struct elf_make_segment *s)
{
	elf_make_put(m, b, s->type, 4);
	if (m->is64)
		elf_make_put(m, b, s->flags, 4);
	elf_make_word(m, b, s->offset);
	elf_make_word(m, b, s->vaddr);
	elf_make_word(m, b, s->vaddr);
	elf_make_word(m, b, s->size);
	elf_make_word(m, b, s->size);
	if (!m->is64)
		elf_make_put(m, b, s->flags, 4);
	elf_make_word(m, b, s->type == PT_NOTE ? 4 : 4096);
}

static void elf_make_shdr(const struct elf_make *m, struct buf *b, const struct elf_make_section *s,
			  uint32_t name, uint64_t offset)
{
	elf_make_put(m, b, name, 4);
	elf_make_put(m, b, s->type, 4);
	elf_make_word(m, b, s->flags);
	elf_make_word(m, b, s->addr);
	elf_make_word(m, b, offset);
	elf_make_word(m, b, s->len);
	elf_make_put(m, b, s->link, 4);
	elf_make_put(m, b, 0, 4);
	elf_make_word(m, b, s->align ? s->align : 8);
	elf_make_word(m, b, s->entsize);
}

/* Header, program headers, section bytes (at multiples of 8), section headers. */
__attribute__((unused)) static void elf_make_finish(const struct elf_make *m, struct buf *out)
{
	struct buf body = BUF_INIT, names = BUF_INIT;
	uint64_t start =
		(m->is64 ? 64 + 56 * (uint64_t)m->n_segments : 52 + 32 * (uint64_t)m->n_segments);
	uint64_t offsets[ELF_MAKE_MAX];
	uint32_t name_at[ELF_MAKE_MAX];
	struct elf_make_section none = {.type = SHT_NULL}, strings = {.type = SHT_STRTAB};

	buf_fill(&body, 0, (size_t)(-start % 8));
	buf_addc(&names, 0);
	for (int i = 0; i < m->n_sections; i++) {
		const struct elf_make_section *s = &m->sections[i];

		offsets[i] = start + body.len;
		name_at[i] = (uint32_t)names.len;
		buf_add(&names, s->name, strlen(s->name) + 1);
		if (s->type != SHT_NOBITS)
			buf_add(&body, s->bytes, s->len);
		buf_fill(&body, 0, (size_t)(-(start + body.len) % 8));
	}
	strings.len = names.len;
	elf_make_header(m, out, start + body.len + (names.len + 7) / 8 * 8);
	for (int i = 0; i < m->n_segments; i++)
		elf_make_phdr(m, out, &m->segments[i]);
	buf_add(out, body.data, body.len);
	buf_add(out, names.data, names.len);
	buf_fill(out, 0, (size_t)(-(start + body.len + names.len) % 8));
	elf_make_shdr(m, out, &none, 0, 0);
	for (int i = 0; i < m->n_sections; i++)
		elf_make_shdr(m, out, &m->sections[i], name_at[i], offsets[i]);
	elf_make_shdr(m, out, &strings, 0, start + body.len);
	buf_release(&body);
	buf_release(&names);
}

#endif
