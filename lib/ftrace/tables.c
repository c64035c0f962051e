/* What the kernel itself sums up: histograms of events, the deepest stack. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/out.h"
#include "inplace/owner.h"

#include <stdio.h>
#include <unistd.h>

static int print(const struct ftfiles *f, const char *file)
{
	struct buf text = BUF_INIT;
	int rc = ftfiles_read(f, file, &text);

	if (!rc)
		rc = out_write_all(STDOUT_FILENO, buf_str(&text), text.len);
	buf_release(&text);
	return rc;
}

static int begin(struct journal *j, const char **root, struct diag *d)
{
	char group[OWNER_GROUP_MAX + 1];
	unsigned swept;
	int rc = setup_root(root, d);

	*j = (struct journal)JOURNAL_NONE;
	if (!rc)
		rc = journal_sweep(*root, &swept, d);
	if (!rc)
		rc = owner_group(group);
	return rc ? rc : journal_begin(j, *root, group, true, d);
}

static int end(struct journal *j, int rc, struct buf *why, struct diag *d)
{
	int back = journal_undo(j, 0);

	if (rc && rc != PP_EPIPE)
		diag_error(d, NULL, -1, "%s", why->len ? buf_str(why) : pp_strerror(rc));
	buf_release(why);
	if (back)
		journal_leave(j);
	journal_end(j);
	return rc ? rc : back;
}

/* "sched:sched_switch:next_comm" and "sched:sched_switch:keys=prev_state:vals=..." */
static int take_apart(const char *spec, char event[256], struct buf *trigger, struct buf *why)
{
	const char *first = strchr(spec, ':'), *second = first ? strchr(first + 1, ':') : NULL;

	if (!second || !second[1] || second - spec >= 250) {
		buf_adds(why, "--hist: SYSTEM:EVENT:KEYS, as sched:sched_switch:next_comm");
		return PP_EUSAGE;
	}
	snprintf(event, 256, "%.*s/%.*s", (int)(first - spec), spec, (int)(second - first - 1),
		 first + 1);
	buf_addf(trigger, "hist:%s%s", strncmp(second + 1, "keys=", 5) != 0 ? "keys=" : "",
		 second + 1);
	return trigger->err;
}

/* Counts no more, so that the rows of the table are those of its sum. */
static int pause_hist(const struct setup *s, const char *file, const char *trigger, struct buf *why)
{
	const char *condition = strstr(trigger, " if ");
	size_t n = condition ? (size_t)(condition - trigger) : strlen(trigger);
	struct buf line = BUF_INIT;
	int rc;

	buf_addf(&line, "%.*s:pause%s", (int)n, trigger, trigger + n);
	rc = line.err ? line.err : ftfiles_add(&s->files, file, buf_str(&line), NULL, why);
	buf_release(&line);
	return rc;
}

static int hist(struct setup *s, const char *spec, const volatile sig_atomic_t *stop, int *status,
		struct buf *why)
{
	struct buf trigger = BUF_INIT;
	char event[256], file[300];
	int rc = take_apart(spec, event, &trigger, why);

	if (!rc)
		rc = setup_begin(s, NULL);
	snprintf(file, sizeof(file), "events/%s/trigger", event);
	if (!rc && !ftfiles_has(&s->files, file)) {
		buf_addf(why, "there is no event %s", event);
		rc = PP_ENOENT;
	}
	if (!rc)
		rc = ftfiles_add(&s->files, file, buf_str(&trigger), NULL, why);
	if (!rc)
		rc = setup_on(s, true);
	if (!rc)
		rc = record_wait(s->c, stop, status, s->d);
	if (!rc)
		rc = pause_hist(s, file, buf_str(&trigger), why);
	snprintf(file, sizeof(file), "events/%s/hist", event);
	if (!rc)
		rc = print(&s->files, file);
	buf_release(&trigger);
	return rc;
}

int ftrace_hist(const struct ftrace_config *c, const char *spec, const volatile sig_atomic_t *stop,
		struct diag *d)
{
	struct buf why = BUF_INIT;
	struct journal j;
	struct setup s = {.c = c, .d = d, .journal = &j};
	int status = 0, rc = begin(&j, &s.root, d);

	if (!rc)
		rc = hist(&s, spec, stop, &status, &why);
	rc = end(&j, rc, &why, d);
	setup_release(&s);
	return rc;
}

static int stack(struct ftfiles *f, const struct ftrace_config *c,
		 const volatile sig_atomic_t *stop, struct diag *d, struct buf *why)
{
	int status = 0, rc;

	if (!ftfiles_has(f, "stack_trace")) {
		buf_adds(why, "this kernel has no stack tracer (CONFIG_STACK_TRACER)");
		return PP_EUNSUPPORTED;
	}
	rc = ftfiles_set(f, "stack_max_size", "0", why);
	if (!rc)
		rc = ftfiles_set(f, JOURNAL_STACK_TRACER, "1", why);
	if (!rc)
		rc = record_wait(c, stop, &status, d);
	return rc ? rc : print(f, "stack_trace");
}

int ftrace_stack(const struct ftrace_config *c, const volatile sig_atomic_t *stop, struct diag *d)
{
	struct buf why = BUF_INIT;
	struct ftfiles f;
	struct journal j;
	const char *root;
	int rc = begin(&j, &root, d);

	if (!rc) {
		ftfiles_init(&f, root, "", &j);
		rc = stack(&f, c, stop, d, &why);
	}
	return end(&j, rc, &why, d);
}
