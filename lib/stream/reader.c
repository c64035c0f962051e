/* Reads event streams: records, their dictionaries, the account; and what is wrong with them. */
#include "stream/foreign.h"
#include "stream/reader_parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

#define SREADER_BLOCK (1u << 18) /* bytes of the buffer to begin with */
/*
 * What is read goes to half a page past the beginning of one. Copies of the kernel take up to four
 * times as long where the destination lies a few bytes after the source, modulo the page, and what
 * a pipe holds begins with a page: so do blocks of malloc, but for 16 bytes.
 */
#define SREADER_PAGE  4096u
#define SREADER_PLACE (SREADER_PAGE / 2)

static int sreader_make(struct sreader **out, struct src *s, const char *name, unsigned keep,
			struct diag *d)
{
	struct sreader *r = calloc(1, sizeof(*r));

	*out = r;
	if (r)
		r->name = strdup(name);
	if (r && keep & SREADER_PARTS)
		r->expand.wholes = calloc(1, sizeof(*r->expand.wholes));
	if (!r || !r->name || (keep & SREADER_PARTS && !r->expand.wholes)) {
		diag_error(d, name, -1, "cannot read: %s", pp_strerror(PP_ENOMEM));
		if (r)
			free(r->name);
		free(r);
		*out = NULL;
		src_free(s);
		return PP_ENOMEM;
	}
	r->src = s;
	r->d = d;
	r->keep = keep;
	for (int i = DICT_CHAIN; i <= DICT_STACK; i++)
		r->dicts[i].restarts = true;
	return 0;
}

int sreader_new(struct sreader **out, struct src *s, unsigned keep, struct diag *d)
{
	return sreader_make(out, s, src_name(s), keep, d);
}

int sreader_open(struct sreader **r, const char *name, unsigned keep, struct diag *d)
{
	struct src *s;
	int rc = src_open(&s, name, d);

	*r = NULL;
	return rc ? rc : sreader_new(r, s, keep, d);
}

int sreader_new_fed(struct sreader **r, const char *name, unsigned keep, struct diag *d)
{
	return sreader_make(r, NULL, name, keep, d);
}

void sreader_feed(struct sreader *r, uint8_t *bytes, size_t len)
{
	r->base += r->len;
	r->buf = bytes;
	r->pos = 0;
	r->len = len;
}

bool ps_has_heads(const uint8_t *bytes, size_t len)
{
	uint32_t size;
	uint16_t type;

	for (size_t pos = 0; len - pos >= 8; pos += size) {
		if (!memcmp(bytes + pos, PS_MAGIC, 8))
			return true;
		memcpy(&size, bytes + pos, 4);
		memcpy(&type, bytes + pos + 4, 2);
		if (type == PS_SOURCE)
			return true;
		if (size < 8 || size > len - pos)
			return false;
	}
	return false;
}

void sreader_free(struct sreader *r)
{
	if (!r)
		return;
	for (int i = 0; i < NDICTS; i++)
		dict_release(&r->dicts[i]);
	context_release(&r->context);
	expand_release(&r->expand);
	free(r->payload);
	free(r->block);
	src_free(r->src);
	free(r->name);
	free(r);
}

const struct ps_end *sreader_account(const struct sreader *r)
{
	return &r->account;
}

/*
 * Moves what is left to where more of it can be read to its end, so that there is room for n bytes
 * in all, and for a block at least. 0 or PP_ENOMEM.
 */
static int make_room(struct sreader *r, size_t n, size_t *more)
{
	size_t left = r->len - r->pos, at;
	uint8_t *block = r->block;

	*more = n - left > SREADER_BLOCK ? n - left : SREADER_BLOCK;
	if (r->room < left + *more + 2 * SREADER_PAGE) {
		r->room = left + *more + 2 * SREADER_PAGE;
		block = malloc(r->room);
		if (!block)
			return PP_ENOMEM;
	}
	/* Records begin at multiples of 8 bytes, in memory, too. */
	at = left + (SREADER_PLACE + left % 8 - ((uintptr_t)block + left)) % SREADER_PAGE;
	if (left)
		memmove(block + at - left, r->buf + r->pos, left);
	if (block != r->block)
		free(r->block);
	r->block = block;
	r->buf = block + at - left;
	r->base += r->pos;
	r->len = left;
	r->pos = 0;
	return 0;
}

static int read_more(struct sreader *r, size_t n)
{
	size_t more, got;
	int rc;

	if (!r->src)
		return r->len == r->pos ? PP_END : PP_ECUT;
	rc = make_room(r, n, &more);
	if (rc)
		return rc;
	while (r->len < n) {
		rc = src_read(r->src, r->buf + r->len, more, &got);
		if (rc)
			return rc;
		if (!got)
			return r->len ? PP_ECUT : PP_END;
		r->len += got;
		more -= got;
		diag_progress(r->d, r->name, src_tell(r->src), src_size(r->src));
	}
	return 0;
}

/* Makes at least n bytes available at pos. 0, PP_END (nothing is left), PP_ECUT (less than n). */
static inline int fill(struct sreader *r, size_t n)
{
	return r->len - r->pos >= n ? 0 : read_more(r, n);
}

/* A stream begins, and the one before has not ended: "(a; b) | c" where a was killed. */
static void end_missing(struct sreader *r)
{
	diag_error(r->d, r->name, sreader_offset(r),
		   "a stream begins before the END record of the one before: its writer died");
	r->told = true;
	if (!r->account.status)
		r->account.status = PP_EXIT_PARTIAL;
}

/* What the bytes are, when they are no event stream. */
static int say_no_stream(struct sreader *r, const uint8_t *p, size_t n)
{
	const struct ps_foreign *f = ps_foreign(p, n);

	f = f ? f : ps_foreign_text(p, n);
	if (r->any)
		return sreader_fail(r, PP_ECORRUPT,
				    "the data after the END record is not an event stream");
	if (f) {
		/* pdecode unpacks, too. */
		diag_error(r->d, r->name, -1, "is not an event stream but %s: %s", f->is,
			   f->recorded || f->packed ? "put pdecode before this filter" : f->remedy);
		return PP_EUNSUPPORTED;
	}
	diag_error(r->d, r->name, -1, "is not an event stream");
	return PP_EUNSUPPORTED;
}

static int read_header(struct sreader *r, struct ps_record *rec)
{
	struct cursor c;
	uint32_t order;
	uint16_t version;
	int rc = fill(r, PS_HEADER_SIZE);

	if (rc == PP_ECUT &&
	    memcmp(r->buf + r->pos, PS_MAGIC, r->len - r->pos < 8 ? r->len - r->pos : 8))
		return say_no_stream(r, r->buf + r->pos, r->len - r->pos);
	if (rc)
		return rc == PP_ECUT ? sreader_fail(r, rc, "the header of the stream is cut off")
				     : rc;
	if (memcmp(r->buf + r->pos, PS_MAGIC, 8) != 0)
		return say_no_stream(r, r->buf + r->pos, r->len - r->pos);
	if (r->in_stream)
		end_missing(r);
	c = cursor_make(r->buf + r->pos + 8, PS_HEADER_SIZE - 8, false);
	order = get_u32(&c);
	c.swap = r->swap = order != PS_BYTE_ORDER;
	version = get_u16(&c);
	if ((order != PS_BYTE_ORDER && order != __builtin_bswap32(PS_BYTE_ORDER)) || !version)
		return sreader_fail(r, PP_ECORRUPT, "the header of the stream is corrupt");
	if (version > PS_VERSION) {
		diag_error(r->d, r->name, sreader_offset(r),
			   "stream of version %u; this program reads up to %u", version,
			   PS_VERSION);
		return PP_EUNSUPPORTED;
	}
	for (int i = 0; i < NDICTS; i++)
		dict_release(&r->dicts[i]);
	context_release(&r->context);
	expand_clear(&r->expand);
	r->n_helpers = 0;
	rec->type = PS_HEADER;
	rec->source = 0;
	rec->raw = r->buf + r->pos;
	rec->size = PS_HEADER_SIZE;
	rec->foreign = r->swap;
	r->pos += PS_HEADER_SIZE;
	r->in_stream = r->any = true;
	r->records = r->samples = 0;
	return 0;
}

/* The END record: the account is added up, and compared with what came. */
static void read_end(struct sreader *r, const struct ps_end *e)
{
	if (e->records != r->records || e->samples != r->samples) {
		diag_warn(r->d, r->name, sreader_offset(r),
			  "%" PRIu64 " records with %" PRIu64 " samples were announced, %" PRIu64
			  " with %" PRIu64 " came",
			  e->records, e->samples, r->records, r->samples);
		r->told = true;
		r->account.status = PP_EXIT_PARTIAL;
	}
	r->account.records += e->records;
	r->account.samples += e->samples;
	r->account.lost += e->lost;
	r->account.missing += e->missing;
	if (e->status > r->account.status)
		r->account.status = e->status < PP_EXIT_FAIL ? e->status : PP_EXIT_FAIL;
	r->in_stream = false;
}

_Static_assert(sizeof(struct ps_chain) <= offsetof(struct ps_sample, stream_id) &&
		       sizeof(struct ps_stack) <= offsetof(struct ps_sample, stream_id),
	       "chains and stacks leave something in the far fields");

/* Whether chains and stacks are handed out before samples that refer to them. */
static inline bool shows_wholes(const struct sreader *r)
{
	return !r->expand.wholes && (r->expand.chains.n || r->expand.stacks.n);
}

/* A sample: what it refers to comes first. */
static inline int before_sample(struct sreader *r, struct ps_record *rec)
{
	bool shown = false;
	int rc = 0;

	if (shows_wholes(r))
		rc = expand_refs(&r->expand, rec, &shown);
	return rc || !shown ? rc : sreader_define_whole(r, rec);
}

static int decode(struct sreader *r, struct ps_record *rec)
{
	struct cursor c = cursor_make(rec->raw + 8, rec->size - 8, r->swap);
	const struct ps_typedesc *t = NULL;
	int rc;

	/* They lie where the near fields do. */
	if (sreader_define_quickly(r, rec, &rc))
		return rc;
	r->far = true;
	if (rec->type == PS_SAMPLE) {
		r->samples++;
		rc = ps_sample_decode(&c, &rec->sample);
	} else if (!(t = ps_typedesc(rec->type))) {
		return 0;
	} else {
		rc = ps_decode(t, &c, &rec->sample);
	}
	if (!rc && r->swap)
		rc = sreader_swap_inside(r, rec);
	if (rc)
		return sreader_fail(r, rc, "a record is shorter than its content");
	return rec->type < PS_SAMPLE ? sreader_define(r, rec, t) : 0;
}

/*
 * A record of `size` bytes is cut off: of packed samples, those that are whole are handed out
 * before rc, which says why, is returned.
 */
static int read_cut(struct sreader *r, struct ps_record *rec, uint32_t size, int rc)
{
	const struct ps_typedesc *t = ps_typedesc(rec->type);
	const char *end = (const char *)r->buf + r->len;
	struct ps_samples *s = &rec->samples;
	struct cursor c;

	if (rec->type != PS_SAMPLES || !r->src || rc == PP_ENOMEM)
		return rc;
	/* There was to be room for all of it. */
	memset(r->buf + r->len, 0, size - (r->len - r->pos));
	c = cursor_make(r->buf + r->pos + 8, size - 8, r->swap);
	if (ps_decode(t, &c, &rec->sample) || s->data.p >= end)
		return rc;
	if (s->data.len > (size_t)(end - s->data.p))
		s->data.len = (uint32_t)(end - s->data.p);
	r->far = true;
	r->cut = rc;
	r->pos = r->len;
	return 0;
}

static int read_record(struct sreader *r, struct ps_record *rec)
{
	struct cursor c;
	uint32_t size;
	int rc = fill(r, 8);

	if (rc)
		return rc;
	/* As a size it would be impossible, in both byte orders. */
	if (!memcmp(r->buf + r->pos, PS_MAGIC, 8))
		return read_header(r, rec);
	c = cursor_make(r->buf + r->pos, 8, r->swap);
	size = get_u32(&c);
	rec->type = get_u16(&c);
	rec->source = get_u16(&c);
	if (size < 8 || size % 8 || size > PS_RECORD_MAX)
		return sreader_fail(r, PP_ECORRUPT,
				    "a record of impossible size: the stream is corrupt");
	rc = fill(r, size);
	if (rc)
		return read_cut(r, rec, size, rc);
	rec->raw = r->buf + r->pos;
	rec->size = size;
	rec->foreign = r->swap;
	rc = decode(r, rec);
	if (rc)
		return rc;
	if (rec->type == PS_END)
		read_end(r, &rec->end);
	else
		r->records++;
	r->pos += size;
	return rec->type == PS_SAMPLE ? before_sample(r, rec) : 0;
}

/* A sample that was unpacked becomes the record. */
static inline void set_packed(struct sreader *r)
{
	struct ps_record *rec = &r->rec;

	if (r->far)
		ps_sample_clear_far(&rec->sample);
	r->far = false;
	rec->type = PS_SAMPLE;
	rec->source = r->expand.source;
	rec->raw = NULL;
	rec->size = 0;
	rec->foreign = false;
	rec->packed = r->expand.samples->last;
	r->samples++;
}

/* The next of the packed samples. */
static int next_packed(struct sreader *r)
{
	struct ps_record *rec = &r->rec;
	int rc = sample_unpack(r->expand.samples, &rec->sample);

	if (rc && r->cut)
		return r->cut;
	if (rc)
		return sreader_fail(r, rc, "packed samples are damaged: the stream is corrupt");
	set_packed(r);
	if (r->swap) {
		rec->packed.p = NULL;
		rc = sreader_swap_packed(r, &rec->sample);
	}
	return rc ? rc : before_sample(r, rec);
}

/* The next record that is to be handed out. */
static int next_shown(struct sreader *r)
{
	struct ps_record *rec = &r->rec;
	bool shown;
	int rc;

	for (;;) {
		if (r->expand.wholes && r->expand.wholes->failed)
			return PP_ENOMEM;
		if (r->expand.waits) {
			rc = expand_held(&r->expand, rec);
			r->far = true;
			return rc || rec->type == PS_SAMPLE ? rc : sreader_define_whole(r, rec);
		}
		if (expand_has_samples(&r->expand))
			return next_packed(r);
		if (r->cut)
			return r->cut;
		rc = read_record(r, rec);
		if (rc ||
		    (rec->type != PS_CHAINS && rec->type != PS_STACKS && rec->type != PS_SAMPLES))
			return rc;
		if (rec->type == PS_SAMPLES) {
			rc = expand_samples(&r->expand, rec);
			if (rc == PP_ECORRUPT)
				return sreader_fail(
					r, rc,
					"packed samples have no marks: the stream is corrupt");
		} else {
			rc = sreader_define_parts(r, rec, &shown);
			if (!rc && shown)
				return 0;
		}
		if (rc)
			return rc;
	}
}

/*
 * A sample that is whole in the buffer, in host order: nearly all that is read. False: it is not,
 * and nothing was done but to r->rec, which the long way then fills.
 */
static inline bool next_sample(struct sreader *r)
{
	const uint8_t *p;
	size_t left = r->len - r->pos;
	uint16_t type, source;
	struct ps_record *rec = &r->rec;
	uint32_t size;

	if (left < PS_SAMPLE_FIXED || r->swap || !r->in_stream || r->expand.waits ||
	    expand_has_samples(&r->expand) || shows_wholes(r))
		return false;
	p = r->buf + r->pos;
	memcpy(&size, p, 4);
	memcpy(&type, p + 4, 2);
	memcpy(&source, p + 6, 2);
	if (type != PS_SAMPLE || size < PS_SAMPLE_FIXED || size > left || size % 8 ||
	    size > PS_RECORD_MAX)
		return false;
	if (!ps_sample_near(p + 8, p + size, &rec->sample) ||
	    rec->sample.fields & ~(uint64_t)PS_SAMPLE_NEAR)
		return false;
	if (r->far)
		ps_sample_clear_far(&rec->sample);
	r->far = false;
	rec->type = PS_SAMPLE;
	rec->source = source;
	rec->raw = p;
	rec->size = size;
	rec->foreign = false;
	r->samples++;
	r->records++;
	r->pos += size;
	return true;
}

/* The same for a packed one before which no chain or stack is to be handed out. */
static inline bool next_quickly(struct sreader *r)
{
	if (!expand_has_samples(&r->expand) || r->swap || !r->in_stream || r->expand.waits ||
	    shows_wholes(r) || sample_unpack(r->expand.samples, &r->rec.sample))
		return false;
	set_packed(r);
	return true;
}

/* Nothing came, and what should have sent it says that it could not. */
static bool got_nothing(const struct sreader *r)
{
	return r->account.status == PP_EXIT_FAIL && !r->account.samples;
}

/* The end of all input: what upstream reported is passed on, unless there was more to report. */
static void tell_status(struct sreader *r)
{
	if (got_nothing(r))
		diag_error(r->d, r->name, -1,
			   "no data arrived: a filter before this one could not do its work");
	else if (r->account.status && !r->told)
		diag_say(r->d, r->name, "the result is partial: a filter before this one says why");
}

/* Not inline: its registers need not be saved for samples. */
__attribute__((noinline)) static int next_any(struct sreader *r)
{
	int rc;

	if (r->err)
		return r->err;
	if (r->in_stream)
		rc = next_shown(r);
	else
		rc = read_header(r, &r->rec);
	if (!rc || (!r->src && rc == PP_END))
		return rc;
	if (pp_is_io(rc))
		diag_error(r->d, r->name, sreader_offset(r), "cannot read: %s", pp_strerror(rc));
	else if (rc == PP_ENOMEM)
		diag_error(r->d, r->name, sreader_offset(r), "out of memory");
	else if (rc == PP_END && !r->any)
		rc = sreader_fail(r, PP_EUNSUPPORTED,
				  "no input: the writer of the stream wrote nothing");
	else if ((rc == PP_END || rc == PP_ECUT) && src_stopped(r->src))
		rc = PP_END;
	else if (r->in_stream && (rc == PP_END || rc == PP_ECUT))
		rc = sreader_fail(
			r, PP_ECUT,
			"the stream ends without its END record: its writer died, or it was "
			"cut off");
	else if (rc == PP_END)
		tell_status(r);
	r->in_stream = false;
	return r->err = rc;
}

int sreader_next(struct sreader *r, const struct ps_record **rec)
{
	int rc;

	*rec = &r->rec;
	do
		rc = next_quickly(r) || next_sample(r) ? 0 : next_any(r);
	while (r->n_helpers && !rc && r->rec.type == PS_SAMPLE && !(r->keep & SREADER_HELPERS) &&
	       sreader_helps(r, &r->rec.sample));
	return rc;
}

int sreader_status(const struct sreader *r, int rc)
{
	switch (rc) {
	case 0:
	case PP_END:
	case PP_ECUT:
	case PP_ECORRUPT: break;
	default: return PP_EXIT_FAIL;
	}
	if (rc == PP_END && got_nothing(r))
		return PP_EXIT_FAIL;
	if (rc == PP_ECUT || rc == PP_ECORRUPT || r->account.status)
		return PP_EXIT_PARTIAL;
	return PP_EXIT_OK;
}
