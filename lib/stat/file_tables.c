/*
 * Counters of more threads than a process may have files open for: parts of them are open in file
 * tables of their own, which belong to threads of this process.
 */
#include "stat/parts.h"

#include "base/err.h"
#include "base/thread.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHER_FDS  64
#define TABLES_MAX 256
#define NO_MORE	   4096 /* without close_range(2): files that can be open before */

/* The threads of a table are counted on by a thread that waits until it is called. */
struct stat_table {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	struct counting *s;
	size_t from, to;
	stat_part *call; /* NULL: none is at hand */
	int rc;
	bool over;
	bool refused; /* was reported */
};

static void close_range_of(int from, int to)
{
#ifdef SYS_close_range
	if (from > to || !syscall(SYS_close_range, from, to, 0))
		return;
#endif
	for (int fd = from; fd <= to && fd < NO_MORE; fd++)
		close(fd);
}

/* All but the buffers that what is opened here is to write to. */
static void close_others(const struct counting *s)
{
	int from = 3;

	for (;;) {
		int kept = INT_MAX;

		for (size_t c = 0; s->places.n && c < s->target.n_cpus; c++)
			if (s->places.rings[c].fd >= from && s->places.rings[c].fd < kept)
				kept = s->places.rings[c].fd;
		if (kept == INT_MAX)
			break;
		close_range_of(from, kept - 1);
		from = kept + 1;
	}
	close_range_of(from, INT_MAX);
}

/* The descriptors that a thread takes. */
static uint64_t files_of_thread(const struct counting *s)
{
	uint64_t n = (uint64_t)s->places.n * s->target.n_cpus;

	for (uint32_t i = 0; i < s->n_events; i++)
		n += s->events[i].place ? 0 : s->n_cpus;
	return n;
}

/* Some sandboxes allow no process a second table. */
static int no_table(struct stat_table *t, int errnum)
{
	const struct counting *s = t->s;

	if (!t->refused)
		diag_error(s->d, NULL, -1,
			   "%llu files are needed at once, %llu are allowed, and the kernel allows "
			   "no further table of files (unshare(2)): %s: raise the limit (ulimit "
			   "-n), name fewer events or processes, or count all CPUs (-a)",
			   (unsigned long long)files_of_thread(s) * s->n_tids,
			   (unsigned long long)sysfile_raise_files(0), strerror(errnum));
	t->refused = true;
	return pp_errno(errnum) == PP_EPIPE ? PP_EIO : pp_errno(errnum);
}

static void *serve(void *arg)
{
	struct stat_table *t = arg;
	bool own = !unshare(CLONE_FILES);
	int errnum = errno;

	if (own)
		close_others(t->s);
	pthread_mutex_lock(&t->lock);
	while (!t->over) {
		if (t->call) {
			t->rc = own ? t->call(t->s, t->from, t->to) : no_table(t, errnum);
			t->call = NULL;
			pthread_cond_signal(&t->turn);
		}
		pthread_cond_wait(&t->turn, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static int start(struct stat_table *t, struct counting *s, size_t from, size_t to)
{
	int rc;

	*t = (struct stat_table){.s = s, .from = from, .to = to};
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->turn, NULL);
	rc = thread_start(&t->thread, serve, t);
	if (!rc)
		return 0;
	pthread_cond_destroy(&t->turn);
	pthread_mutex_destroy(&t->lock);
	return rc;
}

int stat_files_begin(struct counting *s)
{
	uint64_t thread = files_of_thread(s), other = OTHER_FDS;
	uint64_t need, most, each, n;
	int rc = 0;

	if (s->places.n)
		other += s->target.n_cpus;
	need = thread * s->n_tids + other;
	most = sysfile_raise_files(need);
	s->first_part = s->n_tids;
	if (need <= most || most <= other || !thread || s->system_wide)
		return 0;
	each = (most - other) / thread;
	n = each ? (s->n_tids - 1) / each : TABLES_MAX;
	if (n >= TABLES_MAX)
		return 0;
	s->more_files = calloc(n, sizeof(*s->more_files));
	if (!s->more_files)
		return PP_ENOMEM;
	for (uint64_t i = 0; i < n && !rc; i++) {
		uint64_t from = (i + 1) * each, to = from + each;

		rc = start(&s->more_files[i], s, from, to < s->n_tids ? to : s->n_tids);
		s->n_more_files += !rc;
	}
	s->first_part = each;
	return rc;
}

static int call(struct stat_table *t, stat_part *part)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	t->call = part;
	pthread_cond_signal(&t->turn);
	while (t->call)
		pthread_cond_wait(&t->turn, &t->lock);
	rc = t->rc;
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int stat_files_each(struct counting *s, stat_part *part)
{
	int rc = part(s, 0, s->first_part);

	for (size_t i = 0; i < s->n_more_files && !rc; i++)
		rc = call(&s->more_files[i], part);
	return rc;
}

void stat_files_end(struct counting *s)
{
	for (size_t i = 0; i < s->n_more_files; i++) {
		struct stat_table *t = &s->more_files[i];

		pthread_mutex_lock(&t->lock);
		t->over = true;
		pthread_cond_signal(&t->turn);
		pthread_mutex_unlock(&t->lock);
		pthread_join(t->thread, NULL);
		pthread_cond_destroy(&t->turn);
		pthread_mutex_destroy(&t->lock);
	}
	free(s->more_files);
	s->more_files = NULL;
	s->n_more_files = 0;
}
