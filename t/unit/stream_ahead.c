/* What a reader shows of coming records, and a sample that is passed on with a stack. */
#include "stream_make.h"

#define SAMPLES 30000

#define PS_F(bit, kind, name, what) | UINT64_C(1) << (bit)
#define ALL_FIELDS		    (0 PS_SAMPLE_FIELDS(PS_F))

/* The chain of each record that was shown, in order; of no sample: 0. */
static uint32_t shown[2 * SAMPLES + 16], nshown;
static uint32_t stacks;

static uint32_t chains, chains_wrong;

static void show(void *ctx, const struct ps_peek *p)
{
	uint32_t *taken = ctx;
	struct ps_u64s ips = ps_peek_ips(p);

	/* What has been taken, and what is being taken, is not shown any more. */
	if (nshown < *taken + 1)
		nshown = *taken + 1;
	stacks += ps_peek_ref(p, PS_HAS(stack)) != 0 || ps_peek_frames(p).n != 0;
	shown[nshown++] = ps_peek_ref(p, PS_HAS(chain));
	/* The chains of make() grow by an address each. */
	if (p->type == PS_CHAIN && ips.n)
		chains++, chains_wrong += ips.v[ips.n - 1] != ips.n;
}

/* Chains of many lengths, each with a sample after it; the file is many times the buffer. */
static void make(struct made *m)
{
	static uint64_t ips[200];
	struct ps_sample s = {.event = 1, .time = 5, .ip = 3, .chain = 0, .period = 7};
	struct ps_chain c;

	for (uint32_t i = 0; i < 200; i++)
		ips[i] = i + 1;
	made_begin(m);
	for (uint32_t i = 1; i <= SAMPLES; i++) {
		c = (struct ps_chain){.id = i, .ips = {ips, i % 200}};
		swriter_put(&m->w, PS_CHAIN, 0, &c);
		s.fields = PS_HAS(chain) | (i % 2 ? PS_HAS(ip) : 0) | (i % 3 ? PS_HAS(period) : 0);
		s.chain = i;
		swriter_sample(&m->w, 0, &s);
	}
	made_end(m, 0);
}

static void test_ahead(void)
{
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;
	uint32_t taken = 0, early = 0, wrong = 0, far = 0;
	int rc;

	make(&m);
	memset(shown, 0xff, sizeof(shown));
	r = made_reader(&m, 0);
	sreader_on_ahead(r, show, &taken);
	while (!(rc = sreader_next(r, &rec))) {
		if (rec->type == PS_HEADER)
			continue;
		if (taken && taken < nshown && shown[taken] != UINT32_MAX) {
			early++;
			wrong += shown[taken] != (rec->type == PS_SAMPLE ? rec->sample.chain : 0);
		}
		taken++;
		far = nshown > taken && nshown - taken > far ? nshown - taken : far;
	}
	is_int(rc, PP_END, "the stream is read to its end");
	is_int((int)wrong, 0, "what is shown is what comes, in order");
	ok(early > 2 * SAMPLES - SAMPLES / 100, "nearly all records are shown: %u", early);
	ok(far > 1 && far < 64, "some records ahead: %u", far);
	is_int((int)stacks, 0, "no sample has a stack");
	ok(chains > SAMPLES - SAMPLES / 50, "nearly all chains are shown: %u", chains);
	is_int((int)chains_wrong, 0, "each with its addresses");
	sreader_free(r);
	made_free(&m);
}

/* Cut off, or with sizes that cannot be, nothing is shown that is not whole. */
static void check_whole(void *ctx, const struct ps_peek *p)
{
	struct ps_u64s ips = ps_peek_ips(p);
	uint32_t *bad = &shown[0];

	(void)ctx;
	*bad += p->size < 8;
	*bad += ips.n && (const uint8_t *)(ips.v + ips.n) > p->raw + p->size;
	for (uint32_t i = 0; i < p->size; i++)
		stacks += p->raw[i];
}

static void test_cut(void)
{
	const struct ps_record *rec;
	struct made m;

	make(&m);
	shown[0] = 0;
	for (size_t len = PS_HEADER_SIZE; len < 400; len++) {
		struct sreader *r = reader_of(m.bytes.data, len, 0);

		sreader_on_ahead(r, check_whole, &m);
		while (!sreader_next(r, &rec))
			;
		sreader_free(r);
	}
	/* Impossible sizes. */
	for (uint32_t size = 0; size < 24; size++) {
		uint8_t bytes[PS_HEADER_SIZE + 64];
		struct sreader *r;

		memcpy(bytes, m.bytes.data, sizeof(bytes));
		/* The second record: the first is a chain of one address. */
		memcpy(bytes + PS_HEADER_SIZE + 32, &size, 4);
		r = reader_of(bytes, sizeof(bytes), 0);
		sreader_on_ahead(r, check_whole, &m);
		while (!sreader_next(r, &rec))
			;
		sreader_free(r);
	}
	is_int((int)shown[0], 0, "what is shown is at least a record's head");
	made_free(&m);
}

/* A sample with these fields, passed on with stack 77: what a reader makes of the copy. */
static bool copied(uint64_t fields, bool has, struct ps_sample *in, struct ps_sample *back)
{
	struct made m, n;
	const struct ps_record *rec;
	struct ps_sample s;
	struct sreader *r;
	bool done = false;
	int rc;

	fill_sample(&s, fields & ALL_FIELDS);
	made_begin(&m);
	swriter_sample(&m.w, 3, &s);
	made_end(&m, 0);
	made_begin(&n);
	r = made_reader(&m, 0);
	while (!sreader_next(r, &rec))
		if (rec->type == PS_SAMPLE) {
			*in = rec->sample;
			done = swriter_copy_stack(&n.w, rec, 77, &rc);
			if (!done || rc)
				swriter_copy(&n.w, rec);
		}
	sreader_free(r);
	made_end(&n, 0);
	is_int((int)n.w.earlier + (int)n.w.samples, 1, "one sample is written");
	r = made_reader(&n, 0);
	*back = (struct ps_sample){0};
	while (!sreader_next(r, &rec))
		if (rec->type == PS_SAMPLE)
			*back = rec->sample;
	/* Arrays point into what is freed: only numbers are compared. */
	sreader_free(r);
	made_free(&m);
	made_free(&n);
	return done == has;
}

static void test_copy(void)
{
	static const uint64_t sets[] = {
		0,
		PS_HAS(ip),
		PS_HAS(period) | PS_HAS(chain),
		PS_HAS(ip) | PS_HAS(period) | PS_HAS(chain),
		PS_HAS(chain) | PS_HAS(addr) | PS_HAS(other_tid),
		PS_HAS(ip) | PS_HAS(payload) | PS_HAS(weight) | PS_HAS(branch_stack),
		UINT64_MAX & ~PS_HAS(stack),
	};
	struct ps_sample in, back;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		ok(copied(sets[i], true, &in, &back), "row %zu: it gets a stack", i);
		ok(back.stack == 77 && back.fields == (in.fields | PS_HAS(stack)),
		   "row %zu: which is there", i);
		ok(back.event == in.event && back.time == in.time && back.tid == in.tid &&
			   back.flags == in.flags && back.ip == in.ip && back.period == in.period &&
			   back.chain == in.chain && back.addr == in.addr &&
			   back.weight == in.weight && back.payload.len == in.payload.len &&
			   back.other_tid == in.other_tid && back.branch_stack == in.branch_stack,
		   "row %zu: the rest is as it was", i);
	}
	ok(copied(PS_HAS(ip) | PS_HAS(stack), false, &in, &back), "one that has a stack does not");
	ok(back.stack == in.stack && back.ip == in.ip, "and is not written");
}

int main(void)
{
	test_ahead();
	test_cut();
	test_copy();
	return done();
}
