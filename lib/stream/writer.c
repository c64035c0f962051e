/* Writes event streams: records, copies of records, the account at the end. */
#include "stream/codec.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

void swriter_init(struct swriter *w, struct out *out)
{
	*w = (struct swriter){.out = out, .err = out->err};
}

static uint8_t *put_record_header(uint8_t *p, size_t size, uint32_t type, uint32_t source)
{
	uint32_t size32 = (uint32_t)size;
	uint16_t t = (uint16_t)type, s = (uint16_t)source;

	memcpy(p, &size32, 4);
	memcpy(p + 4, &t, 2);
	memcpy(p + 6, &s, 2);
	return p + 8;
}

int swriter_header(struct swriter *w)
{
	uint8_t h[PS_HEADER_SIZE] = PS_MAGIC;
	uint32_t order = PS_BYTE_ORDER;
	uint16_t version = PS_VERSION;

	memcpy(h + 8, &order, 4);
	memcpy(h + 12, &version, 2);
	w->earlier += w->samples;
	w->records = w->samples = 0;
	if (!w->err)
		w->err = out_add(w->out, h, sizeof(h));
	return w->err;
}

static void count(struct swriter *w, uint32_t type)
{
	w->records++;
	w->types[type <= PS_END ? type : 0]++;
}

/* Room for a record of `size` bytes, 0 being a size beyond the limit. */
static inline uint8_t *room(struct swriter *w, size_t size)
{
	uint8_t *p;

	if (w->err)
		return NULL;
	if (!size) {
		w->err = PP_ELIMIT;
		return NULL;
	}
	p = out_room(w->out, size);
	if (!p)
		w->err = w->out->err;
	return p;
}

int swriter_put(struct swriter *w, enum ps_type type, uint32_t source, const void *fields)
{
	const struct ps_typedesc *t = ps_typedesc(type);
	size_t size = ps_encoded_size(t, fields);
	uint8_t *p = room(w, size ? size + 8 : 0);

	if (!p)
		return w->err;
	ps_encode(t, fields, put_record_header(p, size + 8, type, source));
	w->out->len += size + 8;
	count(w, type);
	return 0;
}

/* One whose fields are all near ones. */
static inline int near_sample(struct swriter *w, uint32_t source, const struct ps_sample *s,
			      uint64_t fields)
{
	size_t size = ps_sample_near_size(s, fields);
	uint8_t *p = room(w, size <= PS_RECORD_MAX ? size : 0);

	if (!p)
		return w->err;
	ps_sample_put_near(s, fields, put_record_header(p, size, PS_SAMPLE, source));
	w->out->len += size;
	count(w, PS_SAMPLE);
	w->samples++;
	return 0;
}

/* Not inline: near ones, which is what most are, need not save registers for it. */
__attribute__((noinline)) static int far_sample(struct swriter *w, uint32_t source,
						const struct ps_sample *s)
{
	size_t size = ps_sample_size(s);
	uint8_t *p = room(w, size);

	if (!p)
		return w->err;
	ps_sample_encode(s, put_record_header(p, size, PS_SAMPLE, source));
	w->out->len += size;
	count(w, PS_SAMPLE);
	w->samples++;
	return 0;
}

int swriter_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	if (s->fields == PS_SAMPLE_EVENT)
		return near_sample(w, source, s, PS_SAMPLE_EVENT);
	if (s->fields & ~(uint64_t)PS_SAMPLE_NEAR)
		return far_sample(w, source, s);
	return near_sample(w, source, s, s->fields);
}

int swriter_copy(struct swriter *w, const struct ps_record *rec)
{
	uint8_t *p;

	if (rec->type == PS_HEADER || rec->type == PS_END)
		return PP_EUSAGE;
	if (rec->foreign && !ps_typedesc(rec->type))
		return PP_EUNSUPPORTED;
	if (rec->foreign && rec->type == PS_SAMPLE)
		return swriter_sample(w, rec->source, &rec->sample);
	if (rec->foreign)
		return swriter_put(w, (enum ps_type)rec->type, rec->source, &rec->sample);
	p = room(w, rec->size);
	if (!p)
		return w->err;
	memcpy(p, rec->raw, rec->size);
	w->out->len += rec->size;
	count(w, rec->type);
	w->samples += rec->type == PS_SAMPLE;
	return 0;
}

int swriter_copy_marked(struct swriter *w, const struct ps_record *rec, enum ps_mark mark)
{
	uint32_t flags = (rec->sample.flags & ~(uint32_t)PS_MARK_MASK) | mark;
	struct ps_sample s;
	int rc;

	if (rec->foreign) {
		s = rec->sample;
		s.flags = flags;
		return swriter_sample(w, rec->source, &s);
	}
	rc = swriter_copy(w, rec);
	if (!rc)
		memcpy(w->out->data + w->out->len - rec->size + PS_SAMPLE_FLAGS_AT, &flags, 4);
	return rc;
}

bool swriter_copy_stack(struct swriter *w, const struct ps_record *rec, uint32_t stack, int *rc)
{
	const uint64_t before = PS_HAS(ip) | PS_HAS(period) | PS_HAS(chain);
	uint64_t fields;
	uint8_t *p;
	size_t at;

	if (rec->foreign || rec->size < PS_SAMPLE_FIXED || rec->size > PS_RECORD_MAX - 8)
		return false;
	/* As they are in the record: what a later version has appended goes on, too. */
	memcpy(&fields, rec->raw + PS_SAMPLE_FIELDS_AT, 8);
	at = PS_SAMPLE_FIXED + 8 * (size_t)__builtin_popcountll(fields & before);
	if (fields & PS_HAS(stack) || at > rec->size)
		return false;
	fields |= PS_HAS(stack);
	p = room(w, rec->size + 8);
	*rc = w->err;
	if (!p)
		return true;
	put_record_header(p, rec->size + 8, PS_SAMPLE, rec->source);
	memcpy(p + 8, rec->raw + 8, at - 8);
	memcpy(p + PS_SAMPLE_FIELDS_AT, &fields, 8);
	memcpy(p + at, &(uint64_t){0}, 8);
	memcpy(p + at, &stack, 4);
	memcpy(p + at + 8, rec->raw + at, rec->size - at);
	w->out->len += rec->size + 8;
	count(w, PS_SAMPLE);
	w->samples++;
	return true;
}

int swriter_end(struct swriter *w, struct ps_end *end)
{
	end->records = w->records;
	end->samples = w->samples;
	return swriter_put(w, PS_END, 0, end);
}

void swriter_add_types(const struct swriter *w, struct buf *b)
{
	const char *comma = "";

	for (uint32_t type = 0; type < PS_END; type++) {
		const struct ps_typedesc *t = ps_typedesc(type);

		if (!w->types[type])
			continue;
		buf_adds(b, comma);
		buf_add_u64(b, w->types[type], 0, ' ');
		buf_addf(b, " %s", t ? t->name : "unknown");
		comma = ", ";
	}
}

int swriter_provenance(struct swriter *w, const char *name, int argc, char **argv)
{
	struct ps_provenance p = {.name = ps_str(name, strlen(name))};
	struct buf args = BUF_INIT;

	for (int i = 1; i < argc; i++)
		buf_add(&args, argv[i], strlen(argv[i]) + 1);
	p.version = ps_str(PP_VERSION, strlen(PP_VERSION));
	p.args = ps_str(buf_str(&args), args.len);
	if (args.err)
		w->err = args.err;
	else
		swriter_put(w, PS_PROVENANCE, 0, &p);
	buf_release(&args);
	return w->err;
}
