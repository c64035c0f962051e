/* The headers of samples in perf script text: event, weight and command, and lines of no sample. */
#include "fold/perf_parts.h"
#include "fold/tidy.h"

#include <string.h>

#define NUMBER_MAX 32 /* digits of a pid that are kept */

static void copy_number(char *to, const char *digits, size_t len)
{
	if (len > NUMBER_MAX)
		len = NUMBER_MAX;
	memcpy(to, digits, len);
	to[len] = 0;
}

/* Notes the event of a sample that may be folded. */
static void note_event(struct reader *r, const char *event, size_t n, bool period)
{
	if (period && !r->opts->count)
		r->periods[r->lane] = true;
	/* One on several PMUs of CPU cores has several names. */
	if (n != r->event_len || memcmp(event, r->event, n) != 0 || r->lane != r->event_lane) {
		fold_note(r->fold, r->lane, event, n, "", 0);
		r->event_lane = r->lane;
		r->event_len = n < sizeof(r->event) ? n : 0;
		memcpy(r->event, event, r->event_len);
	}
}

/* The frames of --by: what the header has. */
static int name_by(struct reader *r, const struct fold_header *h)
{
	bool both = h->tid_len && !(h->tid_len == 1 && *h->tid == '0');
	struct fold_by_text t = {.comm = h->comm,
				 .comm_len = h->comm_len,
				 .pid = h->pid,
				 .pid_len = both ? h->pid_len : 0,
				 .tid = both ? h->tid : h->pid,
				 .tid_len = both ? h->tid_len : h->pid_len,
				 .cpu = h->cpu,
				 .cpu_len = h->cpu_len,
				 .event = h->event,
				 .event_len = h->event_len};

	return fold_by_text(r->fold, &t, r->by);
}

/* The lane of the event's samples, or FOLD_LEAVE. If none was named, tracepoints are one. */
static uint32_t lane_of(struct reader *r, const struct fold_header *h, bool tracepoint)
{
	bool asked = r->opts->event && *r->opts->event;

	if (!h->event_len && !asked)
		return 0;
	if (tracepoint && !asked)
		return fold_event(r->fold, "tracepoints", 11);
	return fold_event(r->fold, h->event, h->event_len);
}

/* A line that is no sample: mappings, losses ... */
static void other_record(struct reader *r, const struct fold_header *h)
{
	static const char lost[] = "PERF_RECORD_LOST", word[] = " lost ";
	const char *p = memmem(h->rest, h->rest_len, lost, sizeof(lost) - 1), *end;
	uint64_t n;

	r->filtered = true;
	end = h->rest + h->rest_len;
	p = p ? memmem(p, (size_t)(end - p), word, sizeof(word) - 1) : NULL;
	if (!p)
		return;
	p += sizeof(word) - 1;
	n = fold_number(p, fold_span(p, 0, (size_t)(end - p), FOLD_DIGIT));
	if (__builtin_add_overflow(r->lost, n, &r->lost))
		r->lost = UINT64_MAX;
}

/* Keeps the end of the header, until it is known whether a call chain follows. */
static int keep_leaf(struct reader *r, const struct fold_header *h, bool tracepoint)
{
	size_t n;
	const char *p = fold_frame_inline(h->rest, h->rest_len, tracepoint, &n);

	buf_reset(&r->leaf);
	if (!p)
		return 0;
	buf_addc(&r->leaf, '\t');
	buf_add(&r->leaf, p, n);
	return r->leaf.err;
}

int fold_perf_header(struct reader *r, const struct fold_header *h)
{
	char pid[NUMBER_MAX + 1] = "?", tid[NUMBER_MAX + 1] = "?";
	bool tracepoint = fold_is_tracepoint(h->event, h->event_len);
	int rc;

	if (h->record) {
		other_record(r, h);
		return 0;
	}
	if (!r->any)
		r->without = (h->pid_len ? 0 : FOLD_NO_IDS) | (h->timed ? 0 : FOLD_NO_TIME);
	r->any = true;
	r->account->samples++;
	fold_lack_header(&r->lack, h, tracepoint, r->opts);
	r->lane = lane_of(r, h, tracepoint);
	if (r->lane == FOLD_LEAVE) {
		r->account->filtered++;
		r->filtered = true;
		return 0;
	}
	if (h->event_len)
		note_event(r, h->event, h->event_len, h->has_period && !tracepoint);
	r->told = h->has_period && !tracepoint;
	r->period = tracepoint ? 1 : r->told ? h->period : 0;
	r->weight = r->opts->count || tracepoint ? 1 : h->period;
	r->java = fold_is_java(h->comm, h->comm_len);
	if (h->tid_len && !(h->tid_len == 1 && *h->tid == '0')) {
		copy_number(pid, h->pid, h->pid_len);
		copy_number(tid, h->tid, h->tid_len);
	} else if (h->pid_len) {
		copy_number(tid, h->pid, h->pid_len);
	}
	rc = keep_leaf(r, h, tracepoint);
	if (!rc && r->opts->nby)
		rc = name_by(r, h);
	if (rc)
		return rc;
	return h->comm_len ? fold_comm(r->fold, h->comm, h->comm_len, pid, tid, &r->comm)
			   : fold_comm(r->fold, "[unknown]", 9, pid, tid, &r->comm);
}
