/*
 * Code that a process generated, with its names: of a perf map, and of a jitdump file.
 *
 *	struct jit *j;
 *	jit_new(&j);
 *	rc = jit_map(j, text, len, &bad);	(/tmp/perf-PID.map)
 *	rc = jit_dump(j, bytes, len, &info);	(jit-PID.dump)
 *	rc = jit_advance(j, sample_time, &changed);
 *	code = jit_find(j, ip);
 *	printf("%s+%#" PRIx64, jit_name(j, code), ip - jit_code(j, code)->start);
 *	jit_free(j);
 *
 * Formats, in the kernel's sources: tools/perf/Documentation/jit-interface.txt (lines "START SIZE
 * NAME" in hexadecimal) and jitdump-specification.txt. Of a perf map, only the order is known:
 * a later line is the code that is there now. A jitdump's entries hold from their time on,
 * in the clock CLOCK_MONOTONIC.
 */
#ifndef PP_SYMBOL_JIT_H
#define PP_SYMBOL_JIT_H

#include "symbol/source_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MAP_MAX   (256u << 20) /* bytes of a perf map */
#define JIT_DUMP_MAX  (1u << 30)   /* bytes of a jitdump: it holds the code, too */
#define JIT_CODES_MAX (1u << 24)
#define JIT_BYTES_MAX (64u << 20) /* of a jitdump's code */
#define JIT_TIME_ALL  UINT64_MAX  /* for jit_advance: up to the end */

struct jit;

struct jit_code {
	uint64_t start, end;
	uint32_t name;
	uint64_t origin;	/* where it was first */
	uint32_t lines, nlines; /* of jit_line */
	uint32_t tables; /* of jit_tables; codes with the same have the same number; 0: none */
	uint32_t bytes;	 /* the same, of jit_bytes */
};

struct jit_dump_info {
	uint32_t pid;
	uint32_t machine; /* EM_*, 0 not given */
	bool arch_time;	  /* times are of a counter of the processor, not of CLOCK_MONOTONIC */
	bool cut;	  /* the file ends early, or is damaged from somewhere on */
	bool closed;	  /* its writer said that it is complete */
	uint32_t loads, moves;
	uint32_t bad_lines; /* codes whose lines are garbage, and left out */
};

int jit_new(struct jit **j);
void jit_free(struct jit *j); /* NULL is fine */

/*
 * Takes the lines of a perf map; *bad counts those that are not of the format. 0, PP_ENOMEM,
 * PP_ELIMIT.
 */
int jit_map(struct jit *j, const char *text, size_t len, uint64_t *bad);

/* Takes a jitdump file. 0; PP_EUNSUPPORTED: it is not a jitdump; PP_ENOMEM, PP_ELIMIT. */
int jit_dump(struct jit *j, const void *bytes, size_t len, struct jit_dump_info *info);

/*
 * Applies what the jitdump says up to a time, which never goes back. *changed becomes true if
 * an address that was looked up before could now be something else. 0 or PP_ENOMEM.
 */
int jit_advance(struct jit *j, uint64_t time, bool *changed);

/* The code at an address: its number from 1; 0: none. */
uint32_t jit_find(struct jit *j, uint64_t addr);
const struct jit_code *jit_code(const struct jit *j, uint32_t code);
const char *jit_name(const struct jit *j, uint32_t code);
uint32_t jit_count(const struct jit *j);

/*
 * The source line of an address in a code, if the jitdump says; the file's name lives as long as
 * the jit. 0 or PP_ENOENT.
 */
int jit_line(const struct jit *j, uint32_t code, uint64_t addr, struct source_frame *f);

/*
 * The .eh_frame that the jitdump has for a code with `tables`, made for the first multiple of 8
 * bytes after the code; it lives as long as the jit.
 */
const void *jit_tables(const struct jit *j, uint32_t code, size_t *n);

/* The instructions of a code, by its `bytes`, if the jitdump has them; live as long as the jit. */
const void *jit_bytes(const struct jit *j, uint32_t bytes, size_t *n);

#endif
