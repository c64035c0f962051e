/*
 * Makes a perf.data of memory accesses, as `perf mem record` and `perf c2c record` write it, from lines
 * of text on standard input:
 *
 *	comm PID NAME
 *	map PID ADDR LENGTH OFFSET NAME		data is mapped there
 *	code PID ADDR LENGTH OFFSET NAME	instructions are
 *	access PID TID CPU IP ADDR PHYS WEIGHT DATA_SRC
 *
 * So that what hardware tells of caches can be tested where there is none, by perf, too. There is one
 * node with 8 CPUs, and another one with 8 more. The layouts are those of <linux/perf_event.h> and of
 * tools/perf/Documentation/perf.data-file-format.txt of the kernel tree.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER	  104
#define ATTR	  112
#define ID	  77
#define NRCPUS	  7 /* features */
#define NUMA	  14
#define BYTES_MAX (16u << 20)

/* IP, TID, TIME, ADDR, CPU, PERIOD, WEIGHT, DATA_SRC, PHYS_ADDR */
#define SAMPLE_TYPE (1 | 2 | 4 | 8 | 0x80 | 0x100 | 0x4000 | 0x8000 | 0x80000)

static unsigned char *file;
static size_t len, rec;
static uint64_t now = 1000000000;

static void put(const void *p, size_t n)
{
	if (len + n > BYTES_MAX)
		exit(1);
	memcpy(file + len, p, n);
	len += n;
}

static void u16(uint16_t v)
{
	put(&v, sizeof(v));
}

static void u32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void u64(uint64_t v)
{
	put(&v, sizeof(v));
}

static void zeros(size_t n)
{
	while (n--)
		put("", 1);
}

static void text(const char *s)
{
	put(s, strlen(s) + 1);
	while ((len - rec) % 8)
		put("", 1);
}

static uint64_t num(const char *s)
{
	return strtoull(s, NULL, 0);
}

static void begin(uint32_t type, uint16_t misc)
{
	rec = len;
	u32(type);
	u16(misc);
	u16(0);
}

static void end(void)
{
	uint16_t size = (uint16_t)(len - rec);

	memcpy(file + rec + 6, &size, sizeof(size));
}

/* What sample_id_all adds to records that are no samples: TID, TIME, CPU. */
static void sample_id(uint32_t pid)
{
	u32(pid);
	u32(pid);
	u64(now += 1000);
	u64(0);
	end();
}

static void line(char **w)
{
	uint32_t pid = (uint32_t)num(w[1]);

	if (!strcmp(w[0], "comm")) {
		begin(3, 2);
		u32(pid);
		u32(pid);
		text(w[2]);
		sample_id(pid);
	} else if (!strcmp(w[0], "map") || !strcmp(w[0], "code")) {
		begin(1, *w[0] == 'm' ? 2 | 1 << 13 : 2); /* PERF_RECORD_MISC_MMAP_DATA */
		u32(pid);
		u32(pid);
		u64(num(w[2]));
		u64(num(w[3]));
		u64(num(w[4]));
		text(w[5]);
		sample_id(pid);
	} else if (!strcmp(w[0], "access")) {
		begin(9, 2);
		u64(num(w[4]));
		u32(pid);
		u32((uint32_t)num(w[2]));
		u64(now += 1000);
		u64(num(w[5]));
		u64(num(w[3]));
		u64(1);
		u64(num(w[7]));
		u64(num(w[8]));
		u64(num(w[6]));
		end();
	}
}

static void attr(void)
{
	size_t at = len;

	u32(4); /* PERF_TYPE_RAW */
	u32(ATTR);
	u64(0x1cd);
	u64(1);
	u64(SAMPLE_TYPE);
	u64(0);
	u64(1 << 8 | 1 << 9 | 3 << 15 | 1 << 17 | 1 << 18); /* mmap, comm, precise, data, id */
	zeros(ATTR - (len - at));
	u64(HEADER);
	u64(8);
}

static void set64(size_t at, uint64_t v)
{
	memcpy(file + at, &v, sizeof(v));
}

static void string(const char *s)
{
	char padded[64] = "";

	snprintf(padded, sizeof(padded), "%s", s);
	u32(sizeof(padded));
	put(padded, sizeof(padded));
}

static void features(void)
{
	size_t table = len;

	zeros(32);
	set64(table, len);
	u32(16);
	u32(16);
	set64(table + 8, len - (table + 32));
	set64(table + 16, len);
	u32(2);
	for (uint32_t i = 0; i < 2; i++) {
		u32(i);
		u64(1 << 20);
		u64(1 << 19);
		string(i ? "8-15" : "0-7");
	}
	set64(table + 24, len - (table + 32) - 8);
	set64(72, (uint64_t)1 << NRCPUS | (uint64_t)1 << NUMA);
}

int main(void)
{
	char buf[1024], *w[16];
	size_t data;

	file = calloc(1, BYTES_MAX);
	if (!file)
		return 1;
	put("PERFILE2", 8);
	u64(HEADER);
	u64(ATTR + 16);
	u64(HEADER + 8);
	u64(ATTR + 16);
	zeros(HEADER - len);
	u64(ID);
	attr();
	data = len;
	while (fgets(buf, sizeof(buf), stdin)) {
		int n = 0;

		memset(w, 0, sizeof(w));
		for (char *at = strtok(buf, " \n"); at && n < 15; at = strtok(NULL, " \n"))
			w[n++] = at;
		if (n > 2 && *w[0] != '#')
			line(w);
	}
	set64(40, data);
	set64(48, len - data);
	features();
	return fwrite(file, 1, len, stdout) != len || fflush(stdout);
}
