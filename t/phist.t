#!/bin/sh
# phist: counts, sums, histograms and percentiles beside what awk makes of the text that trace-cmd and
# perf print of the same recordings; windows, merging, accounts, refusals and exit statuses.
. "${0%/*}/lib.sh"

tab='	'
"$BIN/pdecode" "$ROOT/t/data/trace-zlib.dat" >zlib.ps 2>/dev/null || exit 1
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps 2>/dev/null || exit 1

# "EVENT<tab>COMM<tab>CPU<tab>NS<tab>THE REST" for each line of trace-cmd report.
gzip -dc "$ROOT/t/data/trace-zlib.report.gz" | awk -v OFS='\t' '
	match($0, /-[0-9]+ +\[[0-9]+\] +[0-9]+\.[0-9]+: +[^ ]+: /) {
		comm = substr($0, 1, RSTART - 1)
		sub(/^b2:/, "", comm)
		sub(/^ +/, "", comm)
		split(substr($0, RSTART, RLENGTH), part, / +/)
		gsub(/[][]/, "", part[2])
		sub(/:$/, "", part[3])
		sub(/:$/, "", part[4])
		split(part[3], time, ".")
		print part[4], comm, part[2] + 0, time[1] "000000000" + time[2] "000", substr($0, RSTART + RLENGTH)
	}' >report
isnt "$(wc -l <report)" 0 'the text has events'
"$BIN/phist" --tsv --by event zlib.ps | sed 1d | cut -f 3 | paste -s -d + >counts
is "$(($(cat counts)))" "$(wc -l <report)" 'every line is an event'

# table FILE COLUMN...: the rows of a TSV without what derives.
columns() { # FILE COLUMNS
	grep -v '^#' "$1" | cut -f "$2"
}
run "$BIN/phist" --tsv --by event,COMM,CPU zlib.ps
is "$status" 0 'by three keys'
columns "$OUT" 2-5 | sed 's/^[a-z]*://' | sort >got
cut -f 1-3 report | sort | uniq -c | awk -v OFS='\t' '{
	n = $1; sub(/^ *[0-9]+ /, ""); print $0, n }' | sort >want
same got want 'counts by event, command and CPU are those of the text'

# One field: each value, from the text.
sed -n "s/^sched_stat_runtime$tab.* runtime=\([0-9]*\) .*/\1/p" report | sort -n >values
run "$BIN/phist" --tsv -f runtime --unit ns zlib.ps
columns "$OUT" 2-4,5,11 >got
awk -v OFS='\t' '{ sum += $1; v[NR] = $1 } END { print NR, sum, "100.0000", v[1], v[NR] }' values >want
same got want 'count, sum, minimum, maximum'
like "$ERR" 'samples do not count: without runtime' 'and the others are reported'
columns "$OUT" 7-10 | tr '\t' '\n' >got
awk -v p='50 90 99 99.9' '{ v[NR] = $1 } END {
	n = split(p, q, " ")
	for (i = 1; i <= n; i++) { r = NR * q[i] / 100; k = int(r); if (k < r) k++; print v[k] } }' values |
	paste - got | awk '{ e = ($1 - $2) / $1; if (e < 0 || e > 0.004) print }' >wrong
empty wrong 'percentiles are those of the sorted values, less than 0.4 % below'

# Histograms.
run "$BIN/phist" -f runtime zlib.ps
sed -n 's/^ *\([0-9]*\) -> \([0-9]*\) *: *\([0-9]*\) |.*/\1 \2 \3/p' "$OUT" | awk '$3' >got
awk '{ low = 1; while (low * 2 <= $1) low *= 2; n[low]++ }
	END { for (l in n) print l, 2 * l - 1, n[l] }' values | sort -n >want
same got want 'the histogram by powers of two'
run "$BIN/phist" -f runtime --linear 100k zlib.ps
sed -n 's/^ *\([0-9]*\) -> \([0-9]*\) *: *\([0-9]*\) |.*/\1 \2 \3/p' "$OUT" | awk '$3' >got
awk '{ n[int($1 / 100000)]++ } END { for (l in n) print l * 100000, (l + 1) * 100000 - 1, n[l] }' values |
	sort -n >want
same got want 'the histogram by steps'
run "$BIN/phist" -f runtime --fine --by comm zlib.ps
like "$OUT" '^runtime: comm = ' 'a histogram for each row'
is "$(sed -n 's/.* -> [0-9]* *: *\([0-9]*\) |.*/\1/p' "$OUT" | paste -s -d + | bc 2>/dev/null ||
	sed -n 's/.* -> [0-9]* *: *\([0-9]*\) |.*/\1/p' "$OUT" | awk '{ n += $1 } END { print n }')" \
	"$(wc -l <values)" 'its fine buckets have all values'
run "$BIN/phist" -f runtime --unit ns --linear 1ms zlib.ps
like "$OUT" '0 ns -> 1\.00 ms' 'a step with a unit'

# Several fields and expressions.
run "$BIN/phist" --tsv -f 'runtime / 1000' -f prev_prio,pid --by event zlib.ps
is "$status" 0 'several fields'
sed -n "s/^sched_stat_runtime$tab.* runtime=\([0-9]*\) .*/\1/p" report |
	awk '{ n += int($1 / 1000) } END { print n }' >want
columns "$OUT" 2-4 | sed -n 's/^sched:sched_stat_runtime.*\t//p' >got
same got want 'an expression'
is "$(columns "$OUT" 2,15 | grep -c "sched_switch${tab}22\$")" 1 'another field in another event'

# What sums of are of no use has none in text.
"$BIN/phist" -f runtime,prev_prio,common_pid,'prev_prio + 1' zlib.ps 2>/dev/null >got
is "$(awk 'NR == 2 { n = 0; for (i = 1; i <= NF; i++) n += $i == "total" || $i == "share"; print n }' got)" 4 \
	'priorities and threads have no total, what ran and an expression have'
is "$("$BIN/phist" -f prev_prio --tsv zlib.ps 2>/dev/null | "$BIN/phist" --merge | sed -n 2p | grep -c total)" 0 'nor after --merge'
"$BIN/phist" -f prev_prio --tsv zlib.ps 2>/dev/null >got
like got 'prev_prio:sum' 'the TSV has it, to be merged'

# Markdown has the numbers of TSV; characters that mean something there are escaped.
"$BIN/phist" --tsv -b comm,cpu zlib.ps 2>/dev/null | grep -v '^#' | cut -f 2-4 | tr '\t' ' ' | sort >want
run "$BIN/phist" --markdown -b comm,cpu zlib.ps
is "$status" 0 '--markdown'
sed '1,2d; s/<[^>]*>//g' "$OUT" | perl -pe 's/&#(\d+);/chr $1/ge' | awk -F ' *[|] *' '{ print $4, $5, $2 }' | sort >got
same got want '--markdown: each row and its count'
is "$(sed 's/[^|]//g' "$OUT" | sort -u)" '|||||' 'and as many columns in each line'
run "$BIN/phist" --markdown -f prev_prio -b "event" zlib.ps
like "$OUT" '<code>sched:sched&#95;switch</code>' 'an underscore is escaped'

# Windows of time.
run "$BIN/phist" --tsv --over-time=10ms zlib.ps
columns "$OUT" 2,3 >got
awk -F '\t' '{ split($4, x, "+"); t = x[1] + x[2] } { n[int($4 / 1e7)]++ }
	END { for (w in n) printf "%.0f\t%d\n", w * 1e7, n[w] }' report | sort -n >want
same got want 'rows of 10 ms'
like "$OUT" '^#PPTABLE1 .*view=lines .*time:window:10000000' 'the header has the width'
"$BIN/phist" --tsv --over-time=10ms --by comm zlib.ps 2>/dev/null | grep -v '^#' | cut -f 2-4 >all
run "$BIN/phist" --tsv --over-time=10ms --by comm -n 2 zlib.ps
columns "$OUT" 2-4 | grep -v '^(other)' >got
awk -F '\t' '{ n[$2] += $3 } END { for (c in n) print n[c] "\t" c }' all | sort -k1,1nr | head -n 2 | cut -f 2 >most
awk -F '\t' 'NR == FNR { most[$1]; next } $2 in most' most all >want
same got want '--top over time: what has most in all windows, in each'
isnt "$(cut -f 1 got | sort -u | wc -l)" 1 'and there are several'
is "$(columns "$OUT" 4 | awk '{ n += $1 } END { print n }')" "$(awk '{ n += $NF } END { print n }' all)" \
	'all others are one row'
run "$BIN/phist" --tsv --heatmap -f runtime zlib.ps
like "$OUT" '^#PPTABLE1 .*view=heat ' 'a heat map'
is "$(columns "$OUT" 3 | awk '{ n += $1 } END { print n, NR < 400 }')" "$(wc -l <values) 1" \
	'windows of an automatic width have all'

# Merging: the parts of a recording, each cut out by its CPU, give the whole.
"$BIN/phist" --tsv -f runtime,prio --by comm --linear 7 zlib.ps >whole.tsv 2>/dev/null
"$BIN/phist" --tsv -f runtime,prio --by comm --linear 7 zlib.ps zlib.ps >twice.tsv 2>/dev/null
run "$BIN/phist" --merge --tsv --sort runtime.count whole.tsv whole.tsv
is "$status" 0 'results are merged'
sort twice.tsv >want
sort "$OUT" >got
same got want 'two results are one of both recordings'
run_pipe 'cat whole.tsv' '"$BIN/phist" --merge --tsv --sort runtime.count'
same "$OUT" whole.tsv 'one result stays as it is'
sed 's/$/\r/' whole.tsv >crlf.tsv
"$BIN/phist" --merge --tsv whole.tsv >want
run "$BIN/phist" --merge --tsv crlf.tsv
same "$OUT" want "a file of Windows' lines has all of its columns"
run "$BIN/phist" --merge whole.tsv
like "$OUT" '^comm ' 'a result as text'
"$BIN/phist" --tsv -f runtime,prio --by cpu --linear 7 zlib.ps >other.tsv 2>/dev/null
run "$BIN/phist" --merge whole.tsv other.tsv
is "$status" 0 'tables of other names come one after the other'
sed 's/comm:key/comm:hex/' whole.tsv >bad.tsv
run "$BIN/phist" --merge whole.tsv bad.tsv
is "$status" 2 'a table of the same name with other columns'
like "$ERR" 'bad.tsv: offset 0: .*cannot be merged' 'is refused'
head -n 3 whole.tsv >cut.tsv
run "$BIN/phist" --merge cut.tsv
is "$status" 1 'rows are missing'
like "$ERR" '2 rows of a table that should have' 'and said'
run "$BIN/phist" whole.tsv
is "$status" 2 'a table without --merge'
like "$ERR" 'use --merge' 'says what to do'
run "$BIN/phist" --merge zlib.ps
is "$status" 2 'a stream with --merge'

# Order and the rest.
run "$BIN/phist" --by event --sort event -n 2 zlib.ps
is "$(sed -n '2,$s/ .*//p' "$OUT" | paste -s -d ' ')" 'ftrace:function irq:softirq_entry (other)' \
	'sorted by a key, and the rest in one row'
is "$(awk 'NR > 1 { n += $2 } END { print n }' "$OUT")" "$(wc -l <report)" 'which has all'
run "$BIN/phist" -f runtime --by comm --sort -max --tsv zlib.ps
columns "$OUT" 12 >got
sort -n got >want
same got want 'the smallest maximum first'
run "$BIN/phist" --by event --sort p98 zlib.ps
is "$status" 64 'a column that there is not'
like "$ERR" 'no column p98' 'is named'

# JSON.
run "$BIN/phist" --json -f runtime --by comm zlib.ps
if have python3; then
	python3 -c '
import json, sys
n = 0
for line in open(sys.argv[1]):
    row = json.loads(line)
    if "end" in row:
        print(n, row["end"]["partial"])
    else:
        v = row["values"]["runtime"]
        assert sum(b[2] for b in v["buckets"]) == v["count"] and v["buckets"][0][0] <= v["min"]
        n += v["count"]' "$OUT" >got 2>&1
	is "$(cat got)" "$(wc -l <values) False" 'JSON'
else
	skip 1 'python3 is not installed'
fi

# perf.data: periods, symbols of psym, addresses without it.
if have perf; then
	perf --no-pager script -F event,period -i "$ROOT/t/data/small.data" </dev/null 2>/dev/null |
		awk '/cpu-clock/ { n++; s += $1 } END { print n "\t" s }' >want
	run "$BIN/phist" --tsv -f period --by event small.ps
	columns "$OUT" 2-4 | sed -n 's/^cpu-clock\t//p' >got
	same got want 'periods are those of perf script'
	like "$OUT" "period:sum$tab" 'ns and events make no unit'
	like "$ERR" 'different units' 'and it is reported'
else
	skip 3 'perf is not installed'
fi
"$BIN/pdecode" "$ROOT/t/data/demo.data" >demo.ps 2>/dev/null
run "$BIN/phist" --tsv -f period demo.ps
like "$OUT" 'period:sum:ns' 'the unit is that of the event'
run "$BIN/phist" --by caller,sym small.ps
like "$OUT" '^0x[0-9a-f]+ +0x[0-9a-f]+ +[0-9]+ ' 'addresses'
like "$ERR" 'only addresses: put psym before phist' 'and why'
# The first two addresses of each call chain, as the text has them.
"$BIN/pdecode" -t small.ps | awk 'NF && !/^\t/ { n = 0 } /^\t/ { a[n++] = $1; if (n == 2) print "0x" a[1], "0x" a[0] }' |
	sort | uniq -c | awk '{ print $2, $3, $1 }' | sort >want
isnt "$(wc -l <want)" 0 'there are callers'
awk 'NR > 1 { print $1, $2, $3 }' "$OUT" | sort >got
same got want 'two of them are those of the call chains'
"$BIN/psym" small.ps >small.sym 2>/dev/null
"$BIN/pfold" -e cpu-clock -c small.sym | sed 's/ \([0-9]*\)$/\t\1/; s/^[^;]*;//' | sort >want
[ -n "$(cat want)" ] || diag 'nothing folded'
is "$("$BIN/phist" --tsv --by event,stack small.sym 2>/dev/null | awk -F '\t' '/^#/ { next }
	$2 == "cpu-clock" { n += $4 } END { print n }')" "$(awk -F '\t' '{ n += $2 } END { print n }' want)" \
	'stacks have as many samples as in folded text'

# Keys of more than one kind become text.
run "$BIN/phist" --tsv --by 'event, (cpu == 0)' zlib.ps
like "$OUT" ':number' 'a condition is a key'
run "$BIN/phist" --by nosuch zlib.ps
is "$status" 1 'no event has the key'
like "$ERR" 'nosuch' 'which is named'
empty "$OUT" 'and nothing is written'
run "$BIN/phist" -f runtime,nosuch zlib.ps
is "$status" 1 'no event has one of the fields'
like "$OUT" '^runtime' 'the other one is written'

# Two events of one name; what perf report counts is in t/data/README.md.
gzip -dc "$ROOT/t/data/cgroups.data.gz" >cgroups.data
run_pipe '"$BIN/pdecode" cgroups.data cgroups.data' '"$BIN/phist" --by event --tsv'
columns "$OUT" 2,3 >got
printf 'cpu-clock\t194\ncpu-clock #2\t184\n' >want
same got want 'events of one name have a row each, and recordings share them'
is "$("$BIN/pdecode" cgroups.data | "$BIN/pfilter" 'event == "cpu-clock"' | "$BIN/phist" --by event --tsv | columns - 3 |
	paste -s -d ' ')" '97 92' 'a filter means both'

# Threads that are about to end have the number -1 in the sample; the text of each event here has it.
gzip -dc "$ROOT/t/data/sched.data.gz" | "$BIN/pdecode" >exit.ps
"$BIN/pdecode" -t exit.ps | sed -n 's/^ *\(.*[^ ]\)  *\(-*[0-9][0-9]*\) \[[0-9]*\] *[0-9.]*: *[^ ]*: \(.*\)/\2\t\1\t\3/p' |
	awk -F '\t' -v OFS='\t' '$1 == -1 { $2 = $1 = $3
		sub(/^[^=]*=/, "", $2); sub(/ (prev_)?pid=.*/, "", $2)
		sub(/^[^=]*=[^=]*=/, "", $1); sub(/ .*/, "", $1); n[2]++ }
	{ print $2, $1 }
	END { if (!n[2]) print "none" }' | sort | uniq -c | awk -v OFS='\t' '{
		c = $1; sub(/^ *[0-9]+ /, ""); print $0, c }' | sort >want
"$BIN/phist" --by COMM,TID --tsv exit.ps 2>/dev/null | columns - 2-4 | sort >got
same got want 'a thread that is about to end has its name and number'
is "$("$BIN/pdecode" -t exit.ps | grep -c '^ *:-1 *-1 ')" 22 'and is printed as perf prints it'

# The account.
run "$BIN/phist" --stats -f runtime zlib.ps
is "$(sed -n 's/.*samples \([0-9]*\) = counted \(.*\)/\1 = \2/p' "$ERR" | sed 's/[a-z ]*\([=+]\)/ \1 /g; s/[a-z]//g' |
	awk '{ gsub(/ /, ""); split($0, a, "="); n = split(a[2], b, "+"); for (i = 1; i <= n; i++) s += b[i]; print a[1] == s }')" \
	1 'samples read are samples accounted for'
run "$BIN/phist" -f comm zlib.ps
is "$status" 1 'a text has no histogram'
like "$ERR" 'is a text, not a number' 'and it is reported'
run "$BIN/phist" -f 'runtime +' zlib.ps
is "$status" 64 'an expression that is none'
like "$ERR" '\^' 'with a mark at the place'
: >nothing
run "$BIN/phist" nothing
is "$status" 2 'an empty file'
like "$ERR" 'no input: the writer of the stream wrote nothing' 'is the fault of what was to write it'
head -c "$(($(wc -c <demo.ps) / 2))" demo.ps >cut.ps
run "$BIN/phist" --by event --tsv cut.ps
is "$status" 1 'a stream that is cut off'
like "$OUT" '^#PPTABLE1 .*partial=1' 'gives a table that says so'
cp "$OUT" cut.tsv
run "$BIN/phist" --merge cut.tsv
is "$status" 1 'as does the next one'

# Who asks for slab memory: the kernel itself records the address that the allocator returns to, call_site. (Numbers of
# 64 bits are compared as texts of one length.)
gzip -dc "$ROOT/t/data/slab-sites.kallsyms.gz" >slab.kallsyms
"$BIN/pdecode" "$ROOT/t/data/slab-sites.data.gz" 2>/dev/null | "$BIN/psym" --kallsyms slab.kallsyms 2>/dev/null >slab.ps
"$BIN/phist" --raw --by call_site,site --tsv slab.ps 2>/dev/null | columns - 2-4 | sort >sites
sort slab.kallsyms | awk -v OFS='\t' -v sites=sites '
	BEGIN { while ((getline line <sites) > 0) { n++; split(line, f, "\t"); at[n] = substr(f[1], 3); rest[n] = f[2] OFS f[3] } i = 1 }
	{ while (i <= n && "x" at[i] <= "x" $1) print name, rest[i++]; name = $3 }
	END { while (i <= n) print name, rest[i++] }' >asked
isnt "$(wc -l <asked)" 0 'there are slab events with call chains'
# Two allocators are upon the slab allocator: site is whom they work for.
is "$(awk '$1 != $2 && $1 !~ /^(mempool_alloc|__vmalloc_node_range)_/' asked)" '' 'site of slab events is who the kernel says has asked'
"$BIN/phist" --kallsyms slab.kallsyms --by call_site,site --tsv slab.ps 2>/dev/null | columns - 2-4 | sort >named
# The functions of several addresses are one.
awk -v OFS='\t' '{ n[$1 OFS $2] += $3 } END { for (f in n) print f, n[f] }' asked | sort >want
same named want 'and call_site is shown as that function'
is "$(awk '$1 != $2 && $2 ~ /mempool|vmalloc/' asked)" '' 'or who asked an allocator that did'

# Plain columns: each row and value of all tables once, as in the other form.
"$BIN/pdecode" "$ROOT/t/data/sched.dat" 2>/dev/null >sched.ps
for by in comm,cpu source,comm; do
	"$BIN/phist" -f prev_prio,prev_pid --by "$by" --tsv sched.ps 2>/dev/null >form.tsv
	"$BIN/phist" -f prev_prio,prev_pid --by "$by" --tsv=plain --source 'a	b' sched.ps 2>/dev/null >plain.tsv
	# Names of columns and the cells of each value, from the header of the other form.
	awk -F '\t' -v OFS='\t' '
		/^#PPTABLE1/ {
			for (i = 2; i <= NF; i++) { n = split($i, part, ":"); name[i] = part[1]; what[i] = part[2]; unit[i] = part[3] }
			last = NF
			next
		}
		{
			for (i = 2; i <= last; i++)
				if (what[i] == "count") {
					line = "a\\x09b" OFS $1 OFS $2 OFS $3 OFS name[i] OFS unit[i + 1]
					for (k = i; k <= last && name[k] == name[i]; k++)
						line = line OFS $k
					print line
				}
		}' form.tsv | sort >want
	sed 1d plain.tsv | sort >got
	ok "--tsv=plain: there are rows by $by" test -s want
	same got want 'which are those of --tsv'
done
is "$(head -n 1 plain.tsv)" "$(printf 'source	table	source_key	comm	value	unit	count	sum	share	min	mean	p50	p90	p99	p99.9	max	max_time	buckets')" \
	'the names of the columns'
"$BIN/plat" --kind runq,offcpu --tsv sched.ps 2>/dev/null >form.tsv
run "$BIN/plat" --kind runq,offcpu --tsv=plain sched.ps
is "$(sed 1d "$OUT" | wc -l)" "$(grep -vc '^#' form.tsv)" 'plat: the rows of all tables'
is "$(sed 1d "$OUT" | cut -f 1 | sort -u)" sched.ps 'with the file as their source'
is "$(awk -F '\t' '{ print NF }' "$OUT" | sort -u | wc -l)" 1 'all of the same columns'
run "$BIN/phist" --tsv=plain --every 1s sched.ps
is "$status" 64 '--tsv=plain has no periods'
run "$BIN/phist" --tsv=fancy sched.ps
is "$status" 64 'nor are there other kinds'

# Losses of the recording.
"$BIN/pdecode" "$ROOT/t/data/trace-v6.dat.gz" >v6.ps 2>/dev/null
run "$BIN/phist" --by event v6.ps
is "$status" 0 'losses are no failure'
like "$ERR" 'the recording lost [0-9]+ events' 'but said'
run "$BIN/phist" --strict --by event v6.ps
is "$status" 1 'with --strict they are'

run "$BIN/phist" --help
is "$status" 0 '--help'
run "$BIN/phist" --linear 0 zlib.ps
is "$status" 64 'no step'
run "$BIN/phist" --over-time=7 zlib.ps
is "$status" 64 'a window without a unit'
# A key that is wider than its column is cut, so that the others stay in place; whole elsewhere.
long=$(printf '%070d' 0 | tr 0 x)
run "$BIN/phist" --by "comm ~ \"*a*\", '$long'" small.ps
like "$OUT" " x{59}…  " 'a wide key is cut'
is "$(awk 'NF { print length($0) }' "$OUT" | sort -u | wc -l)" 1 'and all rows are as long as the head'
run "$BIN/phist" --wide --by "'$long'" small.ps
like "$OUT" "^$long  " 'with --wide it is whole'
run "$BIN/phist" --tsv --by "'$long'" small.ps
like "$OUT" "$long" 'and in TSV'

done_testing
