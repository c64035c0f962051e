/* Which events an item of an expression is for: "sched_switch, irq:softirq_*: CONDITION". */
#include "expr/parts.h"
#include "event/core_pmu.h"
#include "event/glob.h"

#include <ctype.h>

/* ---- parsing ---- */

static size_t blanks(const char *s, size_t pos)
{
	while (isspace((unsigned char)s[pos]))
		pos++;
	return pos;
}

/* One half of an event's name: a shell pattern, or anything in quotes. Its end, or pos. */
static size_t half(const char *s, size_t pos, const char **text, size_t *len)
{
	const char *quote;
	size_t end = pos;

	if (s[pos] == '"') {
		quote = strchr(s + pos + 1, '"');
		*text = s + pos + 1;
		*len = quote ? (size_t)(quote - *text) : 0;
		return quote ? (size_t)(quote - s) + 1 : pos;
	}
	while (isalnum((unsigned char)s[end]) || (s[end] && strchr("_-*?.[]", s[end])))
		end++;
	*text = s + pos;
	*len = end - pos;
	return end;
}

/* One pattern: EVENT, SYSTEM/EVENT, and with `perf` SYSTEM:EVENT. Its end, or pos. */
static size_t pattern(const char *s, size_t pos, bool perf, struct pattern *e)
{
	size_t end = half(s, pos, &e->event, &e->event_len), more;

	e->at = pos;
	if (end == pos)
		return pos;
	if (s[end] == '/' || (perf && s[end] == ':')) {
		struct pattern second;

		more = half(s, end + 1, &second.event, &second.event_len);
		if (more != end + 1) {
			e->system = e->event;
			e->system_len = e->event_len;
			e->event = second.event;
			e->event_len = second.event_len;
			end = more;
		} else if (s[end] == '/') {
			return pos;
		}
	}
	e->end = end;
	return end;
}

int expr_patterns(struct expr_lex *lex, bool perf, struct pattern **list, bool *found)
{
	const char *s = lex->src.text;
	size_t pos = lex->pos;

	*list = NULL;
	*found = false;
	for (;;) {
		struct pattern one = {0}, *e;
		size_t end;

		pos = blanks(s, pos);
		end = pattern(s, pos, perf, &one);
		if (end == pos)
			return 0;
		e = arena_alloc(lex->arena, sizeof(*e));
		if (!e)
			return PP_ENOMEM;
		*e = one;
		e->next = *list;
		*list = e;
		pos = blanks(s, end);
		if (s[pos] == ':')
			break;
		if (s[pos] != ',')
			return 0;
		pos++;
	}
	*found = true;
	lex->pos = pos + 1;
	return 0;
}

/* ---- matching ---- */

/* ".*", as trace-cmd has it, is "*" here. */
static bool name_matches(const char *pattern, size_t n, const char *name, size_t len)
{
	char plain[256];
	size_t out = 0;

	if (n > sizeof(plain))
		return false;
	for (size_t i = 0; i < n; i++)
		if (pattern[i] != '.' || i + 1 == n || pattern[i + 1] != '*')
			plain[out++] = pattern[i];
	return glob_match(plain, out, name, len);
}

static bool pattern_matches(const struct pattern *p, const struct ps_event *e)
{
	const char *colon = memchr(e->name.p, ':', e->name.len);
	size_t system = colon ? (size_t)(colon - e->name.p) : 0;
	struct core_event core;
	size_t n;
	const char *base = event_base_name(e->name.p, e->name.len, &core, &n);
	const char *rest = colon ? colon + 1 : e->name.p;
	size_t rest_len = colon ? e->name.len - system - 1 : e->name.len;

	if (p->system)
		return colon && name_matches(p->system, p->system_len, e->name.p, system) &&
		       name_matches(p->event, p->event_len, rest, rest_len);
	return name_matches(p->event, p->event_len, rest, rest_len) ||
	       (base != e->name.p && name_matches(p->event, p->event_len, base, n)) ||
	       (colon && name_matches(p->event, p->event_len, e->name.p, system)) ||
	       (colon && name_matches(p->event, p->event_len, e->name.p, e->name.len));
}

bool expr_item_matches(const struct item *item, const struct ps_event *e)
{
	bool any = !item->patterns;

	for (struct pattern *p = item->patterns; p; p = p->next)
		if (pattern_matches(p, e))
			any = p->matched = true;
	return any;
}
