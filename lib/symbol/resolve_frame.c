#include "symbol/resolve_parts.h"

#include "base/err.h"
#include "symbol/demangle.h"
#include "symbol/kmodule.h"
#include "symbol/symtab_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rdso_free(struct rdso *d)
{
	symtab_free(d->owned);
	for (int ret = 0; ret < 2; ret++)
		map64_release(&d->frames[ret]);
	resolve_lines_release(d);
	free(d->symbol_ids);
	buf_release(&d->tried);
	free(d->found);
	free(d->path);
	free(d);
}

/* ---- DSOs ---- */

int resolve_add_dso(struct resolver *r, uint32_t source, struct ps_str path, struct ps_str build_id,
		    uint32_t flags, uint32_t *index)
{
	struct rdso *d;
	struct ps_dso rec;

	if (r->ndsos >= RESOLVE_DSOS_MAX)
		return PP_ELIMIT;
	if (r->ndsos == r->dsos_cap) {
		uint32_t cap = r->dsos_cap ? r->dsos_cap * 2 : 64;
		struct rdso **v = realloc(r->dsos, cap * sizeof(struct rdso *));

		if (!v)
			return PP_ENOMEM;
		r->dsos = v;
		r->dsos_cap = cap;
	}
	d = calloc(1, sizeof(*d));
	if (d)
		d->path = strndup(path.len ? path.p : "", path.len);
	if (!d || !d->path) {
		free(d);
		return PP_ENOMEM;
	}
	d->id = build_id_make(build_id.p, build_id.len);
	d->flags = flags;
	d->out = r->ndsos + 1;
	r->dsos[r->ndsos++] = d;
	*index = r->ndsos;
	rec = (struct ps_dso){.id = d->out, .flags = flags, .path = path, .build_id = build_id};
	return swriter_put(r->w, PS_DSO, source, &rec);
}

int resolve_dso(struct resolver *r, struct machine *m, const struct ps_dso *rec)
{
	uint32_t *slot = map64_put(&r->by_id, rec->id, NULL), index;
	int rc;

	if (!slot)
		return PP_ENOMEM;
	rc = resolve_add_dso(r, m->source, rec->path, rec->build_id, rec->flags, &index);
	if (rc)
		return rc;
	*slot = index;
	/* A module is not the kernel, though another psym calls it part of it. */
	if ((rec->flags & (PS_DSO_KERNEL | PS_DSO_MODULE | PS_DSO_GUEST)) == PS_DSO_KERNEL) {
		m->kernel_dso = index;
		m->kernel.id = r->dsos[index - 1]->id;
	}
	return 0;
}

/* Whether a DSO is the one that resolve_generated makes; `pid` is whose. */
static bool is_generated(const struct rdso *d, uint32_t *pid)
{
	int n = 0;

	return (d->flags & PS_DSO_NO_FILE) &&
	       sscanf(d->path, "/tmp/perf-%" SCNu32 ".map%n", pid, &n) == 1 && n && !d->path[n];
}

int resolve_generated(struct resolver *r, struct machine *m, uint32_t pid, uint32_t *index,
		      bool *absolute)
{
	static const char *const names[] = {"//anon", "/dev/zero", "/anon_hugepage",
					    "[stack", "/SYSV",	   "[heap]"};
	const struct rdso *d = r->dsos[*index - 1];
	size_t i = 0;

	*absolute = true;
	if (is_generated(d, &pid))
		return resolve_jit_dso(r, m, pid, index);
	while (i < sizeof(names) / sizeof(names[0]) &&
	       strncmp(d->path, names[i], strlen(names[i])) != 0)
		i++;
	*absolute = (d->flags & PS_DSO_NO_FILE) && i < sizeof(names) / sizeof(names[0]);
	return *absolute ? resolve_jit_dso(r, m, pid, index) : 0;
}

/* Why there are no symbols, from the file's point of view to the stream's. */
static uint32_t reason_of(enum symtab_reason why)
{
	switch (why) {
	case SYMTAB_OK: return PS_REASON_NONE;
	case SYMTAB_NOT_FOUND: return PS_REASON_NO_FILE;
	case SYMTAB_DENIED:
	case SYMTAB_IO: return PS_REASON_NO_ACCESS;
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
	const struct vdso *v = kernel_vdso(&m->kernel, &d->id, &d->reason);

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

/* Where nothing proves that a file is the one that was run, and it hardly can be, it is said. */
static void say_unproven(struct resolver *r, const struct machine *m, const struct dso_file *f)
{
	if (m->elsewhere && !f->proven && f->binary && !r->opts.search.n_symfs)
		diag_warn(r->d, f->binary, -1,
			  "the recording is of another host and has no build-id for it: this one's "
			  "file is used, its names may be wrong (--symfs)");
}

static int load_file(struct resolver *r, const struct machine *m, struct rdso *d)
{
	struct dso_search search = r->opts.search;
	enum symtab_reason why = SYMTAB_OK;
	struct dso_file f;
	int rc;

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
		}
		d->table = d->owned;
		d->reason = reason_of(why);
		d->dynamic = d->table && f.dynamic;
	}
	keep_tried(r, d, &f);
	say_unproven(r, m, &f);
	if (!rc && search.dwarf)
		rc = resolve_take_dwarf(r, d, &f);
	dso_file_release(&f);
	return rc;
}

/* Finds the symbols of a DSO, once. */
static int load(struct resolver *r, struct machine *m, struct rdso *d)
{
	int rc = 0;

	if (d->loaded)
		return 0;
	d->loaded = true;
	if (!strcmp(d->path, "[vdso]"))
		rc = load_vdso(m, d);
	else if (!strcmp(d->path, "[vsyscall]"))
		rc = load_vsyscall(d);
	else if (d->jit || !strncmp(d->path, "/memfd:", 7))
		d->reason = PS_REASON_JIT;
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

/* ---- symbols and frames ---- */

static int put_symbol(struct resolver *r, uint32_t source, const char *name, struct ps_symbol *rec,
		      uint32_t *id)
{
	const char *shown = r->opts.no_demangle ? name : demangle(name, &r->name);

	if (r->nsymbols >= RESOLVE_SYMBOLS_MAX)
		return PP_ELIMIT;
	rec->id = *id = ++r->nsymbols;
	rec->name = ps_str(shown, strlen(shown));
	if (shown != name)
		rec->linkage = ps_str(name, strlen(name));
	return swriter_put(r->w, PS_SYMBOL, source, rec);
}

int resolve_put_symbol(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
		       uint64_t addr, uint64_t size, uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso, .addr = addr, .size = size};

	return put_symbol(r, source, name, &rec, id);
}

int resolve_put_inlined(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
			uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso, .flags = 1};

	return put_symbol(r, source, name, &rec, id);
}

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

void resolve_restart(struct resolver *r)
{
	for (uint32_t i = 0; i < r->ndsos; i++)
		for (int ret = 0; ret < 2; ret++)
			map64_clear(&r->dsos[i]->frames[ret]);
	for (uint32_t i = 0; i < r->nmachines; i++)
		if (r->machines[i]) {
			memset(r->machines[i]->nowhere, 0, sizeof(r->machines[i]->nowhere));
			map64_clear(&r->machines[i]->text_frames);
		}
	resolve_forget_chains(r);
	hashids_clear(&r->stacks);
	r->restarts++;
	r->nframes = 0;
}

int resolve_put_frame(struct resolver *r, uint32_t source, struct ps_frame *f, uint32_t *id)
{
	f->id = *id = ++r->nframes;
	r->miss[f->id] = f->symbol	   ? 0
			 : r->opts.missing ? missing_pair(&r->missing, f->dso, f->reason)
					   : 1;
	if (r->inlined)
		r->inlined[f->id] = (f->flags & PS_FRAME_INLINED) != 0;
	r->stats.reasons[f->reason]++;
	return swriter_put(r->w, PS_FRAME, source, f);
}

/*
 * A frame without a mapping. One stands for all of its kind: the address is that of the call chain, and
 * garbage in chains (code without frame pointers) would otherwise make most of the frames.
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
	*id = *known;
	return rc;
}

/* The module that a kernel symbol belongs to, as a DSO of its own: "[ext4]". */
static int module_dso(struct resolver *r, struct machine *m, const struct symtab *t,
		      uint32_t module, uint32_t *out)
{
	uint32_t *slot = map64_put(&m->modules, module, NULL);
	struct buf b = BUF_INIT;
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		buf_addf(&b, "[%s]", symtab_text(t, module));
		rc = b.err ? b.err
			   : resolve_add_dso(r, m->source, ps_str(buf_str(&b), b.len),
					     ps_str(NULL, 0), PS_DSO_KERNEL | PS_DSO_MODULE, slot);
		buf_release(&b);
	}
	if (!rc)
		*out = r->dsos[*slot - 1]->out;
	return rc;
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
		rc = kmodule_path(o->symfs[i], m->kernel.osrelease, name, path);
	if (rc)
		rc = kmodule_path(NULL, m->kernel.osrelease, name, path);
	if (rc && r->opts.missing)
		buf_addf(&d->tried, "/lib/modules/%s/modules.dep: names no module %s\n",
			 m->kernel.osrelease, name);
	return rc;
}

/* The DSO of the kernel, with its table. */
static int kernel_dso(struct resolver *r, struct machine *m, struct rdso **d)
{
	int rc;

	if (!m->kernel_dso) {
		rc = resolve_add_dso(r, m->source, ps_str("[kernel.kallsyms]", 17), ps_str(NULL, 0),
				     PS_DSO_KERNEL, &m->kernel_dso);
		if (rc)
			return rc;
	}
	*d = r->dsos[m->kernel_dso - 1];
	if ((*d)->loaded)
		return 0;
	(*d)->loaded = true;
	(*d)->table = kernel_symbols(&m->kernel, &(*d)->reason);
	(*d)->delta = m->kernel.delta;
	if (r->opts.inlines || r->opts.srcline)
		(*d)->dwarf = kernel_image(&m->kernel);
	if (r->opts.missing && !(*d)->table)
		buf_adds(&(*d)->tried, buf_str(&m->kernel.tried));
	(*d)->symbol_ids = calloc((size_t)symtab_count((*d)->table) + 1, sizeof(uint32_t));
	return (*d)->symbol_ids ? 0 : PP_ENOMEM;
}

/* A symbol that the recording announced (KSYMBOL), if there is one at the address. */
static int announced_symbol(struct resolver *r, struct machine *m, uint64_t addr, uint32_t *id)
{
	const struct ksymbol *k = kernel_find_ksymbol(&m->kernel, addr);
	uint32_t *slot;

	*id = 0;
	if (!k)
		return 0;
	slot = map64_put(&m->ksyms, k->start, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		int rc = resolve_put_symbol(r, m->source, k->name, r->dsos[m->kernel_dso - 1]->out,
					    k->start, k->end - k->start, slot);

		if (rc)
			return rc;
	}
	*id = *slot;
	return 0;
}

/* The symbols of a module from its file, at the place where it was loaded. */
static int load_module(struct resolver *r, struct machine *m, struct rdso *d)
{
	struct elf_symtab_opts opts = {.no_plt = true, .module_base = d->base};
	char path[ROOT_PATH_MAX], name[128];
	enum symtab_reason why = SYMTAB_NOT_FOUND;
	struct dso_file f;
	int rc;

	d->loaded = true;
	d->reason = PS_REASON_NO_MODULE;
	if (!d->base)
		return 0;
	if (d->path[0] == '/')
		snprintf(path, sizeof(path), "%s", d->path);
	else if (find_module(r, m, d, name, sizeof(name), path))
		return 0;
	rc = dso_file_find(path, &d->id, &r->opts.search, &f);
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
	dso_file_release(&f);
	if (rc && rc != PP_ENOMEM)
		return 0;
	if (!rc) {
		d->symbol_ids = calloc((size_t)symtab_count(d->table) + 1, sizeof(uint32_t));
		rc = d->symbol_ids ? 0 : PP_ENOMEM;
	}
	return rc;
}

/* The symbol of an address in a module that the kernel's own table does not have. */
static int module_symbol(struct resolver *r, struct machine *m, uint32_t index, uint64_t addr,
			 struct ps_frame *f)
{
	struct rdso *d = r->dsos[index - 1];
	struct symbol s;
	int rc = d->loaded ? 0 : load_module(r, m, d);

	f->dso = d->out;
	f->symbol = 0;
	if (!rc && !symtab_find(d->table, addr, &s))
		rc = table_symbol(r, m->source, d, d->table, &s, d->out, &f->symbol);
	if (!f->symbol)
		f->reason = d->table ? PS_REASON_NO_SYMBOL : d->reason;
	return rc;
}

/* The symbol of a kernel address in the kernel's table or a module's. */
static int kernel_symbol(struct resolver *r, struct machine *m, struct rdso *d, uint64_t addr,
			 struct ps_frame *f)
{
	bool found;
	struct symbol s;
	uint32_t index;
	int rc = announced_symbol(r, m, addr, &f->symbol);

	f->dso = d->out;
	if (rc || f->symbol)
		return rc;
	found = !symtab_find(d->table, addr, &s);
	if (!(found && s.module) && (index = ranges_find(&m->kmods, addr)))
		return module_symbol(r, m, index, addr, f);
	if (found && s.module)
		rc = module_dso(r, m, d->table, s.module, &f->dso);
	if (found && !rc)
		rc = table_symbol(r, m->source, d, d->table, &s, f->dso, &f->symbol);
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

static int kernel_frame(struct resolver *r, struct machine *m, uint64_t ip, bool ret, uint32_t *id)
{
	struct ps_frame f = {.flags = PS_FRAME_KERNEL, .addr = ip};
	struct rdso *d;
	uint32_t *slot;
	int rc = kernel_dso(r, m, &d);

	if (rc)
		return rc;
	slot = map64_put(&d->frames[ret], ip, NULL);
	if (!slot)
		return PP_ENOMEM;
	*id = *slot;
	if (*slot)
		return 0;
	rc = kernel_symbol(r, m, d, ip - ret, &f);
	/* The image knows nothing of modules. */
	if (!rc && f.dso == d->out)
		rc = put_frames(r, m, d, ip - ret - d->delta, &f, slot);
	else if (!rc)
		rc = resolve_put_frame(r, m->source, &f, slot);
	*id = *slot;
	return rc;
}

/*
 * The mapping that an address without one is in: generated code, if the process is known to have it.
 * Runtimes that reserve memory first and make it executable later leave no record of that.
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
	rc = resolve_jit_dso(r, m, m->jits[jit - 1].pid, &dso);
	*map = (struct map){.dso = dso};
	*found = !rc;
	return rc;
}

/* The symbol and the DSO-relative address of an offset in a DSO that is mapped. */
static int user_symbol(struct resolver *r, struct machine *m, struct rdso *d, uint64_t off,
		       bool ret, struct ps_frame *f)
{
	struct symbol s;
	int rc = load(r, m, d);

	f->dso = d->out;
	if (!rc && d->jit) {
		f->addr = off;
		return resolve_jit_symbol(r, m, d->jit, off - ret, &f->symbol, &f->reason);
	}
	if (rc)
		return rc;
	if (elf_segments_vaddr(&d->segments, off - ret, &f->addr))
		f->addr = off - ret;
	if (!symtab_find(d->table, f->addr, &s))
		rc = table_symbol(r, m->source, d, d->table, &s, d->out, &f->symbol);
	f->addr += ret;
	if (!f->symbol)
		f->reason = d->dynamic ? PS_REASON_DYNAMIC
			    : d->table ? PS_REASON_NO_SYMBOL
				       : d->reason;
	return rc;
}

static int user_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		      bool ret, uint32_t *id)
{
	const struct map *map = sp ? space_find(sp, ip - ret) : NULL;
	struct ps_frame f = {0};
	struct map code;
	struct rdso *d;
	uint32_t *slot;
	bool found;
	int rc;

	if (!map && sp) {
		rc = unmapped_code(r, m, sp, ip - ret, &code, &found);
		if (rc)
			return rc;
		if (found)
			map = &code;
	}
	if (!map)
		return nowhere_frame(r, m, MODE_USER,
				     sp ? PS_REASON_NO_MAPPING : PS_REASON_NO_CONTEXT, id);
	d = r->dsos[map->dso - 1];
	f.addr = ip - map->start + map->pgoff;
	slot = map64_put(&d->frames[ret], f.addr, NULL);
	if (!slot)
		return PP_ENOMEM;
	*id = *slot;
	if (*slot)
		return 0;
	rc = user_symbol(r, m, d, f.addr, ret, &f);
	if (!rc)
		rc = put_frames(r, m, d, f.addr - ret, &f, slot);
	*id = *slot;
	return rc;
}

int resolve_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		  enum mode mode, bool ret, uint32_t *id)
{
	struct recent_frame *recent;
	uint64_t key;
	int rc;

	/* Without a marker the upper half of the addresses is the kernel's (x86, arm64, ...). */
	if (mode == MODE_UNKNOWN)
		mode = ip >> 63 ? MODE_KERNEL : MODE_USER;
	ret = ret && !r->opts.like_perf && ip;
	if (mode != MODE_KERNEL && mode != MODE_USER)
		return nowhere_frame(
			r, m, mode,
			mode >= MODE_GUEST_KERNEL ? PS_REASON_GUEST : PS_REASON_NO_CONTEXT, id);
	key = mode == MODE_KERNEL ? kernel_key(m) : space_key(m, sp);
	recent = &r->recent[(ip ^ ip >> 13 ^ key * 0x9e3779b1u) & (RECENT_FRAMES - 1)];
	if (recent->ip == ip && recent->space == key && recent->ret == ret) {
		*id = recent->frame;
		return 0;
	}
	rc = mode == MODE_KERNEL ? kernel_frame(r, m, ip, ret, id)
				 : user_frame(r, m, sp, ip, ret, id);
	*recent = (struct recent_frame){ip, key, *id, ret};
	return rc;
}
