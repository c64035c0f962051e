/*
 * What the readers and writers of formats share. Private to lib/conv.
 */
#ifndef PP_CONV_PARTS_H
#define PP_CONV_PARTS_H

#include "base/buf.h"
#include "base/out.h"
#include "base/src.h"
#include "conv/conv.h"
#include "conv/prof.h"

/* What a format can carry. */
#define CONV_TIMES   1u
#define CONV_CPUS    2u
#define CONV_THREADS 4u
#define CONV_LOSSES  8u
#define CONV_EVENTS  16u  /* more than one in a profile */
#define CONV_PACKED  32u  /* always gzip; others if the file's name ends in .gz */
#define CONV_BINARY  64u  /* nothing for a terminal */
#define CONV_BARE    128u /* text whose stacks do not begin with a command */
#define CONV_MADE    256u /* of a recording, not of samples */

struct conv;

/* Each returns 0 or an error; the context is what `open` gives. */
struct conv_writer {
	int (*open)(struct conv *c, void **ctx);
	int (*sample)(void *ctx, const struct prof_sample *s);
	/*
	 * NULL, or takes records of a stream for itself; *taken: a sample that belongs to no
	 * profile.
	 */
	int (*record)(void *ctx, const struct sreader *r, const struct ps_record *rec, bool *taken);
	int (*close)(void *ctx); /* writes what is left; all input has come */
	void (*free)(void *ctx); /* NULL is fine */
	unsigned prof;		 /* PROF_* */
};

/* Bytes of an input that is not a stream: all of them, which live while it is read. */
struct conv_input {
	const uint8_t *bytes;
	size_t n;
	const char *name;
};

struct conv_format {
	const char *name, *what;
	const char *endings; /* of names of files, with blanks between */
	unsigned can;
	const struct conv_writer *writer; /* NULL: made from the stream */
	/* NULL: not read. 0; PP_ECUT: damaged or estimated, which was reported; other errors. */
	int (*read)(struct conv *c, const struct conv_input *in);
	/* Whether bytes are of this format. */
	bool (*is)(const uint8_t *bytes, size_t n);
};

struct conv_account {
	uint64_t samples, taken; /* of the input; those written */
	uint64_t filtered, joined;
	uint64_t raw;	      /* with addresses only */
	uint64_t lost;	      /* by the recording */
	uint64_t first, last; /* times; first > last: none */
	unsigned had;	      /* CONV_* that the input told */
};

struct conv {
	struct prof *p;
	const struct conv_format *to;
	const struct conv_writer *writer;
	void *ctx; /* of the writer */
	struct out *out;
	struct diag *d;
	struct conv_account account;
	uint32_t last_event, last_thread;
	bool partial;	  /* something of the input was missing or estimated, which was reported */
	const char *name; /* of the input, or NULL */
	struct buf cmdline;  /* that was recorded */
	int64_t wall_offset; /* time of day less time of the recording; 0: not known */
};

/* A reader has a sample: it goes to the writer. 0 or an error. */
int conv_give(struct conv *c, const struct prof_sample *s);

/*
 * Begins with a writer; ends what it writes, `rc` being what reading ended with, PP_ECUT if it was
 * partial; frees all but the output. 0 or an error.
 */
int conv_begin(struct conv *c, const struct conv_writer *w);
int conv_end(struct conv *c, int rc);
void conv_release(struct conv *c);

/* Has a source read, which is freed; from NULL: by what is in it. As conv_from_stream. */
int conv_read(struct conv *c, const struct conv_format *from, struct src *s);

struct json;

/*
 * What reading JSON ended with: `rc`, or PP_ECUT, which is reported, if it is cut off or `strange`:
 * it refers to what is not there.
 */
int conv_json_status(struct conv *c, const struct conv_input *in, int rc, const struct json *j,
		     bool strange);

/* Appends what there is to say of all, for formats with a place for it: losses, the command. */
void conv_add_comment(const struct conv *c, struct buf *b);

/* Gives the output what is in b if that is much. 0 or an error. */
static inline int conv_flush(struct conv *c, struct buf *b, size_t more_than)
{
	return b->err || b->len < more_than ? b->err : out_take(c->out, b);
}
#define CONV_BLOCK (1u << 16)

extern const struct conv_writer conv_to_stream, conv_to_pprof, conv_to_speedscope, conv_to_firefox,
	conv_to_chrome, conv_to_callgrind, conv_to_perfetto, conv_to_sqlite;

/* ---- readers ---- */

/* All streams of a source, which it frees. 0; PP_ECUT: damaged, reported; PP_EUNSUPPORTED, ... */
int conv_from_stream(struct conv *c, struct src *s);

/* The same for text with stacks; bare: none of them begins with a command. */
int conv_from_text(struct conv *c, struct src *s, bool bare);

int conv_from_pprof(struct conv *c, const struct conv_input *in);
int conv_from_speedscope(struct conv *c, const struct conv_input *in);
int conv_from_firefox(struct conv *c, const struct conv_input *in);
int conv_from_chrome(struct conv *c, const struct conv_input *in);
int conv_from_callgrind(struct conv *c, const struct conv_input *in);
int conv_from_instruments(struct conv *c, const struct conv_input *in);
bool conv_is_pprof(const uint8_t *bytes, size_t n);
bool conv_is_speedscope(const uint8_t *bytes, size_t n);
bool conv_is_firefox(const uint8_t *bytes, size_t n);
bool conv_is_chrome(const uint8_t *bytes, size_t n);
bool conv_is_callgrind(const uint8_t *bytes, size_t n);
bool conv_is_instruments(const uint8_t *bytes, size_t n);

/* ---- what is converted through the event stream ---- */

/*
 * The source of an event stream for any input that is known: the input itself, or a stream in
 * memory that was made from it. In the form of filter.open; ctx is a struct conv_opts.
 */
int conv_open_stream(void *ctx, const char *file, struct src **s, struct diag *d);

/* The same, but text with stacks comes as it is. */
int conv_open_foldable(const struct conv_opts *o, const char *file, struct src **s, struct diag *d);

/* Of a format, by its name or the ending of a file's name; NULL: none. */
const struct conv_format *conv_format_named(const char *name);
const struct conv_format *conv_format_of_file(const char *file);
/* Of the bytes that it begins with, or of all. */
const struct conv_format *conv_format_of(const uint8_t *bytes, size_t n);

#endif
