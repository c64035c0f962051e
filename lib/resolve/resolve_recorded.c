/*
 * Names that the recording itself holds for files, as those of simpleperf do: what was hit, mostly.
 * They are asked where a file of this machine has none.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void resolve_recorded_release(struct machine *m)
{
	struct recorded *t = &m->recorded;

	for (uint32_t i = 0; i < t->n; i++) {
		jit_free(t->v[i].names);
		map64_release(&t->v[i].symbols);
	}
	free(t->v);
	intern_release(&t->paths);
}

/* The file of a blob, a new one without names. */
static int get_file(struct recorded *t, const struct ps_blob *b, struct recorded_file **out)
{
	struct recorded_file *v;
	bool fresh;
	uint32_t id;
	int rc = intern_add(&t->paths, b->name.p, b->name.len, &id, &fresh);

	if (rc)
		return rc;
	if (fresh) {
		v = reallocarray(t->v, id, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		t->v = v;
		v[id - 1] = (struct recorded_file){.vaddr = b->vaddr, .offset = b->offset};
		t->n = id;
		rc = jit_new(&v[id - 1].names);
	}
	*out = &t->v[id - 1];
	return rc;
}

int resolve_recorded_add(struct resolver *r, struct machine *m, const struct ps_blob *b)
{
	char name[32];
	struct recorded_file *f;
	uint32_t pid;
	uint64_t bad;
	int n = 0, rc;

	if (b->kind != PS_BLOB_SYMBOLS || r->opts.like_perf)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)b->name.len, b->name.p ? b->name.p : "");
	if (sscanf(name, "perf-%" SCNu32 ".map%n", &pid, &n) == 1 && n &&
	    (uint32_t)n == b->name.len)
		return resolve_jit_recorded(m, pid, b);
	rc = get_file(&m->recorded, b, &f);
	if (!rc)
		rc = jit_map(f->names, b->data.p, b->data.len, &bad);
	return rc == PP_ELIMIT ? 0 : rc;
}

/* The address of an offset, as the names have it. */
static uint64_t address_of(const struct recorded_file *f, const struct rdso *d, uint64_t off)
{
	if (d->absolute)
		return off;
	if (f->offset != UINT64_MAX)
		return off - f->offset + f->vaddr;
	return off - (d->n_text ? d->text[0].pgoff : 0) + f->vaddr;
}

int resolve_recorded(struct resolver *r, struct machine *m, struct rdso *d, uint64_t off,
		     uint64_t shown, uint32_t *symbol)
{
	struct recorded *t = &m->recorded;
	uint32_t id = t->n ? intern_find(&t->paths, d->path, strlen(d->path)) : 0, code, *slot;
	struct recorded_file *f = id ? &t->v[id - 1] : NULL;
	const struct jit_code *c;
	uint64_t addr;
	int rc = 0;

	if (!f)
		return 0;
	addr = address_of(f, d, off);
	code = jit_find(f->names, addr);
	if (!code)
		return 0;
	slot = map64_put(&f->symbols, (uint64_t)d->out << 32 | code, NULL);
	if (!slot)
		return PP_ENOMEM;
	c = jit_code(f->names, code);
	if (!*slot)
		rc = resolve_put_symbol(r, m->source, jit_name(f->names, code), d->out,
					shown - (addr - c->start), c->end - c->start, slot);
	*symbol = *slot;
	return rc;
}
