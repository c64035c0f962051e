#!/bin/sh
# Copies of stacks that have pages which were never touched: the recorder reads these, and later copies go on.
# The program sees by itself, in /proc/self/pagemap, when they are there.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
cat >hole.c <<'EOF_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sum;
static double most;
static int pagemap;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether a page of this process is in memory. */
static int there(const volatile char *at)
{
	uint64_t entry = 0;
	long page = sysconf(_SC_PAGESIZE);

	return pread(pagemap, &entry, sizeof(entry), (off_t)((uintptr_t)at / (uintptr_t)page * sizeof(entry))) ==
		       sizeof(entry) &&
	       entry >> 63;
}

NOINLINE static void spin(double until)
{
	while (now() < until)
		for (unsigned long i = 0; i < 100000; i++)
			sum += i;
}

NOINLINE static void large(const char *who)
{
	volatile char hole[40000];
	double end = now() + most;

	while (!there(hole + 20000) && now() < end)
		spin(now() + 0.01);
	printf("%s %s\n", who, there(hole + 20000) ? "filled" : "as it was");
	fflush(stdout);
	spin(now() + 0.05);
	__asm__ volatile("" : : "r"(hole) : "memory");
}

static void *thread(void *p)
{
	large("thread");
	return p;
}

int main(int argc, char **argv)
{
	pthread_t t;

	most = argc > 1 ? atof(argv[1]) : 0;
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (pagemap < 0 || pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	large("main");
	return 0;
}
EOF_C
"$CC" -O2 -fno-optimize-sibling-calls -pthread -o hole hole.c 2>cc.err || skip_all "$CC does not build a program"

# recorded NAME SECONDS OPTION...: the program says what it saw; its stacks, the newest last.
recorded() {
	name=$1 seconds=$2
	shift 2
	"$BIN/pcap-perf" -v -e cpu-clock:u -F 999 --call-graph dwarf,65528 "$@" -o "$name.data" -- ./hole "$seconds" \
		>"$name.said" 2>"$name.err" || return
	"$BIN/pdecode" -b "$name.data" 2>decode.err | "$BIN/psym" -t 2>psym.err >"$name.text"
	"$BIN/pdecode" -b "$name.data" 2>decode.err | "$BIN/psym" 2>psym.err | "$BIN/pfold" --no-header >"$name.folded" 2>pfold.err
}
# A recorder of the whole machine that runs beside this test reads the stacks, too: again then.
for _ in 1 2 3 4 5 6 7 8; do
	recorded left 0.05 --no-touch || skip_all 'perf events cannot be recorded here'
	grep -q filled left.said || break
done
like left.folded '^hole;\[stack not in memory\];large;spin [0-9]' 'copies end at pages that were never touched'
unlike left.folded '(main|thread);large' 'none goes on'
is "$(cat left.said)" 'thread as it was
main as it was' '--no-touch leaves them alone'
unlike left.err 'never touched' 'and has nothing to tell'

recorded filled 10
is "$(cat filled.said)" 'thread filled
main filled' 'they are read, of the first thread and of others'
like filled.folded '^hole;[^[][^;]*;([^;]*;)*main;large;spin [0-9]' 'and stacks are whole from then on'
like filled.folded '^hole;[^[][^;]*;([^;]*;)*thread;large;spin [0-9]' 'of each thread'
like filled.err 'stacks of 2 threads had pages that were never touched: [0-9]+ pages were read' '-v tells'
done_testing
