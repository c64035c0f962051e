/*
 * Markers that programs were built with (USDT, "statically defined tracing"): section
 * .note.stapsdt.
 *
 *	rc = usdt_each(binary, on_marker, ctx);
 *
 * Format: notes of owner "stapsdt" and type 3, as <sys/sdt.h> of SystemTap writes them: the
 * addresses of the marker, of .stapsdt.base at link time and of a semaphore, then provider, name
 * and operands.
 */
#ifndef PP_INSPECT_USDT_H
#define PP_INSPECT_USDT_H

#include "base/buf.h"
#include "inspect/binary.h"

struct usdt {
	const char *provider, *name, *args;
	uint64_t addr;	    /* of the marker's instruction */
	uint64_t semaphore; /* file offset; 0: none */
};

/* Non-zero ends the walk and is its result. */
typedef int usdt_fn(void *ctx, const struct usdt *u);

int usdt_each(struct binary *b, usdt_fn *fn, void *ctx);

/*
 * The next operand of u->args, from *at on, in the kernel's syntax: its text and type. 0;
 * PP_ENOENT: there is none left; PP_EUNSUPPORTED: the kernel cannot fetch it, *at goes on.
 */
int usdt_operand(const struct binary *b, const struct usdt *u, const char **at, struct buf *text,
		 char type[16]);

#endif
