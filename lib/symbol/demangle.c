#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

struct output {
	struct buf *b;
	jmp_buf too_long;
};

static void collect(const char *s, size_t n, void *opaque)
{
	struct output *o = opaque;

	/*
	 * The callback cannot say stop, and back references can multiply the output without end.
	 * The callback forms of the demanglers hold no memory of their own, so leaving them loses
	 * none.
	 */
	if (o->b->len + n > DEMANGLE_MAX_OUT || o->b->err)
		longjmp(o->too_long, 1);
	buf_add(o->b, s, n);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
		      void *opaque);

static bool run(demangler *f, const char *name, struct buf *b)
{
	struct output o = {.b = b};

	buf_reset(b);
	if (setjmp(o.too_long))
		return false;
	return f(name, DMGL_NO_OPTS, collect, &o) && b->len && !b->err;
}

static bool run_all(const char *name, struct buf *b)
{
	return run(rust_demangle_callback, name, b) || run(cplus_demangle_v3_callback, name, b);
}

const char *demangle(const char *name, struct buf *b)
{
	const char *at;
	size_t len;
	char *head;

	/* What libiberty takes begins with _Z, _R or _GLOBAL_; all else need not be tried. */
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G'))
		return name;
	len = strnlen(name, DEMANGLE_MAX_IN + 1);
	if (len > DEMANGLE_MAX_IN)
		return name;
	at = memchr(name, '@', len);
	if (!at)
		return run_all(name, b) ? buf_str(b) : name;
	head = strndup(name, (size_t)(at - name));
	if (!head || !run_all(head, b)) {
		free(head);
		return name;
	}
	free(head);
	buf_adds(b, at);
	return b->err ? name : buf_str(b);
}
