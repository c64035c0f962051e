#!/bin/sh
# Programs of which it is known why they are slow (share/examples/why.c): their critical paths, beside the times that they
# have written themselves. On a machine that is busy with other things, these have their part in both.
. "${0%/*}/lib.sh"

need cc
for program in pcap-perf pdecode psym plat phist; do
	[ -x "$BIN/$program" ] || bail "$program is not built"
done
build_why() {
	cc -g -O1 -pthread -o why "$ROOT/share/examples/why.c"
}
run build_why
is "$status" 0 'the program is built'
run "$BIN/pcap-perf" -q -a --wall -x ./why --probe request --probe request%return -o try.data -- true
if [ "$status" != 0 ]; then
	skip 21 'recording with probes is not allowed here' "$(cat "$ERR")"
	done_testing
	exit
fi

# differ TRUTH TABLE: which parts of all paths are further from the truth than TOLERANCE per cent of the spans. What the
# programs do not know, each may have in addition: the time to pass the turn on, from a wakeup to when a thread ran, and in
# the kernel. They know how much that is.
TOLERANCE=2
differ() {
	awk -v most=$TOLERANCE '
	FNR == NR {
		all += $4 - $3
		n++
		for (i = 5; i < NF; i += 2)
			truth[$i] += $(i + 1)
		next
	}
	/^period by/ {
		split($0, f, "\t")
		path[f[3] "/" (f[4] == "[running]" ? "running" : f[4])] += f[6]
		sum += f[6]
		spans[f[2]] = 1
	}
	END {
		for (s in spans)
			m++
		if (m != n)
			printf "%d spans of %d\n", m, n
		most *= all / 100
		more = truth["request/other"] + truth["*/other"]
		asks = truth["request/asks"]
		if (!all || sum - all > most || all - sum > most)
			printf "all: %.0f of %.0f\n", sum, all
		for (p in path)
			truth[p] += 0
		for (p in truth) {
			if (p ~ /\/(other|asks)$/)
				continue
			least = truth[p] - (p ~ /^request/ ? 0 : asks)
			greatest = truth[p] + more + (p ~ /^request/ ? asks : 0)
			if (path[p] < least - most || path[p] > greatest + most)
				printf "%s: %.0f of %.0f to %.0f\n", p, path[p], least, greatest
		}
	}' "$1" "$2"
}

# lost STREAM: whether events or switches are missing; what they would tell is not known, and plat reports that.
lost() {
	! grep -q 'recorder lost' decode.err || return 0
	"$BIN/plat" --path -s request:common_pid -e request__return:common_pid "$1" >/dev/null 2>lost.err
	grep -q 'switches are missing' lost.err
}

# What each is slow by, as rows of --path: a regular expression.
while read -r name main; do
	run "$BIN/pcap-perf" -q -a --wall -x ./why --probe request --probe request%return -o "$name".data -- ./why "$name" 15 "$name".truth
	is "$status" 0 "$name: it is recorded"
	"$BIN/pdecode" "$name".data 2>decode.err | "$BIN/psym" 2>/dev/null >"$name".ps
	if lost "$name.ps"; then
		skip 2 'events or switches are missing, so that waits are not known' "$name"
		continue
	fi
	"$BIN/plat" --emit path -s request:common_pid -e request__return:common_pid "$name".ps >"$name".path 2>"$name".err
	"$BIN/phist" --by key,comm,key_text -f period --tsv "$name".path >"$name".table 2>/dev/null
	is "$(differ "$name".truth "$name".table)" '' "$name: the parts of its path are those that it has measured"
	"$BIN/plat" --path --tsv -s request:common_pid -e request__return:common_pid "$name".ps 2>/dev/null >"$name".rows
	like "$name.rows" "$main" "$name: what it is slow by is named"
	diag_file "$name".err
done <<'EOF'
convoy ^path	holder	running	[a-z_]*	\[lock\] convoy	
inversion ^path	low	\[runnable\] behind hog	[a-z_]*	\[lock\] convoy	
disk ^path	disk	\[timer\].*	disk	\[pipe\] ask	
pipeline ^path	compress	running	[a-z_]*	\[pipe\] ask	
overcommit ^path	request	\[runnable\] behind hog	[a-z_]*		
pool ^path	pool	running	[a-z_]*	\[condition\] submit	
EOF

# The recipe, of a recording.
run "$ROOT/share/recipes/whyslow" -e request convoy.data --tail=p60 --tsv
[ -s "$OUT" ] || diag_file "$ERR"
is "$(awk -F'\t' '/^tail/ { s += $7 } END { print (s > 0) }' "$OUT")" 1 'whyslow: what slow ones have more of'
# The child's last wakeup is none of the recording's: that the child has ended tells who it was.
run "$ROOT/share/recipes/critpath" -- sh -c './why disk 2 /dev/null; :'
like "$OUT" '^path: of 1 spans: ' 'critpath: a command'
if grep -q 'switches are missing' "$ERR"; then
	skip 1 'this kernel has lost switches, so that waits are not known' critpath
else
	like "$OUT" '^request +\[timer\] +main +\[child\]' 'critpath: what it waited for'
fi

done_testing
