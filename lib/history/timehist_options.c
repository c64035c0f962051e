/* The command line options of plat --timehist and plat --map. */
#include "base/err.h"
#include "history/history.h"

#include <string.h>

enum {
	TIMEHIST = OPT_NO_SHORT,
	MAP,
	NEXT,
	STATE,
	SUMMARY,
	WITH_SUMMARY,
	WOKEN,
	NO_STACK,
	MAX_STACK,
	COMPACT
};

const struct opt history_options[] = {
	{TIMEHIST, "timehist", NULL, "a line for each time that a thread ran: wait, delay, run"},
	{'w', "wakeups", NULL, "with --timehist: lines for wakeups"},
	{'M', "migrations", NULL, "with --timehist: lines for moves to other CPUs"},
	{'V', "cpu-visual", NULL, "with --timehist: a column for each CPU"},
	{NEXT, "next", NULL, "with --timehist: which thread runs next"},
	{STATE, "state", NULL, "with --timehist: the state in which the thread went off the CPU"},
	{'I', "idle-hist", NULL, "with --timehist: only idle CPUs"},
	{SUMMARY, "summary", NULL, "with --timehist: only a summary of threads and CPUs"},
	{WITH_SUMMARY, "with-summary", NULL, "with --timehist: the summary after the lines"},
	{WOKEN, "woken-delay", NULL, "with --timehist: no delay after preemption, as perf 6.1"},
	{NO_STACK, "no-stack", NULL, "with --timehist: no stacks"},
	{MAX_STACK, "max-stack", "N", "with --timehist: the innermost N functions (default 5)"},
	{MAP, "map", NULL, "a line for each switch: what runs on each CPU"},
	{COMPACT, "compact", NULL, "with --map: columns for CPUs that had a switch"},
	{0},
};

static int set_form(struct history_opts *o, enum history_form form, struct buf *why)
{
	if (o->form && o->form != form) {
		buf_adds(why, "--timehist cannot be combined with --map");
		return PP_EUSAGE;
	}
	o->form = form;
	return 0;
}

int history_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct history_opts *o = opts;

	o->any |= id != TIMEHIST && id != MAP;
	o->times |= id != TIMEHIST && id != MAP && id != COMPACT;
	switch (id) {
	case TIMEHIST: return set_form(o, HISTORY_TIMES, why);
	case MAP: return set_form(o, HISTORY_MAP, why);
	case 'w': o->wakeups = true; break;
	case 'M': o->migrations = true; break;
	case 'V': o->cpus = true; break;
	case NEXT: o->next = true; break;
	case STATE: o->state = true; break;
	case 'I': o->idle = true; break;
	case SUMMARY: o->summary = HISTORY_SUMMARY; break;
	case WITH_SUMMARY: o->summary = HISTORY_LINES_AND_SUMMARY; break;
	case WOKEN: o->woken = true; break;
	case NO_STACK: o->no_stack = true; break;
	case MAX_STACK:
		if (opt_u64(arg, 1, 1024, &o->max_stack)) {
			buf_adds(why, "--max-stack: not a number from 1 to 1024: ");
			buf_add_safe(why, arg, strlen(arg));
			return PP_EUSAGE;
		}
		break;
	case COMPACT: o->compact = true; break;
	}
	return 0;
}

bool history_check(const struct history_opts *o, struct diag *d)
{
	const char *wrong = NULL;

	if (!o->form && o->any)
		wrong = "an option that is only for --timehist or --map";
	else if (o->form == HISTORY_MAP && o->times)
		wrong = "--map can be combined only with --compact";
	else if (o->form == HISTORY_TIMES && o->compact)
		wrong = "--compact is for --map";
	else if (o->idle && (o->wakeups || o->migrations))
		wrong = "--idle-hist cannot be combined with --wakeups or --migrations";
	if (wrong)
		diag_error(d, NULL, -1, "%s", wrong);
	return !wrong;
}
