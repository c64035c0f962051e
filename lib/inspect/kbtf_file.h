/*
 * The kernel's types (event/kbtf.h) from a file.
 *
 *	rc = kbtf_open(&k, "/sys/kernel/btf/vmlinux", NULL);
 */
#ifndef PP_INSPECT_KBTF_FILE_H
#define PP_INSPECT_KBTF_FILE_H

#include "event/kbtf.h"

#define KBTF_MAX (64u << 20) /* bytes; 5 to 10 MB in practice */

/*
 * The file is as the kernel has it, or an ELF file with a section .BTF (vmlinux, a module). Those
 * of modules build on `base`, as with kbtf_take. 0, PP_ENOENT, PP_ECORRUPT, PP_ENOMEM, ...
 */
int kbtf_open(struct kbtf **k, const char *path, const struct kbtf *base);

#endif
