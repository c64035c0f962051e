/*
 * Functions and structures of the kernel, by its own types (BTF).
 *
 *	rc = kbtf_open(&k, "/sys/kernel/btf/vmlinux");
 *	if (kbtf_function(k, "vfs_read", &proto) == 0 &&
 *	    kbtf_param(k, proto, 0, &name, &type) == 0) ...
 *	kbtf_close(k);
 *
 * Format: Documentation/bpf/btf.rst of the kernel.
 */
#ifndef PP_INSPECT_KBTF_H
#define PP_INSPECT_KBTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KBTF_MAX (64u << 20) /* bytes; 5 to 10 MB in practice */

struct kbtf;

enum kbtf_class { KBTF_NUMBER, KBTF_POINTER, KBTF_STRUCT, KBTF_OTHER };

struct kbtf_member {
	uint32_t type;
	uint64_t bit;  /* from the beginning of the structure */
	unsigned bits; /* of a bit field, otherwise 0 */
};

/*
 * The file is as the kernel has it, or an ELF file with a section .BTF (vmlinux, a module). Types
 * of modules build on those of the kernel, `base`, which must live longer; NULL: none. 0,
 * PP_ENOENT, PP_ECORRUPT, PP_ENOMEM, ...
 */
int kbtf_open(struct kbtf **k, const char *path, const struct kbtf *base);

/* The same for n bytes, which are copied. */
int kbtf_bytes(struct kbtf **k, const void *bytes, size_t n, const struct kbtf *base);
void kbtf_close(struct kbtf *k); /* NULL is fine */

/* The prototype of a function: 0 or PP_ENOENT. */
int kbtf_function(const struct kbtf *k, const char *name, uint32_t *proto);

/* The i-th parameter; the result type. 0 or PP_ENOENT (also of void). */
int kbtf_param(const struct kbtf *k, uint32_t proto, unsigned i, const char **name, uint32_t *type);
int kbtf_result(const struct kbtf *k, uint32_t proto, uint32_t *type);

/* What a type is, without typedefs and the like; *size in bytes. */
enum kbtf_class kbtf_class(const struct kbtf *k, uint32_t type, uint32_t *size, bool *sign);

/* What a pointer points to: 0 or PP_ENOENT. */
int kbtf_target(const struct kbtf *k, uint32_t type, uint32_t *to);

/* A member by name, also in unnamed members: 0 or PP_ENOENT. */
int kbtf_find(const struct kbtf *k, uint32_t type, const char *name, size_t len,
	      struct kbtf_member *m);

#endif
