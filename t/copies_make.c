/*
 * Makes a recording with copies of stacks, as `perf record --call-graph dwarf,8192` writes it:
 *
 *	copies_make N >FILE	N samples, of 2 threads in turn; rounds end after 100
 *
 * The copy of sample i holds the 32-bit numbers i * 2048 + k, and its first 1000 + i * 37 % 7000
 * bytes, rounded to 8, are valid. The layouts are those of <linux/perf_event.h> and
 * tools/perf/Documentation/perf.data-file-format.txt of the kernel tree.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY	  8192
#define ATTR_SIZE 112
#define SAMPLE	  (8 + 4 * 8 + 8 + 2 * 8 + 8 + COPY + 8)

static void u32(uint32_t v)
{
	fwrite(&v, sizeof(v), 1, stdout);
}

static void u64(uint64_t v)
{
	fwrite(&v, sizeof(v), 1, stdout);
}

static void zeroes(size_t n)
{
	while (n--)
		putchar(0);
}

static void header(unsigned n)
{
	fwrite("PERFILE2", 8, 1, stdout);
	u64(104); /* bytes of the header, */
	u64(ATTR_SIZE + 16);
	u64(104); /* after which comes the attribute, ... */
	u64(ATTR_SIZE + 16);
	u64(104 + ATTR_SIZE + 16); /* ... and the records */
	u64((uint64_t)n * SAMPLE + n / 100 * 8);
	zeroes(48); /* no event types, no features */
	u32(1);	    /* cpu-clock */
	u32(ATTR_SIZE);
	u64(0);
	u64(1000); /* period */
	/* ip, tid, time, period, user registers, user stack */
	u64(1 | 2 | 4 | 1 << 8 | 1 << 12 | 1 << 13);
	zeroes(6 * 8);
	u64(1 << 7 | 1 << 8); /* sp and ip, of x86 */
	u32(COPY);
	zeroes(ATTR_SIZE - 92 + 16);
}

static void sample(unsigned i)
{
	u32(9);
	u32(2 | SAMPLE << 16);
	u64(0x401000 + i % 64); /* ip */
	u32(10);
	u32(10 + i % 2);
	u64(1000 + i); /* time */
	u64(1000);     /* period */
	u64(2);	       /* registers of 64 bits */
	u64(0x7ffffff00000);
	u64(0x401000 + i % 64);
	u64(COPY);
	for (uint32_t k = 0; k < COPY / 4; k++)
		u32(i * 2048 + k);
	u64((1000 + i * 37 % 7000) / 8 * 8);
	if (i % 100 == 99) {
		u32(68); /* FINISHED_ROUND */
		u32(8 << 16);
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	header(n);
	for (unsigned i = 0; i < n; i++)
		sample(i);
	return fclose(stdout) ? 1 : 0;
}
