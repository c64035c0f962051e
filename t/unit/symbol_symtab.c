/* Symbol tables: which symbol is at an address. */
#include "symbol/symtab.h"

#include "base/err.h"
#include "symbol/symtab_build.h"
#include "tap.h"

#include <stdlib.h>

struct row {
	uint64_t start, end;
	const char *name;
	enum symtab_bind bind;
	const char *module;
};

static struct symtab *build(const struct row *rows, size_t n, enum symtab_ends how)
{
	struct symtab_builder b = {0};
	struct symtab *t = NULL;

	for (size_t i = 0; i < n; i++) {
		struct symtab_raw r = {
			.start = rows[i].start, .end = rows[i].end, .bind = (uint8_t)rows[i].bind};

		symtab_builder_text(&b, rows[i].name, strlen(rows[i].name) + 1, &r.name);
		if (rows[i].module) /* the same text each time, as kallsyms does it */
			r.module = (uint32_t)rows[i].module[0];
		if (symtab_builder_add(&b, &r))
			abort();
	}
	if (symtab_builder_fix_ends(&b, how) || symtab_builder_unify(&b) ||
	    symtab_builder_finish(&b, &t))
		abort();
	return t;
}

static const char *name_at(const struct symtab *t, uint64_t addr)
{
	struct symbol s;

	return symtab_find(t, addr, &s) ? "-" : symtab_text(t, s.name);
}

/* Which of two symbols at one address is kept, in both orders of arrival. */
static void test_choice(void)
{
	static const struct {
		struct row x, y;
		const char *best, *best_swapped;
		const char *why;
	} rows[] = {
		{{16, 32, "a", SYMTAB_WEAK, 0},
		 {16, 16, "b", SYMTAB_GLOBAL, 0},
		 "b",
		 "a",
		 "without a size: the last of the address gets the next start as its end"},
		{{16, 32, "a", SYMTAB_WEAK, 0},
		 {16, 32, "b", SYMTAB_LOCAL, 0},
		 "b",
		 "b",
		 "local before weak"},
		{{16, 32, "a", SYMTAB_LOCAL, 0},
		 {16, 32, "b", SYMTAB_GLOBAL, 0},
		 "b",
		 "b",
		 "global before local"},
		{{16, 32, "__abcdef", 1, 0},
		 {16, 32, "_ab", 1, 0},
		 "_ab",
		 "_ab",
		 "fewer underscores"},
		{{16, 32, "read", 1, 0}, {16, 32, "read64", 1, 0}, "read64", "read64", "longer"},
		{{16, 32, "aaa", 1, 0}, {16, 32, "bbb", 1, 0}, "aaa", "bbb", "else the first"},
		{{16, 32, "SyS_a", 1, 0},
		 {16, 32, "sys_a", 1, 0},
		 "sys_a",
		 "sys_a",
		 "not the SyS alias"},
		{{16, 32, "_ZN1AC1Ev", 1, 0},
		 {16, 32, "_ZN1AC2Ev", 1, 0},
		 "_ZN1AC1Ev",
		 "_ZN1AC2Ev",
		 "equal when demangled: the first"},
		{{16, 32, "_Z3foov", 1, 0},
		 {16, 32, "_quux", 1, 0},
		 "_Z3foov",
		 "_Z3foov",
		 "underscores are counted in the demangled name"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row in[] = {rows[i].x, rows[i].y, {64, 80, "next", SYMTAB_GLOBAL, 0}};
		struct row swapped[] = {in[2], in[1], in[0]};
		struct symtab *t = build(in, 3, SYMTAB_ENDS_NEXT);

		is_str(name_at(t, 20), rows[i].best, "%s", rows[i].why);
		is_int(symtab_count(t), 2, "one symbol is kept for each address");
		symtab_free(t);
		t = build(swapped, 3, SYMTAB_ENDS_NEXT);
		/* A symbol without a size that comes first keeps none, so the sized one wins. */
		is_str(name_at(t, 20), rows[i].best_swapped, "the other way: %s", rows[i].why);
		symtab_free(t);
	}
}

static void test_nesting(void)
{
	static const struct row rows[] = {
		{100, 200, "outer", 1, 0},  {120, 140, "inner", 1, 0}, {130, 135, "core", 1, 0},
		{190, 230, "beyond", 1, 0}, {300, 310, "far", 1, 0},
	};
	static const struct {
		uint64_t addr;
		const char *name;
	} want[] = {
		{0, "-"},	 {99, "-"},	  {100, "outer"}, {119, "outer"},
		{120, "inner"},	 {129, "inner"},  {130, "core"},  {134, "core"},
		{135, "inner"},	 {140, "outer"},  {189, "outer"}, {190, "beyond"},
		{200, "beyond"}, {229, "beyond"}, {230, "-"},	  {299, "-"},
		{300, "far"},	 {309, "far"},	  {310, "-"},	  {UINT64_MAX, "-"},
	};
	struct symtab *t = build(rows, 5, SYMTAB_ENDS_NEXT);

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		is_str(name_at(t, want[i].addr), want[i].name, "address %d", (int)want[i].addr);
	symtab_free(t);
}

static void test_ends(void)
{
	static const struct row rows[] = {
		{0x1000, 0x1000, "a", 1, 0},	{0x1010, 0x1010, "b", 1, 0},
		{0x9000, 0x9000, "m1", 1, "m"}, {0x9100, 0x9100, "m2", 1, "m"},
		{0xf000, 0xf000, "n1", 1, "n"}, {0xf010, 0xf010, "n2", 1, "n"},
	};
	struct symtab *t = build(rows, 6, SYMTAB_ENDS_KALLSYMS);

	is_str(name_at(t, 0x100f), "a", "a symbol reaches to the next");
	is_str(name_at(t, 0x2fff), "b",
	       "the kernel's last symbol reaches to the end of the next page");
	is_str(name_at(t, 0x3000), "-", "and not beyond");
	is_str(name_at(t, 0xafff), "m2", "so does the last of a module");
	is_str(name_at(t, 0xb000), "-", "and no more");
	is_str(name_at(t, 0xefff), "-", "the gap between modules has no symbol");
	is_str(name_at(t, 0x10fff), "n2", "the last of all reaches a page further");
	is_str(name_at(t, 0x11000), "-", "and not more");
	symtab_free(t);
	t = build(rows, 6, SYMTAB_ENDS_NEXT);
	is_str(name_at(t, 0x8fff), "b", "in an ELF file the gap belongs to the symbol before it");
	symtab_free(t);
}

/* Random ranges against a plain search for the containing symbol that starts last. */
static void test_random(void)
{
	enum { N = 300, SPACE = 2000 };
	static char names[N][8];
	struct row rows[N];
	uint64_t state = 1;
	int wrong = 0;

	for (int round = 0; round < 20; round++) {
		bool taken[SPACE] = {false};
		struct symtab *t;

		for (int i = 0; i < N; i++) {
			uint64_t start;

			do {
				state = state * 6364136223846793005u + 1442695040888963407u;
				start = (state >> 33) % SPACE;
			} while (taken[start]);
			taken[start] = true;
			snprintf(names[i], sizeof(names[i]), "s%d", i);
			rows[i] = (struct row){start << (round * 2),
					       (start + 1 + (state >> 50) % 60) << (round * 2),
					       names[i], SYMTAB_GLOBAL, NULL};
		}
		t = build(rows, N, SYMTAB_ENDS_NEXT);
		for (uint64_t a = 0; a < SPACE + 100; a++) {
			const struct row *best = NULL;
			uint64_t addr = (a << (round * 2)) + (a & ((1u << round) - 1));

			for (int i = 0; i < N; i++)
				if (rows[i].start <= addr && addr < rows[i].end &&
				    (!best || rows[i].start > best->start))
					best = &rows[i];
			wrong += strcmp(name_at(t, addr), best ? best->name : "-") != 0;
		}
		symtab_free(t);
	}
	is_int(wrong, 0, "20 random tables agree with a plain search");
}

static void test_edges(void)
{
	static const struct row top = {UINT64_MAX - 4, UINT64_MAX - 4, "top", 1, 0};
	struct symtab_builder b = {0};
	struct symtab *t = NULL;
	struct symbol s;

	is_int(symtab_find(NULL, 1, &s), PP_ENOENT, "no table, no symbol");
	is_int(symtab_builder_finish(&b, &t), 0, "a table without symbols");
	is_int(symtab_find(t, 0, &s), PP_ENOENT, "has none");
	is_str(symtab_text(t, 7), "", "nor a name");
	symtab_free(t);
	t = build(&top, 1, SYMTAB_ENDS_NEXT);
	is_str(name_at(t, UINT64_MAX - 1), "top", "the top of the address space does not wrap");
	is_str(name_at(t, 0), "-", "to zero");
	is_int(symtab_find(t, UINT64_MAX - 2, &s), 0, "found");
	is_u64(s.start, UINT64_MAX - 4, "with its start");
	is_int(s.index, 0, "and index");
	symtab_free(t);
	symtab_free(NULL);
}

int main(void)
{
	test_choice();
	test_nesting();
	test_ends();
	test_random();
	test_edges();
	return done();
}
