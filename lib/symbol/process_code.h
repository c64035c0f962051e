/*
 * The code that a process generated: from its memory while it lives, or from a core file, as
 * pcap-perf --bundle makes one of what has names.
 *
 *	struct process_code *c;
 *	rc = process_code_live(&c, pid);
 *	rc = process_code_read(c, addr, bytes, sizeof(bytes));
 *	process_code_close(c);
 *
 * What was read once is kept, as code at an address can be replaced, and the process can end.
 * Whether it is the recorded process is for the caller to know.
 */
#ifndef PP_SYMBOL_PROCESS_CODE_H
#define PP_SYMBOL_PROCESS_CODE_H

#include "base/buf.h"
#include "symbol/elf_file.h"

#define PROCESS_CODE_MAX (64u << 20) /* bytes that are kept of a process */

struct process_code;

/* 0; PP_ENOENT: there is no such process, or it may not be read; PP_ENOMEM. */
int process_code_live(struct process_code **c, uint32_t pid);

/* The loaded segments of a core file, which stays open. 0, PP_ENOENT (none), PP_ENOMEM. */
int process_code_core(struct process_code **c, struct elf_file *f);

/* All n bytes: 0; PP_ENOENT, PP_ENOMEM. */
int process_code_read(struct process_code *c, uint64_t addr, void *to, size_t n);

/*
 * A core file of the pages of a living process that a perf map names, up to PROCESS_CODE_MAX bytes;
 * *cut: there was more. 0; PP_ENOENT: there are none, or they may not be read; PP_ENOMEM.
 */
int process_code_save(uint32_t pid, const char *map, size_t len, struct buf *core, bool *cut);

void process_code_close(struct process_code *c); /* NULL is fine */

#endif
