#!/bin/sh
# pprobe -p: the files of a process that sees other directories than we do.
. "${0%/*}/lib.sh"

"${CC:-gcc}" -std=gnu11 -g -O2 -o ours "$ROOT/t/probe/values.c" 2>"$ERR" || bail "$(cat "$ERR")"
cat >theirs.c <<'C'
#include <unistd.h>
__attribute__((noinline, noclone)) int only_theirs(int n) { return n * 3; }
int main(int argc, char **argv) { (void)argv; pause(); return only_theirs(argc); }
C
"${CC:-gcc}" -g -O2 -o theirs theirs.c 2>"$ERR" || bail "$(cat "$ERR")"
cp ours program
if ! unshare -m true 2>/dev/null; then
	skip 13 'no mount namespaces here, or not root'
	done_testing
	exit 0
fi
# In its namespace, the other program has the name of ours.
unshare -m sh -c 'mount --bind theirs program && exec "$PWD/program"' 2>"$ERR" &
pid=$!
trap 'kill "$pid" 2>/dev/null || :; t_end' EXIT
runs() {
	[ "$(tr -d '\0' <"/proc/$pid/cmdline")" = "$PWD/program" ]
}
await runs

run "$BIN/pprobe" -x "$PWD/program" -F only_theirs
is "$status" 2 'our file does not have the function'
run "$BIN/pprobe" -p "$pid" -F --tsv only_theirs
is "$status" 0 'what the process runs has it'
run "$BIN/pprobe" -p "$pid" -x "$PWD/program" -F --tsv only_theirs
is "$status" 0 'and a file as it sees it'
run "$BIN/pprobe" -p "$pid" -n 'only_theirs n'
like "$OUT" "^p:.* /proc/$pid/(root$PWD/program|exe):0x[0-9a-f]+ n=%di:s32" \
	'the kernel is told a path that leads there'
run "$BIN/pprobe" -p "$pid" -V only_theirs --tsv
like "$OUT" '	n	int	%di' 'variables'
run "$BIN/pprobe" -p "$pid" -x ./program -F --tsv only_theirs
is "$status" 0 'by a path from here'
run "$BIN/pprobe" -p "$pid" -x ./nosuch -F
is "$status" 2 'a path from here to nothing'
run "$BIN/pprobe" -p "$pid" -x "$PWD/nosuch" -F
is "$status" 2 'a file that is not there'
run "$BIN/pprobe" -p "$pid" -x nosuch -F
isnt "$status" 0 'a name that is nowhere'
kill "$pid"
wait "$pid" 2>/dev/null
run "$BIN/pprobe" -p "$pid" -F
is "$status" 2 'a process that has ended'

# In a container, links lead to where they lead in it: an absolute one not to our file of that path.
mkdir -p box/bin "box$PWD"
"${CC:-gcc}" -static -g -O2 -o box/bin/real theirs.c 2>"$ERR" || bail "$(cat "$ERR")"
ln -s /bin/real box/bin/link
cp theirs "box$PWD/program"
ln -s "$PWD/program" box/bin/away
chroot box /bin/real &
pid=$!
boxed() {
	[ "$(readlink "/proc/$pid/exe")" = "$PWD/box/bin/real" ]
}
await boxed
run "$BIN/pprobe" -p "$pid" -x /bin/link -n 'only_theirs n'
like "$OUT" "^p:.* /proc/$pid/root/bin/real:0x" 'the kernel is told the file that a link of a container leads to'
run "$BIN/pprobe" -p "$pid" -x /bin/away -F --tsv only_theirs
is "$status" 0 'one whose path leads to another file with us'
run "$BIN/pprobe" -x "/proc/$pid/root/bin/away" -F --tsv only_theirs
is "$status" 0 'likewise, by the path of its root'
kill "$pid"
wait "$pid" 2>/dev/null
done_testing
