/* The parts of the writer of trace.dat. Private: write_sections.h is the interface. */
#ifndef PP_TRACEDAT_WRITE_PARTS_H
#define PP_TRACEDAT_WRITE_PARTS_H

#include "tracedat/write_sections.h"

#include <limits.h>

/* ---- write_sections.c ---- */

/* Reports an errno. */
int twriter_failed(const struct twriter *w, int errnum);
int twriter_add(struct twriter *w, const void *p, size_t n);
int twriter_add_buf(struct twriter *w, const struct buf *b);
/* Over what was written before. */
int twriter_patch(struct twriter *w, uint64_t at, const void *p, size_t n);

/* A section of version 7; adds the option that says where it is. */
int twriter_section(struct twriter *w, unsigned id, const struct buf *content, struct buf *options);
/* Options of version 7, to which what was written before leads; more can be added after these. */
int twriter_options(struct twriter *w, struct buf *options);

/* The file of the pages of a CPU. */
int twriter_part_path(const struct twriter *w, const struct twriter_buffer *b, int cpu,
		      char path[PATH_MAX]);

#endif
