/* A report from its options to what it says in the end. */
#include "base/each_input.h"
#include "base/out_end.h"
#include "base/plain.h"
#include "fold/inputs.h"
#include "report/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <unistd.h>

/* What is wrong with an expression takes several lines. */
static void say_lines(struct diag *d, const char *text)
{
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		size_t n = strcspn(at, "\n");

		diag_error(d, NULL, -1, "%.*s", (int)n, at);
		at += n;
	}
}

/* A key of the rows. */
static int add_key(struct report *r, unsigned i)
{
	struct ps_str text = expr_text(r->by, i);
	struct report_key *k = &r->key[i];

	*k = (struct report_key){.number = true, .id = FIELD_PAYLOAD};
	k->name = strndup(text.p, text.len);
	if (!k->name)
		return PP_ENOMEM;
	(void)field_builtin(text.p, text.len, &k->id);
	k->frame = k->id == FIELD_SYM || k->id == FIELD_DSO || k->id == FIELD_SRCLINE;
	k->comm = k->id == FIELD_COMM;
	k->own = k->comm && *k->name == 'C';
	for (char *c = k->name; k->own && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	k->hex = k->id == FIELD_IP || k->id == FIELD_ADDR || k->id == FIELD_CACHE_LINE ||
		 k->id == FIELD_PHYS_ADDR;
	return 0;
}

static int parse(struct report *r, const char *by)
{
	struct buf why = BUF_INIT;
	int rc = expr_new(&r->by, by, EXPR_VALUES, &why);

	if (!rc && expr_count(r->by) > REPORT_KEYS_MAX) {
		buf_addf(&why, "more than %u values", REPORT_KEYS_MAX);
		rc = PP_EUSAGE;
	}
	if (rc) {
		diag_error(r->d, NULL, -1, "--by: %s", by);
		say_lines(r->d, rc == PP_EUSAGE ? buf_str(&why) : pp_strerror(rc));
	}
	buf_release(&why);
	if (!rc)
		rc = kfunc_new(&r->kfunc, NULL, r->d);
	if (!rc) {
		expr_symbols(r->by, &(struct expr_symbols){.name = kfunc_name,
							   .device = kfunc_device,
							   .ctx = r->kfunc});
		expr_show_names(r->by);
	}
	for (unsigned i = 0; !rc && i < expr_count(r->by); i++, r->nkeys++)
		rc = add_key(r, i);
	return rc;
}

/* The files that the user named for --annotate are needed. */
static int open_files(struct report *r)
{
	int rc = r->o.vmlinux ? root_check(r->o.vmlinux, r->d) : 0;

	r->failed = calloc(1, sizeof(*r->failed));
	if (!r->failed)
		return PP_ENOMEM;
	for (; !rc && r->n_roots < r->o.n_symfs; r->n_roots++) {
		int damaged = root_open(&r->roots[r->n_roots], r->o.symfs[r->n_roots], r->d);

		if (!r->roots[r->n_roots])
			return damaged;
		*r->failed |= damaged != 0;
	}
	return rc;
}

int report_new(struct report **out, const struct report_opts *o, struct diag *d)
{
	static const struct fold_opts plain;
	struct report *r = calloc(1, sizeof(*r));
	int rc = r ? fold_new(&r->tree, &plain, d) : PP_ENOMEM;

	*out = r;
	if (!rc) {
		r->o = *o;
		r->o.annotate |= o->view;
		r->o.ascii |= strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
		r->d = d;
		r->text_only = true;
		rc = parse(r, o->by ? o->by : REPORT_BY);
	}
	if (!rc)
		rc = gates_new(&r->gates, &o->gates, d);
	if (!rc)
		rc = report_check_gates(r);
	if (!rc)
		rc = open_files(r);
	if (!rc && o->every)
		rc = every_new(&r->every, r);
	if (rc) {
		report_free(r);
		*out = NULL;
	}
	return rc;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	every_free(r->every);
	gates_free(r->gates);
	for (unsigned k = 0; k < r->nkeys; k++)
		free(r->key[k].name);
	expr_free(r->by);
	kfunc_free(r->kfunc);
	intern_release(&r->texts);
	intern_release(&r->calls);
	intern_release(&r->groups);
	intern_release(&r->places);
	intern_release(&r->event_ids);
	free(r->place_counts);
	while (r->n_roots)
		root_free(r->roots[--r->n_roots]);
	free(r->failed);
	fold_free(r->tree);
	weights_release(&r->counts);
	free(r->events);
	free(r);
}

uint64_t report_lost(const struct report *r)
{
	return r->account.lost;
}

/* ---- input ---- */

static int read_file(void *ctx, const char *name)
{
	struct report *r = ctx;
	char magic[sizeof(PS_MAGIC) - 1];
	struct src *s;
	size_t n;
	int rc;

	if (plain_open(&s, name, r->d))
		return PP_EXIT_FAIL;
	rc = src_peek(s, magic, sizeof(magic), &n);
	if (rc) {
		diag_error(r->d, name, -1, "cannot read: %s", pp_strerror(rc));
		src_free(s);
		return PP_EXIT_FAIL;
	}
	if (n == sizeof(magic) && !memcmp(magic, PS_MAGIC, n))
		return report_stream(r, s);
	if (!r->o.every)
		return report_folded(r, s);
	diag_error(r->d, name, -1,
		   "--every is for event streams: text has no times of its samples");
	src_free(s);
	return PP_EXIT_FAIL;
}

int report_files(struct report *r, char **names, int n)
{
	int status = each_input(names, n, read_file, r);

	r->partial = status == PP_EXIT_PARTIAL;
	return status;
}

/* ---- output ---- */

/* Names that no event has. */
static bool say_problems(struct report *r)
{
	struct buf why = BUF_INIT;
	bool any = !r->text_only && expr_problems(r->by, &why);

	if (any)
		say_lines(r->d, buf_str(&why));
	buf_release(&why);
	return any;
}

static void say_nothing(struct report *r)
{
	const struct report_account *a = &r->account;

	if (a->others && r->o.event)
		diag_error(r->d, NULL, -1, "no samples of %s, but %" PRIu64 " of other events",
			   r->o.event, a->others);
	else if (a->filtered)
		diag_error(r->d, NULL, -1, "none of the %" PRIu64 " samples passed the filter",
			   a->filtered);
	else if (a->no_key)
		diag_error(r->d, NULL, -1, "none of %" PRIu64 " samples has all of: %s", a->samples,
			   r->o.by ? r->o.by : REPORT_BY);
	else
		diag_error(r->d, NULL, -1, "no samples");
}

/* gates_zero_fn. */
static bool counted_zero(void *ctx, const char *value, size_t len)
{
	const struct report_account *a = &((const struct report *)ctx)->account;

	(void)value;
	(void)len;
	return a->filtered && a->filtered + a->joined == a->samples;
}

/* Nothing was counted. With conditions, that can be what is wanted. */
static int print_nothing(struct report *r, int status)
{
	const struct result none = {.r = r};
	int rc = report_judge(&none, counted_zero, r);

	say_nothing(r);
	if (rc)
		return PP_EXIT_FAIL;
	return gates_status(r->gates,
			    r->gates && counted_zero(r, NULL, 0) ? status : PP_EXIT_PARTIAL);
}

static void say_account(struct report *r)
{
	const struct report_account *a = &r->account;

	fold_tell_periods(&a->periods, r->d);
	if (a->no_key && a->counted)
		diag_say(r->d, NULL, "%" PRIu64 " of %" PRIu64 " samples do not count: without %s",
			 a->no_key, a->samples, r->o.by ? r->o.by : REPORT_BY);
	if (a->raw)
		diag_say(r->d, NULL,
			 "%" PRIu64 " samples have only addresses: put psym before preport",
			 a->raw);
	if (a->lost && r->o.form != TABLE_FORM_TEXT)
		diag_say(r->d, NULL, "the recording lost %" PRIu64 " events: they are not counted",
			 a->lost);
}

static int write_form(const struct result *s, int fd)
{
	const struct report_opts *o = &s->r->o;
	uint32_t width = o->wide ? 0 : table_terminal_width(fd);
	struct out out;
	int rc = out_init(&out, fd), closed;

	if (rc)
		return rc;
	if (o->function && o->form == TABLE_FORM_HTML)
		rc = report_write_html(s, &out);
	else if (o->function)
		rc = report_write_functions(s, width, &out);
	else
		rc = o->form == TABLE_FORM_TEXT ? report_write_text(s, width, &out)
						: report_write_data(s, &out);
	closed = out_close(&out);
	return rc ? rc : closed;
}

int report_print(struct report *r, int status, int fd)
{
	struct result s;
	bool problems, viewed = false;
	int rc = 0, judged;

	if (r->every && status != PP_EXIT_FAIL)
		rc = every_end(r->every, &viewed);
	if (viewed || rc) {
		/* Messages come after the terminal has been given back. */
		every_free(r->every);
		r->every = NULL;
	}
	if (rc)
		return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	if (status == PP_EXIT_FAIL)
		return status;
	say_account(r);
	problems = say_problems(r);
	if (!r->account.counted)
		return print_nothing(r, status);
	if (viewed)
		return problems || *r->failed ? PP_EXIT_PARTIAL : status;
	fold_settle(r->tree);
	if (r->o.view) {
		int seen = report_view(r);

		return seen ? seen : problems || *r->failed ? PP_EXIT_PARTIAL : status;
	}
	rc = result_make(&s, r, NULL, NULL);
	if (rc == PP_ENOENT) {
		diag_error(r->d, NULL, -1, "--sort: there is no column %s", r->o.sort);
		result_release(&s);
		return PP_EXIT_USAGE;
	}
	judged = rc ? 0 : report_judge(&s, counted_zero, r);
	if (judged) {
		result_release(&s);
		return judged == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
	}
	if (!rc)
		rc = write_form(&s, fd);
	result_release(&s);
	if (rc == PP_ELIMIT || rc == PP_ENOENT) {
		diag_error(r->d, NULL, -1,
			   rc == PP_ENOENT ? "there is no function %s"
					   : "too many functions match %s",
			   r->o.function);
		return rc == PP_ENOENT ? PP_EXIT_PARTIAL : PP_EXIT_USAGE;
	}
	if (out_report(rc, r->d))
		return PP_EXIT_FAIL;
	return gates_status(r->gates,
			    (problems || *r->failed) && !status ? PP_EXIT_PARTIAL : status);
}

void report_describe(const struct report *r)
{
	const struct report_account *a = &r->account;

	diag_say(r->d, NULL,
		 "samples %" PRIu64 " = counted %" PRIu64 " + not passing %" PRIu64
		 " + of other events %" PRIu64 " + without key %" PRIu64
		 " + joined to another %" PRIu64,
		 a->samples, a->counted, a->filtered, a->others, a->no_key, a->joined);
	diag_say(r->d, NULL, "events %u, stacks %" PRIu64 ", lost by the recording %" PRIu64,
		 r->nevents, fold_stacks(r->tree), a->lost);
}
