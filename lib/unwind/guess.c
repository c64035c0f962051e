/* Steps where there is no table: by the frame pointer, if everything speaks for it. */
#include "unwind/walk.h"

#include <elf.h>

#define BACK	  4096 /* bytes of code that are searched for a function's beginning */
#define AHEAD	  32   /* and after the address */
#define PROLOGUE  32   /* between the instructions that set the frame pointer up */
#define ARGUMENTS 2048 /* bytes of the arguments of a method: 255 words at most */

/* ---- code of x86 ---- */

/*
 * Whether a branch before `end` leads to it or beyond, up to `to`: it is no end of a function
 * then.
 */
static bool leads_over(const uint8_t *code, size_t from, size_t end, size_t to)
{
	for (size_t i = from; i + 2 <= end; i++) {
		int64_t target = -1;

		if (code[i] >> 4 == 7 || code[i] == 0xeb) { /* with a displacement of 8 bits */
			target = (int64_t)i + 2 + (int8_t)code[i + 1];
		} else if (code[i] == 0xe9 && i + 5 <= end) {
			target = (int64_t)i + 5 + walk_displacement(code + i + 1);
		} else if (code[i] == 0x0f && code[i + 1] >> 4 == 8 && i + 6 <= end) {
			target = (int64_t)i + 6 + walk_displacement(code + i + 2);
		}
		if (target >= (int64_t)end && target <= (int64_t)to)
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
		if (next <= to && !((vaddr + next) % 16) && !leads_over(code, from, next, to))
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

/* The code around an address of a module: `at` is its place in it. */
struct code {
	uint8_t bytes[BACK + AHEAD];
	size_t at, len;
	uint64_t vaddr; /* of the first byte */
};

/* False: it cannot be read. */
static bool read_code(const struct unwind_place *place, struct code *c)
{
	uint64_t before, ahead;

	cfi_extent(place->cfi, place->vaddr, &before, &ahead);
	c->at = before < BACK ? (size_t)before : BACK;
	if (ahead > AHEAD)
		ahead = AHEAD;
	/* What is beyond the end counts as zeroes. */
	memset(c->bytes, 0, sizeof(c->bytes));
	c->len = c->at + (ahead < 4 ? 4 : (size_t)ahead);
	c->vaddr = place->vaddr - c->at;
	return ahead && !cfi_read(place->cfi, c->vaddr, c->bytes, c->at + (size_t)ahead);
}

/* Whether mov %rsp,%rbp is there, in one of its encodings. */
static bool is_mov(const uint8_t *p)
{
	return p[0] == 0x48 && ((p[1] == 0x89 && p[2] == 0xe5) || (p[1] == 0x8b && p[2] == 0xec));
}

/*
 * The last push %rbp that is not beyond the address, and the mov %rsp,%rbp that comes after it,
 * with at most a few instructions between them. False: there are none.
 */
static bool find_prologue(const struct code *c, size_t *push, size_t *mov)
{
	for (*mov = c->len - 2; (*mov)-- > 1;) {
		size_t first = *mov > PROLOGUE ? *mov - PROLOGUE : 0;

		if (!is_mov(c->bytes + *mov))
			continue;
		for (*push = *mov; (*push)-- > first;)
			if (c->bytes[*push] == 0x55 && *push <= c->at)
				return true;
	}
	return false;
}

static enum stage stage_of(const struct code *c, bool exact)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, sub[] = {0x48, 0x83, 0xec, 0x08};
	const uint8_t *here = c->bytes + c->at;
	size_t push, mov;

	/* A function that linkers put together (.init, .fini) begins with sub $8,%rsp. */
	if (exact && (*here == 0xc3 || !memcmp(here, endbr, 4) || !memcmp(here, sub, 4)))
		return STAGE_ENTRY;
	if (!find_prologue(c, &push, &mov))
		return STAGE_UNKNOWN;
	if (c->at >= mov + 3)
		return ends_between(c->bytes, mov + 3, c->at, c->vaddr) ? STAGE_UNKNOWN
									: STAGE_BODY;
	return !exact ? STAGE_UNKNOWN : push == c->at ? STAGE_ENTRY : STAGE_PUSHED;
}

/* Whether code between two places moves the stack pointer; also where it only seems so. */
static bool moves_stack(const struct code *c, size_t from)
{
	for (size_t i = from; i < c->at; i++) {
		const uint8_t *p = c->bytes + i;

		if (p[0] >> 4 == 5 ||
		    (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xec))
			return true;
	}
	return false;
}

/*
 * Whether the word at the stack pointer is where a call of this very function returns to, which
 * has not moved the stack pointer since.
 */
static bool was_called(const struct walk *w, const struct unwind_place *at, const struct code *c,
		       int *rc)
{
	uint64_t sp = w->reg[w->arch->sp], pc, target;
	struct unwind_place place;
	uint8_t call[5];

	if (!walk_has(w, sp, 8))
		return false;
	pc = walk_load(w, sp, 8);
	*rc = walk_find(w, pc - 1, &place);
	if (*rc || place.cfi != at->cfi || cfi_read(place.cfi, place.vaddr - 4, call, 5) ||
	    call[0] != 0xe8)
		return false;
	target = place.vaddr + 1 + (uint64_t)(int64_t)walk_displacement(call + 1);
	return target >= c->vaddr && target <= at->vaddr &&
	       !ends_between(c->bytes, (size_t)(target - c->vaddr), c->at, c->vaddr) &&
	       !moves_stack(c, (size_t)(target - c->vaddr));
}

static enum stage stage_of_code(const struct walk *w, const struct unwind_place *at, int *rc)
{
	struct code c;
	enum stage stage;

	if (!read_code(at, &c))
		return STAGE_UNKNOWN;
	stage = stage_of(&c, w->exact);
	if (stage == STAGE_UNKNOWN && w->exact && was_called(w, at, &c, rc))
		stage = STAGE_ENTRY;
	return stage;
}

/* ---- any machine ---- */

/*
 * To the caller, whose return address is at `slot`, and frame pointer at `saved`. 0: it is in its
 * register; then the return address has to be sure.
 */
static bool go(struct walk *w, uint64_t slot, uint64_t saved, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t pc, fp = w->reg[a->fp];

	if (!walk_has(w, slot, a->width) || (saved && !walk_has(w, saved, a->width)))
		return false;
	pc = walk_load(w, slot, a->width) & a->pc_mask;
	if (saved)
		fp = walk_load(w, saved, a->width);
	if (!walk_is_return(w, pc, !saved, rc))
		return false;
	if (saved)
		walk_set(w, a->fp, fp);
	walk_set(w, a->sp, slot + a->width);
	walk_set(w, a->ra, pc);
	w->pc = pc;
	w->exact = false;
	return true;
}

/*
 * Where the caller of an interpreted Java method is compiled, its arguments were pushed onto its
 * frame: the interpreter keeps below the old frame pointer where the stack pointer was.
 */
static void take_sender(struct walk *w, uint64_t fp, int *rc)
{
	uint64_t sender = walk_has(w, fp - 8, 8) ? walk_load(w, fp - 8, 8) : 0;
	struct unwind_place caller;
	bool covered = false;

	if (w->arch->machine != EM_X86_64 || sender <= fp + 16 || sender % 8 ||
	    sender - fp - 16 > ARGUMENTS)
		return;
	*rc = walk_find(w, walk_addr(w), &caller);
	if (!*rc && caller.changes)
		*rc = cfi_covers(caller.cfi, caller.vaddr, &covered);
	if (covered)
		walk_set(w, w->arch->sp, sender);
}

/* `seen`: the code has set the frame pointer up. */
static bool by_frame_pointer(struct walk *w, const struct unwind_place *at, bool seen, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t fp = w->reg[a->fp], above, pc;

	if (!walk_knows(w, a->fp) || fp < w->reg[a->sp] || fp % a->width ||
	    !walk_has(w, fp, 2 * a->width))
		return false;
	/* A caller without a frame pointer can have anything in its register. */
	above = walk_load(w, fp, a->width);
	pc = walk_load(w, fp + a->width, a->width) & a->pc_mask;
	if (!seen && above && above <= fp && !(at->changes && walk_is_return(w, pc, true, rc)))
		return false;
	if (*rc || !go(w, fp + a->width, fp, rc))
		return false;
	if (at->changes)
		take_sender(w, fp, rc);
	return !*rc;
}

/*
 * Through code that only calls another function, as Python's trampolines do: it aligned the stack
 * by a word, and the return address comes after that, if what is there can be nothing else. One
 * that set up a frame pointer has it at the stack pointer.
 */
static bool through_call(struct walk *w, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t sp = w->reg[a->sp];

	return !w->exact && w->reg[a->fp] != sp && go(w, sp + a->width, 0, rc);
}

bool walk_guess(struct walk *w, const struct unwind_place *at, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t sp = w->reg[a->sp];
	enum stage stage = STAGE_BODY;
	bool known = at->cfi && !at->unseen;
	/* The code, not only the stack. Many entries have no beginning that could be seen. */
	bool seen = known && !at->changes && a->machine == EM_X86_64;

	/* Where others have their frame records, and what their calls look like, is not known. */
	if (a->machine != EM_X86_64 && a->machine != EM_386 && a->machine != EM_AARCH64)
		return false;
	/*
	 * A call of an address where nothing is has pushed where it came from; so has one of the
	 * code that compilers put on the stack for the address of a nested function.
	 */
	if (!known && w->exact && a->machine != EM_AARCH64 && go(w, sp, 0, rc))
		return true;
	if (*rc || (!at->cfi && at->why == UNWIND_NO_MAPPING))
		return false;
	if (seen)
		stage = stage_of_code(w, at, rc);
	if (*rc)
		return false;
	if (stage == STAGE_ENTRY)
		return go(w, sp, 0, rc);
	if (stage == STAGE_PUSHED)
		return go(w, sp + a->width, sp, rc);
	if (at->tiny && !at->cfi && a->machine == EM_X86_64 && through_call(w, rc))
		return true;
	if (*rc)
		return false;
	if (stage != STAGE_UNKNOWN && by_frame_pointer(w, at, seen, rc))
		return true;
	/* A piece of generated code that has no frame: most of what copies and compares. */
	return !*rc && at->changes && w->exact && go(w, sp, 0, rc);
}
