/*
 * Makes a recording of counts, as `perf stat record -o -` writes it, from lines of text:
 *
 *	event TYPE CONFIG FLAGS [SCALE UNIT]	numbers as perf_event_attr has them, FLAGS in hex
 *	cpus CPU...				-1: any
 *	threads TID NAME ...
 *	config AGGR_MODE INTERVAL_MS SCALE
 *	count EVENT CPU THREAD VALUE ENABLED RUNNING	EVENT and THREAD are indices
 *	round KIND NS				0 interval, 1 final
 *
 * So that counters of hardware can be tested where there is none. The layouts are those of
 * tools/lib/perf/include/perf/event.h of the kernel tree.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTR_SIZE  112
#define ATTR_FLAGS 40 /* offset of the bit field */
#define WORDS	   64

static unsigned char rec[4096];
static size_t len;

static void put(const void *p, size_t n)
{
	memcpy(rec + len, p, n);
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

static void begin(uint32_t type)
{
	len = 0;
	u32(type);
	u32(0);
}

static void end(void)
{
	uint16_t size;

	while (len % 8)
		rec[len++] = 0;
	size = (uint16_t)len;
	memcpy(rec + 6, &size, sizeof(size));
	fwrite(rec, 1, len, stdout);
}

static uint64_t num(const char *s)
{
	return strtoull(s, NULL, 0);
}

static void event(char **w, int n, uint64_t id)
{
	const uint64_t format = 3;
	double scale;

	begin(64);
	u32((uint32_t)num(w[1]));
	u32(ATTR_SIZE);
	u64(num(w[2]));
	memset(rec + len, 0, ATTR_SIZE - 16);
	memcpy(rec + 8 + 32, &format, sizeof(format));
	*(uint64_t *)(void *)(rec + 8 + ATTR_FLAGS) = strtoull(w[3], NULL, 16);
	len = 8 + ATTR_SIZE;
	u64(id);
	end();
	if (n < 6)
		return;
	begin(78);
	u64(0);
	u64(id);
	put(w[5], strlen(w[5]) + 1);
	end();
	scale = strtod(w[4], NULL);
	begin(78);
	u64(1);
	u64(id);
	put(&scale, sizeof(scale));
	end();
}

static void threads(char **w, int n)
{
	char comm[16];

	begin(73);
	u64((uint64_t)(n / 2));
	for (int i = 1; i + 1 < n; i += 2) {
		u64(num(w[i]));
		memset(comm, 0, sizeof(comm));
		snprintf(comm, sizeof(comm), "%s", strcmp(w[i + 1], "-") ? w[i + 1] : "");
		put(comm, sizeof(comm));
	}
	end();
}

static void cpus(char **w, int n)
{
	begin(74);
	u16(0);
	u16((uint16_t)(n - 1));
	for (int i = 1; i < n; i++)
		u16((uint16_t)strtol(w[i], NULL, 10));
	end();
}

static void line(char **w, int n)
{
	static uint64_t events;

	if (!strcmp(w[0], "event")) {
		event(w, n, ++events);
	} else if (!strcmp(w[0], "threads")) {
		threads(w, n);
	} else if (!strcmp(w[0], "cpus")) {
		cpus(w, n);
	} else if (!strcmp(w[0], "config")) {
		begin(75);
		u64(3);
		for (uint64_t i = 0; i < 3; i++) {
			u64(i);
			u64(num(w[1 + i]));
		}
		end();
	} else if (!strcmp(w[0], "count")) {
		begin(76);
		u64(num(w[1]) + 1);
		u32((uint32_t)strtol(w[2], NULL, 10));
		u32((uint32_t)num(w[3]));
		for (int i = 4; i < 7; i++)
			u64(num(w[i]));
		end();
	} else if (!strcmp(w[0], "round")) {
		begin(77);
		u64(num(w[1]));
		u64(num(w[2]));
		end();
	}
}

int main(void)
{
	static const uint64_t head[2] = {0x32454c4946524550u, 16};
	char text[1024], *w[WORDS];

	fwrite(head, 1, sizeof(head), stdout);
	while (fgets(text, sizeof(text), stdin)) {
		int n = 0;

		for (char *at = strtok(text, " \n"); at && n < WORDS; at = strtok(NULL, " \n"))
			w[n++] = at;
		if (n && *w[0] != '#')
			line(w, n);
	}
	return fflush(stdout) ? 1 : 0;
}
