/*
 * Fields of a sample that are longer than a number, in the words of perf. The bits are those of
 * <linux/perf_event.h>: union perf_mem_data_src, struct perf_branch_entry.
 */
#include "event/datasrc.h"
#include "print/text_perf.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- registers: names by the bit numbers of <asm/perf_regs.h> of each architecture ---- */

static const char *const x86_regs[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",	 "FLAGS", "CS",	 "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",	  "R14", "R15",
};
static const char *const arm_regs[] = {"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
				       "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};
static const char *const arm64_regs[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
};
static const char *const riscv_regs[] = {
	"pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
	"a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const powerpc_regs[] = {
	"r0",	 "r1",	 "r2",	  "r3",	  "r4",	     "r5",    "r6",    "r7",	"r8",	 "r9",
	"r10",	 "r11",	 "r12",	  "r13",  "r14",     "r15",   "r16",   "r17",	"r18",	 "r19",
	"r20",	 "r21",	 "r22",	  "r23",  "r24",     "r25",   "r26",   "r27",	"r28",	 "r29",
	"r30",	 "r31",	 "nip",	  "msr",  "orig_r3", "ctr",   "link",  "xer",	"ccr",	 "softe",
	"trap",	 "dar",	 "dsisr", "sier", "mmcra",   "mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2",
	"sier3", "pmc1", "pmc2",  "pmc3", "pmc4",    "pmc5",  "pmc6",  "sdar",	"siar",
};
static const char *const s390_regs[] = {
	"R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
	"R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
	"FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};
static const struct {
	const char *arch; /* what uname says begins so */
	const char *const *names;
	unsigned n;
} machines[] = {
	{"x86", x86_regs, COUNT(x86_regs)},
	{"i386", x86_regs, COUNT(x86_regs)},
	{"i686", x86_regs, COUNT(x86_regs)},
	{"aarch64", arm64_regs, COUNT(arm64_regs)},
	{"arm64", arm64_regs, COUNT(arm64_regs)},
	{"arm", arm_regs, COUNT(arm_regs)},
	{"riscv", riscv_regs, COUNT(riscv_regs)},
	{"ppc", powerpc_regs, COUNT(powerpc_regs)},
	{"powerpc", powerpc_regs, COUNT(powerpc_regs)},
	{"s390", s390_regs, COUNT(s390_regs)},
};
#define X86_XMM 32 /* two bits for each register */

void text_add_regs(struct buf *b, const struct ps_regs *regs, const char *arch)
{
	const char *const *names = NULL;
	unsigned n = 0, at = 0;

	for (size_t i = 0; i < COUNT(machines) && !names; i++)
		if (!strncmp(arch, machines[i].arch, strlen(machines[i].arch))) {
			names = machines[i].names;
			n = machines[i].n;
		}
	buf_addf(b, " ABI:%llu ", (unsigned long long)regs->abi);
	for (unsigned bit = 0; bit < 64; bit++) {
		char name[8] = "unknown";

		if (!(regs->mask >> bit & 1))
			continue;
		if (bit < n)
			snprintf(name, sizeof(name), "%s", names[bit]);
		else if (names == x86_regs && bit >= X86_XMM)
			snprintf(name, sizeof(name), "XMM%u", (bit - X86_XMM) / 2);
		buf_addf(b, "%5s:0x%llx ", name, (unsigned long long)regs->v[at++]);
	}
}

/* ---- branches ---- */

static const char *branch_type(uint64_t flags)
{
	static const char *const names[] = {"",		"COND", "UNCOND",  "IND",    "CALL",
					    "IND_CALL", "RET",	"SYSCALL", "SYSRET", "COND_CALL",
					    "COND_RET", "ERET", "IRQ",	   "SERROR", "NO_TX"};
	static const char *const more[] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
					   "ARCH_2",	 "ARCH_3",     "ARCH_4",     "ARCH_5"};
	uint64_t type = flags >> 20 & 15, extended = flags >> 26 & 15;

	if (type < COUNT(names))
		return names[type];
	return extended < COUNT(more) ? more[extended] : "";
}

void text_add_branch_flags(struct buf *b, uint64_t flags)
{
	buf_addf(b, "/%c/%c/%c/%u/%s ",
		 flags & 2   ? 'P'
		 : flags & 1 ? 'M'
			     : '-',
		 flags & 4 ? 'X' : '-', flags & 8 ? 'A' : '-', (unsigned)(flags >> 4 & 0xffff),
		 branch_type(flags));
}

void text_add_branches(struct buf *b, const struct ps_branches *branches)
{
	for (uint32_t i = 0; i < branches->n; i++) {
		const uint64_t *v = branches->v + 3 * (size_t)i;

		buf_adds(b, " 0x");
		buf_add_hex(b, v[0], 0, ' ');
		buf_adds(b, "/0x");
		buf_add_hex(b, v[1], 0, ' ');
		text_add_branch_flags(b, v[2]);
	}
}

/* ---- data source ---- */

#define DATA_SRC_WIDTH 99

void text_add_data_src(struct buf *b, uint64_t src, int *width)
{
	size_t start = b->len;

	buf_add_hex(b, src, 16, ' ');
	buf_addc(b, ' ');
	datasrc_all(b, src);
	/* perf has room for so many. */
	if (!b->err && b->len - start > DATA_SRC_WIDTH)
		b->len = start + DATA_SRC_WIDTH;
	if (b->len - start > (size_t)*width)
		*width = (int)(b->len - start);
	buf_fill(b, ' ', (size_t)*width - (b->len - start));
}

/* ---- the others ---- */

#define DUMP_BYTES 8 /* of a line */

static bool printable(uint8_t c)
{
	return c >= ' ' && c < 0x7f;
}

/* Whether it is a text with a NUL, after which there is nothing but NULs. */
static bool is_text(const struct ps_str *s)
{
	size_t n = strnlen(s->p, s->len);

	for (size_t i = 0; i < s->len; i++)
		if (i < n ? !printable((uint8_t)s->p[i]) : s->p[i] != 0)
			return false;
	return n < s->len;
}

void text_add_bpf_output(struct buf *b, const struct ps_str *s)
{
	buf_addc(b, '\n');
	for (size_t at = 0; at < s->len; at += DUMP_BYTES) {
		size_t n = s->len - at < DUMP_BYTES ? s->len - at : DUMP_BYTES;

		buf_addf(b, "%17s %04zx:", at ? "           " : "BPF output:", at);
		for (size_t i = 0; i < n; i++) {
			buf_addc(b, ' ');
			buf_add_hex(b, (uint8_t)s->p[at + i], 2, '0');
		}
		buf_fill(b, ' ', 3 * (DUMP_BYTES - n) + 2);
		for (size_t i = 0; i < n; i++)
			buf_addc(b, printable((uint8_t)s->p[at + i]) ? s->p[at + i] : '.');
		buf_fill(b, ' ', DUMP_BYTES - n);
		buf_addc(b, '\n');
	}
	if (s->len && is_text(s))
		buf_addf(b, "%17s \"%s\"\n", "BPF string:", s->p);
}

void text_add_page_size(struct buf *b, uint64_t bytes)
{
	static const char units[] = "BKMG";
	int unit = 0;

	if (!bytes) {
		buf_adds(b, " N/A");
		return;
	}
	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	buf_addf(b, " %llu%c", (unsigned long long)bytes, units[unit]);
}

void text_tod_set(struct text_tod *tod, const struct ps_str *offset)
{
	char text[32], *end;

	*tod = (struct text_tod){0};
	if (!offset->len || offset->len >= sizeof(text))
		return;
	memcpy(text, offset->p, offset->len);
	text[offset->len] = 0;
	tod->offset = strtoll(text, &end, 10);
	tod->known = !*end;
}

void text_add_tod(struct buf *b, struct text_tod *tod, uint64_t ns)
{
	int64_t at = (int64_t)(ns + (uint64_t)tod->offset);
	int64_t rest = at % 1000000000;
	int64_t second = at / 1000000000 - (rest < 0);
	time_t unix = (time_t)second;
	struct tm tm;

	if (!tod->text[0] || tod->second != second) {
		if (!localtime_r(&unix, &tm) ||
		    !strftime(tod->text, sizeof(tod->text), "%Y-%m-%d %H:%M:%S", &tm))
			return;
		tod->second = second;
	}
	buf_adds(b, tod->text);
	buf_addc(b, '.');
	buf_add_u64(b, (uint64_t)(rest < 0 ? rest + 1000000000 : rest) / 1000, 6, '0');
	buf_addc(b, ' ');
}
