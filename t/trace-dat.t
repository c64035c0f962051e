#!/bin/sh
# trace.dat as input of pdecode: made recordings of every byte order and word size, recorded ones with
# the text that trace-cmd report printed, damage, and what the stream carries.
. "${0%/*}/lib.sh"
need perl

make_dat() {
	perl "$ROOT/t/trace-make" "$@"
}

# What a made recording has to print: from the content in t/trace-make, in the form of trace-cmd. In its stream a
# thread gets another name before its events are printed.
expected() {
	cat <<'T'
cpus=2
                 eleven-11    [000]     5.000000: thing:                big=-5 name=first text=a text
                 <idle>-0     [001]     5.000001: thing:                big=9 name=idle text=z
other:           twelve-12    [000]     5.000002: thing:                big=11 name=sixth text=other buffer
                 eleven-11    [000]     5.000002: function:             first_function
                 eleven-11    [000]     5.000003: thing:                big=1099511627776 name=second text=XXX
                 eleven-11    [000]     5.000003: kernel_stack:         <stack trace >
=> second_function (ADDR220)
=> third_function (ADDR310)
       CPU:0 [42 EVENTS DROPPED]
          twelve-12    [000]     5.001000: thing:                big=7 name=third text=
                 twelve-12    [000]     5.301001: thing:                big=8 name=fourth text=y
                  <...>-13    [001]     5.600000: thing:                big=10 name=fifth text=late
       CPU:1 [EVENTS DROPPED]
           <...>-13    [001]     5.700000: function:             first_function
T
}

# Addresses are those of a machine of 32 or 64 bits.
normal() {
	sed -e 's/x\{150\}/XXX/' -e 's/(ffffffff81000\([0-9]*\))/(ADDR\1)/' \
		-e 's/(c1000\([0-9]*\))/(ADDR\1)/' "$1"
}

# Functions are named by a plugin of libtraceevent, without which their print format is used.
plugins=$(find /usr/lib -name plugin_function.so 2>/dev/null)
if [ -z "$plugins" ]; then
	skip_all 'the plugins of libtraceevent are not installed'
fi

for v in 6 7 stream; do
	for big in 0 1; do
		for long in 4 8; do
			make_dat version=$v big=$big long=$long >x.dat
			run "$BIN/pdecode" -t x.dat
			normal "$OUT" >got
			expected >want
			[ $v != stream ] || sed -i 's/ twelve-12/renamed-12/' want
			is "$status" 0 "version $v, big endian $big, long $long: decodes"
			same got want "version $v, big endian $big, long $long: prints as trace-cmd"
		done
	done
done
expected >want
for page in 512 65536; do
	make_dat page=$page >x.dat
	run "$BIN/pdecode" -t x.dat
	normal "$OUT" >got
	same got want "pages of $page bytes"
done
if perl -MCompress::Zlib -e 1 2>/dev/null; then
	make_dat packing=zlib >x.dat
	run "$BIN/pdecode" -t x.dat
	normal "$OUT" >got
	same got want 'zlib, each page a chunk'
else
	skip 1 'Compress::Zlib is not installed'
fi

# ---- the stream form as a file, and what latency tracers print ----

for args in '' "latency=$ROOT/t/data/ftrace-wakeup.txt"; do
	# shellcheck disable=SC2086 # words
	make_dat version=stream $args >x.st
	run "$BIN/pdecode" -t x.st
	cp "$OUT" want.st
	run "$BIN/pconv" -o made.dat x.st
	if grep -q 'another byte order or word size' "$ERR"; then
		skip 6 'the stream form is converted on a machine of its kind only'
		continue
	fi
	is "$status" 0 "the stream form becomes a trace.dat $args"
	run "$BIN/pdecode" -t made.dat
	same "$OUT" want.st 'which prints the same'
	is "$(find . -name 'made.dat.*')" '' 'and nothing else is left'
	if have trace-cmd; then
		trace-cmd report -i made.dat 2>/dev/null | sed '/^version/d' >theirs
		# Beside a latency tracer it has no events.
		[ -z "$args" ] || sed -i '/^other:/d' want.st
		same theirs want.st 'and so does trace-cmd report'
	else
		skip 1 'trace-cmd is not installed'
	fi
	head -c -20 x.st >cut.st
	run_pipe 'cat cut.st' '"$BIN/pconv" --to trace.dat -o cut.dat'
	is "$statuses" '0 1' 'of a recording that was cut off'
	like "$ERR" 'the recorder ended before the recording did' 'which is reported'
done
run "$BIN/pconv" -o no.dat "$ROOT/t/data/sched.dat"
is "$status" 2 'a trace.dat is none'
like "$ERR" 'only the stream form' 'and is told so'
make_dat version=stream big=1 >x.st
run "$BIN/pconv" -o no.dat x.st
like "$ERR" 'another byte order' 'nor one of another byte order'
for args in '-o no.dat x.st' '--to trace.dat' '--stats -o no.dat'; do
	# shellcheck disable=SC2086 # words
	run "$BIN/pconv" $args x.st
	is "$status" 64 "$args: one at a time, into a file, without what has no effect"
done

text=$ROOT/t/data/ftrace-wakeup.txt
{ echo cpus=2 && cat "$text" && echo; } >want.text
for args in version=6 version=7 'version=7 packing=zlib' 'version=7 big=1'; do
	# shellcheck disable=SC2086 # words
	make_dat latency="$text" $args >x.dat 2>/dev/null || {
		skip 2 'Compress::Zlib is not installed'
		continue
	}
	run "$BIN/pdecode" -t x.dat
	# Of version 6 there is no further buffer.
	grep -v '^other:' "$OUT" >got
	same got want.text "the text of a latency tracer, $args"
	run "$BIN/pdecode" -j x.dat
	is "$(grep -c '"event":"ftrace:function"' "$OUT")" "$(grep -c ' <-' "$text")" 'is events, too'
done

# ---- a pipe ----

make_dat >x.dat
"$BIN/pdecode" -t x.dat >want.file
run_pipe 'cat x.dat' '"$BIN/pdecode" -t'
is "$statuses" '0 0' 'a pipe decodes'
same "$OUT" want.file 'and gives what a file gives'
gzip -k x.dat
run "$BIN/pdecode" -t x.dat.gz
same "$OUT" want.file 'and so does a packed file'
"$BIN/pdecode" x.dat >x.ps
run "$BIN/pdecode" -t x.ps
same "$OUT" want.file 'and the event stream'

# ---- the stream ----

run "$BIN/pdecode" -j x.dat
like "$OUT" '"type":"lost".*"cpu":0.*"count":42,"flags":0,"kind":3,"buffer":""' 'lost events with their number'
like "$OUT" '"type":"lost".*"cpu":1.*"count":0,"flags":1,"kind":3' 'lost events without'
like "$OUT" '"event":"ftrace:function".*"ip":"0xffffffff81000110","chain":\["0xffffffffffffff80","0xffffffff81000110","0xffffffff81000220"\]' \
	'a function has a chain of two'
like "$OUT" '"event":"made:thing","time":5000003000,.*"chain":\["0xffffffffffffff80","0xffffffff81000220","0xffffffff81000310"\]' \
	'a kernel stack is the chain of the event before it'
unlike "$OUT" 'kernel_stack.*"chain"' 'and not its own'
like "$OUT" '"type":"event".*"name":"made:thing".*"buffer":"other"' 'an event of a further buffer'
run_pipe '"$BIN/pdecode" x.dat' '"$BIN/pfold" 2>/dev/null'
is "$(grep -c kernel_stack "$OUT")" 0 'pfold does not count a stack twice'
is "$(awk '{ n += $NF } END { print n }' "$OUT")" 9 'and counts every other sample'
run "$BIN/pdecode" --strict -s x.dat
is "$status" 1 'losses are exit 1 with --strict'
like "$ERR" '^pdecode: 10 samples, 43 lost by the recorder, 0 missing' 'and counted'

for args in '' 'version=6 big=1 long=4'; do
	# shellcheck disable=SC2086 # words
	make_dat ustack=1 $args >x.dat
	run "$BIN/pdecode" -j x.dat
	like "$OUT" '"event":"made:thing","time":5000003000,"cpu":0,"pid":7,"tid":11,.*"chain":\["0xffffffffffffff80","0x[f]*8*1*c*1*000220","0x[f]*[8c]1000310","0xfffffffffffffe00","0x400100","0x400200"\]' \
		"a user stack is the end of the call chain, and tells the process $args"
	unlike "$OUT" 'user_stack.*"chain"' 'and has none of its own'
	is "$(grep -c '"event":"ftrace:kernel_stack".*"chain"' "$OUT")" 1 'a stack of no event has its own'
	run "$BIN/pdecode" -j --separate-stacks x.dat
	is "$(grep -c '"event":"ftrace:kernel_stack".*"chain"' "$OUT") $(grep -c '"event":"ftrace:user_stack".*"chain":."0xfffffffffffffe00","0x400100"' "$OUT")" \
		'2 1' '--separate-stacks: each has its own'
	unlike "$OUT" '"event":"made:thing".*"chain"' 'and events have none'
	run "$BIN/pdecode" -t x.dat
	like "$OUT" '^=> 7fffffff$' 'what lies above the data of a CPU is none of its symbols'
done
run_pipe '"$BIN/pdecode" x.dat' '"$BIN/pfold" 2>/dev/null'
is "$(awk '{ n += $NF } END { print n }' "$OUT")" 10 'pfold counts the stack of no event, and not the others'
run_pipe '"$BIN/pdecode" --separate-stacks x.dat' '"$BIN/pfold" 2>/dev/null'
is "$(awk '{ n += $NF } END { print n }' "$OUT")" 12 'each, when they are separate'

# ---- times ----

make_dat clock=counter >x.dat
run "$BIN/pdecode" -t x.dat
like "$OUT" '^ +eleven-11    \[000\]  5000000000: thing:' 'a clock that does not count ns is printed as it is'

# ---- options of the text ----

make_dat >x.dat
# column LINE OPTION...: that line of the text.
column() {
	line=$1
	shift
	"$BIN/pdecode" -t "$@" x.dat 2>/dev/null | sed -n "${line}p"
}
is "$(column 2 -l)" '         eleven-11      0.....     5.000000: thing:                big=-5 name=first text=a text' \
	'-l: short, with the column of interrupts'
is "$(column 3 --ns)" '                 <idle>-0     [001]     5.000001000: thing:                big=9 name=idle text=z' \
	'--ns: nine decimals'
is "$(column 4 --ts-diff)" 'other:           twelve-12    [000]     5.000002: (+1)     thing:                big=11 name=sixth text=other buffer' \
	'--ts-diff: the time since the line before'
is "$(column 4 --ts-diff --ns | sed 's/thing.*//')" 'other:           twelve-12    [000]     5.000001500: (+500)   ' \
	'with --ns in ns'
is "$(column 2 -R)" '                 eleven-11    [000]     5.000000: thing:                 big=-5 small=ARRAY[01, 00, 02, 00] name=first text=a text' \
	'-R: fields'
make_dat version=6 big=1 long=4 >other.dat
is "$("$BIN/pdecode" -t -R other.dat 2>/dev/null | sed -n 's/.*big=-5 small=\(.*\) name.*/\1/p')" 'ARRAY[00, 01, 00, 02]' \
	'-R: the bytes of an array in the order in which they were recorded'
is "$(column 2 -l -R | cut -c 1-40)" '         eleven-11      0-0x0     5.0000' '-l -R: the flags as a number'
is "$(column 5 -N | sed 's/.*function: *//')" 'ffffffff81000110 <-- ffffffff81000220' '-N: the print format'
is "$(column 5 -O ftrace:parent=1 | sed 's/.*function: *//')" 'first_function <-- second_function' \
	'-O: an option of a plugin'
is "$(column 2 --trace-cmd 3.4)" '                 eleven-11    [000] .....     5.000000: thing:                big=-5 name=first text=a text' \
	'--trace-cmd 3.4: the column is always there'
# The column as trace-cmd 3.1 with libtraceevent 1.7 and 3.4 with 1.9 have it, by common_flags.
while read -r flags old new; do
	make_dat flags="$flags" >x.dat
	is "$(column 2 -l | sed 's/.*-11 *0\(.....\).*/\1/') $(column 2 --trace-cmd 3.4 | sed 's/.*\[000\] \(.....\).*/\1/')" "$old $new" "flags $flags"
done <<-F
	0 ..... .....
	1 d.... d....
	2 X.... .L...
	3 d.... dL...
	4 .N... .N...
	6 XN... .N...
	7 dN... dN...
	24 ..H.. ..H..
	34 X.... .L...
F
make_dat >x.dat
run "$BIN/pdecode" -t --cpu 1 x.dat
is "$(grep -c '\[001\]' "$OUT") $(grep -c '\[000\]' "$OUT")" '3 0' '--cpu: only those of the CPU'
unlike "$OUT" 'CPU:0' 'and its losses'
run "$BIN/pdecode" -j --cpu 3,0-0 x.dat
is "$(grep -c '"type":"sample".*"cpu":0' "$OUT") $(grep -c '"type":"sample".*"cpu":1' "$OUT")" '7 0' 'in JSON, too'
for bad in '--cpu=' '--cpu=1-' '--cpu=3-1' '--cpu=1x' '--cpu=99999' '--trace-cmd=2' '-O=' '-Ofgraph:depth=3'; do
	run "$BIN/pdecode" -t "$bad" x.dat
	is "$status" 64 "$bad is a usage error"
done
if have trace-cmd; then
	mkdir made
	cp x.dat made/
	cp "$ROOT"/t/data/trace-*.dat made/
	make_dat version=6 big=1 long=4 clock_option=1 >made/v6.dat
	for opts in -l '--ns --ts-diff' -N '-O fgraph:tailprint=1 -O fgraph:depth' '-O parent=1'; do
		run "$ROOT/t/oracle/trace-report" -o "--trace-cmd $(trace_cmd_as) $opts" made
		is "$status" 0 "as trace-cmd here prints with $opts"
		[ "$status" = 0 ] || diag_file "$OUT"
	done
	# Not of further buffers, nor of arrays after a record: QUIRKS in perfpipe-formats(7).
	for opts in '-R -l' '--cpu 0'; do
		run "$ROOT/t/oracle/trace-report" -o "--trace-cmd $(trace_cmd_as) $opts" made/trace-tsc2nsec.dat
		is "$status" 0 "as trace-cmd here prints with $opts"
		[ "$status" = 0 ] || diag_file "$OUT"
	done
else
	skip 7 'trace-cmd is not installed'
fi

# ---- what a recording says about itself ----

make_dat page=512 >x.dat
run "$BIN/pdecode" --header x.dat
is "$status" 0 '--header'
for want in 'clock : local' 'byte order : little endian' 'uname : Linux maker 1.2.3 none' 'hostname : maker' \
	'buffer : other' 'version of the file : 7' 'formats : 3' 'data : CPU 1, 1024 bytes at [0-9]*, pages of 512' \
	'data : buffer other, CPU 0, 512 bytes at [0-9]*, pages of 512'; do
	like "$OUT" "^# $want\$" "it has: $want"
done
unlike "$OUT" 'first_function' 'and no symbols'
run "$BIN/pdecode" --dump x.dat
is "$status" 0 '--dump'
like "$OUT" '^		7	\[Version\]$' 'the version'
like "$OUT" '^	\[Section 19 @ [0-9]+: "Unknown", flags 0x0, [0-9]+ bytes\]$' 'sections'
like "$OUT" '^ffffffff81000200 T second_function$' 'tables'
like "$OUT" '^   1 [0-9]+	1024	\[id, data offset and size\]$' 'buffers'
run_pipe 'cat x.dat' '"$BIN/pdecode" --dump'
is "$(sed -n '3,$p' "$OUT" | cksum)" "$("$BIN/pdecode" --dump x.dat | sed -n '3,$p' | cksum)" 'of a pipe: the same'
run_pipe 'cat x.dat' '"$BIN/pdecode" -v -t'
like "$ERR" 'copied' 'that a pipe is copied is reported with -v'
run "$BIN/pdecode" -s x.dat
like "$ERR" 'x.dat: CPU 0: 1024 bytes, 6 samples, 42 lost by the recorder, times 5.000000000 to 5.301001000$' \
	'-s: the account of each CPU'
like "$ERR" 'x.dat: buffer other, CPU 0: 512 bytes, 1 samples' 'and buffer'
make_dat version=6 page=512 >x6.dat
if have trace-cmd; then
	for dat in x.dat x6.dat "$ROOT"/t/data/trace-tsc2nsec.dat; do
		trace-cmd dump --all -i "$dat" >want 2>/dev/null
		run "$BIN/pdecode" --dump "$dat"
		same "$OUT" want "${dat##*/}: as trace-cmd dump --all"
	done
else
	skip 3 'trace-cmd is not installed'
fi
bad=
n=0
step=101
sanitized && step=1009
size=$(wc -c <x6.dat)
while [ "$n" -lt "$size" ]; do
	for view in --header --dump; do
		head -c "$n" x6.dat | "$BIN/pdecode" "$view" >/dev/null 2>&1
		[ $? -le 2 ] || bad="$bad $view-$n"
	done
	n=$((n + step))
done
is "$bad" '' 'of what is cut off: no crash'

# ---- damage ----

make_dat page=512 cut=1 >x.dat
run "$BIN/pdecode" -t x.dat
is "$status" 1 'a page that says too much is damage'
like "$ERR" 'offset [0-9]+: a page of CPU 1 says that it has more data than fits' 'and said'
make_dat >whole.dat
size=$(wc -c <whole.dat)
head -c $((size / 2)) whole.dat >x.dat
run "$BIN/pdecode" x.dat
is "$status" 1 'a file that is cut off gives exit 1'
like "$ERR" 'x.dat: ' 'and is named'
bad=
n=0
while [ "$n" -lt 700 ]; do
	head -c "$n" whole.dat >x.dat
	"$BIN/pdecode" x.dat >/dev/null 2>&1
	case $? in
	1 | 2) ;;
	*) bad="$bad $n" ;;
	esac
	n=$((n + 13))
done
is "$bad" '' 'wherever it is cut, the exit status tells'
printf '\027\010Dtracing9\0\0\010\0\020\0\0' >x.dat
run "$BIN/pdecode" x.dat
is "$status" 2 'another version is refused'
like "$ERR" 'trace.dat of version 9: only 6 and 7 are read' 'and said'

# ---- recordings ----

for dat in "$ROOT"/t/data/trace-*.dat "$ROOT"/t/data/trace-*.dat.gz; do
	name=${dat##*/}
	name=${name%%.*}
	run "$BIN/pdecode" -t "$dat"
	is "$status" 0 "$name decodes"
	gzip -dc "$ROOT/t/data/$name.report.gz" >as-printed
	old_states as-printed >report
	same "$OUT" report "$name prints as trace-cmd report printed it"
	sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\]$/\1/p' report | awk '{ n += $1 } END { print n + 0 }' >want
	sed -n 's/.*: the recorder lost \([0-9]*\) events$/\1/p' "$ERR" | grep . >got || echo 0 >got
	same want got "$name: what was lost is reported once"
done
# The kernel's symbols that a recording has; the options that plugins have.
if have trace-cmd; then
	"$BIN/pdecode" --functions "$ROOT/t/data/sched.dat" 2>/dev/null | awk '{ print $1, $3 }' | sort -u >ours
	trace-cmd report -f -i "$ROOT/t/data/sched.dat" 2>/dev/null | sed '/^cpus=/d; /^version/d' | awk '{ print $1, $2 }' | sort -u >theirs
	same ours theirs 'the functions are those of trace-cmd report -f'
else
	skip 1 'trace-cmd is not installed'
fi
run "$BIN/pdecode" --functions "$ROOT/t/data/small.data"
is "$status" 2 'a recording without symbols'
run "$BIN/pdecode" -t -O nonsense "$ROOT/t/data/sched.dat"
is "$status" 64 'an option that no plugin has'
like "$ERR" 'there are fgraph:tailprint' 'those that there are'

done_testing
