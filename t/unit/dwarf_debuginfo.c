/*
 * Source lines and inlined functions, compared with addr2line: at random addresses of this program.
 *
 *	dwarf_debuginfo [FILE [ADDRESSES]]
 *
 * With a FILE, of that. What is different is shown. ADDR2LINE: another program to ask, such as
 * llvm-addr2line.
 */
#include "dwarf/debuginfo.h"

#include "base/buf.h"
#include "base/err.h"
#include "dwarf/dwarf_image.h"
#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "symbol/elf_symtab.h"

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define ADDRESSES 3000
#define LINES_MAX (2 * DEBUGINFO_FRAMES_MAX + 8)

/* What addr2line says about an address: a function and a place for each frame. */
struct answer {
	char *line[LINES_MAX];
	uint32_t n;
};

struct account {
	unsigned same, nothing, source_name, unit_file, different;
};

static const char *program(void)
{
	return getenv("ADDR2LINE") ? getenv("ADDR2LINE") : "addr2line";
}

static bool have_addr2line(void)
{
	char command[4096];

	snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", program());
	return system(command) == 0;
}

/* "a/./b/../c" is "a/c"; in place. */
static char *clean(char *path)
{
	char *to = path, *begin = path;

	for (char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2) && to > begin + 1) {
			to--;
			while (to > begin && to[-1] != '/')
				to--;
		} else if (n != 1 || *p != '.') {
			memmove(to, p, n + (p[n] == '/'));
			to += n + (p[n] == '/');
		}
		p += n + (p[n] == '/');
	}
	*to = 0;
	return path;
}

static bool is_source(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".cc") || !strcmp(dot, ".cpp"));
}

static bool same_place(const struct source_frame *f, char *theirs, bool *unit_file)
{
	char *colon = strrchr(theirs, ':'), ours[8192];
	uint32_t line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;

	if (!colon || line != f->line)
		return false;
	*colon = 0;
	if (!f->line)
		return true;
	snprintf(ours, sizeof(ours), "%s", f->file ? f->file : "??");
	if (!strcmp(clean(ours), clean(theirs)))
		return true;
	/* binutils 2.40 gives some lines of a header to the unit's own file; llvm-addr2line and
	 * eu-addr2line do not. */
	*unit_file = true;
	return is_source(theirs) && !is_source(ours);
}

/*
 * addr2line takes the symbol table's name for a function that the DWARF has no linker's name of. As
 * the name of an inlined function it is wrong.
 */
static bool same_name(const struct source_frame *f, const char *theirs, bool *by_symtab)
{
	if (!strcmp(f->function ? f->function : "??", theirs))
		return true;
	*by_symtab = true;
	return !f->function || strncmp(f->function, "_Z", 2) != 0;
}

/* Of aliases, such as the two constructors of a class, tools choose differently. */
static bool same_symbol(const char *ours, const char *theirs)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	bool same = ours && !strcmp(demangle(ours, &a), demangle(theirs, &b));

	buf_release(&a);
	buf_release(&b);
	return same;
}

/*
 * outermost: the name that the symbol table has for the function that is not inlined, as in psym.
 */
static void compare(const struct source_frame *f, uint32_t n, const char *outermost,
		    struct answer *a, struct account *sum)
{
	bool by_symtab = false, unit_file = false, same = 2 * n == a->n;

	if (!n || (n == 1 && !f[0].line)) {
		/* Between functions: there is nothing but the symbol table. */
		same = a->n == 2 && strchr(a->line[1], ':') &&
		       !strtoul(strrchr(a->line[1], ':') + 1, NULL, 10);
		sum->nothing += same;
		sum->different += !same;
		return;
	}
	for (uint32_t i = 0; same && i < n; i++)
		same = same_place(&f[i], a->line[2 * i + 1], &unit_file) &&
		       ((i + 1 == n && same_symbol(outermost, a->line[2 * i])) ||
			same_name(&f[i], a->line[2 * i], &by_symtab));
	sum->same += same && !by_symtab && !unit_file;
	sum->unit_file += same && unit_file;
	by_symtab = by_symtab && !unit_file;
	sum->source_name += same && by_symtab;
	sum->different += !same;
}

static void show(uint64_t addr, const struct source_frame *f, uint32_t n, const struct answer *a)
{
	printf("# %#" PRIx64 "\n", addr);
	for (uint32_t i = 0; i < n; i++)
		printf("#   ours %s %s:%u\n", f[i].function ? f[i].function : "??",
		       f[i].file ? f[i].file : "??", f[i].line);
	for (uint32_t i = 0; i + 1 < a->n; i += 2)
		printf("#   addr2line %s %s\n", a->line[i], a->line[i + 1]);
}

/* Reads the answer up to the next address, which is left in `next`. False at the end. */
static bool read_answer(FILE *p, struct answer *a, char *next, size_t size)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	for (uint32_t i = 0; i < a->n; i++)
		free(a->line[i]);
	a->n = 0;
	next[0] = 0;
	while ((n = getline(&line, &cap, p)) > 0) {
		char *note = strstr(line, " (discriminator");

		line[n - (line[n - 1] == '\n')] = 0;
		if (note)
			*note = 0;
		if (!strncmp(line, "0x", 2) &&
		    strspn(line + 2, "0123456789abcdef") == strlen(line) - 2) {
			snprintf(next, size, "%s", line);
			break;
		}
		if (a->n < LINES_MAX)
			a->line[a->n++] = strdup(line);
	}
	free(line);
	return n > 0;
}

static void compare_all(struct debuginfo *d, const struct symtab *t, FILE *p, struct account *sum)
{
	struct source_frame f[DEBUGINFO_FRAMES_MAX];
	struct answer a = {0};
	char addr[64], next[64];
	unsigned shown = 0;
	bool more = read_answer(p, &a, addr, sizeof(addr));

	while (addr[0]) {
		uint64_t at = strtoull(addr, NULL, 16);
		unsigned before = sum->different;
		uint32_t n;
		struct answer kept = {0};
		struct symbol s;

		more = read_answer(p, &a, next, sizeof(next));
		if (debuginfo_find(d, at, true, f, &n))
			n = 0;
		for (; kept.n < a.n; kept.n++)
			kept.line[kept.n] = strdup(a.line[kept.n]);
		compare(f, n, symtab_find(t, at, &s) ? NULL : symtab_text(t, s.name), &a, sum);
		if (sum->different > before && shown++ < 5)
			show(at, f, n, &kept);
		for (uint32_t i = 0; i < kept.n; i++)
			free(kept.line[i]);
		snprintf(addr, sizeof(addr), "%s", more ? next : "");
	}
	read_answer(p, &a, next, sizeof(next));
}

static void against_addr2line(const char *path, struct elf_file *f, struct debuginfo *d, unsigned n)
{
	struct account sum = {0};
	struct elf_symtab_opts opts = {0};
	enum symtab_reason why;
	struct symtab *t = NULL;
	char list[] = "/tmp/perfpipe-unit.XXXXXX", command[8192];
	int fd = mkstemp(list);
	FILE *w = fd < 0 ? NULL : fdopen(fd, "w"), *p;
	GElf_Shdr text;
	unsigned wrong;

	if (!w || !elf_file_section(f, ".text", &text)) {
		ok(false, "no list of addresses");
		return;
	}
	srand(7);
	for (unsigned i = 0; i < n; i++)
		fprintf(w, "%" PRIx64 "\n",
			text.sh_addr + ((uint64_t)rand() << 15 ^ (uint64_t)rand()) % text.sh_size);
	fclose(w);
	snprintf(command, sizeof(command), "%s -afi -e '%s' <%s 2>/dev/null", program(), path,
		 list);
	p = popen(command, "r");
	elf_symtab_load(f, NULL, &opts, &t, &why);
	if (p)
		compare_all(d, t, p, &sum);
	symtab_free(t);
	ok(p && pclose(p) == 0, "addr2line");
	unlink(list);
	printf("# %u addresses: %u the same, %u between functions, %u the same places with a "
	       "name of the symbol table, %u in the unit's file, %u different\n",
	       n, sum.same, sum.nothing, sum.source_name, sum.unit_file, sum.different);
	wrong = n - sum.same - sum.nothing - sum.source_name - sum.unit_file;
	/* More without optimization, when the functions of headers are not inlined. */
	ok(sum.unit_file * 20 <= n, "few are in another file");
	ok(wrong * 1000 <= n, "at least 99.9 %% agree with addr2line");
	/* The sanitizers' part of a program has none. */
	ok(sum.same * 10 > n, "a tenth has a place");
}

/* libdw looks for the NUL of a text wherever that is: there is one after each section. */
static void test_ends(const struct elf_file *f)
{
	struct buf image = BUF_INIT;
	unsigned sections = 0, open = 0;
	Elf *elf;

	if (buf_reserve(&image, elf_file_size(f) + 65536))
		abort();
	memset(image.data, 'x', elf_file_size(f) + 65536);
	is_int(dwarf_image(f, true, &image), 0, "an image");
	elf = elf_memory((char *)image.data, image.len);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		sections++;
		open += sh.sh_offset + sh.sh_size >= image.len ||
			image.data[sh.sh_offset + sh.sh_size];
	}
	elf_end(elf);
	ok(sections > 3, "has sections");
	is_int(open, 0, "all have an end");
	buf_release(&image);
}

static void test_damaged(const char *path)
{
	struct elf_file *f;
	struct debuginfo *d;
	enum symtab_reason why;

	ok(elf_file_open(&f, path, &why) == 0, "%s", path);
	is_int(debuginfo_open(&d, f, NULL, true), PP_ENOENT, "without DWARF");
	ok(d == NULL, "there is none");
	elf_file_close(f);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : ADDRESSES;
	struct source_frame frames[DEBUGINFO_FRAMES_MAX];
	char self[4096] = "";
	struct elf_file *f;
	struct debuginfo *d = NULL;
	enum symtab_reason why;
	uint32_t found;

	if (argc < 2 && readlink(path, self, sizeof(self) - 1) > 0)
		path = self;
	ok(elf_file_open(&f, path, &why) == 0, "opened");
	is_int(debuginfo_open(&d, f, NULL, true), 0, "it has DWARF");
	if (!d)
		return done();
	is_int(debuginfo_find(d, 1, true, frames, &found), PP_ENOENT, "nothing at 1");
	is_int(debuginfo_find(d, UINT64_MAX, true, frames, &found), PP_ENOENT, "nor at the end");
	if (have_addr2line())
		against_addr2line(path, f, d, n);
	else
		ok(true, "# SKIP addr2line is not installed");
	debuginfo_close(d);
	test_ends(f);
	elf_file_close(f);
	test_damaged("/bin/true");
	return done();
}
