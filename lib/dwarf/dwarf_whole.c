/* An ELF file, read into memory as a whole. */
#include "dwarf/dwarf_whole.h"

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* Memory for `size` bytes; NULL: there is none. */
static uint8_t *take_memory(struct dwarf_whole *w, size_t size)
{
	uint8_t *bytes;

	if (size < DWARF_WHOLE_SMALL)
		return w->bytes = malloc(size ? size : 1);
	w->bytes = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->bytes == MAP_FAILED)
		return w->bytes = NULL;
	w->mapped = size + HUGE_PAGE;
	bytes = w->bytes;
	bytes += (HUGE_PAGE - (uintptr_t)bytes % HUGE_PAGE) % HUGE_PAGE;
	/* Without large pages, it only takes longer. */
	madvise(bytes, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	return bytes;
}

int dwarf_whole(struct dwarf_whole *w, const struct elf_file *f)
{
	uint64_t size = elf_file_size(f);
	uint8_t *bytes;
	int rc;

	*w = (struct dwarf_whole){0};
	bytes = size < SIZE_MAX / 2 ? take_memory(w, (size_t)size) : NULL;
	if (!bytes)
		return PP_ENOMEM;
	rc = elf_file_read(f, 0, bytes, (size_t)size);
	if (!rc) {
		w->elf = elf_memory((char *)bytes, (size_t)size);
		rc = w->elf ? 0 : PP_ENOMEM;
	}
	if (rc)
		dwarf_whole_release(w);
	return rc;
}

void dwarf_whole_release(struct dwarf_whole *w)
{
	elf_end(w->elf);
	if (w->mapped)
		munmap(w->bytes, w->mapped);
	else
		free(w->bytes);
	*w = (struct dwarf_whole){0};
}
