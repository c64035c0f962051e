/*
 * Result tables: rows with keys, and for each row counts, sums and distributions.
 *
 *	static const struct table_key keys[] = {{"comm", TABLE_TEXT, 0}, {"cpu", TABLE_NUMBER, 0}};
 *	static const struct table_value values[] = {{"delay", TABLE_HIST, "ns", 0}};
 *	struct tables ts;
 *	struct table *t;
 *	uint64_t key[2];
 *	uint32_t row;
 *
 *	tables_init(&ts);
 *	rc = tables_add(&ts, "runq", keys, 2, values, 1, &t);
 *	rc = table_text(t, comm, strlen(comm), &key[0]);	(valid while t->generation stays)
 *	key[1] = cpu;
 *	rc = table_row(t, key, &row);				(the same)
 *	rc = table_add(t, row, 0, delay, time);
 *	table_sort(t, "max");
 *	rc = tables_write(&ts, TABLE_FORM_TEXT, &opts, &out);
 *	tables_release(&ts);
 *
 * Memory is bounded: at TABLE_ROWS_MAX rows, or TABLE_BYTES_MAX bytes of histograms and texts, the
 * half of the rows with the smallest counts is added to one row, "(other)". This is counted:
 * the numbers of rows that were added to rarely are then lower bounds; sums over all rows stay
 * right.
 *
 * The forms: text for people, tab-separated values (perfpipe-table(5)) that are read back by
 * tables_read without loss, JSON, one object a row, and Markdown.
 */
#ifndef PP_TABLE_TABLE_H
#define PP_TABLE_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/intern.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/src.h"
#include "table/hist.h"
#include "table/named_rows.h"

#define TABLE_ROWS_MAX	 (1u << 17)   /* rows of a table */
#define TABLE_BYTES_MAX	 (256u << 20) /* bytes of a table's histograms and texts */
#define TABLE_KEYS_MAX	 16
#define TABLE_VALUES_MAX 32
#define TABLES_MAX	 256 /* tables of one result */
#define TABLE_OTHER	 "(other)"
#define TABLE_SOURCE	 "source" /* the key that holds the name of the input */
#define TABLE_NO_ROW	 UINT32_MAX

/* Kinds of key: T(NAME, name in the TSV form, what its number is). */
#define TABLE_KEY_KINDS(T) \
	T(TEXT, "key", "from table_text") \
	T(NUMBER, "number", "unsigned") \
	T(SIGNED, "signed", "an int64_t") \
	T(HEX, "hex", "unsigned, written as 0x1f: addresses, flags") \
	T(WINDOW, "window", "ns: beginning of a window of time")

/* Kinds of value. */
#define TABLE_VALUE_KINDS(T) \
	T(COUNT, "count", "how often; table_add counts, whatever the value") \
	T(PART, "part", "count, sum, share; of rows that are elsewhere (struct table_rows)") \
	T(SUM, "sum", "count, sum, minimum, mean, maximum") \
	T(HIST, "hist", "all of that, and the distribution with percentiles")

enum table_key_kind {
#define T(name, text, what) TABLE_##name,
	TABLE_KEY_KINDS(T)
#undef T
};
enum table_value_kind {
#define T(name, text, what) TABLE_##name,
	TABLE_VALUE_KINDS(T)
#undef T
};

struct table_key {
	const char *name;
	enum table_key_kind kind;
	uint64_t window; /* of WINDOW: width in ns */
};

struct table_value {
	const char *name;
	enum table_value_kind kind;
	const char *unit; /* "ns", "bytes", ... (unit.h); "" none */
	uint64_t step;	  /* of HIST: width of linear buckets, 0 none */
};

/*
 * What of a value is shown and sorted by. S(NAME, name, title in text, kinds that have it).
 * "share" is the sum's (of a COUNT the count's) part of that of all rows.
 */
#define TABLE_STATS(S) \
	S(COUNT, "count", "count", TABLE_COUNT) \
	S(SUM, "sum", "total", TABLE_PART) \
	S(SHARE, "share", "share", TABLE_COUNT) \
	S(MIN, "min", "min", TABLE_SUM) \
	S(MEAN, "mean", "mean", TABLE_SUM) \
	S(P50, "p50", "p50", TABLE_HIST) \
	S(P90, "p90", "p90", TABLE_HIST) \
	S(P99, "p99", "p99", TABLE_HIST) \
	S(P999, "p99.9", "p99.9", TABLE_HIST) \
	S(MAX, "max", "max", TABLE_SUM) \
	S(MAX_TIME, "max_time", "at", TABLE_SUM)
enum table_stat {
#define S(name, text, title, least) TABLE_STAT_##name,
	TABLE_STATS(S)
#undef S
		TABLE_NSTATS
};

struct table_numbers;

/* Rows that are kept elsewhere; they are sorted already, and none of their values is a HIST. */
struct table_rows {
	uint32_t n;
	void (*key)(const void *ctx, uint32_t row, uint32_t k, struct buf *b);
	void (*numbers)(const void *ctx, uint32_t row, uint32_t v, struct table_numbers *n);
	/* Text: adds what is below a row; the first row is 0. 0 or an error. NULL: nothing. */
	int (*below)(const void *ctx, uint32_t row, struct buf *b);
	const void *ctx;
};

/* Fields may be read. */
struct table {
	const char *name;
	const char *title;  /* a remark printed in text; NULL: none */
	struct arena arena; /* of the names */
	struct table_key keys[TABLE_KEYS_MAX];
	struct table_value values[TABLE_VALUES_MAX];
	uint32_t nkeys, nvalues;
	uint32_t nrows;
	uint32_t generation; /* changes when texts and rows get other numbers */
	uint64_t *key;	     /* row * nkeys + k */
	struct hist *cell;   /* row * nvalues + v */
	uint32_t *order;     /* rows as they are written, after table_sort */
	uint32_t nordered;   /* of them: TABLE_OTHER is written last and is not among them */
	uint32_t other;	     /* row of all that was folded, or TABLE_NO_ROW */
	uint64_t folded;     /* rows that were added to it; counted again each time */
	uint32_t cap, mask;
	uint32_t *slots;
	size_t bytes; /* of histograms */
	struct intern texts;
	const struct table_rows *rows; /* may be set instead of adding rows */
	bool sorted;
	bool by_time;	 /* sorted by windows of time */
	bool as_added;	 /* may be set: table_sort by NULL leaves the rows as they came */
	uint32_t no_sum; /* may be set: bits, values whose sum over rows means nothing */
	bool overlap; /* may be set: other rows also count what one counts, and none has a share */
	bool derived; /* may be set: made of the others; all its rows are written */
};

/* The tables of a result, and what applies to it as a whole. */
struct tables {
	struct table *v[TABLES_MAX];
	uint32_t n;
	const char *view; /* how psvg draws it: "bars", "lines", "heat"; static storage */
	uint64_t lost;	  /* events that the recording lost */
	bool partial;	  /* the input was damaged or cut off */
	bool viewed;	  /* a table was read: its view holds */
	/* May be set: tables_read gives rows the key TABLE_SOURCE, the input's name or this one. */
	bool by_source;
	const char *source;
	bool left_out; /* columns were, when the tables were written as text */
	/* ns: the part of the recording's time that they are of; 0 and 0: all of it */
	uint64_t period_begin, period_end;
};

void tables_init(struct tables *ts);
void tables_release(struct tables *ts);

/*
 * A new table, which belongs to ts. Names and units are copied. 0, PP_ENOMEM or PP_ELIMIT (too many
 * tables, keys or values; a step or window of 0 where there has to be one is PP_EUSAGE).
 */
int tables_add(struct tables *ts, const char *name, const struct table_key *keys, uint32_t nkeys,
	       const struct table_value *values, uint32_t nvalues, struct table **t);

/* Sets what is written after the name in text. It is copied. 0 or PP_ENOMEM. */
int table_set_title(struct table *t, const char *title);

/* Whether none of them has a row. */
bool tables_empty(const struct tables *ts);

/* ---- adding up ---- */

/*
 * Adds the rows of all tables of `from` that are not derived to those of the same name, which are
 * made if they are not there and have to have the same columns, but for the kinds of keys: they
 * become those of `from`. 0, PP_ENOMEM or PP_ELIMIT.
 */
int tables_merge(struct tables *to, const struct tables *from);

/* Leaves only the columns: no row, no text. The numbers of both are no longer valid. */
void tables_clear(struct tables *ts);

/* Removes the tables that are derived. */
void tables_drop_derived(struct tables *ts);

/* ---- filling ---- */

/* The number of a text, for a key of the kind TABLE_TEXT. 0 or PP_ENOMEM. */
int table_text(struct table *t, const char *s, size_t len, uint64_t *key);

/* The row with these keys (nkeys numbers), created if it is new. 0 or PP_ENOMEM. */
int table_row(struct table *t, const uint64_t *key, uint32_t *row);

/* Adds to value v of a row. 0 or PP_ENOMEM. */
int table_add(struct table *t, uint32_t row, uint32_t v, hist_int value, uint64_t time);

/*
 * Makes key k one of another kind: a number to text, unsigned to signed (numbers from 2^63 on,
 * which are addresses, come out below zero), or windows of another width, which are rounded down to
 * it. Rows that become equal are merged; the numbers of rows change. 0 or PP_ENOMEM.
 */
int table_rekey(struct table *t, uint32_t k, enum table_key_kind kind, uint64_t window);

/* A cell, for operations that table_add does not have (hist_merge: then call table_account). */
static inline struct hist *table_cell(const struct table *t, uint32_t row, uint32_t v)
{
	return &t->cell[(size_t)row * t->nvalues + v];
}

/* Recounts the bytes of a cell's histogram: `before` is what hist_bytes gave before a change. */
void table_account(struct table *t, const struct hist *cell, size_t before);

/* The text of a key; *len may be 0. For the row TABLE_OTHER that name. */
void table_key_add(const struct table *t, uint32_t row, uint32_t k, struct buf *b);

/* ---- order ---- */

/*
 * Sorts by a statistic ("count", "p99", of the first value that has it), by VALUE.STATISTIC, or by
 * the name of a key; descending, keys ascending; a "-" before it reverses the order. NULL: by
 * time where there is a window, else by sum, or count where there is none. Equal rows are in the
 * order of their keys. PP_ENOENT: there is no such column; PP_ENOMEM.
 */
int table_sort(struct table *t, const char *by);

/* The order in which the rows came, such as that of the text that was read. 0 or PP_ENOMEM. */
int table_keep_order(struct table *t);

/*
 * Leaves only the first `top` rows as they are: the others are added to TABLE_OTHER. Of rows that
 * are sorted by time, those stay whose keys other than the time have most in all windows. 0 or
 * PP_ENOMEM.
 */
int table_top(struct table *t, uint32_t top);

/* The sum of a value over all rows, which shares refer to; COUNT: the count. */
hist_int table_total(const struct table *t, uint32_t v);

/* The i-th row in the order of output, TABLE_OTHER last; TABLE_NO_ROW after it. Their number. */
uint32_t table_ordered(const struct table *t, uint32_t i);
uint32_t table_nordered(const struct table *t);

/* ---- statistics ---- */

/* Those of a cell, as far as its kind and its count have them. */
struct table_numbers {
	uint64_t count, max_time;
	hist_int sum, min, max;
	hist_int p[4];		     /* 50, 90, 99, 99.9 */
	double mean, share, percent; /* share: 0 to 1; NaN: there is none */
};

/* `total` is table_total of the value. */
void table_numbers(const struct table *t, uint32_t row, uint32_t v, hist_int total,
		   struct table_numbers *n);

/* One of them; NaN if there is none. */
double table_number(const struct table_numbers *n, enum table_stat stat);

/* Whether values of a kind have a statistic; its name for options, its title for people. */
bool table_has(enum table_value_kind kind, enum table_stat stat);
const char *table_stat_name(enum table_stat stat);
const char *table_stat_title(enum table_stat stat);

/* ---- output ---- */

/* The conditions of --fail-if, for gates_new (gate.h). */
#define GATES_MAX 64
struct gate_texts {
	const char *v[GATES_MAX];
	unsigned n;
};

struct table_opts {
	enum table_form form;
	bool plain;	    /* of TSV: all tables as one, for databases */
	const char *source; /* of plain: what its first column says; NULL: nothing. And for phist */
	const char *sort;   /* table_sort; NULL: its default */
	uint32_t top;	    /* table_top; 0: all rows */
	uint64_t step;	    /* of linear buckets, for the caller's table_value; 0: none */
	bool draw;	    /* text: the histograms of all rows after the table */
	enum hist_view view;
	uint32_t stats; /* text: which statistics, bits of enum table_stat; 0: TABLE_STATS_SHOWN */
	uint64_t time_base; /* text: not subtracted from times if 0 */
	uint32_t width;	    /* text: columns of a terminal that the tables are to fit; 0: any */
	bool wide;	    /* tables_print: also to a terminal that is narrower */
	uint64_t every;	    /* ns of a period, for the caller (periods.h); 0: none */
	bool cumulative;    /* the same */
	struct gate_texts gates;
};

#define TABLE_STATS_SHOWN (((1u << TABLE_NSTATS) - 1) & ~(1u << TABLE_STAT_MAX_TIME))

/*
 * Writes all tables, sorted if they are not; in text, those without rows are left out. 0, PP_ENOMEM
 * or the output's error.
 */
int tables_write(struct tables *ts, const struct table_opts *o, struct out *out);

/* One table alone, which is sorted; what comes after the last of n. b is used on the way. */
int table_write(struct tables *ts, const struct table *t, const struct table_opts *o, struct buf *b,
		struct out *out);
int tables_write_end(const struct tables *ts, uint32_t n, const struct table_opts *o, struct buf *b,
		     struct out *out);

/*
 * The end of phist and plat: sorts, leaves the top rows, writes to a descriptor and closes it. What
 * fails is reported to d. Returns PP_EXIT_OK, PP_EXIT_FAIL, or PP_EXIT_USAGE (no column to sort
 * by).
 */
int tables_print(struct tables *ts, const struct table_opts *o, int fd, struct diag *d);

/* The columns of a terminal; 0: not a terminal, or its width is not known. */
uint32_t table_terminal_width(int fd);

/* ---- the command line options for it ---- */

/* Their handler's context is a struct table_opts. */
extern const struct opt table_options[];
extern const struct opt_rule table_rules[];
extern const struct opt_rule phist_rules[];
opt_handler table_option;

/* ---- reading the TSV form ---- */

#define TABLE_MAGIC    "#PPTABLE1" /* the first bytes of the TSV form */
#define TABLE_LINE_MAX (16u << 20) /* bytes of a line */

/*
 * Adds what a source holds to ts: tables of the same name, keys and values are merged, exactly.
 * 0; PP_ECUT: rows are missing or the input says that it is partial; PP_ECORRUPT, PP_EUNSUPPORTED
 * (not this format), PP_EMISMATCH (a table of that name has other columns), PP_ENOMEM, PP_EIO,
 * PP_ELIMIT. What is wrong is reported to d.
 */
int tables_read(struct tables *ts, struct src *s, struct diag *d);

/* Whether the first bytes of an input are those of the TSV form. */
bool tables_is(const void *bytes, size_t len);

#endif
