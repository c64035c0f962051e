/* Streams and payloads of the other byte order: swapped here by the tables, and read back. */
#include "stream_make.h"

#include "stream/payload.h"

#define ALL_KEEP (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)
/* ---- turning a native stream around ---- */

static uint8_t *turn(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t b = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = b;
	}
	return p + size;
}

static uint32_t native32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint64_t native64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint8_t *turn_many(uint8_t *p, size_t size, uint64_t n)
{
	while (n--)
		p = turn(p, size);
	return p;
}

static uint8_t *turn_str(uint8_t *p)
{
	size_t len = native32(p);

	turn(p, 4);
	return p + (4 + len + 7) / 8 * 8;
}

static uint8_t *turn_u64s(uint8_t *p)
{
	uint32_t n = native32(p);

	return turn_many(turn_many(p, 4, 2), 8, n);
}

static uint8_t *turn_fields(const struct ps_typedesc *t, uint8_t *p);

static void turn_table(uint8_t *p, uint8_t *end)
{
	while (p < end)
		p = turn_fields(&ps_event_field_desc, p);
}

static uint8_t *turn_fields(const struct ps_typedesc *t, uint8_t *p)
{
	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		uint8_t *start = p;
		uint32_t n = native32(p);

		switch (f->kind) {
		case PS_KIND_u32: p = turn(p, 4); break;
		case PS_KIND_u64: p = turn(p, 8); break;
		case PS_KIND_str:
			if (!strcmp(f->name, "fields"))
				turn_table(p + 4, p + 4 + n);
			p = turn_str(p);
			break;
		case PS_KIND_u32s:
			turn_many(turn(p, 4), 4, n);
			p = start + (4 + 4 * (size_t)n + 7) / 8 * 8;
			break;
		case PS_KIND_u64s: p = turn_u64s(p); break;
		}
	}
	return p;
}

static uint8_t *turn_regs(uint8_t *p)
{
	uint64_t mask = native64(p + 8);

	return turn_many(p, 8, 2 + (uint64_t)__builtin_popcountll(mask));
}

static uint8_t *turn_branch(uint8_t *p)
{
	uint32_t n = native32(p);

	return turn_many(turn_many(p, 4, 2), 8, 1 + 3 * (uint64_t)n);
}

#define TURN_u64(p)    turn(p, 8)
#define TURN_ref(p)    turn_many(p, 4, 2)
#define TURN_str(p)    turn_str(p)
#define TURN_regs(p)   turn_regs(p)
#define TURN_branch(p) turn_branch(p)
#define TURN_u64s(p)   turn_u64s(p)

static void turn_sample(uint8_t *p)
{
	uint64_t fields = native64(p + 32);

	p = turn(turn_many(p, 4, 2), 8);
	p = turn(turn_many(p, 4, 4), 8);
#define PS_F(bit, kind, name, what) \
	if (fields & (UINT64_C(1) << (bit))) \
		p = TURN_##kind(p);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
}

static void turn_stream(struct buf *b)
{
	uint8_t *p = b->data, *end = b->data + b->len;

	turn(turn(p + 8, 4), 2);
	for (p += PS_HEADER_SIZE; p < end;) {
		uint32_t size = native32(p);
		uint16_t type;

		memcpy(&type, p + 4, 2);
		turn_many(turn(p, 4), 2, 2);
		if (type == PS_SAMPLE)
			turn_sample(p + 8);
		else if (ps_typedesc(type))
			turn_fields(ps_typedesc(type), p + 8);
		p += size;
	}
}

/* ---- tests ---- */

static const uint32_t types[] = {
#define PS_R(name, number, text, what) number,
	PS_RECORDS(PS_R)
#undef PS_R
};
#define NTYPES (sizeof(types) / sizeof(types[0]))

static void test_records(void)
{
	struct made native, copy;
	const struct ps_record *rec;
	struct ps_record in;
	struct sreader *r;

	made_begin(&native);
	for (unsigned i = 0; i < NTYPES; i++) {
		if (is_packed_type(types[i]))
			continue;
		fill_record(&in, types[i], i);
		if (types[i] == PS_SAMPLE) {
			fill_sample(&in.sample, all_bits);
			swriter_sample(&native.w, 7, &in.sample);
		} else if (types[i] != PS_END) {
			swriter_put(&native.w, (enum ps_type)types[i], 7, &in.sample);
		}
	}
	made_end(&native, 0);

	made_begin(&copy);
	buf_add(&copy.bytes, native.bytes.data, native.bytes.len);
	turn_stream(&copy.bytes);
	ok(memcmp(copy.bytes.data + 24, native.bytes.data + 24, 8) != 0, "the stream is turned");
	r = made_reader(&copy, 0);
	copy.bytes.len = 0;
	ok(!sreader_next(r, &rec) && rec->type == PS_HEADER && rec->foreign,
	   "its header is foreign");
	for (unsigned i = 0; i < NTYPES; i++) {
		if (types[i] == PS_END || is_packed_type(types[i]))
			continue;
		fill_record(&in, types[i], i);
		if (types[i] == PS_SAMPLE)
			fill_sample(&in.sample, all_bits);
		ok(!sreader_next(r, &rec) && rec->type == types[i] && rec->source == 7,
		   "type %u: type and source", (unsigned)types[i]);
		ok(types[i] == PS_SAMPLE
			   ? same_sample(&in.sample, &rec->sample)
			   : same_fields(ps_typedesc(types[i]), &in.sample, &rec->sample),
		   "type %u: every field", (unsigned)types[i]);
		swriter_copy(&copy.w, rec);
	}
	ok(!sreader_next(r, &rec) && rec->type == PS_END, "END");
	is_int(sreader_status(r, sreader_next(r, &rec)), 0, "the counts agree");
	made_end(&copy, 0);
	is_mem(copy.bytes.data, copy.bytes.len, native.bytes.data, native.bytes.len,
	       "copies of foreign records are native ones");
	sreader_free(r);
	made_free(&copy);
	made_free(&native);
}

static void test_unknown(void)
{
	uint8_t bytes[24 + 16] = "PPSTREAM";
	uint32_t order = __builtin_bswap32(PS_BYTE_ORDER), size = __builtin_bswap32(16);
	uint16_t version = __builtin_bswap16(1), type = __builtin_bswap16(61);
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	memcpy(bytes + 8, &order, 4);
	memcpy(bytes + 12, &version, 2);
	memcpy(bytes + 24, &size, 4);
	memcpy(bytes + 28, &type, 2);
	r = reader_of(bytes, sizeof(bytes), 0);
	made_begin(&m);
	sreader_next(r, &rec);
	ok(!sreader_next(r, &rec) && rec->type == 61, "a foreign record of an unknown type");
	is_int(swriter_copy(&m.w, rec), PP_EUNSUPPORTED, "cannot be copied");
	is_int(m.w.err, 0, "which is no error of the output");
	sreader_free(r);
	made_free(&m);
}

/*
 * A payload of 48 bytes: u16 type, u8[2], s32 pid, __data_loc char[] and __data_loc u64[], u16[2],
 * __rel_loc u32[], char[4], then the dynamic data.
 */
static const struct ps_event_field payload_fields[] = {
	{.offset = 0, .size = 2, .element = 2},
	{.offset = 2, .size = 2, .element = 1, .flags = PS_FIELD_ARRAY},
	{.offset = 4, .size = 4, .element = 4, .flags = PS_FIELD_SIGNED},
	{.offset = 8, .size = 4, .element = 1, .flags = PS_FIELD_DYNAMIC | PS_FIELD_STRING},
	{.offset = 12, .size = 4, .element = 8, .flags = PS_FIELD_DYNAMIC},
	{.offset = 16, .size = 4, .element = 2, .flags = PS_FIELD_ARRAY},
	{.offset = 20, .size = 4, .element = 4, .flags = PS_FIELD_DYNAMIC | PS_FIELD_RELATIVE},
	{.offset = 24, .size = 4, .element = 4, .flags = PS_FIELD_ARRAY | PS_FIELD_STRING},
	/* Fields that no payload has. */
	{.offset = 46, .size = 4, .element = 4},
	{.offset = UINT32_MAX, .size = UINT32_MAX, .element = 8},
	{.offset = 46, .size = 4, .element = 4, .flags = PS_FIELD_DYNAMIC},
};

static void payload_table(struct buf *table)
{
	for (size_t i = 0; i < sizeof(payload_fields) / sizeof(payload_fields[0]); i++) {
		struct ps_event_field f = payload_fields[i];

		f.name = ps_str("name", 4);
		f.type = ps_str("type", 4);
		ps_event_field_add(table, &f);
	}
}

static void native_payload(uint8_t *p)
{
	memset(p, 0x11, 48);
	memcpy(p, &(uint16_t){0x0102}, 2);
	memcpy(p + 2, "\1\2", 2);
	memcpy(p + 4, &(uint32_t){0x01020304}, 4);
	memcpy(p + 8, &(uint32_t){6 << 16 | 28}, 4);
	memcpy(p + 12, &(uint32_t){8 << 16 | 34}, 4);
	memcpy(p + 16, (uint16_t[]){0x0506, 0x0708}, 4);
	memcpy(p + 20, &(uint32_t){4 << 16 | 18}, 4); /* at 24 + 18 */
	memcpy(p + 24, "abcd", 4);
	memcpy(p + 28, "gzip0", 6);
	memcpy(p + 34, &(uint64_t){0x0102030405060708}, 8);
	memcpy(p + 42, &(uint32_t){0x0a0b0c0d}, 4);
}

/* The same in the other byte order, field by field as above. */
static void foreign_payload(uint8_t *p)
{
	native_payload(p);
	turn(p, 2);
	turn_many(p + 4, 4, 3);
	turn_many(p + 16, 2, 2);
	turn(p + 20, 4);
	turn(p + 34, 8);
	turn(p + 42, 4);
}

static void test_payload(void)
{
	struct ps_event e = {.id = 3, .perf_type = 2, .name = ps_str("a:b", 3)};
	struct ps_sample s = {.event = 3, .fields = PS_HAS(payload)};
	uint8_t native[48], other[48];
	struct buf table = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	payload_table(&table);
	e.fields = ps_str((const char *)table.data, table.len);
	native_payload(native);
	foreign_payload(other);
	made_begin(&m);
	swriter_put(&m.w, PS_EVENT, 0, &e);
	s.payload = ps_str((const char *)other, 48);
	swriter_sample(&m.w, 0, &s);
	s.event = 4;
	swriter_sample(&m.w, 0, &s);
	made_end(&m, 0);
	turn_stream(&m.bytes);
	r = made_reader(&m, 0);
	for (int i = 0; i < 3; i++)
		sreader_next(r, &rec);
	is_mem(rec->sample.payload.p, rec->sample.payload.len, native, 48,
	       "a payload comes to host order, even when no dictionary was asked for");
	sreader_next(r, &rec);
	is_mem(rec->sample.payload.p, rec->sample.payload.len, other, 48,
	       "that of an event that is not defined does not");
	sreader_free(r);
	made_free(&m);

	for (size_t n = 0; n < 48; n++) {
		uint8_t *cut = malloc(n + 1);

		memcpy(cut, other, n);
		ps_payload_swap(&e.fields, cut, n);
		if (n == 8 || n == 20)
			is_mem(cut, 8, native, 8, "what is there of a payload of %zu bytes", n);
		free(cut);
	}
	buf_release(&table);
}

static void test_table(void)
{
	struct buf table = BUF_INIT, copy = BUF_INIT;
	int bad = 0;

	payload_table(&table);
	buf_add(&copy, table.data, table.len);
	turn_table(copy.data, copy.data + copy.len);
	is_int(ps_fields_swap(copy.data, copy.len), 0, "a field table");
	is_mem(copy.data, copy.len, table.data, table.len, "comes to host order");
	for (size_t n = 0; n < table.len; n++) {
		uint8_t *cut = malloc(n + 1);

		turn_table(copy.data, copy.data + copy.len);
		memcpy(cut, copy.data, n);
		ps_fields_swap(copy.data, copy.len);
		if ((ps_fields_swap(cut, n) == 0) != (n % (table.len / 11) == 0))
			bad++;
		free(cut);
	}
	is_int(bad, 0, "a table that is cut off within an entry is corrupt");
	buf_release(&table);
	buf_release(&copy);
}

/* A stream of this byte order after a foreign one: of that one's last sample nothing is left. */
static void test_then_native(void)
{
	struct made first, second;
	const struct ps_record *rec;
	struct ps_sample all, bare;
	struct sreader *r;

	fill_sample(&all, all_bits);
	fill_sample(&bare, PS_HAS(ip));
	made_begin(&first);
	swriter_sample(&first.w, 7, &all);
	made_end(&first, 0);
	turn_stream(&first.bytes);
	made_begin(&second);
	swriter_sample(&second.w, 8, &bare);
	made_end(&second, 0);
	buf_add(&first.bytes, second.bytes.data, second.bytes.len);
	/* The END of the first is there, and is not. */
	for (int whole = 1; whole >= 0; whole--) {
		r = made_reader(&first, 0);
		ok(!sreader_next(r, &rec) && rec->foreign, "then native: a foreign header");
		ok(!sreader_next(r, &rec) && rec->foreign && same_sample(&all, &rec->sample),
		   "then native: a foreign sample");
		if (whole)
			ok(!sreader_next(r, &rec) && rec->type == PS_END, "then native: END");
		ok(!sreader_next(r, &rec) && rec->type == PS_HEADER && !rec->foreign,
		   "then native: another header");
		ok(!sreader_next(r, &rec) && !rec->foreign && rec->source == 8 &&
			   same_sample(&bare, &rec->sample) && lacks(&rec->sample, bare.fields),
		   "then native: its sample has nothing of the other");
		sreader_free(r);
		/* It was brought to host order where it lies. */
		made_free(&first);
		made_begin(&first);
		swriter_sample(&first.w, 7, &all);
		out_flush(&first.out);
		turn_stream(&first.bytes);
		buf_add(&first.bytes, second.bytes.data, second.bytes.len);
	}
	made_free(&first);
	made_free(&second);
}

int main(void)
{
	test_records();
	test_unknown();
	test_payload();
	test_table();
	buf_release(&fill_table);
	test_then_native();
	return done();
}
