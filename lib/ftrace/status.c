/* What is switched on in ftrace, and by whom; and switching it off. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "inplace/owner.h"
#include "pevent/sysfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Files of one value, and what they have when nobody has set them; NULL: nothing. */
static const struct setting {
	const char *file;
	const char *usual;
	const char *reset; /* what is written to have that; NULL: `usual` */
	bool lines;
} settings[] = {
	{"current_tracer", "nop", NULL, false}, {"tracing_on", "1", NULL, false},
	{"trace_clock", "local", NULL, false},	{"max_graph_depth", "0", NULL, false},
	{"tracing_thresh", "0", NULL, false},	{"set_event", NULL, "", true},
	{"set_event_pid", NULL, "", true},	{"set_event_notrace_pid", NULL, "", true},
	{"set_ftrace_pid", "no pid", "", true}, {"set_ftrace_notrace_pid", "no pid", "", true},
	{"set_ftrace_filter", NULL, "", true},	{"set_ftrace_notrace", NULL, "", true},
	{"set_graph_function", NULL, "", true}, {"set_graph_notrace", NULL, "", true},
};

/* Lists of the top that are probes or the like, which others may have made. */
static const char *const lists[] = {"kprobe_events", "uprobe_events", "synthetic_events",
				    "dynamic_events"};

struct place {
	struct ftfiles files;
	bool instance;
};

/* Lines of a list that are no comments: how many, and the first. */
static size_t count(const char *text, const char **first)
{
	size_t n = 0;

	*first = NULL;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");

		if (len && *p != '#') {
			*first = n++ ? *first : p;
		}
		p += len + (p[len] == '\n');
	}
	return n;
}

static int copy_by(void *ctx, const char *path, const char *value, size_t len)
{
	(void)path;
	buf_add(ctx, value, len);
	return 0;
}

/* Whose an instance or a journal is. */
static void whose(const char *root, const char *name, struct buf *text)
{
	struct buf by = BUF_INIT;
	struct journal j;
	long pid;

	if (!strncmp(name, OWNER_PREFIX, strlen(OWNER_PREFIX)) &&
	    sscanf(name + strlen(OWNER_PREFIX), "%ld", &pid) == 1) {
		if (owner_gone(name))
			buf_adds(text, " (of a recorder that is gone: --reset removes it)");
		else
			buf_addf(text, " (of a pcap-ftrace that records, process %ld)", pid);
		return;
	}
	if (!journal_open(&j, root, name, NULL)) {
		journal_each(&j, JOURNAL_BY, copy_by, &by);
		journal_leave(&j);
	}
	if (by.len)
		buf_addf(text, " (%s)", buf_str(&by));
	else
		buf_adds(text, " (not set up by pcap-ftrace)");
	buf_release(&by);
}

/* Who has set a file of the top, if that was us. */
static void who_set(const char *root, const char *file, struct buf *text)
{
	const struct journal any = {.root = root, .fd = -1, .alive = -1};
	char name[JOURNAL_NAME_MAX + 1];
	struct buf former = BUF_INIT;

	if (!journal_holder(&any, file, name, &former))
		whose(root, name, text);
	buf_release(&former);
}

/* "  set_event: 12, sched:sched_switch ...\n" if it is not as usual. */
static bool one(const struct place *p, const struct setting *s, struct buf *text)
{
	struct buf v = BUF_INIT;
	const char *first;
	size_t n;
	bool set = false;

	/* What an instance has not is told once, for the top. */
	if (p->instance) {
		char path[PATH_MAX];
		bool own;

		ftfiles_path(&p->files, s->file, path, &own);
		if (!own)
			return false;
	}
	if (s->lines ? ftfiles_read(&p->files, s->file, &v) : ftfiles_value(&p->files, s->file, &v))
		goto out;
	n = count(buf_str(&v), &first);
	if (!n || (s->usual && !strncmp(first, s->usual, strlen(s->usual))))
		goto out;
	set = true;
	buf_addf(text, "  %s: ", s->file);
	if (n > 1)
		buf_addf(text, "%zu, from ", n);
	buf_add_safe(text, first, strcspn(first, "\n"));
	if (!p->instance)
		who_set(p->files.root, s->file, text);
	buf_addc(text, '\n');
out:
	buf_release(&v);
	return set;
}

/* Events with a trigger, "  trigger of sched:sched_switch: stacktrace:unlimited\n". */
static size_t triggers(const struct place *p, const char *do_reset, struct buf *text)
{
	struct buf all = BUF_INIT, v = BUF_INIT;
	const struct ftfiles top = {.root = p->files.root};
	size_t n = 0;

	if (ftfiles_read(&top, "available_events", &all))
		return 0;
	for (char *at = (char *)all.data; at && *at;) {
		char *nl = strchr(at, '\n'), *colon = strchr(at, ':');
		char path[600];
		const char *first;

		if (!nl || !colon || colon > nl)
			break;
		snprintf(path, sizeof(path), "events/%.*s/%.*s/trigger", (int)(colon - at), at,
			 (int)(nl - colon - 1), colon + 1);
		buf_reset(&v);
		if (!ftfiles_read(&p->files, path, &v) && count(buf_str(&v), &first)) {
			n++;
			buf_addf(text, "  trigger of %.*s: ", (int)(nl - at), at);
			buf_add_safe(text, first, strcspn(first, "\n"));
			buf_addc(text, '\n');
		}
		at = nl + 1;
	}
	(void)do_reset;
	buf_release(&all);
	buf_release(&v);
	return n;
}

static bool place(const struct place *p, struct buf *text)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		any |= one(p, &settings[i], text);
	return triggers(p, NULL, text) || any;
}

static bool probes(const char *root, struct buf *text)
{
	const struct ftfiles top = {.root = root};
	struct buf v = BUF_INIT;
	bool any = false;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *first;
		size_t n;

		buf_reset(&v);
		/* The last one has what the others have, too. */
		if ((i == 3 && any) || ftfiles_read(&top, lists[i], &v))
			continue;
		n = count(buf_str(&v), &first);
		if (!n)
			continue;
		any = true;
		buf_addf(text, "  %s: %zu, %s", lists[i], n, n > 1 ? "from " : "");
		buf_add_safe(text, first, strcspn(first, "\n"));
		buf_addc(text, '\n');
	}
	buf_release(&v);
	return any;
}

static bool stack_tracer(struct buf *text)
{
	uint64_t on = 0;

	if (sysfile_u64(JOURNAL_STACK_TRACER, &on) || !on)
		return false;
	buf_adds(text, "  the stack tracer is on\n");
	return true;
}

static int report(const char *root, struct buf *text)
{
	struct place p = {.instance = false};
	struct sysnames names = {0};
	char path[PATH_MAX];
	int rc;

	ftfiles_init(&p.files, root, "", NULL);
	buf_adds(text, "top level of ftrace\n");
	rc = place(&p, text) + probes(root, text) + stack_tracer(text);
	if (!rc)
		buf_adds(text, "  nothing is set\n");
	snprintf(path, sizeof(path), "%s/instances", root);
	rc = sysnames_read(&names, path, "*");
	for (size_t i = 0; i < names.n; i++) {
		snprintf(path, sizeof(path), "instances/%.200s", names.v[i]);
		ftfiles_init(&p.files, root, path, NULL);
		p.instance = true;
		buf_addf(text, "instance %s", names.v[i]);
		whose(root, names.v[i], text);
		buf_addc(text, '\n');
		place(&p, text);
	}
	sysnames_release(&names);
	return rc == PP_ENOENT ? text->err : rc ? rc : text->err;
}

int ftrace_status(struct buf *text, struct diag *d)
{
	const char *root;
	int rc = setup_root(&root, d);

	if (rc)
		return rc;
	rc = report(root, text);
	if (rc)
		diag_error(d, root, -1, "%s", pp_strerror(rc));
	return rc;
}

/* ---- switching off what anybody has set ---- */

static int off(const struct place *p, struct diag *d)
{
	struct buf why = BUF_INIT;
	int first = 0;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];
		struct buf text = BUF_INIT;
		const char *value = s->reset ? s->reset : s->usual;

		buf_reset(&why);
		if (one(p, s, &text) &&
		    (s->lines ? ftfiles_set_lines(&p->files, s->file, value, &why)
			      : ftfiles_set(&p->files, s->file, value, &why))) {
			diag_error(d, NULL, -1, "%s", buf_str(&why));
			first = first ? first : PP_EIO;
		}
		buf_release(&text);
	}
	buf_release(&why);
	return first;
}

/* Instances of others, by a journal of their own. */
static int remove_all(const char *root, struct diag *d)
{
	struct sysnames names = {0};
	struct journal j = JOURNAL_NONE;
	char path[PATH_MAX];
	int first = 0;

	snprintf(path, sizeof(path), "%s/instances", root);
	if (sysnames_read(&names, path, "*"))
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		if (!strncmp(names.v[i], OWNER_PREFIX, strlen(OWNER_PREFIX)))
			continue;
		snprintf(path, sizeof(path), "instances/%.200s", names.v[i]);
		if (journal_begin(&j, root, "reset-all", false, d))
			break;
		if (!journal_add(&j, JOURNAL_INSTANCE, path, "", 0) && journal_undo(&j, 0))
			first = PP_EIO;
		journal_end(&j);
	}
	sysnames_release(&names);
	return first;
}

static int remove_probes(const char *root, struct diag *d)
{
	const struct ftfiles top = {.root = root};
	struct buf text = BUF_INIT, why = BUF_INIT;
	int first = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && probes(root, &text); i++) {
		buf_reset(&why);
		if (ftfiles_has(&top, lists[i]) && ftfiles_write(&top, lists[i], "", &why)) {
			diag_error(d, NULL, -1, "%s", buf_str(&why));
			first = PP_EIO;
		}
		buf_reset(&text);
	}
	buf_release(&text);
	buf_release(&why);
	return first;
}

int ftrace_reset_all(bool sure, struct diag *d)
{
	struct buf text = BUF_INIT;
	struct place p = {.instance = false};
	const char *root;
	int rc = ftrace_reset(NULL, d), more;

	if (!rc)
		rc = setup_root(&root, d);
	if (!rc)
		rc = report(root, &text);
	if (rc) {
		buf_release(&text);
		return rc;
	}
	diag_say(d, NULL, "%s",
		 sure ? "this was set, and no longer is:"
		      : "this is set by others; --yes also removes it:");
	diag_lines(d, buf_str(&text));
	buf_release(&text);
	if (!sure)
		return 0;
	ftfiles_init(&p.files, root, "", NULL);
	rc = off(&p, d);
	more = remove_all(root, d);
	rc = rc ? rc : more;
	more = remove_probes(root, d);
	return rc ? rc : more;
}
