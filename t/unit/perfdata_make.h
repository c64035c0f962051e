/*
 * Makes perf.data recordings in either byte order, for the unit tests of lib/perfdata.
 *
 *	struct make m = {.swap = true};
 *	make_begin(&m, ids, n);			(attributes of n events, all alike)
 *	make_record(&m, type, misc);  make_u64(&m, ...);  make_end(&m);
 *	make_finish(&m);
 *	... m.b.data, m.b.len ...
 */
#ifndef PP_UNIT_PERFDATA_MAKE_H
#define PP_UNIT_PERFDATA_MAKE_H

#include "base/buf.h"
#include "perfdata/format.h"

#include <stdbool.h>

#define MAKE_MAGIC     0x32454c4946524550 /* PERFILE2 */
#define MAKE_ATTR_SIZE 112		  /* up to sample_max_stack */
#define MAKE_ATTR_OLD  64		  /* of version 1 */

struct make {
	struct buf b;
	bool swap;   /* the other byte order than this machine's */
	bool old;    /* version 1 of the format, attributes as of 2.6.31 */
	size_t data; /* where the data section begins */
	size_t rec;  /* where the record begins that is being made */
};

struct make_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branch_type, regs_intr;
	uint64_t id; /* 0: none */
};

static inline void make_u16(struct make *m, uint16_t v)
{
	v = m->swap ? __builtin_bswap16(v) : v;
	buf_add(&m->b, &v, sizeof(v));
}

static inline void make_u32(struct make *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	buf_add(&m->b, &v, sizeof(v));
}

static inline void make_u64(struct make *m, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	buf_add(&m->b, &v, sizeof(v));
}

static inline void make_set64(struct make *m, size_t at, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	memcpy(m->b.data + at, &v, sizeof(v));
}

/* Bit fields begin at the other end on machines of big endian order. */
static inline uint64_t make_bits(const struct make *m, uint64_t v)
{
	uint64_t r = 0;

	if (m->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
		return v;
	for (int i = 0; i < 64; i++)
		r |= (v >> i & 1) << (63 - i);
	return r;
}

static inline void make_text(struct make *m, const char *s)
{
	buf_adds(&m->b, s);
	do
		buf_addc(&m->b, 0);
	while (m->b.len % 8);
}

static inline uint32_t make_attr_size(const struct make *m)
{
	return m->old ? MAKE_ATTR_OLD : MAKE_ATTR_SIZE;
}

/* The magic of version 1 is a text, that of version 2 a number. */
static inline void make_magic(struct make *m)
{
	if (m->old)
		buf_add(&m->b, "PERFFILE", 8);
	else
		make_u64(m, MAKE_MAGIC);
}

static inline void make_attr(struct make *m, const struct make_attr *a)
{
	make_u32(m, a->type);
	make_u32(m, make_attr_size(m));
	make_u64(m, a->config);
	make_u64(m, a->period);
	make_u64(m, a->sample_type);
	make_u64(m, a->read_format);
	make_u64(m, make_bits(m, a->flags));
	make_u64(m, 0); /* wakeup, bp_type */
	make_u64(m, 0); /* config1 */
	if (m->old)
		return;
	make_u64(m, 0); /* config2 */
	make_u64(m, a->branch_type);
	make_u64(m, 3); /* regs_user */
	make_u64(m, 0); /* sample_stack_user, clockid */
	make_u64(m, a->regs_intr);
	buf_fill(&m->b, 0, MAKE_ATTR_SIZE - 104);
}

/* The file header, attributes and ids; the records follow. */
static inline void make_begin(struct make *m, const struct make_attr *attrs, size_t n)
{
	size_t ids;

	make_magic(m);
	make_u64(m, PERF_FILE_HEADER_SIZE);
	make_u64(m, make_attr_size(m) + 16);
	make_u64(m, PERF_FILE_HEADER_SIZE + 8 * n);
	make_u64(m, (make_attr_size(m) + 16) * n);
	buf_fill(&m->b, 0, PERF_FILE_HEADER_SIZE - 40);
	for (size_t i = 0; i < n; i++)
		make_u64(m, attrs[i].id);
	ids = PERF_FILE_HEADER_SIZE;
	for (size_t i = 0; i < n; i++) {
		make_attr(m, &attrs[i]);
		make_u64(m, ids + 8 * i);
		make_u64(m, attrs[i].id ? 8 : 0);
	}
	m->data = m->b.len;
	make_set64(m, 40, m->data);
}

static inline void make_record(struct make *m, uint32_t type, uint16_t misc)
{
	m->rec = m->b.len;
	make_u32(m, type);
	make_u16(m, misc);
	make_u16(m, 0);
}

static inline void make_end(struct make *m)
{
	uint16_t size = (uint16_t)(m->b.len - m->rec);

	size = m->swap ? __builtin_bswap16(size) : size;
	memcpy(m->b.data + m->rec + 6, &size, 2);
}

static inline void make_finish(struct make *m)
{
	make_set64(m, 48, m->b.len - m->data);
}

#endif
