#include "symbol/resolve.h"

#include "base/err.h"
#include "base/hashids.h"
#include "base/intern.h"
#include "symbol/demangle.h"
#include "symbol/kernel.h"
#include "symbol/space.h"

#include <stdlib.h>
#include <string.h>

#define CTX_MAX		 ((uint64_t)-4095) /* PERF_CONTEXT_MAX: markers are at and above it */
#define CTX_HV		 ((uint64_t)-32)
#define CTX_KERNEL	 ((uint64_t)-128)
#define CTX_USER	 ((uint64_t)-512)
#define CTX_GUEST_KERNEL ((uint64_t)-2176)
#define CTX_GUEST_USER	 ((uint64_t)-2560)

/* Where an address belongs: the values of PERF_RECORD_MISC_CPUMODE. */
enum mode { MODE_UNKNOWN, MODE_KERNEL, MODE_USER, MODE_HV, MODE_GUEST_KERNEL, MODE_GUEST_USER };

/* A DSO with what has been found in it. */
struct rdso {
	char *path;
	struct build_id id;
	uint32_t flags;
	uint32_t out; /* its id in the output */
	bool loaded;
	uint32_t reason; /* why table is NULL */
	struct symtab *owned;
	const struct symtab *table;
	struct elf_segments segments;
	struct map64
		frames; /* (file offset, or kernel address) * 2 + is return address: frame id */
	uint32_t *symbol_ids; /* by index in the table; 0: not yet defined */
};

/* The machine that a source was recorded on. */
struct machine {
	uint32_t source;
	struct spaces *spaces;
	struct kernel kernel;
	struct map64 dsos;	 /* id in the input: index in r->dsos, + 1 */
	struct map64 modules;	 /* text of a module's name in the kernel's table: likewise */
	struct map64 nowhere[2]; /* address: frame id; without mapping, without context */
	struct map64 ksyms;	 /* start of an announced symbol: symbol id */
	uint32_t kernel_dso;	 /* index in r->dsos, + 1; 0: not yet known */
	struct kernel_opts kernel_opts;
};

/*
 * Frames that were found last, by address: most of a new chain's addresses are those of a chain just
 * before, and one look here is a third of a search for the mapping and one in its DSO.
 */
#define RECENT_FRAMES 8192 /* a power of two */

struct recent_frame {
	uint64_t ip;
	uint64_t space; /* space_key, or kernel_key; 0: none */
	uint32_t frame;
	uint32_t ret;
};

/* What a chain was resolved to, and in which space. */
struct chain_state {
	uint64_t space; /* source and serial; 0: not yet */
	uint32_t stack;
	uint32_t frames, unknown;
};

struct resolver {
	struct resolver_opts opts;
	struct swriter *w;
	struct diag *d;
	struct rdso **dsos;
	uint32_t ndsos, dsos_cap;
	struct machine **machines; /* by source */
	uint32_t nmachines;
	struct chain_state *chains; /* by chain id */
	uint32_t nchains;
	uint32_t nframes, nsymbols;
	struct hashids stacks;
	struct buf name; /* of the demangler */
	struct resolver_stats stats;
	uint32_t frames[RESOLVE_DEPTH_MAX];
	uint8_t *known; /* by frame id: has a symbol */
	struct recent_frame recent[RECENT_FRAMES];
};

int resolver_new(struct resolver **out, const struct resolver_opts *opts, struct swriter *w,
		 struct diag *d)
{
	struct resolver *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return PP_ENOMEM;
	r->opts = *opts;
	r->w = w;
	r->d = d;
	r->stacks =
		(struct hashids){.max_ids = RESOLVE_STACK_IDS, .max_bytes = RESOLVE_STACK_BYTES};
	r->known = malloc(RESOLVE_FRAMES_MAX + 1);
	if (r->known)
		return 0;
	free(r);
	*out = NULL;
	return PP_ENOMEM;
}

static void machine_free(struct machine *m)
{
	if (!m)
		return;
	spaces_free(m->spaces);
	kernel_release(&m->kernel);
	map64_release(&m->dsos);
	map64_release(&m->modules);
	map64_release(&m->nowhere[0]);
	map64_release(&m->nowhere[1]);
	map64_release(&m->ksyms);
	free(m);
}

/* Forgets everything that a stream defined. */
static void resolver_reset(struct resolver *r)
{
	for (uint32_t i = 0; i < r->ndsos; i++) {
		symtab_free(r->dsos[i]->owned);
		map64_release(&r->dsos[i]->frames);
		free(r->dsos[i]->symbol_ids);
		free(r->dsos[i]->path);
		free(r->dsos[i]);
	}
	for (uint32_t i = 0; i < r->nmachines; i++)
		machine_free(r->machines[i]);
	if (r->nchains)
		memset(r->chains, 0, r->nchains * sizeof(*r->chains));
	hashids_clear(&r->stacks);
	memset(r->recent, 0, sizeof(r->recent));
	r->ndsos = r->nmachines = r->nframes = r->nsymbols = 0;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	resolver_reset(r);
	free(r->dsos);
	free(r->machines);
	free(r->chains);
	free(r->known);
	hashids_release(&r->stacks);
	buf_release(&r->name);
	free(r);
}

const struct resolver_stats *resolver_stats(const struct resolver *r)
{
	return &r->stats;
}

static int machine_of(struct resolver *r, uint32_t source, struct machine **out)
{
	struct machine *m;

	if (source >= r->nmachines) {
		uint32_t n = source + 1;
		struct machine **v = realloc(r->machines, n * sizeof(struct machine *));

		if (!v)
			return PP_ENOMEM;
		memset(v + r->nmachines, 0, (n - r->nmachines) * sizeof(struct machine *));
		r->machines = v;
		r->nmachines = n;
	}
	m = r->machines[source];
	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m || spaces_new(&m->spaces)) {
			free(m);
			return PP_ENOMEM;
		}
		m->source = source;
		m->kernel_opts =
			(struct kernel_opts){r->opts.kallsyms, r->opts.vmlinux, &r->opts.search};
		kernel_init(&m->kernel, &m->kernel_opts, r->d);
		r->machines[source] = m;
	}
	*out = m;
	return 0;
}

/* ---- DSOs ---- */

/* A new DSO, also written to the output. *index is its place + 1. */
static int add_dso(struct resolver *r, uint32_t source, struct ps_str path, struct ps_str build_id,
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

static int on_dso(struct resolver *r, struct machine *m, const struct ps_dso *rec)
{
	uint32_t *slot = map64_put(&m->dsos, rec->id, NULL), index;
	int rc;

	if (!slot)
		return PP_ENOMEM;
	rc = add_dso(r, m->source, rec->path, rec->build_id, rec->flags, &index);
	if (rc)
		return rc;
	*slot = index;
	if ((rec->flags & PS_DSO_KERNEL) && !(rec->flags & PS_DSO_GUEST)) {
		m->kernel_dso = index;
		m->kernel.id = r->dsos[index - 1]->id;
	}
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
	case SYMTAB_BUILD_ID:
	case SYMTAB_CRC: return PS_REASON_BUILD_ID;
	case SYMTAB_STRIPPED: return PS_REASON_STRIPPED;
	case SYMTAB_NOT_ELF:
	case SYMTAB_UNSUPPORTED: return PS_REASON_NOT_ELF;
	default: return PS_REASON_CORRUPT;
	}
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

static int load_file(struct resolver *r, struct rdso *d)
{
	enum symtab_reason why = SYMTAB_OK;
	struct dso_file f;
	int rc = dso_file_find(d->path, &d->id, &r->opts.search, &f);

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
	}
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
	else if (!strncmp(d->path, "//anon", 6) || !strncmp(d->path, "/memfd:", 7))
		d->reason = PS_REASON_JIT;
	else if (d->flags & PS_DSO_NO_FILE)
		d->reason = PS_REASON_ANON;
	else
		rc = load_file(r, d);
	if (!rc && d->table) {
		d->symbol_ids = calloc((size_t)symtab_count(d->table) + 1, sizeof(uint32_t));
		if (!d->symbol_ids)
			rc = PP_ENOMEM;
	}
	return rc;
}

/* ---- symbols and frames ---- */

static int put_symbol(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
		      uint64_t addr, uint64_t size, uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso, .addr = addr, .size = size};
	const char *shown = r->opts.no_demangle ? name : demangle(name, &r->name);

	if (r->nsymbols >= RESOLVE_SYMBOLS_MAX)
		return PP_ELIMIT;
	rec.id = *id = ++r->nsymbols;
	rec.name = ps_str(shown, strlen(shown));
	if (shown != name)
		rec.linkage = ps_str(name, strlen(name));
	return swriter_put(r->w, PS_SYMBOL, source, &rec);
}

/* The symbol of a table entry, defined in the output at its first use. */
static int table_symbol(struct resolver *r, uint32_t source, struct rdso *d, const struct symtab *t,
			const struct symbol *s, uint32_t dso_out, uint32_t *id)
{
	uint32_t *slot = &d->symbol_ids[s->index];
	int rc = 0;

	if (!*slot)
		rc = put_symbol(r, source, symtab_text(t, s->name), dso_out, s->start,
				s->end - s->start, slot);
	*id = *slot;
	return rc;
}

/* Forgets frames and stacks: their ids begin again. */
static void restart_ids(struct resolver *r)
{
	for (uint32_t i = 0; i < r->ndsos; i++)
		map64_clear(&r->dsos[i]->frames);
	for (uint32_t i = 0; i < r->nmachines; i++)
		for (int k = 0; r->machines[i] && k < 2; k++)
			map64_clear(&r->machines[i]->nowhere[k]);
	if (r->nchains)
		memset(r->chains, 0, r->nchains * sizeof(*r->chains));
	hashids_clear(&r->stacks);
	memset(r->recent, 0, sizeof(r->recent));
	r->nframes = 0;
}

static int put_frame(struct resolver *r, uint32_t source, struct ps_frame *f, uint32_t *id)
{
	f->id = *id = ++r->nframes;
	r->known[f->id] = f->symbol != 0;
	r->stats.reasons[f->reason]++;
	return swriter_put(r->w, PS_FRAME, source, f);
}

/* A frame without a mapping. */
static int nowhere_frame(struct resolver *r, struct machine *m, uint64_t ip, enum mode mode,
			 uint32_t reason, uint32_t *id)
{
	uint32_t *slot = map64_put(&m->nowhere[reason == PS_REASON_NO_CONTEXT], ip, NULL);
	struct ps_frame f = {.addr = ip, .reason = reason};
	int rc = 0;

	if (!slot)
		return PP_ENOMEM;
	if (mode == MODE_HV || mode == MODE_GUEST_KERNEL)
		f.flags = PS_FRAME_KERNEL;
	if (mode >= MODE_GUEST_KERNEL)
		f.flags |= PS_FRAME_GUEST;
	if (!*slot)
		rc = put_frame(r, m->source, &f, slot);
	*id = *slot;
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
			   : add_dso(r, m->source, ps_str(buf_str(&b), b.len), ps_str(NULL, 0),
				     PS_DSO_KERNEL | PS_DSO_MODULE, slot);
		buf_release(&b);
	}
	if (!rc)
		*out = r->dsos[*slot - 1]->out;
	return rc;
}

/* The DSO of the kernel, with its table. */
static int kernel_dso(struct resolver *r, struct machine *m, struct rdso **d)
{
	int rc;

	if (!m->kernel_dso) {
		rc = add_dso(r, m->source, ps_str("[kernel.kallsyms]", 17), ps_str(NULL, 0),
			     PS_DSO_KERNEL, &m->kernel_dso);
		if (rc)
			return rc;
	}
	*d = r->dsos[m->kernel_dso - 1];
	if ((*d)->loaded)
		return 0;
	(*d)->loaded = true;
	(*d)->table = kernel_symbols(&m->kernel, &(*d)->reason);
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
		int rc = put_symbol(r, m->source, k->name, r->dsos[m->kernel_dso - 1]->out,
				    k->start, k->end - k->start, slot);

		if (rc)
			return rc;
	}
	*id = *slot;
	return 0;
}

static int kernel_frame(struct resolver *r, struct machine *m, uint64_t ip, bool ret, uint32_t *id)
{
	struct ps_frame f = {.flags = PS_FRAME_KERNEL, .addr = ip};
	struct symbol s;
	struct rdso *d;
	uint32_t *slot;
	int rc = kernel_dso(r, m, &d);

	if (rc)
		return rc;
	slot = map64_put(&d->frames, ip * 2 + ret, NULL);
	if (!slot)
		return PP_ENOMEM;
	*id = *slot;
	if (*slot)
		return 0;
	f.dso = d->out;
	rc = announced_symbol(r, m, ip - ret, &f.symbol);
	if (!rc && !f.symbol && !symtab_find(d->table, ip - ret, &s)) {
		if (s.module)
			rc = module_dso(r, m, d->table, s.module, &f.dso);
		if (!rc)
			rc = table_symbol(r, m->source, d, d->table, &s, f.dso, &f.symbol);
	}
	if (!f.symbol)
		f.reason = d->table ? PS_REASON_NO_SYMBOL : d->reason;
	if (!rc)
		rc = put_frame(r, m->source, &f, slot);
	*id = *slot;
	return rc;
}

static int user_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		      bool ret, uint32_t *id)
{
	const struct map *map = sp ? space_find(sp, ip - ret) : NULL;
	struct ps_frame f = {0};
	struct symbol s;
	struct rdso *d;
	uint32_t *slot;
	uint64_t off;
	int rc;

	if (!map)
		return nowhere_frame(r, m, ip, MODE_USER,
				     sp ? PS_REASON_NO_MAPPING : PS_REASON_NO_CONTEXT, id);
	d = r->dsos[map->dso - 1];
	off = ip - map->start + map->pgoff;
	slot = map64_put(&d->frames, off * 2 + ret, NULL);
	if (!slot)
		return PP_ENOMEM;
	*id = *slot;
	if (*slot)
		return 0;
	rc = load(r, m, d);
	if (rc)
		return rc;
	f.dso = d->out;
	if (elf_segments_vaddr(&d->segments, off - ret, &f.addr))
		f.addr = off - ret;
	if (!symtab_find(d->table, f.addr, &s))
		rc = table_symbol(r, m->source, d, d->table, &s, d->out, &f.symbol);
	f.addr += ret;
	if (!f.symbol)
		f.reason = d->table ? PS_REASON_NO_SYMBOL : d->reason;
	if (!rc)
		rc = put_frame(r, m->source, &f, slot);
	*id = *slot;
	return rc;
}

/* ---- stacks ---- */

static enum mode mode_of_marker(uint64_t ip)
{
	switch (ip) {
	case CTX_HV: return MODE_HV;
	case CTX_KERNEL: return MODE_KERNEL;
	case CTX_USER: return MODE_USER;
	case CTX_GUEST_KERNEL: return MODE_GUEST_KERNEL;
	case CTX_GUEST_USER: return MODE_GUEST_USER;
	}
	return MODE_UNKNOWN;
}

/* What a resolved chain is valid for: never 0. */
static uint64_t space_key(const struct machine *m, const struct space *sp)
{
	return ((uint64_t)m->source + 1) << 32 | (sp ? space_serial(sp) : 0);
}

/* The same for what is found without the mappings of a process. */
static uint64_t kernel_key(const struct machine *m)
{
	return ((uint64_t)m->source + 1) << 32 | UINT32_MAX;
}

static int frame_of(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
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
		return nowhere_frame(r, m, ip, mode, PS_REASON_NO_CONTEXT, id);
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

static int put_stack(struct resolver *r, uint32_t source, uint32_t n, uint32_t *id)
{
	struct ps_stack rec = {.frames = {r->frames, n}};
	bool fresh;
	int rc = hashids_get(&r->stacks, r->frames, n * sizeof(uint32_t), id, &fresh);

	if (rc || !fresh)
		return rc;
	/* Ids begin again: what chains point to is no longer what it was. */
	if (*id == 1 && r->nchains)
		memset(r->chains, 0, r->nchains * sizeof(*r->chains));
	rec.id = *id;
	return swriter_put(r->w, PS_STACK, source, &rec);
}

static int resolve_chain(struct resolver *r, struct machine *m, struct space *sp,
			 const struct ps_chain *c, enum mode mode, struct chain_state *st)
{
	uint32_t n = 0;
	bool ret = false;

	/* Room for the frames of this chain, before ids of an older numbering are in it. */
	if (r->nframes + c->ips.n >= RESOLVE_FRAMES_MAX)
		restart_ids(r);
	st->unknown = 0;
	for (uint32_t i = 0; i < c->ips.n && n < RESOLVE_DEPTH_MAX; i++) {
		uint64_t ip = c->ips.v[i];
		int rc;

		if (ip >= CTX_MAX) {
			/* What a marker announces begins with an address that was not called from. */
			mode = mode_of_marker(ip);
			ret = false;
			/* Garbage that looks like a marker, or one of the future: what follows it is
			 * not known. perf throws the whole chain away then. */
			if (mode == MODE_UNKNOWN && r->opts.like_perf)
				n = st->unknown = 0;
			if (mode == MODE_UNKNOWN)
				break;
			continue;
		}
		rc = frame_of(r, m, sp, ip, mode, ret, &r->frames[n]);
		if (rc)
			return rc;
		st->unknown += !r->known[r->frames[n++]];
		ret = true;
	}
	st->frames = n;
	return put_stack(r, m->source, n, &st->stack);
}

/* The state of a chain id; NULL: out of memory. */
static struct chain_state *chain_state(struct resolver *r, uint32_t id)
{
	if (id >= r->nchains) {
		uint32_t n = r->nchains ? r->nchains : 4096;
		struct chain_state *v;

		while (n <= id)
			n *= 2;
		v = realloc(r->chains, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + r->nchains, 0, (n - r->nchains) * sizeof(*v));
		r->chains = v;
		r->nchains = n;
	}
	return &r->chains[id];
}

/* Whether a chain has addresses whose meaning depends on the process. */
static bool has_user(const struct ps_chain *c, enum mode mode)
{
	for (uint32_t i = 0; i < c->ips.n; i++) {
		if (c->ips.v[i] >= CTX_MAX)
			mode = mode_of_marker(c->ips.v[i]);
		else if (mode == MODE_USER || (mode == MODE_UNKNOWN && !(c->ips.v[i] >> 63)))
			return true;
	}
	return false;
}

static int chain_stack(struct resolver *r, struct machine *m, const struct ps_chain *c,
		       const struct ps_sample *s, struct chain_state **out)
{
	enum mode mode = (s->flags & PS_SAMPLE_MODE_MASK) >> PS_SAMPLE_MODE_SHIFT;
	struct chain_state *st = chain_state(r, c->id), found = {0};
	struct space *sp = spaces_get(m->spaces, s->pid);
	int rc;

	if (!st)
		return PP_ENOMEM;
	*out = st;
	if (st->space == kernel_key(m) || st->space == space_key(m, sp))
		return 0;
	rc = resolve_chain(r, m, sp, c, mode, &found);
	if (rc)
		return rc;
	/* Looking up can have changed nothing of the space but that a miss is remembered. */
	found.space = has_user(c, mode) ? space_key(m, sp) : kernel_key(m);
	*st = found;
	return 0;
}

/* A sample without a call chain: its instruction pointer is a stack of one frame. */
static int ip_stack(struct resolver *r, struct machine *m, struct ps_sample *s)
{
	enum mode mode = (s->flags & PS_SAMPLE_MODE_MASK) >> PS_SAMPLE_MODE_SHIFT;
	int rc;

	if (r->nframes + 1 >= RESOLVE_FRAMES_MAX)
		restart_ids(r);
	rc = frame_of(r, m, spaces_get(m->spaces, s->pid), s->ip, mode, false, &r->frames[0]);
	if (rc)
		return rc;
	r->stats.frames++;
	r->stats.unknown += !r->known[r->frames[0]];
	return put_stack(r, m->source, 1, &s->stack);
}

static int on_sample(struct resolver *r, struct machine *m, const struct sreader *in,
		     const struct ps_sample *from)
{
	const struct ps_chain *c;
	struct ps_sample s = *from;
	struct chain_state *st;
	int rc = 0;

	r->stats.samples++;
	if (!r->opts.like_perf &&
	    (s.flags & PS_SAMPLE_MODE_MASK) == MODE_USER << PS_SAMPLE_MODE_SHIFT &&
	    spaces_settle(m->spaces, s.pid))
		return PP_ENOMEM;
	r->stats.user_stacks += ps_sample_has(&s, user_stack);
	c = ps_sample_has(&s, chain) ? sreader_chain(in, s.chain) : NULL;
	if (c) {
		rc = chain_stack(r, m, c, &s, &st);
		if (rc)
			return rc;
		s.stack = st->stack;
		r->stats.frames += st->frames;
		r->stats.unknown += st->unknown;
		s.fields |= PS_HAS(stack);
	} else if (ps_sample_has(&s, ip)) {
		rc = ip_stack(r, m, &s);
		if (rc)
			return rc;
		s.fields |= PS_HAS(stack);
	}
	return swriter_sample(r->w, m->source, &s);
}

/* ---- context ---- */

static int on_mmap(struct resolver *r, struct machine *m, const struct ps_mmap *rec)
{
	uint32_t *index = map64_get(&m->dsos, rec->dso);
	struct ps_mmap out = *rec;
	int rc = 0;

	out.dso = index ? r->dsos[*index - 1]->out : 0;
	if (rec->flags & PS_MMAP_KERNEL) {
		if (index && *index == m->kernel_dso)
			kernel_mapping(&m->kernel, rec->pgoff);
	} else if (index && !(rec->flags & (PS_MMAP_DATA | PS_MMAP_GUEST))) {
		struct map map = {.start = rec->addr, .pgoff = rec->pgoff, .dso = *index};

		if (__builtin_add_overflow(rec->addr, rec->len, &map.end))
			map.end = UINT64_MAX;
		rc = spaces_map(m->spaces, rec->pid, &map);
		/* More mappings than a process can have: the recording is damaged, not this filter. */
		if (rc == PP_ELIMIT)
			rc = 0;
	}
	return rc ? rc : swriter_put(r->w, PS_MMAP, m->source, &out);
}

static int on_fork(struct machine *m, const struct ps_fork *f)
{
	if (f->pid == f->ppid)
		return 0;
	/* A process that perf found running announces its own mappings. */
	if (f->flags & 1) {
		spaces_clear(m->spaces, f->pid);
		return 0;
	}
	return spaces_fork(m->spaces, f->pid, f->ppid);
}

static int on_ksymbol(struct machine *m, const struct ps_ksymbol *k, struct resolver *r)
{
	/* What was resolved in the kernel before may now be something else. */
	if (m->kernel_dso)
		map64_clear(&r->dsos[m->kernel_dso - 1]->frames);
	if (r->nchains)
		memset(r->chains, 0, r->nchains * sizeof(*r->chains));
	memset(r->recent, 0, sizeof(r->recent));
	map64_del(&m->ksyms, k->addr);
	return kernel_ksymbol(&m->kernel, k->addr, k->len, k->name.p, k->name.len, k->flags & 1);
}

int resolver_record(struct resolver *r, const struct sreader *in, const struct ps_record *rec)
{
	struct machine *m;
	struct chain_state *st;
	int rc;

	if (rec->type == PS_HEADER) {
		resolver_reset(r);
		return 0;
	}
	rc = machine_of(r, rec->source, &m);
	if (rc)
		return rc;
	switch (rec->type) {
	case PS_SAMPLE: return on_sample(r, m, in, &rec->sample);
	case PS_DSO: return on_dso(r, m, &rec->dso);
	case PS_MMAP: return on_mmap(r, m, &rec->mmap);
	/* Another psym's work is done again. */
	case PS_SYMBOL:
	case PS_FRAME:
	case PS_STACK:
	case PS_SRCFILE: return 0;
	case PS_CHAIN:
		st = chain_state(r, rec->chain.id);
		if (!st)
			return PP_ENOMEM;
		*st = (struct chain_state){0};
		break;
	case PS_FORK: rc = on_fork(m, &rec->fork); break;
	case PS_EXIT:
		if (rec->exit.pid == rec->exit.tid)
			spaces_exit(m->spaces, rec->exit.pid);
		break;
	case PS_COMM:
		if (rec->comm.flags & PS_COMM_EXEC)
			rc = spaces_exec(m->spaces, rec->comm.pid);
		break;
	case PS_KSYMBOL: rc = on_ksymbol(m, &rec->ksymbol, r); break;
	case PS_META:
		kernel_meta(&m->kernel, rec->meta.key.p, rec->meta.key.len, rec->meta.value.p,
			    rec->meta.value.len);
		break;
	case PS_BLOB:
		if (rec->blob.kind == 1 && (rc = kernel_blob(&m->kernel, rec->blob.data.p,
							     rec->blob.data.len)) == PP_ELIMIT)
			rc = 0;
		break;
	}
	if (!rc)
		rc = swriter_copy(r->w, rec);
	return rc == PP_EUNSUPPORTED ? 0 : rc;
}
