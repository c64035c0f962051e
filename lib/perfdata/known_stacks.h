/*
 * Copies of stacks that a recording has once. From one sample of a thread to the next, the outer
 * part of its stack mostly stays as it is: pcap-perf leaves out what the samples before it have
 * at the same addresses, and the decoder puts it back. Both remember the same bytes of each thread,
 * in the order in which the samples are written, whatever their times.
 *
 * Such a sample ends in its copy, which has words after the bytes in use: what a struct known_copy
 * has, below. Readers that do not know of them see a short copy.
 *
 * Each sample has a check sum of itself and of that of the sample of the thread before it: what is
 * known was read from the same samples from which it was written, or it is not used. So neither a
 * damaged nor a missing sample becomes a stack that never was.
 *
 *	struct known_stacks k = {0};
 *	struct stack_bytes *s = known_stack_of(&k, tid);
 *	n = known_stack_alike(s, end, bytes, len);		(the recorder)
 *	known_stack_learn(s, at, bytes, len - n);
 *	known_stacks_release(&k);
 */
#ifndef PP_PERFDATA_KNOWN_STACKS_H
#define PP_PERFDATA_KNOWN_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define KNOWN_COPY_MARK	 UINT64_C(0x73737361776b6e75)
#define KNOWN_COPY_WORDS 4    /* after the bytes: the mark, the stack pointer, two for the others */
#define KNOWN_STACKS	 256u /* threads, by the lower bits of their number */
#define KNOWN_BYTES	 65536u /* of each: no copy is longer; a power of two */

/* PERF_SAMPLE_*: with these alone the copy of the stack is the last field. */
#define KNOWN_COPY_FIELDS UINT64_C(0x13fff)

/* The words after the bytes. */
struct known_copy {
	uint64_t sp;	 /* the address of the first byte */
	uint32_t tid;	 /* in the third word above these: */
	uint16_t left;	 /* bytes of the copy that are written: a multiple of 8 */
	uint16_t bytes;	 /* of the copy, with those left out: the same, and KNOWN_COPY_CUT */
	uint32_t before; /* in the fourth word above this: the check of its place's sample before */
	uint32_t check;
};

#define KNOWN_COPY_CUT 1u /* the copy is as long as it may be: the stack may go on */

/* What is known of a thread's stack: the bytes from lo up to hi, by the lower bits of addresses. */
struct stack_bytes {
	uint32_t tid;
	uint32_t check; /* of the newest sample; 0: there was none */
	uint64_t lo, hi;
	uint8_t bytes[KNOWN_BYTES];
};

struct known_stacks {
	struct stack_bytes *of[KNOWN_STACKS]; /* owned */
};

/* The place of a thread, empty if another one had it. NULL: out of memory. */
struct stack_bytes *known_stack_of(struct known_stacks *k, uint32_t tid);

/* How many of these bytes, which end at an address, are the known ones; counted from their end. */
size_t known_stack_alike(const struct stack_bytes *s, uint64_t end, const uint8_t *bytes, size_t n);

/* Bytes at an address, KNOWN_BYTES at most. Those of one copy: the last ones first. */
void known_stack_learn(struct stack_bytes *s, uint64_t at, const uint8_t *bytes, size_t n);

/* The known bytes at an address; false: some are not known. */
bool known_stack_get(const struct stack_bytes *s, uint64_t at, uint8_t *to, size_t n);

/*
 * The check of a sample: of what its record has before the size of its copy, but for the header,
 * of the bytes that are written, and of the words after them but for the last.
 */
uint32_t known_copy_check(uint32_t before, const struct iovec *v, size_t n);

void known_stacks_release(struct known_stacks *k); /* it is empty then, and may be used again */

#endif
