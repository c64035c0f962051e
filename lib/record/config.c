/* The user's words for what a recording is to be, and where it goes. */
#include "base/err.h"
#include "base/opt.h"
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define FREQ_MAX    INT64_MAX /* the kernel's own limit is known when it is asked */
#define SECONDS_MAX 1e9

static int bad(struct buf *why, const char *what, const char *arg)
{
	buf_adds(why, what);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

int record_set_freq(struct record_config *c, const char *arg, struct buf *why)
{
	c->freq_max = strcmp(arg, "max") == 0;
	if (c->freq_max || !opt_u64(arg, 1, FREQ_MAX, &c->freq))
		return 0;
	return bad(why, "not a frequency in Hz, nor max: ", arg);
}

int record_set_period(struct record_config *c, const char *arg, struct buf *why)
{
	return opt_u64(arg, 1, INT64_MAX, &c->period) ? bad(why, "not a number of events: ", arg)
						      : 0;
}

int record_set_pages(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v, page = (uint64_t)sysconf(_SC_PAGESIZE), pages = 1;
	bool unit;

	if (strchr(arg, ',')) {
		buf_adds(why, "AUX areas (processor traces) are not supported: use perf record");
		return PP_EUSAGE;
	}
	if (words_size(arg, &v, &unit) || !v)
		return bad(why, "not a power of two of pages, nor a size like 16M: ", arg);
	if (unit) {
		while (pages * page < v && pages <= RECORD_PAGES_MAX)
			pages *= 2;
		v = pages;
	}
	if (v & (v - 1) || v > RECORD_PAGES_MAX)
		return bad(why, "not a power of two up to 65536: ", arg);
	c->pages = (uint32_t)v;
	return 0;
}

/* Milliseconds at *p, which may have a fraction. */
static bool milliseconds(const char **p, uint64_t *ns)
{
	char *end;
	double v;

	if ((**p < '0' || **p > '9') && **p != '.')
		return false;
	v = strtod(*p, &end);
	*p = end;
	*ns = (uint64_t)(v * 1e6 + 0.5);
	return v < SECONDS_MAX * 1e3;
}

int record_set_delay(struct record_config *c, const char *arg, struct buf *why)
{
	const char *p = arg;

	c->n_spans = 0;
	c->disabled = strcmp(arg, "-1") == 0;
	if (c->disabled)
		return 0;
	while (c->n_spans < RECORD_SPANS_MAX) {
		struct record_span *s = &c->spans[c->n_spans];
		uint64_t least = c->n_spans ? s[-1].to : 0;

		*s = (struct record_span){0};
		if (!milliseconds(&p, &s->from) || s->from < least)
			break;
		if (*p == '-' && (p++, !milliseconds(&p, &s->to) || s->to <= s->from))
			break;
		c->n_spans++;
		if (!*p)
			return 0;
		if (*p++ != ',' || !s->to)
			break;
	}
	return bad(why, "not milliseconds, -1, or ranges like 10-20,30-40: ", arg);
}

int record_set_max_size(struct record_config *c, const char *arg, struct buf *why)
{
	bool unit;

	return words_size(arg, &c->max_size, &unit) || !c->max_size
		       ? bad(why, "not a size like 100M: ", arg)
		       : 0;
}

int record_set_max_stack(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v;

	if (opt_u64(arg, 1, UINT16_MAX, &v))
		return bad(why, "not a number of frames: ", arg);
	c->max_stack = (uint32_t)v;
	return 0;
}

int record_set_realtime(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v;

	if (opt_u64(arg, 1, 99, &v))
		return bad(why, "not a priority from 1 to 99: ", arg);
	c->realtime = (int)v;
	return 0;
}

int record_set_while(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v;

	if (opt_u64(arg, 1, INT_MAX, &v))
		return bad(why, "not a process id: ", arg);
	c->while_pid = (pid_t)v;
	return 0;
}

int record_set_pack(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v = 0;

	if (arg && opt_u64(arg, 0, (uint64_t)ZSTD_maxCLevel(), &v))
		return bad(why, "not a level of zstd from 1 to 22: ", arg);
	c->pack_level = v ? (int)v : 1; /* 0 is the default for perf, too */
	return 0;
}

/* A time with its unit, as perf writes it (s, m, h, d), or as our own options do. */
static bool with_unit(const char *arg, uint64_t *ns)
{
	struct buf ignored = BUF_INIT;
	int rc = opt_duration("", arg, false, ns, &ignored);

	buf_release(&ignored);
	return !rc && arg[strlen(arg) - 1] >= 'a';
}

int record_set_snapshot(struct record_config *c, const char *arg, struct buf *why)
{
	bool unit;

	c->snapshot = true;
	if (!arg || with_unit(arg, &c->snapshot_ns) ||
	    (!words_size(arg, &c->snapshot_size, &unit) && unit))
		return 0;
	return bad(why, "not a size like 16M, nor a time like 5s: ", arg);
}

int record_set_switch(struct record_config *c, const char *arg, struct buf *why)
{
	bool unit;

	c->stamp_file = true;
	c->switch_signal = !arg || strcmp(arg, "signal") == 0;
	if (c->switch_signal || with_unit(arg, &c->switch_ns) ||
	    (!words_size(arg, &c->switch_size, &unit) && unit && c->switch_size))
		return 0;
	return bad(why, "not signal, a size like 100M, nor a time like 30s: ", arg);
}

int record_set_switch_files(struct record_config *c, const char *arg, struct buf *why)
{
	uint64_t v;

	if (opt_u64(arg, 1, 100000, &v))
		return bad(why, "not a number of files: ", arg);
	c->switch_files = (uint32_t)v;
	return 0;
}

int record_set_synth(struct record_config *c, const char *arg, struct buf *why)
{
	static const char *const words[] = {"all", "no", "task", "mmap", "cgroup"};

	for (int i = 0; i < 5; i++)
		if (strcmp(arg, words[i]) == 0) {
			c->synth = (enum record_synth)i;
			return 0;
		}
	return bad(why, "not all, no, task, mmap or cgroup: ", arg);
}

int record_set_chains(struct record_config *c, const char *arg, struct buf *why)
{
	static const char dwarf[] = "dwarf,";
	uint64_t size = 0;

	if (!strcmp(arg, "fp")) {
		c->chains = RECORD_CHAINS_FP;
	} else if (!strcmp(arg, "lbr")) {
		c->chains = RECORD_CHAINS_LBR;
	} else if (!strcmp(arg, "dwarf")) {
		c->chains = RECORD_CHAINS_DWARF;
	} else if (!strcmp(arg, "auto")) {
		c->chains = RECORD_CHAINS_AUTO;
	} else if (strncmp(arg, dwarf, strlen(dwarf)) != 0) {
		return bad(why, "not fp, dwarf, dwarf,SIZE, lbr or auto: ", arg);
	} else {
		c->chains = RECORD_CHAINS_DWARF;
		if (opt_u64(arg + strlen(dwarf), 8, RECORD_STACK_MAX, &size))
			return bad(why, "a copy of the stack has 8 to 65528 bytes, not ",
				   arg + strlen(dwarf));
	}
	/* The kernel wants a multiple of 8. */
	c->stack_size = (uint32_t)(size + 7) & ~UINT32_C(7);
	return 0;
}

int record_set_clock(struct record_config *c, const char *arg, struct buf *why)
{
	static const struct {
		const char *name;
		clockid_t clock;
	} clocks[] = {
		{"monotonic", CLOCK_MONOTONIC},
		{"monotonic_raw", CLOCK_MONOTONIC_RAW},
		{"boottime", CLOCK_BOOTTIME},
		{"realtime", CLOCK_REALTIME},
		{"tai", CLOCK_TAI},
		{"mono", CLOCK_MONOTONIC},
		{"raw", CLOCK_MONOTONIC_RAW},
		{"boot", CLOCK_BOOTTIME},
		{"real", CLOCK_REALTIME},
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (strcmp(arg, clocks[i].name) != 0)
			continue;
		c->use_clock = true;
		c->clock = clocks[i].clock;
		return 0;
	}
	return bad(why, "not monotonic, monotonic_raw, boottime, realtime or tai: ", arg);
}

/* Seconds, or a duration with a unit. */
static bool seconds(const char *arg, uint64_t *ns)
{
	struct buf ignored = BUF_INIT;
	char *end;
	double v;
	int rc;

	if (strspn(arg, "0123456789.") != strlen(arg)) {
		rc = opt_duration("", arg, false, ns, &ignored);
		buf_release(&ignored);
		return !rc;
	}
	v = strtod(arg, &end);
	if (*end || end == arg || v > SECONDS_MAX)
		return false;
	*ns = (uint64_t)(v * 1e9);
	return true;
}

int record_set_end(struct record_config *c, char **words, bool command, struct buf *why)
{
	if (words[0] && !command && seconds(words[0], &c->duration_ns)) {
		if (words[1])
			return bad(why,
				   words[1][0] == '-' ? "options come before SECONDS: "
						      : "either SECONDS or a command, not both: ",
				   words[1]);
		if (!c->duration_ns)
			return bad(why, "SECONDS must be more than 0: ", words[0]);
	} else if (words[0]) {
		c->command = words;
	}
	if (!target_has_tasks(&c->whom) && (c->whom.cpus || !c->command || c->cgroup))
		c->whom.all_cpus = true;
	for (size_t i = 0; i < c->events.n; i++)
		c->whom.all_cpus |= c->events.v[i].cgroup != NULL;
	return 0;
}

int record_open_output(struct record_config *c, const char *path, struct diag *d)
{
	c->fd = STDOUT_FILENO;
	c->path = path && strcmp(path, "-") != 0 ? path : NULL;
	if (!c->path && (c->switch_signal || c->switch_ns || c->switch_size)) {
		diag_error(d, NULL, -1, "--switch-output needs a file: -o FILE");
		return PP_EUSAGE;
	}
	if (path && strcmp(path, "-") != 0)
		c->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (c->fd < 0) {
		diag_error(d, path, -1, "cannot write: %s", strerror(errno));
		return PP_EIO;
	}
	if (c->fd != STDOUT_FILENO || !isatty(STDOUT_FILENO))
		return 0;
	diag_error(d, NULL, -1, "a recording cannot go to a terminal: pipe it, or use -o FILE");
	return PP_EUSAGE;
}
