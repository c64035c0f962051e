/*
 * The rows of line tables by address: programs made by hand, and this program's own table compared
 * with libdw's.
 *
 *	dwarf_lines [FILE]
 *
 * With a FILE, its tables.
 */
#include "dwarf/line_rows.h"

#include "base/buf.h"
#include "base/err.h"

#include "tap.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- by hand ---- */

static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

/* What gcc writes for x86: opcode 13 + v adds v / 14 to the address and v % 14 - 5 to the line. */
static struct line_program program(const struct buf *b)
{
	return (struct line_program){.c = cursor_make(b->data, b->len, false),
				     .min_step = 1,
				     .instructions = 1,
				     .line_base = -5,
				     .line_range = 14,
				     .opcode_base = 13,
				     .lengths = lengths};
}

static void put(struct buf *b, const char *bytes, size_t n)
{
	buf_add(b, bytes, n);
}

#define PUT(b, bytes) put(b, bytes, sizeof(bytes) - 1)

static void put_address(struct buf *b, uint64_t addr)
{
	PUT(b, "\x00\x09\x02");
	for (int i = 0; i < 8; i++)
		put(b, (char[]){(char)(addr >> 8 * i)}, 1);
}

#define END "\x00\x01\x01"

static int read_rows(struct line_rows *r, const struct buf *b)
{
	struct line_program p = program(b);

	return line_rows_read(r, &p);
}

/* "file:line:column", or "none". */
static const char *at(const struct line_rows *r, uint64_t addr)
{
	static char text[64];
	struct table_row row;

	if (!line_rows_find(r, addr, &row))
		return "none";
	snprintf(text, sizeof(text), "%u:%u:%u", row.file, row.line, row.column);
	return text;
}

static void test_opcodes(void)
{
	struct buf b = BUF_INIT;
	struct line_rows r;

	put_address(&b, 0x1000);
	PUT(&b, "\x03\x09\x01");		 /* line + 9, copy: 0x1000, line 10 */
	PUT(&b, "\x05\x07\x04\x02\x20");	 /* column 7, file 2; + 1, + 0: 0x1001 */
	PUT(&b, "\x02\x80\x01\x03\x7e\x01");	 /* + 128, line - 2, copy: 0x1081, line 8 */
	PUT(&b, "\x08\x01");			 /* as opcode 255, + 17, copy: 0x1092 */
	PUT(&b, "\x09\x00\x01\x0a\x0b\x06\x07"); /* + 256, and what only marks */
	PUT(&b,
	    "\x0c\x05\x00\x02\x04\x09\x00\x03\x80\x01\x02\x01"); /* isa, discriminator, unknown */
	PUT(&b, "\x02\x10" END);				 /* ends at 0x11a2 */
	is_int(read_rows(&r, &b), 0, "a program with all opcodes");
	is_str(at(&r, 0xfff), "none", "before it");
	is_str(at(&r, 0x1000), "1:10:0", "its first row");
	is_str(at(&r, 0x1001), "2:10:7", "a short opcode");
	is_str(at(&r, 0x1080), "2:10:7", "up to the next row");
	is_str(at(&r, 0x1081), "2:8:7", "numbers of several bytes, and below 0");
	is_str(at(&r, 0x1091), "2:8:7", "before the step of opcode 255");
	is_str(at(&r, 0x1092), "2:8:7", "after it");
	is_str(at(&r, 0x11a1), "2:8:7", "the last");
	is_str(at(&r, 0x11a2), "none", "the end");
	line_rows_release(&r);
	buf_release(&b);
}

static void test_sequences(void)
{
	struct buf b = BUF_INIT;
	struct line_rows r;

	put_address(&b, 0x2000);
	PUT(&b, "\x01\x02\x08" END);
	put_address(&b, 0);
	PUT(&b, "\x01\x02\xff\x7f" END);
	put_address(&b, UINT64_MAX);
	PUT(&b, "\x01\x02\x08\x01\x02\x08" END);
	put_address(&b, 0x1000);
	PUT(&b, "\x03\x01\x01\x01\x03\x01\x01\x02\x08" END);
	put_address(&b, 0x3000);
	PUT(&b, "\x01" END);
	put_address(&b, 0x2008);
	PUT(&b, "\x03\x04\x01\x02\x08" END);
	is_int(read_rows(&r, &b), 0, "sequences in no order");
	is_str(at(&r, 0x2000), "1:1:0", "the first");
	is_str(at(&r, 0x2007), "1:1:0", "its last byte");
	is_str(at(&r, 0x2008), "1:5:0", "another begins where it ends");
	is_str(at(&r, 0x1000), "1:3:0", "of rows at one address the last counts");
	is_str(at(&r, 0x10), "none", "what the linker threw away, at 0");
	is_str(at(&r, 6), "none", "and at -1, which goes on from 0");
	is_str(at(&r, 0x3000), "none", "one without bytes");
	is_int(r.n_sequences, 3, "others are not kept");
	line_rows_release(&r);
	buf_release(&b);
}

/* Many rows: those between the marks are made again. */
static void test_long(void)
{
	struct buf b = BUF_INIT;
	struct line_rows r;
	unsigned wrong = 0;
	char expected[32];

	put_address(&b, 0x10000);
	PUT(&b, "\x01");
	for (unsigned i = 1; i < 50000; i++)
		/* + 3 bytes, + 1 line; each twentieth with a number of bytes that it needs not. */
		if (i % 20)
			PUT(&b, "\x3d");
		else
			PUT(&b, "\x02\x83\x80\x80\x80\x80\x00\x03\x01\x01");
	PUT(&b, "\x02\x03" END);
	is_int(read_rows(&r, &b), 0, "50,000 rows");
	for (unsigned i = 0; i < 150000; i++) {
		snprintf(expected, sizeof(expected), "1:%u:0", 1 + i / 3);
		wrong += strcmp(at(&r, 0x10000 + i), expected) != 0;
	}
	is_int(wrong, 0, "each address has its own");
	ok(r.n < 50000 / 32, "%u rows are kept", r.n);
	line_rows_release(&r);
	buf_release(&b);
}

static void test_strange(void)
{
	struct buf b = BUF_INIT;
	struct line_program p;
	struct line_rows r;

	put_address(&b, 0x1000);
	PUT(&b, "\x01\x02\x08\x01");
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "a sequence without an end");
	b.len = 5;
	is_int(read_rows(&r, &b), PP_ECORRUPT, "cut off within an address");
	is_str(at(&r, 0x1000), "none", "nothing is kept");
	b.len = 0;
	PUT(&b, "\x00\x00");
	is_int(read_rows(&r, &b), PP_ECORRUPT, "an opcode without bytes");
	b.len = 0;
	put_address(&b, 0x1000);
	PUT(&b, "\x01\x02\x08\x01");
	put_address(&b, 0x1000);
	PUT(&b, "\x01\x02\x10" END);
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "addresses that go back");
	b.len = 0;
	put_address(&b, 0x1000);
	PUT(&b, "\x01");
	for (int i = 0; i < 5000; i++)
		PUT(&b, "\x06");
	PUT(&b, "\x02\x10" END);
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "rows far apart in the program");
	b.len = 0;
	put_address(&b, 0x1000);
	PUT(&b, "\x01");
	put_address(&b, UINT64_MAX);
	PUT(&b, "\x01\x02\x08" END);
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "code that goes on as code thrown away");
	b.len = 0;
	put_address(&b, 0);
	PUT(&b, "\x01");
	put_address(&b, 0x1000);
	PUT(&b, "\x01\x02\x08" END);
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "and the other way round");
	b.len = 0;
	PUT(&b, "\x00\x06\x03"
		"a.c\x00\x00");
	is_int(read_rows(&r, &b), PP_EUNSUPPORTED, "a file that the program defines");
	b.len = 0;
	put_address(&b, 0x1000);
	PUT(&b, "\x01\x02\x08" END);
	p = program(&b);
	p.line_range = 0;
	is_int(line_rows_read(&r, &p), PP_EUNSUPPORTED, "a line range of 0");
	p.line_range = 14;
	p.instructions = 4;
	is_int(line_rows_read(&r, &p), PP_EUNSUPPORTED, "bundles of instructions");
	p.instructions = 1;
	p.opcode_base = 0;
	is_int(line_rows_read(&r, &p), PP_EUNSUPPORTED, "no opcode at all");
	p.opcode_base = 13;
	p.lengths = (const uint8_t[12]){0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 2};
	is_int(line_rows_read(&r, &p), PP_EUNSUPPORTED, "an opcode with other numbers");
	buf_release(&b);
}

/* ---- beside libdw ---- */

struct account {
	unsigned units, rows, ends, other_files, wrong;
	unsigned strange; /* units that are left to libdw */
};

static void check_end(const struct line_rows *r, Dwarf_Lines *lines, size_t i, size_t n,
		      struct account *sum)
{
	Dwarf_Addr addr = 0, next = 0;
	struct table_row row;

	dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr);
	if (i + 1 < n)
		dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &next);
	sum->ends++;
	if (i + 1 == n || next > addr)
		sum->wrong += line_rows_find(r, addr, &row);
}

/*
 * A row of libdw's, the last of its address, at its first and its last byte. ended: a sequence ends
 * where it begins. If it is of that one, it has no bytes; libdw has put it after the end.
 */
static void check_row(const struct line_files *files, const struct line_rows *r, Dwarf_Line *line,
		      uint64_t next, bool ended, struct account *sum)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	struct buf ours = BUF_INIT;
	int number = -1, column = -1;
	struct table_row row;
	Dwarf_Addr addr = 0;

	dwarf_lineaddr(line, &addr);
	if (ended && !line_rows_find(r, addr, &row))
		return;
	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	for (int i = 0; i < 2; i++, addr = next - 1) {
		bool same = line_rows_find(r, addr, &row) && row.line == (uint32_t)number &&
			    row.column == (uint32_t)column;

		if (!same && sum->wrong++ < 5)
			printf("# %#" PRIx64 ": libdw has %d:%d\n", (uint64_t)addr, number, column);
		sum->rows++;
		if (same && !line_files_name(files, row.file, &ours))
			sum->other_files += !path || strcmp(path, buf_str(&ours)) != 0;
	}
	buf_release(&ours);
}

/* Code that the linker threw away lies at 0, where nothing is mapped. */
static bool is_code(Dwarf_Die *unit, uint64_t addr)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
	GElf_Phdr ph;

	for (int i = 0; gelf_getphdr(elf, i, &ph); i++)
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_memsz)
			return true;
	return false;
}

static void check_unit(Dwarf_Die *unit, struct account *sum)
{
	struct line_files files;
	struct line_rows rows;
	Dwarf_Lines *lines;
	Dwarf_Addr addr = 0, next, ended = 0;
	size_t n;
	bool end;
	static struct line_sections sections;
	int rc = line_files_read(&files, unit, &sections, false);

	if (rc)
		return;
	rc = line_rows_read(&rows, &files.program);
	sum->strange += rc == PP_EUNSUPPORTED;
	if (!rc && !dwarf_getsrclines(unit, &lines, &n)) {
		sum->units++;
		for (size_t i = 0; i < n; i++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, i);

			dwarf_lineaddr(line, &addr);
			dwarf_lineendsequence(line, &end);
			if (end) {
				ended = addr;
				check_end(&rows, lines, i, n, sum);
			}
			if (end || i + 1 == n)
				continue;
			dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &next);
			if (next > addr && is_code(unit, addr))
				check_row(&files, &rows, line, next, ended == addr, sum);
		}
	}
	line_rows_release(&rows);
	line_files_release(&files);
}

static void test_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	struct account sum = {0};
	Dwarf_Half version;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	if (!ok(dwarf != NULL, "%s has DWARF", path))
		return;
	while (dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit, NULL) == 0)
		check_unit(&unit, &sum);
	printf("# %u units, %u addresses, %u ends, %u units for libdw\n", sum.units, sum.rows,
	       sum.ends, sum.strange);
	ok(sum.units && sum.rows && sum.ends, "it has lines");
	is_int(sum.wrong, 0, "all are those of libdw");
	is_int(sum.other_files, 0, "with the same files");
	dwarf_end(dwarf);
	close(fd);
}

int main(int argc, char **argv)
{
	test_opcodes();
	test_sequences();
	test_long();
	test_strange();
	test_file(argc > 1 ? argv[1] : "/proc/self/exe");
	return done();
}
