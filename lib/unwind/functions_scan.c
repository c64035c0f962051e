/*
 * What leads into code: calls, instructions and relocations with the address of a function. Bytes
 * that only look like a call are many; so are places to which one of them seems to lead. Those that
 * code before them runs into are no functions (functions_begins).
 */
#include "unwind/functions_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK	 (1u << 20) /* bytes that are read at a time */
#define OVERLAP	 16	    /* of an instruction, that reach into the next block */
#define BEFORE	 16	    /* bytes that tell whether a function ends */
#define RELS_MAX (16u << 20)

static void mark(struct functions *t, uint64_t vaddr)
{
	for (unsigned i = 0; i < t->nranges; i++) {
		struct code_range *r = &t->range[i];
		uint64_t at = vaddr - r->start;

		if (vaddr >= r->start && vaddr < r->end && r->bits) {
			r->bits[at / 64] |= UINT64_C(1) << at % 64;
			return;
		}
	}
}

static uint32_t word(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t near(const uint8_t *p, uint64_t after)
{
	return after + (uint64_t)(int64_t)(int32_t)word(p);
}

/* `absolute`: the code is not moved, and may have addresses as numbers. */
static void scan_x86(struct functions *t, const uint8_t *p, size_t n, uint64_t vaddr, bool absolute)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == 0xe8)
			mark(t, near(p + i + 1, vaddr + i + 5));
		else if ((p[i] & 0xfb) == 0x48 && p[i + 1] == 0x8d && (p[i + 2] & 0xc7) == 5)
			mark(t, near(p + i + 3, vaddr + i + 7)); /* lea n(%rip),%reg */
		else if (absolute && (p[i] & 0xf8) == 0xb8)
			mark(t, word(p + i + 1)); /* mov $n,%reg */
		else if (absolute && p[i] == 0x48 && p[i + 1] == 0xc7)
			mark(t, word(p + i + 3)); /* movq $n,%reg; in memory at least the next: */
		if (absolute && p[i] == 0x48 && p[i + 1] == 0xc7 && (p[i + 2] & 0xc0) == 0x40)
			mark(t, word(p + i + 4 + ((p[i + 2] & 7) == 4)));
	}
}

static void scan_arm64(struct functions *t, const uint8_t *p, size_t n, uint64_t vaddr)
{
	for (size_t i = 0; i < n; i += 4) {
		uint32_t v = word(p + i), w = word(p + i + 4);

		if (v >> 26 == 0x25) { /* bl */
			mark(t, vaddr + i + (uint64_t)((int64_t)((uint64_t)v << 38) >> 36));
		} else if ((v & 0x9f000000) == 0x90000000 && (w & 0xffc00000) == 0x91000000 &&
			   (v & 31) == (w >> 5 & 31)) { /* adrp, add */
			int64_t page = (int64_t)((uint64_t)((v >> 5 & 0x7ffff) << 2 | (v >> 29 & 3))
						 << 43) >>
				       31;

			mark(t,
			     ((vaddr + i) & ~UINT64_C(0xfff)) + (uint64_t)page + (w >> 10 & 0xfff));
		}
	}
}

static int scan_range(struct functions *t, const struct code_range *r, uint8_t *buf)
{
	unsigned machine = elf_file_machine(t->image);
	bool absolute = elf_file_type(t->image) == ET_EXEC;

	for (uint64_t at = 0; at < r->end - r->start; at += BLOCK) {
		uint64_t left = r->end - r->start - at;
		size_t n = left < BLOCK ? (size_t)left : BLOCK;
		size_t more = left - n < OVERLAP ? (size_t)(left - n) : OVERLAP;

		memset(buf + n, 0, OVERLAP);
		if (elf_file_read(t->image, r->offset + at, buf, n + more))
			return 0;
		if (machine == EM_X86_64)
			scan_x86(t, buf, n, r->start + at, absolute);
		else if (machine == EM_AARCH64)
			scan_arm64(t, buf, n & ~(size_t)3, r->start + at);
	}
	return 0;
}

/* Addresses that the loader writes into data: tables of functions. */
static void scan_relocations(struct functions *t)
{
	unsigned relative =
		elf_file_machine(t->image) == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
	GElf_Shdr sh;
	GElf_Rela rela;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf_file_elf(t->image), scn));) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_entsize)
			continue;
		data = elf_file_data(scn, &sh);
		for (size_t i = 0; data && i < data->d_size / sh.sh_entsize && i < RELS_MAX; i++)
			if (gelf_getrela(data, (int)i, &rela) &&
			    GELF_R_TYPE(rela.r_info) == relative)
				mark(t, (uint64_t)rela.r_addend);
	}
}

/* The same of a program that is not moved: the addresses are there. */
static void scan_data(struct functions *t, uint8_t *buf)
{
	const struct elf_segments *segs = elf_file_segments(t->image);

	for (uint32_t i = 0; i < segs->n; i++) {
		const struct elf_segment *g = &segs->seg[i];

		for (uint64_t at = 0; !g->exec && at < g->filesz && at < FUNCTIONS_SCAN_MAX;
		     at += BLOCK) {
			uint64_t left = g->filesz - at;
			size_t n = left < BLOCK ? (size_t)left : BLOCK;

			if (elf_file_read(t->image, g->offset + at, buf, n))
				break;
			for (size_t k = (size_t)(-(g->vaddr + at) & 7); k + 8 <= n; k += 8)
				if (!word(buf + k + 4))
					mark(t, word(buf + k));
		}
	}
}

int functions_scan(struct functions *t)
{
	uint8_t *buf = malloc(BLOCK + OVERLAP);
	uint64_t sum = 0;
	int rc = buf ? 0 : PP_ENOMEM;

	t->scanned = true;
	for (unsigned i = 0; i < t->nranges && !rc; i++) {
		struct code_range *r = &t->range[i];
		uint64_t size = r->end - r->start;

		if (size > elf_file_size(t->image) || size > FUNCTIONS_SCAN_MAX - sum) {
			t->limited = true;
			continue;
		}
		sum += size;
		r->bits = calloc(size / 64 + 1, sizeof(*r->bits));
		rc = r->bits ? 0 : PP_ENOMEM;
	}
	for (unsigned i = 0; i < t->nranges && !rc; i++)
		if (t->range[i].bits)
			rc = scan_range(t, &t->range[i], buf);
	if (!rc) {
		scan_relocations(t);
		if (elf_file_type(t->image) == ET_EXEC)
			scan_data(t, buf);
	}
	free(buf);
	return rc;
}

/* Whether nops of several bytes end here, or zeroes. */
static bool is_padding(const uint8_t *end)
{
	/* Their last bytes, after 0f 1f: 00, 40 00, 44 00 00, 80 and 84 with zeroes */
	static const struct {
		uint8_t n, modrm;
	} nops[] = {{3, 0x00}, {4, 0x40}, {5, 0x44}, {7, 0x80}, {8, 0x84}};
	bool zeroes = true;

	for (size_t i = 0; i < sizeof(nops) / sizeof(*nops); i++) {
		const uint8_t *p = end - nops[i].n;

		if (p[0] == 0x0f && p[1] == 0x1f && p[2] == nops[i].modrm)
			return true;
	}
	for (int i = 1; i <= 8; i++)
		zeroes = zeroes && !end[-i];
	return zeroes;
}

static bool ends_x86(const uint8_t *end)
{
	/* ret, hlt, int3, nop; then ud2, syscall; jmp; a call without return; ret $n; jmp *x */
	static const uint8_t last[] = {0xc3, 0xf4, 0xcc, 0x90};

	return memchr(last, end[-1], sizeof(last)) || is_padding(end) ||
	       (end[-2] == 0x0f && (end[-1] == 0x0b || end[-1] == 0x05)) || end[-2] == 0xeb ||
	       end[-5] == 0xe9 || end[-5] == 0xe8 || end[-3] == 0xc2 ||
	       (end[-2] == 0xff && (end[-1] & 0xf8) == 0xe0) ||
	       (end[-6] == 0xff && end[-5] == 0x25);
}

static bool ends_arm64(uint32_t v)
{
	return v == 0xd503201f || !v || (v & 0xfffffc1f) == 0xd65f0000 || v >> 26 == 5 ||
	       v >> 26 == 0x25 || (v & 0xfffffc1f) == 0xd61f0000 || v >> 21 == 0x6a1 ||
	       v == 0xd65f0bff || v == 0xd65f0fff;
}

bool functions_begins(const struct functions *t, const struct code_range *r, uint64_t vaddr)
{
	uint8_t b[BEFORE];

	if (vaddr == r->start)
		return true;
	if (vaddr - r->start < BEFORE)
		return vaddr % 16 == 0;
	if (elf_file_read(t->image, r->offset + (vaddr - r->start) - BEFORE, b, BEFORE))
		return false;
	return elf_file_machine(t->image) == EM_AARCH64 ? vaddr % 4 == 0 && ends_arm64(word(b + 12))
							: ends_x86(b + BEFORE);
}
