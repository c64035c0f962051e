#!/bin/sh
# perfpipe-stream(5) against lib/stream/records.h: every record, field and optional field of a sample
# with its number and kind, the reasons and limits; and its example program, built and run.
. "${0%/*}/lib.sh"

page=$ROOT/man/perfpipe-stream.5
lib=${UNIT%/t/unit}/libperfpipe.a
cc=${CC:-cc}
plan 8

# "RECORD number NAME", "FIELD RECORD kind name", "SAMPLE bit kind name", "REASON number text".
# Where a table says "context", the fields of CONTEXT are meant.
page_tables() {
	awk '
	/^\.Ss .*, type [0-9]+$/ {
		record = $2
		sub(/,$/, "", record)
		print "RECORD", $NF, record
	}
	/^\.Ss EVENT_FIELD,/ { record = "EVENT_FIELD"; print "RECORD", "-", record }
	/^\.Ss CONTEXT,/ { record = "CONTEXT" }
	/^\.Ss Reasons/ { record = "REASON" }
	/^\.Ss Ends of stacks/ { record = "HOW" }
	/^\.Sh/ { record = "" }
	reason != "" { print record, reason, $0; reason = "" }
	(record == "REASON" || record == "HOW") && /^\.It [0-9]+$/ { reason = $2 }
	record == "CONTEXT" && /^\.It Vt/ { context[++n] = $3 " " $5; next }
	/^\.It Em context$/ { for (i = 1; i <= n; i++) print "FIELD", record, context[i] }
	/^\.It Vt/ && record != "" { print "FIELD", record, $3, $5 }
	/^\.It [0-9]+ Vt/ { print "SAMPLE", $2, $4, $6 }' "$1"
}

# What a page may not lose: the test of the test.
cat >small.5 <<'END'
.Ss CONTEXT, what context records begin with
.It Vt u64 Fa time
.Ss COMM, type 8
.It Em context
.It Vt u32 Fa comm
.It 3 Vt u64 Fa ip
.Ss Reasons
.It 0
it has one
.Sh JSON
.It Vt u32
END
printf '%s\n' 'RECORD 8 COMM' 'FIELD COMM u64 time' 'FIELD COMM u32 comm' 'SAMPLE 3 u64 ip' \
	'REASON 0 it has one' >want
page_tables small.5 >got
same got want 'the tables of a page are found'

run "$cc" -std=c11 -D_GNU_SOURCE -I"$ROOT/lib" -o tables "$ROOT/t/stream_tables.c"
is "$status" 0 'the tables of records.h' || diag_file "$ERR"
./tables >all
# The lines of a SAMPLE's fixed part stand in the page in another order than the numbers of types.
sed -n -e 's/^\(RECORD [^ ]* [^ ]*\).*/\1/p' -e '/^FIELD\|^SAMPLE\|^REASON\|^HOW/p' all | sort >want
page_tables "$page" | tr -s ' ' | sort >got
same got want 'the page has every record, field and number, and no others'
grep -e '^FIELD' all >want
page_tables "$page" | grep -e '^FIELD' >page.fields
cut -d ' ' -f 2 all | grep -v '^[0-9]*$' | sort -u | while read -r record; do
	grep "^FIELD $record " want >one.want
	grep "^FIELD $record " page.fields >one.got
	cmp -s one.want one.got || echo "$record"
done >wrong
empty wrong 'the fields of each record are in their order'
sed -n 's/^LIMIT \([0-9]*\) .*/\1/p' all | while read -r n; do
	grep -q -w "$n" "$page" || echo "$n"
done >missing
empty missing 'the page names the limits'
version=$(sed -n 's/^VERSION //p' all)
like "$page" "^\.It 12 Ta u16 Ta version: $version\$" 'and the version'

# The example: the first literal block that includes something.
awk '
/^\.Bd -literal/ { literal = 1; text = ""; next }
/^\.Ed/ {
	if (literal && text ~ /#include/) { printf "%s", text; exit }
	literal = 0
}
literal { text = text $0 "\n" }' "$page" | sed 's/\\e/\\/g' >count.c
flags=
if sanitized; then
	flags="-fsanitize=address,undefined -no-pie"
elif nm "$lib" 2>/dev/null | grep -q __gcov_; then
	flags=--coverage
fi
# shellcheck disable=SC2086
run "$cc" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$ROOT/lib" $flags -o count count.c "$lib"
is "$status" 0 'the example of the page is built as the page says' || diag_file "$ERR"
# What perf script -F comm,event counts in it: t/data/README.md.
printf '%s\n' '1 sched:sched_process_exec busy' '1 sched:sched_process_fork busy' \
	'2 sched:sched_process_exit busy' '77 cpu-clock busy' >want
"$BIN/pdecode" "$ROOT/t/data/small.data" | ./count | sort -n >got
sort -n want >want.sorted
same got want.sorted 'and counts the samples of each event'
