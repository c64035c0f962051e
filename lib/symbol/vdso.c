/* The vdso of this process, or of a file, as a table of symbols. */
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
	return rc;
}

/* What was made, if rc is 0; NULL otherwise. */
static int finish(struct vdso **out, struct vdso *v, int rc)
{
	if (rc) {
		vdso_free(v);
		v = NULL;
	}
	*out = v;
	return rc;
}

static struct vdso *vdso_new(enum symtab_reason *why)
{
	*why = SYMTAB_NO_MEMORY;
	return calloc(1, sizeof(struct vdso));
}

int vdso_from(struct vdso **out, const struct root *root, const char *path, enum symtab_reason *why)
{
	struct vdso *v = vdso_new(why);
	int rc = v ? root_read(root, path, VDSO_MAX, &v->image, why) : PP_ENOMEM;

	return finish(out, v, rc ? rc : read_image(v, why));
}

int vdso_load(struct vdso **out, enum symtab_reason *why)
{
	struct vdso *v = vdso_new(why);
	int rc = v ? copy_own(&v->image) : PP_ENOMEM;

	if (rc != PP_ENOMEM)
		*why = SYMTAB_NOT_FOUND;
	return finish(out, v, rc ? rc : read_image(v, why));
}

void vdso_free(struct vdso *v)
{
	if (!v)
		return;
	symtab_free(v->table);
	buf_release(&v->image);
	free(v);
}
