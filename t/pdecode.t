#!/bin/sh
# pdecode over perf.data: files and pipes, cut and unfinished recordings, losses, the account, and,
# where perf is installed, the text beside perf script's.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data # a file, 81 samples (t/data/README.md)
pipe=$ROOT/t/data/demo.data   # in pipe form

# stats NAME FILE: the number before NAME in the account.
stats() {
	sed -n "s/.* \\([0-9]*\\) $1.*/\\1/p" "$2" | head -n 1
}

# --- file, stdin, pipe ---
run "$BIN/pdecode" -t "$small"
is "$status" 0 'a file'
cp "$OUT" file.txt
is "$(grep -c '^busy' file.txt)" 81 'has its 81 samples'
is "$(grep -c ' sched:sched_process_exit: comm=busy ' file.txt)" 2 'two of them exits, printed by their format'
run "$BIN/pdecode" -t <"$small"
same "$OUT" file.txt 'from stdin that can seek: the same text'
run_pipe 'cat "$small"' '"$BIN/pdecode" -t'
is "$statuses" '0 0' 'from a pipe'
same "$OUT" file.txt 'the same text'
run "$BIN/pdecode" -t "$pipe"
is "$status" 0 'pipe form, from a file'
cp "$OUT" pipe.txt
ok 'has samples' test -s pipe.txt
run_pipe 'cat "$pipe"' '"$BIN/pdecode" -t'
same "$OUT" pipe.txt 'pipe form from a pipe: the same text'
run_pipe 'cat "$small"' '"$BIN/pdecode"' '"$BIN/pdecode" -t'
same "$OUT" file.txt 'through a binary stream: the same text'

# --- order and account ---
awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { print $i + 0; break } }' file.txt |
	sort -c -n 2>.sorted
is "$?" 0 'samples are in the order of their times'
run "$BIN/pdecode" -s "$small"
is "$(stats samples "$ERR")" 81 'the account counts 81'
is "$(stats missing "$ERR")" 0 'and none missing'
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/pdecode" -s'
is "$(stats samples "$ERR.2")" 81 'the next filter counts as many'
run "$BIN/pdecode" -s "$small" "$small"
is "$(stats samples "$ERR")" 162 'two files: the sum'

# --- recordings made by the unit test, with known contents ---
mkdir made
run "$UNIT/perfdata" made
is "$status" 0 'recordings of both byte orders are made'
run "$BIN/pdecode" -s made/two-events-swapped.data
is "$status" 0 'lost events are no damage'
like "$ERR" 'the recorder lost 4 events' 'but they are reported'
is "$(stats 'lost by the recorder' "$ERR")" 4 'and counted'
run "$BIN/pdecode" --strict made/two-events-swapped.data
is "$status" 1 '--strict makes them exit status 1'
for f in made/*-host.data; do
	run "$BIN/pdecode" -t "$f"
	cp "$OUT" host.txt
	run "$BIN/pdecode" -t "${f%-host.data}-swapped.data"
	same "$OUT" host.txt "${f##*/}: the same text from the other byte order"
done

# --- the directory form ---
# What others put into a directory is read if it is a file: nobody waits for a FIFO there.
cp -r "$ROOT/t/data/threads.dir" fifo.dir
chmod -R u+w fifo.dir
rm fifo.dir/data.0
mkfifo fifo.dir/data.0
run timeout 20 "$BIN/pdecode" -b fifo.dir
is "$status" 1 'a FIFO in the directory of a recording: the rest of it'
like "$ERR" 'data.0: is not a regular file' 'and the reason'
rm fifo.dir/data
mkfifo fifo.dir/data
run timeout 20 "$BIN/pdecode" -b fifo.dir
is "$status" 2 'the recording itself is a FIFO'
like "$ERR" 'fifo.dir/data: is not a regular file' 'which is reported'

dir=$ROOT/t/data/threads.dir
run "$BIN/pdecode" -t "$dir"
is "$status" 0 'a directory of perf record --threads'
cp "$OUT" dir.txt
is "$(wc -l <dir.txt | tr -d ' ')" 62 'has the samples of its files'
awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { print $i + 0; break } }' dir.txt |
	sort -c -n 2>.sorted
is "$?" 0 'in the order of their times'
run "$BIN/pdecode" -t "$dir/data"
same "$OUT" dir.txt 'given by its file: the same'
run "$BIN/pdecode" --header "$dir"
like "$OUT" '^# directory data version : 1$' 'its header'
mkdir kcore.dir kcore.dir/kcore_dir empty.dir
cp "$small" kcore.dir/data
echo 'ffffffff81000000 T beside_the_recording' >kcore.dir/kcore_dir/kallsyms
run "$BIN/pdecode" -t kcore.dir
same "$OUT" file.txt 'a directory of perf record --kcore: the same samples'
run "$BIN/pdecode" -j kcore.dir
is "$(grep -c '"type":"blob".*"kind":1,' "$OUT")" 1 'the kernel symbols beside it travel'
run "$BIN/pdecode" empty.dir
is "$status" 2 'a directory without a recording'
like "$ERR" 'empty.dir: is a directory without a recording' 'is none'
head -c 1500 "$dir/data.1" >cut.1
cp -r "$dir" cut.dir
cp cut.1 cut.dir/data.1
run "$BIN/pdecode" -t cut.dir
is "$status" 1 'one of its files is cut off'
like "$ERR" 'cut.dir/data: offset .*data.1: ' 'it is reported which'
ok 'the rest is read' test "$(wc -l <"$OUT")" -gt 20

# --- damage ---
# Where the data section of the file ends: offset and size are at 40 and 48 (little endian).
data_end=$(od -An -v -t u8 -j 40 -N 16 "$small" | awk '{ print $1 + $2 }')
data_begin=$(od -An -v -t u8 -j 40 -N 8 "$small" | tr -d ' ')
total=$(wc -c <"$small")
before=0
bad=
n=0
size=0
step=487
sanitized && step=4987
while [ "$size" -lt "$total" ]; do
	head -c "$size" "$small" >cut.data
	run "$BIN/pdecode" -s cut.data
	[ "$status" = 1 ] || [ "$status" = 2 ] || bad="$bad $size:status$status"
	grep -v ' samples, ' "$ERR" >messages
	[ -s messages ] || bad="$bad $size:silent"
	got=$(stats samples "$ERR")
	[ "$got" -ge "$before" ] || bad="$bad $size:$before-to-$got"
	[ "$got" -le 81 ] || bad="$bad $size:$got"
	before=$got
	n=$((n + 1))
	size=$((size + (size < 600 ? 61 : step)))
done
is "$bad" '' "cut at $n places: a message, status 1 or 2, and never fewer samples from more bytes"
head -c $((data_end - 1)) "$small" >cut.data
run "$BIN/pdecode" -s cut.data
is "$status" 1 'the last byte of the data is missing'
like "$ERR" 'cut off: .* of .* bytes of records are missing|ends within a record' 'it is reported'
is "$(stats samples "$ERR")" 81 'all samples before it are there'
head -c 50000 "$pipe" >cut.data
run_pipe 'cat cut.data' '"$BIN/pdecode"' '"$BIN/pdecode" -s'
is "$statuses" '0 1 1' 'a cut pipe: status 1, also of the next filter'
like "$ERR.2" 'the input ends within a record' 'and it is reported'
ok 'what was readable is there' test "$(stats samples "$ERR.3")" -gt 10

# A recorder that was killed leaves 0 as the size of the data, and no features.
head -c "$data_end" "$small" >unfinished.data
printf '\0\0\0\0\0\0\0\0' | dd of=unfinished.data bs=1 seek=48 conv=notrunc 2>/dev/null
run "$BIN/pdecode" -s unfinished.data
is "$status" 1 'an unfinished recording is damage'
like "$ERR" 'never finished' 'it is reported'
is "$(stats samples "$ERR")" 81 'and read to its end'

# A record of size 0 in the middle: nothing after it can be read.
cp "$small" zero.data
at=$((data_begin))
printf '\0\0' | dd of=zero.data bs=1 seek=$((at + 6)) conv=notrunc 2>/dev/null
run "$BIN/pdecode" -s zero.data
is "$status" 1 'a record without size'
like "$ERR" "offset $at: a record of 0 bytes" 'is reported with its offset'

# simpleperf names its events in texts of its own (feature 129), not in EVENT_DESC (12).
cat >event-types.pl <<'E'
local $/;
my $d = <STDIN>;
my ($at, $size) = unpack 'Q<2', substr $d, 40, 16;
my $table = $at + $size;
my @features = grep { vec(substr($d, 72, 32), $_, 1) } 0 .. 255;
my @sections = map { substr $d, $table + 16 * $_, 16 } grep { $features[$_] != 12 } 0 .. $#features;
die if @sections == @features;
my $meta = join("\0", 'simpleperf_version', '1.build.7', 'event_type_info', $ARGV[0], 'clockid', 'boottime') . "\0";
vec(substr($d, 72, 32), 12, 1) = 0;
vec(substr($d, 72, 32), 129, 1) = 1;
substr($d, $table, 16 * @features) = join '', @sections, pack 'Q<2', length $d, length $meta;
print $d, $meta;
E
names() { # TEXT: the names of events
	perl event-types.pl "$1" <"$ROOT/t/data/small.data" >types.data || echo no
	"$BIN/pdecode" -t -F event types.data | grep -v '^ *sched' | tr -d ' ' | grep . | sort -u | paste -sd ' ' -
}
if have perl; then
	is "$(names 'cpu-cycles,0,0
of-its-own,1,0
task,1,1')" 'of-its-own:' 'simpleperf: the name of an event by its type and config'
	is "$(names 'of-its-own,1,0,7')" 'cpu-clock:' 'a line that is none names nothing'
	is "$(names 'of-its-own,1,99999999999999999999')" 'cpu-clock:' 'nor does a number that is too large'
	is "$(names 'of-its-own,1,')" 'cpu-clock:' 'nor one that is cut off'
else
	skip 4 'perl is not installed'
fi

# simpleperf's recordings: the descriptions of tracepoints come in a record of its own, with 32 bits
# for its size, or split into several. Made of perf's, which has them after the records.
if have perl; then
	cat >simpleperf.pl <<'E'
local $/;
my ($form, $d) = ($ARGV[0], <STDIN>);
my ($data, $size) = unpack 'Q<2', substr $d, 40, 16;
my ($at, $n) = unpack 'Q<2', substr $d, $data + $size, 16; # of the first feature, the tracing data
my $text = pack('L<', $n) . substr($d, $at, $n) . "\0" x 70000;
sub record {
	my ($type, $n) = ($_[0], 8 + length $_[1]);
	return pack('L<S<2', $type, $n >> 16, $n & 0xffff) . $_[1];
}
my $add = record(32777, $text);
$add = join '', (map { record(32772, $_) } unpack '(a60000)*', $add), record(32773, '') if $form eq 'split';
substr($d, 48, 8) = pack 'Q<', $size + length $add;
substr($d, 72, 32) = "\0" x 32;
print substr($d, 0, $data), $add, substr($d, $data, $size);
E
	gzip -dc "$ROOT/t/data/sched.data.gz" >perf.data
	"$BIN/pdecode" -t -F comm,tid,time,trace perf.data >want
	for form in long split; do
		perl simpleperf.pl $form <perf.data >simpleperf.data
		run "$BIN/pdecode" -t -F comm,tid,time,trace simpleperf.data
		same "$OUT" want "tracepoints are described in a record of simpleperf's: $form"
	done
	run "$BIN/pdecode" -s simpleperf.data
	like "$ERR" ', [2-9] split, 1 split_end$' 'the account names them'
	head -c 60000 simpleperf.data >cut.data
	run "$BIN/pdecode" -t cut.data
	is "$status" 1 'one that is cut off'
else
	skip 4 'perl is not installed'
fi

# Cut off within the magic's neighbourhood: too short for any kind of recording.
silent=
for size in 8 9 12 15 16; do
	for f in "$small" "$pipe" made/version1-host.data made/version1-pipe-host.data; do
		head -c "$size" "$f" >cut.data
		for o in -b -t -j --header; do
			run "$BIN/pdecode" "$o" cut.data
			[ "$status" = 1 ] || [ "$status" = 2 ] || silent="$silent $size:$f:$o:status$status"
			[ -s "$ERR" ] || silent="$silent $size:$f:$o"
		done
	done
done
is "$silent" '' 'the first 8 to 16 bytes of a recording alone: a message, status 1 or 2'
head -c 16 "$pipe" >cut.data
run "$BIN/pdecode" cut.data
is "$status" 1 'the header of a pipe alone was cut off'
like "$ERR" 'cut.data: offset 16: the input is cut off: no event follows' 'it is reported'

: >empty
run "$BIN/pdecode" empty
is "$status" 2 'an empty file is nothing that could be decoded'
like "$ERR" 'empty: is empty' 'and it is reported'
for way in 'pcap-ftrace" --no-such-option' 'pcap-perf" --no-such-option'; do
	run_pipe "\"\$BIN/$way" '"$BIN/pdecode"' '"$BIN/psym"' '"$BIN/phist"'
	is "$statuses" '64 2 2 2' "a recorder that could not begin: ${way%%\"*}"
	like "$ERR" '\(stdin\): is empty: what was to write it could not, and says why' 'and where to look is reported'
done
run "$BIN/pdecode" nowhere
is "$status" 2 'a file that is not there cannot be decoded'
echo 'some text, long enough for a magic' >text
run "$BIN/pdecode" text
is "$status" 2 'nor a text'
run "$BIN/pdecode" "$small" nowhere
is "$status" 1 'one of two files: partial'

# --- copies of stacks, which go from the file to the pipe ---
if "${CC:-cc}" -O1 -o copies_make "$ROOT/t/copies_make.c" 2>cc.err; then
	./copies_make 2000 >copies.data
	"$BIN/pdecode" -j copies.data >copies.json
	awk -F'"user_stack":"' '
		function number(v) { return sprintf("%02x%02x%02x%02x", v % 256, int(v / 256) % 256, int(v / 65536) % 256, 0) }
		/"type":"sample"/ {
			n = int((1000 + i * 37 % 7000) / 8) * 2
			if (length($2) - 2 != n * 8 || substr($2, 1, 8) != number(i * 2048) ||
			    substr($2, n * 8 - 7, 8) != number(i * 2048 + n - 1))
				print "copy", i, "is wrong"
			i++
		}
		END { print i + 0, "copies" }' copies.json >got
	is "$(cat got)" '2000 copies' 'copies of stacks: each as it was recorded'
	# samples FILE
	samples() {
		grep '"type":"sample"' "$1"
	}
	samples copies.json >want
	run_pipe '"$BIN/pdecode" -b copies.data' '"$BIN/pdecode" -j'
	is "$statuses" '0 0' 'through a pipe'
	samples "$OUT" >got
	same got want 'the same'
	run_pipe 'cat copies.data' '"$BIN/pdecode" -b' '"$BIN/pdecode" -j'
	samples "$OUT" >got
	same got want 'read from a pipe: the same'
	"$BIN/pdecode" -b copies.data >copies.pstream
	"$BIN/pdecode" -j copies.pstream >got.json
	samples got.json >got
	same got want 'to a file: the same'
	mkfifo out
	{
		"$BIN/pdecode" -b copies.data >out 2>err
		echo "$?" >status
	} &
	{
		head -c 65536 >/dev/null
		: >copies.data
		cat >rest
	} <out
	wait
	is "$(cat status)" 2 'a recording that is cut short meanwhile: exit status 2'
	like err '^pdecode: a file was cut short while it was read$' 'and a message'
	run "$BIN/psym" -b rest
	is "$status" 2 'the stream tells of it, too'
else
	skip 8 'no C compiler that builds a program'
fi

# --- version 1 of the format ---
run "$BIN/pdecode" --header made/version1-host.data
is "$(grep -c '^# header version : 0$' "$OUT")" 1 'version 1 is the one that perf calls 0'
if have perf && perf script -f -i made/version1-host.data >perf.txt 2>perf.err &&
	grep -q ':HG:' perf.txt; then # newer ones leave the HG out
	rm made/version1-pipe-swapped.data # perf reads a pipe in its own byte order only
	run "$ROOT/t/oracle/perf-script" made/version1-*.data
	is "$status" 0 'version 1: as perf script prints it'
	like "$OUT" '^7 files: 7 the same' 'each of seven files'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 2 'perf cannot read version 1, or names its events otherwise'
fi

# --- perf script ---
if have perf && perf script -f -i "$small" --symfs /none >perf.txt 2>perf.err; then
	run "$ROOT/t/oracle/perf-script" "$small" "$pipe"
	is "$status" 0 'as perf script prints them'
	[ "$status" = 0 ] || diag_file "$OUT"
else
	skip 1 'perf cannot read the recording'
fi
done_testing
