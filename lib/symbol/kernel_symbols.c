/* What a recording tells of its kernel: facts, announced symbols, parts of a kallsyms; its vdso. */
#include "symbol/kernel_symbols.h"

#include "base/err.h"
#include "stream/stream.h"
#include "symbol/elf_symtab.h"
#include "symbol/kallsyms.h"

#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the places where the symbols of a kernel can be, in the order of kernel_symbols.h ---- */

#define KCORES_MAX 256 /* saved states of one kernel in perf's cache */

static struct kallsyms_opts reference(const struct kernel *k)
{
	struct kallsyms_opts o = {.last = k->opts->like_perf};

	if (k->ref_addr && k->symbol[0]) {
		o.ref_name = k->symbol;
		o.ref_addr = k->ref_addr;
	}
	return o;
}

static void note(struct kernel *k, const char *path, enum symtab_reason why)
{
	buf_addf(&k->tried, "%s: %s\n", path, symtab_reason_text(why));
	k->no_memory |= why == SYMTAB_NO_MEMORY || k->tried.err;
}

/* A table was found, or the reason is noted. */
static bool found(struct kernel *k, const struct root *root, const char *path, bool elf, int rc,
		  enum symtab_reason why)
{
	char full[ROOT_PATH_MAX];
	const char *shown = root_path(root, path, full);

	note(k, shown ? shown : path, why);
	if (why == SYMTAB_IO && !k->failed) {
		diag_warn(k->d, shown ? shown : path, -1, "cannot be read: %s; names are missing",
			  pp_strerror(rc));
		k->failed = true;
	}
	if (!k->table)
		return false;
	k->found_root = root;
	k->found_path = strdup(path);
	if (!k->found_path)
		k->no_memory = true;
	k->is_elf = elf;
	return true;
}

static bool try_text(struct kernel *k, const void *text, size_t len, enum symtab_reason *why)
{
	struct kallsyms_opts ref = reference(k);
	struct kallsyms ks;

	if (kallsyms_parse(text, len, &ref, &ks, why))
		return false;
	k->table = ks.table;
	return true;
}

/* A file that the user asked for gives no names. */
static void say_useless(struct kernel *k, const char *path, enum symtab_reason why)
{
	diag_error(k->d, path, -1, "%s", symtab_reason_text(why));
	k->useless = true;
}

/* A kallsyms file. Says what is wrong if it was asked for by the user. */
static bool try_kallsyms(struct kernel *k, const struct root *root, const char *path, bool asked)
{
	enum symtab_reason why;
	struct buf b = BUF_INIT;
	int rc;

	rc = root_read(root, path, KALLSYMS_MAX_BYTES, &b, &why);
	if (!rc)
		try_text(k, b.data, b.len, &why);
	buf_release(&b);
	if (!k->table && asked)
		say_useless(k, path, why);
	return found(k, root, path, false, rc, why);
}

/* An ELF image of a kernel; with `proof` only one of the recorded build-id, if that is known. */
static bool try_vmlinux(struct kernel *k, const struct root *root, const char *path, bool asked,
			bool proof)
{
	struct elf_symtab_opts o = {.no_plt = true, .symtab_only = true, .delta = &k->delta};
	struct elf_file *f = NULL;
	enum symtab_reason why;
	struct build_id id;
	int rc;

	if (k->ref_addr && k->symbol[0]) {
		o.ref_name = k->symbol;
		o.ref_addr = k->ref_addr;
	}
	rc = root_elf(root, path, NULL, &f, &why);
	if (!rc) {
		if (proof && k->origin.kernel.len &&
		    (elf_file_build_id(f, &id) || !build_id_equal(&id, &k->origin.kernel)))
			why = SYMTAB_BUILD_ID;
		else
			elf_symtab_load(f, NULL, &o, &k->table, &why);
	}
	elf_file_close(f);
	if (!k->table && asked)
		say_useless(k, path, why);
	return found(k, root, path, true, rc, why);
}

/* Where distributions put the image with symbols of a release. */
static bool try_installed(struct kernel *k, const struct root *root)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/usr/lib/modules/%s/vmlinux",
		"/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
		"/boot/vmlinux-%s",
	};
	const char *release = origin_osrelease(&k->origin);
	char path[sizeof(k->origin.osrelease) + 64];

	if (!release[0] || strchr(release, '/'))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *percent = strchr(places[i], '%');

		snprintf(path, sizeof(path), "%.*s%s%s", (int)(percent - places[i]), places[i],
			 release, percent + 2);
		if (try_vmlinux(k, root, path, false, true))
			return true;
	}
	return false;
}

static bool try_debug_dirs(struct kernel *k)
{
	static const char *const standard[] = {DSO_DEBUG_DIR};
	const struct dso_search *o = k->opts->search;
	size_t n = o->n_debug_dirs ? o->n_debug_dirs : 1;
	char path[DSO_MAX_PATH], hex[BUILD_ID_HEX_MAX];

	if (k->origin.kernel.len < 2)
		return false;
	build_id_hex(&k->origin.kernel, hex);
	for (size_t i = 0; i < n; i++) {
		const char *dir = o->n_debug_dirs ? o->debug_dirs[i] : standard[i];

		if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2) <
			    (int)sizeof(path) &&
		    try_vmlinux(k, NULL, path, false, true))
			return true;
	}
	return false;
}

/* A root that the user gave, or a bundle. */
static bool try_root(struct kernel *k, const struct root *root)
{
	char path[128];

	if (!dso_id_path(&k->origin.kernel, "kallsyms", path, sizeof(path)) &&
	    try_kallsyms(k, root, path, false))
		return true;
	if (!dso_id_path(&k->origin.kernel, "elf", path, sizeof(path)) &&
	    try_vmlinux(k, root, path, false, true))
		return true;
	return try_kallsyms(k, root, "/proc/kallsyms", false) ||
	       try_vmlinux(k, root, "/vmlinux", false, true) || try_installed(k, root);
}

/* States of a kernel that `perf buildid-cache --kcore` saved: [kernel.kcore]/ID/TIME/kallsyms. */
static bool try_kcores(struct kernel *k, const char *entry)
{
	char dir_name[DSO_MAX_PATH], path[DSO_MAX_PATH + 300], hex[BUILD_ID_HEX_MAX];
	/* entry is CACHE/.build-id/xx/yyyy */
	const char *end = strstr(entry, "/.build-id/");
	struct dirent *e;
	DIR *dir = NULL;
	int n = 0;

	if (end &&
	    snprintf(dir_name, sizeof(dir_name), "%.*s/[kernel.kcore]/%s", (int)(end - entry),
		     entry, build_id_hex(&k->origin.kernel, hex)) < (int)sizeof(dir_name))
		dir = opendir(dir_name);
	while (dir && !k->table && n++ < KCORES_MAX && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/kallsyms", dir_name, e->d_name);
		try_kallsyms(k, NULL, path, false);
	}
	if (dir)
		closedir(dir);
	return k->table != NULL;
}

static bool try_cache(struct kernel *k)
{
	char path[DSO_MAX_PATH];

	if (!dso_cache_path(k->opts->search, &k->origin.kernel, "kallsyms", path, sizeof(path)) &&
	    try_kallsyms(k, NULL, path, false))
		return true;
	if (!dso_cache_path(k->opts->search, &k->origin.kernel, "elf", path, sizeof(path)) &&
	    try_vmlinux(k, NULL, path, false, true))
		return true;
	return !dso_cache_path(k->opts->search, &k->origin.kernel, NULL, path, sizeof(path)) &&
	       try_kcores(k, path);
}

static bool try_blob(struct kernel *k)
{
	enum symtab_reason why;

	if (!k->blob.len)
		return false;
	try_text(k, k->blob.data, k->blob.len, &why);
	note(k, "kallsyms in the recording", why);
	return k->table != NULL;
}

void kernel_say_unknown(struct kernel *k)
{
	if (!k->origin.said)
		diag_warn(k->d, NULL, -1,
			  "nothing shows that the recording is from this machine: %s",
			  k->opts->advice ? k->opts->advice
					  : "its kernel provides no names; give --kallsyms, "
					    "/proc/kallsyms if it is");
	k->origin.said = true;
}

static void say_other(struct kernel *k)
{
	const char *release = origin_osrelease(&k->origin), *here = k->origin.here.release;

	if (release[0] && strcmp(release, here) != 0)
		diag_warn(k->d, NULL, -1,
			  "recorded on kernel %s, this is %s: kernel addresses stay without names; "
			  "give --kallsyms or --vmlinux",
			  release, here);
	else
		diag_warn(k->d, NULL, -1,
			  "recorded on a kernel other than the running one: kernel addresses stay "
			  "without names; give --kallsyms or --vmlinux");
}

/* Sets k->table, or k->reason; says what is wrong. */
static void kernel_find(struct kernel *k)
{
	const struct dso_search *o = k->opts->search;
	enum origin_verdict from = ORIGIN_UNKNOWN;

	k->reason = k->opts->guest ? PS_REASON_GUEST : PS_REASON_NO_KALLSYMS;
	if (k->opts->vmlinux && try_vmlinux(k, NULL, k->opts->vmlinux, true, false))
		return;
	if (k->opts->kallsyms && try_kallsyms(k, NULL, k->opts->kallsyms, true))
		return;
	if (k->opts->guest)
		return;
	for (size_t i = 0; o && i < o->n_symfs; i++)
		if (try_root(k, o->symfs[i]))
			return;
	if (try_blob(k) || (o && try_cache(k)))
		return;
	from = origin_kernel(&k->origin);
	if (from == ORIGIN_HERE && try_kallsyms(k, NULL, "/proc/kallsyms", false))
		return;
	if ((o && try_debug_dirs(k)) || (!(o && o->n_symfs) && try_installed(k, NULL)))
		return;
	if (k->failed) {
		k->reason = PS_REASON_NO_ACCESS;
	} else if (from == ORIGIN_HERE) {
		k->reason = PS_REASON_RESTRICTED;
		diag_warn(k->d, NULL, -1,
			  "/proc/kallsyms does not show addresses (kernel.kptr_restrict): kernel "
			  "addresses stay without names; try %s--kallsyms or --vmlinux",
			  geteuid() ? "as root, or " : "");
	} else if (from == ORIGIN_UNKNOWN) {
		kernel_say_unknown(k);
	} else {
		say_other(k);
	}
}

/* ---- the symbols ---- */

void kernel_init(struct kernel *k, const struct kernel_opts *opts, struct diag *d)
{
	*k = (struct kernel){.opts = opts, .d = d, .origin.trust = opts->trust_host};
}

void kernel_release(struct kernel *k)
{
	for (uint32_t i = 0; i < k->nksyms; i++)
		free(k->ksyms[i].name);
	free(k->ksyms);
	symtab_free(k->table);
	vdso_free(k->vdso);
	buf_release(&k->blob);
	buf_release(&k->tried);
	free(k->found_path);
	origin_release(&k->origin);
}

void kernel_meta(struct kernel *k, const char *key, size_t klen, const char *value, size_t vlen)
{
	origin_meta(&k->origin, key, klen, value, vlen);
	if (klen != 13 || memcmp(key, "kernel_symbol", 13) != 0)
		return;
	if (vlen >= sizeof(k->symbol))
		vlen = sizeof(k->symbol) - 1;
	memcpy(k->symbol, value, vlen);
	k->symbol[vlen] = 0;
}

void kernel_mapping(struct kernel *k, uint64_t addr, uint64_t len, uint64_t pgoff)
{
	k->ref_addr = pgoff;
	origin_kernel_map(&k->origin, addr, len, pgoff);
}

int kernel_blob(struct kernel *k, const char *data, size_t len)
{
	if (k->blob.len + len > KERNEL_BLOB_MAX)
		return PP_ELIMIT;
	buf_add(&k->blob, data, len);
	return k->blob.err;
}

/* The first announced symbol that ends after addr. */
static uint32_t ksymbol_lower(const struct kernel *k, uint64_t addr)
{
	uint32_t lo = 0, hi = k->nksyms;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (k->ksyms[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int kernel_ksymbol(struct kernel *k, uint64_t addr, uint64_t len, const char *name, size_t nlen,
		   bool removed)
{
	uint64_t end = addr + len;
	uint32_t i, n = 0;
	char *copy;

	if (!len || end < addr)
		return 0;
	/* What it covers is gone. */
	i = ksymbol_lower(k, addr);
	while (i + n < k->nksyms && k->ksyms[i + n].start < end)
		free(k->ksyms[i + n++].name);
	if (n)
		memmove(k->ksyms + i, k->ksyms + i + n, (k->nksyms - i - n) * sizeof(*k->ksyms));
	k->nksyms -= n;
	if (removed || k->nksyms == KERNEL_KSYMBOLS_MAX)
		return 0;
	if (k->nksyms == k->ksyms_cap) {
		uint32_t cap = k->ksyms_cap ? k->ksyms_cap * 2 : 32;
		struct ksymbol *v = realloc(k->ksyms, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		k->ksyms = v;
		k->ksyms_cap = cap;
	}
	copy = strndup(name, nlen);
	if (!copy)
		return PP_ENOMEM;
	memmove(k->ksyms + i + 1, k->ksyms + i, (k->nksyms - i) * sizeof(*k->ksyms));
	k->ksyms[i] = (struct ksymbol){addr, end, copy};
	k->nksyms++;
	return 0;
}

const struct ksymbol *kernel_find_ksymbol(const struct kernel *k, uint64_t addr)
{
	uint32_t i = ksymbol_lower(k, addr);

	return i < k->nksyms && k->ksyms[i].start <= addr ? &k->ksyms[i] : NULL;
}

const struct symtab *kernel_symbols(struct kernel *k, uint32_t *reason)
{
	if (!k->loaded) {
		k->loaded = true;
		kernel_find(k);
	}
	*reason = k->reason;
	return k->table;
}

struct elf_file *kernel_image(const struct kernel *k)
{
	struct elf_file *f = NULL;
	enum symtab_reason why;

	if (!k->table || !k->is_elf || root_elf(k->found_root, k->found_path, NULL, &f, &why))
		return NULL;
	return f;
}

/* A vdso that was kept with a bundle or in perf's cache. */
static bool vdso_of_file(struct kernel *k, const struct root *root, const char *path)
{
	enum symtab_reason why;

	return !vdso_from(&k->vdso, root, path, &why);
}

static void load_vdso(struct kernel *k, const struct build_id *id)
{
	const struct dso_search *o = k->opts->search;
	char path[DSO_MAX_PATH];
	enum symtab_reason why;

	for (size_t i = 0; o && i < o->n_symfs && !k->vdso; i++)
		if (dso_id_path(id, "vdso", path, sizeof(path)) ||
		    !vdso_of_file(k, o->symfs[i], path))
			if (!vdso_of_file(k, o->symfs[i], "vdso"))
				vdso_of_file(k, o->symfs[i], "[vdso]");
	if (!k->vdso && o && !dso_cache_path(o, id, "vdso", path, sizeof(path)))
		vdso_of_file(k, NULL, path);
	if (!k->vdso && (id->len || origin_kernel(&k->origin) == ORIGIN_HERE))
		vdso_load(&k->vdso, &why);
}

const struct vdso *kernel_vdso(struct kernel *k, const struct build_id *id, uint32_t *reason)
{
	*reason = PS_REASON_NO_FILE;
	if (!k->vdso)
		load_vdso(k, id);
	if (!k->vdso)
		return NULL;
	if (id->len && !build_id_equal(id, &k->vdso->id)) {
		*reason = PS_REASON_BUILD_ID;
		return NULL;
	}
	return k->vdso;
}
