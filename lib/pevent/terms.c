/* The terms that say how to record, which every event may have between its slashes. */
#include "base/err.h"
#include "base/opt.h"
#include "pevent/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a term is worth: a number, a frequency, a text, yes or no (or its contrary), nothing. */
enum kind { NUMBER, FREQ, TEXT, CHOICE, CONTRARY, CONFIG, IGNORED };

#define N(field) offsetof(struct pevent, field), sizeof(((struct pevent *)0)->field)
static const struct term {
	const char *key;
	enum kind kind;
	size_t offset, size;
} terms[] = {
	{"config", CONFIG, N(attr.config)},
	{"config1", CONFIG, N(attr.config1)},
	{"config2", CONFIG, N(attr.config2)},
	{"name", TEXT, N(name)},
	{"period", NUMBER, N(period)},
	{"freq", FREQ, N(freq)},
	{"branch_type", TEXT, N(branch)},
	{"time", CHOICE, N(time)},
	{"call-graph", TEXT, N(callgraph)},
	{"stack-size", NUMBER, N(stack_size)},
	{"inherit", CHOICE, N(inherit)},
	{"no-inherit", CONTRARY, N(inherit)},
	{"max-stack", NUMBER, N(max_stack)},
	{"overwrite", CHOICE, N(overwrite)},
	{"no-overwrite", CONTRARY, N(overwrite)},
	{"percore", CHOICE, N(percore)},
	{"aux-output", CHOICE, N(aux_output)},
	{"aux-sample-size", NUMBER, N(aux_sample_size)},
	{"nr", IGNORED, 0, 0},	      /* limits what perf trace shows */
	{"metric-id", IGNORED, 0, 0}, /* perf's own */
};
#undef N
#define N_TERMS (sizeof(terms) / sizeof(terms[0]))

const char *term_nearest(const char *key)
{
	const char *keys[N_TERMS];

	for (size_t i = 0; i < N_TERMS; i++)
		keys[i] = terms[i].key;
	return opt_nearest(key, keys, N_TERMS);
}

bool term_next(char **text, char **key, char **value)
{
	char *p = *text + strspn(*text, " \t\n,"), *equals = NULL, quote = 0;

	*key = p;
	*value = NULL;
	if (!*p)
		return false;
	for (; *p && (quote || *p != ','); p++) {
		if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '\'')
			quote = *p;
		else if (*p == '=' && !equals)
			equals = p;
	}
	*text = *p ? p + 1 : p;
	while (p > *key && strchr(" \t\n", p[-1]))
		p--;
	*p = 0;
	if (!equals)
		return true;
	*equals++ = 0;
	if (p > equals + 1 && *equals == '\'' && p[-1] == '\'') {
		equals++;
		p[-1] = 0;
	}
	*value = equals;
	return true;
}

static int bad(const struct term *t, const char *value, const char *what, struct buf *why)
{
	buf_addf(why, "the term %s= takes %s, not ", t->key, what);
	if (value)
		buf_add_safe(why, value, strlen(value));
	else
		buf_adds(why, "nothing");
	return PP_EUSAGE;
}

static bool whole_number(const char *s, uint64_t *v)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, 0);
	return !errno && !*end;
}

static void put(struct pevent *ev, const struct term *t, const void *v)
{
	memcpy((char *)ev + t->offset, v, t->size);
}

static int put_number(struct pevent *ev, const struct term *t, uint64_t v, const char *value,
		      struct buf *why)
{
	uint32_t small = (uint32_t)v;

	if (t->size == sizeof(small) && v > UINT32_MAX)
		return bad(t, value, "a smaller number", why);
	if (t->kind != CONFIG && !v)
		return bad(t, value, "a number above 0", why);
	put(ev, t, t->size == sizeof(small) ? (void *)&small : (void *)&v);
	return 0;
}

static int put_choice(struct pevent *ev, const struct term *t, const char *value, struct buf *why)
{
	enum pevent_choice choice = PEVENT_YES;

	if (value && strcmp(value, "0") == 0)
		choice = PEVENT_NO;
	else if (value && strcmp(value, "1") != 0)
		return bad(t, value, "0 or 1", why);
	if (t->kind == CONTRARY)
		choice = choice == PEVENT_YES ? PEVENT_NO : PEVENT_YES;
	put(ev, t, &choice);
	return 0;
}

static int take(struct pevents *e, struct pevent *ev, const struct term *t, const char *value,
		struct buf *why)
{
	uint64_t v = 0;
	char *text;

	switch (t->kind) {
	case IGNORED: return 0;
	case CHOICE:
	case CONTRARY: return put_choice(ev, t, value, why);
	case TEXT:
		if (!value || !*value)
			return bad(t, value, "a text", why);
		text = arena_dup(&e->arena, value, strlen(value));
		put(ev, t, &text);
		return text ? 0 : PP_ENOMEM;
	case FREQ:
		if (value && strcmp(value, "max") == 0)
			return put_number(ev, t, UINT64_MAX, value, why);
		break;
	default: break;
	}
	if (!whole_number(value, &v))
		return bad(t, value, "a number", why);
	return put_number(ev, t, v, value, why);
}

int term_take(struct pevents *e, struct pevent *ev, const char *key, const char *value, bool *mine,
	      struct buf *why)
{
	for (size_t i = 0; i < N_TERMS; i++) {
		if (strcmp(key, terms[i].key) != 0)
			continue;
		*mine = true;
		return take(e, ev, &terms[i], value, why);
	}
	*mine = false;
	return 0;
}

/* ---- the letters after the last colon ---- */

#define LETTERS "u k h G H I p P S D W e b"

/* The first of u, k and h excludes the other levels. */
static void only_level(struct pevent *ev)
{
	if (!ev->levels)
		ev->attr.exclude_user = ev->attr.exclude_kernel = ev->attr.exclude_hv = 1;
	ev->levels = true;
}

/* Likewise G and H. */
static void only_side(struct pevent *ev)
{
	if (!ev->levels_fixed_guest)
		ev->attr.exclude_guest = ev->attr.exclude_host = 1;
	ev->levels_fixed_guest = true;
}

static int bad_letter(const char *letter, const char *what, struct buf *why)
{
	buf_adds(why, "event modifier '");
	buf_add_safe(why, letter, 1);
	buf_addf(why, "' %s", what);
	return PP_EUSAGE;
}

static int set_one(struct pevent *ev, const char *letter, struct buf *why)
{
	switch (*letter) {
	case 'u': only_level(ev), ev->attr.exclude_user = 0; break;
	case 'k': only_level(ev), ev->attr.exclude_kernel = 0; break;
	case 'h': only_level(ev), ev->attr.exclude_hv = 0; break;
	case 'G': only_side(ev), ev->attr.exclude_guest = 0; break;
	case 'H': only_side(ev), ev->attr.exclude_host = 0; break;
	case 'I': ev->attr.exclude_idle = 1; break;
	case 'S': ev->counted_too = true; break;
	case 'D': ev->attr.pinned = 1; break;
	case 'W': ev->weak = true; break;
	case 'e': ev->attr.exclusive = 1; break;
	case 'b': return bad_letter(letter, "(counting by BPF) is not supported", why);
	case 'P':
		ev->precise_max = true;
		ev->attr.precise_ip = PEVENT_PRECISE_MAX;
		break;
	case 'p':
		if (ev->attr.precise_ip == PEVENT_PRECISE_MAX && !ev->precise_max)
			return bad_letter(letter, "occurs more than three times", why);
		if (!ev->precise_max)
			ev->attr.precise_ip = (ev->attr.precise_ip + 1) & PEVENT_PRECISE_MAX;
		break;
	default: return bad_letter(letter, "is not one of " LETTERS, why);
	}
	return 0;
}

int modifiers_set(struct pevent *ev, const char *mods, struct buf *why)
{
	int rc = 0;

	for (const char *p = mods; *p && !rc; p++)
		rc = set_one(ev, p, why);
	return rc;
}
