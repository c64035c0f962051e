#!/bin/sh
# pcap-perf --probe: probes that are there for one recording, and what removes them.
. "${0%/*}/lib.sh"

src=$ROOT/t/probe
gcc -std=gnu11 -g -O2 -o c2 "$src/values.c" 2>"$ERR" || bail "$(cat "$ERR")"

perf="$BIN/pcap-perf"
tracefs=/sys/kernel/tracing
[ -r "$tracefs/uprobe_events" ] || tracefs=/sys/kernel/debug/tracing

# Words that are wrong, for which nothing is made.
run "$perf" --probe '' -- true
is "$status" 64 'an empty definition'
run "$perf" --probe 'values' --dry-run -x ./c2
is "$status" 0 'words are checked without making anything'
run "$perf" --stat --probe
is "$status" 64 'a definition is missing'

if [ ! -w "$tracefs/uprobe_events" ]; then
	run "$perf" -x ./c2 --probe values -- ./c2 2
	is "$status" 2 'without rights it is refused'
	like "$ERR" 'pcap-perf: ' 'with a message'
	skip 40 'no uprobes here, or not root' 'probes in place'
	done_testing
	exit 0
fi

# ours GROUP-PATTERN: lines of the kernel's list that are a recorder's.
ours() {
	grep -c "[:/]pcap_${1:-}" "$tracefs/uprobe_events"
}

# Recorders of other people may be at work: those that this test starts have programs below $TMP.
here() {
	grep -c " $TMP/" "$tracefs/uprobe_events"
}
trap 'kill $left 2>/dev/null || :; t_end' EXIT
left=

"$perf" -o one.data --probe 'values msec who:string' --probe 'values%return $retval' -- ./c2 5 \
	>"$OUT" 2>printed
is "$?" 0 'entry and return of the program that is the command'
is "$(here)" 0 'nothing is left in the kernel'
"$BIN/pdecode" -t one.data | sed -n 's/^.*: *probe_c2:\([a-z_]*\): ([0-9a-f]*) /\1 /p' >got
sed -n 's/^\(values msec=[-0-9]* who="[a-z]*"\) .*/\1/p; s/^values__return .*/&/p' printed >want
same got want 'each call with the arguments that the program printed'
is "$(wc -l <got)" 10 'and all of them'
if have perf; then
	perf script -i one.data 2>"$ERR" | grep -c 'probe_c2:values:.*msec=[0-9]* who="' >got
	is "$(cat got)" 5 'perf script shows them under that name, too'
else
	skip 1 'perf is not installed'
fi

# ---- what can be given ----

run "$perf" --stat -x ';' --exec ./c2 --probe values --probe several -- ./c2 7
is "$(grep -o '^[0-9]*;;probe_c2:[a-z]*' "$ERR" | tr '\n' ' ')" '7;;probe_c2:values 7;;probe_c2:several ' \
	'--stat counts'
"$BIN/pprobe" -n -x ./c2 'g:both=values%return $retval' 'g:in=values msec' >lines
is "$(wc -l <lines)" "$(grep -c / lines)" 'definitions of pprobe -n'
run "$perf" -o lines.data --probe "$(cat lines)" -- ./c2 4
is "$status" 0 'are taken as they are'
is "$("$BIN/pdecode" -t lines.data | grep -o 'g:[a-z]*' | sort | uniq -c | tr -s ' \n' ' ')" \
	' 4 g:both 4 g:in ' 'and have their own names'
run "$perf" -o lines.data --probe "$(sed -n 1p lines)" --probe "$(sed -n '$p' lines)" -- ./c2 4
is "$("$BIN/pdecode" -t lines.data | grep -c 'g:in')" 4 'one by one, too'
run "$perf" -o filter.data --probe 'values msec' --filter 'msec > 2' --probe several -- ./c2 6
is "$("$BIN/pdecode" -t filter.data | grep -c 'values:.* msec=[345]$')" 3 "a filter is the last probe's"
is "$("$BIN/pdecode" -t filter.data | grep -c 'probe_c2:several')" 6 'and no other'
cp c2 d2
run "$perf" -o two.data --probe x:f=values -x ./c2 --probe y:f=values -x ./d2 --probe z:f=values \
	-- sh -c './c2 2; ./d2 3'
is "$("$BIN/pdecode" -t two.data | grep -o '[xyz]:f[_0-9]*' | sort | uniq -c | tr -s ' \n' ' ')" \
	' 2 x:f 2 y:f_1 3 z:f_2 ' 'programs, each of the definitions after it'

# ---- errors ----

run "$perf" -o no.data -x ./c2 --probe nosuch -- ./c2 2
is "$status $(grep -c : "$ERR") $(grep -c "^pprobe: nosuch: .*no function" "$ERR")" '2 1 1' 'no such function: pprobe reports it, and nobody else'
[ ! -e no.data ]
is "$?" 0 'and no file is written'
run "$perf" -o no.data -x ./c2 --probe values --probe nosuch -- ./c2 2
is "$(here)" 0 'a definition that is right, before one that is wrong, is not left'
run "$perf" -o no.data --probe 'p:g/e /nonexistent:0x10' -- true
is "$status" 2 'a line that the kernel does not take'
like "$ERR" 'the kernel does not accept' 'is reported'
run "$perf" -o no.data --probe 'p:g/e-f /bin/true:0x10' -- true
is "$status" 64 'a line that is none'
run "$perf" -o no.data --probe values 1
is "$status" 64 'no program is named'
like "$ERR" 'of which program' 'and that is reported'
run "$perf" -o no.data --probe values -- ./nosuch
is "$status" 2 'a program that is not there'
run "$perf" -o no.data -x ./c2 --probe values -- ./nosuch
is "$status" 2 'a command that is not there'
is "$(here)" 0 'leaves nothing'
run "$perf" -o nodir/no.data -x ./c2 --probe values -- ./c2
is "$(here)" 0 'nor does an output that cannot be written'

# ---- ways out ----

n=0
# begin: a recorder in the background, whose probes are there.
begin() {
	n=$((n + 1))
	"$perf" -o "run$n.data" -x ./c2 --probe values 2>"$ERR" &
	pid=$!
	left=$pid
	await grep -q "[:/]pcap_${pid}_" "$tracefs/uprobe_events"
}
for sig in INT TERM HUP; do
	begin
	is "$(ours "${pid}_")" 1 "SIG$sig: there is a probe"
	kill -s "$sig" "$pid"
	wait "$pid"
	is "$?" 0 'the recording ends'
	is "$(ours "${pid}_")" 0 'and the probe is gone'
done
run_pipe '"$perf" -x ./c2 --probe values -- sh -c "while ./c2 100 2>/dev/null; do :; done"' 'head -c 1'
is "$(here)" 0 'nor is there one when the reader has gone'

# A recorder that is killed leaves its probes. The next one removes them, and nobody else's.
if "$BIN/pprobe" -n -x ./c2 values >line && sed "s,:probe_c2/,:pptest_$$/," line >>"$tracefs/uprobe_events"; then
	begin
	living=$pid
	data=run$n.data
	begin
	kill -s KILL "$pid"
	wait "$pid" 2>/dev/null
	left=$living
	# One of another PID namespace, and one that only looks alike.
	foreign="pcap_${pid}_1_1"
	for group in "$foreign" "pcap_${pid}_x"; do
		sed "s,:probe_c2/,:$group/," line >>"$tracefs/uprobe_events"
	done
	run "$perf" -v -o next.data -x ./c2 --probe several -- ./c2 3
	is "$status" 0 'the next recording'
	# The probes stay until another recorder begins, which may be one of another test: again then.
	killed=$pid
	for try in 1 2 3 4 5; do
		! grep -q 'removed the probes of a recorder that has exited' "$ERR" || break
		begin
		kill -s KILL "$pid"
		wait "$pid" 2>/dev/null
		run "$perf" -v -o next.data -x ./c2 --probe several -- ./c2 3
	done
	left=$living
	pid=$killed
	like "$ERR" 'removed the probes of a recorder that has exited' "reports it with -v (try $try)"
	is "$(ours "${pid}_[0-9]*_[0-9a-f]*/values" | tr -d '\n') $(grep -c "$foreign/" "$tracefs/uprobe_events")" '1 1' \
		'removed it, but not one of another namespace'
	is "$(grep -c ":pcap_${pid}_x/" "$tracefs/uprobe_events")" 1 'nor a name that is not of that form'
	is "$(ours "${living}_")" 1 'nor that of a recorder that lives'
	is "$(grep -c ":pptest_$$/" "$tracefs/uprobe_events")" 1 'nor those of others'
	for group in "$foreign" "pcap_${pid}_x" pptest_$$; do
		echo "-:$group/" >>"$tracefs/uprobe_events"
	done
	./c2 4 2>/dev/null
	kill -s INT "$living"
	wait "$living"
	left=
	is "$("$BIN/pdecode" -t "$data" | grep -c 'probe_c2:values')" $((4 + 3 * try)) 'which has recorded meanwhile'
	# A recorder that is dead, but that nobody has waited for.
	sh -c '"$1" -o z.data -x ./c2 --probe values & echo $! >zombie.pid; exec sleep 30' - "$perf" 2>/dev/null &
	left=$!
	await test -s zombie.pid
	await grep -q ":pcap_$(cat zombie.pid)_" "$tracefs/uprobe_events"
	kill -s KILL "$(cat zombie.pid)"
	await gone "$(cat zombie.pid)"
	run "$perf" -o next.data -x ./c2 --probe several -- ./c2 3
	is "$(ours "$(cat zombie.pid)_")" 0 'one that nobody has waited for is gone, too'
	kill "$left"
	wait "$left" 2>/dev/null
	left=
	begin
	kill -s KILL "$pid"
	wait "$pid" 2>/dev/null
	left=
	run "$BIN/pprobe" --mine mine --all-mine
	is "$(ours "${pid}_")" 0 'pprobe --all-mine removes what was left, too'
else
	skip 10 'the list of probes cannot be written'
fi

# ---- processes ----

./c2 4 >"$OUT" 2>&1 &
wait $!
mkfifo go
cat >loop.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n)
{
	return printf("step n=%d\n", n);
}
int main(int argc, char **argv)
{
	char byte;
	int n = atoi(argv[1]);

	(void)argc;
	while (read(0, &byte, 1) == 1)
		step(n++);
	return 0;
}
END
gcc -g -O2 -o loop loop.c || bail 'cannot compile'
mkfifo control ack
exec 8<>control 9<>ack
# follow PID [OPTION]...: records a process that waits for bytes of descriptor 7, to got.text.
follow() {
	of=$1
	shift
	"$perf" -o pid.data -p "$of" --control fifo:control,ack "$@" 2>"$ERR" 7>&- 8>&- 9>&- &
	rec=$!
	left="$rec $of"
	# It answers when it records.
	echo ping >&8
	[ "$(answer ack)" = ack ] || {
		diag "no answer"
		diag_file "$ERR"
	}
	printf 'abc' >&7
	exec 7>&-
	wait "$of"
	wait "$rec"
	left=
	"$BIN/pdecode" -t pid.data >got.text
}
./loop 10 <go >"$OUT" &
of=$!
exec 7>go
follow "$of" --probe 'step n'
is "$(grep -o 'probe_loop:step: .* n=[0-9]*$' got.text | sed 's/.*n=//' | tr '\n' ' ')" '10 11 12 ' \
	'-p: the program of the process'
./loop 10 <go >"$OUT" &
of=$!
exec 7>go
follow "$of" -x libc.so.6 --probe 'write len=%dx:u64'
like got.text 'probe_libc:write: .* len=30' '-p and a library that the process has mapped'

# A process that sees other files, as those in containers.
mkdir -p private
if unshare -m sh -c 'mount -t tmpfs none private && cp loop private/inner' 2>"$ERR"; then
		unshare -m sh -c 'mount -t tmpfs none private && cp loop private/inner && exec private/inner 20' <go >"$OUT" &
	of=$!
	exec 7>go
	await sh -c '[ "$(readlink "/proc/$1/exe")" = "$2" ]' - "$of" "$TMP/private/inner"
	[ ! -e private/inner ]
	is "$?" 0 'a program that only its process sees'
	follow "$of" --probe 'step n'
	is "$(grep -o 'step: .* n=[0-9]*$' got.text | sed 's/.*n=//' | tr '\n' ' ')" '20 21 22 ' 'is recorded by -p'
else
	skip 2 'no mount namespaces here'
fi

# Markers with a semaphore, which counts who records.
cat >sdt.c <<'END'
#include <stdio.h>
unsigned short on __attribute__((section(".probes"), used));
/* A note of the type 3 with the addresses of marker, base and semaphore, then three texts. */
#define MARKER(x, y) \
	__asm__ volatile("1: nop\n" \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
			 ".4byte 8, 3f-2f, 3\n.asciz \"stapsdt\"\n" \
			 "2: .8byte 1b, 0, on\n" \
			 ".asciz \"t\"\n.asciz \"hit\"\n.asciz \"-4@%k0 -4@%k1\"\n" \
			 "3: .balign 4\n.popsection" \
			 : \
			 : "r"(x), "r"(y))
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 5; i++)
		if (*(volatile unsigned short *)&on)
			MARKER(i, argc);
	return printf("%d\n", on) < 0;
}
END
gcc -O2 -o sdt sdt.c || bail 'cannot compile'
is "$(./sdt)" 0 'a marker with a semaphore, off'
"$perf" -o sdt.data --probe '%t:hit' -- ./sdt >"$OUT" 2>"$ERR"
like "$OUT" '^1$' 'on while it is recorded'
is "$("$BIN/pdecode" -t sdt.data | grep -o 'sdt_t:hit: .*' | sed 's/.*) //' | tr '\n' ';')" \
	'arg1=0 arg2=1;arg1=1 arg2=1;arg1=2 arg2=1;arg1=3 arg2=1;arg1=4 arg2=1;' 'with its arguments'
is "$(here)" 0 'and removed'

# Arguments of markers by name.
run "$BIN/pprobe" -n -x ./sdt '%t:hit count=arg2:u8'
like "$OUT" ' count=%[a-z0-9]*:u8$' 'those that the definition names'
run "$BIN/pprobe" -n -x ./sdt '%t:hit text=arg1:string'
like "$OUT" ' text=\+0\(%[a-z0-9]*\):string$' 'a text is where the argument points to'
run "$BIN/pprobe" -n -x ./sdt '%t:hit arg3'
is "$status" 64 'and none that it does not have'

# ---- what follows from it ----

gcc -g -O1 -o fib "$ROOT/t/fib.c" || bail 'cannot compile'
"$perf" -o fib.data --probe 'fib n' --probe 'fib%return $retval' -- ./fib 8 >"$OUT" 2>"$ERR"
# To its standard error, since the recording is in a file: as it is.
read -r result calls <"$OUT"
"$BIN/pdecode" fib.data | "$BIN/plat" --kind call --by name --tsv >got
is "$(awk -F'\t' '$2 == "probe_fib:fib" { print $3 }' got)" "$calls" 'plat pairs every call with its return, recursive ones, too'
is "$("$BIN/pdecode" fib.data | "$BIN/pfilter" --drop 'n > 5' | "$BIN/pdecode" -t | grep -c 'n=[678]$')" \
	"$("$BIN/pdecode" -t fib.data | grep -c 'fib: .* n=[678]$')" 'pfilter compares arguments'
is "$("$BIN/pdecode" fib.data | "$BIN/phist" -f n --tsv 2>"$ERR" | awk '$1 == "n" { print $2 }')" "$calls" 'phist counts them'
is "$("$BIN/pdecode" -t fib.data | tail -n 1 | sed 's/.*retval=//')" "$result" 'the last result is that of the first call'
BINDIR=$BIN
export BINDIR
recipes=$ROOT/share/recipes
run "$recipes/funclatency" fib.data --tsv
is "$(awk -F'\t' '$2 == "probe_fib:fib" { print $3; exit }' "$OUT")" "$calls" 'funclatency, of a recording'
run "$recipes/trace" fib.data
is "$(grep -c ' fib n=' "$OUT") $(grep -c ' fib__return retval=' "$OUT")" "$calls $calls" 'trace, of a recording'

is "$(here)" 0 'and nothing is left'

# Functions by the hundred, of which each is called another number of times: a program that is made here.
awk 'BEGIN {
	for (i = 0; i < 200; i++)
		printf "__attribute__((noipa)) int fn_%d(int x) { return x + %d; }\n", i, i
	print "int main(void) { int x = 0;"
	for (i = 0; i < 200; i++)
		printf "for (int i = 0; i < %d; i++) x = fn_%d(x);\n", 3 * i + 1, i
	print "return x == -1; }"
}' >many.c
awk 'BEGIN { for (i = 0; i < 200; i++) print 3 * i + 1, "probe_many:fn_" i }' | sort >many.want
gcc -O1 -o many many.c 2>"$ERR" || bail "$(cat "$ERR")"
counts() {
	awk -F ';' '{ print $1, $3 }' | sort
}
run "$perf" --stat -x ';' --exec ./many --probe 'fn_*' -- ./many
is "$status" 0 'two hundred functions are counted'
counts <"$ERR" >many.got
same many.got many.want 'each as often as it is called'
run "$perf" --stat -x ';' -A -C 0 -o - --exec ./many --probe 'fn_*' -- taskset -c 0 ./many
is "$(awk -F ';' '{ print $2, $4 }' "$OUT" | sort | cmp - many.want && echo same)" same 'on a CPU, of all programs'
run "$perf" --stat -x ';' -r 2 -o - --exec ./many --probe 'fn_*' -- ./many
is "$(awk -F ';' '{ print $1, $3 }' "$OUT" | sort | cmp - many.want && echo same)" same 'twice: the mean'
run "$perf" --stat -x ';' -o - --exec ./many --probe 'fn_1*' --probe 'fn_1*%return' -- ./many
is "$(awk -F ';' '$3 ~ /__return$/ { sub(/__return$/, "", $3); print $1, $3 }' "$OUT" | sort)" \
	"$(grep ' probe_many:fn_1' many.want)" 'returns, which are another event'
is "$(grep -vc '__return' "$OUT")" "$(grep -c ' probe_many:fn_1' many.want)" 'beside the calls'
run "$perf" --stat -x ';' --probe 'fn_*' -- ./many
is "$(grep -c '^[0-9]' "$ERR")" 200 'of the command'
run "$perf" --stat --per-thread --exec ./many --probe 'fn_*' -a -- ./many
is "$status" 64 'not by thread'
like "$ERR" 'not counted by thread: name single functions' 'and the message says so'
# Of more threads than there may be open files.
awk 'BEGIN {
	print "#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>"
	for (i = 0; i < 80; i++)
		printf "__attribute__((noipa)) int fn_%d(int x) { return x + %d; }\n", i, i
	print "static pthread_barrier_t ready, go;"
	print "static void *run(void *x) { int n = 0; pthread_barrier_wait(&ready); pthread_barrier_wait(&go);"
	for (i = 0; i < 80; i++)
		printf "for (int i = 0; i < %d; i++) n = fn_%d(n);\n", i % 3 + 1, i
	print "return n == -1 ? x : 0; }"
	print "int main(void) { pthread_t t[300]; sigset_t set; int sig; sigemptyset(&set); sigaddset(&set, SIGUSR1);"
	print "sigprocmask(SIG_BLOCK, &set, 0); pthread_barrier_init(&ready, 0, 301); pthread_barrier_init(&go, 0, 301);"
	print "for (int i = 0; i < 300; i++) if (pthread_create(&t[i], 0, run, 0)) return 1;"
	print "pthread_barrier_wait(&ready); puts(\"ready\"); fflush(stdout); sigwait(&set, &sig); pthread_barrier_wait(&go);"
	print "for (int i = 0; i < 300; i++) pthread_join(t[i], 0); return 0; }"
}' >threads.c
gcc -O1 -pthread -o threads threads.c 2>"$ERR" || bail "$(cat "$ERR")"
mkfifo tell answers
: >ready
./threads >ready &
threads=$!
await grep -q ready ready
(
	# shellcheck disable=SC3045
	ulimit -n 200
	exec "$perf" --stat -x ';' --delay=-1 --control fifo:tell,answers -o threads.out --exec ./threads --probe 'fn_*' -p $threads 2>"$ERR"
) &
other=$!
exec 8<>answers
echo enable >tell
answer answers >"$OUT"
exec 8<&-
kill -USR1 $threads
wait $other
is "$? $(awk -F ';' '/^[0-9]/ { sub(/.*fn_/, "", $3); bad += $1 != 300 * ($3 % 3 + 1); n++ }
	END { print n, bad + 0 }' threads.out)" '0 80 0' 'functions of more threads than files may be open'
run "$perf" --stat -x ';' -I 200 --summary -o - -t $$ --exec ./many --probe 'fn_*' 0.5
is "$(awk -F ';' '/summary/ { n++; s += $2 } END { print n, s + 0 }' "$OUT")" '200 0' 'a thread that calls none'
is "$(here)" 0 'nothing is left of them'
"$perf" --stat --while $$ --exec ./many --probe 'fn_*' 0.1 >"$OUT" 2>"$ERR"
is "$?" 0 'another process may end it'
sleep 1000 &
left=$!
"$perf" --stat -o - -x ';' --while $left --exec ./many --probe 'fn_*' -a >"$OUT" 2>"$ERR" &
other=$!
await grep -q " $TMP/many:.* place=" "$tracefs/uprobe_events"
kill $left
wait $other
is "$? $(grep -c probe_many "$OUT")" '0 200' 'and does'
left=
run "$BIN/pprobe" -n --each -x ./many 'fn_*'
is "$(cut -d ' ' -f 1 "$OUT" | sort -u | wc -l)" 200 'pprobe --each: an event for each'
run "$BIN/pprobe" -n -x ./many 'fn_*'
is "$(cut -d ' ' -f 1 "$OUT" | sort -u | wc -l)" 1 'else one for so many'
seq 4200 | sed 's/.*/void many_&(void) {}/' >most.c
gcc -O0 -shared -o most.so most.c 2>"$ERR" || bail "$(cat "$ERR")"
run "$perf" --stat --exec ./most.so --probe 'many_*' -- true
is "$status" 2 'more than are told apart'
like "$ERR" '4200 functions, and at most 4096 can be told apart: use a narrower pattern' 'are refused with their number'
# By the recipe.
run "$recipes/funccount" 'f[h-j]*' fib.data
is "$(cat "$OUT")" "$(printf '%10d probe_fib:fib\n%10d probe_fib:fib__return' "$calls" "$calls")" 'funccount, of a recording'
run "$recipes/funccount" -e 'fn_*' fib.data
is "$status" 1 'which has none that fits'
# Called by await: the recorder of these functions has its counters, and sleeps; one that only waits for a CPU is
# in state R, for the kernel in D.
# shellcheck disable=SC2317
counts_now() {
	recorder=$(recorder_of "$other")
	[ -n "$recorder" ] &&
		readlink "/proc/$recorder/fd/"* 2>/dev/null | grep -q perf_event &&
		grep -q '^[0-9]* (.*) S ' "/proc/$recorder/stat" && sleep 0.1 &&
		grep -q '^[0-9]* (.*) S ' "/proc/$recorder/stat" &&
		[ "$(ticks "$recorder")" = "$(sleep 0.3 && ticks "$recorder")" ]
}
"$recipes/funccount" "$TMP/many:fn_1*" 100 >"$OUT" 2>"$ERR" &
other=$!
ok 'funccount begins' await counts_now
./many
kill -INT "$recorder"
wait "$other"
status=$?
is "$status" 0 'funccount counts now'
is "$(awk '{ print $1, $2 }' "$OUT" | sort)" "$(grep ' probe_many:fn_1' many.want)" 'what is called meanwhile'

# The kernel's functions.
run "$perf" -o k.data --kprobe vfs_read -- true
if [ "$status" = 0 ]; then
	is "$status" 0 'a function of the kernel'
	"$BIN/pdecode" -t k.data >got
	like got 'probe:vfs_read' 'is recorded'
else
	is "$status" 2 'a function of a kernel without kprobes'
	like "$ERR" 'no kprobes|kallsyms|permission' 'is refused with the reason'
fi
done_testing
