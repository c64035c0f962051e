/*
 * Unwind tables of generated code, which a jitdump can have for each code: its .eh_frame, made for
 * the place after the code, at the next multiple of 8 bytes. Codes of one kind (the trampolines of
 * Python) have the same bytes, and are one module.
 */
#include "resolve/resolve_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define CODE 0x1000u /* where the code of a module begins */

/* The image that the tables are read from: a header, the table, two more sections. */
static int make_image(struct rjit_tables *t, unsigned machine, uint64_t code_size,
		      const void *table, size_t n)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	Elf64_Ehdr head = {.e_type = ET_DYN,
			   .e_machine = (Elf64_Half)machine,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof(head),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 3,
			   .e_shstrndx = 2};
	Elf64_Shdr sections[3] = {{0}};
	uint64_t at = sizeof(head);

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = little ? ELFDATA2LSB : ELFDATA2MSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	sections[1] = (Elf64_Shdr){.sh_name = 1,
				   .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC,
				   .sh_addr = CODE + (code_size + 7) / 8 * 8,
				   .sh_offset = at,
				   .sh_size = n,
				   .sh_addralign = 1};
	at += n;
	sections[2] = (Elf64_Shdr){.sh_name = sizeof("\0.eh_frame"),
				   .sh_type = SHT_STRTAB,
				   .sh_offset = at,
				   .sh_size = sizeof(names),
				   .sh_addralign = 1};
	head.e_shoff = (at + sizeof(names) + 7) / 8 * 8;
	buf_add(&t->image, &head, sizeof(head));
	buf_add(&t->image, table, n);
	buf_add(&t->image, names, sizeof(names));
	while (t->image.len % 8 && !t->image.err)
		buf_addc(&t->image, 0);
	buf_add(&t->image, sections, sizeof(sections));
	return t->image.err;
}

static int make(struct resolver *r, struct rjit_tables *t, unsigned machine, uint64_t code_size,
		const void *table, size_t n)
{
	enum symtab_reason why;
	struct elf_file *f = NULL;
	int rc = make_image(t, machine, code_size, table, n);

	if (!rc)
		rc = elf_file_memory(&f, t->image.data, t->image.len, &why);
	if (!rc)
		rc = cfi_new(&t->cfi, &r->rows);
	if (!rc)
		rc = cfi_add(t->cfi, f, false);
	elf_file_close(f);
	return rc == PP_ENOMEM ? rc : 0;
}

int resolve_jit_cfi(struct resolver *r, struct machine *m, uint32_t jit, struct space *sp,
		    unsigned machine, uint64_t addr, struct unwind_place *place)
{
	struct rjit *j = &m->code.v[jit - 1];
	uint32_t code = j->dump ? jit_find(j->dump, addr) : 0, *slot;
	const struct jit_code *c = code ? jit_code(j->dump, code) : NULL;
	uint64_t size = c ? c->end - c->start : 0;
	const void *table;
	size_t n;
	int rc = 0;

	if (!c || !c->tables || size > UINT32_MAX || machine == EM_386 || machine == EM_ARM)
		return resolve_jit_code(r, m, jit, sp, machine, addr, c, place);
	slot = map64_put(&j->by_tables, (uint64_t)c->tables << 32 | size, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		struct rjit_tables **v =
			array_widen(j->tables, &j->tables_cap, j->ntables, 8, sizeof(*v));

		if (v)
			j->tables = v;
		if (!v || !(v[j->ntables] = calloc(1, sizeof(**v))))
			return PP_ENOMEM;
		*slot = ++j->ntables;
		table = jit_tables(j->dump, code, &n);
		rc = make(r, v[*slot - 1], machine, size, table, n);
	}
	place->cfi = j->tables[*slot - 1]->cfi;
	place->unseen = true;
	place->vaddr = CODE + (addr - c->start);
	place->start = c->start;
	place->len = size;
	return rc;
}

void resolve_jit_cfi_release(struct rjit *j)
{
	for (uint32_t i = 0; i < j->ntables; i++) {
		cfi_free(j->tables[i]->cfi);
		buf_release(&j->tables[i]->image);
		free(j->tables[i]);
	}
	free(j->tables);
	map64_release(&j->by_tables);
}
