/* Definitions of probes of the kernel. */
#include "probe/kernel_probes.h"

#include "base/err.h"
#include "probe/define.h"
#include "probe/kernel_args.h"
#include "probe/ksyms.h"
#include "probe/spec.h"
#include "symbol/root.h"
#include "event/kbtf.h"
#include "symbol/elf_file.h"
#include "symbol/reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kernel's types, from a file ---- */

#define KBTF_MAX (64u << 20) /* bytes; 5 to 10 MB in practice */

/* The section of an ELF file. PP_ENOENT: it is none, or has none. */
static int read_section(const char *path, struct buf *bytes)
{
	struct elf_file *f = NULL;
	enum symtab_reason why;
	int rc = PP_ENOENT;

	if (elf_file_open(&f, path, &why) == 0) {
		GElf_Shdr sh;
		Elf_Scn *scn = elf_file_section(f, ".BTF", &sh);
		Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;

		if (data && data->d_buf && data->d_size <= KBTF_MAX) {
			buf_add(bytes, data->d_buf, data->d_size);
			rc = bytes->err;
		}
	}
	elf_file_close(f);
	return rc;
}

/*
 * The file is as the kernel has it, or an ELF file with a section .BTF (vmlinux, a module). Those
 * of modules build on `base`, as with kbtf_take. 0, PP_ENOENT, PP_ECORRUPT, PP_ENOMEM, ...
 */
static int kbtf_open(struct kbtf **out, const char *path, const struct kbtf *base)
{
	struct buf bytes = BUF_INIT;
	enum symtab_reason why;
	int rc = read_section(path, &bytes);

	*out = NULL;
	if (rc == PP_ENOENT)
		rc = root_read(NULL, path, KBTF_MAX, &bytes, &why);
	if (!rc)
		rc = kbtf_take(out, &bytes, base);
	buf_release(&bytes);
	return rc;
}

/* ---- the kernel ---- */

int kernel_open(struct probed_kernel *k, const char *btf, const char *kallsyms, struct diag *d)
{
	const char *symbols = kallsyms ? kallsyms : KERNEL_KALLSYMS;
	const char *types = btf ? btf : KERNEL_BTF;
	enum symtab_reason why;
	int rc;

	memset(k, 0, sizeof(*k));
	k->diag = d;
	rc = root_read(NULL, symbols, KERNEL_TEXT_MAX, &k->symbols, &why);
	if (rc) {
		diag_error(d, symbols, -1, "%s", pp_strerror(rc));
		return rc;
	}
	k->btf_path = types;
	rc = kbtf_open(&k->btf, types, NULL);
	if (rc && (btf || rc == PP_ENOMEM)) {
		diag_error(d, types, -1, "%s", pp_strerror(rc));
		return rc;
	}
	return 0;
}

void kernel_close(struct probed_kernel *k)
{
	kbtf_close(k->module);
	kbtf_close(k->btf);
	buf_release(&k->symbols);
}

/* DIRECTORY/MODULE, or MODULE.ko where that is a copy of files. */
const struct kbtf *kernel_module(struct probed_kernel *k, const char *module)
{
	const char *slash = strrchr(k->btf_path, '/');
	int dir = slash ? (int)(slash - k->btf_path) + 1 : 0;
	char path[4096 + 80];

	if (!strcmp(k->module_name, module))
		return k->module;
	kbtf_close(k->module);
	k->module = NULL;
	snprintf(k->module_name, sizeof(k->module_name), "%s", module);
	for (int i = 0; i < 2 && !k->module && dir < 4096; i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", dir, k->btf_path, module, i ? ".ko" : "");
		kbtf_open(&k->module, path, k->btf);
	}
	return k->module;
}

bool kernel_prototype(struct probed_kernel *k, const char *module, const char *func,
		      const struct kbtf **types, uint32_t *proto)
{
	*proto = 0;
	*types = k->btf;
	if (*module && !strchr(module, '/')) {
		const struct kbtf *own = kernel_module(k, module);

		*types = own ? own : k->btf;
		if (own && !kbtf_function(own, func, proto))
			return true;
		*types = k->btf;
	}
	return *types && !kbtf_function(*types, func, proto);
}

static const char *bare(const char *func)
{
	const char *colon = strchr(func, ':');

	return colon ? colon + 1 : func;
}

/* ---- definitions ---- */

/* What is wanted of one definition. */
struct job {
	struct probed_kernel *k;
	struct definer *d;
	const struct spec *sp;
	const char *text;
	bool returns;
	struct fetches *f;
	struct buf why, first; /* of the last function that failed; of the first one */
	uint32_t failed, made;
};

/* `base`: what the event is called. */
static int add_event(struct job *j, const char *place, const char *base)
{
	const struct spec *sp = j->sp;
	struct definer *d = j->d;
	struct buf name = BUF_INIT;
	struct event *e;

	name_event(base, &name);
	if (j->returns && !sp->event)
		buf_adds(&name, "__return");
	e = name.err ? NULL
		     : definer_event(d,
				     sp->group	? sp->group
				     : d->group ? d->group
						: "probe",
				     buf_str(&name), j->returns ? 'r' : 'p', j->f);
	buf_release(&name);
	if (!e)
		return PP_ENOMEM;
	e->pattern = name_is_glob(sp->func);
	buf_addf(&e->lines, "%c:%s/%s %s", e->kind, e->group, e->name, place);
	if (sp->kind == SPEC_OFFSET && sp->number)
		buf_addf(&e->lines, "+%" PRIu64, sp->number);
	event_args(e, j->f);
	e->points++;
	return e->lines.err;
}

/* Its arguments for a function. */
static int arguments(struct job *j, const char *module, const char *func)
{
	struct kernel_site s = {.types = j->k->btf,
				.returns = j->returns,
				.entry = !j->returns && !j->sp->number,
				.diag = j->k->diag};

	j->f->n = j->f->left_out = 0;
	buf_reset(&j->why);
	if (j->sp->n_args)
		kernel_prototype(j->k, module, func, &s.types, &s.proto);
	for (uint32_t i = 0; i < j->sp->n_args; i++) {
		struct buf why = BUF_INIT;
		const char *bad = kernel_argument(&s, j->sp->args[i], j->f, &why);

		if (bad)
			buf_addf(&j->why, "'%s': %s", j->sp->args[i], bad);
		buf_release(&why);
		if (bad)
			return PP_EUSAGE;
	}
	return 0;
}

static int check_kind(const struct spec *sp, struct buf *why)
{
	if (sp->kind == SPEC_LINE || sp->kind == SPEC_PATTERN || sp->kind == SPEC_SOURCE) {
		buf_adds(why, KERNEL_NEED_IMAGE);
		return PP_ENOENT;
	}
	if (sp->kind > SPEC_OFFSET && sp->kind != SPEC_RETURN && sp->kind != SPEC_URETURN) {
		buf_adds(why,
			 "in the kernel, functions, offsets in them and returns can be probed");
		return PP_EUSAGE;
	}
	return 0;
}

static int define_one(struct job *j)
{
	const char *func = j->sp->func, *symbols = buf_str(&j->k->symbols);
	unsigned n = ksyms_count(symbols, func);
	char module[64];
	int rc;

	if (!n) {
		buf_addf(&j->why, "the kernel has no function %s", func);
		if (!strncmp(func, "usdt:", 5) || !strncmp(func, "u:", 2))
			buf_adds(&j->why,
				 "; a marker of a program: -x FILE --probe '%PROVIDER:NAME'");
		return PP_ENOENT;
	}
	if (n > 1)
		diag_warn(j->k->diag, NULL, -1,
			  "%s: %u functions have that name; the kernel may refuse it", func, n);
	ksyms_module(symbols, func, module);
	rc = arguments(j, module, bare(func));
	return rc ? rc : add_event(j, func, j->sp->event ? j->sp->event : bare(func));
}

/* One of those that fit a pattern. What cannot be had of it is counted. */
static int define_match(struct job *j, const struct ksym *s, bool each)
{
	char module[64], place[64 + KSYMS_NAME_MAX + 2], func[KSYMS_NAME_MAX];
	const char *base = j->sp->event ? j->sp->event : bare(j->sp->func);
	int rc;

	snprintf(module, sizeof(module), "%.*s", (int)s->module_len, s->module);
	snprintf(func, sizeof(func), "%.*s", (int)s->len, s->name);
	snprintf(place, sizeof(place), "%s%s%s", module, *module ? ":" : "", func);
	rc = arguments(j, module, func);
	if (rc) {
		j->failed++;
		if (!j->first.len)
			buf_addf(&j->first, "%s: %s", func, buf_str(&j->why));
		return rc == PP_ENOMEM ? rc : 0;
	}
	j->made++;
	return add_event(j, place, each ? func : base);
}

static void tell_left(const struct job *j, const struct ksyms_left *left)
{
	if (left->twins)
		diag_warn(j->k->diag, NULL, -1,
			  "%s: %u functions left out: others have the same name", j->text,
			  left->twins);
	if (left->init)
		diag_note(j->k->diag, NULL, -1,
			  "%s: %u functions existed only while the kernel started", j->text,
			  left->init);
	if (j->failed)
		diag_warn(j->k->diag, NULL, -1, "%s: %u of %u places left out: %s", j->text,
			  j->failed, j->failed + j->made, buf_str(&j->first));
	j->d->failed += j->failed + left->twins;
}

static int define_pattern(struct job *j)
{
	struct ksyms_left left;
	struct ksym *v;
	uint32_t n;
	int rc = ksyms_pattern(buf_str(&j->k->symbols), j->sp->func, &v, &n, &left);
	bool each = !j->sp->event && (j->d->each || n <= DEFINE_EACH_MAX);

	if (!rc && j->d->each && n > DEFINE_EACH_TOP)
		rc = define_too_many(n, &j->why);
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = define_match(j, &v[i], each);
	free(v);
	if (!rc && !n) {
		buf_reset(&j->why);
		buf_addf(&j->why, "the kernel has no function that matches and can be probed");
		rc = PP_ENOENT;
	} else if (!rc && !j->made) {
		rc = PP_EUSAGE;
	}
	if (!rc)
		tell_left(j, &left);
	return rc;
}

int kernel_define(struct probed_kernel *k, struct definer *d, const char *text)
{
	struct spec sp;
	struct job j = {.k = k, .d = d, .sp = &sp, .text = text, .f = calloc(1, sizeof(*j.f))};
	int rc = spec_parse(&sp, text, &j.why);

	d->specs++;
	if (!j.f)
		rc = PP_ENOMEM;
	if (!rc)
		rc = check_kind(&sp, &j.why);
	j.returns = sp.kind == SPEC_RETURN || sp.kind == SPEC_URETURN;
	if (!rc)
		rc = name_is_glob(sp.func) ? define_pattern(&j) : define_one(&j);
	if (rc)
		diag_error(d->diag, NULL, -1, "%s: %s", text,
			   j.why.len ? buf_str(&j.why) : pp_strerror(rc));
	spec_release(&sp);
	buf_release(&j.first);
	buf_release(&j.why);
	free(j.f);
	return rc;
}
