/* A stream as text, printed by several threads. */
#include "filter/printers.h"

#include "base/err.h"
#include "base/thread.h"

#include <stdlib.h>

#define AHEAD	  4	       /* blocks that wait, beside those that are printed */
#define TEXT_ROOM (1u << 20)   /* bytes of text that wait for those before them */
#define PIECE	  (1u << 16)   /* of text that is given to the output */
#define ANYBODY	  PRINTERS_MAX /* an owner: who comes first */

/* Records for all printers. */
struct block {
	uint8_t *bytes; /* owned, with room for cap */
	size_t n, cap;
	unsigned owner; /* which printer prints it */
	unsigned left;	/* printers that have not read it */
};

struct printer {
	struct printers *all;
	struct stext *text;
	struct sreader *back; /* reads the records */
	struct out out;
	bool mine;    /* what it reads is to be printed */
	uint64_t seq; /* number of the block that it reads */
	pthread_t thread;
};

struct printers {
	struct out *out;
	struct stext_opts opts;
	struct diag *d;		   /* of the first printer; the others are silent */
	bool own_diag;		   /* it is for this one alone */
	unsigned want, n, running; /* printers: wanted, made, with a thread */
	struct printer v[PRINTERS_MAX];
	struct buf before; /* what came before there were threads */
	bool in_order;	   /* the first printer prints all */
	/* What threads share. */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct block ring[PRINTERS_MAX + AHEAD];
	unsigned nring;
	uint64_t taken; /* blocks that came */
	uint64_t turn;	/* the next whose text goes to the output */
	bool ended;
	int err;
};

/* ---- one printer ---- */

static int read_records(struct printer *p, uint8_t *bytes, size_t n)
{
	const struct ps_record *rec;
	int rc;

	sreader_feed(p->back, bytes, n);
	while (!(rc = sreader_next(p->back, &rec))) {
		rc = p->mine ? stext_record(p->text, p->back, rec)
			     : stext_pass(p->text, p->back, rec);
		if (rc)
			return rc;
	}
	return rc == PP_END ? 0 : rc;
}

/* Until all text before that of its block is written. 0, or what another printer failed with. */
static int wait_turn(struct printer *p)
{
	struct printers *all = p->all;
	int rc;

	pthread_mutex_lock(&all->lock);
	while (all->turn != p->seq && !all->err)
		pthread_cond_wait(&all->moved, &all->lock);
	rc = all->err;
	pthread_mutex_unlock(&all->lock);
	return rc;
}

/* Takes the place of write(2) for the text of a printer. */
static int hand_on(void *ctx, uint8_t *bytes, size_t n)
{
	struct printer *p = ctx;
	int rc = p->mine ? wait_turn(p) : 0;

	for (size_t i = 0; i < n && p->mine && !rc; i += PIECE)
		rc = out_add(p->all->out, bytes + i, n - i < PIECE ? n - i : PIECE);
	return rc;
}

/* The first one prints to the output itself, as long as it has no thread. */
static int add_printer(struct printers *all)
{
	struct printer *p = &all->v[all->n];
	struct diag *d = all->n ? NULL : all->d;
	int rc = out_init_fn(&p->out, hand_on, p);

	p->all = all;
	p->mine = !all->n++;
	if (!rc && !out_room(&p->out, TEXT_ROOM))
		rc = p->out.err;
	if (!rc)
		rc = stext_new(&p->text, p->mine ? all->out : &p->out, &all->opts, d);
	return rc ? rc : sreader_new_fed(&p->back, "(output)", STEXT_KEEP | SREADER_HELPERS, d);
}

static void drop_printer(struct printers *all)
{
	struct printer *p = &all->v[--all->n];

	stext_free(p->text);
	sreader_free(p->back);
	out_release(&p->out);
}

/* ---- threads ---- */

/* The next block; NULL: there will be none. */
static struct block *next_block(struct printer *p)
{
	struct printers *all = p->all;
	struct block *b = NULL;

	pthread_mutex_lock(&all->lock);
	while (p->seq == all->taken && !all->ended && !all->err)
		pthread_cond_wait(&all->moved, &all->lock);
	if (p->seq < all->taken && !all->err) {
		b = &all->ring[p->seq % all->nring];
		if (b->owner == ANYBODY)
			b->owner = (unsigned)(p - all->v);
		p->mine = b->owner == (unsigned)(p - all->v);
	}
	pthread_mutex_unlock(&all->lock);
	return b;
}

static void done_with(struct printer *p, struct block *b, int rc)
{
	struct printers *all = p->all;

	pthread_mutex_lock(&all->lock);
	b->left--;
	if (p->mine)
		all->turn++;
	if (rc && !all->err)
		all->err = rc;
	pthread_cond_broadcast(&all->moved);
	pthread_mutex_unlock(&all->lock);
	p->seq++;
}

static int read_block(struct printer *p, const struct block *b)
{
	int rc = read_records(p, b->bytes, b->n);

	if (!rc)
		rc = out_flush(&p->out);
	return rc || !p->mine ? rc : wait_turn(p);
}

static void *work(void *arg)
{
	struct printer *p = arg;
	struct block *b;
	int rc = 0;

	if (p != p->all->v) {
		rc = read_records(p, p->all->before.data, p->all->before.len);
		if (!rc)
			rc = out_flush(&p->out);
	}
	while ((b = next_block(p))) {
		if (!rc)
			rc = read_block(p, b);
		done_with(p, b, rc);
	}
	return NULL;
}

/* Without threads for all, there are fewer printers. */
static void begin(struct printers *all)
{
	while (!all->in_order && all->n < all->want)
		if (add_printer(all)) {
			drop_printer(all);
			break;
		}
	all->nring = all->n + AHEAD;
	while (all->running < all->n) {
		struct printer *p = &all->v[all->running];

		if (p == all->v)
			stext_to(p->text, &p->out);
		if (thread_start(&p->thread, work, p))
			break;
		all->running++;
	}
	if (!all->running) {
		stext_to(all->v->text, all->out);
		all->want = 1;
	}
	while (all->n > 1 && all->n > all->running)
		drop_printer(all);
}

/* ---- the thread that makes the stream ---- */

/* Waits until a block was read by all. */
static void wait_read(struct printers *all, const struct block *b)
{
	while (b->left && !all->err)
		pthread_cond_wait(&all->moved, &all->lock);
}

int printers_wait(struct printers *all)
{
	int rc;

	if (!all->running)
		return 0;
	pthread_mutex_lock(&all->lock);
	for (unsigned i = 0; i < all->nring; i++)
		wait_read(all, &all->ring[i]);
	rc = all->err;
	pthread_mutex_unlock(&all->lock);
	return rc;
}

static int put(struct printers *all, const uint8_t *bytes, size_t n, unsigned owner)
{
	struct block *b = &all->ring[all->taken % all->nring];
	int rc;

	pthread_mutex_lock(&all->lock);
	wait_read(all, b);
	rc = all->err;
	pthread_mutex_unlock(&all->lock);
	if (!rc && n > b->cap) {
		uint8_t *v = realloc(b->bytes, n);

		if (!v)
			return PP_ENOMEM;
		b->bytes = v;
		b->cap = n;
	}
	if (rc)
		return rc;
	memcpy(b->bytes, bytes, n);
	b->n = n;
	b->owner = owner;
	pthread_mutex_lock(&all->lock);
	b->left = all->running;
	all->taken++;
	pthread_cond_broadcast(&all->moved);
	pthread_mutex_unlock(&all->lock);
	return 0;
}

static int take_alone(struct printers *all, uint8_t *bytes, size_t n)
{
	int rc = read_records(all->v, bytes, n);

	if (rc || all->want == 1)
		return rc;
	all->in_order = stext_in_order(all->v->text);
	buf_add(&all->before, bytes, n);
	if (all->before.err)
		all->want = 1;
	else if (all->before.len >= PRINTERS_BEGIN)
		begin(all);
	return 0;
}

/* What could change who may print is read by all before anything else is. */
int printers_take(struct printers *all, uint8_t *bytes, size_t n)
{
	bool heads;
	int rc = 0;

	if (!all->running)
		return take_alone(all, bytes, n);
	heads = ps_has_heads(bytes, n);
	if (heads)
		rc = printers_wait(all);
	if (!rc)
		rc = put(all, bytes, n, heads || all->in_order ? 0 : ANYBODY);
	if (heads && !rc) {
		rc = printers_wait(all);
		all->in_order = stext_in_order(all->v->text);
	}
	return rc;
}

/* ---- all ---- */

int printers_new(struct printers **p, struct out *out, const struct stext_opts *opts,
		 unsigned threads, struct diag *d)
{
	struct printers *all = calloc(1, sizeof(*all));

	*p = all;
	if (!all)
		return PP_ENOMEM;
	all->out = out;
	all->opts = *opts;
	all->d = d;
	all->want = threads ? threads : threads_usual();
	if (all->want > PRINTERS_MAX)
		all->want = PRINTERS_MAX;
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->moved, NULL);
	/* A diag is no matter of two threads. */
	if (all->want > 1 && d) {
		if (diag_new_like(&all->d, d))
			return PP_ENOMEM;
		all->own_diag = true;
	}
	return add_printer(all);
}

int printers_free(struct printers *all)
{
	int rc;

	if (!all)
		return 0;
	rc = printers_wait(all);
	pthread_mutex_lock(&all->lock);
	all->ended = true;
	pthread_cond_broadcast(&all->moved);
	pthread_mutex_unlock(&all->lock);
	for (unsigned i = 0; i < all->running; i++)
		pthread_join(all->v[i].thread, NULL);
	while (all->n)
		drop_printer(all);
	if (all->own_diag) {
		diag_finish(all->d);
		diag_free(all->d);
	}
	for (unsigned i = 0; i < all->nring; i++)
		free(all->ring[i].bytes);
	buf_release(&all->before);
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->moved);
	free(all);
	return rc;
}
