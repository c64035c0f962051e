/* Texts, calls, groups and events of a report, each with a number. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int report_text(struct report *r, const char *s, size_t len, uint32_t *id)
{
	return intern_add(&r->texts, s, len, id, NULL);
}

const char *report_text_get(const struct report *r, uint32_t id, size_t *len)
{
	const char *s = id ? intern_get(&r->texts, id, len) : NULL;

	if (!s)
		*len = 0;
	return s ? s : "";
}

int report_call(struct report *r, const struct report_call *c, uint32_t *id)
{
	char text[16];
	uint32_t name;
	bool fresh;
	int n, rc = intern_add(&r->calls, c, sizeof(*c), id, &fresh);

	if (rc || !fresh)
		return rc;
	n = snprintf(text, sizeof(text), "%u", *id);
	rc = fold_name(r->tree, text, (size_t)n, &name);
	return rc ? rc : name == *id ? 0 : PP_ECORRUPT;
}

const struct report_call *report_call_get(const struct report *r, uint32_t id)
{
	static const struct report_call none;
	/* An intern's bytes are aligned to 8. */
	const void *c = id ? intern_get(&r->calls, id, NULL) : NULL;

	return c ? c : &none;
}

int report_group(struct report *r, const struct group *g, uint32_t *id)
{
	struct report_call c = {.flags = CALL_GROUP};
	int rc = intern_add(&r->groups, g, sizeof(*g), &c.sym, NULL);

	return rc ? rc : report_call(r, &c, id);
}

const struct group *report_group_get(const struct report *r, const struct report_call *c)
{
	static const struct group none;
	const void *g = c->flags & CALL_GROUP ? intern_get(&r->groups, c->sym, NULL) : NULL;

	return g ? g : &none;
}

int report_event(struct report *r, struct ps_str name, uint32_t number, struct ps_str unit,
		 uint32_t *event)
{
	struct report_event *v, e = {.number = number};
	uint32_t key[2];
	bool fresh;
	int rc = report_text(r, name.p, name.len, &e.name);

	if (!rc && unit.len)
		rc = report_text(r, unit.p, unit.len, &e.unit);
	if (rc)
		return rc;
	key[0] = e.name;
	key[1] = e.number;
	rc = intern_add(&r->event_ids, key, sizeof(key), event, &fresh);
	if (rc)
		return rc;
	if (!fresh) {
		v = &r->events[--*event];
		v->units |= v->unit != e.unit;
		return 0;
	}
	--*event;
	v = array_widen(r->events, &r->cap_events, *event, 8, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	r->events = v;
	v[*event] = e;
	r->nevents = *event + 1;
	return 0;
}

int report_event_pmu(struct report *r, uint32_t event, const char *pmu, size_t n)
{
	struct fold_about list = {0};
	size_t len;
	const char *before = report_text_get(r, r->events[event].pmus, &len);

	if (len < sizeof(list.pmus))
		memcpy(list.pmus, before, len + 1);
	fold_about_pmu(&list, pmu, n);
	return list.err ? list.err
			: report_text(r, list.pmus, strlen(list.pmus), &r->events[event].pmus);
}

int report_add(struct report *r, uint32_t event, uint32_t node, uint64_t weight, uint64_t samples)
{
	struct report_event *e = &r->events[event];
	int rc = node < r->counts.n ? 0 : weights_widen(&r->counts, node + 1);

	if (!rc)
		rc = weights_set(&r->counts, node, weights_get(&r->counts, node) + samples);
	if (!rc)
		rc = fold_add(r->tree, node, weight);
	if (rc)
		return rc;
	e->samples += samples;
	if (__builtin_add_overflow(e->weight, weight, &e->weight))
		e->weight = UINT64_MAX;
	r->account.counted += samples;
	return 0;
}

void report_call_name(const struct report *r, const struct report_call *c, struct buf *b)
{
	size_t len;
	const char *s = report_text_get(r, c->sym, &len), *slash;

	if (c->sym) {
		buf_add_safe(b, s, len);
	} else if (c->addr) {
		buf_adds(b, "0x");
		buf_add_hex(b, c->addr, 0, ' ');
	} else if (c->dso) {
		s = report_text_get(r, c->dso, &len);
		slash = memrchr(s, '/', len);
		if (slash) {
			len -= (size_t)(slash + 1 - s);
			s = slash + 1;
		}
		buf_adds(b, *s == '[' ? "" : "[");
		buf_add_safe(b, s, len);
		buf_adds(b, *s == '[' ? "" : "]");
	} else {
		buf_adds(b, "[unknown]");
	}
	if (c->flags & CALL_INLINED)
		buf_adds(b, " (inlined)");
	if (c->line) {
		s = report_text_get(r, c->line, &len);
		buf_addc(b, ' ');
		buf_add_safe(b, s, len);
	}
}

static const char *name_of(const void *ctx, uint32_t event, size_t *len)
{
	const struct report *r = ctx;

	return report_text_get(r, r->events[event].name, len);
}

void report_event_name(const struct report *r, uint32_t event, struct buf *b)
{
	const struct report_event *e = &r->events[event];
	const struct event_names all = {name_of, r, r->nevents};
	struct core_event cut;
	size_t len;
	const char *s = report_text_get(r, e->name, &len);

	if (event_short_name(s, len, &all, &cut))
		buf_add_safe(b, cut.name, cut.len);
	else
		buf_add_safe(b, s, len);
	if (e->number > 1)
		buf_addf(b, " #%u", e->number);
}

void report_group_name(const struct report *r, const struct report_call *c, struct buf *b)
{
	const struct group *g = report_group_get(r, c);
	bool any = false;
	size_t len;

	for (unsigned k = 0; k < r->nkeys; k++) {
		const char *text = report_text_get(r, g->key[k], &len);

		if (r->key[k].frame)
			continue;
		if (any)
			buf_addc(b, ' ');
		any = true;
		if (!r->key[k].comm)
			buf_addf(b, "%s=", r->key[k].name);
		buf_add_safe(b, text, len);
	}
	if (!any)
		buf_adds(b, "(all)");
}
