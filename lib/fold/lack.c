/* What perf script text does not tell, by the fields of its -F. */
#include "fold/lack.h"

#include <string.h>

static bool has_key(const struct fold_opts *o, const char *key)
{
	for (uint32_t i = 0; i < o->nby; i++)
		if (!strcmp(o->by[i], key))
			return true;
	return false;
}

void fold_lack_header(struct fold_lack *l, const struct fold_header *h, bool tracepoint,
		      const struct fold_opts *o)
{
	bool pid = o->pid || o->tid, tid = o->tid, cpu = false;

	if (o->nby) {
		pid |= has_key(o, "pid");
		tid |= has_key(o, "tid") || has_key(o, "thread");
		cpu = has_key(o, "cpu");
	}
	l->comm |= !h->comm_len;
	l->event |= !h->event_len;
	l->period |= !h->has_period && !tracepoint && !o->count;
	/* A single number is that of the thread. */
	l->pid |= pid && !h->tid_len;
	l->tid |= tid && !h->pid_len;
	l->cpu |= cpu && !h->cpu_len;
	if (h->event_columns && l->columns && l->columns != h->event_columns)
		l->columns_differ = true;
	if (h->event_columns)
		l->columns = h->event_columns;
}

void fold_lack_frame(struct fold_lack *l, const struct fold_frame_line *f,
		     const struct fold_opts *o)
{
	bool unknown = !f->func_len || (f->func_len == 9 && !memcmp(f->func, "[unknown]", 9));

	l->sym |= !f->func_len;
	l->dso |= !f->has_dso && (unknown || o->kernel || o->jit);
}

bool fold_lack_tell(const struct fold_lack *l, struct diag *d, const char *name)
{
	const struct {
		const char *field;
		bool lacks;
	} all[] = {{"comm", l->comm}, {"pid", l->pid},	   {"tid", l->tid},
		   {"cpu", l->cpu},   {"event", l->event}, {"period", l->period},
		   {"ip", l->ip},     {"sym", l->sym},	   {"dso", l->dso}};
	struct buf names = BUF_INIT, fields = BUF_INIT;
	bool any;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].lacks)
			continue;
		buf_addf(&names, "%s%s", names.len ? ", " : "", all[i].field);
		buf_addf(&fields, "%s+%s", fields.len ? "," : "", all[i].field);
	}
	any = names.len || names.err;
	if (l->columns_differ && !any) {
		diag_warn(
			d, name, -1,
			"commands end in blanks, which this text cannot distinguish from those before "
			"the event (perf script -F +tid)");
		return true;
	}
	if (any)
		diag_warn(
			d, name, -1,
			"this text does not have fields of the recording: %s (perf script -F %s)%s",
			buf_str(&names), buf_str(&fields),
			l->period ? "; samples without a period count 1, as with --count" : "");
	buf_release(&names);
	buf_release(&fields);
	return any;
}
