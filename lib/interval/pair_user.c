/* The pairs of events that a user asks for. */
#include "interval/pair_parts.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *s, size_t n)
{
	char *p = malloc(n + 1);

	if (p) {
		memcpy(p, s, n);
		p[n] = 0;
	}
	return p;
}

/*
 * EVENT[:KEY]. Two colons: SYSTEM:EVENT:KEY. With one it is not known before the events are whether
 * SYSTEM:EVENT or EVENT:KEY is meant: an event that is called so decides.
 */
static int parse_event(struct pair_user *u, const char *s, size_t n, struct buf *why)
{
	const char *colon = memchr(s, ':', n);
	const char *second = colon ? memchr(colon + 1, ':', n - (size_t)(colon + 1 - s)) : NULL;
	const char *end = second ? second : colon;
	char *key;
	int rc;

	u->whole = copy(s, n);
	if (!u->whole)
		return PP_ENOMEM;
	rc = expr_new(&u->thread, "TID", EXPR_VALUES, why);
	if (rc || !end)
		return rc;
	u->event = copy(s, (size_t)(end - s));
	key = copy(end + 1, n - (size_t)(end + 1 - s));
	rc = u->event && key ? expr_new(&u->key, key, EXPR_VALUES, why) : PP_ENOMEM;
	free(key);
	if (!rc && expr_count(u->key) > PAIR_KEYS) {
		buf_addf(why, "%.*s: more than %d keys", (int)n, s, PAIR_KEYS);
		rc = PP_EUSAGE;
	}
	return rc;
}

static int add_user(struct engine *en, enum pair_role role, const char *text, struct buf *why)
{
	struct pair_user *u = &en->users[en->nusers++];
	const char *cond = strstr(text, " if ");
	size_t n = cond ? (size_t)(cond - text) : strlen(text);
	int rc;

	u->role = role;
	while (n && text[n - 1] == ' ')
		n--;
	if (!n) {
		buf_adds(why, "an event is missing");
		return PP_EUSAGE;
	}
	rc = parse_event(u, text, n, why);
	if (!rc && cond)
		rc = expr_new(&u->condition, cond + 4, EXPR_CONDITION, why);
	return rc;
}

int pair_user(struct engine *en, const struct lat_pair *p, struct buf *why)
{
	int rc = 0;

	en->outermost = p->outermost;
	en->across_losses = p->across_losses;

	if (!p->nstarts && !p->nends)
		return 0;
	if (!p->nstarts || !p->nends) {
		buf_addf(why, "a pair needs an event that %s it (-%c)",
			 p->nstarts ? "ends" : "starts", p->nstarts ? 'e' : 's');
		return PP_EUSAGE;
	}
	en->users = calloc(p->nstarts + p->nends, sizeof(*en->users));
	if (!en->users)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < p->nstarts && !rc; i++)
		rc = add_user(en, PAIR_START, p->starts[i], why);
	for (uint32_t i = 0; i < p->nends && !rc; i++)
		rc = add_user(en, PAIR_END, p->ends[i], why);
	return rc || !p->bytes ? rc : expr_new(&en->bytes, p->bytes, EXPR_VALUES, why);
}

void pair_user_free(struct engine *en)
{
	for (uint32_t i = 0; i < en->nusers; i++) {
		struct pair_user *u = &en->users[i];

		free(u->whole);
		free(u->event);
		expr_free(u->key);
		expr_free(u->thread);
		expr_free(u->condition);
	}
	free(en->users);
	expr_free(en->bytes);
}

int pair_see(struct engine *en, const struct sreader *r, const struct ps_record *rec)
{
	int rc = en->bytes ? expr_see(en->bytes, r, rec) : 0;

	for (uint32_t i = 0; i < en->nusers && !rc; i++) {
		struct pair_user *u = &en->users[i];

		rc = expr_see(u->thread, r, rec);
		if (!rc && u->key)
			rc = expr_see(u->key, r, rec);
		if (!rc && u->condition)
			rc = expr_see(u->condition, r, rec);
	}
	return rc;
}

unsigned pair_problems(const struct engine *en, struct buf *why)
{
	unsigned n = en->bytes ? expr_problems(en->bytes, why) : 0;

	/* Of the two ways to read a text with a colon only one can be right. */
	for (uint32_t i = 0; i < en->nusers; i++)
		if (!en->users[i].bound) {
			buf_addf(why, "%sthere is no event %s", why->len ? "\n" : "",
				 en->users[i].whole);
			n++;
		}
	return n;
}

int lat_pair_add(const char **list, uint32_t *n, const char *arg, struct buf *why)
{
	if (*n == LAT_EVENTS_MAX) {
		buf_addf(why, "more than %d events", LAT_EVENTS_MAX);
		return PP_EUSAGE;
	}
	list[(*n)++] = arg;
	return 0;
}

int lat_pair_restart(struct lat_pair *p, const char *arg, struct buf *why)
{
	static const char *const names[] = {
		[PAIR_REPLACE] = "replace", [PAIR_NEST] = "nest", [PAIR_KEEP] = "keep"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(arg, names[i])) {
			p->restart = (enum pair_restart)i;
			return 0;
		}
	buf_adds(why, "--restart: replace, nest or keep");
	return PP_EUSAGE;
}
