#!/bin/sh
# psym takes names from this machine's kernel, and from its files without a build-id, only for
# recordings that prove to be of this machine.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" perl

cat >prog.c <<'EOF'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sum ^= (unsigned long)i;
	for (int i = 0; i < n / 20; i++)
		syscall(SYS_getppid);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 60; i++)
		inner(atoi(argv[argc - 1]));
	return 0;
}
EOF
"$CC" -O0 -fno-omit-frame-pointer -Wl,--build-id=none -o prog prog.c ||
	skip_all "$CC cannot build the program"
"$BIN/pcap-perf" -e cpu-clock -F 999 -g -o here.data -- ./prog 500000 >record.log 2>&1 ||
	skip_all 'recording is not allowed here'
"$BIN/pdecode" here.data >here.ps 2>decode.log || skip_all 'nothing was recorded'

# fold STREAM OPTION...: folded text in $OUT, what psym says in $ERR.1.
fold() {
	stream=$1
	shift
	psym_args=$*
	run_pipe "\"\$BIN/psym\" --stats $psym_args $stream" '"$BIN/pfold"'
}
# said TEXT: how often psym says it.
said() {
	grep -c -- "$1" "$ERR.1"
}

fold here.ps
like "$OUT" ';main;inner' "the host's name is recorded: names of its files"
cp "$OUT" named

# The names of the facts are changed, so that nobody knows them; then the kernel's build-id and its
# place in memory, too, so that nothing is left that speaks for this machine.
perl -pe 's/hostname/hostnamX/g; s/osrelease/osreleasX/g' here.ps >kernel.ps
fold kernel.ps
if grep -q 'getppid' named; then
	same "$OUT" named 'the kernel alone is recorded, as one of this machine: all names'
	unlike "$ERR.1" 'nothing shows' 'nothing is amiss'
else
	skip 2 'the kernel has no names here'
fi
TEXT=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms) \
	ID=$(od -An -v -tx1 -j 16 -N 20 /sys/kernel/notes 2>/dev/null | tr -d ' \n') perl -0777 -pe '
	my $id = pack("H*", $ENV{ID});
	my $other = $id ^ ("\x55" x length $id);
	s/\Q$id\E/$other/g if length $id;
	my $text = pack("Q", hex $ENV{TEXT});
	my $moved = pack("Q", (hex $ENV{TEXT}) ^ 0x0e000000);
	s/\Q$text\E/$moved/g if hex $ENV{TEXT};
' kernel.ps >nowhere.ps
fold nowhere.ps
unlike "$OUT" 'inner|getppid' 'nothing shows the machine: no names of its files and its kernel'
is "$(said 'nothing shows that the recording is of this machine.*--trust-host')" 1 \
	'which is reported once, with what to do'
like "$ERR.1" "address(es)?: nothing proves that this machine's file is the recorded one" \
	'and is the reason of each'
fold nowhere.ps --trust-host
like "$OUT" ';main;inner' '--trust-host: the names of files'
unlike "$ERR.1" 'nothing shows' 'nothing is amiss'
mkdir -p "root$TMP"
cp prog "root$TMP/prog"
fold nowhere.ps --symfs root
like "$OUT" ';main;inner' '--symfs is believed'

host=$(uname -n)
OTHER=$(printf '%s' "$host" | tr 'a-zA-Z0-9' 'b-zaB-ZA1-90') HOST=$host perl -0777 -pe '
	s/(hostname.{0,8})\Q$ENV{HOST}\E/$1$ENV{OTHER}/sg' here.ps >other.ps
fold other.ps
unlike "$OUT" 'inner' 'another host: no names of files without a build-id'
is "$(said "recorded on host .*, this is $host.*--symfs")" 1 'which is reported once'
like "$ERR.1" 'address(es)?: nothing proves' 'and is the reason'
fold other.ps --trust-host
like "$OUT" ';main;inner' '--trust-host: the same host by another name'
unlike "$ERR.1" 'recorded on host' 'nothing is amiss'
run "$BIN/psym" --missing other.ps
like "$OUT" 'helps --symfs .*--trust-host' '--missing says what helps'
done_testing
