/*
 * The unwinder on made-up modules, registers and stacks: tables, their instructions, expressions,
 * guesses.
 */
#include "base/cursor.h"
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x400000u
#define SPAN 0x1000000u /* of addresses that are the module's */

struct world {
	struct cfi *cfi;
};

static int find(void *ctx, uint64_t addr, struct unwind_place *place)
{
	const struct world *w = ctx;

	if (addr - BASE < SPAN) {
		place->cfi = w->cfi;
		place->vaddr = addr;
	} else if (addr >> 32 == 0x7f) {
		place->why = UNWIND_GENERATED;
	}
	return 0;
}

static void check(const struct unwind_result *res)
{
	uint64_t sum = 0;

	if (!res->end || (res->n > UNWIND_DEPTH_MAX) || (!res->n && res->end != UNWIND_REGISTERS))
		abort();
	for (uint32_t i = 0; i < res->n; i++)
		sum += res->ips[i] + res->exact[i];
	if (sum == UINT64_MAX - 1)
		abort();
}

/*
 * An input is: a byte for the machine, one that is not used, 2 bytes for the length of the stack,
 * 33 registers of 8 bytes, the stack, and the ELF file of the module.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t masks[] = {0xff0fff, (UINT64_C(1) << 33) - 1, 0x1ff, 0xffffffff,
					 0xffff};
	static const char *const names[] = {"x86_64", "aarch64", "i686", "riscv64", "armv7l"};
	struct cursor c = cursor_make(data, size, false);
	unsigned kind = get_u8(&c) % 5;
	uint64_t regs[33], mask = masks[kind];
	struct unwind_result res;
	struct rows rows = {0};
	struct world w = {0};
	enum symtab_reason why;
	struct unwind_sample s = {.mask = mask, .regs = regs, .space = 1};
	struct unwinder *u = NULL;
	struct elf_file *f;

	get_u8(&c);
	s.len = get_u16(&c);
	for (int i = 0; i < 33; i++)
		regs[i] = get_u64(&c);
	s.stack = get_bytes(&c, s.len);
	s.arch = unwind_arch(names[kind], kind == 2 || kind == 4 ? 1 : 2, mask);
	if (c.bad || elf_file_memory(&f, c.p, cursor_left(&c), &why))
		return 0;
	if (!cfi_new(&w.cfi, &rows) && !cfi_add(w.cfi, f, true) &&
	    !unwinder_new(&u, &rows, find, &w))
		for (int i = 0; i < 3; i++) {
			if (!unwinder_run(u, &s, &res))
				check(&res);
			regs[s.arch->pc] += 1 + (uint64_t)i * 16;
		}
	unwinder_free(u);
	cfi_free(w.cfi);
	rows_release(&rows);
	elf_file_close(f);
	return 0;
}
