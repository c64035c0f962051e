/* The unwinder: expressions against results by hand, rules made by hand for x86-64 and aarch64. */
#include "unwind/dwarf_expr.h"
#include "unwind/unwind.h"

#include "base/err.h"
#include "elf_make.h"
#include "tap.h"

#include <string.h>

/* ---- expressions ---- */

static int read_word(void *ctx, uint64_t addr, unsigned size, uint64_t *value)
{
	(void)ctx;
	*value = addr * 2 + size;
	return addr == 0xdead ? PP_ECUT : 0;
}

static const struct {
	const char *what;
	uint8_t bytes[12];
	size_t n;
	int rc;
	uint64_t value;
} expressions[] = {
	{"a register and an offset", {0x77, 0x08}, 2, 0, 0x1008},
	{"a negative offset", {0x77, 0x78}, 2, 0, 0xff8},
	{"what a register points to", {0x77, 0x08, 0x06}, 3, 0, 0x2018},
	/* DWARF 5, 2.5.1.4: 17 modulo 5, shifted left by 3 */
	{"arithmetic", {0x08, 17, 0x35, 0x1d, 0x33, 0x24}, 6, 0, 16},
	/* rsp + 8 + ((rip & 15) >= 11) << 3, as linkers write it for their tables of calls */
	{"a table of calls",
	 {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
	 11,
	 0,
	 0x1010},
	/* 1 2 3 becomes 3 1 2; without the last 3 - 1 */
	{"rotation", {0x31, 0x32, 0x33, 0x17, 0x13, 0x1c}, 6, 0, 2},
	{"a branch that is taken", {0x31, 0x28, 1, 0, 0x30, 0x35}, 6, 0, 5},
	{"a circle ends", {0x2f, 0xfd, 0xff}, 3, PP_ECORRUPT, 0},
	{"nothing on the stack", {0x22}, 1, PP_ECORRUPT, 0},
	{"division by zero", {0x31, 0x30, 0x1b}, 3, PP_ECORRUPT, 0},
	{"a register that is not known", {0x73, 0}, 2, PP_ENOENT, 0},
	{"memory that is not there", {0x0a, 0xad, 0xde, 0x06}, 4, PP_ECUT, 0},
	{"a cut operand", {0x0e, 1, 2}, 3, PP_ECORRUPT, 0},
	{"an operation for variables", {0x9f}, 1, PP_EUNSUPPORTED, 0},
};

static void test_expressions(void)
{
	uint64_t regs[UNWIND_REGS] = {[7] = 0x1000, [16] = 0x40100b};
	struct expr_env env = {
		.regs = regs, .known = 1 << 7 | 1 << 16, .width = 8, .read = read_word};

	env.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; /* the bytes are little endian */

	for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++) {
		uint64_t v = 0;
		int rc = expr_run(&env, expressions[i].bytes, expressions[i].n, NULL, &v);

		is_int(rc, expressions[i].rc, "%s", expressions[i].what);
		if (!rc)
			is_u64(v, expressions[i].value, "%s: the value", expressions[i].what);
	}
}

/* ---- walks ---- */

#define TEXT	 0x1000u
#define EH_FRAME 0x2000u

/*
 * A module with one table: a function at TEXT of 64 bytes, whose rules change after its first
 * instruction, and one after it that is outermost.
 */
static void make_module(uint16_t machine, struct buf *file)
{
	bool a64 = machine == EM_AARCH64;
	struct elf_make m = {.is64 = true, .machine = machine, .type = ET_DYN};
	static const uint8_t x86_cie[] = {1,	'z',  'R', 0, 1,    0x78, 16, 1,
					  0x1b, 0x0c, 7,   8, 0x90, 1,	  0,  0};
	static const uint8_t a64_cie[] = {1,	'z',  'R', 0, 4, 0x78, 30, 1,
					  0x1b, 0x0c, 31,  0, 0, 0,    0,  0};
	/* push %rbp: CFA = rsp + 16, rbp at CFA - 16; stp x29, x30, [sp, #-16]! likewise */
	static const uint8_t x86_run[] = {0, 0x41, 0x0e, 16, 0x86, 2, 0, 0};
	static const uint8_t a64_run[] = {0, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1};
	static const uint8_t x86_last[] = {0, 0x07, 16, 0, 0, 0, 0, 0};
	static const uint8_t a64_last[] = {0, 0x07, 30, 0, 0, 0, 0, 0};
	struct buf eh = BUF_INIT;

	elf_make_put(&m, &eh, 20, 4);
	elf_make_put(&m, &eh, 0, 4);
	buf_add(&eh, a64 ? a64_cie : x86_cie, 16);
	for (int i = 0; i < 2; i++) {
		elf_make_put(&m, &eh, 20, 4);
		elf_make_put(&m, &eh, eh.len, 4);
		elf_make_put(&m, &eh, (uint64_t)(TEXT + 64 * i) - (EH_FRAME + eh.len), 4);
		elf_make_put(&m, &eh, 64, 4);
		if (i)
			buf_add(&eh, a64 ? a64_last : x86_last, 8);
		else
			buf_add(&eh, a64 ? a64_run : x86_run, 8);
	}
	elf_make_put(&m, &eh, 0, 4);
	elf_make_section(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, EH_FRAME, eh.data, eh.len);
	elf_make_finish(&m, file);
	buf_release(&eh);
}

struct world {
	struct cfi *cfi;
	unsigned asked;
};

static int find(void *ctx, uint64_t addr, struct unwind_place *place)
{
	struct world *w = ctx;

	w->asked++;
	if (addr >= 0x400000 && addr < 0x410000) {
		place->cfi = w->cfi;
		place->vaddr = addr - 0x400000;
	}
	return 0;
}

struct run {
	struct rows rows;
	struct world world;
	struct buf file;
	struct elf_file *elf;
	struct unwinder *u;
};

static void begin(struct run *r, uint16_t machine)
{
	enum symtab_reason why;

	*r = (struct run){0};
	make_module(machine, &r->file);
	is_int(elf_file_memory(&r->elf, r->file.data, r->file.len, &why), 0, "the module opens");
	cfi_new(&r->world.cfi, &r->rows);
	is_int(cfi_add(r->world.cfi, r->elf, true), 0, "and has tables");
	unwinder_new(&r->u, &r->rows, find, &r->world);
}

static void finish(struct run *r)
{
	unwinder_free(r->u);
	cfi_free(r->world.cfi);
	rows_release(&r->rows);
	elf_file_close(r->elf);
	buf_release(&r->file);
}

static void test_x86_64(void)
{
	/* ax bx cx dx si di bp sp ip; only bp, sp, ip were recorded */
	uint64_t regs[] = {0xb0, 0x7000, 0x401010};
	uint64_t stack[] = {0xb1, 0x401005, 0xb2, 0x401031, 0xb3, 0x401051, 1, 2};
	struct unwind_sample s = {.arch = unwind_arch("x86_64", 2, 7 << 6),
				  .space = 1,
				  .mask = 7 << 6,
				  .regs = regs,
				  .stack = (const uint8_t *)stack,
				  .len = sizeof(stack)};
	struct unwind_result res;
	unsigned asked;
	struct run r;

	begin(&r, EM_X86_64);
	is_int(unwinder_run(r.u, &s, &res), 0, "x86-64: runs");
	is_int(res.n, 4, "up to the function that has no caller");
	is_u64(res.ips[3], 0x401051, "which is the last");
	is_int(res.end, UNWIND_OUTERMOST, "and says so");
	asked = r.world.asked;
	unwinder_run(r.u, &s, &res);
	is_int(r.world.asked, asked, "a second run asks for nothing");
	s.len = 3 * sizeof(*stack);
	unwinder_run(r.u, &s, &res);
	is_int(res.n, 2, "a copy that ends before a return address ends the chain");
	is_int(res.end, UNWIND_COPY, "and says so");
	s.len = sizeof(stack);
	regs[2] = 0x400000 + TEXT;
	stack[0] = 0x401031;
	unwinder_run(r.u, &s, &res);
	is_u64(res.ips[1], 0x401031, "at the first instruction nothing was pushed");
	regs[2] = 0x500000;
	unwinder_run(r.u, &s, &res);
	is_int(res.end, UNWIND_NO_MAPPING, "an address in no mapping");
	s.mask = 5 << 6;
	unwinder_run(r.u, &s, &res);
	is_int(res.end, UNWIND_REGISTERS, "without the stack pointer there is nothing");
	finish(&r);
}

static void test_aarch64(void)
{
	uint64_t regs[33] = {[29] = 0x7000, [30] = 0x401008, [31] = 0x7000, [32] = 0x401000};
	uint64_t stack[] = {0x7010, 0x2a000000401014, 0x7020, 0x401050, 0, 0};
	struct unwind_sample s = {.arch = unwind_arch("aarch64", 2, (UINT64_C(1) << 33) - 1),
				  .space = 1,
				  .mask = (UINT64_C(1) << 33) - 1,
				  .regs = regs,
				  .stack = (const uint8_t *)stack,
				  .len = sizeof(stack)};
	struct unwind_result res;
	struct run r;

	begin(&r, EM_AARCH64);
	is_int(unwinder_run(r.u, &s, &res), 0, "aarch64: runs");
	is_int(res.n, 4, "up to the function that has no caller");
	is_u64(res.ips[1], 0x401008,
	       "a function that has saved nothing has its caller in a register");
	is_u64(res.ips[2], 0x401014, "a signature is taken off");
	is_int(res.end, UNWIND_OUTERMOST, "the end");
	/* A caller cannot have its return address in the register still. */
	regs[30] = 0x401004;
	unwinder_run(r.u, &s, &res);
	is_int(res.end, UNWIND_LOOP, "no frame leads to itself");
	finish(&r);
}

/*
 * A module of a machine whose return address is in a register, which is saved with the frame
 * pointer by the first instruction (run); the second function is outermost (last).
 */
static void make_other(uint16_t machine, const uint8_t cie[16], const uint8_t run[8],
		       const uint8_t last[8], struct buf *file)
{
	struct elf_make m = {.is64 = machine != EM_ARM, .machine = machine, .type = ET_DYN};
	struct buf frame = BUF_INIT;

	/* .debug_frame: what arm has, where .eh_frame is rare; addresses as they are */
	elf_make_put(&m, &frame, 16, 4);
	buf_add(&frame, cie, 16);
	for (int i = 0; i < 2; i++) {
		elf_make_put(&m, &frame, (uint64_t)(12 + 2 * (m.is64 ? 8 : 4)), 4);
		elf_make_put(&m, &frame, 0, 4);
		elf_make_word(&m, &frame, (uint64_t)(TEXT + 64 * i));
		elf_make_word(&m, &frame, 64);
		buf_add(&frame, i ? last : run, 8);
	}
	elf_make_section(&m, ".debug_frame", SHT_PROGBITS, 0, 0, frame.data, frame.len);
	elf_make_finish(&m, file);
	buf_release(&frame);
}

static void begin_other(struct run *r, uint16_t machine, const uint8_t cie[16],
			const uint8_t run[8], const uint8_t last[8])
{
	enum symtab_reason why;

	*r = (struct run){0};
	make_other(machine, cie, run, last, &r->file);
	is_int(elf_file_memory(&r->elf, r->file.data, r->file.len, &why), 0, "the module opens");
	cfi_new(&r->world.cfi, &r->rows);
	is_int(cfi_add(r->world.cfi, r->elf, true), 0, "and has tables");
	unwinder_new(&r->u, &r->rows, find, &r->world);
}

static void test_riscv64(void)
{
	/* addi sp,-16; sd ra,8(sp); sd s0,0(sp): CFA = sp + 16, ra at CFA - 8, s0 at CFA - 16 */
	static const uint8_t cie[16] = {0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x78, 1, 0x0c, 2, 0};
	static const uint8_t run[8] = {0x44, 0x0e, 16, 0x81, 1, 0x88, 2, 0};
	static const uint8_t last[8] = {0x07, 1, 0, 0, 0, 0, 0, 0};
	uint64_t mask = UINT64_C(0xffffffff), regs[32] = {0x401008, 0x401020, 0x7000, [8] = 5};
	uint64_t stack[] = {0x6, 0x401014, 0x7, 0x401050, 0, 0};
	struct unwind_sample s = {.arch = unwind_arch("riscv64", 2, mask),
				  .space = 1,
				  .mask = mask,
				  .regs = regs,
				  .stack = (const uint8_t *)stack,
				  .len = sizeof(stack)};
	struct unwind_result res;
	struct run r;

	begin_other(&r, EM_RISCV, cie, run, last);
	is_int(unwinder_run(r.u, &s, &res), 0, "riscv64: runs");
	is_int(res.n, 3, "up to the function that has no caller");
	is_u64(res.ips[1], 0x401014, "a return address that was saved");
	is_u64(res.ips[2], 0x401050, "and the next");
	is_int(res.end, UNWIND_OUTERMOST, "the end");
	regs[0] = 0x401000;
	is_int(unwinder_run(r.u, &s, &res), 0, "at the first instruction");
	is_u64(res.ips[1], 0x401020, "the return address is in its register");
	regs[0] = 0x500000;
	unwinder_run(r.u, &s, &res);
	is_int(res.end, UNWIND_NO_MAPPING, "nothing is guessed where nothing is mapped");
	finish(&r);
}

static void test_arm(void)
{
	/* push {r11, lr}: CFA = sp + 8, lr at CFA - 4, r11 at CFA - 8 */
	static const uint8_t cie[16] = {0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x7c, 14, 0x0c, 13, 0};
	static const uint8_t run[8] = {0x44, 0x0e, 8, 0x8e, 1, 0x8b, 2, 0};
	static const uint8_t last[8] = {0x07, 14, 0, 0, 0, 0, 0, 0};
	uint64_t regs[33] = {[11] = 5, [13] = 0x7000, [14] = 0x401021, [15] = 0x401008};
	uint32_t stack[] = {6, 0x401015, 7, 0x401050, 0, 0};
	struct unwind_sample s = {.arch = unwind_arch("armv7l", 1, 0xffff),
				  .space = 1,
				  .mask = 0xffff,
				  .regs = regs,
				  .stack = (const uint8_t *)stack,
				  .len = sizeof(stack)};
	struct unwind_result res;
	struct run r;

	begin_other(&r, EM_ARM, cie, run, last);
	is_int(unwinder_run(r.u, &s, &res), 0, "arm: runs");
	is_int(res.n, 3, "up to the function that has no caller");
	is_u64(res.ips[1], 0x401014, "the bit that says Thumb is taken off");
	is_u64(res.ips[2], 0x401050, "and the next");
	is_int(res.end, UNWIND_OUTERMOST, "the end");
	/* The same process under a kernel of 64 bits. */
	s.mask = UINT64_C(0x100000000) | 0x7fff;
	s.arch = unwind_arch("aarch64", 1, s.mask);
	regs[15] = 0x401008; /* the last of the mask: pc */
	is_int(unwinder_run(r.u, &s, &res), 0, "arm under aarch64: runs");
	is_int(res.n, 3, "with the same frames");
	is_int(res.end, UNWIND_OUTERMOST, "and the same end");
	finish(&r);
	is_int(!unwind_arch("ppc64le", 2, 0xffff), 1, "other machines are not unwound");
	is_int(!unwind_arch("s390x", 2, 0xffff), 1, "nor this one");
}

int main(void)
{
	test_expressions();
	test_x86_64();
	test_aarch64();
	test_riscv64();
	test_arm();
	return done();
}
