/* The event stream: records written and read back, versions, damage, dictionaries. */
#include "stream_make.h"

#define ALL_KEEP (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)
/* ---- bytes by hand, from perfpipe-stream(5) ---- */

static void e16(struct buf *b, uint16_t v)
{
	buf_add(b, &v, 2);
}

static void e32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, 4);
}

static void e64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, 8);
}

static void e_record(struct buf *b, uint32_t size, uint16_t type, uint16_t source)
{
	e32(b, size);
	e16(b, type);
	e16(b, source);
}

static void e_header(struct buf *b)
{
	buf_adds(b, "PPSTREAM");
	e32(b, 0x01020304);
	e16(b, 1);
	buf_fill(b, 0, 10);
}

static void e_end(struct buf *b, uint64_t records, uint64_t samples, uint32_t status)
{
	e_record(b, 48, 63, 0);
	e64(b, records);
	e64(b, samples);
	e64(b, 0);
	e64(b, 0);
	e32(b, status);
	e32(b, 0);
}

static void test_layout(void)
{
	struct ps_comm comm = {
		.time = 3, .cpu = 4, .pid = 5, .tid = 6, .comm = 7, .flags = PS_COMM_EXEC};
	struct ps_string str = {.id = 2, .text = ps_str("abcde", 5)};
	struct ps_stack stack = {.id = 3, .frames = {(const uint32_t[]){8, 9}, 2}};
	struct ps_chain chain = {.id = 4, .ips = {(const uint64_t[]){10}, 1}};
	struct ps_sample s = {.event = 1,
			      .cpu = 2,
			      .time = 3,
			      .pid = 4,
			      .tid = 5,
			      .comm = 6,
			      .flags = 7,
			      .fields = PS_HAS(ip) | PS_HAS(chain) | PS_HAS(user_regs),
			      .ip = 8,
			      .chain = 9,
			      .user_regs = {1, 5, (const uint64_t[]){11, 12}}};
	struct buf want = BUF_INIT;
	struct made m;

	made_begin(&m);
	swriter_put(&m.w, PS_COMM, 9, &comm);
	swriter_put(&m.w, PS_STRING, 0, &str);
	swriter_put(&m.w, PS_STACK, 0, &stack);
	swriter_put(&m.w, PS_CHAIN, 0, &chain);
	swriter_sample(&m.w, 9, &s);
	made_end(&m, 1);

	e_header(&want);
	e_record(&want, 40, 8, 9);
	e64(&want, 3);
	for (uint32_t i = 4; i <= 7; i++)
		e32(&want, i);
	e32(&want, 1);
	e32(&want, 0);
	e_record(&want, 32, 1, 0);
	e32(&want, 2);
	e32(&want, 0);
	e32(&want, 5);
	buf_add(&want, "abcde\0\0\0\0\0\0", 12);
	e_record(&want, 32, 35, 0);
	e32(&want, 3);
	e32(&want, 0);
	e32(&want, 2);
	e32(&want, 8);
	e32(&want, 9);
	e32(&want, 0);
	e_record(&want, 32, 32, 0);
	e32(&want, 4);
	e32(&want, 0);
	e32(&want, 1);
	e32(&want, 0);
	e64(&want, 10);
	e_record(&want, 96, 48, 9);
	e32(&want, 1);
	e32(&want, 2);
	e64(&want, 3);
	for (uint32_t i = 4; i <= 7; i++)
		e32(&want, i);
	e64(&want, 1 | 1 << 2 | 1 << 16);
	e64(&want, 8);
	e32(&want, 9);
	e32(&want, 0);
	e64(&want, 1);
	e64(&want, 5);
	e64(&want, 11);
	e64(&want, 12);
	e_end(&want, 5, 1, 1);
	is_mem(m.bytes.data, m.bytes.len, want.data, want.len, "a stream equals its bytes by hand");
	buf_release(&want);
	made_free(&m);
}

/* What is read as u64, or has a length, lies at a multiple of 8 bytes. */
static void test_alignment(void)
{
	for (size_t i = 0; i < NRECORD_TYPES; i++) {
		const struct ps_typedesc *t = ps_typedesc(record_types[i].number);
		size_t at = 0;
		bool good = true;

		for (unsigned k = 0; k < t->nfields; k++) {
			good = good && (t->fields[k].kind == PS_KIND_u32 || at % 8 == 0);
			at += t->fields[k].kind == PS_KIND_u32 ? 4 : 8;
		}
		ok(good, "%s: fields are aligned", record_types[i].name);
		is_str(t->name, record_types[i].name, "%s: its name", record_types[i].name);
	}
}

/* ---- round trips ---- */

static void test_records(void)
{
	for (size_t i = 0; i < NRECORD_TYPES; i++) {
		uint32_t type = record_types[i].number;
		struct ps_record in;
		const struct ps_record *rec;
		struct sreader *r;
		struct made m;
		int rc;

		if (type == PS_SAMPLE || type == PS_END || is_packed_type(type))
			continue;
		made_begin(&m);
		fill_record(&in, type, (unsigned)i);
		rc = swriter_put(&m.w, (enum ps_type)type, in.source, &in.sample);
		made_end(&m, 0);
		is_int(rc, 0, "%s: written", record_types[i].name);
		r = made_reader(&m, ALL_KEEP);
		ok(!sreader_next(r, &rec) && rec->type == PS_HEADER, "%s: a header",
		   record_types[i].name);
		ok(!sreader_next(r, &rec) && rec->type == type && rec->source == 7,
		   "%s: type and source", record_types[i].name);
		ok(same_fields(ps_typedesc(type), &in.sample, &rec->sample), "%s: every field",
		   record_types[i].name);
		ok(!sreader_next(r, &rec) && rec->type == PS_END && rec->end.records == 1,
		   "%s: END", record_types[i].name);
		is_int(sreader_next(r, &rec), PP_END, "%s: the end", record_types[i].name);
		sreader_free(r);
		made_free(&m);
	}
}

static void one_sample(uint64_t fields, const char *name)
{
	struct ps_sample in, all;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	made_begin(&m);
	fill_sample(&all, all_bits);
	swriter_sample(&m.w, 3, &all);
	fill_sample(&in, fields);
	swriter_sample(&m.w, 3, &in);
	made_end(&m, 0);
	r = made_reader(&m, 0);
	sreader_next(r, &rec);
	ok(!sreader_next(r, &rec) && same_sample(&all, &rec->sample), "sample: %s, after all",
	   name);
	ok(!sreader_next(r, &rec) && rec->type == PS_SAMPLE && rec->source == 3 &&
		   same_sample(&in, &rec->sample),
	   "sample: %s", name);
	ok(lacks(&rec->sample, fields), "sample: %s, what is absent reads 0", name);
	ok(!sreader_next(r, &rec) && rec->end.samples == 2, "sample: %s, counted", name);
	sreader_free(r);
	made_free(&m);
}

static void test_samples(void)
{
	one_sample(0, "bare");
#define PS_F(bit, kind, name, what) one_sample(UINT64_C(1) << (bit), #name);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
	one_sample(all_bits, "all fields");
}

/* The copies that the reader keeps. */
static void test_dictionaries(void)
{
	struct ps_record in[8];
	const struct ps_record *rec;
	const uint32_t kinds[8] = {PS_STRING, PS_EVENT, PS_DSO,	  PS_CHAIN,
				   PS_SYMBOL, PS_FRAME, PS_STACK, PS_SRCFILE};
	const void *got[8];
	struct ps_string again = {.id = 1, .text = ps_str("a longer text than before", 25)};
	struct sreader *r;
	struct made m;
	size_t len;
	const char *s;

	made_begin(&m);
	for (unsigned i = 0; i < 8; i++) {
		fill_record(&in[i], kinds[i], 0);
		swriter_put(&m.w, (enum ps_type)kinds[i], 1, &in[i].sample);
	}
	swriter_put(&m.w, PS_STRING, 0, &again);
	again.text = ps_str("", 0);
	swriter_put(&m.w, PS_STRING, 0, &again);
	made_end(&m, 0);
	r = made_reader(&m, ALL_KEEP);
	for (int i = 0; i < 9; i++)
		sreader_next(r, &rec);
	s = sreader_string(r, 1, &len);
	is_mem(s, len, in[0].string.text.p, in[0].string.text.len, "a string is kept");
	is_int(s[len], 0, "with a NUL after it");
	got[0] = NULL;
	got[1] = sreader_event(r, 1);
	got[2] = sreader_dso(r, 1);
	got[3] = sreader_chain(r, 1);
	got[4] = sreader_symbol(r, 1);
	got[5] = sreader_frame(r, 1);
	got[6] = sreader_stack(r, 1);
	got[7] = sreader_srcfile(r, 1);
	for (int i = 1; i < 8; i++)
		ok(got[i] && same_fields(ps_typedesc(kinds[i]), got[i], &in[i].sample), "%s: kept",
		   ps_typedesc(kinds[i])->name);
	ok(!sreader_event(r, 2) && !sreader_event(r, 0) && !sreader_event(r, UINT32_MAX),
	   "ids that are not defined give NULL");
	sreader_next(r, &rec);
	s = sreader_string(r, 1, &len);
	is_mem(s, len, "a longer text than before", 25, "an id can be defined again, longer");
	sreader_next(r, &rec);
	s = sreader_string(r, 1, &len);
	is_mem(s, len, "", 0, "and shorter");
	sreader_free(r);

	r = made_reader(&m, 0);
	while (!sreader_next(r, &rec))
		;
	ok(sreader_string(r, 1, &len) && !sreader_event(r, 1) && !sreader_dso(r, 1) &&
		   !sreader_chain(r, 1) && !sreader_stack(r, 1),
	   "only strings are kept when nothing is asked for");
	sreader_free(r);
	made_free(&m);
}

/* ---- versions ---- */

/* A reader over a header, the bytes of `body`, and END. */
static struct sreader *around(struct buf *b, uint64_t records, uint64_t samples)
{
	e_end(b, records, samples, 0);
	return reader_of(b->data, b->len, ALL_KEEP);
}

static void test_unknown(void)
{
	struct buf b = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	made_begin(&m);
	e_header(&b);
	e_record(&b, 24, 61, 5);
	buf_adds(&b, "what is new here");
	e_record(&b, 8, 40000, 0);
	r = around(&b, 2, 0);
	sreader_next(r, &rec);
	is_int(swriter_copy(&m.w, rec), PP_EUSAGE, "a header is not copied");
	ok(!sreader_next(r, &rec) && rec->type == 61 && rec->source == 5,
	   "an unknown type is given");
	is_int(swriter_copy(&m.w, rec), 0, "and can be copied");
	ok(!sreader_next(r, &rec) && rec->type == 40000, "a type beyond the table");
	is_int(swriter_copy(&m.w, rec), 0, "too");
	ok(!sreader_next(r, &rec) && rec->type == PS_END, "then END");
	is_int(swriter_copy(&m.w, rec), PP_EUSAGE, "END is not copied");
	is_int(sreader_status(r, sreader_next(r, &rec)), 0, "nothing is wrong with it");
	made_end(&m, 0);
	is_mem(m.bytes.data, m.bytes.len, b.data, b.len, "the copy equals the input");
	sreader_free(r);
	made_free(&m);
	buf_release(&b);
}

static void test_longer(void)
{
	struct buf b = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;

	e_header(&b);
	e_record(&b, 56, 8, 0); /* COMM, with a field of the future */
	e64(&b, 3);
	for (uint32_t i = 4; i <= 7; i++)
		e32(&b, i);
	e32(&b, 1);
	e32(&b, 0);
	e64(&b, 0xffff);
	e64(&b, 0xffff);
	e_record(&b, 64, 48, 0); /* a SAMPLE with a field of bit 40 after its ip */
	e32(&b, 1);
	e32(&b, 2);
	e64(&b, 3);
	for (uint32_t i = 4; i <= 7; i++)
		e32(&b, i);
	e64(&b, 1 | UINT64_C(1) << 40);
	e64(&b, 0x77);
	e64(&b, 0x88);
	r = around(&b, 2, 1);
	made_begin(&m);
	sreader_next(r, &rec);
	ok(!sreader_next(r, &rec) && rec->comm.comm == 7 && rec->comm.flags == 1,
	   "a longer record is read");
	swriter_copy(&m.w, rec);
	ok(!sreader_next(r, &rec) && rec->sample.ip == 0x77 && rec->sample.flags == 7,
	   "a sample with unknown fields is read");
	is_u64(rec->sample.fields, 1, "and says only what is known of it");
	swriter_copy(&m.w, rec);
	made_end(&m, 0);
	is_mem(m.bytes.data, m.bytes.len, b.data, b.len, "copies keep what is not known");
	sreader_free(r);
	made_free(&m);
	buf_release(&b);
}

/* A CHAIN of one address. */
static void e_chain(struct buf *b, uint32_t id)
{
	e_record(b, 32, PS_CHAIN, 0);
	e32(b, id);
	e32(b, 0);
	e32(b, 1);
	e32(b, 0);
	e64(b, 0x77);
}

/* Ids that restart are dense, or nearly so. */
static void test_gap(void)
{
	static const struct {
		uint32_t ids[4]; /* up to a 0 */
		bool good;
	} cases[] = {
		{{PS_ID_GAP}, true},
		{{PS_ID_GAP + 1}, false},
		{{1, 2, PS_ID_GAP + 4}, true},
		{{1, 2, PS_ID_GAP + 5}, false},
		{{1, 2, 1, PS_ID_GAP + 3}, false}, /* they began again */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ps_record *rec;
		struct buf b = BUF_INIT;
		struct sreader *r;
		unsigned n = 0;
		int rc;

		e_header(&b);
		while (n < 4 && cases[i].ids[n])
			e_chain(&b, cases[i].ids[n++]);
		r = around(&b, n, 0);
		while (!(rc = sreader_next(r, &rec)))
			;
		is_int(rc, cases[i].good ? PP_END : PP_ECORRUPT, "ids that are not dense: %zu", i);
		sreader_free(r);
		buf_release(&b);
	}
}

static void test_shorter(void)
{
	struct buf b = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;

	e_header(&b);
	e_record(&b, 40, 8, 0);
	for (uint32_t i = 1; i <= 8; i++)
		e32(&b, i);
	e_record(&b, 16, 8, 0); /* COMM that ends after its time */
	e64(&b, 3);
	e_record(&b, 8, 5, 0); /* EVENT without anything: without an id it defines nothing */
	r = around(&b, 3, 0);
	sreader_next(r, &rec);
	ok(!sreader_next(r, &rec) && rec->comm.cpu && rec->comm.comm && rec->comm.flags,
	   "a whole record");
	ok(!sreader_next(r, &rec) && rec->comm.time == 3 && !rec->comm.cpu && !rec->comm.comm &&
		   !rec->comm.flags,
	   "what a shorter record lacks reads as zero");
	is_int(sreader_next(r, &rec), PP_ECORRUPT, "a dictionary entry must have an id");
	sreader_free(r);
	buf_release(&b);
}

/* As large as a record can be, and shorter than its table: the copy is larger than the record. */
static void test_largest(void)
{
	uint32_t text = PS_RECORD_MAX - 8 - 8 - 4;
	struct ps_string str = {.id = 1};
	struct buf b = BUF_INIT;
	const struct ps_record *rec;
	struct sreader *r;
	struct made m;
	char *bytes = calloc(1, text + 8);

	e_header(&b);
	e_record(&b, PS_RECORD_MAX, 33, 0); /* SYMBOL that ends after its name */
	e32(&b, 1);
	e32(&b, 0);
	buf_fill(&b, 0, 24);
	e32(&b, text - 24);
	buf_fill(&b, 'n', text - 24);
	r = around(&b, 1, 0);
	sreader_next(r, &rec);
	is_int(sreader_next(r, &rec), 0, "a record of the largest size is read");
	is_int(sreader_symbol(r, 1) ? sreader_symbol(r, 1)->name.len : 0, text - 24, "and kept");
	sreader_free(r);
	made_begin(&m);
	str.text = ps_str(bytes, text);
	is_int(swriter_put(&m.w, PS_STRING, 0, &str), 0, "one can be written");
	str.text.len++;
	is_int(swriter_put(&m.w, PS_STRING, 0, &str), PP_ELIMIT, "a larger one cannot");
	made_free(&m);
	free(bytes);
	buf_release(&b);
}

/* ---- ends ---- */

static void small_stream(struct made *m, const char *text, uint32_t status)
{
	struct ps_string str = {.id = 1, .text = ps_str(text, strlen(text))};
	struct ps_sample s;

	made_begin(m);
	swriter_put(&m->w, PS_STRING, 0, &str);
	fill_sample(&s, all_bits & ~PS_HAS(payload));
	swriter_sample(&m->w, 1, &s);
	made_end(m, status);
}

/* Reads to the end. */
static int drain(const void *bytes, size_t len, int *status, uint64_t *records)
{
	struct sreader *r = reader_of(bytes, len, ALL_KEEP);
	const struct ps_record *rec;
	int rc;

	*records = 0;
	while (!(rc = sreader_next(r, &rec)))
		(*records)++;
	*status = sreader_status(r, rc);
	is_int(sreader_next(r, &rec), rc, "the end stays the end");
	sreader_free(r);
	return rc;
}

static void test_cut(void)
{
	struct made m;
	uint64_t records;
	int status, bad = 0;

	small_stream(&m, "text", 0);
	for (size_t n = 0; n <= m.bytes.len; n++) {
		struct sreader *r = reader_of(m.bytes.data, n, ALL_KEEP);
		const struct ps_record *rec;
		int rc, want = n == m.bytes.len ? PP_END : n ? PP_ECUT : PP_EUNSUPPORTED;

		while (!(rc = sreader_next(r, &rec)))
			;
		if (rc != want || sreader_status(r, rc) != (rc == PP_END ? 0 : n ? 1 : 2)) {
			printf("# cut at %zu: %d\n", n, rc);
			bad++;
		}
		sreader_free(r);
	}
	is_int(bad, 0, "cut at every byte: always seen");
	is_int(drain(m.bytes.data, 0, &status, &records), PP_EUNSUPPORTED,
	       "empty input: its writer could not begin");
	is_int(status, 2, "so that nothing can be done");
	is_int(drain(m.bytes.data, m.bytes.len - 48, &status, &records), PP_ECUT, "END is missing");
	is_int((int64_t)records, 3, "what is there is read");
	buf_addc(&m.bytes, 'x');
	is_int(drain(m.bytes.data, m.bytes.len, &status, &records), PP_ECORRUPT,
	       "bytes after END are no stream");
	is_int(status, 1, "which makes the result partial");
	is_int((int64_t)records, 4, "after it was read");
	is_int(drain("PERFILE2 and so on until it is long", 30, &status, &records), PP_EUNSUPPORTED,
	       "a perf.data is no stream");
	is_int(status, 2, "and cannot be read");
	made_free(&m);
}

static void end_with(const char *name, uint64_t records, uint64_t samples, uint32_t end_status,
		     int want)
{
	struct buf b = BUF_INIT;
	uint64_t got;
	int status;

	e_header(&b);
	e_record(&b, 8, 61, 0);
	e_end(&b, records, samples, end_status);
	is_int(drain(b.data, b.len, &status, &got), PP_END, "END, %s: read", name);
	is_int(status, want, "END, %s: status", name);
	buf_release(&b);
}

static void test_end(void)
{
	end_with("all is well", 1, 0, 0, 0);
	end_with("upstream was partial", 1, 0, 1, 1);
	end_with("upstream failed, and nothing came", 1, 0, 2, 2);
	end_with("a strange status", 1, 0, UINT32_MAX, 2);
	end_with("records are missing", 2, 0, 0, 1);
	end_with("there are too many", 0, 0, 0, 1);
	end_with("samples are missing", 1, 1, 0, 1);
	end_with("counts at their limits", UINT64_MAX, UINT64_MAX, 0, 1);
}

static void test_concatenated(void)
{
	struct made a, b;
	struct sreader *r;
	const struct ps_record *rec;
	size_t len;
	int rc, headers = 0, empty = 0;

	small_stream(&a, "first", 0);
	small_stream(&b, "second", 0);
	buf_add(&a.bytes, b.bytes.data, b.bytes.len);
	r = made_reader(&a, ALL_KEEP);
	while (!(rc = sreader_next(r, &rec))) {
		if (rec->type != PS_HEADER)
			continue;
		headers++;
		empty += !sreader_string(r, 1, &len);
	}
	is_int(rc, PP_END, "two streams in a row end well");
	is_int(headers, 2, "with a header each");
	is_int(empty, 2, "at which no id is defined");
	is_int((int64_t)sreader_account(r)->samples, 2, "samples are added up");
	is_int((int64_t)sreader_account(r)->records, 4, "records too");
	is_mem(sreader_string(r, 1, NULL), 6, "second", 6, "the second stream's strings hold");
	sreader_free(r);
	/* The END of the first is taken out. */
	made_free(&a);
	small_stream(&a, "first", 0);
	a.bytes.len -= 48;
	buf_add(&a.bytes, b.bytes.data, b.bytes.len);
	r = made_reader(&a, ALL_KEEP);
	headers = 0;
	while (!(rc = sreader_next(r, &rec)))
		headers += rec->type == PS_HEADER;
	is_int(rc, PP_END, "a header instead of END: the second stream is read");
	is_int(headers, 2, "from its header on");
	is_int(sreader_status(r, rc), 1, "and the result is partial");
	sreader_free(r);
	made_free(&a);
	made_free(&b);
}

/* ---- hostile input ---- */

static void hostile(const char *name, uint32_t size, uint16_t type, uint32_t w0, uint32_t w1,
		    uint32_t w2, int want)
{
	struct buf b = BUF_INIT;
	uint64_t records;
	int status;

	e_header(&b);
	e_record(&b, size, type, 0);
	e32(&b, w0);
	e32(&b, w1);
	e32(&b, w2);
	buf_fill(&b, 0, 100);
	is_int(drain(b.data, b.len, &status, &records), want, "%s", name);
	buf_release(&b);
}

static void test_hostile(void)
{
	struct buf b = BUF_INIT;
	uint64_t records;
	int status;

	hostile("a record of size 0", 0, 61, 0, 0, 0, PP_ECORRUPT);
	hostile("a size that is no multiple of 8", 12, 61, 0, 0, 0, PP_ECORRUPT);
	hostile("a size beyond the limit", PS_RECORD_MAX + 8, 61, 0, 0, 0, PP_ECORRUPT);
	hostile("a text longer than its record", 32, PS_STRING, 1, 0, 13, PP_ECORRUPT);
	hostile("a text of 4 GB", 32, PS_STRING, 1, 0, UINT32_MAX, PP_ECORRUPT);
	hostile("an array longer than its record", 32, PS_STACK, 1, 0, 4, PP_ECORRUPT);
	hostile("an array of 2^32 numbers", 32, PS_CHAIN, 1, 0, UINT32_MAX, PP_ECORRUPT);
	hostile("the id 0", 32, PS_STRING, 0, 0, 0, PP_ECORRUPT);
	hostile("an id beyond the limit", 32, PS_STRING, PS_ID_MAX, 0, 0, PP_ELIMIT);
	hostile("a sample that is too short", 32, PS_SAMPLE, 1, 2, 3, PP_ECORRUPT);
	e_header(&b);
	b.data[8] ^= 1;
	is_int(drain(b.data, b.len, &status, &records), PP_ECORRUPT, "a wrong byte order mark");
	buf_reset(&b);
	e_header(&b);
	b.data[12] = b.data[13] = 2;
	is_int(drain(b.data, b.len, &status, &records), PP_EUNSUPPORTED, "a later version");
	is_int(status, 2, "which cannot be read");
	buf_release(&b);
}

int main(void)
{
	test_layout();
	test_alignment();
	test_records();
	test_samples();
	test_dictionaries();
	test_unknown();
	test_longer();
	test_gap();
	test_shorter();
	test_largest();
	test_cut();
	test_end();
	test_concatenated();
	test_hostile();
	buf_release(&fill_table);
	return done();
}
