#!/bin/sh
# preport --function: callers and callees beside a naive count of the stacks; the samples of each
# instruction beside what psym prints of their addresses; instructions beside objdump's; forms and refusals.
. "${0%/*}/lib.sh"
plan 37

mkdir root
gzip -dc "$ROOT/t/data/deep.gz" >root/deep
"$BIN/pdecode" "$ROOT/t/data/deep.data" | "$BIN/psym" --symfs root --trust-host >deep.ps 2>/dev/null || exit 1
"$BIN/preport" --tree=caller --min-share=0 --tsv --count deep.ps >tree.tsv || exit 1

# Stacks with their number of samples, of the innermost function last.
awk -F '\t' '/^#/ { next } { p[$2] = $8; if ($4) { s = p[2]; for (i = 3; i <= $2; i++) s = s ";" p[i]; print s, $4 } }' tree.tsv >stacks
ok 'there are stacks' test -s stacks
naive() { # NAME: who called it, what it called; each sample counts once for an edge
	awk -v f="$1" '{
		n = split(substr($0, 1, length($0) - length($NF) - 1), s, ";")
		delete seen
		for (i = 1; i <= n; i++) {
			if (s[i] != f) continue
			from = "caller\t" (i > 1 ? s[i - 1] : "(outermost function)")
			to = "callee\t" s[i + 1]
			if (!(from in seen)) { seen[from]; w[from] += $NF }
			if (i < n && !(to in seen)) { seen[to]; w[to] += $NF }
		}
	}
	END { for (e in w) print e "\t" w[e] }' stacks | LC_ALL=C sort
}
for f in compute descend main; do
	run "$BIN/preport" --function "$f" --min-share=0 --count --tsv deep.ps
	is "$status" 0 "$f"
	awk -F '\t' -v OFS='\t' '$4 == "caller" || $4 == "callee" { print $4, $11, $5 }' "$OUT" | LC_ALL=C sort >got
	naive "$f" >want
	same got want "$f: callers and callees"
done

# The samples of each address: what psym prints as compute+0x12.
run "$BIN/preport" --function compute --annotate --symfs root --trust-host --tsv deep.ps
is "$status" 0 'instructions'
start=$(awk -F '\t' '$4 == "code" { print substr($8, 3); exit }' "$OUT")
awk -F '\t' -v start="0x$start" '
	function hex(s, v, i) {
		v = 0
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	$4 == "code" && $6 { print hex($8) - hex(start), $6 }' "$OUT" | sort >got
"$BIN/psym" -t -F ip,sym,symoff deep.ps | awk '
	function hex(s, v, i) {
		v = 0
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	/^$/ { first = 1; next }
	first || NR == 1 {
		first = 0
		if ($2 ~ /^compute\+/) { sub(/^compute\+/, "", $2); n[hex($2)]++ }
	}
	END { for (o in n) print o, n[o] }' | sort >want
same got want 'the samples of each are those of its address'
is "$(awk -F '\t' '$4 == "code" { s += $7 } END { printf "%.1f", s }' "$OUT")" 100.0 'shares add up to the function'
if have objdump; then
	objdump -d --disassemble=compute root/deep | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >want
	awk -F '\t' '$4 == "code" { print substr($8, 3) }' "$OUT" >got
	head -n "$(wc -l <got)" want >want.cut
	same got want.cut 'instructions are where objdump finds them'
else
	skip 1 'objdump is not installed'
fi

# Text, HTML, JSON.
run env LC_ALL=C "$BIN/preport" --function compute --annotate --symfs root --trust-host deep.ps
like "$OUT" '^compute in .*deep: [0-9.]+% including callees, [0-9.]+% itself' 'text begins with the function'
like "$OUT" '^callers$' 'has callers'
like "$OUT" '^instructions' 'and instructions'
like "$OUT" '[+|][-]*> ' 'jumps are drawn'
like "$OUT" '%\*' 'what is hot has a mark'
run env LC_ALL=C.UTF-8 "$BIN/preport" --function compute --annotate --symfs root --trust-host deep.ps
like "$OUT" '→' 'with lines, where the locale has them'
run "$BIN/preport" --function compute --annotate --symfs root --trust-host --html deep.ps
like "$OUT" '<tr class=hot' 'HTML'
is "$(grep -o 'href="#a[0-9a-f]*"' "$OUT" | sed 's/href="#//; s/"//' | sort -u | while read -r a; do grep -q "id=$a>" "$OUT" || echo "$a"; done)" '' \
	'whose jumps lead to instructions'
run "$BIN/preport" --function compute --json deep.ps
like "$OUT" '"kind":"caller"' 'JSON'
run "$BIN/preport" --function '*e*' --tsv deep.ps
is "$(awk -F '\t' '$4 == "function"' "$OUT" | wc -l)" \
	"$(awk -F '\t' '!/^#/ && $2 > 1 && $8 ~ /e/ && $8 !~ /[][]/ { print $7, $8 }' tree.tsv | sort -u | wc -l)" 'a pattern'

# Source lines, of a program with debug information that is recorded here.
cat >lines.c <<'C'
static volatile unsigned sum;
static inline __attribute__((always_inline)) void inside(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 7;
}
__attribute__((noinline)) static void work(unsigned n)
{
	inside(n);
}
int main(void)
{
	work(60000000);
	return 0;
}
C
if "${CC:-gcc}" -g -O1 -Wl,--build-id -o lines lines.c 2>/dev/null &&
	"$BIN/pcap-perf" -e cpu-clock -F 999 -o lines.data -- ./lines 2>/dev/null && [ -s lines.data ]; then
	"$BIN/pdecode" lines.data | "$BIN/psym" --srcline >lines.ps 2>/dev/null
	run "$BIN/preport" --function work --annotate --source / lines.ps
	like "$OUT" 'lines\.c:[45]   .*(sum \+= i % 7|i < n)' 'source lines, with their text'
	run "$BIN/preport" --function work --annotate --tsv lines.ps
	is "$(awk -F '\t' '$4 == "line" { s += $7 } END { printf "%.1f", s }' "$OUT")" 100.0 'whose shares add up'
	is "$(awk -F '\t' '$4 == "code" && $9 ~ /lines\.c$/ && ($10 < 2 || $10 > 10)' "$OUT")" '' 'lie between the instructions'
	# With inlined functions as frames, what they have is still in the code of the one around them.
	awk -F '\t' '$4 == "code"' "$OUT" >want
	"$BIN/pdecode" lines.data | "$BIN/psym" --srcline --inline >inline.ps 2>/dev/null
	"$BIN/preport" --function work --annotate --tsv inline.ps | awk -F '\t' '$4 == "code"' >got
	same got want 'shares of instructions, where functions are inlined'
	run "$BIN/preport" --function inside --annotate inline.ps
	like "$OUT" '^\(it is inlined: ' 'the inlined function'
	if have perf objdump && perf annotate --stdio -i lines.data work 2>/dev/null </dev/null | grep -q '^ *[0-9.]* *: *[0-9a-f]*:'; then
		run env BIN="$BIN" "$ROOT/t/oracle/perf-annotate" -v -n 1 lines.data
		is "$status" 0 'addresses and shares are those of perf annotate'
	else
		skip 1 'perf annotate and objdump are not there, or do not read the recording'
	fi
else
	skip 6 'this machine does not record a program'
fi

# What there is not.
printf 'a;compute 3\n' >text.folded
run "$BIN/preport" --function compute --annotate text.folded
like "$OUT" '^\(the input is text, which has no instruction addresses' 'folded text has no code'
run "$BIN/preport" --function compute --annotate deep.ps
is "$status" 0 'without the binary'
like "$OUT" 'its code is not available' 'is reported in its place'
run "$BIN/preport" --function getppid --annotate deep.ps
isnt "$status" 0 'a function that is not there'
like "$ERR" 'there is no function getppid' 'is reported'
run "$BIN/preport" --annotate deep.ps
is "$status" 64 '--annotate alone'
run "$BIN/preport" --html deep.ps
is "$status" 64 '--html alone'
run "$BIN/preport" --function compute --tree=caller deep.ps
is "$status" 64 'a tree of one function'
head -c 300 root/deep >root/cut && mv root/cut root/deep
run "$BIN/preport" --function compute --annotate --symfs root --trust-host deep.ps
is "$status" 0 'a binary that is cut off'
like "$OUT" 'its code is not available' 'has no code'
