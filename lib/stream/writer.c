/* Writes event streams: records, copies of records, the account at the end. */
#include "stream/packer.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

#include <stdlib.h>

#define PACKED_DEFS (1u << 16) /* bytes of parts of chains that are held back */

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
	uint16_t version = w->pack ? PS_VERSION : PS_PLAIN;

	swriter_flush(w);
	if (w->pack)
		packer_clear(w->pack);
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

static int put_plain(struct swriter *w, enum ps_type type, uint32_t source, const void *fields)
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

/* ---- packed streams ---- */

int swriter_pack(struct swriter *w, bool payloads)
{
	w->pack = calloc(1, sizeof(*w->pack));
	if (!w->pack)
		return PP_ENOMEM;
	w->pack->payloads = payloads;
	return 0;
}

/* Whether a sample is to be packed. */
static inline bool packs(const struct swriter *w, const struct ps_sample *s)
{
	return sample_packs(s) && (w->pack->payloads || !ps_sample_has(s, payload));
}

void swriter_release(struct swriter *w)
{
	packer_free(w->pack);
	w->pack = NULL;
}

/* The parts of chains or stacks that are not yet in the stream. */
static void put_parts(struct swriter *w, enum ps_type type, struct chunker *k)
{
	struct ps_chains rec = {
		.id = k->first, .count = k->count, .data = ps_str(buf_str(&k->defs), k->defs.len)};

	put_plain(w, type, w->pack->source, &rec);
	k->count = 0;
	buf_reset(&k->defs);
}

int swriter_flush(struct swriter *w)
{
	struct packer *k = w->pack;
	struct ps_samples rec;

	if (!k)
		return w->err;
	if (k->chains.count)
		put_parts(w, PS_CHAINS, &k->chains);
	if (k->stacks.count)
		put_parts(w, PS_STACKS, &k->stacks);
	if (k->samples.count) {
		rec = (struct ps_samples){
			.count = k->samples.count,
			.data = ps_str((const char *)k->samples.data, k->samples.len)};
		if (k->pass.on && k->pass.marked)
			rec.marks = ps_str((const char *)k->pass.marks, (rec.count + 3) / 4);
		put_plain(w, PS_SAMPLES, k->source, &rec);
		sample_pack_reset(&k->samples);
	}
	k->pass.on = false;
	return w->err;
}

/* Something of a source is to be held back. */
static int hold(struct swriter *w, uint32_t source)
{
	struct packer *k = w->pack;
	int rc = 0;

	if (k->source != source || k->chains.defs.len + k->stacks.defs.len > PACKED_DEFS)
		rc = swriter_flush(w);
	k->source = source;
	return rc;
}

/* A chain or a stack: its new parts are held back. */
static int put_chain(struct swriter *w, enum ps_type type, uint32_t source, const void *fields)
{
	struct packer *k = w->pack;
	int rc = hold(w, source);

	if (!rc && packer_restarts(type, ((const struct ps_chain *)fields)->id))
		rc = swriter_flush(w);
	if (!rc)
		rc = type == PS_CHAIN ? packer_chain(k, fields) : packer_stack(k, fields);
	if (rc && !w->err)
		w->err = rc;
	w->types[type]++;
	return w->err;
}

/* A sample, held back; its chains and stacks are already those of the output. */
static int pack_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	struct packer *k = w->pack;

	if (k->pass.on)
		swriter_flush(w);
	if (hold(w, source))
		return w->err;
	if (!sample_pack(&k->samples, s)) {
		if (swriter_flush(w))
			return w->err;
		sample_pack(&k->samples, s);
	}
	w->types[PS_SAMPLE]++;
	w->samples++;
	return 0;
}

/* Makes room for a record in a packed stream, in the midst of what is held back. */
static int make_way(struct swriter *w, uint32_t type, uint32_t id)
{
	if (type == PS_CHAINS || type == PS_STACKS) {
		if (packer_restarts(type, id))
			swriter_flush(w);
		packer_pass(w->pack, type, id);
	} else if (!packer_overtakes(w->pack, type, id)) {
		swriter_flush(w);
	}
	return w->err;
}

int swriter_put(struct swriter *w, enum ps_type type, uint32_t source, const void *fields)
{
	if (w->pack && (type == PS_CHAIN || type == PS_STACK))
		return put_chain(w, type, source, fields);
	/* All records that may overtake begin with an id. */
	if (w->pack && make_way(w, type, ((const struct ps_string *)fields)->id))
		return w->err;
	return put_plain(w, type, source, fields);
}

/* ---- chains and stacks that get the ids of the output ---- */

int swriter_restart(struct swriter *w, enum ps_type type)
{
	swriter_flush(w);
	packer_pass(w->pack, type, 1);
	return w->err;
}

uint32_t swriter_parts(const struct swriter *w, enum ps_type type)
{
	return type == PS_CHAINS ? w->pack->chains.n : w->pack->stacks.n;
}

/* Something of a source is to be held back that gets an id of the output. */
static int hold_own(struct swriter *w, enum ps_type type, uint32_t source)
{
	if (!(type == PS_CHAINS ? w->pack->chains_pass : w->pack->stacks_pass))
		swriter_restart(w, type);
	return hold(w, source);
}

int swriter_chain(struct swriter *w, uint32_t source, const struct ps_chain *c, uint32_t *id)
{
	uint32_t before = w->pack->chains.n;

	if (!hold_own(w, PS_CHAINS, source))
		w->err = chunker_chain(&w->pack->chains, c, id);
	w->types[PS_CHAIN] += w->pack->chains.n != before;
	return w->err;
}

int swriter_chain_soon(struct swriter *w, uint32_t place, const struct ps_chain *c)
{
	return chunker_soon(&w->pack->chains, place, c);
}

int swriter_chain_now(struct swriter *w, uint32_t source, uint32_t place, uint32_t *id)
{
	uint32_t before = w->pack->chains.n;

	if (!hold_own(w, PS_CHAINS, source))
		w->err = chunker_now(&w->pack->chains, place, id);
	w->types[PS_CHAIN] += w->pack->chains.n != before;
	return w->err;
}

int swriter_stack(struct swriter *w, uint32_t source, const struct ps_stack *s, uint32_t *id)
{
	uint32_t before = w->pack->stacks.n;

	if (!hold_own(w, PS_STACKS, source))
		w->err = chunker_stack(&w->pack->stacks, s, id);
	w->types[PS_STACK] += w->pack->stacks.n != before;
	return w->err;
}

int swriter_stack_part(struct swriter *w, uint32_t source, uint32_t parent, const uint32_t *frames,
		       uint32_t n, uint32_t flags, uint32_t *id)
{
	uint32_t before = w->pack->stacks.n;

	if (!hold_own(w, PS_STACKS, source))
		w->err = chunker_stack_part(&w->pack->stacks, parent, frames, n, flags, id);
	w->types[PS_STACK] += w->pack->stacks.n - before;
	return w->err;
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

/* One whose copy of the stack lies in a file that is mapped. */
static int lent_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	size_t size = ps_sample_size(s), len = s->user_stack.len;
	uint8_t *p = room(w, size ? size - len : 0), *end;

	if (!p)
		return w->err;
	end = ps_sample_before_stack(s, put_record_header(p, size, PS_SAMPLE, source));
	w->out->len += (size_t)(end - p);
	w->err = out_lend(w->out, s->user_stack.p, len);
	p = room(w, size - len);
	if (!p)
		return w->err;
	w->out->len += (size_t)(ps_sample_after_stack(s, p) - p);
	count(w, PS_SAMPLE);
	w->samples++;
	return 0;
}

/* Not inline: near ones, which is what most are, need not save registers for it. */
__attribute__((noinline)) static int far_sample(struct swriter *w, uint32_t source,
						const struct ps_sample *s)
{
	size_t size;
	uint8_t *p;

	if (ps_sample_has(s, user_stack) && out_lasts(w->out, s->user_stack.p, s->user_stack.len))
		return lent_sample(w, source, s);
	size = ps_sample_size(s);
	p = room(w, size);
	if (!p)
		return w->err;
	ps_sample_encode(s, put_record_header(p, size, PS_SAMPLE, source));
	w->out->len += size;
	count(w, PS_SAMPLE);
	w->samples++;
	return 0;
}

/* One in the record of its own. */
static int put_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	if (s->fields == PS_SAMPLE_EVENT)
		return near_sample(w, source, s, PS_SAMPLE_EVENT);
	if (s->fields & ~(uint64_t)PS_SAMPLE_NEAR)
		return far_sample(w, source, s);
	return near_sample(w, source, s, s->fields);
}

/* In a packed stream; its chains and stacks are already those of the output. */
static inline int named_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	if (packs(w, s))
		return pack_sample(w, source, s);
	swriter_flush(w);
	return put_sample(w, source, s);
}

/* With the names that its chains and stacks have in the output. */
__attribute__((noinline)) static int translated_sample(struct swriter *w, uint32_t source,
						       const struct ps_sample *s)
{
	struct ps_sample own;

	if (s->fields & ~(uint64_t)PS_SAMPLE_NEAR)
		own = *s;
	else
		memcpy(&own, s, offsetof(struct ps_sample, stream_id));
	packer_translate(w->pack, &own);
	return named_sample(w, source, &own);
}

static int packed_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	if (s->fields & ~(uint64_t)PS_SAMPLE_NEAR || !packer_keeps_names(w->pack, s))
		return translated_sample(w, source, s);
	return named_sample(w, source, s);
}

int swriter_sample(struct swriter *w, uint32_t source, const struct ps_sample *s)
{
	return w->pack ? packed_sample(w, source, s) : put_sample(w, source, s);
}

/* A sample that came packed, handed on as it lay in its record. False: it has to be packed anew. */
static bool pass_sample(struct swriter *w, const struct ps_record *rec, enum ps_mark mark)
{
	struct packer *k = w->pack;

	if (!k || rec->raw || !rec->packed.p || w->err)
		return false;
	if ((uint32_t)rec->packed.at == 0) {
		if (swriter_flush(w))
			return true;
		k->source = rec->source;
		k->pass.on = true;
		k->pass.marked = false;
		k->pass.next = rec->packed.at;
	}
	if (!packer_pass_sample(k, rec, mark))
		return false;
	w->types[PS_SAMPLE]++;
	w->samples++;
	return true;
}

/* The same for one that is copied. */
static int before_copy(struct swriter *w, const struct ps_record *rec)
{
	uint32_t id = 0;

	if (!w->pack)
		return 0;
	if (rec->type == PS_SAMPLE)
		return swriter_flush(w);
	if (rec->type < PS_SAMPLE && rec->size >= 12)
		memcpy(&id, rec->raw + 8, 4);
	return make_way(w, rec->type, id);
}

/* A record as it lies in memory, in host order. */
static int copy_raw(struct swriter *w, const struct ps_record *rec)
{
	uint8_t *p;

	if (before_copy(w, rec))
		return w->err;
	p = room(w, rec->size);
	if (!p)
		return w->err;
	memcpy(p, rec->raw, rec->size);
	if (w->pack && rec->type == PS_SAMPLE)
		packer_patch(w->pack, &rec->sample, p);
	w->out->len += rec->size;
	count(w, rec->type);
	w->samples += rec->type == PS_SAMPLE;
	return 0;
}

/* Whether a sample is nothing but what this version knows, so that it can be written anew. */
static bool is_known(const struct swriter *w, const struct ps_record *rec)
{
	return !rec->raw || rec->foreign ||
	       (packs(w, &rec->sample) &&
		rec->size == ps_sample_near_size(&rec->sample, rec->sample.fields));
}

/* A chain or a stack that came as a record of its own, for a packed stream. */
static int copy_chain(struct swriter *w, const struct ps_record *rec)
{
	struct ps_chain chain;
	struct ps_stack stack;

	if (rec->type == PS_CHAIN && ps_chain_whole(rec->raw, rec->size, &chain))
		return swriter_put(w, PS_CHAIN, rec->source, &chain);
	if (rec->type == PS_STACK && ps_stack_whole(rec->raw, rec->size, &stack))
		return swriter_put(w, PS_STACK, rec->source, &stack);
	return swriter_put(w, (enum ps_type)rec->type, rec->source, &rec->sample);
}

int swriter_copy(struct swriter *w, const struct ps_record *rec)
{
	if (rec->type == PS_HEADER || rec->type == PS_END)
		return PP_EUSAGE;
	if (rec->foreign && !ps_typedesc(rec->type))
		return PP_EUNSUPPORTED;
	if (rec->type == PS_SAMPLE)
		return swriter_copy_marked(w, rec,
					   (enum ps_mark)(rec->sample.flags & PS_MARK_MASK));
	if (rec->foreign || !rec->raw)
		return swriter_put(w, (enum ps_type)rec->type, rec->source, &rec->sample);
	if (w->pack && (rec->type == PS_CHAIN || rec->type == PS_STACK))
		return copy_chain(w, rec);
	return copy_raw(w, rec);
}

int swriter_copy_marked(struct swriter *w, const struct ps_record *rec, enum ps_mark mark)
{
	uint32_t flags = (rec->sample.flags & ~(uint32_t)PS_MARK_MASK) | mark;
	struct ps_sample s;
	int rc;

	if (pass_sample(w, rec, mark))
		return w->err;
	if (!rec->raw || rec->foreign || (w->pack && is_known(w, rec))) {
		if (rec->sample.flags == flags)
			return swriter_sample(w, rec->source, &rec->sample);
		s = rec->sample;
		s.flags = flags;
		return swriter_sample(w, rec->source, &s);
	}
	rc = copy_raw(w, rec);
	if (!rc)
		memcpy(w->out->data + w->out->len - rec->size + PS_SAMPLE_FLAGS_AT, &flags, 4);
	return rc;
}

/* A sample that came packed, or is to be. */
static bool pack_stack(struct swriter *w, const struct ps_record *rec, uint32_t stack, int *rc)
{
	struct ps_sample s;

	if (!sample_packs(&rec->sample) || ps_sample_has(&rec->sample, stack))
		return false;
	memcpy(&s, &rec->sample, offsetof(struct ps_sample, stream_id));
	s.fields |= PS_HAS(stack);
	s.stack = stack;
	*rc = swriter_sample(w, rec->source, &s);
	return true;
}

bool swriter_copy_stack(struct swriter *w, const struct ps_record *rec, uint32_t stack, int *rc)
{
	const uint64_t before = PS_HAS(ip) | PS_HAS(period) | PS_HAS(chain);
	struct ps_sample s;
	uint64_t fields;
	uint8_t *p;
	size_t at;

	if (!rec->raw || (w->pack && is_known(w, rec)))
		return pack_stack(w, rec, stack, rc);
	if (rec->foreign || rec->size < PS_SAMPLE_FIXED || rec->size > PS_RECORD_MAX - 8)
		return false;
	/* As they are in the record: what a later version has appended goes on, too. */
	memcpy(&fields, rec->raw + PS_SAMPLE_FIELDS_AT, 8);
	at = PS_SAMPLE_FIXED + 8 * (size_t)__builtin_popcountll(fields & before);
	if (fields & PS_HAS(stack) || at > rec->size)
		return false;
	fields |= PS_HAS(stack);
	swriter_flush(w);
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
	if (w->pack) {
		s = rec->sample;
		s.fields |= PS_HAS(stack);
		s.stack = stack;
		packer_patch(w->pack, &s, p);
	}
	w->out->len += rec->size + 8;
	count(w, PS_SAMPLE);
	w->samples++;
	return true;
}

int swriter_end(struct swriter *w, struct ps_end *end)
{
	swriter_flush(w);
	end->records = w->records;
	end->samples = w->samples;
	return swriter_put(w, PS_END, 0, end);
}

void swriter_add_types(const struct swriter *w, struct buf *b)
{
	const char *comma = "";

	for (uint32_t type = 0; type < PS_END; type++) {
		const struct ps_typedesc *t = ps_typedesc(type);

		/* What they hold is counted one by one. */
		if (!w->types[type] || type == PS_CHAINS || type == PS_STACKS || type == PS_SAMPLES)
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
	p.version = ps_str(pp_version, strlen(pp_version));
	p.args = ps_str(buf_str(&args), args.len);
	if (args.err)
		w->err = args.err;
	else
		swriter_put(w, PS_PROVENANCE, 0, &p);
	buf_release(&args);
	return w->err;
}
