#!/bin/sh
# pprobe: debug information that lies elsewhere or is packed tells the same as when it is in the program; and
# programs that have less of it, or none.
. "${0%/*}/lib.sh"

cc=${CC:-gcc}
cp "$ROOT/t/probe/values.c" values.c
make_in() { # DIRECTORY OPTION...
	mkdir "$1"
	dir=$1
	shift
	(cd "$dir" && "$cc" -std=gnu11 -g -O2 "$@" -o p ../values.c) 2>"$ERR"
}

# What pprobe tells of a program: functions, lines, variables, inlined copies, definitions.
tell() { # DIRECTORY
	(
		cd "$1" || exit
		"$BIN/pprobe" -x ./p -F --tsv
		"$BIN/pprobe" -x ./p -F --tsv inlined
		"$BIN/pprobe" -x ./p -L values --tsv
		for at in values loop:6 inlined; do
			"$BIN/pprobe" -x ./p -V "$at" --tsv
		done
		"$BIN/pprobe" -x ./p -n 'values msec who:string p->bf.b p->next->txt p->col p->arr counter' \
			'values%return $retval' 'loop:6 i n' 'inlined $params' 'values.c:60'
	) 2>&1 | sed "s|$TMP/$1/|D/|"
}

make_in plain || bail "$(cat "$ERR")"
tell plain >want
like want '^p:probe_p/values D/p:0x[0-9a-f]+ msec=%di:s32 .* counter=@' 'the program itself'
# What a compiler leaves of variables is its own affair.
is "$(grep '^pprobe: ' want | grep -vc 'optimized out')" 0 'without complaints'

equal() { # DIRECTORY NAME
	tell "$1" >got
	same got want "$2"
}

for form in '' =zlib =zlib-gnu; do
	if make_in "packed$form" "-gz$form"; then
		equal "packed$form" "packed sections (-gz$form)"
	else
		skip 1 "the compiler has no -gz$form"
	fi
done

if have objcopy && have strip; then
	make_in link
	(cd link && objcopy --only-keep-debug p p.debug && strip p && objcopy --add-gnu-debuglink=p.debug p)
	equal link 'a separate file, by its name'
	mkdir hidden
	cp link/p hidden/p
	mkdir hidden/.debug
	objcopy --compress-debug-sections link/p.debug hidden/.debug/p.debug
	equal hidden 'in .debug, and packed'
	cp link/p alone
	echo damaged >p.debug
	run "$BIN/pprobe" -x ./alone -V values
	is "$status" 2 'a separate file that is damaged'
else
	skip 3 'objcopy is not installed'
fi

for version in 4 5; do
	make_in "split$version" -gsplit-dwarf "-gdwarf-$version"
	if ls "split$version"/*.dwo >/dev/null 2>&1; then
		equal "split$version" "split DWARF, version $version"
	else
		skip 1 "the compiler has no split DWARF, version $version"
	fi
done
if [ -e split5/p ]; then
	rm -f split5/*.dwo
	run "$BIN/pprobe" -x ./split5/p -V values
	is "$status" 2 'split DWARF of which a file is missing'
	like "$ERR" 'values.dwo is missing' 'which is named'
	run "$BIN/pprobe" -x ./split5/p -L values.c
	like "$OUT" 'yes' 'lines are still known'
else
	skip 3 'no split DWARF'
fi

if have dwz; then
	make_in dwz
	(cd dwz && cp p q && dwz -m common p q) 2>"$ERR"
	sed -i 's/struct //' want
	tell dwz | sed 's/struct //' >got
	same got want 'what dwz moved to a file that programs share'
	mv dwz/common dwz/moved
	run "$BIN/pprobe" -x ./dwz/p -F values
	like "$ERR" 'common.* is missing' 'which is named if it is missing'
else
	skip 2 'dwz is not installed (Debian: dwz)'
fi

# Where functions were declared, by the table of files in each version of DWARF.
mkdir -p decl/src decl/include
printf 'int shared(int n)\n{\n\treturn n * 3;\n}\n' >decl/include/shared.h
cat >decl/src/main.c <<'E'
#include "shared.h"

static __attribute__((noinline)) int twice(int n)
{
	return shared(n) * 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	return twice(argc);
}
E
cat >decl.want <<'E'
main src/main.c:8
shared include/shared.h:1
twice src/main.c:3
E
for version in 2 3 4 5; do
	if (cd decl && "$cc" -g "-gdwarf-$version" -O1 -Iinclude -o p src/main.c) 2>"$ERR"; then
		run "$BIN/pprobe" -x decl/p -F --tsv
		awk -F'\t' '$1 ~ /^(main|shared|twice)$/ {
			n = split($5, part, "/")
			print $1, part[n - 1] "/" part[n]
		}' "$OUT" | sort >got
		same got decl.want "where functions were declared, DWARF $version"
	else
		skip 1 "the compiler has no -gdwarf-$version"
	fi
done

# ---- less and less ----

start=$(nm plain/p | awk '$3 == "values" { print "0x" $1 }' | sed 's/0x0*/0x/')
"$cc" -std=gnu11 -O2 -rdynamic -s -o exported values.c 2>"$ERR" || bail "$(cat "$ERR")"
run "$BIN/pprobe" -x ./exported -F --tsv values
is "$(awk -F'\t' '!/^#/ { print $1, $4, $6 }' "$OUT")" 'values no dynsym' 'functions that are exported'
run "$BIN/pprobe" -x ./exported -n 'values n=%di:s32'
is "$status" 0 'are probed'
run "$BIN/pprobe" -x ./exported -n 'values msec'
is "$status" 2 'but their variables are not known'
like "$ERR" 'no debug information' 'for a reason'
run "$BIN/pprobe" -x ./exported -V values
is "$status" 2 'nor listed'

if have xz && have objcopy; then
	cp plain/p mini
	objcopy -S --keep-symbol=values --keep-symbol=several mini symbols
	xz -k symbols
	strip -o small mini
	objcopy --add-section .gnu_debugdata=symbols.xz small
	run "$BIN/pprobe" -x ./small -F --tsv 'values'
	is "$(awk -F'\t' '!/^#/ { print $1, $2 }' "$OUT")" "values $start" 'functions of .gnu_debugdata'
	run "$BIN/pprobe" -x ./small -n 'values%return'
	is "$status" 0 'are probed'
else
	skip 2 'xz or objcopy is not installed'
fi

cp plain/p bare
strip bare
run "$BIN/pprobe" -x ./bare -F --tsv
like "$OUT" "^bare\+$start	$start" 'without any names, functions are called by their addresses, as in stacks'
is "$(cut -f 2 "$OUT" | sort | uniq -d)" '' 'each is there once'
run "$BIN/pprobe" -x ./bare -n "$start n=%di:s32"
echo "p:probe_bare/bare_$start $PWD/bare:$start n=%di:s32" >want
same "$OUT" want 'an address'
run "$BIN/pprobe" -x ./bare -n "bare+$start n=%di:s32"
same "$OUT" want 'such a name'
run "$BIN/pprobe" -x ./bare -n 0x10
is "$status" 2 'an address that is no code'
run "$BIN/pprobe" -x ./bare -n bare+0x10
is "$status" 2 'nor is this'
run "$BIN/pprobe" -x ./bare -n "other+$start"
like "$ERR" "has no function 'other'" 'that of another file'
run "$BIN/pprobe" -x ./bare -n "bare+$start%return"
is "$status" 0 'its returns'
sed "s,probe_bare/bare_$start,probe_p/values,; s,/bare:,/plain/p:," "$OUT" >want
run "$BIN/pprobe" -x plain/p -n "p+$start%return"
same "$OUT" want 'a file that has the names is asked by the same'
run "$BIN/pprobe" -x plain/p -n "p+$start+0x0"
is "$(cat "$OUT")" "p:probe_p/values $PWD/plain/p:$start" 'with an offset'
done_testing
