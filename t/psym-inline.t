#!/bin/sh
# psym --inline and --srcline on a program that is built here. That look-ups agree with addr2line is in
# t/unit/dwarf_debuginfo.c; here is what becomes of them in the stream.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" objcopy strip addr2line

cat >prog.c <<'EOF_C'
#include <stdlib.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void deepest(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
static inline __attribute__((always_inline)) void middle(int n)
{
	deepest(n);
}
__attribute__((noinline, noclone)) void outer(int n)
{
	middle(n);
	sum++;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++)
		outer(atoi(argv[argc - 1]));
	return 0;
}
EOF_C
"$CC" -O2 -g -no-pie -fno-omit-frame-pointer -Wl,--build-id -o prog prog.c ||
	bail "$CC cannot build the program"
# recorded COMMAND...: whether the program can be recorded so, and something was.
recorded() {
	"$@" -F 999 -g -e cpu-clock:u -o p.data -- ./prog 2000000 >record.log 2>&1 &&
		"$BIN/pdecode" p.data >p.ps 2>decode.log
}
# perf can die when another recorder runs at the same time.
recorded perf record -q -N || recorded "$BIN/pcap-perf" || skip_all 'recording is not allowed here'

# folded OPTION...: folded text of psym with these options.
folded() {
	"$BIN/psym" "$@" -b p.ps 2>psym.err | "$BIN/pfold" --no-header 2>/dev/null
}

folded >plain
like plain '^prog;(.*;)?outer [0-9]+$' 'without --inline the code is that of the function it is in'
unlike plain 'deepest' 'and no inlined function is shown'
folded --inline >inlined
like inlined ';outer;middle_\[i\];deepest_\[i\] [0-9]+$' '--inline: callers stand before what is inlined into them'
is "$(awk '{ n += $NF } END { print n }' inlined)" "$(awk '{ n += $NF } END { print n }' plain)" \
	'the samples are the same'

# Another psym takes none of it away, and adds what the first was not asked for.
"$BIN/psym" --inline --srcline -b p.ps >first.ps 2>psym.err
"$BIN/psym" -t -F comm,ip,sym,srcline first.ps >first.text 2>psym.err
for again in '' --srcline --inline '--inline --srcline'; do
	# shellcheck disable=SC2086
	"$BIN/psym" $again -b first.ps 2>psym.err >again.ps
	"$BIN/psym" -t -F comm,ip,sym,srcline again.ps >again.text 2>psym.err
	same again.text first.text "a second psym${again:+ $again} keeps inlined functions and lines"
done
"$BIN/psym" -b p.ps 2>psym.err | "$BIN/psym" --inline -b 2>psym.err | "$BIN/pfold" --no-header >again 2>/dev/null
same again inlined 'a second psym --inline adds inlined functions'

# The frames of the leaf addresses in the program, against addr2line: "address name line name line ...".
"$BIN/psym" --inline --srcline -t -F comm,ip,sym,srcline p.ps 2>psym.err |
	awk '
	/^[^ \t]/ { leaf = ""; next }
	/^\t/ { if (leaf == "") leaf = $1; on = $1 == leaf; if (on) line[leaf] = line[leaf] " " $2; next }
	/^  / { if (on) line[leaf] = line[leaf] " " $1; next }
	/^$/ { if (leaf != "") { print leaf line[leaf]; line[leaf] = "" } }' |
	grep deepest | sort -u >got
isnt "$(wc -l <got)" 0 'there are frames with source lines'
cut -d ' ' -f 1 got | addr2line -afsi -e prog | sed 's/ (discriminator [0-9]*)//' |
	awk '/^0x/ { if (n++) print text; sub(/^0x0*/, ""); text = $0; next } { text = text " " $0 } END { print text }' |
	sort >want
same got want 'names and lines of the frames are those of addr2line'
"$BIN/psym" --inline --srcline -j p.ps >json 2>>psym.err
like json '"sym":"deepest",[^}]*"inlined":1[^}]*"file":"/[^"]*/prog\.c","line":[56]' 'JSON has files and lines'
"$BIN/psym" --inline -j p.ps >json 2>>psym.err
unlike json '"file":' 'without --srcline there are none'

# Without debug information in the program: it is found by build-id, and without that it is not.
objcopy --only-keep-debug prog prog.debug
id=$(readelf -n prog | sed -n 's/.*Build ID: *//p')
cp prog kept
objcopy --strip-debug prog
folded --inline -D /nowhere >none
folded -D /nowhere >bare
same none bare 'a program without debug information has no inlined functions'
mkdir -p "dbg/.build-id/$(echo "$id" | cut -c 1-2)"
cp prog.debug "dbg/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
folded --inline -D dbg -D /usr/lib/debug >found
same found inlined 'it is found below --debug-dir, though the program has symbols'

# Packed debug information says the same, and so do entries in another file.
"$BIN/psym" --inline --srcline -t -F ip,sym,srcline -D dbg -D /usr/lib/debug p.ps >lines 2>psym.err
for how in zlib zlib-gnu zstd; do
	if objcopy --compress-debug-sections=$how kept prog 2>objcopy.err &&
		readelf -SW prog | grep -Eq '\.zdebug_info|\.debug_info.* C '; then
		folded --inline >found
		same found inlined "debug information packed by $how"
		"$BIN/psym" --inline --srcline -t -F ip,sym,srcline p.ps >text 2>psym.err
		same text lines 'has the same source lines'
	else
		skip 2 "objcopy does not pack by $how"
	fi
done
mkdir split
(cd split && "$CC" -O2 -g -gsplit-dwarf -no-pie -fno-omit-frame-pointer -c -o prog.o ../prog.c &&
	"$CC" -no-pie -Wl,--build-id -o prog prog.o) 2>split.log
if [ -e split/prog.dwo ] && "$BIN/pcap-perf" -F 999 -g -e cpu-clock:u -o split.data -- \
	split/prog 2000000 >record.log 2>&1; then
	"$BIN/pdecode" split.data 2>decode.log | "$BIN/psym" --inline -b 2>psym.err | "$BIN/pfold" --no-header >found
	like found ';outer;middle_\[i\];deepest_\[i\] [0-9]+$' 'split debug information'
	for fault in 'mv split/prog.dwo split/gone' 'cp split/prog split/prog.dwo'; do
		$fault
		"$BIN/pdecode" split.data 2>decode.log | "$BIN/psym" --inline -b 2>split.err | "$BIN/pfold" --no-header >found
		like found ';outer [0-9]+$' "no inlined functions without it: $fault"
		is "$(grep -c 'split/prog: prog.dwo is missing.* 1 of its .* compilation units have no name$' split.err)" 1 \
			'which is reported once'
	done
	"$BIN/pdecode" split.data 2>decode.log >split.ps
	run "$BIN/psym" --inline --missing split.ps
	is "$(grep -A 3 '  -  .*/split/prog  ' "$OUT" | grep -c 'split debug information\|tried prog.dwo: 1 of \|helps the .dwo')" 3 \
		'--missing names the file'
	run "$BIN/psym" --missing split.ps
	unlike "$OUT" 'dwo' 'not where nobody asked for inlined functions'
else
	skip 6 "$CC does not split debug information"
fi

# What is damaged gives names from the symbol table.
cp kept prog
objcopy --dump-section .debug_info=info kept copy
head -c "$(wc -c <info)" /dev/urandom >noise
objcopy --update-section .debug_info=noise kept prog
run "$BIN/psym" --inline --srcline -b p.ps
is "$status" 0 'damaged debug information is no failure'
folded --inline -D /nowhere >damaged
sed 's/;outer;.* /;outer /' damaged |
	awk '{ v = $NF; sub(/ [0-9]+$/, ""); n[$0] += v } END { for (k in n) printf "%s %.0f\n", k, n[k] }' | sort >got
sort bare >want
same got want 'and every sample keeps its function'
done_testing
