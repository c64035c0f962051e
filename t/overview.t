#!/bin/sh
# The recipe overview: one page, whole in itself, with what the filters print.
. "${0%/*}/lib.sh"
BINDIR=$BIN
PATH=$BIN:$PATH
export BINDIR PATH
data=$ROOT/t/data
overview=$ROOT/share/recipes/overview

# plain FILE: its text without HTML's words for characters.
plain() {
	sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' "$1"
}

run "$overview" "$data/demo.data"
is "$status" 0 'samples'
cp "$OUT" page.html
is "$(head -n 1 page.html)" '<!DOCTYPE html>' 'a page'
is "$(tail -n 1 page.html)" '</body></html>' 'that is whole'
like page.html '^<h1>demo.data</h1>' 'of what'
like page.html '<tr><th>machine</th><td>vm, Linux 6\.18' 'the machine'
like page.html '<tr><th>losses</th><td>none reported' 'how far to trust it'
unlike page.html '(src|href)="(https?:)?//' 'nothing comes from elsewhere'
for id in flame self threads events; do
	like page.html "^<section id=\"$id\">" "section $id"
done
unlike page.html '<section id="(runq|calls|timeline)"' 'none of what is not in it'
# A table is what its pipe prints; the pipe is shown.
plain page.html >page.txt
pdecode "$data/demo.data" 2>/dev/null | phist --by comm,tid --top 20 --wide 2>/dev/null >want
sed -n '/^<section id="threads">/,/^<.*<\/section>/p' page.txt | sed -e 1d -e '$d' -e 's/^<pre>//' -e 's/<\/pre>$//' | sed '$!b; /^$/d' >got
same got want 'the threads are those of their pipe'
ok 'the pipe is shown' grep -q 'pdecode demo.data | psym | pfold | psvg --html' page.txt
# The flame graph inside is psvg's page.
plain page.html | grep -c 'Content-Security-Policy' >count
is "$(cat count)" 1 'the flame graph is a page'

run "$overview" "$data/sched.dat"
is "$status" 0 'scheduler and system calls'
for id in timeline runq offcpu waits calls; do
	like "$OUT" "^<section id=\"$id\">" "section $id"
done
unlike "$OUT" '<section id="flame"' 'no flame graph without samples'
sed -n '/^<section id="runq">/,/<\/section>/p' "$OUT" | sed -n 's/.*base64,\([^"]*\)".*/\1/p' | base64 -d >runq.svg
pdecode "$data/sched.dat" 2>/dev/null | plat --kind runq --heatmap --tsv 2>/dev/null | psvg --title 'Waits for a CPU' >want.svg
same runq.svg want.svg 'the heat map is that of its pipe'

cp "$data/sched-stacks.data.gz" "a <b> & 'c'.data"
run "$overview" "a <b> & 'c'.data"
like "$OUT" "^<h1>a &lt;b&gt; &amp; 'c'.data</h1>" 'a name with characters of HTML'
run "$overview" - <"$data/demo.data"
is "$status" 0 'standard input'
echo garbage >garbage
run "$overview" garbage
is "$status" 2 'no recording'
head -c 8000 "$data/small.data" >cut.data
run "$overview" cut.data
is "$status" 1 'a recording that is cut off'
like "$OUT" '<tr><th>losses</th><td>.*(damaged|cut off)' 'which the page tells, too' || grep losses "$OUT"

# What runs now: the samples come at a frequency, every switch and call is recorded.
if "$BIN/pcap-perf" -q -a -e sched:sched_switch,raw_syscalls:sys_enter -o try.data -- true 2>/dev/null; then
	run "$overview" -d 1
	is "$status" 0 'live'
	unlike "$ERR" 'not every' 'each event of the scheduler'
	for id in flame self timeline runq calls; do
		like "$OUT" "^<section id=\"$id\">" "section $id"
	done
	plain "$OUT" >page.txt
	like page.txt "preport -e 'cpu-clock' --by" 'the functions are those of the flame graph'
else
	skip 8 'recording the whole machine is not allowed here'
fi
done_testing
