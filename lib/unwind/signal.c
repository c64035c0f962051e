/*
 * What signal handlers return to: code that asks the kernel to go on where it was interrupted. Most
 * C libraries have a table for it, musl has none. It is known by its instructions, as the kernel
 * has them in its own tests (rt_sigreturn).
 */
#include "unwind/walk.h"

#include <elf.h>

/* Where the kernel puts registers, from the stack pointer that the handler leaves. */
#define X86_REGS   40 /* the sigcontext in struct ucontext: r8 to r15, di si bp bx dx ax cx sp ip */
#define ARM64_REGS 312 /* siginfo, 168 bytes of ucontext, fault_address; x0 to x30, sp, pc */

static bool is_x86(const uint8_t *p)
{
	static const uint8_t longer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t shorter[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

	return !memcmp(p, longer, sizeof(longer)) || !memcmp(p, shorter, sizeof(shorter));
}

static bool is_arm64(const uint8_t *p)
{
	static const uint8_t code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};

	return !memcmp(p, code, sizeof(code));
}

static bool take_x86(struct walk *w)
{
	static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
	uint64_t at = w->reg[w->arch->sp] + X86_REGS;

	if (!walk_has(w, at, 8 * sizeof(order)))
		return false;
	for (unsigned i = 0; i < sizeof(order); i++)
		walk_set(w, order[i], walk_load(w, at + 8 * (uint64_t)i, 8));
	w->pc = w->reg[w->arch->ra];
	return true;
}

static bool take_arm64(struct walk *w)
{
	uint64_t at = w->reg[w->arch->sp] + ARM64_REGS;

	if (!walk_has(w, at, 8 * 33))
		return false;
	for (unsigned i = 0; i < 32; i++)
		walk_set(w, i, walk_load(w, at + 8 * (uint64_t)i, 8));
	w->pc = walk_load(w, at + 8 * UINT64_C(32), 8);
	return true;
}

bool walk_at_sigreturn(const struct walk *w, int *rc)
{
	unsigned machine = w->arch->machine;
	struct unwind_place place;
	uint8_t code[9] = {0};

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return false;
	*rc = walk_find(w, w->pc, &place);
	if (*rc || !place.cfi || place.unseen || cfi_read(place.cfi, place.vaddr, code, 9))
		return false;
	return machine == EM_X86_64 ? is_x86(code) : is_arm64(code);
}

bool walk_signal(struct walk *w, int *rc)
{
	if (!walk_at_sigreturn(w, rc))
		return false;
	if (w->arch->machine == EM_X86_64 ? !take_x86(w) : !take_arm64(w))
		return false;
	w->exact = true;
	return true;
}
