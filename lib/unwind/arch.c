/* The machines whose stacks are unwound. */
#include "unwind/arch.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static const struct unwind_arch x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.width = 8,
	.sp = 7,
	.fp = 6,
	.ra = 16,
	.pc = 8,
	.nperf = 24,
	/* ax bx cx dx si di bp sp ip, flags and segments, r8 to r15 */
	.dwarf = {0,  3,  2,  1,  4, 5, 6,  7,	16, -1, -1, -1,
		  -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15},
	.pc_mask = UINT64_MAX,
};

static const struct unwind_arch i386 = {
	.name = "i386",
	.machine = EM_386,
	.width = 4,
	.sp = 4,
	.fp = 5,
	.ra = 8,
	.pc = 8,
	.nperf = 9,
	.dwarf = {0, 3, 1, 2, 6, 7, 5, 4, 8},
	.pc_mask = UINT32_MAX,
};

static const struct unwind_arch aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.width = 8,
	.sp = 31,
	.fp = 29,
	.ra = 30,
	.pc = 32,
	.nperf = 32,
	.dwarf = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
	.pc_mask = (UINT64_C(1) << 48) - 1,
};

static const struct unwind_arch riscv64 = {
	.name = "riscv64",
	.machine = EM_RISCV,
	.width = 8,
	.sp = 2,
	.fp = 8,
	.ra = 1,
	.pc = 0,
	.nperf = 32,
	/* pc has the place of x0 */
	.dwarf = {-1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
	.pc_mask = UINT64_MAX,
};

/* Bit 0 of an address says that the code is Thumb. */
static const struct unwind_arch arm = {
	.name = "arm",
	.machine = EM_ARM,
	.width = 4,
	.sp = 13,
	.fp = 11,
	.ra = 14,
	.pc = 15,
	.nperf = 15,
	.dwarf = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
	.pc_mask = UINT32_MAX - 1,
};

/* A process of 32 bits under a kernel of aarch64, whose numbers its registers have. */
static const struct unwind_arch arm_compat = {
	.name = "arm",
	.machine = EM_ARM,
	.width = 4,
	.sp = 13,
	.fp = 11,
	.ra = 14,
	.pc = 32,
	.nperf = 15,
	.dwarf = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
	.pc_mask = UINT32_MAX - 1,
};

#define ABI_32 1 /* PERF_SAMPLE_REGS_ABI_32 */

const struct unwind_arch *unwind_arch(const char *name, uint64_t abi, uint64_t mask)
{
	const struct unwind_arch *a = NULL;

	if (!name || !*name) /* only aarch64 has a register 32 among these */
		a = mask >> 32 & 1 ? &aarch64 : &x86_64;
	else if (!strcmp(name, "x86_64") || !strcmp(name, "amd64") ||
		 (name[0] == 'i' && !strcmp(name + 2, "86")))
		a = &x86_64;
	else if (!strcmp(name, "aarch64") || !strcmp(name, "arm64"))
		a = &aarch64;
	else if (!strcmp(name, "riscv64") && abi != ABI_32)
		return &riscv64;
	else if (!strncmp(name, "arm", 3) && abi == ABI_32)
		return &arm;
	if (abi == ABI_32)
		a = a == &x86_64 ? &i386 : a == &aarch64 ? &arm_compat : NULL;
	return a;
}
