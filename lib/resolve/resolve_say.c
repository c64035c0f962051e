/* What is reported of files that could not be read, whoever finds it out. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

static void say(struct resolver *r, const char *path, int err, const char *costs)
{
	if (!err)
		return;
	diag_warn(r->d, path, -1, "cannot be read: %s; %s", pp_strerror(err), costs);
	r->stats.failed++;
}

void resolve_say_failed(struct resolver *r, const char *path, int err)
{
	say(r, path, err, "names are missing");
}

void resolve_say_file(struct resolver *r, const struct dso_file *f)
{
	struct elf_file *const files[] = {f->binary_elf, f->symbols_elf, f->dwarf_elf};

	resolve_say_failed(r, f->failed_path, f->failed);
	for (int i = 0; i < 3; i++)
		resolve_say_failed(r, f->binary ? f->binary : f->symbols,
				   elf_file_failed(files[i]));
}

void resolve_say_unread(struct resolver *r, struct rdso *d)
{
	say(r, d->path, d->cfi ? cfi_failed(d->cfi) : 0, "stacks are cut off");
	if (d->cfi && cfi_code_limited(d->cfi))
		diag_warn(r->d, d->path, -1,
			  "more code without an unwind table than is examined; stacks through it "
			  "are cut off");
}
