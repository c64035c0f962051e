/* What a recording begins with: formats of pages and events, symbols, texts. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/opt.h"
#include "pevent/online.h"
#include "pevent/sysfile.h"
#include "tracedat/file_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#define FORMAT_FILE_MAX (1u << 20)
#define KALLSYMS_MAX	(64u << 20)
#define DATE_LOOKS	10

/* Adds a file with its size before it, of 4 or 8 bytes. */
static int add_file(struct buf *b, const struct ftfiles *f, const char *name, unsigned size)
{
	struct buf text = BUF_INIT;
	int rc = ftfiles_read(f, name, &text);

	if (!rc && size == 8)
		add_u64(b, text.len);
	else if (!rc)
		add_u32(b, (uint32_t)text.len);
	if (!rc)
		buf_join(b, &text);
	buf_release(&text);
	return rc ? rc : b->err;
}

/* The bytes of a page: where its data begin, and how many they are. */
static uint32_t page_size(const struct buf *header)
{
	const char *at = strstr(buf_str(header), "char data;");
	unsigned offset = 0, size = 0;

	if (at)
		sscanf(at, "char data; offset:%u; size:%u;", &offset, &size);
	return size ? offset + size : 4096;
}

static int header_info(struct trace_head *h, const struct ftfiles *f)
{
	static const char *const names[] = {"header_page", "header_event"};
	struct buf page = BUF_INIT, *to = trace_head_section(h, TRACE_OPT_HEADER_INFO);
	char path[64];
	int rc = ftfiles_read(f, "events/header_page", &page);

	h->page_size = page_size(&page);
	buf_release(&page);
	for (int i = 0; i < 2 && !rc; i++) {
		buf_add(to, names[i], strlen(names[i]) + 1);
		snprintf(path, sizeof(path), "events/%s", names[i]);
		rc = add_file(to, f, path, 8);
	}
	return rc;
}

/* The formats of the events of a system that are wanted: a count, then each with its size. */
static int add_format(struct buf *b, const struct ftfiles *f, const char *event, uint32_t *n)
{
	char path[PATH_MAX + 32];
	int rc;

	snprintf(path, sizeof(path), "events/%s/format", event);
	rc = add_file(b, f, path, 8);
	/* Entries beside the events, and what has gone meanwhile. */
	if (rc == PP_ENOENT)
		return 0;
	*n += !rc;
	return rc;
}

static int system_formats(struct buf *b, const struct ftfiles *f, const char *system, uint32_t *n)
{
	struct sysnames names = {0};
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/events/%s", f->root, system);
	rc = sysnames_read(&names, path, "*");
	for (size_t i = 0; i < names.n && !rc; i++) {
		snprintf(path, sizeof(path), "%.200s/%.200s", system, names.v[i]);
		rc = add_format(b, f, path, n);
	}
	sysnames_release(&names);
	return rc;
}

static int ftrace_formats(struct trace_head *h, const struct ftfiles *f)
{
	struct buf all = BUF_INIT, *to = trace_head_section(h, TRACE_OPT_FTRACE_EVENTS);
	uint32_t n = 0;
	int rc = system_formats(&all, f, "ftrace", &n);

	add_u32(to, n);
	buf_join(to, &all);
	buf_release(&all);
	return rc ? rc : to->err;
}

static void end_system(struct buf *to, const char *system, size_t len, struct buf *all, uint32_t n)
{
	buf_add(to, system, len);
	buf_addc(to, 0);
	add_u32(to, n);
	buf_join(to, all);
	buf_reset(all);
}

/* A probe has in the recording the name that was wanted, not the one that it has in the kernel. */
static int probe_format(struct buf *b, const struct setup *s, unsigned i)
{
	const struct inplace_event *e = &s->probes->v[i];
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	const char *rest;
	uint64_t len;
	int rc;

	snprintf(path, sizeof(path), "events/%s/%s/format", s->probes->group, e->kernel);
	rc = ftfiles_read(&s->files, path, &text);
	rest = strchr(buf_str(&text), '\n');
	if (!rc && !rest)
		rc = PP_ECORRUPT;
	if (!rc) {
		len = strlen("name: ") + strlen(e->event) + strlen(rest);
		add_u64(b, len);
		buf_addf(b, "name: %s%s", e->event, rest);
	}
	buf_release(&text);
	return rc ? rc : b->err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The events that are switched on in any buffer, each once, by system. */
static int wanted_events(const struct setup *setups, size_t n, struct ftrace_words *events)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < setups[i].events.n && !rc; k++)
			rc = ftrace_words_add(events, setups[i].events.v[k]);
	if (events->n)
		qsort(events->v, events->n, sizeof(*events->v), by_name);
	for (size_t i = 0; i < events->n; i++)
		if (!i || strcmp(events->v[i], events->v[i - 1]) != 0)
			events->v[kept++] = events->v[i];
	events->n = kept;
	return rc;
}

static int wanted_formats(struct buf *to, const struct setup *setups, size_t n)
{
	const struct setup *s = setups; /* that of the probes */
	struct ftrace_words events = {0};
	struct buf all = BUF_INIT;
	uint32_t systems = 0;
	int rc = wanted_events(setups, n, &events);

	add_u32(to, 0);
	for (size_t i = 0, next; i < events.n && !rc; i = next) {
		const char *first = events.v[i];
		size_t len = strcspn(first, "/");
		uint32_t formats = 0;

		for (next = i; next < events.n && !strncmp(events.v[next], first, len + 1); next++)
			if ((rc = add_format(&all, &s->files, events.v[next], &formats)))
				break;
		end_system(to, first, len, &all, formats);
		systems++;
	}
	for (unsigned i = 0; s->probes && i < s->probes->n && !rc; i++) {
		const char *group = s->probes->v[i].group;

		rc = probe_format(&all, s, i);
		end_system(to, group, strlen(group), &all, 1);
		systems++;
	}
	free(events.v);
	buf_release(&all);
	if (!to->err)
		memcpy(to->data, &systems, sizeof(systems));
	return rc ? rc : to->err;
}

static int all_formats(struct buf *to, const struct setup *s)
{
	struct sysnames names = {0};
	struct buf all = BUF_INIT;
	char path[PATH_MAX];
	uint32_t systems = 0;
	int rc;

	add_u32(to, 0);
	snprintf(path, sizeof(path), "%s/events", s->root);
	rc = sysnames_read(&names, path, "*");
	for (size_t i = 0; i < names.n && !rc; i++) {
		uint32_t n = 0;

		if (!strcmp(names.v[i], "ftrace") ||
		    system_formats(&all, &s->files, names.v[i], &n) || !n) {
			buf_reset(&all);
			continue;
		}
		end_system(to, names.v[i], strlen(names.v[i]), &all, n);
		systems++;
	}
	sysnames_release(&names);
	buf_release(&all);
	if (!to->err)
		memcpy(to->data, &systems, sizeof(systems));
	return rc ? rc : to->err;
}

/* Whether a text prints addresses by their symbols: %ps, %pS, %pf, %pB. */
static bool prints_symbols(const struct buf *b)
{
	const char *p = buf_str(b), *end = p + b->len;

	while ((p = memmem(p, (size_t)(end - p), "%p", 2)) && end - p > 2) {
		if (strchr("sSfFB", p[2]))
			return true;
		p += 2;
	}
	return false;
}

static int tables(struct trace_head *h, const struct setup *s, bool symbols)
{
	struct buf *kallsyms = trace_head_section(h, TRACE_OPT_KALLSYMS);
	struct buf *printk = trace_head_section(h, TRACE_OPT_PRINTK), text = BUF_INIT;
	int rc = symbols ? sysfile_read("/proc/kallsyms", KALLSYMS_MAX, &text) : 0;

	/* Without symbols there is still something to see. */
	if (rc && rc != PP_ENOMEM)
		diag_warn(s->d, "/proc/kallsyms", -1, "%s", pp_strerror(rc));
	add_u32(kallsyms, (uint32_t)text.len);
	buf_join(kallsyms, &text);
	buf_release(&text);
	if (add_file(printk, &s->files, "printk_formats", 4)) {
		buf_reset(printk);
		add_u32(printk, 0);
	}
	return kallsyms->err ? kallsyms->err : printk->err;
}

/* The time of a buffer's clock now, in us; only of a clock that has a unit. */
static int buffer_us(const struct ftfiles *f, int cpu, int64_t *us)
{
	struct buf text = BUF_INIT;
	unsigned long long s = 0, rest;
	char name[64];
	const char *at;
	int rc, n = 0;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	rc = ftfiles_read(f, name, &text);
	at = rc ? NULL : strstr(buf_str(&text), "now ts:");
	if (at)
		n = sscanf(at, "now ts: %llu.%6llu", &s, &rest);
	*us = n == 2 ? (int64_t)(s * 1000000 + rest) : 0;
	buf_release(&text);
	return rc ? rc : n == 2 ? 0 : PP_EUNSUPPORTED;
}

/* The time of day less that of the clock: by the fastest of some looks at both. */
static int add_date(struct head *h, const struct setup *s, size_t n)
{
	const char *clock = s->c->clock ? s->c->clock : "";
	int64_t least = INT64_MAX, offset = 0;
	char text[32];
	int rc = 0;

	for (size_t i = 1; i < n; i++)
		if (strcmp(s[i].c->clock ? s[i].c->clock : "", clock) != 0) {
			diag_error(s->d, NULL, -1, "--date: buffers have different clocks");
			return PP_EUSAGE;
		}
	for (int i = 0; i < DATE_LOOKS && !rc; i++) {
		struct timespec a, b;
		int64_t us, took;

		clock_gettime(CLOCK_REALTIME, &a);
		rc = buffer_us(&s->files, h->cpus[0], &us);
		clock_gettime(CLOCK_REALTIME, &b);
		took = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
		if (took >= least)
			continue;
		least = took;
		offset = (int64_t)a.tv_sec * 1000000 + (a.tv_nsec + took / 2) / 1000 - us;
	}
	if (rc) {
		diag_error(s->d, NULL, -1, "--date: %s",
			   rc == PP_EUNSUPPORTED ? "this clock does not count ns: use another -C"
						 : pp_strerror(rc));
		return rc;
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)offset);
	trace_add_option(&h->file.options, TRACE_OPT_DATE, text, (uint32_t)strlen(text) + 1);
	return h->file.options.err;
}

/* The options that tell of the machine and the recorder. */
static int options(struct trace_head *h)
{
	struct buf text = BUF_INIT;
	struct utsname u;

	trace_add_option(&h->options, TRACE_OPT_CPUCOUNT, &h->cpu_count, sizeof(h->cpu_count));
	if (!uname(&u)) {
		buf_addf(&text, "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
			 u.machine);
		trace_add_option(&h->options, TRACE_OPT_UNAME, buf_str(&text), text.len + 1);
	}
	buf_reset(&text);
	buf_addf(&text, "pcap-ftrace (perfpipe) %s", pp_version);
	trace_add_option(&h->options, TRACE_OPT_VERSION, buf_str(&text), text.len + 1);
	buf_inherit(&h->options, &text);
	buf_release(&text);
	return h->options.err;
}

static int machine(struct head *h, const struct setup *s)
{
	int rc = online_present(&h->cpus, &h->n_cpus);

	h->file.cpu_count = !rc && h->n_cpus ? (uint32_t)h->cpus[h->n_cpus - 1] + 1 : 0;
	if (!rc)
		rc = ftfiles_read(&s->files, "trace_clock", &h->file.clock);
	return rc ? rc : options(&h->file);
}

int head_read(struct head *h, const struct setup *setups, size_t n, bool all)
{
	struct buf *formats = trace_head_section(&h->file, TRACE_OPT_EVENT_FORMATS);
	bool symbols = all;
	int rc = header_info(&h->file, &setups->files);

	for (size_t i = 0; i < n; i++)
		symbols |= setups[i].symbols;
	if (!rc)
		rc = ftrace_formats(&h->file, &setups->files);
	if (!rc)
		rc = all ? all_formats(formats, setups) : wanted_formats(formats, setups, n);
	if (!rc)
		rc = tables(&h->file, setups, symbols || prints_symbols(formats));
	if (!rc)
		rc = machine(h, setups);
	if (rc)
		diag_error(setups->d, setups->root, -1,
			   "the descriptions of events cannot be read: %s", pp_strerror(rc));
	return rc || !setups->c->date ? rc : add_date(h, setups, n);
}

void head_release(struct head *h)
{
	trace_head_release(&h->file);
	free(h->cpus);
}
