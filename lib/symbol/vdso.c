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

static int copy_own(struct buf *b)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? find_size(start) : 0;

	if (!size)
		return PP_ENOENT;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds the address so. */
	buf_add(b, (const void *)start, size);
	return b->err;
}

/* Reads the ELF file in v->image. */
static int read_image(struct vdso *v, enum symtab_reason *why)
{
	struct elf_symtab_opts opts = {0};
	struct elf_file *f = NULL;
	int rc = elf_file_memory(&f, v->image.data, v->image.len, why);

	if (!rc)
		rc = elf_symtab_load(f, NULL, &opts, &v->table, why);
	if (!rc) {
		elf_file_build_id(f, &v->id);
		v->segments = *elf_file_segments(f);
	}
	elf_file_close(f);
	if (rc)
		vdso_release(v);
	return rc;
}

int vdso_from(struct vdso *v, const struct root *root, const char *path, enum symtab_reason *why)
{
	int rc;

	*v = (struct vdso){0};
	rc = root_read(root, path, VDSO_MAX, &v->image, why);
	if (!rc)
		return read_image(v, why);
	vdso_release(v);
	return rc;
}

int vdso_load(struct vdso *v, enum symtab_reason *why)
{
	int rc;

	*v = (struct vdso){0};
	rc = copy_own(&v->image);
	*why = rc == PP_ENOMEM ? SYMTAB_NO_MEMORY : SYMTAB_NOT_FOUND;
	if (!rc)
		return read_image(v, why);
	vdso_release(v);
	return rc;
}

void vdso_release(struct vdso *v)
{
	symtab_free(v->table);
	buf_release(&v->image);
	*v = (struct vdso){0};
}
