#!/bin/sh
# What filters give up before they read: foreign code in them (t/foreign.c) cannot start programs,
# connect, write files or touch other processes; they themselves do what they always do.
. "${0%/*}/lib.sh"
sanitized && skip_all 'a sanitizer wants to be loaded first'
have "${CC:-gcc}" || skip_all 'no compiler'
"${CC:-gcc}" -shared -fPIC -o foreign.so "$ROOT/t/foreign.c" -ldl || bail 'foreign.c'

# Runs a filter with foreign code in it that acts when the file named first is opened.
foreign() {
	at=$1
	shift
	echo kept >kept
	rm -rf made folder
	run env FOREIGN="$at" FOREIGN_DIR="${DIR:-.}" LD_PRELOAD="$TMP/foreign.so" "$@"
	acts=$(sed -n 's/^foreign:* *//p' "$ERR")
}

mkdir tmp
export TMPDIR="$TMP/tmp"
cp "$ROOT/t/data/small.data" x.data
gunzip -c "$ROOT/t/data/sched.data.gz" >sched.data
foreign x.data "$BIN/pdecode" --no-sandbox x.data
is "$acts" 'read file append cut folder remove tcp unix exec ptrace signal' 'foreign code without a sandbox'
"$BIN/pdecode" x.data | "$BIN/psym" >x.ps
"$BIN/pdecode" sched.data >sched.ps
"$BIN/pfold" x.ps >x.folded
"$BIN/pconv" --to speedscope x.folded >x.json

run "$BIN/pdecode" -v x.data
! grep 'is not confined' "$ERR" || skip_all 'the kernel does not confine programs'

while read -r file line; do
	foreign "$file" sh -c "exec \"\$0\"/$line" "$BIN"
	is "$status,$acts" 0,read "${line%% *} can only read"
done <<'END'
x.data pdecode x.data
x.data pdecode --dump x.data
x.ps psym x.ps
x.ps pfold x.ps
x.ps pfilter 'pid > 0' x.ps
x.ps phist --by comm x.ps
sched.ps plat --kind offcpu sched.ps
x.folded psvg x.folded
x.ps preport x.ps
x.json pconv --to folded x.json
x.data perfpipe x.data
END
foreign x.folded "$BIN/pdiff" x.folded x.folded
is "$acts" read 'pdiff can only read'
foreign sched.data "$BIN/pstrace" sched.data
is "$acts" read 'pstrace can only read'
ok 'nothing was made or changed' sh -c '[ "$(cat kept)" = kept ] && [ ! -e made ] && [ ! -e folder ]'

foreign x.ps "$BIN/psym" --missing x.ps
like "$ERR" '^foreign: .*exec signal$' 'psym --missing starts programs'
unlike "$ERR" '^foreign: .*ptrace' 'and debugs none'

# A file that is named as output can be made; what lies elsewhere only as far as Landlock goes.
mkdir elsewhere out
cat >landlock.c <<'EOF'
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	return syscall(444 /* landlock_create_ruleset */, NULL, 0, 1) < 3;
}
EOF
"${CC:-gcc}" -o landlock landlock.c || bail 'landlock.c'
if ./landlock; then
	DIR=elsewhere foreign x.ps "$BIN/pconv" -o out/x.pb.gz x.ps
	is "$status,$acts" 0,read 'pconv -o: foreign code writes no other folder'
	ok 'the output is there' test -s out/x.pb.gz
	DIR=elsewhere foreign x.ps "$BIN/pfilter" --split 1 -o out/part 'pid > 0' x.ps
	is "$status,$acts" 0,read 'nor does it in pfilter --split'
	ok 'and its parts are' test -s out/part.0001
else
	skip 4 'the kernel has no Landlock that checks what is cut'
fi

# A running process, in a mount namespace of its own where that can be made: its binary and the name of its generated
# code are found below /proc/PID/root, the callers of that code by its instructions, in /proc/PID/mem. The code makes
# room on the stack and calls a function: sub $24,%rsp; call *%rdi; add $24,%rsp; ret.
cat >prog.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void code(void (*f)(void));
static volatile unsigned long sum;

__attribute__((noinline, noclone)) static void spin(void)
{
	for (unsigned long i = 0; i < 50000000; i++)
		sum += i;
}

__attribute__((noinline, noclone)) static void outer(code *made)
{
	made(spin);
	sum++;
}

int main(void)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	alarm(600);
	memcpy(at, "\x48\x83\xec\x18\xff\xd7\x48\x83\xc4\x18\xc3", 11);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "wx");
	fprintf(f, "%lx b made\n", (unsigned long)(uintptr_t)at);
	fclose(f);
	for (;;)
		outer((code *)(uintptr_t)at);
}
EOF
mkdir private
as=
[ "$(id -u)" = 0 ] || as='--user --map-root-user'
live=
if [ "$(uname -m)" = x86_64 ] && have unshare &&
	"${CC:-gcc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o private/inside prog.c; then
	# shellcheck disable=SC2086
	unshare $as --mount sh -c 'mount --bind "$1" /tmp && exec /tmp/inside' sh "$TMP/private" 2>ns.log &
	live=$!
	trap 'kill $live 2>/dev/null || :; t_end' EXIT
	named() {
		gone $live || [ -s private/perf-$live.map ]
	}
	await named
fi
counts() {
	gone "$recorder" || counting "$recorder"
}
if [ -s "private/perf-$live.map" ]; then
	"$BIN/pcap-perf" -F 499 -e cpu-clock:u --call-graph=dwarf,8192 -o live.data -p $live 2>record.log &
	recorder=$!
	await counts
	gone $recorder || burn $live 20
	kill -INT $recorder 2>/dev/null
	wait $recorder
fi
if "$BIN/pdecode" live.data >live.ps 2>/dev/null; then
	run_pipe '"$BIN/psym" live.ps' '"$BIN/pfold" --no-header'
	like "$OUT" '^inside;(.*;)?main;outer;made;spin [0-9]+$' 'psym reads the files and the memory of a running process'
	cp "$OUT" confined
	run_pipe '"$BIN/psym" --no-sandbox live.ps' '"$BIN/pfold" --no-header'
	same confined "$OUT" 'as it does without a sandbox'
else
	skip 2 'not x86-64, or namespaces or recording are not allowed'
fi
[ -z "$live" ] || kill $live 2>/dev/null

# A kernel that has neither, or a container that refuses both.
"$BIN/pdecode" -t x.data >want
run env OLD_KERNEL=1 LD_PRELOAD="$TMP/foreign.so" "$BIN/pdecode" -t x.data
same "$OUT" want 'without the kernel a filter does the same'
is "$status,$(cat "$ERR")" 0, 'and is silent about it'
run env OLD_KERNEL=1 LD_PRELOAD="$TMP/foreign.so" "$BIN/pdecode" -v -t x.data
like "$ERR" 'is not confined' '-v tells'

done_testing
