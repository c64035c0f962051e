/* Names of calls by their number, and which calls were asked for. */
#include "base/array.h"
#include "base/err.h"
#include "event/glob.h"
#include "event/syscall_names.h"
#include "strace/parts.h"

#include <stdio.h>

const char *strace_text(const struct strace *s, uint32_t id, size_t *len)
{
	const char *t = id ? intern_get(&s->texts, id, len) : NULL;

	if (!t)
		*len = 0;
	return t ? t : "";
}

/* Two calls of i386 have the arguments of others that are called the same elsewhere. */
static const char *call_of_i386(const char *arch, const char *name)
{
	if (*arch != 'i' || arch[2] != '8')
		return name;
	return !strcmp(name, "mmap") ? "old_mmap" : !strcmp(name, "select") ? "old_select" : name;
}

int strace_find_name(struct strace *s, bool narrow, uint64_t number, uint32_t *text)
{
	const uint64_t x32 = 1 << 30; /* calls of x86-64 with addresses of 32 bits */
	const char *arch = narrow ? s->narrow_arch : s->arch, *name;
	uint32_t *slot = number < STRACE_NUMBERS
				 ? &s->numbers[narrow][number]
				 : map64_put(&s->names, narrow ? ~number : number, NULL);
	char other[32];
	int rc;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		name = syscall_name(arch, !strcmp(arch, "x86_64") ? number & ~x32 : number);
		name = name ? call_of_i386(arch, name) : NULL;
		if (!name) {
			snprintf(other, sizeof(other), "syscall_%lld", (long long)number);
			name = other;
		}
		rc = intern_add(&s->texts, name, strlen(name), slot, NULL);
		if (rc)
			return rc;
	}
	*text = *slot;
	return 0;
}

void strace_forget_names(struct strace *s)
{
	memset(s->numbers, 0, sizeof(s->numbers));
	map64_clear(&s->names);
}

static bool is_one_of(const char *name, const char *const *list)
{
	while (*list && strcmp(name, *list) != 0)
		list++;
	return *list != NULL;
}

static uint32_t what_is(const char *name)
{
	static const char *const addresses[] = {"mmap",	  "mmap2", "old_mmap", "brk",
						"mremap", "shmat", NULL};
	static const char *const ends[] = {"exit", "exit_group", NULL};

	if (!strncmp(name, "open", 4) || !strcmp(name, "creat"))
		return WHAT_OPENS;
	if (!strcmp(name, "close"))
		return WHAT_CLOSES;
	if (!strncmp(name, "dup", 3))
		return WHAT_DOUBLES;
	if (!strncmp(name, "socket", 6) || !strncmp(name, "accept", 6) ||
	    !strncmp(name, "epoll_create", 12) || !strncmp(name, "eventfd", 7))
		return WHAT_MAKES;
	if (is_one_of(name, addresses))
		return WHAT_ADDRESS;
	if (!strcmp(name, "connect"))
		return WHAT_CONNECTS;
	if (!strcmp(name, "restart_syscall"))
		return WHAT_RESTARTS;
	return is_one_of(name, ends) ? WHAT_ENDS : 0;
}

struct known_call *strace_learn(struct strace *s, uint32_t name)
{
	struct known_call *v = array_widen(s->calls, &s->ncalls, name, 256, sizeof(*v)), *k;
	const char *text;
	size_t len;

	if (!v)
		return NULL;
	s->calls = v;
	k = &v[name];
	text = strace_text(s, name, &len);
	k->args = call_find(text, len);
	while (k->args && k->nargs < CALL_ARGS_MAX && k->args->arg[k->nargs].name)
		k->nargs++;
	k->what = WHAT_SEEN | what_is(text);
	return k;
}

static bool item_has(const char *item, size_t n, const char *name, size_t len)
{
	if (n && *item == '%')
		return call_in_group(name, len, item + 1, n - 1);
	return call_in_group(name, len, item, n) || glob_match(item, n, name, len);
}

bool strace_wants(struct strace *s, uint32_t name)
{
	const char *at = s->o.calls, *text;
	uint32_t *slot;
	size_t len;
	bool no, found = false;

	slot = map64_put(&s->wanted, name, NULL);
	if (slot && *slot)
		return *slot == 2;
	text = strace_text(s, name, &len);
	at += strncmp(at, "trace=", 6) ? 0 : 6;
	no = *at == '!';
	for (at += no; *at && !found; at += *at == ',') {
		size_t n = strcspn(at, ",");

		while (n && *at == ' ')
			at++, n--;
		found = item_has(at, n, text, len);
		at += n;
	}
	if (slot)
		*slot = found != no ? 2 : 1;
	return found != no;
}
