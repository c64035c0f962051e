/*
 * The kernel's types (BTF): names and types of the arguments of functions, for the function
 * tracer.
 */
#include "print/btf.h"

#include "base/err.h"
#include "event/kbtf.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SHOWN 512 /* bytes of a name: the kernel's have fewer */

struct btf {
	struct kbtf *types;
};

int btf_new(struct btf **out, struct buf *bytes)
{
	struct btf *t = calloc(1, sizeof(*t));
	int rc = t ? kbtf_take(&t->types, bytes, NULL) : PP_ENOMEM;

	if (rc) {
		free(t);
		t = NULL;
	}
	*out = t;
	return rc;
}

void btf_free(struct btf *t)
{
	if (!t)
		return;
	kbtf_close(t->types);
	free(t);
}

/*
 * The prototype of a function; false if it is not known. A compiler's variant, "name.isra.0", has
 * that of its origin.
 */
static bool prototype(const struct btf *t, const char *func, uint32_t *proto)
{
	const char *dot = strchr(func, '.');
	char *origin;
	bool found = t && !kbtf_function(t->types, func, proto);

	if (!t || found || !dot)
		return found;
	origin = strndup(func, (size_t)(dot - func));
	found = origin && !kbtf_function(t->types, origin, proto);
	free(origin);
	return found;
}

/* A structure that is passed by value: as many words as it has. Returns how many there were. */
static uint32_t add_struct(bool is_union, uint64_t size, const uint64_t *args, uint32_t n,
			   struct buf *b)
{
	uint32_t words = size > 8 ? (uint32_t)((size + 7) / 8) : 1;

	buf_addf(b, "(%s)[", is_union ? "UNION" : "STRUCT");
	for (uint32_t i = 0; i < words; i++) {
		if (i == n) {
			buf_adds(b, "...");
			words = n;
			break;
		}
		buf_addf(b, "0x%llx%s", (unsigned long long)args[i], i + 1 < words ? ":" : "");
	}
	buf_addc(b, ']');
	return words;
}

/* Returns how many of the n words belong to it. */
static uint32_t add_arg(const struct btf *t, uint32_t type, const uint64_t *args, uint32_t n,
			struct buf *b)
{
	uint64_t size;
	bool sign;
	enum kbtf_class c = kbtf_class(t->types, type, &size, &sign);

	if (kbtf_has_members(c))
		return add_struct(c == KBTF_UNION, size, args, n, b);
	if (c == KBTF_ENUM || (c == KBTF_NUMBER && sign))
		buf_addf(b, "%lld", (long long)args[0]);
	else
		buf_addf(b, "0x%llx", (unsigned long long)args[0]);
	return 1;
}

void btf_add_args(const struct btf *t, const char *func, const uint64_t *args, uint32_t n,
		  struct buf *b)
{
	const char *name;
	uint32_t proto = 0, type;
	bool known = prototype(t, func, &proto);

	for (uint32_t i = 0; !known && i < n; i++)
		buf_addf(b, "%s%llx", i ? ", " : "", (unsigned long long)args[i]);
	for (uint32_t i = 0, k = 0; known && i < n && !kbtf_param(t->types, proto, k, &name, &type);
	     k++) {
		buf_adds(b, k ? ", " : "");
		buf_add_safe(b, name, strnlen(name, NAME_MAX_SHOWN));
		buf_addc(b, '=');
		i += add_arg(t, type, args + i, n - i, b);
	}
}
