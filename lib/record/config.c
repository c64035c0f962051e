/* The user's words for what a recording is to be, and where it goes. */
#include "base/err.h"
#include "base/opt.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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
	uint64_t v;

	if (opt_u64(arg, 1, RECORD_PAGES_MAX, &v) || v & (v - 1))
		return bad(why, "not a power of two up to 65536: ", arg);
	c->pages = (uint32_t)v;
	return 0;
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
	} else if (strncmp(arg, dwarf, strlen(dwarf)) != 0) {
		return bad(why, "not fp, dwarf, dwarf,SIZE or lbr: ", arg);
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
	if (c->cpus || (!c->command && !c->pids))
		c->all_cpus = true;
	return 0;
}

int record_open_output(struct record_config *c, const char *path, struct diag *d)
{
	c->fd = STDOUT_FILENO;
	if (path && strcmp(path, "-") != 0)
		c->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (c->fd < 0) {
		diag_error(d, path, -1, "cannot write: %s", strerror(errno));
		return PP_EIO;
	}
	if (c->fd != STDOUT_FILENO || !isatty(STDOUT_FILENO))
		return 0;
	diag_error(d, NULL, -1, "a recording is not for a terminal: pipe it, or use -o FILE");
	return PP_EUSAGE;
}
