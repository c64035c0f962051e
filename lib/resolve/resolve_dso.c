/* DSOs: which there are, and where their symbols come from. */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/kmodule.h"
#include "symbol/symtab_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void rdso_free(struct rdso *d)
{
	symtab_free(d->owned);
	for (int ret = 0; ret < 2; ret++)
		frame_map_release(&d->frames[ret]);
	resolve_lines_release(d);
	cfi_free(d->cfi);
	map64_release(&d->ends);
	map64_release(&d->leaves);
	map64_release(&d->guessed);
	free(d->symbol_ids);
	buf_release(&d->tried);
	buf_release(&d->unread);
	free(d->found);
	free(d->path);
	free(d);
}

int resolve_dso(struct resolver *r, struct machine *m, const struct ps_dso *rec)
{
	uint32_t *slot = map64_put(&r->dsos.by_id, rec->id, NULL), index;
	int rc;

	if (!slot)
		return PP_ENOMEM;
	rc = resolve_add_dso(r, m->source, rec->path, rec->build_id, rec->flags, &index);
	if (rc)
		return rc;
	*slot = index;
	/* A module is not the kernel, though another psym calls it part of it. */
	if ((rec->flags & (PS_DSO_KERNEL | PS_DSO_MODULE | PS_DSO_GUEST)) == PS_DSO_KERNEL) {
		m->host.dso = index;
		m->host.kernel.origin.kernel = r->dsos.v[index - 1]->id;
	}
	if ((rec->flags & (PS_DSO_KERNEL | PS_DSO_MODULE | PS_DSO_GUEST)) ==
	    (PS_DSO_KERNEL | PS_DSO_GUEST))
		m->guest.dso = index;
	if ((rec->flags & (PS_DSO_MODULE | PS_DSO_GUEST)) == PS_DSO_MODULE)
		origin_module_path(&m->host.kernel.origin, r->dsos.v[index - 1]->path);
	return 0;
}

/* Why there are no symbols, from the file's point of view to the stream's. */
static uint32_t reason_of(enum symtab_reason why)
{
	switch (why) {
	case SYMTAB_OK: return PS_REASON_NONE;
	case SYMTAB_NOT_FOUND: return PS_REASON_NO_FILE;
	case SYMTAB_DENIED:
	case SYMTAB_IO: return PS_REASON_NO_ACCESS;
	case SYMTAB_UNPROVEN: return PS_REASON_UNPROVEN;
	case SYMTAB_REPLACED: return PS_REASON_REPLACED;
	case SYMTAB_BUILD_ID:
	case SYMTAB_CRC: return PS_REASON_BUILD_ID;
	case SYMTAB_STRIPPED: return PS_REASON_STRIPPED;
	case SYMTAB_NOT_ELF:
	case SYMTAB_UNSUPPORTED: return PS_REASON_NOT_ELF;
	default: return PS_REASON_CORRUPT;
	}
}

/* The page that x86 had before the vdso: three entries, each 1024 bytes from the one before. */
static int load_vsyscall(struct rdso *d)
{
	static const char *const names[] = {"gettimeofday", "time", "getcpu"};
	struct symtab_builder b = {0};
	int rc = 0;

	for (uint64_t i = 0; i < sizeof(names) / sizeof(*names) && !rc; i++) {
		struct symtab_raw raw = {.start = i * 1024, .end = i * 1024 + 1024};

		rc = symtab_builder_text(&b, names[i], strlen(names[i]), &raw.name);
		if (!rc)
			rc = symtab_builder_add(&b, &raw);
	}
	if (!rc)
		rc = symtab_builder_finish(&b, &d->owned);
	symtab_builder_release(&b);
	d->table = d->owned;
	return rc;
}

static int load_vdso(struct machine *m, struct rdso *d)
{
	const struct vdso *v = kernel_vdso(&m->host.kernel, &d->id, &d->reason);

	if (v) {
		d->table = v->table;
		d->segments = v->segments;
	}
	return 0;
}

/* Remembers for --missing where was looked. */
static void keep_tried(struct resolver *r, struct rdso *d, const struct dso_file *f)
{
	if (r->opts.missing && (!d->table || d->dynamic))
		for (size_t i = 0; i < f->n_tried; i++)
			buf_addf(&d->tried, "%s: %s\n", f->tried[i].path,
				 symtab_reason_text(f->tried[i].why));
}

/*
 * Once for a recording: that the files of this machine are not used where no build-id proves
 * them.
 */
static void say_unproven(struct resolver *r, struct machine *m)
{
	struct origin *o = &m->host.kernel.origin;

	if (origin_files(o) == ORIGIN_UNKNOWN)
		kernel_say_unknown(&m->host.kernel);
	else if (!m->said)
		diag_warn(r->d, NULL, -1,
			  "recorded on host %s, this is %s: files without a recorded build-id stay "
			  "without names; give --symfs, or --trust-host if it is the same",
			  o->hostname, o->here.host);
	m->said = true;
}

/*
 * The root directory of a live process that has a file system of its own, such as a container's: ""
 * when there is none.
 */
static void live_root(const struct resolver *r, struct machine *m, char path[32])
{
	char own[64], theirs[64], ns[64];
	ssize_t n, k;

	snprintf(path, 32, "/proc/%" PRIu32 "/root", r->pid);
	snprintf(ns, sizeof(ns), "/proc/%" PRIu32 "/ns/mnt", r->pid);
	n = readlink("/proc/self/ns/mnt", own, sizeof(own));
	k = readlink(ns, theirs, sizeof(theirs));
	if (origin_files(&m->host.kernel.origin) != ORIGIN_HERE || !r->pid || n <= 0 || k <= 0 ||
	    (n == k && !memcmp(own, theirs, (size_t)n)))
		path[0] = 0;
}

static int load_file(struct resolver *r, struct machine *m, struct rdso *d)
{
	struct dso_search search;
	enum symtab_reason why = SYMTAB_OK;
	struct dso_file f;
	int rc;

	live_root(r, m, d->live_root);
	resolve_search(r, m, d, &search);
	search.dwarf = r->opts.inlines || r->opts.srcline;
	rc = dso_file_find(d->path, &d->id, &search, &f);
	if (rc != PP_ENOMEM) {
		d->segments = f.segments;
		if (rc) {
			why = f.why;
			rc = 0;
		} else {
			rc = dso_file_symtab(&f, NULL, &d->owned, &why);
			rc = rc == PP_ENOMEM ? rc : 0;
			/* It had a table, which was no good. */
			for (size_t i = 0; i < f.n_tried && why; i++)
				if (f.tried[i].path == f.symbols)
					f.tried[i].why = why;
		}
		d->table = d->owned;
		d->reason = reason_of(why);
		d->dynamic = d->table && f.dynamic;
	}
	keep_tried(r, d, &f);
	if (why == SYMTAB_UNPROVEN)
		say_unproven(r, m);
	if (why == SYMTAB_REPLACED)
		diag_warn(
			r->d, d->path, -1,
			"was replaced since the recording and provides no names; --symfs with the "
			"file as it was, or --force if it is the same");
	if (!rc && r->unwinding)
		rc = resolve_take_cfi(r, d, &f);
	resolve_say_file(r, &f);
	if (!rc && search.dwarf)
		rc = resolve_take_dwarf(r, d, &f);
	dso_file_release(&f);
	return rc;
}

/* A program in memory, while a process has it. */
static int load_memory(struct resolver *r, struct machine *m, struct rdso *d)
{
	int rc = 0;

	if (!r->opts.like_perf && d->mapped[0] && !access(d->mapped, R_OK))
		rc = load_file(r, m, d);
	if (!d->table)
		d->reason = PS_REASON_JIT;
	return rc;
}

int resolve_load(struct resolver *r, struct machine *m, struct rdso *d)
{
	int rc = 0;

	if (d->loaded)
		return 0;
	d->loaded = true;
	if (!strcmp(d->path, "[vdso]"))
		rc = load_vdso(m, d);
	else if (!strcmp(d->path, "[vsyscall]"))
		rc = load_vsyscall(d);
	else if (d->jit)
		d->reason = PS_REASON_JIT;
	else if (d->memfd)
		rc = load_memory(r, m, d);
	else if (d->flags & PS_DSO_NO_FILE)
		d->reason = PS_REASON_ANON;
	else
		rc = load_file(r, m, d);
	if (!rc && d->table) {
		d->symbol_ids = calloc((size_t)symtab_count(d->table) + 1, sizeof(uint32_t));
		if (!d->symbol_ids)
			rc = PP_ENOMEM;
	}
	return rc;
}

int resolve_vaddr(const struct machine *m, const struct rdso *d, uint64_t off, uint64_t *vaddr)
{
	if (!elf_segments_vaddr(&d->segments, off, vaddr) ||
	    !elf_segments_mapped(&d->segments, d->text, d->n_text, m->page, off, vaddr))
		return 0;
	*vaddr = off;
	/* A file without segments, as some JIT compilers' are, has its code where it is mapped. */
	return d->segments.n ? PP_ENOENT : 0;
}

/* The file of a module that is known by its name only, "[ext4]". */
static int find_module(struct resolver *r, struct machine *m, struct rdso *d, char *name,
		       size_t size, char path[ROOT_PATH_MAX])
{
	const struct dso_search *o = &r->opts.search;
	size_t len = strlen(d->path);
	int rc = PP_ENOENT;

	if (len < 3 || len > size || d->path[0] != '[')
		return PP_ENOENT;
	memcpy(name, d->path + 1, len - 2);
	name[len - 2] = 0;
	for (size_t i = 0; i < o->n_symfs && rc; i++)
		rc = kmodule_path(o->symfs[i], origin_osrelease(&m->host.kernel.origin), name,
				  path);
	if (rc)
		rc = kmodule_path(NULL, origin_osrelease(&m->host.kernel.origin), name, path);
	if (rc && r->opts.missing)
		buf_addf(&d->tried, "/lib/modules/%s/modules.dep: does not list module %s\n",
			 origin_osrelease(&m->host.kernel.origin), name);
	return rc;
}

/*
 * Whether a module's file of this machine may be the recorded one: the path tells its release, so
 * that only the files of a running kernel that is another build of that release cannot be.
 */
static bool module_is_here(struct machine *m, const char *path)
{
	struct origin *o = &m->host.kernel.origin;
	const char *release = strstr(path, "/lib/modules/");
	size_t n;

	if (!release || origin_kernel(o) != ORIGIN_ELSEWHERE)
		return release || origin_files(o) == ORIGIN_HERE;
	release += 13;
	n = strcspn(release, "/");
	return strlen(o->here.release) != n || strncmp(release, o->here.release, n) != 0;
}

int resolve_load_module(struct resolver *r, struct machine *m, struct rdso *d)
{
	struct elf_symtab_opts opts = {.no_plt = true, .module_base = d->base};
	struct dso_search search = r->opts.search;
	char path[ROOT_PATH_MAX], name[128];
	enum symtab_reason why = SYMTAB_NOT_FOUND;
	struct dso_file f;
	int rc;

	if (d->loaded)
		return 0;
	d->loaded = true;
	d->reason = PS_REASON_NO_MODULE;
	if (!d->base)
		return 0;
	if (d->path[0] == '/')
		snprintf(path, sizeof(path), "%s", d->path);
	else if (find_module(r, m, d, name, sizeof(name), path))
		return 0;
	search.here = module_is_here(m, path);
	rc = dso_file_find(path, &d->id, &search, &f);
	if (!rc)
		rc = dso_file_symtab(&f, &opts, &d->owned, &why);
	else
		why = f.why;
	if (!rc) {
		d->table = d->owned;
		d->found = strdup(path);
	} else if (why == SYMTAB_BUILD_ID) {
		d->reason = PS_REASON_BUILD_ID;
	}
	keep_tried(r, d, &f);
	resolve_say_file(r, &f);
	dso_file_release(&f);
	if (rc && rc != PP_ENOMEM)
		return 0;
	if (!rc) {
		d->symbol_ids = calloc((size_t)symtab_count(d->table) + 1, sizeof(uint32_t));
		rc = d->symbol_ids ? 0 : PP_ENOMEM;
	}
	return rc;
}
