/* A large ELF file, read into memory as a whole. */
#include "dwarf/dwarf_whole.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

Elf *dwarf_whole(struct dwarf_whole *w, const struct elf_file *f)
{
	uint64_t size = elf_file_size(f);
	uint8_t *bytes;

	*w = (struct dwarf_whole){0};
	if (size < DWARF_WHOLE_MIN || size > SIZE_MAX / 2)
		return elf_file_elf(f);
	w->size = (size_t)(size + HUGE_PAGE);
	w->map = mmap(NULL, w->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->map == MAP_FAILED)
		return elf_file_elf(f);
	bytes = (uint8_t *)(((uintptr_t)w->map + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	/* Without large pages, it only takes longer. */
	madvise(bytes, (size_t)size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
	if (!elf_file_read(f, 0, bytes, (size_t)size))
		w->elf = elf_memory((char *)bytes, (size_t)size);
	if (!w->elf)
		munmap(w->map, w->size);
	return w->elf ? w->elf : elf_file_elf(f);
}

void dwarf_whole_release(struct dwarf_whole *w)
{
	if (!w->elf)
		return;
	elf_end(w->elf);
	munmap(w->map, w->size);
	w->elf = NULL;
}
