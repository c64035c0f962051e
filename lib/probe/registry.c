/* Probes that exist: registering events, listing and removing them. */
#include "probe/registry.h"

#include "base/err.h"
#include "event/glob.h"
#include "probe/mine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void event_name(const struct event *e, char out[2 * NAME_EVENT_MAX + 4])
{
	snprintf(out, 2 * NAME_EVENT_MAX + 4, "%s/%s", e->group, e->name);
}

int registry_add(const struct tracefs *t, enum tracefs_list list, const struct event *e,
		 const char *mine_file, bool *unnoted, struct diag *d)
{
	char name[2 * NAME_EVENT_MAX + 4], *lines = strdup(buf_str(&e->lines)), *save = NULL, *line;
	struct buf why = BUF_INIT;
	bool some = false;
	int rc = lines ? 0 : PP_ENOMEM;

	event_name(e, name);
	line = lines ? strtok_r(lines, "\n", &save) : NULL;
	for (; !rc && line; line = strtok_r(NULL, "\n", &save)) {
		rc = tracefs_add(t, list, line, &why);
		some = some || !rc;
	}
	if (rc) {
		diag_error(d, NULL, -1, "%s: %s", name, why.len ? buf_str(&why) : pp_strerror(rc));
		if (some)
			registry_undo(t, list, e, mine_file, d);
	} else {
		int bad = mine_add(mine_file, name);

		*unnoted = *unnoted || bad;
		if (bad)
			diag_warn(d, mine_file, -1, "%s: --all-mine will not know of %s",
				  pp_strerror(bad), name);
	}
	buf_release(&why);
	free(lines);
	return rc;
}

void registry_undo(const struct tracefs *t, enum tracefs_list list, const struct event *e,
		   const char *mine_file, struct diag *d)
{
	char name[2 * NAME_EVENT_MAX + 4];
	struct buf why = BUF_INIT;
	int rc;

	event_name(e, name);
	rc = tracefs_remove(t, list, name, &why);
	if (rc)
		diag_error(d, NULL, -1, "%s was made, and cannot be removed: %s", name,
			   why.len ? buf_str(&why) : pp_strerror(rc));
	else
		mine_remove(mine_file, name);
	buf_release(&why);
}

/* ---- walking ---- */

struct walk {
	const struct tracefs *t;
	enum tracefs_list list;
	const char *mine_file;
	struct diag *d;
	/* listing */
	struct sheet sheet;
	/* removing */
	char **patterns;
	int n;
	bool all_mine;
	int failed;	     /* to tell whose a probe is */
	struct intern names; /* to remove: "LIST GROUP/EVENT", list as one digit */
};

static int each_list(struct walk *w, tracefs_fn *fn)
{
	int rc = 0;

	/* dynamic_events has what the two others have, and more. */
	for (int i = TRACEFS_LISTS; !rc && i-- > 0;) {
		w->list = (enum tracefs_list)i;
		if (w->list != TRACEFS_DYNAMIC && tracefs_has(w->t, TRACEFS_DYNAMIC))
			break;
		rc = tracefs_each(w->t, w->list, fn, w);
	}
	return rc;
}

static const struct sheet_column columns[] = {
	{"event", 32, false}, {"mine", 4, false}, {"definition", 0, false}, {0}};

static int put(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	char *event = strdup(name), *slash = event ? strchr(event, '/') : NULL;
	bool mine = false;
	int rc = event ? mine_has(w->mine_file, name, &mine) : PP_ENOMEM;

	/* Who may not read the file made none of them. */
	if (rc && rc != PP_EACCES) {
		free(event);
		return rc;
	}
	if (slash)
		*slash = ':';
	sheet_text(&w->sheet, event);
	sheet_text(&w->sheet, mine ? "mine" : "");
	sheet_text(&w->sheet, line);
	free(event);
	return sheet_end_row(&w->sheet);
}

int registry_list(const struct tracefs *t, enum sheet_form form, const char *mine_file,
		  struct diag *d)
{
	struct walk w = {.t = t, .mine_file = mine_file, .d = d};
	int rc = sheet_begin(&w.sheet, columns, form), out;

	if (!rc)
		rc = each_list(&w, put);
	out = sheet_finish(&w.sheet);
	rc = rc ? rc : out;
	if (rc && rc != PP_EPIPE)
		diag_error(d, t->dir, -1, "%s", pp_strerror(rc));
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}

static bool wanted(struct walk *w, const char *name)
{
	const char *slash = strchr(name, '/'), *event = slash ? slash + 1 : name;
	char full[256];
	bool mine = false;

	if (w->all_mine) {
		w->failed = mine_has(w->mine_file, name, &mine);
		return mine;
	}
	snprintf(full, sizeof(full), "%s", name);
	if (slash)
		full[slash - name] = ':';
	for (int i = 0; i < w->n; i++) {
		const char *p = w->patterns[i];
		size_t n = strlen(p);
		bool has_group = strchr(p, ':') != NULL;

		if (has_group ? glob_match(p, n, full, strlen(full)) ||
					glob_match(p, n, name, strlen(name))
			      : glob_match(p, n, event, strlen(event)))
			return true;
	}
	return false;
}

static int collect(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	char key[256];
	uint32_t id;

	/* Eprobes and others are not ours to remove. */
	if (!strchr("prf", line[0]) || !wanted(w, name))
		return w->failed;
	snprintf(key, sizeof(key), "%d%s", (int)w->list, name);
	return intern_add(&w->names, key, strlen(key), &id, NULL);
}

static int remove_all(struct walk *w)
{
	int status = PP_EXIT_OK;

	for (uint32_t id = 1; id <= w->names.n; id++) {
		const char *key = intern_get(&w->names, id, NULL), *name = key + 1;
		struct buf why = BUF_INIT;

		if (tracefs_remove(w->t, (enum tracefs_list)(key[0] - '0'), name, &why)) {
			diag_error(w->d, NULL, -1, "%s: %s", name,
				   why.len ? buf_str(&why) : "it cannot be removed");
			status = PP_EXIT_FAIL;
		} else {
			/* A name that stays says nothing of a probe that is gone. */
			mine_remove(w->mine_file, name);
			diag_note(w->d, NULL, -1, "%s: removed", name);
		}
		buf_release(&why);
	}
	return status;
}

int registry_delete(const struct tracefs *t, char **patterns, int n, bool all_mine,
		    const char *mine_file, struct diag *d)
{
	struct walk w = {.t = t,
			 .mine_file = mine_file,
			 .d = d,
			 .patterns = patterns,
			 .n = n,
			 .all_mine = all_mine};
	int rc = each_list(&w, collect), status = PP_EXIT_FAIL;

	if (rc) {
		diag_error(d, t->dir, -1, "%s", pp_strerror(rc));
	} else if (!w.names.n && !all_mine) {
		diag_error(d, NULL, -1, "no probe fits");
	} else {
		status = remove_all(&w);
	}
	intern_release(&w.names);
	return status;
}
