/* The table of a job's variation from run to run: text, a line for each unit. */
#include "diff/noise.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/plain.h"
#include "base/src.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC	 "#PPNOISE1"
#define FILE_MAX (64u << 20)

int noise_add(struct noise *n, const char *name, size_t len, double icc)
{
	uint32_t id;
	int rc = intern_add(&n->names, name, len, &id, NULL);
	double *v = rc ? NULL : array_widen(n->icc, &n->cap, id, 1024, sizeof(*v));

	if (!v)
		return rc ? rc : PP_ENOMEM;
	n->icc = v;
	v[id] = icc;
	return 0;
}

double noise_of(const struct noise *n, const char *name, size_t len)
{
	uint32_t id = intern_find(&n->names, name, len);

	return id ? n->icc[id] : n->prior;
}

static bool number(const char *s, double *v)
{
	char *end;

	*v = strtod(s, &end);
	return end > s && *v >= 0 && (!*end || *end == '\t' || *end == '\n');
}

/* A word "name=NUMBER" of the header. */
static bool header_word(const char *line, const char *name, double *v)
{
	const char *at = strstr(line, name);

	return at && at[-1] == '\t' && number(at + strlen(name), v);
}

static int take_line(struct noise *n, char *line)
{
	char *tab = strrchr(line, '\t');
	double icc;

	if (!*line)
		return 0;
	if (!tab || !number(tab + 1, &icc) || icc > 1)
		return PP_ECORRUPT;
	return noise_add(n, line, (size_t)(tab - line), icc);
}

static int take_text(struct noise *n, char *text)
{
	char *next = strchr(text, '\n');
	double recordings = 0, rows = 0;
	int rc = 0;

	if (!next || strncmp(text, MAGIC "\t", sizeof(MAGIC)) != 0)
		return PP_EUNSUPPORTED;
	*next++ = 0;
	if (!header_word(text, "recordings=", &recordings) || recordings > UINT32_MAX ||
	    !header_word(text, "prior=", &n->prior) || n->prior > 1 ||
	    !header_word(text, "df=", &n->df) || !(n->df > 0) || !header_word(text, "rows=", &rows))
		return PP_ECORRUPT;
	n->recordings = (uint32_t)recordings;
	while (!rc && *next) {
		char *line = next, *end = strchr(line, '\n');

		if (!end)
			return PP_ECUT;
		*end = 0;
		next = end + 1;
		rc = take_line(n, line);
		rows--;
	}
	return !rc && rows > 0 ? PP_ECUT : !rc && rows < 0 ? PP_ECORRUPT : rc;
}

int noise_read(struct noise *n, const char *file, struct diag *d)
{
	struct buf text = BUF_INIT;
	struct src *s;
	size_t got = 1;
	int rc = plain_open(&s, file, d);

	if (rc)
		return rc;
	while (!rc && got && text.len < FILE_MAX) {
		rc = buf_reserve(&text, 1u << 16);
		if (!rc)
			rc = src_read(s, text.data + text.len, 1u << 16, &got);
		if (!rc)
			text.len += got;
	}
	src_free(s);
	buf_addc(&text, 0);
	rc = rc ? rc : text.err;
	if (!rc && memchr(text.data, 0, text.len - 1))
		rc = PP_ECORRUPT;
	if (!rc && text.len > FILE_MAX)
		rc = PP_ELIMIT;
	if (!rc)
		rc = take_text(n, (char *)text.data);
	if (rc)
		diag_error(d, file, -1,
			   rc == PP_EUNSUPPORTED ? "is not a noise table of pdiff --learn-noise"
						 : "cannot read the noise table: %s",
			   pp_strerror(rc));
	buf_release(&text);
	return rc;
}

int noise_write(const struct noise *n, struct out *out)
{
	struct buf b = BUF_INIT;
	uint32_t rows = 0;
	int rc;

	for (uint32_t id = 1; id <= n->names.n; id++) {
		size_t len;
		const char *name = intern_get(&n->names, id, &len);

		rows += !memchr(name, '\n', len);
	}
	buf_addf(&b, MAGIC "\trecordings=%u\tprior=%.9g\tdf=%.9g\trows=%u\n", n->recordings,
		 n->prior, n->df, rows);
	for (uint32_t id = 1; id <= n->names.n; id++) {
		size_t len;
		const char *name = intern_get(&n->names, id, &len);

		if (memchr(name, '\n', len))
			continue;
		buf_add(&b, name, len);
		buf_addf(&b, "\t%.9g\n", n->icc[id]);
	}
	rc = b.err ? b.err : out_add(out, b.data, b.len);
	buf_release(&b);
	return rc;
}

void noise_release(struct noise *n)
{
	intern_release(&n->names);
	free(n->icc);
}
