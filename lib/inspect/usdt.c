/* Markers of programs, in .note.stapsdt. */
#include "inspect/usdt.h"

#include "base/cursor.h"
#include "base/err.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USDT_TYPE 3

static const char *text(struct cursor *c)
{
	const char *s = (const char *)c->p;
	const uint8_t *end = memchr(c->p, 0, cursor_left(c));

	if (!end) {
		c->bad = true;
		return "";
	}
	cursor_skip(c, (uint64_t)(end - c->p) + 1);
	return s;
}

/* The file offset of a semaphore, which is data. */
static uint64_t data_offset(const struct binary *b, uint64_t vaddr)
{
	uint64_t offset;

	return vaddr && elf_segments_offset(elf_file_segments(b->elf), vaddr, &offset) == 0 ? offset
											    : 0;
}

static int note(const struct binary *b, struct cursor desc, uint64_t base_now, usdt_fn *fn,
		void *ctx)
{
	struct usdt u;
	uint64_t base, semaphore, moved;

	u.addr = get_u64(&desc);
	base = get_u64(&desc);
	semaphore = get_u64(&desc);
	u.provider = text(&desc);
	u.name = text(&desc);
	u.args = cursor_left(&desc) ? text(&desc) : "";
	if (desc.bad)
		return 0;
	/* What prelinking moved since. */
	moved = base_now && base ? base_now - base : 0;
	u.addr += moved;
	u.semaphore = data_offset(b, semaphore ? semaphore + moved : 0);
	return fn(ctx, &u);
}

int usdt_each(struct binary *b, usdt_fn *fn, void *ctx)
{
	GElf_Shdr sh, base;
	Elf_Scn *scn = elf_file_section(b->elf, ".note.stapsdt", &sh);
	Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
	uint64_t base_now = elf_file_section(b->elf, ".stapsdt.base", &base) ? base.sh_addr : 0;
	struct cursor c;
	int rc = 0;

	if (!data || !data->d_buf || !b->x86_64)
		return 0;
	c = cursor_make(data->d_buf, data->d_size, elf_file_swap(b->elf));
	while (!rc && cursor_left(&c) && !c.bad) {
		uint32_t name_size = get_u32(&c), desc_size = get_u32(&c), type = get_u32(&c);
		const uint8_t *start = c.p;
		const uint8_t *name = get_bytes(&c, name_size);
		struct cursor desc;

		cursor_align(&c, start, 4);
		start = c.p;
		desc = cursor_sub(&c, desc_size);
		if (cursor_left(&c))
			cursor_align(&c, start, 4);
		if (!c.bad && type == USDT_TYPE && name && name_size == 8 &&
		    !memcmp(name, "stapsdt", 8))
			rc = note(b, desc, base_now, fn, ctx);
	}
	return rc;
}

/* ---- operands ---- */

/* "rax", "eax", "ax", "al", "r8d": the kernel's name; *high: %ah and the like. */
static bool register_name(const char *s, size_t n, char out[8], bool *high)
{
	static const char *const wide[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip"};

	*high = false;
	if (n >= 2 && s[0] == 'r' && isdigit((unsigned char)s[1])) {
		size_t d = 1;

		while (d < n && isdigit((unsigned char)s[d]))
			d++;
		if (d > 3 || (d < n && !(d + 1 == n && strchr("dwb", s[d]))))
			return false;
		snprintf(out, 8, "%.*s", (int)d, s);
		return true;
	}
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		const char *w = wide[i];

		if ((n == 3 && (s[0] == 'r' || s[0] == 'e') && !strncmp(s + 1, w, 2)) ||
		    (n == 2 && !strncmp(s, w, 2)) || (n == 3 && !strncmp(s, w, 2) && s[2] == 'l') ||
		    (n == 2 && w[1] == 'x' && s[0] == w[0] && (s[1] == 'l' || s[1] == 'h'))) {
			*high = n == 2 && s[1] == 'h';
			snprintf(out, 8, "%s", w);
			return true;
		}
	}
	return false;
}

/* The address of a symbol, for operands like "glob(%rip)" and "8+glob(%rip)". */
static bool symbol_address(const struct binary *b, const char *name, size_t n, uint64_t *addr)
{
	const struct elf_file *from[] = {b->dso.symbols_elf, b->elf};
	const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};

	for (int k = 0; k < 4; k++) {
		const struct elf_file *f = from[k / 2];
		GElf_Shdr sh;
		Elf_Scn *scn = f ? elf_file_section_type(f, types[k % 2], &sh) : NULL;
		Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;
		GElf_Sym sym;

		for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
			const char *s = elf_strptr(elf_file_elf(f), sh.sh_link, sym.st_name);

			if (s && strlen(s) == n && !memcmp(s, name, n) &&
			    sym.st_shndx != SHN_UNDEF) {
				*addr = sym.st_value;
				return true;
			}
		}
	}
	return false;
}

/* "OFFSET(%BASE)", "SYMBOL+OFFSET(%rip)". */
static int memory(const struct binary *b, const struct usdt *u, const char *s, size_t n,
		  struct buf *out)
{
	const char *open = memchr(s, '(', n), *close = memchr(s, ')', n);
	int64_t offset = 0;
	uint64_t symbol = 0;
	bool has_symbol = false, high;
	char reg[8];

	if (!open || !close || open[1] != '%' || memchr(open, ',', (size_t)(close - open)))
		return PP_EUNSUPPORTED;
	while (s < open) {
		char *end;
		size_t len = strcspn(s + 1, "+-(") + 1;

		if (isdigit((unsigned char)*s) ||
		    ((*s == '-' || *s == '+') && isdigit((unsigned char)s[1]))) {
			offset += strtoll(s, &end, 0);
			s = end;
		} else if (*s == '+') {
			s++;
		} else {
			if (has_symbol || !symbol_address(b, s, len, &symbol))
				return PP_EUNSUPPORTED;
			has_symbol = true;
			s += len;
		}
	}
	if (!register_name(open + 2, (size_t)(close - open) - 2, reg, &high) || high)
		return PP_EUNSUPPORTED;
	if (has_symbol) {
		if (strcmp(reg, "ip") != 0)
			return PP_EUNSUPPORTED;
		buf_addf(out, "@+0x%" PRIx64,
			 (uint64_t)binary_data_offset(b, u->addr, symbol + (uint64_t)offset));
	} else {
		buf_addf(out, "%+" PRId64 "(%%%s)", offset, reg);
	}
	return 0;
}

static int operand(const struct binary *b, const struct usdt *u, const char *s, size_t n,
		   struct buf *out, bool *high)
{
	char reg[8];

	*high = false;
	if (n > 1 && *s == '$') {
		buf_addf(out, "\\%lld", strtoll(s + 1, NULL, 0));
		return 0;
	}
	if (n > 1 && *s == '%') {
		if (!register_name(s + 1, n - 1, reg, high))
			return PP_EUNSUPPORTED;
		buf_addf(out, "%%%s", reg);
		return 0;
	}
	return memory(b, u, s, n, out);
}

int usdt_operand(const struct binary *b, const struct usdt *u, const char **at, struct buf *out,
		 char type[16])
{
	const char *s = *at + strspn(*at, " ");
	size_t n = strcspn(s, " ");
	bool negative = *s == '-', high;
	char *end;
	long size;
	int rc;

	*at = s + n;
	if (!n)
		return PP_ENOENT;
	buf_reset(out);
	size = labs(strtol(s, &end, 10));
	if (end > s + n || (*end != '@' && !(*end == 'f' && end[1] == '@')) ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return PP_EUNSUPPORTED;
	snprintf(type, 16, "%c%ld", *end == 'f' ? 'x' : negative ? 's' : 'u', size * 8);
	end += 1 + (*end == 'f');
	rc = operand(b, u, end, (size_t)(s + n - end), out, &high);
	if (high)
		snprintf(type, 16, "b8@8/16");
	return rc;
}
