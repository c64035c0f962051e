/* Texts, frames, stacks, threads and events of a profile, each kept once. */
#include "conv/prof.h"

#include "base/err.h"
#include "fold/fold.h"
#include "stream/ends.h"

#include <stdlib.h>
#include <string.h>

int prof_new(struct prof **out, unsigned flags, struct diag *d)
{
	static const struct fold_opts plain;
	struct prof *p = calloc(1, sizeof(*p));
	int rc = p ? fold_new(&p->tree, &plain, d) : PP_ENOMEM;

	*out = p;
	if (rc) {
		free(p);
		*out = NULL;
		return rc;
	}
	p->flags = flags;
	p->d = d;
	return 0;
}

void prof_free(struct prof *p)
{
	if (!p)
		return;
	intern_release(&p->texts);
	intern_release(&p->frames);
	intern_release(&p->dsos);
	intern_release(&p->threads);
	intern_release(&p->events);
	map64_release(&p->processes);
	fold_free(p->tree);
	buf_release(&p->text);
	free(p);
}

static int add_text(struct prof *p, const void *bytes, size_t n, uint32_t *id)
{
	*id = 0;
	return n ? intern_add(&p->texts, bytes, n, id, NULL) : 0;
}

int prof_hex(struct prof *p, const void *bytes, size_t n, uint32_t *id)
{
	buf_reset(&p->text);
	for (size_t i = 0; i < n; i++)
		buf_add_hex(&p->text, ((const uint8_t *)bytes)[i], 2, '0');
	return p->text.err ? p->text.err : add_text(p, p->text.data, p->text.len, id);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void prof_add_bytes(const struct prof *p, uint32_t text, struct buf *b)
{
	struct ps_str s = prof_str(p, text);

	for (uint32_t i = 0; i + 1 < s.len; i += 2) {
		int high = digit(s.p[i]), low = digit(s.p[i + 1]);

		if (high < 0 || low < 0)
			return;
		buf_addc(b, (char)(high << 4 | low));
	}
}

int prof_text(struct prof *p, const char *s, size_t n, uint32_t *id)
{
	size_t good = 0;
	int len = 1;

	while (good < n && (len = utf8_len(s + good, n - good)))
		good += (size_t)len;
	if (good >= n)
		return add_text(p, s, n, id);
	buf_reset(&p->text);
	for (size_t i = 0; i < n; i += (size_t)len) {
		len = utf8_len(s + i, n - i);
		buf_add(&p->text, len ? s + i : "?", len ? (size_t)len : 1);
		len = len ? len : 1;
	}
	return p->text.err ? p->text.err : add_text(p, p->text.data, p->text.len, id);
}

int prof_frame(struct prof *p, const struct prof_frame *f, uint32_t *id)
{
	struct prof_frame kept = *f;

	/* The address alone tells frames without a symbol apart. */
	if (!(p->flags & PROF_ADDRS))
		kept.addr = 0;
	return intern_add(&p->frames, &kept, sizeof(kept), id, NULL);
}

int prof_dso(struct prof *p, const struct prof_dso *dso, uint32_t *id)
{
	return intern_add(&p->dsos, dso, sizeof(*dso), id, NULL);
}

int prof_thread(struct prof *p, const struct prof_thread *t, uint32_t *id)
{
	return intern_add(&p->threads, t, sizeof(*t), id, NULL);
}

int prof_event(struct prof *p, const struct prof_event *e, uint32_t *id)
{
	return intern_add(&p->events, e, sizeof(*e), id, NULL);
}

int prof_stack(struct prof *p, const uint32_t *frames, size_t n, uint32_t *stack)
{
	*stack = 0;
	p->left_out += n > FOLD_DEPTH_MAX ? n - FOLD_DEPTH_MAX : 0;
	return n ? fold_stack(p->tree, frames, n, stack) : 0;
}

int prof_path(struct prof *p, uint32_t stack, const uint32_t *frames, size_t n, uint32_t *end,
	      size_t *left_out)
{
	int rc = fold_path(p->tree, stack, frames, n, end, left_out);

	p->left_out += rc ? 0 : *left_out;
	return rc;
}

int prof_push(struct prof *p, uint32_t stack, uint32_t frame, uint32_t *pushed)
{
	size_t left_out;

	return prof_path(p, stack, &frame, 1, pushed, &left_out);
}

uint32_t prof_up(const struct prof *p, uint32_t stack, uint32_t *frame)
{
	return fold_node(p->tree, stack, frame, NULL);
}

uint32_t prof_stacks(const struct prof *p)
{
	return fold_nodes(p->tree);
}

struct ps_str prof_str(const struct prof *p, uint32_t text)
{
	size_t n = 0;
	const char *s = text ? intern_get(&p->texts, text, &n) : NULL;

	return ps_str(s ? s : "", n);
}

static const void *get(const struct intern *t, uint32_t id, const void *none)
{
	const void *v = id ? intern_get(t, id, NULL) : NULL;

	return v ? v : none;
}

const struct prof_frame *prof_frame_of(const struct prof *p, uint32_t frame)
{
	static const struct prof_frame none;

	return get(&p->frames, frame, &none);
}

const struct prof_dso *prof_dso_of(const struct prof *p, uint32_t dso)
{
	static const struct prof_dso none;

	return get(&p->dsos, dso, &none);
}

const struct prof_thread *prof_thread_of(const struct prof *p, uint32_t thread)
{
	static const struct prof_thread none = {PS_NONE, PS_NONE, 0};

	return get(&p->threads, thread, &none);
}

const struct prof_event *prof_event_of(const struct prof *p, uint32_t event)
{
	static const struct prof_event none;

	return get(&p->events, event, &none);
}

int prof_name_process(struct prof *p, uint32_t pid, uint32_t name)
{
	uint32_t *slot = map64_put(&p->processes, pid, NULL);

	if (!slot)
		return PP_ENOMEM;
	*slot = name;
	return 0;
}

struct ps_str prof_process(const struct prof *p, const struct prof_thread *t)
{
	const uint32_t *name = map64_get(&p->processes, t->pid);

	return prof_str(p, name ? *name : t->comm);
}

struct ps_str prof_file_name(struct ps_str path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	/* What has no file name, as "/", is called by its path. */
	if (!slash || slash + 1 == path.p + path.len)
		return path;
	return ps_str(slash + 1, (size_t)(path.p + path.len - slash - 1));
}

void prof_show(const struct prof *p, const struct prof_frame *f, struct buf *b)
{
	struct ps_str s = prof_str(p, f->name);

	if (s.len) {
		buf_add(b, s.p, s.len);
	} else {
		s = prof_file_name(prof_str(p, prof_dso_of(p, f->dso)->path));
		buf_addc(b, '[');
		buf_add(b, s.len ? s.p : "unknown", s.len ? s.len : 7);
		buf_addc(b, ']');
	}
	if (f->flags & PROF_FRAME_INLINED)
		buf_adds(b, "_[i]");
}

bool prof_is_mark(struct ps_str name)
{
	return ps_end_of_mark(name.p, name.len) != PS_END_NONE;
}

static bool ends_in(struct ps_str s, const char *end)
{
	size_t n = strlen(end);

	return s.len > n && !memcmp(s.p + s.len - n, end, n);
}

#define KERNEL "[kernel.kallsyms]"

/* The kernel's own names for what has no file. */
uint32_t prof_dso_flags(struct ps_str path)
{
	return path.len > 8 && !memcmp(path.p, "[kernel.", 8) ? PS_DSO_KERNEL
	       : path.len && *path.p == '['		      ? PS_DSO_NO_FILE
							      : 0;
}

int prof_shown(struct prof *p, struct ps_str name, struct ps_str file, uint64_t line, uint32_t *id)
{
	struct prof_dso dso = {0};
	struct prof_frame f = {.line = line > INT32_MAX ? 0 : (uint32_t)line};
	struct ps_str base = prof_file_name(file);
	bool unknown = name.len == 9 && !memcmp(name.p, "[unknown]", 9);
	int rc = 0;

	if (ends_in(name, "_[i]"))
		f.flags |= PROF_FRAME_INLINED, name.len -= 4;
	else if (ends_in(name, "_[k]"))
		f.flags |= PROF_FRAME_KERNEL, name.len -= 4, file = ps_str(KERNEL, strlen(KERNEL));
	else if (prof_is_mark(name))
		f.flags |= PROF_FRAME_MARK;
	if (f.line) {
		rc = prof_text(p, file.p, file.len, &f.file);
	} else if (file.len) {
		unknown |= name.len == base.len + 2 && *name.p == '[' &&
			   !memcmp(name.p + 1, base.p, base.len) && name.p[name.len - 1] == ']';
		dso.flags = prof_dso_flags(file);
		rc = prof_text(p, file.p, file.len, &dso.path);
		if (!rc)
			rc = prof_dso(p, &dso, &f.dso);
	}
	if (!rc && !unknown)
		rc = prof_text(p, name.p, name.len, &f.name);
	return rc ? rc : prof_frame(p, &f, id);
}

void prof_show_thread(const struct prof *p, const struct prof_thread *t, struct buf *b)
{
	struct ps_str comm = prof_str(p, t->comm);

	buf_add(b, comm.len ? comm.p : "[unknown]", comm.len ? comm.len : 9);
	if (t->pid != PS_NONE && t->tid != PS_NONE)
		buf_addf(b, " (%u/%u)", t->pid, t->tid);
	else if (t->pid != PS_NONE)
		buf_addf(b, " (%u)", t->pid);
}

/* "41/42)" and "41)" after a blank and a bracket. */
static bool take_ids(const char *s, size_t n, struct prof_thread *t)
{
	uint64_t v[2] = {0, PS_NONE};
	int k = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		if (s[i] == '/' && !k && i)
			v[++k] = 0;
		else if (s[i] < '0' || s[i] > '9' || v[k] >= PS_NONE)
			return false;
		else
			v[k] = v[k] * 10 + (uint64_t)(s[i] - '0');
	}
	if (n < 2 || s[n - 1] != ')' || s[n - 2] == '/')
		return false;
	t->pid = (uint32_t)v[0];
	t->tid = (uint32_t)v[1];
	return true;
}

int prof_shown_thread(struct prof *p, struct ps_str shown, uint32_t *id)
{
	struct prof_thread t = {PS_NONE, PS_NONE, 0};
	const char *open = shown.len ? memrchr(shown.p, '(', shown.len) : NULL;
	size_t n = open ? (size_t)(open - shown.p) : 0;
	int rc;

	if (n && shown.p[n - 1] == ' ' && take_ids(open + 1, shown.len - n - 1, &t))
		shown.len = (uint32_t)n - 1;
	rc = prof_text(p, shown.p, shown.len, &t.comm);
	return rc ? rc : prof_thread(p, &t, id);
}

int prof_named_event(struct prof *p, struct ps_str name, struct ps_str unit, uint32_t *id)
{
	struct prof_event e;
	int rc = prof_text(p, name.len ? name.p : "samples", name.len ? name.len : 7, &e.name);

	if (!rc)
		rc = prof_text(p, unit.len ? unit.p : "samples", unit.len ? unit.len : 7, &e.unit);
	return rc ? rc : prof_event(p, &e, id);
}

uint64_t prof_unit_ns(struct ps_str unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},	   {"nanoseconds", 1},
		{"us", 1000},	   {"microseconds", 1000},
		{"ms", 1000000},   {"milliseconds", 1000000},
		{"s", 1000000000}, {"seconds", 1000000000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (unit.len == strlen(units[i].name) && !memcmp(unit.p, units[i].name, unit.len))
			return units[i].ns;
	return 0;
}
