/*
 * The header lines of samples in perf script text. Private to lib/fold.
 *
 *	struct fold_header h;
 *
 *	if (fold_header_parse("comm 12/34 [000] 5.6: 100 cycles:", 34, 0, &h))
 *		... h.comm_len is 4, h.pid_len 2 ...
 */
#ifndef PP_FOLD_SAMPLE_HEADER_H
#define PP_FOLD_SAMPLE_HEADER_H

#include "fold/text_lines.h"

#define FOLD_COMM_MAX	16 /* the kernel's TASK_COMM_LEN: columns of a command; it has 15 bytes */
#define FOLD_COMM_COUNT 64 /* bytes of the longest that are looked for: kworkers have such */
#define FOLD_IP_COLUMNS 16 /* of an address, with the blanks before it */

/* Fields that no header of a text has. */
enum { FOLD_NO_IDS = 1, FOLD_NO_TIME = 2 };

/*
 * What a header line of perf script has, "comm 12/34 [000] 5.6: 100 cycles: REST". Which of it is
 * there is the choice of its -F; what is not has length 0. Pointers go into the line.
 */
struct fold_header {
	const char *comm;
	size_t comm_len;
	const char *pid, *tid; /* tid_len 0: there is one number only */
	size_t pid_len, tid_len;
	const char *cpu; /* digits */
	size_t cpu_len;
	bool timed, has_period;
	uint64_t period; /* 1 if there is none */
	const char *event;
	size_t event_len;
	size_t event_columns; /* it follows the command: of it and blanks before it; 0: not so */
	const char *rest;     /* arguments of a tracepoint, addresses, the function of the sample */
	size_t rest_len;
	bool record; /* no sample: rest is "PERF_RECORD_..." */
};

/* Nothing is known yet; no string is NULL. */
#define FOLD_HEADER_INIT \
	{ \
		.comm = "", .pid = "", .tid = "", .cpu = "", .period = 1, .event = "", .rest = "" \
	}

/*
 * False if the line is none. A command is what the kernel lets it be: blanks, numbers and brackets
 * in it do not end it. What the text is without, FOLD_NO_*, is not looked for.
 */
bool fold_header_parse(const char *p, size_t n, unsigned without, struct fold_header *h);

/* Whether a line that begins with '#' is a comment, not the header of a thread of such a name. */
bool fold_is_comment(const char *p, size_t n);

/* Whether an event of this name is a tracepoint: "sched:sched_switch", but not "cycles:u". */
bool fold_is_tracepoint(const char *event, size_t n);

#endif
