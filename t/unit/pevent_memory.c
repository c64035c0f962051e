/*
 * Events of memory accesses by the trees of sysfs in t/data/memory. With arguments, TREE KIND
 * LDLAT: prints the words and what they mean, for t/record-mem.t, which asks perf.
 */
#include "base/err.h"
#include "pevent/pevent.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What perf mem record has of such a machine, and the words of its command line. */
static const struct {
	const char *tree;
	unsigned kinds, ldlat;
	const char *words; /* NULL: there are none */
} rows[] = {
	{"skylake", 3, 0, "cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P"},
	{"skylake", PEVENT_LOADS, 50, "cpu/mem-loads,ldlat=50/P"},
	{"skylake", PEVENT_STORES, 50, "cpu/mem-stores/P"},
	{"sapphire", 3, 0, "{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=30/}:P,cpu/mem-stores/P"},
	{"alder", 3, 0,
	 "cpu_atom/mem-loads,ldlat=30/P,{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=30/}:P,"
	 "cpu_atom/mem-stores/P,cpu_core/mem-stores/P"},
	{"power", 3, 0, "cpu/mem-loads/P,cpu/mem-stores/P"},
	{"amd", 3, 0, "ibs_op//"},
	{"amd", PEVENT_LOADS, 128, "ibs_op//"},
	{"arm", 3, 0, NULL},
	{"none", 3, 0, NULL},
};

static int words_of(const char *tree, unsigned kinds, unsigned ldlat, struct buf *words,
		    struct buf *why)
{
	struct pevents e = {.sys = tree};
	int rc;

	buf_reset(words);
	buf_reset(why);
	rc = pevents_memory(&e, kinds, ldlat, words, why);
	pevents_release(&e);
	return rc;
}

static void print(const struct pevents *e)
{
	for (size_t i = 0; i < e->n; i++)
		printf("%s %u 0x%" PRIx64 " 0x%" PRIx64 " %u %u\n", e->v[i].name, e->v[i].attr.type,
		       (uint64_t)e->v[i].attr.config, (uint64_t)e->v[i].attr.config1,
		       (unsigned)e->v[i].attr.precise_ip, e->v[i].group);
}

static int tell(char **argv)
{
	struct buf words = BUF_INIT, why = BUF_INIT;
	struct pevents e = {.sys = argv[1]};
	int rc = words_of(argv[1], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), &words, &why);

	if (!rc)
		rc = pevents_add(&e, buf_str(&words), &why);
	puts(rc ? buf_str(&why) : buf_str(&words));
	if (!rc)
		print(&e);
	pevents_release(&e);
	buf_release(&words);
	buf_release(&why);
	return rc ? 2 : 0;
}

int main(int argc, char **argv)
{
	const char *root = getenv("ROOT");
	struct buf words = BUF_INIT, why = BUF_INIT, tree = BUF_INIT;

	if (argc == 4)
		return tell(argv);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc;

		buf_reset(&tree);
		buf_addf(&tree, "%s/t/data/memory/%s", root ? root : ".", rows[i].tree);
		rc = words_of(buf_str(&tree), rows[i].kinds, rows[i].ldlat, &words, &why);
		is_int(rc, rows[i].words ? 0 : PP_ENOENT, "%s", rows[i].tree);
		is_str(buf_str(&words), rows[i].words ? rows[i].words : "", "its events");
		ok(rows[i].words || why.len, "or the reason");
	}
	buf_release(&tree);
	buf_release(&words);
	buf_release(&why);
	return done();
}
