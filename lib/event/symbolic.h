/*
 * Names of numbers, as the print format of a tracepoint has them:
 *
 *	__print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, ...)
 *	__print_flags(REC->prev_state & 255, "|", { 0x0001, "S" }, { 0x0002, "D" }, ...)
 *
 *	struct symbolic s;
 *	symbolic_parse(&s, e->format.p, e->format.len, "vec");
 *	if (symbolic_text(&s, 1, text))	("TIMER")
 *
 * and the states of a thread in sched_switch, which kernels number differently:
 *
 *	struct task_states t;
 *	task_states_parse(&t, e->format.p, e->format.len);
 *	if (task_state(&t, prev_state, text))
 *		... it was switched out, but did not go to sleep ...
 *
 * Nothing is allocated, and nothing points into the format.
 */
#ifndef PP_EVENT_SYMBOLIC_H
#define PP_EVENT_SYMBOLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLIC_MAX  256 /* names of a field; what comes after them is left out */
#define SYMBOLIC_ALL  128 /* bytes of several */
#define SYMBOLIC_TEXT 32  /* bytes of a name, including its NUL; longer ones are cut */

struct symbolic {
	uint32_t n;
	struct symbolic_name {
		uint64_t value;
		char text[SYMBOLIC_TEXT];
	} names[SYMBOLIC_MAX];
	bool flags;	   /* they are bits, which can be set together */
	size_t begin, end; /* of the list in the format text; 0, 0: there is no list */
};

/* The list of the first __print_symbolic or __print_flags whose first argument has REC->field. */
void symbolic_parse(struct symbolic *s, const char *format, size_t len, const char *field);

/*
 * If another field says which of two lists is meant, as kvm_exit's isa does:
 *
 *	(REC->isa == 1) ? __print_symbolic(REC->exit_reason, ...)
 *			: __print_symbolic(REC->exit_reason, ...)
 *
 * other is the second list, and s, which has been parsed, the one for chooser == *value. False:
 * there is only one list.
 */
bool symbolic_choice(const struct symbolic *s, const char *format, size_t len, const char *field,
		     char chooser[SYMBOLIC_TEXT], uint64_t *value, struct symbolic *other);

/* The names of a number, those of flags with '|' between them; false: it has none. */
bool symbolic_text(const struct symbolic *s, uint64_t value, char text[SYMBOLIC_ALL]);

struct task_states {
	struct symbolic flags;
	uint64_t preempted; /* the bit that prints as "+": switched out while running; 0 none */
};

void task_states_parse(struct task_states *t, const char *format, size_t len);
/* For ftrace text, which has no format: numbered by its reader, lettered as since Linux 4.14. */
void task_states_of_text(struct task_states *t);

#define TASK_STATE_TEXT 64 /* bytes */

/*
 * The text of a prev_state as the kernel prints it ("S", "R", "R+", "D|K", ...). Returns whether
 * the thread stayed runnable.
 */
bool task_state(const struct task_states *t, uint64_t state, char text[TASK_STATE_TEXT]);

#endif
