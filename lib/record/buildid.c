/* The GNU build-id of ELF files: elf(5), and NT_GNU_BUILD_ID of <elf.h>. */
#include "base/cursor.h"
#include "record/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#define PHDRS_MAX 256	 /* program headers that are looked at */
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

/* A program header: *offset and *size of a PT_NOTE segment, or false. */
static bool note_segment(struct cursor *c, bool wide, uint64_t *offset, uint64_t *size)
{
	uint32_t type = get_u32(c);

	if (wide) {
		cursor_skip(c, 4);
		*offset = get_u64(c);
		cursor_skip(c, 16);
		*size = get_u64(c);
	} else {
		*offset = get_u32(c);
		cursor_skip(c, 8);
		*size = get_u32(c);
	}
	return !c->bad && type == PT_NOTE;
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

void buildid_from_elf(int fd, uint8_t id[BUILDID_MAX], size_t *len)
{
	uint8_t head[4096], table[PHDRS_MAX * 56];
	const uint16_t one = 1;
	ssize_t n = pread(fd, head, sizeof(head), 0);
	const uint8_t *phdrs = table;
	uint64_t phoff;
	uint16_t entry, count;
	bool wide, swap;
	struct cursor c;

	*len = 0;
	if (n < EI_NIDENT || memcmp(head, ELFMAG, SELFMAG) != 0)
		return;
	wide = head[EI_CLASS] == ELFCLASS64;
	swap = (head[EI_DATA] == ELFDATA2LSB) != (*(const uint8_t *)&one == 1);
	c = cursor_make(head, (size_t)n, swap);
	cursor_skip(&c, wide ? 32 : 28);
	phoff = wide ? get_u64(&c) : get_u32(&c);
	cursor_skip(&c, wide ? 14 : 10);
	entry = get_u16(&c);
	count = get_u16(&c);
	if (c.bad || entry != (wide ? 56 : 32) || count > PHDRS_MAX || phoff > INT64_MAX)
		return;
	/* The table lies just after the header in nearly every file. */
	if (phoff <= (uint64_t)n && (uint64_t)n - phoff >= (uint64_t)entry * count)
		phdrs = head + phoff;
	else if (pread(fd, table, (size_t)entry * count, (off_t)phoff) != entry * count)
		return;
	for (uint16_t i = 0; i < count && !*len; i++) {
		uint64_t offset, size;

		c = cursor_make(phdrs + (size_t)i * entry, entry, swap);
		if (note_segment(&c, wide, &offset, &size))
			read_segment(fd, offset, size, swap, id, len);
	}
}
