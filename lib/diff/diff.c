/* A comparison from its files to its result; see diff.h. */
#include "diff/parts.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEARN_MIN 3 /* recordings that tell something of their variation */

int diff_new(struct diff **out, const struct diff_opts *opts, struct diag *diag)
{
	struct diff *d = calloc(1, sizeof(*d));
	int rc = d ? 0 : PP_ENOMEM;

	*out = d;
	if (rc)
		return rc;
	d->opts = *opts;
	d->diag = diag;
	d->runs.by = opts->by;
	d->runs.exact = opts->exact;
	d->runs.period = opts->period;
	d->runs.diag = diag;
	d->runs.keep_stacks = opts->stacks;
	/* How two vary is not known, and nothing is judged by who called whom (inlining.c). */
	d->runs.no_edges = opts->pair && !opts->noise;
	d->runs.seconds = opts->norm == DIFF_NORM_TIME;
	if (opts->norm == DIFF_NORM_WORK && !opts->work) {
		diag_error(diag, NULL, -1, "--norm=work: --work says how much each recording did");
		rc = PP_EUSAGE;
	}
	if (!rc && opts->noise)
		rc = noise_read(&d->noise, opts->noise, diag);
	if (!rc)
		return 0;
	diff_free(d);
	*out = NULL;
	return rc;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	compare_release(&d->compare);
	noise_release(&d->noise);
	runs_release(&d->runs);
	free(d);
}

static int wanted(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int add_directory(struct diff *d, enum diff_side side, const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, wanted, alphasort), rc = 0;

	if (n < 0) {
		diag_error(d->diag, dir, -1, "cannot read the directory: %s", strerror(errno));
		return PP_EIO;
	}
	for (int i = 0; i < n; i++) {
		struct buf path = BUF_INIT;
		struct stat st;

		buf_addf(&path, "%s/%s", dir, list[i]->d_name);
		if (path.err)
			rc = PP_ENOMEM;
		else if (!rc && !stat(buf_str(&path), &st) && S_ISREG(st.st_mode))
			rc = runs_add(&d->runs, side, buf_str(&path));
		buf_release(&path);
		free(list[i]);
	}
	free(list);
	return rc;
}

bool diff_is_directory(const char *name)
{
	struct stat st;

	return !stat(name, &st) && S_ISDIR(st.st_mode);
}

int diff_add(struct diff *d, enum diff_side side, const char *file)
{
	if (diff_is_directory(file))
		return add_directory(d, side, file);
	return runs_add(&d->runs, side, file);
}

/* Counts the verdicts of the families that decide. */
static void sum_up(struct diff *d)
{
	static const bool gates[] = {
#define V(name, text, gate) gate,
		DIFF_VERDICTS(V)
#undef V
	};
	const struct compare *c = &d->compare;

	for (size_t k = 0; k < c->nfamilies; k++) {
		const struct family *f = &c->families[k];

		for (size_t i = 0; f->gates && i < f->n; i++) {
			enum diff_verdict v = f->rows[i].verdict;

			d->result.verdicts[v]++;
			d->result.worse |= gates[v];
			d->result.unclear |= v == DIFF_UNCLEAR;
			d->result.seen = fmax(d->result.seen, f->rows[i].seen);
		}
		if (f->gates)
			d->result.tested += f->tested;
	}
	d->result.gated = c->gated;
}

static void see_partial(struct diff *d)
{
	for (size_t i = 0; i < d->runs.n; i++)
		d->result.partial |= d->runs.v[i].partial;
}

static bool has_totals(const struct runs *rs)
{
	for (size_t i = 0; i < rs->n; i++)
		if (!rs->v[i].total)
			return false;
	return true;
}

/* One against one: all that can be seen of variation is within the recordings. */
static int read_slices(struct diff *d)
{
	int rc = 0;

	for (size_t i = 0; i < 2 && d->runs.n == 2 && !d->compare.noise && !rc; i++)
		if (d->runs.v[0].again && d->runs.v[1].again)
			rc = runs_slice(&d->runs, &d->runs.v[i]);
	return rc;
}

int diff_run(struct diff *d)
{
	struct compare *c = &d->compare;
	size_t sides[2] = {0, 0};
	int rc;

	for (size_t i = 0; i < d->runs.n; i++)
		sides[d->runs.v[i].side]++;
	if (!sides[0] || !sides[1]) {
		diag_error(d->diag, NULL, -1, "no %s recording to compare",
			   sides[0] ? "new" : "base");
		return PP_EUSAGE;
	}
	if (d->runs.latency && (sides[0] < 2 || sides[1] < 2)) {
		diag_error(d->diag, NULL, -1,
			   "latencies: at least two recordings of each side are needed");
		return PP_EUSAGE;
	}
	if (d->opts.stacks && !d->runs.whole.n) {
		diag_error(d->diag, NULL, -1, "--folded writes stacks: tables have none");
		return PP_EUSAGE;
	}
	see_partial(d);
	if (d->opts.noise && d->runs.n == 2)
		c->noise = &d->noise;
	else if (d->opts.noise)
		diag_say(d->diag, d->opts.noise,
			 "is not used: the recordings themselves show how they vary");
	rc = read_slices(d);
	if (rc)
		return rc;
	rc = compare_sizes(c, &d->runs, &d->opts);
	for (int total = 0; !rc && total <= has_totals(&d->runs); total++) {
		c->nfamilies++;
		rc = d->runs.latency ? latency_family(c, &c->families[total], total)
				     : compare_family(c, &c->families[total], total);
		if (!rc)
			diff_sort(&c->families[total]);
	}
	if (rc == PP_ENOMEM)
		diag_error(d->diag, NULL, -1, "%s", pp_strerror(rc));
	if (!rc)
		sum_up(d);
	return rc;
}

const struct diff_result *diff_result(const struct diff *d)
{
	return &d->result;
}

int diff_write(struct diff *d, enum diff_form form, struct out *out)
{
	static int (*const writers[])(struct diff *, struct buf *, struct out *) = {
		[DIFF_FORM_TEXT] = diff_write_text,   [DIFF_FORM_TSV] = diff_write_tsv,
		[DIFF_FORM_JSON] = diff_write_json,   [DIFF_FORM_MARKDOWN] = diff_write_markdown,
		[DIFF_FORM_JUNIT] = diff_write_junit, [DIFF_FORM_FOLDED] = diff_write_folded,
	};
	struct buf b = BUF_INIT;
	int rc = writers[form](d, &b, out);

	if (!rc && b.err)
		rc = b.err;
	if (!rc)
		rc = out_add(out, buf_str(&b), b.len);
	buf_release(&b);
	return rc;
}

int diff_learn(struct diff *d, struct out *out)
{
	int rc;

	if (d->runs.latency) {
		diag_error(d->diag, NULL, -1, "--learn-noise is for samples, not for latencies");
		return PP_EUSAGE;
	}
	if (d->runs.n < LEARN_MIN) {
		diag_error(
			d->diag, NULL, -1,
			"--learn-noise needs at least %d recordings of the same build, better 10",
			LEARN_MIN);
		return PP_EUSAGE;
	}
	see_partial(d);
	rc = compare_sizes(&d->compare, &d->runs, &d->opts);
	if (!rc)
		rc = compare_learn(&d->compare, &d->noise);
	if (rc == PP_ENOMEM)
		diag_error(d->diag, NULL, -1, "%s", pp_strerror(rc));
	return rc ? rc : noise_write(&d->noise, out);
}
