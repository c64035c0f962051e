/*
 * The marks that part call chains, PERF_CONTEXT_* of <linux/perf_event.h>, and the numbers that
 * stand for them in chunks. Private to lib/stream.
 */
#ifndef PP_STREAM_CHUNK_MARKS_H
#define PP_STREAM_CHUNK_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* M(number, PERF_CONTEXT_*, what it announces) */
#define CHUNK_MARKS(M) \
	M(1, -128, "kernel") \
	M(2, -512, "user") \
	M(3, -32, "hypervisor") \
	M(4, -2176, "guest kernel") \
	M(5, -2560, "guest user") \
	M(6, -2048, "guest")

/* The number of a mark; 15 for others. */
static inline unsigned chunk_mode(uint64_t mark)
{
	switch ((int64_t)mark) {
#define M(number, value, what) \
	case value: return number;
		CHUNK_MARKS(M)
#undef M
	}
	return 15;
}

/* The mark of a number; 0 for others, and none. */
static inline uint64_t chunk_mark(unsigned mode)
{
	switch (mode) {
#define M(number, value, what) \
	case number: return (uint64_t)(value);
		CHUNK_MARKS(M)
#undef M
	}
	return 0;
}

static inline bool chunk_mode_unknown(unsigned mode)
{
	return mode && mode != 15 && !chunk_mark(mode);
}

#endif
