#!/bin/sh
# Frequent copies of stacks: what stays the same from one sample to the next is written once, and pdecode puts it back.
# What the program's stacks are is known: each frame has its own bytes, which psym walks through.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
cat >alike.c <<'EOF_C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone))

/* The inner part is another at each time, and a frame far outside changes now and then. */
NOINLINE static unsigned leaf(unsigned depth, unsigned n)
{
	volatile char room[100];

	room[n % sizeof(room)] = (char)n;
	return depth ? leaf(depth - 1, n * 3 + 1) + (unsigned)room[n % sizeof(room)] : n;
}

NOINLINE static unsigned busy(double seconds, volatile unsigned *outside)
{
	unsigned n = 0;

	do {
		for (int i = 0; i < 200000; i++)
			n += leaf(n % 4, n + (unsigned)i);
		++*outside;
	} while ((double)clock() / CLOCKS_PER_SEC < seconds);
	return n;
}

NOINLINE static unsigned down(int depth, double seconds, volatile unsigned *outside)
{
	volatile char room[500];

	memset((void *)room, depth, sizeof(room));
	return (depth ? down(depth - 1, seconds, outside) : busy(seconds, outside)) + (unsigned)room[depth];
}

int main(int argc, char **argv)
{
	volatile unsigned outside = 0;

	return argc < 2 || down(8, atof(argv[1]), &outside) == 1;
}
EOF_C
"$CC" -O2 -fno-optimize-sibling-calls -o alike alike.c 2>cc.err || skip_all "$CC does not build a program"
"$BIN/pcap-perf" -v -F 4999 -C 0 -g -o probe.data -- true 2>probe.err || skip_all 'nothing can be recorded here'

# recorded NAME COMMAND OPTION...: with both kinds of copies.
recorded() {
	name=$1
	shift
	"$BIN/pcap-perf" -v -F 4999 "$@" -o "$name.data" -- ./alike 1 2>"$name.err"
	"$BIN/pdecode" -b "$name.data" >"$name.stream" 2>"$name.decode"
	echo $? >"$name.status"
	"$BIN/psym" --stats --no-stitch --symfs . --symfs / <"$name.stream" 2>"$name.stats" | "$BIN/pfold" --no-header >"$name.folded" 2>fold.err
	sed 's/ [0-9]*$//; s/.*;main;/main;/' "$name.folded" | grep -c ';busy' >"$name.stacks"
	# All samples, and those whose stack is the whole recursion.
	awk '/;busy/ { all += $NF } /;busy/ && gsub(/;down/, "") == 9 && !/\[/ { whole += $NF } END { print int(100 * whole / (all ? all : 1)) }' "$name.folded" >"$name.whole"
}
recorded alike -g
like alike.err 'what stays the same .* is written once' '-v says it'
# With fields that this is not made for, copies are written as they are, and are smaller.
if "$BIN/pcap-perf" -v -F 4999 -g -W -o weight.data -- true 2>weight.err; then
	unlike weight.err 'is written once' 'not with -W'
	like weight.err 'chains by copies of up to [0-9]+ bytes at 4999 Hz .*: that is within the budget' 'whose copies are small'
else
	skip 2 'weights cannot be recorded here'
fi
is "$(cat alike.status)" 0 'pdecode reads it'
ok 'stacks are whole without being continued' test "$(cat alike.whole)" -ge 97
recorded full --call-graph dwarf,8192
ok 'as those of copies that are written whole' test "$(cat full.whole)" -ge 97
bytes() { "$BIN/pdecode" -j "$1.data" 2>/dev/null | grep -c '"type":"sample"' | awk -v n="$(wc -c <"$1.data")" '{ print int(n / $1) }'; }
ok 'a sample takes less than half of the bytes' test "$(($(bytes alike) * 2))" -lt "$(bytes full)"
if have perf; then
	perf script -i - -G -F comm,event <alike.data 2>perf.err | grep -c . >theirs
	"$BIN/pdecode" -j alike.data | grep -c '"type":"sample"' >ours
	same ours theirs 'perf script reads as many samples'
else
	skip 1 'perf is not installed'
fi

# Each file of several stands for itself; so does a compressed one.
"$BIN/pcap-perf" -F 4999 -g --switch-output=1M -o many.data -- ./alike 1 2>many.err
n=0 bad=0
for f in many.data*; do
	"$BIN/pdecode" -b "$f" >part.stream 2>part.err || bad=$((bad + 1))
	grep -q 'the part of its stack' part.err && bad=$((bad + 1))
	n=$((n + 1))
done
ok 'there are several files' test "$n" -gt 1
is "$bad" 0 'each can be read by itself'
recorded packed -g -z
is "$(cat packed.status)" 0 'so can a compressed one'
ok 'with whole stacks' test "$(cat packed.whole)" -ge 97

# Where samples are missing, what refers to them is not made up.
perl -e 'local $/; open F, "<:raw", "alike.data"; $_ = <F>; my ($at, $n, $out) = (16, 0, substr $_, 0, 16);
	while ($at + 8 <= length) {
		my ($type, undef, $size) = unpack "LSS", substr $_, $at, 8;
		$out .= substr $_, $at, $size unless $type == 9 && ++$n % 50 == 0;
		$at += $size;
	}
	open O, ">:raw", "holes.data"; print O $out'
run "$BIN/pdecode" -b holes.data
is "$status" 1 'samples are missing: exit 1'
like "$ERR" 'the part of its stack is missing' 'and it is reported'

# One bit of each 20th sample is another one: no sample gets bytes that its stack did not have.
stacks() {
	"$BIN/pdecode" -j "$1" 2>"$1.err" >"$1.json"
	echo $? >"$1.status"
	perl -ne 'print "$1 ", /"user_stack":"(\w*)"/ ? $1 : "-", "\n" if /"type":"sample".*?"time":(\d+)/' "$1.json"
}
perl -e 'local $/; open F, "<:raw", "alike.data"; $_ = <F>; my ($at, $n) = (16, 0);
	srand 1;
	while ($at + 8 <= length) {
		my ($type, undef, $size) = unpack "LSS", substr $_, $at, 8;
		substr($_, $at + 8 + rand($size - 8), 1) ^= chr(1 << rand 8) if $type == 9 && ++$n % 20 == 0;
		$at += $size;
	}
	open O, ">:raw", "flips.data"; print O $_'
stacks alike.data >right
stacks flips.data >flipped
is "$(cat alike.data.status) $(cat flips.data.status)" '0 1' 'damaged samples: exit 1'
like flips.data.err 'is damaged: the copy is left out' 'and it is reported'
awk 'NR == FNR { right[$1, NR] = $2; at[$1] = at[$1] " " NR; next }
	$2 != "-" && $1 in at {
		n = split(at[$1], line, " ")
		found = 0
		for (i = 1; i <= n; i++)
			found = found || index(right[$1, line[i]], $2) == 1
		good += found
		wrong += !found
	}
	END { print wrong + 0; print good + 0 }' right flipped >judged
is "$(head -1 judged)" 0 'no sample has bytes that its stack did not have'
ok 'most have some' test "$(tail -1 judged)" -gt "$(($(wc -l <right) / 2))"
done_testing
