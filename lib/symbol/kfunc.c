#include "symbol/kfunc.h"

#include "base/err.h"
#include "symbol/kernel.h"

#include <stdlib.h>
#include <string.h>

struct kfunc {
	struct diag *d;
	struct dso_search search;
	struct kernel_opts opts;
	struct kernel *kernels[KFUNC_SOURCES]; /* by source */
};

int kfunc_new(struct kfunc **out, const char *kallsyms, struct diag *d)
{
	struct kfunc *k = calloc(1, sizeof(*k));

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
	}
	return k->kernels[source];
}

static bool is_kernel_map(const struct ps_mmap *m)
{
	/* The kernel's own: what modules are mapped by has the offset 0. */
	return m->flags & PS_MMAP_KERNEL && m->pgoff >> 63;
}

void kfunc_see(void *ctx, const struct ps_record *rec)
{
	struct kfunc *k = ctx;
	struct kernel *kernel;

	switch (rec->type) {
	case PS_HEADER: forget(k); return;
	case PS_META:
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
	else if (rec->type == PS_MMAP && is_kernel_map(&rec->mmap))
		kernel_mapping(kernel, rec->mmap.pgoff);
	else if (rec->type == PS_BLOB && rec->blob.kind == 1)
		kernel_blob(kernel, rec->blob.data.p, rec->blob.data.len);
	else if (rec->type == PS_KSYMBOL)
		kernel_ksymbol(kernel, rec->ksymbol.addr, rec->ksymbol.len, rec->ksymbol.name.p,
			       rec->ksymbol.name.len, rec->ksymbol.flags & 1);
}

const char *kfunc_name(void *ctx, uint32_t source, uint64_t addr, size_t *len)
{
	struct kernel *kernel = kernel_of(ctx, source);
	const struct ksymbol *announced;
	const struct symtab *table;
	struct symbol s;
	uint32_t reason;
	const char *name;

	if (!kernel || !(addr >> 63))
		return NULL;
	announced = kernel_find_ksymbol(kernel, addr);
	if (announced) {
		*len = strlen(announced->name);
		return announced->name;
	}
	table = kernel_symbols(kernel, &reason);
	if (!table || symtab_find(table, addr, &s))
		return NULL;
	name = symtab_text(table, s.name);
	*len = strlen(name);
	return name;
}
