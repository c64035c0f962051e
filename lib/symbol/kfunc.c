/*
 * Kernel functions by address, and devices by number, for filters that are no symbolizer: a kernel
 * for each recording.
 */
#include "symbol/kfunc.h"

#include "base/err.h"
#include "base/intern.h"
#include "base/opt.h"
#include "symbol/kernel_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_MAX 4096 /* whose names are kept */
#define NEAR_MAX    128	 /* bytes of names that are compared with one that is misspelt */

struct kfunc {
	struct diag *d;
	struct dso_search search;
	struct kernel_opts opts;
	struct kernel *kernels[KFUNC_SOURCES]; /* by source */
	bool narrow[KFUNC_SOURCES];	       /* addresses have 32 bits */
	bool no_memory;			       /* of the recordings that are forgotten, too */
	struct map64 devices;		       /* of this machine: ids of device_names; 0: none */
	struct intern device_names;
};

int kfunc_new(struct kfunc **out, const char *kallsyms, struct diag *d)
{
	struct kfunc *k = NULL;
	int rc = kallsyms ? root_check(kallsyms, d) : 0;

	*out = NULL;
	if (rc)
		return rc;
	k = calloc(1, sizeof(*k));
	*out = k;
	if (!k)
		return PP_ENOMEM;
	k->d = d;
	k->opts = (struct kernel_opts){.kallsyms = kallsyms, .search = &k->search};
	return 0;
}

static void forget(struct kfunc *k)
{
	for (int i = 0; i < KFUNC_SOURCES; i++) {
		if (!k->kernels[i])
			continue;
		k->no_memory |= k->kernels[i]->no_memory;
		kernel_release(k->kernels[i]);
		free(k->kernels[i]);
		k->kernels[i] = NULL;
	}
}

void kfunc_free(struct kfunc *k)
{
	if (!k)
		return;
	forget(k);
	map64_release(&k->devices);
	intern_release(&k->device_names);
	free(k);
}

/* NULL: too many recordings, or out of memory; they go without names. */
static struct kernel *kernel_of(struct kfunc *k, uint32_t source)
{
	if (source >= KFUNC_SOURCES)
		return NULL;
	if (!k->kernels[source]) {
		k->kernels[source] = calloc(1, sizeof(struct kernel));
		if (k->kernels[source])
			kernel_init(k->kernels[source], &k->opts, k->d);
		else
			k->no_memory = true;
	}
	return k->kernels[source];
}

static bool is_kernel_map(const struct ps_mmap *m)
{
	/* The kernel's own: what modules are mapped by has the offset 0. */
	return m->flags & PS_MMAP_KERNEL && m->pgoff >> 63;
}

/* The build-id of the kernel, or the path of a module. */
static void see_dso(struct kernel *kernel, const struct ps_dso *d)
{
	uint32_t kind = d->flags & (PS_DSO_KERNEL | PS_DSO_MODULE | PS_DSO_GUEST);
	char path[256];

	if (kind == PS_DSO_KERNEL)
		kernel->origin.kernel = build_id_make(d->build_id.p, d->build_id.len);
	if (!(kind & PS_DSO_MODULE) || kind & PS_DSO_GUEST || d->path.len >= sizeof(path))
		return;
	memcpy(path, d->path.p, d->path.len);
	path[d->path.len] = 0;
	origin_module_path(&kernel->origin, path);
}

void kfunc_see(void *ctx, const struct ps_record *rec)
{
	struct kfunc *k = ctx;
	struct kernel *kernel;
	int rc = 0;

	switch (rec->type) {
	case PS_HEADER: forget(k); return;
	case PS_SOURCE:
		if (rec->source < KFUNC_SOURCES)
			k->narrow[rec->source] = rec->src.long_bits == 32;
		return;
	case PS_META:
	case PS_DSO:
	case PS_MMAP:
	case PS_BLOB:
	case PS_KSYMBOL: break;
	default: return;
	}
	kernel = kernel_of(k, rec->source);
	if (!kernel)
		return;
	if (rec->type == PS_META)
		kernel_meta(kernel, rec->meta.key.p, rec->meta.key.len, rec->meta.value.p,
			    rec->meta.value.len);
	else if (rec->type == PS_DSO)
		see_dso(kernel, &rec->dso);
	else if (rec->type == PS_MMAP && is_kernel_map(&rec->mmap))
		kernel_mapping(kernel, rec->mmap.addr, rec->mmap.len, rec->mmap.pgoff);
	else if (rec->type == PS_BLOB && rec->blob.kind == PS_BLOB_KALLSYMS)
		rc = kernel_blob(kernel, rec->blob.data.p, rec->blob.data.len);
	else if (rec->type == PS_KSYMBOL)
		rc = kernel_ksymbol(kernel, rec->ksymbol.addr, rec->ksymbol.len,
				    rec->ksymbol.name.p, rec->ksymbol.name.len,
				    rec->ksymbol.flags & 1);
	k->no_memory |= rc == PP_ENOMEM;
}

bool kfunc_failed(void *ctx)
{
	struct kfunc *k = ctx;
	bool failed = k->no_memory;

	for (int i = 0; i < KFUNC_SOURCES; i++)
		failed |= k->kernels[i] && k->kernels[i]->no_memory;
	return failed;
}

/* Whether an address may be the kernel's; of 32 bits it has at most the upper three quarters. */
static bool is_kernel(bool narrow, uint64_t addr)
{
	return narrow ? addr >> 30 && !(addr >> 32) : addr >> 63;
}

const char *kfunc_name(void *ctx, uint32_t source, uint64_t addr, size_t *len)
{
	struct kfunc *k = ctx;
	struct kernel *kernel = kernel_of(k, source);
	const struct ksymbol *announced;
	const struct symtab *table;
	struct symbol s;
	uint32_t reason;
	const char *name;

	if (!kernel || !is_kernel(k->narrow[source], addr))
		return NULL;
	announced = kernel_find_ksymbol(kernel, addr);
	if (announced) {
		*len = strlen(announced->name);
		return announced->name;
	}
	table = kernel_symbols(kernel, &reason);
	/* The last of the variables of each CPU, which are numbered from 0, reaches to the code. */
	if (!table || symtab_find(table, addr, &s) || !is_kernel(k->narrow[source], s.start))
		return NULL;
	name = symtab_text(table, s.name);
	*len = strlen(name);
	return name;
}

/* What this machine calls a block device: the end of "../../devices/pci0000:00/.../block/sda". */
static size_t read_device(uint64_t dev, char *to, size_t size)
{
	char path[64];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%llu:%llu", (unsigned long long)(dev >> 20),
		 (unsigned long long)(dev & 0xfffff));
	n = readlink(path, to, size - 1);
	if (n <= 0)
		return 0;
	to[n] = 0;
	slash = strrchr(to, '/');
	if (slash)
		memmove(to, slash + 1, strlen(slash + 1) + 1);
	return strlen(to);
}

const char *kfunc_device(void *ctx, uint32_t source, uint64_t dev, size_t *len)
{
	struct kfunc *k = ctx;
	struct kernel *kernel = kernel_of(k, source);
	char name[512];
	uint32_t *id;
	bool fresh;
	size_t n;

	if (!kernel || origin_files(&kernel->origin) != ORIGIN_HERE)
		return NULL;
	if (k->devices.n > DEVICES_MAX)
		return NULL;
	id = map64_put(&k->devices, dev, &fresh);
	if (id && fresh) {
		n = read_device(dev, name, sizeof(name));
		*id = 0;
		if (n && intern_add(&k->device_names, name, n, id, NULL))
			k->no_memory = true;
	}
	k->no_memory |= !id;
	return id && *id ? intern_get(&k->device_names, *id, len) : NULL;
}

/* The kernel's table, read in silence: nobody waits for names any more. */
static const struct symtab *silent_table(struct kernel *kernel)
{
	struct diag *d = kernel->d;
	const struct symtab *t;
	uint32_t reason;

	kernel->d = NULL;
	t = kernel_symbols(kernel, &reason);
	kernel->d = d;
	return t;
}

static bool is_name(const char *s, const char *name, size_t len)
{
	return strlen(s) == len && !memcmp(s, name, len);
}

static bool has_name(const struct kernel *kernel, const struct symtab *t, const char *name,
		     size_t len)
{
	struct symbol s;

	for (uint32_t i = 0; i < kernel->nksyms; i++)
		if (is_name(kernel->ksyms[i].name, name, len))
			return true;
	for (uint32_t i = 0; i < symtab_count(t); i++) {
		symtab_get(t, i, &s);
		if (is_name(symtab_text(t, s.name), name, len))
			return true;
	}
	return false;
}

static const char *near_name(const struct symtab *t, const char *word)
{
	const char **names = calloc((size_t)symtab_count(t) + 1, sizeof(*names));
	const char *near = NULL, *text;
	struct symbol s;
	size_t n = 0;

	for (uint32_t i = 0; names && i < symtab_count(t); i++) {
		symtab_get(t, i, &s);
		text = symtab_text(t, s.name);
		if (strlen(text) < NEAR_MAX)
			names[n++] = text;
	}
	if (names)
		near = opt_nearest(word, names, n);
	free(names);
	return near;
}

bool kfunc_lacks(void *ctx, const char *name, size_t len, const char **near)
{
	char word[NEAR_MAX] = "";
	struct kfunc *k = ctx;
	bool any = false;

	*near = NULL;
	if (len < sizeof(word))
		memcpy(word, name, len);
	for (int i = 0; i < KFUNC_SOURCES; i++) {
		const struct symtab *t = k->kernels[i] ? silent_table(k->kernels[i]) : NULL;

		if (!t)
			continue;
		any = true;
		if (has_name(k->kernels[i], t, name, len))
			return false;
		if (word[0] && !*near)
			*near = near_name(t, word);
	}
	return any;
}
