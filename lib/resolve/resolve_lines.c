/* Source lines, and frames of inlined functions: psym --inline and --srcline. */
#include "resolve/resolve_parts.h"

#include "base/hidden.h"

#include <inttypes.h>
#include <string.h>

void resolve_lines_release(struct rdso *d)
{
	debuginfo_close(d->lines.info);
	elf_file_close(d->lines.file);
	elf_file_close(d->lines.alt);
	map64_release(&d->lines.names);
	d->lines.info = NULL;
	d->lines.file = d->lines.alt = NULL;
}

int resolve_take_dwarf(struct resolver *r, struct rdso *d, struct dso_file *f)
{
	const char *link;
	int rc = dso_file_alt(f, &r->opts.search, &d->lines.alt, &link);

	if (rc == PP_ENOENT && link)
		diag_warn(
			r->d, d->path, -1,
			"its debug file shares entries with %s, which was not found: some inlined "
			"functions will have no name",
			link);
	d->lines.file = dso_file_take_dwarf(f);
	return rc == PP_ENOMEM ? rc : 0;
}

/* Reports what this machine did not give of the debug information: whether that was so. */
static bool say_failed(struct resolver *r, struct rdso *d, int rc)
{
	int err = elf_file_failed(d->lines.file), of_alt = elf_file_failed(d->lines.alt);

	if (!err)
		err = of_alt ? of_alt : pp_is_machine(rc) ? rc : 0;
	resolve_say_failed(r, d->path, err);
	return err != 0;
}

/* Units whose entries are in files of their own, which were not found. */
static void say_unread(struct resolver *r, struct rdso *d)
{
	const char *first;
	uint32_t of, n = debuginfo_unread(d->lines.info, &first, &of);

	if (!n)
		return;
	diag_warn(
		r->d, d->path, -1,
		"%s is missing, which has its debug information (libdw before 0.191 does not read "
		".dwp): functions inlined into %" PRIu32 " of its %" PRIu32
		" compilation units have no name",
		first, n, of);
	if (r->opts.missing)
		buf_addf(&d->unread, "%s: %" PRIu32 " of %" PRIu32 " compilation units\n", first, n,
			 of);
}

static void open_info(struct resolver *r, struct rdso *d)
{
	int rc;

	d->lines.opened = true;
	if (!d->lines.file)
		return;
	rc = debuginfo_open(&d->lines.info, d->lines.file, d->lines.alt, r->opts.srcline);
	if (!say_failed(r, d, rc) && rc)
		diag_warn(r->d, d->path, -1, "its debug information cannot be used: %s",
			  pp_strerror(rc));
	if (!rc)
		say_unread(r, d);
}

/*
 * The symbol of an inlined function; texts of the debug information are the same where they are
 * equal.
 */
static int inlined_symbol(struct resolver *r, struct machine *m, struct rdso *d, const char *name,
			  uint32_t *id)
{
	uint32_t *slot;

	*id = 0;
	if (!name)
		return 0;
	slot = map64_put(&d->lines.names, (uintptr_t)name, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		int rc = resolve_put_inlined(r, m->source, name, d->out, slot);

		if (rc)
			return rc;
	}
	*id = *slot;
	return 0;
}

static int place(struct resolver *r, struct machine *m, const struct source_frame *from,
		 struct ps_frame *f)
{
	f->line = from->line;
	f->column = from->column;
	return from->line ? resolve_put_srcfile(r, m->source, from->file, &f->srcfile) : 0;
}

int resolve_lines(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		  struct ps_frame *f, uint32_t *first)
{
	struct source_frame frames[DEBUGINFO_FRAMES_MAX];
	uint32_t n, id;
	int rc;

	*first = 0;
	if (d->jit)
		return r->opts.srcline && resolve_jit_line(m, d->jit, vaddr, frames)
			       ? place(r, m, frames, f)
			       : 0;
	if (!d->lines.opened)
		open_info(r, d);
	if (!d->lines.info)
		return 0;
	rc = debuginfo_find(d->lines.info, vaddr, r->opts.inlines, frames, &n);
	if (rc) {
		say_failed(r, d, rc);
		return 0;
	}
	for (uint32_t i = 0; i + 1 < n && !rc; i++) {
		struct ps_frame in = {
			.dso = f->dso, .flags = f->flags | PS_FRAME_INLINED, .addr = f->addr};

		rc = inlined_symbol(r, m, d, frames[i].function, &in.symbol);
		if (!in.symbol)
			in.reason = PS_REASON_NO_SYMBOL;
		if (!rc && r->opts.srcline)
			rc = place(r, m, &frames[i], &in);
		if (!rc)
			rc = resolve_put_frame(r, m->source, &in, &id);
		if (!i)
			*first = id;
	}
	if (!rc && r->opts.srcline)
		rc = place(r, m, &frames[n - 1], f);
	return rc;
}
