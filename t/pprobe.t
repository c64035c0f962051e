#!/bin/sh
# pprobe: what can be probed, definitions in the kernel's syntax, and values as they are recorded.
. "${0%/*}/lib.sh"

src=$ROOT/t/probe
make_c() { # OPT NAME
	"${CC:-gcc}" -std=gnu11 -g "$1" -o "$2" "$src/values.c" 2>"$ERR" || bail "$(cat "$ERR")"
}
CC=gcc
for level in 0 2; do
	make_c "-O$level" "c$level"
done

# ---- looking ----

run "$BIN/pprobe" -x ./c2 -F --tsv
is "$status" 0 'functions'
nm c2 | awk 'NF == 3 && $2 ~ /^[tT]$/ { print $3, "0x" $1 }' | sed 's/0x0*/0x/' | LC_ALL=C sort >want
awk -F'\t' '!/^#/ { print $7, $2 }' "$OUT" | LC_ALL=C sort >got
same got want 'are those of nm'
like "$OUT" 'values.c:[0-9]+' 'with the line where they begin'

run "$BIN/pprobe" -x ./c2 -F --json 'sever*'
is "$(sed 's/"address":"[^"]*"/A/; s/"size":[0-9]*/S/; s/"where":"[^"]*"/W/' "$OUT")" \
	'{"name":"several",A,S,"params":"yes",W,"source":"symtab","symbol":"several"}' 'one, as JSON'

run "$BIN/pprobe" -x ./c2 -F nosuch
is "$status" 2 'no such function is an error'
like "$ERR" 'no such functions' 'and is reported'

run "$BIN/pprobe" -x ./c0 -L values
is "$status" 0 'lines of a function'
like "$OUT" 'yes +int sum = msec' 'with their text'
first=$(awk '/^KEEP int values/ { print NR }' "$src/values.c")
like "$OUT" "^$((first + 3)) +\\+3 +yes" 'counted from its declaration'
run "$BIN/pprobe" -x ./c0 -L "values.c:$first-$((first + 5))" --tsv
is "$(grep -vc '^#' "$OUT")" 6 'lines of a file'

run "$BIN/pprobe" -x ./c0 -V values --tsv
is "$status" 0 'variables'
is "$(awk -F'\t' '$3 == "param" { printf "%s ", $4 }' "$OUT")" \
	'msec who p u big neg seventh byval ' 'all parameters'
like "$OUT" 'const char \*' 'with their types'
run "$BIN/pprobe" -x ./c2 -V values
like "$OUT" 'msec +int +%di$' 'and places'

# A source is read if it is a file: nobody waits for a FIFO in its place.
echo 'int main(void) { return 0; }' >fifo.c
"${CC:-gcc}" -g -O0 -o with-fifo fifo.c || bail "no compiler"
rm fifo.c
mkfifo fifo.c
run timeout 60 "$BIN/pprobe" -x ./with-fifo -L main
is "$status" 0 'a FIFO in the place of a source'
like "$ERR" 'fifo.c: cannot be read, so the text of lines is not shown' 'gives no text, which is reported'
rm fifo.c

# Several commands that make a probe of one name at once: each has its own.
mkdir together
: >together/uprobe_events
makers=
for i in 1 2 3 4 5 6 7 8; do
	"$BIN/pprobe" --tracefs together --mine together/mine -x ./c0 values >"together/$i.out" 2>&1 &
	makers="$makers $!"
done
failed=0
for i in $makers; do
	wait "$i" || failed=$((failed + 1))
done
is "$failed" 0 'eight commands at once make their probes'
is "$(cut -d ' ' -f 1 together/uprobe_events | sort -u | wc -l)" 8 'of eight names'

# ---- definitions ----

n() { # BINARY DEFINITION...
	binary=$1
	shift
	run "$BIN/pprobe" -n -x "./$binary" "$@"
}

addr() { # BINARY SYMBOL: the file offset of a function, which is its address in these programs
	echo "0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }' | sed 's/^0*//')"
}

n c2 'values+0'
is "$(cat "$OUT")" "p:probe_c2/values $PWD/c2:$(addr c2 values)" 'an entry'
n c2 'values%uretprobe $retval'
is "$status" 0 "the kernel's own return probe"
n c2 'grp:ev=values %di name=+0(%rsi):string \1 $comm $stack2'
is "$(sed 's/.*:0x[0-9a-f]* //' "$OUT")" \
	'di=%di name=+0(%si):string arg3=\1 comm=$comm:string stack2=$stack2' "the kernel's syntax"
like "$OUT" '^p:grp/ev ' 'a group and a name'

# Every offset within a function, against the disassembler of binutils.
if have objdump; then
	start=$(addr c2 values)
	size=$(nm -S c2 | awk '$4 == "values" { print "0x" $2 }')
	objdump -d --no-show-raw-insn --start-address="$start" \
		--stop-address=$((start + size)) c2 | awk '/^ *[0-9a-f]+:\t/ { print "0x" $1 }' |
		tr -d : >begins
	i=0
	wrong=
	while [ $i -lt $((size)) ]; do
		want=2
		grep -qx "$(printf '0x%x' $((start + i)))" begins && want=0
		"$BIN/pprobe" -n -x ./c2 "values+$i" >"$OUT" 2>"$ERR"
		[ $? = $want ] || wrong="$wrong $i"
		[ $want = 0 ] || cp "$ERR" refused
		i=$((i + 1))
	done
	is "$wrong" '' 'places within instructions are refused, all others taken'
	like refused 'in the middle of an instruction' 'and the reason is given'
	n c2 'values%return $retval'
	is "$(wc -l <"$OUT")" \
		"$(objdump -d c2 | awk '/<values>:/ { on = 1 } /^$/ { on = 0 } on && /\tret/' | wc -l)" \
		'a point for each instruction that returns'
else
	skip 3 'objdump is not installed'
fi
if gcc -g -O2 -fcf-protection -o cet "$src/values.c" 2>"$ERR"; then
	n cet several
	is "$(cat "$OUT")" "p:probe_cet/several $PWD/cet:$(printf '0x%x' $(($(addr cet several) + 4)))" \
		'an entry is after endbr64'
else
	skip 1 'gcc makes no code for control-flow protection'
fi

n c2 'values%uretprobe +0($retval):string' 'values +4($arg3):u32 $arg1'
is "$(sed 's/.*:0x[0-9a-f]* //' "$OUT")" 'arg1=+0($retval):string
arg1=+4(%dx):u32 arg1_2=%di' 'the result and arguments within expressions of the kernel'
n c2 'values%return text=+0($retval):string'
is "$(sed 's/.*:0x[0-9a-f]* //' "$OUT" | sort -u)" 'text=+0(%ax):string' 'of instructions that return it is a register'
for bad in 'values +0($retval):string' 'values%return $arg1' 'values+0x7fff $arg1' 'values $arg0'; do
	n c2 "$bad"
	isnt "$status" 0 "not $bad"
done
n c2 'values;nosuch*'
is "$status" 2 'no line fits'
like "$ERR" "values has no line with code that matches 'nosuch\*'" 'and that is reported'
unlike "$ERR" 'no function' 'which is not about the function'

n c2 'values x=nosuch'
is "$status" 2 'no such variable'
like "$ERR" 'there are: msec, who' 'those that there are are listed'
n c2 'nosuch'
is "$status" 2 'no such function'
n c2 'values %xmm0'
is "$status" 64 'a register that the kernel does not know'
n c2 'values msec:u99'
is "$status" 64 'a type that it does not know'
n c2 'values $retval'
is "$status" 64 'a result where nothing returns'
n c2 'a b=c=d' 'x-y:z=values'
isnt "$status" 0 'nonsense'
n c2 "values $(yes %di | head -n 200 | tr '\n' ' ')"
isnt "$status" 0 'too many arguments'
n c2 'jumps%return'
is "$status" 0 'a return by a jump'
like "$ERR" 'jumps to other functions' 'is reported'
n c2 'jumps%return $retval'
is "$status" 2 'its result is not there'
n c2 'inlined $params'
like "$OUT" '^p:probe_c2/inlined ' 'an inlined function'
n c2 '*e*'
is "$status" 0 'a pattern'

"$BIN/pprobe" -n -x ./c2 values >want
strip -o stripped c2
"$BIN/pprobe" -n -x ./stripped --group probe_c2 "$(addr c2 values)" >got 2>"$ERR"
isnt "$(cat got)" '' 'a stripped program has functions, too'

# Libraries, as the linker finds them; the oracle is what this shell has mapped.
libc=$(awk '$6 ~ /\/libc[.-]/ { print $6; exit }' /proc/$$/maps)
for name in libc.so.6 libc c; do
	run "$BIN/pprobe" -n -x "$name" malloc
	like "$OUT" " $(readlink -f "$libc"):0x" "$name is the C library"
	run "$BIN/pprobe" -n -p $$ -x "$name" malloc
	like "$OUT" " $libc:0x" 'of a process, too'
done
mkdir libs && cp c2 libs/libown.so.2 && cp c2 libs/libown.so.10 && echo 'INPUT(x)' >libs/libown.so
export LD_LIBRARY_PATH="$PWD/libs"
for name in own libown; do
	run "$BIN/pprobe" -n -x $name values
	like "$OUT" "/libs/libown.so.10:0x" "$name by LD_LIBRARY_PATH, the newest"
done
run "$BIN/pprobe" -n -x libow values
is "$status" 2 'a part of a name is none'
unset LD_LIBRARY_PATH

# The reason of a message is the right one.
for file in /tmp /dev/null; do
	run "$BIN/pprobe" -n -x $file values
	isnt "$status" 0 "$file is no file"
	like "$ERR" "$file: is not a regular file" 'and that is reported'
	run "$BIN/pprobe" -n -p $$ -x $file values
	like "$ERR" "$file: is not a regular file" 'of a process, too'
done
if [ -c /dev/full ]; then
	for list in -F '-L values' '-V values' '-n values'; do
		# shellcheck disable=SC2086
		"$BIN/pprobe" -x ./c2 $list >/dev/full 2>"$ERR"
		is "$?" 2 "$list to a device that is full"
		like "$ERR" '^pprobe: cannot write' 'the file that was read is not to blame'
	done
else
	skip 8 'there is no /dev/full'
fi

run "$BIN/pprobe" -n -x ./nosuch values
is "$status" 2 'no such file'
run "$BIN/pprobe" -n -x "$src/values.c" values
is "$status" 2 'a file that is no program'

# ---- the kernel ----

cat >kallsyms <<'END'
ffffffff81000000 T vfs_read
ffffffff81000100 t do_sys_openat2
ffffffff81000200 T ksys_write
ffffffff81000300 T twice
ffffffff81000400 t twice
END
k() {
	run "$BIN/pprobe" -k --kallsyms kallsyms -n "$@"
}
k 'kprobes:kr_write=ksys_write%return ret=$retval:s64'
is "$(cat "$OUT")" 'r:kprobes/kr_write ksys_write ret=$retval:s64' 'a return probe of the kernel'
k 'vfs_read+5 a=%ax:u8 b=%bx:s16 bit=%dx:b4@2/32 imm=\10'
is "$(cat "$OUT")" 'p:probe/vfs_read vfs_read+5 a=%ax:u8 b=%bx:s16 bit=%dx:b4@2/32 imm=\10' \
	'an offset, registers'
k nosuch
is "$status" 2 'a function that the kernel does not have'
k twice
like "$ERR" '2 functions have that name' 'a name that is there twice is reported'
if [ -r /sys/kernel/btf/vmlinux ]; then
	k 'vfs_read count file:x64' 'do_sys_openat2 dfd filename:ustring how->flags'
	is "$(cat "$OUT")" 'p:probe/vfs_read vfs_read count=%dx:u64 file=%di:x64
p:probe/do_sys_openat2 do_sys_openat2 dfd=%di:s32 filename=+0(%si):ustring flags=+0(%dx):u64' \
		'parameters and members by the types of the kernel'
else
	skip 1 'the kernel has no BTF'
fi

# ---- recording ----

tracefs=/sys/kernel/tracing
instance=$tracefs/instances/pprobe-test-$$
group=pptest$$
if [ ! -w "$tracefs/uprobe_events" ] || ! mkdir "$instance" 2>/dev/null; then
	skip 79 'no uprobes here, or not root' recording
	done_testing
	exit 0
fi
cleanup() {
	echo 0 >"$instance/events/$group/enable"
	rmdir "$instance"
	"$BIN/pprobe" --mine mine --all-mine
} 2>/dev/null
trap 'cleanup; t_end' EXIT

pprobe() {
	"$BIN/pprobe" --mine mine --group "$group" "$@"
}

# record PROGRAM [ARG]: what the program prints goes to `want`, what is recorded to `got`.
record() {
	echo 1 >"$instance/events/$group/enable"
	"./$1" 6 >/dev/null 2>printed
	echo 0 >"$instance/events/$group/enable"
	sed -n 's/^.*: \([a-zA-Z0-9_]*\): (0x[0-9a-f]*) */\1 /p' "$instance/trace" >recorded
	: >"$instance/trace"
}

# values NAME: the lines of an event are equal.
values() {
	grep "^$1 " printed >want
	grep "^$1 " recorded >got
	if [ -s want ] && cmp -s want got; then
		pass "$2: $1: $(wc -l <want) calls, all values"
	else
		fail "$2: $1"
		diff want got | head -n 6 | diag "$(cat)"
	fi
}

for level in 0 2; do
	pprobe -x "./c$level" \
		'values msec who:string txt=p->next->txt:string u big neg seventh byval.id p->bf.a p->bf.b p->bf.c p->col p->arr arr_2=p->arr[1] counter' \
		'values%return $retval' 'several%return $retval' 'loop:6 i n' >"$OUT" 2>"$ERR"
	is "$?" 0 "C, -O$level: probes are made"
	record "c$level"
	for event in values values__return several__return loop_L6; do
		values "$event" "C, -O$level"
	done
	pprobe --all-mine
	grep -c "$group" "$tracefs/uprobe_events" >left
	is "$(cat left)" 0 'and removed'
done

if have g++; then
	for level in 0 2; do
		g++ -std=c++17 -g "-O$level" -o "cc$level" "$src/values.cc" 2>"$ERR" || bail "$(cat "$ERR")"
		pprobe -x "./cc$level" \
			'ns::values s:string sv:string len=s._M_string_length v=v[1] d.name:string last=d.v[2] k *up d.id counter' \
			'ns::Box::get this->v add' 'operator== o this->id' 'make%return $retval:string' \
			'thrower n' 'thrower%return $retval' 'over' >"$OUT" 2>"$ERR"
		is "$?" 0 "C++, -O$level: probes are made"
		record "cc$level"
		for event in ns_values ns_Box_get operator make__return thrower thrower__return; do
			values "$event" "C++, -O$level"
		done
		is "$(grep -c '^over ' recorded)" 12 'both functions of one name are probed'
		pprobe --all-mine
	done
	# Names that are mangled to letters: std::istream is Si.
	lib=$(g++ -print-file-name=libstdc++.so)
	nm -DC "$lib" | awk '/ [TW] std::istream::getline\(/ { print $1 }' | sort >want
	run "$BIN/pprobe" -x "$lib" -F --tsv std::istream::getline
	awk -F'\t' '!/^#/ { sub(/^0x/, "", $2); printf "%16s\n", $2 }' "$OUT" | tr ' ' 0 | sort >got
	ok 'a class with an abbreviated name has methods' test -s want
	same got want 'which are found by name'
else
	skip 18 'g++ is not installed' C++
fi

# rustup keeps its compilers beside its programs; HOME is another here.
[ -n "${RUSTUP_HOME:-}" ] || ! have rustc || RUSTUP_HOME=$(dirname "$(command -v rustc)")/../../.rustup
[ ! -d "${RUSTUP_HOME:-}" ] || export RUSTUP_HOME
if have rustc && rustc --version >/dev/null 2>&1; then
	for level in 0 2; do
		rustc -g -C "opt-level=$level" -o "rs$level" "$src/values.rs" 2>"$ERR" ||
			bail "$(cat "$ERR")"
		pprobe -x "./rs$level" \
			'save=Store::save id=self.id len=self.name.vec.len key__len=key.length n item=self.items[1]' \
			'save__return=Store::save%return $retval' \
			'area=<values::store::Square as values::store::Shape>::area scale side=self.0' \
			'sum=values::sum a f g m=many[1]' 'panics n' 'panics%return $retval' show \
			>"$OUT" 2>"$ERR"
		is "$?" 0 "Rust, -O$level: probes are made"
		record "rs$level"
		for event in save save__return area sum panics panics__return; do
			values "$event" "Rust, -O$level"
		done
		is "$(grep -c '^show ' recorded)" 12 'every instance of a generic function is probed'
		pprobe --all-mine
	done
else
	skip 16 'rustc is not installed' Rust
fi

if have go; then
	export GOCACHE="$TMP/cache" GOFLAGS=-mod=mod
	for level in 0 2; do
		flags=
		[ "$level" = 2 ] || flags='-N -l'
		go build -gcflags="$flags" -o "go$level" "$src/values.go" 2>"$ERR" || bail "$(cat "$ERR")"
		pprobe -x "./go$level" \
			'Save=Store.Save s.id n flag item=s.items[1] len=list.len first=list[0] keylen=key.len' \
			'Save__return=main.(*Store).Save%return $retval' 'Area=Square.Area scale side=s.side' \
			'many=main.many a i j k slen=s.len' 'deep=main.deep n' >"$OUT" 2>"$ERR"
		is "$?" 0 "Go, level $level: probes are made"
		record "go$level"
		for event in Save Save__return Area many deep; do
			values "$event" "Go, level $level"
		done
		pprobe --all-mine
	done
	run "$BIN/pprobe" -n -x ./go2 'main.many%uretprobe'
	is "$status" 64 "the kernel's return probe is refused for Go"
	go build -ldflags='-s -w' -o gos "$src/values.go"
	"$BIN/pprobe" -x ./go2 -F --tsv 'main.*' | grep -v inlined | cut -f 1-3 >want
	"$BIN/pprobe" -x ./gos -F --tsv 'main.*' | grep -v inlined | cut -f 1-3 >got
	cut -f 1-2 want >want.names
	cut -f 1-2 got >got.names
	is "$(wc -l <got)" "$(wc -l <want)" 'a stripped Go program has the same functions'
else
	skip 14 'go is not installed' Go
fi

# What was recorded in parts comes out whole.
pprobe -x ./c2 'parts=values p->bf.b text=p->next->txt p->arr msec' >"$OUT" 2>"$ERR"
"$BIN/pcap-perf" -e "$group:parts" -- ./c2 4 2>printed >parts.data
"$BIN/pdecode" -t parts.data | sed -n 's/^.*: ([0-9a-f]*) /parts /p' >got
awk '$1 == "values" {
	for (i = 2; i <= NF; i++) {
		n = index($i, "=")
		v[substr($i, 1, n - 1)] = substr($i, n + 1)
	}
	b = v["b__s7"] + 0 > 63 ? v["b__s7"] - 128 : v["b__s7"]
	print "parts b=" b " text=" v["txt"] " arr=" v["arr__elem"] " msec=" v["msec"]
}' printed >want
same got want 'texts, arrays and signed bit fields, as pdecode shows them'
like want 'b=-8 text="second" arr=.1,2,3. ' 'there are such'
is "$("$BIN/pdecode" parts.data | "$BIN/pfilter" --drop 'b < 0 && text == "second"' | "$BIN/pdecode" -t | wc -l)" \
	"$(grep -c 'b=-.*second' want)" 'and filters know them'
pprobe --all-mine

# Names, and what is removed.
pprobe -x ./c2 values >"$OUT" 2>"$ERR"
pprobe -x ./c2 values >"$OUT" 2>"$ERR"
like "$OUT" "$group/values_1 " 'a name that exists gets a number'
run "$BIN/pprobe" --mine mine -l
like "$OUT" "$group:values_1 +mine" 'both are listed, and mine'
run "$BIN/pprobe" --mine mine -d "$group:values_*"
is "$(grep -c "$group/" "$tracefs/uprobe_events")" 1 'a pattern removes what fits'
run "$BIN/pprobe" --mine other --all-mine
is "$(grep -c "$group/" "$tracefs/uprobe_events")" 1 "others' probes stay"
run "$BIN/pprobe" --mine mine -d "$group:nosuch"
is "$status" 2 'nothing that fits is an error'
echo 1 >"$instance/events/$group/enable"
run "$BIN/pprobe" --mine mine -d "$group:values"
is "$status" 2 'a probe in use stays'
like "$ERR" 'in use' 'and that is reported'
echo 0 >"$instance/events/$group/enable"
run "$BIN/pprobe" --mine mine --all-mine
is "$(grep -c "$group/" "$tracefs/uprobe_events")" 0 'all are removed'
done_testing
