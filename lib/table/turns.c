/* Periods of the input's time: when one ends, by its times and by the clock. */
#include "table/turns.h"

#include "table/unit.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NS	 INT64_C(1000000000)
#define NEAR	 (5 * NS)      /* times so near to those of now are of a recording that goes on */
#define STEADY	 NS	       /* or those that keep step with the clock for so long */
#define SLACK	 (NS / 2)      /* differences that are none */
#define PATIENCE (3 * NS / 10) /* what comes so late still counts in its period */

int turns_turn(struct turns *t, uint64_t time)
{
	int rc = 0;

	if (!t->begin) {
		t->begin = time ? time : 1;
		if (!t->first)
			t->first = t->begin;
	} else {
		rc = t->over(t->ctx);
		t->begin += (time - t->begin) / t->every * t->every;
	}
	t->end = t->begin < UINT64_MAX - t->every ? t->begin + t->every : UINT64_MAX;
	return rc;
}

void turns_forget(struct turns *t)
{
	t->begin = t->end = t->last = t->seen = 0;
	t->live = t->paused = false;
}

/* ---- the clock ---- */

static int64_t now_of(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return INT64_MIN / 2;
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

static bool near(int64_t a, int64_t b, int64_t slack)
{
	return a - b < slack && b - a < slack;
}

/* Whether the time is one of now, by any clock that recordings are made with. */
static bool is_now(uint64_t time)
{
	static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
					   CLOCK_REALTIME, CLOCK_TAI};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (near((int64_t)time, now_of(clocks[i]), NEAR))
			return true;
	return false;
}

/* Compares the times that came since the last pause with the clock. */
static void look_at_clock(struct turns *t, int64_t now)
{
	int64_t ahead = (int64_t)t->last - now;

	if (t->last == t->seen)
		return;
	t->seen = t->last;
	if (!t->paused || !near(ahead, t->ahead, SLACK)) {
		t->live = is_now(t->last);
		t->ahead = ahead;
		t->since = now;
		t->paused = true;
		return;
	}
	if (ahead > t->ahead)
		t->ahead = ahead;
	t->live |= now - t->since > STEADY;
}

int turns_pause(struct turns *t)
{
	int64_t now = now_of(CLOCK_MONOTONIC), left;

	if (!t->begin)
		return -1;
	look_at_clock(t, now);
	if (!t->live || t->empty(t->ctx))
		return -1;
	left = (int64_t)t->end + PATIENCE - (now + t->ahead);
	if (left <= 0) {
		/* An error ends the reading when the next time is seen. */
		(void)turns_turn(t, (uint64_t)(now + t->ahead - PATIENCE));
		return -1;
	}
	return (int)(left / (NS / 1000) < 1000 ? left / (NS / 1000) + 1 : 1000);
}

/* ---- what is written ---- */

/* ns as seconds, as recordings print times. */
static void add_time(struct buf *b, uint64_t ns)
{
	buf_addf(b, "%llu.%06u", (unsigned long long)(ns / 1000000000),
		 (unsigned)(ns / 1000 % 1000000));
}

void turns_head(const char *what, uint64_t begin, uint64_t end, struct buf *b)
{
	buf_adds(b, what);
	buf_addc(b, ' ');
	add_time(b, begin);
	buf_adds(b, " - ");
	add_time(b, end);
	buf_addc(b, '\n');
}

void turns_redraw(uint32_t *had, const struct buf *text, struct buf *b)
{
	struct winsize size = {0};
	const char *s = buf_str(text), *end = s + text->len;
	uint32_t rows, lines = 0, left = 0;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row > 3 ? size.ws_row : 24;
	if (*had)
		buf_addf(b, "\033[%uA\r", *had);
	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);

		/* One for what is left out, and one for the cursor. */
		if (lines + 2 < rows) {
			buf_add(b, s, text_fit(s, n, size.ws_col ? size.ws_col : 80));
			buf_adds(b, "\033[K\n");
			lines++;
		} else {
			left++;
		}
		s = nl ? nl + 1 : end;
	}
	if (left) {
		buf_addf(b, "... %u more line%s\033[K\n", left, left == 1 ? "" : "s");
		lines++;
	}
	buf_adds(b, "\033[J");
	*had = lines;
}
