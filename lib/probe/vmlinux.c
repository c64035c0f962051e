/* The kernel's image with debug information. */
#include "probe/vmlinux.h"

#include "base/err.h"
#include "inspect/find_binary.h"
#include "inspect/inlined.h"
#include "probe/point.h"
#include "symbol/build_id.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What places are counted from where a name alone does not tell. */
static uint64_t text_start(const struct funcs *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i].name, "_text"))
			return t->v[i].addr;
	return 0;
}

static int open_image(struct vmlinux *v, const char *path, struct diag *d)
{
	int rc = binary_open(&v->b, path, d);

	if (rc)
		return rc;
	rc = funcs_load(&v->funcs, v->b);
	v->b->kernel = true;
	v->b->text = text_start(&v->funcs);
	if (!rc && !v->b->text) {
		diag_error(d, path, -1, "no _text symbol: not a kernel image");
		return PP_EUNSUPPORTED;
	}
	if (rc)
		diag_error(d, path, -1, "%s", pp_strerror(rc));
	return rc;
}

static bool is_running(const char *path, const struct build_id *running)
{
	struct elf_file *f = NULL;
	enum symtab_reason why;
	struct build_id id;
	bool same = !elf_file_open(&f, path, &why) && !elf_file_build_id(f, &id) &&
		    build_id_equal(&id, running) && elf_file_has_dwarf(f);

	elf_file_close(f);
	return same;
}

static bool find_running(char *path, size_t size)
{
	static const char *const places[][2] = {
		{"/usr/lib/debug/boot/vmlinux-", ""},
		{"/usr/lib/debug/lib/modules/", "/vmlinux"},
		{"/usr/lib/debug/usr/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/build/vmlinux"},
		{"/boot/vmlinux-", ""},
	};
	char hex[BUILD_ID_HEX_MAX];
	struct build_id running;
	struct utsname u;

	if (build_id_kernel(&running) || running.len < 2 || uname(&u) || strchr(u.release, '/'))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, size, "%s%s%s", places[i][0], u.release, places[i][1]);
		if (is_running(path, &running))
			return true;
	}
	build_id_hex(&running, hex);
	snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	return is_running(path, &running);
}

int vmlinux_open(struct vmlinux *v, const char *path, struct diag *d)
{
	char found[BINARY_PATH_MAX];
	int rc = 0;

	memset(v, 0, sizeof(*v));
	if (!path && !find_running(found, sizeof(found)))
		return 0;
	if (path)
		rc = binary_path(path, 0, found, d);
	if (!rc)
		rc = open_image(v, found, d);
	if (rc)
		vmlinux_close(v);
	return rc;
}

void vmlinux_close(struct vmlinux *v)
{
	if (v->b)
		funcs_release(&v->funcs);
	binary_close(v->b);
	memset(v, 0, sizeof(*v));
}

static int found_one(void *ctx, const struct inlined_place *p)
{
	(void)ctx;
	return p->addr ? 1 : 0;
}

bool vmlinux_has(struct vmlinux *v, const char *text)
{
	struct points p = {0};
	struct buf why = BUF_INIT;
	struct name_pattern np;
	struct spec s;
	bool has = false;

	if (v->b && !spec_parse(&s, text, &why)) {
		if (s.kind == SPEC_SOURCE || s.kind == SPEC_ADDRESS) {
			has = true;
		} else if (s.kind != SPEC_MARKER && !strchr(s.func, ':')) {
			has = !points_functions(&p, &v->funcs, s.func) && p.n > 0;
			name_pattern_set(&np, s.func);
			has = has || inlined_each(v->b, &np, NAME_PART, found_one, NULL) == 1;
		}
		spec_release(&s);
	}
	points_release(&p);
	buf_release(&why);
	return has;
}
