#!/bin/sh
# share/ci/pdiff.mk: records two builds in turn and closes the gate on the slower one. The program
# spends its time in six functions; in the slower build one of them works half as long again.
. "${0%/*}/lib.sh"

cat >prog.c <<'END'
#include <stdint.h>
#include <stdlib.h>

#ifndef WORK
#define WORK 1000000
#endif
static volatile uint64_t sink;

#define STEP(name, count, expression) \
	__attribute__((noinline)) static void name(void) \
	{ \
		uint64_t x = 1; \
		for (int i = 0; i < (count); i++) \
			x = (expression); \
		sink = x; \
	}
STEP(mix, WORK, x * 6364136223846793005u + (uint64_t)i)
STEP(shift, 1000000, (x << 3 ^ x >> 5) + (uint64_t)i)
STEP(divide, 200000, 1000000007u / (x % 1000 + 3) + (uint64_t)i)
STEP(square, 1000000, x * x + (uint64_t)i)
STEP(turn, 1000000, (x << 7 | x >> 57) + (uint64_t)i)
STEP(add, 1000000, x + (x >> 1) + (uint64_t)i)

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 40; i > 0; i--) {
		mix();
		shift();
		divide();
		square();
		turn();
		add();
	}
}
END
${CC:-cc} -O1 -fno-omit-frame-pointer -o old prog.c && ${CC:-cc} -O1 -fno-omit-frame-pointer -DWORK=2000000 -o new prog.c || exit 1
"$BIN/pcap-perf" -e cpu-clock -F 99 -o probe.data -- true 2>/dev/null ||
	skip_all 'this machine does not allow recording'

ci() { # BASE NEW MAKE-ARGUMENT...
	base=$1
	new=$2
	shift 2
	run env PATH="$BIN:$PATH" make -s -f "$ROOT/share/ci/pdiff.mk" BASE="$base" NEW="$new" N=4 HZ=2000 "$@"
}

ci './old 100' './new 100'
is "$status" 2 'a slower build: make fails'
like "$OUT" '^regressed .* mix$' 'the function is named'
like "$ERR" 'gate failed' 'and why'
is "$(cd profiles && printf '%s\n' * | paste -s -d ' ')" \
	"$(printf '%s ' base-1.folded base-2.folded base-3.folded base-4.folded new-1.folded new-2.folded \
		new-3.folded new-4.folded pdiff.json pdiff.md pdiff.txt)pdiff.xml" 'recordings and reports stay'
like profiles/pdiff.md '\*\*regressed\*\* .*mix' 'the comment has it'
like profiles/pdiff.xml '<failure message="regressed' 'so has the report'

# The other way round: what is there is compared again.
for i in 1 2 3 4; do
	mv profiles/base-$i.folded keep && mv profiles/new-$i.folded profiles/base-$i.folded &&
		mv keep profiles/new-$i.folded
done
ci - - compare
is "$status" 0 'a faster build passes'
like "$OUT" '^improved .* mix$' 'the function is named, too'
# Builds of the same names are recorded again, and what was there is gone.
samples() { awk '{ n += $NF } END { print n }' profiles/new-1.folded; }
before=$(samples)
cp profiles/new-1.folded profiles/new-9.folded
ci './old 20' './old 20' record
is "$status" 0 'another run'
is "$(cd profiles && printf '%s ' new-*.folded)" 'new-1.folded new-2.folded new-3.folded new-4.folded ' \
	'leaves none of the recordings before'
ok 'and is one of the programs as they are now' test "$(samples)" -lt $((before / 2))
ci - - noise
is "$status" 0 'noise is learned from the recordings of the base'
like profiles/noise.tsv '^#PPNOISE1' 'into a table'
done_testing
