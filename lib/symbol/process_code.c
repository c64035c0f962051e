/* Reads the code of a process, by pages. */
#include "symbol/process_code.h"

#include "base/err.h"
#include "base/intern.h"
#include "symbol/jit.h"
#include "symbol/mapping.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE	     4096u
#define SEGMENTS_MAX 65534u /* that an ELF header can count */
#define LOOKS_MAX    256    /* at the mappings of a process */
#define GAP	     16	    /* pages between two pieces of code that are read with them */

struct piece {
	uint64_t start, end; /* of whole pages */
};

struct process_code {
	int mem; /* /proc/PID/mem; -1: a core file */
	uint32_t pid;
	struct piece *code; /* its mappings that can be executed, as far as they were looked at */
	size_t ncode;
	unsigned looks;
	struct elf_file *core; /* a reference */
	GElf_Phdr *segments;
	size_t nsegments;
	struct map64 by_page; /* place in pages, + 1 */
	uint8_t **pages;      /* NULL: it cannot be read */
	uint32_t npages;
};

int process_code_live(struct process_code **c, uint32_t pid)
{
	char path[40];
	int fd;

	*c = NULL;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return PP_ENOENT;
	*c = calloc(1, sizeof(**c));
	if (!*c) {
		close(fd);
		return PP_ENOMEM;
	}
	(*c)->mem = fd;
	(*c)->pid = pid;
	return 0;
}

static int add_code(void *ctx, const struct mapping *m)
{
	struct process_code *c = ctx;
	struct piece *v = reallocarray(c->code, c->ncode + 1, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->code = v;
	v[c->ncode++] = (struct piece){m->start, m->end};
	return 0;
}

/* Reads where the process has code now. */
static void look(struct process_code *c)
{
	struct proc_maps maps = {.proc = "/proc", .each = add_code, .ctx = c};

	c->ncode = 0;
	c->looks++;
	(void)mapping_read(&maps, (pid_t)c->pid);
}

/* Only code is read: a map could name a place of what the process's user may not see. */
static bool is_code(struct process_code *c, uint64_t addr)
{
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < c->ncode; i++)
			if (addr >= c->code[i].start && addr < c->code[i].end)
				return true;
		if (again || c->looks >= LOOKS_MAX)
			return false;
		look(c);
	}
	return false;
}

int process_code_core(struct process_code **c, struct elf_file *f)
{
	Elf *e = elf_file_elf(f);
	struct process_code *t;
	size_t n;

	*c = NULL;
	if (elf_getphdrnum(e, &n) || !n || n > SEGMENTS_MAX)
		return PP_ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return PP_ENOMEM;
	t->mem = -1;
	t->segments = calloc(n, sizeof(*t->segments));
	if (!t->segments) {
		process_code_close(t);
		return PP_ENOMEM;
	}
	t->core = elf_file_ref(f);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(e, (int)i, &t->segments[t->nsegments]) &&
		    t->segments[t->nsegments].p_type == PT_LOAD)
			t->nsegments++;
	*c = t;
	return 0;
}

void process_code_close(struct process_code *c)
{
	if (!c)
		return;
	if (c->mem >= 0)
		close(c->mem);
	elf_file_close(c->core);
	for (uint32_t i = 0; i < c->npages; i++)
		free(c->pages[i]);
	free(c->pages);
	free(c->segments);
	free(c->code);
	map64_release(&c->by_page);
	free(c);
}

static bool read_page(struct process_code *c, uint64_t addr, uint8_t to[PAGE])
{
	if (c->mem >= 0)
		return addr <= INT64_MAX && is_code(c, addr) &&
		       pread(c->mem, to, PAGE, (off_t)addr) == PAGE;
	for (size_t i = 0; i < c->nsegments; i++) {
		const GElf_Phdr *p = &c->segments[i];
		uint64_t in = addr - p->p_vaddr;

		if (in < p->p_filesz && PAGE <= p->p_filesz - in)
			return !elf_file_read(c->core, p->p_offset + in, to, PAGE);
	}
	return false;
}

/* 0, PP_ENOENT, PP_ENOMEM. */
static int get_page(struct process_code *c, uint64_t addr, const uint8_t **page)
{
	uint32_t *slot = map64_put(&c->by_page, addr / PAGE, NULL);
	uint8_t **v;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot && c->npages >= PROCESS_CODE_MAX / PAGE)
		return PP_ENOENT;
	if (!*slot) {
		v = reallocarray(c->pages, c->npages + 1, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		c->pages = v;
		v[c->npages] = malloc(PAGE);
		if (!v[c->npages])
			return PP_ENOMEM;
		if (!read_page(c, addr, v[c->npages])) {
			free(v[c->npages]);
			v[c->npages] = NULL;
		}
		*slot = ++c->npages;
	}
	*page = c->pages[*slot - 1];
	return *page ? 0 : PP_ENOENT;
}

int process_code_read(struct process_code *c, uint64_t addr, void *to, size_t n)
{
	uint8_t *at = to;

	while (n) {
		uint64_t in = addr % PAGE;
		size_t part = PAGE - in < n ? PAGE - in : n;
		const uint8_t *page;
		int rc = get_page(c, addr - in, &page);

		if (rc)
			return rc;
		memcpy(at, page + in, part);
		at += part;
		addr += part;
		n -= part;
	}
	return 0;
}

/* ---- a core file ---- */

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The pages of all codes, in order: owned by the caller. 0, PP_ENOENT, PP_ENOMEM. */
static int find_pieces(const struct jit *map, struct piece **pieces, size_t *count)
{
	uint32_t codes = jit_count(map);
	struct piece *v = codes ? calloc(codes, sizeof(*v)) : NULL;
	size_t n = 0, kept = 0;

	if (!v)
		return codes ? PP_ENOMEM : PP_ENOENT;
	for (uint32_t i = 1; i <= codes; i++) {
		const struct jit_code *c = jit_code(map, i);

		if (c->end > c->start && c->end <= INT64_MAX &&
		    c->end - c->start <= PROCESS_CODE_MAX)
			v[n++] = (struct piece){c->start & ~UINT64_C(4095),
						(c->end + 4095) & ~UINT64_C(4095)};
	}
	if (n)
		qsort(v, n, sizeof(*v), by_start);
	for (size_t i = 1; i < n; i++) {
		if (v[i].start > v[kept].end + GAP * PAGE)
			v[++kept] = v[i];
		else if (v[i].end > v[kept].end)
			v[kept].end = v[i].end;
	}
	*pieces = v;
	*count = n ? kept + 1 : 0;
	return 0;
}

static void add_head(struct buf *core, size_t segments)
{
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	Elf64_Ehdr head = {.e_type = ET_CORE,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof(head),
			   .e_ehsize = sizeof(head),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = (Elf64_Half)segments};

#ifdef __x86_64__
	head.e_machine = EM_X86_64;
#elif defined __aarch64__
	head.e_machine = EM_AARCH64;
#endif
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = little ? ELFDATA2LSB : ELFDATA2MSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	buf_add(core, &head, sizeof(head));
}

/* The header has a place for each piece; what cannot be read has a segment without bytes. */
static int add_pieces(struct process_code *c, const struct piece *v, size_t n, struct buf *core)
{
	size_t first = core->len;
	uint8_t page[PAGE];

	for (size_t i = 0; i < n && !core->err; i++) {
		Elf64_Phdr none = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE};

		buf_add(core, &none, sizeof(none));
	}
	for (size_t i = 0; i < n && !core->err; i++) {
		uint64_t at = v[i].start, from = core->len;
		Elf64_Phdr h;

		for (; at < v[i].end && !core->err && read_page(c, at, page); at += PAGE)
			buf_add(core, page, PAGE);
		if (core->err)
			break;
		memcpy(&h, core->data + first + i * sizeof(h), sizeof(h));
		h.p_vaddr = v[i].start;
		h.p_offset = from;
		h.p_filesz = h.p_memsz = core->len - from;
		memcpy(core->data + first + i * sizeof(h), &h, sizeof(h));
	}
	return core->err ? core->err : core->len > first + n * sizeof(Elf64_Phdr) ? 0 : PP_ENOENT;
}

int process_code_save(uint32_t pid, const char *map, size_t len, struct buf *core, bool *cut)
{
	struct process_code *c = NULL;
	struct piece *pieces = NULL;
	struct jit *jit = NULL;
	uint64_t bad, size = 0;
	size_t n = 0, all = 0;
	int rc = process_code_live(&c, pid);

	*cut = false;
	if (!rc)
		rc = jit_new(&jit);
	if (!rc)
		rc = jit_map(jit, map, len, &bad);
	if (!rc)
		rc = find_pieces(jit, &pieces, &all);
	while (!rc && n < all && n < SEGMENTS_MAX &&
	       size + (pieces[n].end - pieces[n].start) <= PROCESS_CODE_MAX) {
		size += pieces[n].end - pieces[n].start;
		n++;
	}
	*cut = n < all;
	if (!rc && n) {
		add_head(core, n);
		rc = add_pieces(c, pieces, n, core);
	} else if (!rc) {
		rc = PP_ENOENT;
	}
	free(pieces);
	jit_free(jit);
	process_code_close(c);
	return rc == PP_ELIMIT ? PP_ENOENT : rc;
}
