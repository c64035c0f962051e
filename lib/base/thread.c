/* Threads of a filter: how many there are, and which signals they take. */
#include "base/thread.h"

#include "base/err.h"

#include <sched.h>
#include <signal.h>

unsigned threads_usual(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > THREADS_USUAL ? THREADS_USUAL : (unsigned)n;
}

int thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
	/*
	 * Of crashes: the child that tries libtraceevent first catches them. And of a reader that
	 * is gone: the thread that writes is told, and nobody else.
	 */
	static const int own[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE};
	sigset_t others, old;
	int rc;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_SETMASK, &others, &old);
	rc = pthread_create(t, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? PP_ENOMEM : 0;
}
