/* The definition of a probe as people write it. */
#include "probe/spec.h"

#include "base/err.h"
#include "inspect/name_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_operator(const char *start, const char *at)
{
	return at - start >= 8 && !strncmp(at - 8, "operator", 8) &&
	       (at - start == 8 || !(isalnum((unsigned char)at[-9]) || at[-9] == '_'));
}

/* The end of the word at s: the blank outside of brackets and quotes, or the end. */
static char *word_end(char *s)
{
	char *start = s;
	int depth = 0;
	char quote = 0;

	for (; *s; s++) {
		if (quote) {
			quote = *s == quote ? 0 : quote;
			continue;
		}
		/* Brackets in the names of operators are letters: operator<, operator(). */
		if (is_operator(start, s)) {
			while (*s && strchr("<>()[]=!+-*/%&|^~,", *s))
				s++;
			if (!*s)
				break;
			/* "operator new": the blank is a part of the name. */
			if (*s == ' ' && s[-1] == 'r' && isalpha((unsigned char)s[1]))
				continue;
		}
		if (strchr("<([{", *s))
			depth++;
		else if (strchr(")]}", *s) || (*s == '>' && s > start && s[-1] != '-'))
			depth -= depth > 0;
		else if (*s == '"')
			quote = *s;
		else if (*s == ' ' || *s == '\t' || *s == '\n') {
			if (!depth)
				break;
		}
	}
	return s;
}

static int split_words(struct spec *s, char **first, struct buf *why)
{
	char *p = s->copy + strspn(s->copy, " \t\n");

	*first = p;
	for (uint32_t n = 0; *p; n++) {
		char *end = word_end(p);

		if (n == SPEC_ARGS_MAX) {
			buf_addf(why, "more than %d arguments", SPEC_ARGS_MAX);
			return PP_EUSAGE;
		}
		if (n)
			s->args[s->n_args++] = p;
		p = end + strspn(end, " \t\n");
		*end = 0;
	}
	if (!**first) {
		buf_adds(why, "the function is missing");
		return PP_EUSAGE;
	}
	return 0;
}

/* [GROUP:]EVENT= at the beginning. */
static int take_event(struct spec *s, char **p, struct buf *why)
{
	char *equals = strchr(*p, '='), *colon;

	if (!equals || equals[1] == '=' || equals == *p || is_operator(*p, equals) ||
	    strcspn(*p, "<>()[]!+-*/%&|^~., ") < (size_t)(equals - *p))
		return 0;
	*equals = 0;
	s->event = *p;
	colon = strchr(*p, ':');
	if (colon) {
		*colon = 0;
		s->group = *p;
		s->event = colon + 1;
	}
	*p = equals + 1;
	if (!name_is_valid(s->event, strlen(s->event), NAME_EVENT_MAX) ||
	    (s->group && !name_is_valid(s->group, strlen(s->group), NAME_EVENT_MAX))) {
		buf_addf(why,
			 "'%s%s%s': names of groups and events have only letters, digits and _, 63 "
			 "at most",
			 s->group ? s->group : "", s->group ? ":" : "", s->event);
		return PP_EUSAGE;
	}
	return 0;
}

static bool to_number(const char *s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	*v = strtoull(s, &end, 0);
	return !*end;
}

void spec_marker(struct spec *s, char *p)
{
	char *colon = strchr(p, ':');

	s->kind = SPEC_MARKER;
	s->func = p;
	if (colon) {
		*colon = 0;
		s->src = strncmp(p, "sdt_", 4) != 0 ? p : p + 4;
		s->func = colon + 1;
	}
}

/* What follows the function's name. */
static void take_suffix(struct spec *s, char *p)
{
	char *at = strrchr(p, '%'), *colon;

	if (at &&
	    (!strcmp(at, "%return") || !strcmp(at, "%uretprobe") || !strcmp(at, "%kretprobe"))) {
		s->kind = at[1] == 'r' ? SPEC_RETURN : SPEC_URETURN;
		*at = 0;
		return;
	}
	at = strchr(p, ';');
	if (at) {
		s->kind = SPEC_PATTERN;
		s->pattern = at + 1;
		*at = 0;
		return;
	}
	colon = strrchr(p, ':');
	if (colon && colon > p && colon[-1] != ':' && to_number(colon + 1, &s->number)) {
		s->kind = SPEC_LINE;
		*colon = 0;
		return;
	}
	at = strrchr(p, '+');
	if (at && at > p && !is_operator(p, at) && to_number(at + 1, &s->number)) {
		s->kind = SPEC_OFFSET;
		*at = 0;
	}
}

/* A line of a file: "zstd.c:120". Names of functions have no such dots and slashes in C. */
bool spec_is_file(const char *s)
{
	static const char *const ends[] = {".c",  ".cc", ".cpp", ".cxx", ".h", ".hpp",
					   ".hh", ".rs", ".go",	 ".f90", ".f", ".d",
					   ".ml", ".S",	 ".C",	 ".inc"};
	const char *dot = strrchr(s, '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(dot, ends[i]))
			return true;
	return false;
}

int spec_parse(struct spec *s, const char *text, struct buf *why)
{
	char *p, *at;
	int rc;

	memset(s, 0, sizeof(*s));
	if (strlen(text) > SPEC_MAX) {
		buf_adds(why, "the definition is too long");
		return PP_EUSAGE;
	}
	s->copy = strdup(text);
	if (!s->copy)
		return PP_ENOMEM;
	rc = split_words(s, &p, why);
	if (!rc)
		rc = take_event(s, &p, why);
	if (rc)
		return rc;
	if (*p == '%') {
		spec_marker(s, p + 1);
		return 0;
	}
	s->func = p;
	if (p[0] == '0' && p[1] == 'x' && to_number(p, &s->number)) {
		s->kind = SPEC_ADDRESS;
		return 0;
	}
	take_suffix(s, p);
	at = strrchr(p, '@');
	if (at && at > p && at[1] && !strpbrk(at, ">)")) {
		*at = 0;
		s->src = at + 1;
		/* FUNC@SRC:LINE is a line of the file. */
		if (s->kind == SPEC_LINE && !*p)
			s->kind = SPEC_SOURCE;
	} else if (s->kind == SPEC_LINE && spec_is_file(p)) {
		s->kind = SPEC_SOURCE;
		s->src = p;
		s->func = NULL;
	}
	if (s->func && !*s->func) {
		buf_adds(why, "the function is missing");
		return PP_EUSAGE;
	}
	return 0;
}

void spec_release(struct spec *s)
{
	free(s->copy);
	memset(s, 0, sizeof(*s));
}
