/* The order of the work: a file or the stream form, their events, what is reported in the end. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <inttypes.h>
#include <stdlib.h>

/* Drops what lies outside of the file. Data of two CPUs never overlap: that bounds the work. */
static void check_cpus(struct trace *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->ncpus; i++) {
		struct trace_cpu *c = &t->cpus[i];
		uint32_t page = c->buffer->page_size;

		if (c->size && (page < t->header_size || page > TRACE_PAGE_MAX)) {
			trace_damage(t, PP_ECORRUPT, -1, "pages of %u bytes are impossible", page);
			c->size = 0;
		}
		if (c->src)
			continue;
		if (c->size && c->offset >= t->size) {
			trace_damage(t, PP_ECUT, (int64_t)c->offset,
				     "the data of CPU %u is past the end of the file", c->cpu);
			c->size = 0;
		}
		if (c->size > t->size - c->offset && c->size) {
			trace_damage(t, PP_ECUT, (int64_t)c->offset,
				     "the data of CPU %u is cut off", c->cpu);
			c->size = t->size - c->offset;
		}
		sum += c->size;
		if (sum > t->size) {
			trace_damage(t, PP_ECORRUPT, (int64_t)c->offset,
				     "the data of CPUs overlap");
			c->size = 0;
			sum = t->size;
		}
	}
}

/* The error of the head is reported here, once, if it was not yet. */
static int finish(struct trace *t, int rc)
{
	if (rc == PP_ECUT && !t->damage)
		diag_error(t->d, t->name, (int64_t)t->size, "the file is cut off");
	else if (rc == PP_ENOMEM || pp_is_io(rc))
		diag_error(t->d, t->name, -1, "%s", pp_strerror(rc));
	return rc ? rc : t->damage;
}

/* What came of each CPU. */
static void tell_account(const struct trace *t)
{
	for (uint32_t i = 0; i < t->ncpus; i++) {
		const struct trace_cpu *c = &t->cpus[i];
		uint64_t ns = t->ticks ? 1 : 1000000000;
		struct buf b = BUF_INIT;

		if (*c->buffer->name)
			buf_addf(&b, "buffer %s, ", c->buffer->name);
		buf_addf(&b, "CPU %u: %llu bytes, %llu samples, %llu lost by the recorder", c->cpu,
			 (unsigned long long)c->size, (unsigned long long)c->samples,
			 (unsigned long long)c->lost);
		if (c->samples && t->ticks)
			buf_addf(&b, ", times %llu to %llu", (unsigned long long)c->first,
				 (unsigned long long)c->until);
		else if (c->samples)
			buf_addf(&b, ", times %llu.%09llu to %llu.%09llu",
				 (unsigned long long)(c->first / ns),
				 (unsigned long long)(c->first % ns),
				 (unsigned long long)(c->until / ns),
				 (unsigned long long)(c->until % ns));
		diag_say(t->d, t->name, "%s", buf_str(&b));
		buf_release(&b);
	}
}

static int decode_file(struct trace *t, unsigned threads)
{
	int rc = trace_metadata(t);

	if (rc)
		return rc;
	check_cpus(t);
	trace_unpackers_start(t, threads);
	return trace_merge(t);
}

int trace_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account, const struct trace_opts *opts)
{
	struct trace t;
	int rc = 0;

	if (trace_is_live(s)) {
		trace_init_live(&t, s, source, w, d);
		t.live = true;
	} else {
		rc = trace_init(&t, s, source, w, d);
	}
	if (rc)
		return rc;
	t.account = account;
	t.separate = opts && opts->separate_stacks;
	t.stats = opts && opts->stats;
	t.ips = calloc(TRACE_IPS_MAX, sizeof(*t.ips));
	if (!t.ips)
		rc = PP_ENOMEM;
	else
		rc = t.live ? trace_live(&t) : decode_file(&t, opts ? opts->threads : 0);
	if (t.stats)
		tell_account(&t);
	if (t.lost)
		diag_say(d, t.name, "the recorder lost %s%" PRIu64 " event%s",
			 t.lost_more ? "at least " : "", t.lost, t.lost == 1 ? "" : "s");
	rc = finish(&t, rc);
	trace_release(&t);
	return rc;
}
