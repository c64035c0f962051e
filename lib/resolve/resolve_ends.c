/* What became of the stacks that were unwound, and what would help those that are not whole. */
#include "resolve/resolve_parts.h"

#include "base/array.h"
#include "base/err.h"
#include "stream/ends.h"
#include "symbol/package.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAX  65528 /* bytes of a stack that the kernel copies at most */
#define FILES_MAX 5	/* files that are named for each kind of end */

typedef unsigned long long ull;

/* ---- collecting ---- */

/* The index of a thread in tops, + 1; 0: no room, or out of memory. */
static uint32_t thread_of(struct ends *e, uint64_t thread)
{
	uint32_t *slot = map64_get(&e->by_thread, thread);
	uint64_t *tops;

	if (slot)
		return *slot;
	if (e->ntops >= ENDS_MAX)
		return 0;
	tops = array_widen(e->tops, &e->tops_cap, e->ntops, 16, sizeof(*tops));
	if (!tops)
		return 0;
	e->tops = tops;
	slot = map64_put(&e->by_thread, thread, NULL);
	if (!slot)
		return 0;
	tops[e->ntops] = 0;
	return *slot = ++e->ntops;
}

/* A stack that was cut: how large a copy it needs is known when whole ones have been seen. */
static int add_cut(struct ends *e, uint32_t thread, uint64_t sp, size_t len)
{
	struct cut_stack *v;

	if (e->ncut >= ENDS_MAX)
		return 0;
	v = array_widen(e->cut, &e->cut_cap, e->ncut, 64, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	e->cut = v;
	v[e->ncut++] = (struct cut_stack){sp, thread - 1, (uint32_t)len};
	return 0;
}

static int add_file(struct ends *e, uint32_t end, const char *path)
{
	uint32_t file, *slot;
	struct end_count *v;
	int rc = intern_add(&e->files, path, strlen(path) + 1, &file, NULL);

	if (rc || e->ncounts >= ENDS_MAX)
		return rc;
	slot = map64_put(&e->by_file, (uint64_t)end << 32 | file, NULL);
	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		v = array_widen(e->counts, &e->counts_cap, e->ncounts, 16, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		e->counts = v;
		v[e->ncounts] = (struct end_count){.end = end, .file = file};
		*slot = ++e->ncounts;
	}
	e->counts[*slot - 1].stacks++;
	return 0;
}

int resolve_ends_add(struct resolver *r, const struct unwound *u)
{
	struct ends *e = &r->ends;
	uint32_t t;

	r->stats.unwound++;
	r->stats.unwound_frames += u->frames;
	r->stats.ends[u->end]++;
	if (!r->opts.stats)
		return 0;
	switch (u->end) {
	case UNWIND_OUTERMOST:
	case UNWIND_COPY:
		t = u->frames ? thread_of(e, u->thread) : 0;
		if (!t)
			return 0;
		if (u->end == UNWIND_COPY)
			return add_cut(e, t, u->inner, u->len);
		if (u->outer > e->tops[t - 1])
			e->tops[t - 1] = u->outer;
		return 0;
	case UNWIND_NO_CFI:
	case UNWIND_NO_FILE:
	case UNWIND_BUILD_ID:
	case UNWIND_DAMAGED:
	case UNWIND_GENERATED: return u->file ? add_file(e, u->end, u->file) : 0;
	default: return 0;
	}
}

void resolve_ends_release(struct resolver *r)
{
	struct ends *e = &r->ends;

	map64_release(&e->by_thread);
	map64_release(&e->by_file);
	intern_release(&e->files);
	free(e->tops);
	free(e->cut);
	free(e->counts);
	*e = (struct ends){0};
}

/* ---- reporting ---- */

/* The shares of the cut stacks that larger copies would hold. */
static void say_sizes(const struct ends *e, struct diag *d)
{
	uint32_t known = 0, largest = 0, sizes[] = {8192, 16384, 32768, COPY_MAX}, fit[4] = {0};
	struct buf b = BUF_INIT;

	for (uint32_t i = 0; i < e->ncut; i++) {
		const struct cut_stack *c = &e->cut[i];
		uint64_t top = e->tops[c->thread];

		if (c->len > largest)
			largest = c->len;
		if (top <= c->sp)
			continue;
		known++;
		for (int k = 0; k < 4; k++)
			fit[k] += top - c->sp < sizes[k];
	}
	for (int k = 0; k < 4; k++)
		if (known && sizes[k] > largest && fit[k] && (!k || fit[k] > fit[k - 1]))
			buf_addf(&b,
				 b.len ? ", %" PRIu32 " for %.0f %%"
				       : ": %" PRIu32 " bytes are enough for %.0f %% of these",
				 sizes[k], 100.0 * fit[k] / known);
	if (b.len || largest < COPY_MAX - COPY_MAX / 8)
		diag_say(d, NULL, "  record larger copies (--call-graph dwarf,%s)%s",
			 b.len ? "SIZE" : "65528", buf_str(&b));
	else
		diag_say(d, NULL, "  copies cannot be larger: these stacks are deeper than 64 kB");
	buf_release(&b);
}

/* The files that most of the stacks of one kind end in. */
static void say_files(const struct ends *e, uint32_t end, struct diag *d)
{
	uint64_t below = UINT64_MAX;
	uint32_t before = UINT32_MAX;

	for (int k = 0; k < FILES_MAX; k++) {
		const struct end_count *most = NULL;
		char package[PACKAGE_NAME_MAX];
		const char *path;

		for (uint32_t i = 0; i < e->ncounts; i++) {
			const struct end_count *c = &e->counts[i];
			bool later = c->stacks < below || (c->stacks == below && i > before);

			if (c->end == end && later && (!most || c->stacks > most->stacks))
				most = c;
		}
		if (!most)
			return;
		below = most->stacks;
		before = (uint32_t)(most - e->counts);
		path = e->files.entries[most->file - 1].bytes;
		if (end == PS_END_NO_CFI && !package_of(path, package))
			diag_say(d, NULL, "  %llu in %s (package %s)", (ull)most->stacks, path,
				 package);
		else
			diag_say(d, NULL, "  %llu in %s", (ull)most->stacks, path);
	}
}

#define NODE \
	"node --perf-prof --perf-prof-unwinding-info writes tables for its code; " \
	"--interpreted-frames-native-stack names what it interprets"

/* Programs that make code, by the file that a process has of them, and what helps their stacks. */
static const struct runtime {
	const char *file, *help;
} runtimes[] = {
	{"libjvm.so", "while the program runs: jcmd PID Compiler.perfmap, then psym again; or java "
		      "-XX:+PreserveFramePointer gives its code frame pointers"},
	{"libnode.so", NODE},
	{"node", NODE},
	{"libcoreclr.so",
	 "DOTNET_PerfMapEnabled=1 names the code of .NET, which keeps frame pointers"},
	{"libluajit-5.1.so.2", "LuaJIT's code has no frame pointers: luajit -joff interprets it"},
};

/* What helps the stacks that end in generated code, for the runtimes that were recorded. */
static bool say_runtimes(const struct resolver *r, struct diag *d)
{
	bool any = false;

	if (r->ends.denied) {
		diag_say(d, NULL,
			 "  the code of %" PRIu32 " process%s may not be read here: psym as the "
			 "process's user or as root, or a bundle (pcap-perf --bundle)",
			 r->ends.denied, r->ends.denied == 1 ? "" : "es");
		return true;
	}
	for (size_t k = 0; k < sizeof(runtimes) / sizeof(*runtimes); k++) {
		for (uint32_t i = 0; i < r->dsos.n; i++) {
			const char *path = r->dsos.v[i]->path, *slash = strrchr(path, '/');

			if (strcmp(slash ? slash + 1 : path, runtimes[k].file) != 0)
				continue;
			diag_say(d, NULL, "  %s", runtimes[k].help);
			any = true;
			break;
		}
	}
	return any;
}

static void say_end(const struct resolver *r, uint32_t end, struct diag *d)
{
	const struct resolver_stats *s = &r->stats;
	const char *help = end == PS_END_COPY ? NULL : ps_end_help(end);

	diag_say(d, NULL, "%llu (%.1f %%): %s", (ull)s->ends[end],
		 100.0 * (double)s->ends[end] / (double)s->unwound, ps_end_how(end));
	say_files(&r->ends, end, d);
	if (end == PS_END_COPY)
		say_sizes(&r->ends, d);
	if (end == PS_END_COPY && r->opts.no_stitch)
		diag_say(d, NULL,
			 "  without --no-stitch, complete stacks continue those that match them");
	if (end == PS_END_OUTERMOST && s->stitched > s->looked)
		diag_say(d, NULL,
			 "  %llu of these copies ended, and were continued by complete stacks",
			 (ull)(s->stitched - s->looked));
	if (end == PS_END_OUTERMOST && s->looked)
		diag_say(d, NULL,
			 "  %llu of these copies ended, and were continued by looks at the rest of "
			 "the stack",
			 (ull)s->looked);
	if (end == PS_END_GENERATED && say_runtimes(r, d))
		return;
	if (help)
		diag_say(d, NULL, "  %s", help);
}

/* The same for chains that came as they are. */
static void say_chains(const struct resolver *r, struct diag *d)
{
	const uint64_t *ends = r->stats.chain_ends;
	uint64_t all = 0;

	for (uint32_t i = 1; i < PS_END_MAX; i++)
		all += ends[i];
	if (all)
		diag_say(d, NULL, "%llu user call chains without a copy of the stack", (ull)all);
	for (uint32_t i = 1; i < PS_END_MAX; i++) {
		const char *help = ps_end_help(i);

		if (!ends[i])
			continue;
		diag_say(d, NULL, "%llu (%.1f %%): %s", (ull)ends[i],
			 100.0 * (double)ends[i] / (double)all, ps_end_how(i));
		if (i == PS_END_GENERATED && say_runtimes(r, d))
			continue;
		if (i == PS_END_NO_MAPPING)
			say_runtimes(r, d);
		if (help)
			diag_say(d, NULL, "  %s", help);
	}
}

/* Callers that chains of frame pointers lack, without a sign of it. */
static void say_hidden(const struct resolver *r, struct diag *d)
{
	const struct resolver_stats *s = &r->stats;

	if (s->hidden)
		diag_say(
			d, NULL,
			"%llu (%.1f %%) of the frame pointer chains have no caller of the "
			"innermost function, which had set up none; copies of the stack (pcap-perf "
			"-g) have it",
			(ull)s->hidden, 100.0 * (double)s->hidden / (double)s->chains);
}

void resolver_say_stacks(struct resolver *r, struct diag *d)
{
	const struct resolver_stats *s = &r->stats;

	if (strstr(r->ends.recorded, "call chains: "))
		diag_say(d, NULL, "recorded by %s", r->ends.recorded);
	if (s->unwound)
		diag_say(d, NULL, "%llu user stacks unwound, %llu frames", (ull)s->unwound,
			 (ull)s->unwound_frames);
	for (uint32_t i = 1; i < PS_END_MAX; i++)
		if (s->ends[i])
			say_end(r, i, d);
	say_chains(r, d);
	say_hidden(r, d);
	if (s->samples && !s->chains && !s->unwound)
		diag_say(d, NULL, "no sample has a call chain: record with -g");
}
