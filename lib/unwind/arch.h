/*
 * The machines whose stacks can be unwound: how their registers are numbered by the kernel's perf
 * events (arch/ARCH/include/uapi/asm/perf_regs.h) and by DWARF (the ABI supplements), and which
 * have a part.
 */
#ifndef PP_UNWIND_ARCH_H
#define PP_UNWIND_ARCH_H

#include <stdint.h>

#define ARCH_PERF_REGS 33

struct unwind_arch {
	const char *name;
	unsigned machine; /* EM_... */
	uint8_t width;	  /* bytes of an address */
	uint8_t sp, fp;	  /* by DWARF number */
	uint8_t ra;	  /* of the return address: where it is found in a frame's registers */
	uint8_t pc;	  /* by perf's number */
	uint8_t nperf;	  /* registers of perf that have a DWARF number, with gaps */
	int8_t dwarf[ARCH_PERF_REGS]; /* by perf's number; -1: none */
	uint64_t pc_mask;	      /* bits of an address: the others may be a signature */
};

/*
 * The machine of a sample, by the registers that were recorded: mask and ABI as in
 * PERF_SAMPLE_REGS_USER; `name` is what uname(2) said there, NULL or "" if that is not known.
 * NULL: one that is not supported.
 */
const struct unwind_arch *unwind_arch(const char *name, uint64_t abi, uint64_t mask);

#endif
