/*
 * Private to lib/table/gate*.c: a condition as a tree, from text (gate_parse.c) over its names
 * (gate_check.c) to what it is (gate.c).
 */
#ifndef PP_TABLE_GATE_PARTS_H
#define PP_TABLE_GATE_PARTS_H

#include "expr/lex.h"
#include "expr/regex.h"
#include "table/gate.h"

#define GATE_DEPTH_MAX 250   /* parentheses and operators within each other */
#define GATE_NODES_MAX 32768 /* of a condition */

/* What can be asked of rows: G(NAME, name, kinds of value that have it). */
#define GATE_STATS(G) \
	G(COUNT, "count", TABLE_COUNT) \
	G(SUM, "sum", TABLE_PART) \
	G(SHARE, "share", TABLE_COUNT) \
	G(MIN, "min", TABLE_SUM) \
	G(MEAN, "mean", TABLE_SUM) \
	G(MAX, "max", TABLE_SUM) \
	G(PERCENTILE, "p50, p99, p99.9, ...", TABLE_HIST)
enum gate_stat {
#define G(name, text, least) GATE_##name,
	GATE_STATS(G)
#undef G
		GATE_NSTATS
};
struct gate_stat_info {
	const char *name;
	enum table_value_kind least;
};
extern const struct gate_stat_info gate_stats[GATE_NSTATS];

enum gate_kind {
	GATE_NUMBER,
	GATE_STAT,
	GATE_NEG,     /* left */
	GATE_ARITH,   /* op */
	GATE_COMPARE, /* op, of numbers */
	GATE_KEY,     /* op, of a key and `text` */
	GATE_IN,      /* key, list */
	GATE_NOT,
	GATE_AND,
	GATE_OR,
	GATE_ANY, /* left, of a row */
};

/* A text or a number that a key is compared with; of a range the ends. */
struct gate_text {
	const char *s;
	size_t len, at, end;
	bool number; /* it is written without quotes, and is one */
	bool range;  /* from num to high */
	bool minus;  /* it is below zero */
	double num, high;
	uint64_t whole; /* all digits of a whole number, without its sign */
	struct gate_text *next;
};

struct gate_node {
	enum gate_kind kind;
	enum expr_op op;
	int depth;
	size_t at, end; /* in the text */
	struct gate_node *left, *right;
	double num;   /* NUMBER; of a percentile which one */
	bool percent; /* NUMBER: written with %, a part of 1 */
	/* STAT: of which value (NULL: the only one), and in `left` of which rows (NULL: all). */
	enum gate_stat stat;
	bool of_row;	  /* STAT: within any() */
	const char *name; /* of the value, of the key */
	size_t len;
	size_t name_at, name_end;
	struct gate_text *list; /* KEY, IN */
	struct rx *regex;	/* KEY with =~ and !~; owned */
	struct gate_node *next_regex, *next_stat;
};

/* A condition, and what came out. */
struct gate {
	struct expr_source src;
	struct gate_node *node, *regexes, *stats;
	unsigned nodes;
	int outcome;	 /* enum gate_truth */
	struct buf what; /* why, for people */
};
enum gate_truth { GATE_NO, GATE_YES, GATE_UNKNOWN };

struct gates {
	struct gate *v;
	unsigned n;
	struct arena arena;
	bool checked; /* names are right */
	struct diag *d;
};

/* ---- gate_parse.c ---- */

/* 0; PP_EUSAGE with what is wrong in `why`; PP_ENOMEM. */
int gate_parse(struct gates *gs, struct gate *g, struct buf *why);

/* ---- gate_check.c ---- */

/* The value of a table that a statistic is of, or -1: the table does not have it. */
int gate_value(const struct table *t, const struct gate_node *stat);

/* The key that is compared, or -1. */
int gate_key(const struct table *t, const struct gate_node *n);

/* Whether the tables have what is named. 0; PP_EUSAGE with what is wrong in `why`. */
int gate_check(const struct gate *g, const struct tables *ts, struct buf *why);

#endif
