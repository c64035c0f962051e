/*
 * Streams for the unit tests of lib/stream: records whose fields all have values of their own, and
 * their comparison.
 *
 *	struct made m;
 *	made_begin(&m);
 *	fill_record(&rec, PS_COMM);
 *	swriter_put(&m.w, PS_COMM, 1, &rec.sample);
 *	made_end(&m, 0);
 *	r = made_reader(&m, keep);	(reads m.bytes; free the reader, then made_free)
 */
#ifndef PP_UNIT_STREAM_MAKE_H
#define PP_UNIT_STREAM_MAKE_H

#include "base/err.h"
#include "stream/codec.h"
#include "tap.h"

#include <stdlib.h>

/* All fields of a sample. */
#define PS_F(bit, kind, name, what) | UINT64_C(1) << (bit)
static const uint64_t all_bits = 0 PS_SAMPLE_FIELDS(PS_F);
#undef PS_F

/* All types of records. */
static const struct {
	uint32_t number;
	const char *name;
} record_types[] = {
#define PS_R(name, number, text, what) {number, text},
	PS_RECORDS(PS_R)
#undef PS_R
};
#define NRECORD_TYPES (sizeof(record_types) / sizeof(record_types[0]))

/* Whether records of a type hold several others, packed: any bytes in them will not do. */
__attribute__((unused)) static bool is_packed_type(uint32_t type)
{
	return type == PS_CHAINS || type == PS_STACKS || type == PS_SAMPLES;
}

struct made {
	struct out out;
	struct swriter w;
	struct buf bytes;
	struct buf fields; /* of the event that is defined next */
};

static int made_take(void *ctx, uint8_t *bytes, size_t n)
{
	struct made *m = ctx;

	buf_add(&m->bytes, bytes, n);
	return m->bytes.err;
}

__attribute__((unused)) static void made_begin(struct made *m)
{
	*m = (struct made){0};
	if (out_init_fn(&m->out, made_take, m))
		abort();
	swriter_init(&m->w, &m->out);
	swriter_header(&m->w);
}

__attribute__((unused)) static void made_end(struct made *m, uint32_t status)
{
	struct ps_end end = {.status = status};

	swriter_end(&m->w, &end);
	out_flush(&m->out);
}

__attribute__((unused)) static void made_free(struct made *m)
{
	out_release(&m->out);
	buf_release(&m->bytes);
	buf_release(&m->fields);
}

/* A signed field of the event that is defined next; of 16 bytes: a text. */
__attribute__((unused)) static void made_field(struct made *m, uint32_t offset, uint32_t size,
					       const char *name)
{
	bool text = size == 16;
	struct ps_event_field f = {.offset = offset,
				   .size = size,
				   .element = text ? 1 : size,
				   .flags = text ? PS_FIELD_ARRAY | PS_FIELD_STRING
						 : PS_FIELD_SIGNED,
				   .name = ps_str(name, strlen(name)),
				   .type = ps_str("x", 1)};

	ps_event_field_add(&m->fields, &f);
}

/* The print format of sched_switch that states are taken from. */
#define MADE_SWITCH_FORMAT \
	"print fmt: \"\", REC->prev_state & 255 ? " \
	"__print_flags(REC->prev_state & 255, \"|\", " \
	"{ 0x01, \"S\" }, { 0x02, \"D\" }, { 0x10, \"X\" }) : \"R\", " \
	"REC->prev_state & 256 ? \"+\" : \"\""

/* A tracepoint with the fields that were made since the last. */
__attribute__((unused)) static void made_event(struct made *m, uint32_t id, const char *name,
					       const char *format)
{
	struct ps_event e = {.id = id,
			     .perf_type = 2,
			     .name = ps_str(name, strlen(name)),
			     .unit = ps_str("", 0),
			     .fields = ps_str((const char *)m->fields.data, m->fields.len),
			     .format = ps_str(format, strlen(format))};

	swriter_put(&m->w, PS_EVENT, 1, &e);
	buf_reset(&m->fields);
}

__attribute__((unused)) static struct sreader *reader_of(const void *bytes, size_t len,
							 unsigned keep)
{
	struct sreader *r;
	struct src *s;

	if (src_from_mem(&s, bytes, len, "test") || sreader_new(&r, s, keep, NULL))
		abort();
	return r;
}

__attribute__((unused)) static struct sreader *made_reader(const struct made *m, unsigned keep)
{
	return reader_of(m->bytes.data, m->bytes.len, keep);
}

/* ---- values ---- */

/* What arrays point to: bytes, words and numbers that differ at every place. */
static uint32_t fill_words[64];
static uint64_t fill_numbers[64];
static const char fill_text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static struct buf fill_table;

static struct ps_str fill_event_fields(void)
{
	struct ps_event_field f = {.offset = 8,
				   .size = 4,
				   .element = 4,
				   .flags = PS_FIELD_SIGNED,
				   .name = ps_str("pid", 3),
				   .type = ps_str("pid_t", 5)};

	buf_reset(&fill_table);
	ps_event_field_add(&fill_table, &f);
	f = (struct ps_event_field){.offset = 16,
				    .size = 32,
				    .element = 8,
				    .flags = PS_FIELD_ARRAY,
				    .name = ps_str("args", 4),
				    .type = ps_str("unsigned long", 13)};
	ps_event_field_add(&fill_table, &f);
	return ps_str((const char *)fill_table.data, fill_table.len);
}

static void fill_arrays(void)
{
	for (uint32_t i = 0; i < 64; i++) {
		fill_words[i] = 0xa0b0c000 + i;
		fill_numbers[i] = 0x1122334455667700 + i;
	}
}

/* Fills a struct of type t; `turn` makes values and lengths differ. */
static void fill_fields(const struct ps_typedesc *t, void *fields, unsigned turn)
{
	uint8_t *base = fields;

	fill_arrays();
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct ps_fielddesc *f = &t->fields[i];
		void *at = base + f->offset;
		unsigned n = 1 + (i + turn) % 11;

		switch (f->kind) {
		case PS_KIND_u32: *(uint32_t *)at = 0x01020300 + i + turn; break;
		case PS_KIND_u64: *(uint64_t *)at = 0x0102030405060700 + i + turn; break;
		case PS_KIND_str:
			*(struct ps_str *)at = strcmp(f->name, "fields")
						       ? ps_str(fill_text + turn % 8, n)
						       : fill_event_fields();
			break;
		case PS_KIND_u32s:
			*(struct ps_u32s *)at = (struct ps_u32s){fill_words + turn % 8, n};
			break;
		case PS_KIND_u64s:
			*(struct ps_u64s *)at = (struct ps_u64s){fill_numbers + turn % 8, n};
			break;
		}
		/* Ids of dictionaries are small. */
		if (!i && !strcmp(f->name, "id"))
			*(uint32_t *)at = 1 + turn % 50;
	}
}

__attribute__((unused)) static void fill_record(struct ps_record *rec, uint32_t type, unsigned turn)
{
	memset(rec, 0, sizeof(*rec));
	rec->type = type;
	rec->source = 7;
	fill_fields(ps_typedesc(type), &rec->sample, turn);
}

#define FILL_u64(x, i) x = 0x8000000000000000 + 0x0102030405060708 * ((i) + 1)
#define FILL_ref(x, i) x = 0x00010200 + (uint32_t)(i)
#define FILL_str(x, i) x = ps_str(fill_text + (i) % 8, 1 + (i) % 13)
#define FILL_regs(x, i) \
	x = (struct ps_regs) \
	{ \
		2, 0x8000000000000105, fill_numbers + (i) \
	}
#define FILL_branch(x, i) \
	x = (struct ps_branches) \
	{ \
		.n = 3, .flags = 1, .hw_idx = 0x55, .v = fill_numbers + (i) \
	}
#define FILL_u64s(x, i) \
	x = (struct ps_u64s) \
	{ \
		fill_numbers + (i), 5 \
	}

__attribute__((unused)) static void fill_sample(struct ps_sample *s, uint64_t fields)
{
	fill_arrays();
	*s = (struct ps_sample){.event = 0x00010203,
				.cpu = 0x04050607,
				.time = 0x1020304050607080,
				.pid = 0x11121314,
				.tid = 0x15161718,
				.comm = 0x00191a1b,
				.flags =
					PS_MARK_NA | 2 << PS_SAMPLE_MODE_SHIFT | PS_SAMPLE_EXACT_IP,
				.fields = fields};
#define PS_F(bit, kind, name, what) \
	if (fields & (UINT64_C(1) << (bit))) \
		FILL_##kind(s->name, bit);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
}

/* ---- comparison ---- */

static bool same_bytes(const void *a, const void *b, size_t n)
{
	return !n || (a && b && !memcmp(a, b, n));
}

__attribute__((unused)) static bool same_fields(const struct ps_typedesc *t, const void *a,
						const void *b)
{
	for (const struct ps_fielddesc *f = t->fields; f < t->fields + t->nfields; f++) {
		const void *x = (const uint8_t *)a + f->offset, *y = (const uint8_t *)b + f->offset;
		const struct ps_str *sx = x, *sy = y;
		const struct ps_u32s *wx = x, *wy = y;
		const struct ps_u64s *nx = x, *ny = y;
		bool same = true;

		switch (f->kind) {
		case PS_KIND_u32: same = !memcmp(x, y, 4); break;
		case PS_KIND_u64: same = !memcmp(x, y, 8); break;
		case PS_KIND_str:
			same = sx->len == sy->len && same_bytes(sx->p, sy->p, sx->len);
			break;
		case PS_KIND_u32s:
			same = wx->n == wy->n && same_bytes(wx->v, wy->v, 4 * (size_t)wx->n);
			break;
		case PS_KIND_u64s:
			same = nx->n == ny->n && same_bytes(nx->v, ny->v, 8 * (size_t)nx->n);
			break;
		}
		if (!same) {
			printf("# %s.%s differs\n", t->name, f->name);
			return false;
		}
	}
	return true;
}

#define SAME_u64(x, y)	((x) == (y))
#define SAME_ref(x, y)	((x) == (y))
#define SAME_str(x, y)	((x).len == (y).len && same_bytes((x).p, (y).p, (x).len))
#define SAME_u64s(x, y) ((x).n == (y).n && same_bytes((x).v, (y).v, 8 * (size_t)(x).n))
#define SAME_regs(x, y) \
	((x).abi == (y).abi && (x).mask == (y).mask && \
	 same_bytes((x).v, (y).v, 8 * (size_t)__builtin_popcountll((x).mask)))
#define SAME_branch(x, y) \
	((x).n == (y).n && (x).flags == (y).flags && (x).hw_idx == (y).hw_idx && \
	 same_bytes((x).v, (y).v, 24 * (size_t)(x).n))

__attribute__((unused)) static bool same_sample(const struct ps_sample *a,
						const struct ps_sample *b)
{
	if (a->event != b->event || a->cpu != b->cpu || a->time != b->time || a->pid != b->pid ||
	    a->tid != b->tid || a->comm != b->comm || a->flags != b->flags ||
	    a->fields != b->fields) {
		printf("# the fixed part differs\n");
		return false;
	}
#define PS_F(bit, kind, name, what) \
	if (!(a->fields & (UINT64_C(1) << (bit))) ? 0 : !SAME_##kind(a->name, b->name)) { \
		printf("# " #name " differs\n"); \
		return false; \
	}
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
	return true;
}

/* Whether all fields that are not in a set are 0. */
__attribute__((unused)) static bool lacks(const struct ps_sample *s, uint64_t fields)
{
	static const struct ps_sample none;
	bool good = true;

#define PS_F(bit, kind, name, what) \
	good = good && \
	       (fields & UINT64_C(1) << (bit) || !memcmp(&s->name, &none.name, sizeof(s->name)));
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
	return good;
}

#endif
