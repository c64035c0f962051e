#include "symbol/vdso.h"

#include "base/err.h"
#include "symbol/elf_symtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The mapping's size is known to /proc only. */
static size_t find_size(uintptr_t start)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	size_t size = 0;

	while (f && !size && fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start && to > from)
			size = to - from;
	}
	if (f)
		fclose(f);
	return size <= VDSO_MAX ? size : 0;
}

int vdso_load(struct vdso *v, enum symtab_reason *why)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? find_size(start) : 0;
	struct elf_symtab_opts opts = {0};
	struct elf_file *f = NULL;
	void *copy;
	int rc;

	*v = (struct vdso){0};
	*why = SYMTAB_NOT_FOUND;
	if (!size)
		return PP_ENOENT;
	copy = malloc(size);
	if (!copy) {
		*why = SYMTAB_NO_MEMORY;
		return PP_ENOMEM;
	}
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds the address so. */
	memcpy(copy, (const void *)start, size);
	rc = elf_file_memory(&f, copy, size, why);
	if (!rc)
		rc = elf_symtab_load(f, NULL, &opts, &v->table, why);
	if (!rc) {
		elf_file_build_id(f, &v->id);
		v->segments = *elf_file_segments(f);
	}
	elf_file_close(f);
	free(copy);
	return rc;
}

void vdso_release(struct vdso *v)
{
	symtab_free(v->table);
	*v = (struct vdso){0};
}
