/*
 * Names of system calls by their number, for recordings of raw_syscalls.
 *
 *	syscall_name("x86_64", 1)	("write")
 */
#ifndef PP_EVENT_SYSCALL_NAMES_H
#define PP_EVENT_SYSCALL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* NULL: the machine (as uname -m says) or the number is not known. */
const char *syscall_name(const char *arch, uint64_t number);

#endif
