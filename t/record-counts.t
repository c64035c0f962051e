#!/bin/sh
# What a program is known to do is recorded to the last event: system calls, forks, page faults, hits
# of a probe, in all its threads and children. What the kernel does not permit here is skipped.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"

pcap=$BIN/pcap-perf
tracing=/sys/kernel/tracing
run "$pcap" -e faults:u -c 1 -o probe.data -- true
[ "$status" = 0 ] || {
	diag_file "$ERR"
	skip_all 'the kernel refuses perf events here'
}

# load CALLS FORKS PAGES HITS THREADS: as many getppid(2) in each thread and in each child, and so on. It
# prints the addresses of the pages.
cat >load.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long calls;

__attribute__((noinline, noclone)) void probed(volatile int *x)
{
	++*x;
}

static void *work(void *unused)
{
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	return unused;
}

int main(int argc, char **argv)
{
	long forks = atol(argv[2]), pages = atol(argv[3]), hits = atol(argv[4]), threads = atol(argv[5]);
	long size = sysconf(_SC_PAGESIZE);
	volatile int x = 0;
	pthread_t t[16];
	char *p;

	calls = argc ? atol(argv[1]) : 0;
	work(NULL);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < forks; i++) {
		if (!fork()) {
			work(NULL);
			_exit(0);
		}
		wait(NULL);
	}
	/* The first page does not count: the kernel may try twice, when it also makes a page table. */
	p = mmap(NULL, (pages + 1) * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, (pages + 1) * size, MADV_NOHUGEPAGE);
	*(volatile char *)p = 1;
	p += size;
	for (long i = 0; i < pages; i++)
		p[i * size] = 1;
	for (long i = 0; i < hits; i++)
		probed(&x);
	printf("%lx %lx\n", (unsigned long)p, (unsigned long)(p + pages * size));
	return 0;
}
END
"$CC" -O1 -pthread -o load load.c || skip_all 'the compiler cannot make the program'

# samples FILE: how many there are; and none was lost.
samples() {
	run "$BIN/pdecode" --strict -t "$1"
	[ "$status" = 0 ] || diag_file "$ERR"
	grep -cE "^ *load +[0-9]" "$OUT"
}

# Page faults, by address: each page once.
"$pcap" -e faults:u -c 1 -d -o faults.data -- ./load 0 0 400 0 0 >range
is "$?" 0 'page faults are recorded'
"$BIN/pdecode" -j faults.data >faults.json
perl -MJSON::PP -ne 'BEGIN { ($from, $to) = map { hex } split " ", shift; }
	$r = decode_json($_);
	next unless defined $r->{addr};
	$a = $r->{addr} =~ /^0x/ ? hex $r->{addr} : $r->{addr};
	$n{$a}++ if $a >= $from && $a < $to;
	END { print scalar(keys %n), " ", scalar(grep { $_ != 1 } values %n), "\n" }' "$(cat range)" <faults.json >counted
is "$(cat counted)" '400 0' 'each of 400 pages has one fault'

if [ ! -e $tracing/events/syscalls/sys_enter_getppid/id ]; then
	skip 8 'there are no tracepoints of system calls here'
elif ! "$pcap" -e syscalls:sys_enter_getppid -o probe.data -- true 2>"$ERR"; then
	skip 8 "tracepoints are refused: $(head -n 1 "$ERR")"
else
	getppid=syscalls:sys_enter_getppid
	"$pcap" -e $getppid -o calls.data -- ./load 20000 0 0 0 0 >range
	is "$(samples calls.data)" 20000 'system calls of a thread'
	"$pcap" -e $getppid --call-graph fp -P -o calls.data -- ./load 3000 5 0 0 4 >range
	is "$(samples calls.data)" 30000 'system calls of 5 threads and 5 children, with call chains'
	"$pcap" -e $getppid -i -o calls.data -- ./load 3000 5 0 0 0 >range
	is "$(samples calls.data)" 3000 'without what is started'
	"$pcap" -e $getppid --per-thread -o calls.data -- ./load 3000 0 0 0 0 >range
	is "$(samples calls.data)" 3000 'with a buffer for the thread'
	"$pcap" -e $getppid -c 100 --per-thread -o calls.data -- ./load 20000 0 0 0 0 >range
	is "$(samples calls.data)" 200 'one in 100'
	"$pcap" -e 'sched:sched_process_fork' -o forks.data -- ./load 0 50 0 0 0 >range
	is "$(samples forks.data)" 50 'forks'
	# By a name that no other run of this test has meanwhile.
	ln load "load$$"
	"$pcap" -e "$getppid,sched:sched_process_exit" -a -o all.data -- "./load$$" 5000 3 0 0 0 >range
	run "$BIN/pdecode" --strict -t all.data
	is "$(grep -c "^ *load$$ .*sys_enter_getppid" "$OUT")" 20000 'on all CPUs'
	is "$(grep -c "^ *load$$ .*sched_process_exit" "$OUT")" 4 'two events at once'
fi

# A process with more threads than there can be descriptors: all CPUs are recorded, and what is of others
# is left out. The threads begin when they get a signal.
cat >many.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t ready, go;

static void call(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void *idle(void *unused)
{
	sem_post(&ready);
	sem_wait(&go);
	call(1);
	sem_post(&ready);
	return unused;
}

static void *work(void *unused)
{
	call(1000);
	return unused;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	pthread_attr_t small;
	pthread_t t;
	sigset_t wanted;
	int sig;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t, &small, idle, NULL) || sem_wait(&ready))
			return 1;
	puts("ready");
	fflush(stdout);
	sigwait(&wanted, &sig);
	for (long i = 0; i < n; i++)
		sem_post(&go);
	for (long i = 0; i < n; i++)
		sem_wait(&ready);
	call(500);
	if (!fork()) {
		call(300);
		_exit(0);
	}
	wait(NULL);
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	return 0;
}
END
"$CC" -O1 -pthread -o many many.c
./many 4200 >ready &
many=$!
if ! await grep -q ready ready || ! "$pcap" -a -e syscalls:sys_enter_getppid -o probe.data -- true 2>"$ERR"; then
	kill $many
	skip 11 'there are no tracepoints here, or not as many threads'
else
	mkfifo control answers
	exec 8<>answers
	"$pcap" -e syscalls:sys_enter_getppid -p $many --delay=-1 --control fifo:control,answers -o many.data 2>told &
	recorder=$!
	echo enable >control
	answer answers >"$OUT"
	exec 8<&-
	./load 1000 0 0 0 0 >range
	kill -USR1 $many
	wait $recorder
	is "$?" 0 'a process with thousands of threads is recorded, until it ends'
	like told '4201 threads: all CPUs are recorded' 'how is reported'
	run "$BIN/pdecode" --strict -t many.data
	is "$(grep -c '^ *many .*sys_enter_getppid' "$OUT")" 6000 'its calls, those of its child and of a new thread'
	unlike "$OUT" '^ *load ' 'and nobody else'"'"'s'
	# Samples of more threads than there may be open files, where nobody is root.
	setpriv --bounding-set=-all --inh-caps=-all ./many 700 >ready &
	many=$!
	await grep -q ready ready
	cpus=$(getconf _NPROCESSORS_ONLN)
	status=0
	(
		# shellcheck disable=SC3045
		ulimit -n 256
		exec setpriv --bounding-set=-all --inh-caps=-all "$pcap" -e cpu-clock -p $many -o x.data -- true 2>told
	) || status=$?
	is "$status" 2 'but not samples, where the limit cannot be raised'
	like told "701 threads on $cpus CPUs, and 256 are allowed" 'with the figures'
	kill $many
	# Counters of as many.
	./many 700 >ready &
	many=$!
	await grep -q ready ready
	(
		# shellcheck disable=SC3045
		ulimit -n 256
		exec "$pcap" --stat -x, --delay=-1 --control fifo:control,answers -o counts -p $many \
			-e '{syscalls:sys_enter_getppid,page-faults},context-switches' 2>told
	) &
	recorder=$!
	exec 8<>answers
	echo enable >control
	answer answers >"$OUT"
	exec 8<&-
	kill -USR1 $many
	wait $recorder
	is "$?" 0 'more counters than files may be open'
	is "$(awk -F , '$3 == "syscalls:sys_enter_getppid" { print $1 }' counts)" 2500 'each call of each thread is counted'
	is "$(awk -F , '($3 == "page-faults" || $3 == "context-switches") && $1 > 0' counts | grep -c .)" 2 'and other events'
	# Where the kernel allows no further table of files.
	cat >refuse.c <<'END'
#include <errno.h>
int unshare(int flags)
{
	(void)flags;
	errno = EPERM;
	return -1;
}
END
	"$CC" -shared -fPIC -o refuse.so refuse.c
	./many 700 >ready &
	many=$!
	await grep -q ready ready
	status=0
	(
		# shellcheck disable=SC3045
		ulimit -n 256
		exec env LD_PRELOAD="$PWD/refuse.so" "$pcap" --stat -p $many -e page-faults -- true 2>told
	) || status=$?
	kill $many
	is "$status" 2 'counters that would need further tables of files'
	like told "701 files are needed at once, 256 are allowed, .*: Operation not permitted" 'why they cannot be had'
fi

# A probe at the beginning of a function. Made for this process only, and removed.
offset=$(nm load | awk '$3 == "probed" { print $1 }')
group=pp_t_$$
if [ "$(id -u)" = 0 ] && [ -w $tracing/uprobe_events ] && [ -n "$offset" ] &&
	address=$(readelf -lW load | perl -ne '
		BEGIN { $a = hex shift }
		if (/^\s*LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)/) {
			($o, $v, $s) = map { hex } $1, $2, $3;
			printf "0x%x\n", $a - $v + $o if $a >= $v && $a < $v + $s }' "$offset") &&
	echo "p:$group/probed $TMP/load:$address" >>$tracing/uprobe_events 2>"$ERR"; then
	"$pcap" -e "$group:probed" -o hits.data -- ./load 0 0 0 12345 0 >range
	is "$(samples hits.data)" 12345 'hits of a probe'
	# A frequency of all events thins the probe, too.
	run "$pcap" -e cpu-clock,"$group:probed" -F 499 -o thin.data -- ./load 0 0 0 2000 0
	like "$ERR" "^pcap-perf: -F: of $group:probed at most .* -e cpu-clock/freq=499/ without -F" 'thinned: reported, and what to type'
	run_pipe '"$BIN/pdecode" thin.data' '"$BIN/plat" -s probed -e probed'
	is "$status" 1 'thinned: plat has no whole result'
	like "$ERR" "not every $group:probed was recorded" 'thinned: and says why'
	run "$pcap" -e "cpu-clock/freq=499/,$group:probed" -o each.data -- ./load 9000 0 0 2000 0
	empty "$ERR" 'a frequency of one event: nothing to report'
	is "$(samples each.data)" "$((2000 + $(grep -c 'cpu-clock/freq=499/:' "$OUT")))" 'and each hit is there'
	# That event by its name without terms, wherever a name is asked for.
	run "$BIN/pdecode" --list each.data
	samples=$(awk '$NF == "cpu-clock/freq=499/" { print $1 }' "$OUT")
	for name in cpu-clock 'cpu-clock*' 'cpu*freq*' cpu-clock/freq=499/; do
		run_pipe '"$BIN/pdecode" each.data' "\"\$BIN/pfold\" --count -e '$name'"
		is "$(awk '!/^#/ { n += $NF } END { print n + 0 }' "$OUT")" "$samples" "pfold -e $name"
	done
	run_pipe '"$BIN/pdecode" each.data' '"$BIN/pfilter" --drop "cpu-clock:"' '"$BIN/phist" --by base_event'
	is "$(awk '$1 == "cpu-clock" { print $2 }' "$OUT")" "$samples" 'in expressions, and as base_event'
	run_pipe '"$BIN/pdecode" each.data' '"$BIN/phist" --by event'
	is "$(awk '$1 == "cpu-clock" { print $2 }' "$OUT")" "$samples" 'in a table: without terms'
	run_pipe '"$BIN/pdecode" each.data' '"$BIN/preport" -e cpu-clock --count --tsv'
	is "$status" 0 'in preport'
	run_pipe '"$BIN/pdecode" each.data' '"$BIN/preport"'
	like "$OUT" '^cpu-clock: [0-9]+ samples' 'whose heading has it without terms'
	run "$pcap" -e cpu-clock/freq=499/ -e cpu-clock/freq=99/ -o two.data -- ./load 5000000 0 0 0 0
	run_pipe '"$BIN/pdecode" two.data' '"$BIN/phist" --by event'
	is "$(grep -c '^cpu-clock/freq=[49]*99/ ' "$OUT")" 2 'with them, where two have one name'
	run_pipe '"$BIN/pdecode" two.data' '"$BIN/preport"'
	is "$(grep -c '^cpu-clock/freq=[49]*99/: ' "$OUT")" 2 'in headings, too'
	echo "-:$group/probed" >>$tracing/uprobe_events
else
	skip 16 'probes cannot be made here'
fi
done_testing
