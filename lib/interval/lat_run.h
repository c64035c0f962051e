/*
 * What plat does with its input: tables of intervals, a list of the long ones, or a stream of them.
 *
 *	struct plat_opts o = {.lat = {.by = "comm"}, .slower = 1000000, .list = true};
 *	status = plat_run(&o, argv + 1, argc - 1, diag);
 */
#ifndef PP_INTERVAL_LAT_RUN_H
#define PP_INTERVAL_LAT_RUN_H

#include "base/opt.h"
#include "interval/lat.h"
#include "filter/filter.h"

#define PLAT_TOP 20 /* rows of a table in text, unless --top is given */

struct plat_opts {
	struct lat_opts lat;
	struct table_opts out;
	struct ssink_opts sink; /* of emit */
	const char *view;	/* tables.view; NULL: bars */
	const char *emit;	/* kinds to write as samples; NULL: none */
	bool timeline;		/* write lines for psvg --timeline */
	bool list;		/* print each interval that is longer than... */
	uint64_t slower;	/* ... ns */
	bool list_kinds;
	bool stats, strict;
	bool lenient;	      /* keys may name fields that no event has */
	bool any;	      /* an option was given, other than --strict */
	const char *kallsyms; /* for the caller, who knows functions of the kernel */
	int argc;	      /* for the provenance record */
	char **argv;
	/*
	 * Called with each record other than a sample, before the engine: for the symbols. NULL:
	 * not.
	 */
	void (*see)(void *ctx, const struct ps_record *rec);
	/* Whether symbols are missing for lack of memory, asked at the end. NULL: not. */
	bool (*failed)(void *ctx);
	void *see_ctx;
};

/* The options, and their handler, whose context is a struct plat_opts. */
extern const struct opt plat_options[];
opt_handler plat_option;
/* How they relate to each other, and to those of tables. */
extern const struct opt_rule plat_rules[];

/* Reads event streams, stdin if n is 0, and writes to standard output. Returns the exit status. */
int plat_run(struct plat_opts *o, char **names, int n, struct diag *d);

#endif
