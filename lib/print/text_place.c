/* Where a sample was, as perf script prints it: addresses, symbols, stacks, ends of branches. */
#include "print/json_records.h"
#include "print/text_fields.h"
#include "print/text_perf.h"
#include "print/text_trace.h"

/* ---- addresses and symbols ---- */

/* The function that the next frames are inlined into: perf counts offsets from its beginning. */
static const struct ps_frame *outer(const struct sreader *r, const struct ps_stack *st, uint32_t i)
{
	const struct ps_frame *f = sreader_frame(r, st->frames.v[i]);

	while (f && (f->flags & PS_FRAME_INLINED) && ++i < st->frames.n)
		f = sreader_frame(r, st->frames.v[i]);
	return f;
}

static void add_symbol(struct buf *b, const struct sreader *r, const struct ps_frame *f,
		       const struct ps_frame *base, bool offset)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(r, f->symbol) : NULL;
	const struct ps_symbol *start =
		base && base->symbol ? sreader_symbol(r, base->symbol) : NULL;

	if (!sym) {
		buf_adds(b, " [unknown]");
		return;
	}
	buf_addc(b, ' ');
	buf_add_safe(b, sym->name.p, sym->name.len);
	if (offset && start && f->addr >= start->addr) {
		buf_adds(b, "+0x");
		buf_add_hex(b, f->addr - start->addr, 0, ' ');
	}
}

static void add_dso(struct buf *b, const struct sreader *r, const struct ps_frame *f, bool offset)
{
	const struct ps_dso *dso = f->dso ? sreader_dso(r, f->dso) : NULL;

	buf_adds(b, " (");
	if (dso)
		buf_add_safe(b, dso->path.p, dso->path.len);
	else
		buf_adds(b, "[unknown]");
	if (dso && offset) {
		buf_adds(b, "+0x");
		buf_add_hex(b, f->addr, 0, ' ');
	}
	buf_addc(b, ')');
}

/*
 * "file:line" without directories; where that is not known, as perf has it, the symbol or the
 * object.
 */
static void add_srcline(struct buf *b, const struct sreader *r, const struct ps_frame *f)
{
	const struct ps_srcfile *file = f->srcfile ? sreader_srcfile(r, f->srcfile) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(r, f->dso) : NULL;
	const struct ps_str *path = file ? &file->path : dso ? &dso->path : NULL;
	const char *slash = path && path->len ? memrchr(path->p, '/', path->len) : NULL;
	const char *name = slash ? slash + 1 : path ? path->p : NULL;

	if (!path)
		return;
	buf_adds(b, "\n  ");
	buf_add_safe(b, name, (size_t)(path->p + path->len - name));
	if (file)
		buf_addf(b, ":%u", f->line);
	else
		buf_addf(b, "[%llx]", (unsigned long long)f->addr);
}

/* What follows the address of a frame. base: the frame it is inlined into, or itself. */
static void add_frame(struct buf *b, const struct sreader *r, const struct ps_frame *f,
		      const struct ps_frame *base, uint64_t fields)
{
	bool inlined = f->flags & PS_FRAME_INLINED;

	if (TEXT_HAS(fields, sym))
		add_symbol(b, r, f, base, TEXT_HAS(fields, symoff));
	if (TEXT_HAS(fields, dso) && !inlined)
		add_dso(b, r, f, TEXT_HAS(fields, dsoff));
	if (TEXT_HAS(fields, srcline))
		add_srcline(b, r, f);
	if (inlined)
		buf_adds(b, " (inlined)");
}

/* The addresses of a chain: PERF_CONTEXT_* markers are none. */
static bool next_ip(const struct ps_chain *c, uint32_t *i, uint64_t *ip)
{
	while (c && *i < c->ips.n) {
		*ip = c->ips.v[(*i)++];
		if (*ip < (uint64_t)-4095)
			return true;
	}
	return false;
}

/*
 * The frames of a stack. Their absolute addresses are those of the call chain; inlined frames share
 * that of the frame they are inlined into, which follows them. Frames that were unwound have none.
 */
static int add_stack(struct buf *b, struct text_page *page, const struct sreader *r,
		     const struct ps_stack *st, const struct ps_chain *c, uint64_t fields)
{
	bool shared = false, known = false;
	uint32_t at = 0;
	uint64_t ip = 0;
	int rc = 0;

	buf_addc(b, '\n');
	for (uint32_t i = 0; i < st->frames.n && !rc; i++) {
		const struct ps_frame *f = sreader_frame(r, st->frames.v[i]);

		if (!shared)
			known = next_ip(c, &at, &ip);
		shared = f && (f->flags & PS_FRAME_INLINED);
		if (!f)
			continue;
		buf_addc(b, '\t');
		buf_add_hex(b, known ? ip : f->addr, 16, ' ');
		add_frame(b, r, f, shared ? outer(r, st, i) : f, fields);
		buf_addc(b, '\n');
		if (b->len >= PS_TEXT_SPILL) {
			rc = text_page_add(page, b);
			buf_reset(b);
		}
	}
	return rc;
}

static void add_chain(struct buf *b, const struct ps_chain *c)
{
	uint32_t at = 0;
	uint64_t ip;

	buf_addc(b, '\n');
	while (next_ip(c, &at, &ip)) {
		buf_addc(b, '\t');
		buf_add_hex(b, ip, 16, ' ');
		buf_addc(b, '\n');
	}
}

int text_add_place(struct buf *b, struct text_page *page, const struct sreader *r,
		   const struct ps_sample *s, uint64_t fields, bool chain)
{
	const struct ps_stack *st = ps_sample_has(s, stack) ? sreader_stack(r, s->stack) : NULL;
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(r, s->chain) : NULL;
	const struct ps_frame *f;

	if (!chain && ps_sample_has(s, ip_stack))
		st = sreader_stack(r, s->ip_stack);
	if (chain && st)
		return add_stack(b, page, r, st, c, fields);
	if (chain) {
		add_chain(b, c);
		return 0;
	}
	if (!ps_sample_has(s, ip))
		return 0;
	buf_addc(b, ' ');
	buf_add_hex(b, s->ip, 16, ' ');
	f = st && st->frames.n ? outer(r, st, 0) : NULL;
	if (f)
		add_frame(b, r, f, f, fields);
	return 0;
}

/* ---- branches ---- */

/* One end of a branch: its symbol, in brackets its object. */
static void add_branch_end(struct buf *b, const struct sreader *r, const struct ps_frame *f,
			   bool dso)
{
	const struct ps_symbol *sym = f ? sreader_symbol(r, f->symbol) : NULL;
	const struct ps_dso *in = f ? sreader_dso(r, f->dso) : NULL;

	if (sym) {
		buf_add_safe(b, sym->name.p, sym->name.len);
		buf_adds(b, "+0x");
		buf_add_hex(b, f->addr - sym->addr, 0, ' ');
	} else {
		buf_adds(b, "[unknown]");
	}
	if (!dso)
		return;
	buf_addc(b, '(');
	if (in)
		buf_add_safe(b, in->path.p, in->path.len);
	else
		buf_adds(b, "[unknown]");
	buf_addc(b, ')');
}

void text_add_branch_symbols(struct buf *b, const struct sreader *r, const struct ps_sample *s,
			     bool dso)
{
	const struct ps_stack *st =
		ps_sample_has(s, branch_stack) ? sreader_stack(r, s->branch_stack) : NULL;

	for (uint32_t i = 0; i < s->branches.n; i++) {
		for (uint32_t k = 2 * i; k < 2 * i + 2; k++) {
			bool known = st && k < st->frames.n;

			if (k & 1)
				buf_addc(b, '/');
			add_branch_end(b, r, known ? sreader_frame(r, st->frames.v[k]) : NULL, dso);
		}
		text_add_branch_flags(b, s->branches.v[3 * (size_t)i + 2]);
	}
}
