/*
 * Header features about the machine, as lines of text: the layouts are those that
 * tools/perf/util/header.c of the kernel tree writes.
 */
#include "perfdata/info.h"

#include <inttypes.h>

#define BLOCKS_MAX (1u << 24) /* memory blocks of a node */

/* A count, and as many strings, each with `label` before it. */
static uint32_t add_strings(struct cursor *c, struct buf *b, const char *label)
{
	uint32_t n = get_u32(c);

	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		buf_adds(b, label);
		perf_add_string(c, b);
		buf_addc(b, '\n');
	}
	return c->bad ? 0 : n;
}

/*
 * CPUs that share a socket, a core, a die, in lists; then the ids of each CPU. Old recorders have
 * the lists only, later ones core and socket, those since 5.3 dies, too.
 */
void perf_lines_cpu_topology(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t cpus = p->facts.cpus_avail, dies = 0;
	struct buf threads = BUF_INIT, last = BUF_INIT;
	struct cursor sockets = *c, cores, die_ids = {0};
	bool have;

	add_strings(c, &last, ""); /* printed below, when it is known what they are */
	add_strings(c, &threads, "sibling threads : ");
	have = cpus && cursor_left(c) / 8 >= cpus;
	cores = cursor_sub(c, have ? 8 * (uint64_t)cpus : 0);
	buf_reset(&last);
	if (have && cursor_left(c) >= 4) {
		dies = add_strings(c, &last, "sibling dies    : ");
		die_ids = cursor_sub(c, 4 * (uint64_t)cpus);
		dies = c->bad ? 0 : dies;
	}
	add_strings(&sockets, b, "sibling sockets : ");
	if (dies)
		buf_join(b, &last);
	buf_join(b, &threads);
	for (uint32_t i = 0; have && i < cpus && perf_lines_more(c, b); i++) {
		uint32_t core = get_u32(&cores), socket = get_u32(&cores);

		buf_addf(b, "CPU %" PRIu32 ": Core ID %" PRId32 ", ", i, (int32_t)core);
		if (dies)
			buf_addf(b, "Die ID %" PRId32 ", ", (int32_t)get_u32(&die_ids));
		buf_addf(b, "Socket ID %" PRId32 "\n", (int32_t)socket);
	}
	if (!have)
		buf_adds(b, "Core ID and Socket ID information is not available\n");
	/* What follows the lists is padding in the pipe form. */
	c->bad = sockets.bad;
	buf_inherit(b, &last);
	buf_release(&threads);
	buf_release(&last);
}

void perf_lines_numa_topology(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	(void)p;
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		uint32_t node = get_u32(c);
		uint64_t total = get_u64(c), free = get_u64(c);

		buf_addf(b,
			 "node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			 " kB\nnode%" PRIu32 " cpu list : ",
			 node, total, free, node);
		perf_add_string(c, b);
		buf_addc(b, '\n');
	}
}

/* A string, right- or left-justified to `width` characters. */
static void add_justified(struct cursor *c, struct buf *b, size_t width, bool right)
{
	struct buf s = BUF_INIT;

	perf_add_string(c, &s);
	if (right && s.len < width)
		buf_fill(b, ' ', width - s.len);
	buf_join(b, &s);
	if (!right && s.len < width)
		buf_fill(b, ' ', width - s.len);
	buf_release(&s);
}

void perf_lines_cache(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n;

	(void)p;
	c->bad = get_u32(c) != 1; /* version */
	n = get_u32(c);
	buf_adds(b, "CPU cache info:\n");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		buf_addf(b, " L%" PRIu32 " ", get_u32(c));
		cursor_skip(c, 12); /* bytes of a line, sets, ways */
		add_justified(c, b, 15, false);
		buf_addc(b, ' ');
		add_justified(c, b, 8, true);
		buf_adds(b, " [");
		perf_add_string(c, b);
		buf_adds(b, "]\n");
	}
}

/* The bits that are set, as "0-3,8"; their number. */
static uint64_t add_ranges(struct buf *b, struct cursor *c, uint64_t bits)
{
	uint64_t set = 0, first = 0, word = 0;
	const char *sep = "";
	bool in = false;

	for (uint64_t i = 0; i <= bits && !c->bad; i++) {
		bool on;

		if (i < bits && i % 64 == 0)
			word = get_u64(c);
		on = i < bits && (word >> (i % 64) & 1);
		set += on;
		if (on && !in)
			first = i;
		if (!on && in) {
			buf_addf(b, "%s%" PRIu64, sep, first);
			if (i - 1 > first)
				buf_addf(b, "-%" PRIu64, i - 1);
			sep = ",";
		}
		in = on;
	}
	return set;
}

/* A number of bytes as perf shortens it. */
static void add_size(struct buf *b, uint64_t v)
{
	static const char units[] = "BKMG";
	int unit = 0;

	for (; v / 1024 > 1 && unit < 3; unit++)
		v /= 1024;
	buf_addf(b, "%" PRIu64 "%c", v, units[unit]);
}

void perf_lines_mem_topology(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint64_t block, n;

	(void)p;
	c->bad = get_u64(c) != 1; /* version */
	block = get_u64(c);
	n = get_u64(c);
	buf_addf(b, "memory nodes (nr %" PRIu64 ", block size %#" PRIx64 "):\n", n, block);
	for (uint64_t i = 0; i < n && perf_lines_more(c, b); i++) {
		uint64_t node = get_u64(c), bits, set;
		struct buf ranges = BUF_INIT;

		get_u64(c); /* size, in bits, once more */
		bits = get_u64(c);
		c->bad = c->bad || bits > BLOCKS_MAX;
		set = c->bad ? 0 : add_ranges(&ranges, c, bits);
		buf_addf(b, " %3" PRIu64 " [", node);
		add_size(b, block * set);
		buf_adds(b, "]: ");
		buf_join(b, &ranges);
		buf_addc(b, '\n');
		buf_release(&ranges);
	}
}

void perf_lines_hybrid_topology(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	(void)p;
	buf_adds(b, "hybrid cpu system:\n");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		perf_add_string(c, b);
		buf_adds(b, " cpu list : ");
		perf_add_string(c, b);
		buf_addc(b, '\n');
	}
}

/* The scheduling domains of each CPU that is online. */
void perf_lines_cpu_domains(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t version = get_u32(c), most = get_u32(c);

	buf_addf(b, "schedstat version\t: %" PRIu32 "\nMaximum sched domains\t: %" PRIu32 "\n",
		 version, most);
	for (uint32_t i = 0; i < p->facts.cpus_online && perf_lines_more(c, b); i++) {
		uint32_t cpu = get_u32(c), n = get_u32(c);

		buf_addf(b, "cpu\t\t: %" PRIu32 "\nnr_domains\t: %" PRIu32 "\n", cpu, n);
		for (uint32_t k = 0; k < n && perf_lines_more(c, b); k++) {
			buf_addf(b, "Domain\t\t: %" PRIu32, get_u32(c));
			if (version >= 17) {
				buf_adds(b, "\nDomain name      : ");
				perf_add_string(c, b);
			}
			buf_adds(b, "\nDomain cpu map   : ");
			perf_add_string(c, b);
			buf_adds(b, "\nDomain cpu list  : ");
			perf_add_string(c, b);
			buf_addc(b, '\n');
		}
	}
}
