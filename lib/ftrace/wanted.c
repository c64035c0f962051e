/* What the user wants traced, in the words of the command line. */
#include "ftrace/parts.h"

#include "base/err.h"

#include <stdlib.h>

int ftrace_words_add(struct ftrace_words *w, const char *text)
{
	if (w->n == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 8;
		const char **v = realloc(w->v, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		w->v = v;
		w->cap = cap;
	}
	w->v[w->n++] = text;
	return 0;
}

int ftrace_add_buffer(struct ftrace_config *c, const char *name, struct buf *why)
{
	/* It becomes part of the names of an instance and of files. */
	if (!*name || strlen(name) > FTRACE_NAME_MAX || strchr(name, '/') || *name == '.') {
		buf_addf(why,
			 "the name of a buffer has 1 to %d bytes, and neither a slash nor a "
			 "dot at the beginning",
			 FTRACE_NAME_MAX);
		return PP_EUSAGE;
	}
	for (; c->next; c = c->next)
		if (!strcmp(c->next->name, name)) {
			buf_addf(why, "there are two buffers '%s'", name);
			return PP_EUSAGE;
		}
	c->next = calloc(1, sizeof(*c->next));
	if (!c->next)
		return PP_ENOMEM;
	c->next->name = name;
	return 0;
}

int ftrace_add_event(struct ftrace_config *c, const char *pattern, struct buf *why)
{
	if (!*pattern) {
		buf_adds(why, "the name of an event is empty");
		return PP_EUSAGE;
	}
	if (c->n_events == c->cap_events) {
		size_t cap = c->cap_events ? c->cap_events * 2 : 8;
		struct ftrace_event *v = realloc(c->events, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		c->events = v;
		c->cap_events = cap;
	}
	c->events[c->n_events++] = (struct ftrace_event){.pattern = pattern, .not = c->not };
	c->probes.last = false;
	return 0;
}

static struct ftrace_event *last_event(struct ftrace_config *c, const char *what, struct buf *why)
{
	struct ftrace_event *e = c->n_events ? &c->events[c->n_events - 1] : NULL;

	if (e && !e->not )
		return e;
	buf_addf(why, "%s is for the events of the -e before it, and there is none", what);
	return NULL;
}

int ftrace_filter(struct ftrace_config *c, const char *expr, struct buf *why)
{
	struct ftrace_event *e;
	int rc = probe_words_filter(&c->probes, expr, why);

	if (rc != PP_END)
		return rc;
	e = last_event(c, "a filter", why);
	if (!e)
		return PP_EUSAGE;
	if (e->filter) {
		buf_adds(why, "these events already have a filter: join the two with && or ||");
		return PP_EUSAGE;
	}
	e->filter = expr;
	return 0;
}

int ftrace_trigger(struct ftrace_config *c, const char *trigger, struct buf *why)
{
	struct ftrace_event *e = last_event(c, "a trigger", why);

	return e ? ftrace_words_add(&e->triggers, trigger) : PP_EUSAGE;
}

void ftrace_config_release(struct ftrace_config *c)
{
	struct ftrace_config *next = c->next;

	struct ftrace_words *const words[] = {&c->functions, &c->not_functions, &c->graph,
					      &c->not_graph, &c->options};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		free(words[i]->v);
	for (size_t i = 0; i < c->n_events; i++)
		free(c->events[i].triggers.v);
	free(c->events);
	probe_words_release(&c->probes);
	*c = (struct ftrace_config){0};
	if (next)
		ftrace_config_release(next);
	free(next);
}
