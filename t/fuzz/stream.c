/* Event streams: the reader, the copy of what it reads, and both printers. */
#include "base/err.h"
#include "stream/codec.h"
#include "print/text.h"

#include <dlfcn.h>
#include <event-parse.h>
#include <string.h>

/* The format text in the corpus. */
static const char honest[] =
	"name: tp\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:char comm[4];\toffset:24;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"pid=%d name=%s comm=%s f=%s\", REC->pid, __get_str(name), REC->comm, "
	"__print_flags(REC->pid & 0xf, \"|\", { 1, \"a\" }, { 4, \"b\" })\n";

/*
 * Stands before that of libtraceevent, which crashes on format texts that are not the kernel's
 * (perfpipe-stream(5), CAVEATS). Payloads and all else reach it as they are.
 */
enum tep_errno tep_parse_event(struct tep_handle *tep, const char *buf, unsigned long size,
			       const char *sys)
{
	static enum tep_errno (*real)(struct tep_handle *, const char *, unsigned long,
				      const char *);
	void *symbol;

	if (size != sizeof(honest) - 1 || memcmp(buf, honest, size) != 0)
		return TEP_ERRNO__INVALID_EVENT_NAME;
	if (!real) {
		symbol = dlsym(RTLD_NEXT, "tep_parse_event");
		memcpy(&real, &symbol, sizeof(real));
	}
	return real ? real(tep, buf, size, sys) : TEP_ERRNO__INVALID_EVENT_NAME;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OUTPUT_MAX (1u << 20) /* a stack of a thousand long names prints for ever */

struct sink {
	size_t len;
};

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	struct sink *s = ctx;

	(void)bytes;
	s->len += n;
	return s->len > OUTPUT_MAX ? PP_EIO : 0;
}

static void expect_same(const void *a, const void *b, size_t n)
{
	if (memcmp(a, b, n) != 0)
		__builtin_trap();
}

/* The bytes of a field that are no padding. */
#define SURE_u64    8
#define SURE_ref    4
#define SURE_str    (sizeof(void *) + 4)
#define SURE_regs   (16 + sizeof(void *))
#define SURE_branch (16 + sizeof(void *))
#define SURE_u64s   (sizeof(void *) + 4)

/* A sample has what its bytes say, whichever way it was taken, and nothing of those before it. */
static void check_sample(const struct ps_record *rec)
{
	static const uint8_t none[sizeof(struct ps_sample)];
	const struct ps_sample *s = &rec->sample;
	struct cursor c = cursor_make(rec->raw + 8, rec->size - 8, false);
	struct ps_sample long_way;

#define PS_F(bit, kind, name, what) \
	if (!ps_sample_has(s, name)) \
		expect_same(&s->name, none, sizeof(s->name));
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
	if (rec->foreign)
		return;
	memset(&long_way, 0xff, sizeof(long_way));
	if (ps_sample_decode(&c, &long_way))
		__builtin_trap();
	expect_same(s, &long_way, offsetof(struct ps_sample, ip));
#define PS_F(bit, kind, name, what) expect_same(&s->name, &long_way.name, SURE_##kind);
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
}

/* Reads all and gives each record to the printer and the writer. */
static void read_all(const uint8_t *data, size_t size, enum stext_form form)
{
	struct sink text_sink = {0}, copy_sink = {0};
	struct out text_out, copy_out;
	struct stext *text = NULL;
	struct sreader *r = NULL;
	struct swriter w = {0};
	const struct ps_record *rec;
	struct src *s;
	int rc = out_init_fn(&text_out, take, &text_sink);

	if (out_init_fn(&copy_out, take, &copy_sink) || rc)
		goto done;
	swriter_init(&w, &copy_out);
	if (form == STEXT_JSON && swriter_pack(&w, true))
		goto done;
	swriter_header(&w);
	if (src_from_mem(&s, data, size, "fuzz") || sreader_new(&r, s, STEXT_KEEP, NULL) ||
	    stext_new(&text, &text_out, &(struct stext_opts){.form = form}, NULL))
		goto done;
	while (!rc && !(rc = sreader_next(r, &rec))) {
		if (rec->type == PS_SAMPLE && rec->raw)
			check_sample(rec);
		rc = stext_record(text, r, rec);
		if (!rc && rec->type == PS_SAMPLE)
			rc = swriter_sample(&w, rec->source, &rec->sample);
		else if (!rc && rec->type != PS_HEADER && rec->type != PS_END)
			swriter_copy(&w, rec);
	}
	if (sreader_status(r, rc) == PP_EXIT_OK && size < PS_HEADER_SIZE)
		__builtin_trap();
done:
	stext_free(text);
	sreader_free(r);
	swriter_release(&w);
	out_release(&text_out);
	out_release(&copy_out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_all(data, size, STEXT_PERF);
	read_all(data, size, STEXT_JSON);
	return 0;
}
