/* Rounds over the ring buffers: reading, growing, snapshots, the account of losses. */
#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <inttypes.h>

#define GROW_BY		4  /* a buffer that loses events gets so many times its pages */
#define PACK_LEVEL_LIVE 5  /* the compression of higher levels is slower than events may come */
#define ADVISE_MIN	50 /* call chains that advice is founded on */

/* Puts what is in r->iov, compressed if that is wanted. */
static int put_events(struct recorder *r, bool ends_round)
{
	struct perf_event_header round = {.type = PERF_REC_FINISHED_ROUND, .size = sizeof(round)};
	struct iovec end = {&round, sizeof(round)}, packed;

	if (r->c->pack_level && r->iov.len) {
		int rc = pack_events(&r->pack, (void *)r->iov.data, r->iov.len / sizeof(packed),
				     &packed);

		if (rc)
			return rc;
		buf_reset(&r->iov);
		buf_add(&r->iov, &packed, sizeof(packed));
	}
	if (ends_round)
		buf_add(&r->iov, &end, sizeof(end));
	return r->iov.err ? r->iov.err
			  : sink_putv(&r->sink, (void *)r->iov.data, r->iov.len / sizeof(end));
}

static int put_ring(struct recorder *r, struct ring *ring)
{
	int rc;

	buf_reset(&r->iov);
	ring_look(ring);
	if (r->s.sift.on && sift_learn(&r->s.sift, ring, ring->head))
		return PP_ENOMEM;
	ring_peek(ring, &r->iov, &r->counts);
	rc = put_events(r, false);
	ring_done(ring);
	if (r->counts.looks)
		looks_forget(r->counts.looks);
	return rc;
}

/*
 * Losses have begun: the buffer becomes larger. The last records of the old one belong to the next
 * round, as those of the new one do.
 */
static int grow(struct recorder *r, struct ring *ring)
{
	uint32_t pages = ring->pages * GROW_BY;
	struct ring old;
	int rc;

	if (pages > r->s.pages_max)
		pages = r->s.pages_max;
	if (pages <= ring->pages || session_grow(&r->s, ring, pages, &old))
		return 0; /* what there is, is what there can be */
	rc = put_ring(r, &old);
	ring->lost = old.lost;
	ring_close(&old);
	diag_note(r->d, NULL, -1,
		  "CPU %d: events were lost, so its buffer has %" PRIu32 " pages now", ring->cpu,
		  ring->pages);
	return rc;
}

static int grow_where_lost(struct recorder *r, const uint64_t *lost_before)
{
	int rc = 0;

	for (size_t i = 0; i < r->s.n_rows && !rc; i++)
		if (r->s.rings[i].fd >= 0 && r->s.rings[i].lost > lost_before[i])
			rc = grow(r, &r->s.rings[i]);
	return rc;
}

/*
 * How far the rings are read in this round. News of processes that have begun by then can be in
 * another ring than their first records, so these are looked for a bit further.
 */
static int look_at_rings(struct session *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rings[i].fd >= 0)
			ring_look(&s->rings[i]);
	for (size_t i = 0; i < s->n_rows && s->sift.on && !rc; i++)
		if (s->rings[i].fd >= 0)
			rc = sift_learn(&s->sift, &s->rings[i], ring_head(&s->rings[i]));
	return rc;
}

int rounds_pass(struct recorder *r, bool force)
{
	struct session *s = &r->s;
	struct iovec more;
	bool any;
	int rc;

	if (sink_waiting(&r->sink) > SINK_MAX && !force)
		return sink_flush(
			&r->sink); /* the rings hold it; the kernel counts what it loses */
	buf_reset(&r->iov);
	if (r->counts.alike)
		alike_begin(r->counts.alike, now_ns(CLOCK_MONOTONIC));
	rc = look_at_rings(s);
	if (rc)
		return rc;
	for (size_t i = 0; i < s->n_rows; i++) {
		r->lost[i] = s->rings[i].lost;
		if (s->rings[i].fd >= 0)
			ring_peek(&s->rings[i], &r->iov, &r->counts);
	}
	any = r->iov.len > 0;
	if (!any && !r->open)
		return sink_flush(&r->sink);
	r->open = any && !r->c->snapshot;
	if (r->counts.looks)
		looks_take(r->counts.looks, &r->counts.more);
	if (r->counts.more.err)
		return r->counts.more.err;
	more = (struct iovec){r->counts.more.data, r->counts.more.len};
	if (more.iov_len)
		buf_add(&r->iov, &more, sizeof(more));
	/* What a snapshot holds is older than this: its round ends with it. */
	rc = put_events(r, !r->c->snapshot);
	buf_reset(&r->counts.more);
	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rings[i].fd >= 0)
			ring_done(&s->rings[i]);
	if (r->counts.holes)
		holes_fill(r->counts.holes);
	if (!rc && r->counts.keep)
		rc = keep_round(r->counts.keep);
	return rc || !s->pages_max ? rc : grow_where_lost(r, r->lost);
}

/* Bytes of a sample before its time. */
static size_t time_at(const struct session *s)
{
	uint64_t type = s->attrs[0].attr.sample_type;
	size_t at = sizeof(struct perf_event_header);

	at += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	at += type & PERF_SAMPLE_IP ? 8 : 0;
	return at + (type & PERF_SAMPLE_TID ? 8 : 0);
}

int rounds_snapshot(struct recorder *r)
{
	uint64_t now = now_ns(r->c->use_clock ? r->c->clock : CLOCK_MONOTONIC);
	uint64_t since = r->c->snapshot_ns && now > r->c->snapshot_ns ? now - r->c->snapshot_ns : 0;
	struct buf kept = BUF_INIT;
	struct iovec v;
	int rc = rounds_pass(r, true);

	for (size_t i = r->s.n_rows; i < r->s.n_rings && !rc; i++)
		if (r->s.rings[i].fd >= 0)
			rc = ring_take_back(&r->s.rings[i], since, time_at(&r->s), &kept,
					    &r->counts);
	v = (struct iovec){kept.data, kept.len};
	buf_reset(&r->iov);
	buf_add(&r->iov, &v, sizeof(v));
	if (!rc && kept.len)
		rc = put_events(r, false);
	buf_release(&kept);
	return rc ? rc : put_record(r, PERF_REC_FINISHED_ROUND, 0);
}

/* The kernel tells of losses in the next record that fits; the last ones are told here. */
static int put_last_losses(struct recorder *r)
{
	struct perf_event_header h = {.type = PERF_REC_LOST};
	uint64_t total, body[2 + 4] = {0}; /* id, lost, sample_id */

	if (!session_lost(&r->s, &total) || total <= r->counts.lost)
		return 0;
	body[0] = r->s.attrs[0].n_ids ? r->s.attrs[0].ids[0] : 0;
	body[1] = total - r->counts.lost;
	r->counts.lost = total;
	h.size = (uint16_t)(sizeof(h) + 16 + header_sample_id_size(&r->s));
	sink_put(&r->sink, &h, sizeof(h));
	return sink_put(&r->sink, body, h.size - sizeof(h));
}

int rounds_end(struct recorder *r, bool last)
{
	int rc = last ? put_last_losses(r) : 0;

	return rc ? rc : put_record(r, PERF_REC_FINISHED_ROUND, PERF_MISC_END_MARK);
}

/* Which CPUs lost how many, as far as the records tell. */
static void lost_by_cpu(const struct recorder *r, struct buf *b)
{
	size_t shown = 0;

	for (size_t i = 0; i < r->s.n_rows && r->s.rings; i++) {
		const struct ring *ring = &r->s.rings[i];

		if (!ring->lost || ring->cpu < 0)
			continue;
		if (shown++ == 8) {
			buf_adds(b, ", ...");
			break;
		}
		buf_addf(b, "%s%d: %" PRIu64, shown == 1 ? " (CPU " : ", ", ring->cpu, ring->lost);
	}
	if (shown)
		buf_adds(b, ")");
}

/* The option that would help most. */
static const char *remedy(const struct recorder *r)
{
	bool each = false;

	for (size_t i = 0; i < r->s.n_attrs; i++)
		each |= r->s.attrs[i].attr.type == PERF_TYPE_TRACEPOINT;
	if (r->c->pack_level > PACK_LEVEL_LIVE)
		return "a lower compression level (-z)";
	if (each && r->s.copies)
		return "call chains without copies (--call-graph fp), larger buffers (-m), "
		       "or fewer events (--filter, -c)";
	return each	     ? "larger buffers (-m), or fewer events (--filter, -c)"
	       : r->s.copies ? "larger buffers (-m), a lower frequency (-F) or smaller stacks "
			       "(--call-graph dwarf,SIZE)"
			     : "larger buffers (-m) or a lower frequency (-F)";
}

/* What gives the recorded program whole chains. Copies do not help code that has no tables. */
static const char *chain_remedy(const struct record_config *c)
{
	const char *name = c->command ? c->command[0] : "", *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	if (!strcmp(name, "java"))
		return "-g does not need them, with jcmd PID Compiler.perfmap at the end; or java "
		       "-XX:+PreserveFramePointer keeps them in the code that it makes";
	if (!strcmp(name, "node"))
		return "--call-graph dwarf does not need them, and node --perf-prof "
		       "--perf-prof-unwinding-info has tables for its code";
	if (!strncmp(name, "python", 6))
		return "--call-graph dwarf does not need them, and python3 -X perf names its "
		       "functions";
	return "--call-graph dwarf does not need them, but not in generated code (java needs "
	       "-XX:+PreserveFramePointer)";
}

static void tell_holes(const struct recorder *r)
{
	struct holes_counts n = holes_counts(r->counts.holes);
	uint64_t looked;

	if (n.pages)
		diag_note(
			r->d, NULL, -1,
			"stacks of %" PRIu64 " thread%s had pages that were never touched: %" PRIu64
			" pages were read, so that copies continue after them (--no-touch turns this off)",
			n.threads, n.threads == 1 ? "" : "s", n.pages);
	if (r->counts.looks && (looked = looks_count(r->counts.looks)))
		diag_note(r->d, NULL, -1,
			  "stacks of sleeping threads were read beyond their copies %" PRIu64
			  " times (--no-touch turns this off)",
			  looked);
	if (r->counts.looks && (looked = looks_deep(r->counts.looks)))
		diag_note(r->d, NULL, -1,
			  "stacks deeper than the largest copies were looked at %" PRIu64
			  " times (--no-touch turns this off)",
			  looked);
	if (n.denied)
		diag_note(r->d, NULL, -1,
			  "stacks of %" PRIu64
			  " thread%s end in pages that were never touched, and "
			  "may not be read",
			  n.denied, n.denied == 1 ? "" : "s");
}

void rounds_tell(struct recorder *r)
{
	const struct ring_counts *c = &r->counts;
	struct buf cpus = BUF_INIT;

	lost_by_cpu(r, &cpus);
	if (c->lost)
		diag_warn(r->d, NULL, -1,
			  "%" PRIu64 " events lost%s: the ring buffers were full; what helps: %s",
			  c->lost, buf_str(&cpus), remedy(r));
	buf_release(&cpus);
	if (c->holes)
		tell_holes(r);
	if (c->throttled)
		diag_note(r->d, NULL, -1,
			  "the kernel paused sampling %" PRIu64
			  " times: a lower frequency (-F) or longer period (-c) helps, or sysctl "
			  "kernel.perf_event_max_sample_rate",
			  c->throttled);
	if (c->chains >= ADVISE_MIN && c->short_chains > c->chains / 2)
		diag_warn(r->d, NULL, -1,
			  "%" PRIu64 " %% of the user call chains end after two frames: the code "
			  "has no frame pointers; %s",
			  100 * c->short_chains / c->chains, chain_remedy(r->c));
}
