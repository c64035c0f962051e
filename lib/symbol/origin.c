/* Compares what a recording tells of its machine with this one: host, kernel, places in memory. */
#include "symbol/origin.h"

#include "base/err.h"
#include "symbol/kmodule.h"
#include "symbol/root.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define MODULES_MAX (4u << 20) /* bytes of /proc/modules */

static void keep(char *to, size_t size, const char *value, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, value, len);
	to[len] = 0;
}

void origin_meta(struct origin *o, const char *key, size_t klen, const char *value, size_t vlen)
{
	const struct {
		const char *key;
		char *to;
		size_t size;
	} rows[] = {
		{"hostname", o->hostname, sizeof(o->hostname)},
		{"osrelease", o->osrelease, sizeof(o->osrelease)},
		{"arch", o->arch, sizeof(o->arch)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].key) == klen && !memcmp(rows[i].key, key, klen))
			keep(rows[i].to, rows[i].size, value, vlen);
}

void origin_kernel_map(struct origin *o, uint64_t addr, uint64_t len, uint64_t text)
{
	o->text = text;
	o->end = addr + len;
}

void origin_module_path(struct origin *o, const char *path)
{
	const char *tops[] = {"/lib/modules/", "/usr/lib/modules/"};

	for (size_t i = 0; i < 2 && !o->module_release[0]; i++) {
		size_t n = strlen(tops[i]);

		if (!strncmp(path, tops[i], n) && strchr(path + n, '/'))
			keep(o->module_release, sizeof(o->module_release), path + n,
			     strcspn(path + n, "/"));
	}
}

int origin_module_map(struct origin *o, const char *path, uint64_t addr)
{
	if (!addr || o->n_modules == ORIGIN_MODULES_MAX)
		return 0;
	if (!o->modules)
		o->modules = calloc(ORIGIN_MODULES_MAX, sizeof(*o->modules));
	if (!o->modules)
		return PP_ENOMEM;
	o->modules[o->n_modules].addr = addr;
	kmodule_name(path, o->modules[o->n_modules++].name);
	return 0;
}

const char *origin_osrelease(const struct origin *o)
{
	return o->osrelease[0] ? o->osrelease : o->module_release;
}

void origin_release(struct origin *o)
{
	buf_release(&o->here.modules);
	free(o->modules);
}

/* ---- this machine ---- */

static void ask(struct origin *o)
{
	struct utsname u;

	if (o->asked)
		return;
	o->asked = true;
	if (!uname(&u)) {
		keep(o->here.host, sizeof(o->here.host), u.nodename, strlen(u.nodename));
		keep(o->here.release, sizeof(o->here.release), u.release, strlen(u.release));
		keep(o->here.arch, sizeof(o->here.arch), u.machine, strlen(u.machine));
	}
	if (build_id_kernel(&o->here.kernel))
		o->here.kernel.len = 0;
}

static void take_symbol(struct here *h, const char *line)
{
	char *end;
	uint64_t v = strtoull(line, &end, 16);

	if (end == line || strlen(end) < 3)
		return;
	if (!strcmp(end + 3, "_text\n"))
		h->text = v;
	else if (!strcmp(end + 3, "_etext\n"))
		h->ends[0] = v;
	else if (!strcmp(end + 3, "_edata\n"))
		h->ends[1] = v;
}

/* The places of the kernel and its modules: some milliseconds, for recordings that tell little. */
static void ask_kernel(struct origin *o)
{
	enum symtab_reason why;
	char line[512];
	FILE *f;

	ask(o);
	if (o->asked_kernel)
		return;
	o->asked_kernel = true;
	f = fopen("/proc/kallsyms", "re");
	while (f && !(o->here.text && o->here.ends[0] && o->here.ends[1]) &&
	       fgets(line, sizeof(line), f))
		take_symbol(&o->here, line);
	if (f)
		fclose(f);
	if (root_read(NULL, "/proc/modules", MODULES_MAX, &o->here.modules, &why))
		buf_reset(&o->here.modules);
}

/* ---- comparing ---- */

/* Where a kernel begins that is not moved at boot: that many machines have in common. */
static bool is_default_text(uint64_t addr)
{
	static const uint64_t places[] = {
		0xffffffff81000000,			/* x86 */
		0xffff000008080000, 0xffff000010080000, /* arm64 */
		0xffff800010000000, 0xffff800008000000, 0xffff800080000000,
		0x100000,	    0xc000000000000000, 0xffffffff80000000, /* s390, ppc, riscv */
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (addr == places[i])
			return true;
	return false;
}

static bool same_text(const struct origin *o)
{
	if (!o->text || o->text != o->here.text)
		return false;
	return !is_default_text(o->text) || o->end == o->here.ends[0] || o->end == o->here.ends[1];
}

/* The address of a module in a text as /proc/modules; 0: it is not there, or hidden. */
static uint64_t module_addr(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; n && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		/* NAME SIZE USERS USED-BY STATE ADDRESS */
		size_t line = strcspn(p, "\n");
		const char *at;

		if (line <= n || strncmp(p, name, n) != 0 || p[n] != ' ')
			continue;
		at = memmem(p, line, " 0x", 3);
		return at ? strtoull(at + 1, NULL, 16) : 0;
	}
	return 0;
}

/* Modules are at other places after each boot. */
static bool same_modules(struct origin *o)
{
	const char *text = buf_str(&o->here.modules);

	for (uint32_t i = 0; i < o->n_modules; i++)
		if (module_addr(text, o->modules[i].name) == o->modules[i].addr)
			return true;
	return false;
}

static bool is_host(const struct origin *o)
{
	return o->hostname[0] && !strcmp(o->hostname, o->here.host);
}

enum origin_verdict origin_kernel(struct origin *o)
{
	const char *release = origin_osrelease(o);

	ask(o);
	if (o->kernel.len && o->here.kernel.len)
		return build_id_equal(&o->kernel, &o->here.kernel) ? ORIGIN_HERE : ORIGIN_ELSEWHERE;
	if ((release[0] && strcmp(release, o->here.release) != 0) ||
	    (o->arch[0] && strcmp(o->arch, o->here.arch) != 0))
		return ORIGIN_ELSEWHERE;
	if (release[0] || o->trust || is_host(o))
		return ORIGIN_HERE;
	ask_kernel(o);
	if (same_text(o) || same_modules(o))
		return ORIGIN_HERE;
	return o->hostname[0] ? ORIGIN_ELSEWHERE : ORIGIN_UNKNOWN;
}

enum origin_verdict origin_files(struct origin *o)
{
	enum origin_verdict kernel;

	ask(o);
	if (o->trust || is_host(o))
		return ORIGIN_HERE;
	if (o->hostname[0])
		return ORIGIN_ELSEWHERE;
	kernel = origin_kernel(o);
	/* Another kernel can have been booted since. */
	return kernel == ORIGIN_HERE ? ORIGIN_HERE : ORIGIN_UNKNOWN;
}
