/* Definitions of probes in the kernel's own syntax. */
#include "inplace/line.h"

#include "base/err.h"

#include <ctype.h>
#include <string.h>

bool line_is_kernels(const char *text)
{
	const char *at = text + strspn(text, " \t");

	if (!*at || !strchr("prf", *at))
		return false;
	at++;
	at += strspn(at, "0123456789");
	/* "p:g/e PLACE", "p /bin/true:0x10"; but "p:12" is a line of a function p. */
	if (*at == ':')
		return isalpha((unsigned char)at[1]) || at[1] == '_';
	return *at == ' ' && at[strspn(at, " ")] == '/';
}

static bool is_name(const char *s, size_t n)
{
	if (!n || n > LINE_NAME_MAX || isdigit((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

static int bad(struct buf *why, const char *what, const char *text, size_t n)
{
	buf_addf(why, "%s: ", what);
	buf_add_safe(why, text, n);
	return PP_EUSAGE;
}

/* "GROUP/EVENT", "GROUP.EVENT" or "EVENT". */
static int take_names(struct probe_line *l, const char *s, size_t n, struct buf *why)
{
	size_t group = 0;

	while (group < n && s[group] != '/' && s[group] != '.')
		group++;
	if (group < n) {
		if (!is_name(s, group))
			return bad(why, "not a name of a group", s, group);
		memcpy(l->group, s, group);
		l->group[group] = 0;
		s += group + 1;
		n -= group + 1;
	}
	if (!is_name(s, n))
		return bad(why, "not a name of an event", s, n);
	memcpy(l->event, s, n);
	l->event[n] = 0;
	return 0;
}

/* "p_bash_0xd5880", as the kernel names what has no name. */
static void default_event(struct probe_line *l)
{
	size_t n = strcspn(l->rest, " \t"), start = 0, at;

	n = n < l->rest_len ? n : l->rest_len;
	for (size_t i = 0; i < n; i++)
		if (l->rest[i] == '/')
			start = i + 1;
	l->event[0] = l->kind[0];
	l->event[1] = '_';
	at = 2;
	for (size_t i = start; i < n && l->rest[i] != '(' && at < LINE_NAME_MAX; i++)
		l->event[at++] = isalnum((unsigned char)l->rest[i]) ? l->rest[i] : '_';
	l->event[at] = 0;
}

int line_parse(struct probe_line *l, const char *text, size_t n, struct buf *why)
{
	size_t at = 0, kind, name = 0;
	int rc = 0;

	*l = (struct probe_line){0};
	while (at < n && isblank((unsigned char)text[at]))
		at++;
	text += at;
	n -= at;
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	kind = strcspn(text, ": \t");
	if (!n || kind >= n || kind >= sizeof(l->kind) || !strchr("prf", *text) ||
	    strspn(text + 1, "0123456789") != kind - 1)
		return bad(why, "not a definition in the kernel's syntax", text, n);
	memcpy(l->kind, text, kind);
	if (text[kind] == ':') {
		name = strcspn(text + kind + 1, " \t");
		name = name < n - kind - 1 ? name : n - kind - 1;
		rc = take_names(l, text + kind + 1, name, why);
		name++;
	}
	if (rc)
		return rc;
	at = kind + name;
	while (at < n && isblank((unsigned char)text[at]))
		at++;
	if (at >= n)
		return bad(why, "the place of the probe is missing", text, n);
	l->rest = text + at;
	l->rest_len = n - at;
	l->list = *l->rest == '/'     ? TRACEFS_UPROBES
		  : l->kind[0] == 'f' ? TRACEFS_DYNAMIC
				      : TRACEFS_KPROBES;
	if (!*l->event)
		default_event(l);
	if (!*l->group)
		memcpy(l->group, l->list == TRACEFS_UPROBES ? "uprobes" : "kprobes", 8);
	return 0;
}

void line_write(const struct probe_line *l, const char *group, const char *event, struct buf *out)
{
	buf_addf(out, "%s:%s/%s ", l->kind, group, event);
	buf_add(out, l->rest, l->rest_len);
}
