/* Kernel symbols out of kallsyms: modules, duplicates, zeroed addresses. */
#include "symbol/kallsyms.h"

#include "base/err.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static const char sample[] = "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 t startup\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000040 t do_one\n"
			     "ffffffff81000080 W weak_one\n"
			     "ffffffff81000080 T strong_one\n"
			     "ffffffff810000c0 r a_constant\n"
			     "ffffffff81001000 T _etext\n"
			     "ffffffff81400000 d a_table\n"
			     "ffffffff81400100 B a_buffer\n"
			     "ffffffffc0100000 t ext4_open\t[ext4]\n"
			     "ffffffffc0100080 t $x\t[ext4]\n"
			     "ffffffffc0100100 T ext4_close\t[ext4]\n"
			     "ffffffffc0000000 t xfs_open [xfs]\n"
			     "ffffffffc0200000 t bpf_prog_6deef7357e7b4530\t[bpf]";

static const struct {
	uint64_t addr;
	const char *name, *module;
} lookups[] = {
	{0, "-", "-"},
	{0xffffffff80ffffff, "-", "-"},
	{0xffffffff81000000, "startup", ""}, /* it is a function */
	{0xffffffff81000041, "do_one", ""},
	{0xffffffff8100007f, "do_one", ""},
	{0xffffffff81000080, "strong_one", ""},
	{0xffffffff810000c0, "strong_one", ""}, /* a constant does not cut it off */
	{0xffffffff81001fff, "_etext", ""},
	{0xffffffff81400101, "a_buffer", ""},
	{0xffffffff81401fff, "a_buffer", ""}, /* the last one before the modules ends with a page */
	{0xffffffff81402000, "-", "-"},
	{0xffffffffc0000001, "xfs_open", "xfs"},
	{0xffffffffc0002000, "-", "-"},
	{0xffffffffc0100081, "ext4_open", "ext4"}, /* mapping symbols do not count */
	{0xffffffffc0100100, "ext4_close", "ext4"},
	{0xffffffffc0200010, "bpf_prog_6deef7357e7b4530", "bpf"},
};

static void test_lookups(void)
{
	enum symtab_reason why;
	struct kallsyms k;

	is_int(kallsyms_parse(sample, strlen(sample), NULL, &k, &why), 0, "parses");
	is_int(why, SYMTAB_OK, "with the reason that says so");
	for (size_t i = 0; i < sizeof(lookups) / sizeof(*lookups); i++) {
		struct symbol s;
		bool found = !symtab_find(k.table, lookups[i].addr, &s);

		is_str(found ? symtab_text(k.table, s.name) : "-", lookups[i].name, "%" PRIx64,
		       lookups[i].addr);
		is_str(found ? symtab_text(k.table, s.module) : "-", lookups[i].module,
		       "%" PRIx64 ": module", lookups[i].addr);
	}
	is_u64(k.text, 0xffffffff81000000, "_text");
	is_u64(k.stext, 0xffffffff81000000, "_stext");
	is_u64(k.etext, 0xffffffff81001000, "_etext");
	is_u64(k.delta, 0, "not moved");
	is_int(k.skipped, 0, "every line is understood");
	kallsyms_release(&k);
	ok(!k.table, "released");
}

static void test_relocation(void)
{
	struct kallsyms_opts same = {"_text", 0xffffffff81000000, false};
	struct kallsyms_opts moved = {"_text", 0xffffffff9a400000, false};
	struct kallsyms_opts missing = {"_sinittext", 1, false};
	enum symtab_reason why;
	struct kallsyms k;
	struct symbol s;

	is_int(kallsyms_parse(sample, strlen(sample), &same, &k, &why), 0, "the same place");
	is_u64(k.delta, 0, "no difference");
	is_int(symtab_find(k.table, 0xffffffffc0100000, &s), 0, "modules stay");
	kallsyms_release(&k);

	is_int(kallsyms_parse(sample, strlen(sample), &moved, &k, &why), 0, "another place");
	is_u64(k.delta, 0x19400000, "the difference");
	is_int(symtab_find(k.table, 0xffffffff9a400050, &s), 0, "a symbol at its recorded place");
	is_str(symtab_text(k.table, s.name), "do_one", "by name");
	is_u64(s.start, 0xffffffff9a400040, "and start");
	is_int(symtab_find(k.table, 0xffffffff81000050, &s), PP_ENOENT, "not at today's");
	is_int(symtab_find(k.table, 0xffffffffc0100000, &s), PP_ENOENT,
	       "modules, whose old place is unknown, are left out");
	kallsyms_release(&k);

	is_int(kallsyms_parse(sample, strlen(sample), &missing, &k, &why), PP_EMISMATCH,
	       "no such reference");
	is_int(why, SYMTAB_NO_REF, "is reported");
}

/* Of several symbols with one address: the one that says most; or the last, as perf 6.1 has it. */
static void test_equals(void)
{
	static const struct {
		const char *first, *second, *best;
	} rows[] = {
		{"T __lock_text_start", "T _raw_spin_lock", "_raw_spin_lock"},
		{"T __irqentry_text_end", "t __a_function", "__a_function"},
		{"T _stext", "t startup", "startup"},
		{"T sys_ni_syscall", "W compat_sys_epoll_pwait", "sys_ni_syscall"},
		{"t __do_sys_getpid", "T __x64_sys_getpid", "__x64_sys_getpid"},
		{"T __ia32_sys_vfork", "T __x64_sys_vfork", "__x64_sys_vfork"},
		{"T short", "T much_longer", "much_longer"},
		{"T text_start", "T _short", "text_start"},
	};
	struct kallsyms_opts last = {.last = true};
	enum symtab_reason why;
	struct kallsyms k;
	struct symbol s;
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int turn = 0; turn < 4; turn++) {
			const char *one = turn & 1 ? rows[i].second : rows[i].first;
			const char *two = turn & 1 ? rows[i].first : rows[i].second;
			uint64_t addr = UINT64_C(0xffffffff81000000) + (turn & 2 ? 0x3f : 0);

			snprintf(text, sizeof(text),
				 "ffffffff80ffff00 T before\nffffffff81000000 %s\n"
				 "ffffffff81000000 %s\nffffffff81000040 T after\n",
				 one, two);
			kallsyms_parse(text, strlen(text), NULL, &k, &why);
			is_str(symtab_find(k.table, addr, &s) ? "-" : symtab_text(k.table, s.name),
			       rows[i].best, "%s, %s", one, two);
			kallsyms_release(&k);
			kallsyms_parse(text, strlen(text), &last, &k, &why);
			is_str(symtab_find(k.table, addr, &s) ? "-" : symtab_text(k.table, s.name),
			       two + 2, "%s, %s: the last", one, two);
			kallsyms_release(&k);
		}
}

static void test_refusals(void)
{
	static const struct {
		const char *text;
		int rc;
		enum symtab_reason why;
	} rows[] = {
		{"", PP_ENOENT, SYMTAB_STRIPPED},
		{"0000000000000000 T _text\n0000000000000000 t a\n", PP_EACCES, SYMTAB_RESTRICTED},
		{"hello\nworld\n", PP_ECORRUPT, SYMTAB_CORRUPT},
		{"12345678123456781 T too_long\n", PP_ECORRUPT, SYMTAB_CORRUPT},
		{"ffffffff81000000 T \n", PP_ECORRUPT, SYMTAB_CORRUPT},
		{"ffffffff81000000 R constant\n", PP_ENOENT, SYMTAB_STRIPPED},
	};
	struct kallsyms k;
	enum symtab_reason why;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_int(kallsyms_parse(rows[i].text, strlen(rows[i].text), NULL, &k, &why),
		       rows[i].rc, "row %zu", i);
		is_int(why, rows[i].why, "row %zu: %s", i, symtab_reason_text(rows[i].why));
	}
}

static void test_cut(void)
{
	int bad = 0;

	for (size_t n = 0; n <= strlen(sample); n++) {
		char *copy = malloc(n ? n : 1);
		enum symtab_reason why;
		struct kallsyms k;
		int rc;

		if (!copy)
			abort();
		memcpy(copy, sample, n);
		rc = kallsyms_parse(copy, n, NULL, &k, &why);
		bad += (rc == 0) != (why == SYMTAB_OK) || (rc == 0) != (k.table != NULL);
		kallsyms_release(&k);
		free(copy);
	}
	is_int(bad, 0, "cut at every byte");
}

int main(void)
{
	test_lookups();
	test_relocation();
	test_equals();
	test_refusals();
	test_cut();
	return done();
}
