/* Words of options for numbers of <linux/perf_event.h>: branches, registers, sizes, signals. */
#include "base/err.h"
#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>

struct word {
	const char *name;
	uint64_t bit;
};

#define B(x) PERF_SAMPLE_BRANCH_##x
static const struct word branches[] = {
	{"u", B(USER)},
	{"k", B(KERNEL)},
	{"hv", B(HV)},
	{"any", B(ANY)},
	{"any_call", B(ANY_CALL)},
	{"any_ret", B(ANY_RETURN)},
	{"ind_call", B(IND_CALL)},
	{"ind_jmp", B(IND_JUMP)},
	{"call", B(CALL)},
	{"abort_tx", B(ABORT_TX)},
	{"in_tx", B(IN_TX)},
	{"no_tx", B(NO_TX)},
	{"cond", B(COND)},
	{"no_flags", B(NO_FLAGS)},
	{"no_cycles", B(NO_CYCLES)},
	{"save_type", B(TYPE_SAVE)},
	{"stack", B(CALL_STACK)},
	{"hw_index", B(HW_INDEX)},
	{0},
};
#undef B
#define BRANCH_LEVELS \
	(uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

/* Registers by number, as <asm/perf_regs.h> has them. */
static const struct word registers[] = {
#if defined(__x86_64__) || defined(__i386__)
	{"ax", 0},   {"bx", 1},	  {"cx", 2},   {"dx", 3},    {"si", 4},	  {"di", 5},
	{"bp", 6},   {"sp", 7},	  {"ip", 8},   {"flags", 9}, {"cs", 10},  {"ss", 11},
	{"ds", 12},  {"es", 13},  {"fs", 14},  {"gs", 15},   {"r8", 16},  {"r9", 17},
	{"r10", 18}, {"r11", 19}, {"r12", 20}, {"r13", 21},  {"r14", 22}, {"r15", 23},
#elif defined(__aarch64__)
	{"lr", 30},
	{"sp", 31},
	{"pc", 32},
#endif
	{0},
};
/* Those that the kernel copies; a copied stack is unwound from them. */
#if defined(__x86_64__)
#define ALL_REGISTERS UINT64_C(0xff0fff) /* without ds, es, fs, gs, which the kernel refuses */
#define STACK_POINTER 7
#elif defined(__i386__)
#define ALL_REGISTERS UINT64_C(0xfff)
#define STACK_POINTER 7
#elif defined(__aarch64__)
#define ALL_REGISTERS ((UINT64_C(1) << 33) - 1)
#define STACK_POINTER 31
#elif defined(__riscv)
#define ALL_REGISTERS UINT64_C(0xffffffff)
#define STACK_POINTER 2
#elif defined(__arm__)
#define ALL_REGISTERS UINT64_C(0xffff)
#define STACK_POINTER 13
#else
#define ALL_REGISTERS UINT64_C(0)
#define STACK_POINTER 63
#endif

static const struct word *find(const struct word *words, const char *name, size_t len)
{
	for (; words->name; words++)
		if (strlen(words->name) == len && strncasecmp(words->name, name, len) == 0)
			return words;
	return NULL;
}

static int unknown(const struct word *words, const char *name, size_t len, struct buf *why)
{
	buf_adds(why, "'");
	buf_add_safe(why, name, len);
	buf_adds(why, "' is not one of");
	for (; words->name; words++)
		buf_addf(why, " %s", words->name);
	return PP_EUSAGE;
}

int words_branches(const char *arg, uint64_t *mask, struct buf *why)
{
	uint64_t bits = 0;

	for (const char *p = arg;; p++) {
		size_t len = strcspn(p, ",");
		const struct word *w = find(branches, p, len);

		if (!w)
			return unknown(branches, p, len, why);
		bits |= w->bit;
		p += len;
		if (!*p)
			break;
	}
	*mask |= bits & ~BRANCH_LEVELS ? bits : bits | PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

uint64_t words_all_registers(void)
{
	return ALL_REGISTERS;
}

unsigned words_stack_pointer(void)
{
	return STACK_POINTER;
}

int words_registers(const char *arg, uint64_t *mask, struct buf *why)
{
	if (!arg) {
		*mask = ALL_REGISTERS;
		if (!*mask)
			buf_adds(why, "the registers of this machine are not known");
		return *mask ? 0 : PP_EUSAGE;
	}
	for (const char *p = arg;; p++) {
		size_t len = strcspn(p, ",");
		const struct word *w = find(registers, p, len);
		char *end = NULL;
		unsigned long n = 64;

		if (w)
			n = w->bit;
		else if (*p == 'x' && len > 1) /* aarch64's x0 to x29 */
			n = strtoul(p + 1, &end, 10);
		if (n > 63 || (!w && end != p + len) || !(ALL_REGISTERS >> n & 1))
			return unknown(registers, p, len, why);
		*mask |= 1ull << n;
		p += len;
		if (!*p)
			return 0;
	}
}

int words_size(const char *arg, uint64_t *bytes, bool *unit)
{
	static const char units[] = "BKMGT";
	uint64_t v;
	char *end;

	*unit = false;
	if (*arg < '0' || *arg > '9')
		return PP_EUSAGE;
	errno = 0;
	v = strtoull(arg, &end, 10);
	if (errno)
		return PP_EUSAGE;
	if (*end) {
		const char *u = strchr(units, *end >= 'a' ? *end - 32 : *end);

		if (!u)
			return PP_EUSAGE;
		for (; u > units; u--)
			if (__builtin_mul_overflow(v, UINT64_C(1024), &v))
				return PP_EUSAGE;
		*unit = true;
		end++;
	}
	*bytes = v;
	return *end ? PP_EUSAGE : 0;
}
