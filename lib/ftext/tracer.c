/*
 * What tracers have beside events: the head of a latency tracer's text, which tells the latency,
 * and the lines of timerlat, osnoise and hwlat, whose fields have no names.
 */
#include "ftext/parts.h"

#include "base/err.h"

#include <stdlib.h>

/* The next word. */
static struct ps_str word(struct ps_str *rest)
{
	struct ps_str w = {0};

	*rest = ftext_trim(rest->p, rest->len);
	w.p = rest->p;
	while (w.len < rest->len && w.p[w.len] != ' ')
		w.len++;
	rest->p += w.len;
	rest->len -= w.len;
	return w;
}

/* ---- lines without names ---- */

static bool begin(struct ftext_info *info, const char *name)
{
	info->system = ps_str("ftrace", 6);
	info->name = ps_str(name, strlen(name));
	info->n = 0;
	return true;
}

/* "#12    context    irq timer_latency     77165 ns" */
static bool timerlat(struct ps_str seq, struct ps_str rest, struct ftext_info *info)
{
	static const char *const contexts[] = {"irq", "thread", "user"};
	struct ps_str context = word(&rest), key = word(&rest), ns = word(&rest);
	size_t i;

	for (i = 0; i < 3 && !ftext_is(&context, contexts[i]); i++)
		;
	if (i == 3 || !ftext_is(&key, "timer_latency"))
		return false;
	begin(info, "timerlat");
	ftext_add_text(info, "seqnum", seq);
	ftext_add_number(info, "context", i);
	ftext_add_text(info, "timer_latency", ns);
	return true;
}

/* "#1     inner/outer(us):  479/625   ts:1795779124.657130130 count:67" */
static bool hwlat(struct ps_str seq, struct ps_str rest, struct ftext_info *info)
{
	struct ps_str both = word(&rest), outer = both, count;

	while (outer.len && *outer.p != '/')
		outer.p++, outer.len--;
	if (!outer.len)
		return false;
	both.len -= outer.len;
	begin(info, "hwlat");
	ftext_add_text(info, "seqnum", seq);
	ftext_add_text(info, "duration", both);
	ftext_add_text(info, "outer_duration", ps_str(outer.p + 1, outer.len - 1));
	while ((count = word(&rest)).len)
		if (ftext_starts(count.p, count.len, "count:"))
			ftext_add_text(info, "count", ps_str(count.p + 6, count.len - 6));
	return true;
}

/* "1000000      71689  92.83110    3524    715      0    267     52     25" */
static bool osnoise(struct ps_str rest, struct ftext_info *info)
{
	static const char *const keys[] = {"runtime",	 "noise",	  "available",
					   "max_sample", "hw_count",	  "nmi_count",
					   "irq_count",	 "softirq_count", "thread_count"};
	struct ps_str w;
	uint64_t v;
	bool hex;

	begin(info, "osnoise");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		w = word(&rest);
		if (i != 2 && !ftext_number(&w, false, &v, &hex))
			return false;
		ftext_add_text(info, keys[i], w);
	}
	return !rest.len;
}

bool ftext_tracer(const struct ftext *t, struct ps_str text, struct ftext_info *info)
{
	struct ps_str rest = text, first, kind;

	if (!strcmp(t->tracer_name, "osnoise"))
		return osnoise(rest, info);
	if (!text.len || *text.p != '#')
		return false;
	first = word(&rest);
	first = ps_str(first.p + 1, first.len - 1);
	kind = word(&rest);
	if (ftext_is(&kind, "context"))
		return timerlat(first, rest, info);
	return ftext_is(&kind, "inner/outer(us):") && hwlat(first, rest, info);
}

/* ---- the longest latency ---- */

static void keep(char *to, size_t size, struct ps_str text)
{
	if (text.len >= size)
		text.len = (uint32_t)size - 1;
	memcpy(to, text.p, text.len);
	to[text.len] = 0;
}

/* "# tracer: wakeup", "# latency: 48769 us, ...", "#    | task: ktimers/0-15 (uid:0 ...", ... */
void ftext_latency_head(struct ftext *t, const char *line, size_t len)
{
	static const char tracer[] = "# tracer: ", latency[] = "# latency: ", task[] = "task: ",
			  from[] = "=> started at: ", to[] = "=> ended at: ";
	struct ftext_latency *l = &t->latency;
	struct ps_str rest = ps_str(line, len), w;
	const char *at;
	bool hex;

#define AFTER(text) \
	((at = memmem(line, len, text, sizeof(text) - 1)) \
		 ? (rest = ps_str(at + sizeof(text) - 1, \
				  (size_t)(line + len - at) - (sizeof(text) - 1)), \
		    true) \
		 : false)
	if (AFTER(tracer)) {
		*l = (struct ftext_latency){0};
		keep(t->tracer_name, sizeof(t->tracer_name), word(&rest));
	} else if (AFTER(latency)) {
		w = word(&rest);
		l->any = ftext_number(&w, false, &l->us, &hex) && l->us < UINT64_MAX / 1000;
		at = memmem(line, len, "CPU#", 4);
		l->cpu = at ? (uint32_t)strtoul(at + 4, NULL, 10) : 0;
	} else if (l->any && AFTER(task)) {
		at = memmem(rest.p, rest.len, " (uid:", 6);
		rest.len = at ? (uint32_t)(at - rest.p) : rest.len;
		keep(l->task, sizeof(l->task), rest);
	} else if (l->any && AFTER(from)) {
		keep(l->from, sizeof(l->from), word(&rest));
	} else if (l->any && AFTER(to)) {
		keep(l->to, sizeof(l->to), word(&rest));
	}
#undef AFTER
}

/* An event of its own, which no line of the text is. */
int ftext_latency(struct ftext *t)
{
	struct ftext_latency *l = &t->latency;
	/* Times are those since it began. */
	struct ftext_head h = {.cpu = l->cpu,
			       .pid = PS_NONE,
			       .tgid = PS_NONE,
			       .timed = true,
			       .time = l->us * 1000};
	struct ftext_info *info = &t->info;
	const char *dash = strrchr(l->task, '-');
	int rc;

	if (!l->any)
		return 0;
	l->any = false;
	rc = ftext_release(t);
	if (rc)
		return rc;
	begin(info, "latency");
	info->prefix = "";
	info->is_hex = info->stack = false;
	info->func = info->parent = (struct ps_str){0};
	if (dash) {
		h.comm = ps_str(l->task, (size_t)(dash - l->task));
		h.pid = (uint32_t)strtoul(dash + 1, NULL, 10);
	}
	ftext_add_text(info, "tracer", ps_str(t->tracer_name, strlen(t->tracer_name)));
	ftext_add_text(info, "task", h.comm);
	ftext_add_number(info, "latency", l->us * 1000);
	ftext_add_text(info, "started_at", ps_str(l->from, strlen(l->from)));
	ftext_add_text(info, "ended_at", ps_str(l->to, strlen(l->to)));
	info->silent = true;
	rc = ftext_hold(t, &h, info, "", 0);
	info->silent = false;
	return rc ? rc : ftext_release(t);
}
