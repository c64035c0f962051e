#!/bin/sh
# What all readers of text have in common: packed input, byte order marks, UTF-16, comments of others.
. "${0%/*}/lib.sh"
need gzip zstd xz iconv

cat >plain.folded <<'EOF'
a;b 1
a;c 2
a;b;d 4
EOF
cat >perf.txt <<'EOF'
a 10/10 [000] 1.000000: 3 cycles:
	1000 b+0x1 (/x)

a 10/10 [000] 2.000000: 4 cycles:
	1000 b+0x1 (/x)

EOF
cat >maps.txt <<'EOF'
Attaching 1 probe...
@[
    b+1
    a+2
]: 7
EOF
cat >ftrace.txt <<'EOF'
# tracer: nop
            true-329   [001]    99.910647: funcgraph_entry:      ! 125.318 us |  mutex_unlock();
EOF
"$BIN/pdecode" "$ROOT/t/data/sched.data.gz" >sched.ps 2>/dev/null
"$BIN/phist" --tsv --by comm sched.ps >table.tsv 2>/dev/null
"$BIN/plat" --timeline sched.ps >timeline.tsv 2>/dev/null
sed s/2$/20/ plain.folded >other.folded

# What each program makes of a file; names of files are not part of it.
pfold() { "$BIN/pfold" --no-header "$1"; }
preport() { "$BIN/preport" "$1"; }
pdiff() { "$BIN/pdiff" --tsv "$1" other.folded | sed "s|$1|FILE|g"; }
psvg() { "$BIN/psvg" "$1"; }
merge() { "$BIN/phist" --merge "$1"; }
pdecode() { "$BIN/pdecode" -t "$1"; }

printf '\357\273\277' >bom
# packed FUNCTION FILE PROGRAM [ARGUMENT]: the result of a file is that of the file packed or with a mark before.
packed() {
	$1 "$2" >want 2>err
	is $? 0 "$1 $2"
	gzip -c "$2" >t.gz
	zstd -qc "$2" >t.zst
	xz -c "$2" >t.xz
	gzip -c t.zst >t.zst.gz
	cat bom "$2" >t.bom
	gzip -c t.bom >t.bom.gz
	for t_file in t.gz t.zst t.xz t.zst.gz t.bom t.bom.gz; do
		$1 $t_file >got 2>err
		is $? 0 "$1 $2: ${t_file#t.}"
		same got want "$1 $2: ${t_file#t.} gives the same"
	done
	for t_kind in UTF-16 UTF-16LE UTF-16BE UTF-32; do
		iconv -f UTF-8 -t $t_kind "$2" >wide
		# shellcheck disable=SC2086 # none, or an option
		"$BIN/$3" ${4-} wide >got 2>err
		is $? 2 "$1 $2: $t_kind"
		like err '^[a-z]*: wide: is text in UTF-16 or UTF-32: iconv -f UTF-16 -t UTF-8 makes it readable$' 'is named'
	done
}
packed pfold plain.folded pfold
packed pfold perf.txt pfold
packed pfold maps.txt pfold
packed preport plain.folded preport
packed preport perf.txt preport
packed pdiff plain.folded pdiff other.folded
packed psvg plain.folded psvg
packed psvg table.tsv psvg
packed psvg timeline.tsv psvg
packed merge table.tsv phist --merge
packed pdecode ftrace.txt pdecode

# Streams that were packed, as pdecode reads them.
gzip -c sched.ps >sched.ps.gz
"$BIN/pfold" sched.ps >want 2>/dev/null
run "$BIN/pfold" sched.ps.gz
is "$status" 0 'a packed stream'
sed 's/sched.ps.gz/sched.ps/' "$OUT" >got
same got want 'is folded'

# Cut off: what came is used, status 1.
perl -e 'printf "a;b%d;c%d 1\n", $_ * 7919 % 1000, $_ * 104729 % 1000 for 1 .. 50000' >long.folded
gzip -c long.folded >long.gz
head -c "$(($(wc -c <long.gz) / 2))" long.gz >cut.gz
for program in pfold preport psvg; do
	run "$BIN/$program" cut.gz
	is "$status" 1 "$program: packed and cut off"
	like "$ERR" 'cut\.gz: .*cut off' 'is reported'
	[ -s "$OUT" ]
	is $? 0 'and what came is used'
done
run "$BIN/pdiff" cut.gz long.folded
is "$status" 1 'pdiff: packed and cut off'

# Comments are no stacks; names of threads may begin with '#'.
cat >notes.folded <<'EOF'
# austin: 3.5.0
# interval: 100
#
# made by a program; on 2024-01-05
# mode: wall; 12
P1;T0:5;m:main:12 300
# duration: 5
#worker;m 7
EOF
run "$BIN/pfold" --no-header notes.folded
is "$status" 0 'comments'
is "$(cat "$OUT")" "$(printf '%s\n' '#worker;m 7' 'P1;T0:5;m:main:12 300')" 'are left out'
run "$BIN/psvg" notes.folded
is "$(grep -c '<title>all (307, 100%)' "$OUT")" 1 'of pictures'
run "$BIN/preport" notes.folded
like "$OUT" '^folded stacks: 2 stacks, 307$' 'of reports'
run "$BIN/pdiff" notes.folded notes.folded
like "$OUT" '; 307 and 307 samples;' 'of comparisons'
done_testing
