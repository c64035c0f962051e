/* The instructions of a function: its bytes from the binary, taken apart by libcapstone. */
#include "base/hidden.h"
#include "dwarf/debuginfo.h"
#include "report/parts.h"
#include "symbol/dso_file.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#define CODE_MAX (4u << 20) /* bytes of a function */
#define HOT	 5.0	    /* percent of a function: what has more is marked */

/* The code of a function, and where it is in the addresses of its places. */
struct code {
	uint8_t *bytes;
	size_t n;
	uint64_t addr;	/* of the first byte, as places have it */
	uint64_t vaddr; /* of the first byte in the file */
	unsigned machine;
	bool little;
	struct elf_file *dwarf, *alt;
	struct debuginfo *info;
};

static void release(struct code *c)
{
	debuginfo_close(c->info);
	elf_file_close(c->dwarf);
	elf_file_close(c->alt);
	free(c->bytes);
}

/* ---- the bytes ---- */

/* n bytes of a file at a virtual address. 0 or an error. */
static int take_bytes(struct code *c, const struct elf_file *f, uint64_t vaddr, uint64_t size)
{
	const struct elf_segments *seg = elf_file_segments(f);
	uint64_t offset;
	int rc = elf_segments_offset(seg, vaddr, &offset);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < seg->n; i++)
		if (vaddr >= seg->seg[i].vaddr && vaddr - seg->seg[i].vaddr < seg->seg[i].memsz &&
		    seg->seg[i].hollow)
			return PP_ENOENT;
	c->bytes = malloc(size);
	if (!c->bytes)
		return PP_ENOMEM;
	rc = elf_file_read(f, offset, c->bytes, size);
	c->n = size;
	c->vaddr = vaddr;
	c->machine = elf_file_machine(f);
	c->little = elf_file_elf(f) && elf_getident(elf_file_elf(f), NULL)[EI_DATA] == ELFDATA2LSB;
	return rc;
}

/* A file that is there could not be read: the report has less than it should. */
static void trouble(const struct report *r, const char *path, int rc)
{
	diag_error(r->d, path, -1, "cannot read: %s", pp_strerror(rc));
	*r->failed = true;
}

/* Of a program or library: its file is found as psym finds it. */
static int user_code(const struct report *r, const struct code_place *p, struct code *c,
		     struct buf *why)
{
	struct dso_search search = {.debug_dirs = r->o.debug,
				    .n_debug_dirs = r->o.n_debug,
				    .dwarf = true,
				    .here = r->o.trust_host,
				    .symfs = (const struct root *const *)r->roots,
				    .n_symfs = r->n_roots};
	struct dso_file d;
	struct build_id id;
	size_t len;
	const char *bytes = report_text_get(r, p->build_id, &len), *path, *link;
	int rc;

	id = build_id_make(bytes, len);
	path = report_text_get(r, p->dso, &len);
	rc = dso_file_find(path, &id, &search, &d);
	if (rc != PP_ENOMEM)
		rc = d.binary_elf ? take_bytes(c, d.binary_elf, p->sym_addr, p->sym_size)
				  : PP_ENOENT;
	if (rc && rc != PP_ENOMEM)
		buf_addf(why, "its code is not available: %s%s",
			 d.why ? symtab_reason_text(d.why) : "the binary was not found",
			 d.why == SYMTAB_UNPROVEN ? "; --trust-host says that it is" : "");
	if (d.failed || pp_is_io(rc))
		trouble(r, d.failed_path ? d.failed_path : path, d.failed ? d.failed : rc);
	if (!rc && dso_file_alt(&d, &search, &c->alt, &link) == PP_ENOMEM)
		rc = PP_ENOMEM;
	c->dwarf = rc ? NULL : dso_file_take_dwarf(&d);
	dso_file_release(&d);
	return rc;
}

/* The address of a function in a vmlinux, which may have been moved since. */
static int find_symbol(const struct elf_file *f, const char *name, size_t len, uint64_t *vaddr)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_file_section_type(f, SHT_SYMTAB, &shdr);
	Elf_Data *data = scn ? elf_file_data(scn, &shdr) : NULL;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *s = elf_strptr(elf_file_elf(f), shdr.sh_link, sym.st_name);

		if (s && strlen(s) == len && !memcmp(s, name, len) &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC) {
			*vaddr = sym.st_value;
			return 0;
		}
	}
	return PP_ENOENT;
}

static int kernel_code(const struct report *r, const struct code_place *p, struct code *c,
		       struct buf *why)
{
	struct elf_file *f = NULL;
	enum symtab_reason reason;
	uint64_t vaddr = p->sym_addr;
	size_t len;
	const char *name = report_text_get(r, p->sym, &len);
	int rc;

	if (!r->o.vmlinux) {
		buf_adds(why, "the kernel's code is in its vmlinux: give it with --vmlinux");
		return PP_ENOENT;
	}
	rc = elf_file_open(&f, r->o.vmlinux, &reason);
	if (!rc && elf_file_type(f) != ET_CORE)
		rc = find_symbol(f, name, len, &vaddr);
	if (!rc)
		rc = take_bytes(c, f, vaddr, p->sym_size);
	if (rc && rc != PP_ENOMEM)
		buf_addf(why, "it is not in %s", r->o.vmlinux);
	if (pp_is_io(rc))
		trouble(r, r->o.vmlinux, rc);
	if (!rc && elf_file_has_dwarf(f))
		c->dwarf = f;
	else
		elf_file_close(f);
	return rc;
}

/* ---- instructions ---- */

static int open_capstone(const struct code *c, csh *handle)
{
	cs_mode order = c->little ? CS_MODE_LITTLE_ENDIAN : CS_MODE_BIG_ENDIAN;
	cs_err err = CS_ERR_ARCH;

	switch (c->machine) {
	case EM_X86_64: err = cs_open(CS_ARCH_X86, CS_MODE_64, handle); break;
	case EM_386: err = cs_open(CS_ARCH_X86, CS_MODE_32, handle); break;
	case EM_AARCH64: err = cs_open(CS_ARCH_ARM64, order, handle); break;
	case EM_ARM: err = cs_open(CS_ARCH_ARM, CS_MODE_ARM | order, handle); break;
	case EM_PPC64: err = cs_open(CS_ARCH_PPC, CS_MODE_64 | order, handle); break;
	case EM_S390: err = cs_open(CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, handle); break;
	}
	if (err != CS_ERR_OK)
		return err == CS_ERR_MEM ? PP_ENOMEM : PP_EUNSUPPORTED;
	cs_option(*handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (c->machine == EM_X86_64 || c->machine == EM_386)
		cs_option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

/* Where an instruction jumps to, if that is in the function; 0: nowhere. */
static uint64_t jump_target(const struct code *c, csh handle, const cs_insn *in)
{
	uint64_t to = 0;

	if (!in->id || !in->detail || !cs_insn_group(handle, in, CS_GRP_JUMP))
		return 0;
	if (c->machine == EM_X86_64 || c->machine == EM_386) {
		if (in->detail->x86.op_count == 1 && in->detail->x86.operands[0].type == X86_OP_IMM)
			to = (uint64_t)in->detail->x86.operands[0].imm;
	} else if (c->machine == EM_AARCH64) {
		for (uint8_t i = 0; i < in->detail->arm64.op_count; i++)
			if (in->detail->arm64.operands[i].type == ARM64_OP_IMM)
				to = (uint64_t)in->detail->arm64.operands[i].imm;
	}
	return to >= c->addr && to - c->addr < c->n ? to : 0;
}

/* What the samples of an instruction have; instructions come in ascending order. */
static void count_at(const struct report_function *f, uint32_t *next, const cs_insn *in,
		     struct fact *fact)
{
	const struct spot *v = f->spots;
	uint64_t sym = *next < f->nspots ? v[*next].at.sym_addr : 0;

	for (; *next < f->nspots && v[*next].at.sym_addr == sym &&
	       v[*next].at.addr < in->address + in->size;
	     ++*next) {
		fact->weight += v[*next].weight;
		fact->samples += v[*next].samples;
	}
}

/* The source line of an instruction, if it is another one than that before. 0, or as pp_hidden. */
static int find_line(const struct code *c, uint64_t vaddr, struct fact *fact, const char **file,
		     uint32_t *line)
{
	struct source_frame frames[DEBUGINFO_FRAMES_MAX];
	uint32_t n;
	int rc = c->info ? debuginfo_find(c->info, vaddr, true, frames, &n) : PP_ENOENT;

	if (rc || !n || !frames[0].file || !frames[0].line)
		return pp_is_machine(rc) ? rc : 0;
	if (*file && *line == frames[0].line && !strcmp(*file, frames[0].file))
		return 0;
	*file = fact->file = frames[0].file;
	*line = fact->line = frames[0].line;
	return 0;
}

/* libcapstone takes bytes that it has no memory for as none. */
static bool next_instruction(csh handle, const uint8_t **at, size_t *left, uint64_t *addr,
			     cs_insn *in, int *rc)
{
	bool got;

	errno = 0;
	got = cs_disasm_iter(handle, at, left, addr, in);
	*rc = pp_hidden(0);
	return got && !*rc;
}

static int tell(const struct report_function *f, uint32_t next, const struct code *c, fact_fn *fn,
		void *ctx)
{
	const uint8_t *at = c->bytes;
	uint64_t addr = c->addr;
	size_t left = c->n;
	const char *file = NULL;
	uint32_t line = 0;
	cs_insn *in;
	csh handle;
	int rc = open_capstone(c, &handle);

	if (rc == PP_EUNSUPPORTED)
		return fn(ctx, f,
			  &(struct fact){.kind = FACT_NOTE,
					 .text = "libcapstone does not know this machine's code"});
	if (rc)
		return rc;
	in = cs_malloc(handle);
	rc = in ? 0 : PP_ENOMEM;
	while (!rc && left && next_instruction(handle, &at, &left, &addr, in, &rc)) {
		struct fact fact = {.kind = FACT_CODE, .addr = in->address};
		char text[sizeof(in->mnemonic) + sizeof(in->op_str) + 2];

		snprintf(text, sizeof(text), "%s%s%s", in->mnemonic, *in->op_str ? " " : "",
			 in->op_str);
		fact.text = text;
		fact.target = jump_target(c, handle, in);
		count_at(f, &next, in, &fact);
		fact.share = report_share(fact.weight, f->code);
		fact.hot = fact.share >= HOT;
		rc = find_line(c, in->address - c->addr + c->vaddr, &fact, &file, &line);
		if (!rc)
			rc = fn(ctx, f, &fact);
	}
	if (in)
		cs_free(in, 1);
	cs_close(&handle);
	return rc;
}

/* Its source lines: 0 or PP_ENOMEM. */
static int open_lines(const struct report *r, struct code *c)
{
	int rc = debuginfo_open(&c->info, c->dwarf, c->alt, true);
	int err = elf_file_failed(c->dwarf), of_alt = elf_file_failed(c->alt);

	if (!err)
		err = of_alt ? of_alt : pp_is_io(rc) ? rc : 0;
	if (err)
		trouble(r, NULL, err);
	return rc == PP_ENOMEM ? rc : 0;
}

/* The code of the function at one address: there can be several of its name. */
static int tell_one(const struct result *s, const struct report_function *f, uint32_t first,
		    fact_fn *fn, void *ctx)
{
	const struct code_place *p = &f->spots[first].at;
	struct code c = {.addr = p->sym_addr};
	struct buf why = BUF_INIT;
	int rc = PP_ENOENT;

	if (!p->sym_size || p->sym_size > CODE_MAX)
		buf_addf(&why, "its size is not known, or above %u bytes", CODE_MAX);
	else if (p->flags & CALL_KERNEL)
		rc = kernel_code(s->r, p, &c, &why);
	else
		rc = user_code(s->r, p, &c, &why);
	if (!rc && c.dwarf)
		rc = open_lines(s->r, &c);
	if (!rc)
		rc = tell(f, first, &c, fn, ctx);
	else if (rc != PP_ENOMEM && !why.err)
		rc = fn(ctx, f, &(struct fact){.kind = FACT_NOTE, .text = buf_str(&why)});
	release(&c);
	buf_release(&why);
	return rc;
}

/* Why there are no instructions. */
static const char *no_code(const struct report *r, const struct report_function *f)
{
	if (!f->nself)
		return "no sample was in the function itself";
	if (r->text_only)
		return "the input is text, which has no instruction addresses";
	return "it is inlined: its instructions are those of the functions around it";
}

int code_tell(const struct result *s, const struct report_function *f, fact_fn *fn, void *ctx)
{
	int rc = 0;

	if (!f->nspots)
		return fn(ctx, f, &(struct fact){.kind = FACT_NOTE, .text = no_code(s->r, f)});
	for (uint32_t i = 0; i < f->nspots && !rc; i++)
		if (!i || f->spots[i].at.sym_addr != f->spots[i - 1].at.sym_addr)
			rc = tell_one(s, f, i, fn, ctx);
	return rc;
}
