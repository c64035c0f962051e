/*
 * System calls and the kinds of their arguments. Private to lib/strace.
 *
 *	const struct call_args *c = call_find("openat", 6);
 *	if (c) ... c->arg[0].name is "dfd", c->arg[0].kind ARG_DIRFD ...
 */
#ifndef PP_STRACE_SYSCALLS_H
#define PP_STRACE_SYSCALLS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_ARGS_MAX	 6
#define CALL_NUMBERS_MAX 1024 /* above the number of every call */

/* How a number is written. A(NAME, what it is). */
#define ARG_KINDS(A) \
	A(NONE, "there is no such argument") \
	A(UINT, "a number of 32 bits") \
	A(INT, "the same, which may be below zero") \
	A(ULONG, "a number") \
	A(LONG, "the same, which may be below zero") \
	A(PTR, "an address") \
	A(PATH, "the address of a path") \
	A(SOCKADDR, "the address of a socket's address that the program gives") \
	A(FD, "a file descriptor") \
	A(DIRFD, "the same, or AT_FDCWD") \
	A(MODE, "permissions, in octal") \
	A(OPEN, "flags of open") \
	A(PROT, "protection of memory") \
	A(MAP, "flags of mmap") \
	A(ACCESS, "of access") \
	A(FAMILY, "of sockets") \
	A(SOCKET, "type of a socket") \
	A(MSG, "flags of send and recv") \
	A(WHENCE, "of lseek") \
	A(FUTEX, "operation of futex") \
	A(FCNTL, "command of fcntl") \
	A(CLONE, "flags of clone") \
	A(MADVISE, "advice") \
	A(EPOLL, "operation of epoll_ctl") \
	A(CLOCK, "a clock") \
	A(RLIMIT, "a resource") \
	A(SIGMASK, "how a signal mask is changed") \
	A(WAIT, "options of wait") \
	A(SHUTDOWN, "how a socket is shut down") \
	A(CLOEXEC, "flags of descriptors that are made") \
	A(AT, "flags of calls that look up paths") \
	A(SIGNAL, "a signal")

enum arg_kind {
#define A(name, what) ARG_##name,
	ARG_KINDS(A)
#undef A
};

struct call_arg {
	const char *name;
	enum arg_kind kind;
};
struct call_args {
	const char *name;
	struct call_arg arg[CALL_ARGS_MAX];
};

extern const struct call_args call_table[]; /* by name */
extern const size_t call_table_n;

/* ---- calls_find.c ---- */

/*
 * The arguments of a call; those of 32 bits, such as mmap2 and fcntl64, have those of the call that
 * they stand for. NULL: not known.
 */
const struct call_args *call_find(const char *name, size_t len);

/* The kind of a call's argument by its name; ARG_PTR or ARG_UINT if it is not known. */
enum arg_kind call_arg_kind(const struct call_args *c, const char *name, size_t len);

/*
 * Whether a call is in a group: file, desc, net or network, process, memory, signal, ipc, stat,
 * creds, clock.
 */
bool call_in_group(const char *name, size_t len, const char *group, size_t group_len);

/* Whether there is a group, or, on any machine, a call of that name. */
bool call_group_known(const char *group, size_t len);
bool call_name_known(const char *name, size_t len);

/* ---- values.c ---- */

/*
 * Appends an argument as its kind has it, flags by name. `arm` are the flags of open of arm and
 * aarch64, which differ.
 */
void value_add(struct buf *b, enum arg_kind kind, uint64_t v, bool arm);

/*
 * Appends a socket's address, as struct sockaddr has it in this machine's byte order, for people:
 * {AF_INET, 127.0.0.1:80}. What is too short is written as its bytes' number.
 */
void value_add_sockaddr(struct buf *b, const char *bytes, size_t len);

/* "ENOENT" and "No such file or directory" of 2; NULL: not known. */
const char *value_errno(uint32_t err, const char **text);

#endif
