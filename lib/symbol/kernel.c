#include "symbol/kernel.h"

#include "base/err.h"
#include "stream/stream.h"
#include "symbol/elf_symtab.h"
#include "symbol/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void kernel_init(struct kernel *k, const struct kernel_opts *opts, struct diag *d)
{
	*k = (struct kernel){.opts = opts, .d = d};
}

void kernel_release(struct kernel *k)
{
	for (uint32_t i = 0; i < k->nksyms; i++)
		free(k->ksyms[i].name);
	free(k->ksyms);
	symtab_free(k->table);
	if (k->vdso_loaded)
		vdso_release(&k->vdso);
	buf_release(&k->blob);
}

static void keep(char *to, size_t size, const char *value, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, value, len);
	to[len] = 0;
}

void kernel_meta(struct kernel *k, const char *key, size_t klen, const char *value, size_t vlen)
{
	if (klen == 9 && !memcmp(key, "osrelease", 9))
		keep(k->osrelease, sizeof(k->osrelease), value, vlen);
	else if (klen == 4 && !memcmp(key, "arch", 4))
		keep(k->arch, sizeof(k->arch), value, vlen);
	else if (klen == 13 && !memcmp(key, "kernel_symbol", 13))
		keep(k->symbol, sizeof(k->symbol), value, vlen);
}

void kernel_mapping(struct kernel *k, uint64_t pgoff)
{
	k->ref_addr = pgoff;
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

bool kernel_is_running(const struct kernel *k)
{
	struct build_id running;
	struct utsname u;

	if (k->id.len && !build_id_kernel(&running))
		return build_id_equal(&k->id, &running);
	if (uname(&u))
		return false;
	return (!k->osrelease[0] || !strcmp(k->osrelease, u.release)) &&
	       (!k->arch[0] || !strcmp(k->arch, u.machine));
}

static struct kallsyms_opts reference(const struct kernel *k)
{
	struct kallsyms_opts o = {NULL, 0};

	if (k->ref_addr && k->symbol[0])
		o = (struct kallsyms_opts){k->symbol, k->ref_addr};
	return o;
}

/* A kallsyms file. Says what is wrong if it was asked for by the user. */
static bool try_kallsyms(struct kernel *k, const char *path, bool asked)
{
	struct kallsyms_opts ref = reference(k);
	enum symtab_reason why;
	struct kallsyms ks;

	if (kallsyms_load(path, &ref, &ks, &why)) {
		if (asked)
			diag_warn(k->d, path, -1, "%s", symtab_reason_text(why));
		return false;
	}
	k->table = ks.table;
	return true;
}

static bool try_vmlinux(struct kernel *k)
{
	struct elf_symtab_opts o = {.no_plt = true, .symtab_only = true};
	enum symtab_reason why;

	if (k->ref_addr && k->symbol[0]) {
		o.ref_name = k->symbol;
		o.ref_addr = k->ref_addr;
	}
	if (!elf_symtab_load_path(k->opts->vmlinux, &o, &k->table, &why))
		return true;
	diag_warn(k->d, k->opts->vmlinux, -1, "%s", symtab_reason_text(why));
	return false;
}

static bool try_blob(struct kernel *k)
{
	struct kallsyms_opts ref = reference(k);
	enum symtab_reason why;
	struct kallsyms ks;

	if (!k->blob.len || kallsyms_parse(k->blob.data, k->blob.len, &ref, &ks, &why))
		return false;
	k->table = ks.table;
	return true;
}

static bool try_cache(struct kernel *k)
{
	char path[DSO_MAX_PATH];

	return k->id.len &&
	       !dso_cache_path(k->opts->search, &k->id, "kallsyms", path, sizeof(path)) &&
	       try_kallsyms(k, path, false);
}

static void load(struct kernel *k)
{
	struct utsname u;

	k->reason = PS_REASON_NO_KALLSYMS;
	if (k->opts->vmlinux && try_vmlinux(k))
		return;
	if (k->opts->kallsyms && try_kallsyms(k, k->opts->kallsyms, true))
		return;
	if (try_blob(k) || try_cache(k))
		return;
	if (kernel_is_running(k)) {
		if (!try_kallsyms(k, "/proc/kallsyms", false))
			diag_warn(
				k->d, NULL, -1,
				"/proc/kallsyms does not show addresses (kernel.kptr_restrict): kernel "
				"addresses stay without names; try as root, or --kallsyms or --vmlinux");
		else if (!k->osrelease[0])
			diag_note(
				k->d, NULL, -1,
				"the recording does not name its kernel: the running one's symbols are used");
		return;
	}
	if (uname(&u))
		return;
	if (k->osrelease[0] && strcmp(k->osrelease, u.release) != 0)
		diag_warn(
			k->d, NULL, -1,
			"recorded on kernel %s, this is %s: kernel addresses stay without names; give "
			"--kallsyms or --vmlinux",
			k->osrelease, u.release);
	else
		diag_warn(k->d, NULL, -1,
			  "recorded on another kernel than the running one: kernel addresses stay "
			  "without names; give --kallsyms or --vmlinux");
}

const struct symtab *kernel_symbols(struct kernel *k, uint32_t *reason)
{
	if (!k->loaded) {
		k->loaded = true;
		load(k);
	}
	*reason = k->reason;
	return k->table;
}

const struct vdso *kernel_vdso(struct kernel *k, const struct build_id *id, uint32_t *reason)
{
	enum symtab_reason why;

	*reason = PS_REASON_NO_FILE;
	if (!id->len && !kernel_is_running(k))
		return NULL;
	if (!k->vdso_loaded && vdso_load(&k->vdso, &why))
		return NULL;
	k->vdso_loaded = true;
	if (id->len && !build_id_equal(id, &k->vdso.id)) {
		*reason = PS_REASON_BUILD_ID;
		return NULL;
	}
	return &k->vdso;
}
