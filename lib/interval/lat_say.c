/* What plat reports on stderr beside its results: accounts, and what the recording lacks. */
#include "interval/lat_out.h"

#include "base/err.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of more than one in so many of a kind's starts the end is missing: it is reported as an error. */
#define FEW 50

/* What is wrong with names takes several lines. */
void lat_say_lines(const struct buf *text, struct diag *d)
{
	for (const char *at = buf_str(text); *at; at += strspn(at, "\n")) {
		size_t n = strcspn(at, "\n");

		diag_say(d, NULL, "%.*s", (int)n, at);
		at += n;
	}
}

static const char *const count_names[] = {
#define A(name, text, what) text,
	LAT_ACCOUNT(A)
#undef A
};

/* What became of the starts, of one kind or of several. */
static void say_counts(const char *name, const uint64_t *count, const char *more, struct diag *d)
{
	struct buf b = BUF_INIT;

	for (int c = LAT_INTERVALS; c < LAT_NO_START; c++)
		if (count[c])
			buf_addf(&b, "%s%" PRIu64 " %s", b.len ? " + " : "", count[c],
				 count_names[c]);
	diag_say(d, NULL, "%s: %" PRIu64 " starts%s%s; %" PRIu64 " ends without start%s", name,
		 count[LAT_STARTS], b.len ? " = " : "", buf_str(&b), count[LAT_NO_START], more);
	buf_release(&b);
	if (count[LAT_ESTIMATED])
		diag_say(d, NULL, "%s: of %" PRIu64 " intervals an end is estimated", name,
			 count[LAT_ESTIMATED]);
}

/*
 * The account: of each kind that had events, if asked for; else one line of all of them, if a start
 * has not found its end.
 */
void lat_say_account(const struct lat *l, bool all, struct diag *d)
{
	uint64_t sum[LAT_NCOUNTS] = {0};
	const char *name, *last = "";
	const uint64_t *count;
	uint64_t flushes, requests;
	unsigned kinds = 0;
	char text[32];

	flushes = lat_flushes(l, &requests);
	if (requests > flushes && flushes)
		diag_say(d, NULL,
			 "block-io: %" PRIu64 " flushes were for %" PRIu64
			 " requests: some were merged",
			 flushes, requests);
	if (lat_doubtful(l))
		diag_say(
			d, NULL,
			"%" PRIu64
			" of the open intervals were open when events were lost: some may have ended then",
			lat_doubtful(l));
	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++) {
		if (!lat_kind_on(l, i) || (!count[LAT_STARTS] && !count[LAT_NO_START]))
			continue;
		if (all)
			say_counts(name, count, "", d);
		for (int c = 0; c < LAT_NCOUNTS; c++)
			sum[c] += count[c];
		last = name;
		kinds++;
	}
	if (all ||
	    (sum[LAT_STARTS] == sum[LAT_INTERVALS] + sum[LAT_FILTERED] && !sum[LAT_NO_START]))
		return;
	snprintf(text, sizeof(text), "%u kinds", kinds);
	say_counts(kinds > 1 ? text : last, sum, kinds > 1 ? " (--stats: of each)" : "", d);
}

/* Nothing came out: why. */
int lat_say_nothing(const struct lat *l, uint64_t samples, struct diag *d)
{
	uint64_t sum[LAT_NCOUNTS] = {0};
	const uint64_t *count;
	const char *name;

	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++)
		for (int c = 0; c < LAT_NCOUNTS && lat_kind_on(l, i); c++)
			sum[c] += count[c];
	if (!samples)
		diag_error(d, NULL, -1, "no samples");
	else if (!sum[LAT_STARTS] && !sum[LAT_NO_START])
		diag_error(d, NULL, -1, "none of %" PRIu64 " samples begins or ends an interval",
			   samples);
	else if (!sum[LAT_INTERVALS])
		diag_error(d, NULL, -1, "no interval: of %" PRIu64 " starts none was ended%s",
			   sum[LAT_STARTS], sum[LAT_FILTERED] ? " and passed the filter" : "");
	else
		diag_error(d, NULL, -1, "nothing to show of %" PRIu64 " intervals",
			   sum[LAT_INTERVALS]);
	return PP_EXIT_PARTIAL;
}

static void say_missing(const struct lat *l, unsigned i, const char *name, const uint64_t *count,
			struct diag *d)
{
	const struct lat_bounds *b = lat_bounds(l, i);
	const char *unit = lat_kind_unit(l, i);
	uint64_t given_up = count[LAT_RESTARTED];
	struct buf text = BUF_INIT;

	buf_addf(&text,
		 "%s: switches or wakeups are missing: of %" PRIu64 " starts, %" PRIu64
		 " have an estimated end",
		 name, count[LAT_STARTS], count[LAT_ESTIMATED]);
	if (count[LAT_ESTIMATED]) {
		buf_adds(&text, ", ");
		unit_add(&text, (hist_int)b->sum, unit);
		buf_adds(&text, " in all that are between ");
		unit_add(&text, (hist_int)b->low, unit);
		buf_adds(&text, " and ");
		unit_add(&text, (hist_int)b->high, unit);
		buf_adds(&text, " in truth");
	}
	if (given_up)
		buf_addf(&text, ", and %" PRIu64 " are left out of the sum", given_up);
	diag_error(d, NULL, -1, "%s", buf_str(&text));
	buf_release(&text);
}

bool lat_say_missing(const struct lat *l, struct diag *d)
{
	const uint64_t *count;
	const char *name;
	bool any = false;

	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++) {
		uint64_t missing = lat_missing(l, i);

		if (!lat_kind_on(l, i) || !missing || missing < count[LAT_STARTS] / FEW)
			continue;
		say_missing(l, i, name, count, d);
		any = true;
	}
	return any;
}

bool lat_say_thinned(const struct lat *l, struct diag *d)
{
	const struct buf *names = lat_thinned(l);
	struct buf list = BUF_INIT;

	for (const char *at = buf_str(names); *at; at += strcspn(at, "\n") + 1)
		buf_addf(&list, "%s%.*s", list.len ? ", " : "", (int)strcspn(at, "\n"), at);
	if (list.len)
		diag_error(d, NULL, -1,
			   "not every %s was recorded (-F, -c): starts are paired with ends of "
			   "others; pcap-perf without -F records each, samples of time are -e "
			   "cpu-clock/freq=499/ then",
			   buf_str(&list));
	buf_release(&list);
	return names->len > 0;
}

bool lat_say_wakers(const struct lat *l, struct diag *d)
{
	uint64_t n = lat_unknown_wakers(l);

	if (n)
		diag_say(d, NULL,
			 "for %" PRIu64
			 " wakeups the waker is not known: sched_wakeup was recorded on the CPU of "
			 "the thread that woke up, which was idle; also record sched:sched_waking",
			 n);
	return n != 0;
}
