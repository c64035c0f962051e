#!/bin/sh
# psym where only the debug file of a program is found: objcopy rewrites the offsets of its segments,
# so that addresses come from where the program was mapped. One program for each linker, linked at a
# place of its own and not; what a linker or a recorder lacks is skipped.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" strip objcopy readelf

# Data of some pages, before and after the code, so that a wrong segment holds its offsets.
cat >prog.c <<'EOF'
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))
const volatile char table[65536] = {1, 2, 3};
volatile char bytes[65536] = {4, 5, 6};
volatile unsigned long sum;
KEEP void inner(int n)
{
	for (int i = 0; i < n; i++)
		sum ^= (unsigned long)i;
}
KEEP void outer(int n)
{
	inner(n);
	sum += (unsigned long)(table[1] + bytes[1]);
}
/* What lies between the functions is more than the slack of a page. */
__asm__(".text\n.fill 300000, 1, 0x90\n");
KEEP void far_away(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i;
	sum++;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]);

	for (int i = 0; i < 240; i++) {
		outer(n);
		far_away(n);
	}
	return 0;
}
EOF

# program LINKER OPTION: builds it, records it, then keeps only its debug file.
program() {
	name=$1$2
	"$CC" -O0 -g -fno-omit-frame-pointer -fuse-ld="$1" "$2" -Wl,--build-id \
		-o "$name" prog.c 2>link.log || return 1
	"$BIN/pcap-perf" -e cpu-clock:u -F 999 --call-graph fp -o "$name.data" -- "./$name" 500000 \
		>record.log 2>&1 || return 1
	"$BIN/pdecode" "$name.data" >"$name.ps" 2>decode.log || return 1
	id=$(readelf -n "$name" | sed -n 's/.*Build ID: //p')
	dir=dbg/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$dir"
	objcopy --only-keep-debug "$name" "$dir/$(echo "$id" | cut -c 3-).debug"
}

for linker in bfd gold lld; do
	for pie in -pie -no-pie; do
		what="ld.$linker $pie"
		if ! program "$linker" "$pie"; then
			skip 5 "no such linker, or recording is not allowed here" "$what"
			continue
		fi
		run_pipe "\"\$BIN/psym\" $name.ps" '"$BIN/pfold"'
		cp "$OUT" named
		like named ';main;outer;inner [0-9]+$' "$what: the program itself has names"
		like named ';main;far_away [0-9]+$' "$what: also far from the first"
		mv "$name" "$name.away"
		run_pipe "\"\$BIN/psym\" --stats --debug-dir dbg --debug-dir /usr/lib/debug $name.ps" \
			'"$BIN/pfold"'
		is "$statuses" '0 0' "$what: the debug file alone is found"
		grep ';main' named >with
		grep ';main' "$OUT" >without
		same without with "$what: it gives the same names"
		unlike "$OUT" 'table|bytes' "$what: and no other"
		mv "$name.away" "$name"
	done
done
done_testing
