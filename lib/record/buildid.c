/* The GNU build-id of ELF files: elf(5), and NT_GNU_BUILD_ID of <elf.h>. */
#include "base/cursor.h"
#include "record/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTES_MAX 65536u /* bytes of a PT_NOTE segment that are read */

void buildid_from_notes(const void *notes, size_t size, bool swap, uint8_t id[BUILDID_MAX],
			size_t *len)
{
	struct cursor c = cursor_make(notes, size, swap);

	*len = 0;
	while (cursor_left(&c) >= 12) {
		uint32_t namesz = get_u32(&c), descsz = get_u32(&c), type = get_u32(&c);
		const uint8_t *name = get_bytes(&c, namesz), *desc;

		cursor_align(&c, notes, 4);
		desc = get_bytes(&c, descsz);
		if (c.bad)
			return;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
		    descsz >= 1) {
			*len = descsz < BUILDID_MAX ? descsz : BUILDID_MAX;
			memcpy(id, desc, *len);
			return;
		}
		cursor_align(&c, notes, 4);
	}
}

static void read_segment(int fd, uint64_t offset, uint64_t size, bool swap, uint8_t id[BUILDID_MAX],
			 size_t *len)
{
	size_t want = size < NOTES_MAX ? (size_t)size : NOTES_MAX;
	uint8_t *notes;
	ssize_t n;

	if (!want || offset > INT64_MAX)
		return;
	notes = malloc(want);
	if (!notes)
		return;
	n = pread(fd, notes, want, (off_t)offset);
	if (n > 0)
		buildid_from_notes(notes, (size_t)n, swap, id, len);
	free(notes);
}

static bool take_phdr(struct cursor *c, bool wide, struct phdr *p)
{
	p->type = get_u32(c);
	if (wide)
		p->flags = get_u32(c);
	p->offset = wide ? get_u64(c) : get_u32(c);
	p->vaddr = wide ? get_u64(c) : get_u32(c);
	cursor_skip(c, wide ? 8 : 4);
	p->filesz = wide ? get_u64(c) : get_u32(c);
	p->memsz = wide ? get_u64(c) : get_u32(c);
	if (!wide)
		p->flags = get_u32(c);
	cursor_skip(c, wide ? 8 : 4); /* its alignment */
	return !c->bad;
}

size_t phdrs_read(int fd, struct phdr v[PHDRS_MAX], bool *swap)
{
	uint8_t head[4096], table[PHDRS_MAX * 56];
	const uint16_t one = 1;
	ssize_t n = pread(fd, head, sizeof(head), 0);
	const uint8_t *phdrs = table;
	uint64_t phoff;
	uint16_t entry, count;
	struct cursor c;
	bool wide;

	if (n < EI_NIDENT || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	wide = head[EI_CLASS] == ELFCLASS64;
	*swap = (head[EI_DATA] == ELFDATA2LSB) != (*(const uint8_t *)&one == 1);
	c = cursor_make(head, (size_t)n, *swap);
	cursor_skip(&c, wide ? 32 : 28);
	phoff = wide ? get_u64(&c) : get_u32(&c);
	cursor_skip(&c, wide ? 14 : 10);
	entry = get_u16(&c);
	count = get_u16(&c);
	if (c.bad || entry != (wide ? 56 : 32) || count > PHDRS_MAX || phoff > INT64_MAX)
		return 0;
	/* The table lies just after the header in nearly every file. */
	if (phoff <= (uint64_t)n && (uint64_t)n - phoff >= (uint64_t)entry * count)
		phdrs = head + phoff;
	else if (pread(fd, table, (size_t)entry * count, (off_t)phoff) != entry * count)
		return 0;
	c = cursor_make(phdrs, (size_t)entry * count, *swap);
	for (uint16_t i = 0; i < count; i++)
		if (!take_phdr(&c, wide, &v[i]))
			return i;
	return count;
}

void buildid_from_elf(int fd, uint8_t id[BUILDID_MAX], size_t *len)
{
	struct phdr v[PHDRS_MAX];
	bool swap;
	size_t n = phdrs_read(fd, v, &swap);

	*len = 0;
	for (size_t i = 0; i < n && !*len; i++)
		if (v[i].type == PT_NOTE)
			read_segment(fd, v[i].offset, v[i].filesz, swap, id, len);
}
