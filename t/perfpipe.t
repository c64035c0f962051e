#!/bin/sh
# perfpipe: the lines that it prints do what they promise, what it tells of a recording and of this machine is
# so, the recipes run by it.
. "${0%/*}/lib.sh"
data=$ROOT/t/data
PATH=$BIN:$PATH
export PATH
tab=$(printf '\t')

# to_type FILE: what it prints as lines to type.
to_type() {
	sed -n 's/^    //p' "$1"
}

# --- without arguments ---
run perfpipe
is "$status" 0 'without arguments'
empty "$ERR" 'nothing is wrong'
to_type "$OUT" >lines
# Every program of a line is one of ours or of the system, every recipe is there.
bad=
while read -r line; do
	sh -n -c "$line" || bad="$bad $line;"
	for word in $(echo "$line" | sed 's/[|;]/\n/g' | awk '{ print $1 == "perfpipe" ? $3 : $1 }'); do
		[ -x "$BIN/$word" ] || [ -x "$ROOT/share/recipes/$word" ] || bad="$bad $word"
	done
done <lines
is "$bad" '' 'each line has programs and recipes that there are'
like "$OUT" '^Where does the CPU time go\?$' 'by question'

# --- of recordings ---
echo 'a;b 1' >base.folded
tried=' '
# check FILE NAME: facts beside the events of pdecode -j, and the lines are typed, once for each question. Those
# that find nothing of their kind end with 1, and say so.
check() {
	run perfpipe --tsv "$1"
	rc=$status
	cp "$OUT" tsv
	pdecode -j "$1" 2>/dev/null | awk '
		/^{"type":"sample"/ { n++; stacks += /"(chain|stack|user_stack)":/ }
		END { printf "%d %d\n", n, stacks }' >counts
	read -r samples stacks <counts
	is "$rc" 0 "$2: is read"
	is "$(sed -n "s/^fact$tab.*${tab}events$tab\([0-9]*\) sample.*/\1/p" tsv)" "$samples" "$2: its samples"
	got=$(sed -n "s/^fact$tab.*${tab}stacks$tab\([0-9]*\) of .*/\1/p" tsv)
	is "${got:-0}" "$stacks" "$2: those with stacks"
	cut -f 1,3 tsv | grep -v fact | tr '\t' ' ' | sort >ids
	ok "$2: answers or lacks each question once" test -z "$(cut -d ' ' -f 2 ids | uniq -d)"
	failed=
	n=0
	awk -F '\t' -v tried="$tried" '$1 == "answer" && !index(tried, " " $3 " ") { print $3, $5 }' tsv >answers
	while read -r id line; do
		n=$((n + 1))
		tried="$tried$id "
		bash -o pipefail -c "$line" >answer 2>answer.err </dev/null
		rc=$?
		case $rc:$(cat answer.err) in
		0:* | 1:*[Nn]o\ * | 1:*nothing*) ;;
		*) failed="$failed [$rc: $line: $(head -n 1 answer.err)]" ;;
		esac
	done <answers
	is "$failed" '' "$2: its $n lines can be typed"
}
check "$data/demo.data" 'samples with stacks'
check "$data/sched-stacks.data.gz" 'switches with stacks'
check "$data/sched.dat" 'a trace.dat'
check "$data/stat.data.gz" 'counts'
check "$data/block.data.gz" 'block I/O'
check "$data/lock.data.gz" 'locks'
check "$data/strace.data.gz" 'system calls'
check "$data/demo.pstream.zst" 'an event stream'

# answered FILE: the questions that are.
answered() {
	perfpipe --tsv "$1" 2>/dev/null | awk -F '\t' '$1 == "answer" { printf "%s%s", sep, $3; sep = " " }'
}
case " $(answered "$data/demo.data") " in
*' cpu '*' diff '*) pass 'samples of the clock answer where the time goes' ;;
*) fail 'samples of the clock answer where the time goes' ;;
esac
answered "$data/sched.dat" | tr ' ' '\n' >ids
is "$(grep -cx -e runq -e timeline -e calls ids)" 3 'events answer theirs'
is "$(grep -cx -e cpu -e offcpu -e disk ids)" 0 'and without stacks none of stacks'
perfpipe --tsv "$data/sched.dat" 2>/dev/null >tsv
is "$(awk -F '\t' '$1 == "lack" && $3 == "offcpu" { print $5 }' tsv)" 'call chains' 'what it lacks'
is "$(awk -F '\t' '$1 == "lack" && $3 == "disk" { print $5 }' tsv)" \
	'block:block_rq_issue, block:block_rq_complete' 'which events'
run perfpipe "$data/sched.dat"
like "$OUT" '^  for block devices \(no block:block_rq_issue\):$' 'and for people'
like "$OUT" "^  machine   guest, Linux 6\.12\.95\+deb12-amd64, x86_64, 2 CPUs$" 'the machine'
like "$OUT" '^  kind      trace\.dat, recorded by trace-cmd 3\.1\.6$' 'the recorder'

# A name that the shell would take apart; one that looks like an option.
mkdir -- -d
cp "$data/small.data" "./-d/a b's \$x.data"
run perfpipe --tsv -- "-d/a b's \$x.data"
is "$status" 0 'a name with blanks and quotes'
line=$(awk -F '\t' '$3 == "rates" { print $5 }' "$OUT")
run sh -c "$line"
is "$status" 0 'its line can be typed'

# Damage, and what is no recording.
head -c 8000 "$data/small.data" >cut.data
run perfpipe cut.data
is "$status" 1 'a recording that is cut off'
like "$OUT" '^  losses    .*(missing|damaged|cut)' 'is told as such' || diag_file "$ERR"
run perfpipe "$data/small.data" no-such.data
is "$status" 1 'one of two that is not there'
like "$ERR" 'no-such.data' 'is named'
run perfpipe base.folded
is "$status" 2 'folded text is no recording'
like "$ERR" '^perfpipe: base.folded: ' 'which is reported'
run perfpipe no-such.data
is "$status" 2 'a file that is not there'

# --- doctor ---
run perfpipe --tsv doctor
rc=$status
cp "$OUT" doctor
# says NAME RC: what doctor tells of NAME is what the recorder comes to.
says() {
	state=$(awk -F '\t' -v name="$1" '$2 == name { print $1 }' doctor)
	is "$([ "$state" = no ] && echo refused || echo allowed)" "$([ "$2" = 0 ] && echo allowed || echo refused)" \
		"doctor: $1"
}
is "$rc" "$(grep -q "^no$tab" doctor && echo 1 || echo 0)" 'doctor: the status tells whether something is refused'
pcap-perf -q -e cpu-clock:u -o /dev/null -- true 2>/dev/null
says processes $?
pcap-perf -q -e cpu-clock -C 0 -o /dev/null -- true 2>/dev/null
says machine $?
pcap-perf -q --list sched:sched_switch 2>/dev/null | grep -q tracepoint
says tracepoints $?
awk '$1 !~ /^0+$/ { found = 1; exit } END { exit !found }' /proc/kallsyms
says names $?
if [ "$(id -u)" = 0 ] && have setpriv && chmod 755 "$TMP" && setpriv --reuid=65534 --clear-groups test -x "$BIN/perfpipe"; then
	run setpriv --reuid=65534 --clear-groups --inh-caps=-all "$BIN/perfpipe" doctor
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$level" -gt 0 ]; then
		is "$status" 1 'as a user without rights'
		like "$OUT" '^no    the whole machine cannot be recorded' 'what is refused'
		like "$OUT" '^      helps: sysctl kernel.perf_event_paranoid=' 'and what helps'
	else
		skip 3 'the kernel lets every user record'
	fi
else
	skip 3 'no other user can be taken on'
fi

# --- version, recipes, run ---
run perfpipe version --features
is "$status" 0 'version'
newest=$(sed -n 's/^## \([^ ]*\).*/\1/p' "$ROOT/CHANGELOG.md" | head -n 1)
is "$(head -n 1 "$OUT")" "perfpipe $newest" 'the newest of the change log'
is "$(pdecode --version)" "pdecode (perfpipe) $newest" 'and that of all'
like "$OUT" "^zstd${tab}[0-9.]+${tab}" 'and its libraries'
tail -n +2 "$OUT" >features
"$BIN/perfpipe" --tsv doctor | awk -F'\t' '{ print $2 "\t" $1 "\t" $3 }' >want
tail -n "$(wc -l <want)" features >got
same got want 'and what the kernel allows, as doctor has it'
"$BIN/pcap-perf" --version --features | tail -n +2 >got
same got features 'pcap-perf has the same'
run pcap-perf --features
is "$status" 64 '--features belongs to --version'
run perfpipe --tsv recipes
(cd "$ROOT/share/recipes" && grep -l '^purpose=' -- *) | grep -v '\.sh$' | sort >want
cut -f 1 "$OUT" | sort >got
same got want 'all recipes'
"$ROOT/share/recipes/runqlat" "$data/sched.dat" >want 2>/dev/null
run perfpipe run runqlat "$data/sched.dat"
is "$status" 0 'run'
same "$OUT" want 'as the recipe itself'
run perfpipe run syscount -d 1x
is "$status" 64 'the options are those of the recipe, and so is the status'
run perfpipe run runqla
is "$status" 64 'no such recipe'
like "$ERR" 'did you mean runqlat\?$' 'the nearest is named'
run perfpipe run recipe.sh
is "$status" 64 'their common part is none'

# --- wrong usage ---
while IFS='|' read -r words why; do
	# shellcheck disable=SC2086
	run perfpipe $words
	is "$status" 64 "perfpipe $words: refused"
	like "$ERR" "^perfpipe: .*$why" "perfpipe $words: why"
done <<'EOF'
--features|no effect without version
--tsv|is for a RECORDING
doctor x|takes no operand; a file with that name is ./doctor
run|run has to come first
complete x|complete has to come first
--tsv run runqlat|run has to come first
--bogus|unknown option
EOF
done_testing
