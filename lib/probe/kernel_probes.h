/*
 * Definitions of probes of the kernel: functions by its symbols, parameters by its own types (BTF).
 *
 *	struct probed_kernel k;
 *	rc = kernel_open(&k, NULL, NULL, diag);		(of this machine)
 *	rc = kernel_define(&k, &definer, "tcp_sendmsg size sk->__sk_common.skc_state");
 *	kernel_close(&k);
 */
#ifndef PP_PROBE_KERNEL_PROBES_H
#define PP_PROBE_KERNEL_PROBES_H

#include "event/kbtf.h"
#include "probe/define.h"
#include "probe/sheet.h"

#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define KERNEL_KALLSYMS "/proc/kallsyms"
#define KERNEL_TEXT_MAX (512u << 20)

#define KERNEL_NEED_IMAGE \
	"lines and places within functions of the kernel are known only from its image with " \
	"debug information: --vmlinux FILE"

struct probed_kernel {
	struct kbtf *btf;     /* NULL: none */
	const char *btf_path; /* types of modules lie beside it */
	struct kbtf *module;  /* types of the module asked for last; NULL: none */
	char module_name[64]; /* "": none was asked for */
	struct buf symbols;   /* the text of kallsyms */
	struct diag *diag;
};

/* The files, or NULL for those of this machine. 0, or an error that was reported. */
int kernel_open(struct probed_kernel *k, const char *btf, const char *kallsyms, struct diag *d);
void kernel_close(struct probed_kernel *k);

/* 0 with an event added to d, which has no binary; or an error that was reported. */
int kernel_define(struct probed_kernel *k, struct definer *d, const char *text);

/*
 * The prototype of a function, and the types that it is in: those of its module, or of the kernel
 * ("", or a name that is not a module's). False: it is not known.
 */
bool kernel_prototype(struct probed_kernel *k, const char *module, const char *func,
		      const struct kbtf **types, uint32_t *proto);

/* The types of a module, valid until those of another one are asked for. NULL: not here. */
const struct kbtf *kernel_module(struct probed_kernel *k, const char *module);

/* Lists functions whose names fit; NULL: all; `signatures`: as C declares them. An exit status. */
int kernel_functions(struct probed_kernel *k, const char *pattern, bool signatures,
		     enum table_form form);

/* Lists the parameters of a function, and its result. Returns an exit status. */
int kernel_variables(struct probed_kernel *k, const char *function, enum table_form form);

/*
 * Lists the members of a structure: "struct sock", "MODULE:struct NAME", a typedef's name. Those of
 * unnamed members are among them. Returns an exit status.
 */
int kernel_members(struct probed_kernel *k, const char *type, enum table_form form);

#endif
