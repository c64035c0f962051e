/*
 * The definition of a probe as people write it.
 *
 *	[[GROUP:]EVENT=]FUNC[@SRC][+OFF|:LINE|%return|%uretprobe] [ARG]...
 *	[[GROUP:]EVENT=]FUNC[@SRC];PATTERN [ARG]...
 *	[[GROUP:]EVENT=]SRC:LINE [ARG]...
 *	[[GROUP:]EVENT=]0xADDRESS [ARG]...
 *	[[GROUP:]EVENT=]%PROVIDER:MARKER [ARG]...	(also %sdt_PROVIDER:MARKER)
 *
 *	struct spec s;
 *	rc = spec_parse(&s, "ns::f%return $retval", &why);
 *	spec_release(&s);
 *
 * Blanks end a word, except within brackets and quotes: "<A as B>::f x" has two words.
 */
#ifndef PP_PROBE_SPEC_H
#define PP_PROBE_SPEC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define SPEC_MAX      4096 /* characters of a definition */
#define SPEC_ARGS_MAX 128

enum spec_kind {
	SPEC_ENTRY,
	SPEC_OFFSET,
	SPEC_LINE,    /* of a function, counted from where it begins */
	SPEC_RETURN,  /* at its instructions that return */
	SPEC_URETURN, /* the kernel's own */
	SPEC_PATTERN, /* lines that have a text */
	SPEC_SOURCE,  /* a line of a file */
	SPEC_ADDRESS,
	SPEC_MARKER, /* USDT */
};

struct spec {
	char *copy;		   /* owned; what follows points into it */
	const char *group, *event; /* NULL: not said */
	const char *func;	   /* or the marker */
	const char *src;	   /* NULL: any; or the provider */
	const char *pattern;
	uint64_t begins; /* where the function does, if it was named by that; 0: by its name */
	enum spec_kind kind;
	uint64_t number; /* offset, line, address */
	const char *args[SPEC_ARGS_MAX];
	uint32_t n_args;
};

/* 0; PP_EUSAGE with what is wrong in `why`; PP_ENOMEM. */
int spec_parse(struct spec *s, const char *text, struct buf *why);
void spec_release(struct spec *s);

/* Whether a text ends as the names of sources do. */
bool spec_is_file(const char *s);

/* Makes it the definition of a marker, "[PROVIDER:]NAME"; p is changed. */
void spec_marker(struct spec *s, char *p);

#endif
