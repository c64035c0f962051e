/*
 * Amounts with their unit, for people; how wide texts are, and cutting them.
 *
 *	unit_add(&b, 1234567, "ns");		1.23 ms
 *	unit_add(&b, 1536000, "bytes");		1.46 MiB
 *	unit_add(&b, 7, "");			7
 *
 * Three significant digits when a larger unit is used; all of them otherwise.
 */
#ifndef PP_TABLE_UNIT_H
#define PP_TABLE_UNIT_H

#include "base/buf.h"
#include "table/hist.h"

/* Units are texts; these are known, others are only named: "ns", "bytes". */
void unit_add(struct buf *b, hist_int v, const char *unit);

/* The same for a mean: numbers without a known unit have up to three decimals. NaN is "-". */
void unit_add_mean(struct buf *b, double v, const char *unit);

/* As short as can be, for axes: "1.5 ms", "4 KiB", "20k". */
void unit_add_short(struct buf *b, double v, const char *unit);

/* Whether unit_add already writes the unit after the number. */
bool unit_known(const char *unit);

/* All digits. */
void unit_add_int(struct buf *b, hist_int v);

/* Columns that a text takes: characters, not bytes. */
uint32_t text_width(const char *s, size_t n);

/* The bytes of a text that fit so many columns. */
size_t text_fit(const char *s, size_t n, uint32_t columns);

/*
 * Cuts what was added since `from` if it takes more columns than `room` (0: any number), with `end`
 * for what is missing: TEXT_CUT or "..".
 */
#define TEXT_CUT "\xe2\x80\xa6"
void buf_cut(struct buf *b, size_t from, uint32_t room, const char *end);

/* Adds text in which characters that have a meaning in the form, the marks, become &#N;. */
#define MARKDOWN_MARKS "|&<>`*_[]~\\@#!"
#define XML_MARKS      "&<>\""
void buf_add_markup(struct buf *b, const char *s, size_t n, const char *marks);

#endif
