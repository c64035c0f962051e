/*
 * What a recording is and contains, in words: machine, time, events, stacks and how complete they
 * are, names, losses. It is determined as pdecode and psym do, in one pass.
 *
 *	struct facts f;
 *	status = facts_read(&f, "perf.data", d);
 *	if (status < PP_EXIT_FAIL)
 *		facts_print(&f, true, &text);
 *	facts_release(&f);
 */
#ifndef PP_GUIDE_FACTS_H
#define PP_GUIDE_FACTS_H

#include "resolve/resolve.h"
#include "stream/tally.h"

/* Facts that the recorder wrote, by the keys of META records. */
#define FACTS_METAS(M) \
	M(HOSTNAME, "hostname") \
	M(RELEASE, "osrelease") \
	M(ARCH, "arch") \
	M(NRCPUS, "nrcpus") \
	M(CPUS, "cpus") \
	M(CPUDESC, "cpudesc") \
	M(VERSION, "version") \
	M(COMMAND, "cmdline")

enum facts_meta {
#define M(name, key) FACTS_##name,
	FACTS_METAS(M)
#undef M
		FACTS_META_MAX
};

struct facts {
	const char *file;
	struct tally *tally;
	struct buf meta[FACTS_META_MAX]; /* of the first source; empty: not known */
	struct buf clock;
	uint32_t kind;	  /* SOURCE.kind of the first source */
	uint32_t sources; /* number of recordings in it */
	uint64_t samples; /* all */
	uint64_t stacks;  /* those with a stack */
	uint64_t cgroups; /* those with a cgroup */
	uint64_t counts;  /* readings of counters, as perf stat record makes them */
	bool named;	  /* it was symbolized before */
	struct resolver_stats names;
	struct ps_end end; /* lost, missing */
	int status;	   /* PP_EXIT_PARTIAL: damaged or cut off */
};

/*
 * Reads a recording. Returns the exit status that pdecode would: PP_EXIT_FAIL, and there are no
 * facts. Errors have been reported.
 */
int facts_read(struct facts *f, const char *file, struct diag *d);
void facts_release(struct facts *f);

/*
 * The facts as lines of text, or with `tsv` as rows "fact<tab>FILE<tab>KEY<tab>VALUE". An error is
 * in `b`.
 */
void facts_print(const struct facts *f, bool tsv, struct buf *b);

#endif
