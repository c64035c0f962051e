/* Finds a lane for each jump in which it crosses no other, the shortest next to the code. */
#include "report/jumps.h"

#include "base/err.h"

#include <stdlib.h>

static uint32_t low(const struct jump *j)
{
	return j->from < j->to ? j->from : j->to;
}

static uint32_t high(const struct jump *j)
{
	return j->from < j->to ? j->to : j->from;
}

static int by_length(const void *va, const void *vb)
{
	const struct jump *a = va, *b = vb;
	uint32_t la = high(a) - low(a), lb = high(b) - low(b);

	if (la != lb)
		return la < lb ? -1 : 1;
	return low(a) < low(b) ? -1 : low(a) > low(b);
}

/* The row of an address; n: it is within an instruction. */
static uint32_t find(const uint64_t *addr, uint32_t n, uint64_t at)
{
	uint32_t from = 0, to = n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (addr[mid] < at)
			from = mid + 1;
		else
			to = mid;
	}
	return from < n && addr[from] == at ? from : n;
}

static void assign(struct jumps *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		bool taken[JUMPS_LANES + 1] = {false};

		for (uint32_t k = 0; k < i; k++)
			if (low(&j->v[k]) <= high(&j->v[i]) && low(&j->v[i]) <= high(&j->v[k]))
				taken[j->v[k].lane] = true;
		for (uint32_t lane = 1; lane <= JUMPS_LANES && !j->v[i].lane; lane++)
			if (!taken[lane])
				j->v[i].lane = lane;
		if (j->v[i].lane > j->lanes)
			j->lanes = j->v[i].lane;
	}
}

int jumps_make(struct jumps *j, const uint64_t *addr, const uint64_t *target, uint32_t n)
{
	*j = (struct jumps){.v = calloc(JUMPS_MAX, sizeof(*j->v))};
	if (!j->v)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n && j->n < JUMPS_MAX; i++) {
		uint32_t to = target[i] ? find(addr, n, target[i]) : n;

		if (to < n)
			j->v[j->n++] = (struct jump){.from = i, .to = to};
	}
	qsort(j->v, j->n, sizeof(*j->v), by_length);
	assign(j);
	return 0;
}

void jumps_release(struct jumps *j)
{
	free(j->v);
	j->v = NULL;
}

/* What a lane shows in a row. */
enum part { EMPTY, BAR, TOP, BOTTOM, LINE, CROSS };

void jumps_draw(const struct jumps *j, uint32_t row, bool ascii, struct buf *b)
{
	static const char *const plain[] = {" ", "|", "+", "+", "-", "+"};
	static const char *const lines[] = {" ", "│", "┌", "└", "─", "┼"};
	enum part part[JUMPS_LANES + 1] = {EMPTY};
	bool arrow = false;
	uint32_t widest = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		const struct jump *v = &j->v[i];

		if (!v->lane || row < low(v) || row > high(v))
			continue;
		part[v->lane] = BAR;
		if (row != v->from && row != v->to)
			continue;
		part[v->lane] = row == low(v) ? TOP : BOTTOM;
		arrow |= row == v->to;
		widest = v->lane > widest ? v->lane : widest;
	}
	for (uint32_t lane = j->lanes; lane > 0; lane--) {
		enum part p = part[lane];

		if (lane < widest && p == EMPTY)
			p = LINE;
		else if (lane < widest && p == BAR)
			p = CROSS;
		buf_adds(b, ascii ? plain[p] : lines[p]);
	}
	if (j->lanes)
		buf_adds(b, arrow ? ascii ? "> " : "→ " : widest ? ascii ? "- " : "─ " : "  ");
}
