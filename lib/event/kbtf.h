/*
 * Functions and structures of the kernel, by its own types (BTF).
 *
 *	rc = kbtf_take(&k, &bytes, NULL);
 *	if (kbtf_function(k, "vfs_read", &proto) == 0 &&
 *	    kbtf_param(k, proto, 0, &name, &type) == 0) ...
 *	kbtf_close(k);
 *
 * Format: Documentation/bpf/btf.rst of the kernel.
 */
#ifndef PP_EVENT_KBTF_H
#define PP_EVENT_KBTF_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kbtf;

enum kbtf_class {
	KBTF_NUMBER,
	KBTF_ENUM,
	KBTF_POINTER,
	KBTF_STRUCT,
	KBTF_UNION,
	KBTF_ARRAY,
	KBTF_OTHER
};

/* Has members; is written as a number. */
static inline bool kbtf_has_members(enum kbtf_class c)
{
	return c == KBTF_STRUCT || c == KBTF_UNION;
}

static inline bool kbtf_is_number(enum kbtf_class c)
{
	return c == KBTF_NUMBER || c == KBTF_ENUM;
}

struct kbtf_member {
	const char *name; /* "": it has none */
	uint32_t type;
	uint64_t bit;  /* from the beginning of the structure */
	unsigned bits; /* of a bit field, else 0 */
};

/*
 * Takes the bytes, which are as the kernel has them. Types of modules build on those of the kernel,
 * `base`, which must live longer; NULL: none. 0, PP_ECORRUPT or PP_ENOMEM.
 */
int kbtf_take(struct kbtf **k, struct buf *bytes, const struct kbtf *base);

/* The same for n bytes, which are copied. */
int kbtf_bytes(struct kbtf **k, const void *bytes, size_t n, const struct kbtf *base);
void kbtf_close(struct kbtf *k); /* NULL is fine */

/* The prototype of a function: 0 or PP_ENOENT. Quick: the names are indexed. */
int kbtf_function(const struct kbtf *k, const char *name, uint32_t *proto);

/* The i-th parameter; the result type. 0 or PP_ENOENT (also of void). */
int kbtf_param(const struct kbtf *k, uint32_t proto, unsigned i, const char **name, uint32_t *type);
int kbtf_result(const struct kbtf *k, uint32_t proto, uint32_t *type);

/* A type by its name: "struct sock", "union u", or a bare name of any of them. 0 or PP_ENOENT. */
int kbtf_type(const struct kbtf *k, const char *name, uint32_t *type);

/*
 * What a type is, without typedefs and the like; *size in bytes (0: not known), of arrays that of
 * all elements.
 */
enum kbtf_class kbtf_class(const struct kbtf *k, uint32_t type, uint64_t *size, bool *sign);
bool kbtf_is_char(const struct kbtf *k, uint32_t type);

/* The name of a type; "": it has none, or there is no such type. Valid as long as k. */
const char *kbtf_name(const struct kbtf *k, uint32_t type);

/* What a pointer points to: 0 or PP_ENOENT. */
int kbtf_target(const struct kbtf *k, uint32_t type, uint32_t *to);

/* An array's elements and their number, which may be 0: 0 or PP_ENOENT. */
int kbtf_array(const struct kbtf *k, uint32_t type, uint32_t *elem, uint32_t *n);

/* The i-th member: 0 or PP_ENOENT. */
int kbtf_member(const struct kbtf *k, uint32_t type, uint32_t i, struct kbtf_member *m);

/* A member by name, also in unnamed members: 0 or PP_ENOENT. */
int kbtf_find(const struct kbtf *k, uint32_t type, const char *name, size_t len,
	      struct kbtf_member *m);

/*
 * Appends the declaration of something of a type as C has it: "struct sock *sk", "int (*f)(void)",
 * of a prototype "int vfs_fsync(struct file *file, int datasync)"; with an empty name the type
 * alone. What is nested too deeply, or long, is "...". Names are as they are in the file.
 */
void kbtf_declare(const struct kbtf *k, uint32_t type, const char *name, struct buf *b);

#endif
