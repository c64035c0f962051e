#include "stream/tep_print.h"

#include "base/err.h"
#include "base/intern.h"

#include <event-parse.h>
#include <event-utils.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace-seq.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define TEP_ADDRESS_SANITIZER true /* it reserves address space by the terabyte */
#else
#define TEP_ADDRESS_SANITIZER false
#endif
#define TRY_PAYLOAD   4096	  /* bytes of 0 that a format is tried on */
#define PAYLOAD_SPARE 64	  /* bytes of 0 behind a payload */
#define TABLE_MAX     (64u << 20) /* bytes of a table of symbols or of printk formats */

struct tep_print {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct map64 parsed; /* event id of the stream: 1 usable, 2 not */
	struct buf payload;  /* of the event that is being printed */
	struct buf table;    /* parts of a table that is not complete yet */
};

/* libtraceevent prints its complaints to stderr unless it is given another place. */
int tep_vprint(const char *name, enum tep_loglevel level, bool print_err, const char *fmt,
	       va_list ap);
int tep_vprint(const char *name, enum tep_loglevel level, bool print_err, const char *fmt,
	       va_list ap)
{
	(void)name;
	(void)level;
	(void)print_err;
	(void)fmt;
	(void)ap;
	return 0;
}

/* What the child of harmless() does: 0 if all went well. */
static int try_format(const struct ps_event *e, const char *system)
{
	static uint8_t zeroes[TRY_PAYLOAD];
	struct tep_handle *tep = tep_alloc();
	struct tep_record rec = {.size = TRY_PAYLOAD, .data = zeroes};
	struct tep_event *te;
	struct trace_seq seq;
	uint16_t type = (uint16_t)e->config;

	if (!tep || tep_parse_event(tep, e->format.p, e->format.len, system))
		return 1;
	te = tep_find_event(tep, (int)e->config);
	if (!te)
		return 1;
	memcpy(zeroes, &type, sizeof(type));
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &rec, "%s", TEP_PRINT_INFO);
	return 0;
}

struct tep_handle *tep_open_quiet(void)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, (int)sizeof(long));
	return tep;
}

int tep_print_new(struct tep_print **out)
{
	struct tep_print *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->tep = tep_open_quiet();
	if (!t->tep) {
		free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	trace_seq_init(&t->seq);
	return 0;
}

void tep_print_free(struct tep_print *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	map64_release(&t->parsed);
	buf_release(&t->payload);
	buf_release(&t->table);
	free(t);
}

/*
 * Whether libtraceevent parses a format and prints a payload by it. Some texts, such as no kernel
 * writes but a damaged or hostile recording may hold, make it crash or run for ever: so a child tries
 * first. That takes a fraction of a millisecond for each kind of event that is printed.
 */
static bool harmless(const struct ps_event *e, const char *system)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return true; /* no more processes: better some risk than no text */
	if (!child) {
		const struct rlimit cpu = {1, 1}, core = {0, 0}, memory = {1u << 30, 1u << 30};
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		if (!TEP_ADDRESS_SANITIZER)
			setrlimit(RLIMIT_AS, &memory);
		_exit(try_format(e, system));
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The event in libtraceevent's form; NULL if it has no usable format. */
static struct tep_event *event(struct tep_print *t, const struct ps_event *e)
{
	bool fresh;
	uint32_t *state = map64_put(&t->parsed, e->id, &fresh);

	if (!state)
		return NULL;
	if (fresh) {
		const char *colon = memchr(e->name.p, ':', e->name.len);
		char *system =
			strndup(e->name.p, colon ? (size_t)(colon - e->name.p) : e->name.len);

		*state = 2;
		if (system && e->format.len && harmless(e, system) &&
		    !tep_parse_event(t->tep, e->format.p, e->format.len, system))
			*state = 1;
		free(system);
	}
	return *state == 1 ? tep_find_event(t->tep, (int)e->config) : NULL;
}

static void add_hex(struct buf *b, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s%02x", i ? " " : "", (uint8_t)bytes[i]);
}

/* Whether a list of fields lies in the payload, and what they point to. */
static bool inside(const struct tep_format_field *f, const struct ps_str *payload)
{
	for (; f; f = f->next) {
		int64_t end = (int64_t)f->offset + f->size, at;
		uint32_t word;

		if (f->offset < 0 || f->size < 0 || end > payload->len)
			return false;
		if (!(f->flags & TEP_FIELD_IS_DYNAMIC) || f->size < (int)sizeof(word))
			continue;
		memcpy(&word, payload->p + f->offset, sizeof(word));
		at = (word & 0xffff) + (f->flags & TEP_FIELD_IS_RELATIVE ? end : 0);
		if (at + (word >> 16) > payload->len)
			return false;
	}
	return true;
}

/* libtraceevent does not look whether the payload is as long as the format text says. */
static bool whole(const struct tep_event *te, const struct ps_sample *s)
{
	return inside(te->format.common_fields, &s->payload) &&
	       inside(te->format.fields, &s->payload);
}

void tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		       struct buf *b)
{
	struct tep_event *te = event(t, e);
	struct tep_record rec = {.ts = s->time, .cpu = (int)s->cpu};

	if (!te || !whole(te, s)) {
		add_hex(b, s->payload.p, s->payload.len);
		return;
	}
	/* Texts in it need not be terminated: behind this copy there are zeroes. */
	buf_reset(&t->payload);
	buf_add(&t->payload, s->payload.p, s->payload.len);
	buf_fill(&t->payload, 0, PAYLOAD_SPARE);
	if (t->payload.err)
		return;
	rec.size = (int)s->payload.len;
	rec.data = t->payload.data;
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	buf_add_safe(b, t->seq.buffer, t->seq.len);
}

/* A line "ADDRESS TYPE NAME\t[MODULE]" of /proc/kallsyms. */
static void add_symbol(struct tep_print *t, char *line)
{
	char *end, *name, *module;
	unsigned long long addr = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return;
	name = end + 3;
	module = strchr(name, '\t');
	if (module)
		*module++ = 0;
	tep_register_function(t->tep, name, addr, module);
}

/* A line "0xADDRESS : "text"" of tracefs' printk_formats. */
static void add_format(struct tep_print *t, char *line)
{
	char *end, *quote;
	unsigned long long addr = strtoull(line, &end, 16);

	while (*end == ' ' || *end == ':')
		end++;
	quote = strrchr(end, '"');
	if (end == line || *end != '"')
		return;
	quote[quote > end ? 1 : 0] = 0;
	/* Without a look at its length, libtraceevent expects two characters between the quotes. */
	if (strlen(end) > 3)
		tep_register_print_string(t->tep, end, addr);
}

/* libtraceevent has parsers for both tables; those trust what they read. */
static void add_lines(struct tep_print *t, uint32_t kind)
{
	char *line = (char *)t->table.data;

	while (line && *line) {
		char *nl = strchr(line, '\n');

		if (nl)
			*nl = 0;
		if (kind == 1)
			add_symbol(t, line);
		else
			add_format(t, line);
		line = nl ? nl + 1 : NULL;
	}
}

int tep_print_table(struct tep_print *t, const struct ps_blob *b)
{
	int rc;

	if (b->kind != 1 && b->kind != 2)
		return 0;
	if (t->table.len + b->data.len <= TABLE_MAX)
		buf_add(&t->table, b->data.p, b->data.len);
	rc = t->table.err;
	if (!rc && (b->flags & 1))
		add_lines(t, b->kind);
	if (b->flags & 1)
		buf_release(&t->table);
	return rc;
}
