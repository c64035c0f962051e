/*
 * The expression language: conditions on samples, and values of them. perfpipe-filter(7) is its
 * manual.
 *
 *	struct expr *x;
 *	if (expr_new(&x, "sched_switch: prev_state == S && prev_prio < 120", EXPR_CONDITION, &why))
 *		... say buf_str(&why): line, column, what was expected, a caret ...
 *	while (!sreader_next(r, &rec)) {
 *		expr_see(x, r, rec);
 *		if (rec->type == PS_SAMPLE && expr_mark(x, r, rec) == PS_MARK_PASS)
 *			n++;
 *	}
 *	expr_problems(x, &why);		(names that no event had)
 *	expr_free(x);
 *
 * With EXPR_VALUES the text is a list of values, "bytes_req * 2, comm", for keys and fields:
 *
 *	for (unsigned i = 0; i < expr_count(x); i++)
 *		if (expr_value(x, i, r, &rec, &v)) ...
 *
 * The text is parsed once; for each event descriptor it is compiled once to a flat program, when
 * expr_see sees the EVENT record. Running allocates nothing. The reader has to keep FIELD_KEEP.
 * The third state, PS_MARK_NA (does not apply): the expression names a field that the event, or
 * this sample, does not have. !NA is NA; NA && fail is fail, NA || pass is pass; otherwise NA wins.
 */
#ifndef PP_EXPR_EXPR_H
#define PP_EXPR_EXPR_H

#include "event/field.h"

#define EXPR_TEXT_MAX 65536 /* bytes of an expression */

struct expr;

enum expr_use {
	EXPR_CONDITION, /* "[EVENTS:] CONDITION", several separated by ',': one has to hold */
	EXPR_VALUES,	/* values separated by ','; a condition is 1 or 0 */
};

/*
 * 0; PP_EUSAGE: the text is wrong, and `why` gets lines that say where and what was expected,
 * without a newline at the end; PP_ENOMEM. The text is copied.
 */
int expr_new(struct expr **x, const char *text, enum expr_use use, struct buf *why);

/* Another condition, of which one or the other has to hold ("-e A -e B"). As expr_new. */
int expr_add(struct expr *x, const char *text, struct buf *why);
void expr_free(struct expr *x); /* NULL is fine */

/*
 * Names of the kernel's functions, for an address that is compared with a text: call_site ==
 * "kfree". `see` gets each record other than a sample, `name` returns a text that is not
 * terminated, NULL: not known. `lacks` says whether there are symbols, but none of that name,
 * and sets *near to one that is spelt nearly so, or NULL; it may be NULL itself (symbol/kfunc.h).
 * `device` returns the name of a block device of the recorded machine as `name` does; NULL: none
 * is known; it may be NULL itself. To be set before the first record.
 */
struct expr_symbols {
	const char *(*name)(void *ctx, uint32_t source, uint64_t addr, size_t *len);
	void (*see)(void *ctx, const struct ps_record *rec);
	bool (*lacks)(void *ctx, const char *name, size_t len, const char **near);
	void *ctx;
	const char *(*device)(void *ctx, uint32_t source, uint64_t dev, size_t *len);
};
void expr_symbols(struct expr *x, const struct expr_symbols *symbols);

/*
 * From now on a value that is a field, and no more, is the name of its number where that has one
 * (event/shown.h): the function at an address, flags, states, devices. Before the first record.
 */
void expr_show_names(struct expr *x);

/* To be called with every record other than a sample, including PS_HEADER. 0 or PP_ENOMEM. */
int expr_see(struct expr *x, const struct sreader *r, const struct ps_record *rec);

/* Whether the condition holds for a sample. */
enum ps_mark expr_mark(struct expr *x, const struct sreader *r, const struct ps_record *rec);

/* The number of values; the text of one, as it was written; its value. False: it has none. */
unsigned expr_count(const struct expr *x);
struct ps_str expr_text(const struct expr *x, unsigned i);
bool expr_value(struct expr *x, unsigned i, const struct sreader *r, const struct ps_record *rec,
		struct qval *v);

/*
 * What is wrong with the expression in the light of the events seen so far: names and event
 * patterns that none of them had, in lines as of expr_new, each once. Returns how many; 0 when no
 * event was seen.
 */
unsigned expr_problems(struct expr *x, struct buf *why);

/*
 * What is probably not meant: functions for which no sample was found, and that are not
 * among the symbols. Lines as of expr_problems; how many.
 */
unsigned expr_doubts(struct expr *x, struct buf *why);

/* What was understood, with every parenthesis. */
void expr_print(const struct expr *x, struct buf *text);

/* The program for an event (--explain). */
void expr_print_program(struct expr *x, const struct sreader *r, uint32_t event, struct buf *text);

#endif
