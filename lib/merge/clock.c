/*
 * Clocks of recordings: what their times mean, whether they can be compared, how they are
 * converted.
 */
#include "merge/parts.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>

#define WALL "realtime"

static bool is(const struct ps_str *s, const char *text)
{
	return s->len == strlen(text) && !memcmp(s->p, text, s->len);
}

static void copy(char *to, size_t size, const struct ps_str *s)
{
	size_t n = s->len < size - 1 ? s->len : size - 1;

	if (n)
		memcpy(to, s->p, n);
	to[n] = 0;
}

void merge_learn_clock(struct merge_source *s, const struct ps_record *rec)
{
	const struct ps_str *value = &rec->meta.value;
	char number[MERGE_CLOCK_MAX];

	if (rec->type == PS_SOURCE) {
		copy(s->clock, sizeof(s->clock), &rec->src.clock);
		return;
	}
	if (rec->type != PS_META || !rec->meta.key.p)
		return;
	if (is(&rec->meta.key, "hostname")) {
		copy(s->host, sizeof(s->host), value);
	} else if (is(&rec->meta.key, "time_shift")) {
		s->shifted = true;
	} else if (is(&rec->meta.key, "wall_offset")) {
		copy(number, sizeof(number), value);
		s->wall = strtoll(number, NULL, 10);
		s->wall_known = true;
	}
}

/*
 * The clock that the times are of. "local", "global" and "perf" are the scheduler's clock of a
 * machine, read in three ways.
 */
static const char *clock_of(const struct merge_source *s)
{
	static const char *const sched[] = {"local", "global", "perf"};

	if (s->wall_known && !s->wall)
		return WALL;
	for (size_t i = 0; i < sizeof(sched) / sizeof(sched[0]); i++)
		if (!strcmp(s->clock, sched[i]))
			return "perf";
	return s->clock;
}

/* What is known of a clock, in words for a message. */
static const char *name_of(const struct merge_source *s)
{
	return s->wall_known && !s->wall ? WALL : s->clock;
}

static const char *shown(const char *clock)
{
	return *clock ? clock : "of an unknown kind";
}

/* What has to be added to the time of day for a clock, by a recording that has both. */
static bool wall_of(const struct smerge *m, const char *clock, int64_t *wall)
{
	for (uint32_t i = 1; i < m->nsources; i++) {
		const struct merge_source *s = &m->sources[i];

		if (s->wall_known && !strcmp(clock_of(s), clock)) {
			*wall = s->wall;
			return true;
		}
	}
	return false;
}

/* The fact of converted times: it comes after the one that was true of the recording. */
static int tell_wall(struct smerge *m, const struct merge_source *s, int64_t wall)
{
	char text[MERGE_CLOCK_MAX];
	int n = snprintf(text, sizeof(text), "%lld", (long long)wall);
	struct ps_meta fact = {.key = ps_str("wall_offset", 11), .value = ps_str(text, (size_t)n)};

	return swriter_put(m->w, PS_META, (uint32_t)(s - m->sources), &fact);
}

static int convert(struct smerge *m, struct merge_source *s)
{
	struct merge_source wanted = {0};
	int64_t back = 0;

	copy(wanted.clock, sizeof(wanted.clock),
	     &(struct ps_str){m->clock, (uint32_t)strlen(m->clock)});
	if (!strcmp(clock_of(s), clock_of(&wanted)))
		return 0;
	if (!s->wall_known) {
		diag_error(
			m->d, m->in[s->input]->name, -1,
			"clock %s: the recording does not contain its relation to %s (perf record "
			"-k, trace-cmd record --date)",
			shown(s->clock), m->clock);
		return PP_EUSAGE;
	}
	if (strcmp(m->clock, WALL) != 0 && !wall_of(m, clock_of(&wanted), &back)) {
		diag_error(m->d, m->in[s->input]->name, -1,
			   "no recording relates clock %s to the time of day", m->clock);
		return PP_EUSAGE;
	}
	s->offset = (int64_t)((uint64_t)s->offset + (uint64_t)s->wall - (uint64_t)back);
	return tell_wall(m, s, back);
}

/* Reports once for each recording that its times are not those of the first. */
static void compare(const struct smerge *m, const struct merge_source *s)
{
	const struct merge_source *first = &m->sources[1];
	const char *name = m->in[s->input]->name, *other = m->in[first->input]->name;

	if (s == first || m->in[s->input]->offset || m->in[first->input]->offset)
		return;
	if (strcmp(clock_of(s), clock_of(first)) != 0)
		diag_warn(m->d, name, -1,
			  "its clock is %s, that of %s is %s: their times cannot be compared "
			  "(--clock, --offset)",
			  shown(name_of(s)), other, shown(name_of(first)));
	else if (*s->host && *first->host && strcmp(s->host, first->host) != 0 && !s->shifted &&
		 !first->shifted && strcmp(clock_of(s), WALL) != 0)
		diag_warn(m->d, name, -1,
			  "it was recorded on %s, %s on %s: their clocks cannot be compared "
			  "(--clock, --offset)",
			  s->host, other, first->host);
}

int merge_settle_clock(struct smerge *m, struct merge_source *s)
{
	s->settled = true;
	s->offset = m->in[s->input]->offset;
	if (m->clock)
		return convert(m, s);
	compare(m, s);
	return 0;
}
