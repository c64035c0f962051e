/* What a recording tells of its kernel: facts, announced symbols, parts of a kallsyms; its vdso. */
#include "symbol/kernel_symbols.h"

#include "base/err.h"
#include "stream/stream.h"
#include "symbol/kernel_find.h"

#include <stdlib.h>
#include <string.h>

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
