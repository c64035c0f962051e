/* What this machine offers: the lines of pcap-perf --list. */
#include "base/err.h"
#include "pevent/parts.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_WIDTH  48 /* columns of names and classes; longer names move what follows */
#define CLASS_WIDTH 11

bool pevent_has(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;
	long fd;

	a.disabled = 1;
	fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		a.exclude_kernel = a.exclude_hv = 1;
		fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return errno == EACCES || errno == EPERM || errno == EBUSY || errno == EMFILE;
	close((int)fd);
	return true;
}

struct listing {
	const struct pevents *where;
	char *const *words;
	pevent_has_fn *has;
	struct buf *b;
	size_t lines;
};

/* The words that perf list has for classes, and ours. */
static const struct {
	const char *word, *class;
} class_words[] = {
	{"hw", "hardware"},    {"hwcache", "cache"},
	{"sw", "software"},    {"hardware", "hardware"},
	{"cache", "cache"},    {"software", "software"},
	{"tool", "tool"},      {"raw", "raw"},
	{"mem", "breakpoint"}, {"breakpoint", "breakpoint"},
	{"pmu", "pmu"},	       {"tracepoint", "tracepoint"},
	{"sdt", "tracepoint"},
};
#define N_CLASS_WORDS (sizeof(class_words) / sizeof(class_words[0]))

static const char *class_of(const char *word)
{
	for (size_t i = 0; i < N_CLASS_WORDS; i++)
		if (strcmp(word, class_words[i].word) == 0)
			return class_words[i].class;
	return NULL;
}

static bool fits_word(const char *word, const char *name, const char *class)
{
	const char *wanted = class_of(word);

	if (wanted)
		return strcmp(wanted, class) == 0 &&
		       (strcmp(word, "sdt") != 0 || strncmp(name, "sdt_", 4) == 0);
	return strpbrk(word, "*?[") ? fnmatch(word, name, 0) == 0 : strstr(name, word) != NULL;
}

static bool fits(const struct listing *l, const char *name, const char *other, const char *class)
{
	if (!l->words || !l->words[0])
		return true;
	for (char *const *w = l->words; *w; w++)
		if (fits_word(*w, name, class) || (other && fits_word(*w, other, class)))
			return true;
	return false;
}

static void pad(struct buf *b, size_t from, size_t width)
{
	size_t used = b->len - from;

	buf_fill(b, ' ', used < width ? width - used : 1);
}

static int line(struct listing *l, const char *name, const char *class, const char *note)
{
	size_t start = l->b->len, at;

	buf_add_safe(l->b, name, strlen(name));
	pad(l->b, start, NAME_WIDTH);
	at = l->b->len;
	buf_adds(l->b, class);
	if (note && *note) {
		pad(l->b, at, CLASS_WIDTH);
		buf_add_safe(l->b, note, strlen(note));
	}
	buf_addc(l->b, '\n');
	l->lines++;
	return l->b->err;
}

static int on_name(void *ctx, const char *name, const char *other, const char *class,
		   const struct pevent *ev)
{
	struct listing *l = ctx;
	char note[128] = "";

	if (!fits(l, name, other, class) || (!ev->tool && l->has && !l->has(&ev->attr)))
		return 0;
	if (other)
		snprintf(note, sizeof(note), "also %s", other);
	else if (ev->tool)
		snprintf(note, sizeof(note), "for counting only");
	return line(l, name, class, note);
}

/* A named event and the terms that it stands for. */
static int pmu_named(struct listing *l, const struct pmu *p, const char *event)
{
	struct buf terms = BUF_INIT;
	char name[512], file[300];
	int rc = 0;

	if (strchr(event, '.')) /* .scale, .unit, ... of an event */
		return 0;
	snprintf(name, sizeof(name), "%s/%s/", p->name, event);
	snprintf(file, sizeof(file), "events/%s", event);
	if (fits(l, name, event, "pmu") && !pmu_text(p, file, &terms))
		rc = line(l, name, "pmu", buf_str(&terms));
	buf_release(&terms);
	return rc;
}

/* What may stand between the slashes: "event: config:0-7". */
static int pmu_format(struct listing *l, const struct pmu *p, const char *term)
{
	struct buf bits = BUF_INIT;
	char name[512], file[300];
	int rc = 0;

	snprintf(name, sizeof(name), "%s/%s=N/", p->name, term);
	snprintf(file, sizeof(file), "format/%s", term);
	if (fits(l, name, NULL, "pmu") && !pmu_text(p, file, &bits)) {
		buf_adds(&bits, ", to be combined with others");
		rc = line(l, name, "pmu", buf_str(&bits));
	}
	buf_release(&bits);
	return rc;
}

static int on_pmu(void *ctx, const struct pmu *p)
{
	struct listing *l = ctx;
	struct sysnames names = {0};
	char dir[600];
	int rc = 0;

	snprintf(dir, sizeof(dir), "%s/events", p->dir);
	(void)sysnames_read(&names, dir, "*");
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = pmu_named(l, p, names.v[i]);
	sysnames_release(&names);
	snprintf(dir, sizeof(dir), "%s/format", p->dir);
	/* Probes of perf_event_open need texts, which no term can be; tracefs makes them. */
	if (strcmp(p->name, "uprobe") != 0 && strcmp(p->name, "kprobe") != 0)
		(void)sysnames_read(&names, dir, "*");
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = pmu_format(l, p, names.v[i]);
	sysnames_release(&names);
	return rc;
}

static int on_tracepoint(void *ctx, const char *system, const char *name, uint64_t id)
{
	struct listing *l = ctx;
	char full[512];

	(void)id;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	if (!fits(l, full, NULL, "tracepoint"))
		return 0;
	return line(l, full, "tracepoint", "");
}

/* The fields of a tracepoint, if one is named and nothing else is. */
static int fields(struct listing *l, const char *dir)
{
	struct buf names = BUF_INIT;
	char full[512], *colon;
	int rc = 0;

	if (!l->words || !l->words[0] || l->words[1] || l->lines != 1 ||
	    snprintf(full, sizeof(full), "%s", l->words[0]) >= (int)sizeof(full))
		return 0;
	colon = strchr(full, ':');
	if (!colon)
		return 0;
	*colon = 0;
	if (!tracefs_fields(dir, full, colon + 1, false, &names) && names.len) {
		buf_adds(l->b, "\nIts fields, which --filter may name:\n");
		for (char *p = (char *)names.data; *p;) {
			size_t start, n = strcspn(p, "\t"), rest = strcspn(p, "\n");

			buf_adds(l->b, "  ");
			start = l->b->len;
			buf_add(l->b, p, n);
			pad(l->b, start, NAME_WIDTH - 2);
			buf_add(l->b, p + n + 1, rest - n);
			p += rest + 1;
		}
		buf_adds(l->b, "\nand of every tracepoint: common_pid, comm, cpu\n");
	}
	rc = l->b->err;
	buf_release(&names);
	return rc;
}

/* What is missing where tracefs cannot be read goes to why. */
static int tracepoints(struct listing *l, struct buf *why)
{
	const char *dir = l->where->tracefs;
	struct buf ignored = BUF_INIT;
	size_t before = l->lines;
	int rc = 0;

	if (dir || !tracefs_find(&dir, &ignored)) {
		buf_reset(&ignored);
		rc = tracefs_glob(dir, "*", "*", on_tracepoint, l, &ignored);
		if (rc == PP_ENOENT)
			rc = 0;
		if (!rc && !before)
			rc = fields(l, dir);
	} else if (fits(l, "SYSTEM:NAME", NULL, "tracepoint")) {
		rc = line(l, "SYSTEM:NAME", "tracepoint", buf_str(&ignored));
	} else {
		buf_join(why, &ignored);
	}
	buf_release(&ignored);
	return rc;
}

int pevents_list(const struct pevents *where, char *const *words, pevent_has_fn *has, struct buf *b,
		 struct buf *why)
{
	struct listing l = {.where = where, .words = words, .has = has, .b = b};
	struct buf missing = BUF_INIT;
	int rc = name_each(on_name, &l);

	if (!rc && fits(&l, "rNNN", NULL, "raw"))
		rc = line(&l, "rNNN", "raw", "a number of the CPU's manual, hexadecimal");
	if (!rc && fits(&l, "TYPE:CONFIG", NULL, "raw"))
		rc = line(&l, "TYPE:CONFIG", "raw", "any type and number");
	if (!rc && fits(&l, "mem:ADDR[/LEN][:rwx]", "mem:", "breakpoint"))
		rc = line(&l, "mem:ADDR[/LEN][:rwx]", "breakpoint", "");
	if (!rc)
		rc = pmu_each(where, "*", on_pmu, &l);
	if (!rc || rc == PP_ENOENT)
		rc = tracepoints(&l, &missing);
	if (!rc && !l.lines) {
		buf_adds(why, "nothing matches");
		for (char *const *w = words; w && *w; w++) {
			buf_addc(why, ' ');
			buf_add_safe(why, *w, strlen(*w));
		}
		if (missing.len)
			buf_addf(why, " (%s)", buf_str(&missing));
		rc = PP_ENOENT;
	}
	buf_release(&missing);
	return rc;
}

int pevents_list_functions(const struct pevents *where, const char *glob, struct buf *b,
			   struct buf *why)
{
	const char *dir = where->tracefs;
	struct buf all = BUF_INIT;
	char path[512], name[512];
	size_t before = b->len;
	int rc = dir ? 0 : tracefs_find(&dir, why);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/available_filter_functions", dir);
	rc = sysfile_read(path, SYSFILE_MAX, &all);
	if (rc == PP_ENOENT || rc == PP_EACCES)
		buf_addf(why, "%s: %s", path, pp_strerror(rc));
	for (const char *p = rc ? "" : buf_str(&all); *p;) {
		size_t full = strcspn(p, "\n"), len = strcspn(p, " \t\n");

		if (len && len < sizeof(name)) {
			memcpy(name, p, len);
			name[len] = 0;
			if (fnmatch(glob, name, 0) == 0) {
				buf_add(b, p, full);
				buf_addc(b, '\n');
			}
		}
		p += full + (p[full] == '\n');
	}
	buf_release(&all);
	if (!rc && b->len == before) {
		buf_adds(why, "the kernel has no traceable function that matches '");
		buf_add_safe(why, glob, strlen(glob));
		buf_adds(why, "'");
		rc = PP_ENOENT;
	}
	return rc ? rc : b->err;
}
