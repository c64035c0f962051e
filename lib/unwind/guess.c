/* Steps where there is no table: by the frame pointer, if everything speaks for it. */
#include "unwind/walk.h"

#include <elf.h>

#define BACK	 4096 /* bytes of code that are searched for a function's beginning */
#define CALL_MAX 7    /* bytes of a call instruction */

/* ---- code of x86 ---- */

/* Whether the bytes that end here are a call: call rel32, or call through a register or memory. */
static bool is_call(const uint8_t *end)
{
	if (end[-5] == 0xe8)
		return true;
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

/* Whether a function ends between two places: a return, and padding up to a multiple of 16. */
static bool ends_between(const uint8_t *code, size_t from, size_t to, uint64_t vaddr)
{
	static const uint8_t padding[] = {0x90, 0xcc, 0x66, 0x2e, 0x0f, 0x1f,
					  0x84, 0x80, 0x40, 0x44, 0x00};

	for (size_t i = from; i < to; i++) {
		size_t next = i + 1;

		if (code[i] != 0xc3)
			continue;
		while (next < to && (vaddr + next) % 16 &&
		       memchr(padding, code[next], sizeof(padding)))
			next++;
		if (next < to && !((vaddr + next) % 16))
			return true;
	}
	return false;
}

/* Where a function is, as far as its code tells. */
enum stage {
	STAGE_UNKNOWN, /* it has no frame pointer, as far as can be seen */
	STAGE_ENTRY,   /* the return address is at the stack pointer */
	STAGE_PUSHED,  /* the old frame pointer is there, the return address above it */
	STAGE_BODY,    /* the frame pointer leads on */
};

static enum stage stage_of(const struct walk *w, const struct unwind_place *at)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint64_t start = at->vaddr > BACK ? at->vaddr - BACK : 0;
	size_t n = (size_t)(at->vaddr - start), i;
	uint8_t code[BACK + 4];

	/* The beginning of a module can be nearer. */
	while (n && cfi_read(at->cfi, at->vaddr - n, code, n + 4))
		n /= 2;
	if (!n)
		return STAGE_UNKNOWN;
	if (w->exact && (code[n] == 0xc3 || !memcmp(code + n, endbr, 4)))
		return STAGE_ENTRY;
	/* push %rbp; mov %rsp,%rbp in its two encodings */
	for (i = n + 1; i-- > 0;)
		if (code[i] == 0x55 && i + 4 <= n + 4 && code[i + 1] == 0x48 &&
		    ((code[i + 2] == 0x89 && code[i + 3] == 0xe5) ||
		     (code[i + 2] == 0x8b && code[i + 3] == 0xec)))
			break;
	if (i > n || ends_between(code, i + 4, n, at->vaddr - n))
		return STAGE_UNKNOWN;
	if (w->exact && i == n)
		return STAGE_ENTRY;
	if (w->exact && i + 1 == n)
		return STAGE_PUSHED;
	return i + 4 <= n ? STAGE_BODY : STAGE_UNKNOWN;
}

/* ---- any machine ---- */

/* Whether an address can be where a call returns to: mapped, and after a call as far as can be seen. */
static bool is_return(struct walk *w, uint64_t pc, int *rc)
{
	struct unwind_place place;
	uint8_t code[CALL_MAX];

	if (!pc)
		return false;
	*rc = walk_find(w, pc - 1, &place);
	if (*rc || (!place.cfi && place.why == UNWIND_NO_MAPPING))
		return false;
	if (!place.cfi)
		return true;
	if (cfi_machine(place.cfi) != w->arch->machine)
		return false;
	if (w->arch->machine == EM_AARCH64)
		return !cfi_read(place.cfi, place.vaddr - 3, code, 4) &&
		       ((code[3] & 0xfc) == 0x94 || /* bl, blr and its forms with a signature */
			((code[3] & 0xfe) == 0xd6 && (code[2] & 0xe0) == 0x20));
	return !cfi_read(place.cfi, place.vaddr - (CALL_MAX - 1), code, CALL_MAX) &&
	       is_call(code + CALL_MAX);
}

/* To the caller, whose return address is at `slot`, and frame pointer at `saved` (0: it has it). */
static bool go(struct walk *w, uint64_t slot, uint64_t saved, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t pc, fp = w->reg[a->fp];

	if (!walk_has(w, slot, a->width) || (saved && !walk_has(w, saved, a->width)))
		return false;
	pc = walk_load(w, slot, a->width) & a->pc_mask;
	if (saved)
		fp = walk_load(w, saved, a->width);
	if (!is_return(w, pc, rc))
		return false;
	if (saved)
		walk_set(w, a->fp, fp);
	walk_set(w, a->sp, slot + a->width);
	walk_set(w, a->ra, pc);
	w->pc = pc;
	w->exact = false;
	return true;
}

bool walk_guess(struct walk *w, const struct unwind_place *at, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t sp = w->reg[a->sp], fp = w->reg[a->fp], above;
	enum stage stage = STAGE_BODY;

	/* A call of an address where nothing is has pushed where it came from. */
	if (!at->cfi && at->why == UNWIND_NO_MAPPING)
		return w->exact && a->machine != EM_AARCH64 && go(w, sp, 0, rc);
	if (at->cfi && a->machine == EM_X86_64)
		stage = stage_of(w, at);
	if (stage == STAGE_ENTRY)
		return go(w, sp, 0, rc);
	if (stage == STAGE_PUSHED)
		return go(w, sp + a->width, sp, rc);
	if (stage == STAGE_UNKNOWN || !walk_knows(w, a->fp) || fp < sp || fp % a->width ||
	    !walk_has(w, fp, 2 * a->width))
		return false;
	above = walk_load(w, fp, a->width);
	if (above && above <= fp)
		return false;
	return go(w, fp + a->width, fp, rc);
}
