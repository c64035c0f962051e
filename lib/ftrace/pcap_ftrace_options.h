/*
 * The options of pcap-ftrace: what is recorded, and operations on buffers that stay. The
 * names are trace-cmd's if they mean the same.
 *
 *	static struct ftrace_options o;
 *	const struct opt_group groups[] = {{ftrace_options, ftrace_option, &o, ftrace_rules}, {0}};
 *	... opt_parse_command() ...
 *	rc = ftrace_options_end(&o, argv + first, dashes, &why);
 */
#ifndef PP_FTRACE_PCAP_FTRACE_OPTIONS_H
#define PP_FTRACE_PCAP_FTRACE_OPTIONS_H

#include "base/opt.h"
#include "ftrace/ftrace.h"

enum ftrace_action {
	FTRACE_RECORD,
	FTRACE_START,
	FTRACE_STOP,
	FTRACE_SHOW,
	FTRACE_EXTRACT,
	FTRACE_RESTORE,
	FTRACE_SNAPSHOT,
	FTRACE_CLEAR,
	FTRACE_STATUS,
	FTRACE_LIST,
	FTRACE_CHECK,
	FTRACE_RESET,
	FTRACE_HIST,
	FTRACE_STACK,
};

struct ftrace_options {
	struct ftrace_config c;
	struct ftrace_config *now; /* the buffer that options are for; NULL: the main one */
	enum ftrace_action action;
	const char *name; /* of the buffer, or what the histogram is of */
	char **words;	  /* of FTRACE_LIST */
	bool all, yes;	  /* of FTRACE_RESET */
	bool strict, verbose, quiet;
};

extern const struct opt ftrace_options[];
extern const struct opt_rule ftrace_rules[];
int ftrace_option(void *options, int id, const char *arg, struct buf *why);

/* After the last option: what the other words are. 0, or PP_EUSAGE with the reason in why. */
int ftrace_options_end(struct ftrace_options *o, char **words, bool dashes, struct buf *why);

#endif
