/*
 * The forms of counts, for those that make one; private to lib/count.
 *
 * form.c chooses the rows and writes what is around them, form_text.c a row of text, form_data.c of
 * CSV and JSON, form_metric.c the lines of --metric-only.
 */
#ifndef PP_COUNT_FORM_PARTS_H
#define PP_COUNT_FORM_PARTS_H

#include "count/form.h"

#define FORM_NOT_COUNTED   "<not counted>"
#define FORM_NOT_SUPPORTED "<not supported>"

/* form.c */

/* form_text.c */

/* What a row is of: "S0-D0-C0           1 ". */
void form_text_group(const struct counts *c, uint32_t group, uint32_t cpus, struct buf *b);
void form_text_row(const struct count_form *f, const struct counts *c, uint32_t event,
		   uint32_t group, struct buf *b);

/* The number of a metric as text, in its width; at least 32 bytes of room. */
void form_metric_text(const struct count_metric *m, char *text, size_t room);

/* The deviation of a row's runs, in percent; 0: none. */
double form_deviation(const struct count_row *row);

/* The part of the time that a row was counted, in percent. */
double form_running(const struct count_row *row);

/* form_data.c */

void form_csv_group(const struct count_form *f, const struct counts *c, uint32_t group,
		    uint32_t cpus, struct buf *b);
void form_csv_row(const struct count_form *f, const struct counts *c, uint32_t event,
		  uint32_t group, struct buf *b);
void form_json_row(const struct count_form *f, const struct counts *c, uint32_t event,
		   uint32_t group, struct buf *b);

/* form_metric.c */

void form_metric_names(const struct count_form *f, const struct counts *c, struct buf *b);
void form_metric_rows(const struct count_form *f, const struct counts *c, struct buf *b);

#endif
