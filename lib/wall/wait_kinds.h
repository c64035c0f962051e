/*
 * Private to lib/wall: what a thread waited for, and where, told from the functions of its stack by
 * tables (wait_kinds.c).
 *
 *	rc = wall_wait(w, seg.stack, seg.wake.stack, &kind);
 *	printf("%s\n", wall_kinds[kind].name);		("[lock]")
 */
#ifndef PP_WALL_WAIT_KINDS_H
#define PP_WALL_WAIT_KINDS_H

#include "wall/histories.h"

/* K(NAME, name, idle, what it is). idle: who waits there has nothing to do. */
#define WALL_KINDS(K) \
	K(BLOCKED, "[blocked]", false, "for something that the stack does not show") \
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
	K(WORK, "[work: idle]", true, "a kernel thread, for work") \
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

/*
 * What a stack waits for; where it does not tell, what the interrupt was for that ended it, if one
 * did: WALL_KIND_BLOCKED: nobody knows. Each stack is asked once. 0 or PP_ENOMEM.
 */
int wall_wait(struct wall *w, uint32_t stack, uint32_t waker, enum wall_kind *kind);
/* Whether a waker's stack is that of an interrupt, or of softirqs in a thread of their own. */
int wall_in_interrupt(struct wall *w, uint32_t stack, bool *in);

/*
 * The frame that shows people where a stack is: the innermost function of the program that is not
 * one of the C library's for waiting; without any the innermost of the kernel that does not only
 * work for others, after the `skip` innermost. False: there is none.
 */
bool wall_place(const struct lat_stacks *k, uint32_t stack, uint32_t skip,
		struct lat_stack_frame *f);

/* How many innermost frames of a stack are the kernel's. */
uint32_t wall_kernel_frames(const struct lat_stacks *k, uint32_t stack);

#endif
