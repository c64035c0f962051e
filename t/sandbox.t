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
confined=$(sed -n 's/.*the kernel confines this program //p' "$ERR")
case $confined in
'in no way'*|*seccomp*) skip_all "the kernel confines programs $confined" ;;
esac

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
case $confined in
*Landlock*) skip 4 'the kernel has no Landlock' ;;
*)
	DIR=elsewhere foreign x.ps "$BIN/pconv" -o out/x.pb.gz x.ps
	is "$status,$acts" 0,read 'pconv -o: foreign code writes no other folder'
	ok 'the output is there' test -s out/x.pb.gz
	DIR=elsewhere foreign x.ps "$BIN/pfilter" --split 1 -o out/part 'pid > 0' x.ps
	is "$status,$acts" 0,read 'nor does it in pfilter --split'
	ok 'and its parts are' test -s out/part.0001
	;;
esac

# A kernel that has neither, or a container that refuses both.
"$BIN/pdecode" -t x.data >want
run env OLD_KERNEL=1 LD_PRELOAD="$TMP/foreign.so" "$BIN/pdecode" -t x.data
same "$OUT" want 'without the kernel a filter does the same'
is "$status,$(cat "$ERR")" 0, 'and is silent about it'
run env OLD_KERNEL=1 LD_PRELOAD="$TMP/foreign.so" "$BIN/pdecode" -v -t x.data
like "$ERR" 'the kernel confines this program in no way' '-v tells'

done_testing
