/*
 * Functions of the kernel by their address, for filters that read a stream and meet addresses in
 * the fields of events: call sites, the functions of timers; and block devices by their number.
 *
 *	struct kfunc *k;
 *	kfunc_new(&k, NULL, diag);
 *	kfunc_see(k, rec);				(records other than samples)
 *	name = kfunc_name(k, source, addr, &len);	(NULL: not known)
 *	kfunc_free(k);
 *
 * Where the symbols come from is in kernel_symbols.h; nothing is loaded before the first name is
 * asked for.
 */
#ifndef PP_SYMBOL_KFUNC_H
#define PP_SYMBOL_KFUNC_H

#include "stream/stream.h"

#define KFUNC_SOURCES 256 /* recordings that have symbols of their own */

struct kfunc;

/*
 * kallsyms: a file; NULL. It must outlive the table. 0, PP_ENOMEM, or an error of that file, which
 * was reported.
 */
int kfunc_new(struct kfunc **k, const char *kallsyms, struct diag *d);
void kfunc_free(struct kfunc *k); /* NULL is fine */

/* Takes the records that it needs. PS_HEADER discards all. */
void kfunc_see(void *k, const struct ps_record *rec);

/* Whether names may be missing because there was no memory for them. */
bool kfunc_failed(void *k);

/* The name of the function that an address of a recording is in; not terminated. */
const char *kfunc_name(void *k, uint32_t source, uint64_t addr, size_t *len);

/*
 * The name of a block device of a recording that was made on this machine, by the kernel's dev_t
 * (20 bits for the second number): "sda1". NULL: not known. Not terminated, lives as long as k.
 */
const char *kfunc_device(void *k, uint32_t source, uint64_t dev, size_t *len);

/*
 * Whether the recordings' kernels have symbols, but none of this name; *near: one that is spelt
 * nearly so, or NULL. Says nothing to diag.
 */
bool kfunc_lacks(void *k, const char *name, size_t len, const char **near);

#endif
