/*
 * --header, --dump, --list, --functions, --check: prints what recordings are and hold, not their
 * events.
 */
#include "input/input.h"

#include "base/err.h"
#include "base/out_end.h"
#include "base/plain.h"
#include "input/kind.h"
#include "perfdata/perfdata.h"
#include "tracedat/tracedat.h"
#include "stream/tally.h"

#include <stdlib.h>
#include <string.h>

/* ---- of any input, from the stream that it is decoded to ---- */

struct list {
	enum input_view view;
	struct sreader *back;
	struct tally *tally; /* of the list of events */
	struct buf text;     /* what is not yet in the output */
	bool any;	     /* function */
	struct out *out;
	struct input_check *check;
};

static void tell_source(struct buf *b, const struct ps_source *s)
{
	static const char *const kinds[] = {"unknown", "perf.data", "trace.dat", "text", "filter"};

	buf_adds(b, "# ========\n# source : ");
	buf_add_safe(b, s->name.p, s->name.len);
	buf_addf(b, "\n# kind : %s\n", kinds[s->kind < 5 ? s->kind : 0]);
	if (s->long_bits)
		buf_addf(b, "# long : %u bits, %s endian\n", s->long_bits,
			 s->big_endian ? "big" : "little");
	if (s->page_size)
		buf_addf(b, "# page size : %u\n", s->page_size);
	if (s->clock.len) {
		buf_adds(b, "# clock : ");
		buf_add_safe(b, s->clock.p, s->clock.len);
		buf_addc(b, '\n');
	}
}

/* A fact may have several lines. */
static void tell_meta(struct buf *b, const struct ps_meta *m)
{
	const char *p = m->value.p, *end = p + m->value.len;

	do {
		const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

		buf_adds(b, "# ");
		buf_add_safe(b, m->key.p, m->key.len);
		buf_adds(b, " : ");
		buf_add_safe(b, p, (size_t)((nl ? nl : end) - p));
		buf_addc(b, '\n');
		p = nl ? nl + 1 : end;
	} while (p < end);
}

static void tell_event(struct buf *b, const struct ps_event *e)
{
	buf_adds(b, "# event : name = ");
	if (e->buffer.len) {
		buf_add_safe(b, e->buffer.p, e->buffer.len);
		buf_addc(b, ':');
	}
	buf_add_safe(b, e->name.p, e->name.len);
	buf_addf(b, ", type = %u, config = %#llx, unit = ", e->perf_type,
		 (unsigned long long)e->config);
	buf_add_safe(b, e->unit.p, e->unit.len);
	buf_addc(b, '\n');
}

static void tell_provenance(struct buf *b, const struct ps_provenance *p)
{
	const char *arg = p->args.p, *end = arg + p->args.len;

	buf_adds(b, "# filter : ");
	buf_add_safe(b, p->name.p, p->name.len);
	buf_addc(b, ' ');
	buf_add_safe(b, p->version.p, p->version.len);
	while (arg < end) {
		size_t len = strnlen(arg, (size_t)(end - arg));

		buf_addc(b, ' ');
		buf_add_safe(b, arg, len);
		arg += len + 1;
	}
	buf_addc(b, '\n');
}

/* A part of the kernel's symbols, which may end within a line. */
static void tell_functions(struct list *l, const struct ps_blob *b)
{
	const char *p = b->data.p, *end = p + b->data.len;

	if (b->kind != PS_BLOB_KALLSYMS)
		return;
	for (l->any |= p < end; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		buf_add_safe(&l->text, p, (size_t)((nl ? nl : end) - p));
		if (nl)
			buf_addc(&l->text, '\n');
		p = nl ? nl + 1 : end;
	}
}

/* A name that the text of the format tells, without what a descriptor adds. */
static int check(void *ctx, const struct ps_event *e)
{
	struct list *l = ctx;
	bool ok = true;
	int rc;

	if (!e->format.len)
		return 0;
	rc = l->check->fn(l->check->ctx, e, &ok);
	l->check->n++;
	l->check->bad += !ok;
	if (rc || ok)
		return rc;
	buf_reset(&l->text);
	buf_add_safe(&l->text, e->name.p, e->name.len);
	buf_addc(&l->text, '\n');
	return l->text.err ? l->text.err : out_add(l->out, l->text.data, l->text.len);
}

static int tell(struct list *l, const struct ps_record *rec)
{
	unsigned type = rec->type;
	int rc;

	if (l->check)
		return type == PS_EVENT ? check(l, &rec->event) : 0;
	if ((type == PS_BLOB) != (l->view == INPUT_FUNCTIONS))
		return 0;
	switch (type) {
	case PS_BLOB: tell_functions(l, &rec->blob); break;
	case PS_SOURCE: tell_source(&l->text, &rec->src); break;
	case PS_META: tell_meta(&l->text, &rec->meta); break;
	case PS_EVENT: tell_event(&l->text, &rec->event); break;
	case PS_PROVENANCE: tell_provenance(&l->text, &rec->provenance); break;
	default: return 0;
	}
	rc = l->text.err ? l->text.err : out_add(l->out, l->text.data, l->text.len);
	buf_reset(&l->text);
	return rc;
}

static int take_back(void *ctx, uint8_t *bytes, size_t n)
{
	struct list *l = ctx;
	const struct ps_record *rec;
	int rc;

	sreader_feed(l->back, bytes, n);
	while (!(rc = sreader_next(l->back, &rec))) {
		rc = l->tally ? tally_record(l->tally, l->back, rec) : tell(l, rec);
		if (rc)
			return rc;
	}
	return rc == PP_END ? 0 : rc;
}

/* The list of a recording's events, the facts about it, the kernel's functions. */
static int list(struct src *s, const struct input_show *show, struct out *o, struct diag *d)
{
	struct list l = {.view = show->view, .out = o, .check = show->check};
	struct ps_end end = {0};
	struct swriter w;
	struct out records;
	char *name = strdup(src_name(s));
	int rc, decoded;

	rc = out_init_fn(&records, take_back, &l);
	if (!rc && show->view == INPUT_LIST)
		rc = tally_new(&l.tally, show->all);
	if (!rc)
		rc = sreader_new_fed(&l.back, "(output)", SREADER_EVENTS, d);
	if (rc) {
		src_free(s);
	} else {
		swriter_init(&w, &records);
		swriter_header(&w);
		decoded = input_decode(s, 1, &w, d, &end);
		rc = w.err ? w.err : out_flush(&records);
		if (!rc && l.tally)
			rc = tally_print(l.tally, o, show->json);
		if (!rc)
			rc = decoded;
		if (!rc && show->view == INPUT_FUNCTIONS && !l.any) {
			diag_error(d, name, -1, "it has no kernel symbols");
			rc = PP_ENOENT;
		}
	}
	free(name);
	buf_release(&l.text);
	tally_free(l.tally);
	sreader_free(l.back);
	out_release(&records);
	return rc;
}

/* ---- all ---- */

enum { HEADER = OPT_NO_SHORT, DUMP, LIST, FUNCTIONS, CHECK };

const struct opt input_view_options[] = {
	{HEADER, "header", NULL, "print the facts about the recording and its machine"},
	{DUMP, "dump", NULL, "print every raw record with its bytes"},
	{LIST, "list", NULL, "print the events with their numbers of samples"},
	{FUNCTIONS, "functions", NULL, "print the kernel symbols that it has, as kallsyms"},
	{CHECK, "check", NULL, "print the events whose text cannot be printed"},
	{0},
};

#define VIEWS "header dump list functions check"

const struct opt_rule input_view_rules[] = {
	{"follow", VIEWS, NULL},
	{"stats", VIEWS, NULL},
	{"clock", VIEWS, NULL},
	{"offset", VIEWS, NULL},
	{"separate-stacks", VIEWS, NULL},
	{"strict", VIEWS, NULL},
	{"binary", VIEWS, NULL},
	{"text", VIEWS, NULL},
	{"threads", VIEWS, NULL},
	{"json", "header dump functions check", NULL},
	{"all", "header dump functions check", NULL},
	{0},
};

/* Those of the stream's text. */
const struct opt_effect input_view_effects[] = {
	{"fields hide-call-graph ns reltime deltatime latency raw no-plugins plugin ts-diff "
	 "trace-cmd cpu plain",
	 0},
	{0},
};

int input_view_option(void *opts, int id, const char *arg, struct buf *why)
{
	static const enum input_view views[] = {[HEADER - OPT_NO_SHORT] = INPUT_HEADER,
						[DUMP - OPT_NO_SHORT] = INPUT_DUMP,
						[LIST - OPT_NO_SHORT] = INPUT_LIST,
						[FUNCTIONS - OPT_NO_SHORT] = INPUT_FUNCTIONS,
						[CHECK - OPT_NO_SHORT] = INPUT_CHECK};
	enum input_view view = views[id - OPT_NO_SHORT];
	struct input_show *show = opts;

	if (show->view != INPUT_EVENTS && show->view != view) {
		buf_adds(why,
			 "only one of --header, --dump, --list, --functions and --check at a time");
		return PP_EUSAGE;
	}
	(void)arg;
	show->view = view;
	return 0;
}

/* Of a trace.dat all formats, of which most have no event there; else those of the events. */
static int check_formats(struct src *s, enum input_kind kind, const struct input_show *show,
			 struct out *o, struct diag *d)
{
	struct list l = {.out = o, .check = show->check};
	int rc;

	if (kind != KIND_TRACE_DAT)
		return list(s, show, o, d);
	rc = trace_formats(s, check, &l, d);
	buf_release(&l.text);
	src_free(s);
	return rc;
}

int input_describe(struct src *s, const struct input_show *show, struct out *o, struct diag *d)
{
	enum input_kind kind;
	int rc;

	if (show->view == INPUT_LIST || show->view == INPUT_FUNCTIONS)
		return list(s, show, o, d);
	rc = input_unwrap(&s, &kind, d);
	if (!rc && show->view == INPUT_CHECK)
		return check_formats(s, kind, show, o, d);
	if (!rc && kind == KIND_PERF)
		rc = perf_describe(
			s, show->view == INPUT_HEADER ? PERF_DESCRIBE_HEADER : PERF_DESCRIBE_DUMP,
			o, d);
	else if (!rc && kind == KIND_TRACE_DAT)
		rc = show->view == INPUT_HEADER ? trace_describe(s, o, d) : trace_dump(s, o, d);
	else if (!rc && show->view == INPUT_HEADER)
		return list(s, show, o, d);
	else if (!rc) {
		diag_error(d, src_name(s), -1,
			   "--dump is not supported for event streams and text");
		rc = PP_EUNSUPPORTED;
	}
	src_free(s);
	return rc;
}

/* One file. Its exit status. */
static int describe(const char *name, const struct input_show *show, struct out *o, struct diag *d)
{
	struct src *s;

	if (input_open(&s, name, d))
		return PP_EXIT_FAIL;
	src_on_pause(s, out_hand_on, o);
	return input_status(input_describe(s, show, o, d));
}

int input_describe_all(char *const *files, int n, const struct input_show *show, int fd,
		       struct diag *d)
{
	int failed = 0, status = PP_EXIT_OK;
	struct out o;

	if (out_init(&o, fd)) {
		diag_error(d, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
		return PP_EXIT_FAIL;
	}
	for (int i = 0; (i < n || (!n && !i)) && !o.err; i++) {
		int st;

		if (i && !show->json)
			out_add(&o, "\n", 1);
		st = describe(n ? files[i] : "-", show, &o, d);
		failed += st == PP_EXIT_FAIL;
		if (st)
			status = PP_EXIT_PARTIAL;
	}
	if (failed == (n ? n : 1))
		status = PP_EXIT_FAIL;
	if (show->check && status != PP_EXIT_FAIL) {
		diag_say(d, NULL, "%llu events, of which %llu cannot be printed as text",
			 (unsigned long long)show->check->n, (unsigned long long)show->check->bad);
		status = show->check->bad ? PP_EXIT_PARTIAL : status;
	}
	return out_end(&o, 0, d) ? PP_EXIT_FAIL : status;
}
