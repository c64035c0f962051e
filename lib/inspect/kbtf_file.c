/* The kernel's types, from a file. */
#include "inspect/kbtf_file.h"

#include "base/err.h"
#include "symbol/elf_file.h"
#include "symbol/reason.h"
#include "symbol/root.h"

/* The section of an ELF file. PP_ENOENT: it is none, or has none. */
static int read_section(const char *path, struct buf *bytes)
{
	struct elf_file *f = NULL;
	enum symtab_reason why;
	int rc = PP_ENOENT;

	if (elf_file_open(&f, path, &why) == 0) {
		GElf_Shdr sh;
		Elf_Scn *scn = elf_file_section(f, ".BTF", &sh);
		Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;

		if (data && data->d_buf && data->d_size <= KBTF_MAX) {
			buf_add(bytes, data->d_buf, data->d_size);
			rc = bytes->err;
		}
	}
	elf_file_close(f);
	return rc;
}

int kbtf_open(struct kbtf **out, const char *path, const struct kbtf *base)
{
	struct buf bytes = BUF_INIT;
	enum symtab_reason why;
	int rc = read_section(path, &bytes);

	*out = NULL;
	if (rc == PP_ENOENT)
		rc = root_read(NULL, path, KBTF_MAX, &bytes, &why);
	if (!rc)
		rc = kbtf_take(out, &bytes, base);
	buf_release(&bytes);
	return rc;
}
