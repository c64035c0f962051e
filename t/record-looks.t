#!/bin/sh
# Stacks of threads that sleep, beside others that never stop switching: small copies end within them, and the
# large ones of the helper are of the others; the recorder reads the rest.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
cat >sleepers.c <<'EOF_C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
#define SLEEPERS 8
static int there[2], back[2], end[2], started[2];

/* Waits at the bottom of a deep stack, each thread at another depth. */
NOINLINE static int deep(int n)
{
	volatile char room[512];
	char c = 0;

	memset((void *)room, n, sizeof(room));
	if (!n && write(started[1], &c, 1) != 1)
		return 1;
	return (n ? deep(n - 1) : (int)read(end[0], &c, 1)) + room[n];
}

static void *sleeper(void *depth)
{
	return (void *)(long)deep((int)(long)depth);
}

static void *echo(void *p)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return p;
}

static void play(double seconds)
{
	struct timespec from, now;
	char c = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		for (int i = 0; i < 10; i++)
			if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
				exit(1);
		usleep(500);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < seconds);
}

int main(int argc, char **argv)
{
	pthread_t other, t[SLEEPERS];
	char c;

	if (argc < 2 || pipe(started) || pipe(there) || pipe(back) || pipe(end) || pthread_create(&other, NULL, echo, NULL))
		return 1;
	play(0.2);
	for (long i = 0; i < SLEEPERS; i++)
		if (pthread_create(&t[i], NULL, sleeper, (void *)(10 + i)) || read(started[0], &c, 1) != 1)
			return 1;
	play(atof(argv[1]));
	close(end[1]);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(t[i], NULL);
	close(there[1]);
	pthread_join(other, NULL);
	return 0;
}
EOF_C
"$CC" -O2 -fno-optimize-sibling-calls -pthread -o sleepers sleepers.c 2>cc.err || skip_all "$CC does not build a program"

# recorded NAME SECONDS OPTION...: where the time off the CPU goes.
recorded() {
	name=$1 seconds=$2
	shift 2
	"$BIN/pcap-perf" -v -a -e sched:sched_switch -g "$@" -o "$name.data" -- ./sleepers "$seconds" 2>"$name.err" || return
	"$BIN/pdecode" -b "$name.data" 2>decode.err | "$BIN/psym" --symfs . --symfs / 2>psym.err >"$name.ps"
	# Some kernels lose switches, so that the status may be 1.
	"$BIN/plat" --emit offcpu "$name.ps" 2>plat.err | "$BIN/pfold" --no-header >"$name.folded" 2>pfold.err || :
}
recorded left 0.1 --no-touch || skip_all 'scheduler events cannot be recorded here'
unlike left.err 'sleeping' '--no-touch: nothing is read'

# The recorder has as long as they sleep: on a busy machine it gets more.
depths() {
	grep -E '^sleepers;[^[]' read.folded | grep -o ';sleeper;\(deep;\)*[^;]*read;' | sort -u | grep -c .
}
for seconds in 0.5 2 8 8; do
	recorded read "$seconds"
	[ "$(depths)" != 8 ] || break
done
found=$(depths)
is "$found" 8 'stacks of threads that sleep are whole, each with its depth'
[ "$found" = 8 ] || diag_file read.err
# One that is woken just before a look sleeps on with a stack that is cut: that is short.
is "$(awk '/^sleepers;.*deep;[^;]*read;.*pipe_read;schedule;/ { all += $NF; if (/\[truncated/) cut += $NF }
	END { print cut / all < 0.01 ? "below 1 %" : cut " of " all " ns" }' read.folded)" 'below 1 %' \
	'what is cut of them is next to nothing'
like read.err 'stacks of sleeping threads were read beyond their copies ([8-9]|[1-9][0-9]+) times' '-v tells'
"$BIN/pdecode" -b read.data 2>decode.err | "$BIN/phist" --by event --tsv 2>phist.err >events.tsv
is "$(grep -v "^#" events.tsv | cut -f 2 | paste -s -d " ")" sched:sched_switch "what was read counts as no event"
done_testing
