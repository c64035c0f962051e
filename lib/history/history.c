/* Reads recordings of the scheduler, gives each event to the form that was asked for. */
#include "base/each_input.h"
#include "base/out_end.h"
#include "history/parts.h"
#include "stream/read_input.h"

#include <inttypes.h>
#include <stdlib.h>

static int end_of_stream(struct history *h)
{
	if (h->o.form == HISTORY_TIMES && h->switches && h->o.summary != HISTORY_LINES)
		history_summarize(h);
	h->all_switches += h->switches;
	h->switches = 0;
	return history_write(h);
}

static int see(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct history *h = ctx;
	int rc;

	h->r = r;
	h->rec = rec;
	switch (rec->type) {
	case PS_HEADER:
		rc = end_of_stream(h);
		history_unbind(h);
		history_forget(h);
		return rc;
	case PS_EVENT: return history_bind(h, rec);
	case PS_COMM:
	case PS_FORK:
	case PS_EXIT:
	case PS_META: return history_context(h, rec);
	case PS_LOST: return history_lost(h, &rec->lost);
	case PS_SAMPLE:
		h->samples++;
		if (!history_decode(h))
			return 0;
		return h->o.form == HISTORY_MAP ? history_map(h) : history_times(h);
	default: return 0;
	}
}

static int read_one(void *ctx, const char *name)
{
	struct history *h = ctx;
	const struct input_reader in = {FIELD_KEEP, see, h, h->d, &h->lost, out_hand_on, &h->out};
	int status = input_read_file(&in, name);

	if (status != PP_EXIT_FAIL && end_of_stream(h))
		status = PP_EXIT_FAIL;
	history_unbind(h);
	history_forget(h);
	return status;
}

/* Of more than one in so many switches another is missing: the times are not those of the whole. */
#define FEW 50

static bool lacks_switches(const struct history *h)
{
	return h->missing > h->all_switches / FEW;
}

static void explain(const struct history *h)
{
	if (h->missing)
		diag_say(h->d, NULL,
			 "%" PRIu64
			 " switches are not in the recording: the next run time on their "
			 "CPU is not known, and is 0.000",
			 h->missing);
	if (lacks_switches(h))
		diag_error(h->d, NULL, -1,
			   "so many of %" PRIu64 " switches are missing that the run times are "
			   "those of a part",
			   h->missing + h->all_switches);
	if (h->unknown_wakers)
		diag_say(h->d, NULL,
			 "for %" PRIu64
			 " wakeups the waker is not known: sched_wakeup was recorded on the CPU of "
			 "the thread that woke up, which was idle; also record sched:sched_waking",
			 h->unknown_wakers);
	if (h->lost)
		diag_say(h->d, NULL, "the recording lost %" PRIu64 " events", h->lost);
	if (h->nameless)
		diag_say(h->d, NULL, "%" PRIu64 " stacks have no names: use psym before plat",
			 h->nameless);
}

static void release(struct history *h)
{
	history_unbind(h);
	buf_release(&h->b);
	intern_release(&h->texts);
	intern_release(&h->buffers);
	map64_release(&h->by_tid);
	free(h->events);
	free(h->threads);
	free(h->cpus);
	free(h->columns);
	free(h->by_code);
}

int history_run(const struct history_opts *o, char **names, int n, int fd, struct diag *d)
{
	struct history h = {.o = *o, .d = d, .width = HISTORY_WIDTH};
	int worst, rc = out_init(&h.out, fd);

	if (rc)
		return PP_EXIT_FAIL;
	worst = each_input(names, n, read_one, &h);
	if (worst != PP_EXIT_FAIL && (!h.all_switches || !h.shown)) {
		if (!h.all_switches)
			diag_error(d, NULL, -1,
				   h.samples ? "no switches: record sched:sched_switch"
					     : "no samples");
		else
			diag_error(d, NULL, -1, "nothing to show of %" PRIu64 " switches",
				   h.all_switches);
		worst = PP_EXIT_PARTIAL;
	}
	explain(&h);
	rc = out_end(&h.out, 0, d);
	release(&h);
	if (rc)
		return PP_EXIT_FAIL;
	return !worst && (lacks_switches(&h) || (o->strict && (h.lost || h.unknown_wakers)))
		       ? PP_EXIT_PARTIAL
		       : worst;
}
