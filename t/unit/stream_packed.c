/* Packed streams: what was put comes back, damage is found, ids begin again, either byte order. */
#include "stream_make.h"

#define KEEP	(SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS)
#define NCHAINS 300
#define DEEP	200
#define MARK(n) ((uint64_t) - (n))

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

struct made_chain {
	uint64_t ips[DEEP];
	uint32_t n, flags;
};

/* Chains with common roots, marks of all kinds where they belong, and where they do not. */
static void fill_chain(struct made_chain *c, const struct made_chain *before)
{
	static const uint64_t marks[] = {MARK(128),  MARK(512),	 MARK(32),   MARK(2176),
					 MARK(2560), MARK(2048), MARK(4095), MARK(1)};
	uint32_t shared = before->n ? pick(before->n + 1) : 0;

	c->n = pick(DEEP - shared + 1);
	for (uint32_t i = 0; i < c->n; i++)
		c->ips[i] = pick(9)   ? 0x400000 + pick(1 << 16)
			    : pick(2) ? marks[pick(8)]
				      : pick(4) - 1u;
	for (uint32_t i = 0; i < shared; i++)
		c->ips[c->n + i] = before->ips[before->n - shared + i];
	c->n += shared;
	c->flags = pick(4) ? 0 : pick(1 << 16);
	if (pick(20) == 0)
		c->n = 0;
}

/* A sample that most of them are like, or one with everything. */
static void fill(struct ps_sample *s, uint32_t i, const char *payload)
{
	if (pick(10) == 0) {
		fill_sample(s, all_bits);
	} else {
		memset(s, 0, sizeof(*s));
		s->fields = pick(4) ? PS_HAS(ip) | PS_HAS(period) | PS_HAS(chain) : pick(128);
		s->ip = pick(3) ? 0x401000 + pick(4) : MARK(pick(9));
		s->period = pick(3) ? 7 : UINT64_MAX - pick(3);
		s->payload = ps_str(payload, pick(3) ? 24 : pick(600));
		s->addr = pick(3);
		s->id = pick(3);
	}
	s->event = 1 + pick(3);
	s->cpu = pick(4) ? pick(3) : PS_NONE;
	s->time = pick(9) ? 1000 * i : pick(2) ? 0 : UINT64_MAX;
	s->pid = pick(3) ? pick(5) : PS_NONE;
	s->tid = pick(3) ? pick(2000) : PS_NONE;
	s->comm = pick(3);
	s->flags = pick(3) + (pick(3) << PS_SAMPLE_MODE_SHIFT);
}

/* Many chains, stacks and samples; ids begin again now and then. */
static void put_all(struct swriter *w, unsigned rounds, uint32_t begin)
{
	static struct made_chain chains[NCHAINS + 1];
	static uint32_t frames[DEEP];
	char payload[600] = "a payload that changes";

	seed = begin;
	for (uint32_t i = 0; i < DEEP; i++)
		frames[i] = i % 5 + 1;
	for (unsigned round = 0; round < rounds; round++) {
		for (uint32_t i = 1; i <= NCHAINS; i++) {
			struct ps_chain c = {.id = i};
			struct ps_stack st = {.id = i, .flags = i % 3};
			struct ps_sample s;

			fill_chain(&chains[i], &chains[i - 1]);
			c.flags = chains[i].flags;
			c.ips = (struct ps_u64s){chains[i].ips, chains[i].n};
			st.frames = (struct ps_u32s){frames + pick(5), pick(DEEP - 5)};
			swriter_put(w, PS_CHAIN, 1, &c);
			swriter_put(w, PS_STACK, 1, &st);
			payload[pick(600)]++;
			for (unsigned k = pick(4); k; k--) {
				fill(&s, i, payload);
				s.chain = 1 + pick(i);
				s.stack = 1 + pick(i);
				s.other_chain = 1 + pick(i);
				s.other_stack = 1 + pick(i);
				s.branch_stack = 1 + pick(i);
				s.ip_stack = s.stack;
				swriter_sample(w, 1 + (i % 50 == 0), &s);
			}
			if (i % 70 == 0)
				swriter_put(w, PS_COMM, 1, &(struct ps_comm){.comm = 1});
		}
	}
}

static void made_packed(struct made *m)
{
	*m = (struct made){0};
	if (out_init_fn(&m->out, made_take, m))
		abort();
	swriter_init(&m->w, &m->out);
	if (swriter_pack(&m->w, true))
		abort();
	swriter_header(&m->w);
}

static void made_packed_free(struct made *m)
{
	swriter_release(&m->w);
	made_free(m);
}

static const struct ps_record *next_sample(struct sreader *r, int *rc, unsigned *others)
{
	const struct ps_record *rec;

	while (!(*rc = sreader_next(r, &rec)) && rec->type != PS_SAMPLE)
		*others += rec->type == PS_COMM;
	return *rc ? NULL : rec;
}

static bool same_words(const void *a, uint32_t na, const void *b, uint32_t nb, size_t size)
{
	return na == nb && (!na || !memcmp(a, b, na * size));
}

static bool same_chain(const struct sreader *a, uint32_t ida, const struct sreader *b, uint32_t idb)
{
	const struct ps_chain *x = sreader_chain(a, ida), *y = sreader_chain(b, idb);

	return x && y && x->flags == y->flags &&
	       same_words(x->ips.v, x->ips.n, y->ips.v, y->ips.n, 8);
}

static bool same_stack(const struct sreader *a, uint32_t ida, const struct sreader *b, uint32_t idb)
{
	const struct ps_stack *x = sreader_stack(a, ida), *y = sreader_stack(b, idb);

	return x && y && x->flags == y->flags &&
	       same_words(x->frames.v, x->frames.n, y->frames.v, y->frames.n, 4);
}

/* All fields but the ids of chains and stacks, which are compared by what they stand for. */
static bool alike(const struct sreader *a, const struct ps_record *ra, const struct sreader *b,
		  const struct ps_record *rb)
{
	const struct ps_sample *x = &ra->sample, *y = &rb->sample;
	struct ps_sample left = *x, right = *y;
	bool same = ra->source == rb->source && x->fields == y->fields;
	uint8_t one[8192], other[8192];
	size_t n;

	if (!same)
		return false;
#define REF(name, kind) \
	if (ps_sample_has(x, name)) { \
		same = same && same_##kind(a, x->name, b, y->name); \
		left.name = right.name = 0; \
	}
	REF(chain, chain)
	REF(stack, stack)
	REF(other_chain, chain)
	REF(other_stack, stack)
	REF(branch_stack, stack)
	REF(ip_stack, stack)
#undef REF
	n = ps_sample_size(&left);
	if (!same || n != ps_sample_size(&right) || n > sizeof(one))
		return false;
	memset(one, 0, n);
	memset(other, 0, n);
	ps_sample_encode(&left, one);
	ps_sample_encode(&right, other);
	return !memcmp(one, other, n - 8);
}

/* Two streams have the same samples, in the same order. */
static void same_kept(const void *a, size_t na, const void *b, size_t nb, unsigned keep,
		      const char *what)
{
	struct sreader *x = reader_of(a, na, KEEP), *y = reader_of(b, nb, keep);
	unsigned n = 0, good = 0, others[2] = {0};
	int rcx, rcy;

	for (;;) {
		const struct ps_record *rx = next_sample(x, &rcx, &others[0]);
		const struct ps_record *ry = next_sample(y, &rcy, &others[1]);

		if (!rx || !ry)
			break;
		n++;
		good += alike(x, rx, y, ry) && others[0] == others[1];
	}
	ok(n > 300 && good == n, "%s: %u of %u samples are the same", what, good, n);
	ok(rcx == PP_END && rcy == PP_END, "%s: both end", what);
	is_int(sreader_status(y, rcy), 0, "%s: the counts of END are right", what);
	sreader_free(x);
	sreader_free(y);
}

static void same_streams(const void *a, size_t na, const void *b, size_t nb, const char *what)
{
	same_kept(a, na, b, nb, KEEP, what);
}

static void copy_kept(const struct made *from, struct made *to, unsigned keep)
{
	struct sreader *r = made_reader(from, keep);
	const struct ps_record *rec;

	while (!sreader_next(r, &rec))
		if (rec->type != PS_HEADER && rec->type != PS_END)
			swriter_copy(&to->w, rec);
	made_end(to, 0);
	sreader_free(r);
}

static void copy(const struct made *from, struct made *to)
{
	copy_kept(from, to, KEEP);
}

/* ---- samples that are handed on as they lie in their records ---- */

static uint32_t mark_of(uint32_t i)
{
	return i * 2654435761u >> 20;
}

/* What becomes of sample i of the input: dropped in runs, and one by one. */
static bool is_dropped(uint32_t i, bool drop)
{
	return drop && (i / 100 % 3 == 1 || mark_of(i) % 29 == 0);
}

static void copy_marked(const struct made *from, struct made *to, bool drop, uint32_t flush)
{
	struct sreader *r = made_reader(from, KEEP | SREADER_PARTS);
	const struct ps_record *rec;
	uint32_t i = 0;

	while (!sreader_next(r, &rec)) {
		if (rec->type == PS_HEADER || rec->type == PS_END)
			continue;
		if (rec->type != PS_SAMPLE) {
			swriter_copy(&to->w, rec);
			continue;
		}
		if (!is_dropped(i, drop))
			swriter_copy_marked(&to->w, rec, (enum ps_mark)(mark_of(i) % 3));
		if (flush && i % flush == 0)
			swriter_flush(&to->w);
		i++;
	}
	made_end(to, 0);
	sreader_free(r);
}

/* Records in a stream in host order that hold samples: a sample each, or several. */
static uint32_t sample_records(const struct made *m)
{
	uint32_t n = 0, size;
	uint16_t type;

	for (size_t at = PS_HEADER_SIZE; at < m->bytes.len; at += size) {
		memcpy(&size, m->bytes.data + at, 4);
		memcpy(&type, m->bytes.data + at + 4, 2);
		n += type == PS_SAMPLE || type == PS_SAMPLES;
	}
	return n;
}

static void is_marked(const struct made *from, const struct made *to, bool drop, const char *what)
{
	struct sreader *x = made_reader(from, KEEP), *y = made_reader(to, KEEP);
	unsigned good = 0, kept = 0, others[2] = {0};
	int rcx, rcy = 0;

	for (uint32_t i = 0;; i++) {
		const struct ps_record *rx = next_sample(x, &rcx, &others[0]), *ry;
		struct ps_record want;

		if (!rx)
			break;
		if (is_dropped(i, drop))
			continue;
		kept++;
		ry = next_sample(y, &rcy, &others[1]);
		if (!ry)
			break;
		want = *rx;
		want.sample.flags &= ~(uint32_t)PS_MARK_MASK;
		want.sample.flags |= mark_of(i) % 3;
		good += alike(x, &want, y, ry);
	}
	ok(kept > 300 && good == kept, "%s: %u of %u samples are right", what, good, kept);
	ok(!next_sample(y, &rcy, &others[1]) && rcy == PP_END, "%s: there are no more", what);
	is_int(sreader_status(y, rcy), 0, "%s: the counts of END are right", what);
	sreader_free(x);
	sreader_free(y);
}

static void test_marked(const struct made *packed)
{
	static const struct {
		const char *what;
		bool drop;
		uint32_t flush;
	} cases[] = {{"marked", false, 0},
		     {"marked, some dropped", true, 0},
		     {"marked, handed on early", false, 7},
		     {"marked, dropped, handed on early", true, 7}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made to, again;

		made_packed(&to);
		copy_marked(packed, &to, cases[i].drop, cases[i].flush);
		is_marked(packed, &to, cases[i].drop, cases[i].what);
		if (!i)
			is_int(sample_records(&to), sample_records(packed), "as many records");
		if (!cases[i].drop) {
			made_packed(&again);
			copy_marked(&to, &again, false, 0);
			is_marked(packed, &again, false, "marked again");
			made_packed_free(&again);
		}
		made_packed_free(&to);
	}
}

/* ---- the other byte order ---- */

static void turn(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t b = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = b;
	}
}

/* Chains and samples that can be packed, as a machine of the other byte order writes them. */
static void test_foreign(void)
{
	struct made plain, packed;
	struct buf b = BUF_INIT;
	uint64_t ips[20];

	made_begin(&plain);
	made_packed(&packed);
	for (uint32_t i = 0; i < 400; i++) {
		struct ps_chain c = {.id = i + 1, .ips = {ips, 1 + i % 20}};
		struct ps_sample s = {.event = 1, .time = i, .tid = i, .ip = i, .chain = i + 1};

		s.fields = PS_HAS(ip) | PS_HAS(chain);
		for (uint32_t k = 0; k < 20; k++)
			ips[k] = k == i % 20 ? MARK(512) : k < i % 20 ? 0xffffffff81000000 + i : k;
		swriter_put(&plain.w, PS_CHAIN, 1, &c);
		swriter_sample(&plain.w, 1, &s);
		swriter_put(&packed.w, PS_CHAIN, 1, &c);
		swriter_sample(&packed.w, 1, &s);
	}
	made_end(&plain, 0);
	made_end(&packed, 0);
	buf_add(&b, packed.bytes.data, packed.bytes.len);
	turn(b.data + 8, 4);
	turn(b.data + 12, 2);
	for (size_t at = PS_HEADER_SIZE; at < b.len;) {
		uint8_t *p = b.data + at;
		uint32_t size;
		uint16_t type;

		memcpy(&size, p, 4);
		memcpy(&type, p + 4, 2);
		turn(p, 4);
		turn(p + 4, 2);
		turn(p + 6, 2);
		for (int i = 0; i < 4 && type == PS_END; i++)
			turn(p + 8 + 8 * (size_t)i, 8);
		for (int i = 0; i < 3 && type != PS_END; i++)
			turn(p + 8 + 4 * (size_t)i, 4);
		/* After the marks, of which there are none. */
		if (type == PS_SAMPLES)
			turn(p + 24, 4);
		at += size;
	}
	same_streams(plain.bytes.data, plain.bytes.len, b.data, b.len, "the other byte order");
	buf_release(&b);
	made_free(&plain);
	made_packed_free(&packed);
}

/* ---- bytes by hand, from perfpipe-stream(5) ---- */

/* A stream with one record of the three. */
static void by_hand(struct buf *b, uint32_t type, uint32_t id, uint32_t count, const char *data,
		    size_t len)
{
	uint32_t marks = type == PS_SAMPLES ? 8 : 0; /* bytes of none */
	uint32_t size = (uint32_t)((8 + 8 + marks + 4 + len + 7) / 8 * 8), n = (uint32_t)len;
	uint32_t order = 0x01020304;
	uint16_t version = 2, words[2] = {(uint16_t)type, 1};

	if (!b->len) {
		buf_adds(b, "PPSTREAM");
		buf_add(b, &order, 4);
		buf_add(b, &version, 2);
		buf_fill(b, 0, 10);
	}
	buf_add(b, &size, 4);
	buf_add(b, words, 4);
	buf_add(b, &id, 4);
	buf_add(b, &count, 4);
	buf_fill(b, 0, marks);
	buf_add(b, &n, 4);
	buf_add(b, data, len);
	buf_fill(b, 0, size - 20 - marks - len);
}

#define BYTES(text) text, sizeof(text) - 1

/* Five samples with mark 1 in their flags, and 2, 0, 1, 2, 0 beside; then with too few of these. */
static void test_marks_by_hand(void)
{
	const uint32_t want[] = {2, 0, 1, 2, 0};
	struct buf b = BUF_INIT;
	const struct ps_record *rec;
	unsigned good = 0;

	for (unsigned nmarks = 2; nmarks; nmarks--) {
		struct sreader *r;
		int rc;

		buf_reset(&b);
		by_hand(&b, PS_SAMPLES, 5, 0,
			BYTES("\x00\x05\x02\x01\x00"
			      "\x01\x01\x01\x00\x08\x09\x03"
			      "\x00\x00\x01\x01\x00\x00\x01\x01\x00\x00\x01\x01\x00\x00\x01\x01"));
		b.data[PS_HEADER_SIZE + 16] = (uint8_t)nmarks;
		b.data[PS_HEADER_SIZE + 20] = 2 | 0 << 2 | 1 << 4 | 2 << 6;
		r = reader_of(b.data, b.len, KEEP);
		while (!(rc = sreader_next(r, &rec)))
			if (rec->type == PS_SAMPLE)
				good += rec->sample.flags == want[good % 5];
		is_int(rc, nmarks == 2 ? PP_ECUT : PP_ECORRUPT, "%u bytes of marks", nmarks);
		sreader_free(r);
	}
	is_int(good, 5, "marks beside the samples hold");
	buf_release(&b);
}

static void test_by_hand(void)
{
	const uint64_t want[] = {MARK(128), 0x1000, MARK(512), 0x30, 0x20};
	const struct ps_record *rec;
	struct buf b = BUF_INIT;
	struct sreader *r;
	const struct ps_chain *c;

	/* User: 0x20 (difference 0x40 as zigzag), then 0x30, the leaf; kernel: 0x1000. */
	by_hand(&b, PS_CHAINS, 1, 2,
		BYTES("\x32\x02\x00\x11\x40\x20"
		      "\x31\x01\x01\x02\xa0\x1f"));
	/* Event 5 on CPU 1 in mode 1 with ip, chain; time 300; thread 7/8; ip -1; chain 2. */
	by_hand(&b, PS_SAMPLES, 2, 0, BYTES(""));
	by_hand(&b, PS_SAMPLES, 1, 0,
		BYTES("\x00\x05\x02\x04\x05"
		      "\x05\x12\x2c\x01\x01\x00\x08\x09\x03\x04"));
	r = reader_of(b.data, b.len, KEEP);
	ok(!sreader_next(r, &rec) && rec->type == PS_HEADER, "a header by hand");
	ok(!sreader_next(r, &rec) && rec->type == PS_CHAIN && rec->chain.id == 1,
	   "id 1 is handed out: others are forgotten");
	is_int(sreader_next(r, &rec), PP_ECORRUPT, "two samples in no bytes");
	sreader_free(r);
	b.len -= 14 + 20 + 6 + 24 + 16; /* without them */
	by_hand(&b, PS_SAMPLES, 1, 0,
		BYTES("\x00\x05\x02\x04\x05"
		      "\x05\x12\x2c\x01\x01\x00\x08\x09\x03\x04"));
	r = reader_of(b.data, b.len, KEEP);
	sreader_next(r, &rec);
	sreader_next(r, &rec);
	ok(!sreader_next(r, &rec) && rec->type == PS_CHAIN && rec->chain.id == 2,
	   "the chain of a sample comes before it");
	is_mem(rec->chain.ips.v, 8 * (size_t)rec->chain.ips.n, want, sizeof(want),
	       "with its marks and addresses, leaf first");
	ok(!sreader_next(r, &rec) && rec->type == PS_SAMPLE && rec->source == 1, "then the sample");
	ok(rec->sample.event == 5 && rec->sample.cpu == 1 && rec->sample.flags == 4 &&
		   rec->sample.time == 300 && rec->sample.pid == 7 && rec->sample.tid == 8 &&
		   rec->sample.comm == 3 && rec->sample.ip == UINT64_MAX && rec->sample.chain == 2,
	   "with all that the page says");
	c = sreader_chain(r, 2);
	ok(c && c->ips.n == 5, "the chain can be looked up");
	sreader_free(r);
	buf_release(&b);
	test_marks_by_hand();
}

/* A stream that is cut off at any place has the samples that are whole. */
static void test_cut(const struct made *m)
{
	struct sreader *all = made_reader(m, KEEP);
	unsigned before = 0, n, fewer = 0, others[2] = {0};
	size_t good = 0, cuts = 0;
	int rc;

	while (next_sample(all, &rc, &others[0]))
		before++;
	sreader_free(all);
	n = before;
	for (size_t len = m->bytes.len; len > m->bytes.len / 2; len -= 613) {
		struct sreader *x = made_reader(m, KEEP);
		struct sreader *y = reader_of(m->bytes.data, len, KEEP);
		const struct ps_record *ry;
		unsigned got = 0, same = 0;

		while ((ry = next_sample(y, &rc, &others[1]))) {
			same += alike(x, next_sample(x, &rc, &others[0]), y, ry);
			got++;
		}
		rc = sreader_status(y, rc);
		cuts++;
		good += same == got && got <= n &&
			rc == (len == m->bytes.len ? 0 : PP_EXIT_PARTIAL);
		fewer += got < n;
		n = got;
		sreader_free(x);
		sreader_free(y);
	}
	is_int(good, cuts, "cut off: what is there is right");
	/* Half of the stream was cut. */
	ok(2 * fewer > sample_records(m), "also within records: %u ends, %u records in all", fewer,
	   sample_records(m));
}

static void test_damage(void)
{
	static const struct {
		const char *what;
		uint32_t type, id, count;
		const char *data;
		size_t len;
	} cases[] = {
		{"ids that do not begin with 1", PS_CHAINS, 2, 1, BYTES("\x32\x00\x00")},
		{"an id of 0", PS_CHAINS, 0, 1, BYTES("\x32\x00\x00")},
		{"a parent that is not there", PS_CHAINS, 1, 1, BYTES("\x32\x00\x01")},
		{"nine words", PS_CHAINS, 1, 1, BYTES("\x32\x09\x00\0\0\0\0\0")},
		{"a difference of nine bytes", PS_CHAINS, 1, 1,
		 BYTES("\x32\x01\x00\x09\1\1\1\1\1\1\1\1\1")},
		{"words that are cut off", PS_CHAINS, 1, 1, BYTES("\x32\x01\x00\x02\x01")},
		{"a kind of the future", PS_CHAINS, 1, 1, BYTES("\xb2\x00\x00")},
		{"a section of the future", PS_CHAINS, 1, 1, BYTES("\x37\x00\x00")},
		{"a part that begins no section", PS_CHAINS, 1, 1, BYTES("\x22\x00\x00")},
		{"a part in another section", PS_CHAINS, 1, 2, BYTES("\x12\x00\x00\x21\x00\x01")},
		{"a section on one that goes on", PS_CHAINS, 1, 2,
		 BYTES("\x12\x00\x00\x31\x00\x01")},
		{"an escape without its word", PS_CHAINS, 1, 1, BYTES("\x3f\x00\x00")},
		{"parts that are missing", PS_STACKS, 1, 2, BYTES("\x00\x00\x00")},
		{"a section in a stack", PS_STACKS, 1, 1, BYTES("\x32\x00\x00")},
		{"a varint without an end", PS_STACKS, 1, 1,
		 BYTES("\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
		{"a shape that is not there", PS_SAMPLES, 1, 0, BYTES("\x01\x00\x00\x00\x00\x00")},
		{"a field that is not packed", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x80\x01\x01\x00\x00\x00\x00\x00")},
		{"a thread that is not there", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\x00")},
		{"no thread", PS_SAMPLES, 1, 0, BYTES("\x00\x01\x01\x00\x00\x00\x00")},
		{"a payload that is too long", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x10\x21\x00\x00\x00\x00\x00\x82\x08")},
		{"a change of the future", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x00\x81\x00\x00\x00\x00\x00")},
		{"a time of nine bytes", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x00\x01\x09\1\1\1\1\1\1\1\1\1\x00\x00\x00\x00")},
		{"a time that is cut off", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x00\x01\x04\1\1\1")},
		{"an ip that is cut off", PS_SAMPLES, 1, 0,
		 BYTES("\x00\x01\x01\x00\x00\x01\x21\1\1")},
		{"more samples than bytes", PS_SAMPLES, 2, 0,
		 BYTES("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00")},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = BUF_INIT;
		const struct ps_record *rec;
		struct sreader *r;
		int rc;

		by_hand(&b, cases[i].type, cases[i].id, cases[i].count, cases[i].data,
			cases[i].len);
		r = reader_of(b.data, b.len, KEEP);
		while (!(rc = sreader_next(r, &rec)))
			;
		is_int(rc, PP_ECORRUPT, "%s", cases[i].what);
		sreader_free(r);
		buf_release(&b);
	}
}

/* What a later version appended to a sample stays, and its chain gets the name of the output. */
static void test_unknown_fields(void)
{
	const uint64_t ip = 0x77;
	struct ps_chain c = {.id = 1, .ips = {&ip, 1}};
	struct ps_sample s = {.event = 1, .fields = PS_HAS(ip) | PS_HAS(chain), .ip = 5};
	const struct ps_record *rec;
	struct made in, out;
	struct sreader *r;
	uint64_t fields;

	made_begin(&in);
	for (c.id = 1; c.id <= 9; c.id++)
		swriter_put(&in.w, PS_CHAIN, 1, &c);
	s.chain = 9;
	swriter_sample(&in.w, 1, &s);
	made_end(&in, 0);
	/* A field of bit 40, in place of the address. */
	memcpy(&fields, in.bytes.data + in.bytes.len - 48 - 24, 8);
	fields = (fields & ~(uint64_t)PS_HAS(ip)) | UINT64_C(1) << 40;
	memcpy(in.bytes.data + in.bytes.len - 48 - 24, &fields, 8);
	memcpy(in.bytes.data + in.bytes.len - 48 - 16, &(uint64_t){9}, 8);
	made_packed(&out);
	copy(&in, &out);
	r = made_reader(&out, KEEP);
	do {
		if (sreader_next(r, &rec))
			break;
	} while (rec->type != PS_SAMPLE);
	ok(rec->type == PS_SAMPLE && rec->raw && same_words(&fields, 1, rec->raw + 40, 1, 8),
	   "unknown fields of a sample are copied");
	ok(sreader_chain(r, rec->sample.chain) && *sreader_chain(r, rec->sample.chain)->ips.v == ip,
	   "and its chain is named anew");
	sreader_free(r);
	made_free(&in);
	made_packed_free(&out);
}

/* A chain from its parts, leaf first: how many words. */
static uint32_t from_parts(const struct sreader *r, uint32_t id, uint64_t *to)
{
	struct ps_part p;
	uint32_t n = 0, mark = 0;

	for (uint32_t top = id; sreader_chain_part(r, id, &p); id = p.parent) {
		if ((p.last || id == top) && (p.mark || p.strange)) {
			mark = n;
			to[n++] = p.mark;
		}
		for (uint32_t i = p.n; i > 0; i--)
			to[n++] = p.words[i - 1];
		/* A strange mark is the last word of its section, from the leaf. */
		if (p.strange && p.n && p.words[0] >= MARK(4095))
			to[mark] = to[--n];
	}
	return n;
}

/* Chains and stacks that get the ids of the output, which begin again in between. */
static void test_parts(void)
{
	static struct made_chain chains[NCHAINS + 1];
	static uint32_t named[2][NCHAINS + 1];
	static uint64_t words[2 * DEEP + 2];
	uint32_t frames[20], id, parent, good = 0, stacks = 0, equal = 0;
	bool stay = true;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	seed = 11;
	for (uint32_t i = 0; i < 20; i++)
		frames[i] = i + 1;
	made_packed(&m);
	for (uint32_t i = 1; i <= NCHAINS; i++) {
		struct ps_chain c = {.flags = 0};
		struct ps_stack st = {.flags = i % 3};
		struct ps_sample s = {.event = 1, .fields = PS_HAS(chain) | PS_HAS(stack)};

		fill_chain(&chains[i], &chains[i - 1]);
		if (i == NCHAINS / 2) {
			swriter_restart(&m.w, PS_CHAINS);
			swriter_restart(&m.w, PS_STACKS);
		}
		c.flags = chains[i].flags;
		c.ips = (struct ps_u64s){chains[i].ips, chains[i].n};
		if (swriter_chain_soon(&m.w, i % PS_CHAINS_SOON, &c) ||
		    swriter_chain_now(&m.w, 1, i % PS_CHAINS_SOON, &named[0][i]))
			abort();
		swriter_chain(&m.w, 1, &c, &id);
		equal += id == named[0][i];
		/* Leaf first, whole; then from the root, in parts. */
		st.frames = (struct ps_u32s){frames, 1 + i % 20};
		swriter_stack(&m.w, 1, &st, &named[1][i]);
		parent = 0;
		for (uint32_t k = st.frames.n; k;) {
			uint32_t part[PS_PART_WORDS], n = 0;

			while (k && n < PS_PART_WORDS)
				part[n++] = frames[--k];
			swriter_stack_part(&m.w, 1, parent, part, n, k ? 0 : st.flags, &parent);
		}
		equal += parent == named[1][i];
		s.chain = named[0][i];
		s.stack = named[1][i];
		s.time = i;
		swriter_sample(&m.w, 1, &s);
	}
	made_end(&m, 0);
	is_int(equal, 2 * NCHAINS, "what is equal gets one id");
	ok(named[0][NCHAINS / 2] < 40 && named[1][NCHAINS / 2] <= 3, "ids begin again");
	r = made_reader(&m, KEEP | SREADER_PARTS);
	while (!sreader_next(r, &rec)) {
		const struct made_chain *c = &chains[rec->sample.time % (NCHAINS + 1)];
		const struct ps_chain *whole;
		const struct ps_stack *st;

		if (rec->type != PS_SAMPLE)
			continue;
		whole = sreader_chain(r, rec->sample.chain);
		for (uint32_t i = 1; rec->sample.chain > 8 && i <= 4; i++) {
			/* The second time around it is the oldest one. */
			stay = stay && whole == sreader_chain(r, rec->sample.chain);
			stay = stay && whole->id == rec->sample.chain;
			sreader_chain(r, i);
			sreader_chain(r, i + 1);
			sreader_chain(r, i + 2);
			stay = stay && whole->id == rec->sample.chain;
		}
		good += whole && whole->flags == c->flags &&
			same_words(whole->ips.v, whole->ips.n, c->ips, c->n, 8) &&
			same_words(words, from_parts(r, rec->sample.chain, words), c->ips, c->n, 8);
		st = sreader_stack(r, rec->sample.stack);
		stacks += st && st->flags == rec->sample.time % 3 &&
			  same_words(st->frames.v, st->frames.n, frames, 1 + rec->sample.time % 20,
				     4);
	}
	is_int(good, NCHAINS, "chains from their parts are those that were written");
	ok(stay, "one stays until PS_WHOLES others were asked for, also if it was there before");
	is_int(stacks, NCHAINS, "and stacks");
	sreader_free(r);
	made_packed_free(&m);
}

/* Other samples: among them those with a length of a payload that they do not have. */
static void test_seeds(void)
{
	for (uint32_t begin = 8; begin < 13; begin++) {
		struct made packed, to;

		made_packed(&packed);
		put_all(&packed.w, 1, begin);
		made_end(&packed, 0);
		made_packed(&to);
		copy_marked(&packed, &to, false, 0);
		is_marked(&packed, &to, false, "other samples");
		is_int(sample_records(&to), sample_records(&packed), "as many records of others");
		made_packed_free(&to);
		made_packed_free(&packed);
	}
}

int main(void)
{
	struct made plain, packed, again, back;

	made_begin(&plain);
	put_all(&plain.w, 3, 7);
	made_end(&plain, 0);
	made_packed(&packed);
	put_all(&packed.w, 3, 7);
	made_end(&packed, 0);
	same_streams(plain.bytes.data, plain.bytes.len, packed.bytes.data, packed.bytes.len,
		     "packed");
	ok(packed.bytes.len < plain.bytes.len / 2, "and smaller: %zu of %zu bytes",
	   packed.bytes.len, plain.bytes.len);
	made_packed(&again);
	copy(&packed, &again);
	same_streams(plain.bytes.data, plain.bytes.len, again.bytes.data, again.bytes.len,
		     "packed again");
	made_packed_free(&again);
	same_kept(plain.bytes.data, plain.bytes.len, packed.bytes.data, packed.bytes.len,
		  KEEP | SREADER_PARTS, "in parts");
	made_packed(&again);
	copy_kept(&packed, &again, KEEP | SREADER_PARTS);
	same_streams(plain.bytes.data, plain.bytes.len, again.bytes.data, again.bytes.len,
		     "parts copied");
	made_begin(&back);
	copy(&packed, &back);
	same_streams(plain.bytes.data, plain.bytes.len, back.bytes.data, back.bytes.len,
		     "unpacked");
	test_marked(&packed);
	test_cut(&packed);
	made_packed_free(&packed);
	made_packed_free(&again);
	made_free(&plain);
	made_free(&back);
	test_seeds();
	test_foreign();
	test_by_hand();
	test_damage();
	test_unknown_fields();
	test_parts();
	return done();
}
