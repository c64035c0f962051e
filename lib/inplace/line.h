/*
 * Definitions of probes in the kernel's own syntax, one per line.
 *
 *	struct probe_line l;
 *	if (line_is_kernels(text))
 *		rc = line_parse(&l, "p:probe_bash/readline /bin/bash:0xd5880 %di", len, &why);
 *	line_write(&l, "pcap_1_2_3", "readline", &out);
 *
 *	(p|r|f)[MAXACTIVE][:[GROUP/]EVENT] PLACE [ARG]...
 *
 * Source: Documentation/trace/uprobetracer.rst, kprobetrace.rst and fprobetrace.rst of the kernel.
 */
#ifndef PP_INPLACE_LINE_H
#define PP_INPLACE_LINE_H

#include "base/buf.h"
#include "probe/probe_lists.h"

#define LINE_NAME_MAX 63 /* characters of a name, by the kernel */

struct probe_line {
	enum tracefs_list list; /* that it belongs to */
	char kind[16];		/* "p", "r", "f", "r100" */
	char group[LINE_NAME_MAX + 1], event[LINE_NAME_MAX + 1];
	const char *rest; /* PLACE and what follows, in the text that was parsed */
	size_t rest_len;
};

/* Whether a text is meant in the kernel's syntax, not in that of pprobe(1). */
bool line_is_kernels(const char *text);

/* 0, or PP_EUSAGE with the reason in `why`. A line without names gets those that the kernel gives.
 */
int line_parse(struct probe_line *l, const char *text, size_t n, struct buf *why);

/* The same with other names, without a newline. */
void line_write(const struct probe_line *l, const char *group, const char *event, struct buf *out);

#endif
