/* Where data came from, in words. */
#include "event/datasrc.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The names of the bits that are set, with " or " between them. */
static void add_names(struct buf *b, uint64_t bits, const char *const *names, size_t n)
{
	size_t start = b->len;

	for (size_t i = 0; i < n; i++)
		if (names[i] && (bits >> i & 1)) {
			if (b->len > start)
				buf_adds(b, " or ");
			buf_adds(b, names[i]);
		}
}

static void add_hit(struct buf *b, uint64_t bits)
{
	buf_adds(b, bits & 2 ? " hit" : "");
	buf_adds(b, bits & 4 ? " miss" : "");
}

static void add_op(struct buf *b, uint64_t bits)
{
	static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (bits >> i & 1) {
			buf_adds(b, names[i]);
			return;
		}
	buf_adds(b, "No");
}

static void add_level(struct buf *b, uint64_t src)
{
	/* The bits of "not available", hit and miss are told apart. */
	static const char *const levels[] = {"N/A",
					     NULL,
					     NULL,
					     "L1",
					     "LFB/MAB",
					     "L2",
					     "L3",
					     "Local RAM",
					     "Remote RAM (1 hop)",
					     "Remote RAM (2 hops)",
					     "Remote Cache (1 hop)",
					     "Remote Cache (2 hops)",
					     "I/O",
					     "Uncached"};
	static const char *const numbers[16] = {[5] = "L2 MHB",	  [6] = "Memory-side Cache",
						[8] = "Uncached", [9] = "CXL",
						[10] = "I/O",	  [11] = "Any cache",
						[12] = "LFB/MAB", [13] = "RAM",
						[14] = "PMEM",	  [15] = "N/A"};
	static const char *const hops[8] = {NULL, "core, same node ", "node, same socket ",
					    "socket, same board ", "board "};
	uint64_t level = src >> 5 & 0x3fff, number = src >> 33 & 15, hop = src >> 43 & 7;
	size_t start;

	buf_adds(b, src >> 37 & 1 ? "Remote " : "");
	start = b->len;
	if (hop)
		buf_adds(b, hops[hop] ? hops[hop] : "");
	else
		add_names(b, level, levels, COUNT(levels));
	if (number) {
		if (b->len > start && !hop)
			buf_adds(b, " or ");
		if (numbers[number])
			buf_adds(b, numbers[number]);
		else
			buf_addf(b, "L%u", (unsigned)number);
	}
	if (b->len == start && !(src >> 37 & 1))
		buf_adds(b, "N/A");
	add_hit(b, level);
}

static void add_snoop(struct buf *b, uint64_t src)
{
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
	uint64_t bits = (src >> 19 & 31) | (src >> 38 & 3) << 5;

	add_names(b, bits ? bits : 1, names, COUNT(names));
}

static void add_tlb(struct buf *b, uint64_t bits)
{
	static const char *const names[] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};
	size_t start = b->len;

	add_names(b, bits, names, COUNT(names));
	if (b->len == start)
		buf_adds(b, "N/A");
	add_hit(b, bits);
}

static void add_lock(struct buf *b, uint64_t bits)
{
	buf_adds(b, bits & 1 ? "N/A" : bits & 2 ? "Yes" : "No");
}

static void add_block(struct buf *b, uint64_t bits)
{
	buf_adds(b, !bits || (bits & 1) ? " N/A" : "");
	if (!bits || bits & 1)
		return;
	buf_adds(b, bits & 2 ? " Data" : "");
	buf_adds(b, bits & 4 ? " Addr" : "");
}

/*
 * Whether the line was in a cache that had changed it, and which one: perf c2c counts a load as of
 * a remote one if its level is a remote cache or it is marked remote, as of a local one if it hit
 * the last cache of its own node.
 */
static const char *hitm(uint64_t src)
{
	uint64_t level = src >> 5 & 0x3fff;
	bool load = src >> 1 & 1, hit = level & 2, modified = src >> 23 & 1;

	if (!load || !modified)
		return "none";
	if (level & (1u << 10 | 1u << 11) || (src >> 37 & 1))
		return "remote";
	return hit && level & 1u << 6 ? "local" : "none";
}

void datasrc_add(struct buf *b, enum datasrc_part part, uint64_t src)
{
	switch (part) {
	case DATASRC_OP: add_op(b, src & 31); break;
	case DATASRC_LEVEL: add_level(b, src); break;
	case DATASRC_SNOOP: add_snoop(b, src); break;
	case DATASRC_TLB: add_tlb(b, src >> 26 & 127); break;
	case DATASRC_LOCK: add_lock(b, src >> 24 & 3); break;
	case DATASRC_BLOCK: add_block(b, src >> 40 & 7); break;
	case DATASRC_HITM: buf_adds(b, hitm(src)); break;
	}
}

void datasrc_all(struct buf *b, uint64_t src)
{
	static const char *const titles[] = {"|OP ", "|LVL ", "|SNP ", "|TLB ", "|LCK ", "|BLK "};

	for (size_t i = 0; i < COUNT(titles); i++) {
		buf_adds(b, titles[i]);
		datasrc_add(b, (enum datasrc_part)i, src);
	}
}
