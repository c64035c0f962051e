/*
 * The functions in the text of kallsyms.
 *
 *	const char *at = text;
 *	struct ksym s;
 *	while (ksyms_next(&at, &s))
 *		... s.name, s.len, s.module ...
 */
#ifndef PP_PROBE_KSYMS_H
#define PP_PROBE_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KSYMS_NAME_MAX 512

/* A function; name and module lie in the text, and have no NUL at their ends. */
struct ksym {
	uint64_t addr; /* 0: it was not shown */
	const char *name, *module;
	size_t len, module_len; /* module_len 0: of the kernel itself */
};

/* The function after *at, and moves that. False at the end. */
bool ksyms_next(const char **at, struct ksym *s);

/* How many functions are called "FUNC", or "MODULE:FUNC". */
unsigned ksyms_count(const char *text, const char *func);

/* The module of "FUNC" or "MODULE:FUNC"; "": none, or that is not known. */
void ksyms_module(const char *text, const char *func, char out[64]);

/* Whether a function fits "PATTERN" or "MODULE:PATTERN", as shell patterns. */
bool ksyms_fits(const struct ksym *s, const char *pattern);

/* What is left out where a pattern asks for functions to probe. */
struct ksyms_left {
	uint32_t twins; /* several have the name: the kernel would not know which one is meant */
	uint32_t init;	/* they were there while the kernel started only */
};

/*
 * The functions that fit a pattern and can be probed by their names, in the order of these; parts
 * of functions are none. The array is the caller's to free, also after an error: PP_ENOMEM,
 * PP_ELIMIT.
 */
int ksyms_pattern(const char *text, const char *pattern, struct ksym **v, uint32_t *n,
		  struct ksyms_left *left);

#endif
