/*
 * Private to lib/wall: what a thread waited for, told from the functions of its stack by a table
 * (kind.c).
 *
 *	k = wall_kind_of(w->kept, seg.stack);
 *	printf("%s\n", wall_kinds[k].name);		("[lock]")
 */
#ifndef PP_WALL_KIND_H
#define PP_WALL_KIND_H

#include "wall/engine.h"

/* K(NAME, name, idle, what it is). idle: who waits there has nothing to do. */
#define WALL_KINDS(K) \
	K(BLOCKED, "[blocked]", false, "for something that the stack does not tell") \
	K(LOCK, "[lock]", false, "for a lock: futex, mutex, semaphore") \
	K(CONDITION, "[condition]", false, "for a condition variable") \
	K(DISK, "[disk]", false, "for a block device or a file system") \
	K(NETWORK, "[network]", false, "for a socket") \
	K(PIPE, "[pipe]", false, "for the other end of a pipe") \
	K(TIMER, "[timer]", false, "for a time that it set itself") \
	K(CHILD, "[child]", false, "for a process that it started") \
	K(JOIN, "[join]", false, "for a thread that it started") \
	K(MEMORY, "[memory]", false, "for memory to be freed or read in") \
	K(TERMINAL, "[terminal]", true, "for a terminal") \
	K(STOPPED, "[stopped]", false, "stopped by a signal or a debugger") \
	K(SIGNAL, "[signal: idle]", true, "for a signal") \
	K(POLL, "[poll: idle]", true, "for any of several files: poll, select, epoll, accept") \
	K(WORK, "[work: idle]", true, "a thread of the kernel, for work") \
	K(ASLEEP, "[asleep: idle]", true, "nothing happened in it all the time")
enum wall_kind {
#define K(name, text, idle, what) WALL_KIND_##name,
	WALL_KINDS(K)
#undef K
		WALL_NKINDS
};
struct wall_kind_name {
	const char *name;
	bool idle;
};
extern const struct wall_kind_name wall_kinds[WALL_NKINDS];

typedef enum wall_kind wall_kind_fn(const struct lat_stacks *k, uint32_t stack);

/* What the innermost functions of a stack that waits tell; WALL_KIND_BLOCKED: nothing. */
wall_kind_fn wall_kind_of;
/* What the interrupt was for in which a waker's stack is; WALL_KIND_BLOCKED: nobody knows. */
wall_kind_fn wall_interrupt_kind;

/* How many innermost frames of a stack are the kernel's. */
uint32_t wall_kernel_frames(const struct lat_stacks *k, uint32_t stack);

#endif
