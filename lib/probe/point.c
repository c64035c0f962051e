/* The places that a definition means: functions, their entries and returns. */
#include "probe/point.h"

#include "base/err.h"
#include "inspect/code.h"
#include "inspect/inlined.h"
#include "inspect/name_pattern.h"
#include "unwind/cfi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which functions ---- */

/* What gcc and LLVM append to the name of a copy or a part of a function. */
static size_t base_len(const char *name, bool *part)
{
	static const char *const ends[] = {".constprop.", ".isra.", ".llvm.", ".lto_priv."};
	size_t n = strlen(name);

	*part = strstr(name, ".cold") || strstr(name, ".part.");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *at = strstr(name, ends[i]);

		if (at && at > name && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

static enum name_fit fit(const struct name_pattern *p, const char *name, struct name_scratch *s)
{
	enum name_fit whole = name_match(p, name, s);
	char base[1024];
	bool part;
	size_t n = base_len(name, &part);

	if (whole != NAME_NO && (whole == NAME_WHOLE || !part) && !(p->glob && part))
		return whole;
	if (part || n == strlen(name) || n >= sizeof(base))
		return NAME_NO;
	memcpy(base, name, n);
	base[n] = 0;
	return name_match(p, base, s);
}

int points_functions(struct points *p, struct funcs *t, const char *pattern)
{
	struct name_scratch scratch = {0};
	struct name_pattern np;
	enum name_fit best = NAME_PART;
	int rc = 0;

	name_pattern_set(&np, pattern);
	for (uint32_t i = 0; !rc && i < t->n; i++) {
		const struct func *f = &t->v[i];
		enum name_fit how = fit(&np, f->name, &scratch);
		struct point pt = {.addr = f->addr, .func = f->name, .func_addr = f->addr};

		if (how == NAME_NO || (!np.glob && how < best))
			continue;
		if (!np.glob && how > best) {
			best = how;
			p->n = p->ifuncs = 0;
		}
		if (f->ifunc) {
			p->ifuncs++;
			continue;
		}
		if (p->n && p->v[p->n - 1].addr == f->addr)
			continue;
		rc = points_add(p, &pt);
	}
	p->functions = p->n;
	p->fit = p->n ? best : NAME_PART;
	if (scratch.demangled.err || scratch.bare.err)
		rc = PP_ENOMEM;
	name_scratch_release(&scratch);
	return rc;
}

/* ---- where in them ---- */

/* After the check whether the stack is large enough, which jumps back to the beginning. */
static uint64_t after_stack_check(const struct code *c)
{
	if (!code_jumped_to(c, c->start))
		return c->start;
	for (uint32_t i = 0; i < c->n && i < 8; i++)
		if (c->insn[i].kind == INSN_BRANCH)
			return c->insn[i].addr + c->insn[i].size;
		else if (c->insn[i].kind != INSN_OTHER)
			break;
	return c->start;
}

/* Where calls of a function are counted. */
static uint64_t points_entry(const struct binary *b, const struct func *f)
{
	uint64_t addr = f->addr;
	struct code c;

	/* The kernel moves probes after endbr64 itself. */
	if (b->kernel || !f->size || code_read(&c, b, f->addr, f->addr + f->size))
		return addr;
	if (b->go)
		addr = after_stack_check(&c);
	else if (c.n > 1 && c.insn[0].kind == INSN_ENDBR && !code_jumped_to(&c, c.insn[1].addr))
		addr = c.insn[1].addr;
	code_release(&c);
	return addr;
}

static bool is_cold(const struct funcs *t, uint64_t target, const char *name)
{
	const struct func *f = funcs_at(t, target);
	size_t n = strlen(name);

	return f && !strncmp(f->name, name, n) && strstr(f->name + n, ".cold");
}

/* The instructions of [start, end) that return. */
static int returns_in(struct points *p, const struct binary *b, const struct funcs *t,
		      const struct point *of, uint64_t start, uint64_t end)
{
	struct code c;
	int rc = code_read(&c, b, start, end);

	if (rc)
		return rc;
	p->unreadable += !c.whole;
	for (uint32_t i = 0; !rc && i < c.n; i++) {
		const struct insn *in = &c.insn[i];
		struct point pt = *of;
		bool tail = code_is_tail_jump(&c, in) && !is_cold(t, in->target, of->func) &&
			    in->target != of->func_addr;

		p->indirect += in->kind == INSN_INDIRECT;
		if (tail && in->kind == INSN_BRANCH)
			p->indirect++;
		if (in->kind != INSN_RET && !(tail && in->kind == INSN_JUMP))
			continue;
		/* From a part that is out of line back into the function. */
		if (tail && in->target >= of->func_addr && start != of->func_addr &&
		    funcs_at(t, in->target) == funcs_at(t, of->func_addr))
			continue;
		p->tails += tail;
		pt.addr = in->addr;
		pt.returns = true;
		pt.tail = tail;
		rc = points_add(p, &pt);
	}
	code_release(&c);
	return rc;
}

static int add_returns(struct points *p, struct binary *b, struct funcs *t, const struct point *of)
{
	const struct func *f = funcs_at(t, of->func_addr);
	uint32_t had = p->n;
	int rc;

	if (!f || !f->size)
		return PP_ENOENT;
	rc = returns_in(p, b, t, of, f->addr, f->addr + f->size);
	for (uint32_t i = 0; !rc && i < t->n; i++) {
		const struct func *cold = &t->v[i];
		size_t n = strlen(of->func);

		if (cold->size && !strncmp(cold->name, of->func, n) &&
		    !strcmp(cold->name + n, ".cold"))
			rc = returns_in(p, b, t, of, cold->addr, cold->addr + cold->size);
	}
	p->endless += !rc && p->n == had;
	return rc;
}

static int place_functions(struct points *out, const struct points *in, struct binary *b,
			   struct funcs *t, const struct spec *s, struct buf *why)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < in->n; i++) {
		struct point pt = in->v[i];
		const struct func *f = funcs_at(t, pt.func_addr);

		switch (s->kind) {
		case SPEC_RETURN: rc = add_returns(out, b, t, &pt); break;
		case SPEC_URETURN:
			pt.uretprobe = true;
			rc = points_add(out, &pt);
			break;
		case SPEC_OFFSET:
			pt.addr += s->number;
			if (!f || s->number >= (f->size ? f->size : 1)) {
				buf_addf(why, "%s has only %" PRIu64 " bytes", pt.func,
					 f ? f->size : 0);
				return PP_ENOENT;
			}
			rc = points_check(b, f, pt.addr, why);
			pt.entry = !s->number;
			rc = rc ? rc : points_add(out, &pt);
			break;
		default:
			pt.addr = f ? points_entry(b, f) : pt.addr;
			pt.entry = true;
			rc = points_add(out, &pt);
		}
	}
	return rc;
}

/* ---- inlined copies ---- */

struct copies {
	struct points *p;
	struct funcs *t;
};

static bool has_point(const struct points *p, uint64_t addr)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->v[i].addr == addr)
			return true;
	return false;
}

static int on_copy(void *ctx, const struct inlined_place *place)
{
	struct copies *c = ctx;
	struct point pt = {
		.addr = place->addr, .func = place->name, .inlined = place->die, .entry = true};
	const struct func *f = funcs_at(c->t, place->addr);

	if (!f)
		return 0;
	pt.func_addr = f->addr;
	/* gcc gives copies that are mixed with each other one entry. */
	if (has_point(c->p, pt.addr))
		pt.addr = place->start;
	if (!pt.addr || has_point(c->p, pt.addr))
		return 0;
	c->p->copies++;
	return points_add(c->p, &pt);
}

/* Copies are found for entries; where an inlined function returns, no instruction tells. */
static int add_copies(struct points *p, struct binary *b, struct funcs *t, const char *func)
{
	struct copies c = {p, t};
	enum name_fit least = p->fit ? p->fit : NAME_PART;
	struct name_pattern np;

	name_pattern_set(&np, func);
	return inlined_each(b, &np, np.glob ? NAME_PART : least, on_copy, &c);
}

/* ---- everything ---- */

static int nothing(const struct points *p, const struct binary *b, const struct spec *s,
		   struct buf *why)
{
	if (why->len)
		return PP_ENOENT;
	if (p->ifuncs)
		buf_addf(
			why,
			"%s is selected among several when the program starts; probe the selected one: see "
			"-F '*%s*'",
			s->func, s->func);
	else if (p->copies && s->kind != SPEC_ENTRY)
		buf_addf(why, "%s is inlined everywhere: only its beginning can be probed",
			 s->func);
	else if (p->functions && s->kind == SPEC_PATTERN)
		buf_addf(why, "%s has no line with code that matches '%s'", s->func, s->pattern);
	else if (p->functions && s->kind == SPEC_LINE)
		buf_addf(why, "line %" PRIu64 " of %s has no code", s->number, s->func);
	else if (p->endless)
		buf_addf(why, "%s has no instruction that returns", s->func);
	else
		buf_addf(why, "%s has no function '%s'%s", b->path, s->func,
			 s->src ? " in that file" : "");
	return PP_ENOENT;
}

static int address_point(struct points *p, struct binary *b, struct funcs *t, const struct spec *s,
			 struct buf *why)
{
	const struct func *f = funcs_at(t, s->number);
	struct point pt = {.addr = s->number};
	int rc = points_check(b, f, s->number, why);

	if (rc)
		return rc;
	pt.func = f->name;
	pt.func_addr = f->addr;
	return points_add(p, &pt);
}

/*
 * A name that stacks have of a function without one, gzip+0x4a20, which may have a name here. It
 * reads like an offset in a function that is called like the file, which is preferred.
 */
static void take_nameless(struct spec *s, const struct binary *b, const struct funcs *t)
{
	const char *slash = strrchr(b->path, '/'), *file = slash ? slash + 1 : b->path;
	const struct func *f;
	uint64_t addr = s->number;

	if (b->kernel || !s->func || (s->src && strcmp(s->src, "plt") != 0))
		return;
	/* An offset from the file's beginning. */
	if (s->kind == SPEC_OFFSET && !strcmp(s->func, file))
		s->kind = SPEC_ENTRY;
	else if (!cfi_function_named(s->func, b->path, &addr))
		return;
	s->src = NULL;
	f = funcs_at(t, addr);
	if (f && f->addr == addr) {
		s->func = f->name;
		s->begins = addr;
	} else if (s->kind == SPEC_ENTRY) {
		s->kind = SPEC_ADDRESS;
		s->number = addr;
	}
}

/* The functions that a definition names. */
static int named_functions(struct points *p, const struct binary *b, struct funcs *t,
			   struct spec *s)
{
	int rc = points_functions(p, t, s->func);
	struct point pt;

	if (rc || p->functions || p->ifuncs)
		return rc;
	take_nameless(s, b, t);
	if (!s->begins)
		return 0;
	pt = (struct point){.addr = s->begins, .func = s->func, .func_addr = s->begins};
	p->functions = 1;
	p->fit = NAME_WHOLE;
	return points_add(p, &pt);
}

int points_find(struct points *p, struct binary *b, struct funcs *t, struct spec *s, bool copies,
		struct buf *why)
{
	struct points found = {0};
	int rc;

	if (s->kind == SPEC_ADDRESS)
		return address_point(p, b, t, s, why);
	if (s->kind == SPEC_SOURCE)
		return linepoints_source(p, b, t, s, why);
	rc = named_functions(&found, b, t, s);
	if (!rc && s->kind == SPEC_ADDRESS)
		return address_point(p, b, t, s, why);
	if (!rc && s->src)
		linepoints_keep_file(&found, b, s->src);
	p->functions = found.n;
	p->ifuncs = found.ifuncs;
	p->fit = found.fit;
	if (!rc && copies && (s->kind == SPEC_LINE || s->kind == SPEC_PATTERN))
		rc = add_copies(&found, b, t, s->func);
	if (!rc && (s->kind == SPEC_LINE || s->kind == SPEC_PATTERN))
		rc = linepoints_functions(p, &found, b, t, s, why);
	else if (!rc)
		rc = place_functions(p, &found, b, t, s, why);
	if (!rc && copies && s->kind == SPEC_ENTRY && !s->src && !s->begins)
		rc = add_copies(p, b, t, s->func);
	points_release(&found);
	if (!rc && !p->n)
		rc = nothing(p, b, s, why);
	return rc;
}
