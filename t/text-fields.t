#!/bin/sh
# pfold on perf script text of every field set that people use: it folds as the recording does, or it
# names what the text lacks, with status 1. The text is that of psym -t, anywhere, and of perf.
. "${0%/*}/lib.sh"

# --- small texts: the fields, the commands, the lines that are no samples ---
# check NAME STATUS WANT [OPTION...]: of small.txt
check() {
	t_what=$1 t_status=$2 t_want=$3
	shift 3
	run "$BIN/pfold" --no-header "$@" small.txt
	is "$status $(sed '$!s/$/|/' "$OUT" | tr -d '\n')" "$t_status $t_want" "$t_what"
}

p=' 1.000001: 1000 cycles: '
printf ' lead sp 2426%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'a blank begins the command' 0 '_lead_sp;f 1000'
printf 'f 12345%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'a command of one letter' 0 'f;f 1000'
printf 'a 1 [000] 1.2: 24801%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'one like a header' 0 'a_1_[000]_1.2:;f 1000'
printf 'x 5/6 1.0: c: 77%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'one like a whole header' 0 'x_5/6_1.0:_c:;f 1000'
printf 'a\nb 77%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'one with a newline' 0 'a?b;f 1000'
printf 'tail  12345%s\n\t1 f (/x)\n\n' "$p" >small.txt
check 'one with a blank at its end' 0 'tail_;f 1000'
# Without a number of a thread: what follows the command is in columns of its own, 12 of the time, 10 of the period.
while IFS='|' read -r line want what; do
	printf '%s\n\t1 f (/x)\n\n' "$line" >small.txt
	check "a blank at the end: $what" 0 "$want"
done <<'E'
tail 12345.678901: 77 cycles: |tail;f 77|none before a time
tail  12345.678901: 77 cycles: |tail_;f 77|before a time
tail  7261.463941: 77 cycles: |tail;f 77|none before a time of fewer columns
tail   7261.463941: 77 cycles: |tail_;f 77|before a time of fewer columns
tail  7261.463941123: 77 cycles: |tail;f 77|none before nanoseconds
tail   7261.463941123: 77 cycles: |tail_;f 77|before nanoseconds
tail [001]  7261.463941: 77 cycles: |tail;f 77|none before a CPU
tail  [001]  7261.463941: 77 cycles: |tail_;f 77|before a CPU
tail         77 cycles: |tail;f 77|none before a period
tail          77 cycles: |tail_;f 77|before a period
E
printf 'tail cycles: \n\t1 f (/x)\n\nother   cycles: \n\t1 f (/x)\n\n' >small.txt
check 'before an event' 1 'other;f 1|tail;f 1' -c
like "$ERR" 'commands end in blanks, which this text cannot distinguish from those before the event' 'is reported'
printf '             :-1    -1 [000]   264.970752: 7 cycles:      1000 f (/x)\n' >small.txt
check 'a dead task' 0 ':-1;f 7'
printf '%16s 12345%s %16s f (/x)\n' 'b 7' "$p" 1000 'a: b:' "$p" 2000 >small.txt
check 'commands in columns, without call chains' 0 'a:_b:;f 1000|b_7;f 1000'
printf 'app 10%s\n\t1000 (anonymous namespace)::g(int)+0x3 (/x)\n\t2000 main (/x)\n\n' "$p" >small.txt
check 'an anonymous namespace' 0 'app;main;(anonymous namespace)::g 1000'
printf 'app 10%s\n\t1000 f(void (*)(int))\n\t2000 (anonymous namespace)::main\n\n' "$p" >small.txt
check 'functions without files' 0 'app;(anonymous namespace)::main;f 1000'
printf 'app 10%s\n\t1000 [unknown]\n\n' "$p" >small.txt
check 'not even a name' 1 'app;[unknown] 1000'
like "$ERR" '^pfold: small.txt: this text does not have fields of the recording: dso \(perf script -F \+dso\)$' 'is reported'
for program in preport pdiff; do
	cp small.txt new.txt
	set -- small.txt
	[ $program = preport ] || set -- small.txt -- new.txt
	run "$BIN/$program" "$@"
	is "$status" 1 "$program: less than all is no success"
done
printf 'app 10%s\n\t1000 f (inlined)\n\t1000 g (/x)\n\n' "$p" >small.txt
check 'an inlined function' 0 'app;g;f_[i] 1000'
printf 'app 10%s\r\n\t1000 f (/x)\r\n\t2000 m (/x)\r\n\r\napp 10%s\r\n\t3000 g (/x)\r\n\r\n' "$p" "$p" >small.txt
check 'lines that end as in DOS' 0 'app;g 1000|app;m;f 1000'
faults() {
	printf 'app 10 [001] 1.000001: 1000 page-faults:        7fff1234 \n\t1000 f (/x)\n\n'
	printf 'app 10 [001] 1.000002: 20 cpu-clock:            0 \n\t1000 g (/x)\n\n'
}
faults >small.txt
check '-F +addr' 0 'app;f 1000'
faults >small.txt
check '-F +addr, another event' 0 'app;g 20' -e cpu-clock
printf 'app 10 1.0: 5 page-faults:     7fff12345678     7f0000001000 f (/x)\n' >small.txt
check '-F +addr without call chains' 0 'app;f 5'
points() {
	printf 'app 10 [001] 1.0: %ssched:sched_switch: prev_comm=a 5 1.0: x: ==> next_comm=c\n\t1000 f (/x)\n\n' "$1"
	printf 'app 10 [001] 1.1: %ssched:sched_wakeup: comm=b target_cpu=001\n\t1000 f (/x)\n\n' "$1"
	printf 'app 10 [001] 1.2: 1 cpu-clock: \n\t1000 g (/x)\n\n'
}
for period in '' '7 '; do
	points "$period" >small.txt
	check "tracepoints, period '$period'" 0 'app;f 2'
	points "$period" >small.txt
	check 'one of them' 0 'app;f 1' -e sched:sched_switch
	run "$BIN/pfold" -e sched:sched_switch small.txt
	like "$OUT" '^# event: sched:sched_switch, unit: samples, samples: 1,' 'is named'
done
lost() {
	printf 'app 10 [001] 1.0: PERF_RECORD_MMAP2 10/10: [0x1(0x1) @ 0 00:00 0 0]: r-xp /x\n'
	printf 'app 10/11 [001] 1.000001: PERF_RECORD_LOST lost 500\napp 10/11 [001] 1.0: 1000 cycles: \n\t1000 f (/x)\n\n'
}
lost >small.txt
check 'records that are no samples' 0 'app;f 1000'
like "$ERR" 'events lost by the recorder: 500$' 'what is lost is reported'
lost >small.txt
check '--strict' 1 'app;f 1000' --strict
printf 'a 5 1.0: \n\t1 f (/x)\n\na 5 1.1: \n\t1 f (/x)\n\n' >small.txt
check 'neither event nor period' 1 'a;f 2'
like "$ERR" 'does not have fields of the recording: event, period \(perf script -F \+event,\+period\); ' 'both are named'
printf 'a 5 1.0: cycles: \n\t1 f (/x)\n\n' >small.txt
check '--count needs no period' 0 'a;f 1' -c
printf 'a 5 1.0: 9 cycles: \n\t1 f (/x)\n\n' >small.txt
check '--pid needs process ids' 1 'a-?;f 9' -p
printf 'a 5 1.0: 9 cycles: \na 5 1.1: 9 cycles: \n' >small.txt
check 'no address' 1 'a 18'

# --- every field set, of recordings ---
small=$ROOT/t/data/small.data
mkdir none # what has no files has only what the recording tells
gzip -dc "$ROOT/t/data/chain.data.gz" >chain.data
# What has all that is asked for is equal: field sets that have neither period nor event are not.
equal='comm,tid,time,event,period,ip,sym,dso comm,pid,tid,cpu,time,event,period,ip,sym,dso,trace
	comm,pid,event,period,ip,sym,dso comm,time,event,period,ip,sym,dso comm,event,period,ip,sym,dso
	comm,cpu,event,period,ip,sym,dso +pid +symoff'
told='comm,tid,time,event,ip,sym,dso comm,tid,time,period,ip,sym,dso tid,time,event,period,ip,sym,dso
	comm,tid,time,event,period,ip,dso comm,tid,time,event,period,ip,sym comm,ip,sym,dso ip,sym,dso ip,sym ip
	comm,tid,time,event,period'

# fields NAME PRINTER: the text that PRINTER makes with "$@", folded, and the recording
fields() {
	for set in $equal; do
		set -- "$1" "$2" -F "$set"
		eval "$2" >text 2>/dev/null || :
		if [ ! -s text ]; then
			skip 2 "perf does not print -F $set of this recording"
			continue
		fi
		run "$BIN/pfold" --no-header -e "$event" text
		same "$OUT" want "$1 -F $set: equal"
		is "$status" 0 'and done'
	done
	for set in $told; do
		set -- "$1" "$2" -F "$set"
		eval "$2" >text 2>/dev/null || :
		case $set in
		*event*) run "$BIN/pfold" --no-header -e "$event" text ;;
		*) run "$BIN/pfold" --no-header text ;;
		esac
		t_is="$status $(grep -c 'this text does not have' "$ERR")"
		[ "$t_is" = '0 0' ] && cmp -s "$OUT" want && t_is='1 1'
		is "$t_is" '1 1' "$1 -F $set: told what is missing, or equal"
	done
}

for name in small.data chain.data demo.data; do
	file=$ROOT/t/data/$name event=cpu-clock
	[ $name != chain.data ] || file=$name event=cpu-clock:u
	"$BIN/pdecode" "$file" 2>/dev/null | "$BIN/psym" --symfs none 2>/dev/null >sym.ps
	"$BIN/pfold" --no-header --no-marks -e "$event" sym.ps >want 2>/dev/null
	[ -s want ] || bail "nothing is folded of $name"
	# shellcheck disable=SC2016
	fields "psym -t of $name" '"$BIN/psym" --symfs none -t "$3" "$4" sym.ps'
done

if ! have perf || ! perf script -f -i "$small" --symfs none >/dev/null 2>&1; then
	skip 28 'perf cannot read the recording'
	done_testing
	exit
fi
event=cpu-clock
"$BIN/pdecode" "$small" 2>/dev/null | "$BIN/psym" --like-perf --symfs none 2>/dev/null |
	"$BIN/pfold" --no-header --no-marks -e "$event" >want 2>/dev/null
# shellcheck disable=SC2016
fields perf 'perf script -f -i "$small" --symfs none "$3" "$4"'
for option in --ns --reltime --header --show-lost-events -v; do
	perf script -f -i "$small" --symfs none $option >text 2>/dev/null
	run "$BIN/pfold" --no-header -e "$event" text
	same "$OUT" want "perf $option: equal"
done
done_testing
