/* Calls: whether an address is after one, and whether that can have led to a function. */
#include "unwind/walk.h"

#include "base/err.h"

#include <elf.h>

#define CALL_MAX  7    /* bytes of a call instruction of x86 */
#define JUMPS_MAX 4096 /* bytes of a function in which a jump to another is sought */
#define UNKNOWN	  128  /* likewise where nothing tells of its function */
#define PLT_ENTRY 16
#define DEPTH	  3 /* jumps from function to function */

/* Whether the bytes that end here are a call through a register or memory. */
static bool is_indirect(const uint8_t *end)
{
	for (int len = 2; len <= CALL_MAX; len++) {
		uint8_t modrm = end[1 - len], mod = modrm >> 6, rm = modrm & 7;
		int need = 2 + (mod != 3 && rm == 4) +
			   (mod == 1   ? 1
			    : mod == 2 ? 4
				       : (!mod && rm == 5) * 4);

		if (end[-len] == 0xff && (modrm >> 3 & 7) == 2 && need == len)
			return true;
	}
	return false;
}

bool walk_is_return(struct walk *w, uint64_t pc, bool sure, int *rc)
{
	struct unwind_place place;
	uint8_t code[CALL_MAX];
	bool covered = true;

	if (!pc)
		return false;
	*rc = walk_find(w, pc - 1, &place);
	if (*rc || (!place.cfi && place.why == UNWIND_NO_MAPPING))
		return false;
	if (!place.cfi || place.unseen)
		return !sure;
	if (cfi_machine(place.cfi) != w->arch->machine)
		return false;
	/* Interpreters push the address that is to go on, and jump. */
	if (place.changes)
		*rc = cfi_covers(place.cfi, place.vaddr, &covered);
	if (*rc || !covered)
		return !*rc;
	if (w->arch->machine == EM_AARCH64)
		return !cfi_read(place.cfi, place.vaddr - 3, code, 4) &&
		       ((code[3] & 0xfc) == 0x94 || /* bl, blr and its forms with a signature */
			((code[3] & 0xfe) == 0xd6 && (code[2] & 0xe0) == 0x20));
	return !cfi_read(place.cfi, place.vaddr - (CALL_MAX - 1), code, CALL_MAX) &&
	       (code[2] == 0xe8 || is_indirect(code + CALL_MAX));
}

/* ---- whether a call leads to a function ---- */

/* The code that a call was for. */
struct goal {
	const struct cfi *cfi;
	uint64_t start, end;
};

/* The code from a place on, to the end of its function: how many bytes. */
static size_t read_function(struct cfi *c, uint64_t vaddr, uint8_t *to, size_t max)
{
	struct cfi_function f;
	bool known = !cfi_function(c, vaddr, &f);
	uint64_t end = vaddr + UNKNOWN, before, after;

	if (known)
		end = f.kind == CFI_PLT ? vaddr + PLT_ENTRY : f.end;

	cfi_extent(c, vaddr, &before, &after);
	after = end - vaddr < after ? end - vaddr : after;
	after = after < max ? after : max;
	return after && !cfi_read(c, vaddr, to, after) ? after : 0;
}

/* A direct jump at p, of n bytes left; 0: it is none. `pc`: the address of p. */
static uint64_t jump_of(const uint8_t *p, size_t n, uint64_t pc)
{
	if ((*p == 0xeb || *p >> 4 == 7) && n >= 2)
		return pc + 2 + (uint64_t)(int64_t)(int8_t)p[1];
	if (*p == 0xe9 && n >= 5)
		return pc + 5 + (uint64_t)(int64_t)walk_displacement(p + 1);
	if (*p == 0x0f && n >= 6 && p[1] >> 4 == 8)
		return pc + 6 + (uint64_t)(int64_t)walk_displacement(p + 2);
	return 0;
}

/*
 * Whether code jumps to the goal, or to where only the processor knows, as linkage tables do: by
 * way of other functions that do so as their last act. What only looks like a jump counts, too.
 */
static bool jumps_to(struct cfi *c, uint64_t from, const struct goal *to, unsigned depth)
{
	uint8_t code[JUMPS_MAX];
	size_t n = read_function(c, from, code, sizeof(code));
	uint64_t target;

	for (size_t i = 0; i < n; i++)
		if (code[i] == 0xff && i + 1 < n && (code[i + 1] >> 3 & 7) == 4)
			return true;
	for (size_t i = 0; i < n; i++) {
		target = jump_of(code + i, n - i, from + i);
		if (c == to->cfi && target - to->start < to->end - to->start)
			return true;
		if (code[i] == 0xe9 && depth && target && target - from >= n &&
		    jumps_to(c, target, to, depth - 1))
			return true;
	}
	return false;
}

static bool branches_to(struct cfi *c, uint64_t from, const struct goal *to, unsigned depth)
{
	uint8_t code[JUMPS_MAX];
	size_t n = read_function(c, from, code, sizeof(code));

	for (size_t i = 0; i + 4 <= n; i += 4) {
		uint32_t v = (uint32_t)walk_displacement(code + i);
		uint64_t target = from + i;

		if ((v & 0xfffffc1f) == 0xd61f0000) /* br */
			return true;
		if (v >> 26 != 5) /* b */
			continue;
		target += (uint64_t)((int64_t)((uint64_t)v << 38) >> 36);
		if (c == to->cfi && target - to->start < to->end - to->start)
			return true;
		if (depth && target - from >= n && branches_to(c, target, to, depth - 1))
			return true;
	}
	return false;
}

static bool direct_leads(struct cfi *c, uint64_t target, const struct goal *to)
{
	if (c == to->cfi && target - to->start < to->end - to->start)
		return true;
	return cfi_machine(c) == EM_AARCH64 ? branches_to(c, target, to, DEPTH)
					    : jumps_to(c, target, to, DEPTH);
}

bool walk_leads(const struct walk *w, const struct unwind_place *callee, uint64_t pc, int *rc)
{
	struct unwind_place from;
	struct goal to = {.cfi = callee->cfi};
	uint8_t code[CALL_MAX];
	uint32_t v;

	*rc = pc ? walk_find(w, pc - 1, &from) : 0;
	if (*rc || !pc || (!from.cfi && from.why == UNWIND_NO_MAPPING))
		return false;
	if (!from.cfi || from.unseen)
		return true;
	if (cfi_machine(from.cfi) != w->arch->machine ||
	    cfi_code_function(callee->cfi, callee->vaddr, &to.start, &to.end))
		return false;
	if (w->arch->machine == EM_AARCH64) {
		if (cfi_read(from.cfi, from.vaddr - 3, code, 4))
			return false;
		v = (uint32_t)walk_displacement(code);
		if (v >> 26 == 0x25) /* bl */
			return direct_leads(from.cfi,
					    from.vaddr - 3 +
						    (uint64_t)((int64_t)((uint64_t)v << 38) >> 36),
					    &to);
		return (v & 0xfefff000) == 0xd63f0000;
	}
	if (cfi_read(from.cfi, from.vaddr - (CALL_MAX - 1), code, CALL_MAX))
		return false;
	if (code[2] == 0xe8 &&
	    direct_leads(from.cfi, from.vaddr + 1 + (uint64_t)(int64_t)walk_displacement(code + 3),
			 &to))
		return true;
	return is_indirect(code + CALL_MAX);
}
