/* The bytes of a section, read from its file where they are needed. */
#include "unwind/cfi_parts.h"

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
