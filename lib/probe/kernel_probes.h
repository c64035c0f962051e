/*
 * Definitions of probes of the kernel: functions by its symbols, parameters by its own types (BTF).
 *
 *	struct kernel k;
 *	rc = kernel_open(&k, NULL, NULL, diag);		(of this machine)
 *	rc = kernel_define(&k, &definer, "tcp_sendmsg size sk->__sk_common.skc_state");
 *	kernel_close(&k);
 *
 * Where parameters lie is told by the calling convention of x86-64.
 */
#ifndef PP_PROBE_KERNEL_PROBES_H
#define PP_PROBE_KERNEL_PROBES_H

#include "inspect/kbtf.h"
#include "probe/define.h"
#include "probe/sheet.h"

#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define KERNEL_KALLSYMS "/proc/kallsyms"
#define KERNEL_TEXT_MAX (512u << 20)

struct kernel {
	struct kbtf *btf;     /* NULL: none */
	const char *btf_path; /* types of modules lie beside it */
	struct kbtf *module;  /* types of the module asked for last; NULL: none */
	char module_name[64]; /* "": none was asked for */
	struct buf symbols;   /* the text of kallsyms */
	struct diag *diag;
};

/* The files, or NULL for those of this machine. 0, or an error that was reported. */
int kernel_open(struct kernel *k, const char *btf, const char *kallsyms, struct diag *d);
void kernel_close(struct kernel *k);

/* 0 with an event added to d, which has no binary; or an error that was reported. */
int kernel_define(struct kernel *k, struct definer *d, const char *text);

/* Lists functions whose names fit; NULL: all. Returns an exit status. */
int kernel_functions(struct kernel *k, const char *pattern, enum sheet_form form);

/* Lists the parameters of a function. Returns an exit status. */
int kernel_variables(struct kernel *k, const char *function, enum sheet_form form);

#endif
