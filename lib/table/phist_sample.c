/* phist: from a sample to the row that it counts in. */
#include "table/phist_parts.h"

#include "base/err.h"

#include <stdio.h>

#define KERNEL_HALF (1ull << 63)      /* unsigned numbers from here on are addresses */
#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */

/* ---- functions and stacks of a stream without symbols ---- */

static bool next_address(const struct ps_chain *c, uint32_t *i, uint64_t *ip)
{
	while (c && *i < c->ips.n) {
		*ip = c->ips.v[(*i)++];
		if (*ip < CONTEXT_MIN)
			return true;
	}
	return false;
}

/* The addresses from the root to the leaf, ';' between. */
static void add_chain(struct buf *b, const struct ps_chain *c)
{
	for (uint32_t i = c->ips.n; i--;) {
		if (c->ips.v[i] >= CONTEXT_MIN)
			continue;
		if (b->len)
			buf_addc(b, ';');
		buf_addf(b, "0x%llx", (unsigned long long)c->ips.v[i]);
	}
}

/*
 * Addresses where psym was not asked for the functions. PP_ENOENT: the sample has not even these.
 */
static int raw_key(struct buf *b, enum field_id id, const struct sreader *r,
		   const struct ps_sample *s, struct qval *v)
{
	const struct ps_chain *c = ps_sample_has(s, chain) ? sreader_chain(r, s->chain) : NULL;
	uint64_t ip = s->ip;
	uint32_t i = 0;

	if (ps_sample_has(s, stack) || (!c && !ps_sample_has(s, ip)))
		return PP_ENOENT;
	buf_reset(b);
	switch (id) {
	case FIELD_SYM:
	case FIELD_LEAF: next_address(c, &i, &ip); break;
	case FIELD_CALLER:
		if (!next_address(c, &i, &ip) || !next_address(c, &i, &ip))
			return PP_ENOENT;
		break;
	case FIELD_STACK:
		if (c)
			add_chain(b, c);
		break;
	default: return PP_ENOENT;
	}
	if (!b->len)
		buf_addf(b, "0x%llx", (unsigned long long)ip);
	*v = (struct qval){.kind = QV_STR, .s = buf_str(b), .len = b->len};
	return b->err;
}

/* ---- the table ---- */

/* What a column of keys begins as; it can become something else (fit_kind). */
static enum table_key_kind first_kind(struct ps_str text, const struct qval *v)
{
	enum field_id id;

	if (v->kind != QV_INT)
		return TABLE_TEXT;
	if (field_builtin(text.p, text.len, &id) &&
	    (id == FIELD_IP || id == FIELD_ADDR || id == FIELD_CACHE_LINE || id == FIELD_PHYS_ADDR))
		return TABLE_HEX;
	if (!v->is_unsigned)
		return TABLE_SIGNED;
	return v->num >= KERNEL_HALF ? TABLE_HEX : TABLE_NUMBER;
}

/* The unit of a field: of the payload's ones nothing is known. */
static const char *unit_of(const struct phist *p, unsigned i, const struct sreader *r,
			   const struct ps_sample *s)
{
	struct ps_str text = expr_text(p->fields, i);
	const struct ps_event *e = sreader_event(r, s->event);
	enum field_id id;

	if (p->o.unit)
		return p->o.unit;
	if (!field_builtin(text.p, text.len, &id))
		return "";
	switch (id) {
	case FIELD_WEIGHT:
		/* Of an interval; of what hardware has seen it is cycles, or what the CPU has. */
		return e && e->perf_type == PS_TYPE_MADE ? "ns" : "";
	case FIELD_TIME:
	case FIELD_END_TIME: return "ns";
	case FIELD_PERIOD: return e ? e->unit.p : "";
	default: return "";
	}
}

static int make_table(struct phist *p, const struct sreader *r, const struct ps_sample *s,
		      const struct qval *by)
{
	struct table_key keys[TABLE_KEYS_MAX];
	struct table_value values[TABLE_VALUES_MAX] = {{"events", TABLE_COUNT, "", 0}};
	struct buf names = BUF_INIT, name = BUF_INIT;
	uint32_t n = 0;
	int rc = 0;

	for (unsigned i = 0; i < p->nby; i++)
		buf_addf(&names, "%.*s%c", (int)expr_text(p->by, i).len, expr_text(p->by, i).p, 0);
	for (unsigned i = 0; i < p->nfields; i++)
		buf_addf(&names, "%.*s%c", (int)expr_text(p->fields, i).len,
			 expr_text(p->fields, i).p, 0);
	buf_addf(&name, "%s%s%s", p->o.fields ? p->o.fields : "events", p->nby ? " by " : "",
		 p->nby ? p->o.by : "");
	rc = names.err ? names.err : name.err;
	if (!rc) {
		const char *at = buf_str(&names);

		if (p->window)
			keys[n++] = (struct table_key){"time", TABLE_WINDOW, p->window};
		for (unsigned i = 0; i < p->nby; i++, at += strlen(at) + 1)
			keys[n++] =
				(struct table_key){at, first_kind(expr_text(p->by, i), &by[i]), 0};
		for (unsigned i = 0; i < p->nfields; i++, at += strlen(at) + 1)
			values[i] = (struct table_value){at, TABLE_HIST, unit_of(p, i, r, s),
							 p->o.step};
		rc = tables_add(&p->tables, buf_str(&name), keys, n, values,
				p->nfields ? p->nfields : 1, &p->t);
	}
	buf_release(&names);
	buf_release(&name);
	return rc;
}

/* Periods of different units have none together. */
static void check_units(struct phist *p, const struct sreader *r, const struct ps_sample *s)
{
	if (!p->t || s->event == p->last_event || p->o.unit)
		return;
	p->last_event = s->event;
	for (unsigned i = 0; i < p->nfields; i++) {
		if (strcmp(p->t->values[i].unit, unit_of(p, i, r, s)) != 0) {
			p->t->values[i].unit = "";
			p->mixed = true;
		}
	}
}

/* Makes column k one that can hold the value. */
static int fit_kind(struct table *t, uint32_t k, const struct qval *v)
{
	bool large = v->kind == QV_INT && v->num >= KERNEL_HALF;

	switch (t->keys[k].kind) {
	case TABLE_TEXT:
	case TABLE_WINDOW: return 0;
	case TABLE_HEX:
		if (v->kind == QV_INT && (v->is_unsigned || !large))
			return 0;
		break;
	case TABLE_NUMBER:
		if (v->kind != QV_INT)
			break;
		if (v->is_unsigned)
			return large ? table_rekey(t, k, TABLE_HEX, 0) : 0;
		return large ? table_rekey(t, k, TABLE_SIGNED, 0) : 0;
	case TABLE_SIGNED:
		if (v->kind == QV_INT && !(v->is_unsigned && large))
			return 0;
		break;
	}
	return table_rekey(t, k, TABLE_TEXT, 0);
}

/* The key of a value in a column that can hold it. */
static int key_of(struct phist *p, uint32_t k, const struct qval *v, uint64_t *key)
{
	char number[24];
	int n;

	if (p->t->keys[k].kind != TABLE_TEXT) {
		*key = v->num;
		return 0;
	}
	if (v->kind == QV_STR)
		return table_text(p->t, v->s, v->len, key);
	switch (v->kind) {
	case QV_INT:
		n = snprintf(number, sizeof(number),
			     !v->is_unsigned	     ? "%lld"
			     : v->num >= KERNEL_HALF ? "0x%llx"
						     : "%llu",
			     (unsigned long long)v->num);
		return table_text(p->t, number, (size_t)n, key);
	default: break;
	}
	buf_reset(&p->text);
	for (size_t i = 0; i < v->len; i++)
		buf_add_hex(&p->text, (uint8_t)v->s[i], 2, '0');
	return p->text.err ? p->text.err : table_text(p->t, buf_str(&p->text), p->text.len, key);
}

/* Automatic windows become wider, by 2 and by 5 in turn, so that each is made of whole ones. */
static int widen(struct phist *p, uint64_t time)
{
	int rc = 0;

	if (time < p->first_time || !p->t)
		p->first_time = time;
	if (time > p->last_time || !p->t)
		p->last_time = time;
	if (p->o.window != PHIST_WINDOW_AUTO)
		return 0;
	while ((p->last_time - p->first_time) / p->window >= PHIST_WINDOWS - 1 &&
	       p->window < UINT64_MAX / 8 && !rc) {
		p->window *= p->twice ? 5 : 2;
		p->twice = !p->twice;
		if (p->t)
			rc = table_rekey(p->t, 0, TABLE_WINDOW, p->window);
	}
	return rc;
}

static int add_row(struct phist *p, const struct ps_sample *s, const struct qval *by,
		   const struct qval *fields)
{
	uint64_t key[TABLE_KEYS_MAX];
	uint32_t row, n = 0;
	int rc = 0;

	if (p->window)
		key[n++] = s->time - s->time % p->window;
	for (unsigned i = 0; i < p->nby && !rc; i++)
		rc = fit_kind(p->t, n + i, &by[i]);
	for (unsigned i = 0; i < p->nby && !rc; i++)
		rc = key_of(p, n + i, &by[i], &key[n + i]);
	if (!rc)
		rc = table_row(p->t, key, &row);
	if (!rc && !p->nfields)
		rc = table_add(p->t, row, 0, 0, 0);
	for (unsigned i = 0; i < p->nfields && !rc; i++) {
		const struct qval *v = &fields[i];

		if (v->kind == QV_INT)
			rc = table_add(p->t, row, i,
				       v->is_unsigned ? (hist_int)v->num : (int64_t)v->num,
				       s->time);
	}
	return rc;
}

/* ---- samples ---- */

/* Whether the sample has a number for one of the fields. */
static bool get_fields(struct phist *p, const struct sreader *r, const struct ps_record *rec,
		       struct qval *fields)
{
	bool any = !p->nfields, text = false;

	for (unsigned i = 0; i < p->nfields; i++) {
		expr_value(p->fields, i, r, rec, &fields[i]);
		any |= fields[i].kind == QV_INT;
		text |= fields[i].kind != QV_INT && fields[i].kind != QV_NA;
	}
	p->account.no_field += !any;
	p->account.texts += !any && text;
	return any;
}

/*
 * Makes a value that is the name of the event the name with its number, "cpu-clock #2", if it is
 * not the first of that name in its recording; the text lives until the next call. 0 or PP_ENOMEM.
 */
static int number_event(struct event_numbers *t, const struct sreader *r, uint32_t event,
			struct qval *v)
{
	const struct ps_event *e = sreader_event(r, event);
	uint32_t number = event_number(t, event);

	if (!e || v->s != e->name.p || number < 2)
		return 0;
	buf_reset(&t->text);
	buf_add(&t->text, v->s, v->len);
	buf_addf(&t->text, " #%u", number);
	v->s = buf_str(&t->text);
	v->len = t->text.len;
	return t->text.err;
}

/* The value of a key, as it is shown. 0, PP_ENOENT or PP_ENOMEM. */
static int get_key(struct phist *p, unsigned i, const struct sreader *r,
		   const struct ps_record *rec, bool *raw)
{
	struct qval *v = &p->key_values[i];
	struct ps_str text;
	enum field_id id;
	int rc;

	if (expr_value(p->by, i, r, rec, v))
		return p->events.any && v->kind == QV_STR
			       ? number_event(&p->events, r, rec->sample.event, v)
			       : 0;
	text = expr_text(p->by, i);
	if (!field_builtin(text.p, text.len, &id))
		return PP_ENOENT;
	rc = raw_key(&p->raw[i], id, r, &rec->sample, v);
	*raw |= !rc;
	return rc;
}

/* All keys. 0, PP_ENOENT (the sample lacks one) or PP_ENOMEM. */
static int get_keys(struct phist *p, const struct sreader *r, const struct ps_record *rec)
{
	bool raw = false;
	int rc = 0;

	for (unsigned i = 0; i < p->nby && !rc; i++)
		rc = get_key(p, i, r, rec, &raw);
	p->account.no_key += rc == PP_ENOENT;
	p->account.raw += !rc && raw;
	return rc;
}

int phist_sample(struct phist *p, const struct sreader *r, const struct ps_record *rec)
{
	struct qval *by = p->key_values, *fields = p->field_values;
	const struct ps_sample *s = &rec->sample;
	int rc = 0;

	p->account.samples++;
	if (s->flags & PS_SAMPLE_JOINED) {
		p->account.joined++;
		return 0;
	}
	if ((s->flags & PS_MARK_MASK) != PS_MARK_PASS) {
		p->account.filtered++;
		return 0;
	}
	if (p->window && (s->flags & PS_SAMPLE_NO_TIME)) {
		p->account.no_time++;
		return 0;
	}
	if (!get_fields(p, r, rec, fields))
		return 0;
	rc = get_keys(p, r, rec);
	if (rc)
		return rc == PP_ENOENT ? 0 : rc;
	if (p->window)
		rc = widen(p, s->time);
	if (!rc && !p->t)
		rc = make_table(p, r, s, by);
	if (!rc) {
		check_units(p, r, s);
		rc = add_row(p, s, by, fields);
	}
	p->account.counted += !rc;
	return rc;
}
