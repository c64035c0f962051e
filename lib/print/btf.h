/*
 * Types of a kernel, in the BPF type format, as far as the arguments of functions need them.
 * Private to lib/print. Source: Documentation/bpf/btf.rst of the kernel.
 *
 *	struct btf *btf;
 *	btf_new(&btf, &bytes);		(the bytes become the table's)
 *	btf_add_args(btf, "vfs_read", args, 6, &buf);	(file=0xff11..., buf=0x7ffd..., ...)
 *	btf_free(btf);
 */
#ifndef PP_PRINT_BTF_H
#define PP_PRINT_BTF_H

#include "base/buf.h"

struct btf;

/* Takes the bytes. 0, PP_ENOMEM, or PP_ECORRUPT: they make no sense. */
int btf_new(struct btf **btf, struct buf *bytes);
void btf_free(struct btf *btf); /* NULL is fine */

/*
 * Appends the arguments of a function, with their names (escaped) where its types are known;
 * otherwise, and without a table (NULL), all of them in hexadecimal.
 */
void btf_add_args(const struct btf *btf, const char *func, const uint64_t *args, uint32_t n,
		  struct buf *b);

#endif
