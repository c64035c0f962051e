/*
 * Threads of a filter.
 *
 *	unsigned n = threads_usual();
 *	rc = thread_start(&t, run, arg);
 *	pthread_join(t, NULL);
 */
#ifndef PP_BASE_THREAD_H
#define PP_BASE_THREAD_H

#include <pthread.h>

#define THREADS_USUAL 4 /* by default */

/* As many as there are CPUs that the process may use; THREADS_USUAL at most. */
unsigned threads_usual(void);

/*
 * Starts a thread. Signals are for the thread that waits for input; the new one takes those of its
 * own doing only: a crash, a write that nobody reads. 0 or PP_ENOMEM.
 */
int thread_start(pthread_t *t, void *(*run)(void *), void *arg);

#endif
