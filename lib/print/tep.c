/*
 * libtraceevent, handled with care: events are learnt, and dangerous payloads printed, in a child
 * first.
 */
#include "print/tep.h"

#include "base/err.h"
#include "stream/stream.h"

#include <errno.h>
#include <event-parse.h>
#include <event-utils.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace-seq.h>
#include <unistd.h>

/* ---- texts of formats: whether one is as the kernel writes it ---- */

/* The line at *p, which goes on after it; NULL at the end. */
static const char *next_line(const char **p, const char *end, size_t *len)
{
	const char *line = *p, *nl;

	if (line >= end)
		return NULL;
	nl = memchr(line, '\n', (size_t)(end - line));
	*len = (size_t)((nl ? nl : end) - line);
	*p = nl ? nl + 1 : end;
	return line;
}

/* The length of what `s` begins with: the text, or, for "", one digit or more; 0 if it does not. */
static size_t begins(const char *s, size_t len, const char *text)
{
	size_t n = strlen(text);

	if (n)
		return len >= n && !memcmp(s, text, n) ? n : 0;
	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* "TYPE NAME[N]": words, stars and pairs of brackets, the last of which is a name or an array. */
static bool declaration_ok(const char *s, size_t len)
{
	int open = 0;
	bool word = false;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		word = word || letter;
		if (c == '[' || c == '(')
			open++;
		else if (c == ']' || c == ')')
			open--;
		else if (!letter && !(c >= '0' && c <= '9') && !strchr(" *,:.+-", c))
			return false;
		if (open < 0 || !c)
			return false;
	}
	return word && !open && len > 2 && !strchr(" *,:.+-()[", s[len - 1]) && memchr(s, ' ', len);
}

/* "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;", the last part may be missing. */
static bool field_line_ok(const char *s, size_t len)
{
	static const char *const parts[] = {";\toffset:", "", ";\tsize:", "",
					    ";\tsigned:", "", ";"};
	const char *semi = memchr(s, ';', len);
	size_t at, n;

	n = begins(s, len, "\tfield:");
	if (!n)
		n = begins(s, len, "\tfield special:");
	if (!n || !semi || !declaration_ok(s + n, (size_t)(semi - s) - n))
		return false;
	at = (size_t)(semi - s);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++, at += n) {
		n = begins(s + at, len - at, parts[i]);
		if (!n && i == 4)
			return len - at == 1 && s[at] == ';';
		if (!n)
			return false;
	}
	return at == len;
}

/*
 * Whether a format has the form that the kernel gives it. libtraceevent follows a null pointer
 * where a damaged one has not what it expects.
 */
static bool format_ok(const char *p, size_t size)
{
	static const char *const starts[] = {"name: ", "ID: ", "format:"};
	const char *end = p + size, *line;
	size_t len, n;

	if (memchr(p, 0, size))
		return false;
	for (int i = 0; i < 3; i++) {
		line = next_line(&p, end, &len);
		n = line ? begins(line, len, starts[i]) : 0;
		if (!n || (i < 2 && len == n) ||
		    (i == 1 && begins(line + n, len - n, "") != len - n))
			return false;
		if (!i && strspn(line + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_") != len - n)
			return false;
	}
	while ((line = next_line(&p, end, &len)) && !begins(line, len, "print fmt: "))
		if (len && !field_line_ok(line, len))
			return false;
	return line != NULL;
}

/* Whether libtraceevent can be given the format, and all fields lie where a payload can be. */
static bool tep_format_ok(const struct ps_event *e)
{
	struct ps_event_field f;
	size_t pos = 0;

	if (!format_ok(e->format.p, e->format.len))
		return false;

	while (!ps_event_field_next(e, &pos, &f))
		if (f.offset > TEP_FIELD_END_MAX || f.size > TEP_FIELD_END_MAX - f.offset)
			return false;
	return true;
}

/* ---- libtraceevent ---- */

#ifdef __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER true /* it reserves memory by the terabyte */
#else
#define ADDRESS_SANITIZER false
#endif
#define TRIAL_MEMORY (1u << 30) /* bytes that a trial may take */
#define TRIAL_LATE   (-2)
#define TRIAL_LACKED 3		  /* status of a child that lacked memory */
#define TABLE_MAX    (256u << 20) /* bytes of a table */

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

struct tep_handle *tep_open_quiet(uint32_t long_size)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, long_size == 4 ? 4 : 8);
	return tep;
}

/* Whether the option NAME[=VALUE] or PLUGIN:NAME[=VALUE] is this one. */
static bool is_option(const char *option, const char *plugin, const char *name, size_t len)
{
	size_t n = strcspn(option, "="), prefix = strcspn(plugin, "\n");

	if (!memchr(option, ':', n))
		return n == len && !memcmp(option, name, len);
	return n == prefix + 1 + len && !memcmp(option, plugin, prefix) && option[prefix] == ':' &&
	       !memcmp(option + prefix + 1, name, len);
}

/*
 * Reads "  plugin:\tNAME\n  option:\tNAME\n" (the list that libtraceevent makes of them as data
 * writes beyond its end). True if it is one, or if there are none, since then nothing is known.
 */
static bool find_in(const char *text, const char *option, struct buf *have)
{
	const char *plugin = "";
	bool found = false, any = false;

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (!strncmp(p, "  plugin:\t", 10))
			plugin = p + 10;
		if (strncmp(p, "  option:\t", 10) != 0)
			continue;
		found |= is_option(option, plugin, p + 10, strcspn(p + 10, "\n"));
		any = true;
		buf_adds(have, ", ");
		buf_add_safe(have, plugin, strcspn(plugin, "\n"));
		buf_addc(have, ':');
		buf_add_safe(have, p + 10, strcspn(p + 10, "\n"));
	}
	return found || !any;
}

/* The text that libtraceevent makes of its plugins' options. NULL: none; else for free(). */
static char *options_text(void)
{
	struct tep_handle *tep = tep_open_quiet(8);
	struct tep_plugin_list *plugins = tep ? tep_load_plugins(tep) : NULL;
	struct trace_seq seq;
	char *text;

	trace_seq_init(&seq);
	if (plugins)
		tep_plugin_print_options(&seq);
	trace_seq_terminate(&seq);
	text = seq.buffer && seq.state == TRACE_SEQ__GOOD ? strdup(seq.buffer) : NULL;
	trace_seq_destroy(&seq);
	if (plugins)
		tep_unload_plugins(plugins, tep);
	tep_free(tep);
	return text;
}

static bool find_option(const char *option, struct buf *have)
{
	char *text = options_text();
	bool found = !text || find_in(text, option, have);

	free(text);
	return found;
}

/* The value of a line "  KEY:\tVALUE"; NULL: it is another one. */
static const char *value_of(const char *line, const char *key, int *len)
{
	size_t n = strlen(key);

	line += strspn(line, " ");
	if (strncmp(line, key, n) != 0 || line[n] != ':')
		return NULL;
	line += n + 1 + strspn(line + n + 1, "\t ");
	*len = (int)strcspn(line, "\n");
	return line;
}

void tep_list_options(struct buf *b)
{
	char *text = options_text(), name[64] = "", full[160];
	const char *value;
	int n;

	for (const char *p = text; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if ((value = value_of(p, "plugin", &n)))
			snprintf(name, sizeof(name), "%.*s", n, value);
		else if ((value = value_of(p, "option", &n)))
			snprintf(full, sizeof(full), "%s:%.*s", name, n < 80 ? n : 80, value);
		else if ((value = value_of(p, "desc", &n)))
			buf_addf(b, "%-27s %.*s\n", full, n, value);
	}
	free(text);
}

int tep_plugin_option(const char *option, struct buf *have)
{
	char *name = strdup(option), *value = name ? strchr(name, '=') : NULL;
	int rc = 0;

	if (!find_option(option, have)) {
		free(name);
		return PP_EUSAGE;
	}
	if (value)
		*value++ = 0;
	/* What it says about values that make no sense is not to be relied on. */
	if (!name || tep_plugin_add_option(name, value) == -ENOMEM)
		rc = PP_ENOMEM;
	free(name);
	return rc;
}

/* ---- trials ---- */

/*
 * A child follows a null pointer, or frees one twice: because there was no memory, or because
 * that is the harm.
 */
static void on_crash(int sig)
{
	(void)sig;
	/* NOLINTNEXTLINE(bugprone-signal-handler): errno is this thread's own, its place fixed. */
	_exit(errno == ENOMEM ? TRIAL_LACKED : 1);
}

/*
 * Some formats and payloads, such as no kernel writes but a damaged or hostile recording may hold,
 * make libtraceevent crash or run for ever: so a child tries first. That takes a fraction of a
 * millisecond. It works on its own copy of all that the parent has. 1: this is the child; 0: it
 * lived, or that is not known; TRIAL_LATE: its time was over; -1: it died of something else.
 */
static int try_within(rlim_t seconds)
{
	const struct rlimit cpu = {seconds, seconds}, core = {0, 0};
	struct rusage used = {0};
	struct rlimit memory;
	pid_t child = fork();
	int status;

	if (child < 0)
		return 0; /* no more processes: better some risk than no text */
	if (child) {
		while (waitpid(child, &status, 0) < 0)
			if (errno != EINTR)
				return 0;
		if (WIFSIGNALED(status) &&
		    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
			return TRIAL_LATE;
		/* The parent is not better off. */
		errno = WIFEXITED(status) && WEXITSTATUS(status) == TRIAL_LACKED ? ENOMEM : 0;
		return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
	}
	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	close(STDERR_FILENO);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	getrusage(RUSAGE_SELF, &used);
	memory.rlim_cur = memory.rlim_max = TRIAL_MEMORY + 1024 * (rlim_t)used.ru_maxrss;
	if (!ADDRESS_SANITIZER)
		setrlimit(RLIMIT_DATA, &memory);
	return 1;
}

/* On a machine that stood still the time may be over at once: one more try. */
static int try_first(void)
{
	int rc = try_within(1);

	if (rc == TRIAL_LATE)
		rc = try_within(2);
	return rc == TRIAL_LATE ? -1 : rc;
}

static bool print_trial(struct tep_handle *tep, struct tep_record *rec, const char *what)
{
	struct trace_seq seq;
	int rc = try_first();

	if (rc > 0) {
		tep_watch_memory();
		trace_seq_init(&seq);
		tep_print_event(tep, &seq, rec, "%s", what);
		_exit(tep_lacked_memory() ? TRIAL_LACKED : 0);
	}
	return !rc;
}

bool tep_prints(struct tep_handle *tep, const struct tep_tables *tables, const struct tep_event *te,
		enum tep_risk *risk, struct tep_record *rec, const char *what)
{
	enum tep_risk now = *risk;

	/* Binary printk: the format of a payload is in a table of the recording. */
	if (tables->strange && now < TEP_TRIAL && (te->flags & TEP_EVENT_FL_ISBPRINT))
		now = TEP_TRIAL;
	if (now == TEP_LOOK)
		now = tep_guard_payload(te, rec->data, (size_t)rec->size);
	if (now != TEP_TRIAL)
		return now == TEP_SAFE;
	if (print_trial(tep, rec, what))
		return true;
	*risk = TEP_HARM; /* one is enough: a trial takes its time */
	return false;
}

static bool format_trial(struct tep_handle *tep, const struct ps_event *e, const char *system)
{
	int rc = try_first();

	if (rc <= 0)
		return !rc;
	/* An event whose print format is not understood is there nevertheless. */
	tep_watch_memory();
	tep_parse_event(tep, e->format.p, e->format.len, system);
	if (tep_lacked_memory())
		_exit(TRIAL_LACKED);
	_exit(!tep_find_event(tep, (int)e->config));
}

/* ---- payloads ---- */

uint8_t *tep_room_put(struct tep_room *room, const struct ps_str *payload)
{
	size_t n = payload->len;

	if (room->cap < n + TEP_PADDING) {
		free(room->bytes);
		room->len = 0;
		room->cap = 2 * n + TEP_PADDING;
		room->bytes = calloc(1, room->cap);
		if (!room->bytes) {
			room->cap = 0;
			return NULL;
		}
	}
	if (n)
		memcpy(room->bytes, payload->p, n);
	if (n < room->len)
		memset(room->bytes + n, 0, room->len - n);
	room->len = n;
	return room->bytes;
}

void tep_room_release(struct tep_room *room)
{
	free(room->bytes);
	*room = (struct tep_room){0};
}

/* ---- events ---- */

int tep_learn_event(struct tep_handle *tep, const struct ps_event *e, struct tep_event **te,
		    enum tep_risk *risk)
{
	const char *colon = memchr(e->name.p, ':', e->name.len);
	char *system;

	*risk = TEP_SAFE;
	*te = tep_find_event(tep, (int)e->config);
	tep_watch_memory();
	if (!*te && tep_format_ok(e)) {
		system = strndup(e->name.p, colon ? (size_t)(colon - e->name.p) : e->name.len);
		if (system && format_trial(tep, e, system))
			tep_parse_event(tep, e->format.p, e->format.len, system);
		free(system);
		*te = tep_find_event(tep, (int)e->config);
	}
	if (*te)
		*risk = tep_guard_event(*te);
	return tep_lacked_memory();
}

/* ---- tables ---- */

/* A line "ADDRESS TYPE NAME\t[MODULE]" of /proc/kallsyms. */
static void add_symbol(struct tep_handle *tep, char *line)
{
	char *end, *name, *module;
	unsigned long long addr = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return;
	name = end + 3;
	module = strchr(name, '\t');
	if (module)
		*module++ = 0;
	/* Mapping symbols of ARM are no functions, nor are absolute ones, of a CPU's data. */
	if (name[0] != '$' && end[1] != 'A' && end[1] != 'a')
		tep_register_function(tep, name, addr, module);
}

/* A line "0xADDRESS : "text"" of tracefs' printk_formats. */
static void add_format(struct tep_handle *tep, struct tep_tables *t, char *line)
{
	char *colon = strchr(line, ':');
	unsigned long long addr = strtoull(line, NULL, 16);

	/* Without a look at its length, libtraceevent expects two characters between the quotes. */
	if (!colon || !colon[1] || !addr || strlen(colon + 2) <= 3)
		return;
	t->strange = t->strange || !tep_guard_plain(colon + 2);
	tep_register_print_string(tep, colon + 2, addr);
}

/* A line "PID COMMAND". */
static void add_command(struct tep_handle *tep, char *line)
{
	char *end;
	long pid = strtol(line, &end, 10);

	while (*end == ' ')
		end++;
	if (end != line && *end)
		tep_register_comm(tep, end, (int)pid);
}

/* libtraceevent has parsers for these tables; those trust what they read. */
static void add_lines(struct tep_handle *tep, struct tep_tables *t, uint32_t kind, char *line)
{
	while (line && *line) {
		char *nl = strchr(line, '\n');

		if (nl)
			*nl = 0;
		if (kind == PS_BLOB_KALLSYMS)
			add_symbol(tep, line);
		else if (kind == PS_BLOB_PRINTK)
			add_format(tep, t, line);
		else
			add_command(tep, line);
		line = nl ? nl + 1 : NULL;
	}
}

int tep_take_table(struct tep_handle *tep, struct tep_tables *t, const struct ps_blob *b)
{
	struct buf *parts = &t->parts;
	int rc;

	if (b->kind < PS_BLOB_KALLSYMS || b->kind > PS_BLOB_CMDLINES)
		return 0;
	if (parts->len + b->data.len <= TABLE_MAX)
		buf_add(parts, b->data.p, b->data.len);
	rc = parts->err;
	tep_watch_memory();
	if (!rc && (b->flags & 1)) {
		add_lines(tep, t, b->kind, (char *)parts->data);
		rc = tep_lacked_memory();
	}
	if (b->flags & 1)
		buf_release(parts);
	return rc;
}
