/*
 * Events that a pattern named, such as irq_vectors:*, and that the kernel does not let be sampled:
 * they are left out, and named.
 */
#include "base/err.h"
#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool spare_may_go(const struct session *s, const struct rec_attr *a, int errnum)
{
	bool others = false;

	if (a->helper)
		return !a->n_ids;
	if (!a->ev || !a->ev->pattern || a->in_group || a->n_ids)
		return false;
	if (errnum != EACCES && errnum != EPERM && errnum != EINVAL && errnum != EOPNOTSUPP &&
	    errnum != ENOENT)
		return false;
	/* Where none of a pattern's events can be recorded, the reason is another. */
	for (size_t i = 0; i < s->events->n && !others; i++)
		others = &s->attrs[i] != a && s->attrs[i].ev->pattern == a->ev->pattern;
	return others;
}

/* The place of an event's helper; 0: there is none. */
static size_t helper_of(const struct session *s, size_t at)
{
	size_t i = s->n_attrs;

	while (--i > at && !(s->attrs[i].helper && s->attrs[i].ev == s->attrs[at].ev))
		;
	return i > at ? i : 0;
}

int spare_leave_out(struct session *s, size_t at)
{
	struct rec_attr gone = s->attrs[at];
	size_t helper = gone.helper ? 0 : helper_of(s, at);
	size_t after, n = s->kept.n;

	if (helper && spare_leave_out(s, helper))
		return PP_ENOMEM;
	after = s->n_attrs - at - 1;
	memmove(&s->attrs[at], &s->attrs[at + 1], after * sizeof(*s->attrs));
	s->n_attrs--;
	if (!gone.helper) {
		s->n_left_out++;
		buf_addf(&s->left_out, "%s%s", s->left_out.len ? ", " : "", gone.name);
		n = --s->kept.n;
		memmove(&s->kept.v[at], &s->kept.v[at + 1], (n - at) * sizeof(*s->kept.v));
	}
	for (size_t i = 0; i < s->n_attrs; i++) {
		struct rec_attr *a = &s->attrs[i];

		a->leader -= a->leader > at;
		if (i < n)
			a->ev = &s->kept.v[i];
		else if (a->helper && !gone.helper && a->ev > gone.ev)
			a->ev--;
	}
	/* Where there is no tracker, the first event does its work. */
	if (gone.attr.task) {
		session_track(s, &s->attrs[0].attr);
		s->attrs[0].attr.disabled = gone.attr.disabled;
		attr_adapt(s, &s->attrs[0]);
	}
	free(gone.only_cpus);
	free(gone.fds);
	free(gone.ids);
	free(gone.shown);
	free(gone.base);
	free(gone.name);
	return s->left_out.err;
}

void spare_say(const struct session *s)
{
	if (s->left_out.len)
		diag_say(
			s->d, NULL,
			"%zu of %zu events left out, as the kernel does not allow them to be sampled: %s",
			s->n_left_out, s->n_left_out + s->events->n, buf_str(&s->left_out));
}
