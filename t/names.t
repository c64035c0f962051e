#!/bin/sh
# Names instead of numbers in the tables of phist and plat, beside the text of the same events, which
# other code prints by their print formats.
. "${0%/*}/lib.sh"

data=$ROOT/t/data

text() {
	"$BIN/pdecode" -t "$data/$1" 2>/dev/null
}

# hist FILE OPTION...: phist, its rows without the header and the column of shares.
hist() {
	t_file=$1
	shift
	"$BIN/pdecode" "$data/$t_file" 2>/dev/null | "$BIN/phist" --tsv "$@" 2>hist.err |
		awk -F '\t' -v OFS='\t' '!/^#/ { NF--; $1 = ""; print }' | sort
}

# Values of "NAME=" in the text of an event, counted.
counted() {
	sed -n "s/^.*$1: .*[ ,]$2=\([^ ,]*\).*/\1/p" | sort | uniq -c |
		awk -v OFS='\t' '{ print "", $2, $1 }' | sort
}

text kmem.data.gz >kmem.txt
for event in kmem_cache_alloc kmalloc mm_page_alloc; do
	"$BIN/pdecode" "$data/kmem.data.gz" 2>/dev/null | "$BIN/pfilter" "kmem:$event:" |
		"$BIN/phist" --tsv --by gfp_flags 2>/dev/null |
		awk -F '\t' -v OFS='\t' '!/^#/ { print "", $2, $3 }' | sort >got
	counted "kmem:$event" gfp_flags <kmem.txt >want
	same got want "flags: $event"
	isnt "$(wc -l <want)" 0 'and there are some'
done

hist sched.dat --by vec >got
text sched.dat | sed -n 's/.*softirq_[a-z]*: .*action=\([A-Z_]*\)\].*/\1/p' | sort | uniq -c |
	awk -v OFS='\t' '{ print "", $2, $1 }' | sort >want
same got want 'softirq vectors'
hist sched.dat --by vec --raw >got
text sched.dat | sed -n 's/.*softirq_[a-z]*: .*vec=\([0-9]*\) .*/\1/p' | sort | uniq -c |
	awk -v OFS='\t' '{ print "", $2, $1 }' | sort >want
same got want '--raw: their numbers'
hist sched-stacks.data.gz --by prev_state >got
text sched-stacks.data.gz | counted sched:sched_switch prev_state >want
same got want 'states of threads'
# An expression is reckoned with numbers; so are conditions.
hist sched.dat --by 'prev_state + 0' >got
ok 'an expression is a number' awk -F '\t' '$2 !~ /^[0-9]+$/ { exit 1 }' got
isnt "$(wc -l <got)" 0 'and there are some'
run_pipe '"$BIN/pdecode" "$data/sched.dat"' '"$BIN/pfilter" "vec == TIMER"' '"$BIN/phist" --by vec --tsv'
like "$OUT" '	TIMER	[0-9]' 'a filter by the name'
is "$(grep -vc '^#' "$OUT")" 1 'leaves that alone'
hist sched.dat -f vec >got
is "$(cut -f 2 got)" "$(text sched.dat | grep -c 'softirq_[a-z]*: ')" 'fields are numbers'

hist kmem.data.gz --by migratetype >got
sed -n 's/.* migratetype=\([0-9]*\) .*/\1/p' kmem.txt | sort | uniq -c |
	awk -v OFS='\t' '{ print "", $2 == 0 ? "unmovable" : $2 == 1 ? "movable" : $2 == 2 ? "reclaimable" : $2, $1 }' |
	sort >want
same got want 'migratetype'

# A block device of another machine is what the kernel prints.
hist block.data.gz --by dev >got
text block.data.gz | sed -n 's/.* block:block_[a-z_]*: *\([0-9]*,[0-9]*\) .*/\1/p' | sort | uniq -c |
	awk -v OFS='\t' '{ print "", $2, $1 }' | sort >want
same got want 'devices of another machine: two numbers'
hist block.data.gz --by dev --raw >got
awk -F '\t' -v OFS='\t' '{ split($2, d, ","); print "", d[1] * 1048576 + d[2], $3 }' want | sort >raw
same got raw '--raw: one number'
run_pipe '"$BIN/pdecode" "$data/block.data.gz"' '"$BIN/plat" -k block-io --by dev --slower 0 --tsv'
is "$(awk -F '\t' 'NR > 1 { print $NF }' "$OUT" | sort -u)" "$(awk -F '\t' 'NR > 1 { sub(/ .*/, "", $9); print $9 }' "$OUT" |
	sort -u)" 'plat: --by and the name are the same'

# Functions, from symbols that the test makes up: each call site is 0x10 after one.
sed -n 's/.* call_site=0x\([0-9a-f]*\) .*/\1/p' kmem.txt | sort -u >sites
isnt "$(wc -l <sites)" 0 'there are call sites'
perl -ne '
	BEGIN { no warnings "portable"; print "ffffffff81000000 T _text\n"; open NAMES, ">", "names" }
	chomp;
	# Sites that are near to each other are in one function.
	my $at = hex;
	if (!defined $last || $at - $last > 64) {
		$name = "at_$_";
		printf "%x T %s\n", $at - 16, $name;
	}
	$last = $at;
	print NAMES "$_ $name\n";' sites >symbols
hist kmem.data.gz --by call_site --kallsyms symbols >got
sed -n 's/.* call_site=0x\([0-9a-f]*\) .*/\1/p' kmem.txt | awk -v OFS='\t' '
	BEGIN { while ((getline line <"names") > 0) { split(line, w, " "); name[w[1]] = w[2] } }
	{ n[name[$1]]++ } END { for (f in n) print "", f, n[f] }' | sort >want
same got want 'call sites: functions'
run_pipe '"$BIN/pdecode" "$data/kmem.data.gz"' '"$BIN/plat" -k kmem --kallsyms symbols --by call_site,name --tsv'
ok 'plat: the same as the name' awk -F '\t' '!/^#/ && $1 == "kmem" { n++; if ($2 != $3) exit 1 } END { exit !n }' "$OUT"
hist kmem.data.gz --by ptr --kallsyms symbols >got
unlike got 'at_' 'a pointer to data is no function'
run_pipe '"$BIN/pdecode" "$data/kmem.data.gz"' '"$BIN/plat" -k kmem --raw --kallsyms symbols --by call_site,name --tsv'
ok 'plat --raw: addresses' awk -F '\t' '!/^#/ && $1 == "kmem" { n++; if ($2 !~ /^0x/ || $3 !~ /^0x/) exit 1 } END { exit !n }' "$OUT"
run "$BIN/phist" --kallsyms nowhere.txt --by ip "$data/demo.data"
is "$status" 2 'a file of symbols that is not there'

# Errors, bits without a name, two tables for one field, names and numbers in one column.
cat >made.events <<'EVENTS'
fs failed 601 | int error; | "error=%s", __print_symbolic(-REC->error, { 2, "ENOENT" }, { 13, "EACCES" })
fs opened 602 | unsigned int flags; | "flags=%s", __print_flags(REC->flags, "|", { 1, "A" }, { 6, "BC" }, { 2, "B" })
vm left 603 | int isa; int why; | "%s", (REC->isa == 1) ? __print_symbolic(REC->why, { 1, "one" }) : __print_symbolic(REC->why, { 1, "eins" })
io begun 604 | int id; int what; | "%s", __print_symbolic(REC->what, { 7, "seven" })
io ended 605 | int id; | "%d", REC->id
@ 0 5000000000 11 failed -2
@ 0 5000001000 11 failed -13
@ 0 5000002000 11 failed -99
@ 0 5000003000 11 opened 7
@ 0 5000004000 11 opened 2
@ 0 5000005000 11 opened 19
@ 0 5000006000 11 opened 16
@ 0 5000007000 11 opened 0
@ 0 5000008000 11 left 2 1
@ 0 5000009000 11 begun 1 8
@ 0 5000010000 11 ended 1
@ 0 5000011000 11 begun 2 7
@ 0 5000012000 11 ended 2
@ 0 5000013000 11 begun 3 8
@ 0 5000014000 11 ended 3
EVENTS
"$ROOT/t/trace-make" events=made.events >made.dat
made() {
	"$BIN/pdecode" made.dat | "$BIN/phist" --tsv --by "$1" 2>/dev/null | awk -F '\t' '!/^#/ { print $2 }' | sort | tr '\n' ' '
}
is "$(made error)" '-99 EACCES ENOENT ' 'errors, as the print format has them'
is "$(made flags)" '0 16 A|BC A|B|0x10 B ' 'bits'
is "$(made why)" '1 ' 'two lists of names: the number'
is "$(made what)" '8 seven ' 'a column of names and numbers'
run_pipe '"$BIN/pdecode" made.dat' '"$BIN/plat" -s begun:id -e ended:id --by what --tsv'
awk -F '\t' '!/^#/ && $1 == "pair" { print $2, $3 }' "$OUT" | sort >got
printf '8 2\nseven 1\n' >want
same got want 'plat: a column of names and numbers'

# cgroups: what perf report --sort cgroup counts (t/data/README.md).
gzip -dc "$data/cgroup-moves.data.gz" >cgroups.data
"$BIN/pdecode" cgroups.data | "$BIN/phist" --by cgroup --tsv 2>/dev/null | awk -F '\t' '!/^#/ { print $3, $2 }' | sort >got
printf '%s\n' '103 /t1/sub' '344 /' '65 /t1/with space' '67 /late' >want
same got want 'cgroups: paths'
"$BIN/pdecode" cgroups.data | "$BIN/phist" --by cgroup --raw --tsv 2>/dev/null | awk -F '\t' '!/^#/ { print $2 }' | sort -n |
	tr '\n' ' ' >got
is "$(cat got)" '1 44 65 86 ' '--raw: their numbers'

# This machine's names, in recordings that prove to be of it.
disk=$(awk '$1 ~ /^[1-9]/ && $3 ~ /^[a-z]+$/ { print $3; exit }' /proc/diskstats 2>/dev/null)
if "$BIN/pcap-perf" -a -e block:block_rq_issue -o live.data -- sh -c \
	'dd if=/dev/zero of=x bs=64k count=8 conv=fsync; sync' 2>/dev/null &&
	"$BIN/pdecode" live.data 2>/dev/null | "$BIN/phist" --by dev --raw --tsv >raw 2>/dev/null; then
	"$BIN/pdecode" live.data | "$BIN/phist" --by dev --tsv 2>/dev/null | awk -F '\t' '!/^#/ { print $2 }' | sort >got
	awk -F '\t' '!/^#/ { print int($2 / 1048576) " " $2 % 1048576 }' raw | while read -r major minor; do
		link=$(readlink "/sys/dev/block/$major:$minor") && echo "${link##*/}" || echo "$major,$minor"
	done | sort >want
	same got want 'devices of this machine: their names'
else
	skip 1 "no block I/O can be recorded here${disk:+ ($disk)}"
fi
done_testing
