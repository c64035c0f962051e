/*
 * Conditions of --fail-if: what is taken is decided by a table, twice, with the same result. What
 * is refused has a reason.
 */
#include "base/err.h"
#include "table/gate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char table[] =
	"#PPTABLE1 rows=4 view=bars name=lat\tcomm:key\tcpu:signed\taddr:hex\tlat:count\tlat:sum:ns\t"
	"lat:min:ns\tlat:max:ns\tlat:max_time:ns\tlat:buckets\n"
	"lat\tweb\t0\t0x10\t2\t30\t10\t20\t0\t10:1 20:1\n"
	"lat\tdb-1\t-1\t0xffffffff81000000\t1\t400\t400\t400\t0\t400:1\n"
	"lat\t17\t3\t0x0\t1\t7\t7\t7\t0\t7:1\n"
	"lat\t(other)\t(other)\t(other)\t1\t9\t9\t9\t0\t9:1\n";

static int read_table(struct tables *ts)
{
	struct src *s;
	int rc = src_from_mem(&s, table, sizeof(table) - 1, "fuzz");

	if (rc)
		return rc;
	rc = tables_read(ts, s, NULL);
	src_free(s);
	return rc;
}

static void take_line(void *ctx, const char *line, size_t len)
{
	(void)line;
	*(size_t *)ctx += len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	const struct gate_texts texts = {.v = {text}, .n = 1};
	struct gates *g = NULL;
	struct tables ts;
	struct diag *d;
	size_t said = 0;
	int rc, status;

	if (!text || diag_new(&d, "fuzz", take_line, &said)) {
		free(text);
		return 0;
	}
	tables_init(&ts);
	if (read_table(&ts))
		abort();
	rc = gates_new(&g, &texts, d);
	rc = rc ? rc : gates_judge(g, &ts, NULL, NULL);
	if (rc == PP_EUSAGE && !said)
		abort();
	if (!rc) {
		status = gates_status(g, PP_EXIT_OK);
		if (gates_judge(g, &ts, NULL, NULL) || gates_status(g, PP_EXIT_OK) != status)
			abort();
		if (status != PP_EXIT_OK && status != PP_EXIT_WORSE && status != PP_EXIT_UNSURE)
			abort();
	}
	gates_free(g);
	tables_release(&ts);
	diag_free(d);
	free(text);
	return 0;
}
