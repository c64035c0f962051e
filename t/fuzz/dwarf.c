/* Source lines and inlined functions, with libdw beneath them. */
#include "dwarf/debuginfo.h"
#include "symbol/elf_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct source_frame *f, uint32_t n)
{
	size_t sum = 0;

	if (!n || n > DEBUGINFO_FRAMES_MAX)
		abort();
	for (uint32_t i = 0; i < n; i++) {
		sum += f[i].function ? strlen(f[i].function) : 0;
		sum += f[i].file ? strlen(f[i].file) : 0;
	}
	if (sum == SIZE_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source_frame frames[DEBUGINFO_FRAMES_MAX];
	const struct elf_segments *s;
	struct debuginfo *d;
	enum symtab_reason why;
	struct elf_file *f;
	uint32_t n;

	if (elf_file_memory(&f, data, size, &why))
		return 0;
	if (!debuginfo_open(&d, f, NULL, true)) {
		s = elf_file_segments(f);
		for (uint32_t i = 0; i < s->n; i++)
			for (uint64_t at = 0; at < 64; at++)
				if (!debuginfo_find(d, s->seg[i].vaddr + at * 8, at & 1, frames,
						    &n))
					check(frames, n);
		debuginfo_close(d);
	}
	elf_file_close(f);
	return 0;
}
