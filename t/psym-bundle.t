#!/bin/sh
# psym --bundle and --missing: a recording symbolized where the binaries are not, and what is reported of
# the names that are not found.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" strip objcopy readelf

cat >lib.c <<'EOF'
volatile unsigned long total;
__attribute__((noinline)) void in_library(int n)
{
	for (int i = 0; i < n; i++)
		total += i;
}
EOF
cat >prog.c <<'EOF'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
void in_library(int n);
volatile unsigned long sum;
static void __attribute__((noinline)) in_program(int n)
{
	struct timespec t;

	for (int i = 0; i < n; i++)
		sum += i;
	for (int i = 0; i < n / 20; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	for (int i = 0; i < n / 20; i++)
		syscall(SYS_getppid);
	sum++;
}
int main(void)
{
	for (int i = 0; i < 100; i++) {
		in_library(500000);
		in_program(500000);
	}
	return 0;
}
EOF
mkdir here
flags='-O0 -g -fno-omit-frame-pointer'
# shellcheck disable=SC2086
"$CC" $flags -fPIC -shared -Wl,--build-id=none -o here/liba.so lib.c ||
	bail "$CC cannot build the library"
# shellcheck disable=SC2086
"$CC" $flags -Wl,--build-id -Wl,-rpath,"$TMP/here" -o here/prog prog.c here/liba.so ||
	bail "$CC cannot build the program"
"$BIN/pcap-perf" -F 1999 -g -e cpu-clock -o p.data -- here/prog >record.log 2>&1 ||
	"$BIN/pcap-perf" -F 1999 -g -e cpu-clock:u -o p.data -- here/prog >record.log 2>&1 ||
	skip_all 'recording is not allowed here'
"$BIN/pdecode" p.data >p.ps 2>/dev/null || skip_all 'nothing was recorded'
# The debug information of the program lies apart, found by its build-id.
id=$(readelf -n here/prog | sed -n 's/.*Build ID: //p')
rest=$(echo "$id" | cut -c 3-)
mkdir -p "dbg/.build-id/$(echo "$id" | cut -c 1-2)"
objcopy --only-keep-debug here/prog "dbg/.build-id/$(echo "$id" | cut -c 1-2)/$rest.debug"
strip here/prog

fold() {
	run_pipe "\"\$BIN/psym\" $*" '"$BIN/pfold"'
}

fold --debug-dir dbg p.ps
is "$statuses" '0 0' 'psym and pfold succeed'
like "$OUT" ';in_program [0-9]+$' 'the program has names'
like "$OUT" ';in_library [0-9]+$' 'so has its library'
cp "$OUT" named

run "$BIN/psym" --debug-dir dbg --bundle out.tar.zst p.ps
is "$status" 0 'a bundle'
empty "$OUT" 'and no stream'
run "$BIN/psym" --debug-dir dbg --bundle out.tar - <p.ps
is "$status" 0 'a bundle that is not packed, of a stream on stdin'
if have tar; then
	tar -tf out.tar >list
	is "$?" 0 'tar reads it'
	like list "^.build-id/$(echo "$id" | cut -c 1-2)/$rest/elf\$" 'the program'
	like list "^.build-id/$(echo "$id" | cut -c 1-2)/$rest/debug\$" 'its debug file'
	like list "^${TMP#/}/here/liba.so\$" 'the library, which has no build-id, by its path'
	mkdir unpacked
	tar -xf out.tar -C unpacked
	cp list members
	if have zstd; then
		zstd -dc out.tar.zst | cmp -s - out.tar
		is "$?" 0 'packed it is the same'
	else
		skip 1 'zstd is not installed'
	fi
else
	skip 5 'tar is not installed'
fi

"$BIN/psym" --inline --srcline --debug-dir dbg -j p.ps 2>/dev/null | grep -v provenance >lines
like lines 'prog\.c' 'the program has source lines'

# The machine without the binaries: other programs are where they were.
mv here hidden
mkdir here none
cp "$(command -v ls)" here/prog
cp "$(command -v ls)" here/liba.so
fold --debug-dir none --symfs none p.ps
unlike "$OUT" 'in_program|in_library' 'without the bundle no names'
fold --debug-dir none --symfs out.tar.zst p.ps
same "$OUT" named 'with the bundle the same as there'
fold --debug-dir none --symfs out.tar p.ps
same "$OUT" named 'also when it is not packed'
[ -d unpacked ] && fold --debug-dir none --symfs unpacked p.ps
same "$OUT" named 'or unpacked'
"$BIN/psym" --inline --srcline --debug-dir none --symfs out.tar.zst -j p.ps 2>/dev/null |
	grep -v provenance >unpacked.lines
same unpacked.lines lines 'source lines, too'
run "$BIN/psym" --debug-dir none --symfs out.tar.zst --bundle again.tar p.ps
same again.tar out.tar 'a bundle made from a bundle is the same'

head -c 6000 out.tar >cut.tar
fold --debug-dir none --symfs cut.tar p.ps
is "$statuses" '1 1' 'a bundle that is cut off is used as far as it goes'
like "$ERR.1" 'cut.tar: the archive is damaged: ' 'and it is reported'
run "$BIN/psym" --symfs p.data p.ps
is "$status" 2 'what is no archive is refused'
like "$ERR" 'p.data: is neither a directory nor a tar archive' 'and it is reported'
echo hello >short.tar
run "$BIN/psym" --symfs short.tar p.ps
is "$status" 2 'also when it is shorter than any archive'
run "$BIN/psym" --symfs nowhere p.ps
is "$status" 2 'a directory that does not exist'
like "$ERR" '^psym: nowhere: cannot be read: No such file or directory$' 'is reported'
run "$BIN/psym" --bundle /nonexistent/out.tar p.ps
is "$status" 2 'a bundle that cannot be made'
is "$(cat "$ERR")" 'psym: /nonexistent/out.tar: cannot be made: No such file or directory' 'is reported once'
ln -s /dev/full full
run "$BIN/psym" --bundle full p.ps
is "$status" 2 'a bundle that cannot be written'
like "$ERR" '^psym: full: cannot be written: ' 'is reported'
ok 'the device is not removed' test -L full
run "$BIN/psym" --bundle lost.tar nothing.ps
is "$status" 2 'a bundle of a stream that is not there'
ok 'is not left behind' test ! -e lost.tar

# What is missing.
run "$BIN/psym" --missing --debug-dir none p.ps
is "$status" 0 '--missing'
like "$OUT" '^   SAMPLES      %  FILE  BUILD-ID$' 'prints a table'
like "$OUT" "^ +[0-9]+ +[0-9.]+  $TMP/here/prog  $id\$" 'the program with its build-id'
like "$OUT" '^ +the file found has another build-id$' 'its reason'
like "$OUT" "^ +tried $TMP/here/prog: build-id differs\$" 'what was tried'
like "$OUT" "^ +tried none/.build-id/.*/$rest.debug: file not found\$" 'all of it'
like "$OUT" '^ +helps --symfs .*--debuginfod' 'and what would help'
cp hidden/prog here/prog
fold --debug-dir none --missing p.ps
run "$BIN/psym" --missing --debug-dir none p.ps
like "$OUT" '^ +the file has only dynamic symbols \(stripped\)' 'a stripped program'
like "$OUT" '^ +helps .*--debug-dir$' 'which a debug directory helps'

# The counts are those of the frames in the stream.
mv hidden/liba.so here/liba.so
run "$BIN/psym" --missing --debug-dir none p.ps
n=$(sed -n "s|^ *\([0-9]*\) .*$TMP/here/prog .*|\1|p" "$OUT" | awk '{ n += $1 } END { print n + 0 }')
want=$("$BIN/psym" -t --no-guessed --debug-dir none p.ps 2>/dev/null |
	awk -v prog="($TMP/here/prog)" '/^$/ { n += hit; hit = 0 }
		index($0, "[unknown]") && index($0, prog) { hit = 1 } END { print n + hit }')
is "$n" "$want" 'samples are counted as the text shows them'
cp hidden/prog here/prog
fold --debug-dir dbg p.ps
same "$OUT" named 'all is as before'

# A dpkg-query that knows the program.
mkdir query
cat >query/dpkg-query <<-EOF
	#!/bin/sh
	echo "\$*" >>$TMP/queried
	echo 'diversion by another from: $TMP/here/prog'
	echo 'made-up:amd64, other: $TMP/here/prog'
	echo 'dpkg-query: no path found' >&2
	exit 1
EOF
chmod +x query/dpkg-query
cp hidden/prog here/prog
run env PATH="$TMP/query:$PATH" "$BIN/psym" --missing --debug-dir none p.ps
like "$OUT" '^ +helps apt: made-up-dbgsym, or' 'dpkg-query tells the package of a file'
like queried "^-S $TMP/here/prog" 'by its path'
unlike "$ERR" 'no path found' 'what it reports is not shown'

# A debuginfod-find that knows the one file, and says what it was asked.
mkdir path
cat >path/debuginfod-find <<-EOF
	#!/bin/sh
	echo "\$*" >>$TMP/asked
	[ ! -f $TMP/slow ] || sleep 60
	[ "\$2" = $id ] || exit 1
	echo $TMP/answer
EOF
chmod +x path/debuginfod-find
PATH=$TMP/path:$PATH
cp dbg/.build-id/*/"$rest.debug" answer
export DEBUGINFOD_URLS=http://127.0.0.1:9/
fold --debug-dir none p.ps
ok 'debuginfod is not asked by itself' test ! -e asked
fold --debug-dir none --debuginfod p.ps
same "$OUT" named '--debuginfod brings the debug file'
like asked "^debuginfo $id\$" 'asked for by its build-id'
cp here/liba.so answer
fold --debug-dir none --debuginfod p.ps
unlike "$OUT" 'in_program|in_library;in_library' 'another file than was asked for is not used'
touch slow
fold --debug-dir none --debuginfod=1 p.ps
is "$statuses" '0 0' 'a server that is slow'
like "$ERR.1" 'debuginfod: the time limit for downloads has expired' 'is given up in time'
unset DEBUGINFOD_URLS
fold --debug-dir none --debuginfod p.ps
like "$ERR.1" 'debuginfod: DEBUGINFOD_URLS names no server' 'no server is reported'
run "$BIN/psym" --debuginfod=soon p.ps
is "$status" 64 'a time that is no number'
done_testing
