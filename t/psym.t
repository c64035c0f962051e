#!/bin/sh
# psym on a recording of a program that is built here: which names it finds, and what it says of the
# addresses that have none. What needs no recording is in t/unit/symbol_*.c.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" strip objcopy readelf

cat >prog.c <<'EOF'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
volatile unsigned long sum;
void work(int n) __asm__("_ZN2ns4workEi");
KEEP void work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
KEEP void inner(int n)
{
	for (int i = 0; i < n; i++)
		sum ^= i;
}
KEEP void outer(int n)
{
	inner(n);
	sum++;
}
KEEP void clocks(int n)
{
	struct timespec t;

	for (int i = 0; i < n; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	sum++;
}
KEEP void calls(int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
	sum++;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]);

	for (int i = 0; i < 100; i++) {
		outer(n);
		work(n);
		clocks(n / 20);
		calls(n / 20);
		sum++;
	}
	return 0;
}
EOF
# Without optimization the innermost functions have a frame, too, so that their callers are seen.
"$CC" -O0 -g -fno-omit-frame-pointer -Wl,--build-id -o built prog.c ||
	bail "$CC cannot build the program"
mkdir here
cp built here/prog

# record FILE OPTION...: with perf, else with pcap-perf.
record() {
	file=$1
	shift
	if have perf; then
		perf record -q -N -F 999 --call-graph fp "$@" -o "$file" -- here/prog 500000 >record.log 2>&1
	else
		"$BIN/pcap-perf" -F 999 --call-graph fp "$@" -o "$file" -- here/prog 500000 >record.log 2>&1
	fi
}
record user.data -e cpu-clock:u || skip_all 'recording is not allowed here'
"$BIN/pdecode" user.data >user.ps 2>decode.log || skip_all 'nothing was recorded'

# fold STREAM OPTION...: folded text in $OUT, what psym says in $ERR.1.
fold() {
	stream=$1
	shift
	psym_args=$*
	run_pipe "\"\$BIN/psym\" --stats $psym_args $stream" '"$BIN/pfold" --no-header'
}

fold user.ps
is "$statuses" '0 0' 'psym and pfold succeed'
like "$OUT" '^prog(;[^;]+)*;main;outer;inner [0-9]+$' 'the stack of the inner function by name'
like "$OUT" ';main;ns::work [0-9]+$' 'a C++ name without its arguments'
unlike "$OUT" ';inner;' 'nothing is below the innermost function'
unlike "$OUT" '\[prog\]' 'no address of the program is without a name'
cp "$OUT" named
if grep -q 'clock_gettime\|vdso' named; then
	like named 'clock_gettime' 'the vdso has names'
	unlike named '\[\[vdso\]\]|;\[vdso\]' 'for all its addresses'
else
	skip 2 'no sample is in the vdso'
fi
fold user.ps --no-demangle
like "$OUT" ';main;_ZN2ns4workEi [0-9]+$' '--no-demangle keeps the mangled name'
unlike "$OUT" 'ns::work' 'and shows no other'

run_pipe '"$BIN/psym" user.ps' '"$BIN/psym"' '"$BIN/pfold" --no-header'
same "$OUT" named 'a second psym changes nothing'
"$BIN/psym" -t user.ps >text 2>/dev/null
"$BIN/pfold" --no-header text >text.folded 2>/dev/null
"$BIN/psym" user.ps 2>/dev/null | "$BIN/pfold" --no-header --no-marks >unmarked 2>/dev/null
same text.folded unmarked 'its text folds to the same, but for the marks'

# What is named stays named, where the second finds nothing.
"$BIN/psym" --stats user.ps >first.ps 2>first.err
mv here/prog away
fold first.ps
same "$OUT" named 'a second psym without the program keeps the names'
like "$ERR.1" "$(grep -o '[0-9]* of them without a name' first.err)" 'and counts no more that are missing'
fold first.ps --no-demangle
like "$OUT" ';main;_ZN2ns4workEi [0-9]+$' 'also as the linker has them'
"$BIN/psym" --srcline user.ps >bare.ps 2>/dev/null
mv away here/prog
fold bare.ps
same "$OUT" named 'what the first did not find the second does'

strip -o here/prog built
fold user.ps
unlike "$OUT" 'outer|inner|ns::work' 'stripped: no names'
like "$OUT" ';prog\+0x[0-9a-f]+ [0-9]+$' 'stripped: functions go by where they begin'
like "$ERR.1" '^psym: [0-9]+ address(es)?: the file has (no|only dynamic) symbols' \
	'stripped: the reason is reported'

rm here/prog
fold user.ps
unlike "$OUT" 'outer|inner|ns::work' 'removed: no names'
like "$ERR.1" '^psym: [0-9]+ address(es)?: the file was not found$' 'removed: the reason is reported'

sed 's/inner/wrong1/g; s/outer/wrong2/g' prog.c >other.c
"$CC" -O0 -Wl,--build-id -o here/prog other.c
fold user.ps
unlike "$OUT" 'wrong' 'another binary at the path gives no wrong names'
like "$OUT" ';\[prog\] [0-9]+$' 'another binary: the addresses stay without names'
like "$ERR.1" '^psym: [0-9]+ address(es)?: the file found has another build-id$' \
	'another binary: the reason is reported'

id=$(readelf -n built | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug built prog.debug
mkdir -p "dbg/.build-id/$(echo "$id" | cut -c 1-2)"
cp prog.debug "dbg/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
strip -o here/prog built
fold user.ps --debug-dir dbg --debug-dir /usr/lib/debug
same "$OUT" named 'the debug file by build-id'
rm here/prog
fold user.ps --debug-dir dbg --debug-dir /usr/lib/debug
like "$OUT" ';main;outer;inner [0-9]+$' 'the debug file by build-id without the binary'

strip -o linked built
cp prog.debug here/prog.debug
(cd here && objcopy --add-gnu-debuglink=prog.debug ../linked prog)
fold user.ps
same "$OUT" named 'the debug file by debug link'
echo ' ' >>here/prog.debug
objcopy --remove-section=.note.gnu.build-id here/prog.debug 2>/dev/null
fold user.ps
unlike "$OUT" 'outer|inner' 'a debug file whose checksum is wrong is not used'
rm -f here/prog here/prog.debug

# As Fedora packs them: the functions that .dynsym lacks, in an xz file inside of the binary.
if have xz; then
	strip -o bare built
	strip -g -o mini built
	xz -k mini
	objcopy --add-section .gnu_debugdata=mini.xz bare here/prog
	fold user.ps
	same "$OUT" named 'mini debuginfo'
	rm here/prog
	head -c 700 mini.xz >cut.xz
	objcopy --add-section .gnu_debugdata=cut.xz bare here/prog
	fold user.ps
	unlike "$OUT" 'outer|inner|ns::work' 'mini debuginfo that is cut off gives no names'
	is "$statuses" '0 0' 'and no failure'
	rm here/prog
else
	skip 3 'xz is not installed'
fi

mkdir -p "root$TMP/here"
cp built "root$TMP/here/prog"
fold user.ps --symfs root
same "$OUT" named '--symfs'
cp built here/prog

# The kernel. Without build-ids what tells kernels apart is the release.
if record all.data -B --no-buildid-mmap -e cpu-clock && "$BIN/pdecode" all.data >all.ps 2>decode.log &&
	have perf && perf script -i all.data 2>/dev/null | grep -q 'kernel.kallsyms'; then
	release=$(uname -r)
	other=$(printf '%s' "$release" | tr '1-9' '7')0
	other=0${other#?} other=${other%?}
	sed "s/$release/$other/g" all.ps >other.ps
	fold other.ps
	like "$ERR.1" "recorded on kernel .*, this is .*--kallsyms or --vmlinux" \
		'another kernel: it is reported, with what to do'
	like "$ERR.1" '^psym: [0-9]+ address(es)?: no kernel symbols' 'another kernel: the reason'
	like "$OUT" ';main;.*;\[\[kernel\.kallsyms\]\]' \
		'another kernel: its addresses have no names'
	unlike "$OUT" 'getppid' 'another kernel: none'
	like "$OUT" ';main;outer;inner' 'another kernel: user space has names'
	cat >kallsyms <<-'EOF'
		ffffffff81000000 T _text
		ffffffff81000040 T all_of_it
		ffffffffa1000000 T _etext
	EOF
	fold other.ps --kallsyms kallsyms
	like "$OUT" ';all_of_it' '--kallsyms: names from the file, moved to where the kernel was'
	unlike "$OUT" '\[\[kernel' '--kallsyms: for all addresses'
	unlike "$ERR.1" 'recorded on kernel' '--kallsyms: nothing is amiss'
else
	skip 8 'no kernel addresses can be recorded here'
fi

# Files that the user names are needed.
echo nothing >empty.txt
for option in --kallsyms --vmlinux --guest-kallsyms --guest-vmlinux --symfs; do
	run "$BIN/psym" "$option" "$TMP/none" user.ps
	is "$status" 2 "$option: a file that is not there"
	like "$ERR" '/none: cannot be read: No such file or directory' 'which is reported'
done
run "$BIN/psym" --kallsyms empty.txt all.ps
if [ -s all.ps ] && "$BIN/pdecode" -j all.ps | grep -q '"ip":"0xffffffff'; then
	is "$status" 2 '--kallsyms: a file without symbols'
	like "$ERR" 'empty.txt: ' 'which is reported'
else
	skip 2 'no kernel addresses can be recorded here'
fi
for filter in 'pfilter time' plat; do
	# shellcheck disable=SC2086
	run "$BIN/${filter%% *}" --kallsyms "$TMP/none" ${filter#"${filter%% *}"} user.ps
	is "$status" 2 "${filter%% *} --kallsyms: a file that is not there"
done
done_testing
