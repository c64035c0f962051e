/* The names in conditions on tables: whether there are such values and keys. */
#include "base/opt.h"
#include "table/gate_parts.h"

#include <limits.h>
#include <string.h>

#define NAMES_SHOWN 40	/* in a message */
#define NAMES_MAX   512 /* that are looked at for a similar one */

static bool is_name(const char *name, const char *s, size_t len)
{
	return strlen(name) == len && !memcmp(name, s, len);
}

int gate_value(const struct table *t, const struct gate_node *stat)
{
	if (!stat->name)
		return t->overlap ? -1 : 0;
	for (uint32_t v = 0; v < t->nvalues; v++)
		if (is_name(t->values[v].name, stat->name, stat->len))
			return (int)v;
	return -1;
}

int gate_key(const struct table *t, const struct gate_node *n)
{
	for (uint32_t k = 0; k < t->nkeys; k++)
		if (is_name(t->keys[k].name, n->name, n->len))
			return (int)k;
	return -1;
}

/* Adds a name to a list for people, each once. False: there is no more room. */
static bool add_name(struct buf *b, const char *name, unsigned *n)
{
	static const char sep[] = ", ";
	const char *at = buf_str(b), *found;
	size_t len = strlen(name);

	for (; (found = strstr(at, name)); at = found + len)
		if ((found == buf_str(b) || found[-1] == ' ') && (!found[len] || found[len] == ','))
			return true;
	if (++*n > NAMES_SHOWN) {
		buf_adds(b, ", ...");
		return false;
	}
	if (b->len)
		buf_adds(b, sep);
	buf_add_safe(b, name, len);
	return true;
}

/* `one`: without those of tables that sum up others. */
static void list_values(const struct tables *ts, bool one, struct buf *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < ts->n; i++)
		for (uint32_t v = 0; v < ts->v[i]->nvalues && !(one && ts->v[i]->overlap); v++)
			if (!add_name(b, ts->v[i]->values[v].name, &n))
				return;
}

/* The keys of the tables that have the value. */
static void list_keys(const struct tables *ts, const struct gate_node *stat, struct buf *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < ts->n; i++)
		for (uint32_t k = 0; k < ts->v[i]->nkeys && gate_value(ts->v[i], stat) >= 0; k++)
			if (!add_name(b, ts->v[i]->keys[k].name, &n))
				return;
}

/* What values of a kind have. */
static void list_stats(enum table_value_kind kind, struct buf *b)
{
	for (int i = 0; i < GATE_NSTATS; i++)
		if (kind >= gate_stats[i].least)
			buf_addf(b, "%s%s", b->len ? ", " : "", gate_stats[i].name);
}

static bool has_key(const struct tables *ts, const struct gate_node *n)
{
	for (uint32_t i = 0; i < ts->n; i++)
		if (gate_key(ts->v[i], n) >= 0)
			return true;
	return false;
}

/* Of all names, values' or keys', the one that is nearly spelt so; NULL. */
static const char *nearest(const struct tables *ts, const struct gate_node *n, bool keys)
{
	const char *names[NAMES_MAX];
	char word[NAME_MAX + 1];
	size_t count = 0;

	if (!n->name || n->len > NAME_MAX)
		return NULL;
	memcpy(word, n->name, n->len);
	word[n->len] = 0;
	for (uint32_t i = 0; i < ts->n; i++) {
		const struct table *t = ts->v[i];

		for (uint32_t k = 0; k < (keys ? t->nkeys : t->nvalues) && count < NAMES_MAX; k++)
			names[count++] = keys ? t->keys[k].name : t->values[k].name;
	}
	return opt_nearest(word, names, count);
}

/* How many different names values have. */
static unsigned count_values(const struct tables *ts)
{
	struct buf b = BUF_INIT;
	unsigned n = 0;

	list_values(ts, true, &b);
	for (const char *at = buf_str(&b); *at; at++)
		n += *at == ',';
	n += b.len > 0;
	buf_release(&b);
	return n;
}

struct check {
	const struct gate *g;
	const struct tables *ts;
	struct buf *why;
};

static int say(const struct check *c, size_t at, size_t end, const char *what,
	       const struct buf *names)
{
	return expr_error(&c->g->src, at, end - at, c->why, "%s%s", what, buf_str(names));
}

static int say_no_name(const struct check *c, const struct gate_node *n, bool key,
		       const struct buf *names)
{
	const char *near = nearest(c->ts, n, key), *what = key ? "key" : "value";

	if (near)
		return expr_error(&c->g->src, n->name_at, n->name_end - n->name_at, c->why,
				  "there is no such %s; did you mean %s?", what, near);
	return expr_error(&c->g->src, n->name_at, n->name_end - n->name_at, c->why,
			  "there is no such %s; there are: %s", what, buf_str(names));
}

/* A statistic names no value: there has to be one only. */
static int check_only(const struct check *c, const struct gate_node *n)
{
	struct buf names = BUF_INIT;
	int rc = 0;

	if (count_values(c->ts) > 1) {
		list_values(c->ts, true, &names);
		rc = say(c, n->at, n->end, "of which value? There are: ", &names);
	}
	buf_release(&names);
	return rc;
}

static int check_name(const struct check *c, const struct gate_node *n)
{
	struct buf names = BUF_INIT;
	enum table_value_kind most = TABLE_COUNT;
	bool found = false, has = false;
	int rc = 0;

	for (uint32_t i = 0; i < c->ts->n; i++) {
		int v = gate_value(c->ts->v[i], n);

		if (v < 0)
			continue;
		found = true;
		if (c->ts->v[i]->values[v].kind > most)
			most = c->ts->v[i]->values[v].kind;
		has |= most >= gate_stats[n->stat].least;
	}
	if (!found && has_key(c->ts, n)) {
		rc = expr_error(&c->g->src, n->name_at, n->name_end - n->name_at, c->why,
				"this is a key, not a value: count(%.*s == ...)", (int)n->len,
				n->name);
	} else if (!found) {
		list_values(c->ts, false, &names);
		rc = say_no_name(c, n, false, &names);
	} else if (!has) {
		list_stats(most, &names);
		rc = say(c, n->at, n->end, "this value has no such statistic; it has: ", &names);
	}
	buf_release(&names);
	return rc;
}

static int check_key(const struct check *c, const struct gate_node *n, const struct gate_node *stat)
{
	struct buf names = BUF_INIT;
	bool found = false;
	int rc = 0;

	for (uint32_t i = 0; i < c->ts->n; i++)
		found |= gate_value(c->ts->v[i], stat) >= 0 && gate_key(c->ts->v[i], n) >= 0;
	if (!found) {
		list_keys(c->ts, stat, &names);
		rc = names.len ? say_no_name(c, n, true, &names)
			       : say(c, n->name_at, n->name_end,
				     "there are no keys: --by adds them", &names);
	}
	buf_release(&names);
	return rc;
}

/* The statistic of a value that comes first within a condition on a row; NULL. */
static const struct gate_node *first_stat(const struct gate_node *n)
{
	const struct gate_node *found;

	if (!n || n->kind == GATE_STAT)
		return n;
	found = first_stat(n->left);
	return found ? found : first_stat(n->right);
}

/* Within any(), all values are of one row. */
static int check_row(const struct check *c, const struct gate_node *n,
		     const struct gate_node *first)
{
	for (uint32_t i = 0; i < c->ts->n; i++)
		if (gate_value(c->ts->v[i], first) >= 0 && gate_value(c->ts->v[i], n) >= 0)
			return 0;
	return expr_error(&c->g->src, n->at, n->end - n->at, c->why,
			  "any() looks at one row, and this value is in another table");
}

/* `stat`: whose rows the keys are of. */
static int check_node(const struct check *c, const struct gate_node *n,
		      const struct gate_node *stat)
{
	static const struct gate_node all = {.kind = GATE_STAT};
	int rc;

	switch (n->kind) {
	case GATE_STAT:
		rc = n->name ? 0 : check_only(c, n);
		rc = rc ? rc : check_name(c, n);
		rc = rc || !stat ? rc : check_row(c, n, stat);
		return rc || !n->left ? rc : check_node(c, n->left, n);
	case GATE_KEY:
	case GATE_IN: return check_key(c, n, stat ? stat : &all);
	case GATE_ANY:
		stat = first_stat(n->left);
		rc = stat ? 0 : check_only(c, n);
		return rc ? rc : check_node(c, n->left, stat);
	default:
		rc = n->left ? check_node(c, n->left, stat) : 0;
		return rc || !n->right ? rc : check_node(c, n->right, stat);
	}
}

int gate_check(const struct gate *g, const struct tables *ts, struct buf *why)
{
	const struct check c = {g, ts, why};

	return check_node(&c, g->node, NULL);
}
