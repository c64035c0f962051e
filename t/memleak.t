#!/bin/sh
# memleak and memgrowth: what a program holds is what it was written to hold. plat: fields of a call for what begins
# at its return.
. "${0%/*}/lib.sh"

cat >heap.txt <<'X'
 p-7 [000] 1.000000: mem_malloc: size=100
 p-7 [000] 1.000100: mem_malloc__return: ret=16
 p-7 [000] 1.100000: mem_malloc: size=4096
 p-7 [000] 1.100010: mem_mmap: size=8192
 p-7 [000] 1.100020: mem_mmap__return: ret=4000
 p-7 [000] 1.100030: mem_malloc__return: ret=4016
 p-7 [000] 1.200000: mem_calloc: nmemb=5 size=8
 p-8 [001] 1.200010: mem_malloc: size=7
 p-7 [000] 1.200020: mem_calloc__return: ret=32
 p-8 [001] 1.200030: mem_malloc__return: ret=48
 p-8 [001] 1.300020: freed_free: ptr=32
CPU:0 [LOST 3 EVENTS]
 p-8 [000] 1.400030: freed_free: ptr=48
 p-7 [000] 2.000000: mem_realloc: ptr=16 size=1000
 p-7 [000] 2.000010: mem_realloc__return: ret=64
 p-7 [000] 2.100000: mem_mmap: size=1
 p-7 [000] 2.200000: mem_malloc: size=3
 p-7 [000] 2.300000: mem_mmap: size=20
 p-7 [000] 2.300010: mem_mmap__return: ret=80
X
"$BIN/pdecode" heap.txt >heap.ps 2>"$ERR"
# pairs OPTION...: plat of its allocations.
pairs() {
	run "$BIN/plat" -s 'mem_*__return:ret' -e '*:ptr' --tsv "$@" heap.ps
}
# held: the addresses and bytes of what is open.
held() {
	awk -F'\t' '!/^#/ && $1 == "pair open" { print $2 ":" $5 }' "$OUT" | sort -n | tr '\n' ' '
}
pairs --by size
is "$(awk -F'\t' '!/^#/ && $1 == "pair" { print $2, $4 }' "$OUT")" '8 100000000' 'a field of the call is a key of the pair; a loss gives up what is open then'
pairs --unmatched --by key --bytes 'nmemb * size, size'
is "$(held)" '64:1000 80:20 ' 'what comes after a loss counts, with the bytes of its call'
pairs --unmatched --by key --bytes 'nmemb * size, size' --outermost --across-losses
is "$(held)" '64:1000 80:20 4016:4096 ' 'across losses; not what was called within another, or after one that did not return'
like "$ERR" '1 of the open intervals were open when events were lost' 'of which it is reported how many are in doubt'
unlike "$ERR" 'no interval is made' 'and nothing else'
pairs --unmatched --by key --bytes size --outermost --across-losses --older 500ms
is "$(held)" '4016:4096 ' 'what is old'
pairs --bytes size
is "$status" 64 '--bytes is of --unmatched'

cat >leak.c <<'X'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FN __attribute__((noinline))
static void *volatile p;
FN void keep_malloc(void) { p = malloc(64); }
FN void keep_calloc(void) { p = calloc(3, 16); }
FN void keep_realloc(void) { void *old = malloc(10); p = old; p = realloc(old, 100); }
FN void keep_aligned(void) { p = aligned_alloc(64, 128); }
FN void keep_posix(void) { void *q; p = posix_memalign(&q, 128, 200) ? NULL : q; }
FN void keep_mmap(void) { p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
FN void keep_big(void) { p = malloc(1 << 20); memset(p, 1, 1 << 20); }
FN void give_back(void) { void *q = malloc(33); p = q; free(q); q = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(q, 4096); }

int main(int n, char **v)
{
	for (int tries = 0; n > 1 && tries < 6000 && access(v[1], F_OK); tries++)
		usleep(10000);
	for (n = 0; n < 50; n++) {
		keep_malloc(); keep_calloc(); keep_realloc(); keep_aligned(); keep_posix(); keep_mmap(); give_back();
	}
	keep_big();
	return 0;
}
X
# Probes as the man page has them; the recipe finds out by itself which functions a library has.
share=$ROOT/share/recipes
"${CC:-gcc}" -O1 -g -fno-omit-frame-pointer -o leak leak.c 2>"$ERR" || bail "$(cat "$ERR")"
set -- -x libc.so.6
for of in 'malloc size=$arg1' 'calloc nmemb=$arg1 size=$arg2' 'realloc ptr=$arg1 size=$arg2' 'aligned_alloc size=$arg2' \
	'mmap size=$arg2'; do
	set -- "$@" --probe "mem_${of%% *}=$of" --probe "mem_${of%% *}__return=${of%% *}%uretprobe ret=\$retval"
done
if ! "$BIN/pcap-perf" -g -m 4M "$@" --probe 'freed_free=free ptr=$arg1' --probe 'freed_munmap=munmap ptr=$arg1' \
	-o leak.data -- ./leak 2>"$ERR"; then
	diag_file "$ERR"
	skip 9 'probes cannot be made here'
	done_testing
	exit
fi
run "$share/memleak" leak.data --tsv
is "$status" 0 'memleak, of a recording'
# by_function FILE: what is held, by the function that holds it.
by_function() {
	awk -F'\t' '!/^#/ && $1 == "held open" && $3 ~ /main/ { sub(/;_*posix_memalign$/, "", $3); sub(/.*;/, "", $3); print $3, $4, $5 }' "$1" | sort
}
by_function "$OUT" >got
cat >want <<'X'
keep_aligned 50 6400
keep_big 1 1048576
keep_calloc 50 2400
keep_malloc 50 3200
keep_mmap 50 409600
keep_realloc 50 5000
X
same got want 'what is held, by the function that holds it'
run "$share/memleak" -s 4 leak.data --tsv
kept=$(awk -F'\t' '!/^#/ && $1 == "held open" && $3 ~ /keep_/ { n += $4 } END { print n }' "$OUT")
ok "one of four: $kept of 251" [ "$kept" -gt 20 ] && [ "$kept" -lt 150 ]

# A process that runs: what it allocates once the recorder has begun, until it ends.
live() { # WHAT [OPTION]...: of $pid
	what=$1
	shift
	"$share/memleak" -P "$pid" "$@" -- --tsv >live.out 2>live.err &
	await records $!
	: >go
	rc=0
	wait $! || rc=$?
	by_function live.out >got
	# Seen where the functions that the library has inside are known.
	if grep -q 'posix_memalign is not seen' live.err; then
		grep -v keep_posix want >want.live
	else
		cp want want.live
	fi
	is "$rc" 0 "memleak, live: $what" || diag_file live.err
	same got want.live "what is held: $what"
	rm go
}
./leak "$PWD/go" &
pid=$!
echo 'keep_posix 50 10000' >>want
sort -o want want
live 'libc' --call-graph dwarf
jemalloc=$(ldconfig -p 2>/dev/null | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
if [ -z "$jemalloc" ]; then
	skip 2 'libjemalloc.so.2 is not installed'
else
	LD_PRELOAD=$jemalloc ./leak "$PWD/go" &
	pid=$!
	# It is libc's mmap still.
	grep -v keep_mmap want >want.jemalloc
	mv want.jemalloc want
	await grep -q jemalloc "/proc/$pid/maps"
	live 'jemalloc' -b "$jemalloc"
fi
run "$BIN/pcap-perf" --call-graph dwarf -e page-faults/period=1/ -e syscalls:sys_enter_mmap -o growth.data -- ./leak
if [ "$status" != 0 ]; then
	skip 2 'no such events here'
else
	run "$share/memgrowth" growth.data
	pages=$(awk '/^page-faults.*;main;keep_big/ { n += $NF } END { print n + 0 }' "$OUT")
	ok "a megabyte that is touched: $pages page faults" [ "$pages" -ge 1 ] && [ "$pages" -le 260 ]
	is "$(awk '/^syscalls:sys_enter_mmap;.*;main;keep_mmap/ { n += $NF } END { print n }' "$OUT")" 50 'each mmap'
fi
done_testing
