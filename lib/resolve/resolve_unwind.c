/* The chains of samples that have a copy of the user stack: kernel part, then what was unwound. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CTX_KERNEL ((uint64_t)-128)

#define BRANCHES_MAX 2048 /* that are taken of a sample; processors have 8 to 32 */

#define E(name, number, text) \
	_Static_assert((int)UNWIND_##name == (int)PS_END_##name, "as in the stream");
UNWIND_ENDS(E)
#undef E

struct unwinding {
	struct resolver *r;
	struct machine *m; /* of the sample that is being unwound */
	struct space *space;
	struct unwinder *unwinder;
	unsigned machine; /* EM_* of that sample */
	uint64_t *ips;
	uint32_t cap;
};

/* Why there is no table where a file should have one. */
static enum unwind_end why_not(const struct rdso *d)
{
	switch (d->reason) {
	case PS_REASON_REPLACED:
	case PS_REASON_BUILD_ID: return UNWIND_BUILD_ID;
	case PS_REASON_JIT:
	case PS_REASON_ANON: return UNWIND_GENERATED;
	default: return UNWIND_NO_FILE;
	}
}

/* Generated code, if an address without a mapping is any. This reads a perf map, or again. */
static int find_generated(struct unwinding *u, uint32_t jit, bool mapped, uint64_t addr,
			  struct unwind_place *place)
{
	uint32_t symbol = 0, reason;
	int rc = jit ? resolve_jit_symbol(u->r, u->m, jit, addr, &symbol, &reason) : 0;

	place->why = symbol || mapped ? UNWIND_GENERATED : UNWIND_NO_MAPPING;
	return rc || !symbol ? rc
			     : resolve_jit_cfi(u->r, u->m, jit, u->space, u->machine, addr, place);
}

/*
 * The rest of a mapping: another part of the file can have its own place in memory, which no loader
 * does.
 */
static void whole_mapping(const struct machine *m, const struct rdso *d, const struct map *map,
			  uint64_t addr, struct unwind_place *place)
{
	uint64_t last = map->end - map->start - 1, vaddr[2];

	if (!resolve_vaddr(m, d, map->pgoff, &vaddr[0]) &&
	    !resolve_vaddr(m, d, map->pgoff + last, &vaddr[1]) && vaddr[1] - vaddr[0] == last &&
	    place->vaddr - vaddr[0] == addr - map->start) {
		place->start = map->start;
		place->len = last + 1;
	}
}

/* An unwind_find_fn. */
static int find(void *ctx, uint64_t addr, struct unwind_place *place)
{
	struct unwinding *u = ctx;
	const struct map *map = u->space ? space_find(u->space, addr) : NULL;
	uint64_t offset;
	struct rdso *d;
	int rc;

	if (!map)
		return find_generated(u, u->space ? space_tag(u->space) : 0, false, addr, place);
	d = u->r->dsos.v[map->dso - 1];
	offset = addr - map->start + map->pgoff;
	rc = resolve_load(u->r, u->m, d);
	if (!rc)
		rc = resolve_find_cfi(u->r, u->m, d);
	place->cfi = d->cfi;
	if (rc || !d->cfi) {
		place->why = why_not(d);
		return rc || !d->jit ? rc : find_generated(u, d->jit, true, addr, place);
	}
	if (resolve_vaddr(u->m, d, offset, &place->vaddr)) {
		place->cfi = NULL;
		place->why = UNWIND_NO_FILE;
	} else {
		whole_mapping(u->m, d, map, addr, place);
	}
	return 0;
}

static int start(struct resolver *r)
{
	struct unwinding *u;
	int rc;

	if (r->unwinding)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return PP_ENOMEM;
	u->r = r;
	rc = unwinder_new(&u->unwinder, &r->rows, find, u);
	if (rc)
		free(u);
	else
		r->unwinding = u;
	return rc;
}

void resolve_unwind_forget(struct resolver *r)
{
	if (r->unwinding)
		unwinder_forget(r->unwinding->unwinder);
	resolve_stitch_forget(r);
}

void resolve_unwind_release(struct resolver *r)
{
	if (r->unwinding) {
		unwinder_free(r->unwinding->unwinder);
		free(r->unwinding->ips);
		free(r->unwinding);
	}
	resolve_stitch_release(r);
	resolve_ends_release(r);
	rows_release(&r->rows);
}

/* Room for what a sample's chain has of the kernel, and for all that can be unwound. */
static int room(struct unwinding *u, uint32_t kernel)
{
	uint32_t n = kernel + 2 * (UNWIND_DEPTH_MAX + BRANCHES_MAX) + 4;
	uint64_t *v;

	if (n <= u->cap)
		return 0;
	v = realloc(u->ips, n * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	u->ips = v;
	u->cap = n;
	return 0;
}

/* The addresses of a sample that come before those of user space. */
static int kernel_part(struct unwinding *u, const struct ps_sample *s, const struct ps_chain *c,
		       uint32_t *n)
{
	enum mode mode = sample_mode(s);
	int rc = room(u, c ? c->ips.n : 0);

	*n = 0;
	for (uint32_t i = 0; c && !rc && i < c->ips.n && c->ips.v[i] != CTX_USER; i++)
		u->ips[(*n)++] = c->ips.v[i];
	if (!rc && !c && mode == MODE_KERNEL && ps_sample_has(s, ip)) {
		u->ips[(*n)++] = CTX_KERNEL;
		u->ips[(*n)++] = s->ip;
	}
	return rc;
}

/*
 * What was unwound, as the rest of the chain. A marker says that an address was not called from:
 * what a signal interrupted. perf has the addresses of calls, not those that they return to.
 */
static uint32_t user_part(struct unwinding *u, const struct unwind_result *res, uint32_t n)
{
	bool like_perf = u->r->opts.like_perf;

	for (uint32_t i = 0; i < res->n; i++) {
		if (!i || res->exact[i])
			u->ips[n++] = CTX_USER;
		if (res->ips[i] < CTX_MAX)
			u->ips[n++] = res->ips[i] - (like_perf && !res->exact[i]);
	}
	return n;
}

static uint32_t flags_of(const struct unwind_result *res, size_t len)
{
	uint32_t bytes = len < UINT16_MAX ? (uint32_t)len : UINT16_MAX;

	return (uint32_t)res->end << PS_STACK_END_SHIFT | (res->guessed ? PS_STACK_GUESSED : 0) |
	       (res->end == UNWIND_COPY ? bytes << PS_STACK_BYTES_SHIFT : 0);
}

void resolve_not_unwound(struct resolver *r, const struct machine *m, const struct ps_sample *s)
{
	const char *arch = m->host.kernel.origin.arch;

	r->stats.user_stacks++;
	if (ps_sample_has(s, user_regs) && s->user_regs.abi && arch)
		snprintf(r->stats.strange_arch, sizeof(r->stats.strange_arch), "%s", arch);
}

bool resolve_can_unwind(const struct machine *m, const struct ps_sample *s)
{
	return ps_sample_has(s, user_stack) && ps_sample_has(s, user_regs) && s->user_regs.abi &&
	       unwind_arch(m->host.kernel.origin.arch, s->user_regs.abi, s->user_regs.mask);
}

/* The file that a stack's last frame is in. */
static const char *last_file(const struct unwinding *u, const struct unwind_result *res)
{
	uint32_t last = res->n - 1;
	const struct map *map = res->n && u->space
					? space_find(u->space, res->ips[last] - !res->exact[last])
					: NULL;

	return map ? u->r->dsos.v[map->dso - 1]->path : NULL;
}

/*
 * A walk that came to no code from a start has not gone wrong. The word that it took for a return
 * address is no frame.
 */
static int name_start(struct unwinding *u, struct unwind_result *res)
{
	uint32_t last = res->n - 1;
	const struct map *map;
	uint64_t off, vaddr;
	struct symbol s;
	struct rdso *d;
	bool is;
	int rc;

	if (res->end == UNWIND_NO_MAPPING && last)
		last--;
	else if (res->end == UNWIND_OUTERMOST || res->end == UNWIND_NO_MAPPING || !res->n)
		return 0;
	map = u->space ? space_find(u->space, res->ips[last] - !res->exact[last]) : NULL;
	if (!map)
		return 0;
	d = u->r->dsos.v[map->dso - 1];
	off = res->ips[last] - !res->exact[last] - map->start + map->pgoff;
	rc = resolve_load(u->r, u->m, d);
	if (rc || resolve_vaddr(u->m, d, off, &vaddr) || symtab_find(d->table, vaddr, &s))
		return rc;
	/* Starts have callers, too: where the copy ended, there may be more. */
	if (res->end == UNWIND_COPY || res->end == UNWIND_NOT_THERE ||
	    !start_by_name(symtab_text(d->table, s.name), false))
		return 0;
	rc = resolve_is_of(u->r, u->m, d, vaddr, &s, &is);
	if (rc || !is)
		return rc;
	res->end = UNWIND_OUTERMOST;
	res->n = last + 1;
	return 0;
}

struct unwound resolve_unwound(const struct resolver *r, const struct ps_sample *s,
			       const struct unwind_result *res)
{
	const struct unwinding *u = r->unwinding;

	return (struct unwound){.thread = (uint64_t)u->m->source << 32 | s->tid,
				.inner = res->n ? res->sps[0] : 0,
				.outer = res->n ? res->sps[res->n - 1] : 0,
				.frames = res->n,
				.end = res->end,
				.len = s->user_stack.len,
				.file = r->opts.stats ? last_file(u, res) : NULL};
}

/* What find is to know of the sample that is unwound. */
static void set_place(struct unwinding *u, struct machine *m, uint32_t pid,
		      struct unwind_sample *from)
{
	if (u->m != m)
		unwinder_forget(u->unwinder);
	u->m = m;
	u->machine = from->arch->machine;
	u->space = spaces_get(m->spaces, pid);
	from->space = space_key(u->space);
}

int resolve_unwind_rest(struct resolver *r, struct machine *m, uint32_t pid,
			const struct unwind_rest *rest, const struct unwind_beyond *beyond,
			struct unwind_result *res, bool *whole)
{
	struct unwind_sample from = {.arch = rest->arch,
				     .stack = rest->tail,
				     .len = rest->len,
				     .swap = m->foreign,
				     .from = rest->state,
				     .beyond = beyond};
	int rc;

	set_place(r->unwinding, m, pid, &from);
	rc = unwinder_run(r->unwinding->unwinder, &from, res);
	if (!rc)
		rc = name_start(r->unwinding, res);
	*whole = !rc && res->end == UNWIND_OUTERMOST;
	return rc;
}

int resolve_unwind(struct resolver *r, struct machine *m, const struct ps_sample *s,
		   const struct ps_chain *c, struct ps_chain *out, struct unwind_result *res)
{
	struct unwind_sample from = {.arch = unwind_arch(m->host.kernel.origin.arch,
							 s->user_regs.abi, s->user_regs.mask),
				     .mask = s->user_regs.mask,
				     .regs = s->user_regs.v,
				     .stack = (const uint8_t *)s->user_stack.p,
				     .len = s->user_stack.len,
				     .swap = m->foreign,
				     .cut = s->flags & PS_SAMPLE_SHORT_COPY};
	struct unwinding *u;
	uint32_t n;
	int rc = start(r);

	if (rc)
		return rc;
	u = r->unwinding;
	set_place(u, m, s->pid, &from);
	rc = kernel_part(u, s, c, &n);
	if (!rc)
		rc = unwinder_run(u->unwinder, &from, res);
	if (!rc)
		rc = name_start(u, res);
	*out = (struct ps_chain){0};
	if (rc)
		return rc;
	out->flags = flags_of(res, s->user_stack.len);
	out->ips = (struct ps_u64s){u->ips, user_part(u, res, n)};
	return 0;
}

/*
 * Where user space was: the chain has it, or the sample. For perf it is the beginning of the
 * function that was called last.
 */
static uint64_t innermost(const struct unwinding *u, const struct ps_sample *s,
			  const struct ps_chain *c)
{
	if (u->r->opts.like_perf)
		return s->branches.v[1];
	for (uint32_t i = 0; c && i + 1 < c->ips.n; i++)
		if (c->ips.v[i] == CTX_USER)
			return c->ips.v[i + 1];
	return sample_mode(s) == MODE_USER && ps_sample_has(s, ip) ? s->ip : s->branches.v[1];
}

int resolve_branch_calls(struct resolver *r, const struct ps_sample *s, const struct ps_chain *c,
			 struct ps_chain *out)
{
	const struct ps_branches *b = &s->branches;
	uint32_t most = b->n < BRANCHES_MAX ? b->n : BRANCHES_MAX, n;
	struct unwinding *u;
	int rc = start(r);

	if (rc)
		return rc;
	u = r->unwinding;
	rc = kernel_part(u, s, c, &n);
	if (rc)
		return rc;
	/* The newest call led to the innermost function; each came from the next. */
	for (uint32_t i = 0; i <= most; i++) {
		uint64_t ip = i ? b->v[3 * (size_t)(i - 1)] : innermost(u, s, c);

		/* What a branch came from was executed: it is no return address. */
		u->ips[n++] = CTX_USER;
		if (ip < CTX_MAX)
			u->ips[n++] = ip;
	}
	*out = (struct ps_chain){.ips = {u->ips, n}};
	return 0;
}
