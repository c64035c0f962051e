#!/bin/sh
# What several threads make is what one makes: text and JSON of streams of some megabytes, since threads begin after
# the first; the events of compressed trace.dat files, whose chunks others unpack.
. "${0%/*}/lib.sh"

${CC:-cc} -O1 -o mem_make "$ROOT/t/mem_make.c" || exit 1
awk -f "$ROOT/t/mem_accesses.awk" /dev/null >text || exit 1
{
	cat text
	for _ in 1 2 3 4 5 6 7 8 9; do
		grep '^access' text
	done
} >much || exit 1
./mem_make <much >mem.data || exit 1
"$BIN/pdecode" -b mem.data >mem.ps 2>/dev/null
[ "$(wc -c <mem.ps)" -gt 2500000 ] || exit 1
for name in sched cgroups; do
	gzip -dc "$ROOT/t/data/$name.data.gz" >"$name.data" || exit 1
done
data=$ROOT/t/data

# alike NAME FILTER ARG...: what it prints with 2, 3 and 16 threads is what it prints with one.
counts='2 3 16'
places=16 # where a file is damaged
! sanitized || counts=3 places=5
alike() {
	what=$1 filter=$2
	shift 2
	"$BIN/$filter" --threads 1 "$@" >one 2>one.err
	one=$?
	[ -s one ] || echo "# nothing was printed"
	for n in $counts; do
		"$BIN/$filter" --threads "$n" "$@" >many 2>many.err
		many=$?
		[ $one = $many ] && [ -s one ] && cmp -s one.err many.err && cmp one many >&2
		is $? 0 "$what: $n threads"
	done
}

# A reader that leaves ends it in silence, whichever thread writes: of one file and of many.
left() { # FILE...
	{
		"$BIN/pdecode" -t --threads 3 "$@" 2>left.err
		echo $? >left.status
	} | head -n 1 >/dev/null
	cat left.status left.err
}
set --
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	set -- "$@" sched.data "$data/sched.dat"
done
is "$(left "$@")" "$(left mem.data)" 'a reader that leaves'

alike 'memory accesses' pdecode -t mem.data
alike 'times since the line before' pdecode -t --deltatime mem.data
alike 'times since the first line' pdecode -t --reltime --ns mem.data
alike 'fields' pdecode -t -F comm,tid,time,event,ip,sym mem.data
alike 'one CPU' pdecode -t --cpu 0,3 mem.data
alike 'marked samples' pfilter -t --all 'cpu == 1' mem.ps
alike 'samples that pass' pfilter -t 'cpu == 1 || cpu == 9' mem.ps

# Streams one after the other: each begins anew, some of them in the middle of a block, and those of a
# trace.dat are printed by one thread.
for file in "$data/sched.dat" sched.data "$data/deep.data" mem.data "$data/kinds.dat" cgroups.data mem.data \
	"$data/small.data"; do
	"$BIN/pdecode" -b "$file" 2>/dev/null
done >streams.ps
alike 'several streams' pfilter -t 'cpu >= 0' streams.ps
alike 'their fields' pfilter -t -F comm,time,event,trace 'cpu >= 0' streams.ps
alike 'two recordings at once' pdecode -t mem.data "$data/sched.dat"
alike 'two perf.data at once' pdecode -t mem.data sched.data
alike 'symbols' psym -t mem.ps

# JSON has the command line in the record "provenance".
for n in 1 2 7; do
	"$BIN/pdecode" -j --threads $n mem.data 2>/dev/null | grep -v '"provenance"' >json.$n
done
ok 'JSON' cmp json.1 json.2
ok 'JSON of seven threads' cmp json.1 json.7

for n in 0 65 x ''; do
	run "$BIN/pdecode" -t --threads "$n" mem.data
	is "$status" 64 "--threads '$n'"
done
like "$ERR" 'from 1 to 64' 'the numbers that can be had are reported'

# Chunks of a trace.dat are unpacked before their turn.
for file in kinds sched trace-zlib; do
	alike "$file.dat" pdecode -t --all "$data/$file.dat"
done
# Damage is found, reported and survived at the same places.
size=$(wc -c <"$data/sched.dat")
differ=
partial=0
for i in $(seq 1 "$places"); do
	at=$((size * i / (places + 1)))
	cp "$data/sched.dat" bad.dat
	printf '\377\000\377' | dd of=bad.dat bs=1 seek=$at conv=notrunc 2>/dev/null
	head -c $at "$data/sched.dat" >cut.dat
	for bad in bad cut; do
		"$BIN/pdecode" -t --all --threads 1 $bad.dat >one 2>one.err
		one=$?
		"$BIN/pdecode" -t --all --threads 3 $bad.dat >many 2>many.err
		[ $? = $one ] && cmp -s one many && cmp -s one.err many.err || differ="$differ $bad:$at"
		[ $one != 1 ] || [ ! -s one ] || partial=$((partial + 1))
	done
done
is "$differ" '' 'damaged trace.dat files: the same text, messages and status'
isnt $partial 0 'some of which are read in part'

# A reader that is gone, and a full disk.
"$BIN/pdecode" -t --threads 3 mem.data 2>err | head -n 1 >first
is "$(cat err)" '' 'a reader that is gone: no message'
if [ -c /dev/full ]; then
	for n in 1 3; do
		"$BIN/pdecode" -t --threads $n mem.data >/dev/full 2>"$ERR"
		is $? 2 "a full disk, $n threads"
		like "$ERR" 'cannot write' 'which is reported'
	done
else
	skip 4 'no /dev/full'
fi

# Without all the threads, or all the memory. A sanitizer wants to be loaded before the library.
shim=${SHIM:-build/t/shim.so}
case $shim in
/*) ;;
*) shim=$ROOT/$shim ;;
esac
sanitized && shim=/nonexistent
failing() {
	FAIL=$1 FAIL_PROG=pdecode FAIL_COUNT=count LD_PRELOAD=$shim "$BIN/pdecode" "$form" --threads 3 "$file" >many 2>err
}
if [ -e "$shim" ]; then
	# Text of a trace.dat is not asked for: libtraceevent itself crashes if it lacks memory.
	for what in '-t mem.data' "-b $data/sched.dat" "-b $data/trace-zlib.dat"; do
		form=${what%% *} file=${what#* }
		name=${file##*/}
		"$BIN/pdecode" "$form" --threads 3 "$file" >one 2>/dev/null
		for fail in thread:1 thread:2 thread:3 thread:1+ thread:2+; do
			failing $fail
			is $? 0 "$name, $fail fails: status"
			ok "$name, $fail fails: output" cmp one many
		done
		failing alloc:0
		calls=$(cat count)
		bad=
		for i in $(seq 1 40); do
			n=$((calls * i / 41))
			failing alloc:$n
			case $? in
			0) cmp -s one many || bad="$bad $n:output" ;;
			2) [ -s err ] || bad="$bad $n:message" ;;
			*) bad="$bad $n:status" ;;
			esac
		done
		is "$bad" '' "$name: memory that is short"
	done
else
	skip 33 't/shim.so is not built, or cannot be loaded'
fi
done_testing
