#!/bin/sh
# Text that a program has moved onto other pages, as for huge ones: it is still that of its file, for names and
# stacks, whether the recording saw it move or not.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
cat >lib.c <<'EOF_C'
volatile unsigned long sum;
__attribute__((noinline, noclone)) void leaf(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		sum += i;
}
__attribute__((noinline, noclone)) void middle(void)
{
	leaf();
	sum++;
}
EOF_C
cat >moved.c <<'EOF_C'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
void middle(void);

/* The library's text: copied, then mapped again at its place, as memory with that content. */
static int move(int by_mremap)
{
	uintptr_t a = 0, b = 0, s, e;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], p[5];
	void *copy;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s", &s, &e, p) == 3 && p[2] == 'x' && (uintptr_t)middle >= s &&
		    (uintptr_t)middle < e)
			a = s, b = e;
	copy = mmap(NULL, b - a, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!a || copy == MAP_FAILED)
		return 1;
	memcpy(copy, (void *)a, b - a);
	if (by_mremap)
		return mprotect(copy, b - a, PROT_READ | PROT_EXEC) ||
		       mremap(copy, b - a, b - a, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)a) != (void *)a;
	if (mmap((void *)a, b - a, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return 1;
	memcpy((void *)a, copy, b - a);
	return mprotect((void *)a, b - a, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
	if (argc < 2 || move(!strcmp(argv[1], "mremap")))
		return 1;
	puts("moved");
	fflush(stdout);
	if (argc > 2) /* until the file is there */
		while (access(argv[2], F_OK))
			middle();
	else
		while (clock() < CLOCKS_PER_SEC / 5)
			middle();
	return 0;
}
EOF_C
{ "$CC" -O2 -fPIC -shared -fno-optimize-sibling-calls -o libmoved.so lib.c 2>cc.err &&
	"$CC" -O2 -o moved moved.c -L. -lmoved -Wl,-rpath,"$PWD" 2>>cc.err; } || skip_all "$CC does not build a program"

"$BIN/pcap-perf" -e cpu-clock:u -F 999 --call-graph dwarf -o seen.data -- ./moved mmap >said 2>record.err ||
	skip_all 'perf events cannot be recorded here, or code cannot be written'
"$BIN/pdecode" -b seen.data 2>decode.err | "$BIN/psym" 2>psym.err | "$BIN/pfold" --no-header >seen.folded 2>pfold.err
like seen.folded '^moved;[^[][^;]*;([^;]*;)*main;middle;leaf [0-9]' 'text that was moved while it was recorded has its names'
unlike seen.folded 'perf-[0-9]*\.map|^moved;\[.*;leaf ' 'nothing is taken for generated code, and stacks are whole'
"$BIN/pdecode" -b seen.data 2>decode.err | "$BIN/psym" --like-perf -t 2>psym.err >perf.text
unlike perf.text 'leaf' '--like-perf has no names, as perf'

# attached MODE: recorded when it has been moved already
attached() {
	rm -f go "$1.said"
	./moved "$1" go >"$1.said" 2>&1 &
	pid=$!
	await grep -q moved "$1.said"
	"$BIN/pcap-perf" -e cpu-clock:u -F 999 --call-graph dwarf -p "$pid" -o "$1.data" --bundle "$1.tar" 2>record.err &
	recorder=$!
	await sampled "$1.data"
	touch go
	wait "$pid"
	wait "$recorder"
	"$BIN/pdecode" -b "$1.data" 2>decode.err | "$BIN/psym" 2>psym.err | "$BIN/pfold" --no-header >"$1.folded" 2>pfold.err
	like "$1.folded" '^moved;[^[][^;]*;([^;]*;)*main;middle;leaf [0-9]' "by $1, recorded later"
	unlike "$1.folded" 'perf-[0-9]*\.map|^moved;\[no' "by $1: nothing is taken for generated code"
	mv libmoved.so gone.so
	"$BIN/pdecode" -b "$1.data" 2>decode.err | "$BIN/psym" --symfs "$1.tar" 2>psym.err | "$BIN/pfold" --no-header >"$1.folded" 2>pfold.err
	mv gone.so libmoved.so
	like "$1.folded" 'main;middle;leaf [0-9]' "by $1: the file is in the bundle"
}
attached mmap
attached mremap
done_testing
