#!/bin/sh
# What pdecode tells about a recording: --header, --dump, --list.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data # a file, 81 samples (t/data/README.md)

# counts FILE: "samples event" of a list, sorted.
counts() {
	sed '/^#/d; /^$/d' "$1" | awk '{ n = $1; sub(/^ *([^ ]+ +)*/, ""); print n, $0 }' | sort
}

pipe=$ROOT/t/data/demo.data   # in pipe form

# --- --header ---
run "$BIN/pdecode" --header "$small"
is "$status" 0 '--header'
cp "$OUT" header.txt
grep -v -e '^# captured on' -e '^# event' header.txt | head -n 12 >got
cat >want <<-'END'
	# ========
	# header version : 1
	# data offset    : 744
	# data size      : 9400
	# feat offset    : 10144
	# hostname : vm
	# os release : 6.18.44-fc-v445
	# perf version : 6.1.192
	# arch : x86_64
	# nrcpus online : 2
	# nrcpus avail : 2
	# cpudesc : Intel(R) Xeon(R) Processor
END
same got want 'begins with the file and the machine'
is "$(grep -c '^# event : name = .*, id = { [0-9]*, [0-9]* }, type = [12] (PERF_TYPE_[A-Z]*), size = 128, config = ' header.txt)" \
	4 'has a line for each event'
is "$(sed -n 's/^# pmu mappings: //p' header.txt)" \
	'software = 1, power = 9, uprobe = 8, breakpoint = 5, tracepoint = 2, msr = 10' 'the PMUs'
is "$(grep '^# time of last' header.txt)" '# time of last sample : 4947.563476' 'the time of the last sample'
run_pipe 'cat "$small"' '"$BIN/pdecode" --header'
grep -v '^# captured on' header.txt >want
same "$OUT" want 'from a pipe: the same, but for the date of the file'
run "$BIN/pdecode" --header "$pipe"
is "$status" 0 'of the pipe form'
is "$(sed -n 's/^# perf version : //p' "$OUT")" 'perfpipe 0.1.0' 'too'
"$BIN/pdecode" -j "$small" | sed -n 's/.*"type":"meta",.*"key":"\([^"]*\)","value":"\(.*\)"}$/\1=\2/p' >meta
is "$(sed -n 's/^hostname=//p' meta)" vm 'what it says is in the stream, too: the host'
is "$(sed -n 's/^cpu_topology=//p' meta)" \
	"$(sed -n 's/^# //; /^sibling\|^CPU [0-9]/p' header.txt | awk '{ printf "%s%s", n++ ? "\\u000a" : "", $0 }')" \
	'and as lines what has many'
"$BIN/pdecode" -j "$small" | grep '"type":"source"' >source
like source '"long_bits":64' 'the source has the size of a long'
like source '"page_size":4096' 'and of a page'
like source '"clock":"perf"' 'and the clock'
printf '\377\377\377\377' >ff
cp "$small" broken.data
at=$(od -An -v -t u8 -j $((10144 + 2 * 16)) -N 8 "$small" | tr -d ' ')
dd if=ff of=broken.data bs=1 seek="$at" conv=notrunc 2>/dev/null
run "$BIN/pdecode" --header broken.data
is "$status" 1 'a feature that is damaged'
is "$(grep -c 'offset .*: header feature 3 is damaged' "$ERR")" 1 'is reported once'
ok 'the others are there' grep -q '^# os release' "$OUT"
# A feature whose section is empty: number 8, the eighth in the table.
cp "$small" nothing.data
head -c 8 /dev/zero | dd of=nothing.data bs=1 seek=$((10144 + 7 * 16 + 8)) conv=notrunc 2>/dev/null
run "$BIN/pdecode" --header nothing.data
is "$status" 0 'a feature without content is no damage'
empty "$ERR" 'nothing is reported of it'
grep -v -e '^# cpudesc' -e '^# captured on' header.txt >want
grep -v '^# captured on' "$OUT" >got
same got want 'nor by it; the others are there'
run "$BIN/pdecode" -j nothing.data
is "$status:$(grep -c '"key":"cpudesc"' "$OUT")" 0:0 'nor has the stream a fact of it'
# BPF programs: the arrays of each follow its struct. Some builds of perf write some bytes too many after each.
for gap in 0 8; do
	GAP=$gap perl -e '
		local $/;
		my $d = <STDIN>;
		my ($at, $size) = unpack "x40Q<2", $d;
		my @features = grep { vec(substr($d, 72, 32), $_, 1) } 0 .. 255;
		my ($nth) = grep { $features[$_] == 25 } 0 .. $#features;
		my $progs = pack "L<", 2;
		for my $id (4, 5) {
			my $info = pack "L<2a8", 5, $id, "tag" . $id;
			$info = pack "a64a16a24L<2Q<2", $info, "prog_$id", "", 1, 1, 0, 8;
			$progs .= pack("L<2Q<", 208, 16, 0x1f9) . pack("a208", $info);
			$progs .= pack("Q<L<x4", 0xffffffffc0694000 + $id, 900 + $id) . "\xff" x $ENV{GAP};
		}
		substr($d, $at + $size + 16 * $nth, 16) = pack "Q<2", length $d, length $progs;
		print $d, $progs' <"$small" >progs.data
	run "$BIN/pdecode" --header progs.data
	is "$status:$(grep '^# bpf_prog' "$OUT" | tr '\n' '|')" "0:$(printf '# bpf_prog_info %s|' \
		'4: bpf_prog_7461673400000000_prog_4 addr 0xffffffffc0694004 size 904' \
		'5: bpf_prog_7461673500000000_prog_5 addr 0xffffffffc0694005 size 905')" "BPF programs, $gap bytes between them"
done
if have perf && perf script -f -i "$small" >perf.txt 2>perf.err; then
	run "$ROOT/t/oracle/perf-header" "$small" "$pipe"
	is "$status" 0 'as perf prints it'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 1 'perf cannot read the recording'
fi

# --- --dump ---
run "$BIN/pdecode" --dump "$small"
is "$status" 0 '--dump'
cp "$OUT" dump.txt
is "$(grep -c ': event: [0-9]*$' dump.txt)" 98 'has every record'
is "$(grep -c '^[0-9 ]*0x[0-9a-f]* \[0x[0-9a-f]*\]: PERF_RECORD_SAMPLE(IP, 0x[12]): ' dump.txt)" 81 \
	'has every sample'
# The bytes, put together again, are the data section of the file.
sed -n 's/^\.  [0-9a-f]*:  \(.\{47\}\).*/\1/p' dump.txt | tr -d ' \n' >got
dd if="$small" bs=1 skip=744 count=9400 2>/dev/null | od -An -v -t x1 | tr -d ' \n' >want
same got want 'has all bytes of the records'
like dump.txt '^ \.\.\. thread: busy:' 'names threads'
run_pipe 'cat "$pipe"' '"$BIN/pdecode" --dump'
is "$statuses" '0 0' 'of a pipe'
like "$OUT" ': PERF_RECORD_HEADER_ATTR$' 'has attributes'
head -c 9000 "$small" >cut.data
run "$BIN/pdecode" --dump cut.data
is "$status" 1 'of a file that was cut off'
ok 'has what is there' test "$(grep -c ': event: [0-9]*$' "$OUT")" -gt 50
run "$BIN/pdecode" --dump "$ROOT/t/fuzz/corpus/perfdata/zstd.data"
like "$OUT" ': PERF_RECORD_COMPRESSED: [0-9]* compressed bytes$' 'of a compressed one: the record'
like "$OUT" ' \(decompressed\) \[0x[0-9a-f]*\]: event: [0-9]+$' 'and what is in it'
if have perf && perf script -f -i "$small" >perf.txt 2>perf.err; then
	run "$ROOT/t/oracle/perf-dump" "$small" "$pipe"
	is "$status" 0 'as perf prints it'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 1 'perf cannot read the recording'
fi

mkdir made
"$UNIT/perfdata" made >"$OUT" && "$UNIT/perfdata_records" made >"$OUT"
run "$BIN/pdecode" --dump made/two-events-host.data
like "$OUT" '^3 2000 0x[0-9a-f]* \[0x30\]: PERF_RECORD_LOST: id:60: lost:4$' 'lost events: of which, and how many'
run "$BIN/pdecode" --dump made/lost-host.data
like "$OUT" 'PERF_RECORD_LOST_SAMPLES: id:50: lost samples :[0-9]*$' 'lost samples'
if have perf && perf script -f -i made/two-events-host.data >perf.txt 2>perf.err; then
	run "$ROOT/t/oracle/perf-dump" made/two-events-host.data made/lost-host.data made/version1-host.data
	is "$status" 0 'as perf prints them'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 1 'perf cannot read the recordings'
fi

# --- --list ---
run "$BIN/pdecode" --list "$small"
is "$status" 0 '--list'
cp "$OUT" list.txt
counts list.txt >got
cat >want <<-END
	1 sched:sched_process_exec
	1 sched:sched_process_fork
	2 sched:sched_process_exit
	77 cpu-clock
END
same got want 'each event with the number of its samples'
"$BIN/pdecode" -t "$small" | awk '
	/ cpu-clock: / { t = $3; sub(/:/, "", t); if (!n++) print t; sum += $4 }
	END { print t; printf "%d\n", sum }' >want
awk '$NF == "cpu-clock" { print substr($4, 1, length($4) - 3); print substr($5, 1, length($5) - 3); print $2 }' \
	list.txt >got
same got want 'the times of the first and the last, and the sum of the periods, are those of the text'
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/pdecode" --list'
is "$statuses" '0 0' 'of an event stream'
same "$OUT" list.txt 'the same'
run_pipe 'cat "$small"' '"$BIN/pdecode" --list'
counts "$OUT" >got
counts list.txt >want
same got want 'of a pipe: the same'
run "$BIN/pdecode" --list -j "$small"
is "$(grep -c '^{"type":"events","source":1,"file":".*","event":".*","samples":[0-9]*,.*}$' "$OUT")" 4 \
	'-j: an object for each event'
run "$BIN/pdecode" --list "$small" "$small"
is "$(grep -c ' cpu-clock$' "$OUT")" 2 'two files: two lists'
head -c 9000 "$small" >cut.data
run "$BIN/pdecode" --list cut.data
is "$status" 1 'a damaged recording: what there is, exit status 1'
ok 'is listed' grep -q ' cpu-clock$' "$OUT"
run "$BIN/pdecode" --list nowhere
is "$status" 2 'no file'
run "$BIN/pdecode" --list --dump "$small"
is "$status" 64 'two views at a time: usage'
run "$BIN/pdecode" --dump -j "$small"
is "$status" 64 '--dump has no JSON'
f=$ROOT/t/data/trace-zlib.dat
"$BIN/pdecode" -j "$f" 2>/dev/null | sed -n 's/^{"type":"sample".*"event":"\([^"]*\)".*/\1/p' |
	sort | uniq -c | awk '{ print $1, $2 }' | sort >want
run "$BIN/pdecode" --list "$f"
counts "$OUT" | awk '{ print $1, $NF }' | sort >got
same got want 'a trace.dat: as many samples of each event as -j prints'

# --- --header of a stream ---
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/pdecode" --header'
is "$statuses" '0 0' '--header of an event stream'
like "$OUT" '^# hostname : vm$' 'has the facts that the recording told'
like "$OUT" '^# filter : pdecode .* /.*small\.data$' 'the filters that it went through'
like "$OUT" '^# event : name = cpu-clock, type = 1, config = 0, unit = ns$' 'and its events'
sed -n 's/^# \([a-z_]*\) : .*/\1/p' "$OUT" | sort -u >got
sed 's/=.*//' meta | sort -u | while read -r key; do
	grep -qx "$key" got || echo "$key"
done >lacking
is "$(wc -c <lacking)" 0 'every fact of -j is there'
head -c 5000 "$small" >cut.data
run_pipe '"$BIN/pdecode" -b cut.data' '"$BIN/pdecode" --header'
is "$statuses" '1 1' 'of a damaged one: exit status 1'

# --- --stats: records by type ---
run "$BIN/pdecode" -s -b "$small"
like "$ERR" ': 98 records read: 1 mmap, 2 comm, .*81 sample, ' '--stats: the records of a recording by type'
like "$ERR" ': records written: .*81 sample$' 'and those of the stream'
"$BIN/pdecode" -s -b "$f" 2>&1 >x.pstream | sed -n 's/.* records written: //p' >want
run "$BIN/pdecode" -s -b x.pstream
sed -n 's/.* records written: //p' "$ERR" | sed 's/2 provenance/1 provenance/' >got
same got want 'of a stream: as many, and one filter more'
ok 'there are some' grep -q ' sample$' want
if have perf && perf script -f -i "$small" >perf.txt 2>perf.err; then
	run "$ROOT/t/oracle/perf-stats" "$small" "$pipe" "$ROOT/t/data/threads.dir"
	is "$status" 0 'as perf report --stats counts them'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 1 'perf cannot read the recording'
fi

# --- --json: a name that an object has twice is lost to most readers of JSON ---
cat >twice.pl <<-'END'
	s/"((?:[^"\\]|\\.)*)"(:?)/$2 ? "<$1>" : 0/ge;
	1 while s/[\[{][^\[\]{}]*[\]}](?=.)/0/;
	my %seen;
	$seen{$1}++ and print "$.: $1 twice\n" while /<([^>]*)>/g;
END
gzip -dc "$ROOT/t/data/trace-v6.dat.gz" >trace.dat
for f in "$small" "$pipe" trace.dat; do
	run "$BIN/pdecode" -j "$f"
	perl -ne "$(cat twice.pl)" <"$OUT" >got
	ok "the objects of ${f##*/} have no name twice" test "$(wc -l <"$OUT")" -gt 9 -a ! -s got
	[ ! -s got ] || diag_file got
done
printf '{"a":1,"b":{"a":2},"a":"{"}\n' | perl -ne "$(cat twice.pl)" >got
is "$(cat got)" '1: a twice' 'one that has would be found'

# --- --check: which events cannot be printed; trace-cmd is asked by what its report says of them ---
perl "$ROOT/t/trace-make" >x.dat
run "$BIN/pdecode" --check x.dat
is "$status $(cat "$OUT")" '0 ' '--check: all events of a recording can be printed'
count=$(sed -n 's/^pdecode: \([0-9]*\) events, of which 0 cannot.*/\1/p' "$ERR")
is "$count" "$(strings -n 4 x.dat | grep -c '^name: ')" 'of a trace.dat all formats, also of events without samples'
perl -0777 -pe 's/REC->big, REC->name/REC->big, ###->name/' x.dat >y.dat
run "$BIN/pdecode" --check y.dat
is "$status $(cat "$OUT")" '1 made:thing' 'a print format that cannot be parsed is named'
run "$BIN/pdecode" --check "$ROOT/t/data/kmem.data.gz"
is "$status" 0 'of a perf.data, too'
run "$BIN/pdecode" --check -j x.dat
is "$status" 64 'there is no JSON of it'
run "$BIN/pdecode" --check --list x.dat
is "$status" 64 'one view at a time'

# --- -O help: what trace-cmd options lists ---
run "$BIN/pdecode" -O help
is "$status" 0 '-O help'
like "$OUT" '^fgraph:tailprint  +[a-zA-Z]' 'options of the function graph'
if have trace-cmd; then
	trace-cmd options 2>/dev/null | awk '$1 == "plugin:" { p = $2 } $1 == "option:" { print p ":" $2 }' |
		grep -v '^fgraph:' | sort -u >want
	awk '$1 !~ /^fgraph:/ { print $1 }' "$OUT" | sort -u >got
	same got want 'the others are those of trace-cmd options'
else
	skip 1 'trace-cmd is not installed'
fi
done_testing
