/* Rows for code that no entry of a table covers: its functions one by one, as they are met. */
#include "unwind/cfi_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX (1u << 18) /* of a file */
#define ENTRIES	      128	 /* bytes at the beginning of a Java method that has two entries */

int cfi_code_add(struct cfi *c, struct elf_file *f, bool image)
{
	int rc = 0;

	if (c->swap || (c->machine != EM_X86_64 && c->machine != EM_AARCH64))
		return 0;
	if (!c->code.functions)
		rc = functions_new(&c->code.functions);
	return rc ? rc : functions_add(c->code.functions, f, image);
}

void cfi_add_memory(struct cfi *c, unsigned machine, const struct cfi_memory *m)
{
	c->machine = machine;
	c->width = 8;
	c->any = true;
	if (machine == EM_X86_64 || machine == EM_AARCH64)
		c->memory = *m;
}

void cfi_code_release(struct cfi *c)
{
	functions_free(c->code.functions);
	code_rows_release(&c->code.rows);
	gopcln_close(c->code.go);
	free(c->code.v);
}

bool cfi_code_limited(const struct cfi *c)
{
	return c->code.limited || (c->code.functions && functions_limited(c->code.functions));
}

/* The functions that begin at or before an address. */
static uint32_t count_before(const struct cfi_code *t, uint64_t vaddr)
{
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct cfi_function_rows *known(const struct cfi_code *t, uint64_t vaddr)
{
	uint32_t n = count_before(t, vaddr);

	return n && vaddr < t->v[n - 1].end ? &t->v[n - 1] : NULL;
}

static int read_code(void *ctx, uint64_t vaddr, void *to, size_t n)
{
	return cfi_read(ctx, vaddr, to, n);
}

/*
 * HotSpot writes a jump over the first instruction of a method that nobody is to enter any more;
 * calls that are on the way go on in it: mov %eax,-n(%rsp); push %rbp.
 */
static void undo_jump(uint8_t *code, size_t n)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x80, 0, 0, 0, 0};

	for (size_t i = 0; i + sizeof(nop) < n && i < ENTRIES; i++)
		if (code[i] == 0xe9 && code[i + 5] == 0xfe && code[i + 6] == 0xff &&
		    code[i + 7] == 0x55)
			memcpy(code + i, nop, sizeof(nop));
}

/* Makes the rows of a function; *end: where it really ends. 0, or an error. */
static int make(struct cfi *c, const struct function_span *span, uint64_t *end)
{
	struct code_function f = {.machine = c->machine,
				  .start = span->start,
				  .len = span->end - span->start,
				  .open = span->open,
				  .reached = c->memory.read != NULL,
				  .read = read_code,
				  .ctx = c};
	struct cfi_code *t = &c->code;
	uint32_t first = t->rows.n, at;
	struct cfi_function_rows *v;
	uint8_t *bytes;
	int rc;

	*end = span->end;
	if (!f.len)
		return PP_ENOENT;
	if (f.len > CODE_FUNCTION_MAX || t->spent + f.len > CFI_CODE_MAX || t->n == FUNCTIONS_MAX) {
		t->limited = true;
		return PP_ENOENT;
	}
	t->spent += f.len;
	v = array_widen(t->v, &t->cap, t->n, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->v = v;
	f.bytes = bytes = malloc(f.len);
	if (!bytes)
		return PP_ENOMEM;
	rc = cfi_read(c, f.start, bytes, f.len);
	if (!rc && c->memory.read)
		undo_jump(bytes, f.len);
	rc = rc ? PP_ENOENT : code_rows(&f, c->rows, &t->rows);
	free(bytes);
	if (rc == PP_ELIMIT) {
		t->limited = true;
		rc = PP_ENOENT;
	}
	if (rc && rc != PP_ENOENT)
		return rc;
	if (!rc)
		*end = t->rows.end;
	at = count_before(t, f.start);
	memmove(v + at + 1, v + at, (t->n - at) * sizeof(*v));
	v[at] = (struct cfi_function_rows){f.start, *end, first, t->rows.n - first};
	t->n++;
	return 0;
}

/* Finds the function of an address, and what comes before it in the same piece of code. */
static int look(struct cfi *c, uint64_t vaddr)
{
	struct function_span span;
	uint64_t lo, hi, end;
	int rc;

	if (c->memory.read) {
		span.open = false;
		rc = c->memory.function(c->memory.ctx, vaddr, &span.start, &span.end);
		return rc ? rc : make(c, &span, &end);
	}
	cfi_gap(c, vaddr, &lo, &hi);
	rc = functions_find(c->code.functions, vaddr, lo, hi, &span);
	while (!rc) {
		const struct cfi_function_rows *f = known(&c->code, span.start);

		if (f)
			end = f->end;
		else
			rc = make(c, &span, &end);
		if (vaddr < end || end <= span.start)
			break;
		span.start = end;
	}
	return rc;
}

/* Go's table of functions, opened when it is first asked for; NULL: Go has not built the file. */
static int go_table(struct cfi *c, struct gopcln **go)
{
	int rc = c->code.go_sought || !c->image ? 0 : gopcln_open(&c->code.go, c->image);

	c->code.go_sought = true;
	*go = c->code.go;
	return rc == PP_ENOMEM ? rc : 0;
}

/*
 * What a function of Go's runtime does to stacks, by its name: ROW_LEAVES, it runs what it calls on
 * the stack of the thread, or of a goroutine, and goes on after it; ROW_TOP, it leaves a goroutine
 * for the scheduler, whose stack begins there, as Go's own traces have it. An assembler's name can
 * end with .abi0.
 */
static uint8_t go_flags(const char *name)
{
	static const struct {
		const char *name;
		uint8_t flags;
	} special[] = {{"runtime.systemstack", ROW_LEAVES},
		       {"runtime.asmcgocall", ROW_LEAVES},
		       {"runtime.cgocallback", ROW_LEAVES},
		       {"runtime.mcall", ROW_TOP},
		       {"runtime.morestack", ROW_TOP}};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		size_t n = strlen(special[i].name);

		if (!strncmp(name, special[i].name, n) && (!name[n] || !strcmp(name + n, ".abi0")))
			return special[i].flags;
	}
	return 0;
}

int cfi_go_flags(struct cfi *c, uint64_t vaddr, uint8_t *flags)
{
	struct gopcln_function fn;
	struct gopcln *go;
	int rc = go_table(c, &go);

	if (!rc && go && !gopcln_find(go, vaddr, &fn) && fn.name)
		*flags |= go_flags(fn.name);
	return rc;
}

/*
 * By Go's own table, which tells how far the stack pointer was moved: exact, but for the frame
 * pointer, which no caller needs. The return address is where a call puts it, or at the stack
 * pointer of a machine that has it in a register.
 */
static int go_row(struct cfi *c, uint64_t vaddr, uint32_t *id)
{
	bool pushed = c->machine == EM_X86_64;
	struct row_maker row = {.ra = pushed ? 16 : 30,
				.cfa = {.reg = pushed ? 7 : 31, .how = ROW_REGISTER}};
	struct gopcln_function fn;
	uint64_t start, end;
	struct gopcln *go;
	uint32_t size;
	int rc = go_table(c, &go);

	if (rc)
		return rc;
	if (!go || gopcln_find(go, vaddr, &fn) || gopcln_frame(go, &fn, vaddr, &size, &start, &end))
		return PP_ENOENT;
	row.flags = fn.name ? go_flags(fn.name) : 0;
	row.cfa.value = (int32_t)size + (pushed ? 8 : 0);
	if (pushed || size)
		row.rule[row.nrules++] = (struct row_rule){
			.reg = row.ra, .how = ROW_OFFSET, .value = pushed ? -8 : -(int32_t)size};
	return rows_add(c->rows, &row, id);
}

int cfi_in_entry(struct cfi *c, uint64_t vaddr, bool *in)
{
	struct function_span span;
	int rc = 0;

	*in = c->entry && vaddr - c->entry < CFI_ENTRY_CODE;
	if (*in && !c->entry_end) {
		c->entry_end = c->entry + CFI_ENTRY_CODE;
		rc = c->code.functions ? functions_find(c->code.functions, c->entry, c->entry,
							c->entry_end, &span)
				       : PP_ENOENT;
		if (!rc)
			c->entry_end = span.end;
	}
	*in = *in && vaddr < c->entry_end;
	return rc == PP_ENOMEM ? rc : 0;
}

int cfi_code_row(struct cfi *c, uint64_t vaddr, uint32_t *id)
{
	const struct cfi_function_rows *f;
	bool entry = false;
	int rc = 0;

	if (!c->memory.read && (!c->code.functions || !c->image))
		return PP_ENOENT;
	/* What is at the entry point has no caller (cfi_is_entry). */
	if (!c->memory.read)
		rc = cfi_in_entry(c, vaddr, &entry);
	if (rc || entry)
		return rc ? rc : PP_ENOENT;
	rc = PP_ENOENT;
	if (c->image)
		rc = go_row(c, vaddr, id);
	if (rc != PP_ENOENT)
		return rc;
	f = known(&c->code, vaddr);
	if (!f) {
		rc = look(c, vaddr);
		if (rc)
			return rc;
		f = known(&c->code, vaddr);
	}
	for (uint32_t i = 0; f && i < f->n; i++) {
		const struct code_span *s = &c->code.rows.v[f->first + i];

		if (vaddr >= s->start && vaddr < s->end) {
			*id = s->row;
			return 0;
		}
	}
	return PP_ENOENT;
}

int cfi_code_function(const struct cfi *c, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const struct cfi_function_rows *f = known(&c->code, vaddr);

	if (!f)
		return PP_ENOENT;
	*start = f->start;
	*end = f->end;
	return 0;
}
