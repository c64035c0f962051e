/*
 * The options of a recording: pcap-perf's, and those of `perf record` that lines pasted from
 * elsewhere may have. Each is accepted with its meaning, or refused with what to use instead.
 *
 *	static struct record_options o;
 *	const struct opt_group groups[] = {{record_options, record_option, &o},
 *					   {record_pasted, record_option, &o}, {0}};
 *	... opt_parse_command() ...
 *	rc = record_options_end(&o, argv + first, dashes);
 *	rc = record_open_output(&o.c, o.output, diag);
 *	rc = record_run(&o.c, diag, &stats);
 *	record_options_release(&o);
 */
#ifndef PP_RECORD_PCAP_PERF_OPTIONS_H
#define PP_RECORD_PCAP_PERF_OPTIONS_H

#include "base/opt.h"
#include "record/probes.h"
#include "record/record.h"

struct record_options {
	struct record_config c;
	const char *output;
	bool strict, verbose, quiet;
	bool dry;		   /* --dry-run: check the words only */
	bool list;		   /* --list, or -e help */
	const char *functions;	   /* --list-functions */
	const char *cgroup_first;  /* --cgroup before any -e: of all events */
	struct probe_words probes; /* to be made before the recording; see inplace/ */
	bool paths;		   /* --paths */
	bool wall;		   /* --wall */
	unsigned memory, ldlat;	   /* --mem: PEVENT_LOADS, PEVENT_STORES; --ldlat */
	bool list_memory;	   /* --mem=list */
	int rc;			   /* why it cannot be done though the words are right; in words: */
	struct buf why;
};

extern const struct opt record_options[];

int record_option(void *options, int id, const char *arg, struct buf *why);

/* After the last option: reads the other words. 0, or a code with the reason in o->why. */
int record_options_end(struct record_options *o, char **words, bool dashes);

/* The text of --list or --list-functions; words: what to list. 0, or a code as before. */
int record_options_list(struct record_options *o, char **words, struct buf *text);

void record_options_release(struct record_options *o);

/*
 * Adds system calls, and the probes that tell their paths (path_probes.c). 0, or an error with why.
 */
int record_add_paths(struct record_options *o, struct buf *why);

/*
 * Adds samples of the CPUs, switches and wakeups with their stacks (wall_events.c). 0, or an error
 * with why.
 */
int record_add_wall(struct record_options *o, struct buf *why);

#endif
