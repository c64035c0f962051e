/* Address spaces: mappings, fork, exec, exit. */
#include "symbol/space.h"

#include "base/ended.h"
#include "base/err.h"
#include "tap.h"

#include <malloc.h>
#include <stdlib.h>

/* ---- by hand ---- */

static int add(struct spaces *s, uint32_t pid, uint64_t start, uint64_t end, uint64_t pgoff,
	       uint32_t dso)
{
	struct map m = {.start = start, .end = end, .pgoff = pgoff, .dso = dso};

	return spaces_map(s, pid, &m);
}

/* What is at an address: "dso:file offset", or "-". */
static const char *at(const struct spaces *s, uint32_t pid, uint64_t addr)
{
	struct space *sp = spaces_get(s, pid);
	const struct map *m = sp ? space_find(sp, addr) : NULL;
	static char text[64];

	if (!m)
		return "-";
	snprintf(text, sizeof(text), "%u:%" PRIx64, m->dso, addr - m->start + m->pgoff);
	return text;
}

static uint32_t serial(const struct spaces *s, uint32_t pid)
{
	struct space *sp = spaces_get(s, pid);

	return sp ? space_serial(sp) : 0;
}

static void test_overlaps(void)
{
	struct spaces *s;

	spaces_new(&s);
	ok(!spaces_get(s, 1), "nothing is known of a process");
	is_int(add(s, 1, 0x1000, 0x5000, 0x10000, 1), 0, "a mapping");
	is_str(at(s, 1, 0x0fff), "-", "before it");
	is_str(at(s, 1, 0x1000), "1:10000", "its first byte");
	is_str(at(s, 1, 0x4fff), "1:13fff", "its last byte");
	is_str(at(s, 1, 0x5000), "-", "after it");
	add(s, 1, 0x2000, 0x3000, 0, 2);
	is_str(at(s, 1, 0x1fff), "1:10fff", "split: the piece before");
	is_str(at(s, 1, 0x2000), "2:0", "split: the new one");
	is_str(at(s, 1, 0x3000), "1:12000", "split: the piece after has its own offset");
	add(s, 1, 0x1800, 0x2800, 0, 3);
	is_str(at(s, 1, 0x17ff), "1:107ff", "the end of an older one is cut");
	is_str(at(s, 1, 0x27ff), "3:fff", "over two of them");
	is_str(at(s, 1, 0x2800), "2:800", "the beginning of an older one is cut");
	add(s, 1, 0, 0x10000, 0, 4);
	is_str(at(s, 1, 0x2800), "4:2800", "all older ones are covered");
	is_int(add(s, 1, 0x3000, 0x3000, 0, 5), 0, "an empty mapping is none");
	is_str(at(s, 1, 0x3000), "4:3000", "and changes nothing");
	add(s, 1, UINT64_MAX - 0xfff, UINT64_MAX, 0, 6);
	is_str(at(s, 1, UINT64_MAX - 1), "6:ffe", "at the end of the addresses");
	spaces_free(s);
	spaces_free(NULL);
}

static void test_fork(void)
{
	struct spaces *s;
	uint32_t before;

	spaces_new(&s);
	add(s, 1, 0x1000, 0x2000, 0, 1);
	before = serial(s, 1);
	spaces_fork(s, 2, 1);
	is_u64(serial(s, 2), before, "a child's space is its parent's");
	add(s, 2, 0x1000, 0x2000, 0, 2);
	is_str(at(s, 1, 0x1000), "1:0", "the parent's stays when the child's changes");
	is_str(at(s, 2, 0x1000), "2:0", "the child's changes");
	is_u64(serial(s, 1), before, "the parent's serial stays");
	ok(serial(s, 2) != before, "the child's does not");
	spaces_fork(s, 3, 99);
	ok(!spaces_get(s, 3), "a child of an unknown process is unknown");
	spaces_fork(s, 2, 99);
	ok(!spaces_get(s, 2), "also when its pid was in use");
	spaces_fork(s, 1, 1);
	is_str(at(s, 1, 0x1000), "1:0", "a process that is its own parent");
	spaces_clear(s, 1);
	ok(!spaces_get(s, 1), "cleared");
	spaces_free(s);
}

static void test_serial(void)
{
	struct spaces *s;
	uint32_t a;

	spaces_new(&s);
	add(s, 1, 0x1000, 0x2000, 0, 1);
	at(s, 1, 0x1000);
	a = serial(s, 1);
	add(s, 1, 0x3000, 0x4000, 0, 2);
	is_u64(serial(s, 1), a, "a mapping where nobody looked changes no meaning");
	at(s, 1, 0x5000);
	add(s, 1, 0x6000, 0x7000, 0, 2);
	ok(serial(s, 1) != a, "after a look at an unmapped address any mapping may");
	a = serial(s, 1);
	add(s, 1, 0x8000, 0x9000, 0, 2);
	is_u64(serial(s, 1), a, "once");
	add(s, 1, 0x1800, 0x2800, 0, 2);
	ok(serial(s, 1) != a, "what covers another does");
	spaces_free(s);
}

static void test_exec(void)
{
	struct spaces *s;
	uint32_t a;

	spaces_new(&s);
	is_int(spaces_exec(s, 7), 0, "exec of an unknown process");
	is_int(spaces_settle(s, 7), 0, "that settles");
	add(s, 1, 0x1000, 0x2000, 0, 1);
	add(s, 1, 0x3000, 0x5000, 0, 1);
	spaces_fork(s, 2, 1);
	spaces_exec(s, 2);
	is_str(at(s, 2, 0x1000), "1:0", "the old image stays while the new is set up");
	add(s, 2, 0x4000, 0x6000, 0, 2);
	is_str(at(s, 2, 0x3000), "1:0", "what the new does not cover, too");
	a = serial(s, 2);
	spaces_settle(s, 2);
	is_str(at(s, 2, 0x1000), "-", "it goes when the new runs");
	is_str(at(s, 2, 0x3000), "-", "the rest of a covered one, too");
	is_str(at(s, 2, 0x4000), "2:0", "the new stays");
	ok(serial(s, 2) != a, "and that has a new serial");
	a = serial(s, 2);
	spaces_settle(s, 2);
	is_u64(serial(s, 2), a, "to settle twice changes nothing");
	is_str(at(s, 1, 0x1000), "1:0", "the parent keeps its image");
	spaces_free(s);
}

static void test_exit(void)
{
	struct spaces *s;
	uint32_t gone = 0;

	spaces_new(&s);
	for (uint32_t pid = 1; pid <= ENDED_MAX + 2; pid++) {
		add(s, pid, 0x1000, 0x2000, 0, pid);
		spaces_exit(s, pid);
	}
	ok(!spaces_get(s, 1) && !spaces_get(s, 2), "the oldest that ended are forgotten");
	for (uint32_t pid = 3; pid <= ENDED_MAX + 2; pid++)
		gone += !spaces_get(s, pid);
	is_int(gone, 0, "the others are still known");
	/* 3 is used again: the end of the old process must not take the new one's mappings. */
	spaces_fork(s, 3, 4);
	for (uint32_t pid = 0; pid < ENDED_MAX + 5; pid++) {
		add(s, 100000 + pid, 0x1000, 0x2000, 0, 7);
		spaces_exit(s, 100000 + pid);
	}
	is_str(at(s, 3, 0x1000), "4:0", "a pid that is used again is not forgotten");
	ok(!spaces_get(s, 5), "one that is not, is");
	is_str(at(s, 100000 + ENDED_MAX, 0x1000), "7:0",
	       "places of those that were forgotten serve others");
	spaces_free(s);
}

static void test_limit(void)
{
	struct spaces *s;
	int rc = 0;

	spaces_new(&s);
	for (uint64_t i = 0; i < MAPS_MAX && !rc; i++)
		rc = add(s, 1, i * 0x2000, i * 0x2000 + 0x1000, 0, 1);
	is_int(rc, 0, "as many mappings as a space holds");
	is_int(add(s, 1, 0x1000, 0x2000, 0, 2), PP_ELIMIT, "one more");
	is_int(add(s, 1, 0x400, 0x800, 0, 2), PP_ELIMIT, "one that splits another");
	is_str(at(s, 1, 0x400), "1:400", "which is then not split");
	is_int(add(s, 1, 0, 0x9000, 0, 3), 0, "one that takes the place of others");
	is_str(at(s, 1, 0x1000), "3:1000", "is there");
	spaces_free(s);
}

/*
 * Processes that share most of their mappings share the memory for them: 20,000 children of a
 * process with 20,000 mappings, each of which maps one more, and as many that replace their
 * image.
 */
static void test_share(void)
{
	const uint32_t maps = 20000, children = 20000;
	struct mallinfo2 before = mallinfo2(), after;
	struct spaces *s;
	uint32_t wrong = 0;

	spaces_new(&s);
	for (uint64_t i = 0; i < maps; i++)
		add(s, 1, i * 0x2000, i * 0x2000 + 0x1000, 0, 1);
	for (uint32_t pid = 2; pid < 2 + children; pid++) {
		uint64_t page = pid * 7919ull % maps * 0x2000;

		spaces_fork(s, pid, 1);
		add(s, pid, page, page + 0x1000, 0, pid);
		spaces_fork(s, pid + children, 1);
		spaces_exec(s, pid + children);
		add(s, pid + children, page + 0x400, page + 0x800, 0, pid);
	}
	for (uint32_t pid = 2; pid < 2 + children; pid++) {
		uint64_t page = pid * 7919ull % maps * 0x2000,
			 other = (page + 0x2000) % (maps * 0x2000);
		struct space *sp = spaces_get(s, pid), *ex = spaces_get(s, pid + children);

		wrong += space_find(sp, page)->dso != pid || space_find(sp, other)->dso != 1 ||
			 space_find(ex, page + 0x400)->dso != pid || space_find(ex, page)->dso != 1;
	}
	is_int(wrong, 0, "each child has its own mappings and its parent's");
	after = mallinfo2();
	ok(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 120u << 20,
	   "in less than 120 MB: %zu MB", (after.uordblks + after.hblkhd) >> 20);
	spaces_free(s);
}

/* ---- against a model ---- */

#define PIDS  6
#define PAGES 400

/* Per process and page what is mapped: DSO * 256 + page of the file + 1; 0 nothing. */
struct model {
	bool known[PIDS], exec[PIDS];
	uint32_t page[PIDS][PAGES];
	bool old[PIDS][PAGES];
	/* What was found with a serial number: -1 not looked up. */
	struct {
		uint32_t serial;
		int32_t page[PAGES];
	} seen[PIDS];
};

static uint32_t seed = 20261;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void model_map(struct model *m, struct spaces *s)
{
	uint32_t pid = pick(PIDS), from = pick(PAGES), dso = 1 + pick(9),
		 n = 1 + pick(pick(16) ? 3 : PAGES);
	uint32_t off = pick(100);

	n = n > PAGES - from ? PAGES - from : n;
	add(s, pid, from << 12, (from + n) << 12, (uint64_t)off << 12, dso);
	m->known[pid] = true;
	for (uint32_t i = 0; i < n; i++) {
		m->page[pid][from + i] = dso * 256 + off + i + 1;
		m->old[pid][from + i] = false;
	}
}

static void model_fork(struct model *m, struct spaces *s)
{
	uint32_t pid = pick(PIDS), parent = pick(PIDS);

	spaces_fork(s, pid, parent);
	m->known[pid] = m->known[parent];
	m->exec[pid] = m->exec[parent];
	memmove(m->page[pid], m->page[parent], sizeof(m->page[0]));
	memmove(m->old[pid], m->old[parent], sizeof(m->old[0]));
}

/* If the image that is replaced has mapped something, that of before it is gone. */
static void model_exec(struct model *m, struct spaces *s)
{
	uint32_t pid = pick(PIDS);
	bool mapped = false;

	spaces_exec(s, pid);
	for (int i = 0; i < PAGES; i++)
		mapped |= m->page[pid][i] && !m->old[pid][i];
	for (int i = 0; i < PAGES; i++)
		if (m->exec[pid] && mapped && m->old[pid][i])
			m->page[pid][i] = 0;
	m->exec[pid] = m->known[pid];
	memset(m->old[pid], 1, sizeof(m->old[0]));
}

static void model_settle(struct model *m, struct spaces *s)
{
	uint32_t pid = pick(PIDS);

	spaces_settle(s, pid);
	for (int i = 0; i < PAGES; i++)
		if (m->exec[pid] && m->old[pid][i])
			m->page[pid][i] = 0;
	m->exec[pid] = false;
}

static void model_clear(struct model *m, struct spaces *s)
{
	uint32_t pid = pick(PIDS);

	spaces_clear(s, pid);
	m->known[pid] = m->exec[pid] = false;
	memset(m->page[pid], 0, sizeof(m->page[0]));
}

/* Looks a page up: right, and what was found before with this serial is still true. */
static bool check(struct model *m, struct spaces *s, uint32_t pid, uint32_t page)
{
	struct space *sp = spaces_get(s, pid);
	const struct map *map = sp ? space_find(sp, (page << 12) + 5) : NULL;
	uint32_t got = 0;

	if (!sp)
		return !m->known[pid];
	if (map)
		got = map->dso * 256 + (uint32_t)(((page << 12) - map->start + map->pgoff) >> 12) +
		      1;
	if (m->seen[pid].serial != space_serial(sp)) {
		memset(&m->seen[pid], 0xff, sizeof(m->seen[0]));
		m->seen[pid].serial = space_serial(sp);
	}
	if (m->seen[pid].page[page] >= 0 && (uint32_t)m->seen[pid].page[page] != got)
		return false;
	m->seen[pid].page[page] = (int32_t)got;
	return m->known[pid] && got == m->page[pid][page];
}

/* Everything that was found before with serials that are still in use. */
static bool still_true(struct model *m, struct spaces *s)
{
	for (uint32_t pid = 0; pid < PIDS; pid++)
		for (uint32_t page = 0; page < PAGES; page++)
			if (serial(s, pid) && serial(s, pid) == m->seen[pid].serial &&
			    m->seen[pid].page[page] >= 0 &&
			    (uint32_t)m->seen[pid].page[page] != m->page[pid][page])
				return false;
	return true;
}

static void test_model(void)
{
	static struct model m;
	bool right = true, fresh = true;
	struct spaces *s;
	int step;

	spaces_new(&s);
	for (step = 0; step < 60000 && right && fresh; step++) {
		switch (pick(16)) {
		case 0:
		case 1: model_fork(&m, s); break;
		case 2: model_exec(&m, s); break;
		case 3: model_settle(&m, s); break;
		case 4: model_clear(&m, s); break;
		case 5:
		case 6:
		case 7: model_map(&m, s); break;
		default: right = check(&m, s, pick(PIDS), pick(PAGES));
		}
		fresh = still_true(&m, s);
	}
	ok(right, "60000 random steps: every address as in the model (step %d)", step);
	ok(fresh, "a serial that stays means that what was found is still true (step %d)", step);
	spaces_free(s);
}

int main(void)
{
	test_overlaps();
	test_fork();
	test_serial();
	test_exec();
	test_exit();
	test_limit();
	test_share();
	test_model();
	return done();
}
