/* Finding the files of a DSO: paths, links, build-ids, bundles. */
#include "symbol/dso_file.h"

#include "base/err.h"
#include "elf_make.h"
#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* What a test file holds: the name of its one function tells which file was used. */
struct spec {
	const char *path;     /* below the test's directory */
	const char *function; /* NULL: stripped */
	uint8_t id;	      /* repeated 20 times; 0: no build-id */
	const char *link;     /* file below the directory that the debug link is for */
	bool dynamic;	      /* the function is in .dynsym only */
};

static char dir[] = "/tmp/dso-test-XXXXXX";

static void make_dirs(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
		*p = '/';
	}
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	char full[4096];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	make_dirs(full);
	f = fopen(full, "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		abort();
}

static uint32_t crc_of(const char *path)
{
	char full[4096];
	uint8_t bytes[8192];
	size_t n;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	f = fopen(full, "r");
	if (!f)
		abort();
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return (uint32_t)crc32(0, bytes, (uInt)n);
}

static void make(const struct spec *s)
{
	struct elf_make m = {.is64 = true, .machine = EM_X86_64, .type = ET_DYN};
	struct buf syms = BUF_INIT, names = BUF_INIT, file = BUF_INIT, note = BUF_INIT;
	struct buf link = BUF_INIT;
	static const uint8_t code[64];

	elf_make_segment(&m, PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x100);
	elf_make_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, code, sizeof(code));
	if (s->id) {
		elf_make_put(&m, &note, 4, 4);
		elf_make_put(&m, &note, 20, 4);
		elf_make_put(&m, &note, 3, 4);
		buf_add(&note, "GNU", 4);
		buf_fill(&note, (char)s->id, 20);
		elf_make_section(&m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x200, note.data,
				 note.len);
		m.sections[m.n_sections - 1].align = 4;
	}
	if (s->link) {
		const char *base = strrchr(s->link, '/') + 1;

		buf_add(&link, base, strlen(base) + 1);
		buf_fill(&link, 0, (size_t)(-link.len % 4));
		elf_make_put(&m, &link, crc_of(s->link), 4);
		elf_make_section(&m, ".gnu_debuglink", SHT_PROGBITS, 0, 0, link.data, link.len);
	}
	if (s->function) {
		int i = elf_make_section(&m, s->dynamic ? ".dynsym" : ".symtab",
					 s->dynamic ? SHT_DYNSYM : SHT_SYMTAB, 0, 0, NULL, 0);

		buf_addc(&names, 0);
		buf_add(&names, s->function, strlen(s->function) + 1);
		elf_make_symbol(&m, &syms, 0, 0, 0, 0, 0, 0, 0);
		elf_make_symbol(&m, &syms, 1, 0x1000, 64, STB_GLOBAL, STT_FUNC, 0, 1);
		m.sections[i - 1].bytes = syms.data;
		m.sections[i - 1].len = syms.len;
		m.sections[i - 1].entsize = 24;
		m.sections[i - 1].link = (uint32_t)i + 1;
		elf_make_section(&m, ".strtab", SHT_STRTAB, 0, 0, names.data, names.len);
	}
	elf_make_finish(&m, &file);
	write_file(s->path, file.data, file.len);
	buf_release(&syms);
	buf_release(&names);
	buf_release(&file);
	buf_release(&note);
	buf_release(&link);
}

#define ID20(x) #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x
#define ID19(x) #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x #x

static const struct spec files[] = {
	{"bin/whole", "whole", 0x11, NULL, false},
	{"bin/by-id", "by_id_dynamic", 0x22, NULL, true},
	{"debug/.build-id/22/" ID19(22) ".debug", "by_id", 0x22, NULL, false},
	{"bin/.debug/linked.debug", "linked", 0, NULL, false},
	{"bin/linked", NULL, 0, "bin/.debug/linked.debug", false},
	{"bin/stale.debug", "new_version", 0, NULL, false},
	{"bin/stripped", NULL, 0x33, NULL, false},
	{"bin/dynamic", "dynamic", 0x44, NULL, true},
	{"bin/replaced", "replaced", 0x55, NULL, false},
	{"cache/.build-id/66/" ID19(66) "/elf", "cached", 0x66, NULL, false},
	{"debug/.build-id/77/" ID19(77) ".debug", "wrong_debug", 0x78, NULL, false},
	{"bin/wrong-debug", "own", 0x77, NULL, true},
	{"debug/.build-id/88/" ID19(88) ".debug", "orphan", 0x88, NULL, false},
	{"guest/usr/bin/tool", "guest_tool", 0x99, NULL, false},
	{"guest/flat", "guest_flat", 0x9a, NULL, false},
	{"root/bin/inner", "inner", 0x9b, NULL, false},
	{"bin/gone", "gone", 0x9c, NULL, false},
	{"bin/cut", "cut", 0, NULL, false},
	{"bin/no-sections", "none", 0, NULL, false},
	{"bin/cut-debug", NULL, 0x9d, NULL, false},
	{"debug/.build-id/9d/" ID19(9d) ".debug", "cut_debug", 0x9d, NULL, false},
};

static const struct {
	const char *path, *id; /* below the directory unless it begins with a slash */
	const char *function;  /* NULL: none */
	enum symtab_reason why;
	const char *what;
	bool symfs, root;
} finds[] = {
	{"bin/whole", "", "whole", 0, "the binary itself, no build-id recorded", 0, 0},
	{"bin/whole", ID20(11), "whole", 0, "the binary itself", 0, 0},
	{"bin/whole", ID20(12), NULL, SYMTAB_BUILD_ID, "another build", 0, 0},
	{"bin/by-id", ID20(22), "by_id", 0, "the debug file of that build-id", 0, 0},
	{"bin/by-id", "", "by_id", 0, "or of the one that the binary has", 0, 0},
	{"bin/linked", "", "linked", 0, "the debug link", 0, 0},
	{"bin/stale", "", NULL, SYMTAB_STRIPPED, "a debug link with another checksum", 0, 0},
	{"bin/stripped", ID20(33), NULL, SYMTAB_STRIPPED, "stripped", 0, 0},
	{"bin/dynamic", ID20(44), "dynamic", 0, "dynamic symbols when there is nothing better", 0,
	 0},
	{"bin/replaced", ID20(66), "cached", 0, "the cache, as the binary was replaced", 0, 0},
	{"bin/wrong-debug", ID20(77), "own", 0, "not a debug file of another build", 0, 0},
	{"bin/missing", ID20(88), "orphan", 0, "a debug file alone", 0, 0},
	{"bin/missing", "", NULL, SYMTAB_NOT_FOUND, "no file", 0, 0},
	{"/usr/bin/tool", "", "guest_tool", 0, "below a symfs directory", 1, 0},
	{"/somewhere/flat", ID20(9a), "guest_flat", 0, "by its bare name in one", 1, 0},
	{"/bin/sh", "", NULL, SYMTAB_NOT_FOUND, "not this machine's file instead", 1, 0},
	{"/bin/inner", "", "inner", 0, "below a root prefix", 0, 1},
	{"bin/gone (deleted)", ID20(9c), "gone", 0, "deleted, but the build-id is back", 0, 0},
	{"bin/gone (deleted)", "", NULL, SYMTAB_NOT_FOUND, "deleted, no proof", 0, 0},
	{"[heap]", "", NULL, SYMTAB_NOT_FOUND, "no file name at all", 0, 0},
	{"bin/cut", "", NULL, SYMTAB_CORRUPT, "a file without its end", 0, 0},
	{"bin/no-sections", "", NULL, SYMTAB_CORRUPT, "one with zeros for its sections", 0, 0},
	{"bin/cut-debug", ID20(9d), NULL, SYMTAB_STRIPPED, "stripped, its debug file cut off", 0,
	 0},
};

static void test_find(int i)
{
	char path[600], debug[600], symfs[600], cache[600], root[600];
	const char *debug_dirs[] = {debug};
	struct root *symfs_root;
	struct dso_search search = {.here = true,
				    .debug_dirs = debug_dirs,
				    .n_debug_dirs = 1,
				    .n_symfs = finds[i].symfs,
				    .cache = cache,
				    .root = finds[i].root ? root : NULL};
	struct build_id id = {0};
	enum symtab_reason why = SYMTAB_OK;
	struct symtab *t = NULL;
	struct symbol s;
	struct dso_file d;
	int rc;

	snprintf(debug, sizeof(debug), "%s/debug", dir);
	snprintf(symfs, sizeof(symfs), "%s/guest", dir);
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(path, sizeof(path), "%s%s%s", finds[i].path[0] == '/' ? "" : dir,
		 finds[i].path[0] == '/' ? "" : "/", finds[i].path);
	if (root_open(&symfs_root, symfs, NULL))
		abort();
	search.symfs = (const struct root *const[]){symfs_root};
	build_id_parse(finds[i].id, &id);
	rc = dso_file_find(path, &id, &search, &d);
	is_int(d.why, finds[i].why, "%s: %s", finds[i].what, symtab_reason_text(finds[i].why));
	is_int(rc, symtab_reason_err(finds[i].why), "%s: code", finds[i].what);
	ok(d.n_tried > 0, "%s: says where it looked", finds[i].what);
	is_int(dso_file_symtab(&d, NULL, &t, &why), rc, "%s: load", finds[i].what);
	is_str(symtab_find(t, 0x1010, &s) ? NULL : symtab_text(t, s.name), finds[i].function,
	       "%s: function", finds[i].what);
	ok(!t || d.segments.n == 1, "%s: segments", finds[i].what);
	symtab_free(t);
	dso_file_release(&d);
	root_free(symfs_root);
}

/* The last n bytes of a file, which are in its table of sections, go or become zeros. */
static void damage(const char *name, bool cut, size_t n)
{
	static const uint8_t zeros[2048];
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r+b");
	if (!f || n > sizeof(zeros) || fseek(f, -(long)n, SEEK_END))
		abort();
	if (cut ? ftruncate(fileno(f), ftell(f)) : fwrite(zeros, 1, n, f) != n)
		abort();
	fclose(f);
}

/* What was tried, in the order of the header. */
static void test_tried(void)
{
	char path[600], debug[600], want[1200];
	const char *debug_dirs[] = {debug};
	struct dso_search search = {
		.here = true, .debug_dirs = debug_dirs, .n_debug_dirs = 1, .cache = "/c"};
	struct build_id id;
	struct dso_file d;

	snprintf(path, sizeof(path), "%s/bin/stripped", dir);
	snprintf(debug, sizeof(debug), "%s/debug", dir);
	build_id_parse(ID20(33), &id);
	dso_file_find(path, &id, &search, &d);
	is_str(d.tried[0].path, path, "first the binary");
	is_int(d.tried[0].why, SYMTAB_STRIPPED, "which is stripped");
	snprintf(want, sizeof(want), "%s/.build-id/33/%s.debug", debug, ID19(33));
	is_str(d.tried[1].path, want, "then the debug file");
	is_int(d.tried[1].why, SYMTAB_NOT_FOUND, "which is missing");
	is_str(d.tried[d.n_tried - 3].path, "/c/.build-id/33/" ID19(33) "/elf", "then the cache");
	is_str(d.binary, path, "the binary is known");
	is_int((int64_t)d.segments.n, 1, "with its segments");
	dso_file_release(&d);
	snprintf(path, sizeof(path), "%s/bin/cut-debug", dir);
	build_id_parse(ID20(9d), &id);
	dso_file_find(path, &id, &search, &d);
	is_int(d.tried[1].why, SYMTAB_CORRUPT, "a debug file that is cut off is damaged");
	dso_file_release(&d);
}

static int ignore(void *ctx, const uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

/* A file that is cut short after it was opened is damaged. */
static void test_shrunk(void)
{
	struct dso_search search = {.cache = "", .here = true};
	enum symtab_reason why = SYMTAB_OK;
	struct symtab *t = NULL;
	struct dso_file d;
	char path[600];
	int rc;

	make(&(struct spec){"bin/shrinks", "shrinks", 0, NULL, false});
	snprintf(path, sizeof(path), "%s/bin/shrinks", dir);
	is_int(dso_file_find(path, NULL, &search, &d), 0, "a file is found");
	is_int(truncate(path, 100), 0, "and shrinks");
	rc = dso_file_symtab(&d, NULL, &t, &why);
	ok(rc && !t, "which is an error");
	is_int(rc, symtab_reason_err(why), "with a reason");
	ok(elf_file_copy(d.binary_elf, 1000, ignore, NULL) != 0, "also when it is copied");
	dso_file_release(&d);
}

/* A name that is no path is not taken for a file of the working directory. */
static void test_no_path(void)
{
	struct dso_search search = {.cache = "", .here = true};
	struct dso_file d;
	char bin[600];

	snprintf(bin, sizeof(bin), "%s/bin", dir);
	is_int(chdir(bin), 0, "beside a file of the same name");
	is_int(dso_file_find("whole", NULL, &search, &d), PP_ENOENT, "a bare name");
	is_int(d.why, SYMTAB_NOT_FOUND, "is not found");
	is_int((int64_t)d.n_tried, 0, "nor tried");
	dso_file_release(&d);
	is_int(chdir("/"), 0, "back");
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int main(void)
{

	if (!mkdtemp(dir))
		abort();
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		make(&files[i]);
	/* The debug file of bin/stale was rebuilt after the link was made. */
	make(&(struct spec){"bin/stale", NULL, 0, "bin/stale.debug", false});
	make(&(struct spec){"bin/stale.debug", "newer_version", 0, NULL, false});
	damage("bin/cut", true, 70);
	damage("bin/no-sections", false, 5 * 64);
	damage("debug/.build-id/9d/" ID19(9d) ".debug", true, 70);
	for (size_t i = 0; i < sizeof(finds) / sizeof(*finds); i++)
		test_find((int)i);
	test_tried();
	test_no_path();
	test_shrunk();
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
