/* Makes sure that no text of a file's DWARF is read past the end of its section. */
#include "dwarf/dwarf_seal.h"

#include "base/err.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum kind { OTHER, TEXTS, ENTRIES };

static enum kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum kind kind;
	} known[] = {{"str", TEXTS}, {"line_str", TEXTS}, {"info", ENTRIES}, {"types", ENTRIES}};
	size_t n = !name ? 0 : !strncmp(name, ".debug_", 7) ? 7 : !strncmp(name, ".zdebug_", 8) * 8;

	for (size_t i = 0; n && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].name);

		if (!strncmp(name + n, known[i].name, len) &&
		    (!name[n + len] || !strcmp(name + n + len, ".dwo")))
			return known[i].kind;
	}
	return OTHER;
}

/* Entries whose last byte may belong to a text get a NUL after them, in a copy. */
static int seal_entries(Elf_Data *data, struct arena *copies)
{
	char *copy;

	if (!((const char *)data->d_buf)[data->d_size - 1])
		return 0;
	if (!copies)
		return PP_ECORRUPT;
	copy = arena_dup(copies, data->d_buf, data->d_size);
	if (!copy)
		return PP_ENOMEM;
	data->d_buf = copy;
	return 0;
}

int dwarf_seal(Elf *elf, struct arena *copies)
{
	size_t names;
	int rc = elf_getshdrstrndx(elf, &names) ? PP_ECORRUPT : 0;

	for (Elf_Scn *scn = NULL; !rc && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		enum kind kind = gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS
					 ? kind_of(elf_strptr(elf, names, sh.sh_name))
					 : OTHER;
		Elf_Data *data = NULL;

		if (kind == OTHER)
			continue;
		/* As libdw does: what cannot be unpacked is not used. */
		if (elf_strptr(elf, names, sh.sh_name)[1] == 'z')
			elf_compress_gnu(scn, 0, 0);
		if (!(sh.sh_flags & SHF_COMPRESSED) || elf_compress(scn, 0, 0) >= 0)
			data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf || !data->d_size)
			continue;
		if (kind == ENTRIES)
			rc = seal_entries(data, copies);
		else if (((const char *)data->d_buf)[--data->d_size])
			rc = PP_ECORRUPT;
	}
	return rc;
}

/* ---- no memory ---- */

/* noreturn as a part of its type, which _Noreturn is not: clang takes no other handler. */
static __attribute__((noreturn)) void no_memory(void)
{
	static const char text[] = ": out of memory\n";
	const char *name = program_invocation_short_name;

	if (write(STDERR_FILENO, name, strlen(name)) < 0 ||
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(PP_EXIT_FAIL);
	_exit(PP_EXIT_FAIL);
}

void dwarf_memory(Dwarf *dwarf)
{
	if (dwarf)
		dwarf_new_oom_handler(dwarf, no_memory);
}

/* ---- split units ---- */

bool dwarf_split_sound(struct map64 *files, Dwarf_Die *content)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(content->cu);
	bool fresh;
	uint32_t *slot = map64_put(files, (uintptr_t)dwarf, &fresh);

	if (!slot)
		return false;
	if (fresh) {
		dwarf_memory(dwarf);
		*slot = dwarf_seal(dwarf_getelf(dwarf), NULL) == 0;
	}
	return *slot != 0;
}

const char *dwarf_split_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr(skeleton, DW_AT_dwo_name, &attr) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : "a file .dwo";
}
