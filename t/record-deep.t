#!/bin/sh
# Stacks that are deeper than the largest copy: the recorder looks at the rest of them, and psym goes on by what did
# not change. What a recursion is deep is known.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
cat >deep.c <<'EOF_C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone))
#define DEPTH 200

/* The innermost part is another at each time. */
NOINLINE static unsigned leaf(unsigned depth, unsigned n)
{
	volatile char room[300];

	room[n % sizeof(room)] = (char)n;
	return depth ? leaf(depth - 1, n * 3 + 1) + (unsigned)room[n % sizeof(room)] : n;
}

NOINLINE static unsigned busy(double seconds)
{
	unsigned n = 0;

	do {
		for (int i = 0; i < 1000; i++)
			n += leaf(n % 60, n + (unsigned)i);
	} while ((double)clock() / CLOCKS_PER_SEC < seconds);
	return n;
}

NOINLINE static unsigned down(int depth, double seconds)
{
	volatile char room[900];

	memset((void *)room, depth, sizeof(room));
	return (depth ? down(depth - 1, seconds) : busy(seconds)) + (unsigned)room[depth];
}

int main(int argc, char **argv)
{
	return argc < 2 || down(DEPTH - 1, atof(argv[1])) == 1;
}
EOF_C
"$CC" -O2 -fno-optimize-sibling-calls -o deep deep.c 2>cc.err || skip_all "$CC does not build a program"

# recorded NAME SECONDS OPTION...: with copies that are as large as can be.
recorded() {
	name=$1 seconds=$2
	shift 2
	"$BIN/pcap-perf" -v -F 99 -g "$@" -o "$name.data" -- ./deep "$seconds" 2>"$name.err"
}
# folded NAME OPTION...: how deep the recursion is in stacks that are whole, and how often.
folded() {
	name=$1
	shift
	"$BIN/pdecode" -b "$name.data" 2>decode.err | "$BIN/psym" --stats --symfs . --symfs / "$@" 2>"$name.stats" |
		"$BIN/pfold" --no-header 2>fold.err >"$name.folded"
	awk '/;busy/ && !/\[truncated/ { print gsub(/;down/, "") }' "$name.folded" | sort | uniq -c | awk '{ print $2 }' >"$name.depths"
}
recorded left 0.3 --no-touch || skip_all 'nothing can be recorded here'
unlike left.err 'deeper than' '--no-touch: nothing is read'
folded left
is "$(cat left.depths)" '' 'no stack fits into its copy'

# Looks have to be some, before and after: on a busy machine that takes longer.
for seconds in 0.7 2 5 10; do
	recorded deep "$seconds"
	folded deep
	[ "$(grep -c 'continued by looks' deep.stats)" = 0 ] || break
done
like deep.err 'stacks deeper than the largest copies were looked at [0-9]+ times' '-v tells'
like deep.stats '[0-9]+ of these copies ended, and were continued by looks at the rest of the stack' '--stats tells'
is "$(cat deep.depths)" 200 'each stack that is whole has all of the recursion'
unlike deep.folded '^deep;(down|leaf|busy)' 'and its beginning'
folded deep --no-stitch
is "$(cat deep.depths)" '' '--no-stitch leaves them cut'
"$BIN/pdecode" -b deep.data 2>decode.err | "$BIN/phist" --by event --tsv 2>hist.err | grep -v '^#' | cut -f 2 >events
is "$(grep -c perfpipe events)" 0 'looks count as no event'

# What --keep-stacks leaves in the stream.
"$BIN/pdecode" -b deep.data 2>decode.err | "$BIN/psym" --keep-stacks 2>psym.err >kept.ps
"$BIN/psym" --symfs . --symfs / --stats kept.ps 2>kept.stats >again.ps
like kept.stats 'continued by looks at the rest' '--keep-stacks keeps looks for another psym'
done_testing
