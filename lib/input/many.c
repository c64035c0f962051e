/*
 * Several recordings at once: a thread for each, and a ring through which its stream gets to the
 * merge.
 */
#include "input/many.h"

#include "base/err.h"
#include "merge/merge.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RING (256u << 10) /* bytes that a thread may be ahead */

/* What a thread writes and the merge reads. */
struct ring {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t at, len; /* the first byte, how many there are */
	bool closed;	/* nothing more will be written */
	bool given_up;	/* nothing more will be read */
	uint8_t *data;	/* RING bytes */
	src_pause_fn *flush;
	void *flush_ctx;
};

struct worker {
	struct ring ring;
	const char *name;
	const struct trace_opts *opts;
	struct diag *d; /* its own: a diag is no matter of two threads */
	pthread_t thread;
	bool started;
	bool pipe; /* its input may let it wait for ever */
};

/* ---- the ring ---- */

static int ring_write(void *ctx, uint8_t *bytes, size_t n)
{
	struct ring *r = ctx;
	bool given_up;

	pthread_mutex_lock(&r->lock);
	while (n && !r->given_up) {
		size_t end = (r->at + r->len) % RING;
		size_t step = RING - r->len < RING - end ? RING - r->len : RING - end;

		if (r->len == RING) {
			pthread_cond_wait(&r->moved, &r->lock);
			continue;
		}
		if (step > n)
			step = n;
		memcpy(r->data + end, bytes, step);
		r->len += step;
		bytes += step;
		n -= step;
		pthread_cond_signal(&r->moved);
	}
	given_up = r->given_up;
	pthread_mutex_unlock(&r->lock);
	return given_up ? PP_EPIPE : 0;
}

/* Whether nothing comes for SRC_PAUSE_MS. The lock is held. */
static bool pauses(struct ring *r)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += SRC_PAUSE_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!rc && !r->len && !r->closed)
		rc = pthread_cond_timedwait(&r->moved, &r->lock, &until);
	return !r->len && !r->closed;
}

static int ring_read(void *ctx, void *buf, size_t n, size_t *got)
{
	struct ring *r = ctx;

	pthread_mutex_lock(&r->lock);
	if (r->flush && pauses(r)) {
		pthread_mutex_unlock(&r->lock);
		r->flush(r->flush_ctx);
		pthread_mutex_lock(&r->lock);
	}
	while (!r->len && !r->closed)
		pthread_cond_wait(&r->moved, &r->lock);
	*got = r->len < RING - r->at ? r->len : RING - r->at;
	if (*got > n)
		*got = n;
	if (*got)
		memcpy(buf, r->data + r->at, *got);
	r->at = (r->at + *got) % RING;
	r->len -= *got;
	pthread_cond_signal(&r->moved);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

static void ring_end(struct ring *r, bool *which)
{
	pthread_mutex_lock(&r->lock);
	*which = true;
	pthread_cond_signal(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

/* The ring belongs to the worker. */
static void ring_leave(void *ctx)
{
	(void)ctx;
}

/* ---- the threads ---- */

/* Decodes one recording into a stream of its own. */
static void *work(void *arg)
{
	struct worker *k = arg;
	struct ps_end end = {0};
	struct swriter w;
	struct out out;
	struct src *s;
	int rc = out_init_fn(&out, ring_write, &k->ring);

	if (!rc) {
		swriter_init(&w, &out);
		swriter_header(&w);
		rc = input_open(&s, k->name, k->d);
		if (!rc)
			src_on_pause(s, out_hand_on, &out);
		if (!rc)
			rc = input_decode_as(s, 1, &w, k->d, &end, k->opts);
		end.status = (uint32_t)input_status(rc);
		if (!w.err)
			swriter_end(&w, &end);
		out_close(&out);
	}
	/* A thread that ends by itself is not to be ended once more. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	ring_end(&k->ring, &k->ring.closed);
	return NULL;
}

static void worker_release(struct worker *k)
{
	if (k->started) {
		bool done;

		ring_end(&k->ring, &k->ring.given_up);
		pthread_mutex_lock(&k->ring.lock);
		done = k->ring.closed;
		pthread_mutex_unlock(&k->ring.lock);
		/*
		 * Its next write ends it, unless it waits for the writer of a pipe: then what it
		 * holds goes with the program.
		 */
		if (!done && k->pipe)
			pthread_cancel(k->thread);
		pthread_join(k->thread, NULL);
		pthread_mutex_destroy(&k->ring.lock);
		pthread_cond_destroy(&k->ring.moved);
	}
	diag_finish(k->d);
	diag_free(k->d);
	free(k->ring.data);
}

static int start(struct worker *k, const struct input_many *m, struct smerge *merge, int64_t offset,
		 struct diag *d)
{
	struct sreader *r;
	struct stat st;
	struct src *s;
	int rc = diag_new_like(&k->d, d);

	k->ring.data = malloc(RING);
	k->pipe = !strcmp(k->name, "-") || (!stat(k->name, &st) && !S_ISREG(st.st_mode));
	/* A file does not pause: the result is not to depend on how fast the threads are. */
	k->ring.flush = k->pipe ? m->flush : NULL;
	k->ring.flush_ctx = m->flush_ctx;
	if (rc || !k->ring.data)
		return PP_ENOMEM;
	rc = src_from_layer(&s, (struct src_layer){ring_read, ring_leave, &k->ring}, k->name);
	if (!rc)
		rc = sreader_new(&r, s, SMERGE_KEEP, d);
	if (!rc)
		rc = smerge_add(merge, r, k->name, offset);
	if (rc)
		return rc;
	pthread_mutex_init(&k->ring.lock, NULL);
	pthread_cond_init(&k->ring.moved, NULL);
	rc = pthread_create(&k->thread, NULL, work, k);
	if (rc) {
		diag_error(d, k->name, -1, "cannot start a thread: %s", strerror(rc));
		return pp_errno(rc) == PP_ENOMEM ? PP_EIO : pp_errno(rc);
	}
	k->started = true;
	return 0;
}

/* ---- offsets ---- */

static bool offset_number(const char *s, int64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double v;
	long long whole = strtoll(s, &end, 10);

	if (end != s && (!*end || !strcmp(end, "ns"))) {
		*ns = whole;
		return true;
	}
	if (!((*s >= '0' && *s <= '9') || *s == '-' || *s == '+' || *s == '.'))
		return false;
	v = strtod(s, &end);
	for (size_t i = 0; end != s && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		v *= units[i].ns;
		if (!(v > -9e18 && v < 9e18))
			return false;
		*ns = (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
		return true;
	}
	return false;
}

int input_add_offset(struct input_many *m, const char *arg, struct buf *why)
{
	const char *colon = strrchr(arg, ':');
	struct input_offset o = {0};

	if (m->noffsets == INPUT_OFFSETS_MAX) {
		buf_addf(why, "--offset: more than %d", INPUT_OFFSETS_MAX);
		return PP_EUSAGE;
	}
	if (colon) {
		o.file = arg;
		o.len = (size_t)(colon - arg);
	}
	if (!offset_number(colon ? colon + 1 : arg, &o.ns)) {
		buf_addf(why, "--offset: '%s' is not a time (such as -250us)",
			 colon ? colon + 1 : arg);
		return PP_EUSAGE;
	}
	m->offsets[m->noffsets++] = o;
	return 0;
}

static bool offset_is_of(const struct input_offset *o, const char *name)
{
	return !o->file || (strlen(name) == o->len && !memcmp(name, o->file, o->len));
}

static int64_t offset_of(const struct input_many *m, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->noffsets; i++)
		if (offset_is_of(&m->offsets[i], name))
			sum += (uint64_t)m->offsets[i].ns;
	return (int64_t)sum;
}

/* Each offset has to be of a file that is read, and stdin can be read once. */
static int check(const struct input_many *m, struct diag *d)
{
	int stdins = 0;

	if (m->follow && (m->n > 1 || m->clock || m->noffsets)) {
		diag_error(
			d, NULL, -1,
			"--follow is for one file, and cannot be combined with --clock and --offset");
		return PP_EUSAGE;
	}
	for (int i = 0; i < m->n; i++)
		stdins += !strcmp(m->names[i], "-");
	if (stdins > 1 || m->n > INPUT_MANY_MAX) {
		diag_error(d, NULL, -1,
			   stdins > 1 ? "stdin cannot be read twice"
				      : "more files at once than can be merged");
		return PP_EUSAGE;
	}
	for (size_t k = 0; k < m->noffsets; k++) {
		int i = 0;

		while (i < m->n && !offset_is_of(&m->offsets[k], m->names[i]))
			i++;
		if (i < m->n || (!m->n && offset_is_of(&m->offsets[k], "-")))
			continue;
		diag_error(d, NULL, -1, "--offset: %.*s is not among the files",
			   (int)m->offsets[k].len, m->offsets[k].file);
		return PP_EUSAGE;
	}
	return 0;
}

/* ---- all ---- */

static int merge_all(const struct input_many *m, struct worker *workers, struct swriter *w,
		     struct diag *d, struct ps_end *end)
{
	uint32_t n = m->n ? (uint32_t)m->n : 1, failed = 0;
	struct smerge *merge;
	int rc = smerge_new(&merge, w, m->clock, d);

	for (uint32_t i = 0; i < n && !rc; i++) {
		workers[i].name = m->n ? m->names[i] : "-";
		workers[i].opts = &m->opts;
		rc = start(&workers[i], m, merge, offset_of(m, workers[i].name), d);
	}
	if (!rc)
		rc = smerge_run(merge);
	if (merge)
		smerge_account(merge, end, &failed);
	/* The readers of the merge read the rings: they go first. */
	smerge_free(merge);
	for (uint32_t i = 0; i < n; i++)
		worker_release(&workers[i]);
	if (failed == n)
		end->status = PP_EXIT_FAIL;
	return rc;
}

static void one(const struct input_many *m, struct swriter *w, struct diag *d, struct ps_end *end)
{
	struct src *s;
	int rc = input_open(&s, m->n ? m->names[0] : "-", d);

	if (!rc && m->flush)
		src_on_pause(s, m->flush, m->flush_ctx);
	if (!rc && m->follow)
		src_follow(s, m->follow);
	end->status = rc ? PP_EXIT_FAIL
			 : (uint32_t)input_status(input_decode_as(s, 1, w, d, end, &m->opts));
}

void input_many(const struct input_many *m, struct swriter *w, struct diag *d, struct ps_end *end)
{
	struct worker *workers;
	int rc = check(m, d);

	if (!rc && m->n <= 1 && !m->clock && !m->noffsets) {
		one(m, w, d, end);
		return;
	}
	workers = calloc(m->n ? (size_t)m->n : 1, sizeof(*workers));
	if (!rc)
		rc = workers ? merge_all(m, workers, w, d, end) : PP_ENOMEM;
	free(workers);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, NULL, -1, "cannot continue: %s", pp_strerror(rc));
	if (rc)
		end->status = PP_EXIT_FAIL;
}
