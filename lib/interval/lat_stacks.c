/* The call chains and stacks of points, kept by content while an interval is open, for --emit. */
#include "interval/lat_stacks.h"

#include "base/array.h"
#include "base/err.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

enum dict { CHAIN, SYMBOL, FRAME, STACK, NDICTS };

/* Id 1 is of nothing: by its definition the readers forget the other ids. */
#define FIRST "", 0

/* What an id of the stream that is read stands for: true while the epoch is the dictionary's. */
struct known {
	uint32_t epoch, id;
};

struct kept {
	struct intern entries;
	struct known *known; /* by the id of the stream */
	uint32_t nknown, epoch;
	uint32_t *out; /* by our id: that of the stream that is written; 0 not yet */
	uint32_t nout, last;
};

struct lat_stacks {
	struct kept dicts[NDICTS];
	uint32_t max;
	uint64_t n, bytes; /* entries and their bytes, and what had no room since the last sweep */
	uint64_t full_n, full_bytes;	 /* where it is time to sweep */
	bool chains_begun, stacks_begun; /* id 1 is defined in what is written */
	struct buf text, stack;		 /* entries that are being made */
	struct intern old[NDICTS];	 /* while sweeping */
	uint32_t *moved[NDICTS];	 /* new ids by the old ones; 0 not yet */
};

/* An entry's bytes: of a chain its addresses; of a frame the record without its id. */
struct symbol_head {
	uint64_t addr, size;
	uint32_t dso, flags;
	uint32_t name, linkage; /* bytes of the two texts that follow */
};
struct stack_head {
	uint32_t flags; /* frames follow */
};

/* ---- memory ---- */

static void pace(struct lat_stacks *k)
{
	uint64_t n = k->max / 8, bytes = LAT_STACKS_BYTES / 8;

	k->full_n = k->n + (k->n > n ? k->n : n);
	k->full_bytes = k->bytes + (k->bytes > bytes ? k->bytes : bytes);
}

static void forget_known(struct kept *d)
{
	if (++d->epoch)
		return;
	if (d->nknown)
		memset(d->known, 0, d->nknown * sizeof(*d->known));
	d->epoch = 1;
}

/* Nothing is kept, nothing is written. */
static void clear(struct lat_stacks *k)
{
	for (int i = 0; i < NDICTS; i++) {
		struct kept *d = &k->dicts[i];

		intern_release(&d->entries);
		if (d->nout)
			memset(d->out, 0, d->nout * sizeof(*d->out));
		forget_known(d);
	}
	k->n = k->bytes = 0;
	k->chains_begun = k->stacks_begun = false;
	pace(k);
}

struct lat_stacks *lat_stacks_new(uint32_t max)
{
	struct lat_stacks *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->max = max ? max : LAT_STACKS_MAX;
	clear(k);
	return k;
}

void lat_stacks_free(struct lat_stacks *k)
{
	if (!k)
		return;
	lat_stacks_swept(k);
	for (int i = 0; i < NDICTS; i++) {
		intern_release(&k->dicts[i].entries);
		free(k->dicts[i].known);
		free(k->dicts[i].out);
	}
	buf_release(&k->text);
	buf_release(&k->stack);
	free(k);
}

/* Our id of an entry. 0, PP_ENOMEM, PP_ELIMIT. */
static int add(struct lat_stacks *k, enum dict dict, const void *bytes, size_t len, uint32_t *id)
{
	struct intern *t = &k->dicts[dict].entries;
	bool fresh;
	int rc;

	if (!t->n) {
		rc = intern_add(t, FIRST, id, NULL);
		if (rc)
			return rc;
	}
	/* What is moved had room before. */
	if (!k->moved[dict] && (t->n >= k->max || k->bytes + len > LAT_STACKS_BYTES)) {
		*id = intern_find(t, bytes, len);
		fresh = !*id;
		rc = fresh ? PP_ELIMIT : 0;
	} else {
		rc = intern_add(t, bytes, len, id, &fresh);
	}
	if (fresh && (!rc || rc == PP_ELIMIT)) {
		k->n++;
		k->bytes += len + sizeof(struct intern_entry);
	}
	return rc;
}

/* ---- from the stream that is read ---- */

static int add_chain(struct lat_stacks *k, const struct sreader *r, uint32_t id, uint32_t *out)
{
	const struct ps_chain *c = sreader_chain(r, id);

	if (!c || !c->ips.n)
		return 0;
	if (c->ips.n > LAT_STACKS_DEPTH)
		return PP_ELIMIT;
	return add(k, CHAIN, c->ips.v, c->ips.n * sizeof(*c->ips.v), out);
}

static int add_symbol(struct lat_stacks *k, const struct sreader *r, uint32_t id, uint32_t *out)
{
	const struct ps_symbol *s = sreader_symbol(r, id);
	struct symbol_head head;

	if (!s)
		return 0;
	head = (struct symbol_head){.addr = s->addr,
				    .size = s->size,
				    .dso = s->dso,
				    .flags = s->flags,
				    .name = s->name.len,
				    .linkage = s->linkage.len};
	buf_reset(&k->text);
	buf_add(&k->text, &head, sizeof(head));
	buf_add(&k->text, s->name.p, s->name.len);
	buf_add(&k->text, s->linkage.p, s->linkage.len);
	return k->text.err ? PP_ENOMEM : add(k, SYMBOL, k->text.data, k->text.len, out);
}

static int get(struct lat_stacks *k, const struct sreader *r, enum dict dict, uint32_t id,
	       uint32_t *out);

static int add_frame(struct lat_stacks *k, const struct sreader *r, uint32_t id, uint32_t *out)
{
	const struct ps_frame *f = sreader_frame(r, id);
	struct ps_frame copy;
	int rc;

	if (!f)
		return 0;
	memcpy(&copy, f, sizeof(copy));
	copy.id = 0;
	rc = get(k, r, SYMBOL, f->symbol, &copy.symbol);
	return rc ? rc : add(k, FRAME, &copy, sizeof(copy), out);
}

static int add_stack(struct lat_stacks *k, const struct sreader *r, uint32_t id, uint32_t *out)
{
	const struct ps_stack *s = sreader_stack(r, id);
	struct stack_head head;
	int rc = 0;

	if (!s)
		return 0;
	if (s->frames.n > LAT_STACKS_DEPTH)
		return PP_ELIMIT;
	head.flags = s->flags;
	buf_reset(&k->stack);
	buf_add(&k->stack, &head, sizeof(head));
	for (uint32_t i = 0; i < s->frames.n && !rc; i++) {
		uint32_t frame;

		rc = get(k, r, FRAME, s->frames.v[i], &frame);
		buf_add(&k->stack, &frame, sizeof(frame));
	}
	if (rc)
		return rc;
	return k->stack.err ? PP_ENOMEM : add(k, STACK, k->stack.data, k->stack.len, out);
}

/* Our id of what an id of the stream stands for; 0: of nothing. */
static int get(struct lat_stacks *k, const struct sreader *r, enum dict dict, uint32_t id,
	       uint32_t *out)
{
	static int (*const adds[])(struct lat_stacks *, const struct sreader *, uint32_t,
				   uint32_t *) = {add_chain, add_symbol, add_frame, add_stack};
	struct kept *d = &k->dicts[dict];
	struct known *v;
	int rc;

	*out = 0;
	if (id < d->nknown && d->known[id].epoch == d->epoch) {
		*out = d->known[id].id;
		return 0;
	}
	if (!id || id >= PS_ID_MAX)
		return 0;
	rc = adds[dict](k, r, id, out);
	if (rc || !*out)
		return rc;
	v = array_widen(d->known, &d->nknown, id, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	d->known = v;
	v[id] = (struct known){.epoch = d->epoch, .id = *out};
	return 0;
}

int lat_stacks_keep(struct lat_stacks *k, const struct sreader *r, const struct ps_sample *s,
		    struct lat_point *p)
{
	int rc = get(k, r, CHAIN, s->chain, &p->chain);

	if (!rc)
		rc = get(k, r, STACK, s->stack, &p->stack);
	if (rc != PP_ELIMIT)
		return rc;
	p->chain = p->stack = 0;
	p->missing = true;
	return 0;
}

void lat_stacks_see(struct lat_stacks *k, const struct ps_record *rec)
{
	enum dict dict;
	struct kept *d;
	uint32_t id;

	switch (rec->type) {
	case PS_HEADER: clear(k); return;
	case PS_CHAIN: dict = CHAIN, id = rec->chain.id; break;
	case PS_SYMBOL: dict = SYMBOL, id = rec->symbol.id; break;
	case PS_FRAME: dict = FRAME, id = rec->frame.id; break;
	case PS_STACK: dict = STACK, id = rec->stack.id; break;
	default: return;
	}
	d = &k->dicts[dict];
	if (id == 1)
		forget_known(d);
	else if (id < d->nknown)
		d->known[id].epoch = 0;
}

/* ---- looking into stacks, making new ones ---- */

/* The frames of a stack, leaf first, and their number. */
static const uint32_t *frames_of(const struct lat_stacks *k, uint32_t stack, uint32_t *n)
{
	size_t len = 0;
	const char *bytes = stack ? intern_get(&k->dicts[STACK].entries, stack, &len) : NULL;

	*n = len < sizeof(struct stack_head) ? 0
					     : (uint32_t)((len - sizeof(struct stack_head)) / 4);
	return *n ? (const uint32_t *)(const void *)(bytes + sizeof(struct stack_head)) : NULL;
}

bool lat_stacks_frame(const struct lat_stacks *k, uint32_t stack, uint32_t i,
		      struct lat_stack_frame *f)
{
	struct symbol_head head;
	const char *bytes;
	struct ps_frame frame;
	uint32_t n;
	const uint32_t *v = frames_of(k, stack, &n);

	if (i >= n)
		return false;
	*f = (struct lat_stack_frame){.name = NULL};
	bytes = intern_get(&k->dicts[FRAME].entries, v[i], NULL);
	if (!bytes)
		return true;
	memcpy(&frame, bytes, sizeof(frame));
	f->flags = frame.flags;
	bytes = frame.symbol ? intern_get(&k->dicts[SYMBOL].entries, frame.symbol, NULL) : NULL;
	if (!bytes)
		return true;
	memcpy(&head, bytes, sizeof(head));
	f->name = bytes + sizeof(head);
	f->len = head.name;
	return true;
}

/* A frame that is a name only. */
static int add_name(struct lat_stacks *k, const char *name, size_t len, uint32_t *id)
{
	struct symbol_head head = {.name = (uint32_t)len};
	struct ps_frame f = {.id = 0};
	int rc;

	buf_reset(&k->text);
	buf_add(&k->text, &head, sizeof(head));
	buf_add(&k->text, name, len);
	rc = k->text.err ? PP_ENOMEM : add(k, SYMBOL, k->text.data, k->text.len, &f.symbol);
	return rc ? rc : add(k, FRAME, &f, sizeof(f), id);
}

/* The frames of a part, the innermost first, after those that are inside of it. */
static int add_part(struct lat_stacks *k, const struct lat_stack_part *p)
{
	uint32_t n, frame;
	const uint32_t *v = frames_of(k, p->stack, &n);
	int rc = p->name ? add_name(k, p->name, p->len, &frame) : 0;

	if (p->name)
		buf_add(&k->stack, &frame, rc ? 0 : sizeof(frame));
	else if (n > p->skip && !p->turned)
		buf_add(&k->stack, v + p->skip, (n - p->skip) * sizeof(*v));
	for (uint32_t i = n; p->turned && i-- > p->skip;)
		buf_add(&k->stack, &v[i], sizeof(*v));
	return rc ? rc : k->stack.err;
}

int lat_stacks_join(struct lat_stacks *k, const struct lat_stack_part *parts, uint32_t n,
		    uint32_t *stack)
{
	struct stack_head head = {0};
	int rc = 0;

	*stack = 0;
	if (n && parts[0].stack)
		memcpy(&head, intern_get(&k->dicts[STACK].entries, parts[0].stack, NULL),
		       sizeof(head));
	buf_reset(&k->stack);
	buf_add(&k->stack, &head, sizeof(head));
	while (n-- > 0 && !rc)
		rc = add_part(k, &parts[n]);
	if (!rc && k->stack.len > sizeof(head) + LAT_STACKS_DEPTH * sizeof(uint32_t))
		rc = PP_ELIMIT;
	return rc ? rc : add(k, STACK, k->stack.data, k->stack.len, stack);
}

/* ---- sweeping ---- */

bool lat_stacks_full(const struct lat_stacks *k)
{
	return k->n >= k->full_n || k->bytes >= k->full_bytes;
}

int lat_stacks_sweep(struct lat_stacks *k)
{
	for (int i = 0; i < NDICTS; i++) {
		k->moved[i] = calloc((size_t)k->dicts[i].entries.n + 1, sizeof(*k->moved[i]));
		if (!k->moved[i])
			return PP_ENOMEM;
		k->old[i] = k->dicts[i].entries;
		k->dicts[i].entries = (struct intern)INTERN_INIT;
	}
	clear(k);
	return 0;
}

void lat_stacks_swept(struct lat_stacks *k)
{
	for (int i = 0; i < NDICTS; i++) {
		intern_release(&k->old[i]);
		free(k->moved[i]);
		k->moved[i] = NULL;
	}
	pace(k);
}

static int move(struct lat_stacks *k, enum dict dict, uint32_t *id);

static int move_frame(struct lat_stacks *k, const char *bytes, size_t len, uint32_t *id)
{
	struct ps_frame f;
	int rc;

	memcpy(&f, bytes, len);
	rc = move(k, SYMBOL, &f.symbol);
	return rc ? rc : add(k, FRAME, &f, len, id);
}

static int move_stack(struct lat_stacks *k, const char *bytes, size_t len, uint32_t *id)
{
	int rc = 0;

	buf_reset(&k->stack);
	buf_add(&k->stack, bytes, sizeof(struct stack_head));
	for (size_t at = sizeof(struct stack_head); at < len && !rc; at += 4) {
		uint32_t frame;

		memcpy(&frame, bytes + at, 4);
		rc = move(k, FRAME, &frame);
		buf_add(&k->stack, &frame, 4);
	}
	if (rc)
		return rc;
	return k->stack.err ? PP_ENOMEM : add(k, STACK, k->stack.data, k->stack.len, id);
}

/* The new id of an old one. */
static int move(struct lat_stacks *k, enum dict dict, uint32_t *id)
{
	uint32_t *known = &k->moved[dict][*id];
	const char *bytes;
	size_t len;
	int rc = 0;

	if (*id && !*known) {
		bytes = intern_get(&k->old[dict], *id, &len);
		switch (dict) {
		case FRAME: rc = move_frame(k, bytes, len, known); break;
		case STACK: rc = move_stack(k, bytes, len, known); break;
		default: rc = add(k, dict, bytes, len, known); break;
		}
	}
	*id = *known;
	return rc;
}

int lat_stacks_move(struct lat_stacks *k, struct lat_point *p)
{
	int rc = move(k, CHAIN, &p->chain);

	return rc ? rc : move(k, STACK, &p->stack);
}

/* ---- to the stream that is written ---- */

/* Id 1 of the dictionaries: the readers forget what the ids meant before. */
static int begin(struct lat_stacks *k, struct swriter *w, uint32_t source, bool stacks)
{
	const struct ps_symbol symbol = {.id = 1};
	const struct ps_frame frame = {.id = 1};
	const struct ps_stack stack = {.id = 1};
	const struct ps_chain chain = {.id = 1};
	int rc;

	if (!stacks) {
		k->chains_begun = true;
		k->dicts[CHAIN].last = 1;
		return swriter_put(w, PS_CHAIN, source, &chain);
	}
	k->stacks_begun = true;
	k->dicts[SYMBOL].last = k->dicts[FRAME].last = k->dicts[STACK].last = 1;
	rc = swriter_put(w, PS_SYMBOL, source, &symbol);
	if (!rc)
		rc = swriter_put(w, PS_FRAME, source, &frame);
	return rc ? rc : swriter_put(w, PS_STACK, source, &stack);
}

/*
 * The id in what is written, where ids are dense: they are given out as entries are defined.
 * *fresh: it has to be defined now.
 */
static int take(struct kept *d, uint32_t id, uint32_t *out, bool *fresh)
{
	uint32_t *v = array_widen(d->out, &d->nout, id, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	d->out = v;
	*fresh = id && !v[id];
	if (*fresh)
		v[id] = ++d->last;
	*out = v[id];
	return 0;
}

static int put_entry(struct lat_stacks *k, struct swriter *w, uint32_t source, enum dict dict,
		     uint32_t id, uint32_t *out);

static int put_chain(struct swriter *w, uint32_t source, uint32_t id, const char *bytes, size_t len)
{
	const struct ps_chain c = {
		.id = id, .ips = {(const uint64_t *)(const void *)bytes, (uint32_t)(len / 8)}};

	return swriter_put(w, PS_CHAIN, source, &c);
}

static int put_symbol(struct swriter *w, uint32_t source, uint32_t id, const char *bytes)
{
	struct symbol_head head;
	struct ps_symbol s;

	memcpy(&head, bytes, sizeof(head));
	s = (struct ps_symbol){.id = id,
			       .dso = head.dso,
			       .addr = head.addr,
			       .size = head.size,
			       .flags = head.flags,
			       .name = ps_str(bytes + sizeof(head), head.name),
			       .linkage = ps_str(bytes + sizeof(head) + head.name, head.linkage)};
	return swriter_put(w, PS_SYMBOL, source, &s);
}

static int put_frame(struct lat_stacks *k, struct swriter *w, uint32_t source, uint32_t id,
		     const char *bytes)
{
	struct ps_frame f;
	int rc;

	memcpy(&f, bytes, sizeof(f));
	f.id = id;
	rc = put_entry(k, w, source, SYMBOL, f.symbol, &f.symbol);
	return rc ? rc : swriter_put(w, PS_FRAME, source, &f);
}

static int put_stack(struct lat_stacks *k, struct swriter *w, uint32_t source, uint32_t id,
		     const char *bytes, size_t len)
{
	struct ps_stack s = {.id = id};
	struct stack_head head;
	int rc = 0;

	memcpy(&head, bytes, sizeof(head));
	s.flags = head.flags;
	buf_reset(&k->stack);
	for (size_t at = sizeof(head); at < len && !rc; at += 4) {
		uint32_t frame;

		memcpy(&frame, bytes + at, 4);
		rc = put_entry(k, w, source, FRAME, frame, &frame);
		buf_add(&k->stack, &frame, 4);
	}
	if (rc || k->stack.err)
		return rc ? rc : PP_ENOMEM;
	s.frames.v = (const uint32_t *)(const void *)k->stack.data;
	s.frames.n = (uint32_t)(k->stack.len / 4);
	return swriter_put(w, PS_STACK, source, &s);
}

/* Defines an entry of ours, unless that has been done; *out: its id in what is written. */
static int put_entry(struct lat_stacks *k, struct swriter *w, uint32_t source, enum dict dict,
		     uint32_t id, uint32_t *out)
{
	const char *bytes;
	bool fresh;
	size_t len;
	int rc = take(&k->dicts[dict], id, out, &fresh);

	if (rc || !fresh)
		return rc;
	bytes = intern_get(&k->dicts[dict].entries, id, &len);
	/* A sweep that ran out of memory. */
	if (!bytes)
		return PP_ENOMEM;
	switch (dict) {
	case CHAIN: return put_chain(w, source, *out, bytes, len);
	case SYMBOL: return put_symbol(w, source, *out, bytes);
	case FRAME: return put_frame(k, w, source, *out, bytes);
	case STACK: return put_stack(k, w, source, *out, bytes, len);
	case NDICTS: break;
	}
	return 0;
}

int lat_stacks_write(struct lat_stacks *k, struct swriter *w, uint32_t source,
		     const struct lat_point *p, uint32_t *chain, uint32_t *stack)
{
	int rc = 0;

	*chain = *stack = 0;
	if (p->chain && !k->chains_begun)
		rc = begin(k, w, source, false);
	if (!rc && p->stack && !k->stacks_begun)
		rc = begin(k, w, source, true);
	if (!rc)
		rc = put_entry(k, w, source, CHAIN, p->chain, chain);
	return rc ? rc : put_entry(k, w, source, STACK, p->stack, stack);
}
