/* The arguments of a call and its result as text. */
#include "base/err.h"
#include "strace/parts.h"

#include <inttypes.h>

static void add_path(struct strace *s, uint32_t path)
{
	size_t len;
	const char *text = strace_text(s, path, &len);

	buf_addc(&s->b, '"');
	buf_add_safe(&s->b, text, len);
	buf_addc(&s->b, '"');
}

static void add_file(struct strace *s, uint32_t pid, uint64_t fd)
{
	uint32_t path = strace_file(s, pid, fd);
	size_t len;
	const char *text = strace_text(s, path, &len);

	if (!path)
		return;
	buf_addc(&s->b, '<');
	buf_add_safe(&s->b, text, len);
	buf_addc(&s->b, '>');
}

/* Arguments at the end that are 0 say nothing, where there are more than the call has. */
static uint32_t count_args(const struct thread *t, const struct event_arg *about,
			   const struct known_call *k)
{
	uint32_t n = t->nargs;

	if (k->args)
		return k->nargs < n ? k->nargs : n;
	while (n && !t->arg[n - 1] && !about[n - 1].name)
		n--;
	return n;
}

/* The mode of open is there only where a file may be made. */
static bool is_left_out(const struct thread *t, const struct call_args *known, uint32_t i)
{
	if (!i || !known || known->arg[i].kind != ARG_MODE || known->arg[i - 1].kind != ARG_OPEN)
		return false;
	return !(t->arg[i - 1] & 0100) && (t->arg[i - 1] & 020000000) != 020000000;
}

/* An argument; the paths that were told are those of the first arguments that are paths. */
static void add_arg(struct strace *s, const struct thread *t, enum arg_kind kind, uint64_t v,
		    uint32_t *paths)
{
	size_t len;
	const char *text = strace_text(s, t->sockaddr, &len);
	uint32_t path = kind == ARG_PATH && v && *paths < TOLD_PATHS ? t->path[*paths] : 0;

	*paths += kind == ARG_PATH && v;
	if (path) {
		add_path(s, path);
	} else if (kind == ARG_SOCKADDR && len && v) {
		buf_add(&s->b, text, len);
	} else if (s->o.raw) {
		buf_addf(&s->b, "0x%" PRIx64, v);
	} else {
		s->pathless |= kind == ARG_PATH && v;
		if (kind == ARG_LONG && t->narrow)
			v = (uint64_t)(int32_t)v;
		value_add(&s->b, kind, v, s->arm);
	}
}

void strace_add_args(struct strace *s, const struct call *c, const struct known_call *k, bool names)
{
	const struct thread *t = c->t;
	const struct call_args *known = k->args;
	const struct event_arg *about = s->events[t->event].arg;
	uint32_t n = c->begun ? count_args(t, about, k) : 0, paths = 0;

	if (c->begun && k->what & WHAT_RESTARTS && t->interrupted) {
		size_t len;
		const char *text = strace_text(s, t->interrupted, &len);

		buf_adds(&s->b, "<... resuming interrupted ");
		buf_add_safe(&s->b, text, len);
		buf_adds(&s->b, " ...>");
		return;
	}

	for (uint32_t i = 0; i < n; i++) {
		enum arg_kind kind = about[i].kind;
		size_t len;
		const char *arg = strace_text(s, about[i].name, &len);

		if (is_left_out(t, known, i))
			continue;
		if (!about[i].name && known) {
			kind = known->arg[i].kind;
			arg = known->arg[i].name;
			len = strlen(arg);
		} else if (!about[i].name) {
			kind = ARG_PTR;
		}
		buf_adds(&s->b, i ? ", " : "");
		if (names) {
			buf_add_safe(&s->b, arg, len);
			buf_adds(&s->b, len ? ": " : "");
		}
		add_arg(s, t, kind, t->arg[i], &paths);
		if (kind == ARG_FD || kind == ARG_DIRFD)
			add_file(s, t->pid, t->arg[i]);
	}
}

void strace_add_result(struct strace *s, const struct call *c, const struct known_call *k)
{
	const char *text, *error;

	if (!c->ended) {
		buf_addc(&s->b, '?');
	} else if (strace_failed(c)) {
		error = value_errno((uint32_t)-c->ret, &text);
		if (s->o.raw || !error)
			buf_addf(&s->b, "%" PRId64, c->ret);
		else
			buf_addf(&s->b, "%s %s (%s)", c->ret <= -512 ? "?" : "-1", error, text);
	} else if (k->what & WHAT_ADDRESS) {
		buf_addf(&s->b, "0x%" PRIx64, (uint64_t)c->ret);
	} else {
		if (c->ret < 0)
			buf_addf(&s->b, "%" PRId64, c->ret);
		else
			buf_add_u64(&s->b, (uint64_t)c->ret, 0, ' ');
		if (k->what & (WHAT_OPENS | WHAT_DOUBLES))
			add_file(s, c->t->pid, (uint64_t)c->ret);
	}
}
