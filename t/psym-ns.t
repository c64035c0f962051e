#!/bin/sh
# psym on a process that lives in namespaces of its own: its binary is found below /proc/PID/root, its
# perf map there under the pid that it has inside.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" unshare mount timeout

cat >prog.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void code(volatile unsigned long *sum, unsigned long n);

__attribute__((noinline, noclone)) void spin(volatile unsigned long *sum, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		*sum += i;
}

int main(void)
{
	static volatile unsigned long sum;
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	memcpy(at, (void *)(uintptr_t)spin, 128);
	__builtin___clear_cache(at, at + 128);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx 1000 generated inside\n", (unsigned long)(uintptr_t)at);
	fclose(f);
	for (;;) {
		((code *)(uintptr_t)at)(&sum, 1000000);
		spin(&sum, 1000000);
	}
}
EOF
mkdir private
"$CC" -O1 -fcf-protection=none -Wl,--build-id -o private/inside prog.c 2>/dev/null ||
	"$CC" -O1 -o private/inside prog.c || bail "$CC cannot build the program"
as=
[ "$(id -u)" = 0 ] || as='--user --map-root-user'
# shellcheck disable=SC2086
unshare $as --mount --pid --fork --kill-child sh -c \
	"mount --bind '$TMP/private' /tmp && exec timeout 600 /tmp/inside" >ns.log 2>&1 &
ns=$!
trap 'kill -9 $ns 2>/dev/null || :; t_end' EXIT
has_map() {
	gone $ns || [ -s "$(echo private/perf-*.map)" ]
}
await has_map
! gone $ns || skip_all 'namespaces cannot be made here'
"$BIN/pcap-perf" -a -F 499 -e cpu-clock:u -o p.data 1000 >record.log 2>&1 &
recorder=$!
recorded() {
	gone $recorder || sampled p.data '^ *inside '
}
await recorded
! gone $recorder || skip_all 'recording the whole machine is not allowed here'
kill -INT $recorder
wait $recorder
"$BIN/pdecode" p.data >p.ps 2>/dev/null || skip_all 'nothing was recorded'
run_pipe '"$BIN/psym" p.ps' '"$BIN/pfold"'
grep -q '^inside;' "$OUT" || skip_all 'the program did not run during the recording'
like "$OUT" '^inside;(.*;)?spin [0-9]+$' 'the binary inside of the mount namespace'
like "$OUT" '^inside;(.*;)?generated inside [0-9]+$' 'the perf map, by the pid in its namespace'
run "$BIN/psym" --bundle b.tar p.ps
kill -9 $ns
wait $ns 2>/dev/null
run_pipe '"$BIN/psym" --symfs b.tar p.ps' '"$BIN/pfold"'
like "$OUT" '^inside;(.*;)?spin [0-9]+$' 'both are in the bundle, when the process is gone'
like "$OUT" '^inside;(.*;)?generated inside [0-9]+$' 'the perf map, too'
done_testing
