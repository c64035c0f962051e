/*
 * Counts of events, as perf stat makes them: a table of events by CPUs and threads, summed up by
 * what the user asks for, with the figures that follow from several events together.
 *
 *	struct counts c;
 *
 *	counts_init(&c, COUNT_BY_CORE);
 *	rc = counts_add_event(&c, &(struct count_event){.name = "cycles", .scale = 1, ...});
 *	rc = counts_add_cpu(&c, &(struct count_cpu){.cpu = 0, .socket = 0, .core = 0, ...});
 *	rc = counts_add_thread(&c, -1, "");
 *	rc = counts_lay_out(&c);
 *	*counts_cell(&c, event, cpu, thread) = (struct count_value){value, enabled, running};
 *	counts_sum(&c, COUNT_WHOLE);
 *	... counts_row(&c, event, group), count_metrics(&c, event, group, m) ...
 *	counts_release(&c);
 *
 * The caller says which events, CPUs and threads there are, and enters the counts. With
 * repeated runs it clears the cells between them (counts_clear) and sums up each run: a row then
 * has the mean and its deviation. Forms for people and programs are in form.h.
 */
#ifndef PP_COUNT_COUNT_H
#define PP_COUNT_COUNT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_CELLS_MAX	  (1u << 20) /* events by CPUs by threads */
#define COUNT_METRICS_MAX 2	     /* of one row */

/* What counts are summed up by. B(NAME, name): the names are those of options, --per-NAME. */
#define COUNT_BYS(B) \
	B(ALL, "all") \
	B(CPU, "cpu") \
	B(CORE, "core") \
	B(DIE, "die") \
	B(SOCKET, "socket") \
	B(NODE, "node") \
	B(THREAD, "thread")
enum count_by {
#define B(name, text) COUNT_BY_##name,
	COUNT_BYS(B)
#undef B
};

/* All fields may be read; texts given to counts_add_event are copied. */
struct count_event {
	const char *name;
	const char *unit;   /* "" or NULL: a number */
	const char *cgroup; /* NULL: none */
	double scale;	    /* from a count to the unit */
	uint32_t type;	    /* PERF_TYPE_* */
	uint64_t config;
	uint32_t without; /* PS_WITHOUT_*: events with the same ones belong together */
	bool supported;	  /* the machine counts it */
	uint8_t role;	  /* of counts_add_event: what it is to the figures of others */
};

struct count_cpu {
	int cpu;		     /* -1: any */
	int socket, die, core, node; /* -1: not known */
};

struct count_thread {
	int64_t tid; /* -1: any */
	const char *comm;
};

struct count_value {
	uint64_t value, enabled, running; /* the last two in ns */
};
#define COUNT_ABSENT UINT64_MAX /* `running`, where there is no counter: such as of a package */

/* What a row stands for: those parts that counts are summed up by, -1 for the others. */
struct count_group {
	int cpu, socket, die, core, node;
	int64_t thread; /* index */
};

enum count_state { COUNT_COUNTED, COUNT_NOT_COUNTED, COUNT_NOT_SUPPORTED };

/* An event in a group. */
struct count_row {
	enum count_state state;
	uint32_t cpus;		   /* this many were added up */
	uint64_t enabled, running; /* their sums */
	double value;	/* of all runs the mean; times the event's scale it is in its unit */
	double squares; /* sum of the squares of the runs' distances from it */
	uint32_t runs;
};

struct counts {
	struct arena arena;
	struct count_event *events;
	struct count_cpu *cpus;
	struct count_thread *threads;
	struct count_group *groups;
	uint32_t n_events, n_cpus, n_threads, n_groups;
	uint32_t cap_events, cap_cpus, cap_threads;
	struct count_value *cells;  /* [(event * n_cpus + cpu) * n_threads + thread] */
	struct count_value *before; /* the cells at the end of the interval before */
	struct count_row *rows;	    /* [event * n_groups + group] */
	enum count_by by;
	bool no_scale;	  /* do not make up for the time that a counter did not run */
	bool laid_out;	  /* counts_lay_out was called */
	uint64_t elapsed; /* ns that "CPUs utilized" refers to; 0: not known */
};

void counts_init(struct counts *c, enum count_by by);
void counts_release(struct counts *c);

/* Add one more. 0, PP_ENOMEM or PP_ELIMIT. */
int counts_add_event(struct counts *c, const struct count_event *e);
int counts_add_cpu(struct counts *c, const struct count_cpu *cpu);
int counts_add_thread(struct counts *c, int64_t tid, const char *comm);

/*
 * Makes the cells and the rows, when all events, CPUs and threads are known; without CPUs or
 * threads there is one, "any". 0, PP_ENOMEM or PP_ELIMIT.
 */
int counts_lay_out(struct counts *c);

/*
 * A CPU is elsewhere: its place was not known while it was offline. Existing rows keep what
 * they have. 0 or PP_ENOMEM.
 */
int counts_move_cpu(struct counts *c, uint32_t cpu, const struct count_cpu *place);

static inline struct count_value *counts_cell(const struct counts *c, uint32_t event, uint32_t cpu,
					      uint32_t thread)
{
	return &c->cells[((size_t)event * c->n_cpus + cpu) * c->n_threads + thread];
}

/* Columns of the widest unit. */
unsigned counts_unit_width(const struct counts *c);

/* Sets all cells to 0, for another run; none is absent. */
void counts_clear(struct counts *c);

/*
 * From cells to rows. COUNT_WHOLE: another run, which is added to those before. COUNT_INTERVAL:
 * what was counted since the last call; rows of earlier ones are forgotten. COUNT_ANEW: the same,
 * but since the beginning.
 */
enum count_span { COUNT_WHOLE, COUNT_INTERVAL, COUNT_ANEW };
void counts_sum(struct counts *c, enum count_span span);

static inline const struct count_row *counts_row(const struct counts *c, uint32_t event,
						 uint32_t group)
{
	return &c->rows[(size_t)event * c->n_groups + group];
}

/* The standard error of the mean of n values, from the sum of the squares of their distances. */
double count_error(double squares, uint32_t n);

/* Threads of an event by its rows, highest value first, into order[n_groups]. Their number. */
uint32_t counts_order(const struct counts *c, uint32_t event, bool no_zeros, uint32_t *order);

/* ---- metric.c ---- */

/* A figure that follows from an event and others of its group. */
struct count_metric {
	double value;
	const char *unit; /* "insn per cycle", "of all branches", "K/sec": static storage */
	int decimals;
	int width;   /* that it is printed in */
	char suffix; /* after the number: '%', ' ' or 0 */
	bool only;   /* it means something without its event: for --metric-only */
	bool none;   /* it would be printed here, but there is no value */
	bool space;  /* before the suffix */
};

/* The figures of a row; how many (0 to COUNT_METRICS_MAX). */
unsigned count_metrics(const struct counts *c, uint32_t event, uint32_t group,
		       struct count_metric *m);

/* What an event is to the figures of others, by its type and number. */
uint8_t count_role(const struct count_event *e);

/* Whether an event is a clock of the kernel, cpu-clock or task-clock. */
bool count_is_clock(const struct count_event *e);

const char *count_by_name(enum count_by by);

#endif
