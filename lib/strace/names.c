/* Names of calls by their number, and which calls were asked for. */
#include "base/err.h"
#include "event/glob.h"
#include "interval/syscall_names.h"
#include "strace/parts.h"

#include <stdio.h>

const char *strace_text(const struct strace *s, uint32_t id, size_t *len)
{
	const char *t = id ? intern_get(&s->texts, id, len) : NULL;

	if (!t)
		*len = 0;
	return t ? t : "";
}

int strace_call_name(struct strace *s, uint64_t number, uint32_t *text)
{
	uint32_t *slot = map64_put(&s->names, number, NULL);
	const char *name;
	char other[32];
	int rc;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		name = syscall_name(s->arch, number);
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

static bool item_has(const char *item, size_t n, const char *name, size_t len)
{
	return call_in_group(name, len, item, n) || glob_match(item, n, name, len);
}

bool strace_wants(struct strace *s, uint32_t name)
{
	const char *at = s->o.calls, *text;
	uint32_t *slot;
	size_t len;
	bool no, found = false;

	if (!at)
		return true;
	slot = map64_put(&s->wanted, name, NULL);
	if (slot && *slot)
		return *slot == 2;
	text = strace_text(s, name, &len);
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
