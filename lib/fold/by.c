/* Frames above the command: fields and other values of samples. */
#include "fold/by.h"

#include "base/array.h"
#include "base/err.h"
#include "event/core_pmu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER (1u << 30) /* a number of v, not the name of a command */

#define THREAD "thread" /* no field, but a command and its thread */

int fold_by_check(const char *key, struct buf *why)
{
	struct buf lines = BUF_INIT;
	struct expr *x = NULL;
	int rc = expr_new(&x, key, EXPR_VALUES, &lines);

	/* The others show the place. */
	if (rc == PP_EUSAGE)
		buf_addf(why, "--by %s: %.*s", key, (int)strcspn(buf_str(&lines), "\n"),
			 buf_str(&lines));
	expr_free(x);
	buf_release(&lines);
	return rc;
}

int fold_by_new(struct fold_by *b, const struct expr_symbols *symbols)
{
	const struct fold_opts *o = fold_options(b->fold);
	struct buf keys = BUF_INIT, why = BUF_INIT;
	unsigned n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < o->nby; i++) {
		if (!strcmp(o->by[i], THREAD))
			continue;
		b->value[i] = ++n;
		buf_addf(&keys, "%s%s", keys.len ? "," : "", o->by[i]);
	}
	if (n)
		rc = keys.err ? keys.err : expr_new(&b->x, buf_str(&keys), EXPR_VALUES, &why);
	if (b->x) {
		expr_symbols(b->x, symbols);
		expr_show_names(b->x);
	}
	buf_release(&keys);
	buf_release(&why);
	return rc;
}

void fold_by_release(struct fold_by *b)
{
	expr_free(b->x);
	map64_release(&b->pairs);
	free(b->v);
	buf_release(&b->text);
}

int fold_by_see(struct fold_by *b, const struct sreader *r, const struct ps_record *rec)
{
	return b->x ? expr_see(b->x, r, rec) : 0;
}

static bool put_thread(struct fold_by *b, const struct sreader *r, const struct ps_sample *s)
{
	size_t len;
	const char *comm = s->comm ? sreader_string(r, s->comm, &len) : NULL;

	if (s->tid == PS_NONE)
		return false;
	if (comm)
		buf_add(&b->text, comm, len);
	else
		buf_adds(&b->text, "[unknown]");
	buf_addf(&b->text, "/%" PRIu32, s->tid);
	return true;
}

static bool is_address(const char *key)
{
	return !strcmp(key, "ip") || !strcmp(key, "addr") || !strcmp(key, "phys_addr");
}

static void put_value(struct fold_by *b, const char *key, const struct qval *v)
{
	if (v->kind == QV_STR)
		buf_add(&b->text, v->s, v->len);
	else if (is_address(key))
		buf_addf(&b->text, "%s 0x%" PRIx64, key, v->num);
	else if (v->is_unsigned)
		buf_addf(&b->text, "%s %" PRIu64, key, v->num);
	else
		buf_addf(&b->text, "%s %" PRId64, key, (int64_t)v->num);
}

/* The frame of a key: its text, or its name and number. */
static int frame_of(struct fold_by *b, uint32_t i, const struct sreader *r,
		    const struct ps_record *rec, uint32_t *name)
{
	const char *key = fold_options(b->fold)->by[i];
	bool any;
	struct qval v;

	buf_reset(&b->text);
	any = b->value[i] ? expr_value(b->x, b->value[i] - 1, r, rec, &v) &&
				    (v.kind == QV_INT || v.kind == QV_STR)
			  : put_thread(b, r, &rec->sample);
	if (any && b->value[i])
		put_value(b, key, &v);
	if (!b->text.len)
		buf_addf(&b->text, "[%s %s]", any ? "empty" : "no", key);
	b->any[i] |= any;
	return b->text.err ? b->text.err : fold_name(b->fold, buf_str(&b->text), b->text.len, name);
}

static int pair(struct fold_by *b, uint32_t name, uint32_t *comm)
{
	uint32_t *slot = map64_put(&b->pairs, (uint64_t)*comm << 32 | name, NULL);
	struct fold_by_pair *v;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		v = array_widen(b->v, &b->cap, b->n, 256, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		b->v = v;
		v[b->n++] = (struct fold_by_pair){*comm, name};
		*slot = b->n;
	}
	if (*slot >= NUMBER)
		return PP_ELIMIT;
	*comm = NUMBER | (*slot - 1);
	return 0;
}

int fold_by_apply(struct fold_by *b, const struct sreader *r, const struct ps_record *rec,
		  uint32_t *comm)
{
	uint32_t name;
	int rc = *comm >= NUMBER ? PP_ELIMIT : 0;

	for (uint32_t i = fold_options(b->fold)->nby; i-- && !rc;) {
		rc = frame_of(b, i, r, rec, &name);
		if (!rc)
			rc = pair(b, name, comm);
	}
	return rc;
}

void fold_by_put(const struct fold_by *b, uint32_t comm, uint32_t *path, size_t *n)
{
	uint32_t above[FOLD_BY_MAX], k = 0;

	for (; comm & NUMBER && k < FOLD_BY_MAX; comm = b->v[comm & ~NUMBER].below)
		above[k++] = b->v[comm & ~NUMBER].name;
	path[(*n)++] = comm;
	while (k--)
		path[(*n)++] = above[k];
}

bool fold_by_complete(const struct fold_by *b, const char *name)
{
	const struct fold_opts *o = fold_options(b->fold);
	bool complete = true;

	for (uint32_t i = 0; i < o->nby; i++) {
		if (b->any[i])
			continue;
		diag_error(fold_diag(b->fold), name, -1, "no sample has a field %s", o->by[i]);
		complete = false;
	}
	return complete;
}

/* ---- text ---- */

static const char *const text_keys[] = {"comm", "pid",	 "tid",	      "thread",
					"cpu",	"event", "base_event"};

int fold_text_can(struct fold *f, const char *name, const char *what, bool samples, bool timed)
{
	const struct fold_opts *o = fold_options(f);

	if (o->chart && !timed) {
		diag_error(fold_diag(f), name, -1,
			   "--chart needs samples in time order: %s has sums", what);
		return PP_EUNSUPPORTED;
	}
	for (uint32_t i = 0; i < o->nby; i++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(text_keys) / sizeof(*text_keys); k++)
			known |= samples && !strcmp(o->by[i], text_keys[k]);
		if (known)
			continue;
		diag_error(fold_diag(f), name, -1, "--by %s: %s does not have it%s", o->by[i], what,
			   samples ? "; an event stream may (pdecode)" : "");
		return PP_EUNSUPPORTED;
	}
	return 0;
}

bool fold_by_about(const struct fold *f, const struct fold_about *a)
{
	const struct fold_opts *o = fold_options(f);

	return o->nby == 1 && fold_by_event(o) && *a->event;
}

int fold_by_text(struct fold *f, const struct fold_by_text *t, uint32_t names[FOLD_BY_MAX])
{
	const struct fold_opts *o = fold_options(f);
	struct buf b = BUF_INIT;
	struct core_event core;
	int rc = 0;

	for (uint32_t i = 0; i < o->nby && !rc; i++) {
		const char *key = o->by[i], *s = t->cpu;
		size_t n = t->cpu_len;

		buf_reset(&b);
		if (!strcmp(key, "comm") || !strcmp(key, "thread"))
			s = t->comm, n = t->comm_len;
		else if (!strcmp(key, "pid"))
			s = t->pid, n = t->pid_len;
		else if (!strcmp(key, "tid"))
			s = t->tid, n = t->tid_len;
		else if (!strcmp(key, "event"))
			s = t->event, n = t->event_len;
		else if (!strcmp(key, "base_event"))
			s = event_base_name(t->event, t->event_len, &core, &n);
		/* Numbers are without the zeros that CPUs are printed with. */
		while (!strcmp(key, "cpu") && n > 1 && *s == '0')
			s++, n--;
		if (!n)
			buf_addf(&b, "[no %s]", key);
		else if (strlen(key) == 3)
			buf_addf(&b, "%s ", key);
		buf_add(&b, s, n);
		if (!strcmp(key, "thread")) {
			buf_addc(&b, '/');
			buf_add(&b, t->tid, t->tid_len);
		}
		rc = b.err ? b.err : fold_name(f, buf_str(&b), b.len, &names[o->nby - 1 - i]);
	}
	buf_release(&b);
	return rc;
}
