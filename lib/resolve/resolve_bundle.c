/* What psym --bundle packs: the files that this recording's symbols come from. */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "resolve/bundle.h"
#include "symbol/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ".build-id/xx/yyyy/NAME", or a path of its own for what has no build-id. */
static const char *name_of(const struct build_id *id, const char *name, const char *path,
			   char buf[DSO_MAX_PATH])
{
	if (!dso_id_path(id, name, buf, DSO_MAX_PATH))
		return buf;
	if (snprintf(buf, DSO_MAX_PATH, "%s", path + (path[0] == '/')) >= DSO_MAX_PATH)
		return NULL;
	return buf;
}

/* Beside the binary in .debug, where its debug link is followed to. */
static const char *link_name(const struct dso_file *f, const char *path, char buf[DSO_MAX_PATH])
{
	const char *base = strrchr(path, '/');
	char link[ELF_DEBUGLINK_MAX];
	uint32_t crc;

	if (!base || !f->binary_elf || elf_file_debuglink(f->binary_elf, link, &crc) ||
	    snprintf(buf, DSO_MAX_PATH, "%.*s/.debug/%s", (int)(base - path) - 1, path + 1, link) >=
		    DSO_MAX_PATH)
		return NULL;
	return buf;
}

/* The file that dwz moved parts of the debug file to, if it is there. */
static int add_alternate(struct bundle *b, struct dso_file *f, const struct dso_search *search)
{
	struct elf_file *alt = NULL;
	char path[DSO_MAX_PATH], hex[BUILD_ID_HEX_MAX];
	struct build_id id;
	const char *name;
	int rc = 0;

	if (dso_file_alt(f, search, &alt, &name) || !alt)
		return 0;
	if (!elf_file_build_id(alt, &id) && id.len >= 2) {
		build_id_hex(&id, hex);
		snprintf(path, sizeof(path), "usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
		rc = bundle_elf(b, path, alt);
	}
	elf_file_close(alt);
	return rc;
}

/* The debug file: that with the symbols, or where the binary has these, that with DWARF. */
static int add_debug(struct bundle *b, struct dso_file *f, const char *path)
{
	const struct elf_file *debug = f->mini ? NULL : f->symbols_elf;
	char buf[DSO_MAX_PATH];
	const char *name;

	if (!debug || debug == f->binary_elf)
		debug = f->dwarf_elf;
	if (!debug || debug == f->binary_elf)
		return 0;
	name = f->id.len >= 2 ? name_of(&f->id, "debug", "", buf) : link_name(f, path, buf);
	return name ? bundle_elf(b, name, debug) : 0;
}

static int add_file(struct resolver *r, struct bundle *b, const struct rdso *d)
{
	struct dso_search search;
	const char *of = d->found ? d->found : d->path, *name;
	char path[DSO_MAX_PATH];
	struct dso_file f;
	int rc;

	resolve_search(r, r->machines.v[d->source], d, &search);
	search.dwarf = true;
	rc = dso_file_find(of, &d->id, &search, &f);
	if (rc != PP_ENOMEM) {
		rc = 0;
		name = name_of(f.proven ? &f.id : &(struct build_id){0}, "elf", of, path);
		if (f.binary_elf && name)
			rc = bundle_elf(b, name, f.binary_elf);
		if (!rc)
			rc = add_debug(b, &f, of);
		if (!rc)
			rc = add_alternate(b, &f, &search);
	}
	dso_file_release(&f);
	return rc;
}

/* The file that the kernel's symbols are from. What the recording holds is there anyway. */
static int add_kernel(struct bundle *b, const struct kernel *k)
{
	struct elf_file *f = NULL;
	char path[DSO_MAX_PATH];
	enum symtab_reason why;
	struct buf text = BUF_INIT;
	int rc = 0;

	if (!k->found_path)
		return 0;
	if (k->is_elf) {
		if (!root_elf(k->found_root, k->found_path, NULL, &f, &why))
			rc = bundle_elf(b, name_of(&k->origin.kernel, "elf", "/vmlinux", path), f);
		elf_file_close(f);
		return rc;
	}
	rc = root_read(k->found_root, k->found_path, KALLSYMS_MAX_BYTES, &text, &why);
	if (!rc)
		rc = bundle_bytes(b, name_of(&k->origin.kernel, "kallsyms", "/proc/kallsyms", path),
				  text.data, text.len);
	buf_release(&text);
	return rc == PP_ENOMEM ? rc : 0;
}

static int add_vdso(struct bundle *b, const struct kernel *k, const struct rdso *d)
{
	char path[DSO_MAX_PATH];

	if (!k->vdso || !d->table)
		return 0;
	return bundle_bytes(b, name_of(&d->id, "vdso", "vdso", path), k->vdso->image.data,
			    k->vdso->image.len);
}

static int add_jits(struct resolver *r, struct bundle *b, struct machine *m)
{
	char path[DSO_MAX_PATH];
	int rc = 0;

	for (uint32_t i = 0; i < m->code.n && !rc; i++) {
		struct buf text = BUF_INIT;

		if (m->code.v[i].map && !resolve_jit_read(r, m, i + 1, false, &text)) {
			snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)m->code.v[i].pid);
			rc = bundle_bytes(b, path, text.data, text.len);
		}
		buf_reset(&text);
		if (!rc && m->code.v[i].dump && !resolve_jit_read(r, m, i + 1, true, &text))
			rc = bundle_bytes(b, m->code.v[i].dump_path + 1, text.data, text.len);
		buf_release(&text);
	}
	return rc;
}

/* The index by which the modules in the bundle are found by their names. */
static int add_module_index(struct resolver *r, struct bundle *b, const struct machine *m)
{
	const char *release = origin_osrelease(&m->host.kernel.origin);
	struct buf list = BUF_INIT;
	char path[DSO_MAX_PATH];
	int rc = 0;

	for (uint32_t i = 0; i < r->dsos.n; i++)
		if (r->dsos.v[i]->found)
			buf_addf(&list, "%s\n", r->dsos.v[i]->found);
	snprintf(path, sizeof(path), "lib/modules/%s/modules.order", release);
	if (list.len && release[0])
		rc = list.err ? list.err : bundle_bytes(b, path, list.data, list.len);
	buf_release(&list);
	return rc;
}

/*
 * Whether a recording needs the file: an address of a sample is in it, or a stack may lead there.
 */
static bool is_needed(const struct resolver *r, const struct rdso *d)
{
	if (d->found)
		return true;
	if (d->path[0] != '/' || (d->flags & (PS_DSO_NO_FILE | PS_DSO_KERNEL | PS_DSO_MODULE)))
		return false;
	return d->loaded || r->stats.user_stacks;
}

int resolve_bundle_keep(struct resolver *r)
{
	struct bundle *b = r->bundle;
	int rc = 0;

	if (!b)
		return 0;
	for (uint32_t i = 0; i < r->dsos.n && !rc; i++)
		if (is_needed(r, r->dsos.v[i]))
			rc = add_file(r, b, r->dsos.v[i]);
	for (uint32_t i = 0; i < r->machines.n && !rc; i++) {
		struct machine *m = r->machines.v[i];

		if (!m)
			continue;
		rc = add_kernel(b, &m->host.kernel);
		for (uint32_t k = 0; k < r->dsos.n && !rc; k++)
			if (!strcmp(r->dsos.v[k]->path, "[vdso]"))
				rc = add_vdso(b, &m->host.kernel, r->dsos.v[k]);
		if (!rc)
			rc = add_module_index(r, b, m);
		if (!rc)
			rc = add_jits(r, b, m);
	}
	return rc;
}

int resolver_bundle(struct resolver *r)
{
	int rc = resolve_bundle_keep(r), closed;
	uint32_t files = 0;

	if (!r->bundle)
		return rc;
	files = bundle_files(r->bundle);
	closed = bundle_close(r->bundle, rc);
	r->bundle = NULL;
	if (!rc)
		rc = closed;
	if (!rc)
		diag_note(r->d, r->opts.bundle, -1, "%u files", files);
	return rc;
}
