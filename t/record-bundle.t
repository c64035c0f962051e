#!/bin/sh
# pcap-perf --bundle: binaries that are gone when the recording is symbolized.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" tar readelf

# It removes or replaces its own file when it has begun.
cat >prog.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
static void __attribute__((noinline)) in_program(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
int main(int argc, char **argv)
{
	clock_t end;

	if (argc > 1 && !strcmp(argv[1], "replace"))
		rename("other", argv[0]);
	else if (argc > 1 && !strcmp(argv[1], "remove"))
		unlink(argv[0]);
	for (end = clock() + CLOCKS_PER_SEC / 2; clock() < end;)
		in_program(100000);
	return 0;
}
EOF
flags='-O0 -fno-omit-frame-pointer'
# shellcheck disable=SC2086
"$CC" $flags -Wl,--build-id -o with prog.c || bail "$CC cannot build a program"
# shellcheck disable=SC2086
"$CC" $flags -Wl,--build-id=none -o without prog.c || bail "$CC cannot build a program without a build-id"
id=$(readelf -n with | sed -n 's/.*Build ID: //p')
cp -f with prog
event=cpu-clock
"$BIN/pcap-perf" -F 999 -g -e $event -o p.data -- ./prog >/dev/null 2>&1 || event=cpu-clock:u
"$BIN/pcap-perf" -F 999 -g -e $event -o p.data -- ./prog >/dev/null 2>&1 || skip_all 'recording is not allowed here'
[ "$(id -u)" = 0 ] || skip_all 'files that are deleted can be opened by root only'

names() { # ARCHIVE: the folded stacks with its names
	"$BIN/pdecode" p.data >p.ps 2>/dev/null
	run_pipe "\"\$BIN/psym\" --symfs $1 p.ps" '"$BIN/pfold"'
}

record() { # the name of the program; OPTIONS before it are in $options, arguments after
	# shellcheck disable=SC2086
	run "$BIN/pcap-perf" -F 999 -e $event $options -o p.data -- "$@"
}

# After a recording of the whole machine: that programs of others were gone is no failure of this test.
ours() {
	if [ "$status" = 1 ] && grep 'it was gone or replaced$' "$ERR" >gone && ! grep -q "$TMP" gone; then
		status=0
	fi
}

options='-g --bundle b.tar'
record ./prog remove
is "$status" 0 'a program that removes itself'
ok 'is gone' test ! -e prog
tar -tf b.tar >list
like list "^.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-)/elf\$" 'and kept by its build-id'
tar -xOf b.tar ".build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-)/elf" >kept
same kept with 'as it was'
names b.tar
like "$OUT" ';main;in_program [0-9]+$' 'its functions have names'
unlike list 'libcrypt|libm' 'what was not mapped is not packed'
rm -f b.tar

cp without prog
printf 'another file\n' >other
chmod +x other
options='-g --bundle b.tar.zst'
record ./prog replace
is "$status" 0 'a program without a build-id that is replaced'
like prog '^another file' 'is another file now'
names b.tar.zst
like "$OUT" ';main;in_program [0-9]+$' 'its functions have names'

# Also beside a recorder that wants build-ids: kernels then mark the mappings of both.
cp -f with prog
options='-g -B --bundle b.tar'
"$BIN/pcap-perf" -a -e cpu-clock -F 1 -o other.data -- sleep 1000 >/dev/null 2>&1 &
other=$!
await counting $other
record ./prog remove
kill $other
wait $other
names b.tar
is "$status" 0 'without build-ids in the recording'
like "$OUT" ';main;in_program [0-9]+$' 'a file is found by its path'

cp -f with prog
options='--call-graph dwarf,1024 --bundle b.tar'
record ./prog remove
tar -tf b.tar >list
is "$(grep -c -v kallsyms list)" "$(grep -c 'elf$\|vdso$' list)" 'copies of stacks: files and the vdso'
ok 'libraries, too' test "$(grep -c 'elf$' list)" -gt 2

cp -f with prog
options='-g -F 99 --switch-output=100K --bundle b.tar'
record ./prog remove
is "$status" 0 'several files have one bundle'
tar -tf b.tar >list
like list '/elf$' 'with the program'

# In a mount namespace, where the host does not see the file.
mkdir -p inside
if unshare -m sh -c "mount -t tmpfs none '$TMP/inside'" 2>/dev/null; then
	cp -f with prog
	options='-g -a --bundle b.tar'
	# shellcheck disable=SC2016
	record unshare -m sh -c 'mount -t tmpfs none "$1/inside" && cp prog "$1/inside/prog" && "$1/inside/prog"' sh "$TMP"
	ours
	is "$status" 0 'a program in a container'
	ok 'is not seen by the host' test ! -e inside/prog
	names b.tar
	like "$OUT" '^prog;.*main;in_program [0-9]+$' 'its functions have names'
else
	skip 3 'no mount namespaces here'
fi

# What another user puts where a perf map would be: root's recorder takes no more than the user could
# give it. The program makes code of its own, does what its argument says, and ends with the file "end".
chmod 755 .
cat >jitted.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef void code(volatile unsigned long *sum, unsigned long n);
__attribute__((noinline, noclone)) void spin(volatile unsigned long *sum, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		*sum += i;
}
int main(int argc, char **argv)
{
	static volatile unsigned long sum;
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char pid[16];
	memcpy(at, (void *)(uintptr_t)spin, 128);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("MAP_OF", pid, 1);
	if (argc < 2 || system(argv[1]))
		return 1;
	printf("%s\n", pid);
	fflush(stdout);
	while (access("end", F_OK))
		((code *)(uintptr_t)at)(&sum, 1000000);
	return 0;
}
EOF
"$CC" -O1 -fcf-protection=none -o jitted jitted.c 2>/dev/null || "$CC" -O1 -o jitted jitted.c ||
	bail "$CC cannot build a program that makes code"
as='setpriv --reuid=65534 --regid=65534 --clear-groups'
said() {
	[ -s said ] || gone "$jitted"
}
# map_of WHAT: what the bundle has as the map of a process that did this in the shell.
map_of() {
	rm -f end said b.tar
	$as ./jitted "$1" >said 2>/dev/null &
	jitted=$!
	await said
	map=/tmp/perf-$(cat said).map
	run timeout 60 "$BIN/pcap-perf" -F 499 -a -e cpu-clock --bundle b.tar -o j.data 1
	ours
	: >end
	wait $jitted
	tar -tf b.tar | grep "^tmp/${map##*/}\$" >list
	: >kept
	[ ! -s list ] || tar -xOf b.tar "$(cat list)" >kept
	rm -f "$map"
}
# shellcheck disable=SC2016
if have setpriv && $as test -x ./jitted; then
	echo 'of root alone' >secret
	chmod 600 secret
	map_of 'echo "0 7fffffffffff their own" >/tmp/perf-$MAP_OF.map'
	is "$(cat kept)" '0 7fffffffffff their own' "a user's own map is packed"
	is "$(stat -c %a b.tar)" 600 'the bundle is for its owner only'
	map_of "ln -s '$TMP/secret' /tmp/perf-"'$MAP_OF.map'
	is "$status:$(cat list)" 0: 'a link to what root alone may read is not'
	like "$ERR" 'tmp/perf-[0-9]+\.map: not in the bundle: .*is a link' 'and it is reported'
	map_of 'mkfifo /tmp/perf-$MAP_OF.map'
	is "$status:$(cat list)" 0: 'nor is a FIFO, which nobody waits for'
	chmod 644 secret
	map_of "ln -s '$TMP/secret' /tmp/perf-"'$MAP_OF.map'
	is "$status:$(cat list)" 0: 'nor what everybody may read, by a link'
	chmod 600 secret
	as="$as unshare -Urm"
	if $as true 2>/dev/null; then
		map_of "touch /tmp/perf-\$MAP_OF.map; mount --bind '$TMP/secret' /tmp/perf-"'$MAP_OF.map'
		is "$status:$(cat list)" 0: 'nor what is mounted there'
	else
		skip 1 'users cannot have namespaces here'
	fi
else
	skip 7 'another user cannot be had here'
fi

run "$BIN/pcap-perf" -e $event --bundle none/b.tar -o x.data -- true
is "$status" 2 'a bundle that cannot be made'
like "$ERR" 'none/b.tar: cannot be made: No such file' 'is reported'
cp -f with prog
run "$BIN/pcap-perf" -F 999 -e $event --bundle /dev/full -o x.data -- ./prog
is "$status" 2 'a bundle that cannot be written'
like "$ERR" '/dev/full: cannot be written: No space left' 'is reported'
run "$BIN/pdecode" -b x.data
is "$status" 0 'the recording is whole all the same'
run "$BIN/pcap-perf" -e $event --bundle b.tar -o x.data -- ./nothing
is "$status" 2 'a recording that fails'
ok 'leaves no bundle' test ! -e b.tar
done_testing
