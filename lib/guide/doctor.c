/* Looks at what the kernel permits and what there is, by trying it where that can be tried. */
#include "guide/doctor.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"
#include "record/framepointer.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID     "/proc/sys/kernel/perf_event_paranoid"
#define KPTR	     "/proc/sys/kernel/kptr_restrict"
#define MOST_RATE    "/proc/sys/kernel/perf_event_max_sample_rate"
#define DEEPEST	     "/proc/sys/kernel/perf_event_max_stack"
#define KALLSYMS     "/proc/kallsyms"
#define DEBUG_DIR    "/usr/lib/debug/.build-id"
#define MAPS_MAX     (4u << 20)
#define FRAMED_LEAST 50 /* of a hundred functions, for stacks by frame pointers to be worth it */

enum state { OK, NOTE, NO };

struct check {
	enum state state;
	struct buf what;   /* what is so */
	const char *helps; /* a command; NULL: none */
};

/* Whether the kernel opens an event, 0 or the error. cpu -1: of this process. */
static int try_event(uint32_t type, uint64_t config, int cpu, bool kernel)
{
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof(attr),
				       .config = config,
				       .disabled = 1,
				       .exclude_kernel = !kernel,
				       .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void add_setting(struct buf *b, const char *path)
{
	uint64_t v;

	if (!sysfile_u64(path, &v))
		buf_addf(b, " (%s is %lld)", strrchr(path, '/') + 1, (long long)v);
}

static void check_processes(struct check *c)
{
	int error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, false);

	c->state = error ? NO : OK;
	buf_adds(&c->what, error == ENOSYS ? "the kernel has no perf events"
			   : error	   ? "your own processes cannot be recorded"
					   : "your own processes can be recorded");
	add_setting(&c->what, PARANOID);
	c->helps = error == ENOSYS ? NULL : "sysctl kernel.perf_event_paranoid=2";
}

static void check_kernel(struct check *c)
{
	int error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, true);

	c->state = error ? NO : OK;
	buf_adds(&c->what, error ? "what the kernel does for them is not recorded"
				 : "and what the kernel does for them");
	c->helps = "sysctl kernel.perf_event_paranoid=1";
}

static void check_machine(struct check *c)
{
	int error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true);

	c->state = error ? NO : OK;
	buf_adds(&c->what, error ? "the whole machine cannot be recorded (pcap-perf -a)"
				 : "the whole machine can be recorded (pcap-perf -a)");
	c->helps = "sysctl kernel.perf_event_paranoid=-1";
}

static void check_hardware(struct check *c)
{
	int error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false);

	if (!error) {
		buf_adds(&c->what, "hardware counters: cycles, instructions, cache misses");
		return;
	}
	c->state = NOTE;
	buf_adds(&c->what,
		 error == EACCES || error == EPERM
			 ? "hardware counters are not permitted"
			 : "no hardware counters, as in most virtual machines: the clock samples");
}

static void check_tracepoints(struct check *c)
{
	const char *dir;

	if (!tracefs_find(&dir, &c->what)) {
		buf_addf(&c->what, "tracepoints can be recorded, from %s", dir);
		return;
	}
	c->state = NO;
	c->helps = geteuid() ? "mount -o remount,mode=755 /sys/kernel/tracing"
			     : "mount -t tracefs tracefs /sys/kernel/tracing";
}

static void check_probes(struct check *c)
{
	bool uprobes = !access("/sys/bus/event_source/devices/uprobe/type", R_OK);
	bool kprobes = !access("/sys/bus/event_source/devices/kprobe/type", R_OK);

	c->state = uprobes && kprobes ? OK : NOTE;
	buf_addf(&c->what, "probes: of programs %s, of the kernel %s", uprobes ? "yes" : "no",
		 kprobes ? "yes" : "no");
	if (geteuid()) {
		c->state = NOTE;
		buf_adds(&c->what, "; they need root");
	}
}

/* Addresses are hidden as zeros. */
static void check_names(struct check *c)
{
	FILE *f = fopen(KALLSYMS, "re");
	char line[512];
	bool shown = false;

	for (int i = 0; f && !shown && i < 1000 && fgets(line, sizeof(line), f); i++)
		shown = strtoull(line, NULL, 16) != 0;
	if (f)
		fclose(f);
	c->state = shown ? OK : NO;
	buf_adds(&c->what, shown ? "the kernel's functions have names"
				 : "the kernel's functions have no names");
	add_setting(&c->what, KPTR);
	c->helps = "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
}

static void check_debug(struct check *c)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool files = !access(DEBUG_DIR, R_OK), servers = urls && *urls;

	c->state = files || servers ? OK : NOTE;
	buf_adds(&c->what, files     ? "debug files are installed, in /usr/lib/debug"
			   : servers ? "no debug files are installed"
				     : "no debug files: functions that packages leave out of "
				       "their symbol tables have no names");
	if (servers)
		buf_adds(&c->what, "; debuginfod servers are known (psym --debuginfod)");
	c->helps = "export DEBUGINFOD_URLS=https://debuginfod.debian.net";
}

/* The C library that this program runs with stands for the distribution. */
static bool find_libc(struct buf *path)
{
	struct buf maps = BUF_INIT;
	const char *at, *start, *end;

	if (sysfile_read("/proc/self/maps", MAPS_MAX, &maps) ||
	    !(at = strstr(buf_str(&maps), "/libc.so")))
		at = NULL;
	for (start = at; start && start[-1] != ' ' && start[-1] != '\n';)
		start--;
	end = at ? at + strcspn(at, "\n") : NULL;
	if (at)
		buf_add(path, start, (size_t)(end - start));
	buf_release(&maps);
	return path->len != 0;
}

static void check_stacks(struct check *c)
{
	struct buf path = BUF_INIT;
	unsigned share = 0;
	bool go;

	if (!find_libc(&path) || framepointer_look(buf_str(&path), &share, &go))
		buf_adds(&c->what, "it is not known whether programs have frame pointers");
	else if (share >= FRAMED_LEAST)
		buf_addf(&c->what, "programs have frame pointers (%u %% of libc's functions)",
			 share);
	else
		buf_addf(&c->what,
			 "programs have no frame pointers (%u %% of libc): pcap-perf -g copies "
			 "stacks",
			 share);
	c->state = share >= FRAMED_LEAST ? OK : NOTE;
	buf_inherit(&c->what, &path);
	buf_release(&path);
}

static void check_limits(struct check *c)
{
	uint64_t rate = 0, deep = 0;

	if (sysfile_u64(MOST_RATE, &rate) || sysfile_u64(DEEPEST, &deep)) {
		c->state = NOTE;
		buf_adds(&c->what, "the limits of recording are not known");
		return;
	}
	c->state = rate < 999 || deep < 127 ? NOTE : OK;
	buf_addf(&c->what,
		 "at most %" PRIu64 " samples a second on each CPU, with %" PRIu64 " frames", rate,
		 deep);
	c->helps =
		"sysctl kernel.perf_event_max_sample_rate=100000 kernel.perf_event_max_stack=127";
}

unsigned doctor_print(enum doctor_form form, struct buf *b)
{
	static const char *const words[] = {"ok", "note", "no"};
	static const struct {
		const char *name;
		void (*look)(struct check *);
	} checks[] = {{"processes", check_processes},
		      {"kernel", check_kernel},
		      {"machine", check_machine},
		      {"hardware", check_hardware},
		      {"tracepoints", check_tracepoints},
		      {"probes", check_probes},
		      {"names", check_names},
		      {"debug", check_debug},
		      {"stacks", check_stacks},
		      {"limits", check_limits}};
	unsigned no = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct check c = {OK, BUF_INIT, NULL};
		const char *helps;

		checks[i].look(&c);
		helps = c.state != OK && c.helps ? c.helps : "";
		no += c.state == NO;
		if (form == DOCTOR_FEATURES)
			buf_addf(b, "%s\t%s\t%s\n", checks[i].name, words[c.state],
				 buf_str(&c.what));
		else if (form == DOCTOR_TSV)
			buf_addf(b, "%s\t%s\t%s\t%s\n", words[c.state], checks[i].name,
				 buf_str(&c.what), helps);
		else
			buf_addf(b, "%-5s %s\n%s%s%s", words[c.state], buf_str(&c.what),
				 *helps ? "      helps: " : "", helps, *helps ? "\n" : "");
		buf_inherit(b, &c.what);
		buf_release(&c.what);
	}
	return no;
}
