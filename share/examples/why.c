/*
 * Programs of which it is known why they are slow, to try plat --path, plat --tail and whyslow on;
 * perfpipe-why(7) is about them:
 *
 *	cc -g -O1 -pthread -o why why.c
 *	./why convoy [COUNT [FILE [TIMES]]]
 *
 * Each calls request() COUNT times, and writes to FILE what each took by its own clock, in ns of
 * CLOCK_MONOTONIC:
 *
 *	span NUMBER BEGIN END THREAD/STATE NS...
 *
 * The state `other` is the rest of the time that it was the request's turn: in the kernel, from the
 * wakeup to when it ran, to pass on the turn; `*` the rest of the time that it was the turn of
 * others, and `asks` the CPU time that the request took then, to ask and to receive. With TIMES
 * everything takes so many times longer: for machines on which the kernel's part is slow, as
 * emulated ones.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#define PIECE	  (MS / 4)
#define WORKS_MAX 1000000
#define noinline  __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static long MS = 1000000;

/* When the turn was last passed on: to the request, if it waits. */
static long passed;
static volatile int wanted; /* the request waits */

static void wait_ms(long ms)
{
	usleep((useconds_t)(ms * MS / 1000));
}

/* Who comes now does not overtake a request that waits for the lock, has been woken, but not run. */
static void wait_politely(long ms)
{
	do
		wait_ms(ms);
	while (wanted);
}

static long clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static long cpu(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- what was done, by whom and when ---- */

static struct work {
	const char *who;
	long begin, end, ran; /* ran: CPU time; slept: what is neither that nor waiting for a CPU */
	long slept;
} works[WORKS_MAX];
static int nworks;

static void did(const char *who, long begin, long end, long ran, long slept)
{
	int i = __atomic_fetch_add(&nworks, 1, __ATOMIC_RELAXED);

	if (i < WORKS_MAX)
		works[i] = (struct work){who, begin, end, ran, slept};
}

static noinline void compute(long ns)
{
	volatile unsigned n = 0;

	for (long end = cpu() + ns; cpu() < end;)
		for (int i = 0; i < 1000; i++)
			n++;
}

/* Computes, and remembers it in small pieces: of each it is not known when in it the thread ran. */
static noinline void work(const char *who, long ns)
{
	for (; ns > 0; ns -= PIECE) {
		long begin = now(), c = cpu();

		compute(ns < PIECE ? ns : PIECE);
		did(who, begin, now(), cpu() - c, 0);
	}
}

/* Of a time, how much each has run, and waited for a CPU in its work; the sum. */
static double tell(FILE *f, const char *who, long begin, long end)
{
	double ran = 0, slept = 0, runnable = 0;

	for (int i = 0; i < nworks && i < WORKS_MAX; i++) {
		const struct work *w = &works[i];
		long a = w->begin > begin ? w->begin : begin, z = w->end < end ? w->end : end;
		double part = w->end > w->begin ? (double)(z - a) / (double)(w->end - w->begin) : 0;

		if (strcmp(w->who, who) != 0 || z <= a)
			continue;
		ran += part * w->ran;
		slept += part * w->slept;
		runnable += part * (w->end - w->begin - w->ran - w->slept);
	}
	if (ran >= 1)
		fprintf(f, " %s/running %.0f", who, ran);
	if (runnable >= 1)
		fprintf(f, " %s/[runnable] %.0f", who, runnable);
	if (slept >= 1)
		fprintf(f, " %s/[timer] %.0f", who, slept);
	return ran + slept + runnable;
}

/* ---- whose turn it is ---- */

static struct span {
	long begin, end;
	long waits, goes_on; /* between these it is others' turn */
	long asks;	     /* CPU time of the request meanwhile */
} *now_in;

static void waits(void)
{
	now_in->waits = now_in->goes_on = now();
	now_in->asks = cpu();
	wanted = 1;
}

static void goes_on(void)
{
	wanted = 0;
	now_in->asks = cpu() - now_in->asks;
	if (passed > now_in->waits)
		now_in->goes_on = passed;
}

/* ---- threads ---- */

static void start(const char *name, void *(*fn)(void *), int on)
{
	pthread_attr_t a;
	pthread_t t;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(on % sysconf(_SC_NPROCESSORS_ONLN), &set);
	pthread_attr_init(&a);
	pthread_attr_setaffinity_np(&a, sizeof(set), &set);
	if (pthread_create(&t, &a, fn, (void *)name))
		exit(1);
	pthread_detach(t);
}

static void stay_on(int on)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(on % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *hog(void *name)
{
	prctl(PR_SET_NAME, name);
	while (!stop)
		compute(MS);
	return NULL;
}

/* ---- a lock convoy: three others hold the lock in turn ---- */

static void *holder(void *name)
{
	prctl(PR_SET_NAME, name);
	while (!stop) {
		pthread_mutex_lock(&lock);
		work(name, 5 * MS);
		passed = now();
		pthread_mutex_unlock(&lock);
		wait_politely(3);
	}
	return NULL;
}

static void convoy_begin(void)
{
	for (int i = 0; i < 3; i++)
		start("holder", holder, 1);
	stay_on(0);
}

static void convoy(void)
{
	waits();
	pthread_mutex_lock(&lock);
	goes_on();
	work("request", 2 * MS);
	pthread_mutex_unlock(&lock);
}

/* ---- priority inversion: who holds the lock is kept from its CPU by somebody else ---- */

static void *low(void *name)
{
	prctl(PR_SET_NAME, name);
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
	while (!stop) {
		pthread_mutex_lock(&lock);
		work(name, 2 * MS);
		passed = now();
		pthread_mutex_unlock(&lock);
		wait_politely(1);
	}
	return NULL;
}

static void inversion_begin(void)
{
	start("low", low, 1);
	start("hog", hog, 1);
	stay_on(0);
}

/* ---- a slow disk, which is a thread behind a FIFO ---- */

static int to[8], from[8]; /* what is asked, and what is answered, of each stage */

static void *disk(void *name)
{
	char c;

	prctl(PR_SET_NAME, name);
	while (read(from[0], &c, 1) == 1) {
		long begin = now();

		wait_ms(20);
		did(name, begin, begin + 20 * MS, 0, 20 * MS);
		work(name, MS);
		passed = now();
		if (write(to[1], &c, 1) != 1)
			break;
	}
	return NULL;
}

static void open_pipe(int i)
{
	int fd[2];

	if (pipe(fd))
		exit(1);
	from[i] = fd[0];
	to[i] = fd[1];
}

static void disk_begin(void)
{
	char folder[] = "/tmp/why-XXXXXX", name[sizeof(folder) + 8];

	open_pipe(0);
	if (!mkdtemp(folder))
		exit(1);
	snprintf(name, sizeof(name), "%s/disk", folder);
	if (mkfifo(name, 0600))
		exit(1);
	from[1] = open(name, O_RDWR);
	to[1] = open(name, O_RDWR);
	unlink(name);
	rmdir(folder);
	start("disk", disk, 1);
	stay_on(0);
}

static void ask(int first, int last)
{
	char c = 0;

	waits();
	if (write(to[first], &c, 1) != 1 || read(from[last], &c, 1) != 1)
		exit(1);
	goes_on();
}

static void slow_disk(void)
{
	work("request", MS);
	ask(0, 1);
}

/* ---- a pipeline of three stages, of which the second is slow ---- */

static const char *const stages[] = {"parse", "compress", "store"};

static void *stage(void *name)
{
	int i = 0;
	char c;

	prctl(PR_SET_NAME, name);
	while (strcmp(stages[i], name) != 0)
		i++;
	while (read(from[i], &c, 1) == 1) {
		work(name, i == 1 ? 10 * MS : 2 * MS);
		passed = now();
		if (write(to[i + 1], &c, 1) != 1)
			break;
	}
	return NULL;
}

static void pipeline_begin(void)
{
	for (int i = 0; i < 4; i++)
		open_pipe(i);
	for (int i = 0; i < 3; i++)
		start(stages[i], stage, i);
	stay_on(0);
}

static void pipeline(void)
{
	ask(0, 3);
}

/* ---- more threads than CPUs ---- */

static void overcommit_begin(void)
{
	for (int i = 0; i < 3; i++)
		start("hog", hog, 0);
	stay_on(0);
}

static void overcommit(void)
{
	work("request", 5 * MS);
}

/* ---- a pool of threads that is too small: others' jobs come first ---- */

static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct job {
	struct job *next;
	int ours, done;
	pthread_cond_t is_done; /* one for all would wake those whose jobs are not */
} * first, **end = &first;

static noinline void our_job(void)
{
	work("pool", 4 * MS);
}

static noinline void other_job(void)
{
	work("pool", 10 * MS);
}

static void *pool(void *name)
{
	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&lock);
	while (!stop) {
		struct job *j = first;

		if (!j) {
			pthread_cond_wait(&more, &lock);
			continue;
		}
		first = j->next;
		if (!first)
			end = &first;
		pthread_mutex_unlock(&lock);
		if (j->ours)
			our_job();
		else
			other_job();
		pthread_mutex_lock(&lock);
		if (j->ours)
			passed = now();
		j->done = 1;
		pthread_cond_signal(&j->is_done);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void submit(int ours)
{
	struct job j = {NULL, ours, 0, PTHREAD_COND_INITIALIZER};

	if (ours)
		waits();
	pthread_mutex_lock(&lock);
	*end = &j;
	end = &j.next;
	pthread_cond_signal(&more);
	while (!j.done)
		pthread_cond_wait(&j.is_done, &lock);
	if (ours)
		goes_on();
	pthread_mutex_unlock(&lock);
}

static void *client(void *name)
{
	prctl(PR_SET_NAME, name);
	while (!stop)
		submit(0);
	return NULL;
}

static void pool_begin(void)
{
	start("pool", pool, 1);
	for (int i = 0; i < 2; i++)
		start("client", client, 0);
	stay_on(0);
}

static void small_pool(void)
{
	submit(1);
}

/* ---- all ---- */

static const struct program {
	const char *name;
	void (*begin)(void), (*request)(void);
	const char *who[3]; /* who can be on the path beside the request */
} programs[] = {
	{"convoy", convoy_begin, convoy, {"holder"}},
	{"inversion", inversion_begin, convoy, {"low"}},
	{"disk", disk_begin, slow_disk, {"disk"}},
	{"pipeline", pipeline_begin, pipeline, {"parse", "compress", "store"}},
	{"overcommit", overcommit_begin, overcommit, {NULL}},
	{"pool", pool_begin, small_pool, {"pool"}},
};

/* The span. */
static noinline void request(const struct program *p)
{
	p->request();
	__asm__ volatile("");
}

static void tell_all(FILE *f, const struct program *p, const struct span *s)
{
	double own = (double)(s->end - s->begin - (s->goes_on - s->waits));
	double others = (double)(s->goes_on - s->waits);

	for (int k = 0; k < 3 && p->who[k]; k++)
		others -= tell(f, p->who[k], s->waits, s->goes_on);
	own -= tell(f, "request", s->begin, s->end);
	fprintf(f, " request/other %.0f */other %.0f request/asks %ld\n", own > 0 ? own : 0,
		others > 0 ? others : 0, s->asks);
}

int main(int argc, char **argv)
{
	const struct program *p = programs, *last = p + sizeof(programs) / sizeof(*programs);
	int n = argc > 2 ? atoi(argv[2]) : 20;
	FILE *f = argc > 3 ? fopen(argv[3], "w") : stdout;
	struct span *spans;

	MS *= argc > 4 ? atoi(argv[4]) : 1;
	while (argc > 1 && p < last && strcmp(p->name, argv[1]) != 0)
		p++;
	if (argc < 2 || p == last || n < 1 || !f || MS < 1 ||
	    !(spans = calloc((size_t)n, sizeof(*spans)))) {
		fprintf(stderr, "usage: why convoy|inversion|disk|pipeline|overcommit|pool "
				"[COUNT [FILE [TIMES]]]\n");
		return 64;
	}
	prctl(PR_SET_NAME, "request");
	p->begin();
	usleep(50000);
	for (int i = 0; i < n; i++) {
		now_in = &spans[i];
		now_in->begin = now_in->waits = now_in->goes_on = now();
		request(p);
		now_in->end = now();
		usleep((useconds_t)((2 * MS + MS * 7 / 10 * (i % 7)) / 1000));
	}
	stop = 1;
	for (int i = 0; i < n; i++) {
		fprintf(f, "span %d %ld %ld", i + 1, spans[i].begin, spans[i].end);
		tell_all(f, p, &spans[i]);
	}
	return fclose(f) != 0;
}
