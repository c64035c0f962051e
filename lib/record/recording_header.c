/*
 * The records that describe a recording: see perf.data-file-format.txt ("Pipe-mode data" and the
 * HEADER_ sections) and struct perf_record_* of the kernel's tools/lib/perf/include.
 */
#include "base/err.h"
#include "base/opt.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <sys/utsname.h>
#include <unistd.h>

#define NAME_ALIGN     64     /* strings of features are padded to a multiple */
#define RECORD_MAX     0xffff /* bytes of a record */
#define UPDATE_NAME    2      /* EVENT_UPDATE: what is updated */
#define CPUINFO_MAX    (16u << 20)
#define CLOCK_VERSION  1
#define TRACING_RECORD 12u /* bytes of HEADER_TRACING_DATA */

static void add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_text(struct buf *b, const char *s, size_t len)
{
	size_t padded = (len / NAME_ALIGN + 1) * NAME_ALIGN;

	add_u32(b, (uint32_t)padded);
	buf_add(b, s, len);
	buf_fill(b, 0, padded - len);
}

static size_t begin(struct buf *b, uint32_t type)
{
	struct perf_event_header h = {.type = type};
	size_t start = b->len;

	buf_add(b, &h, sizeof(h));
	return start;
}

/* Sets the size; a record that is too long for it is taken back. */
static bool end(struct buf *b, size_t start)
{
	size_t size;
	uint16_t size16;

	buf_fill(b, 0, (8 - (b->len - start) % 8) % 8);
	size = b->len - start;
	if (b->err || size > RECORD_MAX) {
		b->len = b->err ? b->len : start;
		return false;
	}
	size16 = (uint16_t)size;
	memcpy(b->data + start + offsetof(struct perf_event_header, size), &size16, sizeof(size16));
	return true;
}

size_t header_sample_id_size(const struct session *s)
{
	/* TID, TIME, CPU, and IDENTIFIER: 8 bytes each. */
	return s->with_ids ? 32 : 24;
}

/* The first one announces the end mark. */
static void add_attr(struct buf *b, const struct rec_attr *a, bool mark)
{
	size_t start = begin(b, PERF_REC_HEADER_ATTR);

	if (mark && !b->err)
		memcpy(b->data + start + offsetof(struct perf_event_header, misc),
		       &(uint16_t){PERF_MISC_END_MARK}, sizeof(uint16_t));
	buf_add(b, &a->attr, sizeof(a->attr));
	buf_add(b, a->ids, a->n_ids * sizeof(*a->ids));
	end(b, start);
}

static void add_name(struct buf *b, const struct rec_attr *a)
{
	size_t start;

	if (!a->n_ids)
		return;
	start = begin(b, PERF_REC_EVENT_UPDATE);
	add_u64(b, UPDATE_NAME);
	add_u64(b, a->ids[0]);
	buf_add(b, a->name, strlen(a->name) + 1);
	end(b, start);
}

static size_t feature(struct buf *b, uint64_t id)
{
	size_t start = begin(b, PERF_REC_HEADER_FEATURE);

	add_u64(b, id);
	return start;
}

static void text_feature(struct buf *b, uint64_t id, const char *s, size_t len)
{
	size_t start;

	if (!len)
		return;
	start = feature(b, id);
	add_text(b, s, len);
	end(b, start);
}

/* The value of "key : value" in /proc/cpuinfo. */
static const char *cpuinfo_value(const char *text, const char *key, size_t *len)
{
	size_t n = strlen(key);

	for (const char *p = text; *p;) {
		size_t line = strcspn(p, "\n"), space = line > n ? strspn(p + n, " \t") : 0;

		if (strncmp(p, key, n) == 0 && p[n + space] == ':') {
			const char *v = p + n + space + 1;

			v += strspn(v, " \t");
			*len = (size_t)(p + line - v);
			return *len ? v : NULL;
		}
		p += line + (p[line] == '\n');
	}
	*len = 0;
	return NULL;
}

static void cpu_features(struct buf *b)
{
	/* The name: of x86, arm, mips and riscv, powerpc, s390. */
	static const char *const names[] = {"model name", "Processor", "cpu model",
					    "uarch",	  "cpu",       "vendor_id"};
	static const char *const ids[] = {"vendor_id", "cpu family", "model", "stepping"};
	struct buf text = BUF_INIT, id = BUF_INIT;
	const char *v = NULL;
	size_t len = 0;

	(void)sysfile_read("/proc/cpuinfo", CPUINFO_MAX, &text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !v; i++)
		v = cpuinfo_value(buf_str(&text), names[i], &len);
	text_feature(b, PERF_FEAT_CPUDESC, v, len);
	for (size_t i = 0; i < 4; i++) {
		v = cpuinfo_value(buf_str(&text), ids[i], &len);
		if (!v)
			break;
		buf_addf(&id, "%s%.*s", i ? "," : "", (int)len, v);
		if (i == 3)
			text_feature(b, PERF_FEAT_CPUID, buf_str(&id), id.len);
	}
	buf_release(&id);
	buf_release(&text);
}

/* The version, and what -g meant, for whoever wonders about the stacks. */
static void version_feature(struct buf *b, const struct buf *chosen)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "perfpipe %s", pp_version);
	if (chosen->len)
		buf_addf(&text, " (call chains: %s)", buf_str(chosen));
	text_feature(b, PERF_FEAT_VERSION, buf_str(&text), text.len);
	buf_release(&text);
}

static void machine_features(struct buf *b)
{
	struct utsname u;
	size_t start;
	long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);

	if (!uname(&u)) {
		text_feature(b, PERF_FEAT_HOSTNAME, u.nodename, strlen(u.nodename));
		text_feature(b, PERF_FEAT_OSRELEASE, u.release, strlen(u.release));
		text_feature(b, PERF_FEAT_ARCH, u.machine, strlen(u.machine));
	}
	start = feature(b, PERF_FEAT_NRCPUS);
	add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	end(b, start);
	cpu_features(b);
	start = feature(b, PERF_FEAT_TOTAL_MEM);
	add_u64(b, (uint64_t)pages * (uint64_t)(page / 1024)); /* KiB */
	end(b, start);
}

/* As many arguments as one record holds. */
static void cmdline_feature(struct buf *b, int argc, char **argv)
{
	size_t start = feature(b, PERF_FEAT_CMDLINE), count = b->len;
	uint32_t n = 0;

	add_u32(b, 0);
	for (int i = 0; i < argc; i++) {
		size_t len = strlen(argv[i]);

		if (b->len - start + len + 2 * NAME_ALIGN > RECORD_MAX)
			break;
		add_text(b, argv[i], len);
		n++;
	}
	if (!b->err)
		memcpy(b->data + count, &n, sizeof(n));
	end(b, start);
}

/* The same as the attributes and names before; other readers than perf look only here. */
static void event_desc_feature(struct buf *b, const struct session *s)
{
	size_t start = feature(b, PERF_FEAT_EVENT_DESC);

	add_u32(b, (uint32_t)s->n_attrs);
	add_u32(b, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < s->n_attrs; i++) {
		const struct rec_attr *a = &s->attrs[i];

		buf_add(b, &a->attr, sizeof(a->attr));
		add_u32(b, (uint32_t)a->n_ids);
		add_text(b, a->name, strlen(a->name));
		buf_add(b, a->ids, a->n_ids * sizeof(*a->ids));
	}
	end(b, start);
}

/* Groups of events: name, leader, number of members; see HEADER_GROUP_DESC. */
static void group_desc_feature(struct buf *b, const struct session *s)
{
	size_t start = feature(b, PERF_FEAT_GROUP_DESC), count = b->len;
	uint32_t n = 0;

	add_u32(b, 0);
	for (size_t i = 0; i < s->n_attrs; i++) {
		const struct rec_attr *a = &s->attrs[i];
		const char *name = a->ev && a->ev->group_name ? a->ev->group_name : "{anon_group}";
		uint32_t members = 0;

		for (size_t k = i; k < s->n_attrs && a->in_group && a->leader == i; k++)
			members += s->attrs[k].leader == i;
		if (!members)
			continue;
		add_text(b, name, strlen(name));
		add_u32(b, (uint32_t)i);
		add_u32(b, members);
		n++;
	}
	if (!b->err)
		memcpy(b->data + count, &n, sizeof(n));
	if (n)
		end(b, start);
	else
		b->len = b->err ? b->len : start;
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock's resolution, and a point where it and the wall clock were read together. */
static void clock_features(struct buf *b, clockid_t clock)
{
	struct timespec res = {0};
	size_t start = feature(b, PERF_FEAT_CLOCKID);

	clock_getres(clock, &res);
	add_u64(b, (uint64_t)res.tv_sec * 1000000000u + (uint64_t)res.tv_nsec);
	end(b, start);
	start = feature(b, PERF_FEAT_CLOCK_DATA);
	add_u32(b, CLOCK_VERSION);
	add_u32(b, (uint32_t)clock);
	add_u64(b, nanoseconds(CLOCK_REALTIME));
	add_u64(b, nanoseconds(clock));
	end(b, start);
}

/* version, type (1: zstd), level, ratio (not known yet), and the room that a record may need */
static void compressed_feature(struct buf *b, int level)
{
	size_t start = feature(b, PERF_FEAT_COMPRESSED);

	add_u32(b, 1);
	add_u32(b, 1);
	add_u32(b, (uint32_t)level);
	add_u32(b, 0);
	add_u32(b, PACK_CHUNK);
	end(b, start);
}

/*
 * The record holds the size of the data that follows it. It is 12 bytes long, the only size
 * that hotspot reads.
 */
static int tracing_data(struct buf *b, const struct session *s)
{
	struct buf data = BUF_INIT;
	size_t i;
	int rc;

	for (i = 0; i < s->events->n; i++)
		if (s->events->v[i].attr.type == PERF_TYPE_TRACEPOINT)
			break;
	if (i == s->events->n)
		return 0;
	rc = s->tracefs ? tracefs_data(s->tracefs, s->events, &data) : PP_ENOENT;
	if (rc) {
		diag_error(s->d, NULL, -1, "cannot read the formats of the tracepoints: %s",
			   pp_strerror(rc));
	} else {
		buf_fill(&data, 0, (8 - data.len % 8) % 8);
		rc = data.err;
		buf_add(b,
			&(struct perf_event_header){.type = PERF_REC_HEADER_TRACING_DATA,
						    .size = TRACING_RECORD},
			sizeof(struct perf_event_header));
		add_u32(b, (uint32_t)data.len);
		buf_add(b, data.data, data.len);
	}
	buf_release(&data);
	return rc;
}

int header_write(const struct session *s, struct buf *b)
{
	int rc;

	buf_adds(b, PERF_MAGIC2);
	add_u64(b, PERF_PIPE_HEADER_SIZE);
	for (size_t i = 0; i < s->n_attrs; i++)
		add_attr(b, &s->attrs[i], i == 0);
	version_feature(b, &s->chosen);
	machine_features(b);
	cmdline_feature(b, s->c->argc, s->c->argv);
	event_desc_feature(b, s);
	clock_features(b, s->c->use_clock ? s->c->clock : CLOCK_MONOTONIC);
	group_desc_feature(b, s);
	if (s->c->pack_level)
		compressed_feature(b, s->c->pack_level);
	rc = tracing_data(b, s);
	for (size_t i = 0; i < s->n_attrs; i++)
		add_name(b, &s->attrs[i]);
	return rc ? rc : b->err;
}
