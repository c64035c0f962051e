#!/bin/sh
# No option is taken without effect: what would change nothing in the mode that is asked for is refused, with
# the reason and exit status 64, before anything is read; of a picture, after its kind is known.
. "${0%/*}/lib.sh"

"$BIN/pdecode" "$ROOT/t/data/small.data" >s.ps 2>/dev/null || bail 'the recording cannot be read'
echo 'a;b 1' >s.folded
"$BIN/phist" --tsv --by comm s.ps >s.tsv 2>/dev/null || bail 'no table'
"$BIN/pdecode" "$ROOT/t/data/sched.dat" 2>/dev/null | "$BIN/plat" --timeline >s.tl 2>/dev/null || bail 'no timeline'

# A line each: the option that is refused, what it has to do with (words of the message), the command line.
while IFS='|' read -r option reason line; do
	[ -n "$option" ] || continue
	# shellcheck disable=SC2086 # words of a command line
	set -- $line
	program=$1
	shift
	run "$BIN/$program" "$@"
	is "$status" 64 "$line: refused"
	like "$ERR" "^$program: --$option has no effect (with|without|on) $reason" "$line: and the reason"
	empty "$OUT" "$line: nothing is written"
done <<'EOF'
fields|binary output|pdecode -F comm s.ps
fields|JSON|pdecode -j -F comm s.ps
ns|binary output|pdecode --ns s.ps
hide-call-graph|binary output|psym -G s.ps
trace-cmd|binary output|pdecode --trace-cmd 3.4 s.ps
cpu|binary output|pdecode --cpu 0 s.ps
all|binary output|pfilter --all COMM==x s.ps
plain|text|pdecode -t --plain s.ps
plain|JSON|pdecode -j --plain s.ps
binary|--text|pdecode -b -t s.ps
text|--json|pdecode -t -j s.ps
reltime|--deltatime|pdecode -t --reltime --deltatime s.ps
fields|--header, --dump, --list, --functions and --check|pdecode --header -F comm s.ps
text|--list|pdecode --list -t s.ps
clock|--dump|pdecode --dump --clock realtime s.ps
strict|--header|pdecode --header --strict s.ps
fields|output that replaces the stream|psym --missing -F comm s.ps
json|output that replaces the stream|psym --missing -j s.ps
explain|--drop|pfilter --explain --drop COMM==x s.ps
explain|--text|pfilter --explain -t COMM==x s.ps
output|--split|pfilter -o x COMM==x s.ps
drop|--text|pfilter --drop -t COMM==x s.ps
seed|--sample|pfilter --seed 3 COMM==x s.ps
margin|--after or --before|pfilter --margin 1ms COMM==x s.ps
merge|--by|phist --merge --by comm s.tsv
merge|--strict|phist --merge --strict s.tsv
unit|--field|phist --unit ns --by comm s.ps
log2|--field or --merge|phist --log2 --by comm s.ps
linear|--field or --merge|phist --linear 5 --by comm s.ps
log2|--tsv|phist --log2 --tsv -f period s.ps
log2|--fine|phist --log2 --fine -f period s.ps
wide|--json|phist --wide --json --by comm s.ps
tsv|--json|phist --tsv --json s.ps
cumulative|--every|phist --cumulative s.ps
over-time|--heatmap|phist --over-time --heatmap s.ps
over-time|--every|phist --over-time --every 1s s.ps
heatmap|--every|phist --heatmap --every 1s s.ps
annotate|--function|preport --annotate s.ps
html|--function|preport --html s.ps
symfs|--annotate or --view|preport -S . s.ps
vmlinux|--annotate or --view|preport --function x -K v s.ps
trust-host|--annotate or --view|preport --trust-host s.ps
source|--function|preport --source . s.ps
source|--json|preport --function x --source . --json s.ps
tree|--function|preport --tree caller --function x s.ps
markdown|--function|preport --markdown --function x s.ps
view|--function|preport --view --function x s.ps
view|--json|preport --view --json s.ps
of-parent|--tree or --view|preport --of-parent s.ps
of-parent|--tsv|preport --tree caller --of-parent --tsv s.ps
depth|--tree or --view|preport --depth 3 s.ps
ascii|--tree or --view or --annotate|preport --ascii s.ps
samples|--tsv|preport -n --tsv s.ps
top|--tree|preport -t 3 --tree caller s.ps
sort|--tree|preport --sort self --tree caller s.ps
no-children|--function|preport --no-children --function x s.ps
no-children|--tree|preport --no-children --tree callee s.ps
by|--tree|preport --by comm --tree caller s.ps
wide|--json|preport --wide --json s.ps
tsv|--json|preport --tsv --json s.ps
pid|--tid|pfold -p -t s.ps
other|--waker|pfold --other --waker s.ps
learn-noise|--gate|pdiff --learn-noise --gate s.folded
learn-noise|--alpha|pdiff --learn-noise --alpha 0.1 s.folded
tsv|--json|pdiff --tsv --json s.folded s.folded
junit|--folded|pdiff --junit --folded s.folded s.folded
top|--json|pdiff -n 3 --json s.folded s.folded
wide|--markdown|pdiff --wide --markdown s.folded s.folded
top|--summary or --by-thread|pstrace -n 3 s.ps
sort|--summary or --by-thread|pstrace --sort time s.ps
raw|--summary|pstrace -s --raw s.ps
strace|--json|pstrace --strace --json s.ps
strace|--by-thread|pstrace --strace --by-thread s.ps
tsv|--json|pstrace --tsv --json s.ps
value|a flame graph|psvg --value x s.folded
view|a flame graph|psvg --view lines s.folded
timeline|a flame graph|psvg --timeline s.folded
timeline|charts of tables|psvg --timeline s.tsv
inverted|charts of tables|psvg -i s.tsv
html|charts of tables|psvg --html s.tsv
event|charts of tables|psvg -e x s.tsv
colors|a timeline|psvg -c mem s.tl
html|--timeline|psvg --html --timeline s.tl
stat|a timeline|psvg --stat p99 s.tl
diff|--total|psvg --diff --total 5 s.folded s.folded
EOF

# With what they are for, they are taken.
while read -r program line; do
	# shellcheck disable=SC2086
	run "$BIN/$program" $line
	is "$status" 0 "$program $line: taken"
done <<'EOF'
pdecode -t -F comm s.ps
pdecode -j --cpu 0-3 s.ps
pdecode --list -j --all s.ps
pdecode -b --plain s.ps
pfilter --drop COMM==busy s.ps
phist --log2 -f period s.ps
phist --linear 5 --tsv -f period s.ps
phist --merge --log2 s.tsv
preport --tree callee --top 3 s.ps
preport --tree caller --of-parent --ascii --depth 2 s.ps
pfold -a -t s.ps
pdiff --wide -n 3 s.folded s.folded
psvg --title x --width 500 s.tsv
psvg -i --html s.folded
psvg --timeline=svg --width 500 s.tl
EOF
done_testing
