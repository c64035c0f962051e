/*
 * PMUs below sysfs: their types, the formats of their terms, the events that they name; see
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format} of the kernel.
 */
#include "base/err.h"
#include "base/opt.h"
#include "pevent/parts.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX  4096	/* bytes of a file with an event or a format */
#define DEPTH_MAX 4	/* named events in named events */
#define NAMES_MAX 65536 /* terms or events that a message is made of */

/* A name from the user is an entry of a directory, and no path. */
static bool is_entry(const char *name)
{
	return name && *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strchr(name, '/');
}

static const char *sys(const struct pevents *e)
{
	return e->sys ? e->sys : "/sys";
}

int pmu_text(const struct pmu *p, const char *file, struct buf *b)
{
	char path[1024];
	int rc;

	if (snprintf(path, sizeof(path), "%s/%s", p->dir, file) >= (int)sizeof(path))
		return PP_ENOENT;
	rc = sysfile_read(path, TEXT_MAX, b);
	while (!rc && b->len && (b->data[b->len - 1] == '\n' || b->data[b->len - 1] == ' '))
		b->data[--b->len] = 0;
	return rc;
}

/* Has the machine this PMU? 0, PP_ENOENT, or another code. */
static int pmu_open(const struct pevents *e, const char *name, struct pmu *p)
{
	char path[sizeof(p->dir) + 8];
	uint64_t type;
	int rc;

	*p = (struct pmu){0};
	if (!is_entry(name) || strlen(name) >= sizeof(p->name) ||
	    snprintf(p->dir, sizeof(p->dir), "%s/bus/event_source/devices/%s", sys(e), name) >=
		    (int)sizeof(p->dir))
		return PP_ENOENT;
	memcpy(p->name, name, strlen(name) + 1);
	snprintf(path, sizeof(path), "%s/type", p->dir);
	rc = sysfile_u64(path, &type);
	p->type = (uint32_t)type;
	return rc;
}

/* The rest of a PMU's name after what the user wrote: nothing, or a number. */
static bool is_number(const char *s)
{
	s += *s == '_';
	return s[strspn(s, "0123456789")] == 0;
}

/* "imc" is for uncore_imc, uncore_imc_0, uncore_imc_1, ... */
static bool fits(const char *pmu, const char *name)
{
	size_t len = strlen(name);

	if (strpbrk(name, "*?["))
		return fnmatch(name, pmu, 0) == 0;
	if (strncmp(pmu, "uncore_", 7) == 0 && strncmp(name, "uncore_", 7) != 0)
		pmu += 7;
	return strncmp(pmu, name, len) == 0 && is_number(pmu + len);
}

int pmu_each(const struct pevents *e, const char *name, pmu_visit *visit, void *ctx)
{
	struct sysnames all = {0};
	struct pmu p;
	char dir[512];
	bool found = false;
	int rc = pmu_open(e, name, &p);

	if (rc != PP_ENOENT)
		return rc ? rc : visit(ctx, &p);
	snprintf(dir, sizeof(dir), "%s/bus/event_source/devices", sys(e));
	rc = sysnames_read(&all, dir, "*");
	for (size_t i = 0; i < all.n && !rc; i++) {
		if (!fits(all.v[i], name) || pmu_open(e, all.v[i], &p))
			continue;
		found = true;
		rc = visit(ctx, &p);
	}
	sysnames_release(&all);
	return rc || found ? rc : PP_ENOENT;
}

bool pmu_has_event(const struct pmu *p, const char *event)
{
	char path[1024];

	return is_entry(event) &&
	       snprintf(path, sizeof(path), "%s/events/%s", p->dir, event) < (int)sizeof(path) &&
	       !access(path, R_OK);
}

/* "config1:0-7,21": which word, and a mask of its bits. */
static bool parse_format(const char *s, int *word, uint64_t *mask)
{
	*word = 0;
	*mask = 0;
	if (strncmp(s, "config", 6) != 0)
		return false;
	s += 6;
	if (*s >= '1' && *s <= '9')
		*word = *s++ - '0';
	if (*s++ != ':' || *word > 2)
		return false;
	for (;; s++) {
		char *end;
		unsigned long from = strtoul(s, &end, 10), to = from;

		if (end == s)
			return false;
		if (*end == '-') {
			s = end + 1;
			to = strtoul(s, &end, 10);
		}
		if (end == s || to > 63 || from > to)
			return false;
		for (unsigned long i = from; i <= to; i++)
			*mask |= 1ull << i;
		s = end;
		if (*s != ',')
			return !*s;
	}
}

/* The lowest bits of the value go to the lowest bits of the mask. False: there are too few. */
static bool put_value(uint64_t *config, uint64_t mask, uint64_t v)
{
	*config &= ~mask;
	for (int i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		*config |= (v & 1) << i;
		v >>= 1;
	}
	return !v;
}

struct building {
	struct pevents *e;
	const struct pmu *p;
	const char *terms; /* the user's, as they were written */
	struct pevent *ev;
	struct buf *why;
	int depth;
};

static int say_term(struct building *b, const char *key, const char *what)
{
	buf_addf(b->why, "%s: the term ", b->p->name);
	buf_add_safe(b->why, key, strlen(key));
	buf_adds(b->why, what);
	return PP_EUSAGE;
}

static int set_format(struct building *b, const char *key, const char *value, const char *format)
{
	struct perf_event_attr *attr = &b->ev->attr;
	uint64_t v = 1, mask, word64;
	char *end;
	int word;

	if (!parse_format(format, &word, &mask))
		return say_term(b, key, " has a format that is not understood");
	if (value) {
		errno = 0;
		v = strtoull(value, &end, 0);
		if (errno || *end || end == value || *value == '-')
			return say_term(b, key, " takes a number");
	}
	word64 = word == 0 ? attr->config : word == 1 ? attr->config1 : attr->config2;
	if (!put_value(&word64, mask, v)) {
		buf_addf(b->why, "%s: the term %s takes numbers up to %#llx", b->p->name, key,
			 (1ull << __builtin_popcountll(mask)) - 1);
		return PP_EUSAGE;
	}
	if (word == 0)
		attr->config = word64;
	else if (word == 1)
		attr->config1 = word64;
	else
		attr->config2 = word64;
	return 0;
}

/* What the PMU has, for a message; the nearest one first. */
static int unknown_term(struct building *b, const char *key)
{
	struct sysnames names = {0};
	const char *near = NULL;
	char dir[600];

	buf_addf(b->why, "%s has no term or event '", b->p->name);
	buf_add_safe(b->why, key, strlen(key));
	buf_adds(b->why, "'");
	snprintf(dir, sizeof(dir), "%s/format", b->p->dir);
	(void)sysnames_read(&names, dir, "*");
	snprintf(dir, sizeof(dir), "%s/events", b->p->dir);
	(void)sysnames_read(&names, dir, "*");
	if (names.n && names.n < NAMES_MAX)
		near = opt_nearest(key, (const char *const *)names.v, names.n);
	if (near)
		buf_addf(b->why, "; did you mean %s?", near);
	for (size_t i = 0; i < names.n && i < 32 && !near; i++)
		buf_addf(b->why, "%s %s", i ? "" : "; it has", names.v[i]);
	sysnames_release(&names);
	return PP_EUSAGE;
}

/* Does the user give the term that a named event leaves open ("core=?")? */
static bool is_given(const struct building *b, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = b->terms; (p = strstr(p, key)); p += len)
		if ((p == b->terms || p[-1] == ',') && p[len] == '=')
			return true;
	return false;
}

/* The text of "events/NAME.KIND". */
static bool named_file(const struct building *b, const char *name, const char *kind,
		       struct buf *text)
{
	char file[256];

	buf_reset(text);
	return snprintf(file, sizeof(file), "events/%s.%s", name, kind) < (int)sizeof(file) &&
	       !pmu_text(b->p, file, text);
}

/* What files beside a named event say: its scale, its unit, how counts are summed. */
static int named_more(struct building *b, const char *name)
{
	struct buf text = BUF_INIT;
	struct pevent *ev = b->ev;
	int rc = 0;

	if (named_file(b, name, "scale", &text) && text.len)
		ev->scale = strtod(buf_str(&text), NULL);
	if (named_file(b, name, "unit", &text) && text.len) {
		ev->unit = arena_dup(&b->e->arena, text.data, text.len);
		rc = ev->unit ? 0 : PP_ENOMEM;
	}
	ev->per_pkg = named_file(b, name, "per-pkg", &text);
	ev->snapshot = named_file(b, name, "snapshot", &text);
	buf_release(&text);
	return rc;
}

static int apply(struct building *b, char *terms);

/* A term that is a named event stands for the terms in its file. */
static int set_named(struct building *b, const char *name)
{
	struct buf text = BUF_INIT;
	char file[256];
	int rc = PP_ELIMIT;

	if (b->depth < DEPTH_MAX &&
	    snprintf(file, sizeof(file), "events/%s", name) < (int)sizeof(file))
		rc = pmu_text(b->p, file, &text);
	b->depth++;
	if (!rc)
		rc = apply(b, text.len ? (char *)text.data : (char[1]){0});
	b->depth--;
	buf_release(&text);
	return rc ? rc : named_more(b, name);
}

/* The name of the PMU's own event that a term is, or NULL. */
static const char *named_event(const struct building *b, const char *key, const char *value)
{
	const char *name = value ? value : key, *other;

	if (value && (strcmp(key, "event") != 0 || (*value >= '0' && *value <= '9')))
		return NULL;
	if (pmu_has_event(b->p, name))
		return name;
	other = name_in_sysfs(name);
	return other && pmu_has_event(b->p, other) ? other : NULL;
}

static int apply_one(struct building *b, const char *key, const char *value)
{
	struct buf format = BUF_INIT;
	struct pevent raw = {0};
	const char *name;
	char file[256];
	bool mine;
	int rc = term_take(b->e, b->ev, key, value, &mine, b->why);

	if (rc || mine || !key)
		return rc;
	if (value && strcmp(value, "?") == 0)
		return is_given(b, key) ? 0 : say_term(b, key, "= must be given for this event");
	name = b->depth < DEPTH_MAX ? named_event(b, key, value) : NULL;
	if (name)
		return set_named(b, name);
	if (is_entry(key) && snprintf(file, sizeof(file), "format/%s", key) < (int)sizeof(file) &&
	    !pmu_text(b->p, file, &format))
		rc = set_format(b, key, value, buf_str(&format));
	else if (!value && key[0] == 'r' && name_find(key, &raw) && raw.attr.type == PERF_TYPE_RAW)
		b->ev->attr.config = raw.attr.config;
	else
		rc = unknown_term(b, key);
	buf_release(&format);
	return rc;
}

static int apply(struct building *b, char *terms)
{
	char *key, *value;
	int rc = 0;

	while (!rc && term_next(&terms, &key, &value))
		rc = apply_one(b, key, value);
	return rc;
}

/* Where it is to be opened: one CPU of each socket, or the CPUs of its kind. */
static int find_cpus(struct building *b)
{
	struct buf text = BUF_INIT;
	struct pevent *ev = b->ev;
	int rc = 0;

	if (!pmu_text(b->p, "cpumask", &text) && text.len) {
		ev->cpus_all = false;
		ev->attr.exclude_guest = 0; /* such a PMU does not know who runs */
	} else {
		buf_reset(&text);
		ev->cpus_all = !pmu_text(b->p, "cpus", &text);
	}
	if (text.len) {
		ev->cpus = arena_dup(&b->e->arena, text.data, text.len);
		rc = ev->cpus ? 0 : PP_ENOMEM;
	}
	buf_release(&text);
	return rc;
}

int pmu_event(struct pevents *e, const struct pmu *p, const char *terms, struct pevent *ev,
	      struct buf *why)
{
	struct building b = {.e = e, .p = p, .terms = terms, .ev = ev, .why = why};
	struct buf copy = BUF_INIT;
	int rc;

	buf_adds(&copy, terms);
	ev->attr.type = p->type;
	ev->pmu = arena_dup(&e->arena, p->name, strlen(p->name));
	rc = copy.err || !ev->pmu ? PP_ENOMEM : find_cpus(&b);
	if (!rc && copy.len)
		rc = apply(&b, (char *)copy.data);
	buf_release(&copy);
	return rc;
}
