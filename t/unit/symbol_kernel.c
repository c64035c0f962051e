/* The kernel's symbols: which file is right for a recording. */
#include "symbol/kernel_symbols.h"

#include "base/buf.h"
#include "base/err.h"
#include "stream/stream.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct buf said;

static void hear(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	buf_add(&said, line, len);
}

static const char *name_at(struct kernel *k, uint64_t addr)
{
	const struct ksymbol *s = kernel_find_ksymbol(k, addr);

	return s ? s->name : "-";
}

static void test_ksymbols(void)
{
	struct kernel_opts o = {0};
	struct kernel k;

	kernel_init(&k, &o, NULL);
	is_str(name_at(&k, 0x1000), "-", "none announced");
	kernel_ksymbol(&k, 0x1000, 0x100, "bpf_prog_one", 12, false);
	kernel_ksymbol(&k, 0x3000, 0x100, "bpf_prog_two", 12, false);
	is_str(name_at(&k, 0x0fff), "-", "before");
	is_str(name_at(&k, 0x1000), "bpf_prog_one", "its first byte");
	is_str(name_at(&k, 0x10ff), "bpf_prog_one", "its last byte");
	is_str(name_at(&k, 0x1100), "-", "after");
	is_str(name_at(&k, 0x3001), "bpf_prog_two", "the other");
	kernel_ksymbol(&k, 0x1080, 0x2000, "new", 3, false);
	is_str(name_at(&k, 0x1000), "-", "what a new one covers in part is gone");
	is_str(name_at(&k, 0x307f), "new", "and the new one there");
	is_str(name_at(&k, 0x3080), "-", "as is the second");
	kernel_ksymbol(&k, 0x1080, 0x2000, "new", 3, true);
	is_str(name_at(&k, 0x1080), "-", "removed");
	is_int(kernel_ksymbol(&k, UINT64_MAX - 1, 16, "wraps", 5, false), 0, "beyond the end");
	is_str(name_at(&k, UINT64_MAX - 1), "-", "is none");
	kernel_ksymbol(&k, 0x5000, 0, "empty", 5, false);
	is_str(name_at(&k, 0x5000), "-", "without length is none");
	kernel_release(&k);
}

#define UNITS 64

static void test_ksymbol_model(void)
{
	struct {
		int start, end; /* 0: free */
		char name[16];
	} model[UNITS] = {0};
	struct kernel_opts o = {0};
	struct kernel k;
	uint32_t seed = 7;
	bool right = true;
	int step;

	kernel_init(&k, &o, NULL);
	for (step = 0; step < 20000 && right; step++) {
		int start, end;
		bool gone;
		char name[16];

		seed = seed * 1664525 + 1013904223;
		start = (int)(seed >> 8) % UNITS;
		end = start + 1 + (int)(seed >> 16) % 6;
		gone = (seed >> 30) == 0;
		snprintf(name, sizeof(name), "s%d", step);
		kernel_ksymbol(&k, 0x1000 + (uint64_t)start, (uint64_t)(end - start), name,
			       strlen(name), gone);
		for (int i = 0; i < UNITS; i++)
			if (model[i].end && model[i].start < end && model[i].end > start)
				model[i].end = 0;
		for (int i = 0; i < UNITS && !gone; i++)
			if (!model[i].end) {
				model[i].start = start;
				model[i].end = end;
				memcpy(model[i].name, name, sizeof(name));
				break;
			}
		for (int a = 0; a < UNITS + 8; a++) {
			const char *want = "-";

			for (int i = 0; i < UNITS; i++)
				if (model[i].end && model[i].start <= a && a < model[i].end)
					want = model[i].name;
			right = right && !strcmp(want, name_at(&k, 0x1000 + (uint64_t)a));
		}
	}
	ok(right, "20000 random announcements and removals as in the model (step %d)", step);
	kernel_release(&k);
}

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000100 T do_work\n"
			   "ffffffff81002000 T _etext\n";

/* The name at an address of the kernel, "-" without, "?" without a table. */
static const char *kernel_name(struct kernel *k, uint64_t addr)
{
	static char name[64];
	struct symbol s;
	uint32_t reason;
	const struct symtab *t = kernel_symbols(k, &reason);

	if (!t) {
		is_int(reason, PS_REASON_NO_KALLSYMS, "the reason");
		return "?";
	}
	if (symtab_find(t, addr, &s))
		return "-";
	snprintf(name, sizeof(name), "%s", symtab_text(t, s.name));
	return name;
}

static void set(struct kernel *k, const char *key, const char *value)
{
	kernel_meta(k, key, strlen(key), value, strlen(value));
}

static void test_sources(struct diag *d)
{
	struct dso_search search = {.cache = ""};
	struct kernel_opts o = {.search = &search};
	char path[] = "/tmp/perfpipe-kallsyms.XXXXXX";
	int fd = mkstemp(path);
	struct utsname u;
	struct kernel k;

	ok(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1, "a kallsyms file");
	close(fd);
	uname(&u);

	kernel_init(&k, &o, d);
	set(&k, "osrelease", "0.0.1-other");
	ok(origin_kernel(&k.origin) == ORIGIN_ELSEWHERE, "another release is not the running one");
	buf_reset(&said);
	is_str(kernel_name(&k, 0xffffffff81000100), "?", "it has no names");
	ok(strstr(buf_str(&said), "recorded on kernel 0.0.1-other"), "which is reported");
	ok(strstr(buf_str(&said), "--kallsyms"), "with what to do");
	buf_reset(&said);
	kernel_name(&k, 0xffffffff81000100);
	is_str(buf_str(&said), "", "once");
	kernel_release(&k);

	kernel_init(&k, &o, d);
	set(&k, "osrelease", u.release);
	set(&k, "arch", u.machine);
	ok(origin_kernel(&k.origin) == ORIGIN_HERE, "the same release and machine is");
	set(&k, "arch", "vax");
	ok(origin_kernel(&k.origin) == ORIGIN_ELSEWHERE, "another machine is not");
	kernel_release(&k);

	o.kallsyms = path;
	kernel_init(&k, &o, d);
	set(&k, "osrelease", "0.0.1-other");
	is_str(kernel_name(&k, 0xffffffff81000123), "do_work", "--kallsyms");
	kernel_release(&k);

	kernel_init(&k, &o, d);
	set(&k, "kernel_symbol", "_text");
	kernel_mapping(&k, 0xffffffff91000000, 0x2000, 0xffffffff91000000);
	is_str(kernel_name(&k, 0xffffffff91000123), "do_work", "of a kernel that was elsewhere");
	kernel_release(&k);

	o.kallsyms = NULL;
	kernel_init(&k, &o, d);
	set(&k, "osrelease", "0.0.1-other");
	kernel_blob(&k, text, 40);
	kernel_blob(&k, text + 40, sizeof(text) - 1 - 40);
	is_str(kernel_name(&k, 0xffffffff81000123), "do_work", "one in the recording, in parts");
	kernel_release(&k);

	o.kallsyms = "/nonexistent/kallsyms";
	kernel_init(&k, &o, d);
	set(&k, "osrelease", "0.0.1-other");
	buf_reset(&said);
	is_str(kernel_name(&k, 0xffffffff81000123), "?", "a file that is not there");
	ok(strstr(buf_str(&said), "/nonexistent/kallsyms: "), "is reported");
	kernel_release(&k);
	unlink(path);
}

static void test_vdso(void)
{
	struct kernel_opts o = {0};
	struct build_id id;
	uint32_t reason;
	struct kernel k;

	kernel_init(&k, &o, NULL);
	set(&k, "osrelease", "0.0.1-other");
	id = build_id_make(NULL, 0);
	ok(!kernel_vdso(&k, &id, &reason), "another kernel's vdso is not known");
	is_int(reason, PS_REASON_NO_FILE, "that is why");
	id = build_id_make("12345678901234567890", 20);
	ok(!kernel_vdso(&k, &id, &reason), "nor one with another build-id");
	/* An emulator may give its program no vdso at all. */
	is_int(reason, getauxval(AT_SYSINFO_EHDR) ? PS_REASON_BUILD_ID : PS_REASON_NO_FILE,
	       "for that reason");
	kernel_release(&k);
}

int main(void)
{
	struct diag *d;

	diag_new(&d, "t", hear, NULL);
	test_ksymbols();
	test_ksymbol_model();
	test_sources(d);
	test_vdso();
	diag_free(d);
	buf_release(&said);
	return done();
}
