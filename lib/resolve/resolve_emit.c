/*
 * Writing what was found: DSOs, symbols, frames, stacks and source files get their ids here and are
 * defined in the output, and ids begin again here when there are too many.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/demangle.h"
#include "symbol/kmodule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int resolve_add_dso(struct resolver *r, uint32_t source, struct ps_str path, struct ps_str build_id,
		    uint32_t flags, uint32_t *index)
{
	char name[KMODULE_NAME_MAX], shown[KMODULE_NAME_MAX + 2];
	struct rdso *d;
	struct ps_dso rec;

	if (r->dsos.n >= RESOLVE_DSOS_MAX)
		return PP_ELIMIT;
	if (r->dsos.n == r->dsos.cap) {
		uint32_t cap = r->dsos.cap ? r->dsos.cap * 2 : 64;
		struct rdso **v = realloc(r->dsos.v, cap * sizeof(struct rdso *));

		if (!v)
			return PP_ENOMEM;
		r->dsos.v = v;
		r->dsos.cap = cap;
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
	d->source = source;
	d->memfd = (flags & PS_DSO_NO_FILE) && !strncmp(d->path, "/memfd:", 7);
	d->out = r->dsos.n + 1;
	r->dsos.v[r->dsos.n++] = d;
	*index = r->dsos.n;
	rec = (struct ps_dso){.id = d->out, .flags = flags, .path = path, .build_id = build_id};
	/* perf shows a module by its name. */
	if (r->opts.like_perf && flags & PS_DSO_MODULE) {
		kmodule_name(d->path, name);
		rec.path = ps_str(shown, (size_t)snprintf(shown, sizeof(shown), "[%s]", name));
	}
	return swriter_put(r->w, PS_DSO, source, &rec);
}

/* A name as it is written: all of it, unless it is too long. */
static struct ps_str bounded_name(struct resolver *r, const char *name)
{
	size_t len = strlen(name);

	if (len > RESOLVE_NAME_MAX) {
		diag_warn(r->d, NULL, -1, "a name of %zu bytes is cut off after %d", len,
			  RESOLVE_NAME_MAX);
		len = RESOLVE_NAME_MAX;
		while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--;
	}
	return ps_str(name, len);
}

static const char *shown_name(struct resolver *r, const char *name)
{
	const char *shown = r->opts.no_demangle ? name : demangle(name, &r->out.name);

	return shown == name && r->opts.demangle_ghc ? demangle_ghc(name, &r->out.name) : shown;
}

static int put_symbol(struct resolver *r, uint32_t source, const char *name, struct ps_symbol *rec,
		      uint32_t *id)
{
	const char *shown = shown_name(r, name);

	if (r->out.name.err)
		return r->out.name.err;
	if (r->out.nsymbols >= RESOLVE_SYMBOLS_MAX)
		return PP_ELIMIT;
	rec->id = *id = ++r->out.nsymbols;
	rec->name = bounded_name(r, shown);
	if (shown != name)
		rec->linkage = bounded_name(r, name);
	return swriter_put(r->w, PS_SYMBOL, source, rec);
}

int resolve_put_symbol(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
		       uint64_t addr, uint64_t size, uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso, .addr = addr, .size = size};

	return put_symbol(r, source, name, &rec, id);
}

int resolve_put_guessed(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
			const struct cfi_function *f, uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso,
				.addr = f->start,
				.size = f->end - f->start,
				.flags = PS_SYMBOL_GUESSED};

	return put_symbol(r, source, name, &rec, id);
}

int resolve_keep_symbol(struct resolver *r, uint32_t source, const struct ps_symbol *sym,
			uint32_t dso, uint32_t *id)
{
	struct ps_symbol rec = *sym;

	if (r->out.nsymbols >= RESOLVE_SYMBOLS_MAX)
		return PP_ELIMIT;
	rec.dso = dso;
	if (r->opts.no_demangle && rec.linkage.len) {
		rec.name = rec.linkage;
		rec.linkage.len = 0;
	}
	rec.id = *id = ++r->out.nsymbols;
	return swriter_put(r->w, PS_SYMBOL, source, &rec);
}

int resolve_put_inlined(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
			uint32_t *id)
{
	struct ps_symbol rec = {.dso = dso, .flags = 1};

	return put_symbol(r, source, name, &rec, id);
}

int resolve_put_frame(struct resolver *r, uint32_t source, struct ps_frame *f, uint32_t *id)
{
	uint16_t miss = !f->symbol || f->reason;

	if (miss && r->opts.missing) {
		miss = missing_pair(&r->lacks.missing, f->dso, f->reason);
		if (!miss)
			return PP_ENOMEM;
	}
	f->id = *id = ++r->out.nframes;
	r->out.miss[f->id] = miss;
	r->out.symbols[f->id] = f->symbol;
	if (r->out.lines)
		r->out.lines[f->id] = (f->flags & PS_FRAME_INLINED ? FRAME_INLINED : 0) |
				      (f->srcfile ? FRAME_LINE : 0);
	r->stats.reasons[f->reason]++;
	return swriter_put(r->w, PS_FRAME, source, f);
}

int resolve_put_stack(struct resolver *r, uint32_t source, uint32_t n, uint32_t flags, uint32_t *id)
{
	struct ps_stack rec = {.flags = flags, .frames = {r->stack.frames, n}};
	bool fresh;
	int rc;

	if (r->w->pack)
		return swriter_stack(r->w, source, &rec, id);
	/* A whole stack and one that was cut off are not the same. */
	r->stack.frames[n] = flags;
	rc = hashids_get(&r->out.stacks, r->stack.frames, (n + 1) * sizeof(uint32_t), id, &fresh);
	if (rc || !fresh)
		return rc;
	/* Ids begin again: what chains point to is no longer what it was. */
	if (*id == 1) {
		resolve_forget_chains(r);
		r->out.restarts++;
	}
	rec.id = *id;
	return swriter_put(r->w, PS_STACK, source, &rec);
}

/* The same in a packed stream, which knows what it has. */
static int put_parts(struct resolver *r, uint32_t source, struct ps_chain *c)
{
	uint32_t before = swriter_parts(r->w, PS_CHAINS);
	int rc;

	if (before >= PS_PARTS_LIVE) {
		swriter_restart(r->w, PS_CHAINS);
		resolve_forget_ids(r);
		r->out.chain_restarts++;
		before = 0;
	}
	rc = swriter_chain(r->w, source, c, &c->id);
	if (!rc && swriter_parts(r->w, PS_CHAINS) != before && c->id < r->seen.nchains)
		r->seen.chains[c->id] = (struct chain_state){0};
	return rc;
}

int resolve_put_chain(struct resolver *r, uint32_t source, struct ps_chain *c)
{
	struct hashids_hash h = hashids_hash(c->ips.v, c->ips.n * sizeof(*c->ips.v));
	bool fresh;
	int rc;

	if (r->w->pack)
		return put_parts(r, source, c);
	/* Chains that ended in different ways are not the same. */
	h.low += c->flags * UINT64_C(0x9e3779b97f4a7c15);
	rc = hashids_get_hashed(&r->out.chains, h, c->ips.n * sizeof(*c->ips.v), &c->id, &fresh);
	if (rc || !fresh)
		return rc;
	r->out.chain_restarts += c->id == 1;
	if (c->id == 1 && r->seen.nchains)
		memset(r->seen.chains, 0, r->seen.nchains * sizeof(*r->seen.chains));
	else if (c->id < r->seen.nchains)
		r->seen.chains[c->id] = (struct chain_state){0};
	return swriter_put(r->w, PS_CHAIN, source, c);
}

/* The id of a source file, defined in the output at its first use. */
int resolve_put_srcfile(struct resolver *r, uint32_t source, const char *path, uint32_t *id)
{
	struct ps_srcfile rec = {0};
	bool fresh;
	int rc;

	*id = 0;
	if (!path)
		return 0;
	rc = intern_add(&r->out.srcfiles, path, strlen(path), id, &fresh);
	/* More files than anybody has: the rest goes without. */
	if (rc == PP_ELIMIT || *id > RESOLVE_SRCFILES_MAX) {
		*id = 0;
		return 0;
	}
	if (rc || !fresh)
		return rc;
	rec.id = *id;
	rec.path = ps_str(path, strlen(path));
	return swriter_put(r->w, PS_SRCFILE, source, &rec);
}

void resolve_forget_ids(struct resolver *r)
{
	if (r->seen.nchains)
		memset(r->seen.chains, 0, r->seen.nchains * sizeof(*r->seen.chains));
	if (r->seen.nparts)
		memset(r->seen.parts, 0, r->seen.nparts * sizeof(*r->seen.parts));
	if (r->seen.recall)
		memset(r->seen.recall, 0, RECALL_SETS * sizeof(*r->seen.recall));
}

void resolve_stack_room(struct resolver *r)
{
	uint32_t most =
		r->out.stacks.max_ids < PS_PARTS_LIVE ? r->out.stacks.max_ids : PS_PARTS_LIVE;

	if (!r->w->pack || swriter_parts(r->w, PS_STACKS) < most)
		return;
	resolve_forget_ids(r);
	swriter_restart(r->w, PS_STACKS);
	r->out.restarts++;
}

void resolve_forget_chains(struct resolver *r)
{
	resolve_forget_ids(r);
	memset(r->seen.recent, 0, sizeof(r->seen.recent));
	r->seen.tail.n = 0;
}

void resolve_restart(struct resolver *r)
{
	for (uint32_t i = 0; i < r->dsos.n; i++)
		for (int ret = 0; ret < 2; ret++)
			frame_map_clear(&r->dsos.v[i]->frames[ret]);
	for (uint32_t i = 0; i < r->machines.n; i++)
		if (r->machines.v[i]) {
			memset(r->machines.v[i]->nowhere, 0, sizeof(r->machines.v[i]->nowhere));
			map64_clear(&r->machines.v[i]->text.frames);
		}
	resolve_forget_chains(r);
	hashids_clear(&r->out.stacks);
	if (r->w->pack)
		swriter_restart(r->w, PS_STACKS);
	r->out.restarts++;
	r->out.frame_restarts++;
	r->out.nframes = 0;
}
