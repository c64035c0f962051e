#!/bin/sh
# preport: its tables and trees beside what perf printed of the same recording, and beside a naive count
# of the stacks; keys, options, forms, several events, damaged input, refusals and exit statuses.
. "${0%/*}/lib.sh"

"$BIN/pdecode" "$ROOT/t/data/demo.pstream.zst" >demo.ps 2>/dev/null || exit 1
"$BIN/pdecode" "$ROOT/t/data/sched.data.gz" >sched.ps 2>/dev/null || exit 1
"$BIN/pfold" --no-marks demo.ps >said.folded || exit 1
grep -v '^#' said.folded >demo.folded

# What perf 6.1 printed on the recorded machine: with children, without, and the chains of -g folded. The
# programs are not here, so the kernel's functions are compared.
mkdir oracle
for k in children:preport self:report-nochild folded:report-folded; do
	gzip -dc "$ROOT/t/data/report.${k%:*}.gz" >"oracle/report.${k#*:}.txt"
done
gzip -dc "$ROOT/t/data/report.data.gz" >oracle/report.data
gzip -dc "$ROOT/t/data/report.kallsyms.gz" >report.kallsyms
run env BIN="$BIN" "$ROOT/t/oracle/perf-report" -v -k -d 0 -p "--kallsyms $TMP/report.kallsyms --debug-dir /nonexistent" oracle
is "$status" 0 'tables and chains are those of perf report'
is "$(grep -Ec '(children|no-children): [0-9]{2,} rows equal, 0 unexplained|folded: [0-9]{2,} chains equal, 0 differ' "$OUT")" 3 \
	'all three of them'
[ "$status" = 0 ] || diag_file "$OUT"
# Another function, another share, a row less: no kind of difference explains these.
mkdir changed
ln -s "$TMP/oracle/report.data" changed/report.data
row='^ +[1-9][0-9]*[.][0-9]+% .* \[k\] do_syscall_64'
caught=
for change in 's/do_syscall_64/do_syscall_65/' 's/[.]([0-9][0-9]%)/.1\1/' d; do
	sed -E "/$row/$change" oracle/report.preport.txt >changed/report.preport.txt
	cmp -s oracle/report.preport.txt changed/report.preport.txt && continue
	env BIN="$BIN" "$ROOT/t/oracle/perf-report" -k -t -d 0 -p "--kallsyms $TMP/report.kallsyms --debug-dir /nonexistent" \
		changed >changed/out
	caught="$caught $?$(grep -c ' [1-9][0-9]* unexplained' changed/out)"
done
is "$caught" ' 11 11 11' 'the comparison fails where perf has something else'

# Each row by a naive count of the stacks: the innermost function has the count, every function once.
naive() { # FOLDED
	awk '{
		n = split(substr($0, 1, length($0) - length($NF) - 1), f, ";")
		delete seen
		for (i = 2; i <= n; i++)
			if (!(f[i] in seen)) { seen[f[i]]; all[f[1] "\t" f[i]] += $NF }
		self[f[1] "\t" f[n]] += $NF
	}
	END { for (k in all) printf "%s\t%.0f\t%.0f\n", k, all[k], self[k] }' "$1" | LC_ALL=C sort
}
rows() { # command, function, children, self of a TSV of folded text
	awk -F '\t' -v OFS='\t' '!/^#/ { print $2, $3, $5, $8 + 0 }' "$1" | sed 's/ (inlined)//' | LC_ALL=C sort
}
run "$BIN/preport" --tsv demo.folded
is "$status" 0 'folded text'
rows "$OUT" >got
naive demo.folded >want
same got want 'has children and self by a naive count'
printf 'p;a;b;a 5\np;a 2\np;b;a;c 3\nq;a 1\n' >small.folded
run "$BIN/preport" --tsv small.folded
rows "$OUT" >got
naive small.folded >want
same got want 'a function that calls itself counts once'
run "$BIN/preport" --tsv small.folded small.folded
rows "$OUT" >got
awk -F '\t' -v OFS='\t' '{ print $1, $2, $3 * 2, $4 * 2 }' want >twice
same got twice 'several files add up'
run_pipe 'cat small.folded' '"$BIN/preport" --tsv'
rows "$OUT" >got
same got want 'a pipe'

run "$BIN/preport" said.folded
like "$OUT" '^cpu-clock: 645 samples, 2\.16 s' 'the first line of folded text tells the event, its samples and unit'

# A stream has the same as the folded text that is made of it.
run "$BIN/preport" --by COMM,sym --tsv demo.ps
is "$status" 0 'an event stream'
awk -F '\t' '!/^#/ { all[$2] += $8; n[$2]++ } END { for (k in all) printf "%s %.0f\n", k, all[k] }' "$OUT" | sort >got
awk '{ n = $NF; c = $1; sub(/;.*/, "", c); t[c] += n } END { for (k in t) printf "%s %.0f\n", k, t[k] }' demo.folded | sort >want
same got want 'what functions have themselves adds up to all'
run "$BIN/preport" --by dso --tsv demo.ps
is "$(awk -F '\t' '!/^#/ { n += $7 } END { printf "%.0f", n }' "$OUT")" "$(awk '{ n += $NF } END { printf "%.0f", n }' demo.folded)" 'by DSO, too'
"$BIN/phist" --by dso --tsv -f period demo.ps 2>/dev/null | awk -F '\t' '!/^#/ { print $2, $4 }' | sort >want
awk -F '\t' '!/^#/ && $6 { print $2, $7 }' "$OUT" | sort >got
same got want 'as phist has it'

# Text: every percentage is of the sum.
run "$BIN/preport" demo.ps
is "$status" 0 'text'
like "$OUT" '^cpu-clock: [0-9]+ samples, [0-9.]+ m?s' 'begins with the event'
like "$OUT" '^children +self +comm +dso +sym$' 'then the names of columns'
awk 'NR > 3 && (substr($0, 8, 1) != "%" || substr($0, 17, 1) != "%")' "$OUT" >wrong
empty wrong 'and rows in columns'
run "$BIN/preport" --no-children --samples small.folded
like "$OUT" '^ +self +samples +comm +sym$' '--no-children has one column, --samples one more'
like "$OUT" '^ +63\.64% +2 +p +a$' 'the share of 7 of 11, by two stacks'
run "$BIN/preport" --sort comm --top 2 small.folded
is "$(grep -c '%' "$OUT")" 2 '--top'
like "$OUT" '2 more rows are not shown' 'says how many there are more'
run "$BIN/preport" --sort -self small.folded
is "$(awk '/%/ { print $2; exit }' "$OUT")" '0.00%' '--sort -self begins with the least'
run "$BIN/preport" --min-share 20 small.folded
is "$(grep -c '%' "$OUT")" 3 '--min-share'
run "$BIN/preport" --count --event 'cpu-*' --tsv --by COMM demo.ps
is "$(awk -F '\t' '!/^#/ && $3 != $4 { bad++ } END { print bad + 0 }' "$OUT")" 0 '--count: each sample weighs 1'

# Trees.
cat >want <<'E'
folded stacks: 4 stacks, 11

  90.91% p
         |- 63.64% a
         |  `- 45.45% b
         |     a
         `- 27.27% b
            a
            c
   9.09% q
         a
E
run "$BIN/preport" --tree=caller --ascii small.folded
same "$OUT" want 'the tree from the root on'
cat >want <<'E'
folded stacks: 4 stacks, 11

    self  comm  sym
  63.64%  p     a
         `- 45.45% b
            a

  27.27%  p     c
         a
         b

   9.09%  q     a
E
run "$BIN/preport" --tree=callee --ascii small.folded
same "$OUT" want 'the callers below a function'
run env LC_ALL=C.UTF-8 "$BIN/preport" --tree=callee small.folded
like "$OUT" '└─ 45.45% b' 'lines of UTF-8 where the locale has them'
run "$BIN/preport" --tree=caller --ascii --of-parent small.folded
like "$OUT" '`- 71\.43% b' '--of-parent: 5 of 7'
run "$BIN/preport" --tree=caller --ascii --depth=1 small.folded
is "$(grep -c 'c$' "$OUT")" 0 '--depth'
run "$BIN/preport" --tree=caller --min-share=30 small.folded
is "$(grep -c 'c$' "$OUT")" 0 '--min-share in trees'
# Stacks again from the tree's TSV.
run "$BIN/preport" --tree=caller --min-share=0 --tsv demo.folded
awk -F '\t' '/^#/ { next } { p[$2] = $8; sub(/ \(inlined\)$/, "", p[$2]); if ($4) { s = p[1]; for (i = 2; i <= $2; i++) s = s ";" p[i]; print s, $4 } }' \
	"$OUT" | LC_ALL=C sort >got
LC_ALL=C sort demo.folded | sed 's/_\[i\]//g' >want
same got want 'the TSV of a tree has all stacks'
run "$BIN/preport" --tree=callee --min-share=0 --tsv demo.folded
is "$(awk -F '\t' '!/^#/ && $2 == 0 { n += $3 } END { printf "%.0f", n }' "$OUT")" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' demo.folded)" 'rows of a tree of callers add up to all'

# Other forms.
run "$BIN/preport" --json small.folded
is "$status" 0 'JSON'
if have python3; then
	python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert "end" in rows[-1] and rows[-1]["end"]["partial"] is False
row = [r for r in rows[:-1] if r["keys"] == {"comm": "p", "sym": "a"}][0]
assert row["values"]["children"]["sum"] == 10 and row["values"]["self"]["sum"] == 7, row
' <"$OUT" >py 2>&1
	is "$?" 0 'which a reader of JSON takes'
else
	skip 1 'python3 is not installed'
fi
run "$BIN/preport" --markdown small.folded
like "$OUT" '^\| 90\.91% \| 63\.64% \| <code>p</code> \| <code>a</code> \|$' 'Markdown'
run "$BIN/preport" --markdown --tree=callee small.folded
is "$(grep -c '^```' "$OUT")" 2 'with a tree as a block'
"$BIN/preport" --tsv small.folded >table.tsv
run "$BIN/phist" --merge --tsv table.tsv table.tsv
is "$(awk -F '\t' '$2 == "p" && $3 == "a" { for (i = 4; i <= NF; i++) if ($i == 20) print "twice" }' "$OUT")" twice 'phist adds up its TSV'

# Several events, keys of the event and of the sample.
run "$BIN/preport" sched.ps
is "$(grep -c ': [0-9]* sample' "$OUT")" "$("$BIN/phist" --by event --tsv sched.ps | grep -cv '^#')" 'a table for each event'
run "$BIN/preport" --event sched:sched_switch --by prev_comm,prev_prio --tsv --count sched.ps
awk -F '\t' '!/^#/ { print $2, $3, $7 }' "$OUT" | sort >got
"$BIN/pfilter" --drop 'event == "sched:sched_switch"' sched.ps | "$BIN/phist" --by prev_comm,prev_prio --tsv 2>/dev/null |
	awk -F '\t' '!/^#/ { print $2, $3, $4 }' | sort >want
same got want 'by fields of the event, as phist'
run "$BIN/preport" --by nosuch sched.ps
is "$status" 1 'a key that no event has: nothing to report'
like "$ERR" 'nosuch' 'which is named'
run "$BIN/preport" --event nosuch sched.ps
is "$status" 1 'an event that is not there'
like "$ERR" 'no samples of nosuch, but [0-9]+ of other events' 'is reported'

# What is not whole.
gzip -dc "$ROOT/t/data/report.data.gz" | "$BIN/pdecode" >raw.ps 2>/dev/null
run "$BIN/preport" raw.ps
like "$ERR" 'samples have only addresses: put psym before preport' 'without psym there are addresses'
like "$OUT" ' 0x[0-9a-f]+$' 'which are shown'
head -c $(($(wc -c <demo.ps) - 500)) demo.ps >cut.ps
run "$BIN/preport" cut.ps
is "$status" 1 'a stream that is cut off'
like "$OUT" 'the input was damaged or cut off' 'is reported above the table'
run "$BIN/preport" --tsv cut.ps
like "$OUT" '^#PPTABLE1 .*partial=1' 'and in the TSV'
: >none
run "$BIN/preport" none
is "$status" 1 'empty input'
like "$ERR" '^preport: ' 'is reported'
run "$BIN/preport" nothing
is "$status" 2 'a file that is not there'
run "$BIN/preport" "$ROOT/t/data/small.data"
is "$status" 2 'a recording'
like "$ERR" 'psym' 'needs other filters first'
run "$BIN/preport" --by 'comm,' small.folded
is "$status" 64 'a key that is none'
run "$BIN/preport" --tree=both small.folded
is "$status" 64 'a tree that is none'
run "$BIN/preport" --sort nosuch small.folded
is "$status" 64 'a column that is none'
printf 'p;a\033[31mb;\342\200\256c 1\n' >evil.folded
run "$BIN/preport" evil.folded
is "$(tr -d '[:print:]\n' <"$OUT" | wc -c)" 0 'control characters do not reach the terminal'

# Deep, and large.
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "f%d;", i % 7; print "x 1" }' >deep.folded
run "$BIN/preport" --tree=caller deep.folded
is "$status" 0 'a stack of 30000 frames'
awk 'BEGIN { for (i = 1; i < 400; i++) { for (k = 0; k < i; k++) printf "f%d;", k; print "x 1" } }' >comb.folded
run "$BIN/preport" --tree=caller --min-share=0 --ascii comb.folded
is "$status" 0 'branches at every step'
like "$OUT" 'deeper than fits here' 'end where there is no room'
is "$(awk 'length > 300' "$OUT" | wc -l)" 0 'and lines stay short'

run "$BIN/preport" --stats demo.ps
like "$ERR" 'samples [0-9]+ = counted [0-9]+ \+ not passing 0' '--stats'
"$BIN/pfilter" 'comm == "nosuch"' demo.ps >failed.ps 2>/dev/null
run "$BIN/preport" failed.ps
is "$status" 1 'no sample passed'
like "$ERR" 'none of the [0-9]+ samples passed the filter' 'is reported'

# What numbers are called, as the events' own text has it.
gunzip -c "$ROOT/t/data/kmem.data.gz" >kmem.data
"$BIN/pdecode" kmem.data >kmem.ps 2>/dev/null
run "$BIN/preport" --tsv --by gfp_flags kmem.ps
grep -o 'GFP_[A-Z_|]*' "$OUT" | sort -u >got
"$BIN/pdecode" -t kmem.ps | grep 'kmalloc:' | grep -o 'gfp_flags=GFP_[A-Z_|]*' | sed 's/.*=//' | sort -u >want
ok 'there are flags' test -s want
is "$(comm -13 got want)" '' '--by gfp_flags has names'
# ---- a call chain that begins elsewhere than the sample ----
printf '%s\n' 'ffffffffab000000 T _text' 'ffffffffabc00200 T at_ip' 'ffffffffabc00300 T after' >symbols
"$BIN/pdecode" "$ROOT/t/data/kernel-ip-user-chain.data.gz" 2>/dev/null | "$BIN/psym" --kallsyms symbols >elsewhere.ps 2>/dev/null
is "$("$BIN/pdecode" -t -G elsewhere.ps)" \
	"         :304609 304609 6828968.554173:   21260935 cycles:pppH:  ffffffffabc00227 at_ip+0x27 ([kernel.kallsyms])" \
	'the name is that of the address'
is "$("$BIN/pdecode" -t elsewhere.ps | awk 'NR > 1 { print $1 }' | paste -sd ' ' -)" '7f33e311727f 3331383332353134 ' \
	'the chain is printed as it is'
is "$("$BIN/preport" --tsv elsewhere.ps 2>/dev/null | awk '/at_ip/ { n++ } END { print n + 0 }')" 1 'preport has the function of the sample'
is "$("$BIN/preport" elsewhere.ps 2>/dev/null | awk '$NF == "at_ip" { print $1, $2, $4 }')" '100.00% 100.00% [kernel.kallsyms]' \
	'to which the sample belongs'
is "$("$BIN/preport" elsewhere.ps 2>/dev/null | awk '$2 == "0.00%" { n++ } END { print n }')" 2 'and those of the chain have none of their own'
is "$("$BIN/phist" --by ip,sym,dso --tsv elsewhere.ps | tail -n 1 | cut -f 2-5)" \
	"0xffffffffabc00227	at_ip	[kernel.kallsyms]	1" 'phist'
is "$("$BIN/pfilter" --drop 'sym == "at_ip" && ip == 0xffffffffabc00227' elsewhere.ps | "$BIN/pdecode" -j | grep -c '"sample"')" 1 'pfilter'
"$BIN/psym" --kallsyms symbols elsewhere.ps 2>/dev/null | "$BIN/pdecode" -j | grep '"sample"' >again
"$BIN/pdecode" -j elsewhere.ps | grep '"sample"' | cmp -s - again
is $? 0 'psym once more'

# ---- a key that is an event ----
run "$BIN/preport" --markdown --by event elsewhere.ps
is "$status" 0 'Markdown by event'
like "$OUT" '^\| .*self \| event \|$' 'has that column'

# ---- how stacks of folded text ended ----
cat >marked.folded <<'END'
a;f 60
a;[broken stack];g 20
a;[broken stack];[on another stack];g 4
a;[no frame pointer: libc.so.6];h 10
a;[on another stack] 4
a;[k];h 2
END
run "$BIN/preport" marked.folded
like "$OUT" '^folded stacks: 6 stacks, 100, 24\.0 % \[broken stack\], 4\.0 % \[on another stack\], 10\.0 % \[no frame pointer\]$' \
	'marks in folded text are counted, by the one next to the command'

# ---- a mapping that simpleperf marks as a file of JIT symbols ----
is "$("$BIN/pdecode" "$ROOT/t/data/mmap2-prot-0x4000.data" 2>/dev/null | "$BIN/psym" --missing 2>/dev/null | grep -c app_jit_cache:15480-17544)" 1 \
	'protections that only simpleperf has: code may be there, of the file that perf script names'

done_testing
