/*
 * The reader keeps its record from one call to the next, and takes samples by a short way: nothing
 * of what it had before may be seen in a sample.
 */
#include "stream_make.h"

/*
 * The samples that follow a record: each set of the fields that the short way takes, and one more.
 */
#define NSAMPLES (PS_SAMPLE_NEAR + 2u)

static uint64_t fields_of(unsigned i)
{
	return i <= PS_SAMPLE_NEAR ? i : PS_HAS(ip) | PS_HAS(weight);
}

static void put_before(struct swriter *w, uint32_t type, unsigned turn)
{
	struct ps_record rec;

	if (type == PS_SAMPLE) {
		fill_sample(&rec.sample, all_bits);
		swriter_sample(w, 3, &rec.sample);
	} else {
		fill_record(&rec, type, turn);
		swriter_put(w, (enum ps_type)type, 7, &rec.sample);
	}
}

static bool is_sample(const struct ps_record *rec, uint64_t fields)
{
	struct ps_sample want;

	fill_sample(&want, fields);
	return rec->type == PS_SAMPLE && rec->source == 5 && !rec->foreign &&
	       same_sample(&want, &rec->sample) && lacks(&rec->sample, fields);
}

/* The record, two samples after it, the record, ... */
static void make(struct made *m, uint32_t type)
{
	struct ps_sample s;

	made_begin(m);
	for (unsigned i = 0; i < NSAMPLES; i++) {
		if (type != PS_HEADER)
			put_before(&m->w, type, i);
		else
			swriter_header(&m->w);
		for (unsigned k = 0; k < 2; k++) {
			fill_sample(&s, fields_of((i + k) % NSAMPLES));
			swriter_sample(&m->w, 5, &s);
		}
	}
	made_end(m, 0);
}

/* The number of samples that are as they were written, from what a reader gives. */
static unsigned good_samples(struct sreader *r, unsigned *seen)
{
	const struct ps_record *rec;
	unsigned good = 0;

	while (!sreader_next(r, &rec)) {
		if (rec->type != PS_SAMPLE || rec->source != 5)
			continue;
		good += is_sample(rec, fields_of((*seen / 2 + *seen % 2) % NSAMPLES));
		++*seen;
	}
	return good;
}

static unsigned read_whole(const struct made *m)
{
	struct sreader *r = made_reader(m, SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS);
	unsigned seen = 0, good = good_samples(r, &seen);

	sreader_free(r);
	return good;
}

/* Each record is fed alone, and gone before the next one comes. */
static unsigned read_fed(const struct made *m)
{
	struct sreader *r;
	unsigned seen = 0, good = 0;
	uint32_t size = PS_HEADER_SIZE;

	if (sreader_new_fed(&r, "fed", SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS, NULL))
		abort();
	for (size_t at = 0; at < m->bytes.len; at += size) {
		uint8_t *copy;

		memcpy(&size, m->bytes.data + at, 4);
		if (!memcmp(m->bytes.data + at, "PPSTREAM", 8))
			size = PS_HEADER_SIZE;
		copy = malloc(size);
		if (!copy)
			abort();
		memcpy(copy, m->bytes.data + at, size);
		sreader_feed(r, copy, size);
		good += good_samples(r, &seen);
		memset(copy, 0xff, size);
		free(copy);
	}
	sreader_free(r);
	return good;
}

static void test_behind(uint32_t type, const char *name)
{
	struct made m;

	make(&m, type);
	is_u64(read_whole(&m), 2 * NSAMPLES, "samples after %s: nothing of it is in them", name);
	is_u64(read_fed(&m), 2 * NSAMPLES, "samples after %s, each fed alone", name);
	made_free(&m);
}

/*
 * One that is cut off, or says that it has more than it has, is an error, however short its way is.
 */
static void test_cut_sample(void)
{
	const struct ps_record *rec;
	struct ps_sample s;
	struct sreader *r;
	struct made m;
	unsigned wrong = 0;
	uint32_t size;

	fill_sample(&s, PS_SAMPLE_NEAR);
	made_begin(&m);
	swriter_sample(&m.w, 5, &s);
	made_end(&m, 0);
	memcpy(&size, m.bytes.data + PS_HEADER_SIZE, 4);
	for (uint32_t less = size - 8; less >= 8; less -= 8) {
		memcpy(m.bytes.data + PS_HEADER_SIZE, &less, 4);
		r = made_reader(&m, 0);
		wrong += sreader_next(r, &rec) || sreader_next(r, &rec) != PP_ECORRUPT ||
			 sreader_next(r, &rec) != PP_ECORRUPT;
		sreader_free(r);
	}
	is_u64(wrong, 0, "a sample that is shorter than its fields is corrupt");
	memcpy(m.bytes.data + PS_HEADER_SIZE, &size, 4);
	/* The length of the payload, after ip, period, chain and stack. */
	size = UINT32_MAX - 3;
	memcpy(m.bytes.data + PS_HEADER_SIZE + PS_SAMPLE_FIXED + 32, &size, 4);
	r = made_reader(&m, 0);
	ok(!sreader_next(r, &rec) && sreader_next(r, &rec) == PP_ECORRUPT,
	   "and one whose payload is longer than memory");
	sreader_free(r);
	made_free(&m);
}

int main(void)
{
	test_behind(PS_HEADER, "a header");
	for (size_t i = 0; i < NRECORD_TYPES; i++)
		if (record_types[i].number != PS_END && !is_packed_type(record_types[i].number))
			test_behind(record_types[i].number, record_types[i].name);
	test_cut_sample();
	return done();
}
