/* The bytes of a file that a program cannot change, or of code that it generates. */
#include "unwind/cfi_parts.h"

#include "base/err.h"

/* The segment that an address is in; NULL: it is in none that is not writable. */
static const struct elf_segment *segment_of(const struct cfi *c, uint64_t vaddr)
{
	for (unsigned i = 0; i < c->nsegments; i++)
		if (vaddr >= c->segments[i].vaddr &&
		    vaddr - c->segments[i].vaddr < c->segments[i].filesz)
			return &c->segments[i];
	return NULL;
}

void cfi_extent(const struct cfi *c, uint64_t vaddr, uint64_t *before, uint64_t *after)
{
	const struct elf_segment *g = segment_of(c, vaddr);
	uint64_t start, end;

	if (c->memory.read && !c->memory.function(c->memory.ctx, vaddr, &start, &end)) {
		*before = vaddr - start;
		*after = end - vaddr;
		return;
	}
	*before = g ? vaddr - g->vaddr : 0;
	*after = g ? g->filesz - *before : 0;
}

int cfi_read(const struct cfi *c, uint64_t vaddr, void *to, size_t n)
{
	const struct elf_segment *g = segment_of(c, vaddr);
	uint64_t in = g ? vaddr - g->vaddr : 0;

	if (c->memory.read)
		return c->memory.read(c->memory.ctx, vaddr, to, n);
	if (!g || n > g->filesz - in)
		return PP_ENOENT;
	return elf_file_read(c->image, g->offset + in, to, n);
}

/* ---- bytes of a section ---- */

const uint8_t *cfi_read_bytes(struct cfi_section *s, uint64_t at, uint64_t n)
{
	if (at > s->size || n > s->size - at)
		return NULL;
	for (uint64_t b = at / CFI_BLOCK; s->file && b * CFI_BLOCK < at + n; b++) {
		uint64_t len = s->size - b * CFI_BLOCK;

		if (s->have[b / 64] >> b % 64 & 1)
			continue;
		if (elf_file_read(s->file, s->offset + b * CFI_BLOCK, s->bytes + b * CFI_BLOCK,
				  len < CFI_BLOCK ? len : CFI_BLOCK))
			return NULL;
		s->have[b / 64] |= UINT64_C(1) << b % 64;
	}
	return s->bytes + at;
}
