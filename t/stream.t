#!/bin/sh
# The event stream between the filters: conservation of samples, damage that is handed on, filters
# that die, streams in a row, provenance, the forms of output.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data
samples=81 # by perf script: t/data/README.md

# How many samples, and what END says, in the JSON on stdin: "samples status" of each stream.
account() {
	awk '
	/^\{"type":"sample"/ { n++ }
	/^\{"type":"end"/ {
		match($0, /"samples":[0-9]+/)
		said = substr($0, RSTART + 10, RLENGTH - 10)
		match($0, /"status":[0-9]+/)
		print n + 0, said, substr($0, RSTART + 9, RLENGTH - 9)
		n = 0
	}' "$@"
}

# The sum of the counts of folded text.
total() {
	awk '{ n += $NF } END { print n + 0 }' "$@"
}

# With the arguments of the pipes below: they are in the stream.
run "$BIN/pdecode" "$small"
is "$status" 0 'pdecode'
cp "$OUT" a.pstream
size=$(wc -c <a.pstream)
most=$((size - 500)) # within the samples

# ---- conservation: samples in = samples out, at each filter ----

"$BIN/pdecode" -j "$small" >a.json
is "$(account a.json)" "$samples $samples 0" 'pdecode: samples, and what END says'
run_pipe "'$BIN/pdecode' '$small'" "'$BIN/psym' -j"
is "$statuses" '0 0' 'pdecode | psym'
is "$(account "$OUT")" "$samples $samples 0" 'psym: samples, and what END says'
run_pipe "'$BIN/psym' a.pstream" "'$BIN/psym'" "'$BIN/psym' -j"
is "$(account "$OUT")" "$samples $samples 0" 'psym | psym | psym'
run_pipe "'$BIN/pdecode' '$small'" "'$BIN/psym'" "'$BIN/pfold' --count --event cpu-clock"
is "$statuses" '0 0 0' 'pdecode | psym | pfold'
is "$(total "$OUT")" 77 'pfold: samples of the event'
"$BIN/pfold" --count --event cpu-clock a.pstream >direct 2>/dev/null
is "$(total direct)" 77 'pfold: the same without psym'

# ---- a filter that is cut off, or dies ----

run_pipe "'$BIN/pdecode' '$small'" "head -c 0" "'$BIN/psym'" "'$BIN/pfold'"
is "${statuses#* }" '0 2 2' 'nothing of a stream: psym and pfold exit with 2'
for n in 10 24 100 "$most" $((size - 1)); do
	run_pipe "'$BIN/pdecode' '$small'" "head -c $n" "'$BIN/psym'" "'$BIN/pfold'"
	is "${statuses#* }" '0 1 1' "$n bytes of a stream: psym and pfold exit with 1"
	like "$ERR.3" '^psym: .*(no input|END record|header of the stream is cut off)' \
		'and psym says why'
done
head -c $most a.pstream >cut.pstream
run_pipe "cat cut.pstream" "'$BIN/psym' -j"
is "$(account "$OUT" | cut -d ' ' -f 3)" 1 'the END of psym hands the damage on'
out=$(account "$OUT" | cut -d ' ' -f 1)
if [ "$out" -gt 0 ] && [ "$out" -lt "$samples" ]; then
	pass "$out of $samples samples came through"
else
	fail "$out of $samples samples came through"
fi

# psym waits in the middle of its input, and is killed.
mkfifo in
: >passed
sh -c 'echo $$ >pid; exec "$BIN/psym" in' 2>psym.err | tee passed | "$BIN/pfold" >folded 2>pfold.err &
pipe=$!
exec 3>in
head -c $((size - 48)) a.pstream >&3 # all but END
# It writes what it has before it waits.
await sh -c '[ "$(wc -c <passed)" -gt "$1" ]' - $((size - 48))
kill -9 "$(cat pid)"
wait "$pipe"
status=$?
exec 3>&-
is "$status" 1 'psym is killed: pfold exits with 1'
like pfold.err '^pfold: .*without its END record' 'says that something died'
ok 'and folds what came' test "$(total folded)" -gt 0

# ---- damage of the recording ----

head -c 20000 "$small" >cut.data
run_pipe "'$BIN/pdecode' cut.data" "'$BIN/psym' -j"
is "$statuses" '1 1' 'a recording that is cut off: pdecode and psym exit with 1'
is "$(account "$OUT" | cut -d ' ' -f 3)" 1 'END says so'
run_pipe "'$BIN/pdecode' cut.data" "'$BIN/psym'" "'$BIN/pfold'"
is "$statuses" '1 1 1' 'and pfold, too'
like "$ERR.3" '^pfold: ' 'which gives a reason'

# ---- streams in a row ----

cat a.pstream a.pstream >aa.pstream
for input in aa.pstream 'a.pstream a.pstream'; do
	# shellcheck disable=SC2086
	run "$BIN/psym" -j $input
	is "$status" 0 "psym $input"
	is "$(account "$OUT" | tr '\n' ,)" "$samples $samples 0,$samples $samples 0," \
		'gives two streams'
	# shellcheck disable=SC2086
	run "$BIN/pfold" --no-header $input
	"$BIN/pfold" --no-header a.pstream 2>/dev/null | awk '{ n = $NF; sub(/ [0-9]+$/, ""); print $0, 2 * n }' |
		sort >want
	sort "$OUT" >got
	same got want "pfold $input: every count twice"
done
cat a.pstream cut.pstream >broken.pstream
run "$BIN/psym" -j broken.pstream
is "$status" 1 'the second of two streams is cut off'
is "$(account "$OUT" | cut -d ' ' -f 3 | tr '\n' ,)" '0,1,' 'which is reported of the second only'
# Without its last record, END: 48 bytes.
head -c $((size - 48)) a.pstream >noend.pstream
cat noend.pstream a.pstream >noend2.pstream
run "$BIN/psym" -j noend2.pstream
is "$status" 1 'the first of two streams has no END'
is "$(account "$OUT" | tr '\n' ,)" "$samples $samples 1,$samples $samples 1," \
	'and yet both are read'
{
	cat a.pstream
	echo trash
} >trash.pstream
run_pipe "'$BIN/psym' trash.pstream" "'$BIN/pfold'"
is "$statuses" '1 1' 'bytes after END are damage'
like "$ERR.1" 'END record is not an event stream' 'which is reported'

# ---- packed streams: the same, in fewer bytes ----

# Of JSON all but what tells of the command lines, and of the number of records.
essence() {
	sed -e '/^{"type":"provenance"/d' -e '/^{"type":"end"/s/"records":[0-9]*,//'
}
for file in small.data deep.data sched.data.gz sched-stacks.data.gz futex.data.gz stacks.dat sched.dat; do
	"$BIN/pdecode" --plain "$ROOT/t/data/$file" >plain.pstream 2>/dev/null
	"$BIN/pdecode" "$ROOT/t/data/$file" >packed.pstream 2>/dev/null
	ok "$file: packed is smaller" \
		test "$(wc -c <packed.pstream)" -lt "$(wc -c <plain.pstream)"
	"$BIN/psym" -j plain.pstream 2>/dev/null | essence >want
	"$BIN/psym" -j packed.pstream 2>/dev/null | essence >got
	same got want "$file: psym makes the same of it"
	"$BIN/psym" packed.pstream 2>/dev/null | "$BIN/pfilter" 'cpu > 0' |
		"$BIN/pfilter" 'pid > 0' | "$BIN/pfilter" -j 'pid > 0' | essence >got
	"$BIN/psym" --plain plain.pstream 2>/dev/null | "$BIN/pfilter" --plain 'cpu > 0' |
		"$BIN/pfilter" -j 'pid > 0' | essence >want
	same got want "$file: and pfilter"
	"$BIN/pfilter" -d 'time & 1024' packed.pstream | "$BIN/pfilter" -j | essence >got
	"$BIN/pfilter" --plain -d 'time & 1024' plain.pstream | "$BIN/pfilter" -j | essence >want
	same got want "$file: some left out"
	"$BIN/psym" packed.pstream 2>/dev/null | "$BIN/pfold" --no-header 2>/dev/null >got
	"$BIN/psym" --plain plain.pstream 2>/dev/null | "$BIN/pfold" --no-header 2>/dev/null >want
	same got want "$file: and pfold"
done
# Samples with payloads are not packed for a pipe: it moves them faster.
"$BIN/pdecode" "$ROOT/t/data/sched-stacks.data.gz" 2>/dev/null | cat >piped.pstream
"$BIN/pdecode" "$ROOT/t/data/sched-stacks.data.gz" 2>/dev/null >packed.pstream
ok 'a file is smaller than what goes through a pipe' \
	test "$(wc -c <packed.pstream)" -lt "$(wc -c <piped.pstream)"
for file in packed piped; do
	"$BIN/psym" $file.pstream 2>/dev/null | "$BIN/pfilter" 'cpu == 0' | cat >$file.psym
	"$BIN/pfilter" -j $file.psym | essence >$file.json
	"$BIN/psym" $file.pstream 2>/dev/null >$file.psym
	"$BIN/pfilter" -j 'cpu == 0' $file.psym | essence >$file.json2
done
same piped.json packed.json 'and the same'
same piped.json2 packed.json2 'also after filters that write files'
same piped.json piped.json2 'and pipes'
isnt "$(grep -c '"type":"sample"' piped.json)" 0 'there are samples'
"$BIN/pdecode" --plain "$small" >plain.pstream
"$BIN/pdecode" "$small" >packed.pstream
cat packed.pstream a.pstream packed.pstream >mixed.pstream
run "$BIN/psym" -j mixed.pstream
is "$status $(account "$OUT" | tr '\n' ,)" \
	"0 $samples $samples 0,$samples $samples 0,$samples $samples 0," 'packed and plain in a row'
size=$(wc -c <packed.pstream)
head -c $((size - 100)) packed.pstream >cut.pstream
run "$BIN/psym" -j cut.pstream
is "$status $(account "$OUT" | cut -d ' ' -f 3)" '1 1' 'a packed stream that is cut off'
# A reader of version 1 looks at these two bytes, and so does this one.
{
	head -c 12 packed.pstream
	printf '\377\377'
	tail -c +15 packed.pstream
} >later.pstream
run "$BIN/pfold" later.pstream
is "$status" 2 'a later version is refused'
like "$ERR" 'stream of version 65535; this program reads up to 2' 'which is reported'
mkfifo fed
"$BIN/psym" fed 2>/dev/null | "$BIN/psym" -j >fed.json 2>/dev/null &
exec 3>fed
head -c $((size - 48)) a.pstream >&3 # all but END
await grep -q '"type":"sample"' fed.json
ok 'what was held back is handed on when the input pauses' grep -q '"type":"sample"' fed.json
exec 3>&-
wait

# ---- provenance: one record of each filter, in the order of the pipe ----

run_pipe "'$BIN/pdecode' '$small'" "'$BIN/psym' -v" "'$BIN/psym' --stats -j"
grep '^{"type":"provenance"' "$OUT" | sed 's/"version":"[^"]*",//' >got
cat >want <<END
{"type":"provenance","name":"pdecode","args":["$small"]}
{"type":"provenance","name":"psym","args":["-v"]}
{"type":"provenance","name":"psym","args":["--stats","-j"]}
END
same got want 'each filter left its provenance, the first one first'
head -n 3 "$OUT" | grep -c '"provenance"' >got
is "$(cat got)" 3 'before all else'

# ---- forms of output ----

run "$BIN/pdecode" "$small"
"$BIN/pdecode" -j "$OUT" >got.json
is "$(account got.json)" "$samples $samples 0" 'binary is what a file gets'
run "$BIN/pdecode" -t "$small"
like "$OUT" '^busy +[0-9]+ \[000\] .* sched:sched_process_fork: comm=busy pid=' 'text'
cp "$OUT" text
if have jq; then
	is "$(jq -r 'select(.type == "sample") | .event' a.json | sort | uniq -c | tr -s ' ' |
		tr '\n' ,)" \
		' 77 cpu-clock, 1 sched:sched_process_exec, 2 sched:sched_process_exit, 1 sched:sched_process_fork,' \
		'JSON, as jq reads it'
else
	skip 1 'jq is not installed'
fi
if have script; then
	mkfifo quiet && exec 4<>quiet # input that does not end: script would send ^D
	script -qec "'$BIN/pdecode' '$small'" /dev/null <&4 | tr -d '\r' >got
	same got text 'text on a terminal'
	script -qec "'$BIN/pdecode' -j '$small'" /dev/null <&4 | tr -d '\r' >got
	is "$(account got)" "$samples $samples 0" 'JSON when it is asked for'
	script -qec "stty raw; '$BIN/pdecode' -b '$small'" /dev/null <&4 >got
	is "$(head -c 8 got)" PPSTREAM 'binary when it is asked for'
else
	skip 3 'script is not installed'
fi

# ---- the status that END carries ----

printf 'this is no recording\n' >garbage
for filter in psym 'psym --missing' 'pfilter 1' pfold phist plat pdecode 'pdecode -t' 'pdecode -j'; do
	prog=${filter%% *}
	run_pipe "'$BIN/pdecode' garbage" "'$BIN/'$filter"
	is "$statuses" '2 2' "pdecode cannot read: so does $filter exit"
	like "$ERR.2" "^$prog: .stdin.: no data arrived: a filter before this one could not do its work$" \
		'and gives the reason'
done
run_pipe "'$BIN/pdecode' garbage" "'$BIN/psym'" "'$BIN/pfilter' 1" "'$BIN/pfold'"
is "$statuses" '2 2 2 2' 'through all of a pipe'
"$BIN/pdecode" garbage >failed.pstream 2>/dev/null
cat failed.pstream a.pstream >some.pstream
run "$BIN/pfold" some.pstream
is "$status" 1 'if something came, it is partial'
for filter in psym 'pfilter 1' 'pfold' phist 'phist -f pid' 'plat --kind oncpu' pdecode 'pdecode -t' 'pdecode -j'; do
	prog=${filter%% *}
	# shellcheck disable=SC2086
	run "$BIN/"$filter some.pstream
	is "$status" 1 "a stream whose END says 1: $filter exits with 1"
	is "$(grep -c "^$prog: some.pstream: the result is partial: a filter before this one says why$" \
		"$ERR")" 1 'and says so once'
done
if [ -w /dev/full ]; then
	for filter in 'pdecode' 'pdecode -t' psym pfold phist; do
		# shellcheck disable=SC2086
		"$BIN/"$filter a.pstream >/dev/full 2>err
		is $? 2 "$filter: a full disk"
		like err "^${filter%% *}: cannot write.*: No space left on device$" "in the system's words"
	done
else
	skip 10 'no /dev/full'
fi

# ---- what a terminal would obey ----

# The program's name becomes U+009B (CSI) or U+202E (text from right to left), and what is left.
csi=$(printf '\302\233')
rlo=$(printf '\342\200\256')
for name in "${csi}xy" "${rlo}x"; do
	sed "s/busy/$name/g" "$small" >controls.data
	for filter in 'pdecode -t' 'pdecode -j' 'psym -t' 'pfilter -t 1' 'pfold --event=cpu-clock' \
		'phist --by comm' 'phist --tsv --by comm' 'phist --json --by comm' 'plat --threads' \
		'psvg' 'pdecode --stats -t' 'psym --missing'; do
		run_pipe "'$BIN/pdecode' -b controls.data" "'$BIN/'$filter"
		cat "$ERR" >>"$OUT"
		is "$(grep -c "$csi\|$rlo" "$OUT")" 0 "$filter: no control of the name comes out"
	done
done

# ---- what is no stream ----

run "$BIN/psym" "$small"
is "$status" 2 'a recording is not what psym reads'
like "$ERR" 'put pdecode before' 'and it says what to do'
{
	head -c 12 a.pstream
	printf '\377\377'
	tail -c +15 a.pstream
} >later.pstream
run "$BIN/psym" later.pstream
is "$status" 2 'a stream of a later version'
like "$ERR" 'stream of version 65535; this program reads up to' 'is refused, with the reason'
# Text in the place of a stream: what it is, and what to do with it. The words are those of the first line.
printf '# captured on: x\n#\nbash  1234 [001]  100.123456:   1000 cycles:u: \n\t55 f (/bin/bash)\n' >perf.txt
printf 'my prog  1234/1235  100.123456: sched:sched_switch: prev_comm=a-1 x\n' >perf-args.txt
printf 'a;b c;d 12\na 3\n' >folded.txt
printf '{"type":"sample"}\n' >lines.json
printf 'hello, world\n' >plain.txt
printf 'cpus=2\n            bash-1234  [001]   100.123456: sched_switch: x\n' >report.txt
while IFS='|' read -r file words; do
	for filter in psym 'pfilter -e pid' 'phist -b pid' plat pstrace; do
		# shellcheck disable=SC2086
		run "$BIN/"$filter "$file"
		is "$status" 2 "${filter%% *} of $file"
		like "$ERR" "is not an event stream but $words" 'is told what it is'
	done
done <<'END'
perf.txt|perf script text: .*pdecode
perf-args.txt|perf script text: .*pdecode
folded.txt|folded text: psvg draws it
lines.json|JSON: leave out -j
plain.txt|text: recorded data comes from pdecode
END
for file in perf.txt folded.txt plain.txt; do
	run "$BIN/pdecode" "$file"
	is "$status" 2 "pdecode of $file"
	like "$ERR" 'is neither .*, but (a )?[a-z -]*text' 'is told what it is'
done
# Profiles of others, which pconv reads: text with numbers at the end of lines is no folded text for that.
printf '# callgrind format\nversion: 1\nevents: Ir\nfn=main\n1 5\ncalls=1 2\n2 7\n' >profile.callgrind
printf 'version: 1\ncreator: callgrind-3.11.0\nevents: Ir\nfn=main\n1 5\n' >profile.old-callgrind
printf '{\n "$schema": "x",\n "weights": [\n  1\n ]\n}\n' >profile.speedscope
printf '[\n{"ph":"X","ts":1}\n]\n' >profile.chrome
printf '\n\004\010\001\020\002' >profile.pprof
printf '# To display the perf.data header info, please use --header options.\n#\n  9.07%%  python  [.] f 12\n' >profile.report
while IFS='|' read -r file words; do
	for filter in pdecode psym plat pfold psvg preport "pdiff $file"; do
		# shellcheck disable=SC2086
		run "$BIN/"$filter "$file"
		is "$status" 2 "${filter%% *} of $file"
		like "$ERR" "(is|but) $words" 'is told what it is'
	done
done <<'END'
profile.callgrind|a callgrind profile: pconv --to folded
profile.old-callgrind|a callgrind profile: pconv --to folded
profile.speedscope|JSON: .*pconv --to folded
profile.chrome|JSON: .*pconv --to folded
profile.pprof|a pprof profile: pconv --to folded
profile.report|the text of perf report: .*recording
END
printf '[{unknown}];f 3\n{closure} 4\n' >names.folded
run "$BIN/pfold" names.folded
is "$status" 0 'names that begin with brackets'
same "$OUT" names.folded 'are not JSON'
run "$BIN/psym" report.txt
like "$ERR" 'ftrace or trace-cmd report text: put pdecode before' 'text that pdecode reads'

done_testing
