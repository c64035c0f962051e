/* Functions that the kernel does not let anybody probe. */
#include "probe/blacklist.h"

#include "base/err.h"
#include "symbol/root.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
	struct buf text; /* lines "0xFROM-0xTO\tNAME" */
	uint64_t base;	 /* the address of _text; 0: not known */
	const char *path;
};

/* A place as definitions have it: NAME, MODULE:NAME, either with +OFFSET. */
struct spot {
	const char *name;
	size_t len;
	uint64_t address; /* of one that is counted from _text; 0: go by the name */
};

static uint64_t text_address(const char *symbols)
{
	const char *at = symbols;
	uint64_t base;

	while ((at = strstr(at, " _text")) != NULL) {
		const char *line = at;

		at += 6;
		if (*at && *at != '\n')
			continue;
		while (line > symbols && line[-1] != '\n')
			line--;
		base = strtoull(line, NULL, 16);
		return base;
	}
	return 0;
}

/* The second word of "p:GROUP/EVENT PLACE ARGS". */
static struct spot spot_of(const struct list *l, const char *line, size_t n)
{
	const char *blank = memchr(line, ' ', n), *end = line + n, *p;
	struct spot s = {.name = blank ? blank + 1 : end};

	for (p = s.name; p < end && *p != ' ' && *p != '\n'; p++)
		if (*p == ':')
			s.name = p + 1;
	s.len = strcspn(s.name, "+% \n");
	if (s.len > (size_t)(p - s.name))
		s.len = (size_t)(p - s.name);
	if (l->base && s.len == 5 && !memcmp(s.name, "_text", 5) && s.name[5] == '+')
		s.address = l->base + strtoull(s.name + 6, NULL, 0);
	return s;
}

static bool forbids(const struct list *l, const struct spot *s)
{
	const char *at = buf_str(&l->text);

	while (*at) {
		const char *next = at + strcspn(at, "\n"),
			   *tab = memchr(at, '\t', (size_t)(next - at));
		char *dash;
		uint64_t from = strtoull(at, &dash, 16);
		uint64_t to = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;

		if (s->address && s->address >= from && s->address < to)
			return true;
		if (!s->address && tab && (size_t)(next - tab - 1) == s->len &&
		    !memcmp(tab + 1, s->name, s->len))
			return true;
		at = *next ? next + 1 : next;
	}
	return false;
}

/* Takes the forbidden lines out of an event. */
static int sift(const struct list *l, struct definer *d, struct event *e)
{
	struct buf left = BUF_INIT;
	const char *at = buf_str(&e->lines);
	int rc;

	while (*at) {
		size_t n = strcspn(at, "\n");
		struct spot s = spot_of(l, at, n);

		if (forbids(l, &s)) {
			diag_warn(d->diag, NULL, -1,
				  "%s:%s: the kernel forbids probes in %.*s (its list is %s)",
				  e->group, e->name, (int)strcspn(s.name, " \n"), s.name, l->path);
			e->points--;
			d->failed++;
		} else {
			buf_add(&left, at, n);
			buf_addc(&left, '\n');
		}
		at += n + (at[n] == '\n');
	}
	rc = left.err;
	buf_release(&e->lines);
	e->lines = left;
	return rc;
}

/* Whether anything is left of a definition of which there was something. */
static bool remains(const struct definer *d, uint32_t spec)
{
	bool was = false;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->v[i].spec == spec && d->v[i].points)
			return true;
		was |= d->v[i].spec == spec;
	}
	return !was;
}

static void drop_empty(struct definer *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->v[i].points) {
			d->v[n++] = d->v[i];
			continue;
		}
		free(d->v[i].args);
		buf_release(&d->v[i].lines);
	}
	d->n = n;
}

static int apply(const struct list *l, struct definer *d)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->n; i++)
		rc = sift(l, d, &d->v[i]);
	for (uint32_t i = 0; !rc && i < d->n; i++)
		if (!remains(d, d->v[i].spec))
			rc = PP_EACCES;
	if (rc == PP_EACCES)
		diag_error(d->diag, NULL, -1,
			   "nothing is left of a definition: all its places are forbidden");
	else if (rc)
		diag_error(d->diag, NULL, -1, "%s", pp_strerror(rc));
	if (!rc)
		drop_empty(d);
	return rc;
}

int blacklist_apply(const char *path, const char *symbols, struct definer *d)
{
	struct list l = {.text = BUF_INIT, .path = path ? path : BLACKLIST_FILE};
	enum symtab_reason why;
	int rc = root_read(NULL, l.path, BLACKLIST_MAX, &l.text, &why);

	if (rc) {
		if (path)
			diag_error(d->diag, path, -1, "%s", pp_strerror(rc));
		else
			diag_say(d->diag, l.path,
				 "not read (%s): it is not known what is forbidden",
				 pp_strerror(rc));
		rc = path || rc == PP_ENOMEM ? rc : 0;
	} else {
		l.base = text_address(symbols);
		rc = apply(&l, d);
	}
	buf_release(&l.text);
	return rc;
}
