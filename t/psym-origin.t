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
is "$(said 'nothing shows that the recording is from this machine.*--trust-host')" 1 \
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
# A program that was built again after a recording without build-ids: its functions are elsewhere.
cat >old.c <<'EOF'
volatile long x;
__attribute__((noinline)) void old_fn(void)
{
	for (long i = 0; i < 60000000; i++)
		x += i;
}
int main(void)
{
	old_fn();
	return 0;
}
EOF
sed 's/old_fn/new_fn/; s/^volatile.*/&\n__attribute__((noinline)) int pad(int a) { return a * 3 + x; }/' old.c >new.c
for when in old new; do
	${CC:-gcc} -O0 -fno-omit-frame-pointer -Wl,--build-id=none -o $when $when.c || bail 'no compiler'
done
cp old built
if "$BIN/pcap-perf" -B -e cpu-clock:u -F 499 -g -o built.data -- ./built >record.log 2>&1; then
	"$BIN/pdecode" built.data >built.ps 2>/dev/null
	folded() {
		run_pipe "\"\$BIN/psym\" --stats $* built.ps" '"$BIN/pfold"'
	}
	folded
	like "$OUT" ';main;old_fn [0-9]+$' 'the program that was recorded'
	cp new other
	mv other built
	folded
	unlike "$OUT" 'new_fn|old_fn|pad' 'one that took its place gives no names'
	like "$ERR.1" 'built: was replaced since the recording' 'which is reported'
	like "$ERR.1" 'address(es)?: the file was replaced since the recording' 'and is the reason'
	run "$BIN/psym" --missing built.ps
	like "$OUT" 'tried .*/built: replaced since the recording' '--missing names the file'
	like "$OUT" 'helps.*--force' 'and what helps'
	folded --force
	like "$OUT" '^built;.*(main|new_fn|pad)' '--force takes it'
	mkdir -p as-it-was
	cp old as-it-was/built
	folded --symfs as-it-was
	like "$OUT" ';main;old_fn [0-9]+$' '--symfs has it as it was'
	rm built
	folded
	like "$ERR.1" 'address(es)?: the file was not found' 'one that is gone'
else
	skip 9 'recording is not allowed here'
fi

# While a process has it, root finds what was deleted, also a program in memory.
cat >gone.c <<'EOF'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
extern char **environ;
volatile long x;
__attribute__((noinline)) void in_gone(void)
{
	for (long i = 0; i < 1000000; i++)
		x += i;
}
int main(int argc, char **argv)
{
	int memory = memfd_create("program", 0), file;

	if (argc == 2) {
		file = open(argv[0], O_RDONLY);
		if (memory < 0 || sendfile(memory, file, NULL, 1 << 20) <= 0)
			return 1;
		fexecve(memory, (char *[]){argv[0], argv[1], "again", NULL}, environ);
		return 1;
	}
	while (access("end", F_OK))
		in_gone();
	return 0;
}
EOF
${CC:-gcc} -O0 -fno-omit-frame-pointer -Wl,--build-id=none -o gone gone.c || bail 'no compiler'
for kind in file memory; do
	cp gone runs
	if [ $kind = memory ]; then
		./runs memory &
	else
		./runs &
	fi
	pid=$!
	sees_it() { gone "$pid" || [ "$(cat "/proc/$pid/comm")" != sh ]; }
	await sees_it
	if [ "$(id -u)" = 0 ] && "$BIN/pcap-perf" -B -e cpu-clock:u -F 499 -g -p $pid -o gone.data 1 >record.log 2>&1; then
		rm runs
		"$BIN/pdecode" gone.data >gone.ps 2>/dev/null
		run_pipe '"$BIN/psym" gone.ps' '"$BIN/pfold"'
		like "$OUT" ';main;in_gone [0-9]+$' "a program that was deleted: $kind"
	else
		skip 1 'recording is not allowed here'
	fi
	: >end
	wait $pid
	rm -f end
done

done_testing
