/*
 * The kernel's image with debug information: with it, the kernel is probed as programs are, at
 * lines and with variables.
 *
 *	struct vmlinux v;
 *	rc = vmlinux_open(&v, NULL, diag);		(that of the running kernel, if it is here)
 *	if (vmlinux_has(&v, "vfs_read:3 count"))
 *		... definer_add(&definer, "vfs_read:3 count") ...
 *	vmlinux_close(&v);
 *
 * Places are symbols and offsets, so it does not matter where the kernel was loaded.
 */
#ifndef PP_PROBE_VMLINUX_H
#define PP_PROBE_VMLINUX_H

#include "inspect/funcs.h"

struct vmlinux {
	struct binary *b; /* NULL: none */
	struct funcs funcs;
};

/*
 * The image at path; NULL: the one that distributions install, if it has the build-id of the
 * running kernel. 0, also if that is not here; or an error that was reported.
 */
int vmlinux_open(struct vmlinux *v, const char *path, struct diag *d);
void vmlinux_close(struct vmlinux *v);

/* Whether a definition, or what -L and -V are given, is about code that the image describes. */
bool vmlinux_has(struct vmlinux *v, const char *text);

#endif
