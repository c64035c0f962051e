/* Whether events of a format can be printed. */
#include "print/check.h"

#include "base/err.h"
#include "print/tep.h"

#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

struct print_check {
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
};

int print_check_new(struct print_check **out)
{
	struct print_check *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return PP_ENOMEM;
	c->tep = tep_open_quiet(sizeof(long));
	c->plugins = c->tep ? tep_load_plugins(c->tep) : NULL;
	if (c->tep)
		return 0;
	free(c);
	*out = NULL;
	return PP_ENOMEM;
}

void print_check_free(struct print_check *c)
{
	if (!c)
		return;
	if (c->plugins)
		tep_unload_plugins(c->plugins, c->tep);
	tep_free(c->tep);
	free(c);
}

/* The texts are the kernel's own: no trial is needed, as with those of a recording. */
int print_check_event(struct print_check *c, const char *system, const char *format, size_t len,
		      bool *ok)
{
	const char *id = memmem(format, len, "\nID: ", 5);
	const struct tep_event *e;

	*ok = false;
	if (!id)
		return 0;
	tep_watch_memory();
	tep_parse_event(c->tep, format, len, system);
	e = tep_find_event(c->tep, (int)strtoul(id + 5, NULL, 10));
	*ok = e && (e->handler || !(e->flags & TEP_EVENT_FL_FAILED));
	return tep_lacked_memory();
}

int print_check_recorded(void *ctx, const struct ps_event *e, bool *ok)
{
	struct print_check *c = ctx;
	struct tep_event *te;
	enum tep_risk risk;
	int rc = tep_learn_event(c->tep, e, &te, &risk);

	*ok = te && risk != TEP_HARM && (te->handler || !(te->flags & TEP_EVENT_FL_FAILED));
	return rc;
}
