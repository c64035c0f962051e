/* Unpacks what trace-cmd compressed; chunks of pages by threads of their own, before their turn. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/thread.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define THREADS_MAX 64

static int unpack_zstd(struct trace_zstd *z, const uint8_t *packed, size_t n, uint8_t *to,
		       size_t size)
{
	bool bare = n < 4 || memcmp(packed, "\x28\xb5\x2f\xfd", 4) != 0;
	void **ctx = bare ? &z->bare : &z->framed;
	size_t got;

	if (!*ctx) {
		*ctx = ZSTD_createDCtx();
		if (!*ctx)
			return PP_ENOMEM;
		if (bare)
			ZSTD_DCtx_setParameter(*ctx, ZSTD_d_experimentalParam1,
					       1 /* ZSTD_f_zstd1_magicless */);
	}
	got = ZSTD_decompressDCtx(*ctx, to, size, packed, n);
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
		return PP_ENOMEM;
	return ZSTD_isError(got) || got != size ? PP_ECORRUPT : 0;
}

int trace_unpack(const struct trace *t, struct trace_zstd *z, const uint8_t *packed, size_t n,
		 uint8_t *to, size_t size)
{
	uLongf got = size;
	int rc;

	if (t->packing == TRACE_ZSTD)
		return unpack_zstd(z, packed, n, to, size);
	if (t->packing != TRACE_ZLIB)
		return PP_ECORRUPT;
	rc = uncompress(to, &got, packed, n);
	if (rc == Z_MEM_ERROR)
		return PP_ENOMEM;
	return rc != Z_OK || got != size ? PP_ECORRUPT : 0;
}

void trace_zstd_release(struct trace_zstd *z)
{
	ZSTD_freeDCtx(z->framed);
	ZSTD_freeDCtx(z->bare);
	*z = (struct trace_zstd){0};
}

/* ---- threads ---- */

struct trace_unpackers {
	const struct trace *t;
	pthread_t threads[THREADS_MAX];
	unsigned n;
	/* What threads share, and whether what was given to them is done. */
	pthread_mutex_t lock;
	pthread_cond_t given, done;
	struct trace_group *first, **last;
	bool ended;
};

static void unpack_group(const struct trace *t, struct trace_zstd *z, struct trace_group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		struct trace_chunk *k = &g->v[i];

		if (k->ahead)
			k->rc = trace_unpack(t, z, k->packed.data, k->n, k->bytes, k->size);
	}
}

/* The next chunks to unpack; NULL: there will be none. */
static struct trace_group *next_group(struct trace_unpackers *u)
{
	struct trace_group *g;

	pthread_mutex_lock(&u->lock);
	while (!u->first && !u->ended)
		pthread_cond_wait(&u->given, &u->lock);
	g = u->ended ? NULL : u->first;
	if (g) {
		u->first = g->next;
		if (!u->first)
			u->last = &u->first;
	}
	pthread_mutex_unlock(&u->lock);
	return g;
}

static void *work(void *arg)
{
	struct trace_unpackers *u = arg;
	struct trace_zstd z = {0};
	struct trace_group *g;

	while ((g = next_group(u))) {
		unpack_group(u->t, &z, g);
		pthread_mutex_lock(&u->lock);
		g->done = true;
		pthread_cond_signal(&u->done);
		pthread_mutex_unlock(&u->lock);
	}
	trace_zstd_release(&z);
	return NULL;
}

/* A CPU is left to who takes the stream: the filter that reads the pipe, a thread that prints. */
static unsigned usual_threads(const struct trace *t)
{
	unsigned n = t->size < TRACE_AHEAD_BEGIN ? 1 : threads_usual();

	return n > 1 && (t->w->out->fn || out_is_pipe(t->w->out)) ? n - 1 : n;
}

void trace_unpackers_start(struct trace *t, unsigned threads)
{
	struct trace_unpackers *u;

	if (!threads)
		threads = usual_threads(t);
	if (threads < 2 || t->packing == TRACE_PLAIN)
		return;
	u = calloc(1, sizeof(*u));
	if (!u)
		return;
	u->t = t;
	u->last = &u->first;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->given, NULL);
	pthread_cond_init(&u->done, NULL);
	t->unpackers = u;
	while (u->n < threads - 1 && u->n < THREADS_MAX &&
	       !thread_start(&u->threads[u->n], work, u))
		u->n++;
	if (!u->n)
		trace_unpackers_end(t);
}

void trace_unpackers_end(struct trace *t)
{
	struct trace_unpackers *u = t->unpackers;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->ended = true;
	pthread_cond_broadcast(&u->given);
	pthread_mutex_unlock(&u->lock);
	for (unsigned i = 0; i < u->n; i++)
		pthread_join(u->threads[i], NULL);
	pthread_cond_destroy(&u->done);
	pthread_cond_destroy(&u->given);
	pthread_mutex_destroy(&u->lock);
	free(u);
	t->unpackers = NULL;
}

void trace_unpackers_give(struct trace *t, struct trace_group *g)
{
	struct trace_unpackers *u = t->unpackers;

	g->given = true;
	g->done = false;
	g->next = NULL;
	pthread_mutex_lock(&u->lock);
	*u->last = g;
	u->last = &g->next;
	pthread_cond_signal(&u->given);
	pthread_mutex_unlock(&u->lock);
}

void trace_unpackers_wait(struct trace *t, struct trace_group *g)
{
	struct trace_unpackers *u = t->unpackers;

	pthread_mutex_lock(&u->lock);
	while (!g->done)
		pthread_cond_wait(&u->done, &u->lock);
	pthread_mutex_unlock(&u->lock);
	g->given = false;
}
