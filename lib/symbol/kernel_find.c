/*
 * Tries the places where the symbols of a kernel can be, in the order that kernel_symbols.h tells.
 */
#include "symbol/kernel_find.h"

#include "base/err.h"
#include "stream/stream.h"
#include "symbol/elf_symtab.h"
#include "symbol/kallsyms.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void kernel_find(struct kernel *k)
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
