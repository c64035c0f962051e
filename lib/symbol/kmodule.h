/*
 * Kernel modules: their files, and where the kernel puts what is in them.
 *
 *	rc = kmodule_path(root, "6.1.0", "ext4", path);
 *		(path: /lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz)
 *	rc = kmodule_layout(f, base, &addrs, &n);
 *
 * A module is a relocatable file: its symbols are relative to sections, for which the kernel finds
 * places when it loads it (layout_sections in kernel/module/main.c).
 */
#ifndef PP_SYMBOL_KMODULE_H
#define PP_SYMBOL_KMODULE_H

#include "symbol/root.h"

#define KMODULE_NAME_MAX  64 /* bytes of a name with its NUL: MODULE_NAME_LEN of the kernel */
#define KMODULE_INDEX_MAX (64u << 20) /* bytes of modules.dep */
#define KMODULE_NOWHERE	  UINT64_MAX

/*
 * The name of a module, "snd_hda", by the path of its file or by "[snd_hda]": as the kernel has it,
 * with '_' for '-'. A longer name is cut.
 */
void kmodule_name(const char *path, char name[KMODULE_NAME_MAX]);

/*
 * The path of a loaded module's file below a root (NULL: this machine), by modules.dep or
 * modules.order of the release. The name is that of /proc/modules, without brackets. 0 or
 * PP_ENOENT, PP_ENOMEM.
 */
int kmodule_path(const struct root *root, const char *release, const char *name,
		 char path[ROOT_PATH_MAX]);

/*
 * The address of each of the n sections, if the module's code begins at `base`; KMODULE_NOWHERE for
 * those that are not code, or gone after its start. The caller frees *addrs. 0, PP_EUNSUPPORTED
 * (not a relocatable file), PP_ECORRUPT, PP_ENOMEM.
 */
int kmodule_layout(const struct elf_file *f, uint64_t base, uint64_t **addrs, size_t *n);

#endif
