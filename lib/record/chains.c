/*
 * What -g (--call-graph auto) records: copies of the user stack, from which psym makes true chains
 * of any program, or frame pointers where copies would cost too much or are no better.
 */
#include "base/err.h"
#include "perfdata/known_stacks.h"
#include "record/framepointer.h"
#include "record/parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define MB	     1000000u
#define SHARE_ENOUGH 40 /* of a hundred functions; small ones need no frame */

/* 0: frame pointers; why: NULL where copies are the better choice. */
static const char *against(const struct chains_facts *f)
{
	return !f->copies  ? "the user part of stacks is not requested, or cannot be copied here"
	       : f->go	   ? "the program is Go, which keeps them"
	       : f->newest ? "with --snapshot, more of them fit into the buffers"
			   : NULL;
}

/* Copies that are frequent: only what changes of them is written. */
static uint32_t where_alike(uint64_t rate, uint32_t *cut, const char **why)
{
	uint64_t size = CHAINS_ALIKE / rate, small = CHAINS_SMALL / rate;
	uint64_t most = small > CHAINS_COPY_ALIKE ? small : CHAINS_COPY_ALIKE;

	if (size < CHAINS_COPY_LEAST)
		return 0;
	*why = "what stays the same from one sample to the next is written once";
	*cut = (uint32_t)(small > CHAINS_COPY_SMALL ? small : CHAINS_COPY_SMALL) & ~7u;
	return (uint32_t)(size < most ? size : most) & ~7u;
}

uint32_t chains_rated(const struct chains_facts *f, uint32_t *cut, const char **why)
{
	uint64_t size, rate;

	*cut = 0;
	*why = against(f);
	if (*why)
		return 0;
	*why = "copies would be too much";
	if (__builtin_mul_overflow(f->hz, f->cpus, &rate) || !rate)
		return 0;
	size = CHAINS_BUDGET / rate;
	if (size < CHAINS_COPY_GOOD && !f->whole)
		return where_alike(rate, cut, why);
	if (size < CHAINS_COPY_GOOD)
		size = CHAINS_SMALL / rate;
	size &= ~UINT64_C(7);
	if (size < CHAINS_COPY_LEAST)
		return 0;
	*why = "that is within the budget";
	return size > RECORD_STACK_MAX ? RECORD_STACK_MAX : (uint32_t)size;
}

uint32_t chains_each(const struct chains_facts *f, const char **why)
{
	*why = against(f);
	if (*why)
		return 0;
	/* Threads wait in the C library, which keeps none: its callers would be missing. */
	*why = "most functions of the program keep them";
	if (f->framed >= SHARE_ENOUGH && !f->waits)
		return 0;
	*why = "small, as the rate of the events is not known";
	return CHAINS_COPY_EACH;
}

uint64_t chains_helper(const struct chains_facts *f, uint32_t size, size_t n)
{
	uint64_t hz = CHAINS_HELP / RECORD_STACK_MAX / (f->cpus ? f->cpus : 1) / (n ? n : 1);

	if (!size || size >= RECORD_STACK_MAX)
		return 0;
	if (hz > CHAINS_HELP_HZ)
		hz = CHAINS_HELP_HZ;
	return hz ? hz : 1;
}

/* The file of a program, as execvp(3) finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && !access(path, X_OK);
	for (const char *p = dirs ? dirs : "/bin:/usr/bin";; p++) {
		size_t len = strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)len, p, name) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
		p += len;
		if (!*p)
			return false;
	}
}

/* Whether a program only prepares for the one that its arguments name. */
static bool only_starts(const char *name)
{
	static const char *const starters[] = {"chrt",	"doas",	   "env",     "ionice", "nice",
					       "nohup", "numactl", "setarch", "setsid", "stdbuf",
					       "sudo",	"taskset", "time",    "timeout"};
	const char *last = strrchr(name, '/');

	for (size_t i = 0; i < sizeof(starters) / sizeof(*starters); i++)
		if (!strcmp(last ? last + 1 : name, starters[i]))
			return true;
	return false;
}

/* The file of the program that a command runs in the end: ./server of `timeout 9 ./server`. */
static bool find_command(char *const *words, char path[PATH_MAX])
{
	bool found = find_program(*words, path), starts = only_starts(*words);

	for (words++; starts && *words; words++) {
		/* Values of options and variables are no programs. */
		if (**words == '-' || !find_program(*words, path))
			continue;
		found = true;
		starts = only_starts(*words);
	}
	return found;
}

/* The programs that are recorded, as far as they are known: all Go, and the least share of all. */
static void look_at_programs(const struct session *s, struct chains_facts *f)
{
	const struct target *t = &s->t;
	size_t n = t->n_pids ? t->n_pids : t->n_tids;
	char path[PATH_MAX];
	unsigned share;
	bool go, known = false;

	if (!session_sees_others(s->c)) {
		if (s->c->command && find_command(s->c->command, path))
			(void)framepointer_look(path, &f->framed, &f->go);
		return;
	}
	for (size_t i = 0; i < n && target_has_tasks(&s->c->whom); i++) {
		snprintf(path, sizeof(path), "/proc/%d/exe",
			 (int)(t->n_pids ? t->pids[i] : t->tids[i]));
		if (framepointer_look(path, &share, &go))
			continue;
		f->framed = known && f->framed < share ? f->framed : share;
		f->go = go && (f->go || !known);
		known = true;
		if (!f->go && !f->framed)
			return;
	}
}

/* So many CPUs are busy with what is recorded, at most. */
static uint64_t busy_cpus(const struct session *s)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = s->t.n_cpus;

	if (n == 1 && s->t.cpus[0] < 0 && online > 0)
		n = (uint64_t)online;
	if ((s->c->no_inherit || s->c->per_thread) && target_has_tasks(&s->c->whom) &&
	    s->t.n_tids < n)
		n = s->t.n_tids;
	return n;
}

/* One line, for the reader of the recording and for -v. */
static void describe(struct session *s, uint32_t copy, uint64_t helper, const char *why,
		     const char *which)
{
	struct buf *b = &s->chosen;

	buf_adds(b, b->len ? "; " : "");
	if (copy)
		buf_addf(b, "copies of up to %u bytes%s", copy, which);
	if (helper)
		buf_addf(b, ", and of up to %d at %" PRIu64 " Hz to continue these",
			 RECORD_STACK_MAX, helper);
	if (copy)
		buf_addf(b, ": %s", why);
	else
		buf_addf(b, "frame pointers%s: %s", which, why);
}

static void describe_rated(struct session *s, const struct chains_facts *f, uint32_t copy,
			   const char *why, size_t events)
{
	uint32_t budget = f->whole ? CHAINS_SMALL : CHAINS_ALIKE;
	uint64_t most = budget / CHAINS_COPY_LEAST / (f->cpus ? f->cpus : 1) / events;
	char which[96];

	snprintf(which, sizeof(which), " at %llu Hz on %llu CPU%s", (unsigned long long)f->hz,
		 (unsigned long long)f->cpus, f->cpus == 1 ? "" : "s");
	describe(s, copy, s->help_rated, why, which);
	if (copy || against(f))
		return;
	diag_warn(s->d, NULL, -1,
		  "call chains by frame pointers: copies of stacks%s could be more than %u MB/s; "
		  "to have them: -F %llu, or --call-graph dwarf,%u",
		  which, budget / MB, (unsigned long long)(most ? most : 1), CHAINS_COPY_LEAST);
}

int chains_choose(struct session *s)
{
	struct chains_facts f = {
		.cpus = busy_cpus(s),
		.newest = s->c->snapshot,
		.waits = s->c->waits,
		.copies = words_all_registers() && (s->c->user_chains || !s->c->kernel_chains),
	};
	size_t rated = 0, each = 0;
	const char *why;

	for (size_t i = 0; i < s->events->n; i++) {
		const struct rec_attr *a = &s->attrs[i];

		if (!a->choose || (!a->attr.freq && !a->attr.sample_period))
			continue;
		rated += a->attr.freq;
		each += !a->attr.freq;
		f.whole |= (a->attr.sample_type & ~KNOWN_COPY_FIELDS) != 0;
		if (a->attr.freq && __builtin_add_overflow(f.hz, a->attr.sample_freq, &f.hz))
			f.hz = UINT64_MAX;
	}
	if (!rated && !each)
		return 0;
	look_at_programs(s, &f);
	if (rated) {
		s->copy_rated = chains_rated(&f, &s->copy_cut, &why);
		if (!s->no_helpers)
			s->help_rated = chains_helper(&f, s->copy_rated, rated + each);
		if (s->help_rated > f.hz / 4)
			s->help_rated = f.hz / 4 + !(f.hz / 4);
		describe_rated(s, &f, s->copy_rated, why, rated);
	}
	if (each) {
		s->copy_each = chains_each(&f, &why);
		if (!s->no_helpers)
			s->help_each = chains_helper(&f, s->copy_each, rated + each);
		describe(s, s->copy_each, s->help_each, why, " for each event");
	}
	diag_note(s->d, NULL, -1, "call chains by %s", buf_str(&s->chosen));
	return s->chosen.err;
}
