/*
 * Decoding of ftrace text: what `cat trace`, `cat trace_pipe` and `trace-cmd report` print.
 * Private to lib/ftext: ftext.h is the interface.
 *
 * Sources: Documentation/trace/ftrace.rst and events.rst of the kernel, and what its versions and
 * trace-cmd print.
 *
 * The flow: ftext.c reads lines, line_head.c finds task, CPU and time, event_text.c the event and
 * its fields, graph_lines.c the same of the function graph tracer, text_event.c writes descriptors
 * and samples. A line that is not an event is passed on as text, so that a printer prints what was
 * read.
 */
#ifndef PP_FTEXT_PARTS_H
#define PP_FTEXT_PARTS_H

#include "base/arena.h"
#include "base/hashids.h"
#include "base/intern.h"
#include "ftext/ftext.h"
#include "stream/stream.h"

#define FTEXT_LINE_MAX	 60000 /* bytes of an event's lines: offsets in payloads have 16 bits */
#define FTEXT_BLOCK	 (256u << 10) /* bytes that are read at a time */
#define FTEXT_FIELDS_MAX 60	      /* of an event */
#define FTEXT_EVENTS_MAX 4096	      /* names of events; others are called "text" */
#define FTEXT_NAMES_MAX	 (1u << 20)   /* names of tasks, and of functions */
#define FTEXT_NAMES_SUM	 (64u << 20)  /* bytes of them */
#define FTEXT_NAME_MAX	 256	      /* bytes of a name */
#define FTEXT_CPUS_MAX	 8192	      /* whose calls are followed */
#define FTEXT_DEPTH_MAX	 256	      /* of them, and of a stack */

/* What a line begins with. Texts point into the line. */
struct ftext_head {
	struct ps_str buffer; /* of trace-cmd, where it reports several */
	struct ps_str comm;   /* empty: not known */
	uint32_t pid, tgid, cpu;
	bool timed, ticks; /* there is a time; it is not a number of seconds */
	uint64_t time;	   /* ns, or ticks */
	bool graph;	   /* a line of the function graph tracer: info is duration and function */
	bool flags;	   /* a column of flags is between CPU and time */
	struct ps_str info;
};

/* A field: its text, or a number that is known already. */
struct ftext_pair {
	struct ps_str key, text;
	bool is_number, is_hex;
	uint64_t number;
};

struct ftext_info {
	bool flags; /* as in the head, before the event is read: trace-cmd since 3.3 */
	struct ps_str system, name; /* of the event */
	const char *prefix;	    /* of the name */
	struct ftext_pair pairs[FTEXT_FIELDS_MAX];
	uint32_t n;
	bool is_hex;		    /* numbers are, without a prefix */
	bool stack;		    /* a stack follows */
	bool silent;		    /* no line of the text is this event */
	const char *unit;	    /* it is the sum of so many of these; NULL: an event */
	struct ps_str func, parent; /* of the function tracer */
};

struct ftext_field {
	struct ps_str name;
	bool is_text, is_unsigned;
};

struct ftext_event {
	uint32_t id;
	struct ps_str system, name;
	struct ftext_field fields[FTEXT_FIELDS_MAX];
	uint32_t n;
	bool silent;
	const char *unit;
	bool written; /* the descriptor, as it is now */
};

/* The content of the head of a latency tracer's text. */
struct ftext_latency {
	bool any;
	uint64_t us;
	uint32_t cpu;
	char task[64], from[64], to[64]; /* "COMM-PID", functions */
};

/* A sample that waits for the stack that may follow it. */
struct ftext_held {
	bool any, stack;
	uint32_t event; /* index in events, + 1 */
	struct ps_sample s;
	struct buf payload, line; /* line: of a stack, which has several */
};

struct ftext {
	struct src *src;
	struct swriter *w;
	struct diag *d;
	const char *name;
	struct ps_end *account;
	uint32_t source;
	int paused; /* error of what was done in a pause */
	int damage;
	bool announced;
	bool tracer, columns; /* the head of the text has these; with the first alone, lines have
				 no heads */
	bool lost_more;	      /* it was not told each time how many events were lost */

	struct buf bytes; /* what has been read; from at on */
	size_t at;
	struct buf text; /* lines that are not events */
	char tracer_name[32];
	struct ftext_latency latency;
	struct ftext_histogram {
		bool on, open; /* it is one; a row has begun */
		struct buf row;
	} hist;
	struct ftext_table {
		enum { FTEXT_NO_TABLE, FTEXT_COUNTS, FTEXT_DEEPEST } kind;
		struct buf rows; /* of the deepest stack: the end shows what is above each */
		uint32_t n;
	} table;
	char kernel[FTEXT_NAME_MAX], nr_cpus[16];
	uint64_t lost;	       /* events, at least */
	uint64_t lines, other; /* of events, and neither events nor comments */

	struct intern names;	    /* events: buffer, system, name */
	struct ftext_event *events; /* by id - 1 */
	struct arena arena;
	struct intern comms, funcs;
	struct hashids stacks;
	struct buf more; /* texts of a payload that are not of its line */
	struct intern dsos;
	struct ftext_info info; /* of the line that is being read */
	uint32_t frames[FTEXT_DEPTH_MAX];
	uint32_t nframes, ncpus;
	struct ftext_cpu *cpus;		/* of the function graph tracer */
	struct ftext_held held, before; /* the last event, and one whose stack it is */
};

/* ---- line_head.c ---- */

/* False: the line is not an event. */
bool ftext_head(const char *line, size_t len, struct ftext_head *h);

/* ---- event_text.c ---- */

/*
 * The event and its fields. bare: of a line without a head, which is an event only if it has a
 * name.
 */
bool ftext_info(const struct ps_str *text, bool bare, struct ftext_info *info);
/*
 * A number: decimal, with 0x, or of 16 hexadecimal digits; hex: of any. What may follow is
 * "[ns]".
 */
bool ftext_number(const struct ps_str *text, bool hex, uint64_t *v, bool *is_hex);
/* A further field, without a value; NULL: there are too many, or the name is too long. */
struct ftext_pair *ftext_add(struct ftext_info *info, struct ps_str key);
void ftext_add_text(struct ftext_info *info, const char *key, struct ps_str text);
void ftext_add_number(struct ftext_info *info, const char *key, uint64_t v);

/* ---- graph_lines.c ---- */

struct ftext_cpu {
	uint32_t pid;
	char comm[32];
	uint32_t depth;
	uint32_t calls[FTEXT_DEPTH_MAX]; /* functions */
};

/* "DURATION us | FUNCTION": the event, with the calls of its CPU as its stack. 0 or an error. */
int ftext_graph(struct ftext *t, const struct ps_str *text, uint32_t cpu, struct ftext_info *info);
/* "1)  a-12 => b-13": which task the CPU is in from there on. False: it is not such a line. */
bool ftext_graph_switch(struct ftext *t, const char *line, size_t len);
struct ftext_cpu *ftext_cpu(struct ftext *t, uint32_t cpu);

/* ---- tracer.c ---- */

/* A line of a tracer that names no fields; false: it is none. */
bool ftext_tracer(const struct ftext *t, struct ps_str text, struct ftext_info *info);
/* Looks at a line of the head of a text. */
void ftext_latency_head(struct ftext *t, const char *line, size_t len);
/* The latency that the head told, if it did, as an event. 0 or an error. */
int ftext_latency(struct ftext *t);

/* ---- hist_text.c ---- */

/* Whether a line is the first of a histogram. */
bool ftext_hist_head(const char *line, size_t len);
/* A line of a histogram. PP_END: it is not a row; 0 or an error. */
int ftext_hist(struct ftext *t, const char *line, size_t len);
/* How many hits without a place a line reports; 0: it reports none. */
uint64_t ftext_hist_dropped(const char *line, size_t len);

/* ---- kernel_tables.c ---- */

/* The table that a line is the head of; FTEXT_NO_TABLE: of none. */
int ftext_table_head(const char *line, size_t len);
/* A line of the table that t->table is. PP_END: it is not a row; 0 or an error. */
int ftext_table(struct ftext *t, const char *line, size_t len);
/* Its end. 0 or an error. */
int ftext_table_end(struct ftext *t);

/* ---- text_event.c ---- */

/* Takes an event to t->held. */
int ftext_hold(struct ftext *t, const struct ftext_head *h, const struct ftext_info *info,
	       const char *line, size_t len);
/* Writes what is held. */
int ftext_release(struct ftext *t);
/* The id of a function as a frame. 0: there are too many, or the name is too long. */
int ftext_func(struct ftext *t, const struct ps_str *name, uint32_t *id);
/* Adds a function to t->frames, unless it has no id or there are FTEXT_DEPTH_MAX already. */
int ftext_push(struct ftext *t, const struct ps_str *name);

static inline bool ftext_is(const struct ps_str *s, const char *text)
{
	return s->len == strlen(text) && !memcmp(s->p, text, s->len);
}

static inline bool ftext_starts(const char *p, size_t len, const char *text)
{
	size_t n = strlen(text);

	return len >= n && !memcmp(p, text, n);
}

static inline bool ftext_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ftext_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ftext_digit(c);
}

static inline struct ps_str ftext_trim(const char *p, size_t len)
{
	while (len && (*p == ' ' || *p == '\t'))
		p++, len--;
	while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	return ps_str(p, len);
}

#endif
