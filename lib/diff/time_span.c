/* When an event stream begins and ends; see time_span.h. */
#include "diff/time_span.h"

#include "base/err.h"
#include "base/plain.h"
#include "stream/stream.h"

#include <string.h>
#include <sys/stat.h>

int times_learn(const char *file, struct diag *d, uint64_t *first, uint64_t *last)
{
	const struct ps_record *rec;
	struct sreader *r;
	struct src *s;
	int rc = plain_open(&s, file, d);

	if (!rc)
		rc = sreader_new(&r, s, 0, d);

	*first = rc ? 0 : UINT64_MAX;
	*last = 0;
	if (rc)
		return rc;
	while (!(rc = sreader_next(r, &rec))) {
		if (rec->type != PS_SAMPLE)
			continue;
		*first = rec->sample.time < *first ? rec->sample.time : *first;
		*last = rec->sample.time > *last ? rec->sample.time : *last;
	}
	sreader_free(r);
	if (*first > *last)
		*first = *last;
	return rc == PP_ENOMEM || pp_is_io(rc) ? rc : 0;
}

int times_seconds(const char *file, struct diag *d, double *seconds)
{
	uint64_t first, last;
	int rc = times_learn(file, d, &first, &last);

	*seconds = (double)(last - first) / 1e9;
	return rc;
}

bool times_again(const char *file)
{
	struct stat st;

	return strcmp(file, "-") != 0 && !stat(file, &st) && S_ISREG(st.st_mode);
}
