/* What a recording begins with: formats of pages and events, symbols, texts. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/opt.h"
#include "pevent/online.h"
#include "pevent/sysfile.h"
#include "tracedat/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define FORMAT_FILE_MAX (1u << 20)
#define KALLSYMS_MAX	(64u << 20)

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

static int header_info(struct head *h, const struct ftfiles *f)
{
	static const char *const names[] = {"header_page", "header_event"};
	struct buf page = BUF_INIT;
	char path[64];
	int rc = ftfiles_read(f, "events/header_page", &page);

	h->page_size = page_size(&page);
	buf_release(&page);
	for (int i = 0; i < 2 && !rc; i++) {
		buf_add(&h->header_info, names[i], strlen(names[i]) + 1);
		snprintf(path, sizeof(path), "events/%s", names[i]);
		rc = add_file(&h->header_info, f, path, 8);
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

static int ftrace_formats(struct head *h, const struct ftfiles *f)
{
	struct buf all = BUF_INIT;
	uint32_t n = 0;
	int rc = system_formats(&all, f, "ftrace", &n);

	add_u32(&h->ftrace_formats, n);
	buf_join(&h->ftrace_formats, &all);
	buf_release(&all);
	return rc ? rc : h->ftrace_formats.err;
}

static void end_system(struct head *h, const char *system, size_t len, struct buf *all, uint32_t n)
{
	buf_add(&h->formats, system, len);
	buf_addc(&h->formats, 0);
	add_u32(&h->formats, n);
	buf_join(&h->formats, all);
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

/* Of the events that are switched on, which come by system. */
static int wanted_formats(struct head *h, const struct setup *s)
{
	struct buf all = BUF_INIT;
	uint32_t systems = 0;
	int rc = 0;

	add_u32(&h->formats, 0);
	for (size_t i = 0, to; i < s->events.n && !rc; i = to) {
		const char *first = s->events.v[i];
		size_t len = strcspn(first, "/");
		uint32_t n = 0;

		for (to = i; to < s->events.n && !strncmp(s->events.v[to], first, len + 1); to++)
			if ((rc = add_format(&all, &s->files, s->events.v[to], &n)))
				break;
		end_system(h, first, len, &all, n);
		systems++;
	}
	for (unsigned i = 0; s->probes && i < s->probes->n && !rc; i++) {
		const char *group = s->probes->v[i].group;

		rc = probe_format(&all, s, i);
		end_system(h, group, strlen(group), &all, 1);
		systems++;
	}
	buf_release(&all);
	if (!h->formats.err)
		memcpy(h->formats.data, &systems, sizeof(systems));
	return rc ? rc : h->formats.err;
}

static int all_formats(struct head *h, const struct setup *s)
{
	struct sysnames names = {0};
	struct buf all = BUF_INIT;
	char path[PATH_MAX];
	uint32_t systems = 0;
	int rc;

	add_u32(&h->formats, 0);
	snprintf(path, sizeof(path), "%s/events", s->root);
	rc = sysnames_read(&names, path, "*");
	for (size_t i = 0; i < names.n && !rc; i++) {
		uint32_t n = 0;

		if (!strcmp(names.v[i], "ftrace") ||
		    system_formats(&all, &s->files, names.v[i], &n) || !n) {
			buf_reset(&all);
			continue;
		}
		end_system(h, names.v[i], strlen(names.v[i]), &all, n);
		systems++;
	}
	sysnames_release(&names);
	buf_release(&all);
	if (!h->formats.err)
		memcpy(h->formats.data, &systems, sizeof(systems));
	return rc ? rc : h->formats.err;
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

static int tables(struct head *h, const struct setup *s, bool all)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	if (all || s->symbols || prints_symbols(&h->formats))
		rc = sysfile_read("/proc/kallsyms", KALLSYMS_MAX, &text);
	/* Without symbols there is still something to see. */
	if (rc && rc != PP_ENOMEM)
		diag_warn(s->d, "/proc/kallsyms", -1, "%s", pp_strerror(rc));
	add_u32(&h->kallsyms, (uint32_t)text.len);
	buf_join(&h->kallsyms, &text);
	buf_release(&text);
	if (add_file(&h->printk, &s->files, "printk_formats", 4)) {
		buf_reset(&h->printk);
		add_u32(&h->printk, 0);
	}
	return h->kallsyms.err ? h->kallsyms.err : h->printk.err;
}

static int machine(struct head *h, const struct setup *s)
{
	struct utsname u;
	int rc = online_present(&h->cpus, &h->n_cpus);

	if (rc)
		return rc;
	h->cpu_count = h->n_cpus ? (uint32_t)h->cpus[h->n_cpus - 1] + 1 : 0;
	if (!uname(&u))
		buf_addf(&h->uname, "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
			 u.machine);
	rc = ftfiles_read(&s->files, "trace_clock", &h->clock);
	return rc ? rc : h->uname.err ? h->uname.err : h->clock.err;
}

int head_read(struct head *h, const struct setup *s, bool all)
{
	int rc = header_info(h, &s->files);

	if (!rc)
		rc = ftrace_formats(h, &s->files);
	if (!rc)
		rc = all ? all_formats(h, s) : wanted_formats(h, s);
	if (!rc)
		rc = tables(h, s, all);
	if (!rc)
		rc = machine(h, s);
	if (rc)
		diag_error(s->d, s->root, -1, "what describes events cannot be read: %s",
			   pp_strerror(rc));
	return rc;
}

void head_release(struct head *h)
{
	buf_release(&h->header_info);
	buf_release(&h->ftrace_formats);
	buf_release(&h->formats);
	buf_release(&h->kallsyms);
	buf_release(&h->printk);
	buf_release(&h->uname);
	buf_release(&h->clock);
	free(h->cpus);
}

void head_magic(struct buf *b, const char *version, uint32_t page_size)
{
	const uint16_t one = 1;

	buf_add(b, TRACE_MAGIC, TRACE_MAGIC_LEN);
	buf_add(b, version, strlen(version) + 1);
	buf_addc(b, *(const uint8_t *)&one ? 0 : 1);
	buf_addc(b, sizeof(long));
	add_u32(b, page_size);
}

void head_option(struct buf *b, unsigned id, const void *data, size_t n)
{
	add_u16(b, (uint16_t)id);
	add_u32(b, (uint32_t)n);
	buf_add(b, data, n);
}

void head_options(const struct head *h, struct buf *b)
{
	char version[64];

	head_option(b, TRACE_OPT_CPUCOUNT, &h->cpu_count, sizeof(h->cpu_count));
	head_option(b, TRACE_OPT_TRACECLOCK, h->clock.data, h->clock.len + 1);
	head_option(b, TRACE_OPT_UNAME, h->uname.data, h->uname.len + 1);
	snprintf(version, sizeof(version), "pcap-ftrace (perfpipe) %s", pp_version);
	head_option(b, TRACE_OPT_VERSION, version, strlen(version) + 1);
}
