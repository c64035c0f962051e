/*
 * Which columns of a table in text are left out where they do not fit a terminal: those of least
 * use first.
 */
#include "table/parts.h"

#include <string.h>

/* Statistics of least use come first. What a table is sorted by, and the count, stay. */
static const enum table_stat least[] = {
	TABLE_STAT_P999, TABLE_STAT_MAX_TIME, TABLE_STAT_P90, TABLE_STAT_MIN, TABLE_STAT_SHARE,
	TABLE_STAT_P50,	 TABLE_STAT_MEAN,     TABLE_STAT_SUM, TABLE_STAT_P99, TABLE_STAT_MAX,
};

static uint64_t total(const struct fit_column *c, uint32_t n, uint32_t gap)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += c[i].hidden ? 0 : (sum ? gap : 0) + (uint64_t)c[i].width;
	return sum;
}

/* How many columns a value still has. */
static uint32_t shown_of(const struct fit_column *c, uint32_t n, uint32_t value)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < n; i++)
		shown += c[i].stat >= 0 && c[i].value == value && !c[i].hidden;
	return shown;
}

/* A statistic of all values that have another one, too. */
static void hide_stat(struct fit_column *c, uint32_t n, enum table_stat stat)
{
	for (uint32_t i = 0; i < n; i++)
		if (c[i].stat == (int)stat && !c[i].keep && shown_of(c, n, c[i].value) > 1)
			c[i].hidden = true;
}

bool fit_columns(struct fit_column *c, uint32_t n, uint32_t gap, uint32_t width)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]) && total(c, n, gap) > width; i++)
		hide_stat(c, n, least[i]);
	/* Of values with one column each, the last go; the first stays. */
	for (uint32_t i = n; i-- > 0 && total(c, n, gap) > width;)
		if (c[i].stat >= 0 && c[i].value && !c[i].keep)
			c[i].hidden = true;
	for (uint32_t i = 0; i < n; i++)
		any |= c[i].hidden;
	return any;
}
