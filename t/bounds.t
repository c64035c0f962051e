#!/bin/sh
# Input that is made to take more memory than its size is worth is given up, or cut, with a message.
. "${0%/*}/lib.sh"
need perl gzip gcc objcopy
! sanitized || skip_all 'how much memory a filter takes is measured without sanitizers'

# peak NAME MB COMMAND...: a pipeline takes at most so many megabytes, all stages together.
peak() {
	t_name=$1 t_most=$2
	shift 2
	run "$MEASURE" "$@"
	t_kb=$(cut -f 3 "$OUT")
	ok "$t_name: ${t_kb:-?} kB, of at most $t_most MB" test "${t_kb:-999999999}" -le $((t_most * 1024))
}

"$ROOT/t/hostile" forks 10000 >forks.ps
"$ROOT/t/hostile" execs 10000 >execs.ps
"$ROOT/t/hostile" sources 20000 >sources.ps
peak '10,000 children of a process with 10,000 mappings' 64 "'$BIN/psym' forks.ps" 'cat >symbols'
ok 'all of them come through' test "$(wc -c <symbols)" -ge "$(wc -c <forks.ps)"
peak 'children that replace their image' 64 "'$BIN/psym' execs.ps" 'cat >symbols'
ok 'all of them come through' test "$(wc -c <symbols)" -ge "$(wc -c <execs.ps)"
peak '20,000 recordings in one stream' 64 "'$BIN/psym' sources.ps" 'cat >symbols'
ok 'all of them come through' test "$(wc -c <symbols)" -ge "$(wc -c <sources.ps)"

# Large chunks of a trace.dat do not leave their room to small ones.
if perl -MCompress::Zlib -e 1 2>/dev/null; then
	"$ROOT/t/trace-make" packing=zlib zeros=80 >zeros.dat
	for n in 1 4; do
		peak "large and small chunks of pages, $n threads" 24 "'$BIN/pdecode' --threads $n zeros.dat" 'cat >events'
		ok 'events come through' test "$(wc -c <events)" -gt 4000
	done
else
	skip 4 'perl has no Compress::Zlib'
fi

# A section with the symbols, packed, that unpacks to 400 MB of zeros.
head -c 400000000 /dev/zero | gzip >bomb.gz
cat >lib.c <<'C'
int exported(int x);
int exported(int x) { return x + 1; }
C
gcc -shared -fPIC -s -o plain.so lib.c
objcopy --add-section .gnu_debugdata=bomb.gz plain.so bomb.so
"$ROOT/t/hostile" file "$PWD/bomb.so" >bomb.ps
peak 'packed symbols that unpack to 400 MB' 100 "'$BIN/psym' --missing bomb.ps" 'cat >missing'
# The same as a file that is packed itself: a kernel module, say.
cp bomb.gz whole.gz
"$ROOT/t/hostile" file "$PWD/whole.gz" >whole.ps
peak 'a packed file that unpacks to 400 MB' 100 "'$BIN/psym' --missing whole.ps" 'cat >missing'
like missing 'too large' 'is too large, which --missing reports'

# More mappings than vm.max_map_count has at first, as processes of some databases have.
"$ROOT/t/hostile" mappings 204800 >mappings.ps
run_pipe '"$BIN/psym" --stats mappings.ps' '"$BIN/pfold"'
like "$OUT" '^\[unknown\];\[x\] 50$' '204,800 mappings of a process: each is there'
unlike "$ERR" 'no mapping' 'also the last'
rm mappings.ps

# A perf map with a line of 17 MB between two others.
mkdir -p root/tmp
{
	echo '20000 10 first'
	printf '10000 100 '
	head -c 17000000 /dev/zero | tr '\0' x
	echo
	echo '30000 10 last'
} >root/tmp/perf-77.map
"$ROOT/t/hostile" jit >jit.ps
run_pipe '"$BIN/psym" --symfs root jit.ps' '"$BIN/pfold"'
is "$statuses" '1 1' 'a perf map with a line of 17 MB: the stream is reported to be cut off, no more'
like "$ERR" 'a name of 17000000 bytes is cut off after' 'that the name is cut is reported'
like "$OUT" 'x{1000,}[.]{3}#[0-9a-f]+ 1$' 'and its beginning is there'
ok 'as long as a name can be' test "$(wc -c <"$OUT")" -lt 70000
# A name that 60,000 frames of a stack have is matched once: otherwise these are 30 GB of text.
"$ROOT/t/hostile" frames 500000 >frames.ps
run sh -c 'ulimit -t 20; exec "$1" "$2" "$3"' sh "$BIN/pfilter" 'stack =~ "a+b"' frames.ps
is "$status" 1 'a pattern and a deep stack of long names: the stream is reported to be cut off, no more'
peak 'folding it' 300 "'$BIN/pfold' frames.ps" 'cat >folded'
ok 'what comes out is in proportion' test "$(wc -c <folded)" -lt 50000000
done_testing
