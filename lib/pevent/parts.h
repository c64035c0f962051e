/* The insides of the parser of events; private to lib/pevent. */
#ifndef PP_PEVENT_PARTS_H
#define PP_PEVENT_PARTS_H

#include "pevent/pevent.h"

/* ---- event_names.c: events by perf's names ---- */

/* Sets type and config of a hardware, software, cache, tool or raw event. False: not one. */
bool name_find(const char *name, struct pevent *ev);

/* The name that sysfs has for a hardware event ("cpu-cycles" for "cycles"), or NULL. */
const char *name_in_sysfs(const char *name);

/* The event whose name is nearest, or NULL. */
const char *name_nearest(const char *name);

/* Calls visit for each: its name, another name for it or NULL, its class. 0 or visit's result. */
typedef int name_visit(void *ctx, const char *name, const char *other, const char *class,
		       const struct pevent *ev);
int name_each(name_visit *visit, void *ctx);

/* "TYPE:CONFIG" with modifiers after another colon, which *mods is set to. */
bool name_numbers(const char *text, struct pevent *ev, const char **mods);

/* What follows "mem:"; *mods as before. 0 or PP_EUSAGE. */
int name_breakpoint(const char *text, struct pevent *ev, const char **mods, struct buf *why);

/* ---- terms.c: the letters after the last colon ---- */

/* Adds modifiers to what the event has. 0 or PP_EUSAGE. */
int modifiers_set(struct pevent *ev, const char *mods, struct buf *why);

/* ---- terms.c: what is between slashes ---- */

/* The next "KEY" or "KEY=VALUE"; *text moves on and is changed. value NULL: none. */
bool term_next(char **text, char **key, char **value);

/*
 * Takes one of the terms that say how to record, or config=. *mine is false if it is not one of
 * them. 0, PP_EUSAGE or PP_ENOMEM.
 */
int term_take(struct pevents *e, struct pevent *ev, const char *key, const char *value, bool *mine,
	      struct buf *why);

/* The term whose key is nearest, or NULL. */
const char *term_nearest(const char *key);

/* ---- pmu.c: PMUs below sysfs ---- */

struct pmu {
	char name[128];
	char dir[512];
	uint32_t type;
};

/* Calls visit for each PMU that NAME/.../ is for; see perf-list(1). PP_ENOENT if there is none. */
typedef int pmu_visit(void *ctx, const struct pmu *p);
int pmu_each(const struct pevents *e, const char *name, pmu_visit *visit, void *ctx);

/* Whether it names an event so. */
bool pmu_has_event(const struct pmu *p, const char *event);

/* What the event is of the PMU: its type, CPUs; then all terms. 0 or a code with the reason. */
int pmu_event(struct pevents *e, const struct pmu *p, const char *terms, struct pevent *ev,
	      struct buf *why);

/* The text of a file below the PMU's directory, without the newline. 0 or pp_errno. */
int pmu_text(const struct pmu *p, const char *file, struct buf *b);

#endif
