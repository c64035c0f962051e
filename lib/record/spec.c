/* Event specifications: from the user's text to types and numbers. */
#include "base/err.h"
#include "base/opt.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <ctype.h>
#include <stdlib.h>

#define TERM_MAX 512 /* bytes of one event of a list */

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE

/* perf's names of the generic events and their aliases. */
static const struct {
	const char *name;
	uint32_t type;
	uint32_t config;
} known[] = {
#define HW_EVENT(kernel, perf) {perf, HW, PERF_COUNT_HW_##kernel},
#define SW_EVENT(kernel, perf) {perf, SW, PERF_COUNT_SW_##kernel},
	PERF_HW_EVENTS(HW_EVENT) PERF_SW_EVENTS(SW_EVENT)
#undef HW_EVENT
#undef SW_EVENT
		{"cpu-cycles", HW, PERF_COUNT_HW_CPU_CYCLES},
	{"branch-instructions", HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"idle-cycles-frontend", HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-backend", HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"faults", SW, PERF_COUNT_SW_PAGE_FAULTS},
	{"cs", SW, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"migrations", SW, PERF_COUNT_SW_CPU_MIGRATIONS},
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

/* Cache events: cache, then what is counted; the config is cache | op << 8 | result << 16. */
#define CACHE(kernel, perf) perf,
static const char *const caches[] = {PERF_CACHES(CACHE)};
#undef CACHE
static const struct {
	const char *name;
	uint32_t config;
} cache_ops[] = {
	{"-loads", 0x000},	    {"-load-misses", 0x10000}, {"-stores", 0x100},
	{"-store-misses", 0x10100}, {"-prefetches", 0x200},    {"-prefetch-misses", 0x10200},
};

static bool find_cache(const char *name, struct record_event *ev)
{
	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		size_t len = strlen(caches[i]);

		if (strncmp(name, caches[i], len) != 0)
			continue;
		for (size_t k = 0; k < sizeof(cache_ops) / sizeof(cache_ops[0]); k++) {
			if (strcmp(name + len, cache_ops[k].name) != 0)
				continue;
			ev->type = PERF_TYPE_HW_CACHE;
			ev->config = i | cache_ops[k].config;
			return true;
		}
	}
	return false;
}

/* rNNN: a number of the CPU's manual, hexadecimal. */
static bool find_raw(const char *name, struct record_event *ev)
{
	size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (!digits || digits > 16 || name[1 + digits])
		return false;
	ev->type = PERF_TYPE_RAW;
	ev->config = strtoull(name + 1, NULL, 16);
	return true;
}

static bool find_known(const char *name, struct record_event *ev)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		ev->type = known[i].type;
		ev->config = known[i].config;
		return true;
	}
	return find_cache(name, ev) || find_raw(name, ev);
}

/* u, k and h: the first of them excludes the other levels. */
static void only(struct record_event *ev, bool *level)
{
	if (!ev->modifiers)
		ev->exclude_user = ev->exclude_kernel = ev->exclude_hv = true;
	ev->modifiers = true;
	*level = false;
}

static int set_modifiers(struct record_event *ev, const char *mods, struct buf *why)
{
	bool guest = false, host = false;

	for (const char *p = mods; *p; p++) {
		switch (*p) {
		case 'u': only(ev, &ev->exclude_user); break;
		case 'k': only(ev, &ev->exclude_kernel); break;
		case 'h': only(ev, &ev->exclude_hv); break;
		case 'G': guest = true; break;
		case 'H': host = true; break;
		case 'I': ev->exclude_idle = true; break;
		case 'D': ev->pinned = true; break;
		case 'P': ev->precise = RECORD_PRECISE_MAX; break;
		case 'p':
			if (ev->precise < 3) {
				ev->precise++;
				break;
			}
			/* fall through */
		default:
			buf_adds(why, "event modifier '");
			buf_add_safe(why, p, 1);
			buf_adds(why, *p == 'p' ? "' stands more than three times"
						: "' is none of u k h p P G H I D");
			return PP_EUSAGE;
		}
	}
	ev->exclude_guest = !guest;
	ev->exclude_host = guest && !host;
	return 0;
}

static int add_event(struct record_events *e, const struct record_event *ev)
{
	if (e->n == RECORD_EVENTS_MAX)
		return PP_ELIMIT;
	if (e->n == e->cap) {
		size_t cap = e->cap ? 2 * e->cap : 16;
		struct record_event *v = realloc(e->v, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		e->v = v;
		e->cap = cap;
	}
	e->v[e->n++] = *ev;
	return ev->name ? 0 : PP_ENOMEM;
}

struct adding {
	struct record_events *e;
	struct record_event ev; /* all but the names */
	const char *mods;
};

static int add_tracepoint(void *ctx, const char *system, const char *name, uint64_t id)
{
	struct adding *a = ctx;
	struct record_event ev = a->ev;
	struct buf full = BUF_INIT;
	int rc;

	buf_addf(&full, "%s:%s%s%s", system, name, a->mods[0] ? ":" : "", a->mods);
	ev.type = PERF_TYPE_TRACEPOINT;
	ev.config = id;
	ev.system = arena_dup(&a->e->arena, system, strlen(system));
	ev.tp = arena_dup(&a->e->arena, name, strlen(name));
	if (!full.err)
		ev.name = arena_dup(&a->e->arena, full.data, full.len);
	rc = !ev.system || !ev.tp ? PP_ENOMEM : add_event(a->e, &ev);
	buf_release(&full);
	return rc;
}

static int unknown(const char *name, struct buf *why)
{
	const char *names[N_KNOWN], *near;

	for (size_t i = 0; i < N_KNOWN; i++)
		names[i] = known[i].name;
	near = opt_nearest(name, names, N_KNOWN);
	buf_adds(why, "no event is called '");
	buf_add_safe(why, name, strlen(name));
	buf_adds(why, "'");
	if (near)
		buf_addf(why, "; did you mean %s?", near);
	else
		buf_adds(why, "; tracepoints are system:name");
	return PP_EUSAGE;
}

/* Takes the term apart, in place: at most NAME:MODIFIERS, or SYSTEM:NAME:MODIFIERS. */
static int add_term(struct record_events *e, char *term, const char *tracefs, struct buf *why)
{
	struct adding a = {.e = e, .mods = ""};
	char *rest = strchr(term, ':'), *mods, *name;
	int rc;

	name = arena_dup(&e->arena, term, strlen(term));
	if (!name)
		return PP_ENOMEM;
	if (rest)
		*rest++ = 0;
	if (find_known(term, &a.ev)) {
		a.ev.name = name;
		rc = set_modifiers(&a.ev, rest ? rest : "", why);
		return rc ? rc : add_event(e, &a.ev);
	}
	if (!rest || !*rest || !*term)
		return unknown(term, why);
	mods = strchr(rest, ':');
	if (mods) {
		*mods++ = 0;
		a.mods = mods;
	}
	rc = set_modifiers(&a.ev, a.mods, why);
	if (!rc && !tracefs)
		rc = tracefs_find(&tracefs, why);
	return rc ? rc : tracefs_glob(tracefs, term, rest, add_tracepoint, &a, why);
}

int record_events_add(struct record_events *e, const char *list, const char *tracefs,
		      struct buf *why)
{
	char term[TERM_MAX];
	int rc = 0;

	e->last = e->n;
	while (!rc) {
		size_t len = strcspn(list, ",");

		while (len && isspace((unsigned char)*list))
			list++, len--;
		if (!len || len >= sizeof(term)) {
			buf_adds(why, len ? "an event name is too long" : "an event name is empty");
			return PP_EUSAGE;
		}
		if (memchr(list, '/', len) || memchr(list, '{', len)) {
			buf_adds(why, "events in pmu/.../ form and {groups} are not supported");
			return PP_EUSAGE;
		}
		memcpy(term, list, len);
		term[len] = 0;
		while (len && isspace((unsigned char)term[len - 1]))
			term[--len] = 0;
		rc = add_term(e, term, tracefs, why);
		list += strcspn(list, ",");
		if (!*list++)
			break;
	}
	if (rc && !why->len)
		buf_adds(why, rc == PP_ELIMIT ? "too many events" : pp_strerror(rc));
	return rc;
}

int record_events_filter(struct record_events *e, const char *expr, struct buf *why)
{
	struct buf joined = BUF_INIT;
	size_t set = 0;
	int rc = 0;

	for (size_t i = e->last; i < e->n && !rc; i++) {
		struct record_event *ev = &e->v[i];

		if (ev->type != PERF_TYPE_TRACEPOINT)
			continue;
		buf_reset(&joined);
		if (ev->filter)
			buf_addf(&joined, "(%s) && (%s)", ev->filter, expr);
		else
			buf_adds(&joined, expr);
		ev->filter = joined.err ? NULL : arena_dup(&e->arena, buf_str(&joined), joined.len);
		if (!ev->filter)
			rc = PP_ENOMEM;
		set++;
	}
	buf_release(&joined);
	if (!rc && !set) {
		buf_adds(why, "a filter comes after the tracepoints that it is for (-e)");
		rc = PP_EUSAGE;
	}
	return rc;
}

void record_events_release(struct record_events *e)
{
	free(e->v);
	arena_release(&e->arena);
	*e = (struct record_events){0};
}
