/*
 * What a line of ftrace text begins with.
 *
 *	  bash-74      [001] d.h2.   267.745761: INFO	 trace, trace_pipe
 *	  bash-74      (     74) [001] d.h2.   268.286927: INFO	 with the option record-tgid
 *	b1:    wl-492   [001]   312.981959: INFO	 trace-cmd report, of further buffers
 *	rcu_pree-18        1d..2. 52074us#: INFO	 latency-format
 *	      wl-192     1d.h2.    10.782401: INFO	 trace-cmd report -l
 *	 264.723979 |   0)    wl-1172     | ! 212.578 us  |  FUNCTION
 *	 0)   1.202 us    |  FUNCTION			 function_graph
 *
 * The name of a task may hold blanks and dashes, and ends before the last dash before the CPU.
 * Kernels print 16 columns of it; other programs know longer names. What stands before those
 * columns is a buffer, if a colon and a blank end it.
 */
#include "ftext/parts.h"

#define COMM_COLUMNS	     16
#define COMM_COLUMNS_LATENCY 8
#define HEAD_MAX	     512 /* bytes that are searched for a head */

struct scan {
	const char *p, *end;
};

static void blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
}

static bool decimal(struct scan *s, uint64_t *v)
{
	const char *start = s->p;

	for (*v = 0; s->p < s->end && ftext_digit(*s->p) && s->p - start < 19; s->p++)
		*v = *v * 10 + (uint64_t)(*s->p - '0');
	return s->p > start && (s->p == s->end || !ftext_digit(*s->p));
}

static bool number32(struct scan *s, uint32_t *v)
{
	uint64_t n;

	if (!decimal(s, &n) || n >= UINT32_MAX)
		return false;
	*v = (uint32_t)n;
	return true;
}

/* "267.745761": seconds to ns; "267745761": ticks. */
static bool time_of(struct scan *s, struct ftext_head *h)
{
	static const uint64_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000,
					 10000,	     1000,	100,	  10,	   1};
	const char *dot;
	uint64_t fraction;

	if (!decimal(s, &h->time))
		return false;
	h->timed = true;
	h->ticks = s->p == s->end || *s->p != '.';
	if (h->ticks)
		return true;
	dot = s->p++;
	if (!decimal(s, &fraction) || s->p - dot > 10 || h->time > 10000000000u)
		return false;
	h->time = h->time * 1000000000 + fraction * scale[s->p - dot - 1];
	return true;
}

/* The name of a task that ends at `end`, with the buffer that trace-cmd puts before its columns. */
static void names(const char *line, const char *end, int columns, struct ftext_head *h)
{
	const char *comm = end - line > columns ? end - columns : line;

	h->buffer = ftext_trim(line, (size_t)(comm - line));
	if (h->buffer.len && comm[-1] == ' ' && h->buffer.p[h->buffer.len - 1] == ':')
		h->buffer.len--;
	else
		h->buffer.len = 0;
	comm = h->buffer.len ? comm : line;
	h->comm = ftext_trim(comm, (size_t)(end - comm));
}

/* "COMM-PID" up to `end`. */
static bool task(const char *line, const char *end, struct ftext_head *h)
{
	const char *digits = end;
	struct scan s;

	while (digits > line && ftext_digit(digits[-1]))
		digits--;
	if (digits == end || digits == line || digits[-1] != '-')
		return false;
	s = (struct scan){digits, end};
	if (!number32(&s, &h->pid))
		return false;
	names(line, digits - 1, COMM_COLUMNS, h);
	return true;
}

/* What is before the CPU: the task, and its process in parentheses. */
static bool who(const char *line, const char *end, struct ftext_head *h)
{
	struct ps_str text = ftext_trim(line, (size_t)(end - line));
	const char *open;

	h->tgid = PS_NONE;
	if (text.len && text.p[text.len - 1] == ')') {
		struct ps_str inner;
		struct scan s;

		open = memrchr(text.p, '(', text.len);
		if (!open)
			return false;
		inner = ftext_trim(open + 1, (size_t)(text.p + text.len - open) - 2);
		s = (struct scan){inner.p, inner.p + inner.len};
		if (!number32(&s, &h->tgid))
			h->tgid = PS_NONE;
		text = ftext_trim(line, (size_t)(open - line));
	}
	end = text.p + text.len;
	return text.len && task(line, end, h);
}

/* After the CPU: flags, if there are any, and the time. */
static bool when(struct scan *s, struct ftext_head *h)
{
	const char *start;

	blanks(s);
	start = s->p;
	if (time_of(s, h) && s->p < s->end && *s->p == ':')
		return true;
	s->p = start;
	while (s->p < s->end && *s->p != ' ')
		s->p++;
	blanks(s);
	h->flags = true;
	return s->p - start <= 32 && time_of(s, h) && s->p < s->end && *s->p == ':';
}

static bool plain(const char *line, size_t len, struct ftext_head *h)
{
	const char *end = line + (len < HEAD_MAX ? len : HEAD_MAX), *open = line;

	while ((open = memchr(open, '[', (size_t)(end - open)))) {
		struct scan s = {open + 1, end};

		open++;
		if (!number32(&s, &h->cpu) || s.p == end || *s.p != ']' || !who(line, open - 1, h))
			continue;
		s.p++;
		if (!when(&s, h))
			continue;
		h->info = ftext_trim(s.p + 1, (size_t)(line + len - s.p) - 1);
		return true;
	}
	return false;
}

/* "rcu_pree-18        1d..2. 52074us#: INFO". Such a time is that since the beginning. */
static bool latency(const char *line, size_t len, struct ftext_head *h)
{
	const char *end = line + (len < HEAD_MAX ? len : HEAD_MAX), *p = line;
	struct scan s = {line, end};
	const char *start;
	uint64_t us;

	while ((p = memchr(p, '-', (size_t)(end - p)))) {
		s.p = ++p;
		if (number32(&s, &h->pid) && s.p < end && *s.p == ' ')
			break;
	}
	if (!p)
		return false;
	names(line, p - 1, COMM_COLUMNS_LATENCY, h);
	if (h->comm.len > COMM_COLUMNS)
		return false;
	h->tgid = PS_NONE;
	blanks(&s);
	if (!number32(&s, &h->cpu))
		return false;
	while (s.p < end && *s.p != ' ')
		s.p++;
	blanks(&s);
	start = s.p;
	if (decimal(&s, &us) && end - s.p > 3 && !memcmp(s.p, "us", 2)) {
		s.p += strchr(" !+#*@$", s.p[2]) ? 3 : 2;
		h->time = us * 1000;
		h->timed = us <= UINT32_MAX * 1000ull;
	} else {
		s.p = start;
		time_of(&s, h);
	}
	if (!h->timed || s.p == end || *s.p != ':')
		return false;
	h->info = ftext_trim(s.p + 1, (size_t)(line + len - s.p) - 1);
	return true;
}

/* A column of the function graph tracer that is none of those before the duration. */
static bool is_duration(const struct ps_str *c)
{
	return !c->len || (c->len > 3 && !memcmp(c->p + c->len - 3, " us", 3)) ||
	       (c->len > 3 && strchr("!+#*@$", *c->p)) ||
	       (c->len > 6 && !memcmp(c->p, "======", 6));
}

static bool graph(const char *line, size_t len, struct ftext_head *h)
{
	struct scan s = {line, line + len};
	const char *start, *bar;

	blanks(&s);
	start = s.p;
	/* The time has a column of its own; a relative one has a unit. */
	if (time_of(&s, h)) {
		bool us = s.end - s.p > 3 && !memcmp(s.p, " us", 3);

		if (us && h->ticks) {
			h->time *= 1000;
			h->ticks = false;
			s.p += 3;
		}
		blanks(&s);
		if (s.p < s.end && *s.p == '|') {
			s.p++;
			blanks(&s);
		} else {
			s.p = start;
			h->timed = h->ticks = false;
		}
	}
	if (!number32(&s, &h->cpu) || s.p == s.end || *s.p != ')')
		return false;
	s.p++;
	h->graph = true;
	h->pid = h->tgid = PS_NONE;
	while ((bar = memchr(s.p, '|', (size_t)(s.end - s.p)))) {
		struct ps_str column = ftext_trim(s.p, (size_t)(bar - s.p));

		if (is_duration(&column)) {
			h->info = ps_str(s.p, (size_t)(s.end - s.p));
			return true;
		}
		if (h->pid == PS_NONE)
			task(column.p, column.p + column.len, h);
		s.p = bar + 1;
	}
	return false;
}

bool ftext_head(const char *line, size_t len, struct ftext_head *h)
{
	*h = (struct ftext_head){.cpu = PS_NONE};
	if (plain(line, len, h))
		return true;
	*h = (struct ftext_head){.cpu = PS_NONE};
	if (graph(line, len, h))
		return true;
	*h = (struct ftext_head){.cpu = PS_NONE};
	return latency(line, len, h);
}
