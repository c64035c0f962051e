/*
 * Which pairs of events are intervals: the kinds that plat knows, and those of -s and -e.
 *
 * Adding a built-in kind is adding a row to pair_kinds.c:
 *
 *	{"irq", "interrupt handlers", .by = "name", .restart = PAIR_NEST, .per_cpu = true,
 *	 .events = {{PAIR_START, "irq:irq_handler_entry", "cpu,irq", "name"},
 *		    {PAIR_END, "irq:irq_handler_exit", "cpu,irq"}}},
 *
 * and its name to the list in plat(1) (t/plat.t compares them). Rules:
 *
 * event	SYSTEM:NAME as in tracefs, with at most one '*', whose text is the key or name "*".
 *		The event belongs to the kind only if it has all fields of its key and its value:
 *		so "*:*" with a key that only some events have finds them by their fields.
 * key		fields (event/field.h) with commas, at most PAIR_KEYS: a start and an end pair
 *		when all are equal; the last one is what is shown as the key. In capitals (TID,
 *		CPU) they are the sample's own, whatever the event has. "*" is what the star of
 *		the event stands for. "a/b" is a, or -1 if b is 0. "a?text" is a, or if that is -1
 *		the number of the system call of that name.
 * name		what the interval is called, fields with commas, each with ":" and a way to write
 *		it (PAIR_RENDERS) if it is not to be as it is. Of the start; of the end if that
 *		has none. "=text" is that text, which the star then also means.
 * value	what is subtracted, end minus start: NULL the time of the event. With one event
 *		that is start and end in itself, PAIR_WHOLE, the start's value; the end's is
 *		end_value.
 * scale	by which end_value is multiplied, if it is not a number of ns.
 * when		a field that has to be there and not 0, or with "!" before it, 0: otherwise the
 * event
 *		does not count. "a=text": field a has to be the number of a system call of that
 *		name, which may have one '*'. "a=1": it has to be that number.
 * except	no event with a name that matches this.
 * again	it also reports what events above report: once one of those has ended an interval,
 *		it is skipped, or intervals would count twice.
 * amount	of the start: what --unmatched adds up (bytes of an allocation).
 *
 * What happens:
 * - A start opens an interval, and an end closes the one with its key. An end that finds none is
 *   counted ("no start").
 * - A start whose key is open already: PAIR_REPLACE, the earlier is given up and counted
 *   ("restarted"); PAIR_NEST, both are open, and an end closes the later; PAIR_KEEP, the earlier
 *   stays, and the later is counted as restarted.
 * - What is called as `endless` says, with at most one '*', has no end by nature: where another
 *   would be open or restarted, it is cancelled.
 * - PAIR_CANCEL: if no end follows, no interval was given up: when it begins again, or at the end
 *   of the recording, it is counted as "cancelled". (The kernel reports of a timer first that it
 *   is taken out of its list, whatever the reason, and then that it has expired.)
 * - PAIR_MOVE: what is open with its key begins only here.
 * - PAIR_CALL, of -s X__return alone: X, whose fields are kept for what begins at its return.
 * - Lost events give up what is open: per_cpu, on the CPU that lost them, else everything.
 */
#ifndef PP_INTERVAL_PAIR_H
#define PP_INTERVAL_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_KEYS   4
#define PAIR_EVENTS 12 /* events of a built-in kind */

/* Ways to write a field in a name: R(NAME, name, what it is). */
#define PAIR_RENDERS(R) \
	R(PLAIN, "", "a number or a text as it is") \
	R(HEX, "hex", "0x1f") \
	R(SYMBOLIC, "symbolic", "by the names in the event's print format") \
	R(SYSCALL, "syscall", "a system call of the recorded machine") \
	R(DEV, "dev", "a block device: its name, or major,minor") \
	R(ADDR, "addr", "an address: its kernel function") \
	R(COMM, "comm", "no field: the thread's name, whatever is before the colon")
enum pair_render {
#define R(name, text, what) PAIR_RENDER_##name,
	PAIR_RENDERS(R)
#undef R
		PAIR_NRENDERS
};

enum pair_role { PAIR_NONE, PAIR_START, PAIR_END, PAIR_CANCEL, PAIR_MOVE, PAIR_WHOLE, PAIR_CALL };
enum pair_restart { PAIR_REPLACE, PAIR_NEST, PAIR_KEEP };

struct pair_event {
	enum pair_role role;
	const char *event, *key, *name, *value, *end_value, *when, *except;
	unsigned scale; /* ns of a unit of end_value; 0: 1 */
	bool again;
};

struct pair_kind {
	const char *name;
	const char *what; /* a few words for --list-kinds */
	const char *by;	  /* rows, as of --by */
	const char *unit; /* NULL: ns */
	const char *amount, *amount_unit;
	const char *endless;	   /* names of those that never end; NULL: none */
	const char *begins, *ends; /* the events, in words; NULL: they are called just so */
	enum pair_restart restart;
	bool per_cpu;
	bool state;	/* made by the scheduler view (sched.h), not from the events below */
	bool lone_ends; /* an end without a start is as it should be: a lock that was free */
	bool more;	/* only if asked for: another view of intervals that are shown already */
	struct pair_event events[PAIR_EVENTS];
};

extern const struct pair_kind pair_kinds[];
extern const unsigned pair_nkinds;

/* Places of the scheduler's kinds in pair_kinds. */
enum sched_kind {
	SCHED_RUNQ,
	SCHED_ONCPU,
	SCHED_OFFCPU,
	SCHED_BLOCKED,
	SCHED_WAKING,
	SCHED_MIGRATE,
	SCHED_IDLE,
	SCHED_KINDS
};

#endif
