/* Kernel modules: their names, their files by the indexes of depmod, their layout in memory. */
#include "symbol/kmodule.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a file's name is that of a module: the kernel takes '-' for '_'. */
static bool is_name(const char *base, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len < n + 3 || memcmp(base + n, ".ko", 3) != 0 || (len > n + 3 && base[n + 3] != '.'))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((base[i] == '-' ? '_' : base[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	return true;
}

/*
 * Finds the line of a module: "kernel/fs/ext4/ext4.ko.xz: kernel/...", of which the first word
 * counts.
 */
static const char *find_line(const char *text, const char *name, size_t *len)
{
	for (const char *p = text; *p;) {
		size_t line = strcspn(p, "\n"), word = strcspn(p, ": \n"), dir = word;

		while (dir && p[dir - 1] != '/')
			dir--;
		if (is_name(p + dir, word - dir, name)) {
			*len = word;
			return p;
		}
		p += line + (p[line] == '\n');
	}
	return NULL;
}

void kmodule_name(const char *path, char name[KMODULE_NAME_MAX])
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path + (path[0] == '[');
	size_t n = strcspn(base, ".]");

	if (n >= KMODULE_NAME_MAX)
		n = KMODULE_NAME_MAX - 1;
	for (size_t i = 0; i < n; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	name[n] = 0;
}

int kmodule_path(const struct root *root, const char *release, const char *name,
		 char path[ROOT_PATH_MAX])
{
	static const char *const indexes[] = {"modules.dep", "modules.order"};
	static const char *const tops[] = {"/lib/modules", "/usr/lib/modules"};
	int rc = PP_ENOENT;

	if (!release[0] || strchr(release, '/') || release[0] == '.')
		return PP_ENOENT;
	for (size_t i = 0; i < 4 && rc == PP_ENOENT; i++) {
		const char *top = tops[i / 2], *line;
		struct buf b = BUF_INIT;
		enum symtab_reason why;
		size_t len;
		int n;

		snprintf(path, ROOT_PATH_MAX, "%s/%s/%s", top, release, indexes[i % 2]);
		if (!root_read(root, path, KMODULE_INDEX_MAX, &b, &why)) {
			buf_addc(&b, 0);
			if (b.err)
				rc = b.err;
			else if ((line = find_line((const char *)b.data, name, &len))) {
				n = line[0] == '/'
					    ? snprintf(path, ROOT_PATH_MAX, "%.*s", (int)len, line)
					    : snprintf(path, ROOT_PATH_MAX, "%s/%s/%.*s", top,
						       release, (int)len, line);
				rc = n > 0 && n < ROOT_PATH_MAX ? 0 : PP_ENOENT;
			}
		}
		buf_release(&b);
	}
	return rc;
}

/* Sections of code that stay: .init.text goes when the module has started. */
static bool is_core_code(const struct elf_file *f, const GElf_Shdr *shdr)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	return (shdr->sh_flags & code) == code &&
	       strncmp(elf_file_section_name(f, shdr), ".init", 5) != 0;
}

int kmodule_layout(const struct elf_file *f, uint64_t base, uint64_t **addrs, size_t *n)
{
	Elf *elf = elf_file_elf(f);
	uint64_t at = base;
	GElf_Shdr shdr;

	*addrs = NULL;
	if (elf_file_type(f) != ET_REL)
		return PP_EUNSUPPORTED;
	if (elf_getshdrnum(elf, n))
		return PP_ECORRUPT;
	*addrs = malloc((*n ? *n : 1) * sizeof(**addrs));
	if (!*addrs)
		return PP_ENOMEM;
	for (size_t i = 0; i < *n; i++)
		(*addrs)[i] = KMODULE_NOWHERE;
	/* In the order of their numbers, each at the next address that it may begin at. */
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		size_t i = elf_ndxscn(scn);
		uint64_t align;

		if (i >= *n || !gelf_getshdr(scn, &shdr) || !is_core_code(f, &shdr))
			continue;
		align = shdr.sh_addralign ? shdr.sh_addralign : 1;
		if (align & (align - 1) || align > 1u << 20 || shdr.sh_size > 1u << 30)
			return PP_ECORRUPT;
		at = (at + align - 1) & ~(align - 1);
		(*addrs)[i] = at;
		at += shdr.sh_size;
	}
	return 0;
}
