/*
 * From an address to its frame: the mapping that holds it, the symbol there, the return address
 * that is looked up one byte earlier.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/demangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The symbol of a table entry, defined in the output at its first use. */
static int table_symbol(struct resolver *r, uint32_t source, struct rdso *d, const struct symtab *t,
			const struct symbol *s, uint32_t dso_out, uint32_t *id)
{
	uint32_t *slot = &d->symbol_ids[s->index];
	int rc = 0;

	if (!*slot)
		rc = resolve_put_symbol(r, source, symtab_text(t, s->name), dso_out, s->start,
					s->end - s->start, slot);
	*id = *slot;
	return rc;
}

/*
 * A frame without a mapping. One stands for all of its kind: the address is that of the call chain,
 * and garbage in chains (code without frame pointers) would otherwise make most of the frames.
 */
static int nowhere_frame(struct resolver *r, struct machine *m, enum mode mode, uint32_t reason,
			 uint32_t *id)
{
	uint32_t *known = &m->nowhere[reason == PS_REASON_NO_MAPPING ? 0 : mode];
	struct ps_frame f = {.reason = reason};
	int rc = 0;

	if (mode == MODE_HV || mode == MODE_GUEST_KERNEL)
		f.flags = PS_FRAME_KERNEL;
	if (mode >= MODE_GUEST_KERNEL)
		f.flags |= PS_FRAME_GUEST;
	if (!*known)
		rc = resolve_put_frame(r, m->source, &f, known);
	*id = *known | FRAME_UNKNOWN;
	return rc;
}

/* The module that a kernel symbol belongs to, as a DSO of its own: "[ext4]". */
static int module_dso(struct resolver *r, struct machine *m, const struct rdso *kernel,
		      uint32_t module, uint32_t *out)
{
	uint32_t guest = kernel->flags & PS_DSO_GUEST;
	uint32_t *slot = map64_put(&m->modules, (uint64_t)guest << 32 | module, NULL);
	struct buf b = BUF_INIT;
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		buf_addf(&b, "[%s]", symtab_text(kernel->table, module));
		rc = b.err ? b.err
			   : resolve_add_dso(r, m->source, ps_str(buf_str(&b), b.len),
					     ps_str(NULL, 0), PS_DSO_KERNEL | PS_DSO_MODULE | guest,
					     slot);
		buf_release(&b);
	}
	if (!rc)
		*out = r->dsos.v[*slot - 1]->out;
	return rc;
}

/* The DSO of the kernel, or of the guest's, with its table. */
static int kernel_dso(struct resolver *r, struct machine *m, bool guest, struct rdso **d)
{
	const char *name = guest ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
	uint32_t *index = guest ? &m->guest.dso : &m->host.dso;
	struct kernel *k = guest ? &m->guest.kernel : &m->host.kernel;
	int rc;

	if (!*index) {
		rc = resolve_add_dso(r, m->source, ps_str(name, strlen(name)), ps_str(NULL, 0),
				     PS_DSO_KERNEL | (guest ? PS_DSO_GUEST : 0), index);
		if (rc)
			return rc;
	}
	*d = r->dsos.v[*index - 1];
	if ((*d)->loaded)
		return 0;
	(*d)->loaded = true;
	(*d)->table = kernel_symbols(k, &(*d)->reason);
	(*d)->delta = k->delta;
	r->stats.useless += k->useless;
	r->stats.failed += k->failed;
	if (k->no_memory)
		return PP_ENOMEM;
	if (r->opts.inlines || r->opts.srcline)
		(*d)->lines.file = kernel_image(k);
	if (r->opts.missing && !(*d)->table)
		buf_adds(&(*d)->tried, buf_str(&k->tried));
	(*d)->symbol_ids = calloc((size_t)symtab_count((*d)->table) + 1, sizeof(uint32_t));
	return (*d)->symbol_ids ? 0 : PP_ENOMEM;
}

/* A symbol that the recording announced (KSYMBOL), if there is one at the address. */
static int announced_symbol(struct resolver *r, struct machine *m, uint64_t addr, uint32_t *id)
{
	const struct ksymbol *k = kernel_find_ksymbol(&m->host.kernel, addr);
	uint32_t *slot;

	*id = 0;
	if (!k)
		return 0;
	slot = map64_put(&m->ksyms, k->start, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		int rc = resolve_put_symbol(r, m->source, k->name, r->dsos.v[m->host.dso - 1]->out,
					    k->start, k->end - k->start, slot);

		if (rc)
			return rc;
	}
	*id = *slot;
	return 0;
}

/* The symbol of an address in a module that the kernel's own table does not have. */
static int module_symbol(struct resolver *r, struct machine *m, uint32_t index, uint64_t addr,
			 struct ps_frame *f)
{
	struct rdso *d = r->dsos.v[index - 1];
	struct symbol s;
	int rc = resolve_load_module(r, m, d);

	f->dso = d->out;
	f->symbol = 0;
	if (!rc && !symtab_find(d->table, addr, &s))
		rc = table_symbol(r, m->source, d, d->table, &s, d->out, &f->symbol);
	if (!rc && !f->symbol)
		rc = resolve_recorded(r, m, d, addr - d->base, addr, &f->symbol);
	if (!rc && !f->symbol)
		rc = resolve_recorded(r, m, r->dsos.v[m->host.dso - 1], addr, addr, &f->symbol);
	if (!f->symbol)
		f->reason = d->table ? PS_REASON_NO_SYMBOL : d->reason;
	return rc;
}

/* The symbol of a kernel address in the kernel's table or a module's. */
static int kernel_symbol(struct resolver *r, struct machine *m, struct rdso *d, uint64_t addr,
			 struct ps_frame *f)
{
	bool found, guest = d->flags & PS_DSO_GUEST;
	struct symbol s;
	uint32_t index;
	int rc = guest ? 0 : announced_symbol(r, m, addr, &f->symbol);

	f->dso = d->out;
	if (rc || f->symbol)
		return rc;
	found = !symtab_find(d->table, addr, &s);
	if (!guest && !(found && s.module) && (index = ranges_find(&m->kmods, addr)))
		return module_symbol(r, m, index, addr, f);
	if (found && s.module)
		rc = module_dso(r, m, d, s.module, &f->dso);
	if (found && !rc)
		rc = table_symbol(r, m->source, d, d->table, &s, f->dso, &f->symbol);
	if (!rc && !f->symbol)
		rc = resolve_recorded(r, m, d, addr, addr, &f->symbol);
	if (!f->symbol)
		f->reason = d->table ? PS_REASON_NO_SYMBOL : d->reason;
	return rc;
}

/* A frame and those inlined at its address; *id is the innermost. */
static int put_frames(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		      struct ps_frame *f, uint32_t *id)
{
	uint32_t first = 0;
	int rc = 0;

	if (r->opts.inlines || r->opts.srcline)
		rc = resolve_lines(r, m, d, vaddr, f, &first);
	if (!rc)
		rc = resolve_put_frame(r, m->source, f, id);
	if (first)
		*id = first;
	return rc;
}

/* An address of a DSO has got its frame. */
static int keep_frame(const struct resolver *r, struct frame_map *map, uint64_t addr, uint32_t *id)
{
	if (r->out.miss[*id])
		*id |= FRAME_UNKNOWN;
	return frame_map_put(map, addr, *id);
}

static int kernel_frame(struct resolver *r, struct machine *m, bool guest, uint64_t ip, bool ret,
			uint32_t *id)
{
	struct ps_frame f = {.flags = PS_FRAME_KERNEL | (guest ? PS_FRAME_GUEST : 0), .addr = ip};
	struct rdso *d;
	int rc = kernel_dso(r, m, guest, &d);

	if (rc)
		return rc;
	*id = frame_map_get(&d->frames[ret], ip);
	if (*id)
		return 0;
	rc = kernel_symbol(r, m, d, ip - ret, &f);
	/* The image knows nothing of modules. */
	if (!rc && f.dso == d->out)
		rc = put_frames(r, m, d, ip - ret - d->delta, &f, id);
	else if (!rc)
		rc = resolve_put_frame(r, m->source, &f, id);
	return rc ? rc : keep_frame(r, &d->frames[ret], ip, id);
}

/*
 * The mapping that an address without one is in: generated code, if the process is known to have
 * it. Runtimes that reserve memory first and make it executable later leave no record of that.
 */
static int unmapped_code(struct resolver *r, struct machine *m, struct space *sp, uint64_t addr,
			 struct map *map, bool *found)
{
	uint32_t jit = space_tag(sp), symbol, reason, dso;
	int rc;

	*found = false;
	if (!jit || r->opts.like_perf)
		return 0;
	rc = resolve_jit_symbol(r, m, jit, addr, &symbol, &reason);
	if (rc || !symbol)
		return rc;
	rc = resolve_jit_dso(r, m, m->code.v[jit - 1].pid, &dso);
	*map = (struct map){.dso = dso};
	*found = !rc;
	return rc;
}

/*
 * What a signal handler returns to: the C library's (glibc, musl, bionic), the vdso's of the
 * kernel, Go's. No call leads there, so what comes before belongs to another function, or to none.
 */
static bool is_signal_return(const char *name)
{
	static const char *const names[] = {
		"__restore_rt",
		"__restore",
		"__default_rt_sa_restorer",
		"__default_sa_restorer",
		"__kernel_rt_sigreturn",
		"__kernel_sigreturn",
		"__kernel_sigtramp_rt64",
		"__vdso_rt_sigreturn",
		"runtime.sigreturn",
		"runtime.sigreturn.abi0",
		"runtime.sigreturn__sigaction",
		"runtime.sigreturn__sigaction.abi0",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * The symbol of the code at vaddr; *ret: vaddr is that of a call, one byte before what was
 * recorded.
 */
static bool find_code(const struct symtab *t, uint64_t vaddr, bool *ret, struct symbol *out)
{
	bool found = !symtab_find(t, vaddr, out);
	struct symbol at;

	if (!*ret || (found && out->end != vaddr + 1) || symtab_find(t, vaddr + 1, &at) ||
	    at.start != vaddr + 1 || !is_signal_return(symtab_text(t, at.name)))
		return found;
	*ret = false;
	*out = at;
	return true;
}

int resolve_is_of(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		  const struct symbol *s, bool *is)
{
	struct cfi_function f;
	int rc = 0;

	*is = true;
	if (!s->open || r->opts.like_perf)
		return 0;
	rc = resolve_find_cfi(r, m, d);
	if (rc || !d->cfi)
		return rc;
	rc = cfi_function(d->cfi, vaddr, &f);
	*is = rc || f.start <= s->start;
	return rc == PP_ENOMEM ? rc : 0;
}

/*
 * A function without a name goes by the file's, and by where the unwind table has its beginning:
 * gzip+0x4a20. *id is 0 if there is none for it.
 */
static int guessed_symbol(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
			  uint32_t *id)
{
	int rc = resolve_find_cfi(r, m, d);
	struct cfi_function f;
	struct buf b = BUF_INIT;
	uint32_t *slot;

	if (rc || !d->cfi)
		return rc;
	rc = cfi_function(d->cfi, vaddr, &f);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	slot = map64_put(&d->guessed, f.start, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		cfi_function_name(&f, d->path, &b);
		rc = b.err ? b.err
			   : resolve_put_guessed(r, m->source, buf_str(&b), d->out, &f, slot);
		buf_release(&b);
	}
	*id = *slot;
	return rc;
}

/*
 * The symbol and the DSO-relative address of an offset in a DSO that is mapped. *ret becomes false
 * if the offset is no return address after all.
 */
static int user_symbol(struct resolver *r, struct machine *m, struct rdso *d, uint64_t off,
		       bool *ret, struct ps_frame *f)
{
	bool call = *ret, known, found, is = false;
	struct symbol s;
	int rc = resolve_load(r, m, d);

	f->dso = d->out;
	if (!rc && d->jit) {
		f->addr = off;
		return resolve_jit_symbol(r, m, d->jit, off - call, &f->symbol, &f->reason);
	}
	if (rc)
		return rc;
	known = !resolve_vaddr(m, d, off - call, &f->addr);
	found = known && find_code(d->table, f->addr, ret, &s);
	if (found)
		rc = resolve_is_of(r, m, d, f->addr, &s, &is);
	/* In the kernel, where a thread goes on may lie after the function's last instruction. */
	if (!rc && found && !is && !call && f->addr > s.start)
		rc = resolve_is_of(r, m, d, f->addr - 1, &s, &is);
	if (!rc && is)
		rc = table_symbol(r, m->source, d, d->table, &s, d->out, &f->symbol);
	if (!rc && !f->symbol)
		rc = resolve_recorded(r, m, d, off - call, f->addr, &f->symbol);
	if (!f->symbol) {
		f->reason = d->dynamic ? PS_REASON_DYNAMIC
			    : d->table ? PS_REASON_NO_SYMBOL
				       : d->reason;
		if (!rc && known && !r->opts.no_guessed && !r->opts.like_perf)
			rc = guessed_symbol(r, m, d, f->addr, &f->symbol);
	}
	f->addr += call;
	return rc;
}

static int user_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		      bool ret, uint32_t *id)
{
	const struct map *map = sp ? space_find(sp, ip - ret) : NULL;
	struct ps_frame f = {0};
	struct frame_map *frames;
	struct map code;
	uint64_t off;
	struct rdso *d;
	bool found;
	int rc;

	/* perf knows nothing of code in a memfd; a program in one stays what it is. */
	if (sp && (!map || r->dsos.v[map->dso - 1]->memfd)) {
		rc = unmapped_code(r, m, sp, ip - ret, &code, &found);
		if (rc)
			return rc;
		if (found)
			map = &code;
	}
	if (!map)
		return nowhere_frame(r, m, MODE_USER,
				     sp ? PS_REASON_NO_MAPPING : PS_REASON_NO_CONTEXT, id);
	d = r->dsos.v[map->dso - 1];
	off = ip - map->start + map->pgoff;
	frames = &d->frames[ret];
	*id = frame_map_get(frames, off);
	if (*id)
		return 0;
	rc = user_symbol(r, m, d, off, &ret, &f);
	if (!rc)
		rc = put_frames(r, m, d, f.addr - ret, &f, id);
	return rc ? rc : keep_frame(r, frames, off, id);
}

int resolve_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		  enum mode mode, bool ret, uint32_t *id)
{
	struct recent_frame *set = recent_set(&r->seen, ip);
	uint32_t space, what;
	bool guest;
	int rc;

	/* Without a marker the upper half of the addresses is the kernel's (x86, arm64, ...). */
	if (mode == MODE_UNKNOWN)
		mode = ip >> 63 ? MODE_KERNEL : MODE_USER;
	ret = ret && !r->opts.like_perf && ip;
	guest = mode == MODE_GUEST_KERNEL && kernel_guest_known(&m->guest.opts);
	if (mode != MODE_KERNEL && mode != MODE_USER && !guest)
		return nowhere_frame(
			r, m, mode,
			mode >= MODE_GUEST_KERNEL ? PS_REASON_GUEST : PS_REASON_NO_CONTEXT, id);
	space = guest ? GUEST_SPACE : mode == MODE_KERNEL ? KERNEL_SPACE : space_key(sp);
	what = m->source << RECENT_SOURCE | (ret ? RECENT_RET : 0);
	for (int i = 0; i < 2 && !(m->source >> (32 - RECENT_SOURCE)); i++) {
		if (set[i].ip == ip && set[i].space == space && set[i].what & RECENT_ID &&
		    !((set[i].what ^ what) & ~(RECENT_ID | RECENT_NAMED))) {
			*id = (set[i].what & RECENT_ID) |
			      (set[i].what & RECENT_NAMED ? 0 : FRAME_UNKNOWN);
			return 0;
		}
	}
	rc = mode == MODE_USER ? user_frame(r, m, sp, ip, ret, id)
			       : kernel_frame(r, m, guest, ip, ret, id);
	if (rc || m->source >> (32 - RECENT_SOURCE) || (*id & ~FRAME_UNKNOWN) == m->nowhere[0])
		return rc;
	set[1] = set[0];
	set[0] = (struct recent_frame){
		ip, space, what | (*id & RECENT_ID) | (*id & FRAME_UNKNOWN ? 0 : RECENT_NAMED)};
	return 0;
}
