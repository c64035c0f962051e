/* Descriptors of events in the stream. */
#include "perfdata/decoder.h"

#include "base/err.h"
#include "event/fields.h"
#include "event/probe_parts.h"

#include <linux/perf_event.h>

int perf_event_write(struct perf_decoder *p, struct perf_attr *a)
{
	struct ps_event e = {.id = a->event, .perf_type = a->type, .config = a->config};
	struct buf name = BUF_INIT, table = BUF_INIT, joined = BUF_INIT;
	const char *system, *event, *u = perf_attr_unit(a), *format;
	size_t len;
	int rc = 0;

	if (a->written)
		return 0;
	e.sample_type = a->sample_type;
	/* Members of a group are counted whenever their leader is sampled: their periods, too. */
	if (a->type != PERF_TYPE_TRACEPOINT &&
	    (a->sample_period || (a->sample_type & PSB_READ && a->read_format & PERF_FORMAT_GROUP)))
		e.flags |= PS_EVENT_SAMPLED;
	if (a->flags & PERF_ATTR_FREQ)
		e.flags |= PS_EVENT_FREQ;
	if (a->sample_type & PSB_CALLCHAIN)
		e.flags |= PS_EVENT_CHAINS;
	if (a->branch_sample_type & 1 << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */
		e.flags |= PS_EVENT_BRANCH_CALLS;
	if (a->type == PERF_TYPE_TRACEPOINT && (a->flags & PERF_ATTR_FREQ || a->sample_period > 1))
		e.flags |= PS_EVENT_THINNED;
	perf_attr_name(&p->r.info, a, &name);
	if (!strncmp(buf_str(&name), PERF_HELPER, strlen(PERF_HELPER)))
		e.flags |= PS_EVENT_HELPER;
	e.name = ps_str(buf_str(&name), name.len);
	e.unit = ps_str(u, strlen(u));
	if (a->type == PERF_TYPE_TRACEPOINT) {
		format = perf_tracing_format(p->r.info.tracing, a->config, &len, &system, &event);
		if (format) {
			probe_parts_free(a->parts);
			rc = probe_parts_new(&a->parts, format, len, &joined);
			e.format = a->parts ? ps_str(buf_str(&joined), joined.len)
					    : ps_str(format, len);
			fields_of_format(e.format.p, e.format.len,
					 perf_tracing_long_size(p->r.info.tracing), &table);
			e.fields = ps_str(buf_str(&table), table.len);
		}
	}
	rc = rc ? rc : name.err ? name.err : table.err;
	if (!rc)
		rc = perf_put(p, PS_EVENT, &e);
	a->written = true;
	a->renamed = false;
	buf_release(&name);
	buf_release(&joined);
	buf_release(&a->fields);
	a->fields = table;
	return rc;
}

int perf_event_write_all(struct perf_decoder *p)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->r.info.nattrs && !rc; i++)
		rc = perf_event_write(p, &p->r.info.attrs[i]);
	p->out.events = true;
	return rc;
}

int perf_event_write_renamed(struct perf_decoder *p)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->r.info.nattrs && !rc; i++) {
		struct perf_attr *a = &p->r.info.attrs[i];

		if (!a->written || !a->renamed)
			continue;
		a->written = false;
		rc = perf_event_write(p, a);
	}
	return rc;
}
