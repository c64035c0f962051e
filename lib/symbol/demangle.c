/* Calls libiberty for C++, Rust and D names, with bounds on time and text; OCaml's are its own. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * D. This demangler gives memory of its own, and cannot be stopped: each back reference can double
 * the text, so that names with many of them are left alone.
 */
static const char *run_d(const char *name, struct buf *b)
{
	size_t len = strnlen(name, DEMANGLE_MAX_D + 1), references = 0;
	char *text;

	for (size_t i = 0; i < len; i++)
		references += name[i] == 'Q';
	if (len > DEMANGLE_MAX_D || references > DEMANGLE_MAX_D_REFS)
		return name;
	text = dlang_demangle(name, 0);
	buf_reset(b);
	if (text && strlen(text) <= DEMANGLE_MAX_OUT)
		buf_adds(b, text);
	free(text);
	return b->len && !b->err ? buf_str(b) : name;
}

/* The character that "$2b" stands for; 0: that is none. */
static char escaped(const char *s)
{
	char digits[3] = {0};
	unsigned char c;

	if (s[0] != '$' || !isxdigit((unsigned char)s[1]) || !isxdigit((unsigned char)s[2]))
		return 0;
	memcpy(digits, s + 1, 2);
	c = (unsigned char)strtoul(digits, NULL, 16);
	return c > ' ' && c < 0x7f ? (char)c : 0;
}

/* OCaml: "camlMODULE__NAME_STAMP", where "__" is a dot, and $ with two digits any character. */
static const char *run_ocaml(const char *name, struct buf *b)
{
	const char *s = name + 4;

	if (strnlen(name, DEMANGLE_MAX_IN + 1) > DEMANGLE_MAX_IN)
		return name;
	buf_reset(b);
	while (*s) {
		bool dot = s[0] == '_' && s[1] == '_';
		char c = escaped(s);

		buf_addc(b, dot ? '.' : c ? c : *s);
		s += dot ? 2 : c ? 3 : 1;
	}
	return b->err ? name : buf_str(b);
}

bool demangle_is_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && isupper((unsigned char)name[4]);
}

const char *demangle(const char *name, struct buf *b)
{
	const char *at;
	size_t len;
	char *head;

	if (demangle_is_ocaml(name))
		return run_ocaml(name, b);
	if (name[0] == '_' && name[1] == 'D')
		return run_d(name, b);
	/* What else libiberty takes begins with _Z, _R or _GLOBAL_; all else need not be tried. */
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
