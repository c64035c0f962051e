#!/bin/sh
# Memory accesses: data_src in perf's words and its parts, cache lines, the recipe c2c. The recording is
# made (t/mem_make.c): counts are those of the text that it is made of, and what perf tells of the same file.
. "${0%/*}/lib.sh"
BINDIR=$BIN # for the recipes
export BINDIR

${CC:-cc} -O1 -o mem_make "$ROOT/t/mem_make.c" || exit 1
awk -f "$ROOT/t/mem_accesses.awk" /dev/null >text || exit 1
./mem_make <text >mem.data || exit 1
"$BIN/pdecode" mem.data >mem.ps 2>/dev/null || exit 1

# counts FIELD: what phist counts, "value count"
counts() {
	"$BIN/phist" --by "$1" --tsv mem.ps | awk -F '\t' '
		/^#/ { for (i = 1; i <= NF; i++) if ($i == "events:count") c = i; next }
		{ print $2, $c }' | sort
}
# naive SHIFT BITS: how often the text has each value of some bits of data_src
naive() {
	awk -v shift="$1" -v bits="$2" '$1 == "access" { n[int($9 / 2 ^ shift) % 2 ^ bits]++ }
		END { for (v in n) print v, n[v] }' text
}
naive 0 5 | sed 's/^2 /LOAD /; s/^4 /STORE /' | sort >want
counts mem_op >got
same got want 'operations'
naive 24 2 | sed 's/^2 /Yes /; s/^1 /N\/A /; s/^0 /No /' | sort >want
counts mem_lock >got
same got want 'locks'
naive 19 5 | sed 's/^16 /HitM /; s/^8 /Miss /; s/^4 /Hit /; s/^2 /None /; s/^1 /N\/A /' | sort >want
counts mem_snoop >got
same got want 'snoops'
naive 26 7 | sed 's/^10 /L1 hit /; s/^26 /L1 or L2 hit /; s/^34 /Walker hit /; s/^20 /L2 miss /; s/^1 /N\/A /' | sort >want
counts mem_tlb >got
same got want 'TLB'
awk '$1 == "access" { level = int($9 / 32) % 16384; op = $9 % 32; snoop = int($9 / 524288) % 32
	k = "none"
	if (op == 2 && snoop == 16 && int(level / 1024) % 4) k = "remote"
	else if (op == 2 && snoop == 16 && level == 66) k = "local"
	n[k]++
} END { for (k in n) print k, n[k] }' text | sort >want
counts mem_hitm >got
same got want 'loads of changed lines'
awk '$1 == "access" { split($6, a, ""); n[$6]++ } END { for (k in n) print k, n[k] }' text | sort >want
counts addr >got
same got want 'addresses'
awk '$1 == "access" { n[$7]++ } END { for (k in n) print k, n[k] }' text | sed 's/0x0*/0x/' | sort >want
counts phys_addr >got
same got want 'physical addresses'
awk '
	function hex(s, v, i) {
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	$1 == "access" { n[sprintf("%d", int(hex($6) % 1048576 / 64))]++ }
	END { for (k in n) print k, n[k] }' text | sort >want
"$BIN/phist" --by '(cache_line & 0xfffff) / 64' --tsv mem.ps | awk -F '\t' '
	/^#/ { for (i = 1; i <= NF; i++) if ($i == "events:count") c = i; next }
	{ print $2, $c }' | sort >got
same got want 'cache lines'
run "$BIN/phist" --by cache_line mem.ps
like "$OUT" '^0x7f[0-9a-f]+[08c4]0 ' 'are addresses'

# The words of all of it; as a number; in conditions; weight is no time.
run "$BIN/phist" --by data_src mem.ps
like "$OUT" '^\|OP LOAD\|LVL L1 hit\|SNP None\|TLB L1 hit\|LCK No\|BLK  N/A ' 'data_src in words'
run "$BIN/phist" --raw --by data_src mem.ps
unlike "$OUT" 'LVL' '--raw'
run "$BIN/pfilter" -d 'mem_level == "L1 hit" && mem_op == "LOAD"' mem.ps
cp "$OUT" l1.ps
run "$BIN/phist" --by mem_level,mem_op l1.ps
like "$OUT" '^L1 hit +LOAD ' 'a condition'
run "$BIN/phist" -f weight --by mem_op --tsv mem.ps
like "$OUT" 'weight:sum	' 'weight has no unit'
unlike "$OUT" 'weight:sum:ns' 'and is no time'
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps 2>/dev/null
run "$BIN/phist" --by mem_level small.ps
is "$status" 1 'a recording without data_src'

# The recipe.
run "$ROOT/share/recipes/c2c" mem.ps
is "$status" 0 'c2c'
awk '$1 == "access" { if ($9 % 32 == 2) l++; else s++ } END { printf "%d loads and %d stores, ", l, s }' text >want
is "$(sed -n '1s/stores, .*/stores, /p' "$OUT")" "$(cat want)" 'loads and stores'
awk 'NR > 1 && / of process / { h += $1; l += $2; r += $3 } NR > 1 && $1 > last && last && / of process / { bad++ } / of process / { last = $1 }
	END { print (h == l + r), bad + 0 }' "$OUT" >got
is "$(cat got)" '1 0' 'lines in the order of their loads of changed ones'
like "$OUT" ' \+[0-9]+ +mean +[0-9.]+  (writer|reader|:[0-9]+)  ' 'who used them'
run "$ROOT/share/recipes/c2c" small.ps
is "$status" 1 'nothing to show'
like "$ERR" 'to record: perf c2c record' 'and how to record it'

# perf on the same file.
# perf 6.1 dies of a pipe to addr2line where a binary is not there.
! have perf || (
	trap '' PIPE
	perf c2c report --stdio --stats -i mem.data </dev/null >stats 2>/dev/null
)
if grep -qs 'Load Operations' stats; then
	run env BIN="$BIN" "$ROOT/t/oracle/perf-c2c" -v
	is "$status" 0 'perf tells the same'
	is "$(grep -c ': [1-9][0-9]* equal, 0 differ' "$OUT")" 4 'of all four'
else
	skip 2 'perf is not installed, or cannot read the recording'
fi
done_testing
