/* Where the call frame information of a DSO comes from. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <string.h>
#include <sys/resource.h>

/*
 * The file of each module stays open, as of its tables only what is needed is read: more files
 * than a process may have open unless it asks.
 */
static void allow_files(struct resolver *r)
{
	struct rlimit files;

	if (!r->files_allowed && !getrlimit(RLIMIT_NOFILE, &files) &&
	    files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	r->files_allowed = true;
}

int resolve_take_cfi(struct resolver *r, struct rdso *d, const struct dso_file *f)
{
	struct elf_file *files[] = {f->binary_elf, f->symbols_elf, f->dwarf_elf};
	int rc = 0;

	allow_files(r);
	d->cfi_sought = true;
	for (int i = 0; i < 3 && !rc; i++) {
		if (!files[i] || (i && files[i] == files[0]) || (i == 2 && files[2] == files[1]))
			continue;
		if (!d->cfi)
			rc = cfi_new(&d->cfi, &r->rows);
		if (!rc)
			rc = cfi_add(d->cfi, files[i], !i);
	}
	return rc;
}

/* The vdso is an ELF file in memory. */
static int take_vdso(struct resolver *r, struct machine *m, struct rdso *d)
{
	uint32_t reason;
	const struct vdso *v = kernel_vdso(&m->host.kernel, &d->id, &reason);
	struct dso_file f = {0};
	enum symtab_reason why;
	int rc;

	if (!v)
		return 0;
	rc = elf_file_memory(&f.binary_elf, v->image.data, v->image.len, &why);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	rc = resolve_take_cfi(r, d, &f);
	elf_file_close(f.binary_elf);
	return rc;
}

int resolve_find_cfi(struct resolver *r, struct machine *m, struct rdso *d)
{
	struct dso_search search;
	struct dso_file f;
	int rc;

	if (d->cfi_sought)
		return 0;
	d->cfi_sought = true;
	if (!strcmp(d->path, "[vdso]"))
		return take_vdso(r, m, d);
	if (d->jit || d->memfd || d->flags & PS_DSO_NO_FILE)
		return 0;
	/* Its symbols were needed before there was a stack to unwind. */
	resolve_search(r, m, d, &search);
	rc = dso_file_find(d->path, &d->id, &search, &f);
	if (rc != PP_ENOMEM)
		rc = resolve_take_cfi(r, d, &f);
	resolve_say_file(r, &f);
	dso_file_release(&f);
	return rc;
}
