#!/bin/sh
# pstrace: its calls beside what perf trace printed of the same recording, its table beside plat's; paths
# that probes tell; selection, forms, damaged input, refusals and exit statuses.
. "${0%/*}/lib.sh"

# What perf 6.1 printed: beginning, duration, thread, call and result of each.
gzip -dc "$ROOT/t/data/strace.data.gz" >strace.data
gzip -dc "$ROOT/t/data/strace.trace.gz" >strace.trace.txt
run env BIN="$BIN" "$ROOT/t/oracle/perf-strace" -v strace.data
is "$status" 0 'calls are those of perf trace'
like "$OUT" '^strace.data: [5-9][0-9] calls equal, 0 differ, 0 only perf, 0 only pstrace' 'all of them'
"$BIN/pdecode" strace.data >strace.ps 2>/dev/null || exit 1

# Arguments, as perf printed them where they are numbers.
run "$BIN/pstrace" strace.ps
is "$status" 0 'text'
sed -n 's/.* \(read\|write\)(fd: \([0-9]*\), buf: \(0x[0-9a-f]*\), count: \([0-9]*\)) .*/\1 \2 \3 \4/p' "$OUT" | sort >got
sed -n 's/.*[ :]\(read\|write\)(fd: \([0-9]*\), buf: \(0x[0-9a-f]*\), count: \([0-9]*\)).*/\1 \2 \3 \4/p' strace.trace.txt |
	sort >want
ok 'there are reads and writes' test -s want
comm -23 want got >missing
empty missing 'descriptors, addresses and counts'
like "$OUT" 'exit_group\(error_code: 0\) = \?$' 'a call that does not return'
like "$OUT" 'wait4\(upid: [0-9]+, stat_addr: NULL' 'addresses that are 0'

# The table, as plat has it.
"$BIN/pdecode" "$ROOT/t/data/syscalls.dat" >sys.ps 2>/dev/null || exit 1
run "$BIN/pstrace" -s --tsv sys.ps
is "$status" 0 'a table of calls'
awk -F '\t' '!/^#/ && $3 { print $2, $3, $4 }' "$OUT" | sort >got
"$BIN/plat" --kind syscall --by name --tsv sys.ps 2>/dev/null >plat.tsv
awk -F '\t' '
	/^#/ { for (i = 1; i <= NF; i++) { if ($i ~ /^name:key/) k = i; if ($i ~ /:count$/ && !c) c = i; if ($i ~ /:sum:ns$/) s = i } next }
	k { print $k, $c, $s }' plat.tsv | sed 's/^new\([lf]*stat \)/\1/' | sort >want
ok 'plat has calls' test -s want
same got want 'counts and times are those of plat'
run "$BIN/pstrace" --by-thread --sort call sys.ps
like "$OUT" '^call +comm +tid ' '--by-thread'

# Which calls.
run "$BIN/pstrace" sys.ps
cp "$OUT" all
run "$BIN/pstrace" -e 'open*,close' sys.ps
grep -E '/[0-9]+ (open[a-z0-9]*|close)\(' all >want
same "$OUT" want '-e with a pattern and a name'
run "$BIN/pstrace" -e '!open*,close' sys.ps
grep -vE '/[0-9]+ (open[a-z0-9]*|close)\(' all >want
same "$OUT" want '-e turned round'
run "$BIN/pstrace" --failed sys.ps
grep -E ' = (-1|\?) E[A-Z]+ ' all >want
same "$OUT" want '--failed'
run "$BIN/pstrace" -e memory sys.ps
is "$(grep -cvE '/[0-9]+ (m|brk)' "$OUT")" 0 'a group'
"$BIN/pstrace" -e '%memory' sys.ps >got 2>/dev/null
same "$OUT" got 'its name may begin with a percent sign'
run "$BIN/pstrace" -e 'trace=!%memory' sys.ps
grep -vE '/[0-9]+ (mmap|brk|munmap|mprotect|mremap|madvise|msync|mincore)\(' all >want
same "$OUT" want 'as strace -e trace=!... has it'
run "$BIN/pstrace" -e 'open,opne' sys.ps
is "$status" 64 'a name of no call'
like "$ERR" 'not a system call: opne' 'is told'
run "$BIN/pstrace" -e '%nonsense' sys.ps
is "$status" 64 'likewise a group'
run "$BIN/pstrace" --slower 100us sys.ps
awk -F '[( ]+' '{ for (i = 1; i <= NF; i++) if ($i == "ms)") { if ($(i - 1) + 0 >= 0.1) print; break } }' all >want
same "$OUT" want '--slower'
like all 'openat\(dfd: AT_FDCWD, filename: 0x[0-9a-f]+, flags: O_RDONLY' 'flags by name'
like all '= -1 E[A-Z]+ \([A-Z]' 'errors by name and text'
run "$BIN/pstrace" --raw -e openat sys.ps
like "$OUT" 'dfd: 0xffffff' '--raw'
"$BIN/pfilter" 'ret < 0' sys.ps >marked.ps
run "$BIN/pstrace" marked.ps
grep -E ' = (-1|\?) E[A-Z]+ ' all | sed 's/^ *[0-9.?]* //' >want
sed 's/^ *[0-9.?]* //' "$OUT" >got
same got want 'pfilter says which count, by their end'
run "$BIN/pstrace" --tsv sys.ps
is "$(grep -cv '^#' "$OUT")" "$(wc -l <all)" 'TSV has a line for each'
is "$(awk -F '\t' 'NF != 8' "$OUT")" '' 'of eight columns'
run "$BIN/pstrace" --json sys.ps
if have python3; then
	python3 -c '
import json, sys
calls = [json.loads(line) for line in sys.stdin]
assert all(c["call"] and c["tid"] > 0 for c in calls)
print(len(calls))' <"$OUT" >n
	is "$(cat n)" "$(wc -l <all)" 'JSON'
else
	skip 1 'python3 is not installed'
fi

# Paths, as a probe in the C library told them, and as the program opened them (t/data/README.md).
gzip -dc "$ROOT/t/data/paths.data.gz" | "$BIN/pdecode" >paths.ps 2>/dev/null
run "$BIN/pstrace" paths.ps
like "$OUT" 'openat\(dfd: AT_FDCWD, filename: "/etc/hostname", flags: O_RDONLY\|O_CLOEXEC\) = 3</etc/hostname>' 'a path'
like "$OUT" 'read\(fd: 3</etc/hostname>, .*count: 8\) = 3' 'of a descriptor'
like "$OUT" 'dup\(fildes: 3</etc/hostname>\) = 5</etc/hostname>' 'and its duplicate'
like "$OUT" 'read\(fd: 3</etc/hostname>, .*count: 1\) = 1' 'a child has the files of its parent'
like "$OUT" 'filename: "/no/such", flags: O_RDWR\|O_CREAT, mode: 0600\) = -1 ENOENT' 'a file that could not be opened'
like "$OUT" 'close\(fd: 3</etc/hostname>\) = 0' 'until it is closed'
is "$(grep -c 'hostname' "$OUT")" 8 'nothing else has that path'
like "$OUT" 'wait4\(upid: -1,' 'numbers of 32 bits'
unlike "$ERR" 'paths are addresses' 'without a message'
run "$BIN/pstrace" strace.ps
run "$BIN/pstrace" sys.ps
like "$ERR" 'paths are addresses: they were not recorded; pcap-perf --paths does' 'where there are none, a message says so'

# A program of 32 bits (t/data/README.md) beside one of 64.
gzip -dc "$ROOT/t/data/narrow.data.gz" | "$BIN/pdecode" >narrow.ps 2>/dev/null
run "$BIN/pstrace" narrow.ps
sed -n 's/.*prog32\/[0-9]* //p' "$OUT" | tail -n 5 >got
cat >want <<'E'
open(filename: 0x804a000, flags: O_RDONLY) = 3
read(fd: 3, buf: 0x804a00e, count: 4) = 3
getpid() = 29174
close(fd: -1) = -1 EBADF (Bad file descriptor)
exit_group(error_code: 7) = ?
E
same got want 'calls of 32 bits'
like "$OUT" 'sh/29165 wait4\(' 'calls of 64 bits'
run "$BIN/pstrace" --abi 64:prog32 narrow.ps
like "$OUT" 'prog32/29174 fstat\(' '--abi by name'
run "$BIN/pstrace" --abi 64 --abi 32:29174 narrow.ps
like "$OUT" 'prog32/29174 open\(' '--abi by number'
# As if it were of an aarch64: call 252 is one in the table of i386, another in that of arm, and a third in that of
# 64 bits, on which the shell has 59.
run "$BIN/pstrace" --arch aarch64 narrow.ps
like "$OUT" 'prog32/29174 epoll_wait\(' 'calls of 32 bits on aarch64 are those of arm'
like "$OUT" 'sh/29165 pipe2\(' 'beside those of 64 bits'
run "$BIN/pstrace" --arch arm --abi 64 -e pipe2,set_tls narrow.ps
is "$status" 0 '--arch arm'
run "$BIN/pstrace" --abi 31 narrow.ps
is "$status" 64 'an ABI that is none'

# The lines of strace -f -ttt -T: a call that another interrupts is two.
gzip -dc "$ROOT/t/data/resumed.data.gz" | "$BIN/pdecode" >resumed.ps 2>/dev/null
run "$BIN/pstrace" --strace resumed.ps
is "$status" 0 '--strace'
like "$OUT" '^31811 14990\.[0-9]{6} futex\(.* <unfinished \.\.\.>$' 'a call that is interrupted'
like "$OUT" '^31811 14991\.[0-9]{6} <\.\.\. futex resumed>\) = 0 <0\.030[0-9]{3}>$' 'and goes on'
like "$OUT" 'read\(3, 0x[0-9a-f]+, 1\) = \? ERESTARTSYS .* <0\.0[0-9]+>$' 'one that a signal ended'
is "$(grep -c unfinished "$OUT")" "$(grep -c resumed "$OUT")" 'each goes on'
run "$BIN/pstrace" resumed.ps
wc -l <"$OUT" >want
run "$BIN/pstrace" --strace resumed.ps
grep -vc 'unfinished' "$OUT" >got
same got want 'no call is missing'
run "$BIN/pstrace" --strace --slower 10ms resumed.ps
unlike "$OUT" 'unfinished' 'what is decided at the end is one line'
like "$OUT" '^31811 14990\.[0-9]{6} futex\(.*\) = 0 <0\.030' 'with its beginning'

# Recorded with their paths: a program tells what it did.
cat >did.c <<'E'
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = 9 << 8};
	char from[64], to[64];
	struct stat st;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 5; i++) {
		snprintf(from, sizeof(from), "did-%d", i);
		snprintf(to, sizeof(to), "done-%d", i);
		printf("openat \"%s\"\nrename \"%s\", newname: \"%s\"\nnewfstatat \"%s\"\nunlink \"%s\"\n", from, from, to, to, to);
		close(open(from, O_RDWR | O_CREAT, 0600));
		rename(from, to);
		stat(to, &st);
		unlink(to);
	}
	printf("connect {AF_INET, 127.0.0.1:9}\n");
	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&in, sizeof(in)) ? 0 : 0;
}
E
tracing=/sys/kernel/tracing
if [ "$(id -u)" = 0 ] && { [ -w $tracing/uprobe_events ] || [ -w $tracing/kprobe_events ]; } &&
	case $(uname -m) in x86_64 | aarch64 | riscv64) ;; *) false ;; esac &&
	${CC:-cc} -o did did.c && "$BIN/pcap-perf" -e raw_syscalls:sys_enter -o try.data -- true 2>/dev/null; then
	run "$BIN/pcap-perf" --paths -o did.data -- ./did
	is "$status" 0 'pcap-perf --paths'
	cp "$OUT" want
	"$BIN/pdecode" did.data 2>/dev/null | "$BIN/pstrace" -e 'openat,rename,newfstatat,stat,unlink,connect' 2>/dev/null |
		sed -n 's/.* \([a-z]*\)(.*\(filename\|oldname\|pathname\|uservaddr\): \(["{].*["}]\).*/\1 \3/p' |
		grep -E '^connect|"(did|done)-' >got
	sort -o want want
	sort -o got got
	same got want 'all paths and addresses'
else
	skip 2 'probes cannot be made here'
fi

# What is not whole.
head -c 20000 sys.ps >cut.ps
run "$BIN/pstrace" cut.ps
is "$status" 1 'a stream that is cut off'
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps 2>/dev/null
run "$BIN/pstrace" small.ps
is "$status" 1 'a recording without system calls'
like "$ERR" 'no system calls: record raw_syscalls' 'which is reported'
run "$BIN/pstrace" nothing
is "$status" 2 'a file that is not there'
run "$BIN/pstrace" --slower soon sys.ps
is "$status" 64 'a time that is none'
run "$BIN/pstrace" -s --sort nosuch sys.ps
is "$status" 64 'a column that is none'
run "$BIN/pstrace" --stats sys.ps
like "$ERR" 'calls [0-9]+ = shown [0-9]+' '--stats'
done_testing
