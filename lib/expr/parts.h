/*
 * Private to lib/expr: the parts of an expression, from text to program.
 *
 *	text -> tokens (lex.c) -> tree (parse.c, event_filter.c)
 *	-> program for an event (compile.c, value.c) -> mark or value of a sample (execute.c)
 */
#ifndef PP_EXPR_PARTS_H
#define PP_EXPR_PARTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"
#include "expr/expr.h"
#include "expr/lex.h"
#include "event/value_names.h"
#include "event/shown.h"
#include "expr/regex.h"
#include "expr/shape.h"

#define EXPR_DEPTH_MAX	 250   /* parentheses and operators within each other */
#define EXPR_NODES_MAX	 32768 /* of a tree, shared ones counted each time */
#define EXPR_ITEMS_MAX	 256   /* "EVENTS: CONDITION", or values */
#define EXPR_STACK	 (EXPR_DEPTH_MAX + 4)
#define EXPR_CPUS_MAX	 8192  /* of CPUS{...} */
#define EXPR_NAMES_MAX	 65536 /* field names kept for "did you mean" */
#define EXPR_CGROUPS_MAX (1u << 20)

/* ---- the tree ---- */

enum node_kind {
	NODE_NUMBER,
	NODE_STRING,
	NODE_WORD,
	NODE_CPUS,  /* a set of CPUs */
	NODE_NEG,   /* left */
	NODE_COMPL, /* ~left */
	NODE_SHAPE, /* shape(left) */
	NODE_SUB,   /* sub(left, right, high): what to find, what to put there */
	NODE_ARITH,
	NODE_COMPARE, /* with right of NODE_CPUS, too */
	NODE_MATCH,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
	NODE_RANGE, /* left >= low && left <= high; either may be NULL */
	NODE_TRUE,  /* "sched_switch:" without a condition */
};

struct expr_node {
	enum node_kind kind;
	enum expr_op op;
	int depth;
	uint32_t size;	/* nodes from here */
	size_t at, end; /* in the text */
	struct expr_node *left, *right, *low, *high;
	/* NUMBER, STRING, WORD; of a number the text, too */
	uint64_t num;
	const char *s;
	size_t len;
	char quote;
	bool hex;
	bool plain;		/* STRING: escapes were taken out */
	const uint64_t *cpus;	/* CPUS: bits */
	size_t ncpus;		/* words of them */
	char *text;		/* SHAPE, SUB: room for the result */
	struct rx *regex;	/* SUB, MATCH with =~ and !~; owned by the expression */
	struct expr_node *next; /* of the expression's regexes; of a list */
	uint32_t memo;		/* of the expression's memos, + 1; 0: none yet */
	/* What came out of compiling for the events so far. */
	bool known;		    /* it had a meaning for one */
	bool mismatch;		    /* COMPARE, MATCH, ARITH: a number met a text */
	struct expr_node *function; /* COMPARE: the side that names a function; NULL */
	bool met;		    /* COMPARE: of texts, which were the same for a sample */
	bool asked, answered;	    /* WORD: a name of its number was looked for, was there */
	struct ps_str names_of;	    /* WORD, STRING: the field whose names were asked for it */
};

struct pattern {
	const char *system, *event; /* system NULL: none was given */
	size_t system_len, event_len;
	size_t at, end;
	bool matched;
	struct pattern *next;
};

struct item {
	struct pattern *patterns; /* NULL: all events */
	struct expr_node *node;
	const struct expr_source *src;
};

/* A condition of any kind: not a number or a text. */
bool node_is_condition(const struct expr_node *n);

int expr_parse(struct expr *x, const struct expr_source *src, struct buf *why);

/*
 * "a, b/c:", with `perf` also "b:c". *found says whether there was such a list; lex then is
 * after the colon. 0 or PP_ENOMEM.
 */
int expr_patterns(struct expr_lex *lex, bool perf, struct pattern **list, bool *found);

/* Whether an item is for the event. All patterns are tried, to know which of them ever match. */
bool expr_item_matches(const struct item *item, const struct ps_event *e);

/* ---- programs ---- */

#define EXPR_INSTRUCTIONS(I) \
	I(PUSH, "push") \
	I(FIELD, "field") \
	I(NAME, "name") \
	I(ARITH, "arith") \
	I(NEG, "neg") \
	I(COMPL, "compl") \
	I(SHAPE, "shape") \
	I(MARK, "mark") \
	I(COMPARE, "compare") \
	I(TEXT, "compare-text") \
	I(TEST, "test") \
	I(MATCH, "match") \
	I(STACK, "stack") \
	I(CPUS, "cpus") \
	I(TRUTH, "truth") \
	I(NOT, "not") \
	I(UNLESS_FAIL, "unless-fail") \
	I(UNLESS_PASS, "unless-pass") \
	I(AND, "and") \
	I(OR, "or")

enum insn_code {
#define I(id, text) INSN_##id,
	EXPR_INSTRUCTIONS(I)
#undef I
};

struct expr_insn {
	uint8_t code;		/* enum insn_code */
	uint8_t op;		/* enum expr_op */
	uint32_t arg;		/* field, place to jump to, mark */
	uint32_t memo;		/* as of struct expr_node */
	struct expr_node *node; /* with the pattern, the CPUs */
	struct qval k;
};

struct program {
	struct expr_insn *code;
	struct field *fields;
	uint32_t n, nfields, cap, fields_cap;
	bool value;		   /* it leaves a value, else a mark */
	bool constant;		   /* nothing to run: mark is it */
	enum ps_mark mark;	   /* NA of a value: none */
	struct shown_field *shown; /* owned: of a value that is a field with names; NULL */
};

/* Answers already found for ids of a dictionary: names (comm) or stacks. */
struct memo {
	bool stacks;
	uint8_t *known; /* of each id: 0, or 1 + enum ps_mark */
	uint32_t cap;
};

struct expr {
	enum expr_use use;
	struct arena arena; /* sources, trees */
	struct item items[EXPR_ITEMS_MAX];
	unsigned nitems;
	struct expr_node *regexes; /* to be freed */
	struct program *programs;  /* by event id: of values nitems each, else one */
	uint8_t *compiled;	   /* by event id */
	uint32_t room;		   /* events that there is room for */
	struct memo memos[EXPR_ITEMS_MAX];
	uint32_t nmemos;
	uint32_t strings, stacks; /* highest ids that were defined */
	struct intern names;	  /* of the events' fields */
	struct expr_symbols symbols;
	struct intern cgroups; /* sources and ids */
	struct intern cgroup_paths;
	uint32_t *cgroup_path; /* by the id of `cgroups`: that of the path */
	uint32_t cgroup_cap;
	bool shows_names;	   /* values are names where there are some */
	uint32_t shown_generation; /* changes when numbers get other names */
	struct intern shown_names;
	struct buf shown_text;
	uint64_t events;		/* descriptors seen */
	struct qval values[EXPR_STACK]; /* while a program runs */
	uint8_t marks[EXPR_STACK];
};

/* The program of an item for an event; of a condition for all items. 0 or PP_ENOMEM. */
int expr_compile(struct expr *x, unsigned item, const struct ps_event *e, struct program *p);
void program_release(struct program *p);

/* Runs; the mark, or with p->value the value in *v and whether there is one. */
enum ps_mark program_mark(struct expr *x, const struct program *p, const struct sreader *r,
			  const struct ps_record *rec, struct qval *v);

/* Whether the numbers of a field may have names: addresses of functions, ids of cgroups. */
bool expr_has_names(const struct expr *x, const struct field *f);

/* The name of the field's number; "[unknown]" if there is none; QV_NA without a number. */
void expr_name(struct expr *x, const struct field *f, struct expr_node *word,
	       const struct sreader *r, const struct ps_record *rec, struct qval *v);

/* Takes a cgroup's path. 0 or PP_ENOMEM. */
int expr_see_cgroup(struct expr *x, const struct ps_record *rec);
void expr_forget_cgroups(struct expr *x);

/* The path of a cgroup; not terminated; NULL: not known. */
const char *expr_cgroup_path(const struct expr *x, uint32_t source, uint64_t id, size_t *len);

/* What an operator makes of two numbers; false: it is not defined (division by 0). */
bool expr_arith(enum expr_op op, const struct qval *a, const struct qval *b, struct qval *v);

/* Whether a comparison holds between two numbers, between two texts. */
bool expr_compare(enum expr_op op, const struct qval *a, const struct qval *b);
bool expr_compare_text(enum expr_op op, const struct qval *a, const struct qval *b);

/* ---- named_values.c ---- */

/* Finds out whether the value of a program has names. 0 or PP_ENOMEM. */
int shown_field_new(struct program *p, const struct ps_event *e);
void shown_field_free(struct shown_field *s); /* NULL is fine */
/* Makes a number its name if it has one. Returns true. */
bool shown_value(struct expr *x, struct shown_field *s, uint32_t source, struct qval *v);
/* Numbers may have other names from now on. */
void shown_forget(struct expr *x);
void shown_release_all(struct expr *x);

#endif
