/*
 * Perfetto's track events: intervals of plat as slices, counters, and what is reported at a place
 * in time.
 */
#include "conv/perfetto.h"

#include "base/array.h"
#include "base/err.h"

/* Fields of TrackDescriptor, ThreadDescriptor, CounterDescriptor. */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2 };
enum { COUNTER_UNIT_NAME = 6 };
/* Of TrackEvent, and its types. */
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_DOUBLE = 44 };
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
/* Of DebugAnnotation. */
enum { ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };

#define LANES_MAX  256 /* tracks for intervals of one kind and thread that overlap */
#define COUNTS_MAX (1u << 20)

/* What a track is of. The numbers of all of one kind differ from those of others by `what`. */
struct track_key {
	uint32_t what; /* THREAD, SLICES, COUNTS, REPORTS */
	uint32_t event, pid, tid, lane;
};
enum { THREAD, SLICES, COUNTS, REPORTS };

static int packet(struct perfetto *w, uint64_t time)
{
	pb_num_always(&w->packet, PACKET_TIME, time);
	pb_num(&w->packet, PACKET_SEQUENCE, TRACKS);
	pb_num(&w->packet, PACKET_SEQUENCE_FLAGS,
	       w->tracks_begun ? SEQUENCE_GOES_ON : SEQUENCE_BEGINS);
	w->tracks_begun = true;
	return perfetto_packet(w);
}

/* The number of a track; *fresh: it has to be described. */
static int track_of(struct perfetto *w, const struct track_key *key, uint32_t *uuid, bool *fresh)
{
	return intern_add(&w->tracks, key, sizeof(*key), uuid, fresh);
}

static int describe(struct perfetto *w, uint32_t uuid, uint32_t parent, struct ps_str name)
{
	pb_num(&w->message, TRACK_UUID, uuid);
	pb_num(&w->message, TRACK_PARENT, parent);
	if (name.len)
		pb_bytes(&w->message, TRACK_NAME, name.p, name.len);
	pb_take(&w->packet, PACKET_TRACK, &w->message);
	return packet(w, w->now);
}

/* The track of a thread, to which those of its intervals belong; 0: it is not known. */
static int thread_track(struct perfetto *w, uint32_t pid, uint32_t tid, uint32_t *uuid)
{
	struct track_key key = {.what = THREAD, .pid = pid, .tid = tid};
	bool fresh;
	int rc;

	*uuid = 0;
	if (pid == PS_NONE || tid == PS_NONE)
		return 0;
	rc = track_of(w, &key, uuid, &fresh);
	if (rc || !fresh)
		return rc;
	pb_num(&w->inner, THREAD_PID, pid);
	pb_num(&w->inner, THREAD_TID, tid);
	pb_take(&w->message, TRACK_THREAD, &w->inner);
	return describe(w, *uuid, 0, ps_str("", 0));
}
/* The first lane of a kind and thread that is free from then on. */
static int lane_of(struct perfetto *w, const struct ps_sample *s, uint32_t event, uint32_t *uuid)
{
	struct prof *p = w->c->p;
	struct track_key key = {SLICES, event, s->pid, s->tid, 0};
	uint64_t *ends;
	uint32_t parent;
	bool fresh;
	int rc;

	for (;; key.lane++) {
		rc = track_of(w, &key, uuid, &fresh);
		if (rc)
			return rc;
		ends = array_widen(w->ends, &w->nends, *uuid, 256, sizeof(*ends));
		if (!ends)
			return PP_ENOMEM;
		w->ends = ends;
		if (fresh || ends[*uuid] <= s->time || key.lane == LANES_MAX)
			break;
	}
	ends[*uuid] = s->end_time;
	if (!fresh)
		return 0;
	rc = thread_track(w, s->pid, s->tid, &parent);
	return rc ? rc : describe(w, *uuid, parent, prof_str(p, event));
}

static void annotate(struct perfetto *w, const char *name, struct ps_str text)
{
	pb_bytes(&w->inner, ANNOTATION_NAME, name, strlen(name));
	pb_bytes(&w->inner, ANNOTATION_STRING, text.p, text.len);
	pb_take(&w->message, EVENT_ANNOTATION, &w->inner);
}

/* A text of the stream as one of the profile: as UTF-8. */
static int text_of(struct perfetto *w, struct ps_str s, struct ps_str *to)
{
	uint32_t id;
	int rc = prof_text(w->c->p, s.p, s.len, &id);

	*to = rc ? ps_str("", 0) : prof_str(w->c->p, id);
	return rc;
}

int perfetto_slice(struct perfetto *w, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	const struct ps_event *e = sreader_event(r, s->event);
	struct ps_str key = {0}, waker = {0};
	uint32_t event, uuid;
	size_t n = 0;
	const char *comm =
		ps_sample_has(s, other_comm) ? sreader_string(r, s->other_comm, &n) : NULL;
	int rc = e ? prof_text(w->c->p, e->name.p, e->name.len, &event) : PP_ECORRUPT;

	if (!rc && ps_sample_has(s, key_text))
		rc = text_of(w, s->key_text, &key);
	if (!rc && comm)
		rc = text_of(w, ps_str(comm, n), &waker);
	if (!rc)
		rc = lane_of(w, s, event, &uuid);
	if (rc)
		return rc;
	pb_num(&w->message, EVENT_TYPE, SLICE_BEGIN);
	pb_num(&w->message, EVENT_TRACK, uuid);
	if (!key.len)
		key = prof_str(w->c->p, event);
	pb_bytes(&w->message, EVENT_NAME, key.p, key.len);
	if (waker.len)
		annotate(w, "waker", waker);
	pb_take(&w->packet, PACKET_TRACK_EVENT, &w->message);
	rc = packet(w, s->time);
	if (rc)
		return rc;
	pb_num(&w->message, EVENT_TYPE, SLICE_END);
	pb_num(&w->message, EVENT_TRACK, uuid);
	pb_take(&w->packet, PACKET_TRACK_EVENT, &w->message);
	return packet(w, s->end_time > s->time ? s->end_time : s->time);
}

/* ---- counters ---- */

int perfetto_counter(struct perfetto *w, const struct ps_counter *c)
{
	struct perfetto_scale *v = array_widen(w->scales, &w->nscales, c->event, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	w->scales = v;
	memcpy(&v[c->event].factor, &c->scale, sizeof(c->scale));
	return prof_text(w->c->p, c->unit.p, c->unit.len, &v[c->event].unit);
}

int perfetto_count(struct perfetto *w, const struct ps_count *c)
{
	struct ps_count *v = array_widen(w->counts, &w->counts_cap, w->ncounts, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	w->counts = v;
	if (w->ncounts >= COUNTS_MAX)
		return PP_ELIMIT;
	v[w->ncounts++] = *c;
	return 0;
}

static int describe_counter(struct perfetto *w, const struct ps_event *e, const struct ps_count *c,
			    uint32_t uuid, const struct perfetto_scale *scale)
{
	struct ps_str unit = prof_str(w->c->p, scale ? scale->unit : 0), name;
	uint32_t parent;
	int rc = thread_track(w, c->pid, c->tid, &parent);

	buf_reset(&w->path);
	buf_add(&w->path, e->name.p, e->name.len);
	if (c->cpu != PS_NONE)
		buf_addf(&w->path, " CPU %u", c->cpu);
	if (!rc)
		rc = w->path.err ? w->path.err
				 : text_of(w, ps_str(buf_str(&w->path), w->path.len), &name);
	if (rc)
		return rc;
	if (unit.len)
		pb_bytes(&w->inner, COUNTER_UNIT_NAME, unit.p, unit.len);
	pb_take(&w->message, TRACK_COUNTER, &w->inner);
	return describe(w, uuid, parent, name);
}

static int put_count(struct perfetto *w, const struct sreader *r, const struct ps_count *c,
		     uint64_t time)
{
	const struct perfetto_scale *scale =
		c->event < w->nscales && w->scales[c->event].factor != 0 ? &w->scales[c->event]
									 : NULL;
	struct track_key key = {COUNTS, c->event, c->pid, c->tid, c->cpu};
	const struct ps_event *e = sreader_event(r, c->event);
	double value = (double)c->value * (scale ? scale->factor : 1);
	uint64_t bits;
	uint32_t uuid;
	bool fresh;
	int rc = e ? track_of(w, &key, &uuid, &fresh) : PP_ECORRUPT;

	if (!rc && fresh)
		rc = describe_counter(w, e, c, uuid, scale);
	if (rc)
		return rc;
	memcpy(&bits, &value, sizeof(bits));
	pb_num(&w->message, EVENT_TYPE, COUNTER);
	pb_num(&w->message, EVENT_TRACK, uuid);
	pb_fixed64(&w->message, EVENT_DOUBLE, bits);
	pb_take(&w->packet, PACKET_TRACK_EVENT, &w->message);
	return packet(w, time);
}

int perfetto_round(struct perfetto *w, const struct sreader *r, uint64_t elapsed)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->ncounts && !rc; i++) {
		const struct ps_count *c = &w->counts[i];

		/* The last ones may have no time at all, but how long they counted. */
		rc = put_count(w, r, c, c->time ? c->time : elapsed ? elapsed : c->enabled);
	}
	w->ncounts = 0;
	return rc;
}

/* ---- reports ---- */

int perfetto_instant(struct perfetto *w, uint64_t time, const char *text)
{
	static const char name[] = "perfpipe";
	struct track_key key = {.what = REPORTS};
	uint32_t uuid;
	bool fresh;
	int rc = track_of(w, &key, &uuid, &fresh);

	if (!rc && fresh)
		rc = describe(w, uuid, 0, ps_str(name, strlen(name)));
	if (rc)
		return rc;
	pb_num(&w->message, EVENT_TYPE, INSTANT);
	pb_num(&w->message, EVENT_TRACK, uuid);
	pb_bytes(&w->message, EVENT_NAME, text, strlen(text));
	pb_take(&w->packet, PACKET_TRACK_EVENT, &w->message);
	return packet(w, time);
}
