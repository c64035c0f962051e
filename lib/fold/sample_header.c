/*
 * The header lines of samples in perf script text: where the command ends, and what follows it.
 *
 *	comm  pid/tid [cpu] MISC seconds.fraction:  period  event:  rest
 *
 * Each part may be missing. The command may hold whatever the others look like, and is at the
 * front: all ends that it can have are tried, and that one taken after which most fits.
 */
#include "fold/sample_header.h"

#include "fold/frame.h"

#include <string.h>

static bool ends_word(const char *p, size_t i, size_t n)
{
	return i == n || fold_is(p[i], FOLD_SPACE);
}

static bool equals(const char *s, size_t n, const char *want)
{
	return n == strlen(want) && !memcmp(s, want, n);
}

/* A number. A thread that has ended already has the command ":-1" and the numbers -1: `gone`. */
static size_t id(const char *p, size_t i, size_t n, bool gone)
{
	if (gone && n - i > 2 && p[i] == '-' && p[i + 1] == '1' && !fold_is(p[i + 2], FOLD_DIGIT))
		return i + 2;
	return fold_span(p, i, n, FOLD_DIGIT);
}

/* Numbers of process and thread, or one number, and a blank. */
static size_t take_ids(const char *p, size_t i, size_t n, bool gone, struct fold_header *h)
{
	size_t slashes = id(p, i, n, gone), second, end;

	for (second = slashes; second < n && p[second] == '/';)
		second++;
	end = id(p, second, n, gone && second > slashes);
	if (slashes == i || end >= n || !fold_is(p[end], FOLD_SPACE))
		return i;
	h->pid = p + i;
	h->pid_len = slashes - i;
	h->tid = p + second;
	h->tid_len = end - second;
	return fold_span(p, end, n, FOLD_SPACE);
}

/* "[003]" */
static size_t take_cpu(const char *p, size_t i, size_t n, struct fold_header *h)
{
	size_t end = i < n && p[i] == '[' ? fold_span(p, i + 1, n, FOLD_DIGIT) : i;

	if (end < i + 2 || end == n || p[end] != ']' || !ends_word(p, end + 1, n))
		return i;
	h->cpu = p + i + 1;
	h->cpu_len = end - i - 1;
	return fold_span(p, end + 1, n, FOLD_SPACE);
}

/* Digits and marks between them, as `form` has them ('0' for a digit), then the last digits. */
static size_t take_form(const char *p, size_t i, size_t n, const char *form)
{
	for (; *form; form++, i++)
		if (i == n || (*form == '0' ? !fold_is(p[i], FOLD_DIGIT) : p[i] != *form))
			return 0;
	return fold_span(p, i, n, FOLD_DIGIT);
}

/* "2026-11-26 23:17:38.123456", "7261.463941:": the next part may be right after the second. */
static size_t take_time(const char *p, size_t i, size_t n, struct fold_header *h)
{
	size_t end = take_form(p, i, n, "0000-00-00 00:00:00."), whole;

	if (end && ends_word(p, end, n)) {
		h->timed = true;
		i = fold_span(p, end, n, FOLD_SPACE);
	}
	whole = fold_span(p, i, n, FOLD_DIGIT);
	if (whole == i || whole == n || p[whole] != '.')
		return i;
	end = fold_span(p, whole + 1, n, FOLD_DIGIT);
	if (end == whole + 1 || end == n || p[end] != ':')
		return i;
	h->timed = true;
	return fold_span(p, end + 1, n, FOLD_SPACE);
}

/* The mode of the CPU, and what else -F misc prints: a few capitals. */
static size_t take_misc(const char *p, size_t i, size_t n, const struct fold_header *h)
{
	size_t end = i;

	while (end < n && ((p[end] >= 'A' && p[end] <= 'Z') || p[end] == 'g'))
		end++;
	if (end == i || end > i + 8 || !ends_word(p, end, n) || !(h->pid_len || h->cpu_len))
		return i;
	return fold_span(p, end, n, FOLD_SPACE);
}

static bool is_record(const char *p, size_t n)
{
	static const char start[] = "PERF_RECORD_";

	return n >= sizeof(start) && !memcmp(p, start, sizeof(start) - 1);
}

static bool is_time(const char *p, size_t n)
{
	struct fold_header h = FOLD_HEADER_INIT;

	return take_time(p, 0, n, &h) == n && h.timed;
}

/* The name of an event: a word that a colon ends. */
static size_t take_event(const char *p, size_t i, size_t n, struct fold_header *h)
{
	size_t end = i;

	while (end < n && !fold_is(p[end], FOLD_SPACE))
		end++;
	/* "7261.463941:" is the time after what only looked like the parts before it. */
	if (end < i + 2 || p[end - 1] != ':' || is_record(p + i, n - i) || is_time(p + i, end - i))
		return i;
	h->event = p + i;
	h->event_len = end - 1 - i;
	return end;
}

/* A number before the event; without one it may be an address, unless another follows it. */
static size_t take_period(const char *p, size_t i, size_t n, struct fold_header *h)
{
	size_t end = fold_span(p, i, n, FOLD_DIGIT), at = fold_span(p, end, n, FOLD_SPACE), after;

	if (end == i || !ends_word(p, end, n))
		return i;
	after = take_event(p, at, n, h);
	if (after == at && at < n && fold_span(p, at, n, FOLD_HEX) < end + FOLD_IP_COLUMNS)
		return i;
	h->has_period = true;
	h->period = fold_number(p + i, end - i);
	return after;
}

/*
 * -F period: wider than the numbers of threads are, and with nothing between it and the event. What
 * is wider still has blanks of the command before it.
 */
static void period_for_id(const char *p, size_t start, size_t e, struct fold_header *h)
{
	size_t column = (size_t)(h->pid - p) - (e > start ? e + 1 : 0);

	if (h->tid_len || h->cpu_len || h->timed || h->has_period || h->pid_len > 10 ||
	    column + h->pid_len < 10)
		return;
	h->has_period = true;
	h->period = fold_number(h->pid, h->pid_len);
	h->pid_len = 0;
}

/*
 * What comes after a command that ends at e: 0, it is no header; else the more, the more of its
 * parts are there.
 */
static int take_parts(const char *p, size_t start, size_t e, size_t n, unsigned without,
		      struct fold_header *h)
{
	size_t i = fold_span(p, e, n, FOLD_SPACE), at;

	*h = (struct fold_header)FOLD_HEADER_INIT;
	if (!(without & FOLD_NO_IDS))
		i = take_ids(p, i, n, equals(p + start, e - start, ":-1"), h);
	i = take_cpu(p, i, n, h);
	i = take_misc(p, i, n, h);
	if (!(without & FOLD_NO_TIME))
		i = take_time(p, i, n, h);
	at = take_period(p, i, n, h);
	i = at == i ? take_event(p, i, n, h) : at;
	if (h->pid_len)
		period_for_id(p, start, e, h);
	h->rest = p + i;
	h->rest_len = n - i;
	i = fold_span(p, i, n, FOLD_SPACE);
	h->record = is_record(p + i, n - i);
	if (!h->pid_len && !h->cpu_len && !h->timed && !h->record &&
	    !(h->event_len && (i == n || fold_is_tracepoint(h->event, h->event_len))) &&
	    !fold_frame_inline(h->rest, h->rest_len, true, &at))
		return 0;
	return (h->event_len || h->record ? 32 : 0) + (h->timed ? 16 : 0) + (h->cpu_len ? 8 : 0) +
	       (h->pid_len ? 4 : 0) + (h->has_period ? 2 : 0) + 1;
}

/*
 * The blanks before a number of process or thread that follows the command: perf prints it in 5
 * columns, later ones in 7. Of two blanks it cannot be told; they are taken for those of 7.
 */
static size_t id_padding(const struct fold_header *h, size_t blanks)
{
	size_t width = blanks - 1 + h->pid_len;

	if (h->pid_len > 7 || width < 6 || width == 7 || (width == 6 && h->pid_len == 6))
		return blanks - 1;
	return (width > 7 ? 7 : 5) - h->pid_len;
}

/* The same before n bytes that are printed in so many columns. */
static size_t padding(size_t columns, size_t n)
{
	return n < columns ? columns - n : 0;
}

/*
 * The blanks, beside the one that is always there, between a command and what follows it at i, by
 * the columns that perf prints it in; SIZE_MAX: they are not known. An event has those of the
 * longest name of the recording.
 */
static size_t blanks_before(const char *p, size_t i, size_t n, size_t blanks,
			    const struct fold_header *h)
{
	size_t end = fold_span(p, i, n, FOLD_DIGIT), all;

	if (h->pid_len)
		return id_padding(h, blanks);
	if (h->cpu_len)
		return 0;
	if (h->timed && end < n && p[end] == '.') {
		all = fold_span(p, end + 1, n, FOLD_DIGIT);
		return padding(all - end > 9 ? 15 : 12, all - i);
	}
	if (h->has_period && !h->timed)
		return padding(10, end - i);
	return SIZE_MAX;
}

/*
 * The command of the columns up to e. Before samples without call chains it is at the end of 16
 * columns, and what is left of it is no part of it. Else a blank follows it, and what comes then is
 * in columns of its own: further blanks are the command's last bytes.
 */
static void set_comm(const char *p, size_t e, size_t n, struct fold_header *h)
{
	size_t next = fold_span(p, e, n, FOLD_SPACE), blanks = next - e, start = 0, own;

	if (e <= FOLD_COMM_MAX && next > FOLD_COMM_MAX)
		while (start < e && p[start] == ' ')
			start++;
	if (start) {
		e = FOLD_COMM_MAX;
	} else if (blanks) {
		own = blanks_before(p, next, n, blanks, h);
		if (own < blanks - 1 && e + blanks - 1 - own < FOLD_COMM_MAX)
			e += blanks - 1 - own;
		if (own == SIZE_MAX && h->event_len)
			h->event_columns = blanks - 1 + h->event_len;
	}
	h->comm = p + start;
	h->comm_len = e - start;
}

/*
 * Of equally good ends the last one within the length of a command is right: what is there of the
 * line already would not fit into one. Further ends are looked at if these have no more than
 * numbers after them.
 */
bool fold_header_parse(const char *p, size_t n, unsigned without, struct fold_header *h)
{
	size_t start = fold_span(p, 0, n, FOLD_SPACE), best_end = 0;
	struct fold_header at;
	int best = 0, score;

	if (start == n)
		return false;
	/* Without a command. */
	best = take_parts(p, start, start, n, without, h);
	for (size_t e = start + 1; e <= n && e - start <= FOLD_COMM_COUNT; e++) {
		bool usual = e - start < FOLD_COMM_MAX;

		if (e < n && !fold_is(p[e], FOLD_SPACE))
			continue;
		if (!usual && best >= 8)
			break;
		score = e < n ? take_parts(p, start, e, n, without, &at) : 0;
		if (score && (usual ? score >= best : score > best)) {
			best = score;
			best_end = e;
			*h = at;
		}
		e = fold_span(p, e, n, FOLD_SPACE) - (e < n);
	}
	if (best_end)
		set_comm(p, best_end, n, h);
	return best > 0;
}

bool fold_is_tracepoint(const char *event, size_t n)
{
	static const char modifiers[] = "ukhGHpPSDIWebR";
	const char *colon = memrchr(event, ':', n);

	if (!colon || (n > 4 && !memcmp(event, "mem:", 4)))
		return false;
	for (const char *p = colon + 1; p < event + n; p++)
		if (!memchr(modifiers, *p, sizeof(modifiers) - 1))
			return true;
	return false;
}

/*
 * A command may begin with '#', as "#0:cpu#14" does. Its header has the time or the event of the
 * sample; in what perf writes after "# " a number and a colon do not make it one.
 */
bool fold_is_comment(const char *p, size_t n)
{
	struct fold_header h;

	if (!fold_header_parse(p, n, 0, &h) || !h.comm_len || !h.pid_len)
		return true;
	if (h.timed)
		return false;
	return fold_is(p[1], FOLD_SPACE) || !h.event_len ||
	       fold_span(h.rest, 0, h.rest_len, FOLD_SPACE) < h.rest_len;
}
