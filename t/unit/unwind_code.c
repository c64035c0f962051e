/*
 * Unwind rows from machine code. With files as arguments it is no test, but a judge: the rows of
 * all their functions that have a table, from the code alone, beside those of the table, at each
 * instruction (see t/oracle/code-rows).
 *
 *	unwind_code [-v] FILE [FUNCTIONS]
 */
#include "unwind/cfi_parts.h"
#include "unwind/code_parts.h"

#include "base/err.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* ---- the judge ---- */

struct judge {
	struct cfi *cfi;
	struct rows rows;
	bool verbose;
	unsigned long right, wrong, unknown, other, functions, good;
};

static int read_code(void *ctx, uint64_t vaddr, void *to, size_t n)
{
	return cfi_read(ctx, vaddr, to, n);
}

static const struct row *row_at(const struct judge *j, const struct code_rows *c, uint64_t addr)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (addr >= c->v[i].start && addr < c->v[i].end)
			return rows_get(&j->rows, c->v[i].row);
	return NULL;
}

static const struct row_rule *rule_of(const struct row *row, unsigned reg)
{
	for (unsigned i = 0; i < row->nrules; i++)
		if (row->rule[i].reg == reg)
			return &row->rule[i];
	return NULL;
}

/* Whether both find a register of the caller at the same place. */
static bool same_rule(const struct row *table, const struct row *code, unsigned reg)
{
	const struct row_rule *a = rule_of(table, reg), *b = rule_of(code, reg);
	bool moved_a = a && a->how != ROW_SAME, moved_b = b && b->how != ROW_SAME;

	if (!moved_a && !moved_b)
		return true;
	/* A register that is saved and not yet changed is right either way. */
	if (!moved_a || !moved_b)
		return reg != table->ra || (!moved_a && b->how == ROW_OFFSET);
	return a->how != ROW_OFFSET || b->how != ROW_OFFSET || a->value == b->value;
}

/* 1 right, 0 not known, -1 wrong, 2 cannot be compared. */
static int compare(const struct row *table, const struct row *const code[2], unsigned saved)
{
	const struct row *fits = NULL;

	if (!code[0] && !code[1])
		return 0;
	if (table->flags & ROW_OUTERMOST || table->cfa.how != ROW_REGISTER)
		return 2;
	for (int i = 0; i < 2; i++)
		if (code[i] && !(code[i]->flags & ROW_OUTERMOST) &&
		    code[i]->cfa.how == ROW_REGISTER && code[i]->cfa.reg == table->cfa.reg)
			fits = code[i];
	if (!fits)
		return 2;
	if (fits->cfa.value != table->cfa.value || !same_rule(table, fits, table->ra))
		return -1;
	for (unsigned r = 0; r < 32; r++)
		if (saved >> r & 1 && !same_rule(table, fits, r))
			return -1;
	return 1;
}

static void judge(struct judge *j, const struct cfi_fde *fde, const struct code_machine *m)
{
	struct code_function f = {.machine = m->machine,
				  .start = fde->start,
				  .len = fde->len,
				  .read = read_code,
				  .ctx = j->cfi};
	struct code_rows c[2] = {{0}, {0}};
	struct code_insns insns = {0};
	uint8_t *bytes = malloc(fde->len);
	unsigned long faults = 0;

	f.bytes = bytes;
	if (!bytes || cfi_read(j->cfi, fde->start, bytes, fde->len)) {
		free(bytes);
		return;
	}
	for (int i = 0; i < 2; i++) {
		f.by_sp = i;
		if (code_rows(&f, &j->rows, &c[i]))
			exit(2);
	}
	m->decode(&f, &insns);
	for (uint32_t i = 0; i < insns.n; i++) {
		uint64_t at = fde->start + insns.v[i].at;
		const struct row *code[2] = {row_at(j, &c[0], at), row_at(j, &c[1], at)};
		uint32_t id;
		int is;

		if (insns.v[i].flow == CODE_PADDING || cfi_row(j->cfi, at, &id) ||
		    rows_get(&j->rows, id)->flags & ROW_NONE)
			continue;
		is = compare(rows_get(&j->rows, id), code, m->saved);
		j->right += is == 1;
		j->unknown += is == 0;
		j->wrong += is == -1;
		j->other += is == 2;
		faults += is < 1;
		if (j->verbose && is < 1)
			printf("%s %llx in %llx\n", is ? "wrong" : "unknown",
			       (unsigned long long)at, (unsigned long long)fde->start);
	}
	j->functions++;
	j->good += !faults;
	code_rows_release(&c[0]);
	code_rows_release(&c[1]);
	free(insns.v);
	free(bytes);
}

/* Whether the table says that it is entered by a call. */
static bool is_called(struct judge *j, const struct cfi_fde *fde, const struct code_machine *m)
{
	const struct row *row;
	uint32_t id;

	if (cfi_row(j->cfi, fde->start, &id))
		return false;
	row = rows_get(&j->rows, id);
	return !(row->flags & (ROW_NONE | ROW_SIGNAL)) && row->cfa.how == ROW_REGISTER &&
	       row->cfa.reg == m->sp && row->cfa.value == m->entry;
}

static int judge_file(const char *path, unsigned long limit, bool verbose)
{
	struct judge j = {.verbose = verbose};
	const struct code_machine *m;
	enum symtab_reason why;
	struct elf_file *f;
	uint64_t at = 0, n = 0, all;
	bool is_fde;

	if (elf_file_open(&f, path, &why) || cfi_new(&j.cfi, &j.rows) || cfi_add(j.cfi, f, true)) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 2;
	}
	m = cfi_machine(j.cfi) == EM_AARCH64 ? &code_arm64 : &code_x86;
	/* Each one, or every so many of them. */
	while (!cfi_next_entry(&j.cfi->eh, &at, &is_fde))
		n += is_fde;
	all = n;
	at = n = 0;
	for (uint64_t here = 0; !cfi_next_entry(&j.cfi->eh, &at, &is_fde); here = at) {
		struct cfi_fde fde;

		if (!is_fde || (limit && limit < all && n++ % (all / limit)) ||
		    cfi_fde_at(&j.cfi->eh, here, &fde) || !fde.len || fde.len > 200000 ||
		    !is_called(&j, &fde, m))
			continue;
		judge(&j, &fde, m);
	}
	all = j.right + j.wrong + j.unknown + j.other;
	printf("%s: %lu functions, %.2f %% without a fault; %llu instructions: %.3f %% right, "
	       "%.3f %% wrong, %.3f %% unknown, %.2f %% not compared\n",
	       path, j.functions, 100.0 * (double)j.good / (double)(j.functions + !j.functions),
	       (unsigned long long)all, 100.0 * (double)j.right / (double)(all + !all),
	       100.0 * (double)j.wrong / (double)(all + !all),
	       100.0 * (double)j.unknown / (double)(all + !all),
	       100.0 * (double)j.other / (double)(all + !all));
	cfi_free(j.cfi);
	rows_release(&j.rows);
	elf_file_close(f);
	return 0;
}

/* ---- functions written by hand ---- */

#define AT 0x1000

/* What is expected at an instruction: the CFA as a register and a number; reg NONE: no row. */
enum { NONE = 99, EXPR = 98, OUTER = 97 };
struct expected {
	uint32_t at;
	unsigned reg;
	int32_t cfa;
	unsigned saved; /* a register that was saved, at CFA + where; 0: do not look */
	int32_t where;
};

static const struct {
	const char *what;
	unsigned machine;
	bool open;
	uint8_t code[80];
	size_t len;
	struct expected rows[8];
	uint32_t end; /* of an open one */
} cases[] = {
	{"pushes, a frame, an end in the middle and one more after it",
	 EM_X86_64,
	 false,
	 {0x53,			  /* 0: push %rbx */
	  0x48, 0x83, 0xec, 0x20, /* 1: sub $32,%rsp */
	  0x85, 0xff,		  /* 5: test %edi,%edi */
	  0x74, 0x06,		  /* 7: je f */
	  0x48, 0x83, 0xc4, 0x20, /* 9: add $32,%rsp */
	  0x5b,			  /* d: pop %rbx */
	  0xc3,			  /* e: ret */
	  0x31, 0xc0,		  /* f: xor %eax,%eax */
	  0xeb, 0xf6},		  /* 11: jmp 9 */
	 0x13,
	 {{0, 7, 8, 0, 0},
	  {1, 7, 16, 0, 0},
	  {5, 7, 48, 0, 0},
	  {0xd, 7, 16, 0, 0},
	  {0xe, 7, 8, 0, 0},
	  {0xf, 7, 48, 0, 0}},
	 0},
	{"a register that was saved and has a new value",
	 EM_X86_64,
	 false,
	 {0x53,	      /* 0: push %rbx */
	  0x31, 0xdb, /* 1: xor %ebx,%ebx */
	  0x90,	      /* 3: nop */
	  0x5b,	      /* 4: pop %rbx */
	  0xc3},      /* 5: ret */
	 6,
	 {{3, 7, 16, 3, -16}, {4, 7, 16, 3, -16}, {5, 7, 8, 3, 0}},
	 0},
	{"a frame pointer, and a stack pointer that is not known",
	 EM_X86_64,
	 false,
	 {0x55,		    /* 0: push %rbp */
	  0x48, 0x89, 0xe5, /* 1: mov %rsp,%rbp */
	  0x48, 0x29, 0xc4, /* 4: sub %rax,%rsp */
	  0x90, 0xc9,	    /* 7: nop; leave */
	  0xc3},	    /* 9: ret */
	 10,
	 {{1, 7, 16, 0, 0}, {4, 6, 16, 6, -16}, {8, 6, 16, 6, -16}, {9, 7, 8, 0, 0}},
	 0},
	{"an aligned stack pointer, the old one beside it",
	 EM_X86_64,
	 false,
	 {0x48, 0x89, 0xe0,		/* 0: mov %rsp,%rax */
	  0x48, 0x83, 0xe4, 0xe0,	/* 3: and $-32,%rsp */
	  0x48, 0x83, 0xec, 0x40,	/* 7: sub $64,%rsp */
	  0x48, 0x89, 0x44, 0x24, 0x38, /* b: mov %rax,56(%rsp) */
	  0x31, 0xc0,			/* 10: xor %eax,%eax */
	  0x90,				/* 12: nop */
	  0x48, 0x8b, 0x64, 0x24, 0x38, /* 13: mov 56(%rsp),%rsp */
	  0xc3},			/* 18: ret */
	 25,
	 {{3, 7, 8, 0, 0}, {7, 0, 8, 0, 0}, {0x12, EXPR, 0, 0, 0}, {0x18, 7, 8, 0, 0}},
	 0},
	{"a call that does not return",
	 EM_X86_64,
	 false,
	 {0x85, 0xff,			/* 0: test %edi,%edi */
	  0x74, 0x09,			/* 2: je d */
	  0x50,				/* 4: push %rax */
	  0xe8, 0x00, 0x01, 0x00, 0x00, /* 5: call away */
	  0x0f, 0x1f, 0x00,		/* a: nopl (%rax) */
	  0x31, 0xc0,			/* d: xor %eax,%eax */
	  0xc3},			/* f: ret */
	 16,
	 {{5, 7, 16, 0, 0}, {0xd, 7, 8, 0, 0}, {0xf, 7, 8, 0, 0}},
	 0},
	{"paths that disagree have no row",
	 EM_X86_64,
	 false,
	 {0x85, 0xff, /* 0: test %edi,%edi */
	  0x74, 0x01, /* 2: je 5 */
	  0x50,	      /* 4: push %rax */
	  0x31, 0xc0, /* 5: xor %eax,%eax */
	  0xc3},      /* 7: ret */
	 8,
	 {{4, 7, 8, 0, 0}, {5, NONE, 0, 0, 0}, {7, NONE, 0, 0, 0}},
	 0},
	{"the first function of a program",
	 EM_X86_64,
	 false,
	 {0x31, 0xed,		   /* 0: xor %ebp,%ebp */
	  0x5f,			   /* 2: pop %rdi */
	  0x41, 0xff, 0xd1, 0xf4}, /* 3: call *%r9; hlt */
	 7,
	 {{0, 7, 8, 0, 0}, {3, OUTER, 0, 0, 0}},
	 0},
	{"where an open function ends",
	 EM_X86_64,
	 true,
	 {0x50,				/* 0: push %rax */
	  0xe8, 0x00, 0x01, 0x00, 0x00, /* 1: call away */
	  0x58, 0xc3,			/* 6: pop %rax; ret */
	  0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x90, 0x53, 0x5b,
	  0xc3}, /* 10: push %rbx; pop; ret */
	 19,
	 {{6, 7, 16, 0, 0}, {0x10, NONE, 0, 0, 0}},
	 0x10},
	{"and after a call that does not return",
	 EM_X86_64,
	 true,
	 {0x50,				/* 0: push %rax */
	  0xe8, 0x00, 0x01, 0x00, 0x00, /* 1: call away */
	  0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x53, 0x5b,
	  0xc3}, /* 10: push %rbx; pop; ret */
	 19,
	 {{1, 7, 16, 0, 0}, {0x10, NONE, 0, 0, 0}},
	 0x10},
	{"a table of 16 bits is not read, but what a sum leads to is the function's",
	 EM_X86_64,
	 true,
	 {0x4c, 0x8d, 0x15, 0x19, 0x00, 0x00, 0x00,		/* 0: lea 0x20(%rip),%r10 */
	  0x47, 0x0f, 0xb7, 0x84, 0x42, 0x00, 0x10, 0x00, 0x00, /* 7: movzwl (%r10,%r8,2),%r8d */
	  0x4d, 0x01, 0xd0,					/* 10: add %r10,%r8 */
	  0x41, 0xff, 0xe0,					/* 13: jmp *%r8 */
	  0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x66,
	  0x90, 0x53, 0x5b, 0xc3}, /* 20: push %rbx; pop; ret */
	 35,
	 {{0x13, 7, 8, 0, 0}, {0x20, 7, 8, 0, 0}, {0x21, 7, 16, 0, 0}},
	 0},
	{"a jump to what memory says leaves the function",
	 EM_X86_64,
	 true,
	 {0x48, 0x8b, 0x07, /* 0: mov (%rdi),%rax */
	  0xff, 0xe0,	    /* 3: jmp *%rax */
	  0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x66, 0x66, 0x90, 0x53, 0x5b,
	  0xc3}, /* 10: push %rbx; pop; ret */
	 19,
	 {{3, 7, 8, 0, 0}, {0x10, NONE, 0, 0, 0}},
	 0x10},
	{"aarch64: a jump to a sum",
	 EM_AARCH64,
	 true,
	 {0x05, 0x00, 0x00, 0x10,  /* 0: adr x5,0 */
	  0xa5, 0x40, 0x24, 0xcb,  /* 4: sub x5,x5,w4,uxtw */
	  0xa0, 0x00, 0x1f, 0xd6,  /* 8: br x5 */
	  0x1f, 0x20, 0x03, 0xd5,  /* c: nop */
	  0xff, 0x43, 0x00, 0xd1,  /* 10: sub sp,sp,#16 */
	  0x1f, 0x20, 0x03, 0xd5}, /* 14: nop */
	 24,
	 {{8, 31, 0, 0, 0}, {0x10, 31, 0, 0, 0}, {0x14, 31, 16, 0, 0}},
	 0},
	{"aarch64: a frame record, registers, and a leaf's end",
	 EM_AARCH64,
	 false,
	 {0xfd, 0x7b, 0xbe, 0xa9,  /* 0: stp x29,x30,[sp,#-32]! */
	  0xfd, 0x03, 0x00, 0x91,  /* 4: mov x29,sp */
	  0xf3, 0x0b, 0x00, 0xf9,  /* 8: str x19,[sp,#16] */
	  0x00, 0x00, 0x00, 0x94,  /* c: bl */
	  0xf3, 0x0b, 0x40, 0xf9,  /* 10: ldr x19,[sp,#16] */
	  0xfd, 0x7b, 0xc2, 0xa8,  /* 14: ldp x29,x30,[sp],#32 */
	  0xc0, 0x03, 0x5f, 0xd6}, /* 18: ret */
	 28,
	 {{0, 31, 0, 0, 0},
	  {4, 31, 32, 30, -24},
	  {8, 29, 32, 30, -24},
	  {0xc, 29, 32, 30, -24},
	  {0x18, 31, 0, 0, 0}},
	 0},
	{"aarch64: a large frame",
	 EM_AARCH64,
	 false,
	 {0x10, 0x82, 0x84, 0xd2,  /* 0: mov x16,#0x2410 */
	  0xff, 0x63, 0x30, 0xcb,  /* 4: sub sp,sp,x16 */
	  0xfe, 0x03, 0x00, 0xf9,  /* 8: str x30,[sp] */
	  0x1f, 0x20, 0x03, 0xd5}, /* c: nop */
	 16,
	 {{4, 31, 0, 0, 0}, {8, 31, 0x2410, 0, 0}, {0xc, 31, 0x2410, 30, -0x2410}},
	 0},
};

static void check(const struct rows *rows, const struct code_rows *c, const struct expected *e,
		  const char *what)
{
	const struct row *row = NULL;
	unsigned reg = NONE;
	int32_t cfa = 0, where = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (AT + e->at >= c->v[i].start && AT + e->at < c->v[i].end)
			row = rows_get(rows, c->v[i].row);
	if (row)
		reg = row->flags & ROW_OUTERMOST     ? OUTER
		      : row->cfa.how == ROW_VAL_EXPR ? EXPR
						     : row->cfa.reg;
	if (reg < EXPR)
		cfa = row->cfa.value;
	for (unsigned i = 0; row && e->saved && i < row->nrules; i++)
		if (row->rule[i].reg == e->saved && row->rule[i].how == ROW_OFFSET)
			where = row->rule[i].value;
	ok(reg == e->reg && (reg >= OUTER || cfa == e->cfa) && where == e->where,
	   "%s: at %x (register %u, CFA %d, saved at %d)", what, e->at, reg, cfa, where);
}

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code_function f = {.machine = cases[i].machine,
					  .start = AT,
					  .bytes = cases[i].code,
					  .len = cases[i].len,
					  .open = cases[i].open};
		struct rows rows = {0};
		struct code_rows c = {0};

		is_int(code_rows(&f, &rows, &c), 0, "%s", cases[i].what);
		for (int k = 0; k < 8 && cases[i].rows[k].reg; k++)
			check(&rows, &c, &cases[i].rows[k], cases[i].what);
		is_u64(c.end, AT + (cases[i].end ? cases[i].end : cases[i].len), "%s: its end",
		       cases[i].what);
		code_rows_release(&c);
		rows_release(&rows);
	}
}

/* Functions of one file, of which one begins where another ends: each has its own spans. */
static void test_neighbours(void)
{
	static const uint8_t ret[] = {0x31, 0xc0, 0xc3};
	struct rows rows = {0};
	struct code_rows c = {0};
	struct code_function f = {
		.machine = EM_X86_64, .start = AT, .bytes = ret, .len = sizeof(ret)};
	uint32_t first;

	is_int(code_rows(&f, &rows, &c), 0, "a function");
	first = c.n;
	f.start += sizeof(ret);
	is_int(code_rows(&f, &rows, &c), 0, "and the next one");
	ok(c.n == first + 1 && c.v[first].start == f.start, "each has its own spans");
	code_rows_release(&c);
	rows_release(&rows);
}

/* Bytes of any kind, in any order, end in time. */
static void test_any_bytes(void)
{
	uint8_t *p = malloc(65536);
	uint32_t x = 1;
	bool all = p != NULL;

	for (int k = 0; p && k < 8; k++) {
		struct code_function f = {.machine = k & 1 ? EM_AARCH64 : EM_X86_64,
					  .start = AT,
					  .bytes = p,
					  .len = k < 6 ? 8192 : 65536,
					  .open = k & 2};
		struct rows rows = {0};
		struct code_rows c = {0};
		int rc;

		/* The last ones: branches only, forwards and back, and pushes between them. */
		for (int i = 0; i < 65536; i++)
			p[i] = (x = x * 1664525 + 1013904223) >> 24;
		for (int i = 0; k >= 6 && i + 3 < 65536; i += 3) {
			p[i] = 0x50;
			p[i + 1] = 0x74;
		}
		rc = code_rows(&f, &rows, &c);
		all = all && (!rc || rc == PP_ELIMIT);
		code_rows_release(&c);
		rows_release(&rows);
	}
	ok(all, "any bytes end in time");
	free(p);
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");

	if (argc > 1 + verbose)
		return judge_file(argv[1 + verbose],
				  argc > 2 + verbose ? strtoul(argv[2 + verbose], NULL, 0) : 0,
				  verbose);
	test_by_hand();
	test_neighbours();
	test_any_bytes();
	return done();
}
