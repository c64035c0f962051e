/* What events mean: beginnings and ends of system calls, and probes that tell paths. */
#include "base/array.h"
#include "base/err.h"
#include "strace/parts.h"

#include <stdlib.h>

static bool begins(struct ps_str s, const char *with, struct ps_str *rest)
{
	size_t n = strlen(with);

	if (s.len < n || memcmp(s.p, with, n) != 0)
		return false;
	*rest = ps_str(s.p + n, s.len - n);
	return true;
}

static bool equals(struct ps_str s, const char *with)
{
	return s.len == strlen(with) && !memcmp(s.p, with, s.len);
}

static bool find(const struct ps_event *e, const char *name, uint32_t *offset, uint32_t *size)
{
	struct ps_event_field f;

	if (!ps_event_field_find(e, name, strlen(name), &f))
		return false;
	*offset = f.offset;
	*size = f.size;
	return true;
}

/* The arguments of raw_syscalls:sys_enter: an array of six longs. */
static void bind_raw(struct known_event *k, const struct ps_event *e)
{
	struct ps_event_field f;

	if (!find(e, "id", &k->nr, &k->nr_size) || !ps_event_field_find(e, "args", 4, &f))
		return;
	k->meaning = MEANING_RAW_ENTER;
	k->nargs = CALL_ARGS_MAX;
	k->together = f.size == CALL_ARGS_MAX * 8;
	for (uint32_t i = 0; i < CALL_ARGS_MAX; i++) {
		k->arg[i].size = f.size / CALL_ARGS_MAX;
		k->arg[i].offset = f.offset + i * k->arg[i].size;
	}
}

/* Those of syscalls:sys_enter_NAME: its fields after the common ones and the number. */
static int bind_enter(struct strace *s, struct known_event *k, const struct ps_event *e,
		      struct ps_str name)
{
	const struct call_args *c = call_find(name.p, name.len);
	struct ps_event_field f;
	size_t pos = 0;
	int rc = 0;

	k->meaning = MEANING_ENTER;
	while (!rc && k->nargs < CALL_ARGS_MAX && !ps_event_field_next(e, &pos, &f)) {
		struct event_arg *a = &k->arg[k->nargs];
		struct ps_str rest;

		if (begins(f.name, "common_", &rest) || equals(f.name, "__syscall_nr") ||
		    equals(f.name, "nr") || f.flags & (PS_FIELD_DYNAMIC | PS_FIELD_ARRAY))
			continue;
		a->offset = f.offset;
		a->size = f.size;
		a->kind = call_arg_kind(c, f.name.p, f.name.len);
		rc = intern_add(&s->texts, f.name.p, f.name.len, &a->name, NULL);
		k->nargs++;
	}
	return rc;
}

/* The first of these fields that is there and a text, or, of `any`, bytes. */
static bool bind_told(struct told_field *to, const struct ps_event *e, const char *const *names,
		      size_t n, bool any)
{
	struct ps_event_field f;

	for (size_t i = 0; i < n; i++) {
		if (!ps_event_field_find(e, names[i], strlen(names[i]), &f) ||
		    !(f.flags & (any ? PS_FIELD_ARRAY : PS_FIELD_STRING)))
			continue;
		*to = (struct told_field){f.offset, f.size, f.flags & PS_FIELD_DYNAMIC,
					  f.flags & PS_FIELD_RELATIVE};
		return true;
	}
	return false;
}

/* A probe with texts that are named as paths are, or the bytes of a socket's address. */
static void bind_probe(struct known_event *k, const struct ps_event *e)
{
	static const char *const names[] = {"filename",	       "pathname",	  "path", "oldname",
					    "filename_string", "pathname_string", "name"};
	static const char *const seconds[] = {"newname", "newpath"};
	static const char *const sockets[] = {"sockaddr", "uservaddr", "umyaddr"};
	bool told = bind_told(&k->path[0], e, names, sizeof(names) / sizeof(names[0]), false);

	told |= bind_told(&k->path[1], e, seconds, sizeof(seconds) / sizeof(seconds[0]), false);
	told |= bind_told(&k->sockaddr, e, sockets, sizeof(sockets) / sizeof(sockets[0]), true);
	if (told)
		k->meaning = MEANING_TOLD;
}

/* The records of perf trace's BPF programs (told.c) have no format: it is always this one. */
static void bind_bpf(struct known_event *k)
{
	k->meaning = MEANING_RAW_ENTER;
	k->nr = 8;
	k->nr_size = 8;
	k->nargs = CALL_ARGS_MAX;
	k->together = true;
	for (uint32_t i = 0; i < CALL_ARGS_MAX; i++) {
		k->arg[i].size = 8;
		k->arg[i].offset = 16 + 8 * i;
	}
	k->extra = 16 + 8 * CALL_ARGS_MAX;
}

/* Probes only: events of the kernel have names of files and of other things, too. */
static bool is_probe(struct ps_str name)
{
	struct ps_str rest;

	return begins(name, "probe", &rest) || begins(name, "sdt", &rest) ||
	       begins(name, "uprobes:", &rest) || begins(name, "kprobes:", &rest) ||
	       begins(name, "fprobes:", &rest) || begins(name, "perfpipe", &rest);
}

/* The kernel calls some by names of its own: newfstat is fstat. */
static struct ps_str real_name(struct ps_str name)
{
	if (equals(name, "newstat") || equals(name, "newfstat") || equals(name, "newlstat") ||
	    equals(name, "newuname"))
		return ps_str(name.p + 3, name.len - 3);
	if (equals(name, "sendfile64"))
		return ps_str(name.p, name.len - 2);
	return equals(name, "umount") ? ps_str("umount2", 7) : name;
}

int strace_event(struct strace *s, const struct ps_event *e)
{
	struct known_event *v = array_widen(s->events, &s->nevents, e->id, 64, sizeof(*v)), *k;
	struct ps_str name = e->name, rest;
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	s->events = v;
	k = &v[e->id];
	*k = (struct known_event){.meaning = MEANING_OTHER};
	if (is_probe(name)) {
		bind_probe(k, e);
		return 0;
	}
	if (equals(name, "__augmented_syscalls__")) {
		bind_bpf(k);
		return 0;
	}
	if (begins(name, "raw_syscalls:", &rest) || begins(name, "syscalls:", &rest))
		name = rest;
	if (equals(name, "sys_enter")) {
		bind_raw(k, e);
	} else if (equals(name, "sys_exit")) {
		if (find(e, "id", &k->nr, &k->nr_size) && find(e, "ret", &k->ret, &k->ret_size))
			k->meaning = MEANING_RAW_EXIT;
	} else if (begins(name, "sys_enter_", &rest)) {
		rest = real_name(rest);
		rc = intern_add(&s->texts, rest.p, rest.len, &k->call, NULL);
		rc = rc ? rc : bind_enter(s, k, e, rest);
	} else if (begins(name, "sys_exit_", &rest) && find(e, "ret", &k->ret, &k->ret_size)) {
		rest = real_name(rest);
		rc = intern_add(&s->texts, rest.p, rest.len, &k->call, NULL);
		k->meaning = MEANING_EXIT;
	}
	return rc;
}
