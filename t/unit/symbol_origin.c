/* Whether a recording is of this machine: each proof alone, and what speaks against it. */
#include "symbol/origin.h"

#include "tap.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The machine that the rows are compared with. */
static struct here machine(void)
{
	struct here h = {.host = "here",
			 .release = "6.1.0-1-amd64",
			 .arch = "x86_64",
			 .text = 0xffffffff9a000000,
			 .ends = {0xffffffff9b000000, 0xffffffff9c000000}};

	h.kernel = build_id_make("this kernel's own id", 20);
	buf_adds(&h.modules, "ext4 1028096 1 - Live 0xffffffffc0a00000\n"
			     "snd_hda 20480 2 ext4,usb, Live 0xffffffffc0b00000\n"
			     "hidden 20480 0 - Live 0x0000000000000000\n");
	return h;
}

struct facts {
	const char *host, *release, *arch, *id;
	uint64_t text, end;
	const char *module;
	uint64_t module_addr;
	bool trust;
};

static struct origin made(const struct facts *f)
{
	struct origin o = {.trust = f->trust, .asked = true, .asked_kernel = true};

	o.here = machine();
	if (f->host)
		origin_meta(&o, "hostname", 8, f->host, strlen(f->host));
	if (f->release)
		origin_meta(&o, "osrelease", 9, f->release, strlen(f->release));
	if (f->arch)
		origin_meta(&o, "arch", 4, f->arch, strlen(f->arch));
	if (f->id)
		o.kernel = build_id_make(f->id, 20);
	if (f->text)
		origin_kernel_map(&o, f->text, f->end - f->text, f->text);
	if (f->module) {
		origin_module_path(&o, f->module);
		(void)origin_module_map(&o, f->module, f->module_addr);
	}
	return o;
}

#define HERE	  ORIGIN_HERE
#define ELSEWHERE ORIGIN_ELSEWHERE
#define UNKNOWN	  ORIGIN_UNKNOWN
#define THIS_ID	  "this kernel's own id"
#define OTHER_ID  "another kernel's id."

static void test_verdicts(void)
{
	static const struct {
		const char *what;
		struct facts f;
		enum origin_verdict kernel, files;
	} rows[] = {
		{"nothing", {0}, UNKNOWN, UNKNOWN},
		{"the host", {.host = "here"}, HERE, HERE},
		{"another host", {.host = "there"}, ELSEWHERE, ELSEWHERE},
		{"the release", {.release = "6.1.0-1-amd64", .arch = "x86_64"}, HERE, HERE},
		{"another release", {.release = "6.1.0-2-amd64"}, ELSEWHERE, UNKNOWN},
		{"the release, another machine",
		 {.release = "6.1.0-1-amd64", .arch = "aarch64"},
		 ELSEWHERE,
		 UNKNOWN},
		{"the host, which had another release",
		 {.host = "here", .release = "6.1.0-2-amd64"},
		 ELSEWHERE,
		 HERE},
		{"another host of the release",
		 {.host = "there", .release = "6.1.0-1-amd64"},
		 HERE,
		 ELSEWHERE},
		{"the kernel's build-id", {.id = THIS_ID}, HERE, HERE},
		{"another build-id of the release",
		 {.id = OTHER_ID, .release = "6.1.0-1-amd64"},
		 ELSEWHERE,
		 UNKNOWN},
		{"the kernel's place",
		 {.text = 0xffffffff9a000000, .end = 0xffffffffc0000000},
		 HERE,
		 HERE},
		{"another place",
		 {.text = 0xffffffff9a200000, .end = 0xffffffff9b000000},
		 UNKNOWN,
		 UNKNOWN},
		{"the place of a module",
		 {.module = "[snd-hda]", .module_addr = 0xffffffffc0b00000},
		 HERE,
		 HERE},
		{"another place of a module",
		 {.module = "[ext4]", .module_addr = 0xffffffffc0b00000},
		 UNKNOWN,
		 UNKNOWN},
		{"a module that is not there",
		 {.module = "[xfs]", .module_addr = 0xffffffffc0b00000},
		 UNKNOWN,
		 UNKNOWN},
		{"the release in a module's path",
		 {.module = "/lib/modules/6.1.0-1-amd64/kernel/fs/ext4/ext4.ko"},
		 HERE,
		 HERE},
		{"another release in a module's path",
		 {.module = "/usr/lib/modules/6.1.0-2-amd64/kernel/fs/ext4/ext4.ko.xz",
		  .module_addr = 0xffffffffc0a00000},
		 ELSEWHERE,
		 UNKNOWN},
		{"nothing, but trusted", {.trust = true}, HERE, HERE},
		{"another host, but trusted", {.host = "there", .trust = true}, HERE, HERE},
		{"another release, though trusted",
		 {.release = "6.1.0-2-amd64", .trust = true},
		 ELSEWHERE,
		 HERE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct origin o = made(&rows[i].f);

		is_int(origin_kernel(&o), rows[i].kernel, "%s: the kernel", rows[i].what);
		is_int(origin_files(&o), rows[i].files, "%s: files", rows[i].what);
		origin_release(&o);
	}
}

/* A kernel that is not moved at boot begins at the same place as many others; its size tells. */
static void test_default_place(void)
{
	struct facts f = {.text = 0xffffffff81000000, .end = 0xffffffff82000000};
	struct origin o = made(&f);

	o.here.text = 0xffffffff81000000;
	is_int(origin_kernel(&o), ORIGIN_UNKNOWN, "a place that many kernels have proves nothing");
	o.here.ends[0] = 0xffffffff82000000;
	is_int(origin_kernel(&o), ORIGIN_HERE, "with its end it does");
	o.here.ends[0] = 0;
	o.here.ends[1] = 0xffffffff82000000;
	is_int(origin_kernel(&o), ORIGIN_HERE, "also if perf took the end of its data");
	origin_release(&o);
}

static void test_this_machine(void)
{
	struct origin o = {0};
	struct utsname u;

	uname(&u);
	origin_meta(&o, "hostname", 8, u.nodename, strlen(u.nodename));
	is_int(origin_files(&o), ORIGIN_HERE, "this machine's own name");
	is_str(o.here.release, u.release, "its release");
	origin_release(&o);
	o = (struct origin){0};
	is_int(origin_files(&o), ORIGIN_UNKNOWN, "nothing is recorded: nothing is believed");
	origin_release(&o);
}

int main(void)
{
	test_verdicts();
	test_default_place();
	test_this_machine();
	return done();
}
